"""What self-play found, and the games in figures: they are those of the games, and the pages and pictures show them."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

from stoneworks.envs.drawing import draw
from stoneworks.envs.rules import load_game
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
