"""Pictures of Taigo: tiles, cones, holes, and the part of the plane that they show."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import numpy as np
import pytest

from game_play import played
from stoneworks.envs.drawing import draw, theme
from stoneworks.envs.drawing.picture import Drawing
from stoneworks.envs.rules import Batch, State, load_game
from svg_reading import centers, group, pixel, rgb, spelt

GAME = load_game("taigo")
HOLE = "l15-l14 k15-k14 o13-o14 m15-n14"
START, BEFORE_CONE, AFTER_CONE = played(GAME), played(GAME, HOLE), played(GAME, f"{HOLE} m14+L")


def center(cell: str, state: State = START) -> tuple[float, float]:
    """The center of a cell, known from the ring around a cone there."""
    (ring,) = centers(draw(state, last_actions=[state.string_to_action(f"{cell}+D")]), "last-move")
    return ring


def middles(drawing: Drawing, name: str) -> list[tuple[float, float]]:
    """The middles of the polygons in a group, from their corners."""
    found = []
    for path in group(drawing, name):
        steps = np.array(re.findall(r"[Ml]([-\d.]+) ([-\d.]+)", path.attrib["d"]), float)
        corners = np.cumsum(steps, axis=0)
        found.append(tuple((corners.min(axis=0) + corners.max(axis=0)) / 2))
    return found


def between(first: str, second: str, part: float) -> tuple[float, float]:
    (x, y), (u, v) = center(first), center(second)
    return x + part * (u - x), y + part * (v - y)


def test_one_outline_goes_around_both_hexes_of_each_tile() -> None:
    tiles = [("m13", "n13"), ("l15", "l14"), ("k15", "k14"), ("o13", "o14"), ("m15", "n14")]
    outlines = middles(draw(AFTER_CONE), "tiles")
    assert len(outlines) == len(tiles)
    for dark, light in tiles:
        assert min(np.hypot(*np.subtract(between(dark, light, 0.5), found)) for found in outlines) < 0.4
        for color, first, second in ((0, dark, light), (1, light, dark)):
            halves = middles(draw(AFTER_CONE), f"halves color-{color}")
            assert (
                min(np.hypot(*np.subtract(between(first, second, 0), found)) for found in halves) < 3
            )  # a half reaches to the other
    for dark, light in (("m13", "n13"), ("l15", "l14"), ("m15", "n14")):
        assert max(pixel(draw(BEFORE_CONE), *center(dark))) < 90
        assert min(pixel(draw(BEFORE_CONE), *center(light))) > 220


def test_a_hole_is_shown_until_a_cone_fills_it_which_is_not_half_of_a_tile() -> None:
    before, after = draw(BEFORE_CONE), draw(AFTER_CONE)
    assert [len(group(before, f"cones color-{color}")) for color in (0, 1)] == [0, 0]
    assert [len(group(after, f"cones color-{color}")) for color in (0, 1)] == [0, 1]
    assert group(before, "tiles")[0].attrib == group(after, "tiles")[0].attrib
    assert centers(after, "cones color-1") == [center("m14")]
    dark = draw(played(GAME, f"{HOLE} m14+D"))
    assert [len(group(dark, f"cones color-{color}")) for color in (0, 1)] == [1, 0]
    assert max(pixel(dark, *center("m14"))) < 90 < 220 < min(pixel(after, *center("m14")))
    assert centers(draw(BEFORE_CONE), "holes") == [center("m14")]
    assert group(draw(AFTER_CONE), "holes") == []
    assert group(draw(played("taigo(cones=0)", HOLE)), "holes") == [], "G4: it stays open for good"


@pytest.mark.parametrize(
    ("moves", "tile", "cone"),
    [
        ("", None, None),
        ("l15-l14", ("l15", "l14"), None),
        (HOLE, ("m15", "n14"), None),
        (f"{HOLE} m14+D", ("m15", "n14"), "m14"),
        (f"{HOLE} m14+D m16-n15", ("m16", "n15"), None),
    ],
)
def test_the_last_turn_is_marked(moves: str, tile: tuple[str, str] | None, cone: str | None) -> None:
    drawing = draw(played(GAME, moves))
    expected = [] if tile is None else [between(*tile, 0.5)]
    np.testing.assert_allclose(middles(drawing, "last-tiles"), expected, atol=0.4)
    assert centers(drawing, "last-move") == ([] if cone is None else [center(cone)])


def test_given_last_actions_are_marked_and_a_tile_outside_the_window_is_rejected() -> None:
    actions = [START.string_to_action(text) for text in ("j10-k10", "j12+L")]
    drawing = draw(AFTER_CONE, last_actions=actions)
    np.testing.assert_allclose(middles(drawing, "last-tiles"), [between("j10", "k10", 0.5)], atol=0.4)
    assert len(group(drawing, "last-move")) == 1
    with pytest.raises(ValueError, match=r"action 3449.*y13-SE"):
        draw(START, last_actions=[START.string_to_action("y13-SE")])


def test_the_picture_shows_the_places_of_all_numbers() -> None:
    numbered = draw(START, numbers={START.string_to_action("m1-n1"): "1"})
    marked = draw(START, marks={"m1": "1", "n1": "1"})
    views = [ElementTree.fromstring(drawing.svg).attrib["viewBox"] for drawing in (numbered, marked, draw(START))]
    assert views[0] == views[1] != views[2]
    with pytest.raises(ValueError, match="numbers must be actions of taigo"):
        draw(START, numbers={10**6: "1"})


def test_labels_are_at_the_ends_of_their_rows_and_columns() -> None:
    drawing = draw(AFTER_CONE)
    places = {}
    for element in ElementTree.fromstring(drawing.svg).iter():
        if "aria-label" in element.attrib and "transform" in element.attrib:
            x, y = element.attrib["transform"].split(")")[0].removeprefix("translate(").split()
            places[element.attrib["aria-label"]] = float(x), float(y)
    for cell in ("k15", "o13"):
        column, row = cell[0], cell[1:]
        x, y = center(cell)
        assert places[row][1] == pytest.approx(y, abs=10)
        assert places[row][0] < x - 40
        label_x, label_y = places[column]
        # A column runs to the upper right, at 60 degrees.
        assert (label_x + 3 - x) / (y - label_y - 6) == pytest.approx(1 / np.sqrt(3), abs=0.1)


def test_fills_and_marks_are_drawn_where_they_were_asked_for() -> None:
    drawing = draw(BEFORE_CONE, fill={"j13": "gold", "n14": "red"}, marks={"m13": "A", "n13": "B", "m14": "C"})
    assert len(group(drawing, "fills")) == 2
    assert pixel(drawing, *center("j13")) == [255, 215, 0]
    policy = np.zeros(START.game.num_actions)
    for text, probability in (("l13-k13", 0.5), ("l13-l12", 0.25), ("o13-n14", 0.25)):
        policy[START.string_to_action(text)] = probability
    filled = [path.attrib["fill"] for path in group(draw(START, fill=policy), "fills")]
    assert filled == [theme.heat_color(0.75), theme.heat_color(0.25)]
    assert sorted(spelt(drawing, "marks")) == ["A", "B", "C"]
    for cell, ink in (("m13", theme.LIGHT_INK), ("n13", theme.DARK_INK)):
        x, y = center(cell)
        around = [pixel(drawing, x + dx, y + dy) for dx in range(-5, 6, 2) for dy in range(-6, 7, 2)]
        assert rgb(ink) in around


@pytest.mark.parametrize("game", ["taigo", "trugo"])
def test_pictures_of_one_width_have_one_height_through_a_game(game: str) -> None:
    batch = Batch(load_game(game), 1, seed=4)
    shapes, widths = set(), set()
    for _ in range(12):
        drawing = draw(batch.state(0))
        shapes.add(drawing.rgb_array(128).shape)
        widths.add(ElementTree.fromstring(drawing.svg).attrib["width"])
        batch.step(batch.random_actions())
    assert shapes == {(128, 128, 3)}
    assert 2 <= len(widths) <= 4, "the part in use has grown, in few steps"
