"""``NetworkSearch``: a search in many games at once that asks a network about the leaves of all of them in one call."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from stoneworks.envs.rules import Game
from stoneworks.envs.rules.checks import check_integer
from stoneworks.models.search import tree
from stoneworks.models.search.guides import Guide
from stoneworks.models.search.turn_wins import winning_turn_kernel

#: What answers for the network: from ``float32[n, planes, height, width]``, positions as their players to move see them, to
#: logits ``float32[n, num_actions]`` and expected results for the players to move, ``float32[n]`` in [-1, 1].
Evaluate: TypeAlias = Callable[[npt.NDArray[np.float32]], tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]]


class SearchPolicy(Protocol):
    """How a search chooses: :class:`stoneworks.models.search.gumbel.Gumbel` or :class:`stoneworks.models.search.puct.PUCT`."""

    @property
    def kernels(self) -> Mapping[str, Callable[..., Any]]:
        """The kernels of the contract (see :mod:`stoneworks.models.search.tree`)."""

    @property
    def parameters(self) -> npt.NDArray[np.float64]:
        """What the kernels are given."""

    def schedule(self, num_simulations: int) -> npt.NDArray[np.int32]:
        """Return a table that the kernels are given."""

    def noise(self, shape: tuple[int, int], generator: np.random.Generator) -> npt.NDArray[np.float32]:
        """Return the random numbers of the roots' actions."""


@dataclass(frozen=True)
class SearchResult:
    """What a search found at its roots.

    Attributes:
        actions: ``int64[num_games]``, the action to play.
        values: ``float32[num_games]``, the mean value for the player to move.
        policies: ``float32[num_games, num_actions]``, what a network is to learn: better than its own policy.
        visits: ``int32[num_games, num_actions]``, how often each action was taken.
        solved: ``bool[num_games]``, whether the value is proven, and the action one that reaches it.
    """

    actions: npt.NDArray[np.int64]
    values: npt.NDArray[np.float32]
    policies: npt.NDArray[np.float32]
    visits: npt.NDArray[np.int32]
    solved: npt.NDArray[np.bool_]


@dataclass(frozen=True)
class RootEdges:
    """What a search knows of the legal actions at a root, all for the player to move.

    Attributes:
        actions: ``int32[num_legal]``, in ascending order.
        priors: ``float32[num_legal]``, the network's policy.
        visits: ``int32[num_legal]``, simulations that began with each.
        values: ``float32[num_legal]``, their mean values in [-1, 1]; NaN where there was none.
    """

    actions: npt.NDArray[np.int32]
    priors: npt.NDArray[np.float32]
    visits: npt.NDArray[np.int32]
    values: npt.NDArray[np.float32]


