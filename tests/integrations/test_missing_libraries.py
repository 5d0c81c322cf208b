"""Libraries are imported only on use, and a missing one is an error that says what to install."""

from __future__ import annotations

import json

from fresh_runs import run_python

#: Module of an adapter, a library that it needs, and what ``pip install`` calls it.
NEEDED = [
    ("openspiel", "pyspiel", "open_spiel"),
    ("sb3", "sb3_contrib", "sb3-contrib"),
    ("rllib", "ray", "ray"),
    ("rllib", "torch", "torch"),
    ("tianshou", "torch", "tianshou"),
    ("pufferlib", "pufferlib", "pufferlib"),
    ("lightzero", "ding", "LightZero"),
]

SCRIPT = """
import importlib, json, sys
errors = []
for module, library, _ in json.loads(sys.argv[1]):
    before = sys.modules.get(library)
    sys.modules[library] = None
    try:
        importlib.import_module(f"stoneworks.integrations.{module}")
    except Exception as error:
        errors.append((type(error).__name__, str(error)))
    else:
        errors.append(("none", ""))
    del sys.modules[library]
    if before is not None:
        sys.modules[library] = before
print(json.dumps(errors))
"""


def test_a_missing_library_is_named_and_the_environments_import_none() -> None:
    found = next(line for line in run_python(SCRIPT, json.dumps(NEEDED)).splitlines() if line.startswith("[["))
    for (module, library, package), (kind, message) in zip(NEEDED, json.loads(found), strict=True):
        assert kind == "MissingLibraryError", (module, library)
        assert "pip install" in message, (module, library)
        assert package in message, (module, library)
    modules = ["integrations", "envs.self_play", "envs.vector", "envs.aec", "envs.single_agent", "envs.drawing"]
    script = f"import sys, {', '.join(f'stoneworks.{name}' for name in modules)}\n"
    script += "stoneworks.envs.drawing.draw(stoneworks.load_game('vadus').new_initial_state())\nprint(*sys.modules)"
    libraries = {"torch", "stable_baselines3", "pyspiel", "ray", "torchrl", "tianshou", "agilerl", "pufferlib"}
    assert (libraries | {"pygame", "resvg_py", "PIL"}).isdisjoint(run_python(script).split())
