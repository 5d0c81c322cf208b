"""Positions to learn from: what is kept of policies, their images under symmetries, and the buffer of the newest ones."""

from __future__ import annotations

import hashlib
import io
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

pytest.importorskip("torch")

import torch

from game_play import random_states
from stoneworks.envs.rules import Game, State, load_game
from stoneworks.envs.rules.game_registry import small_games
from stoneworks.models.checkpoint import CheckpointError
from stoneworks.models.network_inputs import NetworkInputs
from stoneworks.training.alphazero.positions import NUM_POLICY_ENTRIES, BatchMaker, make_positions, position_dtype
from stoneworks.training.alphazero.replay_buffer import ReplayBuffer, ReplayBuffers, position_files
from stoneworks.training.alphazero.self_play import PlayedGame
from tiny_runs import alphazero


def random_policies(states: list[State], sharpness: float = 3.0) -> npt.NDArray[np.float32]:
    masks = np.array([state.legal_actions_mask() for state in states])
    weights = masks * np.exp(sharpness * np.random.default_rng(0).normal(size=masks.shape))
    return (weights / weights.sum(axis=1, keepdims=True)).astype(np.float32)


def positions_of(game: Game, states: list[State], policies: npt.NDArray[np.float32]) -> npt.NDArray[np.void]:
    records = np.array([state.record for state in states], game.state_dtype)
    return make_positions(game, records, policies, np.linspace(-1, 1, len(states), dtype=np.float32))


def dense(actions: npt.NDArray[Any], probabilities: npt.NDArray[Any], num_actions: int) -> npt.NDArray[np.float32]:
    """The kept policies as rows of all actions."""
    policies = np.zeros((len(actions), num_actions), np.float32)
    for row in range(len(actions)):
        np.add.at(policies[row], actions[row], probabilities[row])
    return policies


@pytest.mark.parametrize("game_name", small_games())
def test_the_greatest_entries_of_a_policy_come_back_and_the_rest_is_what_is_missing(game_name: str) -> None:
    game = load_game(game_name)
    states = random_states(game, 30, 0)
    policies = random_policies(states)
    positions = positions_of(game, states, policies)
    assert positions.dtype == position_dtype(game)
    np.testing.assert_array_equal(positions["value"], np.linspace(-1, 1, 30, dtype=np.float32))
    for row, state in enumerate(states):
        assert State.from_record(game, positions["state"][row]) == state
        probabilities = positions["probabilities"][row]
        np.testing.assert_array_equal(probabilities, np.sort(policies[row])[::-1][: len(probabilities)])
        there = probabilities > 0
        np.testing.assert_array_equal(policies[row, positions["actions"][row, there]], probabilities[there])
        assert len(set(positions["actions"][row, there].tolist())) == there.sum()
        assert (positions["actions"][row, ~there] == 0).all()
    large = load_game("vadus(size=5)")
    policies = random_policies([large.new_initial_state()], sharpness=0.5)
    positions = positions_of(large, [large.new_initial_state()], policies)
    assert positions["actions"].shape[1] == NUM_POLICY_ENTRIES
    left_out = np.sort(policies[0])[:-NUM_POLICY_ENTRIES].sum()
    assert left_out > 0.1
    assert 1 - positions["probabilities"].sum() == pytest.approx(left_out, abs=1e-6)


@pytest.mark.parametrize("game_name", small_games())
def test_the_image_of_a_batch_is_the_batch_of_the_image(game_name: str) -> None:
    """Under every symmetry: observation, mask and policy are those of the game played with the images of the actions."""
    game = load_game(game_name)
    maker = BatchMaker(game)
    states = random_states(game, 6, 2)
    policies = random_policies(states)
    positions = positions_of(game, states, policies)
    assert len(game.symmetries) > 1
    kept = dense(positions["actions"], positions["probabilities"], game.num_actions)
    for number, symmetry in enumerate(game.symmetries):
        always = SimpleNamespace(integers=lambda high, size, number=number: np.full(size, number))
        batch = maker.make(positions, always)  # type: ignore[arg-type]
        assert (batch.legal.dtype, batch.actions.dtype) == (torch.bool, torch.int64)
        images = dense(batch.actions.numpy(), batch.probabilities.numpy(), game.num_actions)
        for row, state in enumerate(states):
            expected = symmetry.of_observation(state.observation_tensor())
            np.testing.assert_array_equal(batch.observations[row].numpy(), expected)
            mask = symmetry.of_policy(state.legal_actions_mask())
            np.testing.assert_array_equal(batch.legal[row].numpy(), mask.astype(bool))
            np.testing.assert_allclose(images[row], symmetry.of_policy(kept[row]), atol=1e-7)


@pytest.mark.parametrize("features", [False, True])
def test_symmetries_are_drawn_for_each_position(features: bool) -> None:
    game = load_game("taugo(size=5)")
    inputs, state = NetworkInputs(game, features), random_states(game, 8, 0)[7]
    positions = positions_of(game, [state] * 200, random_policies([state] * 200))
    batch = BatchMaker(game, features=features).make(positions, np.random.default_rng(0))
    images = {inputs.of_state(state).ravel()[np.argsort(image)].tobytes() for image in inputs.symmetry_images}
    assert {row.numpy().tobytes() for row in batch.observations} == images
    assert len(images) > 1


