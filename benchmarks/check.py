"""Check result files, and make tables and figures from all of them.

``python -m benchmarks.check results/`` prints one line per invalid file, which names the field. ``--figures FOLDER`` draws the
curves and the performance profile, and ``--page docs/benchmark-results.md`` writes the table into the page.
"""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.console import Console

from benchmarks.protocol import BUDGETS, NUM_SEEDS, POINTS, SIMULATIONS, TASKS, Point, Rating, Result, read_results
from benchmarks.summary import Estimate, performance_profile, stratified
from stoneworks.cli.main import run
from stoneworks.extras import require_extra
from tools.pages import check_block, markdown_table, write_block

with require_extra("train", "figures"):
    import matplotlib
    from matplotlib.figure import Figure

matplotlib.rcParams["svg.hashsalt"] = "stoneworks"  # equal results give equal files

BEGIN, END = "<!-- results of the benchmark, by benchmarks.check -->", "<!-- end of the results of the benchmark -->"

#: Players of the ladders that the figures show as lines.
LINES = ("greedy", "mcts:1000")
PARTS: dict[str, Callable[[Point], Rating | None]] = {
    "policy": lambda point: point.policy,
    f"@{SIMULATIONS}": lambda point: point.search,
}

#: A row of the table: algorithm, track and part.
Row = tuple[str, str, str]

app = typer.Typer(add_completion=False)


class Rows:
    """Results by row of the table: an algorithm, with or without search.

    Attributes:
        results: the results.
        tasks: tasks with results, in the order of the protocol.
        names: the rows: algorithm, track and part.
    """

    def __init__(self, results: Sequence[Result]) -> None:
        self.results = results
        self.tasks = [task for task in TASKS if any(result.task == task for result in results)]
        algorithms = sorted({(result.algorithm, result.track) for result in results})
        self.names = [(*one, part) for one in algorithms for part in PARTS if self.runs((*one, part))]

    def runs(self, row: Row, task: str | None = None) -> list[tuple[Result, list[Rating]]]:
        """Return the runs of a row, on one task or on all, each with its ratings along the curve."""
        *of_row, part = row
        found = []
        for result in self.results:
            ratings = [rating for point in result.curve if (rating := PARTS[part](point)) is not None]
            if [result.algorithm, result.track] == of_row and task in (None, result.task) and ratings:
                found.append((result, ratings))
        return found

    def label(self, row: Row) -> str:
        """Return the name of a row in figures, with its track if the algorithm has several."""
        algorithm, track, part = row
        tracks = {other for name, other, _ in self.names if name == algorithm}
        return f"{algorithm} {part}" if len(tracks) == 1 else f"{algorithm} ({track}) {part}"

    def final(self, row: Row, task: str) -> list[float]:
        """Return the ratings at the end of the runs of a row on a task."""
        return [ratings[-1].elo for _, ratings in self.runs(row, task)]

    def scores(self, row: Row) -> list[list[float]]:
        """Return the normalized ratings by task: 0 is random play, 1 the strongest player of the ladder."""
        scores = []
        for task in self.tasks:
            best = float(TASKS[task].stored_ladder().ratings.elo.max())
            scores.append([elo / best for elo in self.final(row, task)])
        return scores


def table(rows: Rows, budget: float) -> str:
    """Return the table of final ratings, as Markdown."""
    heads = ["algorithm", "track", "rated", *rows.tasks, "all, normalized"]
    lines = []
    for row in rows.names:
        finals = [rows.final(row, task) for task in rows.tasks]
        cells = [f"{_shown(stratified([elos]), 0)}, {len(elos)}" if elos else "" for elos in finals]
        total = _shown(stratified(rows.scores(row)), 2) if all(finals) else ""
        lines.append([*row, *cells, total])
    errors = [ratings[-1].standard_error for row in rows.names for _, ratings in rows.runs(row)]
    processors = sorted({result.hardware.processor for result in rows.results})
    caption = (
        f"Elo on the task's ladder after {budget:g} processor seconds: interquartile mean over seeds, 95 % bootstrap interval "
        f"(for two or three seeds, the range), number of seeds. Standard errors of single ratings, {min(errors):.0f} to "
        f"{max(errors):.0f} Elo, are not included. Normalized: random play is 0, the strongest player of the ladder 1. "
        f"{', '.join(processors)}."
    )
    return f"{markdown_table(heads, lines)}\n{caption}\n"


def _shown(estimate: Estimate, digits: int) -> str:
    text = f"{estimate.value:.{digits}f}"
    return text if math.isnan(estimate.low) else f"{text} ({estimate.low:.{digits}f} to {estimate.high:.{digits}f})"


def draw(rows: Rows, folder: Path, budget: float) -> dict[str, Path]:
    """Draw all figures and return their files by title."""
    folder.mkdir(parents=True, exist_ok=True)
    files = {}
    for x in ("processor_seconds", "steps"):
        words = x.replace("_", " ")
        files[f"Rating over {words}"] = file = folder / f"{words.replace(' ', '-')}-{budget:g}.svg"
        draw_curves(rows, x, file)
    files["Performance profile"] = file = folder / f"profile-{budget:g}.svg"
    draw_profile(rows, file)
    return files


