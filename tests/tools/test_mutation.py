from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numba
import pytest

from tools.mutation.mutants import find_mutants, with_switches
from tools.mutation.switch import activate, take_reached

CODE = '''"""Says what it is."""
from __future__ import annotations

LIMIT = 2


def value(a: int, b: int) -> int:
    """Return a number."""
    total = [a]
    for _ in range(3):
        if a < b and not b == 7:
            total[0] += a * b
            continue
        total[0] -= 1
    return total[0] if total else -a
'''
ARGUMENTS = [(1, 2), (2, 2), (1, 7), (3, 1)]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "code.py"
    path.write_text(CODE)
    return path


@pytest.fixture(autouse=True)
def inactive() -> Iterator[None]:
    take_reached()
    yield
    activate(-1)


def value_of(code: str) -> Any:
    exec(code, names := {})
    return names["value"]


def test_mutants_are_small_changes_of_functions(file: Path) -> None:
    mutants = find_mutants(file.parent, file)
    assert [mutant.text for mutant in mutants if mutant.line == 11] == [
        "a < b -> a <= b",
        "a < b and (not b == 7) -> a < b or not b == 7",
        "not b == 7 -> b == 7",
        "b == 7 -> b != 7",
        "7 -> 8",
    ]
    assert {mutant.kind for mutant in mutants} == {
        "comparison", "condition", "connective", "constant", "negation", "operator", "removal",
    }  # fmt: skip
    assert not any(mutant.line < 9 for mutant in mutants)


@pytest.mark.parametrize("compiled", [False, True])
def test_code_with_switches_behaves_as_without_until_a_mutant_is_active(file: Path, compiled: bool) -> None:
    mutants = find_mutants(file.parent, file)
    original = value_of(CODE)
    switched = value_of(with_switches(file, {mutant.place: number for number, mutant in enumerate(mutants)}))
    if compiled:
        switched = numba.njit(switched)
    expected = [original(*each) for each in ARGUMENTS]
    assert [switched(*each) for each in ARGUMENTS] == expected
    assert set(take_reached()) >= {number for number, mutant in enumerate(mutants) if mutant.line == 11}
    noticed = set()
    for number, mutant in enumerate(mutants):
        activate(number)
        if [switched(*each) for each in ARGUMENTS] != expected:
            noticed.add(mutant.text)
    assert {"a < b -> a <= b", "a * b -> a // b", "total[0] -= 1 -> total[0] += 1", "3 -> 4"} <= noticed
    assert "-a -> a" not in noticed  # it is never evaluated
