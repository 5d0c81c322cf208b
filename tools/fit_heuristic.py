"""Learn the weights of a game's heuristic from games of alpha-beta search against itself, from nothing.

``python -m tools.fit_heuristic "trugo(tiles=18,max_turns=100,radius=5)" --folder runs/trugo-18`` plays games from random openings
with the hand-written heuristic, fits the weights to them, and repeats with the learned weights until a match against the
previous ones no longer gains. The last weights that gained are written to the game's file. Games, weights and matches are kept
in the folder, so a run that was stopped continues where it was; equal seeds give equal games and weights.

The fit is a logistic regression of the expected result on the terms. Its targets are those of TD(lambda): means of the result of
the game and of the values of later positions, by the weights of the previous fit. Positions of every tenth game only test it.
"""

from __future__ import annotations

import json
import re
import time
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt
import torch
import typer

from stoneworks.cli.main import run
from stoneworks.envs.rules import Batch, Game, load_game
from stoneworks.envs.rules.compiler.compiler import kernel, specialized_kernel
from stoneworks.envs.rules.compiler.types import BoardArray, Float32s, Int16s, Int16Table, Record, StateArray
from stoneworks.envs.rules.compiler.weights import Phases, write_weights
from stoneworks.envs.rules.parts import game_part, heuristic_kernels
from stoneworks.evaluation.match import play_match
from stoneworks.files import replacing, write_whole
from stoneworks.models.bots.alphabeta_bot import AlphaBetaBot
from stoneworks.models.search.alphabeta import search_depths
from tools.heuristic_scale import DECIDED, evaluate_states

Float32Array = npt.NDArray[np.float32]

#: Random actions at the start of a game: from the first to the last number.
OPENING_ACTIONS = (2, 8)
#: Games that are played at the same time.
GAMES_AT_ONCE = 250
#: Share of later values and of the result in a target: the weight of the value n turns later is (1 - lambda) lambda^(n - 1).
TRACE_DECAY = 0.9
#: Repetitions of the fit with the values of the last one as targets.
NUM_TD_FITS = 3
#: Every n-th game only tests the fit.
TEST_EVERY = 10
#: Bounds of the ranges of actions left for which the report states loss and correlation.
REPORTED_ACTIONS_LEFT = (1, 5, 10, 20, 30, 40, 60, 100, 10_000)


@dataclass(frozen=True)
class Penalties:
    """Penalties of a fit: of squared weights, of differences between adjacent knots, and of differences between the players."""

    size: float = 2e-5
    change: float = 1e-3
    asymmetry: float = 2e-4


class Positions(NamedTuple):
    """Positions at the starts of turns, by game and turn.

    Attributes:
        states: records ``[n]``.
        games: ``int32[n]``, the game of each.
        left: ``int32[n]``, actions until the end of the game.
        results: ``int8[n]``, result for the player to move: 1, 0 or -1.
    """

    states: npt.NDArray[np.void]
    games: npt.NDArray[np.int32]
    left: npt.NDArray[np.int32]
    results: npt.NDArray[np.int8]


class Terms(NamedTuple):
    """What a fit reads of positions.

    Attributes:
        counts: ``int16[n, num_terms]``, the number of each term.
        phases: ``int16[n]``, the phase, counted from the first knot.
        decided: ``bool[n]``, whether the heuristic considers the game decided.
    """

    counts: npt.NDArray[np.int16]
    phases: npt.NDArray[np.int16]
    decided: npt.NDArray[np.bool_]


