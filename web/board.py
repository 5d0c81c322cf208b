"""Positions as the page's board shows them: replayed from actions, described as JSON."""

from __future__ import annotations

import contextlib
import itertools
import logging
import math
import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NotRequired

import numpy as np
import numpy.typing as npt
from typing_extensions import TypedDict

from stoneworks.envs.drawing import Choice, action_choice, action_places, draw, draw_illustration
from stoneworks.envs.rules import Game, IllegalActionError, State, load_game
from stoneworks.envs.rules.game_registry import GAMES
from stoneworks.extras import MissingDependencyError
from stoneworks.web.html_replay import svg_without_style
from stoneworks.web.requests import RequestError

_LOG = logging.getLogger(__name__)

#: Folder of the page's files.
STATIC_FOLDER = Path(__file__).parent / "static"
#: Folder of the programs that play in the page, and, where they are built, of the games for them.
ENGINE_FOLDER = Path(__file__).parent / "engine"
#: Maximum number of cells of a board's grid.
MAX_CELLS = 2000
#: Number of cells of a heat map that show their percentage, and the smallest percentage shown.
_MAX_PERCENTAGES = 12
_MIN_PERCENTAGE = 1
#: Loss of the chance to win against the best action from which an action has no color in a heat map.
_PALE_LOSS = 0.1
#: Number of rulings that are shown for a click.
MAX_REASONS = 2
#: Number of positions that are cached.
_MAX_LINES = 4096
#: Number of last positions of a requested line that are cached and looked up in the cache.
_KEPT_PREFIXES = 64


class Result(TypedDict):
    """The winner, None for a draw, and how the game ended."""

    winner: int | None
    reason: str


class OtherAction(TypedDict):
    """A legal action that is not on the board."""

    action: str


class BoardAction(OtherAction):
    """A legal action on the board, or several of one turn.

    Attributes:
        action: text of the action.
        path: the names of the places to click.
        parts: what each of several places is, such as the halves of a tile.
        then: the actions that follow it.
        picks: whether it picks a piece; another may be picked instead.
    """

    path: list[str]
    label: str
    parts: NotRequired[tuple[str, ...]]
    then: NotRequired[list[str]]
    picks: NotRequired[bool]


class Interaction(TypedDict):
    """The legal actions with what shows them.

    Attributes:
        legal: the actions on the board.
        buttons: the others.
        places: the coordinates and the radius of each place in the picture, by name.
        icons: small SVG documents by the labels of actions.
        instead: the actions that may replace the last one, which picked a piece.
    """

    legal: list[BoardAction]
    buttons: list[OtherAction]
    places: dict[str, tuple[float, float, float]]
    icons: dict[str, str]
    instead: list[BoardAction]


class PositionAnswer(Interaction):
    """A position.

    Attributes:
        name: the game and its board in words.
        movers: the player who made each of the actions, and that player's color.
        player: player to move; None if the game is over.
        colors: the color of each player.
        sides: number of turns of the board by which its cells are mapped to cells: 4 or 6.
        turn_start: index of the first action of the turn in progress.
        score: the score of each player, in a form of the game's own; None if the game has none.
        outcome: None if the game is not over.
        turn: what the turn needs; empty once the game is over, as ``supplies``.
        supplies: what is left.
        why: why the game ended; empty before.
    """

    game: str
    name: str
    actions: list[str]
    movers: list[tuple[int, str]]
    svg: str
    player: int | None
    colors: list[str]
    sides: int
    turn_start: int
    score: list[Any] | None
    outcome: Result | None
    turn: str
    supplies: str
    why: str


class Option(TypedDict):
    """An option of a game: its default value, its range or choices if it has them, and whether game strings always show it."""

    name: str
    default: Any
    minimum: int | None
    maximum: int | None
    choices: tuple[str, ...] | None
    shown: bool


class GameDescription(TypedDict):
    """A game for the new-game form: its options, short rules, lessons and named boards."""

    name: str
    title: str
    colors: list[str]
    options: list[Option]
    summary: Sequence[str]
    lessons: list[dict[str, Any]]
    notation: str
    titles: Mapping[str, str]
    picture: str
    boards: Mapping[str, Mapping[str, int]] | None
    illustrated: bool


