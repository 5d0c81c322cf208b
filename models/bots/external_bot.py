"""``ExternalBot``: an external program that plays over standard input and output (see docs/protocol.md).

``python -m stoneworks.models.bots.external_bot greedy`` is such a program, which plays as the bot ``greedy``.
"""

from __future__ import annotations

import contextlib
import os
import queue
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time
import weakref
from collections import deque
from typing import TextIO

from stoneworks.checks import check_positive, check_seed
from stoneworks.envs.rules import Game, IllegalActionError, State, load_game
from stoneworks.models.bots.bot import Bot, BotForfeit, BotStartError, check_position
from stoneworks.models.bots.loading import load_bot
from stoneworks.models.bots.spec import BotSpec, UnknownBotError

#: Version of the protocol.
PROTOCOL = "stoneworks 1"
#: Maximum length of a line in bytes; longer ones are split.
MAX_LINE_BYTES = 4096
#: Number of lines of standard error in the report of a crash.
NUM_LAST_LINES = 10
#: Time limit for a program to terminate after ``quit``, and for its pipes to drain.
SECONDS_TO_END = 1.0


_running: set[_Program] = set()


def kill_programs() -> None:
    """Kill all programs that bots of this process have started; for a process that is about to exit."""
    for program in tuple(_running):
        program.kill()


def words_of(command: str) -> list[str]:
    """Return the words of a command with POSIX shell quoting.

    Raises:
        ValueError: its quotes are unbalanced.
    """
    try:
        return shlex.split(command)
    except ValueError as error:
        raise ValueError(f"command has unbalanced quotes ({error}): {command!r}") from None


