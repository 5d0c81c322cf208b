"""Records in and out, variations and comments, and what agents say about positions."""

from __future__ import annotations

import asyncio
import base64
import gzip
import json
import re
from collections.abc import AsyncGenerator
from typing import Any
from unittest.mock import AsyncMock, Mock

import pytest

from stoneworks import load_game
from stoneworks.envs.drawing import theme
from stoneworks.evaluation.records import GameRecord
from stoneworks.web import Replay
from stoneworks.web.agents import Agents
from stoneworks.web.analyzing import AnalysisRoutes, AnalyzeBody
from stoneworks.web.board import Positions
from stoneworks.web.bot_processes import think
from stoneworks.web.requests import RequestError


def test_variations_and_comments_travel_with_the_record_and_a_tree_is_saved_at_once(post: Any, client: Any) -> None:
    view = post("games", game="laido(size=3)", players=[None, None], actions=["c3", "b3"], title="a study")
    branch = post(f"games/{view['id']}/variation", node=1, actions=["swap", "d3"])
    post(f"games/{view['id']}/comment", node=branch["node"], text="better? ½ <b>")
    record = client.get(f"/api/games/{view['id']}/record").text
    imported = post("import", text=record)
    assert (imported["games"], imported["known"][0]["id"]) == ([], view["id"])
    post(f"games/{view['id']}/delete")
    (copy,) = post("import", text=record)["games"]
    assert (copy["id"], copy["title"]) == (view["id"], "a study")
    nodes = client.get(f"/api/games/{copy['id']}/tree").json()["nodes"]
    by_number = {row[0]: row for row in nodes}
    (commented,) = [row for row in nodes if row[3]]
    assert commented[2:] == ["d3", "better? ½ <b>", 0, "White"]
    assert by_number[commented[1]][2] == "swap"
    assert client.get(f"/api/games/{copy['id']}/record").text == record
    ended = GameRecord.of_state(
        load_game("laido(size=3)").deserialize_state("c3\npass\npass"), ("human", "runs/first@64")
    )
    forfeited = ended.replace(actions=("c3",), winner=0, reason="forfeit: crashed")
    resigned = ended.replace(actions=("c3",), winner=None, reason=None, metadata={"resigned_by": 0})
    for record in (ended, forfeited, resigned):
        (copy,) = post("import", text=record.to_json())["games"]
        assert copy["players"] == [None, "runs/first@64"]
        again = GameRecord.from_json(client.get(f"/api/games/{copy['id']}/record").text)
        assert again.replace(metadata=record.metadata) == record
        assert again.metadata == {"id": copy["id"], "title": copy["title"], **record.metadata}
    for of_others in (17, "run-1/game-3"):
        (copy,) = post("import", text=ended.replace(metadata={"id": of_others}).to_json())["games"]
        assert len(copy["id"]) == 11
    tree = [
        {"parent": None, "action": ""},
        {"parent": 0, "action": "c3"},
        {"parent": 1, "action": "b3", "comment": "here"},
        {"parent": 1, "action": "swap"},
    ]
    fields = {"game": "laido(size=3)", "players": [None, None], "actions": ["c3"]}
    view = post("games", **fields, tree=tree)
    nodes = client.get(f"/api/games/{view['id']}/tree").json()["nodes"]
    assert [row[1:4] for row in nodes] == [[None, "", ""], [0, "c3", ""], [1, "b3", "here"], [1, "swap", ""]]
    assert view["current"] == 1
    before = client.get("/api/games").json()["total"]
    for bad in (tree[:1], [*tree, {"parent": 2, "action": "c3"}], [*tree, {"parent": 9, "action": "a2"}], "tree"):
        assert client.post("/api/games", json={**fields, "tree": bad}).status_code == 400, bad
    assert client.get("/api/games").json()["total"] == before
    # A variation can be deleted, the game itself cannot.
    assert client.post(f"/api/games/{view['id']}/prune", json={"node": 1}).status_code == 409
    post(f"games/{view['id']}/prune", node=2)
    assert [row[1:3] for row in client.get(f"/api/games/{view['id']}/tree").json()["nodes"]][2:] == [[1, "swap"]]


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"actions": ["c3", "c3"]}, "line 2"),
        ({"winner": 1, "reason": "groups"}, "line 2"),
        ({"version": 77}, "version"),
        ({"game": "chess"}, "chess"),
        ({"game": "vadus(size=60)"}, "at most"),
        ({"metadata": {"tree": [{"parent": 5, "action": "x"}]}}, "node 0"),
        ({"metadata": {"tree": [{"parent": None, "action": ""}]}}, "begin with"),
        ({"metadata": {"title": 5}}, "title"),
    ],
)
def test_a_bad_record_imports_nothing(post: Any, client: Any, change: dict[str, Any], problem: str) -> None:
    state = load_game("laido(size=3)").deserialize_state("c3\nb3")
    record = GameRecord.of_state(state, ("a", "b"))
    good, bad = record.to_json(), json.dumps(record.to_fields() | change)
    before = client.get("/api/games").json()["total"]
    response = client.post("/api/import", json={"text": f"{good}\n{bad}\n"})
    assert response.status_code == 400
    assert problem in response.json()["error"]["message"]
    assert client.get("/api/games").json()["total"] == before


