"""Analysis, watching, replays without a server, and accessibility of every view."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import expect

from game_play import uniform_game
from pages import OpenPage, assert_accessible, assert_fits, held_answers, hit
from stoneworks import load_game
from stoneworks.evaluation.arena import play_arena
from stoneworks.evaluation.records import GameRecord, write_records
from stoneworks.evaluation.settings import ArenaSettings, round_robin
from stoneworks.web import Replay

POSITION = "/analyze?game=vadus(size=5)&moves=e5,f2,g1"


def random_records(number: int) -> list[GameRecord]:
    game = load_game("laido(size=3)")
    ends = [uniform_game(game, np.random.default_rng(seed))[-1] for seed in range(number)]
    return [GameRecord.of_state(state, ("random", "other")) for state in ends]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with records, an arena and the files of a run."""
    folder = tmp_path_factory.mktemp("watched")
    write_records(folder / "games.jsonl", random_records(30))
    settings = ArenaSettings(game="vadus(size=3)", pairings=round_robin(["random", "greedy", "mcts:10"]), num_pairs=4)
    play_arena(settings, folder / "arena")
    (folder / "run").mkdir()
    rows = [{"positions": 1000 * n, "seconds": 10 * n, "policy": 3 / n, "value": 1 / n} for n in range(1, 6)]
    (folder / "run" / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return folder


@pytest.fixture
def watched(finished: Path, tmp_path: Path) -> Path:
    """A copy of it, which a test may change."""
    return shutil.copytree(finished, tmp_path / "watched")


def test_agents_analyze_a_position_side_by_side(visit: OpenPage, post: Callable[..., Any]) -> None:
    page = visit(POSITION)
    search = page.get_by_role("region", name="vadus@64")
    expect(search).to_contain_text("64 simulations")
    expect(page.get_by_role("region", name="greedy")).to_contain_text("evaluation")
    # The page says what the server says.
    found = post("analyze", game="vadus(size=5)", actions=["e5", "f2", "g1"], bot="vadus@64")
    share = round(50 + 50 * found["value"] * (1 - 2 * found["player"]))
    expect(page.locator(".value-bar")).to_have_attribute("aria-label", f"Value: Black {share} %, vadus@64")
    rows = [row.split() for row in search.locator("tbody").inner_text().splitlines()]
    assert [row[0] for row in rows[:3]] == [row["action"] for row in found["actions"][:3]]
    page.get_by_label("Add an agent").select_option("mcts:100")
    expect(page.locator(".agent").nth(2)).to_contain_text("100 simulations")
    search.get_by_role("button", name="Best line").click()
    numbers = page.locator(".picture .numbers [data-text]")
    expect(numbers).to_have_count(len(found["line"]))
    assert numbers.evaluate_all("all => all.map(x => +x.dataset.text)") == [*range(1, len(found["line"]) + 1)]
    search.get_by_role("button", name="Heat map").click()
    expect(numbers).to_have_count(0)
    expect(page.locator(".picture .fills path").first).to_be_attached()
    expect(page.locator(".curve .line")).to_have_attribute("d", re.compile(r"^M\S+ \S+(L\S+ \S+){3}$"))


def test_an_agent_named_by_the_user_and_each_kind_of_heat_map(visit: OpenPage, post: Callable[..., Any]) -> None:
    page = visit(POSITION)
    for _ in range(2):
        page.get_by_role("button", name=re.compile("^Remove")).first.click()
    page.get_by_label("Add an agent").select_option("\n")
    name = page.get_by_role("textbox", name="Name of the bot")
    name.fill("vadus@17")
    name.press("Enter")
    agent = page.get_by_role("region", name="vadus@17")
    expect(agent).to_contain_text("17 simulations")
    page.get_by_label("Heat map:").select_option("visits")
    expect(page.get_by_text("Numbers on the board: share of the visits, in %, by vadus@17")).to_be_visible()
    rows = post("analyze", game="vadus(size=5)", actions=["e5", "f2", "g1"], bot="vadus@17")["actions"]
    for kind, total in (("visits", sum(row["visits"] for row in rows)), ("prior", 1), ("policy", 1)):
        page.get_by_label("Heat map:").select_option(kind)
        marked = sorted((row for row in rows if row[kind] >= 0.01 * total), key=lambda row: -row[kind])[:12]
        assert marked
        for row in marked:
            text = f"{100 * row[kind] / total:.0f}"
            expect(page.locator(f'.picture [data-text="{text}"]').first).to_be_attached()
            expect(agent.locator("tbody").get_by_role("button", name=row["action"], exact=True)).to_have_count(1)
    page.get_by_role("button", name=re.compile("^Remove")).click()


def test_a_bad_move_leaves_the_form_and_capitals_are_read(visit: OpenPage) -> None:
    page = visit("/analyze", expects_errors=True)
    page.get_by_label("Game string").fill("vadus(size=5)")
    moves = page.get_by_label("Moves so far")
    moves.fill("1. E5 2. f2 zz")
    moves.press("Enter")
    expect(page.locator("form .error")).to_contain_text("action 3 (zz)")
    expect(moves).to_have_value("1. E5 2. f2 zz")
    moves.fill("1. E5 2. f2 g1")
    moves.press("Enter")
    expect(page.locator(".turn-head")).to_have_text(["1.Black: e5", "2.White: f2"])


def test_places_that_are_clicked_fast_are_one_line(visit: OpenPage) -> None:
    page = visit("/analyze?game=vadus(size=5)&moves=e5")
    page.get_by_label("Analyze every position").uncheck()
    with held_answers(page, "position"):
        for place in ("a5", "b5", "a5"):
            hit(page, place).dispatch_event("click")
    expect(page.locator(".tree .move")).to_have_text(["e5", "a5", "b5"])
    expect(page.locator(".move[aria-current]")).to_have_text("b5")
    expect(page.locator(".variation")).to_have_count(0)


def test_variations_comments_and_links(visit: OpenPage) -> None:
    page = visit(POSITION)
    page.get_by_label("Analyze every position").uncheck()
    hit(page, "a5").click()
    expect(page.locator(".move[aria-current]")).to_have_text("a5")
    expect(page.locator(".turn-head")).to_have_text(["1.Black: e5", "2.White: f2", "3.Black: a5"])
    page.locator("#main").focus()
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".move[aria-current]")).to_have_text("g1")
    hit(page, "a6").click()
    expect(page.locator(".variation")).to_contain_text("a6")
    page.get_by_label("Comment on this position").fill("an idea")
    page.get_by_label("Comment on this position").press("Tab")
    expect(page.locator(".comment-text")).to_have_text("an idea")
    assert "moves=e5%2Cf2%2Cg1%2Ca6" in page.url
    page.get_by_role("link", name="Skip to the content").press("Enter")
    expect(page.locator("#main")).to_be_focused()
    page.get_by_role("button", name="Save").click()
    page.wait_for_url("**/analyze/**")
    expect(page.locator(".variation")).to_contain_text("a6")
    page.reload()
    expect(page.locator(".comment-text")).to_have_text("an idea")
    expect(page.get_by_label("Comment on this position")).to_have_value("an idea")
    with page.expect_download() as download:
        page.get_by_role("link", name="Record").click()
    record = GameRecord.from_json(Path(download.value.path()).read_text(encoding="utf-8"))
    assert record.actions == ("e5", "f2", "g1")
    assert [node["action"] for node in record.metadata["tree"]] == ["", "e5", "f2", "g1", "a5", "a6"]
    hit(page, "b5").click()
    expect(page.locator(".move[aria-current]")).to_have_text("b5")
    page.get_by_role("button", name="Delete variation").click()
    expect(page.locator(".move")).to_have_count(4)
    refused = visit("/analyze?game=vadus(size=5)&moves=e5,a1x", expects_errors=True)
    expect(refused.locator(".error")).to_contain_text("a1x")


