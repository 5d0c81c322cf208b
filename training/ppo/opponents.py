"""Opponents of the learner during training: its latest and past policies, and bots."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from stoneworks.envs.rules import Batch, Game, State
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


def _updates_of(past_self: str) -> int:
    return int(past_self.removeprefix(PAST))


class OpponentPool:
    """Pool of the learner's opponents, which are replaced before every update.

    All randomness of an update is derived from its seed, and the pool has no random state between updates, so training can be
    resumed from any update with the same results.
    """

    def __init__(self, game: Game, config: OpponentsConfig, learner: BoardNetwork) -> None:
        """Initialize the pool, without past policies.

        Args:
            game: the game.
            config: the shares of the opponents.
            learner: the network being trained; ``latest`` plays with its current weights.

        Raises:
            ConfigError: a bot plays one game at a time.
            ValueError: a bot is unknown or cannot play ``game``.
        """
        self._game = game
        self._config = config
        self._learner = learner
        self._players: dict[str, PolicyBot | _ReplaceableBot] = {}
        if config.latest:
            self._players["latest"] = PolicyBot(learner, game)
        self._shares = {"latest": config.latest, "random": config.random, "greedy": config.greedy, **config.bots}
        for name, share in self._shares.items():
            if share and name != "latest":
                self._players[name] = self._loaded(name)

    def begin_update(self, update: int, seeds: np.random.SeedSequence, env: VectorEnv) -> None:
        """Store the current policy if one is due, sample the past policies that play, and set the opponents of ``env``.

        Args:
            update: number of completed updates.
            seeds: seeds of all randomness until the next update.
            env: the training environment.
        """
        self._add_past_self(update)
        self._drop_past_selves(update, playing=set(env.opponent_names))
        generator = np.random.default_rng(seeds)
        kept = [name for name in self._past_selves() if self._is_kept(name, update)]
        number = min(self._config.past_selves_at_once, len(kept)) if self._config.past else 0
        drawn = sorted(generator.choice(kept, number, replace=False).tolist()) if number else []
        shares = {name: self._shares[name] for name in self._players if not name.startswith(PAST)}
        shares |= {name: self._config.past / number if name in drawn else 0.0 for name in self._past_selves()}
        for name in shares:
            player, seed = self._players[name], int(generator.integers(2**31))
            if isinstance(player, PolicyBot):
                player.reseed(seed)
            else:
                player.replace(load_bot(name, self._game, seed=seed))
        env.set_opponents(shares, self._players)

    def state(self) -> dict[str, Tensor]:
        """Return the weights of the past policies; keys have the form ``<policy name>/<parameter name>``."""
        return {
            f"{name}/{key}": tensor
            for name in self._past_selves()
            for key, tensor in self._network(name).state_dict().items()
        }

    def load_state(self, state: Mapping[str, Tensor], env: VectorEnv) -> None:
        """Restore the pool from ``state`` and set the opponents of ``env``, so that its games continue against them."""
        weights: dict[str, dict[str, Tensor]] = {}
        for key, tensor in state.items():
            name, _, inner = key.partition("/")
            weights.setdefault(name, {})[inner] = tensor
        for name, tensors in weights.items():
            self._add(name, tensors)
        env.set_opponents(dict.fromkeys(self._players, 1.0), self._players)

    def _loaded(self, name: str) -> PolicyBot | _ReplaceableBot:
        bot = load_bot(name, self._game)
        if bot.one_game_at_a_time:
            bot.close()
            raise ConfigError(f"opponents.bots must be able to play many games at once, got {name!r}")
        return bot if isinstance(bot, PolicyBot) else _ReplaceableBot(bot)

    def _past_selves(self) -> list[str]:
        return sorted((name for name in self._players if name.startswith(PAST)), key=_updates_of)

    def _network(self, name: str) -> BoardNetwork:
        player = self._players[name]
        assert isinstance(player, PolicyBot)
        return player.network

    def _interval(self, update: int) -> int:
        """Return the number of updates between stored policies, doubled until at most the maximum number is stored."""
        interval = self._config.updates_between_past_selves
        while update // interval + 1 > self._config.past_selves:
            interval *= 2
        return interval

    def _is_kept(self, name: str, update: int) -> bool:
        return _updates_of(name) % self._interval(update) == 0

    def _add_past_self(self, update: int) -> None:
        # If the share of the latest policy is 0, the first update needs another opponent: the untrained policy.
        name = f"{PAST}{update}"
        if self._config.past and self._is_kept(name, update) and name not in self._players:
            self._add(name, self._learner.state_dict())

    def _add(self, name: str, weights: Mapping[str, Tensor]) -> None:
        network = make_network(self._learner.architecture)
        network.load_state_dict({key: tensor.detach().clone() for key, tensor in weights.items()})
        network.eval()
        for parameter in network.parameters():
            parameter.requires_grad_(False)
        self._players[name] = PolicyBot(network, self._game, name=name)

    def _drop_past_selves(self, update: int, playing: set[str]) -> None:
        for name in self._past_selves():
            if not self._is_kept(name, update) and name not in playing:
                del self._players[name]


class _ReplaceableBot(Bot):
    """A bot that is replaced before every update, with a new seed, while games keep the same reference to it."""

    def __init__(self, bot: Bot) -> None:
        self._bot = bot

    @property
    def name(self) -> str:
        """The bot's name."""
        return self._bot.name

    def replace(self, bot: Bot) -> None:
        """Close the current bot and delegate to ``bot`` from now on."""
        self._bot.close()
        self._bot = bot

    def step_with_policy(self, state: State) -> tuple[list[tuple[int, float]], int]:
        """See :meth:`Bot.step_with_policy`."""
        return self._bot.step_with_policy(state)

    def step_batch(self, batch: Batch, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """See :meth:`Bot.step_batch`."""
        return self._bot.step_batch(batch, rows)