@pytest.mark.parametrize("share", [0.0, 0.25, 1.0])
def test_the_search_has_its_share_of_outcomes_which_are_discounted_by_the_actions_to_the_end(share: float) -> None:
    game = load_game("vadus(size=2)")
    states = random_states(game, 3, 0)
    positions = positions_of(game, states, random_policies(states))
    positions["result"], positions["value"] = [1, 0, -1], [0.5, -1.0, 0.0]
    generator = np.random.default_rng(0)
    outcomes = BatchMaker(game, share).make(positions, generator).outcomes.numpy()
    np.testing.assert_allclose(outcomes.sum(axis=1), 1, rtol=1e-6)
    expected = (1 - share) * np.array([1, 0, -1]) + share * np.array([0.5, -1.0, 0.0])
    np.testing.assert_allclose(outcomes[:, 0] - outcomes[:, 2], expected, atol=1e-6)
    assert outcomes.dtype == np.float32
    positions["value"], positions["actions_left"] = 0.5, [1, 5, 3]
    outcomes = BatchMaker(game).make(positions, generator, 0.9).outcomes.numpy()
    np.testing.assert_allclose(outcomes, [[0.9, 0.1, 0], [0, 1, 0], [0, 1 - 0.9**3, 0.9**3]], atol=1e-6)
    shared = BatchMaker(game, 0.25).make(positions, generator, 0.9).outcomes.numpy()
    np.testing.assert_allclose(shared, 0.75 * outcomes + 0.25 * np.array([0.75, 0, 0.25]), atol=1e-6)


DTYPE = np.dtype([("number", np.int64), ("rest", np.int8, 24)])


def numbered(first: int, stop: int) -> np.ndarray:
    positions = np.zeros(stop - first, DTYPE)
    positions["number"] = np.arange(first, stop)
    return positions


def filled(folder: Path, *lengths: int) -> ReplayBuffer:
    buffer = opened(folder)
    for length in lengths:
        buffer.add(numbered(buffer.num_added, buffer.num_added + length))
    return buffer


def kept(buffer: ReplayBuffer, window: int = 10**6) -> list[int]:
    """The numbers of all positions that can be drawn."""
    return sorted(set(buffer.sample(3000, window, np.random.default_rng(0))["number"].tolist()))


def files(folder: Path) -> list[int]:
    return sorted(int(file.stem) for file in folder.glob("[0-9]*"))


def opened(folder: Path, num_added: int = 0, capacity: int = 10, check: Any = None) -> ReplayBuffer:
    return ReplayBuffer(folder, DTYPE, capacity * DTYPE.itemsize, num_added, check)


def test_the_bound_in_bytes_is_the_number_of_positions_kept_and_draws_are_uniform(tmp_path: Path) -> None:
    buffer = ReplayBuffer(tmp_path / "buffer", DTYPE, 10 * DTYPE.itemsize + 31)
    assert buffer.capacity == 10
    for first in range(0, 40, 4):
        buffer.add(numbered(first, first + 4))
        assert len(buffer) == min(10, first + 4)
        assert kept(buffer) == list(range(max(0, first - 6), first + 4))
    assert buffer.num_added == 40
    for window in (1, 3, 10, 50):
        assert kept(buffer, window) == list(range(40 - min(window, 10), 40))
    counts = np.bincount(buffer.sample(20_000, 10, np.random.default_rng(1))["number"] - 30)
    assert abs(counts - 2000).max() < 200
    smallest = ReplayBuffer(tmp_path / "smallest", DTYPE, 1)
    smallest.add(numbered(0, 3))
    assert (len(smallest), kept(smallest)) == (1, [2])


def test_a_resumed_buffer_drops_positions_after_the_checkpoint(tmp_path: Path) -> None:
    filled(tmp_path, 4, 4, 3)
    again = opened(tmp_path, 8)
    assert again.num_added == len(again) == 8
    assert kept(again) == list(range(8))
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    for num_added in (4, 8, 11):
        opened(tmp_path, num_added)
    with pytest.raises(CheckpointError):
        opened(tmp_path, 99)
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before, "opening only reads"
    again.add(numbered(8, 10))
    again.add(numbered(10, 12))
    assert files(tmp_path) == [0, 4, 8, 10]
    assert kept(again) == list(range(2, 12))


