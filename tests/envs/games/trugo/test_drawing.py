"""Pictures of Trugo."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
import pytest

import game_play
from naive_trugo import JOINED, NaiveTrugo, corner_of, corners_next_to
from stoneworks.envs.drawing import draw, theme
from stoneworks.envs.drawing.annotations import Annotations
from stoneworks.envs.games.trugo import drawing as trugo
from stoneworks.envs.games.trugo.routes import corner_at, routes
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
    assert pixel(drawing, 0.45 * trugo.PITCH, 0) == rgb("#ffd700")
    assert pixel(drawing, trugo.PITCH * 0.7, 0) == rgb("#ffd700")
    assert pixel(drawing, *(0.75 * value for value in trugo.CORNERS[1])) == rgb(trugo.BLUE_REGION)
    state = played(FOUR_TILES)
    policy = np.zeros(state.game.num_actions)
    policy[state.legal_actions()] = 1 / len(state.legal_actions())
    drawing = draw(state, fill=policy)
    assert set(spelt(drawing, "labels")) == set(spelt(draw(state), "labels"))
    assert len(groups(drawing, "fills")) == 1
    assert "fills" not in draw(state, fill=np.zeros_like(policy)).svg, "the pattern of all tiles is seen"


def test_the_routes_of_a_picked_piece_lead_to_its_destinations_by_slides_and_at_most_one_step() -> None:
    """R6, against the plain implementation."""
    game = load_game("trugo", radius=3, tiles=9)
    random = np.random.default_rng(1)
    num_slides = num_steps = num_on_partial_corners = 0
    for _ in range(40):
        state, naive = game.new_initial_state(), NaiveTrugo(9, 25, True, 400, 3)
        while not state.is_terminal() and len(state.history()) < 25:
            legal = state.legal_actions()
            picks = [action for action in legal if 4 <= action // game.grid.num_cells < 6]
            text = state.action_to_string(random.choice(picks if picks and random.random() < 0.5 else legal))
            state.apply_action(state.string_to_action(text))
            naive.play(text)
            if naive.picked is None:
                continue
            ends = [divmod(action, game.grid.num_cells) for action in state.legal_actions()]
            position = game.position(state)
            found = routes(
                position,
                game.grid,
                corner_at(game.grid, *position.picked),
                [corner_at(game.grid, k - 6, c) for k, c in ends],
            )

            def plain(corner: tuple[int, int, int]) -> tuple[int, int, str]:
                return corner[1] - 3, corner[2] - 3, "^v"[corner[0]]

            slides = [(plain(before), plain(after), cell) for before, after, cell in found[0]]
            steps = [(plain(before), plain(after)) for before, after in found[1]]
            for before, after, cell in slides:
                at = cell % 7 - 3, cell // 7 - 3
                pairs = [{corner_of(at, name) for name in pair} for pair in JOINED[naive.tiles[at]]]
                assert {before, after} in pairs
            assert all(after in corners_next_to(before) for before, after in steps)
            left = {before for before, *_ in (*slides, *steps)}
            assert all(corner == naive.picked or not naive.height(corner) for corner in left), "pieces are not passed"
            entered = {after for _, after, *_ in (*slides, *steps)}
            assert left <= entered | {naive.picked}, "the routes are connected"
            assert naive.destinations(naive.picked) <= entered
            assert {after for _, after in steps} <= naive.destinations(naive.picked)
            num_slides, num_steps = num_slides + len(slides), num_steps + len(steps)
            num_on_partial_corners += sum(not naive.is_junction(corner) for corner in left)
            drawn = draw(state).svg
            assert ('class="slides"' in drawn, 'class="steps"' in drawn) == (bool(slides), bool(steps))
    assert min(num_slides, num_steps, num_on_partial_corners) > 20


def test_a_region_is_shaded_where_tiles_join_its_corners() -> None:
    """R6: e5 cuts off e5^; e6 joins it to e6^, and d6 to d6^."""
    state = played(FOUR_TILES)
    annotations = Annotations((), {}, {}, {}, True, regions=((0, state.game.grid.cell_index("e5")),), close=True)
    scene = trugo.compose(state, annotations)
    (shaded,) = (element for element in scene.elements if 'class="region"' in element)
    assert trugo.SHADED[0] in shaded
    assert shaded.count("M") == 3, "the parts of the three tiles at the corner"
