"""``MCTSBot``: Monte Carlo tree search (UCT) with random playouts or the heuristic, with names such as ``mcts:400``."""

from __future__ import annotations

import threading
import time
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from stoneworks.checks import check_choice, check_integer, check_number, check_seed
from stoneworks.envs.rules import Batch, Game, State, as_game
from stoneworks.envs.rules.parts import require_heuristic
from stoneworks.models.bots.bot import LINE_ACTIONS, Analysis, Bot, check_batch, check_budget, check_position
from stoneworks.models.bots.spec import BotSpec, UnknownBotError
from stoneworks.models.machine import num_processors, run_in_threads
from stoneworks.models.search.uct import MAX_THREADS, MAX_VISITS, RootStatistics, SearchTree

#: By leaf. Evaluations have no noise; of 1, 0.5 and 0.25, 0.25 was best for them (Vadus 5 against greedy, 1,000
#: simulations, 20 games each: 20.0, 27.5 and 37.5 %). With first-play
#: urgency, 0.03 to 0.12 made no clear difference (docs/experiment-tables.md).
DEFAULT_EXPLORATION = {"playout": 1.0, "heuristic": 0.25, "end_of_turn": 0.05}
DEFAULT_FIRST_PLAY_URGENCY = {"playout": None, "heuristic": None, "end_of_turn": 0.1}

#: Approximate duration of a compiled call; interrupts and time limits are checked between calls.
_SECONDS_PER_CALL = 0.02
_FIRST_CALL = 16
#: A tree that is kept between moves may exceed the size of a single search. It stops growing at these sizes. By whole turns, a
#: simulation adds a node for each action.
_NODES_PER_SIMULATION = {"playout": 4, "heuristic": 4, "end_of_turn": 16}
_MAX_NODES = 1 << 20
_MAX_EDGES = 1 << 23


