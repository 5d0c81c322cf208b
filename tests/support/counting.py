"""An algorithm of a few lines, with which everything that runs have in common is tested."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import torch
from pydantic import Field, SerializeAsAny
from torch import Tensor

from stoneworks.documents import Tuple
from stoneworks.models.architecture import NetworkConfig, ResidualConfig
from stoneworks.models.bots.policy_bot import PolicyBot
from stoneworks.models.checkpoint import Checkpoint
from stoneworks.training.runs.algorithms import (
    Algorithm,
    MatchSettings,
    Row,
    RunConfig,
    TrainingMatch,
    register_algorithm,
)


class Matches(MatchSettings):
    steps: int = 10**6
    num_pairs: int = 1
    opponents: Tuple[str] = ("random", "greedy")


class CountingConfig(RunConfig):
    unit: ClassVar[str] = "steps"
    changeable: ClassVar[tuple[str, ...]] = ("matches",)

    algorithm: str = "counting"
    steps: int = Field(6, ge=1)
    size: int = 1
    checkpoint_seconds: float = 10**6
    network: SerializeAsAny[NetworkConfig] = ResidualConfig(kind="scalar_value_network", channels=1, blocks=0)
    matches: Matches = Matches()


class Counting(Algorithm[CountingConfig]):
    """Adds a random number to each weight in each step."""

    files = ("own",)
    closed = 0

    def iterate(self, stop: threading.Event) -> Row | None:
        generator = torch.Generator().manual_seed(self.done)
        with torch.no_grad():
            for weights in self.network.parameters():
                weights += torch.randn(weights.shape, generator=generator) / 10
        self.done += self.config.size
        self.total = getattr(self, "total", 0) + self.done
        return {"half": self.done / 2}

    def state(self) -> tuple[Row, Mapping[str, Tensor]]:
        return {"own": "value"}, {"total": torch.tensor(self.total)}

    def load(self, checkpoint: Checkpoint, tensors: Mapping[str, Tensor]) -> None:
        assert checkpoint.training["own"] == "value"
        self.network.load_state_dict(checkpoint.network.state_dict())
        self.total = int(tensors["total"])

    def matches(self) -> Iterator[TrainingMatch]:
        for number, name in enumerate(self.config.matches.opponents):
            bot = PolicyBot(self.network, self.game, seed=number, name="policy")
            yield TrainingMatch("policy", bot, name, self.config.seed_sequence(1, self.done, number))

    def lines(self, metrics: Row) -> tuple[str, tuple[str, ...]]:
        return f"half {metrics['half']}", ("below",)

    def close(self) -> None:
        type(self).closed += 1


def register() -> None:
    register_algorithm("counting", config="counting:CountingConfig", algorithm="counting:Counting")


def config(**values: Any) -> CountingConfig:
    return CountingConfig(**{"game": "vadus(size=2)", "matches": Matches(opponents=()), **values})
