"""What games say of themselves: the turn, what is left, why an action is illegal, and why a game ended."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from game_play import played, random_game
from side_by_side import Both, random_game_of_both
from stoneworks.envs.drawing import draw
from stoneworks.envs.rules import Explanation, game_names, load_game, register_game

pytestmark = pytest.mark.once

RULING = re.compile(r"([VLTGR]\d+(?:\(\d\))?): ")

GAMES = (
    "vadus(size=2)",
    "vadus(size=3)",
    "laido(size=3)",
    "laido(pie_rule=False,size=2)",
    "taugo(size=3)",
    "taugo(size=5)",
    "taigo(cones=1,radius=2)",
    "taigo(cones=0,radius=2,tiles=6)",
    "taigo(radius=3)",
    "trugo(radius=2,tiles=9)",
    "trugo(radius=2,stacking=False,tiles=9)",
    "trugo(max_turns=12,pieces=2,radius=2,tiles=7)",
)


@pytest.mark.parametrize("game_string", GAMES)
def test_illegal_actions_and_no_others_break_a_ruling(game_string: str) -> None:
    game = load_game(game_string)
    rulings: Counter[str] = Counter()
    for seed in range(6):
        for both in random_game_of_both(game, seed, (None, 0.05, 0.3)[seed % 3]):
            legal = both.naive.legal_texts()
            for action, text in enumerate(game.action_texts):
                reason = both.state.explain_illegal(action)
                assert (reason is None) == (text in legal), (both.state.serialize(), text, reason)
                if reason is not None:
                    found = RULING.match(reason)
                    assert found, reason
                    rulings[found[1]] += 1
    assert len(rulings) >= 3, rulings


def is_broken(ruling: str, naive: Any, text: str) -> bool:
    """Whether an action of Taugo breaks the ruling that is said to forbid it."""
    heading, point = text[0] if text[0].isupper() else "", naive.point(text.lstrip("NESW"))
    run, friend = naive.run_behind(point, heading) if heading else ([], None)
    match ruling:
        case "T3":
            return naive.makes_knot({point})
        case "T4":
            return point in naive.stones and not heading
        case "T5":
            return naive.last is not None and text not in naive.further_stones()
        case "T6":
            return point in naive.stones or not run or friend is None
        case "T6(1)":
            return sum(other in naive.string_of(run[0]) for other in naive.neighbors(point)) != 1
        case "T6(2)":
            return any(len(naive.friends(stone, naive.opponent)) < 2 for stone in run)
        case "T6(3)":
            return naive.makes_knot({point, *run})
        case _:
            return ruling == "T7" and point in naive.edge_points and not heading


def test_what_is_said_of_stones_and_cuts_of_taugo_is_true() -> None:
    """T3 to T7, each claim against the naive rules in the same position, in games with many cuts and lines."""
    game, rng = load_game("taugo(size=6)"), np.random.default_rng(2)
    seen: Counter[str] = Counter()
    for _ in range(12):
        both = Both(game.new_initial_state())
        while not both.state.is_terminal():
            for action, text in enumerate(game.action_texts if both.state.move_number() % 3 == 0 else ()):
                reason = both.state.explain_illegal(action)
                if reason is not None and text != "end" and not reason.startswith("T1"):
                    ruling = RULING.match(reason)[1]  # type: ignore[index]
                    assert is_broken(ruling, both.naive, text), (both.state.serialize(), text, reason)
                    seen[ruling] += 1
            legal = both.state.legal_actions()
            cuts = [action for action in legal if game.grid.num_cells <= action < game.num_actions - 1]
            both.play(game.action_to_string(int(rng.choice(cuts or legal))))
    assert set(seen) == {"T3", "T4", "T5", "T6", "T6(1)", "T6(2)", "T6(3)", "T7"}


@pytest.mark.parametrize(("stacking", "most"), [(True, 2), (False, 1)])
def test_what_is_said_of_pieces_and_tiles_of_trugo_is_true(stacking: bool, most: int) -> None:
    game = load_game(f"trugo(radius=2,stacking={stacking},tiles=12)")
    seen: Counter[str] = Counter()
    for both in (both for seed in range(8) for both in random_game_of_both(game, seed)):
        state, naive = both.state, both.naive
        white, blue = (sum(stack.count(color) for stack in naive.stacks.values()) for color in range(2))
        assert naive.pool or f"{white} White, {blue} Blue" in game.describe_supplies(state)
        for action, text in enumerate(game.action_texts if state.move_number() % 3 == 0 or naive.pool == 1 else ()):
            reason = state.explain_illegal(action)
            if reason is None or state.is_terminal() or "window" in reason:
                continue
            name = text.strip(">x")[: -1 if text[-1] in "^v" else len(text)].partition("/")[0]
            at, corner = naive.hex_of[name], (*naive.hex_of[name], text[-1])
            around = [hex_ in naive.tiles for hex_ in naive.neighbors(at)]
            three_empty = any(not (around[side] or around[side - 1] or around[side - 2]) for side in range(6))
            claims = {
                "there is no piece": corner not in naive.stacks,
                "is the opponent's": naive.top(corner) != naive.to_act,
                "is pinned": naive.top(corner) != naive.to_act and naive.to_act in naive.stacks.get(corner, ()),
                "has no destination": naive.top(corner) == naive.to_act and not naive.destinations(corner),
                "stands on": corner == naive.picked,
                "three tiles meet": not naive.is_junction(corner),
                "has two pieces": naive.height(corner) == 2,
                "has a piece, and stacking is off": naive.height(corner) == 1 and not stacking,
                "no slide or step": naive.picked
                and naive.height(corner) < most
                and corner not in naive.destinations(naive.picked),
                "pick the piece": naive.picked is None,
                "is picked": naive.picked is not None,
                "pool is empty": naive.pool == 0,
                "tiles in the pool": naive.pool > 0,
                "has a tile": at in naive.tiles,
                "has no tile": at not in naive.tiles,
                "not next to a tile": not set(naive.neighbors(at)) & set(naive.tiles),
                "first tile": not naive.tiles,
                "no three consecutive": at in naive.tiles and not three_empty,
                "fall apart": at in naive.tiles and three_empty and not naive.is_removable(at),
            }
            (claim,) = (claim for claim in claims if claim in reason)
            assert claims[claim], (state.serialize(), text, reason)
            seen[claim] += 1
    assert len(seen) >= 16, seen


@pytest.mark.parametrize("game_string", ["vadus(size=3)", "vadus(size=4)", "laido(size=2)", "laido(size=4)"])
def test_the_groups_that_decide_are_those_of_the_score(game_string: str) -> None:
    game = load_game(game_string)
    for seed in range(40):
        *_, state = random_game(game, seed, (None, 0.1, 0.5)[seed % 3])
        explanation, outcome = state.explain_result(), state.outcome()
        assert isinstance(explanation, Explanation)
        if outcome.reason != "groups":
            assert explanation.text.startswith(("no groups", "neither"))
            continue
        rank, values = next((n, pair) for n, pair in enumerate(zip(*state.score(), strict=False)) if pair[0] != pair[1])
        text = explanation.text.replace("−", "-")
        said = re.findall(r"worth (-?\d+) \((?:path of (\d+)|no path), (\d+) extra\)", text)
        assert [int(value) for value, _, _ in said] == list(values)
        assert [int(path or 0) - int(extra) for _, path, extra in said] == list(values)
        assert ("best group" in explanation.text) == (rank == 0)
        winner = 1 + state.color_of(outcome.winner)
        assert {int(state.record["stones"][cell]) for cell in explanation.deciding} == {winner}


def test_rows_scores_and_pieces_are_explained() -> None:
    game = load_game("taigo(radius=4)")
    found = 0
    for seed in range(30):
        *_, state = random_game(game, seed)
        outcome, (text, deciding) = state.outcome(), state.explain_result()
        found += outcome.reason == "five"
        assert (len(deciding) >= 5) == (outcome.reason == "five") == bool(deciding)
        for action in deciding:
            assert state.record["cells"][action % game.grid.num_cells] >> 3 == -7 + outcome.winner
        assert not deciding or text.split()[0] == str(len(deciding)) or " and " in text
    assert found > 5
    assert played("taugo(size=3)", "end c4 end end").explain_result().deciding == (17,)
    trugo = load_game("trugo(radius=2,tiles=9)")
    for seed in range(6):
        *_, state = random_game(trugo, seed)
        text, deciding = state.explain_result()
        left, winner = trugo.position(state), state.outcome().winner
        corners = ((left.top == winner) | (left.below == winner)).nonzero()
        names = [f"{trugo.grid.cell_names[cell]}{'^v'[kind]}" for kind, cell in zip(*corners, strict=True)]
        assert [trugo.action_to_string(action) for action in deciding] == names


@pytest.mark.parametrize("game_string", GAMES)
def test_pictures_of_finished_games_mark_the_stones_that_decided(game_string: str) -> None:
    *before, last = (state.clone() for state in random_game(load_game(game_string), 1))
    assert before[-1].explain_result() is None
    assert 'class="deciding"' not in draw(before[-1]).svg
    assert ('class="deciding"' in draw(last).svg) == bool(last.explain_result().deciding)


def test_a_game_in_one_module_has_texts_that_call_kernels_of_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernels = """
from stoneworks.envs.rules.compiler.compiler import kernel

