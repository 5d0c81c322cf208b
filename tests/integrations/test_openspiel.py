"""All games in OpenSpiel: registered there, and played by its algorithms."""

from __future__ import annotations

import pickle
import subprocess
import sys
from unittest.mock import Mock

import numpy as np
import pytest

pyspiel = pytest.importorskip("pyspiel")

from open_spiel.python import games, rl_environment  # noqa: E402, F401
from open_spiel.python.algorithms import (  # noqa: E402
    best_response,
    cfr,
    evaluate_bots,
    expected_game_score,
    exploitability,
    get_all_states,
    mcts,
)
from open_spiel.python.policy import UniformRandomPolicy  # noqa: E402

from stoneworks.envs.rules import RegistrationError, UnknownGameError, game_names, load_game  # noqa: E402
from stoneworks.envs.rules.game_registry import GAMES  # noqa: E402
from stoneworks.evaluation.solved_accuracy.measure import best_response_value  # noqa: E402
from stoneworks.integrations.openspiel import register_games  # noqa: E402
from stoneworks.models import load_bot  # noqa: E402

SMALL = ["vadus(size=2)", "laido(pie_rule=False,size=3)", "taugo(size=3)", "taigo(handicap=1:0,radius=3)"]
SMALL += ["trugo(radius=2,tiles=5)"]


@pytest.fixture(autouse=True)
def registered() -> None:
    """Register all games with OpenSpiel."""
    register_games()


def test_every_game_is_registered_once_and_describes_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    names = register_games()
    assert names == tuple(f"stoneworks_{name}" for name in game_names())
    with monkeypatch.context() as patch:  # a game of a broken package is left out
        patch.setattr(GAMES, "_found", lambda: {"broken": None})
        patch.setattr(GAMES, "_load", Mock(side_effect=RegistrationError("broken")))
        assert register_games() == names
    with pytest.raises(UnknownGameError, match=r"unknown game 'vadus\(size=4\)'"):
        register_games(["vadus(size=4)"])
    assert set(names) <= set(pyspiel.registered_names())
    game_type = pyspiel.load_game("stoneworks_vadus").get_type()
    found = (game_type.short_name, game_type.reward_model, game_type.dynamics, game_type.utility)
    kinds = pyspiel.GameType
    assert found == ("stoneworks_vadus", kinds.RewardModel.TERMINAL, kinds.Dynamics.SEQUENTIAL, kinds.Utility.ZERO_SUM)


@pytest.mark.parametrize("game_string", SMALL)
def test_a_registered_game_is_the_game_and_passes_open_spiels_own_test(game_string: str) -> None:
    spiel_game = pyspiel.load_game(f"stoneworks_{game_string}")
    pyspiel.random_sim_test(spiel_game, num_sims=3, serialize=False, verbose=False)
    name, _, options = game_string.partition("(")
    expected = load_game(f"{name}({options}".replace("1:0", "(1,0)"))
    assert spiel_game.rules == expected
    assert spiel_game.num_distinct_actions() == expected.num_actions
    assert spiel_game.max_game_length() == expected.max_game_length()
    assert str(pickle.loads(pickle.dumps(spiel_game))) == str(spiel_game)
    spiel_state, state = spiel_game.new_initial_state(), expected.new_initial_state()
    observer = spiel_game.make_py_observer()
    generator = np.random.default_rng(1)
    while not state.is_terminal():
        assert spiel_state.current_player() == state.current_player()
        assert spiel_state.legal_actions() == state.legal_actions()
        for player in (0, 1):
            observer.set_from(spiel_state, player)
            np.testing.assert_array_equal(observer.dict["observation"], state.observation_tensor(player))
        action = int(generator.choice(state.legal_actions()))
        assert spiel_state.action_to_string(action) == state.action_to_string(action)
        copy = spiel_state.clone()
        spiel_state.apply_action(action)
        assert str(copy) == str(state)
        state.apply_action(action)
        assert str(pickle.loads(pickle.dumps(spiel_state))) == str(state)
    assert spiel_state.is_terminal()
    assert spiel_state.returns() == state.returns()


def test_a_pickled_state_is_loaded_in_another_process() -> None:
    state = pyspiel.load_game("stoneworks_taigo(handicap=1:0)").new_initial_state()
    state.apply_action(state.legal_actions()[0])
    load = "import pickle, sys; print(pickle.load(sys.stdin.buffer), end='')"
    loaded = subprocess.run([sys.executable, "-c", load], input=pickle.dumps(state), stdout=subprocess.PIPE, check=True)
    assert loaded.stdout.decode() == str(state)


def test_a_position_is_no_argument_of_the_first_state() -> None:
    with pytest.raises(ValueError, match="state must be None, got 'xx'"):
        pyspiel.load_game("stoneworks_vadus").new_initial_state("xx")


def test_python_algorithms_run() -> None:
    smallest = pyspiel.load_game("stoneworks_trugo(radius=1,tiles=3)")
    policy = UniformRandomPolicy(smallest)
    value = expected_game_score.policy_value(smallest.new_initial_state(), [policy, policy])
    assert value[0] == pytest.approx(-value[1])
    game = pyspiel.load_game("stoneworks_vadus(size=2)")
    random = np.random.RandomState(1)
    bot = mcts.MCTSBot(game, 1.4, 20, mcts.RandomRolloutEvaluator(1, random), random_state=random)
    state = game.new_initial_state()
    state.apply_action(bot.step(state))
    random_bot = pyspiel.make_uniform_random_bot(1, 1)
    returns = evaluate_bots.evaluate_bots(game.new_initial_state(), [bot, random_bot], random)
    assert sum(returns) == 0
    states = get_all_states.get_all_states(game, depth_limit=2, include_terminals=True, include_chance_states=False)
    assert len(states) > 20


def test_counterfactual_regret_minimization_solves_a_small_board() -> None:
    game = pyspiel.load_game("stoneworks_trugo(radius=1,tiles=3)")
    uniform = UniformRandomPolicy(game)
    assert exploitability.nash_conv(game, uniform) == pytest.approx(0.4)
    assert exploitability.exploitability(game, uniform) == pytest.approx(0.2)
    solver = cfr.CFRPlusSolver(game)
    for _ in range(10):
        solver.evaluate_and_update_policy()
    assert exploitability.nash_conv(game, solver.average_policy()) < 0.01


@pytest.mark.parametrize("name", ["trugo(radius=1,tiles=3)", "taigo(radius=1)"])
@pytest.mark.parametrize("player", [0, 1])
def test_best_responses_have_the_values_that_open_spiel_finds(name: str, player: int) -> None:
    game, spiel_game = load_game(name), pyspiel.load_game(f"stoneworks_{name}")
    theirs = best_response.BestResponsePolicy(spiel_game, player, UniformRandomPolicy(spiel_game))
    expected = theirs.value(spiel_game.new_initial_state())
    assert best_response_value(load_bot("random", game, 0), game, player) == pytest.approx(expected)


def test_observations_of_the_rl_environment_are_the_planes() -> None:
    env = rl_environment.Environment("stoneworks_vadus(size=2)")
    assert env.observation_spec()["info_state"] == (54,)
    for _ in range(2):
        step, state = env.reset(), load_game("vadus(size=2)").new_initial_state()
        while not step.last():
            player, planes = step.observations["current_player"], step.observations["info_state"]
            assert player == state.current_player()
            np.testing.assert_array_equal(planes[player], state.observation_tensor(player).ravel())
            action = step.observations["legal_actions"][player][0]
            step = env.step([action])
            state.apply_action(action)
        assert step.rewards == state.returns()
