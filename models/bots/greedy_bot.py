"""``GreedyBot``: searches one turn ahead for the best position by the game's heuristic; and the base class of such bots."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
import numpy.typing as npt

from stoneworks.checks import check_integer, check_seed
from stoneworks.envs.rules import Batch, Game, State, as_game
from stoneworks.envs.rules.parts import heuristic_kernels
from stoneworks.models.bots.bot import Analysis, Bot, check_batch, check_position, line_of
from stoneworks.models.search.turn_search import MAX_BEAM_WIDTH, MAX_CANDIDATES, search_turns


class ActionValueBot(Bot):
    """Plays an action with the highest value; ties are broken at random."""

    def __init__(self, game: Game | str) -> None:
        """Create a bot of a game, given as such or as a game string."""
        self._game = as_game(game)

    @abstractmethod
    def search(self, states: npt.NDArray[np.void]) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int64]]:
        """Search from ``[n]`` records of non-terminal positions of the bot's game.

        Returns:
            The values of all actions, ``float32[n, num_actions]`` (see :meth:`action_values`), and the actions to
            play, ``int64[n]``.
        """

    def action_values(self, state: State) -> npt.NDArray[np.float32]:
        """Return ``float32[num_actions]``: the value of each action for the player to move.

        The highest value is that of the search; others may be upper bounds. Illegal actions, and those that were not tried,
        have minus infinity.
        """
        return self._search_position(state)[0]

    def step_with_policy(self, state: State) -> tuple[list[tuple[int, float]], int]:
        """Return policy and action (see :meth:`Bot.step_with_policy`). The policy is uniform over the best actions."""
        values, action = self._search_position(state)
        best = np.flatnonzero(values == values.max()).tolist()
        return [(one, 1 / len(best)) for one in best], action

    def analyze(self, state: State) -> Analysis:
        """See :meth:`Bot.analyze`. The values are on the scale of the game's heuristic."""
        values, action = self._search_position(state)
        legal = np.array(state.legal_actions(), np.int64)
        evaluations = values[legal].astype(np.float64)
        best = evaluations == evaluations.max()
        return Analysis(
            state.current_player(),
            action,
            legal,
            best / best.sum(),
            evaluation=float(evaluations.max()),
            action_evaluations=evaluations,
            line=line_of(self.step, state, action),
        )

    def step(self, state: State) -> int:
        """Return the chosen action (see :meth:`Bot.step`)."""
        return self._search_position(state)[1]

    def step_batch(self, batch: Batch, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """See :meth:`Bot.step_batch`."""
        check_batch(self, batch, rows, self._game)
        return self.search(batch.states[rows])[1]

    def _search_position(self, state: State) -> tuple[npt.NDArray[np.float32], int]:
        check_position(self, state, self._game)
        values, actions = self.search(state.record.reshape(1))
        return values[0], int(actions[0])


#: What the bot ``greedy`` has.
NUM_CANDIDATES, BEAM_WIDTH = 12, 4


class GreedyBot(ActionValueBot):
    """Plays the first action of the best turn that it finds; ties are broken at random."""

    def __init__(
        self,
        game: Game | str,
        seed: int | None = None,
        *,
        num_candidates: int = NUM_CANDIDATES,
        beam_width: int = BEAM_WIDTH,
    ) -> None:
        """Create the bot.

        Args:
            game: a game or a game string.
            seed: seed for breaking ties; None draws a random one.
            num_candidates: actions searched in each position, from 1 to ``MAX_CANDIDATES`` (see :func:`search_turns`).
            beam_width: number of unfinished turns kept, from 1 to ``MAX_BEAM_WIDTH``.

        Raises:
            ValueError: an argument is invalid.
        """
        super().__init__(game)
        num_candidates = check_integer("num_candidates", num_candidates, 1, MAX_CANDIDATES)
        self._limits = num_candidates, check_integer("beam_width", beam_width, 1, MAX_BEAM_WIDTH)
        self._spec_name = "greedy" if self._limits == (NUM_CANDIDATES, BEAM_WIDTH) else ""
        self._generator = np.random.default_rng(check_seed(seed))
        self._search = self._game.compiled(search_turns, heuristic_kernels(self._game))

    def search(self, states: npt.NDArray[np.void]) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int64]]:
        """See :meth:`ActionValueBot.search`. The value of an action is that of the best turn found that starts with it."""
        values = np.empty((len(states), self._game.num_actions), np.float32)
        actions = np.empty(len(states), np.int64)
        seeds = self._generator.bit_generator.random_raw(len(states))
        self._search(self._game.board, states, *self._limits, seeds, values, actions)
        return values, actions
