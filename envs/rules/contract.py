"""The contract: everything that the author of a game writes.

A game is a module, or a package with these modules, of which only the rules are required:

========================  ==========================================================================================
``rules.py``              the kernels of the rules and a subclass of :class:`stoneworks.envs.rules.Game`
``heuristic.py``          the kernels :func:`heuristic` and :func:`rate_actions`, optionally :func:`may_win`, and ``SCALE``
``features.py``           the kernel :func:`fill_features` and ``FEATURES``, a tuple of :class:`Feature`
``texts.py``              functions that say what a turn needs, why an action is illegal, and why a game ended (see
                          :mod:`stoneworks.envs.rules.texts`)
``drawing.py``            ``last_turn(state)`` and ``compose(state, annotations)``, optionally ``places(game, action)``,
                          ``choice(game, action)``, ``parts(game)`` and ``shown`` (see :mod:`stoneworks.envs.drawing`)
``guide.json``            the rules in short, lessons and pictures of the rulings (see :mod:`stoneworks.envs.rules.guide`)
``solved/``               exact results of small boards, written by ``stoneworks solve``
========================  ==========================================================================================

A game that is one module has all of these names in it. What a game has is found by these names (see
:mod:`stoneworks.envs.rules.parts`).

The functions below are placeholders: templates call them, and specialization replaces them by the game's kernels of the same
names (see :mod:`stoneworks.envs.rules.compiler.compiler` for these terms). Kernels allocate no Python objects and do not
raise; callers validate their arguments. Nothing assumes that players alternate.

- ``board`` is the record of board constants (:meth:`GameDefinition.board_of`); every game's has ``num_cells`` and
  ``num_actions``.
- ``state`` is a position, a record that begins with the fields of ``STATE_HEADER`` (see :mod:`stoneworks.envs.rules.fields`).
  Equal positions must be equal byte for byte, whatever the order of the actions that lead to them.
- ``player`` is 0 or 1; player 0 moves first. ``action`` is an index: ``plane * num_cells + cell`` for a board action; the
  global actions, such as a pass, come last.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar, Generic, NamedTuple, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from stoneworks.envs.rules.compiler.compiler import int64, kernel, linked
from stoneworks.envs.rules.compiler.random_numbers import random_legal_action
from stoneworks.envs.rules.compiler.types import BoardRecord, Float32s, Float32Table, Int8s, StateRecord, UInt64s
from stoneworks.envs.rules.fields import Constant, Field, board_record
from stoneworks.envs.rules.grid import Grid, GridSymmetry
from stoneworks.envs.rules.guide import Guide
from stoneworks.envs.rules.options import Option
from stoneworks.envs.rules.texts import Explanation, said

#: Kernels by name.
Kernels: TypeAlias = Mapping[str, Callable[..., Any]]

#: The kernels of the rules that every game has, and those that have defaults.
REQUIRED_KERNELS = ("reset", "legal_actions", "apply_action", "observe")
OPTIONAL_KERNELS = ("finish_at_random", "update_observation", "result_bounds")

#: In place of an action: no action, which leaves a game of a batch unchanged.
NO_ACTION = -1


# -- The rules: every game has these four kernels --------------------------------------------------------------------


@linked
def reset(board: BoardRecord, state: StateRecord) -> None:
    """Make ``state`` the initial position. Every field is written; the previous content is ignored."""
    raise NotImplementedError


@linked
def legal_actions(board: BoardRecord, state: StateRecord, mask: Int8s) -> None:
    """Write every entry of ``mask`` (``int8[num_actions]``): 1 for legal actions, else 0. The game must not be over."""
    raise NotImplementedError


@linked
def apply_action(board: BoardRecord, state: StateRecord, action: int) -> None:
    """Apply a legal action. At the end of the game, set ``current_player``, ``winner``, ``ending`` and ``truncated``."""
    raise NotImplementedError


@linked
def observe(board: BoardRecord, state: StateRecord, player: int, planes: Float32Table) -> None:
    """Write every entry of ``planes`` (``float32[num_planes, height * width]`` in [0, 1]) as ``player`` sees the position."""
    raise NotImplementedError


# -- The rules, optional: a game may have a faster or sharper kernel of its own ----------------------------------------


@linked
def finish_at_random(board: BoardRecord, state: StateRecord, mask: Int8s, seeds: UInt64s, game: int) -> int:
    """Play to the end with uniformly random legal actions and return the number of actions.

    ``mask`` (``int8[num_actions]``) is scratch space; ``seeds[game]`` is advanced. This default is used for
    games without a kernel of this name.
    """
    played = 0
    while not state.ending:
        legal_actions(board, state, mask)
        apply_action(board, state, random_legal_action(mask, seeds, game))
        played += 1
    return played


@linked
def update_observation(board: BoardRecord, before: StateRecord, state: StateRecord, planes: Float32Table) -> None:
    """Change ``planes`` from the observation of ``before`` to that of ``state``.

    Each is from the perspective of its player to move, of player 0 after the end (see ``player_shown``). ``state`` may be any
    position, e.g. that of a new game. This default is used for games without a kernel of this name.

    With the default in place of their kernels, batches of 64 games made 0.96 (``vadus(size=5)``), 0.75 (``vadus(size=9)``), 0.89
    (``laido(size=9)``), 0.97 (``taugo(size=8)``), 0.62 (``taugo(size=16)``), 0.52 (``taigo(radius=12)``) and 0.44
    (``trugo(radius=10,tiles=36)``) times as many steps per second (one Xeon core at 2.5 GHz, November 2026).
    """
    observe(board, state, player_shown(state), planes)


@linked
def result_bounds(board: BoardRecord, state: StateRecord) -> tuple[int, int]:
    """Return bounds of the result of a non-terminal position for player 0 (1, 0 or -1) under perfect play, for proofs.

    This default, [-1, 1], is used for games without a kernel of this name.
    """
    return -1, 1


@kernel
def player_shown(state: StateRecord) -> int:
    """Return the player from whose perspective batches show a position: the player to move, or player 0 after the end."""
    return max(0, int64(state.current_player))


def rules_kernels(module: Mapping[str, Any]) -> Kernels:
    """Return the kernels of the rules among the names of a game's module: the four and, if present, the optional ones.

    Args:
        module: the names of the module, ``globals()``.

    Raises:
        TypeError: one of the four is missing.
    """
    for name in REQUIRED_KERNELS:
        if name not in module:
            raise TypeError(f"{module.get('__name__')}: the rules must define the kernel {name}")
    return {name: module[name] for name in (*REQUIRED_KERNELS, *OPTIONAL_KERNELS) if name in module}


# -- The heuristic: values of positions, and an order of actions ----------------------------------------------------------


@linked
def heuristic(board: BoardRecord, state: StateRecord, player: int) -> float:
    """Return the value of a non-terminal position for ``player``; 0 is even.

    ``tanh(value / SCALE)`` is the expected result, with the number ``SCALE`` of the module, which ``tools.heuristic_scale`` fits.
    """
    raise NotImplementedError


@linked
def rate_actions(board: BoardRecord, state: StateRecord, mask: Int8s, ratings: Float32s) -> None:
    """Write ``ratings[num_actions]`` of the legal actions, for move ordering; infinity forces an action to be tried."""
    raise NotImplementedError


@linked
def may_win(board: BoardRecord, state: StateRecord, action: int) -> bool:
    """Return whether the turn may win if it continues with the legal ``action``; a cheap condition, which may miss wins.

    Optional: without it, searches do not look for wins within the turn.
    """
    raise NotImplementedError


# -- Features: planes that a network reads in addition to the observation ----------------------------------------------
#
# AlphaGo used such planes (Silver et al., Nature 529, 2016, extended data table 2), and KataGo does (Wu, 2019). They show
# what a small convolutional network cannot compute, such as properties of groups that extend over the whole board.


class Feature(NamedTuple):
    """A feature plane.

    Attributes:
        name: name of the plane, unique within the game.
        same_symmetry_as: name of the observation plane that symmetries of the game map in the same way; None for the board
            plane.
    """

    name: str
    same_symmetry_as: str | None = None


def fill_features(board: BoardRecord, state: StateRecord, player: int, planes: Float32Table) -> None:
    """Write every entry of ``planes`` (``float32[num_features, height * width]``) from the perspective of ``player``.

    Features must not depend on anything but the position, so that equal positions have equal features.
    """
    raise NotImplementedError


# -- The class ---------------------------------------------------------------------------------------------------------


#: ``State``, which is defined in terms of games.
S = TypeVar("S", bound=Any)


class GameDefinition(ABC, Generic[S]):
    """What the class of a game gives. Authors extend :class:`stoneworks.envs.rules.Game`, which adds all that games share.

    The constructor takes the options, calls that of the base class, and sets the attributes ``grid``, ``state_dtype`` and
    ``board``.

    Attributes:
        name: name of the game for ``load_game``.
        option_types: the options.
        size_options: options that change the size of a game without changing its rules. A network that was trained with one
            value of these plays with every other; all other options must be the same as in training.
        num_action_planes: number of planes of board actions.
        global_actions: texts of the actions that are not on the board.
        observation_planes: names of the observation planes (see ``plane_names``).
        board_plane: the observation plane that marks the cells of the board.
        binary_observations: whether observations contain only zeros and ones.
        has_lines: whether a turn in progress is a line, which a click on a later place of it continues up to there.
        reasons: reasons for the end of a game; the field ``ending`` of a state is 1 + the index.
        colors: names of the colors of the first and the second player.
        action_help: what the text of an action looks like, for error messages.
        guide: the rules in short, lessons and pictures.
        kernels: the kernels of the rules, ``rules_kernels(globals())``.
        options: the value of every option.
        grid: the cells of the board.
        board: the board constants, an array of one record.
        state_dtype: dtype of a position.
        state_fields: the fields of a position after the header. Games that leave this empty accept only records that are
            trusted.
    """

    name: ClassVar[str]
    option_types: ClassVar[Mapping[str, Option]]
    size_options: ClassVar[tuple[str, ...]]
    num_action_planes: ClassVar[int]
    global_actions: ClassVar[tuple[str, ...]]
    observation_planes: ClassVar[tuple[str, ...]]
    board_plane: ClassVar[str] = "board"
    binary_observations: ClassVar[bool] = False
    has_lines: ClassVar[bool] = False
    reasons: ClassVar[tuple[str, ...]]
    colors: ClassVar[tuple[str, str]]
    action_help: ClassVar[str]
    guide: ClassVar[Guide] = Guide()
    kernels: ClassVar[Kernels]

    options: dict[str, Any]
    grid: Grid
    board: npt.NDArray[np.void]
    state_dtype: np.dtype[Any]
    state_fields: Sequence[Field] = ()

    @cached_property
    def num_actions(self) -> int:
        """Number of action indices: ``planes * height * width`` plus the number of global actions."""
        return self.num_action_planes * self.grid.num_cells + len(self.global_actions)

    def board_of(self, *constants: Constant) -> npt.NDArray[np.void]:
        """Return the board constants for kernels, an array of one record. Requires ``grid``."""
        return board_record(self.grid.num_cells, self.num_actions, constants)

    # -- Required ------------------------------------------------------------------------------------------------------

    @abstractmethod
    def max_game_length(self) -> int:
        """Return an upper bound on the number of actions of a game."""

    @abstractmethod
    def state_to_text(self, state: S) -> str:
        """Return a text diagram of the position, row 0 at the bottom, and a last line with the player to move."""

    # -- Games with several planes of board actions, or with directions -----------------------------------------------

    def board_action_text(self, plane: int, cell: int) -> str:
        """Return the text of the action of ``plane`` on ``cell``; the texts of a game's actions are all different."""
        return self.grid.cell_names[cell]

    def keeps_rules(self, of_grid: GridSymmetry) -> bool:
        """Return whether a symmetry of the grid is a symmetry of the game.

        By default, all are, or only the identity if the game has several planes of board actions and does not say by
        ``action_plane_images`` what becomes of them.
        """
        knows_planes = type(self).action_plane_images is not GameDefinition.action_plane_images
        return self.num_action_planes == 1 or knows_planes or of_grid is self.grid.symmetries[0]

    def action_plane_images(self, directions: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return the image of each action plane if direction d is mapped to ``directions[d]``."""
        return np.arange(self.num_action_planes)

    def observation_plane_images(self, directions: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return the image of each observation plane if direction d is mapped to ``directions[d]``."""
        return np.arange(len(self.observation_planes))

    def action_cell_images(self, of_grid: GridSymmetry) -> npt.NDArray[np.int64]:
        """Return the images of the cells, ``[1, num_cells]``, or per action plane, ``[num_action_planes, num_cells]``."""
        return of_grid.cells[None, :]

    def observation_cell_images(self, of_grid: GridSymmetry) -> npt.NDArray[np.int64]:
        """Return the images of the cells, ``[1, num_cells]``, or per observation plane, ``[num_planes, num_cells]``."""
        return of_grid.cells[None, :]

    # -- Games with scores, swaps, or records from outside -------------------------------------------------------------

    def score(self, state: S) -> tuple[Any, Any] | None:
        """Return the score of color 0 and color 1, or None if the game has no score."""
        return None

    def color_of(self, state: S, player: int) -> int:
        """Return the color of ``player`` in ``state``."""
        return player

    def contradictions(self, records: npt.NDArray[np.void]) -> Iterator[tuple[str, npt.NDArray[np.bool_]]]:
        """Yield names of fields, each with ``bool[n]``: whether the field contradicts other fields of ``records``.

        A game must find all contradictions that would make its kernels leave their arrays, or play without end, now or in a
        position that follows. All fields are in their ranges. The first contradiction ends the check, so the code after a
        ``yield`` can rely on what was checked before.
        """
        return iter(())

    # -- Texts on positions, which the page, the terminal, pictures and replays show -----------------------------------

    def describe_turn(self, state: S) -> str:
        """Return what the player to move does next, such as ``"second of two stones"``, or an empty text."""
        return said(self, "describe_turn", state).text

    def describe_supplies(self, state: S) -> str:
        """Return what is left to play with, such as ``"12 tiles in the pool"``, or an empty text."""
        return said(self, "describe_supplies", state).text

    def explain_result(self, state: S) -> Explanation:
        """Return why a finished game ended as it did."""
        return said(self, "explain_result", state)

    def explain_illegal(self, state: S, action: int) -> str:
        """Return the ruling that an illegal action index breaks, such as ``"V2: e5 is occupied"``."""
        default = "the game is over" if state.is_terminal() else "the rules do not allow it here"
        return said(self, "explain_illegal", state, action).text or default
