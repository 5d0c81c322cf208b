"""What tests of all folders share."""

from __future__ import annotations

import io
import os
import shutil
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from game_play import SAMPLES
from processes import Run
from stoneworks.envs.rules.game_registry import small_games
from stoneworks.registry import _REGISTRIES

# The networks of the tests are small, and threads that wait for one another slow down a machine with other work to do. Read by
# torch when it is imported, also in processes that tests start.
os.environ["OMP_NUM_THREADS"] = "1"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add an option for runs that check versions of libraries, which do not depend on the size of a board."""
    parser.addoption(
        "--smallest-boards", action="store_true", help="run the tests of each game on its smallest board only"
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the tests on larger boards and with other options, if so asked."""
    if not config.getoption("--smallest-boards"):
        return
    larger = set(SAMPLES).difference(small_games())
    config.hook.pytest_deselected(items=[item for item in items if not larger.isdisjoint(_texts(item))])
    items[:] = [item for item in items if larger.isdisjoint(_texts(item))]


def _texts(item: pytest.Item) -> Iterator[str]:
    """Yield the parameters of a test that are texts, such as game strings."""
    parameters = item.callspec.params if isinstance(item, pytest.Function) and hasattr(item, "callspec") else {}
    return (value for value in parameters.values() if isinstance(value, str))


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip tests marked with ``needs`` of a library that is not installed."""
    for marker in item.iter_markers("needs"):
        pytest.importorskip(*marker.args)


@pytest.hookimpl(optionalhook=True)  # of pytest-xdist, which some environments lack
def pytest_xdist_setupnodes() -> None:
    """Compile the kernels of small boards once, if those of the first are not cached, before workers would all do so."""
    from stoneworks.envs.rules import load_game
    from stoneworks.models.compiling import compile_games, compile_part

    games = [load_game(name) for name in small_games()]
    if compile_part(games[0], "states").seconds > 1:
        compile_games(games)


@pytest.fixture(scope="session")
def repository() -> Path:
    """The root of the repository."""
    return Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session", autouse=True)
def interruptible() -> None:
    """Take interrupts as a terminal sends them, also where the tests run as a background job, which ignores them."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def registrations_forgotten() -> Iterator[None]:
    """Take back what a test has registered."""
    before = {registry: dict(registry._added) for registry in _REGISTRIES.values()}
    yield
    for registry in _REGISTRIES.values():
        registry._added = before.get(registry, {})


@pytest.fixture
def run_command(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run the command line, or that of a tool, on text that is typed; return its exit code and what it wrote."""
    from stoneworks.cli import main as command_line

    def run(*arguments: str, typed: str = "", app: Any = None) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
        capsys.readouterr()
        with pytest.raises(SystemExit) as leaving:
            command_line.main(arguments) if app is None else command_line.run(app, arguments)
        assert isinstance(leaving.value.code, int)
        return leaving.value.code, *capsys.readouterr()

    return run


@pytest.fixture(scope="session")
def finished_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    import tiny_runs

    sizes = {"positions": 30, "num_pairs": 2, "opening_actions": 1, "simulations": 4}
    matches = {**sizes, "opponents": ["random", "greedy"], "search_opponents": ["random"]}
    parts = {"network": {"features": True}, "learner": {"min_window": 30}, "matches": matches}
    config = tiny_runs.alphazero(positions=60, positions_per_iteration=30, **parts)
    folder = tmp_path_factory.mktemp("alphazero") / "run"
    tiny_runs.train_run(config, folder)
    return folder


@pytest.fixture
def alphazero_run(finished_run: Path, tmp_path: Path) -> Path:
    """The folder of a tiny run of AlphaZero that is over; each test has a copy of its own."""
    return Path(shutil.copytree(finished_run, tmp_path / "run"))


@pytest.fixture(scope="session")
def _finished_ppo_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    import tiny_runs

    matches = {"frames": 128, "num_pairs": 2, "opening_actions": 1, "opponents": ["random", "greedy"]}
    folder = tmp_path_factory.mktemp("ppo") / "run"
    tiny_runs.train_run(tiny_runs.ppo(frames=256, matches=matches), folder)
    return folder


@pytest.fixture
def ppo_run(_finished_ppo_run: Path, tmp_path: Path) -> Path:
    """The folder of a tiny run of PPO that is over; each test has a copy of its own."""
    return Path(shutil.copytree(_finished_ppo_run, tmp_path / "ppo-run"))
