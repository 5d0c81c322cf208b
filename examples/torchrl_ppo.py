"""Train TorchRL's PPO on the vector environment, against itself and the bot ``random``.

python examples/torchrl_ppo.py --frames 250000 --output vadus.onnx
stoneworks match policy:vadus.onnx random --game "vadus(size=4)"
"""

from __future__ import annotations

import argparse

import torch
from tensordict.nn import ProbabilisticTensorDictModule, ProbabilisticTensorDictSequential, TensorDictModule
from torch import nn
from torchrl.collectors import Collector
from torchrl.envs import GymWrapper
from torchrl.modules import MaskedCategorical, ValueOperator
from torchrl.objectives import ClipPPOLoss
from torchrl.objectives.value import GAE

from stoneworks.envs import ObservationFormat
from stoneworks.envs.rules import load_game
from stoneworks.envs.vector import VectorEnv
from stoneworks.evaluation.match import play_match
from stoneworks.models import load_bot
from stoneworks.models.inference.onnx_export import save_policy

NUM_ENVS, FRAMES_PER_BATCH, NUM_EPOCHS, BATCH_SIZE = 64, 4096, 3, 512


def make_env(game: str, opponent: object = "random") -> GymWrapper:
    """Create TorchRL's environment. TorchRL resets finished games itself (``DISABLED``) and needs boolean masks."""
    games = VectorEnv(
        NUM_ENVS,
        game,
        opponent=opponent,
        observation=ObservationFormat(layout="flat", with_mask=True, mask_dtype="bool"),
        autoreset_mode="DISABLED",
    )
    return GymWrapper(games, categorical_action_encoding=True)


def network(num_inputs: int, num_outputs: int) -> nn.Sequential:
    """Create an MLP with two hidden layers of 128 units."""
    return nn.Sequential(
        nn.Linear(num_inputs, 128), nn.Tanh(), nn.Linear(128, 128), nn.Tanh(), nn.Linear(128, num_outputs)
    )


def main(arguments: list[str] | None = None) -> None:
    """Train a policy, save it, and evaluate it against the bot ``random``."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--game", default="vadus(size=4)")
    parser.add_argument("--frames", type=int, default=250000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--output", default="policy.onnx")
    options = parser.parse_args(arguments)
    torch.manual_seed(options.seed)
    torch.set_num_threads(1)

    game = load_game(options.game)
    num_inputs = game.observation_size
    layers = network(num_inputs, game.num_actions)
    actor = ProbabilisticTensorDictSequential(
        TensorDictModule(layers, in_keys=["observation"], out_keys=["logits"]),
        ProbabilisticTensorDictModule(
            in_keys={"logits": "logits", "mask": "action_mask"},
            out_keys=["action"],
            distribution_class=MaskedCategorical,
            return_log_prob=True,
        ),
    )
    critic = ValueOperator(network(num_inputs, 1), in_keys=["observation"])

    def choose(observations: dict, masks: object) -> object:
        """Sample actions from the learner's policy, for its use as the opponent."""
        with torch.no_grad():
            logits = layers(torch.as_tensor(observations["observation"]))
        return MaskedCategorical(logits=logits, mask=torch.as_tensor(masks)).sample().numpy()

    env = make_env(options.game, {"self": 1, "random": 1})
    env.unwrapped.set_policy(choose)
    env.set_seed(options.seed)
    loss_module = ClipPPOLoss(actor, critic, entropy_coeff=0.01, critic_coeff=0.5, normalize_advantage=True)
    advantage = GAE(gamma=1.0, lmbda=0.95, value_network=critic)
    optimizer = torch.optim.Adam(loss_module.parameters(), lr=1e-3)
    frames = 0
    for batch in Collector(env, actor, frames_per_batch=FRAMES_PER_BATCH, total_frames=options.frames):
        with torch.no_grad():
            advantage(batch)
        flat = batch.reshape(-1)
        for _ in range(NUM_EPOCHS):
            for rows in torch.randperm(len(flat)).split(BATCH_SIZE):
                losses = loss_module(flat[rows])
                loss = losses["loss_objective"] + losses["loss_critic"] + losses["loss_entropy"]
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(loss_module.parameters(), 0.5)
                optimizer.step()
        frames += len(flat)
        print(f"{frames:,} frames", flush=True)

    save_policy(options.output, layers, game, selection="sample")
    bots = load_bot(f"policy:{options.output}", game, seed=1), load_bot("random", game, seed=2)
    print(play_match(game, *bots, num_pairs=100, seed=3))


if __name__ == "__main__":
    main()
