"""The sample of games. A new game joins most tests by the samples of its entry in the registry, and by ``side_by_side``."""

from __future__ import annotations

import pytest

from game_play import SAMPLES
from stoneworks.envs.rules import Game, load_game


@pytest.fixture(params=SAMPLES)
def game(request: pytest.FixtureRequest) -> Game:
    """Each game of the sample in turn."""
    return load_game(request.param)
