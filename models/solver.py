"""``Solver``: exact results of positions, by proof search with a table in memory that can be kept in a file."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

from stoneworks.checks import check_integer, check_positive
from stoneworks.envs.rules import Game, State, as_game
from stoneworks.envs.rules.parts import has_heuristic
from stoneworks.files import naming_errors, replacing, sync_folder
from stoneworks.models.search import proof_search
from stoneworks.models.search.proof_search import Progress
from stoneworks.models.search.turn_search import rating_kernels

logger = logging.getLogger("stoneworks.solver")

#: Memory of a table by default, in MiB.
MEMORY_MIB = 256
#: Seconds between calls of ``progress``, and between writes of the table.
SECONDS_PER_CALL, SECONDS_PER_SAVE = 0.25, 600.0
_BYTES_PER_MIB = 2**20
_FIRST_CHUNK = 2000


class UnsolvedError(ValueError):
    """Raised when a position is not solved within its limits. The message names the position's game and the work done."""


class SolverMemoryError(ValueError):
    """Raised when the memory of a table is not available. The message names the memory needed."""


class TableError(ValueError):
    """Raised when the file of a table cannot be used. The message names the file."""


@dataclass(frozen=True)
class Solution:
    """The exact result of a position.

    Attributes:
        player: player to move.
        result: result for that player: 1, 0 or -1.
        actions: the legal actions that keep this result, in ascending order.
        num_positions: number of positions visited.
        seconds: time of the search.
    """

    player: int
    result: int
    actions: tuple[int, ...]
    num_positions: int
    seconds: float

    def result_of(self, player: int) -> int:
        """Return the result for ``player``."""
        return self.result if player == self.player else -self.result


class TableNotSavedError(OSError):
    """Raised when a position is solved and the table cannot be written, such as on a full disk.

    Attributes:
        solution: the solution.
    """

    def __init__(self, solution: Solution, *arguments: object) -> None:
        super().__init__(*arguments)
        self.solution = solution


