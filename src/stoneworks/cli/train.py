"""The commands ``train`` and ``report``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer


def train(
    config: Annotated[str, typer.Argument(help="A built-in configuration, such as vadus-5, or a YAML file.")],
    folder: Annotated[Path | None, typer.Option(help="Run folder (default: runs/<configuration>).")] = None,
    positions: Annotated[int | None, typer.Option(help="AlphaZero: total number of training positions.")] = None,
    frames: Annotated[int | None, typer.Option("--frames", "--steps", help="PPO: total number of frames.")] = None,
    overrides: Annotated[
        list[str] | None, typer.Option("--set", help="Override a key, e.g. network.channels=32; can be repeated.")
    ] = None,
    cluster: Annotated[
        str | None, typer.Option(help="AlphaZero: play on a Ray cluster: auto, or HOST:PORT of its head node.")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Resume the run in the folder from its checkpoint.")] = False,
    trust_names: Annotated[
        bool,
        typer.Option(
            "--trust-names",
            help="Allow names in the configuration file to start programs and to refer to files outside of its folder.",
        ),
    ] = False,
) -> None:
    """Train an agent by self-play and write its report. Ctrl-C saves a checkpoint; --resume continues."""
    from stoneworks.models.description import CheckpointError
    from stoneworks.training.runs.config_files import load_config
    from stoneworks.training.runs.display import train as train_and_report

    given = list(overrides or [])
    options = {"positions": positions, "frames": frames, "cluster": cluster}
    given += [f"{key}={json.dumps(value)}" for key, value in options.items() if value is not None]
    run_folder = folder or Path("runs") / Path(config).stem
    if resume and not run_folder.is_dir():
        raise CheckpointError(f"--resume needs the folder of an earlier run; {run_folder} does not exist")
    loaded = load_config(config, given, trust_names=trust_names)
    result = train_and_report(loaded, run_folder, resume=resume)
    print(f"the report is {run_folder / 'report.md'}")
    print(f"{result.done} {loaded.unit} in {result.seconds:.0f} seconds; the checkpoint is {result.checkpoint}")
    if result.done > loaded.total:
        print(f"the run has {result.done - loaded.total} {loaded.unit} more than {loaded.total}")
    if not result.finished:
        raise typer.Exit(130)


def report(folder: Annotated[Path, typer.Argument(help="Run folder; the run may still be in progress.")]) -> None:
    """Write report.md into a run folder: scores, losses, speed, and pictures of games."""
    from stoneworks.training.runs.report import write_report

    print(f"the report is {write_report(folder)}")
