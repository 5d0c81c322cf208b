"""The entry functions of a game's module: its rules, searches and network, as templates."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np

from stoneworks.envs.rules import Game, templates, texts
from stoneworks.envs.rules.compiler.compiler import kernel, specialized_kernel
from stoneworks.envs.rules.compiler.random_numbers import random_below
from stoneworks.envs.rules.compiler.targets import EntryFunction, entry_function
from stoneworks.envs.rules.compiler.types import (
    BoardArray,
    Float32s,
    Float32Table,
    Float32Tables,
    Int32s,
    Int32Table,
    Int64s,
    StateArray,
    UInt64s,
)
from stoneworks.envs.rules.game import all_kernels
from stoneworks.envs.rules.parts import drawing_of, game_part, heuristic_kernels
from stoneworks.models.inference import winograd
from stoneworks.models.inference.winograd import Sizes, run_network
from stoneworks.models.network_inputs import NetworkInputs
from stoneworks.models.search import alphabeta, gumbel, turn_search, uct
from stoneworks.models.search.leaf_values import evaluate_leaves
from stoneworks.models.search.tree import (
    NO_NODE,
    LeafArray,
    Limits,
    Parameters,
    Trees,
    choose_root_actions,
    descend,
    expand,
    halve_all,
    init_roots,
    sign_of,
    start_all,
)
from stoneworks.models.search.turn_wins import winning_turn_kernel
from stoneworks.models.search.uct import UNIT, EdgeArray, NodeArray, search_tree


def count_shown(board: BoardArray, states: StateArray, parts: Int32Table) -> int:
    """Write the parts that ``states[0]`` shows (see :mod:`stoneworks.envs.drawing.parts`)."""
    return shown(board[0], states[0], parts)  # type: ignore[name-defined] # noqa: F821


def describe(board: BoardArray, states: StateArray, facts: Int32s) -> None:
    """Write the player to move, the ending, the winner, whether the game was truncated, and the color of player 0."""
    state = states[0]
    facts[0], facts[1], facts[2] = state.current_player, state.ending, state.winner
    facts[3], facts[4] = state.truncated, first_color(state)  # type: ignore[name-defined] # noqa: F821


#: What a text is about: the turn, supplies, the result, an illegal action.
QUESTIONS = ("describe_turn", "describe_supplies", "explain_result", "explain_illegal")


def write_words(board: BoardArray, states: StateArray, question: int, action: int, words: Int32Table) -> int:
    """Write what the game says on ``states[0]`` to the rows of ``words`` after the first, and return their number.

    A row is the number of a text and its values, or -1 and an action that is marked.
    """
    words[0, 0] = 0
    if question == 0:
        describe_turn(board[0], states[0], words)  # type: ignore[name-defined] # noqa: F821
    elif question == 1:
        describe_supplies(board[0], states[0], words)  # type: ignore[name-defined] # noqa: F821
    elif question == 2:
        explain_result(board[0], states[0], words)  # type: ignore[name-defined] # noqa: F821
    else:
        explain_illegal(board[0], states[0], action, words)  # type: ignore[name-defined] # noqa: F821
    return words[0, 0]


@kernel
def _say(words: Any, text: int, first: int = 0, second: int = 0, third: int = 0, fourth: int = 0) -> None:
    words[0, 0] += 1
    row = words[words[0, 0]]
    row[0], row[1], row[2], row[3], row[4] = text, first, second, third, fourth


@kernel
def _mark(words: Any, action: int) -> None:
    _say(words, -1, action)


@kernel
def _nothing(board: Any, state: Any, words: Any) -> None:
    pass


def text_kernels(game: Game) -> tuple[dict[str, Any], list[str]]:
    """Return the functions of a game's texts as kernels, in which numbers stand for texts, and these texts."""
    sentences: dict[str, int] = {}
    built: dict[Any, Any] = {texts.say: _say, texts.mark: _mark}

    def numbered(value: Any) -> Any:
        if isinstance(value, str):
            return sentences.setdefault(value, len(sentences))
        return tuple(map(numbered, value)) if isinstance(value, tuple) else value

    def build(function: Any) -> Any:
        if function not in built:
            names, code = dict(function.__globals__), function.__code__
            for name in filter(names.__contains__, code.co_names):  # in order, so that all processes number texts alike
                if isinstance(names[name], FunctionType):
                    names[name] = build(names[name])
                elif isinstance(names[name], (str, tuple)):
                    names[name] = numbered(names[name])
            constants = (value if value == function.__doc__ else numbered(value) for value in code.co_consts)
            built[function] = kernel(FunctionType(code.replace(co_consts=tuple(constants)), names, function.__name__))
        return built[function]

    module = game_part(game, "texts")
    kernels = {name: build(getattr(module, name)) if hasattr(module, name) else _nothing for name in QUESTIONS}
    return kernels, list(sentences)


