"""Random playouts choose uniformly among the legal actions, in games with a kernel of their own for it and in others."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from stoneworks.envs.rules import Batch, Game, State, load_game

MAX_LENGTH = 40
NUM_PLAYOUTS = 40_000


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


def after(game: Game, texts: str) -> State:
    return game.deserialize_state(texts.replace(" ", "\n"))


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
        ("trugo(radius=1,tiles=3)", ""),
    ],
)
def test_lengths_and_results_of_playouts_have_the_exact_distribution(name: str, texts: str) -> None:
    game = load_game(name)
    state = after(game, texts)
    batch = Batch(game, NUM_PLAYOUTS, seed=1)
    batch.load(np.arange(NUM_PLAYOUTS), np.repeat(np.array([state.record]), NUM_PLAYOUTS))
    returns, lengths = batch.random_playouts()
    shares = np.zeros((MAX_LENGTH, 3))
    np.add.at(shares, (lengths, returns[:, 0].astype(int)), 1 / NUM_PLAYOUTS)
    exact = exact_distribution(state)
    assert exact.sum() == pytest.approx(1), "no playout is longer"
    standard_errors = np.sqrt(exact * (1 - exact) / NUM_PLAYOUTS)
    assert (np.abs(shares - exact) <= 5 * standard_errors + 2 / NUM_PLAYOUTS).all()
