"""Batches of leaves of one tree, threads, and searches in time that keep their tree."""

from __future__ import annotations

import contextlib
import itertools
import threading
from typing import Any
from unittest.mock import Mock

import numpy as np
import numpy.typing as npt
import pytest

from game_play import played, random_state
from made_up_network import MadeUpNetwork
from stoneworks.envs.rules import Game, State, load_game
from stoneworks.models.search.gumbel import Gumbel
from stoneworks.models.search.leaf_values import make_leaf_values
from stoneworks.models.search.network_search import NetworkSearch, SearchResult, SearchSettings, _Deadline
from stoneworks.models.search.puct import PUCT
from stoneworks.models.search.tree import NO_NODE

Planes = npt.NDArray[np.float32]
POLICIES = {"gumbel": Gumbel(gumbel_scale=0), "noisy gumbel": Gumbel(max_considered=9), "puct": PUCT(noise_fraction=0)}

#: A position on the second turn.
ROOT = random_state("vadus(size=4)", 4, 0)
ALL = pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES)


def positions(game: Game, number: int, actions: int = 4) -> npt.NDArray[np.void]:
    states = [random_state(game, actions, seed) for seed in range(number)]
    return np.array([state.record for state in states], game.state_dtype)


def make_search(
    game: Game, policy: Any, games: int = 1, simulations: int = 2000, max_edges: int | None = None, **settings: Any
) -> NetworkSearch:
    room: dict[str, Any] = {"max_games": games, "max_simulations": simulations, "max_edges": max_edges}
    network = settings.pop("network", None) or MadeUpNetwork(game)
    return NetworkSearch(game, network, SearchSettings(policy, **settings), **room)


def check_tree(search: NetworkSearch, discount: float = 1.0) -> None:
    """No visit is pending, and visits and values of a node are those of its children and its own."""
    for row in range(len(search.trees.games)):
        number = search.trees.games[row]["num_nodes"]
        nodes = search.trees.nodes[row, :number]
        assert not nodes["pending"].any()
        assert nodes["num_edges"].sum() == search.trees.games[row]["num_edges"]
        below = np.zeros(number, np.int64)
        np.add.at(below, nodes["parent"][1:], nodes["visits"][1:])
        for node, (first, num_edges) in enumerate(nodes[["first_edge", "num_edges"]].tolist()):
            children = search.trees.edges[row, first : first + num_edges]["child"]
            assert np.flatnonzero(nodes["parent"][1:] == node).tolist() == sorted(children[children != NO_NODE] - 1)
        expanded = (nodes["num_edges"] > 0) & (nodes["solved"] == 0)
        np.testing.assert_array_equal(below[expanded], nodes["visits"][expanded] - 1)
        if not nodes["solved"].any():
            values = np.zeros(number)
            np.add.at(values, nodes["parent"][1:], discount * nodes["total_value"][1:].astype(float))
            np.testing.assert_allclose(values + nodes["network_value"], nodes["total_value"], atol=1e-3)


@pytest.mark.parametrize("game_name", ["vadus(size=2)", "vadus(size=4)", "taugo(size=3)", "laido(size=3)"])
@ALL
@pytest.mark.parametrize("leaf_values", ["none", "playouts"])
def test_rounds_are_the_same_search_as_one_simulation_at_a_time(game_name: str, policy: Any, leaf_values: str) -> None:
    game = load_game(game_name)
    roots = positions(game, 5)
    searches = []
    for batch in (1, None):
        settings = {
            "batch": batch,
            "leaf_values": make_leaf_values(leaf_values, game),
            "leaf_value_weight": 0.5,
            "discount": 0.99,
        }
        searches.append(make_search(game, policy, len(roots), **settings))
    for simulations in (1, 7, 64, 100):
        one, other = (search.run(roots, simulations, np.random.default_rng(3)) for search in searches)
        for found, expected in zip(other, one, strict=True):
            np.testing.assert_array_equal(found, expected)
        number = searches[0].trees.games["num_nodes"]
        np.testing.assert_array_equal(searches[1].trees.games["num_nodes"], number)
        for row in range(len(roots)):
            trees = [search.trees.nodes[row, : number[row]].copy() for search in searches]
            for nodes in trees:
                nodes["num_ordered"] = 0  # a leaf removed from a proven tree was sorted before
            np.testing.assert_array_equal(*trees)
        for search in searches:
            check_tree(search, 0.99)
    sizes = [max(search.evaluate.asked) for search in searches]  # type: ignore[attr-defined]
    assert sizes[0] == len(roots)
    assert sizes[1] > sizes[0] or isinstance(policy, PUCT)


