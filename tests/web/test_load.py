"""Many games at once over HTTP: no move is lost or mixed up."""

from __future__ import annotations

import asyncio
import random
from typing import Any

import httpx
import pytest

from stoneworks.evaluation.records import GameRecord


async def play(server: Any, seed: int, game: str, bot: str | None) -> None:
    """Play a game with random actions over a connection of its own; its record must have all of them."""
    generator = random.Random(seed)

    async with httpx.AsyncClient(base_url=server.url, timeout=300) as client:

        async def post(path: str, **fields: Any) -> Any:
            response = await client.post(f"/api/{path}", json=fields)
            assert response.status_code == 200, response.text
            return response.json()

        view = await post("games", game=game, players=[None, bot])
        played: list[str] = []
        while view["result"] is None:
            if view["bot_to_move"]:
                view = await post(f"games/{view['id']}/bot", node=view["current"])
                played += view["turns"][-1][1]
            else:
                position = view["position"]
                action = generator.choice([item["action"] for item in [*position["legal"], *position["buttons"]]])
                view = await post(f"games/{view['id']}/act", node=view["current"], action=action)
                played.append(action)
            assert view["position"]["actions"] == played
        record = GameRecord.from_json((await client.get(f"/api/games/{view['id']}/record")).text)
        assert list(record.actions) == played
        record.replay()


@pytest.mark.parametrize(("number", "game", "bot"), [(20, "laido(size=2)", None), (8, "vadus(size=2)", "greedy")])
def test_moves_of_concurrent_games_do_not_mix(shared_server: Any, number: int, game: str, bot: str | None) -> None:
    async def play_all() -> None:
        await asyncio.gather(*(play(shared_server, seed, game, bot) for seed in range(number)))

    asyncio.run(play_all())
