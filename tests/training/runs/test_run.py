"""What the runs of all algorithms have in common, shown by an algorithm of a few lines (see counting.py)."""

from __future__ import annotations

import io
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

pytest.importorskip("torch")

import torch
from rich.console import Console
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

import counting
import stoneworks
from counting import Matches, config
from processes import wait_for_the_next_second
from stoneworks.evaluation.records import read_records
from stoneworks.locks import InUseError, lock_folder
from stoneworks.models import UnknownBotError
from stoneworks.models.checkpoint import CheckpointError, load_checkpoint, load_training_state
from stoneworks.training.runs.algorithms import ConfigError, algorithm_names
from stoneworks.training.runs.config_files import dump_config
from stoneworks.training.runs.display import stop_on_signals
from stoneworks.training.runs.run import TrainingStatus, train_run
from stoneworks.training.runs.run_folder import CONFIG_HEADER, read_metrics, truncate_metrics
from tiny_runs import alphazero, assert_equal_tensors, change_checkpoint, saved, stopped


@pytest.fixture(autouse=True)
def _counting(registrations_forgotten: None) -> None:
    counting.register()


def weights(folder: Path) -> dict[str, torch.Tensor]:
    return load_checkpoint(folder / "checkpoint").network.state_dict()


def assert_equal_runs(one: Path, other: Path) -> None:
    assert_equal_tensors(weights(one), weights(other))
    assert load_training_state(one / "checkpoint") == load_training_state(other / "checkpoint")
    rows = [[{**row, "seconds": 0} for row in saved(folder)["match_results"]] for folder in (one, other)]
    assert rows[0] == rows[1]


def test_a_run_trains_to_its_end_and_reports_records_and_saves_it(tmp_path: Path) -> None:
    seen: list[TrainingStatus] = []
    given: list[tuple[int, dict[str, float]]] = []
    result = train_run(
        config(matches=Matches(steps=3)),
        tmp_path,
        on_status=seen.append,
        on_metrics=lambda metrics, done: given.append((done, metrics)),
    )
    assert (result.done, result.finished, result.checkpoint) == (6, True, tmp_path / "checkpoint")
    iterations = [(status.done, status.total, status.metrics) for status in seen if not status.message]
    assert iterations == [(done, 6, {"half": done / 2}) for done in range(1, 7)]
    assert (seen[0].beside, seen[0].below) == ("half 0.5", ("below",))
    messages = [status.message for status in seen if status.message]
    assert [message.split(":")[0] for message in messages] == ["after 3 steps"] * 2 + ["after 6 steps"] * 2
    training = saved(tmp_path)
    assert (training["algorithm"], training["steps"], training["own"]) == ("counting", 6, "value")
    assert training["hardware"]["torch_threads"] == 1
    played = [(row["steps"], row["player"], row["opponent"], row["games"]) for row in training["match_results"]]
    assert played == [(steps, "policy", name, 2) for steps in (3, 6) for name in ("random", "greedy")]
    files = sorted((tmp_path / "matches").iterdir())
    assert [file.name for file in files] == [f"000000000{done}-{number}.jsonl" for done in (3, 6) for number in (0, 1)]
    assert all(len(list(read_records(file))) == 2 for file in files)
    rows = [json.loads(line) for line in (tmp_path / "metrics.jsonl").read_text().splitlines()]
    assert [(row["steps"], row["total_steps"], row["half"]) for row in rows] == [(n, 6, n / 2) for n in range(1, 7)]
    scores = {(row["steps"], f"matches/policy_{row['opponent']}"): row["score"] for row in training["match_results"]}
    assert {(row["steps"], name): row[name] for row in rows for name in row if name.startswith("matches/")} == scores
    assert result.scores == {("policy", name): scores[6, f"matches/policy_{name}"] for name in ("random", "greedy")}
    assert [dict(row) for row in result.match_results] == training["match_results"]
    merged: dict[int, dict[str, float]] = {}
    for done, metrics in given:
        merged.setdefault(done, {}).update(metrics)
    assert [merged[done] for done in sorted(merged)] == rows, "the callback is given what the file has"
    events = EventAccumulator(str(tmp_path / "tensorboard"))
    events.Reload()
    tags = {"half", "progress/seconds", "speed/steps_per_second", "matches/policy_random", "matches/policy_greedy"}
    assert set(events.Tags()["scalars"]) == tags
    assert [event.step for event in events.Scalars("half")] == list(range(1, 7))