class Illustration(TypedDict):
    """A picture of a turn, an ending or a ruling, and what it shows; the ruling is empty for the first two."""

    title: str
    ruling: str
    caption: str
    description: str
    svg: str


#: A turn: its player, the texts of its actions and the player's color.
Turn = tuple[int, list[str], str]


@dataclass(frozen=True)
class Line:
    """A position and the actions that lead to it.

    Attributes:
        state: the position; must not be modified.
        actions: the texts of the actions from the start.
        movers: the player who made each of them.
        mover_colors: the color of that player before the action, as an index into ``Game.colors``.
        before_pick: the position before the last action if that picked a piece; else None.
    """

    state: State
    actions: tuple[str, ...]
    movers: tuple[int, ...]
    mover_colors: tuple[int, ...]
    before_pick: State | None = None

    @property
    def turn_start(self) -> int:
        """Index of the first action of the turn in progress; the number of actions if no turn is in progress."""
        return self._start_of_moves_by(self.state.current_player(), len(self.actions))

    def start_of_last_turn(self, end: int | None = None) -> int:
        """Return the index of the first action of the turn that the action before ``end`` belongs to."""
        start = len(self.actions) if end is None else end
        return self._start_of_moves_by(self.movers[start - 1], start) if start else 0

    def _start_of_moves_by(self, player: int, end: int) -> int:
        while end and self.movers[end - 1] == player:
            end -= 1
        return end


class Positions:
    """LRU cache of positions by game and actions."""

    def __init__(self) -> None:
        self._lines: OrderedDict[tuple[str, tuple[str, ...]], Line] = OrderedDict()
        self._lock = threading.Lock()

    def game(self, text: str, options: Mapping[str, Any] | None = None) -> Game:
        """Load a game by game string, or by name and options.

        Raises:
            RequestError: the game is invalid, or its board exceeds the limits.
        """
        try:
            game = load_game(text, **dict(options or {}))
        except (ValueError, TypeError, OverflowError, MissingDependencyError) as error:
            raise RequestError(str(error)) from None
        if game.grid.num_cells > MAX_CELLS:
            raise RequestError(
                f"{name_of(game)}, is too large to be shown: its grid must have at most {MAX_CELLS} cells,"
                f" got {game.grid.num_cells}"
            )
        return game

    def line(self, game: Game, actions: Sequence[str]) -> Line:
        """Return the position after the actions.

        Raises:
            RequestError: an action is unknown or illegal.
        """
        texts = tuple(actions)
        if len(texts) > game.max_game_length():
            raise RequestError(f"{game} has at most {game.max_game_length()} actions, got {len(texts)}")
        name = str(game)
        with self._lock:
            lengths = range(len(texts), max(len(texts) - _KEPT_PREFIXES, 0), -1)
            known = next((length for length in lengths if (name, texts[:length]) in self._lines), 0)
            line = self._lines.get((name, texts[:known])) or Line(game.new_initial_state(), (), (), ())
        added = self._replayed(game, line, texts)
        with self._lock:
            self._lines.update({(name, each.actions): each for each in added})
            if (name, texts) in self._lines:
                self._lines.move_to_end((name, texts))
            while len(self._lines) > _MAX_LINES:
                self._lines.popitem(last=False)
        return added[-1] if added else line

    @staticmethod
    def _replayed(game: Game, line: Line, texts: tuple[str, ...]) -> list[Line]:
        """Return the lines of the last ``_KEPT_PREFIXES`` positions after ``line``, the last one that of ``texts``."""
        state = line.state.clone()
        movers, colors = list(line.movers), list(line.mover_colors)
        lines = []
        for number, text in enumerate(texts[len(movers) :], start=len(movers) + 1):
            movers.append(state.current_player())
            colors.append(game.color_of(state, movers[-1]) if not state.is_terminal() else 0)
            before = None
            try:
                action = game.string_to_action(text)
                if _picks(game, action):
                    before = state.clone()
                state.apply_action(action)
            except IllegalActionError as error:
                raise RequestError(f"action {number} ({text}): {without_position(error)}") from None
            if number > len(texts) - _KEPT_PREFIXES:
                lines.append(Line(state.clone(), texts[:number], tuple(movers), tuple(colors), before))
        return lines