class ExternalBot(Bot):
    """Plays the actions of an external program. Anything but a legal action in time forfeits the game: :class:`BotForfeit`."""

    one_game_at_a_time = True

    def __init__(
        self, command: str, game: Game, seed: int | None = None, *, seconds: float = 10.0, start_seconds: float = 60.0
    ) -> None:
        """Create the bot. The program starts on the first call.

        Args:
            command: the program and its arguments with POSIX shell quoting; it is executed without a shell.
            game: the game.
            seed: seed sent to the program; None sends none.
            seconds: time limit per action, more than 0.
            start_seconds: time limit for getting ready for a game, more than 0.

        Raises:
            ValueError: an argument is invalid.
        """
        self._seconds = check_positive("seconds", seconds)
        self._start_seconds = check_positive("start_seconds", start_seconds)
        self._words = words_of(command)
        if not self._words or shutil.which(self._words[0]) is None:
            raise ValueError(f"command must start with an executable program, got {command!r}")
        spec = BotSpec.of("exec", command, seconds=self._seconds, start_seconds=self._start_seconds)
        self._spec_name = str(spec)
        self._game = game
        self._seed = check_seed(seed)
        self._program: _Program | None = None
        self._finalizer: weakref.finalize[..., ExternalBot] | None = None
        self._new_game = True
        self._was_ready = False

    def __getstate__(self) -> dict[str, object]:
        raise TypeError(f"{self.name} cannot be copied or pickled: it is a running program")

    @classmethod
    def from_spec(cls, spec: BotSpec, game: Game, seed: int | None) -> ExternalBot:
        """Create the bot of ``<command>``, optionally after ``seconds=<number>,`` and ``start=<number>,``.

        Any leading ``key=value,`` is an option; the rest is the command. See :meth:`Bot.from_spec`.

        Raises:
            UnknownBotError: the name is invalid for this bot.
        """
        try:
            return cls(spec.text, game, seed, **spec.arguments)
        except ValueError as error:
            raise UnknownBotError(f"{spec.name!r} is not a valid bot name: {error}") from None

    def step_with_policy(self, state: State) -> tuple[list[tuple[int, float]], int]:
        """Return the program's action (see :meth:`Bot.step_with_policy`), with probability 1.

        Raises:
            BotForfeit: the program has forfeited the game. It is terminated, and restarted for the next game.
            BotStartError: the program has never been ready for a game.
            ValueError: the game is over, or the state has no history.
        """
        check_position(self, state, self._game)
        texts = [self._game.action_to_string(action) for action in state.history()]
        try:
            has_history = self._game.deserialize_state("\n".join(texts)) == state
        except IllegalActionError:
            has_history = False
        if not has_history:
            raise ValueError(f"{self.name} needs a state with its history, not one of a batch")
        try:
            program = self._ready_program()
            program.write(" ".join(["position", *texts]))
            program.write(f"go {self._seconds:g}")
            answer = program.read(self._seconds, "an action")
            action = self._action_of(answer, state)
        except _Problem as problem:
            self._end(at_once=True)
            if self._was_ready:
                raise BotForfeit(self.name, problem.reason, problem.details) from None
            raise BotStartError(f"{self.name} does not start: {problem.details}") from None
        except BaseException:  # a late answer must not be read as the answer to the next request
            self._end(at_once=True)
            raise
        return [(action, 1.0)], action

    def restart(self) -> None:
        """Prepare for a new game; a terminated program is restarted."""
        self._new_game = True

    def close(self) -> None:
        """Terminate the program."""
        self._end(at_once=False)

    def _ready_program(self) -> _Program:
        """Return the program, started if necessary, and ready for the game.

        Raises:
            _Problem: the program has ended, or answers something else.
        """
        if self._new_game and self._program is not None and self._program.has_ended():
            self._end(at_once=True)
        if self._program is None:
            if not self._new_game:
                raise _Problem("crashed", "the program has ended during this game; call restart() first")
            self._program = _Program(self._words)
            self._finalizer = weakref.finalize(self, self._program.end, at_once=False)
            self._program.write(PROTOCOL)
            answer = self._program.read(self._start_seconds, f"{PROTOCOL!r} back")
            if answer.split()[:2] != PROTOCOL.split():
                raise _Problem(
                    "illegal", f"expected the answer {PROTOCOL!r}, optionally with a text after it, got {answer!r}"
                )
            self._program.write(f"game {self._game}")
            if self._seed is not None:
                self._program.write(f"seed {self._seed}")
        if self._new_game:
            self._new_game = False
            self._program.write("new")
            self._program.write("ready")
            answer = self._program.read(self._start_seconds, "'ready'")
            if answer != "ready":
                raise _Problem("illegal", f"expected the answer 'ready', got {answer!r}")
            self._was_ready = True
        return self._program

    def _action_of(self, answer: str, state: State) -> int:
        word, _, text = answer.partition(" ")
        if word != "action":
            raise _Problem("illegal", f"expected the answer 'action <text>', got {answer!r}")
        try:
            action = self._game.string_to_action(text)
        except IllegalActionError as error:
            raise _Problem("illegal", str(error)) from None
        if action not in state.legal_actions():
            raise _Problem("illegal", state.why_illegal(action))
        return action

    def _end(self, at_once: bool) -> None:
        if self._finalizer is not None:
            self._finalizer.detach()
        if self._program is not None:
            self._program.end(at_once=at_once)
        self._program = None
        self._finalizer = None


class _Problem(Exception):  # noqa: N818 - it becomes a BotForfeit or a BotStartError
    """Raised when a program violates the protocol."""

    def __init__(self, reason: str, details: str) -> None:
        super().__init__(details)
        self.reason, self.details = reason, details


