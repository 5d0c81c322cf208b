"""``RandomBot``: every legal action is as likely as any other."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from stoneworks.checks import check_seed
from stoneworks.envs.rules import Batch, Game, State, as_game
from stoneworks.envs.rules.templates import choose_random_actions
from stoneworks.models.bots.bot import Bot, check_batch, check_position


class RandomBot(Bot):
    """Plays uniformly at random."""

    name = "random"

    def __init__(self, game: Game | str, seed: int | None = None) -> None:
        self._generator = np.random.default_rng(check_seed(seed))
        self._choose = as_game(game).compiled(choose_random_actions)

    def step_with_policy(self, state: State) -> tuple[list[tuple[int, float]], int]:
        """See :meth:`Bot.step_with_policy`."""
        check_position(self, state)
        legal = state.legal_actions()
        return [(action, 1 / len(legal)) for action in legal], legal[self._generator.integers(len(legal))]

    def step_batch(self, batch: Batch, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """See :meth:`Bot.step_batch`."""
        check_batch(self, batch, rows)
        actions = np.empty(len(rows), np.int64)
        seeds = self._generator.integers(0, 2**64, len(rows), np.uint64)
        self._choose(batch.action_masks[rows], seeds, actions)
        return actions
