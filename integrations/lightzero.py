"""LightZero: one learner against a bot, as an environment of DI-engine's.

LightZero's searches negate values at every ply in self-play, which assumes that players alternate at every action. They do not
in Vadus, Taugo and Trugo, so this environment has the mode ``play_with_bot_mode`` alone: with ``to_play`` -1 LightZero plans as
for a single agent, and the opponent's answers belong to the environment.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from stoneworks.envs.rules import IllegalActionError, State, load_game
from stoneworks.integrations.missing_library import require

ENV_REGISTRY = require("ding.utils", "LightZero").ENV_REGISTRY
BaseEnv = require("ding.envs", "LightZero").BaseEnv
BaseEnvTimestep = require("ding.envs", "LightZero").BaseEnvTimestep
EasyDict = require("easydict", "easydict").EasyDict

MODES = ("play_with_bot_mode", "eval_mode")


@ENV_REGISTRY.register("stoneworks")
class LightZeroEnv(BaseEnv):  # type: ignore[misc,valid-type]
    """A game against a bot. ``type="stoneworks"``, ``import_names=["stoneworks.integrations.lightzero"]``.

    The configuration has ``game`` (a game string), ``opponent`` (a bot's name) and ``battle_mode``. The learner plays both seats
    by turns. An observation is ``{"observation": float32[planes, height, width], "action_mask": int8[num_actions],
    "board": the same planes, "current_player_index": the seat, "to_play": -1}``.
    """

    config: Mapping[str, Any] = {
        "env_id": "stoneworks",
        "game": "vadus(size=4)",
        "opponent": "random",
        "battle_mode": "play_with_bot_mode",
        "channel_last": False,
    }

    @classmethod
    def default_config(cls) -> Any:
        """Return a copy of the configuration."""
        config = EasyDict(copy.deepcopy(dict(cls.config)))
        config.cfg_type = f"{cls.__name__}Dict"
        return config

    def __init__(self, cfg: Mapping[str, Any] | None = None) -> None:
        """Raises ``ValueError`` for a ``battle_mode`` that cannot be right, or an unknown game or opponent."""
        from stoneworks.models import load_bot

        self.cfg = EasyDict({**self.config, **(cfg or {})})
        if self.cfg.battle_mode not in MODES:
            raise ValueError(f"battle_mode must be one of {', '.join(MODES)}, got {self.cfg.battle_mode!r}")
        self.battle_mode = self.cfg.battle_mode
        self.game = load_game(self.cfg.game)
        self._load_bot = load_bot
        self._bot = load_bot(self.cfg.opponent, self.game)
        self._seed = 0
        self._num_started = 0
        self._state: State = self.game.new_initial_state()
        self._seat = 0
        self.observation_space = spaces.Box(0, 1, self.game.observation_shape, np.float32)
        self.action_space = spaces.Discrete(self.game.num_actions)
        self.reward_space = spaces.Box(-1, 1, (1,), np.float32)

    def seed(self, seed: int, dynamic_seed: bool = True) -> None:
        """Seed the opponent."""
        self._seed = seed
        self._bot = self._load_bot(self.cfg.opponent, self.game, seed=seed)

    def reset(self, start_player_index: int | None = None, init_state: Any = None, **unused: Any) -> dict[str, Any]:
        """Start a game and let the opponent move where it moves first.

        Args:
            start_player_index: the learner's seat; None takes both by turns.
            init_state: None; LightZero passes it in self-play alone.
            **unused: arguments that LightZero passes for other games.
        """
        if init_state is not None:
            raise ValueError("init_state must be None: there is no self-play mode")
        self._seat = self._num_started % 2 if start_player_index is None else int(start_player_index)
        self._num_started += 1
        self._state = self.game.new_initial_state()
        self._bot.restart()
        self._let_opponent_act()
        return self._observation()

    def step(self, action: int) -> Any:
        """Play an action and what the opponent answers. Raises ``IllegalActionError`` for an illegal one."""
        if not self._state.try_apply_action(int(action)):
            raise IllegalActionError(self._state.why_illegal(int(action)))
        self._let_opponent_act()
        done = self._state.is_terminal()
        reward = np.array(self._state.returns()[self._seat], np.float32)
        return BaseEnvTimestep(self._observation(), reward, done, {"eval_episode_return": reward} if done else {})

    @property
    def legal_actions(self) -> list[int]:
        """The legal actions of the learner."""
        return self._state.legal_actions(self._seat)

    def random_action(self) -> npt.NDArray[np.int64]:
        """Return a random legal action."""
        return np.array(np.random.default_rng().choice(self.legal_actions), np.int64)

    def close(self) -> None:
        """Do nothing: the environment holds nothing."""

    def __repr__(self) -> str:
        return f"LightZeroEnv({self.game}, opponent={self.cfg.opponent!r})"

    def _let_opponent_act(self) -> None:
        while self._state.current_player() == 1 - self._seat:
            self._state.apply_action(self._bot.step(self._state.clone()))

    def _observation(self) -> dict[str, Any]:
        planes, mask = self._state.observation_and_mask(self._seat)
        return {
            "observation": planes,
            "action_mask": mask,
            "board": planes.copy(),
            "current_player_index": self._seat,
            "to_play": -1,
        }
