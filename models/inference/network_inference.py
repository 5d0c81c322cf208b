"""Inference with networks in batches, on the fastest device and dtype by default: ``make_inference``."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Protocol

import numpy as np
import numpy.typing as npt

from stoneworks.extras import require_extra
from stoneworks.models.inference.winograd import WinogradInference
from stoneworks.models.machine import keep_freed_memory
from stoneworks.models.network import BoardNetwork, ScalarValueNetwork, WinDrawLossNetwork

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


class Inference(Protocol):
    """Maps input planes to logits and values with a copy of a network."""

    def load_weights(self, weights: Mapping[str, Tensor]) -> None:
        """Load the weights of a network with the same architecture."""

    def __call__(self, planes: npt.NDArray[np.float32]) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
        """Return logits ``[n, num_actions]`` and expected results ``[n]`` for ``planes[n, input planes, height, width]``."""


def make_inference(
    network: BoardNetwork, *, device: torch.device | None = None, dtype: torch.dtype | None = None
) -> Inference:
    """Return the fastest inference with a network on a device; None for the fastest device.

    On CPUs, the residual networks of this package run in float32 by
    :class:`stoneworks.models.inference.winograd.WinogradInference` unless ``dtype`` is another one. All others run in PyTorch.
    """
    device = fastest_device() if device is None else device
    compiled = type(network) in (WinDrawLossNetwork, ScalarValueNetwork)
    if compiled and device.type == "cpu" and dtype in (None, torch.float32):
        keep_freed_memory()
        return WinogradInference(network.architecture, network.playing_state_dict())
    return TorchInference(network, device=device, dtype=dtype)


class TorchInference:
    """Inference in PyTorch (see :class:`Inference`)."""

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
        logits, values = self.infer(torch.from_numpy(planes))
        return logits.cpu().numpy(), values.cpu().numpy()

    @torch.inference_mode()
    def infer(self, planes: Tensor) -> tuple[Tensor, Tensor]:
        """Return what a call returns as ``float32`` tensors on the device, without waiting for it."""
        logits, values = self._network(planes.to(self.device, self.dtype))
        return logits.float(), values.float()
