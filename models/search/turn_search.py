"""Beam search over the actions of one turn, evaluated at the end of the turn.

A template over a game's four kernels and the two kernels of its heuristic (see :mod:`stoneworks.envs.rules.compiler.compiler`).
A turn may have any number of actions, and its legal actions may depend on the previous ones.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from stoneworks.envs.rules import Game
from stoneworks.envs.rules.compiler.bits import list_legal
from stoneworks.envs.rules.compiler.compiler import int64, kernel
from stoneworks.envs.rules.compiler.random_numbers import random_below
from stoneworks.envs.rules.compiler.ranking import insert_best
from stoneworks.envs.rules.compiler.types import (
    BoardArray,
    Float32s,
    Float32Table,
    Int8s,
    Int64s,
    Record,
    StateArray,
    UInt64s,
)
from stoneworks.envs.rules.contract import NO_ACTION, apply_action, heuristic, legal_actions, rate_actions
from stoneworks.envs.rules.fields import NO_WINNER
from stoneworks.envs.rules.parts import heuristic_kernels

#: Value of a won game for the winner. A draw is 0; evaluations are strictly between a loss and a win.
WIN_VALUE = 1e6
#: Bounds of the numbers of actions and of unfinished turns that a search may keep.
MAX_CANDIDATES, MAX_BEAM_WIDTH = 10**9, 1000


@kernel
def no_heuristic(board: Record, state: Record, player: int) -> float:
    """Replace ``heuristic`` where leaves are evaluated by playouts."""
    return 0.0


@kernel
def rate_equally(board: Record, state: Record, mask: Int8s, ratings: Float32s) -> None:
    """Replace ``rate_actions`` for games without a heuristic."""
    ratings[:] = 0


def leaf_kernels(game: Game, by_heuristic: bool) -> Mapping[str, Callable[..., Any]]:
    """Return the kernel ``heuristic`` for a template that evaluates leaves by it or by playouts.

    Raises:
        MissingHeuristicError: the game has no heuristic.
    """
    return {"heuristic": heuristic_kernels(game)["heuristic"] if by_heuristic else no_heuristic}


def rating_kernels(game: Game, by_heuristic: bool) -> Mapping[str, Callable[..., Any]]:
    """Return the kernel ``rate_actions`` for a template that orders actions by it, or rates all equally.

    Raises:
        MissingHeuristicError: the game has no heuristic.
    """
    return {"rate_actions": heuristic_kernels(game)["rate_actions"] if by_heuristic else rate_equally}


@kernel
def value_of_end(state: Record, player: int, num_actions: int) -> float:
    """Return the value for ``player`` of a terminal position ``num_actions`` actions below the root."""
    if state.winner == NO_WINNER:
        return 0.0
    return WIN_VALUE - num_actions if state.winner == player else num_actions - WIN_VALUE


# -- Selection of an action: a random one of those with the highest value ----------------------------------------------


@kernel
def draw_best(values: Record, candidates: Record, num_candidates: int, seeds: UInt64s, row: int) -> int:
    """Return a random candidate among those with the highest value; the draw does not depend on the order of the candidates."""
    best_value = -np.inf
    num_equal = 0
    for place in range(num_candidates):
        value = values[candidates[place]]
        if value > best_value:
            best_value = value
            num_equal = 0
        num_equal += value == best_value
    remaining = random_below(seeds, row, num_equal)
    for place in range(num_candidates):
        action = candidates[place]
        if values[action] != best_value:
            continue
        num_before = 0
        for other in range(num_candidates):
            num_before += values[candidates[other]] == best_value and candidates[other] < action
        if num_before == remaining:
            return int64(action)
    return NO_ACTION


# -- The search --------------------------------------------------------------------------------------------------------


# Long: the beam is kept in arrays that all parts of the loop read and write.
def search_turns(
    board: BoardArray,
    states: StateArray,
    num_candidates: int,
    beam_width: int,
    seeds: UInt64s,
    values: Float32Table,
    actions: Int64s,
) -> None:
    """Search the turn of the player to move in each of ``states`` and write the values of its actions.

    In each position, only the ``num_candidates`` actions that ``rate_actions`` ranks highest are tried; of the unfinished
    turns of each length, only the ``beam_width`` that ``heuristic`` ranks highest are continued. If neither limit is reached,
    the search is exhaustive.

    Args:
        board: the board constants.
        states: ``[num_states]``, the positions; ``NO_ACTION`` is written for terminal ones.
        num_candidates: actions tried in each position, at least 1.
        beam_width: unfinished turns continued, at least 1.
        seeds: one per state, advanced in place; used to break ties.
        values: output, ``float32[num_states, num_actions]``, value of the best turn found that starts with each action;
            minus infinity for actions that were not tried.
        actions: output, ``int64[num_states]``, an action of highest value.
    """
    num_actions = board[0].num_actions
    mask = np.empty(num_actions, np.int8)
    ratings = np.empty(num_actions, np.float32)
    legal = np.empty(num_actions, np.int64)
    limit = min(num_candidates, num_actions)
    candidates = np.empty(limit, np.int64)
    roots = np.empty(limit, np.int64)  # the candidates of the first action
    child_room = np.empty(1, states.dtype)
    child = child_room[0]
    turns = np.empty((2, beam_width), states.dtype)
    turn_values = np.empty((2, beam_width), np.float64)
    first_actions = np.empty((2, beam_width), np.int64)

    for row in range(states.shape[0]):
        values[row, :] = -np.inf
        actions[row] = NO_ACTION
        if states[row].ending:
            continue
        player = states[row].current_player
        turns[0, 0] = states[row]
        first_actions[0, 0] = NO_ACTION
        num_roots = 0
        now, num_turns = 0, 1
        while num_turns > 0:
            num_longer = 0
            for turn in range(num_turns):
                legal_actions(board[0], turns[now, turn], mask)
                num_legal = list_legal(mask, legal)
                limited = num_legal > limit
                if limited:
                    rate_actions(board[0], turns[now, turn], mask, ratings)
                chosen = 0
                for place in range(num_legal):
                    if limited:
                        chosen = insert_best(candidates, chosen, limit, ratings, legal[place])
                    else:
                        candidates[chosen] = legal[place]
                        chosen += 1
                if first_actions[now, turn] == NO_ACTION:
                    num_roots = chosen
                    roots[:chosen] = candidates[:chosen]

                for candidate in range(chosen):
                    action = candidates[candidate]
                    first_action = action if first_actions[now, turn] == NO_ACTION else first_actions[now, turn]
                    child_room[0] = turns[now, turn]
                    apply_action(board[0], child, action)
                    value = value_of_end(child, player, 0) if child.ending else heuristic(board[0], child, player)
                    if child.ending or child.current_player != player:
                        values[row, first_action] = max(values[row, first_action], value)
                        continue
                    place = num_longer
                    while place > 0 and turn_values[1 - now, place - 1] < value:
                        place -= 1
                    if place == beam_width:
                        continue
                    for later in range(min(num_longer, beam_width - 1), place, -1):
                        turns[1 - now, later] = turns[1 - now, later - 1]
                        turn_values[1 - now, later] = turn_values[1 - now, later - 1]
                        first_actions[1 - now, later] = first_actions[1 - now, later - 1]
                    turns[1 - now, place] = child
                    turn_values[1 - now, place] = value
                    first_actions[1 - now, place] = first_action
                    num_longer = min(num_longer + 1, beam_width)
            now, num_turns = 1 - now, num_longer

        actions[row] = draw_best(values[row], roots, num_roots, seeds, row)