def play_games(game: Game, bot: AlphaBetaBot, num_games: int, random_share: float, seed: int) -> Positions:
    """Play games of a bot against itself and return the positions after the openings.

    ``random_share`` of the turns are played at random, so that the games are different and have positions that the bot avoids.
    """
    generator = np.random.default_rng(seed)
    batch = Batch(game, num_games, seed=seed)
    opening = generator.integers(OPENING_ACTIONS[0], OPENING_ACTIONS[1] + 1, num_games)
    starts_turn, is_random = np.ones(num_games, np.bool_), np.zeros(num_games, np.bool_)
    found: list[npt.NDArray[np.void]] = []
    games: list[npt.NDArray[np.int64]] = []
    times: list[npt.NDArray[np.int64]] = []
    ends = np.zeros(num_games, np.int64)
    num_steps = 0
    while (batch.current_players >= 0).any():
        playing = batch.current_players >= 0
        in_opening = (num_steps < opening) | (~starts_turn & (num_steps == opening))
        opening += in_opening & (num_steps == opening)
        is_random[starts_turn] = generator.random(int(starts_turn.sum())) < random_share
        stored = np.flatnonzero(playing & starts_turn & ~in_opening)
        found.append(batch.states[stored])
        games.append(stored)
        times.append(np.full(len(stored), num_steps))
        actions = batch.random_actions()
        searched = np.flatnonzero(playing & ~in_opening & ~is_random)
        if len(searched):
            actions[searched] = bot.search(batch.states[searched])[1]
        before = batch.current_players.copy()
        batch.step(actions)
        starts_turn = batch.current_players != before
        num_steps += 1
        ends[playing] = num_steps
    states, of_game, time_of = np.concatenate(found), np.concatenate(games), np.concatenate(times)
    order = np.lexsort((time_of, of_game))
    states, of_game, time_of = states[order], of_game[order], time_of[order]
    winners = batch.states["winner"][of_game]
    results = np.where(winners < 0, 0, np.where(winners == states["current_player"], 1, -1))
    left = ends[of_game] - time_of
    return Positions(states, of_game.astype(np.int32), left.astype(np.int32), results.astype(np.int8))


def join_positions(parts: list[Positions]) -> Positions:
    """Return all positions, with games numbered anew."""
    bases = np.cumsum([0, *(int(part.games.max()) + 1 for part in parts)])
    games = [part.games + base for part, base in zip(parts, bases[:-1], strict=True)]
    joined = (np.concatenate([getattr(part, name) for part in parts]) for name in ("states", "left", "results"))
    states, left, results = joined
    return Positions(states, np.concatenate(games).astype(np.int32), left, results)


class Heuristic:
    """The heuristic of a game, with weights that may differ from those of its file.

    The module of a heuristic with learned weights defines, beside the kernels of every heuristic:

    - ``TERMS``, ``PHASES`` and ``BOARDS``: names of the terms, phases, and names of the boards with weights of their own;
    - the kernels ``table_of(board)``, the index of the board's weights or -1, and ``phase_of(board, state)``;
    - the kernel ``weigh(board, state, weights, counts)``, the sum of the weights of a position's terms, which counts the terms
      unless ``counts`` is None;
    - ``WEIGHTS``, ``float32[num_boards, num_phases, num_terms]``;
    - the kernel ``hand_written_heuristic``, which plays the first games; ``heuristic`` reads the weights.

    Raises:
        ValueError: the game has no such heuristic, or the board no weights of its own.
    """

    def __init__(self, game: Game) -> None:
        self.game = game
        self.module = cast(Any, game_part(game, "heuristic"))
        if not hasattr(self.module, "TERMS"):
            raise ValueError(f"{game.name} has no heuristic with learned weights: its module must define TERMS")
        self.phases: Phases = self.module.PHASES
        self.terms: tuple[str, ...] = self.module.TERMS
        options = re.findall(r"\w+=[^,()]+", str(game))
        self.board = next((board for board in self.module.BOARDS if board in options), "")
        if not self.board:
            raise ValueError(f"{game} must be a board with weights of its own, {' or '.join(self.module.BOARDS)}")

    def kernels(self, name: str, of_knots: Float32Array | None) -> dict[str, Any]:
        """Return the kernels with weights ``float32[num_knots, num_terms]``, or the hand-written ones."""
        kernels = dict(heuristic_kernels(self.game))
        if of_knots is None:
            return kernels | {"heuristic": self.module.hand_written_heuristic}
        replaced: dict[str, Any] = {"WEIGHTS": self.phases.interpolate(of_knots)[np.newaxis], "table_of": only_table}
        return kernels | {"heuristic": specialized_kernel(self.module.heuristic.py_func, name, replaced)}

    def player(self, kernels: dict[str, Any], seed: int, **budget: Any) -> AlphaBetaBot:
        """Return an alpha-beta bot with the kernels. Its time is processor time, which other programs do not take."""
        bot = AlphaBetaBot(self.game, seed, **budget)
        bot.clock = time.thread_time
        bot._search = self.game.compiled(search_depths, kernels)
        return bot

    def read(self, states: npt.NDArray[np.void]) -> tuple[Terms, Float32Array]:
        """Return the terms of positions and their hand-written evaluations for the player to move."""
        count = self.game.compiled(_count_terms, {name: getattr(self.module, name) for name in ("weigh", "phase_of")})
        counts, values = np.zeros((len(states), len(self.terms)), np.int16), np.empty(len(states), np.float32)
        phases = np.empty(len(states), np.int16)
        count(self.game.board, states, np.zeros(len(self.terms), np.float32), counts, phases)
        self.game.compiled(evaluate_states, self.kernels("", None))(self.game.board, states, values)
        return Terms(counts, phases, np.abs(values) >= DECIDED), values


