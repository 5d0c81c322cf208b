"""The MCTS bot: legal, reproducible, with correct proofs and statistics."""

from __future__ import annotations

import copy
import math
import pickle
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from evaluating import evaluation
from game_play import played, random_state, through_pickle
from stoneworks.envs.rules import Batch, State, load_game
from stoneworks.envs.rules.compiler.types import BoardArray, Float32s, StateArray
from stoneworks.envs.rules.contract import legal_actions, rate_actions
from stoneworks.envs.rules.game_registry import small_games
from stoneworks.envs.rules.parts import MissingHeuristicError, heuristic_kernels, heuristic_scale
from stoneworks.models import Solver, load_bot
from stoneworks.models.bots.mcts_bot import MCTSBot
from stoneworks.models.search import uct
from stoneworks.models.search.tree import SOLVED
from stoneworks.models.search.uct import MAX_VISITS, UNIT, RootStatistics, SearchTree


def searched(
    state: State, *simulations: int, seed: int = 0, room: tuple[int, int] = (5000, 200_000), **options: bool
) -> SearchTree:
    """A tree of ``state`` after so many simulations, or fewer where it is proven."""
    tree = SearchTree(state.get_game(), *room, **options)
    tree.start(state.record, np.uint64(seed))
    for number in simulations:
        tree.search(number, 1.0)
    return tree


def nodes_of(tree: SearchTree, state: State) -> Iterator[tuple[State, RootStatistics]]:
    """The positions of a tree after a search of ``state``, with the statistics of their actions."""
    waiting: list[list[int]] = [[]]
    while waiting:
        actions = waiting.pop()
        if (found := tree.statistics(actions)) is not None:
            here = state.clone()
            for action in actions:
                here.apply_action(action)
            yield here, found
            waiting += [[*actions, action] for action in found.actions[found.visits > 0].tolist()]


def known(tree: SearchTree | MCTSBot) -> RootStatistics:
    return tree.statistics() if isinstance(tree, SearchTree) else tree.root_statistics


@pytest.mark.parametrize("game", small_games())
def test_every_simulation_counts_once_and_every_node_has_its_player_to_move(game: str) -> None:
    """An edge's visits are the one that found it and those of its node, and its results are of its own player's view."""
    state = load_game(game).new_initial_state()
    tree = searched(state, 3000)
    assert known(tree).visits.sum() == 3000
    num_nodes = num_compared = 0
    for here, found in nodes_of(tree, state):
        num_nodes += 1
        assert found.actions.tolist() == here.legal_actions()
        for action, visits, value in zip(found.actions.tolist(), found.visits, found.values, strict=True):
            below = tree.statistics([*here.history(), action])
            if below is None:
                continue
            assert below.visits.sum() == visits - 1
            if not np.isnan(below.proven).all():  # what is proven below counts above in place of results
                continue
            num_compared += 1
            after = here.child(action)
            sign = 1 if after.current_player() == here.current_player() else -1
            first_result = visits * value - sign * (below.visits * below.values).sum()
            assert min(abs(first_result - result) for result in (-1, 0, 1)) < 1e-6
    assert num_nodes == tree.num_nodes > 10
    assert num_compared > 10


@pytest.mark.parametrize(
    ("game", "length", "seed", "player"),
    [
        ("vadus(size=3)", 10, 2, 1),  # the second stone of White's turn
        ("vadus(size=3)", 11, 9, 0),  # the first of Black's
        ("trugo(radius=3,tiles=9)", 12, 8, 1),
    ],
)
def test_values_are_those_of_playouts_for_the_player_to_move(game: str, length: int, seed: int, player: int) -> None:
    """With one visit each, the mean over all actions is the mean of random playouts for the player to move."""
    loaded = load_game(game)
    state = random_state(loaded, length, seed)
    assert (state.move_number(), state.current_player()) == (length, player)
    num_legal, num_searches = len(state.legal_actions()), 300
    mean = 0.0
    for number in range(num_searches):
        found = known(searched(state, num_legal, seed=number, room=(50, 2000)))
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
    """Node and edge tables with a node of each player, the edges 2 n and 2 n + 1 of which are not solved."""
    nodes, edges = np.zeros(len(players), uct.NODE), np.zeros(2 * len(players), uct.EDGE)
    nodes["first_edge"] = 2 * np.arange(len(players))
    nodes["num_edges"] = nodes["num_unsolved"] = 2
    nodes["player"] = players
    return nodes, edges


