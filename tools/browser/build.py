"""Builds the games for browsers: ``python -m tools.browser.build FOLDER``.

The folder gets, for each game, ``GAME.wasm`` with the code, ``GAME-BOARD.json`` for its named boards and those of its pictures of
rulings and lessons, ``GAME.weights`` with the weights of its agent, and ``games.json``, which lists them.
"""

from __future__ import annotations

import base64
import json
import re
import subprocess
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from filelock import FileLock

from stoneworks.envs.drawing import DECIDING, action_choice, action_places, svg, theme
from stoneworks.envs.drawing.boards import Extent
from stoneworks.envs.drawing.parts import Parts
from stoneworks.envs.rules import Game, load_game
from stoneworks.envs.rules.compiler import browser, compiler, kernel_cache, targets
from stoneworks.envs.rules.game import make_game
from stoneworks.envs.rules.parts import drawing_of
from stoneworks.models.inference import winograd
from stoneworks.models.machine import num_processors
from stoneworks.models.network_inputs import NetworkInputs
from stoneworks.models.search.gumbel import Gumbel
from stoneworks.models.shipped import find
from stoneworks.web.board import MAX_CELLS, MAX_REASONS, name_of
from tools.browser.entries import QUESTIONS, entries_of, text_kernels
from tools.browser.tables import with_knots_alone

GAMES = ("vadus", "laido", "taugo", "taigo", "trugo")
#: Floats of a vector of 128 bits.
LANES = 4
#: Simulations of the agent.
SIMULATIONS = 64
#: The weights of networks with more of them are rounded.
MOST_EXACT_WEIGHTS = 100_000
#: Largest rounded weight of a filter, in units of its scale.
LARGEST = 2047


def build(folder: Path, names: tuple[str, ...] = GAMES) -> None:
    """Write all files, those of each game in a process of its own; modules that have not changed come from the cache."""
    browser.find_linker()
    folder.mkdir(parents=True, exist_ok=True)
    commands = [[sys.executable, "-m", "tools.browser.build", str(folder), name] for name in names]
    with ThreadPoolExecutor(num_processors()) as executor:
        list(executor.map(lambda command: subprocess.run(command, env=targets.environment(), check=True), commands))
    listed = [json.loads((folder / f"{name}.json").read_text(encoding="utf-8")) for name in names]
    (folder / "games.json").write_text(json.dumps(listed), encoding="utf-8")


def build_game(folder: Path, name: str) -> None:
    """Write the files of a game, in a process with :func:`stoneworks.envs.rules.compiler.targets.environment`."""
    from stoneworks.models.checkpoint import load_checkpoint

    winograd.LANES = LANES
    # All boards get records of the largest, so that they share a module.
    set_capacity(max(compiler.capacity(game.grid.num_cells) for game in boards_of(name).values()))
    usual, boards = load_game(name), boards_of(name)
    shipped = find(name)
    assert shipped is not None
    checkpoint = load_checkpoint(shipped, usual)
    inputs = NetworkInputs(usual, checkpoint.network.features)
    module = _cached_module(entries_of(usual, inputs))
    heuristic = import_module(f"stoneworks.envs.games.{name}.heuristic")
    if hasattr(heuristic, "WEIGHTS"):
        knots = heuristic.PHASES.knots
        module = with_knots_alone(module, heuristic.PHASES, heuristic.WEIGHTS[:, np.subtract(knots, knots[0])])
    (folder / f"{name}.wasm").write_bytes(module)
    described = []
    for board, game in boards.items():
        file = f"{name}-{board}.json"
        (folder / file).write_text(json.dumps(describe(game), separators=(",", ":")), encoding="utf-8")
        named = board in (usual.guide.boards or {})
        described.append({"board": board, "game": str(game), "name": name_of(game), "file": file, "named": named})
    agent, weights = describe_agent(checkpoint, inputs)
    (folder / f"{name}.weights").write_bytes(weights)
    about = {"name": name, "title": name.capitalize(), "rules": usual.guide.rules, "boards": described, "agent": agent}
    (folder / f"{name}.json").write_text(json.dumps(about), encoding="utf-8")


def set_capacity(capacity: int) -> None:
    """Give the records of the games that are loaded from now on at least this capacity."""
    compiler.SMALLEST_CAPACITY = capacity
    make_game.cache_clear()