@ALL
@pytest.mark.parametrize("solve", [False, True])
@pytest.mark.parametrize("batch", [2, 8, 50])
def test_virtual_losses_are_taken_back(policy: Any, solve: bool, batch: int) -> None:
    game = load_game("vadus(size=3)")
    roots = positions(game, 3)
    search = make_search(game, policy, len(roots), batch=batch, solve=solve, discount=0.98)
    result = search.run(roots, 120, np.random.default_rng(0))
    check_tree(search, 0.98)
    assert (result.visits.sum(1)[~result.solved] == 120).all()
    assert max(search.evaluate.asked) > len(roots)  # type: ignore[attr-defined]
    assert max(search.evaluate.asked) <= batch * len(roots)  # type: ignore[attr-defined]
    assert result.policies.sum(1) == pytest.approx(1, abs=1e-5)


def test_threads_share_one_tree_and_an_error_in_one_ends_the_search() -> None:
    network, both, threads = MadeUpNetwork(ROOT.get_game()), threading.Barrier(2, timeout=600), set()

    def evaluate(planes: Planes) -> tuple[Planes, npt.NDArray[np.float32]]:
        if len(network.asked) > 1 and len(threads) < 2:
            threads.add(threading.get_ident())
            both.wait()
        if len(network.asked) > 1000:
            raise RuntimeError("broken")
        return network(planes)

    search = make_search(ROOT.get_game(), POLICIES["gumbel"], network=evaluate, batch=4, threads=2, solve=False)
    result = search.run(ROOT.record.reshape(1), 200, np.random.default_rng(0))
    check_tree(search)
    assert result.visits.sum() == 200
    assert len(threads) == 2
    assert search.search_seconds > 0
    calls = itertools.count()

    def break_once(planes: Planes) -> tuple[Planes, npt.NDArray[np.float32]]:
        if next(calls) == 10:
            raise RuntimeError("broken")
        return network(planes)

    search.evaluate = break_once
    with pytest.raises(RuntimeError, match="broken"):
        search.run(ROOT.record.reshape(1), 2000, np.random.default_rng(0))
    assert next(calls) < 400


def test_a_thread_passes_over_a_leaf_that_another_one_evaluates() -> None:
    game, both, asked = ROOT.get_game(), threading.Barrier(2, timeout=600), []

    def evaluate(planes: Planes) -> tuple[Planes, npt.NDArray[np.float32]]:
        asked.append(len(planes))
        if len(asked) in (3, 4):  # after the root and its only action
            both.wait()
        logits = np.tile(-2 * np.arange(game.num_actions, dtype=np.float32), (len(planes), 1))
        return logits, np.full(len(planes), -1, np.float32)  # no worse than a virtual loss

    policy = Gumbel(gumbel_scale=0, max_considered=1)
    search = make_search(game, policy, network=evaluate, batch=1, threads=2, solve=False)
    assert search.run(ROOT.record.reshape(1), 4, np.random.default_rng(0)).visits.sum() == 4
    check_tree(search)


class Clock:
    """A clock that each call of the network moves by a millisecond per position, and each look at it by a microsecond."""

    def __init__(self, game: Game) -> None:
        self.now = 5.0
        self._network = MadeUpNetwork(game)

    def __call__(self) -> float:
        self.now += 1e-6
        return self.now

    def evaluate(self, planes: Planes) -> tuple[Planes, npt.NDArray[np.float32]]:
        self.now += len(planes) / 1000
        return self._network(planes)


def timed(game: Game, policy: Any = POLICIES["gumbel"], **settings: Any) -> tuple[NetworkSearch, Clock]:
    clock = Clock(game)
    return make_search(game, policy, network=clock.evaluate, **{"batch": 8, **settings}), clock


def run_in_time(
    root: State, seconds: float, policy: Any = POLICIES["gumbel"], stop: Any = lambda: False, **settings: Any
) -> tuple[NetworkSearch, SearchResult, float]:
    """Return a search from one position, its result, and the seconds that it took."""
    search, clock = timed(root.get_game(), policy, **settings)
    result = search.run_in_time(root.record.reshape(1), seconds, np.random.default_rng(0), clock=clock, stop=stop)
    check_tree(search)
    return search, result, clock.now - 5.0


