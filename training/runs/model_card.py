"""Model cards of shipped checkpoints, as Markdown generated from their files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import yaml

from stoneworks.models.checkpoint import WEIGHTS_FILE, Checkpoint
from stoneworks.text import duration, percent
from stoneworks.training.runs.algorithms import ALGORITHMS
from stoneworks.training.runs.descriptions import (
    extent_in_words,
    hardware_in_words,
    match_results_table,
    network_in_words,
    pairings_of,
    policy_in_words,
    score_table,
)
from stoneworks.training.runs.training_information import AVERAGED, algorithm_of

_MOST_CURVE_ROWS = 12


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
    return f"{ALGORITHMS[name].run_story().title if name in ALGORITHMS else name} ({extent_in_words(run)})"


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
    return score_table((amount, "time"), rows, pairings_of(match_results), " ")


def _versions(libraries: Mapping[str, str]) -> str:
    return ", ".join(f"{library} {version}" for library, version in libraries.items())
