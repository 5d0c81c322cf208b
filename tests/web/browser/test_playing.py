"""Whole games by clicking, reloads, a killed server, and two browsers."""

from __future__ import annotations

import contextlib
import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Locator, Page, expect

from pages import LISTED, OpenPage, button, delay_answers, held_answers, hit
from stoneworks.evaluation.records import GameRecord

_READY = """() => {
  if (document.querySelector('[data-name="stop"]')) return false;
  return document.querySelector('[data-name="again"], [data-name="commit"], .overlay .hit, .turn [data-action]') !== null;
}"""


def choose_board(page: Page, name: str, options: dict[str, str]) -> Locator:
    """Fill in the board of a new game, and return the lists of players. Bots are not prepared: that takes long on many boards."""
    page.route("**/api/prepare", lambda route: route.fulfill(json={"seconds": 0}))
    page.get_by_role("radio", name=name).check(force=True)
    if (more := page.get_by_text("More options")).count() and any(
        not page.get_by_label(re.compile(f"^{option}\\b")).is_visible() for option in options
    ):
        more.click()
    for option, value in options.items():
        page.get_by_label(re.compile(f"^{option}\\b")).fill(value)
        page.get_by_label(re.compile(f"^{option}\\b")).press("Tab")
    page.wait_for_selector(LISTED)
    return page.locator(".seats select")


def begin(page: Page) -> None:
    """Start the game of the form."""
    page.get_by_role("button", name="Start the game").click()
    page.wait_for_selector(".game .board svg")


def wait_until_ready(page: Page) -> None:
    """Wait until a person can do something, or the game is over."""
    page.wait_for_function(_READY)


@contextlib.contextmanager
def changing(page: Page) -> Iterator[None]:
    """Wait until the page shows what the server answers to an action."""
    before = page.locator(".board").get_attribute("data-revision")
    yield
    page.wait_for_function("before => document.querySelector('.board').dataset.revision !== before", arg=before)


def num_turns(page: Page) -> int:
    return page.locator(".side .moves > li").count()


def make_an_action(page: Page, generator: random.Random) -> None:
    """Click one action: a place on the board, and its second place or choice; or a button where the board has none."""
    commit = button(page, "commit")
    names = page.locator(".overlay .hit").evaluate_all("hits => hits.map(hit => hit.dataset.place)")
    with changing(page):
        if commit.count():
            commit.click()
        elif not names:
            page.locator(".turn [data-action]").first.click()
        else:
            hit(page, generator.choice(names)).click()
            if page.locator(".choices").count():
                choices = page.locator(".choices [data-action]")
                choices.nth(generator.randrange(choices.count())).click()
            elif page.locator(".hit.second").count():
                seconds = page.locator(".hit.second").evaluate_all("hits => hits.map(hit => hit.dataset.place)")
                page.locator(f'.hit.second[data-place="{generator.choice(seconds)}"]').click()


def play_to_the_end(page: Page, generator: random.Random, *, undo_after: int | None = None) -> None:
    """Play by clicking until the game is over, with one undo after so many turns."""
    undone = undo_after is None
    while True:
        wait_until_ready(page)
        if button(page, "again").count():
            return
        if not undone and num_turns(page) >= (undo_after or 0) and page.locator(".moves .pending").count() == 0:
            turns = num_turns(page)
            with changing(page):
                button(page, "undo").click()
            wait_until_ready(page)
            expect(page.locator(".side .moves > li")).to_have_count(turns - 2)
            undone = True
            continue
        make_an_action(page, generator)


@pytest.fixture
def start(open_page: OpenPage, shared_server: Any) -> Callable[..., Page]:
    """Start games, each in a page of its own; ``opponent`` is the second player, None a person."""

    def start_one(
        name: str, options: dict[str, str], opponent: str | None = "greedy", url: str = "", **settings: Any
    ) -> Page:
        url = url or shared_server.url
        page = open_page(f"{url}/", **settings)
        seats = choose_board(page, name, options)
        seats.nth(0).select_option("")
        seats.nth(1).select_option(opponent or "")
        begin(page)
        return page

    return start_one


