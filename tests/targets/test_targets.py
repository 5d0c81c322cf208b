"""Code for other machines from the kernels."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from other_targets import can_compile
from stoneworks.envs.rules.compiler import targets

ROOT = Path(__file__).parents[2]
_PROGRAM = """
from stoneworks.envs.rules import load_game, templates
from stoneworks.envs.rules.compiler import targets

game = load_game("vadus(size=3)")
dtypes = game.board.dtype, game.state_dtype
entry = targets.entry_function("fill_mask", templates.fill_mask, game.kernels, *dtypes)
print(len(entry.arguments))
module, machine = targets.compile_entries(targets.Target({triple!r}, {cpu!r}, "", ""), [entry])
print(*(one.name for one in module.functions if one.linkage.name == "external" and not one.is_declaration))
print(machine.emit_assembly(module))
"""


@can_compile
@pytest.mark.parametrize(
    ("triple", "cpu", "sign"),
    [("wasm32-unknown-unknown", "generic", "i32.load8_u"), ("nvptx64-nvidia-cuda", "sm_80", ".visible .func")],
)
def test_an_entry_function_is_compiled_for_another_machine(triple: str, cpu: str, sign: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM.format(triple=triple, cpu=cpu)],
        env=targets.environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    number, exported, code = done.stdout.split("\n", 2)
    assert number == "6"  # three arrays of one axis
    assert exported == "fill_mask"
    assert sign in code


def test_optimized_code_is_refused() -> None:
    with pytest.raises(targets.TargetError, match="environment"):
        targets.compile_entries(targets.Target("wasm32-unknown-unknown", "generic", "", ""), [])


@can_compile
def test_an_unknown_target_is_named() -> None:
    program = "from stoneworks.envs.rules.compiler.targets import *; compile_entries(Target('z80x', '', '', ''), [])"
    done = subprocess.run(
        [sys.executable, "-c", program], env=targets.environment(), capture_output=True, text=True, check=False
    )
    assert "TargetError: this llvmlite has no target z80x" in done.stderr


@pytest.mark.parametrize("game", ["taigo", "trugo"])
def test_all_processes_number_the_texts_of_a_game_alike(game: str) -> None:
    code = (
        f"from stoneworks.envs.rules import load_game; from tools.browser.entries import text_kernels\n"
        f"print(text_kernels(load_game({game!r}))[1])"
    )
    printed = {
        subprocess.run(
            [sys.executable, "-c", code],
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": seed},
            check=True,
            capture_output=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(printed) == 1
