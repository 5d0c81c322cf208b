"""``ArenaSettings``: everything that the games of an arena depend on; its pairings, and their division into chunks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from pydantic import AfterValidator, Field, Strict, ValidationInfo, field_validator, model_validator

from stoneworks.checks import check_integer
from stoneworks.documents import Document
from stoneworks.envs.rules import load_game
from stoneworks.evaluation.match import MAX_OPENING_ACTIONS, MAX_PAIRS_AT_ONCE, Names
from stoneworks.evaluation.sprt import Sprt

#: Maximum number of pairs of games per pairing.
MAX_PAIRS = 10_000_000
#: Maximum number of chunks (files) of an arena.
MAX_CHUNKS = 1_000_000

#: A game string, in the form of ``str(game)``.
GameString = Annotated[str, AfterValidator(lambda text: str(load_game(text)))]


def _check_players(names: tuple[str, str]) -> tuple[str, str]:
    if names[0] == names[1]:
        raise ValueError(f"a pairing must have two different players, got {names[0]!r} twice")
    return names


@dataclass(frozen=True)
class ArenaChunk:
    """A part of a pairing that is played and stored as a unit.

    Attributes:
        pairing: index of the pairing.
        number: number of the chunk within the pairing, from 0.
        num_pairs: number of pairs of games.
    """

    pairing: int
    number: int
    num_pairs: int

    def seeds(self, arena_seed: int) -> tuple[int, int, int]:
        """Return the seeds of the openings and of both players, which depend only on the arena's seed and the chunk."""
        sequence = np.random.SeedSequence(arena_seed, spawn_key=(self.pairing, self.number))
        openings, first, second = sequence.generate_state(3).tolist()
        return openings, first, second


class ArenaSettings(Document):
    """Settings of an arena.

    Attributes:
        game: the game string, in the form of ``str(game)``.
        game_version: version of the game; no other than the present one is valid, which is the default.
        pairings: pairs of player names A and B.
        num_pairs: pairs of games per pairing; the maximum with ``sprt``.
        chunk_pairs: pairs of games that are played concurrently and stored as one file.
        opening_actions: random actions at the start of each pair.
        seed: seed of openings and players.
        sprt: a test that may stop the match early, or its text; requires a single pairing.

    Raises:
        DocumentError: a value is invalid.
    """

    game: GameString
    game_version: int = Field(-1, validate_default=True)
    pairings: Annotated[
        tuple[Annotated[Names, AfterValidator(_check_players)], ...], Strict(False), Field(min_length=1)
    ]
    num_pairs: int = Field(100, ge=1, le=MAX_PAIRS)
    chunk_pairs: int = Field(8, ge=1, le=MAX_PAIRS_AT_ONCE)
    opening_actions: int = Field(3, ge=0, le=MAX_OPENING_ACTIONS)
    seed: int = Field(0, ge=0)
    sprt: Sprt | None = None

    @field_validator("game_version")
    @classmethod
    def _check_version(cls, version: int, others: ValidationInfo) -> int:
        game = others.data.get("game")  # missing if it is invalid
        present = version if game is None else load_game(game).version
        if version not in (-1, present):
            raise ValueError(f"must be {present}, the present version of {game}, got {version}")
        return present

    @model_validator(mode="after")
    def _check_together(self) -> ArenaSettings:
        num_chunks = len(self.pairings) * -(-self.num_pairs // self.chunk_pairs)
        if num_chunks > MAX_CHUNKS:
            raise ValueError(
                f"num_pairs must give at most {MAX_CHUNKS} chunks, got {num_chunks} with {self.num_pairs} pairs of "
                f"{len(self.pairings)} pairings in chunks of {self.chunk_pairs}"
            )
        if self.sprt is not None and len(self.pairings) != 1:
            raise ValueError(f"sprt requires a single pairing, got {len(self.pairings)}")
        return self

    @property
    def players(self) -> tuple[str, ...]:
        """The names of all players, in the order of the pairings."""
        return tuple(dict.fromkeys(name for pairing in self.pairings for name in pairing))

    @property
    def total_pairs(self) -> int:
        """Number of pairs of games of all pairings; the maximum with ``sprt``."""
        return len(self.pairings) * self.num_pairs

    @property
    def chunks(self) -> tuple[ArenaChunk, ...]:
        """The chunks, interleaved, so that an interrupted arena has played all pairings about equally."""
        sizes = [min(self.chunk_pairs, self.num_pairs - start) for start in range(0, self.num_pairs, self.chunk_pairs)]
        pairings = range(len(self.pairings))
        return tuple(ArenaChunk(pairing, number, size) for number, size in enumerate(sizes) for pairing in pairings)


def round_robin(names: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Return the pairings of all players with each other. Raises ``ValueError`` for fewer than two players, or duplicates."""
    return neighbors(names, max(len(names) - 1, 1))


def gauntlet(name: str, names: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Return the pairings of one player with all others.

    Raises:
        ValueError: ``name`` is not among ``names``, there are fewer than two players, or duplicates.
    """
    _check_names(names)
    if name not in names:
        raise ValueError(f"gauntlet must be one of the players, {', '.join(map(repr, names))}, got {name!r}")
    return tuple((name, other) for other in names if other != name)


def neighbors(names: Sequence[str], num_neighbors: int) -> tuple[tuple[str, str], ...]:
    """Return the pairings of each player with the next ``num_neighbors`` of the list, which is sorted by expected strength.

    Raises:
        ValueError: there are fewer than two players, duplicates, or ``num_neighbors`` is not an integer >= 1.
    """
    _check_names(names)
    check_integer("neighbors", num_neighbors, 1)
    return tuple(
        (name, other) for index, name in enumerate(names) for other in names[index + 1 : index + 1 + num_neighbors]
    )


def _check_names(names: Sequence[str]) -> None:
    if len(names) < 2:
        raise ValueError(f"at least two players are required, got {len(names)}")
    if repeated := [name for name in names if list(names).count(name) > 1]:
        raise ValueError(f"duplicate player {repeated[0]!r}")
