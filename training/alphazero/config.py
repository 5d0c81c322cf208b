"""The configuration of AlphaZero self-play."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from stoneworks.envs.rules import Game, load_game
from stoneworks.models.architecture import NETWORKS, NetworkConfig, ResidualConfig, network_entry
from stoneworks.models.bots.loading import playable_bots
from stoneworks.models.evaluations import has_evaluation
from stoneworks.models.search.guides import GUIDES
from stoneworks.models.search.gumbel import Gumbel
from stoneworks.models.search.network_search import SearchPolicy
from stoneworks.models.search.puct import PUCT
from stoneworks.training.runs.config_reading import ConfigError, above_0, at_least, between_0_and_1, number


@dataclass(frozen=True)
class SearchConfig:
    """The search of self-play.

    Attributes:
        policy: ``gumbel`` or ``puct``.
        simulations: of a full search; its position and policy are learned from.
        fast_simulations: of a fast search, which only chooses an action (playout cap randomization: Wu, Accelerating
            self-play learning in Go, 2019, section 3.1).
        full_share: the share of full searches.
        max_considered: how many actions of the root a Gumbel search looks at.
        value_scale: how much a Gumbel search trusts values (see :class:`stoneworks.models.search.gumbel.Gumbel`).
        guide: what judges the leaves of all searches beside the network, which is no help at first: ``evaluation``, the game's
            hand-written evaluation with its fitted scale; ``playouts``, random playouts; or ``none``.
        guide_weight: its weight at the start, against 1 of guide and network together.
        guide_share: the share of the run after which it has none; the weight falls in a straight line.
        guide_playouts: random playouts from each leaf, for ``guide: playouts``.
        discount: of values and results, for each action: a win in n actions is worth its n-th power, so that who is ahead
            makes an end and who is behind plays on.
        exploration: c_init of a PUCT search.
        noise_concentration: of the Dirichlet noise of a PUCT search.
    """

    policy: str = number("gumbel or puct", lambda value: value in ("gumbel", "puct"), default="gumbel")
    simulations: int = at_least(2, default=32)
    fast_simulations: int = at_least(1, default=8)
    full_share: float = number("> 0 and <= 1", lambda value: 0 < value <= 1, default=0.3)
    max_considered: int = at_least(2, default=16)
    value_scale: float = above_0(default=0.2)
    guide: str = number(
        f"{', '.join(GUIDES[:-1])} or {GUIDES[-1]}", lambda value: value in GUIDES, default="evaluation"
    )
    guide_weight: float = between_0_and_1(default=1.0)
    guide_share: float = between_0_and_1(default=0.4)
    guide_playouts: int = at_least(1, default=4)
    discount: float = number("> 0 and <= 1", lambda value: 0 < value <= 1, default=1.0)
    exploration: float = above_0(default=1.25)
    noise_concentration: float = above_0(default=0.15)

    def guide_weight_at(self, progress: float) -> float:
        """Return the weight of the guide when the share ``progress`` of the run is done."""
        return self.guide_weight * max(0.0, 1 - progress / self.guide_share) if self.guide_share > 0 else 0.0

    def search_policy(self) -> SearchPolicy:
        """Return how the search chooses, exploring."""
        if self.policy == "puct":
            return PUCT(exploration=self.exploration, noise_concentration=self.noise_concentration)
        return Gumbel(max_considered=self.max_considered, value_scale=self.value_scale)


@dataclass(frozen=True)
class SelfPlayConfig:
    """The games.

    Attributes:
        num_games: games that one process plays at once: so many positions the network answers in one call.
        random_opening_share: the share of games that begin with random actions.
        random_opening_actions: how many those are at most; their number is uniform from 1.
        weak_share: the share of games in which one player is weak: it plays random actions with a probability that is drawn for
            each game, uniformly from 0 to 1. So the network sees what follows from weak play. From such games it learns what
            the searches found, but not the results.
        resignation_value: a player resigns whose search gives it less than minus this value; 0 to play all games to their end.
        sampled_actions: actions of a game, after those of the opening, that a PUCT search draws by their visits; later ones are
            the most visited. A Gumbel search needs none: its choice is a draw in itself.
    """

    num_games: int = at_least(1, default=128)
    random_opening_share: float = between_0_and_1(default=0.8)
    random_opening_actions: int = at_least(1, default=12)
    weak_share: float = between_0_and_1(default=0.0)
    resignation_value: float = between_0_and_1(default=0.0)
    sampled_actions: int = at_least(0, default=16)


@dataclass(frozen=True)
class LearnerConfig:
    """The learner.

    Attributes:
        batch_size: positions of one gradient step.
        samples_per_position: how often each position is learned from, on average.
        buffer_bytes: bound of the positions kept, in bytes.
        window_share: the share of all positions so far that is learned from, the newest; at least ``min_window`` of them.
        min_window: see there.
        learning_rate: of AdamW, at the start, after a short warm-up.
        final_learning_rate: of AdamW, at the end; half a cosine lies between.
        warm_up_steps: gradient steps in which the learning rate rises from 0.
        weight_decay: of AdamW.
        ema_decay: of the average of the weights that acts, for each gradient step.
        max_gradient_norm: to which gradients are clipped.
        value_weight: weight of the value's loss beside the policy's.
        search_value_share: the share of the search's value, beside the game's result, in what the value is to learn.
    """

    batch_size: int = at_least(2, default=256)
    samples_per_position: float = above_0(default=6.0)
    buffer_bytes: int = at_least(1, default=500_000_000)
    window_share: float = number("> 0 and <= 1", lambda value: 0 < value <= 1, default=0.5)
    min_window: int = at_least(1, default=20_000)
    learning_rate: float = above_0(default=2e-3)
    final_learning_rate: float = above_0(default=1e-4)
    warm_up_steps: int = at_least(0, default=50)
    weight_decay: float = at_least(0, default=1e-4)
    ema_decay: float = number(">= 0 and < 1", lambda value: 0 <= value < 1, default=0.99)
    max_gradient_norm: float = above_0(default=1.0)
    value_weight: float = above_0(default=1.0)
    search_value_share: float = between_0_and_1(default=0.3)


@dataclass(frozen=True)
class MatchesConfig:
    """Matches of the raw policy and of the search while training goes on, in paired games.

    Attributes:
        positions: positions from one evaluation to the next.
        num_pairs: pairs of games against each opponent.
        opening_actions: random actions at the start of each pair.
        opponents: names of bots that the raw policy plays.
        search_opponents: names of bots that the network with search plays.
        simulations: of that search.
    """

    positions: int = at_least(1, default=50_000)
    num_pairs: int = at_least(1, default=25)
    opening_actions: int = at_least(0, default=3)
    opponents: tuple[str, ...] = ("random", "greedy", "mcts:100")
    search_opponents: tuple[str, ...] = ("mcts:1000",)
    simulations: int = at_least(1, default=64)


@dataclass(frozen=True)
class AlphaZeroConfig:
    """A run of AlphaZero self-play. A position is one that a full search was made of.

    Attributes:
        game: the game string.
        positions: how many to learn from. Whole games are played, so it may be a few more.
        algorithm: ``alphazero``.
        init_from: the folder of a checkpoint of the game, of any scale, or the name of a shipped one, whose weights the network
            starts with; empty to start from nothing. Its network must be as ``network`` says.
        seed: of everything random.
        positions_per_iteration: new positions from one round of learning, and one new acting network, to the next.
        checkpoint_seconds: time from one checkpoint to the next; what is newer is lost where the run is killed.
        processes: self-play processes beside the learner's; 0 to play and learn by turns in one process, -1 to choose: 0 on one
            core, else one for each core. Only with 0 does a run repeat itself.
        threads: that torch computes with in each process; results may depend on it in their last digits.
        device: ``cpu``, ``cuda``, or ``auto``: a GPU where there is one.
        precision: number format in which networks compute: ``float32``, ``bfloat16``, or ``auto``: bfloat16 where the device
            multiplies it in hardware. The learner's weights are float32 in any case.
        network: the network.
        search: the search.
        self_play: the games.
        learner: the learner.
        matches: matches while training goes on.
    """

    game: str
    positions: int = at_least(1)
    algorithm: str = number("alphazero", lambda value: value == "alphazero", default="alphazero")
    init_from: str = ""
    seed: int = at_least(0, default=0)
    positions_per_iteration: int = at_least(1, default=2048)
    checkpoint_seconds: float = above_0(default=60.0)
    processes: int = at_least(-1, default=-1)
    threads: int = at_least(1, default=1)
    device: str = number("auto, cpu or cuda", lambda value: value in ("auto", "cpu", "cuda"), default="auto")
    precision: str = number(
        "auto, float32 or bfloat16", lambda value: value in ("auto", "float32", "bfloat16"), default="auto"
    )
    network: NetworkConfig = field(
        default_factory=lambda: ResidualConfig("win_draw_loss_network", channels=32, blocks=4)
    )
    search: SearchConfig = field(default_factory=SearchConfig)
    self_play: SelfPlayConfig = field(default_factory=SelfPlayConfig)
    learner: LearnerConfig = field(default_factory=LearnerConfig)
    matches: MatchesConfig = field(default_factory=MatchesConfig)

    @staticmethod
    def game_defaults(game: Game) -> dict[str, Any]:
        """Return defaults that depend on the game: without an evaluation some bots and the guide have none to use."""
        guide = {} if has_evaluation(game) else {"search.guide": "playouts"}
        return {"matches.opponents": playable_bots(MatchesConfig.opponents, game)} | guide

    def check(self, source: str) -> None:
        """Raise :class:`ConfigError` where values that are allowed one by one do not go together."""
        if self.search.fast_simulations > self.search.simulations:
            raise ConfigError(
                f"{source}: search.fast_simulations must be at most search.simulations, {self.search.simulations}, "
                f"got {self.search.fast_simulations}"
            )
        if not network_entry(self.network.kind).win_draw_loss:
            allowed = ", ".join(entry.name for entry in NETWORKS.loadable() if entry.win_draw_loss)
            raise ConfigError(f"{source}: network.kind must be one of {allowed}, got {self.network.kind!r}")
        if self.search.guide == "evaluation" and not has_evaluation(load_game(self.game)):
            raise ConfigError(
                f"{source}: search.guide must be playouts or none, got 'evaluation': {self.game} has no evaluation"
            )