@pytest.mark.parametrize("player", [0, 1])
def test_the_unsolved_edge_with_the_maximum_upper_confidence_bound_is_chosen(player: int) -> None:
    rng = np.random.default_rng(1)
    seeds = np.zeros(1, np.uint64)
    for _ in range(100):
        nodes, edges = tables_of([player, player])
        visits = rng.integers(1, 30, 2)
        sums = rng.integers(-UNIT, UNIT, 2) * visits
        edges["visits"][2:], edges["total_result"][2:] = visits, sums
        nodes["visits"][1], nodes["num_visited"][1] = visits.sum() + 1, 2
        means = (1 - 2 * player) * sums / visits / UNIT
        bounds = means + 0.7 * np.sqrt(np.log(visits.sum() + 1) / visits)
        assert uct.choose_edge(nodes, edges, 1, uct.Search(0.7, 0.0, math.inf, False), seeds) == 2 + bounds.argmax()
        edges["solved"][2] = SOLVED
        assert uct.choose_edge(nodes, edges, 1, uct.Search(0.7, 0.0, math.inf, False), seeds) == 3


@pytest.mark.parametrize("player", [0, 1])
def test_the_best_rated_action_is_tried_once_no_bound_exceeds_the_mean_and_the_urgency(player: int) -> None:
    seeds, sign = np.zeros(1, np.uint64), 1 - 2 * player
    for surplus, expected in ((-0.01, 1), (0.01, 0)):
        nodes, edges = np.zeros(1, uct.NODE), np.zeros(4, uct.EDGE)
        nodes["num_edges"], nodes["num_visited"], nodes["visits"], nodes["player"] = 4, 1, 5, player
        edges["action"], edges["visits"] = [7, 8, 9, 10], [5, 0, 0, 0]
        edges["total_result"] = [sign * UNIT, -3, 9, 4]
        width = 0.7 * math.sqrt(math.log(5) / 5)
        search = uct.Search(0.7, 0.0, width - surplus, False)
        assert uct.choose_edge(nodes, edges, 0, search, seeds) == expected
        if expected:
            assert edges["action"].tolist() == [7, 9, 8, 10], "the highest rating of 9 comes first"
            assert edges["total_result"].tolist() == [sign * UNIT, 0, -3, 4], "a rating is no result"
            assert nodes["num_visited"] == 2
    edges["solved"][0] = SOLVED
    assert uct.choose_edge(nodes, edges, 0, search, seeds) == 1, "what is proven is not visited again"


def rated(board: BoardArray, states: StateArray, ratings: Float32s) -> None:
    mask = np.empty(board[0].num_actions, np.int8)
    legal_actions(board[0], states[0], mask)
    rate_actions(board[0], states[0], mask, ratings)


@pytest.mark.parametrize("leaf", ["heuristic", "playout", "end_of_turn"])
@pytest.mark.parametrize("game_name", small_games())
def test_with_first_play_urgency_actions_are_visited_in_the_order_of_their_ratings(game_name: str, leaf: str) -> None:
    state = random_state(game_name, 2, 1)
    game = state.get_game()
    bot = MCTSBot(game, 0, simulations=300, leaf=leaf, first_play_urgency=0.05)
    bot.step(state)
    ratings = np.zeros(game.num_actions, np.float32)
    rate = game.compiled(rated, heuristic_kernels(game))
    num_compared = 0
    for here, found in nodes_of(bot._trees[0], state):
        rate(game.board, here.record.reshape(1), ratings)
        of_actions, visited = ratings[found.actions], found.visits > 0
        assert not found.values[~visited].any()
        if not visited.all():
            assert of_actions[visited].min() >= of_actions[~visited].max() - 1 / UNIT
            num_compared += visited.any()
    assert num_compared > 20


