"""The configuration of PPO self-play."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from stoneworks.envs.rules import Game
from stoneworks.models.architecture import NetworkConfig, ResidualConfig
from stoneworks.models.bots.loading import playable_bots
from stoneworks.training.runs.config_reading import ConfigError, above_0, at_least, between_0_and_1, number


@dataclass(frozen=True)
class OpponentsConfig:
    """Who the learner plays: shares of the games, in any unit.

    Attributes:
        latest: the learner's own policy as it was when the last games were collected.
        past: its past selves, a few at a time, drawn anew for every update.
        random: the random bot.
        greedy: the greedy bot.
        past_selves: how many past selves are kept; when there are more, every second one goes.
        past_selves_at_once: how many of them take on new games in one update.
        updates_between_past_selves: updates from one past self to the next, at first; whenever every second one goes, it
            doubles. So they are spread evenly over the time so far.
    """

    latest: float = at_least(0, default=0.5)
    past: float = at_least(0, default=0.3)
    random: float = at_least(0, default=0.1)
    greedy: float = at_least(0, default=0.1)
    past_selves: int = at_least(2, default=16)
    past_selves_at_once: int = at_least(1, default=2)
    updates_between_past_selves: int = at_least(1, default=8)


@dataclass(frozen=True)
class MatchesConfig:
    """Paired matches during training (see :func:`stoneworks.training.arena.match.play_match`).

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
        frames: how many to train on. Whole updates are made, so it may be a few more.
        seed: of everything random.
        num_games: games that are played at once.
        steps_per_update: learner's actions in each game from one update to the next.
        minibatch_size: frames of one gradient step.
        epochs: how often an update uses each frame.
        learning_rate: of Adam, at the start.
        final_learning_rate: of Adam, at the end; it changes in a straight line.
        discount: by how much a result is worth less with each action.
        gae_lambda: of generalized advantage estimation (Schulman et al., 2016).
        clip_range: of the probability ratio (Schulman et al., 2017).
        entropy_coefficient: weight of the policy's entropy in the objective.
        value_coefficient: weight of the value's error in the objective.
        max_gradient_norm: to which gradients are clipped.
        checkpoint_seconds: time from one checkpoint to the next; what is newer is lost where the run is killed.
        threads: that torch computes with; 0 for as many as torch chooses. More than one is faster on a quiet machine, and
            much slower on one that has other work to do. Results may depend on the number in their last digits.
        network: the network.
        opponents: who the learner plays.
        matches: matches during training.
    """

    game: str
    frames: int = at_least(1)
    algorithm: str = number("ppo", lambda value: value == "ppo", default="ppo")
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
    checkpoint_seconds: float = above_0(default=60.0)
    threads: int = at_least(0, default=1)
    network: NetworkConfig = field(default_factory=lambda: ResidualConfig("board_network", channels=16, blocks=1))
    opponents: OpponentsConfig = field(default_factory=OpponentsConfig)
    matches: MatchesConfig = field(default_factory=MatchesConfig)

    @property
    def frames_per_update(self) -> int:
        """Frames from one update to the next."""
        return self.num_games * self.steps_per_update

    @staticmethod
    def game_defaults(game: Game) -> dict[str, Any]:
        """Return defaults that depend on the game: without an evaluation some bots cannot be opponents."""
        opponents = playable_bots(MatchesConfig.opponents, game)
        return {"matches.opponents": opponents} | ({} if "greedy" in opponents else {"opponents.greedy": 0.0})

    def check(self, source: str) -> None:
        """Raise :class:`ConfigError` where values that are allowed one by one do not go together."""
        shares = self.opponents
        if shares.latest + shares.past + shares.random + shares.greedy <= 0:
            raise ConfigError(f"{source}: the shares latest, past, random and greedy of opponents must have a sum > 0")
        if self.frames_per_update % self.minibatch_size:
            raise ConfigError(
                f"{source}: minibatch_size is {self.minibatch_size}; it must be a divisor of "
                f"num_games * steps_per_update, {self.frames_per_update}"
            )
