"""The lessons of each game, presets of boards and levels of opponents."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from pages import LISTED, HeldRequests, OpenPage, assert_accessible, assert_fits, hit
from stoneworks import load_game
from stoneworks.envs.drawing import action_places
from stoneworks.envs.rules import Lesson, game_names
from stoneworks.web.agents import Agents


def play(page: Page, lesson: Lesson) -> None:
    """Click through a lesson: the first accepted action each time that is still legal, with the keyboard."""
    game, played = load_game(lesson.game), set[str]()
    for number, texts in enumerate(lesson.answers):
        page.locator(f'[data-played="{number}"]').wait_for()
        legal = page.locator(".overlay .hit, .learn [data-action]")
        legal.first.wait_for()
        wanted = [text for text in texts if text not in played]
        if not wanted:
            page.locator(".overlay .hit").first.click()
            if page.locator(".choices").count():
                page.locator(".choices button").first.click()
            elif page.locator(".hit.second").count():
                page.locator(".hit.second").first.click()
            continue
        played.add(wanted[0])
        action = game.string_to_action(wanted[0])
        if action >= game.num_action_planes * game.grid.num_cells:
            page.locator(f'[data-action="{wanted[0]}"]').click()
            continue
        for place in action_places(game, action):
            page.mouse.move(1, 1)  # a resting mouse shows the tile on its own place
            hit(page, place.name).focus()
            for _ in range(3):
                preview = page.locator(".preview")
                if preview.count() and preview.get_attribute("data-action") != wanted[0]:
                    page.keyboard.press("r")
            page.keyboard.press("Enter")
        if page.locator(".choices").count():
            page.locator(f'.choices [data-action="{wanted[0]}"]').click()


@pytest.mark.parametrize("name", game_names())
def test_a_newcomer_plays_the_lessons_and_reads_the_illustrated_rules(visit_on_screens: OpenPage, name: str) -> None:
    page = visit_on_screens(f"/learn/{name}")
    guide = load_game(name).guide
    for number, lesson in enumerate(guide.lessons, start=1):
        expect(page.locator("h2")).to_have_text(f"Step {number} of 5")
        expect(page.locator(".task")).to_have_text(lesson.text)
        play(page, lesson)
        expect(page.locator(".learn .status")).to_contain_text("Done.")
        assert_fits(page)
        if number == 1:
            assert_accessible(page)
        if number < 5:
            page.keyboard.press("Enter")  # "Next" has the focus
    page.get_by_role("button", name="Play a first game").click()
    page.wait_for_url("**/play/**")
    expect(page.locator(".players")).to_contain_text("Person")
    board = next(iter(guide.boards.values()), {})
    listed = Agents().listed(load_game(name, **board))
    easy = next((bot["name"] for bot in listed if (bot["level"] or "").startswith("Easy")), "random")
    expect(page.locator(".players")).to_contain_text(easy)

    page = visit_on_screens(f"/learn/{name}")
    page.get_by_role("link", name="Illustrated rules").click()
    expect(page.locator("figure [role=img] > svg")).to_have_count(len(guide.illustrations))
    expect(page.get_by_text("Green: legal.")).to_contain_text("slides" if name == "trugo" else "Yellow")
    expect(page.locator("figcaption")).to_have_text([illustration.caption for illustration in guide.illustrations])
    assert_fits(page)
    assert_accessible(page)


def test_a_wrong_answer_is_told_and_not_played_on_the_board_of_the_last_step(visit: OpenPage) -> None:
    page = visit()
    page.get_by_role("radio", name="Laido").check(force=True)
    page.get_by_role("link", name="Learn Laido in 5 steps").click()
    page.locator(".overlay .hit").first.wait_for()
    held, steps = HeldRequests(page, "**/api/position"), []
    for _ in range(3):
        page.get_by_role("button", name="Skip").click()
        steps.append(held.next())
    page.locator(".overlay .hit").first.dispatch_event("click")  # on the board of step 1, which is still shown
    for route in reversed(steps):
        with page.expect_response("**/api/position"):
            route.continue_()
    page.unroute("**/api/position")
    expect(page.locator(".learn .status")).to_be_empty()
    hit(page, "c2").click()
    expect(page.locator(".learn .status")).to_have_text("Legal, but not what this step asks for: c2.")
    expect(page.locator(".hit.hinted")).to_have_attribute("data-place", "c3")
    hit(page, "c3").click()
    expect(page.locator(".learn .status")).to_have_text("Done.")


def test_a_bot_that_is_chosen_before_the_list_of_another_board_is_there_stays_chosen(visit: OpenPage) -> None:
    page = visit()
    page.get_by_role("radio", name="Vadus").check(force=True)
    page.wait_for_selector(LISTED)
    held = HeldRequests(page, "**/api/bots?**")
    page.get_by_role("group", name="Boards").get_by_role("button", name="quick").click()
    held.next().continue_()
    listing = held.next()
    opponent = page.locator(".seats select").nth(1)
    opponent.select_option("random")
    listing.continue_()
    page.wait_for_selector(LISTED)
    expect(opponent).to_have_value("random")


def test_boards_and_opponents_have_names(visit: OpenPage) -> None:
    page = visit()
    page.get_by_role("radio", name="Trugo").check(force=True)
    page.get_by_role("group", name="Boards").get_by_role("button", name="quick").click()
    quick = page.get_by_role("group", name="Boards").get_by_role("button", name="quick")
    expect(quick).to_have_attribute("aria-pressed", "true")
    expect(page.get_by_label("tiles, from 1")).to_have_value("12")
    expect(page.get_by_label("radius, 1 to 90")).to_have_value("4")
    page.get_by_role("radio", name="Vadus").check(force=True)
    page.get_by_role("group", name="Boards").get_by_role("button", name="quick").click()
    page.wait_for_selector(LISTED)
    # An opponent keeps its level on another board, where it may be another bot.
    chosen = page.locator(".seats select").nth(1).locator("option:checked")
    page.locator(".seats select").nth(1).select_option(index=4)
    expect(chosen).to_have_text(re.compile("^Hard, 1300: "))
    page.get_by_role("radio", name="Trugo").check(force=True)
    expect(chosen).to_have_text(re.compile("^Hard, 1300: "))
    page.get_by_role("radio", name="Vadus").check(force=True)
    page.get_by_role("group", name="Boards").get_by_role("button", name="quick").click()
    page.wait_for_selector(LISTED)
    page.get_by_role("button", name="Start the game").click()
    page.wait_for_selector(".game .board svg")
    expect(page.locator("h1")).to_have_text("Vadus, quick board")
