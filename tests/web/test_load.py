"""Many games at once over HTTP: no move is lost or mixed up. Latencies are reported, not asserted."""

from __future__ import annotations

import asyncio
import random
import statistics
import time
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from stoneworks.training.arena.records import GameRecord


async def _play(
    client: httpx.AsyncClient, seed: int, game: str, bot: str | None, seconds: list[float]
) -> tuple[str, list[str]]:
    """Play a game with random actions and return its id and all of its actions, as they were answered."""
    generator = random.Random(seed)
    answer = await client.post("/api/games", json={"game": game, "players": [None, bot]})
    view = answer.json()
    played: list[str] = []
    while view["result"] is None:
        begin = time.perf_counter()
        if view["bot_to_move"]:
            answer = await client.post(f"/api/games/{view['id']}/bot", json={"node": view["current"]})
            seconds.append(time.perf_counter() - begin)
            assert answer.status_code == 200, answer.text
            played += answer.json()["turns"][-1][1]
        else:
            position = view["position"]
            action = generator.choice([item["action"] for item in [*position["legal"], *position["buttons"]]])
            answer = await client.post(f"/api/games/{view['id']}/act", json={"node": view["current"], "action": action})
            if bot is None:
                seconds.append(time.perf_counter() - begin)
            assert answer.status_code == 200, answer.text
            played.append(action)
        view = answer.json()
        assert view["position"]["actions"] == played
    return view["id"], played


async def _play_all(
    url: str, number: int, game: str, bot: str | None
) -> tuple[list[tuple[str, list[str]]], list[float]]:
    seconds: list[float] = []
    limits = httpx.Limits(max_connections=number, max_keepalive_connections=number)
    async with httpx.AsyncClient(base_url=url, timeout=300, limits=limits) as client:
        games = await asyncio.gather(*(_play(client, seed, game, bot, seconds) for seed in range(number)))
    return list(games), seconds


@pytest.mark.parametrize(("number", "game", "bot"), [(200, "laido(size=2)", None), (50, "vadus(size=3)", "greedy")])
def test_concurrent_games_keep_their_moves_apart(
    start_server: Callable[..., Any],
    record_property: Callable[[str, object], None],
    capsys: pytest.CaptureFixture[str],
    number: int,
    game: str,
    bot: str | None,
) -> None:
    server = start_server()
    games, seconds = asyncio.run(_play_all(server.url, number, game, bot))
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
