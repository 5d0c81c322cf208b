"""Measurements of speed: workloads in turns, reports that are compared, and how cost grows with the board."""

import re
from functools import partial

import pytest

from benchmarks.speed import ours, references, report as speed
from benchmarks.speed.__main__ import app
from benchmarks.speed.growth import SIZES, app as growth_app, draw_growth, measure_growth
from benchmarks.speed.report import Row
from benchmarks.speed.self_play import PARTS, SelfPlayAndLearning, ShareOfTime, self_play_simulations
from benchmarks.speed.workload import Spread, Workload, measure_in_turns, ratio
from damage import damage
from stoneworks.envs.rules import load_game


def no_work():
    raise AssertionError("not to be prepared")


def test_workloads_take_turns_and_ratios_are_taken_round_by_round():
    one = Workload("one", prepare=no_work, rates_per_second=[10.0, 20.0, 90.0])
    other = Workload("other", prepare=no_work, rates_per_second=[5.0, 5.0, 30.0])
    assert ratio(one, other) == Spread(median=3.0, minimum=2.0, maximum=4.0)
    assert Workload("one", prepare=no_work, requires=("json", "no_such_module")).missing() == ["no_such_module"]
    now = [0.0]
    prepared = []

    def worker(name, units_at_once, rate):
        def prepare():
            prepared.append(name)

            def play(units):
                done = -(-units // units_at_once) * units_at_once
                now[0] += done / rate
                return done

            return play

        return Workload(name, prepare=prepare, clock=lambda: now[0])

    fast, slow = worker("fast", 1, 1000.0), worker("slow", 64, 100.0)
    told = []
    measure_in_turns([fast, slow], rounds=3, seconds=2.0, progress=told.append)
    assert [text.split(": ")[1] for text in told] == ["fast", "slow"] * 3
    assert fast.rates_per_second == pytest.approx([1000.0] * 3)
    assert slow.rates_per_second == pytest.approx([100.0] * 3)
    assert prepared == ["fast", "slow"]


@pytest.mark.parametrize(
    "workload",
    [
        ours.state_steps("vadus(size=3)"),
        ours.aec_steps("vadus(size=3)"),
        self_play_simulations("vadus(size=3)", 4),
        ours.batch_steps("vadus(size=3)", 8, 2, wall_clock=True),
        ours.playout_actions("vadus(size=3)"),
        ours.mcts_simulations("vadus(size=3)", 30),
        ours.network_search_simulations("vadus(size=3)", 4, 8),
        ours.single_game_simulations("vadus(size=3)", "vadus@32,batch=8"),
        ours.moves("vadus(size=3)", "greedy"),
        references.do_nothing_steps((2, 3, 3), 7, num_steps=5),
        references.connect_four_steps(),
        references.openspiel_state_steps(),
        references.openspiel_playout_actions(),
        references.openspiel_search_simulations("tic_tac_toe", 20),
        pytest.param(references.openspiel_alphazero_simulations(3, 4), marks=pytest.mark.slow),  # compiles in JAX
    ],
    ids=lambda workload: workload.name,
)
def test_workloads_do_at_least_the_requested_amount(workload):
    if missing := workload.missing():
        pytest.skip(f"not installed: {', '.join(missing)}")
    assert workload.play(50) >= 0.9 * 50  # rollouts of OpenSpiel are counted by their mean length


def test_the_parts_of_a_run_of_self_play_are_shares_of_its_time(tmp_path):
    config = tmp_path / "tiny.yaml"
    config.write_text(
        "algorithm: alphazero\ngame: vadus(size=3)\npositions: 100\nnetwork: {channels: 8, blocks: 1}\n"
        "self_play: {num_games: 8}\nlearner: {batch_size: 16}\nsearch: {simulations: 4, capped_simulations: 2}\n"
    )
    run = SelfPlayAndLearning(str(config))
    shares = [ShareOfTime(run, part) for part in PARTS]
    for share in shares:
        share.measure(0.01)
    assert run.play(20) >= 20
    percentages = [share.rates_per_second[0] for share in shares]
    assert min(percentages) > 0
    assert sum(percentages) < 100


def test_costs_are_measured_drawn_and_written(tmp_path, run_command):
    for name, game_strings in SIZES.items():
        cells = [load_game(game_string).grid.num_cells for game_string in game_strings]
        assert len(cells) >= 4
        assert cells == sorted(set(cells)), "from small to large"
        assert {load_game(game_string).name for game_string in game_strings} == {name}
    told = []
    sizes = {"vadus": ("vadus(size=2)", "vadus(size=3)")}
    results = measure_growth(sizes, rounds=1, seconds=0.01, progress=told.append)
    assert told == list(sizes["vadus"])
    assert [result.num_cells for result in results] == [9, 25]
    for result in results:
        assert min(result.step_ns, result.playout_ns, result.simulation_us) > 0
        assert result.state_bytes == load_game(result.game_string).state_dtype.itemsize
    draw_growth(results, tmp_path / "growth.svg")
    assert (tmp_path / "growth.svg").stat().st_size > 1000
    assert "growth.txt" in run_command(str(tmp_path / "growth.txt"), app=growth_app)[2]


def row(name, rate, reference=None, reference_rate=None, ratio=None):
    spreads = [
        None if values is None else Spread(median=values[0], minimum=values[1], maximum=values[2])
        for values in (rate, reference_rate, ratio)
    ]
    fields = dict(zip(("rate", "reference_rate", "ratio"), spreads, strict=True))
    return Row(measure="steps", name=name, reference=reference, **fields)


def test_ratios_are_compared_where_there_are_any_and_rates_otherwise():
    alone = ("alone and slower", "alone and overlapping", "alone and faster", "no longer measured")
    earlier = [
        row("ratio fell", (10, 9, 11), "other", (5, 5, 5), (2.0, 1.9, 2.1)),
        row("rate fell but ratio did not", (10, 9, 11), "other", (5, 5, 5), (2.0, 1.9, 2.1)),
        *(row(name, (10, 9, 11)) for name in alone),
    ]
    now = [
        row("ratio fell", (10, 9, 11), "other", (8, 8, 8), (1.25, 1.2, 1.3)),
        row("rate fell but ratio did not", (5, 4, 6), "other", (2.5, 2, 3), (2.0, 1.95, 2.2)),
        row("alone and slower", (5, 4, 8.9)),
        row("alone and overlapping", (5, 4, 9.1)),
        row("alone and faster", (20, 11.1, 30)),
        row("of today", (1, 1, 1)),
    ]
    changes = speed.compare_rows(now, earlier)
    assert [change.verdict for change in changes] == [
        *(speed.SLOWER, speed.UNCHANGED, speed.SLOWER, speed.UNCHANGED, speed.FASTER, speed.NEW),
    ]
    assert [change.factor for change in changes] == [0.625, 1.0, 0.5, 0.5, 2.0, None]
    shares = [row("vadus", rate).replace(measure="time of learning, in %") for rate in ((31, 30, 32), (11, 10, 12))]
    assert speed.compare_rows(shares[1:], shares[:1])[0].verdict == speed.UNCHANGED, "a share is no rate"


def test_the_command_writes_a_wide_table_and_a_file_and_compares(tmp_path, run_command):
    bench = partial(run_command, "--rounds", "1", "--seconds", "0.01", "--no-training", app=app)
    file = tmp_path / "bench.json"
    only = ("--only", "do-nothing")
    out = bench(*only, "--json", str(file))[1]
    assert re.search(r"AEC steps, random play.*AEC vadus\(size=9\).*AEC do-nothing", out)
    large = {"median": 1e6, "minimum": 1e6, "maximum": 1e6}
    damage(file, lambda fields: fields["rows"][0].update(ratio=large))
    assert "slower (x 0.00)" in bench(*only, "--compare", str(file))[1]
    for option, value in (("--only", "no such row"), ("--compare", "none.json"), ("--json", str(tmp_path / "n" / "b"))):
        code, _, err = bench(*only, option, value)
        assert code == 2
        assert value in err