Start = Callable[..., Page]


def record_of(page: Page) -> GameRecord:
    """Return the record of the game that a page shows."""
    address, _, game_id = page.url.partition("?")[0].rstrip("/").rpartition("/play/")
    return GameRecord.from_json(httpx.get(f"{address}/api/games/{game_id}/record", timeout=300).text)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        *((name, {"size": "3"}) for name in ("Vadus", "Laido", "Taugo")),
        ("Taigo", {"radius": "3", "tiles": "9", "cones": "2"}),
        ("Trugo", {"radius": "3", "tiles": "7", "max turns": "16"}),
    ],
)
def test_a_whole_game_by_clicking_against_a_bot_with_undo(start: Start, name: str, options: dict[str, str]) -> None:
    page = start(name, options)
    play_to_the_end(page, random.Random(name), undo_after=4)
    record = record_of(page)
    assert record.replay().is_terminal()
    assert record.players == ("human", "greedy")
    assert record.reason is not None
    shown = page.locator(".status").inner_text()
    if record.winner is None:
        assert "draw" in shown.lower()
    else:
        assert shown.startswith("You lost" if record.winner else "You won")


@pytest.mark.parametrize(("requests", "milliseconds"), [("act|commit", 1500), ("bot", 6000)])
@pytest.mark.parametrize("confirms", [True, False])
def test_no_click_is_lost_while_an_answer_is_under_way(
    start: Start, requests: str, milliseconds: int, *, confirms: bool
) -> None:
    page = start("Laido", {"size": "3"})
    delay_answers(page, requests, milliseconds)
    page.get_by_label("Confirm each turn").set_checked(confirms)
    for turns, place in ((2, "c3"), (4, "b2")):
        hit(page, place).click()
        if confirms:
            button(page, "commit").click()
        expect(page.locator(".moves > li:not(.pending)")).to_have_count(turns)


def test_places_that_are_clicked_fast_are_played_one_after_the_other(start: Start) -> None:
    page = start("Vadus", {"size": "3"}, opponent=None)
    page.get_by_label("Confirm each turn").uncheck()
    with held_answers(page, "act"):
        for place in ("c3", "b3", "b3", "d3"):
            hit(page, place).dispatch_event("click")
    expect(page.locator(".moves .move")).to_have_text(["Black: c3", "White: b3 d3"])


def test_a_game_is_deleted_in_view_and_once_it_is_confirmed(open_page: OpenPage, start_server: Any) -> None:
    server = start_server()
    players = ["alphabeta:3,candidates=20", "mcts:1000,leaf=heuristic"]
    server.post("games", game="taigo(cones=2,radius=3,tiles=9)", players=players)
    page = open_page(f"{server.url}/")
    delete = page.get_by_role("button", name="Delete")
    expect(delete).to_be_in_viewport(ratio=1)
    assert page.get_by_role("region", name="List of games").evaluate("list => list.scrollWidth <= list.clientWidth")
    for is_confirmed in (False, True):
        page.once("dialog", lambda dialog, accept=is_confirmed: dialog.accept() if accept else dialog.dismiss())
        delete.click()
        expect(delete).to_have_count(0 if is_confirmed else 1)


def test_the_focus_stays_on_the_board_from_turn_to_turn(start: Start) -> None:
    page = start("Vadus", {"size": "3"})
    hit(page, "c3").focus()
    page.keyboard.press("Enter")
    expect(button(page, "commit")).to_be_visible()
    button(page, "commit").focus()
    page.keyboard.press("Enter")
    expect(page.locator(".moves > li")).to_have_count(2)
    wait_until_ready(page)
    assert page.evaluate("document.activeElement.matches('.hit')")


