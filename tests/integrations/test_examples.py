"""The examples: a shortened training of each saves a policy that plays, and they take all games."""

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
    marks = [*map(pytest.mark.needs, library.split()), *[pytest.mark.slow] * slow]
    return pytest.param(library, name, arguments, marks=marks, id=name)


@pytest.mark.needs("onnxruntime")
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
        of("pyspiel tree", "openspiel_dqn", "--frames", "1000"),  # OpenSpiel's DQN needs dm-tree
    ],
)
def test_a_short_training_saves_a_policy_that_plays(
    library: str, name: str, arguments: tuple[str, ...], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    output, game = tmp_path / "policy.onnx", load_game("vadus(size=3)")
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


@pytest.mark.needs("sb3_contrib")
@pytest.mark.parametrize("name", ["cleanrl_ppo", "sb3_single", "sb3_vector"])
def test_every_game_has_an_environment_in_the_example(name: str, game: str) -> None:
    """The tests of each kind of environment play it."""
    example(name).make_env(game).reset()


@pytest.mark.needs("sb3_contrib")
def test_every_game_is_played_by_the_aec_loop(game: str) -> None:
    import torch

    module = example("pettingzoo_aec")
    env = module.make_env(game)
    steps = module.play_game(env, torch.nn.Linear(env.game.observation_size, env.game.num_actions))
    assert {step[3] for step in steps} in ({-1.0, 1.0}, {0.0})


@pytest.mark.needs("pyspiel")
@pytest.mark.needs("tree")  # OpenSpiel's DQN needs dm-tree
def test_every_game_steps_in_openspiels_environment(game: str) -> None:
    env = example("openspiel_dqn").make_env(game)
    step = env.reset()
    while not step.last():
        player = step.observations["current_player"]
        step = env.step([step.observations["legal_actions"][player][0]])
    assert sum(step.rewards) == 0


@pytest.mark.needs("agilerl")
def test_every_game_is_played_by_agilerls_ppo(game: str) -> None:
    from agilerl.algorithms import PPO

    env = example("agilerl_ppo").make_env(game)
    agent = PPO(env.single_observation_space, env.single_action_space, num_envs=env.num_envs)
    observations, info = env.reset(seed=1)
    for _ in range(10):
        actions = agent.get_action(observations, action_mask=info["action_mask"])[0]
        assert env.action_masks()[range(env.num_envs), actions].all()
        observations, _, _, _, info = env.step(actions)
