"""Train sb3-contrib's MaskablePPO on one Gymnasium environment, against the bot ``random``.

python examples/sb3_single.py --frames 120000 --output vadus.onnx
stoneworks match policy:vadus.onnx random --game "vadus(size=4)"
"""

from __future__ import annotations

import argparse

import gymnasium
import torch
from sb3_contrib import MaskablePPO

from stoneworks.envs import ObservationFormat
from stoneworks.envs.rules import load_game
from stoneworks.envs.single_agent import SingleAgentEnv
from stoneworks.evaluation.match import play_match
from stoneworks.models import load_bot
from stoneworks.models.inference.onnx_export import save_policy


def make_env(game: str) -> gymnasium.Env:
    """Create an environment with the opponent ``random``. MaskablePPO calls its method ``action_masks``."""
    return SingleAgentEnv(game, opponent="random", observation=ObservationFormat(layout="flat"))


def main(arguments: list[str] | None = None) -> None:
    """Train a policy, save it, and evaluate it against the bot ``random``."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--game", default="vadus(size=4)")
    parser.add_argument("--frames", type=int, default=120_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--output", default="policy.onnx")
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)

    game = load_game(options.game)
    model = MaskablePPO(
        "MlpPolicy",
        make_env(options.game),
        n_steps=2048,
        batch_size=512,
        n_epochs=6,
        learning_rate=lambda remaining: 1e-3 * remaining,
        gamma=1.0,
        policy_kwargs={"net_arch": [128, 128]},
        seed=options.seed,
        verbose=1,
    )
    model.learn(options.frames)

    layers = torch.nn.Sequential(model.policy.mlp_extractor.policy_net, model.policy.action_net)
    save_policy(options.output, layers, game, selection="sample")
    bots = load_bot(f"policy:{options.output}", game, seed=1), load_bot("random", game, seed=2)
    print(play_match(game, *bots, num_pairs=100, seed=3))


if __name__ == "__main__":
    main()
