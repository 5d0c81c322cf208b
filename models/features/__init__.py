"""Feature planes: hand-written features of a position that a network can use in addition to the observation.

AlphaGo used such planes (Silver et al., Nature 529, 2016, extended data table 2), and KataGo does (Wu, 2019). They show
what a small convolutional network cannot compute, such as properties of groups that extend over the whole board.

A feature module defines ``FEATURES``, a tuple of :class:`Feature`, and the kernel ``fill_features``, as declared below.
Kernels may call the rules and the evaluation of the game. Features must not depend on anything but the position, so that
equal positions have equal features.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from stoneworks.envs.rules import Game
from stoneworks.envs.rules.games import game_entry
from stoneworks.envs.rules.kernels import Float32Table, Record


class Feature(NamedTuple):
    """A feature plane.

    Attributes:
        name: name of the plane, unique within the game.
        like: name of the observation plane that symmetries of the game map in the same way; None for the board plane.
    """

    name: str
    like: str | None = None


def fill_features(board: Record, state: Record, player: int, planes: Float32Table) -> None:
    """Write every entry of ``planes`` (``float32[num_features, height * width]``) from the perspective of ``player``."""
    raise NotImplementedError


def has_features(game: Game) -> bool:
    """Return whether ``game`` has a feature module."""
    return game_entry(game.name).features is not None


def features_of(game: Game) -> tuple[Feature, ...]:
    """Return the features of ``game``, none if it has no feature module.

    Raises:
        RegistrationError: the feature module of a game from another package is invalid.
    """
    return tuple(game_entry(game.name).attribute("features", "FEATURES")) if has_features(game) else ()


def features_kernel(game: Game) -> Any:
    """Return the kernel ``fill_features`` of ``game``, which must have a feature module.

    Raises:
        RegistrationError: the feature module of a game from another package is invalid.
    """
    return game_entry(game.name).attribute("features", "fill_features")
