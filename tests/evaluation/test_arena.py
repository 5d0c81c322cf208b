"""The arena: schedules, games that depend on the settings alone, resuming, precision, ladders, and the commands."""

from __future__ import annotations

import json
import multiprocessing
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest

from damage import Damage, damage
from fresh_runs import run_python
from installed_packages import LAST_BOT
from processes import COMMAND, PIPES, Run, interrupt, is_alive, needs_proc, wait_until
from stoneworks.documents import with_checksum
from stoneworks.envs.rules import Game, State, load_game
from stoneworks.evaluation.arena import load_arena, play_arena
from stoneworks.evaluation.folder import ArenaFolderError, player_hashes
from stoneworks.evaluation.ladder import Ladder, LadderError, load_ladder, shipped_ladders
from stoneworks.evaluation.match import MatchResult
from stoneworks.evaluation.player_rating import RateResult, RateSettings, rate
from stoneworks.evaluation.ratings import expected_score
from stoneworks.evaluation.records import FORFEIT_REASONS, read_records, write_records
from stoneworks.evaluation.results import ArenaResult
from stoneworks.evaluation.settings import ArenaSettings, gauntlet, neighbors, round_robin
from stoneworks.evaluation.sprt import Sprt, SprtDecision
from stoneworks.evaluation.workers import ArenaPlayError, play_chunks
from stoneworks.extras import MissingDependencyError
from stoneworks.locks import lock_file
from stoneworks.models import Bot, load_bot
from tools.ladder_tables import tables_of

GAME = "vadus(size=3)"
OF_GAME = ("--game", GAME)


class WeakenedBot(Bot):
    """Plays greedily, but at random with a probability of ``weakness``."""

    def __init__(self, game: Game, seed: int, weakness: float) -> None:
        self._generator = np.random.default_rng(seed)
        self._weakness = weakness
        self._bots = load_bot("greedy", game, seed), load_bot("random", game, seed)

    def step_with_policy(self, state: State) -> tuple[list[tuple[int, float]], int]:
        return self._bots[int(self._generator.random() < self._weakness)].step_with_policy(state)


def settings_of(*pairings: tuple[str, str], num_pairs: int = 12, **options: Any) -> ArenaSettings:
    return ArenaSettings(**{"game": GAME, "pairings": pairings, "num_pairs": num_pairs, **options})


def match(num_pairs: int = 12, **options: Any) -> ArenaSettings:
    return settings_of(("greedy", "random"), num_pairs=num_pairs, **{"chunk_pairs": 4, **options})


