"""``AlphaBetaBot``: alpha-beta search over several turns."""

from __future__ import annotations

import time

import numpy as np
import numpy.typing as npt

from stoneworks.checks import check_integer, check_seed
from stoneworks.envs.rules import Game
from stoneworks.envs.rules.contract import NO_ACTION
from stoneworks.envs.rules.parts import heuristic_kernels
from stoneworks.models.bots.bot import check_budget
from stoneworks.models.bots.greedy_bot import ActionValueBot
from stoneworks.models.bots.spec import BotSpec
from stoneworks.models.search.alphabeta import MAX_DEPTH, PROVEN_VALUE, Limits, WorkBuffers, search_depths, work_buffers
from stoneworks.models.search.turn_search import MAX_CANDIDATES

_NO_LIMIT = 2**62


class AlphaBetaBot(ActionValueBot):
    """Plays an action with the highest value after a search of several turns; ties are broken at random.

    The search has a fixed depth in turns, or deepens iteratively within a time limit per step. Of the iteration that the limit
    cuts short, the actions that have been searched count: the best action of the iteration before comes first.

    See :mod:`stoneworks.models.search.alphabeta` for the definition of depth and for the pruned actions.

    Attributes:
        clock: function that returns the time in seconds, by which a time limit is kept.
    """

    def __init__(
        self,
        game: Game | str,
        seed: int | None = None,
        *,
        turns: int | None = None,
        seconds: float | None = None,
        num_candidates: int = 12,
    ) -> None:
        """Create the bot. Exactly one of ``turns`` and ``seconds`` must be given.

        Args:
            game: a game or a game string.
            seed: seed for breaking ties; None draws a random one.
            turns: search depth in turns, from 1 to 32.
            seconds: approximate time per step, more than 0. A step always completes a search of one turn.
            num_candidates: actions searched in each position of the first two turns, from 1 to 10^9; fewer in later
                turns.

        Raises:
            MissingHeuristicError: the game has no heuristic.
            ValueError: an argument is invalid.
        """
        turns, self._seconds = check_budget("turns", turns, seconds, MAX_DEPTH)
        super().__init__(game)
        self._depth = turns or MAX_DEPTH
        self._num_candidates = check_integer("num_candidates", num_candidates, 1, MAX_CANDIDATES)
        spec = BotSpec.of("alphabeta", turns=turns, seconds=self._seconds, num_candidates=self._num_candidates)
        self._spec_name = str(spec)
        self._generator = np.random.default_rng(check_seed(seed))
        self._unused_buffers: list[WorkBuffers] = []  # one for each search that ran at the same time
        self.clock = time.perf_counter
        self._search = self._game.compiled(search_depths, heuristic_kernels(self._game))

    def search(self, states: npt.NDArray[np.void]) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int64]]:
        """See :meth:`ActionValueBot.search`. Values other than the highest are upper bounds."""
        work = self._unused_buffers.pop() if self._unused_buffers else work_buffers(self._depth, self._game.num_actions)
        if self._seconds is None or not len(states):
            values, actions, _ = self.search_to(1, self._depth, states, work)
        else:
            parts = [self._search_in_time(states[row : row + 1], work, self._seconds) for row in range(len(states))]
            values, actions = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
        self._unused_buffers.append(work)
        return values, actions

    def _search_in_time(
        self, state: npt.NDArray[np.void], work: WorkBuffers, seconds: float
    ) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int64]]:
        """Search one position with increasing depth until the time is up."""
        begin = self.clock()
        values, actions, num_visited = self.search_to(1, 1, state, work)
        for depth in range(2, MAX_DEPTH + 1):
            passed = self.clock() - begin
            if passed >= seconds or abs(float(values.max())) >= PROVEN_VALUE or np.isfinite(values).sum() == 1:
                break
            limit = max(1, int(min((seconds / max(passed, 1e-9) - 1) * num_visited[0], _NO_LIMIT)))
            deeper, best, num_more = self.search_to(depth, depth, state, work, limit)
            num_visited += num_more
            if best[0] != NO_ACTION:
                values, actions = _with_bounds(deeper, values), best
            if num_more[0] >= limit:
                break
        return values, actions

    def search_to(
        self, first_depth: int, depth: int, states: npt.NDArray[np.void], work: WorkBuffers, limit: int = _NO_LIMIT
    ) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Return the values of actions, the actions to play, and the numbers of visited positions, each at most ``limit``."""
        values = np.empty((len(states), self._game.num_actions), np.float32)
        actions = np.empty(len(states), np.int64)
        num_positions = np.empty(len(states), np.int64)
        seeds = self._generator.bit_generator.random_raw(len(states))
        limits = Limits(first_depth, depth, self._num_candidates, limit)
        self._search(self._game.board, states, limits, work, seeds, values, actions, num_positions)
        return values, actions, num_positions


def _with_bounds(deeper: npt.NDArray[np.float32], values: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Return the values of an iteration, and those of the one before for actions that it has not searched, below the best."""
    below = np.nextafter(deeper.max(), np.float32(-np.inf))
    return np.where(np.isfinite(deeper), deeper, np.minimum(values, below))
