"""Resource limits of the web server."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Upper limits on requests and stored data.

    Attributes:
        body_bytes: size of a request body.
        requests: number of concurrent requests, including those that wait for changes of a game.
        games: number of games in the data folder.
        nodes: number of positions per game, including variations.
        comment_characters: length of a comment.
        cells: number of cells of a board's grid.
        imported_records: number of records per import.
        thinking_seconds: time per bot request.
        simulations: number of simulations in a bot name.
        depth_turns: alpha-beta search depth in a bot name, in turns.
        waiting_requests: number of requests waiting for a worker process.
        curve_positions: number of positions evaluated per request.
        file_bytes: size of a watched file; larger files are listed but cannot be opened.
        watched_sources: number of sources in the watched folders.
        rows: number of table rows per response.
    """

    body_bytes: int = 1_000_000
    requests: int = 1_000
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
