"""Matches of paired games between two bots.

Both games of a pair start from the same random opening, with seats swapped, so that neither the luck of the opening
nor the first move favors a player. Deterministic bots play equal games from equal openings, so results include the
number of distinct games.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
from pydantic import Field, Strict, computed_field, model_validator

from stoneworks.checks import check_integer, check_seed
from stoneworks.documents import Document, Tuple
from stoneworks.envs.rules import NO_ACTION, Batch, Game, IllegalActionError, Outcome, State, as_game
from stoneworks.evaluation.ratings import PairMoments
from stoneworks.evaluation.records import GameRecord
from stoneworks.evaluation.sprt import pentanomial
from stoneworks.models import Bot, BotForfeit
from stoneworks.models.bots.bot import legal_answers
from stoneworks.text import percent

#: Pairs of games that are played concurrently.
MAX_PAIRS_AT_ONCE = 100_000
#: The names of two players.
Names = Annotated[tuple[str, str], Strict(False)]
_Count = Annotated[int, Field(ge=0)]

#: More than the number of actions of any game.
MAX_OPENING_ACTIONS = 1_000_000
#: Quantile of the normal distribution for a two-sided 95 % interval.
Z_95_PERCENT = 1.959963984540054


class BotPlayError(ValueError):
    """Raised when a bot does not return a legal action. The message names the bot, the answer and the position."""


class MatchResult(Document):
    """Result of a match, from the perspective of ``names[0]``, bot A; in files without the games.

    Attributes:
        names: the names of bots A and B.
        num_distinct_games: number of distinct action sequences among the games.
        pentanomial: numbers of pairs in which A scored 0, 0.5, 1, 1.5 and 2 points.
        won_drawn_lost_as_player_0: A's results in seat 0. A truncated game is a draw.
        won_drawn_lost_as_player_1: A's results in seat 1.
        num_forfeits: numbers of games that A and B forfeited.
        records: every game: of each pair the one with A in seat 0, then that with A in seat 1; empty if read from a file.
    """

    names: Names
    num_distinct_games: int = Field(ge=1, alias="distinct_games")
    pentanomial: Annotated[Tuple[_Count], Field(min_length=5, max_length=5)]
    won_drawn_lost_as_player_0: Annotated[Tuple[_Count], Field(min_length=3, max_length=3)]
    won_drawn_lost_as_player_1: Annotated[Tuple[_Count], Field(min_length=3, max_length=3)]
    num_forfeits: Annotated[Tuple[_Count], Field(min_length=2, max_length=2)] = Field(alias="forfeits")
    records: tuple[GameRecord, ...] = Field((), exclude=True, repr=False)

    @classmethod
    def of_records(cls, names: tuple[str, str], records: Sequence[GameRecord]) -> MatchResult:
        """Return the result of finished games, in the order of :attr:`records`."""
        seats = np.arange(len(records)) % 2
        scores = np.array([record.score(seat) for record, seat in zip(records, seats.tolist(), strict=True)])
        by_a = [record.winner != seat for record, seat in zip(records, seats, strict=True) if record.is_forfeit]
        return cls(
            names=names,
            distinct_games=len({record.actions for record in records}),
            pentanomial=pentanomial(scores).tolist(),
            won_drawn_lost_as_player_0=_tally(scores[::2]),
            won_drawn_lost_as_player_1=_tally(scores[1::2]),
            forfeits=(by_a.count(True), by_a.count(False)),
            records=tuple(records),
        )

    @model_validator(mode="after")
    def _check_together(self) -> MatchResult:
        half_points = sum(number * count for number, count in enumerate(self.pentanomial))
        if not self.num_pairs or {*map(sum, self.by_seat)} != {self.num_pairs} or half_points != 2 * self._points:
            raise ValueError(
                "pentanomial, won_drawn_lost_as_player_0 and won_drawn_lost_as_player_1 must be of the same games, "
                f"at least one pair; got {self.pentanomial}, {self.by_seat[0]} and {self.by_seat[1]}"
            )
        for name, count, maximum in (
            ("distinct_games", self.num_distinct_games, self.num_games),
            ("the first of forfeits", self.num_forfeits[0], self.losses),
            ("the second of forfeits", self.num_forfeits[1], self.wins),
        ):
            if count > maximum:
                raise ValueError(f"{name} must be at most {maximum}, got {count}")
        return self

    @computed_field(alias="pairs")  # type: ignore[prop-decorator]
    @property
    def num_pairs(self) -> int:
        """Number of pairs of games."""
        return sum(self.pentanomial)

    @property
    def num_games(self) -> int:
        """Number of games."""
        return 2 * self.num_pairs

    @property
    def scores(self) -> npt.NDArray[np.float64]:
        """A's score, 1, 0.5 or 0, in both games of each pair: ``float64[num_pairs, 2]``; without rows if there are no records."""
        scores = [record.score(number % 2) for number, record in enumerate(self.records)]
        return np.array(scores, np.float64).reshape(-1, 2)

    @property
    def moments(self) -> PairMoments:
        """Sums of the scores (see :class:`~stoneworks.evaluation.ratings.PairMoments`)."""
        sums = np.array([won + drawn / 2 for won, drawn, _ in self.by_seat])
        squares = np.array([won + drawn / 4 for won, drawn, _ in self.by_seat])
        # The square of a pair's points has the product of its two scores twice.
        product = sum(count * (number / 2) ** 2 for number, count in enumerate(self.pentanomial)) - squares.sum()
        return PairMoments(self.num_pairs, sums, np.array([[squares[0], product / 2], [product / 2, squares[1]]]))

    @property
    def _points(self) -> float:
        return self.wins + self.draws / 2

    @property
    def wins(self) -> int:
        """Number of games that A won."""
        return sum(won for won, _, _ in self.by_seat)

    @property
    def draws(self) -> int:
        """Number of draws, including truncated games."""
        return sum(drawn for _, drawn, _ in self.by_seat)

    @property
    def losses(self) -> int:
        """Number of games that A lost."""
        return sum(lost for _, _, lost in self.by_seat)

    @property
    def by_seat(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """A's wins, draws and losses as player 0, and as player 1."""
        return self.won_drawn_lost_as_player_0, self.won_drawn_lost_as_player_1

    @property
    def by_pair(self) -> npt.NDArray[np.int64]:
        """Numbers of pairs, ``int64[3, 3]``, by A's result as player 0 and as player 1: won, drawn, lost."""
        counts = np.zeros((3, 3), np.int64)
        as_player_0, as_player_1 = (2 - 2 * self.scores).astype(np.int64).T
        np.add.at(counts, (as_player_0, as_player_1), 1)
        return counts

    @property
    def score(self) -> float:
        """A's mean score; a draw counts as half a win."""
        return self._points / self.num_games

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % Wilson score interval of :attr:`score` over the games.

        It assumes independent games, which does not hold if some are not distinct. Draws make it slightly too wide.
        """
        return wilson_interval(self._points, self.num_games)

    def summary(self) -> tuple[tuple[str, str], ...]:
        """Return the result as rows of a table, each a heading and a text."""
        first, second = self.by_seat
        rows = [
            ("score of A", percent(self.score)),
            ("95 % interval", percent(*self.interval)),
            ("won / drawn / lost", _tally_text(self.wins, self.draws, self.losses)),
            ("as player 0", _tally_text(*first)),
            ("as player 1", _tally_text(*second)),
            ("games", f"{self.num_games}, {self.num_distinct_games} distinct"),
        ]
        if any(self.num_forfeits):
            rows.append(("forfeited by A / by B", " / ".join(map(str, self.num_forfeits))))
        return tuple(rows)

    def __str__(self) -> str:
        game = f"{self.records[0].game}: " if self.records else ""
        return (
            f"{game}{self.names[0]} scores {percent(self.score)} against {self.names[1]} (95 % interval "
            f"{percent(*self.interval)}; {_tally_text(self.wins, self.draws, self.losses)} won / drawn / lost; "
            f"{self.num_games} games, {self.num_distinct_games} distinct)"
        )


def _tally(scores: npt.NDArray[np.float64]) -> tuple[int, int, int]:
    """Return the numbers of wins, draws and losses."""
    return int((scores == 1).sum()), int((scores == 0.5).sum()), int((scores == 0).sum())


def _tally_text(wins: int, draws: int, losses: int) -> str:
    return f"{wins} / {draws} / {losses}"


def join_matches(matches: Sequence[MatchResult]) -> MatchResult:
    """Return the match with the games of all ``matches``, at least one, which must have their records and equal names."""
    return MatchResult.of_records(matches[0].names, [record for match in matches for record in match.records])


def summarize(result: MatchResult, opponent: str) -> dict[str, Any]:
    """Return the summary of a match that is stored in checkpoints."""
    return {
        "opponent": opponent,
        "score": result.score,
        "interval": list(result.interval),
        "games": result.num_games,
        "distinct_games": result.num_distinct_games,
        "wins": result.wins,
        "draws": result.draws,
        "losses": result.losses,
    }


def wilson_interval(score: float, num_games: int) -> tuple[float, float]:
    """Return the 95 % Wilson score interval of a proportion: ``score`` successes, halves allowed, in ``num_games`` trials.

    With p = score / n: (p + z²/2n ± z √(p(1 - p)/n + z²/4n²)) / (1 + z²/n), from E. B. Wilson, Probable inference, the
    law of succession, and statistical inference, Journal of the American Statistical Association 22 (1927), 209-212.

    Raises:
        ValueError: no games, or a score outside 0 to ``num_games``.
    """
    if num_games < 1 or not 0 <= score <= num_games:
        raise ValueError(f"score must be from 0 to the number of games (at least 1), got {score} in {num_games} games")
    z, proportion = Z_95_PERCENT, score / num_games
    shrinkage = z * z / num_games
    center = proportion + shrinkage / 2
    half_width = z * math.sqrt(proportion * (1 - proportion) / num_games + shrinkage / (4 * num_games))
    # At 0 and at n the formula gives 0 and 1, except for rounding errors.
    low = 0.0 if score == 0 else (center - half_width) / (1 + shrinkage)
    high = 1.0 if score == num_games else (center + half_width) / (1 + shrinkage)
    return low, high


def random_opening(game: Game, num_actions: int, generator: np.random.Generator) -> State:
    """Return the position after up to ``num_actions`` random actions, none of which ends the game.

    Each action is drawn uniformly, by ``generator``, from the legal ones that do not end the game; if there is none, the opening
    is shorter.
    """
    state = game.new_initial_state()
    for _ in range(num_actions):
        for action in generator.permutation(state.legal_actions()):
            child = state.child(int(action))
            if not child.is_terminal():
                state = child
                break
        else:
            break
    return state


def play_match(
    game: Game | str,
    bot_a: Bot,
    bot_b: Bot,
    *,
    num_pairs: int,
    opening_actions: int = 3,
    seed: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> MatchResult:
    """Play ``num_pairs`` pairs of games: concurrently, or one after another if a bot requires it.

    A bot that raises ``BotForfeit`` loses the game in question.

    Args:
        game: a game or a game string.
        bot_a: bot A.
        bot_b: its opponent.
        num_pairs: number of pairs of games, at least 1.
        opening_actions: number of random actions before the bots take over, equal in both games of a pair. Where they would end
            the game, fewer are played; the records say how many.
        seed: seed of the openings; None draws a random one. Bots have their own seeds.
        progress: called after each step with the number of finished games and of all games.

    Raises:
        BotPlayError: a bot did not return one legal action for each of its games.
        BotStartError: an external program did not get ready to play.
        ValueError: an argument is invalid.
    """
    loaded = as_game(game)
    for name, bot in (("bot_a", bot_a), ("bot_b", bot_b)):
        if not isinstance(bot, Bot):
            raise ValueError(f"{name} must be a Bot, such as load_bot('greedy', game), got {bot!r}")
    num_pairs = check_integer("num_pairs", num_pairs, 1, MAX_PAIRS_AT_ONCE)
    opening_actions = check_integer("opening_actions", opening_actions, 0, MAX_OPENING_ACTIONS)
    seed = check_seed(seed)
    if seed is None:
        seed = int(np.random.SeedSequence().generate_state(1)[0])
    generator = np.random.default_rng(seed)
    openings = [random_opening(loaded, opening_actions, generator) for _ in range(num_pairs)]
    games = _Games(loaded, (bot_a, bot_b), openings)
    everyone = np.arange(2 * num_pairs)
    one_by_one = bot_a.one_game_at_a_time or bot_b.one_game_at_a_time
    for rows in everyone[:, None] if one_by_one else everyone[None, :]:
        games.play(rows, progress)
    return games.result(seed)


class _Games:
    """The games of a match: two for each opening, with bot A in seat 0 and then in seat 1."""

    def __init__(self, game: Game, bots: tuple[Bot, Bot], openings: Sequence[State]) -> None:
        self._game = game
        self._bots = bots
        self._num_games = 2 * len(openings)
        rows = np.arange(self._num_games)
        self._openings = [openings[row // 2] for row in rows.tolist()]
        self._seat_of_a = rows % 2
        self._batch = Batch(game, self._num_games)
        self._batch.load(rows, np.array([opening.record for opening in self._openings], game.state_dtype), trusted=True)
        self._histories = [opening.history() for opening in self._openings]
        self._over = np.zeros(self._num_games, np.bool_)
        self._forfeits: dict[int, tuple[Outcome, str]] = {}

    def play(self, rows: npt.NDArray[np.int64], progress: Callable[[int, int], None] | None) -> None:
        """Play the games ``rows`` to their ends, all of them concurrently."""
        for bot in self._bots:
            bot.restart()
        while True:
            if progress is not None:
                progress(int(self._over.sum()), self._num_games)
            playing = rows[~self._over[rows]]
            if not playing.size:
                return
            actions = np.full(self._num_games, NO_ACTION, np.int64)
            of_a = self._batch.current_players[playing] == self._seat_of_a[playing]
            for bot, its_rows in zip(self._bots, (playing[of_a], playing[~of_a]), strict=True):
                if its_rows.size:
                    actions[its_rows] = self._answers(bot, its_rows)
            self._batch.step(actions)
            for moved in np.flatnonzero(actions != NO_ACTION):
                self._histories[moved].append(int(actions[moved]))
            self._over |= self._batch.current_players < 0

    def _answers(self, bot: Bot, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return the actions of a bot in the games ``rows``; ``NO_ACTION`` for a game that it forfeits."""
        if bot.one_game_at_a_time:
            row = int(rows[0])
            try:
                answers = np.array([bot.step(_replayed(self._game, self._histories[row]))])
            except BotForfeit as forfeit:
                winner = 1 - int(self._batch.current_players[row])
                self._forfeits[row] = Outcome(winner, f"forfeit: {forfeit.reason}"), forfeit.details
                self._over[row] = True
                return np.array([NO_ACTION])
        else:
            try:
                answers = bot.step_batch(self._batch, rows)
            except IllegalActionError as error:
                raise BotPlayError(f"{bot.name}, a game of the match: {error}") from error
        return legal_answers(f"the actions of {bot.name}", answers, self._batch, rows, BotPlayError)

    def result(self, seed: int) -> MatchResult:
        """Return the result of the finished games."""
        names = self._bots[0].name, self._bots[1].name
        records = []
        for row, (history, opening, seat) in enumerate(
            zip(self._histories, self._openings, self._seat_of_a.tolist(), strict=True)
        ):
            outcome = self._batch.state(row).outcome()
            metadata: dict[str, object] = {"pair": row // 2, "opening_actions": len(opening.history())}
            if row in self._forfeits:
                outcome, metadata["forfeit"] = self._forfeits[row]
            assert outcome is not None
            players = names if seat == 0 else (names[1], names[0])
            records.append(GameRecord.of_game(self._game, history, outcome, players, seed, metadata))
        return MatchResult.of_records(names, records)


def _replayed(game: Game, history: list[int]) -> State:
    state = game.new_initial_state()
    for action in history:
        state.apply_action(action)
    return state
