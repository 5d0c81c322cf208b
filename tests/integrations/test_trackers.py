"""Weights & Biases, MLflow and Optuna get the metrics and scores of a run."""

from __future__ import annotations

import runpy
import shutil
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")
pytest.importorskip("tensorboard")
pytest.importorskip("sb3_contrib")

import stoneworks
from example_modules import EXAMPLES, example
from tiny_runs import ppo

SCORES = {"matches/policy_random", "matches/policy_greedy"}


@pytest.fixture
def metrics(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Make ``stoneworks.train`` a tiny run in a temporary folder, and return the names of its metrics, added as it goes."""
    monkeypatch.chdir(tmp_path)
    names: list[str] = []
    train = stoneworks.train

    def train_a_little(config: str, folder: str, *, on_metrics: Any, **settings: Any) -> Any:
        def note(metrics: dict[str, float], step: int) -> None:
            assert 0 < step <= 384
            names.extend(metrics)
            on_metrics(metrics, step)

        opponents = settings.get("matches.opponents", ["random", "greedy"])
        tiny = ppo(
            learning_rate=settings["learning_rate"], matches={"frames": 128, "num_pairs": 1, "opponents": opponents}
        )
        return train(tiny, folder, on_metrics=note)

    monkeypatch.setattr(stoneworks, "train", train_a_little)
    return names


def test_weights_and_biases_has_all_metrics(metrics: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    wandb = pytest.importorskip("wandb")
    monkeypatch.setenv("WANDB_MODE", "offline")
    logged: dict[str, int] = {}
    log = wandb.Run.log
    monkeypatch.setattr(
        wandb.Run, "log", lambda run, data, step: (logged.update(dict.fromkeys(data, step)), log(run, data, step))
    )
    runpy.run_path(str(EXAMPLES / "wandb_metrics.py"), run_name="__main__")
    assert logged.keys() == set(metrics) > SCORES
    assert set(logged.values()) == {384}


def test_mlflow_has_all_metrics_at_their_steps(metrics: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    mlflow = pytest.importorskip("mlflow")
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    mlflow.set_tracking_uri(Path("mlruns").absolute().as_uri())
    module = runpy.run_path(str(EXAMPLES / "mlflow_metrics.py"), run_name="__main__")
    run = mlflow.last_active_run()
    assert run.data.metrics.keys() == set(metrics) > SCORES
    history = mlflow.MlflowClient().get_metric_history(run.info.run_id, "matches/policy_greedy")
    assert [point.step for point in history] == [128, 256, 384]
    with mlflow.start_run():
        module["log"]({"matches/policy@64_mcts:100,parallel=root": 0.5}, 1)


def test_optuna_sees_scores_and_ends_runs(metrics: list[str]) -> None:
    optuna = pytest.importorskip("optuna")
    sweep = example("optuna_sweep")
    study = optuna.create_study(direction="maximize")
    study.optimize(sweep.objective, n_trials=1)
    (trial,) = study.trials
    assert list(trial.intermediate_values) == [128, 256, 384]
    assert trial.value == trial.intermediate_values[384]
    shutil.rmtree("runs")
    never = optuna.create_study(pruner=optuna.pruners.ThresholdPruner(lower=2))
    never.optimize(sweep.objective, n_trials=1)
    assert [one.state.name for one in never.trials] == ["PRUNED"]
