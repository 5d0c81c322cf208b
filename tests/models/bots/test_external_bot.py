"""External programs: what they answer, what loses a game, and that nothing they do can block us."""

from __future__ import annotations

import gc
import shlex
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from game_play import played, through_pickle
from processes import is_alive, needs_proc, wait_until
from stoneworks.envs import SingleAgentEnv, VectorEnv
from stoneworks.envs.rules import Batch, load_game
from stoneworks.evaluation.match import play_match
from stoneworks.evaluation.records import GameRecord, GameRecordError
from stoneworks.models import Bot, BotForfeit, BotStartError, load_bot

GAME = "vadus(size=2)"
OURS = f"{shlex.quote(sys.executable)} -m stoneworks.models.bots.external_bot"

#: A program that answers to each line by a function ``on_<word>``, with the first empty point of Vadus 2; a test replaces some.
PROGRAM = """
import os, sys, time
with open("{folder}/~pid", "w") as file:
    file.write(str(os.getpid()))
os.replace("{folder}/~pid", "{folder}/pid")
def say(line):
    print(line, flush=True)
def on_stoneworks(rest): say("stoneworks 1 a test")
def on_ready(rest): say("ready")
def on_position(rest):
    global played
    played = rest.split()
def on_go(rest):
    say("action " + next(text for text in "b1 c1 a2 b2 c2 a3 b3 pass".split() if text == "pass" or text not in played))
def on_quit(rest): sys.exit()
{changes}
for line in sys.stdin:
    word, _, rest = line.rstrip("\\n").partition(" ")
    globals().get("on_" + word, lambda rest: None)(rest)
"""
MakeBot = Callable[..., Bot]


@pytest.fixture
def make_bot(tmp_path: Path) -> MakeBot:
    """Return a function that makes a bot of a program with changes."""

    def make(changes: str = "", options: str = "seconds=60,", seed: int | None = None) -> Bot:
        path = tmp_path / f"program {len(list(tmp_path.iterdir()))}.py"
        path.write_text(PROGRAM.format(changes=textwrap.dedent(changes), folder=tmp_path), encoding="utf-8")
        bot = load_bot(f"exec:{options}{shlex.quote(sys.executable)} {shlex.quote(str(path))}", GAME, seed)
        assert str(path) in bot.name
        return bot

    return make


def has_ended(process: Path) -> bool:
    """Return whether a process whose number is in a file ends."""
    return wait_until(lambda: not is_alive(int(process.read_text())))


def test_a_program_receives_all_commands_and_answers(make_bot: MakeBot, tmp_path: Path) -> None:
    """Comments and output on standard error are not answers."""
    log = tmp_path / "log"
    bot = make_bot(
        f"""
        class Log:
            def __iter__(self):
                for line in source:
                    with open({str(log)!r}, "a") as file:
                        file.write(line)
                    os.write(2, b"hm\\n" * 20000)
                    say("# hm" * 2000)
                    yield line
        source, sys.stdin = sys.stdin, Log()
        """,
        seed=7,
    )
    state = played(GAME)
    assert state.action_to_string(bot.step(state)) == "b1"
    state.apply_action(state.string_to_action("b1"))
    policy, action = bot.step_with_policy(state)
    assert policy == [(action, 1.0)]
    assert state.action_to_string(action) == "c1"
    bot.restart()
    bot.step(state)
    bot.close()
    start, turn = ["stoneworks 1", f"game {GAME}", "seed 7"], ["position b1", "go 60"]
    ready = ["new", "ready"]
    assert log.read_text().splitlines() == [*start, *ready, "position", "go 60", *turn, *ready, *turn, "quit"]


@pytest.mark.parametrize(
    ("changes", "details"),
    [
        ("def on_go(rest): say('action b2')", "b2"),
        ("def on_go(rest): say('b1')", "'action <text>'"),
        ("def on_go(rest): os.write(1, b'action \\xff\\n')", "UTF-8"),
        ("def on_go(rest): os.write(1, b'a' * 100000)", "aaaa"),
    ],
)
def test_an_illegal_answer_forfeits_the_game(make_bot: MakeBot, changes: str, details: str) -> None:
    bot = make_bot(changes)
    with pytest.raises(BotForfeit) as error:
        bot.step(played(GAME, "b2"))
    assert (error.value.name, error.value.reason) == (bot.name, "illegal")
    assert details in error.value.details
    assert bot.name in str(error.value)


