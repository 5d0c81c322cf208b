"""``Teacher``: the one-turn search of the greedy bot in the place of the search of self-play, for the start of a run."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from stoneworks.envs.rules import Game
from stoneworks.envs.rules.parts import heuristic_scale
from stoneworks.models.bots.greedy_bot import GreedyBot
from stoneworks.models.search.network_search import SearchResult


class Teacher:
    """Searches one turn ahead with the hand-written heuristic of the game.

    A network that imitates it (Silver et al., 2016, section "Supervised learning of policy networks") begins self-play at
    about the strength of the greedy bot, at a small part of the cost of a search with a network.
    """

    def __init__(self, game: Game, seed: int) -> None:
        """Compile the search. Raises ``ValueError`` if the game has no heuristic."""
        self._bot = GreedyBot(game, seed)
        self._scale = heuristic_scale(game)

    def run(self, states: npt.NDArray[np.void]) -> SearchResult:
        """Search from ``[num_games]`` non-terminal positions.

        The policy is uniform over the best actions, and the value is ``tanh(evaluation / scale)`` after the best turn.
        """
        values, actions = self._bot.search(states)
        best = values.max(axis=1, keepdims=True)
        is_best = values == best
        return SearchResult(
            actions,
            np.tanh(best[:, 0] / self._scale).astype(np.float32),
            (is_best / is_best.sum(axis=1, keepdims=True)).astype(np.float32),
            is_best.astype(np.int32),
            np.zeros(len(states), np.bool_),
        )
