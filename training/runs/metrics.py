"""The figures of a run: ``metrics.jsonl``, a line for each iteration or update, and event files for TensorBoard."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

from stoneworks.extras import require_extra
from stoneworks.files import write_whole


def read_metrics(file: Path, amount: str) -> list[dict[str, Any]]:
    """Return the figures in the order of ``amount``, such as ``"positions"``. Without the file there are none.

    Lines that are incomplete, as the last one of a killed run may be, are left out. Where lines repeat an amount, as those of
    runs of earlier versions may after a resume, the later ones count.
    """
    if not file.exists():
        return []
    rows: list[dict[str, Any]] = []
    for line in file.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            row = json.loads(line)
        except json.JSONDecodeError:
            continue
        if not isinstance(row, dict) or not isinstance(row.get(amount), int):
            continue
        while rows and rows[-1][amount] >= row[amount]:
            rows.pop()
        rows.append(row)
    return rows


def truncate_metrics(file: Path, amount: str, done: int) -> None:
    """Remove the figures of what came after ``done``: a run that goes on from there repeats them."""
    if file.exists():
        rows = [row for row in read_metrics(file, amount) if row[amount] <= done]
        write_whole(file, "".join(json.dumps(row) + "\n" for row in rows))


def truncate_events(folder: Path, done: int) -> None:
    """Remove from TensorBoard's event files what came after step ``done``."""
    with require_extra("train", "training runs"):
        from tensorboard.backend.event_processing.event_file_loader import RawEventFileLoader
        from tensorboard.compat.proto.event_pb2 import Event
        from tensorboard.summary.writer.record_writer import RecordWriter

    for file in folder.glob("events.out.tfevents.*"):
        events = list(RawEventFileLoader(str(file)).Load())
        kept = [event for event in events if Event.FromString(event).step <= done]
        if len(kept) < len(events):
            content = io.BytesIO()
            writer = RecordWriter(content)
            for event in kept:
                writer.write(event)
            write_whole(file, content.getvalue())
