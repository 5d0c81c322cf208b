"""Agents on the page: one's own from Watch, hints, the default heat map, and games from a position."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from damage import damage
from installed_packages import LAST_BOT, install
from pages import OpenPage, assert_accessible, button
from stoneworks.locks import lock_folder


def test_the_agent_of_a_run_plays_and_analyzes_by_one_click(
    open_page: OpenPage, start_server: Any, runs: Path, screen: dict[str, Any]
) -> None:
    rows = [
        {"positions": 100 * n, "total_positions": 300, "loss": 1.0 / n, "sparse": None if n == 2 else 1}
        for n in (1, 2, 3)
    ]
    (runs / "first" / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    match = {"player": "search", "opponent": "greedy", "positions": 300, "score": 0.7, "interval": [0.6, 0.8]}
    file = runs / "first" / "checkpoint" / "checkpoint.json"
    damage(file, lambda fields: fields["training"].update(match_results=[match]))
    server = start_server("--agents", str(runs))
    page = open_page(f"{server.url}/watch", **screen)
    row = page.locator(".sources li", has_text="first")
    expect(row).to_contain_text("finished")
    with lock_folder(runs / "first"):
        expect(row).to_contain_text("running")
    row.get_by_role("link").click()
    expect(page.locator("figure", has_text="Scores of the search").locator(".legend")).to_contain_text("0.7 ± 0.1")
    # Points beside missing ones are drawn.
    expect(page.locator("figure", has_text="sparse").locator("circle")).to_have_count(2)
    assert_accessible(page)
    address = page.url
    page.get_by_role("button", name="Play against it").click()
    page.wait_for_url("**/play/**")
    expect(page.locator(".players")).to_contain_text("…/first/checkpoint@64")
    page.goto(address)
    page.get_by_role("link", name="Analyze with it").click()
    expect(page.locator(".agent").first).to_contain_text("64 simulations")
    expect(page.locator(".agent h2").first).to_have_attribute("title", f"{runs}/first/checkpoint@64")


def test_the_bot_of_an_installed_package_analyzes_and_plays(
    open_page: OpenPage, start_server: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bot = LAST_BOT + 'BOT = BotEntry("last", "last:LastBot")\n'
    install(tmp_path / "last", "stoneworks-last", "[stoneworks.bots]\nlast = last:BOT\n", last=bot)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "last"))
    page = open_page(f"{start_server().url}/analyze?game=vadus(size=3)&moves=c3")
    page.get_by_label("Add an agent").select_option("last")
    expect(page.get_by_role("region", name="last").locator("tbody tr").first).to_contain_text("pass")
    page.get_by_label("Opponent").select_option("last")
    page.get_by_role("button", name="Play from here").click()
    page.wait_for_url("**/play/**")
    button(page, "pass").click()
    button(page, "commit").click()
    expect(page.locator(".moves > li")).to_have_text(["Black: c3", "White: pass", "Black: pass"])


def test_charts_of_one_value_have_a_scale(open_page: OpenPage, start_server: Any, tmp_path: Path) -> None:
    for name, number in (("one", 1), ("many", 3)):
        (tmp_path / "runs" / name).mkdir(parents=True)
        rows = [{"positions": 1000 * (n + 1), "loss": 3.0} for n in range(number)]
        (tmp_path / "runs" / name / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    server = start_server(str(tmp_path / "runs"))
    for name in ("one", "many"):
        page = open_page(f"{server.url}/watch?source=0%2F{name}")
        chart = page.locator("figure", has_text="loss")
        expect(chart.locator(".legend")).to_have_text("loss: 3")
        across = chart.locator('text[text-anchor="middle"]').all_text_contents()
        assert len(across) == len(set(across)), across
        for number in chart.locator('text[text-anchor="end"]').all_text_contents():
            assert 2.5 < float(number) < 3.5


def test_a_pass_is_called_so_and_hinted_as_a_button(visit_on_screens: OpenPage, post: Callable[..., Any]) -> None:
    game = post("games", game="laido(size=3)", players=[None, None], actions=["c3", "b3", "pass"])
    page = visit_on_screens(f"/play/{game['id']}")
    button(page, "hint").click()
    expect(page.locator(".status")).to_have_text("Hint of laido@64: pass")
    expect(button(page, "pass")).to_have_class("primary")
    game = post("games", game="taugo(size=3)", players=[None, None], actions=["c3", "end"])
    page = visit_on_screens(f"/play/{game['id']}")
    expect(page.locator(".moves > li")).to_have_text(["Black: c3", "White: pass"])
    page.get_by_role("link", name="Analyze").last.click()
    expect(page.locator(".tree .move")).to_have_text(["c3", "pass"])


def test_lines_deepen_while_one_looks(visit_on_screens: OpenPage) -> None:
    page = visit_on_screens("/analyze?game=vadus(size=5)&moves=e5")
    search = page.get_by_role("region", name="vadus@64")
    expect(search).to_contain_text(" 64 simulations")
    page.get_by_label("Search on while I look").check()
    expect(search).not_to_contain_text(" 64 simulations")
    expect(search.locator("ol.best-line li")).to_have_count(3)
    page.get_by_label("Search on while I look").uncheck()
    assert_accessible(page)
