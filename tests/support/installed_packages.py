"""What an installed package with games and bots consists of."""

from __future__ import annotations

from pathlib import Path

#: A module with a bot that plays the last legal action, ``LastBot``.
LAST_BOT = """
from stoneworks.models import Bot, BotEntry

class LastBot(Bot):
    def __init__(self, game, seed):
        pass
    def step_with_policy(self, state):
        return [(state.legal_actions()[-1], 1.0)], state.legal_actions()[-1]
"""


def install(folder: Path, package: str, entry_points: str, **modules: str) -> Path:
    """Lay down modules and metadata."""
    metadata = folder / f"{package.replace('-', '_')}-1.0.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n", encoding="utf-8")
    (metadata / "entry_points.txt").write_text(entry_points, encoding="utf-8")
    for name, source in modules.items():
        (folder / f"{name}.py").write_text(source, encoding="utf-8")
    return folder
