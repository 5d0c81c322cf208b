"""Learned weights of heuristics: sums of table entries, interpolated between phases of the game.

A heuristic with learned weights counts *terms*, properties of a position with names, for the player to move and for the
opponent. Its value is the sum of the weights of these terms. The weights depend on the phase of the game: they are fitted at a few
phases, the *knots*, and interpolated between them. A game has one table of weights for each of a few boards, and uses that
of the most similar one. :mod:`tools.fit_heuristic` makes the weights.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from stoneworks.envs.rules.compiler.compiler import inlined
from stoneworks.envs.rules.compiler.types import Float32s


class Phases(NamedTuple):
    """Phases of a game: integers from the first knot to the last.

    Attributes:
        knots: the phases at which weights are fitted, ascending.
    """

    knots: tuple[int, ...]

    def shares(self) -> npt.NDArray[np.float32]:
        """Return ``float32[num_phases, num_knots]``: the shares of the knots in each phase, from the first knot to the last."""
        phases = np.arange(self.knots[0], self.knots[-1] + 1)
        one_each = np.eye(len(self.knots))
        return np.stack([np.interp(phases, self.knots, row) for row in one_each], axis=1).astype(np.float32)

    def places(self) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float32]]:
        """Return the place of each phase between knots.

        Returns:
            ``int32[num_phases]``, the knot before, and ``float32[num_phases, 2]``, the shares of that knot and the next one.
        """
        shares = self.shares()
        before = np.minimum((shares > 0).argmax(axis=1), len(self.knots) - 2)
        return before.astype(np.int32), np.take_along_axis(shares, np.stack([before, before + 1], axis=1), axis=1)

    def interpolate(self, of_knots: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """Return weights ``float32[..., num_phases, num_terms]`` from those of knots, with equal rounding on all machines."""
        before, shares = self.places()
        first = shares[:, :1] * of_knots[..., before, :]
        second = shares[:, 1:].astype(np.float64) * of_knots[..., before + 1, :]
        return (second + first).astype(np.float32)


def read_weights(path: Path, terms: Sequence[str], phases: Phases, boards: Sequence[str]) -> npt.NDArray[np.float32]:
    """Return the weights in a file, ``float32[num_boards, num_phases, num_terms]``; the file has those of the knots.

    Args:
        path: the file, ``{board: {term: [weight at each knot]}}``.
        terms: names of the terms.
        phases: the phases of the game.
        boards: the boards in the order of the tables.
    """
    content = json.loads(path.read_text(encoding="utf-8"))
    tables = [[content[board][term] for term in terms] for board in boards]
    return np.ascontiguousarray(phases.interpolate(np.array(tables, np.float32).transpose(0, 2, 1)))


def write_weights(path: Path, board: str, terms: Sequence[str], of_knots: npt.NDArray[np.float32]) -> None:
    """Write the weights of one board, ``float32[num_knots, num_terms]``, to a file and keep those of the other boards."""
    content = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    rounded = {term: [float(f"{weight:.4g}") for weight in of_knots[:, place]] for place, term in enumerate(terms)}
    content[board] = rounded
    lines = [
        f" {json.dumps(name)}: {{\n"
        + ",\n".join(f"  {json.dumps(term)}: {json.dumps(row)}" for term, row in table.items())
        + "\n }"
        for name, table in sorted(content.items())
    ]
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


@inlined
def add_term(weights: Float32s, counts: Any, term: int) -> float:
    """Return the weight of a term and count it in ``counts``, unless that is None."""
    if counts is not None:
        counts[term] += 1
    return weights[term]  # type: ignore[no-any-return]
