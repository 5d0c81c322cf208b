"""Runs whose files are damaged or come from elsewhere are refused with the path, or read without the damage."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

from stoneworks.models.checkpoint import CheckpointError
from stoneworks.training.runs.algorithms import ConfigError
from stoneworks.training.runs.config_files import parse_config
from stoneworks.training.runs.report import write_report
from stoneworks.training.runs.run import train_run
from stoneworks.training.runs.run_folder import check_training, read_metrics
from tiny_runs import change_checkpoint, saved
from tools.shipping import ship

LONG = int("9" * 99)

Change = Callable[[dict[str, Any]], object]


@pytest.mark.parametrize(
    "change",
    [
        lambda training: training.pop("positions"),
        lambda training: training.update(positions="60"),
        lambda training: training.update(positions=-1),
        lambda training: training.update(positions=LONG),
        lambda training: training.update(positions=True),
        lambda training: training.update(seconds=None),
        lambda training: training.update(config=[]),
        lambda training: training["config"].update(positions=[60]),
        lambda training: training.update(hardware={}),
        lambda training: training["hardware"].pop("cores"),
        lambda training: training.update(match_results={}),
        lambda training: training["match_results"].append({}),
        lambda training: training["match_results"][0].update(player=["policy"]),
        lambda training: training["match_results"][0].update(interval=[0.1]),
        lambda training: training["match_results"][0].update(score="high"),
    ],
)
def test_training_information_of_another_shape_is_refused(finished_run: Path, change: Change) -> None:
    training = saved(finished_run)
    check_training(training, "positions", "there")
    change(training)
    with pytest.raises(CheckpointError, match="there: training"):
        check_training(training, "positions", "there")


def test_a_damaged_run_is_neither_reported_nor_shipped_nor_trained(alphazero_run: Path, tmp_path: Path) -> None:
    config = parse_config(saved(alphazero_run)["config"], "test")
    change_checkpoint(alphazero_run, lambda description: description["training"].pop("positions"))
    with pytest.raises(CheckpointError, match="checkpoint: training"):
        write_report(alphazero_run)
    with pytest.raises(CheckpointError, match="checkpoint: training"):
        ship(alphazero_run, "vadus", into=tmp_path / "shipped")
    assert not (tmp_path / "shipped").exists()
    with pytest.raises(CheckpointError, match="checkpoint: training"):
        train_run(config, alphazero_run, resume=True)


@pytest.mark.parametrize(
    "change",
    [
        lambda training: training.pop("games"),
        lambda training: training.update(games="many"),
        lambda training: training.update(iterations=None),
        lambda training: training.pop("random_state"),
        lambda training: training.update(random_state=[]),
        lambda training: training["random_state"]["state"].update(state=-1),
        lambda training: training["config"].update(network={"kind": []}),
        lambda training: training["config"].update(search="gumbel"),
        lambda training: training["config"]["search"].update(discount=0),
        lambda training: training["config"]["play"].update(guide="greedy"),
        lambda training: training.update(positions=61),
    ],
)
def test_a_run_is_not_resumed_from_another_state(alphazero_run: Path, change: Change) -> None:
    config = parse_config(saved(alphazero_run)["config"], "test")
    before = sorted((alphazero_run / "positions").iterdir())
    change_checkpoint(alphazero_run, lambda description: change(description["training"]))
    with pytest.raises((CheckpointError, ConfigError), match="checkpoint"):
        train_run(config, alphazero_run, resume=True)
    assert sorted((alphazero_run / "positions").iterdir()) == before


def test_damaged_positions_are_an_error_that_names_the_file(alphazero_run: Path) -> None:
    config = parse_config(saved(alphazero_run)["config"], "test")
    file = next((alphazero_run / "positions").iterdir())
    file.write_bytes(file.read_bytes()[:-9])
    with pytest.raises(CheckpointError, match=f"{file.name} is damaged"):
        train_run(config, alphazero_run, resume=True)


BAD_LINES = (
    b"[" * 100_000,
    b'{"positions": ' * 100_000,
    b'{"positions": ' + b"9" * 10_000 + b"}",
    b"\xff\xfe",
    b"null",
    b'{"positions": "31"}',
    b'{"positions": [31]}',
    b'{"positions": 31, "positions": 32}',
    b'{"pos',
)


def test_invalid_lines_of_metrics_are_skipped(alphazero_run: Path) -> None:
    file = alphazero_run / "metrics.jsonl"
    rows = read_metrics(file, "positions")
    lines = file.read_bytes().splitlines()
    last = json.loads(lines[-1])
    odd = {**last, "positions": last["positions"] + 1, "policy": float("nan"), "value": "x"}
    file.write_bytes(b"\n".join([lines[0], *BAD_LINES, *lines[1:], json.dumps(odd).encode()]) + b"\n")
    *others, latest = read_metrics(file, "positions")
    assert others == rows
    assert "value" not in latest
    write_report(alphazero_run)
    lines = file.read_bytes().splitlines()
    file.write_bytes(b"\n".join(line.replace(b"games_per_second", b"renamed") for line in lines))
    with pytest.raises(CheckpointError, match=r"metrics\.jsonl: the key 'games_per_second' is missing"):
        write_report(alphazero_run)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs FIFOs")
@pytest.mark.parametrize("name", ["metrics.jsonl", "checkpoint/model.safetensors", "checkpoint/checkpoint.json"])
def test_a_pipe_in_place_of_a_file_does_not_block(alphazero_run: Path, name: str) -> None:
    (alphazero_run / name).unlink()
    os.mkfifo(alphazero_run / name)
    with pytest.raises(CheckpointError, match=Path(name).name):
        write_report(alphazero_run)


def test_games_of_another_game_are_not_shown_as_those_of_the_run(alphazero_run: Path) -> None:
    for file in (alphazero_run / "matches").glob("*.jsonl"):
        file.write_text(file.read_text(encoding="utf-8").replace("vadus(size=2)", "vadus(size=3)"), encoding="utf-8")
    assert "## Games\n" not in write_report(alphazero_run).read_text(encoding="utf-8")
