"""``Game``: the immutable part of a game, of which each game is a subclass, and loading games by name."""

from __future__ import annotations

import hashlib
import inspect
import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from stoneworks.envs.rules import contract, templates
from stoneworks.envs.rules.compiler import compiler
from stoneworks.envs.rules.contract import GameDefinition
from stoneworks.envs.rules.fields import NO_WINNER, TAG, TERMINAL_PLAYER
from stoneworks.envs.rules.game_registry import GAMES, GameEntry, game_entry, parse_game_string
from stoneworks.envs.rules.grid import GridSymmetry
from stoneworks.envs.rules.options import check_options
from stoneworks.envs.rules.position_text import parse_position
from stoneworks.registry import RegistrationError

if TYPE_CHECKING:
    from stoneworks.envs.rules.state import State


_BOOLEANS = frozenset({bool, np.bool_})
#: Number of records that are checked at a time, which bounds the memory that the check takes.
_CHECKED_AT_ONCE = 4096


class IllegalActionError(ValueError):
    """Raised for an action that is illegal in a position, or for a text or index that is not an action of the game.

    The message names the action, the position and the legal actions. The state is unchanged.
    """


class PositionError(ValueError):
    """Raised for a record that is not a position of the game. The message names the record and the invalid field."""


@dataclass(frozen=True, eq=False)
class Symmetry:
    """A symmetry of a game: playing the image of every action gives the image of the position.

    Attributes:
        name: description.
        cells: ``int64[height * width]``, the image of each cell.
        actions: ``int64[num_actions]``, the image of each action.
        planes: ``int64[num_planes]``, the image of each observation plane.
        observation: ``int64[num_planes * height * width]``, the image of each entry of an observation; planes may permute
            their cells differently from ``cells``.
    """

    name: str
    cells: npt.NDArray[np.int64]
    actions: npt.NDArray[np.int64]
    planes: npt.NDArray[np.int64]
    observation: npt.NDArray[np.int64]

    def of_observation(self, planes: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return the images of observations ``[..., num_planes, height, width]``."""
        flat = planes.reshape(*planes.shape[:-3], -1)
        image = np.empty_like(flat)
        image[..., self.observation] = flat
        return image.reshape(planes.shape)

    def of_policy(self, policy: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return the images of masks or policies ``[..., num_actions]``."""
        image = np.empty_like(policy)
        image[..., self.actions] = policy
        return image


def _machine_code(template: Callable[..., Any]) -> cached_property[Callable[..., Any]]:
    """Return an attribute of games: ``template`` compiled for the game, called without checks."""
    return cached_property(lambda game: compiler.unchecked(game.compiled(template)))


class Game(GameDefinition["State"]):
    """A game with its options: everything that all its positions share.

    Games with equal options are equal, and ``load_game(str(game)) == game``. What the class of a game
    defines is listed in :class:`stoneworks.envs.rules.contract.GameDefinition`.
    """

    def __init__(self, **options: object) -> None:
        self.options = check_options(self.name, self.option_types, options)

    @property
    def version(self) -> int:
        """Version of the rules, observations and action indices, from the game's registry entry."""
        return game_entry(self.name).version

    # -- Actions ---------------------------------------------------------------------------------------------------

    @cached_property
    def action_texts(self) -> tuple[str, ...]:
        """Text of every action index."""
        board_actions = (
            self.board_action_text(plane, cell)
            for plane in range(self.num_action_planes)
            for cell in range(self.grid.num_cells)
        )
        return (*board_actions, *self.global_actions)

    @cached_property
    def _action_of_text(self) -> dict[str, int]:
        return {text: action for action, text in enumerate(self.action_texts)}

    def action_to_string(self, action: int) -> str:
        """Return the text of an action index.

        Raises:
            IllegalActionError: the index is out of range.
        """
        index = self.action_index(action)
        if not 0 <= index < self.num_actions:
            raise IllegalActionError(f"{self}: action must be from 0 to {self.num_actions - 1}, got {index}")
        return self.action_texts[index]

    def action_index(self, action: object) -> int:
        """Return an action as a Python integer.

        Raises:
            IllegalActionError: anything else is given, a boolean too.
        """  # noqa: DOC501 - caught here
        try:
            if type(action) in _BOOLEANS:
                raise TypeError
            return operator.index(action)  # type: ignore[arg-type]
        except TypeError:
            raise IllegalActionError(f"{self}: action must be an integer, got {action!r}") from None

    def string_to_action(self, text: str) -> int:
        """Return the index of an action's exact text.

        Raises:
            IllegalActionError: no action has this text.
        """
        action = self._action_of_text.get(text) if isinstance(text, str) else None
        if action is None:
            raise IllegalActionError(f"{self}: {text!r} is not a valid action; {self.action_help}")
        return action

    # -- Positions -------------------------------------------------------------------------------------------------

    def new_initial_state(self) -> State:
        """Return the initial position."""
        from stoneworks.envs.rules.state import State

        return State(self)

    def deserialize_state(self, text: str) -> State:
        """Return the state after the action texts in ``text``, one per line (see ``State.serialize``).

        Raises:
            IllegalActionError: a line is not a legal action.
            TypeError: ``text`` is not a string.
        """
        if not isinstance(text, str):
            raise TypeError(f"text must be a string, got {text!r}")
        state = self.new_initial_state()
        for line in text.splitlines():
            state.apply_action(self.string_to_action(line))
        return state

    def state_from_text(self, text: str, *, trusted: bool = False) -> State:
        """Return the state that ``State.to_text`` describes, with an empty history.

        Args:
            text: one line, such as ``"vadus(size=3) current_player=1 num_stones=1 stones=c3:1"``.
            trusted: skip the check that it is a position of the game, e.g. for a game that does not declare its fields.

        Raises:
            PositionError: the text is malformed, of another game, or not a valid position; the message names the field.
        """
        from stoneworks.envs.rules.state import State

        try:
            record = parse_position(str(self), self.grid, self.initial_records, text)
        except ValueError as error:
            raise PositionError(str(error)) from None
        return State.from_record(self, record[0], trusted=trusted)

    def perft(self, depth: int) -> int:
        """Return the number of distinct sequences of ``depth`` actions from the initial position; finished games have none."""
        return self.new_initial_state().perft(depth)

    # -- Records -----------------------------------------------------------------------------------------------------

    @cached_property
    def record_tag(self) -> int:
        """The value of the field ``game_tag`` in records of the game, from 1 to 2**32 - 1."""
        digest = hashlib.sha256(f"{self} {self.version}".encode()).digest()
        return int.from_bytes(digest[:4], "little") or 1

    @property
    def can_check_records(self) -> bool:
        """Whether the game declares the ranges of its fields, so that it accepts external records."""
        return bool(self.state_fields)

    def blank_records(self, number: int) -> npt.NDArray[np.void]:
        """Return ``state_dtype[number]``: zeros with the game's tag, for the kernel ``reset`` to fill."""
        records: npt.NDArray[np.void] = np.zeros(number, self.state_dtype)
        records[TAG] = self.record_tag
        return records

    @cached_property
    def initial_records(self) -> npt.NDArray[np.void]:
        """``state_dtype[1]``, the record of the initial position; read-only."""
        records = self.blank_records(1)
        self.compiled(templates.reset_batch)(self.board, records, np.zeros(1, np.int64))
        records.flags.writeable = False  # all states begin with it
        return records

    def check_tags(self, records: npt.NDArray[np.void]) -> None:
        """Check the tags of records ``[n]`` of ``state_dtype``.

        Raises:
            PositionError: a record is of another game.
        """
        foreign = np.flatnonzero(records[TAG] != self.record_tag)
        if foreign.size:
            raise PositionError(
                f"{self}: record {foreign[0]} is a position of another game, other options or another version"
            )

    def check_records(self, records: npt.NDArray[np.void]) -> None:
        """Check records ``[n]``, so that every kernel is safe on them and on all positions that follow.

        All fields are in their ranges and consistent enough for every kernel, and a game in progress has a legal action.
        Whether play can reach the position, and whether its result is right, is not checked.

        Raises:
            PositionError: a record is invalid (the message names the first one and its field), or the game does not declare
                the ranges of its fields.
        """
        if getattr(records, "dtype", None) != self.state_dtype or np.ndim(records) != 1:
            raise PositionError(f"{self}: the records have a different dtype or shape; expected game.state_dtype[n]")
        self.check_tags(records)
        if not self.can_check_records:
            raise PositionError(
                f"{self} declares no ranges of its fields, so external records cannot be checked; "
                "load records that you trust with trusted=True"
            )
        mask = np.empty(self.num_actions, np.int8)
        for start in range(0, len(records), _CHECKED_AT_ONCE):
            some = np.array(records[start : start + _CHECKED_AT_ONCE])  # writable, as kernels require
            for name, wrong in self._wrong_fields(some):
                if wrong.any():
                    row = int(wrong.argmax())
                    value = some[name][row]
                    shown = f" = {value}" if np.ndim(value) == 0 else ""
                    raise PositionError(
                        f"{self}: record {start + row} is not a valid position: field {name}{shown} is out of range or "
                        "contradicts other fields"
                    )
            row = self.compiled(templates.first_without_action)(self.board, some, mask)
            if row >= 0:
                raise PositionError(f"{self}: record {start + row} is not a valid position: there is no legal action")

    def _wrong_fields(self, records: npt.NDArray[np.void]) -> Iterator[tuple[str, npt.NDArray[np.bool_]]]:
        """Yield fields and whether the value of each record is wrong. The first wrong value ends the check."""
        ending, player, winner = records["ending"], records["current_player"], records["winner"]
        over = ending != 0
        yield "ending", ending > len(self.reasons)
        yield "current_player", np.where(over, player != TERMINAL_PLAYER, (player < 0) | (player > 1))
        yield "winner", (winner < NO_WINNER) | (winner > np.where(over, 1, NO_WINNER))
        yield "truncated", records["truncated"] > over
        for field in self.state_fields:
            values = records[field.name]
            yield field.name, ((values < field.low) | (values > field.high)).reshape(len(records), -1).any(axis=1)
        yield from self.contradictions(records)

    # -- Observations and symmetries -------------------------------------------------------------------------------

    @cached_property
    def observation_shape(self) -> tuple[int, int, int]:
        """Shape of an observation, ``(planes, height, width)``."""
        return len(self.observation_planes), self.grid.height, self.grid.width

    @cached_property
    def observation_size(self) -> int:
        """Number of entries of an observation."""
        return prod(self.observation_shape)

    @cached_property
    def flat_observation_shape(self) -> tuple[int, int]:
        """``(planes, height * width)``, the shape that kernels use."""
        planes, height, width = self.observation_shape
        return planes, height * width

    @cached_property
    def symmetries(self) -> tuple[Symmetry, ...]:
        """The symmetries of the game, the identity first."""
        return tuple(self._symmetry(of_grid) for of_grid in self.grid.symmetries if self.keeps_rules(of_grid))

    def _symmetry(self, of_grid: GridSymmetry) -> Symmetry:
        num_cells = self.grid.num_cells
        action_planes = np.asarray(self.action_plane_images(of_grid.directions))
        board_actions = action_planes[:, None] * num_cells + self.action_cell_images(of_grid)
        global_actions = self.num_action_planes * num_cells + np.arange(len(self.global_actions))
        actions = np.concatenate([board_actions.ravel(), global_actions])
        planes = np.asarray(self.observation_plane_images(of_grid.directions))
        observation = planes[:, None] * num_cells + self.observation_cell_images(of_grid)
        return Symmetry(of_grid.name, of_grid.cells, actions, planes, observation.ravel())

    def initial_image(self, symmetry: Symmetry) -> State:
        """Return the image of the initial position. It is the initial position itself if the board is empty."""
        return self.new_initial_state()

    # -- Compiled functions ------------------------------------------------------------------------------------------

    def compiled(
        self, template: Callable[..., Any], other_kernels: Mapping[str, Callable[..., Any]] | None = None
    ) -> Callable[..., Any]:
        """Return ``template`` compiled for this game (see :mod:`stoneworks.envs.rules.compiler.compiler`). The result is cached.

        ``other_kernels``, e.g. those of the heuristic, replace globals of the template like the game's own kernels.
        """
        others = other_kernels or {}
        key = (type(self), template, self.board.dtype, self.state_dtype, *sorted(others.items()))
        function = _COMPILED.get(key)
        if function is None:
            modules = sorted({kernel.__module__.rpartition(".")[2] for kernel in others.values()})
            name = f"{self.name}_{compiler.capacity(self.grid.num_cells)}"
            merged = {**all_kernels(type(self)), **others}
            dtypes = self.board.dtype, self.state_dtype
            function = compiler.specialize(template, name, merged, *dtypes, variant="_".join(modules))
            _COMPILED[key] = function
        return function

    _fill_mask = _machine_code(templates.fill_mask)
    _try_action = _machine_code(templates.try_action)
    _try_step = _machine_code(templates.try_step)
    _fill_observation = _machine_code(templates.fill_observation)
    _fill_observation_and_mask = _machine_code(templates.fill_observation_and_mask)

    # -- Identity ----------------------------------------------------------------------------------------------------

    def __str__(self) -> str:
        shown = (
            f"{name}={value!r}"
            for name, value in self.options.items()
            if self.option_types[name].always_shown or value != self.option_types[name].default
        )
        return f"{self.name}({','.join(shown)})"

    def __repr__(self) -> str:
        return f'load_game("{self}")'

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Game):
            return NotImplemented
        return type(self) is type(other) and self.options == other.options

    def __hash__(self) -> int:
        return hash(str(self))

    def __reduce__(self) -> tuple[Callable[..., Game], tuple[Any, ...]]:
        return _unpickle, (GAMES.added(self.name), self.name, tuple(self.options.items()))


