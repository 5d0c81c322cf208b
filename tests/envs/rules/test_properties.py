"""What holds for every game with any options: actions, copies, texts, errors, ends, symmetries, lengths."""

from __future__ import annotations

import itertools
import pickle
import re
from typing import Any

import numpy as np
import pytest

from game_play import SAMPLES, played, random_game, read_test_data, through_pickle
from stoneworks.envs.rules import TERMINAL_PLAYER, Game, IllegalActionError, State, load_game

FACTS = read_test_data("games.yaml")
NO_INTEGERS = (1.0, "a1", None, (1,), np.float64(1), np.array([1, 2]), np.bool_(True))


def middle(game: Game) -> State:
    """Return a state from the middle of a random game."""
    states = [state.clone() for state in random_game(game, 5, None)]
    return states[len(states) // 2]


def everything_about(state: State) -> tuple[Any, ...]:
    return (
        state.record.tobytes(),
        state.history(),
        state.current_player(),
        state.legal_actions(),
        state.outcome(),
        state.returns(),
        state.score(),
        str(state),
        *(state.observation_tensor(player).tobytes() for player in (0, 1)),
    )


# -- Actions and players -----------------------------------------------------------------------------------------------


def test_legal_actions_are_the_sorted_entries_of_the_mask_of_the_player_to_act(game: Game) -> None:
    for state in random_game(game, 1):
        mask = state.legal_actions_mask()
        legal = state.legal_actions()
        assert mask.dtype == np.int8
        assert mask.shape == (game.num_actions,)
        assert legal == sorted(set(legal)) == [action for action, entry in enumerate(mask) if entry == 1]
        assert all(type(action) is int for action in legal)
        assert set(mask.tolist()) <= {0, 1}
        assert bool(legal) == (not state.is_terminal())
        for player in (0, 1):
            to_act = player == state.current_player()
            assert state.legal_actions(player) == (legal if to_act else [])
            assert state.legal_actions_mask(player).any() == to_act
        if not state.is_terminal():
            assert state.current_player() in (0, 1)


def test_action_texts_are_unique_and_invertible(game: Game) -> None:
    state = game.new_initial_state()
    indices = range(game.num_actions)
    texts = [game.action_to_string(action) for action in indices]
    assert len(set(texts)) == len(texts) == state.game.num_actions
    assert [game.string_to_action(text) for text in texts] == [*indices]
    assert [state.action_to_string(0, action) for action in indices] == texts
    assert [state.string_to_action(1, text) for text in texts] == [*indices]
    assert texts[len(texts) - len(game.global_actions) :] == [*game.global_actions]


NO_TEXTS = ("", "A1", "a01", " a1", "a1\n", "Pass", "pass ", "a0", "z99", "-1", None, 3, b"c3", ["c3"], ("c3",))


def test_only_the_exact_text_is_accepted(game: Game) -> None:
    asks = game.string_to_action, game.new_initial_state().string_to_action
    for text, ask in itertools.product(NO_TEXTS, asks):
        with pytest.raises(IllegalActionError) as caught:
            ask(text)  # type: ignore[arg-type]
        assert repr(text) in str(caught.value)
        assert str(game) in str(caught.value)


# -- Illegal actions ---------------------------------------------------------------------------------------------------


def assert_refused(state: State, action: Any, named: str) -> None:
    before = everything_about(state)
    with pytest.raises(IllegalActionError) as caught:
        state.apply_action(action)
    assert named in str(caught.value)
    assert str(state.game) in str(caught.value)
    assert everything_about(state) == before


def test_every_action_outside_the_mask_or_after_the_end_is_refused_by_name_and_changes_nothing(game: Game) -> None:
    state = middle(game)
    illegal = sorted(set(range(game.num_actions)) - set(state.legal_actions()))
    assert illegal
    for action in illegal:
        assert_refused(state, action, game.action_to_string(action))
    assert_refused(state, game.num_actions, str(game.num_actions))
    num_board_actions = game.num_action_planes * game.grid.num_cells
    on_board = [a for a in illegal if a < num_board_actions and game.grid.on_board[a % game.grid.num_cells]]
    assert on_board, "the sample held an occupied cell"
    *_, end = random_game(game, 2)
    for action in range(game.num_actions):
        assert_refused(end, action, "over")


def test_the_error_lists_up_to_twelve_legal_actions() -> None:
    counts = set()
    for state in random_game(load_game("laido(size=3)"), 3, None):
        legal = [state.action_to_string(action) for action in state.legal_actions()]
        counts.add(len(legal))
        listed = " ".join(legal[:12]) + (f" ... ({len(legal)} in all)" if len(legal) > 12 else "")
        with pytest.raises(IllegalActionError) as caught:
            state.apply_action(0)
        assert f"; legal actions: {listed}; the position" in str(caught.value) or not legal
        assert ("legal actions" in str(caught.value)) == bool(legal)
    assert {0, 11, 12, 13} <= counts


def test_what_is_no_action_is_refused_by_name_and_changes_nothing(game: Game) -> None:
    state = middle(game)
    for action in (*NO_INTEGERS, -1, -(10**6), 2**31, 2**63, -(2**63) - 1):
        assert_refused(state, action, repr(action))
        with pytest.raises(IllegalActionError, match=re.escape(repr(action))):
            game.action_to_string(action)


def test_integers_of_numpy_are_actions_like_any_other(game: Game) -> None:
    for integer in (np.int8, np.int32, np.int64, np.uint16):
        state = game.new_initial_state()
        action = state.legal_actions()[0]
        state.apply_action(integer(action))
        assert state.history() == [action]
        assert type(state.history()[0]) is int


# -- The end -----------------------------------------------------------------------------------------------------------


def test_rewards_are_zero_until_the_end_and_always_add_up_to_zero(game: Game) -> None:
    for seed in range(20):
        for state in random_game(game, seed):
            returns = state.returns()
            assert sum(returns) == 0
            outcome = state.outcome()
            assert state.is_terminal() == (outcome is not None) == (state.current_player() == TERMINAL_PLAYER == -4)
            assert outcome is None or outcome.reason in game.reasons
            assert not state.is_truncated() or state.is_terminal()
            by_winner = {None: [0, 0], 0: [1, -1], 1: [-1, 1]}
            assert returns == by_winner[outcome and outcome.winner]


@pytest.mark.parametrize("exhaustible_game", [game for facts in FACTS.values() for game in facts["exhaustible"]])
def test_the_maximum_length_is_reached_and_never_passed(exhaustible_game: str) -> None:
    game = load_game(exhaustible_game)
    longest: dict[bytes, int] = {}

    def longest_from(state: State) -> int:
        key = state.record.tobytes()
        if key not in longest:
            longest[key] = (
                0 if state.is_terminal() else 1 + max(longest_from(state.child(a)) for a in state.legal_actions())
            )
        return longest[key]

    assert longest_from(game.new_initial_state()) == game.max_game_length()
    assert len(longest) > 1000


# -- Copies and texts --------------------------------------------------------------------------------------------------


def test_a_position_has_no_byte_that_belongs_to_no_field(game: Game) -> None:
    """In such a byte copies hold whatever the memory held before, so that equal positions would differ."""
    fields = [game.state_dtype.fields[name][0] for name in game.state_dtype.names]
    assert sum(field.itemsize for field in fields) == game.state_dtype.itemsize


def test_copies_are_equal_in_used_memory(game: Game) -> None:
    """Pickles of all protocols too."""
    state = middle(game)
    pickles = [pickle.dumps(state, protocol) for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1)]
    assert all(everything_about(pickle.loads(content)) == everything_about(state) for content in pickles)
    for duplicate in (State.clone, through_pickle, lambda state: State.from_record(game, state.record)):
        for _ in range(20):
            used = [np.full(game.state_dtype.itemsize, 255, np.uint8) for _ in range(20)]
            del used
            twin = duplicate(state)
            assert twin == state
    assert State.from_record(game, state.record).history() == []


