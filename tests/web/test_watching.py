"""Watched folders: what is found and read in them, and what is not."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from stoneworks.envs.rules import load_game
from stoneworks.evaluation import ArenaSettings, play_arena, round_robin
from stoneworks.evaluation.records import GameRecord, write_records
from stoneworks.locks import lock_folder
from stoneworks.web.requests import RequestError
from stoneworks.web.watching import RecordsQuery, Watch

GAME = "vadus(size=3)"


def test_a_run_is_running_while_it_is_locked_and_its_metrics_are_drawn_over_the_unit(tmp_path: Path) -> None:
    for name, row in (
        ("stopped", {"positions": 900, "total_positions": 1000, "games": 5}),
        ("finished", {"games": 1007, "total_games": 1000}),
        ("unknown", {"loss": 1.0}),
    ):
        (tmp_path / name).mkdir()
        (tmp_path / name / "metrics.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")

    def states() -> dict[str, str]:
        return {source["name"]: source["state"] for source in Watch([tmp_path]).sources()}

    assert states() == {"stopped": "stopped", "finished": "finished", "unknown": "stopped"}
    with lock_folder(tmp_path / "stopped"):
        assert states()["stopped"] == "running"
    assert states()["stopped"] == "stopped"
    for rows, axis, kept in (
        ([{"games": 1, "loss": 2.0}, {"games": 2, "loss": 1.5}, {"games": 2, "loss": 1.4, "note": "x"}], "games", 2),
        ([{"loss": 1.0, "positions": 5}, {"loss": 2.0, "positions": 9}], "positions", 2),
        ([{"loss": 3.0, "epoch": 1}, {"loss": 2.0, "epoch": 2}], "epoch", 2),
        ([{"note": "x"}], None, 0),
    ):
        (tmp_path / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        run = Watch([tmp_path]).run("0/")
        assert run["axis"] == axis
        assert all(len(column) == kept for column in run["columns"].values())
    lines = [json.dumps({"positions": number}) + "\n" for number in range(4000)]
    (tmp_path / "metrics.jsonl").write_text("".join(lines), encoding="utf-8")
    points = Watch([tmp_path]).run("0/")["columns"]["positions"]
    assert (len(points), points[-1]) == (2000, 3999)


def test_names_that_utf_8_cannot_encode_and_folders_that_may_not_be_entered_hide_nothing_else(
    start_server: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    watched = tmp_path / "watched"
    watched.mkdir()
    record = GameRecord.of_state(load_game(GAME).new_initial_state(), ("\ud800", "b"))
    (watched / "games.jsonl").write_text(json.dumps(record.to_fields()) + "\n", encoding="utf-8")
    Path(os.fsdecode(os.fsencode(watched) + b"/\xff.jsonl")).touch()
    with start_server(str(watched)).client() as client:
        assert len(client.get("/api/watch").json()["sources"]) == 2
        found = client.get("/api/watch/records", params={"source": "0/games.jsonl"}).json()
    assert found["rows"][0]["players"] == ["\ud800", "b"]
    (watched / "closed").mkdir()
    (watched / "closed" / "games.jsonl").touch()
    lstat = Path.lstat

    def closed(path: Path) -> os.stat_result:
        if "closed" in path.parts:
            raise PermissionError  # as for a user who may list the folder alone
        return lstat(path)

    monkeypatch.setattr(Path, "lstat", closed)
    assert len(Watch([watched]).sources()) == 2


def test_links_in_a_watched_folder_cannot_leave_it(tmp_path: Path) -> None:
    outside, watched = tmp_path / "outside", tmp_path / "watched"
    settings = ArenaSettings(game=GAME, pairings=round_robin(["random", "mcts:1"]), num_pairs=2)
    play_arena(settings, outside / "arena")
    (outside / "run" / "checkpoint").mkdir(parents=True)
    (outside / "run" / "metrics.jsonl").write_text('{"positions": 7, "secret": 1}\n', encoding="utf-8")
    checkpoint = {"game": GAME, "training": {"algorithm": "secret"}}
    (outside / "run" / "checkpoint" / "checkpoint.json").write_text(json.dumps(checkpoint), encoding="utf-8")
    (outside / "run" / "matches").symlink_to(outside / "arena" / "games")
    games = next((outside / "arena" / "games").glob("*.jsonl"))

    arena = outside / "arena"
    links = {
        "link.jsonl": games,
        "arena": arena,
        "linked-folder/arena.json": arena / "arena.json",
        "linked-games/games": arena / "games",
        f"linked-game/games/{games.name}": games,
        "run/checkpoint": outside / "run" / "checkpoint",
        "run/matches": arena / "games",
        "linked-run/metrics.jsonl": outside / "run" / "metrics.jsonl",
    }
    for name, target in links.items():
        (watched / name).parent.mkdir(parents=True, exist_ok=True)
        (watched / name).symlink_to(target)
    for name in ("linked-games", "linked-game"):
        shutil.copy(arena / "arena.json", watched / name)
    (watched / "run" / "metrics.jsonl").write_text('{"positions": 1}\n', encoding="utf-8")

    watch = Watch([watched])
    assert sorted(source["id"] for source in watch.sources()) == ["0/linked-game", "0/linked-games", "0/run"]
    run = watch.run("0/run")
    assert (run["columns"], run["algorithm"]) == ({"positions": [1]}, None)
    for source in ("0/run", "0/linked-game", "0/linked-games"):
        assert watch.records(RecordsQuery(source=source))["all"] == 0
    for source in ("0/linked-game", "0/linked-games"):
        with pytest.raises(RequestError, match="links"):
            watch.arena(source)
    # The folders themselves, named on the command line, can be read.
    assert Watch([outside]).records(RecordsQuery(source="0/arena"))["all"] == 4


def test_a_fifo_does_not_block_and_records_are_parsed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "games.jsonl")
    with pytest.raises(RequestError, match="cannot be read"):
        Watch([tmp_path]).records(RecordsQuery(source="0/games.jsonl"))
    games = tmp_path / "arena" / "games"
    games.mkdir(parents=True)
    (tmp_path / "arena" / "arena.json").write_text("{}")
    record = GameRecord.of_state(load_game(GAME).new_initial_state(), ("a", "b"))
    for number in range(300):
        write_records(games / f"pairing-000-chunk-{number:05d}.jsonl", [record])
    watch = Watch([tmp_path])
    assert watch.records(RecordsQuery(source="0/arena"))["all"] == 300
    # Games of later files come after those that are known by their numbers.
    write_records(games / "pairing-000-chunk-00000-later.jsonl", [record.replace(players=("c", "d"))])
    os.utime(games / "pairing-000-chunk-00000-later.jsonl", (2**32, 2**32))
    assert watch.record("0/arena", 300).players == ("c", "d")
    monkeypatch.setattr(GameRecord, "from_json", lambda text: pytest.fail("parsed again"))
    assert watch.records(RecordsQuery(source="0/arena"))["all"] == 301
