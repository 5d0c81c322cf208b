"""The MCTS bot: legal, reproducible, with correct proofs and statistics."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from game_play import played, random_state, turn_of, with_mover
from stoneworks.envs.rules import Batch, Game, State, load_game
from stoneworks.envs.rules.games import small_games
from stoneworks.models import load_bot
from stoneworks.models.bots.mcts_bot import MCTSBot
from stoneworks.models.evaluations import MissingEvaluationError, evaluation_kernels, evaluation_scale
from stoneworks.models.search import uct
from stoneworks.models.search.uct import MAX_VISITS, NODE_VISITS, UNIT, RootStatistics, SearchTree
from stoneworks.models.solver import Solver
from tools.evaluation_scale import evaluate_states


def make_tree(game: Game, max_nodes: int = 5000, max_edges: int = 200_000) -> SearchTree:
    return SearchTree(game, max_nodes, max_edges)


def searched(state: State, simulations: int, seed: int = 0) -> SearchTree:
    """A tree of ``state`` after so many simulations, or fewer where it is proven."""
    tree = make_tree(state.get_game())
    tree.start(state.record, np.uint64(seed))
    tree.search(simulations, 1.0)
    return tree


def known(statistics: RootStatistics | None) -> RootStatistics:
    assert statistics is not None
    return statistics


def table_of(statistics: RootStatistics | None) -> list[list[float]]:
    """The statistics as numbers that can be compared: what is not proven has 9."""
    found = known(statistics)
    columns = found.actions, found.visits, found.values, np.nan_to_num(found.proven, nan=9)
    return np.column_stack(columns).tolist()


@pytest.mark.parametrize("game", small_games())
def test_every_simulation_counts_once_and_every_node_has_its_player_to_move(game: str) -> None:
    """An edge's visits are the one that found it and those of its node, and its results are of its own player's view."""
    state = load_game(game).new_initial_state()
    tree = searched(state, 3000)
    assert known(tree.statistics()).visits.sum() == 3000
    waiting: list[list[int]] = [[]]
    num_nodes = num_compared = 0
    while waiting:
        actions = waiting.pop()
        here = state.clone()
        for action in actions:
            here.apply_action(action)
        found = known(tree.statistics(actions))
        num_nodes += 1
        assert found.player == here.current_player()
        assert found.actions.tolist() == here.legal_actions()
        for action, visits, value in zip(found.actions.tolist(), found.visits, found.values, strict=True):
            below = tree.statistics([*actions, action])
            if below is None:
                continue
            assert below.visits.sum() == visits - 1
            waiting.append([*actions, action])
            if not np.isnan(below.proven).all():  # what is proven below counts above in place of results
                continue
            num_compared += 1
            sign = 1 if below.player == found.player else -1
            first_result = visits * value - sign * (below.visits * below.values).sum()
            assert min(abs(first_result - result) for result in (-1, 0, 1)) < 1e-6
    assert num_nodes == tree.num_nodes > 10
    assert num_compared > 10


@pytest.mark.parametrize(
    ("game", "length", "seed", "player"),
    [
        ("vadus(size=3)", 10, 2, 1),  # the second stone of White's turn
        ("vadus(size=3)", 11, 9, 0),  # the first of Black's
        ("vadus(size=3)", 12, 10, 1),  # the first of White's
        ("vadus(size=3)", 12, 3, 0),  # the second of Black's
        ("taugo(size=4)", 10, 8, 0),
        ("trugo(radius=3,tiles=9)", 12, 8, 1),
    ],
)
def test_values_are_those_of_playouts_for_the_player_to_move_also_twice_in_a_row(
    game: str, length: int, seed: int, player: int
) -> None:
    """With one visit each, the mean over all actions is the mean of random playouts as who acts sees them."""
    loaded = load_game(game)
    state = random_state(loaded, length, seed)
    assert (state.move_number(), state.current_player()) == (length, player)
    num_legal, num_searches = len(state.legal_actions()), 300
    tree = make_tree(loaded)
    mean = 0.0
    for number in range(num_searches):
        tree.start(state.record, np.uint64(number))
        tree.search(num_legal, 1.0)
        found = known(tree.statistics())
        mean += found.values.mean() / num_searches
        assert set(found.visits.tolist()) == {1}
    batch = Batch(loaded, num_searches * num_legal, seed=2)
    batch.load(np.arange(len(batch)), np.repeat(np.array([state.record]), len(batch)))
    batch.step(np.tile(state.legal_actions(), num_searches))
    expected = batch.random_playouts()[0][:, player].mean()
    assert abs(expected) > 0.3, "a wrong sign would show"
    # Both are means of so many results in [-1, 1], whose standard deviation is at most 1.
    assert abs(mean - expected) < 5 * math.sqrt(2 / len(batch))


def tables_of(players: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """Node and edge tables with a node of each player, the edges 2 n and 2 n + 1 of which are open."""
    nodes = np.zeros((len(players), uct.NUM_NODE_COLUMNS), np.int32)
    edges = np.zeros((2 * len(players), uct.NUM_EDGE_COLUMNS), np.int32)
    nodes[:, uct.FIRST_EDGE] = 2 * np.arange(len(players))
    nodes[:, uct.NUM_EDGES] = nodes[:, uct.NUM_OPEN] = 2
    nodes[:, uct.PLAYER] = players
    nodes[:, uct.NODE_RESULT] = edges[:, uct.RESULT] = uct.OPEN
    return nodes, edges


@pytest.mark.parametrize("player", [0, 1])
def test_the_open_edge_of_greatest_upper_confidence_bound_is_chosen(player: int) -> None:
    rng = np.random.default_rng(1)
    seeds = np.zeros(1, np.uint64)
    for _ in range(100):
        nodes, edges = tables_of([player, player])
        visits = rng.integers(1, 30, 2)
        sums = rng.integers(-UNIT, UNIT, 2) * visits
        edges[2:, uct.VISITS], edges[2:, uct.SUM_OF_RESULTS] = visits, sums
        nodes[1, NODE_VISITS], nodes[1, uct.NUM_TRIED] = visits.sum() + 1, 2
        means = (1 - 2 * player) * sums / visits / UNIT
        bounds = means + 0.7 * np.sqrt(np.log(visits.sum() + 1) / visits)
        assert uct.choose_edge(nodes, edges, 1, 0.7, seeds) == 2 + bounds.argmax()
        edges[2, uct.RESULT] = 0
        assert uct.choose_edge(nodes, edges, 1, 0.7, seeds) == 3


def tree_below(nodes: np.ndarray, edges: np.ndarray, node: int) -> Any:
    """A node and all below it, without the places where they are stored."""
    first, number = nodes[node, [uct.FIRST_EDGE, uct.NUM_EDGES]]
    below = [
        (edges[edge, [uct.ACTION, uct.VISITS, uct.SUM_OF_RESULTS, uct.RESULT]].tolist(), int(edges[edge, uct.CHILD]))
        for edge in range(first, first + number)
    ]
    values = nodes[node, uct.NUM_EDGES : uct.MOVED_TO].tolist()
    return values, [(of_edge, child >= 0 and tree_below(nodes, edges, child)) for of_edge, child in below]


def test_a_kept_subtree_is_what_it_was_and_takes_no_more_room_than_it_needs() -> None:
    tree = searched(load_game("vadus(size=3)").new_initial_state(), 400)
    nodes, edges, sizes = tree._nodes, tree._edges, tree._sizes
    for root in (3, 7, 1):
        kept_nodes, kept_edges, kept_sizes = nodes.copy(), edges.copy(), sizes.copy()
        uct.keep_subtree(kept_nodes, kept_edges, kept_sizes, root)
        assert tree_below(kept_nodes, kept_edges, 0) == tree_below(nodes, edges, root)
        num_nodes, num_edges = kept_sizes.tolist()
        assert 1 <= num_nodes < sizes[uct.NODES_IN_USE]
        assert num_edges == kept_nodes[:num_nodes, uct.NUM_EDGES].sum()
        assert (kept_edges[:num_edges, uct.CHILD] >= 0).sum() == num_nodes - 1


@pytest.mark.parametrize("player", [0, 1])
@pytest.mark.parametrize(
    ("results", "proven"), [((1,), 1), ((-1, 1), 1), ((0, 1), 1), ((-1, 0), 0), ((0, -1), 0), ((-1, -1), -1)]
)
def test_a_node_is_proven_by_a_win_or_by_the_best_of_all_its_edges(
    player: int, results: tuple[int, ...], proven: int
) -> None:
    """``results`` and ``proven`` are for the player to move."""
    nodes, edges = tables_of([0, player])
    sign = 1 - 2 * player
    for number, result in enumerate(results):
        assert nodes[1, uct.NODE_RESULT] == uct.OPEN
        is_last = number == len(results) - 1
        assert uct.prove(nodes, edges, 1, 2 + number, sign * result) == is_last
        assert nodes[1, uct.CAN_DRAW] == (0 in results[: number + 1])
        assert nodes[1, uct.NUM_OPEN] == 1 - number
    assert nodes[1, uct.NODE_RESULT] == sign * proven
    assert nodes[0, uct.NODE_RESULT] == uct.OPEN


@pytest.mark.parametrize("player", [0, 1])
@pytest.mark.parametrize("can_draw", [False, True])
def test_a_player_who_can_draw_does_not_back_up_a_loss(player: int, can_draw: bool) -> None:
    nodes, edges = tables_of([1 - player, player, 1 - player])
    nodes[1, uct.CAN_DRAW] = can_draw
    path = np.array([[0, 0], [1, 2], [2, 4]], np.int32)
    loss = UNIT * (2 * player - 1)
    uct.back_up(nodes, edges, path, 3, loss, True)
    assert edges[[2, 4], uct.RESULT].tolist() == [loss // UNIT] * 2
    assert edges[[0, 2, 4], uct.SUM_OF_RESULTS].tolist() == [0 if can_draw else loss, loss, loss]
    assert nodes[:, uct.NODE_VISITS].tolist() == edges[[0, 2, 4], uct.VISITS].tolist() == [1, 1, 1]
    assert nodes[:, uct.NODE_RESULT].tolist() == [uct.OPEN, uct.OPEN, loss // UNIT]
    uct.back_up(nodes, edges, path, 2, -loss, False)
    assert edges[[0, 2], uct.SUM_OF_RESULTS].tolist() == [-loss if can_draw else 0, 0]


@pytest.mark.parametrize(
    "position",
    [
        # White's two adjacent edge stones are worth 2, Black's stones nothing: the second pass wins.
        lambda: played("vadus(size=3)", "c3 c1 d1 pass"),
        lambda: played("laido(pie_rule=False,size=3)", "c3 c1 d3 d1 pass"),
        # The fifth of a row of light hexes, and a hole whose cone, the same player's second action, completes one.
        lambda: with_mover(played("taigo(radius=9)", "l9-l10 m11-m10 n9-n10"), 1, cones_left=5),
        lambda: with_mover(played("taigo(radius=9)", "i12-i11 h12-h11 l10-l11"), 1, cones_left=5),
    ],
)
def test_it_proves_and_plays_a_forced_win(position: Callable[[], State]) -> None:
    state = position()
    player = state.current_player()
    bot = MCTSBot(state.get_game(), 0, simulations=20_000)
    policy, action = bot.step_with_policy(state)
    found = known(bot.root_statistics)
    assert found.result == 1
    assert policy == [(action, 1.0)]
    assert turn_of(bot, state).outcome().winner == player


@pytest.mark.once
@pytest.mark.parametrize(
    ("game", "lengths", "simulations"),
    [
        ("vadus(size=2)", (2, 2, 3, 3, 4, 4), 20_000),
        ("laido(size=2)", (2, 2, 3, 3, 4, 4), 20_000),
        ("taugo(size=3)", (8, 8, 9, 9, 10, 10), 20_000),
        ("trugo(radius=1,tiles=4)", (2, 2, 3, 3, 3), 20_000),
        ("taigo(cones=1,radius=2,tiles=7)", (5, 5, 5, 5, 5, 5, 4), 20_000),
        pytest.param("vadus(size=2)", (0, 1, 1, 1), 20_000, marks=pytest.mark.slow),
        pytest.param("laido(size=2)", (0, 1, 1, 1), 20_000, marks=pytest.mark.slow),
        pytest.param("laido(pie_rule=False,size=2)", (0, 1, 1, 2, 2, 3, 3, 4, 4), 20_000, marks=pytest.mark.slow),
        pytest.param("taugo(size=3)", (0, 1, 1, 2, 2, 3, 4, 5, 6), 50_000, marks=pytest.mark.slow),
        pytest.param("trugo(radius=1,tiles=4)", (0, 1, 1, 2), 50_000, marks=pytest.mark.slow),
        # Six tiles are too many to solve from the start: later positions, with few turns to go.
        pytest.param(
            "trugo(max_turns=11,radius=1,tiles=6)", (6, 6, 7, 7, 7, 8, 8, 8, 9), 50_000, marks=pytest.mark.slow
        ),
        pytest.param("taigo(cones=1,radius=2,tiles=7)", (4, 3, 3), 20_000, marks=pytest.mark.slow),
    ],
)
def test_with_enough_simulations_it_plays_an_action_of_the_solved_value(
    game: str, lengths: tuple[int, ...], simulations: int
) -> None:
    loaded = load_game(game)
    solver = Solver(loaded, memory_mib=4)
    num_with_mistakes = 0
    for seed, length in enumerate(lengths):
        state = random_state(loaded, length, seed)
        bot = MCTSBot(loaded, seed, simulations=simulations)
        action = bot.step(state)
        solved = solver.value(state)
        assert solver.value(state.child(action)) == solved, state
        found = known(bot.root_statistics)
        sign = 1 if state.current_player() == 0 else -1
        if not math.isnan(found.result):
            assert found.result == sign * solved
        for child, proven in zip(found.actions.tolist(), found.proven.tolist(), strict=True):
            assert math.isnan(proven) or sign * proven == solver.value(state.child(child))
        num_with_mistakes += any(solver.value(state.child(other)) != solved for other in state.legal_actions())
    assert num_with_mistakes > 0, "some of the positions can be played wrong"


@pytest.mark.parametrize("game", small_games())
def test_a_tree_carried_over_has_the_statistics_of_the_part_that_it_keeps(game: str) -> None:
    state = load_game(game).new_initial_state()
    tree = searched(state, 4000)
    root = known(tree.statistics())
    first = int(root.actions[root.visits.argmax()])
    below = known(tree.statistics([first]))
    second = int(below.actions[below.visits.argmax()])
    third = int(known(tree.statistics([first, second])).actions[0])
    expected = {path: tree.statistics([first, *path]) for path in ((), (second,), (second, third))}
    num_nodes = tree.num_nodes
    assert tree.descend([first], state.child(first).record)
    assert 1 < tree.num_nodes < num_nodes
    for path, before in expected.items():
        now = tree.statistics(list(path))
        assert (now is None) == (before is None)
        assert now is None or table_of(now) == table_of(before)
    tree.search(500, 1.0)
    assert known(tree.statistics()).visits.sum() == below.visits.sum() + 500
    twice = searched(state, 4000)
    assert twice.descend([first, second], state.child(first).child(second).record)
    assert table_of(twice.statistics()) == table_of(expected[(second,)])


def test_a_tree_is_not_carried_over_to_a_position_without_a_node() -> None:
    state = played("vadus(size=5)")
    tree = searched(state, 10)
    unvisited = int(known(tree.statistics()).actions[known(tree.statistics()).visits.argmin()])
    assert not tree.descend([unvisited], state.child(unvisited).record)
    assert not make_tree(state.get_game()).descend([], state.record)


def test_the_bot_carries_over_what_is_ahead_and_plays_its_simulations_besides() -> None:
    game = load_game("vadus(size=4)")
    state = game.new_initial_state()
    bot = MCTSBot(game, 4, simulations=3000)
    state.apply_action(bot.step(state))
    before = known(bot.root_statistics)
    assert before.visits.sum() == 3000
    bot.step(state)
    carried = int(known(bot.root_statistics).visits.sum()) - 3000
    assert carried == before.visits[before.actions == state.history()[0]][0] - 1
    bot.step(state)
    assert known(bot.root_statistics).visits.sum() == 6000 + carried, "asked about the same position again"
    bot.restart()
    assert bot.root_statistics is None
    bot.step(state)
    assert known(bot.root_statistics).visits.sum() == 3000


def test_no_tree_is_carried_over_to_another_game_or_history() -> None:
    game = load_game("vadus(size=4)")
    start = game.new_initial_state()
    line = start.child(start.legal_actions()[0])
    other = start.child(start.legal_actions()[5])
    for before, now in ((line, start), (line, other), (start, State.from_record(game, line.record))):
        bot = MCTSBot(game, 0, simulations=200)
        bot.step(before)
        bot.step(now)
        found = known(bot.root_statistics)
        assert found.visits.sum() == 200
        assert found.actions.tolist() == now.legal_actions()


def test_a_full_tree_stops_growing_and_simulations_continue() -> None:
    game = load_game("vadus(size=3)")
    state = game.new_initial_state()
    for max_nodes, max_edges in ((1, 10_000), (30, 10_000), (1000, 100)):
        tree = make_tree(game, max_nodes, max_edges)
        tree.start(state.record, np.uint64(0))
        assert tree.search(2000, 1.0) == 2000
        assert known(tree.statistics()).visits.sum() == 2000
        assert tree.num_nodes == max_nodes or 100 - 20 < 19 * tree.num_nodes <= 100


def test_a_tree_stops_before_its_sums_overflow() -> None:
    """A sum of 2,147,484 wins in units of 1/1000 would be negative."""
    state = played("vadus(size=3)")
    tree = searched(state, 100)
    tree._nodes[0, NODE_VISITS] = MAX_VISITS - 5
    assert tree.search(100, 1.0) == 5
    assert tree.search(100, 1.0) == 0
    assert MAX_VISITS * UNIT < 2**31 <= (MAX_VISITS + 1) * UNIT


def test_searching_in_slices_equals_searching_at_once() -> None:
    state = played("trugo(radius=3,tiles=9)")
    at_once = searched(state, 1000)
    in_slices = make_tree(state.get_game())
    in_slices.start(state.record, np.uint64(0))
    for number in (1, 9, 290, 700):
        in_slices.search(number, 1.0)
    assert table_of(at_once.statistics()) == table_of(in_slices.statistics())


def test_a_time_budget_is_spent_and_not_by_far_overspent(monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock is one that each simulation moves by a millisecond."""
    now = [0.0]
    monkeypatch.setattr("stoneworks.models.bots.mcts_bot.time.perf_counter", lambda: now[0])
    search = SearchTree.search

    def timed_search(tree: SearchTree, num_simulations: int, exploration: float) -> int:
        now[0] += num_simulations / 1000
        return search(tree, num_simulations, exploration)

    monkeypatch.setattr(SearchTree, "search", timed_search)
    game = load_game("vadus(size=5)")
    bot = load_bot("mcts:0.5s", game, 0)
    assert isinstance(bot, MCTSBot)
    bot.step(game.new_initial_state())
    assert 500 <= known(bot.root_statistics).visits.sum() <= 520


