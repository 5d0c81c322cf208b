"""PPO self-play by sb3-contrib's MaskablePPO, with opponents.

A resumed run goes on with the learner, the past policies and the metrics; its games start anew.

| in `metrics.jsonl` | meaning |
|---|---|
| `score/latest`, `score/past`, `score/random`, `score/greedy` | mean score of the last training games by kind of opponent |
| `matches/policy_<bot>` | score of the last match against a bot |
| `frames_per_second` | speed of the update, games and training |
| `train/...` | as in Stable-Baselines3 |
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from stoneworks.checks import check_integer
from stoneworks.envs.vector import VectorEnv
from stoneworks.extras import require_extra
from stoneworks.integrations.sb3 import SB3VecEnv
from stoneworks.models.bots.policy_bot import PolicyBot
from stoneworks.models.checkpoint import Checkpoint
from stoneworks.models.description import PlaySettings
from stoneworks.models.network import BoardNetwork
from stoneworks.text import percent
from stoneworks.training.ppo.config import PPOConfig
from stoneworks.training.ppo.games import NetworkInputsEnv
from stoneworks.training.ppo.opponents import OpponentPool, kind_of_opponent
from stoneworks.training.ppo.sb3_policy import BoardPolicy
from stoneworks.training.runs.algorithms import Algorithm, Row, TrainingMatch
from stoneworks.training.runs.hardware import find_device
from stoneworks.training.runs.schedule import value_at

with require_extra("train", "training runs"):
    import torch
    from sb3_contrib import MaskablePPO
    from stable_baselines3.common.logger import Logger
    from stable_baselines3.common.utils import set_random_seed
    from torch import Tensor

#: Number of latest games per kind of opponent over which the displayed training score is averaged.
SCORE_WINDOW = 500

# Purposes of random numbers; each has its own sequence of seeds.
_INITIAL_WEIGHTS, _UPDATE, _EVALUATION, _BOTS = range(4)


class PPO(Algorithm[PPOConfig]):
    """Trains against a pool of opponents. An iteration is an update, which is always completed.

    As usual in Stable-Baselines3, the value of the last observation replaces the rest of the return of a truncated game.

    Attributes:
        model: the MaskablePPO model.
        games: the training games.
        pool: the opponents.
        updates: number of completed updates.
    """

    def __init__(self, config: PPOConfig, network: BoardNetwork, folder: Path) -> None:
        """See :class:`Algorithm`."""
        super().__init__(config, network, folder)
        env_class = NetworkInputsEnv if config.network.sees_features else VectorEnv
        self.games = env_class(config.num_games, self.game)
        self.env = SB3VecEnv(self.games)
        self.model = MaskablePPO(
            BoardPolicy,
            self.env,
            learning_rate=self._learning_rate,
            n_steps=config.steps_per_update,
            batch_size=config.minibatch_size,
            n_epochs=config.epochs,
            gamma=config.discount,
            gae_lambda=config.gae_lambda,
            clip_range=config.clip_range,
            ent_coef=config.entropy_coefficient,
            policy_kwargs={"architecture": network.architecture},
            seed=int(config.seed_sequence(_INITIAL_WEIGHTS).generate_state(1)[0]),
            device=find_device(config.device),
        )
        self.model.set_logger(_Metrics(None, []))
        self.network: BoardNetwork = self.model.policy.network  # type: ignore[assignment]
        self.network.load_state_dict(network.state_dict())
        self.pool = OpponentPool(self.game, config.opponents, self.network, config.seed_sequence(_BOTS))
        self.updates = 0
        self._results: dict[str, deque[float]] = {}

    @property
    def play(self) -> PlaySettings:
        """See :attr:`Algorithm.play`."""
        return PlaySettings(deterministic_policy=self.config.deterministic_policy)

    def begin_update(self) -> None:
        """Seed the random numbers of this update and replace the opponents of new games."""
        for_torch, for_games, for_pool = self.config.seed_sequence(_UPDATE, self.updates).spawn(3)
        set_random_seed(int(for_torch.generate_state(1)[0]))
        self.games.np_random = np.random.default_rng(for_games)
        self.pool.begin_update(self.updates, for_pool, self.games)

    def iterate(self, stop: threading.Event) -> Row:
        """Play and train for one update."""
        self.begin_update()
        recorded = self.model.logger.name_to_value
        recorded.clear()
        self.model.learn(self.config.frames_per_update, self._note_results, reset_num_timesteps=False)
        self.done = self.model.num_timesteps
        self.updates += 1
        scores = {f"score/{kind}": float(np.mean(results)) for kind, results in sorted(self._results.items())}
        return scores | {name: float(value) for name, value in recorded.items() if not name.startswith("time/")}

    def _note_results(self, values: dict[str, Any], _: dict[str, Any]) -> bool:
        """Keep the scores of the latest games by kind of opponent; a draw is half a win. Called after each step."""
        for info in values["infos"]:
            if "episode" in info:
                results = self._results.setdefault(kind_of_opponent(info["opponent"]), deque(maxlen=SCORE_WINDOW))
                results.append((1 + info["episode"]["r"]) / 2)
        return True

    def _learning_rate(self, remaining: float) -> float:
        # ``remaining`` is that of a call of ``learn``, which is only an update.
        frames = self.model.num_timesteps if hasattr(self, "model") else 0
        return value_at(self.config.learning_rate, frames / self.config.frames)

    def matches(self) -> Iterator[TrainingMatch]:
        """Yield the matches of the policy."""
        self.network.eval()
        for number, opponent in enumerate(self.config.matches.opponents):
            of_policy, of_match = (
                self.config.seed_sequence(_EVALUATION, self.updates, number, part) for part in (0, 1)
            )
            seed = int(of_policy.generate_state(1)[0])
            deterministic = self.config.deterministic_policy
            bot = PolicyBot(self.network, self.game, seed, deterministic=deterministic, name="policy")
            yield TrainingMatch("policy", bot, opponent, of_match)

    def lines(self, metrics: Row) -> tuple[str, Sequence[str]]:
        """See :meth:`Algorithm.lines`."""
        scores = {kind: metrics.get(f"score/{kind}") for kind in ("greedy", "random")}
        return ", ".join(
            f"{kind} {percent(score, digits=0)}" for kind, score in scores.items() if score is not None
        ), ()

    def state(self) -> tuple[Row, Mapping[str, Tensor]]:
        """See :meth:`Algorithm.state`."""
        tensors = {f"opponents/{name}": tensor for name, tensor in self.pool.state().items()}
        tensors |= {f"results/{kind}": torch.tensor(results) for kind, results in self._results.items()}
        episodes = [(episode["r"], episode["l"]) for episode in self.model.ep_info_buffer or ()]
        tensors["latest_episodes"] = torch.tensor(episodes).reshape(-1, 2)
        moments = self.model.policy.optimizer.state_dict()["state"]
        for index, (name, _) in enumerate(self.network.named_parameters()):
            tensors |= {f"optimizer/{name}/{key}": tensor for key, tensor in moments.get(index, {}).items()}
        return {"updates": self.updates}, tensors

    def load(self, checkpoint: Checkpoint, tensors: Mapping[str, Tensor]) -> None:
        """See :meth:`Algorithm.load`."""
        self.updates = check_integer("training.updates", checkpoint.training["updates"], 0)
        self.model.num_timesteps, self.model._n_updates = self.done, self.updates * self.config.epochs
        self.network.load_state_dict(checkpoint.network.state_dict())
        self.pool.load_state(_part(tensors, "opponents"))
        window = self.model._stats_window_size
        episodes = ({"r": total, "l": length} for total, length in tensors["latest_episodes"].tolist())
        self.model.ep_info_buffer, self.model.ep_success_buffer = deque(episodes, maxlen=window), deque(maxlen=window)
        results = _part(tensors, "results").items()
        self._results = {kind: deque(values.tolist(), maxlen=SCORE_WINDOW) for kind, values in results}
        optimizer = self.model.policy.optimizer
        description = optimizer.state_dict()
        for index, (name, parameter) in enumerate(self.network.named_parameters()):
            moments = _part(tensors, f"optimizer/{name}")
            if moments:
                # The fused kernel of the optimizer requires moments with the memory format of their parameter.
                description["state"][index] = {
                    key: torch.empty_like(parameter).copy_(tensor) if tensor.shape == parameter.shape else tensor
                    for key, tensor in moments.items()
                }
        optimizer.load_state_dict(description)


class _Metrics(Logger):
    """A logger that keeps what MaskablePPO records."""

    def dump(self, step: int = 0) -> None:
        """Do nothing."""


def _part(state: Mapping[str, Tensor], name: str) -> dict[str, Tensor]:
    return {key.removeprefix(f"{name}/"): tensor for key, tensor in state.items() if key.startswith(f"{name}/")}
