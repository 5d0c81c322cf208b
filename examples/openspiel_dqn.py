"""Train OpenSpiel's DQN on a registered game against random play, with alternating seats.

python examples/openspiel_dqn.py --frames 100000 --output vadus.onnx
stoneworks match policy:vadus.onnx random --game "vadus(size=4)"
"""

from __future__ import annotations

import argparse

import numpy as np
import pyspiel
import torch
from open_spiel.python import rl_environment
from open_spiel.python.algorithms.random_agent import RandomAgent
from open_spiel.python.pytorch.dqn import DQN

from stoneworks.envs.rules import load_game
from stoneworks.evaluation.match import play_match
from stoneworks.integrations.openspiel import register_games
from stoneworks.models import load_bot
from stoneworks.models.inference.onnx_export import save_policy


def make_env(game: str) -> rl_environment.Environment:
    """Create OpenSpiel's environment of a registered game."""
    register_games()
    return rl_environment.Environment(pyspiel.load_game(f"stoneworks_{game}"))


def main(arguments: list[str] | None = None) -> None:
    """Train a policy, save it, and evaluate it against the bot ``random``."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--game", default="vadus(size=4)")
    parser.add_argument("--frames", type=int, default=100000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--output", default="policy.onnx")
    options = parser.parse_args(arguments)
    torch.manual_seed(options.seed)
    torch.set_num_threads(1)

    game = load_game(options.game)
    env = make_env(options.game)
    agent = DQN(
        player_id=0,
        state_representation_size=game.observation_size,
        num_actions=game.num_actions,
        hidden_layers_sizes=[128, 128],
        replay_buffer_capacity=50_000,
        batch_size=128,
        learning_rate=5e-4,
        optimizer_str="adam",
        learn_every=8,
        update_target_network_every=200,
        epsilon_decay_duration=max(1, options.frames // 10),
        epsilon_decay_schedule_str="linear",  # "exp" stops at 0.4: end + (start - end) / e
        epsilon_start=1.0,
        epsilon_end=0.05,
        discount_factor=1.0,
        seed=options.seed,
    )
    np.random.seed(options.seed)  # noqa: NPY002  DQN and RandomAgent draw from it
    opponents = [RandomAgent(player_id=player, num_actions=game.num_actions) for player in (0, 1)]
    frames, episode = 0, 0
    while frames < options.frames:
        seat = episode % 2
        agent.player_id = seat
        step = env.reset()
        while not step.last():
            player = step.observations["current_player"]
            chosen = (agent if player == seat else opponents[player]).step(step)
            frames += player == seat
            step = env.step([chosen.action])
        agent.step(step)
        episode += 1
        if episode % 500 == 0:
            print(f"{frames:,} frames", flush=True)

    save_policy(options.output, agent._q_network.model, game, selection="argmax")
    bots = load_bot(f"policy:{options.output}", game, seed=1), load_bot("random", game, seed=2)
    print(play_match(game, *bots, num_pairs=100, seed=3))


if __name__ == "__main__":
    main()
