"""Elo ratings from the results of paired games: maximum a posteriori estimates of a Bradley-Terry model with a seat term.

With strengths r in natural units and a seat term s, the expected score of player A against B is

    p = 1 / (1 + exp(-(r_A - r_B + s)))   from seat 0, and with -s in place of s from seat 1.

A draw counts as half a win and half a loss. Each strength has a Gaussian prior with mean 0 and standard deviation
:data:`PRIOR_ELO`, and the seat term one with :data:`PRIOR_SEAT_ELO`, so a clean sweep has a finite rating. Reported ratings are
differences of strengths to an anchor at 0. The posterior is strictly log-concave; Newton's method with the full Hessian finds
its mode. One natural unit is 400 / ln 10 = 173.7 Elo.

The covariance of the estimate is the sandwich estimator H⁻¹ M H⁻¹, where M is the covariance of the gradient. M is clustered by
pairs, since both games of a pair share an opening: the sum of g gᵀ over pairs, where g is the gradient of a pair, plus the
precision of the prior. The pairs of a near sweep carry little information on their spread, so the contribution of each pairing
to M is shrunk toward the model's value (independent games), with the weight of :data:`MODEL_PAIRS` pairs of even games.
Different pairs are assumed to be independent.

Sources: R. A. Bradley and M. E. Terry, Rank analysis of incomplete block designs, Biometrika 39 (1952), 324-345; D. R. Hunter,
MM algorithms for generalized Bradley-Terry models, Annals of Statistics 32 (2004), 384-406 (the seat term is his home-field
advantage); R. Coulom, BayesElo (a prior, likelihood of superiority); H. White, Maximum likelihood estimation of misspecified
models, Econometrica 50 (1982), 1-25 (the covariance).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from stoneworks.checks import as_array, check_positive

#: Elo points per natural unit of strength.
ELO_PER_UNIT = 400 / math.log(10)
#: Standard deviation of the prior of each strength, in Elo points: wide, so that it only matters for sweeps.
PRIOR_ELO = 1000.0
#: Standard deviation of the prior of the seat term, in Elo points: a few losses in the same seat are mostly chance.
PRIOR_SEAT_ELO = 200.0
#: Weight of the model's variance in each pairing, as a number of pairs of even games.
MODEL_PAIRS = 4

#: Variance of a pair of independent games between even players: two games of variance 1/4.
_VARIANCE_OF_EVEN_PAIR = 0.5
_Floats = npt.NDArray[np.float64]


class RatingError(ValueError):
    """Raised for results that cannot be rated. The message names them and the reason."""


class DisconnectedPlayersError(RatingError):
    """Raised when no chain of games connects players with the anchor. The message names the players."""


@dataclass(frozen=True)
class PairMoments:
    """What ratings need to know of the pairs of games of two players: sums over all pairs.

    Attributes:
        num_pairs: number of pairs.
        sums: ``float64[2]``, sums of A's scores in seat 0 and in seat 1.
        products: ``float64[2, 2]``, sums of the products of these two scores.
    """

    num_pairs: int
    sums: _Floats
    products: _Floats


class PairedGames(Protocol):
    """Results of two players that can be rated: a ``MatchResult`` or :class:`PairScores`."""

    @property
    def names(self) -> tuple[str, str]:
        """Names of players A and B."""

    @property
    def moments(self) -> PairMoments:
        """Sums of the scores. Raises :class:`RatingError` for invalid scores."""


@dataclass(frozen=True)
class PairScores:
    """The scores of two players in pairs of games.

    Attributes:
        names: names of players A and B.
        scores: ``float64[num_pairs, 2]``: A's scores (1, 0.5 or 0) in the two games of each pair, in seat 0 and in seat 1.
    """

    names: tuple[str, str]
    scores: _Floats

    @property
    def moments(self) -> PairMoments:
        """See :class:`PairedGames`."""
        scores = as_array(self.scores)
        has_shape = scores.ndim == 2 and scores.shape[1] == 2
        wrong = scores[~np.isin(scores, (0, 0.5, 1))].tolist() if has_shape else [f"{scores.dtype}{list(scores.shape)}"]
        if wrong:
            names = " against ".join(map(repr, self.names))
            raise RatingError(
                f"the scores of {names} must be float64[num_pairs, 2] with values 0, 0.5 or 1, got {wrong[0]}"
            )
        scores = scores.astype(np.float64)
        return PairMoments(len(scores), scores.sum(axis=0), scores.T @ scores)


@dataclass(frozen=True)
class Ratings:
    """Ratings in Elo points.

    Attributes:
        names: the players.
        anchor: the player whose rating is 0.
        elo: ``float64[num_players]``, ratings relative to the anchor.
        seat_elo: advantage of seat 0.
        covariance: ``float64[num_players + 1, num_players + 1]`` in Elo², covariance of ``elo`` followed by ``seat_elo``. The
            row and the column of the anchor are 0.
    """

    names: tuple[str, ...]
    anchor: str
    elo: _Floats
    seat_elo: float
    covariance: _Floats

    @property
    def seat_error(self) -> float:
        """Standard error of ``seat_elo``."""
        return math.sqrt(self.covariance[-1, -1])

    @property
    def order(self) -> tuple[str, ...]:
        """Players by decreasing rating; players with equal ratings are in the order of ``names``."""
        return tuple(self.names[index] for index in np.argsort(-self.elo, kind="stable"))

    def rating(self, name: str) -> tuple[float, float]:
        """Return the rating of a player and its standard error. Raises :class:`RatingError` for an unknown name."""
        return self.difference(name, self.anchor)

    def difference(self, name: str, other: str) -> tuple[float, float]:
        """Return the rating difference of ``name`` and ``other``, and its standard error.

        Raises:
            RatingError: a name is unknown.
        """
        first, second = (self._index(text) for text in (name, other))
        contrast = np.zeros(len(self.covariance))
        contrast[first] += 1
        contrast[second] -= 1
        variance = float(contrast @ self.covariance @ contrast)
        return float(self.elo[first] - self.elo[second]), math.sqrt(max(variance, 0.0))

    def likelihood_of_superiority(self, name: str, other: str) -> float:
        """Return the probability, by a normal approximation, that ``name`` is stronger than ``other``.

        It is Φ(difference / standard error), with the full covariance. Raises :class:`RatingError` for an unknown name.
        """
        difference, error = self.difference(name, other)
        if error == 0:
            return 0.5 if difference == 0 else float(difference > 0)
        return 0.5 * (1 + math.erf(difference / error / math.sqrt(2)))

    def _index(self, name: str) -> int:
        if name not in self.names:
            raise RatingError(f"unknown player {name!r}; players: {', '.join(map(repr, self.names))}")
        return self.names.index(name)


def expected_score(elo_difference: float) -> float:
    """Return the expected score at a rating difference in Elo points: 1 / (1 + 10^(-elo_difference / 400))."""
    return 0.5 * (1 + math.tanh(elo_difference / ELO_PER_UNIT / 2))


def rate_players(
    pairings: Iterable[PairedGames],
    *,
    anchor: str | None = None,
    prior_elo: float = PRIOR_ELO,
    prior_seat_elo: float = PRIOR_SEAT_ELO,
) -> Ratings:
    """Return the ratings of all players of ``pairings``.

    Args:
        pairings: the results; two players may have more than one pairing.
        anchor: the player with rating 0; by default ``"random"`` if it is one of the players, else the first player.
        prior_elo: standard deviation of the Gaussian prior of each strength, in Elo points, > 0.
        prior_seat_elo: standard deviation of the Gaussian prior of the seat term, in Elo points, > 0.

    Raises:
        DisconnectedPlayersError: no chain of games connects some players with the anchor.
        RatingError: there are no games, scores are invalid, or a player is its own opponent.
        ValueError: ``prior_elo`` or ``prior_seat_elo`` is invalid.
    """
    moments = [(result, _moments(result)) for result in pairings]
    results = [result for result, sums in moments if sums.num_pairs]
    names = tuple(dict.fromkeys(name for result in results for name in result.names))
    if not names:
        raise RatingError("at least one game is required to estimate ratings")
    if anchor is None:
        anchor = "random" if "random" in names else names[0]
    if anchor not in names:
        raise RatingError(f"anchor must be one of {', '.join(map(repr, names))}, got {anchor!r}")
    _check_connected(results, names, anchor)
    num_parameters = len(names) + 1
    precisions = np.full(num_parameters, _precision("prior_elo", prior_elo))
    precisions[-1] = _precision("prior_seat_elo", prior_seat_elo)

    designs = []
    for result, sums in moments:
        if not sums.num_pairs:
            continue
        design = np.zeros((2, num_parameters))
        design[:, names.index(result.names[0])] = 1
        design[:, names.index(result.names[1])] = -1
        design[:, -1] = 1, -1
        designs.append(_Observed(design, np.zeros(2), sums))
    strengths, covariance = _fit(designs, np.zeros(num_parameters), precisions)

    to_anchor = np.eye(num_parameters)
    to_anchor[: len(names), names.index(anchor)] -= 1
    values = ELO_PER_UNIT * to_anchor @ strengths
    return Ratings(
        names, anchor, values[:-1], float(values[-1]), ELO_PER_UNIT**2 * to_anchor @ covariance @ to_anchor.T
    )


def rate_against(ratings: Ratings, name: str, pairings: Sequence[PairedGames]) -> tuple[float, float]:
    """Return the rating of a new player against players with fixed ratings, and its standard error.

    The standard error includes the errors of the fixed ratings and of the seat term: with the new rating r and the fixed
    ratings f, the variance is that of r given f plus (dr/df) C (dr/df)ᵀ, where C is the covariance of ``ratings``. The mean of
    the prior of the new rating is the midpoint of the highest and the lowest fixed rating.

    Args:
        ratings: the fixed ratings and seat term.
        name: the new player, player A of each pairing.
        pairings: its games against players of ``ratings``.

    Raises:
        RatingError: there are no games, scores are invalid, or an opponent is not rated.
    """
    precisions = np.array([_precision("prior_elo", PRIOR_ELO)])
    designs = []
    sensitivities = []
    for result in pairings:
        sums = _moments(result)
        if result.names[0] != name:
            raise RatingError(f"the first player of a pairing must be {name!r}, got {result.names[0]!r}")
        opponent = ratings._index(result.names[1])
        sensitivity = np.zeros((2, len(ratings.names) + 1))
        sensitivity[:, opponent] = -1
        sensitivity[:, -1] = 1, -1
        fixed = sensitivity @ np.append(ratings.elo, ratings.seat_elo) / ELO_PER_UNIT
        designs.append(_Observed(np.ones((2, 1)), fixed, sums))
        sensitivities.append(sensitivity)
    if not sum(design.moments.num_pairs for design in designs):
        raise RatingError(f"at least one game of {name!r} is required to estimate its rating")
    center = np.array([ratings.elo.max() + ratings.elo.min()]) / 2 / ELO_PER_UNIT
    strength, variance = _fit(designs, center, precisions)
    information = precisions[0] + sum(design.variances(strength).sum() for design in designs)
    derivative = (
        -sum(design.variances(strength) @ fixed for design, fixed in zip(designs, sensitivities, strict=True))
        / information
    )
    total = ELO_PER_UNIT**2 * variance[0, 0] + derivative @ ratings.covariance @ derivative
    return ELO_PER_UNIT * float(strength[0]), math.sqrt(total)


@dataclass(frozen=True)
class _Observed:
    """A pairing as input of the fit; row 0 is player A in seat 0, row 1 in seat 1.

    Attributes:
        design: ``float64[2, num_parameters]``; the logit of A's expected score is ``design @ parameters + fixed``.
        fixed: ``float64[2]``, constant part of the logit.
        moments: the scores.
    """

    design: _Floats
    fixed: _Floats
    moments: PairMoments

    def log_likelihood(self, parameters: _Floats) -> float:
        logits = self.design @ parameters + self.fixed
        return float(self.moments.sums @ logits - self.moments.num_pairs * np.logaddexp(0, logits).sum())

    def expected(self, parameters: _Floats) -> _Floats:
        """Return ``float64[2]``: A's expected scores."""
        return 1 / (1 + np.exp(-(self.design @ parameters + self.fixed)))

    def gradient(self, parameters: _Floats) -> _Floats:
        """Return the gradient of the log-likelihood."""
        return (self.moments.sums - self.moments.num_pairs * self.expected(parameters)) @ self.design

    def variances(self, parameters: _Floats) -> _Floats:
        """Return ``float64[2]``: the model's variance of the scores, summed over the games of each seat."""
        expected = self.expected(parameters)
        return self.moments.num_pairs * expected * (1 - expected)

    def squared_residuals(self, parameters: _Floats) -> _Floats:
        """Return ``float64[2, 2]``: the products of scores minus expected scores, summed over pairs."""
        expected, moments = self.expected(parameters), self.moments
        mixed = np.outer(moments.sums, expected)
        return moments.products - mixed - mixed.T + moments.num_pairs * np.outer(expected, expected)


