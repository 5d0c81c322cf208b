"""Names of bots from data files neither start programs nor lead out of the file's folder, unless that is allowed."""

from __future__ import annotations

import inspect
import shlex
import sys
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest
import yaml

from processes import Run
from stoneworks.envs.rules import Game, RegistrationError, State, load_game
from stoneworks.evaluation import RateSettings, load_ladder, rate
from stoneworks.models import Bot, Parameter, load_bot, register_bot
from stoneworks.models.bots.registry import BOTS, CHECKPOINT_SEARCH
from stoneworks.models.bots.spec import BotSpec, Budget, UnknownBotError, UntrustedNameError, check_name_in_file
from stoneworks.training.runs.config_files import load_config

GAME = "vadus(size=5)"


def test_a_spec_says_what_a_name_says(tmp_path: Path) -> None:
    assert BotSpec.parse("random") == BotSpec("random", "random")
    spec = BotSpec.parse("mcts:0.5s,c=1.2,leaf=heuristic")
    assert (spec.kind, spec.budget) == ("mcts", Budget("seconds", 0.5))
    assert spec.parameters == {"exploration": 1.2, "leaf": "heuristic"}
    assert (spec.needs_heuristic, spec.entry.estimates_values, spec.entry.needs_torch) == (True, True, False)
    assert BotSpec.parse("mcts:10,leaf=end_of_turn").needs_heuristic
    assert not BotSpec.parse("mcts:10,leaf=playout").needs_heuristic
    assert str(BotSpec.parse("mcts:10,c=-0")) == "mcts:10,c=0"
    spec = BotSpec.parse("alphabeta:3,candidates=5")
    assert spec.arguments == {"turns": 3, "num_candidates": 5}
    assert (spec.needs_heuristic, spec.entry.estimates_values, spec.paths) == (True, False, ())
    spec = BotSpec.parse("exec:seconds=2,python -u player.py, --seed=3")
    assert (spec.text, spec.arguments) == ("python -u player.py, --seed=3", {"seconds": 2.0})
    assert spec.entry.starts_programs
    spec = BotSpec.parse("policy:some/file,c=2")
    assert (spec.paths, spec.entry.needs_torch, spec.needs_heuristic) == ((Path("some/file,c=2"),), False, False)
    spec = BotSpec.parse("vadus@64,batch=8,threads=2")
    assert (spec.shipped, spec.budget, spec.paths) == ("vadus", Budget("simulations", 64), ())
    assert spec.arguments == {"simulations": 64, "batch": 8, "threads": 2}
    assert spec.checkpoint is not None
    assert (spec.entry.needs_torch, spec.entry.estimates_values, spec.entry.starts_programs) == (True, True, False)
    spec = BotSpec.parse(f"{tmp_path}@2s")
    assert (spec.shipped, spec.budget, spec.paths) == ("", Budget("seconds", 2.0), (tmp_path,))


def test_bots_of_other_packages_declare_what_their_names_say() -> None:
    games, style = Parameter("games", int, 1, 10, argument="num_games"), Parameter("style", words=("calm", "wild"))
    leaf = Parameter("leaf", words=("near", "far"))
    register_bot("declared", "some.module:Bot", budgets=(games,), parameters=(style, leaf))
    register_bot("free", "some.module:Bot", usage="free:<anything>")
    spec = BotSpec.parse("declared:7,style=wild,leaf=far")
    assert (spec.budget, spec.parameters) == (Budget("num_games", 7), {"style": "wild", "leaf": "far"})
    assert spec.arguments == {"num_games": 7, "style": "wild", "leaf": "far"}
    assert str(BotSpec.of("declared", **spec.arguments)) == str(spec) == spec.name
    assert not spec.needs_heuristic, "leaf of mcts has another meaning"
    assert BotSpec.parse("free:a,b=c:d").text == "a,b=c:d"
    with pytest.raises(RegistrationError, match=r"parameters must be a tuple of stoneworks\.models\.Parameter"):
        register_bot("wrong", "some.module:Bot", parameters=("c",))
    for name, message in (
        ("declared:11", "the budget must be an integer from 1 to 10 games, as in 'declared:2', got '11'"),
        ("declared:2s", "got '2s'"),
        ("declared:2,style=odd", "style must be calm or wild, got 'odd'"),
        ("vadus@64,batch=0", "checkpoint bot: .*batch"),
        ("vadus@64,batch=2000", "checkpoint bot: .*batch"),
        ("vadus@64,leaves=8", "checkpoint bot: .*batch"),
        ("vadus@2s,threads=x", "checkpoint bot: threads must be"),
        ("alphabeta:1,candidates=" + "9" * 400, "candidates must be"),
    ):
        with pytest.raises(UnknownBotError, match=message):
            BotSpec.parse(name)


