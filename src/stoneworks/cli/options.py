"""Options that several commands share, and groups of options."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from typing import Annotated, Any, get_type_hints

import typer

GameOption = Annotated[str, typer.Option(help="A game string such as 'vadus(size=5)'.")]
OpeningActions = Annotated[
    int, typer.Option(min=0, help="Random actions at the start of each pair; fewer where they would end the game.")
]


def with_option_groups(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command for typer in which each parameter of a dataclass type is replaced by one option per field."""
    parameters: list[inspect.Parameter] = []
    groups: dict[str, Any] = {}
    for parameter in inspect.signature(command, eval_str=True).parameters.values():
        if is_dataclass(group := parameter.annotation):
            groups[parameter.name] = group
            types = get_type_hints(group, include_extras=True)
            parameters += [
                inspect.Parameter(
                    field.name, parameter.KEYWORD_ONLY, default=field.default, annotation=types[field.name]
                )
                for field in fields(group)
            ]
        else:
            parameters.append(parameter.replace(kind=parameter.KEYWORD_ONLY))

    @functools.wraps(command)
    def with_groups(**values: Any) -> None:
        for name, group in groups.items():
            values[name] = group(**{field.name: values.pop(field.name) for field in fields(group)})
        command(**values)

    with_groups.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return with_groups
