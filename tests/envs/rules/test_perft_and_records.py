"""Every game against the common test data: counts of action sequences, and whole games."""

from __future__ import annotations

from typing import Any

import pytest

from game_play import played, read_test_data
from side_by_side import Both
from stoneworks.envs.rules import game_names, load_game

PERFT, RECORDS = read_test_data("perft.jsonl"), read_test_data("records.jsonl")
#: Depths whose positions would be more than this are left out: the kernels need about a second for it.
MOST_SEQUENCES = 12_000_000


@pytest.mark.parametrize("stored", [PERFT, RECORDS])
def test_every_game_has_test_data_and_its_game_strings_are_what_str_gives(stored: list[dict[str, Any]]) -> None:
    assert {line["game"].split("(")[0] for line in stored} == set(game_names())
    for line in stored:
        assert str(load_game(line["game"])) == line["game"] or line["game"].endswith("()")  # every default


@pytest.mark.parametrize("line", PERFT, ids=lambda line: line["game"])
def test_the_number_of_sequences_is_that_of_the_test_data(line: dict[str, Any]) -> None:
    game = load_game(line["game"])
    for depth, expected in enumerate(line["nodes"], start=1):
        if expected <= MOST_SEQUENCES:
            assert game.perft(depth) == expected, f"{game} at depth {depth}"


def test_no_depth_is_one_empty_sequence_and_a_game_that_is_over_has_no_other() -> None:
    state = played("vadus(size=2)", "b2 pass pass")
    assert [state.perft(depth) for depth in (0, 1, 3)] == [1, 0, 0]


@pytest.mark.once
@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record["game"])
def test_a_recorded_game_is_legal_and_ends_as_recorded_in_both_implementations(record: dict[str, Any]) -> None:
    game = load_game(record["game"])
    both = Both(game.new_initial_state())
    for text, to_act, legal_count in zip(record["actions"], record["to_act"], record["legal_counts"], strict=True):
        texts = both.assert_same(with_score=False)
        assert (both.state.current_player(), len(texts)) == (to_act, legal_count)
        assert text in texts
        both.play(text)
    assert both.assert_same() == set()
    assert both.naive.result == record["result"]
    assert [*(both.state.score() or ())] == record["score"]
    assert game.deserialize_state("\n".join(record["actions"])) == both.state
