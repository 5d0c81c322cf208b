"""Trees of searches that ask a network: how they lie in memory, and what every such search does with them.

A search works on many games at once and asks the network about one leaf of each of them in one call. So a simulation has
two halves, each a template: :func:`descend` goes from the roots to the leaves and writes down what the network is asked,
:func:`expand` takes its answers and passes the values up. What searches differ in are the three kernels of the contract
(see :mod:`stoneworks.models.search.gumbel` and :mod:`stoneworks.models.search.puct`).

Values in a tree are player 0's, in [-1, 1]; whoever acts at a node looks at them with its own sign. Nothing assumes
that players alternate.

A search may solve (Winands, Björnsson and Saito: Monte-Carlo tree search solver, 2008): an end of the game is solved, and so is
a position with an action that wins for who acts there, and one all of whose actions are solved. A position that who acts can
win within its turn is solved as soon as the network has been asked about it (see :mod:`stoneworks.models.search.turn_wins`).

Values may be discounted: one that is passed up counts ``discount`` times as much for each action. So a win is worth more the
sooner it comes, and a loss less.
"""

from __future__ import annotations

from typing import Annotated, TypeAlias

import numba
import numpy as np
import numpy.typing as npt

from stoneworks.envs.rules.kernels import (
    BoardArray,
    Float32Table,
    Float32Tables,
    Int32s,
    Int32Table,
    Int64s,
    Record,
    StateArray,
    StateTable,
    kernel,
)
from stoneworks.envs.rules.templates import NO_ACTION, NO_WINNER, apply_action, legal_actions, observe
from stoneworks.models.search.turn_wins import MAX_TURN_ACTIONS, winning_turn

#: A node of a tree. ``first_edge`` and ``num_edges`` are its block of the tree's edges, one for each legal action;
#: ``num_visited`` of them have been taken, and the first ``num_ordered`` are in the order of their priors. ``total_value``
#: is the sum, ``network_value`` the first, of the values that came up through the node. ``solved``: 0, or ``PROVEN`` or
#: ``ENDED`` where ``network_value`` is what the position is worth, exactly. ``num_unsolved``: edges that do not lead to a
#: proven node; ``solved_value`` is the greatest value of the others for who acts here.
NODE = np.dtype(
    [
        ("first_edge", np.int32),
        ("num_edges", np.int32),
        ("num_visited", np.int32),
        ("num_ordered", np.int32),
        ("visits", np.int32),
        ("parent", np.int32),
        ("player", np.int8),
        ("solved", np.int8),
        ("num_unsolved", np.int32),
        ("total_value", np.float32),
        ("network_value", np.float32),
        ("solved_value", np.float32),
    ]
)

#: An edge: an action, the node that it leads to (``NO_NODE`` until it is taken), its prior probability, and the random
#: number that it has at the root.
EDGE = np.dtype([("action", np.int32), ("child", np.int32), ("prior", np.float32), ("noise", np.float32)])

#: One game of a search: nodes and edges in use, the leaf that waits for the network (``NO_NODE`` for none), the simulations
#: done, the number of edges of the root that are considered, where the search considers but some, and the action that begins
#: the win last found within a turn.
GAME = np.dtype(
    [
        ("num_nodes", np.int32),
        ("num_edges", np.int32),
        ("leaf", np.int32),
        ("simulations", np.int32),
        ("num_considered", np.int32),
        ("winning_action", np.int32),
    ]
)

NodeTable: TypeAlias = Annotated[npt.NDArray[np.void], numba.from_dtype(NODE)[:, ::1]]
EdgeTable: TypeAlias = Annotated[npt.NDArray[np.void], numba.from_dtype(EDGE)[:, ::1]]
GameArray: TypeAlias = Annotated[npt.NDArray[np.void], numba.from_dtype(GAME)[::1]]
Parameters: TypeAlias = Annotated[npt.NDArray[np.float64], numba.float64[::1]]
Float32s: TypeAlias = Annotated[npt.NDArray[np.float32], numba.float32[::1]]
Nodes: TypeAlias = npt.NDArray[np.void]
Edges: TypeAlias = npt.NDArray[np.void]

NO_NODE = -1

# Why the value of a node is exact: it is proven, or an end of the game in a search that does not solve.
PROVEN, ENDED = 1, 2

#: The least prior probability that an edge has.
LEAST_PRIOR = np.float32(1e-30)


# -- The contract: every search has these three kernels ---------------------------------------------------------------


def prepare_root(nodes: Nodes, edges: Edges, game: Record, parameters: Parameters) -> None:
    """Make the root of one tree ready for the first descent: its edges have priors and noise. It may order them anew."""
    raise NotImplementedError


