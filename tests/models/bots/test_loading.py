"""What every bot promises, the random bot, and making bots by name."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from stoneworks.envs.rules import Batch, State, load_game
from stoneworks.models import Bot, UnknownBotError, load_bot

NAMES = ("random", "greedy", "mcts:30", "alphabeta:2")


def game_of(bots: tuple[Bot, Bot], game: str) -> list[int]:
    state = load_game(game).new_initial_state()
    while not state.is_terminal():
        state.apply_action(bots[state.current_player()].step(state))
    return state.history()


def finished_state() -> State:
    return load_game("vadus(size=2)").deserialize_state("b2\npass\npass")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("game", ["vadus(size=3)", "laido(size=3)", "laido(pie_rule=False,size=2)"])
def test_a_bot_plays_both_players_to_the_end_of_a_game(name: str, game: str) -> None:
    assert game_of((load_bot(name, game, seed=1), load_bot(name, game, seed=2)), game)


@pytest.mark.parametrize("name", NAMES)
def test_equal_seeds_play_the_same_game_and_other_seeds_another(name: str) -> None:
    game = "vadus(size=4)"
    games = [
        game_of((load_bot(name, game, seed=a), load_bot(name, game, seed=b)), game) for a, b in [(1, 2), (1, 2), (3, 4)]
    ]
    assert games[0] == games[1]
    assert games[0] != games[2]


@pytest.mark.parametrize("name", NAMES)
def test_a_batch_plays_as_the_seed_says(name: str) -> None:
    game = load_game("laido(size=3)")
    batch = Batch(game, 6)
    rows = np.array([0, 2, 5])
    answers = [load_bot(name, game, seed=seed).step_batch(batch, rows) for seed in (8, 8)]
    assert answers[0].tolist() == answers[1].tolist()
    assert answers[0].dtype == np.int64
    assert batch.action_masks[rows, answers[0]].all()


@pytest.mark.parametrize("name", NAMES)
def test_the_policy_is_a_distribution_over_legal_actions_and_the_action_is_one_of_them(name: str) -> None:
    state = load_game("laido(size=3)").deserialize_state("c3\nb2")
    policy, action = load_bot(name, state.get_game(), seed=0).step_with_policy(state)
    probabilities = dict(policy)
    assert len(probabilities) == len(policy)
    assert set(probabilities) <= set(state.legal_actions())
    assert sum(probabilities.values()) == pytest.approx(1)
    assert probabilities[action] > 0


@pytest.mark.parametrize("name", NAMES)
def test_a_bot_call_for_a_finished_game_is_an_error(name: str) -> None:
    state = finished_state()
    bot = load_bot(name, state.get_game())
    batch = Batch(state.get_game(), 3)
    batch.load([1], np.array([state.record]))
    for ask in (bot.step, bot.step_with_policy):
        with pytest.raises(ValueError, match="the game is over"):
            ask(state)
    with pytest.raises(ValueError, match="game 1 of the batch is over"):
        bot.step_batch(batch, np.array([0, 1]))


@pytest.mark.parametrize("name", NAMES)
def test_a_bot_does_not_change_the_position_it_is_asked_about(name: str) -> None:
    state = load_game("vadus(size=3)").deserialize_state("c3\nb2")
    before = state.clone()
    load_bot(name, state.get_game()).step(state)
    assert state == before
    assert state.history() == before.history()


@pytest.mark.parametrize("name", ["random", "greedy"])
def test_restarting_a_stateless_bot_does_not_reset_its_random_numbers(name: str) -> None:
    state = load_game("vadus(size=9)").new_initial_state()
    one, other = load_bot(name, state.get_game(), seed=5), load_bot(name, state.get_game(), seed=5)
    assert one.step(state) == other.step(state)
    one.restart()
    assert [one.step(state) for _ in range(20)] == [other.step(state) for _ in range(20)]


def test_the_random_bot_chooses_every_legal_action_about_equally_often() -> None:
    game = load_game("vadus(size=2)")
    state = game.deserialize_state("b2\nb1")
    batch = Batch(game, 4000)
    batch.load(np.arange(4000), np.repeat(np.array([state.record]), 4000))
    bot = load_bot("random", game, seed=3)
    legal = state.legal_actions()
    in_batch = np.bincount(bot.step_batch(batch, np.arange(4000)), minlength=game.num_actions)
    one_by_one = np.bincount([bot.step(state) for _ in range(4000)], minlength=game.num_actions)
    for counts in (in_batch, one_by_one):
        assert np.flatnonzero(counts).tolist() == legal
        # The count of each is binomial: 4000 draws of probability 1/5 have a standard deviation of 25.3.
        assert abs(counts[legal] - 4000 / len(legal)).max() < 5 * 25.3
    assert bot.step_with_policy(state)[0] == [(action, 1 / len(legal)) for action in legal]


def test_a_bot_that_only_has_a_policy_steps_alone_and_in_a_batch() -> None:
    class FirstBot(Bot):
        def step_with_policy(self, state: State) -> tuple[list[tuple[int, float]], int]:
            action = state.legal_actions()[0]
            return [(action, 1.0)], action

    game = load_game("vadus(size=2)")
    batch = Batch(game, 3)
    bot = FirstBot()
    assert bot.name == "FirstBot"
    first = game.string_to_action("b1")
    assert bot.step(game.new_initial_state()) == first
    assert bot.step_batch(batch, np.array([0, 2])).tolist() == [first, first]
    bot.restart()


@pytest.mark.parametrize("name", ["Greedy", "", "/no/such/folder", None])
def test_an_unknown_name_is_an_error_that_lists_the_valid_ones(name: str) -> None:
    with pytest.raises(UnknownBotError, match=r"'random', 'greedy', .*and the path of a checkpoint folder") as error:
        load_bot(name, "vadus(size=3)")
    assert repr(name) in str(error.value)


@pytest.mark.parametrize("seed", [-1, 1.5, True, "1"])
def test_an_invalid_seed_is_an_error_that_names_it(seed: object) -> None:
    with pytest.raises(ValueError, match=f"seed must be .* got {seed!r}"):
        load_bot("random", "vadus(size=3)", seed=seed)  # type: ignore[arg-type]


@pytest.mark.parametrize("game", ["chess", "vadus(size=1)", 5])
def test_an_invalid_game_is_an_error(game: str) -> None:
    with pytest.raises(ValueError, match=r"game|size"):
        load_bot("random", game)


def test_the_bots_need_no_torch() -> None:
    code = (
        "import sys; from stoneworks.models import load_bot; load_bot('greedy', 'vadus(size=2)');"
        "load_bot('random', 'vadus(size=2)'); print('torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
