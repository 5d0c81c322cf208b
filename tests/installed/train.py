"""A short run of each algorithm with the installed package and its extra ``train``. Run as a script."""

import subprocess
import sys
import tempfile
from pathlib import Path

with tempfile.TemporaryDirectory() as folder:
    for config, overrides in {
        "vadus-5-demo": ("positions=200", "positions_per_iteration=100", "processes=0", "matches.num_pairs=1"),
        "vadus-5-ppo": ("frames=512",),
    }.items():
        run = Path(folder) / config
        settings = [word for override in ("game=vadus(size=2)", *overrides) for word in ("--set", override)]
        subprocess.run(
            [sys.executable, "-m", "stoneworks", "train", config, "--folder", str(run), *settings], check=True
        )
        assert (run / "checkpoint" / "model.safetensors").is_file()

    from stoneworks import load_bot, load_game

    game = load_game("vadus(size=2)")
    bot = load_bot(f"{Path(folder) / 'vadus-5-demo' / 'checkpoint'}@8", game, seed=0)
    state = game.new_initial_state()
    while not state.is_terminal():
        state.apply_action(bot.step(state))
print("ok")
