"""Take the screenshots of the web interface in ``docs/images`` with Chromium.

Run ``python docs/make_screenshots.py RUN ARENA`` with the folders of a training run and of an arena. The games stand here.
"""

from __future__ import annotations

import argparse
import io
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import httpx
from PIL import Image
from playwright.sync_api import Page, sync_playwright

IMAGES = Path(__file__).parent / "images"
DESKTOP, PHONE = (1280, 900), (390, 844)
TAUGO = """
    c2 b6 d2 e2 f2 g2 b5 c5 d5 e5 f5 g5 d3 d4 Nd6 d7 e4 e3 Se1 c7 b7 Wc4 f3 f4 Nf6 end e6 e7
"""
VADUS = "e2 d3 e3 e5 d2 f4 f3 g4 f5 h3 h4 f2 g3 g2 g1"


def take(page: Page, url: str, games: dict[str, str]) -> None:
    """Take all screenshots."""
    page.set_default_timeout(120_000)

    def shoot(name: str) -> None:
        page.mouse.move(0, 0)
        page.wait_for_timeout(500)
        picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
        picture.quantize(256, dither=Image.Dither.NONE).save(IMAGES / f"web-{name}.png", optimize=True)

    def open_(address: str, selector: str, size: tuple[int, int] = DESKTOP, scheme: str = "light") -> None:
        page.set_viewport_size({"width": size[0], "height": size[1]})
        page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
        page.goto(f"{url}{address}")
        page.locator(selector).first.wait_for()

    open_(f"/play/{games['taugo']}", ".hit")
    shoot("play")
    open_(f"/analyze/{games['vadus']}?node=5", ".agent tbody")
    page.wait_for_function("document.querySelector('.curve .line')?.getAttribute('d').split('L').length > 15")
    shoot("analyze")
    open_(f"/analyze/{games['vadus']}", ".agent tbody", scheme="dark")
    page.get_by_role("button", name="Best line").first.click()
    page.locator(".numbers").wait_for()
    shoot("line")
    open_("/watch?source=0%2Farena", ".cross")
    shoot("watch")
    open_("/watch?source=0%2Frun", ".charts")
    shoot("run")
    open_(f"/play/{games['taigo']}", ".hit", PHONE)
    page.locator(".hit").nth(20).click()
    shoot("phone")


def main() -> None:
    """Start a server with games, an arena and a run, and take the screenshots."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run", type=Path, help="folder of a training run")
    parser.add_argument("arena", type=Path, help="folder of an arena")
    arguments = parser.parse_args()
    program = shutil.which("chromium") or shutil.which("google-chrome")
    with tempfile.TemporaryDirectory() as folder:
        watched = Path(folder, "watched")
        shutil.copytree(arguments.arena, watched / "arena")
        for name in ("metrics.jsonl", "checkpoint/checkpoint.json"):
            (watched / "run" / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(arguments.run / name, watched / "run" / name)
        shutil.copytree(arguments.run / "matches", watched / "run" / "matches")
        command = [sys.executable, "-m", "stoneworks", "web", "--port", "0", "--data", f"{folder}/data", str(watched)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server, sync_playwright() as playwright:
            assert server.stdout is not None
            found = re.search(r"http://[0-9.:]+", server.stdout.readline())
            assert found is not None
            games = {}
            for game, moves in (
                ("taugo(size=6)", TAUGO),
                ("vadus(size=5)", VADUS),
                ("taigo(radius=6)", "g6-f7 h8-g8 i6-i5 i4-h5 h6+L h4-i3 f6-g5 j5-j6 j3-j4"),
            ):
                fields = {"game": game, "players": [None, "greedy"], "actions": moves.split(), "confirm": True}
                answer = httpx.post(f"{found[0]}/api/games", json=fields, timeout=120).json()
                games[game.partition("(")[0]] = answer["id"]
            browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
            take(browser.new_page(), found[0], games)
            browser.close()
            server.terminate()


if __name__ == "__main__":
    main()
