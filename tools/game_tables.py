"""Tables of the games' facts for the documentation, as Markdown computed from the games."""

from __future__ import annotations

from collections import Counter

import numpy as np

from stoneworks.envs.games.trugo.plane import HEX_CORNERS, TOP
from stoneworks.envs.rules import Game, load_game
from stoneworks.evaluation.ladder import shipped_ladders
from stoneworks.evaluation.match import random_opening
from stoneworks.text import percent
from tools.pages import markdown_table

#: Sizes in the table of a game whose board has one.
SIZES = {"vadus": (5, 7, 9, 11), "laido": (5, 7, 9, 11), "taugo": (6, 9, 16, 24)}
NUM_OPENINGS = 500


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
    """Return a table of what player 0's seat is worth in the games of a game's ladders, and who moves after their openings."""
    rows = [
        (
            f"`{game}`",
            f"{ladder.num_games:,}",
            str(ladder.settings.opening_actions),
            _mover_after(load_game(game), ladder.settings.opening_actions),
            f"{ladder.seat['elo']:+.0f} ± {ladder.seat['error']:.0f}",
        )
        for game, ladder in shipped_ladders().items()
        if load_game(game).name == name
    ]
    columns = ("board", "games of the ladder", "random actions before", "to move then", "worth of player 0's seat, Elo")
    return markdown_table(columns, rows)


def _mover_after(game: Game, num_actions: int) -> str:
    """Return which player is to move after most random openings, and after how many of them."""
    openings = [random_opening(game, num_actions, np.random.default_rng(seed)) for seed in range(NUM_OPENINGS)]
    ((player, number),) = Counter(state.current_player() for state in openings).most_common(1)
    return f"player {player} ({percent(number / NUM_OPENINGS, digits=0)})"


def options_table(name: str) -> str:
    """Return a table of the options of a game."""
    game = load_game(name)
    described = game.guide.reference["options"]
    rows = [
        (f"`{option}`", f"`{value!r}`", f"{game.option_types[option].allowed}{described[option]}")
        for option, value in game.options.items()
    ]
    return markdown_table(("option", "default", "allowed"), rows)


def actions_table(name: str) -> str:
    """Return a table of examples of actions with their indices."""
    game = load_game(name)
    examples = game.guide.reference["actions"].items()
    rows = [(f"`{text}`", game.string_to_action(text), description) for text, description in examples]
    return markdown_table(("text", "index", "description"), rows)


def planes_table(name: str) -> str:
    """Return a table of the planes of a game's observations."""
    game = load_game(name)
    described = game.guide.reference["planes"]
    return markdown_table(("plane", "1 where"), [(f"`{plane}`", described[plane]) for plane in game.observation_planes])


def reasons_table(name: str) -> str:
    """Return a table of the reasons for which a game ends."""
    game = load_game(name)
    described = game.guide.reference["reasons"]
    return markdown_table(("reason", "meaning"), [(f"`{reason}`", described[reason]) for reason in game.reasons])


def corners_table() -> str:
    """Return a table of the corners of a hexagon of Trugo, with what each rotation joins them to (R1)."""
    names = ("N", "NE", "SE", "S", "SW", "NW")

    def joined(index: int, rotation: int) -> str:
        place = (index - 2 * rotation) % 6
        other = {1: 5, 5: 1, 2: 4, 4: 2}.get(place)
        return "cut off" if other is None else f"joined to {names[(2 * rotation + other) % 6]}"

    def coordinate(letter: str, step: int) -> str:
        return letter + {-1: " − 1", 0: "", 1: " + 1"}[step]

    rows = [
        (
            names[index],
            f"({coordinate('q', q)}, {coordinate('r', r)}) `{'^' if kind == TOP else 'v'}`",
            "white" if kind == TOP else "blue",
            *(joined(index, rotation) for rotation in range(3)),
        )
        for index, (q, r, kind) in enumerate(HEX_CORNERS)
    ]
    return markdown_table(("corner", "owner", "color", "rotation 0", "rotation 1", "rotation 2"), rows)
