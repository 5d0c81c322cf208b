"""Processes in which bots choose turns and analyze positions, with a time limit per job. Canceled jobs are killed.

Jobs are dictionaries, their results typed ones of JSON; bot names have been validated by :mod:`stoneworks.web.agents`.
"""

from __future__ import annotations

import asyncio
import contextlib
import multiprocessing
import os
import threading
import time
import traceback
from collections import OrderedDict
from collections.abc import AsyncGenerator, Awaitable, Callable, Hashable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any, TypeVar

import numpy as np
from numba.core import event
from starlette.requests import Request
from typing_extensions import TypedDict

from stoneworks.envs.rules import Game, RegistrationError, State, load_game
from stoneworks.models import Analysis, Bot, BotForfeit, BotStartError, UnknownBotError, load_bot
from stoneworks.models.bots.external_bot import kill_programs
from stoneworks.models.bots.spec import BotSpec
from stoneworks.models.description import CheckpointError
from stoneworks.models.solver import SolverMemoryError, UnsolvedError
from stoneworks.processes import exit_with_parent, interrupts_blocked
from stoneworks.registry import Entry, add_entries, added_entries
from stoneworks.web.requests import RequestError

#: Maximum number of jobs that wait for a process.
_MAX_WAITING_JOBS = 256
#: Grace period of a canceled job before its process is killed.
_GRACE_SECONDS = 0.6
#: Time limit per job for the start of a process and the compilation of kernels, once per machine.
_PREPARING_SECONDS = 600.0
#: Interval at which the server checks whether a process is compiling kernels or working on its job.
_POLLING_SECONDS = 0.5
#: Grace period for a process to terminate the programs of its bots.
_SECONDS_TO_END_PROGRAMS = 0.1
_ENDING = "the server is shutting down"


_Result = TypeVar("_Result")


class WorkerError(RuntimeError):
    """A job failed inside its worker process. The message is the worker's traceback."""


class TurnAnswer(TypedDict):
    """The actions of a turn, or of its first chunk."""

    actions: list[str]


class PreparedAnswer(TypedDict):
    """How long the preparation of a bot took, in seconds."""

    seconds: float


class ValuesAnswer(TypedDict):
    """The values of positions for player 0, None where the bot has none, and whether they are proven."""

    values: list[float | None]
    proven: list[bool]


class Column(TypedDict):
    """A column of an analysis.

    Attributes:
        kind: what its numbers are: a ``"share"`` in [0, 1], a ``"count"``, a ``"value"`` in [-1, 1] or a ``"score"`` on the
            bot's own scale.
    """

    name: str
    kind: str


class AnalysisAnswer(TypedDict):
    """Analysis of a position by a bot: an :class:`~stoneworks.models.bots.bot.Analysis` in texts and plain numbers.

    Attributes:
        line_ends_game: whether the game is over after ``line``.
        actions: the ``action`` and the numbers of the columns by their names: the action that the bot plays first, then the
            most visited or else the most probable.
    """

    player: int
    value: float | None
    proven: float | None
    evaluation: float | None
    simulations: int | None
    seconds: float
    line: list[str]
    line_ends_game: bool
    lines: list[list[str]]
    columns: list[Column]
    actions: list[dict[str, str | float | None]]


