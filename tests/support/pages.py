"""What tests of the page in a browser share."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, Page, Route

#: Opens a page at an address, or at a path of the server that the tests share.
OpenPage = Callable[..., Page]

#: The form of a new game, once the bots of its board are listed.
LISTED = "form[aria-busy=false]"


def hit(page: Page, place: str) -> Locator:
    """Return the place on the board that can be clicked."""
    return page.locator(f'.hit[data-place="{place}"]')


def button(page: Page, name: str) -> Locator:
    """Return a button beside the board by its name in the page."""
    return page.locator(f'[data-name="{name}"]')


def _withholding(requests: str, promise: str) -> str:
    """Return a script that withholds the answers to some requests until a promise, an expression for each answer, resolves."""
    return f"""(() => {{
      const fetched = window.fetch;
      window.fetch = async (address, ...given) => {{
        const response = await fetched(address, ...given);
        if (/({requests})$/.test(address)) await {promise};
        return response;
      }};
    }})();"""


def delay_answers(page: Page, requests: str, milliseconds: int) -> None:
    """Delay the answers to some requests of the page, so that its long poll is answered before them."""
    page.context.add_init_script(
        _withholding(requests, f"new Promise((resolve) => setTimeout(resolve, {milliseconds}))")
    )
    page.reload()


@contextlib.contextmanager
def held_answers(page: Page, requests: str) -> Iterator[None]:
    """Withhold the answers to some requests of the page until the block ends, however long it takes."""
    page.evaluate("window.released = new Promise((resolve) => { window.releaseAnswers = resolve; }); null")
    page.evaluate(f"{_withholding(requests, 'window.released')} null")
    yield
    page.evaluate("window.releaseAnswers()")


class HeldRequests:
    """Requests of a page to some addresses, which wait until a test lets them go on."""

    def __init__(self, page: Page, addresses: str) -> None:
        self._page = page
        self._routes: list[Route] = []
        page.route(addresses, lambda route: self._routes.append(route))

    def __len__(self) -> int:
        return len(self._routes)

    def next(self) -> Route:
        """Return the oldest request, once there is one."""
        while not self._routes:
            self._page.wait_for_timeout(20)
        return self._routes.pop(0)


def assert_fits(page: Page) -> None:
    """Check that the page does not scroll sideways."""
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{page.url} scrolls sideways"


def assert_accessible(page: Page) -> None:
    """Check that axe finds no errors."""
    violations = Axe().run(page).response["violations"]
    found = [
        (violation["id"], violation["help"], [node["html"][:150] for node in violation["nodes"][:3]])
        for violation in violations
    ]
    assert not found, f"{page.url}: {found}"
