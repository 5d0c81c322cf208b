"""Search trees for network-guided MCTS: memory layout and the operations that all searches share.

A search runs on many games at once and evaluates one or more leaves per game in each network batch. A simulation therefore has
two halves, each a template: :func:`descend` selects leaves in each tree and writes their observations to the batch, and
:func:`expand` adds the edges of the leaves from the network's output and backs up the values. The selection rules are the four
kernels of the contract below (see :mod:`stoneworks.models.search.gumbel` and :mod:`stoneworks.models.search.puct`).

All templates work on :class:`Trees`; ``leaves`` holds in its first entries the leaves of the batch, ``parameters`` the
parameters of the selection rule, ``discount`` is the discount factor per action, and ``solve`` says whether proven results are
propagated.

Between the two halves, the leaves are pending: their visits count, and a node whose visits are all pending counts as a loss
for the player who chooses it (virtual loss; Chaslot, Winands and van den Herik: Parallel Monte-Carlo tree search, 2008). The
values of other nodes are means over the visits that are not pending (Liu et al.: Watch the unobserved, ICLR 2020).

Values in a tree are from player 0's perspective, in [-1, 1]; the sign is flipped at nodes where player 1 is to move. Players
need not alternate.

With solving enabled (Winands, Björnsson and Saito: Monte-Carlo tree search solver, 2008), a node is solved if it is terminal,
if one of its actions is a proven win for the player to move, or if all of its actions are solved. A position that the player
to move can win within the current turn is solved when it is expanded (see :mod:`stoneworks.models.search.turn_wins`).

Values may be discounted: each action multiplies a backed-up value by ``discount``, so earlier wins and later losses are
preferred.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple, TypeAlias

import numba
import numpy as np
import numpy.typing as npt

from stoneworks.envs.rules.compiler.compiler import inlined, kernel
from stoneworks.envs.rules.compiler.types import (
    BoardArray,
    Float32s,
    Float32Table,
    Float32Tables,
    Int8s,
    Int32s,
    Int32Table,
    Int64s,
    Record,
    StateArray,
    StateTable,
)
from stoneworks.envs.rules.contract import NO_ACTION, apply_action, legal_actions, observe
from stoneworks.envs.rules.fields import NO_WINNER
from stoneworks.models.search.turn_wins import MAX_TURN_ACTIONS, winning_turn

#: A node of a tree. ``first_edge`` and ``num_edges`` delimit its block of edges, one for each legal action; ``num_visited``
#: of them have been visited, and the first ``num_ordered`` are sorted by descending prior. ``pending`` of the visits are not
#: backed up yet. ``total_value`` is the sum of the values backed up through the node, ``network_value`` the first of them.
#: ``solved`` is 0, or ``SOLVED`` or ``ENDED`` if ``network_value`` is the exact value of the position. ``num_unsolved`` is
#: the number of edges that do not lead to a proven node; ``solved_value`` is the highest value of the other edges for the
#: player to move.
NODE = np.dtype(
    [
        ("first_edge", np.int32),
        ("num_edges", np.int32),
        ("num_visited", np.int32),
        ("num_ordered", np.int32),
        ("visits", np.int32),
        ("pending", np.int32),
        ("parent", np.int32),
        ("player", np.int8),
        ("solved", np.int8),
        ("num_unsolved", np.int32),
        ("total_value", np.float32),
        ("network_value", np.float32),
        ("solved_value", np.float32),
    ]
)

#: An edge: an action, its child node (``NO_NODE`` until it is visited), its prior probability, and its noise at the root.
EDGE = np.dtype([("action", np.int32), ("child", np.int32), ("prior", np.float32), ("noise", np.float32)])

#: Per-game state of a search: nodes and edges in use, the simulations started, the number of root edges considered (for
#: searches that consider a subset), and the first action of the last win found within a turn.
GAME = np.dtype(
    [
        ("num_nodes", np.int32),
        ("num_edges", np.int32),
        ("simulations", np.int32),
        ("num_considered", np.int32),
        ("winning_action", np.int32),
    ]
)

#: A pending leaf: its game and node, its slot in the batch of the network (-1 for a terminal or proven position), whether its
#: simulation added the node, and whether it proved it.
LEAF = np.dtype(
    [("game", np.int32), ("node", np.int32), ("slot", np.int32), ("added", np.bool_), ("newly_solved", np.bool_)]
)

NodeTable: TypeAlias = Annotated[npt.NDArray[np.void], numba.from_dtype(NODE)[:, ::1]]
EdgeTable: TypeAlias = Annotated[npt.NDArray[np.void], numba.from_dtype(EDGE)[:, ::1]]
GameArray: TypeAlias = Annotated[npt.NDArray[np.void], numba.from_dtype(GAME)[::1]]
LeafArray: TypeAlias = Annotated[npt.NDArray[np.void], numba.from_dtype(LEAF)[::1]]
#: Work buffers of :func:`write_edges`, ``[num_actions]``: actions, weights, and powers of 2.
EdgeWork: TypeAlias = tuple[npt.NDArray[np.int32], npt.NDArray[np.float32], npt.NDArray[np.int32]]
Nodes: TypeAlias = npt.NDArray[np.void]
Edges: TypeAlias = npt.NDArray[np.void]


class Trees(NamedTuple):
    """The arrays of the trees of a search.

    Attributes:
        board: the board constants.
        states: ``[num_games, max_nodes]``, positions of the nodes.
        nodes: ``[num_games, max_nodes]``, dtype ``NODE``.
        edges: ``[num_games, max_edges]``, dtype ``EDGE``.
        games: ``[num_games]``, dtype ``GAME``.
    """

    board: BoardArray
    states: StateTable
    nodes: NodeTable
    edges: EdgeTable
    games: GameArray


class Parameters(NamedTuple):
    """Parameters of a selection rule; each rule sets those that its kernels read.

    Attributes:
        max_considered: maximum number of root actions considered.
        visit_offset: c_visit of a Gumbel search.
        value_scale: c_scale of a Gumbel search.
        noise_fraction: weight of the noise in the root priors of PUCT.
        exploration: c_init of PUCT.
        exploration_base: c_base of PUCT.
    """

    max_considered: int = 0
    visit_offset: float = 0.0
    value_scale: float = 0.0
    noise_fraction: float = 0.0
    exploration: float = 0.0
    exploration_base: float = 0.0


class Limits(NamedTuple):
    """Limits of the descents of a search.

    Attributes:
        num_simulations: maximum number of simulations of each tree.
        leaves_per_tree: maximum number of leaves of a tree in a batch.
        independent: whether leaves must not depend on each other: only one below each edge of the root.
        collisions_per_tree: how many descents may end at a leaf that is pending already, each of which counts as a visit for
            the next ones.
    """

    num_simulations: int
    leaves_per_tree: int
    independent: bool
    collisions_per_tree: int


#: Child of an edge without a node, and parent of the root.
NO_NODE = -1

# Values of ``solved``: the value is proven, or the node is terminal in a search without solving. Also used in the UCT tree.
SOLVED, ENDED = 1, 2

#: Lower bound of the prior probability of an edge.
MIN_PRIOR = np.float32(1e-30)


# -- The contract: every search has these four kernels ----------------------------------------------------------------


def init_root(nodes: Nodes, edges: Edges, game: Record, parameters: Parameters) -> None:
    """Prepare the root of one tree for the first descent; its edges have priors and noise, and may be reordered."""
    raise NotImplementedError


def choose_edge(
    nodes: Nodes, edges: Edges, node: int, game: Record, parameters: Parameters, schedule: Int32Table
) -> int:
    """Return the index in ``edges`` of the edge to follow from ``node``, which is not solved; -1 if all lead to proven losses.

    ``schedule`` is that of the search; it has no columns if the number of simulations is not known.
    """
    raise NotImplementedError


def halve_considered(nodes: Nodes, edges: Edges, game: Record, parameters: Parameters, again: bool) -> None:
    """Consider all edges of the root of one tree if ``again``, else the better half of those considered."""
    raise NotImplementedError


def choose_root_action(
    nodes: Nodes, edges: Edges, game: Record, parameters: Parameters, discount: float, policy: Float32s
) -> tuple[int, float]:
    """Write the policy at the root to ``policy`` (initially zeros); return the action to play and the value of the root.

    The value is that of the policy or of the action, for the player to move; the root is not solved.
    """
    raise NotImplementedError


# -- Kernels that searches share ---------------------------------------------------------------------------------------


@kernel
def sign_of(player: int) -> int:
    """Return the sign that converts player 0's values to values for ``player``."""
    return 1 - 2 * player


