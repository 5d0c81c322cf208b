"""Games in the kernels and in the naive implementations, side by side; and positions of the one written as those of the other."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from game_play import legal_texts, random_game
from naive_taigo import NaiveTaigo
from naive_taugo import NaiveTaugo
from naive_trugo import NaiveTrugo
from naive_vadus_laido import NaiveLaido, NaiveVadus
from stoneworks.envs.games.taigo.rules import DARK, kind_of
from stoneworks.envs.games.trugo.plane import plane_hexes
from stoneworks.envs.rules import Game, State, load_game
from stoneworks.envs.rules.stones import BLACK

NAIVE_GAMES = {"vadus": NaiveVadus, "laido": NaiveLaido, "taugo": NaiveTaugo, "taigo": NaiveTaigo, "trugo": NaiveTrugo}


def naive_state(game: Game) -> Any:
    """Return the start of a game as the naive implementation plays it (see ``naive_vadus_laido.py``)."""
    return NAIVE_GAMES[game.name](**game.options)


class Both:
    """One game in the kernels and in the naive implementation."""

    def __init__(self, state: State, naive: Any = None) -> None:
        """Take a position that the naive implementation is in already, or else the history of the state."""
        self.state = state
        self.naive = naive or naive_state(state.get_game())
        for action in state.history() if naive is None else ():
            self.naive.play(state.action_to_string(action))

    def play(self, texts: str) -> Both:
        for text in texts.split():
            self.state.apply_action(self.state.string_to_action(text))
            self.naive.play(text)
        return self

    def after(self, texts: str) -> Both:
        """Return the game after more actions; this one stays as it is."""
        return copy.deepcopy(self).play(texts)

    def assert_same(self, with_score: bool = True) -> set[str]:
        """Compare all that both know of the position, and return the texts of its legal actions."""
        state, naive, outcome = self.state, self.naive, self.state.outcome()
        texts = legal_texts(state)
        assert texts == set(naive.legal_texts()), str(state)
        assert (None if state.is_terminal() else state.current_player()) == naive.to_act, str(state)
        assert state.is_terminal() == (outcome is not None)
        found = (None, None)
        if outcome is not None:
            found = (
                "truncated" if state.is_truncated() else "draw" if outcome.winner is None else outcome.winner,
                outcome.reason,
            )
        assert found == (naive.result, naive.reason)
        if with_score:
            assert state.score() == naive.score()
        game = state.get_game()
        if game.name in RECORDS:
            assert state.record.tobytes() == RECORDS[game.name](game, naive).tobytes(), str(state)
        else:
            assert stones_of(state) == dict(naive.color_at if game.name == "taigo" else naive.stones), str(state)
        if game.name == "taigo":
            assert state.record["cones_left"].tolist() == list(naive.cones_left.values())
        return texts


def random_game_of_both(game: Game, seed: int, global_weight: float | None = 0.1) -> Iterator[Both]:
    """Yield the positions of a random game, not yet compared."""
    naive = naive_state(game)
    for state in random_game(game, seed, global_weight):
        if state.history():
            naive.play(state.action_to_string(state.history()[-1]))
        yield Both(state, naive)


def stones_of(state: State) -> dict[tuple[int, int], str]:
    """Return the colors of the occupied cells of a hexagon by (q, r), as the naive implementations of Vadus, Laido and Taigo."""
    grid, record = state.get_game().grid, state.record
    is_taigo = state.get_game().name == "taigo"
    kinds = kind_of(record["cells"]) - DARK if is_taigo else record["stones"].astype(int) - BLACK
    colors = ("D", "L") if is_taigo else ("black", "white")
    return {
        (int(cell % grid.width - grid.width // 2), int(cell // grid.width - grid.width // 2)): colors[kinds[cell]]
        for cell in np.flatnonzero(grid.on_board[: grid.num_cells])
        if kinds[cell] in (0, 1)
    }


# -- Records of the positions of naive implementations -------------------------------------------------------------------


def record_of_taugo(game: Game, naive: Any) -> np.void:
    """Return the record; labels and words of rows and columns are functions of the stones."""
    grid, record = game.grid, game.new_initial_state().record
    if naive.to_act is None:
        record["current_player"], record["ending"] = -4, 1 + game.reasons.index(naive.reason)
        record["winner"] = -1 if naive.result == "draw" else naive.result
    else:
        record["current_player"] = naive.to_act
    record["consecutive_passes"] = naive.passes
    for (column, row), color in naive.stones.items():
        record["stones"][row * grid.width + column] = color + 1
        record["rows"][color][row + 1] |= 1 << column
        record["columns"][color][column + 1] |= 1 << row
    for string in naive.strings(0) + naive.strings(1):
        cells = [row * grid.width + column for column, row in string]
        record["strings"][cells] = min(cells)
    if naive.last is not None:
        record["last_stone"] = naive.last[1] * grid.width + naive.last[0]
        record["direction"] = -1 if naive.heading is None else "NESW".index(naive.heading)
    return record


def corner_code(stack: list[int] | None, is_junction: bool) -> int:
    if not is_junction:
        return 0
    if not stack:
        return 1
    return 2 + stack[0] if len(stack) == 1 else 4 + 2 * stack[0] + stack[1]


def record_of_trugo(game: Game, naive: Any) -> np.void:
    """Return the record."""
    radius = game.options["radius"]
    hexes = plane_hexes(radius)

    def hex_of(corner_or_hex: tuple[Any, ...]) -> int:
        return int(hexes[(corner_or_hex[1] + radius) * game.grid.width + corner_or_hex[0] + radius])

    def bits(members: Iterable[tuple[int, int]]) -> np.ndarray[Any, Any]:
        words = [0] * len(record["tiles"])
        for member in members:
            words[hex_of(member) // 64] |= 1 << hex_of(member) % 64
        return np.array(words, np.uint64)

    record = np.zeros(1, game.state_dtype)[0]
    record["game_tag"] = game.record_tag
    over = naive.result is not None
    record["current_player"] = -4 if over else naive.to_act
    record["winner"] = naive.result if naive.result in (0, 1) else -1
    record["ending"] = {None: 0, "pieces": 1, "max_turns": 2}[naive.reason]
    record["truncated"] = naive.result == "truncated"
    record["turns"] = naive.turns
    record["picked"] = -1 if naive.picked is None else 2 * hex_of(naive.picked) + (naive.picked[2] == "v")
    record["pool"] = naive.pool
    record["reserve"] = naive.reserve
    on_board = Counter(color for stack in naive.stacks.values() for color in stack)
    record["num_pieces"] = [on_board[0], on_board[1]]
    record["tiles"] = bits(naive.tiles)
    if naive.pool:
        beside = {at for tile in naive.tiles for at in naive.neighbors(tile)} or {(0, 0)}
        record["targets"] = bits(beside & naive.window - set(naive.tiles))
    else:
        record["targets"] = bits(at for at in naive.tiles if naive.is_removable(at))
    for at, rotation in naive.tiles.items():
        codes = [corner_code(naive.stacks.get((*at, kind)), naive.is_junction((*at, kind))) for kind in "^v"]
        record["contents"][hex_of(at)] = 1 + rotation | codes[0] << 2 | codes[1] << 5
    return record


#: The games whose whole record is known from the naive position.
RECORDS = {"taugo": record_of_taugo, "trugo": record_of_trugo}


def both_at(game: Game, naive: Any) -> Both:
    """Return a position that the naive implementation of Taugo or Trugo is in, in both."""
    return Both(State.from_record(game, RECORDS[game.name](game, naive), trusted=True), naive)


def trugo_position(
    game: str, tiles: str, pieces: dict[str, str] | None = None, to_move: int = 0, pool: int = 0, reserve: Any = (0, 0)
) -> Both:
    """Return a position of any tiles and pieces, waning without a pool.

    Tiles are names, in rotation 0, or names with rotations: ``"e5 e6/1"``; ``DISC`` is those at most two steps from e5.
    Pieces are one or two letters by corner, the upper piece first: X is White's, O Blue's.
    """
    disc = "e3 f3 g3 d4 e4 f4 g4 c5 d5 e5 f5 g5 c6 d6 e6 f6 c7 d7 e7"
    rotations = dict((*tile.split("/"), 0)[:2] for tile in tiles.replace("DISC", disc).split())
    name, _, options = game.rstrip(")").partition("(")
    given = [] if "radius" in options else ["radius=4"]
    text = ",".join([*filter(None, [options]), *given, f"tiles={len(rotations) + pool}"])
    loaded = load_game(f"{name}({text})")
    naive = naive_state(loaded)
    naive.pool, naive.reserve, naive.to_act, naive.turns = pool, list(reserve), to_move, len(rotations)
    naive.tiles = {naive.hex_of[name]: int(rotation) for name, rotation in rotations.items()}
    naive.stacks = {
        naive.corner_from(name): ["XO".index(piece) for piece in reversed(stack)]
        for name, stack in (pieces or {}).items()
    }
    assert all(map(naive.is_junction, naive.stacks)), "a piece stands on no junction"
    assert not naive.surrounded_groups(0) + naive.surrounded_groups(1), "a group is surrounded already"
    return both_at(loaded, naive)
