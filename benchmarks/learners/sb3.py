"""MaskablePPO of sb3-contrib: as in PettingZoo's tutorial, and on a vector of games with advantages for self-play."""

from __future__ import annotations

from abc import abstractmethod
from pathlib import Path
from typing import Any

import torch
from sb3_contrib import MaskablePPO

from benchmarks.learners import Clock, Learner
from benchmarks.speed.ppo import BothSidesEnv
from stoneworks.envs import BoardGameEnv, ObservationFormat, SelfPlayVectorEnv
from stoneworks.envs.rules import Game
from stoneworks.integrations.sb3 import SB3VecEnv, SelfPlayMaskablePPO
from stoneworks.models.inference.onnx_export import save_policy


class SB3(Learner):
    """A model of Stable-Baselines3 with ``MlpPolicy``. A resumed run begins with new games."""

    def __init__(self, game: Game, seed: int, folder: Path, clock: Clock) -> None:
        super().__init__(game, seed, folder, clock)
        self.model = self.make_model()
        names = ("n_steps", "n_envs", "batch_size", "n_epochs", "gamma", "gae_lambda", "ent_coef")
        self.configuration = {name: getattr(self.model, name) for name in names}
        self.saved = folder / "model.zip"
        if self.saved.exists():
            self.model.set_parameters(str(self.saved), device="cpu")

    @abstractmethod
    def make_model(self) -> MaskablePPO:
        """Return the model."""

    def iterate(self) -> None:
        """See :meth:`Learner.iterate`."""
        number = self.model.n_steps * self.model.n_envs
        self.model.learn(number, reset_num_timesteps=False)  # one update
        self.steps += number

    def save(self) -> str:
        """See :meth:`Learner.save`."""
        self.model.save(self.saved)
        policy: Any = self.model.policy
        layers = torch.nn.Sequential(torch.nn.Flatten(), policy.mlp_extractor.policy_net, policy.action_net)
        save_policy(self.folder / "policy.onnx", layers, self.game, selection="sample")
        return f"policy:{self.folder / 'policy.onnx'}"


class Usual(SB3):
    """Default settings on one PettingZoo environment, one learner for both sides: PettingZoo's tutorial for SB3."""

    def make_model(self) -> MaskablePPO:
        """See :meth:`SB3.make_model`."""
        return MaskablePPO("MlpPolicy", BothSidesEnv(BoardGameEnv(str(self.game))), seed=self.seed, device="cpu")


class Vector(SB3):
    """64 games at once: the settings of ``examples/sb3_vector.py``."""

    def make_model(self) -> MaskablePPO:
        """See :meth:`SB3.make_model`."""
        games = SelfPlayVectorEnv(64, self.game, observation=ObservationFormat(layout="flat"))
        return SelfPlayMaskablePPO(
            "MlpPolicy",
            SB3VecEnv(games),
            n_steps=64,
            batch_size=512,
            n_epochs=3,
            learning_rate=lambda remaining: 1e-3 * (1 - self.clock.progress()),
            gamma=1.0,
            ent_coef=0.01,
            policy_kwargs={"net_arch": [128, 128]},
            seed=self.seed,
            device="cpu",
        )
