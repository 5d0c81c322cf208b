"""Operations on a stored game: actions, committing turns, undo, resignation. Each function returns the changed game."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from stoneworks.envs.rules import Game
from stoneworks.web.errors import RequestError
from stoneworks.web.positions import Line, Positions
from stoneworks.web.store import NewGame, Node, StoredGame

RESIGNATION = "resignation"
START = Node(0, None, "")


def new_game(
    game: Game,
    line: Line,
    players: tuple[str | None, str | None],
    *,
    confirm: bool,
    title: str = "",
    nodes: Sequence[Node] = (),
) -> NewGame:
    """Create a game that starts with the actions of a line, all committed.

    Args:
        game: the game.
        line: the actions.
        players: the bot name of each seat, or None for a human player.
        confirm: whether turns must be confirmed.
        title: the title.
        nodes: a tree that begins with the actions of the line; by default these alone.
    """
    nodes = nodes or [START, *(Node(number, number - 1, action) for number, action in enumerate(line.actions, start=1))]
    outcome = line.state.outcome()
    return NewGame(
        game=str(game),
        version=game.version,
        players=players,
        confirm=confirm,
        nodes=tuple(nodes),
        current=len(line.actions),
        title=title,
        winner=outcome.winner if outcome else None,
        reason=outcome.reason if outcome else None,
    )


def line_of(stored: StoredGame, positions: Positions, node: int | None = None) -> Line:
    """Return the position at a node, by default the current one. Raises :class:`RequestError` for an unknown node."""
    game = positions.game(stored.game)
    if game.version != stored.version:
        raise RequestError(
            f"this game was played with version {stored.version} of {game.name}; the present version is {game.version}",
            409,
        )
    return positions.line(game, stored.actions(stored.current if node is None else node))


def check_current(stored: StoredGame, node: int) -> None:
    """Raise :class:`RequestError` if ``node`` is not the current position, e.g. after a concurrent move."""
    if stored.current != node:
        raise RequestError("the game has changed meanwhile", 409)


def player_to_move(stored: StoredGame, line: Line) -> int:
    """Return the player to move. Raises :class:`RequestError` if the game is over."""
    if stored.reason is not None or line.state.is_terminal():
        raise RequestError("the game is over", 409)
    return line.state.current_player()


def turn_is_complete(stored: StoredGame, line: Line) -> bool:
    """Return whether the turn in progress is complete but not committed."""
    in_progress = len(stored.path(stored.current)) - len(stored.path(stored.committed))
    return in_progress > 0 and line.turn_start == len(line.actions)


def act(stored: StoredGame, positions: Positions, node: int, action: str) -> StoredGame:
    """Return the game after an action of a human player."""
    check_current(stored, node)
    line = line_of(stored, positions)
    if turn_is_complete(stored, line):
        raise RequestError("commit the turn, or take it back, before the next one", 409)
    player = player_to_move(stored, line)
    if stored.players[player] is not None:
        raise RequestError(f"{stored.players[player]} is to move", 409)
    positions.line(line.state.get_game(), (*line.actions, action))
    after = _with_actions(stored, stored.current, [action])
    if not after.confirm and turn_is_complete(after, line_of(after, positions)):
        return commit(after, positions, after.current)
    return after


def commit(stored: StoredGame, positions: Positions, node: int) -> StoredGame:
    """Return the game with the turn in progress committed."""
    check_current(stored, node)
    line = line_of(stored, positions)
    if not turn_is_complete(stored, line):
        raise RequestError("there is no complete turn to commit", 409)
    outcome = line.state.outcome()
    return replace(
        stored,
        committed=stored.current,
        winner=outcome.winner if outcome else None,
        reason=outcome.reason if outcome else None,
    )


def take_back(stored: StoredGame, node: int) -> StoredGame:
    """Return the game without the last action of the turn in progress."""
    check_current(stored, node)
    if stored.current == stored.committed:
        raise RequestError("there is no action to take back; undo goes back before the last turn", 409)
    last = stored.nodes[stored.current]
    nodes = dict(stored.nodes)
    if not stored.children(last.node) and not last.comment:
        del nodes[last.node]
    assert last.parent is not None
    return replace(stored, current=last.parent, nodes=nodes)


def without_turn_in_progress(stored: StoredGame) -> StoredGame:
    """Return the game after its last committed turn."""
    while stored.current != stored.committed:
        stored = take_back(stored, stored.current)
    return stored


def play_turn(stored: StoredGame, positions: Positions, node: int, actions: Sequence[str]) -> StoredGame:
    """Return the game after the actions of a bot."""
    check_current(stored, node)
    line = line_of(stored, positions)
    player_to_move(stored, line)
    positions.line(line.state.get_game(), (*line.actions, *actions))
    after = _with_actions(stored, stored.current, actions)
    if turn_is_complete(after, line_of(after, positions)):
        return commit(after, positions, after.current)
    return replace(after, committed=after.current)  # one chunk of a very long turn


def undo(stored: StoredGame, positions: Positions, node: int) -> StoredGame:
    """Undo the turn in progress or, if there is none, everything since the last turn of a human player began.

    Without human players, undo the last turn. Committed turns stay in the tree as variations.
    """
    check_current(stored, node)
    if stored.current != stored.committed:
        return without_turn_in_progress(stored)
    if stored.reason == RESIGNATION:
        return replace(stored, winner=None, reason=None)
    line = line_of(stored, positions)
    path = [START, *stored.path(stored.current)]
    start = line.start_of_last_turn()
    while start > 0 and stored.players[line.movers[start]] is not None and None in stored.players:
        start = line.start_of_last_turn(start)
    if not line.actions or (None in stored.players and stored.players[line.movers[start]] is not None):
        raise RequestError("there is no turn to undo", 409)
    return replace(stored, current=path[start].node, committed=path[start].node, winner=None, reason=None)


def resign(stored: StoredGame, positions: Positions, node: int) -> StoredGame:
    """Resign for the human player to move, or for the only human player."""
    check_current(stored, node)
    stored = without_turn_in_progress(stored)
    player = player_to_move(stored, line_of(stored, positions))
    persons = [seat for seat in (0, 1) if stored.players[seat] is None]
    if not persons:
        raise RequestError("no person plays in this game", 409)
    loser = player if player in persons else persons[0]
    return replace(stored, winner=1 - loser, reason=RESIGNATION)


def seat(stored: StoredGame, players: tuple[str | None, str | None]) -> StoredGame:
    """Replace the players. A turn in progress is undone."""
    stored = without_turn_in_progress(stored)
    return replace(stored, players=players)


def add_variation(stored: StoredGame, positions: Positions, parent: int, actions: Sequence[str]) -> StoredGame:
    """Add actions after ``parent`` to the tree, without changing the current position."""
    line = line_of(stored, positions, parent)
    positions.line(line.state.get_game(), (*line.actions, *actions))
    return replace(_with_actions(stored, parent, actions), current=stored.current)


def comment(stored: StoredGame, node: int, text: str) -> StoredGame:
    """Replace the comment of a node."""
    stored.path(node)
    return replace(stored, nodes=stored.nodes | {node: replace(stored.nodes[node], comment=text)})


def movers_of(stored: StoredGame, positions: Positions) -> dict[int, tuple[int, str]]:
    """Return the player who made the action of each node except the first, and that player's color."""
    game = positions.game(stored.game)
    line_of(stored, positions)  # raises for another version of the rules
    children: dict[int, list[Node]] = {}
    for node in stored.nodes.values():
        if node.parent is not None:
            children.setdefault(node.parent, []).append(node)
    movers: dict[int, tuple[int, str]] = {}
    waiting = [(child, game.new_initial_state()) for child in children.get(0, ())]
    while waiting:
        node, before = waiting.pop()
        player = before.current_player()
        movers[node.node] = player, game.colors[game.color_of(before, player)]
        if node.node in children:
            state = before.clone()
            state.apply_action(game.string_to_action(node.action))
            waiting.extend((child, state) for child in children[node.node])
    return movers


