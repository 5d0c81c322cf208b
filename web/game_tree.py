"""Stored games as trees of positions: actions, turns, undo, variations, and their conversion from and to game records."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

from pydantic import ConfigDict, Field, field_validator

from stoneworks.documents import Document, Tuple
from stoneworks.envs.rules import Game, Outcome
from stoneworks.evaluation.records import GameRecord, GameRecordError
from stoneworks.web.board import Line, Positions, outcome_of, without_position
from stoneworks.web.requests import Body, BotName, Comment, RequestError, Title

RESIGNATION = "resignation"
PERSON = "human"
#: Maximum number of nodes of a game.
MAX_NODES = 20_000
_MAX_IMPORTED_RECORDS = 200

Player = Literal[0, 1]
Players = Annotated[Tuple[BotName | None], Field(min_length=2, max_length=2)]


class Node(NamedTuple):
    """A node in the tree of a game: its number, its parent's number, the action that leads to it, and a comment."""

    node: int
    parent: int | None
    action: str
    comment: str = ""


START = Node(0, None, "")


class GameHeader(Document):
    """Stored data of a game besides its tree, in the order of the columns in the database.

    Attributes:
        id: identifier of the game in the database and in URLs; empty until it is stored.
        game: the game string.
        version: version of the game's rules (``Game.version``).
        title: title given by the user; may be empty.
        players: the bot name of each seat, or None for a human player.
        confirm: whether a turn must be confirmed explicitly.
        current: the node of the position on the board.
        committed: the node after the last committed turn; the actions between it and ``current`` are the turn in progress.
        winner: the winning player; None for a draw or an unfinished game.
        reason: how the game ended; None if unfinished.
        revision: incremented with every change.
        created: time of creation in seconds since 1970.
        updated: time of the last change.
    """

    error: ClassVar[type[ValueError]] = RequestError

    id: str = ""
    game: str
    version: int
    title: Title = ""
    players: Players
    confirm: bool = False
    current: int
    committed: int
    winner: Player | None = None
    reason: str | None = None
    revision: int = 0
    created: float = 0.0
    updated: float = 0.0


class StoredGame(GameHeader):
    """A stored game.

    Attributes:
        nodes: the nodes by number. Node 0 is the initial position; every other node is an action applied to its parent,
            which has a smaller number.
    """

    nodes: dict[int, Node]

    def path(self, node: int) -> list[Node]:
        """Return the path from the start (exclusive) to ``node``. Raises :class:`RequestError` for an unknown node."""
        path: list[Node] = []
        if node not in self.nodes:
            raise RequestError(f"game {self.id} has no node {node}", 404)
        at = self.nodes[node]
        while at.parent is not None:
            path.append(at)
            at = self.nodes[at.parent]
        return path[::-1]

    def add(self, parent: int, actions: Iterable[str]) -> tuple[StoredGame, int]:
        """Return the game with the actions after ``parent``, and the last of their nodes. Existing nodes are reused."""
        nodes, at = dict(self.nodes), parent
        for action in actions:
            known = (number for number, node in nodes.items() if node.parent == at and node.action == action)
            number = next(known, max(nodes) + 1)
            nodes.setdefault(number, Node(number, at, action))
            at = number
        return self.replace(nodes=nodes), at


def new_game(
    line: Line,
    players: Sequence[str | None] = (None, None),
    *,
    confirm: bool = False,
    title: str = "",
    nodes: dict[int, Node] | None = None,
) -> StoredGame:
    """Create a game that starts with the actions of a line, all committed.

    Args:
        line: the actions.
        players: the bot name of each seat, or None for a human player.
        confirm: whether turns must be confirmed.
        title: the title.
        nodes: a tree that begins with the actions of the line; by default these alone.
    """
    game, length = line.state.get_game(), len(line.actions)
    if nodes is None:
        nodes = {0: START} | {n: Node(n, n - 1, action) for n, action in enumerate(line.actions, start=1)}
    return StoredGame(
        game=str(game),
        version=game.version,
        title=title,
        players=tuple(players),
        confirm=confirm,
        current=length,
        committed=length,
        nodes=nodes,
        **_result(line),
    )


def _result(line: Line) -> dict[str, Any]:
    return dict(outcome_of(line.state) or {"winner": None, "reason": None})


