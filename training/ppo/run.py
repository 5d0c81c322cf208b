"""A PPO self-play run in a folder; a run that was stopped or killed is resumed with the same results as an uninterrupted one.

The algorithm is sb3-contrib's MaskablePPO; this module adds the training environment, the opponents and the checkpoints.
"""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from stoneworks.envs.rules import Game
from stoneworks.envs.vector import SavedGames, VectorEnv
from stoneworks.extras import require_extra
from stoneworks.integrations.sb3 import SB3VecEnv
from stoneworks.models.bots.policy_bot import PolicyBot
from stoneworks.models.checkpoint import Checkpoint, CheckpointError, load_training_state
from stoneworks.models.description import PlaySettings
from stoneworks.models.network import Architecture, BoardNetwork
from stoneworks.reading import check_shape
from stoneworks.training.ppo.config import PPOConfig
from stoneworks.training.ppo.games import NetworkInputsEnv
from stoneworks.training.ppo.opponents import OpponentPool, kind_of_opponent
from stoneworks.training.ppo.sb3_policy import BoardPolicy
from stoneworks.training.runs.initial_network import initial_network
from stoneworks.training.runs.run import Run, train_run
from stoneworks.training.runs.status import Report, TrainingResult, TrainingStatus

with require_extra("train", "training runs"):
    import torch
    from sb3_contrib import MaskablePPO
    from stable_baselines3.common.callbacks import BaseCallback
    from stable_baselines3.common.logger import KVWriter, Logger
    from stable_baselines3.common.utils import set_random_seed
    from torch import Tensor

#: Keys of the configuration that may be changed when a run is resumed.
CHANGEABLE = ("frames", "deterministic_policy", "checkpoint_seconds", "threads", "matches")

#: Number of latest games per kind of opponent over which the displayed training score is averaged.
SCORE_WINDOW = 500

# Purposes of random numbers; each has its own sequence of seeds.
_INITIAL_WEIGHTS, _UPDATE, _EVALUATION = range(3)


@dataclass(frozen=True)
class PPOStatus(TrainingStatus):
    """Status of a run.

    Attributes:
        scores: mean score of the latest training games by kind of opponent; a draw is half a win.
    """

    scores: Mapping[str, float] = field(default_factory=dict)


def train(
    config: PPOConfig,
    folder: str | os.PathLike[str],
    *,
    resume: bool = False,
    report: Report | None = None,
    stop: threading.Event | None = None,
) -> TrainingResult:
    """Train until ``config.frames`` or until ``stop`` is set, in which case the current update is completed first.

    See :func:`stoneworks.training.runs.run.train_run`.
    """
    return train_run(PPORun, config, folder, resume=resume, report=report, stop=stop)


def make_model(game: Game, config: PPOConfig, env: SB3VecEnv) -> MaskablePPO:
    """Return a MaskablePPO model with a new network, configured by ``config``."""
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
        policy_kwargs={"architecture": Architecture.of_game(game, config.network)},
        seed=int(np.random.SeedSequence((config.seed, _INITIAL_WEIGHTS)).generate_state(1)[0]),
        device="cpu",
    )


