"""What NVIDIA's assembler says of the code for GPUs. Apart from ``test_gpu.py``, so that both are compiled at a time."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from other_targets import GPU_GAMES, can_compile
from stoneworks.envs.rules import load_game
from stoneworks.envs.rules.device import program_code
from stoneworks.models.network_inputs import NetworkInputs

pytestmark = [pytest.mark.needs("torch"), can_compile]


def find_assembler() -> str:
    """Return the path of ptxas, from CUDA or from the package nvidia-cuda-nvcc."""
    places = [Path(place) / "bin/ptxas" for folder in sys.path for place in Path(folder).glob("nvidia/*")]
    found = shutil.which("ptxas") or next((str(place) for place in places if place.is_file()), None)
    return found or pytest.skip("ptxas is not installed (nvidia-cuda-nvcc)")


@pytest.mark.parametrize("game", GPU_GAMES)
def test_the_assembler_takes_the_code_for_cards_of_2020_and_2022(game: str, tmp_path: Path) -> None:
    for features in (False, True):
        code = program_code(load_game(game), "cuda", NetworkInputs(game, features))
        text = code.decode()
        assert len(re.findall(r"\.visible \.entry", text)) == 6
        assert not re.search(r"\.extern|\bfma\b|\batom\b|NRT_(in|de)cref", text)  # fused operations round otherwise
        (tmp_path / "code.ptx").write_bytes(code)
        for card in ("sm_80", "sm_90"):
            command = [find_assembler(), "-O0", f"-arch={card}", tmp_path / "code.ptx", "-o", tmp_path / "code.cubin"]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr
