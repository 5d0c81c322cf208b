"""Hand-written evaluation functions, one per game.

An evaluation module defines two kernels, ``evaluate`` and ``rate_actions``, as declared in
:mod:`stoneworks.models.search.turn_search`, and ``SCALE``, which converts evaluations to expected results. The kernel
``may_win`` of :mod:`stoneworks.models.search.turn_wins` is optional. Kernels may call only this package and the rules.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from stoneworks.envs.rules import Game
from stoneworks.envs.rules.games import game_entry


class MissingEvaluationError(ValueError):
    """Raised when a bot needs a hand-written evaluation and the game has none. The message names both."""


def has_evaluation(game: Game) -> bool:
    """Return whether ``game`` has an evaluation."""
    return game_entry(game.name).evaluation is not None


def require_evaluation(game: Game, what: str) -> None:
    """Raise ``MissingEvaluationError`` if ``game`` has no evaluation, which ``what`` needs.

    Raises:
        MissingEvaluationError: the game has none.
    """
    if not has_evaluation(game):
        raise MissingEvaluationError(
            f"{game.name} has no evaluation, and {what} needs one; a game gets one with register_game(..., evaluation=...)"
        )


def evaluation_kernels(game: Game) -> Mapping[str, Callable[..., Any]]:
    """Return the evaluation kernels of ``game`` by name, for ``game.compiled``.

    Raises:
        MissingEvaluationError: if the game has no evaluation.
        RegistrationError: if the evaluation of a game from another package cannot be loaded.
    """
    return {name: _attribute(game, name) for name in ("evaluate", "rate_actions")}


def may_win_kernel(game: Game) -> Callable[..., Any] | None:
    """Return the ``may_win`` kernel of the evaluation of ``game``, or None if it has none."""
    return getattr(game_entry(game.name).load("evaluation"), "may_win", None) if has_evaluation(game) else None


def evaluation_scale(game: Game) -> float:
    """Return the scale of the evaluation of ``game``: ``tanh(evaluation / scale)`` is the expected result in [-1, 1].

    The scale is ``SCALE`` in the evaluation's module, fitted by :mod:`tools.evaluation_scale`.

    Raises:
        MissingEvaluationError: if the game has no evaluation.
        RegistrationError: if the evaluation of a game from another package cannot be loaded.
    """
    return float(_attribute(game, "SCALE"))


def _attribute(game: Game, name: str) -> Any:
    """Return attribute ``name`` of the evaluation of ``game``."""
    require_evaluation(game, "this bot or search")
    return game_entry(game.name).attribute("evaluation", name)
