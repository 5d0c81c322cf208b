"""The searches that ask a network: a slow second implementation, and solved positions."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from evaluating import evaluation
from game_play import after, played, random_states, uniform_game
from made_up_network import MadeUpNetwork, WithNoise
from stoneworks.envs.rules import NO_ACTION, Game, State, load_game
from stoneworks.envs.rules.game_registry import small_games
from stoneworks.envs.rules.parts import heuristic_scale
from stoneworks.models.search import turn_wins
from stoneworks.models.search.gumbel import Gumbel, halve_considered, mixed_value
from stoneworks.models.search.leaf_values import make_leaf_values
from stoneworks.models.search.network_search import NetworkSearch, SearchResult, SearchSettings, SelectionRule
from stoneworks.models.search.puct import PUCT
from stoneworks.models.search.tree import EDGE, ENDED, GAME, NO_NODE, NODE, SOLVED, back_up, exponentials, is_lost
from stoneworks.models.search.turn_wins import MAX_TURN_ACTIONS

Answers = tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]
Evaluate = Callable[[npt.NDArray[np.float32]], Answers]


class TableNetwork:
    """Answers with logits of the root, and with values of positions by their actions from it; with 0 where it has none."""

    def __init__(self, root: State, logits: dict[int, float], values: dict[tuple[int, ...], float]) -> None:
        self._root = root.observation_tensor().tobytes()
        self._logits = np.array([logits.get(action, 0) for action in range(root.get_game().num_actions)], np.float32)
        self._values = {
            reduce(State.child, actions, root).observation_tensor().tobytes(): value
            for actions, value in values.items()
        }

    def __call__(self, planes: npt.NDArray[np.float32]) -> Answers:
        positions = [position.tobytes() for position in planes]
        logits = [self._logits * (position == self._root) for position in positions]
        return np.array(logits), np.array([self._values.get(position, 0) for position in positions], np.float32)


def search(
    states: State | list[State], evaluate: Evaluate, policy: SelectionRule, simulations: int, **settings: Any
) -> SearchResult:
    states = [states] if isinstance(states, State) else states
    game = states[0].get_game()
    room = {"max_games": len(states), "max_simulations": simulations}
    searching = NetworkSearch(game, evaluate, SearchSettings(policy, **{"solve": False, **settings}), **room)
    roots = np.array([state.record for state in states], game.state_dtype)
    return searching.run(roots, simulations, np.random.default_rng(0))


def no_network(game: Game) -> Evaluate:
    """The same prior for all actions, and values of 0."""
    return lambda planes: (np.zeros((len(planes), game.num_actions), np.float32), np.zeros(len(planes), np.float32))


def softmax(logits: npt.ArrayLike) -> npt.NDArray[np.float64]:
    weights = np.exp(np.asarray(logits, np.float64) - np.max(logits))
    return weights / weights.sum()


IDS = ["gumbel", "puct"]
BOTH = pytest.mark.parametrize("policy", [Gumbel(gumbel_scale=0), PUCT(noise_fraction=0)], ids=IDS)


@dataclass
class Node:
    """A node of the slow search. Values are those of the player to move at the node, which is said wherever they change hands."""

    state: State
    prior: dict[int, float] = field(default_factory=dict)
    network_value: float = 0.0
    children: dict[int, Node] = field(default_factory=dict)
    visits: dict[int, int] = field(default_factory=dict)
    totals: dict[int, float] = field(default_factory=dict)

    @property
    def mean(self) -> float:
        return (self.network_value + sum(self.totals.values())) / (1 + sum(self.visits.values()))

    def q(self, action: int) -> float:
        return self.totals[action] / self.visits[action]


class SlowSearch:
    """One game, one position at a time, trees of Python objects; every formula over all legal actions, as the papers write it."""

    def __init__(self, root: State, evaluate: Evaluate) -> None:
        self.evaluate = evaluate
        self.root = self.node_of(root)

    def node_of(self, state: State) -> Node:
        node = Node(state)
        if not state.is_terminal():
            logits, values = self.evaluate(state.observation_tensor()[None])
            legal = state.legal_actions()
            node.prior = dict(zip(legal, softmax(logits[0, legal]).tolist(), strict=True))
            node.network_value = float(values[0])
        return node

    def simulate(self, node: Node, forced: int | None = None) -> list[float]:
        """Go down once from ``node``; return the values for both players of the leaf."""
        if node.state.is_terminal():
            return node.state.returns()
        action = self.choose(node) if forced is None else forced
        if action in node.children:
            values = self.simulate(node.children[action])
        else:
            child = node.children[action] = self.node_of(node.state.child(action))
            values = [child.network_value, -child.network_value]
            if child.state.is_terminal():
                values = child.state.returns()
            elif child.state.current_player() == 1:
                values = values[::-1]
        node.visits[action] = node.visits.get(action, 0) + 1
        node.totals[action] = node.totals.get(action, 0.0) + values[node.state.current_player()]
        return values


class SlowGumbel(SlowSearch):
    def __init__(self, root: State, evaluate: Any, settings: Gumbel, noise: npt.NDArray[np.float32]) -> None:
        super().__init__(root, evaluate)
        self.settings = settings
        self.noise = noise

    def completed_values(self, node: Node) -> dict[int, float]:
        """Q-values, and v_mix (equation 33) for actions without visits."""
        visited = list(node.visits)
        num_visits = sum(node.visits.values())
        mixed = node.network_value
        if visited:
            probability = sum(node.prior[action] for action in visited)
            weighted = sum(node.prior[action] * node.q(action) for action in visited)
            mixed = (node.network_value + num_visits / probability * weighted) / (1 + num_visits)
        return {action: node.q(action) if action in node.visits else mixed for action in node.prior}

    def scaled_completed_values(self, node: Node) -> dict[int, float]:
        """Equation 8 of the completed Q-values."""
        scale = (self.settings.visit_offset + max(node.visits.values(), default=0)) * self.settings.value_scale
        return {action: scale * value for action, value in self.completed_values(node).items()}

    def improved_policy(self, node: Node) -> dict[int, float]:
        values = self.scaled_completed_values(node)
        logits = [math.log(node.prior[action]) + values[action] for action in node.prior]
        return dict(zip(node.prior, softmax(logits).tolist(), strict=True))

    def choose(self, node: Node) -> int:
        policy = self.improved_policy(node)
        total = sum(node.visits.values())
        return max(policy, key=lambda action: policy[action] - node.visits.get(action, 0) / (1 + total))

    def best(self, actions: list[int]) -> int:
        values = self.scaled_completed_values(self.root)
        return max(actions, key=lambda a: self.noise[a] + math.log(self.root.prior[a]) + values[a])

    def order_of_root_actions(self, simulations: int) -> Iterator[int]:
        """Sequential halving: each phase begins with a round in which the better ones of those that are left are found."""
        root = self.root
        in_order = sorted(root.prior, key=lambda a: -(self.noise[a] + math.log(root.prior[a])))
        left = in_order[: self.settings.max_considered]
        phases = max(1, math.ceil(math.log2(len(left))))
        number = len(left)
        while True:
            for _ in range(max(1, simulations // (phases * number))):
                waiting, taken = list(left), []
                while len(taken) < number:
                    taken.append(self.best(waiting))
                    waiting.remove(taken[-1])
                    yield taken[-1]
                left = taken
            number = max(min(2, len(left)), number // 2)

    def run(self, simulations: int) -> tuple[int, float, dict[int, float], dict[int, int]]:
        root = self.root
        for _, action in zip(range(simulations), self.order_of_root_actions(simulations), strict=False):
            self.simulate(root, forced=action)
        most = max(root.visits.values())
        action = self.best([action for action, visits in root.visits.items() if visits == most])
        policy = self.improved_policy(root)
        value = sum(policy[action] * value for action, value in self.completed_values(root).items())
        return action, value, policy, root.visits


class SlowPUCT(SlowSearch):
    def __init__(self, root: State, evaluate: Any, settings: PUCT, noise: npt.NDArray[np.float32]) -> None:
        super().__init__(root, evaluate)
        self.settings = settings
        total = sum(float(noise[action]) for action in self.root.prior)
        share = settings.noise_fraction
        for action in self.root.prior:
            self.root.prior[action] *= 1 - share
            self.root.prior[action] += share * float(noise[action]) / total

    def choose(self, node: Node) -> int:
        visits = 1 + sum(node.visits.values())
        base = self.settings.exploration_base
        factor = math.log((1 + visits + base) / base) + self.settings.exploration

        def score(action: int) -> float:
            times = node.visits.get(action, 0)
            bonus = factor * node.prior[action] * math.sqrt(visits) / (1 + times)
            return (node.q(action) if times else node.mean) + bonus

        return max(node.prior, key=score)

    def run(self, simulations: int) -> tuple[int, float, dict[int, float], dict[int, int]]:
        root = self.root
        for _ in range(simulations):
            self.simulate(root)
        policy = {action: visits / simulations for action, visits in root.visits.items()}
        action = max(root.visits, key=root.visits.__getitem__)
        return action, root.q(action), policy, root.visits


@pytest.mark.parametrize("game_name", small_games())
@pytest.mark.parametrize(
    ("settings", "slow", "simulations"),
    [
        (Gumbel(max_considered=8, value_scale=0.1), SlowGumbel, 60),
        (Gumbel(max_considered=5, value_scale=0.05, visit_offset=10), SlowGumbel, 37),
        (Gumbel(max_considered=16, value_scale=0.02), SlowGumbel, 6),
        (PUCT(), SlowPUCT, 60),
        (PUCT(noise_fraction=0, exploration=0, exploration_base=1), SlowPUCT, 37),
    ],
    ids=["gumbel", "gumbel-few", "gumbel-fewer-than-actions", "puct", "puct-without-noise"],
)
def test_a_slow_search_finds_the_same(game_name: str, settings: Any, slow: Any, simulations: int) -> None:
    game = load_game(game_name)
    network = MadeUpNetwork(game)
    positions = [game.new_initial_state(), *random_states(game, 7, seed=11)]
    noise = settings.noise((len(positions), game.num_actions), np.random.default_rng(1))
    result = search(positions, network, WithNoise(settings, noise), simulations)
    for row, position in enumerate(positions):
        action, value, policy, visits = slow(position, network, settings, noise[row]).run(simulations)
        assert {action: result.visits[row, action] for action in np.flatnonzero(result.visits[row])} == visits
        assert result.actions[row] == action
        assert result.values[row] == pytest.approx(value, abs=1e-5)
        expected = np.zeros(game.num_actions)
        expected[list(policy)] = list(policy.values())
        np.testing.assert_allclose(result.policies[row], expected, atol=1e-5)


@pytest.mark.parametrize(("games", "simulations"), [(0, 1), (3, 1), (1, 0), (1, 9)])
def test_larger_searches_and_other_networks_are_rejected(games: int, simulations: int) -> None:
    game = load_game("vadus(size=2)")
    roots = np.repeat(np.array([game.new_initial_state().record]), games)
    searching = NetworkSearch(game, no_network(game), SearchSettings(Gumbel()), max_games=2, max_simulations=8)
    with pytest.raises(ValueError, match=f"1 to 2 games with 1 to 8 simulations, got {games} with {simulations}"):
        searching.run(roots, simulations, np.random.default_rng(0))
    game = load_game("vadus(size=3)")
    with pytest.raises(ValueError, match=r"network's logits .* \(1, 26\) and \(1,\), got \(1, 10\)"):
        search(game.new_initial_state(), no_network(load_game("vadus(size=2)")), Gumbel(), 4)


@pytest.mark.parametrize("weight", [0.0, 0.25, 1.0])
def test_playouts_are_mixed_with_the_network_by_their_weight(weight: float) -> None:
    """On a full board both can but pass: each playout is the result."""
    root = played("vadus(size=2)", "b2 a2 a3 b1 c1 b3 c2")
    (passing,) = root.legal_actions()
    outcome = after(root, "pass pass").returns()[root.current_player()]
    assert outcome != 0
    network = TableNetwork(root, {}, {(): 0.5, (passing,): -0.25})
    playouts = make_leaf_values("playouts", root.get_game(), 3)
    result = search(root, network, Gumbel(gumbel_scale=0), 1, leaf_values=playouts, leaf_value_weight=weight)
    expected = (1 - weight) * 0.25 + weight * outcome
    assert result.values[0] == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(
    "name", ["vadus(size=3)", "laido(size=3)", "taugo(size=4)", "taigo(radius=3)", "trugo(radius=3,tiles=12)"]
)
@pytest.mark.parametrize("weight", [0.0, 0.5, 1.0])
def test_heuristics_are_mixed_with_the_network_by_their_weight(name: str, weight: float) -> None:
    """A search of one simulation evaluates the most probable child, whose value is that of the root."""
    game = load_game(name)
    scale = heuristic_scale(game)
    for root in random_states(game, 4, seed=3):
        first = root.legal_actions()[0]
        child = root.child(first)
        if child.is_terminal():
            continue
        network = TableNetwork(root, {first: 9.0}, {(): 0.5, (first,): -0.25})
        heuristic = make_leaf_values("heuristic", game)
        result = search(root, network, PUCT(noise_fraction=0), 1, leaf_values=heuristic, leaf_value_weight=weight)
        sign = 1 if child.current_player() == root.current_player() else -1
        of_child = math.tanh(evaluation(child) / scale)
        expected = sign * (weight * of_child - (1 - weight) * 0.25)
        assert result.values[0] == pytest.approx(expected, abs=1e-5)


@BOTH
def test_a_move_that_is_proven_to_lose_is_not_played_where_another_is_left(policy: SelectionRule) -> None:
    """The network prefers the pass that ends and loses the game, and after it the last stone."""
    root = played("vadus(size=2)", "a2 b2 a3 pass")
    passing = root.string_to_action("pass")
    first, *_, last = (action for action in root.legal_actions() if action != passing)
    network = TableNetwork(root, {passing: 30.0, last: 3.0}, {})
    for simulations in (1, 2, 10):
        result = search(root, network, policy, simulations, solve=True)
        if policy == Gumbel(gumbel_scale=0) or simulations > 2:
            assert result.actions[0] != passing
            assert result.actions[0] == last or simulations > 1
    # Of those that are left, another one has the greatest sum of logit and noise.
    noise = np.where(np.arange(root.get_game().num_actions) == first, np.float32(10), np.float32(0))[None]
    result = search(root, network, WithNoise(Gumbel(), noise), 1, solve=True)
    assert result.visits.sum() == result.visits[0, passing] == 1
    assert result.actions[0] == last


LONG_TURNS = ("taigo(tiles=12,cones=2,radius=3)", "trugo(tiles=7,pieces=3,max_turns=80,radius=2)")


def winning_turns(state: State, player: int) -> bool:
    """Whether ``player``, the player to move, can win before the other one moves."""
    if state.is_terminal():
        return state.returns()[player] == 1
    return state.current_player() == player and any(
        winning_turns(state.child(action), player) for action in state.legal_actions()
    )


@pytest.mark.parametrize("game_name", ["vadus(size=2)", "laido(size=2)", "taugo(size=3)", *LONG_TURNS])
def test_a_win_within_the_turn_is_never_missed(game_name: str) -> None:
    """One simulation, and the network likes everything better than what wins: the whole turn is played right."""
    game, rng, lengths = load_game(game_name), np.random.default_rng(6), list[int]()
    while len(lengths) < 10 or (max(lengths) == 1 and game_name in LONG_TURNS):
        for state in uniform_game(game, rng)[-6:-1]:
            player, before = state.current_player(), state.move_number()
            if not winning_turns(state, player):
                continue
            while not state.is_terminal():
                assert state.current_player() == player
                result = search(state, MadeUpNetwork(game, spread=30.0), Gumbel(), 1, solve=True, discount=0.9)
                assert result.solved[0]
                assert 0 < result.values[0] <= 0.9
                state = state.child(int(result.actions[0]))
            assert state.returns()[player] == 1
            lengths.append(state.move_number() - before)


@pytest.mark.parametrize("settings", [Gumbel(value_scale=1.0), PUCT()], ids=["gumbel", "puct"])
def test_priors_of_0_do_not_hide_actions_from_the_search(settings: Any) -> None:
    """Priors that are 0 in single precision, against values that say the opposite."""
    root = played("vadus(size=2)", "a3 b1 c1 pass")  # another pass wins
    game, passing = root.get_game(), root.string_to_action("pass")
    logits = np.zeros(game.num_actions, np.float32)
    logits[passing] = -1000

    def evaluate(planes: npt.NDArray[np.float32]) -> Answers:
        return np.tile(logits, (len(planes), 1)), np.full(len(planes), -1.0, np.float32)

    result = search(root, evaluate, settings, 3000)
    assert np.isfinite(result.policies).all()
    assert result.policies.sum() == pytest.approx(1, abs=1e-5)
    assert result.visits.sum() == 3000
    if isinstance(settings, Gumbel):
        assert result.actions[0] == passing


@pytest.mark.parametrize(("which", "output"), [("logits", np.nan), ("values", np.nan), ("values", -np.inf)])
def test_a_network_with_non_finite_output_is_an_error(which: str, output: float) -> None:
    game = load_game("vadus(size=2)")

    def evaluate(planes: npt.NDArray[np.float32]) -> Answers:
        logits, values = no_network(game)(planes)
        {"logits": logits, "values": values}[which][-1] = output
        return logits, values

    with pytest.raises(ValueError, match="network's output must be finite"):
        search(game.new_initial_state(), evaluate, Gumbel(), 30)


def test_exponentials_have_single_precision_and_propagate_nan() -> None:
    exponents, room = np.linspace(-87, 0, 5000, dtype=np.float32) + np.float32(3), np.empty(5000, np.int32)
    found = exponents.copy()
    total = exponentials(found, 5000, np.float32(3), room)
    np.testing.assert_allclose(found, np.exp(exponents.astype(np.float64) - 3), rtol=1e-6)
    assert total == pytest.approx(found.sum(), rel=1e-5)
    assert exponentials(np.float32([-200, -np.inf]), 2, np.float32(0), room) < 1e-37
    assert math.isnan(exponentials(np.float32([0, np.nan, -1]), 3, np.float32(0), room))


@pytest.mark.parametrize("winning", [0, 1])
@pytest.mark.parametrize("length", range(1, MAX_TURN_ACTIONS + 2))
def test_a_winning_turn_is_found_up_to_a_length(winning: int, length: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A turn of ``length`` times one action; a position counts the actions of the turn, and the other action ends it."""
    state = np.dtype([("current_player", "i4"), ("ending", "i4"), ("winner", "i4"), ("actions", "i4")])

    def apply(board: object, child: np.void, action: int) -> None:
        child["actions"] += 1
        if action != winning:
            child["current_player"] = 1
        elif child["actions"] == length:
            child["ending"] = 1

    def all_legal(board: object, child: np.void, mask: np.ndarray) -> None:
        mask[:] = 1

    monkeypatch.setattr(turn_wins, "may_win", lambda board, state, action: True)
    monkeypatch.setattr(turn_wins, "apply_action", apply)
    monkeypatch.setattr(turn_wins, "legal_actions", all_legal)
    turn = np.zeros(MAX_TURN_ACTIONS + 1, state).view(np.recarray)
    masks = np.zeros((MAX_TURN_ACTIONS, 2), np.int8)
    no_board: Any = None
    found = turn_wins.winning_turn(no_board, turn, np.ones(2, np.int8), masks)
    assert found == ((length, winning) if length <= MAX_TURN_ACTIONS else (0, NO_ACTION))


