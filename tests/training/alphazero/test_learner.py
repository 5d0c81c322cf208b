"""The learner: its losses against plain numpy, with and without the ownership, its schedule, its average, and resuming."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

pytest.importorskip("torch")

import torch

from game_play import random_states
from stoneworks.envs.rules import Game, load_game
from stoneworks.envs.rules.game_registry import small_games
from stoneworks.models.checkpoint import CheckpointError, load_checkpoint
from stoneworks.models.network import Architecture, BoardNetwork, make_network
from stoneworks.training.alphazero.config import LearnerConfig, has_ownership
from stoneworks.training.alphazero.learner import Learner, policy_losses
from stoneworks.training.alphazero.ownership import ownership, ownership_loss
from stoneworks.training.alphazero.positions import BatchMaker, TrainingBatch, check_positions, make_positions
from stoneworks.training.runs.algorithms import ConfigError
from stoneworks.training.runs.run import train_run
from tiny_runs import alphazero, assert_equal_tensors, self_played, stopped

GAME = load_game("vadus(size=2)")
CPU = torch.device("cpu")
SETTINGS = LearnerConfig(learning_rate=((0, 1e-2), (1, 1e-3)), warm_up_steps=4, ema_decay=0.9)


def some_network(seed: int = 0) -> BoardNetwork:
    torch.manual_seed(seed)
    return make_network(Architecture.of_game(GAME, channels=8, blocks=1, kind="win_draw_loss_network"))


def make_learner(settings: LearnerConfig = SETTINGS, seed: int = 0, dtype: torch.dtype = torch.float32) -> Learner:
    return Learner(some_network(seed), settings, CPU, dtype)


def some_batch(number: int = 16, seed: int = 0) -> TrainingBatch:
    """Different positions, with policies and results that have nothing to do with them."""
    rng = np.random.default_rng(seed)
    chosen = list({state.record.tobytes(): state for state in random_states(GAME, 4 * number, seed)}.values())[:number]
    masks = np.array([state.legal_actions_mask() for state in chosen])
    weights = masks * rng.random(masks.shape) ** 4
    policies = (weights / weights.sum(axis=1, keepdims=True)).astype(np.float32)
    records = np.array([state.record for state in chosen], GAME.state_dtype)
    positions = make_positions(GAME, records, policies, np.zeros(number, np.float32))
    positions["result"] = rng.integers(-1, 2, number)
    return BatchMaker(GAME).make(positions, np.random.default_rng(0))


def losses_of(
    logits: npt.NDArray[np.float64], policies: npt.NDArray[np.float64], entries: int
) -> tuple[float, float, torch.Tensor]:
    """``policy_losses`` of policies of which ``entries`` are kept, and its gradient."""
    given, shares = torch.tensor(logits, dtype=torch.float32, requires_grad=True), torch.from_numpy(policies).float()
    kept, actions = shares.topk(entries)
    loss, entropy = policy_losses(given, shares > 0, actions, kept)
    loss.backward()
    return loss.item(), entropy.item(), given.grad


@pytest.mark.parametrize("entries", [1, 3, 9])
def test_the_policy_loss_is_a_cross_entropy_in_which_all_other_entries_are_one_event(entries: int) -> None:
    rng = np.random.default_rng(entries)
    logits = 2 * rng.normal(size=(20, 9))
    weights = rng.random((20, 9)) * (rng.random((20, 9)) < 0.7)  # 0 for some actions of each row, which are illegal
    weights[:, 0] += 0.1
    policies = weights / weights.sum(axis=1, keepdims=True)
    chances = np.exp(logits) * (policies > 0)
    chances /= chances.sum(axis=1, keepdims=True)
    kept = np.argsort(-policies, axis=1, kind="stable")[:, :entries]
    target, predicted = (np.take_along_axis(shares, kept, 1) for shares in (policies, chances))
    target, predicted = (np.column_stack([shares, 1 - shares.sum(axis=1)]) for shares in (target, predicted))
    there = target > 1e-9
    loss, entropy, gradient = losses_of(logits, policies, entries)
    assert loss == pytest.approx(-(target[there] * np.log(predicted[there])).sum() / 20, abs=1e-4)
    assert entropy == pytest.approx(-(target[there] * np.log(target[there])).sum() / 20, abs=1e-4)
    # Only the sum of the rest is stored; the actions share it in proportion to their prior probabilities.
    shares = target[:, -1:] * chances / np.maximum(predicted[:, -1:], 1e-9)
    np.put_along_axis(shares, kept, target[:, :-1], axis=1)
    np.testing.assert_allclose(gradient.numpy(), (chances - shares) / 20, atol=1e-5)
    # A network that is wrong with confidence has a finite loss and gradient.
    for confident in ([100.0, -100.0, 0.0, 0.0], [-100.0, -100.0, 0.0, 0.0], [100.0, 100.0, -100.0, -100.0]):
        loss, _, gradient = losses_of(np.array([confident]), np.array([[0.5, 0.5, 0.0, 0.0]]), min(entries, 4))
        assert np.isfinite(loss)
        assert np.isfinite(gradient.numpy()).all()
    # The rest has its gradient even where the network leaves it nothing.
    policies, logits = np.array([[0.35, 0.35, 0.2, 0.1]]), np.array([[40.0, 40.0, 0.0, 0.0]])
    loss, _, gradient = losses_of(logits, policies, 2)
    assert loss == pytest.approx(0.7 * np.log(2) + 0.3 * 40, abs=1e-4)
    np.testing.assert_allclose(gradient.numpy(), [[0.15, 0.15, -0.15, -0.15]], atol=1e-6)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=["float32", "bfloat16"])
def test_a_batch_can_be_overfitted_and_the_value_loss_is_the_cross_entropy_of_outcomes(dtype: torch.dtype) -> None:
    learner, batch = make_learner(dtype=dtype), some_batch(8)
    with torch.no_grad():
        outcomes = learner.network.logits_and_value(batch.observations)[1].double().numpy()
    log_chances = outcomes - np.log(np.exp(outcomes).sum(axis=1, keepdims=True))
    expected = -(batch.outcomes.numpy() * log_chances).sum(axis=1).mean()
    first = learner.step(batch, 0)
    assert first.value == pytest.approx(expected, abs=1e-5 if dtype is torch.float32 else 1e-2)
    assert first.policy > first.policy_divergence > 0.3
    for _ in range(250):
        last = learner.step(batch, 0)
    assert last.policy_divergence < 0.05
    assert last.value < 0.1 < first.value
    assert learner.num_steps == 251
    logits, values = learner.acting_network(batch.observations)
    wanted = batch.outcomes[:, 0] - batch.outcomes[:, 2]
    assert (values - wanted).abs().max() < 0.2
    best = logits.masked_fill(~batch.legal, -torch.inf).argmax(1)
    assert (best == batch.actions[:, 0]).float().mean() > 0.8


def test_counts_of_a_network_are_copied_and_not_averaged() -> None:
    network = some_network()
    network.register_buffer("num_batches", torch.tensor(0))
    learner = Learner(network, SETTINGS, CPU, torch.float32)
    learner.network.num_batches += 7
    learner.step(some_batch(), 0)
    assert learner.acting_network.num_batches == 7


def test_the_learning_rate_of_the_optimizer_rises_and_then_follows_its_schedule() -> None:
    learner = make_learner()
    for num_steps, share in ((0, 1 / 4), (1, 1 / 2), (3, 1)):
        learner.num_steps = num_steps
        assert learner.learning_rate(0) == pytest.approx(1e-2 * share)
    for num_steps in (3, 1000):
        learner.num_steps = num_steps
        assert learner.learning_rate(0.5) == pytest.approx((1e-2 + 1e-3) / 2)
        assert learner.learning_rate(1) == learner.learning_rate(1.5) == pytest.approx(1e-3)
    assert make_learner(SETTINGS.replace(warm_up_steps=0)).learning_rate(0) == pytest.approx(1e-2)
    # Adam's first step is of the length of the learning rate, wherever there is a gradient.
    for progress, rate in ((0.0, 1e-2 / 4), (1.0, 1e-3 / 4)):
        learner = make_learner(SETTINGS.replace(weight_decay=0.0))
        before = learner.network.value.weight.detach().clone()
        learner.step(some_batch(), progress)
        step = (learner.network.value.weight - before).abs()
        assert step.max().item() == pytest.approx(rate, rel=0.02)


def test_the_acting_network_is_the_average_of_the_weights() -> None:
    learner, batch = make_learner(), some_batch()
    average = {name: weights.clone().double() for name, weights in learner.network.state_dict().items()}
    for step in range(1, 15):
        learner.step(batch, 0)
        decay = min(0.9, step / (step + 10))
        for name, weights in learner.network.state_dict().items():
            average[name] = decay * average[name] + (1 - decay) * weights.double()
    for name, weights in learner.acting_network.state_dict().items():
        torch.testing.assert_close(weights.double(), average[name], atol=1e-5, rtol=1e-4)
    assert not torch.equal(learner.acting_network.stem.weight, learner.network.stem.weight)
    assert not any(weights.requires_grad for weights in learner.acting_network.parameters())


def test_gradients_are_clipped_and_their_norm_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    batch, norms, lengths = some_batch(), [], []
    for norm in (1e-3, 100.0):
        monkeypatch.setattr("stoneworks.training.alphazero.learner.MAX_GRADIENT_NORM", norm)
        learner = make_learner(SETTINGS)
        norms.append(learner.step(batch, 0).gradient_norm)
        gradients = [weights.grad.flatten() for weights in learner.network.parameters() if weights.grad is not None]
        lengths.append(torch.cat(gradients).norm().item())
    assert norms == [pytest.approx(lengths[1])] * 2
    assert lengths[0] == pytest.approx(1e-3, rel=1e-3)
    assert norms[0] > 0.05


@pytest.mark.parametrize("num_steps", [0, 3])
def test_a_learner_resumes_exactly_from_its_state(num_steps: int) -> None:
    whole, part, batches = make_learner(), make_learner(seed=1), [some_batch(seed=seed) for seed in range(6)]
    for learner in (whole, part):
        learner.network.stem.weight.requires_grad_(False)  # the optimizer has no state of it
    for batch in batches[:num_steps]:
        whole.step(batch, 0.1)
    part.load_state({name: tensor.clone() for name, tensor in whole.state().items()})
    part.acting_network.load_state_dict(whole.acting_network.state_dict())
    assert part.num_steps == num_steps
    for batch in batches[3:]:
        assert whole.step(batch, 0.2) == part.step(batch, 0.2)
    assert_equal_tensors(whole.state(), part.state())
    assert_equal_tensors(whole.acting_network.state_dict(), part.acting_network.state_dict())


GAMES = [name for name in small_games() if has_ownership(load_game(name))]


def some_positions(game: Game) -> npt.NDArray[np.void]:
    return np.concatenate([played.positions for played in self_played(alphazero(game=str(game)), 8)])


def planes_of_stones(game: Game) -> list[int]:
    return [game.observation_planes.index(name) for name in ("own_stones", "opponent_stones")]


@pytest.mark.parametrize("name", GAMES)
def test_positions_have_the_board_at_the_end_of_their_game(name: str) -> None:
    game = load_game(name)
    different = 0
    for played in self_played(alphazero(game=name), 8):
        state = game.new_initial_state()
        for action in played.actions:
            state.apply_action(action)
        for position in played.positions:
            player = int(position["state"]["current_player"])
            own, opponent = (state.observation_tensor(player)[plane] for plane in planes_of_stones(game))
            np.testing.assert_array_equal(position["ownership"].reshape(own.shape), own - opponent)
            different += (ownership(game, position["state"], player) != position["ownership"]).any()
    assert different > 0, "it is not the board of the position itself"
    assert {load_game(name).name for name in GAMES} == {"vadus", "laido", "taugo"}


@pytest.mark.parametrize("name", GAMES)
def test_the_target_is_turned_with_the_position(name: str) -> None:
    """A position at the end of a game looks as its target does, under every symmetry."""
    game = load_game(name)
    positions = some_positions(game)[:20]
    for position in positions:
        player = int(position["state"]["current_player"])
        position["ownership"] = ownership(game, position["state"], player)
    batch = BatchMaker(game, ownership=True).make(positions, np.random.default_rng(0))
    own, opponent = (batch.observations[:, plane] for plane in planes_of_stones(game))
    assert torch.equal(batch.ownership, (own - opponent).flatten(1).long())
    assert batch.ownership.abs().sum() > 0


def test_the_head_learns_the_target_by_the_mean_cross_entropy_and_only_with_a_weight() -> None:
    batch = BatchMaker(GAME, ownership=True).make(some_positions(GAME)[:8], np.random.default_rng(0))
    learner = make_learner(LearnerConfig(learning_rate=1e-2, ownership_weight=1.0))
    first = learner.step(batch, 0)
    assert first.ownership == pytest.approx(np.log(3)), "the head begins with equal probabilities"
    for _ in range(200):
        last = learner.step(batch, 0)
    assert last.ownership < 0.3
    assert make_learner(SETTINGS).step(batch, 0).ownership == 0
    assert not any("ownership" in name for name in learner.acting_network.playing_state_dict())
    generator = np.random.default_rng(0)
    logits = generator.normal(size=(2, 3, 5))
    owners = generator.integers(-1, 2, size=(2, 5))
    on_board = np.array([[1, 1, 0, 1, 1], [0, 1, 1, 1, 0]])
    terms = [
        np.log(np.exp(logits[row, :, cell]).sum()) - logits[row, 1 - owners[row, cell], cell]
        for row, cell in np.argwhere(on_board)
    ]
    loss = ownership_loss(torch.from_numpy(logits), torch.from_numpy(owners), torch.from_numpy(on_board))
    assert loss.item() == pytest.approx(np.mean(terms))


def test_what_has_no_ownership_or_one_out_of_range_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"ownership_weight must be 0 for .* got 0\.5"):
        Learner(BoardNetwork(some_network().architecture), LearnerConfig(ownership_weight=0.5), CPU, torch.float32)
    for game in ("taigo(radius=4)", "trugo(tiles=18,radius=5)"):
        with pytest.raises(ConfigError, match=r"learner\.ownership_weight must be 0: .* has no planes own_stones"):
            alphazero(game=game, learner={"ownership_weight": 0.5})
    check_positions(GAME, positions := some_positions(GAME))
    positions["ownership"][3, 5] = 3
    with pytest.raises(ValueError, match="position 3 is not valid: its ownership is out of range"):
        check_positions(GAME, positions)


@pytest.mark.parametrize(
    ("key", "head", "most"),
    [("ownership_weight", "ownership", 1.2), ("short_term_value_weight", "short_term_values", 0.8)],
)
def test_a_run_learns_a_target_and_resumes_after_a_stop_only_with_its_head(
    tmp_path: Path, key: str, head: str, most: float
) -> None:
    config = alphazero(positions=100, positions_per_iteration=40, learner={"min_window": 20, key: 0.5})
    part, seen = stopped(config, tmp_path, 1)
    assert not part.finished
    with pytest.raises(CheckpointError, match=rf"^learner\.{key} must be above 0, as when the run began, got 0\.0"):
        train_run(alphazero(positions=100, positions_per_iteration=40), tmp_path, resume=True)
    assert train_run(config, tmp_path, resume=True, on_status=seen.append).finished
    losses = [status.metrics[head] for status in seen if head in status.metrics]
    assert len(losses) > 1
    assert all(0 < loss < most for loss in losses)
    network = load_checkpoint(tmp_path / "checkpoint", load_game(config.game)).network
    assert not any(head in name for name in network.state_dict())
