"""Opponents of the learner during training: its latest and past policies, and bots."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from stoneworks.envs.rules import Game
from stoneworks.envs.vector import VectorEnv
from stoneworks.extras import require_extra
from stoneworks.models import Bot, load_bot
from stoneworks.models.bots.policy_bot import PolicyBot
from stoneworks.models.network import BoardNetwork, make_network
from stoneworks.training.ppo.config import PAST, OpponentsConfig
from stoneworks.training.runs.algorithms import ConfigError

with require_extra("train", "training runs"):
    from torch import Tensor


def kind_of_opponent(name: str) -> str:
    """Return the kind of an opponent, by which results are grouped: ``past`` for past policies, else its name."""
    return "past" if name.startswith(PAST) else name


class OpponentPool:
    """Pool of the learner's opponents, of which new games use some during each update."""

    def __init__(
        self, game: Game, config: OpponentsConfig, learner: BoardNetwork, seed: np.random.SeedSequence
    ) -> None:
        """Initialize the pool, without past policies.

        Args:
            game: the game.
            config: the shares of the opponents.
            learner: the network being trained; ``latest`` plays with its current weights.
            seed: seed of the bots.

        Raises:
            ConfigError: a bot plays one game at a time.
            ValueError: a bot is unknown or cannot play ``game``.
        """
        self._game = game
        self._config = config
        self._learner = learner
        shares = {"latest": config.latest, "random": config.random, "greedy": config.greedy, **config.bots}
        self._shares = {name: share for name, share in shares.items() if share}
        seeds = seed.generate_state(len(self._shares)).tolist()
        self._bots: dict[str, Bot] = {
            name: PolicyBot(learner, game, of_bot) if name == "latest" else self._loaded(name, of_bot)
            for name, of_bot in zip(self._shares, seeds, strict=True)
        }
        self._past: dict[int, PolicyBot] = {}  # by their numbers of updates, in this order

    def begin_update(self, update: int, seed: np.random.SeedSequence, env: VectorEnv) -> None:
        """Store the current policy if one is due, sample the past policies that play, and set the opponents of ``env``.

        Args:
            update: number of completed updates.
            seed: seed of the choice of past policies.
            env: the training environment. Its games in progress keep their opponents.
        """
        interval = self._interval(update)
        # If the share of the latest policy is 0, the first update needs another opponent: the untrained policy.
        if self._config.past and update % interval == 0 and update not in self._past:
            self._add(update, self._learner.state_dict())
        self._past = {of: past for of, past in self._past.items() if of % interval == 0}
        number = min(self._config.past_selves_at_once, len(self._past))
        chosen = (
            np.random.default_rng(seed).choice(sorted(self._past), number, replace=False).tolist() if number else []
        )
        drawn = {self._past[of].name: self._past[of] for of in chosen}
        env.set_opponents(
            self._shares | dict.fromkeys(drawn, self._config.past / max(1, number)), {**self._bots, **drawn}
        )

    def state(self) -> dict[str, Tensor]:
        """Return the weights of the past policies; keys have the form ``<policy name>/<parameter name>``."""
        state: dict[str, Tensor] = {}
        for past in self._past.values():
            assert isinstance(past.network, BoardNetwork)
            state |= {f"{past.name}/{key}": tensor for key, tensor in past.network.state_dict().items()}
        return state

    def load_state(self, state: Mapping[str, Tensor]) -> None:
        """Restore the past policies from ``state``."""
        weights: dict[int, dict[str, Tensor]] = {}
        for key, tensor in state.items():
            name, _, inner = key.partition("/")
            weights.setdefault(int(name.removeprefix(PAST)), {})[inner] = tensor
        for update, tensors in sorted(weights.items()):
            self._add(update, tensors)

    def _loaded(self, name: str, seed: int) -> Bot:
        bot = load_bot(name, self._game, seed=seed)
        if bot.one_game_at_a_time:
            bot.close()
            raise ConfigError(f"opponents.bots must be able to play many games at once, got {name!r}")
        return bot

    def _interval(self, update: int) -> int:
        """Return the number of updates between stored policies, doubled until at most the maximum number is stored."""
        interval = self._config.updates_between_past_selves
        while update // interval + 1 > self._config.past_selves:
            interval *= 2
        return interval

    def _add(self, update: int, weights: Mapping[str, Tensor]) -> None:
        network = make_network(self._learner.architecture, seed=0).to(next(self._learner.parameters()).device)
        network.load_state_dict(weights)
        network.eval().requires_grad_(False)
        self._past[update] = PolicyBot(network, self._game, update, name=f"{PAST}{update}")
