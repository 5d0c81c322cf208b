"""``rate``: rate a player against the anchors of a ladder, with most games against the anchors of similar strength."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.table import Table

from stoneworks.envs.rules import Game, load_game
from stoneworks.envs.rules.checks import check_integer
from stoneworks.evaluation.ladder import Ladder, load_ladder
from stoneworks.evaluation.match import MatchResult, join_matches
from stoneworks.evaluation.play import ArenaResult, play_arena
from stoneworks.evaluation.ratings import expected_score, rate_against
from stoneworks.evaluation.settings import ArenaSettings
from stoneworks.evaluation.sprt import pentanomial
from stoneworks.evaluation.workers import Player
from stoneworks.models import Bot
from stoneworks.models.bots.spec import check_name_in_file
from stoneworks.text import percent


@dataclass(frozen=True)
class RateResult:
    """The rating of a player on a ladder.

    Attributes:
        name: the player.
        elo: its rating on the scale of the ladder.
        error: the standard error of the rating, including the errors of the ladder.
        matches: all games, by anchor.
        ladder: the ladder.
    """

    name: str
    elo: float
    error: float
    matches: tuple[MatchResult, ...]
    ladder: Ladder

    @property
    def num_games(self) -> int:
        """Number of games."""
        return sum(match.num_games for match in self.matches)

    def __str__(self) -> str:
        scale = f"{self.ladder.ratings.anchor} = 0, {self.num_games} games"
        return f"{self.name} is rated {self.elo:.0f} ± {self.error:.0f} in {self.ladder.game} ({scale})"

    def expected_score(self, anchor: str) -> float:
        """Return the expected score against an anchor, predicted from the ratings and averaged over both seats."""
        ratings = self.ladder.ratings
        difference = self.elo - ratings.rating(anchor)[0]
        seats = ratings.seat_elo, -ratings.seat_elo
        return sum(expected_score(difference + seat) for seat in seats) / 2

    def table(self) -> Table:
        """Return a table of the actual and predicted scores against each anchor."""
        table = Table(title=str(self))
        for heading in ("anchor", "its rating", "score", "by the ratings", "games", "distinct"):
            table.add_column(heading, justify="left" if heading == "anchor" else "right", overflow="fold")
        for match in sorted(self.matches, key=lambda match: -self.ladder.ratings.rating(match.names[1])[0]):
            anchor = match.names[1]
            table.add_row(
                anchor,
                f"{self.ladder.ratings.rating(anchor)[0]:.0f}",
                percent(match.score),
                percent(self.expected_score(anchor)),
                str(match.num_games),
                str(match.num_distinct_games),
            )
        return table

    def to_fields(self) -> dict[str, Any]:
        """Return the result as JSON-serializable fields."""
        return {
            "name": self.name,
            "game": self.ladder.game,
            "elo": self.elo,
            "error": self.error,
            "ladder_made": dict(self.ladder.fields["made"]),
            "anchors": [
                {
                    "name": match.names[1],
                    "elo": self.ladder.ratings.rating(match.names[1])[0],
                    "pentanomial": pentanomial(match.scores).tolist(),
                    "distinct_games": match.num_distinct_games,
                }
                for match in self.matches
            ],
        }


def rate(
    player: Player,
    game: Game | str,
    folder: str | os.PathLike[str],
    *,
    name: str | None = None,
    ladder: Ladder | None = None,
    anchors: Mapping[str, Player] | None = None,
    num_pairs: int = 50,
    num_anchors: int = 4,
    scout_pairs: int = 2,
    workers: int = 1,
    cluster: str = "",
    seed: int = 0,
    trust_names: bool = False,
    progress: Callable[[ArenaResult], None] | None = None,
) -> RateResult:
    """Rate a player by games against the anchors of a ladder, whose ratings are fixed.

    A few pairs of games with every anchor give a first estimate; then the player plays the anchors with the nearest ratings.
    Anchors that are checkpoints and have changed since the ladder was made are left out, as their ratings no longer hold.
    All games count and are saved in the folder, so an interrupted call can be repeated to continue.

    Args:
        player: the name of a bot, the path of a checkpoint, a ``Bot``, or a function that makes one from a game and a seed.
        game: the game, or its game string.
        folder: folder of the games, with the subfolders ``scouting/`` and ``rating/``.
        name: name of the player in results; by default the name of the bot, with the suffix "(rated)" if an anchor has it.
        ladder: the ladder; by default the one included in stoneworks.
        anchors: players for names on the ladder that are not bot names.
        num_pairs: pairs of games with each of the nearest anchors.
        num_anchors: number of nearest anchors.
        scout_pairs: pairs of games with each anchor for the first estimate.
        workers: number of worker processes (see :func:`play_arena`).
        cluster: Ray cluster to play on instead (see :func:`play_arena`).
        seed: seed of openings and players.
        trust_names: whether names of the ladder's players may start programs or be paths.
        progress: called with the results so far of the current part, scouting or rating.

    Raises:
        LadderError: there is no ladder for the game, or it belongs to another game.
        UntrustedNameError: the name of a ladder player starts a program or is a path.
        ValueError: an argument is invalid; see also :func:`play_arena`.
    """
    loaded = load_game(game) if isinstance(game, str) else game
    for argument, value, minimum in (
        ("num_pairs", num_pairs, 1),
        ("num_anchors", num_anchors, 1),
        ("scout_pairs", scout_pairs, 1),
        ("seed", seed, 0),
    ):
        check_integer(argument, value, minimum)
    steps = load_ladder(loaded) if ladder is None else ladder
    if steps.game != str(loaded):
        raise ValueError(f"ladder must be one for {loaded}, got one for {steps.game}")
    ratings = steps.ratings
    for anchor in ratings.names if not trust_names else ():
        if anchor not in (anchors or {}):
            check_name_in_file(anchor, f"the ladder of {steps.game}", None)
    called = name if name is not None else player if isinstance(player, str) else _name_of(player)
    if called in ratings.names:
        called += " (rated)"
    seeds = np.random.SeedSequence(seed).generate_state(2).tolist()

    def play(part: str, opponents: tuple[str, ...], pairs: int, part_seed: int) -> tuple[MatchResult, ...]:
        settings = ArenaSettings(
            steps.game,
            tuple((called, opponent) for opponent in opponents),
            num_pairs=pairs,
            opening_actions=steps.opening_actions,
            seed=part_seed,
        )
        players = {name: bot for name, bot in (anchors or {}).items() if name in opponents} | {called: player}
        return play_arena(
            settings, Path(folder) / part, players, workers=workers, cluster=cluster, progress=progress
        ).matches

    changed = set(steps.changed_players()) - set(anchors or {})
    order = tuple(anchor for anchor in ratings.order if anchor not in changed)
    scouted = play("scouting", order, scout_pairs, seeds[0])
    estimate, _ = rate_against(ratings, called, scouted)
    nearest = tuple(sorted(order, key=lambda anchor: abs(ratings.rating(anchor)[0] - estimate))[:num_anchors])
    played = play("rating", nearest, num_pairs, seeds[1])
    matches = tuple(
        join_matches([match for match in (*scouted, *played) if match.names[1] == anchor]) for anchor in order
    )
    elo, error = rate_against(ratings, called, matches)
    return RateResult(called, elo, error, matches, steps)


def _name_of(player: Player) -> str:
    if isinstance(player, Bot):
        return player.name
    return str(getattr(player, "__name__", type(player).__name__))
