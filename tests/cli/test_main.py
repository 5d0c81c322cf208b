"""The command line: output of games, play and match, and for all commands errors, missing extras, and exit codes."""

from __future__ import annotations

import contextlib
import errno
import io
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest
from rich.table import Table

from example_modules import example
from fresh_runs import run_python
from processes import COMMAND, PIPES, Run, interrupt
from stoneworks.cli.console import console, progress_bar
from stoneworks.cli.main import main
from stoneworks.cli.terminal_play import TerminalGame
from stoneworks.envs.rules import load_game, register_game
from stoneworks.evaluation.ladder import shipped_ladders
from stoneworks.evaluation.player_rating import LEVELS, opponent_levels, shipped_ratings
from stoneworks.evaluation.records import read_records
from stoneworks.evaluation.solved_accuracy.positions import load_solved_positions
from stoneworks.extras import MissingDependencyError, require_extra
from stoneworks.locks import lock_file
from stoneworks.models import Solver, load_bot
from stoneworks.models.bots.bot import BotForfeit
from stoneworks.models.compiling import Compiled
from stoneworks.text import duration
from stoneworks.web.html_replay import Replay


def test_brackets_are_printed_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    with progress_bar() as show:
        show("[bold]vadus[/bold]", 1, 2, "stoneworks[web]")
    table = Table("[red]bot", caption="pip install stoneworks[train]")
    table.add_row("exec:./bot [fast]")
    console().print(table)
    out, err = capsys.readouterr()
    assert all(text in out for text in ("[red]bot", "stoneworks[train]", "exec:./bot [fast]"))
    assert all(text in err for text in ("[bold]vadus[/bold]", "stoneworks[web]"))


