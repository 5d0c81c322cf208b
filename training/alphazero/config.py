"""The configuration of AlphaZero self-play."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, Field, model_validator

from stoneworks.documents import Document
from stoneworks.envs.rules import Game, load_game
from stoneworks.envs.rules.parts import has_heuristic
from stoneworks.models.architecture import NETWORKS, Architecture, network_entry
from stoneworks.models.bots.loading import playable_bots
from stoneworks.models.bots.registry import MAX_SEARCH_SIMULATIONS
from stoneworks.models.description import RENAMED_KEYS, LeafValuesName
from stoneworks.models.search.gumbel import Gumbel
from stoneworks.models.search.network_search import SelectionRule
from stoneworks.models.search.puct import PUCT
from stoneworks.training.runs.algorithms import Device, GameString, Int, MatchSettings, Opponents, RunConfig
from stoneworks.training.runs.schedule import Schedule, progress_points, value_at

#: Maximum length of a game: positions are stored with the number of actions to its end.
MAX_ACTIONS = 2**16 - 1
#: Observation planes with the stones of both players; games without them have no ownership as a training target.
OWNERSHIP_PLANES = ("own_stones", "opponent_stones")


def has_ownership(game: Game) -> bool:
    """Return whether positions of a game can have the owners of the cells at the end of the game as a training target."""
    return set(OWNERSHIP_PLANES) <= set(game.observation_planes)


class SearchConfig(Document):
    """The search of self-play.

    Attributes:
        policy: selection rule, ``gumbel`` or ``puct``.
        simulations: simulations of a full search, which provides training targets; a schedule.
        capped_simulations: simulations of the other searches, which only choose an action (playout cap randomization: Wu,
            Accelerating self-play learning in Go, 2019, section 3.1); a schedule.
        full_search_share: share of full searches.
        value_scale: weight of values in a Gumbel search (see :class:`stoneworks.models.search.gumbel.Gumbel`).
        leaf_values: values of leaves in addition to the network's, which is untrained at first: ``heuristic``, the
            heuristic of the game with its fitted scale; ``playouts``, random playouts; or ``none``.
        leaf_value_weight: weight of these values, in [0, 1]; the network has the rest; a schedule.
        teacher_share: share of the run, at its start, in which the one-turn search of the greedy bot plays instead of the
            search with the network; the game needs a heuristic.
        leaf_value_playouts: random playouts per leaf, for ``leaf_values: playouts``.
        discount: discount of values and results per action: a win in n actions counts as its n-th power, so that the
            winning side finishes the game and the losing side prolongs it; a schedule.
        solve: whether the search propagates proven results and looks for wins within the turn.
    """

    renamed_keys: ClassVar[Mapping[str, str]] = RENAMED_KEYS | {
        "full_share": "full_search_share",
        "fast_simulations": "capped_simulations",
    }

    policy: Literal["gumbel", "puct"] = "gumbel"
    simulations: Schedule[Annotated[Int, Field(ge=2)]] = 32
    capped_simulations: Schedule[Annotated[Int, Field(ge=1)]] = 8
    full_search_share: float = Field(0.3, gt=0, le=1)
    value_scale: float = Field(0.2, gt=0)
    leaf_values: LeafValuesName = "heuristic"
    leaf_value_weight: Schedule[Annotated[float, Field(ge=0, le=1)]] = ((0.0, 1.0), (0.4, 0.0))
    teacher_share: float = Field(0.0, ge=0, le=1)
    leaf_value_playouts: Int = Field(4, ge=1)
    discount: Schedule[Annotated[float, Field(gt=0, le=1)]] = 1.0
    solve: bool = True

    def selection_rule(self) -> SelectionRule:
        """Return the selection rule, with exploration."""
        if self.policy == "puct":
            return PUCT(exploration=1.25, noise_concentration=0.15)
        return Gumbel(value_scale=self.value_scale)


class PlayConfig(Document):
    """The agent at play: in matches, and as a bot that loads the checkpoint and searches.

    Attributes:
        leaf_values: values of leaves in addition to the network's: ``heuristic``, ``playouts`` or ``none`` (see ``SearchConfig``).
        leaf_value_weight: weight of these values, in [0, 1]; the network has the rest.
        leaf_value_playouts: random playouts per leaf, for ``leaf_values: playouts``.
    """

    renamed_keys: ClassVar[Mapping[str, str]] = RENAMED_KEYS

    leaf_values: LeafValuesName = "none"
    leaf_value_weight: float = Field(0.5, ge=0, le=1)
    leaf_value_playouts: Int = Field(16, ge=1)


class SelfPlayConfig(Document):
    """Self-play games.

    Attributes:
        num_games: number of concurrent games per process, which is also the batch size of the network. With several
            ``games``, that of the one with the largest share; the others have fewer.
        device: where positions are evaluated: ``cpu`` for the network on ``device`` of the run and all else on the processor;
            ``cuda`` for observations, features and network on a GPU, with a process for each GPU (see docs/gpu.md); or
            ``emulated``, the same without a GPU, for tests. On a GPU, the games are in two halves: while one is evaluated, all
            processors walk the trees of the other.
        random_opening_share: share of games that start with random actions.
        random_opening_actions: maximum number of these actions; the number is uniform from 1.
        random_action_share: share of later actions that are random instead: first the plane or the global action is drawn,
            then the cell, so that a pass, which is rare in mid-game in self-play, has to be answered. The game up to
            there then counts as its opening, because its result no longer says how good these positions were.
    """

    num_games: Int = Field(128, ge=1)
    device: Literal["cpu", "cuda", "emulated"] = "cpu"
    random_opening_share: float = Field(0.8, ge=0, le=1)
    random_opening_actions: Int = Field(12, ge=1)
    random_action_share: float = Field(0.0, ge=0, lt=1)


class LearnerConfig(Document):
    """Gradient steps and the replay buffer.

    Attributes:
        batch_size: positions per gradient step.
        replay_ratio: average number of times that each position is used for training.
        buffer_bytes: maximum size of the replay buffer in bytes.
        window_share: share of all positions so far that is used for training, the newest ones, but at least
            ``min_window``.
        min_window: minimum number of positions of the window.
        learning_rate: learning rate of AdamW, after the warm-up; a schedule.
        warm_up_steps: gradient steps over which the learning rate increases from 0.
        weight_decay: weight decay of AdamW.
        ema_decay: decay per gradient step of the moving average of the weights, which is used in self-play and matches; a
            schedule.
        search_value_share: share of the search value in the value target; the rest is the result of the game.
        ownership_weight: weight of the loss of an auxiliary head that predicts the owner of each cell at the end of the
            game (Wu, 2019, section 4.1); 0 for none. Resuming cannot add or remove the head. The game must have the planes
            ``own_stones`` and ``opponent_stones``.
        short_term_value_weight: weight of the loss of an auxiliary head that predicts the values of the search about 6, 16
            and 50 actions later (KataGo); 0 for none. Resuming cannot add or remove the head.
    """

    renamed_keys: ClassVar[Mapping[str, str]] = {
        "samples_per_position": "replay_ratio",
        "final_board_weight": "ownership_weight",
    }

    batch_size: Int = Field(256, ge=2)
    replay_ratio: float = Field(6.0, gt=0)
    buffer_bytes: Int = Field(500_000_000, ge=1)
    window_share: float = Field(0.5, gt=0, le=1)
    min_window: Int = Field(20_000, ge=1)
    learning_rate: Schedule[Annotated[float, Field(gt=0)]] = ((0.0, 2e-3), (1.0, 1e-4))
    warm_up_steps: Int = Field(50, ge=0)
    weight_decay: float = Field(1e-4, ge=0)
    ema_decay: Schedule[Annotated[float, Field(ge=0, lt=1)]] = 0.99
    search_value_share: float = Field(0.3, ge=0, le=1)
    ownership_weight: float = Field(0.0, ge=0)
    short_term_value_weight: float = Field(0.0, ge=0)


class AlphaZeroMatchesConfig(MatchSettings):
    """Paired matches of the policy and of the search during training.

    Attributes:
        positions: number of positions between matches.
        search_opponents: bot names, opponents of the search.
        simulations: simulations of that search.
    """

    positions: Int = Field(50_000, ge=1)
    opponents: Opponents = ("random", "greedy", "mcts:100")
    search_opponents: Opponents = ("mcts:1000",)
    simulations: Int = Field(64, ge=1, le=MAX_SEARCH_SIMULATIONS)


def _check_cluster(value: str) -> str:
    host, _, port = value.rpartition(":")
    if value not in ("", "auto") and not (host and "/" not in host and port.isdecimal()):
        raise ValueError(f"must be auto, HOST:PORT or empty, got {value!r}")
    return value


def _normalized(shares: Mapping[str, float]) -> dict[str, float]:
    total = sum(shares.values())
    return {game: share / total for game, share in shares.items()}


class AlphaZeroConfig(RunConfig):
    """A run of AlphaZero self-play. Only positions with a full search are counted as training positions.

    Attributes:
        game: the game string; the checkpoint, the matches and the network's architecture are for this game.
        games: share of the training positions by game string, for self-play of several games with one network, e.g. several
            board sizes; ``game`` must be one of them. Empty for ``game`` alone. Shares are relative to their sum; each is a
            schedule. Of a game with random actions, only the positions after the last one are stored.
        positions: total number of training positions. The run ends with complete games, so there are a few more.
        positions_per_iteration: new positions per iteration, which ends with gradient steps and a new acting network.
        processes: number of self-play processes in addition to the learner; 0 to alternate in one process; -1 to choose
            automatically: 0 on one core, else one per core, or one per GPU with ``self_play.device``. Runs are reproducible
            only with 0. With ``cluster``, the maximum number of self-play actors; -1 for one per core of the cluster.
        cluster: Ray cluster for self-play: ``auto`` for the one of this machine, or ``HOST:PORT`` of its head node; empty
            to use this machine alone.
        threads: number of torch threads per process. Searches on CPUs evaluate networks of this package on one thread in any
            case. Results may depend on the number in their last digits.
        learner_threads: number of torch threads of gradient steps, for a learner on a machine or node with more cores than
            it needs for self-play; 0 for ``threads``.
        device: device of the networks.
        precision: data type of networks: ``float32``, ``bfloat16``, or ``auto`` for bfloat16 if the device supports it
            in hardware, but float32 for searches with networks of this package on CPUs. The learner's weights are always float32.
        search: the search of self-play.
        play: the search of the agent at play.
        self_play: self-play games.
        learner: the learner.
        matches: matches during training.
    """

    title: ClassVar[str] = "AlphaZero"
    facts: ClassVar[tuple[str, ...]] = ("games", "gradient_steps")
    unit: ClassVar[str] = "positions"
    changeable: ClassVar[tuple[str, ...]] = (
        "processes",
        "cluster",
        "learner_threads",
        "device",
        "precision",
        "matches",
        "search",
        "play",
        "self_play",
        "learner",
    )

    algorithm: Literal["alphazero"] = "alphazero"
    positions: Int = Field(ge=1)
    games: dict[GameString, Schedule[Annotated[float, Field(ge=0)]]] = Field(default_factory=dict)
    positions_per_iteration: Int = Field(2048, ge=1)
    processes: Int = Field(-1, ge=-1)
    cluster: Annotated[str, AfterValidator(_check_cluster)] = ""
    threads: Int = Field(1, ge=1)
    learner_threads: Int = Field(0, ge=0)
    device: Device = "auto"
    precision: Literal["auto", "float32", "bfloat16"] = "auto"
    search: SearchConfig = SearchConfig()
    play: PlayConfig = PlayConfig()
    self_play: SelfPlayConfig = SelfPlayConfig()
    learner: LearnerConfig = LearnerConfig()
    matches: AlphaZeroMatchesConfig = AlphaZeroMatchesConfig()

    def shares(self, progress: float) -> dict[str, float]:
        """Return the share of new training positions of each game, by canonical game string; the sum is 1.

        ``progress`` is the completed fraction of the run, in [0, 1].
        """
        shares = {str(load_game(game)): value_at(share, progress) for game, share in self.games.items()}
        return _normalized(shares or {str(load_game(self.game)): 1.0})

    def largest_shares(self) -> dict[str, float]:
        """Return the largest share of each game during the run, relative to their sum."""
        shares = [self.shares(progress) for progress in progress_points(*self.games.values())]
        return _normalized({game: max(each[game] for each in shares) for game in shares[0]})

    def bot_names(self) -> Iterable[str]:
        """See :meth:`RunConfig.bot_names`."""
        return (*self.matches.opponents, *self.matches.search_opponents)

    @classmethod
    def game_defaults(cls, game: Game) -> Mapping[str, Any]:
        """Return defaults that depend on the game: some bots and leaf values need a heuristic."""
        leaf_values = {} if has_heuristic(game) else {"search.leaf_values": "playouts"}
        return {"matches.opponents": playable_bots(AlphaZeroMatchesConfig().opponents, game)} | leaf_values

    @model_validator(mode="after")
    def _check_values(self) -> AlphaZeroConfig:
        """Check values that depend on each other or on the game."""
        game, search = load_game(self.game), self.search
        games = [load_game(name) for name in self.games]
        names, shares = list(map(str, games)), self.games.values()
        of_game = Architecture.of_game(game, self.network)
        fits = all(type(one) is type(game) and Architecture.of_game(one, self.network) == of_game for one in games)
        is_played = all(any(value_at(share, at) for share in shares) for at in progress_points(*shares))
        if not network_entry(self.network.kind).win_draw_loss:
            kinds = ", ".join(entry.name for entry in NETWORKS.loadable() if entry.win_draw_loss)
            raise ValueError(f"network.kind must be one of {kinds}, got {self.network.kind!r}")
        most, capped, teacher = search.simulations, search.capped_simulations, search.teacher_share
        is_capped = all(value_at(capped, at) <= value_at(most, at) for at in progress_points(most, capped))
        evaluated, weight = has_heuristic(game), self.learner.ownership_weight
        leaf_values = ("playouts", "none", *(["heuristic"] if evaluated else []))
        no_planes = f"be 0: {game} has no planes {' and '.join(OWNERSHIP_PLANES)}"
        no_heuristic = f": {game} has no heuristic"
        no_heuristic_values = f"be playouts or none{no_heuristic}"
        of_games, on_device = self.self_play, self.self_play.device != "cpu"
        longest = max(one.max_game_length() for one in (game, *games))
        for key, value, is_valid, allowed in (
            ("games", names, fits, f"be {game.name} with the planes of {game}"),
            ("games", names, not names or str(game) in names, f"contain game, {game}"),
            ("games", names, len(set(names)) == len(names), "be different"),
            ("games", self.games, not names or is_played, "have a share above 0 at any time"),
            ("game", names or [self.game], longest <= MAX_ACTIONS, f"have at most {MAX_ACTIONS:,} actions"),
            ("search.capped_simulations", capped, is_capped, f"be at most search.simulations, {most}"),
            ("processes", self.processes, not self.cluster or self.processes != 0, "be -1 or >= 1 with a cluster"),
            ("self_play.device", of_games.device, not (on_device and self.cluster), "be cpu with a cluster"),
            ("self_play.num_games", of_games.num_games, not on_device or of_games.num_games > 1, "be >= 2 on a device"),
            ("learner.ownership_weight", weight, weight == 0 or has_ownership(game), no_planes),
            ("search.leaf_values", search.leaf_values, search.leaf_values in leaf_values, no_heuristic_values),
            ("play.leaf_values", self.play.leaf_values, self.play.leaf_values in leaf_values, no_heuristic_values),
            ("search.teacher_share", teacher, teacher == 0 or evaluated, f"be 0{no_heuristic}"),
        ):
            if not is_valid:
                raise ValueError(f"{key} must {allowed}, got {value!r}")
        return self
