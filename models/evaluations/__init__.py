"""Plain evaluations of positions, one for each game or for games that share one, and the search of a turn with them.

An evaluation is two kernels, ``evaluate`` and ``rate_actions``, as declared in
:mod:`stoneworks.models.search.turn_search`. They call kernels of this package and of the rules only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from typing import Any

from stoneworks.envs.rules import Game

_MODULES = {
    "vadus": "stoneworks.models.evaluations.vadus",
    "laido": "stoneworks.models.evaluations.laido",
    "taugo": "stoneworks.models.evaluations.taugo",
    "taigo": "stoneworks.models.evaluations.taigo",
    "trugo": "stoneworks.models.evaluations.trugo",
}


def evaluation_kernels(game: Game) -> Mapping[str, Callable[..., Any]]:
    """Return the kernels of the evaluation of ``game`` by name, for ``game.compiled``."""
    return _kernels_of(_MODULES[game.name])


@cache
def _kernels_of(module_name: str) -> Mapping[str, Callable[..., Any]]:
    module = import_module(module_name)
    return {"evaluate": module.evaluate, "rate_actions": module.rate_actions}
