"""Model cards of shipped checkpoints."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import yaml

from stoneworks.models.checkpoint import WEIGHTS_FILE, Checkpoint
from stoneworks.text import duration, percent
from stoneworks.training.runs.algorithms import ALGORITHMS
from stoneworks.training.runs.report import hardware_in_words, match_results_table, network_in_words, policy_in_words
from stoneworks.training.runs.run_folder import algorithm_of
from tools.pages import markdown_table

_MOST_CURVE_ROWS = 12


def model_card(
    name: str, checkpoint: Checkpoint, final_matches: Mapping[str, Any], weaknesses: str, other_run: str = ""
) -> str:
    """Return the model card of a checkpoint.

    Args:
        name: name of the checkpoint for ``load_bot``.
        checkpoint: the checkpoint.
        final_matches: content of its ``matches.json``.
        weaknesses: description of known weaknesses.
        other_run: results of another run of the same command.
    """
    return "\n".join(_sections(name, checkpoint, final_matches, weaknesses, other_run))


def _sections(
    name: str, checkpoint: Checkpoint, final_matches: Mapping[str, Any], weaknesses: str, other_run: str
) -> Iterator[str]:
    game, training = checkpoint.game, checkpoint.training
    size = (checkpoint.folder / WEIGHTS_FILE).stat().st_size
    yield f"# {name}: an agent for {game}\n"
    yield (
        f'```python\nfrom stoneworks.models import load_bot\n\nbot = load_bot("{name}", "{game}")  # the policy alone\n'
        f'bot = load_bot("{name}@64", "{game}")  # with a search of 64 simulations\n```\n'
    )
    if game.size_options:
        others = ", ".join(f"`{option}`" for option in game.size_options)
        yield f"It also plays other values of {others}.\n"
    algorithm = algorithm_of(training, checkpoint.folder)
    unit = algorithm.unit
    total = training["config"][unit]
    facts = "".join(f"{number} {name}, " for name, number in algorithm.facts(training).items())
    yield "## Training\n"
    yield (
        f"{algorithm.title} self-play {_beginning(training)}: {training[unit]:,} {unit} (of {total:,} planned), "
        f"{facts}{duration(training['seconds'])} on {hardware_in_words(training['hardware'])}. "
        f"The network has {network_in_words(checkpoint.network)}; the weights file has {size:,} bytes."
        f"{_knowledge(training['config'])}\n"
    )
    yield "## Evaluation\n"
    yield (
        f"Games against each opponent on {final_matches['game']}, in pairs that start from the same "
        f"{final_matches['opening_actions']} random actions, with seats swapped. A draw counts as half a win; intervals are "
        f"95 % Wilson intervals. Played on {final_matches['date']}. `policy` {policy_in_words(checkpoint)}; `policy@<n>` is a "
        "search of n simulations.\n"
    )
    yield match_results_table(final_matches["matches"])
    for other in final_matches.get("other_games", ()):
        yield f"### On {other['game']}\n"
        yield match_results_table(other["matches"])
    if accuracy := final_matches.get("accuracy"):
        yield "## Compared with perfect play\n"
        yield "Share of solved positions in which it keeps the exact result (`stoneworks accuracy`), with 95 % intervals.\n"
        yield _accuracy_table(accuracy)
    if training["match_results"]:
        yield "## Training progress\n"
        yield "Scores in matches during training, with 95 % Wilson intervals; these had fewer games.\n"
        yield _curve(training["match_results"], unit)
    if other_run:
        yield f"## Another run\n\n{other_run.strip()}\n"
    yield "## Known weaknesses\n"
    yield f"{weaknesses.strip() or 'None known beyond the scores above.'}\n"
    yield f"## Configuration\n\n```yaml\n{yaml.safe_dump(training['config'], sort_keys=False)}```\n"
    trained_with, evaluated_with = _versions(checkpoint.libraries), _versions(final_matches["libraries"])
    software = "the same" if evaluated_with == trained_with else evaluated_with
    yield f"Trained with {trained_with}; evaluated with {software} on {hardware_in_words(final_matches['hardware'])}.\n"


def _beginning(training: Mapping[str, Any]) -> str:
    if not training["config"].get("init_from"):
        return "from random weights"
    before = " then ".join(map(_run_in_words, training.get("earlier_runs", ()))) or "an earlier run"
    return f"from the weights of {before}"


def _knowledge(config: Mapping[str, Any]) -> str:
    """Return a sentence on what a run used beyond the rules, or an empty string."""
    search = config.get("search", {})
    share = search.get("teacher_share", 0)
    known = {
        "feature planes": config["network"].get("features"),
        "heuristic leaf values": search.get("leaf_values") == "heuristic",
        f"the greedy search as teacher in the first {percent(share, digits=0)} of the run": share > 0,
    }
    given = ", ".join(what for what, is_known in known.items() if is_known)
    return f" Beyond the rules, training used {given}." if given else ""


def _run_in_words(run: Mapping[str, Any]) -> str:
    name = run["algorithm"]
    return f"{ALGORITHMS[name].title if name in ALGORITHMS else name} ({extent_in_words(run)})"


def _accuracy_table(rows: Sequence[Mapping[str, Any]]) -> str:
    players = list(dict.fromkeys(row["player"] for row in rows))
    cells: dict[tuple[str, ...], dict[str, str]] = {}
    for row in rows:
        part = f"last {row['last_actions']} actions" if row["last_actions"] else "whole games"
        board = f"`{row['game']}`", part, str(row["positions"])
        cells.setdefault(board, {})[row["player"]] = f"{percent(row['share'])} ({percent(*row['interval'])})"
    lines = ([*board, *(shares[player] for player in players)] for board, shares in cells.items())
    return markdown_table(["board", "from", "positions", *players], lines)


def _curve(match_results: Sequence[Mapping[str, Any]], unit: str) -> str:
    """Return a table of the matches during training; if there are many, an evenly spaced subset of them."""
    by_amount: dict[int, list[Mapping[str, Any]]] = {}
    for row in match_results:
        by_amount.setdefault(row[unit], []).append(row)
    at = sorted(by_amount)
    number = min(len(at), _MOST_CURVE_ROWS)
    chosen = [at[round(index * (len(at) - 1) / max(1, number - 1))] for index in range(number)]
    rows = [([f"{done:,}", duration(by_amount[done][0]["seconds"])], by_amount[done]) for done in chosen]
    return score_table((unit, "time"), rows, pairings_of(match_results), " ")


def _versions(libraries: Mapping[str, str]) -> str:
    return ", ".join(f"{library} {version}" for library, version in libraries.items())


# -- Texts and tables that other pages have in common with the cards ---------------------------------------------------


def extent_in_words(run: Mapping[str, Any]) -> str:
    """Return amount and duration of a run (see :func:`stoneworks.training.runs.run_folder.runs_before`) as text."""
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
    lines = []
    for cells, matches in rows:
        scores = {
            (row["player"], row["opponent"]): f"{percent(row['score'])}{separator}({percent(*row['interval'])})"
            for row in matches
        }
        lines.append([*cells, *(scores.get(pairing, "") for pairing in pairings)])
    return markdown_table([*heads, *(f"{player} against {opponent}" for player, opponent in pairings)], lines)