@kernel
def mean_value(nodes: Nodes, node: int, sign: int) -> float:
    """Return ``sign`` times the value of ``node``: the exact value if known, else the mean of the backed-up values.

    Without backed-up values, return the virtual loss.
    """
    if nodes[node].solved:
        return sign * nodes[node].network_value
    num_values = nodes[node].visits - nodes[node].pending
    if num_values == 0:
        return -1.0
    return sign * nodes[node].total_value / num_values


@kernel
def is_unexpanded(nodes: Nodes, node: int) -> bool:
    """Return whether ``node`` is a pending leaf."""
    return not nodes[node].solved and nodes[node].visits == nodes[node].pending


@kernel
def add_visit(nodes: Nodes, leaf: int, change: int, min_parent: int) -> None:
    """Add a pending visit to ``leaf`` and the nodes above it, or remove one if ``change`` is -1.

    ``min_parent`` is ``NO_NODE`` for all of these nodes, and 1 for those below the actions of the root.
    """
    node = leaf
    while node != NO_NODE and nodes[node].parent >= min_parent:
        nodes[node].visits += change
        nodes[node].pending += change
        node = nodes[node].parent


@kernel
def undo_virtual_loss(nodes: Nodes, edges: Edges, game: Record, leaf: Record) -> None:
    """Remove a pending leaf as if its simulation had not begun."""
    add_visit(nodes, leaf.node, -1, NO_NODE)
    if leaf.added:
        parent = nodes[leaf.node].parent
        first = nodes[parent].first_edge
        nodes[parent].num_visited -= 1
        for edge in range(first, first + nodes[parent].num_edges):
            if edges[edge].child == leaf.node:
                edges[edge].child = NO_NODE
                # Another thread may have visited later ones: visited edges come first.
                swap_edges(edges, edge, first + nodes[parent].num_visited)
                break
        nodes[parent].num_ordered = nodes[parent].num_visited  # the swap may have broken the order
        while nodes[game.num_nodes - 1].visits == 0:  # later nodes may be of another thread
            game.num_nodes -= 1


