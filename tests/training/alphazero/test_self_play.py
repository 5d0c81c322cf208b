"""Self-play, by searches and by the teacher: legal games, results of the right player, and what is stored to learn from."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest

pytest.importorskip("torch")

from stoneworks.envs.rules import Game, State, load_game
from stoneworks.envs.rules.game_registry import small_games
from stoneworks.envs.rules.parts import has_heuristic
from stoneworks.evaluation.match import random_opening
from stoneworks.models import load_bot
from stoneworks.models.bots.greedy_bot import GreedyBot
from stoneworks.models.search.leaf_values import LeafValues
from stoneworks.training.alphazero import sources
from stoneworks.training.alphazero.config import AlphaZeroConfig
from stoneworks.training.alphazero.self_play import PlayedGame, SelfPlay, SelfPlayTimings, greedy_search
from stoneworks.training.alphazero.sources import InProcessSelfPlay
from stoneworks.training.runs.algorithms import ConfigError
from tiny_runs import Values, alphazero, self_played


def tiny(game: str, search: dict[str, Any] | None = None, self_play: dict[str, Any] | None = None) -> AlphaZeroConfig:
    search = {"simulations": 8, "full_search_share": 1.0, "leaf_values": "none", **(search or {})}
    self_play = {"num_games": 6, "random_opening_share": 0.0, **(self_play or {})}
    return alphazero(game=game, search=search, self_play=self_play)


def replayed(game: Game, played: PlayedGame) -> list[State]:
    """All positions of a game, from the start on; every action is legal."""
    return list(itertools.accumulate(played.actions, State.child, initial=game.new_initial_state()))


@pytest.mark.parametrize("game_name", small_games())
@pytest.mark.parametrize("policy", ["gumbel", "puct"])
def test_games_are_legal_and_complete_with_their_own_positions(game_name: str, policy: str) -> None:
    game = load_game(game_name)
    decided = 0
    search = {"policy": policy, "simulations": 4, "full_search_share": 0.7}
    for played in self_played(tiny(game_name, search, {"random_opening_share": 0.5}), 16):
        states = replayed(game, played)
        assert states[-1].is_terminal()
        assert played.winner == {1: 0, 0: -1, -1: 1}[int(states[-1].returns()[0])]
        assert played.num_opening_actions + len(played.positions) <= len(played.actions)
        for position in played.positions:
            number = len(states) - 1 - int(position["actions_left"])
            state = states[number]
            assert number >= played.num_opening_actions
            assert State.from_record(game, position["state"]) == state
            assert position["result"] == states[-1].returns()[state.current_player()]
            assert set(position["actions"][position["probabilities"] > 0].tolist()) <= set(state.legal_actions())
            assert position["probabilities"].sum() <= 1 + 1e-5
        left = [int(position["actions_left"]) for position in played.positions]
        assert left == sorted(set(left), reverse=True)
        decided += played.winner >= 0
    assert decided > 0


def test_openings_are_random_and_of_the_lengths_that_are_allowed() -> None:
    openings = {"random_opening_share": 0.5, "random_opening_actions": 4, "num_games": 64}
    games = self_played(tiny("vadus(size=2)", {"simulations": 2}, openings), 150)
    lengths = [played.num_opening_actions for played in games]
    assert set(lengths) == {0, 1, 2, 3, 4}
    assert 0.3 < np.mean([length > 0 for length in lengths]) < 0.7
    for played in games:  # each search is a full one
        assert len(played.positions) == len(played.actions) - played.num_opening_actions


def test_a_share_of_the_actions_is_random_among_planes_and_passes_and_begins_the_game_anew() -> None:
    game = load_game("vadus(size=3)")
    passes = Counter[bool]()
    for played in self_played(tiny("vadus(size=3)", self_play={"random_action_share": 0.1, "num_games": 64}), 200):
        states = replayed(game, played)
        assert len(played.positions) == len(played.actions) - played.num_opening_actions
        if played.num_opening_actions > 2:  # later, a pass is legal in half of the positions
            passes[game.action_to_string(played.actions[played.num_opening_actions - 1]) == "pass"] += 1
        for position in played.positions:
            assert position["result"] == states[-1].returns()[int(position["state"]["current_player"])]
    assert passes.total() > 80
    assert 0.2 < passes[True] / passes.total() < 0.5


def test_games_differ_without_random_openings_too() -> None:
    for policy in ("gumbel", "puct"):
        games = self_played(tiny("vadus(size=3)", {"policy": policy}), 12)
        assert len({played.actions for played in games}) > 6, policy


def test_only_full_searches_are_stored() -> None:
    game = load_game("vadus(size=3)")
    config = tiny("vadus(size=3)", {"full_search_share": 0.4, "simulations": 9, "capped_simulations": 3})
    self_play = SelfPlay(game, Values(game), config, np.random.SeedSequence(0))
    played: list[PlayedGame] = []
    simulations: list[int] = []
    while len(played) < 30:
        before = self_play.search.num_simulations_done
        played += self_play.step()
        simulations.append((self_play.search.num_simulations_done - before) // 6)
    assert set(simulations) == {3, 9}
    assert 0.2 < np.mean([number == 9 for number in simulations]) < 0.6
    # The first games began together: the same steps of all of them were full searches.
    first = next(game for game in played if len(game.actions) <= len(simulations))
    states = replayed(game, first)[:-1]
    full = [state for state, number in zip(states, simulations, strict=False) if number == 9]
    assert [State.from_record(game, position["state"]) for position in first.positions] == full


def test_the_guide_counts_in_all_searches_with_a_weight_that_falls_to_0(monkeypatch: pytest.MonkeyPatch) -> None:
    game = load_game("vadus(size=3)")
    weight = [[0, 0.8], [0.5, 0]]
    settings = {
        "full_search_share": 0.5,
        "leaf_values": "playouts",
        "leaf_value_playouts": 3,
        "leaf_value_weight": weight,
    }
    self_play = SelfPlay(game, Values(game, value=0.5), tiny(str(game), settings), np.random.SeedSequence(0))
    for progress, weight in ((0.0, 0.8), (0.25, 0.4), (0.5, 0.0), (1.0, 0.0)):
        self_play.set_progress(progress)
        assert self_play.search.leaf_value_weight == pytest.approx(weight)
    evaluate = Mock(side_effect=LeafValues.evaluate)
    monkeypatch.setattr(LeafValues, "evaluate", lambda *arguments: evaluate(*arguments))
    for guided in (True, False):
        self_play.set_progress(0.0 if guided else 0.5)
        num_guided = set()
        for _ in range(20):
            before = self_play.search.num_simulations_done
            evaluate.reset_mock()
            self_play.step()
            num_guided.add((self_play.search.num_simulations_done - before == 6 * 8, evaluate.called))
        assert num_guided == {(True, guided), (False, guided)}
    monkeypatch.setattr("stoneworks.training.alphazero.config.has_heuristic", lambda game: False)
    tiny("vadus(size=2)", {"leaf_values": "playouts"})
    with pytest.raises(ConfigError, match="leaf_values must be playouts or none"):
        tiny("vadus(size=2)", {"leaf_values": "heuristic"})


def test_puct_draws_young_actions_by_their_visits_and_plays_the_most_visited_later(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("stoneworks.training.alphazero.self_play.SAMPLED_ACTIONS", 2)
    game = load_game("vadus(size=3)")
    config = tiny(str(game), {"policy": "puct", "simulations": 30}, {"num_games": 200})
    self_play = SelfPlay(game, Values(game), config, np.random.SeedSequence(0))
    agreed = []
    for _ in range(4):
        self_play.step()
        last = [  # of each game but those that have just begun
            (one.actions[-1], one.positions[-1]["actions"].tolist(), one.positions[-1]["probabilities"])
            for one in self_play.games
            if one.positions
        ]
        agreed.append(np.mean([action == kept[0] for action, kept, _ in last]))
        shares = [(chances[kept.index(action)], chances[0]) for action, kept, chances in last]
        assert all(share > 0 for share, _ in shares)
    # Of equally many visits the first taken is played, which need not be the first that is stored.
    assert max(agreed[:2]) < 0.6
    assert all(share == highest for share, highest in shares)


def test_puct_plays_proven_wins_also_while_actions_are_drawn() -> None:
    game = load_game("vadus(size=2)")
    config = tiny(str(game), {"policy": "puct", "simulations": 30}, {"num_games": 50})
    self_play = SelfPlay(game, Values(game), config, np.random.SeedSequence(0))
    results, search = [], self_play.search.run
    self_play.search.run = lambda *arguments: results.append(search(*arguments)) or results[-1]  # type: ignore[method-assign,func-returns-value]
    num_solved = 0
    for _ in range(12):
        games = list(self_play.games)
        self_play.step()
        solved = np.flatnonzero(results[-1].solved)
        assert [games[row].actions[-1] for row in solved] == results[-1].actions[solved].tolist()
        num_solved += len(solved)
    assert num_solved > 20


def mixed_self_play(monkeypatch: pytest.MonkeyPatch, config: AlphaZeroConfig, network: Values) -> InProcessSelfPlay:
    monkeypatch.setattr(sources, "make_inference", lambda *_: network)
    return InProcessSelfPlay(Mock(playing_state_dict=dict), config, np.random.SeedSequence(3))


def lengths_of_games(self_play: InProcessSelfPlay, num_steps: int) -> Counter[str]:
    """Return the number of positions of finished games by game string."""
    finished = [one for _ in range(num_steps) for one in self_play.step()[0]]
    return Counter(one.game for one in finished for _ in one.positions)


def test_a_game_without_a_share_is_not_played(monkeypatch: pytest.MonkeyPatch) -> None:
    config = tiny("vadus(size=2)").replace(games={"vadus(size=2)": 1, "vadus(size=3)": [[0, 0], [1, 1]]})
    self_play = mixed_self_play(monkeypatch, config, Values(*map(load_game, config.games)))
    self_play._due["vadus(size=2)"] = -1e-15  # rounded
    self_play.step()
    assert not self_play.parts["vadus(size=3)"].num_positions
    assert self_play.parts["vadus(size=2)"].num_positions


def test_games_have_their_shares_and_settings_follow_their_schedules(monkeypatch: pytest.MonkeyPatch) -> None:
    config = tiny("vadus(size=2)", search={"full_search_share": 0.5}, self_play={"num_games": 80})
    config = config.replace(games={"vadus(size=2)": 0.7, "vadus(size=3)": 0.29, "vadus(size=4)": 0.01})
    network = Values(*map(load_game, config.games))
    lengths = lengths_of_games(mixed_self_play(monkeypatch, config, network), 400)
    assert max(network.batch_sizes) == 80
    assert {33, 16} <= network.batch_sizes, "in proportion to the shares, but not fewer than 16"
    assert lengths["vadus(size=3)"] / lengths["vadus(size=2)"] == pytest.approx(0.29 / 0.7, rel=0.25)

    config = tiny("vadus(size=2)", self_play={"num_games": 80, "random_action_share": 0.03})
    config = config.replace(games={"vadus(size=2)": 1, "vadus(size=4)": 1})
    network = Values(*map(load_game, config.games))
    lengths = lengths_of_games(mixed_self_play(monkeypatch, config, network), 400)
    assert lengths["vadus(size=4)"] / lengths["vadus(size=2)"] == pytest.approx(1, rel=0.15), "of those that are stored"
    search = {"simulations": [[0, 4], [1, 12]], "capped_simulations": [[0, 2], [1, 4]], "discount": [[0, 1], [1, 0.8]]}
    config = tiny("vadus(size=2)", search).replace(
        games={"vadus(size=2)": ((0.0, 1.0), (0.5, 0.0)), "vadus(size=3)": ((0.0, 0.0), (0.5, 1.0))}
    )
    assert config.shares(0.25) == config.largest_shares() == {"vadus(size=2)": 0.5, "vadus(size=3)": 0.5}
    self_play = mixed_self_play(monkeypatch, config, Values(*map(load_game, config.games)))
    self_play.update({}, 0.0)
    assert set(lengths_of_games(self_play, 40)) == {"vadus(size=2)"}
    self_play.update({}, 0.75)
    assert set(lengths_of_games(self_play, 40)) == {"vadus(size=3)"}
    parts = self_play.parts.values()
    assert [(one.simulations, one.capped_simulations) for one in parts] == 2 * [(10, 4)]
    assert [one.search.discount for one in parts] == 2 * [pytest.approx(0.85)]


def test_the_time_of_self_play_is_that_of_its_parts_and_adds_up(monkeypatch: pytest.MonkeyPatch) -> None:
    config = tiny("vadus(size=2)").replace(games={"vadus(size=2)": 0.5, "vadus(size=3)": 0.5})
    self_play = mixed_self_play(monkeypatch, config, Values(*map(load_game, config.games)))
    steps = [self_play.step()[1] for _ in range(6)]
    assert all(min(step) > 0 for step in steps)
    assert SelfPlayTimings.sum(steps) == pytest.approx(
        SelfPlayTimings.sum(part.timings for part in self_play.parts.values())
    )
    assert SelfPlayTimings.sum(steps).num_simulations == 6 * 6 * 8
    assert SelfPlayTimings.sum(()) == SelfPlayTimings()


@pytest.mark.parametrize("name", [game for game in small_games() if has_heuristic(load_game(game))])
def test_the_teacher_prefers_what_the_greedy_bot_prefers(name: str) -> None:
    game = load_game(name)
    rng = np.random.default_rng(0)
    states = [random_opening(game, int(rng.integers(1, 6)), rng) for _ in range(10)]
    result = greedy_search(GreedyBot(game, 0), game, np.array([state.record for state in states], game.state_dtype))
    greedy = load_bot("greedy", game, 1)
    for row, state in enumerate(states):
        preferred = {action for action, share in greedy.step_with_policy(state)[0] if share > 0}
        assert set(np.flatnonzero(result.policies[row])) == preferred
        assert result.actions[row] in preferred
        assert result.policies[row].sum() == pytest.approx(1)
        assert abs(result.values[row]) <= 1


def test_a_run_begins_with_games_of_the_teacher_without_network_evaluations() -> None:
    search = {"teacher_share": 0.5, "leaf_values": "none"}
    config = alphazero(search=search, self_play={"num_games": 4, "random_opening_share": 0.0})
    game = load_game(config.game)
    network = Values(game)
    self_play = SelfPlay(game, network, config, np.random.SeedSequence(0))
    played = []
    while not played:
        played = self_play.step()
    assert not network.batch_sizes
    # Every position of the game is a training position, and its policy contains the action played.
    assert len(played[0].positions) == len(played[0].actions)
    for position, action in zip(played[0].positions, played[0].actions, strict=True):
        assert action in position["actions"][position["probabilities"] > 0]
    for progress, asks in ((0.49, False), (0.5, True)):
        self_play.set_progress(progress)
        self_play.step()
        assert bool(network.batch_sizes) == asks
