"""Plain evaluations of positions, one for each game or for games that share one, and the search of a turn with them.

An evaluation is two kernels, ``evaluate`` and ``rate_actions``, as declared in
:mod:`stoneworks.models.search.turn_search`. They call kernels of this package and of the rules only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from types import ModuleType
from typing import Any

from stoneworks.envs.rules import Game

_MODULES = {
    "vadus": "stoneworks.models.evaluations.vadus",
    "laido": "stoneworks.models.evaluations.laido",
    "taugo": "stoneworks.models.evaluations.taugo",
    "taigo": "stoneworks.models.evaluations.taigo",
    "trugo": "stoneworks.models.evaluations.trugo",
}


def has_evaluation(game: Game) -> bool:
    """Return whether ``game`` has an evaluation."""
    return game.name in _MODULES


def evaluation_kernels(game: Game) -> Mapping[str, Callable[..., Any]]:
    """Return the kernels of the evaluation of ``game`` by name, for ``game.compiled``.

    Raises:
        ValueError: the game has no evaluation.
    """
    module = _module_of(game)
    return {"evaluate": module.evaluate, "rate_actions": module.rate_actions}


def evaluation_scale(game: Game) -> float:
    """Return the scale of the evaluation of ``game``: ``tanh(evaluation / scale)`` is the expected result in [-1, 1].

    Each evaluation's module has it as ``SCALE``, fitted by :mod:`stoneworks.training.evaluation_scale`.

    Raises:
        ValueError: the game has no evaluation.
    """
    return float(_module_of(game).SCALE)


def _module_of(game: Game) -> ModuleType:
    if not has_evaluation(game):
        raise ValueError(f"{game.name} has no evaluation; games with one: {', '.join(_MODULES)}")
    return import_module(_MODULES[game.name])
