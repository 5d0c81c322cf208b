"""What every bot promises, by whatever name it is made, and what is refused by all of them."""

from __future__ import annotations

import itertools
import math
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from game_play import played, read_test_data
from stoneworks.envs.rules import Batch, Game, State, load_game
from stoneworks.envs.rules.games import small_games
from stoneworks.models import Bot, UnknownBotError, load_bot
from stoneworks.models.bots.alphabeta_bot import AlphaBetaBot
from stoneworks.models.bots.external_bot import ExternalBot
from stoneworks.models.bots.greedy_bot import GreedyBot
from stoneworks.models.bots.mcts_bot import MCTSBot

BOT_NAMES = read_test_data("bot_names.yaml")
PARALLEL, EVALUATED = "mcts:30,parallel=root,threads=2", "mcts:30,leaf=evaluation"
NETWORKS = [pytest.param(name, marks=pytest.mark.needs("torch")) for name in ("checkpoint", "checkpoint@12")]
NAMES = ("random", "greedy", "mcts:30", PARALLEL, EVALUATED, "alphabeta:2", *NETWORKS)
#: Those that play a position of a batch as they play it alone, with equal seeds.
ALONE = ("greedy", "alphabeta:2", *NETWORKS[1:])
ALL = pytest.mark.parametrize("name", NAMES)
GAMES = pytest.mark.parametrize("game", small_games())


@pytest.fixture
def make_bot(tmp_path: Path) -> Callable[..., Bot]:
    """``make_bot(name, game, seed)``: a bot; ``checkpoint`` is a network whose policy is far from uniform."""

    def make(name: str, game: str | Game, seed: int | None = None) -> Bot:
        if name.startswith("checkpoint"):
            from random_networks import random_network, save_network

            save_network(tmp_path / "checkpoint", game, random_network(game, 0.12, seed=2))
            name = f"{tmp_path}/{name}"
        return load_bot(name, game, seed)

    return make


def game_of(bots: tuple[Bot, Bot], game: str) -> list[int]:
    """Return the actions of a game, in which each bot's policy and action are checked."""
    state = played(game)
    while not state.is_terminal():
        before = state.clone()
        policy, action = bots[state.current_player()].step_with_policy(state)
        assert state == before
        assert state.history() == before.history()
        probabilities = dict(policy)
        assert len(probabilities) == len(policy)
        assert set(probabilities) <= set(state.legal_actions())
        assert sum(probabilities.values()) == pytest.approx(1, abs=1e-5)
        assert probabilities[action] > 0
        state.apply_action(action)
    return state.history()


@ALL
@GAMES
def test_whole_games_are_legal_and_repeat_under_a_seed(name: str, game: str, make_bot: Callable[..., Bot]) -> None:
    one, again = (game_of((make_bot(name, game, 1), make_bot(name, game, 99)), game) for _ in range(2))
    assert one == again


@pytest.mark.parametrize("name", [name for name in NAMES if name is not NETWORKS[1]])
def test_other_seeds_play_another_game(name: str, make_bot: Callable[..., Bot]) -> None:
    game = "vadus(size=4)"
    one, *others = (game_of((make_bot(name, game, a), make_bot(name, game, b)), game) for a, b in [(1, 2), (3, 4)])
    assert [one] != others


@ALL
@GAMES
def test_a_batch_is_played_legally_and_repeats_under_a_seed(name: str, game: str, make_bot: Callable[..., Bot]) -> None:
    batch = Batch(load_game(game), 9, seed=3, auto_reset=True)
    for _ in range(4):
        batch.step(batch.random_actions())
    rows, before = np.array([6, 0, 2, 3]), batch.states.copy()
    one, again = (make_bot(name, game, 3).step_batch(batch, rows) for _ in range(2))
    assert one.dtype == np.int64
    assert one.tolist() == again.tolist()
    assert batch.action_masks[rows, one].all()
    assert batch.states.tobytes() == before.tobytes()
    assert make_bot(name, game, 3).step_batch(batch, rows[:0]).shape == (0,)


@pytest.mark.parametrize("name", ALONE)
@GAMES
def test_a_batch_is_played_like_its_games_one_by_one(name: str, game: str, make_bot: Callable[..., Bot]) -> None:
    batch = Batch(load_game(game), 12, seed=5, auto_reset=True)
    for _ in range(3):
        batch.step(batch.random_actions())
    rows = np.array([0, 1, 3, 4, 11])
    alone = make_bot(name, game, 9)
    assert make_bot(name, game, 9).step_batch(batch, rows).tolist() == [alone.step(batch.state(row)) for row in rows]


def test_the_games_of_a_batch_have_seeds_of_their_own() -> None:
    batch = Batch(load_game("vadus(size=5)"), 8)
    assert len(set(load_bot("mcts:20", batch.game, 0).step_batch(batch, np.arange(8)).tolist())) > 1


