"""A network that learns the solver's answers: its targets are exact, and it learns none of the tested positions."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch")

from benchmarks import solved_network
from stoneworks.envs.rules import load_game
from stoneworks.evaluation.solved_accuracy.positions import load_solved_positions
from stoneworks.models import Solver


def test_tested_positions_and_their_images_are_not_learned() -> None:
    game = load_game("laido(size=2)")
    positions = load_solved_positions(game).positions
    tested = positions[0]
    for symmetry in game.symmetries:
        moves = [game.action_to_string(symmetry.actions[action]) for action in tested.state(game).history()]
        image = tested.model_copy(update={"moves": "\n".join(moves)})
        assert solved_network.without_images(game, (image,), (tested,)) == []
    others = [position for position in positions if position.result != tested.result]  # so they are not images of it
    assert others
    assert solved_network.without_images(game, (tested, *others), (tested,)) == others


def test_what_is_learned_is_exact() -> None:
    game = load_game("taugo(size=3)")
    solved = list(load_solved_positions(game).positions[:10])
    for position, learned in zip(solved, solved_network.training_positions(game, solved), strict=True):
        solution = Solver(game, memory_mib=1).solve(position.state(game))
        assert learned["result"] == solution.result
        assert sorted(learned["actions"][learned["probabilities"] > 0]) == sorted(solution.actions)
        assert np.isclose(learned["probabilities"].sum(), 1)