def test_trees_in_threads_share_the_simulations_and_are_added_up() -> None:
    game = load_game("vadus(size=4)")
    state = game.new_initial_state()
    bot = load_bot("mcts:1001,parallel=root,threads=3", game, 7)
    assert isinstance(bot, MCTSBot)
    bot.step(state)
    found = known(bot.root_statistics)
    assert found.visits.sum() == 1001
    few = MCTSBot(game, 0, simulations=2, num_threads=4)
    few.step(state)
    assert known(few.root_statistics).visits.sum() == 2, "more threads than simulations"
    seeds = np.random.default_rng(7).integers(0, 2**64, 3, np.uint64)
    parts = []
    for seed, share in zip(seeds, (334, 334, 333), strict=True):
        tree = make_tree(game)
        tree.start(state.record, seed)
        tree.search(share, 1.0)
        parts.append(known(tree.statistics()))
    assert found.visits.tolist() == sum(part.visits for part in parts).tolist()
    sums = sum(part.visits * part.values for part in parts)
    assert found.values == pytest.approx(sums / np.maximum(found.visits, 1))


def test_what_one_tree_proves_is_proven_in_the_sum() -> None:
    actions = np.array([3, 5, 8])
    values, nothing = np.zeros(3), np.full(3, np.nan)
    one = RootStatistics(0, actions, np.array([5, 5, 5]), values, np.array([np.nan, -1.0, np.nan]))
    other = RootStatistics(0, actions, np.array([1, 9, 9]), np.array([1.0, 1.0, 0.0]), np.array([1.0, np.nan, np.nan]))
    total = RootStatistics.sum_of([one, other])
    assert total.visits.tolist() == [6, 14, 14]
    assert total.values.tolist() == pytest.approx([1 / 6, 9 / 14, 0])
    assert np.isnan(total.proven).tolist() == [False, False, True]
    assert total.result == 1
    assert total.best.tolist() == [3]
    assert math.isnan(RootStatistics(0, actions, np.array([1, 1, 1]), values, nothing).result)


