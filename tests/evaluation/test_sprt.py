"""The sequential test: published figures, its error rates, and bad input."""

from __future__ import annotations

import math

import numpy as np
import pytest

from stoneworks.evaluation import Sprt, SprtDecision, pentanomial

#: Tests of Stockfish's fishtest as the pull requests of the patches publish them, from the time when its bounds were in
#: logistic Elo: the number of the pull request, elo0, elo1, pentanomial counts, and the log-likelihood ratio.
PUBLISHED = [
    (3331, 0.25, 1.25, [14, 1030, 14318, 1163, 19], 2.93),
    (2920, -0.5, 1.5, [665, 4806, 9333, 4893, 747], 2.95),
    (3017, -1.5, 0.5, [174, 2658, 10273, 2713, 178], 2.96),
    (2493, 0.0, 2.0, [1284, 17437, 55536, 18085, 1292], 2.94),
    (2971, -0.5, 1.5, [17, 253, 1042, 337, 39], 2.96),
]


@pytest.mark.parametrize(("number", "elo0", "elo1", "counts", "ratio"), PUBLISHED)
def test_the_ratio_is_the_published_one(number: int, elo0: float, elo1: float, counts: list[int], ratio: float) -> None:
    assert Sprt(elo0=elo0, elo1=elo1).log_likelihood_ratio(counts) == pytest.approx(ratio, abs=0.00501), number


def test_decisions_follow_the_published_bounds_and_pairs_are_counted_by_their_points() -> None:
    assert Sprt().upper_bound == -Sprt().lower_bound == pytest.approx(2.94444, abs=1e-5)
    assert Sprt(alpha=0.05, beta=0.1).lower_bound == pytest.approx(math.log(0.1 / 0.95))
    for counts in ([1, 2, 3], [1, 2, 3, 4, -1], [0.5, 0, 0, 0, 0], "12345"):
        with pytest.raises(ValueError, match="counts must be five integers"):
            Sprt().log_likelihood_ratio(counts)  # type: ignore[arg-type]
    test = Sprt(elo0=0, elo1=50)
    assert test.decide([0, 0, 0, 0, 0]) is SprtDecision.GOING_ON
    assert test.log_likelihood_ratio([0, 0, 0, 0, 0]) == 0
    assert test.decide([2, 3, 10, 4, 2]) is SprtDecision.GOING_ON
    assert test.decide([5, 10, 100, 60, 20]) is SprtDecision.ACCEPT_1
    assert test.decide([20, 60, 100, 10, 5]) is SprtDecision.ACCEPT_0
    assert test.decide([0, 0, 0, 0, 60]) is SprtDecision.ACCEPT_1
    s0, s1 = 0.5, 1 / (1 + 10 ** (-50 / 400))  # pairs won or lost as a whole: the plain binomial ratio
    expected = 60 * math.log(s1 / s0) + 40 * math.log((1 - s1) / (1 - s0))
    assert test.log_likelihood_ratio([40, 0, 0, 0, 60]) == pytest.approx(expected, abs=2e-3)
    scores = np.array([[0, 0], [0.5, 0], [1, 0], [0, 1], [0.5, 0.5], [1, 0.5], [1, 1], [1, 1]])
    assert pentanomial(scores).tolist() == [1, 1, 3, 1, 2]
    assert pentanomial(np.empty((0, 2))).tolist() == [0] * 5


@pytest.mark.once
@pytest.mark.parametrize(("elo", "wrong"), [(0.0, SprtDecision.ACCEPT_1), (80.0, SprtDecision.ACCEPT_0)])
def test_error_rates_of_decisions_are_as_configured(elo: float, wrong: SprtDecision) -> None:
    generator = np.random.default_rng(5)
    test = Sprt(elo0=0, elo1=80, alpha=0.1, beta=0.1)
    chance = 1 / (1 + 10 ** (-elo / 400))
    mistakes = 0
    for _ in range(200):
        counts = np.zeros(5, np.int64)
        while (decision := test.decide(counts)) is SprtDecision.GOING_ON:
            counts += pentanomial((generator.random((8, 2)) < chance).astype(np.float64))
        mistakes += decision is wrong
    assert mistakes / 200 < 0.16  # a share of 10 % has a standard deviation of 2.1 %


def test_a_test_is_parsed_from_its_text() -> None:
    test = Sprt.from_text("elo0=-5,elo1=12.5,alpha=0.01,beta=0.1")
    assert test == Sprt(elo0=-5, elo1=12.5, alpha=0.01, beta=0.1)
    assert Sprt.from_text("elo1=10") == Sprt(elo0=0, elo1=10, alpha=0.05, beta=0.05)
    assert Sprt.from_text("") == Sprt()
    assert str(Sprt()) == "elo0=0,elo1=30,alpha=0.05,beta=0.05"
    for equal in (test, Sprt(elo0=0, elo1=30, alpha=0.012345678), Sprt(elo0=1000.0001, elo1=1000.0002)):
        assert Sprt.from_text(str(equal)) == equal


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("elo=3", "sprt must give .* at most once, got 'elo=3'"),
        ("elo0=1,elo0=2", "at most once, got 'elo0=2'"),
        ("elo0=x", r"elo0 must be .*got 'x'"),
        ("elo0=30", r"elo1 must be .*got 30.0"),
        ("elo1=5000", "elo1 must be <= 2000, got 5000.0"),
        ("alpha=0", r"alpha must be .*got 0.0"),
        ("beta=0.5", "beta must be .*got 0.5"),
    ],
)
def test_an_invalid_test_text_is_an_error_with_the_reason(text: str, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        Sprt.from_text(text)
