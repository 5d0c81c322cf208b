"""The algorithm of examples/imitation.py: trained by the command line, and its network learns from the teacher."""

from __future__ import annotations

import importlib
import math
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

pytest.importorskip("torch")

import torch
from torch.nn import functional

import stoneworks
from processes import Run
from stoneworks import load_bot, load_game
from stoneworks.models.architecture import Architecture
from stoneworks.models.checkpoint import load_checkpoint
from stoneworks.models.network import make_network


@pytest.fixture
def imitation(repository: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(repository / "examples")
    monkeypatch.delitem(sys.modules, "imitation", raising=False)
    return importlib.import_module("imitation")


def test_a_resumed_run_plays_other_games(imitation: ModuleType, tmp_path: Path) -> None:
    config = imitation.ImitationConfig(game="vadus(size=3)", games=30, teacher="random")
    network = make_network(Architecture.of_game(load_game(config.game), config.network), seed=0)
    first, later = (imitation.Imitation(config, network, tmp_path) for _ in range(2))
    later.done = 1
    later.load(SimpleNamespace(network=network), first.state()[1])
    actions = [imitation.play(one.game, one.teacher)[1].tolist() for one in (first, later)]
    assert actions[0] != actions[1]


def test_it_is_trained(imitation: ModuleType, tmp_path: Path, run_command: Run) -> None:
    config = tmp_path / "run.yaml"
    config.write_text(
        "algorithm: imitation\ngame: vadus(size=3)\ngames: 30\nteacher: greedy\nnetwork: {channels: 16, blocks: 1}\n",
        encoding="utf-8",
    )
    code, out, err = run_command("train", str(config), "--folder", str(tmp_path / "run"))
    assert code == 0, err
    assert "30 games" in out
    assert "by imitation" in (tmp_path / "run" / "report.md").read_text(encoding="utf-8")
    network = load_checkpoint(tmp_path / "run" / "checkpoint").network
    game = load_game("vadus(size=3)")
    teacher = load_bot("greedy", game, seed=5)
    planes, actions, _ = (
        torch.cat(of_games) for of_games in zip(*(imitation.play(game, teacher) for _ in range(10)), strict=True)
    )
    with torch.no_grad():
        loss = functional.cross_entropy(network(planes)[0], actions)
    assert loss < 0.85 * math.log(game.num_actions), "it foresees the teacher better than chance"
    start = game.new_initial_state()
    assert load_bot(str(tmp_path / "run" / "checkpoint"), game).step(start) in start.legal_actions()

    resumed = stoneworks.train(config, tmp_path / "run", resume=True, games=32)
    assert (resumed.done, resumed.finished) == (32, True)
    code, _, err = run_command("train", str(config), "--set", "teacher=nobody", "--folder", str(tmp_path / "other"))
    assert code == 2
    assert "nobody" in err
    config.write_text(config.read_text().replace("greedy", "exec:true"))
    code, _, err = run_command("train", str(config), "--folder", str(tmp_path / "other"))
    assert (code, "starts a program" in err) == (2, True)
