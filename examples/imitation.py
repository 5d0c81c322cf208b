"""An example of a third-party training algorithm: a network imitates another bot.

``import imitation`` registers it; a configuration with ``algorithm: imitation`` then trains with it. docs/adding-a-game.md
explains what an algorithm consists of.
"""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import torch
from pydantic import Field
from torch.nn import functional

from stoneworks import load_bot, load_game
from stoneworks.models.architecture import Architecture
from stoneworks.models.checkpoint import save_checkpoint
from stoneworks.models.description import PlaySettings
from stoneworks.models.network import make_network
from stoneworks.training.runs.algorithms import register_algorithm
from stoneworks.training.runs.config_files import RunConfig
from stoneworks.training.runs.hardware import describe_hardware
from stoneworks.training.runs.status import TrainingResult, TrainingStatus
from stoneworks.training.runs.story import RunStory

WIN, DRAW, LOSS = 0, 1, 2
STEPS_PER_GAME, BATCH_SIZE = 8, 64


class ImitationConfig(RunConfig):
    """Configuration of a run that trains on ``games`` self-play games of the bot ``teacher``, in mini-batches."""

    algorithm: str = "imitation"
    games: int = Field(ge=1)
    teacher: str = "mcts:100"
    learning_rate: float = Field(5e-3, gt=0)


def train(config, folder, *, resume=False, report=None, stop=None):
    """Train for ``config.games`` games or until the event ``stop`` is set, then write the checkpoint."""
    if resume:
        raise ValueError("imitation cannot resume a run; start a new one")
    began = time.monotonic()
    game = load_game(config.game)
    teacher = load_bot(config.teacher, game, config.seed)
    torch.manual_seed(config.seed)
    network = make_network(Architecture.of_game(game, kind="win_draw_loss_network", channels=16, blocks=1))
    optimizer = torch.optim.Adam(network.parameters(), config.learning_rate)
    played = play(game, teacher)
    done = 1
    torch.set_num_threads(1)  # more threads are no faster for a network this small
    while done < config.games and not (stop is not None and stop.is_set()):
        played = [torch.cat(pair) for pair in zip(played, play(game, teacher), strict=True)]
        for _ in range(STEPS_PER_GAME):
            chosen = torch.randint(len(played[0]), (BATCH_SIZE,))
            planes, actions, results = (of_all[chosen] for of_all in played)
            logits, outcomes = network.logits_and_value(planes)
            loss = functional.cross_entropy(logits, actions) + functional.cross_entropy(outcomes, results)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        done += 1
        seconds = time.monotonic() - began
        if report is not None:
            report(TrainingStatus(done, config.games, seconds, done / seconds))
    seconds = time.monotonic() - began
    training = {"algorithm": "imitation", "config": config.model_dump(mode="json"), "games": done, "seconds": seconds}
    training |= {"hardware": describe_hardware(), "match_results": []}
    checkpoint = Path(folder) / "checkpoint"
    settings = PlaySettings(deterministic_policy=True)
    save_checkpoint(checkpoint, game=game, network=network, play=settings, training=training)
    return TrainingResult(checkpoint, done, seconds, done / seconds, finished=done == config.games)


def play(game, teacher):
    """Return the observations, actions and results, for the player to move, of a self-play game of the teacher."""
    state = game.new_initial_state()
    teacher.restart()
    planes, actions, players = [], [], []
    while not state.is_terminal():
        planes.append(state.observation_tensor())
        actions.append(teacher.step(state))
        players.append(state.current_player())
        state.apply_action(actions[-1])
    returns = np.array(state.returns())[players]
    results = np.where(returns > 0, WIN, np.where(returns < 0, LOSS, DRAW))
    return torch.from_numpy(np.array(planes)), torch.tensor(actions), torch.from_numpy(results)


STORY = RunStory("Imitation")

register_algorithm("imitation", config=ImitationConfig, train=train, story="imitation:STORY", amount="games")
