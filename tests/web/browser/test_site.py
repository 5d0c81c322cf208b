"""The documentation site: it builds, its notebooks run, and every page fits a phone and a desktop window."""

from __future__ import annotations

import functools
import http.server
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from pages import OpenPage, assert_fits

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built site, as ``make docs`` builds it: a broken link is an error, and notebooks are executed."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    environment = os.environ | {"NO_MKDOCS_2_WARNING": "1", "EXECUTE_NOTEBOOKS": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


def test_every_page_fits_and_loads_all_that_it_shows(site: Path, open_page: OpenPage, screen: dict[str, Any]) -> None:
    pages = sorted(path for path in site.rglob("*.html") if path.name != "404.html")  # its links are absolute
    assert {"index.html", "vadus.html", "first_game.html", "rules.html"} <= {path.name for path in pages}
    page = open_page(pages[0].as_uri(), expects_errors=True, **screen)
    for path in pages:
        page.goto(path.as_uri())
        assert_fits(page)
        name = path.relative_to(site).as_posix()
        assert page.locator("h1").count() == 1, f"{name} has one title"
        broken = page.evaluate("[...document.images].filter(image => !image.naturalWidth).map(image => image.src)")
        assert broken == [], name
        assert page.locator("img:not([alt])").count() == 0, f"{name} has pictures without alternative text"
        is_phone = screen["viewport"]["width"] < 1280
        if not is_phone and not name.startswith(("api/", "benchmark")):  # signatures and results scroll
            frames = "frames => frames.filter(frame => frame.scrollWidth > frame.clientWidth + 1).length"
            cut_off = page.locator(".md-typeset__scrollwrap").evaluate_all(frames)
            assert cut_off == 0, f"{name} shows its tables whole"


def test_every_notebook_draws_a_position(site: Path) -> None:
    for path in (ROOT / "examples").glob("*.ipynb"):
        page = (site / "notebooks" / f"{path.stem}.html").read_text(encoding="utf-8")
        assert re.search(rf'<img [^>]*src="{path.stem}_files/\w+\.svg"', page), path.stem


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
        ("how strong is my checkpoint", "rate.html"),
        ("pie rule", "laido.html"),
        ("what does action 57 mean", "games.html"),
        ("play against the strongest agent", "agents.html"),
        ("how do I train ppo", "train.html"),
        ("add a game", "adding-a-game.html"),
    ],
)
def test_a_search_finds_the_page_first(search: Page, query: str, expected: str) -> None:
    search.reload()  # forgets the results of the last query
    search.locator(".md-search__input").click()
    search.keyboard.insert_text(query)  # at once: typing shows the results of each beginning
    search.keyboard.press("End")
    links = search.locator(".md-search-result__link")
    links.first.wait_for()
    script = "links => links.map(link => link.getAttribute('href'))"  # at once: the list is redrawn
    pages = list(dict.fromkeys(re.split(r"[?#]", address)[0] for address in links.evaluate_all(script)))
    assert pages[0].endswith(expected), pages[:5]
