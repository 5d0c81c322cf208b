"""Playing over HTTP: turns, undo, bots, and games that nothing loses."""

from __future__ import annotations

import random
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from stoneworks import load_game
from stoneworks.envs.rules.games import small_games
from stoneworks.evaluation.records import GameRecord

SMALL_GAMES = small_games()


def new_game(post: Any, game: str, players: list[str | None], **fields: Any) -> dict[str, Any]:
    return post("games", game=game, players=players, **fields)


def act(post: Any, view: dict[str, Any], action: str) -> dict[str, Any]:
    return post(f"games/{view['id']}/act", node=view["current"], action=action)


def choose(view: dict[str, Any], generator: random.Random) -> str:
    position = view["position"]
    return generator.choice([item["action"] for item in [*position["legal"], *position["buttons"]]])


@pytest.mark.parametrize("game", SMALL_GAMES)
def test_two_people_play_a_game_to_its_end(post: Any, client: Any, game: str) -> None:
    generator = random.Random(1)
    view = new_game(post, game, [None, None])
    played = []
    while view["result"] is None:
        played.append(choose(view, generator))
        view = act(post, view, played[-1])
    record = GameRecord.from_json(client.get(f"/api/games/{view['id']}/record").text)
    assert list(record.actions) == played
    assert record.replay().outcome() is not None
    assert view["result"] == {"winner": record.winner, "reason": record.reason}


@pytest.mark.parametrize("game", SMALL_GAMES)
def test_every_legal_action_is_offered_once_with_its_places(post: Any, game: str) -> None:
    generator = random.Random(2)
    loaded = load_game(game)
    state = loaded.new_initial_state()
    while not state.is_terminal():
        actions = [loaded.action_to_string(action) for action in state.history()]
        position = post("position", game=game, actions=actions)
        offered = [item["action"] for item in [*position["legal"], *position["buttons"]]]
        assert sorted(offered) == sorted(map(loaded.action_to_string, state.legal_actions()))
        assert all(place in position["places"] for item in position["legal"] for place in item["path"])
        paths = [(item["label"], *item["path"]) for item in position["legal"]]
        assert len(set(paths)) == len(paths), "two actions that nobody can tell apart"
        state.apply_action(generator.choice(state.legal_actions()))


def test_a_turn_is_previewed_taken_back_and_committed(post: Any, client: Any) -> None:
    view = new_game(post, "vadus(size=3)", [None, None], confirm=True)
    view = act(post, view, "c3")
    assert view["complete_turn"]
    assert view["num_committed"] == 0
    refused = client.post(f"/api/games/{view['id']}/act", json={"node": view["current"], "action": "a3"})
    assert refused.status_code == 409
    view = post(f"games/{view['id']}/take-back", node=view["current"])
    assert view["turns"] == []
    view = act(post, view, "b3")
    view = post(f"games/{view['id']}/commit", node=view["current"])
    assert (view["num_committed"], view["position"]["player"]) == (1, 1)
    view = act(post, view, "a3")
    assert not view["complete_turn"]
    refused = client.post(f"/api/games/{view['id']}/commit", json={"node": view["current"]})
    assert refused.status_code == 409
    view = act(post, view, "c3")
    assert view["turns"][-1] == [1, ["a3", "c3"], "White"]
    view = post(f"games/{view['id']}/undo", node=view["current"])
    assert view["turns"] == [[0, ["b3"], "Black"]]


def test_undo_goes_back_to_the_persons_own_turn_and_keeps_a_variation(post: Any, client: Any) -> None:
    view = new_game(post, "laido(size=3)", [None, "random"])
    view = act(post, view, "c3")
    assert view["bot_to_move"]
    view = post(f"games/{view['id']}/bot", node=view["current"])
    first_answer = view["turns"][1]
    view = post(f"games/{view['id']}/undo", node=view["current"])
    assert view["turns"] == []
    view = act(post, view, "b2")
    tree = client.get(f"/api/games/{view['id']}/tree").json()
    assert [row[2] for row in tree["nodes"]] == ["", "c3", *first_answer[1], "b2"]
    assert client.post(f"/api/games/{view['id']}/bot", json={"node": 0}).status_code == 409


def test_a_person_resigns_and_takes_it_back(post: Any) -> None:
    view = new_game(post, "taugo(size=4)", ["random", None])
    view = post(f"games/{view['id']}/resign", node=view["current"])
    assert view["result"] == {"winner": 0, "reason": "resignation"}
    view = post(f"games/{view['id']}/undo", node=view["current"])
    assert view["result"] is None


