"""The benchmark: runs of seconds, interrupted ones, result files with an error, and the summary of hand-made ones."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("scipy")

from benchmarks import benchmark_run, check, learners, protocol, run
from benchmarks.learners import LEARNERS, load_learner, ours, reinforce, sb3
from benchmarks.protocol import TASKS, Games, Result, ResultError, Task, check_result, read_results
from benchmarks.summary import interquartile_mean, performance_profile, stratified
from benchmarks.timed_training import TimedTraining
from damage import damage
from stoneworks.envs.rules import load_game
from stoneworks.evaluation import ArenaSettings, Ladder, load_ladder, play_arena, round_robin
from stoneworks.locks import lock_folder
from stoneworks.training.runs.config_files import parse_config

GAME = "vadus(size=2)"
FEW = Games(scout_pairs=1, anchors=1, pairs=1)
BUDGET = 0.5


@pytest.fixture(scope="module")
def ladder(tmp_path_factory: pytest.TempPathFactory) -> Ladder:
    settings = ArenaSettings(game=GAME, pairings=round_robin(["random", "mcts:3"]), num_pairs=2)
    return Ladder.of_result(play_arena(settings, tmp_path_factory.mktemp("ladder") / "arena"), "test")


@pytest.fixture
def tiny(ladder: Ladder, monkeypatch: pytest.MonkeyPatch) -> str:
    """A task of the smallest board, with a ladder of two players."""
    monkeypatch.setitem(TASKS, "tiny", Task(GAME, protocol.ladder_hash(ladder)))
    monkeypatch.setattr(protocol, "load_ladder", lambda game, path=None: ladder)
    return "tiny"


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small iterations."""
    monkeypatch.setattr(sb3, "MaskablePPO", partial(sb3.MaskablePPO, n_steps=64))
    games, batch = {"num_games": 8}, {"batch_size": 16}
    for cls, smaller in (
        (ours.AlphaZeroScratch, {"positions_per_iteration": 50, "self_play": games, "learner": batch}),
        (ours.PPOScratch, {**games, "steps_per_update": 16, "minibatch_size": 32}),
    ):

        def settings(self: Any, original: Any = cls.settings, smaller: Any = smaller) -> dict[str, Any]:
            values = original(self)
            return {**values, **smaller, "network": {**values.get("network", {}), "channels": 4, "blocks": 1}}

        monkeypatch.setattr(cls, "settings", settings)


@pytest.fixture
def mine(tmp_path: Path) -> str:
    """The example of an algorithm in a file, with small iterations."""
    text = Path(reinforce.__file__).read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 60, "docs/benchmark.md shows it whole"
    file = tmp_path / "mine.py"
    file.write_text(text.replace('"steps": 256', '"steps": 32'))
    return str(file)


def begin(algorithm: str, task: str, output: Path, seed: int = 0) -> benchmark_run.BenchmarkRun:
    return benchmark_run.BenchmarkRun(algorithm, task, seed, BUDGET, FEW, output)


#: Algorithms that differ from others in settings alone.
VARIANTS = {"alphazero-puct", "alphazero-open", "ppo-open"}


@pytest.mark.parametrize(
    "algorithm",
    ["mine", *(pytest.param(name, marks=[pytest.mark.slow] * (name in VARIANTS)) for name in LEARNERS)],
)
def test_a_run_rates_each_point(algorithm: str, mine: str, tiny: str, small: None, tmp_path: Path) -> None:
    # OpenSpiel's DQN needs dm-tree.
    for library in {"openspiel-dqn": ("pyspiel", "tree"), "rllib-ppo": ("ray.rllib",)}.get(algorithm, ()):
        pytest.importorskip(library)
    one = begin(mine if algorithm == "mine" else algorithm, tiny, tmp_path)
    one.train(tmp_path / "work")
    result = Result.from_file(one.path)
    assert result == one.result
    assert not (tmp_path / "work").exists()
    seconds = [point.processor_seconds for point in result.curve]
    assert all(spent >= part * BUDGET for spent, part in zip(seconds, protocol.POINTS, strict=True))
    assert 0 < result.curve[0].steps < result.curve[-1].steps
    assert (result.curve[-1].simulations > 0) == algorithm.startswith("alphazero")
    searches = algorithm.startswith(("alphazero", "ppo"))
    assert all((point.search is not None) == searches for point in result.curve)
    assert {point.policy.games for point in result.curve} == {6}


