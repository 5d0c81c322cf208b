"""Shipping a checkpoint: what the folder holds, what its files say, and that it appears whole."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest

pytest.importorskip("torch")

from stoneworks.envs.rules import load_game
from stoneworks.evaluation.solved_accuracy.positions import shipped_solved_positions
from stoneworks.models import load_bot, shipped
from stoneworks.models.checkpoint import CheckpointError, load_checkpoint
from stoneworks.models.description import PlaySettings
from tiny_runs import assert_equal_tensors, change_checkpoint
from tools import final_matches, shipping
from tools.checkpoint_tables import shipped_tables
from tools.final_matches import GAMES_FOLDER, FinalMatches
from tools.shipping import ship

GAME = load_game("vadus(size=2)")
SETTINGS: dict[str, Any] = {"simulations": 4, "num_pairs": 2, "opening_actions": 1}
MATCHES = FinalMatches(policy_opponents=("random",), search_opponents=("greedy",), **SETTINGS)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder in which shipped checkpoints are looked for; of the samples, that of the smallest board is measured."""
    monkeypatch.setattr(shipped, "shipped_folder", lambda: tmp_path / "checkpoints")
    monkeypatch.setattr(final_matches, "shipped_solved_positions", lambda name: shipped_solved_positions(name)[:1])
    return tmp_path / "checkpoints"


def matches_of(target: Path) -> dict[str, Any]:
    return dict(json.loads((target / "matches.json").read_text()))


def test_a_shipped_folder_has_what_playing_needs_and_no_more(alphazero_run: Path, place: Path) -> None:
    assert shipped_tables() == "No checkpoint is shipped yet.\n"
    texts = {"weaknesses": "It knows nothing.", "other_run": "Nor does it."}
    target = ship(alphazero_run, "vadus", into=place, matches=MATCHES, **texts)
    assert target == place / "vadus"
    names = ["README.md", "checkpoint.json", "matches.json", "model.safetensors"]
    assert sorted(path.name for path in target.iterdir()) == names
    assert [path.name for path in place.iterdir()] == ["vadus"], "nothing else lies about"
    description = json.loads((target / "checkpoint.json").read_text())
    assert list(description["files"]) == ["model.safetensors"]
    assert "random_state" not in description["training"]
    measured = [(row["game"], row["player"], row["positions"]) for row in matches_of(target)["accuracy"]]
    assert measured == [("vadus(size=2)", player, 120) for player in ("policy", "policy@4")]
    assert "| `vadus(size=2)` | whole games | 120 | " in (target / "README.md").read_text()
    before, after = load_checkpoint(alphazero_run / "checkpoint"), load_checkpoint(target, GAME)
    assert_equal_tensors(before.network.state_dict(), after.network.state_dict())

    assert load_bot("vadus@8", GAME, seed=1).name == "vadus@8"
    tables = shipped_tables()
    assert "| policy@4 against greedy |" in tables
    assert re.search(r"^\| `vadus\(size=2\)` \| .*%", tables, re.MULTILINE)
    assert re.search(r"^\| `vadus` \| `vadus\(size=2\)` \| .*KiB", tables, re.MULTILINE)

    card = (target / "README.md").read_text()
    row = matches_of(target)["matches"][0]
    for text in (
        f"| policy | random | {100 * row['score']:.1f} % |",
        "## Another run\n\nNor does it.\n\n## Known weaknesses\n\nIt knows nothing.\n",
        "win_draw_loss_network: channels 4, blocks 1",
        'load_bot("vadus@64", "vadus(size=2)")',
        "| positions | time | policy against random | policy against greedy | policy@4 against random |",
        "algorithm: alphazero",
    ):
        assert text in card


