"""Modules import one another without circles, inside functions and for type annotations too."""

from __future__ import annotations

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

#: Folder of each package in the repository.
PACKAGES = {
    "stoneworks": "stoneworks",
    **{f"stoneworks.{name}": name for name in ("envs", "models", "evaluation", "training", "integrations", "web")},
}

#: A game makes states, and a state belongs to a game.
ALLOWED_CIRCLE = {"stoneworks.envs.rules.game", "stoneworks.envs.rules.state"}

#: Packages from the lowest; each imports only itself and those before it.
LAYERS = ("stoneworks.envs.rules", "stoneworks.models", "stoneworks.envs", "stoneworks.training")


def modules_of(repository: Path) -> dict[str, Path]:
    """Return the file of each module of the package."""
    found = {}
    for package, folder in PACKAGES.items():
        for path in (repository / folder).rglob("*.py"):
            parts = path.relative_to(repository / folder).with_suffix("").parts
            found[".".join([package, *parts]).removesuffix(".__init__")] = path
    return found


def imports_of(source: str, modules: set[str]) -> set[str]:
    """Return the modules that are imported anywhere in a source text."""
    names = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            members = {f"{node.module}.{alias.name}" for alias in node.names}
            names |= {member if member in modules else str(node.module) for member in members}
    return names & modules


def circle_in(graph: dict[str, set[str]]) -> list[str]:
    """Return the modules of a circle in order, or an empty list."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


@pytest.fixture(scope="module")
def graph(repository: Path) -> dict[str, set[str]]:
    """The modules that each module imports."""
    modules = modules_of(repository)
    return {name: imports_of(path.read_text(encoding="utf-8"), set(modules)) - {name} for name, path in modules.items()}


def test_game_and_state_are_the_only_import_cycle(graph: dict[str, set[str]]) -> None:
    assert len(graph) > 150
    assert set(circle_in({name: graph[name] & ALLOWED_CIRCLE for name in ALLOWED_CIRCLE})) == ALLOWED_CIRCLE
    # With the two taken as one module there is none.
    merged = {
        "both" if name in ALLOWED_CIRCLE else name: {"both" if found in ALLOWED_CIRCLE else found for found in imported}
        for name, imported in graph.items()
    }
    merged["both"] = set().union(*(graph[name] for name in ALLOWED_CIRCLE)) - ALLOWED_CIRCLE
    assert circle_in(merged) == []


def layer_of(module: str) -> int | None:
    """Return the number of the layer that a module belongs to, or None."""
    return next((number for number, layer in enumerate(LAYERS) if f"{module}.".startswith(f"{layer}.")), None)


def test_imports_go_from_training_to_environments_to_models_to_rules(graph: dict[str, set[str]]) -> None:
    for name, imported in graph.items():
        for other in imported:
            importer, layer = layer_of(name), layer_of(other)
            assert importer is None or layer is None or layer <= importer, f"{name} imports {other}"
