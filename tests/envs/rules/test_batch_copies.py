"""Copies of a batch, by pickle and deepcopy, and forks of a process that has one."""

from __future__ import annotations

import copy
import os
import pickle
import signal
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from stoneworks.envs.rules import Batch, Game, RecordError, load_game

ARRAYS = (
    "states",
    "observations",
    "action_masks",
    "current_players",
    "rewards",
    "terminated",
    "truncated",
)

COPIES: tuple[Callable[[Any], Any], ...] = (copy.deepcopy, lambda batch: pickle.loads(pickle.dumps(batch)))


def contents(batch: Batch) -> dict[str, bytes]:
    return {name: getattr(batch, name).tobytes() for name in ARRAYS}


def play(batch: Batch, num_steps: int) -> None:
    for _ in range(num_steps):
        batch.step(batch.random_actions())


@pytest.mark.parametrize("make_copy", COPIES, ids=["deepcopy", "pickle"])
@pytest.mark.parametrize("num_threads", [1, 3])
def test_a_copy_is_equal_and_independent(game: Game, num_threads: int, make_copy: Callable[[Batch], Batch]) -> None:
    batch = Batch(game, 6, auto_reset=True, num_threads=num_threads, seed=3)
    play(batch, 5)
    twin = make_copy(batch)
    assert contents(twin) == contents(batch)
    assert (twin.game, twin.num_games, twin.auto_reset) == (batch.game, batch.num_games, batch.auto_reset)
    before = contents(batch)
    play(twin, 9)
    assert contents(batch) == before != contents(twin), "the copy's arrays follow the copy's games alone"
    play(batch, 9)
    assert contents(twin) == contents(batch), "copies draw equal random actions"
    for name in ARRAYS:
        with pytest.raises(ValueError, match="read-only"):
            getattr(twin, name)[:] = 0


@pytest.mark.parametrize("make_copy", COPIES, ids=["deepcopy", "pickle"])
def test_an_illegal_action_is_illegal_in_a_copy_that_has_moved(make_copy: Callable[[Batch], Batch]) -> None:
    twin = make_copy(Batch("vadus(size=3)", 1))
    twin.step([9])
    assert not twin.action_masks[0, 9]
    with pytest.raises(ValueError, match="illegal"):
        twin.step([9])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_threaded_batch_works_after_a_fork() -> None:
    batch = Batch("vadus(size=3)", 8, num_threads=2, seed=1)
    play(batch, 2)
    twin = copy.deepcopy(batch)
    process = os.fork()
    if process == 0:
        signal.alarm(600)
        try:
            play(batch, 3)
        except BaseException:
            os._exit(1)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == 0
    play(batch, 3)
    play(twin, 3)
    assert contents(batch) == contents(twin)


# -- Arguments ---------------------------------------------------------------------------------------------------------


def test_a_game_string_is_accepted_like_a_game() -> None:
    assert Batch("vadus(size=3)", 2).game == load_game("vadus(size=3)")


@pytest.mark.parametrize("game", [None, 3, b"vadus", ["vadus"]])
def test_an_invalid_game_is_rejected_by_name(game: Any) -> None:
    with pytest.raises(ValueError, match="game must be a Game or a game string, got"):
        Batch(game, 2)


@pytest.mark.parametrize("row", [-1, 4, 2**70])
def test_a_row_that_the_batch_does_not_have_has_no_state(row: int) -> None:
    with pytest.raises(IndexError, match=r"row must be .*from 0 to 3"):
        Batch("vadus(size=3)", 4).state(row)


def test_records_of_a_wrong_kind_or_number_are_refused() -> None:
    batch = Batch("vadus(size=3)", 4)
    for records in (None, [1, 2], np.zeros(4)):
        with pytest.raises(RecordError, match="dtype"):
            batch.load([0], records)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="records must be one or 3"):
        batch.load([0, 1, 2], batch.states[:2])
