"""Records of games: they come back as they were, are read strictly, and are replayed by the rules."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from stoneworks.envs.rules import load_game
from stoneworks.evaluation.records import FORFEIT_REASONS, GameRecord, GameRecordError, read_records, write_records
from stoneworks.web.html_replay import Replay, numbers_in

FINISHED = GameRecord(
    game="vadus(size=2)",
    version=load_game("vadus").version,
    players=("greedy", "random"),
    actions=("b2", "a2", "a3", "pass", "pass"),
    winner=1,
    reason="groups",
    seed=3,
    metadata={"pair": 0},
)
UNFINISHED = FINISHED.replace(actions=("b2", "a2"), winner=None, reason=None, seed=None, metadata={})
VALUES = st.none() | st.booleans() | st.integers() | st.text()
RECORDS = st.builds(
    GameRecord,
    game=st.sampled_from(["vadus(size=2)", "taigo"]),
    version=st.integers(100, 10**6),
    players=st.tuples(st.text(), st.text()),
    actions=st.lists(st.text()).map(tuple),
    winner=st.sampled_from([0, 1, None]),
    reason=st.sampled_from(FORFEIT_REASONS),
    seed=st.none() | st.integers(0, 2**64),
    metadata=st.dictionaries(st.text(), VALUES | st.lists(st.floats(allow_nan=False, allow_infinity=False))),
)


@settings(deadline=None)
@given(record=RECORDS)
def test_a_record_is_read_back_from_its_line(record: GameRecord) -> None:
    line = record.to_json()
    assert "\n" not in line
    assert GameRecord.from_json(line) == record


def test_a_record_replays_to_the_last_position() -> None:
    state = FINISHED.replay()
    assert state.is_terminal()
    assert GameRecord.of_state(state, FINISHED.players, FINISHED.seed, FINISHED.metadata) == FINISHED
    unfinished = UNFINISHED.replay()
    assert not unfinished.is_terminal()
    assert GameRecord.of_state(unfinished, UNFINISHED.players) == UNFINISHED


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"game": "chess"}, "game is 'chess': unknown game 'chess'"),
        ({"version": 77}, r"version is 77; vadus\(size=2\) is now of version"),
        ({"actions": ("b2", "zz")}, "action 2, 'zz': .* is not a valid action"),
        ({"actions": ("b2", "b2")}, "action 2, 'b2': .* is illegal"),
        ({"actions": (*FINISHED.actions, "c1")}, "action 6, 'c1': .* the game is over"),
        ({"winner": 0}, r"a win of player 0 \(groups\); the actions lead to a win of player 1 \(groups\)"),
        ({"winner": None}, r"the result is a draw \(groups\)"),
        ({"reason": "no such"}, r"reason must be null or one of groups, .*forfeit: illegal.*, got 'no such'"),
        ({"winner": None, "reason": None}, "an unfinished game; the actions lead to a win of player 1"),
        ({"actions": ("b2",)}, "the actions lead to an unfinished game"),
    ],
)
def test_a_record_that_the_rules_do_not_allow_does_not_replay(change: dict[str, object], complaint: str) -> None:
    record = FINISHED.replace(**change)
    with pytest.raises(GameRecordError, match=complaint):
        record.replay()


def changed_line(**changes: object) -> str:
    fields = json.loads(FINISHED.to_json()) | {"crc32": ...} | changes
    return json.dumps({name: value for name, value in fields.items() if value is not ...})


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("", "is not valid JSON"),
        (changed_line(winner=..., reason=...), "the key winner is missing"),
        (changed_line(version="0"), r"version must be .*got '0'"),
        (changed_line(players=["a"]), "the key players.1 is missing"),
        (changed_line(winner=2), r"winner must be .*got 2"),
        (changed_line(reason=None), "winner must be null .*got 1"),
        (changed_line(seed=-1), "seed must be .*got -1"),
        (changed_line(game="chess"), "game is 'chess': unknown game 'chess'"),
        (changed_line(actions=["b2", "zz"]), "action 2, 'zz': .* is not a valid action"),
        (changed_line(reason="no such"), "reason must be null or one of groups"),
        (json.dumps(json.loads(FINISHED.to_json()) | {"seed": 4}), "was changed after it was written"),
    ],
)
def test_a_bad_line_is_an_error_with_file_line_and_problem(line: str, complaint: str, tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    path.write_text(f"{FINISHED.to_json()}\n{line}\n", encoding="utf-8")
    with pytest.raises(GameRecordError, match=complaint) as error:
        read_records(path)
    assert str(error.value).startswith(f"{path}, line 2")


def test_an_error_of_a_replay_names_file_and_line(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    write_records(path, [FINISHED, FINISHED.replace(actions=("b2", "b2"))])
    first, second = read_records(path)
    assert first.replay().is_terminal()
    with pytest.raises(GameRecordError) as error:
        second.replay()
    assert str(error.value).startswith(f"{path}, line 2: action 2, 'b2': ")
    with pytest.raises(ValueError, match=r"games\.jsonl, line 2: action 2"):
        Replay(path)
    assert first == FINISHED, "where it was read is no part of a game"


def test_an_error_while_writing_leaves_the_file_as_it_was_and_others_are_named(tmp_path: Path) -> None:
    def failing() -> Iterator[GameRecord]:
        yield UNFINISHED
        raise RuntimeError("no more")

    path = tmp_path / "games.jsonl"
    write_records(path, [FINISHED, UNFINISHED])
    with pytest.raises(RuntimeError, match="no more"):
        write_records(path, failing())
    with pytest.raises(GameRecordError, match="JSON"):
        write_records(path, [FINISHED.replace(metadata={"x": object()})])
    assert read_records(path) == [FINISHED, UNFINISHED]
    assert [file.name for file in tmp_path.iterdir()] == ["games.jsonl"]
    write_records(str(path), [])
    assert read_records(path) == []
    with pytest.raises((GameRecordError, OSError), match=r"games\.jsonl"):
        write_records(tmp_path / "no folder" / "games.jsonl", [FINISHED])
    path.write_bytes(FINISHED.to_json().encode() + b"\n\xff\n")
    for file, message in ((path, r"games\.jsonl, line 2: not UTF-8"), (tmp_path / "none.jsonl", "none")):
        with pytest.raises(GameRecordError, match=message):
            read_records(file)


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        *(("3", [3]), ("1,4,7-9", [1, 4, 7, 8, 9]), (" 2 - 3, 1", [2, 3, 1]), ("9-9", [9])),
        *((text, None) for text in ("", "0", "0-2", "10", "8-10", "3-2", "1,", "2-", "-2", "1.5", "a", "\u0661")),
    ],
)
def test_games_are_chosen_by_numbers_and_ranges(text: str, numbers: list[int] | None) -> None:
    if numbers is None:
        with pytest.raises(ValueError, match="games must be numbers from 1 to 9"):
            numbers_in(text, 9)
    else:
        assert numbers_in(text, 9) == numbers
