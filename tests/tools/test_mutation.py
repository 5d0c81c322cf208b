from __future__ import annotations

from pathlib import Path
from typing import Any

import numba

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


def value_of(code: str) -> Any:
    exec(code, names := {})
    return names["value"]


def test_mutants_are_small_changes_of_functions_that_behave_as_before_until_one_is_active(tmp_path: Path) -> None:
    file = tmp_path / "code.py"
    file.write_text(CODE)
    mutants = find_mutants(tmp_path, file)
    assert [mutant.text for mutant in mutants if mutant.line == 11] == [
        "a < b -> a <= b",
        "a < b and (not b == 7) -> a < b or not b == 7",
        "not b == 7 -> b == 7",
        "b == 7 -> b != 7",
        "7 -> 8",
    ]
    kinds = {"comparison", "condition", "connective", "constant", "negation", "operator", "removal"}
    assert {mutant.kind for mutant in mutants} == kinds
    assert not any(mutant.line < 9 for mutant in mutants)
    expected = [value_of(CODE)(*each) for each in ARGUMENTS]
    switched = value_of(with_switches(file, {mutant.place: number for number, mutant in enumerate(mutants)}))
    for value in (switched, numba.njit(switched)):
        take_reached()
        assert [value(*each) for each in ARGUMENTS] == expected
        assert set(take_reached()) >= {number for number, mutant in enumerate(mutants) if mutant.line == 11}
        noticed = set()
        for number, mutant in enumerate(mutants):
            activate(number)
            if [value(*each) for each in ARGUMENTS] != expected:
                noticed.add(mutant.text)
        activate(-1)
        assert {"a < b -> a <= b", "a * b -> a // b", "total[0] -= 1 -> total[0] += 1", "3 -> 4"} <= noticed
        assert "-a -> a" not in noticed  # it is never evaluated
