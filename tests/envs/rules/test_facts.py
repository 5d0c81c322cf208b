"""What tests/testdata/games.yaml states about each game, besides the facts that tests of other files compare with.

- ``defaults`` of the options; ``strings``: game strings, and how ``str`` shows the game
- ``refused``: an option, a value that it may not have, and what its error says is allowed
- ``actions``: indices of action texts; ``no_actions``: texts of none; ``images``: of actions and planes by symmetry
- ``equal`` and ``different``: a game and two sequences of actions to positions that are equal, or not
- ``illegal``: a game, actions, an action that is illegal then, and why; ``prints``: a game, actions, and whole lines printed then
- ``trained_on``: a game, the games that a network trained on it ``plays``, of other scales, and ``does_not_play``
"""

from __future__ import annotations

import re
from typing import Any

import pytest

from game_play import played, read_test_data
from stoneworks.envs.rules import IllegalActionError, game_names, load_game

FACTS = read_test_data("games.yaml")


def facts_by_name(key: str) -> Any:
    """Run a test for each of the facts of every game, each with the game's name before it."""
    cases = [(name, one) for name, facts in FACTS.items() for one in facts.get(key, ())]
    return pytest.mark.parametrize(("name", "fact"), cases, ids=lambda value: str(value)[:60])


def test_every_game_has_facts_and_these_defaults() -> None:
    assert set(FACTS) == set(game_names())
    for name, facts in FACTS.items():
        options = {key: [*value] if type(value) is tuple else value for key, value in load_game(name).options.items()}
        assert options == facts["defaults"]
    assert [name for name in FACTS if not FACTS[name]["exhaustible"]] == ["taugo"], "its board is too large"


@facts_by_name("strings")
def test_a_game_shows_its_options_in_one_way(name: str, fact: str) -> None:
    game = load_game(fact)
    assert str(game) == FACTS[name]["strings"][fact]
    assert load_game(str(game)) == game


@facts_by_name("refused")
def test_a_bad_option_is_named_with_its_value_and_what_is_allowed(name: str, fact: Any) -> None:
    option, value, allowed = fact
    with pytest.raises(ValueError, match=f"option {option!r}|option {option} |option tiles ") as caught:
        load_game(name, **{option: value})
    message = str(caught.value)
    assert name in message
    assert allowed in message
    assert repr(value) in message


@pytest.mark.parametrize("name", [name for name in FACTS if "actions" in FACTS[name]])
def test_actions_have_these_indices_and_no_other_texts(name: str) -> None:
    game, *actions = FACTS[name]["actions"].items()
    loaded = load_game(game[1])
    for text, index in actions:
        assert (loaded.string_to_action(text), loaded.action_to_string(index)) == (index, text)
    for text in FACTS[name]["no_actions"]:
        with pytest.raises(IllegalActionError, match="not a valid action"):
            loaded.string_to_action(text)


@pytest.mark.parametrize("name", [name for name in FACTS if "images" in FACTS[name]])
def test_images_of_actions_and_planes(name: str) -> None:
    (_, game), *by_symmetry = FACTS[name]["images"].items()
    loaded = load_game(game)
    symmetries = {symmetry.name: symmetry for symmetry in loaded.symmetries}
    planes = loaded.observation_planes
    for name, images in by_symmetry:
        symmetry = symmetries[name]
        for given, image in images.items():
            if given in planes:
                assert planes[symmetry.planes[planes.index(given)]] == image
            else:
                assert loaded.action_to_string(symmetry.actions[loaded.string_to_action(given)]) == image
        fixed = [index for index, plane in enumerate(planes) if not plane.startswith(("line_", "tiles_rotation_"))]
        assert symmetry.planes[fixed].tolist() == fixed


@facts_by_name("equal")
def test_positions_are_equal_whatever_their_histories(name: str, fact: list[str]) -> None:
    one, other = (played(fact[0], texts) for texts in fact[1:])
    assert one == other


@facts_by_name("different")
def test_positions_that_look_alike_differ(name: str, fact: list[str]) -> None:
    one, other = (played(fact[0], texts) for texts in fact[1:])
    assert one != other


@facts_by_name("illegal")
def test_the_reason_is_in_the_error_and_names_the_ruling(name: str, fact: list[str]) -> None:
    game, actions, illegal, reason = fact
    state = played(game, actions)
    action = state.string_to_action(illegal)
    assert state.explain_illegal(action) == reason
    with pytest.raises(IllegalActionError, match=re.escape(f"({illegal}) is illegal: {reason}")):
        state.apply_action(action)
    with pytest.raises(IllegalActionError):
        state.explain_illegal(state.get_game().num_actions)


@facts_by_name("prints")
def test_a_state_shows_the_board_what_the_turn_needs_and_what_is_left(name: str, fact: list[str]) -> None:
    game, actions, lines = fact
    text = str(played(game, actions))
    assert lines in ([text] if "\n" in lines else text.split("\n"))
