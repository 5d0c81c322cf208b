"""How much one server takes on."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Bounds of what requests may ask for.

    Attributes:
        body_bytes: of the body of a request.
        games: kept in the data folder.
        nodes: positions kept of one game, its variations included.
        comment_characters: of one comment.
        cells: of a board's grid.
        imported_records: in one import.
        thinking_seconds: of one request to a bot.
        simulations: of a search, in the name of a bot.
        depth_turns: of an alpha-beta search, in the name of a bot.
        waiting_requests: for a free worker process.
        curve_positions: valued in one request.
        file_bytes: of a watched file; larger ones are listed and not opened.
        watched_sources: found in the watched folders.
        rows: of a table in one answer.
    """

    body_bytes: int = 1_000_000
    games: int = 10_000
    nodes: int = 20_000
    comment_characters: int = 4_000
    cells: int = 2_000
    imported_records: int = 200
    thinking_seconds: float = 60.0
    simulations: int = 100_000
    depth_turns: int = 4
    waiting_requests: int = 256
    curve_positions: int = 16
    file_bytes: int = 64_000_000
    watched_sources: int = 2_000
    rows: int = 200
