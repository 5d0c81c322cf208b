"""The solver against a second program: a plain minimax over the naive implementations of the rules."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from game_play import uniform_game
from side_by_side import naive_state
from stoneworks.envs.rules import Game, State, load_game
from stoneworks.envs.rules.compiler.compiler import kernel
from stoneworks.envs.rules.compiler.types import BoardArray, Int64s, Record, StateArray
from stoneworks.envs.rules.contract import result_bounds
from stoneworks.models import load_bot
from stoneworks.models.search.proof_search import (
    BUCKET,
    hash_keys,
    hash_observation,
    known_bounds,
    search_proof,
    store,
)
from stoneworks.models.search.turn_search import rating_kernels
from stoneworks.models.solved_game import shipped_solutions
from stoneworks.models.solver import Solver, SolverMemoryError, TableError, UnsolvedError

SMALL = ("vadus(size=2)", "laido(size=2)", "taugo(size=3)", "taigo(radius=1)", "trugo(max_turns=7,radius=1,tiles=4)")


def played(naive: Any, text: str) -> Any:
    def copied(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: list(one) if isinstance(one, list) else one for key, one in value.items()}
        return copy.copy(value) if isinstance(value, (list, set)) else value

    after = copy.copy(naive)
    after.__dict__ = {name: copied(value) for name, value in vars(naive).items()}
    after.play(text)
    return after


class Minimax:
    """Results for player 0. The library's records are only the keys of the memory."""

    def __init__(self) -> None:
        self.memory: dict[bytes, int] = {}

    def value(self, state: State, naive: Any) -> int:
        if naive.result is not None:
            return {"draw": 0, 0: 1, 1: -1}.get(naive.result, 0)
        key = state.record.tobytes()
        if key not in self.memory:
            sign = 1 - 2 * naive.to_act
            best = -1
            for text in sorted(naive.legal_texts()):
                child = state.child(state.string_to_action(text))
                best = max(best, sign * self.value(child, played(naive, text)))
                if best == 1:
                    break
            self.memory[key] = sign * best
        return self.memory[key]


def positions_of(game: Game, naive: Any, rng: np.random.Generator) -> Iterator[tuple[State, Any]]:
    """The positions of a random game."""
    state = game.new_initial_state()
    while not state.is_terminal():
        yield state.clone(), naive
        text = str(rng.choice(sorted(naive.legal_texts())))
        state.apply_action(state.string_to_action(text))
        naive = played(naive, text)


@pytest.mark.parametrize(
    ("name", "num_games", "last_actions"),
    [
        ("vadus(size=2)", 10, 5),
        ("laido(size=2)", 20, 5),
        ("laido(pie_rule=False,size=2)", 10, 5),
        ("taugo(size=3)", 5, 5),
        ("taigo(radius=1)", 5, 9),
        ("taigo(cones=1,radius=2,tiles=8)", 3, 2),
        ("trugo(max_turns=6,radius=1,tiles=4)", 2, 3),
    ],
)
def test_results_and_actions_are_those_of_a_plain_minimax(name: str, num_games: int, last_actions: int) -> None:
    game = load_game(name)
    solver, unordered = (Solver(game, memory_mib=1, order_by_evaluation=ordered) for ordered in (True, False))
    minimax, rng, results = Minimax(), np.random.default_rng(1), set()
    for _ in range(num_games):
        start = naive_state(game)
        for state, naive in list(positions_of(game, start, rng))[-last_actions:]:
            solution = solver.solve(state)
            sign = 1 - 2 * state.current_player()
            assert solver.value(state) == sign * solution.result == minimax.value(state, naive), state
            results_of = {
                action: minimax.value(state.child(action), played(naive, state.action_to_string(action)))
                for action in state.legal_actions()
            }
            keeping = [action for action, result in results_of.items() if sign * result == solution.result]
            assert list(solution.actions) == list(unordered.solve(state).actions) == keeping, state
            assert unordered.value(state) == solver.value(state)
            results.add((solution.result, len(keeping) < len(results_of)))
    assert len(results) > 1 or game.name == "taigo"
    with pytest.raises(ValueError, match="the solver needs a position of"):
        solver.value(load_game("vadus(size=4)").new_initial_state())


