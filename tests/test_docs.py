"""The pages say what the code does: facts of the games' pages, links, and every block of Python."""

from __future__ import annotations

import contextlib
import importlib.util
import inspect
import io
import itertools
import json
import re
import runpy
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml
from packaging.version import Version

from game_play import after, legal_texts, read_test_data
from stoneworks.envs.drawing import draw_illustration
from stoneworks.envs.rules import game_names, load_game
from stoneworks.envs.rules.guide import Illustration
from stoneworks.evaluation.match import play_match
from stoneworks.models import load_bot
from tools.page_tables import TABLES, with_tables

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted(path for path in (ROOT / "docs").rglob("*.md") if path.parent.name != "api")]
RULING_PICTURES = runpy.run_path(str(ROOT / "docs" / "ruling_pictures.py"))["RULING_PICTURES"]


class GamePage:
    """The page of a game: its text and its tables."""

    def __init__(self, name: str) -> None:
        self.game = load_game(name)
        self.text = (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")

    def table(self, *heads: str) -> dict[str, list[str]]:
        """Return the rows of the table with these heads: the other cells by the first cell, backquotes removed."""
        _, rest = self.text.split("| " + " | ".join(heads) + " |\n")  # there is one table with these heads
        rows: dict[str, list[str]] = {}
        for line in itertools.takewhile(lambda line: line.startswith("|"), rest.splitlines()[1:]):
            cells = [cell.strip().strip("`") for cell in line.strip("|").split("|")]
            assert cells[0] not in rows
            rows[cells[0]] = cells[1:]
        assert rows
        return rows


def test_the_tables_of_the_pages_are_those_of_today() -> None:
    texts = [path.read_text(encoding="utf-8") for path in PAGES]
    for path, text in zip(PAGES, texts, strict=True):
        assert with_tables(text) == text, f"make tables: {path.name} is outdated"
    for name in TABLES:
        assert any(f"<!-- table: {name}" in text for text in texts)
    for text, message in (
        ("<!-- table: facts vadus -->\n", "must have a line '<!-- end of the table -->' after it"),
        ("<!-- table: of what -->\n<!-- end of the table -->", "must be one of actions, .*; got 'of'"),
    ):
        with pytest.raises(ValueError, match=message):
            with_tables(text)


@pytest.fixture(params=game_names())
def page(request: pytest.FixtureRequest) -> GamePage:
    return GamePage(request.param)


def test_a_page_shows_the_facts_of_its_game(page: GamePage) -> None:
    game = page.game
    assert f"- v{game.version}: " in page.text.split("## Version history")[1]
    assert page.table("fact", "value")["Game string"] == [str(game)]
    options = page.table("option", "default", "allowed")
    assert {name: row[0] for name, row in options.items()} == {name: repr(game.options[name]) for name in game.options}
    assert all(options[name][1].startswith(option.allowed) for name, option in game.option_types.items())
    assert tuple(page.table("plane", "1 where")) == game.observation_planes
    assert tuple(page.table("reason", "meaning")) == game.reasons
    letter, number = read_test_data("games.yaml")[game.name]["rulings"]
    rulings = [f"{letter}{i + 1}" for i in range(number)]
    assert re.findall(r"^- \*\*(\w+)\.\*\* ", page.text, re.MULTILINE) == rulings
    pictures = [picture for picture in RULING_PICTURES if picture.state().game.name == game.name]
    assert {*rulings, "turn", "end"} <= {picture.illustration.ruling.partition("-")[0] for picture in pictures}


def test_the_examples_of_actions_have_the_indices_that_a_page_gives(page: GamePage) -> None:
    rows = page.table("text", "index", "description")
    for text, (index, _) in rows.items():
        assert page.game.string_to_action(text) == int(index)
        assert page.game.action_to_string(int(index)) == text
    assert set(page.game.global_actions) <= set(rows)


@pytest.mark.parametrize("name", [name for name in ("vadus", "laido", "taugo") if name in game_names()])
def test_the_formulas_of_actions_hold(name: str) -> None:
    page = GamePage(name)
    game = page.game
    width = game.grid.width
    rows = page.table("action", "index", "inverse")
    formula, inverse = (cell.strip("`") for cell in rows["a stone on (row, column)"])
    for index in range(game.grid.num_cells):
        values: dict[str, Any] = {"W": width, "index": index}
        exec(inverse, {"divmod": divmod}, values)
        assert eval(formula, {}, values) == index
        assert game.action_to_string(index) == f"{'abcdefghijklmnopqrstuvwxyz'[values['column']]}{values['row'] + 1}"
    for text in game.global_actions:
        assert eval(rows[text][0], {}, {"W": width}) == game.string_to_action(text)


GUIDES = ("environments", "training", "alphazero", "web", "arena", "cluster")


def num_words(name: str) -> int:
    """Return the words of a page of ``docs/``, without generated tables, captions of pictures, and tables of data pages."""
    text = (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")
    text = re.sub(
        r"^<!-- (?!end).*?^<!-- end of .*?-->$|^[^\n]*(?:!\[|<img )[^\n]*$", "", text, flags=re.MULTILINE | re.DOTALL
    )
    (data,) = [
        section["Data"] for section in yaml.safe_load((ROOT / "mkdocs.yml").read_text())["nav"] if "Data" in section
    ]
    is_data = f"{name}.md" in [page for entry in data for page in entry.values()]
    return len((re.sub(r"^\|.*$", "", text, flags=re.MULTILINE) if is_data else text).split())


@pytest.mark.parametrize(
    ("names", "limit"),
    [
        (GUIDES, 4_000),
        (("experiments",), 1_000),
        (("adding-a-game",), 1_200),
        ([path.stem for path in (ROOT / "docs").glob("*.md")], 18_000),
    ],
)
def test_pages_are_short(names: Sequence[str], limit: int) -> None:
    words = {name: num_words(name) for name in names}
    assert sum(words.values()) <= limit, words


#: Each block of the pages with the next one: page, line, language and content.
BLOCKS = [
    (path.relative_to(ROOT).as_posix(), text[: block.start()].count("\n") + 2, *block.groups())
    for path in PAGES
    for text in [path.read_text(encoding="utf-8")]
    for block in re.finditer(r"^```(\S*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
]


#: Each block of Python with the output block that follows it, or None.
PYTHON_BLOCKS = [
    pytest.param(page, line, code, output if following == "output" else None, id=f"{page}:{line}")
    for (page, line, language, code), (_, _, following, output) in itertools.pairwise([*BLOCKS, ("", 0, "", "")])
    if language == "python" and page != "docs/tutorial.md"
]


@pytest.mark.parametrize(("page_name", "line", "code", "output"), PYTHON_BLOCKS)
def test_a_block_of_python_prints_what_the_page_shows(
    page_name: str, line: int, code: str, output: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(ROOT / "examples")
    for example in ("hex", "breakthrough", "imitation"):
        monkeypatch.delitem(sys.modules, example, raising=False)
    printed = io.StringIO()
    compiled = compile("\n" * (line - 1) + code, str(ROOT / page_name), "exec")
    with contextlib.redirect_stdout(printed):
        exec(compiled, {"__name__": "__main__"})
    if output is not None:
        assert printed.getvalue() == output


def test_the_moving_picture_is_up_to_date() -> None:
    picture = runpy.run_path(str(ROOT / "docs" / "make_images.py"))["animated_game"]()
    assert (ROOT / "docs" / "images" / "game.svg").read_text(encoding="utf-8") == picture.svg


def test_the_blocks_of_the_tutorial_are_one_script_that_ends_with_a_figure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    variables: dict[str, Any] = {"__name__": "__main__"}
    for page, line, language, code in BLOCKS:
        if (page, language) == ("docs/tutorial.md", "python"):
            exec(compile("\n" * (line - 1) + code, str(ROOT / page), "exec"), variables)
    assert (tmp_path / "ratings.pdf").read_bytes().startswith(b"%PDF")
    assert re.search(r"^features: -?\d+ ± \d+ over seeds$", capsys.readouterr().out, re.MULTILINE)
    assert len(variables["elo"]) == 2 + len(variables["ARMS"]) * len(variables["SEEDS"])


def test_excerpts_match_the_examples_and_those_of_libraries_are_shown_whole_and_tested() -> None:
    excerpts = [block for page, _, language, block in BLOCKS if (page, language) == ("docs/adding-a-game.md", "py")]
    example = "".join(
        (ROOT / "examples" / name).read_text(encoding="utf-8") for name in ("hex.py", "breakthrough.py", "imitation.py")
    )
    assert len(excerpts) > 3
    assert [excerpt for excerpt in excerpts if excerpt not in example] == []
    pages = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "docs" / "libraries").glob("*.md"))
    tests = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests" / "integrations").glob("test_*.py"))
    examples = sorted(path.stem for path in (ROOT / "examples").glob("*_*.py"))
    shown = re.findall(r"^\[(\w+)\.py\]\(\.\./\.\./examples/\1\.py\)$", pages, re.MULTILINE)
    assert sorted(shown) == examples
    assert [name for name in examples if name not in tests] == []


@pytest.mark.parametrize(
    ("page", "name"), [("adding-a-game", "bot"), ("adding-a-game", "network"), ("positions-values-data", "weights")]
)
def test_a_script_prints_what_the_page_says_that_shows_it(page: str, name: str, tmp_path: Path) -> None:
    text = (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")
    (printed,) = re.findall(rf"\sprints\s`(.*)`:\n\n\[{name}\.py\]\(\.\./examples/{name}\.py\)$", text, re.MULTILINE)
    command = [sys.executable, ROOT / "examples" / f"{name}.py"]
    assert subprocess.check_output(command, cwd=tmp_path, text=True) == f"{printed}\n"


def test_the_example_of_the_protocol_plays_without_a_forfeit() -> None:
    engine = (
        f"exec:seconds=60,start=300,{shlex.quote(sys.executable)} {shlex.quote(str(ROOT / 'examples' / 'engine.py'))}"
    )
    bots = [load_bot(name, "laido(size=3)", seed=1) for name in (engine, "greedy")]
    assert play_match("laido(size=3)", *bots, num_pairs=2, seed=2).num_forfeits == (0, 0)
    bots[0].close()


def test_pages_read_well_without_the_site_which_shows_scripts_whole() -> None:
    from docs.site_hooks import on_page_markdown

    for path in PAGES:
        text = re.sub(r"^```.*?^```$", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
        assert re.findall(r"--8<--|^#.*\{.*\}$|^(?:!!!|===) .*", text, re.MULTILINE) == [], path.name
    text = (ROOT / "docs" / "protocol.md").read_text(encoding="utf-8")
    page = SimpleNamespace(file=SimpleNamespace(src_uri="protocol.md"), meta={})
    program = (ROOT / "examples" / "engine.py").read_text(encoding="utf-8")
    assert on_page_markdown(text, page).endswith(
        f"[engine.py](source/examples/engine.py.txt)\n\n```python\n{program}```\n"
    )


def test_notebooks_are_stored_without_outputs() -> None:
    """They are run with the site, by tests/web/browser/test_site.py."""
    notebooks = list((ROOT / "examples").glob("*.ipynb"))
    assert len(notebooks) == 3
    for notebook in notebooks:
        for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]:
            assert not cell.get("outputs"), notebook.name
            assert cell.get("execution_count") is None


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_links_to_files_are_valid(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    targets = re.findall(r"\]\(([^)\s]+)\)", text) + re.findall(r'src="([^"]+)"', text)
    for target in targets:
        if not re.match(r"[a-z]+:", target) and not target.startswith("#"):
            assert (path.parent / target.split("#")[0]).exists(), target


API_PAGES = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "docs" / "api").glob("*.md"))
DOCUMENTED_MODULES = set(re.findall(r"^::: (\S+)$", API_PAGES, re.MULTILINE))


def packages_with_public_names() -> list[str]:
    """Return the import names of the packages that define ``__all__``."""
    found = []
    for folder in ("src/stoneworks", "envs", "models", "evaluation", "training", "integrations", "web", "configs"):
        for path in sorted((ROOT / folder).rglob("__init__.py")):
            if re.search(r"^(\w+, )*__all__\b", path.read_text(encoding="utf-8"), re.MULTILINE):
                parts = path.parent.relative_to(ROOT).parts
                found.append(".".join(parts[1:] if folder == "src/stoneworks" else ("stoneworks", *parts)))
    return found


@pytest.mark.parametrize("package", packages_with_public_names())
def test_the_api_reference_documents_every_public_name(package: str) -> None:
    """A class or function by the page of the module that defines it, a constant or an environment module by name."""
    module = importlib.import_module(package)

    def is_documented(name: str) -> bool:
        value = getattr(module, name)
        if inspect.isclass(value) or inspect.isroutine(value):
            return value.__module__ in DOCUMENTED_MODULES and bool(value.__doc__)
        return f"`{name}`" in API_PAGES

    assert [name for name in module.__all__ if not is_documented(name)] == []


def test_what_the_reference_the_pictures_the_changelog_and_the_citation_name_is_there() -> None:
    assert [name for name in DOCUMENTED_MODULES if importlib.util.find_spec(name) is None] == []
    integrations = {f"stoneworks.integrations.{path.stem}" for path in (ROOT / "integrations").glob("[a-z]*.py")}
    assert integrations <= DOCUMENTED_MODULES
    files = {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs" / "images" / "rulings").iterdir()}
    assert files == {picture.path for picture in RULING_PICTURES}
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    released = re.findall(r"^## (\d\S*) - (\S+)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    last, date = released[0]
    assert version == last or (Version(version).is_devrelease and Version(version) > Version(last))
    tutorial = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
    assert re.findall(r"^  version = {(.*)},$", tutorial, re.MULTILINE) == [last]
    assert f"\nversion: {last}\ndate-released: {date}\n" in citation


@pytest.mark.parametrize("picture", RULING_PICTURES, ids=lambda picture: picture.path)
def test_a_picture_of_the_rules_is_up_to_date_in_its_place_and_true(picture: Any) -> None:
    assert (ROOT / "docs" / picture.path).read_text(encoding="utf-8") == picture.draw().svg
    state = picture.state()
    legal = legal_texts(state)
    shown = picture.illustration
    assert set(shown.legal.split()) <= legal
    assert set(shown.illegal.split()) <= set(state.game.action_texts) - legal
    if shown.result:
        final = after(state, shown.then)
        assert final.is_terminal()
        assert shown.result in str(final).splitlines()[-1]
    page = (ROOT / "docs" / f"{state.game.name}.md").read_text(encoding="utf-8")
    assert page.count(picture.link) == 1
    ruling = shown.ruling.partition("-")[0]
    if ruling not in ("turn", "end"):
        of_ruling = re.split(r"^- \*\*\w+\.\*\* |^$", page.split(f"- **{ruling}.** ")[1], flags=re.MULTILINE)[0]
        assert picture.link in of_ruling


def test_alternative_texts_say_what_pictures_show(page: GamePage) -> None:
    illustrations = page.game.guide.illustrations
    texts = [illustration.description for illustration in illustrations]
    assert len(set(texts)) == len(texts)
    titles = page.game.guide.titles
    for illustration, text in zip(illustrations, texts, strict=True):
        name, _, number = illustration.ruling.partition("-")
        kind = {"turn": f"A turn, picture {number}", "end": f"An ending, picture {number}"}.get(name)
        assert text.startswith(f"{kind or titles[name]}: {'position' if illustration.moves else 'start'}")
        for places in (illustration.legal, illustration.illegal, illustration.named, illustration.region):
            shown = places.replace(">", "to ").split(" ") if 0 < len(places.split()) <= 6 else []
            assert all(place in text for place in shown)
    assert not set("[]<>|*") & set("".join(texts)), "Markdown and HTML show them as they are"


def test_the_page_of_a_game_is_short(page: GamePage) -> None:
    """Without generated tables, outputs, pictures and captions."""
    generated = r"<!-- (table|what).*?<!-- end.*?-->|```output.*?```"
    text = re.sub(generated, "", page.text, flags=re.DOTALL)
    text = re.sub(r"!\[.*?\]\(.*?\)(<br>\*.*\*$)?|<[^>]*>", "", text, flags=re.MULTILINE)
    assert len(re.findall(r"\S*\w\S*", text)) <= 1200


@pytest.mark.parametrize("name", ["trugo", "taugo"])
def test_the_questions_for_readers_of_a_page_have_the_answers_of_the_rules(name: str) -> None:
    questions = read_test_data("page_questions.yaml")[name]
    assert len({(question["game"], question["moves"]) for question in questions}) == 20
    shown = {(picture.illustration.game, picture.illustration.moves) for picture in RULING_PICTURES}
    before_picks = {(game, moves.rpartition(" ")[0]) for game, moves in shown if moves[-1:] in ("^", "v")}
    on_the_page = [question for question in questions if (question["game"], question["moves"]) in shown | before_picks]
    assert len(on_the_page) >= 14
    for question in questions:
        picture = draw_illustration(Illustration("", question["game"], question["moves"])).svg
        assert "destinations" not in picture, "the picture tells no answer"
        assert len(question["actions"]) == 3
        for turn, is_legal in question["actions"].items():
            state = load_game(question["game"]).deserialize_state("\n".join(question["moves"].split()))
            for text in turn.split()[:-1]:
                if text not in legal_texts(state):
                    break
                state = after(state, text)
            assert (turn.split()[-1] in legal_texts(state)) == is_legal, (question, turn)


def command_of(words: list[str]) -> tuple[Any, list[str]]:
    """Return the command of a command line, and its arguments."""
    import typer

    from stoneworks.cli.main import app

    command: Any = typer.main.get_command(app)
    assert words.pop(0) == "stoneworks"
    while words and hasattr(command, "commands"):
        assert words[0] in command.commands, f"there is no command {words[0]}"
        command = command.commands[words.pop(0)]
    return command, words


#: The commands in the blocks of shell commands.
COMMANDS = [line for *_, language, block in BLOCKS if language in ("", "sh") for line in block.splitlines()]


@pytest.mark.parametrize("line", [line for line in COMMANDS if line.startswith("stoneworks ")])
def test_a_command_of_a_page_has_valid_arguments(line: str) -> None:
    from stoneworks.training import load_config

    command, arguments = command_of(shlex.split(line, comments=True))
    parameters = command.make_context(command.name, list(arguments)).params
    if command.name == "train":
        amounts = [f"{key}={parameters[key]}" for key in ("positions", "frames") if parameters[key] is not None]
        load_config(parameters["config"], [*(parameters["overrides"] or ()), *amounts])


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_commands_within_the_text_of_a_page_exist(path: Path) -> None:
    text = re.sub(r"^```.*?^```$", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for code in re.findall(r"(?<!`)`((?:stoneworks|make) [a-z][^`]*)`", text):
        words = shlex.split(code.replace("\n", " "))
        if words[0] == "make":
            target = re.sub(r"^(test-integrations-)\w+$", r"\1%", words[1])
            assert re.search(rf"^{target}:", makefile, re.MULTILINE), code
        else:
            command, arguments = command_of(words)
            options = {option for parameter in command.params for option in parameter.opts} | {"--help"}
            unknown = [word for word in arguments if word.startswith("--") and word not in options]
            assert unknown == [], code


def test_every_block_has_a_language_that_is_tested_and_entry_points_are_those_of_the_registries() -> None:
    """Python runs, ``py`` excerpts and output are compared, and shell commands are parsed."""
    languages = [language for *_, language, _ in BLOCKS]
    assert set(languages) <= {"python", "py", "output", "", "sh", "toml"}
    following = re.findall(r"^```\n\n```output$", "\n".join(path.read_text("utf-8") for path in PAGES), re.MULTILINE)
    assert len(following) == languages.count("output"), "output follows a block"
    from stoneworks.envs.rules import game_registry as games
    from stoneworks.models import architecture
    from stoneworks.models.bots import registry
    from stoneworks.training.runs import algorithms

    page = (ROOT / "docs" / "adding-a-game.md").read_text(encoding="utf-8")
    blocks = [block for *_, language, block in BLOCKS if language == "toml"]
    groups = {group for block in blocks for group in tomllib.loads(block)["project"]["entry-points"]}
    known = {module.ENTRY_POINT_GROUP for module in (games, registry, architecture, algorithms)}
    assert groups
    assert groups <= known
    assert all(f"`{group}`" in page for group in known)
