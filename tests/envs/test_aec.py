"""The PettingZoo AEC environments."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
import warnings
from typing import Any

import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from pettingzoo.test import api_test, render_test, seed_test

from stoneworks import envs
from stoneworks.envs.aec import BoardGameEnv
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


def test_every_game_has_an_environment_and_is_tested_here():
    assert set(SMALL_GAMES) == set(game_names())


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


def test_importing_environments_imports_neither_torch_nor_pygame():
    imports = "import sys, stoneworks.envs.aec, stoneworks.envs.single_agent"
    script = f"{imports}; print([name for name in ('torch', 'pygame') if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("name", game_names())
def test_spaces_are_the_same_objects_each_time_and_equal_for_both_agents(name):
    env = make(name)
    for space_of in (env.observation_space, env.action_space):
        assert space_of("player_0") is space_of("player_0")
        assert space_of("player_0") is not space_of("player_1")
        assert space_of("player_0") == space_of("player_1")
    assert env.observation_space("player_0")["action_mask"].dtype == np.int8
    assert str(env) == f"{name}_v0" == env.metadata["name"]


@pytest.mark.parametrize("name", game_names())
@pytest.mark.parametrize("seed", range(4))
def test_observations_of_both_agents_follow_the_rules_core(name, seed):
    env = make(name)
    env.reset()
    rng = np.random.default_rng(seed)
    state = env.game.new_initial_state()
    while not state.is_terminal():
        mover = f"player_{state.current_player()}"
        assert env.agent_selection == mover
        for player, agent in enumerate(env.possible_agents):
            observation = env.observe(agent)
            assert env.observation_space(agent).contains(observation)
            np.testing.assert_array_equal(observation["observation"], state.observation_tensor(player))
            np.testing.assert_array_equal(observation["action_mask"], state.legal_actions_mask(player))
            assert observation["action_mask"].any() == (agent == mover)
        assert env.state_space.contains(env.state())
        np.testing.assert_array_equal(env.state(), state.observation_tensor(0))
        assert env.game_state == state
        action = rng.choice(state.legal_actions())
        env.step(np.int32(action))
        state.apply_action(action)
    assert [env.rewards[agent] for agent in env.possible_agents] == state.returns()
    for agent in env.possible_agents:  # while dead agents leave, and after
        assert not env.observe(agent)["action_mask"].any()
        np.testing.assert_array_equal(env.observe(agent)["observation"], state.observation_tensor(int(agent[-1])))
        env.step(None)
    assert env.agents == []


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


def test_observations_belong_to_the_caller():
    env = make("vadus")
    env.reset()
    first = env.observe("player_0")
    kept = copy.deepcopy(first)
    env.step(int(np.flatnonzero(first["action_mask"])[3]))
    env.observe("player_0")["observation"][:] = 7
    env.observe("player_0")
    for key in kept:
        np.testing.assert_array_equal(first[key], kept[key])


@pytest.mark.parametrize("name", game_names())
def test_rewards_reach_the_right_agents_once_and_sum_to_zero(name):
    winners = set()
    samples = game_entry(name).samples
    for seed in range(30):
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
        winners.add(state.outcome().winner)
    assert {0, 1} <= winners


def test_a_player_with_two_actions_in_a_turn_stays_selected_and_gets_no_reward_between():
    env = make("vadus")
    env.reset()
    selected = []
    for _ in range(7):
        selected.append(env.agent_selection)
        observation, reward, termination, truncation, info = env.last()
        assert (reward, termination, truncation, info) == (0, False, False, {})
        env.step(int(np.flatnonzero(observation["action_mask"])[0]))
    assert selected == ["player_0", *["player_1"] * 2, *["player_0"] * 2, *["player_1"] * 2]


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


def test_a_truncated_game_sets_truncations_and_zero_rewards():
    """R9."""
    env = make("trugo", radius=3, tiles=9, max_turns=7)
    env.reset()
    play_at_random(env, 0, max_steps=6)
    while env.game_state.record["turns"] < 7:
        assert not any(env.truncations.values())
        env.step(int(np.flatnonzero(env.last()[0]["action_mask"])[0]))
    assert env.truncations == {"player_0": True, "player_1": True}
    assert env.terminations == {"player_0": False, "player_1": False}
    assert env.rewards == {"player_0": 0.0, "player_1": 0.0}
    assert play_at_random(env, 0) == {"player_0": 0.0, "player_1": 0.0}
    assert env.agents == []


def test_an_illegal_action_raises_and_changes_nothing_where_that_is_asked_for():
    env = make("vadus", size=4, illegal_action="raise")
    env.reset()
    cell = env.game.string_to_action("d4")
    env.step(cell)
    before = snapshot(env)
    with pytest.raises(IllegalActionError, match="d4"):
        env.step(cell)
    assert snapshot(env) == before
    env.step(env.game.string_to_action("d5"))
    assert not any(env.terminations.values())


@pytest.mark.parametrize("illegal_action", ["lose", "raise"])
@pytest.mark.parametrize("action", [-1, 10**6, 2.5, "d4"])
def test_an_invalid_action_always_raises_and_changes_nothing(illegal_action, action):
    env = make("vadus", size=4, illegal_action=illegal_action)
    env.reset()
    before = snapshot(env)
    with pytest.raises(IllegalActionError, match=str(action)):
        env.step(action)
    assert snapshot(env) == before


@pytest.mark.parametrize("name", game_names())
@pytest.mark.parametrize("copied", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
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


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"size": 1}, "size"),
        ({"sise": 5}, "sise"),
        ({"render_mode": "video"}, "video"),
        ({"illegal_action": "ignore"}, "ignore"),
        ({"observation": {"layout": "WHC"}}, "WHC"),
        ({"observation": {"dtype": "int64"}}, "int64"),
        ({"observation": {"dtype": "complex"}}, "complex"),
    ],
)
def test_bad_arguments_are_named(arguments, named):
    with pytest.raises(ValueError, match=named):
        make("vadus", **arguments)


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


def test_two_sizes_do_not_interfere():
    envs = [make("vadus", size=size) for size in (3, 6)]
    for env in envs:
        env.reset()
    totals = [0, 0]
    rng = np.random.default_rng(0)
    for _ in range(30):
        for index, env in enumerate(envs):
            observation, _, termination, _, _ = env.last()
            if not termination:
                assert observation["observation"].shape == load_game("vadus", size=(3, 6)[index]).observation_shape
                env.step(int(rng.choice(np.flatnonzero(observation["action_mask"]))))
                totals[index] += 1
    assert totals[1] == 30


def test_the_registry_of_pettingzoo_makes_the_environments():
    pettingzoo = pytest.importorskip("pettingzoo", minversion="1.27")
    env = pettingzoo.make("aec", "stoneworks/vadus-v0", size=3, observation={"layout": "flat"})
    env.reset()
    assert isinstance(env.unwrapped, BoardGameEnv)
    assert env.last()[0]["observation"].ndim == 1


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
        with pytest.raises(ValueError, match="agent must be player_0 or player_1, got "):
            ask(agent)
