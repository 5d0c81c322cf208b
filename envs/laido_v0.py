"""Laido, version 0, as a PettingZoo AEC environment: one stone a turn, walls from edge to edge, the pie rule.

``env(size=9, ...)`` makes it; the arguments are those of :class:`stoneworks.envs.aec.BoardGameEnv` after the first, and
the options of the game. Rules, planes and actions are described in docs/laido.md.
"""

from __future__ import annotations

from typing import Any

from stoneworks.envs.aec import BoardGameEnv


class raw_env(BoardGameEnv):  # noqa: N801  PettingZoo's name
    """Laido for two agents."""

    def __init__(self, **arguments: Any) -> None:
        super().__init__("laido", **arguments)


env = raw_env  # it needs none of the wrappers that PettingZoo's environments wear

__all__ = ["env", "raw_env"]
