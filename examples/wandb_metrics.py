"""A run whose metrics and match scores go to Weights & Biases."""

import wandb

import stoneworks

if __name__ == "__main__":
    settings = {"frames": 16_384, "learning_rate": 3e-3}
    with wandb.init(project="stoneworks", config=settings) as run:
        result = stoneworks.train("vadus-5-ppo", "runs/wandb", on_metrics=run.log, **settings)
        run.summary["score against random"] = result.scores["policy", "random"]
