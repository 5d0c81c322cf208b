"""``NetworkSearch``: batched MCTS over many games, with one network call for the leaves of all games."""

from __future__ import annotations

import contextlib
import math
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from stoneworks.checks import check_integer, check_number
from stoneworks.envs.rules import Game
from stoneworks.envs.rules.device import Inputs
from stoneworks.models.machine import run_in_threads
from stoneworks.models.network_inputs import NOT_FINITE, NetworkInputs
from stoneworks.models.search import tree
from stoneworks.models.search.leaf_values import LeafValues
from stoneworks.models.search.turn_wins import winning_turn_kernel

#: Evaluation function: maps observations for the player to move, ``float32[n, planes, height, width]``, to logits
#: ``float32[n, num_actions]`` and expected results for the player to move, ``float32[n]`` in [-1, 1].
Evaluate: TypeAlias = Callable[[npt.NDArray[np.float32]], tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]]


#: Limit and schedule of searches whose number of simulations is not known.
_NO_LIMIT, _NO_SCHEDULE = np.iinfo(np.int32).max, np.empty((0, 0), np.int32)

#: Maximum number of pending leaves of other threads that a thread skips per batch.
_MAX_COLLISIONS = 64

#: Place of a position in a kept tree: below the root within the same turn, or elsewhere.
_SAME_TURN, _OTHER_TURN = 1, 2

#: Maximum batch of one tree, and number of threads.
MAX_BATCH, MAX_THREADS = 1024, 256


class SelectionRule(Protocol):
    """Selection rule: :class:`stoneworks.models.search.gumbel.Gumbel` or :class:`stoneworks.models.search.puct.PUCT`."""

    @property
    def kernels(self) -> Mapping[str, Callable[..., Any]]:
        """Search kernels by name (see :mod:`stoneworks.models.search.tree`)."""

    @property
    def round_size(self) -> int:
        """Maximum number of simulations of one tree that do not depend on each other."""

    @property
    def parameters(self) -> tree.Parameters:
        """Parameters passed to the kernels."""

    def schedule(self, num_simulations: int) -> npt.NDArray[np.int32]:
        """Return the schedule passed to the kernels, ``int32[_, _]``."""

    def noise(self, shape: tuple[int, int], generator: np.random.Generator) -> npt.NDArray[np.float32]:
        """Return the noise of the root actions, ``float32[num_games, num_actions]``."""


@dataclass(frozen=True)
class SearchSettings:
    """How a search runs.

    Attributes:
        rule: selection rule of the search.
        discount: discount factor per action, in (0, 1]; a win in n actions has value ``discount ** n``. Actions of a node are
            compared by the values of the positions after them, without the discount of the action itself.
        solve: whether to propagate proven results and to look for wins within the turn at every leaf.
        leaf_values: additional values of leaves, mixed with the network's (see :mod:`stoneworks.models.search.leaf_values`).
        leaf_value_weight: their weight, in [0, 1]; the network has the rest.
        features: whether the network sees the features of the game (see :mod:`stoneworks.envs.rules.parts`).
        batch: maximum number of leaves of one tree that are evaluated together, at least 1; those after the first are chosen
            with virtual losses. None for the leaves of a round of sequential halving, which gives the results of 1; only
            with one thread.
        threads: number of threads that search the same trees, at least 1; with more than 1, results vary from run to run.

    Raises:
        ValueError: a setting is out of bounds.
    """

    rule: SelectionRule
    discount: float = 1.0
    solve: bool = True
    leaf_values: LeafValues | None = None
    leaf_value_weight: float = 0.0
    features: bool = False
    batch: int | None = 1
    threads: int = 1

    def __post_init__(self) -> None:
        """Check the settings.

        Raises:
            ValueError: a setting is out of bounds.
        """
        if self.batch is not None:
            check_integer("batch", self.batch, 1, MAX_BATCH)
        check_integer("threads", self.threads, 1, MAX_THREADS)
        if self.batch is None and self.threads > 1:
            raise ValueError(f"threads must be 1 with batch=None, got {self.threads}")
        check_number("discount", self.discount, 0, 1, above_minimum=True)
        check_number("leaf_value_weight", self.leaf_value_weight, 0, 1)