def test_returned_arrays_cannot_change_a_state(game: Game) -> None:
    state = middle(game)
    before = everything_about(state)
    state.history().append(0)
    state.legal_actions().clear()
    state.legal_actions_mask()[:] = 1
    for array in (state.observation_tensor(), *state.observation_and_mask(0)):
        array[:] = 7
    state.returns()[0] = 9
    record = state.record
    record["current_player"] = 1 - record["current_player"]
    assert everything_about(state) == before


def test_a_serialized_game_with_a_bad_line_is_refused_by_name(game: Game) -> None:
    with pytest.raises(IllegalActionError, match="nonsense"):
        game.deserialize_state("nonsense")
    first = game.action_to_string(game.new_initial_state().legal_actions()[0])
    with pytest.raises(IllegalActionError, match=first):
        game.deserialize_state(f"{first}\n{first}")


def test_a_record_of_another_layout_is_refused(game: Game) -> None:
    records: tuple[Any, ...] = (None, 3, np.zeros(1, [("current_player", "i1")])[0], np.zeros(3))
    for record in records:
        with pytest.raises(ValueError, match="dtype"):
            State.from_record(game, record)


def test_positions_of_other_games_and_options_differ() -> None:
    """See ``equal`` and ``different`` in tests/testdata/games.yaml for others."""
    state = played("vadus(size=3)", "c3 pass")
    assert state != played("laido(size=3)", "c3 pass")
    assert played("laido(pie_rule=False,size=3)", "c3") != played("laido(size=3)", "c3")
    assert state != "c3"
    with pytest.raises(TypeError, match="unhashable"):
        hash(state)


