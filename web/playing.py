"""Stored games: creating and changing them, turns of bots and hints, waiting for changes, and their records."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Annotated, Any, NotRequired

from pydantic import Field
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from typing_extensions import TypedDict

from stoneworks.documents import Tuple
from stoneworks.envs.drawing import draw
from stoneworks.envs.rules import Game, load_game
from stoneworks.extras import MissingDependencyError
from stoneworks.web import game_tree
from stoneworks.web.agents import Agents
from stoneworks.web.board import Line, PositionAnswer, Positions, Result, Turn, describe, name_of, turns_of
from stoneworks.web.bot_processes import BotProcesses, SharedJobs, TurnAnswer, wait_for
from stoneworks.web.game_tree import GameHeader, Players, StoredGame, Tree
from stoneworks.web.html_replay import svg_without_style
from stoneworks.web.requests import (
    MAX_BODY_BYTES,
    Actions,
    ActionText,
    Body,
    Comment,
    GameString,
    PageQuery,
    Query,
    RequestError,
    Title,
    get,
    post,
)
from stoneworks.web.store import Store

#: Timeout of a long-polling request for changes of a game.
_WAIT_SECONDS = 25.0


class NewGameBody(Body):
    """A new game; the options are in the game string or in ``options``, and ``tree`` begins with ``actions``."""

    game: GameString
    options: Annotated[dict[str, Any], Field(max_length=32)] = Field(default_factory=dict)
    players: Players
    confirm: bool = False
    actions: Actions = ()
    title: Title = ""
    tree: Tree | None = None


class ImportBody(Body):
    """Game records, one JSON object per line."""

    text: Annotated[str, Field(max_length=MAX_BODY_BYTES)]


class NodeBody(Body):
    """A node of a game: where an operation applies, or the position that it expects."""

    node: int = Field(ge=0, le=10**9)


class ActBody(NodeBody):
    """An action, and others of the same turn that follow it; whether the turn need not be confirmed.

    Attributes:
        instead: whether the action replaces the last one of the turn in progress.
    """

    action: ActionText
    then: Annotated[Tuple[ActionText], Field(max_length=64)] = ()
    commit: bool = False
    instead: bool = False


class CommentBody(NodeBody):
    """A comment on a position."""

    text: Comment


class VariationBody(NodeBody):
    """Actions after a node."""

    actions: Annotated[Tuple[ActionText], Field(max_length=1000)]


class PlayersBody(Body):
    """The players of a game: the name of a bot, or null for a person."""

    players: Players


class ConfirmBody(Body):
    """Whether turns need confirmation."""

    confirm: bool


class RevisionQuery(Query):
    """The revision of a game that the page shows."""

    revision: int = Field(0, ge=0)


class GameSummary(TypedDict):
    """A game in lists of games; see :class:`~stoneworks.web.game_tree.GameHeader`.

    Attributes:
        picture: the position as SVG, of games in progress on a list.
        person_to_move: whether a person is to move in it, likewise.
    """

    id: str
    game: str
    name: str
    title: str
    players: Sequence[str | None]
    updated: float
    result: Result | None
    picture: NotRequired[str]
    person_to_move: NotRequired[bool]


class GamesAnswer(TypedDict):
    """Games; for a page of the list the number of all; and for an import those that were stored before."""

    games: list[GameSummary]
    total: NotRequired[int]
    known: NotRequired[list[GameSummary]]


class GameView(GameSummary):
    """A game on the game page; see :class:`~stoneworks.web.game_tree.GameHeader`.

    Attributes:
        line: the nodes from the start to the current position.
        complete_turn: whether the turn in progress is complete and must be confirmed.
        position: the current position; without legal actions if no person is to move.
    """

    revision: int
    current: int
    committed: int
    line: list[int]
    confirm: bool
    complete_turn: bool
    turns: list[Turn]
    position: PositionAnswer
    bot_to_move: bool


class NodesAnswer(TypedDict):
    """The tree of a game as rows of node, parent, action, comment, player and color, parents before children."""

    nodes: list[tuple[int, int | None, str, str, int | None, str | None]]
    current: int


class VariationAnswer(NodesAnswer):
    """A tree with a new variation, which ends with ``node``."""

    node: int


class TreeAnswer(GameSummary, NodesAnswer):
    """A game with its tree."""


class HintAnswer(TurnAnswer):
    """The rest of a turn, and the bot that suggests it."""

    bot: str


def game_summary(stored: GameHeader) -> GameSummary:
    """Return a game for lists of games."""
    return {
        "id": stored.id,
        "game": stored.game,
        "name": _name_of(stored.game),
        "title": stored.title,
        "players": stored.players,
        "updated": stored.updated,
        "result": None if stored.reason is None else {"winner": stored.winner, "reason": stored.reason},
    }


def _name_of(game: str) -> str:
    """Return the name of a game, or the game string if the game cannot be loaded."""
    try:
        return name_of(load_game(game))
    except (ValueError, TypeError, OverflowError, MissingDependencyError):
        return game


def game_view(stored: StoredGame, positions: Positions) -> GameView:
    """Return a game for the game page."""
    line = game_tree.line_of(stored, positions)
    position = describe(line)
    over = stored.reason is not None
    complete_turn = game_tree.turn_is_complete(stored, line)
    bot_to_move = not over and position["player"] is not None and stored.players[position["player"]] is not None
    if over or bot_to_move or complete_turn:
        position = {**position, "legal": [], "buttons": [], "places": {}, "icons": {}, "instead": []}
    return {
        **game_summary(stored),
        "revision": stored.revision,
        "current": stored.current,
        "committed": stored.committed,
        "line": [0, *(node.node for node in stored.path(stored.current))],
        "confirm": stored.confirm,
        "complete_turn": complete_turn,
        "turns": turns_of(line),
        "position": position,
        "bot_to_move": bot_to_move and stored.current == stored.committed,
    }


class Changes:
    """The requests that wait for a change of a game. :meth:`notify` may be called from any thread."""

    def __init__(self) -> None:
        self._waiting: dict[asyncio.Event, tuple[str, asyncio.AbstractEventLoop]] = {}
        self._has_ended = False

    def notify(self, game_id: str | None) -> None:
        """Set the events of all requests waiting for a game; for None, for any."""
        for event, (waited_for, loop) in self._waiting.copy().items():
            if game_id in (waited_for, None):
                loop.call_soon_threadsafe(event.set)

    def end(self) -> None:
        """Set the events of all requests, of later ones too."""
        self._has_ended = True
        self.notify(None)

    @contextlib.contextmanager
    def next_change(self, game_id: str) -> Iterator[asyncio.Event]:
        """Yield an event that is set at the next change of a game."""
        event = asyncio.Event()
        if self._has_ended:
            event.set()
        self._waiting[event] = game_id, asyncio.get_running_loop()
        try:
            yield event
        finally:
            del self._waiting[event]


class GameRoutes:
    """Handlers for stored games."""

    def __init__(
        self, store: Store, changes: Changes, positions: Positions, agents: Agents, processes: BotProcesses
    ) -> None:
        self._store = store
        self._changes = changes
        self._positions = positions
        self._agents = agents
        self._processes = processes
        self._jobs = SharedJobs()
        self.routes = [
            get("/api/games", self._games, PageQuery),
            post("/api/games", self._new_game, NewGameBody),
            post("/api/import", self._import, ImportBody),
            get("/api/export", self._export_all),
            get("/api/games/{id}", self._game),
            get("/api/games/{id}/tree", self._tree),
            get("/api/games/{id}/wait", self._wait, RevisionQuery),
            get("/api/games/{id}/record", self._record),
            post("/api/games/{id}/delete", self._delete),
            post("/api/games/{id}/variation", self._variation, VariationBody),
            post("/api/games/{id}/bot", self._bot_turn, NodeBody),
            post("/api/games/{id}/hint", self._hint, NodeBody),
            *self._operations(),
        ]

    def _load(self, request: Request) -> StoredGame:
        return self._store.load(request.path_params["id"])

    def _games(self, _: Request, page: PageQuery) -> GamesAnswer:
        stored, number = self._store.recent(page.first, page.count)
        return {"games": [self._listed(game) for game in stored], "total": number}

    def _listed(self, header: GameHeader) -> GameSummary:
        """Return a game for a list, with its picture if it is in progress."""
        if header.reason is None:
            with contextlib.suppress(Exception):  # of other rules, damaged, or of a package that raises anything
                stored = self._store.load(header.id)
                line = game_tree.line_of(stored, self._positions)
                is_person = not line.state.is_terminal() and stored.players[line.state.current_player()] is None
                picture = svg_without_style(draw(line.state, coordinates=False))
                return {**game_summary(header), "picture": picture, "person_to_move": is_person}
        return game_summary(header)

    def _new_game(self, _: Request, asked: NewGameBody) -> GameView:
        game = self._positions.game(asked.game, asked.options)
        line = self._positions.line(game, asked.actions)
        new = game_tree.new_game(
            line,
            self._checked(asked.players, game),
            confirm=asked.confirm,
            title=asked.title,
            nodes=None if asked.tree is None else game_tree.nodes_of(asked.tree, game, line.actions, self._positions),
        )
        return game_view(self._store.create([new])[0][0], self._positions)

    def _checked(self, players: Sequence[str | None], game: Game) -> tuple[str | None, ...]:
        for player in players:
            if player is not None:
                self._agents.check(player, game)
        return tuple(players)

    def _game(self, request: Request, _: Query) -> GameView:
        return game_view(self._load(request), self._positions)

    def _tree(self, request: Request, _: Query) -> TreeAnswer:
        stored = self._load(request)
        return {**game_summary(stored), **self._nodes(stored)}

    def _nodes(self, stored: StoredGame) -> NodesAnswer:
        movers = game_tree.movers_of(stored, self._positions)
        rows = [(*node, *movers.get(number, (None, None))) for number, node in sorted(stored.nodes.items())]
        return {"nodes": rows, "current": stored.current}

    def _operations(self) -> list[Route]:
        """Return the routes of user actions that change a game."""
        positions = self._positions

        def operation(name: str, body: type[Body], make: Callable[[StoredGame, Any], StoredGame]) -> Route:
            def handle(request: Request, asked: Body) -> GameView:
                stored = self._store.change(request.path_params["id"], lambda stored: make(stored, asked))
                return game_view(stored, positions)

            return post(f"/api/games/{{id}}/{name}", handle, body)

        def players(stored: StoredGame, asked: PlayersBody) -> StoredGame:
            chosen = self._checked(asked.players, positions.game(stored.game))
            return game_tree.without_turn_in_progress(stored).replace(players=chosen)

        return [
            operation(
                "act",
                ActBody,
                lambda game, asked: game_tree.act(
                    game,
                    positions,
                    asked.node,
                    (asked.action, *asked.then),
                    confirm=game.confirm and not asked.commit,
                    instead=asked.instead,
                ),
            ),
            operation("commit", NodeBody, lambda game, asked: game_tree.commit(game, positions, asked.node)),
            operation("take-back", NodeBody, lambda game, asked: game_tree.take_back(game, asked.node)),
            operation("undo", NodeBody, lambda game, asked: game_tree.undo(game, positions, asked.node)),
            operation("resign", NodeBody, lambda game, asked: game_tree.resign(game, positions, asked.node)),
            operation("players", PlayersBody, players),
            operation(
                "confirm", ConfirmBody, lambda game, asked: game_tree.set_confirm(game, positions, asked.confirm)
            ),
            operation("comment", CommentBody, lambda game, asked: game_tree.comment(game, asked.node, asked.text)),
            operation("prune", NodeBody, lambda game, asked: game_tree.prune(game, asked.node)),
        ]

    def _variation(self, request: Request, asked: VariationBody) -> VariationAnswer:
        stored = self._store.change(
            request.path_params["id"],
            lambda stored: game_tree.add_variation(stored, self._positions, asked.node, asked.actions),
        )
        return {**self._nodes(stored), "node": stored.add(asked.node, asked.actions)[1]}

    def _delete(self, request: Request, _: Body) -> dict[str, Any]:
        self._store.delete(request.path_params["id"])
        return {}

    def _turn_job(
        self, request: Request, asked: NodeBody, choose: Callable[[StoredGame, Line], str]
    ) -> tuple[str, dict[str, Any]]:
        """Return the name of the chosen bot, and its job."""
        stored = self._load(request)
        game_tree.check_current(stored, asked.node)
        line = game_tree.line_of(stored, self._positions)
        bot = choose(stored, line)
        spec = self._agents.check(bot, line.state.get_game())
        return bot, {"kind": "turn", "game": stored.game, "actions": line.actions, "bot": spec.name}

    async def _bot_turn(self, request: Request, asked: NodeBody) -> GameView:
        """Play the turn of the bot to move."""
        game_id = request.path_params["id"]

        def bot_to_move(stored: StoredGame, line: Line) -> str:
            if stored.current != stored.committed:
                raise RequestError("a turn is in progress", 409)
            return game_tree.bot_to_move(stored, line)

        bot, job = await run_in_threadpool(self._turn_job, request, asked, bot_to_move)

        def play(actions: Sequence[str]) -> GameView:
            stored = self._store.change(
                game_id, lambda stored: game_tree.play_turn(stored, self._positions, asked.node, bot, actions)
            )
            return game_view(stored, self._positions)

        async def make() -> GameView:
            answer: TurnAnswer = await self._processes.run(job)
            return await run_in_threadpool(play, answer["actions"])

        return await self._jobs.run(request, ("turn", game_id, asked.node, bot), make)

    async def _hint(self, request: Request, asked: NodeBody) -> HintAnswer:
        def adviser(stored: StoredGame, line: Line) -> str:
            game_tree.player_to_move(stored, line)
            return self._agents.adviser(line.state.get_game())

        bot, job = await run_in_threadpool(self._turn_job, request, asked, adviser)
        key = ("hint", job["game"], job["actions"])
        answer: TurnAnswer = await self._jobs.run(request, key, lambda: self._processes.run(job))
        return {"bot": bot, "actions": answer["actions"]}

    async def _wait(self, request: Request, asked: RevisionQuery) -> GameView:
        """Respond with the game once its revision differs from the given one, or after a timeout."""
        game_id = request.path_params["id"]
        with self._changes.next_change(game_id) as event:
            stored = await run_in_threadpool(self._load, request)
            if stored.revision == asked.revision:
                changed = asyncio.ensure_future(event.wait())
                try:
                    await wait_for(request, changed, _WAIT_SECONDS)
                finally:
                    changed.cancel()
                stored = await run_in_threadpool(self._load, request)
        return await run_in_threadpool(game_view, stored, self._positions)

    def _import(self, _: Request, asked: ImportBody) -> GamesAnswer:
        created, known = self._store.create(game_tree.games_of(asked.text, self._positions))
        return {"games": [game_summary(game) for game in created], "known": [game_summary(game) for game in known]}

    def _record(self, request: Request, _: Query) -> Response:
        record = game_tree.record_of(self._load(request), self._positions)
        return _download(record.to_json() + "\n", f"{record.game.partition('(')[0]}-{request.path_params['id']}.jsonl")

    def _export_all(self, _: Request, __: Query) -> Response:
        """Return the records of all games that can be replayed; the others are counted in a header."""
        lines, num_left_out = [], 0
        for game_id in self._store.all_ids():
            try:
                lines.append(game_tree.record_of(self._store.load(game_id), self._positions).to_json())
            except RequestError:  # of another version of the rules, without its plug-in, damaged, or just deleted
                num_left_out += 1
        response = _download("".join(line + "\n" for line in lines), "games.jsonl")
        response.headers["stoneworks-games-left-out"] = str(num_left_out)
        return response


def _download(text: str, name: str) -> Response:
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(text, media_type="application/x-ndjson", headers=headers)
