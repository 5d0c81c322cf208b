"""``DeviceSearch``: a ``NetworkSearch`` whose leaves go to a device as records, and whose trees several threads walk."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, Protocol, cast

import numpy as np
import numpy.typing as npt

from stoneworks.checks import check_integer
from stoneworks.envs.rules import Game
from stoneworks.envs.rules.compiler.thread_team import ThreadTeam
from stoneworks.envs.rules.device import Inputs, NoPlanes
from stoneworks.models.search.network_search import MAX_THREADS, NetworkSearch, SearchSettings, ThreadBuffers


class RecordEvaluation(Protocol):
    """Evaluates positions that are given as records, such as :class:`stoneworks.models.inference.device_inference.DeviceEvaluator`.

    Attributes:
        records: ``uint8[max_positions, bytes]``, the buffer for records of ``game.state_dtype``.
    """

    records: npt.NDArray[np.uint8]

    def __call__(self, records: npt.NDArray[np.uint8]) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
        """Return logits ``float32[n, num_actions]`` and values ``float32[n]`` of the first n records of the buffer.

        The next call may overwrite them.
        """


class DeviceSearch(NetworkSearch):
    """Searches many games; each thread walks the trees of some, and one call evaluates the leaves of all, in their order.

    Results are those of a :class:`NetworkSearch` with an equal network, whatever the number of threads.
    """

    def __init__(
        self,
        game: Game,
        evaluate: RecordEvaluation,
        settings: SearchSettings,
        *,
        max_games: int,
        max_simulations: int,
        threads: int = 1,
    ) -> None:
        """Allocate the tree buffers.

        Args:
            game: the game.
            evaluate: the network, with room for the leaves of all games.
            settings: how the search runs, with ``threads=1``: no two threads search the same tree.
            max_games: maximum batch size in games, at least 1.
            max_simulations: maximum number of simulations per search, at least 1.
            threads: number of threads, at least 1.

        Raises:
            ValueError: a number is out of bounds.
        """
        check_integer("threads of the settings", settings.threads, 1, 1)
        self._parts: list[ThreadBuffers] = []
        super().__init__(game, cast(Any, evaluate), settings, max_games=max_games, max_simulations=max_simulations)
        self._records = evaluate.records
        size = len(self._buffers[0].leaves)
        others = range(1, check_integer("threads", threads, 1, MAX_THREADS))
        self._parts = [*self._buffers, *(ThreadBuffers(self._inputs, size) for _ in others)]
        self._team = ThreadTeam(threads)

    def _inputs_of(self, game: Game, features: bool) -> Inputs:
        return NoPlanes(game)  # the device writes them

    def _use(self, num_games: int) -> None:
        super()._use(num_games)
        bounds = np.linspace(0, num_games, len(self._parts) + 1).astype(int)
        for part, (start, stop) in zip(self._parts, pairwise(bounds.tolist()), strict=True):
            part.trees = self._trees_of(slice(start, stop))

    def _start(self, roots: npt.NDArray[np.void], generator: np.random.Generator) -> None:
        self._use(len(roots))
        seeds = generator.integers(0, 2**64, len(roots), np.uint64)
        start = 0
        for part in self._parts:
            part.num_leaves = part.num_evaluations = len(part.trees.games)
            rows = slice(start, start := start + part.num_leaves)
            part.seeds = seeds[rows]
            self._start_all(part.trees, roots[rows], part.planes, part.leaves)
        self._evaluate_and_expand()
        self._prepare(len(roots), generator)

    def _simulate(self, num_simulations: int, schedule: npt.NDArray[np.int32], is_over: Callable[[], bool]) -> None:
        limits = self._limits._replace(num_simulations=num_simulations)

        def descend(part: ThreadBuffers) -> None:
            part.num_leaves, part.num_evaluations = self._descend(
                part.trees, self.rule.parameters, schedule, part.planes, part.leaves, limits, self._solve
            )

        while not is_over():
            self._team.run(descend, [(part,) for part in self._parts])
            if not any(part.num_leaves for part in self._parts):
                return
            self._evaluate_and_expand()

    def _evaluate_and_expand(self) -> None:
        """Expand the leaves of all parts.

        Raises:
            ValueError: the network's output has other shapes, or is not finite.
        """
        bounds = np.cumsum([0, *(part.num_evaluations for part in self._parts)]).tolist()
        rows = [slice(*ends) for ends in pairwise(bounds)]
        for part, places in zip(self._parts, rows, strict=True):
            _copy_records(part, self._records[places])
        logits, values = np.empty((0, self._game.num_actions), np.float32), np.empty(0, np.float32)
        if bounds[-1]:
            logits, values = self._in_network(self._records[: bounds[-1]])

        def expand(part: ThreadBuffers, places: slice) -> None:
            self._finish(part, logits[places], self._mixed(part, values[places]))

        self._team.run(expand, list(zip(self._parts, rows, strict=True)))


def _copy_records(part: ThreadBuffers, records: npt.NDArray[np.uint8]) -> None:
    """Copy the positions that the network evaluates, in the order of their slots."""
    leaves = part.leaves[: part.num_leaves]
    leaves = leaves[leaves["slot"] >= 0]
    states: Any = part.trees.states
    rows = states.view(np.uint8).reshape(-1, states.dtype.itemsize)
    numbers = leaves["game"].astype(np.int64) * states.shape[1] + leaves["node"]
    np.take(rows, numbers, 0, out=records, mode="clip")  # "raise" would copy them twice