def test_the_tracks_know_what_the_protocol_says() -> None:
    for name in ("alphazero", "alphazero-puct", "alphazero-open", "ppo", "ppo-open"):
        _, cls = load_learner(name)
        learner: Any = cls.__new__(cls)
        learner.game = load_game(GAME)
        config: Any = parse_config({"game": GAME, **learner.settings()}, name)
        assert config.init_from == ""
        assert config.network.sees_features == (cls.track == "open")
        if config.algorithm == "alphazero":
            expected = ("none", False) if cls.track == "scratch" else ("heuristic", True)
            assert (config.search.leaf_values, config.search.teacher_share > 0) == expected
        else:
            assert (config.opponents.greedy, config.opponents.bots) == (0, {})


class _Killed(BaseException):
    """Stands for the end of a process."""


@pytest.mark.parametrize(
    ("interrupted_class", "where"), [(TimedTraining, "advance"), (benchmark_run.BenchmarkRun, "_rate")]
)
def test_an_interrupted_run_continues_at_its_last_point(
    interrupted_class: type, where: str, tiny: str, small: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original, calls = getattr(interrupted_class, where), []

    def interrupted(self: Any, *arguments: Any) -> Any:
        calls.append(arguments)
        if len(calls) == 3:
            raise _Killed
        return original(self, *arguments)

    monkeypatch.setattr(interrupted_class, where, interrupted)
    with pytest.raises(_Killed):
        begin("ppo", tiny, tmp_path).train(tmp_path / "work")
    file = tmp_path / "tiny-ppo-0-0.5.json"
    before = Result.from_file(file).curve
    assert len(before) == 2
    begin("ppo", tiny, tmp_path).train(tmp_path / "work")
    curve = Result.from_file(file).curve
    assert curve[:2] == before
    assert len(calls) == 3 + len(protocol.POINTS) - 2
    amounts = [(point.steps, point.processor_seconds) for point in curve]
    assert all(one < other for one, other in itertools.pairwise(amounts))
    assert curve[-1].processor_seconds < 10 * BUDGET, "the time before the interruption counts once"


def test_the_command_makes_what_is_missing_and_takes_an_algorithm_in_a_file(
    mine: str, tiny: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(run, "Games", lambda: FEW)
    words = {"output": tmp_path / "results", "task": [tiny], "budget": BUDGET, "folder": tmp_path / "work"}
    with lock_folder(tmp_path / "work" / "tiny-mine-0-0.5"):  # another process makes this run
        run.main(algorithm=[mine], seed=[0], **words)
    assert list((tmp_path / "results").iterdir()) == []
    run.main(algorithm=[mine], seed=[0, 1], **words)
    files = sorted((tmp_path / "results").glob("*.json"))
    assert [file.name for file in files] == ["tiny-mine-0-0.5.json", "tiny-mine-1-0.5.json"]
    written = [file.stat().st_mtime_ns for file in files]
    run.main(algorithm=[mine], seed=[0, 1], **words)
    assert [file.stat().st_mtime_ns for file in files] == written
    for module in (run, learners):
        monkeypatch.setattr(module, "LEARNERS", {"other": ("not_there", "Other")})
    run.main(seed=[0], **words)
    assert "other is left out: No module named 'benchmarks.learners.not_there'" in capsys.readouterr().err
    with pytest.raises(ImportError, match="not_there"):
        run.main(algorithm=["other"], **words)
    changes = {"curve": [], "hardware": {"processor": "another", "cores": 1}}
    damage(files[0], lambda fields: (fields.pop("crc32"), fields.update(changes)))
    run.main(algorithm=[mine], seed=[0], **words)
    assert "is left out: it began on another processor, another" in capsys.readouterr().err
    with pytest.raises(ValueError, match=r"task must be one of .*, got 'chess'"):
        run.main(algorithm=[mine], seed=[0], **{**words, "task": ["chess"]})


def made(
    task: str = "vadus-5", seed: int = 0, algorithm: str = "ppo", elos: Any = (1, 2, 3, 4, 5), budget: float = 600
) -> Result:
    """Return a valid result with these ratings of the policy, and higher ones of the search."""
    curve = [
        {
            **{"steps": 100 * (number + 1), "simulations": 0},
            **{"processor_seconds": part * budget + 1, "wall_seconds": part * budget},
            "policy": {"elo": elo, "standard_error": 20, "games": 116},
            "search": {"elo": elo + 100, "standard_error": 20, "games": 116},
        }
        for number, (part, elo) in enumerate(zip(protocol.POINTS, elos, strict=True))
    ]
    values = {
        **{"protocol": "1", "games": Games().model_dump()},
        **{"algorithm": algorithm, "track": "scratch", "task": task, "seed": seed, "budget": budget},
        **{"ladder": TASKS[task].ladder, "configuration": {"learning_rate": 1e-3}, "commit": 40 * "a"},
        **{"hardware": {"processor": "made up", "cores": 2}, "libraries": {"torch": "2"}, "curve": curve},
    }
    return Result.parse(values, "made")


def problem_of(file: Path) -> str:
    """Return the problem of the only file in its folder; fails unless it is one line that begins with the file."""
    results, problems = read_results(file.parent)
    assert results == []
    (problem,) = problems
    assert problem.startswith(str(file))
    assert "\n" not in problem
    return problem


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda values: values.update(protocol="2"), "protocol must be '1', got '2'"),
        (lambda values: values.pop("protocol"), "the key protocol is missing"),
        (lambda values: values["curve"][1].update(search=None), "curve.search must be in all points or in none"),
        (lambda values: values.update(ladder=64 * "0"), f"ladder must be {TASKS['vadus-5'].ladder}, got 0000"),
        (lambda values: values["curve"][1].update(steps=1), "curve.steps must not decrease, got "),
        (lambda values: values["curve"][4].update(processor_seconds=700.0), "processor_seconds must be at least .*"),
    ],
)
def test_a_bad_file_names_the_field(change: Callable[[dict[str, Any]], object], problem: str, tmp_path: Path) -> None:
    file = tmp_path / "one.json"
    made().save(file)
    assert read_results(tmp_path) == ([made()], [])
    damage(file, lambda values: (values.pop("crc32"), change(values)))
    assert re.search(problem, problem_of(file))