class BotProcesses:
    """A pool of processes. Must be used from a single event loop.

    Attributes:
        thinking_seconds: time limit per job.
    """

    def __init__(self, num_workers: int, thinking_seconds: float) -> None:
        """Create the pool of at most ``num_workers`` processes, which are started on demand."""
        self.thinking_seconds = thinking_seconds
        self._num_waiting = 0
        self._workers = [_Worker() for _ in range(num_workers)]
        self._idle: asyncio.LifoQueue[_Worker] = asyncio.LifoQueue()
        for worker in self._workers:
            self._idle.put_nowait(worker)
        self._threads = ThreadPoolExecutor(num_workers, "worker")
        self._given_up: set[asyncio.Future[None]] = set()

    def start(self) -> None:
        """Start the processes, so that the first job need not wait for one."""
        for worker in self._workers:
            self._threads.submit(worker.start)

    async def run(self, job: dict[str, Any]) -> Any:
        """Run a job (see :func:`think`) and return its result. Canceling the call cancels the job.

        Raises:
            RequestError: too many jobs are waiting, the bot cannot be loaded or forfeits, or the job exceeded its time limit, not
                counting the start of a process and the compilation of kernels.
            WorkerError: the job failed.
        """
        worker = await self._free_worker()
        answer = self._ask(worker, job)
        try:
            await self._wait(worker, answer)
            if not answer.done():
                raise RequestError(f"{job['bot']} did not answer within {self.thinking_seconds:g} seconds", 504)
            return answer.result()
        finally:
            self._release(worker, answer)

    async def stream(self, job: dict[str, Any]) -> AsyncGenerator[AnalysisAnswer, None]:
        """Run an analysis that grows (see :meth:`~stoneworks.models.bots.bot.Bot.analyze_until`), and yield what is found.

        It ends at the time limit. Closing the iterator cancels the job. Raises what :meth:`run` raises.
        """
        worker = await self._free_worker()
        loop = asyncio.get_running_loop()
        found: asyncio.Queue[AnalysisAnswer | None] = asyncio.Queue()

        def put(partial: AnalysisAnswer) -> None:
            loop.call_soon_threadsafe(found.put_nowait, partial)

        answer = self._ask(worker, job | {"kind": "stream"}, put)
        timed = asyncio.ensure_future(self._wait(worker, answer))
        timed.add_done_callback(lambda _: found.put_nowait(None))
        try:
            while (partial := await found.get()) is not None:
                yield partial
            if answer.done():
                answer.result()
        finally:
            timed.cancel()
            worker.stop()
            self._release(worker, answer)

    def _ask(self, worker: _Worker, *arguments: Any) -> asyncio.Future[Any]:
        answer = asyncio.get_running_loop().run_in_executor(self._threads, worker.ask, *arguments)
        # The errors of canceled jobs, above all at the end of the server, are read by nobody and would be logged.
        answer.add_done_callback(lambda answer: answer.cancelled() or answer.exception())
        return answer

    def _release(self, worker: _Worker, answer: asyncio.Future[Any]) -> None:
        """Return a worker to the idle ones, once it has ended its job."""
        if answer.done():
            self._idle.put_nowait(worker)
        else:
            given_up = asyncio.ensure_future(self._give_up(worker, answer))
            self._given_up.add(given_up)
            given_up.add_done_callback(self._given_up.discard)

    async def _free_worker(self) -> _Worker:
        if self._num_waiting >= _MAX_WAITING_JOBS:
            raise RequestError(f"{self._num_waiting} requests are waiting for a bot; try again later", 503)
        self._num_waiting += 1
        try:
            return await self._idle.get()
        finally:
            self._num_waiting -= 1

    async def _wait(self, worker: _Worker, answer: asyncio.Future[Any]) -> None:
        """Wait for an answer, or until the time limit; the start of a process and the compilation of kernels do not count."""
        left = self.thinking_seconds
        left_preparing = _PREPARING_SECONDS
        while not answer.done() and left > 0 and left_preparing > 0:
            begin = time.monotonic()
            is_preparing = worker.is_preparing
            await asyncio.wait([answer], timeout=min(left, _POLLING_SECONDS))
            seconds = time.monotonic() - begin
            if is_preparing or worker.is_preparing:
                left_preparing -= seconds
            else:
                left -= seconds

    async def _give_up(self, worker: _Worker, answer: asyncio.Future[Any]) -> None:
        await asyncio.wait([answer], timeout=_GRACE_SECONDS)
        while not answer.done():  # a process that is just starting is killed once it runs
            worker.kill()
            await asyncio.wait([answer], timeout=_GRACE_SECONDS)
        with contextlib.suppress(RuntimeError):  # the server is shutting down
            self._threads.submit(worker.start)
        self._idle.put_nowait(worker)

    def end(self) -> None:
        """Let all jobs fail, those that wait for a process too."""
        for worker in self._workers:
            worker.has_ended = True
            worker.kill()

    def close(self) -> None:
        """Kill all processes."""
        for worker in self._workers:
            worker.kill()
        self._threads.shutdown(wait=True)


