"""The metrics of a run: ``metrics.jsonl``, with one line per iteration or update, and event files for TensorBoard."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

from stoneworks.extras import require_extra
from stoneworks.files import write_whole
from stoneworks.models.checkpoint import CheckpointError
from stoneworks.reading import read_json_lines


def read_metrics(file: Path, amount: str) -> list[dict[str, Any]]:
    """Return the metrics in the order of ``amount``, such as ``"positions"``; an empty sequence if there is no file.

    Incomplete lines, such as the last one of a killed run, and values that are not numbers are skipped. If several lines have
    the same amount, which runs of earlier versions may contain after a resume, the last one is used.

    Raises:
        CheckpointError: the file cannot be read.
    """
    if not file.exists():
        return []
    rows: list[dict[str, Any]] = []
    for line in read_json_lines(file, CheckpointError):
        row = {name: value for name, value in line.items() if isinstance(value, (int, float))}
        if not isinstance(row.get(amount), int):
            continue
        while rows and rows[-1][amount] >= row[amount]:
            rows.pop()
        rows.append(row)
    return rows


def truncate_metrics(file: Path, amount: str, done: int) -> None:
    """Delete the metrics after ``done``: a run that is resumed from there writes them again."""
    if file.exists():
        rows = [row for row in read_metrics(file, amount) if row[amount] <= done]
        write_whole(file, "".join(json.dumps(row) + "\n" for row in rows))


def truncate_events(folder: Path, done: int) -> None:
    """Delete events after step ``done`` from the TensorBoard event files."""
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
