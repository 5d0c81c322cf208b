"""Training on a local cluster of several nodes: it learns, survives lost nodes and actors, and leaves nothing behind."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")

import torch

from processes import COMMAND, PIPES, interrupt, wait_until
from stoneworks.envs.rules import State, load_game
from stoneworks.evaluation.match import play_match
from stoneworks.models import load_bot
from stoneworks.training.alphazero.config import AlphaZeroConfig
from stoneworks.training.alphazero.sources import SelfPlayError
from stoneworks.training.runs.config_files import dump_config
from stoneworks.training.runs.run import TrainingStatus, train_run
from stoneworks.training.runs.run_folder import read_metrics

from .conftest import LocalCluster, all_cores_free

MakeConfig = Callable[..., AlphaZeroConfig]
Source = Callable[..., Any]


def test_a_run_on_two_nodes_learns(cluster: LocalCluster, tiny: MakeConfig, tmp_path: Path) -> None:
    cluster.add()
    config = tiny(
        positions=6000,
        positions_per_iteration=500,
        network={"channels": 8, "blocks": 2},
        search={"simulations": 16, "capped_simulations": 8, "full_search_share": 1.0, "leaf_values": "none"},
        learner={"replay_ratio": 4.0, "learning_rate": [[0, 0.01], [1, 1e-4]], "batch_size": 64},
    )
    assert train_run(config, tmp_path).finished
    game = load_game(config.game)
    for file in (tmp_path / "positions").iterdir():
        for record in np.load(file)["state"][:20]:
            assert State.from_record(game, record).legal_actions()
    rows = read_metrics(tmp_path / "metrics.jsonl", "positions")
    assert rows[-1]["value"] < rows[0]["value"]
    bots = load_bot(str(tmp_path / "checkpoint"), game, 0), load_bot("random", game, 0)
    assert play_match(game, *bots, num_pairs=100, opening_actions=1, seed=0).score > 0.6
    assert all_cores_free(cluster.address)


def test_a_run_survives_a_killed_node_and_uses_new_ones(
    cluster: LocalCluster, tiny: MakeConfig, tmp_path: Path
) -> None:
    node = cluster.add()
    seen: list[TrainingStatus] = []
    stop = threading.Event()

    def report(status: TrainingStatus) -> None:
        seen.append(status)
        if len(seen) == 2:
            cluster.kill(node)
        elif status.message.startswith("lost node"):
            cluster.add()
        elif any("joined" in earlier.message for earlier in seen):
            rates = status.metrics.get("games_per_second_by_node", {}).values()
            if len(rates) == 2 and min(rates) > 0:
                stop.set()

    result = train_run(tiny(positions=10**7), tmp_path, on_status=report, stop=stop)  # type: ignore[arg-type]
    assert not result.finished
    messages = [status.message for status in seen if status.message]
    assert len(messages) == 2, messages
    assert "with 1 actors and their games in progress; 1 actors play on" in messages[0]
    assert "joined with 1 actors" in messages[1]
    counts = [status.metrics["nodes"] for status in seen if status.metrics]
    assert 1 in counts
    assert counts[-1] == 2
    assert seen[-1].metrics["lost_batches"] > 0
    assert all_cores_free(cluster.address)


def test_a_killed_actor_is_replaced_on_its_node(source: Source) -> None:
    import ray

    messages: list[str] = []
    started = source(messages.append)
    actor = started._actors._actors[0].handle
    os.kill(ray.get(actor.__ray_call__.remote(lambda self: os.getpid())), signal.SIGKILL)
    # Many more positions than are queued, so the actor must have played again.
    assert sum(len(game.positions) for game in started.collect(2000, threading.Event())[0]) >= 2000
    assert started._actors.restarts == 1
    assert started.status().actors == 1
    assert re.search("died.*restart 1 of at most 3", "\n".join(messages))


def test_an_actor_that_raises_is_restarted_a_few_times(source: Source) -> None:
    messages: list[str] = []
    started = source(messages.append)
    started.update({"no_such_layer": torch.zeros(3)}, 0.5)
    with pytest.raises(SelfPlayError, match=r"started again 3 times: failed: .*stem.(weight|bias)") as raised:
        started.collect(10**9, threading.Event())
    assert "in load_weights" in raised.value.__notes__[0]
    assert messages == []


def test_self_play_of_fewer_actors_pauses_when_the_queue_is_full(cluster: LocalCluster, source: Source) -> None:
    cluster.add()
    started = source(processes=1)
    assert started.status().actors == 1
    assert wait_until(lambda: started.status().outstanding_batches == 0)
    queued = started.status().queued_positions
    assert queued >= 60
    time.sleep(1)
    assert started.status().queued_positions == queued
    started.collect(queued + 1, threading.Event())


LEARNER = """
import os, signal, sys
from stoneworks.training.runs.run import train_run
from stoneworks.training.runs.config_files import load_config

def report(status):
    if status.metrics.get("iterations") == 3:
        os.kill(os.getpid(), signal.SIGKILL)

train_run(load_config(sys.argv[1], trust_names=True), sys.argv[2], on_status=report)
"""


def test_a_killed_learner_leaves_nothing_and_resumes(cluster: LocalCluster, tiny: MakeConfig, tmp_path: Path) -> None:
    config = tiny(checkpoint_seconds=1e-9)
    file = tmp_path / "config.yaml"
    file.write_text(dump_config(config), encoding="utf-8")
    done = subprocess.run([sys.executable, "-c", LEARNER, str(file), str(tmp_path / "run")], check=False)
    assert done.returncode == -signal.SIGKILL
    assert wait_until(lambda: all_cores_free(cluster.address))
    seen: list[TrainingStatus] = []
    assert train_run(config, tmp_path / "run", resume=True, on_status=seen.append).finished  # type: ignore[arg-type]
    assert seen[0].metrics["iterations"] == 3


def test_ctrl_c_saves_a_checkpoint_and_stops_actors(cluster: LocalCluster, tiny: MakeConfig, tmp_path: Path) -> None:
    file, folder = tmp_path / "config.yaml", tmp_path / "run"
    file.write_text(dump_config(tiny(positions=10**7).replace(cluster="")), encoding="utf-8")
    words = ["train", str(file), "--folder", str(folder), "--cluster", cluster.address]
    with subprocess.Popen(COMMAND + words, **PIPES) as process:
        assert wait_until(lambda: len(read_metrics(folder / "metrics.jsonl", "positions")) > 1)
        assert "games/s by node" in interrupt(process, seconds=60)[0]
    assert json.loads((folder / "checkpoint" / "checkpoint.json").read_text())["training"]["iterations"] > 1
    assert wait_until(lambda: all_cores_free(cluster.address))
