"""Cost as a function of board size: time per step, per playout action and per simulation, and memory per state.

``python -m benchmarks.speed.growth growth.svg`` measures and plots it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from benchmarks.speed import ours
from stoneworks.cli.main import run
from stoneworks.envs.rules import load_game
from stoneworks.extras import require_extra
from stoneworks.files import check_output_file

NUM_GAMES = 64
MCTS_SIMULATIONS = 400

#: Game strings in order of size, by game.
SIZES: dict[str, tuple[str, ...]] = {
    "vadus": tuple(f"vadus(size={size})" for size in (3, 5, 7, 9, 11, 13)),
    "laido": tuple(f"laido(size={size})" for size in (3, 5, 7, 9, 11, 13)),
    "taugo": tuple(f"taugo(size={size})" for size in (5, 8, 12, 16, 20, 24)),
    "taigo": tuple(f"taigo(radius={radius},tiles={tiles})" for radius, tiles in ((4, 12), (8, 24), (12, 40), (16, 60))),
    "trugo": tuple(f"trugo(radius={radius},tiles={tiles})" for radius, tiles in ((4, 8), (6, 18), (10, 36), (14, 60))),
}


@dataclass(frozen=True)
class Growth:
    """The costs of one size of a game; times are CPU times.

    Attributes:
        game: the game.
        game_string: the game string, including the size.
        num_cells: number of cells of the grid.
        step_ns: nanoseconds per step of a batch, including observation and mask.
        playout_ns: nanoseconds per action of a random playout.
        simulation_us: microseconds per simulation of ``mcts`` from the initial state.
        state_bytes: bytes per state.
    """

    game: str
    game_string: str
    num_cells: int
    step_ns: float
    playout_ns: float
    simulation_us: float
    state_bytes: int


def measure_growth(
    games: dict[str, tuple[str, ...]] | None = None,
    *,
    rounds: int = 3,
    seconds: float = 0.2,
    progress: Callable[[str], None] = lambda message: None,
) -> list[Growth]:
    """Measure each size and return the minimum costs over the rounds.

    Args:
        games: game strings by game; None for ``SIZES``.
        rounds: number of measurements per size.
        seconds: approximate duration of each measurement.
        progress: called with a description of the current measurement.
    """
    results = []
    for name, game_strings in (games or SIZES).items():
        for game_string in game_strings:
            progress(game_string)
            workloads = (
                ours.batch_steps(game_string, NUM_GAMES),
                ours.playout_actions(game_string),
                ours.mcts_simulations(game_string, MCTS_SIMULATIONS),
            )
            for _ in range(rounds):
                for workload in workloads:
                    workload.measure(seconds)
            step, playout, simulation = (1 / max(workload.rates_per_second) for workload in workloads)
            game = load_game(game_string)
            costs = step * 1e9, playout * 1e9, simulation * 1e6
            results.append(Growth(name, game_string, game.grid.num_cells, *costs, game.state_dtype.itemsize))
    return results


def draw_growth(results: list[Growth], path: Path) -> None:
    """Plot the costs against the number of cells and save the figure as an SVG or PNG file.

    Raises:
        MissingDependencyError: matplotlib is not installed.
    """
    with require_extra("train", "figures of the bench"):
        from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 7), layout="constrained")
    measures = (
        ("step_ns", "batch step with observation and mask (ns)"),
        ("playout_ns", "action of a random playout (ns)"),
        ("simulation_us", "simulation of mcts from the start (µs)"),
        ("state_bytes", "memory of a position (bytes)"),
    )
    for axes, (attribute, title) in zip(figure.subplots(2, 2).flat, measures, strict=True):
        axes.set_title(title, fontsize=10)
        axes.set_xlabel("cells of the grid")
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.grid(visible=True, which="major", alpha=0.3)
        for name in dict.fromkeys(result.game for result in results):
            points = [result for result in results if result.game == name]
            cells = [point.num_cells for point in points]
            axes.plot(cells, [getattr(point, attribute) for point in points], marker="o", markersize=4, label=name)
    figure.axes[0].legend(fontsize=9)
    settings: dict[str, Any] = {"metadata": {"Date": None}} if path.suffix == ".svg" else {}
    figure.savefig(path, **settings)


app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)


@app.command()
def growth(
    image: Annotated[Path, typer.Argument(help="The .svg or .png file to plot.")],
    rounds: Annotated[int, typer.Option(min=1, help="Number of rounds; the fastest counts.")] = 3,
    seconds: Annotated[float, typer.Option(min=0.01, help="Approximate time per measurement.")] = 0.2,
) -> None:
    """Measure how cost grows with board size, and plot it."""
    check_output_file("image", image, (".svg", ".png"))
    with Console(stderr=True).status("measuring") as status:
        results = measure_growth(rounds=rounds, seconds=seconds, progress=status.update)
    draw_growth(results, image)
    print(f"the figure is {image}")


if __name__ == "__main__":
    run(app)