def line_of(stored: StoredGame, positions: Positions, node: int | None = None) -> Line:
    """Return the position at a node, by default the current one. Raises :class:`RequestError` for an unknown node."""
    game = positions.game(stored.game)
    if game.version != stored.version:
        raise RequestError(
            f"this game was played with version {stored.version} of {game.name}; the present version is {game.version}",
            409,
        )
    path = stored.path(stored.current if node is None else node)
    return positions.line(game, [step.action for step in path])


# -- Playing ---------------------------------------------------------------------------------------------------------------


def check_current(stored: StoredGame, node: int) -> None:
    """Raise :class:`RequestError` if ``node`` is not the current position, e.g. after a concurrent move."""
    if stored.current != node:
        raise RequestError("the game has changed meanwhile", 409)


def player_to_move(stored: StoredGame, line: Line) -> int:
    """Return the player to move. Raises :class:`RequestError` if the game is over."""
    if stored.reason is not None or line.state.is_terminal():
        raise RequestError("the game is over", 409)
    return line.state.current_player()


def bot_to_move(stored: StoredGame, line: Line) -> str:
    """Return the name of the bot to move. Raises :class:`RequestError` if the game is over or a person is to move."""
    bot = stored.players[player_to_move(stored, line)]
    if bot is None:
        raise RequestError("a person is to move", 409)
    return bot


def turn_is_complete(stored: StoredGame, line: Line) -> bool:
    """Return whether the turn in progress is complete but not committed."""
    in_progress = len(stored.path(stored.current)) - len(stored.path(stored.committed))
    return in_progress > 0 and line.turn_start == len(line.actions)


def act(
    stored: StoredGame, positions: Positions, node: int, actions: Sequence[str], *, confirm: bool, instead: bool = False
) -> StoredGame:
    """Return the game after actions of a human player, all of one turn, which is committed unless it is to be confirmed.

    With ``instead``, they replace the last action.
    """
    check_current(stored, node)
    if instead:
        stored = take_back(stored, node)
        node = stored.current
    line = line_of(stored, positions)
    if turn_is_complete(stored, line):
        raise RequestError("commit the turn, or take it back, before the next one", 409)
    player = player_to_move(stored, line)
    if stored.players[player] is not None:
        raise RequestError(f"{stored.players[player]} is to move", 409)
    after_actions = positions.line(line.state.get_game(), (*line.actions, *actions))
    if set(after_actions.movers[len(line.actions) :]) != {player}:
        raise RequestError("the actions must be of one turn")
    after, current = stored.add(node, actions)
    return set_confirm(after.replace(current=current), positions, confirm).replace(confirm=stored.confirm)


def set_confirm(stored: StoredGame, positions: Positions, confirm: bool) -> StoredGame:
    """Set whether turns need confirmation. Without confirmation, a complete turn is committed immediately."""
    changed = stored.replace(confirm=confirm)
    if not confirm and turn_is_complete(changed, line_of(changed, positions)):
        return commit(changed, positions, changed.current)
    return changed


def commit(stored: StoredGame, positions: Positions, node: int) -> StoredGame:
    """Return the game with the turn in progress committed."""
    check_current(stored, node)
    line = line_of(stored, positions)
    if not turn_is_complete(stored, line):
        raise RequestError("there is no complete turn to commit", 409)
    return stored.replace(committed=stored.current, **_result(line))


def take_back(stored: StoredGame, node: int) -> StoredGame:
    """Return the game without the last action of the turn in progress."""
    check_current(stored, node)
    if stored.current == stored.committed:
        raise RequestError("there is no action to take back; undo goes back before the last turn", 409)
    last = stored.nodes[stored.current]
    nodes = dict(stored.nodes)
    if not last.comment and all(node.parent != last.node for node in nodes.values()):
        del nodes[last.node]
    return stored.replace(current=last.parent, nodes=nodes)


def without_turn_in_progress(stored: StoredGame) -> StoredGame:
    """Return the game after its last committed turn."""
    while stored.current != stored.committed:
        stored = take_back(stored, stored.current)
    return stored


