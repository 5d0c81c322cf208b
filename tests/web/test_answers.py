"""Answers have the fields and types of their documents, and no others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from stoneworks.evaluation import ArenaSettings, play_arena, round_robin
from stoneworks.web.agents import BotAnswer
from stoneworks.web.analyzing import BotAnalysis, BotsAnswer, InfoAnswer, ReasonsAnswer, RulesAnswer
from stoneworks.web.board import PositionAnswer
from stoneworks.web.bot_processes import ValuesAnswer
from stoneworks.web.playing import GamesAnswer, GameView, HintAnswer, TreeAnswer, VariationAnswer
from stoneworks.web.watching import ArenaAnswer, RecordsAnswer, RunAnswer, SourcesAnswer, WatchedGame

GAME = "vadus(size=3)"
SWAPPED = {"game": "laido(size=3)", "actions": ["c3", "swap"]}


def test_answers_are_the_documents_that_the_handlers_declare(start_server: Any, tmp_path: Path) -> None:
    watched = tmp_path / "watched"
    settings = ArenaSettings(game=GAME, pairings=round_robin(["random", "greedy"]), num_pairs=1)
    play_arena(settings, watched / "arena")
    (watched / "run").mkdir()
    (watched / "run" / "metrics.jsonl").write_text('{"positions": 1}\n{"positions": 2, "loss": 1.5}\n')
    server = start_server(str(watched))

    with server.client() as client:

        def check(kind: Any, method: str, path: str, **fields: Any) -> Any:
            given: dict[str, Any] = {"params" if method == "GET" else "json": fields}
            response = client.request(method, f"/api/{path}", **given)
            assert response.status_code == 200, response.text
            adapter = TypeAdapter(kind)
            is_strict = kind is not WatchedGame  # a document, whose tuples are not read from JSON directly
            known = adapter.dump_python(adapter.validate_json(response.content, strict=is_strict), mode="json")
            assert known == response.json(), path
            return known

        check(InfoAnswer, "GET", "info")
        check(RulesAnswer, "GET", "rules", game=GAME)
        check(BotsAnswer, "GET", "bots", game=GAME)
        check(BotAnswer, "GET", "bot", game=GAME, name="mcts:17")
        for fields in (
            SWAPPED,
            {"game": GAME, "actions": ["c3", "pass", "pass"]},  # groups with values
            {"game": "taugo(size=6)", "actions": ["c3", "g7"]},  # several actions by two clicks
            {"game": "taigo(radius=3)"},  # actions with parts
            {"game": "trugo(radius=3,tiles=7)"},  # actions with icons
        ):
            check(PositionAnswer, "POST", "position", **fields)
        check(ReasonsAnswer, "POST", "why", game=GAME, actions=["c3"], x=0, y=0)
        for bot in ("mcts:10", "alphabeta:1"):
            check(BotAnalysis, "POST", "analyze", game=GAME, actions=["c3"], bot=bot)
        check(ValuesAnswer, "POST", "values", **SWAPPED, bot="greedy")
        check(ValuesAnswer, "POST", "values", **SWAPPED, bot="mcts:10")

        view = check(GameView, "POST", "games", game=GAME, players=[None, "greedy"])
        game = f"games/{view['id']}"
        view = check(GameView, "POST", f"{game}/act", node=view["current"], action="c3")
        view = check(GameView, "POST", f"{game}/bot", node=view["current"])
        assert check(GameView, "GET", f"{game}/wait", revision=1)["revision"] > 1
        check(HintAnswer, "POST", f"{game}/hint", node=view["current"])
        check(VariationAnswer, "POST", f"{game}/variation", node=0, actions=["d2"])
        check(TreeAnswer, "GET", f"{game}/tree")
        view = check(GameView, "POST", f"{game}/resign", node=view["current"])
        check(GameView, "GET", game)
        record = client.get(f"/api/{game}/record").text
        check(GamesAnswer, "POST", "import", text=record)
        check(GamesAnswer, "GET", "games")

        check(SourcesAnswer, "GET", "watch")
        check(RecordsAnswer, "GET", "watch/records", source="0/arena")
        check(WatchedGame, "GET", "watch/record", source="0/arena")
        check(ArenaAnswer, "GET", "watch/arena", source="0/arena")
        check(RunAnswer, "GET", "watch/run", source="0/run")
