"""What self-play found, and the games in figures: they are those of the games, and the pages and pictures show them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

from stoneworks.envs.drawing import draw
from stoneworks.envs.rules import load_game
from tools import findings as module, game_figures
from tools.findings import opening_heat, play_and_summarize, section

SMALL = ("vadus(size=3)", "laido(size=3)", "taugo(size=4)", "taigo(radius=4,tiles=10)")


@pytest.mark.parametrize("name", [*SMALL, "trugo(tiles=6,radius=4,max_turns=20)"])
def test_figures_add_up_and_the_opening_can_be_drawn(name: str) -> None:
    game, agent = load_game(name), name.partition("(")[0]
    found = play_and_summarize(agent, game, num_games=5, simulations=2, sampled_actions=4, seed=0)
    assert sum(found.reasons.values()) == found.num_games == len(found.lengths) == 5
    assert set(found.reasons) <= set(game.reasons)
    assert 0 <= found.first_player_wins + found.draws <= 5
    assert 1 < found.num_distinct_games <= 5
    assert found.opening.sum() == pytest.approx(1, abs=1e-4)
    assert (found.swaps is None) == ("swap" not in game.global_actions)
    assert "<svg" in str(draw(game.new_initial_state(), fill=opening_heat(found)).svg)
    text = section(found, "images/x.svg")
    assert f"5 games of `{agent}@2` against itself on `{game}`" in text
    assert game.action_to_string(int(found.opening.argmax())) in text


def test_the_pages_get_the_section_and_the_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "images").mkdir()
    page = tmp_path / "vadus.md"
    page.write_text("no section\n")
    with pytest.raises(ValueError, match="must have the lines"):
        module.main("vadus", docs=tmp_path)
    page.write_text(f"before\n{module.BEGIN}\nold\n{module.END}\nafter\n")
    monkeypatch.setattr(module, "load_game", lambda name: load_game(f"{name}(size=2)"))
    play_and_summarize = module.play_and_summarize

    def change_and_find_out(*arguments: Any, **settings: Any) -> module.Findings:
        page.write_text(page.read_text().replace("after", "changed"))
        return play_and_summarize(*arguments, **settings)

    monkeypatch.setattr(module, "play_and_summarize", change_and_find_out)
    module.main("vadus", docs=tmp_path, games=3, simulations=2, sampled_actions=2, seed=0)
    text = page.read_text()
    assert re.fullmatch(rf"before\n{module.BEGIN}\n(?s:.*)The first player scored(?s:.*){module.END}\nchanged\n", text)
    assert "old" not in text
    assert (tmp_path / "images" / "vadus-opening.svg").read_text().startswith("<")
    monkeypatch.setattr(game_figures, "GAMES", ("vadus(size=2)",))
    page = tmp_path / "games.md"
    page.write_text(f"before\n{game_figures.BEGIN}\nold\n{game_figures.END}\nafter\n")
    game_figures.main(page, random_games=4, agent_games=2, sampled_actions=2, seed=0)
    text = page.read_text()
    assert "old" not in text
    assert text.count("| `vadus(size=2)` |") == 2
    assert text.endswith(f"{game_figures.END}\nafter\n")
