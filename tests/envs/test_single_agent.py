"""The Gymnasium environments: one learner, the opponent inside."""

import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ResetNeeded

from stoneworks.envs.rules import IllegalActionError, game_names, load_game
from stoneworks.envs.rules.game_registry import small_games
from stoneworks.envs.single_agent import SingleAgentEnv
from stoneworks.models import Bot, load_bot

#: Games of a few moves.
SMALL_GAMES = {game.partition("(")[0]: game for game in small_games()}


def play(env, seed, games=1, choose=None):
    """Play so many games at random; return rewards, seats and results for the learner."""
    rng = np.random.default_rng(seed)
    log = []
    for game in range(games):
        observation, info = env.reset(seed=seed if game == 0 else None)
        rewards = []
        over = False
        while not over:
            actions = np.flatnonzero(info["action_mask"])
            np.testing.assert_array_equal(env.unwrapped.action_masks(), info["action_mask"].astype(bool))
            action = rng.choice(actions) if choose is None else choose(env.unwrapped.game_state)
            observation, reward, terminated, truncated, info = env.step(action)
            assert env.observation_space.contains(observation)
            rewards.append(reward)
            over = terminated or truncated
        assert not info["action_mask"].any()
        player = env.unwrapped.learner_player
        end = env.unwrapped.game_state
        log.append((rewards, player, end.returns()[player], end.history()))
    return log


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        *((name, {"opponent": "random"}) for name in game_names()),
        ("vadus", {"opponent": "greedy", "observation": {"layout": "flat", "with_mask": True}}),
    ],
)
@pytest.mark.parametrize("library", ["gymnasium.utils", "stable_baselines3.common"])
def test_the_checks_of_other_libraries_pass(name, arguments, library):
    checker = pytest.importorskip(f"{library}.env_checker")
    options = load_game(SMALL_GAMES[name]).options
    env = gymnasium.make(f"stoneworks.envs:stoneworks/{name.capitalize()}-v0", **options, **arguments)
    if library == "gymnasium.utils":
        checker.check_env(env.unwrapped)
        return
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        checker.check_env(env.unwrapped)
    advice = (  # of SB3's checker for images of 0 to 255, which our planes are not
        "is an image but its `dtype` is (float32)",
        "is an image but the upper and lower bounds are not in [0, 255]",
        "Treating image space as channels-last",
        "The minimal resolution for an image",
    )
    messages = [str(warning.message) for warning in caught]
    assert [message for message in messages if not any(map(message.__contains__, advice))] == []


def test_seats_alternate_and_begin_anew_with_a_seed():
    env = SingleAgentEnv("vadus(size=3)")
    assert [seat for _, seat, *_ in play(env, 4, games=5)] == [0, 1, 0, 1, 0]
    assert [seat for _, seat, *_ in play(env, 4, games=2)] == [0, 1]
    for fixed in (0, 1):
        assert [seat for _, seat, *_ in play(SingleAgentEnv("vadus(size=3)", seat=fixed), 4, games=3)] == [fixed] * 3
    drawn = [seat for _, seat, *_ in play(SingleAgentEnv("vadus(size=2)", seat="random"), 4, games=40)]
    assert 8 < sum(drawn) < 32


def test_the_opponent_moves_first_in_seat_1_and_either_side_may_act_twice_in_a_turn():
    class Opponent:
        restarts = 0

        def restart(self):
            self.restarts += 1
            self.asked = []

        def step(self, state):
            self.asked.append((state.current_player(), state.move_number()))
            return state.legal_actions()[0]

    opponent = Opponent()
    env = SingleAgentEnv("vadus(size=3)", opponent=opponent, seat=1)
    _, info = env.reset()
    assert opponent.asked == [(0, 0)]
    assert info["action_mask"].sum() == 19  # 18 empty points and the pass
    env.step(int(np.flatnonzero(info["action_mask"])[0]))
    assert opponent.asked == [(0, 0)]  # the learner's second stone is still to come
    env.step(int(np.flatnonzero(env.action_masks())[0]))
    assert opponent.asked == [(0, 0), (0, 3), (0, 4)]
    env.reset()
    assert opponent.restarts == 2


