"""Assignment of opponents to the games of a vector environment, with one batched call per opponent and step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from stoneworks.checks import check_integers
from stoneworks.envs.players import Opponent, PolicyPlayer, resolve_opponent
from stoneworks.envs.rules import NO_ACTION, Batch, Game, IllegalActionError


class Opponents:
    """The opponent of each game. A replaced opponent is kept until the last of its games is over."""

    def __init__(self, game: Game, num_games: int, self_player: PolicyPlayer) -> None:
        self._game = game
        self._self_player = self_player
        self._given: dict[str, Opponent] = {}
        self._names: list[str] = []
        self._players: list[Any] = []
        self._cumulative_shares = np.zeros(0)
        #: ``int64[num_games]``, index of each game's opponent.
        self.of_game = np.full(num_games, -1)

    def exchange(self, shares: Mapping[str, float], players: Mapping[str, Opponent]) -> None:
        """Replace the opponents of new games.

        Raises:
            ValueError: a share or name is invalid; nothing has changed.
        """
        given = list(shares.values())
        numbers = all(isinstance(share, (int, float, np.integer, np.floating)) for share in given)
        values = np.array(given if numbers else [], np.float64)
        if not (np.isfinite(values).all() and (values >= 0).all() and values.sum() > 0):
            raise ValueError(f"the opponents' shares must be numbers >= 0, not all of them 0; got {dict(shares)!r}")
        opponents = {name: players.get(name, name) for name in shares}
        self._install({name: self._resolve(opponent) for name, opponent in opponents.items()})
        self._given = opponents
        self._cumulative_shares = np.cumsum(values / values.sum())

    def reseed(self, random: np.random.Generator) -> None:
        """Recreate the opponents given by name, with seeds drawn from ``random``."""
        seeds = random.integers(2**31, size=len(self._given)).tolist()
        of_given = zip(self._given.items(), seeds, strict=True)
        self._install({name: self._resolve(opponent, seed) for (name, opponent), seed in of_given})

    def _resolve(self, opponent: Opponent, seed: int | None = None) -> Any:
        return resolve_opponent(opponent, self._game, seed, self_player=self._self_player)

    def _install(self, players: Mapping[str, Any]) -> None:
        old = list(zip(self._names, self._players, strict=True))
        new = list(players.items())
        for index in np.unique(self.of_game[self.of_game >= 0]).tolist():
            if not any(name == old[index][0] and player is old[index][1] for name, player in new):
                new.append(old[index])
        new_index = [
            next((i for i, (name, player) in enumerate(new) if name == old_name and player is old_player), -1)
            for old_name, old_player in old
        ]
        self.of_game = np.array([new_index[index] if index >= 0 else -1 for index in self.of_game.tolist()], np.int64)
        self._names = [name for name, _ in new]
        self._players = [player for _, player in new]

    def restart(self) -> None:
        """Call ``restart`` on all opponents."""
        for player in self._players:
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
            player, its_rows = self._players[index], rows[of_rows == index]
            if hasattr(player, "step_batch"):
                answer = player.step_batch(batch, its_rows)
            else:
                answer = [player.step(batch.state(row)) for row in its_rows.tolist()]
            if isinstance(answer, list | tuple) and any(isinstance(action, bool | np.bool_) for action in answer):
                answer = np.array(answer, object)  # numpy would convert booleans among integers
            name = f"the actions of the opponent {self._names[index]!r}"
            chosen = check_integers(name, answer, len(its_rows), IllegalActionError)
            if (chosen == NO_ACTION).any():
                raise IllegalActionError(f"{name} must be legal, got no action ({NO_ACTION})")
            actions[its_rows] = chosen
        return actions

    def indices(self, names: list[str]) -> npt.NDArray[np.int64]:
        """Return ``int64[len(names)]``: the indices of the opponents with these names.

        Raises:
            ValueError: there is no such name.
        """
        unknown = set(names).difference(self._names)
        if unknown:
            raise ValueError(
                f"the opponent of a saved game must be one of {', '.join(map(repr, self._names))}, got {sorted(unknown)[0]!r}"
            )
        return np.array([self._names.index(name) for name in names], np.int64)

    def name_of_game(self, row: int) -> str:
        """Return the name of one game's opponent."""
        return self._names[self.of_game[row]]

    def names_by_game(self) -> list[str]:
        """Return the name of each game's opponent; the empty string if none is assigned yet."""
        return ["" if index < 0 else self._names[index] for index in self.of_game.tolist()]
