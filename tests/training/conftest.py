"""One thread for torch: the networks of the tests are small, and the machine may have other work to do."""

from __future__ import annotations

import importlib.util
import shutil
from pathlib import Path

import pytest

if importlib.util.find_spec("torch"):
    import torch

    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def finished_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from stoneworks.training.runs.config_files import parse_config
    from stoneworks.training.runs.run import train_run

    folder = tmp_path_factory.mktemp("alphazero") / "run"
    config = parse_config(
        {
            "algorithm": "alphazero",
            "game": "vadus(size=2)",
            "positions": 60,
            "processes": 0,
            "positions_per_iteration": 30,
            "network": {"channels": 4, "blocks": 1, "features": True},
            "search": {"simulations": 4, "fast_simulations": 2},
            "self_play": {"num_games": 8},
            "learner": {"batch_size": 16, "min_window": 30},
            "matches": {
                "positions": 30,
                "num_pairs": 2,
                "opening_actions": 1,
                "opponents": ["random", "greedy"],
                "search_opponents": ["random"],
                "simulations": 4,
            },
        },
        "test",
    )
    train_run(config, folder)  # type: ignore[arg-type]
    return folder


@pytest.fixture
def alphazero_run(finished_run: Path, tmp_path: Path) -> Path:
    """The folder of a tiny run of AlphaZero that is over; each test has a copy of its own."""
    return Path(shutil.copytree(finished_run, tmp_path / "run"))


@pytest.fixture(scope="session")
def _finished_ppo_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from stoneworks.training.runs.config_files import parse_config
    from stoneworks.training.runs.run import train_run

    folder = tmp_path_factory.mktemp("ppo") / "run"
    config = parse_config(
        {
            "algorithm": "ppo",
            "game": "vadus(size=2)",
            "frames": 256,
            "num_games": 8,
            "steps_per_update": 8,
            "minibatch_size": 32,
            "network": {"channels": 4, "blocks": 1},
            "matches": {"frames": 128, "num_pairs": 2, "opening_actions": 1, "opponents": ["random", "greedy"]},
        },
        "test",
    )
    train_run(config, folder)  # type: ignore[arg-type]
    return folder


@pytest.fixture
def ppo_run(_finished_ppo_run: Path, tmp_path: Path) -> Path:
    """The folder of a tiny run of PPO that is over; each test has a copy of its own."""
    return Path(shutil.copytree(_finished_ppo_run, tmp_path / "ppo-run"))