@ALL
def test_a_finished_game_and_a_position_of_another_game_are_refused(name: str, make_bot: Callable[..., Bot]) -> None:
    bot, state = make_bot(name, "vadus(size=2)"), played("vadus(size=2)", "b2 pass pass")
    batch = Batch(state.get_game(), 3)
    batch.load([1], np.array([state.record]))
    for ask in (bot.step, bot.step_with_policy, bot.analyze):
        with pytest.raises(ValueError, match="the game is over"):
            ask(state)
    with pytest.raises(ValueError, match="game 1 of the batch is over"):
        bot.step_batch(batch, np.array([0, 1]))
    if name != "random":
        other = load_game("vadus(size=3)")
        for call in (lambda: bot.step(played(other)), lambda: bot.step_batch(Batch(other, 1), np.array([0]))):
            with pytest.raises(ValueError, match=r"vadus\(size=2\).*vadus\(size=3\)|vadus\(size=3\)"):
                call()


@pytest.mark.parametrize("name", ["random", "greedy"])
def test_restarting_a_stateless_bot_does_not_reset_its_random_numbers(name: str) -> None:
    state = played("vadus(size=9)")
    one, other = load_bot(name, state.get_game(), seed=5), load_bot(name, state.get_game(), seed=5)
    assert one.step(state) == other.step(state)
    one.restart()
    assert [one.step(state) for _ in range(20)] == [other.step(state) for _ in range(20)]


def test_the_random_bot_chooses_every_legal_action_about_equally_often() -> None:
    state = played("vadus(size=2)", "b2 b1")
    game, legal = state.get_game(), state.legal_actions()
    batch = Batch(game, 4000)
    batch.load(np.arange(4000), np.repeat(np.array([state.record]), 4000))
    bot = load_bot("random", game, seed=3)
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

    bot, state = FirstBot(), played("vadus(size=2)")
    assert bot.name == "FirstBot"
    first = state.string_to_action("b1")
    assert bot.step(state) == first
    assert bot.step_batch(Batch(state.get_game(), 3), np.array([0, 2])).tolist() == [first, first]
    bot.restart()


def test_the_bots_need_no_torch() -> None:
    code = (
        "import sys; from stoneworks.models import load_bot; load_bot('greedy', 'vadus(size=2)');"
        "load_bot('random', 'vadus(size=2)'); print('torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


@pytest.mark.parametrize("name", BOT_NAMES["canonical"])
def test_a_bot_is_called_by_a_name_that_makes_it(name: str) -> None:
    canonical = BOT_NAMES["canonical"][name]
    assert load_bot(name, "vadus(size=2)").name == load_bot(canonical, "vadus(size=2)").name == canonical


@pytest.mark.parametrize(("name", "words"), BOT_NAMES["wrong"])
def test_a_wrong_name_is_an_error_that_names_the_bot_the_part_and_what_is_allowed(name: Any, words: str) -> None:
    if name is not None:
        name = name.replace("LONG", "9" * 5000).replace("PYTHON", sys.executable)
    with pytest.raises(UnknownBotError) as error:
        load_bot(name, "vadus(size=2)")
    message = str(error.value)
    assert [word for word in re.findall(r"'[^']*'|\S+", words) if word not in message] == []


def refused(make: Callable[..., object], option: str, values: tuple[object, ...], **others: object) -> list[Any]:
    """Return the cases of an option with values that are not allowed."""
    return [(make, {**others, option: value}, f"{option} must be .*got {re.escape(repr(value))}") for value in values]


INTEGERS, NUMBERS = (0, -1, 1.5, True, "2"), (0.0, -1.0, math.nan, math.inf, True, "1")


def external_bot(game: Game, **options: Any) -> Bot:
    return ExternalBot(sys.executable, game, **options)


@pytest.mark.parametrize(
    ("make", "options", "message"),
    [
        (MCTSBot, {}, "exactly one"),
        (MCTSBot, {"simulations": 5, "seconds": 1.0}, "exactly one"),
        (AlphaBetaBot, {}, "exactly one of turns and seconds"),
        (AlphaBetaBot, {"turns": 1, "seconds": 1.0}, "exactly one of turns and seconds"),
        *itertools.chain(
            refused(MCTSBot, "simulations", INTEGERS),
            refused(MCTSBot, "seconds", NUMBERS[:4]),
            refused(MCTSBot, "exploration", (-0.1,), simulations=5),
            refused(MCTSBot, "num_threads", (0, 10**9), simulations=5),
            refused(MCTSBot, "leaf", ("network",), simulations=5),
            refused(AlphaBetaBot, "turns", (*INTEGERS, 2**40)),
            refused(AlphaBetaBot, "seconds", NUMBERS[:4]),
            refused(AlphaBetaBot, "num_candidates", (*INTEGERS, 2**40), turns=1),
            refused(GreedyBot, "num_candidates", INTEGERS[:4]),
            refused(GreedyBot, "beam_width", INTEGERS[:4]),
            refused(external_bot, "seconds", NUMBERS),
            refused(external_bot, "start_seconds", NUMBERS),
        ),
    ],
)
def test_a_wrong_option_is_an_error_that_names_it(
    make: Callable[..., Bot], options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        make(load_game("vadus(size=2)"), **options)


@pytest.mark.parametrize("seed", [-1, 1.5, True, "1"])
def test_an_invalid_seed_is_an_error_that_names_it(seed: Any) -> None:
    with pytest.raises(ValueError, match=f"seed must be .* got {seed!r}"):
        load_bot("random", "vadus(size=3)", seed=seed)


@pytest.mark.parametrize("game", ["chess", "vadus(size=1)", 5])
def test_an_invalid_game_is_an_error(game: str) -> None:
    with pytest.raises(ValueError, match=r"game|size"):
        load_bot("random", game)
