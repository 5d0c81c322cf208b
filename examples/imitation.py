"""An example of a third-party training algorithm: a network imitates another bot.

``import imitation`` registers it; ``stoneworks.train`` then trains configurations with ``algorithm: imitation``.
docs/adding-a-game.md explains what an algorithm consists of.
"""

from typing import ClassVar

import numpy as np
import torch
from pydantic import Field
from torch.nn import functional

from stoneworks import load_bot
from stoneworks.training import Algorithm, RunConfig, register_algorithm

WIN, DRAW, LOSS = 0, 1, 2
STEPS_PER_GAME, BATCH_SIZE = 8, 64


class ImitationConfig(RunConfig):
    """Configuration of a run that trains on ``games`` self-play games of the bot ``teacher``, in mini-batches."""

    unit: ClassVar[str] = "games"

    algorithm: str = "imitation"
    games: int = Field(ge=1)
    teacher: str = "mcts:100"
    learning_rate: float = Field(5e-3, gt=0)

    def bot_names(self):
        """Return the names of the bots that the run requires."""
        return (self.teacher,)


class Imitation(Algorithm):
    """Plays a game of the teacher in each iteration, and trains the network to predict its actions and results."""

    def __init__(self, config, network, folder):
        super().__init__(config, network, folder)
        self.optimizer = torch.optim.Adam(network.parameters(), config.learning_rate)
        self.seed(config.seed)
        self.played = play(self.game, self.teacher)

    def seed(self, seed):
        """Begin new sequences of random numbers."""
        self.teacher = load_bot(self.config.teacher, self.game, seed)
        self.generator = torch.Generator().manual_seed(seed)

    def iterate(self, stop):
        """Play a game, take gradient steps, and return the mean loss."""
        self.played = [torch.cat(pair) for pair in zip(self.played, play(self.game, self.teacher), strict=True)]
        losses = []
        for _ in range(STEPS_PER_GAME):
            chosen = torch.randint(len(self.played[0]), (BATCH_SIZE,), generator=self.generator)
            planes, actions, results = (of_all[chosen] for of_all in self.played)
            logits, outcomes = self.network.logits_and_value(planes)
            loss = functional.cross_entropy(logits, actions) + functional.cross_entropy(outcomes, results)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            losses.append(loss.item())
        self.done += 1
        return {"loss": np.mean(losses)}

    def state(self):
        """Return what a resumed run needs: values for ``checkpoint.json`` and tensors. Its optimizer begins anew."""
        return {}, dict(zip(("planes", "actions", "results"), self.played, strict=True))

    def load(self, checkpoint, tensors):
        """Continue from a checkpoint."""
        self.network.load_state_dict(checkpoint.network.state_dict())
        self.played = [tensors[name] for name in ("planes", "actions", "results")]
        self.seed(self.config.seed + 1 + self.done)  # the games must be other ones than before


def play(game, teacher):
    """Return the observations, actions and results, for the player to move, of a self-play game of the teacher."""
    state = game.new_initial_state()
    teacher.restart()
    planes, actions, players = [], [], []
    while not state.is_terminal():
        planes.append(state.observation_tensor())
        actions.append(teacher.step(state))
        players.append(state.current_player())
        state.apply_action(actions[-1])
    returns = np.array(state.returns())[players]
    results = np.where(returns > 0, WIN, np.where(returns < 0, LOSS, DRAW))
    return torch.from_numpy(np.array(planes)), torch.tensor(actions), torch.from_numpy(results)


register_algorithm("imitation", config=ImitationConfig, algorithm=Imitation)