def test_the_evaluation_records_the_matches(alphazero_run: Path, place: Path) -> None:
    told: list[tuple[str, int, int]] = []
    target = ship(alphazero_run, "vadus", into=place, matches=MATCHES, progress=lambda *news: told.append(news))
    evaluation = matches_of(target)
    assert evaluation["game"] == "vadus(size=2)"
    assert (evaluation["num_pairs"], evaluation["opening_actions"], evaluation["seed"]) == (2, 1, 0)
    description = json.loads((target / "checkpoint.json").read_text())
    assert evaluation["weights_sha256"] == description["files"]["model.safetensors"]["sha256"]
    for row, names in zip(evaluation["matches"], (("policy", "random"), ("policy@4", "greedy")), strict=True):
        assert (row["player"], row["opponent"]) == names
        assert row["games"] == 4
    assert told == [("final matches on vadus(size=2)", done, 8) for done in (0, 4, 8)]
    shutil.rmtree(alphazero_run / GAMES_FOLDER)
    again = ship(alphazero_run, "vadus-2", into=place, matches=MATCHES, workers=2)
    assert matches_of(again)["matches"] == evaluation["matches"], "equal seeds give equal games"


def test_a_shipped_checkpoint_plays_as_configured(alphazero_run: Path, place: Path) -> None:
    play = {"discount": 0.75, "leaf_values": "playouts", "leaf_value_weight": 0.25, "leaf_value_playouts": 3}
    change_checkpoint(alphazero_run, lambda description: description["play"].update(play))
    ship(alphazero_run, "vadus", into=place, matches=MATCHES)
    assert load_checkpoint(place / "vadus").play == PlaySettings(deterministic_policy=True, **play)


def test_other_sizes_and_slow_opponents_have_fewer_games(alphazero_run: Path, place: Path) -> None:
    slow: dict[str, Any] = {"slow_opponents": ("random",), "slow_pairs": 1}
    matches = MATCHES.replace(other_games=("vadus(size=3)",), other_pairs=1, **slow)
    target = ship(alphazero_run, "vadus", into=place, matches=matches)
    (other,) = matches_of(target)["other_games"]
    assert other["game"] == "vadus(size=3)"
    rows = [[(row["player"], row["games"]) for row in part["matches"]] for part in (matches_of(target), other)]
    assert rows == [[("policy@4", 4), ("policy", 2)], [("policy@4", 2), ("policy", 2)]]
    assert "### On vadus(size=3)\n\n|" in (target / "README.md").read_text()
    assert "\n| `vadus(size=3)` | 2 | " in shipped_tables()


def test_only_a_success_replaces_another(alphazero_run: Path, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = ship(alphazero_run, "vadus", into=place, matches=MATCHES, weaknesses="old")
    with monkeypatch.context() as patched:
        patched.setattr(shipping, "model_card", Mock(side_effect=KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            ship(alphazero_run, "vadus", into=place, matches=MATCHES)
    assert "\nold\n" in (target / "README.md").read_text()
    assert [path.name for path in place.iterdir()] == ["vadus"]
    ship(alphazero_run, "vadus", into=place, matches=MATCHES, weaknesses="new")
    assert "\nnew\n" in (target / "README.md").read_text()


def test_a_bad_checkpoint_is_not_shipped(alphazero_run: Path, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("laido", "vadus9", "vadus-", "../vadus", "Vadus"):
        with pytest.raises(ValueError, match="name must be 'vadus', or 'vadus-' followed by"):
            ship(alphazero_run, name, into=place, matches=MATCHES)
    others = {name: {"other_games": (f"{name}(size=3)",)} for name in ("nosuch", "laido")}
    for part, changes in {**others, "unknown bot 'nobody'": {"policy_opponents": ("random", "nobody")}}.items():
        with pytest.raises(ValueError, match=part):
            ship(alphazero_run, "vadus", into=place, matches=MATCHES.replace(**changes))
    with pytest.raises(CheckpointError, match="is missing"):
        ship(place, "vadus", into=place, matches=MATCHES)
    monkeypatch.setattr(shipping, "MAX_WEIGHTS_BYTES", 100)
    with pytest.raises(CheckpointError, match="must have at most 100 bytes"):
        ship(alphazero_run, "vadus", into=place, matches=MATCHES)
    assert not place.exists()
    assert not (alphazero_run / GAMES_FOLDER).exists(), "no match was played"


def test_the_matches_of_the_shipped_checkpoints_add_up(repository: Path) -> None:
    for file in (repository / "models" / "checkpoints").glob("*/matches.json"):
        stored = json.loads(file.read_text(encoding="utf-8"))
        for row in (row for part in (stored, *stored["other_games"]) for row in part["matches"]):
            assert [np.sum(row["by_pair"], axis=axis).tolist() for axis in (1, 0)] == row["by_seat"], file
