"""Base class of the vector environments: the batch of games, the observation format and autoreset."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space

from stoneworks.checks import check_choice, check_integer, check_integers
from stoneworks.envs.observation_format import DEFAULT_FORMAT, ILLEGAL_ACTION_CHOICES, Formatter, ObservationFormat
from stoneworks.envs.rules import NO_ACTION, Batch, Game, IllegalActionError, as_game


def check_autoreset_mode(mode: Any) -> AutoresetMode:
    """Return an ``AutoresetMode`` from a member, its name (``"NEXT_STEP"``) or its value (``"NextStep"``).

    Raises:
        ValueError: the mode is unknown; the message lists the modes.
    """
    for known in AutoresetMode:
        if isinstance(mode, AutoresetMode | str) and mode in (known, known.name, known.value):
            return known
    names = ", ".join(known.name for known in AutoresetMode)
    raise ValueError(f"autoreset_mode must be one of {names}, got {mode!r}")


class BatchEnv(gymnasium.vector.VectorEnv[Any, npt.ArrayLike, npt.NDArray[Any]]):
    """Gymnasium vector environment over a batch of games. Subclasses choose the player whose perspective is returned.

    Attributes:
        game: the game.
        autoreset_mode: the ``gymnasium.vector.AutoresetMode``; determines when a finished game is restarted.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": [], "autoreset_mode": AutoresetMode.SAME_STEP}  # type: ignore[misc]

    def __init__(
        self,
        num_envs: int = 1,
        game: str | Game = "vadus",
        *,
        illegal_action: str = "lose",
        observation: ObservationFormat | Mapping[str, Any] = DEFAULT_FORMAT,
        autoreset_mode: AutoresetMode | str = AutoresetMode.SAME_STEP,
        num_threads: int = 1,
        frameskip: int = 1,
        **options: object,
    ) -> None:
        """Create the environment. Call ``reset`` to start the games.

        Args:
            num_envs: number of games.
            game: a game name, a game string, or a ``Game``.
            illegal_action: how to handle an illegal action: ``"lose"`` ends that game with reward -1, ``"raise"`` raises
                ``IllegalActionError`` and changes no game.
            observation: format of the observations, an ``ObservationFormat`` or a mapping of its fields.
            autoreset_mode: ``SAME_STEP``, ``NEXT_STEP`` or ``DISABLED``, by name or as Gymnasium's ``AutoresetMode``.
            num_threads: number of threads that step the games; results do not depend on it.
            frameskip: must be 1; accepted because TorchRL passes it to every environment.
            **options: game options, e.g. ``size=7``.

        Raises:
            ValueError: an argument is invalid; the message lists the allowed values.
        """
        self.game = as_game(game, **options)
        self.illegal_action = check_choice("illegal_action", illegal_action, ILLEGAL_ACTION_CHOICES)
        self.autoreset_mode = check_autoreset_mode(autoreset_mode)
        check_choice("frameskip", frameskip, (1,))
        self.metadata = {**type(self).metadata, "autoreset_mode": self.autoreset_mode}  # type: ignore[misc]
        self._format = Formatter(self.game, ObservationFormat.of(observation))
        check_integer("num_envs", num_envs, 1)
        self._batch = Batch(self.game, num_envs, num_threads=num_threads)
        self.num_envs = num_envs
        self.single_observation_space = self._format.space()
        self.single_action_space = spaces.Discrete(self.game.num_actions)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._rows = np.arange(num_envs)
        self._has_games = False
        #: Finished games that are not restarted yet, and the player whose perspective each row shows.
        self._ended = np.zeros(num_envs, np.bool_)
        self._viewers = np.zeros(num_envs, np.int8)

    def observations(self) -> Any:
        """Return the current observations, in the format of ``reset`` and ``step``."""
        return self._format.observation(self._planes(), self._masks())

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """Return ``bool[num_envs, num_actions]``, the legal actions.

        Rows of finished games that are not restarted yet are all True in mode ``NEXT_STEP``, where the next step ignores the
        action, and all False in mode ``DISABLED``.
        """
        return self._masks().astype(np.bool_)

    def _planes(self) -> npt.NDArray[Any]:
        planes = self._format.copy_of(self._batch.observations)
        for row in np.flatnonzero(self._ended).tolist():
            planes[row] = self._last_planes(row)
        return planes

    def _last_planes(self, row: int) -> npt.NDArray[Any]:
        """Return the final planes of a finished game, from the perspective of that row's player."""
        return self._format.of(self._batch.state(row).observation_tensor(int(self._viewers[row])))

    def _masks(self) -> npt.NDArray[Any]:
        masks = self._format.mask_of(self._batch.action_masks)
        masks[self._ended] = self.autoreset_mode is AutoresetMode.NEXT_STEP
        return masks

    def _info(self) -> dict[str, Any]:
        return {"action_mask": self._masks(), "_action_mask": np.ones(self.num_envs, np.bool_)}

    def _rows_to_reset(self, options: dict[str, Any] | None) -> npt.NDArray[np.int64]:
        """Return the indices of the games to reset.

        Raises:
            ResetNeeded: a mask is given before the first ``reset`` without one.
            ValueError: ``reset_mask`` is invalid.
        """
        if options is None or "reset_mask" not in options:
            return self._rows
        mask = options["reset_mask"]
        if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_ or mask.shape != (self.num_envs,):
            got = f"{mask.dtype}{list(mask.shape)}" if isinstance(mask, np.ndarray) else repr(mask)
            raise ValueError(f"options['reset_mask'] must be an array bool[{self.num_envs}], got {got}")
        if not mask.any():
            raise ValueError("options['reset_mask'] must select at least one game, got none")
        if not (self._has_games or mask.all()):
            raise ResetNeeded("reset() with a reset_mask needs games; call reset() without one first")
        return np.flatnonzero(mask)

    def _play(self, actions: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """Apply one action in each unfinished game, and restart the others.

        Returns:
            The indices of the games whose action was illegal, which are unchanged.

        Raises:
            IllegalActionError: an action is illegal and the environment raises for it.
            ResetNeeded: called before ``reset``, or after an opponent has raised an error, or with a game that has ended and is
                not restarted.
        """
        if not self._has_games:
            raise ResetNeeded("step() without games; call reset() first")
        ended = np.flatnonzero(self._ended)
        if ended.size and self.autoreset_mode is AutoresetMode.DISABLED:
            raise ResetNeeded(f"game {ended[0]} has ended; call reset(options={{'reset_mask': ...}}) before step()")
        chosen = self._checked(actions)
        illegal = np.flatnonzero((self._batch.action_masks[self._rows, chosen] == 0) & ~self._ended)
        if illegal.size and self.illegal_action == "raise":
            row = int(illegal[0])
            raise IllegalActionError(f"game {row}: {self._batch.state(row).why_illegal(int(chosen[row]))}")
        chosen[illegal] = NO_ACTION
        chosen[ended] = NO_ACTION
        self._batch.step(chosen)
        if ended.size:
            self._start(ended)
        return illegal

    def _start(self, rows: npt.NDArray[np.int64]) -> None:
        """Start the games ``rows``."""
        self._batch.reset(rows)
        self._ended[rows] = False

    def _close(self, rows: npt.NDArray[np.int64], ended: EndedGames) -> None:
        """Record the results of the finished games ``rows``, then restart them or mark them as ended."""
        if self.autoreset_mode is not AutoresetMode.SAME_STEP:
            self._ended[rows] = True
            return
        zeros = np.zeros(self.game.num_actions, self._format.mask_dtype)
        for row in rows.tolist():
            ended.add(row, self._format.observation(self._last_planes(row), zeros), **self._facts(row))
        if rows.size:
            self._start(rows)

    def _facts(self, row: int) -> dict[str, Any]:
        """Return the entries of ``final_info`` of a finished game."""
        raise NotImplementedError

    def _checked(self, actions: npt.ArrayLike) -> npt.NDArray[np.int64]:
        chosen = check_integers("actions", actions, self.num_envs).astype(np.int64)
        chosen[self._ended] = 0  # they are ignored
        outside = np.flatnonzero((chosen < 0) | (chosen >= self.game.num_actions))
        if outside.size:
            row = int(outside[0])
            raise IllegalActionError(f"game {row}: {self._batch.state(row).why_illegal(int(chosen[row]))}")
        return chosen


class EndedGames:
    """Results of the games that ended during a step.

    Attributes:
        rewards: ``float64[num_games]``.
        terminations: ``bool[num_games]``.
        truncations: ``bool[num_games]``.
    """

    def __init__(self, num_games: int) -> None:
        self.rewards = np.zeros(num_games, np.float64)
        self.terminations = np.zeros(num_games, np.bool_)
        self.truncations = np.zeros(num_games, np.bool_)
        self._games: list[tuple[int, Any, dict[str, Any]]] = []

    def add(self, row: int, observation: Any, **facts: Any) -> None:
        """Add a game's final observation and its entries of ``final_info``."""
        self._games.append((row, observation, facts))

    def info(self, masks: npt.NDArray[Any]) -> dict[str, Any]:
        """Return ``final_obs`` and ``final_info`` in Gymnasium's format, or {}; ``masks[num_envs, num_actions]`` are zeros."""
        if not self._games:
            return {}
        num_games = len(self.rewards)
        observations = np.full(num_games, None, object)
        final_info: dict[str, Any] = {"action_mask": masks}
        for row, observation, facts in self._games:
            observations[row] = observation
            for name, value in facts.items():
                if name not in final_info:
                    number = isinstance(value, int)
                    final_info[name] = np.zeros(num_games, np.int64) if number else np.full(num_games, None, object)
                final_info[name][row] = value
        ended = self.terminations | self.truncations
        final_info |= {f"_{name}": ended.copy() for name in list(final_info)}
        return {"final_obs": observations, "_final_obs": ended, "final_info": final_info, "_final_info": ended.copy()}
