"""Train Tianshou's PPO with action masking on the Gymnasium environment, against the bot ``random``.

python examples/tianshou_ppo.py --frames 200000 --output vadus.onnx
stoneworks match policy:vadus.onnx random --game "vadus(size=4)"
"""

from __future__ import annotations

import argparse

import torch
from tianshou.algorithm import PPO
from tianshou.algorithm.modelfree.reinforce import ProbabilisticActorPolicy
from tianshou.algorithm.optim import AdamOptimizerFactory, LRSchedulerFactoryLinear
from tianshou.data import Collector, VectorReplayBuffer
from tianshou.env import DummyVectorEnv
from tianshou.trainer import OnPolicyTrainerParams
from torch import nn

from stoneworks.envs.rules import load_game
from stoneworks.evaluation.match import play_match
from stoneworks.integrations.tianshou import Critic, MaskedActor, make_env as make_tianshou_env
from stoneworks.models import load_bot
from stoneworks.models.inference.onnx_export import save_policy

NUM_ENVS = 32


def make_env(game: str) -> object:
    """Create an environment with the opponent ``random``; observations are ``{"obs": ..., "mask": ...}``."""
    return make_tianshou_env(game, opponent="random")


def network(num_inputs: int, num_outputs: int) -> nn.Sequential:
    """Create an MLP with two hidden layers of 128 units."""
    return nn.Sequential(
        nn.Linear(num_inputs, 128), nn.Tanh(), nn.Linear(128, 128), nn.Tanh(), nn.Linear(128, num_outputs)
    )


def main(arguments: list[str] | None = None) -> None:
    """Train a policy, save it, and evaluate it against the bot ``random``."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--game", default="vadus(size=4)")
    parser.add_argument("--frames", type=int, default=200000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--output", default="policy.onnx")
    options = parser.parse_args(arguments)
    torch.manual_seed(options.seed)
    torch.set_num_threads(1)

    game = load_game(options.game)
    envs = DummyVectorEnv([lambda: make_env(options.game) for _ in range(NUM_ENVS)])
    envs.seed(options.seed)
    num_inputs = game.observation_size
    actor = network(num_inputs, game.num_actions)
    policy = ProbabilisticActorPolicy(
        actor=MaskedActor(actor),
        dist_fn=lambda logits: torch.distributions.Categorical(logits=logits),
        action_space=make_env(options.game).action_space,
        action_scaling=False,
        action_bound_method=None,
    )
    frames_per_epoch = min(4096 * 5, options.frames)
    num_epochs = max(1, options.frames // frames_per_epoch)
    frames_per_update = min(4096, frames_per_epoch)
    optimizer = AdamOptimizerFactory(lr=1e-3, eps=1e-5)
    optimizer.with_lr_scheduler_factory(LRSchedulerFactoryLinear(num_epochs, frames_per_epoch, frames_per_update))
    algorithm = PPO(
        policy=policy,
        critic=Critic(network(num_inputs, 1)),
        optim=optimizer,
        gamma=1.0,
        ent_coef=0.0,
        max_grad_norm=0.5,
        max_batchsize=4096,
    )
    collector = Collector(algorithm, envs, VectorReplayBuffer(4096 + NUM_ENVS, NUM_ENVS))
    algorithm.run_training(
        OnPolicyTrainerParams(
            training_collector=collector,
            max_epochs=num_epochs,
            epoch_num_steps=frames_per_epoch,
            collection_step_num_env_steps=frames_per_update,
            batch_size=512,
            update_step_num_repetitions=6,
            show_progress=False,
        )
    )

    save_policy(options.output, actor, game, selection="sample")
    bots = load_bot(f"policy:{options.output}", game, seed=1), load_bot("random", game, seed=2)
    print(play_match(game, *bots, num_pairs=100, seed=3))


if __name__ == "__main__":
    main()
