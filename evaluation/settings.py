"""``ArenaSettings``: everything that the games of an arena depend on, as stored in ``arena.json``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from stoneworks.envs.rules import load_game
from stoneworks.envs.rules.checks import check_integer
from stoneworks.evaluation.match import MAX_OPENING_ACTIONS, MAX_PAIRS_AT_ONCE
from stoneworks.evaluation.schedule import Chunk, chunks_of
from stoneworks.evaluation.sprt import Sprt

#: Maximum number of pairs of games per pairing.
MAX_PAIRS = 10_000_000
#: Maximum number of chunks (files) of an arena.
MAX_CHUNKS = 1_000_000


@dataclass(frozen=True)
class ArenaSettings:
    """Settings of an arena.

    Attributes:
        game: the game string, in the form of ``str(game)``.
        pairings: pairs of player names A and B.
        num_pairs: pairs of games per pairing; the maximum with ``sprt``.
        chunk_pairs: pairs of games that are played concurrently and stored as one file.
        opening_actions: random actions at the start of each pair.
        seed: seed of openings and players.
        sprt: a test that may stop the match early; requires a single pairing.

    Raises:
        ValueError: a value is invalid.
    """

    game: str
    pairings: tuple[tuple[str, str], ...]
    num_pairs: int = 100
    chunk_pairs: int = 8
    opening_actions: int = 3
    seed: int = 0
    sprt: Sprt | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "game", str(load_game(self.game)))
        bounds = {
            "num_pairs": (1, MAX_PAIRS),
            "chunk_pairs": (1, MAX_PAIRS_AT_ONCE),
            "opening_actions": (0, MAX_OPENING_ACTIONS),
            "seed": (0, None),
        }
        for name, (minimum, maximum) in bounds.items():
            object.__setattr__(self, name, check_integer(name, getattr(self, name), minimum, maximum))
        if not isinstance(self.pairings, (tuple, list)):
            raise ValueError(f"pairings must be a tuple of pairings, got {self.pairings!r}")
        if not self.pairings:
            raise ValueError("pairings must have at least one pairing, got none")
        for pairing in self.pairings:
            if not isinstance(pairing, tuple) or [type(name) for name in pairing] != [str, str]:
                raise ValueError(f"a pairing must be a tuple of the names of two players, got {pairing!r}")
        num_chunks = len(self.pairings) * -(-self.num_pairs // self.chunk_pairs)
        if num_chunks > MAX_CHUNKS:
            raise ValueError(
                f"num_pairs must give at most {MAX_CHUNKS} chunks, got {num_chunks} with {self.num_pairs} pairs of "
                f"{len(self.pairings)} pairings in chunks of {self.chunk_pairs}"
            )
        for first, second in self.pairings:
            if first == second:
                raise ValueError(f"a pairing must have two different players, got {first!r} twice")
        if self.sprt is not None and len(self.pairings) != 1:
            raise ValueError(f"sprt requires a single pairing, got {len(self.pairings)}")

    @property
    def players(self) -> tuple[str, ...]:
        """The names of all players, in the order of the pairings."""
        return tuple(dict.fromkeys(name for pairing in self.pairings for name in pairing))

    @property
    def chunks(self) -> tuple[Chunk, ...]:
        """The chunks of the arena, in their order."""
        return chunks_of(len(self.pairings), self.num_pairs, self.chunk_pairs)

    def to_fields(self) -> dict[str, Any]:
        """Return the settings as JSON-serializable fields."""
        return {
            "game": self.game,
            "game_version": load_game(self.game).version,
            "pairings": [list(pairing) for pairing in self.pairings],
            "num_pairs": self.num_pairs,
            "chunk_pairs": self.chunk_pairs,
            "opening_actions": self.opening_actions,
            "seed": self.seed,
            "sprt": None if self.sprt is None else str(self.sprt),
        }

    @classmethod
    def from_fields(cls, fields: dict[str, Any]) -> ArenaSettings:
        """Return the settings from fields of ``to_fields``. Raises ``ValueError`` for anything else."""
        try:
            settings = cls(
                game=fields["game"],
                pairings=tuple((first, second) for first, second in fields["pairings"]),
                num_pairs=fields["num_pairs"],
                chunk_pairs=fields["chunk_pairs"],
                opening_actions=fields["opening_actions"],
                seed=fields["seed"],
                sprt=None if fields["sprt"] is None else Sprt.parse(fields["sprt"]),
            )
        except (KeyError, TypeError) as error:
            raise ValueError(f"invalid arena settings: {error}") from None
        if fields != settings.to_fields():
            differing = [name for name in fields if fields[name] != settings.to_fields().get(name)]
            raise ValueError(f"arena settings of a different version: {', '.join(differing)}")
        return settings
