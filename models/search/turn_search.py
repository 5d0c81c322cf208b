"""Beam search over the actions of one turn, evaluated at the end of the turn.

A template over a game's four kernels and the two kernels of its evaluation (see :mod:`stoneworks.envs.rules.kernels`).
A turn may have any number of actions, and its legal actions may depend on the previous ones.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from stoneworks.envs.rules.kernels import (
    BoardArray,
    Float32Table,
    Int8s,
    Int64s,
    Record,
    StateArray,
    UInt64s,
)
from stoneworks.envs.rules.random_numbers import random_below
from stoneworks.envs.rules.templates import NO_ACTION, NO_WINNER, apply_action, legal_actions
from stoneworks.models.search.best_actions import insert_best

Float32s: TypeAlias = npt.NDArray[np.float32]

#: Value of a won game for the winner. A draw is 0; evaluations are strictly between a loss and a win.
WIN_VALUE = 1e6


# -- The contract: every evaluation has these two kernels ------------------------------------------------------------


def evaluate(board: Record, state: Record, player: int) -> float:
    """Return the evaluation of a non-terminal position for ``player``; 0 is even."""
    raise NotImplementedError


def rate_actions(board: Record, state: Record, mask: Int8s, ratings: Float32s) -> None:
    """Write a move-ordering rating of each legal action for the player to move; infinity forces an action to be tried."""
    raise NotImplementedError


# -- The search --------------------------------------------------------------------------------------------------------


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
    turns of each length, only the ``beam_width`` that ``evaluate`` ranks highest are continued. If neither limit is reached,
    the search is exhaustive.

    Args:
        board: the board constants.
        states: ``[num_states]``, the positions; ``NO_ACTION`` is written for terminal ones.
        num_candidates: actions tried in each position, at least 1.
        beam_width: unfinished turns continued, at least 1.
        seeds: one per state, advanced in place; used to break ties.
        values: output, ``float32[num_states, num_actions]``, value of the best turn found that starts with each action;
            minus infinity for actions that were not tried.
        actions: output, ``int64[num_states]``, an action of greatest value.
    """
    num_actions = board[0].num_actions
    mask = np.empty(num_actions, np.int8)
    ratings = np.empty(num_actions, np.float32)
    candidates = np.empty(num_candidates, np.int64)
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
        now, num_turns = 0, 1
        while num_turns > 0:
            num_longer = 0
            for turn in range(num_turns):
                legal_actions(board[0], turns[now, turn], mask)
                num_legal = 0
                for action in range(num_actions):
                    num_legal += mask[action]
                limited = num_legal > num_candidates
                if limited:
                    rate_actions(board[0], turns[now, turn], mask, ratings)
                chosen = 0
                for action in range(num_actions):
                    if not mask[action]:
                        continue
                    if limited:
                        chosen = insert_best(candidates, chosen, num_candidates, ratings, action)
                    else:
                        candidates[chosen] = action
                        chosen += 1

                for candidate in range(chosen):
                    action = candidates[candidate]
                    first_action = action if first_actions[now, turn] == NO_ACTION else first_actions[now, turn]
                    child_room[0] = turns[now, turn]
                    apply_action(board[0], child, action)
                    if child.ending:
                        value = 0.0
                        if child.winner != NO_WINNER:
                            value = WIN_VALUE if child.winner == player else -WIN_VALUE
                    else:
                        value = evaluate(board[0], child, player)
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

        best = -np.inf
        num_best = 0
        for action in range(num_actions):
            if values[row, action] > best:
                best = values[row, action]
                num_best = 0
            num_best += values[row, action] == best and best > -np.inf
        remaining = random_below(seeds, row, num_best)
        for action in range(num_actions):
            if values[row, action] == best:
                if remaining == 0:
                    actions[row] = action
                    break
                remaining -= 1
