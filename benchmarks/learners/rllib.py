"""RLlib's PPO with self-play on the PettingZoo environment: the settings of ``examples/rllib_ppo.py``."""

from __future__ import annotations

import runpy
from pathlib import Path

import ray
import torch

from benchmarks.learners import Clock, Learner
from stoneworks.envs.rules import Game
from stoneworks.integrations.rllib import register_environments
from stoneworks.models.inference.onnx_export import save_policy

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "rllib_ppo.py"


class RLlibPPO(Learner):
    """PPO, with games and updates in this process. A resumed run has its networks, but begins with a new optimizer."""

    def __init__(self, game: Game, seed: int, folder: Path, clock: Clock) -> None:
        super().__init__(game, seed, folder, clock)
        ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False, ignore_reinit_error=True)
        register_environments()
        config = runpy.run_path(str(EXAMPLE))["make_config"](str(game), seed)
        names = "train_batch_size_per_learner minibatch_size num_epochs lr gamma lambda_ entropy_coeff vf_loss_coeff grad_clip"
        self.configuration = {name: getattr(config, name) for name in names.split()}
        self.algorithm = config.build_algo()
        self.saved = folder / "networks.pt"
        if self.saved.exists():
            self.algorithm.set_weights({"learner": torch.load(self.saved, weights_only=True)})

    def iterate(self) -> None:
        """See :meth:`Learner.iterate`."""
        runners = self.algorithm.train()["env_runners"]
        self.steps = int(runners["num_env_steps_sampled_lifetime"])

    def save(self) -> str:
        """See :meth:`Learner.save`."""
        module = self.algorithm.get_module("learner")
        torch.save(module.state_dict(), self.saved)
        file = self.folder / "policy.onnx"
        save_policy(file, module.actor, self.game, selection="sample")
        return f"policy:{file}"
