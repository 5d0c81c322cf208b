"""Runs of PPO self-play on boards so small that they take seconds."""

from __future__ import annotations

import dataclasses
import math
import threading
from collections import Counter
from itertools import product
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import gymnasium
import numpy as np
import pytest

pytest.importorskip("torch")

import torch

from other_targets import can_compile
from stoneworks.envs.rules import IllegalActionError, State, load_game
from stoneworks.evaluation.match import play_match
from stoneworks.models import UnknownBotError, load_bot
from stoneworks.models.bots.mcts_bot import MCTSBot
from stoneworks.models.checkpoint import load_checkpoint, load_training_state
from stoneworks.models.network import Architecture, BoardNetwork, make_network
from stoneworks.models.network_inputs import NetworkInputs
from stoneworks.training.ppo import update as ppo_update
from stoneworks.training.ppo.algorithm import PPO
from stoneworks.training.ppo.config import OpponentsConfig
from stoneworks.training.ppo.games import TrainingGames
from stoneworks.training.ppo.opponents import BotPlayer, OpponentPool, kind_of_opponent
from stoneworks.training.ppo.report import report_sections
from stoneworks.training.ppo.update import Frames, _loss, advantages_of
from stoneworks.training.runs.algorithms import ConfigError
from stoneworks.training.runs.run import TrainingStatus, train_run
from stoneworks.training.runs.run_folder import read_metrics
from tiny_runs import assert_equal_tensors, ppo, stopped

NO_OPPONENTS = {"latest": 0, "past": 0, "random": 0, "greedy": 0}


@pytest.mark.slow
def test_a_short_run_learns_to_beat_random_play(tmp_path: Path) -> None:
    sizes = {"frames": 16_000, "num_games": 64, "steps_per_update": 16, "minibatch_size": 256}
    rate = [[0, 3e-3], [1, 1e-4]]
    config = ppo(game="vadus(size=3)", **sizes, learning_rate=rate, network={"channels": 8}, matches={"opponents": []})
    game = load_game(config.game)
    agent = load_bot(str(train_run(config, tmp_path).checkpoint), game, seed=1)
    match = play_match(game, agent, load_bot("random", game, seed=2), num_pairs=150, opening_actions=1, seed=3)
    assert match.interval[0] > 0.65, str(match)
    # Whichever seat it has, the result that it learned from was its own.
    assert all(wins > losses for wins, _, losses in match.by_seat), str(match)


def rows_of(folder: Path) -> list[dict[str, Any]]:
    """Return the metrics of a run without times."""
    rows = read_metrics(folder / "metrics.jsonl", "frames")
    return [{name: value for name, value in row.items() if "second" not in name} for row in rows]


def plot_of_scores(rows: list[dict[str, Any]]) -> bytes:
    _, _, pictures = next(iter(report_sections([{"frames_per_second": 1.0, **row} for row in rows])))
    return pictures["training-scores"]


