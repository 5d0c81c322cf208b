"""What games say of themselves: the turn, what is left, why an action is illegal, and why a game ended."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from stoneworks.envs.drawing import draw
from stoneworks.envs.rules import Explanation, Game, IllegalActionError, State, game_names, load_game

Positions = Callable[..., Iterator[State]]
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
def test_illegal_actions_and_no_others_break_a_ruling(
    game_string: str, naive_state: Callable[[Game], Any], positions_of_random_game: Positions
) -> None:
    game = load_game(game_string)
    rulings: Counter[str] = Counter()
    for seed in range(6):
        naive = naive_state(game)
        for state in positions_of_random_game(game, seed, (None, 0.05, 0.3)[seed % 3]):
            if state.history():
                naive.play(state.action_to_string(state.history()[-1]))
            legal = naive.legal_texts()
            for action, text in enumerate(game.action_texts):
                reason = state.explain_illegal(action)
                assert (reason is None) == (text in legal), (state.serialize(), text, reason)
                if reason is not None:
                    found = RULING.match(reason)
                    assert found, reason
                    rulings[found[1]] += 1
    assert len(rulings) >= 3, rulings


def mover_of_cuts(state: State, rng: np.random.Generator) -> int:
    """Return a random legal action, a cut or a further stone of a line where there is one."""
    legal = state.legal_actions()
    cuts = [action for action in legal if state.game.grid.num_cells <= action < state.game.num_actions - 1]
    return int(rng.choice(cuts or legal))


def test_what_is_said_of_stones_and_cuts_of_taugo_is_true(naive_state: Callable[[Game], Any]) -> None:
    """T3 to T7, each claim against the naive rules in the same position."""
    game, rng = load_game("taugo(size=6)"), np.random.default_rng(2)
    seen: Counter[str] = Counter()
    for _ in range(12):
        naive, state = naive_state(game), game.new_initial_state()
        while not state.is_terminal():
            for action, text in enumerate(game.action_texts):
                reason = state.explain_illegal(action)
                if reason is None or text == "end" or reason.startswith("T1"):
                    continue
                heading, point = text[0] if text[0].isupper() else "", naive.point(text.lstrip("NESW"))
                run, friend = naive.run_behind(point, heading) if heading else ([], None)
                claims = {
                    "T3": naive.makes_knot({point}),
                    "T4": point in naive.stones and not heading,
                    "T5": naive.last is not None and text not in naive.further_stones(),
                    "T6": point in naive.stones or not run or friend is None,
                    "T6(1)": run and sum(other in naive.string_of(run[0]) for other in naive.neighbors(point)) != 1,
                    "T6(2)": any(len(naive.friends(stone, naive.opponent)) < 2 for stone in run),
                    "T6(3)": naive.makes_knot({point, *run}),
                    "T7": point in naive.edge_points and not heading,
                }
                ruling = RULING.match(reason)[1]  # type: ignore[index]
                assert claims[ruling], (state.serialize(), text, reason)
                seen[ruling] += 1
            action = mover_of_cuts(state, rng)
            naive.play(game.action_to_string(action))
            state.apply_action(action)
    assert set(seen) == {"T3", "T4", "T5", "T6", "T6(1)", "T6(2)", "T6(3)", "T7"}


def test_what_is_said_of_pieces_and_tiles_of_trugo_is_true(
    naive_state: Callable[[Game], Any], positions_of_random_game: Positions
) -> None:
    game = load_game("trugo(radius=2,tiles=12)")
    seen: Counter[str] = Counter()
    for seed in range(8):
        naive = naive_state(game)
        for state in positions_of_random_game(game, seed):
            if state.history():
                naive.play(state.action_to_string(state.history()[-1]))
            for action, text in enumerate(game.action_texts):
                reason = state.explain_illegal(action)
                if reason is None or state.is_terminal() or "window" in reason:
                    continue
                name = text.strip(">x")[: -1 if text[-1] in "^v" else len(text)].partition("/")[0]
                corner = (*naive.hex_of[name], text[-1])
                claims = {
                    "there is no piece": corner not in naive.stacks,
                    "is the opponent's": naive.top(corner) != naive.to_act,
                    "is pinned": naive.top(corner) != naive.to_act and naive.to_act in naive.stacks.get(corner, ()),
                    "has no destination": naive.top(corner) == naive.to_act and not naive.destinations(corner),
                    "stands on": corner == naive.picked,
                    "three tiles meet": not naive.is_junction(corner),
                    "has two pieces": naive.height(corner) == 2,
                    "no slide or step": naive.picked and corner not in naive.destinations(naive.picked),
                    "pick the piece": naive.picked is None,
                    "is picked": naive.picked is not None,
                    "pool is empty": naive.pool == 0,
                    "tiles in the pool": naive.pool > 0,
                    "has a tile": naive.hex_of[name] in naive.tiles,
                    "has no tile": naive.hex_of[name] not in naive.tiles,
                    "next to no tile": not set(naive.neighbors(naive.hex_of[name])) & set(naive.tiles),
                    "first tile": not naive.tiles,
                    "no three consecutive": not naive.is_removable(naive.hex_of[name]) if naive.tiles else False,
                    "fall apart": naive.hex_of[name] in naive.tiles and not naive.is_removable(naive.hex_of[name]),
                }
                (claim,) = (claim for claim in claims if claim in reason)
                assert claims[claim], (state.serialize(), text, reason)
                seen[claim] += 1
    assert len(seen) >= 15, seen


@pytest.mark.parametrize(
    ("game", "actions", "illegal", "reason"),
    [
        ("vadus(size=3)", "", "pass", "V1: the first turn is a stone, not a pass"),
        ("vadus(size=3)", "c3", "c3", "V2: c3 is occupied"),
        ("vadus(size=3)", "c3 a3", "pass", "V2: a pass replaces both stones of a turn, and one is placed"),
        ("vadus(size=3)", "c3 pass pass", "a3", "V5: the game is over"),
        ("laido(size=3)", "c3 a3", "swap", "L1: only the answer to the first stone may be a swap"),
        (
            "taugo(size=6)",
            "d4 f3 d5 e5",
            "g5",
            "T5: the next stone of the line goes next to e5, or is a cut from there",
        ),
        ("taugo(size=6)", "d4 f3 d5 e5", "e6", "T5: the line heads east"),
        ("taigo(radius=3)", "", "a4-b4", "G2: neither a4 nor b4 is next to an occupied hex"),
        ("taigo(radius=3)", "", "d4+D", "G4: d4 is not a hole made by a tile of this turn"),
        ("trugo(radius=3,tiles=7)", "", "e5/0", "R3: the first tile goes to d4"),
        ("trugo(radius=3,tiles=7)", "d4/0", "d4/1", "R3: d4 has a tile"),
    ],
)
def test_the_reason_is_in_the_error_and_names_the_ruling(
    play: Callable[..., State], game: str, actions: str, illegal: str, reason: str
) -> None:
    state = play(game, actions)
    action = state.string_to_action(illegal)
    assert state.explain_illegal(action) == reason
    with pytest.raises(IllegalActionError, match=re.escape(f"({illegal}) is illegal: {reason}")):
        state.apply_action(action)
    with pytest.raises(IllegalActionError):
        state.explain_illegal(state.game.num_actions)


@pytest.mark.parametrize(
    ("game", "actions", "line"),
    [
        ("vadus(size=3)", "", "Black (X, player 0) to move: one stone"),
        ("vadus(size=3)", "c3", "White (O, player 1) to move: first of two stones, or a pass"),
        ("vadus(size=3)", "c3 a3", "White (O, player 1) to move: second of two stones"),
        ("vadus(size=3)", "c3 pass", "Black (X, player 0) to move: first of two stones, or a pass that ends the game"),
        ("laido(size=3)", "c3", "White (O, player 1) to move: a stone, a swap of colors, or a pass"),
        ("laido(size=2)", "b2 swap", "White (O, player 0) to move: a stone, or a pass"),
        ("laido(size=2)", "b2 swap a2", "Black (X, player 1) to move: a stone, or a pass"),
        (
            "laido(size=2)",
            "b2 swap pass pass",
            "White (player 0) wins by hills: no groups of the same rank differ; "
            "1 black and 0 white stones at distance 0 from the center",
        ),
        ("vadus(size=2)", "b2 pass pass", "the game is a draw: no groups of the same rank differ in value"),
        ("taugo(size=6)", "d4", "White (O, player 1) to move: a stone, a line, or a pass"),
        ("taugo(size=6)", "d4 f3 d5 e5", "Black (X, player 0) to move: the line heading east goes on from e5, or ends"),
        ("taigo(radius=3)", "", "Dark (D, player 0) to move: a tile; tiles left: 39; cones left: 5 dark, 5 light"),
        (
            "trugo(radius=3,tiles=7)",
            "d4/0",
            "Blue (O, player 1) to move: lay a tile; "
            "waxing phase (tiles are added), tiles in the pool: 6; pieces in reserve: 25 White, 25 Blue; turn 2 of at most 400",
        ),
    ],
)
def test_the_last_line_says_what_the_turn_needs_and_what_is_left(
    play: Callable[..., State], game: str, actions: str, line: str
) -> None:
    assert str(play(game, actions)).splitlines()[-1] == line


@pytest.mark.parametrize("game_string", ["vadus(size=3)", "vadus(size=4)", "laido(size=2)", "laido(size=4)"])
def test_the_groups_that_decide_are_those_of_the_score(game_string: str, positions_of_random_game: Positions) -> None:
    game = load_game(game_string)
    for seed in range(40):
        *_, state = positions_of_random_game(game, seed, (None, 0.1, 0.5)[seed % 3])
        explanation, outcome = state.explain_result(), state.outcome()
        assert isinstance(explanation, Explanation)
        if outcome.reason != "groups":
            assert explanation.text.startswith(("no groups", "neither"))
            continue
        rank, values = next((n, pair) for n, pair in enumerate(zip(*state.score(), strict=False)) if pair[0] != pair[1])
        said = [int(value.replace("−", "-")) for value in re.findall(r"worth (−?\d+)", explanation.text)]
        assert said == list(values)
        assert ("best group" in explanation.text) == (rank == 0)
        winner = 1 + state.color_of(outcome.winner)
        assert {int(state.record["stones"][cell]) for cell in explanation.deciding} == {winner}


def test_rows_scores_and_pieces_are_explained(play: Callable[..., State], positions_of_random_game: Positions) -> None:
    game = load_game("taigo(radius=4)")
    found = 0
    for seed in range(30):
        *_, state = positions_of_random_game(game, seed)
        outcome, (text, deciding) = state.outcome(), state.explain_result()
        if outcome.reason == "five":
            found += 1
            kinds = {int(state.record["cells"][action % game.grid.num_cells] >> 3) for action in deciding}
            assert kinds == {-7 + outcome.winner}
            assert len(deciding) >= 5
            assert text.split()[0] == str(len(deciding)) or " and " in text
        else:
            assert not deciding
    assert found > 5
    taugo = play("taugo(size=3)", "end c4 end end")
    assert taugo.explain_result() == Explanation(
        "Black 0.5 (fewer strings), White 1 (strings of 1 on the perimeter)", (17,)
    )
    trugo = load_game("trugo(radius=2,tiles=9)")
    for seed in range(6):
        *_, state = positions_of_random_game(trugo, seed)
        text, deciding = state.explain_result()
        left = trugo.position(state)
        assert len(deciding) == ((left.top == state.outcome().winner) | (left.below == state.outcome().winner)).sum()


@pytest.mark.parametrize("game_string", GAMES)
def test_pictures_of_finished_games_mark_the_stones_that_decided(
    game_string: str, positions_of_random_game: Positions
) -> None:
    *before, last = (state.clone() for state in positions_of_random_game(load_game(game_string), 1))
    assert before[-1].explain_result() is None
    assert 'class="deciding"' not in draw(before[-1]).svg
    assert ('class="deciding"' in draw(last).svg) == bool(last.explain_result().deciding)


def test_longer_lines_are_legal_and_end_on_different_points(play: Callable[..., State]) -> None:
    assert play("taugo(size=6)", "c3 g7").game.shortcuts(play("taugo(size=6)", "c3 g7")) == []
    state = play("taugo(size=6)", "c3 g7 c4")
    shortcuts = state.game.shortcuts(state)
    lines = {" ".join(map(state.action_to_string, line)) for line in shortcuts}
    assert lines == {"d4 e4", "d4 e4 f4", "d4 e4 f4 g4", "c5 c6", "c5 c6 c7"}
    for line in shortcuts:
        after = state.clone()
        for action in line:
            assert after.current_player() == 0
            after.apply_action(action)


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
