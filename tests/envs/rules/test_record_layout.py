"""Records have no padding: numpy leaves it out of copies, so that equal positions would have unequal bytes."""

from __future__ import annotations

import numpy as np
import pytest

from stoneworks.envs.rules import game_names, load_game


@pytest.mark.parametrize("name", game_names())
def test_the_fields_of_a_record_fill_it(name: str) -> None:
    dtype = load_game(name).state_dtype
    assert dtype.fields is not None
    assert sum(field[0].itemsize for field in dtype.fields.values()) == dtype.itemsize


@pytest.mark.parametrize("name", game_names())
def test_a_copy_equals_its_original_whatever_the_memory_held_before(name: str) -> None:
    state = load_game(name).new_initial_state()
    for _ in range(100):
        rubbish = [np.full(state.record.nbytes, 0xA5, np.uint8) for _ in range(4)]
        del rubbish
        assert state.clone() == state
        assert state.record.tobytes() == state.clone().record.tobytes()