def boards_of(name: str) -> dict[str, Game]:
    """Return the named boards of a game that a page can show, and those of its rulings and lessons, by names for addresses."""
    guide = load_game(name).guide
    named = {board: load_game(name, **options) for board, options in (guide.boards or {}).items()}
    boards = {board: game for board, game in named.items() if game.grid.num_cells <= MAX_CELLS}
    known = set(map(str, boards.values()))
    for text in (*(one.game for one in guide.illustrations), *(one.game for one in guide.lessons)):
        if str(load_game(text)) not in known:
            boards[re.sub(r"\W+", "-", text.partition("(")[2]).strip("-")] = load_game(text)
    return boards


def address_of(game: Game) -> str:
    """Return the name of one of these boards in the addresses of games."""
    return f"{game.name}-{next(board for board, known in boards_of(game.name).items() if known == game)}"


def _cached_module(entries: list[targets.EntryFunction]) -> bytes:
    """Return the module of the entry functions, from the cache of compiled kernels if it is there."""
    cache = kernel_cache.cache_folder()
    if cache is None:
        return browser.build_module(entries)
    digest = targets.digest((*entries, *browser.browser().library), (browser, winograd), LANES)
    file = cache / f"browser-{digest}.kernel"
    with FileLock(file.with_suffix(".lock")):  # another process that builds the same module is faster than both
        module = kernel_cache.read_checked(file)
        if module is None:
            module = browser.build_module(entries)
            kernel_cache.write_checked(file, module)
    return module


def describe(game: Game) -> dict[str, Any]:
    """Return all that a page needs to know of a board: its records, the actions with their places, and the drawing."""
    drawing: Any = drawing_of(game)
    parts: Parts = drawing.parts(game)
    places: dict[str, list[float]] = {}
    labels: dict[str, dict[str, Any]] = {}
    paths: list[list[int] | None] = []
    numbers: dict[str, int] = {}
    for action in range(game.num_action_planes * game.grid.num_cells):
        try:
            path = action_places(game, action) if game.grid.on_board[action % game.grid.num_cells] else ()
        except ValueError:  # a part of it is off the board
            path = ()
        if not path:
            paths.append(None)
            continue
        for place in path:
            numbers.setdefault(place.name, len(numbers))
            places[place.name] = [place.x, place.y, round(place.radius, 1)]
        choice = action_choice(game, action)
        given = {"parts": choice.parts, "icon": choice.icon, "picks": choice.picks}
        text = choice.label if choice.label != path[0].name else ""
        labels.setdefault(text, {"label": text, **{key: value for key, value in given.items() if value}})
        paths.append([list(labels).index(text), *(numbers[place.name] for place in path)])
    prefix = f"{game.name}-"
    stones = [
        f'<stop stop-color="{stone.top}"/><stop offset="1" stop-color="{stone.bottom}"/>' for stone in parts.stones
    ]

    def finished(code: str) -> str:
        return code.replace(svg._ID_PREFIX, prefix)

    return {
        "game": str(game),
        "name": name_of(game),
        "colors": game.colors,
        "reasons": game.reasons,
        "num_actions": game.num_actions,
        "capacity": compiler.SMALLEST_CAPACITY,
        "module": f"{game.name}.wasm",
        "board": base64.b64encode(game.board.tobytes()).decode(),
        "blank": base64.b64encode(game.blank_records(1).tobytes()).decode(),
        "texts": game.action_texts,
        "cells": game.grid.cell_names,
        "questions": QUESTIONS,
        "sentences": text_kernels(game)[1],
        "most_reasons": MAX_REASONS,
        "has_lines": game.has_lines,
        "places": [[name, *place] for name, place in places.items()],
        "paths": _columns(paths),
        "labels": list(labels.values()),
        "drawing": {
            "defs": "".join(
                f'<linearGradient id="{prefix}{color}" x2="0" y2="1">{stops}</linearGradient>'
                for color, stops in enumerate(stones)
            ),
            "shapes": [finished(shape) for shape in parts.shapes],
            "places": [[round(x, 1), round(y, 1)] for x, y in parts.places],
            "distances": parts.distances if len(parts.views) > 1 else [],
            "views": [
                [view.radius, _box(view.extent), finished(view.below), finished(view.above)] for view in parts.views
            ],
            "rounding": svg.MARGIN,
            "panel": theme.PANEL,
            "mark": theme.LAST_MOVE,
            "deciding": DECIDING,
        },
        "sides": game.grid.neighbors.shape[1],
        "height": game.grid.height,
        "width": game.grid.width,
    }


def _columns(paths: list[list[int] | None]) -> list[list[int]]:
    """Return the columns of paths, 0 where one ends, else 1 more, as differences from action to action, which compress well."""
    longest = max(len(path or ()) for path in paths)
    rows = [[1 + number for number in path or ()] for path in paths]
    table = np.array([row + [0] * (longest - len(row)) for row in rows])
    columns: list[list[int]] = np.diff(table, axis=0, prepend=0).T.tolist()
    return columns


