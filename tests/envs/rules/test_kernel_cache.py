"""Machine code that several processes have put into the cache works together in one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

PRINT_NUMBERS_OF_LEGAL_ACTIONS = """
import sys
from stoneworks.envs.rules import load_game
print(*(len(load_game(game).new_initial_state().legal_actions()) for game in sys.argv[1:]))
"""


def numbers_of_legal_actions(cache: Path, *games: str) -> list[int]:
    """Return the number of legal actions at the start of each game, counted in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", PRINT_NUMBERS_OF_LEGAL_ACTIONS, *games],
        env={**os.environ, "STONEWORKS_CACHE_DIR": str(cache)},
        capture_output=True,
        text=True,
        check=True,
    )
    return [int(number) for number in done.stdout.split()]


def test_records_of_two_sizes_compiled_in_two_processes_are_not_mixed_up_in_a_third(tmp_path: Path) -> None:
    assert numbers_of_legal_actions(tmp_path, "vadus(size=2)") == [7]
    assert numbers_of_legal_actions(tmp_path, "vadus(size=11)") == [331]
    assert numbers_of_legal_actions(tmp_path, "vadus(size=2)", "vadus(size=11)") == [7, 331]
