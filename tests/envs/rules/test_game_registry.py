"""The registries of games and bots: what other packages add, in whatever order things are imported, and bad entries."""

from __future__ import annotations

from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

import stoneworks
from fresh_runs import run_python
from installed_packages import LAST_BOT, install
from stoneworks.envs.games.vadus.rules import Vadus
from stoneworks.envs.rules import Game, RegistrationError, State, load_game
from stoneworks.envs.rules.game_registry import GAMES
from stoneworks.models import Bot, BotEntry, UnknownBotError

VADUS = "stoneworks.envs.games.vadus.rules:Vadus"


class FirstBot(Bot):
    """Plays the first legal action."""

    def __init__(self, game: Any, seed: int | None) -> None:
        self.seed = seed

    def step_with_policy(self, state: State) -> tuple[list[tuple[int, float]], int]:
        action = state.legal_actions()[0]
        return [(action, 1.0)], action


GAME, BOT = {"name": "other", "game": VADUS}, {"name": "other", "bot": "a:B"}


@pytest.mark.parametrize(
    ("entry", "arguments", "named"),
    [
        *((GAME, {"name": name}, repr(name)) for name in ("Vadus", "for", "9x", "", None)),
        (GAME, {"game": "no module:Class"}, "path must be 'module' or 'module:attribute'"),
        *((GAME, {"version": bad}, f"version must be an integer >= 0, got {bad!r}") for bad in (-1, True, "1")),
        (GAME, {"samples": ("vadus(size=3)",)}, "samples must be game strings of other, got 'vadus.size=3.'"),
        (BOT, {"name": "First"}, "'First'"),
        (BOT, {"bot": "module"}, "bot must be 'module:attribute', got 'module'"),
        (BOT, {"needs_heuristic": 1}, "needs_heuristic must be True or False, got 1"),
        (BOT, {"name": "vadus"}, "'vadus'.*shipped checkpoint"),
    ],
)
def test_a_bad_entry_is_refused(entry: dict[str, Any], arguments: dict[str, Any], named: str) -> None:
    names = stoneworks.game_names(), stoneworks.bot_names()
    with pytest.raises(RegistrationError, match=named):
        (stoneworks.register_game if entry is GAME else stoneworks.register_bot)(**{**entry, **arguments})
    assert (stoneworks.game_names(), stoneworks.bot_names()) == names


class Unfinished(Game):
    name = "unfinished"
    option_types = MappingProxyType({})
    reasons = ()

    def state_to_text(self, state: State) -> str:
        return ""


def test_what_the_class_of_a_game_lacks_is_named_at_once() -> None:
    lacking = "size_options, num_action_planes, global_actions, observation_planes, colors, action_help, kernels, max_game_length"
    stoneworks.register_game("unfinished", Unfinished)
    with pytest.raises(RegistrationError, match=f"unfinished: the class Unfinished lacks {lacking} .see stoneworks"):
        load_game("unfinished")


class Forgetful(Vadus):
    name = "forgetful"

    def __init__(self, **options: object) -> None:
        super().__init__(**options)
        del self.board


def test_what_a_constructor_does_not_set_is_named_at_once() -> None:
    stoneworks.register_game("forgetful", Forgetful)
    with pytest.raises(RegistrationError, match="the constructor of Forgetful must set board"):
        load_game("forgetful")


def test_a_name_is_registered_once_and_the_same_entry_any_number_of_times() -> None:
    for _ in range(2):
        stoneworks.register_bot("first", FirstBot)
    assert stoneworks.bot_names().count("first") == 1
    for name in ("first", "greedy"):
        with pytest.raises(RegistrationError, match=f"'{name}' is already registered"):
            stoneworks.register_bot(name, "other:Class")
    with pytest.raises(RegistrationError, match="'vadus' is already registered"):
        stoneworks.register_game("vadus", "other:Class")
    for wrong in (VADUS, BotEntry("x", "a:B")):
        with pytest.raises(RegistrationError, match="a game must be a GameEntry"):
            GAMES.add(wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("rules", "named"),
    [
        ("no_such_module:Class", "cannot import 'no_such_module:Class': ModuleNotFoundError"),
        ("stoneworks.envs.games.vadus.rules:reset", "must be a subclass of Game"),
        (VADUS, "must have the name 'other', got 'vadus'"),
        ("stoneworks.envs.games.vadus", "must define a subclass of Game with the name 'other'"),
    ],
)
def test_rules_that_cannot_be_used_are_an_error_when_the_game_is_loaded(rules: str, named: str) -> None:
    stoneworks.register_game("other", rules)
    with pytest.raises(RegistrationError, match=named):
        load_game("other(size=3)")


def test_a_registered_bot_works_by_name() -> None:
    stoneworks.register_bot("first", FirstBot)
    stoneworks.register_bot("broken", "no_such_module:Bot")
    stoneworks.register_bot("no_bot", "pathlib:Path")
    bot = stoneworks.load_bot("first", "vadus(size=2)", seed=3)
    assert isinstance(bot, FirstBot)
    assert bot.seed == 3
    with pytest.raises(UnknownBotError, match="argument"):
        stoneworks.load_bot("first:5", "vadus(size=2)")
    with pytest.raises(UnknownBotError, match="'first'"):
        stoneworks.load_bot("second", "vadus(size=2)")
    with pytest.raises(RegistrationError, match="no_such_module"):
        stoneworks.load_bot("broken", "vadus(size=2)")
    with pytest.raises(RegistrationError, match="subclass of Bot"):
        stoneworks.load_bot("no_bot", "vadus(size=2)")


