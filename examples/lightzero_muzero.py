"""Train LightZero's MuZero against the bot ``random``, in its mode against a bot, in which values do not flip.

LightZero writes its logs and checkpoints to ``--folder``. The trained model searches with 10 simulations per action.

python examples/lightzero_muzero.py --frames 6000 --folder lightzero
"""

from __future__ import annotations

import argparse
from typing import Any

import torch
from easydict import EasyDict
from lzero.entry import train_muzero

from stoneworks.envs.rules import State, load_game
from stoneworks.evaluation.match import play_match
from stoneworks.integrations.lightzero import LightZeroEnv
from stoneworks.models import Bot, load_bot

NUM_ENVS = 4


class MuZeroBot(Bot):
    """A bot that searches with a trained LightZero policy."""

    def __init__(self, policy: Any) -> None:
        self._policy = policy

    def step_with_policy(self, state: State) -> tuple[list[tuple[int, float]], int]:
        """Return the action of the most visits."""
        planes, mask = state.observation_and_mask(state.current_player())
        result = self._policy.eval_mode.forward(
            torch.as_tensor(planes)[None], action_mask=[mask], to_play=[-1], ready_env_id=[0], timestep=[0]
        )
        action = int(result[0]["action"])
        return [(action, 1.0)], action


def make_env(game: str) -> LightZeroEnv:
    """Create LightZero's environment."""
    return LightZeroEnv({"game": game})


def make_configs(game: str, folder: str) -> tuple[EasyDict, EasyDict]:
    """Return LightZero's two configurations: of the training, and of what it creates."""
    rules = load_game(game)
    main_config = {
        "exp_name": folder,
        "env": {
            "game": game,
            "opponent": "random",
            "battle_mode": "play_with_bot_mode",
            "collector_env_num": NUM_ENVS,
            "evaluator_env_num": NUM_ENVS,
            "n_evaluator_episode": NUM_ENVS,
            "stop_value": 2,  # never reached
            "manager": {"shared_memory": False},
        },
        "policy": {
            "model": {
                "observation_shape": rules.observation_shape,
                "image_channel": rules.observation_shape[0],
                "action_space_size": rules.num_actions,
                "num_res_blocks": 1,
                "num_channels": 16,
                "reward_head_hidden_channels": [8],
                "value_head_hidden_channels": [8],
                "policy_head_hidden_channels": [8],
                "support_scale": 10,
                "reward_support_size": 21,
                "value_support_size": 21,
                "reward_support_range": (-10.0, 11.0, 1.0),
                "value_support_range": (-10.0, 11.0, 1.0),
            },
            "cuda": False,
            "env_type": "not_board_games",
            "action_type": "varied_action_space",
            "game_segment_length": rules.max_game_length(),  # LightZero fails on games of several segments
            "update_per_collect": 20,
            "batch_size": 64,
            "optim_type": "Adam",
            "piecewise_decay_lr_scheduler": False,
            "learning_rate": 0.003,
            "num_simulations": 10,
            "td_steps": 20,
            "num_unroll_steps": 3,
            "discount_factor": 1,
            "n_episode": NUM_ENVS,
            "eval_freq": 1_000_000,  # only at the start and the end
            "replay_buffer_size": 10_000,
            "collector_env_num": NUM_ENVS,
            "evaluator_env_num": NUM_ENVS,
        },
    }
    create_config = {
        "env": {"type": "stoneworks", "import_names": ["stoneworks.integrations.lightzero"]},
        "env_manager": {"type": "base"},
        "policy": {"type": "muzero", "import_names": ["lzero.policy.muzero"]},
    }
    return EasyDict(main_config), EasyDict(create_config)


def main(arguments: list[str] | None = None) -> None:
    """Train a model, and evaluate it against the bot ``random``."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--game", default="vadus(size=4)")
    parser.add_argument("--frames", type=int, default=6000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", default="lightzero")
    options = parser.parse_args(arguments)
    policy = train_muzero(make_configs(options.game, options.folder), seed=options.seed, max_env_step=options.frames)
    game = load_game(options.game)
    print(play_match(game, MuZeroBot(policy), load_bot("random", game, seed=2), num_pairs=100, seed=3))


if __name__ == "__main__":
    main()
