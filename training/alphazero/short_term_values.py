"""Additional training targets: values of the search in the next actions (KataGo, "KataGoMethods", "Short-term value targets").

The result of a long game says little of an early position, whose value a few actions later can be foreseen.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from stoneworks.extras import require_extra

with require_extra("train", "training runs"):
    import torch
    from torch import Tensor, nn
    from torch.nn import functional

#: Name of the auxiliary head and of the field of stored positions.
SHORT_TERM_VALUES = "short_term_values"
#: Horizon of each average: its decay per action is 1 - 1 / horizon.
HORIZONS = (6, 16, 50)


def short_term_values(positions: npt.NDArray[np.void]) -> npt.NDArray[np.float32]:
    """Return averages of the search values of a game's later positions, exponential in the number of actions between.

    With the decay ``1 - 1 / horizon`` per action, the value ``v`` of a position, and ``d`` actions until the next one, its average
    is ``(1 - decay**d) * v + decay**d * (average of the next one)``; after the last position comes the result.

    Args:
        positions: all ``n`` stored positions of one game, in order, complete except for this target.

    Returns:
        ``float32[n, 3]``, one column per horizon, for the player to move, in [-1, 1].
    """
    decays = 1 - 1 / np.array(HORIZONS)
    sign = np.where(positions["state"]["current_player"] == 0, 1.0, -1.0)
    actions_left = positions["actions_left"].astype(np.int64)
    averages = np.zeros((len(positions), len(HORIZONS)))
    if not len(positions):
        return averages.astype(np.float32)
    later, left = np.full(len(HORIZONS), sign[-1] * positions["result"][-1]), 0
    for row in range(len(positions) - 1, -1, -1):
        kept = decays ** (actions_left[row] - left)
        later = (1 - kept) * sign[row] * positions["value"][row] + kept * later
        averages[row], left = later, actions_left[row]
    return (averages * sign[:, None]).astype(np.float32)


class ShortTermValuesHead(nn.Module):
    """Auxiliary head that predicts the short-term values."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.values = nn.Linear(2 * channels, len(HORIZONS))
        nn.init.zeros_(self.values.weight)
        nn.init.zeros_(self.values.bias)

    def forward(self, features: Tensor, on_board: Tensor, pooled: Tensor) -> Tensor:
        """Return logits ``float32[batch, 3]`` of the chance to win, one per horizon."""
        return self.values(pooled)


def short_term_loss(logits: Tensor, values: Tensor) -> Tensor:
    """Return the mean cross entropy of the chances to win ``(1 + value) / 2``, in nats.

    Args:
        logits: ``float32[n, 3]``, the output of :class:`ShortTermValuesHead`.
        values: ``float32[n, 3]``, the targets, in [-1, 1].
    """
    return functional.binary_cross_entropy_with_logits(logits, torch.clamp((1 + values) / 2, 0, 1))
