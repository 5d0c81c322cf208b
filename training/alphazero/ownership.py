"""An additional training target: the owner of each cell at the end of the game (KataGo, Wu 2019, section 4, "ownership")."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from stoneworks.envs.rules import Game, State
from stoneworks.extras import require_extra
from stoneworks.training.alphazero.config import OWNERSHIP_PLANES

with require_extra("train", "training runs"):
    from torch import Tensor, nn
    from torch.nn import functional

#: Name of the auxiliary head and of the field of stored positions.
OWNERSHIP = "ownership"


def ownership(game: Game, record: np.void, player: int) -> npt.NDArray[np.int8]:
    """Return the owners of the cells in a position, ``int8[num_cells]``: 1 for ``player``, -1 for the opponent, 0 if empty."""
    planes = State.from_record(game, record, trusted=True).observation_tensor(player)
    own, opponent = (planes[game.observation_planes.index(name)].ravel() for name in OWNERSHIP_PLANES)
    return (own - opponent).astype(np.int8)


class OwnershipHead(nn.Module):
    """Auxiliary head that predicts the owners of the cells."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.cells = nn.Conv2d(channels, 3, 1)
        nn.init.zeros_(self.cells.weight)
        nn.init.zeros_(self.cells.bias)  # type: ignore[arg-type]

    def forward(self, features: Tensor, on_board: Tensor, pooled: Tensor) -> Tensor:
        """Return logits ``float32[batch, 3, num_cells]`` of the classes own, empty and opponent."""
        return self.cells(features).flatten(2)


def ownership_loss(logits: Tensor, owners: Tensor, on_board: Tensor) -> Tensor:
    """Return the mean cross entropy per cell of the board, in nats.

    Args:
        logits: ``float32[n, 3, num_cells]``, the output of :class:`OwnershipHead`.
        owners: ``int64[n, num_cells]``: 1 for the player to move, -1 for the opponent, 0 for none.
        on_board: ``float32[n, num_cells]``: 1 for cells of the board, 0 for those around it.
    """
    per_cell = functional.cross_entropy(logits, 1 - owners, reduction="none")
    return (per_cell * on_board).sum() / on_board.sum()
