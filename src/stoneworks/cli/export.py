"""The command ``export``."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class Format(StrEnum):
    """Formats of exported networks."""

    ONNX = "onnx"


def export(
    agent: Annotated[str, typer.Argument(help="Name of a shipped agent, such as 'vadus', or folder of a checkpoint.")],
    format: Annotated[Format, typer.Option(help="Format of the file.")] = Format.ONNX,
    output: Annotated[
        Path | None, typer.Option(help="File to write (default: the name of the agent or folder, in this folder).")
    ] = None,
) -> None:
    """Export the network of an agent, for boards of any size; 'policy:FILE' plays it."""
    from stoneworks.models import BotSpec, UnknownBotError, load_checkpoint
    from stoneworks.models.inference.onnx_export import export_checkpoint

    spec = BotSpec.parse(agent)
    folder = spec.checkpoint
    if folder is None or spec.budget is not None:
        raise UnknownBotError(
            f"agent must be a shipped agent or the folder of a checkpoint, without a search, got {agent!r}"
        )
    checkpoint = load_checkpoint(folder)
    path = Path(f"{folder.resolve().name}.{format}") if output is None else output
    export_checkpoint(checkpoint, path)
    print(f"{path}: plays {checkpoint.game.name}, trained on {checkpoint.game}")
