"""The named positions of tests/testdata/rulings.yaml, in the kernels, in their images, and in the naive implementation.

A position is reached from the start by ``play``; ``board`` draws it, X for Black, O for White, the top row first. Action texts
and cell names are separated by spaces; EMPTY stands for all empty cells. Keys:

- ``to_move``, ``over``, ``outcome`` (winner and reason), ``score``, ``colors`` (of both players), ``fields`` (of the record)
- ``stones``: the cells of each color; D and L for Dark and Light
- ``legal``: all legal actions, ``num_legal`` their number, ``allows`` some of them
- ``illegal``: actions that are refused and change nothing; ``matching``: the legal actions that match a pattern
- ``pieces``: of Trugo, and with ``tiles``, ``pool`` and ``reserve`` a position that was not played; ``junctions``: how many
- ``sees``: what player 0, 1 or both see on planes of the observation: the cells that are 1, or the value of all cells
- ``passed_out``: the outcome after passes until the game is over
- ``then``: positions after further actions, each from here; ``same_as``: actions that lead from there to an equal position
- ``asymmetric``: the ruling prefers a direction, so that images differ; ``either_color``: actions to it with the
  colors exchanged, where it holds too
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from game_play import played, read_test_data
from side_by_side import Both, trugo_position
from stoneworks.envs.games.taigo.rules import DARK, kind_of
from stoneworks.envs.rules import IllegalActionError, Outcome, State, game_names, load_game

POSITIONS = read_test_data("rulings.yaml")
#: Keys that check something, and those that say where.
CHECKS = {
    *("to_move", "over", "outcome", "score", "colors", "fields", "stones", "legal", "num_legal", "allows", "illegal"),
    *("truncated", "pieces", "junctions", "matching", "passed_out", "sees", "then"),
}
PLACES = {
    *("ruling", "name", "game", "board", "play", "same_as", "either_color", "asymmetric", "tiles", "pool", "reserve")
}
#: The values of the record's fields for each letter of a color.
COLORS = {"X": 1, "O": 2, "D": DARK, "L": DARK + 1}


def assert_images_are_alike(state: State) -> None:
    for symmetry in state.game.symmetries:
        image = state.game.initial_image(symmetry)
        for action in state.history():
            image.apply_action(int(symmetry.actions[action]))
        assert np.array_equal(image.legal_actions_mask(), symmetry.of_policy(state.legal_actions_mask()))
        assert (image.outcome(), image.score()) == (state.outcome(), state.score())


def cells_of_colors(state: State) -> dict[str, set[str]]:
    taigo = state.game.name == "taigo"
    codes = [kind_of(code) for code in state.record["cells"]] if taigo else state.record["stones"].tolist()
    codes = codes[: len(state.game.grid.cell_names)]
    names = state.game.grid.cell_names
    return {
        color: {names[cell] for cell, found in enumerate(codes) if found == COLORS[color]}
        for color in ("DL" if taigo else "XO")
    }


def pieces_of(state: State) -> dict[str, str]:
    position, names = state.game.position(state), state.game.grid.cell_names
    return {
        names[cell] + "^v"[kind]: "".join(
            "XO"[color] for color in (position.top[kind, cell], position.below[kind, cell]) if color >= 0
        )
        for kind, cell in zip(*np.nonzero(position.top >= 0), strict=True)
    }


def drawing_of(state: State) -> list[str]:
    grid = state.game.grid
    points = (grid.neighbors >= 0).sum(axis=1) == 4 if state.game.name == "taugo" else grid.on_board
    symbols = [".XO"[code] if point else "" for code, point in zip(state.record["stones"], points, strict=False)]
    rows = [symbols[start : start + grid.width] for start in range(0, grid.num_cells, grid.width)]
    return [" ".join(filter(None, row)) for row in reversed(rows) if any(row)]


def check_actions(state: State, legal: set[str], expected: dict[str, Any]) -> None:
    names, grid = state.game.grid.cell_names, state.game.grid
    if "legal" in expected:
        words = set(expected["legal"].split())
        if "EMPTY" in words:
            words -= {"EMPTY"}
            words |= {names[c] for c in np.flatnonzero(grid.on_board) if state.record["stones"][c] == 0}
        assert legal == words
    assert len(legal) == expected.get("num_legal", len(legal))
    assert set(expected.get("allows", "").split()) <= legal
    for text in expected.get("illegal", "").split():
        before = state.clone()
        with pytest.raises(IllegalActionError, match=re.escape(text)):
            state.apply_action(state.string_to_action(text))
        assert state == before
    for pattern, texts in expected.get("matching", {}).items():
        assert {text for text in legal if re.search(pattern, text)} == set(texts.split()), pattern


def check_results(state: State, expected: dict[str, Any]) -> None:
    if "outcome" in expected:
        winner, reason = expected["outcome"]
        assert state.outcome() == Outcome(winner, reason)
        assert state.returns() == {0: [1.0, -1.0], 1: [-1.0, 1.0], None: [0.0, 0.0]}[winner]
    if "score" in expected:
        assert [*state.score()] == expected["score"]
    if "to_move" in expected:
        assert state.current_player() == expected["to_move"]
    if "colors" in expected:
        assert [state.color_of(0), state.color_of(1)] == expected["colors"]
    if "board" in expected:
        assert drawing_of(state) == [line.strip() for line in expected["board"].splitlines()]
    if "pieces" in expected:
        assert pieces_of(state) == expected["pieces"]
    if "junctions" in expected:
        assert state.game.position(state).junctions.sum() == expected["junctions"]
    assert state.is_truncated() == expected.get("truncated", state.is_truncated())
    if "stones" in expected:
        assert cells_of_colors(state) == {color: set(cells.split()) for color, cells in expected["stones"].items()}
    assert state.is_terminal() == expected.get("over", "outcome" in expected or state.is_terminal())
    assert {name: state.record[name].tolist() for name in expected.get("fields", {})} == expected.get("fields", {})


def check_observations(state: State, expected: dict[Any, dict[str, Any]]) -> None:
    planes, names = state.game.observation_planes, state.game.grid.cell_names
    for player in (0, 1):
        for plane, shown in {**expected.get("both", {}), **expected.get(player, {})}.items():
            values = state.observation_tensor(player)[planes.index(plane)].ravel()
            if isinstance(shown, str):
                assert set(values.tolist()) <= {0, 1}
                assert {names[cell] for cell in np.flatnonzero(values)} == set(shown.split()), plane
            else:
                assert set(values.tolist()) == {shown}, plane


def check(both: Both, expected: dict[str, Any], is_played: bool = True) -> None:
    """Check a position and, as far as it was played from the start of the game, its images."""
    assert set(expected) <= CHECKS | PLACES
    assert CHECKS & set(expected) or both.state.history()
    legal = both.assert_same()
    if is_played and not expected.get("asymmetric"):
        assert_images_are_alike(both.state)
    check_actions(both.state, legal, expected)
    check_results(both.state, expected)
    check_observations(both.state, expected.get("sees", {}))
    if "passed_out" in expected:
        check(both.after("pass" if legal == {"pass"} else "pass pass"), {"outcome": expected["passed_out"]})
    for continuation in expected.get("then", ()):
        later = both.after(continuation["play"])
        check(later, continuation, is_played)
        if "same_as" in continuation:
            assert later.state == both.after(continuation["same_as"]).state


@pytest.mark.parametrize("position", POSITIONS, ids=lambda position: f"{position['ruling']}: {position['name']}")
def test_a_named_position_is_what_its_ruling_says(position: dict[str, Any]) -> None:
    if "tiles" in position:
        given = {"game", "tiles", "pieces", "to_move", "pool", "reserve"} & set(position)
        check(trugo_position(**{key: position[key] for key in given}), position, is_played=False)
        return
    check(Both(played(position["game"], position["play"])), position)
    if "either_color" in position:
        board = position["board"].translate(str.maketrans("XO", "OX"))
        exchanged = position | {"board": board, "to_move": 1 - position["to_move"]}
        check(Both(played(position["game"], position["either_color"])), exchanged)


def test_every_ruling_has_a_position() -> None:
    found = {ruling.split("(")[0] for position in POSITIONS for ruling in position["ruling"].split(", ")}
    for letter, number in (facts["rulings"] for facts in read_test_data("games.yaml").values()):
        assert {f"{letter}{index + 1}" for index in range(number)} - {"R1"} <= found, "R1 has a test of its own"


def planes_seen(position: dict[str, Any]) -> set[str]:
    found = {plane for planes in position.get("sees", {}).values() for plane in planes}
    return found.union(*map(planes_seen, position.get("then", ())))


@pytest.mark.parametrize("name", [name for name in game_names() if name != "trugo"])
def test_every_plane_is_seen_in_a_position(name: str) -> None:
    seen = set().union(*(planes_seen(position) for position in POSITIONS if position["game"].split("(")[0] == name))
    assert seen == set(load_game(name).observation_planes)
