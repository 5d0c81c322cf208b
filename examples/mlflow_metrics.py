"""A run whose metrics and match scores go to MLflow."""

import re

import mlflow

import stoneworks


def log(metrics, step):
    """Log metrics, without the characters that MLflow does not allow in names: matches/policy@64_mcts:1000 has an @."""
    mlflow.log_metrics({re.sub(r"[^\w/.: -]", "_", name): value for name, value in metrics.items()}, step)


if __name__ == "__main__":
    settings = {"frames": 16_384, "learning_rate": 3e-3}
    with mlflow.start_run():
        mlflow.log_params(settings)
        stoneworks.train("vadus-5-ppo", "runs/mlflow", on_metrics=log, **settings)
