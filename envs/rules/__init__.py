"""The rules core: games, positions, and batches of games. Depends on numpy, numba and lazy_loader only."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
