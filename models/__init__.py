"""Everything that chooses a move: bots, searches, networks, and saved checkpoints. All names are imported on first use."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
