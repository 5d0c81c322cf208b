"""Many games at once over HTTP: no move is lost or mixed up."""

from __future__ import annotations

import asyncio
import json
import random
import re
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


async def _play(connection: _Connection, seed: int, game: str, bot: str | None) -> tuple[str, list[str]]:
    """Play a game with random actions and return its id and all of its actions, as they were answered."""
    generator = random.Random(seed)
    view = await connection.post("games", game=game, players=[None, bot])
    played: list[str] = []
    while view["result"] is None:
        if view["bot_to_move"]:
            view = await connection.post(f"games/{view['id']}/bot", node=view["current"])
            played += view["turns"][-1][1]
        else:
            position = view["position"]
            action = generator.choice([item["action"] for item in [*position["legal"], *position["buttons"]]])
            view = await connection.post(f"games/{view['id']}/act", node=view["current"], action=action)
            played.append(action)
        assert view["position"]["actions"] == played
    return view["id"], played


async def _play_all(port: int, number: int, game: str, bot: str | None) -> list[tuple[str, list[str]]]:
    connections = [_Connection(port) for _ in range(number)]
    try:
        return await asyncio.gather(
            *(_play(connection, seed, game, bot) for seed, connection in enumerate(connections))
        )
    finally:
        for connection in connections:
            connection.close()


@pytest.mark.parametrize(
    ("number", "game", "bot"),
    [
        (12, "laido(size=2)", None),
        (8, "vadus(size=3)", "greedy"),
        pytest.param(200, "laido(size=2)", None, marks=pytest.mark.slow),
        pytest.param(50, "vadus(size=3)", "greedy", marks=pytest.mark.slow),
    ],
)
def test_moves_of_concurrent_games_do_not_mix(
    start_server: Callable[..., Any], number: int, game: str, bot: str | None
) -> None:
    server = start_server()
    games = asyncio.run(_play_all(server.port, number, game, bot))
    assert len({game_id for game_id, _ in games}) == number
    with server.client() as client:
        for game_id, played in games:
            record = GameRecord.from_json(client.get(f"/api/games/{game_id}/record").text)
            assert list(record.actions) == played
            record.replay()
