"""Debian's Chromium, driven by Playwright. Without it these tests fail: nothing is skipped."""

from __future__ import annotations

import functools
import shutil
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from pages import OpenPage

#: Everything on a busy machine, the first compilation of kernels included.
TIMEOUT_MILLISECONDS = 300_000.0
expect.set_options(timeout=TIMEOUT_MILLISECONDS)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """A headless browser with a fresh profile."""
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if program is None:
        pytest.fail(
            "the tests of the page need Chromium: apt-get update && apt-get install --yes chromium", pytrace=False
        )
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--disable-gpu", "--disable-quic"])
        yield browser
        browser.close()


@pytest.fixture
def open_page(browser: Browser, start_server: Callable[..., Any]) -> Iterator[Callable[..., Page]]:
    """Open pages in profiles of their own. Errors in scripts, and whatever the content security policy blocks, fail the test.

    The pages close before the servers that the test has started.
    """
    contexts: list[BrowserContext] = []
    problems: list[str] = []
    foreign: list[str] = []

    def open_one(url: str, *, expects_errors: bool = False, has_workers: bool = False, **options: Any) -> Page:
        context = browser.new_context(**({"viewport": {"width": 1280, "height": 900}} | options))
        contexts.append(context)
        context.set_default_timeout(TIMEOUT_MILLISECONDS)
        if not has_workers:  # the server answers, whether the modules are built or not
            context.add_init_script("delete window.Worker")
        page = context.new_page()
        page.on("pageerror", lambda error: problems.append(str(error)))
        if not expects_errors:
            page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
        origin = "/".join(url.split("/")[:3])
        page.on(
            "request",
            lambda request: foreign.append(request.url) if not request.url.startswith((origin, "data:")) else None,
        )
        page.goto(url)
        return page

    yield open_one
    for context in contexts:
        context.close()
    assert not problems, problems
    assert not foreign, f"loaded from elsewhere: {foreign}"


@pytest.fixture
def visit(open_page: OpenPage, shared_server: Any) -> OpenPage:
    """Open pages of the server that the tests share, by their paths."""
    return lambda path="/", **options: open_page(f"{shared_server.url}{path}", **options)


@pytest.fixture(
    params=[
        {"viewport": {"width": 1280, "height": 900}, "color_scheme": "light"},
        {"viewport": {"width": 390, "height": 800}, "color_scheme": "dark", "has_touch": True},
    ],
    ids=["desktop", "phone"],
)
def screen(request: pytest.FixtureRequest) -> dict[str, Any]:
    """A desktop in light colors and a phone in dark ones."""
    return request.param


@pytest.fixture
def visit_on_screens(visit: OpenPage, screen: dict[str, Any]) -> OpenPage:
    """Open pages of the server that the tests share, on each screen."""
    return functools.partial(visit, **screen)
