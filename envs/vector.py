"""The Gymnasium vector environment of every game: many games at once, played as one ``Batch``, with opponents inside."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from gymnasium.error import ResetNeeded
from gymnasium.vector.utils import batch_space

from stoneworks.envs.illegal_action import check_illegal_action
from stoneworks.envs.observation_format import ObservationFormat
from stoneworks.envs.players import Opponent, resolve_opponent
from stoneworks.envs.rules import NO_ACTION, Batch, Game, IllegalActionError, load_game
from stoneworks.envs.single_agent import check_seat


def _metadata() -> dict[str, Any]:
    try:
        from gymnasium.vector import AutoresetMode  # Gymnasium has had it since 1.1
    except ImportError:
        return {"render_modes": []}
    return {"render_modes": [], "autoreset_mode": AutoresetMode.SAME_STEP}


@dataclass(frozen=True)
class SavedGames:
    """Everything about the games of a ``VectorEnv`` but its random numbers, for going on with them later.

    Attributes:
        positions: ``uint8[num_envs, bytes]``, the records.
        seats: ``int8[num_envs]``, the player that the learner is.
        num_started: ``int64[num_envs]``, how many games have been started in each place.
        opponents: the name of each game's opponent.
    """

    positions: npt.NDArray[np.uint8]
    seats: npt.NDArray[np.int8]
    num_started: npt.NDArray[np.int64]
    opponents: list[str]


class VectorEnv(gymnasium.vector.VectorEnv[npt.NDArray[Any], npt.ArrayLike, npt.NDArray[Any]]):
    """Many games as a learner meets them: observations and rewards are the learner's, opponents play inside ``step``.

    It differs from ``SingleAgentEnv`` in that a game that ends is started anew in the same step (Gymnasium's autoreset mode
    ``SAME_STEP``): reward and flags are the old game's, observation and mask are the new one's. The old game's last
    observation is in ``info["final_obs"][i]``; ``info["final_info"]`` has its ``"seat"`` (the player that the learner was),
    its ``"opponent"`` (by name) and an ``"action_mask"`` of zeros. After every step it is the learner who acts in every game,
    so ``info["action_mask"]`` (``int8[num_envs, num_actions]``) has no row of zeros.

    There may be several opponents, each with a share of the games. Who plays a game is drawn when the game starts, and each
    opponent is asked once per round for all of its games, by ``step_batch(batch, rows)``; game by game, by ``step(state)``,
    where it has no such method.

    Attributes:
        game: the game.
    """

    metadata: ClassVar[dict[str, Any]] = _metadata()  # type: ignore[misc]

    def __init__(
        self,
        num_envs: int = 1,
        game: str | Game = "vadus",
        *,
        opponent: Opponent | Mapping[str, float] = "random",
        seat: int | str = "alternate",
        illegal_action: str = "lose",
        obs_layout: str = "CHW",
        obs_dtype: npt.DTypeLike = "float32",
        num_threads: int = 1,
        **options: object,
    ) -> None:
        """Make the environment; ``reset`` starts the games.

        Args:
            num_envs: how many games.
            game: a name, a game string, or a game.
            opponent: a bot's name, a bot, a function from a state to an action, or several names with the share of the
                games that each plays: ``{"random": 1, "greedy": 3}``.
            seat: which player the learner is: 0 (moves first), 1, ``"alternate"`` (after a seed 0 in games 0, 2, ... and 1 in
                the others, and then by turns) or ``"random"``.
            illegal_action: what an illegal action of the learner does: ``"lose"`` ends that game with reward -1,
                ``"raise"`` raises an ``IllegalActionError`` and changes nothing.
            obs_layout: ``"CHW"`` (planes first), ``"HWC"`` or ``"flat"``.
            obs_dtype: dtype of observations.
            num_threads: threads that share the games' rules; results do not depend on it.
            **options: of the game, e.g. ``size=7``.

        Raises:
            ValueError: an argument that is not allowed; it names what is.
        """
        if isinstance(game, Game) and options:
            raise ValueError(f"game is {game!r}; options beside it are {', '.join(options)}, allowed are none")
        self.game = game if isinstance(game, Game) else load_game(game, **options)
        self.seat = check_seat(seat)
        self.illegal_action = check_illegal_action(illegal_action)
        self._format = ObservationFormat(self.game, obs_layout, obs_dtype)
        self._batch = Batch(self.game, num_envs, num_threads=num_threads)
        self.num_envs = num_envs
        self.single_observation_space = self._format.space()
        self.single_action_space = spaces.Discrete(self.game.num_actions)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)

        self._seats = np.zeros(num_envs, np.int8)
        self._rows = np.arange(num_envs)
        self._num_started = np.zeros(num_envs, np.int64)
        self._has_games = False
        self._opponents = _Opponents(self.game, num_envs)
        if isinstance(opponent, Mapping):
            self._opponents.exchange(opponent, {})
        else:
            name = opponent if isinstance(opponent, str) else getattr(opponent, "name", type(opponent).__name__)
            self._opponents.exchange({name: 1.0}, {name: opponent})

    def set_opponents(self, shares: Mapping[str, float], players: Mapping[str, Opponent] | None = None) -> None:
        """Exchange the opponents. Games that go on keep the ones they have.

        Args:
            shares: the opponents' names, each with the share of new games that it plays, in any unit.
            players: who has which name; a name that is not in it is one that ``stoneworks.models.load_bot`` knows.

        Raises:
            ValueError: an unknown name, or shares that are negative or all 0; the opponents are as they were.
        """
        self._opponents.exchange(shares, players or {})

    @property
    def seats(self) -> npt.NDArray[np.int8]:
        """A copy of ``int8[num_envs]``, the player that the learner is in each game."""
        return self._seats.copy()

    @property
    def opponent_names(self) -> list[str]:
        """The name of each game's opponent."""
        return self._opponents.names_by_game()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[npt.NDArray[Any], dict[str, Any]]:
        """Start all games and let opponents move where they move first. ``options`` are not looked at.

        With a ``seed`` the opponents that were given by name, who plays which game and the seats start anew from it.
        """
        super().reset(seed=seed)
        if seed is not None:
            self._num_started[:] = 0
            self._opponents.reseed(self.np_random)
        self._opponents.restart()
        self._start(self._rows)
        self._has_games = True
        self._play_until_learner_acts(None)
        return self.observations(), self._info()

    def step(
        self, actions: npt.ArrayLike
    ) -> tuple[npt.NDArray[Any], npt.NDArray[np.float64], npt.NDArray[np.bool_], npt.NDArray[np.bool_], dict[str, Any]]:
        """Play one action of the learner in every game, and what the opponents answer.

        Args:
            actions: ``int[num_envs]``.

        Returns:
            Observations, rewards ``float64[num_envs]``, terminations and truncations ``bool[num_envs]``, and the info.

        Raises:
            IllegalActionError: an action is none of the game's, or it is illegal and ``illegal_action`` is ``"raise"``: no
                game has moved. Or an opponent has chosen an illegal action.
            ResetNeeded: ``reset`` was never called.
        """
        if not self._has_games:
            raise ResetNeeded("step() before reset()")
        chosen = self._checked(actions)
        illegal = np.flatnonzero(self._batch.action_masks[self._rows, chosen] == 0)
        if illegal.size and self.illegal_action == "raise":
            row = int(illegal[0])
            raise IllegalActionError(f"game {row}: {self._batch.state(row).why_illegal(int(chosen[row]))}")
        chosen[illegal] = NO_ACTION
        ended = _EndedGames(self.num_envs)
        self._batch.step(chosen)
        if illegal.size:
            ended.rewards[illegal] = -1
            ended.terminations[illegal] = True
            self._close(illegal, ended)
            self._start(illegal)
        self._play_until_learner_acts(ended)
        info = self._info() | ended.info(self.game.num_actions)
        return self.observations(), ended.rewards, ended.terminations, ended.truncations, info

    def observations(self) -> npt.NDArray[Any]:
        """Return a copy of the games' observations, as the learner sees them."""
        return self._format.copy_of(self._batch.observations)

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """Return ``bool[num_envs, num_actions]``: which actions the learner may play."""
        return self._batch.action_masks.astype(np.bool_)

    def save_games(self) -> SavedGames:
        """Return what ``restore_games`` needs to go on from here."""
        positions = self._batch.states.view(np.uint8).reshape(self.num_envs, -1).copy()
        return SavedGames(positions, self._seats.copy(), self._num_started.copy(), self.opponent_names)

    def restore_games(self, saved: SavedGames) -> None:
        """Go on with saved games.

        Raises:
            ValueError: they are of another game or another number, or one of their opponents is not among those set here.
        """
        dtype = self.game.state_dtype
        allowed = (self.num_envs, dtype.itemsize)
        if saved.positions.shape != allowed:
            raise ValueError(f"the saved positions are of shape {saved.positions.shape}; allowed is {allowed}")
        opponent_of_game = self._opponents.indices(saved.opponents)
        self._batch.load(self._rows, np.ascontiguousarray(saved.positions).view(dtype).reshape(self.num_envs))
        self._seats[:] = saved.seats
        self._num_started[:] = saved.num_started
        self._opponents.of_game[:] = opponent_of_game
        self._has_games = True

    def _checked(self, actions: npt.ArrayLike) -> npt.NDArray[np.int64]:
        given = np.asarray(actions)
        if given.dtype.kind not in "iu" or given.shape != (self.num_envs,):
            raise ValueError(f"actions are {given.dtype}{list(given.shape)}; allowed are {self.num_envs} whole numbers")
        chosen = given.astype(np.int64)
        outside = np.flatnonzero((chosen < 0) | (chosen >= self.game.num_actions))
        if outside.size:
            row = int(outside[0])
            raise IllegalActionError(f"game {row}: {self._batch.state(row).why_illegal(int(chosen[row]))}")
        return chosen

    def _info(self) -> dict[str, Any]:
        return {"action_mask": self._batch.action_masks.copy(), "_action_mask": np.ones(self.num_envs, np.bool_)}

    def _start(self, rows: npt.NDArray[np.int64]) -> None:
        """Start the games ``rows``: positions, seats and opponents."""
        self._batch.reset(rows)
        if self.seat == "random":
            self._seats[rows] = self.np_random.integers(2, size=len(rows))
        elif self.seat == "alternate":
            self._seats[rows] = (rows + self._num_started[rows]) % 2
        else:
            self._seats[rows] = self.seat
        self._num_started[rows] += 1
        self._opponents.draw(rows, self.np_random)

    def _play_until_learner_acts(self, ended: _EndedGames | None) -> None:
        """Close and start anew the games that are over, and let opponents act, until the learner is to act in every game."""
        while True:
            over = np.flatnonzero(self._batch.terminated | self._batch.truncated)
            if over.size:
                if ended is not None:
                    self._close_finished(over, ended)
                self._start(over)
            waiting = np.flatnonzero(self._batch.current_players != self._seats)
            if not waiting.size:
                return
            actions = self._opponents.choose(self._batch, waiting)
            try:
                self._batch.step(actions)
            except IllegalActionError as error:
                raise IllegalActionError(f"an opponent has played an illegal action in {error}") from error

    def _close_finished(self, over: npt.NDArray[np.int64], ended: _EndedGames) -> None:
        # A game that ended before the learner could act was no episode of the learner's.
        rows = over[~(ended.terminations | ended.truncations)[over]]
        ended.rewards[rows] = self._batch.rewards[rows, self._seats[rows]]
        ended.terminations[rows] = self._batch.terminated[rows]
        ended.truncations[rows] = self._batch.truncated[rows]
        self._close(rows, ended)

    def _close(self, rows: npt.NDArray[np.int64], ended: _EndedGames) -> None:
        for row in rows.tolist():
            seat = int(self._seats[row])
            planes = self._batch.state(row).observation_tensor(seat)
            ended.add(row, self._format.of(planes), seat, self._opponents.name_of_game(row))


