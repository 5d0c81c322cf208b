"""The table of the games in figures: what is counted, and where it is written."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch")

from stoneworks.envs.rules import Batch, load_game
from tools import game_figures
from tools.game_figures import BEGIN, END, figures, main


def test_figures_of_a_game_that_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """Black places one stone, and both pass: White, without a stone, wins by the hills."""
    game = load_game("laido(pie_rule=False,size=2)")
    passing = game.string_to_action("pass")

    def stone_and_passes(batch: Batch, rows: object, step: int) -> object:
        return [game.string_to_action("b2") if step == 0 else passing] * 3

    actions, turns, choices, tree, draws, first = figures(game, 3, 0, stone_and_passes)
    assert (actions, turns) == ("3", "3")
    assert choices == "7"  # (8 + 7 + 7) / 3
    assert tree == "10^3"  # log10(8 * 7 * 7) = 2.6
    assert draws == "0%"
    assert first == "0%"  # the lone stone is on hill 0, and White has fewer stones there


def test_the_table_is_written_into_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(game_figures, "GAMES", ("vadus(size=2)",))
    page = tmp_path / "games.md"
    page.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n")
    main(page, random_games=4, agent_games=2, sampled_actions=2, seed=0)
    text = page.read_text()
    assert "old" not in text
    assert text.count("| `vadus(size=2)` |") == 2
    assert text.endswith(f"{END}\nafter\n")
