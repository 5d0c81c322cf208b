"""Pictures of positions."""

from __future__ import annotations

import io
import os
import runpy
from pathlib import Path
from typing import Any
from unittest.mock import Mock
from xml.etree import ElementTree

import numpy as np
import pytest

from game_play import after, played, random_game, read_test_data
from stoneworks.envs.drawing import draw, theme
from stoneworks.envs.rules import State, game_names, load_game
from stoneworks.envs.rules.game_registry import game_entry
from svg_reading import SVG, centers, group, pixel, rgb, spelt

VADUS = played("vadus(size=4)", "d4 e4 e3 c4 c5")
LAIDO = played("laido(size=4)", "d4 swap e4 c4")
BOTH = pytest.mark.parametrize("state", [VADUS, LAIDO], ids=["vadus", "laido"])


def place(state: State, cell: str) -> tuple[float, float]:
    """Where a cell's stone is drawn, known from a picture in which it is the last move."""
    ((x, y),) = centers(draw(state, last_actions=[state.string_to_action(cell)]), "last-move")
    return x, y


@pytest.mark.parametrize("game", [sample for name in game_names() for sample in (*game_entry(name).samples, name)])
def test_every_game_is_drawn_as_well_formed_svg_that_is_equal_each_time(game: str) -> None:
    state = load_game(game).new_initial_state()
    drawing = draw(state)
    assert ElementTree.fromstring(drawing.svg).tag == f"{SVG}svg"
    assert draw(state) == drawing
    assert str(drawing) == drawing._repr_svg_() == drawing.svg


@BOTH
def test_there_is_a_circle_for_each_stone_at_its_place_and_pixels_have_its_color(state: State) -> None:
    drawing = draw(state)
    stones = state.record["stones"]
    for color in (0, 1):
        cells = [state.game.grid.cell_names[cell] for cell in np.flatnonzero(stones == color + 1)]
        assert set(centers(drawing, f"stones color-{color}")) == {place(state, cell) for cell in cells}
        for red_green_blue in (pixel(drawing, *place(state, cell)) for cell in cells):
            assert min(red_green_blue) > 225 if color else max(red_green_blue) < 80
    x, y = place(state, "b5")
    assert pixel(drawing, x + 8, y + 4.2) == rgb(theme.BOARD)


def test_ids_of_different_pictures_differ_and_a_picture_of_a_full_board_stays_small() -> None:
    pictures = [draw(state) for state in (VADUS, LAIDO, played("vadus(size=4)"))]
    seen: set[str] = set()
    for picture in pictures:
        ids = {element.attrib["id"] for element in ElementTree.fromstring(picture.svg).iter() if "id" in element.attrib}
        references = {part.split(")")[0] for part in picture.svg.split("url(#")[1:]}
        assert references <= ids
        assert not ids & seen
        seen |= ids
    assert len(seen) == 6
    for game, most in (("vadus", 20_000), ("taugo", 60_000)):
        *_, state = random_game(load_game(game), 0, None)
        assert len(draw(state).svg) < most


DRAWINGS = read_test_data("drawings.yaml")
LABELED = [drawing for drawing in DRAWINGS if "labels" in drawing]


@pytest.mark.parametrize(
    "marked", [drawing for drawing in DRAWINGS if "last-move" in drawing], ids=lambda marked: marked["name"]
)
def test_the_last_turn_that_placed_stones_is_marked_with_what_it_flipped(marked: dict[str, Any]) -> None:
    """Without the whole history, as far as that is certain."""
    texts = marked["play"].split()
    known_from = marked.get("known_from", 0)
    state = played(marked["game"], " ".join(texts[:known_from]))
    if known_from:
        state = State.from_record(state.get_game(), state.record)
    state = after(state, " ".join(texts[known_from:]))
    drawing = draw(state)
    for name in {"last-move", "flipped"} & set(marked):
        found = centers(drawing, name)
        assert len(set(found)) == len(found)
        assert set(found) == {place(state, cell) for cell in marked[name].split()}
    assert len(group(drawing, "cuts")) == bool(marked.get("flipped"))


@BOTH
def test_heat_maps_of_all_shapes_give_the_same_picture_that_darkens_all_the_way(state: State) -> None:
    grid = state.game.grid
    by_cell = np.where(grid.on_board, 0.0, np.nan)
    by_cell[[grid.cell_index("b5"), grid.cell_index("d4")]] = 1.0, 0.5
    policy = np.append(np.nan_to_num(by_cell), np.full(len(state.game.global_actions), 0.3))
    drawing = draw(state, fill=by_cell)
    assert draw(state, fill=by_cell.reshape(grid.height, grid.width)) == drawing
    assert draw(state, fill=policy.astype(np.float32)) == drawing
    assert draw(state, fill=policy.tolist()) == drawing
    x, y = place(state, "b5")
    assert pixel(drawing, x + 8, y + 4.2) == rgb(theme.HEAT[-1])
    by_cell[:] = np.nan
    assert draw(state, fill=by_cell) == draw(state)
    by_cell[grid.cell_index("b5")] = 0.5
    assert len(group(draw(state, fill=by_cell), "fills")) == 1
    index = grid.cell_index("b5")
    by_name = draw(state, fill={"b5": "gold", "e6": "#12345678"}, marks={"b5": "x"})
    assert draw(state, fill={index: "gold", "e6": "#12345678"}, marks={np.int64(index): "x"}) == by_name
    assert len(group(by_name, "fills")) == 2
    assert pixel(by_name, x + 8, y + 4.2) == rgb("#ffd700")
    assert theme.heat_color(0) == theme.BOARD
    luminances = [theme.relative_luminance(theme.heat_color(value)) for value in np.linspace(0, 1, 51)]
    assert luminances == sorted(set(luminances), reverse=True)


