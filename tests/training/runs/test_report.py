"""What is read from the folder of a run: the report says it, early and late, and damaged files are refused or left out."""

from __future__ import annotations

import json
import re
import shutil
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

from processes import Run
from stoneworks.evaluation.records import read_records, write_records
from stoneworks.models.checkpoint import CheckpointError
from stoneworks.text import percent
from stoneworks.training.runs.algorithms import ConfigError
from stoneworks.training.runs.config_files import parse_config
from stoneworks.training.runs.report import write_report
from stoneworks.training.runs.run import train_run
from stoneworks.training.runs.run_folder import check_training, read_metrics, read_run
from tiny_runs import change_checkpoint, saved
from tools.shipping import ship


def test_a_report_needs_no_network(alphazero_run: Path, run_command: Run) -> None:
    def change(fields: dict[str, Any]) -> None:
        fields["network"] = fields["training"]["config"]["network"] = {"kind": "mine", "width": 3}

    change_checkpoint(alphazero_run, change)
    code, _, err = run_command("report", str(alphazero_run))
    assert code == 0, err
    text = (alphazero_run / "report.md").read_text()
    assert "| network | mine, which is not registered: no policies are shown |" in text
    assert "## Scores" in text
    assert "What the network would play" not in text


def test_the_report_shows_scores_losses_games_and_policies(alphazero_run: Path, run_command: Run) -> None:
    report = alphazero_run / "report.md"
    assert run_command("report", str(alphazero_run))[:2] == (0, f"the report is {report}\n")
    text = report.read_text()
    training = read_run(alphazero_run).training
    assert f"| positions | {training['positions']:,} of 60 |" in text
    results = training["match_results"]
    latest = [row for row in results if row["positions"] == results[-1]["positions"]]
    assert len(latest) == 3
    for row in latest:
        figures = row["player"], row["opponent"], percent(row["score"]), percent(*row["interval"])
        assert f"| {' | '.join(figures)} |" in text
    for heading in ("Scores", "Losses", "Games of self-play", "Speed", "Games", "What the network would play"):
        assert f"## {heading}\n" in text
    assert "simulations: 4" in text.split("## Configuration")[1]
    assert training["hardware"]["processor"] in text
    pictures = set(re.findall(r"\]\(report/([\w-]+\.png)\)", text))
    assert pictures >= {"scores.png", "losses.png", "time.png", "game-1.png", "policy-1.png"}
    for picture in pictures:
        content = (alphazero_run / "report" / picture).read_bytes()
        assert content.startswith(b"\x89PNG")
        assert min(struct.unpack(">II", content[16:24])) > 100
    assert {path.name for path in (alphazero_run / "report").iterdir()} == pictures, "nothing else lies about"
    games = re.findall(r"^(\S+) \(Black\) against (\S+), (?:won by \S+|a draw) \(\w+\): `(.*)`$", text, re.MULTILINE)
    assert len(games) == 3
    for (black, white, actions), file in zip(games, read_run(alphazero_run).match_files(), strict=True):
        played = [(record.players, record.actions) for record in read_records(file)]
        assert ((black, white), tuple(actions.split())) in played

    for file in (alphazero_run / "matches").iterdir():
        file.write_text("")  # as if they were of another game
    text = write_report(alphazero_run).read_text()
    assert "## Games\n" not in text
    assert "of the last of these games" not in text

    shutil.rmtree(alphazero_run / "matches")
    (alphazero_run / "metrics.jsonl").unlink()
    text = write_report(alphazero_run).read_text()
    assert "## Losses" not in text
    left = ["policy-1.png", "policy-2.png", "policy-3.png", "scores.png"]
    assert sorted(path.name for path in (alphazero_run / "report").iterdir()) == left, "pictures before are gone"


def test_a_run_of_ppo_has_a_report_too(ppo_run: Path) -> None:
    text = write_report(ppo_run).read_text()
    for heading in ("Scores", "Training games", "Losses", "Speed", "Games", "What the network would play"):
        assert f"## {heading}\n" in text
    for part in ("by PPO", "| frames | 256 of 256 |", "| updates | 4 |", "After 256 frames", "Expected: result "):
        assert part in text
    assert len(re.findall(r"^\w+ \(Black\) against", text, re.MULTILINE)) == 2
    pictures = {Path(picture).name for picture in re.findall(r"\]\((report/[\w-]+\.png)\)", text)}
    assert pictures == {path.name for path in (ppo_run / "report").iterdir()}
    assert pictures >= {"scores.png", "losses.png", "speed.png", "game-2.png", "policy-1.png"}