@pytest.mark.slow
@pytest.mark.parametrize("name", ["vadus(size=2)", "laido(size=2)", "laido(pie_rule=False,size=2)", "taugo(size=3)"])
def test_whole_games_have_the_results_of_a_plain_minimax(name: str) -> None:
    game = load_game(name)
    expected = Minimax().value(game.new_initial_state(), naive_state(game))
    assert Solver(game, memory_mib=1).solve(game.new_initial_state()).result == expected


def test_stored_results_are_well_formed() -> None:
    for name, solved in shipped_solutions().items():
        game = load_game(name)
        state = game.new_initial_state()
        assert str(game) == name
        assert solved.version == game.version
        assert solved.num_actions == len(state.legal_actions())
        assert {state.string_to_action(text) for text in solved.actions} <= set(state.legal_actions())


QUICK = ("vadus(size=2)", "laido(size=2)", "laido(pie_rule=False,size=2)", "taugo(size=3)")
SLOW = ("laido(size=3)", "laido(pie_rule=False,size=3)", "taigo(radius=2)")


@pytest.mark.parametrize("name", [*QUICK, *(pytest.param(name, marks=pytest.mark.slow) for name in SLOW)])
def test_stored_results_are_found_again(name: str) -> None:
    game, stored = load_game(name), shipped_solutions()[name]
    solution = Solver(game, memory_mib=64).solve(game.new_initial_state())
    assert solution.result_of(0) == stored.result
    assert tuple(map(game.action_to_string, solution.actions)) == stored.actions


@kernel
def no_bounds(board: Record, state: Record) -> tuple[int, int]:
    return -1, 1


def fill_bounds(board: BoardArray, states: StateArray, bounds: Int64s) -> None:
    bounds[0], bounds[1] = result_bounds(board[0], states[0])


@pytest.mark.parametrize("name", ["vadus(size=3)", "laido(size=3)"])
def test_bounds_of_results_hold_and_save_positions(name: str) -> None:
    game, rng = load_game(name), np.random.default_rng(4)
    solver, plain = Solver(game, memory_mib=4), Solver(game, memory_mib=4)
    plain._search = game.compiled(search_proof, {**rating_kernels(game, False), "result_bounds": no_bounds})
    fill, known, seen = game.compiled(fill_bounds), np.zeros(2, np.int64), set()
    num_visited = num_visited_without = 0
    for state in (state for _ in range(40) for state in uniform_game(game, rng)[10:-1]):
        if state.record["num_stones"] < 10:
            continue
        fill(game.board, state.record.reshape(1), known)
        exact = plain.solve(state)
        num_visited_without += exact.num_positions
        num_visited += solver.solve(state).num_positions
        assert known[0] <= exact.result_of(0) <= known[1], state
        seen.add(tuple(known.tolist()))
    assert seen == {(-1, 1), (1, 1), (-1, -1)}
    assert num_visited < num_visited_without


@pytest.mark.parametrize("name", SMALL)
def test_hashes_are_equal_for_images_and_differ_for_other_positions(name: str) -> None:
    game, rng = load_game(name), np.random.default_rng(0)
    hashing = hash_keys(game)
    seen: dict[tuple[int, int], set[bytes]] = {}

    def hash_of(planes: Any) -> tuple[int, int]:
        sums = np.empty(hashing.keys.shape[1], np.uint64)
        least = hash_observation(planes.reshape(game.flat_observation_shape).view(np.uint32), hashing, sums)
        return int(sums[least]), int(sums[least + 1])

    for state in (state for _ in range(30) for state in uniform_game(game, rng)[:-1]):
        images = [symmetry.of_observation(state.observation_tensor()) for symmetry in game.symmetries]
        hashes = {hash_of(np.ascontiguousarray(image)) for image in images}
        assert len(hashes) == 1
        seen.setdefault(hashes.pop(), set()).add(min(image.tobytes() for image in images))
    assert all(len(classes) == 1 for classes in seen.values())
    assert len(seen) > 2