@pytest.mark.needs("torch")
def test_names_omit_what_is_the_default_of_the_constructor() -> None:
    for entry in (*BOTS.loadable(), CHECKPOINT_SEARCH):
        if entry.bot.startswith("stoneworks."):
            arguments = inspect.signature(entry.load("bot")).parameters
            for parameter in entry.parameters:
                if parameter.default is not None and parameter.argument in arguments:
                    assert arguments[parameter.argument].default == parameter.default, (entry.name, parameter.name)
    for name, canonical in (
        ("perfect:seconds=10,memory=256", "perfect"),
        ("perfect:memory=8,seconds=0.25", "perfect:seconds=0.25,memory=8"),
        ("mcts:1000000s,c=0.1234567891", "mcts:1000000s,c=0.1234567891"),
        ("vadus@64,threads=1,batch=8", "vadus@64,batch=8"),
        ("vadus@2.50s,threads=2", "vadus@2.5s,threads=2"),
        ("policy:some/file,c=2", "policy:some/file,c=2"),
        ("vadus", "vadus"),
    ):
        assert str(BotSpec.parse(name)) == str(BotSpec.parse(canonical)) == canonical


def test_a_bot_has_the_name_that_made_it() -> None:
    style = Parameter("style", words=("calm", "wild"))
    register_bot("named", NamedBot, budgets=(Parameter("games", int, 1, 10),), parameters=(style,))
    assert load_bot("named:7,style=wild", GAME).name == "named:7,style=wild"
    assert NamedBot(load_game(GAME), games=7).name == "NamedBot"
    assert load_bot("perfect:memory=1,seconds=2", GAME).name == "perfect:seconds=2,memory=1"


class NamedBot(Bot):
    """A bot with parameters that does not say what it is called."""

    def __init__(self, game: Game, seed: int | None = None, *, games: int, style: str = "calm") -> None:
        pass

    def step_with_policy(self, state: State) -> tuple[list[tuple[int, float]], int]:
        raise NotImplementedError


@pytest.mark.parametrize(
    "name", ["..", "/", "/etc", "../other@3", "inside/../../other", "policy:/etc/passwd", "nul\0l", "link"]
)
def test_paths_out_of_the_folder_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    folder = tmp_path / "folder"
    (folder / "inside").mkdir(parents=True)
    (tmp_path / "other").mkdir()
    (folder / "link").symlink_to(tmp_path / "other")
    monkeypatch.chdir(folder)
    with pytest.raises(UntrustedNameError, match="paths must lead into"):
        check_name_in_file(name, "file", folder)
    with pytest.raises(UntrustedNameError, match="paths are not allowed"):
        check_name_in_file("inside", "file", None)
    for allowed in ("inside", "policy:inside/policy.file"):
        check_name_in_file(allowed, "file", folder)
    for allowed in ("random", "greedy", "mcts:10", "alphabeta:1", "vadus", "vadus@64"):
        check_name_in_file(allowed, "file", None)


def command_that_leaves_a_trace(trace: Path) -> str:
    return "exec:" + shlex.join([sys.executable, "-c", f"open({str(trace)!r}, 'w')"])


