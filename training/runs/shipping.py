"""Shipping: the final matches of a checkpoint, and the folder of a checkpoint that is included in stoneworks."""

from __future__ import annotations

import contextlib
import datetime
import hashlib
import json
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from stoneworks.envs.rules import Game, load_game
from stoneworks.files import write_whole
from stoneworks.models import Bot, load_bot
from stoneworks.models.bots.loading import playable_bots
from stoneworks.models.bots.policy_bot import PolicyBot
from stoneworks.models.bots.search_bot import SearchBot
from stoneworks.models.checkpoint import (
    METADATA_FILE,
    TRAINING_FILE,
    WEIGHTS_FILE,
    Checkpoint,
    CheckpointError,
    library_versions,
    load_checkpoint,
    replace_folder,
)
from stoneworks.models.shipped import CARD_FILE, MATCHES_FILE
from stoneworks.reading import read_bytes, read_json
from stoneworks.training.arena.ladder import load_ladder, shipped_ladders
from stoneworks.training.arena.match import MatchResult, play_match, summarize
from stoneworks.training.arena.ratings import rate_against
from stoneworks.training.runs.finished_run import algorithm_of, check_training
from stoneworks.training.runs.hardware import describe_hardware, torch_threads
from stoneworks.training.runs.model_card import model_card

POLICY_OPPONENTS = ("random", "greedy")
SEARCH_OPPONENTS = ("greedy", "alphabeta:3", "mcts:1000")

#: Target score of a player against an opponent, on the game that it was trained on.
TARGETS = {
    ("policy", "random"): 0.99,
    ("policy", "greedy"): 0.5,
    ("policy@64", "greedy"): 0.8,
    ("policy@64", "alphabeta:3"): 0.6,
    ("policy@64", "mcts:1000"): 0.95,
}

#: Maximum size of the weights of a shipped checkpoint.
MAX_WEIGHTS_BYTES = 16 * 2**20


@dataclass(frozen=True)
class FinalMatches:
    """Settings of the matches that measure the strength of a shipped checkpoint.

    Attributes:
        policy_opponents: names of the opponents of the policy without search; None for those of ``POLICY_OPPONENTS`` that
            can play the game.
        search_opponents: names of the opponents of the search; None for those of ``SEARCH_OPPONENTS`` that can play it.
        simulations: simulations of the search.
        num_pairs: pairs of games per match.
        other_games: game strings, e.g. other board sizes, on which the same matches are played.
        other_pairs: pairs of games per match on these.
        opening_actions: random actions at the start of each pair.
        seed: seed of all random numbers.
    """

    policy_opponents: tuple[str, ...] | None = None
    search_opponents: tuple[str, ...] | None = None
    simulations: int = 64
    num_pairs: int = 100
    other_games: tuple[str, ...] = ()
    other_pairs: int = 20
    opening_actions: int = 3
    seed: int = 0


def ship(
    run_folder: str | Path,
    name: str,
    *,
    into: str | Path,
    matches: FinalMatches | None = None,
    weaknesses: str = "",
    progress: Callable[[str, int, int], None] | None = None,
) -> Path:
    """Play the final matches of a run's checkpoint, and write the shipped checkpoint to the folder ``into / name``.

    The folder contains the weights, ``checkpoint.json``, ``matches.json`` and the model card, without the training state. It is
    written atomically and replaces an existing one.

    Args:
        run_folder: the folder of the run.
        name: name for :func:`stoneworks.models.load_bot`: the game's name, optionally followed by a hyphen and a suffix.
        into: the folder of the shipped checkpoints (see :func:`stoneworks.models.shipped.shipped_folder`).
        matches: the final matches.
        weaknesses: description of known weaknesses, for the model card.
        progress: called after each step with a description of the match, the number of finished games and the total.

    Returns:
        The new folder.

    Raises:
        CheckpointError: there is no complete checkpoint, its algorithm is not registered, or its weights are too large.
        UnknownBotError: an opponent's name is unknown.
        ValueError: the name does not match the game, or ``matches`` is invalid.
    """
    source = Path(run_folder) / "checkpoint"
    target = Path(into) / name
    with tempfile.TemporaryDirectory() as staging:
        new = Path(staging) / "checkpoint"
        checkpoint = _copy_for_playing(source, new)
        game = checkpoint.game
        if re.fullmatch(rf"{game.name}(-[a-z0-9]+)*", name) is None:
            raise ValueError(
                f"name must be {game.name!r}, or {game.name + '-'!r} followed by lower-case letters or digits, got {name!r}"
            )
        with torch_threads(1):  # more threads are slow on a busy machine and do not speed up networks of this size
            final_matches = evaluate(checkpoint, matches or FinalMatches(), progress)
        write_whole(new / MATCHES_FILE, _json(final_matches))
        write_whole(new / CARD_FILE, model_card(name, checkpoint, final_matches, weaknesses))
        target.parent.mkdir(parents=True, exist_ok=True)
        beside = Path(tempfile.mkdtemp(prefix=f".{name}.", suffix=".tmp", dir=target.parent))
        try:
            shutil.copytree(new, beside, dirs_exist_ok=True)
            replace_folder(beside, target)
        finally:
            shutil.rmtree(beside, ignore_errors=True)
    return target


