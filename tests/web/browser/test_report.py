"""The report of a game: what turns lost, on the curve and in the list of moves."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

GAME = "/analyze?game=laido(size=3)&moves=c3,swap,a3,b3,a4,d3,a5,pass,pass"


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_turning_points_are_on_the_curve_and_in_the_list_of_moves(
    open_page: Callable[..., Page], shared_server: Any, width: int, scheme: str
) -> None:
    page = open_page(f"{shared_server.url}{GAME}", viewport={"width": width, "height": 800}, color_scheme=scheme)
    agent = page.get_by_label("Agent of the value curve")
    agent.select_option("mcts:1000")
    rows = page.locator(".report tbody tr")
    expect(rows).to_have_count(2)
    expect(page.locator(".curve .line")).to_have_attribute("d", re.compile(r"^M\S+ \S+(L\S+ \S+){9}$"))
    points = page.locator(".turning-points li")
    marks = points.count()
    assert marks >= 1
    expect(page.locator(".curve .mark")).to_have_count(marks)
    expect(page.locator(".move[data-mark]")).to_have_count(marks)
    # The numbers are those of the server: the losses of a player's turns add up to the mean.
    with shared_server.client() as client:
        fields = {
            "game": "laido(size=3)",
            "actions": ["c3", "swap", "a3", "b3", "a4", "d3", "a5", "pass", "pass"],
            "bot": "mcts:1000",
        }
        answer = client.post("/api/values", json=fields).json()
    assert answer["proven"][-1]
    chances = [(1 + value) / 2 for value in answer["values"]]
    losses: dict[int, list[float]] = {0: [], 1: []}
    movers = [0, 1, 0, 1, 0, 1, 0, 1, 0]
    for number, mover in enumerate(movers):
        change = chances[number + 1] - chances[number]
        losses[mover].append(max(0.0, change if mover else -change))
    for mover, own in losses.items():
        expect(rows.nth(mover)).to_contain_text(f"{100 * sum(own) / len(own):.1f} %")
    assert marks == sum(loss >= 0.1 for own in losses.values() for loss in own)
    points.first.get_by_role("button").press("Enter")
    expect(page.locator(".move[aria-current][data-mark]")).to_have_count(1)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert not Axe().run(page).response["violations"]