@pytest.mark.parametrize(
    ("changes", "details"),
    [
        ("def on_stoneworks(rest): say('id name a chess engine')", "expected the answer 'stoneworks 1'"),
        ("sys.exit('no model found')", "no model found"),
        ("time.sleep(10**6)", "within 0.3 seconds"),
        (None, "unknown bot 'nobody'"),
    ],
)
def test_a_program_that_is_never_ready_is_an_error(make_bot: MakeBot, changes: str | None, details: str) -> None:
    options = "start=0.3," if changes == "time.sleep(10**6)" else ""
    bot = load_bot(f"exec:{OURS} nobody", GAME) if changes is None else make_bot(changes, options)
    with pytest.raises(BotStartError) as error:
        bot.step(played(GAME))
    assert bot.name in str(error.value)
    assert details in str(error.value)


@pytest.mark.parametrize(
    "changes",
    [
        "def on_go(rest): time.sleep(10**6)",
        "def on_go(rest):\n    while True: say('# thinking')",
        "def on_go(rest):\n    while True: os.write(2, b'x' * 4096)",
        "import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\ndef on_go(rest): time.sleep(10**6)",
    ],
)
def test_no_answer_in_time_forfeits_and_ends_the_program(make_bot: MakeBot, changes: str, tmp_path: Path) -> None:
    bot = make_bot(changes, "seconds=0.3,")
    with pytest.raises(BotForfeit, match=r"within 0\.3 seconds") as error:
        bot.step(played(GAME))
    assert error.value.reason == "late"
    assert has_ended(tmp_path / "pid")
    again = through_pickle(error.value)
    assert (again.name, again.reason, again.details) == (bot.name, "late", error.value.details)


def test_a_crash_is_reported_and_the_next_game_restarts_it(make_bot: MakeBot, tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    bot = make_bot(
        f"""
        def on_go(rest):
            if not os.path.exists({str(marker)!r}):
                open({str(marker)!r}, "w").close()
                sys.exit(1)
            say("action b1")
        """
    )
    state = played(GAME)
    for _ in range(2):
        with pytest.raises(BotForfeit, match="crashed"):
            bot.step(state)
    bot.restart()
    assert state.action_to_string(bot.step(state)) == "b1"
    changes = "def on_go(rest):\n    for number in range(1000): print('line', number, file=sys.stderr)\n    sys.exit(3)"
    with pytest.raises(BotForfeit) as error:
        make_bot(changes).step(played(GAME))
    assert error.value.reason == "crashed"
    first, *lines = error.value.details.splitlines()
    assert "status 3" in first
    assert lines == [f"line {number}" for number in range(990, 1000)]
    with pytest.raises(BotForfeit, match="closed its standard output"):
        make_bot("def on_go(rest): os.close(1); time.sleep(10**6)").step(played(GAME))


@needs_proc
@pytest.mark.parametrize("end", ["close", "forget"])
@pytest.mark.parametrize("deaf", ["", "def on_quit(rest): time.sleep(10**6)"])
def test_the_program_and_its_children_end_with_the_bot(make_bot: MakeBot, tmp_path: Path, end: str, deaf: str) -> None:
    bot = make_bot(
        f"""
        import subprocess
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(10**6)"], stdin=subprocess.DEVNULL)
        open("{tmp_path}/child", "w").write(str(child.pid))
        {deaf}
        """
    )
    bot.step(played(GAME))
    assert is_alive(int((tmp_path / "child").read_text()))
    if end == "close":
        bot.close()
        bot.close()
    del bot
    gc.collect()
    assert has_ended(tmp_path / "child")
    assert has_ended(tmp_path / "pid")


def test_the_program_ends_when_an_interrupt_ends_ours(make_bot: MakeBot, tmp_path: Path) -> None:
    name = make_bot(f"def on_go(rest):\n    open('{tmp_path}/asked', 'w')\n    time.sleep(10**6)", "seconds=600,").name
    code = f"""
import signal; signal.signal(signal.SIGINT, signal.default_int_handler)
from stoneworks import load_bot, load_game
load_bot({name!r}, {GAME!r}).step(load_game({GAME!r}).new_initial_state())"""
    referee = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE)
    assert wait_until(lambda: (tmp_path / "asked").exists() or referee.poll() is not None)
    referee.send_signal(signal.SIGINT)
    assert b"KeyboardInterrupt" in referee.communicate(timeout=600)[1]
    assert has_ended(tmp_path / "pid")