def test_a_resumed_run_goes_on_with_its_learner_its_past_policies_and_its_metrics(tmp_path: Path) -> None:
    opponent = str(train_run(ppo(frames=64, matches={"opponents": []}), tmp_path / "opponent").checkpoint)
    config = ppo(network={"features": True}, opponents={"bots": {"mcts:2": 1, opponent: 1}})
    seen: list[TrainingStatus] = []
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    assert train_run(config, whole, on_status=seen.append).done == 6 * 64
    for num_updates in (1, 3):
        stopped(config, parts, num_updates)
    before = load_checkpoint(parts / "checkpoint"), load_training_state(parts / "checkpoint")
    assert before[0].network.features
    assert {name.partition("/")[0] for name in before[1]} == {"opponents", "optimizer", "results", "latest_episodes"}
    resumed = PPO(config, make_network(before[0].network.architecture), parts)
    resumed.load(*before)
    assert resumed.updates == 4
    assert_equal_tensors(resumed.network.state_dict(), before[0].network.state_dict())
    assert_equal_tensors(resumed.state()[1], before[1])
    last = train_run(config, parts, resume=True)
    assert (last.finished, last.done) == (True, 6 * 64)
    assert load_checkpoint(last.checkpoint).training["updates"] == 6
    rows = rows_of(whole)
    assert rows_of(parts)[0] == rows[0], "the same seed, the same first update"
    assert [row["frames"] for row in rows] == [row["frames"] for row in rows_of(parts)] == [64, 128, 192, 256, 320, 384]
    # What an update says of itself.
    kinds = {"latest", "past", "random", "greedy", "mcts:2", opponent}
    assert {name.removeprefix("score/") for name in seen[-1].metrics if name.startswith("score/")} <= kinds
    assert {"train/loss", "train/value_loss", "rollout/ep_len_mean"} <= set(seen[0].metrics)
    assert "random" in seen[-1].beside
    plot = plot_of_scores(rows)
    without_bot = [{name: value for name, value in row.items() if name != "score/mcts:2"} for row in rows]
    assert plot != plot_of_scores(without_bot)
    infinite = [{**row, "score/mcts:2": math.inf} for row in rows]
    assert plot_of_scores(infinite).startswith(b"\x89PNG")


def make_algorithm(tmp_path: Path, **changes: Any) -> PPO:
    config = ppo(**changes)
    torch.manual_seed(0)
    network = make_network(Architecture.of_game(load_game(config.game), config.network))
    return PPO(config, network, tmp_path)


def test_a_number_of_updates_that_is_none_is_refused(ppo_run: Path, tmp_path: Path) -> None:
    checkpoint, tensors = load_checkpoint(ppo_run / "checkpoint"), load_training_state(ppo_run / "checkpoint")
    algorithm = make_algorithm(tmp_path)
    for updates in (-1, "3"):
        changed = dataclasses.replace(checkpoint, training={**checkpoint.training, "updates": updates})
        with pytest.raises(ValueError, match="updates must be an integer >= 0"):
            algorithm.load(changed, tensors)


def test_the_agent_trains_and_plays_as_configured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for deterministic in (False, True):
        algorithm = make_algorithm(tmp_path, deterministic_policy=deterministic)
        assert algorithm.play.deterministic_policy == deterministic
        assert {match.bot.deterministic for match in algorithm.matches()} == {deterministic}  # type: ignore[attr-defined]
    asked: list[str] = []
    found = torch.device("cpu", 0)
    monkeypatch.setattr("stoneworks.training.ppo.algorithm.find_device", lambda name: asked.append(name) or found)
    algorithm = make_algorithm(tmp_path, device="cuda")
    assert asked == ["cuda"]
    assert algorithm.device == found
    with pytest.raises(ConfigError, match=r"device must be .*'gpu'"):
        ppo(device="gpu")


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_a_run_on_a_gpu_is_resumed_on_the_processor(tmp_path: Path) -> None:
    stopped(ppo(device="cuda"), tmp_path, 2)
    assert train_run(ppo(device="cpu"), tmp_path, resume=True).finished


def make_pool(**arguments: Any) -> tuple[OpponentPool, BoardNetwork, TrainingGames]:
    game = load_game("vadus", size=2)
    network = make_network(Architecture.of_game(game, channels=4, blocks=1), seed=0)
    seed = np.random.SeedSequence(0)
    torch.manual_seed(0)
    return OpponentPool(game, OpponentsConfig(**arguments), network, seed), network, TrainingGames(game, 60)


def begin(pool: OpponentPool, games: TrainingGames, update: int) -> None:
    pool.begin_update(update, np.random.SeedSequence(update), games)


def opponent_names(games: TrainingGames) -> list[str]:
    return [games.players[index].name for index in games._opponents.tolist()]


