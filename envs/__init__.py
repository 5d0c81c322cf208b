"""Stoneworks environments: PettingZoo AEC and Gymnasium environments over the shared rules core.

Importing this package registers ``stoneworks/Vadus-v0`` and the like with Gymnasium, and ``stoneworks/vadus-v0`` and the
like with PettingZoo.
"""

from stoneworks.envs.registration import register

register()