def test_swaps_and_passes_are_buttons_and_turns_are_taken_back(start: Start) -> None:
    page = start("Laido", {"size": "3"}, opponent=None)
    hit(page, "b3").click()
    expect(page.locator(".moves .pending")).to_have_text("Black: b3")
    expect(page.locator(".overlay .hit")).to_have_count(0)
    button(page, "take-back").click()
    expect(page.locator(".moves > li")).to_have_count(0)
    hit(page, "c3").click()
    button(page, "commit").click()
    for action in ("swap", "pass", "pass"):
        page.locator(f'[data-action="{action}"]').click()
        button(page, "commit").click()
    expect(page.locator(".moves > li")).to_have_text(["Black: c3", "White: swap", "White: pass", "Black: pass"])
    expect(page.locator(".status")).to_contain_text("no groups of the same rank differ; 1 black")
    assert record_of(page).actions == ("c3", "swap", "pass", "pass")
    path = page.url.partition("/play/")[2]
    page.get_by_role("link", name="Play", exact=True).first.click()
    row = page.locator("table.games tr", has=page.locator(f'a[href="play/{path}"]'))
    expect(row).to_contain_text("wins by hills")


def test_hint_and_resignation_and_swapped_sides_once_they_are_confirmed(start: Start) -> None:
    page = start("Vadus", {"size": "3"})
    button(page, "hint").click()
    expect(page.locator(".hit.hinted")).to_have_count(1)
    page.locator(".hit.hinted").click()
    button(page, "commit").click()
    wait_until_ready(page)
    # The rest of a hint stays while it is followed: Vadus has two stones in a turn.
    button(page, "hint").click()
    expect(page.locator(".status")).to_contain_text("Hint of vadus@64:")
    suggested = page.locator(".status").inner_text().partition(": ")[2].split()
    assert len(suggested) == 2
    for action in suggested:
        expect(page.locator(".hit.hinted")).to_have_attribute("data-place", action)
        page.locator(".hit.hinted").click()
    expect(page.locator(".hit.hinted")).to_have_count(0)
    for turns in (2, 0):
        with changing(page):
            button(page, "undo").click()
        expect(page.locator(".moves > li")).to_have_count(turns)
    for name in ("sides", "resign"):
        page.once("dialog", lambda dialog: dialog.dismiss())
        button(page, name).click()
        expect(page.locator(".moves > li")).to_have_count(0)
    page.on("dialog", lambda dialog: dialog.accept())
    page.keyboard.press("f")
    with changing(page):
        button(page, "sides").click()
    expect(page.locator(".player").nth(0)).to_contain_text("greedy")
    expect(page.locator(".moves > li")).to_have_count(1)
    button(page, "resign").click()
    expect(page.locator(".status")).to_have_text("You lost by resignation")


def test_a_hint_for_a_stone_that_was_taken_back_is_not_shown(start: Start) -> None:
    page = start("Vadus", {"size": "3"})
    button(page, "hint").click()  # the next one is fast
    expect(page.locator(".hit.hinted")).to_have_count(1)
    hit(page, "c3").click()
    button(page, "commit").click()
    expect(page.locator(".moves > li")).to_have_count(2)
    wait_until_ready(page)
    first, second = page.locator(".overlay .hit").evaluate_all(
        "hits => hits.slice(0, 2).map((hit) => hit.dataset.place)"
    )
    with changing(page):
        hit(page, first).click()
    with held_answers(page, "hint"):
        button(page, "hint").click()
        for change in (button(page, "take-back"), hit(page, second)):
            with changing(page):
                change.click()
        expect(page.locator(".status")).not_to_contain_text("Looking for a hint")
    page.wait_for_timeout(1000)
    expect(page.locator(".hit.hinted")).to_have_count(0)
    expect(page.locator(".status")).not_to_contain_text("int")


