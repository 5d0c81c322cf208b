"""UCT with random playouts, or evaluations of leaves, and proven results: a template over a game's kernels, and the tree it grows.

UCT (Kocsis and Szepesvári, Bandit based Monte-Carlo planning, 2006) plays simulations from the root: down the tree by
upper confidence bounds, then at random to the end of the game. MCTS-Solver (Winands, Björnsson and Saito, Monte-Carlo
tree search solver, 2008) adds what is proven: an end of the game is, and so is a position with an action that is
proven to win for who acts there, and one all of whose actions are proven. Simulations go where nothing is proven yet. Where
who acts has a proven draw and does worse on average with the action that a simulation tries, the simulation counts as
a draw further up: so the mean of a position does not fall below what its player can have.

The tree is two tables. A *node* is a position that simulations have gone through at least twice. Its *edges*, one for
each legal action, are a contiguous block. Positions are not kept: a simulation replays its actions from the root.
Results and their sums are those of player 0, and the game's other player has their negatives; a node knows who acts
in it, so a player who acts several times in a row needs no care. Sums are in units of 1 / ``UNIT``, so that they are integers.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from stoneworks.envs.rules import Game
from stoneworks.envs.rules.kernels import BoardArray, Int32Table, Int64s, Record, StateArray, UInt64s, kernel
from stoneworks.envs.rules.random_numbers import random_below
from stoneworks.envs.rules.templates import NO_WINNER, apply_action, finish_at_random, legal_actions
from stoneworks.models.evaluations import evaluation_kernels, evaluation_scale
from stoneworks.models.search.root_statistics import RootStatistics
from stoneworks.models.search.turn_search import evaluate

# The columns of the table of nodes; node 0 is the root.
FIRST_EDGE, NUM_EDGES, NUM_TRIED, NUM_OPEN, CAN_DRAW, PLAYER, NODE_VISITS, NODE_RESULT, MOVED_TO = range(9)
NUM_NODE_COLUMNS = 9
# The columns of the table of edges. Those that have been tried stand first in their block.
ACTION, CHILD, VISITS, SUM_OF_RESULTS, RESULT = range(5)
NUM_EDGE_COLUMNS = 5
# The entries of ``sizes``: how many rows of each table are in use.
NODES_IN_USE, EDGES_IN_USE = range(2)

#: What a sum of results grows by with a win.
UNIT = 1000

#: The child of an edge that leads to no node yet, and where a node goes that is dropped.
NO_NODE = -1
#: The result of what is not proven; proven results are 1, 0 and -1, for player 0.
OPEN = 2


@kernel
def choose_edge(nodes: Int32Table, edges: Int32Table, node: int, exploration: float, seeds: UInt64s) -> int:
    """Return the edge with which a simulation goes on from ``node``, which is not proven.

    Edges that have not been tried come first, in random order. Then it is that of the greatest upper confidence bound
    (UCB1 in Kocsis and Szepesvári 2006), ``mean + exploration * sqrt(log(visits of the node) / visits of the edge)``, with
    the mean result of who acts in the node. Edges that are proven are left out.
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
def no_evaluation(board: Record, state: Record, player: int) -> float:
    """Stand in for ``evaluate`` where leaves are played out."""
    return 0.0


@kernel
def prove(nodes: Int32Table, edges: Int32Table, node: int, edge: int, result: int) -> bool:
    """Note that ``edge`` of ``node`` is proven, and return whether that proves the node (Winands et al. 2008)."""
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


def search_tree(
    board: BoardArray,
    states: StateArray,
    nodes: Int32Table,
    edges: Int32Table,
    sizes: Int64s,
    seeds: UInt64s,
    num_simulations: int,
    exploration: float,
    scale: float,
) -> int:
    """Play simulations from ``states[0]``, grow its tree, and return how many were played: fewer once the root is proven.

    Each simulation adds at most one node: the first position on its way that has been visited once but has no edges
    yet. Where a table is full, the tree stays as it is and simulations go on from its leaves.

    Args:
        board: the board constants.
        states: the position of the root, which is not over.
        nodes: the table of nodes, with room for at least one.
        edges: the table of edges, with room for at least those of the root.
        sizes: ``int64[2]``, the rows in use of both tables, advanced; zeros for a new tree.
        seeds: one seed, advanced.
        num_simulations: how many to play.
        exploration: the factor of the width of confidence bounds on results in [-1, 1].
        scale: what the evaluation of a leaf is divided by; its tanh is the result. 0 to play leaves out at random.
    """
    num_actions = board[0].num_actions
    mask = np.empty(num_actions, np.int8)
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
                num_legal = 0
                for action in range(num_actions):
                    num_legal += mask[action]
                first = sizes[EDGES_IN_USE]
                if sizes[NODES_IN_USE] == nodes.shape[0] or first + num_legal > edges.shape[0]:
                    break
                node = sizes[NODES_IN_USE]
                sizes[NODES_IN_USE] += 1
                sizes[EDGES_IN_USE] += num_legal
                nodes[node, FIRST_EDGE] = first
                nodes[node, NUM_EDGES] = num_legal
                nodes[node, NUM_TRIED] = 0
                nodes[node, NUM_OPEN] = num_legal
                nodes[node, CAN_DRAW] = 0
                nodes[node, PLAYER] = state.current_player
                nodes[node, NODE_VISITS] = 0
                nodes[node, NODE_RESULT] = OPEN
                edge = first
                for action in range(num_actions):
                    if mask[action]:
                        edges[edge, ACTION] = action
                        edges[edge, CHILD] = NO_NODE
                        edges[edge, VISITS] = 0
                        edges[edge, SUM_OF_RESULTS] = 0
                        edges[edge, RESULT] = OPEN
                        edge += 1
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
        amount = 0  # what the simulation counts, in units
        if scale > 0 and not state.ending:
            amount = round(UNIT * math.tanh(evaluate(board[0], state, 0) / scale))
        else:
            finish_at_random(board[0], state, mask, seeds, 0)
            if state.winner != NO_WINNER:
                amount = UNIT if state.winner == 0 else -UNIT

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
                amount = 0  # who acts here would not go that way, but draw
    return num_simulations


