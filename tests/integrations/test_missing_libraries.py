"""Nothing of a library is imported unless asked for, and a missing one is an error that says what to install."""

from __future__ import annotations

import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    ("module", "library", "package"),
    [
        ("openspiel", "pyspiel", "open_spiel"),
        ("sb3", "sb3_contrib", "sb3-contrib"),
        ("rllib", "ray", "ray"),
        ("rllib", "torch", "torch"),
        ("tianshou", "torch", "tianshou"),
        ("pufferlib", "pufferlib", "pufferlib"),
        ("lightzero", "ding", "LightZero"),
    ],
)
def test_a_missing_library_is_named(module: str, library: str, package: str) -> None:
    script = f"import sys; sys.modules[{library!r}] = None; import stoneworks.integrations.{module}"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "MissingLibraryError" in done.stderr.splitlines()[-1]
    assert "pip install" in done.stderr.splitlines()[-1]
    assert package in done.stderr.splitlines()[-1]


def test_the_environments_import_no_library() -> None:
    libraries = ["torch", "stable_baselines3", "pyspiel", "ray", "torchrl", "tianshou", "agilerl", "pufferlib"]
    script = f"""import sys, stoneworks.integrations, stoneworks.envs.self_play, stoneworks.envs.vector, stoneworks.envs.aec
sys.exit(str([name for name in {libraries} if name in sys.modules]) if any(name in sys.modules for name in {libraries}) else 0)"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
