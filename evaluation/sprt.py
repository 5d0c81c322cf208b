"""The sequential probability ratio test on pairs of games: stop as soon as the results decide between two strengths.

Under hypothesis 0, A is ``elo0`` stronger than B; under hypothesis 1, ``elo1`` stronger (logistic Elo: an
expected score of 1 / (1 + 10^(-elo / 400))). Results are pentanomial: the numbers of pairs in which A
scored 0, 0.5, 1, 1.5 and 2 points. This accounts for the correlation between the two games of a pair, which share an
opening. The generalized likelihood ratio compares the most likely distribution over the five results with mean score s1
to the one with mean score s0: with observed shares q of the scores a, the most likely distribution with mean s is
p = q / (1 + x (a - s)), where x solves Σ q (a - s) / (1 + x (a - s)) = 0.

The test stops when the logarithm of the ratio leaves (ln(β / (1 - α)), ln((1 - β) / α)): A. Wald, Sequential tests of statistical
hypotheses, Annals of Mathematical Statistics 16 (1945), 117-186. The ratio is the one of fishtest, Stockfish's testing
framework, for logistic Elo: M. Van den Bergh, Comments on normalized Elo, and A practical introduction to the GSPRT
(https://www.cantate.be/Fishtest/); the distribution is proposition 1.1 of his support_MLE_multinomial.pdf. As there, a result
that was not observed counts as 0.001 pairs. Unlike in fishtest, there is no correction for overshooting the bounds.
"""

from __future__ import annotations

import math
from enum import Enum
from typing import Any

import numpy as np
import numpy.typing as npt
from pydantic import Field, model_serializer, model_validator

from stoneworks.documents import Document
from stoneworks.text import exact

#: The possible scores of A in a pair, as fractions of the maximum of 2 points.
PAIR_SCORES = np.array([0, 0.25, 0.5, 0.75, 1])
#: Pseudo-count, in pairs, of a result that was not observed.
_PAIRS_OF_NONE = 1e-3


class SprtDecision(Enum):
    """Decision of a test."""

    GOING_ON = "undecided"
    ACCEPT_0 = "elo0 accepted"
    ACCEPT_1 = "elo1 accepted"


class Sprt(Document):
    """A test of strength ``elo0`` against strength ``elo1``, in logistic Elo; in files, the text that ``str`` returns.

    Attributes:
        elo0: the lower strength.
        elo1: the higher strength.
        alpha: probability of accepting ``elo1`` if ``elo0`` is true.
        beta: probability of accepting ``elo0`` if ``elo1`` is true.

    Raises:
        DocumentError: a value is invalid.
    """

    elo0: float = Field(0.0, ge=-2000, le=2000)
    elo1: float = Field(30.0, ge=-2000, le=2000)
    alpha: float = Field(0.05, gt=0, lt=0.5)
    beta: float = Field(0.05, gt=0, lt=0.5)

    @model_validator(mode="after")
    def _check_order(self) -> Sprt:
        if not self.elo0 < self.elo1:
            raise ValueError(f"elo1 must be greater than elo0 ({self.elo0}), got {self.elo1}")
        return self

    @classmethod
    def from_text(cls, text: str) -> Sprt:
        """Return the test described by ``"elo0=0,elo1=30,alpha=0.05,beta=0.05"``; omitted values have their defaults.

        Raises:
            DocumentError: a name is unknown or given twice, or a value is invalid.
        """
        return cls.parse(text, "sprt")

    @model_validator(mode="before")
    @classmethod
    def _read_text(cls, given: Any) -> Any:
        if not isinstance(given, str):
            return given
        values: dict[str, float] = {}
        for part in given.split(",") if given else ():
            name, _, value = part.partition("=")
            if name not in cls.model_fields or name in values:
                raise ValueError(f"sprt must give each of elo0=, elo1=, alpha=, beta= at most once, got {part!r}")
            try:
                values[name] = float(value)
            except ValueError:
                raise ValueError(f"{name} must be a number, got {value!r}") from None
        return values

    @model_serializer
    def __str__(self) -> str:
        return ",".join(f"{name}={exact(getattr(self, name))}" for name in type(self).model_fields)

    @property
    def lower_bound(self) -> float:
        """``elo0`` is accepted at or below this log-likelihood ratio: ln(β / (1 - α))."""
        return math.log(self.beta / (1 - self.alpha))

    @property
    def upper_bound(self) -> float:
        """``elo1`` is accepted at or above this log-likelihood ratio: ln((1 - β) / α)."""
        return math.log((1 - self.beta) / self.alpha)

    def log_likelihood_ratio(self, counts: npt.ArrayLike) -> float:
        """Return the generalized log-likelihood ratio of ``elo1`` against ``elo0``; 0 without pairs.

        Args:
            counts: ``int[5]``, numbers of pairs in which A scored 0, 0.5, 1, 1.5 and 2 points.

        Raises:
            ValueError: these are not five integers >= 0.
        """
        array = np.asarray(counts)
        if array.shape != (5,) or array.dtype.kind not in "iu" or (array < 0).any():
            raise ValueError(f"counts must be five integers >= 0, got {counts!r}")
        if not array.any():
            return 0.0
        weights = np.where(array == 0, _PAIRS_OF_NONE, array)
        shares = weights / weights.sum()
        likely0, likely1 = (_most_likely(shares, 1 / (1 + 10 ** (-elo / 400))) for elo in (self.elo0, self.elo1))
        return float(weights @ np.log(likely1 / likely0))

    def decide(self, counts: npt.ArrayLike) -> SprtDecision:
        """Return the decision for the counts of pairs (see :meth:`log_likelihood_ratio`)."""
        ratio = self.log_likelihood_ratio(counts)
        if ratio >= self.upper_bound:
            return SprtDecision.ACCEPT_1
        return SprtDecision.ACCEPT_0 if ratio <= self.lower_bound else SprtDecision.GOING_ON


def pentanomial(scores: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """Return ``int64[5]``: numbers of pairs in which A scored 0, 0.5, 1, 1.5 and 2 points.

    Args:
        scores: ``float64[num_pairs, 2]``: A's score in both games of each pair.
    """
    return np.bincount((2 * np.asarray(scores).reshape(-1, 2).sum(axis=1)).astype(np.int64), minlength=5)


def _most_likely(shares: npt.NDArray[np.float64], mean: float) -> npt.NDArray[np.float64]:
    """Return the distribution over :data:`PAIR_SCORES` of that mean that makes the observed ``shares`` most likely."""
    offsets = PAIR_SCORES - mean
    # Every 1 + x · offset is positive between these; the sum falls from +∞ to -∞, so halving finds its only root.
    low, high = -1 / offsets[-1], -1 / offsets[0]
    while True:
        middle = (low + high) / 2
        if not low < middle < high:
            break
        if (shares * offsets / (1 + middle * offsets)).sum() > 0:
            low = middle
        else:
            high = middle
    likely = shares / (1 + middle * offsets)
    return likely / likely.sum()