def test_the_samples_of_every_game_have_another_value_of_each_option() -> None:
    for name in GAMES.built_in_names():
        entry = GAMES[name]
        options = [load_game(sample).options for sample in entry.samples]
        for option, default in load_game(name).options.items():
            values = {str(of_sample[option]) for of_sample in options}
            assert len(values - {str(default)}) > 0, f"no sample of {name} has another {option} than {default}"


TWO_IN_A_ROW = f"""{LAST_BOT}
from stoneworks.envs.rules import GameEntry
from stoneworks.envs.games.laido.rules import Laido

class Twin(Laido):
    name = "twin"

GAME = GameEntry("twin", "twins:Twin", version=3, samples=("twin(size=2)",))
BOT = BotEntry("last", "twins:LastBot")
"""


@pytest.fixture
def twins(tmp_path: Path) -> Path:
    """A package with a game and a bot, declared by entry points."""
    declared = "[stoneworks.games]\ntwin = twins:GAME\n[stoneworks.bots]\nlast = twins:BOT\n"
    return install(tmp_path / "twins", "stoneworks-twins", declared, twins=TWO_IN_A_ROW)


def test_a_game_and_a_bot_of_an_installed_package_work_by_name_everywhere(twins: Path, tmp_path: Path) -> None:
    code = """
import sys, stoneworks
assert "twins" not in sys.modules
assert stoneworks.game_names()[-1] == "twin" and stoneworks.bot_names()[-1] == "last"
assert "twins" not in sys.modules, "names are known without importing the package"
game = stoneworks.load_game("twin(size=2)")
assert game.version == 3
import gymnasium, pettingzoo, pickle
assert pickle.loads(pickle.dumps(game)) == game
env = gymnasium.make("stoneworks.envs:stoneworks/Twin-v3", size=2, opponent="last")
env.reset()
from stoneworks.envs import BoardGameEnv
assert BoardGameEnv("twin", size=2).metadata["name"] == "twin_v3"
if hasattr(pettingzoo, "make"):  # since 1.27
    pettingzoo.make("aec", "stoneworks/twin-v3", size=2).reset()
from stoneworks.envs import draw
assert draw(game.new_initial_state()).svg.startswith("<svg")
"""
    commands = f"""
from stoneworks.cli.main import main

for words in ("arena last random --game twin(size=2) --pairs 4 --workers 2 --folder {tmp_path}/arena", "games", "bots"):
    print("OUTPUT")
    try:
        main(words.split())
    except SystemExit as ended:
        assert not ended.code
"""
    _, arena, games, bots = run_python(code + commands, path=(twins,)).split("OUTPUT")
    assert "last" in arena
    assert "twin" in games
    assert "last" in bots


def test_a_broken_package_has_no_effect_until_its_game_is_loaded(twins: Path, tmp_path: Path) -> None:
    declared = "[stoneworks.games]\nbroken = broken:GAME\nwrong = wrong:GAME\nvadus = wrong:GAME\n"
    declared += "[stoneworks.bots]\nbroken = broken:BOT\n"
    sources = {"broken": "raise RuntimeError('out of order')", "wrong": "GAME = 5"}
    folder = install(tmp_path / "broken", "stoneworks-broken", declared, **sources)
    declared_too = "[stoneworks.games]\ntwin = other_twins:GAME\n"
    claimant = install(tmp_path / "claimant", "other-twins", declared_too)
    code = """
import stoneworks
from stoneworks.envs.rules import RegistrationError
assert {"broken", "wrong", "vadus"} <= set(stoneworks.game_names())
import gymnasium, stoneworks.envs
gymnasium.make("stoneworks/Vadus-v0", size=3)
stoneworks.load_bot("random", "vadus(size=3)")
for name in ("broken", "wrong", "twin"):
    try:
        stoneworks.load_game(name)
    except RegistrationError as error:
        print("ERROR", error)
for name in ("broken", "nobody"):
    try:
        stoneworks.load_bot(name, "vadus")
    except ValueError as error:
        print("ERROR", type(error).__name__, error)
from stoneworks.cli.main import main
main(["games"])
"""
    out = run_python(code, path=(folder, twins, claimant))
    errors = [line for line in out.splitlines() if line.startswith("ERROR")]
    broken, wrong, twin, bot, nobody = errors
    assert "'broken = broken:GAME' of package stoneworks-broken: RuntimeError: out of order" in broken
    assert "must refer to a GameEntry named 'wrong', got 5" in wrong
    assert "stoneworks-twins" in twin
    assert "other-twins" in twin
    assert bot.startswith("ERROR RegistrationError")
    assert nobody.startswith("ERROR UnknownBotError")
    assert "ignoring entry point 'vadus = wrong:GAME'" in out
    assert "laido" in out.split("ERROR")[-1], "the command line lists the others"
