"""Ratings: known values, agreement with choix, planted strengths found again, honest errors, and bad input."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pytest

from stoneworks.evaluation import DisconnectedPlayersError, PairScores, RatingError, Ratings, rate_against, rate_players
from stoneworks.evaluation.ratings import ELO_PER_UNIT, expected_score

choix = pytest.importorskip("choix")

WIDE = 1e6  # a prior that does not matter


def pairing(first: str, second: str, *pairs: tuple[float, float], times: int = 1) -> PairScores:
    return PairScores((first, second), np.tile(np.array(pairs, np.float64), (times, 1)))


def simulated(
    generator: np.random.Generator, elo: dict[str, float], num_pairs: int, *, seat: float = 0, openings: float = 0
) -> list[PairScores]:
    """Return the games of everyone with the next two; an opening favors seat 0 by a random number of so many Elo."""
    names = list(elo)
    results = []
    for index, name in enumerate(names):
        for other in names[index + 1 : index + 3]:
            favor = seat + generator.normal(0, openings, num_pairs)
            results.append(drawn(generator, name, other, elo[name] - elo[other], favor))
    return results


def drawn(
    generator: np.random.Generator, name: str, other: str, elo: float, favor: npt.NDArray[np.float64]
) -> PairScores:
    """Return pairs of games of a player stronger by ``elo``, in which seat 0 is worth ``favor``."""
    chances = 1 / (1 + np.exp(-np.stack([elo + favor, elo - favor], axis=1) / ELO_PER_UNIT))
    return PairScores((name, other), (generator.random(chances.shape) < chances).astype(np.float64))


def test_two_players_have_the_rating_and_the_error_of_the_formulas() -> None:
    # 150 points of 200 games, seats alike: 400 log10(3) Elo, as Elo's formula has it for a score of 75 %.
    games = [pairing("strong", "weak", (1, 1), (1, 0), (0, 1), (1, 1), times=25)]
    ratings = rate_players(games, anchor="weak", prior_elo=WIDE)
    assert ratings.rating("strong")[0] == pytest.approx(400 * math.log10(3), abs=1e-4)
    assert ratings.rating("weak") == (0, 0)
    assert ratings.seat_elo == pytest.approx(0, abs=1e-6)
    # The pairs have points 2, 1, 1, 2: a variance of 0.25 beside the 2 · 0.75 · 0.25 = 0.375 of independent games. Drawn
    # toward those with the weight of four pairs of even games, whose variance is 2:
    variance = 100 * 0.375
    weight = variance / (variance + 2)
    spread = weight * 100 * 0.25 + (1 - weight) * variance
    assert ratings.rating("strong")[1] == pytest.approx(ELO_PER_UNIT * math.sqrt(spread) / variance, rel=1e-6)


@pytest.mark.parametrize("prior_elo", [300.0, 1000.0, WIDE])
def test_strengths_are_those_of_choix(prior_elo: float) -> None:
    generator = np.random.default_rng(7)
    true = {"random": 0.0, "b": 150.0, "c": 420.0, "d": 400.0, "e": 900.0}
    results = simulated(generator, true, 40)
    results[0].scores[:20:3, 0] = 0.5
    names = list(true)
    # choix knows no draws: a win is two comparisons, a draw one each way, so the prior has to weigh twice. Its penalty is
    # alpha times the squares, not half of that, so alpha is half the precision of the prior.
    data = []
    for result in results:
        first, second = (names.index(name) for name in result.names)
        for score in result.scores.ravel():
            data += [(first, second)] * int(2 * score) + [(second, first)] * int(2 - 2 * score)
    alpha = 2 * (ELO_PER_UNIT / prior_elo) ** 2 / 2
    strengths = choix.opt_pairwise(len(names), data, alpha=alpha, tol=1e-12)
    ratings = rate_players(results, prior_elo=prior_elo, prior_seat_elo=1e-3)
    assert ratings.names == tuple(names)
    assert ratings.elo == pytest.approx(ELO_PER_UNIT * (strengths - strengths[0]), abs=0.01)
    assert ratings.seat_elo == pytest.approx(0, abs=1e-3)
    assert ratings.seat_error == pytest.approx(0, abs=1e-2)


def test_errors_cover_as_often_as_they_say() -> None:
    generator = np.random.default_rng(11)
    true = {"random": 0.0, "b": 400.0, "c": 600.0, "d": 900.0}
    deviations = []
    for _ in range(200):
        ratings = rate_players(simulated(generator, true, 40, seat=50))
        parts = [(rating - true[name]) / error for name in "bcd" for rating, error in [ratings.rating(name)]]
        difference, error = ratings.difference("d", "c")
        deviations.append([*parts, (difference - 300) / error, (ratings.seat_elo - 50) / ratings.seat_error])
    size = np.abs(np.array(deviations))
    # 200 trials: the standard deviation of a share of 68 % is 3.3 %, of 95 % 1.5 %.
    assert (abs((size < 1).mean(axis=0) - 0.69) < 0.11).all()
    assert ((size < 1.96).mean(axis=0) > 0.89).all()


def test_errors_account_for_the_shared_opening_of_a_pair() -> None:
    generator = np.random.default_rng(12)
    estimates, errors = [], []
    for _ in range(200):
        ratings = rate_players(simulated(generator, {"random": 0.0, "b": 100.0}, 50, openings=600))
        estimates.append(ratings.rating("b")[0])
        errors.append(ratings.rating("b")[1])
    # An opening that favors a seat favors each player once, so the pairs spread less than independent games would.
    independent = ELO_PER_UNIT / math.sqrt(100 * 0.25)
    assert np.std(estimates) < 0.85 * independent
    assert np.mean(errors) == pytest.approx(np.std(estimates), rel=0.15)


def test_errors_grow_along_a_chain_and_differences_use_the_covariance() -> None:
    even = ((1, 1), (1, 0), (0, 1), (0, 0))
    ratings = rate_players([pairing(a, b, *even, times=25) for a, b in ("xy", "yz")], anchor="x", prior_elo=WIDE)
    assert ratings.rating("z")[1] == pytest.approx(math.sqrt(2) * ratings.rating("y")[1], rel=1e-4)
    assert ratings.difference("z", "y")[1] == pytest.approx(ratings.rating("y")[1], rel=1e-4)
    assert ratings.likelihood_of_superiority("z", "y") == pytest.approx(0.5)
    normal = Ratings(("random", "b"), "random", np.array([0.0, 50.0]), 0.0, np.diag([0.0, 2500.0, 0.0]))
    assert normal.likelihood_of_superiority("b", "random") == pytest.approx(0.841345, abs=1e-6)
    assert normal.likelihood_of_superiority("b", "b") == 0.5
    assert expected_score(400) == pytest.approx(10 / 11)
    # A clean sweep has a finite rating with a large error.
    few, many = (rate_players([pairing("random", "b", (0, 0), times=times)]) for times in (10, 1000))
    assert 400 < few.rating("b")[0] < many.rating("b")[0] < 4000
    assert 200 < many.rating("b")[1] < 1500


def test_a_change_of_anchor_moves_all_ratings_alike_and_the_order_of_a_pairing_does_not_matter() -> None:
    results = simulated(np.random.default_rng(5), {"random": 0.0, "b": 200.0, "c": 100.0}, 30)
    one, other = rate_players(results), rate_players(results, anchor="c")
    assert other.elo == pytest.approx(one.elo - one.rating("c")[0], abs=1e-6)
    assert other.difference("b", "random") == pytest.approx(one.difference("b", "random"))
    turned = rate_players([PairScores(result.names[::-1], 1 - result.scores[:, ::-1]) for result in results])
    for name in one.names:
        assert turned.rating(name) == pytest.approx(one.rating(name), abs=1e-6)
    assert (turned.seat_elo, turned.seat_error) == pytest.approx((one.seat_elo, one.seat_error))


def fixed_ratings(errors: float = 0.0, seat_error: float = 0.0) -> Ratings:
    covariance = np.diag([0.0, errors**2, errors**2, seat_error**2])
    return Ratings(("random", "b", "c"), "random", np.array([0.0, 300.0, 600.0]), 40.0, covariance)


def games_against(fixed: Ratings, elo: float, num_pairs: int, generator: np.random.Generator) -> list[PairScores]:
    favor = np.full(num_pairs, fixed.seat_elo)
    pairs = zip(fixed.names, fixed.elo, strict=True)
    return [drawn(generator, "new", name, elo - rating, favor) for name, rating in pairs]


def test_a_new_player_is_rated_against_fixed_ratings_whose_errors_are_carried_along() -> None:
    generator = np.random.default_rng(21)
    deviations = []
    for _ in range(200):
        rating, error = rate_against(fixed_ratings(), "new", games_against(fixed_ratings(), 450, 30, generator))
        deviations.append((rating - 450) / error)
    assert 0.58 < (np.abs(deviations) < 1).mean() < 0.80
    assert abs(np.mean(deviations)) < 0.25
    games = games_against(fixed_ratings(), 450, 100, np.random.default_rng(22))
    rating, error = rate_against(fixed_ratings(), "new", games)
    again, larger = rate_against(fixed_ratings(errors=50.0, seat_error=10.0), "new", games)
    assert again == rating
    step = 1e-3  # what the rating does when the fixed ones move, by differences
    variance = error**2
    for index, width in ((1, 50.0), (2, 50.0), (3, 10.0)):
        fixed = fixed_ratings()
        moved = np.append(fixed.elo, fixed.seat_elo) + step * (np.arange(4) == index)
        other = Ratings(fixed.names, fixed.anchor, moved[:3], moved[3], fixed.covariance)
        variance += ((rate_against(other, "new", games)[0] - rating) / step * width) ** 2
    assert rate_against(fixed_ratings(seat_error=500.0), "new", games)[1] > 1.2 * error
    in_the_middle = [pairing("new", name, (1, 0)) for name in ("random", "c")]
    assert rate_against(fixed_ratings(), "new", in_the_middle)[0] == pytest.approx(300)
    # Moving the highest rating moves the middle of the prior too, which the error leaves out: that is small.
    assert larger == pytest.approx(math.sqrt(variance), rel=0.01)


@pytest.mark.parametrize(
    ("results", "options", "complaint"),
    [
        ([], {}, "at least one game is required"),
        ([PairScores(("a", "b"), np.empty((0, 2)))], {}, "at least one game is required"),
        ([pairing(*names, (1, 0)) for names in ("ab", "cd", "de")], {"anchor": "a"}, "'c', 'd', 'e' with 'a'"),
        ([pairing("a", "a", (1, 0))], {}, r"two different players, got \('a', 'a'\)"),
        ([pairing("a", "b", (1, 0.7))], {}, "scores of 'a' against 'b' must be .* got 0.7"),
        ([PairScores(("a", "b"), np.ones(2))], {}, r"got float64\[2\]"),
        ([PairScores(("a", "b"), [[1, 0], [0]])], {}, r"got object\[2\]"),  # type: ignore[arg-type]
        ([PairScores(("a",), np.ones((1, 2)))], {}, r"two different players, got \('a',\)"),  # type: ignore[arg-type]
        ([pairing("a", "b", (1, 0))], {"anchor": "c"}, r"anchor must be .*got 'c'"),
        ([pairing("a", "b", (1, 0))], {"prior_elo": 0}, "prior_elo must be .*got 0"),
        ([pairing("a", "b", (1, 0))], {"prior_seat_elo": math.inf}, "prior_seat_elo must be .*got inf"),
    ],
)
def test_games_that_cannot_be_rated(results: list[PairScores], options: dict[str, object], complaint: str) -> None:
    error = DisconnectedPlayersError if "with 'a'" in complaint else ValueError
    with pytest.raises(error, match=complaint):
        rate_players(results, **options)  # type: ignore[arg-type]


def test_new_players_need_games_against_rated_ones() -> None:
    for games, complaint in (
        ([], "at least one game of 'new'"),
        ([pairing("new", "x", (1, 0))], "unknown player 'x'; players: 'random', 'b', 'c'"),
        ([pairing("b", "new", (1, 0))], r"first player of a pairing must be .*got 'b'"),
    ):
        with pytest.raises(RatingError, match=complaint):
            rate_against(fixed_ratings(), "new", games)
