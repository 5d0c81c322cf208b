"""Hex: AlphaZero and PPO of stoneworks and AlphaZero of other libraries, after equal processor time, against each other.

``python -m benchmarks.hex --size 7 --seconds 3600`` trains what is missing in the folder, plays the games that are missing and
prints the table. It can be interrupted and continued; several processes share the training runs, not the games.
"""

from __future__ import annotations

import contextlib
from importlib import metadata
from pathlib import Path
from typing import Annotated

import typer

from benchmarks.learners import Learner
from benchmarks.learners.mctx_hex import MctxAlphaZero
from benchmarks.learners.openspiel_hex import OpenSpielAlphaZero
from benchmarks.learners.ours import AlphaZeroScratch, PPOScratch
from benchmarks.protocol import SIMULATIONS, TOLERANCE
from benchmarks.speed.example_games import load_measured_game
from benchmarks.timed_training import TimedTraining, TrainingState, read_state
from stoneworks.cli.console import console, progress_bar
from stoneworks.cli.main import run
from stoneworks.envs.rules import Game
from stoneworks.evaluation import ArenaResult, ArenaSettings, play_arena, round_robin
from stoneworks.locks import InUseError, lock_folder
from stoneworks.models.machine import processor_name
from stoneworks.training.runs.hardware import torch_threads
from tools.pages import check_block, markdown_table, write_block

#: The trained players.
LEARNERS: dict[str, type[Learner]] = {
    "stoneworks AlphaZero": AlphaZeroScratch,
    "stoneworks PPO": PPOScratch,
    "pgx + mctx AlphaZero": MctxAlphaZero,
    "OpenSpiel AlphaZero": OpenSpielAlphaZero,
}
LIBRARIES = ("torch", "jax", "pgx", "mctx", "open_spiel")
PAUSES = 6
OPENING_ACTIONS = 2
#: Seconds by which a short training run may exceed its budget.
LONGEST_ITERATION_SECONDS = 30

app = typer.Typer(add_completion=False)
messages = console(stderr=True)


def train(learner: type[Learner], game: Game, seconds: float, seed: int, folder: Path) -> None:
    """Train until the budget is spent; skip a training run that another process is running."""
    with contextlib.suppress(InUseError), lock_folder(folder), torch_threads(1):
        if read_state(folder / "training").points == PAUSES:
            return
        training = TimedTraining(learner, game, seed, seconds, folder / "training")
        while (state := training.state).points < PAUSES:
            messages.print(f"{learner.__name__}: {state.processor_seconds:.0f} s, {state.steps:,} steps")
            training.advance((state.points + 1) / PAUSES * seconds)


def play(game: Game, players: dict[str, str], pairs: int, folder: Path, workers: int) -> ArenaResult:
    """Play the games that are missing: each player against each other, in pairs from random openings."""
    settings = ArenaSettings(
        game=str(game), pairings=round_robin(tuple(players)), num_pairs=pairs, opening_actions=OPENING_ACTIONS
    )
    with progress_bar() as show:
        total = 2 * settings.total_pairs
        return play_arena(
            settings,
            folder,
            players,
            workers=workers,
            progress=lambda result: show("games", result.num_games, total),
        )


def table(result: ArenaResult, states: dict[str, TrainingState]) -> str:
    """Return the scores of the players as Markdown, with the steps of each in training."""
    names = result.settings.players
    heads = ["", "steps", *(f"v {number}" for number in range(1, len(names) + 1))]
    rows = []
    for number, name in enumerate(names, 1):
        cells = [f"{number} {name}", f"{states[name].steps:,}" if name in states else ""]
        for other in names:
            match = next((one for one in result.matches if set(one.names) == {name, other}), None)
            if match is None:
                cells.append("")
                continue
            low, high = match.interval
            score = (match.score, low, high) if match.names[0] == name else (1 - match.score, 1 - high, 1 - low)
            cells.append("{:.0f} % ({:.0f} to {:.0f})".format(*(100 * value for value in score)))
        rows.append(cells)
    return markdown_table(heads, rows)


@app.command()
def main(
    size: Annotated[int, typer.Option(min=2, help="Cells a side.")] = 7,
    seconds: Annotated[float, typer.Option(min=0.1, help="Processor seconds of each training run.")] = 3600,
    pairs: Annotated[int, typer.Option(min=1, help="Pairs of games with swapped seats per match.")] = 50,
    folder: Annotated[
        Path | None, typer.Option(help="Folder of the training runs and games (default: runs/hex-SIZE).")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the training runs.")] = 0,
    workers: Annotated[int, typer.Option(min=1, help="Number of processes that play the games.")] = 1,
    page: Annotated[Path | None, typer.Option(help="The page to write the table into.")] = None,
) -> None:
    """Train the players, let them play, and write the table."""
    game = load_measured_game(f"hex(size={size},swap=False)")
    begin, end = (f"<!-- {word} of hex {size}, by benchmarks.hex -->" for word in ("results", "end of the results"))
    check_block(page, begin, end)
    folder = folder or Path("runs") / (f"hex-{size}-seed-{seed}" if seed else f"hex-{size}")
    for learner in LEARNERS.values():
        train(learner, game, seconds, seed, folder / learner.__name__)
    states = {title: read_state(folder / learner.__name__ / "training") for title, learner in LEARNERS.items()}
    if unfinished := [title for title, state in states.items() if state.points < PAUSES]:
        messages.print(f"another process still trains {', '.join(unfinished)}")
        return
    for title, state in states.items():
        most = max((1 + TOLERANCE) * seconds, seconds + LONGEST_ITERATION_SECONDS)
        if not seconds <= state.processor_seconds <= most:
            raise ValueError(
                f"{title} in {folder} must have been trained for {seconds:g} s, got {state.processor_seconds:.0f} s; "
                "name another folder"
            )
    searches = {"stoneworks AlphaZero": f"@{SIMULATIONS}"}  # the players of other libraries always search
    players = {title: state.player + searches.get(title, "") for title, state in states.items()}
    players["OpenSpiel MCTSBot"] = "openspiel_mcts:1000"
    result = play(game, players, pairs, folder / "games", workers)
    simulations = ", ".join(f"{title} {state.simulations:,}" for title, state in states.items() if state.simulations)
    versions = ", ".join(f"{name} {metadata.version(name)}" for name in LIBRARIES)
    text = (
        f"{table(result, states)}\n`{game}`: {seconds:g} processor seconds of training each, {2 * pairs} games per match "
        f"from {OPENING_ACTIONS} random actions, AlphaZero with {SIMULATIONS} simulations and MCTSBot with 1,000; "
        f"{versions}; {processor_name()}. Simulations in training: {simulations}.\n"
    )
    write_block(page, begin, end, text)
    messages.print(text, soft_wrap=True)


if __name__ == "__main__":
    run(app)