@kernel
def only_table(board: Record) -> int:
    """Stand for ``table_of`` where there are weights of one board."""
    return 0


def weigh(board: Any, state: Any, weights: Any, counts: Any) -> float:
    """Stand for the kernel of the heuristic."""
    raise NotImplementedError


def phase_of(board: Any, state: Any) -> int:
    """Stand for the kernel of the heuristic."""
    raise NotImplementedError


def _count_terms(board: BoardArray, states: StateArray, weights: Float32s, counts: Int16Table, phases: Int16s) -> None:
    for row in range(states.shape[0]):
        weigh(board[0], states[row], weights, counts[row])
        phases[row] = phase_of(board[0], states[row])


def fit_weights(
    positions: Positions, terms: Terms, phases: Phases, used: npt.NDArray[np.bool_], penalties: Penalties
) -> tuple[Float32Array, Float32Array]:
    """Fit weights to the positions ``used`` by TD(lambda).

    Returns:
        ``float32[num_knots, num_terms]``, the weights, and ``float32[n]``, the logit of the expected result of each position.
    """
    shares = torch.from_numpy(phases.shares()[terms.phases])
    counts = torch.from_numpy(terms.counts.astype(np.float32))
    rows = torch.from_numpy(np.flatnonzero(used))
    weights = torch.zeros(len(phases.knots), counts.shape[1])
    targets = (positions.results + 1) / 2
    for _ in range(1 + NUM_TD_FITS):
        expected = torch.from_numpy(targets.astype(np.float32))[rows]
        weights = _minimize(counts[rows], shares[rows], expected, weights, penalties)
        logits = _logits(counts, shares, weights).numpy()
        targets = traced_targets(positions, logits, terms.decided)
    return weights.numpy(), logits


