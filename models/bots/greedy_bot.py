"""``GreedyBot``: searches one turn ahead for the best position according to the evaluation of the game."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from stoneworks.envs.rules import Game
from stoneworks.envs.rules.checks import check_integer, check_seed
from stoneworks.models.bots.action_value_bot import ActionValueBot
from stoneworks.models.evaluations import evaluation_kernels
from stoneworks.models.search.turn_search import search_turns


class GreedyBot(ActionValueBot):
    """Plays the first action of the best turn that it finds; ties are broken at random."""

    def __init__(self, game: Game, seed: int | None = None, *, num_candidates: int = 12, beam_width: int = 4) -> None:
        """Create the bot.

        Args:
            game: the game.
            seed: seed for breaking ties; None draws a random one.
            num_candidates: actions searched in each position, at least 1 (see :func:`search_turns`).
            beam_width: number of unfinished turns kept, at least 1.
        """
        for option, value in (("num_candidates", num_candidates), ("beam_width", beam_width)):
            check_integer(option, value, 1)
        super().__init__(game)
        self._limits = int(num_candidates), int(beam_width)
        self._generator = np.random.default_rng(check_seed(seed))
        self._search = game.compiled(search_turns, evaluation_kernels(game))

    @property
    def name(self) -> str:
        """``greedy``."""
        return "greedy"

    def search(self, states: npt.NDArray[np.void]) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int64]]:
        """See :meth:`ActionValueBot.search`. The value of an action is that of the best turn found that starts with it."""
        values = np.empty((len(states), self._game.num_actions), np.float32)
        actions = np.empty(len(states), np.int64)
        seeds = self._generator.bit_generator.random_raw(len(states))
        self._search(self._game.board, states, *self._limits, seeds, values, actions)
        return values, actions