@kernel
def next_unvisited(nodes: Nodes, edges: Edges, node: int) -> int:
    """Return the unvisited edge of highest prior, or -1 if all edges are visited.

    For nodes whose edges are visited in descending order of prior. Unvisited edges come after visited ones and are sorted
    lazily, one at a time.
    """
    first = nodes[node].first_edge
    stop = first + nodes[node].num_edges
    edge = first + nodes[node].num_visited
    if edge == stop:
        return -1
    if nodes[node].num_ordered == nodes[node].num_visited:
        best = edge
        for other in range(edge + 1, stop):
            if edges[other].prior > edges[best].prior:
                best = other
        swap_edges(edges, edge, best)
        nodes[node].num_ordered += 1
    return edge


@kernel
def exponentials(exponents: Float32s, number: int, max_exponent: np.float32, powers_of_2: Int32s) -> np.float32:
    """Replace the first ``number`` entries of ``exponents`` by exp(x - ``max_exponent``) and return their sum; NaN propagates.

    Implements Moshier's expf (Cephes) in vectorizable loops: a library call per edge takes as long as the rest of the
    expansion. Exponents below -87 are treated as -87. ``powers_of_2[>= number]`` is a work buffer.
    """
    for index in range(number):
        exponent = exponents[index] - max_exponent
        exponent = _MIN_EXPONENT if exponent < _MIN_EXPONENT else exponent
        whole = np.int32(exponent * _LOG2_E - np.float32(0.5))
        rest = exponent - np.float32(whole) * _LN_2_HIGH - np.float32(whole) * _LN_2_LOW
        series = _C0
        series = series * rest + _C1
        series = series * rest + _C2
        series = series * rest + _C3
        series = series * rest + _C4
        series = series * rest + _C5
        exponents[index] = series * rest * rest + rest + np.float32(1)
        powers_of_2[index] = (whole + np.int32(127)) << np.int32(23)
    factors = powers_of_2.view(np.float32)
    for index in range(number):
        exponents[index] *= factors[index]
    total = np.float32(0)
    for index in range(number):
        total += exponents[index]
    return total


