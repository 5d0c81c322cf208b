"""The public names of the packages: each is there, and importing a package imports none of what is behind them."""

from __future__ import annotations

import importlib
import subprocess
import sys

import pytest

PACKAGES = ("stoneworks", "stoneworks.envs", "stoneworks.envs.rules", "stoneworks.models", "stoneworks.training")


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_name_can_be_imported(package: str) -> None:
    module = importlib.import_module(package)
    assert set(module.__all__) <= set(dir(module))
    for name in module.__all__:
        assert getattr(module, name) is not None
    with pytest.raises(AttributeError, match="no_such_name"):
        module.no_such_name  # noqa: B018


@pytest.mark.parametrize("package", PACKAGES)
def test_importing_a_package_imports_no_heavy_library(package: str) -> None:
    heavy = "('numba', 'numpy', 'torch', 'gymnasium', 'pettingzoo', 'importlib.metadata')"
    code = f"import sys, {package}; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
