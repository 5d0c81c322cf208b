"""The demonstration trains an agent, plays with it, and leaves what it promises."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

pytest.importorskip("torch")

from stoneworks.evaluation.records import read_records
from stoneworks.models.checkpoint import load_checkpoint
from tools import demo


def test_the_demonstration_leaves_what_it_promises(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo, "NUM_PAIRS", {"random": 2, "greedy": 18})
    monkeypatch.setattr(demo, "PAIRS_AT_A_TIME", 8)
    settings = [
        *("game=vadus(size=2)", "positions=120", "positions_per_iteration=60", "processes=0", "self_play.num_games=8"),
        *("network.channels=4", "network.blocks=1", "search.simulations=4", "search.capped_simulations=2"),
        *("learner.batch_size=16", "matches.num_pairs=2", "matches.positions=60", "matches.simulations=2"),
    ]
    outputs = []
    for minimum, expected in ((1.01, 1), (0.0, 0)):  # more than any agent can score, and what each does
        monkeypatch.setattr(demo, "MINIMUM_SCORES", {"random": minimum, "greedy": 0.0})
        output = io.StringIO()
        assert demo.run(tmp_path, settings, Console(file=output, width=100)) == expected
        outputs.append(output.getvalue())
        assert ("expected at least 101 %" in " ".join(outputs[-1].split())) == (expected == 1)
    assert "positions: vadus(size=2): policy@2 scores" in outputs[0]
    assert "policy@2 scores" not in outputs[1], "the second time the agent is there already"
    records = read_records(tmp_path / "games.jsonl")
    assert len(records) == 40
    assert len({record.actions for record in records}) > 20, "the parts of a match have openings of their own"
    (game,) = read_records(tmp_path / "game.jsonl")
    assert game in records
    assert "greedy" in game.players
    assert {"report", "game.svg", "game.png"} <= {path.name for path in tmp_path.iterdir()}
    assert load_checkpoint(tmp_path / "checkpoint").training["positions"] >= 120