@ALL
@pytest.mark.parametrize("seconds", [0.001, 0.1, 1.0])
@pytest.mark.parametrize("batch", [1, 8, None])
def test_a_limit_is_nearly_spent_and_not_overspent(policy: Any, seconds: float, batch: int | None) -> None:
    _, result, used = run_in_time(ROOT, seconds, policy, batch=batch, solve=False)
    assert 0.9 * seconds - 0.02 <= used <= seconds + 0.02
    assert result.visits.sum() >= min(1, seconds * 900)
    assert result.visits[0, result.actions[0]] > 0 or seconds < 0.01


def test_phases_get_the_same_time_and_a_full_tree_is_not_searched_further() -> None:
    _, result, _ = run_in_time(ROOT, 1.6, batch=1, solve=False)
    visits = np.sort(result.visits[0])[::-1]
    expected = np.cumsum([400 / 16, 400 / 8, 400 / 4, 400 / 2])
    assert np.abs(visits[:16] - np.repeat(expected[::-1], [2, 2, 4, 8])).max() <= 3
    assert not visits[16:].any()
    for room in ({"simulations": 40}, {"max_edges": 12 * ROOT.get_game().num_actions}):
        _, result, used = run_in_time(ROOT, 10.0, solve=False, **room)
        assert used < 1
        assert result.visits[0, result.actions[0]] > 0
    for stops in (True, False):
        _, result, _ = run_in_time(ROOT, 1e-9, POLICIES["puct"], lambda stops=stops: stops)
        assert result.policies.sum() == pytest.approx(1, abs=1e-5)


@ALL
@pytest.mark.parametrize("solve", [False, True])
def test_a_forced_action_takes_at_most_one_simulation(policy: Any, solve: bool) -> None:
    root = played("vadus(size=2)", "b2 a2 a3 b1 c1 b3 c2")
    _, result, used = run_in_time(root, 9.0, policy, solve=solve)
    assert result.actions.tolist() == root.legal_actions()
    assert result.policies[0].sum() == pytest.approx(1)
    assert result.visits.sum() <= 1
    assert used < 0.01


@pytest.mark.parametrize("policy", [POLICIES["gumbel"], POLICIES["puct"]])
def test_a_subtree_is_kept_as_it_is_and_searched_on_like_a_fresh_one(policy: Any) -> None:
    game = load_game("vadus(size=4)")
    search, clock = timed(game, policy, solve=False)
    generator = np.random.default_rng(0)

    def children(node: int) -> dict[int, Any]:
        """Return the children of a node by their actions."""
        nodes, start = search.trees.nodes[0], search.trees.nodes[0, node]["first_edge"]
        block = search.trees.edges[0, start : start + nodes[node]["num_edges"]]
        return {int(edge["action"]): edge["child"] for edge in block if edge["child"] >= 0}

    def visits_and_values(node: int) -> dict[int, tuple[int, float]]:
        nodes = search.trees.nodes[0, list(children(node).values())]
        return dict(zip(children(node), nodes[["visits", "total_value"]].tolist(), strict=True))

    first = search.run_in_time(positions(game, 1), 1.0, generator, clock=clock)
    child = children(0)[int(first.actions[0])]
    expected, visits = visits_and_values(child), search.trees.nodes[0, child]["visits"]
    record = search.trees.states[0, child].copy()
    assert search.keep(record)
    check_tree(search)
    assert search.trees.nodes[0, 0]["visits"] == visits
    assert visits_and_values(0) == expected
    found = search.run_in_time(record.reshape(1), 0.2, generator, clock=clock)
    assert found.visits.sum() >= visits - 1 + 150
    check_tree(search)
    actions, of_actions, values, priors = search.root_edges()
    of_network = search.trees.nodes[0, 0]["network_value"]
    mean = (of_network * (1 - 2 * record["current_player"]) + np.nansum(of_actions * values)) / (1 + of_actions.sum())
    root = search.trees.nodes[0, 0]
    of_mover = root["total_value"] / root["visits"] * (1 - 2 * record["current_player"])
    assert of_mover == pytest.approx(mean, abs=1e-3)
    fresh = make_search(game, policy, solve=False)
    fresh.run(record.reshape(1), 1, generator)
    np.testing.assert_array_equal(fresh.root_edges()[0], actions)
    np.testing.assert_array_equal(fresh.root_edges()[3], priors)
    assert fresh.trees.nodes[0, 0]["network_value"] == of_network


