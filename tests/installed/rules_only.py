"""The rules core of the installed package where only numpy, numba and lazy_loader are installed. Run as a script."""

import sys
from importlib.util import find_spec

assert not any(map(find_spec, ("gymnasium", "pettingzoo", "torch", "rich", "typer", "yaml"))), (
    "the rules need none of them"
)

from stoneworks import load_game  # noqa: E402
from stoneworks.envs.rules import Batch, game_names  # noqa: E402

for name in game_names():
    returns, lengths = Batch(load_game(name), 4, seed=0).random_playouts()
    assert (lengths > 0).all(), name
    assert (returns.sum(axis=1) == 0).all(), name
    print(name, lengths.tolist())
assert "site-packages" in (sys.modules["stoneworks.envs.rules"].__file__ or ""), "the installed package was tested"
