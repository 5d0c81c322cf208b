"""Self-play: concurrent games in which a search chooses each action."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from stoneworks.envs.rules import Game, State
from stoneworks.envs.rules.fields import NO_WINNER
from stoneworks.envs.rules.parts import heuristic_scale
from stoneworks.envs.rules.templates import apply_actions
from stoneworks.evaluation.match import random_opening
from stoneworks.models.bots.greedy_bot import GreedyBot
from stoneworks.models.search.device_search import RecordEvaluation
from stoneworks.models.search.leaf_values import make_leaf_values
from stoneworks.models.search.network_search import Evaluate, NetworkSearch, SearchResult, SearchSettings
from stoneworks.training.alphazero.config import AlphaZeroConfig, has_ownership
from stoneworks.training.alphazero.ownership import OWNERSHIP, ownership
from stoneworks.training.alphazero.positions import make_positions, position_dtype
from stoneworks.training.alphazero.short_term_values import SHORT_TERM_VALUES, short_term_values
from stoneworks.training.runs.schedule import progress_points, value_at

#: Number of actions per game, after the opening, that a PUCT search samples by visits; later ones are the most visited. A
#: Gumbel search does not need this, since its choice is random already.
SAMPLED_ACTIONS = 16


def random_action(state: State, generator: np.random.Generator) -> int:
    """Return a legal action, of a plane or global action that is drawn uniformly from those with legal actions."""
    game, legal = state.game, np.array(state.legal_actions())
    num_cells = game.grid.num_cells
    kinds = np.where(legal < game.num_action_planes * num_cells, legal // num_cells, legal)
    return int(generator.choice(legal[kinds == generator.choice(np.unique(kinds))]))


@dataclass(frozen=True)
class PlayedGame:
    """A finished self-play game.

    Attributes:
        game: the game string.
        positions: training positions (see :func:`stoneworks.training.alphazero.positions.position_dtype`).
        actions: all actions of the game.
        num_opening_actions: number of actions up to the last random one, at the start or later.
        winner: the winning player, or ``NO_WINNER``.
    """

    game: str
    positions: npt.NDArray[np.void]
    actions: tuple[int, ...]
    num_opening_actions: int
    winner: int


class SelfPlayTimings(NamedTuple):
    """Time and counts of self-play.

    Attributes:
        network_seconds: time in the network.
        search_seconds: time in the search, without the network.
        other_seconds: time in the rest of self-play.
        num_simulations: number of simulations.
    """

    network_seconds: float = 0.0
    search_seconds: float = 0.0
    other_seconds: float = 0.0
    num_simulations: int = 0

    def minus(self, earlier: SelfPlayTimings) -> SelfPlayTimings:
        """Return the time and counts since ``earlier``."""
        return SelfPlayTimings(
            self.network_seconds - earlier.network_seconds,
            self.search_seconds - earlier.search_seconds,
            self.other_seconds - earlier.other_seconds,
            self.num_simulations - earlier.num_simulations,
        )

    @staticmethod
    def sum(timings: Iterable[SelfPlayTimings]) -> SelfPlayTimings:
        """Return the sums over steps or processes."""
        return SelfPlayTimings(*map(sum, zip(*timings, strict=True)))


@dataclass
class _GameInProgress:
    """A game in progress: its actions so far, and the positions to train on with the number of actions before each."""

    actions: list[int]
    num_opening_actions: int
    positions: list[np.void] = field(default_factory=list)
    actions_before: list[int] = field(default_factory=list)

    def add(self, position: np.void) -> None:
        """Add the current position."""
        self.positions.append(position)
        self.actions_before.append(len(self.actions))

    def count_as_opening(self) -> None:
        """Make all actions so far the opening, whose positions are not trained on."""
        self.positions.clear()
        self.actions_before.clear()
        self.num_opening_actions = len(self.actions)


def greedy_search(bot: GreedyBot, game: Game, states: npt.NDArray[np.void]) -> SearchResult:
    """Search one turn ahead with the heuristic of the game, in place of the search with a network.

    A network that imitates it (Silver et al., 2016, section "Supervised learning of policy networks") begins self-play at
    about the strength of the greedy bot, at a small part of the cost of a search with a network. The policy is uniform over
    the best actions, and the value is ``tanh(evaluation / scale)`` after the best turn.

    Args:
        bot: the greedy bot for ``game``.
        game: the game.
        states: ``[num_games]``, non-terminal positions.
    """
    values, actions = bot.search(states)
    best = values.max(axis=1, keepdims=True)
    is_best = values == best
    return SearchResult(
        actions,
        np.tanh(best[:, 0] / heuristic_scale(game)).astype(np.float32),
        (is_best / is_best.sum(axis=1, keepdims=True)).astype(np.float32),
        is_best.astype(np.int32),
        np.zeros(len(states), np.bool_),
    )


class SelfPlay:
    """Plays ``num_games`` concurrent games, by default ``config.self_play.num_games``; a new one replaces each that ends.

    Attributes:
        games: the games in progress.
        search: the search, with its timers.
        num_positions: number of training positions so far, those of unfinished games included. A random action takes away those
            before it.
        simulations: simulations of a full search at this time.
        capped_simulations: simulations of the other searches at this time.
    """

    def __init__(
        self,
        game: Game,
        evaluate: Evaluate | RecordEvaluation,
        config: AlphaZeroConfig,
        seed: np.random.SeedSequence,
        *,
        num_games: int | None = None,
        make_search: Callable[..., NetworkSearch] = NetworkSearch,
    ) -> None:
        num_games = config.self_play.num_games if num_games is None else num_games
        simulations = config.search.simulations
        self.search = make_search(
            game,
            evaluate,
            SearchSettings(
                config.search.selection_rule(),
                solve=config.search.solve,
                leaf_values=make_leaf_values(config.search.leaf_values, game, config.search.leaf_value_playouts),
                features=config.network.sees_features,
            ),
            max_games=num_games,
            max_simulations=max(round(value_at(simulations, at)) for at in progress_points(simulations)),
        )
        self.num_positions = 0
        self.generator = np.random.default_rng(seed)
        self._game = game
        self._config = config
        self._dtype = position_dtype(game)
        self._apply = game.compiled(apply_actions)
        if config.search.teacher_share > 0:
            self._teacher = GreedyBot(game, int(self.generator.integers(2**63)))
        self._states: npt.NDArray[np.void] = np.zeros(num_games, game.state_dtype)
        self.games = [self._start(row) for row in range(num_games)]
        self._seconds = 0.0
        self.set_progress(0.0)

    def set_progress(self, progress: float) -> None:
        """Set what changes with ``progress``, the completed fraction of the run in [0, 1]."""
        settings = self._config.search
        self._is_taught = progress < settings.teacher_share
        self.search.discount = value_at(settings.discount, progress)
        self.search.leaf_value_weight = value_at(settings.leaf_value_weight, progress)
        self.simulations = round(value_at(settings.simulations, progress))
        self.capped_simulations = round(value_at(settings.capped_simulations, progress))

    @property
    def timings(self) -> SelfPlayTimings:
        """Time and counts so far."""
        in_network, in_search = self.search.network_seconds, self.search.search_seconds
        other = self._seconds - in_network - in_search
        return SelfPlayTimings(in_network, in_search, other, self.search.num_simulations_done)

    def step(self) -> list[PlayedGame]:
        """Play one action in each game and return the finished games; new games replace them."""
        begin = time.perf_counter()
        learned, result = self._search()
        if learned:
            positions = make_positions(self._game, self._states, result.policies, result.values)
            for game, position in zip(self.games, positions, strict=True):
                game.add(position)
            self.num_positions += len(self._states)
        actions = result.actions
        if self._config.search.policy == "puct" and not self._is_taught:
            actions = self._draw_by_visits(result)
        random_rows = self._draw_some_at_random(actions)
        self._apply(self._game.board, self._states, actions)
        for game, action in zip(self.games, actions.tolist(), strict=True):
            game.actions.append(action)
        for row in random_rows:
            self.num_positions -= len(self.games[row].positions)  # they are not stored
            self.games[row].count_as_opening()
        finished = [self._finish(row) for row in np.flatnonzero(self._states["ending"]).tolist()]
        self._seconds += time.perf_counter() - begin
        return finished

    def _search(self) -> tuple[bool, SearchResult]:
        """Return whether the positions are used for training, and the result of the search."""
        if self._is_taught:
            return True, greedy_search(self._teacher, self._game, self._states)
        full = bool(self.generator.random() < self._config.search.full_search_share)
        simulations = self.simulations if full else self.capped_simulations
        return full, self.search.run(self._states, simulations, self.generator)

    def _draw_by_visits(self, result: SearchResult) -> npt.NDArray[np.int64]:
        """Return actions sampled by visit counts in games with few actions and no proof so far, else the best actions."""
        cumulative = result.visits.cumsum(axis=1)
        draws = self.generator.integers(cumulative[:, -1])[:, None]
        drawn = (cumulative > draws).argmax(axis=1)
        young = [len(game.actions) - game.num_opening_actions < SAMPLED_ACTIONS for game in self.games]
        return np.where(young & ~result.solved, drawn, result.actions)

    def _draw_some_at_random(self, actions: npt.NDArray[np.int64]) -> list[int]:
        """Replace the actions of some games by random ones that do not end them, in place, and return these games."""
        share = self._config.self_play.random_action_share
        drawn = []
        for row in np.flatnonzero(self.generator.random(len(actions)) < share).tolist() if share else ():
            state = State.from_record(self._game, self._states[row], trusted=True)
            action = random_action(state, self.generator)
            if not state.child(action).is_terminal():
                actions[row] = action
                drawn.append(row)
        return drawn

    def _start(self, row: int) -> _GameInProgress:
        settings = self._config.self_play
        length = 0
        if self.generator.random() < settings.random_opening_share:
            length = int(self.generator.integers(1, settings.random_opening_actions + 1))
        opening = random_opening(self._game, length, self.generator)
        self._states[row] = opening.record
        actions = opening.history()
        return _GameInProgress(actions, len(actions))

    def _finish(self, row: int) -> PlayedGame:
        """Return a finished game, and start a new one in its place."""
        game, winner = self.games[row], int(self._states["winner"][row])
        positions = np.array(game.positions, self._dtype)
        positions["actions_left"] = len(game.actions) - np.array(game.actions_before, np.int64)
        if winner != NO_WINNER:
            positions["result"] = np.where(positions["state"]["current_player"] == winner, 1, -1)
        positions[SHORT_TERM_VALUES] = short_term_values(positions)
        if has_ownership(self._game):
            owners = ownership(self._game, self._states[row], player=0)
            positions[OWNERSHIP] = np.where(positions["state"]["current_player"][:, None] == 0, owners, -owners)
        self.games[row] = self._start(row)
        return PlayedGame(str(self._game), positions, tuple(game.actions), game.num_opening_actions, winner)
