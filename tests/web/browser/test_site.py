"""The documentation site in a browser: every page fits a phone and a desktop window, and loads nothing from elsewhere."""

from __future__ import annotations

import functools
import http.server
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

ROOT = Path(__file__).parents[3]
#: Widths and heights in CSS pixels.
PHONE, DESKTOP = (390, 844), (1280, 900)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built site. The notebooks are not executed."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    environment = os.environ | {"NO_MKDOCS_2_WARNING": "1", "EXECUTE_NOTEBOOKS": "0"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(params=[(PHONE, "light"), (PHONE, "dark"), (DESKTOP, "light"), (DESKTOP, "dark")], ids=str)
def page(browser: Browser, request: pytest.FixtureRequest) -> Iterator[Page]:
    (width, height), scheme = request.param
    context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
    yield context.new_page()
    context.close()


def test_every_page_fits_the_window_and_loads_all_that_it_shows(site: Path, page: Page) -> None:
    errors: list[str] = []
    foreign: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("request", lambda sent: None if sent.url.startswith(("file:", "data:")) else foreign.append(sent.url))
    pages = sorted(site.rglob("*.html"))
    assert {"index.html", "vadus.html", "first_game.html", "rules.html"} <= {path.name for path in pages}
    width = page.viewport_size["width"] if page.viewport_size else 0
    for path in pages:
        if path.name == "404.html":  # its links are absolute
            continue
        page.goto(path.as_uri())
        name = path.relative_to(site).as_posix()
        assert page.evaluate("document.scrollingElement.scrollWidth") <= width, f"{name} scrolls sideways"
        assert page.locator("h1").count() == 1, f"{name} has one title"
        broken = page.evaluate("[...document.images].filter(image => !image.naturalWidth).map(image => image.src)")
        assert broken == [], name
        assert page.locator("img:not([alt])").count() == 0, f"{name} has pictures without alternative text"
        assert errors == [], name
        assert foreign == [], name


@pytest.fixture(scope="module")
def search(site: Path, browser: Browser) -> Iterator[Page]:
    """The start page, served by HTTP: the search runs in a worker, which browsers do not start from files."""
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(site))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        context = browser.new_context(viewport={"width": 1280, "height": 900})
        page = context.new_page()
        page.goto(f"http://127.0.0.1:{server.server_port}/index.html")
        yield page
        context.close()
        server.shutdown()


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("stable baselines", "libraries/stable-baselines3.html"),
        ("MaskablePPO", "libraries/stable-baselines3.html"),
        ("rllib", "libraries/rllib.html"),
        ("action mask", "environments.html"),
        ("action index", "games.html"),
        ("rate checkpoint", "rate.html"),
        ("how strong is my checkpoint", "rate.html"),
        ("train maskableppo taugo", "libraries/stable-baselines3.html"),
        ("resume a run", "train.html"),
        ("add a bot", "adding-a-game.html"),
        ("pie rule", "laido.html"),
        ("cut", "taugo.html"),
        ("engine protocol", "protocol.html"),
        ("strongest agent", "agents.html"),
        ("kubernetes", "cluster.html"),
    ],
)
def test_a_search_finds_the_page_first_or_nearly(search: Page, query: str, expected: str) -> None:
    search.reload()  # forgets the results of the last query
    search.locator(".md-search__input").click()
    search.keyboard.type(query)
    links = search.locator(".md-search-result__link")
    links.first.wait_for()
    addresses = links.evaluate_all(
        "links => links.map(link => link.getAttribute('href'))"
    )  # at once: the list is redrawn
    pages = [address.partition("?")[0] for address in addresses]
    pages = list(dict.fromkeys(page.partition("#")[0] for page in pages))
    places = 2 if query in ("cut", "resume a run") else 1
    assert any(page.endswith(expected) for page in pages[:places]), pages[:5]