def test_seats_are_flipped(post: Any) -> None:
    view = new_game(post, "taugo(size=4)", [None, "random"])
    view = post(f"games/{view['id']}/players", players=["random", None])
    assert view["bot_to_move"]
    view = post(f"games/{view['id']}/bot", node=view["current"])
    assert view["position"]["player"] == 1


def test_moves_have_the_color_of_their_time(post: Any, client: Any) -> None:
    # L1: player 0's stone stays black after the swap, and player 0 goes on as White.
    view = new_game(post, "laido(size=3)", [None, None], actions=["c3", "swap", "b2"])
    assert view["turns"] == [[0, ["c3"], "Black"], [1, ["swap"], "White"], [0, ["b2"], "White"]]
    tree = client.get(f"/api/games/{view['id']}/tree").json()
    assert [row[2:] for row in tree["nodes"]] == [
        ["", "", None, None],
        ["c3", "", 0, "Black"],
        ["swap", "", 1, "White"],
        ["b2", "", 0, "White"],
    ]


def test_scores_are_those_of_the_players_after_a_swap(post: Any) -> None:
    # The only stone is black: its group is worth -1. After the swap, Black is player 1.
    for actions, score in ((["b4"], [[-1], []]), (["b4", "swap"], [[], [-1]])):
        position = post("position", game="laido(size=3)", actions=actions)
        assert position["score"] == score
        assert dict(zip(position["colors"], position["score"], strict=True)) == {"Black": [-1], "White": []}


def test_a_bot_named_by_the_user_plays(post: Any, client: Any) -> None:
    query = {"game": "vadus(size=3)", "name": "mcts:17"}
    assert client.get("/api/bot", params=query).json() == {
        "name": "mcts:17",
        "rating": None,
        "error": None,
        "values": True,
        "kind": "mcts",
        "searches": True,
    }
    assert client.get("/api/bot", params=query | {"name": "exec:true"}).status_code == 400
    view = new_game(post, "vadus(size=3)", [None, None])
    view = post(f"games/{view['id']}/players", players=["mcts:17", None])
    view = post(f"games/{view['id']}/bot", node=view["current"])
    assert len(view["turns"]) == 1


def test_a_hint_is_legal(post: Any) -> None:
    view = new_game(post, "laido(size=3)", [None, "random"])
    hint = post(f"games/{view['id']}/hint", node=view["current"])
    assert act(post, view, hint["actions"][0])["turns"]


def test_two_bots_play_to_the_end(post: Any) -> None:
    view = new_game(post, "vadus(size=3)", ["greedy", "mcts:10"])
    while view["bot_to_move"]:
        view = post(f"games/{view['id']}/bot", node=view["current"])
    assert view["result"]["reason"] == "groups" or view["result"]["winner"] is None


@pytest.mark.slow
def test_games_survive_sigkill(start_server: Any, tmp_path: Path) -> None:
    generator = random.Random(3)
    server = start_server()
    with server.client() as client:
        view = client.post("/api/games", json={"game": "vadus(size=4)", "players": [None, None]}).json()
        for _ in range(9):
            answer = client.post(
                f"/api/games/{view['id']}/act", json={"node": view["current"], "action": choose(view, generator)}
            )
            view = answer.json()
    server.kill()
    again = start_server()
    with again.client() as client:
        assert client.get(f"/api/games/{view['id']}").json() == view
    with sqlite3.connect(tmp_path / "data" / "games.sqlite3") as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_a_database_of_a_later_version_is_refused(tmp_path: Path) -> None:
    from stoneworks.web.store import Store

    Store(tmp_path, 10, 10).close()
    with sqlite3.connect(tmp_path / "games.sqlite3") as database:
        database.execute("PRAGMA user_version = 99")
    with pytest.raises(ValueError, match="schema version 99"):
        Store(tmp_path, 10, 10)


def test_a_file_that_is_not_a_database_is_rejected(tmp_path: Path) -> None:
    from stoneworks.web.store import Store

    (tmp_path / "games.sqlite3").write_bytes(b"something else" * 1000)
    with pytest.raises(ValueError, match="not a database"):
        Store(tmp_path, 10, 10)
    assert (tmp_path / "games.sqlite3").read_bytes() == b"something else" * 1000
