"""Model cards of shipped checkpoints, and the tables of all shipped checkpoints, as Markdown generated from their files."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from stoneworks.envs.rules import load_game
from stoneworks.files import write_whole
from stoneworks.models import shipped
from stoneworks.models.checkpoint import METADATA_FILE, WEIGHTS_FILE, Checkpoint, CheckpointError
from stoneworks.reading import read_json
from stoneworks.training.runs.algorithms import ALGORITHMS
from stoneworks.training.runs.finished_run import (
    AVERAGED,
    algorithm_of,
    hardware_in_words,
    match_results_table,
    network_in_words,
    policy_in_words,
)
from stoneworks.training.text import duration, percent, replace_block

_MOST_CURVE_ROWS = 12
_BEGIN = "<!-- the shipped checkpoints, by `make checkpoint-tables` -->"
_END = "<!-- end of the shipped checkpoints -->"


def model_card(name: str, checkpoint: Checkpoint, final_matches: Mapping[str, Any], weaknesses: str) -> str:
    """Return the model card of a checkpoint.

    Args:
        name: name of the checkpoint for ``load_bot``.
        checkpoint: the checkpoint.
        final_matches: content of its ``matches.json``.
        weaknesses: description of known weaknesses.
    """
    return "\n".join(_sections(name, checkpoint, final_matches, weaknesses))


def _sections(name: str, checkpoint: Checkpoint, final_matches: Mapping[str, Any], weaknesses: str) -> Iterator[str]:
    game, training = checkpoint.game, checkpoint.training
    size = (checkpoint.folder / WEIGHTS_FILE).stat().st_size
    yield f"# {name}: an agent for {game}\n"
    yield (
        f'```python\nfrom stoneworks.models import load_bot\n\nbot = load_bot("{name}", "{game}")  # the policy alone\n'
        f'bot = load_bot("{name}@64", "{game}")  # with a search of 64 simulations\n```\n'
    )
    if game.scale_options:
        others = ", ".join(f"`{option}`" for option in game.scale_options)
        yield f"It also plays other values of {others}.\n"
    algorithm = algorithm_of(training, checkpoint.folder)
    amount, story = algorithm.amount, algorithm.run_story()
    total = training["config"][amount]
    yield "## Training\n"
    yield (
        f"{story.title} self-play {_beginning(training)}: {training[amount]:,} {amount} (of {total:,} planned), "
        f"{story.trained(training)}, {duration(training['seconds'])} on {hardware_in_words(training['hardware'])}. "
        f"{_averaging(training)}The network has {network_in_words(checkpoint.network)}; the weights file has {size:,} bytes.\n"
    )
    yield "## Evaluation\n"
    yield (
        f"{2 * final_matches['num_pairs']} games against each opponent on {final_matches['game']}, in pairs that start from the "
        f"same {final_matches['opening_actions']} random actions, with seats swapped. A draw counts as half a win; intervals are "
        f"95 % Wilson intervals. Played on {final_matches['date']}. `policy` {policy_in_words(checkpoint)}; `policy@<n>` is a "
        "search of n simulations.\n"
    )
    yield match_results_table(final_matches["matches"])
    yield from _targets(final_matches["matches"])
    yield from _ratings(final_matches["ratings"])
    for other in final_matches.get("other_games", ()):
        yield f"### On {other['game']}\n"
        yield match_results_table(other["matches"])
        yield from _ratings(other["ratings"])
    if training["match_results"]:
        yield "## Training progress\n"
        yield "Scores in matches during training, with 95 % Wilson intervals; these had fewer games.\n"
        yield _curve(training["match_results"], amount)
    yield "## Known weaknesses\n"
    yield f"{weaknesses.strip() or 'None known beyond the scores above.'}\n"
    yield f"## Configuration\n\n```yaml\n{yaml.safe_dump(training['config'], sort_keys=False)}```\n"
    trained_with, evaluated_with = _versions(checkpoint.libraries), _versions(final_matches["libraries"])
    software = "the same" if evaluated_with == trained_with else evaluated_with
    yield f"Trained with {trained_with}; evaluated with {software} on {hardware_in_words(final_matches['hardware'])}.\n"


def _beginning(training: Mapping[str, Any]) -> str:
    config = training["config"]
    if not config.get("init_from") and not config.get("positions_from"):
        return "from scratch"
    before = " then ".join(map(_run_in_words, training.get("earlier_runs", ()))) or "an earlier run"
    parts = (("init_from", "weights"), ("positions_from", "positions"))
    taken = " and ".join(f"the {what}" for key, what in parts if config.get(key))
    return f"from {taken} of {before}" + ("" if config.get("init_from") else ", with a new network")


def _averaging(training: Mapping[str, Any]) -> str:
    """Return a sentence about the averaging, with a trailing space; empty for a checkpoint that is not a mean."""
    if AVERAGED not in training:
        return ""
    number, runs = training[AVERAGED]["checkpoints"], training[AVERAGED]["runs"]
    others = f"with further training by {' and '.join(map(_run_in_words, runs))}" if runs else "of runs before it"
    return f"The weights are the mean of {number} checkpoints: that of this run, and {number - 1} {others}. "


def _run_in_words(run: Mapping[str, Any]) -> str:
    name = run["algorithm"]
    return f"{ALGORITHMS[name].run_story().title if name in ALGORITHMS else name} ({_extent(run)})"


def _extent(run: Mapping[str, Any]) -> str:
    """Return amount and duration of a run (see :func:`stoneworks.training.runs.initial_network.runs_before`) as text."""
    return f"{run['amount']:,} {run['unit']}, {duration(run['seconds'])}"


def _targets(matches: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    lines = []
    for row in matches:
        if row["target"] is not None:
            reached = "reached" if row["score"] >= row["target"] else "missed"
            lines.append(
                f"- {row['player']} against {row['opponent']}: goal {percent(row['target'])}, score {percent(row['score'])}: "
                f"{reached}."
            )
    if lines:
        yield "\n".join(lines) + "\n"


def _ratings(ratings: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    if ratings:
        shown = ", ".join(f"{row['player']} {row['elo']:,} ± {row['error']:,}" for row in ratings)
        yield (
            f"Elo ratings from these games on the ladder of the game ({ratings[0]['anchor']} = 0; standard errors include those "
            f"of the ladder): {shown}.\n"
        )


def _curve(match_results: Sequence[Mapping[str, Any]], amount: str) -> str:
    """Return a table of the matches during training; if there are many, an evenly spaced subset of them."""
    by_amount: dict[int, list[Mapping[str, Any]]] = {}
    for row in match_results:
        by_amount.setdefault(row[amount], []).append(row)
    at = sorted(by_amount)
    number = min(len(at), _MOST_CURVE_ROWS)
    chosen = [at[round(index * (len(at) - 1) / max(1, number - 1))] for index in range(number)]
    rows = [([f"{done:,}", duration(by_amount[done][0]["seconds"])], by_amount[done]) for done in chosen]
    return _score_table((amount, "time"), rows, _pairings(match_results), " ")


def _pairings(matches: Iterable[Mapping[str, Any]]) -> list[tuple[str, str]]:
    """Return the pairings of player and opponent, in the order of their first match."""
    return list(dict.fromkeys((row["player"], row["opponent"]) for row in matches))


def _score_table(
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


def _versions(libraries: Mapping[str, str]) -> str:
    return ", ".join(f"{library} {version}" for library, version in libraries.items())


# -- Tables of shipped checkpoints ---------------------------------------------------------------------------------------


def shipped_tables() -> str:
    """Return two Markdown tables of the shipped checkpoints: scores in the final matches on each board, and training."""
    scores, matches, training = [], [], []
    for name in shipped.names():
        folder = shipped.shipped_folder() / name
        description = read_json(folder / METADATA_FILE, CheckpointError)
        final_matches = read_json(folder / shipped.MATCHES_FILE, CheckpointError)
        for part in (final_matches, *final_matches.get("other_games", ())):
            games = "/".join(str(number) for number in dict.fromkeys(row["games"] for row in part["matches"]))
            scores.append(([f"`{name}`", part["game"], games], part["matches"]))
            matches += part["matches"]
        training.append(_training_row(name, folder, description))
    if not training:
        return "No checkpoint is shipped yet.\n"
    heads = "| name | last trained on | trained for | size |\n|---|---|---|---|\n"
    score_table = _score_table(("name", "board", "games each"), scores, _pairings(matches), "<br>")
    return f"{score_table}\n{heads}" + "\n".join(training) + "\n"


def _training_row(name: str, folder: Path, description: Mapping[str, Any]) -> str:
    training = description["training"]
    amount = algorithm_of(training, folder).amount
    this = {"amount": training[amount], "unit": amount, "seconds": training["seconds"]}
    trained = "<br>then ".join(_extent(run) for run in (*training.get("earlier_runs", ()), this))
    if AVERAGED in training:
        trained += f"<br>then the mean of {training[AVERAGED]['checkpoints']} checkpoints"
        trained += "".join(f"<br>and {_extent(run)}" for run in training[AVERAGED]["runs"])
    games = "<br>".join(str(load_game(game)) for game in training["config"].get("games") or (description["game"],))
    kib = description["files"][WEIGHTS_FILE]["bytes"] / 1024
    return f"| `{name}` | {games} | {trained} | {kib:,.0f} KiB |"


def page_with_tables(text: str) -> str:
    """Return the text of a page with :func:`shipped_tables` between its two marker lines.

    Raises:
        ValueError: the markers do not both occur exactly once, in order.
    """
    return replace_block(text, _BEGIN, _END, shipped_tables())


if __name__ == "__main__":
    for page in map(Path, sys.argv[1:]):
        write_whole(page, page_with_tables(page.read_text(encoding="utf-8")))
