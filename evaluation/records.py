"""Records of games: one JSON object per line, written atomically and parsed strictly; ``GameRecord.replay`` checks the actions."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, Strict, model_validator

from stoneworks.documents import Document, Tuple, verified, with_checksum
from stoneworks.envs.rules import Game, IllegalActionError, Outcome, State, load_game
from stoneworks.extras import MissingDependencyError
from stoneworks.files import write_whole
from stoneworks.models.bots.bot import BotForfeit
from stoneworks.reading import parse_json, read_bytes

#: Reasons of forfeits; the games themselves are unfinished.
FORFEIT_REASONS = tuple(f"forfeit: {reason}" for reason in BotForfeit.REASONS)
#: Maximum size of a file of records in bytes.
MAX_BYTES = 2**30


class GameRecordError(ValueError):
    """Raised when a record cannot be read or contradicts the rules. The message states the problem and where it is."""


class GameRecord(Document):
    """The file of a game, complete or unfinished: a line of JSON.

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

    error = GameRecordError

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

    @property
    def is_forfeit(self) -> bool:
        """Whether a player has forfeited the game."""
        return self.reason in FORFEIT_REASONS

    def score(self, player: int) -> float:
        """Return the score of a player: 1, 0.5 or 0. A game without a winner is a draw."""
        return 0.5 if self.winner is None else float(self.winner == player)

    def to_json(self) -> str:
        """Return one line of JSON. Raises :class:`GameRecordError` if the metadata is not JSON-serializable."""
        try:
            return json.dumps(with_checksum(self.to_fields()), allow_nan=False)
        except (TypeError, ValueError) as error:
            raise GameRecordError(f"metadata must be representable as JSON ({error}), got {self.metadata!r}") from None

    @classmethod
    def from_json(cls, line: str, source: str = "record") -> GameRecord:
        """Return the record that ``to_json`` wrote as ``line``. ``source`` is its name in errors.

        Raises:
            GameRecordError: it is not a JSON object, a field is missing, unknown, or of another type, the game or its result is
                unknown, an action is not one of the game, or the checksum is wrong. Nothing is replayed.
        """
        record = cls.parse(verified(parse_json(line, GameRecordError, source), GameRecordError, source), source)
        record.__dict__["source"] = source
        record._check_game()
        return record

    @cached_property
    def source(self) -> str:
        """Name of the record in errors: where it was read, such as its file and line."""
        return "record"

    def _check_game(self) -> Game:
        """Return the game, after a check of the result and, unless they are of another version, of the actions.

        Raises:
            GameRecordError: they are not those of the game.
        """
        source = self.source
        try:
            game = load_game(self.game)
        except (ValueError, MissingDependencyError) as error:
            raise GameRecordError(f"{source}: game is {self.game!r}: {error}") from None
        if self.reason is not None and not self.is_forfeit and self.reason not in game.reasons:
            allowed = ", ".join((*game.reasons, *FORFEIT_REASONS))
            raise GameRecordError(f"{source}: reason must be null or one of {allowed}, got {self.reason!r}")
        for number, text in enumerate(self.actions if self.version == game.version else (), start=1):
            try:
                game.string_to_action(text)
            except IllegalActionError as error:
                raise GameRecordError(f"{source}: action {number}, {text!r}: {error}") from None
        return game

    def replay(self) -> State:
        """Replay the game and return its last position. In a forfeited game, the player to move there has lost.

        Raises:
            GameRecordError: the game or its version is unknown, an action is illegal, or the result is different. The message
                starts with :attr:`source`.
        """
        source, game = self.source, self._check_game()
        if self.version != game.version:
            raise GameRecordError(f"{source}: version is {self.version}; {game} is now of version {game.version}")
        state = game.new_initial_state()
        for number, text in enumerate(self.actions, start=1):
            try:
                state.apply_action(game.string_to_action(text))
            except IllegalActionError as error:
                raise GameRecordError(f"{source}: action {number}, {text!r}: {error}") from None
        outcome, mover = state.outcome(), state.current_player()
        claimed = None if self.reason is None else Outcome(self.winner, self.reason)
        if (outcome is not None or self.winner != 1 - mover) if self.is_forfeit else outcome != claimed:
            to_move = f" in which player {mover} is to move" if self.is_forfeit else ""
            raise GameRecordError(
                f"{source}: the result is {_in_words(claimed)}; the actions lead to {_in_words(outcome)}{to_move}"
            )
        return state


def write_records(path: str | os.PathLike[str], records: Iterable[GameRecord]) -> None:
    """Write records to ``path`` as JSON lines, atomically. Raises :class:`GameRecordError` if metadata is not JSON-serializable."""
    write_whole(Path(path), "".join(record.to_json() + "\n" for record in records))


def read_records(path: str | os.PathLike[str]) -> list[GameRecord]:
    """Return the records of a file that :func:`write_records` wrote.

    Raises:
        GameRecordError: the file cannot be read, or a line is not a record; it names the file, the line, and what is wrong.
    """
    records = []
    for number, line in enumerate(io.BytesIO(read_bytes(path, GameRecordError, MAX_BYTES)), start=1):
        source = f"{path}, line {number}"
        try:
            records.append(GameRecord.from_json(line.decode("utf-8"), source))
        except UnicodeDecodeError as error:
            raise GameRecordError(f"{source}: not UTF-8 ({error})") from None
    return records


def _in_words(outcome: Outcome | None) -> str:
    if outcome is None:
        return "an unfinished game"
    return f"a {'draw' if outcome.winner is None else f'win of player {outcome.winner}'} ({outcome.reason})"