class _Program:
    """A running program. Threads write to it and read from it, so that it cannot block the referee."""

    def __init__(self, words: list[str]) -> None:
        """Start the program.

        Raises:
            _Problem: that fails.
        """
        try:
            self._process = subprocess.Popen(
                words,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,  # Ctrl-C only reaches the referee; children are terminated with it
            )
        except OSError as error:
            raise _Problem("crashed", f"it cannot be run ({error})") from None
        self._to_write: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._lines: queue.Queue[tuple[float, bytes]] = queue.Queue(maxsize=1000)
        self._last_errors: deque[bytes] = deque(maxlen=NUM_LAST_LINES)
        self._ended = False
        self._in_comment = False  # whether a comment of more than MAX_LINE_BYTES has not ended yet
        _running.add(self)
        self._error_reader = threading.Thread(target=self._keep_errors, daemon=True)
        for thread in (
            threading.Thread(target=self._write_lines, daemon=True),
            threading.Thread(target=self._read_lines, daemon=True),
            self._error_reader,
        ):
            thread.start()

    def write(self, line: str) -> None:
        """Send one line without waiting."""
        self._to_write.put(line)

    def read(self, seconds: float, wanted: str) -> str:
        """Return the next line that is not a comment, without line end.

        Raises:
            _Problem: none arrives in time.
        """
        deadline = time.monotonic() + seconds
        while True:
            try:
                arrival, line = self._lines.get(
                    timeout=min(max(0.0, deadline - time.monotonic()), threading.TIMEOUT_MAX)
                )
            except queue.Empty:
                raise _Problem("late", f"{wanted} did not come within {seconds:g} seconds") from None
            if arrival > deadline:
                raise _Problem("late", f"{wanted} did not come within {seconds:g} seconds")
            if not line:
                raise _Problem("crashed", self._last_words())
            is_comment = self._in_comment or line.startswith(b"#")
            self._in_comment = is_comment and not line.endswith(b"\n")
            if is_comment:
                continue
            try:
                return line.decode("utf-8").rstrip("\r\n")
            except UnicodeDecodeError:
                raise _Problem("illegal", f"expected UTF-8, got {line!r}") from None

    def has_ended(self) -> bool:
        """Return whether the program has terminated."""
        return self._process.poll() is not None

    def end(self, at_once: bool) -> None:
        """Terminate the program: with ``quit`` if it responds to that, else by force."""
        self._ended = True
        if not at_once:
            self.write("quit")
            self._to_write.put(None)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(SECONDS_TO_END)
        self.kill()
        self._process.wait()
        _running.discard(self)
        self._to_write.put(None)

    def kill(self) -> None:
        """Send SIGKILL to the program and its children, which are of its process group and may be left when it has ended."""
        if hasattr(os, "killpg"):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
        self._process.kill()

    def _last_words(self) -> str:
        try:
            status = f"it ended with status {self._process.wait(SECONDS_TO_END)}"
        except subprocess.TimeoutExpired:
            status = "it closed its standard output"
        self._error_reader.join(SECONDS_TO_END)
        words = b"".join(self._last_errors.copy()).decode("utf-8", "replace").rstrip()
        return f"{status}; the end of its standard error:\n{words}" if words else f"{status}, with no error output"

    # Each pipe is closed by the thread that uses it: closing one while another thread reads from it may block.

    def _write_lines(self) -> None:
        assert self._process.stdin is not None
        with contextlib.suppress(OSError), self._process.stdin as pipe:
            while (line := self._to_write.get()) is not None:
                pipe.write(line.encode() + b"\n")
                pipe.flush()

    def _read_lines(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as pipe:
            line = b" "
            while line and not self._ended:
                line = pipe.readline(MAX_LINE_BYTES)
                arrival = time.monotonic()
                while not self._ended:
                    with contextlib.suppress(queue.Full):
                        self._lines.put((arrival, line), timeout=0.1)
                        break

    def _keep_errors(self) -> None:
        assert self._process.stderr is not None
        with self._process.stderr as pipe:
            while line := pipe.readline(MAX_LINE_BYTES):
                self._last_errors.append(line)


# -- The other side ----------------------------------------------------------------------------------------------------


def serve(bot_name: str, source: TextIO, target: TextIO) -> None:
    """Answer the messages in ``source`` until its end or ``quit``.

    Raises:
        ValueError: the referee named an unknown game or action, or the bot is unknown.
    """
    game: Game | None = None
    seed: int | None = None
    bot: Bot | None = None
    state: State | None = None

    def say(line: str) -> None:
        print(line, file=target, flush=True)

    for line in source:
        word, _, rest = line.strip().partition(" ")
        if word == "stoneworks":
            say(f"stoneworks 1 {bot_name}")
        elif word == "game":
            game, bot = load_game(rest), None
        elif word == "seed":
            seed = int(rest)
        elif word == "new" and game is not None:
            bot = bot or load_bot(bot_name, game, seed)
            bot.restart()
        elif word == "ready":
            say("ready")
        elif word == "position" and game is not None:
            state = game.deserialize_state("\n".join(rest.split()))
        elif word == "go" and bot is not None and state is not None:
            say(f"action {state.action_to_string(bot.step(state))}")
        elif word == "quit":
            break


def main() -> None:
    """Serve the bot named on the command line."""
    if len(sys.argv) != 2:
        sys.exit("usage: python -m stoneworks.models.bots.external_bot <name of a bot>")
    serve(sys.argv[1], sys.stdin, sys.stdout)


if __name__ == "__main__":
    main()
