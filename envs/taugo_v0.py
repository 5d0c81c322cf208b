"""Taugo, version 0, as a PettingZoo AEC environment: lines of stones that cut through enemy strings.

``env(size=16, ...)`` makes it; the arguments are those of :class:`stoneworks.envs.aec.BoardGameEnv` after the first, and
the options of the game. Rules, planes and actions are described in docs/taugo.md.
"""

from __future__ import annotations

from typing import Any

from stoneworks.envs.aec import BoardGameEnv


class raw_env(BoardGameEnv):  # noqa: N801  PettingZoo's name
    """Taugo for two agents."""

    def __init__(self, **arguments: Any) -> None:
        super().__init__("taugo", **arguments)


env = raw_env  # it needs none of the wrappers that PettingZoo's environments wear

__all__ = ["env", "raw_env"]
