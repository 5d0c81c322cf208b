"""LightZero adapter: a DI-engine environment in which the learner plays against a bot.

In self-play mode LightZero's tree searches negate values at every ply, which assumes that players alternate after every action.
This does not hold in Vadus, Taugo, Taigo and Trugo. The environment therefore supports only ``play_with_bot_mode``: with
``to_play`` -1, LightZero plans as for a single agent and the opponent's replies are part of the environment.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from stoneworks.checks import check_choice
from stoneworks.envs.single_agent import SingleAgentEnv
from stoneworks.integrations.missing_library import require

ENV_REGISTRY = require("ding.utils", "LightZero").ENV_REGISTRY
BaseEnv = require("ding.envs", "LightZero").BaseEnv
BaseEnvTimestep = require("ding.envs", "LightZero").BaseEnvTimestep
EasyDict = require("easydict", "easydict").EasyDict

MODES = ("play_with_bot_mode", "eval_mode")


@ENV_REGISTRY.register("stoneworks")
class LightZeroEnv(BaseEnv):  # type: ignore[misc,valid-type]
    """LightZero environment, with ``type="stoneworks"`` and ``import_names=["stoneworks.integrations.lightzero"]``.

    The configuration keys are ``game`` (a game string), ``opponent`` (a bot name) and ``battle_mode``. The learner's seat
    alternates between games. An observation is ``{"observation": float32[planes, height, width], "action_mask":
    int8[num_actions], "board": the same planes, "current_player_index": the learner's seat, "to_play": -1, "timestep": the
    number of the learner's actions so far}``.
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
        """Return a copy of the default configuration."""
        config = EasyDict(copy.deepcopy(dict(cls.config)))
        config.cfg_type = f"{cls.__name__}Dict"
        return config

    def __init__(self, cfg: Mapping[str, Any] | None = None) -> None:
        """Create the environment. Raises ``ValueError`` for an invalid ``battle_mode``, game or opponent."""
        self.cfg = EasyDict({**self.config, **(cfg or {})})
        self.battle_mode = check_choice("battle_mode", self.cfg.battle_mode, MODES)
        self._env = SingleAgentEnv(self.cfg.game, opponent=self.cfg.opponent, illegal_action="raise")
        self._seed: int | None = None
        self._num_actions = 0
        self.game = self._env.game
        self.observation_space = self._env.observation_space
        self.action_space = self._env.action_space
        self.reward_space = spaces.Box(-1, 1, (1,), np.float32)

    def seed(self, seed: int, dynamic_seed: bool = True) -> None:
        """Seed the opponent and the sequence of seats, effective at the next ``reset``."""
        self._seed = seed

    def reset(self, start_player_index: int | None = None, init_state: Any = None, **unused: Any) -> dict[str, Any]:
        """Start a game. If the opponent moves first, its first turn is played.

        Args:
            start_player_index: the learner's seat; None alternates between games.
            init_state: must be None; LightZero passes a value only in self-play mode.
            **unused: ignored; LightZero passes these for other games.

        Raises:
            ValueError: an argument is invalid.
        """
        if init_state is not None:
            raise ValueError(f"init_state must be None, since there is no self-play mode, got {init_state!r}")
        seat = check_choice("start_player_index", start_player_index, (None, 0, 1))
        self._env.seat = "alternate" if seat is None else seat
        planes, info = self._env.reset(seed=self._seed)
        self._seed = None
        self._num_actions = 0
        return self._observation(planes, info["action_mask"])

    def step(self, action: int) -> Any:
        """Apply an action and the opponent's reply.

        Raises:
            IllegalActionError: the action is illegal.
            ResetNeeded: there is no game in progress.
        """
        planes, result, terminated, truncated, info = self._env.step(int(action))
        self._num_actions += 1
        done = terminated or truncated
        reward = np.array(result, np.float32)
        observation = self._observation(planes, info["action_mask"])
        return BaseEnvTimestep(observation, reward, done, {"eval_episode_return": reward} if done else {})

    @property
    def legal_actions(self) -> list[int]:
        """The legal actions of the learner; none before ``reset`` and after the end of a game."""
        actions: list[int] = np.flatnonzero(self._env.action_masks()).tolist()
        return actions

    def random_action(self) -> npt.NDArray[np.int64]:
        """Return a random legal action, ``int64[]``."""
        return np.array(self._env.np_random.choice(self.legal_actions), np.int64)

    def close(self) -> None:
        """Close the opponent, such as a program."""
        self._env.close()

    def __repr__(self) -> str:
        return f"LightZeroEnv({self.game}, opponent={self.cfg.opponent!r})"

    def _observation(self, planes: npt.NDArray[np.float32], mask: npt.NDArray[np.int8]) -> dict[str, Any]:
        return {
            "observation": planes,
            "action_mask": mask,
            "board": planes.copy(),
            "current_player_index": self._env.learner_player,
            "to_play": -1,
            "timestep": self._num_actions,
        }