class PPORun(Run[PPOConfig]):
    """One session of a run."""

    changeable: ClassVar[tuple[str, ...]] = CHANGEABLE
    amount = "frames"

    def __init__(self, config: PPOConfig, folder: Path, resume: bool) -> None:
        super().__init__(config, folder, resume)
        env_class = NetworkInputsEnv if config.network.sees_features else VectorEnv
        self.games = env_class(config.num_games, self.game)
        self.env = SB3VecEnv(self.games)
        self.model = make_model(self.game, config, self.env)
        if self.initial is not None:
            self.network.load_state_dict(initial_network(self.initial, self.network.architecture).state_dict())
        self.pool = OpponentPool(self.game, config.opponents, self.network)
        self.updates = 0
        if self.earlier is None:
            self.begin_update()
        else:
            self._restore(self.earlier)

    @staticmethod
    def opponents(config: PPOConfig) -> Iterable[str]:
        """See :meth:`Run.opponents`."""
        return (*config.matches.opponents, *config.opponents.bots)

    @property
    def done(self) -> int:
        """See :attr:`Run.done`."""
        return self.model.num_timesteps

    @property
    def play(self) -> PlaySettings:
        """See :attr:`Run.play`."""
        return PlaySettings(deterministic_policy=self.config.deterministic_policy)

    @property
    def network(self) -> BoardNetwork:
        """See :attr:`Run.network`."""
        network: BoardNetwork = self.model.policy.network  # type: ignore[assignment]
        return network

    def begin_update(self) -> None:
        """Seed all random number generators for this update and replace the opponents."""
        seeds = np.random.SeedSequence((self.config.seed, _UPDATE, self.updates))
        for_torch, for_games, for_pool = seeds.spawn(3)
        set_random_seed(int(for_torch.generate_state(1)[0]))
        self.games.np_random = np.random.default_rng(for_games)
        self.pool.begin_update(self.updates, for_pool, self.games)

    def train(self, report: Report, stop: threading.Event) -> TrainingResult:
        """See :meth:`Run.train`."""
        session = _Session(self, report, stop)
        if self.matches_due:
            status = PPOStatus(self.done, self.config.frames, self.seconds())
            self.play_scheduled_matches(status, report, stop)
            self.save()
        remaining = self.config.frames - self.done
        if remaining > 0:
            self.model.set_logger(Logger(None, [_Figures(self)]))
            self.model.learn(remaining, callback=session, reset_num_timesteps=False)
            if not session.stopped:
                session.update_is_over()
                self.save()
        return TrainingResult(
            self.checkpoint,
            self.done if not session.stopped else session.frames_when_stopped,
            self.seconds(),
            session.frames_per_second(),
            not session.stopped and not self.matches_due,
        )

    def play_scheduled_matches(self, status: PPOStatus, report: Report, stop: threading.Event) -> None:
        """Play the matches scheduled by ``config.matches``."""
        self.network.eval()
        opponents = self.config.matches.opponents
        pairings = (
            (
                "policy",
                PolicyBot(
                    self.network,
                    self.game,
                    self._match_seed(number, 0),
                    deterministic=self.config.deterministic_policy,
                    name="policy",
                ),
                opponent,
            )
            for number, opponent in enumerate(opponents)
        )
        self.play_matches(
            pairings,
            self.config.matches,
            lambda number: self.seed(_EVALUATION, self.updates, number, 1),
            status,
            report,
            stop,
        )

    def _match_seed(self, number: int, part: int) -> int:
        return int(self.seed(_EVALUATION, self.updates, number, part).generate_state(1)[0])

    def training(self) -> Mapping[str, Any]:
        """See :meth:`Run.training`."""
        return {"updates": self.updates}

    def training_state(self) -> dict[str, Tensor]:
        """See :meth:`Run.training_state`."""
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

    def _restore(self, checkpoint: Checkpoint) -> None:
        """Restore a checkpoint. Raises ``CheckpointError`` if it does not belong to this run."""
        try:
            self._restore_parts(checkpoint)
        except CheckpointError:
            raise
        except (ValueError, KeyError, TypeError, RuntimeError) as error:  # raised by torch for invalid tensors
            raise CheckpointError(f"{self.checkpoint} cannot be continued: {error!r}") from error

    def _restore_parts(self, checkpoint: Checkpoint) -> None:
        state = load_training_state(self.checkpoint)
        training = checkpoint.training
        check_shape(dict(training), {"frames": int, "updates": int}, CheckpointError, str(self.checkpoint))
        self.network.load_state_dict(checkpoint.network.state_dict())
        self.model.num_timesteps = training["frames"]
        self.updates = training["updates"]
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
                # The fused kernel of the optimizer requires moments with the memory format of their parameter.
                description["state"][index] = {
                    key: torch.empty_like(parameter).copy_(tensor) if tensor.shape == parameter.shape else tensor
                    for key, tensor in moments.items()
                }
        optimizer.load_state_dict(description)


class _Figures(KVWriter):
    """Writes what MaskablePPO logs to the metrics of the run."""

    def __init__(self, run: PPORun) -> None:
        self._run = run

    def write(self, key_values: dict[str, Any], key_excluded: dict[str, tuple[str, ...]], step: int = 0) -> None:
        """Write the metrics of an update."""
        figures = {
            name: float(value) for name, value in key_values.items() if isinstance(value, (int, float, np.number))
        }
        self._run.log({"seconds": self._run.seconds(), **figures}, figures, step)

    def close(self) -> None:
        """Do nothing: the run closes its own files."""


class _Session(BaseCallback):
    """Callback between updates and after every step of the environment."""

    def __init__(self, run: PPORun, report: Report, stop: threading.Event) -> None:
        super().__init__()
        self.run = run
        self.report = report
        self.stop = stop
        self.stopped = False
        self.frames_when_stopped = 0
        self._results: dict[str, deque[float]] = {}
        self._began = time.monotonic()
        self._first_frame = run.done
        self._aside = 0.0
        self._updates_here = 0

    def frames_per_second(self) -> float:
        """Return the number of frames per second, without the time of matches and checkpoints."""
        seconds = time.monotonic() - self._began - self._aside
        return (self.run.done - self._first_frame) / seconds if seconds > 0 else 0.0

    def _on_rollout_start(self) -> None:
        run = self.run
        if self._updates_here:
            self.update_is_over()
        if self.stop.is_set():
            run.save()
            self.stopped = True
            self.frames_when_stopped = run.done
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
        """Count the update; log, evaluate and save if due."""
        run = self.run
        run.updates += 1
        scores = {kind: float(np.mean(results)) for kind, results in sorted(self._results.items())}
        for kind, score in scores.items():
            run.model.logger.record(f"score/{kind}", score)
        frames, step, every = run.done, run.config.frames_per_update, run.config.matches.frames
        status = PPOStatus(frames, run.config.frames, run.seconds(), self.frames_per_second(), scores=scores)
        self.report(status)
        began = time.monotonic()
        last = frames >= run.config.frames
        if last or frames // every > (frames - step) // every:
            run.play_scheduled_matches(status, self.report, self.stop)
        if not last and not self.stop.is_set():
            run.save_if_due()
        self._aside += time.monotonic() - began


def _part(state: Mapping[str, Tensor], name: str) -> dict[str, Tensor]:
    return {key.removeprefix(f"{name}/"): tensor for key, tensor in state.items() if key.startswith(f"{name}/")}
