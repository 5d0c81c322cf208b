"""The drawing of games that have none of their own."""

from __future__ import annotations

import pytest

from game_play import played
from stoneworks.envs.drawing import draw
from stoneworks.envs.rules import State, load_game
from stoneworks.envs.rules.game_registry import small_games
from svg_reading import centers


@pytest.fixture(autouse=True)
def no_drawings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take the games' own drawings away."""
    monkeypatch.setattr("stoneworks.envs.drawing.drawing_of", lambda game: None)


@pytest.mark.parametrize("game", small_games())
def test_every_game_can_be_drawn_at_any_time(game: str) -> None:
    state = load_game(game).new_initial_state()
    while not state.is_terminal() and state.move_number() < 20:
        picture = draw(state)
        assert picture.svg.startswith("<svg")
        state.apply_action(state.legal_actions()[-1 if state.move_number() % 2 else 0])
    assert picture.rgb_array(64).shape[1] == 64


def test_stones_are_drawn_in_their_colors_and_the_last_turn_is_marked(monkeypatch: pytest.MonkeyPatch) -> None:
    for game, texts in (("vadus(size=3)", "c3 b2 c1 d4"), ("taugo", "c3 d4 e5 b2"), ("laido(size=3)", "c3 swap")):
        state = played(game, texts)
        drawing, stones = draw(state), state.record["stones"]
        for color in (0, 1):
            assert len(centers(drawing, f"stones color-{color}")) == (stones == color + 1).sum()
    monkeypatch.setattr(type(load_game("vadus")), "colors", ("White", "Black"))
    assert len(centers(draw(played("vadus(size=3)", "c3")), "stones color-1")) == 1, "a white stone"
    monkeypatch.undo()
    monkeypatch.setattr("stoneworks.envs.drawing.drawing_of", lambda game: None)
    one, two = played("vadus(size=3)", "c3 b2 c1 d4"), played("vadus(size=3)", "c3 b2 c1")
    drawings = draw(one), draw(two), draw(two, last_actions=[]), draw(State.from_record(two.get_game(), two.record))
    assert [len(centers(drawing, "last-move")) for drawing in drawings] == [1, 2, 0, 0]
    state = played("taugo(size=4)", "c3")
    monkeypatch.setattr(type(state.game), "observation_planes", ("plane",) * state.game.observation_shape[0])
    assert centers(draw(state), "stones color-0") == [], "no plane is known to be of stones"