def keep_subtree(nodes: Int32Table, edges: Int32Table, sizes: Int64s, root: int) -> None:
    """Make node ``root`` the root and drop all that is not below it, in place.

    A child stands after its parent, and blocks of edges in the order of their nodes; so what is kept moves down only.
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
        for column in range(MOVED_TO):
            nodes[to_node, column] = nodes[node, column]
        nodes[to_node, FIRST_EDGE] = to_edge
        for edge in range(from_edge, from_edge + num_edges):
            for column in range(NUM_EDGE_COLUMNS):
                edges[to_edge, column] = edges[edge, column]
            if edges[to_edge, CHILD] != NO_NODE:
                edges[to_edge, CHILD] = nodes[edges[to_edge, CHILD], MOVED_TO]
            to_edge += 1
    sizes[NODES_IN_USE] = num_kept
    sizes[EDGES_IN_USE] = to_edge


class SearchTree:
    """A tree of UCT with its root's position and its seed; ``start`` it before the first search."""

    def __init__(self, game: Game, max_nodes: int, max_edges: int, *, evaluate_leaves: bool = False) -> None:
        """Make room. Memory that no search reaches is not touched.

        Args:
            game: the game.
            max_nodes: the greatest number of nodes, at least 1.
            max_edges: the greatest number of edges, at least ``game.num_distinct_actions()``.
            evaluate_leaves: whether to judge leaves by the game's evaluation in place of random playouts.

        Raises:
            MissingEvaluationError: leaves are to be judged, and the game has no evaluation.
        """
        self._game = game
        self._nodes = np.empty((max_nodes, NUM_NODE_COLUMNS), np.int32)
        self._edges = np.empty((max_edges, NUM_EDGE_COLUMNS), np.int32)
        self._sizes = np.zeros(2, np.int64)
        self._states: npt.NDArray[np.void] = np.zeros(1, game.state_dtype)
        self._seeds = np.zeros(1, np.uint64)
        self._scale = evaluation_scale(game) if evaluate_leaves else 0.0
        evaluate_leaf = evaluation_kernels(game)["evaluate"] if evaluate_leaves else no_evaluation
        self._search = game.compiled(search_tree, {"evaluate": evaluate_leaf})
        self._keep = game.compiled(keep_subtree)

    def start(self, record: np.void, seed: np.uint64) -> None:
        """Begin a new tree at the position ``record``, which is not over."""
        self._sizes[:] = 0
        self._states[0] = record
        self._seeds[0] = seed

    def descend(self, actions: list[int], record: np.void) -> bool:
        """Keep what lies below the actions that lead to ``record``; return False, the tree unusable, where there is nothing."""
        node = self._node_after(actions)
        if node == NO_NODE:
            return False
        if node:
            self._keep(self._nodes, self._edges, self._sizes, node)
        self._states[0] = record
        return True

    def search(self, num_simulations: int, exploration: float) -> int:
        """Play simulations and return how many: fewer than asked for only where the root is proven."""
        done: int = self._search(
            self._game.board,
            self._states,
            self._nodes,
            self._edges,
            self._sizes,
            self._seeds,
            num_simulations,
            exploration,
            self._scale,
        )
        return done

    @property
    def num_nodes(self) -> int:
        """The number of nodes."""
        return int(self._sizes[NODES_IN_USE])

    def statistics(self, actions: list[int] | None = None) -> RootStatistics | None:
        """Return the statistics of the position after ``actions``, of the root without them; None for one without a node."""
        node = self._node_after(actions or [])
        if node == NO_NODE:
            return None
        edges = self._edges_of(node)
        edges = edges[edges[:, ACTION].argsort()]
        player = int(self._nodes[node, PLAYER])
        sign = 1 if player == 0 else -1
        visits = edges[:, VISITS].astype(np.int64)
        values = sign * edges[:, SUM_OF_RESULTS] / (UNIT * np.maximum(visits, 1))
        proven = np.where(edges[:, RESULT] == OPEN, np.nan, sign * edges[:, RESULT])
        return RootStatistics(player, edges[:, ACTION].astype(np.int64), visits, values, proven)

    def _node_after(self, actions: list[int]) -> int:
        """Return the node of the position after ``actions``, or ``NO_NODE``."""
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