def choose_edge(
    nodes: Nodes, edges: Edges, node: int, game: Record, parameters: Parameters, schedule: Int32Table
) -> int:
    """Return the index in ``edges`` of the edge that a descent takes from ``node``, which is not solved."""
    raise NotImplementedError


def conclude(nodes: Nodes, edges: Edges, game: Record, parameters: Parameters, policy: Float32s) -> int:
    """Write the policy that the search found at the root to ``policy``, which is zeros, and return the action it plays."""
    raise NotImplementedError


# -- Kernels that searches share ---------------------------------------------------------------------------------------


@kernel
def sign_of(player: int) -> int:
    """Return the sign with which ``player`` looks at values."""
    return 1 - 2 * player


@kernel
def mean_value(nodes: Nodes, node: int, sign: int) -> float:
    """Return the value of ``node``, seen with ``sign``: the mean of those that came up through it, or the exact one."""
    if nodes[node].solved:
        return sign * nodes[node].network_value
    return sign * nodes[node].total_value / nodes[node].visits


@kernel
def next_unvisited(nodes: Nodes, edges: Edges, node: int) -> int:
    """Return the edge of greatest prior among those not taken, which always come after those taken; -1 for none.

    For nodes whose edges are taken in the order of their priors. Edges are put into that order one by one, as needed.
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
def exponentials(exponents: Float32s, number: int, greatest: np.float32, powers_of_2: Int32s) -> np.float32:
    """Replace the first ``number`` of ``exponents`` by exp(x - ``greatest``), and return the sum, a NaN where one is.

    Moshier's expf (Cephes) in loops that become vector instructions: a call of the library's takes as long as all the rest
    that is done with an edge. Exponents less than -87 count as -87. ``powers_of_2`` is room to work in.
    """
    for index in range(number):
        exponent = exponents[index] - greatest
        exponent = _LEAST_EXPONENT if exponent < _LEAST_EXPONENT else exponent
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


_LEAST_EXPONENT, _LOG2_E = np.float32(-87), np.float32(1.44269504)
_LN_2_HIGH, _LN_2_LOW = np.float32(0.693359375), np.float32(-2.12194440e-4)
_C0, _C1, _C2 = np.float32(1.9875691500e-4), np.float32(1.3981999507e-3), np.float32(8.3334519073e-3)
_C3, _C4, _C5 = np.float32(4.1665795894e-2), np.float32(1.6666665459e-1), np.float32(5.0000001201e-1)


@kernel
def swap_edges(edges: Edges, one: int, other: int) -> None:
    """Let two edges change places."""
    action, child, prior, noise = edges[one].action, edges[one].child, edges[one].prior, edges[one].noise
    edges[one] = edges[other]
    edges[other].action = action
    edges[other].child = child
    edges[other].prior = prior
    edges[other].noise = noise


@kernel
def is_lost(nodes: Nodes, node: int, sign: int) -> bool:
    """Return whether ``node`` is a node that is proven to be lost for the player of ``sign``."""
    return node != NO_NODE and nodes[node].solved == PROVEN and sign * nodes[node].network_value < 0


@kernel
def back_up(nodes: Nodes, leaf: int, value: float, discount: float, newly_solved: bool) -> None:
    """Count ``value``, player 0's, for ``leaf`` and everything above it, and pass up what ``newly_solved`` ``leaf`` solves."""
    node = leaf
    while True:
        nodes[node].visits += 1
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
            newly_solved = sign * child_value > 0 or nodes[parent].num_unsolved == 0
            if newly_solved:
                nodes[parent].solved = PROVEN
                nodes[parent].network_value = sign * nodes[parent].solved_value
                value = nodes[parent].network_value
        node = parent


@kernel
def conclude_solved(nodes: Nodes, edges: Edges, game: Record, policy: Float32s) -> int:
    """Write the priors of the actions of greatest value at a solved root, and return the most probable one of them."""
    if nodes[0].num_visited == 0:
        policy[game.winning_action] = 1
        return game.winning_action
    sign = sign_of(nodes[0].player)
    greatest = -np.inf
    for edge in range(nodes[0].num_edges):
        child = edges[edge].child
        if child != NO_NODE and nodes[child].solved:
            greatest = max(greatest, mean_value(nodes, child, sign))
    best = -1
    total = 0.0
    for edge in range(nodes[0].num_edges):
        child = edges[edge].child
        if child != NO_NODE and nodes[child].solved and mean_value(nodes, child, sign) == greatest:
            policy[edges[edge].action] = edges[edge].prior
            total += edges[edge].prior
            if best < 0 or edges[edge].prior > edges[best].prior:
                best = edge
    for edge in range(nodes[0].num_edges):
        policy[edges[edge].action] /= total
    return edges[best].action


