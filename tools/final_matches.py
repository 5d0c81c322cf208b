"""Final matches: the games that measure the strength of a checkpoint before it is shipped.

They are played as one arena per game, so they are stored in chunks and can be played by several processes.
"""

from __future__ import annotations

import datetime
import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from pydantic import Field

from stoneworks.documents import Document, Tuple
from stoneworks.envs.rules import Game, load_game
from stoneworks.evaluation.arena import ArenaResult, play_arena
from stoneworks.evaluation.folder import CHUNKS_FOLDER, folder_name, player_hashes
from stoneworks.evaluation.match import MAX_OPENING_ACTIONS, MAX_PAIRS_AT_ONCE, MatchResult, summarize
from stoneworks.evaluation.settings import ArenaSettings
from stoneworks.evaluation.solved_accuracy.measure import measure_solved_accuracy
from stoneworks.evaluation.solved_accuracy.positions import shipped_solved_positions
from stoneworks.models import load_bot
from stoneworks.models.bots.loading import playable_bots
from stoneworks.models.checkpoint import WEIGHTS_FILE, Checkpoint, library_versions
from stoneworks.training.runs.hardware import describe_hardware

POLICY_OPPONENTS = ("random", "greedy")
SEARCH_OPPONENTS = ("greedy", "alphabeta:3", "mcts:1000")

#: Folder in a run folder with the games of its final matches.
GAMES_FOLDER = "final_matches"
#: Pairs of games that are played concurrently and stored as one file: fewer make network searches slower (by a quarter
#: compared with 20, measured on Vadus 5 and Trugo 18), more take longer to repeat after an interruption.
CHUNK_PAIRS = 10


class FinalMatches(Document):
    """Settings of the matches that measure the strength of a shipped checkpoint.

    Attributes:
        policy_opponents: names of the opponents of the policy without search; None for those of ``POLICY_OPPONENTS`` that
            can play the game.
        search_opponents: names of the opponents of the search; None for those of ``SEARCH_OPPONENTS`` that can play it.
        simulations: simulations of the search.
        num_pairs: pairs of games per match.
        other_games: game strings, e.g. other board sizes, on which the same matches are played.
        other_pairs: pairs of games per match on these.
        slow_opponents: opponents whose games take so long that there are fewer, on all games.
        slow_pairs: maximum number of pairs of games per match with these.
        opening_actions: random actions at the start of each pair.
        seed: seed of all random numbers.

    Raises:
        DocumentError: a value is invalid.
    """

    policy_opponents: Tuple[str] | None = None
    search_opponents: Tuple[str] | None = None
    simulations: int = Field(64, ge=1)
    num_pairs: int = Field(100, ge=1, le=MAX_PAIRS_AT_ONCE)
    other_games: Tuple[str] = ()
    other_pairs: int = Field(20, ge=1, le=MAX_PAIRS_AT_ONCE)
    slow_opponents: Tuple[str] = ()
    slow_pairs: int = Field(30, ge=1, le=MAX_PAIRS_AT_ONCE)
    opening_actions: int = Field(3, ge=0, le=MAX_OPENING_ACTIONS)
    seed: int = Field(0, ge=0)


def play_final_matches(
    checkpoint: Checkpoint,
    matches: FinalMatches,
    *,
    folder: Path,
    workers: int = 1,
    progress: Callable[[str, int, int], None] | None = None,
) -> dict[str, Any]:
    """Play the final matches of a checkpoint, and return the content of its ``matches.json``.

    Args:
        checkpoint: the checkpoint.
        matches: the final matches.
        folder: folder of the games, with one folder for each game and its settings. Games that are there, from an
            interrupted call with equal settings, checkpoints, hardware and libraries, are not played again.
        workers: number of worker processes (see :func:`~stoneworks.evaluation.arena.play_arena`).
        progress: called after each chunk of games with a description, the number of finished games and the total.

    Raises:
        ArenaPlayError: a player failed. Finished games are kept.
        CheckpointError: the checkpoint cannot play one of the other games.
        InUseError: another process is playing the same matches.
        UnknownBotError: an opponent's name is unknown.
        ValueError: the string of another game, or ``workers``, is invalid.
    """
    arenas = _arenas(checkpoint, matches)
    circumstances = {"hardware": describe_hardware(), "libraries": library_versions()}
    played_on: dict[Game, list[MatchResult]] = {}
    dates = []
    for game, settings, players in arenas:
        inputs = settings.to_fields(), player_hashes(players), circumstances
        arena = folder / folder_name(settings.game, inputs)
        result = play_arena(settings, arena, players, workers=workers, progress=_games_progress(progress))
        played_on.setdefault(game, []).extend(result.matches)
        dates.append(_date_of_games(arena))
    own, *of_others = ({"game": str(game), "matches": list(map(_row, played))} for game, played in played_on.items())
    return {
        "format": "stoneworks matches",
        "format_version": 1,
        "environment_version": checkpoint.game.version,
        "date": max(dates).isoformat(),
        "num_pairs": matches.num_pairs,
        "chunk_pairs": CHUNK_PAIRS,
        "opening_actions": matches.opening_actions,
        "seed": matches.seed,
        "weights_sha256": hashlib.sha256((checkpoint.folder / WEIGHTS_FILE).read_bytes()).hexdigest(),
        **own,
        "other_games": of_others,
        "accuracy": list(_accuracies(checkpoint, matches.simulations)),
        **circumstances,
    }


