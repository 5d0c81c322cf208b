"""``SolverBot``: plays actions that keep the exact result, in positions that can be solved."""

from __future__ import annotations

import numpy as np

from stoneworks.checks import check_positive, check_seed
from stoneworks.envs.rules import Game, State
from stoneworks.models.bots.bot import Analysis, Bot, check_position
from stoneworks.models.bots.spec import BotSpec
from stoneworks.models.solver import MEMORY_MIB, Solution, Solver


class SolverBot(Bot):
    """Plays a random action of those that keep the exact result of the position."""

    def __init__(
        self, game: Game | str, seed: int | None = None, *, seconds: float = 10.0, memory_mib: int = MEMORY_MIB
    ) -> None:
        """Create the bot.

        Args:
            game: a game or a game string.
            seed: seed for choosing among the actions that keep the result; None draws a random one.
            seconds: maximum time for solving a position. ``step`` raises ``UnsolvedError`` if that is not enough.
            memory_mib: memory of the solver's table.

        Raises:
            ValueError: an argument is invalid.
        """
        self._solver = Solver(game, memory_mib=memory_mib)
        self._seconds = check_positive("seconds", seconds)
        self._spec_name = str(BotSpec.of("perfect", seconds=self._seconds, memory_mib=memory_mib))
        self._generator = np.random.default_rng(check_seed(seed))

    def solve(self, state: State) -> Solution:
        """Return the solution of a position. Raises ``UnsolvedError`` if the time is not enough."""
        check_position(self, state, self._solver.game)
        return self._solver.solve(state, seconds=self._seconds)

    def step_with_policy(self, state: State) -> tuple[list[tuple[int, float]], int]:
        """Return policy and action (see :meth:`Bot.step_with_policy`). The policy is uniform over actions that keep the result."""
        actions = self.solve(state).actions
        return [(action, 1 / len(actions)) for action in actions], int(self._generator.choice(actions))

    def analyze(self, state: State) -> Analysis:
        """See :meth:`Bot.analyze`."""
        solution = self.solve(state)
        legal = np.array(state.legal_actions(), np.int64)
        policy = np.isin(legal, solution.actions) / len(solution.actions)
        action = int(self._generator.choice(solution.actions))
        return Analysis(
            solution.player, action, legal, policy, value=float(solution.result), proven=float(solution.result)
        )
