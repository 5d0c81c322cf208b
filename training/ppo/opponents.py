"""Opponents of the learner during training: its latest and past policies, and bots."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from stoneworks.envs.rules import Game, IllegalActionError
from stoneworks.extras import require_extra
from stoneworks.models import Bot, load_bot
from stoneworks.models.bots.bot import legal_answers
from stoneworks.models.network import BoardNetwork, make_network
from stoneworks.training.ppo.config import PAST, OpponentsConfig
from stoneworks.training.ppo.games import Player, TrainingGames
from stoneworks.training.ppo.update import log_policy, sample
from stoneworks.training.runs.algorithms import ConfigError

with require_extra("train", "training runs"):
    import torch
    from torch import Tensor


class NetworkPlayer:
    """Samples from the policy of a network where the network is.

    Attributes:
        name: name of the opponent.
        network: the network; it is not copied.
    """

    def __init__(self, network: BoardNetwork, name: str) -> None:
        self.network, self.name = network, name
        self._device = next(network.parameters()).device

    def act(self, games: TrainingGames, rows: Tensor) -> Tensor:
        """See :class:`Player`."""
        with torch.inference_mode():
            logits, _ = self.network(games.observations[rows].to(self._device))
            actions = sample(log_policy(logits, games.action_masks[rows].to(self._device)))
        return actions.to(games.device)


class BotPlayer:
    """Plays as a bot, on the processor.

    Attributes:
        name: name of the opponent.
    """

    def __init__(self, bot: Bot, name: str) -> None:
        self._bot, self.name = bot, name

    def close(self) -> None:
        """Release the resources of the bot."""
        self._bot.close()

    def act(self, games: TrainingGames, rows: Tensor) -> Tensor:
        """See :class:`Player`. Raises ``IllegalActionError`` if the bot chooses an illegal action."""
        batch, places = games.on_processor(rows)
        what = f"the actions of the opponent {self.name!r}"
        actions = legal_answers(what, self._bot.step_batch(batch, places), batch, places, IllegalActionError)
        return torch.from_numpy(actions).to(games.device)


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
        self._players: dict[str, Player] = {
            name: NetworkPlayer(learner, name) if name == "latest" else BotPlayer(self._loaded(name, of_bot), name)
            for name, of_bot in zip(self._shares, seeds, strict=True)
        }
        self._past: dict[int, NetworkPlayer] = {}  # by their numbers of updates, in this order

    def close(self) -> None:
        """Release the resources of the bots."""
        for player in self._players.values():
            if isinstance(player, BotPlayer):
                player.close()

    def begin_update(self, update: int, seed: np.random.SeedSequence, games: TrainingGames) -> None:
        """Store the current policy if one is due, sample the past policies that play, and set the opponents of ``games``.

        Args:
            update: number of completed updates.
            seed: seed of the choice of past policies.
            games: the training games. Those in progress keep their opponents.
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
        shares: dict[Player, float] = {self._players[name]: share for name, share in self._shares.items()}
        games.set_opponents(shares | {self._past[of]: self._config.past / number for of in chosen})

    def state(self) -> dict[str, Tensor]:
        """Return the weights of the past policies; keys have the form ``<policy name>/<parameter name>``."""
        state: dict[str, Tensor] = {}
        for past in self._past.values():
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
        self._past[update] = NetworkPlayer(network, f"{PAST}{update}")