@pytest.mark.parametrize(
    ("visits", "values", "proven", "best"),
    [
        ([9, 7, 9], [0.1, 0.9, 0.1], [np.nan, np.nan, np.nan], [0, 2]),
        ([9, 7, 9], [0.1, 0.9, 0.2], [np.nan, np.nan, np.nan], [2]),
        ([9, 7, 9], [0.1, 0.9, 0.2], [-1, np.nan, -1], [1]),
        ([9, 7, 9], [0.1, 0.9, 0.2], [np.nan, 1, np.nan], [1]),
        ([9, 7, 9], [0.1, 0.9, 0.2], [-1, 0, -1], [1]),
        ([9, 1, 8], [-0.1, 0.0, 0.2], [np.nan, 0, np.nan], [1]),
        ([9, 1, 8], [0.1, 0.0, 0.2], [np.nan, 0, np.nan], [0]),
        ([9, 7, 9], [-0.1, -0.9, -0.2], [-1, -1, -1], [0]),
        ([1, 0, 0], [-1.0, 0.0, 0.0], [-1, np.nan, np.nan], [1, 2]),
    ],
)
def test_the_choice_is_what_is_proven_best_or_most_visited_and_a_draw_is_better_than_what_looks_worse(
    visits: list[int], values: list[float], proven: list[float], best: list[int]
) -> None:
    statistics = RootStatistics(0, np.arange(3), np.array(visits), np.array(values), np.array(proven, float))
    assert statistics.best.tolist() == best


