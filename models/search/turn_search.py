"""The search of one turn: all or the most promising ways to play it out, judged where it is over.

It is a template over a game's four kernels and the two of its evaluation (see :mod:`stoneworks.envs.rules.kernels`).
A turn may have any number of actions, and which ones it has may depend on those before.
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

#: What a won game is worth to the winner. A draw is worth 0; every evaluation lies between a loss and a win.
WIN_VALUE = 1e6


# -- The contract: every evaluation has these two kernels ------------------------------------------------------------


def evaluate(board: Record, state: Record, player: int) -> float:
    """Return how good the position is for ``player``, 0 where the sides are even. The game is not over."""
    raise NotImplementedError


def rate_actions(board: Record, state: Record, mask: Int8s, ratings: Float32s) -> None:
    """Write how promising each legal action is for the player to move; infinity for one that must be looked at."""
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
    """Search the turn of the player to move in each of ``states``, and write what its actions are worth.

    A beam search: of the actions of a position only the ``num_candidates`` that ``rate_actions`` puts first are tried,
    and of the unfinished turns of one length only the ``beam_width`` that ``evaluate`` puts first are carried on. Where
    neither limit is reached, every way to play the turn is looked at.

    Args:
        board: the board constants.
        states: the positions; ``NO_ACTION`` is written for one that is over.
        num_candidates: actions tried in a position, at least 1.
        beam_width: unfinished turns carried on, at least 1.
        seeds: one for each position, advanced; they decide between actions of equal value.
        values: ``float32[len(states), num_actions]``, written: the value of the best turn found that begins with the
            action, minus infinity where none was looked at.
        actions: ``int64[len(states)]``, written: an action of greatest value.
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
