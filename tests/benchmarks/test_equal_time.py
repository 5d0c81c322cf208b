"""Matches at equal time: the games are played once, and the table has them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("torch")

from benchmarks import equal_time

GAME = "vadus(size=2)"


@pytest.fixture(autouse=True)
def small_boards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(equal_time, "BOARDS", {GAME: "vadus"})


def test_games_are_played_once_and_written_into_the_page(tmp_path: Path) -> None:
    path, page = tmp_path / "games.jsonl", tmp_path / "page.md"
    page.write_text(f"before\n{equal_time.BEGIN}\nold\n{equal_time.END}\nafter\n")
    equal_time.main(path, page, seconds=0.001, pairs=2, only="mcts")
    games = [json.loads(line) for line in path.read_text().splitlines()]
    assert [(game["opening"], game["seat"]) for game in games] == [(0, 0), (0, 1), (1, 0), (1, 1)]
    text = page.read_text()
    score = 100 * sum(game["score"] for game in games) / 4
    assert f"| {score:.0f} % (" in text
    assert "not played" in text
    assert "old" not in text
    path.write_text(path.read_text()[:-20])  # cut off in the last game
    equal_time.main(path, page, seconds=0.001, pairs=2, only="mcts")
    lines = path.read_text().splitlines()
    assert lines[:3] == [json.dumps(game) for game in games[:3]]
    assert len(equal_time.read(path)) == 4


def test_a_page_without_the_markers_is_an_error_before_the_games(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("nothing\n")
    with pytest.raises(ValueError, match="the page must have the lines"):
        equal_time.main(tmp_path / "games.jsonl", page, seconds=0.001, pairs=1)
    assert not (tmp_path / "games.jsonl").exists()
