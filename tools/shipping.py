"""Shipping: the folder of a checkpoint that is included in stoneworks. Command line: ``python -m tools.shipping --help``."""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from stoneworks.cli.console import progress_bar
from stoneworks.cli.main import run
from stoneworks.cli.options import with_option_groups
from stoneworks.files import write_whole
from stoneworks.models import shipped
from stoneworks.models.checkpoint import (
    METADATA_FILE,
    TRAINING_FILE,
    WEIGHTS_FILE,
    Checkpoint,
    CheckpointError,
    load_checkpoint,
    replace_folder,
)
from stoneworks.models.machine import num_processors
from stoneworks.models.shipped import CARD_FILE, MATCHES_FILE
from stoneworks.reading import read_bytes, read_json
from stoneworks.training.runs.hardware import torch_threads
from stoneworks.training.runs.run_folder import CHECKPOINT_FOLDER, algorithm_of, check_training
from tools.final_matches import GAMES_FOLDER, FinalMatches, play_final_matches
from tools.model_card import model_card

#: Maximum size of the weights of a shipped checkpoint.
MAX_WEIGHTS_BYTES = 16 * 2**20


def ship(
    run_folder: str | Path,
    name: str,
    *,
    into: str | Path,
    matches: FinalMatches | None = None,
    weaknesses: str = "",
    other_run: str = "",
    workers: int = 1,
    progress: Callable[[str, int, int], None] | None = None,
) -> Path:
    """Play the final matches of a run's checkpoint, and write the shipped checkpoint to the folder ``into / name``.

    The folder contains the weights, ``checkpoint.json``, ``matches.json`` and the model card, without the training state. It is
    written atomically and replaces an existing one. The games are kept in the folder of the run, so that a call after an
    interruption plays only the missing ones.

    Args:
        run_folder: the folder of the run.
        name: name for :func:`stoneworks.models.load_bot`: the game's name, optionally followed by a hyphen and a suffix.
        into: the folder of the shipped checkpoints (see :func:`stoneworks.models.shipped.shipped_folder`).
        matches: the final matches.
        weaknesses: description of known weaknesses, for the model card.
        other_run: results of another run of the same command, for the model card.
        workers: number of processes that play the matches.
        progress: called after each chunk of games with a description, the number of finished games and the total.

    Returns:
        The new folder.

    Raises:
        ArenaPlayError: a player failed. Finished games are kept.
        CheckpointError: there is no complete checkpoint, its algorithm is not registered, or its weights are too large.
        InUseError: another process is playing the same matches.
        UnknownBotError: an opponent's name is unknown.
        ValueError: the name does not match the game, or ``matches`` or ``workers`` is invalid.
    """
    source = Path(run_folder) / CHECKPOINT_FOLDER
    target = Path(into) / name
    with tempfile.TemporaryDirectory() as staging:
        new = Path(staging) / "checkpoint"
        checkpoint = _copy_for_playing(source, new)
        game = checkpoint.game
        if not is_name_for(game.name, name):
            raise ValueError(
                f"name must be {game.name!r}, or {game.name + '-'!r} followed by lower-case letters or digits, got {name!r}"
            )
        with torch_threads(1):  # more threads are slow on a busy machine and do not speed up networks of this size
            final_matches = play_final_matches(
                checkpoint,
                matches or FinalMatches(),
                folder=Path(run_folder) / GAMES_FOLDER,
                workers=workers,
                progress=progress,
            )
        write_whole(new / MATCHES_FILE, _json(final_matches))
        write_whole(new / CARD_FILE, model_card(name, checkpoint, final_matches, weaknesses, other_run))
        _install(new, target)
    return target