class NetworkSearch:
    """Room for the trees of up to ``max_games`` games, used anew by every search.

    Attributes:
        guide_weight: weight of the guide in the values of leaves, in [0, 1] (see :mod:`stoneworks.models.search.guides`).
        num_leaves_judged: leaves that the guide judged so far.
        network_seconds: time spent in ``evaluate`` so far.
        search_seconds: time spent in everything else so far.
        num_simulations_done: simulations so far, over all games.
    """

    def __init__(
        self,
        game: Game,
        evaluate: Evaluate,
        policy: SearchPolicy,
        *,
        max_games: int,
        max_simulations: int,
        guide: Guide | None = None,
        guide_weight: float = 0.0,
        discount: float = 1.0,
        solve: bool = True,
    ) -> None:
        """Make room.

        Args:
            game: the game.
            evaluate: the network.
            policy: how the search chooses.
            max_games: greatest number of games of one search, at least 1.
            max_simulations: greatest number of simulations of one search, at least 1.
            guide: what judges leaves beside the network.
            guide_weight: its weight at first.
            discount: of values, for each action: what a win in n actions is worth is its n-th power. More than 0, at most 1.
            solve: whether to pass up proven results, and to look for wins within a turn at every leaf.
        """
        for name, value in (("max_games", max_games), ("max_simulations", max_simulations)):
            check_integer(name, value, 1)
        if not 0 < discount <= 1:
            raise ValueError(f"discount must be > 0 and <= 1, got {discount!r}")
        self.evaluate = evaluate
        self.policy = policy
        self.guide_weight = guide_weight
        self.num_leaves_judged = 0
        self.network_seconds = 0.0
        self.search_seconds = 0.0
        self.num_simulations_done = 0
        self._game = game
        self._guide = guide
        self._rules = float(discount), bool(solve)
        self._max_simulations = int(max_simulations)
        max_nodes = max_simulations + 1
        # Memory that is not written to is not taken: the bound of the edges is never near.
        self._states: npt.NDArray[np.void] = np.empty((max_games, max_nodes), game.state_dtype)
        self._nodes: npt.NDArray[np.void] = np.empty((max_games, max_nodes), tree.NODE)
        self._edges = np.empty((max_games, max_nodes * game.num_actions), tree.EDGE)
        self._games = np.empty(max_games, tree.GAME)
        self._planes = np.empty((max_games, *game.flat_observation_shape), np.float32)
        self._asked = np.empty(max_games, np.int64)
        self._plant = game.compiled(tree.plant)
        self._expand = game.compiled(tree.expand, {"winning_turn": winning_turn_kernel(game)})
        self._prepare_roots = game.compiled(tree.prepare_roots, policy.kernels)
        self._descend = game.compiled(tree.descend, policy.kernels)
        self._conclude_all = game.compiled(tree.conclude_all, policy.kernels)

    def run(self, roots: npt.NDArray[np.void], num_simulations: int, generator: np.random.Generator) -> SearchResult:
        """Search from each of ``roots``.

        Args:
            roots: ``[num_games]`` records of positions, none of them over.
            num_simulations: of each game, at least 1.
            generator: of the noise at the roots.

        Raises:
            ValueError: there is no room for so many games or simulations, or the network's answers are no numbers or do
                not fit the game.
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
        self._prepare_roots(board, states, nodes, edges, games, parameters, noise)
        for _ in range(num_simulations):
            num_asked = self._descend(
                board, states, nodes, edges, games, parameters, schedule, self._planes, asked, *self._rules
            )
            if num_asked:
                self._answer(num_asked, arrays, seeds)

        result = SearchResult(
            np.empty(num_games, np.int64),
            np.empty(num_games, np.float32),
            np.empty((num_games, self._game.num_actions), np.float32),
            np.empty((num_games, self._game.num_actions), np.int32),
            self._nodes["solved"][:num_games, 0] != 0,
        )
        self._conclude_all(
            board,
            states,
            nodes,
            edges,
            games,
            parameters,
            result.actions,
            result.values,
            result.policies,
            result.visits,
        )
        self.num_simulations_done += num_games * num_simulations
        self.search_seconds += time.perf_counter() - begin - (self.network_seconds - in_network)
        return result

    def root_edges(self, game: int = 0) -> RootEdges:
        """Return what the last search knows of the actions at the root of one of its games."""
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
        return RootEdges(block["action"].copy(), block["prior"].copy(), visits, values)

    def best_line(self, first_action: int, game: int = 0, max_actions: int = 12) -> list[int]:
        """Return the most visited line of the last search that begins with ``first_action`` at the root."""
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
        """Ask the network about the leaves, and let the trees have what it says."""
        logits, values = self._ask(num_asked)
        if self._guide is not None and self.guide_weight > 0:
            _, states, _, _, games, asked = arrays
            judged = self._guide.judge(states, games, asked, num_asked, seeds)
            self.num_leaves_judged += num_asked
            values = values + np.float32(self.guide_weight) * (judged - values)
        if self._expand(*arrays, num_asked, logits, values, *self._rules):
            raise ValueError(
                "the network's answers are not all numbers: its weights are damaged, or its training diverged"
            )

    def _ask(self, num_asked: int) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
        begin = time.perf_counter()
        planes = self._planes[:num_asked].reshape(num_asked, *self._game.observation_shape)
        logits, values = self.evaluate(planes)
        self.network_seconds += time.perf_counter() - begin
        shapes = (num_asked, self._game.num_actions), (num_asked,)
        if (logits.shape, values.shape) != shapes:
            raise ValueError(
                f"the network's logits have the shape {logits.shape} and its values {values.shape}; allowed for {num_asked} "
                f"positions of {self._game} are {shapes[0]} and {shapes[1]}"
            )
        return logits, values