def test_past_versions_are_spread_over_the_time_so_far_and_opponents_follow_the_shares(ppo_run: Path) -> None:
    pool, network, games = make_pool(past=1, past_selves=4, updates_between_past_selves=2)
    kept = {}
    for update in range(40):
        with torch.no_grad():
            network.value.bias.fill_(update)
        begin(pool, games, update)
        kept[update] = sorted(
            int(name.split("/")[0].removeprefix("past-")) for name in pool.state() if name.endswith("value.bias")
        )
    expected = {1: [0], 7: [0, 2, 4, 6], 8: [0, 4, 8], 15: [0, 4, 8, 12], 39: [0, 16, 32]}
    assert {update: kept[update] for update in expected} == expected
    for name, tensor in pool.state().items():
        if name.endswith("value.bias"):
            assert f"past-{int(tensor)}/" in name, "a past self has the weights of its time"
    pool, _, games = make_pool(
        latest=0, past=3, random=1, greedy=0, past_selves_at_once=2, updates_between_past_selves=1
    )
    for update in range(5):
        begin(pool, games, update)
    games.start()
    names = opponent_names(games)
    assert {kind_of_opponent(name) for name in names} == {"past", "random"}
    assert len(set(names)) == 3
    assert 5 < names.count("random") < 28

    bots = {"mcts:2": 2.0, str(ppo_run / "checkpoint"): 1.0}
    pool, _, games = make_pool(**{**NO_OPPONENTS, "latest": 1}, bots=bots)
    begin(pool, games, 0)
    games.start()
    counts = Counter(opponent_names(games))
    assert counts.keys() == {"latest", *bots}
    assert counts["mcts:2"] > counts[str(ppo_run / "checkpoint")]


def test_the_latest_version_uses_the_current_weights_and_past_ones_stay_while_they_play() -> None:
    pool, network, games = make_pool(latest=1, past=1, random=0, greedy=0)
    begin(pool, games, 0)
    past = {name: tensor.clone() for name, tensor in pool.state().items()}
    games.start()
    with torch.no_grad():
        for weights in (*network.cell_policy.parameters(), *network.global_policy.parameters()):
            weights.zero_()
        network.global_policy.bias.fill_(50)
    assert_equal_tensors(pool.state(), past)
    generator = np.random.default_rng(0)
    lengths: dict[str, list[bool]] = {"latest": [], "past": []}
    for _ in range(20):
        names = opponent_names(games)
        games.step(torch.tensor((generator.random((60, 10)) * games.action_masks.numpy()).argmax(1)))
        for row, name in enumerate(names):
            if opponent_names(games)[row] == name:
                lengths[kind_of_opponent(name)].append(bool(games.observations[row, 4, 0, 0]))
    # The latest self now passes whenever it may.
    assert np.mean(lengths["latest"]) > 2 * np.mean(lengths["past"])
    kept = {"past_selves": 2, "updates_between_past_selves": 1, "past_selves_at_once": 2}
    pool, _, games = make_pool(**{**NO_OPPONENTS, "past": 1}, **kept)
    for update in range(2):
        begin(pool, games, update)
    games.start()
    assert set(opponent_names(games)) == {"past-0", "past-1"}
    begin(pool, games, 2)
    assert "past-1/value.bias" not in pool.state()
    assert "past-1" in opponent_names(games), "games in progress keep their opponents"
    for _ in range(30):
        games.step(games.action_masks.argmax(1))
    assert set(opponent_names(games)) == {"past-0", "past-2"}


def test_bots_that_cannot_be_opponents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("latest", "past-3", "random", "greedy"):
        with pytest.raises(ConfigError, match=rf"opponents\.bots: .*'{name}'"):
            ppo(opponents={"bots": {name: 1}})
    with pytest.raises(UnknownBotError, match="nobody"):
        train_run(ppo(opponents={**NO_OPPONENTS, "bots": {"nobody": 1}}), tmp_path / "run")
    assert not (tmp_path / "run").exists()
    make_pool(**NO_OPPONENTS, bots={"mcts:2": 1.0})
    monkeypatch.setattr(MCTSBot, "one_game_at_a_time", True)
    with pytest.raises(ConfigError, match="many games at once, got 'mcts:2'"):
        make_pool(bots={"mcts:2": 1.0})


