"""Positions as text: round trips, what is refused, and that every other position has another text."""

from __future__ import annotations

import pytest

from game_play import random_game
from stoneworks import Game, load_game
from stoneworks.envs.rules import PositionError


def test_a_text_leads_to_the_same_position_and_different_positions_have_different_texts(game: Game) -> None:
    by_text = {}
    for seed in range(5):
        for state in random_game(game, seed):
            text = state.to_text()
            again = game.state_from_text(text)
            assert again == state
            assert again.to_text() == text
            assert "\n" not in text
            assert by_text.setdefault(text, state.record.tobytes()) == state.record.tobytes()
    assert len(set(by_text.values())) == len(by_text) > 10
    assert game.new_initial_state().to_text() == str(game)


def test_a_text_can_be_read_by_a_person() -> None:
    game = load_game("vadus(size=3)")
    state = game.new_initial_state()
    for text in ("c3", "c4", "d3"):
        state.apply_action(game.string_to_action(text))
    assert state.to_text() == "vadus(size=3) num_stones=3 stones=c3:1,d3:2,c4:2"


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("vadus(size=4)", "must begin with 'vadus.size=3.', got 'vadus.size=4.'"),
        ("", "got ''"),
        (None, "got 'None'"),
        ("vadus(size=3) colour=1", "unknown field 'colour'; fields are current_player, .*stones"),
        ("vadus(size=3) game_tag=1", "unknown field 'game_tag'"),
        ("vadus(size=3) stones=z9:1", "field stones has no place 'z9'"),
        ("vadus(size=3) stones=1", "field stones has no place ''"),
        ("vadus(size=3) stones=999:1", "field stones has no place '999'"),
        ("vadus(size=3) stones=c3:x", "field stones must be an integer that fits into uint8, got 'x'"),
        ("vadus(size=3) stones=c3:300", "got '300'"),
        ("vadus(size=3) num_stones=-1", "got '-1'"),
        ("vadus(size=3) num_stones=1,1", "field num_stones has two values"),
        ("vadus(size=3) stones=c3:1", "not a valid position: field num_stones"),
        ("vadus(size=3) winner=0", "not a valid position: field winner"),
    ],
)
def test_a_bad_text_or_position_is_refused_with_the_reason(text: str, named: str) -> None:
    with pytest.raises(PositionError, match=named):
        load_game("vadus(size=3)").state_from_text(text)
