"""PPO self-play: a run that trains in a folder, can be stopped at any time, and goes on as if it had not been.

The algorithm is sb3-contrib's MaskablePPO; here are the games it learns from, the opponents, evaluation and checkpoints.
"""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from stoneworks.envs.rules import Game, load_game
from stoneworks.envs.vector import SavedGames, VectorEnv
from stoneworks.extras import require_extra
from stoneworks.integrations.sb3 import SB3VecEnv
from stoneworks.models import load_bot
from stoneworks.models.bots.policy_bot import PolicyBot
from stoneworks.models.checkpoint import (
    METADATA_FILE,
    Checkpoint,
    CheckpointError,
    load_checkpoint,
    load_training_state,
    recover,
    save_checkpoint,
)
from stoneworks.models.network import Architecture, BoardNetwork
from stoneworks.training.arena.match import play_match, summarize
from stoneworks.training.ppo.config import PPOConfig
from stoneworks.training.ppo.opponents import OpponentPool, kind_of_opponent
from stoneworks.training.ppo.sb3_policy import BoardPolicy
from stoneworks.training.runs.config import check_unchanged, config_as_dict
from stoneworks.training.runs.hardware import describe_hardware, torch_threads

with require_extra("train", "training runs"):
    import torch
    from sb3_contrib import MaskablePPO
    from stable_baselines3.common.callbacks import BaseCallback
    from stable_baselines3.common.logger import Logger, configure
    from stable_baselines3.common.utils import set_random_seed
    from torch import Tensor

#: Keys of a configuration that may change when training goes on.
CHANGEABLE = ("frames", "checkpoint_frames", "threads", "evaluation")

#: Games against each kind of opponent whose mean is the score shown while training.
SCORE_WINDOW = 500

# What random numbers are for; each purpose has its own sequence of seeds.
_INITIAL_WEIGHTS, _UPDATE, _EVALUATION = range(3)


@dataclass(frozen=True)
class TrainingStatus:
    """Where a run is.

    Attributes:
        frames: frames trained on.
        total_frames: frames to train on in all.
        frames_per_second: in this session, of playing and learning, without evaluation.
        scores: mean score of the latest training games by kind of opponent; a draw is half a win.
        message: news worth keeping, such as the result of a match; empty mostly.
    """

    frames: int
    total_frames: int
    frames_per_second: float
    scores: Mapping[str, float]
    message: str = ""


@dataclass(frozen=True)
class TrainingResult:
    """How a run, or a part of one, ended.

    Attributes:
        checkpoint: the folder of the checkpoint.
        frames: frames trained on, in all.
        seconds: time taken, in all sessions.
        frames_per_second: in this session, of playing and learning, without evaluation; 0 if nothing was left to do.
        finished: whether all frames have been trained on.
    """

    checkpoint: Path
    frames: int
    seconds: float
    frames_per_second: float
    finished: bool


def train(
    config: PPOConfig,
    folder: str | os.PathLike[str],
    *,
    resume: bool = False,
    report: Callable[[TrainingStatus], None] | None = None,
    stop: threading.Event | None = None,
) -> TrainingResult:
    """Train until ``config.frames``, or until ``stop`` is set.

    Args:
        config: what to train.
        folder: where the run lives: ``checkpoint/`` is its latest checkpoint, ``tensorboard/`` its logs.
        resume: whether to go on from the checkpoint in ``folder``; without one, training starts.
        report: called now and then from within training.
        stop: when set, the update that is going on is finished, a checkpoint is written, and training returns.

    Raises:
        ConfigError: the configuration differs from the one that training began with in more than ``CHANGEABLE``.
        CheckpointError: the checkpoint is damaged or does not fit, or there is one and ``resume`` is False.
        ValueError: ``evaluation.opponents`` has an unknown bot.
    """
    run = _Run(config, Path(folder), resume)
    with torch_threads(config.threads):
        return run.train(report or (lambda status: None), stop or threading.Event())


def make_model(game: Game, config: PPOConfig, env: SB3VecEnv) -> MaskablePPO:
    """Return MaskablePPO with a new network, as ``config`` says."""
    start, end = config.learning_rate, config.final_learning_rate
    return MaskablePPO(
        BoardPolicy,
        env,
        learning_rate=lambda remaining: end + (start - end) * max(remaining, 0.0),
        n_steps=config.steps_per_update,
        batch_size=config.minibatch_size,
        n_epochs=config.epochs,
        gamma=config.discount,
        gae_lambda=config.gae_lambda,
        clip_range=config.clip_range,
        ent_coef=config.entropy_coefficient,
        vf_coef=config.value_coefficient,
        max_grad_norm=config.max_gradient_norm,
        policy_kwargs={
            "architecture": Architecture.of_game(game, channels=config.network.channels, blocks=config.network.blocks)
        },
        seed=_seed(config, _INITIAL_WEIGHTS),
        device="cpu",
    )


