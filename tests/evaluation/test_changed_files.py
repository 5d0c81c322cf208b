"""A file of which one bit was changed is refused, by an error that names it, or means the same."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from stoneworks.evaluation.arena import load_arena, play_arena
from stoneworks.evaluation.folder import ArenaFolderError
from stoneworks.evaluation.ladder import Ladder, LadderError
from stoneworks.evaluation.player_rating import RateResult, RateSettings, rate
from stoneworks.evaluation.records import GameRecordError, read_records
from stoneworks.evaluation.results import ArenaResult
from stoneworks.evaluation.settings import ArenaSettings
from stoneworks.evaluation.solved_accuracy.positions import SolvedPositions, make_solved_positions
from stoneworks.models.solved_game import SolvedGame
from stoneworks.models.solver import Solver

NUM_CHANGES = 300


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a file of each kind."""
    folder = tmp_path_factory.mktemp("files")
    settings = ArenaSettings(game="vadus(size=2)", pairings=(("greedy", "random"),), num_pairs=4)
    result = play_arena(settings, folder / "arena")
    ladder = Ladder.of_result(result, "by hand")
    ladder.save(folder / "ladder.json")
    rated = rate("mcts:2", ladder, folder / "rate", RateSettings(num_pairs=1, scout_pairs=1))
    rated.save(folder / "rate" / "results.json")
    solver = Solver(result.records[0].replay().game)
    SolvedGame.of_solution(solver.game, solver.solve(solver.game.new_initial_state())).save(folder / "solved.json")
    make_solved_positions(solver.game, 3).save(folder / "sample.json")
    return folder


def arena(file: Path) -> Any:
    while not (file / "arena.json").exists():
        file = file.parent
    return load_arena(file)


@pytest.mark.parametrize(
    ("name", "load", "error"),
    [
        ("arena/arena.json", arena, ArenaFolderError),
        ("arena/games/pairing-000-chunk-00000.jsonl", arena, ArenaFolderError),
        ("arena/games/pairing-000-chunk-00000.jsonl", read_records, GameRecordError),
        ("arena/results.json", ArenaResult.from_file, ValueError),
        ("ladder.json", Ladder.from_file, LadderError),
        ("rate/results.json", RateResult.from_file, ValueError),
        ("solved.json", SolvedGame.from_file, ValueError),
        ("sample.json", SolvedPositions.from_file, ValueError),
    ],
)
def test_a_changed_bit_is_seen(
    folder: Path, name: str, load: Callable[[Path], Any], error: type[ValueError], request: pytest.FixtureRequest
) -> None:
    file = folder / name
    content = file.read_bytes()
    whole = load(file)
    bits = np.random.default_rng(0).choice(8 * len(content), min(NUM_CHANGES, 8 * len(content)), replace=False)
    request.addfinalizer(lambda: file.write_bytes(content))
    num_refused = num_equal = 0
    for bit in bits.tolist():
        changed = bytearray(content)
        changed[bit // 8] ^= 1 << bit % 8
        file.write_bytes(changed)
        try:
            found = load(file)
        except error as refused:
            num_refused += file.name in str(refused)
        else:
            assert found == whole, f"bit {bit}: {changed[bit // 8 - 30 : bit // 8 + 30]!r}"
            num_equal += 1
    assert num_refused + num_equal == len(bits), "errors name the file"
    assert num_equal < len(bits) / 10
