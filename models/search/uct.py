"""UCT search with random playouts or leaf evaluations, and MCTS-Solver; a template over a game's kernels.

UCT (Kocsis and Szepesvári, Bandit based Monte-Carlo planning, 2006) runs simulations from the root: it descends the tree by
upper confidence bounds, then plays random actions to the end of the game. MCTS-Solver (Winands, Björnsson and Saito,
Monte-Carlo tree search solver, 2008) adds proven results: a position is proven if it is terminal, if one of its actions is
a proven win for the player to move, or if all of its actions are proven. Simulations skip proven edges. If the player to
move has a proven draw and the action of a simulation scores worse than a draw, the simulation is backed up as a draw, so
that the mean of a position does not fall below the proven result.

The tree consists of two tables. A *node* is a position that was visited by at least two simulations. Its *edges*, one for
each legal action, form a contiguous block. Positions are not stored; each simulation replays its actions from the root.
Results and their sums are from player 0's perspective; each node stores the player to move, so players need not
alternate. Sums are integers in units of 1 / ``UNIT``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, TypeAlias

import numba
import numpy as np
import numpy.typing as npt

from stoneworks.envs.rules import Game
from stoneworks.envs.rules.compiler.compiler import kernel
from stoneworks.envs.rules.compiler.random_numbers import random_below
from stoneworks.envs.rules.compiler.types import BoardArray, Int8s, Int32Table, Int64s, StateArray, UInt64s
from stoneworks.envs.rules.contract import apply_action, finish_at_random, heuristic, legal_actions
from stoneworks.envs.rules.fields import NO_WINNER
from stoneworks.envs.rules.parts import heuristic_scale
from stoneworks.models.search.turn_search import leaf_kernels

# Columns of the node table; node 0 is the root.
FIRST_EDGE, NUM_EDGES, NUM_TRIED, NUM_OPEN, CAN_DRAW, PLAYER, NODE_VISITS, NODE_RESULT, MOVED_TO = range(9)
NUM_NODE_COLUMNS = 9
# Columns of the edge table. Visited edges come first in their block.
ACTION, CHILD, VISITS, SUM_OF_RESULTS, RESULT = range(5)
NUM_EDGE_COLUMNS = 5
# Entries of ``sizes``: the number of rows in use in each table.
NODES_IN_USE, EDGES_IN_USE = range(2)

#: Increment of a sum of results for one win.
UNIT = 1000
#: Maximum number of visits of a root: sums of results are 32-bit integers.
MAX_VISITS = (2**31 - 1) // UNIT
#: Maximum number of trees that are searched at the same time.
MAX_THREADS = 1024

#: Child of an edge without a node, and new index of a node that is dropped.
NO_NODE = -1
#: Result of an edge that is not proven; proven results are 1, 0 and -1 for player 0.
OPEN = 2

Parameters: TypeAlias = Annotated[npt.NDArray[np.float64], numba.float64[::1]]


@kernel
def choose_edge(nodes: Int32Table, edges: Int32Table, node: int, exploration: float, seeds: UInt64s) -> int:
    """Return the edge that a simulation follows from ``node``, which is not proven (tables as in :func:`back_up`).

    Unvisited edges are selected first, in random order. After that, the edge of highest upper confidence bound is selected
    (UCB1 in Kocsis and Szepesvári 2006), ``mean + exploration * sqrt(log(node visits) / edge visits)``, where ``mean`` is
    the mean result for the player to move. Proven edges are skipped.
    """
    first = nodes[node, FIRST_EDGE]
    stop = first + nodes[node, NUM_EDGES]
    num_tried = nodes[node, NUM_TRIED]
    if first + num_tried < stop:
        edge = first + num_tried
        other = edge + random_below(seeds, 0, stop - edge)
        action = edges[other, ACTION]
        edges[other, ACTION] = edges[edge, ACTION]
        edges[edge, ACTION] = action
        nodes[node, NUM_TRIED] = num_tried + 1
        return int(edge)
    sign = 1 if nodes[node, PLAYER] == 0 else -1
    width = exploration * math.sqrt(math.log(nodes[node, NODE_VISITS]))
    best_edge = first
    best = -np.inf
    for edge in range(first, stop):
        if edges[edge, RESULT] != OPEN:
            continue
        visits = edges[edge, VISITS]
        bound = (sign * edges[edge, SUM_OF_RESULTS] / UNIT + width * math.sqrt(visits)) / visits
        if bound > best:
            best = bound
            best_edge = edge
    return int(best_edge)


@kernel
def prove(nodes: Int32Table, edges: Int32Table, node: int, edge: int, result: int) -> bool:
    """Mark ``edge`` of ``node`` as proven and return whether this proves the node (Winands et al. 2008).

    The tables are those of :func:`back_up`.
    """
    edges[edge, RESULT] = result
    nodes[node, NUM_OPEN] -= 1
    sign = 1 if nodes[node, PLAYER] == 0 else -1
    if result == sign:
        nodes[node, NODE_RESULT] = result
        return True
    if result == 0:
        nodes[node, CAN_DRAW] = 1
    if nodes[node, NUM_OPEN] > 0:
        return False
    first = nodes[node, FIRST_EDGE]
    best = -1
    for other in range(first, first + nodes[node, NUM_EDGES]):
        best = max(best, sign * edges[other, RESULT])
    nodes[node, NODE_RESULT] = sign * best
    return True


@kernel
def add_node(nodes: Int32Table, edges: Int32Table, sizes: Int64s, mask: Int8s, player: int) -> int:
    """Add a node with an edge for each legal action and return its index, or ``NO_NODE`` if a table is full.

    ``mask[num_actions]`` is 1 for legal actions. The tables are those of :func:`back_up`, with ``sizes[2]`` rows in use.
    """
    num_legal = 0
    for action in range(mask.shape[0]):
        num_legal += mask[action]
    node = sizes[NODES_IN_USE]
    edge = sizes[EDGES_IN_USE]
    if node == nodes.shape[0] or edge + num_legal > edges.shape[0]:
        return NO_NODE
    sizes[NODES_IN_USE] += 1
    sizes[EDGES_IN_USE] += num_legal
    nodes[node] = 0
    nodes[node, FIRST_EDGE] = edge
    nodes[node, NUM_EDGES] = num_legal
    nodes[node, NUM_OPEN] = num_legal
    nodes[node, PLAYER] = player
    nodes[node, NODE_RESULT] = OPEN
    for action in range(mask.shape[0]):
        if mask[action]:
            edges[edge] = 0
            edges[edge, ACTION] = action
            edges[edge, CHILD] = NO_NODE
            edges[edge, RESULT] = OPEN
            edge += 1
    return int(node)


@kernel
def back_up(nodes: Int32Table, edges: Int32Table, path: Int32Table, depth: int, amount: int, proven: bool) -> None:
    """Back up the result of a simulation to the root.

    Args:
        nodes: ``[max_nodes, NUM_NODE_COLUMNS]``, the node table.
        edges: ``[max_edges, NUM_EDGE_COLUMNS]``, the edge table.
        path: ``[>= depth, 2]``, nodes and edges from the root to the leaf.
        depth: number of edges of the path.
        amount: result of the simulation, in units of 1 / ``UNIT``.
        proven: whether the result is proven.
    """
    for level in range(depth - 1, -1, -1):
        node = path[level, 0]
        edge = path[level, 1]
        nodes[node, NODE_VISITS] += 1
        edges[edge, VISITS] += 1
        edges[edge, SUM_OF_RESULTS] += amount
        if proven:
            proven = prove(nodes, edges, node, edge, amount // UNIT)
            if proven:
                amount = UNIT * nodes[node, NODE_RESULT]
        sign = 1 if nodes[node, PLAYER] == 0 else -1
        if not proven and nodes[node, CAN_DRAW] and sign * edges[edge, SUM_OF_RESULTS] < 0:
            amount = 0  # the player to move would choose the proven draw instead


def search_tree(
    board: BoardArray,
    states: StateArray,
    nodes: Int32Table,
    edges: Int32Table,
    sizes: Int64s,
    seeds: UInt64s,
    num_simulations: int,
    parameters: Parameters,
) -> int:
    """Run simulations from ``states[0]``, growing the tree, and return their number; stop early once the root is proven.

    Each simulation adds at most one node: the first position on its path that was visited once but has no edges yet. If a
    table is full, the tree stops growing and simulations continue from its leaves.

    Args:
        board: the board constants.
        states: the position of the root, not terminal.
        nodes: ``[max_nodes, NUM_NODE_COLUMNS]``, the node table, with space for at least one row.
        edges: ``[max_edges, NUM_EDGE_COLUMNS]``, the edge table, with space for at least the edges of the root.
        sizes: ``int64[2]``, rows in use in each table, updated in place; zeros for a new tree.
        seeds: one seed, advanced in place.
        num_simulations: number of simulations.
        parameters: the exploration constant for results in [-1, 1], and the scale of the leaf evaluation; 0 for playouts.
    """
    exploration, scale = parameters[0], parameters[1]
    mask = np.empty(board[0].num_actions, np.int8)
    room = np.empty(1, states.dtype)
    state = room[0]
    path = np.empty((nodes.shape[0] + 1, 2), np.int32)
    for simulation in range(num_simulations):
        if sizes[NODES_IN_USE] > 0 and nodes[0, NODE_RESULT] != OPEN:
            return simulation
        room[0] = states[0]
        depth = 0
        node = 0 if sizes[NODES_IN_USE] > 0 else NO_NODE
        while True:
            if node == NO_NODE:
                legal_actions(board[0], state, mask)
                node = add_node(nodes, edges, sizes, mask, state.current_player)
                if node == NO_NODE:
                    break
                if depth > 0:
                    edges[path[depth - 1, 1], CHILD] = node
            edge = choose_edge(nodes, edges, node, exploration, seeds)
            path[depth, 0] = node
            path[depth, 1] = edge
            depth += 1
            apply_action(board[0], state, edges[edge, ACTION])
            if state.ending or edges[edge, VISITS] == 0:
                break
            node = edges[edge, CHILD]
        proven = depth > 0 and state.ending != 0
        if scale > 0 and not state.ending:
            amount = round(UNIT * math.tanh(heuristic(board[0], state, 0) / scale))
        else:
            finish_at_random(board[0], state, mask, seeds, 0)
            amount = 0 if state.winner == NO_WINNER else UNIT if state.winner == 0 else -UNIT
        back_up(nodes, edges, path, depth, amount, proven)
    return num_simulations


def keep_subtree(nodes: Int32Table, edges: Int32Table, sizes: Int64s, root: int) -> None:
    """Make node ``root`` the root and drop everything outside its subtree, in place.

    Children come after their parents, and edge blocks are in the order of their nodes, so rows only move to lower indices.
    The arguments are those of :func:`search_tree`.
    """
    num_nodes = sizes[NODES_IN_USE]
    for node in range(num_nodes):
        nodes[node, MOVED_TO] = NO_NODE
    nodes[root, MOVED_TO] = 0
    num_kept = 0
    for node in range(root, num_nodes):
        if nodes[node, MOVED_TO] != NO_NODE:
            nodes[node, MOVED_TO] = num_kept
            num_kept += 1
            first = nodes[node, FIRST_EDGE]
            for edge in range(first, first + nodes[node, NUM_EDGES]):
                if edges[edge, CHILD] != NO_NODE:
                    nodes[edges[edge, CHILD], MOVED_TO] = 0
    to_edge = 0
    for node in range(root, num_nodes):
        to_node = nodes[node, MOVED_TO]
        if to_node == NO_NODE:
            continue
        from_edge = nodes[node, FIRST_EDGE]
        num_edges = nodes[node, NUM_EDGES]
        nodes[to_node] = nodes[node]
        nodes[to_node, FIRST_EDGE] = to_edge
        for edge in range(from_edge, from_edge + num_edges):
            edges[to_edge] = edges[edge]
            if edges[to_edge, CHILD] != NO_NODE:
                edges[to_edge, CHILD] = nodes[edges[to_edge, CHILD], MOVED_TO]
            to_edge += 1
    sizes[NODES_IN_USE] = num_kept
    sizes[EDGES_IN_USE] = to_edge


@dataclass(frozen=True, eq=False)
class RootStatistics:
    """Statistics of the root of a search, from the perspective of the player to move.

    Attributes:
        actions: ``int64[num_legal]``, the legal actions in ascending order.
        visits: ``int64[num_legal]``, visit counts, including those of a reused tree.
        values: ``float64[num_legal]``, mean results in [-1, 1]; 0 for unvisited actions.
        proven: ``float64[num_legal]``, 1, 0 or -1 for a proven win, draw or loss; NaN if not proven.
    """

    actions: npt.NDArray[np.int64]
    visits: npt.NDArray[np.int64]
    values: npt.NDArray[np.float64]
    proven: npt.NDArray[np.float64]

    @property
    def result(self) -> float:
        """Proven result of the root: 1, 0 or -1 for a win, draw or loss; NaN if it is not proven."""
        if np.any(self.proven == 1):
            return 1.0
        return float(self.proven.max())  # NaN if any action has NaN

    @property
    def best(self) -> npt.NDArray[np.int64]:
        """Equally good best actions, ``int64[num_best]``.

        If the root is proven, the candidates are the actions with the best proven result, otherwise the actions that are not
        proven. If the selected candidate has a value <= 0 and proven draws exist, the candidates are the proven draws instead.
        The selection takes the most visited candidates and, among these, the ones of highest value.
        """
        result = self.result
        if not np.isnan(result):
            return self.actions[self._most_visited(self.proven == result)]
        best = self._most_visited(np.isnan(self.proven))
        draws = self.proven == 0
        if draws.any() and self.values[best].max() <= 0:
            best = self._most_visited(draws)
        return self.actions[best]

    def _most_visited(self, allowed: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
        """Return the mask of the most visited ``allowed`` actions (at least one), with ties broken by highest value."""
        most = allowed & (self.visits == self.visits[allowed].max())
        return most & (self.values == self.values[most].max())

    @classmethod
    def sum_of(cls, parts: Sequence[RootStatistics]) -> RootStatistics:
        """Combine the statistics of several independent searches of the same position."""
        first = parts[0]
        visits = np.sum([part.visits for part in parts], axis=0)
        sums = np.sum([part.values * part.visits for part in parts], axis=0)
        proven = first.proven.copy()
        for part in parts[1:]:
            proven = np.where(np.isnan(proven), part.proven, proven)
        return cls(first.actions, visits, sums / np.maximum(visits, 1), proven)


class SearchTree:
    """UCT tree with the position of its root and its seed; call ``start`` before the first search."""

    def __init__(self, game: Game, max_nodes: int, max_edges: int, *, evaluate_leaves: bool = False) -> None:
        """Allocate the tables; pages are allocated lazily.

        Args:
            game: the game.
            max_nodes: maximum number of nodes, at least 1.
            max_edges: maximum number of edges, at least ``game.num_actions``.
            evaluate_leaves: whether to use the game's evaluation at leaves instead of random playouts.

        Raises:
            MissingHeuristicError: if ``evaluate_leaves`` is true and the game has no heuristic.
        """
        self._game = game
        self._nodes = np.empty((max_nodes, NUM_NODE_COLUMNS), np.int32)
        self._edges = np.empty((max_edges, NUM_EDGE_COLUMNS), np.int32)
        self._sizes = np.zeros(2, np.int64)
        self._states: npt.NDArray[np.void] = np.zeros(1, game.state_dtype)
        self._seeds = np.zeros(1, np.uint64)
        self._scale = heuristic_scale(game) if evaluate_leaves else 0.0
        self._search = game.compiled(search_tree, leaf_kernels(game, evaluate_leaves))
        self._keep = game.compiled(keep_subtree)

    def start(self, record: np.void, seed: np.uint64) -> None:
        """Start a new tree at the non-terminal position ``record``."""
        self._sizes[:] = 0
        self._states[0] = record
        self._seeds[0] = seed

    def descend(self, actions: list[int], record: np.void) -> bool:
        """Keep the subtree after ``actions``, which lead to ``record``; return False (tree unusable) if there is none."""
        node = self._node_after(actions)
        if node == NO_NODE:
            return False
        if node:
            self._keep(self._nodes, self._edges, self._sizes, node)
        self._states[0] = record
        return True

    def search(self, num_simulations: int, exploration: float) -> int:
        """Run simulations from the root, in the tree of earlier calls.

        Args:
            num_simulations: their number.
            exploration: the constant of UCB1, for results in [-1, 1].

        Returns:
            The number of simulations run, which is smaller if the root is proven or has ``MAX_VISITS`` visits.
        """
        visits = int(self._nodes[0, NODE_VISITS]) if self._sizes[NODES_IN_USE] else 0
        num_simulations = min(num_simulations, MAX_VISITS - visits)
        arrays = self._states, self._nodes, self._edges, self._sizes, self._seeds
        return self._search(self._game.board, *arrays, num_simulations, np.array([exploration, self._scale]))

    @property
    def num_nodes(self) -> int:
        """Number of nodes."""
        return int(self._sizes[NODES_IN_USE])

    def statistics(self, actions: list[int] | None = None) -> RootStatistics | None:
        """Return the statistics of the position after ``actions`` (default: the root), or None if it has no node."""
        node = self._node_after(actions or [])
        if node == NO_NODE:
            return None
        edges = self._edges_of(node)
        edges = edges[edges[:, ACTION].argsort()]
        sign = 1 if self._nodes[node, PLAYER] == 0 else -1
        visits = edges[:, VISITS].astype(np.int64)
        values = sign * edges[:, SUM_OF_RESULTS] / (UNIT * np.maximum(visits, 1))
        proven = np.where(edges[:, RESULT] == OPEN, np.nan, sign * edges[:, RESULT])
        return RootStatistics(edges[:, ACTION].astype(np.int64), visits, values, proven)

    def _node_after(self, actions: list[int]) -> int:
        """Return the node index of the position after ``actions``, or ``NO_NODE``."""
        node = 0 if self.num_nodes else NO_NODE
        for action in actions:
            if node == NO_NODE:
                break
            edges = self._edges_of(node)
            (found,) = np.flatnonzero(edges[:, ACTION] == action)
            node = int(edges[found, CHILD])
        return node

    def _edges_of(self, node: int) -> npt.NDArray[np.int32]:
        first = int(self._nodes[node, FIRST_EDGE])
        return self._edges[first : first + int(self._nodes[node, NUM_EDGES])]
