"""What the tests of libraries share."""

from __future__ import annotations

import pytest

from stoneworks.envs.rules.game_registry import small_games


@pytest.fixture(params=small_games())
def game(request: pytest.FixtureRequest) -> str:
    """Each game on a small board, as a game string."""
    return request.param