def without_position(error: Exception) -> str:
    """Return the message of an error without the position that ends the message of an illegal action."""
    return str(error).partition("; the position is")[0]


def describe(line: Line, *, heat: Heat | None = None, shown_line: Sequence[str] = ()) -> PositionAnswer:
    """Describe a position.

    Args:
        line: the position.
        heat: what to draw as a heat map with percentages.
        shown_line: subsequent actions, drawn as numbered stones on the resulting position.

    Raises:
        RequestError: an action of ``shown_line`` is illegal.
    """
    state = line.state
    game, explanation = state.get_game(), state.explain_result()
    return {
        "game": str(game),
        "name": name_of(game),
        "actions": list(line.actions),
        "movers": [(player, game.colors[color]) for player, color in zip(line.movers, line.mover_colors, strict=True)],
        "svg": _picture(line, heat, shown_line),
        "player": None if state.is_terminal() else state.current_player(),
        "colors": [game.colors[game.color_of(state, player)] for player in (0, 1)],
        "sides": game.grid.neighbors.shape[1],
        "turn_start": line.turn_start,
        "score": None if (score := state.score()) is None else [score[state.color_of(player)] for player in (0, 1)],
        "outcome": outcome_of(state),
        "turn": "" if explanation else game.describe_turn(state),
        "supplies": "" if explanation else game.describe_supplies(state),
        "why": explanation.text if explanation else "",
        **_interaction(line),
    }


def reasons_at(state: State, x: float, y: float, chosen: Sequence[str]) -> list[str]:
    """Return why a click is illegal: the rulings that the actions on the place there break, none if one is legal.

    Args:
        state: the position.
        x: horizontal coordinate of the click, in the units of the picture.
        y: vertical coordinate, downwards.
        chosen: the names of the places that were clicked before, of an action that takes several.
    """
    game, nearest = state.get_game(), math.inf
    name_here, here = "", list[int]()
    for action in range(game.num_action_planes * game.grid.num_cells):
        if not game.grid.on_board[action % game.grid.num_cells]:
            continue
        with contextlib.suppress(ValueError):  # an action that leaves the board, such as half a tile
            path = _presentation(game, action)[1]
            if [place[0] for place in path[: len(chosen)]] == list(chosen) and len(path) > len(chosen):
                name, to_x, to_y, radius = path[len(chosen)]
                distance = math.hypot(to_x - x, to_y - y)
                if distance <= radius and distance < nearest:
                    nearest, name_here, here = distance, name, []
                if name == name_here:
                    here.append(action)
    # On a piece's place, only one of picking it and moving there is next.
    history = state.history()
    moves = bool(history) and _picks(game, history[-1])
    here = [action for action in here if _picks(game, action) != moves] or here
    reasons = [state.explain_illegal(action) for action in here]
    return [] if None in reasons else list(dict.fromkeys(filter(None, reasons)))[:MAX_REASONS]


