"""Lists of legal actions."""

from __future__ import annotations

import numpy as np
import pytest

from stoneworks.envs.rules.kernels.bits import list_legal


@pytest.mark.parametrize("num_actions", [1, 7, 8, 9, 64, 290, 1621])
@pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 1.0])
def test_the_list_is_the_legal_actions_in_ascending_order(num_actions: int, share: float) -> None:
    rng = np.random.default_rng(num_actions)
    for _ in range(20):
        mask = (rng.random(num_actions) < share).astype(np.int8)
        actions = np.empty(num_actions, np.int64)
        number = list_legal(mask, actions)
        assert actions[:number].tolist() == np.flatnonzero(mask).tolist()