class _Run:
    """One session of a run."""

    def __init__(self, config: PPOConfig, folder: Path, resume: bool) -> None:
        self.config = config
        self.folder = folder
        self.checkpoint = folder / "checkpoint"
        recover(self.checkpoint)
        earlier = self._read_earlier(resume)
        self.game = load_game(config.game)
        for name in config.evaluation.opponents:
            load_bot(name, self.game)
        self.games = VectorEnv(config.num_games, self.game)
        self.env = SB3VecEnv(self.games)
        self.model = make_model(self.game, config, self.env)
        self.network: BoardNetwork = self.model.policy.network  # type: ignore[assignment]
        self.pool = OpponentPool(self.game, config.opponents, self.network)
        self.updates = 0
        self.seconds_before = 0.0
        self.evaluations: list[dict[str, Any]] = []
        if earlier is None:
            self.begin_update()
        else:
            self._restore(earlier)

    def begin_update(self) -> None:
        """Start everything random anew, as it is in this update, and exchange the opponents."""
        seeds = np.random.SeedSequence((self.config.seed, _UPDATE, self.updates))
        for_torch, for_games, for_pool = seeds.spawn(3)
        set_random_seed(int(for_torch.generate_state(1)[0]))
        self.games.np_random = np.random.default_rng(for_games)
        self.pool.begin_update(self.updates, for_pool, self.games)

    def train(self, report: Callable[[TrainingStatus], None], stop: threading.Event) -> TrainingResult:
        session = _Session(self, report, stop)
        remaining = self.config.frames - self.model.num_timesteps
        if remaining > 0:
            self.model.set_logger(self._logger())
            self.model.learn(remaining, callback=session, reset_num_timesteps=False)
            if not session.stopped:
                session.update_is_over()
                session.save()
        return TrainingResult(
            self.checkpoint,
            self.model.num_timesteps if not session.stopped else session.frames_when_stopped,
            self.seconds_before + session.seconds(),
            session.frames_per_second(),
            not session.stopped,
        )

    # -- Checkpoints -------------------------------------------------------------------------------------------------

    def save(self, frames: int, seconds: float) -> None:
        """Write the checkpoint."""
        save_checkpoint(
            self.checkpoint,
            game=self.game,
            network=self.network,
            training={
                "algorithm": self.config.algorithm,
                "config": config_as_dict(self.config),
                "frames": frames,
                "updates": self.updates,
                "seconds": round(seconds, 1),
                "hardware": describe_hardware(),
                "evaluations": self.evaluations,
            },
            training_state=self._state(),
        )

    def _state(self) -> dict[str, Tensor]:
        saved = self.games.save_games()
        state = {
            "games/positions": torch.from_numpy(saved.positions),
            "games/seats": torch.from_numpy(saved.seats),
            "games/num_started": torch.from_numpy(saved.num_started),
            "games/opponents": torch.frombuffer(bytearray("\n".join(saved.opponents).encode()), dtype=torch.uint8),
            "games/lengths": torch.from_numpy(self.env.lengths),
        }
        state |= {f"opponents/{name}": tensor for name, tensor in self.pool.state().items()}
        moments = self.model.policy.optimizer.state_dict()["state"]
        for index, (name, _) in enumerate(self.network.named_parameters()):
            state |= {f"optimiser/{name}/{key}": tensor for key, tensor in moments.get(index, {}).items()}
        return state

    def _read_earlier(self, resume: bool) -> Checkpoint | None:
        if not (self.checkpoint / METADATA_FILE).exists():
            return None
        if not resume:
            raise CheckpointError(
                f"{self.checkpoint} is a checkpoint already; go on from it with resume, or choose another folder"
            )
        checkpoint = load_checkpoint(self.checkpoint)
        check_unchanged(checkpoint.training.get("config"), self.config, CHANGEABLE, str(self.checkpoint))
        return checkpoint

    def _restore(self, checkpoint: Checkpoint) -> None:
        state = load_training_state(self.checkpoint)
        training = checkpoint.training
        self.network.load_state_dict(checkpoint.network.state_dict())
        self.model.num_timesteps = training["frames"]
        self.updates = training["updates"]
        self.seconds_before = training["seconds"]
        self.evaluations = list(training["evaluations"])
        self.pool.load_state(_part(state, "opponents"), self.games)
        games = _part(state, "games")
        opponents = bytes(games["opponents"].numpy()).decode().split("\n")
        self.games.restore_games(
            SavedGames(games["positions"].numpy(), games["seats"].numpy(), games["num_started"].numpy(), opponents)
        )
        self.env.keep_games(games["lengths"].numpy())
        optimizer = self.model.policy.optimizer
        description = optimizer.state_dict()
        for index, (name, parameter) in enumerate(self.network.named_parameters()):
            moments = _part(state, f"optimiser/{name}")
            if moments:
                # The optimiser's fused kernel takes moments to lie in memory as their parameter does.
                description["state"][index] = {
                    key: torch.empty_like(parameter).copy_(tensor) if tensor.shape == parameter.shape else tensor
                    for key, tensor in moments.items()
                }
        optimizer.load_state_dict(description)

    def _logger(self) -> Logger:
        return configure(str(self.folder / "tensorboard"), ["tensorboard"])


