"""Reading files that come from outside: bounded, and with one kind of error.

Each function raises the error class that its caller passes, with the path or source in the message, for everything that can be
wrong with a file: it is missing, not a regular file (a FIFO would block for ever), too large, not UTF-8, not JSON, nested
too deeply, or holds numbers that are not finite or have thousands of digits.
"""

from __future__ import annotations

import json
import math
import os
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

#: Bytes that a file of text may have: many times the largest that stoneworks writes.
MAX_TEXT_BYTES = 256 * 2**20
#: Levels of lists and objects in JSON.
MAX_DEPTH = 40
#: Digits of an integer in JSON. Seeds have up to 39.
MAX_DIGITS = 100


def read_bytes(path: str | os.PathLike[str], error: type[Exception], max_bytes: int | None = None) -> bytes:
    """Return the content of a regular file. Raises ``error`` where that is not possible."""
    file = Path(path)
    try:
        # Without O_NONBLOCK the open of a FIFO waits for a writer, also one that has replaced a file just now.
        descriptor = os.open(file, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
        with os.fdopen(descriptor, "rb") as opened:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                raise error(f"{file} is not a regular file")
            if max_bytes is not None and status.st_size > max_bytes:
                raise error(f"{file} must have at most {max_bytes:,} bytes, got {status.st_size:,}")
            return opened.read()
    except OSError as problem:
        raise error(f"{file} cannot be read: {problem.strerror or problem}") from None
    except ValueError as problem:  # a path with a null character
        if isinstance(problem, error):
            raise
        raise error(f"{str(file)!r} cannot be read: {problem}") from None


def read_text(path: str | os.PathLike[str], error: type[Exception], max_bytes: int = MAX_TEXT_BYTES) -> str:
    """Return the text of a UTF-8 file. Raises ``error`` where that is not possible."""
    try:
        return read_bytes(path, error, max_bytes).decode("utf-8")
    except UnicodeDecodeError as problem:
        raise error(f"{path} is not UTF-8 text: {problem}") from None


def read_json(path: str | os.PathLike[str], error: type[Exception]) -> dict[str, Any]:
    """Return the object that a JSON file holds. Raises ``error`` where that is not possible."""
    return parse_json(read_text(path, error), error, str(path))


def parse_json(text: str, error: type[Exception], source: str) -> dict[str, Any]:
    """Return the object that JSON text holds.

    Args:
        text: the text.
        error: the class of errors.
        source: what errors call the text.

    Raises:
        error: the text is not a JSON object, or one that is out of bounds or has a key twice.
    """
    try:
        fields = json.loads(
            text,
            object_pairs_hook=_without_repetition,
            parse_constant=_refuse_constant,
            parse_int=_parse_integer,
            parse_float=_parse_float,
        )
    except (ValueError, RecursionError) as problem:
        reason = "it is nested too deeply" if isinstance(problem, RecursionError) else problem
        raise error(f"{source} is not valid JSON: {reason}") from None
    if not isinstance(fields, dict):
        raise error(f"{source} must be a JSON object, got {type(fields).__name__}")
    # Only where there are many brackets can they be nested deeply.
    if text.count("[") + text.count("{") > MAX_DEPTH and _is_deeper(fields, MAX_DEPTH):
        raise error(f"{source} is not valid: it is nested more than {MAX_DEPTH} levels deep")
    return fields


def check_shape(value: Any, shape: Any, error: type[Exception], where: str) -> None:
    """Check that a value from JSON has the parts that a shape describes.

    Args:
        value: the value.
        shape: ``str``, ``bool``, ``int``, ``float`` (any finite number) or None (anything); ``[shape]`` for a list of such
            values; or ``{key: shape}`` for an object with these keys and any others. Keys that end in ``?`` are optional.
        error: the class of errors.
        where: what errors call the value.

    Raises:
        error: a part is missing or of another type.
    """
    if shape is None:
        return
    if isinstance(shape, Mapping):
        if not isinstance(value, dict):
            raise error(f"{where} must be an object, got {_shown(value)}")
        for key, of_key in shape.items():
            name = key.removesuffix("?")
            if name in value:
                check_shape(value[name], of_key, error, f"{where}: {name}")
            elif not key.endswith("?"):
                raise error(f"{where}: the key {name} is missing")
    elif isinstance(shape, Sequence):
        if not isinstance(value, list):
            raise error(f"{where} must be a list, got {_shown(value)}")
        for index, item in enumerate(value):
            check_shape(item, shape[0], error, f"{where}[{index}]")
    else:
        fits = isinstance(value, (int, float) if shape is float else shape)
        if not fits or (isinstance(value, bool) and shape is not bool):
            raise error(f"{where} must be {_NAMES[shape]}, got {_shown(value)}")


_NAMES = {str: "a string", bool: "true or false", int: "an integer", float: "a number"}


def _shown(value: Any) -> str:
    shown = repr(value)
    return shown if len(shown) <= 100 else f"{shown[:100]}..."


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
        raise ValueError(f"an integer has {len(text)} digits; at most {MAX_DIGITS} are allowed")
    return int(text)


def _parse_float(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text[:30]} is out of the range of numbers")
    return number
