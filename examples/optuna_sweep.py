"""A sweep over the learning rate with Optuna, which ends runs that fall behind."""

import optuna

import stoneworks


def objective(trial):
    """Return the score of a run in its last match against random play."""

    def report(metrics, step):
        if "matches/policy_random" in metrics:
            trial.report(metrics["matches/policy_random"], step)
            if trial.should_prune():
                raise optuna.TrialPruned

    settings = {"learning_rate": trial.suggest_float("learning_rate", 1e-4, 1e-2, log=True), "frames": 49_152}
    settings |= {"matches.frames": 16_384, "matches.opponents": ["random"]}
    result = stoneworks.train("vadus-5-ppo", f"runs/sweep-{trial.number}", on_metrics=report, **settings)
    return result.scores["policy", "random"]


if __name__ == "__main__":
    study = optuna.create_study(direction="maximize")
    study.optimize(objective, n_trials=8)
    print(study.best_params, study.best_value)
