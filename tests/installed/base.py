"""Environments, bots, arena, pictures and the command line of the installed package without extras. Run as a script."""

import json
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

assert find_spec("torch") is None, "no extra is installed"

import gymnasium  # noqa: E402
from pettingzoo.test import api_test  # noqa: E402

import stoneworks  # noqa: E402
import stoneworks.envs  # noqa: E402
from stoneworks.envs.drawing import draw  # noqa: E402

assert not any(map(find_spec, ("benchmarks", "tools"))), "they are for maintainers, and not in the wheel"
assert "site-packages" in (stoneworks.__file__ or ""), "the installed package was tested"


def command(*arguments: str, expected: int = 0) -> str:
    """Run the command line, check its exit status, and return what it printed."""
    words = [sys.executable, "-m", "stoneworks", *arguments]
    done = subprocess.run(words, capture_output=True, text=True, input="", check=False)
    assert done.returncode == expected, (arguments, done.stdout, done.stderr)
    assert "Traceback" not in done.stderr, done.stderr
    return done.stdout + done.stderr


for name in stoneworks.game_names():
    module = getattr(stoneworks.envs, f"{name}_v{stoneworks.load_game(name).version}")
    api_test(module.env(), num_cycles=20)

env = gymnasium.make("stoneworks/Vadus-v0", size=4, opponent="greedy")
observation, info = env.reset(seed=0)
assert env.observation_space.contains(observation)
env.step(int(info["action_mask"].argmax()))
vector = gymnasium.make_vec("stoneworks/Laido-v0", num_envs=3, size=3)
vector.reset(seed=0)

game = stoneworks.load_game("vadus(size=3)")
state = game.new_initial_state()
for name in ("random", "greedy", "alphabeta:1", "mcts:20"):
    bot = stoneworks.load_bot(name, game, seed=1)
    state.apply_action(bot.step(state))
assert draw(state).svg.startswith("<svg")
assert draw(state).png(64).startswith(b"\x89PNG")

with tempfile.TemporaryDirectory() as folder:
    options = ("--game", "vadus(size=2)", "--pairs", "4", "--workers", "2", "--folder", f"{folder}/arena")
    command("arena", "random", "greedy", *options)
    assert json.loads(Path(folder, "arena", "results.json").read_text(encoding="utf-8"))
assert "vadus" in command("games")
assert "play" in command(expected=2), "it shows what one can do"
# What needs an extra says which one.
for arguments in (("train", "vadus-5"), ("match", "vadus", "random", "--game", "vadus(size=5)")):
    assert "stoneworks[train]" in command(*arguments, expected=2), arguments
print("ok")
