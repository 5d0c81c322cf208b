"""Training with AlphaZero on the command line: what it shows, what it leaves, and that it stops and goes on."""

from __future__ import annotations

import io
import re
import signal
import subprocess
import sys
from itertools import chain
from pathlib import Path

import pytest
import yaml
from rich.console import Console

pytest.importorskip("torch")

from processes import Run, wait_until
from stoneworks.training.alphazero.algorithm import METRICS, lines_of
from stoneworks.training.runs.display import train
from stoneworks.training.runs.run_folder import read_metrics
from tiny_runs import saved


@pytest.fixture
def config_file(finished_run: Path) -> Path:
    return finished_run / "config.yaml"


def test_the_display_shows_speed_losses_time_and_matches(config_file: Path, tmp_path: Path) -> None:
    output = io.StringIO()
    console = Console(file=output, width=120, force_terminal=True)
    result = train(str(config_file), tmp_path / "new", console=console)
    assert result.finished
    shown = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", output.getvalue())
    assert "60/60 positions, " in shown
    for text in ("games/s", "simulations/s", "loss: policy", "value", "time: network", "search", "learning"):
        assert text in shown
    assert re.search(r"after \d+ positions: vadus\(size=2\): policy scores .* against greedy \(95 % interval", shown)
    assert (tmp_path / "new" / "report.md").is_file()


def test_the_lines_below_the_bar_show_the_shares_of_the_time() -> None:
    shares = {"network_share": 0.5, "search_share": 0.2, "learning_share": 0.2}
    metrics = dict.fromkeys(chain(*METRICS.values()), 0.0) | shares
    assert lines_of(metrics)[-1] == "time: network 50 %, search 20 %, learning 20 %, other 10 %"
    assert any("loss" in line for line in lines_of(metrics))
    del metrics["policy"]
    assert not any("loss" in line for line in lines_of(metrics)), "no step has been taken yet"


def test_every_figure_of_a_run_is_in_a_group_or_written_by_all_algorithms(finished_run: Path) -> None:
    rows = read_metrics(finished_run / "metrics.jsonl", "positions")
    assert [row["positions"] for row in rows] == sorted({row["positions"] for row in rows})
    of_all = {"positions", "total_positions", "seconds", "positions_per_second"}
    assert set(rows[-1]) == of_all | set(chain(*METRICS.values()))


# -- The command line ----------------------------------------------------------------------------------------------------


def test_train_trains_overrides_and_goes_on(config_file: Path, tmp_path: Path, run_command: Run) -> None:
    folder = tmp_path / "new"
    arguments = ("train", str(config_file), "--folder", str(folder), "--set", "matches.opponents=[]")
    code, out, _ = run_command(*arguments, "--positions", "20", "--set", "seed=3")
    assert code == 0
    assert re.search(r"\d+ positions in \d+ seconds; the checkpoint is .*checkpoint", out)
    assert yaml.safe_load((folder / "config.yaml").read_text())["positions"] == 20
    code, _, err = run_command(*arguments, "--set", "seed=3")
    assert code == 2, "there is a checkpoint already"
    assert "already exists" in err
    assert run_command(*arguments, "--set", "seed=3", "--resume")[0] == 0
    assert saved(folder)["positions"] >= 60


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["vadus-5", "--frames", "100"], "unknown key frames"),
        (["vadus-5-ppo", "--positions", "9"], "unknown key positions"),
        (["vadus-5", "--set", "search.simulation=8"], "unknown key search.simulation; valid keys: policy, simulations"),
        (["vadus-5", "--set", "matches.opponents=[nobody]"], "unknown bot 'nobody'"),
    ],
)
def test_train_reports_errors(tmp_path: Path, arguments: list[str], complaint: str, run_command: Run) -> None:
    code, _, err = run_command("train", "--folder", str(tmp_path / "new"), *arguments)
    assert code == 2
    assert complaint in err


#: Runs the command line where the libraries of PPO and of the environments are not installed.
_WITHOUT_PPO = """
import sys
class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("stable_baselines3", "sb3_contrib", "pettingzoo", "gymnasium"):
            raise ModuleNotFoundError(f"{name} is blocked", name=name)
sys.meta_path.insert(0, Blocked())
from stoneworks.cli.main import main
main()
"""


@pytest.mark.slow
def test_ctrl_c_saves_and_no_library_of_ppo_is_needed(config_file: Path, tmp_path: Path) -> None:
    folder = tmp_path / "new"
    settings = ["--positions", "1000000000", "--set", "matches.positions=1000000000"]
    process = subprocess.Popen(
        [sys.executable, "-c", _WITHOUT_PPO, "train", str(config_file), "--folder", str(folder), *settings],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    wait_until(lambda: (folder / "metrics.jsonl").exists() or process.poll() is not None)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 130, err
    assert "the checkpoint is" in out
    assert "Traceback" not in err
    assert saved(folder)["positions"] >= 30, "what was learned before Ctrl-C is saved"
    assert (folder / "report.md").is_file()