@lru_cache(maxsize=64)
def make_game(game_class: type[Game], options: tuple[tuple[str, Any], ...]) -> Game:
    """Return the game with these options, the same object for the same arguments.

    Raises:
        RegistrationError: two actions have the same text, or the constructor does not set an attribute.
    """
    game = game_class(**dict(options))
    if absent := [name for name in _declared(of_class=False) if not hasattr(game, name)]:
        raise RegistrationError(f"{game}: the constructor of {game_class.__name__} must set {', '.join(absent)}")
    if len(game._action_of_text) < game.num_actions:
        first, text = next((i, text) for i, text in enumerate(game.action_texts) if game._action_of_text[text] != i)
        raise RegistrationError(
            f"{game}: actions {first} and {game._action_of_text[text]} have the same text {text!r}; see board_action_text"
        )
    return game


def _unpickle(entry: GameEntry | None, name: str, options: tuple[tuple[str, Any], ...]) -> Game:
    """Return a game. ``entry`` is given if the game was registered at run time, possibly in another process."""
    if entry is not None:
        GAMES.add(entry)
    return make_game(game_class(game_entry(name)), options)


_COMPILED: dict[tuple[Any, ...], Callable[..., Any]] = {}


@cache
def all_kernels(game: type[Game]) -> Mapping[str, Callable[..., Any]]:
    """Return the kernels of a game, with defaults for the optional ones."""
    missing = [name for name in contract.OPTIONAL_KERNELS if name not in game.kernels]
    defaults = {name: compiler.specialized_kernel(getattr(contract, name), game.name, game.kernels) for name in missing}
    return {**game.kernels, **defaults}


