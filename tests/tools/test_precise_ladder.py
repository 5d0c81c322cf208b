"""Ladders to a precision: rounds of games between uncertain neighbors, resumed with the same games."""

from __future__ import annotations

import contextlib
from itertools import pairwise
from pathlib import Path
from unittest.mock import Mock

import pytest

from stoneworks.evaluation.arena import load_arena
from stoneworks.evaluation.ladder import CheckpointHash, Ladder
from stoneworks.evaluation.results import ArenaResult
from stoneworks.evaluation.settings import ArenaSettings, neighbors
from tools.precise_ladder import main, pairings_to_play, play_to_precision, uncertain_pairings, unchanged_matches

SMALL = "vadus(size=2)"
PLAYERS = ("random", "mcts:2", "mcts:8", "greedy")
SETTINGS = ArenaSettings(game=SMALL, pairings=neighbors(PLAYERS, 2), num_pairs=10, chunk_pairs=5)


@pytest.fixture(scope="module")
def precise(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of games that were played until all errors were small enough."""
    folder = tmp_path_factory.mktemp("precise") / "arena"
    play_to_precision(SETTINGS, folder, max_error=45)
    return folder


def errors(result: ArenaResult) -> list[float]:
    return [result.ratings.difference(above, below)[1] for above, below in pairwise(result.ratings.order)]


def games(result: ArenaResult) -> dict[tuple[str, str], list[tuple[str, ...]]]:
    return {match.names: [record.actions for record in match.records] for match in result.matches}


def test_rounds_are_played_until_all_errors_are_small_enough(precise: Path) -> None:
    first = load_arena(precise)
    assert max(errors(first)) > 45
    result = play_to_precision(SETTINGS, precise, max_error=45)
    assert max(errors(result)) <= 45
    assert result.finished
    rounds = sorted(precise.glob("round-*"))
    assert result.num_pairs == first.num_pairs + sum(load_arena(path).num_pairs for path in rounds)
    before, after = games(first), games(result)
    assert all(after[names][: len(played)] == played for names, played in before.items())
    for names in load_arena(rounds[0]).settings.pairings:
        above, below = sorted(names, key=first.ratings.order.index)
        assert first.ratings.order.index(below) == first.ratings.order.index(above) + 1
        assert first.ratings.difference(above, below)[1] > 45
    openings = {actions[:3] for played in after.values() for actions in played}
    assert len(openings) > len({actions[:3] for played in before.values() for actions in played})
    assert games(play_to_precision(SETTINGS, precise, max_error=1000)) == before, "the rounds are not needed"
    assert uncertain_pairings(first, 1000) == ()


def test_only_players_that_are_new_or_have_changed_play(precise: Path, tmp_path: Path) -> None:
    ladder = Ladder.of_result(load_arena(precise), "by hand")
    ladder = ladder.replace(checkpoints=(CheckpointHash(name="greedy", sha256="0" * 64),))
    kept = unchanged_matches(ladder, PLAYERS)
    assert {match.names for match in kept} == {("random", "mcts:2"), ("random", "mcts:8"), ("mcts:2", "mcts:8")}
    assert unchanged_matches(ladder, PLAYERS[:2]) == kept[:1]
    pairings = pairings_to_play(SETTINGS.pairings, kept)
    assert pairings == tuple(names for names in SETTINGS.pairings if "greedy" in names)
    result = play_to_precision(SETTINGS.replace(pairings=pairings), tmp_path, kept=kept, max_error=45, max_rounds=1)
    assert all("greedy" in names for names in load_arena(tmp_path / "round-01").settings.pairings)
    assert [match for match in result.matches if match in kept] == list(kept)
    assert set(result.ratings.names) == set(PLAYERS)
    assert set(result.settings.pairings) == set(SETTINGS.pairings)


def test_without_new_players_or_a_folder_nothing_is_played(precise: Path, tmp_path: Path) -> None:
    Ladder.of_result(load_arena(precise), "by hand").save(tmp_path / "vadus-size-2.json")
    for keep, output, message in (
        (True, tmp_path, "no player is new in .*vadus-size-2.json, and no checkpoint has changed"),
        (False, tmp_path / "nowhere", "output must be an existing folder, got '.*nowhere'"),
    ):
        with contextlib.chdir(tmp_path), pytest.raises(ValueError, match=message):
            main(SMALL, [*PLAYERS], keep=keep, output=output, num_neighbors=2)
    assert [file.name for file in tmp_path.iterdir()] == ["vadus-size-2.json"]


def test_an_interrupted_call_continues_with_the_same_games(tmp_path: Path, precise: Path) -> None:
    whole = play_to_precision(SETTINGS, precise, max_error=45)
    num_chunks = len(SETTINGS.chunks)
    for call in (3, num_chunks - 1, 3):  # in the arena, after its last chunk, and after the first chunk of round 1
        progress = Mock(side_effect=[None] * (call - 1) + [KeyboardInterrupt])
        with pytest.raises(KeyboardInterrupt):
            play_to_precision(SETTINGS, tmp_path / "resumed", max_error=45, progress=progress)
    assert len(load_arena(tmp_path / "resumed" / "round-01").records) == 10
    resumed = play_to_precision(SETTINGS, tmp_path / "resumed", max_error=45)
    assert games(resumed) == games(whole)
    assert resumed.ratings.elo.tolist() == whole.ratings.elo.tolist()
