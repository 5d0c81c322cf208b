"""Records of games: one JSON object per line, written atomically, parsed strictly, and validated by replaying."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, Strict, model_validator

from stoneworks.documents import Document, Tuple
from stoneworks.envs.rules import Game, IllegalActionError, Outcome, State, load_game
from stoneworks.files import write_whole
from stoneworks.models.bots.bot import BotForfeit
from stoneworks.reading import parse_json, read_bytes

#: Reasons of forfeits; the games themselves are unfinished.
FORFEIT_REASONS = tuple(f"forfeit: {reason}" for reason in BotForfeit.REASONS)
#: Maximum size of a file of records in bytes.
MAX_BYTES = 2**30


class RecordError(ValueError):
    """Raised when a record cannot be read or contradicts the rules. The message states the problem and where it is."""


class GameRecord(Document):
    """A complete or unfinished game.

    Attributes:
        game: the game string.
        version: version of the game's rules and actions (``Game.version``).
        players: names of player 0 and player 1.
        seed: the seed of the game, if it has a single one.
        actions: the texts of all actions.
        winner: the winning player; None for a draw or an unfinished game.
        reason: one of ``Game.reasons`` or of ``FORFEIT_REASONS``; None for an unfinished game.
        metadata: additional JSON-serializable data.
    """

    error = RecordError

    game: str
    version: int = Field(ge=0)
    players: Annotated[tuple[str, str], Strict(False)]
    seed: int | None = Field(None, ge=0)
    actions: Tuple[str]
    winner: int | None = Field(ge=0, le=1)
    reason: str | None
    metadata: dict[str, Any] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _check_winner(self) -> GameRecord:
        if self.reason is None and self.winner is not None:
            raise ValueError(f"winner must be null for an unfinished game (without a reason), got {self.winner}")
        return self

    @classmethod
    def of_game(
        cls,
        game: Game,
        actions: Iterable[int],
        outcome: Outcome | None,
        players: tuple[str, str],
        seed: int | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> GameRecord:
        """Return the record of a game.

        Args:
            game: the game.
            actions: action indices from the initial position on; they are not replayed.
            outcome: the outcome; None if the game is unfinished.
            players: names of player 0 and player 1.
            seed: seed that the players used.
            metadata: further values, representable as JSON.
        """
        return cls(
            game=str(game),
            version=game.version,
            players=players,
            actions=tuple(map(game.action_to_string, actions)),
            winner=outcome.winner if outcome else None,
            reason=outcome.reason if outcome else None,
            seed=seed,
            metadata=dict(metadata or {}),
        )

    @classmethod
    def of_state(
        cls, state: State, players: tuple[str, str], seed: int | None = None, metadata: Mapping[str, Any] | None = None
    ) -> GameRecord:
        """Return the record of the game from the initial position to ``state``."""
        return cls.of_game(state.get_game(), state.history(), state.outcome(), players, seed, metadata)

    def to_json(self) -> str:
        """Return one line of JSON. Raises :class:`RecordError` if the metadata is not JSON-serializable."""
        try:
            return json.dumps(dict(self), allow_nan=False)
        except (TypeError, ValueError) as error:
            raise RecordError(f"metadata must be representable as JSON ({error}), got {self.metadata!r}") from None

    @classmethod
    def from_json(cls, line: str, source: str = "record") -> GameRecord:
        """Return the record that ``to_json`` wrote as ``line``. ``source`` is its name in errors.

        Raises:
            RecordError: it is not a JSON object, or a field is missing, unknown, or of another type. Nothing is replayed.
        """
        return cls.parse(parse_json(line, RecordError, source), source)

    def replay(self) -> State:
        """Replay the game and return its last position. In a forfeited game, the player to move there has lost.

        Raises:
            RecordError: the game or its version is unknown, an action is illegal, or the result is different.
        """
        try:
            game = load_game(self.game)
        except ValueError as error:
            raise RecordError(f"game is {self.game!r}: {error}") from None
        if self.version != game.version:
            raise RecordError(f"version is {self.version}; {game} is now of version {game.version}")
        state = game.new_initial_state()
        for number, text in enumerate(self.actions, start=1):
            try:
                state.apply_action(game.string_to_action(text))
            except IllegalActionError as error:
                raise RecordError(f"action {number}, {text!r}: {error}") from None
        outcome, mover = state.outcome(), state.current_player()
        claimed = None if self.reason is None else Outcome(self.winner, self.reason)
        is_forfeit = self.reason in FORFEIT_REASONS
        if (outcome is not None or self.winner != 1 - mover) if is_forfeit else outcome != claimed:
            to_move = f" in which player {mover} is to move" if is_forfeit else ""
            raise RecordError(f"the result is {_in_words(claimed)}; the actions lead to {_in_words(outcome)}{to_move}")
        return state


def write_records(path: str | os.PathLike[str], records: Iterable[GameRecord]) -> None:
    """Write records to ``path`` as JSON lines, atomically. Raises :class:`RecordError` if metadata is not JSON-serializable."""
    write_whole(Path(path), "".join(record.to_json() + "\n" for record in records))


def read_records(path: str | os.PathLike[str]) -> list[GameRecord]:
    """Return the records of a file that :func:`write_records` wrote.

    Raises:
        RecordError: the file cannot be read, or a line is not a record; it names the file, the line, and what is wrong.
    """
    records = []
    for number, line in enumerate(io.BytesIO(read_bytes(path, RecordError, MAX_BYTES)), start=1):
        source = f"{path}, line {number}"
        try:
            records.append(GameRecord.from_json(line.decode("utf-8"), source))
        except UnicodeDecodeError as error:
            raise RecordError(f"{source}: not UTF-8 ({error})") from None
    return records


def _in_words(outcome: Outcome | None) -> str:
    if outcome is None:
        return "an unfinished game"
    return f"a {'draw' if outcome.winner is None else f'win of player {outcome.winner}'} ({outcome.reason})"