def test_training_games_keep_seats_results_and_last_observations() -> None:
    game = load_game("trugo(max_turns=12,pieces=3,radius=2,tiles=6)")
    inputs = NetworkInputs(game, True)
    torch.manual_seed(0)
    games = TrainingGames(game, 16, inputs=inputs)
    games.set_opponents({BotPlayer(load_bot("random", game, seed=1), "random"): 1})
    games.start()
    seats, lengths, ended = games._seats.tolist(), [0] * 16, Counter[str]()
    assert seats == [0, 1] * 8
    generator = np.random.default_rng(0)
    while min(ended["terminated"], ended["truncated"]) < 10:
        records = games._batch.records()
        assert records["current_player"].tolist() == games._seats.tolist() == seats
        assert (games.observations.numpy() == inputs.of_records(records)[0]).all()
        actions = (generator.random((16, game.num_actions)) * games.action_masks.numpy()).argmax(1)
        before = [State.from_record(game, record, trusted=True) for record in records]
        done = games.step(torch.tensor(actions))
        observations = dict(zip(done.truncated.tolist(), done.last_observations.numpy(), strict=True))
        for row, state in enumerate(before):
            lengths[row] += 1
            assert done.lengths[row] == lengths[row]
            state.apply_action(int(actions[row]))
            if not done.dones[row]:
                assert done.results[row] == 0
                continue
            if state.is_terminal():
                assert done.results[row] == state.returns()[seats[row]]
                if row in observations:
                    plain = state.observation_tensor(seats[row])
                    assert (observations[row][: len(plain)] == plain).all()
            assert done.results[row] == 0 or row not in observations
            ended["truncated" if row in observations else "terminated"] += 1
            seats[row], lengths[row] = 1 - seats[row], 0


def test_bots_are_held_to_the_rules() -> None:
    games = TrainingGames(load_game("vadus(size=2)"), 4)
    for answer, why in ((lambda rows: rows * 0 + 99, "got 99"), (lambda rows: [0.5] * len(rows), "integers")):
        bot = load_bot("random", games.game, seed=1)
        bot.step_batch = lambda batch, rows, answer=answer: answer(rows)  # type: ignore[method-assign]
        with pytest.raises(IllegalActionError, match=f"opponent 'cheat' must be .*{why}"):
            BotPlayer(bot, "cheat").act(games, torch.arange(4))


def test_advantages_are_those_of_stable_baselines3() -> None:
    buffers = pytest.importorskip("stable_baselines3.common.buffers")
    generator = np.random.default_rng(0)
    rewards, values = generator.normal(size=(2, 9, 5)).astype(np.float32)
    dones = generator.random((9, 5)) < 0.3
    space = gymnasium.spaces.Box(0, 1, (1,))
    buffer = buffers.RolloutBuffer(9, space, gymnasium.spaces.Discrete(2), "cpu", gae_lambda=0.9, gamma=0.97, n_envs=5)
    buffer.rewards, buffer.values = rewards, values
    buffer.episode_starts = np.concatenate([np.zeros((1, 5)), dones[:-1]]).astype(np.float32)
    last = torch.ones(5)
    buffer.compute_returns_and_advantage(last, dones[-1])
    found = advantages_of(*map(torch.tensor, (rewards, values, dones)), last, 0.97, 0.9)
    np.testing.assert_allclose(found, buffer.advantages, rtol=1e-5, atol=1e-6)


