"""Names for the environments in Gymnasium's and PettingZoo's registries."""

from __future__ import annotations

from stoneworks.envs.rules import game_names

VERSION = 0


def register() -> None:
    """Register every game where the registries exist: ``stoneworks/Vadus-v0`` and ``stoneworks/vadus-v0``, and so on."""
    try:
        import gymnasium
    except ImportError:  # the rules core, search and training of networks do without
        return
    for name in game_names():
        gymnasium.register(
            f"stoneworks/{name.capitalize()}-v{VERSION}",
            entry_point="stoneworks.envs.single_agent:SingleAgentEnv",
            vector_entry_point="stoneworks.envs.vector:VectorEnv",
            kwargs={"game": name},
        )
    try:
        from pettingzoo import register as register_pettingzoo  # PettingZoo has had a registry since 1.27
    except ImportError:
        return
    for name in game_names():
        register_pettingzoo(
            "aec", f"stoneworks/{name}-v{VERSION}", entry_point=f"stoneworks.envs.{name}_v{VERSION}:env"
        )
