"""Arenas with further rounds of games between adjacent players, until the errors of their rating differences are small enough."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from processes import Run
from stoneworks.evaluation import ArenaResult, ArenaSettings, Sprt, load_arena, load_ladder, neighbors, play_arena
from stoneworks.evaluation.arena import play_to_precision, uncertain_pairings

GAME = "vadus(size=2)"
PLAYERS = ("random", "mcts:2", "mcts:8", "greedy")
SETTINGS = ArenaSettings(game=GAME, pairings=neighbors(PLAYERS, 2), num_pairs=10, chunk_pairs=5)


@pytest.fixture(scope="module")
def precise(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of games that were played until all errors were small enough."""
    folder = tmp_path_factory.mktemp("precise") / "arena"
    play_to_precision(SETTINGS, folder, max_error=45)
    return folder


def errors(result: ArenaResult) -> list[float]:
    """The standard errors of the differences of adjacent players."""
    return [result.ratings.difference(above, below)[1] for above, below in pairwise(result.ratings.order)]


def games(result: ArenaResult) -> dict[tuple[str, str], list[tuple[str, ...]]]:
    return {match.names: [record.actions for record in match.records] for match in result.matches}


def test_rounds_are_played_until_all_errors_are_small_enough(precise: Path) -> None:
    first = load_arena(precise)
    assert max(errors(first)) > 45
    result = play_to_precision(SETTINGS, precise, max_error=45)
    assert max(errors(result)) <= 45
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


def test_pairings_keep_their_order_of_names(tmp_path: Path) -> None:
    settings = ArenaSettings(game=GAME, pairings=(("random", "greedy"), ("mcts:8", "random")), num_pairs=10)
    result = play_arena(settings, tmp_path)
    strongest, middle, weakest = result.ratings.order
    assert weakest == "random"
    last = ("random", "greedy") if middle == "greedy" else ("mcts:8", "random")
    assert uncertain_pairings(result, 1) == ((strongest, middle), last)
    assert uncertain_pairings(result, 1000) == ()


def test_the_number_of_rounds_is_limited(tmp_path: Path) -> None:
    result = play_to_precision(SETTINGS, tmp_path, max_error=1, max_rounds=2)
    assert sorted(path.name for path in tmp_path.glob("round-*")) == ["round-01", "round-02"]
    assert min(errors(result)) > 1
    assert play_to_precision(SETTINGS, tmp_path, max_error=1, max_rounds=0).num_pairs == len(SETTINGS.pairings) * 10


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


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ({"max_error": 0}, "max_error must be .* got 0"),
        ({"max_error": float("nan")}, "max_error must be .* got nan"),
        ({"max_error": 40, "max_rounds": -1}, "max_rounds must be an integer >= 0, got -1"),
        ({"max_error": 40, "settings": SETTINGS.replace(pairings=(PLAYERS[:2],), sprt=Sprt())}, "sprt must be None"),
        ({"max_error": 40, "players": {"nobody": "random"}}, "'nobody'"),
    ],
)
def test_invalid_arguments_write_nothing(tmp_path: Path, arguments: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        play_to_precision(**{"settings": SETTINGS, "folder": tmp_path / "new", **arguments})
    assert not (tmp_path / "new").exists()


def test_a_ladder_can_be_made_to_a_precision(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run_command: Run) -> None:
    monkeypatch.chdir(tmp_path)
    making = ["ladder", "make", GAME, *PLAYERS, "--pairs", "10", "--output", ".", "--workers", "1"]
    assert run_command(*making, "--max-error", "45")[0] == 0
    ladder = load_ladder(GAME, "vadus-size-2.json")
    assert ladder.made.command.endswith(" --max-error 45.0 --max-rounds 10")
    assert all(player.over_next and player.over_next.standard_error <= 45 for player in ladder.players[:-1])
    assert sum(pairing.pairs for pairing in ladder.pairings) * 2 == ladder.games > 2 * 10 * 6
