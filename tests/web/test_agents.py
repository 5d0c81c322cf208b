"""The bots that may be named on the page: ratings, hints, limits, and agents of one's own."""

from __future__ import annotations

import importlib.metadata
import json
import os
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

from stoneworks import load_game
from stoneworks.envs.rules import Game, RegistrationError, game_names
from stoneworks.envs.rules.game_registry import GAMES
from stoneworks.evaluation.ladder import load_ladder
from stoneworks.models import register_bot, shipped
from stoneworks.models.bots.registry import BOTS
from stoneworks.models.bots.spec import BotSpec
from stoneworks.web.agents import Agents
from stoneworks.web.board import Positions, game_descriptions
from stoneworks.web.bot_processes import _bot, think, version_of
from stoneworks.web.requests import RequestError

GAME = load_game("vadus(size=3)")


def test_agents_have_the_ratings_of_the_ladders() -> None:
    rated = 0
    for name in shipped.names():
        matches = json.loads((shipped.shipped_folder() / name / shipped.MATCHES_FILE).read_text(encoding="utf-8"))
        for part in (matches, *matches.get("other_games", ())):
            ladder = load_ladder(part["game"])
            anchors = set(ladder.ratings.names) - set(ladder.changed_players())
            ratings = {bot["name"]: bot["rating"] for bot in Agents().listed(load_game(part["game"]))}
            for player in {row["player"] for row in part["matches"]}:
                agent = player.replace("policy", name, 1)
                if agent in anchors:
                    assert ratings[agent] == pytest.approx(ladder.ratings.rating(agent)[0], abs=2)
                    rated += 1
                else:
                    assert ratings[agent] is None
    assert rated >= 10


@pytest.mark.parametrize(
    ("game", "name"),
    [
        ("vadus(size=5)", "vadus@64"),
        ("taugo(size=3)", "taugo@64"),  # without a ladder
        ("laido(size=3,pie_rule=False)", "greedy"),  # the agent plays with the pie rule
    ],
)
def test_hints_come_from_the_strongest_of_the_fast_players(game: str, name: str) -> None:
    assert Agents().adviser(load_game(game)) == name


def test_checkpoints_in_the_named_folders_and_no_others_can_be_played(runs: Path) -> None:
    agents = Agents(folders=[runs])
    name = str(runs / "first" / "checkpoint")
    listed = {bot["name"]: bot for bot in agents.listed(GAME)}
    assert listed[f"{name}@64"]["kind"] == "checkpoint"
    assert listed[name]["values"]
    assert not any("link" in bot or "elsewhere" in bot for bot in listed)
    assert agents.name_of(runs / "first" / "checkpoint") == name
    assert agents.name_of(runs.parent / "elsewhere") is None
    job = {"kind": "turn", "game": str(GAME), "actions": (), "bot": agents.check(f"{name}@8", GAME).name}
    assert len(think(job)["actions"]) == 1
    with pytest.raises(RequestError, match="cannot play laido"):
        agents.check(name, load_game("laido(size=3)"))
    for other in ("elsewhere", "runs/link", "runs/../elsewhere@8", "runs/none"):
        for asked in (agents, Agents()):
            with pytest.raises(RequestError, match="unknown bot"):
                asked.check(str(runs.parent / other), GAME)


def test_any_bot_can_be_given_a_name(runs: Path) -> None:
    agents = Agents(named={"mine": f"{runs.parent / 'elsewhere'}@8", "program": "exec:true"})
    assert agents.check("mine", GAME).checkpoint == runs.parent / "elsewhere"
    assert agents.check("program", GAME).entry.starts_programs
    assert {"mine", "program"} <= {bot["name"] for bot in agents.listed(GAME)}
    with pytest.raises(ValueError, match="'greedy' must have a name that no other bot has"):
        Agents(named={"greedy": "mcts:10"})
    with pytest.raises(ValueError, match="nothing"):
        Agents(named={"mine": "nothing"})
    with pytest.raises(ValueError, match="must be an existing folder"):
        Agents(folders=[runs / "none"])


