"""Ahead-of-time compilation of the kernels of games, in parallel processes, into the cache that later processes use."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from concurrent.futures import as_completed
from dataclasses import dataclass
from functools import partial

import numpy as np

from stoneworks.checks import check_integer
from stoneworks.envs.rules import Batch, Game, templates
from stoneworks.envs.rules.parts import has_features, has_heuristic
from stoneworks.models.bots.loading import load_bot, playable_bots
from stoneworks.models.inference.winograd import compiled_network
from stoneworks.models.machine import num_processors
from stoneworks.models.network_inputs import NetworkInputs
from stoneworks.models.search.gumbel import Gumbel
from stoneworks.models.search.leaf_values import make_leaf_values
from stoneworks.models.search.network_search import NetworkSearch, SearchSettings, SelectionRule
from stoneworks.models.search.puct import PUCT
from stoneworks.processes import exit_with_parent, process_pool


@dataclass(frozen=True)
class Compiled:
    """Result of compiling one part in one process.

    Attributes:
        game: the game string.
        part: the part of stoneworks that uses the kernels, one of ``PARTS``.
        seconds: CPU time, without the imports of the process; small if the kernels were already in the cache.
    """

    game: str
    part: str
    seconds: float


def _states(game: Game) -> None:
    state = game.new_initial_state()
    state.legal_actions()
    state.apply_action(state.legal_actions()[0])
    state.observation_tensor()
    state.observation_and_mask(0)
    state.try_step(0)
    state.score()


def _batches(game: Game) -> None:
    for features in {False, has_features(game)}:
        batch = Batch(game, 1, inputs=NetworkInputs(game, True) if features else None)
        batch.step(batch.random_actions())
        batch.observe(None, [0])
    for template in (templates.first_without_action, templates.apply_actions):
        game.compiled(template)


def _playouts(game: Game) -> None:
    Batch(game, 1).random_playouts()


def _bot(name: str, game: Game) -> None:
    if name in playable_bots([name], game):
        load_bot(name, game, 0)


def _search(game: Game) -> None:
    answer = np.zeros((1, game.num_actions), np.float32), np.zeros(1, np.float32)
    rules: tuple[SelectionRule, ...] = (Gumbel(), PUCT())
    for rule in rules:  # in one process, because they share kernels
        for features in {False, has_features(game)}:
            settings = SearchSettings(rule, features=features)
            NetworkSearch(game, lambda planes: answer, settings, max_games=1, max_simulations=2)


def _networks(game: Game) -> None:
    compiled_network()
    NetworkInputs(game, has_features(game)).of_state(game.new_initial_state())
    for name in ("playouts", "heuristic") if has_heuristic(game) else ("playouts",):
        make_leaf_values(name, game)


#: Parts of stoneworks, each with a function that compiles its kernels.
PARTS: dict[str, Callable[[Game], None]] = {
    "states": _states,
    "batches": _batches,
    "playouts": _playouts,
    "mcts": partial(_bot, "mcts:1"),
    "mcts by heuristic": partial(_bot, "mcts:1,leaf=heuristic"),
    "mcts by turns": partial(_bot, "mcts:1,leaf=end_of_turn"),
    "greedy": partial(_bot, "greedy"),
    "alphabeta": partial(_bot, "alphabeta:1"),
    "perfect": partial(_bot, "perfect:memory=1"),
    "networks": _networks,
    "search": _search,
}


def compile_part(game: Game, part: str) -> Compiled:
    """Compile the kernels of one part for ``game`` and its board capacity in this process."""
    start = time.process_time()
    PARTS[part](game)
    return Compiled(str(game), part, time.process_time() - start)


def compile_games(
    games: Iterable[Game],
    *,
    num_processes: int | None = None,
    progress: Callable[[Compiled, int, int], None] = lambda compiled, done, total: None,
) -> list[Compiled]:
    """Compile the kernels of ``games`` that ``PARTS`` use. A few others, such as that of ``perft``, are compiled on first use.

    Boards of one capacity share their kernels, so compiling Vadus 9 compiles Vadus 5 as well.

    Args:
        games: the games.
        num_processes: number of concurrent processes; None for the number of processors.
        progress: called after each part with its result, the number of finished parts, and the total number of parts.

    Raises:
        ValueError: ``num_processes`` is not an integer >= 1.
    """
    num_processes = num_processors() if num_processes is None else check_integer("num_processes", num_processes, 1)
    jobs = [(game, part) for game in games for part in reversed(PARTS)]  # the longest first
    done: list[Compiled] = []
    with process_pool(num_processes, exit_with_parent) as pool:
        for future in as_completed([pool.submit(compile_part, *job) for job in jobs]):
            done.append(future.result())
            progress(done[-1], len(done), len(jobs))
    return done
