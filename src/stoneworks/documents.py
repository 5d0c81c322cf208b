"""``Document``: base class of everything that is read from or written to a file, and of configurations and requests.

A document describes its fields once, by types and bounds; pydantic checks them wherever one is constructed.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Strict, ValidationError

from stoneworks.files import write_whole
from stoneworks.reading import read_json

T = TypeVar("T")

#: A tuple that may be written as a list, as in YAML and JSON.
Tuple = Annotated[tuple[T, ...], Strict(False)]

_BOUNDS = {
    "greater_than_equal": "be >= {ge:.10g}",
    "greater_than": "be > {gt:.10g}",
    "less_than_equal": "be <= {le:.10g}",
    "less_than": "be < {lt:.10g}",
    "too_short": "have at least {min_length} items",
    "too_long": "have at most {max_length} items",
}
_MAX_CHARACTERS = 100


class DocumentError(ValueError):
    """Raised for an invalid document. The message names its source, the key, the value and the allowed values."""


if TYPE_CHECKING:  # the metaclass of BaseModel has no public name
    from pydantic._internal._model_construction import ModelMetaclass
else:
    ModelMetaclass = type(BaseModel)


class _TypedErrors(ModelMetaclass):
    """Metaclass that converts pydantic's error to the class's own where a document is constructed in Python."""

    def __call__(self: Any, **values: Any) -> Any:
        try:
            return super().__call__(**values)
        except ValidationError as error:
            raise self.error(f"{self.__name__}: {describe(error, self)}") from None


class Document(BaseModel, metaclass=_TypedErrors):
    """Base class of documents: immutable; types are not converted, except integers to floats; unknown keys are errors.

    Attributes:
        error: exception class raised for invalid values.
    """

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", allow_inf_nan=False)

    error: ClassVar[type[ValueError]] = DocumentError

    @classmethod
    def parse(cls, values: Any, source: str) -> Self:
        """Return the document with ``values``, a mapping from YAML or JSON. ``source`` is its name in errors.

        Raises:
            error: the exception class of the document; the message is one line that starts with ``source``.
        """
        try:
            return cls.model_validate(values)
        except ValidationError as error:
            raise cls.error(f"{source}: {describe(error, cls)}") from None

    @classmethod
    def from_file(cls, path: str | os.PathLike[str]) -> Self:
        """Return the document in a JSON file. Raises ``error`` if it is missing or invalid; the message names the file."""
        return cls.parse(read_json(path, cls.error), str(path))

    @classmethod
    def shipped(cls, package: str) -> list[Self]:
        """Return the documents in the JSON files of a package, by file name. Raises ``error`` if a file is invalid."""
        return [cls.from_file(file) for file in sorted(Path(str(resources.files(package))).glob("*.json"))]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the document to a JSON file, atomically."""
        text = json.dumps(self.to_fields(), indent=1, allow_nan=False, ensure_ascii=False)
        write_whole(Path(path), f"{text}\n")

    def to_fields(self) -> dict[str, Any]:
        """Return the values as JSON has them, by the keys of the file."""
        return self.model_dump(mode="json", by_alias=True)

    def replace(self, **changes: Any) -> Self:
        """Return a copy with other values of some fields. Raises ``error`` for an invalid value."""
        values = {field.alias or name: getattr(self, name) for name, field in type(self).model_fields.items()}
        return type(self)(**{**values, **changes})


def describe(error: ValidationError, document: type[BaseModel]) -> str:
    """Return the first problem of a validation error in one line: the key, the constraint and the value."""
    problem = error.errors(include_url=False)[0]
    kind, value = problem["type"], problem["input"]
    key = ".".join(part for part in map(str, problem["loc"]) if part.strip())  # the tags of a schedule are blank
    if kind == "missing":
        return f"the key {key} is missing"
    if kind == "extra_forbidden":
        valid = _fields_at(document, problem["loc"][:-1])
        return f"unknown key {repr(key)[1:-1][:_MAX_CHARACTERS]}" + (
            f"; valid keys: {', '.join(valid)}" if valid else ""
        )
    if kind in ("value_error", "assertion_error"):  # raised by a validator of ours, whose message names the value
        return f"{key}: {problem['ctx']['error']}" if key else str(problem["ctx"]["error"])
    bound = _BOUNDS.get(kind)
    words = bound.format(**problem["ctx"]) if bound else problem["msg"].partition(" should ")[2] or problem["msg"]
    return f"{key or 'it'} must {words}, got {shown(value)}"


def shown(value: Any) -> str:
    """Return the representation of a value for an error message, truncated if it is long."""
    try:
        words = repr(value)
    except (ValueError, RecursionError):  # an integer with thousands of digits, or a container that contains itself
        return f"a very large {type(value).__name__}"
    return words if len(words) <= _MAX_CHARACTERS else f"{words[:_MAX_CHARACTERS]}..."


def _fields_at(document: Any, path: tuple[int | str, ...]) -> Mapping[str, Any]:
    """Return the fields of the document that ``path`` leads to; empty if it cannot be told."""
    for key in path:
        field = getattr(document, "model_fields", {}).get(key)
        document = None if field is None else field.annotation
    return getattr(document, "model_fields", {})