def test_the_policy_is_the_shares_of_the_visits() -> None:
    game = load_game("vadus(size=4)")
    bot = MCTSBot(game, 1, simulations=500)
    policy, action = bot.step_with_policy(game.new_initial_state())
    found = known(bot.root_statistics)
    assert dict(policy) == dict(zip(found.actions.tolist(), (found.visits / 500).tolist(), strict=True))
    assert dict(policy)[action] == found.visits.max() / 500


def test_an_interrupt_ends_a_search_in_threads_and_the_bot_stays_usable(monkeypatch: pytest.MonkeyPatch) -> None:
    game = load_game("vadus(size=3)")
    state = game.new_initial_state()
    bot = MCTSBot(game, 1, seconds=1000, num_threads=2)
    search = SearchTree.search
    started = threading.Event()

    def interrupted_search(tree: SearchTree, num_simulations: int, exploration: float) -> int:
        if started.is_set():
            return search(tree, num_simulations, exploration)
        started.set()
        raise KeyboardInterrupt

    monkeypatch.setattr(SearchTree, "search", interrupted_search)
    with pytest.raises(KeyboardInterrupt):
        bot.step(state)
    monkeypatch.undo()
    bot._simulations = 100
    assert bot.step(state) in state.legal_actions()


@pytest.mark.parametrize("game_name", small_games())
def test_the_first_visit_of_an_action_counts_the_evaluation_of_where_it_leads(game_name: str) -> None:
    game = load_game(game_name)
    scale = evaluation_scale(game)
    evaluate = game.compiled(evaluate_states, evaluation_kernels(game))
    for seed in range(3):
        state = random_state(game, 3, seed)
        tree = SearchTree(game, 1000, 100_000, evaluate_leaves=True)
        tree.start(state.record, np.uint64(seed))
        tree.search(len(state.legal_actions()), 1.0)
        statistics = known(tree.statistics())
        for action, visits, value in zip(statistics.actions, statistics.visits, statistics.values, strict=True):
            child = state.child(int(action))
            if visits != 1 or child.is_terminal():
                continue
            found = np.empty(1, np.float32)
            evaluate(game.board, np.array([child.record], game.state_dtype), found)
            sign = 1 if child.current_player() == state.current_player() else -1
            assert value == pytest.approx(sign * math.tanh(found[0] / scale), abs=1e-3)


def test_without_an_evaluation_leaves_are_played_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stoneworks.models.evaluations.has_evaluation", lambda game: False)
    with pytest.raises(MissingEvaluationError, match="leaf=evaluation"):
        load_bot("mcts:10,leaf=evaluation", "vadus(size=2)")
    assert load_bot("mcts:10", "vadus(size=2)").name == "mcts:10"
