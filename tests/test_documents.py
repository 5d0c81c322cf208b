"""Files from outside and the documents in them: errors name the path, the key, the value and the allowed values."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar

import pytest
from pydantic import Field

from stoneworks.documents import Document, DocumentError, Tuple
from stoneworks.reading import parse_json, read_bytes, read_json, read_text


class Search(Document):
    renamed_keys: ClassVar[Mapping[str, str]] = {"playouts": "simulations"}

    simulations: int = Field(64, ge=1)
    temperature: float = Field(1.0, gt=0)


class Plan(Document):
    game: str
    search: Search = Search()
    opponents: Tuple[Annotated[str, Field(max_length=9)]] = Field((), max_length=2)
    shares: dict[str, float] = Field(default_factory=dict)


def test_values_are_kept_and_checked_in_python_too_and_long_ones_are_truncated_in_errors() -> None:
    search = {"simulations": 8, "temperature": 2}
    plan = Plan.parse({"game": "x", "search": search, "opponents": ["greedy"], "shares": {"a": 1}}, "plan.yaml")
    assert plan == Plan(game="x", search=Search(**search), opponents=("greedy",), shares={"a": 1.0})
    assert Plan.parse(plan.model_dump(), "plan.yaml") == plan
    assert Plan.parse(plan.model_dump(mode="json"), "plan.yaml") == plan
    with pytest.raises(DocumentError, match=r"^Search: simulations must be >= 1, got -3"):
        Search(simulations=-3)
    with pytest.raises(DocumentError) as caught:
        Plan(game=["x" * 1000])  # type: ignore[arg-type]
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize(
    ("values", "complaint"),
    [
        ({"game": "x", "search": {"simulations": 0}}, "search.simulations must be >= 1, got 0"),
        ({"game": "x", "search": {"temperature": float("nan")}}, "search.temperature must be a finite number, got nan"),
        ({"game": "x", "search": {"sims": 1}}, "unknown key search.sims; valid keys: simulations, temperature"),
        ({"game": "x", "search": {"playouts": 1}}, "the key search.playouts has been renamed to search.simulations"),
        ({}, "the key game is missing"),
        ({"game": "x", "opponents": ["greedy", 3]}, "opponents.1 must be a valid string, got 3"),
        ({"game": "x", "opponents": ["a", "b", "c"]}, "opponents must have at most 2 items, got ['a', 'b', 'c']"),
        ({"game": "x", "shares": {"a": "b"}}, "shares.a must be a valid number, got 'b'"),
        ([], "it must be a valid dictionary or instance of Plan, got []"),
    ],
)
def test_an_error_is_one_line_with_key_value_and_allowed_values(values: Any, complaint: str) -> None:
    with pytest.raises(DocumentError) as caught:
        Plan.parse(values, "plan.yaml")
    assert str(caught.value) == f"plan.yaml: {complaint}"


class FileError(ValueError):
    """What a caller raises."""


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "not valid JSON"),
        (b"{" + b'"a":{' * 100_000, "nested too deeply|not valid JSON"),
        (b'{"a":' + b"[" * 200_000 + b"]" * 200_000 + b"}", "nested"),
        (b'{"a": ' + b"9" * 5000 + b"}", "an integer must have at most 100 digits, got 5000"),
        (b'{"a": NaN}', "NaN is not a JSON number"),
        (b'{"a": 1e999}', "out of the range"),
        (b'{"a": 1, "a": 2}', "duplicate key 'a'"),
        (b"\xff\xfe{}", "not UTF-8"),
        (b'{"a": "\x00"}', "not valid JSON"),
    ],
    ids=range(9),
)
def test_an_invalid_or_too_large_object_is_rejected_with_the_path(tmp_path: Path, content: bytes, reason: str) -> None:
    file = tmp_path / "file.json"
    file.write_bytes(content)
    with pytest.raises(FileError, match=reason) as raised:
        read_json(file, FileError)
    assert str(file) in str(raised.value)
    assert len(str(raised.value)) < 1000


def test_a_path_that_is_not_a_file_is_rejected_at_once_and_an_object_within_bounds_is_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "large").write_bytes(b"x" * 101)
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    for name in ("fifo", "nothing", "loop", "nul\0l", "x" * 5000):
        with pytest.raises(FileError):
            read_text(tmp_path / name, FileError)
    os.close(lowest_free := os.dup(0))
    for folder in (tmp_path, Path("/dev/zero")):
        with pytest.raises(FileError, match=r"regular file|cannot be read"):
            read_bytes(folder, FileError)
    os.close(next_free := os.dup(0))
    assert next_free <= lowest_free, "nothing is left open"
    with pytest.raises(FileError, match="at most 100 bytes, got 101"):
        read_bytes(tmp_path / "large", FileError, 100)
    assert read_bytes(tmp_path / "large", FileError, 101) == b"x" * 101
    file = tmp_path / "file.json"
    file.write_text('{"a": [1, 2.5, "ü", null, true], "b": ' + "[" * 38 + "]" * 38 + "}", encoding="utf-8")
    assert read_json(file, FileError)["a"] == [1, 2.5, "ü", None, True]
    assert parse_json('{"seed": 340282366920938463463374607431768211455}', FileError, "text")["seed"] == 2**128 - 1