@BOTH
def test_marks_are_written_on_their_cells_in_a_contrasting_color(state: State) -> None:
    marks = {"d4": "12", "e4": "0.5", "b5": "x", "e6": "-"}
    drawing = draw(state, marks=marks, fill={"e6": "black"}, coordinates=False)
    assert sorted(spelt(drawing, "marks")) == sorted(marks.values())
    for cell, ink in {"d4": theme.LIGHT_INK, "e6": theme.LIGHT_INK, "b5": theme.DARK_INK}.items():
        x, y = place(state, cell)
        around = [pixel(drawing, x + dx, y + dy) for dx in range(-6, 7) for dy in range(-4, 5)]
        assert rgb(ink) in around


@pytest.mark.parametrize(
    ("argument", "value", "named"),
    [
        *(("last_actions", [action], str(action)) for action in (-1, 50, "d4", True)),
        *((argument, {key: "x"}, key) for argument in ("fill", "marks") for key in ("z9", "D4", "a1")),
        *(("fill", {"d4": color}, rf"\[d4\] must be .*got {color!r}") for color in ("no color", 0.5)),
        *(("fill", {"d4": color}, r"\[d4\]") for color in ("rgb(300, 0, 0)", "rgba(3, 0, 0, 1)", '"/><script>')),
        ("fill", np.zeros(48), r"\(48,\)"),
        *(("fill", np.eye(1, 49, 24).ravel() * value, rf"\[d4\] must be .*got {value}") for value in (1.5, -0.5)),
        *(("marks", {"d4": text}, rf"\[d4\] must be .*got {text!r}") for text in ("", "sixsix", "ä", 3)),
    ],
)
def test_bad_arguments_are_refused_by_name(argument: str, value: object, named: str) -> None:
    with pytest.raises(ValueError, match=rf"{argument}.*{named}"):
        draw(VADUS, **{argument: value})


@pytest.mark.parametrize("labeled", LABELED, ids=lambda labeled: labeled["name"])
def test_rows_and_columns_in_use_are_labeled_once_and_apart(labeled: dict[str, Any]) -> None:
    state, marks = played(labeled["game"], labeled["play"]), labeled.get("marks", {})
    drawing = draw(state, marks=marks)
    assert sorted(spelt(drawing, "labels")) == sorted(labeled["labels"].split())
    places = [
        tuple(map(float, element.attrib["transform"].split(")")[0].removeprefix("translate(").split()))
        for element in group(drawing, "labels")
        if "transform" in element.attrib
    ]
    distances = [np.hypot(x - u, y - v) for i, (x, y) in enumerate(places) for u, v in places[:i]]
    assert min(distances) > 25
    assert spelt(draw(state, marks=marks, coordinates=False), "labels") == []


@pytest.mark.parametrize("width_pixels", [1, 257, 512])
def test_rgb_array_has_the_exact_width_and_is_the_same_each_time(width_pixels: int) -> None:
    pixels = draw(VADUS).rgb_array(width_pixels)
    assert pixels.dtype == np.uint8
    assert pixels.shape[1:] == (width_pixels, 3)
    assert 0.8 * width_pixels <= pixels.shape[0] <= width_pixels + 1
    assert pixels.flags.writeable
    np.testing.assert_array_equal(pixels, draw(VADUS).rgb_array(width_pixels))
    for bad_width in (0, -5, 1.5, "512", None, 16385):
        with pytest.raises(ValueError, match=f"width_pixels must be .*got {bad_width!r}"):
            draw(VADUS).rgb_array(bad_width)


def test_corners_are_panel_in_pixels_and_transparent_in_png_and_labels_need_no_font() -> None:
    from PIL import Image

    drawing = draw(VADUS)
    assert "<text" not in drawing.svg
    assert np.isin(drawing.rgb_array(1000).reshape(-1, 3), rgb(theme.LABEL)).all(axis=1).sum() > 100
    assert drawing.rgb_array()[0, 0].tolist() == rgb(theme.PANEL)
    with Image.open(io.BytesIO(drawing.png(300))) as image:
        assert image.width == 300
        assert image.convert("RGBA").getpixel((0, 0)) == (0, 0, 0, 0)


def test_save_writes_svg_and_png_by_suffix_whole_and_no_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawing = draw(VADUS)
    drawing.save(tmp_path / "board.svg")
    drawing.save(str(tmp_path / "board.PNG"), width_pixels=100)
    assert (tmp_path / "board.svg").read_text(encoding="utf-8") == drawing.svg
    assert (tmp_path / "board.PNG").read_bytes() == drawing.png(100)
    for name in ("board.gif", "board", "svg"):
        with pytest.raises(ValueError, match=rf"\.svg or \.png, got .*{name}"):
            drawing.save(tmp_path / name)
    monkeypatch.setattr(os, "replace", Mock(side_effect=OSError(28, "no room")))
    with pytest.raises(OSError, match="no room"):
        draw(LAIDO).save(tmp_path / "board.svg")
    assert (tmp_path / "board.svg").read_text(encoding="utf-8") == drawing.svg
    assert sorted(os.listdir(tmp_path)) == ["board.PNG", "board.svg"]


def test_the_pictures_of_the_documentation_are_what_their_script_draws(repository: Path) -> None:
    script = runpy.run_path(str(repository / "docs" / "make_images.py"))
    expected = {load_game(game).name: draw(played(game, moves)) for game, moves in script["GAMES"].items()}
    assert set(expected) == set(game_names())
    for name, drawing in (expected | {name: picture() for name, picture in script["OTHERS"].items()}).items():
        path = repository / "docs" / "images" / f"{name}.svg"
        assert path.read_text(encoding="utf-8") == drawing.svg
