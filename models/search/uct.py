"""UCT search with random playouts or leaf evaluations, and MCTS-Solver; a template over a game's kernels.

UCT (Kocsis and Szepesvári, Bandit based Monte-Carlo planning, 2006) runs simulations from the root: it descends the tree by
upper confidence bounds, then plays random actions to the end of the game. MCTS-Solver (Winands, Björnsson and Saito,
Monte-Carlo tree search solver, 2008) adds proven results: a position is proven if it is terminal, if one of its actions is
a proven win for the player to move, or if all of its actions are proven. Simulations skip proven edges. If the player to
move has a proven draw and the action of a simulation scores worse than a draw, the simulation is backed up as a draw, so
that the mean of a position does not fall below the proven result.

With first-play urgency (Gelly and Wang, Exploration exploitation in Go: UCT for Monte-Carlo Go, 2006), an action that was not
visited yet counts as its position's mean plus that urgency, so that a simulation may visit a good action again before all
others were visited. Actions are then visited first in the order of ``rate_actions``, as in alpha-beta search.

Leaves are evaluated by a playout or by the game's heuristic, which is reliable only at the end of a turn. With whole turns,
a simulation therefore goes on to the end of the turn in progress, and adds a node for each position within it.

The tree consists of two tables, with the names of :mod:`stoneworks.models.search.tree`. A *node* is a position that was
visited by at least two simulations. Its *edges*, one for each legal action, form a contiguous block. Positions are not stored;
each simulation replays its actions from the root. Results and their sums are from player 0's perspective; each node stores
the player to move, so players need not alternate. Sums are integers in units of 1 / ``UNIT``.

This tree is not that of the network searches, because that one is slower here. UCT as a selection rule on it (positions stored,
visits and sums in the nodes, nodes expanded at the second visit, a playout as the value of a leaf) ran, in playouts per second
of process time, 7 % slower on Taugo 8 (58,600 and 54,700; 10 and 11 % in another run), 3 % on Laido 9, and within 3 % on Vadus 5
and 9, Laido 5, Taugo 16, Taigo 5 and 12 (1,000 simulations from each of three positions, two seeds, best of 15, alternated; Xeon
at 2.5 GHz, 27 November 2026). Expanding each leaf at its first visit, as those searches do, would come on top.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, NamedTuple, TypeAlias

import numba
import numpy as np
import numpy.typing as npt

from stoneworks.envs.rules import Game
from stoneworks.envs.rules.compiler.bits import list_legal
from stoneworks.envs.rules.compiler.compiler import kernel
from stoneworks.envs.rules.compiler.random_numbers import random_below
from stoneworks.envs.rules.compiler.types import BoardArray, Float32s, Int32Table, Int64s, Record, StateArray, UInt64s
from stoneworks.envs.rules.contract import apply_action, finish_at_random, heuristic, legal_actions, rate_actions
from stoneworks.envs.rules.fields import NO_WINNER
from stoneworks.envs.rules.parts import heuristic_scale
from stoneworks.models.search.tree import GAME, NO_NODE, SOLVED, Edges, GameArray, Nodes, keep_nodes, sign_of
from stoneworks.models.search.turn_search import leaf_kernels, rating_kernels

#: A node; 0 is the root. ``first_edge`` and ``num_edges`` delimit its block of edges, of which the first ``num_visited`` have
#: been visited and ``num_unsolved`` are not solved. ``visits`` are those of its edges. ``can_draw`` says whether the player to
#: move has a proven draw. ``result`` is the proven result for player 0 if ``solved`` is ``SOLVED``.
NODE = np.dtype(
    [
        ("first_edge", np.int32),
        ("num_edges", np.int32),
        ("num_visited", np.int32),
        ("num_unsolved", np.int32),
        ("visits", np.int32),
        ("player", np.int8),
        ("can_draw", np.int8),
        ("solved", np.int8),
        ("result", np.int8),
    ]
)

#: An edge: an action, its child node (``NO_NODE`` until its second visit), visits and sum of results, and the proven result.
#: Until the first visit, ``total_result`` is the rating of the action, if actions are rated.
EDGE = np.dtype(
    [
        ("action", np.int32),
        ("child", np.int32),
        ("visits", np.int32),
        ("total_result", np.int32),
        ("solved", np.int16),
        ("result", np.int16),
    ]
)

NodeArray: TypeAlias = Annotated[npt.NDArray[np.void], numba.from_dtype(NODE)[::1]]
EdgeArray: TypeAlias = Annotated[npt.NDArray[np.void], numba.from_dtype(EDGE)[::1]]

#: Increment of a sum of results for one win.
UNIT = 1000
#: Ratings are compared in units of 1 / ``UNIT`` and up to this size.
MAX_RATING = 2e6
#: Maximum number of visits of a root: sums of results are 32-bit integers.
MAX_VISITS = (2**31 - 1) // UNIT
#: Maximum number of trees that are searched at the same time.
MAX_THREADS = 1024


class Search(NamedTuple):
    """Parameters of a search.

    Attributes:
        exploration: constant of UCB1, for results in [-1, 1].
        scale: divisor of the leaf evaluation; 0 for playouts.
        first_play_urgency: assumed value of an unvisited action, minus the mean value of its position; infinity disables it.
        whole_turns: whether simulations end only where a turn ends.
    """

    exploration: float
    scale: float
    first_play_urgency: float
    whole_turns: bool


@kernel
def visit_next(nodes: Nodes, edges: Edges, node: int, by_rating: bool, seeds: UInt64s) -> int:
    """Return an unvisited edge of ``node``, a random one or the first of highest rating, and count it as visited."""
    edge = nodes[node].first_edge + nodes[node].num_visited
    stop = nodes[node].first_edge + nodes[node].num_edges
    chosen = edge
    if by_rating:
        for other in range(edge + 1, stop):
            if edges[other].total_result > edges[chosen].total_result:
                chosen = other
        edges[chosen].total_result = edges[edge].total_result
        edges[edge].total_result = 0
    else:
        chosen += random_below(seeds, 0, stop - edge)
    action = edges[chosen].action
    edges[chosen].action = edges[edge].action
    edges[edge].action = action
    nodes[node].num_visited += 1
    return int(edge)


@kernel
def choose_edge(nodes: Nodes, edges: Edges, node: int, search: Search, seeds: UInt64s) -> int:
    """Return the edge that a simulation follows from ``node``, which is not solved.

    It is the edge of highest upper confidence bound (UCB1 in Kocsis and Szepesvári 2006), ``mean + exploration * sqrt(log(node
    visits) / edge visits)``, where ``mean`` is the mean result for the player to move. Solved edges are skipped. Unvisited
    edges are selected before all others, in random order; with first-play urgency in order of rating, as soon as no bound
    exceeds the mean result of the node's visits plus the urgency.
    """
    by_rating = search.first_play_urgency < np.inf
    first = nodes[node].first_edge
    num_visited = nodes[node].num_visited
    unvisited = num_visited < nodes[node].num_edges
    if unvisited and (num_visited == 0 or not by_rating):
        return visit_next(nodes, edges, node, by_rating, seeds)
    stop = first + num_visited
    sign = sign_of(nodes[node].player)
    width = search.exploration * math.sqrt(math.log(nodes[node].visits))
    best_edge = first
    best = -np.inf
    for edge in range(first, stop):
        if edges[edge].solved:
            continue
        visits = edges[edge].visits
        bound = (sign * edges[edge].total_result / UNIT + width * math.sqrt(visits)) / visits
        if bound > best:
            best = bound
            best_edge = edge
    if unvisited:
        total = 0
        for edge in range(first, stop):
            total += edges[edge].total_result
        if best <= sign * total / (UNIT * nodes[node].visits) + search.first_play_urgency:
            return visit_next(nodes, edges, node, by_rating, seeds)
    return int(best_edge)


@kernel
def solve_edge(nodes: Nodes, edges: Edges, node: int, edge: int, result: int) -> bool:
    """Mark ``edge`` of ``node`` as solved and return whether this solves the node (Winands et al. 2008)."""
    edges[edge].solved = SOLVED
    edges[edge].result = result
    nodes[node].num_unsolved -= 1
    sign = sign_of(nodes[node].player)
    if result == 0:
        nodes[node].can_draw = 1
    if result == sign:
        nodes[node].solved = SOLVED
        nodes[node].result = result
    elif nodes[node].num_unsolved == 0:
        nodes[node].solved = SOLVED
        nodes[node].result = 0 if nodes[node].can_draw else -sign
    return bool(nodes[node].solved)


@kernel
def add_node(nodes: Nodes, edges: Edges, tree: Record, legal: Int64s, num_legal: int, player: int) -> int:
    """Add a node with an edge for each of the ``legal[:num_legal]`` actions to ``tree``.

    Return its index, or ``NO_NODE`` if a table is full.
    """
    node = tree.num_nodes
    edge = tree.num_edges
    if node == nodes.shape[0] or edge + num_legal > edges.shape[0]:
        return NO_NODE
    tree.num_nodes += 1
    tree.num_edges += num_legal
    nodes[node] = _NEW_NODE[0]
    nodes[node].first_edge = edge
    nodes[node].num_edges = num_legal
    nodes[node].num_unsolved = num_legal
    nodes[node].player = player
    for place in range(num_legal):
        edges[edge] = _NEW_EDGE[0]
        edges[edge].action = legal[place]
        edge += 1
    return int(node)


@kernel
def rate_edges(nodes: Nodes, edges: Edges, node: int, ratings: Float32s, seeds: UInt64s) -> None:
    """Give the edges of the new ``node`` their ratings, of ``ratings[num_actions]``, and a random order among equal ones."""
    first = nodes[node].first_edge
    stop = first + nodes[node].num_edges
    for edge in range(first, stop):
        other = edge + random_below(seeds, 0, stop - edge)
        action = edges[other].action
        edges[other].action = edges[edge].action
        edges[edge].action = action
        edges[edge].total_result = UNIT * min(max(ratings[action], -MAX_RATING), MAX_RATING)


_NEW_NODE, _NEW_EDGE = np.zeros(1, NODE), np.zeros(1, EDGE)
_NEW_EDGE["child"] = NO_NODE


@kernel
def back_up(nodes: Nodes, edges: Edges, path: Int32Table, depth: int, amount: int, solved: bool) -> None:
    """Back up the result of a simulation to the root.

    Args:
        nodes: ``[max_nodes]``, dtype ``NODE``.
        edges: ``[max_edges]``, dtype ``EDGE``.
        path: ``int32[>= depth, 2]``, nodes and edges from the root to the leaf.
        depth: number of edges of the path.
        amount: result of the simulation, in units of 1 / ``UNIT``.
        solved: whether the result is proven.
    """
    for level in range(depth - 1, -1, -1):
        node = path[level, 0]
        edge = path[level, 1]
        nodes[node].visits += 1
        edges[edge].visits += 1
        edges[edge].total_result += amount
        if solved:
            solved = solve_edge(nodes, edges, node, edge, amount // UNIT)
            if solved:
                amount = UNIT * nodes[node].result
        sign = sign_of(nodes[node].player)
        if not solved and nodes[node].can_draw and sign * edges[edge].total_result < 0:
            amount = 0  # the player to move would choose the proven draw instead


@kernel
def extend_path(path: Int32Table, depth: int, node: int, edge: int, edges: Edges) -> int:
    """Add ``node``, which may be new, and its ``edge`` to a path of ``depth`` edges; return the new depth."""
    if depth > 0:
        edges[path[depth - 1, 1]].child = node
    path[depth, 0] = node
    path[depth, 1] = edge
    return depth + 1


@kernel
def is_leaf(nodes: Nodes, edges: Edges, node: int, edge: int, state: Record, search: Search) -> bool:
    """Return whether a simulation ends at ``state``, the position after an edge: at the end of the game, or at a first visit.

    With whole turns, a first visit within a turn does not end it.
    """
    goes_on = search.whole_turns and state.current_player == nodes[node].player
    return bool(state.ending != 0 or (edges[edge].visits == 0 and not goes_on))


def search_tree(
    board: BoardArray,
    states: StateArray,
    nodes: NodeArray,
    edges: EdgeArray,
    trees: GameArray,
    seeds: UInt64s,
    num_simulations: int,
    search: Search,
) -> int:
    """Run simulations from ``states[0]``, growing the tree, and return their number; stop early once the root is solved.

    Each simulation adds at most one node (with whole turns, those to the end of the turn); a full table stays as it is.

    Args:
        board: the board constants.
        states: the position of the root, not terminal.
        nodes: ``[max_nodes]``, dtype ``NODE``, at least one.
        edges: ``[max_edges]``, dtype ``EDGE``, at least as many as the root has.
        trees: one entry of dtype ``GAME``: nodes and edges in use, updated in place; zeros for a new tree.
        seeds: one seed, advanced in place.
        num_simulations: number of simulations.
        search: the parameters of the search.
    """
    tree = trees[0]
    mask = np.empty(board[0].num_actions, np.int8)
    legal = np.empty(board[0].num_actions, np.int64)
    ratings = np.empty(board[0].num_actions, np.float32)
    scratch = np.empty(1, states.dtype)
    state = scratch[0]
    path = np.empty((nodes.shape[0] + 1, 2), np.int32)
    for simulation in range(num_simulations):
        if tree.num_nodes > 0 and nodes[0].solved:
            return simulation
        scratch[0] = states[0]
        depth = 0
        node = 0 if tree.num_nodes > 0 else NO_NODE
        while True:
            if node == NO_NODE:
                legal_actions(board[0], state, mask)
                node = add_node(nodes, edges, tree, legal, list_legal(mask, legal), state.current_player)
                if node == NO_NODE:
                    break
                if search.first_play_urgency < np.inf and nodes[node].num_edges > 1:
                    rate_actions(board[0], state, mask, ratings)
                    rate_edges(nodes, edges, node, ratings, seeds)
            edge = choose_edge(nodes, edges, node, search, seeds)
            depth = extend_path(path, depth, node, edge, edges)
            apply_action(board[0], state, edges[edge].action)
            if is_leaf(nodes, edges, node, edge, state, search):
                break
            node = edges[edge].child
        solved = state.ending != 0
        if search.scale > 0 and not solved:
            amount = round(UNIT * math.tanh(heuristic(board[0], state, 0) / search.scale))
        else:
            finish_at_random(board[0], state, mask, seeds, 0)
            amount = 0 if state.winner == NO_WINNER else UNIT if state.winner == 0 else -UNIT
        back_up(nodes, edges, path, depth, amount, solved)
    return num_simulations


def keep_subtree(nodes: NodeArray, edges: EdgeArray, trees: GameArray, root: int) -> None:
    """Make node ``root`` the root and drop everything outside its subtree, in place (arguments as in :func:`search_tree`)."""
    keep_nodes(nodes, edges, trees[0], root)


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
    """UCT tree with the position of its root and its seed; call ``start`` before the first search.

    Attributes:
        nodes: ``[max_nodes]``, dtype ``NODE``.
        edges: ``[max_edges]``, dtype ``EDGE``.
        trees: ``[1]``, dtype ``GAME``, the numbers of nodes and edges in use.
    """

    def __init__(
        self,
        game: Game,
        max_nodes: int,
        max_edges: int,
        *,
        evaluate_leaves: bool = False,
        first_play_urgency: float | None = None,
        whole_turns: bool = False,
    ) -> None:
        """Allocate the tables; pages are allocated lazily.

        Args:
            game: the game.
            max_nodes: maximum number of nodes, at least 1.
            max_edges: maximum number of edges, at least ``game.num_actions``.
            evaluate_leaves: whether to use the game's heuristic at leaves instead of random playouts.
            first_play_urgency: see :class:`Search`; None disables it.
            whole_turns: see :class:`Search`.

        Raises:
            MissingHeuristicError: the game has no heuristic, which ``evaluate_leaves`` and ``first_play_urgency`` need.
        """
        self._game = game
        self.nodes, self.edges = np.empty(max_nodes, NODE), np.empty(max_edges, EDGE)
        self.trees = np.zeros(1, GAME)
        self._states: npt.NDArray[np.void] = np.zeros(1, game.state_dtype)
        self._seeds = np.zeros(1, np.uint64)
        self._scale = heuristic_scale(game) if evaluate_leaves else 0.0
        self._first_play_urgency = math.inf if first_play_urgency is None else first_play_urgency
        self._whole_turns = whole_turns
        kernels = {**leaf_kernels(game, evaluate_leaves), **rating_kernels(game, first_play_urgency is not None)}
        self._search = game.compiled(search_tree, kernels)
        self._keep = game.compiled(keep_subtree)

    def start(self, record: np.void, seed: np.uint64) -> None:
        """Start a new tree at the non-terminal position ``record``."""
        self.trees[0] = 0
        self._states[0] = record
        self._seeds[0] = seed

    def descend(self, actions: list[int], record: np.void) -> bool:
        """Keep the subtree after ``actions``, which lead to ``record``; return False (tree unusable) if there is none."""
        node = self._node_after(actions)
        if node == NO_NODE:
            return False
        if node:
            self._keep(self.nodes, self.edges, self.trees, node)
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
        visits = int(self.nodes[0]["visits"]) if self.num_nodes else 0
        num_simulations = min(num_simulations, MAX_VISITS - visits)
        arrays = self._states, self.nodes, self.edges, self.trees, self._seeds
        search = Search(exploration, self._scale, self._first_play_urgency, self._whole_turns)
        return self._search(self._game.board, *arrays, num_simulations, search)

    @property
    def num_nodes(self) -> int:
        """Number of nodes."""
        return int(self.trees[0]["num_nodes"])

    def statistics(self, actions: list[int] | None = None) -> RootStatistics | None:
        """Return the statistics of the position after ``actions`` (default: the root), or None if it has no node."""
        node = self._node_after(actions or [])
        if node == NO_NODE:
            return None
        edges = self._edges_of(node)
        edges = edges[edges["action"].argsort()]
        sign = 1 - 2 * int(self.nodes[node]["player"])
        visits = edges["visits"].astype(np.int64)
        values = np.where(visits, sign * edges["total_result"] / (UNIT * np.maximum(visits, 1)), 0.0)
        proven = np.where(edges["solved"], sign * edges["result"], np.nan)
        return RootStatistics(edges["action"].astype(np.int64), visits, values, proven)

    def _node_after(self, actions: list[int]) -> int:
        """Return the node index of the position after ``actions``, or ``NO_NODE``."""
        node = 0 if self.num_nodes else NO_NODE
        for action in actions:
            if node == NO_NODE:
                break
            edges = self._edges_of(node)
            (found,) = np.flatnonzero(edges["action"] == action)
            node = int(edges[found]["child"])
        return node

    def _edges_of(self, node: int) -> npt.NDArray[np.void]:
        first = int(self.nodes[node]["first_edge"])
        return self.edges[first : first + int(self.nodes[node]["num_edges"])]