def test_noise_makes_the_greatest_sum_a_draw_from_the_policy_or_is_of_dirichlet() -> None:
    shares = np.array([0.6, 0.3, 0.1])
    noise = Gumbel().noise((20_000, 3), np.random.default_rng(0))
    found = np.bincount((np.log(shares) + noise).argmax(1), minlength=3) / 20_000
    np.testing.assert_allclose(found, shares, atol=0.015)
    assert PUCT().noise((50, 9), np.random.default_rng(0)).std() > 0.1


def test_a_narrowed_root_keeps_its_mixed_value() -> None:
    nodes, edges, game = np.zeros(2, NODE), np.zeros(4, EDGE), np.zeros(1, GAME)
    nodes["num_edges"][0], nodes["num_visited"][0] = 4, 1
    nodes["visits"][1], nodes["total_value"][1] = 1, -1
    edges["child"], edges["prior"], edges["noise"] = [1, -1, -1, -1], 0.25, np.log(0.25)
    before = mixed_value(nodes, edges, 0, 1)
    halve_considered(nodes, edges, game[0], Gumbel(max_considered=2).parameters, True)
    assert edges["child"].tolist() == [-1, -1, 1, -1]
    assert mixed_value(nodes, edges, 0, 1) == before


def test_a_proven_draw_is_no_loss_and_is_backed_up_in_place_of_the_last_result() -> None:
    nodes = np.zeros(3, NODE)
    nodes["solved"], nodes["network_value"] = [SOLVED, SOLVED, ENDED], [0, -1, -1]
    lost = [is_lost(nodes, node, sign) for node in (NO_NODE, 0, 1, 2) for sign in (1, -1)]
    assert lost == [False] * 4 + [True] + [False] * 3
    nodes = np.zeros(3, NODE)
    nodes["parent"], nodes["player"], nodes["num_unsolved"] = [NO_NODE, 0, 1], [0, 0, 1], [2, 1, 0]
    nodes["solved"], nodes["network_value"], nodes["solved_value"] = [0, 0, SOLVED], [0, 0, -1], [-np.inf, 0, -np.inf]
    nodes["visits"] = nodes["pending"] = 1
    back_up(nodes, 2, -1.0, 1.0, True)
    assert nodes["total_value"].tolist() == [0, 0, -1]
