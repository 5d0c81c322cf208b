"""Paired matches: same openings, seats swapped, distinct games counted, and the interval of the result."""

from __future__ import annotations

from unittest.mock import Mock

import numpy as np
import pytest

from stoneworks.envs.rules import State, load_game
from stoneworks.evaluation.match import BotPlayError, play_match, random_opening, wilson_interval
from stoneworks.models import Bot, load_bot


class NthBot(Bot):
    """Plays the n-th of its legal actions, without chance."""

    def __init__(self, number: int) -> None:
        self._number = number

    @property
    def name(self) -> str:
        return f"nth({self._number})"

    def step_with_policy(self, state: State) -> tuple[list[tuple[int, float]], int]:
        legal = state.legal_actions()
        action = legal[self._number % len(legal)]
        return [(action, 1.0)], action


@pytest.mark.parametrize(
    ("game", "bots"),
    [
        *((game, ("greedy", "random")) for game in ("vadus(size=2)", "laido(size=2)", "laido(size=3)")),
        ("vadus(size=2)", ("random", "random")),
    ],
)
def test_the_result_is_that_of_its_records(game: str, bots: tuple[str, str]) -> None:
    calls: list[tuple[int, int]] = []
    players = [load_bot(name, game, seed=seed) for seed, name in enumerate(bots)]
    result = play_match(game, *players, num_pairs=30, seed=2, progress=lambda *call: calls.append(call))
    rewards = [record.replay().returns()[number % 2] for number, record in enumerate(result.records)]
    wins, draws, losses = (rewards.count(reward) for reward in (1, 0, -1))
    assert (result.wins, result.draws, result.losses) == (wins, draws, losses)
    assert result.num_games == len(result.records) == wins + draws + losses == 60
    assert result.score == pytest.approx((wins + draws / 2) / 60)
    assert np.sum(result.by_seat, axis=0).tolist() == [wins, draws, losses]
    assert result.interval == wilson_interval(wins + draws / 2, 60)
    assert result.num_distinct_games == len({record.actions for record in result.records})
    assert draws > 0 or bots == ("greedy", "random")
    assert [number for number, _ in calls] == sorted(number for number, _ in calls)
    assert (calls[0], calls[-1]) == ((0, 60), (60, 60))
    text = str(result)
    assert "\n" not in text
    score, low, high = (100 * share for share in (result.score, *result.interval))
    for part in (game, *bots, f"{score:.1f} %", f"{low:.1f} to {high:.1f} %", "60 games"):
        assert part in text
    assert dict(result.summary())["won / drawn / lost"] == f"{wins} / {draws} / {losses}"


@pytest.mark.parametrize("game", ["vadus(size=4)", "laido(size=4)", "laido(pie_rule=False,size=3)"])
@pytest.mark.parametrize("opening_actions", [1, 2, 3, 5])
def test_both_games_of_a_pair_have_the_same_opening_and_seats_swapped(game: str, opening_actions: int) -> None:
    bots = load_bot("random", game, seed=0), NthBot(0)
    result = play_match(game, *bots, num_pairs=12, opening_actions=opening_actions, seed=4)
    openings = set()
    for pair in range(12):
        first, second = result.records[2 * pair : 2 * pair + 2]
        assert first.players == ("random", "nth(0)")
        assert second.players == ("nth(0)", "random")
        assert first.actions[:opening_actions] == second.actions[:opening_actions]
        assert first.metadata == second.metadata == {"pair": pair, "opening_actions": opening_actions}
        openings.add(first.actions[:opening_actions])
    assert len(openings) > 1