class _Worker:
    """A worker process, started on demand."""

    def __init__(self) -> None:
        self.is_preparing = False
        self.has_ended = False
        self._lock = threading.Lock()
        self._process: multiprocessing.process.BaseProcess | None = None
        self._connection: Connection | None = None

    def ask(self, job: dict[str, Any], on_partial: Callable[[AnalysisAnswer], None] = lambda partial: None) -> Any:
        """Run a job and block until its result is available; call ``on_partial`` with each partial one.

        Raises:
            RequestError: the bot cannot be loaded or forfeits.
            WorkerError: the job failed.
        """
        self.start()
        connection = self._connection
        assert connection is not None
        try:
            connection.send(job)
            while not isinstance(message := connection.recv(), tuple):
                if isinstance(message, bool):
                    self.is_preparing = message
                else:
                    on_partial(message)
            answer, failure = message
        except (EOFError, OSError):
            self.kill()
            if self.has_ended:
                raise RequestError(_ENDING, 503) from None
            raise WorkerError("the worker process ended") from None
        if failure is not None:
            raise failure
        return answer

    def start(self) -> None:
        """Start the process unless it is running. Raises :class:`RequestError` once the server is shutting down."""
        with self._lock:
            if self.has_ended:
                raise RequestError(_ENDING, 503)
            if self._process is None or not self._process.is_alive():
                self.is_preparing = True
                self._start()

    def stop(self) -> None:
        """Ask the process to end an analysis that grows."""
        with contextlib.suppress(OSError):
            if self._connection is not None:
                self._connection.send(None)

    def kill(self) -> None:
        """Kill the process."""
        process, self._process = self._process, None
        if process is not None:
            process.terminate()  # ends the programs of its bots as well; a busy kernel does not react
            process.join(_SECONDS_TO_END_PROGRAMS)
            process.kill()
            process.join()

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._connection, theirs = context.Pipe()
        process = context.Process(target=_serve, args=(theirs, added_entries()), daemon=True)
        with interrupts_blocked():
            process.start()
        self._process = process
        theirs.close()