@kernel
def half_of(board):
    return board.num_cells // 2
"""
    (tmp_path / "own_kernels.py").write_text(kernels)
    game = """
import own_kernels
from stoneworks.envs.games.laido.rules import Laido
from stoneworks.envs.rules import texts

class Own(Laido):
    name = "own_texts"

def describe_turn(board, state, words):
    texts.say(words, "{number} cells", own_kernels.half_of(board))
"""
    (tmp_path / "own_texts.py").write_text(game)
    monkeypatch.syspath_prepend(tmp_path)
    register_game("own_texts", "own_texts")
    state = load_game("own_texts(size=2)").new_initial_state()
    assert state.game.describe_turn(state) == f"{state.game.grid.num_cells // 2} cells"
    assert state.game.describe_supplies(state) == ""


@pytest.mark.parametrize("name", game_names())
def test_every_lesson_asks_for_legal_actions_of_one_turn(name: str) -> None:
    game = load_game(name)
    assert len(game.guide.rules) >= 4
    assert len(game.guide.lessons) == 5
    for board in game.guide.boards.values():
        load_game(name, **board)
    for lesson in game.guide.lessons:
        of_lesson = load_game(lesson.game)
        state = of_lesson.deserialize_state("\n".join(lesson.actions))
        learner, played = state.current_player(), []
        for texts in lesson.answers:
            assert state.current_player() == learner, lesson
            legal = [state.action_to_string(action) for action in state.legal_actions()]
            wanted = texts or tuple(legal)
            assert set(wanted) - set(played) <= set(legal), lesson
            played.append(next(text for text in wanted if text not in played))
            state.apply_action(state.string_to_action(played[-1]))
