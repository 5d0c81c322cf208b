"""Demonstration: train an agent on Vadus from scratch, play it against bots, and save its checkpoint, a picture and records.

Run it with ``make demo`` or ``python -m tools.demo``. An interrupted demonstration is resumed by the next call.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from stoneworks.cli.main import run as run_app
from stoneworks.envs.drawing import draw
from stoneworks.envs.rules import load_game
from stoneworks.evaluation.match import MatchResult, play_match
from stoneworks.evaluation.records import GameRecord, write_records
from stoneworks.models import load_bot
from stoneworks.text import percent
from stoneworks.training.runs.config_files import load_config
from stoneworks.training.runs.display import train

CONFIG = "vadus-5-demo"
NUM_PAIRS = 100
#: Simulations of the agent's search in the final matches.
SIMULATIONS = 64
#: Minimum scores of the agent with search on the board size it was trained on, by opponent.
MINIMUM_SCORES = {"random": 0.95, "greedy": 0.45}

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)


def run(folder: Path, overrides: list[str], console: Console) -> int:
    """Run the demonstration in ``folder`` and return the exit code: 0, or 1 if the agent misses an expected score."""
    began = time.monotonic()
    config = load_config(CONFIG, overrides)
    game = load_game(config.game)
    console.print(f"Training an agent on {game} from scratch, against itself and the bots.")
    console.print("Press Ctrl-C to stop; run the command again to resume.")
    result = train(config, folder, resume=True, console=console)
    if not result.finished:
        console.print(f"Stopped after {result.done:,} {config.unit}; the checkpoint is {result.checkpoint}.")
        return 130

    console.print(
        f"Playing {NUM_PAIRS} pairs of games against each bot; both games of a pair start from the same random opening."
    )
    table = Table("against", "score", "95 % interval", "won / drawn / lost", "as player 0", "as player 1", "games")
    matches = {}
    for number, name in enumerate(MINIMUM_SCORES):
        agent = load_bot(f"{result.checkpoint}@{SIMULATIONS}", game, seed=2 * number)
        match = play_match(game, agent, load_bot(name, game, seed=2 * number + 1), num_pairs=NUM_PAIRS, seed=number)
        matches[name] = match
        table.add_row(name, *(text for _, text in match.summary()))
    console.print(table)

    records = [record for match in matches.values() for record in match.records]
    write_records(folder / "games.jsonl", records)
    shown = _game_to_show(matches)
    write_records(folder / "game.jsonl", [shown])
    picture = draw(shown.replay())
    picture.save(folder / "game.svg")
    picture.save(folder / "game.png")
    won = "drawn" if shown.winner is None else f"won by {shown.players[shown.winner]}"
    for path, what in (
        (result.checkpoint, f'the agent: load_bot("{result.checkpoint}@{SIMULATIONS}", "{game}")'),
        (folder / "report" / "scores.png", "its scores during training; report.md has all curves"),
        (
            folder / "game.png",
            f"the end of a game, {shown.players[0]} (Black) against {shown.players[1]}, {won}; also game.svg",
        ),
        (folder / "game.jsonl", "the record of that game"),
        (folder / "games.jsonl", f"the records of all {len(records)} games"),
        (folder / "tensorboard", "training curves: tensorboard --logdir"),
    ):
        console.print(f"{path}: {what}", soft_wrap=True)
    console.print(f"Total time: {(time.monotonic() - began) / 60:.1f} minutes.")
    missed = {name: minimum for name, minimum in MINIMUM_SCORES.items() if matches[name].score < minimum}
    for name, minimum in missed.items():
        console.print(
            f"The agent scored {percent(matches[name].score)} against {name}; expected at least {percent(minimum, digits=0)}.",
            highlight=False,
        )
    return 1 if missed else 0


def _game_to_show(matches: dict[str, MatchResult]) -> GameRecord:
    """Return the first game that the agent won against the greedy bot, or the first game if there is no win."""
    match = matches["greedy"]
    won = [
        record
        for record in match.records
        if record.winner is not None and record.players[record.winner] == match.names[0]
    ]
    return (won or list(match.records))[0]


@app.command()
def main(
    folder: Annotated[Path, typer.Option(help="Output folder.")] = Path("runs/demo"),
    overrides: Annotated[
        list[str] | None, typer.Option("--set", help="key=value of the configuration; may be repeated.")
    ] = None,
) -> None:
    """Train an agent on Vadus from scratch, evaluate it, and save a checkpoint, a picture and game records."""
    raise typer.Exit(run(folder, overrides or [], Console(markup=False, highlight=False)))


if __name__ == "__main__":
    run_app(app)
