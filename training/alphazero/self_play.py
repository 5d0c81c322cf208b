"""Self-play: concurrent games in which a search chooses each action."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from stoneworks.envs.rules import Game, State
from stoneworks.envs.rules.compiler.types import BoardArray, Int64s, StateArray
from stoneworks.envs.rules.contract import apply_action
from stoneworks.envs.rules.fields import NO_WINNER
from stoneworks.evaluation.match import random_opening
from stoneworks.models.search.guides import make_guide
from stoneworks.models.search.network_search import Evaluate, NetworkSearch, SearchResult, SearchSettings
from stoneworks.training.alphazero.config import AlphaZeroConfig, has_final_board
from stoneworks.training.alphazero.final_board import FINAL_BOARD, final_board
from stoneworks.training.alphazero.positions import make_positions, position_dtype
from stoneworks.training.alphazero.teacher import Teacher
from stoneworks.training.runs.schedule import progress_points, value_at


def apply_actions(board: BoardArray, states: StateArray, actions: Int64s) -> None:
    """Apply one legal action to each of ``states[n]``, in place."""
    for row in range(actions.shape[0]):
        apply_action(board[0], states[row], actions[row])


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


class SelfPlay:
    """Plays ``num_games`` concurrent games, by default ``config.self_play.num_games``; a new one replaces each that ends.

    Attributes:
        search: the search, with its timers.
        num_positions: number of training positions so far, those of unfinished games included.
        simulations: simulations of a full search at this time.
        fast_simulations: simulations of a fast search at this time.
    """

    def __init__(
        self,
        game: Game,
        evaluate: Evaluate,
        config: AlphaZeroConfig,
        seed: np.random.SeedSequence,
        *,
        num_games: int | None = None,
    ) -> None:
        num_games = config.self_play.num_games if num_games is None else num_games
        simulations = config.search.simulations
        self.search = NetworkSearch(
            game,
            evaluate,
            SearchSettings(
                config.search.search_policy(),
                solve=config.search.solve,
                guide=make_guide(config.search.guide, game, config.search.guide_playouts),
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
            self._teacher = Teacher(game, int(self.generator.integers(2**63)))
        self._states: npt.NDArray[np.void] = np.zeros(num_games, game.state_dtype)
        self._positions: list[list[np.void]] = [[] for _ in range(num_games)]
        self._actions: list[list[int]] = [[] for _ in range(num_games)]
        self._num_opening_actions = [0] * num_games
        for row in range(num_games):
            self._start(row)
        self.set_progress(0.0)

    def set_progress(self, progress: float) -> None:
        """Set what changes with ``progress``, the completed fraction of the run in [0, 1]."""
        settings = self._config.search
        self._is_taught = progress < settings.teacher_share
        self.search.discount = value_at(settings.discount, progress)
        self.search.guide_weight = value_at(settings.guide_weight, progress)
        self.simulations = round(value_at(settings.simulations, progress))
        self.fast_simulations = round(value_at(settings.fast_simulations, progress))

    def step(self) -> list[PlayedGame]:
        """Play one action in each game and return the finished games; new games replace them."""
        learned, result = self._search()
        if learned:
            for row, position in enumerate(make_positions(self._game, self._states, result.policies, result.values)):
                position["actions_left"] = len(self._actions[row])  # actions so far; converted in _finish
                self._positions[row].append(position)
            self.num_positions += len(self._states)
        actions = result.actions
        if self._config.search.policy == "puct" and not self._is_taught:
            actions = self._draw_by_visits(result.visits, actions)
        random_rows = self._draw_some_at_random(actions)
        self._apply(self._game.board, self._states, actions)
        for row, action in enumerate(actions.tolist()):
            self._actions[row].append(action)
        for row in random_rows:
            self._positions[row] = []
            self._num_opening_actions[row] = len(self._actions[row])
        return [self._finish(row) for row in np.flatnonzero(self._states["ending"]).tolist()]

    def _search(self) -> tuple[bool, SearchResult]:
        """Return whether the positions are used for training, and the result of the search."""
        if self._is_taught:
            return True, self._teacher.run(self._states)
        full = bool(self.generator.random() < self._config.search.full_share)
        simulations = self.simulations if full else self.fast_simulations
        return full, self.search.run(self._states, simulations, self.generator)

    def _draw_by_visits(self, visits: npt.NDArray[np.int32], best: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return actions sampled by visit counts in games with few actions so far, and the best actions in the others."""
        cumulative = visits.cumsum(axis=1)
        draws = self.generator.integers(cumulative[:, -1])[:, None]
        drawn = (cumulative > draws).argmax(axis=1)
        sampled_actions = self._config.self_play.sampled_actions
        young = [
            len(actions) - opening < sampled_actions
            for actions, opening in zip(self._actions, self._num_opening_actions, strict=True)
        ]
        return np.where(young, drawn, best)

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

    def _start(self, row: int) -> None:
        settings = self._config.self_play
        length = 0
        if self.generator.random() < settings.random_opening_share:
            length = int(self.generator.integers(1, settings.random_opening_actions + 1))
        opening = random_opening(self._game, length, self.generator)
        self._states[row] = opening.record
        self._actions[row] = opening.history()
        self._positions[row] = []
        self._num_opening_actions[row] = len(self._actions[row])

    def _finish(self, row: int) -> PlayedGame:
        winner = int(self._states["winner"][row])
        positions = np.array(self._positions[row], self._dtype)
        positions["actions_left"] = len(self._actions[row]) - positions["actions_left"]
        if winner != NO_WINNER:
            positions["result"] = np.where(positions["state"]["current_player"] == winner, 1, -1)
        if has_final_board(self._game):
            owners = final_board(self._game, self._states[row], player=0)
            positions[FINAL_BOARD] = np.where(positions["state"]["current_player"][:, None] == 0, owners, -owners)
        actions, num_opening_actions = tuple(self._actions[row]), self._num_opening_actions[row]
        played = PlayedGame(str(self._game), positions, actions, num_opening_actions, winner)
        self._start(row)
        return played
