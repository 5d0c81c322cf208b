"""All games of the suite once; with ``NUMBA_BOUNDSCHECK=1`` (``make test-bounds``) a kernel that leaves its arrays is an error."""

from __future__ import annotations

import numpy as np

from stoneworks.envs.rules import Batch, Game


def test_games_are_played_to_their_ends(game: Game) -> None:
    batch = Batch(game, 20, seed=8)
    returns, lengths = batch.random_playouts()
    assert (returns.sum(axis=1) == 0).all()
    assert (lengths <= game.max_game_length()).all()
    num_steps = 0
    while (batch.current_players >= 0).any():
        batch.step(batch.random_actions())
        num_steps += 1
    assert num_steps <= game.max_game_length()
    records = batch.states.copy()
    other = Batch(game, 20)
    other.load(np.arange(20), records)
    assert other.states.tobytes() == records.tobytes()
    batch.state(0).score()
    assert game.perft(2) > 0