@kernel
def _swapped(state: Any) -> int:
    return int(state.swapped)


@kernel
def _never_swapped(state: Any) -> int:
    return 0


def uct_statistics(
    nodes: NodeArray, edges: EdgeArray, node: int, seeds: UInt64s, visits: Int32s, values: Float32s, proven: Int32s
) -> int:
    """Write visits and values of the actions at a node of a UCT tree, and return the best action.

    It is chosen as :attr:`stoneworks.models.search.uct.RootStatistics.best` says; ties are broken at random. ``proven`` gets
    whether the position is proven, and its result for the player to move.
    """
    root, sign = nodes[node], sign_of(nodes[node].player)
    proven[0], proven[1] = root.solved, sign * root.result
    visits[:] = 0
    values[:] = 0
    best_proven, all_proven = -2, True
    for edge in range(root.first_edge, root.first_edge + root.num_edges):
        action = edges[edge].action
        visits[action] = edges[edge].visits
        if edges[edge].visits:
            values[action] = sign * edges[edge].total_result / (UNIT * edges[edge].visits)
        if edges[edge].solved:
            values[action] = sign * edges[edge].result
            best_proven = max(best_proven, sign * edges[edge].result)
        else:
            all_proven = False
    # 2: what is not proven; else the proven result.
    wanted = best_proven if all_proven or best_proven == 1 else 2
    best, best_visits, best_value, num_equal = -1, -1, -np.inf, 0
    for attempt in range(2):
        for edge in range(root.first_edge, root.first_edge + root.num_edges):
            kind = sign * edges[edge].result if edges[edge].solved else 2
            if kind != wanted:
                continue
            number = edges[edge].visits
            value = sign * edges[edge].total_result / (UNIT * max(1, number))
            if number < best_visits or (number == best_visits and value < best_value):
                continue
            if number > best_visits or value > best_value:
                best_visits, best_value, num_equal = number, value, 0
            num_equal += 1
            if random_below(seeds, 0, num_equal) == 0:
                best = edges[edge].action
        if attempt == 1 or wanted != 2 or best_proven != 0 or best_value > 0:
            break
        wanted, best_visits, best_value, num_equal = 0, -1, -np.inf, 0  # a proven draw is better than a bad value
    return best


class Agent(NamedTuple):
    """How an agent searches.

    Attributes:
        num_simulations: number of simulations.
        discount: see :class:`stoneworks.models.search.network_search.SearchSettings`.
        num_playouts: random playouts whose mean result is mixed with the value of a leaf; 0 for none.
        weight: its weight.
    """

    num_simulations: int
    discount: float
    num_playouts: int
    weight: float


class Network(NamedTuple):
    """A network and its work buffers.

    Attributes:
        sizes: its sizes.
        weights: its weights.
        planes: ``[leaves, planes, height * width]``.
        logits: ``[leaves, num_actions]``.
        values: ``[leaves]``.
        others: ``[leaves]``.
    """

    sizes: Sizes
    weights: Float32s
    planes: Float32Tables
    logits: Float32Table
    values: Float32s
    others: Float32s


