"""The PettingZoo AEC environment of every game."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from gymnasium.error import ResetNeeded
from pettingzoo import AECEnv

from stoneworks.envs.illegal_action import check_illegal_action
from stoneworks.envs.observation_format import ObservationFormat
from stoneworks.envs.rendering import FRAMES_PER_SECOND, RENDER_MODES, Renderer
from stoneworks.envs.rules import IllegalActionError, State, load_game

AGENTS = ("player_0", "player_1")
_PLAYERS = {agent: player for player, agent in enumerate(AGENTS)}


class BoardGameEnv(AECEnv[str, dict[str, npt.NDArray[Any]], int | None]):
    """One game for two agents, ``player_0`` (who moves first) and ``player_1``.

    An agent may act several times in a row: ``agent_selection`` is who acts next. Observations are dicts of
    ``"observation"`` (the planes of ``game.observation_planes`` as that agent sees them) and ``"action_mask"``
    (``int8[num_actions]``; zeros for an agent that is not to move and once the game is over). Rewards are 0, then at the
    end +1 and -1, or 0 for both after a draw or a truncated game.

    The environment checks order and actions by itself, so that it needs none of PettingZoo's wrappers; ``copy.deepcopy``
    and ``pickle`` give an equal, independent environment at any time.
    """

    def __init__(
        self,
        game: str,
        *,
        render_mode: str | None = None,
        illegal_action: str = "lose",
        obs_layout: str = "CHW",
        obs_dtype: npt.DTypeLike = "float32",
        observation_key: str = "observation",
        mask_key: str = "action_mask",
        mask_dtype: npt.DTypeLike = "int8",
        **options: object,
    ) -> None:
        """Make the environment; ``reset`` starts a game.

        Args:
            game: a name, or a game string.
            render_mode: ``"ansi"``, ``"rgb_array"``, ``"svg"``, ``"human"`` or None.
            illegal_action: what an illegal action does. ``"lose"``: its agent loses, -1 against +1. ``"raise"``: an
                ``IllegalActionError``, and nothing changes.
            obs_layout: ``"CHW"`` (planes first), ``"HWC"`` or ``"flat"``.
            obs_dtype: dtype of observations.
            observation_key: the key of the planes in an observation: ``"observation"``, ``"observations"`` or ``"obs"``.
            mask_key: the key of the mask in an observation: ``"action_mask"`` or ``"mask"``.
            mask_dtype: dtype of the mask: ``"int8"`` (which PettingZoo's tests require), ``"bool"`` or ``"float32"``.
            **options: of the game, e.g. ``size=7``.

        Raises:
            ValueError: an argument that is not allowed; it names what is.
        """
        super().__init__()
        self.game = load_game(game, **options)
        self.metadata = {
            "name": f"{self.game.name}_v{self.game.version}",
            "render_modes": list(RENDER_MODES),
            "is_parallelizable": False,
            "render_fps": FRAMES_PER_SECOND,
        }
        self.illegal_action = check_illegal_action(illegal_action)
        self._format = ObservationFormat(
            self.game,
            obs_layout,
            obs_dtype,
            mask_in_observation=True,
            observation_key=observation_key,
            mask_key=mask_key,
            mask_dtype=mask_dtype,
        )
        self._renderer = Renderer(render_mode, str(self.game))
        self.render_mode = render_mode

        self.possible_agents = list(AGENTS)
        self.agents: list[str] = []
        self.observation_spaces = {agent: self._format.space() for agent in AGENTS}
        self.action_spaces = {agent: spaces.Discrete(self.game.num_actions) for agent in AGENTS}
        self.state_space = self._format.planes_space()
        self._state: State | None = None
        #: Whether the game has ended by an illegal action, which the position does not show.
        self._forfeited = False

    # -- PettingZoo's methods ----------------------------------------------------------------------------------------

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """Return the agent's observation space, the same object each time."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """Return the agent's action space, the same object each time."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Start a game. There is no chance in it, so ``seed`` changes nothing; ``options`` are not looked at."""
        self._state = self.game.new_initial_state()
        self._forfeited = False
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

    def observe(self, agent: str) -> dict[str, npt.NDArray[Any]]:
        """Return the observation of either agent, at any time after ``reset``. The arrays are the caller's to keep."""
        if self._state is None:
            raise ResetNeeded(f"{self}: observe() before reset()")
        planes, mask = self._state.observation_and_mask(_PLAYERS[agent])
        if not self._format.unchanged:
            planes = self._format.of(planes)
        if self._forfeited:
            mask[:] = 0
        if self._format.mask_dtype != np.int8:
            mask = self._format.mask_of(mask)
        return {self._format.observation_key: planes, self._format.mask_key: mask}

    def step(self, action: int | None) -> None:
        """Play ``action`` for ``agent_selection``; None for an agent whose game is over.

        Raises:
            IllegalActionError: the action is none of the game's, or it is illegal and ``illegal_action`` is ``"raise"``.
            ResetNeeded: there is no game, or all agents have left it.
        """
        state = self._state
        if state is None or not self.agents:
            raise ResetNeeded(f"{self}: step() without a game; call reset() first")
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        self._cumulative_rewards[agent] = 0
        if state.try_apply_action(action):  # type: ignore[arg-type]
            player = state.current_player()
            if player >= 0:
                self.agent_selection = AGENTS[player]
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
        self.rewards = dict(zip(AGENTS, returns, strict=True))
        self.terminations = dict.fromkeys(AGENTS, not truncated)
        self.truncations = dict.fromkeys(AGENTS, truncated)
        self._accumulate_rewards()
        self._deads_step_first()

    def state(self) -> npt.NDArray[Any]:
        """Return the position as player 0 sees it, in ``state_space``."""
        if self._state is None:
            raise ResetNeeded(f"{self}: state() before reset()")
        return self._format.of(self._state.observation_tensor(0))

    def render(self) -> str | npt.NDArray[np.uint8] | None:
        """Return the position as ``render_mode`` says (see :mod:`stoneworks.envs.rendering`)."""
        if self._state is None:
            raise ResetNeeded(f"{self}: render() before reset()")
        return self._renderer.render(self._state)

    def close(self) -> None:
        """Close the window of the mode ``human``."""
        self._renderer.close()

    # -- Beyond PettingZoo -------------------------------------------------------------------------------------------

    @property
    def game_state(self) -> State:
        """A copy of the position, for search: a ``stoneworks.envs.rules.State``."""
        if self._state is None:
            raise ResetNeeded(f"{self}: game_state before reset()")
        return self._state.clone()
