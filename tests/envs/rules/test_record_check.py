"""Records from outside: every position passes the check; everything else is refused, or every kernel is safe on it."""

from __future__ import annotations

import copy
import pickle
from collections import deque
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from damage import with_flipped_bits
from game_play import played, random_game
from stoneworks.envs.rules import Batch, Game, PositionError, State, load_game, register_game

NUM_FLIPS = 500


def positions_of_games(game: Game, num_games: int, seed: int) -> npt.NDArray[np.void]:
    """Return all records of random games, from the first to the last."""
    batch = Batch(game, num_games, seed=seed)
    found = [batch.states.copy()]
    while (batch.current_players >= 0).any():
        batch.step(batch.random_actions())
        found.append(batch.states.copy())
    return np.concatenate(found)


def is_refused(game: Game, record: npt.NDArray[np.void]) -> bool:
    try:
        game.check_records(record)
    except PositionError:
        return True
    return False


def test_every_position_of_random_games_passes(game: Game) -> None:
    game.check_records(positions_of_games(game, 40, 1))
    for weight in (0.0, 0.1, 0.6):
        records = [state.record for state in random_game(game, 7, weight)]
        game.check_records(np.array(records, game.state_dtype))


def test_a_record_with_flipped_bits_is_refused_or_plays_on_as_any_position(game: Game) -> None:
    random = np.random.default_rng(3)
    records, num_refused = positions_of_games(game, 10, 2), 0
    for _ in range(NUM_FLIPS):
        record = with_flipped_bits(records, random)
        if is_refused(game, record):
            num_refused += 1
            with pytest.raises(PositionError):
                Batch(game, 1).load([0], record)
            continue
        batch = Batch(game, 1, seed=5)
        batch.load([0], record)
        num_played = 0
        while batch.current_players[0] >= 0:
            assert batch.action_masks.any()
            batch.step(batch.random_actions())
            game.check_records(batch.states)
            num_played += 1
        assert num_played <= game.max_game_length()
        State.from_record(game, record[0]).score()
        str(State.from_record(game, record[0]))
    assert num_refused > NUM_FLIPS / 2


