"""PPO frames per second of CPU time, including updates: stoneworks and a common Stable-Baselines3 setup.

The common setup is ``MaskablePPO`` with its default settings on PettingZoo's connect four. Each is measured in a separate
process, because torch sets its number of threads at import. As a module, ``python -m benchmarks.speed.ppo ours``
prints the result.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
import warnings
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt

from benchmarks.speed.workload import Measured

OURS_FRAMES = 100_000
USUAL_FRAMES = 8_192


def ours() -> float:
    """Train as ``vadus-5-ppo`` does, without matches, and return frames per second of CPU time."""
    from stoneworks.training.ppo.config import PPOConfig
    from stoneworks.training.runs.config_files import load_config
    from stoneworks.training.runs.run import train_run

    config = load_config("vadus-5-ppo")
    assert isinstance(config, PPOConfig)
    never = 10**9
    # One thread: two threads on one core would wait for each other, which counts as CPU time.
    config = config.replace(threads=1, frames=OURS_FRAMES, matches=config.matches.replace(frames=never, opponents=()))
    with tempfile.TemporaryDirectory() as folder:
        train_run(config.replace(frames=1), f"{folder}/first")  # loads the kernels
        start = time.process_time()
        frames = train_run(config, f"{folder}/measured").done
        return frames / (time.process_time() - start)


class BothSidesEnv(gymnasium.Env[npt.NDArray[Any], int]):
    """A PettingZoo environment with one learner for both sides, as in PettingZoo's tutorial for SB3."""

    def __init__(self, games: Any) -> None:
        self._games = games
        self._games.reset()
        self.observation_space = self._games.observation_space("player_0")["observation"]
        self.action_space = self._games.action_space("player_0")

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[npt.NDArray[Any], dict[str, Any]]:
        """Start a game."""
        self._games.reset(seed=seed)
        return self._games.observe(self._games.agent_selection)["observation"], {}

    def step(self, action: int) -> tuple[npt.NDArray[Any], float, bool, bool, dict[str, Any]]:
        """Play an action; the reward is that of its player, the observation that of the next player to move."""
        mover = self._games.agent_selection
        self._games.step(int(action))
        observation, _, termination, truncation, info = self._games.last()
        return observation["observation"], self._games.rewards[mover], termination, truncation, info

    def action_masks(self) -> npt.NDArray[np.int8]:
        """Return the action mask of the player to move."""
        return self._games.observe(self._games.agent_selection)["action_mask"]


def connect_four() -> Any:
    """Return PettingZoo's environment of connect four."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        from pettingzoo.classic import connect_four_v3
    return connect_four_v3.env()


def usual() -> float:
    """Train MaskablePPO with its default settings on one environment, and return frames per second of CPU time."""
    from sb3_contrib import MaskablePPO

    model = MaskablePPO("MlpPolicy", BothSidesEnv(connect_four()), seed=0)
    start = time.process_time()
    model.learn(USUAL_FRAMES)
    return USUAL_FRAMES / (time.process_time() - start)


class PPOFrames(Measured):
    """PPO frames, measured in a separate process; the duration follows from the number of frames."""

    def __init__(self, which: str) -> None:
        names = {"ours": "stoneworks PPO, vadus-5-ppo", "usual": "MaskablePPO, PettingZoo connect_four_v3"}
        requires = {"ours": ("torch",), "usual": ("sb3_contrib", "pygame")}
        super().__init__(names[which], requires=requires[which])
        self._which = which

    def measure(self, seconds: float) -> None:
        """See :meth:`Measured.measure`."""
        self.rates_per_second.append(measured_in_a_process(self._which))


def measured_in_a_process(which: str) -> float:
    """Return the frames per second of ``"ours"`` or ``"usual"``, measured in a separate process."""
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.speed.ppo", which]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise OSError(f"measuring PPO ({which}) failed: {done.stderr.strip().splitlines()[-1:]}")
    return float(done.stdout.split()[-1])


if __name__ == "__main__":
    print({"ours": ours, "usual": usual}[sys.argv[1]]())