@kernel
def add_node(nodes: Nodes, game: Record, parent: int, player: int) -> int:
    """Return a new node of one tree, without edges."""
    node = game.num_nodes
    game.num_nodes += 1
    nodes[node].first_edge = game.num_edges
    nodes[node].num_edges = 0
    nodes[node].num_visited = 0
    nodes[node].num_ordered = 0
    nodes[node].visits = 0
    nodes[node].parent = parent
    nodes[node].player = player
    nodes[node].solved = 0
    nodes[node].num_unsolved = 0
    nodes[node].total_value = 0
    nodes[node].network_value = 0
    nodes[node].solved_value = -np.inf
    return node


# -- The templates -----------------------------------------------------------------------------------------------------


def plant(
    board: BoardArray,
    roots: StateArray,
    states: StateTable,
    nodes: NodeTable,
    games: GameArray,
    planes: Float32Tables,
    asked: Int64s,
) -> int:
    """Begin a tree for each of ``roots``, none of which is over, and write what the network is asked about them.

    Args:
        board: the board constants.
        roots: ``[num_games]``, the positions.
        states: ``[num_games, max_nodes]``, the positions of the nodes.
        nodes: ``[num_games, max_nodes]``, of dtype ``NODE``.
        games: ``[num_games]``, of dtype ``GAME``.
        planes: ``float32[num_games, planes, height * width]``, written: each position as its player to move sees it.
        asked: ``int64[num_games]``, written: whose each of ``planes`` is.

    Returns:
        The number of questions, here all games.
    """
    for row in range(roots.shape[0]):
        game = games[row]
        game.num_nodes = 0
        game.num_edges = 0
        game.simulations = 0
        game.num_considered = 0
        game.leaf = add_node(nodes[row], game, NO_NODE, roots[row].current_player)
        states[row, 0] = roots[row]
        observe(board[0], states[row, 0], states[row, 0].current_player, planes[row])
        asked[row] = row
    return roots.shape[0]


def expand(
    board: BoardArray,
    states: StateTable,
    nodes: NodeTable,
    edges: EdgeTable,
    games: GameArray,
    asked: Int64s,
    num_asked: int,
    logits: Float32Table,
    values: Float32s,
    discount: float,
    solve: bool,
) -> int:
    """Give the leaves that were asked about their edges, and pass their values up.

    Args:
        board: the board constants.
        states: ``[num_games, max_nodes]``.
        nodes: ``[num_games, max_nodes]``.
        edges: ``[num_games, max_edges]``, of dtype ``EDGE``.
        games: ``[num_games]``.
        asked: ``int64[num_games]``: which game each answer is for.
        num_asked: the number of answers.
        logits: ``float32[num_asked, num_actions]``, the network's policy; those of illegal actions do not matter.
        values: ``float32[num_asked]``, the network's expected result for the player to move, in [-1, 1].
        discount: of values, for each action.
        solve: whether to look for actions that win within the turn.

    Returns:
        Number of invalid answers: values that are not finite, logits that are NaN.
    """
    num_actions = board[0].num_actions
    mask = np.empty(num_actions, np.int8)
    actions = np.empty(num_actions, np.int32)
    weights = np.empty(num_actions, np.float32)
    powers_of_2 = np.empty(num_actions, np.int32)
    num_unusable = 0
    turn = np.empty(MAX_TURN_ACTIONS, states.dtype)
    turn_masks = np.empty((MAX_TURN_ACTIONS, num_actions), np.int8)
    for answer in range(num_asked):
        row = asked[answer]
        game = games[row]
        leaf = game.leaf
        legal_actions(board[0], states[row, leaf], mask)
        num_edges = 0
        greatest = np.float32(-np.inf)
        for action in range(num_actions):
            if mask[action]:
                logit = logits[answer, action]
                actions[num_edges] = action
                weights[num_edges] = logit
                num_edges += 1
                greatest = max(greatest, logit)
        total = exponentials(weights, num_edges, greatest, powers_of_2)
        of_game = edges[row]
        first = game.num_edges
        scale = np.float32(1) / total
        for edge in range(num_edges):
            of_game[first + edge].action = actions[edge]
            of_game[first + edge].child = NO_NODE
            # A prior of 0 would leave nothing to divide by where only its action has a value worth having.
            of_game[first + edge].prior = max(weights[edge] * scale, LEAST_PRIOR)
        if not (total >= 1 and abs(values[answer]) < np.inf):
            num_unusable += 1
        nodes[row, leaf].num_edges = num_edges
        nodes[row, leaf].num_unsolved = num_edges
        game.num_edges += num_edges
        game.leaf = NO_NODE
        sign = sign_of(nodes[row, leaf].player)
        value = sign * values[answer]
        solved = False
        if solve:
            turn[0] = states[row, leaf]
            num_left, action = winning_turn(board[0], turn, mask, turn_masks)
            if action != NO_ACTION:
                solved = True
                value = sign * discount**num_left
                nodes[row, leaf].solved = PROVEN
                game.winning_action = action
        nodes[row, leaf].network_value = value
        back_up(nodes[row], leaf, value, discount, solved)
    return num_unusable