def test_every_field_is_checked_and_named(game: Game) -> None:
    records = positions_of_games(game, 5, 6)
    for field in game.state_dtype.names:
        record = records[len(records) // 2].reshape(1).copy()
        record[field] = -7 if field == "turns" else 99
        with pytest.raises(
            PositionError, match="another game" if field == "game_tag" else "record 0 is not a valid position"
        ):
            game.check_records(record)
    first_and_last = records[[0, -1]]
    for number, field, value in ((0, "current_player", 2), (1, "ending", 99), (1, "winner", 2)):
        changed = first_and_last.copy()
        changed[field][number] = value
        with pytest.raises(PositionError, match=f"record {number} is not a valid position: field {field} = {value}"):
            game.check_records(changed)


@pytest.mark.parametrize(
    ("game_string", "field", "value"),
    [
        ("taigo(radius=3,tiles=5)", "tiles_left", 5),  # the first tile lies on the board
        ("taigo(radius=3,tiles=5)", "five", 2),
        ("taugo(size=3)", "strings", 25),
        ("taugo(size=3)", "consecutive_passes", 3),
        ("vadus(size=2)", "consecutive_passes", 3),
        ("laido(size=3)", "second_stone", 1),
    ],
)
def test_a_field_is_refused_just_beyond_its_range(game_string: str, field: str, value: int) -> None:
    game = load_game(game_string)
    record = [state.record for state in random_game(game, 1)][1].reshape(1).copy()
    changed = record[field] if record[field].ndim == 1 else record[field][0]
    changed[changed.argmin()] = value
    with pytest.raises(PositionError, match=f"field {field}"):
        game.check_records(record)


def test_five_in_a_row_and_the_direction_of_a_line_follow_from_the_stones() -> None:
    game = load_game("taigo(radius=4)")
    record = game.new_initial_state().record.reshape(1).copy()
    record["five"][0, 0] = 1
    with pytest.raises(PositionError, match="field five"):
        game.check_records(record)
    ends = (deque(random_game(game, seed), maxlen=1)[0] for seed in range(99))
    record = next(state.record for state in ends if state.outcome().winner is not None).reshape(1).copy()
    game.check_records(record)
    record["five"] = 0
    with pytest.raises(PositionError, match="field winner"):
        game.check_records(record)
    record = load_game("taugo(size=3)").new_initial_state().record.reshape(1).copy()
    record["direction"] = 1
    with pytest.raises(PositionError, match="field direction = 1"):
        load_game("taugo(size=3)").check_records(record)


def test_a_row_of_taugo_may_be_full_of_stones_of_one_color() -> None:
    state = played("taugo(size=3)", "b4 c3 d4 c4 d3 d2 end b2 c2 b3 Ee3 end Wa3")
    state.game.check_records(state.record.reshape(1))


def test_trugo_lacks_no_tile_while_some_are_in_the_pool() -> None:
    game = load_game("trugo(max_turns=40,radius=2,tiles=7)")
    record = next(state.record for state in random_game(game, 1) if state.record["pool"] == 3).reshape(1).copy()
    game.check_records(record)
    record["pool"] = 2
    with pytest.raises(PositionError, match="field pool = 2"):
        game.check_records(record)


def test_trugo_has_no_more_pieces_than_its_option_allows() -> None:
    five, none = (load_game(f"trugo(pieces={number},radius=2,tiles=7)") for number in (5, 0))
    record = next(state.record for state in random_game(five, 1) if state.record["num_pieces"].all()).reshape(1).copy()
    five.check_records(record)
    record["game_tag"], record["reserve"] = none.record_tag, 0
    with pytest.raises(PositionError, match="field reserve"):
        none.check_records(record)


def test_trugo_has_a_turn_for_each_tile_that_was_placed_or_removed() -> None:
    game = load_game("trugo(max_turns=40,radius=2,tiles=7)")
    records = [state.record.reshape(1) for state in random_game(game, 1) if not state.is_terminal()]
    (placed, *_), (removed, *_) = (
        [one for one in records if (one["pool"][0] == 0) == all_placed] for all_placed in (0, 1)
    )
    for record in (placed, removed):
        num_tiles = int(np.count_nonzero(record["contents"] & 3))
        minimum = num_tiles if record["pool"][0] else 2 * 7 - num_tiles
        record["turns"] = minimum
        game.check_records(record)
        record["turns"] = minimum - 1
        with pytest.raises(PositionError, match="field turns"):
            game.check_records(record)


@pytest.mark.parametrize(
    ("of", "given_to"),
    [
        ("vadus(size=3)", "laido(size=3)"),
        ("laido(size=3)", "vadus(size=3)"),
        ("vadus(size=3)", "vadus(size=4)"),
        ("laido(size=3)", "laido(pie_rule=False,size=3)"),
        ("taigo(radius=3)", "taigo(radius=3,tiles=30)"),
        ("trugo(radius=3,tiles=12)", "trugo(radius=3,stacking=False,tiles=12)"),
    ],
)
def test_a_position_of_another_game_or_other_options_is_refused(of: str, given_to: str) -> None:
    record = load_game(of).new_initial_state().record
    other = load_game(given_to)
    with pytest.raises(PositionError, match="another game"):
        State.from_record(other, record)
    batch = Batch(other, 2)
    before = batch.states.tobytes()
    with pytest.raises(PositionError, match="another game"):
        batch.load([0], record)
    assert batch.states.tobytes() == before


def test_a_damaged_pickle_of_a_state_is_refused() -> None:
    game = load_game("taugo(size=3)")
    state = [state.clone() for state in random_game(game, 1)][5]
    content = bytearray(pickle.dumps(state))
    start = content.find(state.record.tobytes())
    content[start + game.state_dtype.fields["rows"][1] + 9] ^= 1  # type: ignore[index]
    with pytest.raises(PositionError, match="rows"):
        pickle.loads(bytes(content))


class OtherVadus(type(load_game("vadus"))):  # type: ignore[misc]
    """Vadus under the name of another game."""

    name = "other_vadus"


def test_records_of_another_packages_game_are_checked_by_its_fields_and_without_fields_must_be_trusted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    register_game("other_vadus", OtherVadus)
    game = load_game("other_vadus(size=3)")
    record = game.new_initial_state().record
    assert State.from_record(game, record) == game.new_initial_state()
    record["swapped"] = 1
    with pytest.raises(PositionError, match="field swapped = 1"):
        State.from_record(game, record)
    monkeypatch.setattr(game, "state_fields", ())
    record, batch = game.new_initial_state().record, Batch(game, 2)
    for use in (lambda: State.from_record(game, record), lambda: batch.load([0], record)):
        with pytest.raises(PositionError, match="trusted=True"):
            use()
    batch.load([0], record, trusted=True)
    assert State.from_record(game, record, trusted=True) == game.new_initial_state() == batch.state(0)
    assert copy.deepcopy(batch.state(1)) == batch.state(1)


def test_several_records_are_not_one_record() -> None:
    game = load_game("vadus(size=2)")
    one: Any = np.array([game.new_initial_state().record])
    assert State.from_record(game, one) == game.new_initial_state()
    for number in (0, 2):
        with pytest.raises(PositionError, match=rf"expected a single record, got an array of shape \({number},\)"):
            State.from_record(game, np.repeat(one, number))
    for wrong in (one[0], one.reshape(1, 1)):
        with pytest.raises(PositionError, match="different dtype or shape"):
            game.check_records(wrong)
