"""Self-play: concurrent games in which a search chooses each action."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from stoneworks.envs.rules import Game
from stoneworks.envs.rules.kernels import BoardArray, Int64s, StateArray, UInt64s
from stoneworks.envs.rules.kernels.random_numbers import random_legal_action
from stoneworks.envs.rules.templates import NO_WINNER, apply_action, legal_actions
from stoneworks.evaluation.match import random_opening
from stoneworks.models.search.guides import make_guide
from stoneworks.models.search.network_search import Evaluate, NetworkSearch, SearchResult, SearchSettings
from stoneworks.training.alphazero.config import AlphaZeroConfig, has_final_board
from stoneworks.training.alphazero.final_board import FINAL_BOARD, UNKNOWN_OWNER, final_board
from stoneworks.training.alphazero.positions import make_positions, position_dtype
from stoneworks.training.alphazero.teacher import Teacher

#: Value of the weak player in games without one.
NO_PLAYER = -1


def apply_actions(board: BoardArray, states: StateArray, actions: Int64s) -> None:
    """Apply one legal action to each of ``states``, in place."""
    for row in range(actions.shape[0]):
        apply_action(board[0], states[row], actions[row])


def draw_random_actions(board: BoardArray, states: StateArray, rows: Int64s, seeds: UInt64s, actions: Int64s) -> None:
    """Write a uniformly random legal action of each row to ``actions``; ``seeds`` has one state per row and is advanced."""
    mask = np.empty(board[0].num_actions, np.int8)
    for place in range(rows.shape[0]):
        legal_actions(board[0], states[rows[place]], mask)
        actions[rows[place]] = random_legal_action(mask, seeds, place)


@dataclass(frozen=True)
class PlayedGame:
    """A finished self-play game.

    Attributes:
        game: the game string.
        positions: training positions (see :func:`stoneworks.training.alphazero.positions.position_dtype`).
        actions: all actions of the game.
        num_opening_actions: number of random actions at the start.
        winner: the winning player, or ``NO_WINNER``.
        resigned: whether the loser resigned.
    """

    game: str
    positions: npt.NDArray[np.void]
    actions: tuple[int, ...]
    num_opening_actions: int
    winner: int
    resigned: bool


class SelfPlay:
    """Plays ``num_games`` concurrent games, by default ``config.self_play.num_games``; a new one replaces each that ends.

    Attributes:
        search: the search, with its timers.
        num_actions_played: number of actions chosen by the search so far, over all games.
        num_positions: number of training positions so far, those of unfinished games included.
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
        self.search = NetworkSearch(
            game,
            evaluate,
            SearchSettings(
                config.search.search_policy(),
                discount=config.search.discount,
                solve=config.search.solve,
                guide=make_guide(config.search.guide, game, config.search.guide_playouts),
                features=config.network.sees_features,
            ),
            max_games=num_games,
            max_simulations=config.search.simulations,
        )
        self.num_actions_played = 0
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
        self._draw_random_actions = game.compiled(draw_random_actions)
        self._weak_players = np.full(num_games, NO_PLAYER, np.int8)
        self._weaknesses = np.zeros(num_games)
        for row in range(num_games):
            self._start(row)
        self.set_progress(0.0)

    def set_progress(self, progress: float) -> None:
        """Set teacher and guide weight for ``progress``, the completed fraction of the run in [0, 1]."""
        self._is_taught = progress < self._config.search.teacher_share
        self.search.guide_weight = self._config.search.guide_weight_at(progress)

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

        self._play_weakly(actions)

        resignation_value = self._config.self_play.resignation_value
        resigning = (result.values < -resignation_value) if resignation_value > 0 else np.zeros(len(actions), np.bool_)
        players = self._states["current_player"].copy()
        self._apply(self._game.board, self._states, actions)
        self.num_actions_played += len(actions)
        for row, action in enumerate(actions.tolist()):
            self._actions[row].append(action)
        over = self._states["ending"] != 0
        return [
            self._finish(row, None if over[row] else 1 - int(players[row]))
            for row in np.flatnonzero(over | resigning).tolist()
        ]

    def _search(self) -> tuple[bool, SearchResult]:
        """Return whether the positions are used for training, and the result of the search."""
        if self._is_taught:
            return True, self._teacher.run(self._states)
        settings = self._config.search
        full = bool(self.generator.random() < settings.full_share)
        simulations = settings.simulations if full else settings.fast_simulations
        return full, self.search.run(self._states, simulations, self.generator)

    def _play_weakly(self, actions: npt.NDArray[np.int64]) -> None:
        """Replace actions of weak players by random ones, with the probability drawn for the game."""
        weak = self._states["current_player"] == self._weak_players
        rows = np.flatnonzero(weak & (self.generator.random(len(actions)) < self._weaknesses))
        seeds = self.generator.integers(0, 2**64, len(rows), np.uint64)
        self._draw_random_actions(self._game.board, self._states, rows, seeds, actions)

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
        is_weak = self.generator.random() < settings.weak_share
        self._weak_players[row] = self.generator.integers(2) if is_weak else NO_PLAYER
        self._weaknesses[row] = self.generator.random()

    def _finish(self, row: int, winner_by_resignation: int | None) -> PlayedGame:
        winner = int(self._states["winner"][row]) if winner_by_resignation is None else winner_by_resignation
        positions = np.array(self._positions[row], self._dtype)
        positions["actions_left"] = len(self._actions[row]) - positions["actions_left"]
        positions["result_counts"] = self._weak_players[row] == NO_PLAYER
        if winner != NO_WINNER:
            positions["result"] = np.where(positions["state"]["current_player"] == winner, 1, -1)
        if has_final_board(self._game) and winner_by_resignation is not None:
            positions[FINAL_BOARD] = UNKNOWN_OWNER
        elif has_final_board(self._game):
            owners = final_board(self._game, self._states[row], player=0)
            positions[FINAL_BOARD] = np.where(positions["state"]["current_player"][:, None] == 0, owners, -owners)
        played = PlayedGame(
            str(self._game),
            positions,
            tuple(self._actions[row]),
            self._num_opening_actions[row],
            winner,
            winner_by_resignation is not None,
        )
        self._start(row)
        return played
