"""The scale of a game's heuristic, fitted to the results of quick games.

A search uses ``tanh(evaluation / scale)`` as the expected result. This is a logistic regression without an intercept: the win
probability of the player to move is the logistic function of ``2 / scale`` times the evaluation. The games are played by greedy
bots from random openings. Positions that the evaluation considers decided are excluded, since they carry no information on the
scale, and so are positions of games without a winner.

``python -m tools.heuristic_scale "vadus(size=5)"`` prints the value of ``SCALE`` for the game's heuristic.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated

import numpy as np
import numpy.typing as npt
import typer

from stoneworks.cli.main import run
from stoneworks.envs.rules import Game, load_game
from stoneworks.envs.rules.compiler.types import BoardArray, Float32s, StateArray
from stoneworks.envs.rules.contract import heuristic
from stoneworks.envs.rules.fields import NO_WINNER
from stoneworks.envs.rules.parts import heuristic_kernels
from stoneworks.evaluation.match import random_opening
from stoneworks.models.bots.greedy_bot import GreedyBot

#: Evaluations with at least this absolute value mean that the game is decided.
DECIDED = 1e4
#: Maximum number of random actions at the start of a game.
OPENING_ACTIONS = 12


@dataclass(frozen=True)
class FittedScale:
    """A fitted scale.

    Attributes:
        scale: the scale.
        standard_error: standard error of ``scale`` if positions of one game were independent: a lower bound.
        num_games: number of games played.
        num_positions: number of positions used in the fit.
        decided_share: share of positions that the evaluation considers decided.
        decided_right: share of these in which the evaluation predicts the winner; NaN if there are none.
    """

    scale: float
    standard_error: float
    num_games: int
    num_positions: int
    decided_share: float
    decided_right: float


def evaluate_states(board: BoardArray, states: StateArray, values: Float32s) -> None:
    """Write the evaluation of each position, from the perspective of the player to move, to ``values``."""
    for row in range(states.shape[0]):
        values[row] = heuristic(board[0], states[row], states[row].current_player)


def fit_scale(game: Game, num_games: int, seed: int) -> FittedScale:
    """Play ``num_games`` quick games and fit the scale of the game's heuristic to their results.

    Raises:
        ValueError: the game has no heuristic, or no game has a winner and an undecided position.
    """
    states, results = _quick_games(game, num_games, np.random.default_rng(seed))
    values = np.empty(len(states), np.float32)
    game.compiled(evaluate_states, heuristic_kernels(game))(game.board, states, values)
    decided = np.abs(values) >= DECIDED
    undecided = ~decided & (results != 0)
    if not undecided.any():
        raise ValueError(f"{num_games} games of {game} have no winner and no position to fit a scale to")
    scale, error = _fit(values[undecided].astype(np.float64), results[undecided])
    right = (np.sign(values[decided]) == results[decided]).mean() if decided.any() else np.nan
    return FittedScale(scale, error, num_games, int(undecided.sum()), float(decided.mean()), float(right))


def _fit(values: npt.NDArray[np.float64], results: npt.NDArray[np.float64]) -> tuple[float, float]:
    """Return the maximum likelihood scale, by bisection, and its standard error; ``results`` are 1 or -1."""

    def slope(weight: float) -> float:
        return float((values * ((results + 1) / 2 - _logistic(weight * values))).sum())

    low, high = 1e-6 / float(np.abs(values).mean()), 1e6 / float(np.abs(values).mean())
    if slope(low) <= 0:
        raise ValueError("the evaluation does not predict the results: no scale fits them")
    if slope(high) >= 0:
        raise ValueError("the evaluation is never wrong about the results: there are too few games to fit a scale to")
    while high / low > 1 + 1e-6:
        middle = math.sqrt(low * high)
        low, high = (middle, high) if slope(middle) > 0 else (low, middle)
    chance = _logistic(low * values)
    information = float((values**2 * chance * (1 - chance)).sum())
    return 2 / low, 2 / low**2 / math.sqrt(information)


def _logistic(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    return 1 / (1 + np.exp(-np.clip(values, -500, 500)))


def _quick_games(
    game: Game, num_games: int, generator: np.random.Generator
) -> tuple[npt.NDArray[np.void], npt.NDArray[np.float64]]:
    """Return the positions of the games, and the game result for the player to move in each: 1, 0 or -1."""
    bot = GreedyBot(game, seed=int(generator.integers(2**31)))
    states: list[np.void] = []
    results: list[int] = []
    for _ in range(num_games):
        state = random_opening(game, int(generator.integers(OPENING_ACTIONS + 1)), generator)
        of_game: list[np.void] = []
        while not state.is_terminal():
            of_game.append(state.record)
            state.apply_action(bot.step(state))
        winner = int(state.record["winner"])
        states += of_game
        results += [0 if winner == NO_WINNER else 1 if record["current_player"] == winner else -1 for record in of_game]
    return np.array(states, game.state_dtype), np.array(results, np.float64)


app = typer.Typer(add_completion=False)


@app.command()
def main(
    games: Annotated[list[str], typer.Argument(help="Game strings.")],
    num_games: Annotated[int, typer.Option("--games", min=1, help="Quick games of each.")] = 500,
    seed: Annotated[int, typer.Option(min=0)] = 0,
) -> None:
    """Fit the scale of each game's heuristic and print it."""
    for name in games:
        fitted = fit_scale(load_game(name), num_games, seed)
        typer.echo(
            f"{name}: SCALE = {fitted.scale:.3g} (± {fitted.standard_error:.2g}; {fitted.num_games} games, "
            f"{fitted.num_positions} open positions; {fitted.decided_share:.1%} decided, {fitted.decided_right:.1%} of them right)"
        )


if __name__ == "__main__":
    run(app)