def game_class(entry: GameEntry) -> type[Game]:
    """Return the class of a game: the one that is registered, or the one with the name of the entry in the game's rules.

    Raises:
        RegistrationError: it cannot be imported, is not a subclass of ``Game``, has a different name, or lacks something.
    """
    found = _named_class(entry)
    if lacking := _lacking(found):
        raise RegistrationError(
            f"{entry.name}: the class {found.__name__} lacks {', '.join(lacking)} (see stoneworks.envs.rules.contract)"
        )
    return found


@cache
def _lacking(rules: type[Game]) -> list[str]:
    """Return what a class must give and does not."""
    return [name for name in _declared(of_class=True) if not hasattr(rules, name)] + sorted(rules.__abstractmethods__)


def _declared(*, of_class: bool) -> list[str]:
    """Return the names of the attributes of classes of games, or of games, that :class:`GameDefinition` declares."""
    declared = inspect.get_annotations(GameDefinition)
    return [name for name, kind in declared.items() if ("ClassVar" in str(kind)) == of_class]


def _named_class(entry: GameEntry) -> type[Game]:
    if ":" in entry.path:
        found = entry.load_class("path", Game)  # type: ignore[type-abstract]
        if (name := getattr(found, "name", None)) != entry.name:
            raise RegistrationError(
                f"{entry.name}: the class {entry.path} must have the name {entry.name!r}, got {name!r}"
            )
        return found
    rules = entry.find_part("rules")
    for value in vars(rules).values():
        if isinstance(value, type) and issubclass(value, Game) and getattr(value, "name", None) == entry.name:
            return value
    raise RegistrationError(f"{entry.name}: {entry.path} must define a subclass of Game with the name {entry.name!r}")