_MIN_EXPONENT, _LOG2_E = np.float32(-87), np.float32(1.44269504)
_LN_2_HIGH, _LN_2_LOW = np.float32(0.693359375), np.float32(-2.12194440e-4)
_C0, _C1, _C2 = np.float32(1.9875691500e-4), np.float32(1.3981999507e-3), np.float32(8.3334519073e-3)
_C3, _C4, _C5 = np.float32(4.1665795894e-2), np.float32(1.6666665459e-1), np.float32(5.0000001201e-1)


@kernel
def swap_edges(edges: Edges, one: int, other: int) -> None:
    """Swap two edges."""
    action, child, prior, noise = edges[one].action, edges[one].child, edges[one].prior, edges[one].noise
    edges[one] = edges[other]
    edges[other].action = action
    edges[other].child = child
    edges[other].prior = prior
    edges[other].noise = noise


@kernel
def is_lost(nodes: Nodes, node: int, sign: int) -> bool:
    """Return whether ``node`` exists and is a proven loss for the player with ``sign``."""
    return node != NO_NODE and nodes[node].solved == SOLVED and sign * nodes[node].network_value < 0


@kernel
def back_up(nodes: Nodes, leaf: int, value: float, discount: float, newly_solved: bool) -> None:
    """Back up ``value`` (for player 0) from the pending ``leaf`` to the root; if ``newly_solved``, also propagate the result."""
    node = leaf
    while True:
        nodes[node].pending -= 1
        nodes[node].total_value += value
        parent = nodes[node].parent
        if parent == NO_NODE:
            break
        value *= discount
        if newly_solved:
            sign = sign_of(nodes[parent].player)
            child_value = discount * nodes[node].network_value
            nodes[parent].num_unsolved -= 1
            nodes[parent].solved_value = max(nodes[parent].solved_value, sign * child_value)
            is_proven = sign * child_value > 0 or nodes[parent].num_unsolved == 0
            newly_solved = is_proven and not nodes[parent].solved
            if newly_solved:
                nodes[parent].solved = SOLVED
                nodes[parent].network_value = sign * nodes[parent].solved_value
                value = nodes[parent].network_value
        node = parent


@kernel
def choose_solved_action(nodes: Nodes, edges: Edges, game: Record, policy: Float32s) -> int:
    """Write the priors of the best actions at a solved root to ``policy`` and return the most probable of them."""
    if nodes[0].num_visited == 0:
        policy[game.winning_action] = 1
        return game.winning_action
    sign = sign_of(nodes[0].player)
    best_value = -np.inf
    for edge in range(nodes[0].num_edges):
        child = edges[edge].child
        if child != NO_NODE and nodes[child].solved:
            best_value = max(best_value, mean_value(nodes, child, sign))
    best = -1
    total = 0.0
    for edge in range(nodes[0].num_edges):
        child = edges[edge].child
        if child != NO_NODE and nodes[child].solved and mean_value(nodes, child, sign) == best_value:
            policy[edges[edge].action] = edges[edge].prior
            total += edges[edge].prior
            if best < 0 or edges[edge].prior > edges[best].prior:
                best = edge
    for edge in range(nodes[0].num_edges):
        policy[edges[edge].action] /= total
    return edges[best].action


@kernel
def add_node(nodes: Nodes, game: Record, parent: int, player: int) -> int:
    """Add a node without edges to one tree and return its index."""
    node = game.num_nodes
    game.num_nodes += 1
    nodes[node] = _NEW_NODE[0]
    nodes[node].parent = parent
    nodes[node].player = player
    return node


