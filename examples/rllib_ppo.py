"""Train RLlib's PPO with self-play on the PettingZoo environment; one masked policy plays both agents.

python examples/rllib_ppo.py --frames 160000 --output vadus.onnx
stoneworks match policy:vadus.onnx random --game "vadus(size=4)"
"""

from __future__ import annotations

import argparse

import ray
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module.multi_rl_module import MultiRLModuleSpec
from ray.rllib.core.rl_module.rl_module import RLModuleSpec

from stoneworks.envs.rules import load_game
from stoneworks.evaluation.match import play_match
from stoneworks.integrations.rllib import MaskedModule, make_aec_env, register_environments
from stoneworks.models import load_bot
from stoneworks.models.inference.onnx_export import save_policy


def make_env(game: str) -> object:
    """Create RLlib's multi-agent environment, registered as ``"stoneworks_aec"``."""
    return make_aec_env({"game": game})


def make_config(game: str, seed: int) -> PPOConfig:
    """Return the settings: one network plays both agents, and games and updates run in this process."""
    return (
        PPOConfig()
        .environment("stoneworks_aec", env_config={"game": game}, disable_env_checking=True)
        .env_runners(num_env_runners=0, num_envs_per_env_runner=8, rollout_fragment_length="auto")
        .multi_agent(policies={"learner"}, policy_mapping_fn=lambda agent, episode, **kwargs: "learner")
        .rl_module(
            rl_module_spec=MultiRLModuleSpec(rl_module_specs={"learner": RLModuleSpec(module_class=MaskedModule)})
        )
        .training(
            gamma=1.0,
            lambda_=0.95,
            lr=1e-3,
            entropy_coeff=0.01,
            vf_loss_coeff=0.5,
            grad_clip=0.5,
            train_batch_size_per_learner=4096,
            minibatch_size=512,
            num_epochs=3,
        )
        .debugging(seed=seed, log_level="ERROR")
    )


def main(arguments: list[str] | None = None) -> None:
    """Train a policy, save it, and evaluate it against the bot ``random``."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--game", default="vadus(size=4)")
    parser.add_argument("--frames", type=int, default=160_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--output", default="policy.onnx")
    options = parser.parse_args(arguments)

    ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False)
    register_environments()
    algorithm = make_config(options.game, options.seed).build_algo()
    frames = 0
    while frames < options.frames:
        runners = algorithm.train()["env_runners"]
        frames = int(runners["num_env_steps_sampled_lifetime"])
        print(f"{frames:,} frames", flush=True)

    game = load_game(options.game)
    save_policy(options.output, algorithm.get_module("learner").actor, game, selection="sample")
    algorithm.stop()
    ray.shutdown()
    bots = load_bot(f"policy:{options.output}", game, seed=1), load_bot("random", game, seed=2)
    print(play_match(game, *bots, num_pairs=100, seed=3))


if __name__ == "__main__":
    main()
