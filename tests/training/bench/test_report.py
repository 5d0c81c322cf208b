"""The benchmarks measure what they say, whatever the machine's speed."""

from __future__ import annotations

import io
import json

import numpy as np
import pytest
from rich.console import Console

from stoneworks.envs.aec import BoardGameEnv
from stoneworks.envs.rules import load_game
from stoneworks.training.bench import ours, references, run_bench, save_rows, table_of
from stoneworks.training.bench.contestant import Contestant, Spread, ratio, take_turns
from stoneworks.training.bench.ppo import BothSidesEnv
from stoneworks.training.bench.random_play import play_aec_at_random
from stoneworks.training.bench.self_play import shares_of_self_play


def test_a_spread_is_median_least_and_greatest():
    assert Spread.of([3.0, 1.0, 10.0]) == Spread(3.0, 1.0, 10.0)


def test_ratios_are_taken_round_by_round():
    one = Contestant("one", lambda amount: amount, rates_per_second=[10.0, 20.0, 90.0])
    other = Contestant("other", lambda amount: amount, rates_per_second=[5.0, 5.0, 30.0])
    assert ratio(one, other) == Spread(3.0, 2.0, 4.0)


def test_contestants_take_turns_and_each_has_a_rate_per_round(monkeypatch):
    now = [0.0]
    monkeypatch.setattr("time.perf_counter", lambda: now[0])

    def worker(rate):
        def play(amount):
            now[0] += amount / rate
            return amount

        return play

    fast, slow = Contestant("fast", worker(1000.0)), Contestant("slow", worker(100.0))
    told = []
    take_turns([fast, slow], rounds=3, seconds=2.0, tell=told.append)
    assert [text.split(": ")[1] for text in told] == ["fast", "slow"] * 3
    assert fast.rates_per_second == pytest.approx([1000.0] * 3)
    assert slow.rates_per_second == pytest.approx([100.0] * 3)


@pytest.mark.parametrize(
    "make",
    [
        ours.state_steps,
        ours.aec_steps,
        lambda game: ours.batch_steps(game, 8),
        ours.playout_actions,
        lambda game: ours.mcts_simulations(game, 30),
        lambda game: ours.network_search_simulations(game, 4, 8),
    ],
)
def test_our_contestants_do_at_least_what_they_are_asked_for(make):
    assert make(load_game("vadus(size=3)")).play(100) >= 100


def test_the_shares_of_self_play_are_all_its_time():
    network, search, rest = shares_of_self_play("vadus(size=3)", channels=8, blocks=1, seconds=0.2)
    assert network + search + rest == pytest.approx(1)
    assert min(network, search, rest) > 0


def test_random_play_of_an_environment_counts_its_steps():
    env = BoardGameEnv("vadus(size=2)")
    steps = []
    step = env.step
    env.step = lambda action: (steps.append(action), step(action))
    assert play_aec_at_random(env)(50) == len(steps) >= 50


def test_the_environment_that_does_nothing_has_the_shapes_it_is_given_and_ends():
    contestant = references.do_nothing_steps((2, 3, 3), 7, num_steps=5)
    assert contestant.play(12) == 15
    env = references.DoNothingEnv((2, 3, 3), 7, num_steps=5)
    env.reset()
    observation, *_ = env.last()
    assert observation["observation"].shape == (2, 3, 3)
    assert observation["action_mask"].shape == (7,)


def test_the_usual_setup_gives_rewards_to_the_mover():
    env = BothSidesEnv()
    observation, _ = env.reset(seed=0)
    assert env.observation_space.contains(observation)
    for column in (0, 1, 0, 1, 0, 1):
        assert env.action_masks().all()
        *_, over, _, _ = env.step(column)
        assert not over
    _, reward, over, _, _ = env.step(0)
    assert (reward, over) == (1, True)


def test_the_bench_prints_a_table_with_every_reference_that_is_installed(tmp_path):
    rows = run_bench(rounds=1, seconds=0.01, with_training=False)
    text = io.StringIO()
    Console(width=250, file=text).print(table_of(rows))
    for expected in (
        "AEC do-nothing",
        "connect_four",
        "Batch(vadus(size=9), 1024)",
        "random playout actions",
        "mcts:2000",
    ):
        assert expected in text.getvalue()
    for row in rows:
        assert row.rate.median > 0
        assert (row.reference is None) == (row.ratio is None)
        if row.ratio is not None:
            assert np.isclose(row.ratio.median, row.rate.median / row.reference_rate.median)
    save_rows(rows, tmp_path / "bench.json")
    assert [entry["measure"] for entry in json.loads((tmp_path / "bench.json").read_text())] == [
        row.measure for row in rows
    ]
    assert [path.name for path in tmp_path.iterdir()] == ["bench.json"]
