"""Every game against the common test data: counts of action sequences, and whole games."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from stoneworks.envs.rules import Game, State, game_names, load_game

#: Depths whose positions would be more than this are left out: the kernels need about a second for it.
MOST_SEQUENCES = 12_000_000
#: The same for the counts that are made in Python, one action at a time.
MOST_SEQUENCES_IN_PYTHON = 3_000


def divide(state: State, depth: int) -> str:
    """Return the number of sequences that begin with each action, one a line."""
    counts = {state.action_to_string(action): state.child(action).perft(depth - 1) for action in state.legal_actions()}
    return "\n".join(f"  {text:8} {count}" for text, count in counts.items())


def count_in_python(state: State, depth: int) -> int:
    if depth == 1:
        return len(state.legal_actions())
    return sum(count_in_python(state.child(action), depth - 1) for action in state.legal_actions())


def count_by_naive(start: Callable[[], Any], texts: list[str], depth: int) -> int:
    position = start()
    for text in texts:
        position.play(text)
    if depth == 1:
        return len(position.legal_texts())
    return sum(count_by_naive(start, [*texts, text], depth - 1) for text in position.legal_texts())


def test_every_game_has_test_data(perft_games: set[str], record_games: set[str]) -> None:
    assert perft_games == set(game_names())
    assert record_games == set(game_names())


def test_the_number_of_sequences_is_that_of_the_test_data(perft_line: dict[str, Any]) -> None:
    game = load_game(perft_line["game"])
    for depth, expected in enumerate(perft_line["nodes"], start=1):
        if expected <= MOST_SEQUENCES:
            counted = game.perft(depth)
            assert counted == expected, f"{game} at depth {depth}\n{divide(game.new_initial_state(), depth)}"


def test_sequences_counted_through_states_agree_with_the_test_data(perft_line: dict[str, Any]) -> None:
    game = load_game(perft_line["game"])
    for depth, expected in enumerate(perft_line["nodes"], start=1):
        if expected <= MOST_SEQUENCES_IN_PYTHON:
            assert count_in_python(game.new_initial_state(), depth) == expected


def test_sequences_counted_by_the_naive_implementation_agree_with_the_test_data(
    perft_line: dict[str, Any], naive_state: Callable[[Game], Any]
) -> None:
    game = load_game(perft_line["game"])
    for depth, expected in enumerate(perft_line["nodes"], start=1):
        if expected <= MOST_SEQUENCES_IN_PYTHON:
            assert count_by_naive(lambda: naive_state(game), [], depth) == expected


def test_the_divide_adds_up_and_no_depth_is_one_empty_sequence() -> None:
    state = load_game(f"{game_names()[0]}").new_initial_state()
    assert sum(int(line.split()[1]) for line in divide(state, 2).splitlines()) == state.perft(2)
    assert state.perft(0) == 1
    with pytest.raises(ValueError, match=r"depth must be .* >= 0, got -1"):
        state.perft(-1)


def test_a_game_that_is_over_has_no_sequences(play: Callable[..., State]) -> None:
    state = play("vadus(size=2)", "b2 pass pass")
    assert state.is_terminal()
    assert state.perft(1) == 0
    assert state.perft(3) == 0


def test_a_recorded_game_is_legal_and_ends_as_recorded(game_record: dict[str, Any]) -> None:
    game = load_game(game_record["game"])
    state = game.new_initial_state()
    for text, to_act, legal_count in zip(
        game_record["actions"], game_record["to_act"], game_record["legal_counts"], strict=True
    ):
        assert not state.is_terminal()
        assert state.outcome() is None
        assert state.current_player() == to_act
        assert len(state.legal_actions()) == legal_count
        action = state.string_to_action(text)
        assert state.action_to_string(action) == text
        assert action in state.legal_actions()
        state.apply_action(action)
    outcome = state.outcome()
    assert outcome is not None
    assert state.is_terminal()
    result = "truncated" if state.is_truncated() else "draw" if outcome.winner is None else outcome.winner
    assert result == game_record["result"]
    assert [*(state.score() or ())] == game_record["score"]
    assert game.deserialize_state("\n".join(game_record["actions"])) == state


def test_a_recorded_game_is_the_same_to_the_naive_implementation(
    game_record: dict[str, Any], naive_state: Callable[[Game], Any]
) -> None:
    position = naive_state(load_game(game_record["game"]))
    for text, to_act, legal_count in zip(
        game_record["actions"], game_record["to_act"], game_record["legal_counts"], strict=True
    ):
        legal = position.legal_texts()
        assert (position.to_act, len(legal)) == (to_act, legal_count)
        assert text in legal
        position.play(text)
    assert position.to_act is None
    assert position.result == game_record["result"]
    assert [*(position.score() or ())] == game_record["score"]
