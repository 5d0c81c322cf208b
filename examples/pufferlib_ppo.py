"""Train PufferLib's PPO on its native vector environment, against itself and the bot ``random``.

python examples/pufferlib_ppo.py --frames 200000 --output vadus.onnx
stoneworks match policy:vadus.onnx random --game "vadus(size=4)"
"""

from __future__ import annotations

import argparse
import tempfile
import warnings

import numpy as np
import torch
from pufferlib.pufferl import PuffeRL
from torch import nn

from stoneworks.envs.rules import load_game
from stoneworks.evaluation.match import play_match
from stoneworks.integrations.pufferlib import PufferVectorEnv, split
from stoneworks.models import load_bot
from stoneworks.models.inference.onnx_export import save_policy

NUM_ENVS, HORIZON = 64, 64
CONFIG = {
    "env": "stoneworks",
    "device": "cpu",
    "cpu_offload": False,
    "torch_deterministic": False,
    "compile": False,
    "precision": "float32",
    "use_rnn": False,
    "batch_size": "auto",
    "bptt_horizon": HORIZON,
    "minibatch_size": 512,
    "max_minibatch_size": 512,
    "update_epochs": 3,
    "optimizer": "adam",
    "learning_rate": 1e-3,
    "anneal_lr": True,
    "adam_beta1": 0.9,
    "adam_beta2": 0.999,
    "adam_eps": 1e-5,
    "gamma": 1.0,
    "gae_lambda": 0.95,
    "clip_coef": 0.2,
    "vf_coef": 0.5,
    "vf_clip_coef": 0.2,
    "ent_coef": 0.0,
    "max_grad_norm": 0.5,
    "vtrace_rho_clip": 1.0,
    "vtrace_c_clip": 1.0,
    "prio_alpha": 0.0,
    "prio_beta0": 1.0,
    "checkpoint_interval": 1000,
}


class Policy(nn.Module):
    """Actor and critic (two MLPs) on observations that end with the mask."""

    def __init__(self, num_inputs: int, num_actions: int) -> None:
        super().__init__()
        self.num_actions = num_actions
        self.actor, self.critic = network(num_inputs, num_actions), network(num_inputs, 1)

    def forward(self, observations: torch.Tensor, state: object = None) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the masked logits and the values."""
        planes, masks = split(observations, self.num_actions)
        return self.actor(planes).masked_fill(~masks, -1e9), self.critic(planes)

    forward_eval = forward


def network(num_inputs: int, num_outputs: int) -> nn.Sequential:
    """Create an MLP with two hidden layers of 128 units."""
    return nn.Sequential(
        nn.Linear(num_inputs, 128), nn.Tanh(), nn.Linear(128, 128), nn.Tanh(), nn.Linear(128, num_outputs)
    )


def make_env(game: str, opponent: object = "random") -> PufferVectorEnv:
    """Create the environment: every game is one PufferLib agent."""
    return PufferVectorEnv(NUM_ENVS, game=game, opponent=opponent)


def main(arguments: list[str] | None = None) -> None:
    """Train a policy, save it, and evaluate it against the bot ``random``."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--game", default="vadus(size=4)")
    parser.add_argument("--frames", type=int, default=200_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--output", default="policy.onnx")
    options = parser.parse_args(arguments)
    torch.manual_seed(options.seed)
    torch.set_num_threads(1)

    game, env = load_game(options.game), make_env(options.game, {"self": 1, "random": 1})
    policy = Policy(game.observation_size, game.num_actions)

    def choose(planes: np.ndarray, masks: np.ndarray) -> np.ndarray:
        """Sample actions from the learner's policy, for its use as the opponent."""
        with torch.no_grad():
            logits = policy.actor(torch.as_tensor(planes)).masked_fill(~torch.as_tensor(masks).bool(), -1e9)
        return torch.distributions.Categorical(logits=logits).sample().numpy()

    env.games.set_policy(choose)
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PufferLib asks for CUDA's mixed precision on every machine
        trainer = PuffeRL(
            {
                **CONFIG,
                "seed": options.seed,
                "total_timesteps": max(options.frames, NUM_ENVS * HORIZON),
                "data_dir": folder,
            },
            env,
            policy,
        )
        while trainer.global_step < options.frames:
            trainer.evaluate()
            trainer.train()
        trainer.close()

    save_policy(options.output, policy.actor, game, selection="sample")
    bots = load_bot(f"policy:{options.output}", game, seed=1), load_bot("random", game, seed=2)
    print(play_match(game, *bots, num_pairs=100, seed=3))


if __name__ == "__main__":
    main()