def test_a_damaged_run_is_neither_reported_nor_shipped_nor_trained(alphazero_run: Path, tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=r"checkpoint\.json is missing"):
        write_report(tmp_path / "nothing")
    config = parse_config(saved(alphazero_run)["config"], "test")
    for name in ("guessing", ["alphazero"]):
        change_checkpoint(alphazero_run, lambda description, name=name: description["training"].update(algorithm=name))
        with pytest.raises(CheckpointError, match=f"algorithm must be one of .* got {re.escape(repr(name))}"):
            write_report(alphazero_run)
    change_checkpoint(alphazero_run, lambda description: description["training"].update(algorithm="alphazero"))
    change_checkpoint(alphazero_run, lambda description: description["training"].pop("positions"))
    for use in (
        lambda: write_report(alphazero_run),
        lambda: ship(alphazero_run, "vadus", into=tmp_path / "shipped"),
        lambda: train_run(config, alphazero_run, resume=True),
    ):
        with pytest.raises(CheckpointError, match="checkpoint: training"):
            use()
    assert not (tmp_path / "shipped").exists()


Change = Callable[[dict[str, Any]], object]


@pytest.mark.parametrize(
    "change",
    [
        lambda training: training.pop("positions"),
        lambda training: training.update(positions=-1),
        lambda training: training.update(positions=10**99),
        lambda training: training.update(positions=True),
        lambda training: training.update(seconds=None),
        lambda training: training["config"].update(positions=[60]),
        lambda training: training["hardware"].pop("cores"),
        lambda training: training["match_results"].append({}),
        lambda training: training["match_results"][0].update(interval=[0.1]),
    ],
)
def test_training_information_of_another_shape_is_refused(finished_run: Path, change: Change) -> None:
    training = saved(finished_run)
    check_training(training, "positions", "there")
    change(training)
    with pytest.raises(CheckpointError, match="there: training"):
        check_training(training, "positions", "there")


@pytest.mark.parametrize(
    "change",
    [
        lambda training: training.update(games="many"),
        lambda training: training.pop("random_state"),
        lambda training: training["random_state"]["state"].update(state=-1),
        lambda training: training["config"].update(network={"kind": []}),
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


def test_invalid_lines_of_metrics_are_skipped(alphazero_run: Path) -> None:
    bad_lines = (
        *(b"[" * 100_000, b'{"positions": ' + b"9" * 10_000 + b"}", b"\xff\xfe", b"null", b'{"pos'),
        *(b'{"positions": "31"}', b'{"positions": [31]}', b'{"positions": 31, "positions": 32}'),
    )
    file = alphazero_run / "metrics.jsonl"
    rows = read_metrics(file, "positions")
    lines = file.read_bytes().splitlines()
    last = json.loads(lines[-1])
    odd = {**last, "positions": last["positions"] + 1, "policy": float("nan"), "value": "x"}
    file.write_bytes(b"\n".join([lines[0], *bad_lines, *lines[1:], json.dumps(odd).encode()]) + b"\n")
    *others, latest = read_metrics(file, "positions")
    assert others == rows
    assert "value" not in latest
    write_report(alphazero_run)
    lines = file.read_bytes().splitlines()
    file.write_bytes(b"\n".join(line.replace(b"games_per_second", b"renamed") for line in lines))
    with pytest.raises(CheckpointError, match=r"metrics\.jsonl: the key 'games_per_second' is missing"):
        write_report(alphazero_run)


def test_games_of_another_game_are_not_shown_as_those_of_the_run(alphazero_run: Path) -> None:
    for file in (alphazero_run / "matches").glob("*.jsonl"):
        write_records(file, [record.replace(game="vadus(size=3)") for record in read_records(file)])
    assert "The end of one game" not in write_report(alphazero_run).read_text()
