"""Many games at once over HTTP: no move is lost or mixed up. Latencies are reported, not asserted."""

from __future__ import annotations

import asyncio
import json
import random
import re
import statistics
import time
from collections.abc import Callable
from typing import Any

import pytest

from stoneworks.evaluation.records import GameRecord


class _Connection:
    """One connection of its own, as of a browser. The pool of httpx needs more time than the server."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def post(self, path: str, **fields: Any) -> Any:
        """Post JSON and return the answer, which must be a success."""
        if self._streams is None:
            self._streams = await asyncio.open_connection("127.0.0.1", self._port)
        reader, writer = self._streams
        body = json.dumps(fields).encode()
        head = f"POST /api/{path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        answer = (await reader.readuntil(b"\r\n\r\n")).decode()
        length = re.search(r"content-length: ([0-9]+)", answer)
        assert length is not None, answer
        content = await reader.readexactly(int(length[1]))
        assert answer.startswith("HTTP/1.1 200 "), content
        return json.loads(content)

    def close(self) -> None:
        if self._streams is not None:
            self._streams[1].close()


async def _play(
    connection: _Connection, seed: int, game: str, bot: str | None, seconds: list[float]
) -> tuple[str, list[str]]:
    """Play a game with random actions and return its id and all of its actions, as they were answered."""
    generator = random.Random(seed)
    view = await connection.post("games", game=game, players=[None, bot])
    played: list[str] = []
    while view["result"] is None:
        begin = time.perf_counter()
        if view["bot_to_move"]:
            view = await connection.post(f"games/{view['id']}/bot", node=view["current"])
            seconds.append(time.perf_counter() - begin)
            played += view["turns"][-1][1]
        else:
            position = view["position"]
            action = generator.choice([item["action"] for item in [*position["legal"], *position["buttons"]]])
            view = await connection.post(f"games/{view['id']}/act", node=view["current"], action=action)
            if bot is None:
                seconds.append(time.perf_counter() - begin)
            played.append(action)
        assert view["position"]["actions"] == played
    return view["id"], played


async def _play_all(
    port: int, number: int, game: str, bot: str | None
) -> tuple[list[tuple[str, list[str]]], list[float]]:
    seconds: list[float] = []
    connections = [_Connection(port) for _ in range(number)]
    try:
        plays = [_play(connection, seed, game, bot, seconds) for seed, connection in enumerate(connections)]
        games = await asyncio.gather(*plays)
    finally:
        for connection in connections:
            connection.close()
    return list(games), seconds


@pytest.mark.parametrize(("number", "game", "bot"), [(200, "laido(size=2)", None), (50, "vadus(size=3)", "greedy")])
def test_moves_of_concurrent_games_do_not_mix(
    start_server: Callable[..., Any],
    record_property: Callable[[str, object], None],
    capsys: pytest.CaptureFixture[str],
    number: int,
    game: str,
    bot: str | None,
) -> None:
    server = start_server()
    games, seconds = asyncio.run(_play_all(server.port, number, game, bot))
    assert len({game_id for game_id, _ in games}) == number
    with server.client() as client:
        for game_id, played in games:
            record = GameRecord.from_json(client.get(f"/api/games/{game_id}/record").text)
            assert list(record.actions) == played
            record.replay()
    seconds.sort()
    median, late = statistics.median(seconds), seconds[int(0.95 * len(seconds))]
    report = (
        f"{number} games of {game} at once, {bot or 'random play'}: {len(seconds)} answers, "
        f"median {1000 * median:.0f} ms, 95 % within {1000 * late:.0f} ms"
    )
    record_property("latency", report)
    with capsys.disabled():
        print(f"\n{report}")