class SearchResult(NamedTuple):
    """Results of a search at its roots.

    Attributes:
        actions: ``int64[num_games]``, the action to play.
        values: ``float32[num_games]``, value for the player to move: the exact one if solved, else that of the improved policy
            (Gumbel) or of the action to play (PUCT).
        policies: ``float32[num_games, num_actions]``, improved policy, the training target.
        visits: ``int32[num_games, num_actions]``, visit counts.
        solved: ``bool[num_games]``, whether the value is proven and the action achieves it.
    """

    actions: npt.NDArray[np.int64]
    values: npt.NDArray[np.float32]
    policies: npt.NDArray[np.float32]
    visits: npt.NDArray[np.int32]
    solved: npt.NDArray[np.bool_]


class _Deadline:
    """Says whether another batch of simulations would end after ``time``; the first call always returns False."""

    def __init__(self, clock: Callable[[], float], stop: Callable[[], bool]) -> None:
        self.begin = self._last = clock()
        self.time = math.inf
        self._clock, self._stop = clock, stop
        self._seconds_per_batch = 0.0
        self._is_first = True

    def __call__(self) -> bool:
        now = self._clock()
        self._seconds_per_batch = max(0.9 * self._seconds_per_batch, now - self._last)
        self._last = now
        is_first, self._is_first = self._is_first, False
        return not is_first and (self._stop() or now + self._seconds_per_batch / 2 >= self.time)


class ThreadBuffers:
    """The work buffers of a thread: its trees, the pending leaves and their observations."""

    trees: tree.Trees

    def __init__(self, inputs: Inputs, size: int) -> None:
        """Allocate the buffers for ``size`` leaves."""
        planes, height, width = inputs.shape
        self.planes = np.empty((size, planes, height * width), np.float32)
        self.leaves: npt.NDArray[np.void] = np.empty(size, tree.LEAF)
        self.seeds = np.empty(0, np.uint64)
        self.num_leaves = self.num_evaluations = 0