def prepare_roots(
    board: BoardArray,
    states: StateTable,
    nodes: NodeTable,
    edges: EdgeTable,
    games: GameArray,
    parameters: Parameters,
    noise: Float32Table,
) -> None:
    """Make the expanded roots ready for the first descent; ``noise`` is ``float32[num_games, num_actions]``."""
    for row in range(games.shape[0]):
        for edge in range(nodes[row, 0].num_edges):
            edges[row, edge].noise = noise[row, edges[row, edge].action]
        prepare_root(nodes[row], edges[row], games[row], parameters)


def descend(
    board: BoardArray,
    states: StateTable,
    nodes: NodeTable,
    edges: EdgeTable,
    games: GameArray,
    parameters: Parameters,
    schedule: Int32Table,
    planes: Float32Tables,
    asked: Int64s,
    discount: float,
    solve: bool,
) -> int:
    """Go down each tree once, add the node where the descent leaves it, and write what the network is asked about it.

    A descent that ends at a solved node asks nothing; its value is passed up at once. Nothing is done where the root is solved.

    Args:
        board: the board constants.
        states: ``[num_games, max_nodes]``.
        nodes: ``[num_games, max_nodes]``.
        edges: ``[num_games, max_edges]``.
        games: ``[num_games]``.
        parameters: of the search.
        schedule: ``int32[_, _]``, the search's own.
        planes: ``float32[num_games, planes, height * width]``: the first entries are written.
        asked: ``int64[num_games]``, likewise: whose each of them is.
        discount: of values, for each action.
        solve: whether ends of the game are passed up as solved.

    Returns:
        The number of questions.
    """
    num_asked = 0
    for row in range(games.shape[0]):
        game = games[row]
        if nodes[row, 0].solved:
            game.simulations += 1
            continue
        node = 0
        newly_solved = False
        while not nodes[row, node].solved:
            edge = choose_edge(nodes[row], edges[row], node, game, parameters, schedule)
            child = edges[row, edge].child
            if child != NO_NODE:
                node = child
                continue
            child = add_node(nodes[row], game, node, 0)
            edges[row, edge].child = child
            nodes[row, node].num_visited += 1
            states[row, child] = states[row, node]
            state = states[row, child]
            apply_action(board[0], state, edges[row, edge].action)
            node = child
            if not state.ending:
                nodes[row, node].player = state.current_player
                game.leaf = node
                observe(board[0], state, state.current_player, planes[num_asked])
                asked[num_asked] = row
                num_asked += 1
                break
            newly_solved = solve
            nodes[row, node].solved = PROVEN if solve else ENDED
            if state.winner != NO_WINNER:
                nodes[row, node].network_value = sign_of(state.winner)
        if nodes[row, node].solved:
            back_up(nodes[row], node, nodes[row, node].network_value, discount, newly_solved)
        game.simulations += 1
    return num_asked


def conclude_all(
    board: BoardArray,
    states: StateTable,
    nodes: NodeTable,
    edges: EdgeTable,
    games: GameArray,
    parameters: Parameters,
    actions: Int64s,
    values: Float32s,
    policies: Float32Table,
    visits: Int32Table,
) -> None:
    """Write what the search found at every root.

    Args:
        board: the board constants.
        states: ``[num_games, max_nodes]``.
        nodes: ``[num_games, max_nodes]``.
        edges: ``[num_games, max_edges]``.
        games: ``[num_games]``.
        parameters: of the search.
        actions: ``int64[num_games]``, written: the action to play.
        values: ``float32[num_games]``, written: the mean value for the player to move.
        policies: ``float32[num_games, num_actions]``, written: the policy that a network is to learn.
        visits: ``int32[num_games, num_actions]``, written: how often each action was taken; 1 for one that wins within the
            turn, where that has been found before the first simulation.
    """
    for row in range(games.shape[0]):
        policies[row, :] = 0
        visits[row, :] = 0
        if nodes[row, 0].solved:
            actions[row] = conclude_solved(nodes[row], edges[row], games[row], policies[row])
        else:
            actions[row] = conclude(nodes[row], edges[row], games[row], parameters, policies[row])
        values[row] = mean_value(nodes[row], 0, sign_of(nodes[row, 0].player))
        for edge in range(nodes[row, 0].num_edges):
            if edges[row, edge].child != NO_NODE:
                visits[row, edges[row, edge].action] = nodes[row, edges[row, edge].child].visits
        if nodes[row, 0].solved and nodes[row, 0].num_visited == 0:
            visits[row, actions[row]] = 1
