"""The errors that the arena raises."""


class ArenaFolderError(ValueError):
    """A folder that holds something else than this arena. The message names the folder and the difference."""


class ArenaPlayError(ValueError):
    """A player that could not be asked, or answered with nonsense. The message names the game's players and what happened."""


class LadderError(ValueError):
    """A ladder that there is not, or that cannot be read. The message says which ladders there are, or what is wrong."""
