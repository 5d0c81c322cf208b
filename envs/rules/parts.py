"""What a game has beside its rules: its heuristic, features, texts and drawing, found by the names of the contract."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from types import ModuleType
from typing import Any

from stoneworks.envs.rules.contract import Feature
from stoneworks.envs.rules.game import Game
from stoneworks.envs.rules.game_registry import game_entry
from stoneworks.registry import RegistrationError


class MissingHeuristicError(ValueError):
    """Raised when a bot needs a heuristic and the game has none. The message names both."""


def has_heuristic(game: Game) -> bool:
    """Return whether ``game`` has a heuristic."""
    return game_part(game, "heuristic") is not None


def require_heuristic(game: Game, what: str) -> None:
    """Raise ``MissingHeuristicError`` if ``game`` has no heuristic, which ``what`` needs.

    Raises:
        MissingHeuristicError: the game has none.
    """
    if not has_heuristic(game):
        raise MissingHeuristicError(
            f"{game.name} has no heuristic, and {what} needs one; a game has one if it defines the kernels heuristic and "
            "rate_actions"
        )


def heuristic_kernels(game: Game) -> Mapping[str, Callable[..., Any]]:
    """Return the kernels of the heuristic of ``game`` by name, for ``game.compiled``.

    Raises:
        MissingHeuristicError: the game has no heuristic.
        RegistrationError: the heuristic of a game from another package cannot be loaded.
    """
    return {name: _of_heuristic(game, name) for name in ("heuristic", "rate_actions")}


def may_win_kernel(game: Game) -> Callable[..., Any] | None:
    """Return the kernel ``may_win`` of the heuristic of ``game``, or None if it has none."""
    return getattr(game_part(game, "heuristic"), "may_win", None)


def heuristic_scale(game: Game) -> float:
    """Return the scale of the heuristic of ``game``: ``tanh(value / scale)`` is the expected result in [-1, 1].

    Raises:
        MissingHeuristicError: the game has no heuristic.
        RegistrationError: the heuristic of a game from another package cannot be loaded.
    """
    return float(_of_heuristic(game, "SCALE"))


def has_features(game: Game) -> bool:
    """Return whether ``game`` has feature planes."""
    return game_part(game, "features") is not None


def features_of(game: Game) -> tuple[Feature, ...]:
    """Return the features of ``game``, none if it has no feature planes.

    Raises:
        RegistrationError: the features of a game from another package are invalid.
    """
    return tuple(_attribute(game, "features", "FEATURES")) if has_features(game) else ()


def features_kernel(game: Game) -> Any:
    """Return the kernel ``fill_features`` of ``game``, which must have feature planes.

    Raises:
        RegistrationError: the features of a game from another package are invalid.
    """
    return _attribute(game, "features", "fill_features")


def drawing_of(game: Game) -> ModuleType | None:
    """Return the module with the drawing of ``game``, or None if it has none.

    Raises:
        RegistrationError: the drawing of a game from another package cannot be loaded.
    """
    return game_part(game, "drawing")


def game_part(game: Game, part: str) -> ModuleType | None:
    """Return the module with a part of a game, as ``"heuristic"`` or ``"texts"``, or None if it has none.

    Raises:
        RegistrationError: the module of a game from another package cannot be loaded.
    """
    return _part(type(game), part)


@cache
def _part(game_class: type[Game], part: str) -> ModuleType | None:
    return game_entry(game_class.name).find_part(part)


def _of_heuristic(game: Game, name: str) -> Any:
    require_heuristic(game, "this bot or search")
    return _attribute(game, "heuristic", name)


def _attribute(game: Game, part: str, name: str) -> Any:
    module = game_part(game, part)
    try:
        return getattr(module, name)
    except AttributeError:
        raise RegistrationError(f"{game.name}: {module.__name__ if module else part} must define {name}") from None
