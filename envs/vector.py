"""Gymnasium vector environment for all games: one ``Batch`` of games with built-in opponents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from stoneworks.checks import check_choice
from stoneworks.envs.batch_env import BatchEnv, EndedGames
from stoneworks.envs.opponents import Opponents
from stoneworks.envs.players import Opponent, Policy, PolicyPlayer
from stoneworks.envs.rules import Game, IllegalActionError
from stoneworks.envs.single_agent import MAX_RESTARTS, SEATS, never_acts


class VectorEnv(BatchEnv):
    """Vectorized games for one learner: observations and rewards are the learner's; opponents move inside ``step``.

    With the autoreset mode ``SAME_STEP``, a game that ends is restarted in the same step: reward and flags belong to the
    finished game, observation and mask to the new one. The final observation of the finished game is in
    ``info["final_obs"][i]``; ``info["final_info"]`` contains ``"seat"`` (the learner's), ``"opponent"`` (its name) and an
    ``"action_mask"`` of zeros. With ``NEXT_STEP``, the next step ignores the action for that game and restarts
    it. With ``DISABLED``, the caller must restart finished games with
    ``reset(options={"reset_mask": bool[num_envs]})`` before the next step.

    The learner is the player to move in every unfinished game, so no row of ``info["action_mask"]``
    (``[num_envs, num_actions]``) is all zeros, except for finished games in mode ``DISABLED``. With ``NEXT_STEP`` the
    mask of a finished game is all ones, because the next action is ignored.

    There may be several opponents, each with a share of the games. The opponent of a game is sampled when the game
    starts. Each opponent is called once per round for all of its games with ``step_batch(batch, rows)``, or, if it
    lacks this method, game by game with ``step(state)``, whose state has an empty history.

    Attributes:
        game: the game.
        autoreset_mode: the ``gymnasium.vector.AutoresetMode``; determines when a finished game is restarted.
    """

    def __init__(
        self,
        num_envs: int = 1,
        game: str | Game = "vadus",
        *,
        opponent: Opponent | Mapping[str, float] = "random",
        seat: int | str = "alternate",
        **arguments: Any,
    ) -> None:
        """Create the environment. Call ``reset`` to start the games.

        Args:
            num_envs: number of games.
            game: a game name, a game string, or a ``Game``.
            opponent: a bot's name, a bot, a function from a state to an action, ``"self"`` (the policy set by
                ``set_policy``), or a mapping of names to their shares of the games: ``{"self": 3, "greedy": 1}``.
            seat: the learner's seat: 0 (moves first), 1, ``"alternate"`` (after seeding 0 in even rows and 1 in odd rows,
                then alternating from game to game) or ``"random"``.
            **arguments: ``illegal_action`` (of the learner), ``observation``, ``autoreset_mode``, ``num_threads`` and the options
                of the game, as in :class:`~stoneworks.envs.batch_env.BatchEnv`.

        Raises:
            ValueError: an argument is invalid; the message lists the allowed values.
        """
        super().__init__(num_envs, game, **arguments)
        self.seat = check_choice("seat", seat, SEATS)
        #: ``int8[num_envs]``, the learner's seat in each game.
        self._seats = self._viewers
        self._num_started = np.zeros(num_envs, np.int64)
        #: Games started in this step. If one of them ends, the learner has not acted in it, so it is not reported as an episode
        #: and is restarted.
        self._started = np.zeros(num_envs, np.bool_)
        self._self_player = PolicyPlayer(self._format)
        self._opponents = Opponents(self.game, num_envs, self._self_player)
        if isinstance(opponent, Mapping):
            self._opponents.exchange(opponent, {}, self.np_random)
        else:
            name = opponent if isinstance(opponent, str) else getattr(opponent, "name", type(opponent).__name__)
            self._opponents.exchange({name: 1.0}, {name: opponent}, self.np_random)

    def set_opponents(self, shares: Mapping[str, float], players: Mapping[str, Opponent] | None = None) -> None:
        """Replace the opponents; those given by name are seeded by this environment. Games in progress keep theirs.

        Args:
            shares: share of new games by opponent name; normalized to sum to 1.
            players: opponents by name. Other names must be ``"self"`` or valid for ``stoneworks.models.load_bot``.

        Raises:
            ValueError: a name is unknown, shares are negative or all 0, or a player has no share. The opponents are unchanged.
        """
        self._opponents.exchange(shares, players or {}, self.np_random)

    def set_policy(self, policy: Policy) -> None:
        """Set the policy of the opponent ``"self"``, effective from its next action.

        Args:
            policy: a function from a batch of observations of this environment and the masks ``bool[batch,
                num_actions]`` to actions ``int[batch]``.
        """
        self._self_player.policy = policy

    def policy_player(self, policy: Policy) -> PolicyPlayer:
        """Return an opponent for ``set_opponents`` that plays ``policy`` (as in ``set_policy``), e.g. a past checkpoint."""
        return PolicyPlayer(self._format, policy)

    def close_extras(self, **arguments: Any) -> None:
        """Close the opponents given by name; called by ``close``."""
        self._opponents.close()

    @property
    def seats(self) -> npt.NDArray[np.int8]:
        """The learner's seat in each game, a copy, ``int8[num_envs]``."""
        return self._seats.copy()

    @property
    def opponent_names(self) -> list[str]:
        """The name of each game's opponent."""
        return self._opponents.names_by_game()

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Start the games and play the opponents' first moves in games where the opponent moves first.

        With a ``seed``, the opponents given by name, their assignment to games and the seats are reseeded.

        Args:
            seed: seed of all random choices.
            options: ``{"reset_mask": bool[num_envs]}`` resets only the selected games; other keys are ignored.

        Raises:
            IllegalActionError: an opponent has chosen an illegal action.
            ResetNeeded: ``reset_mask`` does not select all games, and ``reset`` was never called or an opponent has raised an
                error.
            ValueError: ``reset_mask`` does not have that dtype and shape, or selects no game; or games end again and again
                before the learner can act.
        """
        rows = self._rows_to_reset(options)
        super().reset(seed=seed)
        if seed is not None:
            self._num_started[rows] = 0
            self._opponents.reseed(self.np_random)
        if len(rows) == self.num_envs:
            self._opponents.restart()
        self._started[:] = False
        self._start(rows)
        self._has_games = True
        self._play_until_learner_acts(EndedGames(self.num_envs))
        return self.observations(), self._info()

    def step(
        self, actions: npt.ArrayLike
    ) -> tuple[Any, npt.NDArray[np.float64], npt.NDArray[np.bool_], npt.NDArray[np.bool_], dict[str, Any]]:
        """Apply one action of the learner in every game, then the opponents' actions until the learner is to move.

        Args:
            actions: ``int[num_envs]``.

        Returns:
            Observations, rewards ``float64[num_envs]``, terminations and truncations ``bool[num_envs]``, and the info.

        Raises:
            IllegalActionError: an action is out of range, or it is illegal and ``illegal_action`` is ``"raise"`` (no
                game is changed), or an opponent has chosen an illegal action.
            ResetNeeded: there are no games, since ``reset`` was never called or an opponent has raised an error; or a game
                has ended and the autoreset mode is ``DISABLED``.
        """
        self._started[:] = False
        illegal = self._play(actions)
        ended = EndedGames(self.num_envs)
        if illegal.size:
            ended.rewards[illegal] = -1
            ended.terminations[illegal] = True
            self._close(illegal, ended)
        self._play_until_learner_acts(ended)
        info = self._info() | ended.info(np.zeros_like(self._batch.action_masks, self._format.mask_dtype))
        return self.observations(), ended.rewards, ended.terminations, ended.truncations, info

    def _start(self, rows: npt.NDArray[np.int64]) -> None:
        """Start the games ``rows``: reset positions, assign seats and sample opponents."""
        super()._start(rows)
        self._started[rows] = True
        if self.seat == "random":
            self._seats[rows] = self.np_random.integers(2, size=len(rows))
        elif self.seat == "alternate":
            self._seats[rows] = (rows + self._num_started[rows]) % 2
        else:
            self._seats[rows] = self.seat
        self._num_started[rows] += 1
        self._opponents.draw(rows, self.np_random)

    def _play_until_learner_acts(self, ended: EndedGames) -> None:
        """Play opponents' actions, and record and restart finished games, until the learner is to move in every game.

        Args:
            ended: results of this step, updated in place.

        Raises:
            IllegalActionError: an opponent plays an illegal action.
            ValueError: games end again and again before the learner can act.
        """
        num_restarts = 0
        while True:
            over = (self._batch.terminated | self._batch.truncated) & ~self._ended
            unreported = np.flatnonzero(over & self._started)
            reported = np.flatnonzero(over & ~self._started)
            num_restarts += bool(unreported.size)
            if num_restarts > MAX_RESTARTS:
                self._has_games = False
                raise ValueError(never_acts(self.game, self.seat))
            if unreported.size:
                self._start(unreported)
            if reported.size:
                ended.rewards[reported] = self._batch.rewards[reported, self._seats[reported]]
                ended.terminations[reported] = self._batch.terminated[reported]
                ended.truncations[reported] = self._batch.truncated[reported]
                self._close(reported, ended)
            waiting = np.flatnonzero((self._batch.current_players != self._seats) & ~self._ended)
            if not waiting.size:
                return
            self._has_games = False  # if an opponent raises an error, the opponent is still to move
            actions = self._opponents.choose(self._batch, waiting)
            try:
                self._batch.step(actions)
            except IllegalActionError as error:
                raise IllegalActionError(f"an opponent has played an illegal action in {error}") from error
            self._has_games = True

    def _facts(self, row: int) -> dict[str, Any]:
        return {"seat": int(self._seats[row]), "opponent": self._opponents.name_of_game(row)}
