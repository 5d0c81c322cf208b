"""Means of checkpoints: their weights, their training information, and invalid arguments."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

import torch

from stoneworks.cli.main import main
from stoneworks.envs.rules import load_game
from stoneworks.evaluation.match import play_match
from stoneworks.models import load_bot, shipped
from stoneworks.models.checkpoint import Checkpoint, CheckpointError, load_checkpoint, save_checkpoint
from stoneworks.training.runs.averaging import average_checkpoints
from stoneworks.training.runs.final_matches import FinalMatches
from stoneworks.training.runs.run_folder import runs_before
from stoneworks.training.runs.shipping import ship
from tools.checkpoint_tables import shipped_tables


def continued(run: Path, folder: Path, seconds: float) -> Path:
    """Return a checkpoint with other weights, of a run that continued ``run`` for ``seconds``."""
    first = load_checkpoint(run / "checkpoint")
    training = {**first.training, "seconds": seconds, "earlier_runs": runs_before(first)}
    network = first.network
    with torch.no_grad():
        for weights in network.parameters():
            weights.add_(torch.randn(weights.shape, generator=torch.Generator().manual_seed(int(seconds))))
    save_checkpoint(folder, game=first.game, network=network, training=training)
    return folder


def mean_of(*parts: Path, into: Path) -> Checkpoint:
    return load_checkpoint(average_checkpoints(parts, into))


def test_weights_are_the_mean_and_the_mean_plays(alphazero_run: Path, tmp_path: Path) -> None:
    parts = [alphazero_run / "checkpoint", *(continued(alphazero_run, tmp_path / f"{n}", float(n)) for n in (60, 90))]
    mean = mean_of(*parts, parts[2], into=tmp_path / "mean")
    weights = [load_checkpoint(part).network.state_dict() for part in parts]
    for name, found in mean.network.state_dict().items():
        expected = (weights[0][name] + weights[1][name] + 2 * weights[2][name]) / 4
        torch.testing.assert_close(found, expected)
        assert found.dtype == weights[0][name].dtype
    bots = [load_bot(name, mean.game, seed=1) for name in (f"{mean.folder}@4", "random")]
    assert play_match(mean.game, *bots, num_pairs=1, seed=1).num_games == 2


def test_a_mean_lists_the_runs_that_led_to_it(alphazero_run: Path, tmp_path: Path) -> None:
    later = [continued(alphazero_run, tmp_path / f"{seconds}", float(seconds)) for seconds in (60, 90)]
    mean = mean_of(alphazero_run / "checkpoint", *later, into=tmp_path / "mean")
    first = load_checkpoint(alphazero_run / "checkpoint").training
    assert mean.training["match_results"] == []
    assert {name: mean.training[name] for name in ("algorithm", "config", "seconds")} == {
        name: first[name] for name in ("algorithm", "config", "seconds")
    }
    assert mean.training["averaged"]["checkpoints"] == 3
    assert [run["seconds"] for run in mean.training["averaged"]["runs"]] == [60, 90]
    assert [run["seconds"] for run in runs_before(mean)] == [first["seconds"], 60, 90]
    again = mean_of(later[0], mean.folder, into=tmp_path / "again")
    assert [run["seconds"] for run in runs_before(again)] == [first["seconds"], 60, 90]


def test_a_mean_can_be_shipped(alphazero_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shipped, "shipped_folder", lambda: tmp_path / "checkpoints")
    mean_of(alphazero_run / "checkpoint", continued(alphazero_run, tmp_path / "later", 60.0), into=tmp_path / "mean")
    matches = FinalMatches(("random",), (), num_pairs=1)
    target = ship(tmp_path / "mean", "vadus", into=shipped.shipped_folder(), matches=matches)
    positions = load_checkpoint(target).training["positions"]
    card = (target / "README.md").read_text()
    assert (
        "The weights are the mean of 2 checkpoints: that of this run, and 1 with further training by AlphaZero "
        f"({positions} positions, 1 min). The network has "
    ) in card
    assert f"<br>then the mean of 2 checkpoints<br>and {positions} positions, 1 min | " in shipped_tables()


@pytest.mark.parametrize("averaged", [5, {"checkpoints": 2}, {"checkpoints": 2, "runs": [{"algorithm": "ppo"}]}])
def test_damaged_information_about_a_mean_is_an_error(alphazero_run: Path, tmp_path: Path, averaged: object) -> None:
    file = alphazero_run / "checkpoint" / "checkpoint.json"
    description = json.loads(file.read_text())
    description["training"]["averaged"] = averaged
    file.write_text(json.dumps(description))
    with pytest.raises(CheckpointError, match="averaged"):
        average_checkpoints([alphazero_run / "checkpoint"] * 2, tmp_path / "mean")
    assert not (tmp_path / "mean").exists()


def test_invalid_arguments_are_rejected_and_nothing_is_written(
    alphazero_run: Path, ppo_run: Path, tmp_path: Path
) -> None:
    first, target = alphazero_run / "checkpoint", tmp_path / "mean"
    shutil.copytree(first, tmp_path / "larger")
    larger = _with_game(tmp_path / "larger", "vadus(size=3)")
    for parts, error, words in (
        ((first,), ValueError, "checkpoints must be at least two, got 1"),
        (
            (first, ppo_run / "checkpoint"),
            CheckpointError,
            r"the network must be .*win_draw_loss.*, got .*scalar_value_network",
        ),
        ((first, larger), CheckpointError, r"larger: the game must be vadus\(size=2\), .*, got vadus\(size=3\)"),
        ((first, tmp_path / "nowhere"), CheckpointError, "is missing"),
    ):
        with pytest.raises(error, match=words):
            average_checkpoints(parts, target)
        assert not target.exists()
    average_checkpoints([first, first], target)
    before = (target / "checkpoint" / "checkpoint.json").read_bytes()
    with pytest.raises(CheckpointError, match="mean must not have a checkpoint yet"):
        average_checkpoints([first, first], target)
    assert (target / "checkpoint" / "checkpoint.json").read_bytes() == before


def _with_game(folder: Path, game: str) -> Path:
    """Give a checkpoint, in place, another size of its game; its weights and planes are the same."""
    description: dict[str, Any] = json.loads((folder / "checkpoint.json").read_text())
    description |= {"game": game, "num_actions": load_game(game).num_actions}
    (folder / "checkpoint.json").write_text(json.dumps(description))
    return folder


def test_average_is_a_command(alphazero_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    checkpoint = str(alphazero_run / "checkpoint")
    for status, into in ((0, "mean"), (2, "mean")):
        with pytest.raises(SystemExit) as leaving:
            main(["average", checkpoint, checkpoint, "--into", str(tmp_path / into)])
        assert leaving.value.code == status
    output = capsys.readouterr()
    assert output.out == f"the checkpoint is {tmp_path / 'mean' / 'checkpoint'}\n"
    assert output.err.startswith(f"stoneworks: {tmp_path / 'mean'} must not have a checkpoint yet")
