"""The documentation site in a browser: every page fits a phone and a desktop window, and loads nothing from elsewhere."""

from __future__ import annotations

import os
import subprocess
import sys
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
