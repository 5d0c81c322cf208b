"""What a person sees while AlphaZero trains: speeds, losses, where the time goes, and the matches. At the end, a report."""

from __future__ import annotations

import os

from rich.console import Console

from stoneworks.training.alphazero.config import AlphaZeroConfig
from stoneworks.training.alphazero.report import write_report
from stoneworks.training.alphazero.run import TrainingResult, TrainingStatus, train
from stoneworks.training.runs.display import TrainingBar
from stoneworks.training.runs.interruption import stop_on_signals


def train_with_display(
    config: AlphaZeroConfig, folder: str | os.PathLike[str], *, resume: bool, console: Console | None = None
) -> TrainingResult:
    """Train, show how it goes, stop cleanly at Ctrl-C, and write the run's report.

    See :func:`stoneworks.training.alphazero.run.train` and :func:`stoneworks.training.alphazero.report.write_report`.
    """
    with TrainingBar(config.positions, "positions", console) as bar, stop_on_signals() as stop:

        def report(status: TrainingStatus) -> None:
            bar.show(status.positions, status.positions_per_second, below=lines_of(status), message=status.message)

        result = train(config, folder, resume=resume, report=report, stop=stop)
    write_report(folder)
    return result


def lines_of(status: TrainingStatus) -> list[str]:
    """Return what stands below the bar."""
    lines = [
        f"{status.games_per_second:,.1f} games/s, {status.simulations_per_second:,.0f} simulations/s; "
        f"{status.games:,} games, the latest of {status.mean_length:.0f} actions, {100 * status.draw_share:.0f} % drawn"
    ]
    losses = status.losses
    if losses is not None:
        lines.append(
            f"loss: policy {losses.policy:.3f} ({losses.policy_divergence:.3f} above the search's), "
            f"value {losses.value:.3f}"
        )
    shares = {"network": status.network_share, "search": status.search_share, "learning": status.learning_share}
    shares["other"] = max(0.0, 1 - sum(shares.values()))
    lines.append("time: " + ", ".join(f"{name} {100 * share:.0f} %" for name, share in shares.items()))
    return lines
