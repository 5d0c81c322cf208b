"""Playing over HTTP: turns, undo, bots, and games that nothing loses."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest

from stoneworks import load_game
from stoneworks.envs.rules.game_registry import small_games
from stoneworks.evaluation.records import GameRecord
from stoneworks.web.board import Positions, longer_lines
from stoneworks.web.game_tree import new_game, play_turn
from stoneworks.web.requests import RequestError
from stoneworks.web.store import Store

SMALL_GAMES = small_games()


def offered(position: dict[str, Any]) -> list[str]:
    """Return the actions that the page offers."""
    return [item["action"] for item in [*position["legal"], *position["buttons"]] if "then" not in item]


def test_longer_lines_are_legal_and_end_on_different_points() -> None:
    before, line = (Positions().line(load_game("taugo(size=6)"), texts.split()) for texts in ("c3 g7", "c3 g7 c4"))
    assert list(longer_lines(before)) == []
    lines = [list(map(line.state.action_to_string, actions)) for actions in longer_lines(line)]
    assert set(map(" ".join, lines)) == {"d4 e4", "d4 e4 f4", "d4 e4 f4 g4", "c5 c6", "c5 c6 c7"}
    for actions in lines:
        assert Positions().line(load_game("taugo(size=6)"), [*line.actions, *actions[:-1]]).state.current_player() == 0
        Positions().line(load_game("taugo(size=6)"), [*line.actions, *actions])


class Play:
    """A game on the server, and its requests."""

    def __init__(self, client: httpx.Client, game: str, players: list[str | None], **fields: Any) -> None:
        self._client = client
        response = client.post("/api/games", json={"game": game, "players": players, **fields})
        self.view: dict[str, Any] = response.json()
        assert response.status_code == 200, response.text
        self.path = f"/api/games/{self.view['id']}"

    def send(self, name: str, *, status: int = 200, **fields: Any) -> Any:
        """Send a request about the current position, which becomes that of the answer."""
        node = {} if name == "players" else {"node": self.view["current"]}
        response = self._client.post(f"{self.path}/{name}", json=node | fields)
        assert response.status_code == status, response.text
        if status == 200 and "current" in response.json():
            self.view = response.json()
        return response.json()

    def act(self, action: str, **options: Any) -> Any:
        return self.send("act", action=action, **options)

    def get(self, name: str) -> httpx.Response:
        return self._client.get(f"{self.path}/{name}")


Start = Callable[..., Play]


@pytest.fixture
def start(client: httpx.Client) -> Start:
    return partial(Play, client)


@pytest.mark.parametrize(
    ("game", "bot", "number"),
    [*((game, None, 1) for game in SMALL_GAMES), ("laido(size=2)", None, 20), ("vadus(size=2)", "greedy", 8)],
)
def test_concurrent_games_do_not_mix(shared_server: Any, game: str, bot: str | None, number: int) -> None:
    def play_one(seed: int) -> None:
        generator = random.Random(seed)
        with shared_server.client() as client:
            play = Play(client, game, [None, bot])
            played: list[str] = []
            while play.view["result"] is None:
                if play.view["bot_to_move"]:
                    played += play.send("bot")["turns"][-1][1]
                else:
                    played.append(generator.choice(offered(play.view["position"])))
                    play.act(played[-1])
                assert play.view["position"]["actions"] == played
            record = GameRecord.from_json(play.get("record").text)
        assert list(record.actions) == played
        assert record.replay().outcome() is not None
        assert play.view["result"] == {"winner": record.winner, "reason": record.reason}

    with ThreadPoolExecutor(number) as pool:
        list(pool.map(play_one, range(number)))


@pytest.mark.parametrize("game", SMALL_GAMES)
def test_every_legal_action_is_offered_once_with_its_places(post: Any, game: str) -> None:
    generator = random.Random(2)
    loaded = load_game(game)
    state = loaded.new_initial_state()
    while not state.is_terminal():
        actions = [loaded.action_to_string(action) for action in state.history()]
        position = post("position", game=game, actions=actions)
        assert sorted(offered(position)) == sorted(map(loaded.action_to_string, state.legal_actions()))
        assert all(place in position["places"] for item in position["legal"] for place in item["path"])
        paths = [(item["label"], *item["path"]) for item in position["legal"]]
        assert len(set(paths)) == len(paths), "two actions that nobody can tell apart"
        state.apply_action(generator.choice(state.legal_actions()))


def test_a_turn_is_previewed_taken_back_and_committed(start: Start) -> None:
    play = start("vadus(size=3)", [None, None], confirm=True)
    play.act("c3")
    assert (play.view["complete_turn"], play.view["committed"]) == (True, 0)
    play.act("a3", status=409)
    assert play.send("take-back")["turns"] == []
    play.act("b3")
    view = play.send("commit")
    assert (view["committed"], view["position"]["player"]) == (view["current"], 1)
    assert not play.act("a3")["complete_turn"]
    play.send("commit", status=409)
    assert play.act("c3")["turns"][-1] == [1, ["a3", "c3"], "White"]
    assert play.send("undo")["turns"] == [[0, ["b3"], "Black"]]


def test_undo_goes_back_to_the_persons_own_turn_and_keeps_a_variation(start: Start) -> None:
    play = start("laido(size=3)", [None, "random"])
    assert play.act("c3")["bot_to_move"]
    first_answer = play.send("bot")["turns"][1]
    assert play.send("undo")["turns"] == []
    play.act("b2")
    nodes = play.get("tree").json()["nodes"]
    assert [row[2] for row in nodes] == ["", "c3", *first_answer[1], "b2"]
    play.send("bot", node=0, status=409)


def test_a_person_resigns_and_seats_are_flipped_to_named_bots(start: Start, client: httpx.Client) -> None:
    play = start("taugo(size=4)", ["random", None])
    assert play.send("resign")["result"] == {"winner": 0, "reason": "resignation"}
    assert play.send("undo")["result"] is None
    flipped = start("taugo(size=4)", [None, "random"])
    assert flipped.send("players", players=["random", None])["bot_to_move"]
    assert flipped.send("bot")["position"]["player"] == 1
    flipped.send("bot", status=409)  # it is the person's turn
    line = Positions().line(load_game("vadus(size=3)"), ())
    with pytest.raises(RequestError, match="the players have changed"):
        play_turn(new_game(line, ("greedy", None)), Positions(), 0, "mcts:10", ("c3",))
    query = {"game": "vadus(size=3)", "name": "mcts:17"}
    found = {"name": "mcts:17", "rating": None, "error": None, "values": True, "kind": "mcts", "searches": True}
    assert client.get("/api/bot", params=query).json() == found
    assert client.get("/api/bot", params=query | {"name": "exec:true"}).status_code == 400
    play = start("vadus(size=3)", [None, None])
    play.send("players", players=["mcts:17", None])
    assert len(play.send("bot")["turns"]) == 1


def test_moves_have_the_color_of_their_time_and_scores_are_those_of_the_players(start: Start, post: Any) -> None:
    # L1: player 0's stone stays black after the swap, and player 0 goes on as White.
    play = start("laido(size=3)", [None, None], actions=["c3", "swap", "b2"])
    moves = [[0, "c3", "Black"], [1, "swap", "White"], [0, "b2", "White"]]
    assert play.view["turns"] == [[player, [text], color] for player, text, color in moves]
    nodes = [row[2:] for row in play.get("tree").json()["nodes"]]
    assert nodes == [["", "", None, None], *([text, "", player, color] for player, text, color in moves)]
    # The only stone is black: its group is worth -1. After the swap, Black is player 1.
    for actions, score in ((["b4"], [[-1], []]), (["b4", "swap"], [[], [-1]])):
        position = post("position", game="laido(size=3)", actions=actions)
        assert position["score"] == score
        assert dict(zip(position["colors"], position["score"], strict=True)) == {"Black": [-1], "White": []}


def test_a_database_of_a_later_version_and_another_file_are_refused(tmp_path: Path) -> None:
    later, other = tmp_path / "later", tmp_path / "other" / "games.sqlite3"
    Store(later).close()
    with sqlite3.connect(later / "games.sqlite3") as database:
        database.execute("PRAGMA user_version = 99")
    with pytest.raises(ValueError, match="schema version 99"):
        Store(later)
    other.parent.mkdir()
    other.write_bytes(b"something else" * 1000)
    with pytest.raises(ValueError, match="not a database"):
        Store(other.parent)
    assert other.read_bytes() == b"something else" * 1000


def test_a_game_with_a_damaged_tree_is_an_error(start: Start, shared_server: Any, client: httpx.Client) -> None:
    for parent in (7, None):
        play = start("vadus(size=3)", [None, None], actions=["c1", "d1"])
        with sqlite3.connect(shared_server.data / "games.sqlite3") as database:
            database.execute("UPDATE nodes SET parent = ? WHERE game = ? AND node = 2", (parent, play.view["id"]))
        database.close()
        answer = client.get(play.path)
        assert answer.status_code == 500
        assert "damaged: node 2 has no parent before it" in answer.text


def test_a_damaged_game_does_not_hide_the_others(start: Start, shared_server: Any, client: httpx.Client) -> None:
    damaged, intact = start("vadus(size=3)", [None, None]), start("vadus(size=3)", [None, None])
    with sqlite3.connect(shared_server.data / "games.sqlite3") as database:
        database.execute("UPDATE games SET players = '[1]' WHERE id = ?", (damaged.view["id"],))
    database.close()
    listed = [game["id"] for game in client.get("/api/games").json()["games"]]
    assert intact.view["id"] in listed
    assert damaged.view["id"] not in listed
    assert int(client.get("/api/export").headers["stoneworks-games-left-out"]) >= 1
