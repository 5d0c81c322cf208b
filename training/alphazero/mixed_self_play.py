"""Self-play of all games of a run, e.g. of several board sizes, with one network."""

from __future__ import annotations

import time
from dataclasses import dataclass, fields

import numpy as np

from stoneworks.envs.rules import load_game
from stoneworks.models.search.network_search import Evaluate
from stoneworks.training.alphazero.config import AlphaZeroConfig
from stoneworks.training.alphazero.self_play import PlayedGame, SelfPlay

#: Smallest number of concurrent games of a game with a small share; the network is slower with smaller batches.
MIN_GAMES = 16


@dataclass
class Clocks:
    """Time and counts of self-play, summed over processes.

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

    def add(self, other: Clocks) -> None:
        """Add the time and counts of ``other``."""
        for item in fields(self):
            setattr(self, item.name, getattr(self, item.name) + getattr(other, item.name))


class MixedSelfPlay:
    """Plays the games of ``config.shares``; each step is taken in the game that is furthest below its share.

    Attributes:
        parts: self-play by game string.
    """

    def __init__(self, evaluate: Evaluate, config: AlphaZeroConfig, seed: np.random.SeedSequence) -> None:
        """Begin the concurrent games: ``config.self_play.num_games`` of the game with the largest share.

        The others have fewer in proportion to their shares, but at least ``MIN_GAMES`` if the first has: with as many, the
        games of a small share would take most of a run until the first of them end.
        """
        shares = config.largest_shares()
        largest = max(shares.values())
        most = config.self_play.num_games
        seeds = [seed] if len(shares) == 1 else seed.spawn(len(shares))
        self._config = config
        self._shares = config.shares(0)
        self._due = dict.fromkeys(shares, 0.0)
        self.parts = {
            game: SelfPlay(
                load_game(game),
                evaluate,
                config,
                own_seed,
                num_games=min(most, max(MIN_GAMES, round(most * share / largest))),
            )
            for (game, share), own_seed in zip(shares.items(), seeds, strict=True)
        }

    def set_progress(self, progress: float) -> None:
        """Set what changes with ``progress``, the completed fraction of the run in [0, 1]."""
        self._shares = self._config.shares(progress)
        for self_play in self.parts.values():
            self_play.set_progress(progress)

    def step(self) -> tuple[list[PlayedGame], Clocks]:
        """Play one action in each game of one part; return the finished games, and the time and counts of this step."""
        game = max(self.parts, key=lambda game: (self._due[game], self._shares[game]))
        self_play, search = self.parts[game], self.parts[game].search
        num_positions = self_play.num_positions
        before = search.network_seconds, search.search_seconds, search.num_simulations_done
        begin = time.perf_counter()
        played = self_play.step()
        seconds = time.perf_counter() - begin
        num_positions = self_play.num_positions - num_positions
        for name, share in self._shares.items():
            self._due[name] += num_positions * (share - (name == game))
        in_network, in_search = search.network_seconds - before[0], search.search_seconds - before[1]
        other, num_simulations = seconds - in_network - in_search, search.num_simulations_done - before[2]
        return played, Clocks(in_network, in_search, other, num_simulations)