@pytest.mark.parametrize("game_name", small_games())
def test_simulations_end_at_the_end_of_a_turn(game_name: str) -> None:
    state = random_state(game_name, 2, 1)
    bot = load_bot("mcts:300,leaf=end_of_turn,c=0.05,first_play=0.1", state.get_game(), 0)
    assert bot.name == "mcts:300,leaf=end_of_turn", "these are the defaults"
    bot.step(state)
    num_once = 0
    for here, found in nodes_of(bot._trees[0], state):
        for action in found.actions[found.visits == 1].tolist():
            after = here.child(action)
            num_once += 1
            if not after.is_terminal() and after.current_player() == here.current_player():
                line = after.history()[len(state.history()) :]
                assert bot._trees[0].statistics(line) is not None, f"{here}: the turn goes on after {action}"
    assert num_once > 20


def tree_below(nodes: np.ndarray, edges: np.ndarray, node: int) -> Any:
    """A node and all below it, without the places where they are stored."""
    first, *values = nodes[node].tolist()
    block = edges[first : first + nodes[node]["num_edges"]]
    of_edges = block[[name for name in uct.EDGE.names if name != "child"]].tolist()
    below = [child >= 0 and tree_below(nodes, edges, child) for child in block["child"].tolist()]
    return values, of_edges, below


