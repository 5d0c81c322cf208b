"""PettingZoo AEC environment for all games."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from gymnasium.error import ResetNeeded
from pettingzoo import AECEnv
from pettingzoo.utils.env import AECIterable

from stoneworks.checks import check_choice
from stoneworks.envs.observation_format import DEFAULT_FORMAT, ILLEGAL_ACTION_CHOICES, Formatter, ObservationFormat
from stoneworks.envs.rendering import FRAMES_PER_SECOND, RENDER_MODES, RenderedGame, Renderer
from stoneworks.envs.rules import Game, IllegalActionError, State, as_game

AGENTS = ("player_0", "player_1")
_PLAYERS = {agent: player for player, agent in enumerate(AGENTS)}


class BoardGameEnv(RenderedGame, AECEnv[str, dict[str, npt.NDArray[Any]], int | None]):
    """A two-player game with the agents ``player_0`` (moves first) and ``player_1``.

    An agent may act several times in a row; ``agent_selection`` is the agent to move. Observations are dicts with the keys
    ``"observation"`` (the planes in ``game.observation_planes``, from that agent's perspective) and ``"action_mask"``
    (``int8[num_actions]``; all zeros if the agent is not to move or the game is over). Rewards are 0 until the game ends,
    then +1 for the winner and -1 for the loser, or 0 for both after a draw or a truncated game.

    The environment validates call order and actions, so PettingZoo's wrappers are not needed. ``copy.deepcopy`` and
    ``pickle`` produce an equal, independent environment at any point of a game.
    """

    def __init__(
        self,
        game: Game | str,
        *,
        render_mode: str | None = None,
        illegal_action: str = "lose",
        observation: ObservationFormat | Mapping[str, Any] = DEFAULT_FORMAT,
        **options: object,
    ) -> None:
        """Create the environment. Call ``reset`` to start a game.

        Args:
            game: a game name, a game string, or a ``Game``.
            render_mode: ``"ansi"``, ``"rgb_array"``, ``"svg"``, ``"human"`` or None.
            illegal_action: how to handle an illegal action. ``"lose"``: the agent loses, with reward -1, and the opponent
                gets +1. ``"raise"``: raise ``IllegalActionError`` and leave the environment unchanged.
            observation: format of the observations, an ``ObservationFormat`` or a mapping of its fields.
            **options: game options, e.g. ``size=7``.

        Raises:
            ValueError: an argument is invalid; the message lists the allowed values.
        """
        super().__init__()
        self.game = as_game(game, **options)
        self.metadata = {
            "name": f"{self.game.name}_v{self.game.version}",
            "render_modes": list(RENDER_MODES),
            "is_parallelizable": False,
            "render_fps": FRAMES_PER_SECOND,
        }
        self.illegal_action = check_choice("illegal_action", illegal_action, ILLEGAL_ACTION_CHOICES)
        self._format = Formatter(self.game, replace(ObservationFormat.of(observation), with_mask=True))
        # Read in every observe().
        self._unchanged = self._format.unchanged
        self._observation_key, self._mask_key = self._format.format.key, self._format.format.mask_key
        self._renderer = Renderer(render_mode, str(self.game))
        self.render_mode = render_mode

        self.possible_agents = list(AGENTS)
        self.agents: list[str] = []
        self.observation_spaces = {agent: self._format.space() for agent in AGENTS}
        self.action_spaces = {agent: spaces.Discrete(self.game.num_actions) for agent in AGENTS}
        self.state_space = self._format.planes_space()
        self._state: State | None = None
        #: Whether the game ended by an illegal action, which is not recorded in the position.
        self._forfeited = False
        #: Planes and mask of the agent to move, made by the last step and not handed out yet, and that agent.
        self._next_arrays: tuple[npt.NDArray[np.float32], npt.NDArray[np.int8]] | None = None
        self._next_agent = AGENTS[0]

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """Return the agent's observation space. Always returns the same object. Raises ``ValueError`` for an unknown agent."""
        return self.observation_spaces[check_choice("agent", agent, AGENTS)]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """Return the agent's action space. Always returns the same object. Raises ``ValueError`` for an unknown agent."""
        return self.action_spaces[check_choice("agent", agent, AGENTS)]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Start a new game. ``seed`` has no effect because the games are deterministic; ``options`` is ignored."""
        self._state = self.game.new_initial_state()
        self._forfeited = False
        self._next_arrays = None
        self.agents = list(AGENTS)
        self.rewards = dict.fromkeys(AGENTS, 0.0)
        self._cumulative_rewards = dict.fromkeys(AGENTS, 0.0)
        self.terminations = dict.fromkeys(AGENTS, False)
        self.truncations = dict.fromkeys(AGENTS, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in AGENTS}
        self.agent_selection = AGENTS[self._state.current_player()]
        self._skip_agent_selection = None
        if self.render_mode == "human":
            self.render()

    def agent_iter(self, max_iter: int = 2**63) -> AECIterable[Any, Any, Any]:
        """Iterate over the agents that act, in their order. Raises ``ResetNeeded`` before ``reset``."""
        self._position("agent_iter()")
        return super().agent_iter(max_iter)

    def last(
        self, observe: bool = True
    ) -> tuple[dict[str, npt.NDArray[Any]] | None, float, bool, bool, dict[str, Any]]:
        """Return observation, cumulative reward, flags and info of the agent to move.

        Raises:
            ResetNeeded: ``reset`` was never called, or no agents are left.
        """
        if not self.agents:
            raise ResetNeeded(f"{self}: last() without a game; call reset() first")
        return super().last(observe)

    def observe(self, agent: str) -> dict[str, npt.NDArray[Any]]:
        """Return an agent's observation, as new arrays. Valid for both agents at any time after ``reset``.

        The planes, ``[planes, height, width]`` in the default format, and the mask ``int8[num_actions]`` are in a dict.

        Raises:
            ResetNeeded: ``reset`` has not been called.
            ValueError: the agent is unknown.
        """
        arrays = self._next_arrays
        if arrays is not None and agent is self._next_agent:
            planes, mask = arrays
            self._next_arrays = None
        else:
            planes, mask = self._new_arrays(agent)
        if not self._unchanged:
            planes, mask = self._format.of(planes), self._format.mask_of(mask)
        return {self._observation_key: planes, self._mask_key: mask}

    def _new_arrays(self, agent: str) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int8]]:
        player = _PLAYERS[check_choice("agent", agent, AGENTS)]
        planes, mask = self._position("observe()").observation_and_mask(player)
        if self._forfeited:
            mask[:] = 0
        return planes, mask

    def step(self, action: int | None) -> None:
        """Apply ``action`` for the agent ``agent_selection``; it must be None if that agent is terminated or truncated.

        Raises:
            IllegalActionError: the action is out of range, or it is illegal and ``illegal_action`` is ``"raise"``.
            ResetNeeded: ``reset`` was never called, or no agents are left.
            ValueError: the action of an agent that is terminated or truncated is not None.
        """
        state = self._state
        if state is None or not self.agents:
            raise ResetNeeded(f"{self}: step() without a game; call reset() first")
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        self._cumulative_rewards[agent] = 0
        arrays = state.try_step(action)  # type: ignore[arg-type]
        if arrays is not None:
            player = state.current_player()
            if player >= 0:
                self.agent_selection = self._next_agent = AGENTS[player]
                self._next_arrays = arrays
            else:
                self._end(state.returns(), truncated=state.is_truncated())
        else:
            if self.illegal_action == "raise" or not 0 <= operator.index(action) < self.game.num_actions:  # type: ignore[arg-type]
                raise IllegalActionError(state.why_illegal(operator.index(action)))  # type: ignore[arg-type]
            self._forfeited = True
            loser = _PLAYERS[agent]
            self._end([-1.0 if player == loser else 1.0 for player in (0, 1)], truncated=False)
        if self.render_mode == "human":
            self.render()

    def _end(self, returns: list[float], *, truncated: bool) -> None:
        """End the game for both agents."""
        self._next_arrays = None
        self.rewards = dict(zip(AGENTS, returns, strict=True))
        self.terminations = dict.fromkeys(AGENTS, not truncated)
        self.truncations = dict.fromkeys(AGENTS, truncated)
        self._accumulate_rewards()
        self._deads_step_first()

    def state(self) -> npt.NDArray[Any]:
        """Return the observation ``[planes, height, width]`` from player 0's perspective, an element of ``state_space``.

        Raises:
            ResetNeeded: called before ``reset``.
        """
        return self._format.of(self._position("state()").observation_tensor(0))
