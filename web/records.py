"""Conversion between stored games and game records, with variations and comments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stoneworks.envs.rules import Game
from stoneworks.evaluation.records import GameRecord, RecordError
from stoneworks.web.errors import RequestError
from stoneworks.web.fields import check_text
from stoneworks.web.limits import Limits
from stoneworks.web.play import RESIGNATION, START, line_of
from stoneworks.web.positions import Positions
from stoneworks.web.store import NewGame, Node, StoredGame

PERSON = "human"
_TREE = "tree"
_TITLE = "title"
_RESIGNED = "resigned_by"


def record_of(stored: StoredGame, positions: Positions) -> GameRecord:
    """Convert a stored game to a game record that ends with the last committed turn.

    The metadata contains ``title``, ``resigned_by`` (a player) and ``tree``: a list of nodes with ``parent``, ``action`` and
    ``comment``, with the moves of the game first. The record of a resigned game has no result (unfinished).
    """
    line = line_of(stored, positions, stored.committed)
    path = [0, *(node.node for node in stored.path(stored.committed))]
    order = path + [number for number in sorted(stored.nodes) if number not in set(path)]
    place = {number: index for index, number in enumerate(order)}
    tree = []
    for number in order:
        node = stored.nodes[number]
        fields: dict[str, Any] = {"parent": None if node.parent is None else place[node.parent], "action": node.action}
        tree.append(fields | ({"comment": node.comment} if node.comment else {}))
    metadata: dict[str, Any] = {}
    if stored.title:
        metadata[_TITLE] = stored.title
    if stored.reason == RESIGNATION and stored.winner is not None:
        metadata[_RESIGNED] = 1 - stored.winner
    if len(order) > len(path) or any(stored.nodes[number].comment for number in order):
        metadata[_TREE] = tree
    players = (stored.players[0] or PERSON, stored.players[1] or PERSON)
    return GameRecord.of_state(line.state, players, metadata=metadata)


def games_of(text: str, positions: Positions, limits: Limits) -> list[NewGame]:
    """Parse game records, one JSON object per line.

    Raises:
        RequestError: a line is not a valid record, or its game contains an illegal action; the message contains the
            line number.
    """
    lines = [(number, line) for number, line in enumerate(text.splitlines(), start=1) if line.strip()]
    if not 1 <= len(lines) <= limits.imported_records:
        raise RequestError(f"an import must hold 1 to {limits.imported_records} records, got {len(lines)}")
    games = []
    for number, line in lines:
        try:
            record = GameRecord.from_json(line)
            positions.game(record.game)  # rejects boards that are too large before replaying
            games.append(_game_of(record, positions, limits))
        except (RecordError, RequestError, RecursionError) as error:
            message = str(error).partition("; the position is")[0]
            raise RequestError(f"line {number}: {message}") from None
    return games


def _game_of(record: GameRecord, positions: Positions, limits: Limits) -> NewGame:
    record.replay()
    game = positions.game(record.game)
    nodes = [START, *(Node(number, number - 1, action) for number, action in enumerate(record.actions, start=1))]
    winner, reason = record.winner, record.reason
    resigned = record.metadata.get(_RESIGNED)
    if reason is None and type(resigned) is int and resigned in (0, 1):
        winner, reason = 1 - resigned, RESIGNATION
    tree = record.metadata.get(_TREE)
    if tree is not None:
        nodes = nodes_of(tree, game, record.actions, positions, limits)
    title = check_text("title", record.metadata.get(_TITLE, ""), 100)
    return NewGame(
        game=str(game),
        version=game.version,
        players=(None, None),
        confirm=False,
        nodes=tuple(nodes),
        current=len(record.actions),
        title=title or check_text("the players", " – ".join(record.players)[:100], 100),
        winner=winner,
        reason=reason,
    )


def nodes_of(tree: Any, game: Game, actions: Sequence[str], positions: Positions, limits: Limits) -> list[Node]:
    """Return the nodes of a tree as in a record's metadata, validated by replay.

    Raises:
        RequestError: a node is invalid, or the tree does not begin with ``actions``.
    """
    if not isinstance(tree, list) or not 1 <= len(tree) <= limits.nodes:
        raise RequestError(f"the tree must be a list of 1 to {limits.nodes} nodes")
    nodes: list[Node] = []
    reached: list[tuple[str, ...]] = []
    for number, fields in enumerate(tree):
        known = fields.keys() <= {"parent", "action", "comment"} if isinstance(fields, dict) else False
        if not known or not isinstance(fields.get("action"), str) or not isinstance(fields.get("comment", ""), str):
            raise RequestError(f"node {number} of the tree must have a parent, an action and perhaps a comment")
        parent, action, comment = fields.get("parent"), fields["action"], fields.get("comment", "")
        check_text(f"the comment of node {number}", comment, limits.comment_characters)
        if number == 0:
            if parent is not None or action:
                raise RequestError("node 0 of the tree must be the start, without parent and action")
            reached.append(())
        else:
            if isinstance(parent, bool) or not isinstance(parent, int) or not 0 <= parent < number:
                raise RequestError(f"the parent of node {number} must be an earlier node, got {parent!r}")
            reached.append((*reached[parent], action))
            positions.line(game, reached[number])
        nodes.append(Node(number, parent, action, comment))
    length = len(actions)
    if len(nodes) <= length or reached[length] != tuple(actions):
        raise RequestError("the tree must begin with the moves of the game")
    return nodes