def _install(new: Path, target: Path) -> None:
    """Copy the folder ``new`` to ``target``, atomically."""
    target.parent.mkdir(parents=True, exist_ok=True)
    beside = Path(tempfile.mkdtemp(prefix=f".{target.name}.", suffix=".tmp", dir=target.parent))
    try:
        shutil.copytree(new, beside, dirs_exist_ok=True)
        replace_folder(beside, target)
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def is_name_for(game: str, name: str) -> bool:
    """Return whether a checkpoint of the game named ``game`` can be shipped under ``name``."""
    return re.fullmatch(rf"{game}(-[a-z0-9]+)*", name) is not None


def _copy_for_playing(source: Path, folder: Path) -> Checkpoint:
    """Copy the checkpoint ``source`` without the training state, and return the copy as read from ``folder``."""
    file = source / METADATA_FILE
    load_checkpoint(source)
    description = read_json(file, CheckpointError)
    training = description["training"]
    check_training(training, algorithm_of(training, source).unit, source)
    weights = read_bytes(source / WEIGHTS_FILE, CheckpointError)
    if len(weights) > MAX_WEIGHTS_BYTES:
        raise CheckpointError(
            f"{source / WEIGHTS_FILE} must have at most {MAX_WEIGHTS_BYTES:,} bytes to be shipped, got {len(weights):,}"
        )
    description["files"].pop(TRAINING_FILE, None)
    training.pop("random_state", None)
    folder.mkdir()
    (folder / METADATA_FILE).write_text(_json(description), encoding="utf-8")
    (folder / WEIGHTS_FILE).write_bytes(weights)
    return load_checkpoint(folder)


def _json(values: Mapping[str, Any]) -> str:
    return json.dumps(values, indent=2, allow_nan=False) + "\n"


# -- Command line --------------------------------------------------------------------------------------------------------

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)


@dataclass(frozen=True)
class _MatchOptions:
    """The final matches."""

    pairs: Annotated[int, typer.Option(min=1, help="Pairs of games per final match.")] = 100
    other_games: Annotated[
        list[str] | None, typer.Option("--other-game", help="Game to play the same matches on; can be repeated.")
    ] = None
    other_pairs: Annotated[int, typer.Option(min=1, help="Pairs of games per match on other games.")] = 20
    slow_opponents: Annotated[
        list[str] | None, typer.Option("--slow-opponent", help="Opponent with fewer games; can be repeated.")
    ] = None
    slow_pairs: Annotated[int, typer.Option(min=1, help="Pairs of games per match with these.")] = 30
    policy_opponents: Annotated[
        list[str] | None, typer.Option("--policy-opponent", help="Opponent of the policy; can be repeated.")
    ] = None
    search_opponents: Annotated[
        list[str] | None, typer.Option("--search-opponent", help="Opponent of the search; can be repeated.")
    ] = None
    simulations: Annotated[int, typer.Option(min=1, help="Simulations of the search.")] = 64
    seed: Annotated[int, typer.Option(min=0, help="Seed of the matches.")] = 0


@app.command()
@with_option_groups
def command(
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
    other_run: Annotated[
        str, typer.Option(help="Results of another run of the same command, for the model card.")
    ] = "",
    workers: Annotated[
        int | None, typer.Option(min=1, help="Number of worker processes (default: one per core).")
    ] = None,
) -> None:
    """Play the final matches of a run and install its checkpoint, without training state, under a name for load_bot.

    Ctrl-C keeps the finished games; the same command resumes.
    """
    matches = FinalMatches(
        policy_opponents=options.policy_opponents,
        search_opponents=options.search_opponents,
        simulations=options.simulations,
        num_pairs=options.pairs,
        other_games=options.other_games or (),
        other_pairs=options.other_pairs,
        slow_opponents=options.slow_opponents or (),
        slow_pairs=options.slow_pairs,
        seed=options.seed,
    )
    with progress_bar() as show:
        target = ship(
            folder,
            name,
            into=into or shipped.shipped_folder(),
            matches=matches,
            weaknesses=weaknesses,
            other_run=other_run,
            workers=workers or num_processors(),
            progress=show,
        )
    print(f"the checkpoint is {target}")


if __name__ == "__main__":
    run(app)
