"""LightZero: the example, and all games as its environment, in the mode against a bot."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from handed_out import assert_nothing_changes

pytest.importorskip("ding")

from ding.utils import ENV_REGISTRY

from stoneworks.integrations.lightzero import LightZeroEnv


def test_a_short_training_plays_against_random(tmp_path: Path, repository: Path) -> None:
    script = repository / "examples" / "lightzero_muzero.py"
    command = [sys.executable, str(script), "--game", "vadus(size=3)", "--frames", "50", "--folder", "run"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert "against random" in done.stdout
    assert list((tmp_path / "run" / "ckpt").iterdir())


def test_every_game_is_played_in_both_seats(game: str) -> None:
    env = ENV_REGISTRY.build("stoneworks", cfg={"game": game, "opponent": "random"})
    env.seed(1)
    for seat in (0, 1):
        observation = env.reset()
        done, num_actions = False, 0
        while not done:
            assert env.observation_space.contains(observation["observation"])
            assert observation["to_play"] == -1
            assert observation["timestep"] == num_actions
            assert observation["current_player_index"] == seat
            np.testing.assert_array_equal(np.flatnonzero(observation["action_mask"]), env.legal_actions)
            observation, reward, done, info = env.step(env.random_action())
            num_actions += 1
            assert done or reward == 0
        assert info["eval_episode_return"] == reward
        assert abs(float(reward)) <= 1


def test_nothing_handed_out_changes_later() -> None:
    env = LightZeroEnv({"game": "vadus(size=3)"})

    def play() -> Iterator[Any]:
        for _ in range(2):
            yield env.reset()
            done = False
            while not done:
                step = env.step(env.random_action())
                yield tuple(step)
                done = step.done

    assert_nothing_changes(play())