def _copy_for_playing(source: Path, folder: Path) -> Checkpoint:
    """Copy the checkpoint ``source`` without the training state, and return the copy as read from ``folder``."""
    file = source / METADATA_FILE
    load_checkpoint(source)
    description = read_json(file, CheckpointError)
    training = description["training"]
    check_training(training, algorithm_of(training, source).amount, source)
    weights = read_bytes(source / WEIGHTS_FILE, CheckpointError)
    if len(weights) > MAX_WEIGHTS_BYTES:
        raise CheckpointError(
            f"{source / WEIGHTS_FILE} must have at most {MAX_WEIGHTS_BYTES:,} bytes to be shipped, got {len(weights):,}"
        )
    description["files"].pop(TRAINING_FILE, None)
    training.pop("random_state", None)
    folder.mkdir()
    (folder / METADATA_FILE).write_text(_json(description), encoding="utf-8")
    (folder / WEIGHTS_FILE).write_bytes(weights)
    return load_checkpoint(folder)


def evaluate(
    checkpoint: Checkpoint, matches: FinalMatches, progress: Callable[[str, int, int], None] | None = None
) -> dict[str, Any]:
    """Play the final matches of a checkpoint, and return the content of ``matches.json``. See :func:`ship`."""
    game = checkpoint.game
    rows, ratings = _play(checkpoint, game, matches, matches.num_pairs, TARGETS, progress)
    other_games = []
    for name in matches.other_games:
        other_game = load_game(name)
        loaded = load_checkpoint(checkpoint.folder, other_game)
        other_rows, other_ratings = _play(loaded, other_game, matches, matches.other_pairs, {}, progress)
        other_games.append({"game": str(other_game), "matches": other_rows, "ratings": other_ratings})
    return {
        "format": "stoneworks matches",
        "format_version": 1,
        "game": str(game),
        "environment_version": game.version,
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "num_pairs": matches.num_pairs,
        "opening_actions": matches.opening_actions,
        "seed": matches.seed,
        "weights_sha256": hashlib.sha256((checkpoint.folder / WEIGHTS_FILE).read_bytes()).hexdigest(),
        "matches": rows,
        "ratings": ratings,
        "other_games": other_games,
        "hardware": describe_hardware(),
        "libraries": library_versions(),
    }


def _play(
    checkpoint: Checkpoint,
    game: Game,
    matches: FinalMatches,
    num_pairs: int,
    targets: Mapping[tuple[str, str], float],
    progress: Callable[[str, int, int], None] | None,
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Play the matches on one game; return their results and the ratings of the players."""
    rows = []
    results: list[MatchResult] = []
    for number, (player, bot, opponent) in enumerate(list(_pairings(checkpoint, game, matches))):
        seeds = np.random.SeedSequence((matches.seed, number)).generate_state(2)
        of_opponent, of_openings = map(int, seeds)
        began = time.monotonic()
        with contextlib.closing(load_bot(opponent, game, of_opponent)) as other:
            result = play_match(
                game,
                bot,
                other,
                num_pairs=num_pairs,
                opening_actions=matches.opening_actions,
                seed=of_openings,
                progress=None if progress is None else _named(progress, f"{player} against {opponent}"),
            )
        results.append(replace(result, names=(player, opponent)))
        rows.append(
            {"player": player}
            | summarize(result, opponent)
            | {
                "by_seat": [list(tally) for tally in result.by_seat],
                "target": targets.get((player, opponent)),
                "opponent_seed": of_opponent,
                "openings_seed": of_openings,
                "seconds": round(time.monotonic() - began, 1),
            }
        )
    return rows, _ratings(game, results)


def _ratings(game: Game, results: Sequence[MatchResult]) -> list[dict[str, Any]]:
    """Return the ladder ratings of the players, from their games against its anchors; empty if the game has no ladder."""
    if str(game) not in shipped_ladders():
        return []
    ladder = load_ladder(game).ratings
    rows = []
    for player in dict.fromkeys(result.names[0] for result in results):
        against = [result for result in results if result.names[0] == player and result.names[1] in ladder.names]
        if against:
            elo, error = rate_against(ladder, player, against)
            rows.append({"player": player, "elo": round(elo), "error": round(error), "anchor": ladder.anchor})
    return rows


def _pairings(checkpoint: Checkpoint, game: Game, matches: FinalMatches) -> Iterator[tuple[str, Bot, str]]:
    """Yield tuples of player name, player and opponent name, after checking that all opponents can be loaded."""
    policy_opponents, search_opponents = (
        playable_bots(default, game) if given is None else given
        for given, default in (
            (matches.policy_opponents, POLICY_OPPONENTS),
            (matches.search_opponents, SEARCH_OPPONENTS),
        )
    )
    for opponent in (*policy_opponents, *search_opponents):
        load_bot(opponent, game).close()
    for number, opponent in enumerate(policy_opponents):
        seed = int(np.random.SeedSequence((matches.seed, number, 1)).generate_state(1)[0])
        yield (
            "policy",
            PolicyBot(checkpoint.network, game, seed, deterministic=checkpoint.deterministic_policy),
            opponent,
        )
    name = f"policy@{matches.simulations}"
    for opponent in search_opponents:
        yield (
            name,
            SearchBot.of_checkpoint(checkpoint, game, seed=0, simulations=matches.simulations, name=name),
            opponent,
        )


def _named(progress: Callable[[str, int, int], None], what: str) -> Callable[[int, int], None]:
    return lambda over, games: progress(what, over, games)


def _json(values: Mapping[str, Any]) -> str:
    return json.dumps(values, indent=2, allow_nan=False) + "\n"
