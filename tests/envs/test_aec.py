"""The PettingZoo AEC environments."""

from __future__ import annotations

import copy
import pickle
import warnings
from typing import Any

import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from pettingzoo.test import api_test, render_test, seed_test

from game_play import COPIES
from stoneworks import envs
from stoneworks.envs.rules import IllegalActionError, game_names, load_game
from stoneworks.envs.rules.games import game_entry, small_games

SMALL_GAMES = {game.partition("(")[0]: load_game(game).options for game in small_games()}


def make(name, **arguments):
    return getattr(envs, f"{name}_v{load_game(name).version}").env(**{**SMALL_GAMES[name], **arguments})


def play_at_random(env, seed, max_steps=10**9):
    """Play until the end or for so many steps; return the agents' summed rewards as ``last()`` tells them."""
    rng = np.random.default_rng(seed)
    totals = dict.fromkeys(env.possible_agents, 0.0)
    for _, agent in zip(range(max_steps), env.agent_iter(), strict=False):
        observation, reward, termination, truncation, _ = env.last()
        totals[agent] += reward
        over = termination or truncation
        env.step(None if over else rng.choice(np.flatnonzero(observation["action_mask"])))
    return totals


def snapshot(env):
    flags = (env.rewards, env._cumulative_rewards, env.terminations, env.truncations, env.infos)
    return env.game_state, env.agents.copy(), env.agent_selection, copy.deepcopy(flags)


