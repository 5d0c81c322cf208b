"""Stoneworks environments: PettingZoo AEC and Gymnasium environments over the shared rules core.

``import stoneworks`` imports this package, which registers every game with Gymnasium (``stoneworks/Vadus-v0``) and PettingZoo
(``stoneworks/vadus-v0``). ``stoneworks.envs.vadus_v0`` and the like are PettingZoo environment modules with ``env`` and
``raw_env``. All names are imported lazily, on first use.
"""

import lazy_loader

from stoneworks.envs.gymnasium_ids import register

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

register()