_NEW_NODE = np.zeros(1, NODE)
_NEW_NODE["solved_value"] = -np.inf


@kernel
def keep_nodes(nodes: Nodes, edges: Edges, game: Record, root: int) -> Int32s:
    """Replace one tree by its subtree at the node ``root`` and return the former index of each node.

    Nodes come after their parents, and stay in order. Also used by the tree of :mod:`stoneworks.models.search.uct`.
    """
    old_edges = edges[: game.num_edges].copy()
    new_index = np.full(game.num_nodes, NO_NODE, np.int32)
    kept = np.empty(game.num_nodes, np.int32)
    new_index[root] = 0
    num_nodes = num_edges = 0
    for old in range(root, game.num_nodes):
        if new_index[old] == NO_NODE:
            continue
        new_index[old] = num_nodes
        kept[num_nodes] = old
        first = nodes[old].first_edge
        nodes[num_nodes] = nodes[old]
        nodes[num_nodes].first_edge = num_edges
        for edge in range(first, first + nodes[num_nodes].num_edges):
            edges[num_edges] = old_edges[edge]
            if edges[num_edges].child != NO_NODE:
                new_index[edges[num_edges].child] = 0
            num_edges += 1
        num_nodes += 1
    for edge in range(num_edges):
        if edges[edge].child != NO_NODE:
            edges[edge].child = new_index[edges[edge].child]
    game.num_nodes = num_nodes
    game.num_edges = num_edges
    return kept


@kernel
def add_leaf(leaf: Record, game: int, node: int, slot: int, added: bool, newly_solved: bool) -> None:
    """Write the fields of a pending leaf."""
    leaf.game = game
    leaf.node = node
    leaf.slot = slot
    leaf.added = added
    leaf.newly_solved = newly_solved


# -- The templates -----------------------------------------------------------------------------------------------------


def start_all(trees: Trees, roots: StateArray, planes: Float32Tables, leaves: LeafArray) -> None:
    """Start a tree at each of ``roots``, whose root is a pending leaf, and write the observations of the roots.

    Args:
        trees: the trees.
        roots: ``[num_games]``, non-terminal positions.
        planes: output, ``float32[num_games, planes, height * width]``, observations for the player to move.
        leaves: output, ``[num_games]``, dtype ``LEAF``.
    """
    board, states, nodes, _, games = trees
    for row in range(roots.shape[0]):
        game = games[row]
        game.num_nodes = 0
        game.num_edges = 0
        game.num_considered = 0
        add_node(nodes[row], game, NO_NODE, roots[row].current_player)
        add_visit(nodes[row], 0, 1, NO_NODE)
        states[row, 0] = roots[row]
        observe(board[0], states[row, 0], states[row, 0].current_player, planes[row])
        add_leaf(leaves[row], row, 0, row, False, False)


@inlined
def write_edges(edges: Edges, game: Record, mask: Int8s, logits: Record, work: EdgeWork) -> tuple[int, np.bool_]:
    """Write an edge for each legal action; return their number, and whether the logits are finite. ``work`` is three buffers."""
    actions, weights, powers_of_2 = work
    num_edges = 0
    max_logit = np.float32(-np.inf)
    for action in range(mask.shape[0]):
        if mask[action]:
            logit = logits[action]
            actions[num_edges] = action
            weights[num_edges] = logit
            num_edges += 1
            max_logit = max(max_logit, logit)
    total = exponentials(weights, num_edges, max_logit, powers_of_2)
    first = game.num_edges
    scale = np.float32(1) / total
    for edge in range(num_edges):
        edges[first + edge].action = actions[edge]
        edges[first + edge].child = NO_NODE
        # A prior of 0 could lead to a division by zero in the improved policy.
        edges[first + edge].prior = max(weights[edge] * scale, MIN_PRIOR)
    return num_edges, total >= 1


