"""``Batch``: many games in one call are what so many states are, and its random play is uniform."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from game_play import COPIES, played, random_game
from stoneworks.envs.rules import NO_ACTION, TERMINAL_PLAYER, Batch, Game, IllegalActionError, State, load_game
from stoneworks.models.network_inputs import NetworkInputs

ARRAYS = ("states", "observations", "action_masks", "current_players", "rewards", "terminated", "truncated")


def snapshot(batch: Batch) -> list[bytes]:
    return [getattr(batch, name).tobytes() for name in ARRAYS]


def assert_row_is(batch: Batch, row: int, state: State) -> None:
    assert batch.state(row) == state
    assert batch.states[row].tobytes() == state.record.tobytes()
    assert np.array_equal(batch.observations[row], state.observation_tensor())
    assert np.array_equal(batch.action_masks[row], state.legal_actions_mask())
    assert batch.current_players[row] == state.current_player()


# -- Stepping ----------------------------------------------------------------------------------------------------------


def test_a_new_batch_holds_games_at_their_start(game: Game) -> None:
    batch = Batch(game, 3)
    assert len(batch) == batch.num_games == 3
    assert repr(batch) == f"<Batch of 3 games of {game}>"
    shapes = {
        "states": ((3,), game.state_dtype),
        "observations": ((3, *game.observation_shape), np.float32),
        "action_masks": ((3, game.num_actions), np.int8),
        "current_players": ((3,), np.int8),
        "rewards": ((3, 2), np.float32),
        "terminated": ((3,), np.bool_),
        "truncated": ((3,), np.bool_),
    }
    for name, (shape, dtype) in shapes.items():
        array = getattr(batch, name)
        assert (array.shape, array.dtype) == (shape, dtype), name
    for row in range(3):
        assert_row_is(batch, row, game.new_initial_state())
    assert not batch.rewards.any()
    assert not batch.terminated.any()
    assert not batch.truncated.any()


@pytest.mark.parametrize("auto_reset", [False, True])
def test_stepping_games_is_stepping_states(game: Game, auto_reset: bool) -> None:
    """``NO_ACTION`` leaves a running game as it is; with ``auto_reset`` a game starts anew in the step that ends it."""
    rng = np.random.default_rng(1)
    batch = Batch(game, 7, auto_reset=auto_reset, num_threads=2)
    states = [game.new_initial_state() for _ in range(7)]
    num_ended = num_rounds = 0
    while num_ended < (20 if auto_reset else 7):
        actions = [NO_ACTION if state.is_terminal() else int(rng.choice(state.legal_actions())) for state in states]
        actions[num_rounds % 7] = NO_ACTION
        batch.step(np.array(actions))
        num_rounds += 1
        for row, action in enumerate(actions):
            state = states[row]
            if action != NO_ACTION:
                state.apply_action(action)
                num_ended += state.is_terminal()
            assert batch.rewards[row].tolist() == (state.returns() if action != NO_ACTION else [0, 0])
            assert batch.terminated[row] == (state.is_terminal() and not state.is_truncated())
            assert batch.truncated[row] == state.is_truncated()
            if auto_reset and state.is_terminal():
                state = states[row] = game.new_initial_state()
            assert_row_is(batch, row, state)
    assert num_rounds > 3
    if not auto_reset:
        assert all(batch.current_players == TERMINAL_PLAYER)
        ended = snapshot(batch)[:4]
        batch.step([NO_ACTION] * 7)
        assert snapshot(batch)[:4] == ended
        assert not batch.rewards.any(), "rewards are those of the last step"
        assert (batch.terminated | batch.truncated).all(), "a game that is over stays over"


def test_returns_of_finished_games_stay_when_later_steps_leave_them_alone(game: Game) -> None:
    batch, rewards = Batch(game, 6, seed=1), np.zeros((6, 2), np.float32)
    assert not batch.returns.any()
    while not (batch.current_players < 0).all():
        rewards += batch.step(batch.random_actions()).rewards
        assert np.array_equal(batch.returns, rewards)
    assert np.array_equal(batch.returns, [batch.state(row).returns() for row in range(6)])
    batch.step(np.full(6, NO_ACTION))
    assert not batch.rewards.any()
    assert np.array_equal(batch.returns, rewards)
    batch.reset([0])
    assert not batch.returns[0].any()


@pytest.mark.parametrize("auto_reset", [False, True])
def test_an_illegal_action_in_one_game_changes_no_game(game: Game, auto_reset: bool) -> None:
    batch = Batch(game, 4, auto_reset=auto_reset)
    legal = game.new_initial_state().legal_actions()
    batch.step([legal[0]] * 4)
    before = snapshot(batch)
    fine = int(np.flatnonzero(batch.action_masks[0])[0])
    off_board = int(np.flatnonzero(~game.grid.on_board)[0])
    last = game.num_actions
    for illegal, named in (
        (legal[0], game.action_to_string(legal[0])),
        (off_board, game.action_to_string(off_board)),
        (last, str(last)),
        (-2, "-2"),
        (10**9, str(10**9)),
        (-(2**63), str(-(2**63))),
    ):
        with pytest.raises(IllegalActionError, match=named) as caught:
            batch.step([fine, fine, illegal, fine])
        assert "game 2 of the batch" in str(caught.value)
        assert str(game) in str(caught.value)
        assert snapshot(batch) == before


#: Of another shape, of another type, and past what 64 bits hold, which is not wrapped around.
NO_ACTIONS = (3, [3], [3] * 6, [[3] * 5], [], None, [3.0] * 5, ["c3"] * 5, [None] * 5, [True] * 5, [10**30, 3, 3, 3, 3])


@pytest.mark.parametrize(
    ("actions", "message"),
    [
        *((actions, "actions must be 5 integers") for actions in NO_ACTIONS),
        (np.array([2**64 - 1, 3, 3, 3, 3], np.uint64), str(2**64 - 1)),
    ],
    ids=repr,
)
def test_actions_of_another_shape_or_type_are_refused(unchanged: Batch, actions: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        unchanged.step(actions)


def test_players_of_another_shape_or_type_are_refused(unchanged: Batch) -> None:
    for players in ([0], [0.0] * 5, None):
        with pytest.raises(ValueError, match="players must be 5 integers"):
            unchanged.observe(None, players)  # type: ignore[arg-type]


def test_inputs_without_observations_or_of_another_game_are_refused() -> None:
    inputs = NetworkInputs("vadus(size=3)", True)
    with pytest.raises(ValueError, match="inputs must be None if observations is None, got "):
        Batch("vadus(size=3)", 2, observations=None, inputs=inputs)
    with pytest.raises(ValueError, match=r"inputs must be of vadus\(size=9\), got those of vadus\(size=3\)"):
        Batch("vadus(size=9)", 1, inputs=inputs)


def test_actions_of_every_integer_type_are_taken(game: Game) -> None:
    action = game.new_initial_state().legal_actions()[0]
    for dtype in (np.int8, np.uint8, np.int16, np.int32, np.int64, np.uint64):
        batch = Batch(game, 2)
        batch.step(np.array([action, action], dtype))
        assert_row_is(batch, 1, game.new_initial_state().child(action))


@pytest.mark.parametrize("name", ARRAYS)
def test_the_arrays_are_views_for_reading_that_are_filled_anew(name: str) -> None:
    batch = Batch(load_game("vadus(size=3)"), 2)
    array = getattr(batch, name)
    with pytest.raises(ValueError, match="read-only"):
        array[...] = array[::-1].copy()
    before = array.tobytes()
    step = batch.step(batch.random_actions())
    kept = step.copy()
    assert batch.step(batch.random_actions()) is step
    assert getattr(batch, name) is array
    if name in ("states", "observations", "action_masks"):
        assert array.tobytes() != before
    if name != "states":
        copied = getattr(kept, name)
        assert getattr(step, name) is array
        assert copied.flags.writeable
        assert not np.shares_memory(copied, array)


# -- Resetting and loading -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "rows", [[1, 3], np.array([1, 3]), np.array([False, True, False, True, False]), (3, 1), [], np.zeros(5, np.bool_)]
)
def test_reset_starts_the_given_games_anew_and_no_others(rows: Any) -> None:
    game = load_game("vadus(size=2)")
    batch = Batch(game, 5, seed=3)
    while not batch.terminated.all():
        batch.step(batch.random_actions())
    ended = [batch.state(row) for row in range(5)]
    rewards = batch.rewards.copy()
    batch.reset(rows)
    for row in range(5):
        is_reset = row in (1, 3) and np.any(rows)
        assert_row_is(batch, row, game.new_initial_state() if is_reset else ended[row])
        assert batch.terminated[row] == (not is_reset)
        assert np.array_equal(batch.rewards[row], [0, 0] if is_reset else rewards[row])
    batch.reset()
    for row in range(5):
        assert_row_is(batch, row, game.new_initial_state())
    assert not batch.terminated.any()


def test_loaded_games_continue_from_their_positions(game: Game) -> None:
    states = [state.clone() for state in random_game(game, 8)]
    batch = Batch(game, len(states) + 2)
    rows = np.arange(len(states))[::-1] + 2
    batch.load(rows, np.array([state.record for state in states]))
    assert_row_is(batch, 0, game.new_initial_state())
    assert_row_is(batch, 1, game.new_initial_state())
    for row, state in zip(rows, states, strict=True):
        assert_row_is(batch, row, state)
        assert batch.terminated[row] == state.is_terminal()
        assert not batch.rewards[row].any()
    others = Batch(game, len(states) + 2)
    others.load(np.arange(len(states) + 2), batch.states)
    assert others.states.tobytes() == batch.states.tobytes()
    while not batch.rewards.any() and not batch.terminated.all():
        batch.step(batch.random_actions())
    batch.load(np.arange(len(batch)), others.states)
    assert not batch.rewards.any()


@pytest.fixture
def unchanged() -> Iterator[Batch]:
    """A batch that a test leaves as it is."""
    batch = Batch(load_game("vadus(size=3)"), 5, seed=1)
    batch.step(batch.random_actions())
    before = snapshot(batch)
    yield batch
    assert snapshot(batch) == before


@pytest.mark.parametrize("rows", [[5], [-1], [0, 9], [0.5], [[0, 1]], 1, "0", [True, False]], ids=repr)
def test_rows_that_the_batch_does_not_have_are_refused_and_change_nothing(unchanged: Batch, rows: Any) -> None:
    for row in (-1, 5, True):
        with pytest.raises(IndexError, match=f"row must be an integer from 0 to 4, got {row}"):
            unchanged.state(row)
    for call in (lambda: unchanged.reset(rows), lambda: unchanged.load(rows, unchanged.states[:1])):
        with pytest.raises(IndexError, match="rows must be indices from 0 to 4"):
            call()


def test_records_of_another_layout_or_number_are_refused_and_change_nothing(unchanged: Batch) -> None:
    for records in (np.zeros(1, load_game("vadus(size=15)").state_dtype), np.zeros(1)):
        with pytest.raises(ValueError, match="dtype"):
            unchanged.load([0], records)
    with pytest.raises(ValueError, match="shape"):
        unchanged.load([0, 1, 2], unchanged.states[:2])


# -- Threads -------------------------------------------------------------------------------------------------------------


def test_the_number_of_threads_does_not_change_results(game: Game) -> None:
    batches = [Batch(game, 11, seed=9, num_threads=num_threads) for num_threads in (1, 2, 3, 50)]
    for _ in range(6):
        actions = [batch.random_actions() for batch in batches]
        playouts = [batch.random_playouts() for batch in batches]
        for batch, chosen, (returns, lengths) in zip(batches, actions, playouts, strict=True):
            assert np.array_equal(chosen, actions[0])
            assert np.array_equal(returns, playouts[0][0])
            assert np.array_equal(lengths, playouts[0][1])
            batch.step(chosen)
            assert snapshot(batch) == snapshot(batches[0])


# -- Random play ---------------------------------------------------------------------------------------------------------


def assert_uniform(actions: np.ndarray[Any, Any], legal: list[int]) -> None:
    """Check that a chi-square statistic lies within six standard deviations of its mean."""
    counts = np.bincount(actions, minlength=legal[-1] + 1)
    assert counts.sum() == counts[legal].sum(), "only legal actions are chosen"
    expected = len(actions) / len(legal)
    assert expected > 100
    statistic = ((counts[legal] - expected) ** 2 / expected).sum()
    freedom = len(legal) - 1
    assert statistic < freedom + 6 * np.sqrt(2 * freedom)


@pytest.mark.parametrize(
    ("game_string", "played"),
    [
        ("vadus(size=3)", 0),
        ("vadus(size=3)", 14),
        ("laido(size=3)", 1),
        ("laido(size=9)", 0),
        ("laido(size=9)", 205),
        ("vadus(size=9)", 215),
        ("laido(size=9)", 216),
    ],
)
def test_random_actions_are_uniform_over_the_legal_ones(game_string: str, played: int) -> None:
    """Many legal actions, few, and next to none: whatever the way in which they are found."""
    game = load_game(game_string)
    state = game.new_initial_state()
    for _ in range(played):
        state.apply_action(state.legal_actions()[0])
    legal = state.legal_actions()
    num_games = 500 * len(legal)
    assert len(legal) > 1
    batch = Batch(game, min(num_games, 10_000), seed=12)
    batch.load(np.arange(len(batch)), np.repeat(np.array([state.record]), len(batch)))
    rounds = [batch.random_actions() for _ in range(-(-num_games // len(batch)))]
    assert_uniform(np.concatenate(rounds), legal)


def test_games_that_are_over_or_can_only_go_on_in_one_way() -> None:
    """A forced pass, a draw and a won game."""
    game = load_game("vadus(size=2)")
    batch = Batch(game, 4, seed=0)
    texts = ("b2 a2 a3 b1 c1 b3 c2", "b2 pass pass", "b2 a2 a3 pass pass")
    batch.load([0, 1, 2], np.array([played(game, each).record for each in texts]))
    for _ in range(20):
        actions = batch.random_actions()
        assert actions[:3].tolist() == [game.string_to_action("pass"), NO_ACTION, NO_ACTION]
        assert batch.action_masks[3, actions[3]]
    returns, lengths = batch.random_playouts()
    assert lengths[:3].tolist() == [2, 0, 0]
    assert returns[1:3].tolist() == [[0, 0], [-1, 1]]
    before = snapshot(batch)
    with pytest.raises(IllegalActionError, match=r"game 1 .* the game is over"):
        batch.step([actions[0], game.string_to_action("b2"), NO_ACTION, actions[3]])
    assert snapshot(batch) == before


def test_a_seed_makes_random_play_reproducible_and_none_makes_it_new(game: Game) -> None:
    def sequence(seed: Any) -> list[Any]:
        batch = Batch(game, 20, seed=seed)
        return [batch.random_actions().tolist(), *(part.tolist() for part in batch.random_playouts())]

    assert sequence(5) == sequence(5)
    assert sequence(5) == sequence(np.random.SeedSequence(5))
    assert sequence(5) != sequence(6)
    assert sequence(None) != sequence(None)
    batch = Batch(game, 20, seed=5)
    playouts = [batch.random_playouts()[1].tolist() for _ in range(2)]
    assert playouts[0] != playouts[1], "two calls draw different numbers"
    assert len(set(playouts[0])) > 2 or game.max_game_length() < 12, "games of one batch are played differently"


def test_random_playouts_leave_the_batch_as_it_is(game: Game) -> None:
    batch = Batch(game, 8, seed=4)
    batch.step(batch.random_actions())
    before = snapshot(batch)
    returns, lengths = batch.random_playouts()
    assert snapshot(batch) == before
    assert (returns.shape, returns.dtype) == ((8, 2), np.float32)
    assert (lengths.shape, lengths.dtype) == ((8,), np.int32)
    assert not returns.sum(axis=1).any()
    assert set(np.unique(returns)) <= {-1.0, 0.0, 1.0}
    assert (lengths >= 1).all()
    assert (lengths < game.max_game_length()).all()


# -- Copies and arguments ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make_copy", COPIES, ids=["deepcopy", "pickle"])
def test_a_copy_is_equal_and_independent(game: Game, make_copy: Callable[[Batch], Batch]) -> None:
    def play_on(batch: Batch, num_steps: int) -> None:
        for _ in range(num_steps):
            batch.step(batch.random_actions())

    batch = Batch(game, 6, auto_reset=True, num_threads=2, seed=3)
    play_on(batch, 5)
    twin = make_copy(batch)
    assert snapshot(twin) == snapshot(batch)
    assert (twin.game, twin.num_games, twin.auto_reset) == (batch.game, batch.num_games, batch.auto_reset)
    before = snapshot(batch)
    play_on(twin, 9)
    assert snapshot(batch) == before != snapshot(twin), "the copy's arrays follow the copy's games alone"
    play_on(batch, 9)
    assert snapshot(twin) == snapshot(batch), "copies draw equal random actions"
    with pytest.raises(IllegalActionError):
        twin.step(twin.action_masks.argmin(1))
    for name in ARRAYS:
        with pytest.raises(ValueError, match="read-only"):
            getattr(twin, name)[:] = 0
