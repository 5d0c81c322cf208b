"""``Bot``: the base class of everything that chooses actions, with the methods of OpenSpiel's ``Bot``."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from stoneworks.checks import check_integer, check_integers, check_positive
from stoneworks.envs.rules import Batch, Game, IllegalActionError, State
from stoneworks.models.bots.spec import BotSpec


class BotStartError(ValueError):
    """Raised when an external program does not get ready to play. The message states the reason."""


class BotForfeit(ValueError):  # noqa: N818 - what it is called in matches
    """Raised when a bot forfeits its game.

    Attributes:
        name: name of the bot.
        reason: ``"illegal"``: the answer is not a legal action; ``"late"``: no answer within the time limit;
            ``"crashed"``: the program has terminated.
        details: description of what happened.
    """

    #: Possible values of ``reason``.
    REASONS = ("illegal", "late", "crashed")

    def __init__(self, name: str, reason: str, details: str) -> None:
        super().__init__(name, reason, details)
        self.name, self.reason, self.details = name, reason, details

    def __str__(self) -> str:
        return f"{self.name} forfeits the game ({self.reason}): {self.details}"


#: Length of the best lines of analyses, in actions; half of it where each action costs a search of its own.
LINE_ACTIONS = 10
#: Number of actions with a line in an analysis.
NUM_LINES = 3


@dataclass(frozen=True, eq=False)
class Analysis:
    """Analysis of a position by a bot; unknown values are None, or NaN in arrays.

    Arrays have one entry per legal action, in ascending order of actions. Values are expected results for the player to move,
    in [-1, 1].

    Attributes:
        player: player to move.
        action: the action that the bot plays.
        actions: ``int64[num_legal]``, the legal actions.
        policy: ``float64[num_legal]``, probabilities of the actions.
        value: value of the position: that of the action that the bot plays, if it is known.
        proven: proven result of the position: 1, 0 or -1.
        evaluation: value of the position on the bot's own scale, for the player to move.
        simulations: number of simulations.
        visits: ``int64[num_legal]``, number of simulations of each action.
        action_values: ``float64[num_legal]``, value of each action.
        priors: ``float64[num_legal]``, the network's policy.
        action_evaluations: ``float64[num_legal]``, value of each action on the bot's own scale; minus infinity for actions
            that were not tried.
        line: the best line; empty if it is not known.
        lines: the best lines of the chosen action and of the most visited others, in this order; empty if they are not known.
    """

    player: int
    action: int
    actions: npt.NDArray[np.int64]
    policy: npt.NDArray[np.float64]
    value: float | None = None
    proven: float | None = None
    evaluation: float | None = None
    simulations: int | None = None
    visits: npt.NDArray[np.int64] | None = None
    action_values: npt.NDArray[np.float64] | None = None
    priors: npt.NDArray[np.float64] | None = None
    action_evaluations: npt.NDArray[np.float64] | None = None
    line: tuple[int, ...] = ()
    lines: tuple[tuple[int, ...], ...] = ()

    @property
    def values(self) -> tuple[float, float] | None:
        """The value of the position for each player; None if it is not known."""
        if self.value is None:
            return None
        return (self.value, -self.value) if self.player == 0 else (-self.value, self.value)


class Bot(ABC):
    """Base class of bots. A bot plays for the player to move, and never assumes that players alternate.

    Attributes:
        one_game_at_a_time: whether the bot requires calls of ``step`` for one game at a time, from ``restart`` to the
            end, with states that have a history. Such a bot may raise ``BotForfeit``.
        samples_policy: whether the actions are drawn from the policy of ``step_with_policy``.
    """

    one_game_at_a_time: bool = False
    samples_policy: bool = True
    _spec_name: str = ""

    @classmethod
    def from_spec(cls, spec: BotSpec, game: Game, seed: int | None) -> Bot:
        """Create the bot that a name such as ``mcts:400`` refers to (see ``load_bot``).

        By default the bot is ``cls(game, seed, **spec.arguments)``, with ``spec.text`` as the first argument if the bot's
        registry entry declares a text.

        Args:
            spec: the parsed name.
            game: the game.
            seed: seed of the bot; None draws a random one.

        Raises:
            UnknownBotError: the name is invalid.
        """
        make: Any = cls
        text = (spec.text,) if spec.entry.takes_text else ()
        return make(*text, game, seed, **spec.arguments)

    @property
    def name(self) -> str:
        """Name of the bot in results: by default the name for ``load_bot`` that made it, or else that of its class."""
        return self._spec_name or type(self).__name__

    @abstractmethod
    def step_with_policy(self, state: State) -> tuple[list[tuple[int, float]], int]:
        """Return the bot's policy, as pairs of action and probability, and the chosen action.

        Raises:
            ValueError: the game is over.
        """

    def analyze(self, state: State) -> Analysis:
        """Return the bot's analysis of a position, with the same search as ``step``. Raises ``ValueError`` if the game is over."""
        policy, action = self.step_with_policy(state)
        probabilities = dict(policy)
        legal = np.array(state.legal_actions(), np.int64)
        shares = np.array([probabilities.get(one, 0.0) for one in legal.tolist()])
        return Analysis(state.current_player(), action, legal, shares)

    def analyze_until(self, state: State, stop: Callable[[Analysis], bool]) -> None:
        """Analyze a position without a limit; call ``stop`` with each analysis, several per second, until it returns true.

        Bots whose search cannot continue call it once.
        """
        stop(self.analyze(state))

    def step(self, state: State) -> int:
        """Return the index of the chosen action. Raises ``ValueError`` if the game is over."""
        return self.step_with_policy(state)[1]

    def step_batch(self, batch: Batch, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return an action for each of some games of a batch.

        Args:
            batch: the games.
            rows: ``int64[n]``, the games to act in, none of which may be over.

        Returns:
            ``int64[n]``, action indices.

        Raises:
            IllegalActionError: ``step`` did not return an integer.
        """
        actions = [self.step(batch.state(int(row))) for row in rows]
        for action in actions:  # a conversion by NumPy would truncate 1.5 to 1
            if isinstance(action, (bool, np.bool_)) or not isinstance(action, (int, np.integer)):
                raise IllegalActionError(f"{self.name}: action must be an integer, got {action!r}")
        return np.array(actions, np.int64)

    def restart(self) -> None:  # noqa: B027 - most bots are stateless
        """Prepare for a new game. As in OpenSpiel, random numbers are not reset."""

    def close(self) -> None:  # noqa: B027
        """Release resources outside of this process, if there are any."""


def line_of(choose: Callable[[State], int], state: State, action: int) -> tuple[int, ...]:
    """Return a line of up to ``LINE_ACTIONS // 2`` actions: ``action``, and what ``choose`` plays for both players after it."""
    ahead, line = state.child(action), [action]
    while len(line) < LINE_ACTIONS // 2 and not ahead.is_terminal():
        line.append(choose(ahead))
        ahead.apply_action(line[-1])
    return tuple(line)


def check_budget(
    unit: str, number: int | None, seconds: float | None, maximum: int | None = None
) -> tuple[int | None, float | None]:
    """Return a budget of a step: an integer >= 1, of which ``unit`` is the name, or seconds.

    Raises:
        ValueError: both are given, neither is, or the one that is given is invalid.
    """
    if (number is None) == (seconds is None):
        raise ValueError(f"exactly one of {unit} and seconds must be given, got {number!r} and {seconds!r}")
    if number is None:
        return None, check_positive("seconds", seconds)
    return check_integer(unit, number, 1, maximum), None


def check_position(bot: Bot, state: State, game: Game | None = None) -> None:
    """Raise ``ValueError`` if the game is over, or if it is not ``game``, the game of the bot; None if it plays any.

    Raises:
        ValueError: the game is over or is another one.
    """
    _check_same_game(bot, game, state.get_game())
    if state.is_terminal():
        raise ValueError(f"{bot.name} cannot choose an action: the game is over; the position is\n{state}")


def check_batch(bot: Bot, batch: Batch, rows: npt.NDArray[np.int64], game: Game | None = None) -> None:
    """Raise ``ValueError`` as :func:`check_position` does for one of the games ``rows[n]``.

    Raises:
        ValueError: a game is over, or the batch is of another game or not on the CPU.
    """
    _check_same_game(bot, game, batch.game)
    if batch.device != "cpu":
        raise ValueError(f"{bot.name}: the batch must be on the device 'cpu', got one on {batch.device!r}")
    over = rows[batch.states["ending"][rows] != 0]
    if over.size:
        raise ValueError(f"{bot.name} cannot choose an action: game {over[0]} of the batch is over")


def legal_answers(
    what: str, answers: object, batch: Batch, rows: npt.NDArray[np.int64], error: type[ValueError]
) -> npt.NDArray[np.int64]:
    """Return the actions that were chosen in the games ``rows[n]`` of a batch, ``int64[n]``. Raises ``error`` if one is illegal.

    Args:
        what: name of the answers in error messages.
        answers: the answers of a bot.
        batch: the games.
        rows: ``int64[n]``, the games that were acted in.
        error: class of the error.
    """
    chosen = check_integers(what, answers, len(rows), error)
    inside = (chosen >= 0) & (chosen < batch.game.num_actions)
    actions = np.where(inside, chosen, 0).astype(np.int64)  # 2**64 - 1 would wrap around
    legal = inside & (batch.action_masks[rows, actions] != 0)
    if not legal.all():
        first = int(np.flatnonzero(~legal)[0])
        why = batch.state(int(rows[first])).why_illegal(int(chosen[first]))
        raise error(f"{what} must be legal, game {rows[first]}: {why}")
    return actions


def _check_same_game(bot: Bot, game: Game | None, given: Game) -> None:
    if game is not None and given is not game and given != game:
        raise ValueError(f"{bot.name}: the position must be of {game}, got one of {given}")
