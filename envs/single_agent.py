"""Gymnasium environment for all games: one learner against a built-in opponent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from gymnasium.error import ResetNeeded

from stoneworks.checks import check_choice
from stoneworks.envs.observation_format import DEFAULT_FORMAT, ILLEGAL_ACTION_CHOICES, Formatter, ObservationFormat
from stoneworks.envs.players import Opponent, Policy, PolicyPlayer, is_loaded, resolve_opponent
from stoneworks.envs.rendering import FRAMES_PER_SECOND, RENDER_MODES, RenderedGame, Renderer
from stoneworks.envs.rules import Game, IllegalActionError, State, as_game

SEATS = (0, 1, "alternate", "random")


#: Maximum number of consecutive games that may end before the learner can act.
MAX_RESTARTS = 1000


def never_acts(game: Game, seat: str | int) -> str:
    """Return the message of the error for games that always end before the learner can act."""
    return f"seat must let the learner act: {MAX_RESTARTS} games of {game} in a row ended before it, got {seat!r}"


class SingleAgentEnv(RenderedGame, gymnasium.Env[Any, Any]):
    """A single-agent environment: observations and rewards are the learner's; the opponent moves inside ``step``.

    Both players may have several actions per turn, and the opponent may move first. The observation space is a ``Box`` of
    the planes in ``game.observation_planes`` or, with ``with_mask``, a ``Dict`` of the planes and the action mask.
    The mask is also available as ``info["action_mask"]`` and from ``action_masks()``, the method that sb3-contrib's
    MaskablePPO calls. It is all zeros after the end of the game.
    """

    metadata = {  # noqa: RUF012  Gymnasium's attribute
        "render_modes": list(RENDER_MODES),
        "render_fps": FRAMES_PER_SECOND,
    }

    def __init__(
        self,
        game: Game | str,
        *,
        opponent: Opponent = "random",
        seat: int | str = "alternate",
        render_mode: str | None = None,
        illegal_action: str = "lose",
        observation: ObservationFormat | Mapping[str, Any] = DEFAULT_FORMAT,
        frameskip: int = 1,
        **options: object,
    ) -> None:
        """Create the environment. Call ``reset`` to start a game.

        Args:
            game: a game name, a game string, or a ``Game``.
            opponent: a bot's name, a bot, a function from a state to an action, or ``"self"`` for the policy set
                by ``set_policy``.
            seat: the learner's seat: 0 (moves first), 1, ``"alternate"`` (0 in the first game after seeding, then 1,
                and so on) or ``"random"``.
            render_mode: ``"ansi"``, ``"rgb_array"``, ``"svg"``, ``"human"`` or None.
            illegal_action: how to handle an illegal action of the learner: ``"lose"`` ends the game with reward -1,
                ``"raise"`` raises ``IllegalActionError`` and leaves the environment unchanged.
            observation: format of the observations, an ``ObservationFormat`` or a mapping of its fields.
            frameskip: must be 1; accepted because TorchRL's ``GymEnv`` passes it to every environment.
            **options: game options, e.g. ``size=7``.

        Raises:
            ValueError: an argument is invalid; the message lists the allowed values.
        """
        self.game = as_game(game, **options)
        self.seat = check_choice("seat", seat, SEATS)
        self.illegal_action = check_choice("illegal_action", illegal_action, ILLEGAL_ACTION_CHOICES)
        check_choice("frameskip", frameskip, (1,))
        self._format = Formatter(self.game, ObservationFormat.of(observation))
        self._renderer = Renderer(render_mode, str(self.game))
        self.render_mode = render_mode
        self.observation_space = self._format.space()
        self.action_space = spaces.Discrete(self.game.num_actions)
        self._given_opponent = opponent
        self._self_player = PolicyPlayer(self._format)
        self._opponent: Any = None
        self._closes_opponent = False
        self._renew_opponent()
        self._opponent_is_stale = True
        self._games_since_seed = 0
        self._learner = 0
        self._state: State | None = None
        self._over = True

    def set_opponent(self, opponent: Opponent) -> None:
        """Replace the opponent, effective at the next ``reset``. Raises ``ValueError`` if it is invalid."""
        checked = self._resolve(opponent)
        if is_loaded(opponent):
            checked.close()
        self._given_opponent = opponent
        self._opponent_is_stale = True

    def set_policy(self, policy: Policy) -> None:
        """Set the policy of the opponent ``"self"``, effective from its next action.

        Args:
            policy: a function from a batch of observations of this environment and the masks ``bool[batch,
                num_actions]`` to actions ``int[batch]``. Pass a snapshot to play against a past version of the policy.
        """
        self._self_player.policy = policy

    def close(self) -> None:
        """Close the window, if ``render_mode`` is ``"human"``, and an opponent given by name, such as a program."""
        super().close()
        if self._closes_opponent:
            self._opponent.close()
            self._opponent_is_stale = True

    def _renew_opponent(self, seed: int | None = None) -> None:
        opponent = self._resolve(self._given_opponent, seed)
        if self._closes_opponent:
            self._opponent.close()
        self._opponent = opponent
        self._closes_opponent = is_loaded(self._given_opponent)

    def _resolve(self, opponent: Opponent, seed: int | None = None) -> Any:
        return resolve_opponent(opponent, self.game, seed, self._self_player)

    @property
    def learner_player(self) -> int:
        """The learner's seat in the current game, 0 or 1."""
        return self._learner

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Start a game and let the opponent move if it moves first. ``options`` is ignored.

        With a ``seed``, the opponent (if given by name) and the sequence of seats are reseeded. A game that ends before the
        learner can act is replaced by another one.

        Raises:
            BotForfeit: the opponent is an external program and forfeits.
            ValueError: games end again and again before the learner can act.
        """
        super().reset(seed=seed)
        if seed is not None:
            self._games_since_seed = 0
            self._opponent_is_stale = True
        if self._opponent_is_stale:
            self._renew_opponent(int(self.np_random.integers(2**31)))
            self._opponent_is_stale = False
        for _ in range(MAX_RESTARTS):
            state = self._start()
            if not state.is_terminal():
                break
        else:
            self._over = True
            raise ValueError(never_acts(self.game, self.seat))
        if self.render_mode == "human":
            self.render()
        return self._observation(state)

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Apply the learner's action, then the opponent's actions until the learner is to move.

        Args:
            action: index of the action.

        Returns:
            The observation, the learner's reward (0 until the game ends, then 1, -1 or 0), whether the game has ended with a
            result, whether it was truncated, and the info with ``action_mask``, ``int8[num_actions]``.

        Raises:
            BotForfeit: the opponent is an external program and forfeits; call ``reset``.
            IllegalActionError: the action is out of range, or it is illegal and ``illegal_action`` is ``"raise"``;
                or the opponent has chosen an illegal action.
            ResetNeeded: no game is in progress, or the opponent raised an error.
        """
        state = self._state
        if state is None or self._over:
            raise ResetNeeded("step() without a game; call reset() first")
        reward = 0.0
        if state.try_apply_action(action):
            self._let_opponent_act(state)
            if state.is_terminal():
                self._over = True
                reward = state.returns()[self._learner]
        elif self.illegal_action == "raise" or not 0 <= action < self.game.num_actions:
            raise IllegalActionError(state.why_illegal(int(action)))
        else:
            self._over = True
            reward = -1.0
        if self.render_mode == "human":
            self.render()
        observation, info = self._observation(state)
        return observation, reward, self._over and not state.is_truncated(), state.is_truncated(), info

    def _start(self) -> State:
        """Start a game, and return its position when the learner is to move or the game is over."""
        self._opponent.restart()
        if self.seat == "random":
            self._learner = int(self.np_random.integers(2))
        else:
            self._learner = self._games_since_seed % 2 if self.seat == "alternate" else int(self.seat)
        self._games_since_seed += 1
        state = self._state = self.game.new_initial_state()
        self._over = False
        self._let_opponent_act(state)
        return state

    def _let_opponent_act(self, state: State) -> None:
        try:
            while state.current_player() == 1 - self._learner:
                action = self._opponent.step(state.clone())
                try:
                    state.apply_action(action)
                except IllegalActionError as error:
                    message = f"the opponent {self._opponent!r} has played an illegal action: {error}"
                    raise IllegalActionError(message) from error
        except BaseException:  # it is still the opponent's turn, so the learner must not act
            self._over = True
            raise

    def _observation(self, state: State) -> tuple[Any, dict[str, Any]]:
        planes, mask = state.observation_and_mask(self._learner)
        if self._over:
            mask[:] = 0
        mask = self._format.mask_of(mask)
        return self._format.observation(self._format.of(planes), mask), {"action_mask": mask}

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """Return ``bool[num_actions]``: the legal actions of the learner; all False after the end of the game."""
        if self._state is None or self._over:
            return np.zeros(self.game.num_actions, np.bool_)
        return self._state.legal_actions_mask(self._learner).astype(np.bool_)
