"""What speed depends on."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from stoneworks.extras import require_extra

with require_extra("train", "training runs"):
    import torch


from stoneworks.models.processors import processor_name


@contextmanager
def torch_threads(number: int) -> Iterator[None]:
    """Let torch compute with so many threads, 0 for as many as it does already."""
    before = torch.get_num_threads()
    torch.set_num_threads(number or before)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def describe_hardware() -> dict[str, Any]:
    """Return what speed depends on: processor, cores, how many threads torch uses, and the GPU where there is one."""
    found = {"processor": processor_name(), "cores": os.cpu_count(), "torch_threads": torch.get_num_threads()}
    return found | ({"gpu": torch.cuda.get_device_name()} if torch.cuda.is_available() else {})
