"""Matches at equal time: the games are played once, and the table has them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("torch")

from benchmarks import equal_time


def test_games_are_played_once_and_written_into_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(equal_time, "BOARDS", {"vadus(size=2)": "vadus@{:g}s"})
    path, page = tmp_path / "games.jsonl", tmp_path / "page.md"
    page.write_text("no markers\n")
    with pytest.raises(ValueError, match="the page must have the lines"):
        equal_time.main(path, page, seconds=0.001, pairs=1)
    assert not path.exists()
    page.write_text(f"before\n{equal_time.BEGIN}\nold\n{equal_time.END}\nafter\n")
    equal_time.main(path, page, seconds=0.001, pairs=2, only="alphabeta")
    games = [json.loads(line) for line in path.read_text().splitlines()]
    assert [(game["opening"], game["seat"]) for game in games] == [(0, 0), (0, 1), (1, 0), (1, 1)]
    score = 100 * sum(game["score"] for game in games) / 4
    assert f"| {score:.0f} % (" in page.read_text()
    assert "old" not in page.read_text()
    path.write_text(path.read_text()[:-20])  # cut off in the last game
    equal_time.main(path, page, seconds=0.001, pairs=2, only="alphabeta")
    lines = path.read_text().splitlines()
    assert lines[:3] == [json.dumps(game) for game in games[:3]]
    assert len(equal_time.read(path)) == 4
    monkeypatch.setattr(equal_time, "weights_of", lambda game, *players: "of another agent")
    assert equal_time.read(path) == []


def test_pairs_are_won_even_or_lost_once_both_seats_are_played() -> None:
    board, opponent = "vadus(size=2)", "alphabeta:1s"
    scores = [(0, 1, 1), (1, 0, 1), (2, 1, 0), (3, 0.5, 0.5), (4, 0.5, 1), (5, 0, 0.5)]
    games = [
        {"game": board, "opponent": opponent, "opening": opening, "seat": seat, "score": score}
        for opening, *both in scores
        for seat, score in enumerate(both)
    ]
    games.append({"game": board, "opponent": opponent, "opening": 6, "seat": 0, "score": 1})
    assert equal_time.pairs_of(games, board, opponent) == (2, 3, 1)
    assert equal_time.pairs_of(games, board, "greedy") == (0, 0, 0)