def test_options_of_the_game_reach_it(visit: OpenPage) -> None:
    page = visit()
    seats = choose_board(page, "Laido", {"size": "4"})
    page.get_by_text("More options").click()
    page.get_by_label("pie rule").uncheck()
    page.get_by_label("tie break").select_option("first_pass")
    page.wait_for_selector(LISTED)
    seats.nth(1).select_option("")
    begin(page)
    assert record_of(page).game == "laido(pie_rule=False,size=4,tie_break='first_pass')"


def test_bots_are_chosen_by_name_and_changed_in_mid_game(visit: OpenPage) -> None:
    page = visit(expects_errors=True)
    seats = choose_board(page, "Vadus", {"size": "3"})
    seats.nth(0).select_option("")
    seats.nth(1).select_option("\n")
    name = page.locator(".seats .other-bot").nth(1).get_by_label("Name of the bot")
    for refused in ("exec:true", "./models", "mcts:999999999", "nobody"):
        name.fill(refused)
        name.press("Enter")
        expect(page.locator(".seats .error").nth(1)).not_to_be_empty()
    name.fill("mcts:17")
    name.press("Enter")
    expect(seats.nth(1)).to_have_value("mcts:17")
    begin(page)
    expect(page.locator(".player").nth(1)).to_contain_text("mcts:17")
    page.get_by_text("Change the players").click()
    seating = page.locator(".seating select")
    expect(seating.nth(1)).to_have_value("mcts:17")
    for seat, bot in ((1, "random"), (0, "greedy")):
        with changing(page):
            seating.nth(seat).select_option(bot)
        expect(page.locator(".player").nth(seat)).to_contain_text(bot)
    expect(button(page, "again")).to_be_visible()
    assert record_of(page).players == ("greedy", "random")


def test_a_bot_chosen_among_all_does_not_follow_a_level_and_gives_way_in_another_game(visit: OpenPage) -> None:
    page = visit("/", expects_errors=True)  # an agent of Vadus does not play Laido
    page.get_by_role("radio", name="Vadus").check(force=True)
    opponent, boards = page.locator(".seats select").nth(1), page.get_by_role("group", name="Boards")

    def choose(bot: str) -> None:
        find = "(select, bot) => [...select.options].findLastIndex((option) => option.value === bot)"
        opponent.select_option(index=opponent.evaluate(find, bot))

    for board, num_ladders in (("large", 0), ("quick", 1)):
        boards.get_by_role("button", name=board).click()
        expect(opponent.locator('optgroup[label^="Bots by rating"]')).to_have_count(num_ladders)
    choose("mcts:100")
    boards.get_by_role("button", name="large").click()
    expect(opponent.locator("option:checked")).to_have_text("mcts:100")
    choose("vadus@64")
    page.get_by_role("radio", name="Laido").check(force=True)
    expect(opponent).not_to_have_value(re.compile("^vadus|^$"))


def test_earlier_positions_are_shown_without_changing_the_game(start: Start) -> None:
    page = start("Laido", {"size": "3"}, opponent=None)
    page.get_by_label("Confirm each turn").uncheck()
    for number, action in enumerate(("c3", "b2", "d2"), start=1):
        hit(page, action).click()
        expect(page.locator(".moves > li")).to_have_count(number)
    page.locator(".moves .move").nth(0).click()
    expect(page.locator(".status")).to_have_text("Position after turn 1 of 3")
    expect(page.locator(".board .stones circle")).to_have_count(1)
    expect(page.locator(".overlay .hit")).to_have_count(0)
    page.keyboard.press(".")
    expect(page.locator(".status")).to_have_text("Position after turn 2 of 3")
    page.keyboard.press(",")
    page.keyboard.press(",")
    expect(page.locator(".status")).to_have_text("Position after turn 0 of 3")
    button(page, "back").click()
    expect(page.locator(".status")).to_contain_text("White to move")
    expect(page.locator(".board .stones circle")).to_have_count(3)
    assert record_of(page).actions == ("c3", "b2", "d2")