@pytest.mark.parametrize("name", game_names())
@pytest.mark.parametrize(
    "arguments", [{}, {"observation": {"layout": "HWC"}}, {"observation": {"layout": "flat", "dtype": "float16"}}]
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
def test_pettingzoos_seed_test_passes(name):
    seed_test(lambda: make(name), num_cycles=100)


@pytest.mark.parametrize("name", game_names())
def test_pettingzoos_render_test_passes(name, monkeypatch):
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    monkeypatch.setattr("stoneworks.envs.rendering.FRAMES_PER_SECOND", 0)  # 0: pygame does not wait
    render_test(
        lambda render_mode: make(name, render_mode=render_mode),
        custom_tests={"svg": lambda result: result.startswith("<svg")},
    )


@pytest.mark.parametrize("name", game_names())
def test_spaces_are_the_same_objects_each_time_and_equal_for_both_agents(name):
    env = make(name)
    for space_of in (env.observation_space, env.action_space):
        assert space_of("player_0") is space_of("player_0")
        assert space_of("player_0") is not space_of("player_1")
        assert space_of("player_0") == space_of("player_1")
    assert env.observation_space("player_0")["action_mask"].dtype == np.int8
    assert str(env) == f"{name}_v0" == env.metadata["name"]


@pytest.mark.parametrize(("layout", "axes"), [("CHW", (0, 1, 2)), ("HWC", (1, 2, 0))])
def test_layouts_hold_the_same_planes(layout, axes):
    env = make("vadus", observation={"layout": layout, "dtype": "uint8"})
    env.reset()
    play_at_random(env, 0, max_steps=9)
    observation = env.observe("player_1")["observation"]
    expected = env.game_state.observation_tensor(1)
    assert observation.dtype == np.uint8
    np.testing.assert_array_equal(observation, expected.transpose(axes))
    flat = make("vadus", observation={"layout": "flat"})
    flat.reset()
    play_at_random(flat, 0, max_steps=9)
    np.testing.assert_array_equal(flat.observe("player_1")["observation"], expected.ravel())


@pytest.mark.parametrize("name", game_names())
def test_rewards_reach_the_right_agents_once_and_sum_to_zero(name):
    """In truncated games of Trugo (R9) too."""
    winners, truncated = set(), False
    samples = [*game_entry(name).samples, *["trugo(max_turns=7,radius=3,tiles=9)"] * (name == "trugo")]
    for seed in range(12):
        env = make(name, **load_game(samples[seed % len(samples)]).options)
        env.reset()
        rng = np.random.default_rng(seed)
        state = env.game.new_initial_state()
        while not state.is_terminal():
            action = int(rng.choice(state.legal_actions()))
            state.apply_action(action)
            env.step(action)
        totals = dict.fromkeys(env.possible_agents, 0.0)
        for agent in env.agent_iter():
            _, reward, termination, truncation, _ = env.last()
            assert (termination, truncation) == (not state.is_truncated(), state.is_truncated())
            totals[agent] += reward
            env.step(None)
        assert list(totals.values()) == state.returns()
        assert env.agents == []
        winners.add(state.outcome().winner)
        truncated |= state.is_truncated()
    assert {0, 1} <= winners
    assert truncated == (name == "trugo")


@pytest.mark.parametrize("name", game_names())
def test_an_illegal_action_loses_and_the_result_is_zero_sum(name):
    env = make(name)
    env.reset()
    state = env.game.new_initial_state()
    action = next(action for action in state.legal_actions() if not state.child(action).legal_actions_mask()[action])
    assert state.child(action).current_player() == 1, "the opponent plays it again, which is illegal"
    env.step(action)
    env.step(action)
    assert env.rewards == {"player_0": 1.0, "player_1": -1.0}
    assert env.terminations == {"player_0": True, "player_1": True}
    assert env.truncations == {"player_0": False, "player_1": False}
    assert env.infos == {"player_0": {}, "player_1": {}}
    seen = {}
    for agent in env.agent_iter():
        observation, reward, *_ = env.last()
        assert not observation["action_mask"].any()
        seen[agent] = reward
        env.step(None)
    assert seen == {"player_0": 1.0, "player_1": -1.0}


@pytest.mark.parametrize("illegal_action", ["lose", "raise"])
@pytest.mark.parametrize("action", [-1, 10**6, 2.5, "d4"])
def test_an_invalid_action_always_raises_and_changes_nothing(illegal_action, action):
    env = make("vadus", size=4, illegal_action=illegal_action)
    env.reset()
    before = snapshot(env)
    with pytest.raises(IllegalActionError, match=str(action)):
        env.step(action)
    assert snapshot(env) == before


@pytest.mark.parametrize("name", ["vadus", "laido"])
@pytest.mark.parametrize("copied", COPIES)
@pytest.mark.parametrize("steps", [0, 11, 10**9])
def test_copies_are_equal_and_independent_at_any_time(name, copied, steps):
    env = make(name)
    env.reset()
    play_at_random(env, 1, max_steps=steps)
    twin = copied(env)
    assert snapshot(twin) == snapshot(env)
    before = env.game_state
    if env.agents:
        assert play_at_random(twin, 2) in (
            {"player_0": 1, "player_1": -1},
            {"player_0": -1, "player_1": 1},
            {"player_0": 0, "player_1": 0},
        )
        assert env.game_state == before
        assert twin.game_state != before
        copy_of_moves = make(name)
        copy_of_moves.reset()
        play_at_random(copy_of_moves, 1, max_steps=steps)
        assert play_at_random(copy_of_moves, 2) == play_at_random(env, 2)


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


def test_rendering_without_a_mode_warns():
    env = make("vadus", size=4)
    env.reset()
    with pytest.warns(UserWarning, match="render_mode"):
        assert env.render() is None


def test_calls_out_of_order_are_errors_with_a_remedy():
    env = make("vadus", size=4)
    for call in (lambda: env.step(0), lambda: env.observe("player_0"), env.state, env.render, lambda: env.game_state):
        with pytest.raises(ResetNeeded, match="reset"):
            call()
    env.reset()
    play_at_random(env, 0)
    with pytest.raises(ResetNeeded, match="reset"):
        env.step(0)
    env.reset(seed=3, options={"options": 1})
    env.step(24)
    env.step(24)
    with pytest.raises(ValueError, match="None"):
        env.step(0)


def test_env_and_raw_env_make_the_same():
    from stoneworks.envs import vadus_v0

    assert vadus_v0 is envs.vadus_v0
    assert vadus_v0.env is vadus_v0.raw_env
    assert str(pickle.loads(pickle.dumps(vadus_v0.env))(size=3).game) == "vadus(size=3)"


@pytest.mark.parametrize("agent", ["nobody", "", None, 0, ["player_0"]], ids=repr)
def test_an_unknown_agent_is_an_error_that_names_the_agents(agent: Any) -> None:
    env = envs.vadus_v0.env(size=2)
    env.reset()
    for ask in (env.observe, env.observation_space, env.action_space):
        with pytest.raises(ValueError, match="agent must be one of player_0, player_1, got "):
            ask(agent)
