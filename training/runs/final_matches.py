"""Final matches: the games that measure the strength of a checkpoint before it is shipped."""

from __future__ import annotations

import contextlib
import datetime
import hashlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from stoneworks.envs.rules import Game, load_game
from stoneworks.envs.rules.checks import check_integer
from stoneworks.files import append_json_line
from stoneworks.models import Bot, load_bot
from stoneworks.models.bots.loading import playable_bots
from stoneworks.models.bots.policy_bot import PolicyBot
from stoneworks.models.bots.search_bot import SearchBot
from stoneworks.models.checkpoint import (
    WEIGHTS_FILE,
    Checkpoint,
    CheckpointError,
    library_versions,
    load_checkpoint,
)
from stoneworks.reading import read_json_lines
from stoneworks.training.arena.checkpoint_hashes import checkpoint_hash, checkpoint_hashes
from stoneworks.training.arena.ladder import shipped_ladders
from stoneworks.training.arena.match import MAX_OPENING_ACTIONS, MAX_PAIRS_AT_ONCE, play_match, summarize
from stoneworks.training.arena.results import rate_summaries
from stoneworks.training.runs.hardware import describe_hardware

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

#: File of a run folder with the results of finished matches.
FINISHED_FILE = "final_matches.jsonl"


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

    Raises:
        ValueError: a number is out of bounds.
    """

    policy_opponents: tuple[str, ...] | None = None
    search_opponents: tuple[str, ...] | None = None
    simulations: int = 64
    num_pairs: int = 100
    other_games: tuple[str, ...] = ()
    other_pairs: int = 20
    opening_actions: int = 3
    seed: int = 0

    def __post_init__(self) -> None:
        """Check the numbers."""
        check_integer("simulations", self.simulations, 1)
        check_integer("num_pairs", self.num_pairs, 1, MAX_PAIRS_AT_ONCE)
        check_integer("other_pairs", self.other_pairs, 1, MAX_PAIRS_AT_ONCE)
        check_integer("opening_actions", self.opening_actions, 0, MAX_OPENING_ACTIONS)
        check_integer("seed", self.seed, 0)


def play_final_matches(
    checkpoint: Checkpoint,
    matches: FinalMatches,
    *,
    file: Path,
    progress: Callable[[str, int, int], None] | None = None,
) -> dict[str, Any]:
    """Play the final matches of a checkpoint, and return the content of its ``matches.json``.

    Args:
        checkpoint: the checkpoint.
        matches: the final matches.
        file: a JSON lines file of finished matches. Those with the same settings are not played again; each finished
            match is appended.
        progress: called after each step with a description of the match, the number of finished games and the total.

    Raises:
        CheckpointError: the checkpoint cannot play one of the other games.
        UnknownBotError: an opponent's name is unknown.
        ValueError: the string of another game is invalid.
    """
    game = checkpoint.game
    games = [game, *map(load_game, matches.other_games)]
    pairings = [list(_pairings(load_checkpoint(checkpoint.folder, each), each, matches)) for each in games]
    hardware, libraries = describe_hardware(), library_versions()
    same = {"checkpoint_sha256": checkpoint_hash(checkpoint.folder), "hardware": hardware, "libraries": libraries}
    series = _Series(matches, same, file, progress)
    rows = series.play(game, pairings[0], matches.num_pairs, TARGETS)
    of_others = [
        series.play(other, of_game, matches.other_pairs, {})
        for other, of_game in zip(games[1:], pairings[1:], strict=True)
    ]
    return {
        "format": "stoneworks matches",
        "format_version": 1,
        "game": str(game),
        "environment_version": game.version,
        "date": max(row["date"] for part in (rows, *of_others) for row in part),
        "num_pairs": matches.num_pairs,
        "opening_actions": matches.opening_actions,
        "seed": matches.seed,
        "weights_sha256": hashlib.sha256((checkpoint.folder / WEIGHTS_FILE).read_bytes()).hexdigest(),
        "matches": rows,
        "ratings": _ratings(game, rows),
        "other_games": [
            {"game": str(other), "matches": part, "ratings": _ratings(other, part)}
            for other, part in zip(games[1:], of_others, strict=True)
        ],
        "hardware": hardware,
        "libraries": libraries,
    }


class _Series:
    """Matches whose results are stored in ``file``; those that it contains with the same settings are not played again."""

    def __init__(
        self,
        matches: FinalMatches,
        same: Mapping[str, Any],
        file: Path,
        progress: Callable[[str, int, int], None] | None,
    ) -> None:
        """Read the stored results. ``same`` are further settings of all matches."""
        self._matches = matches
        self._same = same
        self._file = file
        self._finished = read_json_lines(file, CheckpointError) if file.is_file() else []
        self._progress = progress

    def play(
        self,
        game: Game,
        pairings: Sequence[tuple[str, Bot, str]],
        num_pairs: int,
        targets: Mapping[tuple[str, str], float],
    ) -> list[dict[str, Any]]:
        """Return the results of the matches on one game; those without a stored result are played."""
        rows = []
        for number, (player, bot, opponent) in enumerate(pairings):
            seeds = np.random.SeedSequence((self._matches.seed, number)).generate_state(2)
            of_opponent, of_openings = map(int, seeds)
            settings = {
                **self._same,
                "opponent_sha256": checkpoint_hashes({opponent: opponent}).get(opponent),
                "game": str(game),
                "environment_version": game.version,
                "player": player,
                "opponent": opponent,
                "num_pairs": num_pairs,
                "opening_actions": self._matches.opening_actions,
                "opponent_seed": of_opponent,
                "openings_seed": of_openings,
            }
            row = next((match["result"] for match in self._finished if match.get("settings") == settings), None)
            if row is None:
                row = self._played(game, bot, settings) | {"target": targets.get((player, opponent))}
                append_json_line(self._file, {"settings": settings, "result": row})
            rows.append(row)
        return rows

    def _played(self, game: Game, bot: Bot, settings: Mapping[str, Any]) -> dict[str, Any]:
        """Play one match and return its result."""
        keys = "player", "opponent", "opponent_seed", "openings_seed"
        player, opponent, of_opponent, of_openings = (settings[key] for key in keys)
        progress = None if self._progress is None else _named(self._progress, f"{player} against {opponent}")
        began = time.monotonic()
        with contextlib.closing(load_bot(opponent, game, of_opponent)) as other:
            result = play_match(
                game,
                bot,
                other,
                num_pairs=settings["num_pairs"],
                opening_actions=settings["opening_actions"],
                seed=of_openings,
                progress=progress,
            )
        return (
            {"player": player}
            | summarize(result, opponent)
            | {
                "by_seat": [list(tally) for tally in result.by_seat],
                "by_pair": result.by_pair.tolist(),
                "opponent_seed": of_opponent,
                "openings_seed": of_openings,
                "seconds": round(time.monotonic() - began, 1),
                "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
            }
        )


def _ratings(game: Game, rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the ladder ratings of the players, from their games against its anchors; empty if the game has no ladder."""
    ladder = shipped_ladders().get(str(game))
    if ladder is None:
        return []
    return [
        {"player": player, "elo": round(elo), "error": round(error), "anchor": ladder.ratings.anchor}
        for player, (elo, error) in rate_summaries(ladder.ratings, str(game), rows).items()
    ]


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
