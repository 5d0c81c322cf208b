"""Game strings such as ``"vadus(size=9)"``: a name and options in the syntax of a Python call."""

from __future__ import annotations

import ast
from typing import Any

#: Maximum length of a game string, many times that of any game's.
MAX_CHARACTERS = 1000


def parse_game_string(text: str) -> tuple[str, dict[str, Any]]:
    """Split ``"name(option=value,...)"``, where values are literals, into the name and the options.

    Raises:
        ValueError: the text is not a valid game string.
    """
    shown = repr(text[:100] + "..." if isinstance(text, str) and len(text) > MAX_CHARACTERS else text)
    problem = ValueError(f"{shown} is not a valid game string; expected e.g. 'vadus' or 'vadus(size=9)'")
    if not isinstance(text, str) or len(text) > MAX_CHARACTERS:
        raise problem
    try:
        expression = ast.parse(text.strip(), mode="eval").body
        if isinstance(expression, ast.Name):
            return expression.id, {}
        if isinstance(expression, ast.Call) and isinstance(expression.func, ast.Name) and not expression.args:
            options = {keyword.arg: ast.literal_eval(keyword.value) for keyword in expression.keywords}
            if None not in options and len(options) == len(expression.keywords):
                return expression.func.id, {str(name): value for name, value in options.items()}
    except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError):  # the last two: nested too deeply
        pass
    raise problem
