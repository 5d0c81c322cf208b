"""Plain evaluations of positions, one for each game or for games that share one, and the search of a turn with them.

An evaluation is two kernels, ``evaluate`` and ``rate_actions``, as declared in
:mod:`stoneworks.models.search.turn_search`, and ``SCALE``, which makes its values expected results. It may have the kernel
``may_win`` of :mod:`stoneworks.models.search.turn_wins`. Kernels call those of this package and of the rules only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from stoneworks.envs.rules import Game, RegistrationError
from stoneworks.envs.rules.games import game_entry
from stoneworks.models.errors import MissingEvaluationError


def has_evaluation(game: Game) -> bool:
    """Return whether ``game`` has an evaluation."""
    return game_entry(game.name).evaluation is not None


def require_evaluation(game: Game, what: str) -> None:
    """Raise ``MissingEvaluationError`` if ``game`` has no evaluation, which ``what`` needs."""
    if not has_evaluation(game):
        raise MissingEvaluationError(
            f"{game.name} has no evaluation, and {what} needs one; a game gets one with register_game(..., evaluation=...)"
        )


def evaluation_kernels(game: Game) -> Mapping[str, Callable[..., Any]]:
    """Return the kernels of the evaluation of ``game`` by name, for ``game.compiled``.

    Raises:
        MissingEvaluationError: the game has none.
        RegistrationError: the evaluation of another package's game cannot be loaded.
    """
    return {name: _attribute(game, name) for name in ("evaluate", "rate_actions")}


def may_win_kernel(game: Game) -> Callable[..., Any] | None:
    """Return the kernel ``may_win`` of the evaluation of ``game``; None where there is none."""
    return getattr(game_entry(game.name).load("evaluation"), "may_win", None) if has_evaluation(game) else None


def evaluation_scale(game: Game) -> float:
    """Return the scale of the evaluation of ``game``: ``tanh(evaluation / scale)`` is the expected result in [-1, 1].

    Each evaluation's module has it as ``SCALE``, fitted by :mod:`stoneworks.training.evaluation_scale`.

    Raises:
        MissingEvaluationError: the game has no evaluation.
        RegistrationError: the evaluation of another package's game cannot be loaded.
    """
    return float(_attribute(game, "SCALE"))


def _attribute(game: Game, name: str) -> Any:
    """Return what the evaluation of ``game`` defines under a name."""
    require_evaluation(game, "this bot or search")
    entry = game_entry(game.name)
    try:
        return getattr(entry.load("evaluation"), name)
    except AttributeError:
        raise RegistrationError(f"{game.name}: evaluation {entry.evaluation!r} must define {name}") from None