def expand(
    trees: Trees,
    leaves: LeafArray,
    num_leaves: int,
    logits: Float32Table,
    values: Float32s,
    discount: float,
    solve: bool,
) -> int:
    """Expand the evaluated leaves, back up the values of all leaves, and return the number of invalid evaluations.

    ``logits[num_evaluations, num_actions]`` are the network's policy logits, of which those of illegal actions are ignored, and
    ``values[num_evaluations]`` its expected results for the player to move in [-1, 1]. Invalid are evaluations with a non-finite
    value or a NaN logit. Once a root is solved, the remaining leaves of its tree are removed. See the module for the other
    arguments.
    """
    board, states, nodes, edges, games = trees
    num_actions = board[0].num_actions
    mask = np.empty(num_actions, np.int8)
    work = np.empty(num_actions, np.int32), np.empty(num_actions, np.float32), np.empty(num_actions, np.int32)
    num_unusable = 0
    turn = np.empty(MAX_TURN_ACTIONS + 1, states.dtype)
    turn_masks = np.empty((MAX_TURN_ACTIONS, num_actions), np.int8)
    for number in range(num_leaves):
        row, leaf, slot = leaves[number].game, leaves[number].node, leaves[number].slot
        game = games[row]
        if nodes[row, 0].solved:
            undo_virtual_loss(nodes[row], edges[row], game, leaves[number])
            continue
        if slot < 0:
            back_up(nodes[row], leaf, nodes[row, leaf].network_value, discount, leaves[number].newly_solved)
            continue
        legal_actions(board[0], states[row, leaf], mask)
        nodes[row, leaf].first_edge = game.num_edges
        num_edges, finite = write_edges(edges[row], game, mask, logits[slot], work)
        if not (finite and abs(values[slot]) < np.inf):
            num_unusable += 1
        nodes[row, leaf].num_edges = num_edges
        nodes[row, leaf].num_unsolved = num_edges
        game.num_edges += num_edges
        sign = sign_of(nodes[row, leaf].player)
        value = sign * values[slot]
        solved = False
        if solve:
            turn[0] = states[row, leaf]
            num_left, action = winning_turn(board[0], turn, mask, turn_masks)
            if action != NO_ACTION:
                solved = True
                value = sign * discount**num_left
                nodes[row, leaf].solved = SOLVED
                game.winning_action = action
        nodes[row, leaf].network_value = value
        back_up(nodes[row], leaf, value, discount, solved)
    return num_unusable


def init_roots(trees: Trees, parameters: Parameters, noise: Float32Table) -> None:
    """Prepare the expanded roots for the first descent; ``noise`` is ``float32[num_games, num_actions]``."""
    _, _, nodes, edges, games = trees
    for row in range(games.shape[0]):
        games[row].simulations = 0
        for edge in range(nodes[row, 0].num_edges):
            edges[row, edge].noise = noise[row, edges[row, edge].action]
        init_root(nodes[row], edges[row], games[row], parameters)


def halve_all(trees: Trees, parameters: Parameters, again: bool) -> None:
    """Consider all edges of each root if ``again``, else the better half of those considered (see :func:`halve_considered`)."""
    _, _, nodes, edges, games = trees
    for row in range(games.shape[0]):
        halve_considered(nodes[row], edges[row], games[row], parameters, again)


