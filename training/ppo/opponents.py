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
        shares = {"latest": config.latest, "random": config.random, "greedy": config.greedy, **config.bots}
        self._shares = {name: share for name, share in shares.items() if share}
        self._bots = {
            name: PolicyBot(learner, game) if name == "latest" else self._loaded(name) for name in self._shares
        }
        self._past: dict[int, PolicyBot] = {}  # by their numbers of updates, in this order

    def begin_update(self, update: int, seeds: np.random.SeedSequence, env: VectorEnv) -> None:
        """Store the current policy if one is due, sample the past policies that play, and set the opponents of ``env``.

        Args:
            update: number of completed updates.
            seeds: seeds of all randomness until the next update.
            env: the training environment.
        """
        interval = self._interval(update)
        # If the share of the latest policy is 0, the first update needs another opponent: the untrained policy.
        if self._config.past and update % interval == 0 and update not in self._past:
            self._add(update, self._learner.state_dict())
        playing = set(env.opponent_names)
        self._past = {of: past for of, past in self._past.items() if of % interval == 0 or past.name in playing}
        generator = np.random.default_rng(seeds)
        kept = [past.name for of, past in self._past.items() if of % interval == 0]
        number = min(self._config.past_selves_at_once, len(kept)) if self._config.past else 0
        drawn = generator.choice(kept, number, replace=False).tolist() if number else []
        past_shares = {
            past.name: self._config.past / number if past.name in drawn else 0.0 for past in self._past.values()
        }
        shares, players = self._shares | past_shares, self._players()
        for name, player in players.items():
            seed = int(generator.integers(2**31))
            if isinstance(player, PolicyBot):
                player.reseed(seed)
            else:
                player.replace(load_bot(name, self._game, seed=seed))
        env.set_opponents(shares, players)

    def state(self) -> dict[str, Tensor]:
        """Return the weights of the past policies; keys have the form ``<policy name>/<parameter name>``."""
        return {
            f"{past.name}/{key}": tensor
            for past in self._past.values()
            for key, tensor in past.network.state_dict().items()
        }

    def load_state(self, state: Mapping[str, Tensor], env: VectorEnv) -> None:
        """Restore the pool from ``state`` and set the opponents of ``env``, so that its games continue against them."""
        weights: dict[int, dict[str, Tensor]] = {}
        for key, tensor in state.items():
            name, _, inner = key.partition("/")
            weights.setdefault(int(name.removeprefix(PAST)), {})[inner] = tensor
        for update, tensors in sorted(weights.items()):
            self._add(update, tensors)
        env.set_opponents(dict.fromkeys(self._players(), 1.0), self._players())

    def _loaded(self, name: str) -> PolicyBot | _ReplaceableBot:
        bot = load_bot(name, self._game)
        if bot.one_game_at_a_time:
            bot.close()
            raise ConfigError(f"opponents.bots must be able to play many games at once, got {name!r}")
        return bot if isinstance(bot, PolicyBot) else _ReplaceableBot(bot)

    def _players(self) -> dict[str, PolicyBot | _ReplaceableBot]:
        return {**self._bots, **{past.name: past for past in self._past.values()}}

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
        self._past[update] = PolicyBot(network, self._game, name=f"{PAST}{update}")


class _ReplaceableBot(Bot):
    """A bot that is replaced before every update, with a new seed, while games keep the same reference to it."""

    def __init__(self, bot: Bot) -> None:
        self._bot = bot

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
