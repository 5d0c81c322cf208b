"""Runs of the benchmark on a local cluster of two nodes, one of which is killed."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from processes import wait_until
from stoneworks.evaluation import ArenaSettings, Ladder, play_arena, round_robin

from .conftest import LocalCluster, all_cores_free

pytest.importorskip("torch")

from benchmarks import protocol, run
from benchmarks.learners import reinforce
from benchmarks.protocol import Games, Result

#: Gives the processes of all nodes a task on the smallest board.
TASK = """
from benchmarks import protocol
from stoneworks.evaluation import Ladder
_LADDER = Ladder.from_file({!r})
protocol.TASKS["tiny"] = protocol.Task(_LADDER.game, protocol.ladder_hash(_LADDER))
protocol.load_ladder = lambda game, path=None: _LADDER
"""


def test_runs_are_made_on_all_nodes_and_begin_again_if_one_is_lost(
    cluster: LocalCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = ArenaSettings(game="vadus(size=2)", pairings=round_robin(["random", "mcts:3"]), num_pairs=2)
    ladder = Ladder.of_result(play_arena(settings, tmp_path / "arena"), "test")
    ladder.save(tmp_path / "ladder.json")
    file = tmp_path / "mine.py"
    file.write_text(Path(reinforce.__file__).read_text() + TASK.format(str(tmp_path / "ladder.json")))
    monkeypatch.setattr(run, "Games", lambda: Games(scout_pairs=1, anchors=1, pairs=1))
    monkeypatch.setattr(protocol, "load_ladder", lambda game, path=None: ladder)
    monkeypatch.setitem(protocol.TASKS, "tiny", protocol.Task(ladder.game, protocol.ladder_hash(ladder)))
    node = cluster.add()

    begun, killed = tmp_path / "work" / "cluster" / "results", []

    def kill() -> None:
        if wait_until(lambda: len(list(begun.glob("*.json"))) == 2):
            cluster.kill(node)
            killed.append(node)

    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    output = tmp_path / "results"
    run.main(output, [str(file)], ["tiny"], [0, 1], budget=4.0, folder=tmp_path / "work", cluster=cluster.address)
    killer.join()
    assert killed
    results = [Result.from_file(output / f"tiny-mine-{seed}-4.json") for seed in (0, 1)]
    assert [len(result.curve) for result in results] == [5, 5]
    assert list(begun.iterdir()) == []
    assert all_cores_free(cluster.address)