def test_an_environment_closes_its_program_and_starts_it_again_but_not_for_many_games(
    make_bot: MakeBot, tmp_path: Path
) -> None:
    name = make_bot().name
    env = SingleAgentEnv(GAME, opponent=name, seat=1)
    for _ in range(2):
        env.reset()
        assert len(env.game_state.history()) > 0
        env.close()
        assert has_ended(tmp_path / "pid")
    with pytest.raises(ValueError, match=r"opponents must be able to play many games at once, got .exec:"):
        VectorEnv(2, GAME, opponent=name)


def test_a_match_through_the_protocol_is_that_of_the_bot_itself() -> None:
    game = "laido(size=2)"
    outside = load_bot(f"exec:{OURS} random", game, seed=5)
    result = play_match(game, outside, load_bot("random", game, seed=1), num_pairs=3, opening_actions=1, seed=2)
    outside.close()
    inside = load_bot("random", game, seed=5)
    inside.one_game_at_a_time = True
    expected = play_match(game, inside, load_bot("random", game, seed=1), num_pairs=3, opening_actions=1, seed=2)
    assert result.scores.tolist() == expected.scores.tolist()
    assert [record.actions for record in result.records] == [record.actions for record in expected.records]
    assert result.num_forfeits == (0, 0)
    assert result.names == (outside.name, "random")
    for record in result.records:
        record.replay()


@pytest.mark.parametrize(
    ("change", "reason"), [("say('action z9')", "illegal"), ("time.sleep(10**6)", "late"), ("sys.exit()", "crashed")]
)
def test_a_forfeit_loses_one_game_of_a_match(make_bot: MakeBot, tmp_path: Path, change: str, reason: str) -> None:
    marker, options = tmp_path / "marker", "seconds=3," if reason == "late" else "seconds=60,"
    culprit = make_bot(
        f"""
        good = on_go
        def on_go(rest):
            if len(played) > 2 and not os.path.exists({str(marker)!r}):
                open({str(marker)!r}, "w").close()
                {change}
            else:
                good(rest)
        """,
        options,
    )
    seen: list[tuple[int, ...]] = []
    settings: Any = {"num_pairs": 2, "opening_actions": 1, "seed": 2, "progress": lambda *done: seen.append(done)}
    result = play_match(GAME, load_bot("random", GAME, seed=0), culprit, **settings)
    culprit.close()
    assert result.num_forfeits == (0, 1)
    assert ("forfeited by A / by B", "0 / 1") in result.summary()
    lost, *others = result.records
    assert (lost.reason, lost.winner, result.scores[0, 0]) == (f"forfeit: {reason}", 0, 1)
    assert lost.metadata["forfeit"]
    assert {record.reason for record in others} <= set(load_game(GAME).reasons)
    assert seen[-1] == (4, 4)
    for record in result.records:
        state = GameRecord.from_json(record.to_json()).replay()
        assert state.is_terminal() == (record is not lost)
    assert lost.replay().current_player() == 1


def test_positions_that_it_cannot_play_and_records_of_other_forfeits_are_refused(make_bot: MakeBot) -> None:
    bot, batch = make_bot(), Batch(load_game(GAME), 1)
    batch.load([0], np.array([played(GAME, "b2").record]))
    later = batch.state(0)
    later.apply_action(later.string_to_action("pass"))
    for state, words in (
        (played(GAME, "b2 pass pass"), "the game is over"),
        (played("vadus(size=3)"), "got one of vadus"),
        (batch.state(0), "a state with its history"),
        (later, "a state with its history"),
    ):
        with pytest.raises(ValueError, match=words):
            bot.step(state)
    # The record of a forfeit names the player to move as the loser.
    record = GameRecord.of_state(played(GAME, "b2"), ("a", "b")).replace(reason="forfeit: late")
    assert record.replace(winner=0).replay() == played(GAME, "b2")
    for winner in (1, None):
        with pytest.raises(GameRecordError, match="player 1 is to move"):
            record.replace(winner=winner).replay()
    with pytest.raises(GameRecordError, match=r"forfeit: late.*actions lead to"):
        record.replace(winner=0, actions=("b2", "pass", "pass")).replay()