def test_match_prints_a_table_and_saves_all_games(run_command: Run, tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    options = ("--game", "vadus(size=3)", "--pairs", "5", "--seed", "4", "--save", str(path))
    _, out, err = run_command("match", "greedy", "random", *options)
    records = read_records(path)
    assert len(records) == 10
    won = sum(record.winner is not None and record.players[record.winner] == "greedy" for record in records)
    for text in ("greedy", "random", "vadus(size=3)", "95 % interval", f"{won} /", "10 distinct"):
        assert text in out
    assert "10/10" in err, "the progress bar stands on standard error"
    assert run_command("match", "greedy", "random", *options)[1] == out, "equal seeds give equal results"


def test_a_module_is_imported_for_what_it_registers_also_in_workers(
    tmp_path: Path,
) -> None:
    (tmp_path / "oneply.py").write_text(
        "from stoneworks.models import register_bot\n"
        "from stoneworks.models.bots.random_bot import RandomBot\n"
        "class OnePly(RandomBot):\n    pass\n"
        "register_bot('oneply', OnePly)\n"
    )
    arguments = ["arena", "oneply", "random", *MATCH[-2:], "--pairs", "4", "--chunk-pairs", "2", "--workers", "2"]
    commands = (
        ([*COMMAND, *arguments], {}, "unknown bot 'oneply'.*stoneworks --import MODULE.*STONEWORKS_IMPORT"),
        ([*COMMAND, "--import", "nothing", *arguments], {}, "--import nothing failed: ModuleNotFoundError"),
        ([*COMMAND, "--import", "math", "--import", "oneply", *arguments], {}, ""),
        ([*COMMAND, *arguments], {"STONEWORKS_IMPORT": "math oneply"}, ""),
    )
    for command, environment, complaint in commands:
        done = subprocess.run(command, cwd=tmp_path, env=os.environ | environment, capture_output=True, text=True)
        assert done.returncode == (2 if complaint else 0), done.stderr
        assert re.search(complaint, done.stderr)
        assert complaint or "oneply" in done.stdout


def test_two_solvers_do_not_write_one_table(run_command: Run, tmp_path: Path) -> None:
    table = tmp_path / "table.npz"
    with lock_file(table):
        code, out, err = run_command("solve", "vadus(size=2)", "--table", str(table))
    assert (code, out, err) == (2, "", f"stoneworks: {table} is in use by another process\n")
    assert not list(tmp_path.iterdir())


def test_what_a_solver_cannot_write_is_refused_before_the_search(run_command: Run, tmp_path: Path) -> None:
    (tmp_path / "vadus-size-2.json").mkdir()
    code, out, err = run_command("solve", "vadus(size=2)", "--output", str(tmp_path))
    assert (code, out) == (2, "")
    assert "output must be a file in an existing folder, got" in err


def test_solve_passes_memory_and_order_on(run_command: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    made = Mock(wraps=Solver)
    monkeypatch.setattr("stoneworks.models.solver.Solver", made)
    code, out, _ = run_command("solve", "vadus(size=2)", "--memory", "1", "--no-order-by-evaluation")
    assert (code, "vadus(size=2): a draw" in out) == (0, True)
    assert made.call_args.kwargs == {"memory_mib": 1, "order_by_evaluation": False, "table": None}


def test_accuracy_measures_players_on_positions_that_it_makes(
    run_command: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    file = tmp_path / "solved.json"
    words = ("accuracy", "random", "perfect:memory=1", *MATCH[-2:], "--positions", str(file), "--best-response")
    code, out, _ = run_command(*words, "--make", "5")
    assert code == 0
    assert len(load_solved_positions(load_game("vadus(size=2)"), file).positions) == 5
    assert re.search(r"perfect:memory=1 +│ 100\.0% ", out)
    # The game is a draw.
    assert "best response to perfect:memory=1: +0.0000 as player 0, +0.0000 as player 1" in out
    assert run_command(*words)[:2] == (0, out)


def test_check_has_a_line_for_each_failure(run_command: Run) -> None:
    found = run_command("check", "vadus(size=2)", "--games", "2")
    assert found == (0, "vadus(size=2): nothing found in 2 random games\n", "")
    base = example("breakthrough").Breakthrough
    register_game("broken", type("Broken", (base,), {"name": "broken", "max_game_length": lambda self: 3}))
    code, out, _ = run_command("check", "broken(size=4)", "--games", "2")
    assert code == 1
    assert re.match(r"broken\(size=4\): a game has more actions than max_game_length", out)


def test_compile_names_what_it_has_compiled(run_command: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    results = [Compiled("vadus(size=2)", "states", 1.25)]
    compiling = Mock(return_value=results)
    monkeypatch.setattr("stoneworks.models.compiling.compile_games", compiling)
    code, out, _ = run_command("compile", "vadus(size=2)", "--processes", "3")
    assert (code, re.findall(r"vadus\(size=2\) +│ states +│ +1\.2", out) != []) == (0, True)
    assert compiling.call_args.args == ([load_game("vadus(size=2)")],)
    assert compiling.call_args.kwargs["num_processes"] == 3


@pytest.mark.parametrize(("seconds", "text"), [(59.4, "59 s"), (59.7, "1 min"), (3599, "1 h 0 min")])
def test_durations_change_their_unit_once_rounded(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_on_a_full_disk_the_result_comes_first_and_then_an_error_with_the_path(
    run_command: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The errors of a full disk do not name the file.
    monkeypatch.setattr(os, "fsync", Mock(side_effect=OSError(errno.ENOSPC, "No space left on device")))
    monkeypatch.setattr(np, "savez", Mock(side_effect=OSError(errno.ENOSPC, "No space left on device")))
    monkeypatch.chdir(tmp_path)
    for arguments, result, file in (
        ([*MATCH, "--pairs", "1", "--save", "games.jsonl"], "score of A", "games.jsonl"),
        (["solve", "vadus(size=2)", "--table", "table.npz"], "vadus(size=2): ", "table.npz"),
        (["solve", "vadus(size=2)", "--picture", "a.svg"], "vadus(size=2): ", "a.svg"),
        (["solve", "vadus(size=2)", "--output", "."], "vadus(size=2): ", "vadus-size-2.json"),
    ):
        code, out, err = run_command(*arguments)
        assert code == 2
        assert result in out
        assert "No space left on device" in err.splitlines()[-1]
        assert file in err.splitlines()[-1]
    assert not list(tmp_path.iterdir()), "nothing is left over"


def test_on_a_full_disk_an_arena_shows_the_games_so_far(
    run_command: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = 0

    def flush(descriptor: int) -> None:
        nonlocal written
        written += 1
        if written > 4:
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("stoneworks.files.os.fsync", flush)
    arguments = [*ARENA, "--pairs", "6", "--chunk-pairs", "1", "--workers", "1", "--folder", str(tmp_path / "a")]
    code, out, err = run_command(*arguments)
    assert code == 2
    assert re.search(r"Errno 28.*pairing-000-chunk-\d+\.jsonl", err.splitlines()[-1])
    assert "distinct" in out, "the games so far"


MATCH = ["match", "greedy", "random", "--game", "vadus(size=2)"]
ARENA = ["arena", *MATCH[1:]]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["nothing"], "nothing"),
        (["match", "greedy", "random"], "--game"),
        (
            ["match", "nowhere/vadus@64", *MATCH[2:]],
            "unknown bot 'nowhere/vadus@64', and there is no such folder; valid",
        ),
        (["match", "nobody", *MATCH[2:]], "unknown bot 'nobody'; valid names: 'random', 'greedy'"),
        ([*MATCH, "--pairs", "0"], "'--pairs'"),
        ([*MATCH, "--save", "/no/such/folder/x"], "save must be a file in an existing folder, got '/no/such/folder/x'"),
        (["play", "vadus", "--option", "size=big"], "got 'size=big'"),
        (["play", "vadus", "--option", "size=3", "--size", "4"], "each name once, got 'size=3', 'size=4'"),
        (["play", "vadus", "--level", "hard", "--opponent", "random"], "got 'hard' and 'random'"),
        (["replay", "no.jsonl", "--html", "."], "html must be a file"),
        ([*ARENA, "--gauntlet", "random", "--neighbors", "1"], "cannot be combined"),
        ([*ARENA, "--sprt", "elo0=x"], "elo0 must be a number, got 'x'"),
        (["export", "vadus", "--format", "pickle"], "'--format': 'pickle' is not one of 'onnx'.\n"),
        (
            ["solve", "vadus(size=2)", "b2", "--output", "."],
            "output is for the start of a game, without actions, got 'b2'",
        ),
        (["web", "--data", __file__], "is a file.\n"),
        (["web", "--agent", "a=greedy", "--agent", "a=random"], "got 'a=random' after 'a=greedy'"),
        (["web", "missing.jsonl"], "there is no folder or file 'missing.jsonl' to watch"),
        (["ladder", "show", "vadus(size=2)"], "no ladder for vadus(size=2)"),
        (["accuracy", "random", *MATCH[-2:], "--last-actions", "3"], "last_actions needs --make, got 3"),
        *(
            (["accuracy", name, *MATCH[-2:], "--best-response"], f"that play by the position alone, got '{name}'")
            for name in ("mcts:30", "alphabeta:1s")
        ),
        (["accuracy", "random", *MATCH[-2:], "--source", "greedy"], "source needs --make, got ['greedy']"),
        (["ladder", "make", "vadus(size=2)", "random", "greedy"], "output must be an existing folder, got 'models/"),
        *(
            pytest.param(*case, marks=pytest.mark.needs("torch"))
            for case in (
                (["train", "vadus-5", "--frames", "100"], "unknown key frames"),
                (["train", "."], "unknown configuration '.', which is a folder"),
                (
                    ["export", "vadus@64"],
                    "agent must be a shipped agent or the folder of a checkpoint, without a search",
                ),
                (["train", "vadus-5", "--set", "init_from=nowhere"], "nowhere is not a checkpoint"),
                (["train", "vadus-5", "--resume", "--folder", "nowhere"], "nowhere does not exist"),
                (["train", "vadus-5", "--set", "device=cuda:99"], "device must be"),
            )
        ),
    ],
)
def test_bad_input_is_one_line_of_error(run_command: Run, arguments: list[str], complaint: str, tmp_path: Path) -> None:
    with contextlib.chdir(tmp_path):
        code, out, err = run_command(*arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith("stoneworks: ")
    assert complaint in err
    assert not any(tmp_path.iterdir())


def test_a_replay_has_the_chosen_games_and_does_not_overwrite_its_records(run_command: Run, tmp_path: Path) -> None:
    path, page = tmp_path / "games.jsonl", tmp_path / "games.html"
    assert run_command(*MATCH, "--pairs", "2", "--save", str(path))[0] == 0
    before, records = path.read_bytes(), read_records(path)
    code, out, _ = run_command("replay", str(path), "--html", str(page), "--games", "1,3-4")
    assert (code, "3 of 4 games" in out) == (0, True)
    assert page.read_text(encoding="utf-8") == Replay([records[0], *records[2:]]).to_html()
    code, _, err = run_command("replay", str(path), "--html", str(tmp_path / "." / "games.jsonl"))
    assert (code, "html must be another file than the records" in err) == (2, True)
    assert path.read_bytes() == before


def test_a_game_is_played_to_its_end_and_saved(
    run_command: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "game.jsonl"
    passes = "b2\n" + "pass\n" * 20
    code, out, err = run_command("play", "vadus", "--size", "2", "--seed", "1", "--save", str(path), typed=passes)
    assert (code, err) == (0, "")
    (record,) = read_records(path)
    state = record.replay()
    assert record.players == ("human", "greedy")
    assert record.reason is not None
    assert record.actions[0] == "b2"
    assert str(state) in out
    assert "greedy plays" in out
    # The bot moves first where the person is player 1.
    options = ("--option", "pie_rule=False", "--option", "size=2", "--opponent", "random", "--seat", "1")
    out = run_command("play", "laido", *options, "--save", str(path), typed="quit\n")[1]
    (record,) = read_records(path)
    assert (record.game, record.players) == ("laido(pie_rule=False,size=2)", ("random", "human"))
    assert len(record.actions) == 1
    assert out.index("random plays") < out.index("> ")
    # A game that an error ends is saved as well.
    forfeit = BotForfeit("random", "crashed", "the program has ended")
    monkeypatch.setattr("stoneworks.models.bots.random_bot.RandomBot.step", Mock(side_effect=forfeit))
    code = run_command("play", "vadus(size=2)", "--opponent", "random", "--save", str(path), typed="b2\n")[0]
    assert (code, read_records(path)[0].actions) == (2, ("b2",))


@pytest.mark.parametrize("game", shipped_ladders())
def test_a_level_is_the_same_rating_on_every_measured_board(game: str) -> None:
    ratings = shipped_ratings(game)
    found = opponent_levels(load_game(game), [*ratings, "not rated"])
    assert list(found) == list(LEVELS)
    for level, bot in found.items():
        elo, error = ratings[bot]
        assert abs(elo - LEVELS[level]) <= max(100, error)


def test_a_board_without_ratings_has_no_levels(run_command: Run) -> None:
    assert opponent_levels(load_game("vadus(size=4)"), ["random", "vadus@64"]) == {}
    assert opponent_levels(load_game("vadus(size=9)"), ["random", "greedy"]) == {"beginner": "random", "hard": "greedy"}
    out = run_command("play", "vadus(size=9)", "--level", "beginner", typed="quit\n")[1]
    assert "beginner: random (rating 0 ± 0)\n" in out
    code, _, err = run_command("play", "vadus(size=4)", "--level", "hard", typed="quit\n")
    assert code == 2
    assert "level 'hard' has no rated bot in vadus(size=4); levels there: none" in err


def test_quit_and_the_end_of_input_end_the_game(run_command: Run) -> None:
    for typed in ("", "b2\n", "quit\n", "b2\nquit\n"):
        code, out, err = run_command("play", "vadus(size=3)", "--opponent", "random", typed=typed)
        assert (code, err) == (0, "")
        assert out.endswith("The game is unfinished.\n")


def play_typed(typed: str) -> tuple[TerminalGame, str]:
    game = load_game("vadus(size=3)")
    opponent, adviser = load_bot("greedy", game, seed=1), load_bot("greedy", game, seed=2)
    terminal = TerminalGame(game.new_initial_state(), opponent, adviser, 0)
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(io.StringIO()) as target:
        patch.setattr("sys.stdin", io.StringIO(typed))
        terminal.play()
    return terminal, target.getvalue()


def test_several_actions_are_typed_on_one_line_invalid_input_repeats_the_prompt_and_undo_takes_back() -> None:
    terminal, out = play_typed("zz\n\npass\n c3 \n")
    assert "'zz' is not a valid action" in out
    assert "pass is illegal: V1: the first turn is a stone, not a pass" in out
    assert terminal.state.serialize().split()[0] == "c3"
    complaints = out[: out.index("greedy plays")].split("> ")[1:]
    # After the two lines and the empty one it asks again at once, without the board.
    assert [text.count("\n") for text in complaints] == [1, 0, 1, 0]
    shown, game = play_typed("help\n")[1].split("> ", 1)[1], load_game("vadus")
    assert all(text in shown for text in (*game.guide.rules, game.action_help, "hint", "undo", "help", "quit"))
    before = play_typed("c3\n")[0].state
    one, two = (before.action_to_string(action) for action in before.legal_actions()[:2])
    state = play_typed(f"c3\n{one} {two}\n")[0].state
    assert [state.action_to_string(action) for action in state.history()[3:5]] == [one, two]
    for typed, reason in (
        (f"{one} c3", "c3 is illegal: V2: c3 is occupied"),
        (f"{one} {two} {one}", "the turn is over"),
    ):
        terminal, out = play_typed(f"c3\n{typed}\n")
        assert reason in out
        assert terminal.state == before, "none of them is played"
    terminal, out = play_typed("undo\nc3\nundo\na3\n")
    assert "There is nothing to undo." in out
    assert terminal.state.serialize().split()[0] == "a3"
    assert len(terminal.state.history()) == 3, "the bot has answered with two stones"
    # Undo goes back to the last decision of the person: within a turn by one stone, and then by the turn before.
    for typed in (f"{one}\nundo\n", f"{one}\n{two}\nundo\nundo\n"):
        assert play_typed(f"c3\n{typed}")[0].state == before
    assert play_typed(f"c3\n{one}\nundo\nundo\n")[0].state.history() == []


def test_an_interruption_is_exit_code_130() -> None:
    process = subprocess.Popen([*COMMAND, "play", "vadus(size=2)"], stdin=subprocess.PIPE, **PIPES)
    written = ""
    while not written.endswith("\n> "):
        written += process.stdout.read(1)
        assert process.poll() is None
    assert interrupt(process)[1].splitlines()[-1] == "stoneworks: interrupted"


def test_an_ascii_terminal_shows_the_table_of_an_arena(tmp_path: Path) -> None:
    command = [*COMMAND, *ARENA, "--pairs", "2", "--workers", "1", "--folder", str(tmp_path / "arena")]
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0", "LC_ALL": "C"}
    assert b"greedy" in subprocess.check_output(command, env=environment)


@pytest.mark.skipif(sys.platform == "win32", reason="needs a shell that closes standard input and sets limits")
@pytest.mark.parametrize(
    ("line", "complaint"), [("{} <&-", "standard input"), ("ulimit -f 0; exec {}", "File too large: 'games.jsonl'")]
)
def test_a_game_that_cannot_be_read_or_saved_is_an_error(line: str, complaint: str, tmp_path: Path) -> None:
    command = line.format(shlex.join([*COMMAND, "play", "vadus(size=2)", "--save", "games.jsonl"]))
    done = subprocess.run(
        ["sh", "-c", command], input="quit\n", cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert complaint in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.needs("torch")
def test_machine_errors_are_one_line_and_bugs_are_not(run_command: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    from stoneworks.training.alphazero.sources import SelfPlayError

    self_play = SelfPlayError("a self-play process failed: ValueError: no")
    self_play.add_note("Traceback (most recent call last): ...")
    for error in (
        RuntimeError("CUDA error: device-side assert triggered\nCompile with ..."),
        RuntimeError("[enforce fail at alloc_cpu.cpp:1] DefaultCPUAllocator: can't allocate memory\nframe #0"),
        MemoryError(),
        OSError(28, "No space left on device", "runs/a/metrics.jsonl"),
        self_play,
        torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB.\nSee documentation"),
    ):
        monkeypatch.setattr("stoneworks.cli.main.app", Mock(side_effect=error))
        code, out, err = run_command("train", "vadus-5")
        assert (code, out) == (2, "")
        assert len(err.splitlines()) == 1
        assert (str(error).splitlines() or ["memory"])[0] in err
    monkeypatch.setattr("stoneworks.cli.main.app", Mock(side_effect=RuntimeError("a bug")))
    with pytest.raises(RuntimeError, match="a bug"):
        main(["train", "vadus-5"])


def test_a_missing_package_is_an_error_that_names_the_extra_and_one_of_our_own_is_not() -> None:
    message = r"windows need no_such_package; install stoneworks\[human\]"
    with pytest.raises(MissingDependencyError, match=message), require_extra("human", "windows"):
        import no_such_package.part  # noqa: F401
    with pytest.raises(ModuleNotFoundError, match="no_such_module") as caught, require_extra("train", "networks"):
        import stoneworks.no_such_module  # noqa: F401
    assert not isinstance(caught.value, MissingDependencyError)


WITHOUT = """
import contextlib, io, json, sys
sys.modules |= dict.fromkeys(("torch", "safetensors", "tensorboard", "matplotlib", "stable_baselines3", "sb3_contrib"))
from stoneworks.cli.main import main
results = []
for command in json.loads(sys.argv[1]):
    errors = io.StringIO()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(errors):
        try:
            main(command)
        except SystemExit as ended:
            results.append((ended.code, errors.getvalue()))
print(json.dumps(results))
"""


def test_commands_without_the_extra_report_it_without_a_traceback_and_others_work(tmp_path: Path) -> None:
    need_it = [["train", "vadus-5"], ["train", "vadus-5-ppo"], ["report", "."], [*ARENA, "--picture", "a.png"]]
    need_it += [["match", name, *MATCH[2:]] for name in ("vadus", "vadus@4")]
    printed = run_python(WITHOUT, json.dumps([*need_it, [*MATCH, "--pairs", "1"]]), cwd=tmp_path)
    assert not any(tmp_path.iterdir()), "what is missing is found before anything is played"
    *refused, played = json.loads(next(line for line in printed.splitlines() if line.startswith("[[")))
    for arguments, (code, errors) in zip(need_it, refused, strict=True):
        assert (code, errors.count("\n")) == (2, 1), arguments
        assert "install stoneworks[train]" in errors, arguments
    assert played[0] == 0, played
