"""``NetworkSearch``: batched MCTS over many games, with one network call for the leaves of all games."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from stoneworks.checks import check_integer, check_number
from stoneworks.envs.rules import Game
from stoneworks.models.network_inputs import NetworkInputs
from stoneworks.models.search import tree
from stoneworks.models.search.guides import Guide
from stoneworks.models.search.turn_wins import winning_turn_kernel

#: Evaluation function: maps observations for the player to move, ``float32[n, planes, height, width]``, to logits
#: ``float32[n, num_actions]`` and expected results for the player to move, ``float32[n]`` in [-1, 1].
Evaluate: TypeAlias = Callable[[npt.NDArray[np.float32]], tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]]


class SearchPolicy(Protocol):
    """Selection rule: :class:`stoneworks.models.search.gumbel.Gumbel` or :class:`stoneworks.models.search.puct.PUCT`."""

    @property
    def kernels(self) -> Mapping[str, Callable[..., Any]]:
        """Search kernels by name (see :mod:`stoneworks.models.search.tree`)."""

    @property
    def parameters(self) -> npt.NDArray[np.float64]:
        """Parameters passed to the kernels, ``float64[num_parameters]``."""

    def schedule(self, num_simulations: int) -> npt.NDArray[np.int32]:
        """Return the schedule passed to the kernels, ``int32[_, _]``."""

    def noise(self, shape: tuple[int, int], generator: np.random.Generator) -> npt.NDArray[np.float32]:
        """Return the noise of the root actions, ``float32[num_games, num_actions]``."""


@dataclass(frozen=True)
class SearchSettings:
    """How a search runs.

    Attributes:
        policy: selection rule of the search.
        discount: discount factor per action, in (0, 1]; a win in n actions has value ``discount ** n``.
        solve: whether to propagate proven results and to look for wins within the turn at every leaf.
        guide: additional leaf evaluation, mixed with the network's (see :mod:`stoneworks.models.search.guides`).
        guide_weight: weight of the guide in leaf values, in [0, 1]; the network has the rest.
        features: whether the network sees the features of the game (see :mod:`stoneworks.models.features`).

    Raises:
        ValueError: a setting is out of bounds.
    """

    policy: SearchPolicy
    discount: float = 1.0
    solve: bool = True
    guide: Guide | None = None
    guide_weight: float = 0.0
    features: bool = False

    def __post_init__(self) -> None:
        """Check the settings."""
        check_number("discount", self.discount, 0, 1, above_minimum=True)
        check_number("guide_weight", self.guide_weight, 0, 1)


@dataclass(frozen=True)
class SearchResult:
    """Results of a search at its roots.

    Attributes:
        actions: ``int64[num_games]``, the action to play.
        values: ``float32[num_games]``, mean value for the player to move.
        policies: ``float32[num_games, num_actions]``, improved policy, the training target.
        visits: ``int32[num_games, num_actions]``, visit counts.
        solved: ``bool[num_games]``, whether the value is proven and the action achieves it.
    """

    actions: npt.NDArray[np.int64]
    values: npt.NDArray[np.float32]
    policies: npt.NDArray[np.float32]
    visits: npt.NDArray[np.int32]
    solved: npt.NDArray[np.bool_]


class NetworkSearch:
    """Runs searches on batches of up to ``max_games`` games; the tree buffers are reused between searches.

    Attributes:
        guide_weight: weight of the guide in leaf values, in [0, 1] (see :mod:`stoneworks.models.search.guides`).
        num_leaves_guided: total number of leaves evaluated by the guide.
        network_seconds: total time spent in ``evaluate``, in seconds.
        search_seconds: total time spent in the rest of the search, in seconds.
        num_simulations_done: total number of simulations over all games.
    """

    def __init__(
        self,
        game: Game,
        evaluate: Evaluate,
        settings: SearchSettings,
        *,
        max_games: int,
        max_simulations: int,
    ) -> None:
        """Allocate the tree buffers.

        Args:
            game: the game.
            evaluate: the network.
            settings: how the search runs; the weight of the guide is its initial one.
            max_games: maximum batch size in games, at least 1.
            max_simulations: maximum number of simulations per search, at least 1.
        """
        for name, value in (("max_games", max_games), ("max_simulations", max_simulations)):
            check_integer(name, value, 1)
        policy = settings.policy
        self.evaluate = evaluate
        self.policy = policy
        self.guide_weight = float(settings.guide_weight)
        self.num_leaves_guided = 0
        self.network_seconds = 0.0
        self.search_seconds = 0.0
        self.num_simulations_done = 0
        self._game = game
        self._guide = settings.guide
        self._rules = float(settings.discount), bool(settings.solve)
        self._max_simulations = int(max_simulations)
        max_nodes = max_simulations + 1
        # Pages are allocated lazily, so the loose upper bound on the number of edges costs no memory.
        self._states: npt.NDArray[np.void] = np.empty((max_games, max_nodes), game.state_dtype)
        self._nodes: npt.NDArray[np.void] = np.empty((max_games, max_nodes), tree.NODE)
        self._edges = np.empty((max_games, max_nodes * game.num_actions), tree.EDGE)
        self._games = np.empty(max_games, tree.GAME)
        self._inputs = NetworkInputs(game, settings.features)
        self._planes = np.empty((max_games, *self._inputs.flat_shape), np.float32)
        self._asked = np.empty(max_games, np.int64)
        self._plant = game.compiled(tree.plant, self._inputs.kernels)
        self._expand = game.compiled(tree.expand, {"winning_turn": winning_turn_kernel(game)})
        self._prepare_roots = game.compiled(tree.prepare_roots, policy.kernels)
        self._descend = game.compiled(tree.descend, {**policy.kernels, **self._inputs.kernels})
        self._conclude_all = game.compiled(tree.conclude_all, policy.kernels)

    def run(self, roots: npt.NDArray[np.void], num_simulations: int, generator: np.random.Generator) -> SearchResult:
        """Run a search from each of ``roots``.

        Args:
            roots: ``[num_games]`` records of non-terminal positions.
            num_simulations: simulations per game, at least 1.
            generator: random generator of the root noise.

        Raises:
            ValueError: if the number of games or simulations exceeds its maximum, or the network's output has non-finite
                values or the wrong shape.
        """
        num_games = len(roots)
        if not 1 <= num_games <= len(self._games) or not 1 <= num_simulations <= self._max_simulations:
            raise ValueError(
                f"got {num_games} games with {num_simulations} simulations, expected 1 to {len(self._games)} games "
                f"with 1 to {self._max_simulations} simulations"
            )
        begin = time.perf_counter()
        in_network = self.network_seconds
        board = self._game.board
        states, nodes, edges, games, asked = (
            array[:num_games] for array in (self._states, self._nodes, self._edges, self._games, self._asked)
        )
        policy = self.policy
        parameters, schedule = policy.parameters, policy.schedule(num_simulations)

        num_asked = self._plant(board, roots, states, nodes, games, self._planes, asked)
        seeds = generator.integers(0, 2**64, num_games, np.uint64)
        arrays = board, states, nodes, edges, games, asked
        self._answer(num_asked, arrays, seeds)
        noise = policy.noise((num_games, self._game.num_actions), generator)
        self._prepare_roots(nodes, edges, games, parameters, noise)
        for _ in range(num_simulations):
            num_asked = self._descend(
                board, states, nodes, edges, games, parameters, schedule, self._planes, asked, *self._rules
            )
            if num_asked:
                self._answer(num_asked, arrays, seeds)

        actions, values = np.empty(num_games, np.int64), np.empty(num_games, np.float32)
        policies = np.empty((num_games, self._game.num_actions), np.float32)
        visits = np.empty((num_games, self._game.num_actions), np.int32)
        self._conclude_all(nodes, edges, games, parameters, actions, values, policies, visits)
        self.num_simulations_done += num_games * num_simulations
        self.search_seconds += time.perf_counter() - begin - (self.network_seconds - in_network)
        return SearchResult(actions, values, policies, visits, self._nodes["solved"][:num_games, 0] != 0)

    def root_edges(self, game: int = 0) -> tuple[npt.NDArray[Any], ...]:
        """Return statistics of the legal actions at the root of one game of the last search, for the player to move.

        Returns:
            The actions in ascending order, ``int32[num_legal]``; their visit counts, ``int32[num_legal]``; their mean values
            in [-1, 1], ``float32[num_legal]``, NaN for unvisited actions; and their prior probabilities from the network,
            ``float32[num_legal]``.
        """
        nodes, edges = self._nodes[game], self._edges[game]
        root = nodes[0]
        block = edges[root["first_edge"] : root["first_edge"] + root["num_edges"]]
        block = block[block["action"].argsort()]
        taken = block["child"] != tree.NO_NODE
        children = nodes[np.where(taken, block["child"], 0)]
        sign = 1 - 2 * int(root["player"])
        visits = np.where(taken, children["visits"], 0)
        means = children["total_value"] / np.maximum(children["visits"], 1)
        values = np.where(taken, sign * np.where(children["solved"] != 0, children["network_value"], means), np.nan)
        return block["action"].copy(), visits, values, block["prior"].copy()

    def best_line(self, first_action: int, game: int = 0, max_actions: int = 12) -> list[int]:
        """Return the principal variation of the last search that starts with ``first_action`` at the root."""
        nodes, edges = self._nodes[game], self._edges[game]
        line: list[int] = []
        node = 0
        while len(line) < max_actions and nodes[node]["num_visited"]:
            first = int(nodes[node]["first_edge"])
            block = edges[first : first + int(nodes[node]["num_edges"])]
            taken = block[block["child"] != tree.NO_NODE]
            if not len(taken):
                break
            if not line:
                taken = taken[taken["action"] == first_action]
                if not len(taken):
                    return [first_action]
            best = taken[nodes["visits"][taken["child"]].argmax()]
            line.append(int(best["action"]))
            node = int(best["child"])
        return line or [first_action]

    def _answer(self, num_asked: int, arrays: tuple[Any, ...], seeds: npt.NDArray[np.uint64]) -> None:
        """Evaluate the pending leaves and expand them."""
        logits, values = self._ask(num_asked)
        if self._guide is not None and self.guide_weight > 0:
            _, states, _, _, games, asked = arrays
            guided = self._guide.evaluate(states, games, asked, num_asked, seeds)
            self.num_leaves_guided += num_asked
            values = values + np.float32(self.guide_weight) * (guided - values)
        if self._expand(*arrays, num_asked, logits, values, *self._rules):
            raise ValueError("the network's output must be finite: its weights are damaged, or its training diverged")

    def _ask(self, num_asked: int) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
        begin = time.perf_counter()
        planes = self._planes[:num_asked].reshape(num_asked, *self._inputs.shape)
        logits, values = self.evaluate(planes)
        self.network_seconds += time.perf_counter() - begin
        shapes = (num_asked, self._game.num_actions), (num_asked,)
        if (logits.shape, values.shape) != shapes:
            raise ValueError(
                f"the network's logits and values for {num_asked} positions of {self._game} must have the shapes {shapes[0]} "
                f"and {shapes[1]}, got {logits.shape} and {values.shape}"
            )
        return logits, values
