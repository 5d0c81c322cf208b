"""PPO self-play with opponents. Games, rollouts and updates are torch tensors, on the processor or on a GPU.

A resumed run goes on with the learner, the past policies and the metrics; its games start anew.

| in `metrics.jsonl` | meaning |
|---|---|
| `score/latest`, `score/past`, `score/random`, `score/greedy` | mean score of the last training games by kind of opponent |
| `matches/policy_<bot>` | score of the last match against a bot |
| `frames_per_second` | speed of the update, games and training |
| `rollout/...`, `train/...` | as in Stable-Baselines3 |
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from stoneworks.checks import check_integer
from stoneworks.envs.rules import DeviceError
from stoneworks.envs.rules.compiler.targets import TargetError
from stoneworks.extras import require_extra
from stoneworks.models.bots.policy_bot import PolicyBot
from stoneworks.models.checkpoint import Checkpoint
from stoneworks.models.description import PlaySettings
from stoneworks.models.network import BoardNetwork
from stoneworks.models.network_inputs import NetworkInputs
from stoneworks.text import percent
from stoneworks.training.ppo.config import PPOConfig
from stoneworks.training.ppo.games import TrainingGames
from stoneworks.training.ppo.opponents import OpponentPool, kind_of_opponent
from stoneworks.training.ppo.update import Frames, advantages_of, log_policy, of_actions, sample, update
from stoneworks.training.runs.algorithms import Algorithm, ConfigError, Row, TrainingMatch
from stoneworks.training.runs.hardware import find_device
from stoneworks.training.runs.schedule import value_at

with require_extra("train", "training runs"):
    import torch
    from torch import Tensor

#: Number of latest games per kind of opponent over which the displayed training score is averaged.
SCORE_WINDOW = 500
#: Number of latest games over which their mean result and length are averaged.
_EPISODE_WINDOW = 100

# Purposes of random numbers; each has its own sequence of seeds, 0 is that of the initial weights.
_UPDATE, _EVALUATION, _BOTS = range(1, 4)


class PPO(Algorithm[PPOConfig]):
    """Trains against a pool of opponents. An iteration is an update, which is always completed.

    As in Stable-Baselines3, the value of the last observation replaces the rest of the return of a truncated game.

    Attributes:
        device: device of the network.
        games: the training games.
        optimizer: the optimizer.
        pool: the opponents.
        updates: number of completed updates.
    """

    def __init__(self, config: PPOConfig, network: BoardNetwork, folder: Path) -> None:
        """See :class:`Algorithm`."""
        super().__init__(config, network, folder)
        self.device = find_device(config.device)
        inputs = NetworkInputs(self.game, True) if config.network.sees_features else None
        try:
            self.games = TrainingGames(self.game, config.num_games, config.games_device, inputs)
        except (DeviceError, TargetError) as error:
            raise ConfigError(f"games_device must be possible here, got {config.games_device!r}: {error}") from error
        self.network = network.to(self.device)
        self.optimizer = torch.optim.Adam(network.parameters(), eps=1e-5, fused=True)
        self.pool = OpponentPool(self.game, config.opponents, self.network, config.seed_sequence(_BOTS))
        self.updates = 0
        self._results: dict[str, deque[float]] = {}
        self._episodes: deque[tuple[float, float]] = deque(maxlen=_EPISODE_WINDOW)

    @property
    def play(self) -> PlaySettings:
        """See :attr:`Algorithm.play`."""
        return PlaySettings(deterministic_policy=self.config.deterministic_policy)

    def close(self) -> None:
        """Release the resources of the opponents."""
        self.pool.close()

    def begin_update(self) -> None:
        """Seed the random numbers of this update and replace the opponents of new games."""
        for_torch, for_pool = self.config.seed_sequence(_UPDATE, self.updates).spawn(2)
        torch.manual_seed(int(for_torch.generate_state(1)[0]))
        self.network.eval()
        self.pool.begin_update(self.updates, for_pool, self.games)
        if not self.games.has_games:
            self.games.start()

    def iterate(self, stop: threading.Event) -> Row:
        """Play and train for one update."""
        self.begin_update()
        frames = self._play()
        self.done += self.config.frames_per_update
        learning_rate = self._learning_rate()
        for group in self.optimizer.param_groups:
            group["lr"] = learning_rate
        metrics = update(self.network, self.optimizer, frames, self.config)
        self.updates += 1
        scores = {f"score/{kind}": float(np.mean(results)) for kind, results in sorted(self._results.items())}
        if self._episodes:
            results, lengths = np.mean(self._episodes, axis=0).tolist()
            scores |= {"rollout/ep_rew_mean": results, "rollout/ep_len_mean": lengths}
        return {**scores, "train/learning_rate": learning_rate, **metrics}

    def _play(self) -> Frames:
        """Return the flattened frames of a rollout, and note the results of games that ended."""
        config, games = self.config, self.games
        shape = config.steps_per_update, config.num_games

        def room(like: Tensor, *of_frame: int) -> Tensor:
            return torch.empty((*shape, *of_frame), dtype=like.dtype, device=games.device)

        observations = room(games.observations, *games.observations.shape[1:])
        masks = room(games.action_masks, *games.action_masks.shape[1:])
        steps = []
        for step in range(config.steps_per_update):
            observations[step], masks[step] = games.observations, games.action_masks
            with torch.no_grad():
                logits, values = self._evaluate(games.observations)
                policy = log_policy(logits, games.action_masks)
                actions = sample(policy)
            ended = games.step(actions)
            rewards = ended.results.clone()
            if len(ended.truncated):
                rewards[ended.truncated] += config.discount * self._evaluate(ended.last_observations)[1]
            steps.append((actions, of_actions(policy, actions), values, rewards, *ended[:4]))
        actions, log_probabilities, values, rewards, *ended_games = map(torch.stack, zip(*steps, strict=True))
        self._note_results(*ended_games)
        next_values = self._evaluate(games.observations)[1]
        dones = ended_games[1]
        advantages = advantages_of(rewards, values, dones, next_values, config.discount, config.gae_lambda)
        frames = Frames(observations, masks, actions, log_probabilities, values, advantages)
        return Frames(*(part.flatten(0, 1) for part in frames))

    @torch.no_grad()
    def _evaluate(self, observations: Tensor) -> tuple[Tensor, Tensor]:
        """Return logits and values of observations, on the device of the games."""
        logits, values = self.network(observations.to(self.device))
        return logits.to(self.games.device), values.to(self.games.device)

    def _note_results(self, results: Tensor, dones: Tensor, lengths: Tensor, opponents: Tensor) -> None:
        """Keep results and lengths of the latest games, and scores by kind of opponent; a draw is half a win."""
        of_ended = (part[dones].tolist() for part in (results, lengths, opponents))
        for result, length, opponent in zip(*of_ended, strict=True):
            kind = kind_of_opponent(self.games.players[opponent].name)
            self._results.setdefault(kind, deque(maxlen=SCORE_WINDOW)).append((1 + result) / 2)
            self._episodes.append((result, length))

    def _learning_rate(self) -> float:
        return value_at(self.config.learning_rate, self.done / self.config.frames)

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
        tensors["latest_episodes"] = torch.tensor([*self._episodes]).reshape(-1, 2)
        moments = self.optimizer.state_dict()["state"]
        for index, (name, _) in enumerate(self.network.named_parameters()):
            tensors |= {f"optimizer/{name}/{key}": tensor for key, tensor in moments.get(index, {}).items()}
        return {"updates": self.updates}, tensors

    def load(self, checkpoint: Checkpoint, tensors: Mapping[str, Tensor]) -> None:
        """See :meth:`Algorithm.load`."""
        self.updates = check_integer("training.updates", checkpoint.training["updates"], 0)
        self.network.load_state_dict(checkpoint.network.state_dict())
        self.pool.load_state(_part(tensors, "opponents"))
        self._episodes.extend(map(tuple, tensors["latest_episodes"].tolist()))
        results = _part(tensors, "results").items()
        self._results = {kind: deque(values.tolist(), maxlen=SCORE_WINDOW) for kind, values in results}
        description = self.optimizer.state_dict()
        for index, (name, parameter) in enumerate(self.network.named_parameters()):
            moments = _part(tensors, f"optimizer/{name}")
            if moments:
                # The fused kernel of the optimizer requires moments with the memory format of their parameter.
                description["state"][index] = {
                    key: torch.empty_like(parameter).copy_(tensor) if tensor.shape == parameter.shape else tensor
                    for key, tensor in moments.items()
                }
        self.optimizer.load_state_dict(description)


def _part(state: Mapping[str, Tensor], name: str) -> dict[str, Tensor]:
    return {key.removeprefix(f"{name}/"): tensor for key, tensor in state.items() if key.startswith(f"{name}/")}
