"""What the server refuses: other sites, paths, programs, floods; always with a message, never with a stack trace."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import Pipe
from pathlib import Path
from typing import Any

import httpx
import pytest
from numba.core import event
from starlette.responses import PlainTextResponse

from game_play import random_state
from stoneworks.web.app import Web
from stoneworks.web.board import Positions
from stoneworks.web.bot_processes import BotProcesses, _CompilingListener, _Worker
from stoneworks.web.game_tree import new_game
from stoneworks.web.requests import RequestError
from stoneworks.web.security import Guard
from stoneworks.web.store import Store

GAME = "vadus(size=3)"
NEW = {"game": GAME, "players": [None, None]}
JSON = {"content-type": "application/json"}


def refused(response: httpx.Response, *statuses: int) -> str:
    """Return the message of an error with one of the statuses, which must be JSON without a trace."""
    assert response.status_code in statuses, response.text
    body = response.json()
    assert body["error"]["status"] == response.status_code
    assert "Traceback" not in response.text
    assert ".py" not in response.text
    return str(body["error"]["message"])


def test_the_page_is_served_and_other_hosts_origins_and_forms_are_refused(
    client: httpx.Client, shared_server: Any
) -> None:
    for host in ("evil.example", "127.0.0.1.evil.example", "evil.example:80", "", "local host", "[::1"):
        assert "host" in refused(client.get("/api/info", headers={"host": host}), 403)
    for origin in ("https://evil.example", "null", "http://127.0.0.1", "http://127.0.0.1:1", "http://[", ""):
        refused(client.post("/api/games", json=NEW, headers={"origin": origin}), 403)
    for host in ("localhost", "127.0.0.1", "[::1]"):
        assert client.get("/api/info", headers={"host": f"{host}:{shared_server.port}"}).status_code == 200
    headers = {"origin": shared_server.url, "sec-fetch-site": "same-origin"}
    assert client.post("/api/games", json=NEW, headers=headers).status_code == 200
    body = json.dumps(NEW)
    assert client.post("/api/games", content=body, headers={"content-type": "text/plain"}).status_code == 415
    assert client.post("/api/games", content=body).status_code == 415
    assert client.get("/api/games", headers={"sec-fetch-site": "cross-site"}).status_code == 403


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("host", "localhost"), ("origin", "http://localhost")),
        *(("content-type", "application/json"), ("content-length", "0")),
    ],
)
def test_duplicate_headers_are_refused(name: str, value: str) -> None:
    async def get(number: int) -> httpx.Response:
        transport = httpx.ASGITransport(Guard(PlainTextResponse(), ["localhost"], 1))
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            return await client.get("/", headers=[(name, value)] * number)

    assert asyncio.run(get(1)).status_code == 200
    assert f"duplicate header {name}" in refused(asyncio.run(get(2)), 400)


def test_every_answer_carries_the_policy(client: httpx.Client) -> None:
    for path in ("/", "/play/x", "/static/main.js", "/engine/worker.js", "/api/info", "/api/nothing", "/nothing"):
        headers = client.get(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "script-src 'self'" in policy
        assert "unsafe" not in policy.replace("'wasm-unsafe-eval'", "")
        assert headers["x-content-type-options"] == "nosniff"
        if path.startswith(("/static", "/engine", "/play")):
            assert headers["cache-control"] == "no-cache", "old and new files do not fit"
        assert "access-control-allow-origin" not in headers


@pytest.mark.parametrize(
    "path",
    [
        *("/engine/../app.py", "/engine/%2e%2e/app.py"),
        *("/static/../app.py", "/static/%2e%2e/app.py", "/static/..%2fapp.py", "/static//etc/passwd"),
        *("/api/../../etc/passwd", "/api/games/..%2f..%2fetc", "/api/games/%00/record"),
        *(f"/api/watch/records?source={source}" for source in ("/etc/passwd", "0/../../etc/passwd")),
        *("/api/watch/record?source=0/..&index=0", "/api/watch/arena?source=..", "/api/watch/run?source=%00"),
    ],
)
def test_no_path_leaves_the_folder(shared_server: Any, path: str) -> None:
    # A raw connection: clients tidy paths up.
    with socket.create_connection(("127.0.0.1", shared_server.port), timeout=600) as connection:
        connection.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
        answer = b""
        while part := connection.recv(65536):
            answer += part
    assert int(answer.split(b" ")[1]) in (400, 404), answer[:300]
    assert b"root:" not in answer
    assert b"import " not in answer


@pytest.mark.parametrize(
    "bot",
    [
        *("exec:cat /etc/passwd", "exec:true", "/tmp", ".", "..", "models/checkpoints/vadus", "./vadus", "laido"),
        *("vadus@0", "vadus@999999", "mcts:0", "mcts:010", "alphabeta:01", "mcts:999999999", "mcts:9999s"),
        *("vadus@9999s", "alphabeta:9999s", "alphabeta:0s", "mcts:10,parallel=root,threads=64", "alphabeta:32"),
        *("alphabeta:1,candidates=1000000", "perfect:seconds=1,memory=65536", "random:1", "greedy\n", "", "x" * 10_000),
        *(5, ["random"], {"name": "random"}, True),
    ],
)
def test_programs_paths_and_large_budgets_are_out_of_reach(client: httpx.Client, bot: Any) -> None:
    for path, fields in (
        ("games", {"game": GAME, "players": [bot, None]}),
        ("analyze", {"game": GAME, "actions": [], "bot": bot}),
        ("values", {"game": GAME, "actions": [], "bot": bot, "first": 0}),
    ):
        refused(client.post(f"/api/{path}", json=fields), 400)
    if isinstance(bot, str):
        refused(client.get("/api/bot", params={"game": GAME, "name": bot}), 400)


@pytest.mark.parametrize(
    "fields",
    [
        {},
        *(NEW | {"game": game} for game in (5, "chess", "vadus(size=90)", "vadus(size=1e9)", "vadus(" * 30)),
        NEW | {"game": "vadus(size=__import__('os'))"},
        *(NEW | {"game": "vadus", "options": bad} for bad in ({"size": 10**30}, {"size": "5"}, {"wings": 2}, [])),
        *(NEW | {"players": players} for players in ([None], "greedy")),
        *(NEW | {"title": title} for title in ("x" * 1000, "\ud800")),
        *(NEW | {"actions": actions} for actions in (["c3", "c3"], [3], ["c" * 100])),
        *(NEW | bad for bad in ({"confirm": "yes"}, {"more": 1})),
        *(NEW | {"tree": [{"parent": None, "action": "", "comment": text}]} for text in ("\ud800", "x\0y")),
    ],
)
def test_bad_fields_are_named(client: httpx.Client, fields: dict[str, Any]) -> None:
    assert len(refused(client.post("/api/games", content=json.dumps(fields), headers=JSON), 400)) < 600


def test_texts_that_cannot_be_stored_are_refused(client: httpx.Client) -> None:
    stored = client.post("/api/games", json=NEW).json()
    record = json.loads(client.get(f"/api/games/{stored['id']}/record").text)
    for text in ("\ud800", "x\0y"):
        imported = {"text": json.dumps({**record, "players": [text, "b"]})}
        for path, fields in (("position", {"game": GAME, "actions": [text]}), ("import", imported)):
            refused(client.post(f"/api/{path}", content=json.dumps(fields), headers=JSON), 400)


def test_bodies_that_are_not_objects_and_large_ones_are_refused(client: httpx.Client) -> None:
    nested = b'{"a":' * 50_000 + b"1" + b"}" * 50_000
    for body in (b"", b"{", b"[]", b"null", b'{"game": NaN}', b"\xff\xfe", b"[" * 100_000, nested):
        refused(client.post("/api/games", content=body, headers=JSON), 400)
    for content in (b"x" * 2_000_000, (b"x" * 50_000 for _ in range(40))):
        try:
            response = client.post("/api/games", content=content, headers=JSON)
        except (httpx.WriteError, httpx.ReadError):  # the server hung up before the whole body was sent
            continue
        refused(response, 413)
    assert client.get("/api/info").status_code == 200


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        *(("act", {"node": 0, "action": action}) for action in ("zz99", "")),
        *(("act", {"node": node, "action": "c3"}) for node in ("0", -1, 10**12)),
        ("act", {"action": "c3"}),
        ("comment", {"node": 99, "text": "x"}),
        *(("comment", {"node": 0, "text": text}) for text in ("x" * 5000, "\x00")),
        ("variation", {"node": 0, "actions": ["c3", "c3"]}),
        ("variation", {"node": 99, "actions": []}),
        ("confirm", {"confirm": 1}),
        ("players", {"players": ["exec:true", None]}),
        *((name, {"node": 0}) for name in ("prune", "take-back", "undo", "bot")),
        ("delete", {"really": True}),
        ("nothing", {}),
    ],
)
def test_a_refused_change_changes_nothing(client: httpx.Client, post: Any, name: str, fields: dict[str, Any]) -> None:
    view = post("games", **NEW)
    refused(client.post(f"/api/games/{view['id']}/{name}", json=fields), *range(400, 500))
    assert client.get(f"/api/games/{view['id']}").json() == view


def test_bad_addresses_and_methods_are_answered_with_json_or_the_page(client: httpx.Client) -> None:
    for path in (
        *("games/nothing", "games/x/record", "games/x/wait?revision=0", "games/x/wait?revision=abc"),
        *("games?first=-1", "games?count=1e9", "bots?game=chess", "nothing", "watch/records"),
    ):
        refused(client.get(f"/api/{path}"), 400, 404)
    for method in ("PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"):
        refused(client.request(method, "/api/games"), 405)
    response = client.get("/nothing")
    assert (response.status_code, response.text) == (404, client.get("/").text)


def test_an_aborted_upload_is_no_error_of_the_server(start_server: Any) -> None:
    server = start_server()
    with socket.create_connection(("127.0.0.1", server.port), timeout=600) as connection:
        headers = "Host: localhost\r\nContent-Type: application/json\r\nContent-Length: 5000\r\n\r\n"
        connection.sendall(f"POST /api/import HTTP/1.1\r\n{headers}{{".encode())
    server.post("games", **NEW)
    server.stop()
    assert server.errors == ["stoneworks: interrupted\n"]


def test_an_interrupt_ends_the_server_in_silence_while_pages_wait(start_server: Any) -> None:
    server = start_server()
    game = server.post("games", game="vadus(size=5)", players=["mcts:20s", None])
    paths = [f"games/{game['id']}/wait?revision=1", f"games/{game['id']}/bot"]

    def ask(path: str) -> int:
        with server.client() as client:
            method = "POST" if path.endswith("bot") else "GET"
            return client.request(method, f"/api/{path}", json={"node": 0} if method == "POST" else None).status_code

    with ThreadPoolExecutor(2) as pool:
        asked = [pool.submit(ask, path) for path in paths]
        while server.client().get("/api/info").status_code != 200 or any(one.done() for one in asked):
            pass
        time.sleep(2)
        server.stop()
        assert [one.result() for one in asked] == [200, 503]
    assert server.errors == ["stoneworks: interrupted\n"]


def test_a_server_on_all_addresses_prints_one_that_it_serves(start_server: Any) -> None:
    server = start_server("--host", "0.0.0.0")  # the address that it prints is read by the fixture
    assert httpx.get(f"{server.url}/api/info", timeout=600).status_code == 200
    assert httpx.get(f"http://127.0.0.2:{server.port}/api/info", timeout=600).status_code == 200
    foreign = {"host": f"127.0.0.3:{server.port}"}
    refused(httpx.get(f"http://127.0.0.2:{server.port}/api/info", headers=foreign, timeout=600), 403)


def test_a_server_on_all_addresses_of_ipv6_serves_those_of_ipv4(start_server: Any) -> None:
    try:
        socket.create_server(("::", 0), family=socket.AF_INET6, dualstack_ipv6=True).close()
    except (OSError, ValueError):
        pytest.skip("this machine has no sockets for both")
    port = start_server("--host", "::").port
    assert httpx.get(f"http://127.0.0.2:{port}/api/info", timeout=600).status_code == 200
    assert httpx.get(f"http://[::1]:{port}/api/info", timeout=600).status_code == 200


@pytest.mark.parametrize("prefix", ["", "/deep/games"])
def test_a_prefix_may_be_removed_by_the_proxy_or_not_and_more_hosts_be_allowed(start_server: Any, prefix: str) -> None:
    server = start_server("--root-path", "/deep/games/", "--allow-host", "one.example", "--allow-host", "Two.example")
    for host, status in (("one.example", 200), ("two.example", 200), ("three.example", 403)):
        headers = {"host": f"{host}:{server.port}"}
        assert httpx.get(f"{server.url}{prefix}/api/info", headers=headers, timeout=600).status_code == status
    assert '<base href="/deep/games/">' in httpx.get(f"{server.url}{prefix}/play/x", timeout=600).text
    assert httpx.get(f"{server.url}{prefix}/api/info", timeout=600).status_code == 200
    assert httpx.get(f"{server.url}{prefix}/static/main.js", timeout=600).status_code == 200


def test_the_number_of_requests_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stoneworks.web.app._MAX_REQUESTS", 3)

    async def ask() -> None:
        web = Web(tmp_path)
        transport = httpx.ASGITransport(web.application())
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            post = await client.post("/api/games", json=NEW)
            waiting = f"/api/games/{post.json()['id']}/wait?revision=1"
            tasks = [asyncio.create_task(client.get(waiting)) for _ in range(4)]
            done, pending = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            (answered,) = [task.result() for task in done]
            assert "3 requests" in refused(answered, 503)
            for task in pending:
                task.cancel()
            await asyncio.wait(pending)
            assert (await client.get("/api/info")).status_code == 200
        web.close()

    asyncio.run(ask())


def test_the_number_of_games_is_bounded_and_a_game_is_read_as_it_was_at_one_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("stoneworks.web.store._MAX_GAMES", 2)
    monkeypatch.setattr("stoneworks.web.store.MAX_NODES", 3)
    store, positions = Store(tmp_path), Positions()
    game = positions.game(GAME)
    new = new_game(positions.line(game, ()))
    store.create([new])
    with pytest.raises(RequestError, match="at most 2 games, got 3"):
        store.create([new, new])
    assert len(store.all_ids()) == 1, "all or none"
    long = new_game(positions.line(game, ("c3", "a3", "b3")))
    with pytest.raises(RequestError, match="at most 3 positions"):
        store.create([long])
    ((stored,), _) = store.create([new_game(positions.line(game, ("c3", "a3")))])
    query = "SELECT count(*) FROM nodes"
    deleting = threading.Thread(target=store.delete, args=(stored.id,))
    with store.transaction() as database:
        before = database.execute(query).fetchone()
        deleting.start()
        deleting.join(0.2)
        assert database.execute(query).fetchone() == before == (1 + 3,)
    deleting.join()
    with store.transaction() as database:
        assert database.execute(query).fetchone() == (1,)
    store.close()


def test_a_slow_bot_neither_blocks_others_nor_outlives_its_request(start_server: Any) -> None:
    server = start_server("--thinking-seconds", "60")
    with server.client() as client:
        slow = client.post("/api/games", json={"game": "vadus(size=5)", "players": ["mcts:2s", None]}).json()

        def give_up() -> None:
            with httpx.Client(base_url=server.url, timeout=0.3) as impatient, pytest.raises(httpx.TimeoutException):
                impatient.post(f"/api/games/{slow['id']}/bot", json={"node": 0})

        with ThreadPoolExecutor(1) as pool:
            giving_up = pool.submit(give_up)
            assert client.get("/api/info").status_code == 200
            giving_up.result()
        # The one worker is free again: its process was given up with the request.
        quick = client.post("/api/analyze", json={"game": GAME, "actions": [], "bot": "random"})
        assert quick.status_code == 200
        assert client.get(f"/api/games/{slow['id']}").json()["turns"] == []
        assert client.post("/api/games", json=NEW | {"players": ["mcts:31s", None]}).status_code == 400


def test_a_bot_that_exceeds_its_time_limit_is_stopped(start_server: Any) -> None:
    with start_server("--thinking-seconds", "1").client() as client:
        late = client.post("/api/analyze", json={"game": "vadus(size=9)", "actions": [], "bot": "alphabeta:4"})
        assert "1 seconds" in refused(late, 504)


def test_compile_time_is_not_search_time() -> None:
    async def is_answered(*, is_preparing: bool) -> bool:
        pool, worker = BotProcesses(1, 0.1), _Worker()
        worker.is_preparing = is_preparing
        answer = asyncio.get_running_loop().create_future()
        seconds = 1.5 if is_preparing else 600  # much later than the limit, however busy the machine is
        asyncio.get_running_loop().call_later(seconds, lambda: answer.done() or answer.set_result({}))
        await pool._wait(worker, answer)
        pool.close()
        return answer.done()

    assert asyncio.run(is_answered(is_preparing=True))
    assert not asyncio.run(is_answered(is_preparing=False))

    ours, theirs = Pipe()
    with event.install_listener("numba:compile", _CompilingListener(theirs)):
        with event.trigger_event("numba:compile"), event.trigger_event("numba:compile"):
            pass
        theirs.send("end")
    assert [ours.recv() for _ in range(3)] == [True, False, "end"]


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="looks for sockets where Linux lists them")
def test_it_listens_on_loopback_alone(shared_server: Any) -> None:
    listening = [
        line.split()[1]
        for file in Path("/proc/net").glob("tcp*")
        for line in file.read_text(encoding="ascii").splitlines()[1:]
        if line.split()[3] == "0A" and int(line.split()[1].split(":")[1], 16) == shared_server.port
    ]
    assert listening == [f"0100007F:{shared_server.port:04X}"]


def test_a_long_list_of_actions_is_refused_at_once_and_a_long_game_is_replayed() -> None:
    positions = Positions()
    game = positions.game("taugo(size=4)")
    with pytest.raises(RequestError, match="has at most"):
        positions.line(game, ["x"] * 20_000)
    with pytest.raises(RequestError, match=r"action 1 \(x\)"):
        positions.line(game, ["x"] * 20)
    state = random_state(game, 30, seed=0)
    texts = list(map(game.action_to_string, state.history()))
    for length in (len(texts), len(texts) - 1, 3, len(texts)):
        line = positions.line(game, texts[:length])
        assert line.actions == tuple(texts[:length])
        assert len(line.movers) == len(line.mover_colors) == length
        assert line.state.history() == state.history()[:length]
    assert line.state == state
