"""Prioritized fictitious self-play: the opponents that beat the learner get more of its games.

The share of an opponent is (1 - score against it) ** 2, as in AlphaStar (Vinyals et al., Nature 575, 2019). Copies of the policy
join the opponents as it learns.

python examples/prioritized_opponents.py --frames 400000
"""

from __future__ import annotations

import argparse
import copy

from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback

from stoneworks.envs import ObservationFormat, VectorEnv
from stoneworks.integrations.sb3 import SB3VecEnv


class PrioritizedOpponents(BaseCallback):
    """Keeps a moving average of the score against each opponent and sets the shares after each rollout."""

    def __init__(self, games: VectorEnv, rollouts_per_copy: int = 10) -> None:
        super().__init__()
        self.games, self.rollouts_per_copy, self.num_rollouts = games, rollouts_per_copy, 0
        self.scores = {"random": 0.5, "greedy": 0.5}
        self.copies: dict[str, object] = {}

    def _on_step(self) -> bool:
        for game in (info for info in self.locals["infos"] if "episode" in info):
            score = (1 + game["episode"]["r"]) / 2
            self.scores[game["opponent"]] += 0.02 * (score - self.scores[game["opponent"]])
        return True

    def _on_rollout_end(self) -> None:
        self.num_rollouts += 1
        if self.num_rollouts % self.rollouts_per_copy == 0:
            policy = copy.deepcopy(self.model.policy)
            name = f"copy {self.num_rollouts}"
            self.copies[name] = self.games.policy_player(
                lambda observations, masks: policy.predict(observations, action_masks=masks)[0]
            )
            self.scores[name] = 0.5
        self.games.set_opponents({name: (1 - score) ** 2 + 0.01 for name, score in self.scores.items()}, self.copies)


def main(arguments: list[str] | None = None) -> None:
    """Train a policy and print its score against each opponent."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--game", default="vadus(size=3)")
    parser.add_argument("--frames", type=int, default=400_000)
    options = parser.parse_args(arguments)
    games = VectorEnv(
        64, options.game, opponent={"random": 1, "greedy": 1}, observation=ObservationFormat(layout="flat")
    )
    opponents = PrioritizedOpponents(games)
    model = MaskablePPO("MlpPolicy", SB3VecEnv(games), n_steps=64, batch_size=512, gamma=1.0, seed=1)
    model.learn(options.frames, callback=opponents)
    for name, score in opponents.scores.items():
        print(f"{name}: {100 * score:.0f} %")


if __name__ == "__main__":
    main()
