"""Arenas on a local cluster: the same games as in one process, whatever happens to the nodes."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from processes import COMMAND, PIPES, interrupt, wait_until
from stoneworks.evaluation import ArenaPlayError, ArenaResult, Sprt, load_arena, play_arena
from stoneworks.evaluation.player_rating import RateSettings, rate
from stoneworks.evaluation.settings import ArenaSettings, round_robin

from .conftest import LocalCluster, all_cores_free


def games_in(folder: Path) -> dict[str, bytes]:
    return {file.relative_to(folder).as_posix(): file.read_bytes() for file in sorted(folder.rglob("*.jsonl"))}


def settings_of(**changes: object) -> ArenaSettings:
    values = {"pairings": (("random", "greedy"),), "num_pairs": 6, "chunk_pairs": 2, "seed": 3, **changes}
    return ArenaSettings(game="vadus(size=3)", **values)  # type: ignore[arg-type]


def play_both(cluster: LocalCluster, settings: ArenaSettings, folder: Path, **options: Any) -> ArenaResult:
    """Play an arena on the cluster and in one process; the files of games must be the same."""
    result = play_arena(settings, folder / "cluster", cluster=cluster.address, **options)
    play_arena(settings, folder / "one")
    assert games_in(folder / "one") == games_in(folder / "cluster")
    return result


def test_a_sequential_test_ends_with_the_same_games(cluster: LocalCluster, tmp_path: Path) -> None:
    settings = settings_of(pairings=(("mcts:20", "random"),), num_pairs=200, sprt=Sprt.from_text("elo0=0,elo1=100"))
    result = play_both(cluster, settings, tmp_path)
    assert result.num_pairs < 200
    assert result.decision is load_arena(tmp_path / "one").decision


def test_a_rating_is_the_same(cluster: LocalCluster, tmp_path: Path) -> None:
    settings = RateSettings(num_pairs=2, num_anchors=2, scout_pairs=1, seed=1)
    one = rate("random", "vadus(size=5)", tmp_path / "one", settings)
    other = rate("random", "vadus(size=5)", tmp_path / "cluster", settings, cluster=cluster.address)
    assert (one.elo, one.error) == (other.elo, other.error)
    assert games_in(tmp_path / "one") == games_in(tmp_path / "cluster")


def test_chunks_of_a_killed_node_are_played_again(cluster: LocalCluster, tmp_path: Path) -> None:
    node = cluster.add()
    killed = []

    def kill(result: ArenaResult) -> None:
        if result.num_pairs >= 10 and not killed:
            killed.append(node)
            cluster.kill(node)

    pairings = round_robin(("mcts:2000", "greedy", "random"))
    play_both(cluster, settings_of(pairings=pairings, num_pairs=15, chunk_pairs=1), tmp_path, progress=kill)
    assert killed


def test_a_player_that_fails_is_named(cluster: LocalCluster, tmp_path: Path) -> None:
    settings = settings_of(pairings=(("exec:false", "random"),))
    with pytest.raises((ArenaPlayError, ValueError), match="false"):
        play_arena(settings, tmp_path, cluster=cluster.address)
    with pytest.raises(ValueError, match="bot names on a cluster"):
        play_arena(settings_of(), tmp_path, {"random": lambda game, seed: None}, cluster="auto")  # type: ignore[arg-type, return-value]


def test_the_command_plays_on_the_cluster_and_ctrl_c_stops_it(cluster: LocalCluster, tmp_path: Path) -> None:
    words = ["arena", "mcts:1000", "greedy", "--game", "vadus(size=5)", "--pairs", "500", "--chunk-pairs", "1"]
    words += ["--folder", str(tmp_path / "arena"), "--cluster", cluster.address]
    with subprocess.Popen(COMMAND + words, **PIPES) as process:
        assert wait_until(lambda: len(games_in(tmp_path)) > 1)
        interrupt(process, seconds=60)
    assert wait_until(lambda: all_cores_free(cluster.address))
    number = len(games_in(tmp_path))
    time.sleep(1)
    assert len(games_in(tmp_path)) == number
