"""Optional dependencies: what is missing is named, with the extra that installs it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fresh_runs import run_python
from stoneworks.extras import MissingDependencyError, require_extra


def test_a_missing_package_is_an_error_that_names_the_extra_and_one_of_our_own_is_not() -> None:
    message = r"windows need no_such_package; install stoneworks\[human\]"
    with pytest.raises(MissingDependencyError, match=message), require_extra("human", "windows"):
        import no_such_package.part  # noqa: F401
    with pytest.raises(ModuleNotFoundError, match="no_such_module") as caught, require_extra("train", "networks"):
        import stoneworks.no_such_module  # noqa: F401
    assert not isinstance(caught.value, MissingDependencyError)


WITHOUT = """
import contextlib, io, json, sys
class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("torch", "safetensors", "tensorboard", "matplotlib", "stable_baselines3", "sb3_contrib"):
            raise ModuleNotFoundError(f"{name} is blocked", name=name)
sys.meta_path.insert(0, Blocked())
from stoneworks.cli.main import main
results = []
for command in json.loads(sys.argv[1]):
    errors = io.StringIO()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(errors):
        try:
            main(command)
        except SystemExit as ended:
            results.append((ended.code, errors.getvalue()))
print(json.dumps(results))
"""


def test_commands_without_the_extra_report_it_without_a_traceback_and_others_work(tmp_path: Path) -> None:
    need_it = [
        ["train", "vadus-5"],
        ["train", "vadus-5-ppo"],
        ["match", "vadus", "random", "--game", "vadus(size=2)"],
        ["match", "vadus@4", "random", "--game", "vadus(size=2)"],
        ["report", "."],
        ["arena", "random", "greedy", "--game", "vadus(size=2)", "--picture", "a.png"],
    ]
    classical = ["match", "greedy", "random", "--game", "vadus(size=2)", "--pairs", "1"]
    printed = run_python(WITHOUT, json.dumps([*need_it, classical]), cwd=tmp_path)
    assert not any(tmp_path.iterdir()), "what is missing is found before anything is played"
    *refused, played = json.loads(next(line for line in printed.splitlines() if line.startswith("[[")))
    for arguments, (code, errors) in zip(need_it, refused, strict=True):
        assert (code, errors.count("\n")) == (2, 1), arguments
        assert "install stoneworks[train]" in errors, arguments
    assert played[0] == 0, played