class _CompilingListener(event.Listener):
    """Tells the server when the compilation of kernels begins and ends."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._depth = 0

    def on_start(self, _: event.Event) -> None:
        self._depth += 1
        if self._depth == 1:
            self._connection.send(True)

    def on_end(self, _: event.Event) -> None:
        self._depth -= 1
        if self._depth == 0:
            self._connection.send(False)


#: Errors of a bot that cannot be loaded or does not play.
_BOT_ERRORS = (
    BotForfeit,
    BotStartError,
    CheckpointError,
    RegistrationError,
    SolverMemoryError,
    UnknownBotError,
    UnsolvedError,
)


def _serve(connection: Connection, entries: tuple[Entry, ...]) -> None:
    """Process jobs until the connection to the server is closed."""
    exit_with_parent(clean_up=kill_programs)
    with contextlib.suppress(OSError):
        os.nice(5)  # keeps the server responsive while all processors are busy
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    add_entries(entries)
    event.register("numba:compile", _CompilingListener(connection))
    with contextlib.suppress(OSError):
        connection.send(False)
    while True:
        try:
            job = connection.recv()
        except (EOFError, OSError):
            return
        if job is None:  # the analysis to stop has ended
            continue
        try:
            answer: tuple[Any, Exception | None] = think(job, connection), None
        except _BOT_ERRORS as error:
            answer = None, RequestError(str(error), 502)
        except Exception:
            answer = None, WorkerError(traceback.format_exc())
        try:
            connection.send(answer)
        except OSError:
            return


# -- Jobs that equal requests share --------------------------------------------------------------------------------------


@dataclass
class _SharedTask:
    """The task of a job, and the number of requests waiting for it."""

    task: asyncio.Future[Any]
    num_waiting: int = 0


class SharedJobs:
    """The running jobs, by key. A job is canceled once no request waits for it."""

    def __init__(self) -> None:
        self._tasks: dict[Hashable, _SharedTask] = {}

    async def run(self, request: Request, key: Hashable, make: Callable[[], Awaitable[_Result]]) -> _Result:
        """Return the result of the running job with this key, or else of ``make``.

        Raises:
            RequestError: the client disconnected, or the job was canceled.
        """
        shared = self._tasks.get(key)
        if shared is None:
            shared = self._tasks[key] = _SharedTask(asyncio.ensure_future(make()))
            shared.task.add_done_callback(lambda task: self._forget(key, task))
        shared.num_waiting += 1
        try:
            await wait_for(request, shared.task)
            if shared.task.cancelled():
                raise RequestError("the request was canceled", 503)
            return shared.task.result()
        finally:
            shared.num_waiting -= 1
            if not shared.num_waiting and not shared.task.done():
                shared.task.cancel()
                self._forget(key, shared.task)

    def _forget(self, key: Hashable, task: asyncio.Future[Any]) -> None:
        """Remove a task, unless a later one has taken its place."""
        if key in self._tasks and self._tasks[key].task is task:
            del self._tasks[key]


async def wait_for(request: Request, future: asyncio.Future[Any], seconds: float | None = None) -> None:
    """Wait until a future is done, at most for some seconds. The request body must have been read.

    The future is not canceled, whatever happens: other requests may wait for it.

    Raises:
        RequestError: the client disconnected first.
    """
    gone = asyncio.ensure_future(_disconnected(request))
    try:
        await asyncio.wait((future, gone), timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        if gone.done() and not future.done():
            raise RequestError("the request was canceled", 499)
    finally:
        gone.cancel()


async def _disconnected(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


# -- In the processes ----------------------------------------------------------------------------------------------------

_MAX_BOTS = 8
#: Longer turns are returned in chunks.
_MAX_ACTIONS_OF_TURN = 64
#: Columns of an analysis: name, attribute of :class:`~stoneworks.models.bots.bot.Analysis`, and what its numbers are.
_COLUMNS = (
    ("policy", "policy", "share"),
    ("prior", "priors", "share"),
    ("visits", "visits", "count"),
    ("win", "action_values", "value"),
    ("evaluation", "action_evaluations", "score"),
)

_bots: OrderedDict[tuple[str, str], tuple[int, Bot]] = OrderedDict()


def think(
    job: dict[str, Any], connection: Connection | None = None
) -> TurnAnswer | AnalysisAnswer | ValuesAnswer | PreparedAnswer | None:
    """Return the result of a job: ``kind`` is ``"prepare"``, ``"turn"``, ``"analyze"``, ``"values"`` or ``"stream"``.

    A stream has no result; its analyses are sent to ``connection`` until that has a message.
    """
    begin = time.perf_counter()
    game = load_game(job["game"])
    bot, state = _bot(job["bot"], game), game.new_initial_state()
    if job["kind"] == "prepare":
        bot.step(state)  # compiles the kernels, or reads them from the cache
        return {"seconds": round(time.perf_counter() - begin, 3)}
    if job["kind"] == "values":
        values = _values(bot, state, job["actions"], job["first"], job["count"], job["seconds"])
        return {"values": [value for value, _ in values], "proven": [is_proven for _, is_proven in values]}
    for text in job["actions"]:
        state.apply_action(game.string_to_action(text))
    if job["kind"] == "stream":
        assert connection is not None
        _stream(bot, state, connection)
        return None
    return {"actions": _turn(bot, state)} if job["kind"] == "turn" else _analyze(bot, state)


def _stream(bot: Bot, state: State, connection: Connection) -> None:
    """Send growing analyses until a message says that they are no longer needed."""
    begin = time.perf_counter()

    def stop(found: Analysis) -> bool:
        connection.send(_describe(found, state, time.perf_counter() - begin))
        return connection.poll()

    bot.analyze_until(state, stop)


def version_of(spec: BotSpec) -> int:
    """Return when the checkpoint or the file of a bot was written, in nanoseconds since 1970; 0 without one."""
    try:
        return 0 if spec.file is None else spec.file.stat().st_mtime_ns
    except OSError:
        return 0


def _bot(name: str, game: Game) -> Bot:
    key, version = (name, str(game)), version_of(BotSpec.parse(name))
    known = _bots.pop(key, None)
    if known is not None and known[0] != version:
        known[1].close()
        known = None
    _bots[key] = known or (version, load_bot(name, game))
    if len(_bots) > _MAX_BOTS:
        _bots.popitem(last=False)[1][1].close()
    bot = _bots[key][1]
    bot.restart()
    return bot


def _turn(bot: Bot, state: State) -> list[str]:
    """Return the texts of the actions of a whole turn."""
    player = state.current_player()
    played: list[str] = []
    while state.current_player() == player and len(played) < _MAX_ACTIONS_OF_TURN:
        action = bot.step(state)
        state.apply_action(action)
        played.append(state.get_game().action_to_string(action))
    return played


def _analyze(bot: Bot, state: State) -> AnalysisAnswer:
    begin = time.perf_counter()
    found = bot.analyze(state)
    return _describe(found, state, time.perf_counter() - begin)


def _describe(found: Analysis, state: State, seconds: float) -> AnalysisAnswer:
    game, end = state.get_game(), state.clone()
    for action in found.line:
        end.apply_action(action)
    columns = {name: getattr(found, attribute) for name, attribute, _ in _COLUMNS}
    known = {name: column for name, column in columns.items() if column is not None}
    order = np.lexsort((-found.policy, -known.get("visits", found.policy), found.actions != found.action))
    return {
        "player": found.player,
        "value": _value_of(found),
        "proven": found.proven,
        "evaluation": None if found.evaluation is None else _number(found.evaluation),
        "simulations": found.simulations,
        "seconds": round(seconds, 3),
        "line": [game.action_to_string(action) for action in found.line],
        "line_ends_game": bool(end.is_terminal()),
        "lines": [[game.action_to_string(action) for action in line] for line in found.lines],
        "columns": [{"name": name, "kind": kind} for name, _, kind in _COLUMNS if name in known],
        "actions": [
            {"action": game.action_to_string(int(found.actions[index]))}
            | {name: _number(column[index]) for name, column in known.items()}
            for index in order
        ],
    }


def _value_of(found: Analysis) -> float | None:
    """Return the value of a position: that of its best action, which the bot plays, where it is known."""
    if found.proven is None and found.action_values is not None:
        value = float(found.action_values[np.searchsorted(found.actions, found.action)])
        return value if np.isfinite(value) else found.value
    return found.value


def _values(
    bot: Bot, state: State, actions: Sequence[str], first: int, count: int, seconds: float
) -> list[tuple[float | None, bool]]:
    """Return the values, for player 0, of the positions after ``first``, ``first + 1``, ... actions, and whether they are proven.

    A value is None where the bot has none. No position is begun after ``seconds``, except the first.
    """
    begin = time.perf_counter()
    values: list[tuple[float | None, bool]] = []
    for number in range(first + count):
        if values and time.perf_counter() - begin > seconds:
            break
        if number:
            state.apply_action(state.get_game().string_to_action(actions[number - 1]))
        if number >= first and state.is_terminal():
            values.append((state.returns()[0], True))
        elif number >= first:
            found = bot.analyze(state.clone())
            if found.proven is not None:
                values.append((found.proven * (1.0 - 2.0 * found.player), True))
            else:
                value = _value_of(found)
                values.append((None if value is None else value * (1.0 - 2.0 * found.player), False))
    return values


def _number(value: Any) -> int | float | None:
    """Return a JSON-serializable number, or None if the value is not finite."""
    number: int | float = value.item() if isinstance(value, np.generic) else value
    return number if np.isfinite(number) else None
