"""The configuration of PPO self-play."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from stoneworks.envs.rules import Game, load_game
from stoneworks.models.architecture import NetworkConfig, ResidualConfig
from stoneworks.models.bots.loading import playable_bots
from stoneworks.models.features import has_features
from stoneworks.training.runs.config_reading import ConfigError, above_0, at_least, between_0_and_1, number

#: Name prefix of past policies among the opponents.
PAST = "past-"


@dataclass(frozen=True)
class OpponentsConfig:
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

    latest: float = at_least(0, default=0.5)
    past: float = at_least(0, default=0.3)
    random: float = at_least(0, default=0.1)
    greedy: float = at_least(0, default=0.1)
    bots: dict[str, float] = field(default_factory=dict)
    past_selves: int = at_least(2, default=16)
    past_selves_at_once: int = at_least(1, default=2)
    updates_between_past_selves: int = at_least(1, default=8)


@dataclass(frozen=True)
class MatchesConfig:
    """Paired matches during training (see :func:`stoneworks.evaluation.match.play_match`).

    Attributes:
        frames: frames between matches.
        num_pairs: pairs of games against each opponent.
        opening_actions: random actions at the start of each pair.
        opponents: names of bots.
    """

    frames: int = at_least(1, default=250_000)
    num_pairs: int = at_least(1, default=50)
    opening_actions: int = at_least(0, default=3)
    opponents: tuple[str, ...] = ("random", "greedy")


@dataclass(frozen=True)
class PPOConfig:
    """A run of PPO self-play. A frame is one action of the learner.

    Attributes:
        algorithm: ``ppo``.
        game: the game string.
        frames: total number of frames. The run ends with a complete update, so there may be a few more.
        init_from: folder of a checkpoint of the game (at any scale) or name of a shipped one, whose weights initialize
            the network; empty for random initialization. Its architecture must be the one in ``network``.
        seed: seed of all random numbers.
        num_games: number of concurrent games.
        steps_per_update: actions of the learner per game and update.
        minibatch_size: frames per gradient step.
        epochs: passes over the frames per update.
        learning_rate: initial learning rate of Adam.
        final_learning_rate: final learning rate; it changes linearly.
        discount: discount factor per action.
        gae_lambda: lambda of generalized advantage estimation (Schulman et al., 2016).
        clip_range: clipping range of the probability ratio (Schulman et al., 2017).
        entropy_coefficient: weight of the entropy bonus.
        value_coefficient: weight of the value loss.
        max_gradient_norm: gradient clipping threshold.
        deterministic_policy: whether the agent plays its most probable action instead of sampling; it always samples in
            training.
        checkpoint_seconds: time between checkpoints. If the run is killed, progress since the last one is lost.
        threads: number of torch threads; 0 for torch's default. More than one is faster on an idle machine, and
            much slower on a busy one. Results may depend on the number in their last digits.
        network: the network.
        opponents: the opponents of the learner.
        matches: matches during training.
    """

    game: str
    frames: int = at_least(1)
    algorithm: str = number("ppo", lambda value: value == "ppo", default="ppo")
    init_from: str = ""
    seed: int = at_least(0, default=0)
    num_games: int = at_least(1, default=256)
    steps_per_update: int = at_least(1, default=32)
    minibatch_size: int = at_least(2, default=512)
    epochs: int = at_least(1, default=2)
    learning_rate: float = above_0(default=1e-3)
    final_learning_rate: float = above_0(default=1e-4)
    discount: float = number("> 0 and <= 1", lambda value: 0 < value <= 1, default=1.0)
    gae_lambda: float = between_0_and_1(default=0.95)
    clip_range: float = above_0(default=0.2)
    entropy_coefficient: float = at_least(0, default=0.01)
    value_coefficient: float = at_least(0, default=0.5)
    max_gradient_norm: float = above_0(default=0.5)
    deterministic_policy: bool = False
    checkpoint_seconds: float = above_0(default=60.0)
    threads: int = at_least(0, default=1)
    network: NetworkConfig = field(
        default_factory=lambda: ResidualConfig("scalar_value_network", channels=16, blocks=1)
    )
    opponents: OpponentsConfig = field(default_factory=OpponentsConfig)
    matches: MatchesConfig = field(default_factory=MatchesConfig)

    @property
    def frames_per_update(self) -> int:
        """Number of frames per update."""
        return self.num_games * self.steps_per_update

    @staticmethod
    def game_defaults(game: Game) -> dict[str, Any]:
        """Return defaults that depend on the game: some bots need an evaluation."""
        opponents = playable_bots(MatchesConfig.opponents, game)
        return {"matches.opponents": opponents} | ({} if "greedy" in opponents else {"opponents.greedy": 0.0})

    def check(self, source: str) -> None:
        """Raise :class:`ConfigError` if values are inconsistent with each other."""
        shares = self.opponents
        if shares.latest + shares.past + shares.random + shares.greedy + sum(shares.bots.values()) <= 0:
            raise ConfigError(
                f"{source}: the shares latest, past, random, greedy and bots of opponents must have a sum > 0"
            )
        for name in shares.bots:
            if name in ("latest", "random", "greedy") or name.startswith(PAST):
                raise ConfigError(
                    f"{source}: opponents.bots must not contain 'latest', 'random', 'greedy' or names that start with "
                    f"{PAST!r}, got {name!r}; latest, past, random and greedy are keys of opponents"
                )
        if self.network.features and not has_features(load_game(self.game)):
            raise ConfigError(f"{source}: network.features must be false: {self.game} has no features")
        if self.frames_per_update % self.minibatch_size:
            raise ConfigError(
                f"{source}: minibatch_size must be a divisor of num_games * steps_per_update = {self.frames_per_update}, "
                f"got {self.minibatch_size}"
            )
