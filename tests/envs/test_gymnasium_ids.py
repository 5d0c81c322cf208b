"""The environments are found by import, by Gymnasium and by PettingZoo, in whatever order things are imported."""

from __future__ import annotations

import importlib

import pytest

from fresh_runs import run_each
from stoneworks.envs.rules.game_registry import GAMES

REGISTERED = """
import pettingzoo, sys
gymnasium.spec("stoneworks/Vadus-v0"), gymnasium.spec("stoneworks/Laido-v0")
assert not [finder for finder in sys.meta_path if "Register" in type(finder).__name__], "no finder stays behind"
"""
USE = """
env = gymnasium.make("stoneworks/Vadus-v0", size=3)
assert env.reset(seed=0)[0].shape == (6, 5, 5)
assert gymnasium.make_vec("stoneworks/Laido-v0", num_envs=2, size=3).num_envs == 2
import pettingzoo
if hasattr(pettingzoo, "make"):  # since 1.27
    pettingzoo.make("aec", "stoneworks/vadus-v0", size=3).reset()
"""
ORDERS = [
    "import gymnasium, stoneworks.envs",
    "import stoneworks.envs, gymnasium",
    "import stoneworks.envs.rules, gymnasium",
    "import stoneworks, gymnasium; stoneworks.load_game('vadus')",
    "import stoneworks; stoneworks.load_game('vadus'); import gymnasium",
    "import pettingzoo, gymnasium; import stoneworks.envs",
    "import gymnasium; gymnasium.make('stoneworks.envs:stoneworks/Vadus-v0')",
    "import stoneworks.envs.rules, gymnasium; gymnasium.make('stoneworks.envs:stoneworks/Vadus-v0')",
    "import importlib.util, stoneworks.envs; importlib.util.find_spec('gymnasium'); import gymnasium",
    "import gymnasium, stoneworks; gymnasium.register_envs(stoneworks)",
    "import stoneworks, gymnasium; gymnasium.register_envs(stoneworks); gymnasium.make('stoneworks/Laido-v0', size=4)",
    "import gymnasium; gymnasium.make('stoneworks:stoneworks/Vadus-v0')",
]
IMPORTS = [
    "import stoneworks.envs.vadus_v0; stoneworks.envs.vadus_v0.env(size=3)",
    "import importlib; importlib.import_module('stoneworks.envs.taugo_v0').raw_env(size=3)",
    "import stoneworks; stoneworks.envs.taigo_v0.env",
    "from stoneworks.envs import trugo_v0; assert trugo_v0.__name__ == 'stoneworks.envs.trugo_v0'; assert trugo_v0.__doc__",
]


def test_the_environments_are_registered_in_whatever_order_things_are_imported() -> None:
    codes = [f"{order}\n{REGISTERED}{USE if number < 2 else ''}" for number, order in enumerate(ORDERS)] + IMPORTS
    results = dict(zip([*ORDERS, *IMPORTS], run_each(codes), strict=True))
    assert {order: printed for order, (status, printed) in results.items() if status or "Overriding" in printed} == {}


@pytest.mark.parametrize("name", GAMES.built_in_names())
def test_each_game_has_an_environment_module_of_its_version(name: str) -> None:
    module = importlib.import_module(f"stoneworks.envs.{name}_v{GAMES[name].version}")
    assert module.env().metadata["name"] == f"{name}_v{GAMES[name].version}"
