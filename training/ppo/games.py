"""``TrainingGames``: the learner's games as torch tensors, on the processor or on a GPU."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from stoneworks.envs.rules import NO_ACTION, Batch, Game
from stoneworks.envs.rules.device import Inputs
from stoneworks.envs.single_agent import MAX_RESTARTS, never_acts
from stoneworks.extras import require_extra

with require_extra("train", "training runs"):
    import torch
    from torch import Tensor


class Player(Protocol):
    """An opponent in :class:`TrainingGames`."""

    name: str

    def act(self, games: TrainingGames, rows: Tensor) -> Tensor:
        """Return ``int64[n]`` on the device of the games: legal actions in the games ``rows[n]``."""


class Ended(NamedTuple):
    """What a step ended, as tensors on the device of the games.

    Attributes:
        results: ``float32[num_games]``, the learner's returns in the games that ended, else 0.
        dones: ``bool[num_games]``, whether the game ended.
        lengths: ``int64[num_games]``, the number of the learner's actions in the game of the step.
        opponents: ``int64[num_games]``, index in ``TrainingGames.players`` of the opponent in the game of the step.
        truncated: ``int64[n]``, the games that were truncated.
        last_observations: ``[n, planes, height, width]``, the last observations in those, from the learner's perspective.
    """

    results: Tensor
    dones: Tensor
    lengths: Tensor
    opponents: Tensor
    truncated: Tensor
    last_observations: Tensor


class TrainingGames:
    """Games of the learner, in which opponents move inside of a step.

    The learner is to move in every game, in alternating seats. A game that ends is restarted in the same step, with an
    opponent that is drawn by the shares. All random numbers are of torch's global generators.

    Attributes:
        observations: ``float32[num_games, planes, height, width]``, a view that steps overwrite.
        action_masks: ``int8[num_games, num_actions]``, a view that steps overwrite.
        players: the opponents, those of the shares first.
        has_games: whether the games were started.
    """

    def __init__(self, game: Game, num_games: int, device: str = "cpu", inputs: Inputs | None = None) -> None:
        """Create the games, which ``set_opponents`` and ``start`` prepare for steps.

        Args:
            game: the game.
            num_games: number of games.
            device: device of the games (see ``Batch``).
            inputs: planes in place of the observation (see ``Batch``).

        Raises:
            DeviceError, MissingDependencyError, TargetError: the games cannot be on the device.
        """
        self.game, self.num_games = game, num_games
        self._batch = Batch(game, num_games, device=device, inputs=inputs)
        #: The games on the processor, for bots.
        self._on_processor = self._batch if device == "cpu" else Batch(game, num_games)
        tensors = map(torch.as_tensor, self._batch._written)  # they share the memory
        self.observations, self.action_masks, self._movers, self._rewards, self._terminated, self._truncated = tensors
        self.device = self.observations.device
        self.players: list[Player] = []
        self.has_games = False
        self._cumulative_shares = torch.zeros(0)
        self._opponents = torch.full((num_games,), -1, device=self.device)
        self._seats = torch.zeros(num_games, dtype=torch.int64, device=self.device)
        self._num_started = torch.arange(num_games, device=self.device)
        self._lengths = torch.zeros(num_games, dtype=torch.int64, device=self.device)
        #: Games started in this step. If one of them ends, the learner has not acted in it; it is restarted.
        self._started = torch.zeros(num_games, dtype=torch.bool, device=self.device)

    def set_opponents(self, shares: Mapping[Player, float]) -> None:
        """Set the opponents of new games, with their relative shares. Games in progress keep theirs."""
        in_use = {*self._opponents.tolist()}
        kept = [player for index, player in enumerate(self.players) if index in in_use and player not in shares]
        players = [*shares, *kept]
        new_index = [players.index(player) if player in players else -1 for player in self.players]
        # The last entry is that of games without an opponent, whose index is -1.
        self._opponents = torch.tensor([*new_index, -1], device=self.device)[self._opponents]
        cumulative = torch.tensor([*shares.values()], dtype=torch.float64).cumsum(0)
        self._cumulative_shares = (cumulative / cumulative[-1]).float().to(self.device)
        self.players = players

    def start(self) -> None:
        """Start all games."""
        self._start(torch.ones_like(self._started))
        self._play_until_learner_acts()
        self.has_games = True

    def step(self, actions: Tensor) -> Ended:
        """Apply the learner's legal actions ``int64[num_games]``, then those of opponents until the learner is to move.

        Raises:
            IllegalActionError: a bot has chosen an illegal action.
            ValueError: games end again and again before the learner can act.
        """
        self._started[:] = False
        self._lengths += 1
        lengths, opponents = self._lengths.clone(), self._opponents
        self._batch.step(actions, trusted=True)
        results, dones, truncated = self._play_until_learner_acts()
        rows = [rows for rows, _ in truncated]
        observations = [planes for _, planes in truncated]
        none = self._opponents[:0], self.observations[:0]
        return Ended(
            results, dones, lengths, opponents, torch.cat([none[0], *rows]), torch.cat([none[1], *observations])
        )

    def on_processor(self, rows: Tensor) -> tuple[Batch, npt.NDArray[np.int64]]:
        """Return a batch on the processor in which the games ``rows[n]`` are up to date, and the rows."""
        places: npt.NDArray[np.int64] = rows.cpu().numpy()
        if self._on_processor is not self._batch:
            self._on_processor.load(places, self._batch.records(places), trusted=True)
        return self._on_processor, places

    def _start(self, chosen: Tensor) -> None:
        """Start the games that ``chosen``, ``bool[num_games]``, selects: reset positions, assign seats, draw opponents."""
        self._batch.reset(chosen.cpu().numpy())
        self._started |= chosen
        self._seats = torch.where(chosen, self._num_started % 2, self._seats)
        self._num_started += chosen
        self._lengths *= ~chosen
        drawn = torch.searchsorted(self._cumulative_shares, torch.rand(self.num_games, device=self.device), right=True)
        self._opponents = torch.where(chosen, drawn.clamp(max=len(self._cumulative_shares) - 1), self._opponents)

    def _play_until_learner_acts(self) -> tuple[Tensor, Tensor, list[tuple[Tensor, Tensor]]]:
        """Play opponents' actions and restart games that end until the learner is to move in every game.

        Returns:
            Results and dones (see :class:`Ended`); the games that were truncated and their last observations.
        """
        results = torch.zeros(self.num_games, device=self.device)
        dones = torch.zeros_like(self._started)
        truncated: list[tuple[Tensor, Tensor]] = []
        num_restarts = 0
        while True:
            over = self._terminated | self._truncated
            if over.any():
                unreported = over & self._started
                num_restarts += bool(unreported.any())
                if num_restarts > MAX_RESTARTS:
                    raise ValueError(never_acts(self.game, "alternate"))
                reported = over & ~self._started
                dones |= reported
                results += self._rewards.gather(1, self._seats[:, None])[:, 0] * reported
                rows = (reported & self._truncated).nonzero()[:, 0]
                if len(rows):
                    planes = torch.as_tensor(self._batch.observe(rows, self._seats[rows]))
                    truncated.append((rows, planes))
                self._start(over)
            waiting = self._movers != self._seats
            if not waiting.any():
                return results, dones, truncated
            actions = torch.full_like(self._opponents, NO_ACTION)
            for index, player in enumerate(self.players):
                rows = (waiting & (self._opponents == index)).nonzero()[:, 0]
                if len(rows):
                    actions[rows] = player.act(self, rows)
            self._batch.step(actions, trusted=True)
