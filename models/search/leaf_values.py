"""``LeafValues``: values of leaves that are mixed with the network's early in training and, in some agents, in play.

The value of a leaf is (1 - w) network + w other (Silver et al.: Mastering the game of Go with deep neural networks and
tree search, Nature 529, 2016). The other is either the game's heuristic or the mean result of random playouts.
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
from stoneworks.models.description import LeafValuesName
from stoneworks.models.search.tree import LeafArray, Trees
from stoneworks.models.search.turn_search import leaf_kernels


class LeafValues:
    """Evaluates the leaves of a search (see :func:`make_leaf_values`)."""

    def __init__(self, game: Game, scale: float, num_playouts: int) -> None:
        """Evaluate by the game's heuristic with its scale, or by playouts if ``scale`` is 0."""
        self._scale, self._num_playouts = scale, num_playouts
        self._evaluate = game.compiled(evaluate_leaves, leaf_kernels(game, scale > 0))

    def evaluate(
        self,
        trees: Trees,
        leaves: npt.NDArray[np.void],
        num_leaves: int,
        num_evaluations: int,
        seeds: npt.NDArray[np.uint64],
    ) -> npt.NDArray[np.float32]:
        """Return the expected result of each leaf for the player to move, ``float32[num_evaluations]`` in [-1, 1].

        Args:
            trees: the trees of the search.
            leaves: dtype ``LEAF``; the first ``num_leaves`` entries are used.
            num_leaves: number of leaves.
            num_evaluations: number of the leaves that are evaluated.
            seeds: ``uint64[num_games]``, advanced in place by playouts.
        """
        values = np.empty(num_evaluations, np.float32)
        self._evaluate(trees, leaves, num_leaves, self._scale, self._num_playouts, seeds, values)
        return values


def make_leaf_values(name: str, game: Game, num_playouts: int = 1) -> LeafValues | None:
    """Return the leaf values called ``name``, or None for ``"none"``.

    Args:
        name: ``"heuristic"`` for the game's heuristic, as ``tanh(heuristic / scale)`` with its fitted scale; ``"playouts"``
            for the mean result of random playouts; or ``"none"``.
        game: the game.
        num_playouts: playouts from each leaf, at least 1; used by ``"playouts"`` only.

    Raises:
        MissingHeuristicError: they need a heuristic and the game has none.
        ValueError: another argument is invalid.
    """
    check_choice("leaf_values", name, get_args(LeafValuesName))
    if name == "none":
        return None
    check_integer("num_playouts", num_playouts, 1)
    return LeafValues(game, heuristic_scale(game) if name == "heuristic" else 0.0, num_playouts)


def evaluate_leaves(
    trees: Trees, leaves: LeafArray, num_leaves: int, scale: float, num_playouts: int, seeds: UInt64s, results: Float32s
) -> None:
    """Evaluate the pending leaves with the game's heuristic, or by random playouts.

    Args:
        trees: the trees of the search.
        leaves: dtype ``LEAF``; those without a slot in the batch are skipped.
        num_leaves: number of leaves.
        scale: divisor of the heuristic; 0 for playouts.
        num_playouts: random playouts from each leaf, at least 1.
        seeds: ``uint64[num_games]``, advanced in place by playouts.
        results: output, ``float32[num_evaluations]``, values for the player to move in [-1, 1].
    """
    board, states, _, _, _ = trees
    mask = np.empty(board[0].num_actions, np.int8)
    scratch = np.empty(1, states.dtype)
    played = scratch[0]
    for number in range(num_leaves):
        row, leaf, slot = leaves[number].game, leaves[number].node, leaves[number].slot
        if slot < 0:
            continue
        player = states[row, leaf].current_player
        if scale > 0:
            results[slot] = math.tanh(heuristic(board[0], states[row, leaf], player) / scale)
            continue
        total_result = 0
        for _ in range(num_playouts):
            scratch[0] = states[row, leaf]
            finish_at_random(board[0], played, mask, seeds, row)
            if played.winner != NO_WINNER:
                total_result += 1 if played.winner == player else -1
        results[slot] = total_result / num_playouts
