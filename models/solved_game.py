"""Solved games: exact results of initial positions, stored in the folders of the games."""

from __future__ import annotations

import datetime

from stoneworks.documents import Document, Tuple
from stoneworks.envs.rules import Game
from stoneworks.envs.rules.game_registry import GAMES
from stoneworks.models.machine import processor_name
from stoneworks.models.solver import Solution


class SolvedGame(Document):
    """The exact result of a game and how it was found.

    Attributes:
        game: the game string.
        version: version of the game.
        result: result for player 0: 1, 0 or -1.
        actions: texts of the first actions that keep the result.
        num_actions: number of legal first actions.
        num_positions: number of positions visited.
        seconds: time of the search.
        processor: processor of the search; one core was used.
        date: date of the search.
    """

    game: str
    version: int
    result: int
    actions: Tuple[str]
    num_actions: int
    num_positions: int
    seconds: float
    processor: str
    date: str

    @classmethod
    def of_solution(cls, game: Game, solution: Solution) -> SolvedGame:
        """Return the document of the solution of the initial position of ``game``."""
        return cls(
            game=str(game),
            version=game.version,
            result=solution.result_of(0),
            actions=tuple(map(game.action_to_string, solution.actions)),
            num_actions=len(game.new_initial_state().legal_actions()),
            num_positions=solution.num_positions,
            seconds=round(solution.seconds, 3),
            processor=processor_name(),
            date=datetime.datetime.now(datetime.UTC).date().isoformat(),
        )


def shipped_solutions() -> dict[str, SolvedGame]:
    """Return the results in the folders ``solved`` of all games, by game string. Raises ``DocumentError`` if a file is invalid."""
    folders = (entry.folder() for entry in GAMES.loadable())
    files = [file for folder in folders if folder for file in folder.glob("solved/*.json")]
    solved = map(SolvedGame.from_file, sorted(files, key=lambda file: file.name))
    return {one.game: one for one in solved}