class _Opponents:
    """Who plays which game. Players stay until the last of their games is over, though new games have others."""

    def __init__(self, game: Game, num_games: int) -> None:
        self._game = game
        self._given: dict[str, Opponent] = {}
        self._names: list[str] = []
        self._players: list[Any] = []
        self._cumulative_shares = np.zeros(0)
        #: ``int64[num_games]``, indices of players.
        self.of_game = np.full(num_games, -1)

    def exchange(self, shares: Mapping[str, float], players: Mapping[str, Opponent]) -> None:
        values = np.array(list(shares.values()), np.float64)
        if not (np.isfinite(values).all() and (values >= 0).all() and values.sum() > 0):
            raise ValueError(f"the opponents' shares are {dict(shares)!r}; allowed are numbers >= 0, not all of them 0")
        given = {name: players.get(name, name) for name in shares}
        self._install({name: resolve_opponent(opponent, self._game) for name, opponent in given.items()})
        self._given = given
        self._cumulative_shares = np.cumsum(values / values.sum())

    def reseed(self, random: np.random.Generator) -> None:
        seeds = random.integers(2**31, size=len(self._given)).tolist()
        of_given = zip(self._given.items(), seeds, strict=True)
        self._install({name: resolve_opponent(opponent, self._game, seed) for (name, opponent), seed in of_given})

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
        for player in self._players:
            player.restart()

    def draw(self, rows: npt.NDArray[np.int64], random: np.random.Generator) -> None:
        drawn = np.searchsorted(self._cumulative_shares, random.random(len(rows)), side="right")
        self.of_game[rows] = np.minimum(drawn, len(self._cumulative_shares) - 1)

    def choose(self, batch: Batch, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return an action for each game of the batch: ``NO_ACTION`` but in ``rows``."""
        actions = np.full(batch.num_games, NO_ACTION, np.int64)
        of_rows = self.of_game[rows]
        for index in np.unique(of_rows).tolist():
            player, its_rows = self._players[index], rows[of_rows == index]
            if hasattr(player, "step_batch"):
                actions[its_rows] = player.step_batch(batch, its_rows)
            else:
                actions[its_rows] = [player.step(batch.state(row)) for row in its_rows.tolist()]
            if (actions[its_rows] == NO_ACTION).any():
                raise IllegalActionError(f"the opponent {self._names[index]!r} has played no action ({NO_ACTION})")
        return actions

    def indices(self, names: list[str]) -> npt.NDArray[np.int64]:
        unknown = set(names).difference(self._names)
        if unknown:
            raise ValueError(
                f"a saved game's opponent is {sorted(unknown)[0]!r}; allowed are {', '.join(map(repr, self._names))}"
            )
        return np.array([self._names.index(name) for name in names], np.int64)

    def name_of_game(self, row: int) -> str:
        return self._names[self.of_game[row]]

    def names_by_game(self) -> list[str]:
        return ["" if index < 0 else self._names[index] for index in self.of_game.tolist()]


class _EndedGames:
    """What a step reports of the games that ended in it."""

    def __init__(self, num_games: int) -> None:
        self.rewards = np.zeros(num_games, np.float64)
        self.terminations = np.zeros(num_games, np.bool_)
        self.truncations = np.zeros(num_games, np.bool_)
        self._games: list[tuple[int, npt.NDArray[Any], int, str]] = []

    def add(self, row: int, observation: npt.NDArray[Any], seat: int, opponent: str) -> None:
        self._games.append((row, observation, seat, opponent))

    def info(self, num_actions: int) -> dict[str, Any]:
        """Return ``final_obs`` and ``final_info`` in Gymnasium's form; nothing where no game has ended."""
        if not self._games:
            return {}
        num_games = len(self.rewards)
        ended = self.terminations | self.truncations
        observations = np.full(num_games, None, object)
        seats = np.zeros(num_games, np.int64)
        opponents = np.full(num_games, None, object)
        for row, observation, seat, opponent in self._games:
            observations[row], seats[row], opponents[row] = observation, seat, opponent
        final_info = {"action_mask": np.zeros((num_games, num_actions), np.int8), "seat": seats, "opponent": opponents}
        final_info |= {f"_{key}": ended for key in list(final_info)}
        return {"final_obs": observations, "_final_obs": ended, "final_info": final_info, "_final_info": ended}