def test_records_are_imported_and_exported(visit: OpenPage, watched: Path) -> None:
    page = visit("/")
    page.locator("#import-file").set_input_files(watched / "games.jsonl")
    expect(page.locator(".toast")).to_have_text("30 games imported")
    expect(page.locator("tbody tr").first).to_contain_text("random – other")
    with page.expect_download() as download:
        page.get_by_role("button", name="Export all").click()
    lines = Path(download.value.path()).read_text(encoding="utf-8").splitlines()
    exported = {GameRecord.from_json(line).actions for line in lines}
    assert {record.actions for record in random_records(30)} <= exported


def test_watched_folders_are_shown_as_they_grow(open_page: OpenPage, start_server: Any, watched: Path) -> None:
    server = start_server(str(watched))
    page = open_page(f"{server.url}/watch")
    page.locator(".sources").get_by_role("link", name="games.jsonl", exact=True).click()
    expect(page.locator("tbody tr")).to_have_count(25)
    wins = sum(record.winner == 0 for record in random_records(30))
    page.get_by_label("Result").select_option("0")
    expect(page.locator(".panel p.faint").nth(1)).to_contain_text(f"{wins} of 30 games")
    page.get_by_role("button", name=re.compile("Replay game")).first.click()
    expect(page.locator(".replay .picture")).to_be_visible()
    page.locator(".replay").get_by_role("button", name="First position").click()
    expect(page.locator(".replay output")).to_have_text(re.compile("^0 of"))
    write_records(watched / "games.jsonl", random_records(33))
    expect(page.locator(".panel p.faint").nth(1)).to_contain_text("of 33 games")

    page.locator(".sources").get_by_role("link", name="arena", exact=True).click()
    expect(page.locator(".cross tbody tr")).to_have_count(3)
    expect(page.locator(".chart .bar.series-0")).to_have_count(3)

    page.locator(".sources").get_by_role("link", name="run", exact=True).click()
    expect(page.locator(".charts .line").first).to_be_attached()
    expect(page.locator(".panel")).to_contain_text("5000 positions")
    losses = page.locator("figure", has_text="Losses")
    expect(losses.locator(".legend")).to_have_text("policy: 0.6value: 0.2")
    box = losses.locator("svg").bounding_box()
    page.mouse.move(box["x"] + 0.12 * box["width"], box["y"] + 0.5 * box["height"])
    expect(losses.locator(".legend")).to_have_text("policy: 3value: 1at 1000")
    with (watched / "run" / "metrics.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps({"positions": 6000, "seconds": 60, "policy": 0.4, "value": 0.1}) + "\n")
    expect(page.locator(".panel")).to_contain_text("6000 positions")
    # The games of its matches, a link to one of them, and a new source.
    expect(page.locator(".records tbody tr")).to_have_count(0)
    (watched / "run" / "matches").mkdir()
    write_records(watched / "run" / "matches" / "0006000-0.jsonl", random_records(4))
    expect(page.locator(".records tbody tr")).to_have_count(4)
    page.get_by_role("button", name="Replay game 3").click()
    expect(page.locator(".replay h2")).to_have_text("3. random – other")
    # The list and its filters grow while the focus is in it.
    expect(page.get_by_label("Match")).to_be_hidden()
    write_records(watched / "run" / "matches" / "0006000-1.jsonl", random_records(2))
    expect(page.locator(".records tbody tr")).to_have_count(6)
    expect(page.get_by_label("Match")).to_be_visible()
    expect(page.get_by_role("button", name="Replay game 3")).to_be_focused()
    page.goto(page.url)
    expect(page.locator(".replay h2")).to_have_text("3. random – other")
    expect(page.locator(".replay .move")).to_have_count(len(random_records(3)[2].actions))
    page.locator(".replay .move").nth(1).click()
    expect(page.locator(".replay output")).to_have_text(re.compile("^2 of"))
    write_records(watched / "new.jsonl", random_records(1))
    expect(page.locator(".sources").get_by_role("link", name="new.jsonl", exact=True)).to_be_visible()
    expect(page.locator(".sources a")).to_have_count(4)


def test_what_is_redrawn_keeps_the_focus_and_clicks_leave_the_keys_to_the_page(visit: OpenPage) -> None:
    page = visit(POSITION)
    page.locator(".agent tbody").first.wait_for()
    page.locator(".bot-choice", has_text="Opponent").locator("select").select_option("\n")
    page.keyboard.type("mcts:5000", delay=100)  # analyses arrive meanwhile
    expect(page.get_by_label("Name of the bot").last).to_have_value("mcts:5000")
    page.locator(".hit").first.click()
    expect(page.get_by_text("Numbers on the board")).to_be_visible()
    heat = page.locator('[data-name^="heat "]').first
    before = heat.get_attribute("aria-pressed")
    with page.expect_response("**/api/position"):  # the board is drawn anew before the next key
        page.keyboard.press("m")
    expect(heat).not_to_have_attribute("aria-pressed", str(before))
    moves = page.locator(".move[aria-current]")
    before = moves.inner_text()
    page.keyboard.press("ArrowLeft")
    expect(moves).not_to_have_text(before)
    page = visit("/learn/vadus")
    skip = page.get_by_role("button", name="Skip")
    skip.press("Enter")
    expect(page.get_by_role("heading", name="Step 2 of")).to_be_visible()
    expect(skip).to_be_focused()


def test_the_value_bar_has_the_colors_of_the_players_after_a_swap(visit: OpenPage) -> None:
    page = visit("/analyze?game=laido(size=3)&moves=b4,swap")
    expect(page.locator(".value-bar")).to_have_class(re.compile("black"))
    expect(page.locator(".value-bar")).to_have_css("background-color", "rgb(26, 33, 41)")


def test_a_replay_needs_no_server(open_page: OpenPage, tmp_path: Path) -> None:
    records = random_records(3)
    Replay(records).save(tmp_path / "replay.html")
    page = open_page((tmp_path / "replay.html").as_uri())
    page.get_by_label("Game", exact=True).select_option(index=1)
    length = len(records[1].actions)
    expect(page.locator("output")).to_have_text(f"0 of {length}")
    page.keyboard.press("End")
    expect(page.locator("output")).to_have_text(f"{length} of {length}")
    stones = len([action for action in records[1].actions if action not in ("pass", "swap")])
    expect(page.locator(".board .stones circle")).to_have_count(stones)
    page.get_by_role("button", name="Play").click()
    expect(page.locator("output")).to_have_text(re.compile("^[1-9] of"))


def test_a_notebook_shows_a_replay_in_a_frame(open_page: OpenPage, tmp_path: Path) -> None:
    html = Replay(random_records(1)[0])._repr_html_()
    (tmp_path / "notebook.html").write_text(f"<!doctype html><title>notebook</title>{html}", encoding="utf-8")
    page = open_page((tmp_path / "notebook.html").as_uri())
    frame = page.frame_locator("iframe")
    frame.get_by_role("button", name="Next position").click()
    expect(frame.locator("output")).to_have_text(re.compile("^1 of"))


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (768, "light"), (360, "dark")])
def test_every_view_is_accessible_and_fits(
    open_page: OpenPage, start_server: Any, watched: Path, width: int, scheme: str
) -> None:
    server = start_server(str(watched))
    options = {"viewport": {"width": width, "height": 800}, "color_scheme": scheme, "has_touch": width < 1000}
    page = open_page(f"{server.url}/", **options)

    def new(game: str, *actions: str, opponent: str | None = None) -> str:
        view = server.post("games", game=game, players=[None, opponent], actions=actions, confirm=True)
        return f"/play/{view['id']}"

    trugo = new("trugo(radius=3,tiles=7)")
    for address, selector in {
        "/": "table.games td",
        new("taugo(size=4)", "c3"): ".hit",
        new("taigo(radius=5)", opponent="greedy"): ".hit",
        new("laido(size=3)", "c3", "b3", "pass", "pass"): '[data-name="again"]',
        trugo: ".hit",
        POSITION: ".agent tbody",
        "/analyze": "form",
        "/watch": "table",
        "/watch?source=0%2Farena": ".cross",
        "/watch?source=0%2Fgames.jsonl": "tbody tr",
        "/watch?source=0%2Frun": ".charts",
        "/watch?source=0%2Fgames.jsonl&game=1": ".replay .picture",
    }.items():
        page.goto(f"{server.url}{address}")
        page.locator(selector).first.wait_for()
        assert_fits(page)
        for summary in page.locator("details:not([open]) > summary").all():
            if summary.is_visible():
                summary.click()
        if address == trugo:
            page.locator(".hit").first.focus()
            page.locator(".preview").wait_for()
        assert_accessible(page)
    Replay(random_records(2)).save(watched / "replay.html")
    page = open_page((watched / "replay.html").as_uri(), **options)
    page.locator(".board svg").wait_for()
    assert_accessible(page)
