"""Batched network evaluation for searches, on the fastest device and dtype by default: ``make_evaluator``."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Protocol

import numpy as np
import numpy.typing as npt

from stoneworks.extras import require_extra
from stoneworks.models.machine import keep_freed_memory
from stoneworks.models.network import BoardNetwork, ScalarValueNetwork, WinDrawLossNetwork
from stoneworks.models.winograd import WinogradEvaluator

with require_extra("train", "networks"):
    import torch
    from torch import Tensor

DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16}


def fastest_device() -> torch.device:
    """Return the first available GPU, or the CPU."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def fastest_dtype(device: torch.device) -> torch.dtype:
    """Return bfloat16 if the device supports it in hardware, else float32.

    Measured on one busy core with AVX512_BF16: the network of ``vadus-5`` in batches of 128 evaluates 1.5 times as many positions
    per second in bfloat16 as in float32; a network of 6 blocks of 64 channels on Vadus 9 1.8 times as many.
    """
    if device.type == "cuda":
        return torch.bfloat16 if torch.cuda.is_bf16_supported() else torch.float32
    multiplies_bfloat16 = getattr(torch.cpu, "_is_avx512_bf16_supported", lambda: False)
    return torch.bfloat16 if multiplies_bfloat16() else torch.float32


class Evaluator(Protocol):
    """Evaluates observations with a copy of a network (see :data:`stoneworks.models.search.network_search.Evaluate`)."""

    def load_weights(self, weights: Mapping[str, Tensor]) -> None:
        """Load the weights of a network with the same architecture."""

    def __call__(self, planes: npt.NDArray[np.float32]) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
        """Return logits ``[n, num_actions]`` and expected results ``[n]`` for ``planes[n, input planes, height, width]``."""


def make_evaluator(
    network: BoardNetwork, *, device: torch.device | None = None, dtype: torch.dtype | None = None
) -> Evaluator:
    """Return the fastest evaluator of a network on a device; without one, of the fastest device.

    On CPUs, the residual networks of this package are evaluated in float32 by
    :class:`stoneworks.models.winograd.WinogradEvaluator` unless ``dtype`` is another one. All others are evaluated by PyTorch.
    """
    device = fastest_device() if device is None else device
    compiled = type(network) in (WinDrawLossNetwork, ScalarValueNetwork)
    if compiled and device.type == "cpu" and dtype in (None, torch.float32):
        keep_freed_memory()
        return WinogradEvaluator(network.architecture, network.playing_state_dict())
    return NetworkEvaluator(network, device=device, dtype=dtype)


class NetworkEvaluator:
    """Evaluates observations by PyTorch (see :class:`Evaluator`)."""

    def __init__(
        self, network: BoardNetwork, *, device: torch.device | None = None, dtype: torch.dtype | None = None
    ) -> None:
        """Copy the network to ``device`` and ``dtype``, which default to the fastest ones."""
        keep_freed_memory()
        self.device = fastest_device() if device is None else device
        self.dtype = fastest_dtype(self.device) if dtype is None else dtype
        self._network = copy.deepcopy(network).eval().to(self.device, self.dtype)
        self._network.to(memory_format=torch.channels_last)  # type: ignore[call-overload]

    def load_weights(self, weights: Mapping[str, Tensor]) -> None:
        """Load the weights of a network with the same architecture."""
        self._network.load_playing_state_dict(weights)

    def __call__(self, planes: npt.NDArray[np.float32]) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
        """Return logits ``[n, num_actions]`` and expected results ``[n]`` for ``planes[n, input planes, height, width]``."""
        with torch.inference_mode():
            logits, values = self._network(torch.from_numpy(planes).to(self.device, self.dtype))
            return logits.float().cpu().numpy(), values.float().cpu().numpy()
