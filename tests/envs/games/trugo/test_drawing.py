"""Pictures of Trugo."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
import pytest

import game_play
from stoneworks.envs.drawing import draw, theme
from stoneworks.envs.games.trugo import drawing as trugo
from stoneworks.envs.rules import State, load_game
from svg_reading import centers, groups, pixel, rgb, spelt

#: Two junctions, e5^ and e6v; White's piece on e5^, Blue's on e6v.
FOUR_TILES = "e5/0 e6/1 d6/2 f5/0"


def played(texts: str = "", **options: object) -> State:
    return game_play.played(load_game("trugo", **{"radius": 4, "tiles": 18, **options}), texts)


@pytest.mark.parametrize("rotation", [0, 1, 2])
def test_a_tile_cuts_off_two_opposite_corners_and_parts_the_rest_by_a_line(rotation: int) -> None:
    """R1. The center of the only tile is at (0, 0)."""
    drawing = draw(played(f"e5/{rotation}"), last_actions=[])
    cut_off = (2 * rotation, (2 * rotation + 3) % 6)
    for index, (x, y) in enumerate(trugo.CORNERS):
        own, other = (trugo.WHITE_REGION, trugo.BLUE_REGION)[:: 1 if index % 2 == 0 else -1]
        assert pixel(drawing, 0.85 * x, 0.85 * y) == rgb(own)
        # Past the arc the other color begins; along a corner that is joined to the next one, its own goes on.
        assert pixel(drawing, 0.3 * x, 0.3 * y) == rgb(other if index in cut_off else own)


def test_pieces_are_drawn_on_their_corners_and_a_picked_one_and_where_it_may_go_are_marked() -> None:
    drawing = draw(played(FOUR_TILES))
    assert centers(drawing, "stones color-0") == [(0.0, pytest.approx(-trugo.EDGE, abs=0.1))]
    assert centers(drawing, "stones color-1") == [(trugo.PITCH / 2, pytest.approx(-trugo.EDGE / 2, abs=0.1))]
    assert min(pixel(drawing, 0, -trugo.EDGE)) > 220
    red, _, blue = pixel(drawing, trugo.PITCH / 2, -trugo.EDGE / 2)
    assert blue > 2 * red
    state = played(f"{FOUR_TILES} e5^")
    drawing = draw(state)
    assert centers(drawing, "picked") == centers(drawing, "stones color-0")
    assert len(centers(drawing, "destinations")) == len(state.legal_actions())
    assert centers(drawing, "destinations") == centers(drawing, "stones color-1")
    assert centers(draw(played(FOUR_TILES)), "picked") == centers(draw(played(FOUR_TILES)), "destinations") == []


def test_both_pieces_of_a_stack_are_seen_the_upper_one_drawn_last() -> None:
    drawing = draw(played(f"{FOUR_TILES} e5^ >e6v"))
    ((lower_x, lower_y),) = centers(drawing, "stones color-1")
    ((upper_x, upper_y),) = centers(drawing, "stones color-0")
    assert lower_y == upper_y
    assert upper_x - lower_x > trugo.STACKED_RADIUS, "more than half of the lower one is seen"
    neighbor = np.hypot(trugo.PITCH / 2 - (upper_x - lower_x), trugo.EDGE / 2)
    assert neighbor > 2 * trugo.STACKED_RADIUS, "a stack on the next corner is apart"
    assert drawing.svg.index("stones color-1") < drawing.svg.index("stones color-0")
    assert centers(drawing, "last-move") == [(upper_x, upper_y)]
    assert centers(drawing, "last-start") == [(0.0, pytest.approx(-trugo.EDGE, abs=0.1))]
    assert centers(drawing, "junctions") == centers(drawing, "last-start")


def test_a_tile_that_was_laid_or_removed_last_is_outlined() -> None:
    assert len(groups(draw(played("e5/0")), "last-tile")) == 1
    removed = played(f"{FOUR_TILES} e4/0 xe4", tiles=5)
    (group,) = groups(draw(removed), "last-tile")
    assert draw(removed) == draw(removed, last_actions=[removed.string_to_action("xe4")])
    assert draw(removed).svg != draw(removed, last_actions=[removed.string_to_action("xf5")]).svg
    assert groups(draw(removed, last_actions=[]), "last-tile") == []
    assert theme.LAST_MOVE in ElementTree.tostring(group, encoding="unicode")


def test_the_picture_shows_the_hexes_of_all_numbers() -> None:
    start = played("e5/0")
    numbered, marked = draw(start, numbers={start.string_to_action("e8/0"): "1"}), draw(start, marks={"e8": "1"})
    views = [ElementTree.fromstring(drawing.svg).attrib["viewBox"] for drawing in (numbered, marked, draw(start))]
    assert views[0] == views[1] != views[2]


def test_filled_hexes_have_their_color_and_a_policy_is_a_heat_map() -> None:
    drawing = draw(played("e5/0"), fill={"e5": "gold", "f5": "gold"}, marks={"f5": "12"})
    assert pixel(drawing, 0, 0) == rgb("#ffd700")
    assert pixel(drawing, trugo.PITCH * 0.7, 0) == rgb("#ffd700")
    assert pixel(drawing, *(0.85 * value for value in trugo.CORNERS[1])) == rgb(trugo.BLUE_REGION)
    state = played(FOUR_TILES)
    policy = np.zeros(state.game.num_actions)
    policy[state.legal_actions()] = 1 / len(state.legal_actions())
    drawing = draw(state, fill=policy)
    assert set(spelt(drawing, "labels")) == set(spelt(draw(state), "labels"))
    assert len(groups(drawing, "fills")) == 1
    assert "fills" not in draw(state, fill=np.zeros_like(policy)).svg, "the pattern of all tiles is seen"
