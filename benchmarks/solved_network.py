"""Train a network of an agent's architecture on the solver's results, and compare its accuracy with the agent's.

``python -m benchmarks.solved_network "laido(size=3)" laido`` makes a sample of solved positions, trains a network with random
weights on their exact results and the actions that keep them, and prints how often it and the agent keep the exact result on the
stored sample of the game (as Prasad did for Connect Four, 2018). Positions of that sample, and their images under symmetries, are
not learned.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
import numpy.typing as npt
import torch
import typer

from stoneworks.cli.console import progress_bar
from stoneworks.cli.main import run
from stoneworks.envs.rules import Game, load_game
from stoneworks.evaluation.solved_accuracy.measure import measure_solved_accuracy
from stoneworks.evaluation.solved_accuracy.positions import (
    SolvedPosition,
    image_key,
    load_solved_positions,
    make_solved_positions,
)
from stoneworks.models.architecture import Architecture
from stoneworks.models.bots.loading import load_bot
from stoneworks.models.checkpoint import load_checkpoint, save_checkpoint
from stoneworks.models.network import BoardNetwork, make_network
from stoneworks.models.shipped import shipped_folder
from stoneworks.training.alphazero.config import LearnerConfig
from stoneworks.training.alphazero.learner import Learner
from stoneworks.training.alphazero.positions import BatchMaker, make_positions

app = typer.Typer(add_completion=False)


def without_images(
    game: Game, positions: tuple[SolvedPosition, ...], tested: tuple[SolvedPosition, ...]
) -> list[SolvedPosition]:
    """Return the positions that are not images of those that are ``tested``."""
    keys = {image_key(position.state(game)) for position in tested}
    return [position for position in positions if image_key(position.state(game)) not in keys]


def training_positions(game: Game, solved: list[SolvedPosition]) -> npt.NDArray[np.void]:
    """Return training positions with exact results, and policies that are uniform over the actions that keep them."""
    policies = np.zeros((len(solved), game.num_actions), np.float32)
    for policy, position in zip(policies, solved, strict=True):
        policy[[game.string_to_action(text) for text in position.keeping]] = 1 / len(position.keeping)
    results = np.array([position.result for position in solved], np.float32)
    records = np.array([position.state(game).record for position in solved])
    positions = make_positions(game, records, policies, results)
    positions["result"] = results
    return positions


def train(game: Game, network: BoardNetwork, positions: npt.NDArray[np.void], epochs: int, seed: int) -> BoardNetwork:
    """Return the moving average of the weights of ``network`` after ``epochs`` passes over the positions."""
    config = LearnerConfig(search_value_share=0.0)
    learner = Learner(network, config, torch.device("cpu"), torch.float32)
    maker, rng = BatchMaker(game, features=network.features), np.random.default_rng(seed)
    steps = -(-epochs * len(positions) // config.batch_size)
    with progress_bar() as show:
        for step in range(steps):
            batch = positions[rng.integers(len(positions), size=config.batch_size)]
            learner.step(maker.make(batch, rng), step / steps)
            show("gradient steps", step + 1, steps)
    return learner.acting_network


@app.command()
def main(
    game: str,
    agent: str,
    folder: Annotated[Path, typer.Option(help="Folder of the new network.")] = Path("runs/solved-network"),
    positions: Annotated[int, typer.Option(min=1, help="Number of positions to solve.")] = 6_000,
    max_positions: Annotated[int, typer.Option(min=1, help="Positions that the solver visits for each.")] = 20_000,
    epochs: Annotated[int, typer.Option(min=1, help="Passes over the positions.")] = 20,
    seed: Annotated[int, typer.Option(min=1, help="Seed; the stored sample has 0.")] = 1,
) -> None:
    """Train a network of the agent's architecture on solved positions, and print its accuracy and the agent's."""
    board = load_game(game)
    tested = load_solved_positions(board)
    config = load_checkpoint(shipped_folder() / agent).network.architecture.config
    with progress_bar() as show:
        solved = make_solved_positions(
            board,
            positions,
            max_positions=max_positions,
            seed=seed,
            progress=lambda done, total: show("solved", done, total),
        )
    learned = without_images(board, solved.positions, tested.positions)
    torch.manual_seed(seed)
    network = train(
        board, make_network(Architecture.of_game(board, config)), training_positions(board, learned), epochs, seed
    )
    save_checkpoint(folder, game=board, network=network, training={"positions": len(learned), "epochs": epochs})
    typer.echo(f"learned {len(learned)} positions; the network is {folder}")
    for name in (str(folder), f"{folder}@64", agent, f"{agent}@64"):
        share, (low, high), number = measure_solved_accuracy(load_bot(name, board, seed), board, tested).share()
        typer.echo(f"{name}: keeps the result in {share:.1%} of {number} positions ({low:.1%} to {high:.1%})")


if __name__ == "__main__":
    run(app)