def draw_curves(rows: Rows, x: str, path: Path) -> None:
    """Draw rating over ``x``, a field of :class:`Point`: a panel per task, the interquartile mean with its interval."""
    columns = math.ceil(math.sqrt(len(rows.tasks)))
    lines = math.ceil(len(rows.tasks) / columns)
    figure = Figure(figsize=(4 * columns, 4 * lines), layout="constrained")
    panels = figure.subplots(lines, columns, squeeze=False).flat
    for unused in panels[len(rows.tasks) :]:
        unused.remove()
    for task, panel in zip(rows.tasks, panels, strict=False):
        ladder = TASKS[task].stored_ladder().ratings
        for name, place, side in zip(LINES, (0.01, 0.99), ("left", "right"), strict=True):  # they can be close
            if name in ladder.names:
                elo, _ = ladder.rating(name)
                panel.axhline(elo, color="gray", linewidth=0.8, linestyle=":")
                panel.annotate(name, (place, elo), xycoords=("axes fraction", "data"), ha=side, fontsize=7)
        algorithms = list(dict.fromkeys(row[:2] for row in rows.names))
        for row in rows.names:
            runs = rows.runs(row, task)
            if not runs:
                continue
            at = [float(np.median([getattr(result.curve[i], x) for result, _ in runs])) for i in range(len(runs[0][1]))]
            points = [stratified([[ratings[i].elo for _, ratings in runs]]) for i in range(len(at))]
            color = f"C{algorithms.index(row[:2])}"
            style = {"color": color, "linestyle": "-" if row[2] == "policy" else "--", "marker": "."}
            panel.plot(at, [point.value for point in points], label=rows.label(row), **style)
            low, high = [point.low for point in points], [point.high for point in points]
            panel.fill_between(at, low, high, color=color, alpha=0.15, linewidth=0)
        panel.set(title=task, xlabel=x.replace("_", " "), ylabel="Elo (random = 0)", xscale="log")
        panel.xaxis.set_minor_formatter("")
        if x == "processor_seconds":
            budget = max(result.budget for result in rows.results)
            panel.set_xticks([part * budget for part in POINTS], [f"{part * budget:g}" for part in POINTS])
    lines_of = {
        label: line for panel in figure.axes for line, label in zip(*panel.get_legend_handles_labels(), strict=True)
    }
    figure.legend(
        lines_of.values(), lines_of, loc="outside lower center", ncols=2 * columns, fontsize=7, handlelength=4
    )
    figure.savefig(path, metadata={"Date": None})


def draw_profile(rows: Rows, path: Path) -> None:
    """Draw the performance profile of the rows with results on all tasks."""
    figure = Figure(figsize=(6, 4), layout="constrained")
    panel = figure.subplots()
    thresholds = np.linspace(0, 1.2, 61)
    for row in rows.names:
        scores = rows.scores(row)
        if all(scores):
            profile = performance_profile(scores, thresholds)
            panel.plot(thresholds, [one.value for one in profile], label=rows.label(row))
            panel.fill_between(thresholds, [one.low for one in profile], [one.high for one in profile], alpha=0.15)
    panel.set(xlabel="normalized rating", ylabel="share of runs above it", ylim=(0, 1.02))
    if panel.lines:
        panel.legend(fontsize=7)
    figure.savefig(path, metadata={"Date": None})


@app.command()
def main(
    folder: Annotated[Path, typer.Argument(help="Folder of the result files.", exists=True, file_okay=False)],
    budget: Annotated[float | None, typer.Option(help="Only results of this budget, of the protocol or not.")] = None,
    figures: Annotated[Path | None, typer.Option(help="Folder for the figures.")] = None,
    page: Annotated[Path | None, typer.Option(help="The page to write the table into.")] = None,
) -> int:
    """Check the files and summarize the valid ones; the exit status is 1 if a file is invalid."""
    check_block(page, BEGIN, END)
    results, problems = read_results(folder, BUDGETS if budget is None else (*BUDGETS, budget))
    for problem in problems:
        print(problem)
    budgets = sorted({result.budget for result in results if budget in (None, result.budget)})
    blocks = []
    for seconds in budgets:
        rows = Rows([result for result in results if result.budget == seconds])
        of_protocol = "" if seconds in BUDGETS else " This budget is not one of the protocol."
        blocks.append(f"{table(rows, seconds)[:-1]}{of_protocol}\n")
        if figures is not None:
            for title, file in draw(rows, figures, seconds).items():
                relative = Path(os.path.relpath(file, figures if page is None else page.parent))
                blocks.append(f"![{title}, {seconds:g} s]({relative.as_posix()})\n")
        counts = Counter(
            (f"{result.algorithm} ({result.track})", result.task) for result in results if result.budget == seconds
        )
        if few := [f"{' on '.join(key)} {number}" for key, number in counts.items() if number < NUM_SEEDS]:
            print(f"fewer than {NUM_SEEDS} seeds at {seconds:g} s: {', '.join(few)}")
    text = "\n".join(blocks) or "No results are stored yet.\n"
    write_block(page, BEGIN, END, text)
    Console(soft_wrap=True, highlight=False).print(text, markup=False)
    return 1 if problems else 0


if __name__ == "__main__":
    run(app)