@pytest.mark.parametrize(("texts", "itself", "left"), [("c3", False, 0.7), ("c3 c1", False, 0), ("c3", True, 0)])
def test_what_is_left_of_the_time_is_for_the_same_turn(texts: str, itself: bool, left: float) -> None:
    root = played("vadus(size=3)", texts)
    search, clock = timed(root.get_game(), solve=False)

    def seconds_for(record: npt.NDArray[np.void], seconds: float, stop: Any = lambda: False) -> float:
        before = clock.now
        search.run_in_time(record, seconds, np.random.default_rng(0), clock=clock, stop=stop)
        return clock.now - before

    seconds_for(root.record.reshape(1), 1.0, lambda: clock.now > 5.3)
    assert search.left_seconds == pytest.approx(0.7, abs=0.02)
    nodes = search.trees.nodes[0, : search.trees.games[0]["num_nodes"]]
    same_turn = (nodes["player"] == root.current_player()) == (left > 0)
    node = 0 if itself else np.flatnonzero((nodes["num_edges"] > 0) & (nodes["parent"] == 0) & same_turn)[0]
    record = search.trees.states[0, node].reshape(1).copy()
    assert seconds_for(record, 0.5) == pytest.approx(0.5 + left, abs=0.02)
    search.restart()
    assert seconds_for(record, 0.5) == pytest.approx(0.5, abs=0.02)


@pytest.mark.parametrize(("time", "fourth"), [(0.85, True), (0.9, False)])
def test_a_batch_begins_if_half_of_it_is_over_in_time(time: float, fourth: bool) -> None:
    deadline = _Deadline(iter((0.0, 0.0, 0.25, 0.5, 0.75, 1.0)).__next__, lambda: False)
    deadline.time = time
    assert [deadline() for _ in range(5)] == [False, False, False, fourth, True]


def test_a_search_after_an_error_begins_anew() -> None:
    search, clock = timed(ROOT.get_game(), solve=False)
    for evaluate in (clock.evaluate, Mock(side_effect=RuntimeError), clock.evaluate):
        search.evaluate = evaluate
        with pytest.raises(RuntimeError) if isinstance(evaluate, Mock) else contextlib.nullcontext():
            search.run_in_time(ROOT.record.reshape(1), 0.1, np.random.default_rng(0), clock=clock)
    check_tree(search)  # else visits are pending


@ALL
@pytest.mark.parametrize(
    "game_name", ["taugo(size=3)", "vadus(size=2)", "trugo(tiles=4,pieces=2,max_turns=8,radius=2)"]
)
def test_whole_games_in_time_are_legal(policy: Any, game_name: str) -> None:
    """Also where all actions that are considered are proven losses."""
    game = load_game(game_name)
    for seed in range(2):
        search, clock = timed(game, policy)
        rng, state = np.random.default_rng(seed), game.new_initial_state()
        while not state.is_terminal():
            result = search.run_in_time(state.record.reshape(1), 0.05, rng, clock=clock)
            assert int(result.actions[0]) in state.legal_actions()
            legal = state.legal_actions()
            state.apply_action(int(result.actions[0]) if rng.random() < 0.7 else int(rng.choice(legal)))


def test_once_all_considered_actions_are_proven_losses_others_are_searched() -> None:
    """The network prefers the pass that ends the game of Vadus and loses it, and it alone is considered at first."""
    state = played("vadus(size=3)", "c3 c1 d1 b3 d3 pass")
    game, passing = state.get_game(), state.string_to_action("pass")
    assert state.child(passing).returns()[state.current_player()] == -1
    clock = Clock(game)

    def evaluate(planes: Planes) -> tuple[Planes, npt.NDArray[np.float32]]:
        logits, values = clock.evaluate(planes)
        logits[:, passing] = 30
        return logits, values

    search = make_search(game, Gumbel(max_considered=1, gumbel_scale=0), network=evaluate, batch=1)
    result = search.run_in_time(state.record.reshape(1), 0.03, np.random.default_rng(0), clock=clock)
    assert result.visits[0, passing] == 1
    assert result.visits[0].sum() > 10