def test_an_interrupted_search_goes_on_from_its_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And a small table changes no result."""
    game = load_game("taugo(size=3)")
    state, file = game.new_initial_state(), tmp_path / "table.npz"
    whole = Solver(game, memory_mib=1).solve(state)

    def interrupt(visited: int, known: str) -> None:
        if visited >= whole.num_positions // 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Solver(game, memory_mib=1, table=file).solve(state, progress=interrupt)
    rest = Solver(game, memory_mib=1, table=file).solve(state)
    assert (rest.result, rest.actions) == (whole.result, whole.actions)
    assert rest.num_positions < whole.num_positions
    assert [path.name for path in tmp_path.iterdir()] == ["table.npz"]
    for other, memory in (("taugo(size=4)", 1), ("taugo(size=3)", 2)):
        with pytest.raises(TableError, match=r"table\.npz"):
            Solver(load_game(other), memory_mib=memory, table=file)
    file.write_bytes(file.read_bytes()[:1000])
    with pytest.raises(TableError, match=r"table\.npz"):
        Solver(game, memory_mib=1, table=file)
    monkeypatch.setattr("stoneworks.models.solver._BYTES_PER_MIB", 1024)  # 16 places for positions
    small = Solver(game, memory_mib=1).solve(state)
    assert (small.result, small.actions) == (whole.result, whole.actions)
    assert small.num_positions > whole.num_positions


def test_limits_are_errors_that_say_what_is_known() -> None:
    game = load_game("vadus(size=5)")
    state, solver = game.new_initial_state(), Solver(game, memory_mib=1)
    for solve in (
        lambda: solver.solve(state, max_positions=5000),
        lambda: solver.solve(state, seconds=0.01),
        lambda: load_bot("perfect:seconds=0.01,memory=1", game).step(state),
    ):
        with pytest.raises(UnsolvedError, match=r"vadus\(size=5\) is not solved after \d+ positions"):
            solve()
    with pytest.raises(SolverMemoryError, match="needs 1073741824 MiB"):
        Solver(game, memory_mib=2**30)
    with pytest.raises(SolverMemoryError, match="games of up to 4294967290 actions"):
        Solver(load_game("trugo(max_turns=2147483647,radius=2,tiles=6)"), memory_mib=np.int64(1))
    with pytest.raises(ValueError, match="laido"):
        Solver(load_game("laido(size=2)"), memory_mib=1).solve(state)


@pytest.mark.parametrize("name", ["vadus(size=2)", "laido(size=2)", "taugo(size=3)"])
def test_the_solver_bot_plays_and_knows_the_result(name: str) -> None:
    state, bot, results = load_game(name).new_initial_state(), load_bot("perfect:memory=1", name, 0), set()
    while not state.is_terminal():
        found = bot.analyze(state)
        assert found.proven == found.value
        assert found.policy.sum() == pytest.approx(1)
        results.add(found.proven * (1 - 2 * found.player))  # type: ignore[operator]
        state.apply_action(bot.step(state))
    assert results == {shipped_solutions()[name].result} == {state.returns()[0]}


def test_a_full_bucket_forgets_what_took_the_least_effort() -> None:
    table, keys = np.zeros(BUCKET, np.uint64), [np.uint64(2 * number + 1) for number in range(9)]
    for key, positions in zip(keys, (63, 1, 31, 255, 7, 127, 15, 3, 511), strict=True):
        store(table, 0, key, 1, True, positions)
    assert [known_bounds(table, 0, key) for key in keys] == [(1, 1), (-1, 1), *[(1, 1)] * 7]
