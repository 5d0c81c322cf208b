"""Bad input of a tool's command line is one line, as with ``stoneworks``."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

from processes import Run


@pytest.mark.parametrize(
    ("tool", "arguments", "message"),
    [
        ("findings", ["nobody"], "unknown game 'nobody'"),
        ("fit_heuristic", ["vadus(size=4)", "--folder", "{folder}"], "vadus has no heuristic with learned weights"),
        ("game_figures", ["{folder}/page.md"], "{folder}/page.md"),
        ("heuristic_scale", ["vadus(size=99)"], "option size must be an integer from 2 to 90, got 99"),
        ("mutation.__main__", ["missing.py"], "got 'missing.py'"),
        ("mutation.__main__", ["--changed-since", "missing"], "git diff --unified=0 missing"),
    ],
)
def test_bad_input_gives_one_line(
    tool: str, arguments: list[str], message: str, tmp_path: Path, run_command: Run
) -> None:
    texts = [text.format(folder=tmp_path) for text in arguments]
    code, _, error = run_command(*texts, app=import_module(f"tools.{tool}").app)
    assert code == 2
    assert error.startswith("stoneworks: ")
    assert message.format(folder=tmp_path) in error
    assert len(error.splitlines()) == 1
    assert not list(tmp_path.iterdir())
