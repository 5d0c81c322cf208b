"""Train with REINFORCE in a loop over PettingZoo's AEC API; one policy plays both agents.

python examples/pettingzoo_aec.py --games 6000 --output vadus.onnx
stoneworks match policy:vadus.onnx random --game "vadus(size=4)"
"""

from __future__ import annotations

import argparse
import time

import numpy as np
import torch
from pettingzoo import AECEnv
from torch import nn

from stoneworks.envs import ObservationFormat
from stoneworks.envs.aec import BoardGameEnv
from stoneworks.envs.rules import load_game
from stoneworks.evaluation.match import play_match
from stoneworks.models import load_bot
from stoneworks.models.inference.onnx_export import save_policy

GAMES_PER_UPDATE = 64


def make_env(game: str) -> AECEnv:
    """Create the environment; ``vadus_v0.env(size=4)`` is equivalent."""
    return BoardGameEnv(game, observation=ObservationFormat(layout="flat"))


def play_game(env: AECEnv, network: nn.Module) -> list[tuple[np.ndarray, np.ndarray, int, float]]:
    """Return the observations, masks and actions of a game, and for each action the final reward of its agent."""
    env.reset()
    steps, rewards = [], dict.fromkeys(env.agents, 0.0)
    for agent in env.agent_iter():  # an agent may act several times in a row
        observation, reward, termination, truncation, _ = env.last()
        rewards[agent] += reward
        if termination or truncation:
            env.step(None)
            continue
        with torch.no_grad():
            logits = network(torch.from_numpy(observation["observation"]))
        mask = torch.from_numpy(observation["action_mask"]).bool()
        action = int(torch.distributions.Categorical(logits=logits.masked_fill(~mask, -1e9)).sample())
        steps.append((agent, observation, action))
        env.step(action)
    return [(seen["observation"], seen["action_mask"], action, rewards[agent]) for agent, seen, action in steps]


def main(arguments: list[str] | None = None) -> None:
    """Train a policy, save it, and evaluate it against the bot ``random``."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--game", default="vadus(size=4)")
    parser.add_argument("--games", type=int, default=6000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--output", default="policy.onnx")
    options = parser.parse_args(arguments)
    torch.manual_seed(options.seed)
    torch.set_num_threads(1)

    game, env = load_game(options.game), make_env(options.game)
    network = nn.Sequential(
        nn.Linear(game.observation_size, 128),
        nn.ReLU(),
        nn.Linear(128, 128),
        nn.ReLU(),
        nn.Linear(128, game.num_actions),
    )
    optimizer = torch.optim.Adam(network.parameters(), lr=2e-3)
    num_updates, frames, began = max(1, options.games // GAMES_PER_UPDATE), 0, time.monotonic()
    for update in range(num_updates):
        steps = [step for _ in range(GAMES_PER_UPDATE) for step in play_game(env, network)]
        frames += len(steps)
        observations, masks, actions, rewards = (
            torch.as_tensor(np.array(column)) for column in zip(*steps, strict=True)
        )
        logits = network(observations).masked_fill(masks == 0, -1e9)
        policy = torch.distributions.Categorical(logits=logits)
        loss = -(policy.log_prob(actions) * rewards.float()).mean() - 0.01 * policy.entropy().mean()  # REINFORCE
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if update % 10 == 0 or update == num_updates - 1:
            print(f"{frames:,} frames, {frames / (time.monotonic() - began):,.0f} per second", flush=True)

    save_policy(options.output, network, game, selection="sample")
    bots = load_bot(f"policy:{options.output}", game, seed=1), load_bot("random", game, seed=2)
    print(play_match(game, *bots, num_pairs=100, seed=3))


if __name__ == "__main__":
    main()
