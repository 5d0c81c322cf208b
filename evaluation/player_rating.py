"""``rate``: rate a player against the anchors of a ladder, with most games against the anchors of similar strength.

``shipped_ratings`` looks up what is rated already, and ``opponent_levels`` chooses opponents for people from it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, lru_cache
from pathlib import Path

import numpy as np
from pydantic import Field, computed_field
from rich.table import Table

from stoneworks.documents import Document, Tuple
from stoneworks.envs.rules import Game
from stoneworks.evaluation.arena import play_arena
from stoneworks.evaluation.folder import player_hashes
from stoneworks.evaluation.ladder import Ladder, LadderError, load_ladder
from stoneworks.evaluation.match import MatchResult, join_matches
from stoneworks.evaluation.ratings import expected_score, rate_against
from stoneworks.evaluation.results import ArenaResult
from stoneworks.evaluation.settings import MAX_PAIRS, ArenaSettings
from stoneworks.evaluation.workers import Player, check_players_unchanged
from stoneworks.models import Bot
from stoneworks.models.bots.spec import BotSpec, check_name_in_file
from stoneworks.text import percent


class RateSettings(Document):
    """Settings of :func:`rate`.

    Attributes:
        name: name of the player in results; by default the name of the bot, with the suffix "(rated)" if an anchor has it.
        num_pairs: pairs of games with each of the nearest anchors.
        num_anchors: number of nearest anchors.
        scout_pairs: pairs of games with each anchor for the first estimate.
        seed: seed of openings and players.
        trust_names: whether names of the ladder's players may start programs or be paths.
    """

    name: str | None = None
    num_pairs: int = Field(50, ge=1, le=MAX_PAIRS)
    num_anchors: int = Field(4, ge=1)
    scout_pairs: int = Field(2, ge=1, le=MAX_PAIRS)
    seed: int = Field(0, ge=0)
    trust_names: bool = False


class RateResult(Document):
    """The rating of a player on a ladder.

    Attributes:
        name: the player.
        matches: all games, by anchor; in files without the games.
        ladder: the ladder.
    """

    name: str
    matches: Tuple[MatchResult]
    ladder: Ladder

    @cached_property
    def _rating(self) -> tuple[float, float]:
        return rate_against(self.ladder.ratings, self.name, self.matches)

    @computed_field  # type: ignore[prop-decorator]
    @property
    def elo(self) -> float:
        """The rating on the scale of the ladder."""
        return self._rating[0]

    @computed_field(alias="error")  # type: ignore[prop-decorator]
    @property
    def standard_error(self) -> float:
        """The standard error of the rating, including the errors of the ladder."""
        return self._rating[1]

    @property
    def num_games(self) -> int:
        """Number of games."""
        return sum(match.num_games for match in self.matches)

    def __str__(self) -> str:
        scale = f"{self.ladder.ratings.anchor} = 0, {self.num_games} games"
        return f"{self.name} is rated {self.elo:.0f} ± {self.standard_error:.0f} in {self.ladder.game} ({scale})"

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


def rate(
    player: Player,
    game: Game | str | Ladder,
    folder: str | os.PathLike[str],
    settings: RateSettings | None = None,
    *,
    anchors: Mapping[str, Player] | None = None,
    workers: int = 1,
    cluster: str = "",
    progress: Callable[[ArenaResult], None] | None = None,
) -> RateResult:
    """Rate a player by games against the anchors of a ladder, whose ratings are fixed.

    A few pairs of games with every anchor give a first estimate; then the player plays the anchors with the nearest ratings.
    Checkpoints that have changed since the ladder was made are left out, and, without torch, bots that require it. All games
    count; an interrupted call can be repeated.

    Args:
        player: the name of a bot, the path of a checkpoint, a ``Bot``, or a function that makes one from a game and a seed.
        game: the game or its game string, for the ladder included in stoneworks, or another ladder.
        folder: folder of the games, with the subfolders ``scouting/`` and ``rating/``.
        settings: number of games, seed and name; None for the defaults.
        anchors: players for names on the ladder that are not bot names.
        workers: number of worker processes (see :func:`play_arena`).
        cluster: Ray cluster to play on instead (see :func:`play_arena`).
        progress: called with the results so far of scouting or rating.

    Raises:
        LadderError: there is no ladder for the game.
        UntrustedNameError: the name of a ladder player starts a program or is a path.
        ValueError: an argument is invalid; see also :func:`play_arena`.
    """
    ladder = game if isinstance(game, Ladder) else load_ladder(game)
    settings, ratings, players = settings or RateSettings(), ladder.ratings, dict(anchors or {})
    _check_anchors(ladder, players, settings)
    name = settings.name or _name_of(player)
    name = f"{name} (rated)" if name in ratings.names else name

    def play(part: str, opponents: tuple[str, ...], num_pairs: int, seed: int) -> tuple[MatchResult, ...]:
        arena = ArenaSettings(
            game=ladder.game,
            pairings=tuple((name, opponent) for opponent in opponents),
            num_pairs=num_pairs,
            opening_actions=ladder.settings.opening_actions,
            seed=seed,
        )
        given = {opponent: bot for opponent, bot in players.items() if opponent in opponents} | {name: player}
        where = Path(folder) / part
        return play_arena(arena, where, given, workers=workers, cluster=cluster, progress=progress).matches

    first_seed, second_seed = np.random.SeedSequence(settings.seed).generate_state(2).tolist()
    hashes = player_hashes({name: player})
    order = _usable_anchors(ladder, players)
    scouted = play("scouting", order, settings.scout_pairs, first_seed)
    check_players_unchanged({name: player}, hashes)
    estimate, _ = rate_against(ratings, name, scouted)
    by_distance = sorted(order, key=lambda anchor: abs(ratings.rating(anchor)[0] - estimate))
    played = play("rating", tuple(by_distance[: settings.num_anchors]), settings.num_pairs, second_seed)
    by_anchor = ([match for match in scouted + played if match.names[1] == anchor] for anchor in order)
    matches = tuple(map(join_matches, by_anchor))
    return RateResult(name=name, matches=matches, ladder=ladder)


def _usable_anchors(ladder: Ladder, players: Mapping[str, Player]) -> tuple[str, ...]:
    """Return the anchors by rating that are given in ``players``, or that have not changed and do not lack torch.

    Raises:
        LadderError: there are none.
    """
    changed = set(ladder.changed_players()) - players.keys()
    unchanged = [anchor for anchor in ladder.ratings.order if anchor not in changed]
    if not unchanged:
        raise LadderError(f"the ladder of {ladder.game} must be made again, since all of its players have changed")
    return tuple(anchor for anchor in unchanged if anchor in players or not BotSpec.parse(anchor).lacks_torch)


def _check_anchors(ladder: Ladder, players: Mapping[str, Player], settings: RateSettings) -> None:
    names = ladder.ratings.names
    for anchor in () if settings.trust_names else [name for name in names if name not in players]:
        check_name_in_file(anchor, f"the ladder of {ladder.game}", None)
    if unknown := players.keys() - set(names):
        raise ValueError(
            f"anchors must be players of the ladder ({', '.join(names)}), got {', '.join(sorted(unknown))}"
        )


def _name_of(player: Player) -> str:
    if isinstance(player, str):
        return player
    if isinstance(player, Bot):
        return player.name
    return str(getattr(player, "__name__", type(player).__name__))


@lru_cache(maxsize=64)
def shipped_ratings(game: str) -> dict[str, tuple[float, float]]:
    """Return rating and standard error of each bot on the ladder of a game, without agents that have changed since it was made.

    Empty if the game has no ladder.
    """
    try:
        ladder = load_ladder(game)
    except LadderError:
        return {}
    found = {name: ladder.ratings.rating(name) for name in ladder.ratings.names}
    for name in ladder.changed_players():
        del found[name]
    return {name: (round(elo, 1), round(error, 1)) for name, (elo, error) in found.items()}


#: Ratings of the levels of opponents, the same on every board of every game.
LEVELS = {"beginner": 0.0, "easy": 400.0, "medium": 800.0, "hard": 1300.0}
#: Difference in rating up to which a bot has a level; its standard error, if that is larger.
_LEVEL_TOLERANCE = 100.0


def opponent_levels(game: Game, names: Sequence[str]) -> dict[str, str]:
    """Return the bot of each level, of those with ``names``: the one with the nearest rating.

    A level is missing if no bot is rated near it; all are missing on boards without ratings.
    """
    ratings = {name: rating for name, rating in shipped_ratings(str(game)).items() if name in names}
    found = {}
    for level, wanted in LEVELS.items():
        near = {
            name: abs(elo - wanted)
            for name, (elo, error) in ratings.items()
            if abs(elo - wanted) <= max(_LEVEL_TOLERANCE, error)
        }
        if near:
            found[level] = min(near, key=near.__getitem__)
    return found