def _fit(observed: list[_Observed], center: _Floats, precisions: _Floats) -> tuple[_Floats, _Floats]:
    """Return the mode of the posterior and the covariance of this estimate, in natural units.

    ``center`` and ``precisions`` are the means and the precisions of the prior of each parameter.
    """

    def log_posterior(parameters: _Floats) -> float:
        prior = -0.5 * float(precisions @ (parameters - center) ** 2)
        return prior + sum(each.log_likelihood(parameters) for each in observed)

    def gradient_and_hessian(parameters: _Floats) -> tuple[_Floats, _Floats]:
        gradient = -precisions * (parameters - center)
        hessian = np.diag(precisions)
        for each in observed:
            gradient += each.gradient(parameters)
            hessian += each.design.T * each.variances(parameters) @ each.design
        return gradient, hessian

    parameters = center.copy()
    value = log_posterior(parameters)
    for _ in range(200):
        gradient, hessian = gradient_and_hessian(parameters)
        step = np.linalg.solve(hessian, gradient)
        if gradient @ step < 1e-10:  # smaller gains drown in rounding errors; a last full step squares the error
            parameters = parameters + step
            break
        scale = 1.0
        while scale > 1e-12 and log_posterior(parameters + scale * step) < value:
            scale /= 2
        if scale <= 1e-12:
            break
        parameters = parameters + scale * step
        value = log_posterior(parameters)
    _, hessian = gradient_and_hessian(parameters)
    bread = np.linalg.inv(hessian)
    meat = np.diag(precisions) + sum(_gradient_covariance(each, parameters) for each in observed)
    return parameters, bread @ meat @ bread