def prune(stored: StoredGame, node: int) -> StoredGame:
    """Remove a node and its descendants."""
    line = {0, *(step.node for step in stored.path(stored.current))}
    stored.path(node)
    if node in line:
        raise RequestError("the moves of the game itself cannot be deleted; undo goes back before them", 409)
    gone = {node}
    for number in sorted(stored.nodes):  # parents have smaller numbers than their children
        if stored.nodes[number].parent in gone:
            gone.add(number)
    return replace(stored, nodes={number: kept for number, kept in stored.nodes.items() if number not in gone})


def node_after(stored: StoredGame, node: int, actions: Sequence[str]) -> int:
    """Return the node reached from ``node`` by actions that must all be in the tree."""
    for action in actions:
        child = stored.child(node, action)
        assert child is not None
        node = child.node
    return node


def _with_actions(stored: StoredGame, parent: int, actions: Sequence[str]) -> StoredGame:
    """Add nodes for the actions, reusing existing ones, and make the last one the current node."""
    nodes = dict(stored.nodes)
    number = max(nodes)
    at = parent
    for action in actions:
        child = next((node for node in nodes.values() if node.parent == at and node.action == action), None)
        if child is None:
            number += 1
            child = Node(number, at, action)
            nodes[number] = child
        at = child.node
    return replace(stored, nodes=nodes, current=at)


def set_confirm(stored: StoredGame, positions: Positions, confirm: bool) -> StoredGame:
    """Set whether turns need confirmation. Without confirmation, a complete turn is committed immediately."""
    changed = replace(stored, confirm=confirm)
    if not confirm and turn_is_complete(changed, line_of(changed, positions)):
        return commit(changed, positions, changed.current)
    return changed
