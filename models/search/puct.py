"""PUCT search with Dirichlet noise at the root, as in AlphaZero.

Silver et al.: A general reinforcement learning algorithm that masters chess, shogi, and Go through self-play, Science 362,
2018; the formulas follow its pseudocode.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from stoneworks.checks import check_number, check_positive
from stoneworks.envs.rules.compiler.compiler import kernel
from stoneworks.envs.rules.compiler.types import Float32s, Int32Table, Record
from stoneworks.models.search.tree import Edges, Nodes, Parameters, is_lost, mean_value, next_unvisited, sign_of


@dataclass(frozen=True)
class PUCT:
    """Settings of a PUCT search.

    Attributes:
        exploration: exploration constant, c_init in the paper; at least 0.
        exploration_base: base of the exploration term, c_base in the paper; more than 0.
        noise_fraction: weight of the Dirichlet noise in the root priors, in [0, 1]; 0 for evaluation games and for searches
            with a time limit, which would mix it in again where they keep the tree.
        noise_concentration: alpha of the Dirichlet distribution, more than 0; about 10 divided by the number of legal
            actions.

    Raises:
        ValueError: a setting is out of bounds.
    """

    exploration: float = 1.25
    exploration_base: float = 19652.0
    noise_fraction: float = 0.25
    noise_concentration: float = 0.15

    round_size = 1  # each simulation depends on the one before it

    def __post_init__(self) -> None:
        """Check the settings."""
        check_number("exploration", self.exploration, 0)
        check_positive("exploration_base", self.exploration_base)
        check_number("noise_fraction", self.noise_fraction, 0, 1)
        check_positive("noise_concentration", self.noise_concentration)

    @property
    def kernels(self) -> Mapping[str, Callable[..., Any]]:
        """Search kernels by name (see :mod:`stoneworks.models.search.tree`)."""
        return {
            "init_root": init_root,
            "choose_edge": choose_edge,
            "halve_considered": halve_considered,
            "choose_root_action": choose_root_action,
        }

    @property
    def parameters(self) -> Parameters:
        """Parameters passed to the kernels."""
        return Parameters(
            noise_fraction=float(self.noise_fraction),
            exploration=float(self.exploration),
            exploration_base=float(self.exploration_base),
        )

    def schedule(self, num_simulations: int) -> npt.NDArray[np.int32]:
        """Return an empty table, ``int32[0, 0]``; PUCT has no schedule."""
        return np.zeros((0, 0), np.int32)

    def noise(self, shape: tuple[int, int], generator: np.random.Generator) -> npt.NDArray[np.float32]:
        """Return gamma variates, ``float32[num_games, num_actions]``; normalized over legal actions they are Dirichlet."""
        if self.noise_fraction == 0:
            return np.ones(shape, np.float32)
        return generator.standard_gamma(self.noise_concentration, shape, np.float32)


@kernel
def init_root(nodes: Nodes, edges: Edges, game: Record, parameters: Parameters) -> None:
    """Mix Dirichlet noise into the root priors."""
    total = 1e-30
    for edge in range(nodes[0].num_edges):
        total += edges[edge].noise
    fraction = parameters.noise_fraction
    for edge in range(nodes[0].num_edges):
        edges[edge].prior = (1 - fraction) * edges[edge].prior + fraction * edges[edge].noise / total


@kernel
def choose_edge(
    nodes: Nodes, edges: Edges, node: int, game: Record, parameters: Parameters, schedule: Int32Table
) -> int:
    """Return the edge that maximizes Q(a) + C P(a) sqrt(N) / (1 + N(a)).

    Proven losses are skipped. N is the visit count of the node. The Q of an unvisited action is the node's mean value, so
    unvisited actions rank by prior.
    """
    sign = sign_of(nodes[node].player)
    visits = nodes[node].visits
    base = parameters.exploration_base
    factor = (math.log((1 + visits + base) / base) + parameters.exploration) * math.sqrt(visits)
    first = nodes[node].first_edge
    best = next_unvisited(nodes, edges, node)
    best_score = -np.inf
    if best >= 0:
        best_score = mean_value(nodes, node, sign) + factor * edges[best].prior
    for edge in range(first, first + nodes[node].num_visited):
        child = edges[edge].child
        if is_lost(nodes, child, sign):
            continue
        score = mean_value(nodes, child, sign) + factor * edges[edge].prior / (1 + nodes[child].visits)
        if score > best_score:
            best = edge
            best_score = score
    return best


@kernel
def halve_considered(nodes: Nodes, edges: Edges, game: Record, parameters: Parameters, again: bool) -> None:
    """Do nothing; PUCT considers all edges at any time."""


@kernel
def choose_root_action(
    nodes: Nodes, edges: Edges, game: Record, parameters: Parameters, discount: float, policy: Float32s
) -> tuple[int, float]:
    """Write the visit distribution to ``policy``; return the most visited action and its value.

    Ties go to the action visited first. A proven loss is returned only if no other action was visited.
    """
    sign = sign_of(nodes[0].player)
    best = 0
    total_visits = nodes[0].visits - 1
    for edge in range(nodes[0].num_visited):
        visits = nodes[edges[edge].child].visits
        policy[edges[edge].action] = visits / total_visits
        lost = is_lost(nodes, edges[edge].child, sign)
        best_is_lost = is_lost(nodes, edges[best].child, sign)
        if (visits > nodes[edges[best].child].visits and lost == best_is_lost) or (best_is_lost and not lost):
            best = edge
    value = mean_value(nodes, 0, sign)
    if nodes[0].num_visited > 0:
        value = discount * mean_value(nodes, edges[best].child, sign)
    return edges[best].action, value
