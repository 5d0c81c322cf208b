"""Files from outside: whatever they hold, the caller's error comes back, with the path, and soon."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from stoneworks.reading import parse_json, read_bytes, read_json, read_text


class FileError(ValueError):
    """What a caller raises."""


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "not valid JSON"),
        (b"[1, 2]", "must be a JSON object, got list"),
        (b"{" + b'"a":{' * 100_000, "nested too deeply|not valid JSON"),
        (b'{"a":' + b"[" * 200_000 + b"]" * 200_000 + b"}", "nested"),
        (b'{"a":' + b"[" * 50 + b"]" * 50 + b"}", "nested more than 40 levels"),
        (b'{"a": ' + b"9" * 5000 + b"}", "an integer has 5000 digits"),
        (b'{"a": NaN}', "NaN is not a JSON number"),
        (b'{"a": -Infinity}', "Infinity is not a JSON number"),
        (b'{"a": 1e999}', "out of the range"),
        (b'{"a": 1, "a": 2}', "duplicate key 'a'"),
        (b"\xff\xfe{}", "not UTF-8"),
        (b'{"a": "\x00"}', "not valid JSON"),
    ],
    ids=range(12),
)
def test_an_invalid_or_too_large_object_is_rejected_with_the_path(tmp_path: Path, content: bytes, reason: str) -> None:
    file = tmp_path / "file.json"
    file.write_bytes(content)
    with pytest.raises(FileError, match=reason) as raised:
        read_json(file, FileError)
    assert str(file) in str(raised.value)
    assert len(str(raised.value)) < 1000


def test_an_object_within_bounds_is_read(tmp_path: Path) -> None:
    file = tmp_path / "file.json"
    file.write_text('{"a": [1, 2.5, "ü", null, true], "b": ' + "[" * 38 + "]" * 38 + "}", encoding="utf-8")
    assert read_json(file, FileError)["a"] == [1, 2.5, "ü", None, True]
    assert parse_json('{"seed": 340282366920938463463374607431768211455}', FileError, "text")["seed"] == 2**128 - 1


def test_a_path_that_is_not_a_file_is_rejected_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "large").write_bytes(b"x" * 101)
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    for name in ("fifo", "nothing", "loop", "nul\0l", "x" * 5000):
        with pytest.raises(FileError):
            read_text(tmp_path / name, FileError)
    for folder in (tmp_path, Path("/dev/zero")):
        with pytest.raises(FileError, match=r"regular file|cannot be read"):
            read_bytes(folder, FileError)
    with pytest.raises(FileError, match="at most 100 bytes, got 101"):
        read_bytes(tmp_path / "large", FileError, 100)
    assert read_bytes(tmp_path / "large", FileError, 101) == b"x" * 101
