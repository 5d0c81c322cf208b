"""Boards that are played in the page: on the site, without a server of ours, and in the local page, before its server answers."""

from __future__ import annotations

import functools
import http.server
import re
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import unquote

import pytest
from playwright.sync_api import Page, Route, expect

from docs.ruling_pictures import RULING_PICTURES
from installed_packages import install
from pages import HeldRequests, OpenPage, assert_fits, hit
from stoneworks import load_game

_PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Play</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,">
<style>:root { --md-default-bg-color: #fff; --md-default-fg-color: #222; --md-default-fg-color--light: #555; }</style></head>
<body><h1>Play</h1>%s</body></html>"""
_BOARD = '<div class="play-here" %s></div>'


@pytest.fixture
def open_page(open_page: OpenPage) -> OpenPage:
    """Open pages with workers."""
    return functools.partial(open_page, has_workers=True)


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A static server with pages that the hooks of the site have finished, in a folder of it."""
    from docs import site_hooks

    root = tmp_path_factory.mktemp("server")
    pictures = [(picture.path, (site_hooks.ROOT / "docs" / picture.path).read_bytes()) for picture in RULINGS.values()]
    for path, content in (*site_hooks.play_files(), *pictures):
        target = root / "a" / "prefix" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    contents = {
        "play-here.html": _BOARD % 'data-game="vadus" data-board="quick" data-address',
        "laido.html": _BOARD % 'data-game="laido"',
        "rulings.html": "".join(picture.link for picture in RULINGS.values()),
    }
    for name, given in contents.items():
        page = SimpleNamespace(url=name, file=SimpleNamespace(src_uri=name), meta={})
        html = _PAGE % site_hooks.on_page_markdown(given, page)
        (root / "a" / "prefix" / name).write_text(site_hooks.on_post_page(html, page), encoding="utf-8")
    handler = functools.partial(_Quiet, directory=str(root))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/a/prefix"
        server.shutdown()


#: For each game, a ruling with a picture of a position in which a stone, tile or piece can be put on the board.
RULINGS = {
    name: next(
        picture
        for picture in RULING_PICTURES
        if picture.illustration.game.startswith(name) and picture.illustration.moves and picture.illustration.legal
    )
    for name in ("vadus", "laido", "taugo", "taigo", "trugo")
}


class _Quiet(http.server.SimpleHTTPRequestHandler):
    extensions_map = http.server.SimpleHTTPRequestHandler.extensions_map | {".wasm": "application/wasm"}

    def log_message(self, format: str, *args: Any) -> None:
        pass


#: Clicks a random place, or else a button of a choice or of an action that is not on the board.
_CLICK = """() => {
  const table = document.querySelector('.play-here');
  if (table.dataset.state !== 'open') return table.dataset.state;
  const parts = ['.choices button:not(.quiet)', '.hit', '.play-globals button'].map(name => [...table.querySelectorAll(name)]);
  const some = parts.find(found => found.length);
  some[Math.floor(Math.random() * some.length)].dispatchEvent(new MouseEvent('click', {bubbles: true}));
  return 'open';
}"""


def play_to_the_end(page: Page) -> None:
    """Play at random until the game is over."""
    for _ in range(2000):
        page.wait_for_selector(".play-here:not([data-state=thinking])")
        if page.evaluate(_CLICK) == "over":
            break
    expect(page.locator(".play-status")).to_contain_text("wins by")


def choose(page: Page, label: str, option: str) -> None:
    """Choose an option of the game."""
    page.get_by_label(label, exact=True).select_option(option)
    page.wait_for_selector(".play-here[data-state=open]")


@pytest.mark.parametrize("opponent", ["greedy", "uct", "agent"])
def test_whole_games_without_a_network(address: str, open_page: OpenPage, opponent: str) -> None:
    page = open_page(f"{address}/play-here.html")
    choose(page, "Opponent", opponent)
    page.locator(".hit").first.click()  # the opponent's weights are loaded with its first answer
    page.wait_for_function("document.querySelectorAll('.stones circle').length >= 3")
    page.context.set_offline(True)
    play_to_the_end(page)


@pytest.mark.parametrize("name", ["laido", "taugo", "taigo", "trugo"])
def test_every_game_is_played(address: str, open_page: OpenPage, screen: dict[str, Any], name: str) -> None:
    page = open_page(f"{address}/play-here.html", **screen)
    choose(page, "Game", name)
    for _ in range(6):
        page.wait_for_selector(".play-here:not([data-state=thinking])")
        if page.evaluate(_CLICK) == "over":  # random play loses Taigo in a few turns
            break
    page.wait_for_selector(".play-here:not([data-state=thinking])")
    assert_fits(page)
    assert page.evaluate("location.hash").startswith(f"#{name}-")


def test_an_address_is_a_game(address: str, open_page: OpenPage) -> None:
    page = open_page(f"{address}/play-here.html#vadus-quick;e5;d4;d5")
    expect(page.locator(".play-status")).to_have_text("Black to move: first of two stones, or a pass")
    expect(page.locator(".stones circle")).to_have_count(3)
    page.get_by_role("button", name="Take back").click()
    expect(page.locator(".play-status")).to_have_text("White to move: second of two stones")
    assert page.evaluate("location.hash") == "#vadus-quick;e5;d4"
    page.evaluate("location.hash = '#vadus-quick;e5;e5'")
    expect(page.locator(".play-status")).to_contain_text("action 2 (e5) is illegal")


def test_a_second_click_waits_for_the_position_after_the_first(address: str, open_page: OpenPage) -> None:
    page = open_page(f"{address}/play-here.html#vadus-quick;e5;d4;d5")
    page.get_by_role("button", name="pass").evaluate("button => { button.click(); button.click(); button.click(); }")
    expect(page.locator(".play-status")).to_have_text(
        "White to move: first of two stones, or a pass that ends the game"
    )
    assert page.evaluate("location.hash") == "#vadus-quick;e5;d4;d5;pass"


def test_the_stone_that_comes_grows_and_no_other(address: str, open_page: OpenPage) -> None:
    page = open_page(f"{address}/play-here.html#vadus-quick;e5;d4;d5")
    hit(page, "a5").dispatch_event("click")
    expect(page.locator(".stones circle")).to_have_count(4)
    expect(page.locator(".stones circle.came")).to_have_count(1)
    expect(page.locator(".stones circle.turned")).to_have_count(0)


def test_an_address_with_an_illegal_action_can_be_taken_back(address: str, open_page: OpenPage) -> None:
    page = open_page(f"{address}/play-here.html#vadus-quick;e5;e5")
    expect(page.locator(".play-status")).to_contain_text("action 2 (e5) is illegal")
    page.get_by_role("button", name="Analyze").click()
    page.get_by_role("button", name="Take back").click()
    expect(page.locator(".stones circle")).to_have_count(1)
    expect(page.locator(".agent tbody tr").first).to_be_visible()


def test_a_click_says_why_it_is_illegal(address: str, open_page: OpenPage) -> None:
    page = open_page(f"{address}/play-here.html#vadus-quick;e5;d4")
    page.locator(".stones circle").first.click(force=True)  # the layer of the places is above it
    expect(page.locator(".words")).to_have_text(re.compile("^V2: (e5|d4) is occupied$"))
    choose(page, "Game", "trugo")
    choose(page, "Board", "standard")
    expect(page.locator(".play-supplies")).to_contain_text("waxing phase (tiles are added), tiles in the pool: 36;")
    expect(page.locator(".play-status")).to_have_text("White to move: lay a tile")


def test_the_end_says_what_decided_and_marks_it(address: str, open_page: OpenPage) -> None:
    page = open_page(f"{address}/play-here.html#vadus-quick;e5;d4;d5;pass;pass")
    why = "the best group decides: Black's e5 is worth −1 (no path, 1 extra), White's d4–d5 is worth −2 (no path, 2 extra)"
    expect(page.locator(".play-status")).to_have_text(f"Black wins by groups: {why}")
    expect(page.locator(".deciding circle")).to_have_count(1)
    expect(page.locator(".play-supplies")).to_be_empty()


def test_keys_hints_and_taking_back(address: str, open_page: OpenPage) -> None:
    page = open_page(f"{address}/play-here.html")
    page.wait_for_selector(".play-here[data-state=open]")
    page.get_by_role("button", name="Hint").click()
    expect(page.locator(".play-status")).to_contain_text("Hint: ")
    expect(page.locator(".hit.hinted")).to_have_count(1)
    page.locator(".hit").first.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    page.wait_for_function("document.querySelectorAll('.stones circle').length === 3")
    page.get_by_role("button", name="Take back").click()
    expect(page.locator(".stones circle")).to_have_count(0)


def test_a_page_opens_again_without_a_network(address: str, open_page: OpenPage) -> None:
    page = open_page(f"{address}/laido.html", expects_errors=True)
    page.wait_for_selector(".play-here[data-state=open]")
    page.evaluate("navigator.serviceWorker.ready")
    page.reload()  # now through the service worker
    page.wait_for_selector(".play-here[data-state=open]")
    page.context.set_offline(True)
    page.reload()
    page.wait_for_selector(".play-here[data-state=open]")
    page.locator(".hit").first.click()
    page.wait_for_function("document.querySelectorAll('.stones circle').length >= 1")


def test_a_line_of_taugo_is_continued_by_one_click(address: str, open_page: OpenPage) -> None:
    page = open_page(f"{address}/play-here.html#taugo-standard;c3;g7;c4")
    page.locator('.hit[data-place="c7"]').dispatch_event("click")
    expect(page.locator(".stones circle")).to_have_count(6)
    assert page.evaluate("location.hash") == "#taugo-standard;c3;g7;c4;c5;c6;c7"


@pytest.mark.parametrize("name", RULINGS)
def test_the_picture_of_a_ruling_leads_to_its_position(address: str, open_page: OpenPage, name: str) -> None:
    """Below a path prefix; the position is played on from."""
    page = open_page(f"{address}/rulings.html")
    page.get_by_role("link", name=RULINGS[name].illustration.description).click()
    page.wait_for_selector(".play-here[data-state=open]")
    moves = RULINGS[name].illustration.moves.split()
    before = unquote(page.evaluate("location.hash")).split(";")
    assert before[1:] == moves
    for _ in range(6):  # an action may take several clicks
        page.evaluate(_CLICK)
        page.wait_for_selector(".play-here:not([data-state=thinking])")
        if len(now := unquote(page.evaluate("location.hash")).split(";")) > len(before):
            break
    assert now[: len(before)] == before
    assert len(now) > len(before)


def simulations(text: str) -> int:
    """Return the number of simulations in the text of an analysis."""
    found = re.search(r"(\d+) simulations · ", text)
    return int(found[1]) if found else 0


#: Keeps the first text of an analysis that states a value for Black.
_KEEP_FIRST_OF_BLACK = """panel => {
  window.firstOfBlack = new Promise((resolve) => {
    new MutationObserver((changes, observer) => {
      if (!panel.innerText.includes('Black ')) return;
      observer.disconnect();
      resolve(panel.innerText);
    }).observe(panel, { childList: true, subtree: true, characterData: true });
  });
}"""


def test_an_analysis_goes_on_and_follows_the_position(
    address: str, open_page: OpenPage, screen: dict[str, Any]
) -> None:
    page = open_page(f"{address}/play-here.html#vadus-quick;e5;d4", **screen)
    page.wait_for_selector(".play-here[data-state=open]")
    page.get_by_role("button", name="Analyze").click()
    panel = page.get_by_label("Analysis", exact=True)
    expect(panel.locator("h2")).to_have_text("agent with search")
    caption = "policy: in %; prior: in %; visits: simulations; win: chance to win, in %"
    expect(panel.locator("caption")).to_have_text(caption)
    expect(panel.locator("p")).to_have_text(re.compile(r"^White \d+\.\d % · \d{3,} simulations · \d+\.\d\d s$"))
    rows, lines = panel.locator("tbody tr"), panel.locator(".best-line li")
    expect(rows).to_have_count(8)
    assert_fits(page)
    before = simulations(panel.inner_text())
    expect(panel.locator("p")).not_to_contain_text(f" {before} simulations")
    assert simulations(panel.inner_text()) > before
    action = rows.nth(2).get_by_role("button")
    action.focus()
    expect(page.locator(".hit.hinted")).to_have_count(1)
    assert lines.count() > 1
    place = page.locator(".hit.hinted").get_attribute("data-place")
    deep = simulations(panel.inner_text())
    panel.evaluate(_KEEP_FIRST_OF_BLACK)
    hit(page, place).dispatch_event("click")
    expect(page.locator(".stones circle")).to_have_count(3)
    # A new search, of the next position.
    assert simulations(page.evaluate("window.firstOfBlack")) < max(deep, 1000)
    page.get_by_role("button", name="Analyze").click()
    expect(panel).to_be_hidden()


def test_without_weights_uct_analyzes(address: str, open_page: OpenPage) -> None:
    page = open_page(f"{address}/play-here.html#taugo-size-4;c3", expects_errors=True, service_workers="block")
    page.wait_for_selector(".play-here[data-state=open]")
    page.route("**/*.weights", lambda route: route.abort())
    page.get_by_role("button", name="Analyze").click()
    panel = page.get_by_label("Analysis", exact=True)
    expect(panel.locator("h2")).to_have_text("UCT search")
    expect(panel.locator("caption")).to_have_text("policy: in %; visits: simulations; win: chance to win, in %")
    expect(panel.locator("p")).to_contain_text(re.compile(r"\d{4,} simulations"))


# -- The local page --------------------------------------------------------------------------------------------------------


@pytest.fixture
def open_local(address: str, open_page: OpenPage, shared_server: Any) -> Callable[..., Page]:
    """Open pages of a local server that has the site's modules, or none."""

    def open_one(path: str, *, has_modules: bool = True, url: str = shared_server.url, **options: Any) -> Page:
        def describe(route: Route) -> None:
            response = route.fetch()
            route.fulfill(response=response, json=response.json() | {"modules": has_modules})

        def load(route: Route) -> None:
            route.fulfill(response=route.fetch(url=f"{address}/play/games/{route.request.url.rpartition('/')[2]}"))

        page = open_page(url, **options)
        page.route("**/api/info", describe)
        page.route("**/engine/games/*", load)
        page.goto(f"{url}{path}")
        page.locator(".overlay .hit").first.wait_for()
        return page

    return open_one


def test_lessons_go_on_without_the_server(open_local: Callable[..., Page]) -> None:
    page = open_local("/learn/vadus", expects_errors=True)
    for requests in ("**/api/position", "**/api/why"):
        page.route(requests, lambda route: route.abort())
    page.get_by_role("button", name="Skip").click()
    expect(page.locator(".stones circle")).to_have_count(1)
    page.locator(".stones circle").click(force=True)  # the layer of the places is above it
    expect(page.locator(".words")).to_have_text("V2: c3 is occupied")
    hit(page, "a3").dispatch_event("click")
    hit(page, "b3").dispatch_event("click")
    expect(page.locator(".learn .status")).to_have_text("Done.")
    expect(page.locator(".stones circle")).to_have_count(3)


#: What a page shows of a position, apart from marks.
_SHOWN = """() => ({
  places: [...document.querySelectorAll('.overlay .hit')].map(({dataset, ariaLabel, className}) =>
    [dataset.place, ariaLabel, className.baseVal]),
  status: document.querySelector('.status').textContent.split(' · score')[0],
  buttons: [...document.querySelectorAll('[data-action]')].map(button => button.textContent),
  stones: [...document.querySelectorAll('.picture :is(.stones, .cones) circle')].map(stone => {
    const {x, y, width} = stone.getBoundingClientRect();
    return [stone.parentNode.className.baseVal, ...[x, y, width].map(Math.round)].join();
  }).sort(),
})"""


@pytest.mark.parametrize("name", ["vadus", "laido", "taugo", "taigo", "trugo"])
def test_an_analysis_shows_the_position_of_the_server_before_it_answers(
    open_local: Callable[..., Page], name: str
) -> None:
    game = load_game(name, **load_game(name).guide.boards["quick"])
    page = open_local(f"/analyze?game={game}", reduced_motion="reduce")
    page.get_by_label("Analyze every position").uncheck()
    held = HeldRequests(page, "**/api/position")
    composed = page.locator(f'.picture [id^="{name}-"]')  # a color of the picture that the browser composes
    for number in range(1, 4):
        after = f'.overlay[aria-label$="after {number} actions"]'
        page.locator(".overlay .hit").last.dispatch_event("click")
        second = page.locator(f"{after}, .hit.second").first  # of a tile of Taigo
        expect(second).to_be_attached()
        if page.locator(after).count() == 0:
            second.dispatch_event("click")
        expect(page.locator(after)).to_be_attached()
        expect(composed).not_to_have_count(0)
        early = page.evaluate(_SHOWN)
        assert early["places"]
        held.next().continue_()
        while held:
            held.next().continue_()
        expect(composed).to_have_count(0)
        assert page.evaluate(_SHOWN) == early


def test_half_an_action_stays_chosen_when_the_server_answers(open_local: Callable[..., Page]) -> None:
    page = open_local("/analyze?game=taigo(radius=6,tiles=20)")
    page.get_by_label("Analyze every position").uncheck()
    held = HeldRequests(page, "**/api/position")
    composed = page.locator('.picture [id^="taigo-"]')
    for _ in range(2):
        page.locator(".overlay .hit").first.dispatch_event("click")
    expect(composed).not_to_have_count(0)
    page.locator(".overlay .hit").first.dispatch_event("click")
    held.next().continue_()
    expect(composed).to_have_count(0)
    expect(page.locator(".overlay .picked-place")).to_have_count(1)
    expect(page.locator(".overlay .hit.second")).not_to_have_count(0)


def test_a_game_shows_what_follows_from_a_click_before_the_server_stores_it(
    open_local: Callable[..., Page], post: Callable[..., Any]
) -> None:
    fields = {"game": "vadus(size=5)", "players": [None, None], "actions": ["e5"], "confirm": False}
    page = open_local(f"/play/{post('games', **fields)['id']}", expects_errors=True)
    held = HeldRequests(page, "**/act")
    stones = page.locator(".stones circle:not(.gone)")
    hit(page, "a5").dispatch_event("click")
    expect(stones).to_have_count(2)
    held.next().fulfill(status=400, json={"error": {"message": "not now"}})
    expect(page.locator("#toasts")).to_contain_text("not now")
    expect(stones).to_have_count(1)
    hit(page, "a5").dispatch_event("click")
    expect(stones).to_have_count(2)
    expect(page.locator(".moves > li")).to_have_count(1)
    hit(page, "b5").dispatch_event("click")  # is played after the first
    page.unroute("**/act")
    held.next().continue_()
    expect(stones).to_have_count(3)
    expect(page.locator(".moves > li")).to_have_text(["Black: e5", "White: a5 b5"])


def test_the_server_answers_where_there_is_no_module(
    open_local: Callable[..., Page], start_server: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = """
from stoneworks.envs.games.laido.rules import Laido
from stoneworks.envs.rules import GameEntry

class Twin(Laido):
    name = "twin"

GAME = GameEntry("twin", "twins:Twin", samples=("twin(size=2)",))
"""
    install(tmp_path / "twins", "stoneworks-twins", "[stoneworks.games]\ntwin = twins:GAME\n", twins=source)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "twins"))
    url = start_server().url
    for game, has_modules in (("vadus(size=5)", False), ("twin(size=2)", True)):
        page = open_local(f"/analyze?game={game}", url=url, has_modules=has_modules)
        page.get_by_label("Analyze every position").uncheck()
        with page.expect_response("**/api/position"):
            page.locator(".overlay .hit").first.dispatch_event("click")
        expect(page.locator(".picture .stones circle")).to_have_count(1)
        assert len(page.workers) == has_modules
