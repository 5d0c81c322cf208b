"""The examples: a shortened training of each saves a policy that plays."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from example_modules import EXAMPLES, example
from stoneworks.envs.rules import load_game
from stoneworks.models import load_bot


def of(library: str, name: str, *arguments: str, slow: bool = True) -> Any:
    marks = [pytest.mark.needs(library), *[pytest.mark.slow] * slow]
    return pytest.param(library, name, arguments, marks=marks, id=name)


@pytest.mark.parametrize(
    ("library", "name", "arguments"),
    [
        of("sb3_contrib", "cleanrl_ppo", "--frames", "4096"),
        of("sb3_contrib", "sb3_single", "--frames", "2048"),
        of("sb3_contrib", "sb3_vector", "--frames", "4096", slow=False),
        of("sb3_contrib", "pettingzoo_aec", "--games", "64"),
        of("agilerl", "agilerl_ppo", "--frames", "4096"),
        of("pufferlib", "pufferlib_ppo", "--frames", "8192"),
        of("ray.rllib", "rllib_ppo", "--frames", "4096"),
        of("tianshou", "tianshou_ppo", "--frames", "4096"),
        of("torchrl", "torchrl_ppo", "--frames", "8192"),
        of("tree", "openspiel_dqn", "--frames", "1000"),  # OpenSpiel's DQN needs dm-tree
    ],
)
def test_a_short_training_saves_a_policy_that_plays(
    library: str,
    name: str,
    arguments: tuple[str, ...],
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    output, game = tmp_path / "policy.safetensors", load_game("vadus(size=3)")
    arguments = ("--game", str(game), "--output", str(output), *arguments)
    if library == "sb3_contrib":
        example(name).main(arguments)
    else:  # other libraries leave processes and settings behind
        script = EXAMPLES / f"{name}.py"
        subprocess.run([sys.executable, script, *arguments], cwd=tmp_path, check=True)
    assert "against random" in capfd.readouterr().out
    bot, state = load_bot(f"policy:{output}", game, seed=1), game.new_initial_state()
    while not state.is_terminal():
        state.apply_action(bot.step(state))
