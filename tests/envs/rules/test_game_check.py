"""``check_game``: what it says of games that keep the contract, and of games that break it in one place."""

from __future__ import annotations

import re
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from example_modules import example
from stoneworks import check_game, load_game, register_game
from stoneworks.envs.rules import RegistrationError
from stoneworks.envs.rules.compiler.compiler import kernel
from stoneworks.envs.rules.game_registry import small_games
from stoneworks.envs.rules.parts import game_part


@pytest.fixture
def breakthrough() -> ModuleType:
    return example("breakthrough")


@pytest.mark.parametrize("game", small_games())
def test_nothing_is_found_in_the_games_of_the_package(game: str) -> None:
    assert check_game(game, num_games=4) == []


def test_directions_and_planes_are_right_in_the_example(breakthrough: ModuleType) -> None:
    game = load_game("breakthrough(size=5)")
    assert check_game(game) == []
    assert [symmetry.name for symmetry in game.symmetries] == ["identity", "reflect, then rotate 90"]
    assert len(set(game.action_texts)) == game.num_actions == 75
    state = game.new_initial_state()
    assert {"b2<", "b2^", "b2>"} <= {game.action_to_string(action) for action in state.legal_actions()}
    assert "a2<" not in {game.action_to_string(action) for action in state.legal_actions()}


@kernel
def observe_twice(board: Any, state: Any, player: int, planes: Any) -> None:
    planes[:, :] = 2


@kernel
def win_for_sure(board: Any, state: Any) -> tuple[int, int]:
    return 1, 1


@kernel
def keep_planes(board: Any, before: Any, state: Any, planes: Any) -> None:
    pass


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        (
            {"keeps_rules": lambda self, of_grid: True},
            "symmetry 'rotate 90' maps legal actions to others after no action",
        ),
        ({"action_plane_images": lambda self, directions: np.arange(3)}, "reflect.* maps legal actions"),
        ({"max_game_length": lambda self: 3}, "a game has more actions than max_game_length.., 3: after "),
        ({"reasons": ()}, "ending is 1, which is not 1 . the index"),
        ({"observe": observe_twice}, "binary_observations is True; the observation of player 0"),
        (
            {"observe": observe_twice, "binary_observations": False},
            r"the observation of player 0 has values outside \[0, 1\]",
        ),
        ({"result_bounds": win_for_sure}, r"result_bounds are \[1, 1\]; the result for player 0 is -1"),
        ({"update_observation": keep_planes}, "the observation in a batch differs from that of the state"),
        ({"board_plane": "cells"}, "board_plane is 'cells'"),
        (
            {"state_to_text": lambda self, state: self.colors[2]},
            "state_to_text raises IndexError: tuple index out of range",
        ),
        (
            {"state_from_text": lambda self, text, trusted: self.new_initial_state()},
            "after .*: to_text describes another position",
        ),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_a_fault_is_found_and_the_position_is_named(
    breakthrough: ModuleType, changes: dict[str, Any], named: str
) -> None:
    kernels = {name: value for name, value in changes.items() if hasattr(value, "py_func")}
    methods = {name: value for name, value in changes.items() if name not in kernels}
    base = breakthrough.Breakthrough
    broken = type("Broken", (base,), {"name": "broken", "kernels": {**base.kernels, **kernels}, **methods})
    register_game("broken", broken)
    found = check_game("broken(size=4)", num_games=6)
    assert all(line.startswith("broken(size=4): ") for line in found)
    assert re.search(named, "\n".join(found)), found


@kernel
def no_number(board: Any, state: Any, player: int) -> float:
    return np.nan if player else 0.0


@kernel
def rate_none(board: Any, state: Any, mask: Any, ratings: Any) -> None:
    pass


@kernel
def fill_first(board: Any, state: Any, player: int, planes: Any) -> None:
    planes[0] = 0


@pytest.mark.parametrize(
    ("part", "name", "broken", "named"),
    [
        ("heuristic", "heuristic", no_number, r"after no action: heuristic returns \[0\.0, nan\] for the players"),
        ("heuristic", "rate_actions", rate_none, "after no action: rate_actions writes no number for b1"),
        ("features", "fill_features", fill_first, "after no action: the feature '.*' has values that are not finite"),
    ],
)
def test_numbers_that_are_not_finite_or_not_written_are_found(
    monkeypatch: pytest.MonkeyPatch, part: str, name: str, broken: Any, named: str
) -> None:
    game = load_game("vadus(size=2)")
    monkeypatch.setattr(game_part(game, part), name, broken)
    (found,) = check_game(game, num_games=2)
    assert re.search(named, found)


def test_equal_texts_are_refused_when_the_game_is_loaded(breakthrough: ModuleType) -> None:
    texts = {"name": "mute", "board_action_text": lambda self, plane, cell: self.grid.cell_names[cell]}
    register_game("mute", type("Mute", (breakthrough.Breakthrough,), texts))
    with pytest.raises(
        RegistrationError, match=r"mute\(size=6\): actions 0 and 72 have the same text 'a1'; see board_action_text"
    ):
        load_game("mute")


def test_planes_of_which_nothing_is_said_have_no_symmetries(breakthrough: ModuleType) -> None:
    from stoneworks import Game

    silent = {"name": "silent", "keeps_rules": Game.keeps_rules, "action_plane_images": Game.action_plane_images}
    register_game("silent", type("Silent", (breakthrough.Breakthrough,), silent))
    assert [symmetry.name for symmetry in load_game("silent").symmetries] == ["identity"]
