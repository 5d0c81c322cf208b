"""The window of the render mode ``human``. Importing this module imports pygame (the extra ``human``)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pygame

from stoneworks.envs.rendering import FRAMES_PER_SECOND


class Window:
    """A window that shows pictures, at most ``FRAMES_PER_SECOND`` a second."""

    def __init__(self, title: str) -> None:
        pygame.display.init()
        pygame.display.set_caption(title)
        self._surface: pygame.Surface | None = None
        self._clock = pygame.time.Clock()

    def show(self, picture: npt.NDArray[np.uint8]) -> None:
        """Show ``uint8[height, width, 3]``."""
        height, width, _ = picture.shape
        if self._surface is None or self._surface.get_size() != (width, height):
            self._surface = pygame.display.set_mode((width, height))
        pygame.surfarray.blit_array(self._surface, picture.swapaxes(0, 1))
        pygame.event.pump()
        pygame.display.flip()
        self._clock.tick(FRAMES_PER_SECOND)

    def close(self) -> None:
        """Close the window."""
        pygame.display.quit()