def test_a_ladder_starts_no_program_unless_that_is_allowed(
    tmp_path: Path, run_command: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    trace = tmp_path / "trace"
    ladder = load_ladder(GAME)
    first, *others = ladder.players
    command = command_that_leaves_a_trace(trace)
    pairings = tuple(
        (command, others[0]["name"]) if first["name"] in names else names for names in ladder.settings.pairings
    )
    evil = ladder.replace(
        settings=ladder.settings.replace(pairings=(*pairings, *ladder.settings.pairings)),
        pairings=(*ladder.matches, ladder.matches[0].replace(names=(command, others[0]["name"]))),
    )
    with pytest.raises(UntrustedNameError, match="starts a program"):
        rate("random", evil, tmp_path / "games", RateSettings(num_pairs=1, scout_pairs=1, num_anchors=1))
    evil.save(tmp_path / "ladder.json")
    words = [
        "rate",
        "random",
        "--game",
        GAME,
        "--ladder",
        str(tmp_path / "ladder.json"),
        *["--pairs", "1", "--workers", "1"],
    ]
    code, _, errors = run_command(*words, "--folder", str(tmp_path / "games"))
    assert (code, "starts a program" in errors) == (2, True)
    assert not trace.exists()
    assert not (tmp_path / "games").exists()
    rating = Mock(wraps=rate)
    monkeypatch.setattr("stoneworks.evaluation.rate", rating)
    code, _, errors = run_command(*words, "--anchors", "1", "--trust-names", "--folder", str(tmp_path / "trusted"))
    assert (code, "starts a program" in errors) == (2, False)
    assert trace.exists()
    assert rating.call_args.args[3].num_anchors == 1
    assert np.isfinite(ladder.ratings.elo).all()


@pytest.mark.needs("torch")
@pytest.mark.parametrize(
    ("algorithm", "part", "key"),
    [("alphazero", "matches", "opponents"), ("alphazero", "matches", "search_opponents"), ("ppo", "opponents", "bots")],
)
def test_configurations_start_no_program(
    tmp_path: Path, algorithm: str, part: str, key: str, run_command: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    trace, file = tmp_path / "trace", tmp_path / "config.yaml"
    command = command_that_leaves_a_trace(trace)
    length = {"frames": 64} if algorithm == "ppo" else {"positions": 100}
    bots = {command: 1} if key == "bots" else [command]
    values = {"algorithm": algorithm, "game": "vadus(size=2)", **length, part: {key: bots}}
    file.write_text(yaml.safe_dump(values), encoding="utf-8")
    with pytest.raises(UntrustedNameError, match="starts a program"):
        load_config(str(file))
    code, _, errors = run_command("train", str(file), "--folder", str(tmp_path / "run"))
    assert (code, "starts a program" in errors) == (2, True)
    assert not trace.exists()
    assert not (tmp_path / "run").exists()
    result = Mock(done=0, seconds=0.0, finished=True)
    train = Mock(return_value=result)
    monkeypatch.setattr("stoneworks.training.runs.display.train", train)
    assert run_command("train", str(file), "--folder", str(tmp_path / "run"), "--trust-names")[0] == 0
    assert command in train.call_args.args[0].bot_names()


def test_a_configuration_leads_out_of_its_folder_only_if_that_is_allowed(tmp_path: Path) -> None:
    (tmp_path / "folder" / "inside").mkdir(parents=True)
    (tmp_path / "outside").mkdir()
    file, text = tmp_path / "folder" / "config.yaml", "algorithm: alphazero\ngame: vadus(size=3)\npositions: 100\n"
    file.write_text(f"{text}init_from: {tmp_path / 'folder' / 'inside'}\n", encoding="utf-8")
    load_config(str(file))
    file.write_text(f"{text}init_from: {tmp_path / 'outside'}\n", encoding="utf-8")
    with pytest.raises(UntrustedNameError, match="must lead into"):
        load_config(str(file))
    load_config(str(file), trust_names=True)
    file.write_text(text, encoding="utf-8")
    load_config(str(file), [f"init_from={tmp_path / 'outside'}"])
