"""A network in a process forked from one in which it has run."""

from __future__ import annotations

import subprocess
import sys

import pytest

CODE = """
import os, signal, warnings
warnings.simplefilter("ignore")
import torch
from stoneworks.envs.rules import load_game
from stoneworks.models.network import Architecture, make_network
torch.set_num_threads(4)
game = load_game("vadus(size=5)")
network = make_network(Architecture.of_game(game, channels=64, blocks=2))
planes = torch.ones(256, *game.observation_shape)
network(planes)
process = os.fork()
if process == 0:
    signal.alarm(600)
    with torch.no_grad():
        network(planes)
    os._exit(0)
print(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs fork")
def test_a_network_runs_after_a_fork() -> None:
    pytest.importorskip("torch")
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "0", done.stderr
