"""The PettingZoo AEC environments."""

from __future__ import annotations

import copy
import pickle
import warnings
from typing import Any

import numpy as np
import pytest
from pettingzoo.test import api_test, render_test, seed_test

from stoneworks import envs
from stoneworks.envs.rules import game_names, load_game
from stoneworks.envs.rules.game_registry import small_games

SMALL_GAMES = {game.partition("(")[0]: load_game(game).options for game in small_games()}


def make(name, **arguments):
    return getattr(envs, f"{name}_v{load_game(name).version}").env(**{**SMALL_GAMES[name], **arguments})


OBSERVATIONS = ({"layout": "HWC"}, {"layout": "flat", "dtype": "float16"})


@pytest.mark.parametrize(
    ("name", "arguments"),
    [*((name, {}) for name in game_names()), *(("vadus", {"observation": one}) for one in OBSERVATIONS)],
)
def test_pettingzoos_api_test_passes_with_exactly_the_warnings_that_third_parties_get(name, arguments):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        api_test(make(name, **arguments), num_cycles=200)
    assert {str(warning.message).split(". ")[0] for warning in caught} == {
        "Observation is not a NumPy array",
        "Observation space for each agent probably should be gymnasium.spaces.box or gymnasium.spaces.discrete",
    }


@pytest.mark.parametrize("name", game_names())
def test_pettingzoos_seed_and_render_tests_pass(name, monkeypatch):
    seed_test(lambda: make(name), num_cycles=100)
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    monkeypatch.setattr("stoneworks.envs.rendering.FRAMES_PER_SECOND", 0)  # 0: pygame does not wait
    render_test(
        lambda render_mode: make(name, render_mode=render_mode),
        custom_tests={"svg": lambda result: result.startswith("<svg")},
    )


@pytest.mark.parametrize("name", game_names())
def test_spaces_are_the_same_objects_each_time_and_env_and_raw_env_make_the_same(name):
    env = make(name)
    for space_of in (env.observation_space, env.action_space):
        assert space_of("player_0") is space_of("player_0")
        assert space_of("player_0") is not space_of("player_1")
        assert space_of("player_0") == space_of("player_1")
    assert env.observation_space("player_0")["action_mask"].dtype == np.int8
    assert str(env) == f"{name}_v0" == env.metadata["name"]
    from stoneworks.envs import vadus_v0

    assert vadus_v0 is envs.vadus_v0
    assert vadus_v0.env is vadus_v0.raw_env
    assert str(pickle.loads(pickle.dumps(vadus_v0.env))(size=3).game) == "vadus(size=3)"


def test_a_copy_of_an_environment_that_shows_a_window_opens_its_own(monkeypatch):
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    monkeypatch.setattr("stoneworks.envs.rendering.FRAMES_PER_SECOND", 0)
    env = make("vadus", render_mode="human")
    env.reset()
    twin = copy.deepcopy(env)
    twin.step(24)
    assert twin._renderer._window is not env._renderer._window
    twin.close()
    assert env._renderer._window is not None, "closing the copy leaves the window of the original open"
    env.step(24)
    env.close()
    assert env._renderer._window is None
    env.close()


@pytest.mark.parametrize("mode", ["ansi", "svg", "rgb_array"])
def test_rendering_shows_the_position(mode):
    env = make("laido", size=4, render_mode=mode)
    env.reset()
    empty = env.render()
    env.step(24)
    one_stone = env.render()
    assert np.shape(one_stone) == np.shape(empty)
    assert not np.array_equal(one_stone, empty)
    if mode == "rgb_array":
        assert one_stone.dtype == np.uint8
    if mode == "ansi":
        assert one_stone == str(env.game_state)
    without = make("vadus", size=4)
    without.reset()
    with pytest.warns(UserWarning, match="render_mode"):
        assert without.render() is None


@pytest.mark.parametrize("agent", ["nobody", "", None, 0, ["player_0"]], ids=repr)
def test_an_unknown_agent_is_an_error_that_names_the_agents(agent: Any) -> None:
    env = envs.vadus_v0.env(size=2)
    env.reset()
    for ask in (env.observe, env.observation_space, env.action_space):
        with pytest.raises(ValueError, match="agent must be one of player_0, player_1, got "):
            ask(agent)
