"""The environments are found by import, by Gymnasium and by PettingZoo, in whatever order things are imported."""

from __future__ import annotations

import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    "code",
    [
        "import gymnasium, stoneworks; gymnasium.register_envs(stoneworks); gymnasium.make('stoneworks/Vadus-v0')",
        "import stoneworks, gymnasium; gymnasium.register_envs(stoneworks); gymnasium.make('stoneworks/Laido-v0', size=4)",
        "import gymnasium; gymnasium.make('stoneworks:stoneworks/Vadus-v0')",
        "import gymnasium, stoneworks; gymnasium.make_vec('stoneworks/Trugo-v0', num_envs=2)",
        "import pettingzoo, stoneworks; pettingzoo.make('aec', 'stoneworks/vadus-v0', size=3)",
        "import stoneworks.envs.vadus_v0; stoneworks.envs.vadus_v0.env(size=3).reset()",
        "import importlib; importlib.import_module('stoneworks.envs.taugo_v0').raw_env(size=3).reset()",
        "import stoneworks; stoneworks.envs.taigo_v0.env().reset()",
        "from stoneworks.envs import trugo_v0; assert trugo_v0.__name__ == 'stoneworks.envs.trugo_v0'; assert trugo_v0.__doc__",
    ],
)
def test_in_a_fresh_process(code: str) -> None:
    if "pettingzoo.make" in code:
        pytest.importorskip("pettingzoo", minversion="1.27")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_importing_stoneworks_imports_no_large_library() -> None:
    large = "{'numpy', 'numba', 'gymnasium', 'pettingzoo', 'importlib.metadata'}"
    code = f"import sys, stoneworks; print(sorted({large} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_another_version_and_other_names_are_refused() -> None:
    code = """
import importlib
for name, message in (("vadus_v7", "use vadus_v0"), ("chess_v0", "No module named"), ("vadus", "No module named")):
    try:
        importlib.import_module(f"stoneworks.envs.{name}")
    except ImportError as error:
        assert message in str(error), error
    else:
        raise AssertionError(name)
import stoneworks.envs
assert not hasattr(stoneworks.envs, "chess_v0")
"""
    subprocess.run([sys.executable, "-c", code], check=True)
