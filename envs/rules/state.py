"""``State``: a position of a game, with OpenSpiel's names of methods."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from stoneworks.checks import check_integer, check_player
from stoneworks.envs.rules import templates
from stoneworks.envs.rules.fields import NO_WINNER, TAG, TERMINAL_PLAYER
from stoneworks.envs.rules.game import Game, IllegalActionError, PositionError
from stoneworks.envs.rules.position_text import position_text
from stoneworks.envs.rules.templates import ILLEGAL
from stoneworks.envs.rules.texts import Explanation


class Outcome(NamedTuple):
    """Result of a game: the winner (or None) and the reason, one of ``Game.reasons``."""

    winner: int | None
    reason: str


_BOOL, _INT8, _FLOAT32 = np.dtype(np.bool_), np.dtype(np.int8), np.dtype(np.float32)


class State:
    """A position of a game. It is mutable; ``clone`` returns an independent copy.

    States are equal if their positions are equal; the history is not compared. The attribute ``game`` is
    the same as OpenSpiel's ``get_game()``.
    """

    __slots__ = ("_current_player", "_game", "_history", "_records")

    def __init__(self, game: Game) -> None:
        self._game = game
        self._records = _writable(game.initial_records.tobytes(), game.state_dtype)
        self._current_player = int(self._records["current_player"][0])
        self._history: list[int] = []

    # -- Playing -----------------------------------------------------------------------------------------------------

    def apply_action(self, action: int) -> None:
        """Apply an action of the player to move.

        Raises:
            IllegalActionError: the action is illegal. The state is unchanged.
        """
        if not self.try_apply_action(action):
            raise IllegalActionError(self.why_illegal(action))

    def try_apply_action(self, action: int) -> bool:
        """Apply an action if it is legal, and return whether it was.

        Raises:
            IllegalActionError: the action is not an integer.
        """
        game = self._game
        index = game.action_index(action)
        try:
            player: int = game._try_action(game.board, self._records, np.empty(game.num_actions, _INT8), index)
        except OverflowError:  # does not fit the kernel's 64-bit argument
            return False
        if player == ILLEGAL:
            return False
        self._current_player = player
        self._history.append(index)
        return True

    def try_step(self, action: int) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int8]] | None:
        """Apply an action if it is legal, and return the observation and mask that follow, all in one compiled call.

        Returns:
            ``float32[planes, height, width]`` and ``int8[num_actions]`` of the new position, or None if the action is illegal; then
            the state is unchanged.

        Raises:
            IllegalActionError: the action is not an integer.
        """
        game = self._game
        index = game.action_index(action)
        planes = np.empty(game.observation_shape, _FLOAT32)
        mask = np.empty(game.num_actions, _INT8)
        try:
            player: int = game._try_step(game.board, self._records, index, planes, mask)
        except OverflowError:  # does not fit the kernel's 64-bit argument
            return None
        if player == ILLEGAL:
            return None
        self._current_player = player
        self._history.append(index)
        return planes, mask

    def why_illegal(self, action: int) -> str:
        """Return the message of the ``IllegalActionError`` for an illegal action."""
        game = self._game
        if not 0 <= action < game.num_actions:
            return f"{game}: action must be from 0 to {game.num_actions - 1}, got {action}"
        legal = self.legal_actions()
        shown = " ".join(map(game.action_to_string, legal[:12])) + (
            f" ... ({len(legal)} in all)" if len(legal) > 12 else ""
        )
        allowed = f"; legal actions: {shown}" if legal else ""
        text = game.action_to_string(action)
        return f"{game}: action {action} ({text}) is illegal: {self.explain_illegal(action)}{allowed}; the position is\n{self}"

    def explain_illegal(self, action: int) -> str | None:
        """Return the ruling that an action breaks, such as ``"V2: e5 is occupied"``, or None if the action is legal.

        Raises:
            IllegalActionError: the action is not the index of an action of the game.
        """
        self._game.action_to_string(action)
        return None if self.legal_actions_mask()[action] else self._game.explain_illegal(self, int(action))

    def child(self, action: int) -> State:
        """Return the state after ``action``. This state is unchanged."""
        child = self.clone()
        child.apply_action(action)
        return child

    def legal_actions(self, player: int | None = None) -> list[int]:
        """Return the legal actions in ascending order. With ``player``: an empty list unless it is the player to move."""
        if player is not None and player != self._current_player:
            return []
        game = self._game
        mask = np.empty(game.num_actions, _BOOL)  # one byte, as in int8; nonzero() is fastest for booleans
        game._fill_mask(game.board, self._records, mask)
        return mask.nonzero()[0].tolist()

    def legal_actions_mask(self, player: int | None = None) -> npt.NDArray[np.int8]:
        """Return ``int8[num_actions]``: 1 for legal actions, else 0; zeros after the end of the game."""
        game = self._game
        if player is not None and player != self._current_player:
            return np.zeros(game.num_actions, np.int8)
        mask = np.empty(game.num_actions, np.int8)
        game._fill_mask(game.board, self._records, mask)
        return mask

    # -- Queries -----------------------------------------------------------------------------------------------------

    def current_player(self) -> int:
        """Return the player to move, or ``TERMINAL_PLAYER`` (-4) after the end of the game."""
        return self._current_player

    def is_terminal(self) -> bool:
        """Return whether the game is over (including truncated games)."""
        return self._current_player == TERMINAL_PLAYER

    def is_truncated(self) -> bool:
        """Return whether the game was truncated at its maximum length."""
        return bool(self._records["truncated"][0])

    def outcome(self) -> Outcome | None:
        """Return the outcome, or None while the game is in progress."""
        ending = int(self._records["ending"][0])
        if not ending:
            return None
        winner = int(self._records["winner"][0])
        return Outcome(None if winner == NO_WINNER else winner, self._game.reasons[ending - 1])

    def explain_result(self) -> Explanation | None:
        """Return why the game ended as it did, and the stones that decided, or None while it is in progress."""
        return self._game.explain_result(self) if self.is_terminal() else None

    def returns(self) -> list[float]:
        """Return the sum of rewards of both players: zeros until the end, then 1 and -1, or zeros for a draw."""
        winner = int(self._records["winner"][0])
        return [0.0, 0.0] if winner == NO_WINNER else [1.0 - 2.0 * (player != winner) for player in (0, 1)]

    def score(self) -> tuple[Any, Any] | None:
        """Return the score of color 0 and color 1 (its form depends on the game), or None if the game has no score."""
        return self._game.score(self)

    def color_of(self, player: int) -> int:
        """Return the color of ``player``: the player's own number, except after a swap in Laido."""
        return self._game.color_of(self, check_player(player))

    def history(self) -> list[int]:
        """Return the actions that led to this state; none for a state made from a record, as in batches."""
        return list(self._history)

    def move_number(self) -> int:
        """Return the number of actions in :meth:`history`."""
        return len(self._history)

    def perft(self, depth: int) -> int:
        """Return the number of distinct sequences of ``depth`` actions from this state."""
        check_integer("depth", depth, 0)
        count: Callable[..., int] = self._game.compiled(templates.count_sequences)
        return count(self._game.board, self._records, depth) if depth else 1

    @property
    def record(self) -> np.void:
        """Copy of the position, a record of ``game.state_dtype``. ``record.reshape(1)`` is an array of it for kernels."""
        return _writable(self._records.tobytes(), self._game.state_dtype)[0]  # type: ignore[no-any-return]

    @classmethod
    def from_record(cls, game: Game, record: np.void, *, trusted: bool = False) -> State:
        """Return the state of a record, with an empty history.

        Args:
            game: the game.
            record: a record of ``game.state_dtype``.
            trusted: skip the validation and take the record as one of this game. An invalid record can then crash the
                process or give wrong results.

        Raises:
            ValueError: ``game`` is not a game.
            PositionError: the record is not a position of this game.
        """
        if not isinstance(game, Game):
            raise ValueError(f"game must be a Game, got {game!r}")
        if getattr(record, "dtype", None) != game.state_dtype:
            raise PositionError(
                f"{game}: the record has a different dtype ({type(record).__name__}); expected game.state_dtype"
            )
        if np.shape(record) not in ((), (1,)):
            raise PositionError(f"{game}: expected a single record, got an array of shape {np.shape(record)}")
        state = cls.__new__(cls)
        state._game = game
        state._records = np.zeros(1, game.state_dtype)
        state._records[0] = record
        if trusted:
            state._records[TAG] = game.record_tag
        else:
            game.check_records(state._records)
        state._current_player = int(state._records["current_player"][0])
        state._history = []
        return state

    # -- Observations ------------------------------------------------------------------------------------------------

    def observation_tensor(self, player: int | None = None) -> npt.NDArray[np.float32]:
        """Return ``float32[planes, height, width]`` from the perspective of ``player``.

        The default is the player to move, or player 0 after the end of the game. The planes are those of
        ``game.observation_planes``, with values in [0, 1].

        Raises:
            ValueError: ``player`` is neither 0 nor 1.
        """
        if player is None:
            player = max(self._current_player, 0)
        elif type(player) is not int or not 0 <= player <= 1:
            player = check_player(player)
        planes = np.empty(self._game.flat_observation_shape, np.float32)
        self._game._fill_observation(self._game.board, self._records, player, planes)
        return planes.reshape(self._game.observation_shape)

    def observation_and_mask(self, player: int) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int8]]:
        """Return ``float32[planes, height, width]`` and ``int8[num_actions]``, observation and mask of ``player``, in one call.

        The mask is zeros unless ``player`` is to move.

        Raises:
            ValueError: ``player`` is neither 0 nor 1.
        """
        if type(player) is not int or not 0 <= player <= 1:
            player = check_player(player)
        game = self._game
        planes = np.empty(game.observation_shape, _FLOAT32)
        mask = np.empty(game.num_actions, _INT8)
        game._fill_observation_and_mask(game.board, self._records, player, planes, mask)
        return planes, mask

    # -- Texts -------------------------------------------------------------------------------------------------------

    def action_to_string(self, *player_and_action: int) -> str:
        """Return the text of an action. As in OpenSpiel, the player may be given as first argument."""
        return self._game.action_to_string(player_and_action[-1])

    def string_to_action(self, *player_and_text: Any) -> int:
        """Return the action index of a text. As in OpenSpiel, the player may be given as first argument.

        Raises:
            IllegalActionError: the text is not an action of the game. Legality in this position is not checked.
        """
        return self._game.string_to_action(player_and_text[-1])

    def to_text(self) -> str:
        """Return the position as one line, what FEN is for chess (see :mod:`stoneworks.envs.rules.position_text`).

        ``game.state_from_text`` returns an equal state. The history is not in it.
        """
        return position_text(str(self._game), self._game.grid, self._game.initial_records[0], self.record)

    def serialize(self) -> str:
        """Return the texts of the actions that led to this state, one per line (see ``Game.deserialize_state``)."""
        return "\n".join(map(self._game.action_to_string, self._history))

    def __str__(self) -> str:
        return self._game.state_to_text(self)

    def __repr__(self) -> str:
        return f"<State of {self._game} after {len(self._history)} actions>"

    # -- Copies ------------------------------------------------------------------------------------------------------

    def get_game(self) -> Game:
        """Return the game."""
        return self._game

    game = property(get_game)

    def clone(self) -> State:
        """Return an independent copy."""
        copy = State.__new__(State)
        copy._game = self._game
        copy._records = _writable(self._records.tobytes(), self._game.state_dtype)
        copy._current_player = self._current_player
        copy._history = self._history.copy()
        return copy

    __copy__ = clone

    def __deepcopy__(self, memo: dict[int, Any]) -> State:
        return self.clone()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, State):
            return NotImplemented
        return self._game == other._game and self._records.tobytes() == other._records.tobytes()

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Callable[..., State], tuple[Game, bytes, list[int]]]:
        return _restore, (self._game, self._records.tobytes(), self._history)


def _writable(record: bytes, dtype: np.dtype[Any]) -> npt.NDArray[np.void]:
    """Return an array of one record. It takes a sixth of the time of copying an array, which numpy does field by field."""
    return np.frombuffer(bytearray(record), dtype)


def _restore(game: Game, record: bytes, history: list[int]) -> State:
    records = np.frombuffer(record, game.state_dtype)
    game.check_tags(records)
    # Without ranges of the fields the record is trusted: the author of a pickle can run any code anyway.
    state = State.from_record(game, records[0], trusted=not game.can_check_records)
    state._history = list(history)
    return state
