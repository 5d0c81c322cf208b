"""``python -m tools.mutation``: write mutants into a copy of the repository, run the tests on each, and print what survived."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from stoneworks.cli.main import run
from tools.mutation.mutants import Mutant, find_mutants, with_switches

ROOT = Path(__file__).resolve().parents[2]
#: The files that are mutated, by group.
GROUPS = {
    "rules": ("envs/rules/*.py", "envs/games/*/*.py"),
    "searches": ("models/search/*.py",),
    "the rest": (
        "evaluation/ratings.py",
        "evaluation/player_rating.py",
        "evaluation/sprt.py",
        "training/alphazero/learner.py",
        "training/alphazero/positions.py",
        "training/alphazero/replay_buffer.py",
        "training/alphazero/self_play.py",
        "training/alphazero/sources.py",
    ),
}


app = typer.Typer(add_completion=False)


@app.command()
def main(
    tests: Annotated[list[str] | None, typer.Argument(help="Test files and folders; all by default.")] = None,
    count: Annotated[int, typer.Option(min=1, help="Number of mutants, drawn from all.")] = 2000,
    group: Annotated[str | None, typer.Option(help="Of those drawn, only these: " + ", ".join(GROUPS))] = None,
    seed: Annotated[int, typer.Option(help="Seed of the draw.")] = 0,
    changed_since: Annotated[str | None, typer.Option(help="Only lines changed since this commit.")] = None,
    max_seconds: Annotated[float, typer.Option(help="Bound on the time of the tests of one mutant.")] = 30,
    workers: Annotated[int, typer.Option(min=1, help="Number of mutants tested at a time.")] = 1,
    folder: Annotated[Path, typer.Option(help="Where the copy and the results are kept.")] = ROOT / "build/mutation",
) -> None:
    """Run the tests on mutants of the rules, the searches, the ratings and the training, and print what survived.

    The same command goes on where it was interrupted, and tries those again that survived: there may be new tests.
    """
    if group not in (None, *GROUPS):
        raise typer.BadParameter(f"group must be one of {', '.join(GROUPS)}, got {group!r}")
    for test in tests or ():
        if not (ROOT / test.partition("::")[0]).exists():
            raise typer.BadParameter(f"tests must be files and folders of {ROOT}, got {test!r}")
    found = _find(changed_since)
    mutants = random.Random(seed).sample(found, min(count, len(found)))
    mutants = [mutant for mutant in mutants if group in (None, _group(mutant))]
    mutants.sort(key=lambda mutant: (mutant.file, mutant.place))
    folder.mkdir(parents=True, exist_ok=True)
    drawn = json.dumps([asdict(mutant) for mutant in mutants], indent=1)
    copy, known, results = folder / "stoneworks", folder / "mutants.json", folder / "results.jsonl"
    if not (known.exists() and known.read_text(encoding="utf-8") == drawn):
        results.unlink(missing_ok=True)
        known.write_text(drawn, encoding="utf-8")
    shutil.rmtree(copy, ignore_errors=True)
    _copy_with(mutants, copy)
    environment = {
        **os.environ,
        "PYTHONPATH": f"{copy / 'src'}{os.pathsep}{copy}",
        "STONEWORKS_CACHE_DIR": str(folder / "kernels"),
    }
    options = ["-p", "no:randomly", "-p", "no:xdist", "-p", "tools.mutation.plugin", "-m", "not slow", "--tb=no"]
    options += [f"--mutation-folder={folder}", f"--mutation-count={len(mutants)}", f"--mutation-workers={workers}"]
    options.append(f"--mutation-seconds={max_seconds}")
    command = [sys.executable, "-m", "pytest", "-q", *options, *(tests or ["--ignore=tests/web/browser"])]
    subprocess.run(command, cwd=copy, env=environment, check=True)
    _report(mutants, results)


def _find(changed_since: str | None) -> list[Mutant]:
    """Return all mutants, or those of the lines that have changed since a commit."""
    files = sorted({file for patterns in GROUPS.values() for pattern in patterns for file in ROOT.glob(pattern)})
    found = [mutant for file in files for mutant in find_mutants(ROOT, file)]
    if changed_since is None:
        return found
    lines = _changed_lines(changed_since)
    return [mutant for mutant in found if mutant.line in lines[mutant.file]]


def _changed_lines(commit: str) -> defaultdict[str, set[int]]:
    """Return the numbers of the lines of each file that are new since a commit."""
    lines: defaultdict[str, set[int]] = defaultdict(set)
    file = ""
    for line in _git("diff", "--unified=0", commit).splitlines():
        if line.startswith("+++ b/"):
            file = line.removeprefix("+++ b/")
        elif match := re.match(r"@@ .* \+(\d+)(?:,(\d+))? @@", line):
            start, number = int(match[1]), int(match[2] or 1)
            lines[file].update(range(start, start + number))
    return lines


def _copy_with(mutants: Sequence[Mutant], copy: Path) -> None:
    """Copy the files that git tracks, with the mutants in them, and lay the packages out as in the wheel."""
    for name in _git("ls-files", "--cached", "--others", "--exclude-standard").splitlines():
        if (ROOT / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, copy / name)
    numbers: defaultdict[str, dict[tuple[int, int, int, int, str], int]] = defaultdict(dict)
    for number, mutant in enumerate(mutants):
        numbers[mutant.file][mutant.place] = number
    for name, places in numbers.items():
        (copy / name).write_text(with_switches(ROOT / name, places), encoding="utf-8")
    for package in ("configs", "envs", "evaluation", "integrations", "models", "training", "web"):
        (copy / "src" / "stoneworks" / package).symlink_to(copy / package)


def _git(*arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        raise ValueError(f"git {' '.join(arguments)}: {done.stderr.partition(chr(10))[0]}")
    return done.stdout


def _group(mutant: Mutant) -> str:
    return next(name for name, patterns in GROUPS.items() if any(Path(mutant.file).match(each) for each in patterns))


def _report(mutants: Sequence[Mutant], results: Path) -> None:
    outcomes = {result["mutant"]: result["outcome"] for result in map(json.loads, results.read_text().splitlines())}
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for number, mutant in enumerate(mutants):
        counts[_group(mutant)][outcomes[number]] += 1
        if outcomes[number] != "killed":
            print(f"{outcomes[number]}: {number} {mutant.file}:{mutant.line} {mutant.kind}: {mutant.text}")
    table = Table("", "mutants", "killed", "share", "survived", "not reached")
    for name, by_outcome in counts.items():
        killed, total = by_outcome["killed"], by_outcome.total()
        others = str(by_outcome["survived"]), str(by_outcome["not reached"])
        table.add_row(name, str(total), str(killed), f"{100 * killed / total:.1f} %", *others)
    Console().print(table)


if __name__ == "__main__":
    run(app)