@pytest.mark.parametrize("name", game_names())
def test_rewards_are_the_learners_in_both_seats(name):
    games = play(SingleAgentEnv(SMALL_GAMES[name]), 0, games=20)
    greedy = load_bot("greedy", SMALL_GAMES[name], seed=0)
    against_random = play(SingleAgentEnv(SMALL_GAMES[name]), 0, games=20, choose=greedy.step)
    for rewards, _, result, _ in games + against_random:
        assert set(rewards[:-1]) <= {0.0}
        assert rewards[-1] == result
    for seat in (0, 1):
        of_greedy = [rewards[-1] for rewards, learner, *_ in against_random if learner == seat]
        assert sum(of_greedy) >= 0.5 * len(of_greedy)


@pytest.mark.parametrize("name", game_names())
def test_the_same_seed_gives_the_same_games(name):
    for opponent in ("random", "greedy"):
        logs = [play(SingleAgentEnv(SMALL_GAMES[name], opponent=opponent), 7, games=4) for _ in range(2)]
        assert logs[0] == logs[1]


def test_an_illegal_action_loses_or_raises_and_a_truncated_game_is_neither_won_nor_lost():
    env = SingleAgentEnv("vadus(size=3)", seat=0)
    for call in (lambda: env.step(0), env.render, lambda: env.game_state):
        with pytest.raises(ResetNeeded, match="reset"):
            call()
    env.reset(seed=0)
    pass_action = env.game.string_to_action("pass")
    _, reward, terminated, truncated, info = env.step(pass_action)  # V1
    assert (reward, terminated, truncated) == (-1.0, True, False)
    assert not info["action_mask"].any()
    with pytest.raises(ResetNeeded):
        env.step(12)
    strict = SingleAgentEnv("vadus(size=3)", seat=0, illegal_action="raise")
    strict.reset(seed=0)
    before = strict.game_state
    with pytest.raises(IllegalActionError, match="pass"):
        strict.step(pass_action)
    assert strict.game_state == before
    for env in (strict, SingleAgentEnv("vadus(size=3)", seat=0)):
        env.reset(seed=0)
        with pytest.raises(IllegalActionError, match="26"):
            env.step(26)
    # R9.
    env = SingleAgentEnv("trugo(max_turns=3,radius=2,tiles=7)", seat=0)
    env.reset(seed=0)
    assert env.step(int(np.flatnonzero(env.action_masks())[0]))[1:4] == (0.0, False, False)
    _, reward, terminated, truncated, info = env.step(int(np.flatnonzero(env.action_masks())[0]))
    assert (reward, terminated, truncated) == (0.0, False, True)
    assert not info["action_mask"].any()


def test_opponents_are_exchanged_between_games_and_may_be_names_bots_or_functions():
    env = SingleAgentEnv("vadus(size=3)", opponent="random", seat=1)
    env.reset(seed=0)
    first_cell = min(cell for cell in range(25) if env.game.grid.on_board[cell])
    env.set_opponent(lambda state: state.legal_actions()[0])
    env.reset()
    assert env.game_state.history() == [first_cell]
    env.set_opponent(load_bot("greedy", env.game, seed=0))
    env.reset()
    assert len(env.game_state.history()) == 1
    for unknown in ("grandmaster", 42, Bot):
        with pytest.raises(ValueError, match=str(unknown)):
            env.set_opponent(unknown)


def test_closing_the_environment_closes_the_current_opponent_if_it_was_given_by_name(monkeypatch: pytest.MonkeyPatch):
    closed = []
    monkeypatch.setattr(Bot, "close", lambda bot: closed.append(bot))
    env = SingleAgentEnv("vadus(size=2)", opponent="random")
    given = ("random", load_bot("random", env.game), lambda state: state.legal_actions()[0], "self")
    for current in given:
        for following in given:
            closed.clear()
            env.set_opponent(current)
            assert len(closed) == (current == "random"), "it was loaded for a check"
            env.set_policy(lambda _, masks: masks.argmax(axis=1))
            env.reset()
            closed.clear()
            env.reset(seed=1)
            assert len(closed) == (current == "random"), "it is replaced"
            env.set_opponent(following)
            closed.clear()
            env.close()
            assert len(closed) == (current == "random")