def _box(extent: Extent) -> list[float]:
    """Return the view box of an extent, with the margin that pictures have, and the size of the picture in pixels."""
    left, top = extent[0] - svg.MARGIN, extent[1] - svg.MARGIN
    width, height = extent[2] + svg.MARGIN - left, extent[3] + svg.MARGIN - top
    pixels = svg.PIXELS_PER_UNIT * width, svg.PIXELS_PER_UNIT * height
    return [float(svg.number(value)) for value in (left, top, width, height, *pixels)]


def describe_agent(checkpoint: Any, inputs: NetworkInputs) -> tuple[dict[str, Any], bytes]:
    """Return how the agent of a checkpoint plays, and its weights as they are downloaded."""
    network, play = checkpoint.network, checkpoint.play
    weights = {name: np.asarray(of, np.float64) for name, of in network.playing_state_dict().items()}
    inference = winograd.WinogradInference(network.architecture, weights)
    rule = Gumbel(gumbel_scale=0, value_scale=play.value_scale)
    shapes, filters, units, others = [], [], [], []
    is_rounded = _are_many(weights)
    for matrix, rows, columns in winograd.layers(network.architecture, weights):
        is_convolution = matrix.ndim == 4
        here = matrix.shape[:2][::-1] if is_convolution else matrix.shape
        shapes.append([int(is_convolution), *here, rows, columns])
        if is_rounded and is_convolution:
            of_filters, of_units = rounded_filters(matrix)
            filters.append(of_filters.ravel())
            units.append(of_units.ravel())
        else:
            others.append(matrix.ravel().astype(np.float16 if is_rounded else np.float32))
    content = np.concatenate(others).tobytes()
    if is_rounded:  # low bytes and high bytes apart, which are compressed better
        planes = np.concatenate(filters).astype("<i2").view(np.uint8).reshape(-1, 2).T
        content = np.concatenate(units).tobytes() + content + planes.tobytes()
    agent = {
        "simulations": SIMULATIONS,
        "discount": play.discount,
        "playouts": play.leaf_value_playouts if play.leaf_values == "playouts" else 0,
        "weight": play.leaf_value_weight,
        "parameters": list(rule.parameters),
        "schedule": rule.schedule(SIMULATIONS).ravel().tolist(),
        "leaves": rule.round_size,
        "sizes": list(inference._sizes),
        "planes": inputs.shape[0],
        "shapes": shapes,
        "transform": (winograd._WEIGHT_TRANSFORM * 24).ravel().tolist(),
        "num_weights": int(inference._weights.size),
        "weights": f"{inputs.game.name}.weights",
        "is_rounded": is_rounded,
    }
    assert play.leaf_values in ("none", "playouts")
    return agent, content


def _are_many(weights: Mapping[str, npt.NDArray[Any]]) -> bool:
    return sum(of.size for of in weights.values()) > MOST_EXACT_WEIGHTS


def rounded_filters(weights: npt.NDArray[Any]) -> tuple[npt.NDArray[np.int16], npt.NDArray[np.float32]]:
    """Return the weights of a convolution in units of their output channel, and these units.

    Args:
        weights: ``[outputs, inputs, 3, 3]``.

    Returns:
        ``int16[outputs, inputs, 3, 3]`` from -2047 to 2047, and ``float32[outputs, 1, 1, 1]``.
    """
    weights = weights.astype(np.float64)
    units = (np.abs(weights).max(axis=(1, 2, 3), keepdims=True) / LARGEST).astype(np.float32)
    units[units == 0] = 1
    return np.round(weights / units).astype(np.int16), units


def downloaded_weights(weights: Mapping[str, npt.NDArray[np.float32]]) -> dict[str, npt.NDArray[np.float32]]:
    """Return the weights of a network as browsers have them: those of large networks are rounded."""
    if not _are_many(weights):
        return dict(weights)
    rounded = {}
    for name, of in weights.items():
        if of.shape[2:] == (3, 3):
            filters, units = rounded_filters(of)
            rounded[name] = filters * units
        else:
            rounded[name] = of.astype(np.float16).astype(np.float32)
    return rounded


def main() -> None:
    """Build all games, or the one that is named, into a folder."""
    folder, *names = sys.argv[1:]
    if names and kernel_cache._numba_config.OPT == 0:
        build_game(Path(folder), *names)
    else:
        build(Path(folder), tuple(names) or GAMES)


if __name__ == "__main__":
    main()