def play_turn(stored: StoredGame, positions: Positions, node: int, bot: str, actions: Sequence[str]) -> StoredGame:
    """Return the game after the actions of a bot. Raises :class:`RequestError` if ``bot`` is no longer to move."""
    check_current(stored, node)
    line = line_of(stored, positions)
    if bot_to_move(stored, line) != bot:
        raise RequestError("the players have changed meanwhile", 409)
    positions.line(line.state.get_game(), (*line.actions, *actions))
    after, current = stored.add(node, actions)
    after = after.replace(current=current)
    if turn_is_complete(after, line_of(after, positions)):
        return commit(after, positions, current)
    return after.replace(committed=current)  # one chunk of a very long turn


def undo(stored: StoredGame, positions: Positions, node: int) -> StoredGame:
    """Undo the turn in progress or, if there is none, everything since the last turn of a human player began.

    Without human players, undo the last turn. Committed turns stay in the tree as variations.
    """
    check_current(stored, node)
    if stored.current != stored.committed:
        return without_turn_in_progress(stored)
    if stored.reason == RESIGNATION:
        return stored.replace(winner=None, reason=None)
    line = line_of(stored, positions)
    start = line.start_of_last_turn()
    while start > 0 and stored.players[line.movers[start]] is not None and None in stored.players:
        start = line.start_of_last_turn(start)
    if not line.actions or (None in stored.players and stored.players[line.movers[start]] is not None):
        raise RequestError("there is no turn to undo", 409)
    before = [START, *stored.path(stored.current)][start].node
    return stored.replace(current=before, committed=before, winner=None, reason=None)


def resign(stored: StoredGame, positions: Positions, node: int) -> StoredGame:
    """Resign for the human player to move, or for the only human player."""
    check_current(stored, node)
    stored = without_turn_in_progress(stored)
    player = player_to_move(stored, line_of(stored, positions))
    persons = [seat for seat in (0, 1) if stored.players[seat] is None]
    if not persons:
        raise RequestError("no person plays in this game", 409)
    loser = player if player in persons else persons[0]
    return stored.replace(winner=1 - loser, reason=RESIGNATION)


# -- Variations and comments -----------------------------------------------------------------------------------------------


def add_variation(stored: StoredGame, positions: Positions, parent: int, actions: Sequence[str]) -> StoredGame:
    """Add actions after ``parent`` to the tree, without changing the current position."""
    line = line_of(stored, positions, parent)
    positions.line(line.state.get_game(), (*line.actions, *actions))
    return stored.add(parent, actions)[0]


def comment(stored: StoredGame, node: int, text: str) -> StoredGame:
    """Replace the comment of a node."""
    stored.path(node)
    return stored.replace(nodes=stored.nodes | {node: stored.nodes[node]._replace(comment=text)})


def prune(stored: StoredGame, node: int) -> StoredGame:
    """Remove a node and its descendants."""
    stored.path(node)
    if node in {0, *(step.node for step in stored.path(stored.current))}:
        raise RequestError("the moves of the game itself cannot be deleted; undo goes back before them", 409)
    gone = {node}
    for number in sorted(stored.nodes):  # parents have smaller numbers than their children
        if stored.nodes[number].parent in gone:
            gone.add(number)
    return stored.replace(nodes={number: kept for number, kept in stored.nodes.items() if number not in gone})


def movers_of(stored: StoredGame, positions: Positions) -> dict[int, tuple[int, str]]:
    """Return the player who made the action of each node except the first, and that player's color."""
    colors = positions.game(stored.game).colors
    lines = {number: line_of(stored, positions, number) for number in stored.nodes if number}
    return {number: (line.movers[-1], colors[line.mover_colors[-1]]) for number, line in lines.items()}


# -- Records ---------------------------------------------------------------------------------------------------------------


class TreeNode(Body):
    """A node of a tree in a request or a record; nodes are numbered in the order in which they are listed."""

    parent: int | None
    action: str
    comment: Comment = ""


Tree = Annotated[Tuple[TreeNode], Field(max_length=MAX_NODES)]


class _Metadata(Body):
    """Fields of the page in the metadata of a record; other keys are ignored."""

    model_config = ConfigDict(extra="ignore")

    id: str = ""
    title: Title = ""
    resigned_by: Player | None = None
    tree: Tree | None = None

    @field_validator("id", mode="before")
    @classmethod
    def _of_the_page(cls, value: object) -> str:
        """Return an id of the page, and the empty string for what others call an id."""
        return value if isinstance(value, str) and re.fullmatch(r"[\w-]{11}", value, re.ASCII) else ""