def test_registered_bots_play_and_analyze() -> None:
    register_bot("other", "stoneworks.models.bots.random_bot:RandomBot")
    assert "other" in {bot["name"] for bot in Agents().listed(GAME)}
    job = {"kind": "analyze", "game": str(GAME), "actions": ("c3",), "bot": Agents().check("other", GAME).name}
    found = think(job)
    assert (found["player"], found["value"], found["columns"]) == (1, None, [{"name": "policy", "kind": "share"}])
    assert sum(row["policy"] for row in found["actions"]) == pytest.approx(1)


def test_a_broken_game_or_bot_of_another_package_does_not_affect_others(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = importlib.metadata.EntryPoint("broken", "no_such_module:entry", "a group")
    for registry in (BOTS, GAMES):
        monkeypatch.setitem(registry._found(), "broken", [broken])
    assert {game["name"] for game in game_descriptions()} == set(game_names()) - {"broken"}
    assert Agents().listed(GAME)
    with pytest.raises(RequestError, match="no_such_module"):
        Agents().check("broken", GAME)


def test_a_game_without_a_drawing_or_heuristic_that_can_be_imported_does_not_affect_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(game: Game) -> Any:
        if game.name == "taugo":
            raise RegistrationError("taugo: cannot import nothing")
        if game.name == "laido":
            raise IndexError("the drawing")
        return True

    monkeypatch.setattr("stoneworks.web.board._sample_picture", fail)
    monkeypatch.setattr("stoneworks.web.agents.has_heuristic", fail)
    assert {game["name"] for game in game_descriptions()} == set(game_names()) - {"taugo", "laido"}
    taugo = load_game("taugo(size=4)")
    assert {"random", "mcts:100"} <= {bot["name"] for bot in Agents().listed(taugo)}
    with pytest.raises(RequestError, match="taugo: cannot import nothing"):
        Agents().check("greedy", taugo)


def test_a_checkpoint_that_is_replaced_is_loaded_again(runs: Path) -> None:
    name = str(runs / "first" / "checkpoint")
    before = _bot(name, GAME)
    assert _bot(name, GAME) is before
    os.utime(runs / "first" / "checkpoint" / "checkpoint.json", (1, 1))
    assert version_of(BotSpec.parse(f"{name}@8")) == 10**9
    assert _bot(name, GAME) is not before
    assert version_of(BotSpec.parse("greedy")) == 0
    policy = runs / "policy.onnx"
    policy.touch()
    os.utime(policy, (2, 2))
    assert version_of(BotSpec.parse(f"policy:{policy}")) == 2 * 10**9


def test_agents_of_the_command_line_play_on_the_page(start_server: Any, runs: Path) -> None:
    name = f"{runs / 'first' / 'checkpoint'}@8"
    with start_server("--agents", str(runs), "--agent", "me=mcts:10,c=2").client() as client:
        run = client.get("/api/watch/run", params={"source": "0/first"}).json()
        assert f"{run['agent']}@8" == name
        view = client.post("/api/games", json={"game": str(GAME), "players": ["me", name]}).json()
        for seat in (0, 1):
            assert view["position"]["player"] == seat
            view = client.post(f"/api/games/{view['id']}/bot", json={"node": view["current"]}).json()
        found = client.post("/api/analyze", json={"game": str(GAME), "actions": ["c3"], "bot": "me"}).json()
        assert (found["bot"], found["simulations"]) == ("me", 10)
        assert [column["name"] for column in found["columns"]] == ["policy", "visits", "win"]


def test_a_named_board_that_is_too_large_to_be_shown_is_refused_by_its_name() -> None:
    assert {"tiles": 40, "radius": 79} in load_game("taigo").guide.boards.values()
    with pytest.raises(RequestError, match=r"^Taigo, unbounded board, is too large to be shown: .* got 25281$"):
        Positions().game("taigo(radius=79)")
