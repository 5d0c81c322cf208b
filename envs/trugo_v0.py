"""Trugo, version 0, as a PettingZoo AEC environment: tiles laid and removed, pieces that slide, pin and capture.

``env(tiles=36, ...)`` makes it; the arguments are those of :class:`stoneworks.envs.aec.BoardGameEnv` after the first, and
the options of the game. Rules, planes and actions are described in docs/trugo.md.
"""

from __future__ import annotations

from typing import Any

from stoneworks.envs.aec import BoardGameEnv


class raw_env(BoardGameEnv):  # noqa: N801  PettingZoo's name
    """Trugo for two agents."""

    def __init__(self, **arguments: Any) -> None:
        super().__init__("trugo", **arguments)


env = raw_env  # it needs none of the wrappers that PettingZoo's environments wear

__all__ = ["env", "raw_env"]
