"""Texts on positions: functions of a game that say sentences.

The functions of a game's ``texts.py`` are written as kernels are, but not compiled: Python runs them as they are, with records
whose fields have 64 bits, and browsers get them compiled, with the number of each text in its place. All are optional:

- ``describe_turn(board, state, words)``, ``describe_supplies(board, state, words)``, ``explain_result(board, state, words)``
- ``explain_illegal(board, state, action, words)``

What they say is listed in :class:`stoneworks.envs.rules.contract.GameDefinition`, whose methods of the same names call them. A game
may define these methods itself instead; then only Python has its texts.
"""

from __future__ import annotations

import re
import threading
from functools import cache
from types import FunctionType, ModuleType, SimpleNamespace
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from stoneworks.envs.rules.game_registry import game_entry

#: What is said: texts with their values; a marked action has no text (see :func:`say` and :func:`mark`).
Words: TypeAlias = list[tuple[str, tuple[int, ...]]]

_FIELD = re.compile(r"{(\w+)}")


class Explanation(NamedTuple):
    """Why a game ended as it did.

    Attributes:
        text: the reason in words.
        deciding: board actions at whose places are the stones that decided; pictures mark these.
    """

    text: str = ""
    deciding: tuple[int, ...] = ()


def say(words: Words, text: str, *values: int) -> None:
    """Say ``text``, with up to four values in the places of its fields ``{cell}``, ``{action}``, ``{color}``, ``{number}``.

    The text is a constant or one of several: browsers know it before they know the position.
    """
    words.append((text, values))


def mark(words: Words, action: int) -> None:
    """Say that what is at the place of a board action decided the game."""
    words.append(("", (action,)))


def said(game: Any, function: str, state: Any, *action: int) -> Explanation:
    """Return what a function of the texts of ``game`` says on a position, nothing if the game does not have it."""
    words: Words = []
    if called := getattr(_module(game.__class__), function, None):
        _as_python(called)(_wide(game.board[0]), _wide(state.record), *action, words)
    names = {"cell": game.grid.cell_names, "action": game.action_texts, "color": game.colors}

    def filled(text: str, values: tuple[int, ...]) -> str:
        for kind, value in zip(_FIELD.findall(text), values, strict=False):
            shown = names[kind][value] if kind in names else str(value).replace("-", "−")
            text = text.replace(f"{{{kind}}}", shown, 1)
        return text

    texts = [filled(text, values) for text, values in words]
    return Explanation("".join(texts), tuple(dict.fromkeys(int(values[0]) for text, values in words if not text)))


def _as_python(function: Any) -> FunctionType:
    """Return a function as Python runs it, with the kernels that it calls as such functions, too."""
    with _MAKING:
        return _make_plain(function)


def _make_plain(function: Any) -> FunctionType:
    function = getattr(function, "py_func", function)
    if function not in _PLAIN:
        names = dict(function.__globals__)
        given = function.__name__, function.__defaults__, function.__closure__
        _PLAIN[function] = FunctionType(function.__code__, names, *given)
        for name in set(function.__code__.co_names) & set(names):
            if isinstance(names[name], ModuleType):
                of_module = vars(names[name])
                plain = {key: _make_plain(value) for key, value in of_module.items() if hasattr(value, "py_func")}
                names[name] = SimpleNamespace(**{**of_module, **plain}) if plain else names[name]
            elif hasattr(names[name], "py_func") or isinstance(names[name], FunctionType):
                names[name] = _make_plain(names[name])
    return _PLAIN[function]


_PLAIN: dict[Any, FunctionType] = {}
_MAKING = threading.Lock()  # functions are in _PLAIN before their names are replaced


def _wide(record: np.void) -> SimpleNamespace:
    """Return a record with the attributes that it has in kernels, of 64 bits: small integers of numpy overflow."""
    return SimpleNamespace(**{name: np.asarray(record[name]).astype(np.int64)[()] for name in record.dtype.names or ()})


@cache
def _module(game_class: Any) -> ModuleType | None:
    return game_entry(game_class.name).find_part("texts")
