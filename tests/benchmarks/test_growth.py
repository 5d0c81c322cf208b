"""How cost grows is measured, drawn and written."""

from __future__ import annotations

import json

from benchmarks.speed.growth import SIZES, app, draw_growth, measure_growth, save_growth
from stoneworks.envs.rules import game_names, load_game


def test_every_game_has_several_sizes_from_small_to_large():
    assert set(SIZES) <= set(game_names())
    for name, game_strings in SIZES.items():
        games = [load_game(game_string) for game_string in game_strings]
        assert {game.name for game in games} == {name}
        cells = [game.grid.num_cells for game in games]
        assert len(cells) >= 4
        assert cells == sorted(set(cells))


def test_costs_are_measured_drawn_and_written(tmp_path):
    told = []
    sizes = {"vadus": ("vadus(size=2)", "vadus(size=3)")}
    results = measure_growth(sizes, rounds=1, seconds=0.01, progress=told.append)
    assert told == list(sizes["vadus"])
    assert [result.num_cells for result in results] == [9, 25]
    for result in results:
        assert min(result.step_ns, result.playout_ns, result.simulation_us) > 0
        assert result.state_bytes == load_game(result.game_string).state_dtype.itemsize
    save_growth(results, tmp_path / "growth.json")
    sizes_written = json.loads((tmp_path / "growth.json").read_text())["sizes"]
    assert [size["game_string"] for size in sizes_written] == list(sizes["vadus"])
    for name in ("growth.svg", "growth.png"):
        draw_growth(results, tmp_path / name)
        assert (tmp_path / name).stat().st_size > 1000


def test_another_format_is_refused_before_anything_is_measured(tmp_path, run_command):
    code, _, err = run_command(str(tmp_path / "growth.txt"), app=app)
    assert code == 2
    assert "growth.txt" in err
