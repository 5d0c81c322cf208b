"""Single-file PPO in the style of CleanRL: self-play with one network on a vector of games.

python examples/cleanrl_ppo.py --frames 400000 --output vadus.onnx
stoneworks match policy:vadus.onnx random --game "vadus(size=4)"
"""

from __future__ import annotations

import argparse
import time

import torch
from torch import nn

from stoneworks.envs import ObservationFormat
from stoneworks.envs.advantages import self_play_advantages
from stoneworks.envs.rules import load_game
from stoneworks.envs.self_play import SelfPlayVectorEnv
from stoneworks.evaluation.match import play_match
from stoneworks.models import load_bot
from stoneworks.models.inference.onnx_export import save_policy

NUM_ENVS, NUM_STEPS, NUM_EPOCHS, NUM_BATCHES = 64, 64, 3, 8


def make_env(game: str) -> SelfPlayVectorEnv:
    """Create the environment: rows show the perspective of the player to move; rewards are for the player who moved."""
    return SelfPlayVectorEnv(NUM_ENVS, game, observation=ObservationFormat(layout="flat"))


def network(num_inputs: int, num_outputs: int) -> nn.Sequential:
    """Create an MLP with two hidden layers of 128 units."""
    return nn.Sequential(
        nn.Linear(num_inputs, 128), nn.Tanh(), nn.Linear(128, 128), nn.Tanh(), nn.Linear(128, num_outputs)
    )


def main(arguments: list[str] | None = None) -> None:
    """Train a policy, save it, and evaluate it against the bot ``random``."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--game", default="vadus(size=4)")
    parser.add_argument("--frames", type=int, default=400_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--output", default="policy.onnx")
    options = parser.parse_args(arguments)
    torch.manual_seed(options.seed)

    game, env = load_game(options.game), make_env(options.game)
    num_inputs = env.single_observation_space.shape[0]
    actor, critic = network(num_inputs, game.num_actions), network(num_inputs, 1)
    optimizer = torch.optim.Adam([*actor.parameters(), *critic.parameters()], lr=1e-3, eps=1e-5)

    def distribution(observations: torch.Tensor, masks: torch.Tensor) -> torch.distributions.Categorical:
        return torch.distributions.Categorical(
            logits=actor(observations).masked_fill(~masks, -1e9), validate_args=False
        )

    observations = torch.as_tensor(env.reset(seed=options.seed)[0])
    num_updates = max(1, options.frames // (NUM_ENVS * NUM_STEPS))
    began = time.monotonic()
    for update in range(num_updates):
        optimizer.param_groups[0]["lr"] = 1e-3 * (1 - update / num_updates)
        steps = []
        for _ in range(NUM_STEPS):
            masks, players = torch.as_tensor(env.action_masks()), env.players
            with torch.no_grad():
                policy = distribution(observations, masks)
                actions = policy.sample()
                values = critic(observations).squeeze(1)
            following, rewards, terminations, truncations, _ = env.step(actions.numpy())
            ended = terminations | truncations
            steps.append((observations, masks, actions, policy.log_prob(actions), values, rewards, players, ended))
            observations = torch.as_tensor(following)
        *tensors, rewards, players, ended = zip(*steps, strict=True)
        with torch.no_grad():
            next_values = critic(observations).squeeze(1)
        advantages, targets = self_play_advantages(
            rewards, torch.stack(tensors[4]), players, ended, next_values=next_values, next_players=env.players
        )
        old = [torch.stack(tensor).flatten(0, 1) for tensor in tensors[:4]]
        old += [torch.as_tensor(array, dtype=torch.float32).flatten() for array in (advantages, targets)]
        for _ in range(NUM_EPOCHS):
            for rows in torch.randperm(NUM_ENVS * NUM_STEPS).chunk(NUM_BATCHES):
                seen, masks, actions, log_probs, advantage, target = (tensor[rows] for tensor in old)
                advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
                policy = distribution(seen, masks)
                ratio = (policy.log_prob(actions) - log_probs).exp()
                policy_loss = -torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage).mean()
                value_loss = (critic(seen).squeeze(1) - target).square().mean()
                loss = policy_loss + 0.5 * value_loss - 0.01 * policy.entropy().mean()
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_([*actor.parameters(), *critic.parameters()], 0.5)
                optimizer.step()
        if update % 10 == 0 or update == num_updates - 1:
            frames = (update + 1) * NUM_ENVS * NUM_STEPS
            print(f"{frames:,} frames, {frames / (time.monotonic() - began):,.0f} per second", flush=True)

    save_policy(options.output, actor, game, selection="sample")
    bots = load_bot(f"policy:{options.output}", game, seed=1), load_bot("random", game, seed=2)
    print(play_match(game, *bots, num_pairs=100, seed=3))


if __name__ == "__main__":
    main()