@pytest.fixture(scope="module")
def finished_arena(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("arena") / "played"
    play_arena(match(), folder)
    return folder


def contents(folder: Path) -> dict[Path, bytes]:
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_cluster_without_ray_is_an_error_that_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    for name in ("stoneworks.cluster", "stoneworks.evaluation.cluster"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    with pytest.raises(MissingDependencyError, match=r"stoneworks\[cluster\]"):
        play_arena(match(), tmp_path / "arena", cluster="auto")
    assert not (tmp_path / "arena").exists()


def test_schedules_have_the_expected_pairings() -> None:
    assert round_robin("abc") == (("a", "b"), ("a", "c"), ("b", "c"))
    assert gauntlet("b", "abc") == (("b", "a"), ("b", "c"))
    assert neighbors("abcd", 1) == (("a", "b"), ("b", "c"), ("c", "d"))
    assert neighbors("abcd", 2) == (("a", "b"), ("a", "c"), ("b", "c"), ("b", "d"), ("c", "d"))


@pytest.mark.parametrize(
    ("make", "complaint"),
    [
        (lambda: round_robin(["a", "b", "a"]), "duplicate player 'a'"),
        (lambda: gauntlet("x", ["a", "b"]), r"gauntlet must be .*got 'x'"),
        (lambda: match(10**7, chunk_pairs=1), "num_pairs must give at most 1000000 chunks"),
        (lambda: settings_of(("a", "a")), "two different players, got 'a'"),
        (lambda: settings_of(*round_robin("abc"), sprt=Sprt()), "sprt requires a single pairing, got 3"),
    ],
)
def test_invalid_settings_are_errors_with_the_reason(make: Callable[[], object], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        make()


def test_an_arena_plays_pairs_of_games_from_the_same_opening_with_seats_swapped(tmp_path: Path) -> None:
    result = play_arena(match(10), tmp_path / "arena")
    assert (result.finished, result.num_pairs, result.num_games) == (True, 10, 20)
    for number, record in enumerate(result.records):
        assert record.players == (("greedy", "random"), ("random", "greedy"))[number % 2]
        assert record.actions[:3] == result.records[number - number % 2].actions[:3]
        assert record.metadata["pair"] == number // 2
    assert len({record.actions[:3] for record in result.records}) > 5
    other = play_arena(match(10, seed=1), tmp_path / "other")
    assert {record.actions for record in result.records}.isdisjoint(record.actions for record in other.records)


def test_an_interrupted_arena_resumes_with_the_same_games(tmp_path: Path) -> None:
    settings, folder = match(14), tmp_path / "broken"
    whole = play_arena(settings, tmp_path / "whole")
    folder.mkdir()
    (folder / ".arena.json.999.tmp").write_text("{")  # left by a kill while the settings were written
    with pytest.raises(KeyboardInterrupt):
        play_arena(settings, folder, progress=Mock(side_effect=[None, None, KeyboardInterrupt]))
    kept = load_arena(folder)
    assert (kept.num_pairs, kept.finished) == (8, False)
    assert kept.records == whole.records[:16]
    first = sorted((folder / "games").iterdir())[0]
    first.rename(first.with_name(f".{first.name}.1.tmp"))
    assert load_arena(folder).num_pairs == 4
    seen: list[int] = []
    result = play_arena(settings, folder, progress=lambda result: seen.append(result.num_pairs))
    assert seen == [4, 8, 12, 14]
    assert result.records == whole.records
    assert not list(folder.rglob("*.tmp"))
    seen.clear()
    play_arena(settings, folder, progress=lambda result: seen.append(result.num_pairs))
    assert seen == [14], "what is finished is not played again"


def test_a_match_stops_by_its_sequential_test_whatever_the_workers(tmp_path: Path) -> None:
    settings = match(200, sprt=Sprt(elo0=0, elo1=200))
    one, other = (play_arena(settings, tmp_path / str(workers), workers=workers) for workers in (1, 2))
    assert (one.finished, one.decision) == (True, SprtDecision.ACCEPT_1)
    assert (one.log_likelihood_ratio or 0) >= Sprt(elo0=0, elo1=200).upper_bound
    assert one.num_pairs < 200
    assert contents(tmp_path / "1").keys() == contents(tmp_path / "2").keys()
    assert one.records == other.records == load_arena(tmp_path / "2").records
    assert one.to_fields()["sprt"]["decision"] == "elo1 accepted"


def test_another_arena_in_the_folder_is_refused_and_what_cannot_be_read_is_an_error_that_names_the_file(
    finished_arena: Path, tmp_path: Path
) -> None:
    played = Path(shutil.copytree(finished_arena, tmp_path / "played"))
    before = contents(played)
    for settings, difference in (
        (match(8), "num_pairs is 12 in .* and 8 here"),
        (match(seed=1), "seed is 0 in .* and 1 here"),
        (match(sprt=Sprt()), "sprt is None in .* and 'elo0=0,elo1=30,alpha=0.05,beta=0.05' here"),
        (settings_of(("random", "greedy"), chunk_pairs=4), "pairings is"),
    ):
        with pytest.raises(ArenaFolderError, match=difference):
            play_arena(settings, played)
        assert before == contents(played)
    one, other, _ = sorted((played / "games").iterdir())
    records = read_records(one)
    for changed, complaint in (
        (records[:-1], "must contain 8 games, got 7"),
        (records[::-1], "line 1: players must be .* in this arena, got"),
        ([*records[2:4], *records[2:]], "line 1: pair must be 0 in this arena, got 1"),
        ([records[0].replace(winner=None, reason=None), *records[1:]], "line 1: the game must be finished"),
        ([one.replace(metadata={**one.metadata, "score": 0.5}) for one in records], "line 1: score must be [01].0 in"),
        ([one.replace(version=99) for one in records], "line 1: version must be"),
    ):
        write_records(one, changed)
        with pytest.raises(ArenaFolderError, match=complaint):
            load_arena(played)
    one.write_text(other.read_text(encoding="utf-8")[:-20], encoding="utf-8")
    with pytest.raises(ArenaFolderError, match=f"{one.name}, line 8"):
        load_arena(played)
    for content in (b"{", b"{}", (played / "arena.json").read_bytes().replace(b'"random"', b"5")):
        (played / "arena.json").write_bytes(content)
        with pytest.raises(ArenaFolderError, match=r"arena\.json"):
            load_arena(played)


@pytest.mark.needs("torch")
@pytest.mark.parametrize("search", ["", "@2"])
def test_a_checkpoint_after_more_training_is_another_player(search: str, tmp_path: Path) -> None:
    from random_networks import save_network

    agent = tmp_path / "agent"
    settings = ArenaSettings(game=GAME, pairings=((f"{agent}{search}", "random"),), num_pairs=2)
    save_network(agent, GAME, training={"frames": 1})
    result = play_arena(settings, tmp_path / "arena")
    assert play_arena(settings, tmp_path / "arena").records == result.records
    save_network(agent, GAME, training={"frames": 2})
    with pytest.raises(ArenaFolderError, match=r"the players in .* have changed"):
        play_arena(settings, tmp_path / "arena")
    assert load_arena(tmp_path / "arena").records == result.records


def test_another_bot_or_policy_under_the_same_name_is_another_player(tmp_path: Path) -> None:
    settings = ArenaSettings(game=GAME, pairings=(("mine", "random"),), num_pairs=1)
    for _ in range(2):
        play_arena(settings, tmp_path / "arena", {"mine": "mcts:2"})
    with pytest.raises(ArenaFolderError, match=r"the players in .* have changed"):
        play_arena(settings, tmp_path / "arena", {"mine": "mcts:3"})
    file, hashes = tmp_path / "p", []
    for content in (b"one", b"other"):
        file.write_bytes(content)
        hashes.append(player_hashes({f"policy:{file}": f"policy:{file}"}))
        program = f"exec:python3 {file} --log {tmp_path / 'log'}"
        hashes.append(player_hashes({program: program}))
        (tmp_path / "log").write_bytes(content)
        assert player_hashes({program: program}) == hashes[-1], "only its first file counts"
    assert len({str(one) for one in hashes}) == 4
    assert player_hashes({"greedy": "greedy", "mine": print, "exec:cat": "exec:cat"}) == {}


@pytest.mark.needs("torch")
def test_a_player_that_changes_while_it_plays_is_an_error_and_what_it_played_before_is_kept(tmp_path: Path) -> None:
    from random_networks import save_network

    agent = tmp_path / "agent"
    save_network(agent, GAME, training={"frames": 1})

    def train_on(result: ArenaResult) -> None:
        if result.num_games:
            save_network(agent, GAME, training={"frames": 2})

    settings = ArenaSettings(game=GAME, pairings=((str(agent), "random"),), num_pairs=4, chunk_pairs=1)
    for workers in (1, 2):
        save_network(agent, GAME, training={"frames": 1})
        with pytest.raises(ArenaPlayError, match="agent' has changed while it played"):
            play_arena(settings, tmp_path / str(workers), workers=workers, progress=train_on)
        assert load_arena(tmp_path / str(workers)).num_games == 2


@pytest.mark.needs("torch")
def test_workers_use_one_thread_from_their_first_chunk_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from random_networks import save_network

    agent = tmp_path / "agent"
    save_network(agent, GAME)
    code = f"""if True:
        import sys
        from stoneworks.evaluation.settings import ArenaSettings
        from stoneworks.evaluation.workers import play_chunk
        settings = ArenaSettings(game={GAME!r}, pairings=(({str(agent)!r}, "random"),), num_pairs=1)
        assert "torch" not in sys.modules
        play_chunk(settings, {{name: name for name in settings.players}}, settings.chunks[0], in_worker=True)
        print(sys.modules["torch"].get_num_threads())
    """
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    assert run_python(code).strip() == "1"


def test_a_folder_with_other_files_is_an_error_and_is_not_changed(tmp_path: Path) -> None:
    for name in ("thesis.txt", "notes.tmp"):
        file = tmp_path / name / name
        file.parent.mkdir()
        file.touch()
        with pytest.raises(ArenaFolderError, match="must be a new or empty folder"):
            play_arena(match(), file.parent)
        assert list(file.parent.iterdir()) == [file]
        with pytest.raises(ArenaFolderError, match=r"arena\.json is missing"):
            load_arena(file.parent)


def test_failing_players_are_named_with_the_pairing_also_in_workers_whose_end_is_an_error(tmp_path: Path) -> None:
    bot, settings = WeakenedBot(load_game(GAME), 0, weakness=0), settings_of(("mine", "random"), num_pairs=2)
    for answer, complaint in (({"side_effect": ZeroDivisionError("mine")}, "mine"), ({"return_value": ([], -3)}, "-3")):
        bot.step_with_policy = Mock(**answer)  # type: ignore[method-assign]
        with pytest.raises(ArenaPlayError, match=f"'mine' against 'random': .*{complaint}"):
            play_arena(settings, tmp_path / complaint, {"mine": bot})
    settings = settings_of(("nobody", "random"), num_pairs=4)
    with pytest.raises(ArenaPlayError, match="'nobody' against 'random': UnknownBotError"):
        list(play_chunks(settings, {"nobody": "nobody", "random": "random"}, settings.chunks, 2))
    assert not multiprocessing.active_children()
    settings = match(4000, chunk_pairs=40)
    chunks = play_chunks(settings, {"greedy": "greedy", "random": "random"}, settings.chunks, 2)
    next(chunks)
    for process in multiprocessing.active_children():
        process.kill()
    with pytest.raises(ArenaPlayError, match="a worker process of the arena died"):
        list(chunks)
    assert not multiprocessing.active_children()


def test_only_players_that_the_arena_made_are_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made, close = Mock(side_effect=partial(WeakenedBot, weakness=0.5)), Mock()
    monkeypatch.setattr(WeakenedBot, "close", close)
    settings = settings_of(("mine", "random"), num_pairs=6, chunk_pairs=2)
    play_arena(settings, tmp_path / "made", {"mine": made})
    assert close.call_count == made.call_count > 0
    play_arena(settings, tmp_path / "given", {"mine": made(load_game(GAME), 0)})
    assert close.call_count == made.call_count - 1


@pytest.mark.parametrize(
    ("play", "complaint"),
    [
        (lambda folder: play_arena(settings_of(("nobody", "random")), folder), "unknown bot 'nobody'"),
        (lambda folder: play_arena(match(), folder, {"other": "greedy"}), "player 'other' is in no pairing"),
        (lambda folder: play_arena(match(), folder, {"greedy": Mock()}, workers=2), r"workers must be .*got 2"),
    ],
)
def test_arguments_are_checked_first(play: Callable[[Path], object], complaint: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=complaint):
        play(tmp_path / "arena")
    assert not (tmp_path / "arena").exists()


def test_results_agree_with_the_games(finished_arena: Path) -> None:
    result = load_arena(finished_arena)
    fields = json.loads((finished_arena / "results.json").read_text(encoding="utf-8"))
    assert fields == with_checksum(result.to_fields())
    assert ArenaResult.from_file(finished_arena / "results.json").to_fields() == result.to_fields()
    first, second = fields["players"]
    assert (first["name"], second["name"], second["elo"], second["error"]) == ("greedy", "random", 0, 0)
    assert first["points"] + second["points"] == first["games"] == fields["games"] == 24
    assert first["over_next"]["elo"] == pytest.approx(first["elo"])
    (pairing,) = fields["pairings"]
    by_seat = [pairing[f"won_drawn_lost_as_player_{player}"] for player in (0, 1)]
    assert sum(pairing["pentanomial"]) == sum(by_seat[0]) == sum(by_seat[1]) == 12
    won = sum(record.winner is not None and record.players[record.winner] == "greedy" for record in result.records)
    assert by_seat[0][0] + by_seat[1][0] == won

    (played,) = result.matches
    lost = next(record for record in played.records[::2] if record.winner == 0)
    records = tuple(one.replace(reason=FORFEIT_REASONS[0]) if one is lost else one for one in played.records)
    changed = result.replace(pairings=(MatchResult.of_records(played.names, records),))
    assert changed.matches[0].num_forfeits == (0, 1)
    assert changed.pairings_table().caption == "random has forfeited 1 games of greedy against random"
    assert result.pairings_table().caption is None


@pytest.fixture(scope="module")
def ladder(tmp_path_factory: pytest.TempPathFactory) -> Ladder:
    """A ladder of three players."""
    settings = settings_of(*neighbors(["random", "half", "greedy"], 2), num_pairs=60)
    result = play_arena(settings, tmp_path_factory.mktemp("ladder"), {"half": partial(WeakenedBot, weakness=0.5)})
    return Ladder.of_result(result, "stoneworks ladder make ...")


def test_a_player_is_rated_on_a_ladder(ladder: Ladder, tmp_path: Path) -> None:
    assert ladder.ratings.order == ("greedy", "half", "random")
    anchors = {"half": partial(WeakenedBot, weakness=0.5)}

    def rated(weakness: float, folder: str, **settings: Any) -> RateResult:
        player = RateSettings(num_anchors=2, **settings)
        return rate(partial(WeakenedBot, weakness=weakness), ladder, tmp_path / folder, player, anchors=anchors)

    result = rated(0.2, "mine", name="mine", num_pairs=20)
    half, error_of_half = ladder.ratings.rating("half")
    assert half < result.elo < ladder.ratings.rating("greedy")[0] + 100
    assert 0 < result.standard_error < 200
    seat = ladder.ratings.seat_elo
    expected = (expected_score(result.elo - half + seat) + expected_score(result.elo - half - seat)) / 2
    assert result.expected_score("half") == pytest.approx(expected)
    assert str(result.table().columns[0].header) == "anchor"
    games = {match.names[1]: match.num_games for match in result.matches}
    assert games == {"random": 4, "half": 44, "greedy": 44}, "two pairs with each, twenty with the nearest"
    assert len(load_arena(tmp_path / "mine" / "rating").records) == 80
    again = rated(0.2, "mine", name="mine", num_pairs=20)
    assert (again.elo, again.standard_error) == (result.elo, result.standard_error)

    itself = rated(0.5, "itself", name="half", num_pairs=60)
    assert itself.name == "half (rated)"
    assert abs(itself.elo - half) < 3 * np.hypot(itself.standard_error, error_of_half)


@pytest.mark.needs("torch")
def test_a_changed_checkpoint_is_not_an_anchor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = settings_of(("vadus", "random"), ("greedy", "random"), num_pairs=2)
    made = Ladder.of_result(play_arena(settings, tmp_path / "made"), "by hand")
    assert [recorded.name for recorded in made.checkpoints] == ["vadus"]
    made.save(tmp_path / "ladder.json")
    assert load_ladder(GAME, tmp_path / "ladder.json").changed_players() == ()
    changed = made.replace(checkpoints=(made.checkpoints[0].replace(sha256="0" * 64),))
    assert changed.changed_players() == ("vadus",)
    with pytest.raises(ValueError, match=r"anchors must be players of the ladder \(.*\), got nobody"):
        rate("mcts:10", changed, tmp_path / "rated", anchors={"nobody": "random"})
    monkeypatch.setattr(Ladder, "changed_players", lambda ladder: ladder.ratings.names)
    with pytest.raises(LadderError, match=r"ladder of vadus\(size=3\) must be made again, since all of its players"):
        rate("mcts:10", changed, tmp_path / "rated")
    monkeypatch.undo()
    result = rate("mcts:10", changed, tmp_path / "rated", RateSettings(num_pairs=1, scout_pairs=1))
    assert {match.names[1] for match in result.matches} == {"random", "greedy"}
    monkeypatch.setattr("stoneworks.models.bots.spec.find_spec", lambda name: None)
    result = rate("mcts:10", made, tmp_path / "rated without torch", RateSettings(num_pairs=1, scout_pairs=1))
    assert {match.names[1] for match in result.matches} == {"random", "greedy"}


def rename(fields: dict[str, Any]) -> None:
    fields["pairings"][0]["names"][0] = "mcts:308"


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        *((content, "ladder") for content in (b"{", b"{}")),
        (lambda fields: fields.update(covariance=[[0]]), "covariance must be"),
        (lambda fields: fields["players"][0].update(error=99.5), "players.0.error must be .*got 99.5"),
        (lambda fields: fields["covariance_of"].reverse(), "covariance_of.0 must be"),
        (lambda fields: fields["settings"].update(game_version=99), "game_version: must be"),
        (lambda fields: fields["covariance"][0].__setitem__(1, 1e9), "covariance.0.1 must be"),
        (lambda fields: fields["pairings"][0].update(forfeits=[0, 10**6]), "the second of forfeits must be at most"),
        (lambda fields: fields["pairings"][0].update(pentanomial=[1, 2, 3, 4, 5]), "pairs must be 15"),
        (rename, "players must be"),
        (lambda fields: fields.update(checkpoints=[{"name": "x", "sha256": "0" * 64}]), "checkpoints must be players"),
    ],
)
def test_a_ladder_is_loaded_as_saved_and_other_files_are_errors(
    ladder: Ladder, tmp_path: Path, change: Damage, complaint: str
) -> None:
    file = tmp_path / "ladder.json"
    ladder.save(file)
    assert load_ladder(GAME, file).to_fields() == ladder.to_fields()
    with pytest.raises(LadderError, match=r"json must be a ladder of vadus\(size=4\), got one of vadus\(size=3\)"):
        load_ladder("vadus(size=4)", file)
    damage(file, change)
    with pytest.raises(LadderError, match=r"ladder\.json( is not valid JSON| was changed|.*: )"):
        load_ladder(GAME, file)
    if callable(change):
        damage(file, lambda fields: fields.pop("crc32"))
        with pytest.raises(LadderError, match=complaint):
            load_ladder(GAME, file)


def test_shipped_ladders_have_the_usual_anchors_and_match_their_games() -> None:
    with pytest.raises(LadderError, match=r"no ladder for vadus\(size=2\); available:") as error:
        load_ladder("vadus(size=2)")
    for game, shipped in shipped_ladders().items():
        assert game in str(error.value)
        assert shipped.ratings.anchor == "random"
        assert {"random", "greedy"} <= set(shipped.ratings.names)
        assert (shipped.ratings.covariance[shipped.ratings.names.index("random")] == 0).all()
        assert np.linalg.eigvalsh(shipped.ratings.covariance).min() > -1e-6
        assert shipped.made.command.startswith(("stoneworks ladder make", "python -m tools.precise_ladder"))
        assert sum(2 * match.num_pairs for match in shipped.matches) == shipped.num_games


@pytest.fixture
def run(run_command: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """Run the command line in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    return run_command


@pytest.mark.needs("matplotlib")
def test_the_command_arena_plays_and_reports(run: Run, tmp_path: Path) -> None:
    arguments = ["arena", "random", "greedy", "--game", GAME, "--pairs", "12", "--workers", "1", "--picture", "a.png"]
    out = run(*arguments)[1]
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    (folder,) = (tmp_path / "runs" / "arena").iterdir()
    assert folder.relative_to(tmp_path).as_posix() in out
    results = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    for text in ("greedy", "random", f"{results['players'][0]['elo']:.0f}", "24 games", "random = 0"):
        assert text in out
    row = next(line for line in out.splitlines() if "random" in line and "greedy" in line)
    assert [cell.strip() for cell in row.split("│")][3:8] == list(map(str, results["pairings"][0]["pentanomial"]))
    assert run(*arguments)[:2] == (0, out), "the same command finds all played"
    arguments = ["arena", "greedy", "random", *OF_GAME, "--sprt", "elo1=200", "--workers", "1", "--folder", "here"]
    out = run(*arguments)[1]
    assert "SPRT of greedy against random, elo0=0,elo1=200,alpha=0.05,beta=0.05: elo1 accepted" in out
    assert "the games are in here" in out


def test_a_ladder_is_made_shown_and_rated_on_by_one_command_each(run: Run, tmp_path: Path) -> None:
    (tmp_path / "ladders").mkdir()
    file = "ladders/vadus-size-3.json"
    making = ["ladder", "make", GAME, "random", "greedy", "--pairs", "10", "--output", "ladders", "--workers", "1"]
    with lock_file(tmp_path / file):
        assert "vadus-size-3.json is in use by another process" in run(*making)[2]
    assert f"the ladder is {file}" in run(*making, "--neighbors", "2")[1]
    made = load_ladder(GAME, file)
    assert made.made.command == (
        "stoneworks ladder make 'vadus(size=3)' random greedy "
        "--pairs 10 --opening-actions 3 --chunk-pairs 8 --seed 0 --neighbors 2"
    )
    out, table = run("ladder", "show", GAME, "--file", file)[1], tables_of([made])
    elo = f"{made.ratings.rating('greedy')[0]:.0f}"
    assert elo in out
    assert f"| `greedy` | {elo} |" in table
    assert all(made.made.command in text for text in (out, table))
    options = ["--ladder", file, "--pairs", "6", "--workers", "1", "--folder", "rated"]
    out = run("rate", "greedy", *OF_GAME, *options)[1]
    results = json.loads((tmp_path / "rated" / "results.json").read_text(encoding="utf-8"))
    assert f"greedy (rated) is rated {results['elo']:.0f} ± {results['error']:.0f}" in " ".join(out.split())
    assert load_arena(tmp_path / "rated" / "rating").num_games == 2 * 2 * 6
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "results.json").write_text("{}")
    assert (
        "folder must be a new one or that of a rating, got 'other'"
        in run("rate", "greedy", *OF_GAME, *options[:-1], "other")[2]
    )
    assert (tmp_path / "other" / "results.json").read_text() == "{}"
    (tmp_path / "other" / "results.json").rename(tmp_path / "other" / "arena.json")
    assert "got 'other', which has other files" in run("rate", "greedy", *OF_GAME, *options[:-1], "other")[2]
    assert run("ladder", "show", "--file", file)[1] == run("ladder", "show", GAME, "--file", file)[1]
    assert run("ladder", "show")[:2] == (0, "".join(f"{game}\n" for game in shipped_ladders()))


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_keeps_finished_games_and_the_same_command_resumes(run: Run, tmp_path: Path, number: int) -> None:
    sizes, folder = ["--pairs", "2000", "--chunk-pairs", "50", "--workers", "2"], tmp_path / "broken"
    command = ["arena", "random", "greedy", *OF_GAME, *sizes, "--folder", str(folder)]
    process = subprocess.Popen([*COMMAND, *command], **PIPES)
    wait_until(lambda: any((folder / "games").glob("*.jsonl")) or process.poll() is not None)
    code, out, err = run(*command)
    assert (code, out) == (2, "")
    assert "is in use by another process" in err
    out, err = interrupt(process, number)
    assert err.splitlines()[-1] == "stoneworks: interrupted"
    kept = load_arena(folder)
    assert 0 < kept.num_pairs < 2000
    assert "greedy" in out, "the table shows what there is so far"
    assert run(*command)[0] == 0
    whole = play_arena(kept.settings, tmp_path / "whole")
    assert load_arena(folder).records == whole.records


DEAF_PROGRAM = """
import os, sys, time
from pathlib import Path
Path(sys.argv[1], str(os.getpid())).touch()
for line in sys.stdin:
    if line.split()[0] == "go":
        time.sleep(600)
    if line.split()[0] in ("stoneworks", "ready"):
        print(line, end="", flush=True)
"""


@pytest.mark.slow
@needs_proc
@pytest.mark.parametrize(
    ("number", "workers"),  # with one worker, a process that is killed can end nothing
    [(signal.SIGTERM, 1), (signal.SIGTERM, 2), (signal.SIGKILL, 2)],
)
def test_programs_end_with_the_arena(tmp_path: Path, number: signal.Signals, workers: int) -> None:
    script, started = tmp_path / "program.py", tmp_path / "started"
    script.write_text(DEAF_PROGRAM, encoding="utf-8")
    started.mkdir()
    bot = "exec:seconds=600," + shlex.join([sys.executable, str(script), str(started)])
    options = ["--pairs", "8", "--workers", str(workers), "--folder", str(tmp_path / "arena"), "--chunk-pairs", "1"]
    process = subprocess.Popen([*COMMAND, "arena", "random", bot, *OF_GAME, *options], **PIPES)
    wait_until(lambda: len(list(started.iterdir())) == workers or process.poll() is not None)
    assert process.poll() is None
    process.send_signal(number)
    assert "Traceback" not in process.communicate(timeout=600)[1]
    assert wait_until(lambda: not any(is_alive(int(file.name)) for file in started.iterdir()))


REGISTERED_AT_THE_TOP = f"""{LAST_BOT}
import sys
import stoneworks
from stoneworks.envs.games.vadus.rules import Vadus
from stoneworks.evaluation.arena import play_arena
from stoneworks.evaluation.settings import ArenaSettings

class Own(Vadus):
    name = "own"

stoneworks.register_bot("last", LastBot)
stoneworks.register_game("own", GAME)
if __name__ == "__main__":
    settings = ArenaSettings(game="own(size=2)", pairings=(("random", "last"),), num_pairs=2, chunk_pairs=1)
    print(play_arena(settings, "arena", workers=2).num_games)
"""


@pytest.mark.parametrize("game", ["Own", "sys.modules[__name__]"])
def test_what_a_program_registers_at_its_top_is_known_to_its_workers(game: str, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(REGISTERED_AT_THE_TOP.replace("GAME", game), encoding="utf-8")
    command = [sys.executable, "program.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=600, check=False)
    assert (done.returncode, done.stdout) == (0, "4\n"), done.stderr
