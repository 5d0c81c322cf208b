"""An additional training target: the owner of each cell at the end of the game (KataGo, Wu 2019, section 4, "ownership")."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from stoneworks.envs.rules import Game, State

#: Observation planes with the stones of both players; games without them do not have this target.
PLANES = ("own_stones", "opponent_stones")
#: Name of the auxiliary head and of the field of stored positions.
FINAL_BOARD = "final_board"
#: Marks cells of a batch whose final owner is not a training target.
UNKNOWN_OWNER = 2


def has_final_board(game: Game) -> bool:
    """Return whether the positions of a game have this target."""
    return set(PLANES) <= set(game.observation_planes)


def final_board(game: Game, record: np.void, player: int) -> npt.NDArray[np.int8]:
    """Return the owners of the cells in a position, ``int8[num_cells]``: 1 for ``player``, -1 for the opponent, 0 if empty."""
    planes = State.from_record(game, record, trusted=True).observation_tensor(player)
    own, opponent = (planes[game.observation_planes.index(name)].ravel() for name in PLANES)
    return (own - opponent).astype(np.int8)
