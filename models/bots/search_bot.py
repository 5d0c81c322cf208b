"""``SearchBot``: plays the result of a search with a trained network."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from stoneworks.checks import check_integer, check_positive, check_seed
from stoneworks.envs.rules import Batch, Game, State
from stoneworks.models.bots.bot import LINE_ACTIONS, NUM_LINES, Analysis, check_batch, check_position
from stoneworks.models.bots.policy_bot import NetworkBot, Outputs
from stoneworks.models.bots.spec import BotSpec
from stoneworks.models.checkpoint import load_checkpoint
from stoneworks.models.description import PlaySettings
from stoneworks.models.inference.network_inference import make_inference
from stoneworks.models.network_inputs import NetworkInputs
from stoneworks.models.search.gumbel import Gumbel
from stoneworks.models.search.leaf_values import make_leaf_values
from stoneworks.models.search.network_search import Evaluate, NetworkSearch, SearchResult, SearchSettings

#: Maximum number of games searched at once, and of the edges of their trees; other games are searched afterwards.
MAX_GAMES = 128
MAX_EDGES = 1 << 26
#: Maximum size of the tree of a search within a time limit, in simulations and edges.
MAX_SIMULATIONS, MAX_EDGES_IN_TIME = 1 << 18, 1 << 24
#: Batch of a search within a time limit, and the seconds between the analyses of one without a limit.
BATCH_IN_TIME, SECONDS_PER_REPORT = 8, 0.2
#: The selection rule of play: deterministic, with the value scale of the paper (1 for values in [0, 1]).
PLAYING_RULE = Gumbel(gumbel_scale=0, value_scale=0.5)
PLAYING_SETTINGS = SearchSettings(PLAYING_RULE, batch=None)


def playing_settings(
    play: PlaySettings, game: Game, features: bool, *, batch: int | None = None, threads: int = 1
) -> SearchSettings:
    """Return how an agent searches at play.

    Args:
        play: how the agent plays.
        game: the game.
        features: whether its network sees the features of the game.
        batch: see :class:`~stoneworks.models.search.network_search.SearchSettings`.
        threads: likewise.

    Raises:
        MissingHeuristicError: the leaf values need a heuristic and the game has none.
    """
    return SearchSettings(
        Gumbel(gumbel_scale=0, value_scale=play.value_scale),
        discount=play.discount,
        leaf_values=make_leaf_values(play.leaf_values, game, play.leaf_value_playouts),
        leaf_value_weight=play.leaf_value_weight,
        features=features,
        batch=batch,
        threads=threads,
    )


class SearchBot(NetworkBot):
    """Plays the result of a search with a fixed number of simulations, or within a time limit.

    With a time limit, ``step`` continues in the tree of the last one if that has the position, and what it leaves of its
    time is used for the next action of the same turn; matches use ``step_batch``, which does neither. A search ends early if its
    tree is full: with ``MAX_EDGES`` actions, or with a time limit ``MAX_EDGES_IN_TIME`` actions or ``MAX_SIMULATIONS`` simulations.

    Attributes:
        evaluate: the network.
        settings: how the search runs.
    """

    name: str = "search"
    samples_policy = False

    def __init__(
        self,
        evaluate: Evaluate,
        game: Game,
        seed: int | None = None,
        *,
        simulations: int | None = None,
        seconds: float | None = None,
        settings: SearchSettings = PLAYING_SETTINGS,
        name: str = "search",
    ) -> None:
        """Create the bot, with 64 simulations if neither ``simulations`` nor ``seconds`` is given.

        Args:
            evaluate: the network, see :func:`stoneworks.models.inference.network_inference.make_inference`.
            game: the game.
            seed: seed of the search; None draws a random one.
            simulations: simulations per search, at least 1.
            seconds: approximate time per step, more than 0; in a batch, per game.
            settings: how the search runs; the default is a Gumbel search without noise, with ``PLAYING_RULE``.
            name: name of the bot in results.

        Raises:
            ValueError: arguments contradict each other or the game.
        """
        if simulations is not None and seconds is not None:
            raise ValueError(
                f"at most one of simulations and seconds may be given, got {simulations!r} and {seconds!r}"
            )
        self.simulations = check_integer("simulations", 64 if simulations is None else simulations, 1)
        self.seconds = None if seconds is None else check_positive("seconds", seconds)
        super().__init__(game, NetworkInputs(game, settings.features))
        self.name = name
        self._generator = np.random.default_rng(check_seed(seed))
        self.evaluate = evaluate
        self.settings = settings
        self._searches: dict[tuple[int, int, int | None], NetworkSearch] = {}
        self._last: NetworkSearch | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Return the state of a copy, without the trees."""
        return {**self.__dict__, "_searches": {}, "_last": None}

    @classmethod
    def from_spec(cls, spec: BotSpec, game: Game, seed: int | None) -> SearchBot:
        """Return a bot that searches with a checkpoint's network, on the fastest device (see :meth:`Bot.from_spec`).

        Raises:
            CheckpointError: the checkpoint does not fit (see ``load_checkpoint``).
            MissingHeuristicError: its leaf values need a heuristic and the game has none.
        """
        assert spec.checkpoint is not None
        assert spec.budget is not None
        checkpoint = load_checkpoint(spec.checkpoint, game)
        network, of_search = checkpoint.network, dict(spec.parameters)
        if spec.budget.unit == "seconds" or of_search.get("threads", 1) > 1:
            of_search.setdefault("batch", BATCH_IN_TIME)
        settings = playing_settings(checkpoint.play, game, network.features, **of_search)
        budget: dict[str, Any] = {spec.budget.unit: spec.budget.value}
        return cls(make_inference(network), game, seed, settings=settings, name=str(spec), **budget)

    def step_with_policy(self, state: State) -> tuple[list[tuple[int, float]], int]:
        """Return policy and action (see :meth:`Bot.step_with_policy`). The policy is that of the search."""
        result = self.search(state)
        legal = state.legal_actions()
        return list(zip(legal, result.policies[0, legal].tolist(), strict=True)), int(result.actions[0])

    def analyze(self, state: State) -> Analysis:
        """See :meth:`Bot.analyze`."""
        return self._analysis(state, self.search(state))

    def analyze_until(self, state: State, stop: Callable[[Analysis], bool]) -> None:
        """See :meth:`Bot.analyze_until`. The search ends early if the result is proven or the tree is full."""
        check_position(self, state, self._game)
        search = self.search_in_time()
        root = state.record.reshape(1)
        seconds, reported, stopped = SECONDS_PER_REPORT, time.perf_counter(), False

        def report() -> bool:
            nonlocal reported, stopped
            if not stopped and time.perf_counter() - reported >= SECONDS_PER_REPORT:
                stopped = stop(self._analysis(state, search.result()))
                reported = time.perf_counter()
            return stopped

        while not stopped:
            before = search.num_simulations_done
            result = search.run_in_time(root, seconds, self._generator, stop=report)
            seconds *= 2
            if result.solved[0] or search.num_simulations_done == before:
                stop(self._analysis(state, result))
                break
        search.restart()  # what an analysis leaves of its time is not for a step

    def _analysis(self, state: State, result: SearchResult) -> Analysis:
        assert self._last is not None
        actions, visits, values, priors = self._last.root_edges()
        chosen, value, proven = int(result.actions[0]), float(values[actions == result.actions[0]][0]), None
        if result.solved[0]:
            value = proven = float(np.sign(result.values[0]))  # without the discount
        elif np.isnan(value):  # the action has no visits
            value = float(result.values[0])
        policy = result.policies[0, actions].astype(np.float64)
        return Analysis(
            state.current_player(),
            chosen,
            actions.astype(np.int64),
            policy,
            value=value,
            proven=proven,
            simulations=int(visits.sum()),
            visits=visits.astype(np.int64),
            action_values=values.astype(np.float64),
            priors=priors.astype(np.float64),
            line=tuple(self._last.best_line(chosen, LINE_ACTIONS)),
            lines=tuple(
                tuple(self._last.best_line(int(actions[edge]), LINE_ACTIONS))
                for edge in np.lexsort((-policy, -visits, actions != chosen))[:NUM_LINES]
                if visits[edge]
            ),
        )

    def step_batch(self, batch: Batch, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """See :meth:`Bot.step_batch`. Each game gets a new tree."""
        check_batch(self, batch, rows, self._game)
        return self.search_all(batch.states[rows]).actions if len(rows) else np.zeros(0, np.int64)

    def search(self, state: State) -> SearchResult:
        """Return the full result of the search; its arrays have one row. With a time limit, it continues in the last tree."""
        check_position(self, state, self._game)
        return self._search_at_once(state.record.reshape(1))

    def restart(self) -> None:
        """Prepare for a new game (see :meth:`Bot.restart`). The trees are discarded."""
        for search in self._searches.values():
            search.restart()

    def search_all(self, roots: npt.NDArray[np.void]) -> SearchResult:
        """Search from several positions in new trees, as many at once as ``MAX_GAMES`` and ``MAX_EDGES`` allow.

        Args:
            roots: ``[num_games]`` records of positions that are not terminal, at least one.
        """
        at_once = max(1, min(MAX_GAMES, MAX_EDGES // (self.simulations * self._game.num_actions)))
        at_once = at_once if self.seconds is None else 1
        results = []
        for first in range(0, len(roots), at_once):
            self.restart()
            results.append(self._search_at_once(roots[first : first + at_once]))
        return results[0] if len(results) == 1 else SearchResult(*map(np.concatenate, zip(*results, strict=True)))

    def _infer(self, planes: npt.NDArray[np.float32]) -> Outputs:
        return self.evaluate(planes)

    def _search_at_once(self, roots: npt.NDArray[np.void]) -> SearchResult:
        if self.seconds is not None:
            return self.search_in_time().run_in_time(roots, self.seconds, self._generator)
        # Searches allocate powers of two of games and simulations; a single position needs little.
        capacity = 1 << (len(roots) - 1).bit_length(), 1 << (self.simulations - 1).bit_length()
        # A search of a single position ends when the table is full.
        edges = min((capacity[1] + 1) * self._game.num_actions, MAX_EDGES) if len(roots) == 1 else None
        return self._search_of(*capacity, edges).run(roots, self.simulations, self._generator)

    def search_in_time(self) -> NetworkSearch:
        """Return the search of one game that keeps its tree from step to step."""
        return self._search_of(1, MAX_SIMULATIONS, max(MAX_EDGES_IN_TIME, 2 * self._game.num_actions))

    def _search_of(self, games: int, simulations: int, edges: int | None = None) -> NetworkSearch:
        """Return the search with these maxima (see :class:`NetworkSearch`), from now on the last one."""
        capacity = games, simulations, edges
        if capacity not in self._searches:
            self._searches[capacity] = NetworkSearch(
                self._game,
                self.evaluate,
                self.settings,
                max_games=games,
                max_simulations=simulations,
                max_edges=edges,
            )
        self._last = self._searches[capacity]
        return self._last