def record_of(stored: StoredGame, positions: Positions) -> GameRecord:
    """Convert a stored game to a game record that ends with the last committed turn.

    The metadata contains ``id``, by which an import knows the game, ``title``, ``resigned_by`` (a player) and ``tree``: a list
    of nodes with ``parent``, ``action`` and ``comment``, with the moves of the game first. The record of a resigned game has no
    result (unfinished).
    """
    line = line_of(stored, positions, stored.committed)
    path = [0, *(node.node for node in stored.path(stored.committed))]
    order = path + sorted(stored.nodes.keys() - set(path))
    place = {number: index for index, number in enumerate(order)}
    nodes = [stored.nodes[number] for number in order]
    metadata: dict[str, Any] = {"id": stored.id}
    if stored.title:
        metadata["title"] = stored.title
    if stored.reason == RESIGNATION and stored.winner is not None:
        metadata["resigned_by"] = 1 - stored.winner
    if len(order) > len(path) or any(node.comment for node in nodes):
        metadata["tree"] = [
            {"parent": None if node.parent is None else place[node.parent], "action": node.action}
            | ({"comment": node.comment} if node.comment else {})
            for node in nodes
        ]
    players = (stored.players[0] or PERSON, stored.players[1] or PERSON)
    outcome = None if stored.reason in (None, RESIGNATION) else Outcome(stored.winner, stored.reason)
    return GameRecord.of_game(line.state.get_game(), line.state.history(), outcome, players, metadata=metadata)


def games_of(text: str, positions: Positions) -> list[StoredGame]:
    """Parse game records, one JSON object per line.

    Raises:
        RequestError: a line is not a valid record, or its game contains an illegal action; the message contains the
            line number.
    """
    lines = [(number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip()]
    if not 1 <= len(lines) <= _MAX_IMPORTED_RECORDS:
        raise RequestError(f"an import must hold 1 to {_MAX_IMPORTED_RECORDS} records, got {len(lines)}")
    games = []
    for number, line in lines:
        try:
            games.append(_game_of(GameRecord.from_json(line, f"line {number}"), positions))
        except (GameRecordError, RequestError, RecursionError) as error:
            message = without_position(error)
            raise RequestError(message if message.startswith("line ") else f"line {number}: {message}") from None
    return games


def _game_of(record: GameRecord, positions: Positions) -> StoredGame:
    game = positions.game(record.game)  # rejects boards that are too large before replaying
    record.replay()
    metadata = _Metadata.parse(dict(record.metadata), "the metadata")
    nodes = None if metadata.tree is None else nodes_of(metadata.tree, game, record.actions, positions)
    title = metadata.title or " – ".join(record.players)[:100]
    stored = new_game(positions.line(game, record.actions), title=title, nodes=nodes)
    winner, reason = record.winner, record.reason
    if reason is None and metadata.resigned_by is not None:
        winner, reason = 1 - metadata.resigned_by, RESIGNATION
    if reason is not None:  # an unfinished game is continued by persons, until others are chosen
        players = tuple(None if name == PERSON else name for name in record.players)
        stored = stored.replace(players=players)
    return stored.replace(id=metadata.id, winner=winner, reason=reason)


def nodes_of(tree: Sequence[TreeNode], game: Game, actions: Sequence[str], positions: Positions) -> dict[int, Node]:
    """Return the nodes of a tree, whose actions are validated by replay.

    Raises:
        RequestError: a node is invalid, or the tree does not begin with ``actions``.
    """
    nodes: dict[int, Node] = {}
    reached: list[tuple[str, ...]] = []
    for number, node in enumerate(tree):
        if number == 0:
            if node.parent is not None or node.action:
                raise RequestError("node 0 of the tree must be the start, without parent and action")
            reached.append(())
        else:
            if node.parent is None or not 0 <= node.parent < number:
                raise RequestError(f"the parent of node {number} must be an earlier node, got {node.parent!r}")
            reached.append((*reached[node.parent], node.action))
            positions.line(game, reached[number])
        nodes[number] = Node(number, node.parent, node.action, node.comment)
    if len(nodes) <= len(actions) or reached[len(actions)] != tuple(actions):
        raise RequestError("the tree must begin with the moves of the game")
    return nodes
