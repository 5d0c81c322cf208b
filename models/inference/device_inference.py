"""``DeviceEvaluator``: a device gets positions as records, fills the planes, and evaluates them with a network."""

from __future__ import annotations

import contextlib
import threading
import warnings
from collections.abc import Iterator, Mapping
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from stoneworks.envs.rules import templates
from stoneworks.envs.rules.device import DeviceArrays
from stoneworks.extras import require_extra
from stoneworks.models.inference.network_inference import TorchInference
from stoneworks.models.network import BoardNetwork
from stoneworks.models.network_inputs import NetworkInputs

with require_extra("train", "networks"):
    import torch
    from torch import Tensor


#: A graph, the planes that it reads, and the logits and values that it writes.
_Captured: TypeAlias = "tuple[torch.cuda.CUDAGraph, Tensor, tuple[Tensor, Tensor]]"


class DeviceInference(TorchInference):
    """A network on a device, which several evaluators use in turn.

    Attributes:
        name: the device: ``cuda``, ``cuda:1``, ..., or ``emulated`` (see ``Batch``).
    """

    def __init__(self, network: BoardNetwork, name: str, dtype: torch.dtype) -> None:
        """Copy the network to the device."""
        super().__init__(network, device=torch.device("cpu" if name == "emulated" else name), dtype=dtype)
        self.name = name
        self._lock = threading.Lock()
        self._graphs: dict[tuple[int, ...], _Captured] = {}
        self._captures, self._stream, self._pool = True, None, None
        if self.device.type == "cuda":
            self._pool = torch.cuda.graph_pool_handle()
            self._stream = torch.cuda.Stream(self.device)
            self._wait_for_others(self._stream)

    def _wait_for_others(self, stream: torch.cuda.Stream) -> None:
        stream.wait_stream(torch.cuda.default_stream(self.device))

    @contextlib.contextmanager
    def in_turn(self) -> Iterator[None]:
        """Start work on the device after that of other threads; on a GPU, leaving does not wait for it."""
        with self._lock, torch.cuda.stream(self._stream):
            yield

    @torch.inference_mode()
    def infer(self, planes: Tensor) -> tuple[Tensor, Tensor]:
        """See :meth:`TorchInference.infer`. On a GPU, a captured graph starts all kernels; the next call overwrites the result."""
        if self._stream is None or not self._captures:
            return super().infer(planes)
        number = len(planes)
        step = max(64, (1 << (number - 1).bit_length()) // 8)  # four sizes between powers of two
        shape = -(-number // step) * step, *planes.shape[1:]
        if shape not in self._graphs:
            try:
                self._graphs[shape] = self._captured(planes.new_zeros(shape, dtype=self.dtype))
            except RuntimeError as error:
                warnings.warn(
                    f"{self.name} goes on without graphs, of which none can be captured: {error}", stacklevel=1
                )
                self._captures = False
                return super().infer(planes)
        graph, given, (logits, values) = self._graphs[shape]
        given[:number] = planes
        graph.replay()
        return logits[:number], values[:number]

    def _captured(self, given: Tensor) -> _Captured:
        for _ in range(3):  # torch chooses its kernels
            super().infer(given)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, self._pool, self._stream, capture_error_mode="thread_local"):
            results = super().infer(given)
        return graph, given, results

    def load_weights(self, weights: Mapping[str, Tensor]) -> None:
        """Load the weights of a network with the same architecture, between two evaluations."""
        with self.in_turn():
            if self._stream is not None:
                self._wait_for_others(self._stream)
            super().load_weights(weights)
            if self._stream is not None:
                self._stream.synchronize()  # the caller may change its weights


class DeviceEvaluator:
    """Evaluates positions of a game (see :class:`stoneworks.models.search.device_search.RecordEvaluation`).

    The logits of all actions come back: the tree finds the legal ones itself.
    """

    def __init__(self, inference: DeviceInference, inputs: NetworkInputs, max_positions: int) -> None:
        """Load the game's program on the device; it is compiled if necessary.

        Raises:
            MissingDependencyError, DeviceError, TargetError: see ``Batch``.
        """
        game = inputs.game
        self._inference, self._inputs = inference, inputs
        with inference.in_turn():
            self._device = DeviceArrays(game, inference.name, inputs)
            self._board = self._device.put(game.board)
        self._observe = self._device.compiled(templates.observe_batch)

        def on_host(*shape: int, dtype: torch.dtype) -> Tensor:
            return torch.empty(shape, dtype=dtype, pin_memory=inference.device.type == "cuda")

        self._records = on_host(max_positions, game.state_dtype.itemsize, dtype=torch.uint8)
        self._logits = on_host(max_positions, game.num_actions, dtype=torch.float32)
        self._values = on_host(max_positions, dtype=torch.float32)
        self.records: npt.NDArray[np.uint8] = self._records.numpy()

    def planes_of(self, number: int) -> Tensor:
        """Return the planes of the first records of the buffer, ``float32[number, planes, height, width]`` on the device."""
        states = self._device.aligned(self._records[:number].to(self._inference.device, non_blocking=True))
        players = self._device.field(states, "current_player").to(torch.int64)
        num_planes, height, width = self._inputs.shape
        planes = self._device.zeros((number, num_planes, height * width), np.float32)
        self._observe(self._board, states, players, planes)
        return planes.reshape(number, *self._inputs.shape)

    @torch.inference_mode()
    def __call__(self, records: npt.NDArray[np.uint8]) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
        """Return the logits and values of the first records of the buffer; the next call overwrites them."""
        number = len(records)
        results = self._logits[:number], self._values[:number]
        done = torch.cuda.Event() if self._inference.device.type == "cuda" else None
        with self._inference.in_turn():
            for result, found in zip(results, self._inference.infer(self.planes_of(number)), strict=True):
                result.copy_(found, non_blocking=True)
            if done is not None:
                done.record()
        if done is not None:
            done.synchronize()  # other threads go on
        return results[0].numpy(), results[1].numpy()
