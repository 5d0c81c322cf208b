"""``Batch``: many games of one kind that are stepped in one call, with preallocated arrays."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from math import prod
from typing import Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from stoneworks.checks import as_array, check_choice, check_integer, check_seed
from stoneworks.envs.rules import templates
from stoneworks.envs.rules.compiler.random_numbers import independent_seeds
from stoneworks.envs.rules.compiler.thread_team import ThreadTeam
from stoneworks.envs.rules.device import Inputs, NoPlanes, Planes, arrays_of
from stoneworks.envs.rules.fields import TAG
from stoneworks.envs.rules.game import Game, IllegalActionError, PositionError, as_game
from stoneworks.envs.rules.state import State


class Step(NamedTuple):
    """What a step of a batch produced: the arrays of ``Batch``, read-only views that the next step overwrites."""

    observations: npt.NDArray[np.float32]
    action_masks: npt.NDArray[np.int8]
    current_players: npt.NDArray[np.int8]
    rewards: npt.NDArray[np.float32]
    terminated: npt.NDArray[np.bool_]
    truncated: npt.NDArray[np.bool_]

    def copy(self) -> Step:
        """Return copies of the arrays, which later steps do not change."""
        arrays: tuple[Any, ...] = self
        return Step(*(array.copy() if isinstance(array, np.ndarray) else array.clone() for array in arrays))


def _inputs_of(game: Game, observations: str | None, inputs: Inputs | None) -> Inputs:
    """Return what the observations of a batch show.

    Raises:
        ValueError: there are inputs without observations, or they are of another game.
    """
    if inputs is None:
        return NoPlanes(game) if observations is None else Planes(game)
    if observations is None:
        raise ValueError(f"inputs must be None if observations is None, got {inputs!r}")
    if inputs.game != game:
        raise ValueError(f"inputs must be of {game}, got those of {inputs.game}")
    return inputs


class Batch:
    """``num_games`` games of ``game``.

    The arrays are read-only views that every ``step`` and ``reset`` overwrites; copy what you keep, e.g. by
    ``batch.step(actions).copy()``. ``copy.deepcopy`` and ``pickle`` create equal, independent batches.

    With ``device="cuda"`` (see docs/gpu.md) the games are on a GPU. Arrays are torch tensors there, which must not be written to
    either, and ``states`` is ``uint8[num_games, bytes]`` (see ``records``). Work is in order with torch's current stream. Equal
    seeds and actions give equal games on every device.

    Attributes:
        game: the game.
        states: records ``[num_games]`` of ``game.state_dtype``.
        observations: ``float32[num_games, planes, height, width]``, from the perspective of the player to move (player 0
            after the end of the game); see ``observations`` of the constructor for other formats.
        action_masks: ``int8[num_games, num_actions]``, 1 for legal actions; zeros after the end of the game.
        current_players: ``int8[num_games]``, the player to move, or ``TERMINAL_PLAYER`` (-4).
        rewards: ``float32[num_games, 2]``, the rewards of both players for the last step; see ``returns`` for finished games.
        terminated: ``bool[num_games]``, whether the game is over (with ``auto_reset``: whether the last step ended one).
        truncated: ``bool[num_games]``, the same for games that were truncated at their maximum length.
    """

    def __init__(
        self,
        game: Game | str,
        num_games: int,
        *,
        auto_reset: bool = False,
        num_threads: int = 1,
        seed: int | np.random.SeedSequence | None = None,
        device: str = "cpu",
        observations: str | None = "float32",
        inputs: Inputs | None = None,
    ) -> None:
        """Start ``num_games`` games.

        Args:
            game: a game or a game string.
            num_games: number of games, at least 1.
            auto_reset: restart a game in the step that ends it. Rewards and flags then refer to the finished game, all
                other arrays to the new one.
            num_threads: number of threads that share the games. Results do not depend on it.
            seed: seed of ``random_actions`` and ``random_playouts``. None draws a random one.
            device: ``cpu``, ``cuda``, ``cuda:1``, ..., or ``emulated``: the code for ``cuda``, run by the processor for tests.
            observations: format of the observations: ``float32``; ``bfloat16``, not on ``cpu``; for games whose planes are all
                zeros and ones also ``uint8``, and ``bits``, ``uint8[num_games, ceil(planes * height * width / 8)]`` with
                the first entry in the lowest bit; None for observations without planes, which makes steps faster.
            inputs: planes in place of the observation, such as ``NetworkInputs(game, features=True)``.

        Raises:
            ValueError: an argument is invalid.
            MissingDependencyError: the device needs torch or ``cuda-bindings``.
            DeviceError: there is no such device, or its driver reports an error.
        """
        self.game = game = as_game(game)
        self.num_games = check_integer("num_games", num_games, 1)
        self._num_threads = check_integer("num_threads", num_threads, 1)
        if not isinstance(auto_reset, (bool, np.bool_)):
            raise ValueError(f"auto_reset must be True or False, got {auto_reset!r}")
        self.auto_reset = bool(auto_reset)
        self.device = device
        self._inputs = _inputs_of(game, observations, inputs)
        on_device = self._on_device = arrays_of(game, device, self._inputs)
        has_bits = game.binary_observations and inputs is None
        known = ("float32", *["bfloat16"] * (device != "cpu"), *["uint8", "bits"] * has_bits)
        format_ = "float32" if observations is None else observations
        self._format = check_choice(f"observations of {game} on {device!r}", format_, known)
        size = prod(self._inputs.shape)
        shape = (-(-size // 8),) if self._format == "bits" else self._inputs.shape
        self._states = on_device.put(game.blank_records(self.num_games))
        self._written = Step(
            observations=on_device.zeros((num_games, *shape), "uint8" if self._format == "bits" else self._format),
            action_masks=on_device.zeros((num_games, game.num_actions), np.int8),
            current_players=on_device.zeros((num_games,), np.int8),
            rewards=on_device.zeros((num_games, 2), np.float32),
            terminated=on_device.zeros((num_games,), np.bool_),
            truncated=on_device.zeros((num_games,), np.bool_),
        )
        seeds = seed if isinstance(seed, np.random.SeedSequence) else check_seed(seed)
        self._seeds = on_device.put(independent_seeds(seeds, num_games))
        self._prepare()
        self.reset()

    def _prepare(self) -> None:
        """Create everything that is derived from the arrays and arguments: views, slices, threads, compiled functions."""
        game = self.game
        on_device = self._on_device
        self._board = on_device.put(game.board)
        shown, self._masks, self._current_players, self._rewards, self._terminated, self._truncated = self._written
        num_planes, height, width = self._inputs.shape
        flat = (self.num_games, num_planes, height * width)
        self._planes = shown.reshape(flat) if self._format == "float32" else on_device.zeros(flat, np.float32)
        self.states = on_device.read_only(self._states)
        views: tuple[Any, ...] = self._written
        self._arrays = Step(*map(on_device.read_only, views))
        self.observations, self.action_masks, self.current_players = self._arrays[:3]
        self.rewards, self.terminated, self.truncated = self._arrays[3:]

        num_parts = min(self._num_threads, self.num_games) if self.device == "cpu" else 1
        bounds = np.linspace(0, self.num_games, num_parts + 1).astype(int)
        self._slices = [slice(start, stop) for start, stop in pairwise(bounds)]
        self._team = ThreadTeam(len(self._slices))
        self._first_illegal = on_device.first_illegal
        self._step = on_device.compiled(templates.step_batch)
        self._fill_rows = on_device.compiled(templates.fill_batch)
        self._reset = on_device.compiled(templates.reset_batch)

    def reset(self, rows: npt.ArrayLike | None = None) -> None:
        """Restart the games ``rows[n]`` (default: all). Their rewards become 0 and their flags False."""
        chosen = self._on_device.put(self._rows(rows))
        self._reset(self._board, self._states, chosen)
        self._rewards[chosen] = 0
        self._terminated[chosen] = False
        self._truncated[chosen] = False
        self._fill(chosen)

    def load(self, rows: npt.ArrayLike, records: npt.NDArray[np.void], *, trusted: bool = False) -> None:
        """Set the games ``rows`` to the positions ``records``. Their rewards become 0; games that are over are not restarted.

        Args:
            rows: indices ``int64[rows]``, or ``bool[num_games]``.
            records: one record of ``game.state_dtype``, or one per row.
            trusted: skip the validation of records. Invalid records can then crash the process or give wrong results.

        Raises:
            ValueError: there are neither one nor as many records as rows.
            PositionError: a record is not a position of the game. No game is changed.
            IndexError: a row is out of range.
        """
        chosen = self._rows(rows)
        if getattr(records, "dtype", None) != self.game.state_dtype:
            raise PositionError(f"{self.game}: the records have a different dtype; expected game.state_dtype")
        given = np.array(records, ndmin=1)
        if given.shape not in ((1,), chosen.shape):
            raise ValueError(f"records must be one or {len(chosen)}, got shape {given.shape}")
        if trusted:
            given[TAG] = self.game.record_tag
        else:
            self.game.check_records(given)
        put, over = self._on_device.put, given["ending"] != 0
        truncated = over & (given["truncated"] != 0)
        chosen = put(chosen)
        self._states[chosen] = put(given)
        self._rewards[chosen] = 0
        self._truncated[chosen] = put(truncated)
        self._terminated[chosen] = put(over & ~truncated)
        self._fill(chosen)

    def step(self, actions: npt.ArrayLike, *, trusted: bool = False) -> Step:
        """Apply one action to each game.

        Args:
            actions: ``int[num_games]``. ``NO_ACTION`` (-1) leaves a game unchanged, and is the only action that is allowed
                for a finished game.
            trusted: skip the check of the actions, which waits for a GPU. Illegal actions can then crash the process.

        Returns:
            The observations, masks, players to move, rewards and ends of all games, as views that the next step overwrites;
            ``copy()`` of the result returns arrays to keep.

        Raises:
            IllegalActionError: an action is illegal. The message names the game; no game is changed.
        """
        chosen = self._on_device.actions(actions, self.num_games)
        row = -1 if trusted else self._first_illegal(self._masks, chosen)
        if row >= 0:
            raise IllegalActionError(
                f"game {row} of the batch: {self.state(row).why_illegal(int(cast(Any, actions)[row]))}"
            )
        self._share(
            self._step,
            lambda part: (
                self._states[part],
                chosen[part],
                self.auto_reset,
                self._current_players[part],
                self._rewards[part],
                self._terminated[part],
                self._truncated[part],
                self._planes[part],
                self._masks[part],
            ),
        )
        self._show()
        return self._arrays

    def observe(self, rows: npt.ArrayLike | None, players: npt.ArrayLike) -> npt.NDArray[np.float32]:
        """Return the observations of the games ``rows[n]`` (None: all) from the perspectives of ``players``.

        Args:
            rows: indices ``int64[n]``, or ``bool[num_games]``.
            players: ``int[n]``, players 0 or 1; they are not checked.

        Returns:
            ``float32[n, planes, height, width]``, a new array.

        Raises:
            IndexError: a row is out of range.
            ValueError: ``players`` are not ``n`` integers.
        """
        states = self._states[self._on_device.put(self._rows(rows))]
        planes: npt.NDArray[np.float32] = self._on_device.zeros((len(states), *self._planes.shape[1:]), np.float32)
        viewers = self._on_device.actions(players, len(states), "players")
        self._on_device.compiled(templates.observe_batch)(self._board, states, viewers, planes)
        return planes.reshape(len(states), *self._inputs.shape)

    def random_actions(self) -> npt.NDArray[np.int64]:
        """Return ``int64[num_games]``: a uniformly random legal action per game, or ``NO_ACTION`` for a finished game."""
        actions: npt.NDArray[np.int64] = self._on_device.zeros((self.num_games,), np.int64)
        choose = self._on_device.compiled(templates.choose_random_actions)
        self._team.run(choose, [(self._masks[part], self._seeds[part], actions[part]) for part in self._slices])
        return actions

    def random_playouts(self) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int32]]:
        """Play a copy of every game to its end with uniformly random actions. The batch is not changed.

        Returns:
            ``float32[num_games, 2]``, the returns of both players, and ``int32[num_games]``, the number of actions played.
        """
        states = self._on_device.copy(self._states)
        returns = self._on_device.zeros((self.num_games, 2), np.float32)
        num_actions = self._on_device.zeros((self.num_games,), np.int32)
        play_out = self._on_device.compiled(templates.play_out)
        self._share(play_out, lambda part: (states[part], self._seeds[part], returns[part], num_actions[part]))
        return returns, num_actions

    @property
    def returns(self) -> npt.NDArray[np.float32]:
        """Results of the games as their positions have them, ``float32[num_games, 2]``: zeros until the end.

        Unlike ``rewards``, which are those of the last step, they stay until a game is restarted.
        """
        winners = self._on_device.field(self._states, "winner")
        returns: npt.NDArray[np.float32] = self._on_device.zeros((self.num_games, 2), np.float32)
        for player in (0, 1):
            returns[winners == player, player] = 1
            returns[winners == player, 1 - player] = -1
        return returns

    def records(self, rows: npt.ArrayLike | None = None) -> npt.NDArray[np.void]:
        """Return copies of the positions of the games ``rows[n]`` (default: all) as records ``[n]`` of ``game.state_dtype``.

        Raises:
            IndexError: a row is out of range.
        """
        return self._on_device.records(self._states[self._rows(rows)])

    def state(self, row: int) -> State:
        """Return a copy of one game's position as a ``State`` with an empty history.

        Raises:
            IndexError: the row is out of range.
        """
        index = row if isinstance(row, (int, np.integer)) and not isinstance(row, bool) else -1
        if not 0 <= index < self.num_games:
            raise IndexError(f"row must be an integer from 0 to {self.num_games - 1}, got {row!r}")
        (record,) = self._on_device.records(self._states[index : index + 1])
        return State.from_record(self.game, record, trusted=True)

    def _rows(self, rows: npt.ArrayLike | None) -> npt.NDArray[np.int64]:
        if rows is None:
            return np.arange(self.num_games)
        chosen = as_array(self._on_device.get(rows))
        if chosen.dtype == np.bool_ and chosen.shape == (self.num_games,):
            return np.flatnonzero(chosen)
        if chosen.size == 0:
            return np.zeros(0, np.int64)
        if chosen.ndim != 1 or chosen.dtype.kind not in "iu" or chosen.min() < 0 or chosen.max() >= self.num_games:
            raise IndexError(
                f"rows must be indices from 0 to {self.num_games - 1} or {self.num_games} booleans, got {rows!r}"
            )
        return np.ascontiguousarray(chosen, np.int64)

    def _fill(self, rows: Any) -> None:
        """Write the arrays of the games ``rows[n]`` that follow from their positions."""
        self._fill_rows(self._board, self._states, rows, self._current_players, self._planes, self._masks)
        self._show()

    def _show(self) -> None:
        """Write the observations in their format, if it is not that of the kernels."""
        if self._format != "float32":
            self._on_device.convert(self._planes, self._written.observations, self._format)

    def _share(self, function: Callable[..., Any], arguments_of: Callable[[slice], tuple[Any, ...]]) -> None:
        """Call ``function(board, *arguments)`` for each thread's share of the games, and wait for all calls."""
        self._team.run(function, [(self._board, *arguments_of(part)) for part in self._slices])

    def __getstate__(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in _COPIED}

    def __setstate__(self, copied: dict[str, Any]) -> None:
        for name in _COPIED:
            setattr(self, name, copied[name])
        self._on_device = arrays_of(self.game, self.device, self._inputs)
        self._prepare()
        if self._format != "float32":  # the planes of the kernels are not copied
            self._fill(self._on_device.put(np.arange(self.num_games)))

    def __len__(self) -> int:
        return self.num_games

    def __repr__(self) -> str:
        return f"<Batch of {self.num_games} games of {self.game}>"


#: Attributes that a copy needs; all others are derived.
_COPIED = (
    *("game", "num_games", "auto_reset", "device", "_num_threads", "_states", "_written", "_seeds"),
    *("_inputs", "_format"),
)