def test_the_game_and_the_colors_of_every_position(game: Game) -> None:
    for state in random_game(game, 6):
        assert state.get_game() is state.game is game
        assert {state.color_of(0), state.color_of(1)} == {0, 1}


# -- Observations ------------------------------------------------------------------------------------------------------


def test_observations_are_finite_and_within_0_and_1_and_come_with_the_mask_in_one_call(game: Game) -> None:
    assert len(set(game.observation_planes)) == len(game.observation_planes)
    shape = (len(game.observation_planes), game.grid.height, game.grid.width)
    assert game.observation_shape == shape
    values: set[float] = set()
    for state in (state for seed in range(3) for state in random_game(game, seed)):
        default = state.observation_tensor(max(state.current_player(), 0))
        assert np.array_equal(state.observation_tensor(), default)
        for player in (0, 1):
            observation, mask = state.observation_and_mask(player)
            assert (observation.dtype, observation.shape, mask.dtype) == (np.float32, shape, np.int8)
            assert np.array_equal(observation, state.observation_tensor(player))
            assert np.array_equal(mask, state.legal_actions_mask(player))
            values.update(observation.ravel().tolist())
    assert np.isfinite(list(values)).all()
    assert (min(values), max(values)) == (0, 1)
    assert not game.binary_observations or values == {0.0, 1.0}


# -- Symmetries --------------------------------------------------------------------------------------------------------


def test_playing_the_image_of_a_game_gives_the_image_of_every_position(game: Game) -> None:
    for seed in range(2):
        *_, end = random_game(game, seed, None)
        for symmetry in game.symmetries:
            state, image = game.new_initial_state(), game.initial_image(symmetry)
            for action in end.history():
                assert np.array_equal(symmetry.of_policy(state.legal_actions_mask()), image.legal_actions_mask())
                assert state.current_player() == image.current_player()
                for player in (0, 1):
                    expected = symmetry.of_observation(state.observation_tensor(player))
                    assert np.array_equal(expected, image.observation_tensor(player)), symmetry.name
                state.apply_action(action)
                image.apply_action(symmetry.actions[action])
            assert state.outcome() == image.outcome() == end.outcome()
            assert state.score() == image.score()


def test_symmetries_are_different_permutations_and_the_first_is_the_identity(game: Game) -> None:
    symmetries = game.symmetries
    assert len(symmetries) == FACTS[game.name]["num_symmetries"]
    for permuted, size in (
        ("cells", game.grid.num_cells),
        ("actions", game.num_actions),
        ("planes", len(game.observation_planes)),
    ):
        for symmetry in symmetries:
            assert sorted(getattr(symmetry, permuted)) == [*range(size)]
        assert getattr(symmetries[0], permuted).tolist() == [*range(size)]
    assert len({tuple(symmetry.actions) for symmetry in symmetries}) == len(symmetries)
    assert len({symmetry.name for symmetry in symmetries}) == len(symmetries)


def test_images_of_many_observations_and_policies_are_those_of_each(game: Game) -> None:
    state = middle(game)
    observations = np.stack([state.observation_tensor(0), state.observation_tensor(1)])
    policies = np.random.default_rng(0).random((2, 3, game.num_actions))
    for symmetry in game.symmetries:
        images = symmetry.of_observation(observations)
        assert np.array_equal(images[1], symmetry.of_observation(observations[1]))
        image = symmetry.of_policy(policies)
        for action in range(game.num_actions):
            assert image[1, 2, symmetry.actions[action]] == policies[1, 2, action]


# -- Several games at once ---------------------------------------------------------------------------------------------


def test_games_of_different_sizes_and_options_do_not_interfere() -> None:
    games = [load_game(name) for name in (*SAMPLES, "vadus(size=11)", "vadus(size=9)")]
    expected = [[everything_about(state) for state in random_game(game, 7)] for game in games]
    alive = [random_game(game, 7) for game in games]
    for step in range(max(map(len, expected))):
        for about, positions in zip(expected, alive, strict=True):
            if step < len(about):
                assert everything_about(next(positions)) == about[step]