def test_a_file_that_is_there_twice_or_cut_off_or_of_another_budget_is_a_problem(tmp_path: Path) -> None:
    made().save(tmp_path / "one.json")
    made().save(tmp_path / "two.json")
    _, problems = read_results(tmp_path)
    assert problems == [f"{tmp_path}/two.json: seed 0 of ppo on vadus-5 is there twice"]
    (tmp_path / "two.json").unlink()
    (tmp_path / "one.json").write_text((tmp_path / "one.json").read_text()[:-100])
    assert "is not valid JSON" in problem_of(tmp_path / "one.json")
    made(budget=60.0).save(tmp_path / "one.json")
    assert "budget must be one of 600, 3600, got 60" in problem_of(tmp_path / "one.json")
    results, problems = read_results(tmp_path, (*protocol.BUDGETS, 60.0))
    assert (len(results), problems) == (1, [])
    check_result(results[0], "one", (60.0,))


def test_the_ladders_are_those_of_this_version_which_the_page_and_the_citation_name(repository: Path) -> None:
    """A ladder that changes requires a new version (docs/benchmark.md), once results of its task are stored."""
    page, citation = ((repository / name).read_text() for name in ("docs/benchmark.md", "CITATION.cff"))
    for name, task in TASKS.items():
        assert protocol.ladder_hash(task.stored_ladder()) == task.ladder, name
        if task.former_ladder is None:
            task.load_ladder()
        else:
            with pytest.raises(ResultError, match=rf"{task.former_ladder.name} must have the players of today"):
                task.load_ladder()
        assert f"| `{name}` | `{task.game}` |\n" in page
    with pytest.raises(ResultError, match=r"the ladder of .* must have the hash 00, got"):
        Task("vadus(size=5)", "00").load_ladder()
    assert re.findall(r"^\| `([a-z-]+)` \| (?:scratch|open) \|", page, re.MULTILINE) == list(LEARNERS)
    assert f"This page is version {protocol.VERSION} of the protocol." in page
    assert f"Benchmark protocol, version {protocol.VERSION}}}" in page
    assert f'protocol (docs/benchmark.md)"\n    version: "{protocol.VERSION}"\n' in citation


