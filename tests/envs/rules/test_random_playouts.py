"""Random playouts choose uniformly among the legal actions, in games with a kernel of their own for it and in others."""

from __future__ import annotations

from collections import Counter, defaultdict

import numpy as np
import numpy.typing as npt
import pytest

from game_play import played, uniform_game
from stoneworks.envs.rules import Batch, State, load_game, templates
from stoneworks.envs.rules.games import small_games
from stoneworks.envs.rules.kernels import specialized_kernel
from stoneworks.envs.rules.kernels.random_numbers import independent_seeds

MAX_LENGTH = 40
NUM_PLAYOUTS = 20_000


def exact_distribution(
    state: State, known: dict[bytes, npt.NDArray[np.float64]] | None = None
) -> npt.NDArray[np.float64]:
    """The probability of each number of actions to the end and each result for player 0: ``[MAX_LENGTH, 3]``, draws first."""
    known = {} if known is None else known
    key = state.record.tobytes()
    if key not in known:
        found = np.zeros((MAX_LENGTH, 3))
        if state.is_terminal():
            found[0, int(state.returns()[0])] = 1
        else:
            legal = state.legal_actions()
            for action in legal:
                found[1:] += exact_distribution(state.child(action), known)[:-1] / len(legal)
        known[key] = found
    return known[key]


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
        ("taugo(size=3)", "c3 b3 end b4 c4 d4 d3 end b2 end"),  # with cuts, some of them to edge points
        ("taugo(size=3)", "c4 end d4 d3 d2 c3 b4 end end c2 end"),
        ("taigo(radius=1,tiles=4)", ""),
        ("taigo(radius=2,tiles=9,cones=1)", "e2-e1 b2-c2 a3-a4 b4-b3 d1-c1"),  # holes to fill
        ("taigo(radius=2,tiles=9,cones=1)", "b4-b3 d4-c5 d1-c2 e3-e2 a5-b5"),
        ("trugo(radius=1,tiles=3)", ""),
    ],
)
def test_lengths_and_results_of_playouts_have_the_exact_distribution(name: str, texts: str) -> None:
    game = load_game(name)
    state = played(game, texts)
    batch = Batch(game, NUM_PLAYOUTS, seed=1)
    batch.load(np.arange(NUM_PLAYOUTS), np.repeat(np.array([state.record]), NUM_PLAYOUTS))
    returns, lengths = batch.random_playouts()
    shares = np.zeros((MAX_LENGTH, 3))
    np.add.at(shares, (lengths, returns[:, 0].astype(int)), 1 / NUM_PLAYOUTS)
    exact = exact_distribution(state)
    assert exact.sum() == pytest.approx(1), "no playout is longer"
    standard_errors = np.sqrt(exact * (1 - exact) / NUM_PLAYOUTS)
    assert (np.abs(shares - exact) <= 5 * standard_errors + 2 / NUM_PLAYOUTS).all()


Ends = dict[tuple[int, bytes], float]


def ends_of(state: State, known: dict[bytes, Ends]) -> Ends:
    """The probability of each number of actions to the end with each record in which a random game from here ends."""
    key = state.record.tobytes()
    if key not in known:
        legal = state.legal_actions()
        known[key] = defaultdict(float, {} if legal else {(0, key): 1.0})
        for action in legal:
            for (length, end), probability in ends_of(state.child(action), known).items():
                known[key][length + 1, end] += probability / len(legal)
    return known[key]


def assert_playouts_end_as_random_games(state: State) -> None:
    """Check that playouts end in the records in which random games end, and about as often in each."""
    ends = ends_of(state, {})
    states = np.repeat(np.array([state.record]), NUM_PLAYOUTS // 4)
    returns, lengths = np.zeros((len(states), 2), np.float32), np.zeros(len(states), np.int32)
    game = state.get_game()
    game.compiled(templates.play_out)(game.board, states, independent_seeds(1, len(states)), returns, lengths)
    found = Counter((length, record.tobytes()) for length, record in zip(lengths.tolist(), states, strict=True))
    assert found.keys() <= ends.keys()
    for end, share in ends.items():
        error = np.sqrt(share * (1 - share) / len(states))
        assert abs(found[end] / len(states) - share) <= 5 * error + 2 / len(states)


@pytest.mark.parametrize("texts", ["c2 d3 c3 c4", "d4 c3 c4 b4", "c3 b3 end b4 c4 d4 d3 end b2 end"])
def test_playouts_of_taugo_end_in_the_positions_in_which_random_games_end(texts: str) -> None:
    """Cuts are legal, drawn by the stone from which they start (twice) or by their end."""
    assert_playouts_end_as_random_games(played("taugo(size=3)", texts))


@pytest.mark.parametrize(
    ("name", "min_actions", "places"),
    [
        ("taugo(size=4)", 18, (-4, -7)),
        ("taugo(size=5)", 36, (-4, -7)),
        ("taigo(cones=1,radius=2,tiles=9)", 8, (-2, -3)),
        ("trugo(max_turns=14,pieces=25,radius=6,tiles=9)", 14, (-2, -4)),
    ],
)
def test_playouts_end_in_the_positions_in_which_random_games_end(
    name: str, min_actions: int, places: tuple[int, ...]
) -> None:
    """From some actions before the end of long games, where few are left."""
    game = load_game(name)
    rng = np.random.default_rng(7)
    games = [states for states in (uniform_game(game, rng) for _ in range(50)) if len(states) > min_actions]
    assert len(games) >= 10
    for states in games[:10]:
        for place in places:
            assert_playouts_end_as_random_games(states[place])


@pytest.mark.slow  # compiles a kernel of each game that nothing else uses
@pytest.mark.parametrize("name", small_games())
def test_a_kernel_of_the_game_plays_as_the_common_kernel_does(name: str) -> None:
    """Lengths and results have the same distribution, from the start and from the middle of a game."""
    game = load_game(name)
    four = {kernel: game.kernels[kernel] for kernel in ("reset", "legal_actions", "apply_action", "observe")}
    common = {"finish_at_random": specialized_kernel(templates.finish_at_random, game.name, four)}
    rng = np.random.default_rng(5)
    state = game.new_initial_state()
    for moment in range(3):
        samples = []
        for seed, kernels in enumerate((None, common)):
            states = np.repeat(np.array([state.record]), NUM_PLAYOUTS // 4)
            returns, lengths = np.zeros((len(states), 2), np.float32), np.zeros(len(states), np.int32)
            seeds = independent_seeds(10 * moment + seed, len(states))
            game.compiled(templates.play_out, kernels)(game.board, states, seeds, returns, lengths)
            assert (states["ending"] > 0).all()
            samples.append(np.stack([lengths, lengths**2, returns[:, 0] == 1, returns[:, 0] == -1]).astype(float))
        own, other = samples
        error = np.sqrt((own.var(axis=1) + other.var(axis=1)) / own.shape[1])
        assert (np.abs(own.mean(axis=1) - other.mean(axis=1)) <= 5 * error).all()
        for _ in range(8):
            if not state.is_terminal():
                legal = state.legal_actions()
                state.apply_action(legal[rng.integers(len(legal))])
