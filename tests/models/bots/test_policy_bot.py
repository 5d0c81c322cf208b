"""The bot that plays a network's policy."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")

import torch

from stoneworks.envs.rules import Batch, Game, State, load_game
from stoneworks.models import load_bot
from stoneworks.models.bots.policy_bot import PolicyBot
from stoneworks.models.checkpoint import save_checkpoint
from stoneworks.models.network import Architecture, BoardNetwork, make_network


@pytest.fixture
def game() -> Game:
    return load_game("laido", size=3)


@pytest.fixture
def network(game: Game) -> BoardNetwork:
    """A network with a policy that is far from uniform."""
    torch.manual_seed(2)
    network = make_network(Architecture.of_game(game, channels=8, blocks=1))
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.add_(0.12 * torch.randn_like(parameter))
    return network


def a_position(game: Game, num_actions: int = 4) -> State:
    state = game.new_initial_state()
    for number in range(num_actions):
        state.apply_action(state.legal_actions()[3 * number % 5])
    return state


def expected_policy(network: BoardNetwork, state: State) -> np.ndarray:
    """The softmax of the logits over the legal actions, in double precision."""
    with torch.no_grad():
        logits = network(torch.from_numpy(state.observation_tensor()[None]))[0][0].double().numpy()
    weights = np.exp(logits) * state.legal_actions_mask()
    return weights / weights.sum()


def test_the_policy_is_the_softmax_over_the_legal_actions(game: Game, network: BoardNetwork) -> None:
    state = a_position(game)
    policy, action = PolicyBot(network, game, seed=1).step_with_policy(state)
    assert [index for index, _ in policy] == state.legal_actions()
    assert sum(probability for _, probability in policy) == pytest.approx(1)
    expected = expected_policy(network, state)
    np.testing.assert_allclose([probability for _, probability in policy], expected[state.legal_actions()], rtol=1e-5)
    assert action in state.legal_actions()
    assert 0.05 < expected.max() < 0.7, "neither uniform nor certain, or else this shows little"


def test_actions_are_drawn_from_the_policy(game: Game, network: BoardNetwork) -> None:
    state = a_position(game)
    batch = Batch(game, 20_000)
    batch.load(np.arange(20_000), np.repeat(state.record, 20_000))
    actions = PolicyBot(network, game, seed=1).step_batch(batch, np.arange(20_000))
    frequencies = np.bincount(actions, minlength=game.num_actions) / 20_000
    np.testing.assert_allclose(frequencies, expected_policy(network, state), atol=0.015)


def test_a_deterministic_bot_plays_the_most_probable_action(game: Game, network: BoardNetwork) -> None:
    bot = PolicyBot(network, game, deterministic=True)
    state = game.new_initial_state()
    while not state.is_terminal():
        action = bot.step(state)
        assert action == expected_policy(network, state).argmax()
        state.apply_action(action)


def test_in_a_batch_it_answers_for_the_given_rows(game: Game, network: BoardNetwork) -> None:
    batch = Batch(game, 8, seed=1)
    for _ in range(3):
        batch.step(batch.random_actions())
    bot = PolicyBot(network, game, deterministic=True)
    rows = np.array([6, 1, 3])
    assert bot.step_batch(batch, rows).tolist() == [bot.step(batch.state(int(row))) for row in rows]


@pytest.mark.parametrize("deterministic", [False, True])
def test_it_plays_legal_actions_to_the_end(game: Game, network: BoardNetwork, deterministic: bool) -> None:
    batch = Batch(game, 30)
    bot = PolicyBot(network, game, seed=1, deterministic=deterministic)
    for _ in range(game.max_game_length()):
        going_on = np.flatnonzero(batch.current_players >= 0)
        if not going_on.size:
            return
        actions = np.full(30, -1)
        actions[going_on] = bot.step_batch(batch, going_on)
        batch.step(actions)
    assert not (batch.current_players >= 0).any()


def test_a_position_of_another_game_is_refused(game: Game, network: BoardNetwork) -> None:
    bot, other = PolicyBot(network, game, seed=1), load_game("vadus(size=3)")
    assert other != game
    with pytest.raises(ValueError, match=r"was made for .*vadus\(size=3\)"):
        bot.step(other.new_initial_state())
    with pytest.raises(ValueError, match=r"was made for .*vadus\(size=3\)"):
        bot.step_batch(Batch(other, 1), np.arange(1))


def test_bots_of_equal_seeds_play_the_same(game: Game, network: BoardNetwork) -> None:
    state = a_position(game)
    draws = [[bot.step(state) for _ in range(30)] for bot in (PolicyBot(network, game, seed=4) for _ in range(2))]
    assert draws[0] == draws[1]
    bot = PolicyBot(network, game, seed=5)
    assert draws[0] != [bot.step(state) for _ in range(30)]
    bot.reseed(4)
    assert [bot.step(state) for _ in range(30)] == draws[0]


def test_a_finished_game_is_an_error(game: Game, network: BoardNetwork) -> None:
    state = game.new_initial_state()
    state.apply_action(state.legal_actions()[0])
    for _ in range(2):
        state.apply_action(game.string_to_action("pass"))
    bot = PolicyBot(network, game)
    with pytest.raises(ValueError, match="the game is over"):
        bot.step(state)
    batch = Batch(game, 1)
    batch.load([0], np.array([state.record]))
    with pytest.raises(ValueError, match="game 0 of the batch is over"):
        bot.step_batch(batch, np.array([0]))


def test_load_bot_plays_a_checkpoint_also_on_another_size(game: Game, network: BoardNetwork, tmp_path: Path) -> None:
    save_checkpoint(tmp_path / "agent", game=game, network=network, training={})
    state = a_position(game)
    loaded = load_bot(str(tmp_path / "agent"), game, seed=4)
    assert loaded.name == str(tmp_path / "agent")
    assert [loaded.step(state) for _ in range(30)] == [
        bot.step(state) for bot in [PolicyBot(network, game, seed=4)] for _ in range(30)
    ]
    larger = load_game("laido", size=5)
    assert load_bot(str(tmp_path / "agent"), larger).step(a_position(larger)) in a_position(larger).legal_actions()
