"""One thread for torch: the networks of the tests are small, and the machine may have other work to do."""

from __future__ import annotations

import importlib.util

if importlib.util.find_spec("torch"):
    import torch

    torch.set_num_threads(1)
