"""The auxiliary head that predicts the owner of each cell at the end of the game, and its loss."""

from __future__ import annotations

from stoneworks.extras import require_extra
from stoneworks.training.alphazero.final_board import UNKNOWN_OWNER

with require_extra("train", "training runs"):
    from torch import Tensor, nn
    from torch.nn import functional


class FinalBoardHead(nn.Module):
    """Auxiliary head that predicts the owners of the cells."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.cells = nn.Conv2d(channels, 3, 1)
        nn.init.zeros_(self.cells.weight)
        nn.init.zeros_(self.cells.bias)  # type: ignore[arg-type]

    def forward(self, features: Tensor, on_board: Tensor, pooled: Tensor) -> Tensor:
        """Return logits ``float32[batch, 3, num_cells]`` of the classes own, empty and opponent."""
        return self.cells(features).flatten(2)


def final_board_loss(logits: Tensor, owners: Tensor, on_board: Tensor) -> Tensor:
    """Return the mean cross entropy per cell of the board, in nats.

    Args:
        logits: ``float32[n, 3, num_cells]``, the output of :class:`FinalBoardHead`.
        owners: ``int64[n, num_cells]``: 1 for the player to move, -1 for the opponent, 0 for none; cells with
            ``UNKNOWN_OWNER`` are excluded from the mean.
        on_board: ``float32[n, num_cells]``: 1 for cells of the board, 0 for those around it.
    """
    per_cell = functional.cross_entropy(logits, 1 - owners, ignore_index=1 - UNKNOWN_OWNER, reduction="none")
    known = on_board * (owners != UNKNOWN_OWNER)
    return (per_cell * known).sum() / known.sum().clamp(min=1)