@dataclass(frozen=True)
class Heat:
    """What a heat map shows.

    Attributes:
        values: a number in [0, 1] for some actions: probabilities, which are summed over the actions of a cell; or, with
            ``certainty``, chances to win, of which the most certain action of a cell counts.
        certainty: how certain each of these is, in [0, 1]; the color of less certain ones is paler.
    """

    values: Mapping[int, float]
    certainty: Mapping[int, float] | None = None

    def of_cells(self, game: Game) -> tuple[npt.NDArray[np.float64], dict[int, str]]:
        """Return the colors, ``float64[num_cells]`` in [0, 1], NaN for none, and the percentages of the cells that matter most."""
        found: dict[int, tuple[float, float]] = {}  # weight and value
        for action, value in self.values.items():
            cell = action % game.grid.num_cells
            if not is_on_board(game, action):
                continue
            if self.certainty is None:
                total = found.get(cell, (0.0, 0.0))[0] + value
                found[cell] = total, total
            else:
                found[cell] = max(found.get(cell, (0.0, 0.0)), (self.certainty.get(action, 0.0), value))
        ranked = sorted((cell for cell in found if found[cell][0] > 0), key=lambda cell: (-found[cell][0], cell))
        weights, values = np.array([found[cell] for cell in ranked]).reshape(-1, 2).T
        colors = np.full(game.grid.num_cells, np.nan)
        if self.certainty is None:
            colors[ranked] = weights / weights.max(initial=1e-9)
            marked = [cell for cell in ranked[:_MAX_PERCENTAGES] if found[cell][1] >= _MIN_PERCENTAGE / 100]
        else:
            best = values[weights >= weights.max(initial=0) / 2].max(initial=0)
            strengths = np.clip(1 - (best - values) / _PALE_LOSS, 0, 1) * weights
            colors[ranked] = np.where(strengths > 0, strengths, np.nan)
            marked = ranked[:_MAX_PERCENTAGES]
        return colors, {cell: f"{100 * found[cell][1]:.0f}" for cell in marked}


def outcome_of(state: State) -> Result | None:
    """Return the result; None if the game is not over."""
    outcome = state.outcome()
    return None if outcome is None else {"winner": outcome.winner, "reason": outcome.reason}


def _picture(line: Line, heat: Heat | None, shown_line: Sequence[str]) -> str:
    state = line.state
    game = state.get_game()
    if shown_line:
        state = state.clone()
        numbers: dict[int, str] = {}
        for number, text in enumerate(shown_line, start=1):
            try:
                action = game.string_to_action(text)
                state.apply_action(action)
            except IllegalActionError as error:
                raise RequestError(without_position(error)) from None
            if is_on_board(game, action):
                numbers[action] = str(number)
        drawing = draw(state, last_actions=(), numbers=numbers)
    else:
        colors, percentages = (None, None) if heat is None else heat.of_cells(game)
        drawing = draw(state, last_actions=_last_actions(line), fill=colors, marks=percentages)
    return svg_without_style(drawing)


def _last_actions(line: Line) -> list[int]:
    """Return the actions of the turn in progress and of the last turn before it that was made on the board."""
    game = line.state.get_game()
    history = line.state.history()
    start = line.turn_start
    marked = history[start:]
    while start:
        before = line.start_of_last_turn(start)
        turn = history[before:start]
        if any(is_on_board(game, action) for action in turn):
            return turn + marked
        start = before
    return marked


def is_on_board(game: Game, action: int) -> bool:
    """Return whether an action refers to a place on the board."""
    return action < game.num_action_planes * game.grid.num_cells


def _picks(game: Game, action: int) -> bool:
    return is_on_board(game, action) and action_choice(game, action).picks


def longer_lines(line: Line) -> Iterator[list[int]]:
    """Yield the ways to continue a line in progress by two or more actions, after the first of which there is one way each."""
    state, game = line.state, line.state.get_game()
    if not game.has_lines or line.turn_start == len(line.actions):
        return
    player = state.current_player()
    for first in state.legal_actions():
        after, actions, further = state.clone(), list[int](), [first] * is_on_board(game, first)
        while len(further) == 1:
            after.apply_action(further[0])
            actions += further
            further = [action for action in after.legal_actions(player) if is_on_board(game, action)]
            if len(actions) > 1:
                yield list(actions)


def _interaction(line: Line) -> Interaction:
    state = line.state
    game = state.get_game()
    shown = Interaction(legal=[], buttons=[], places={}, icons={}, instead=[])

    def on_board(action: int) -> BoardAction:
        choice, path = _presentation(game, action)
        shown["places"].update((name, (x, y, radius)) for name, x, y, radius in path)
        described = BoardAction(action=game.action_texts[action], path=[place[0] for place in path], label=choice.label)
        if choice.parts:
            described["parts"] = choice.parts
        if choice.picks:
            described["picks"] = True
        if choice.icon is not None:
            shown["icons"][choice.label] = choice.icon
        return described

    for action in state.legal_actions():
        if is_on_board(game, action):
            shown["legal"].append(on_board(action))
        else:
            shown["buttons"].append({"action": game.action_texts[action]})
    for actions in longer_lines(line):
        first, *then = map(game.action_to_string, actions)
        described = on_board(actions[-1])
        label = f"{len(actions)} actions, the last {then[-1]}"
        shown["legal"].append({"action": first, "then": then, "path": described["path"], "label": label})
    if (before := line.before_pick) is not None:
        others = set(before.legal_actions()) - {state.history()[-1]}
        shown["instead"] = [on_board(action) for action in sorted(others) if _picks(game, action)]
    return shown