class Outputs(NamedTuple):
    """The results of a search (see :class:`stoneworks.models.search.network_search.SearchResult`)."""

    actions: Int64s
    values: Float32s
    policies: Float32Table
    visits: Int32Table


def search_position(
    trees: Trees,
    roots: StateArray,
    agent: Agent,
    parameters: Parameters,
    schedule: Int32Table,
    network: Network,
    leaves: LeafArray,
    seeds: UInt64s,
    outputs: Outputs,
    phase: int,
) -> int:
    """Search as :class:`stoneworks.models.bots.search_bot.SearchBot` does with a number of simulations; return the evaluations.

    Returns -1 if the network's output is not finite. With ``phase`` -1, the search is a new one. Else it goes on in its tree until
    that has had ``agent.num_simulations``, without a schedule: after considering all actions again if ``phase`` is 0, or the
    better half of those considered if it is 1.
    """
    # Ten arguments: the entry function flattens them.
    planes, logits, values, others = network.planes, network.logits, network.values, network.others
    limits = Limits(agent.num_simulations, leaves.shape[0], True, 0)
    noise = np.zeros(logits.shape, np.float32)
    num_leaves = number = 1
    total = 0
    if phase < 0:
        start_all(trees, roots, planes, leaves)
    else:
        if phase < 2:
            halve_all(trees, parameters, phase == 0)
        num_leaves, number = descend(trees, parameters, schedule, planes, leaves, limits, True)
    while num_leaves > 0:
        if number > 0:
            run_network(planes[:number], network.sizes, network.weights, logits[:number], values[:number])
            if agent.num_playouts > 0:
                evaluate_leaves(trees, leaves, num_leaves, 0.0, agent.num_playouts, seeds, others)
                for leaf in range(number):
                    values[leaf] = values[leaf] + np.float32(agent.weight) * (others[leaf] - values[leaf])
        if expand(trees, leaves, num_leaves, logits, values, agent.discount, True):
            return -1
        if total == 0 and phase < 0:
            init_roots(trees, parameters, noise)
        total += number
        num_leaves, number = descend(trees, parameters, schedule, planes, leaves, limits, True)
    choose_root_actions(
        trees, parameters, agent.discount, outputs.actions, outputs.values, outputs.policies, outputs.visits
    )
    return total


def tree_statistics(trees: Trees, node: int, visits: Int32s, values: Float32s, priors: Float32s, proven: Int32s) -> int:
    """Write visits, values (NaN without visits) and priors of the actions at a node of a network's tree; return the best one.

    These are what :class:`stoneworks.models.search.network_search.NetworkSearch` says of the root, and the next action of its
    best line, -1 at the end of that. ``proven`` is as for :func:`uct_statistics`.
    """
    nodes, edges = trees.nodes[0], trees.edges[0]
    sign, first = sign_of(nodes[node].player), nodes[node].first_edge
    proven[0], proven[1] = nodes[node].solved, np.sign(sign * nodes[node].network_value)
    visits[:] = 0
    values[:] = np.nan
    priors[:] = 0
    best, best_visits, best_result = -1, -1, -np.inf
    for edge in range(first, first + nodes[node].num_edges):
        action, child = edges[edge].action, edges[edge].child
        priors[action] = edges[edge].prior
        if child == NO_NODE:
            continue
        visits[action] = nodes[child].visits
        exact = sign * nodes[child].network_value
        mean = sign * nodes[child].total_value / max(nodes[child].visits - nodes[child].pending, 1)
        values[action] = np.sign(exact) if nodes[child].solved else mean
        result = 0.0 if not nodes[node].solved else exact if nodes[child].solved else -np.inf
        if result > best_result or (result == best_result and visits[action] > best_visits):
            best, best_visits, best_result = action, visits[action], result
    return best


