"""Assignment of opponents to the games of a vector environment, with one batched call per opponent and step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from stoneworks.checks import check_integers, check_number
from stoneworks.envs.players import Opponent, PolicyPlayer, is_loaded, resolve_opponent
from stoneworks.envs.rules import NO_ACTION, Batch, Game, IllegalActionError


class Opponents:
    """The opponent of each game. A replaced opponent is kept while it has games, at least until the next replacement."""

    def __init__(self, game: Game, num_games: int, self_player: PolicyPlayer) -> None:
        self._game = game
        self._self_player = self_player
        self._given: dict[str, Opponent] = {}
        #: Name and player of each opponent.
        self._installed: list[tuple[str, Any]] = []
        #: Bots that were loaded here, and are closed here.
        self._loaded: list[Any] = []
        self._cumulative_shares = np.zeros(0)
        #: ``int64[num_games]``, index of each game's opponent.
        self.of_game = np.full(num_games, -1)

    def exchange(
        self, shares: Mapping[str, float], players: Mapping[str, Opponent], random: np.random.Generator
    ) -> None:
        """Replace the opponents of new games. Those given by name get seeds drawn from ``random``.

        Raises:
            ValueError: a share or name is invalid, or a player has no share; the opponents and ``random`` are unchanged.
        """
        if absent := sorted(players.keys() - shares.keys()):
            raise ValueError(f"players must each have a share, got none for {', '.join(map(repr, absent))}")
        values = np.array([check_number(f"the share of opponent {name!r}", share, 0) for name, share in shares.items()])
        if not values.any():
            raise ValueError(f"the shares of the opponents must not all be 0, got {dict(shares)!r}")
        opponents = {name: players.get(name, name) for name in shares}
        resolved, before = {}, random.bit_generator.state
        try:
            for name, opponent in opponents.items():
                seed = int(random.integers(2**31)) if isinstance(opponent, str) else None
                resolved[name] = self._resolve(opponent, seed)
        except BaseException:
            random.bit_generator.state = before
            self._close_unused()
            raise
        self._install(resolved)
        self._given = opponents
        values /= values.max()  # their sum must not overflow
        self._cumulative_shares = np.cumsum(values / values.sum())

    def reseed(self, random: np.random.Generator) -> None:
        """Recreate the opponents given by name, with seeds drawn from ``random``."""
        seeds = random.integers(2**31, size=len(self._given)).tolist()
        of_given = zip(self._given.items(), seeds, strict=True)
        self._install({name: self._resolve(opponent, seed) for (name, opponent), seed in of_given})

    def _resolve(self, opponent: Opponent, seed: int | None) -> Any:
        player = resolve_opponent(opponent, self._game, seed, self._self_player)
        if getattr(player, "one_game_at_a_time", False):
            if is_loaded(opponent):
                player.close()
            raise ValueError(f"opponents must be able to play many games at once, got {opponent!r}")
        if is_loaded(opponent):
            self._loaded.append(player)
        return player

    def _install(self, players: Mapping[str, Any]) -> None:
        new, in_use, new_index = list(players.items()), set(self.of_game.tolist()), []
        for index, (name, player) in enumerate(self._installed):
            same = [i for i, other in enumerate(new) if other[0] == name and other[1] is player]
            if not same and index in in_use:
                same = [len(new)]
                new.append((name, player))
            new_index.append(same[0] if same else -1)
        new_index.append(-1)  # of games without an opponent, whose index is -1
        self.of_game = np.array(new_index, np.int64)[self.of_game]
        self._installed = new
        self._close_unused()

    def _close_unused(self) -> None:
        loaded, in_use = self._loaded, {id(player) for _, player in self._installed}
        self._loaded = [player for player in loaded if id(player) in in_use]
        for player in loaded:
            if id(player) not in in_use:
                player.close()

    def close(self) -> None:
        """Close the bots given by name."""
        for player in self._loaded:
            player.close()

    def restart(self) -> None:
        """Call ``restart`` on all opponents."""
        for _, player in self._installed:
            player.restart()

    def draw(self, rows: npt.NDArray[np.int64], random: np.random.Generator) -> None:
        """Sample the opponents of the games ``rows[n]``."""
        drawn = np.searchsorted(self._cumulative_shares, random.random(len(rows)), side="right")
        self.of_game[rows] = np.minimum(drawn, len(self._cumulative_shares) - 1)

    def choose(self, batch: Batch, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return ``int64[num_games]``: an action for each game of the batch, ``NO_ACTION`` except in ``rows[n]``.

        Raises:
            IllegalActionError: an opponent returns no action.
        """
        actions = np.full(batch.num_games, NO_ACTION, np.int64)
        of_rows = self.of_game[rows]
        for index in np.unique(of_rows).tolist():
            (opponent, player), its_rows = self._installed[index], rows[of_rows == index]
            if hasattr(player, "step_batch"):
                answer = player.step_batch(batch, its_rows)
            else:
                answer = [player.step(batch.state(row)) for row in its_rows.tolist()]
            if isinstance(answer, list | tuple) and any(isinstance(action, bool | np.bool_) for action in answer):
                answer = np.array(answer, object)  # numpy would convert booleans among integers
            name = f"the actions of the opponent {opponent!r}"
            # 2**64 - 1 wraps around to NO_ACTION.
            chosen = check_integers(name, answer, len(its_rows), IllegalActionError).astype(np.int64)
            if (chosen == NO_ACTION).any():
                raise IllegalActionError(f"{name} must be legal, got no action ({NO_ACTION})")
            actions[its_rows] = chosen
        return actions

    def name_of_game(self, row: int) -> str:
        """Return the name of one game's opponent."""
        return self._installed[self.of_game[row]][0]

    def names_by_game(self) -> list[str]:
        """Return the name of each game's opponent; the empty string if none is assigned yet."""
        return ["" if index < 0 else self._installed[index][0] for index in self.of_game.tolist()]
