"""What a player sees: values and heat maps, waiting, boards that grow, colors, names, and the ways on."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Page, Route, expect

from game_play import random_state
from pages import LISTED, OpenPage, assert_accessible, assert_fits, held_answers, hit
from stoneworks import load_game
from stoneworks.envs.drawing import action_places, theme
from stoneworks.envs.rules import State
from stoneworks.evaluation.records import GameRecord

BLOCKED_STORAGE = """Object.defineProperty(window, 'localStorage', {
  get() { throw new DOMException('denied', 'SecurityError'); }
});"""
DAMAGED_STORAGE = """
const keys = ['new-game', 'agents-vadus', 'heat', 'deepen', 'auto-analysis', 'report', 'speed', 'sound', 'theme'];
keys.forEach((key, index) => {
  localStorage.setItem(key, index % 2 ? '{"game": [], "players": 3' : '{"game": 5, "values": null, "players": [1]}');
});"""
VADUS = "/analyze?game=vadus(size=5)&moves=e5"


def relative_luminance(color: tuple[int, int, int]) -> float:
    return theme.relative_luminance("#" + "".join(f"{channel:02x}" for channel in color))


def contrast(one: tuple[int, int, int], other: tuple[int, int, int]) -> float:
    low, high = sorted(map(relative_luminance, (one, other)))
    return (high + 0.05) / (low + 0.05)


def play(page: Page, game: str, post: Callable[..., Any], actions: str = "", **fields: Any) -> str:
    """Create a game and return its address."""
    fields = {"players": [None, None], "confirm": True} | fields
    return f"/play/{post('games', game=game, actions=actions.split(), **fields)['id']}"


# -- Values ----------------------------------------------------------------------------------------------------------------


def test_the_headline_of_an_analysis_is_the_value_of_its_best_move(visit: OpenPage, post: Callable[..., Any]) -> None:
    found = post("analyze", game="vadus(size=5)", actions=["e5"], bot="vadus@64")
    best = found["actions"][0]
    assert best["action"] == found["line"][0]
    assert found["value"] == pytest.approx(best["win"], abs=1e-6)
    page = visit(VADUS)
    agent = page.get_by_role("region", name="vadus@64")
    expect(agent).to_contain_text(f"White {50 + 50 * found['value']:.1f} %")
    expect(page.locator(".value-bar")).to_have_attribute("aria-label", re.compile(f"{50 - 50 * best['win']:.0f} %"))


def test_the_heat_map_shows_how_good_each_move_is_not_how_often_it_was_tried(visit: OpenPage) -> None:
    def same_visits(route: Route) -> None:
        fields = route.fetch().json()
        if "visits" in fields["actions"][0]:
            for number, row in enumerate(fields["actions"]):
                row["visits"], row["win"] = (20, 0.6 if number == 1 else -0.6) if number < 4 else (0, None)
        route.fulfill(json=fields)

    page = visit("/")
    page.route("**/api/analyze", same_visits)
    page.goto(page.url.rstrip("/") + VADUS)
    second = page.get_by_role("region", name="vadus@64").locator("tbody button").nth(1)
    second.wait_for()
    expect(page.get_by_label("Heat map:")).to_have_value("win")
    colors = page.locator(".picture .fills path")
    expect(colors).to_have_count(1)
    expect(colors).to_have_attribute("fill", theme.HEAT[-1])
    expect(page.locator('.picture [data-text="80"]')).to_have_count(1)
    expect(page.locator('.picture [data-text="20"]')).to_have_count(3)
    page.get_by_label("Heat map:").select_option("policy")
    expect(page.get_by_text("policy, in %, by vadus@64")).to_be_visible()
    page.unroute_all(behavior="ignoreErrors")


# -- Waiting ---------------------------------------------------------------------------------------------------------------


def test_a_bot_is_prepared_before_the_game_begins_and_a_wait_is_explained(visit: OpenPage) -> None:
    page = visit("/")
    with held_answers(page, "prepare"):
        with page.expect_request(lambda request: "prepare" in request.url and "laido" in (request.post_data or "")):
            page.get_by_role("radio", name="Laido").check(force=True)
        page.wait_for_selector(LISTED)
        for seat in page.locator(".seats select").all():
            seat.select_option("random")
        page.get_by_role("button", name="Start the game").click()
        waiting = re.compile(r"^Preparing .*: its programs are compiled, once .* ([2-9]|\d\d+) s$")
        expect(page.locator(".status")).to_have_text(waiting)
        expect(page.get_by_role("progressbar")).to_be_visible()
    expect(page.get_by_role("progressbar")).to_be_hidden()
    expect(page.locator(".moves > li")).not_to_have_count(0)


def test_the_board_says_that_the_opponent_is_to_move(visit: OpenPage, post: Callable[..., Any]) -> None:
    page = visit()
    page.route("**/api/games/*/bot", lambda route: None)  # the bot does not move before the click
    page.goto(page.url.rstrip("/") + play(page, "vadus(size=3)", post, players=["random", None]))
    expect(page.locator(".status")).to_contain_text("random is thinking")
    page.locator(".overlay").click(position={"x": 9, "y": 9})
    expect(page.locator(".words")).to_have_text("random is to move; wait for it, or stop it.")
    page.unroute_all(behavior="ignoreErrors")


def test_an_open_game_goes_on_after_a_restart_of_the_server(
    open_page: OpenPage, start_server: Any, tmp_path: Path
) -> None:
    server = start_server()
    game = server.post("games", game="laido(size=3)", players=[None, "random"])
    page = open_page(f"{server.url}/play/{game['id']}", expects_errors=True)
    page.route("**/bot", lambda route: route.abort())  # until the server is back
    hit(page, "c3").click()
    expect(page.locator(".toast").first).to_have_text("The server does not answer. Is it still running?")
    server.kill()
    page.unroute("**/bot")
    start_server(data=tmp_path / "data", port=server.port)
    expect(page.locator(".moves > li")).to_have_count(2)


# -- Boards ----------------------------------------------------------------------------------------------------------------


def test_a_growing_board_seldom_changes_its_scale_and_never_its_middle(
    visit: OpenPage, post: Callable[..., Any]
) -> None:
    state = random_state(load_game("taigo(cones=0)"), 24, seed=1)
    actions = [state.game.action_to_string(action) for action in state.history()]
    page = visit(play(visit("/"), "taigo(cones=0)", post, " ".join(actions)))
    page.locator(".hit").first.wait_for()
    page.locator("#main").focus()
    page.keyboard.press("Home")
    boxes = []
    for turn in range(len(actions)):
        expect(page.locator(".status")).to_contain_text(f"Position after turn {turn} of")
        box = None
        while box != (box := page.locator(".picture").get_attribute("viewBox")):
            page.wait_for_timeout(400)  # the step is animated
        boxes.append([float(part) for part in box.split()])
        page.keyboard.press("ArrowRight")
    middles = {(round(left + width / 2), round(top + height / 2)) for left, top, width, height in boxes}
    assert 2 <= len({str(box) for box in boxes}) <= 5  # of tiles at random, which spread the most
    xs, ys = zip(*middles, strict=True)
    assert max(xs) - min(xs) <= 8
    assert max(ys) - min(ys) <= 8


def test_a_lesson_of_taigo_marks_one_half_of_a_tile_after_the_other(visit: OpenPage) -> None:
    page = visit("/learn/taigo")
    for _ in range(3):
        page.get_by_role("button", name="Skip").click()
    page.get_by_role("button", name="Show me").click()
    for place in ("e4", "d5"):
        expect(page.locator(".hit.hinted")).to_have_count(1)
        expect(page.locator(".hit.hinted")).to_have_attribute("data-place", place)
        page.locator(".hit.hinted").click()
    expect(page.locator(".learn .status")).to_contain_text("Done.")


def test_a_movable_piece_has_a_bright_outline(visit: OpenPage, post: Callable[..., Any]) -> None:
    page = visit(play(visit("/"), "trugo(radius=3,tiles=7)", post, "d4/0 d5/1 e4/0 c5/0 d3/1 e3/1"))
    outline = page.locator(".hit.piece .dot").first
    expect(outline).to_have_css("stroke", "rgb(255, 179, 0)")
    expect(outline).to_have_css("opacity", "1")


def test_where_a_tile_may_be_laid_is_seen_on_the_dark_ground(visit: OpenPage, post: Callable[..., Any]) -> None:
    page = visit(play(visit("/"), "trugo(radius=3,tiles=7)", post, "d4/0"), viewport={"width": 390, "height": 800})
    image = Image.open(io.BytesIO(hit(page, "e4").locator(".area").screenshot())).convert("RGB")
    middle, ground = ((image.width // 2, image.height // 2), (image.width // 2, image.height // 4))
    assert contrast(image.getpixel(middle), image.getpixel(ground)) >= 3


def test_marks_of_the_last_move_stay_during_a_turn(visit: OpenPage, post: Callable[..., Any]) -> None:
    page = visit(play(visit("/"), "vadus(size=4)", post, "d4 a4 a5"))
    marks = page.locator(".picture .last-move circle")
    expect(marks).to_have_count(2)
    hit(page, "c4").click()
    expect(marks).to_have_count(3)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_black_stone_is_dark_and_a_white_one_light_beside_their_names(
    visit: OpenPage, post: Callable[..., Any], scheme: str
) -> None:
    page = visit(play(visit("/"), "vadus(size=3)", post), color_scheme=scheme)
    page.locator(".hit").first.wait_for()
    colors = []
    for swatch in page.locator(".player .swatch").all():
        image = Image.open(io.BytesIO(swatch.screenshot())).convert("RGB")
        # Black's shines, so that it is not taken for a hole in its ground on a dark page.
        shine = image.getpixel((round(0.4 * image.width), round(0.34 * image.height)))
        assert contrast(shine, image.getpixel((0, 0))) >= (3 if scheme == "dark" else 1)
        colors.append((image.getpixel((image.width // 2, image.height // 2)), image.getpixel((image.width // 2, 1))))
    (black, ground), (white, other_ground) = colors
    assert ground == other_ground
    assert contrast(black, ground) >= 3
    assert relative_luminance(black) < relative_luminance(ground) < relative_luminance(white)


def test_the_board_is_flipped_with_upright_texts_and_zoomed_for_fingers(
    visit: OpenPage, post: Callable[..., Any]
) -> None:
    page = visit(play(visit("/"), "taugo", post), viewport={"width": 390, "height": 800}, has_touch=True)
    page.locator(".board .picture").wait_for()
    corner = page.evaluate(PLACE, "b2")
    page.locator("#main").focus()
    page.keyboard.press("f")
    flipped = page.evaluate(PLACE, "b2")
    assert flipped["x"] > corner["x"] + 100
    assert flipped["y"] < corner["y"] - 100
    page.get_by_role("button", name="Zoom").tap()
    assert page.evaluate(PLACE, "b2")["width"] >= 32
    assert_fits(page)
    hit(page, "b2").tap()
    expect(page.locator(".moves .pending")).to_have_text("Black: b2")


PLACE = """(place) => {
  const box = document.querySelector(`.hit[data-place="${place}"] .area`).getBoundingClientRect();
  return { x: box.x, y: box.y, width: box.width };
}"""


@pytest.mark.parametrize(("game", "sides"), [("taugo", 4), ("laido(size=3)", 6), ("trugo", 6)])
def test_the_board_is_turned_side_by_side_within_its_view(
    visit: OpenPage, post: Callable[..., Any], game: str, sides: int
) -> None:
    page = visit(play(visit("/"), game, post))
    page.locator(".board .picture").wait_for()
    places = page.locator(".hit").evaluate_all("hits => hits.map((hit) => hit.dataset.place)")
    before = page.evaluate(PLACE, places[0])
    seen = [before]
    for _ in range(sides - 1):
        page.keyboard.press("t")
        seen.append(page.evaluate(PLACE, places[0]))
        assert page.evaluate(OUTSIDE) == []
    assert len({(round(box["x"] / 8), round(box["y"] / 8)) for box in seen}) == sides
    page.keyboard.press("t")
    assert page.evaluate(PLACE, places[0]) == pytest.approx(before, abs=0.5)


OUTSIDE = """() => {
  const frame = document.querySelector(".overlay").getBoundingClientRect();
  const centers = [...document.querySelectorAll(".hit .area")].map((area) => area.getBoundingClientRect());
  const isOutside = (box) =>
    box.x < frame.x - 1 || box.y < frame.y - 1 || box.right > frame.right + 1 || box.bottom > frame.bottom + 1;
  return centers.filter(isOutside);
}"""


def test_what_a_cut_would_change_is_shown_under_the_mouse(visit: OpenPage, post: Callable[..., Any]) -> None:
    state = load_game("taugo(size=8)").new_initial_state()
    rng = np.random.default_rng(5)
    while not any(is_cut(state, action) for action in state.legal_actions()):
        state.apply_action(rng.choice(state.legal_actions()))
    cut = next(action for action in state.legal_actions() if is_cut(state, action))
    game = state.get_game()
    actions = " ".join(game.action_to_string(action) for action in state.history())
    page = visit(play(visit("/"), "taugo(size=8)", post, actions, confirm=False))
    place = action_places(game, cut)[0].name
    hit(page, place).hover()
    if any(action_places(game, other)[0].name == place for other in state.legal_actions() if other != cut):
        hit(page, place).click()
        page.locator(f'.choices [data-action="{game.action_to_string(cut)}"]').hover()
    expect(page.locator(f'.changes[data-action="{game.action_to_string(cut)}"] circle')).not_to_have_count(0)
    after = state.clone()
    after.apply_action(cut)
    changed = int((after.record["stones"] != state.record["stones"]).sum())
    assert changed > 1
    expect(page.locator(".changes circle")).to_have_count(changed)


def is_cut(state: State, action: int) -> bool:
    """Return whether an action is a cut."""
    num_cells = state.get_game().grid.num_cells
    return num_cells <= action < 5 * num_cells


# -- Names and ways on -----------------------------------------------------------------------------------------------------


def test_people_can_name_themselves(visit: OpenPage) -> None:
    page = visit("/")
    page.get_by_role("radio", name="Vadus").check(force=True)
    page.locator(".seats select").first.select_option("")
    name = page.get_by_role("textbox", name="Name of the person in seat 1")
    name.fill("Ada <b>")
    page.locator(".seats select").last.select_option("random")
    expect(page.get_by_role("textbox", name="Name of the person in seat 2")).to_be_hidden()
    page.get_by_role("button", name="Start the game").click()
    expect(page.locator(".player strong").first).to_have_text("Ada <b>")
    page.reload()
    expect(page.locator(".player strong").first).to_have_text("Ada <b>")


def test_an_ended_game_has_a_card_with_the_reason_and_the_ways_on(visit: OpenPage, post: Callable[..., Any]) -> None:
    page = visit(play(visit("/"), "vadus(size=4)", post, "d4 a4 a5 pass pass", players=[None, "greedy"]))
    card = page.get_by_role("region", name="Result")
    expect(card.get_by_role("heading")).to_have_text("You lost")
    expect(card).to_contain_text("the best group decides")
    assert_accessible(page)
    page.keyboard.press("ArrowLeft")
    expect(card).to_be_hidden()
    page.keyboard.press("End")
    expect(card).to_be_visible()
    card.get_by_role("button", name="Rematch").click()
    expect(page.locator(".moves > li")).to_have_count(0)
    expect(card).to_have_count(0)


def test_long_names_and_the_same_run_twice(open_page: OpenPage, start_server: Any, runs: Path) -> None:
    (runs / "first" / "metrics.jsonl").write_text('{"positions": 1, "games": 1}\n', encoding="utf-8")
    server = start_server("--agents", str(runs), str(runs / "first"), str(runs.parent))
    page = open_page(f"{server.url}/watch", viewport={"width": 390, "height": 800})
    expect(page.locator(".sources li")).to_have_count(1)
    page.locator(".sources a").click()
    expect(page.locator(".panel")).to_contain_text("1 game")
    expect(page.locator(".panel")).not_to_contain_text("1 games")
    page.get_by_role("button", name="Play against it").click()
    player = page.locator(".player").nth(1)
    expect(player.locator("strong")).to_have_text("…/first/checkpoint@64")
    expect(player.locator(".who")).to_have_attribute("title", f"{runs}/first/checkpoint@64")
    assert_fits(page)


def test_an_export_is_imported_once_and_a_bad_file_is_named(
    visit: OpenPage, post: Callable[..., Any], tmp_path: Path
) -> None:
    page = visit("/", expects_errors=True)
    play(page, "vadus(size=3)", post)
    with page.expect_download() as download:
        page.get_by_role("button", name="Export all").click()
    exported = Path(download.value.path()).read_text(encoding="utf-8")
    (tmp_path / "export.jsonl").write_text(exported, encoding="utf-8")
    page.locator("#import-file").set_input_files(tmp_path / "export.jsonl")
    number = len(exported.splitlines())
    expect(page.locator(".toast")).to_have_text(f"0 games imported; {number} here already")
    (tmp_path / "bad.jsonl").write_text("{}\n", encoding="utf-8")
    page.locator("#import-file").set_input_files(tmp_path / "bad.jsonl")
    expect(page.locator(".toast").last).to_contain_text("bad.jsonl: line 1:")


def test_more_records_than_one_request_may_hold_are_imported_and_a_bad_line_has_its_number(
    open_page: OpenPage, start_server: Any, tmp_path: Path
) -> None:
    page = open_page(start_server().url, expects_errors=True)
    record = GameRecord.of_state(load_game("vadus(size=2)").deserialize_state("b2\nc2\na2"), ("a", "b")).to_json()
    file = tmp_path / "many.jsonl"
    file.write_text(f"{record}\n\n" + f"{record}\n" * 250, encoding="utf-8")
    page.locator("#import-file").set_input_files(file)
    expect(page.locator(".toast")).to_have_text("251 games imported")
    file.write_text(f"{record}\n\n" + f"{record}\n" * 250 + "{}\n", encoding="utf-8")
    page.locator("#import-file").set_input_files(file)
    expect(page.locator(".toast").last).to_contain_text("many.jsonl: line 253:")


def test_a_button_pressed_twice_starts_one_game(visit: OpenPage) -> None:
    page = visit("/")
    page.wait_for_selector(LISTED)
    started: list[str] = []
    page.on("request", lambda request: started.append(request.url) if request.method == "POST" else None)
    with held_answers(page, "games"):
        for _ in range(2):
            page.get_by_role("button", name="Start the game").click()
        page.wait_for_timeout(200)
    page.wait_for_selector(".game .board svg")
    assert len([url for url in started if url.endswith("/api/games")]) == 1


def test_escape_puts_the_only_piece_down_that_can_be_picked(visit: OpenPage, post: Callable[..., Any]) -> None:
    page = visit(play(visit("/"), "trugo(radius=2,tiles=6)", post, "c3/1 d3/1 c2/0 d2/1 e3/2 d4/1"))
    hit(page, "d2^").click()
    expect(page.locator(".picked")).to_have_count(1)
    page.keyboard.press("Escape")
    expect(page.locator(".picked")).to_have_count(0)


def test_a_board_that_is_turned_has_no_tile_in_the_hand(visit: OpenPage, post: Callable[..., Any]) -> None:
    page = visit(play(visit("/"), "trugo(radius=3,tiles=7)", post, "d4/0"), has_touch=True)
    for _ in range(2):
        hit(page, "e4").tap()
        expect(page.locator(".choices.held")).to_be_visible()
        page.keyboard.press("t")
        expect(page.locator(".choices.held")).to_have_count(0)
    hit(page, "e4").tap()
    page.locator(".choices.held").get_by_role("button", name="Play").click()
    expect(page.locator(".moves > li")).to_have_count(2)


def test_a_comment_is_kept_when_the_page_is_left_at_once(visit: OpenPage, post: Callable[..., Any]) -> None:
    address = play(visit("/"), "vadus(size=4)", post, "d4 a4").replace("/play/", "/analyze/")
    page = visit(address)
    page.get_by_label("Comment on this position").fill("an idea")
    page.evaluate("history.pushState(null, '', '/'); dispatchEvent(new PopStateEvent('popstate'))")  # without a blur
    page.wait_for_selector(LISTED)
    page = visit(address)
    expect(page.get_by_label("Comment on this position")).to_have_value("an idea")


def test_the_last_board_is_offered_again_and_an_empty_number_is_the_usual_one(visit: OpenPage) -> None:
    page = visit("/")
    page.get_by_role("radio", name="Taugo").check(force=True)
    size = page.get_by_label("size, ")
    size.fill("6")
    page.locator(".seats select").nth(1).select_option("")
    page.get_by_role("button", name="Start the game").click()
    expect(page.locator("h1")).to_have_text("Taugo, quick board")
    page.get_by_role("link", name="Play", exact=True).click()
    expect(size).to_have_value("6")
    expect(page.get_by_role("radio", name="Taugo")).to_be_checked()
    page.goto(f"{page.url}analyze")
    page.get_by_label("size, ").fill("")
    page.get_by_label("size, ").press("Tab")
    expect(page.get_by_label("Game string")).to_have_value("vadus(size=9)")


def test_levels_are_the_same_ratings_on_measured_boards_and_missing_on_others(visit: OpenPage) -> None:
    page = visit("/")
    levels = page.locator(".seats select").nth(1).locator('optgroup[label="Opponents by level"] option')
    found = []
    for board in ("quick", "standard"):
        page.get_by_role("group", name="Boards").get_by_role("button", name=board).click()
        expect(levels).to_have_count(4)
        found.append([text.partition(":")[0] for text in levels.all_inner_texts()])
    assert found == [["Beginner, 0", "Easy, 400", "Medium, 800", "Hard, 1300"]] * 2
    page.get_by_role("group", name="Boards").get_by_role("button", name="large").click()
    expect(levels).to_have_count(0)
    expect(page.get_by_text("No bot has been rated on this board")).to_be_visible()


def test_an_error_has_a_way_on_and_moves_and_rules_are_explained(visit: OpenPage, post: Callable[..., Any]) -> None:
    page = visit("/play/nothing", expects_errors=True)
    page.get_by_role("link", name="To the games").click()
    page.get_by_role("heading", name="New game").wait_for()
    page = visit(play(page, "trugo(radius=3,tiles=7)", post))
    page.get_by_text("How moves are written").click()
    expect(page.locator(".notation")).to_contain_text("“d4^” picks the piece there")
    page.locator(".notation").get_by_role("link", name="the illustrated rules").click()
    expect(page.get_by_role("heading", name="Tiles and rotations R1").first).to_be_visible()


# -- The browser and the way to the server -----------------------------------------------------------------------------------


@pytest.mark.parametrize("script", [BLOCKED_STORAGE, DAMAGED_STORAGE], ids=["blocked", "damaged"])
def test_every_page_works_without_the_memory_of_the_browser(
    visit: OpenPage, post: Callable[..., Any], script: str
) -> None:
    page = visit("/")
    page.context.add_init_script(script)
    root = page.url.rstrip("/")
    for path, selector in {
        "/": "table.games, .faint",
        play(page, "vadus(size=3)", post): ".hit",
        VADUS: ".agent tbody tr",
        "/learn/vadus": ".hit",
    }.items():
        page.goto(root + path)
        page.locator(selector).first.wait_for()
    page.get_by_role("button", name="Switch between light and dark").click()


def test_the_page_works_behind_a_path_prefix(open_page: OpenPage, start_server: Any) -> None:
    server = start_server("--root-path", "/deep/games")
    page = open_page(f"{server.url}/deep/games/")
    page.get_by_role("radio", name="Vadus").check(force=True)
    page.get_by_role("group", name="Boards").get_by_role("button", name="quick").click()
    page.locator(".seats select").nth(1).select_option("")
    page.get_by_role("button", name="Start the game").click()
    page.wait_for_url("**/deep/games/play/*")
    hit(page, "e5").click()
    expect(page.locator(".moves .pending")).to_have_text("Black: e5")
    page.get_by_role("link", name="Skip to the content").press("Enter")
    expect(page.locator("#main")).to_be_focused()
    page.reload()
    expect(page.locator(".moves .pending")).to_have_text("Black: e5")
    page.get_by_role("link", name="Play", exact=True).click()
    page.wait_for_url("**/deep/games/")
    # A proxy may remove the prefix; without the option the page says what is missing.
    assert open_page(f"{server.url}/").locator("base").get_attribute("href") == "/deep/games/"
    page = open_page(f"{start_server().url}/", expects_errors=True)
    page.route("**/static/**", lambda route: route.abort())
    page.reload()
    expect(page.get_by_text("start it with --root-path")).to_be_visible()