class Raw(NamedTuple):
    """Weights of a network as they are downloaded.

    Attributes:
        weights: all of them.
        shapes: ``int32[parts, 5]`` for each part: 1 for a convolution, rows and columns, and both after padding.
        transform: ``float32[6, 3]``, times 24, of the filters of convolutions.
    """

    weights: Float32s
    shapes: Int32Table
    transform: Float32Table


def expand_weights(raw: Raw, flat: Float32s) -> int:
    """Write the weights as :func:`stoneworks.models.inference.winograd.flat_weights` does, and return their number."""
    flat[:] = 0
    place = at = 0
    for part in range(raw.shapes.shape[0]):
        is_convolution, rows, columns, padded_rows, padded_columns = raw.shapes[part]
        if not is_convolution:
            for row in range(rows):
                for column in range(columns):
                    flat[at + row * padded_columns + column] = raw.weights[place + row * columns + column]
            place, at = place + rows * columns, at + padded_rows * padded_columns
            continue
        for output in range(columns):
            for depth in range(rows):
                filter_ = raw.weights[place : place + 9]
                place += 9
                for up in range(6):
                    for right in range(6):
                        total = 0.0
                        for row in range(3):
                            for column in range(3):
                                factor = np.float64(raw.transform[up, row]) / 24 * np.float64(filter_[3 * row + column])
                                total += factor * (np.float64(raw.transform[right, column]) / 24)
                        flat[at + ((6 * up + right) * padded_rows + depth) * padded_columns + output] = total
        at += 36 * padded_rows * padded_columns
    return at


def entries_of(game: Game, inputs: NetworkInputs | None) -> list[EntryFunction]:
    """Return the entry functions of a game, and those of its network if it has one with these inputs."""
    rules = all_kernels(type(game))
    drawing: Any = drawing_of(game)
    by_heuristic = {**rules, **heuristic_kernels(game)}
    by_playouts = {**rules, **turn_search.leaf_kernels(game, False), **turn_search.rating_kernels(game, False)}
    colors = _swapped if "swapped" in (game.state_dtype.names or ()) else _never_swapped
    described = {**rules, "first_color": colors, "shown": drawing.shown}
    listed: list[tuple[str, Callable[..., Any], Mapping[str, Any]]] = [
        ("reset_batch", templates.reset_batch, rules),
        ("fill_mask", templates.fill_mask, rules),
        ("try_action", templates.try_action, rules),
        ("play_out", templates.play_out, rules),
        ("count_shown", count_shown, described),
        ("describe", describe, described),
        ("write_words", write_words, text_kernels(game)[0]),
        ("search_turns", turn_search.search_turns, by_heuristic),
        ("search_depths", alphabeta.search_depths, by_heuristic),
        ("search_tree", search_tree, by_playouts),
        ("keep_subtree", uct.keep_subtree, rules),
        ("uct_statistics", uct_statistics, rules),
    ]
    if inputs is not None:
        observing = {**rules, **inputs.kernels}
        winning = {**rules, "winning_turn": winning_turn_kernel(type(game))}
        rule = gumbel.Gumbel().kernels

        def part(template: Callable[..., Any], kernels: Mapping[str, Any]) -> Any:
            return specialized_kernel(template, game.name, kernels)

        parts = {
            "start_all": part(start_all, observing),
            "expand": part(expand, winning),
            "init_roots": part(init_roots, {**rules, **rule}),
            "descend": part(descend, {**observing, **rule}),
            "halve_all": part(halve_all, {**rules, **rule}),
            "choose_root_actions": part(choose_root_actions, {**rules, **rule}),
            "evaluate_leaves": part(evaluate_leaves, by_playouts),
            "run_network": kernel(run_network),
        }
        listed += [
            ("search_position", search_position, {**rules, **parts}),
            ("tree_statistics", tree_statistics, rules),
            ("fill_planes", templates.fill_batch, observing),
            ("run_network", winograd.run_network, {}),
            ("expand_weights", expand_weights, {}),
        ]
    return [entry_function(*one, game.board.dtype, game.state_dtype) for one in listed]
