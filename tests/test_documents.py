"""Documents are checked wherever they are constructed, and their errors name the key, the value and the allowed values."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from pydantic import Field

from stoneworks.documents import Document, DocumentError, Tuple


class Search(Document):
    simulations: int = Field(64, ge=1)
    temperature: float = Field(1.0, gt=0)


class Plan(Document):
    game: str
    search: Search = Search()
    opponents: Tuple[Annotated[str, Field(max_length=9)]] = Field((), max_length=2)
    shares: dict[str, float] = Field(default_factory=dict)


def test_values_of_a_mapping_are_kept() -> None:
    search = {"simulations": 8, "temperature": 2}
    plan = Plan.parse({"game": "x", "search": search, "opponents": ["greedy"], "shares": {"a": 1}}, "plan.yaml")
    assert plan == Plan(game="x", search=Search(**search), opponents=("greedy",), shares={"a": 1.0})
    assert Plan.parse(plan.model_dump(), "plan.yaml") == plan
    assert Plan.parse(plan.model_dump(mode="json"), "plan.yaml") == plan


@pytest.mark.parametrize(
    ("values", "complaint"),
    [
        ({"game": "x", "search": {"simulations": 0}}, "search.simulations must be >= 1, got 0"),
        ({"game": "x", "search": {"temperature": 0}}, "search.temperature must be > 0, got 0"),
        ({"game": "x", "search": {"simulations": True}}, "search.simulations must be a valid integer, got True"),
        ({"game": "x", "search": {"temperature": float("nan")}}, "search.temperature must be a finite number, got nan"),
        ({"game": "x", "search": {"sims": 1}}, "unknown key search.sims; valid keys: simulations, temperature"),
        ({"game": "x", "more": 1}, "unknown key more; valid keys: game, search, opponents, shares"),
        ({}, "the key game is missing"),
        ({"game": "x", "opponents": ["greedy", 3]}, "opponents.1 must be a valid string, got 3"),
        ({"game": "x", "opponents": "greedy"}, "opponents must be a valid tuple, got 'greedy'"),
        ({"game": "x", "opponents": ["a", "b", "c"]}, "opponents must have at most 2 items, got ['a', 'b', 'c']"),
        ({"game": "x", "opponents": ["x" * 10]}, "opponents.0 must have at most 9 characters, got 'xxxxxxxxxx'"),
        ({"game": "x", "shares": {"a": "b"}}, "shares.a must be a valid number, got 'b'"),
        ([], "it must be a valid dictionary or instance of Plan, got []"),
    ],
)
def test_an_error_is_one_line_with_key_value_and_allowed_values(values: Any, complaint: str) -> None:
    with pytest.raises(DocumentError) as caught:
        Plan.parse(values, "plan.yaml")
    assert str(caught.value) == f"plan.yaml: {complaint}"


def test_construction_in_python_is_checked_too_and_long_values_are_truncated() -> None:
    with pytest.raises(DocumentError, match=r"^Search: simulations must be >= 1, got -3"):
        Search(simulations=-3)
    with pytest.raises(DocumentError) as caught:
        Plan(game=["x" * 1000])  # type: ignore[arg-type]
    assert len(str(caught.value)) < 200
