"""Random playouts choose uniformly among the legal actions, in games with a kernel of their own for it and in others."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from typing import ClassVar

import numpy as np
import pytest

from game_play import played, uniform_game
from stoneworks.envs.games.laido.rules import Laido
from stoneworks.envs.rules import State, load_game, templates
from stoneworks.envs.rules.compiler.random_numbers import independent_seeds

NUM_PLAYOUTS = 20_000
#: Probability of each number of actions with each end: the bytes of the last record, or its winner.
Ends = dict[tuple[int, bytes | int], float]


def ends_of(state: State, known: dict[bytes, Ends]) -> Ends:
    """Return the ends of uniformly random games from a position."""
    key = state.record.tobytes()
    if key not in known:
        legal = state.legal_actions()
        known[key] = defaultdict(float, {} if legal else {(0, key): 1.0})
        for action in legal:
            for (length, end), probability in ends_of(state.child(action), known).items():
                known[key][length + 1, end] += probability / len(legal)
    return known[key]


def assert_playouts_end_as_random_games(state: State, num_playouts: int = NUM_PLAYOUTS // 4) -> None:
    """Check that playouts end in the records, and with the lengths and results, of random games, and about as often."""
    game = state.get_game()
    ends = ends_of(state, {})
    last = np.frombuffer(b"".join(end for _, end in ends), game.state_dtype)
    for (length, _), winner, share in [*zip(ends, last["winner"].tolist(), ends.values(), strict=True)]:
        ends[length, winner] += share
    states = np.repeat(np.array([state.record]), num_playouts)
    returns, lengths = np.zeros((num_playouts, 2), np.float32), np.zeros(num_playouts, np.int32)
    game.compiled(templates.play_out)(game.board, states, independent_seeds(1, num_playouts), returns, lengths)
    winners = np.where(returns[:, 0] == 0, -1, returns[:, 0] < 0).tolist()
    found = Counter([*zip(lengths.tolist() * 2, [*(record.tobytes() for record in states), *winners], strict=True)])
    assert found.keys() <= ends.keys()
    for end, share in ends.items():
        error = math.sqrt(share * (1 - share) / num_playouts)
        assert abs(found[end] / num_playouts - share) <= 5 * error + 2 / num_playouts


@pytest.mark.parametrize(
    ("name", "texts"),
    [
        ("vadus(size=2)", ""),
        ("vadus(size=2)", "b2 a2"),  # the second stone of a turn
        ("vadus(size=2)", "b2 pass"),  # the opponent has passed
        ("vadus(size=2)", "b2 a2 a3 b1 c1 b3 c2"),  # a full board
        ("laido(size=2)", ""),
        ("laido(size=2)", "b2"),  # the swap is legal
        ("laido(size=2)", "b2 swap"),
        ("laido(pie_rule=False,size=2)", ""),
        ("laido(pie_rule=False,size=2)", "pass"),
        # Cuts are legal, drawn by the stone from which they start or by their end, some of them to edge points.
        ("taugo(size=3)", "c2 d3 c3 c4"),
        ("taugo(size=3)", "d4 c3 c4 b4"),
        ("taugo(size=3)", "c3 b3 end b4 c4 d4 d3 end b2 end"),
        ("taugo(size=3)", "c4 end d4 d3 d2 c3 b4 end end c2 end"),
        # Ed3, to a point that the string touches twice, is a cut as well (T10).
        ("taugo(cut_point='run',size=3)", "b3 c2 end c3 c4 end d4"),
        ("laido(size=2,tie_break='first_pass')", "b2"),
        # A cut would make a knot with a stone beyond its end.
        ("taugo(size=4)", "c5 c2 e2 c3 b3 d5 end d4 b2 d2 b4 e4 e5 c4 Sc1"),
        # One more cut each, north, east, south or west, over two stones, the last of which has one stone beside it.
        ("taugo(size=3)", "end d3 d4 b3 d2 b4 end c4 c3 end b2 end Wa3 c2 end end"),
        ("taugo(size=3)", "d2 d4 c2 end end b3 d3 end b2 end c4 b4 end c3 end end Sc1"),
        ("taugo(size=3)", "d2 b2 c2 c3 end b3 end end b4 end Wa3 end d4 d3 end c4 end end"),
        ("taugo(size=3)", "b3 c4 b2 end b4 d2 d4 end c3 end end Nc5 d3 end end c2 end"),
        ("taigo(radius=1,tiles=4)", ""),
        ("taigo(radius=2,tiles=9,cones=1)", "e2-e1 b2-c2 a3-a4 b4-b3 d1-c1"),  # holes to fill
        ("taigo(radius=2,tiles=9,cones=1)", "b4-b3 d4-c5 d1-c2 e3-e2 a5-b5"),
        # a4-b3 makes two holes, one of them next to both halves.
        ("taigo(radius=2,tiles=7,cones=2)", "c4-d4 a5-b5 d1-d2 b2-c1"),
        ("trugo(radius=1,tiles=3)", "b2/0"),
    ],
)
def test_playouts_from_named_positions_end_as_random_games(name: str, texts: str) -> None:
    assert_playouts_end_as_random_games(played(name, texts), NUM_PLAYOUTS)


class PlainLaido(Laido):
    """Laido with the default kernel for playouts."""

    kernels: ClassVar = {name: kernel for name, kernel in Laido.kernels.items() if name != "finish_at_random"}


def test_playouts_of_a_game_without_a_kernel_for_them_end_as_random_games() -> None:
    assert_playouts_end_as_random_games(PlainLaido(size=2).new_initial_state())


@pytest.mark.parametrize(
    ("name", "min_actions", "places"),
    [
        ("taugo(size=4)", 18, (-4, -7)),
        ("taugo(size=5)", 36, (-4, -7)),
        ("taigo(cones=1,radius=2,tiles=9)", 8, (-2, -3)),
        ("trugo(max_turns=14,pieces=25,radius=6,tiles=9)", 14, (-2, -4)),
    ],
)
def test_playouts_near_the_end_of_long_games_end_as_random_games(
    name: str, min_actions: int, places: tuple[int, ...]
) -> None:
    game = load_game(name)
    rng = np.random.default_rng(7)
    games = [states for states in (uniform_game(game, rng) for _ in range(50)) if len(states) > min_actions]
    assert len(games) >= 10
    for states in games[:10]:
        for place in places:
            assert_playouts_end_as_random_games(states[place])
