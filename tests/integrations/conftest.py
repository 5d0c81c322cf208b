"""What the tests of libraries share: running an example as its users would."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from stoneworks.envs.rules import load_game
from stoneworks.envs.rules.games import small_games
from stoneworks.models import load_bot

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.fixture(params=small_games())
def game(request: pytest.FixtureRequest) -> str:
    """Each game on a small board, as a game string."""
    return request.param


@pytest.fixture
def example(load_module: Callable[[str, Path], ModuleType]) -> Callable[[str], ModuleType]:
    """Return a function that imports an example by its name."""

    def load(name: str) -> ModuleType:
        return load_module(f"example_{name}", EXAMPLES / f"{name}.py")

    return load


@pytest.fixture
def run_example(tmp_path: Path) -> Callable[..., str]:
    """Return a function that runs an example on Vadus 3, plays the policy it saves, and returns what it printed."""

    def run(name: str, *arguments: str) -> str:
        output = tmp_path / "policy.safetensors"
        command = [
            sys.executable,
            str(EXAMPLES / f"{name}.py"),
            "--game",
            "vadus(size=3)",
            "--output",
            str(output),
            *arguments,
        ]
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        assert "against random" in done.stdout
        game = load_game("vadus(size=3)")
        bot, state = load_bot(f"policy:{output}", game, seed=1), game.new_initial_state()
        while not state.is_terminal():
            state.apply_action(bot.step(state))
        return done.stdout

    return run
