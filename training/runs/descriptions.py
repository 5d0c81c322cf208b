"""Texts and tables used by reports and model cards."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from stoneworks.models.checkpoint import Checkpoint
from stoneworks.models.network import BoardNetwork
from stoneworks.text import duration, percent


def hardware_in_words(hardware: Mapping[str, Any]) -> str:
    """Return the result of :func:`stoneworks.training.runs.hardware.describe_hardware` as text."""
    threads = hardware["torch_threads"]
    words = (
        f"{hardware['processor']}, {hardware['cores']} cores, {threads} thread{'' if threads == 1 else 's'} of torch"
    )
    return f"{words}, {hardware['gpu']}" if "gpu" in hardware else words


def policy_in_words(checkpoint: Checkpoint) -> str:
    """Return a description of how the policy alone chooses actions, to be placed after its name."""
    if checkpoint.play.deterministic_policy:
        return "plays its network's most probable action"
    return "draws its action from its network's probabilities"


def network_in_words(network: BoardNetwork) -> str:
    """Return the size of a network as text."""
    architecture = network.architecture
    weights = sum(parameter.numel() for parameter in network.parameters())
    hyperparameters = ", ".join(
        f"{name} {value}" for name, value in architecture.config.model_dump().items() if name != "kind"
    )
    return f"{weights:,} weights ({architecture.kind}: {hyperparameters})"


def match_results_table(match_results: Sequence[Mapping[str, Any]]) -> str:
    """Return a Markdown table of matches summarized by ``summarize`` in :mod:`stoneworks.evaluation.match`."""
    lines = [
        "| player | opponent | score | 95 % interval | won / drawn / lost | games | distinct |",
        "|---|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {row['player']} | {row['opponent']} | {percent(row['score'])} | {percent(*row['interval'])} "
        f"| {row['wins']} / {row['draws']} / {row['losses']} | {row['games']} | {row['distinct_games']} |"
        for row in match_results
    ]
    return "\n".join(lines) + "\n"


def extent_in_words(run: Mapping[str, Any]) -> str:
    """Return amount and duration of a run (see :func:`stoneworks.training.runs.training_information.runs_before`) as text."""
    return f"{run['amount']:,} {run['unit']}, {duration(run['seconds'])}"


def pairings_of(matches: Iterable[Mapping[str, Any]]) -> list[tuple[str, str]]:
    """Return the pairings of player and opponent, in the order of their first match."""
    return list(dict.fromkeys((row["player"], row["opponent"]) for row in matches))


def score_table(
    heads: Sequence[str],
    rows: Iterable[tuple[Sequence[str], Iterable[Mapping[str, Any]]]],
    pairings: Sequence[tuple[str, str]],
    separator: str,
) -> str:
    """Return a Markdown table of scores, with a column for each pairing.

    Args:
        heads: headings of the columns before those of the pairings.
        rows: cells of these columns, and the matches of the row.
        pairings: the pairings.
        separator: text between a score and its interval.
    """
    all_heads = [*heads, *(f"{player} against {opponent}" for player, opponent in pairings)]
    lines = [f"| {' | '.join(all_heads)} |", f"|{'---|' * len(all_heads)}"]
    for cells, matches in rows:
        scores = {
            (row["player"], row["opponent"]): f"{percent(row['score'])}{separator}({percent(*row['interval'])})"
            for row in matches
        }
        lines.append(f"| {' | '.join([*cells, *(scores.get(pairing, '') for pairing in pairings)])} |")
    return "\n".join(lines) + "\n"
