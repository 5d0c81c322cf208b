"""``SearchBot``: plays what a search with a trained network finds."""

from __future__ import annotations

import os

import numpy as np
import numpy.typing as npt

from stoneworks.envs.rules import Batch, Game, State
from stoneworks.envs.rules.checks import check_integer
from stoneworks.models.bots.bot import Bot, check_game_goes_on, check_games_go_on, check_same_game
from stoneworks.models.checkpoint import load_checkpoint
from stoneworks.models.evaluator import NetworkEvaluator
from stoneworks.models.search.gumbel import Gumbel
from stoneworks.models.search.network_search import Evaluate, NetworkSearch, RootEdges, SearchPolicy, SearchResult

#: Games that are searched at once; more wait.
MAX_GAMES = 128


class SearchBot(Bot):
    """Searches every position anew, with the same number of simulations."""

    def __init__(
        self,
        evaluate: Evaluate,
        game: Game,
        seed: int | None = None,
        *,
        simulations: int = 64,
        policy: SearchPolicy | None = None,
        discount: float = 1.0,
        name: str = "search",
    ) -> None:
        """Make the bot.

        Args:
            evaluate: the network, such as a :class:`stoneworks.models.evaluator.NetworkEvaluator`.
            game: the game.
            seed: of the search; None draws one.
            simulations: of each search, at least 1.
            policy: how the search chooses; a Gumbel search without noise by default, which plays without chance.
            discount: of values for each action, as in the training of the network (see :class:`NetworkSearch`).
            name: what results call the bot.
        """
        self.simulations = check_integer("simulations", simulations, 1)
        self._game = game
        self._name = name
        self._generator = np.random.default_rng(seed)
        self._evaluate = evaluate
        self._policy = policy or Gumbel(gumbel_scale=0)
        self._discount = discount
        self._searches: dict[int, NetworkSearch] = {}

    @classmethod
    def load(
        cls,
        folder: str | os.PathLike[str],
        game: Game,
        seed: int | None = None,
        *,
        simulations: int = 64,
        name: str | None = None,
    ) -> SearchBot:
        """Return the bot that searches with a checkpoint's network, on the device where that is fastest.

        Raises:
            CheckpointError: the checkpoint does not fit (see ``load_checkpoint``).
        """
        checkpoint = load_checkpoint(folder, game)
        evaluate = NetworkEvaluator(checkpoint.network)
        discount = checkpoint.training.get("config", {}).get("search", {}).get("discount", 1.0)
        return cls(
            evaluate, game, seed, simulations=simulations, discount=discount, name=name or f"{folder}@{simulations}"
        )

    @property
    def name(self) -> str:
        """What results call the bot."""
        return self._name

    def step_with_policy(self, state: State) -> tuple[list[tuple[int, float]], int]:
        """See :meth:`Bot.step_with_policy`. The policy is the search's."""
        result = self.search(state)
        legal = state.legal_actions()
        return list(zip(legal, result.policies[0, legal].tolist(), strict=True)), int(result.actions[0])

    def step_batch(self, batch: Batch, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """See :meth:`Bot.step_batch`."""
        check_same_game(self, self._game, batch.game)
        check_games_go_on(self, batch, rows)
        parts = [rows[first : first + MAX_GAMES] for first in range(0, len(rows), MAX_GAMES)]
        return np.concatenate([np.zeros(0, np.int64), *(self._run(batch.states[part]).actions for part in parts)])

    def search(self, state: State) -> SearchResult:
        """Return what the search finds, for those who want more than an action; its arrays have one row."""
        check_same_game(self, self._game, state.get_game())
        check_game_goes_on(self, state)
        return self._run(np.array([state.record], self._game.state_dtype))

    def root_edges(self) -> RootEdges:
        """Return what the last :meth:`search` knows of each legal action. Raises ``ValueError`` before the first."""
        return self._last_search().root_edges()

    def best_line(self, first_action: int, max_actions: int = 12) -> list[int]:
        """Return the most visited line of the last :meth:`search` after an action. Raises ``ValueError`` before the first."""
        return self._last_search().best_line(first_action, max_actions=max_actions)

    def _last_search(self) -> NetworkSearch:
        if 1 not in self._searches:
            raise ValueError(f"{self._name} has not searched a position yet")
        return self._searches[1]

    def _run(self, roots: npt.NDArray[np.void]) -> SearchResult:
        # A search has room for a power of two of games: one position needs little.
        room = 1 << (len(roots) - 1).bit_length()
        if room not in self._searches:
            self._searches[room] = NetworkSearch(
                self._game,
                self._evaluate,
                self._policy,
                max_games=room,
                max_simulations=self.simulations,
                discount=self._discount,
            )
        return self._searches[room].run(roots, self.simulations, self._generator)