def _logits(counts: torch.Tensor, shares: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    return ((counts @ weights.T) * shares).sum(1)


def _minimize(
    counts: torch.Tensor, shares: torch.Tensor, expected: torch.Tensor, start: torch.Tensor, penalties: Penalties
) -> torch.Tensor:
    """Return the weights of least cross-entropy and penalties."""
    weights = start.clone().requires_grad_(True)
    num_of_side = (weights.shape[1] - 1) // 2
    optimizer = torch.optim.LBFGS([weights], max_iter=50, history_size=20, line_search_fn="strong_wolfe")

    def loss() -> torch.Tensor:
        optimizer.zero_grad()
        total = torch.nn.functional.binary_cross_entropy_with_logits(_logits(counts, shares, weights), expected)
        total = total + penalties.size * weights.square().sum()
        total = total + penalties.change * (weights[1:] - weights[:-1]).square().sum()
        both = weights[:, :num_of_side] + weights[:, num_of_side : 2 * num_of_side]
        total = total + penalties.asymmetry * both.square().sum()
        total.backward()
        return total

    optimizer.step(loss)
    return weights.detach()


def traced_targets(
    positions: Positions, logits: Float32Array, decided: npt.NDArray[np.bool_]
) -> npt.NDArray[np.float64]:
    """Return the targets of TD(lambda) for the player to move, ``float64[n]``, given the values of all positions."""
    is_first = positions.states["current_player"] == 0
    chance = 1 / (1 + np.exp(-np.clip(logits, -30, 30)))
    result = (positions.results + 1) / 2
    of_first = np.where(is_first, chance, 1 - chance)
    result_of_first = np.where(is_first, result, 1 - result)
    ends_game = np.r_[positions.games[1:] != positions.games[:-1], True]
    targets = np.empty(len(logits))
    later = 0.0
    for row in range(len(logits) - 1, -1, -1):
        if ends_game[row]:
            later = float(result_of_first[row])
        targets[row] = later
        # A decided game has the value of its result.
        if not decided[row]:
            later = (1 - TRACE_DECAY) * float(of_first[row]) + TRACE_DECAY * later
    return np.where(is_first, targets, 1 - targets)


def quality(logits: Float32Array, positions: Positions, chosen: npt.NDArray[np.bool_]) -> list[dict[str, float]]:
    """Return log loss and correlation with the result of the positions ``chosen``, by actions left and (first) in all."""
    rows: list[dict[str, float]] = []
    bounds = [(REPORTED_ACTIONS_LEFT[0], REPORTED_ACTIONS_LEFT[-1])]
    bounds += list(pairwise(REPORTED_ACTIONS_LEFT))
    for low, high in bounds:
        part = chosen & (positions.left >= low) & (positions.left < high)
        results, values = positions.results[part].astype(np.float64), logits[part].astype(np.float64)
        if part.sum() < 50:
            continue
        loss = float(np.logaddexp(0, -results * values).mean())
        correlation = float(np.corrcoef(np.tanh(values / 2), results)[0, 1])
        count = int(part.sum())
        rows.append({"from": low, "below": high, "positions": count, "log_loss": loss, "correlation": correlation})
    return rows


def _table(title: str, rows: list[dict[str, float]]) -> str:
    lines = [f"{title}: actions left, positions, log loss, correlation"]
    for row in rows:
        span = f"{row['from']} to {row['below'] - 1}"
        lines.append(f"  {span:>12} {row['positions']:8} {row['log_loss']:.4f} {row['correlation']:+.3f}")
    return "\n".join(lines)


@dataclass(frozen=True)
class Plan:
    """What a run does; see the options of the command."""

    depth: int
    num_games: int
    random_share: float
    seed: int
    pairs: int
    seconds: float


class Run:
    """A resumable run in a folder.

    Attributes:
        heuristic: the heuristic of the game.
    """

    def __init__(self, game: Game, folder: Path, plan: Plan) -> None:
        self.heuristic = Heuristic(game)
        self._game, self._folder, self._plan = game, folder, plan
        folder.mkdir(parents=True, exist_ok=True)
        described, file = json.dumps({"game": str(game), **asdict(plan)}), folder / "plan.json"
        if not file.exists():
            write_whole(file, described)
        elif (other := file.read_text(encoding="utf-8")) != described:
            raise ValueError(f"folder must be that of a run with equal options, got {folder}: {other}")

    def games(self, iteration: int, weights: Float32Array | None) -> Positions:
        """Play the games of an iteration, or read those that have been played."""
        kernels = self.heuristic.kernels(f"iteration_{iteration}", weights)
        parts = []
        for chunk, done in enumerate(range(0, self._plan.num_games, GAMES_AT_ONCE)):
            file = self._folder / f"games-{iteration}-{chunk}.npz"
            if not file.exists():
                begin = time.perf_counter()
                seed = np.random.SeedSequence((self._plan.seed, iteration, chunk)).generate_state(1)[0]
                bot = self.heuristic.player(kernels, int(seed), turns=self._plan.depth)
                number = min(GAMES_AT_ONCE, self._plan.num_games - done)
                played = play_games(self._game, bot, number, self._plan.random_share, int(seed))
                states = played.states.view(np.uint8).reshape(len(played.states), -1)
                with replacing(file) as temporary, temporary.open("wb") as opened:
                    np.savez(opened, **{**played._asdict(), "states": states})
                typer.echo(f"iteration {iteration}: {done + number} games, {time.perf_counter() - begin:.0f} s")
            with np.load(file) as stored:
                states = stored["states"].view(self._game.state_dtype).ravel()
                parts.append(Positions(states, stored["games"], stored["left"], stored["results"]))
        return join_positions(parts)

    def fit(self, iteration: int, positions: Positions) -> Float32Array:
        """Fit weights to positions and report on them, or read the weights that have been fitted."""
        file = self._folder / f"weights-{iteration}.npy"
        if file.exists():
            return np.load(file)
        terms, by_hand = self.heuristic.read(positions.states)
        open_ = ~terms.decided & (positions.results != 0)
        test = open_ & (positions.games % TEST_EVERY == 0)
        weights, logits = fit_weights(positions, terms, self.heuristic.phases, open_ & ~test, Penalties())
        scale = self.heuristic.module.SCALE
        hand = quality(np.clip(by_hand * np.float32(2 / scale), -20, 20), positions, test)
        learned = quality(logits, positions, test)
        typer.echo(_table("hand-written", hand) + "\n" + _table(f"weights {iteration}", learned))
        write_whole(self._folder / f"quality-{iteration}.json", json.dumps({"hand": hand, "learned": learned}))
        of_knots = weights * np.float32(scale / 2)
        with replacing(file) as temporary, temporary.open("wb") as opened:
            np.save(opened, of_knots)
        return of_knots

    def match(self, iteration: int, new: Float32Array, old: Float32Array | None) -> float:
        """Return the score of new weights against old ones at equal time, with a report."""
        file = self._folder / f"match-{iteration}.json"
        if not file.exists():
            bots = [
                self.heuristic.player(self.heuristic.kernels(name, weights), 1, seconds=self._plan.seconds)
                for name, weights in ((f"iteration_{iteration}", new), (f"before_{iteration}", old))
            ]
            result = play_match(self._game, *bots, num_pairs=self._plan.pairs, opening_actions=4, seed=self._plan.seed)
            typer.echo(f"weights {iteration} against those before at {self._plan.seconds:g} s: {result}")
            low, high = result.interval
            write_whole(file, json.dumps({"score": result.score, "interval": [low, high], "games": result.num_games}))
        return float(json.loads(file.read_text())["score"])


app = typer.Typer(add_completion=False)


@app.command()
def main(
    game: Annotated[str, typer.Argument(help="Game string of a board with weights of its own.")],
    folder: Annotated[Path, typer.Option(help="Folder of the run.")],
    depth: Annotated[int, typer.Option(min=1, help="Search depth of the games, in turns.")] = 2,
    num_games: Annotated[int, typer.Option("--games", min=20, help="Games of each iteration.")] = 6000,
    random_share: Annotated[float, typer.Option(min=0, max=1, help="Share of random turns.")] = 0.05,
    iterations: Annotated[int, typer.Option(min=1, help="Maximum number of iterations.")] = 3,
    pairs: Annotated[int, typer.Option(min=1, help="Pairs of games of each match.")] = 100,
    seconds: Annotated[float, typer.Option(min=0.001, help="Processor time per action in matches.")] = 0.005,
    seed: Annotated[int, typer.Option(min=0)] = 0,
) -> None:
    """Learn the weights of a game's heuristic on one board and write them to the game's file."""
    torch.set_num_threads(1)
    run = Run(load_game(game), folder, Plan(depth, num_games, random_share, seed, pairs, seconds))
    best: Float32Array | None = None
    played: list[Positions] = []
    for iteration in range(iterations):
        played = [*played[-1:], run.games(iteration, best)]
        weights = run.fit(iteration, join_positions(played))
        if run.match(iteration, weights, best) <= 0.5:
            break
        best = weights
    if best is None:
        typer.echo("no weights gained on the hand-written heuristic")
        return
    heuristic = run.heuristic
    file = Path(heuristic.module.__file__).with_name("heuristic.json")
    write_weights(file, heuristic.board, heuristic.terms, best)
    typer.echo(f"wrote {file}")


if __name__ == "__main__":
    run(app)