def test_checkpoints_are_written_while_training_goes_on(tmp_path: Path) -> None:
    seen = []

    def look(status: TrainingStatus) -> None:
        seen.append(saved(tmp_path)["steps"] if (tmp_path / "checkpoint").exists() else 0)

    train_run(config(checkpoint_seconds=1e-9), tmp_path, on_status=look)
    assert seen == [0, 1, 2, 3, 4, 5], "a report comes before the checkpoint that is due then"
    seen.clear()
    shutil.rmtree(tmp_path / "checkpoint")
    train_run(config(), tmp_path, on_status=look)
    assert seen == [0, 1, 1, 1, 1, 1], "the first iteration is saved in any case"


def test_iterations_without_metrics_are_not_recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[TrainingStatus] = []
    stop = threading.Event()

    def iterate(self: Any, stop: threading.Event) -> Any:
        self.total = 0
        if seen:
            stop.set()
            return None
        self.show_message("preparing")
        return {}

    monkeypatch.setattr(counting.Counting, "iterate", iterate)
    result = train_run(config(), tmp_path / "stopped", on_status=seen.append, stop=stop)
    assert [(status.message, status.done) for status in seen] == [("preparing", 0)]
    assert (result.done, result.finished, saved(tmp_path / "stopped")["steps"]) == (0, False, 0)
    assert not (tmp_path / "stopped" / "metrics.jsonl").exists()

    monkeypatch.setattr(counting.Counting, "iterate", lambda self, stop: 1 // 0)
    counting.Counting.closed = 0
    with pytest.raises(ZeroDivisionError):
        train_run(config(), tmp_path / "failed")
    assert counting.Counting.closed == 1


def test_a_run_that_was_stopped_and_resumed_ends_as_one_that_was_not(tmp_path: Path) -> None:
    settings = config(matches=Matches(steps=3))
    train_run(settings, tmp_path / "whole")
    for iterations in (1, 3):
        assert not stopped(settings, tmp_path / "parts", iterations)[0].finished
    assert saved(tmp_path / "parts")["steps"] == 4
    last = train_run(settings, tmp_path / "parts", resume=True)
    assert (last.finished, last.done) == (True, 6)
    assert round(last.seconds, 1) >= saved(tmp_path / "parts")["seconds"] >= 0
    assert_equal_runs(tmp_path / "whole", tmp_path / "parts")
    again = train_run(settings, tmp_path / "parts", resume=True)
    assert (again.done, again.finished) == (6, True)
    assert train_run(settings.replace(steps=8), tmp_path / "parts", resume=True).done == 8
    train_run(settings.replace(seed=2), tmp_path / "other")
    assert not torch.equal(*(weights(tmp_path / name)["stem.weight"] for name in ("whole", "other")))


def test_a_stop_during_matches_leaves_the_rest_to_the_next_session(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = config(steps=2, matches=Matches(steps=1))
    for session in range(1, 5):
        assert stopped(settings, tmp_path / "parts", messages=1)[0].finished == (session == 4)
        assert len(saved(tmp_path / "parts")["match_results"]) == session
    train_run(settings, tmp_path / "whole")
    assert_equal_runs(tmp_path / "whole", tmp_path / "parts")
    rows, rows_of_parts = (read_metrics(tmp_path / name / "metrics.jsonl", "steps") for name in ("whole", "parts"))
    assert [set(row) for row in rows_of_parts] == [set(row) for row in rows], (
        "each score is in the row of its iteration"
    )
    # What was trained before matches that fail is not lost.
    monkeypatch.setattr("stoneworks.training.runs.run.play_match", Mock(side_effect=MemoryError))
    with pytest.raises(MemoryError):
        train_run(settings, tmp_path / "failed")
    assert saved(tmp_path / "failed")["matches_due"]


KILLED = """
import os, signal, sys
from pathlib import Path
import counting
from stoneworks.training.runs.config_files import load_config
from stoneworks.training.runs.run import train_run

counting.register()
moment, calls = sys.argv[3], 0

def die(before):
    def call(*arguments, **named):
        global calls
        calls += 1
        if calls == 4:
            os.kill(os.getpid(), signal.SIGKILL)
        return before(*arguments, **named)
    return call

report = lambda status: None
if moment == "after an iteration":
    report = die(report)
else:  # the first checkpoint is renamed once, and each further one replaces another: two renames
    Path.rename = die(Path.rename)
train_run(load_config(sys.argv[1]), sys.argv[2], resume=True, on_status=report)
"""


def test_metrics_before_the_checkpoint_are_kept_as_they_are(tmp_path: Path) -> None:
    lines = [f'{{"steps": {steps}, "by_node": {{"a": 1.5}}}}\n' for steps in (1, 2, 3)]
    (tmp_path / "metrics.jsonl").write_text("".join(lines) + "half a li")
    truncate_metrics(tmp_path / "metrics.jsonl", "steps", 2)
    assert (tmp_path / "metrics.jsonl").read_text() == "".join(lines[:2])


@pytest.mark.slow
@pytest.mark.parametrize(("moment", "kept"), [("after an iteration", 3), ("between the renames of a checkpoint", 2)])
def test_a_killed_run_loses_only_what_came_after_the_last_checkpoint(tmp_path: Path, moment: str, kept: int) -> None:
    settings = config(checkpoint_seconds=1e-9, matches=Matches(steps=10**6, opponents=("random",)))
    file, folder = tmp_path / "config.yaml", tmp_path / "run"
    file.write_text(dump_config(settings), encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(Path(counting.__file__).parent)}
    command = [sys.executable, "-c", KILLED, str(file), str(folder), moment]
    done = subprocess.run(command, stderr=subprocess.PIPE, check=False, env=environment)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert len(read_metrics(folder / "metrics.jsonl", "steps")) > kept
    wait_for_the_next_second()
    seen: list[TrainingStatus] = []
    assert train_run(settings, folder, resume=True, on_status=seen.append).finished
    assert seen[0].done == kept + 1
    lines = [json.loads(line)["steps"] for line in (folder / "metrics.jsonl").read_text().splitlines()]
    assert lines == [1, 2, 3, 4, 5, 6]
    events = EventAccumulator(str(folder / "tensorboard"))
    events.Reload()
    assert sorted(event.step for event in events.Scalars("half")) == lines
    train_run(settings, tmp_path / "whole")
    assert_equal_runs(folder, tmp_path / "whole")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of a finished run."""
    train_run(config(), tmp_path / "finished")
    return tmp_path / "finished"


def test_a_run_that_cannot_be_continued_is_refused(folder: Path) -> None:
    before = (folder / "checkpoint" / "checkpoint.json").read_bytes()
    changes: list[tuple[dict[str, Any], str]] = [
        ({"seed": 5}, "seed is 5; the run began with 0; only steps, checkpoint_seconds, threads, matches may change"),
        ({"network": {"channels": 2}}, "network is .*'channels': 2"),
        ({"game": "vadus(size=3)"}, r"game is 'vadus.size=3.'; .* began with 'vadus.size=2.'"),
    ]
    for changed, message in changes:
        with pytest.raises(ConfigError, match=message):
            train_run(config(steps=9, **changed), folder, resume=True)
    with pytest.raises(ConfigError, match="algorithm is 'alphazero'; the run began with 'counting'"):
        train_run(alphazero(positions=120), folder, resume=True)
    with pytest.raises(CheckpointError, match="already exists"):
        train_run(config(), folder)
    assert (folder / "checkpoint" / "checkpoint.json").read_bytes() == before
    change_checkpoint(folder, lambda description: description["training"].pop("own"))
    with pytest.raises(CheckpointError, match=r"checkpoint cannot be continued: KeyError\('own'\)"):
        train_run(config(steps=9), folder, resume=True)
    with lock_folder(folder), pytest.raises(InUseError, match="in use by another process"):
        train_run(config(steps=9), folder, resume=True)
    (folder / "checkpoint" / "training.safetensors").unlink()
    with pytest.raises(CheckpointError, match=r"training\.safetensors is missing"):
        train_run(config(steps=9), folder, resume=True)
    (folder / "checkpoint" / "checkpoint.json").unlink()
    metrics = (folder / "metrics.jsonl").read_bytes()
    with pytest.raises(CheckpointError, match=r"checkpoint\.json"):
        train_run(config(steps=9), folder, resume=True)
    assert (folder / "metrics.jsonl").read_bytes() == metrics != b""


def test_a_training_that_diverges_is_an_error_and_keeps_the_last_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = counting.Counting.iterate

    def diverge(self: counting.Counting, stop: threading.Event) -> Any:
        metrics = before(self, stop)
        if self.done == 3:
            next(self.network.parameters()).data.fill_(torch.nan)
        return metrics

    monkeypatch.setattr(counting.Counting, "iterate", diverge)
    with pytest.raises(CheckpointError, match=r"the training diverged: the weights .* not finite"):
        train_run(config(checkpoint_seconds=1e-9), tmp_path)
    assert saved(tmp_path)["steps"] == 2


def test_a_run_that_cannot_begin_writes_nothing(tmp_path: Path) -> None:
    for refused, error, message in (
        (config(matches=Matches(opponents=("nobody",))), UnknownBotError, "nobody"),
        (config(init_from="vadus"), CheckpointError, "init_from must be a checkpoint of the network"),
        (config(init_from="laido"), CheckpointError, "laido"),
        (config(init_from="no such folder"), CheckpointError, "no such folder"),
    ):
        with pytest.raises(error, match=message):
            train_run(refused, tmp_path / "new" / "run")
        assert not (tmp_path / "new").exists()
    # It needs an empty folder, or its own.
    for name in ("own", ".draft.tmp", "notes.txt"):
        (tmp_path / name).touch()
    for resume in (False, True):
        with pytest.raises(ValueError, match=r"folder must be .*notes\.txt"):
            train_run(config(), tmp_path, resume=resume)
    assert sorted(file.name for file in tmp_path.iterdir()) == [".draft.tmp", "notes.txt", "own"]
    (tmp_path / "notes.txt").unlink()
    for text in (dump_config(config()), "model: resnet\n", "["):
        (tmp_path / "config.yaml").write_text(text)
        with pytest.raises(ValueError, match=r"folder must be .*config\.yaml"):
            train_run(config(), tmp_path)
        assert (tmp_path / "config.yaml").read_text() == text
    (tmp_path / "config.yaml").write_text(CONFIG_HEADER + dump_config(config(steps=3)))
    (tmp_path / "report.md").touch()
    assert train_run(config(), tmp_path).finished


def test_a_run_starts_from_the_weights_of_a_checkpoint_and_names_earlier_runs(folder: Path, tmp_path: Path) -> None:
    stop, second = threading.Event(), tmp_path / "second"
    stop.set()
    larger = config(game="vadus(size=3)", init_from=str(folder / "checkpoint"))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(counting.Counting, "total", 0, raising=False)
        train_run(larger, second, stop=stop)
    start, first = weights(second), saved(folder)
    assert_equal_tensors(weights(folder), start)
    shutil.rmtree(folder)
    assert train_run(larger.replace(steps=8), second, resume=True).finished
    assert any(not torch.equal(tensor, start[name]) for name, tensor in weights(second).items())
    train_run(config(init_from=str(second / "checkpoint")), tmp_path / "third")
    assert first["earlier_runs"] == []
    keys, earlier = ("algorithm", "amount", "unit", "seconds"), saved(tmp_path / "third")["earlier_runs"]
    runs = [tuple(run[key] for key in keys) for run in earlier]
    assert runs == [("counting", 6, "steps", first["seconds"]), ("counting", 8, "steps", saved(second)["seconds"])]


def test_train_shows_the_progress_and_writes_the_report(tmp_path: Path) -> None:
    (tmp_path / "counting.yaml").write_text(dump_config(config()), encoding="utf-8")
    output = io.StringIO()
    console = Console(file=output, width=100)
    settings: dict[str, Any] = {"console": console, "steps": 4, "matches.opponents": ["random"]}
    with ThreadPoolExecutor(1) as pool:  # a thread receives no signals
        result = pool.submit(stoneworks.train, str(tmp_path / "counting.yaml"), tmp_path / "run", **settings).result()
    assert (result.finished, result.done) == (True, 4)
    for text in ("after 4 steps: vadus(size=2): policy scores", "4/4 steps", "half 2.0"):
        assert text in output.getvalue()
    assert "| steps | 4 of 4 |" in (tmp_path / "run" / "report.md").read_text()
    assert "counting" in algorithm_names()
    with pytest.raises(ConfigError, match="steps must be >= 1, got 0"):
        stoneworks.train(str(tmp_path / "counting.yaml"), tmp_path / "other", steps=0)
    with pytest.raises(ConfigError, match="unknown key stepz"):
        stoneworks.train(config(), tmp_path / "other", stepz=3)


def test_the_first_signal_sets_the_event_and_the_second_interrupts() -> None:
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt), stop_on_signals() as stop:  # noqa: PT012 - the second signal is to raise
        assert not stop.is_set()
        os.kill(os.getpid(), signal.SIGINT)
        assert stop.wait(600)
        os.kill(os.getpid(), signal.SIGINT)
        threading.Event().wait(600)
    assert signal.getsignal(signal.SIGINT) is before
    with stop_on_signals() as stop:
        os.kill(os.getpid(), signal.SIGTERM)
        assert stop.wait(600)
