"""The configuration of AlphaZero self-play."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from stoneworks.envs.rules import Game, load_game
from stoneworks.models.architecture import NETWORKS, Architecture, NetworkConfig, ResidualConfig, network_entry
from stoneworks.models.bots.loading import playable_bots
from stoneworks.models.evaluations import has_evaluation
from stoneworks.models.features import has_features
from stoneworks.models.search.guides import GUIDES, GUIDES_IN_WORDS
from stoneworks.models.search.gumbel import Gumbel
from stoneworks.models.search.network_search import SearchPolicy
from stoneworks.models.search.puct import PUCT
from stoneworks.training.alphazero.final_board import PLANES, has_final_board
from stoneworks.training.runs.config_reading import ConfigError, above_0, at_least, between_0_and_1, number


def one_of_guides(default: str) -> Any:
    """A field for the name of a guide."""
    return number(GUIDES_IN_WORDS, lambda value: value in GUIDES, default=default)


@dataclass(frozen=True)
class SearchConfig:
    """The search of self-play.

    Attributes:
        policy: search policy, ``gumbel`` or ``puct``.
        simulations: simulations of a full search, which provides training targets.
        fast_simulations: simulations of a fast search, which only chooses an action (playout cap randomization: Wu,
            Accelerating self-play learning in Go, 2019, section 3.1).
        full_share: share of full searches.
        max_considered: number of root actions that a Gumbel search considers.
        value_scale: weight of values in a Gumbel search (see :class:`stoneworks.models.search.gumbel.Gumbel`).
        guide: evaluation of leaves in addition to the network, which is untrained at first: ``evaluation``, the
            hand-written evaluation of the game with its fitted scale; ``playouts``, random playouts; or ``none``.
        guide_weight: initial weight of the guide, in [0, 1]; the network has the rest.
        guide_share: share of the run over which the weight of the guide decreases linearly to 0.
        teacher_share: share of the run, at its start, in which the one-turn search of the greedy bot plays instead of the
            search with the network; the game needs an evaluation.
        guide_playouts: random playouts per leaf, for ``guide: playouts``.
        discount: discount of values and results per action: a win in n actions counts as its n-th power, so that the
            winning side finishes the game and the losing side prolongs it.
        solve: whether the search propagates proven results and looks for wins within the turn.
        exploration: c_init of a PUCT search.
        noise_concentration: concentration of the Dirichlet noise of a PUCT search.
    """

    policy: str = number("gumbel or puct", lambda value: value in ("gumbel", "puct"), default="gumbel")
    simulations: int = at_least(2, default=32)
    fast_simulations: int = at_least(1, default=8)
    full_share: float = number("> 0 and <= 1", lambda value: 0 < value <= 1, default=0.3)
    max_considered: int = at_least(2, default=16)
    value_scale: float = above_0(default=0.2)
    guide: str = one_of_guides(default="evaluation")
    guide_weight: float = between_0_and_1(default=1.0)
    guide_share: float = between_0_and_1(default=0.4)
    teacher_share: float = between_0_and_1(default=0.0)
    guide_playouts: int = at_least(1, default=4)
    discount: float = number("> 0 and <= 1", lambda value: 0 < value <= 1, default=1.0)
    solve: bool = True
    exploration: float = above_0(default=1.25)
    noise_concentration: float = above_0(default=0.15)

    def guide_weight_at(self, progress: float) -> float:
        """Return the weight of the guide when the share ``progress`` of the run is done."""
        return self.guide_weight * max(0.0, 1 - progress / self.guide_share) if self.guide_share > 0 else 0.0

    def search_policy(self) -> SearchPolicy:
        """Return the search policy, with exploration."""
        if self.policy == "puct":
            return PUCT(exploration=self.exploration, noise_concentration=self.noise_concentration)
        return Gumbel(max_considered=self.max_considered, value_scale=self.value_scale)


@dataclass(frozen=True)
class PlayConfig:
    """The agent at play: in matches, and as a bot that loads the checkpoint and searches.

    Attributes:
        guide: evaluation of leaves in addition to the network: ``evaluation``, ``playouts`` or ``none`` (see ``SearchConfig``).
        guide_weight: weight of the guide, in [0, 1]; the network has the rest.
        guide_playouts: random playouts per leaf, for ``guide: playouts``.
    """

    guide: str = one_of_guides(default="none")
    guide_weight: float = between_0_and_1(default=0.5)
    guide_playouts: int = at_least(1, default=16)


@dataclass(frozen=True)
class SelfPlayConfig:
    """Self-play games.

    Attributes:
        num_games: number of concurrent games per process, which is also the batch size of the network. With several
            ``games``, that of the one with the largest share; the others have fewer.
        random_opening_share: share of games that start with random actions.
        random_opening_actions: maximum number of these actions; the number is uniform from 1.
        weak_share: share of games with one weak player, which plays random actions with a probability drawn uniformly
            from [0, 1] per game. They show the network the consequences of weak play. Search policies of such games are
            used for training, results and final boards are not.
        resignation_value: a player resigns if the value of its search is less than minus this; 0 disables resignation.
        sampled_actions: number of actions per game, after the opening, that a PUCT search samples by visits; later ones
            are the most visited. A Gumbel search does not need this, since its choice is random already.
    """

    num_games: int = at_least(1, default=128)
    random_opening_share: float = between_0_and_1(default=0.8)
    random_opening_actions: int = at_least(1, default=12)
    weak_share: float = between_0_and_1(default=0.0)
    resignation_value: float = between_0_and_1(default=0.0)
    sampled_actions: int = at_least(0, default=16)


@dataclass(frozen=True)
class LearnerConfig:
    """Gradient steps and the replay buffer.

    Attributes:
        batch_size: positions per gradient step.
        samples_per_position: average number of times that each position is used.
        buffer_bytes: maximum size of the replay buffer in bytes.
        window_share: share of all positions so far that is used for training, the newest ones, but at least
        ``min_window``.
        min_window: minimum number of positions of the window.
        learning_rate: initial learning rate of AdamW, after the warm-up.
        final_learning_rate: final learning rate; the schedule is half a cosine.
        warm_up_steps: gradient steps over which the learning rate increases from 0.
        weight_decay: weight decay of AdamW.
        ema_decay: decay per gradient step of the moving average of the weights, which is used in self-play and matches.
        max_gradient_norm: gradient clipping threshold.
        value_weight: weight of the value loss relative to the policy loss.
        search_value_share: share of the search value in the value target; the rest is the result of the game.
        final_board_weight: weight of the loss of an auxiliary head that predicts the owner of each cell at the end of the
            game (KataGo's "ownership"); 0 for none. The game must have the planes ``own_stones`` and ``opponent_stones``.
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
    final_board_weight: float = at_least(0, default=0.0)


@dataclass(frozen=True)
class MatchesConfig:
    """Paired matches of the policy and of the search during training.

    Attributes:
        positions: number of positions between matches.
        num_pairs: pairs of games against each opponent.
        opening_actions: random actions at the start of each pair.
        opponents: bot names, opponents of the policy.
        search_opponents: bot names, opponents of the search.
        simulations: simulations of that search.
    """

    positions: int = at_least(1, default=50_000)
    num_pairs: int = at_least(1, default=25)
    opening_actions: int = at_least(0, default=3)
    opponents: tuple[str, ...] = ("random", "greedy", "mcts:100")
    search_opponents: tuple[str, ...] = ("mcts:1000",)
    simulations: int = at_least(1, default=64)


def is_cluster_address(value: str) -> bool:
    """Return whether a value is empty, ``auto``, or of the form ``HOST:PORT``."""
    host, _, port = value.rpartition(":")
    return value in ("", "auto") or (bool(host) and "/" not in host and port.isdecimal())


@dataclass(frozen=True)
class AlphaZeroConfig:
    """A run of AlphaZero self-play. Only positions with a full search are counted as training positions.

    Attributes:
        game: the game string; the checkpoint, the matches and the network's architecture are for this game.
        games: share of training positions by game string, for self-play of several games with one network, e.g. several
            board sizes; ``game`` must be one of them. Empty for ``game`` alone. Shares are relative to their sum.
        positions: total number of training positions. The run ends with complete games, so there may be a few more.
        algorithm: ``alphazero``.
        init_from: folder of a checkpoint of the game (at any scale) or name of a shipped one, whose weights initialize
            the network; empty for random initialization. Its architecture must be the one in ``network``.
        positions_from: folder of a run whose stored positions a new run starts with: the network, of any kind and size, is
            trained on them before self-play. That run must contain all games of this one. Empty for none.
        seed: seed of all random numbers.
        positions_per_iteration: new positions per iteration; each iteration ends with gradient steps and a new acting
        network.
        checkpoint_seconds: time between checkpoints. If the run is killed, progress since the last one is lost.
        processes: number of self-play processes in addition to the learner; 0 to alternate in one process; -1 to choose
            automatically: 0 on one core, else one per core. Runs are reproducible only with 0. With ``cluster``, the
            maximum number of self-play actors; -1 for one per core of the cluster.
        cluster: Ray cluster for self-play: ``auto`` for the one of this machine, or ``HOST:PORT`` of its head node; empty
            to use this machine alone.
        threads: number of torch threads per process; results may depend on it in their last digits.
        learner_threads: number of torch threads of gradient steps, for a learner on a machine or node with more cores than
            it needs for self-play; 0 for ``threads``.
        device: ``cpu``, ``cuda``, or ``auto`` for a GPU if one is available.
        precision: data type of networks: ``float32``, ``bfloat16``, or ``auto`` for bfloat16 if the device supports it
            in hardware. The learner's weights are always float32.
        network: the network.
        search: the search of self-play.
        play: the search of the agent at play.
        self_play: self-play games.
        learner: the learner.
        matches: matches during training.
    """

    game: str
    positions: int = at_least(1)
    algorithm: str = number("alphazero", lambda value: value == "alphazero", default="alphazero")
    games: dict[str, float] = field(default_factory=dict)
    init_from: str = ""
    positions_from: str = ""
    seed: int = at_least(0, default=0)
    positions_per_iteration: int = at_least(1, default=2048)
    checkpoint_seconds: float = above_0(default=60.0)
    processes: int = at_least(-1, default=-1)
    cluster: str = number("auto, HOST:PORT or empty", is_cluster_address, default="")
    threads: int = at_least(1, default=1)
    learner_threads: int = at_least(0, default=0)
    device: str = number("auto, cpu or cuda", lambda value: value in ("auto", "cpu", "cuda"), default="auto")
    precision: str = number(
        "auto, float32 or bfloat16", lambda value: value in ("auto", "float32", "bfloat16"), default="auto"
    )
    network: NetworkConfig = field(
        default_factory=lambda: ResidualConfig("win_draw_loss_network", channels=32, blocks=4)
    )
    search: SearchConfig = field(default_factory=SearchConfig)
    play: PlayConfig = field(default_factory=PlayConfig)
    self_play: SelfPlayConfig = field(default_factory=SelfPlayConfig)
    learner: LearnerConfig = field(default_factory=LearnerConfig)
    matches: MatchesConfig = field(default_factory=MatchesConfig)

    def shares(self) -> dict[str, float]:
        """Return the share of the training positions of each game, by canonical game string; the sum is 1."""
        games = self.games or {self.game: 1.0}
        total = sum(games.values())
        return {str(load_game(game)): share / total for game, share in games.items()}

    @staticmethod
    def game_defaults(game: Game) -> dict[str, Any]:
        """Return defaults that depend on the game: some bots and the guide need an evaluation."""
        guide = {} if has_evaluation(game) else {"search.guide": "playouts"}
        return {"matches.opponents": playable_bots(MatchesConfig.opponents, game)} | guide

    def check(self, source: str) -> None:
        """Raise :class:`ConfigError` if values are inconsistent with each other."""
        self._check_games(source)
        if self.search.fast_simulations > self.search.simulations:
            raise ConfigError(
                f"{source}: search.fast_simulations must be at most search.simulations, {self.search.simulations}, "
                f"got {self.search.fast_simulations}"
            )
        if self.cluster and self.processes == 0:
            raise ConfigError(f"{source}: processes must be -1 or >= 1 with a cluster, got 0")
        if not network_entry(self.network.kind).win_draw_loss:
            allowed = ", ".join(entry.name for entry in NETWORKS.loadable() if entry.win_draw_loss)
            raise ConfigError(f"{source}: network.kind must be one of {allowed}, got {self.network.kind!r}")
        if self.network.features and not has_features(load_game(self.game)):
            raise ConfigError(f"{source}: network.features must be false: {self.game} has no features")
        if self.learner.final_board_weight > 0 and not has_final_board(load_game(self.game)):
            raise ConfigError(
                f"{source}: learner.final_board_weight must be 0: {self.game} has no planes {' and '.join(PLANES)}, "
                f"got {self.learner.final_board_weight}"
            )
        if not has_evaluation(load_game(self.game)):
            for holds, required in (
                (self.search.guide != "evaluation", "search.guide must be playouts or none, got 'evaluation'"),
                (self.play.guide != "evaluation", "play.guide must be playouts or none, got 'evaluation'"),
                (self.search.teacher_share == 0, f"search.teacher_share must be 0, got {self.search.teacher_share}"),
            ):
                if not holds:
                    raise ConfigError(f"{source}: {required}: {self.game} has no evaluation")

    def _check_games(self, source: str) -> None:
        """Raise :class:`ConfigError` if ``games`` cannot be played by one network or lack ``game``."""
        game = load_game(self.game)
        architecture = Architecture.of_game(game, self.network)
        names = []
        for name in self.games:
            try:
                other = load_game(name)
            except ValueError as error:
                raise ConfigError(f"{source}: games: {error}") from None
            if type(other) is not type(game) or Architecture.of_game(other, self.network) != architecture:
                raise ConfigError(f"{source}: games must be {game.name} with the planes of {game}, got {name!r}")
            names.append(str(other))
        if names and str(game) not in names:
            raise ConfigError(f"{source}: games must contain game, {game}, got {', '.join(names)}")
        if len(set(names)) < len(names):
            raise ConfigError(f"{source}: games must be different, got {', '.join(self.games)}")