class GivenOutputs(torch.nn.Module):
    """A network with the same logits and values for all observations, which are the numbers of rows."""

    def __init__(self, logits: np.ndarray, values: np.ndarray) -> None:
        super().__init__()
        self.outputs = torch.nn.ParameterList([torch.tensor(logits), torch.tensor(values)])

    def forward(self, rows: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return tuple(output[rows] for output in self.outputs)


def test_the_loss_is_that_of_the_paper() -> None:
    """Ratios below, inside and above the clip range, with advantages of both signs."""
    generator, clip, coefficient = np.random.default_rng(0), 0.3, 0.25
    ratios, advantages = np.array([*product((0.5, 0.9, 1.2, 1.6), (-2.0, -0.5, 3.0))], np.float32).T
    logits, mask = generator.normal(size=(12, 5)).astype(np.float32), generator.random((12, 5)) < 0.6
    actions, values = generator.integers(5, size=12), generator.normal(size=(2, 12)).astype(np.float32)
    mask[np.arange(12), actions] = True
    policy = np.exp(logits) * mask / (np.exp(logits) * mask).sum(1, keepdims=True)
    chosen = policy[np.arange(12), actions]
    parts = np.arange(12), mask.astype(np.int8), actions, np.log(chosen / ratios), values[0], advantages
    frames = Frames(*map(torch.tensor, parts))
    config = ppo(clip_range=clip, entropy_coefficient=coefficient)
    loss, metrics = _loss(GivenOutputs(logits, values[1]), frames, config)  # type: ignore[arg-type]
    normal = (advantages - advantages.mean()) / advantages.std(ddof=1)
    of_policy = -np.minimum(normal * ratios, normal * ratios.clip(1 - clip, 1 + clip)).mean()
    of_values = ((values[1] - values[0] - advantages) ** 2).mean()
    entropy = -np.log(policy, where=mask, out=np.zeros_like(policy)).ravel() @ policy.ravel() / 12
    total = of_policy - coefficient * entropy + of_values / 2
    divergence = (ratios - 1 - np.log(ratios)).mean()
    np.testing.assert_allclose(metrics, [of_policy, of_values, -entropy, total, 0.5, divergence], rtol=1e-4)
    assert loss.item() == pytest.approx(total, rel=1e-4)


def test_all_epochs_are_trained_at_the_scheduled_learning_rate(tmp_path: Path) -> None:
    rate = [[0, 3e-3], [1, 1e-3]]
    algorithm = make_algorithm(tmp_path, frames=128, epochs=3, minibatch_size=4, learning_rate=rate)
    assert algorithm._learning_rate() == 3e-3
    optimizer = algorithm.optimizer
    step = optimizer.step = Mock(wraps=optimizer.step)  # type: ignore[method-assign]
    for expected in (2e-3, 1e-3):
        metrics = algorithm.iterate(threading.Event())
        assert metrics["train/learning_rate"] == optimizer.param_groups[0]["lr"] == pytest.approx(expected)
    assert step.call_count == 2 * 3 * 64 // 4
    frames = algorithm._play()
    step.reset_mock()
    ppo_update.update(algorithm.network, optimizer, Frames(*(part[:11] for part in frames)), algorithm.config)
    assert step.call_count == 3 * 3, "the last minibatch of an epoch has 3 frames"


@can_compile
def test_games_on_a_gpu_train_the_same_network(tmp_path: Path) -> None:
    config = {"game": "vadus(size=3)", "frames": 3 * 64}
    runs = {device: tmp_path / device for device in ("cpu", "emulated")}
    for device, folder in runs.items():
        train_run(ppo(**config, games_device=device), folder)
    assert rows_of(runs["emulated"]) == rows_of(runs["cpu"])
    weights = [load_checkpoint(folder / "checkpoint").network.state_dict() for folder in runs.values()]
    assert_equal_tensors(*weights)
    states = [load_training_state(folder / "checkpoint") for folder in runs.values()]
    assert_equal_tensors(*states)
    # A run goes on elsewhere.
    more = {**config, "frames": 5 * 64}
    assert train_run(ppo(**more), runs["emulated"], resume=True).done == 5 * 64
    assert train_run(ppo(**more, games_device="emulated"), runs["cpu"], resume=True).done == 5 * 64
    assert rows_of(runs["emulated"]) == rows_of(runs["cpu"])


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_games_that_cannot_be_on_a_gpu_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"games_device .* got 'cuda': .*finds no NVIDIA GPU"):
        make_algorithm(tmp_path, games_device="cuda")
    with pytest.raises(ConfigError, match=r"games_device must be .*'gpu'"):
        ppo(games_device="gpu")
