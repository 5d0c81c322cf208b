"""Train AgileRL's PPO on the vector environment, against itself and the bot ``random``.

python examples/agilerl_ppo.py --frames 400000 --output vadus.onnx
stoneworks match policy:vadus.onnx random --game "vadus(size=4)"
"""

from __future__ import annotations

import argparse

import numpy as np
import torch
from agilerl.algorithms import PPO
from agilerl.rollouts.on_policy import collect_rollouts
from torch import nn

from stoneworks.envs import ObservationFormat
from stoneworks.envs.rules import load_game
from stoneworks.envs.vector import VectorEnv
from stoneworks.evaluation.match import play_match
from stoneworks.models import load_bot
from stoneworks.models.inference.onnx_export import save_policy

NUM_ENVS, LEARN_STEP = 64, 4096


def make_env(game: str, opponent: object = "random") -> VectorEnv:
    """Create the environment. AgileRL reads the mask from ``info["action_mask"]``."""
    return VectorEnv(NUM_ENVS, game, opponent=opponent, observation=ObservationFormat(layout="flat"))


def chain(network: nn.Module) -> nn.Sequential:
    """Return the layers of an AgileRL actor, from observations to logits."""
    return nn.Sequential(*(module for module in network.modules() if isinstance(module, nn.Sequential)))


def main(arguments: list[str] | None = None) -> None:
    """Train a policy, save it, and evaluate it against the bot ``random``."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--game", default="vadus(size=4)")
    parser.add_argument("--frames", type=int, default=400000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--output", default="policy.onnx")
    options = parser.parse_args(arguments)
    torch.manual_seed(options.seed)
    torch.set_num_threads(1)

    game = load_game(options.game)
    env = make_env(options.game, {"self": 1, "random": 1})
    agent = PPO(
        env.single_observation_space,
        env.single_action_space,
        net_config={
            "encoder_config": {"hidden_size": [128], "activation": "Tanh", "output_activation": "Tanh"},
            "head_config": {"hidden_size": [128], "activation": "Tanh"},
            "latent_dim": 128,
        },
        batch_size=512,
        lr=1e-3,
        learn_step=LEARN_STEP,
        gamma=1.0,
        ent_coef=0.0,
        update_epochs=3,
        num_envs=NUM_ENVS,
        # AgileRL 2.58's GAE reads each step's end from the step after it; its Monte Carlo returns are correct.
        rollout_buffer_config={"use_gae": False},
    )
    env.set_policy(lambda observations, masks: agent.get_action(observations, action_mask=masks.astype(np.int8))[0])
    env.reset(seed=options.seed)
    frames, num_steps = 0, LEARN_STEP // NUM_ENVS
    _, *last = collect_rollouts(agent, env, n_steps=num_steps)
    while frames < options.frames:
        agent.learn()
        frames += LEARN_STEP
        agent.optimizer.optimizer.param_groups[0]["lr"] = 1e-3 * max(0.0, 1 - frames / options.frames)
        names = ("last_obs", "last_done", "last_scores", "last_info")
        _, *last = collect_rollouts(agent, env, n_steps=num_steps, **dict(zip(names, last, strict=True)))
        print(f"{frames:,} frames", flush=True)

    save_policy(options.output, chain(agent.actor), game, selection="sample")
    bots = load_bot(f"policy:{options.output}", game, seed=1), load_bot("random", game, seed=2)
    print(play_match(game, *bots, num_pairs=100, seed=3))


if __name__ == "__main__":
    main()