def test_a_resumed_buffer_has_only_the_remaining_old_positions(tmp_path: Path) -> None:
    """Killed at 20 with a checkpoint at 12: then 2 to 7 are gone, and they are not drawn."""
    filled(tmp_path, 4, 4, 4, 4, 4)
    assert files(tmp_path) == [8, 12, 16]
    greater = opened(tmp_path, 20, capacity=100)
    assert (len(greater), kept(greater)) == (12, list(range(8, 20)))
    assert kept(opened(tmp_path, 20, capacity=4)) == [16, 17, 18, 19]
    again = opened(tmp_path, 12)
    assert len(again) == 4
    assert kept(again) == [8, 9, 10, 11]
    again.add(numbered(12, 20))
    assert kept(again) == list(range(10, 20))
    late = opened(tmp_path, 3)  # all positions up to the checkpoint are gone
    assert len(late) == 0
    late.add(numbered(3, 5))
    assert (files(tmp_path), kept(late)) == ([3], [3, 4])


def test_a_missing_file_is_an_error_unless_it_is_the_oldest(tmp_path: Path) -> None:
    filled(tmp_path, 2, 3, 3, 2)
    (tmp_path / f"{0:012d}.npy").unlink()
    assert kept(opened(tmp_path, 10)) == list(range(2, 10))
    (tmp_path / f"{5:012d}.npy").unlink()
    with pytest.raises(CheckpointError, match="lacks the positions from 5 to 7"):
        opened(tmp_path, 10)
    (tmp_path / f"{8:012d}.npy").unlink()
    with pytest.raises(CheckpointError, match="lacks the positions from 5 to 9"):
        opened(tmp_path, 10)
    with pytest.raises(CheckpointError, match="contains positions up to 4, but the checkpoint only up to 3"):
        opened(tmp_path, 4)
    with pytest.raises(CheckpointError, match="contains no positions, but the checkpoint 3"):
        opened(tmp_path / "missing", 3)
    assert not (tmp_path / "missing").exists()


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.zeros(3), "contains positions of another game"),
        (np.zeros((3, 1), DTYPE), "contains positions of another game"),
        (np.array([{}], object), "is damaged"),  # nothing is unpickled
        (numbered(0, 3), ": no positions of this game"),
    ],
)
def test_a_file_of_other_positions_is_an_error_that_names_it(tmp_path: Path, array: np.ndarray, message: str) -> None:
    def refuse(positions: np.ndarray) -> None:
        raise ValueError("no positions of this game")

    filled(tmp_path, 3)
    content = io.BytesIO()
    np.save(content, array, allow_pickle=array.dtype == object)
    (tmp_path / f"{0:012d}.npy").write_bytes(content.getvalue() + hashlib.sha256(content.getvalue()).digest())
    with pytest.raises(CheckpointError, match=rf"000000000000\.npy ?{message}"):
        opened(tmp_path, 3, check=refuse)


def test_every_flipped_bit_of_a_file_is_an_error_that_names_it(tmp_path: Path) -> None:
    filled(tmp_path, 3)
    (file,) = tmp_path.iterdir()
    content = file.read_bytes()
    flipped = (
        content[:place] + bytes([content[place] ^ 1 << place % 8]) + content[place + 1 :]
        for place in range(len(content))
    )
    for damaged in (b"", b"no numpy file", content[:-5], *flipped):
        file.write_bytes(damaged)
        with pytest.raises(CheckpointError, match=r"000000000000\.npy is damaged"):
            opened(tmp_path, 3)


def test_buffers_share_the_configured_bytes_and_drop_the_oldest_games(tmp_path: Path) -> None:
    shares = {"vadus(size=2)": 0.75, "vadus(size=3)": 0.25}
    config = alphazero(games=shares, learner={"buffer_bytes": 100_000})
    buffers = ReplayBuffers(tmp_path, config, {})
    for name, share in shares.items():
        buffer, dtype = buffers._buffers[name], position_dtype(load_game(name))
        assert buffer.capacity == share * 100_000 // dtype.itemsize > 10
        for _ in range(3):
            buffers.add([PlayedGame(name, np.zeros(buffer.capacity, dtype), (), 0, 0)])
        assert (len(buffer), buffer.num_added) == (buffer.capacity, 3 * buffer.capacity)
        assert [first for first, _ in position_files(tmp_path / name)] == [2 * buffer.capacity]


def test_results_are_discounted_as_scheduled_and_a_small_share_has_the_newest_position(tmp_path: Path) -> None:
    config = alphazero(
        games={"vadus(size=2)": 0.5, "vadus(size=3)": 0.5},
        search={"discount": [[0, 1], [0.5, 1], [1, 0.8]]},
        learner={"min_window": 1, "window_share": 0.01, "batch_size": 4, "search_value_share": 0.0},
    )
    buffers = ReplayBuffers(tmp_path, config, {})
    positions = np.zeros(8, position_dtype(load_game("vadus(size=2)")))
    positions["state"] = load_game("vadus(size=2)").new_initial_state().record
    positions["actions_left"], positions["result"] = 2, 1
    buffers.add([PlayedGame("vadus(size=2)", positions, (), 0, 0)])
    for progress, win in ((0.0, 1.0), (0.5, 1.0), (0.75, 0.81), (1.0, 0.64)):
        outcomes = buffers.make_batch(np.random.default_rng(0), progress).outcomes
        np.testing.assert_allclose(outcomes, [[win, 1 - win, 0]] * 4, atol=1e-6)
