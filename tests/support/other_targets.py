"""What tests of code for browsers and GPUs share."""

from __future__ import annotations

import llvmlite.binding
import pytest

#: Skips tests where the code for other targets cannot be compiled.
can_compile = pytest.mark.skipif(
    not hasattr(llvmlite.binding, "create_pass_builder"), reason="llvmlite is too old for other targets"
)

#: The games of the tests of GPUs. Compiling takes half a minute a game; the slow tests have all of them.
GPU_GAMES = (
    "vadus(size=3)",
    *(
        pytest.param(game, marks=pytest.mark.slow)
        for game in ("laido(size=3)", "taugo(size=5)", "taigo(radius=3)", "trugo(radius=4,tiles=12)")
    ),
)
