"""The commands ``train``, ``report``, ``average`` and ``ship``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from stoneworks.cli.options import with_option_groups


def train(
    config: Annotated[str, typer.Argument(help="A built-in configuration, such as vadus-5, or a YAML file.")],
    folder: Annotated[Path | None, typer.Option(help="Run folder (default: runs/<configuration>).")] = None,
    positions: Annotated[int | None, typer.Option(help="AlphaZero: total number of training positions.")] = None,
    frames: Annotated[int | None, typer.Option("--frames", "--steps", help="PPO: total number of frames.")] = None,
    overrides: Annotated[
        list[str] | None, typer.Option("--set", help="Override a key, e.g. network.channels=32; can be repeated.")
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option(help="AlphaZero: play on a Ray cluster: auto, or HOST:PORT of its head node."),
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
    given += [f"{key}={value}" for key, value in options.items() if value is not None]
    run_folder = folder or Path("runs") / Path(config).stem
    if resume and not run_folder.is_dir():
        raise CheckpointError(f"--resume needs the folder of an earlier run; {run_folder} does not exist")
    loaded = load_config(config, given, trust_names=trust_names)
    result = train_and_report(loaded, run_folder, resume=resume)
    print(f"the report is {run_folder / 'report.md'}")
    print(f"{result.done} {loaded.unit} in {result.seconds:.0f} seconds; the checkpoint is {result.checkpoint}")
    if not result.finished:
        raise typer.Exit(130)


def report(
    folder: Annotated[Path, typer.Argument(help="Run folder; the run may still be in progress.")],
) -> None:
    """Write report.md into a run folder: scores, losses, speed, and pictures of games."""
    from stoneworks.training.runs.report import write_report

    print(f"the report is {write_report(folder)}")


def average(
    checkpoints: Annotated[
        list[str], typer.Argument(help="Folders of at least two checkpoints, or names of shipped ones.")
    ],
    into: Annotated[Path, typer.Option(help="New folder; the checkpoint is written to checkpoint/ in it.")],
) -> None:
    """Write a checkpoint with the mean of the weights of several checkpoints of one game and network."""
    from stoneworks.training.runs.averaging import average_checkpoints

    print(f"the checkpoint is {average_checkpoints(checkpoints, into)}")


@dataclass(frozen=True)
class _MatchOptions:
    """The final matches."""

    pairs: Annotated[int, typer.Option(min=1, help="Pairs of games per final match.")] = 100
    other_games: Annotated[
        list[str] | None, typer.Option("--other-game", help="Game to play the same matches on; can be repeated.")
    ] = None
    other_pairs: Annotated[int, typer.Option(min=1, help="Pairs of games per match on other games.")] = 20
    policy_opponents: Annotated[
        list[str] | None, typer.Option("--policy-opponent", help="Opponent of the policy; can be repeated.")
    ] = None
    search_opponents: Annotated[
        list[str] | None, typer.Option("--search-opponent", help="Opponent of the search; can be repeated.")
    ] = None
    simulations: Annotated[int, typer.Option(min=1, help="Simulations of the search.")] = 64
    seed: Annotated[int, typer.Option(min=0, help="Seed of the matches.")] = 0


@with_option_groups
def ship(
    folder: Annotated[Path, typer.Argument(help="Run folder.")],
    name: Annotated[
        str,
        typer.Option(
            "--as", help="Name for load_bot: the name of the game, optionally followed by a hyphen and a suffix."
        ),
    ],
    options: _MatchOptions,
    into: Annotated[Path | None, typer.Option(help="Folder of checkpoints (default: the shipped ones).")] = None,
    weaknesses: Annotated[str, typer.Option(help="Known weaknesses, for the model card.")] = "",
    workers: Annotated[
        int | None, typer.Option(min=1, help="Number of worker processes (default: one per core).")
    ] = None,
) -> None:
    """Play the final matches of a run and install its checkpoint, without training state, under a name for load_bot.

    Ctrl-C keeps the finished games; the same command resumes.
    """
    from stoneworks.cli.console import progress_bar
    from stoneworks.models.machine import num_processors
    from stoneworks.models.shipped import shipped_folder
    from stoneworks.training.runs.final_matches import FinalMatches
    from stoneworks.training.runs.shipping import ship as ship_run

    policy, search = options.policy_opponents, options.search_opponents
    matches = FinalMatches(
        None if policy is None else tuple(policy),
        None if search is None else tuple(search),
        simulations=options.simulations,
        num_pairs=options.pairs,
        other_games=tuple(options.other_games or ()),
        other_pairs=options.other_pairs,
        seed=options.seed,
    )
    with progress_bar() as show:
        target = ship_run(
            folder,
            name,
            into=into or shipped_folder(),
            matches=matches,
            weaknesses=weaknesses,
            workers=workers or num_processors(),
            progress=show,
        )
    print(f"the checkpoint is {target}")
