"""Who the learner plays while it trains: its latest and its past selves, and the bots."""

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
from stoneworks.training.ppo.config import OpponentsConfig

with require_extra("train", "training runs"):
    from torch import Tensor

_PAST = "past-"
_BOTS = ("random", "greedy")


def kind_of_opponent(name: str) -> str:
    """Return ``latest``, ``past``, ``random`` or ``greedy``: what results are gathered by."""
    return "past" if name.startswith(_PAST) else name


def _updates_of(past_self: str) -> int:
    return int(past_self.removeprefix(_PAST))


class OpponentPool:
    """The learner's opponents, exchanged before every update.

    All that is random about an update follows from its seed, so that training can go on from any update as if it had never
    stopped: between updates the pool holds no random numbers.
    """

    def __init__(self, game: Game, config: OpponentsConfig, learner: BoardNetwork) -> None:
        """Make the pool; it has no past selves yet.

        Args:
            game: the game.
            config: the shares.
            learner: the network that learns; ``latest`` plays with it as it is.
        """
        self._game = game
        self._config = config
        self._learner = learner
        self._players: dict[str, PolicyBot | _ReplaceableBot] = {}
        if config.latest:
            self._players["latest"] = PolicyBot(learner, game)
        for name in _BOTS:
            if getattr(config, name):
                self._players[name] = _ReplaceableBot(load_bot(name, game))

    def begin_update(self, update: int, seeds: np.random.SeedSequence, env: VectorEnv) -> None:
        """Add a past self where one is due, draw who of them plays, and hand the opponents to ``env``.

        Args:
            update: number of updates made so far.
            seeds: of everything random until the next update.
            env: the games that the learner learns from.
        """
        self._add_past_self(update)
        self._drop_past_selves(update, playing=set(env.opponent_names))
        generator = np.random.default_rng(seeds)
        kept = [name for name in self._past_selves() if self._is_kept(name, update)]
        number = min(self._config.past_selves_at_once, len(kept)) if self._config.past else 0
        drawn = sorted(generator.choice(kept, number, replace=False).tolist()) if number else []
        shares = {name: getattr(self._config, name) for name in self._players if not name.startswith(_PAST)}
        shares |= {name: self._config.past / number if name in drawn else 0.0 for name in self._past_selves()}
        for name in shares:
            player, seed = self._players[name], int(generator.integers(2**31))
            if isinstance(player, PolicyBot):
                player.reseed(seed)
            else:
                player.replace(load_bot(name, self._game, seed=seed))
        env.set_opponents(shares, self._players)

    def state(self) -> dict[str, Tensor]:
        """Return the weights of the past selves, by names that begin with the past self's name and a slash."""
        return {
            f"{name}/{key}": tensor
            for name in self._past_selves()
            for key, tensor in self._network(name).state_dict().items()
        }

    def load_state(self, state: Mapping[str, Tensor], env: VectorEnv) -> None:
        """Become the pool that ``state`` was made from, and hand it to ``env`` so that its games find their opponents."""
        weights: dict[str, dict[str, Tensor]] = {}
        for key, tensor in state.items():
            name, _, inner = key.partition("/")
            weights.setdefault(name, {})[inner] = tensor
        for name, tensors in weights.items():
            self._add(name, tensors)
        env.set_opponents(dict.fromkeys(self._players, 1.0), self._players)

    def _past_selves(self) -> list[str]:
        return sorted((name for name in self._players if name.startswith(_PAST)), key=_updates_of)

    def _network(self, name: str) -> BoardNetwork:
        player = self._players[name]
        assert isinstance(player, PolicyBot)
        return player.network

    def _interval(self, update: int) -> int:
        """Return the updates from one past self to the next, doubled until no more are kept than allowed."""
        interval = self._config.updates_between_past_selves
        while update // interval + 1 > self._config.past_selves:
            interval *= 2
        return interval

    def _is_kept(self, name: str, update: int) -> bool:
        return _updates_of(name) % self._interval(update) == 0

    def _add_past_self(self, update: int) -> None:
        # Without a share for the latest self, the first update needs an opponent: the untrained one.
        name = f"{_PAST}{update}"
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
    """A bot that stays the same opponent to the games while it is made anew, with a new seed, for every update."""

    def __init__(self, bot: Bot) -> None:
        self._bot = bot

    @property
    def name(self) -> str:
        """The bot's name."""
        return self._bot.name

    def replace(self, bot: Bot) -> None:
        """Play as ``bot`` from now on."""
        self._bot = bot

    def step_with_policy(self, state: State) -> tuple[list[tuple[int, float]], int]:
        """See :meth:`Bot.step_with_policy`."""
        return self._bot.step_with_policy(state)

    def step_batch(self, batch: Batch, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """See :meth:`Bot.step_batch`."""
        return self._bot.step_batch(batch, rows)