def test_a_game_with_the_keyboard_alone(start: Start) -> None:
    page = start("Laido", {"size": "3"}, opponent=None)
    page.locator('.hit[tabindex="0"]').focus()
    first = page.evaluate("document.activeElement.dataset.place")
    page.keyboard.press("ArrowRight")
    second = page.evaluate("document.activeElement.dataset.place")
    assert first != second
    page.keyboard.press("Enter")
    expect(page.locator(".moves .pending")).to_have_text(f"Black: {second}")
    page.keyboard.press("Backspace")
    expect(page.locator(".moves > li")).to_have_count(0)
    page.locator('.hit[tabindex="0"]').focus()
    page.keyboard.press("Enter")
    expect(page.locator(".moves .pending")).to_have_count(1)
    page.locator("#main").focus()
    page.keyboard.press("Enter")
    expect(page.locator(".moves .pending")).to_have_count(0)
    expect(page.locator(".status")).to_contain_text("White to move")
    page.keyboard.press("p")
    expect(page.locator(".moves .pending")).to_have_text("White: pass")


def test_two_bots_play_and_can_be_stopped(visit: OpenPage) -> None:
    page = visit()
    seats = choose_board(page, "Vadus", {"size": "3"})
    for seat in (0, 1):
        seats.nth(seat).select_option("greedy")
    slider = page.get_by_label("Pause between turns")
    with held_answers(page, "bot"):
        page.get_by_role("button", name="Start the game").click()
        slider.fill("3000")
    button(page, "stop").click()
    button(page, "resume").wait_for()
    turns = num_turns(page)
    slider.fill("0")
    button(page, "resume").click()
    expect(button(page, "again")).to_be_visible()
    assert num_turns(page) > turns
    record_of(page).replay()


def test_a_killed_server_loses_no_move(start: Start, start_server: Any, tmp_path: Path) -> None:
    generator = random.Random(6)
    server = start_server()
    page = start("Taugo", {"size": "3"}, url=server.url, expects_errors=True)
    for _ in range(3):
        wait_until_ready(page)
        make_an_action(page, generator)
    wait_until_ready(page)
    before = record_of(page).actions
    moves = page.locator(".moves").inner_text()
    server.kill()
    button(page, "undo").click()
    expect(page.locator(".toast").first).to_have_text("The server does not answer. Is it still running?")
    start_server(data=tmp_path / "data", port=server.port)
    assert record_of(page).actions == before
    page.reload()
    page.wait_for_selector(".game .board svg")
    expect(page.locator(".moves")).to_have_text(moves, use_inner_text=True)
    play_to_the_end(page, generator)
    record_of(page).replay()


def test_two_browsers_see_the_same_game(start: Start, open_page: OpenPage) -> None:
    one = start("Laido", {"size": "4"}, opponent=None, expects_errors=True)
    one.get_by_label("Confirm each turn").uncheck()
    other = open_page(one.url, expects_errors=True)
    other.wait_for_selector(".game .board .hit")
    hit(one, "d4").click()
    expect(other.locator(".moves > li")).to_have_count(1)
    hit(other, "c4").click()
    for page in (one, other):
        expect(page.locator(".moves > li")).to_have_count(2)
    # Both act on the same position: one of them is too late, and nothing is lost or played twice.
    with one.expect_response("**/act"), other.expect_response("**/act"):
        hit(one, "a4").dispatch_event("click")
        hit(other, "b4").dispatch_event("click")
    actions = record_of(one).actions
    for page in (one, other):
        expect(page.locator(".moves > li")).to_have_count(len(actions))
    assert other.locator(".moves").inner_text() == one.locator(".moves").inner_text()
    assert actions[:2] == ("d4", "c4")
    assert set(actions[2:]) <= {"a4", "b4"}
    assert len(actions) >= 3
