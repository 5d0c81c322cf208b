"""REINFORCE in self-play: the example of docs/benchmark.md for an algorithm of one's own."""

from typing import Any

import numpy as np
import torch

from benchmarks.learners import Learner
from stoneworks.envs import ObservationFormat, SelfPlayVectorEnv
from stoneworks.models.inference.onnx_export import save_policy

SETTINGS: dict[str, Any] = {"games": 64, "steps": 256, "width": 128, "learning_rate": 1e-3}


class Reinforce(Learner):
    """Raises the probabilities of the actions of winners and lowers those of losers."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.configuration = SETTINGS
        torch.manual_seed(self.seed)
        self.env = SelfPlayVectorEnv(SETTINGS["games"], self.game, observation=ObservationFormat(layout="flat"))
        self.observations, _ = self.env.reset(seed=self.seed)
        layers = [torch.nn.Linear(self.game.observation_size, SETTINGS["width"]), torch.nn.ReLU()]
        self.policy = torch.nn.Sequential(*layers, torch.nn.Linear(SETTINGS["width"], self.game.num_actions))
        self.optimizer = torch.optim.Adam(self.policy.parameters(), SETTINGS["learning_rate"])
        if (self.folder / "state.pt").exists():  # an interrupted run continues
            saved = torch.load(self.folder / "state.pt", weights_only=True)
            self.policy.load_state_dict(saved["policy"])
            self.optimizer.load_state_dict(saved["optimizer"])

    def iterate(self) -> None:
        """Play, and take one gradient step for the actions of finished games."""
        scores, players, ends, results = [], [], [], []
        for _ in range(SETTINGS["steps"]):
            legal = torch.as_tensor(self.env.action_masks(), dtype=torch.bool)
            logits = self.policy(torch.as_tensor(self.observations)).masked_fill(~legal, -torch.inf)
            actions = (chosen := torch.distributions.Categorical(logits=logits)).sample()
            scores.append(chosen.log_prob(actions))
            players.append(self.env.players)
            self.observations, _, terminated, truncated, info = self.env.step(actions.numpy())
            ends.append(terminated | truncated)
            results.append(info["rewards"])
        following, loss = np.zeros((len(ends[0]), 2)), torch.zeros(())
        for score, player, end, result in zip(scores[::-1], players[::-1], ends[::-1], results[::-1], strict=True):
            following = np.where(end[:, None], result, following)
            loss -= (score * torch.as_tensor(following[np.arange(len(end)), player])).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.steps += len(ends) * len(ends[0])

    def save(self) -> str:
        """Write the policy, and what is needed to continue."""
        torch.save(
            {"policy": self.policy.state_dict(), "optimizer": self.optimizer.state_dict()}, self.folder / "state.pt"
        )
        save_policy(self.folder / "policy.onnx", self.policy, self.game, selection="sample")
        return f"policy:{self.folder}/policy.onnx"
