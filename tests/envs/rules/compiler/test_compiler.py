"""Compiling and its cache, each in processes of their own, on a copy of the rules core that nothing else shares."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numba.core.runtime import _nrt_python, rtsys

from stoneworks.envs.rules import load_game
from stoneworks.envs.rules.compiler.bits import list_legal
from stoneworks.envs.rules.compiler.compiler import capacity, kernel, unchecked
from stoneworks.envs.rules.compiler.types import Int64s
from stoneworks.envs.rules.game_registry import small_games
from stoneworks.envs.rules.templates import first_illegal
from stoneworks.models import load_bot

#: Plays two short games, the second of which a comparison of groups decides, and prints their outcomes.
PLAY = """
from stoneworks.envs.rules import load_game
for texts in ("b2 pass pass", "b2 a2 a3 pass pass"):
    state = load_game("vadus(size=2)").new_initial_state()
    for text in texts.split():
        state.apply_action(state.string_to_action(text))
    print(state.outcome().winner)
"""


class RulesCopy:
    """A copy of the rules core and the games, and a cache folder for it; ``run`` runs Python code that imports this copy."""

    def __init__(self, repository: Path, folder: Path) -> None:
        self.folder = folder
        self.cache = folder / "cache"
        self.envs = folder / "copy" / "stoneworks" / "envs"
        for name in ("rules", "games"):
            source = repository / "envs" / name
            shutil.copytree(source, self.envs / name, ignore=shutil.ignore_patterns("__pycache__"))

    def run(self, code: str, cache: str = "cache") -> subprocess.CompletedProcess[str]:
        environment = os.environ | {
            "PYTHONPATH": str(self.folder / "copy"),
            "STONEWORKS_CACHE_DIR": str(self.folder / cache),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        return subprocess.run(
            [sys.executable, "-c", code], env=environment, cwd=self.folder, capture_output=True, text=True, check=False
        )


@pytest.fixture(scope="module")
def rules_copy(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> RulesCopy:
    return RulesCopy(repository, tmp_path_factory.mktemp("rules"))


@pytest.fixture(scope="module")
def cold_run(rules_copy: RulesCopy) -> subprocess.CompletedProcess[str]:
    """Play on the copy for the first time."""
    return rules_copy.run(PLAY)


def files_below(folder: Path) -> dict[str, int]:
    return {str(path): path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}


def test_a_cold_cache_announces_compiling_once(
    cold_run: subprocess.CompletedProcess[str], rules_copy: RulesCopy
) -> None:
    assert cold_run.stdout.split() == ["None", "1"], cold_run.stderr
    (announced,) = cold_run.stderr.splitlines()
    assert "compiling the kernels of vadus" in announced
    assert " s each" in announced, "it says roughly how long"
    assert str(rules_copy.cache) in announced, "it says where they are kept"
    assert files_below(rules_copy.cache)


def test_editing_a_rules_file_never_yields_stale_machine_code(
    cold_run: subprocess.CompletedProcess[str], rules_copy: RulesCopy
) -> None:
    """The comparison is in another file than the cached kernels, which numba alone does not notice."""
    assert cold_run.stdout.split() == ["None", "1"]
    groups = rules_copy.envs / "games" / "hexhex" / "groups.py"
    source = groups.read_text(encoding="utf-8")
    times = groups.stat().st_atime_ns, groups.stat().st_mtime_ns
    comparison = "values[0, rank] > values[1, rank]"
    assert source.count(comparison) == 1
    try:
        groups.write_text(source.replace(comparison, "values[0, rank] < values[1, rank]"), encoding="utf-8")
        os.utime(groups, ns=times)
        edited = rules_copy.run(PLAY)
    finally:
        groups.write_text(source, encoding="utf-8")
    assert edited.stdout.split() == ["None", "0"], edited.stderr
    files = files_below(rules_copy.cache)
    again = rules_copy.run(PLAY)
    assert again.stdout.split() == ["None", "1"]
    assert again.stderr == "", "the machine code of the first sources is still there"
    assert files_below(rules_copy.cache) == files


def test_moving_or_commenting_the_sources_keeps_the_machine_code(
    cold_run: subprocess.CompletedProcess[str], rules_copy: RulesCopy, repository: Path, tmp_path: Path
) -> None:
    moved = RulesCopy(repository, tmp_path)
    for source in moved.envs.rglob("*.py"):
        source.write_text("# a comment\n\n" + source.read_text(encoding="utf-8"), encoding="utf-8")
    shutil.copytree(rules_copy.cache, moved.cache)
    done = moved.run(PLAY)
    assert (done.stdout, done.stderr) == (cold_run.stdout, "")


def test_boards_of_one_capacity_share_their_machine_code() -> None:
    assert [capacity(num_cells) for num_cells in (1, 289, 384, 385, 768, 769)] == [384, 384, 384, 768, 768, 1536]
    small, large, larger = (load_game("vadus", size=size) for size in (2, 9, 11))
    assert small.state_dtype == large.state_dtype != larger.state_dtype
    dtypes = [load_game("taugo", size=size).state_dtype for size in (3, 16, 24)]
    assert dtypes[0] == dtypes[1] != dtypes[2]
    other = load_game("laido(size=2)")
    kernels = [game.compiled(first_illegal) for game in (small, large, larger, other)]
    assert kernels[0] is kernels[1]
    assert kernels[0] not in kernels[2:]


def test_a_compiled_function_takes_exactly_the_types_of_its_template() -> None:
    compiled = load_game("vadus(size=2)").compiled(first_illegal)
    masks, actions = np.ones((1, 3), np.int8), np.zeros(1, np.int64)
    assert compiled(masks, actions) == -1
    with pytest.raises(TypeError, match="No matching definition"):
        compiled(masks.astype(np.int16), actions)


def test_unchecked_machine_code_checks_only_item_sizes() -> None:
    compiled = load_game("vadus(size=2)").compiled(first_illegal)
    function = unchecked(compiled)
    masks, actions = np.ones((1, 3), np.int8), np.array([5])
    assert function(masks, actions) == compiled(masks, actions) == 0
    for wrong in (masks.astype(np.int16), [[1, 1, 1]]):
        with pytest.raises(TypeError):
            function(wrong, actions)


@pytest.mark.parametrize("num_actions", [1, 7, 8, 9, 64, 290, 1621])
@pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 1.0])
def test_the_list_is_the_legal_actions_in_ascending_order(num_actions: int, share: float) -> None:
    rng = np.random.default_rng(num_actions)
    for _ in range(20):
        mask = (rng.random(num_actions) < share).astype(np.int8)
        actions = np.empty(num_actions, np.int64)
        number = list_legal(mask, actions)
        assert actions[:number].tolist() == np.flatnonzero(mask).tolist()


@kernel
def make_pair(number: int) -> tuple[int, Int64s]:
    return number, np.full(number, 3, np.int64)


@kernel
def use_pair(number: int) -> int:
    """A kernel that allocates nothing, but gets an array."""
    first, values = make_pair(number)
    return first + values[0]  # type: ignore[no-any-return]


def test_arrays_that_a_kernel_gets_from_another_are_freed() -> None:
    _nrt_python.memsys_enable_stats()
    assert use_pair(4) == 7
    before = rtsys.get_allocation_stats()
    for _ in range(10):
        use_pair(4)
    after = rtsys.get_allocation_stats()
    assert after.alloc - before.alloc == after.free - before.free == 10


@pytest.mark.parametrize("bot_name", ["greedy", "alphabeta:2", "mcts:30,leaf=heuristic,first_play=0.1"])
@pytest.mark.parametrize("game_name", small_games())
def test_games_of_bots_free_what_they_allocate(game_name: str, bot_name: str) -> None:
    _nrt_python.memsys_enable_stats()
    bot = load_bot(bot_name, game_name, 0)
    held = []
    for _ in range(3):
        state = load_game(game_name).new_initial_state()
        bot.restart()
        while not state.is_terminal():
            state.apply_action(bot.step(state))
        now = rtsys.get_allocation_stats()
        held.append(now.alloc - now.free)
    assert held[0] == held[1] == held[2]
