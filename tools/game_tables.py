"""Tables of the games' facts for the documentation, as Markdown computed from the games."""

from __future__ import annotations

from stoneworks.envs.rules import load_game
from stoneworks.evaluation.ladder import shipped_ladders
from tools.pages import markdown_table

#: Sizes in the table of a game whose board has one.
SIZES = {"vadus": (5, 7, 9, 11), "laido": (5, 7, 9, 11), "taugo": (6, 9, 16, 24)}


def facts_table(name: str) -> str:
    """Return the tables of a game: facts of its official board, and the sizes of its boards.

    Raises:
        UnknownGameError: the game is unknown.
    """
    game = load_game(name)
    first, second = game.colors
    swapped = "; swapped after a `swap` (`state.color_of(player)`)" if "swap" in game.global_actions else ""
    facts = {
        "Environments": f"`{name}_v{game.version}` (PettingZoo), `stoneworks/{name.capitalize()}-v{game.version}` (Gymnasium)",
        "Game string": f"`{game}`",
        "Players": f"player 0 is {first}, player 1 is {second}{swapped}",
        "Number of actions": game.num_actions,
        "Observation shape": game.observation_shape,
        "Maximum game length": f"{game.max_game_length()} actions",
        "Rewards": "+1 for the winner and −1 for the loser on the last step; 0 without a winner and on all other steps",
        "Symmetries": len(game.symmetries),
        "Version": game.version,
    }
    table = markdown_table(("fact", "value"), facts.items())
    if name not in SIZES:
        return table
    sized = [load_game(name, size=size) for size in SIZES[name]]
    rows = [
        (one.options["size"], one.grid.on_board.sum(), one.num_actions, one.observation_shape, one.max_game_length())
        for one in sized
    ]
    return f"{table}\n{markdown_table(('size', 'points', 'actions', 'observation', 'maximum length'), rows)}"


def seats_table(name: str) -> str:
    """Return a table of what player 0's seat is worth on the boards of a game that have a ladder."""
    rows = [
        (f"`{game}`", f"{ladder.num_games:,}", f"{ladder.seat['elo']:+.0f} ± {ladder.seat['error']:.0f}")
        for game, ladder in shipped_ladders().items()
        if load_game(game).name == name
    ]
    return markdown_table(("board", "games of the ladder", "worth of player 0's seat, Elo"), rows)
