"""What searches call proven, against the solver, on many small positions of every game."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from game_play import uniform_game
from made_up_network import MadeUpNetwork
from stoneworks.envs.rules import Game, State, load_game
from stoneworks.models.bots.alphabeta_bot import AlphaBetaBot
from stoneworks.models.bots.mcts_bot import MCTSBot
from stoneworks.models.search.alphabeta import PROVEN_VALUE
from stoneworks.models.search.gumbel import Gumbel
from stoneworks.models.search.network_search import NetworkSearch, SearchSettings, SelectionRule
from stoneworks.models.search.puct import PUCT
from stoneworks.models.search.turn_search import MAX_CANDIDATES
from stoneworks.models.solver import Solver

NUM_POSITIONS, SIMULATIONS = 100, 60
#: A position, and its result for player 0 that a search calls proven.
Claim = tuple[State, float]


def small_positions(game: Game, last_actions: int, number: int) -> list[State]:
    """Different positions of the last so many actions of random games."""
    found, rng = dict[bytes, State](), np.random.default_rng(0)
    for _ in range(number):
        for state in uniform_game(game, rng)[-1 - last_actions : -1]:
            found.setdefault(state.record.tobytes(), state)
        if len(found) >= number:
            break
    return list(found.values())[:number]


def records_of(states: list[State]) -> npt.NDArray[np.void]:
    return np.array([state.record for state in states], states[0].get_game().state_dtype)


def claims_of(state: State, result: float, actions: list[int]) -> Iterator[Claim]:
    """The result of a position for its player to move, and that of the actions that are said to keep it."""
    result *= 1 - 2 * state.current_player()
    yield state, result
    for action in actions:
        yield state.child(action), result


def claims_of_mcts(game: Game, states: list[State]) -> Iterator[Claim]:
    bot = MCTSBot(game, 0, simulations=SIMULATIONS)
    for state in states:
        bot.restart()
        policy, action = bot.step_with_policy(state)
        statistics = bot.root_statistics
        assert statistics is not None
        if not np.isnan(statistics.result):
            assert policy == [(action, 1.0)]
            yield from claims_of(state, statistics.result, [action])
        for row in np.flatnonzero(~np.isnan(statistics.proven)):
            yield from list(claims_of(state, statistics.proven[row], [int(statistics.actions[row])]))[1:]


def claims_of_alphabeta(game: Game, states: list[State]) -> Iterator[Claim]:
    values, actions = AlphaBetaBot(game, 0, turns=2, num_candidates=MAX_CANDIDATES).search(records_of(states))
    for state, value, action in zip(states, values.max(axis=1), actions.tolist(), strict=True):
        if abs(value) >= PROVEN_VALUE:
            yield from claims_of(state, float(np.sign(value)), [action])


def claims_of_network_search(game: Game, states: list[State], policy: SelectionRule, **others: Any) -> Iterator[Claim]:
    """The network is untrained but confident."""
    settings, rng = SearchSettings(policy, solve=True, **others), np.random.default_rng(0)
    at_once = 100 if settings.threads == 1 else 1
    for begin in range(0, len(states), at_once):
        part = states[begin : begin + at_once]
        rooms = {"max_games": len(part), "max_simulations": SIMULATIONS}
        found = NetworkSearch(game, MadeUpNetwork(game), settings, **rooms).run(records_of(part), SIMULATIONS, rng)
        for row in np.flatnonzero(found.solved):
            assert abs(found.values[row]) in (0, 1) if settings.discount == 1 else abs(found.values[row]) < 1
            assert found.policies[row].sum() == pytest.approx(1, abs=1e-5)
            actions = {int(found.actions[row]), *np.flatnonzero(found.policies[row]).tolist()}
            yield from claims_of(part[row], float(np.sign(found.values[row])), sorted(actions))


SEARCHES: dict[str, Callable[[Game, list[State]], Iterator[Claim]]] = {
    "mcts": claims_of_mcts,
    "alphabeta": claims_of_alphabeta,
    "gumbel": partial(claims_of_network_search, policy=Gumbel()),
    "puct": partial(claims_of_network_search, policy=PUCT()),
    "discounting": partial(claims_of_network_search, policy=Gumbel(), discount=0.9),
    "batches": partial(claims_of_network_search, policy=Gumbel(gumbel_scale=0), batch=8),
    "threads": partial(claims_of_network_search, policy=PUCT(), batch=8, threads=2),
}


@pytest.mark.parametrize(
    ("name", "last_actions"),
    [
        ("vadus(size=2)", 9),
        ("vadus(size=3)", 9),
        ("laido(size=2)", 9),
        ("laido(size=3)", 8),
        ("taugo(size=3)", 12),
        ("taigo(cones=1,radius=2,tiles=8)", 4),
        ("trugo(max_turns=9,radius=1,tiles=4)", 6),
    ],
)
def test_what_searches_call_proven_is(name: str, last_actions: int) -> None:
    game = load_game(name)
    solver, states = Solver(game, memory_mib=16), small_positions(game, last_actions, NUM_POSITIONS)
    for search, claims_of_search in SEARCHES.items():
        claims = list(claims_of_search(game, states))
        wrong = [str(state) for state, result in claims if solver.value(state) != result]
        assert not wrong, f"{search}: {len(wrong)} of {len(claims)}, such as\n{wrong[0]}"
        assert claims, search
