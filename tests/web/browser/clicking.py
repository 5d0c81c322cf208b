"""Playing by clicking, as a person does."""

from __future__ import annotations

import random

from playwright.sync_api import Page, expect

_READY = """() => {
  if (document.querySelector('[data-name="stop"]')) return false;
  return document.querySelector('[data-name="again"], [data-name="commit"], .overlay .hit, .turn [data-action]') !== null;
}"""


def start_game(page: Page, url: str, name: str, options: dict[str, str], opponent: str | None = "greedy") -> None:
    """Fill in the form of a new game and start it; ``opponent`` is the second player, None a person."""
    page.goto(f"{url}/")
    page.get_by_role("radio", name=name).check(force=True)
    if (more := page.get_by_text("More options")).count() and any(
        not page.get_by_label(option, exact=True).is_visible() for option in options
    ):
        more.click()
    for option, value in options.items():
        page.get_by_label(option, exact=True).fill(value)
        page.get_by_label(option, exact=True).press("Tab")
    seats = page.locator(".seats select")
    # The list of bots is asked for anew after each change of the board.
    page.wait_for_load_state("networkidle")
    seats.nth(0).select_option("")
    seats.nth(1).select_option(opponent or "")
    page.get_by_role("button", name="Start the game").click()
    page.wait_for_selector(".game .board svg")


def wait_until_ready(page: Page) -> None:
    """Wait until a person can do something, or the game is over."""
    page.wait_for_function(_READY)


def is_over(page: Page) -> bool:
    return page.locator('[data-name="again"]').count() > 0


def revision(page: Page) -> str:
    return page.locator(".board").get_attribute("data-revision") or ""


def wait_for_change(page: Page, before: str) -> None:
    page.wait_for_function("before => document.querySelector('.board').dataset.revision !== before", arg=before)


def num_turns(page: Page) -> int:
    return page.locator(".side .moves > li").count()


def make_an_action(page: Page, generator: random.Random) -> None:
    """Click one action: a place on the board, and its second place or choice; or a button where the board has none."""
    before = revision(page)
    commit = page.locator('[data-name="commit"]')
    if commit.count():
        commit.click()
        wait_for_change(page, before)
        return
    names = page.locator(".overlay .hit").evaluate_all("hits => hits.map(hit => hit.dataset.place)")
    if not names:
        page.locator(".turn [data-action]").first.click()
        wait_for_change(page, before)
        return
    page.locator(f'.hit[data-place="{generator.choice(names)}"]').click()
    if page.locator(".choices").count():
        choices = page.locator(".choices [data-action]")
        choices.nth(generator.randrange(choices.count())).click()
    elif page.locator(".hit.second").count():
        seconds = page.locator(".hit.second").evaluate_all("hits => hits.map(hit => hit.dataset.place)")
        page.locator(f'.hit.second[data-place="{generator.choice(seconds)}"]').click()
    wait_for_change(page, before)


def play_to_the_end(page: Page, generator: random.Random, *, undo_after: int | None = None) -> None:
    """Play by clicking until the game is over, with one undo after so many turns."""
    undone = undo_after is None
    while True:
        wait_until_ready(page)
        if is_over(page):
            return
        if not undone and num_turns(page) >= (undo_after or 0) and page.locator(".moves .pending").count() == 0:
            turns, before = num_turns(page), revision(page)
            page.locator('[data-name="undo"]').click()
            wait_for_change(page, before)
            wait_until_ready(page)
            expect(page.locator(".side .moves > li")).to_have_count(turns - 2)
            undone = True
            continue
        make_an_action(page, generator)
