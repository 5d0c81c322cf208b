"""``Document``: base class of everything that is read from or written to a file, and of configurations and requests.

A document describes its fields once, by types and bounds; pydantic checks them wherever one is constructed.
"""

from __future__ import annotations

import json
import math
import os
import zlib
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Strict, ValidationError, model_validator
from pydantic.functional_validators import ModelWrapValidatorHandler

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
#: Key of the checksum in a file.
_CHECKSUM = "crc32"
#: Largest relative, and absolute, difference of a derived number to the one that is stored.
_TOLERANCE = 1e-6


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


def with_checksum(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a JSON object with the CRC-32 of all of them, as :func:`verified` checks it."""
    return {**fields, _CHECKSUM: f"{zlib.crc32(json.dumps(fields, sort_keys=True).encode()):08x}"}


def verified(fields: dict[str, Any], error: type[ValueError], source: str) -> dict[str, Any]:
    """Return the fields of a JSON object without their checksum. Raises ``error`` if there is one and it is wrong.

    Files that were written by hand, or before there were checksums, have none.
    """
    content = {name: value for name, value in fields.items() if name != _CHECKSUM}
    if fields not in (content, with_checksum(content)):
        raise error(
            f"{source} was changed after it was written: its content does not have the {_CHECKSUM} "
            f"{shown(fields[_CHECKSUM])}; remove that key if you have made the change"
        )
    return content


class Document(BaseModel, metaclass=_TypedErrors):
    """Base class of documents: immutable; types are not converted, except integers to floats; unknown keys are errors.

    Computed fields (``pydantic.computed_field``) are written too. Where they are read, they must have the values that follow
    from the other fields.

    Attributes:
        error: exception class raised for invalid values.
        renamed_keys: new names of renamed keys by old name; an old key is an error that names the new one.
    """

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", allow_inf_nan=False)

    error: ClassVar[type[ValueError]] = DocumentError
    renamed_keys: ClassVar[Mapping[str, str]] = {}

    @model_validator(mode="wrap")
    @classmethod
    def _compare_computed(cls, values: Any, validate: ModelWrapValidatorHandler[Self]) -> Self:
        keys = [field.alias or name for name, field in cls.model_computed_fields.items()]
        stored = [key for key in keys if isinstance(values, dict) and key in values]
        if not stored:
            return validate(values)
        document = validate({key: value for key, value in values.items() if key not in keys})
        computed = document.to_fields()
        for key in stored:
            if difference := _difference(values[key], computed[key], key):
                raise ValueError(difference)
        return document

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
        return cls.parse(verified(read_json(path, cls.error), cls.error, str(path)), str(path))

    @classmethod
    def shipped(cls, package: str) -> list[Self]:
        """Return the documents in the JSON files of a package, by file name. Raises ``error`` if a file is invalid."""
        return [cls.from_file(file) for file in sorted(Path(str(resources.files(package))).glob("*.json"))]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the document to a JSON file with a checksum, atomically."""
        text = json.dumps(with_checksum(self.to_fields()), indent=1, allow_nan=False, ensure_ascii=False)
        write_whole(Path(path), f"{text}\n")

    def to_fields(self) -> dict[str, Any]:
        """Return the values as JSON has them, by the keys of the file."""
        return self.model_dump(mode="json", by_alias=True)

    def replace(self, **changes: Any) -> Self:
        """Return a copy with other values of some fields. Raises ``error`` for an invalid value."""
        values = {field.alias or name: getattr(self, name) for name, field in type(self).model_fields.items()}
        return type(self)(**{**values, **changes})


def _difference(stored: Any, computed: Any, key: str) -> str:
    """Return how a stored value differs from the computed one, in words; empty if it does not."""
    parts: list[tuple[Any, Any, str]]
    if isinstance(stored, dict) and isinstance(computed, dict) and stored.keys() == computed.keys():
        parts = [(stored[name], computed[name], f"{key}.{name}") for name in computed]
    elif isinstance(stored, (list, tuple)) and isinstance(computed, (list, tuple)) and len(stored) == len(computed):
        parts = [(stored[number], computed[number], f"{key}.{number}") for number in range(len(computed))]
    elif isinstance(stored, (int, float)) and isinstance(computed, (int, float)):
        same = math.isclose(stored, computed, rel_tol=_TOLERANCE, abs_tol=_TOLERANCE)
        return "" if same else f"{key} must be {computed}, by the other values, got {shown(stored)}"
    else:
        same = stored == computed
        return "" if same else f"{key} must be {shown(computed)}, by the other values, got {shown(stored)}"
    return next(filter(None, (_difference(*part) for part in parts)), "")


def describe(error: ValidationError, document: type[BaseModel]) -> str:
    """Return the first problem of a validation error in one line: the key, the constraint and the value."""
    problem = error.errors(include_url=False)[0]
    kind, value = problem["type"], problem["input"]
    key = ".".join(part for part in map(str, problem["loc"]) if part.strip())  # the tags of a schedule are blank
    if kind == "missing":
        return f"the key {key} is missing"
    if kind == "extra_forbidden":
        inner, name = _document_at(document, problem["loc"][:-1]), problem["loc"][-1]
        if name in getattr(inner, "renamed_keys", {}):
            return f"the key {key} has been renamed to {key.removesuffix(str(name))}{inner.renamed_keys[name]}"
        valid = getattr(inner, "model_fields", {})
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


def _document_at(document: Any, path: tuple[int | str, ...]) -> Any:
    """Return the class of the document that ``path`` leads to; None if it cannot be told."""
    for key in path:
        field = getattr(document, "model_fields", {}).get(key)
        document = None if field is None else field.annotation
    return document