def test_the_stored_results_are_valid_and_the_page_has_their_table(repository: Path) -> None:
    results, problems = read_results(repository / "benchmarks" / "results")
    assert problems == []
    page = (repository / "docs" / "benchmark-results.md").read_text(encoding="utf-8")
    for budget in {result.budget for result in results}:
        rows = check.Rows([result for result in results if result.budget == budget])
        assert check.table(rows, budget) in page


def test_the_interquartile_mean_has_a_published_value_and_a_profile_is_of_shares_above_thresholds() -> None:
    # Wikipedia, "Interquartile mean", example of a data set divisible by four.
    assert interquartile_mean([5, 8, 4, 38, 8, 6, 9, 7, 7, 3, 1, 6]) == 6.5
    profile = performance_profile([[0.2, 0.6], [0.6, 0.9]], np.array([0.0, 0.5, 0.6, 1.0]))
    assert [one.value for one in profile] == [1, 0.75, 0.25, 0]
    assert (profile[1].low, profile[1].high) == (0.5, 1)


def test_the_interval_is_that_of_all_resamples_within_tasks() -> None:
    strata = [[0.0, 4.0, 5.0], [10.0, 14.0]]
    draws = [list(itertools.product(scores, repeat=len(scores))) for scores in strata]
    means = [np.mean([*first, *second]) for first in draws[0] for second in draws[1]]
    estimate = stratified(strata, np.mean)
    assert estimate.value == pytest.approx(33 / 5)
    assert estimate.low == pytest.approx(np.quantile(means, 0.025), abs=0.4)
    assert estimate.high == pytest.approx(np.quantile(means, 0.975), abs=0.4)
    pooled = [np.mean(drawn) for drawn in itertools.product([*strata[0], *strata[1]], repeat=5)]
    assert np.quantile(pooled, 0.025) < estimate.low - 1, "resampling across tasks would be wider"
    alone = stratified([[7.0]])
    assert alone.value == 7
    assert np.isnan(alone.low)


def test_tables_and_figures_are_made_from_all_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    results, page = tmp_path / "results", tmp_path / "page.md"
    results.mkdir()
    page.write_text(f"before\n{check.BEGIN}\nold\n{check.END}\nafter\n")
    for seed, elo in enumerate((100, 200, 300, 400, 900)):
        made(seed=seed, elos=(0, 0, 0, 0, elo)).save(results / f"{seed}.json")
        made("laido-5", seed, elos=(0, 0, 0, 0, elo)).save(results / f"laido{seed}.json")
    made(seed=0, algorithm="mine").save(results / "mine.json")
    made(seed=1, algorithm="mine", elos=(0, 0, 0, 0, 905)).replace(track="open").save(results / "open.json")
    assert check.main(results, figures=tmp_path / "figures", page=page) == 0
    text = page.read_text()
    assert "| algorithm | track | rated | vadus-5 | laido-5 | all, normalized |" in text
    (row,) = re.findall(r"^\| ppo \| scratch \| policy \| (.*) \|$", text, re.MULTILINE)
    assert row.startswith("300 (")
    best = [load_ladder(TASKS[task].game).ratings.elo.max() for task in ("vadus-5", "laido-5")]
    scores = [elo / top for top in best for elo in (100, 200, 300, 400, 900)]
    assert f"| {interquartile_mean(scores):.2f} (" in text
    for track, elo in (("scratch", 105), ("open", 1005)):
        assert f"\n| mine | {track} | @64 | {elo}, 1 |  |  |\n" in text
    assert (
        "fewer than 5 seeds at 600 s: mine (scratch) on vadus-5 1, mine (open) on vadus-5 1" in capsys.readouterr().out
    )
    assert "![Rating over steps, 600 s](figures/steps-600.svg)" in text
    for name in ("processor-seconds-600.svg", "steps-600.svg", "profile-600.svg"):
        assert "ppo policy" in (tmp_path / "figures" / name).read_text()
    damage(results / "mine.json", lambda values: (values.pop("crc32"), values.update(protocol="0")))
    assert check.main(results) == 1
    assert "mine.json: protocol must be '1', got '0'" in capsys.readouterr().out
    page.write_text("without the lines")
    with pytest.raises(ValueError, match="the page must have the lines"):
        check.main(results, figures=tmp_path / "others", page=page)
    assert not (tmp_path / "others").exists(), "figures are not drawn in vain"