class Solver:
    """Solves positions of a game; what it has found is kept for the next position.

    Positions are identified by 54 bits of a hash and their place in the table, so the chance that a comparison takes two
    positions for the same is 2^-53; a search of 10^9 positions compares at most 8 × 10^9 entries and is wrong with a probability
    below 10^-6.
    """

    def __init__(
        self,
        game: Game | str,
        *,
        memory_mib: int = MEMORY_MIB,
        table: str | os.PathLike[str] | None = None,
        order_by_evaluation: bool = True,
    ) -> None:
        """Create a solver.

        Args:
            game: a game or a game string. Its observations must determine the rest of the game, as those of all built-in games do.
            memory_mib: memory of the table, rounded down to a power of two; at least 1.
            table: a file that holds the table between searches (.npz); read here if it exists, and written every ten minutes
                and at the end of each :meth:`solve`, also by Ctrl-C. No other solver may use it at the same time.
            order_by_evaluation: try actions in the order of the game's heuristic, if it has one, and not only of their success.
                It saves positions in Laido and costs positions in Taugo.

        Raises:
            SolverMemoryError: there is not enough memory.
            TableError: the file is not a table of this game and size, or its folder does not exist.
        """
        self.game = game = as_game(game)
        self._memory = (1 << check_integer("memory_mib", memory_mib, 1).bit_length() - 1) * _BYTES_PER_MIB
        self._file = None if table is None else Path(table)
        if self._file is not None and not self._file.parent.is_dir():
            raise TableError(f"the table must be in a folder that exists, got {str(self._file)!r}")
        self._saved_at = time.monotonic()
        self._table = self._new_table()
        depth = game.max_game_length() + 2
        try:
            frames = np.zeros(depth, proof_search.FRAME)
            candidates = np.empty((depth, game.num_actions), np.int32)
            self._stack = proof_search.Stack(np.empty(depth, game.state_dtype), frames, candidates)
        except MemoryError:
            raise SolverMemoryError(f"there is not enough memory for games of up to {depth - 2} actions") from None
        self._hashing = proof_search.hash_keys(game)
        self._history = np.full((2, game.num_actions), 0.5, np.float32)
        by_heuristic = order_by_evaluation and has_heuristic(game)
        self._search = game.compiled(proof_search.search_proof, rating_kernels(game, by_heuristic))

    def solve(
        self,
        state: State,
        *,
        max_positions: int | None = None,
        seconds: float | None = None,
        progress: Callable[[int, str], None] | None = None,
    ) -> Solution:
        """Return the result of a position and the actions that keep it.

        Args:
            state: the position, not terminal.
            max_positions: number of visited positions after which no other is begun.
            seconds: maximum time.
            progress: called with the number of positions visited and what is known.

        Raises:
            UnsolvedError: a limit is reached.
            TableNotSavedError: the position is solved and the table cannot be written; the error contains the solution.
            ValueError: an argument is invalid.
        """
        if state.game != self.game or state.is_terminal():
            raise ValueError(f"the solver needs a position of {self.game} that is not over, got\n{state}")
        if max_positions is not None:
            check_integer("max_positions", max_positions, 1)
        if seconds is not None:
            check_positive("seconds", seconds)
        limits = _SearchLimits(state, max_positions, seconds, progress)
        self._saved_at = time.monotonic()
        try:
            result = self._result(state, limits)
            limits.known = _in_words(result, state.current_player())
            actions = [action for action in state.legal_actions() if self._keeps(state, action, result, limits)]
        except BaseException:
            self._save_or_warn()
            raise
        solution = Solution(state.current_player(), result, tuple(actions), limits.visited, limits.seconds)
        try:
            self._save()
        except OSError as error:
            raise TableNotSavedError(solution, error.errno, error.strerror, error.filename) from None
        return solution

    def value(self, state: State) -> float:
        """Return the result of a position for player 0; also of terminal positions.

        Raises:
            ValueError: the position is of another game.
        """
        if state.game != self.game:
            raise ValueError(f"the solver needs a position of {self.game}, got\n{state}")
        if state.is_terminal():
            return state.returns()[0]
        result = self._result(state, _SearchLimits(state))
        return float(result if state.current_player() == 0 else -result)

    def _result(self, state: State, limits: _SearchLimits) -> int:
        for result in (1, 0):
            if self._reaches(state, result, limits):
                return result
            limits.known = "no win" if result else "a loss"
        return -1

    def _keeps(self, state: State, action: int, result: int, limits: _SearchLimits) -> bool:
        if result == -1:
            return True
        child, player = state.child(action), state.current_player()
        if child.is_terminal():
            return child.returns()[player] >= result
        if child.current_player() == player:
            return self._reaches(child, result, limits)
        return not self._reaches(child, 1 - result, limits)

    def _reaches(self, state: State, result: int, limits: _SearchLimits) -> bool:
        """Return whether the player to move gets at least ``result``."""
        self._stack.path[0] = state.record
        self._stack.frames[0]["entered"], self._stack.frames[0]["need"] = 0, result
        progress, chunk = Progress(), _FIRST_CHUNK
        while progress.ply >= 0:
            begin, before = time.perf_counter(), progress
            arrays = self._stack, self._table, self._hashing, self._history
            max_positions = before.num_positions + limits.check(chunk)
            progress = Progress(*self._search(self.game.board, *arrays, before, max_positions))
            limits.visited += progress.num_positions - before.num_positions
            elapsed = time.perf_counter() - begin
            chunk = min(2 * chunk, max(_FIRST_CHUNK, int(chunk * SECONDS_PER_CALL / max(elapsed, 1e-9))))
            if time.monotonic() - self._saved_at > SECONDS_PER_SAVE:
                self._save_or_warn()
        return progress.success

    # -- The table -----------------------------------------------------------------------------------------------------

    def _new_table(self) -> npt.NDArray[np.uint64]:
        needed = self._memory // _BYTES_PER_MIB
        if hasattr(os, "sysconf"):  # not on Windows, where np.zeros fails if there is not enough
            available = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // _BYTES_PER_MIB
            if needed > available:
                raise SolverMemoryError(f"the table needs {needed} MiB of memory; this machine has {available} MiB")
        try:
            if self._file is None or not self._file.exists():
                return np.zeros(self._memory // 8, np.uint64)
            with self._file.open("rb") as opened, np.load(opened) as content:
                game, table = str(content["game"]), np.asarray(content["table"])
        except MemoryError:
            raise SolverMemoryError(f"the table needs {needed} MiB of memory") from None
        except Exception as error:  # numpy, zipfile and zlib raise anything for a file that is damaged
            raise TableError(f"{self._file} is not the table of a solver: {error}") from None
        if game != self._name or table.dtype != np.uint64 or table.nbytes != self._memory:
            raise TableError(
                f"{self._file} is a table of {table.nbytes // _BYTES_PER_MIB} MiB for {game}; expected one of {needed} MiB for "
                f"{self._name}"
            )
        return table

    @property
    def _name(self) -> str:
        return f"{self.game} version {self.game.version}"

    def _save(self) -> None:
        """Write the table to its file, if it has one, atomically."""
        self._saved_at = time.monotonic()
        if self._file is None:
            return
        with naming_errors(self._file), replacing(self._file) as temporary, temporary.open("wb") as opened:
            np.savez(opened, game=np.array(self._name), table=self._table)
            opened.flush()
            os.fsync(opened.fileno())
        sync_folder(self._file.parent)

    def _save_or_warn(self) -> None:
        try:
            self._save()
        except OSError as error:
            logger.warning("the table cannot be saved: %s", error)


@dataclass
class _SearchLimits:
    """What is left of the limits of one call of ``solve``, and what it has found so far."""

    state: State
    max_positions: int | None = None
    max_seconds: float | None = None
    progress: Callable[[int, str], None] | None = None
    begin: float = field(default_factory=time.perf_counter)
    visited: int = 0
    known: str = "nothing"

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self.begin

    def check(self, chunk: int) -> int:
        """Report the progress, and return how many positions to visit next.

        Raises:
            UnsolvedError: none are left.
        """
        if self.progress is not None:
            self.progress(self.visited, self.known)
        left = chunk if self.max_positions is None else min(chunk, self.max_positions - self.visited)
        if left <= 0 or (self.max_seconds is not None and self.seconds >= self.max_seconds):
            raise UnsolvedError(
                f"the position of {self.state.game} is not solved after {self.visited} positions and {self.seconds:.1f} s; known: "
                f"{self.known}"
            )
        return left


def _in_words(result: int, player: int) -> str:
    """Return a result for ``player`` in words."""
    return "a draw" if result == 0 else f"player {player if result > 0 else 1 - player} wins"
