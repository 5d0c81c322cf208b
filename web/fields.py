"""Validated access to the fields of a request's JSON object."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoneworks.reading import parse_json
from stoneworks.web.errors import RequestError


def parse_object(body: bytes) -> dict[str, Any]:
    """Parse a request body as a JSON object. Raises :class:`RequestError` if it is not one."""
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError:
        raise RequestError("the body must be a JSON object in UTF-8") from None
    return parse_json(text, RequestError, "the body")


def check_text(name: str, value: Any, most_characters: int) -> str:
    """Return a string of at most ``most_characters`` Unicode characters, none of them null, or raise a ``RequestError``."""
    if not isinstance(value, str) or len(value) > most_characters or "\x00" in value or not _is_unicode(value):
        raise RequestError(f"{name} must be a text of at most {most_characters} characters, got {_shortened(value)}")
    return value


class Fields:
    """The fields of a request. Unknown fields are an error.

    All methods raise :class:`RequestError` with the field, its value and the allowed values.
    """

    def __init__(self, fields: Mapping[str, Any], known: tuple[str, ...]) -> None:
        for name in fields:
            if name not in known:
                raise RequestError(f"unknown field {_shortened(name)}; valid fields: {', '.join(known) or 'none'}")
        self._fields = fields

    def __contains__(self, name: str) -> bool:
        return self._fields.get(name) is not None

    def raw(self, name: str) -> Any:
        """Return a field without validation, or None if it is missing."""
        return self._fields.get(name)

    def text(self, name: str, most_characters: int, default: str | None = None) -> str:
        """Return a string of at most ``most_characters`` characters."""
        return check_text(name, self._fields.get(name, default), most_characters)

    def integer(self, name: str, least: int, most: int, default: int | None = None) -> int:
        """Return an integer within bounds."""
        value = self._fields.get(name, default)
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise RequestError(f"{name} must be an integer from {least} to {most}, got {_shortened(value)}")
        return value

    def boolean(self, name: str, default: bool | None = None) -> bool:
        """Return a boolean."""
        value = self._fields.get(name, default)
        if not isinstance(value, bool):
            raise RequestError(f"{name} must be true or false, got {_shortened(value)}")
        return value

    def texts(self, name: str, most: int, most_characters: int = 16) -> tuple[str, ...]:
        """Return a list of at most ``most`` strings of at most ``most_characters`` each; empty if the field is missing."""
        value = self._fields.get(name, [])
        if not isinstance(value, list) or len(value) > most:
            raise RequestError(f"{name} must be a list of at most {most} texts, got {_shortened(value)}")
        return tuple(check_text(f"{name}[{index}]", item, most_characters) for index, item in enumerate(value))

    def object(self, name: str, most: int = 32) -> dict[str, Any]:
        """Return an object with at most ``most`` fields; empty if the field is missing."""
        value = self._fields.get(name, {})
        if not isinstance(value, dict) or len(value) > most:
            raise RequestError(f"{name} must be an object of at most {most} fields, got {_shortened(value)}")
        return value

    def objects(self, name: str, most: int) -> list[dict[str, Any]]:
        """Return a list of at most ``most`` objects."""
        value = self._fields.get(name)
        if not isinstance(value, list) or len(value) > most or not all(isinstance(item, dict) for item in value):
            raise RequestError(f"{name} must be a list of at most {most} objects, got {_shortened(value)}")
        return value


def query_integer(query: Mapping[str, str], name: str, least: int, most: int, default: int) -> int:
    """Return an integer from the query string. Raises :class:`RequestError` if it is not an integer."""
    text = query.get(name, str(default))
    if not (text.isascii() and text.isdecimal() and len(text) < 12) or not least <= int(text) <= most:
        raise RequestError(f"{name} must be an integer from {least} to {most}, got {_shortened(text)}")
    return int(text)


def _is_unicode(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:  # a lone surrogate
        return False
    return True


def _shortened(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
