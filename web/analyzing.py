"""Games, bots, positions and analyses: what the page asks for without a stored game."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
from collections import OrderedDict
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from functools import lru_cache
from typing import Annotated, Any

from pydantic import Field
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from typing_extensions import TypedDict

from stoneworks.documents import Tuple
from stoneworks.envs.rules import Game, IllegalActionError
from stoneworks.web.agents import Agents, BotAnswer, ListedBot
from stoneworks.web.board import (
    ENGINE_FOLDER,
    GameDescription,
    Heat,
    Illustration,
    Line,
    PositionAnswer,
    Positions,
    describe,
    game_descriptions,
    illustrated_rules,
    reasons_at,
)
from stoneworks.web.bot_processes import (
    AnalysisAnswer,
    BotProcesses,
    PreparedAnswer,
    SharedJobs,
    ValuesAnswer,
    WorkerError,
    version_of,
    wait_for,
)
from stoneworks.web.requests import (
    INTERNAL_ERROR,
    MAX_ACTIONS,
    MAX_COMMENT_CHARACTERS,
    Actions,
    ActionText,
    Body,
    BotName,
    GameString,
    Query,
    RequestError,
    get,
    post,
)

_LOG = logging.getLogger(__name__)

#: Number of analyses that are remembered.
_MAX_ANALYSES = 1000
#: Number of positions evaluated per request.
_MAX_CURVE_POSITIONS = 16


_Shares = Annotated[dict[str, Annotated[float, Field(ge=0, le=1)]], Field(max_length=MAX_ACTIONS)]


class GameQuery(Query):
    """A game by its game string."""

    game: GameString


class BotQuery(GameQuery):
    """A bot that was typed by name."""

    name: BotName


class LineBody(Body):
    """A position."""

    game: GameString
    actions: Actions = ()


class PositionBody(LineBody):
    """A position, with a heat map (see :class:`~stoneworks.web.board.Heat`) and a line to draw as numbered stones."""

    heat: _Shares | None = None
    certainty: _Shares | None = None
    line: Annotated[Tuple[ActionText], Field(max_length=64)] = ()


class ClickBody(LineBody):
    """A click on the picture of a position, after those on the places ``chosen``."""

    x: float
    y: float
    chosen: Annotated[Tuple[ActionText], Field(max_length=8)] = ()


class AnalyzeBody(LineBody):
    """A position and a bot that analyzes it."""

    bot: BotName


class BotBody(Body):
    """A game and a bot to prepare for it."""

    game: GameString
    bot: BotName


class ValuesBody(AnalyzeBody):
    """The positions after ``first``, ``first + 1``, ... of the actions, and a bot that evaluates them."""

    first: int = Field(0, ge=0)
    count: int | None = Field(None, ge=1, le=_MAX_CURVE_POSITIONS)


class InfoAnswer(TypedDict):
    """The games, limits, and what the server has.

    Attributes:
        comment_characters: the limit of a comment.
        curve_positions: the limit of a request for values.
        watching: whether folders are watched.
        modules: whether there are games for the browser.
    """

    games: list[GameDescription]
    comment_characters: int
    curve_positions: int
    watching: bool
    modules: bool


class RulesAnswer(TypedDict):
    """The illustrated rules of a game."""

    illustrations: list[Illustration]


class BotsAnswer(TypedDict):
    """The bots for a game, weakest first, those without a rating last."""

    bots: list[ListedBot]


class ReasonsAnswer(TypedDict):
    """The rulings that a click breaks; none if it is legal."""

    reasons: list[str]


class BotAnalysis(AnalysisAnswer):
    """An analysis, and the bot by the name in the request."""

    bot: str


class AnalysisRoutes:
    """Handlers for games, bots, positions and analyses."""

    def __init__(self, positions: Positions, agents: Agents, processes: BotProcesses, *, watching: bool) -> None:
        self._positions = positions
        self._agents = agents
        self._processes = processes
        self._jobs = SharedJobs()
        self._watching = watching
        self._analyses: OrderedDict[Any, Any] = OrderedDict()
        self.routes = [
            get("/api/info", self._info),
            get("/api/rules", self._rules, GameQuery),
            get("/api/bots", self._bots, GameQuery),
            get("/api/bot", self._bot, BotQuery),
            post("/api/prepare", self._prepare, BotBody),
            post("/api/position", self._position, PositionBody),
            post("/api/why", self._why, ClickBody),
            post("/api/analyze", self._analyze, AnalyzeBody),
            post("/api/analyze/stream", self._stream, AnalyzeBody),
            post("/api/values", self._values, ValuesBody),
        ]

    def _info(self, _: Request, __: Query) -> InfoAnswer:
        return {
            "games": game_descriptions(),
            "comment_characters": MAX_COMMENT_CHARACTERS,
            "curve_positions": _MAX_CURVE_POSITIONS,
            "watching": self._watching,
            "modules": (ENGINE_FOLDER / "games/games.json").exists(),
        }

    def _rules(self, _: Request, asked: GameQuery) -> RulesAnswer:
        return {"illustrations": illustrated_rules(self._positions.game(asked.game))}

    def _bots(self, _: Request, asked: GameQuery) -> BotsAnswer:
        return {"bots": self._agents.listed(self._positions.game(asked.game))}

    def _bot(self, _: Request, asked: BotQuery) -> BotAnswer:
        return self._agents.describe(asked.name, self._positions.game(asked.game))

    def _line(self, asked: LineBody) -> Line:
        return self._positions.line(self._positions.game(asked.game), asked.actions)

    def _job_in_progress(self, asked: AnalyzeBody) -> dict[str, Any]:
        """Return the job of a bot in a position of a game in progress."""
        line = self._line(asked)
        if line.state.is_terminal():
            raise RequestError("the game is over", 409)
        return self._job(asked, line)

    def _job(self, asked: AnalyzeBody, line: Line) -> dict[str, Any]:
        game = line.state.get_game()
        spec = self._agents.check(asked.bot, game)
        # The version tells analyses of a checkpoint from those of an earlier one in the same folder.
        return {"game": str(game), "actions": line.actions, "bot": spec.name, "version": version_of(spec)}

    async def _prepare(self, request: Request, asked: BotBody) -> PreparedAnswer:
        """Compile the kernels of a game and a bot, once on a machine, and load them into a process."""

        def first_position() -> dict[str, Any]:
            line = self._line(LineBody(game=asked.game))
            describe(line)  # in this process
            return self._job(AnalyzeBody(game=asked.game, bot=asked.bot), line)

        job = await run_in_threadpool(first_position)
        key = ("prepare", job["game"], job["bot"], job["version"])
        answer: PreparedAnswer = await self._jobs.run(
            request, key, lambda: self._processes.run(job | {"kind": "prepare"})
        )
        return answer

    def _position(self, _: Request, asked: PositionBody) -> PositionAnswer:
        """Return a position; the case of its actions may be another."""
        game = self._positions.game(asked.game)
        known = _texts_by_typed(game)
        line = self._positions.line(game, [known.get(text) or known.get(text.lower(), text) for text in asked.actions])
        heat = None
        if asked.heat is not None:
            certainty = None if asked.certainty is None else _by_action(game, asked.certainty)
            heat = Heat(_by_action(game, asked.heat), certainty)
        return describe(line, heat=heat, shown_line=asked.line)

    def _why(self, _: Request, asked: ClickBody) -> ReasonsAnswer:
        return {"reasons": reasons_at(self._line(asked).state, asked.x, asked.y, asked.chosen)}

    async def _analyze(self, request: Request, asked: AnalyzeBody) -> BotAnalysis:
        job = await run_in_threadpool(self._job_in_progress, asked)
        found: AnalysisAnswer = await self._remembered(request, job | {"kind": "analyze"})
        return {**found, "bot": asked.bot}

    async def _stream(self, request: Request, asked: AnalyzeBody) -> Response:
        """Return events with growing analyses until the client disconnects, or until the time limit of a bot."""
        found = self._processes.stream(await run_in_threadpool(self._job_in_progress, asked))
        first = await _first_unless_gone(request, found)  # its errors have a status

        async def events() -> AsyncIterator[str]:
            async with contextlib.aclosing(found):
                try:
                    if first is not None:
                        yield _event(BotAnalysis(**first, bot=asked.bot))
                    async for one in found:
                        yield _event(BotAnalysis(**one, bot=asked.bot))
                except RequestError as error:
                    yield _event({"error": str(error)})
                except WorkerError:
                    _LOG.exception("an analysis failed")
                    yield _event({"error": INTERNAL_ERROR})

        return StreamingResponse(events(), media_type="text/event-stream")

    async def _values(self, request: Request, asked: ValuesBody) -> ValuesAnswer:
        """Return the values of a range of positions, for the value curve; fewer of them if the bot is slow."""
        line = await run_in_threadpool(self._line, asked)
        left = len(line.actions) + 1 - asked.first
        if left < 1:
            raise RequestError(f"first must be <= {len(line.actions)}, the number of actions, got {asked.first}")
        count = min(asked.count or _MAX_CURVE_POSITIONS, left)
        seconds = self._agents.thinking_seconds / 4  # one step may take half of thinking_seconds
        job = await run_in_threadpool(self._job, asked, line)
        return await self._remembered(
            request, job | {"kind": "values", "first": asked.first, "count": count, "seconds": seconds}
        )

    async def _remembered(self, request: Request, job: dict[str, Any]) -> Any:
        """Return the result of a job, from the cache if an equal job has been run."""
        key = tuple(job.values())
        if key not in self._analyses:
            self._analyses[key] = await self._jobs.run(request, key, lambda: self._processes.run(job))
            while len(self._analyses) > _MAX_ANALYSES:
                self._analyses.popitem(last=False)
        return self._analyses[key]


async def _first_unless_gone(request: Request, found: AsyncGenerator[AnalysisAnswer, None]) -> AnalysisAnswer | None:
    """Return the first of the results, or None if there are none.

    Raises:
        RequestError: the client disconnected.
    """
    first: asyncio.Future[AnalysisAnswer | None] = asyncio.ensure_future(anext(found, None))
    try:
        await wait_for(request, first)
        return first.result()
    finally:
        first.cancel()


def _by_action(game: Game, shares: Mapping[str, float]) -> dict[int, float]:
    try:
        return {game.string_to_action(text): share for text, share in shares.items()}
    except IllegalActionError as error:
        raise RequestError(str(error)) from None


def _event(fields: Mapping[str, Any]) -> str:
    """Return a server-sent event."""
    return f"data: {json.dumps(fields)}\n\n"


@lru_cache(maxsize=16)
def _texts_by_typed(game: Game) -> dict[str, str]:
    """Return the texts of the actions by themselves and by how they are typed in lower case."""
    exact = {text: text for text in game.action_texts}
    return {text.lower(): text for text in game.action_texts} | exact
