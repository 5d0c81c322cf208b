"""The web interface and replays of the installed package with the extra ``web`` alone. Run as a script."""

import json
import re
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

assert find_spec("torch") is None, "only the extra web is installed"

import stoneworks  # noqa: E402

assert "site-packages" in (stoneworks.__file__ or ""), "the installed package was tested"


def get(url: str, **fields: Any) -> bytes:
    """Return the body of a response; fields are posted as JSON."""
    body = json.dumps(fields).encode() if fields else None
    request = urllib.request.Request(url, body, {"Content-Type": "application/json"} if fields else {})
    with urllib.request.urlopen(request, timeout=120) as response:
        content: bytes = response.read()
    return content


with tempfile.TemporaryDirectory() as folder:
    command = [sys.executable, "-m", "stoneworks", "web", "--port", "0", "--data", folder, "--workers", "1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=folder) as server:
        try:
            found = re.search(r"http://[0-9.:]+", server.stdout.readline())
            url = found[0]
            page = get(f"{url}/").decode()
            # Everything that the page and its modules name is there.
            waiting = {f"/{part}" for part in re.findall(r'(?:src|href)="(static/[^"]+)"', page)} | {
                "/engine/worker.js"
            }
            loaded: set[str] = set()
            while waiting:
                name = waiting.pop()
                loaded.add(name)
                content = get(f"{url}{name}").decode()
                assert content, name
                waiting |= {urljoin(name, part) for part in re.findall(r'from "(\.\.?/[^"]+)"', content)} - loaded
            assert {"/static/main.js", "/static/app.css", "/static/views/analyze.js", "/static/charts.js"} <= loaded
            assert json.loads(get(f"{url}/api/info"))["modules"], "a click needs no server"
            for game in json.loads(get(f"{url}/engine/games/games.json")):
                for board in game["boards"]:
                    module = json.loads(get(f"{url}/engine/games/{board['file']}"))["module"]
                    assert get(f"{url}/engine/games/{module}").startswith(b"\0asm")
            bots = json.loads(get(f"{url}/api/bots?game=vadus(size%3D5)"))["bots"]
            assert {"greedy", "mcts:100"} <= {bot["name"] for bot in bots}
            assert not [bot["name"] for bot in bots if bot["name"].startswith("vadus")], "agents need torch"
            view = json.loads(get(f"{url}/api/games", game="vadus(size=3)", players=["greedy", "mcts:10"]))
            while view["bot_to_move"]:
                view = json.loads(get(f"{url}/api/games/{view['id']}/bot", node=view["current"]))
            assert view["result"] is not None
            status, refusal = 200, b""
            try:
                get(f"{url}/api/analyze", game="vadus(size=5)", actions=[], bot="vadus@64")
            except urllib.error.HTTPError as error:
                status, refusal = error.code, error.read()
            assert status == 400, "an agent plays without torch"
            assert "stoneworks[train]" in json.loads(refusal)["error"]["message"]
            record = Path(folder, "games.jsonl")
            record.write_bytes(get(f"{url}/api/games/{view['id']}/record"))
        finally:  # else a failure would wait for the server
            server.terminate()
    replay = Path(folder, "replay.html")
    command = [sys.executable, "-m", "stoneworks", "replay", str(record), "--html", str(replay)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd=folder)
    assert "<script" in replay.read_text(encoding="utf-8")

print("ok")