def _make_trees(
    game: Game, simulations: int | None, num_threads: int, leaf: str, first_play_urgency: float | None
) -> list[SearchTree]:
    max_nodes = _MAX_NODES
    if simulations is not None:
        max_nodes = min(_NODES_PER_SIMULATION[leaf] * simulations // num_threads + 1024, _MAX_NODES)
    max_edges = max(min(max_nodes * game.num_actions, _MAX_EDGES), game.num_actions)
    return [
        SearchTree(
            game,
            max_nodes,
            max_edges,
            evaluate_leaves=leaf != "playout",
            first_play_urgency=first_play_urgency,
            whole_turns=leaf == "end_of_turn",
        )
        for _ in range(num_threads)
    ]


class MCTSBot(Bot):
    """Plays the most visited action of a UCT search (see :mod:`stoneworks.models.search.uct`).

    Leaves are evaluated by one random playout each, or by the game's heuristic: at once, or at the end of the turn.

    From one ``step`` to the next of a game, the bot keeps the part of its tree below the current position; matches use
    ``step_batch`` and keep nothing. The kept part counts as visits; each step runs its full number of simulations in addition,
    unless the position is proven or has ``MAX_VISITS``.

    Attributes:
        root_statistics: statistics of each action from the last ``step``; None before the first one and after a batch.
    """

    samples_policy = False

    def __init__(
        self,
        game: Game | str,
        seed: int | None = None,
        *,
        simulations: int | None = None,
        seconds: float | None = None,
        exploration: float | None = None,
        num_threads: int = 1,
        leaf: str = "playout",
        first_play_urgency: float | None = None,
    ) -> None:
        """Create the bot. Exactly one of ``simulations`` and ``seconds`` must be given.

        Args:
            game: a game or a game string.
            seed: seed for playouts and for breaking ties; None draws a random one. With ``simulations`` it determines
                all actions.
            simulations: simulations per step, from 1 to ``MAX_VISITS``, about two million.
            seconds: time per step, more than 0.
            exploration: factor of the confidence bounds, at least 0, for results in [-1, 1]; None for the default of ``leaf``.
            num_threads: number of independent trees with their own threads and seeds, which share the simulations and
                whose visits and results are summed (root parallelism).
            leaf: evaluation of leaves: ``playout``, ``heuristic``, or ``end_of_turn``, the heuristic after the rest of the turn.
            first_play_urgency: assumed value of an unvisited action, minus the mean value of its position, at least 0. Unvisited
                actions are selected in order of rating. None: 0.1 for ``end_of_turn``, else each is selected once before any twice.

        Raises:
            MissingHeuristicError: ``leaf`` is not ``playout``, or an urgency is given, and the game has no heuristic.
            ValueError: another argument is invalid.
        """
        self._game = game = as_game(game)
        self._simulations, self._seconds = check_budget("simulations", simulations, seconds, MAX_VISITS)
        check_integer("num_threads", num_threads, 1, MAX_THREADS)
        check_choice("leaf", leaf, tuple(DEFAULT_EXPLORATION))
        if leaf != "playout":
            require_heuristic(game, f"leaf={leaf}")
        if first_play_urgency is not None:
            require_heuristic(game, "first_play_urgency")
            check_number("first_play_urgency", first_play_urgency, 0)
        exploration = DEFAULT_EXPLORATION[leaf] if exploration is None else exploration
        self._exploration = check_number("exploration", exploration, 0)
        default_urgency = DEFAULT_FIRST_PLAY_URGENCY[leaf]
        first_play_urgency = default_urgency if first_play_urgency is None else first_play_urgency
        spec = BotSpec.of(
            "mcts",
            simulations=self._simulations,
            seconds=self._seconds,
            exploration=None if self._exploration == DEFAULT_EXPLORATION[leaf] else self._exploration,
            leaf=leaf,
            first_play_urgency=None if first_play_urgency == default_urgency else first_play_urgency,
            parallel="root" if num_threads > 1 else "none",
            num_threads=num_threads if num_threads > 1 else None,
        )
        self._spec_name = str(spec)
        self._generator = np.random.default_rng(check_seed(seed))
        self._root: State | None = None
        self.root_statistics: RootStatistics | None = None
        self._tree_arguments = game, self._simulations, num_threads, leaf, first_play_urgency
        self._trees = _make_trees(*self._tree_arguments)

    def __getstate__(self) -> dict[str, Any]:
        """Return the state of a copy, without the contents of the trees."""
        return {**self.__dict__, "_root": None, "root_statistics": None, "_trees": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Become the copy, with empty trees."""
        self.__dict__.update(state, _trees=_make_trees(*state["_tree_arguments"]))

    @classmethod
    def from_spec(cls, spec: BotSpec, game: Game, seed: int | None) -> MCTSBot:
        """Create the bot of a name (see :meth:`Bot.from_spec`), such as ``mcts:2s,c=1.2,leaf=heuristic,parallel=root,threads=2``.

        Without ``threads``, ``parallel=root`` uses one thread per processor.

        Raises:
            UnknownBotError: the name is invalid for this bot.
        """
        arguments = spec.arguments
        if arguments.pop("parallel", "none") == "root":
            arguments.setdefault("num_threads", num_processors())
        elif "num_threads" in arguments:
            raise UnknownBotError(f"mcts bot: threads requires parallel=root, got threads={arguments['num_threads']}")
        return cls(game, seed, **arguments)

    def step_with_policy(self, state: State) -> tuple[list[tuple[int, float]], int]:
        """Return policy and action (see :meth:`Bot.step_with_policy`). The policy is the visit shares, or certain if proven."""
        check_position(self, state, self._game)
        if not self._keep_subtree(state):
            self._start_trees(state.record)
        self._root = state.clone()
        self.root_statistics = statistics = self._search()
        action = self._choose(statistics)
        visits = statistics.visits
        chosen = statistics.actions == action
        if not visits[chosen].any() or not np.isnan(statistics.proven[chosen]).any():
            return [(action, 1.0)], action
        return list(zip(statistics.actions.tolist(), (visits / visits.sum()).tolist(), strict=True)), action

    def analyze(self, state: State) -> Analysis:
        """See :meth:`Bot.analyze`."""
        chosen = self.step(state)
        statistics = self.root_statistics
        assert statistics is not None
        visits, proven, result = statistics.visits, statistics.proven, statistics.result
        total = int(visits.sum())
        action_values = np.where(np.isnan(proven), np.where(visits > 0, statistics.values, np.nan), proven)
        is_proven = not np.isnan(result)
        value = result if is_proven else float(action_values[statistics.actions == chosen][0])
        return Analysis(
            state.current_player(),
            chosen,
            statistics.actions,
            visits / total if total else (statistics.actions == chosen).astype(np.float64),
            value=None if np.isnan(value) else value,
            proven=result if is_proven else None,
            simulations=total,
            visits=visits,
            action_values=action_values,
            line=self._best_line(chosen),
        )

    def step_batch(self, batch: Batch, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return actions (see :meth:`Bot.step_batch`). Each game gets a new tree with its own seed."""
        check_batch(self, batch, rows, self._game)
        self.restart()
        actions = np.empty(len(rows), np.int64)
        for index, row in enumerate(rows):
            self._start_trees(batch.states[row])
            actions[index] = self._choose(self._search())
        return actions

    def restart(self) -> None:
        """Prepare for a new game (see :meth:`Bot.restart`). The tree is discarded."""
        self._root = None
        self.root_statistics = None

    def _best_line(self, action: int) -> tuple[int, ...]:
        """Return the most visited line of the last ``step`` that begins with ``action``, proven results first."""
        line = [action]
        while len(line) < LINE_ACTIONS:
            found = [part for tree in self._trees if (part := tree.statistics(line)) is not None]
            if not found:
                break
            statistics = RootStatistics.sum_of(found)
            if not statistics.visits.any():
                break
            line.append(int(statistics.best[0]))
        return tuple(line)

    def _start_trees(self, record: np.void) -> None:
        seeds = self._generator.integers(0, 2**64, len(self._trees), np.uint64)
        for tree, seed in zip(self._trees, seeds, strict=True):
            tree.start(record, seed)

    def _keep_subtree(self, state: State) -> bool:
        """Make ``state`` the root of every tree, and return whether all contain it; if not, they are unusable."""
        root, self._root = self._root, None
        if root is None:
            return False
        played, before = state.history(), root.history()
        if played[: len(before)] != before:
            return False
        ahead = played[len(before) :]
        if not all(map(root.try_apply_action, ahead)) or root != state:  # histories may start anywhere
            return False
        record = state.record
        return all(tree.descend(ahead, record) for tree in self._trees)

    def _search(self) -> RootStatistics:
        """Spend the budget of a step on the trees."""
        deadline = None if self._seconds is None else time.perf_counter() + self._seconds
        budgets: list[int | None] = [None] * len(self._trees)
        if self._simulations is not None:
            share, rest = divmod(self._simulations, len(self._trees))
            budgets = [share + (index < rest) for index in range(len(self._trees))]
        stop = threading.Event()
        if len(self._trees) == 1:
            self._search_one(self._trees[0], budgets[0], deadline, stop)
        else:
            of_trees = zip(self._trees, budgets, strict=True)
            run_in_threads([partial(self._search_one, *one, deadline, stop) for one in of_trees], stop)
        return RootStatistics.sum_of([found for tree in self._trees if (found := tree.statistics()) is not None])

    def _search_one(self, tree: SearchTree, budget: int | None, deadline: float | None, stop: threading.Event) -> None:
        """Search one tree until the budget is spent, the deadline has passed, the root is proven, or ``stop`` is set."""
        asked = _FIRST_CALL
        while not stop.is_set() and budget != 0:
            if budget is not None:
                asked = min(asked, budget)
            start = time.perf_counter()
            done = tree.search(asked, self._exploration)
            now = time.perf_counter()
            if done < asked or (deadline is not None and now >= deadline):
                return
            if budget is not None:
                budget -= done
            seconds = _SECONDS_PER_CALL if deadline is None else min(_SECONDS_PER_CALL, deadline - now)
            asked = max(1, min(4 * asked, int(done * seconds / max(now - start, 1e-6))))

    def _choose(self, statistics: RootStatistics) -> int:
        best = statistics.best
        return int(best[self._generator.integers(best.size)])
