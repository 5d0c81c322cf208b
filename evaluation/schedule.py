"""Pairings, and their division into chunks: a few pairs of games with their own seeds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from stoneworks.envs.rules.checks import check_integer


@dataclass(frozen=True)
class Chunk:
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


def round_robin(names: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Return the pairings of all players with each other. Raises ``ValueError`` for fewer than two players, or duplicates."""
    return neighbors(names, max(len(names) - 1, 1))


def gauntlet(name: str, names: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Return the pairings of one player with all others.

    Raises:
        ValueError: ``name`` is not among ``names``, there are fewer than two players, or duplicates.
    """
    _check(names)
    if name not in names:
        raise ValueError(f"gauntlet must be one of the players, {', '.join(map(repr, names))}, got {name!r}")
    return tuple((name, other) for other in names if other != name)


def neighbors(names: Sequence[str], num_neighbors: int) -> tuple[tuple[str, str], ...]:
    """Return the pairings of each player with the next ``num_neighbors`` of the list, which is sorted by expected strength.

    Raises:
        ValueError: there are fewer than two players, duplicates, or ``num_neighbors`` is not an integer >= 1.
    """
    _check(names)
    check_integer("neighbors", num_neighbors, 1)
    return tuple(
        (name, other) for index, name in enumerate(names) for other in names[index + 1 : index + 1 + num_neighbors]
    )


def chunks_of(num_pairings: int, num_pairs: int, chunk_pairs: int) -> tuple[Chunk, ...]:
    """Return the chunks of all pairings, interleaved, so that an interrupted arena has played all pairings about equally."""
    sizes = [min(chunk_pairs, num_pairs - start) for start in range(0, num_pairs, chunk_pairs)]
    return tuple(Chunk(pairing, number, size) for number, size in enumerate(sizes) for pairing in range(num_pairings))


def _check(names: Sequence[str]) -> None:
    if len(names) < 2:
        raise ValueError(f"at least two players are required, got {len(names)}")
    for name in names:
        if list(names).count(name) > 1:
            raise ValueError(f"duplicate player {name!r}")