def _accuracies(checkpoint: Checkpoint, simulations: int) -> Iterator[dict[str, Any]]:
    """Yield how often the policy and the search keep the exact result, on each stored sample of the game."""
    for sample in shipped_solved_positions(checkpoint.game.name):
        game = load_game(sample.game)
        for search in ("", f"@{simulations}"):
            bot = load_bot(f"{checkpoint.folder}{search}", game, seed=0)
            share, interval, number = measure_solved_accuracy(bot, game, sample).share()
            row = {"player": f"policy{search}", "share": share, "interval": list(interval), "positions": number}
            yield {"game": sample.game, "last_actions": sample.last_actions, **row}


def _date_of_games(folder: Path) -> datetime.date:
    """Return the day, in UTC, on which the last games in the folder of an arena were written."""
    newest = max(file.stat().st_mtime for file in (folder / CHUNKS_FOLDER).iterdir())
    return datetime.datetime.fromtimestamp(newest, datetime.UTC).date()


def _arenas(checkpoint: Checkpoint, matches: FinalMatches) -> list[tuple[Game, ArenaSettings, dict[str, str]]]:
    """Return the arenas: the game, the settings, and the names of the bots by player; all can be loaded."""
    path, search = str(checkpoint.folder), f"policy@{matches.simulations}"
    names = {"policy": path, search: f"{path}@{matches.simulations}"}
    pairs_on = {checkpoint.game: matches.num_pairs}
    for other in matches.other_games:
        pairs_on.setdefault(load_game(other), matches.other_pairs)
    arenas = []
    for game, num_pairs in pairs_on.items():
        pairings = _pairings(game, search, matches)
        slow = tuple(pairing for pairing in pairings if pairing[1] in matches.slow_opponents)
        fast = tuple(pairing for pairing in pairings if pairing not in slow)
        for chosen, number in ((fast, num_pairs), (slow, min(num_pairs, matches.slow_pairs))):
            if not chosen:
                continue
            settings = ArenaSettings(
                game=str(game),
                pairings=chosen,
                num_pairs=number,
                chunk_pairs=CHUNK_PAIRS,
                opening_actions=matches.opening_actions,
                seed=matches.seed,
            )
            players = {player: names.get(player, player) for player in settings.players}
            for name in players.values():
                load_bot(name, game).close()
            arenas.append((game, settings, players))
    return arenas


def _pairings(game: Game, search: str, matches: FinalMatches) -> tuple[tuple[str, str], ...]:
    """Return the players and opponents of the matches on one game; ``search`` is the name of the player with search."""
    return tuple(
        (player, opponent)
        for player, given, default in (
            ("policy", matches.policy_opponents, POLICY_OPPONENTS),
            (search, matches.search_opponents, SEARCH_OPPONENTS),
        )
        for opponent in (playable_bots(default, game) if given is None else given)
    )


def _row(match: MatchResult) -> dict[str, Any]:
    player, opponent = match.names
    return {
        "player": player,
        **summarize(match, opponent),
        "by_seat": [list(tally) for tally in match.by_seat],
        "by_pair": match.by_pair.tolist(),
    }


def _games_progress(progress: Callable[[str, int, int], None] | None) -> Callable[[ArenaResult], None] | None:
    if progress is None:
        return None
    return lambda result: progress(
        f"final matches on {result.settings.game}",
        result.num_games,
        2 * result.settings.total_pairs,
    )