@lru_cache(maxsize=100_000)
def _presentation(game: Game, action: int) -> tuple[Choice, tuple[tuple[str, float, float, float], ...]]:
    path = tuple((place.name, place.x, place.y, round(place.radius, 1)) for place in action_places(game, action))
    return action_choice(game, action), path


@lru_cache(maxsize=256)
def name_of(game: Game) -> str:
    """Return a game with its board in words, such as "Trugo, standard board" or "Vadus, size 4"."""
    values = dict(game.options)
    usual = load_game(game.name).options
    for board, given in (game.guide.boards or {}).items():
        if values == {**usual, **given}:
            return f"{game.name.capitalize()}, {board} board"
    words = [
        f"{option.replace('_', ' ')} {value}"
        for option, value in values.items()
        if game.option_types[option].always_shown or value != usual[option]
    ]
    return ", ".join([game.name.capitalize(), *words])


def game_descriptions() -> list[GameDescription]:
    """Describe all games that can be loaded and drawn."""
    described = []
    for entry in GAMES.loadable():
        try:
            described.append(_description(load_game(entry.name)))
        except Exception as error:  # games of other packages can raise anything
            _LOG.warning("the game %s cannot be shown: %s: %s", entry.name, type(error).__name__, error)
    return described


def _description(game: Game) -> GameDescription:
    return {
        "name": game.name,
        "title": game.name.capitalize(),
        "colors": list(game.colors),
        "options": [
            {
                "name": option,
                "default": value,
                "minimum": getattr(game.option_types[option], "minimum", None),
                "maximum": getattr(game.option_types[option], "maximum", None),
                "choices": getattr(game.option_types[option], "choices", None),
                "shown": game.option_types[option].always_shown,
            }
            for option, value in game.options.items()
        ],
        "summary": game.guide.rules,
        "notation": game.guide.notation,
        "titles": game.guide.titles,
        "picture": _sample_picture(game),
        "lessons": [lesson._asdict() for lesson in game.guide.lessons],
        "boards": game.guide.boards,
        "illustrated": bool(game.guide.illustrations),
    }


def _sample_picture(game: Game) -> str:
    """Return the picture of a position in play: that of the first illustrated ending, or else the initial one."""
    for illustration in game.guide.illustrations:
        if illustration.ruling == "end-1":
            moves = "\n".join(illustration.moves.split())
            state = load_game(illustration.game).deserialize_state(moves)
            return svg_without_style(draw(state, coordinates=False, last_actions=()))
    return svg_without_style(draw(game.new_initial_state(), coordinates=False))


def illustrated_rules(game: Game) -> list[Illustration]:
    """Return the pictures of a game's turns, endings and rulings."""
    names = [illustration.ruling.partition("-")[0] for illustration in game.guide.illustrations]
    return [
        {
            "title": illustration.title,
            "ruling": "" if name in ("turn", "end") else name,
            "caption": illustration.caption,
            "description": illustration.description,
            "svg": svg_without_style(draw_illustration(illustration)),
        }
        for illustration, name in zip(game.guide.illustrations, names, strict=True)
    ]


def turns_of(line: Line) -> list[Turn]:
    """Return the turns of a line."""
    colors = line.state.get_game().colors
    steps = zip(line.movers, line.actions, line.mover_colors, strict=True)
    turns = [(player, list(turn)) for player, turn in itertools.groupby(steps, lambda step: step[0])]
    return [(player, [action for _, action, _ in turn], colors[turn[0][2]]) for player, turn in turns]
