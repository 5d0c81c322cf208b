"""Window of the render mode ``human``. Requires pygame-ce (extra ``human``), imported when a window opens."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from stoneworks.extras import require_extra


class Window:
    """A window that shows images at up to ``frames_per_second``. Several windows may be open at once."""

    def __init__(self, title: str, frames_per_second: int) -> None:
        with require_extra("human", "windows"):
            import pygame

        self._pygame: Any = pygame
        self._title = title
        self._frames_per_second = frames_per_second
        self._window: Any = None
        self._clock = pygame.time.Clock()

    def show(self, image: npt.NDArray[np.uint8]) -> None:
        """Show an image, ``uint8[height, width, 3]``."""
        height, width, _ = image.shape
        if self._window is None:
            self._window = self._pygame.Window(self._title, (width, height))
        elif self._window.size != (width, height):
            self._window.size = (width, height)
        self._pygame.surfarray.blit_array(self._window.get_surface(), image.swapaxes(0, 1))
        self._pygame.event.pump()
        self._window.flip()
        self._clock.tick(self._frames_per_second)

    def close(self) -> None:
        """Close the window."""
        if self._window is not None:
            self._window.destroy()
            self._window = None
