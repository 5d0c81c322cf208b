"""Samples of solved positions, stored as data in the package ``stoneworks.evaluation.solved_positions``."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib import resources
from pathlib import Path
from typing import Annotated

import numpy as np
from pydantic import Field

from stoneworks.checks import check_integer
from stoneworks.documents import Document, DocumentError, Tuple
from stoneworks.envs.rules import Game, State, load_game
from stoneworks.evaluation.folder import file_stem
from stoneworks.models.bots.loading import load_bot
from stoneworks.models.solver import Solution, Solver, UnsolvedError


class SolvedPosition(Document):
    """A position in which some action loses the exact result.

    Attributes:
        moves: the actions that lead to it, as ``State.serialize`` writes them.
        phase: share of its game that has been played, from 0 to 1.
        result: exact result for the player to move.
        keeping: texts of the actions that keep it.
    """

    moves: str
    phase: Annotated[float, Field(ge=0, le=1)]
    result: Annotated[int, Field(ge=-1, le=1)]
    keeping: Tuple[str]

    def state(self, game: Game) -> State:
        """Return the state after its moves, in the game of its sample."""
        return game.deserialize_state(self.moves)


class SolvedPositions(Document):
    """Solved positions of a game.

    Attributes:
        game: the game string.
        version: version of the game.
        sources: the bots whose games against themselves the positions are from.
        last_actions: the positions are from this many last actions of each game; None for all.
        num_unsolved: positions that were drawn and not solved within ``max_positions``.
        max_positions: maximum number of positions that the solver visited for each.
        seed: seed of the games.
        positions: the positions, none an image of another under a symmetry of the game.
    """

    game: str
    version: int
    sources: Tuple[str]
    last_actions: int | None
    num_unsolved: int
    max_positions: int
    seed: int
    positions: Tuple[SolvedPosition]


def load_solved_positions(game: Game, path: str | os.PathLike[str] | None = None) -> SolvedPositions:
    """Return the sample in a file, or the stored one of ``game``. Raises ``DocumentError`` if there is none or it is invalid."""
    file = Path(str(resources.files("stoneworks.evaluation.solved_positions")), f"{file_stem(game)}.json")
    if path is None and not file.is_file():
        raise DocumentError(f"no sample of solved positions for {game}; make one with `stoneworks accuracy --make`")
    sample = SolvedPositions.from_file(path or file)
    if sample.game != str(game) or sample.version != game.version:
        raise DocumentError(
            f"the sample is of {sample.game} version {sample.version}, expected {game} version {game.version}"
        )
    return sample


def shipped_solved_positions(game_name: str) -> list[SolvedPositions]:
    """Return the stored samples of all boards of a game, by the number of their cells."""
    samples = SolvedPositions.shipped("stoneworks.evaluation.solved_positions")
    of_game = (sample for sample in samples if load_game(sample.game).name == game_name)
    return sorted(of_game, key=lambda sample: load_game(sample.game).num_actions)


def image_key(state: State) -> bytes:
    """Return a key of the observation for the player to move that is the same for all its images under the symmetries."""
    planes = state.observation_tensor(state.current_player())
    return min(symmetry.of_observation(planes).tobytes() for symmetry in state.game.symmetries)


def make_solved_positions(
    game: Game,
    num_positions: int,
    *,
    sources: Sequence[str] = ("random", "greedy"),
    last_actions: int | None = None,
    max_positions: int = 1_000_000,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> SolvedPositions:
    """Return a sample of solved positions from games of bots against themselves, at most one position per game.

    No position is an image of another under a symmetry. The first actions of each game are random, 0 to 3 of them.
    Positions of a game are drawn until one has an action that is a mistake; after an unsolved one, only later
    positions are drawn. At most 100 games are played per position of the sample.

    Args:
        game: the game.
        num_positions: number of positions, fewer if not enough are found.
        sources: the bots, in turn.
        last_actions: draw positions only from this many last actions of each game; None for all.
        max_positions: maximum number of positions that the solver visits for each.
        seed: seed of the games.
        progress: called with the number of positions found and wanted.

    Raises:
        ValueError: an argument is invalid, or no position is found.
    """
    check_integer("num_positions", num_positions, 1)
    check_integer("max_positions", max_positions, 1)
    check_integer("seed", seed, 0)
    if last_actions is not None:
        check_integer("last_actions", last_actions, 1)
    if not sources:
        raise ValueError("sources must have at least one bot name, got none")
    solver, rng = partial(Solver(game).solve, max_positions=max_positions), np.random.default_rng(seed)
    found: dict[bytes, SolvedPosition] = {}
    unsolved: set[bytes] = set()
    for states in _games(game, sources, rng, 100 * num_positions):
        if progress is not None:
            progress(len(found), num_positions)
        if len(found) == num_positions:
            break
        first = 0 if last_actions is None else max(0, len(states) - last_actions)
        _add_position(states, first, solver, rng, found, unsolved)
    if not found:
        raise ValueError(f"no position of {game} was found in which an action loses the exact result")
    return SolvedPositions(
        game=str(game),
        version=game.version,
        sources=tuple(sources),
        last_actions=last_actions,
        num_unsolved=len(unsolved - found.keys()),
        max_positions=max_positions,
        seed=seed,
        positions=tuple(found.values()),
    )


def _add_position(
    states: list[State],
    first: int,
    solve: Callable[[State], Solution],
    rng: np.random.Generator,
    found: dict[bytes, SolvedPosition],
    unsolved: set[bytes],
) -> None:
    """Draw positions of a game from ``first`` on until one is added to ``found``, and add keys of unsolved ones to ``unsolved``."""
    for move in first + rng.permutation(len(states) - first):
        state = states[move]
        if move < first or (key := image_key(state)) in found:
            continue
        try:
            solution = solve(state)
        except UnsolvedError:
            unsolved.add(key)
            first = move + 1
            continue
        if len(solution.actions) < len(state.legal_actions()):
            found[key] = SolvedPosition(
                moves=state.serialize(),
                phase=round(move / len(states), 3),
                result=solution.result,
                keeping=tuple(map(state.action_to_string, solution.actions)),
            )
            return


def _games(game: Game, sources: Sequence[str], rng: np.random.Generator, num_games: int) -> Iterator[list[State]]:
    """Yield the positions of each of ``num_games`` games, without the last."""
    bots = [load_bot(name, game, int(rng.integers(2**31))) for name in sources]
    for number in range(num_games):
        bot, num_random = bots[number % len(bots)], int(rng.integers(4))
        bot.restart()
        state, before = game.new_initial_state(), list[State]()
        while not state.is_terminal():
            before.append(state.clone())
            at_random = state.move_number() < num_random
            state.apply_action(int(rng.choice(state.legal_actions())) if at_random else bot.step(state))
        yield before