@pytest.mark.parametrize(
    "bot", ["greedy", "mcts:50", *(pytest.param(bot, marks=pytest.mark.needs("torch")) for bot in ("vadus", "vadus@8"))]
)
def test_an_analysis_covers_the_legal_actions(post: Any, bot: str) -> None:
    game = load_game("vadus(size=5)")
    state = game.deserialize_state("e5\nf2\ng1")
    found = post("analyze", game=str(game), actions=["e5", "f2", "g1"], bot=bot)
    legal = map(game.action_to_string, state.legal_actions())
    assert sorted(row["action"] for row in found["actions"]) == sorted(legal)
    assert sum(row["policy"] for row in found["actions"]) == pytest.approx(1, abs=1e-3)
    assert found["player"] == state.current_player()
    for text in found["line"]:
        state.apply_action(game.string_to_action(text))
    if bot in ("mcts:50", "vadus@8"):
        assert sum(row["visits"] for row in found["actions"]) == found["simulations"] > 0
        assert found["line"]
    assert bot == "greedy" or -1 <= found["value"] <= 1


def test_values_of_a_game_are_player_0s_and_a_proven_result_comes_with_its_line(post: Any) -> None:
    # Black's single stone is worth -1, White has none: White wins by hills, and a pass of Black ends the game.
    actions = ["b2", "pass", "pass"]
    found = post("values", game="laido(size=3)", actions=actions, bot="mcts:200", first=0, count=4)["values"]
    state = load_game("laido(size=3)").deserialize_state("\n".join(actions))
    assert found[-1] == state.returns()[0] == -1
    analysis = post("analyze", game="laido(size=3)", actions=["b2"], bot="mcts:200")
    assert analysis["player"] == 1
    assert found[1] == pytest.approx(-analysis["value"], abs=0.4)
    found = post("analyze", game="laido(size=3)", actions=["c3", "b3", "pass"], bot="mcts:100")
    assert (found["proven"], found["line"], found["line_ends_game"]) == (1, ["pass"], True)
    found = post("analyze", game="laido(size=3)", actions=["c3", "b3"], bot="greedy")
    assert (found["proven"], found["line_ends_game"]) == (None, False)
    job = {"kind": "values", "game": "laido(size=3)", "bot": "mcts:10", "actions": actions, "first": 0, "count": 4}
    assert len(think({**job, "seconds": 0})["values"]) == 1  # at least one, however slow the bot


def test_a_line_is_drawn_with_numbers_a_policy_as_a_heat_map_and_a_replay_in_its_colors(post: Any) -> None:
    plain = post("position", game="vadus(size=3)", actions=["c3"])
    with_line = post("position", game="vadus(size=3)", actions=["c3"], line=["a3", "b3"])
    assert 'aria-label="2"' in with_line["svg"]
    assert 'class="numbers"' not in plain["svg"]
    heated = post("position", game="vadus(size=3)", actions=["c3"], heat={"a3": 0.25, "b3": 0.5})
    assert heated["svg"].count("<path") > plain["svg"].count("<path")
    assert theme.HEAT[-1] in heated["svg"]  # the greatest value has the strongest color
    texts = re.findall('aria-label="([0-9]+)"', heated["svg"])
    assert texts.count("25") == texts.count("50") == 1
    html = Replay(load_game("laido(size=3)").deserialize_state("b4\nswap\npass\npass")).to_html()
    (game,) = json.loads(gzip.decompress(base64.b64decode(re.search(r'id="games">([^<]+)<', html)[1])))
    assert game["players"] == game["colors"] == ["White", "Black"]
    assert len(game["frames"]) == 5


def events_of(client: Any, number: int, **fields: Any) -> list[dict[str, Any]]:
    """Return the first events of a growing analysis."""
    found: list[dict[str, Any]] = []
    with client.stream("POST", "/api/analyze/stream", json=fields) as response:
        assert response.status_code == 200, response.read()
        for line in response.iter_lines():
            if line:
                found.append(json.loads(line.removeprefix("data: ")))
            if len(found) == number:
                break
    return found


def test_an_analysis_grows_until_it_is_left(client: Any) -> None:
    pytest.importorskip("torch")
    position = {"game": "vadus(size=3)", "actions": ["c3"], "bot": "vadus@64"}
    found = events_of(client, 5, **position)
    numbers = [one["simulations"] for one in found]
    assert len(numbers) == 5
    assert numbers == sorted(set(numbers))
    assert all(one["line"] and one["bot"] == "vadus@64" for one in found)
    for one in found:
        firsts = [line[0] for line in one["lines"]]
        assert firsts == [row["action"] for row in one["actions"][:3] if row["visits"]]
    assert len(events_of(client, 2, **position)) == 2, "the processes are free again"
    assert client.post("/api/analyze", json={**position, "bot": "greedy"}).status_code == 200


def test_an_analysis_that_is_left_before_its_first_result_ends() -> None:
    ended = []

    class Processes:
        async def stream(self, job: dict[str, Any]) -> AsyncGenerator[Any, None]:
            try:
                await asyncio.sleep(600)
                yield {}
            finally:
                ended.append(job["bot"])

    async def leave() -> None:
        request = Mock(receive=AsyncMock(return_value={"type": "http.disconnect"}))
        routes = AnalysisRoutes(Positions(), Agents(), Processes(), watching=False)  # type: ignore[arg-type]
        with pytest.raises(RequestError, match="canceled"):
            await routes._stream(request, AnalyzeBody(game="vadus(size=3)", bot="mcts:10"))
        await asyncio.sleep(0)

    asyncio.run(leave())
    assert ended == ["mcts:10"]


def test_an_analysis_that_cannot_grow_is_one_event(client: Any) -> None:
    found = events_of(client, 9, game="vadus(size=3)", actions=["c3"], bot="greedy")
    assert len(found) == 1
    assert found[0]["columns"]
    wrong = client.post("/api/analyze/stream", json={"game": "vadus(size=3)", "actions": [], "bot": "nobody"})
    assert wrong.status_code == 400
