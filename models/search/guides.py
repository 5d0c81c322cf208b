"""Guides: leaf evaluations that are mixed with the network's values early in training and, in some agents, in play.

The value of a leaf is (1 - w) network + w guide (Silver et al.: Mastering the game of Go with deep neural networks and
tree search, Nature 529, 2016). A guide is either a hand-written heuristic or the mean result of random playouts.
"""

from __future__ import annotations

import math
from typing import get_args

import numpy as np
import numpy.typing as npt

from stoneworks.checks import check_choice, check_integer
from stoneworks.envs.rules import Game
from stoneworks.envs.rules.compiler.types import Float32s, UInt64s
from stoneworks.envs.rules.contract import finish_at_random, heuristic
from stoneworks.envs.rules.fields import NO_WINNER
from stoneworks.envs.rules.parts import heuristic_scale
from stoneworks.models.description import GuideName
from stoneworks.models.search.tree import LeafArray, Trees
from stoneworks.models.search.turn_search import leaf_kernels


class Guide:
    """Evaluates the leaves of a search (see :func:`make_guide`)."""

    def __init__(self, game: Game, scale: float, num_playouts: int) -> None:
        """Create a guide by the game's evaluation with its scale, or by playouts if ``scale`` is 0."""
        self._scale, self._num_playouts = scale, num_playouts
        self._evaluate = game.compiled(guide_leaves, leaf_kernels(game, scale > 0))

    def evaluate(
        self, trees: Trees, leaves: npt.NDArray[np.void], num_leaves: int, num_asked: int, seeds: npt.NDArray[np.uint64]
    ) -> npt.NDArray[np.float32]:
        """Return the expected result of each leaf for the player to move, ``float32[num_asked]`` in [-1, 1].

        Args:
            trees: the trees of the search.
            leaves: dtype ``LEAF``; the first ``num_leaves`` entries are used.
            num_leaves: number of leaves.
            num_asked: number of the leaves that are evaluated.
            seeds: ``uint64[num_games]``, advanced in place if the guide is random.
        """
        values = np.empty(num_asked, np.float32)
        self._evaluate(trees, leaves, num_leaves, self._scale, self._num_playouts, seeds, values)
        return values


def make_guide(name: str, game: Game, num_playouts: int = 1) -> Guide | None:
    """Return the guide called ``name``, or None for ``"none"``.

    Args:
        name: ``"evaluation"`` for the game's hand-written heuristic, as ``tanh(evaluation / scale)`` with its fitted scale;
            ``"playouts"`` for the mean result of random playouts; or ``"none"``.
        game: the game.
        num_playouts: playouts from each leaf, at least 1; used by ``"playouts"`` only.

    Raises:
        MissingHeuristicError: the guide needs an evaluation and the game has none.
        ValueError: another argument is invalid.
    """
    check_choice("guide", name, get_args(GuideName))
    if name == "none":
        return None
    check_integer("num_playouts", num_playouts, 1)
    return Guide(game, heuristic_scale(game) if name == "evaluation" else 0.0, num_playouts)


def guide_leaves(
    trees: Trees, leaves: LeafArray, num_leaves: int, scale: float, num_playouts: int, seeds: UInt64s, results: Float32s
) -> None:
    """Evaluate the pending leaves with the game's evaluation, or by random playouts.

    Args:
        trees: the trees of the search.
        leaves: dtype ``LEAF``; those without an answer of the network are skipped.
        num_leaves: number of leaves.
        scale: divisor of the evaluation; 0 for playouts.
        num_playouts: random playouts from each leaf, at least 1.
        seeds: ``uint64[num_games]``, advanced in place by playouts.
        results: output, ``float32[num_asked]``, values for the player to move in [-1, 1].
    """
    board, states, _, _, _ = trees
    mask = np.empty(board[0].num_actions, np.int8)
    room = np.empty(1, states.dtype)
    played = room[0]
    for number in range(num_leaves):
        row, leaf, answer = leaves[number].game, leaves[number].node, leaves[number].answer
        if answer < 0:
            continue
        player = states[row, leaf].current_player
        if scale > 0:
            results[answer] = math.tanh(heuristic(board[0], states[row, leaf], player) / scale)
            continue
        total_result = 0
        for _ in range(num_playouts):
            room[0] = states[row, leaf]
            finish_at_random(board[0], played, mask, seeds, row)
            if played.winner != NO_WINNER:
                total_result += 1 if played.winner == player else -1
        results[answer] = total_result / num_playouts
