"""Inference of the shipped networks on one thread: our compiled function, ONNX Runtime, OpenVINO and PyTorch, in turn.

```
pip install onnx onnxruntime openvino
python -m benchmarks.inference [AGENT ...]
```

Each number is the least CPU time of a call, in µs per position, over all rounds; in each round, each library has its turn. The
last rows are the times to take over new weights, in ms.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ["OMP_NUM_THREADS"] = "1"

import numpy as np
import numpy.typing as npt
import onnxruntime
import openvino
import torch

from stoneworks.envs.rules import Batch
from stoneworks.models import load_checkpoint, shipped
from stoneworks.models.checkpoint import Checkpoint
from stoneworks.models.inference.network_inference import TorchInference
from stoneworks.models.inference.onnx_export import export_checkpoint
from stoneworks.models.inference.onnx_policy import OnnxPolicy
from stoneworks.models.inference.winograd import WinogradInference
from stoneworks.models.machine import keep_freed_memory, processor_name
from stoneworks.models.network_inputs import NetworkInputs

BATCHES = (1, 16, 128)
ROUNDS = 5
#: Positions of a call are repeated to about this number of positions per timing.
_POSITIONS = 128

Infer = Callable[[npt.NDArray[np.float32]], Any]


def make_all(checkpoint: Checkpoint, path: Path) -> dict[str, Callable[[], Infer]]:
    """Return functions that take over the weights of a checkpoint, by library."""
    network = checkpoint.network
    weights = network.playing_state_dict()
    export_checkpoint(checkpoint, path)
    core = openvino.Core()
    settings = {"INFERENCE_NUM_THREADS": 1, "NUM_STREAMS": 1, "PERFORMANCE_HINT": "LATENCY"}
    cpu, single = torch.device("cpu"), torch.float32

    def of_openvino() -> Infer:
        request = core.compile_model(
            path, "CPU", {**settings, "INFERENCE_PRECISION_HINT": "f32"}
        ).create_infer_request()
        return lambda planes: request.infer([planes])

    return {
        "stoneworks": lambda: WinogradInference(network.architecture, weights),
        "ONNX Runtime": lambda: OnnxPolicy.load(path, checkpoint.game).infer,
        "OpenVINO": of_openvino,
        "PyTorch": lambda: TorchInference(network, device=cpu, dtype=single),
    }


def cpu_seconds(function: Callable[[], object], repetitions: int = 1) -> float:
    """Return the CPU time of one call."""
    start = time.process_time()
    for _ in range(repetitions):
        function()
    return (time.process_time() - start) / repetitions


def positions(checkpoint: Checkpoint, number: int) -> npt.NDArray[np.float32]:
    """Return the input planes of ``number`` positions after 20 random actions."""
    batch = Batch(checkpoint.game, number, seed=1)
    for _ in range(20):
        batch.step(batch.random_actions())
    return NetworkInputs(checkpoint.game, checkpoint.network.features).of_records(batch.states.copy())[0]


def main() -> None:
    """Measure and print."""
    keep_freed_memory()
    torch.set_num_threads(1)
    print(
        processor_name(),
        f"onnxruntime {onnxruntime.__version__}, openvino {openvino.__version__}, torch {torch.__version__}",
    )
    with tempfile.TemporaryDirectory() as folder:
        for name in sys.argv[1:] or shipped.names():
            checkpoint = load_checkpoint(shipped.shipped_folder() / name)
            makers = make_all(checkpoint, Path(folder, f"{name}.onnx"))
            libraries = {library: make() for library, make in makers.items()}
            planes = {number: positions(checkpoint, number) for number in BATCHES}
            best = dict.fromkeys(((number, library) for number in BATCHES for library in libraries), np.inf)
            for _ in range(ROUNDS):
                for number, library in best:
                    repetitions = max(1, _POSITIONS // number)
                    seconds = cpu_seconds(lambda: libraries[library](planes[number]), repetitions)  # noqa: B023
                    best[number, library] = min(best[number, library], seconds)
            print(checkpoint.game, checkpoint.network.architecture.config)
            for number in BATCHES:
                row = (f"{library} {best[number, library] / number * 1e6:.1f}" for library in libraries)
                print(f"  batch {number}, µs per position:", ", ".join(row))
            updates = {library: min(cpu_seconds(make) for _ in range(3)) for library, make in makers.items()}
            print("  new weights, ms:", ", ".join(f"{library} {1e3 * of:.1f}" for library, of in updates.items()))


if __name__ == "__main__":
    main()