def _gradient_covariance(observed: _Observed, parameters: _Floats) -> _Floats:
    """Return the covariance of a pairing's gradient, shrunk toward the model's (see the module docstring)."""
    variances = observed.variances(parameters)
    by_model = observed.design.T * variances @ observed.design
    by_pairs = observed.design.T @ observed.squared_residuals(parameters) @ observed.design
    weight = variances.sum() / (variances.sum() + MODEL_PAIRS * _VARIANCE_OF_EVEN_PAIR)
    return weight * by_pairs + (1 - weight) * by_model


def _precision(name: str, width: float) -> float:
    return (ELO_PER_UNIT / check_positive(name, width)) ** 2


def _moments(result: PairedGames) -> PairMoments:
    if len(result.names) != 2 or len({*result.names}) != 2:
        raise RatingError(f"a pairing must have two different players, got {result.names!r}")
    return result.moments


def _check_connected(results: Sequence[PairedGames], names: tuple[str, ...], anchor: str) -> None:
    reached = {anchor}
    while grown := {name for result in results if reached & set(result.names) for name in result.names} - reached:
        reached |= grown
    if missing := [name for name in names if name not in reached]:
        raise DisconnectedPlayersError(f"no chain of games connects {', '.join(map(repr, missing))} with {anchor!r}")
