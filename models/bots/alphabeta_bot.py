"""``AlphaBetaBot``: looks some turns ahead and chooses what is best against the best answers it finds."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from stoneworks.envs.rules import Batch, Game, State
from stoneworks.envs.rules.checks import check_integer
from stoneworks.models.bots.bot import Bot, check_game_goes_on, check_games_go_on, check_same_game
from stoneworks.models.bots.parameters import Parameter, parse_parameters
from stoneworks.models.errors import UnknownBotError
from stoneworks.models.evaluations import evaluation_kernels
from stoneworks.models.search.alphabeta import MAX_DEPTH, search_depths
from stoneworks.models.search.best_actions import insert_best

DEFAULT_CANDIDATES = 12
#: More than any game has actions.
MAX_CANDIDATES = 10**9


class AlphaBetaBot(Bot):
    """Plays an action of greatest value after a search of ``depth`` turns; among equally good ones it chooses at random.

    See :mod:`stoneworks.models.search.alphabeta` for what a turn of depth is, and what the search leaves out.
    """

    def __init__(
        self, game: Game, depth: int, seed: int | None = None, *, num_candidates: int = DEFAULT_CANDIDATES
    ) -> None:
        """Make the bot.

        Args:
            game: the game.
            depth: turns to look ahead, from 1 to 32.
            seed: of the choice among equally good actions; None draws one.
            num_candidates: actions looked at in each position of the first two turns, from 1 to 10^9; later fewer.
        """
        for option, value, most in (("depth", depth, MAX_DEPTH), ("num_candidates", num_candidates, MAX_CANDIDATES)):
            check_integer(option, value, 1, most)
        self._game = game
        self._limits = int(depth), int(num_candidates)
        self._generator = np.random.default_rng(seed)
        self._search = game.compiled(search_depths, {**evaluation_kernels(game), "insert_best": insert_best})

    @classmethod
    def from_name(cls, argument: str, game: Game, seed: int | None) -> AlphaBetaBot:
        """See :meth:`Bot.from_name`; the argument is ``<depth>`` or ``<depth>,candidates=<number>``."""
        depth_text, *texts = argument.split(",")
        if not (depth_text.isdecimal() and depth_text.isascii() and 1 <= int(depth_text) <= MAX_DEPTH):
            raise UnknownBotError(
                f"depth of an alphabeta bot is {depth_text!r}; allowed is a whole number from 1 to {MAX_DEPTH}, "
                "as in 'alphabeta:2'"
            )
        parameters = parse_parameters("alphabeta", texts, {"candidates": Parameter(DEFAULT_CANDIDATES, 1)})
        if parameters["candidates"] > MAX_CANDIDATES:
            raise UnknownBotError(
                f"candidates of an alphabeta bot is {parameters['candidates']}; allowed is at most {MAX_CANDIDATES}"
            )
        return cls(game, int(depth_text), seed, num_candidates=parameters["candidates"])

    @property
    def name(self) -> str:
        """``alphabeta:<depth>``, and the candidates where they are not the default."""
        depth, num_candidates = self._limits
        options = "" if num_candidates == DEFAULT_CANDIDATES else f",candidates={num_candidates}"
        return f"alphabeta:{depth}{options}"

    def step_with_policy(self, state: State) -> tuple[list[tuple[int, float]], int]:
        """See :meth:`Bot.step_with_policy`. The policy is uniform over the actions of greatest value."""
        values, actions, _ = self._search_position(state)
        best = np.flatnonzero(values[0] == values[0].max()).tolist()
        return [(action, 1 / len(best)) for action in best], int(actions[0])

    def step_batch(self, batch: Batch, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """See :meth:`Bot.step_batch`."""
        check_same_game(self, self._game, batch.game)
        check_games_go_on(self, batch, rows)
        return self._search_positions(batch.states[rows])[1]

    def action_values(self, state: State) -> npt.NDArray[np.float32]:
        """Return ``float32[num_distinct_actions]``: what each action is worth to who is to act.

        The greatest value is exact; others are bounds from above; minus infinity stands for what was not looked at.
        """
        return self._search_position(state)[0][0]

    def num_positions(self, state: State) -> int:
        """Return how many positions a search from ``state`` visits."""
        return int(self._search_position(state)[2][0])

    def _search_position(
        self, state: State
    ) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        check_same_game(self, self._game, state.get_game())
        check_game_goes_on(self, state)
        return self._search_positions(np.array([state.record], self._game.state_dtype))

    def _search_positions(
        self, states: npt.NDArray[np.void]
    ) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        values = np.empty((len(states), self._game.num_distinct_actions()), np.float32)
        actions = np.empty(len(states), np.int64)
        num_positions = np.empty(len(states), np.int64)
        seeds = self._generator.integers(0, 2**64, len(states), np.uint64)
        self._search(self._game.board, states, *self._limits, seeds, values, actions, num_positions)
        return values, actions, num_positions