class NetworkSearch:
    """Runs searches on batches of up to ``max_games`` games; the tree buffers are reused between searches.

    Attributes:
        discount: see :class:`SearchSettings`.
        leaf_value_weight: see :class:`SearchSettings`; may be changed between searches.
        network_seconds: total time spent in ``evaluate``, in seconds, summed over threads.
        search_seconds: total time spent in the rest of the search, in seconds.
        num_simulations_done: total number of simulations over all games: those requested in ``run``, which a solved root or a
            full tree ends earlier, and those run in ``run_in_time``.
        trees: the trees of the last search.
        left_seconds: what a search in time has left of its time, for the next action of the same turn.
    """

    def __init__(
        self,
        game: Game,
        evaluate: Evaluate,
        settings: SearchSettings,
        *,
        max_games: int,
        max_simulations: int,
        max_edges: int | None = None,
    ) -> None:
        """Allocate the tree buffers.

        Args:
            game: the game.
            evaluate: the network; called by all threads if there are several.
            settings: how the search runs; the weight of the leaf values is their initial one.
            max_games: maximum batch size in games, at least 1.
            max_simulations: maximum number of simulations per search, at least 1.
            max_edges: maximum number of edges of a tree, at least twice the number of actions; None for what
                ``max_simulations`` can need. A tree without room for another node is not searched further.

        Raises:
            ValueError: a number is too small.
        """
        check_integer("max_games", max_games, 1)
        self._max_simulations = check_integer("max_simulations", max_simulations, 1)
        max_nodes = self._max_simulations + 1
        # Pages are allocated lazily, so the loose upper bound on the number of edges costs no memory.
        max_edges = max_nodes * game.num_actions if max_edges is None else max_edges
        max_edges = check_integer("max_edges", max_edges, 2 * game.num_actions)
        rule = self.rule = settings.rule
        self.evaluate = evaluate
        self.discount = float(settings.discount)
        self.leaf_value_weight = float(settings.leaf_value_weight)
        self.num_simulations_done = 0
        self.network_seconds = self.search_seconds = 0.0
        self._game = game
        self._leaf_values, self._solve = settings.leaf_values, bool(settings.solve)
        self._all_trees = tree.Trees(
            game.board,
            np.empty((max_games, max_nodes), game.state_dtype),
            np.empty((max_games, max_nodes), tree.NODE),
            np.empty((max_games, max_edges), tree.EDGE),
            np.empty(max_games, tree.GAME),
        )
        self._inputs = self._inputs_of(game, settings.features)
        per_tree = rule.round_size if settings.batch is None else settings.batch
        self._buffers = [ThreadBuffers(self._inputs, max_games * per_tree) for _ in range(settings.threads)]
        self._use(0)
        max_collisions = _MAX_COLLISIONS if settings.threads > 1 else 0
        self._limits = tree.Limits(0, per_tree, settings.batch is None, max_collisions)
        self._changed = threading.Condition()
        self._num_searching, self.left_seconds = 0, 0.0
        self._start_all = game.compiled(tree.start_all, self._inputs.kernels)
        self._expand = game.compiled(tree.expand, {"winning_turn": winning_turn_kernel(type(game))})
        self._init_roots = game.compiled(tree.init_roots, rule.kernels)
        self._halve_all = game.compiled(tree.halve_all, rule.kernels)
        self._descend = game.compiled(tree.descend, {**rule.kernels, **self._inputs.kernels})
        self._keep_subtree = game.compiled(tree.keep_subtree)
        self._choose_root_actions = game.compiled(tree.choose_root_actions, rule.kernels)

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
        if not 1 <= num_games <= len(self._all_trees.games) or not 1 <= num_simulations <= self._max_simulations:
            raise ValueError(
                f"a search must have 1 to {len(self._all_trees.games)} games with 1 to {self._max_simulations} simulations, "
                f"got {num_games} with {num_simulations}"
            )
        with self._timed():
            self._start(roots, generator)
            self._simulate(num_simulations, self.rule.schedule(num_simulations), lambda: False)
            self.num_simulations_done += num_games * num_simulations
            return self.result()

    def run_in_time(
        self,
        root: npt.NDArray[np.void],
        seconds: float,
        generator: np.random.Generator,
        *,
        stop: Callable[[], bool] = lambda: False,
        clock: Callable[[], float] = time.perf_counter,
    ) -> SearchResult:
        """Search one position until a time limit, in the tree of the last search if it has the position.

        A Gumbel search gives each phase of sequential halving the same time, in rounds of one simulation of each action. What
        the last search in the same turn left of its time is added.

        Args:
            root: ``[1]`` record of a non-terminal position.
            seconds: time limit, more than 0.
            generator: random generator of the root noise.
            stop: called between batches; the search ends once it returns true.
            clock: returns the time in seconds.

        Raises:
            ValueError: the network's output has non-finite values or the wrong shape.
        """
        deadline = _Deadline(clock, stop)
        with self._timed():
            kept = self.keep(root[0])
            if kept:
                self._prepare(1, generator)
            else:
                self._start(root, generator)
            begin = deadline.begin
            seconds += self.left_seconds if kept == _SAME_TURN else 0.0
            num_before = int(self.trees.nodes[0, 0]["visits"])
            num_considered = min(self.rule.round_size, int(self.trees.nodes[0, 0]["num_edges"]))
            num_phases = math.ceil(math.log2(max(2, num_considered)))
            if self.trees.nodes[0, 0]["num_edges"] == 1:
                self._simulate(1, _NO_SCHEDULE, deadline)
                num_phases = 0
            for phase in range(num_phases):
                self._halve_all(self.trees, self.rule.parameters, phase == 0)
                deadline.time = begin + seconds * (phase + 1) / num_phases
                self._simulate(_NO_LIMIT, _NO_SCHEDULE, deadline)
            self.num_simulations_done += int(self.trees.nodes[0, 0]["visits"]) - num_before
            self.left_seconds = max(0.0, begin + seconds - clock())
            return self.result()

    def restart(self) -> None:
        """Discard the tree of the last search."""
        self._use(0)
        self.left_seconds = 0.0

    def result(self) -> SearchResult:
        """Return the results of the last search, or of the present one."""
        num_games = len(self.trees.games)
        actions, values = np.empty(num_games, np.int64), np.empty(num_games, np.float32)
        policies = np.empty((num_games, self._game.num_actions), np.float32)
        visits = np.empty((num_games, self._game.num_actions), np.int32)
        self._choose_root_actions(self.trees, self.rule.parameters, self.discount, actions, values, policies, visits)
        return SearchResult(actions, values, policies, visits, self.trees.nodes["solved"][:, 0] != 0)

    def root_edges(self) -> tuple[npt.NDArray[Any], ...]:
        """Return statistics of the legal actions at the root of the first game of the last search, for the player to move.

        Returns:
            The actions in ascending order, ``int32[num_legal]``; their visit counts, ``int32[num_legal]``; their mean values
            in [-1, 1], or proven results without the discount, ``float32[num_legal]``, NaN for unvisited actions; and their
            prior probabilities from the network, ``float32[num_legal]``.
        """
        nodes, edges = self.trees.nodes[0], self.trees.edges[0]
        root = nodes[0]
        block = edges[root["first_edge"] : root["first_edge"] + root["num_edges"]]
        block = block[block["action"].argsort()]
        taken = block["child"] != tree.NO_NODE
        children = nodes[np.where(taken, block["child"], 0)]
        sign = 1 - 2 * int(root["player"])
        visits = np.where(taken, children["visits"], 0)
        means = children["total_value"] / np.maximum(children["visits"] - children["pending"], 1)
        values = np.where(
            taken, sign * np.where(children["solved"] != 0, np.sign(children["network_value"]), means), np.nan
        )
        return block["action"].copy(), visits, values, block["prior"].copy()

    def best_line(self, first_action: int, max_actions: int) -> list[int]:
        """Return the most visited line of the last search's first game from ``first_action`` on, proven results first."""
        nodes, edges = self.trees.nodes[0], self.trees.edges[0]
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
            elif nodes[node]["solved"]:
                children = nodes[taken["child"]]
                sign = 1 - 2 * int(nodes[node]["player"])
                results = np.where(children["solved"] != 0, sign * children["network_value"], -np.inf)
                taken = taken[results == results.max()]
            best = taken[nodes["visits"][taken["child"]].argmax()]
            line.append(int(best["action"]))
            node = int(best["child"])
        return line or [first_action]

    @contextlib.contextmanager
    def _timed(self) -> Iterator[None]:
        """Measure the time of a search."""
        begin, in_network = time.perf_counter(), self.network_seconds
        try:
            yield
        except BaseException:
            self._use(0)  # its tree is not finished
            raise
        in_network = (self.network_seconds - in_network) / len(self._buffers)  # threads evaluate at the same time
        self.search_seconds += time.perf_counter() - begin - in_network

    def _inputs_of(self, game: Game, features: bool) -> Inputs:
        """Return what is written of each leaf for the network."""
        return NetworkInputs(game, features)

    def _trees_of(self, games: slice) -> tree.Trees:
        return tree.Trees(self._game.board, *(array[games] for array in self._all_trees[1:]))

    def _use(self, num_games: int) -> None:
        """Take the trees of the first games as those of the last search."""
        self.trees = self._trees_of(slice(num_games))
        for buffers in self._buffers:
            buffers.trees = self.trees

    def _start(self, roots: npt.NDArray[np.void], generator: np.random.Generator) -> None:
        """Start a tree at each root."""
        num_games = len(roots)
        self._use(num_games)
        buffers = self._buffers[0]
        self._start_all(self.trees, roots, buffers.planes, buffers.leaves)
        buffers.num_leaves = buffers.num_evaluations = num_games
        for one in self._buffers:
            one.seeds = generator.integers(0, 2**64, num_games, np.uint64)
        self._finish(buffers, *self._evaluate_leaves(buffers))
        self._prepare(num_games, generator)

    def _prepare(self, num_games: int, generator: np.random.Generator) -> None:
        noise = self.rule.noise((num_games, self._game.num_actions), generator)
        self._init_roots(self.trees, self.rule.parameters, noise)

    def keep(self, root: np.void) -> int:
        """Keep the subtree of the last search at a position; return 0 if it has none, or else in which turn the position is."""
        if len(self.trees.games) != 1:
            return 0
        known, tree_nodes = self.trees.states[0, : self.trees.games[0]["num_nodes"]], self.trees.nodes[0]
        as_bytes = np.dtype((np.void, known.dtype.itemsize))
        nodes = np.flatnonzero(known.view(as_bytes) == np.asarray(root).view(as_bytes))
        nodes = nodes[tree_nodes["num_edges"][nodes] > 0]
        if not len(nodes):
            return 0
        node = above = int(nodes[tree_nodes["visits"][nodes].argmax()])
        if tree_nodes[node]["solved"] and not tree_nodes[node]["num_visited"]:
            return 0  # how it is won was not kept
        if node == 0:
            return _OTHER_TURN
        turn = _SAME_TURN
        while above > 0:
            above = int(tree_nodes[above]["parent"])
            if tree_nodes[above]["player"] != root["current_player"]:
                turn = _OTHER_TURN
        self._keep_subtree(self.trees, node)
        return turn

    def _simulate(self, num_simulations: int, schedule: npt.NDArray[np.int32], is_over: Callable[[], bool]) -> None:
        """Run batches of simulations in all threads until there are none left, or until ``is_over()``."""
        self._limits = self._limits._replace(num_simulations=num_simulations)
        if len(self._buffers) == 1:
            return self._work(self._buffers[0], schedule, is_over)
        stop = threading.Event()

        def stopped() -> bool:
            return stop.is_set() or is_over()

        run_in_threads([partial(self._work, buffers, schedule, stopped) for buffers in self._buffers], stop)

    def _work(self, buffers: ThreadBuffers, schedule: npt.NDArray[np.int32], is_over: Callable[[], bool]) -> None:
        """Run batches of simulations in one thread. The lock is held except while leaves are evaluated."""
        trees, parameters = self.trees, self.rule.parameters
        with self._changed:
            while not is_over():
                buffers.num_leaves, buffers.num_evaluations = self._descend(
                    trees, parameters, schedule, buffers.planes, buffers.leaves, self._limits, self._solve
                )
                if buffers.num_leaves == 0:
                    if self._num_searching == 0:
                        return
                    self._changed.wait()  # for the leaves of another thread
                    continue
                self._num_searching += 1
                self._changed.release()
                try:
                    logits, values = self._evaluate_leaves(buffers)
                finally:
                    self._changed.acquire()
                    self._num_searching -= 1
                    self._changed.notify_all()
                self._finish(buffers, logits, values)

    def _finish(self, buffers: ThreadBuffers, logits: npt.NDArray[np.float32], values: npt.NDArray[np.float32]) -> None:
        """Expand the leaves of a buffers.

        Raises:
            ValueError: the network's output is not finite.
        """
        leaves = buffers.leaves, buffers.num_leaves
        if self._expand(buffers.trees, *leaves, logits, values, self.discount, self._solve):
            raise ValueError(NOT_FINITE)

    def _evaluate_leaves(self, buffers: ThreadBuffers) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
        """Return the evaluations of the leaves of a batch, by the network and the leaf values mixed in.

        Raises:
            ValueError: the network's output has other shapes.
        """
        num_evaluations = buffers.num_evaluations
        if num_evaluations == 0:
            return np.empty((0, self._game.num_actions), np.float32), np.empty(0, np.float32)
        logits, values = self._in_network(
            buffers.planes[:num_evaluations].reshape(num_evaluations, *self._inputs.shape)
        )
        return logits, self._mixed(buffers, values)

    def _in_network(self, leaves: Any) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
        """Return the network's logits and values for what it is given of leaves.

        Raises:
            ValueError: they have other shapes.
        """
        begin, num_evaluations = time.perf_counter(), len(leaves)
        logits, values = self.evaluate(leaves)
        seconds = time.perf_counter() - begin
        with self._changed:
            self.network_seconds += seconds
        shapes = (num_evaluations, self._game.num_actions), (num_evaluations,)
        if (logits.shape, values.shape) != shapes:
            raise ValueError(
                f"the network's logits and values for {num_evaluations} positions of {self._game} must have the shapes {shapes[0]} "
                f"and {shapes[1]}, got {logits.shape} and {values.shape}"
            )
        return logits, values

    def _mixed(self, buffers: ThreadBuffers, values: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """Return the network's values of the leaves of a batch with the leaf values mixed in."""
        if self._leaf_values is None or self.leaf_value_weight <= 0:
            return values
        leaves = buffers.leaves, buffers.num_leaves, buffers.num_evaluations
        others = self._leaf_values.evaluate(buffers.trees, *leaves, buffers.seeds)
        return values + np.float32(self.leaf_value_weight) * (others - values)
