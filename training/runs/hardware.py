"""The hardware and thread settings that determine speed."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from stoneworks.extras import require_extra

with require_extra("train", "training runs"):
    import torch


from stoneworks.models.inference.network_inference import fastest_device
from stoneworks.models.machine import processor_name
from stoneworks.models.network import torch_defaults
from stoneworks.training.runs.algorithms import ConfigError


def find_device(name: str, key: str = "device") -> torch.device:
    """Return the device that a configuration has under ``key`` (see ``Device``). Raises ``ConfigError`` if it is not available."""
    device = fastest_device() if name == "auto" else torch.device(name)
    try:
        torch.empty(1, device=device)
    except (RuntimeError, AssertionError) as error:  # torch raises either for a device that does not exist
        reason = str(error).partition("\n")[0]
        raise ConfigError(f"{key} must be available on this machine, got {name!r}: {reason}") from None
    return device


@contextmanager
def torch_threads(number: int) -> Iterator[None]:
    """Set the number of torch threads; 0 leaves it unchanged."""
    before = torch.get_num_threads()
    torch.set_num_threads(number or before)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@contextmanager
def own_settings(threads: int) -> Iterator[None]:
    """Give a run torch settings and random generators of its own; those of the program are restored afterwards.

    PPO seeds and uses torch's global generator; registered algorithms may use those of Python and NumPy.

    Args:
        threads: number of torch threads; 0 leaves it unchanged.
    """
    of_python, of_numpy = random.getstate(), np.random.get_state()  # noqa: NPY002
    devices = range(torch.cuda.device_count()) if torch.cuda.is_initialized() else ()
    try:
        with torch_threads(threads), torch_defaults(), torch.random.fork_rng(devices):
            yield
    finally:
        random.setstate(of_python)
        np.random.set_state(of_numpy)  # noqa: NPY002


def describe_hardware() -> dict[str, Any]:
    """Return the processor, the number of cores, the number of torch threads, and the GPU if there is one."""
    found = {"processor": processor_name(), "cores": os.cpu_count(), "torch_threads": torch.get_num_threads()}
    return found | ({"gpu": torch.cuda.get_device_name()} if torch.cuda.is_available() else {})
