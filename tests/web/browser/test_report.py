"""The report of a game: what turns lost, on the curve and in the list of moves."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from playwright.sync_api import expect

from pages import OpenPage, assert_accessible, assert_fits

ACTIONS = ["c3", "swap", "a3", "b3", "a4", "d3", "a5", "pass", "pass"]


def test_turning_points_are_on_the_curve_and_among_moves(visit_on_screens: OpenPage, post: Callable[..., Any]) -> None:
    page = visit_on_screens(f"/analyze?game=laido(size=3)&moves={','.join(ACTIONS)}")
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
    answer = post("values", game="laido(size=3)", actions=ACTIONS, bot="mcts:1000")
    assert answer["proven"][-1]
    chances = [(1 + value) / 2 for value in answer["values"]]
    losses: dict[int, list[float]] = {0: [], 1: []}
    for number in range(len(ACTIONS)):
        mover = number % 2
        change = chances[number + 1] - chances[number]
        losses[mover].append(max(0.0, change if mover else -change))
    for mover, own in losses.items():
        expect(rows.nth(mover)).to_contain_text(f"{100 * sum(own) / len(own):.1f} %")
    assert marks == sum(loss >= 0.1 for own in losses.values() for loss in own)
    # The players have changed colors by the swap.
    expect(rows.locator("td:first-child")).to_have_text(["Black, then White", "White, then Black"])
    points.first.get_by_role("button").press("Enter")
    expect(page.locator(".move[aria-current][data-mark]")).to_have_count(1)
    assert_fits(page)
    assert_accessible(page)
