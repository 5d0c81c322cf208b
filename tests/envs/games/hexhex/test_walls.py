"""The evaluation of walls: what it says of finished groups is what the rules say, and of unfinished ones what it should."""

from __future__ import annotations

import numpy as np
import pytest

from evaluating import evaluation
from game_play import random_states, with_mover
from stoneworks.envs.games.hexhex import walls
from stoneworks.envs.games.hexhex.walls import label_groups, survey_walls
from stoneworks.envs.rules import Batch, Game, State, load_game
from stoneworks.envs.rules.compiler.types import BoardArray, Float32Table, Int16Table, StateArray
from stoneworks.models.search.turn_search import WIN_VALUE


def survey_color(
    board: BoardArray, states: StateArray, own: int, work: Int16Table, groups: Int16Table, scores: Float32Table
) -> int:
    """Survey the walls of one color and return its number of groups: a template."""
    number = label_groups(board[0], states[0].stones, own, work, groups)
    survey_walls(board[0], states[0].stones, own, 0, work, groups, scores[0])
    return number


def group_values(state: State, color: int) -> list[int]:
    """Return the values of the groups as the evaluation sees them, from high to low."""
    game = state.get_game()
    num_cells = game.grid.num_cells
    work = np.zeros((walls.NUM_ROWS, num_cells + 1), np.int16)
    groups = np.zeros((walls.NUM_GROUP_ROWS, num_cells), np.int16)
    scores = np.zeros((1, num_cells), np.float32)
    records = np.array([state.record])
    number = game.compiled(survey_color)(game.board, records, color + 1, work, groups, scores)
    values = 2 * groups[walls.PATH_LENGTH, :number] - groups[walls.SIZE, :number]
    return sorted(values.tolist(), reverse=True)


def with_stones(game: Game, black: str, white: str) -> State:
    """Return a position with stones on cells, with White to move at the start of a turn, as after a turn of Black."""
    stones = game.new_initial_state().record["stones"]
    for stone, cells in ((1, black), (2, white)):
        stones[[game.grid.cell_index(name) for name in cells.split()]] = stone
    return with_mover(game.new_initial_state(), 1, stones=stones, num_stones=len([*black.split(), *white.split()]))


@pytest.mark.parametrize("name", ["vadus(size=2)", "vadus(size=4)", "vadus(size=6)", "laido(size=5)"])
def test_group_values_follow_the_rules(name: str) -> None:
    game = load_game(name)
    batch = Batch(game, 60, seed=1)
    for step in range(game.num_points):
        batch.step(batch.random_actions())
        state = batch.state(step % 60)
        for color in (0, 1):
            assert group_values(state, color) == state.score()[color]


@pytest.mark.parametrize("name", ["vadus(size=4)", "laido(size=4)", "taugo(size=5)"])
def test_evaluations_of_both_players_are_opposite(name: str) -> None:
    for state in random_states(name, 100, seed=2):
        assert -WIN_VALUE < evaluation(state, 0) == -evaluation(state, 1) < WIN_VALUE


@pytest.mark.parametrize(
    ("size", "better", "worse"),
    [
        # A longer wall, and none with a stone beside it.
        (3, ("a3 b3 c3 d3 e3", "c1 d1"), ("a4 b4 c4 d4", "c1 d1")),
        (3, ("a3 b3 c3 d3 e3", "c1 d1"), ("a3 b3 c3 d3 e3 c4", "c1 d1")),
        # A second edge stone next to the first spoils an unfinished wall.
        (4, ("a4 b4 c4 d4 e4", "d1 e1"), ("a4 b4 c4 d4 e4 a5", "d1 e1")),
        # An opponent in the way.
        (4, ("b4 c4 d4 e4", "d7 g1 d1"), ("b4 c4 d4 e4", "e5 f4 f3")),
    ],
)
def test_a_wall_is_better(size: int, better: tuple[str, str], worse: tuple[str, str]) -> None:
    game = load_game("vadus", size=size)
    assert evaluation(with_stones(game, *better), 0) > evaluation(with_stones(game, *worse), 0)


def test_the_fewer_stones_a_wall_lacks_the_better_and_a_pass_that_lets_the_other_win_is_bad() -> None:
    game = load_game("vadus(size=4)")
    texts = ["c4", "c4 d4", "b4 c4 d4", "b4 c4 d4 e4", "a4 b4 c4 d4 e4", "a4 b4 c4 d4 e4 f4", "a4 b4 c4 d4 e4 f4 g4"]
    values = [evaluation(with_stones(game, black, "d7 g1"), 0) for black in texts]
    assert values == sorted(values)
    assert len(set(values[2:])) == len(values[2:])
    state = with_stones(load_game("vadus(size=3)"), "a3 b3 c3 d3 e3", "c1 d1")
    after_white, after_black = (with_mover(state, player, consecutive_passes=1) for player in (0, 1))
    assert evaluation(after_white, 0) == walls.CAN_END_AS_WINNER, "Black is ahead"
    assert 0 < evaluation(after_black, 0) < walls.CAN_END_AS_WINNER, "White is behind"
