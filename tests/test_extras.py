"""Optional dependencies: what is missing is named, with the extra that installs it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from stoneworks.extras import MissingDependencyError, require_extra


def test_a_missing_package_is_an_error_that_names_the_extra() -> None:
    with (
        pytest.raises(MissingDependencyError, match=r"windows need no_such_package; install stoneworks\[human\]"),
        require_extra("human", "windows"),
    ):
        import no_such_package.part  # noqa: F401


def test_an_import_error_of_our_own_is_not_reported_as_a_missing_package() -> None:
    with pytest.raises(ModuleNotFoundError, match="no_such_module") as caught, require_extra("train", "networks"):
        import stoneworks.no_such_module  # noqa: F401
    assert not isinstance(caught.value, MissingDependencyError)


WITHOUT = """
import sys
class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("torch", "safetensors", "tensorboard", "matplotlib", "stable_baselines3", "sb3_contrib"):
            raise ModuleNotFoundError(f"{name} is blocked", name=name)
sys.meta_path.insert(0, Blocked())
from stoneworks.cli.main import main
main()
"""


@pytest.mark.parametrize(
    "arguments",
    [
        ["train", "vadus-5"],
        ["train", "vadus-5-ppo"],
        ["match", "vadus", "random", "--game", "vadus(size=2)"],
        ["match", "vadus@4", "random", "--game", "vadus(size=2)"],
        ["report", "."],
        ["arena", "random", "greedy", "--game", "vadus(size=2)", "--picture", "a.png"],
        ["ship", ".", "--as", "vadus"],
    ],
)
def test_commands_without_the_extra_report_it_without_a_traceback(arguments: list[str], tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", WITHOUT, *arguments], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 2
    assert "install stoneworks[train]" in done.stderr
    assert "Traceback" not in done.stderr
    assert not any(tmp_path.iterdir())


def test_games_and_classical_bots_need_no_extra() -> None:
    command = [sys.executable, "-c", WITHOUT, "match", "greedy", "random", "--game", "vadus(size=2)", "--pairs", "1"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
