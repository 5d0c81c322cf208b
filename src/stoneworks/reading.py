"""Validated reading of untrusted files.

Each function raises the error class passed by the caller, with the path or source in the message, if a file is missing, not a
regular file (opening a FIFO would block forever), too large, not UTF-8 or not JSON, or if the JSON is nested too deeply or
contains non-finite numbers or integers with too many digits.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import stat
from pathlib import Path
from typing import Any

#: Maximum size of a text file in bytes, many times the largest that stoneworks writes.
MAX_TEXT_BYTES = 256 * 2**20
#: Maximum nesting depth of lists and objects in JSON.
MAX_DEPTH = 40
#: Maximum number of digits of an integer in JSON. Seeds have up to 39.
MAX_DIGITS = 100


def read_bytes(path: str | os.PathLike[str], error: type[Exception], max_bytes: int | None = None) -> bytes:
    """Return the content of a regular file. Raises ``error`` on failure."""
    file = Path(path)
    try:
        # Without O_NONBLOCK, opening a FIFO blocks until a writer opens it; checking the file type first would be a race.
        with open(file, "rb", opener=lambda name, flags: os.open(name, flags | getattr(os, "O_NONBLOCK", 0))) as opened:
            status = os.fstat(opened.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise error(f"{file} is not a regular file")
            if max_bytes is not None and status.st_size > max_bytes:
                raise error(f"{file} must have at most {max_bytes:,} bytes, got {status.st_size:,}")
            return opened.read()
    except OSError as problem:
        raise error(f"{file} cannot be read: {problem.strerror or problem}") from None
    except ValueError as problem:  # the path contains a null character
        if isinstance(problem, error):
            raise
        raise error(f"{str(file)!r} cannot be read: {problem}") from None


def read_text(path: str | os.PathLike[str], error: type[Exception], max_bytes: int = MAX_TEXT_BYTES) -> str:
    """Return the text of a UTF-8 file. Raises ``error`` on failure."""
    try:
        return read_bytes(path, error, max_bytes).decode("utf-8")
    except UnicodeDecodeError as problem:
        raise error(f"{path} is not UTF-8 text: {problem}") from None


def read_json(path: str | os.PathLike[str], error: type[Exception], max_bytes: int = MAX_TEXT_BYTES) -> dict[str, Any]:
    """Parse a JSON file that contains an object. Raises ``error`` on failure."""
    return parse_json(read_text(path, error, max_bytes), error, str(path))


def read_json_lines(
    path: str | os.PathLike[str], error: type[Exception], max_bytes: int = MAX_TEXT_BYTES
) -> list[dict[str, Any]]:
    """Return the objects of a JSON lines file, without invalid lines. Numbers may be NaN. Raises ``error`` on failure."""
    rows = []
    for line in read_bytes(path, error, max_bytes).splitlines():
        with contextlib.suppress(_InvalidLineError):
            rows.append(parse_json(line.decode("utf-8", "replace"), _InvalidLineError, "", allow_nan=True))
    return rows


class _InvalidLineError(ValueError):
    pass


def parse_json(text: str, error: type[Exception], source: str, *, allow_nan: bool = False) -> dict[str, Any]:
    """Parse JSON text that contains an object.

    Args:
        text: the JSON text.
        error: exception class to raise.
        source: name of the text in error messages.
        allow_nan: whether the constants NaN, Infinity and -Infinity, which JSON does not have, are numbers.

    Raises:
        error: the text is not a JSON object, exceeds a limit, or contains a duplicate key.
    """
    try:
        fields = json.loads(
            text,
            object_pairs_hook=_without_repetition,
            parse_constant=float if allow_nan else _refuse_constant,
            parse_int=_parse_integer,
            parse_float=_parse_float,
        )
    except (ValueError, RecursionError) as problem:
        reason = "it is nested too deeply" if isinstance(problem, RecursionError) else problem
        raise error(f"{source} is not valid JSON: {reason}") from None
    if not isinstance(fields, dict):
        raise error(f"{source} must be a JSON object, got {type(fields).__name__}")
    # Deep nesting requires many brackets; counting them first is cheaper.
    if text.count("[") + text.count("{") > MAX_DEPTH and _is_deeper(fields, MAX_DEPTH):
        raise error(f"{source} is not valid: it is nested more than {MAX_DEPTH} levels deep")
    return fields


def _is_deeper(value: Any, levels: int) -> bool:
    waiting = [(value, 1)]
    while waiting:
        item, depth = waiting.pop()
        if isinstance(item, (dict, list)):
            if depth > levels:
                return True
            waiting += [(part, depth + 1) for part in (item.values() if isinstance(item, dict) else item)]
    return False


def _without_repetition(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        seen: set[str] = set()
        raise ValueError(f"duplicate key {next(key for key, _ in pairs if key in seen or seen.add(key))!r}")  # type: ignore[func-returns-value]
    return fields


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a JSON number")


def _parse_integer(text: str) -> int:
    if len(text) > MAX_DIGITS:
        raise ValueError(f"an integer must have at most {MAX_DIGITS} digits, got {len(text)}")
    return int(text)


def _parse_float(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text[:30]} is out of the range of numbers")
    return number
