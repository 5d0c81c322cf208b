"""Render modes of the environments, and the window of the mode ``human``. Modules that need a display are imported on demand."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium.error import ResetNeeded

from stoneworks.checks import check_choice
from stoneworks.envs.drawing import draw
from stoneworks.envs.rules import State
from stoneworks.extras import require_extra

RENDER_MODES = ("ansi", "rgb_array", "svg", "human")
FRAMES_PER_SECOND = 2


class Renderer:
    """Renders positions in one render mode; manages the window of the mode ``human``."""

    def __init__(self, mode: str | None, title: str) -> None:
        """Create the renderer. Raises ``ValueError`` if the mode is not in ``RENDER_MODES``."""
        self.mode = check_choice("render_mode", mode, (*RENDER_MODES, None))
        self._title = title
        self._window: Any = None
        self._clock: Any = None

    def render(self, state: State) -> str | npt.NDArray[np.uint8] | None:
        """Return the position as text (``ansi``, ``svg``) or as ``uint8[height, width, 3]`` (``rgb_array``), or show it."""
        if self.mode is None:
            gymnasium.logger.warn("render() needs a render_mode, which is given when the environment is created")
            return None
        if self.mode == "ansi":
            return str(state)
        if self.mode == "svg":
            return draw(state).svg
        picture: npt.NDArray[np.uint8] = draw(state).rgb_array()
        if self.mode == "rgb_array":
            return picture
        self._show(picture)
        return None

    def _show(self, image: npt.NDArray[np.uint8]) -> None:
        """Show an image in this renderer's window; several may be open at once."""
        with require_extra("human", "windows"):
            import pygame
        height, width, _ = image.shape
        if self._window is None:
            self._window, self._clock = pygame.Window(self._title, (width, height)), pygame.time.Clock()
        elif self._window.size != (width, height):
            self._window.size = (width, height)
        pygame.surfarray.blit_array(self._window.get_surface(), image.swapaxes(0, 1))
        pygame.event.pump()
        self._window.flip()
        self._clock.tick(FRAMES_PER_SECOND)

    def close(self) -> None:
        """Close the window, if open."""
        if self._window is not None:
            self._window.destroy()
            self._window = None

    def __getstate__(self) -> dict[str, Any]:
        """Exclude the window from copies and pickles."""
        return {**self.__dict__, "_window": None, "_clock": None}


class RenderedGame:
    """Base class of the environments of a single game, with its position and its rendering."""

    _renderer: Renderer
    _state: State | None

    def _position(self, use: str) -> State:
        """Return the position for the method or property ``use``.

        Raises:
            ResetNeeded: called before ``reset``.
        """
        if self._state is None:
            raise ResetNeeded(f"{self}: {use} before reset()")
        return self._state

    @property
    def game_state(self) -> State:
        """A copy of the position as a ``stoneworks.envs.rules.State``, e.g. for search.

        Raises:
            ResetNeeded: called before ``reset``.
        """
        return self._position("game_state").clone()

    def render(self) -> str | npt.NDArray[np.uint8] | None:
        """Return the position as ``render_mode`` says: text or ``uint8[height, width, 3]`` (see :mod:`stoneworks.envs.rendering`).

        Raises:
            ResetNeeded: called before ``reset``.
        """
        return self._renderer.render(self._position("render()"))

    def close(self) -> None:
        """Close the window, if ``render_mode`` is ``"human"``."""
        self._renderer.close()
