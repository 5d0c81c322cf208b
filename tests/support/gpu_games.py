"""The games of the tests of GPUs."""

from __future__ import annotations

import pytest

#: Compiling takes half a minute a game; the slow tests have all of them.
GAMES = (
    "vadus(size=3)",
    *(
        pytest.param(game, marks=pytest.mark.slow)
        for game in ("laido(size=3)", "taugo(size=5)", "taigo(radius=3)", "trugo(radius=4,tiles=12)")
    ),
)
