"""The configuration of PPO self-play."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, SerializeAsAny, field_validator, model_validator

from stoneworks.documents import Document
from stoneworks.envs.rules import Game
from stoneworks.models.architecture import NetworkConfig, ResidualConfig
from stoneworks.models.bots.loading import playable_bots
from stoneworks.training.runs.algorithms import Device, Int, MatchSettings, NumPairs, RunConfig
from stoneworks.training.runs.schedule import Schedule

#: Name prefix of past policies among the opponents.
PAST = "past-"


class OpponentsConfig(Document):
    """Opponents of the learner. Shares are relative weights.

    Attributes:
        latest: share of games against the current policy, as of the last update.
        past: share of games against past policies; a few are sampled for each update.
        random: share of games against the random bot.
        greedy: share of games against the greedy bot.
        bots: shares of games against other bots by name (see :func:`stoneworks.models.load_bot`), such as
            ``{vadus: 0.1, "mcts:10": 0.1}``. A bot is called once for all of its games; a search is still slow.
        past_selves: maximum number of stored past policies; when it is exceeded, every second one is deleted.
        past_selves_at_once: number of past policies that new games use in one update.
        updates_between_past_selves: initial number of updates between stored policies. It doubles whenever every second one
            is deleted, so the stored policies are spread evenly over the run so far.
    """

    latest: float = Field(0.5, ge=0)
    past: float = Field(0.3, ge=0)
    random: float = Field(0.1, ge=0)
    greedy: float = Field(0.1, ge=0)
    bots: dict[str, Annotated[float, Field(gt=0)]] = Field(default_factory=dict)
    past_selves: Int = Field(16, ge=2)
    past_selves_at_once: Int = Field(2, ge=1)
    updates_between_past_selves: Int = Field(8, ge=1)

    @field_validator("bots")
    @classmethod
    def _check_bots(cls, bots: dict[str, float]) -> dict[str, float]:
        for name in bots:
            if name in ("latest", "random", "greedy") or name.startswith(PAST):
                raise ValueError(
                    f"must not contain 'latest', 'random', 'greedy' or names that start with {PAST!r}, got {name!r}; "
                    "latest, past, random and greedy are keys of opponents"
                )
        return bots

    @model_validator(mode="after")
    def _check_sum(self) -> OpponentsConfig:
        if self.latest + self.past + self.random + self.greedy + sum(self.bots.values()) <= 0:
            raise ValueError("the shares latest, past, random, greedy and bots of opponents must have a sum > 0")
        return self


class PPOMatchesConfig(MatchSettings):
    """Paired matches during training (see :func:`stoneworks.evaluation.match.play_match`).

    Attributes:
        frames: frames between matches.
    """

    frames: Int = Field(250_000, ge=1)
    num_pairs: NumPairs = 50


class PPOConfig(RunConfig):
    """A run of PPO self-play. A frame is one action of the learner.

    Attributes:
        frames: total number of frames. The run ends with a complete update, so there may be a few more.
        num_games: number of concurrent games.
        steps_per_update: actions of the learner per game and update.
        minibatch_size: frames per gradient step.
        epochs: passes over the frames per update.
        learning_rate: learning rate of Adam; a schedule.
        discount: discount factor per action.
        gae_lambda: lambda of generalized advantage estimation (Schulman et al., 2016).
        clip_range: clipping range of the probability ratio (Schulman et al., 2017).
        entropy_coefficient: weight of the entropy bonus.
        deterministic_policy: whether the agent plays its most probable action instead of sampling; it always samples in
            training.
        device: device of the networks. Networks as small as the default one are faster on the processor.
        games_device: device of the training games: ``cpu``, ``cuda`` (see docs/gpu.md), or ``emulated`` for tests. On a GPU,
            bots among the opponents still act on the processor, for which positions are copied; set ``opponents.greedy`` to 0.
        opponents: the opponents of the learner.
        matches: matches during training.
    """

    title: ClassVar[str] = "PPO"
    facts: ClassVar[tuple[str, ...]] = ("updates",)
    unit: ClassVar[str] = "frames"
    changeable: ClassVar[tuple[str, ...]] = ("deterministic_policy", "device", "games_device", "matches")

    algorithm: Literal["ppo"] = "ppo"
    frames: Int = Field(ge=1)
    num_games: Int = Field(256, ge=1)
    steps_per_update: Int = Field(32, ge=1)
    minibatch_size: Int = Field(512, ge=2)
    epochs: Int = Field(2, ge=1)
    learning_rate: Schedule[Annotated[float, Field(gt=0)]] = ((0.0, 1e-3), (1.0, 1e-4))
    discount: float = Field(1.0, gt=0, le=1)
    gae_lambda: float = Field(0.95, ge=0, le=1)
    clip_range: float = Field(0.2, gt=0)
    entropy_coefficient: float = Field(0.01, ge=0)
    deterministic_policy: bool = False
    device: Device = "cpu"
    games_device: Literal["cpu", "cuda", "emulated"] = "cpu"
    network: SerializeAsAny[NetworkConfig] = ResidualConfig(kind="scalar_value_network", channels=16, blocks=1)
    opponents: OpponentsConfig = OpponentsConfig()
    matches: PPOMatchesConfig = PPOMatchesConfig()

    @property
    def frames_per_update(self) -> int:
        """Number of frames per update."""
        return self.num_games * self.steps_per_update

    def bot_names(self) -> Iterable[str]:
        """See :meth:`RunConfig.bot_names`."""
        return (*self.matches.opponents, *self.opponents.bots)

    @classmethod
    def game_defaults(cls, game: Game) -> Mapping[str, Any]:
        """Return defaults that depend on the game: some bots need a heuristic."""
        opponents = playable_bots(PPOMatchesConfig().opponents, game)
        return {"matches.opponents": opponents} | ({} if "greedy" in opponents else {"opponents.greedy": 0.0})

    @model_validator(mode="after")
    def _check_minibatch_size(self) -> PPOConfig:
        if self.frames_per_update % self.minibatch_size:
            raise ValueError(
                f"minibatch_size must be a divisor of num_games * steps_per_update = {self.frames_per_update}, "
                f"got {self.minibatch_size}"
            )
        return self