def as_game(game: Game | str, **options: object) -> Game:
    """Return a game, given as such, as a game string, or by name and options.

    Raises:
        ValueError: it is none of these, or :func:`load_game` refuses it.
    """
    if isinstance(game, str):
        return load_game(game, **options)
    if not isinstance(game, Game):
        raise ValueError(f"game must be a Game or a game string such as 'vadus(size=9)', got {game!r}")
    if options:
        raise ValueError(f"options must be empty where game is a Game, got {', '.join(options)} with {game!r}")
    return game


def load_game(game: str, /, **options: object) -> Game:
    """Load a game by name and options, or by game string.

    Args:
        game: a name (``"vadus"``) or a game string (``"vadus(size=9)"``), such as ``str(game)``.
        **options: game options, only allowed if ``game`` is a name. Missing options have their default values.

    Raises:
        UnknownGameError: the name is unknown.
        RegistrationError: a game of another package cannot be loaded.
        ValueError: an option is unknown or has an invalid value.
    """
    name, in_string = parse_game_string(game)
    if in_string and options:
        raise ValueError(f"{game!r} contains options; give options either in the game string or as keywords, not both")
    rules = game_class(game_entry(name))
    checked = check_options(name, rules.option_types, in_string or options)
    return make_game(rules, tuple(checked.items()))
