"""What the page says of a position: the turn, what is left, why a click is illegal, and why a game ended."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from pages import OpenPage, assert_fits, button, hit
from stoneworks import load_game
from stoneworks.envs.drawing import action_places

#: A board on which a white piece stands on a blue one after these actions.
TRUGO, PIN = "trugo(radius=4,tiles=12)", "e5/2 f4/1 f5/0 g3/0 g4/2 h4/2 g3^ >f5v g2/2"


@pytest.fixture
def open_game(visit_on_screens: OpenPage, post: Callable[..., Any]) -> OpenPage:
    """``open_game("vadus(size=3)", "c3 a3", players)``: the page of a game after some actions."""

    def open_one(game: str, actions: str = "", players: tuple[str | None, str | None] = (None, None)) -> Page:
        answer = post("games", game=game, actions=actions.split(), players=players, confirm=True)
        page = visit_on_screens(f"/play/{answer['id']}")
        page.locator(".board .picture").wait_for()
        return page

    return open_one


def click_at(page: Page, game: str, text: str, place: int = 0) -> None:
    """Click where an action is in the picture."""
    loaded = load_game(game)
    to = action_places(loaded, loaded.string_to_action(text))[place]
    x, y = page.evaluate(
        """([x, y]) => {
          const at = new DOMPoint(x, y).matrixTransform(document.querySelector('.picture').getScreenCTM());
          return [at.x, at.y];
        }""",
        [to.x, to.y],
    )
    page.mouse.click(x, y)


def status(page: Page) -> Locator:
    return page.locator(".status")


def test_the_board_keeps_its_place_during_a_turn(open_game: OpenPage) -> None:
    page = open_game("taigo(radius=3)")

    def top() -> float:
        return float(page.locator(".board").evaluate("board => board.getBoundingClientRect().top + scrollY"))

    before = top()
    for place in ("d3", "e3"):
        hit(page, place).click()
        expect(status(page)).not_to_contain_text("to move")
        assert top() == before
    expect(page.locator('[data-name="commit"]')).to_be_visible()
    assert top() == before


@pytest.mark.parametrize(
    ("game", "actions", "click", "reason"),
    [
        ("vadus(size=3)", "c3", "c3", "V2: c3 is occupied"),
        ("taugo(size=4)", "c3 e5 c4 d4 end e2", "d3", "T3: d3 would complete a square of 2 × 2"),
        ("taigo(radius=3)", "", "a4-b4", "G2: neither a4 nor b4 is next to an occupied hex"),
        ("trugo(radius=3,tiles=7)", "d4/0", "d4/0", "R3: d4 has a tile; R4: no tile is removed while there are tiles"),
        # Not also "first pick the piece to move".
        (TRUGO, "e5/2 f4/1 f5/0 g3/0", "f4^", re.compile("^R5: the piece on f4\\^ has no destination$")),
    ],
)
def test_illegal_clicks_name_the_ruling(
    open_game: OpenPage, game: str, actions: str, click: str, reason: str | re.Pattern[str]
) -> None:
    page = open_game(game, actions)
    page.locator(".hit").first.wait_for()
    click_at(page, game, click)
    words = page.locator(".words")
    expect(words).to_contain_text(reason)
    expect(words).to_be_in_viewport(ratio=1)
    expect(page.locator("#live")).to_contain_text(reason)


def test_a_line_of_taugo_is_two_clicks_and_its_end(open_game: OpenPage) -> None:
    page = open_game("taugo(size=6)", "c3 g7")
    hit(page, "c4").click()
    expect(status(page)).to_contain_text("the line goes on from c4")
    far = hit(page, "f4")
    expect(far).to_have_attribute("aria-label", "f4: 3 actions, the last f4")
    far.click()
    expect(page.locator(".moves .pending")).to_have_text("Black: c4 d4 e4 f4")
    page.get_by_role("button", name="End the turn").click()
    expect(page.locator(".moves .pending")).to_have_count(0)
    expect(status(page)).to_have_text("White to move: a stone, a line, or a pass")


def test_a_tile_of_taigo_is_drawn_by_its_halves(open_game: OpenPage) -> None:
    page = open_game("taigo(radius=3)")
    hit(page, "d3").focus()
    page.keyboard.press("Enter")
    expect(page.locator("circle.picked-place.part.dark")).to_have_count(1)
    light = page.locator(".hit:focus")
    expect(light.locator(".area.part.light")).to_have_css("fill-opacity", "1")
    expect(light.locator(".joint")).to_have_css("opacity", "0.6")
    page.keyboard.press("Enter")
    expect(page.locator(".moves .pending")).to_contain_text("d3-")


def test_a_piece_of_trugo_shows_where_it_may_go(open_game: OpenPage) -> None:
    page = open_game("trugo(radius=3,tiles=7)", "d4/0 d5/1 e4/0 c5/0 d3/1 e3/1")
    pieces = page.locator('.hit[aria-label$="pick the piece"]')
    pieces.first.click()
    expect(status(page)).to_contain_text("the destination of the piece on")
    ends = page.locator('.hit[aria-label$="move here"]')
    expect(page.locator(".picture .destinations circle")).to_have_count(ends.count())
    click_at(page, "trugo(radius=3,tiles=7)", "d4/0")
    expect(page.locator(".words")).to_contain_text("choose its destination; “Take back” to choose again")
    # Nothing is played yet: another piece may be picked, or none.
    picked = page.locator(".moves .pending")
    other = page.locator(".hit.instead").first
    name = other.get_attribute("data-place")
    expect(picked).not_to_have_text(f"White: {name}")
    other.click()
    expect(picked).to_have_text(f"White: {name}")
    page.keyboard.press("Escape")
    expect(picked).to_have_count(0)
    pieces.first.click()
    ends.first.click()
    expect(page.locator('[data-name="commit"]')).to_be_visible()


def test_the_outline_of_a_movable_piece_is_around_the_upper_one_of_a_stack(open_game: OpenPage) -> None:
    page = open_game(TRUGO, PIN)
    middle = """circle => { const box = circle.getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]; }"""
    upper = page.locator(".picture .stones.color-0 circle").last.evaluate(middle)
    assert hit(page, "f5v").locator(".dot").evaluate(middle) == pytest.approx(upper, abs=0.5)
    lower = page.locator(".picture .stones.color-1 circle").evaluate(middle)
    assert upper[0] - lower[0] > 8  # otherwise the stack does not show what is pinned


def test_how_to_turn_a_tile_and_what_lines_are_is_in_view_beside_the_whole_board(open_game: OpenPage) -> None:
    page = open_game(TRUGO, PIN)
    caption = page.locator(".caption")
    expect(caption).to_be_in_viewport(ratio=1)
    top = page.locator(".side").bounding_box()["y"]
    hit(page, "f5v").click()
    expect(caption).to_have_text("Green lines: slides; red dashes: steps.")
    expect(caption).to_be_in_viewport(ratio=1)
    assert page.locator(".side").bounding_box()["y"] == top


def test_a_tile_is_turned_under_the_mouse_by_keys_and_by_fingers(open_game: OpenPage) -> None:
    page = open_game("trugo(radius=3,tiles=7)")
    preview = page.locator(".preview")
    hit(page, "d4").hover()
    expect(preview).to_have_attribute("data-action", "d4/0")
    expect(page.get_by_text("turn the tile").or_(page.get_by_text("turns the tile"))).to_be_visible()
    page.mouse.wheel(0, 100)
    expect(preview).to_have_attribute("data-action", "d4/1")
    page.keyboard.press("r")
    expect(preview).to_have_attribute("data-action", "d4/2")
    page.keyboard.press("Shift+R")
    expect(preview).to_have_attribute("data-action", "d4/1")
    hit(page, "d4").click()
    expect(page.locator(".moves .pending")).to_have_text("White: d4/1")
    button(page, "take-back").click()
    hit(page, "d4").focus()
    page.keyboard.press("r")
    page.keyboard.press("Enter")
    expect(page.locator(".moves .pending")).to_have_text("White: d4/2")
    page.evaluate("window.scrollTo(0, 200)")
    confirm = page.locator(".state").get_by_role("button", name="Confirm", exact=True)
    expect(confirm).to_be_in_viewport(ratio=1)
    expect(page.locator(".player.active")).to_contain_text("White")
    confirm.click()
    expect(status(page)).to_have_text("Blue to move: lay a tile")
    assert_fits(page)


def test_a_mouse_that_leaves_a_place_hides_no_tile_on_the_place_of_the_focus(open_game: OpenPage) -> None:
    page = open_game("trugo(radius=3,tiles=7)", "d4/0")
    preview = page.locator(".preview")
    where = "preview => preview.getAttribute('transform')"
    under_mouse, focused = page.locator(".hit.lay").first, page.locator(".hit.lay").last
    under_mouse.hover()
    expect(preview).to_be_visible()
    focused.focus()
    on_focus = preview.evaluate(where)
    page.mouse.move(1, 1)
    expect(preview).to_have_attribute("transform", on_focus)
    under_mouse.hover()
    assert preview.evaluate(where) != on_focus
    page.mouse.move(1, 1)
    expect(preview).to_have_attribute("transform", on_focus)
    focused.blur()
    expect(preview).to_have_count(0)


def test_a_tap_holds_a_tile_and_further_taps_turn_it(visit: OpenPage, post: Callable[..., Any]) -> None:
    game = post("games", game="trugo(radius=3,tiles=7)", players=(None, None), confirm=True)
    page = visit(f"/play/{game['id']}", viewport={"width": 390, "height": 800}, has_touch=True)
    covers = """(menu) => {
          const [one, other] = [menu, document.querySelector('.preview')].map((part) => part.getBoundingClientRect());
          return one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom;
        }"""
    hit(page, "d4").tap()
    expect(page.locator(".preview")).to_have_attribute("data-action", "d4/0")
    hit(page, "d4").tap()
    expect(page.locator(".preview")).to_have_attribute("data-action", "d4/1")
    assert not page.locator(".choices").evaluate(covers)
    page.get_by_role("button", name="Play", exact=True).tap()
    expect(page.locator(".moves .pending")).to_have_text("White: d4/1")
    button(page, "take-back").tap()
    # At the lower end of the window, as on a zoomed board.
    hit(page, "d4").evaluate(
        """(place) => {
          const { bottom } = place.getBoundingClientRect();
          place.closest('.board').style.paddingTop = `${innerHeight - bottom - 4}px`;
        }"""
    )
    hit(page, "d4").tap()
    expect(page.get_by_role("button", name="Play", exact=True)).to_be_in_viewport(ratio=1)
    assert not page.locator(".choices").evaluate(covers)
