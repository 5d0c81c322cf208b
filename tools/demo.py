"""Demonstration: train an agent on Vadus, play it against bots, and save its checkpoint, a picture and records.

Run it with ``make demo`` or ``python -m tools.demo``. An interrupted demonstration is resumed by the next call.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from stoneworks.cli.console import progress_bar
from stoneworks.cli.main import run as run_app
from stoneworks.envs.drawing import draw
from stoneworks.envs.rules import Game, load_game
from stoneworks.evaluation.match import MatchResult, play_match
from stoneworks.evaluation.records import GameRecord, write_records
from stoneworks.models import load_bot
from stoneworks.text import percent
from stoneworks.training.runs.config_files import load_config
from stoneworks.training.runs.display import train

CONFIG = "vadus-5-demo"
#: Pairs of games per match, and those that are played at a time, between which the score is shown.
NUM_PAIRS = {"random": 20, "greedy": 60}
PAIRS_AT_A_TIME = 20
#: Simulations of the agent's search in the final matches.
SIMULATIONS = 64
#: Minimum scores of the agent with search on the board size it was trained on, by opponent.
MINIMUM_SCORES = {"random": 0.95, "greedy": 0.7}

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)


def run(folder: Path, overrides: list[str], console: Console) -> int:
    """Run the demonstration in ``folder`` and return the exit code: 0, or 1 if the agent misses an expected score."""
    began = time.monotonic()
    config = load_config(CONFIG, overrides)
    game = load_game(config.game)
    console.print(f"Training an agent on {game} from random weights, against itself and the bots.")
    console.print("Press Ctrl-C to stop; run the command again to resume.")
    result = train(config, folder, resume=True, console=console)
    if not result.finished:
        console.print(f"Stopped after {result.done:,} {config.unit}; the checkpoint is {result.checkpoint}.")
        return 130

    console.print("Playing matches against bots; both games of a pair start from the same random opening.")
    table = Table("against", "score", "95 % interval", "won / drawn / lost", "as player 0", "as player 1", "games")
    matches = {}
    for name, num_pairs in NUM_PAIRS.items():
        matches[name] = _play(f"{result.checkpoint}@{SIMULATIONS}", name, game, num_pairs)
        table.add_row(name, *(text for _, text in matches[name].summary()))
    console.print(table)

    records = [record for match in matches.values() for record in match.records]
    write_records(folder / "games.jsonl", records)
    shown = _game_to_show(matches)
    write_records(folder / "game.jsonl", [shown])
    end = shown.replay()
    picture = draw(end)
    picture.save(folder / "game.svg")
    picture.save(folder / "game.png")
    console.print(str(end), soft_wrap=True)
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


def _play(agent: str, opponent: str, game: Game, num_pairs: int) -> MatchResult:
    """Play a match in parts, and show the score as it grows."""
    bots = load_bot(agent, game, seed=0), load_bot(opponent, game, seed=1)
    records: list[GameRecord] = []
    with progress_bar() as show:
        for done in range(0, num_pairs, PAIRS_AT_A_TIME):
            part = play_match(game, *bots, num_pairs=min(PAIRS_AT_A_TIME, num_pairs - done), seed=done)
            records += part.records
            match = MatchResult.of_records(part.names, records)
            show(f"against {opponent}", len(records), 2 * num_pairs, f"score {percent(match.score)}")
    return match


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
    """Train an agent on Vadus, evaluate it, and save a checkpoint, a picture and game records."""
    raise typer.Exit(run(folder, overrides or [], Console(markup=False, highlight=False)))


if __name__ == "__main__":
    run_app(app)