class _Session(BaseCallback):
    """What happens between updates and after every step of the games."""

    def __init__(self, run: _Run, report: Callable[[TrainingStatus], None], stop: threading.Event) -> None:
        super().__init__()
        self.run = run
        self.report = report
        self.stop = stop
        self.stopped = False
        self.frames_when_stopped = 0
        self._results: dict[str, deque[float]] = {}
        self._began = time.monotonic()
        self._first_frame = run.model.num_timesteps
        self._aside = 0.0
        self._updates_here = 0

    def seconds(self) -> float:
        """Return the time since the session began."""
        return time.monotonic() - self._began

    def frames_per_second(self) -> float:
        """Return the speed of playing and learning, without what is aside: evaluation and checkpoints."""
        seconds = self.seconds() - self._aside
        return (self.run.model.num_timesteps - self._first_frame) / seconds if seconds > 0 else 0.0

    def _on_rollout_start(self) -> None:
        run = self.run
        if self._updates_here:
            self.update_is_over()
        if self.stop.is_set():
            self.save()
            self.stopped = True
            self.frames_when_stopped = run.model.num_timesteps
            return
        run.begin_update()
        self._updates_here += 1

    def _on_step(self) -> bool:
        if self.stopped:
            return False
        for info in self.locals["infos"]:
            if "episode" in info:
                results = self._results.setdefault(kind_of_opponent(info["opponent"]), deque(maxlen=SCORE_WINDOW))
                results.append((1 + info["episode"]["r"]) / 2)
        return True

    def update_is_over(self) -> None:
        """Count, log, evaluate and save what is due."""
        run = self.run
        run.updates += 1
        scores = {kind: float(np.mean(results)) for kind, results in sorted(self._results.items())}
        for kind, score in scores.items():
            run.model.logger.record(f"score/{kind}", score)
        self._report(scores)
        frames, step = run.model.num_timesteps, run.config.frames_per_update
        began = time.monotonic()
        last = frames >= run.config.frames
        if last or frames // run.config.evaluation.frames > (frames - step) // run.config.evaluation.frames:
            self._evaluate(scores)
        if not last and frames // run.config.checkpoint_frames > (frames - step) // run.config.checkpoint_frames:
            self.save()
        self._aside += time.monotonic() - began

    def save(self) -> None:
        """Write the checkpoint."""
        self.run.save(self.run.model.num_timesteps, self.run.seconds_before + self.seconds())

    def _report(self, scores: Mapping[str, float], message: str = "") -> None:
        run = self.run
        self.report(
            TrainingStatus(run.model.num_timesteps, run.config.frames, self.frames_per_second(), scores, message)
        )

    def _evaluate(self, scores: Mapping[str, float]) -> None:
        run, frames = self.run, self.run.model.num_timesteps
        for number, opponent in enumerate(run.config.evaluation.opponents):
            seeds = [_seed(run.config, _EVALUATION, run.updates, number, part) for part in range(3)]
            run.network.eval()
            result = play_match(
                run.game,
                PolicyBot(run.network, run.game, seeds[0], name="learner"),
                load_bot(opponent, run.game, seed=seeds[1]),
                num_pairs=run.config.evaluation.num_pairs,
                opening_actions=run.config.evaluation.opening_actions,
                seed=seeds[2],
            )
            run.evaluations.append({"frames": frames} | summarize(result, opponent))
            run.model.logger.record(f"evaluation/score_{opponent}", result.score)
            self._report(scores, f"after {frames:,} frames: {result}")


def _seed(config: PPOConfig, *purpose: int) -> int:
    return int(np.random.SeedSequence((config.seed, *purpose)).generate_state(1)[0])


def _part(state: Mapping[str, Tensor], name: str) -> dict[str, Tensor]:
    return {key.removeprefix(f"{name}/"): tensor for key, tensor in state.items() if key.startswith(f"{name}/")}
