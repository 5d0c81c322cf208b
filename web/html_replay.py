"""Standalone game replays: a single HTML file, or the output of a notebook cell."""

from __future__ import annotations

import base64
import gzip
import hashlib
import html
import json
import os
import re
from collections.abc import Iterable
from importlib import resources
from pathlib import Path
from typing import Any

from stoneworks.envs.drawing import Drawing, draw
from stoneworks.envs.rules import State, load_game
from stoneworks.evaluation.records import GameRecord, read_records
from stoneworks.files import write_whole

_NOTEBOOK_HEIGHT_PIXELS = 720


class Replay:
    """An interactive replay of games, with players and results. Displayed automatically in notebooks."""

    def __init__(self, games: State | GameRecord | str | os.PathLike[str] | Iterable[State | GameRecord]) -> None:
        """Create a replay.

        Args:
            games: a state (its history is replayed), a record, an iterable of these, or the path of a record file.

        Raises:
            ValueError: there is no game, a record contains an illegal action, a state's history does not begin at the
                initial state, or the file cannot be read.
        """
        if isinstance(games, (str, os.PathLike)):
            games = read_records(games)
        chosen = [*games] if isinstance(games, Iterable) and not isinstance(games, GameRecord) else [games]
        if not chosen:
            raise ValueError("games must contain at least one game, got none")
        self._games = [_frames_of(_record_of(game)) for game in chosen]

    def to_html(self) -> str:
        """Return a self-contained HTML document."""
        script = _static("replay_controls.js").replace("export ", "") + _static("replay.js")
        style = _static("replay.css")
        games = json.dumps(self._games, separators=(",", ":"), ensure_ascii=False)
        data = base64.b64encode(gzip.compress(games.encode(), mtime=0)).decode()
        policy = f"default-src 'none'; script-src {_hash_of(script)}; style-src {_hash_of(style)}"
        return (
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            f"<title>{html.escape(self._title())}</title>\n<style>{style}</style>\n</head>\n<body>\n"
            f'<script type="text/plain" id="games">{data}</script>\n'
            f'<script type="module">{script}</script>\n</body>\n</html>\n'
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the HTML document to a file atomically. Raises ``OSError`` if the file cannot be written."""
        write_whole(Path(path), self.to_html())

    def _title(self) -> str:
        if len(self._games) == 1:
            return f"{self._games[0]['game']}: {' – '.join(self._games[0]['players'])}"
        return f"{len(self._games)} games"

    def _repr_html_(self) -> str:
        """Return the document in an ``iframe``, which isolates its scripts and styles from the notebook."""
        return (
            f'<iframe srcdoc="{html.escape(self.to_html(), quote=True)}" sandbox="allow-scripts" title="replay of a game"'
            f' style="width:100%;height:{_NOTEBOOK_HEIGHT_PIXELS}px;border:0"></iframe>'
        )

    def __repr__(self) -> str:
        return f"<Replay of {self._title()}>"


def numbers_in(text: str, most: int) -> list[int]:
    """Parse a list of numbers and ranges such as ``1,4,7-9``.

    Raises:
        ValueError: the text is malformed, or a number is not between 1 and ``most``.
    """
    numbers: list[int] = []
    for part in text.split(","):
        found = re.fullmatch(r"\s*([0-9]{1,9})(?:\s*-\s*([0-9]{1,9}))?\s*", part, re.ASCII)
        first, last = (int(found[1]), int(found[2] or found[1])) if found else (0, 0)
        if not 1 <= first <= last <= most:
            raise ValueError(f"games must be numbers from 1 to {most} such as '1,4,7-9', got {text!r}")
        numbers.extend(range(first, last + 1))
    return numbers


def _record_of(game: Any) -> GameRecord:
    if isinstance(game, GameRecord):
        return game
    if not isinstance(game, State):
        raise ValueError(f"games must be states, records of games, or the path of a file, got {game!r}")
    colors = game.get_game().colors
    return GameRecord.of_state(game, (colors[game.color_of(0)], colors[game.color_of(1)]))


def _frames_of(record: GameRecord) -> dict[str, Any]:
    """Return a game with the SVG of each position."""
    final = record.replay()
    game = load_game(record.game)
    state = game.new_initial_state()
    frames, movers = [svg_without_style(draw(state))], []
    for action in final.history():
        movers.append(state.current_player())
        state.apply_action(action)
        frames.append(svg_without_style(draw(state)))
    return {
        "game": record.game,
        "players": list(record.players),
        "colors": [game.colors[final.color_of(player)] for player in (0, 1)],
        "winner": record.winner,
        "reason": record.reason,
        "why": explanation.text if (explanation := final.explain_result()) else "",
        "actions": list(record.actions),
        "movers": movers,
        "frames": frames,
    }


def svg_without_style(drawing: Drawing) -> str:
    """Return a picture without its inline style, which content security policies forbid."""
    return drawing.svg.replace(' style="max-width:100%;height:auto"', "", 1)


def _static(name: str) -> str:
    return (resources.files("stoneworks.web") / "static" / name).read_text(encoding="utf-8")


def _hash_of(content: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}'"