def test_seats_are_those_of_the_players_also_after_a_swap() -> None:
    """Colors change hands with the swap, players keep their bots: in even games bot A is player 0."""

    class SwappingBot(NthBot):
        def step_with_policy(self, state: State) -> tuple[list[tuple[int, float]], int]:
            swap = state.string_to_action("swap")
            return ([(swap, 1.0)], swap) if swap in state.legal_actions() else super().step_with_policy(state)

    game, bots = load_game("laido(size=3)"), (SwappingBot(0), SwappingBot(3))
    result = play_match(game, *bots, num_pairs=3, opening_actions=1, seed=0)
    assert {record.actions[1] for record in result.records} == {"swap"}
    for number, record in enumerate(result.records):
        state = game.new_initial_state()
        for place, action in enumerate(record.replay().history()):
            choices = [bot.step(state) for bot in bots]
            assert place == 0 or action == choices[state.current_player() ^ number % 2]
            state.apply_action(action)


def test_a_bot_without_chance_scores_half_of_each_pair_against_itself() -> None:
    bot = NthBot(3)
    result = play_match("laido(size=3)", bot, bot, num_pairs=15, seed=1)
    assert result.scores.sum(axis=1).tolist() == [1] * 15
    assert result.score == 0.5
    for numbers, num_distinct in (((2, 2), 1), ((0, 1), 2)):
        bots = [NthBot(number) for number in numbers]
        result = play_match("vadus(size=3)", *bots, num_pairs=20, opening_actions=0, seed=0)
        assert (result.num_games, result.num_distinct_games) == (40, num_distinct)
        assert f"{num_distinct} distinct" in str(result)


@pytest.mark.parametrize("game", ["vadus(size=2)", "laido(size=2)", "laido(pie_rule=False,size=2)"])
def test_an_opening_never_ends_the_game_and_is_uniform_among_the_first_actions(game: str) -> None:
    generator = np.random.default_rng(0)
    lengths = set()
    for _ in range(60):
        opening = random_opening(load_game(game), 30, generator)
        assert not opening.is_terminal()
        lengths.add(len(opening.history()))
    # On a full board the second pass would end the game, so openings stop there.
    assert max(lengths) < 30
    assert {len(random_opening(load_game(game), 4, generator).history()) for _ in range(20)} == {4}
    generator = np.random.default_rng(1)
    game = load_game("vadus(size=2)")
    counts = np.bincount([random_opening(game, 1, generator).history()[0] for _ in range(3500)])
    # 3500 draws of probability 1/7 have a standard deviation of 20.7.
    assert abs(counts[game.grid.on_board[: len(counts)]] - 500).max() < 5 * 20.7


@pytest.mark.parametrize(
    ("answer", "complaint"),
    [
        ([0, 0], r"nth\(7\) must be legal, game 0: .* action 0 .* is illegal"),
        ([-1, -1], r"nth\(7\) must be legal, game 0: .* got -1"),
        ([4, 99], r"nth\(7\) must be legal, game 2: .* got 99"),
        ([4], r"the actions of nth\(7\) must be 2 integers, got int64 of shape \(1,\)"),
        ([4.0, 4.0], r"the actions of nth\(7\) must be 2 integers, got float64"),
    ],
)
def test_an_illegal_answer_is_an_error_that_names_the_bot(answer: list[float], complaint: str) -> None:
    culprit = NthBot(7)
    culprit.step_batch = Mock(return_value=np.array(answer))  # type: ignore[method-assign]
    with pytest.raises(BotPlayError, match=complaint):
        play_match("vadus(size=2)", culprit, NthBot(0), num_pairs=2, opening_actions=0, seed=0)


@pytest.mark.parametrize(
    ("successes", "trials", "low", "high"),
    [
        # R. G. Newcombe, Two-sided confidence intervals for the single proportion: comparison of seven methods,
        # Statistics in Medicine 17 (1998), 857-872, table I, method 3.
        (81, 263, 0.2553, 0.3662),
        (0, 20, 0.0000, 0.1611),
        (20, 20, 0.8389, 1.0000),
    ],
)
def test_the_wilson_interval_has_its_published_values(successes: int, trials: int, low: float, high: float) -> None:
    assert wilson_interval(successes, trials) == pytest.approx((low, high), abs=5e-5)
    for impossible in ((0, 0), (-1, trials), (trials + 1, trials)):
        with pytest.raises(ValueError, match="got {} in {} games".format(*impossible)):
            wilson_interval(*impossible)
