"""Imports run one way, from layer to layer and without circles; imports inside functions and for type checkers count too."""

from __future__ import annotations

import ast
import graphlib
from collections.abc import Iterable
from pathlib import Path

import pytest

from fresh_runs import run_python

#: The folders of the package besides ``src/stoneworks/`` itself.
FOLDERS = ("configs", "envs", "models", "evaluation", "training", "integrations", "web")

#: The layers from the lowest, by prefixes of module names; each imports only itself and those before it. Longer prefixes win.
#: Below all of them are the modules in ``src/stoneworks/`` itself, which all share.
LAYERS: tuple[tuple[str, ...], ...] = (
    ("stoneworks.envs.rules",),
    ("stoneworks.envs.drawing",),
    ("stoneworks.envs.games",),
    ("stoneworks.models",),
    ("stoneworks.envs",),
    ("stoneworks.integrations",),
    ("stoneworks.evaluation",),
    ("stoneworks.configs", "stoneworks.training"),
    ("stoneworks.web",),
    ("stoneworks.cli", "stoneworks.__main__"),
)

#: What the games may import, besides their own folder and the one that Vadus and Laido share.
FOR_GAMES = (
    *(
        f"stoneworks.envs.rules.{name}"
        for name in ("compiler", "contract", "fields", "grid", "guide", "options", "stones", "texts")
    ),
    *("stoneworks.envs.rules.text_board", "stoneworks.envs.drawing"),
)
#: Shortcuts to ``Game`` and ``State``, of which games are subclasses and functions, and the entries of the registry.
SHORTCUTS = {"stoneworks.envs.rules", "stoneworks.envs.rules.game", "stoneworks.envs.rules.state"}


Graph = dict[str, set[str]]


def modules_of(repository: Path) -> dict[str, list[Path]]:
    """Return the files of each module: source and, where there is one, type stub."""
    found: dict[str, list[Path]] = {}
    for package, folder in [("stoneworks", "src/stoneworks"), *((f"stoneworks.{name}", name) for name in FOLDERS)]:
        for path in (repository / folder).rglob("*.py*"):
            if path.suffix in (".py", ".pyi"):
                parts = path.relative_to(repository / folder).with_suffix("").parts
                found.setdefault(".".join([package, *parts]).removesuffix(".__init__"), []).append(path)
    return found


def imports_of(source: str, package: str, modules: Iterable[str]) -> set[str]:
    """Return the modules that are imported anywhere in a source text of ``package``."""
    names = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            within = package.split(".")[: len(package.split(".")) + 1 - node.level] if node.level else []
            module = ".".join([*within, *([node.module] if node.module else [])])
            members = {f"{module}.{alias.name}" for alias in node.names}
            names |= {member if member in modules else module for member in members}
    return names & set(modules)


@pytest.fixture(scope="module")
def graph(repository: Path) -> Graph:
    """The modules that each module imports."""
    modules = modules_of(repository)
    found: Graph = {}
    for name, paths in modules.items():
        package = name if any(path.stem == "__init__" for path in paths) else name.rpartition(".")[0]
        texts = [path.read_text(encoding="utf-8") for path in paths]
        found[name] = set().union(*(imports_of(text, package, modules) for text in texts)) - {name}
    return found


def layer_of(module: str) -> int:
    """Return the number of the layer of a module; -1 for what all share."""
    if module == "stoneworks":  # its shortcuts lead to other layers
        return len(LAYERS)
    prefixes = {prefix: number for number, layer in enumerate(LAYERS) for prefix in layer}
    parts = module.split(".")
    names = (".".join(parts[:length]) for length in range(len(parts), 1, -1))
    return next((prefixes[name] for name in names if name in prefixes), -1)


def test_imports_go_down_also_those_in_functions_and_for_type_checkers(graph: Graph) -> None:
    assert all(layer_of(f"stoneworks.{folder}") >= 0 for folder in FOLDERS)
    assert layer_of("stoneworks.files") < layer_of("stoneworks.envs.rules.game") < layer_of("stoneworks.envs.aec")
    assert len(graph) > 100
    upward = {(name, other) for name, found in graph.items() for other in found if layer_of(other) > layer_of(name)}
    assert upward == set()
    source = """
import a.b
if TYPE_CHECKING:
    from a.c import name
def function():
    from a import d
    from .e import other
    from .. import f
"""
    modules = {"a", "a.b", "a.c", "a.d", "a.x.e", "a.f", "a.unused"}
    assert imports_of(source, "a.x", modules) == {"a.b", "a.c", "a.d", "a.x.e", "a.f"}


def test_games_import_only_the_contract_the_compiler_and_common_parts(graph: Graph) -> None:
    games = "stoneworks.envs.games"
    for name in (name for name in graph if name.startswith(f"{games}.")):
        own = ".".join(name.split(".")[:4])
        allowed = (own, f"{games}.hexhex", *FOR_GAMES)
        others = {
            found for found in graph[name] - SHORTCUTS if not any(f"{found}.".startswith(f"{one}.") for one in allowed)
        }
        assert others == set(), name


def test_files_of_single_games_are_in_their_folders_only(repository: Path) -> None:
    names = ("vadus", "laido", "taugo", "taigo", "trugo")
    for folder in ("envs", "models", "training"):
        files = [
            file.relative_to(repository) for file in (repository / folder).rglob("*") if "__pycache__" not in file.parts
        ]
        of_games = {file for file in files if any(name in file.stem for name in names) and file.suffix}
        allowed = ("envs/games/", "models/checkpoints/", "models/ladders/")
        elsewhere = {str(file) for file in of_games if not str(file).startswith(allowed)}
        assert elsewhere == {f"envs/{name}_v0.py" for name in names if folder == "envs"}


def test_modules_and_sibling_folders_import_one_another_in_one_direction(graph: Graph, repository: Path) -> None:
    game, state = "stoneworks.envs.rules.game", "stoneworks.envs.rules.state"
    assert state in graph[game], "a game makes states, and a state belongs to a game: the only circle"
    graphlib.TopologicalSorter({**graph, game: graph[game] - {state}}).prepare()
    folder_of = {
        name: name if paths[0].name.startswith("__init__.") else name.rpartition(".")[0]
        for name, paths in modules_of(repository).items()
    }
    folders: Graph = {folder: set() for folder in folder_of.values()}
    for name, found in graph.items():
        folder = folder_of[name]
        parent = folder.rpartition(".")[0]
        siblings = {folder_of[other] for other in found if folder_of[other].rpartition(".")[0] == parent}
        folders[folder] |= siblings - {folder} if parent != "stoneworks" else set()
    graphlib.TopologicalSorter(folders).prepare()


def test_importing_packages_imports_no_heavy_library() -> None:
    heavy = {"numba", "numpy", "torch", "gymnasium", "pettingzoo", "importlib.metadata"}
    packages = "stoneworks, stoneworks.envs, stoneworks.envs.rules, stoneworks.models, stoneworks.training"
    assert heavy.isdisjoint(run_python(f"import sys, {packages}; print(*sys.modules)").split())
    code = "import sys, stoneworks; stoneworks.load_game('vadus').new_initial_state(); print(*sys.modules)"
    assert {"gymnasium", "pettingzoo", "torch", "pygame", "rich", "typer", "PIL"}.isdisjoint(run_python(code).split())