@pytest.mark.parametrize("player", [0, 1])
@pytest.mark.parametrize("can_draw", [False, True])
def test_a_player_who_can_draw_does_not_back_up_a_loss(player: int, can_draw: bool) -> None:
    nodes, edges = tables_of([1 - player, player, 1 - player])
    if can_draw:
        uct.solve_edge(nodes, edges, 1, 3, 0)
        nodes["num_unsolved"][1] = 2
    path = np.array([[0, 0], [1, 2], [2, 4]], np.int32)
    loss = UNIT * (2 * player - 1)
    uct.back_up(nodes, edges, path, 3, loss, True)
    assert edges[["solved", "result"]][[2, 4]].tolist() == [(SOLVED, loss // UNIT)] * 2
    assert edges["total_result"][[0, 2, 4]].tolist() == [0 if can_draw else loss, loss, loss]
    assert nodes["visits"].tolist() == edges["visits"][[0, 2, 4]].tolist() == [1, 1, 1]
    assert nodes[["solved", "result"]].tolist() == [(0, 0), (0, 0), (SOLVED, loss // UNIT)]
    uct.back_up(nodes, edges, path, 2, -loss, False)
    assert edges["total_result"][[0, 2]].tolist() == [-loss if can_draw else 0, 0]


@pytest.mark.parametrize("game", small_games())
def test_a_kept_subtree_is_what_it_was_and_takes_no_more_room_than_it_needs(game: str) -> None:
    state = load_game(game).new_initial_state()
    tree, twice = searched(state, 4000), searched(state, 4000)
    line: list[int] = []
    for _ in range(2):
        nodes, edges = tree.nodes.copy(), tree.edges.copy()
        root = known(tree)
        line.append(int(root.actions[root.visits.argmax()]))
        state.apply_action(line[-1])
        num_nodes = tree.num_nodes
        assert tree.descend(line[-1:], state.record)
        of_root = edges[nodes[0]["first_edge"] :][: nodes[0]["num_edges"]]
        expected = tree_below(nodes, edges, int(of_root["child"][of_root["action"] == line[-1]][0]))
        assert tree_below(tree.nodes, tree.edges, 0) == expected
        assert tree.num_nodes < num_nodes
        num_edges = tree.nodes["num_edges"][: tree.num_nodes].sum()
        assert tree.trees["num_edges"][0] == num_edges
        assert (tree.edges["child"][:num_edges] >= 0).sum() == tree.num_nodes - 1
    assert twice.descend(line, state.record)
    assert tree_below(twice.nodes, twice.edges, 0) == expected
    before = known(tree).visits.sum()
    tree.search(500, 1.0)
    assert known(tree).visits.sum() == before + 500


@pytest.mark.once
@pytest.mark.parametrize(
    ("game", "lengths", "simulations"),
    [
        ("vadus(size=2)", (2, 3, 4), 20_000),
        ("laido(size=2)", (2, 3, 4), 20_000),
        ("taugo(size=3)", (8, 9, 10), 20_000),
        ("trugo(radius=1,tiles=4)", (2, 2, 3, 3, 3), 20_000),
        ("taigo(cones=1,radius=2,tiles=7)", (5, 5, 5, 5, 5, 5, 4), 20_000),
        pytest.param("laido(size=2)", (0, 1, 1, 1), 20_000, marks=pytest.mark.slow),
        pytest.param("taugo(size=3)", (0, 1, 1, 2, 2, 3, 4, 5, 6), 50_000, marks=pytest.mark.slow),
        pytest.param("trugo(max_turns=11,radius=1,tiles=6)", (6, 7, 7, 8, 8, 9), 50_000, marks=pytest.mark.slow),
    ],
)
def test_with_enough_simulations_it_plays_right(game: str, lengths: tuple[int, ...], simulations: int) -> None:
    loaded = load_game(game)
    solver = Solver(loaded, memory_mib=4)
    num_with_mistakes = 0
    for seed, length in enumerate(lengths):
        state = random_state(loaded, length, seed)
        action = MCTSBot(loaded, seed, simulations=simulations).step(state)
        solved = solver.value(state)
        assert solver.value(state.child(action)) == solved, state
        num_with_mistakes += any(solver.value(state.child(other)) != solved for other in state.legal_actions())
    assert num_with_mistakes > 0, "some of the positions can be played wrong"


def test_all_positions_after_three_actions_of_a_small_game_are_proven() -> None:
    """Also those where each action had to be."""
    game = load_game("laido(size=2)")
    solver = Solver(game, memory_mib=4)
    for seed in range(8):
        state = random_state(game, 3, seed)
        result = (1 - 2 * state.current_player()) * solver.value(state)
        assert known(searched(state, 10_000, seed=seed)).result == result


def test_the_bot_carries_over_what_is_ahead_and_plays_its_simulations_besides() -> None:
    state = played("vadus(size=4)")
    bot = MCTSBot(state.get_game(), 4, simulations=3000)
    policy, action = bot.step_with_policy(state)
    before = known(bot)
    assert before.visits.sum() == 3000
    assert dict(policy) == dict(zip(before.actions.tolist(), (before.visits / 3000).tolist(), strict=True))
    assert dict(policy)[action] == before.visits.max() / 3000
    state.apply_action(action)
    bot.step(state)
    carried = int(known(bot).visits.sum()) - 3000
    assert carried == before.visits[before.actions == state.history()[0]][0] - 1
    bot.step(state)
    assert known(bot).visits.sum() == 6000 + carried, "a second search of the same position"
    bot.restart()
    assert bot.root_statistics is None
    bot.step(state)
    assert known(bot).visits.sum() == 3000


@pytest.mark.parametrize("name", ["mcts:300", "mcts:2000"])
def test_the_value_of_a_position_is_that_of_the_action_played(name: str) -> None:
    """Not the mean over all actions, also where the position is proven."""
    game, num_proven = load_game("vadus(size=2)"), 0
    for seed in range(12):
        state = random_state(game, seed % 6, seed)
        found = load_bot(name, game, 0).analyze(state)
        assert found.value == found.action_values[found.actions == found.action][0]
        num_proven += found.proven is not None and found.value == found.proven
    assert num_proven > 0
    bot = MCTSBot(game, 0, simulations=1)
    found = bot.analyze(played("vadus(size=2)"))
    assert found.value in (-1, 0, 1, None)


def test_no_tree_is_carried_over_to_another_game_or_history_or_to_what_is_not_in_it() -> None:
    start = played("vadus(size=4)")
    tree = searched(start, 10)
    unvisited = int(known(tree).actions[known(tree).visits.argmin()])
    assert not tree.descend([unvisited], start.child(unvisited).record)
    assert not SearchTree(start.get_game(), 10, 1000).descend([], start.record)
    line, other = (start.child(start.legal_actions()[number]) for number in (0, 5))
    for before, now in ((line, start), (line, other), (start, State.from_record(start.get_game(), line.record))):
        bot = MCTSBot(start.get_game(), 0, simulations=200)
        bot.step(before)
        bot.step(now)
        found = known(bot)
        assert found.visits.sum() == 200
        assert found.actions.tolist() == now.legal_actions()


@pytest.mark.parametrize("room", [(1, 10_000), (30, 10_000), (1000, 100)])
def test_a_full_tree_stops_growing_and_simulations_continue(room: tuple[int, int]) -> None:
    tree = searched(played("vadus(size=3)"), 2000, room=room)
    assert known(tree).visits.sum() == 2000
    assert tree.num_nodes == room[0] or 100 - 20 < 19 * tree.num_nodes <= 100
    # A sum of 2,147,484 wins in units of 1/1000 would overflow.
    tree.nodes["visits"][0] = MAX_VISITS - 5
    assert tree.search(100, 1.0) == 5
    assert tree.search(100, 1.0) == 0
    assert MAX_VISITS * UNIT < 2**31 <= (MAX_VISITS + 1) * UNIT


def test_searching_in_slices_equals_searching_at_once() -> None:
    trees = (searched(played("trugo(radius=3,tiles=9)"), *slices) for slices in ((1000,), (1, 9, 290, 700)))
    at_once, in_slices = (tree_below(tree.nodes, tree.edges, 0) for tree in trees)
    assert at_once == in_slices


def test_a_time_budget_is_spent_and_not_by_far_overspent(monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock is one that each simulation moves by a millisecond."""
    now = [0.0]
    monkeypatch.setattr("stoneworks.models.bots.mcts_bot.time.perf_counter", lambda: now[0])
    search = SearchTree.search

    def timed_search(tree: SearchTree, num_simulations: int, exploration: float) -> int:
        now[0] += num_simulations / 1000
        return search(tree, num_simulations, exploration)

    monkeypatch.setattr(SearchTree, "search", timed_search)
    bot = MCTSBot(load_game("vadus(size=5)"), 0, seconds=0.5)
    bot.step(played("vadus(size=5)"))
    assert 500 <= known(bot).visits.sum() <= 520


def test_trees_in_threads_share_the_simulations_and_are_added_up() -> None:
    state = played("vadus(size=4)")
    bot = MCTSBot(state.get_game(), 7, simulations=1001, num_threads=3)
    bot.step(state)
    found = known(bot)
    assert found.visits.sum() == 1001
    few = MCTSBot(state.get_game(), 0, simulations=2, num_threads=4)
    few.step(state)
    assert known(few).visits.sum() == 2, "more threads than simulations"
    seeds = np.random.default_rng(7).integers(0, 2**64, 3, np.uint64).tolist()
    shares = zip((334, 334, 333), seeds, strict=True)
    parts = [known(searched(state, share, seed=seed, room=(10_000, 400_000))) for share, seed in shares]
    assert found.visits.tolist() == sum(part.visits for part in parts).tolist()
    sums = sum(part.visits * part.values for part in parts)
    assert found.values == pytest.approx(sums / np.maximum(found.visits, 1))
    # What one tree proves is proven in the sum.
    actions = np.array([3, 5, 8])
    one = RootStatistics(actions, np.array([5, 5, 0]), np.zeros(3), np.array([np.nan, -1.0, np.nan]))
    other = RootStatistics(actions, np.array([1, 9, 1]), np.array([1.0, 1.0, -1.0]), np.array([1.0, np.nan, np.nan]))
    total = RootStatistics.sum_of([one, other])
    assert total.visits.tolist() == [6, 14, 1]
    assert total.values.tolist() == pytest.approx([1 / 6, 9 / 14, -1])
    assert np.isnan(total.proven).tolist() == [False, False, True]
    assert total.result == 1
    assert total.best.tolist() == [3]
    assert math.isnan(one.result)


@pytest.mark.parametrize(
    ("visits", "values", "proven", "best"),
    [
        ([9, 7, 9], [0.1, 0.9, 0.1], [np.nan, np.nan, np.nan], [0, 2]),
        ([9, 7, 9], [0.1, 0.9, 0.2], [np.nan, np.nan, np.nan], [2]),
        ([9, 7, 9], [0.1, 0.9, 0.2], [np.nan, 1, np.nan], [1]),
        ([9, 7, 9], [0.1, 0.9, 0.2], [-1, 0, -1], [1]),
        ([9, 1, 8], [-0.1, 0.0, 0.2], [np.nan, 0, np.nan], [1]),
        ([9, 1, 8], [0.1, 0.0, 0.2], [np.nan, 0, np.nan], [0]),
        ([9, 1, 8], [0.0, 0.0, -0.2], [np.nan, 0, np.nan], [1]),
        ([9, 7, 9], [-0.1, -0.9, -0.2], [-1, -1, -1], [0]),
        ([1, 0, 0], [-1.0, 0.0, 0.0], [-1, np.nan, np.nan], [1, 2]),
    ],
)
def test_the_choice_is_what_is_proven_best_or_most_visited(visits: Any, values: Any, proven: Any, best: Any) -> None:
    """A draw is better than what looks worse."""
    statistics = RootStatistics(np.arange(3), np.array(visits), np.array(values), np.array(proven, float))
    assert statistics.best.tolist() == best


def test_an_interrupt_ends_a_search_in_threads_and_the_bot_stays_usable(monkeypatch: pytest.MonkeyPatch) -> None:
    state, search, interrupts = played("vadus(size=3)"), SearchTree.search, [KeyboardInterrupt]
    bot = MCTSBot(state.get_game(), 1, seconds=1000, num_threads=2)

    def interrupted_search(tree: SearchTree, num_simulations: int, exploration: float) -> int:
        if interrupts:
            raise interrupts.pop()
        return search(tree, num_simulations, exploration)

    monkeypatch.setattr(SearchTree, "search", interrupted_search)
    with pytest.raises(KeyboardInterrupt):
        bot.step(state)
    monkeypatch.undo()
    bot._simulations = 100
    assert bot.step(state) in state.legal_actions()


@pytest.mark.parametrize("game_name", small_games())
def test_the_first_visit_of_an_action_counts_the_evaluation_of_where_it_leads(game_name: str) -> None:
    for seed in range(3):
        state = random_state(game_name, 3, seed)
        found = known(searched(state, len(state.legal_actions()), seed=seed, evaluate_leaves=True))
        for action, visits, value in zip(found.actions.tolist(), found.visits, found.values, strict=True):
            child = state.child(action)
            if visits == 1 and not child.is_terminal():
                expected = math.tanh(evaluation(child, state.current_player()) / heuristic_scale(state.get_game()))
                assert value == pytest.approx(expected, abs=1e-3)


def test_without_an_evaluation_leaves_can_only_be_played_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stoneworks.envs.rules.parts.has_heuristic", lambda game: False)
    for option, named in (("leaf=heuristic", "leaf=heuristic"), ("first_play=0.1", "first_play_urgency")):
        with pytest.raises(MissingHeuristicError, match=named):
            load_bot(f"mcts:10,{option}", "vadus(size=2)")
    state = played("vadus(size=2)")
    assert load_bot("mcts:10", state.get_game()).step(state) in state.legal_actions()


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, through_pickle])
def test_a_copy_in_mid_game_has_trees_of_its_own(copied: Callable[[Any], Any]) -> None:
    game = load_game("vadus(size=4)")
    bot, never_copied = (MCTSBot(game, 0, simulations=50) for _ in range(2))
    state = game.new_initial_state()
    assert never_copied.step(state) == bot.step(state)
    state.apply_action(state.legal_actions()[0])
    other = copied(bot)
    assert other._trees[0] is not bot._trees[0]
    other._generator = np.random.default_rng(1)  # copy.copy shares random numbers
    of_other = state.clone()
    for _ in range(6):
        of_other.apply_action(other.step(of_other))
        of_other.apply_action(of_other.legal_actions()[-2])
        action = bot.step(state)
        assert action == never_copied.step(state)
        np.testing.assert_equal(vars(bot.root_statistics), vars(never_copied.root_statistics))
        state.apply_action(action)
        state.apply_action(state.legal_actions()[0])


def test_a_pickled_bot_is_small() -> None:
    bot = load_bot("mcts:1s", "vadus(size=3)", 0)
    assert len(pickle.dumps(bot)) < 100_000