# Long: only a template can call the kernels of a game and of a search.
def descend(
    trees: Trees,
    parameters: Parameters,
    schedule: Int32Table,
    planes: Float32Tables,
    leaves: LeafArray,
    limits: Limits,
    solve: bool,
) -> tuple[int, int]:
    """Descend each tree, add leaves, and return the number of leaves and of the observations among them.

    A tree with a solved root, or without room for another node, gets no leaf. The observations of the leaves are the first
    entries of ``planes[_, planes, height * width]``. See the module for the other arguments.
    """
    board, states, nodes, edges, games = trees
    collisions = np.empty(limits.collisions_per_tree, np.int64)
    num_leaves = num_evaluations = 0
    for row in range(games.shape[0]):
        game = games[row]
        stop = num_leaves + limits.leaves_per_tree
        num_collisions = 0
        while num_leaves < stop and game.simulations < limits.num_simulations and not nodes[row, 0].solved:
            # Every pending leaf will get at most an edge for each action.
            num_edges = game.num_edges + (nodes[row, 0].pending + 1) * board[0].num_actions
            if game.num_nodes == nodes.shape[1] or num_edges > edges.shape[1]:
                break
            node = 0
            slot = -1
            added = newly_solved = False
            while not nodes[row, node].solved:
                edge = choose_edge(nodes[row], edges[row], node, game, parameters, schedule)
                child = NO_NODE if edge < 0 else edges[row, edge].child
                if edge < 0 or (child != NO_NODE and is_unexpanded(nodes[row], child)):
                    node = NO_NODE  # what follows depends on a pending leaf
                    break
                if child != NO_NODE:
                    if limits.independent and node == 0 and nodes[row, child].pending > 0:
                        node = NO_NODE
                        break
                    node = child
                    continue
                child = add_node(nodes[row], game, node, 0)
                edges[row, edge].child = child
                nodes[row, node].num_visited += 1
                states[row, child] = states[row, node]
                state = states[row, child]
                apply_action(board[0], state, edges[row, edge].action)
                node = child
                added = True
                if not state.ending:
                    nodes[row, node].player = state.current_player
                    observe(board[0], state, state.current_player, planes[num_evaluations])
                    slot = num_evaluations
                    num_evaluations += 1
                    break
                newly_solved = solve
                nodes[row, node].solved = SOLVED if solve else ENDED
                if state.winner != NO_WINNER:
                    nodes[row, node].network_value = sign_of(state.winner)
            if node == NO_NODE:
                if child == NO_NODE or nodes[row, child].parent == 0 or num_collisions == limits.collisions_per_tree:
                    break
                add_visit(nodes[row], child, 1, 1)  # not to the root's actions: their visits follow a schedule
                collisions[num_collisions] = child
                num_collisions += 1
                continue
            add_visit(nodes[row], node, 1, NO_NODE)
            add_leaf(leaves[num_leaves], row, node, slot, added, newly_solved)
            num_leaves += 1
            game.simulations += 1
        for number in range(num_collisions):
            add_visit(nodes[row], collisions[number], -1, 1)
    return num_leaves, num_evaluations


def keep_subtree(trees: Trees, root: int) -> None:
    """Replace the first tree by its subtree at the node ``root``, of which no leaf is pending."""
    _, states, nodes, edges, games = trees
    kept = keep_nodes(nodes[0], edges[0], games[0], root)
    nodes[0, 0].parent = NO_NODE
    for node in range(games[0].num_nodes):
        states[0, node] = states[0, kept[node]]
        first = nodes[0, node].first_edge
        for edge in range(first, first + nodes[0, node].num_edges):
            if edges[0, edge].child != NO_NODE:
                nodes[0, edges[0, edge].child].parent = node


def choose_root_actions(
    trees: Trees,
    parameters: Parameters,
    discount: float,
    actions: Int64s,
    values: Float32s,
    policies: Float32Table,
    visits: Int32Table,
) -> None:
    """Write the results of the search at each root.

    Outputs are ``actions``, the actions to play, ``values``, the values of the roots for the players to move, ``policies[num_games,
    num_actions]``, the policy targets for training, and ``visits[num_games, num_actions]``, the visit counts, which are 1 for
    the winning action if a win within the turn was found before the first simulation.
    """
    _, _, nodes, edges, games = trees
    for row in range(games.shape[0]):
        policies[row, :] = 0
        visits[row, :] = 0
        if nodes[row, 0].solved:
            actions[row] = choose_solved_action(nodes[row], edges[row], games[row], policies[row])
            values[row] = mean_value(nodes[row], 0, sign_of(nodes[row, 0].player))
        else:
            actions[row], values[row] = choose_root_action(
                nodes[row], edges[row], games[row], parameters, discount, policies[row]
            )
        for edge in range(nodes[row, 0].num_edges):
            if edges[row, edge].child != NO_NODE:
                visits[row, edges[row, edge].action] = nodes[row, edges[row, edge].child].visits
        if nodes[row, 0].solved and nodes[row, 0].num_visited == 0:
            visits[row, actions[row]] = 1
