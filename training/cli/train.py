"""The commands ``train``, ``report`` and ``ship``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from stoneworks.training.runs.algorithms import ALGORITHMS


def train(
    config: Annotated[
        str, typer.Argument(help="A configuration that comes with stoneworks, such as vadus-5, or a YAML file.")
    ],
    folder: Annotated[Path | None, typer.Option(help="Where the run lives; runs/<configuration> by default.")] = None,
    positions: Annotated[int | None, typer.Option(help="AlphaZero: how many positions to learn from in all.")] = None,
    frames: Annotated[
        int | None, typer.Option("--frames", "--steps", help="PPO: how many frames to train on in all.")
    ] = None,
    overrides: Annotated[
        list[str] | None, typer.Option("--set", help="key=value, e.g. network.channels=32; may be repeated.")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on from the checkpoint in the folder.")] = False,
    trust_names: Annotated[
        bool,
        typer.Option(
            "--trust-names", help="Let names in the configuration's file start programs and lead out of its folder."
        ),
    ] = False,
) -> None:
    """Train an agent by self-play as the configuration says, and write its report. Ctrl-C saves; --resume goes on."""
    from stoneworks.training.runs.config import load_config
    from stoneworks.training.runs.display import train_with_display

    given = list(overrides or [])
    given += [f"{key}={value}" for key, value in (("positions", positions), ("frames", frames)) if value is not None]
    run_folder = folder or Path("runs") / Path(config).stem
    loaded = load_config(config, given, trust_names=trust_names)
    result = train_with_display(loaded, run_folder, resume=resume)
    amount = ALGORITHMS[loaded.algorithm].amount
    print(f"the report is {run_folder / 'report.md'}")
    print(f"{result.done} {amount} in {result.seconds:.0f} seconds; the checkpoint is {result.checkpoint}")
    if not result.finished:
        raise typer.Exit(130)


def report(
    folder: Annotated[Path, typer.Argument(help="The folder of a run; it may still be going on.")],
) -> None:
    """Write report.md into the folder of a run: scores, losses, speed, and games with pictures."""
    from stoneworks.training.runs.report import write_report

    print(f"the report is {write_report(folder)}")


def ship(
    folder: Annotated[Path, typer.Argument(help="The folder of a run.")],
    name: Annotated[
        str, typer.Option("--as", help="What load_bot calls it: the game's name, with something after a hyphen or not.")
    ],
    into: Annotated[
        Path | None, typer.Option(help="The folder of checkpoints; by default the one that comes with stoneworks.")
    ] = None,
    pairs: Annotated[int, typer.Option(min=1, help="Pairs of games of each final match.")] = 100,
    policy_opponents: Annotated[
        list[str] | None, typer.Option("--policy-opponent", help="A bot that the policy plays; may be repeated.")
    ] = None,
    search_opponents: Annotated[
        list[str] | None, typer.Option("--search-opponent", help="A bot that the search plays; may be repeated.")
    ] = None,
    simulations: Annotated[int, typer.Option(min=1, help="Of the search.")] = 64,
    weaknesses: Annotated[str, typer.Option(help="Known weaknesses, for the model card.")] = "",
    seed: Annotated[int, typer.Option(min=0, help="Of the openings and the bots of the matches.")] = 0,
) -> None:
    """Play a run's final matches and lay its checkpoint, without what training needs, where load_bot finds it by name."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    from stoneworks.models.shipped import shipped_folder
    from stoneworks.training.runs.shipping import FinalMatches
    from stoneworks.training.runs.shipping import ship as ship_run

    matches = FinalMatches(
        None if policy_opponents is None else tuple(policy_opponents),
        None if search_opponents is None else tuple(search_opponents),
        simulations=simulations,
        num_pairs=pairs,
        seed=seed,
    )
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task("", total=2 * pairs)
        target = ship_run(
            folder,
            name,
            into=into or shipped_folder(),
            matches=matches,
            weaknesses=weaknesses,
            progress=lambda what, over, games: progress.update(task, description=what, completed=over, total=games),
        )
    print(f"the checkpoint is {target}")
