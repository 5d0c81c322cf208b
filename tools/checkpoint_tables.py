"""Tables of the shipped checkpoints for the documentation, as Markdown generated from their files."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from stoneworks.envs.rules import load_game
from stoneworks.models import shipped
from stoneworks.models.checkpoint import METADATA_FILE, WEIGHTS_FILE, CheckpointError
from stoneworks.reading import read_json
from stoneworks.training.runs.run_folder import runs_before
from tools.model_card import extent_in_words, pairings_of, score_table
from tools.pages import markdown_table

#: The matches in the table of the README.
_SUMMARY = (("policy", "greedy"), ("policy@64", "greedy"), ("policy@64", "alphabeta:3"), ("policy@64", "mcts:1000"))


def summary_table() -> str:
    """Return a Markdown table of the scores of the shipped checkpoints on the official boards, in whole percent."""
    heads = ["official board", "agent", *(f"{player} against {opponent}" for player, opponent in _SUMMARY)]
    rows = []
    for name in shipped.names():
        matches = read_json(shipped.shipped_folder() / name / shipped.MATCHES_FILE, CheckpointError)
        for part in (matches, *matches.get("other_games", ())):
            if part["game"] == str(load_game(load_game(part["game"]).name)):
                scores = {
                    (row["player"], row["opponent"]): f"{math.floor(100 * row['score'] + 0.5)} %"
                    for row in part["matches"]
                }
                cells = [f"`{part['game']}`", f"`{name}`", *(scores.get(pairing, "") for pairing in _SUMMARY)]
                rows.append(cells)
    return markdown_table(heads, rows)


def shipped_tables() -> str:
    """Return two Markdown tables of the shipped checkpoints: scores in the final matches on each board, and training."""
    scores, matches, training = [], [], []
    for name in shipped.names():
        folder = shipped.shipped_folder() / name
        description = read_json(folder / METADATA_FILE, CheckpointError)
        final_matches = read_json(folder / shipped.MATCHES_FILE, CheckpointError)
        for part in (final_matches, *final_matches.get("other_games", ())):
            games = "/".join(str(number) for number in dict.fromkeys(row["games"] for row in part["matches"]))
            scores.append(([f"`{part['game']}`", games], part["matches"]))
            matches += part["matches"]
        training.append(_training_row(name, folder, description))
    if not training:
        return "No checkpoint is shipped yet.\n"
    of_scores = score_table(("board", "games each"), scores, pairings_of(matches), "<br>")
    return f"{of_scores}\n{markdown_table(('name', 'last trained on', 'trained for', 'size'), training)}"


def _training_row(name: str, folder: Path, description: Mapping[str, Any]) -> list[str]:
    training = description["training"]
    trained = "<br>then ".join(map(extent_in_words, runs_before(training, folder)))
    games = "<br>".join(f"`{load_game(game)}`" for game in training["config"].get("games") or (description["game"],))
    kib = description["files"][WEIGHTS_FILE]["bytes"] / 1024
    return [f"`{name}`", games, trained, f"{kib:,.0f} KiB"]
