"""Runs of PPO self-play on boards so small that they take seconds."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")

import torch
from rich.console import Console
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from stoneworks.envs.rules import load_game
from stoneworks.envs.vector import VectorEnv
from stoneworks.evaluation.match import play_match
from stoneworks.models import UnknownBotError, load_bot
from stoneworks.models.bots.mcts_bot import MCTSBot
from stoneworks.models.checkpoint import CheckpointError, load_checkpoint, load_training_state
from stoneworks.models.network import Architecture, BoardNetwork, make_network
from stoneworks.models.network_inputs import NetworkInputs
from stoneworks.models.shipped import find
from stoneworks.training.ppo.config import OpponentsConfig, PPOConfig
from stoneworks.training.ppo.games import NetworkInputsEnv
from stoneworks.training.ppo.opponents import OpponentPool, kind_of_opponent
from stoneworks.training.ppo.run import PPOStatus, train
from stoneworks.training.ppo.story import STORY
from stoneworks.training.runs.config_files import ConfigError, dump_config, parse_config
from stoneworks.training.runs.display import train_with_display
from stoneworks.training.runs.interruption import stop_on_signals
from stoneworks.training.runs.metrics import read_metrics
from stoneworks.training.runs.plots import metrics_plot

TINY: dict[str, Any] = {
    "algorithm": "ppo",
    "game": "vadus(size=2)",
    "frames": 6 * 64,
    "num_games": 8,
    "steps_per_update": 8,
    "minibatch_size": 32,
    "checkpoint_seconds": 10**6,
    "network": {"channels": 4, "blocks": 1},
    "opponents": {"latest": 1, "past": 2, "random": 1, "greedy": 1, "past_selves": 3, "updates_between_past_selves": 1},
    "matches": {"frames": 10**6, "num_pairs": 4},
}


def tiny(**changes: Any) -> PPOConfig:
    return parse_config({**TINY, **changes}, "test")


class StopAfter:
    """Sets an event after some reports, one of which comes with each update."""

    def __init__(self, num_updates: int) -> None:
        self.event = threading.Event()
        self._left = num_updates

    def __call__(self, status: PPOStatus) -> None:
        self._left -= not status.message
        if self._left <= 0:
            self.event.set()


# -- Learning ----------------------------------------------------------------------------------------------------------


def test_a_short_run_learns_to_beat_random_play(tmp_path: Path) -> None:
    config = parse_config(
        {
            "algorithm": "ppo",
            "game": "vadus(size=3)",
            "frames": 16_000,
            "num_games": 64,
            "steps_per_update": 16,
            "minibatch_size": 256,
            "learning_rate": 3e-3,
            "network": {"channels": 8},
            "matches": {"frames": 10**6, "opponents": []},
        },
        "test",
    )
    game = load_game(config.game)
    result = train(config, tmp_path)
    agent = load_bot(str(result.checkpoint), game, seed=1)
    match = play_match(game, agent, load_bot("random", game, seed=2), num_pairs=150, opening_actions=1, seed=3)
    low, _ = match.interval
    assert low > 0.65, str(match)
    # Whichever seat it has, the result that it learned from was its own.
    for wins, _, losses in match.by_seat:
        assert wins > losses, str(match)


# -- Stopping and going on ----------------------------------------------------------------------------------------------


def test_a_run_that_was_stopped_and_resumed_ends_as_one_that_was_not(tmp_path: Path) -> None:
    whole = train(tiny(), tmp_path / "whole")
    for num_updates in (1, 3):
        stop = StopAfter(num_updates)
        part = train(tiny(), tmp_path / "parts", resume=True, report=stop, stop=stop.event)
        assert not part.finished
    assert part.done == 4 * 64
    last = train(tiny(), tmp_path / "parts", resume=True)
    assert last.finished
    assert last.done == whole.done == 6 * 64
    one, other = load_checkpoint(whole.checkpoint), load_checkpoint(last.checkpoint)
    for name, tensor in one.network.state_dict().items():
        assert torch.equal(tensor, other.network.state_dict()[name]), name
    state, other_state = load_training_state(whole.checkpoint), load_training_state(last.checkpoint)
    assert state.keys() == other_state.keys()
    assert any(name.startswith("opponents/past-") for name in state)
    assert any(name.startswith("optimiser/") for name in state)
    for name, tensor in state.items():
        assert torch.equal(tensor, other_state[name]), name
    for name in ("frames", "updates", "config"):
        assert one.training[name] == other.training[name], name
    results = [[{**row, "seconds": 0} for row in run.training["match_results"]] for run in (one, other)]
    assert results[0] == results[1]
    assert other.training["seconds"] > 0


def test_equal_seeds_give_equal_agents_and_other_seeds_others(tmp_path: Path) -> None:
    weights = [
        load_checkpoint(train(tiny(seed=seed, frames=128), tmp_path / str(number)).checkpoint).network.stem.weight
        for number, seed in enumerate((1, 1, 2))
    ]
    assert torch.equal(weights[0], weights[1])
    assert not torch.equal(weights[0], weights[2])


def test_more_frames_can_be_added_to_a_finished_run(tmp_path: Path) -> None:
    assert train(tiny(frames=64), tmp_path).done == 64
    assert train(tiny(frames=64), tmp_path, resume=True).done == 64
    more = train(tiny(frames=128), tmp_path, resume=True)
    assert more.done == 128
    assert load_checkpoint(more.checkpoint).training["updates"] == 2


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"seed": 5}, "seed is 5; .* began with 0; only frames, .* may change"),
        ({"network": {"channels": 8, "blocks": 1}}, "network is .*'channels': 8"),
        ({"game": "vadus(size=3)"}, "game is 'vadus.size=3.'; .* began with 'vadus.size=2.'"),
    ],
)
def test_a_run_is_not_resumed_with_another_configuration(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    train(tiny(frames=64), tmp_path)
    with pytest.raises(ConfigError, match=message):
        train(tiny(**changes), tmp_path, resume=True)


def test_a_checkpoint_is_not_overwritten_by_a_new_run(tmp_path: Path) -> None:
    result = train(tiny(frames=64), tmp_path)
    before = (result.checkpoint / "checkpoint.json").read_bytes()
    with pytest.raises(CheckpointError, match="already exists"):
        train(tiny(frames=64, seed=1), tmp_path)
    assert (result.checkpoint / "checkpoint.json").read_bytes() == before


def test_a_checkpoint_that_cannot_be_trained_on_is_refused(tmp_path: Path) -> None:
    result = train(tiny(frames=64), tmp_path)
    (result.checkpoint / "training.safetensors").unlink()
    with pytest.raises(CheckpointError, match=r"training\.safetensors is missing"):
        train(tiny(frames=128), tmp_path, resume=True)


def test_an_unknown_opponent_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(UnknownBotError, match="nobody"):
        train(tiny(matches={"opponents": ["nobody"]}), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_the_first_signal_sets_the_event_and_the_second_interrupts() -> None:
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt), stop_on_signals() as stop:  # noqa: PT012 - the second signal is to raise
        assert not stop.is_set()
        os.kill(os.getpid(), signal.SIGINT)
        assert stop.wait(600)
        os.kill(os.getpid(), signal.SIGINT)
        threading.Event().wait(600)
    assert signal.getsignal(signal.SIGINT) is before
    with stop_on_signals() as stop:
        os.kill(os.getpid(), signal.SIGTERM)
        assert stop.wait(600)
    assert signal.getsignal(signal.SIGTERM) is not None


class StopAfterMatch:
    """Sets an event after the first match of the session."""

    def __init__(self) -> None:
        self.event = threading.Event()

    def __call__(self, status: PPOStatus) -> None:
        if status.message:
            self.event.set()


def test_a_stop_during_matches_leaves_the_rest_to_the_next_session(tmp_path: Path) -> None:
    config = tiny(frames=128, matches={"frames": 64, "num_pairs": 2, "opponents": ["random", "greedy"]})
    folder = tmp_path / "stopped"
    finished, sessions = False, 0
    while not finished:
        stop = StopAfterMatch()
        finished = train(config, folder, resume=sessions > 0, report=stop, stop=stop.event).finished
        sessions += 1
        results = load_checkpoint(folder / "checkpoint").training["match_results"]
        assert len(results) == min(sessions, 4)
    assert sessions == 4
    whole = load_checkpoint(train(config, tmp_path / "whole").checkpoint).training["match_results"]
    assert [{**row, "seconds": 0} for row in results] == [{**row, "seconds": 0} for row in whole]


# -- Damage ------------------------------------------------------------------------------------------------------------

DAMAGED = """
import hashlib, json, sys
from pathlib import Path
import numpy as np
from safetensors.torch import load, save
from stoneworks.models.checkpoint import CheckpointError
from stoneworks.training.ppo.run import train
from stoneworks.training.runs.config_files import load_config

config, folder = load_config(sys.argv[1]), Path(sys.argv[2])
file, description = (folder / "checkpoint" / name for name in ("training.safetensors", "checkpoint.json"))
whole, fields = file.read_bytes(), json.loads(description.read_text())
random = np.random.default_rng(0)
refused = 0
for _ in range(60):
    tensors = load(whole)
    positions = tensors["games/positions"].numpy()
    for _ in range(random.integers(1, 20)):
        positions.flat[random.integers(positions.size)] ^= 1 << random.integers(8)
    content = save(tensors)
    file.write_bytes(content)
    fields["files"][file.name] = {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    description.write_text(json.dumps(fields))
    try:
        train(config, folder, resume=True)
    except CheckpointError as error:
        assert str(folder) in str(error)
        refused += 1
    else:
        sys.exit("damaged positions were accepted")
print(refused)
"""


def test_a_run_with_invalid_games_is_rejected_despite_valid_checksums(tmp_path: Path) -> None:
    config = tiny()
    folder = tmp_path / "run"
    stop = StopAfter(2)
    train(config, folder, report=stop, stop=stop.event)
    file = tmp_path / "config.yaml"
    file.write_text(dump_config(config), encoding="utf-8")
    command = [sys.executable, "-c", DAMAGED, str(file), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) == 60


# -- Being killed ------------------------------------------------------------------------------------------------------

KILLED = """
import os, signal, sys
from stoneworks.training.ppo.run import train
from stoneworks.training.runs.config_files import load_config

calls = 0

def report(status):
    global calls
    calls += not status.message
    if calls == 4:
        os.kill(os.getpid(), signal.SIGKILL)

train(load_config(sys.argv[1]), sys.argv[2], resume=True, report=report)
"""


def test_a_killed_run_resumes_from_its_checkpoint_without_duplicate_metrics(tmp_path: Path) -> None:
    # Checkpoints follow the second update only: what came after it is lost.
    config = tiny(checkpoint_seconds=10**6, matches={"frames": 64, "num_pairs": 1, "opponents": ["random"]})
    folder = tmp_path / "run"
    stop = StopAfter(2)
    train(config, folder, report=stop, stop=stop.event)
    file = tmp_path / "config.yaml"
    file.write_text(dump_config(config), encoding="utf-8")
    command = [sys.executable, "-c", KILLED, str(file), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
    assert done.returncode == -signal.SIGKILL, done.stderr
    frames = [row["frames"] for row in read_metrics(folder / "metrics.jsonl", "frames")]
    assert frames[-1] > load_checkpoint(folder / "checkpoint").training["frames"] == 128
    assert train(config, folder, resume=True).finished
    lines = [json.loads(line)["frames"] for line in (folder / "metrics.jsonl").read_text().splitlines()]
    assert lines == [64, 128, 192, 256, 320, 384]
    events = EventAccumulator(str(folder / "tensorboard"))
    events.Reload()
    for tag in ("rollout/ep_len_mean", "matches/policy_random"):
        steps = sorted(event.step for event in events.Scalars(tag))
        assert steps == sorted(set(steps)), tag
        assert steps[-1] == 384, (tag, steps)
    whole = load_checkpoint(train(config, tmp_path / "whole").checkpoint).network.state_dict()
    for name, tensor in load_checkpoint(folder / "checkpoint").network.state_dict().items():
        assert torch.equal(tensor, whole[name]), name


# -- What a run leaves --------------------------------------------------------------------------------------------------


def test_a_checkpoint_records_its_training(tmp_path: Path) -> None:
    statuses: list[PPOStatus] = []
    config = tiny(matches={"frames": 128, "num_pairs": 4, "opponents": ["random"]})
    result = train(config, tmp_path, report=statuses.append)
    training = load_checkpoint(result.checkpoint).training
    assert training["algorithm"] == "ppo"
    assert training["config"]["game"] == "vadus(size=2)"
    assert training["frames"] == result.done == 384
    assert training["updates"] == 6
    assert training["hardware"]["torch_threads"] == 1
    assert [(entry["frames"], entry["opponent"], entry["games"]) for entry in training["match_results"]] == [
        (frames, "random", 8) for frames in (128, 256, 384)
    ]
    for entry in training["match_results"]:
        assert entry["wins"] + entry["draws"] + entry["losses"] == 8
        assert entry["interval"][0] <= entry["score"] <= entry["interval"][1]
    assert [status.done for status in statuses if not status.message] == [64, 128, 192, 256, 320, 384]
    assert set(statuses[-1].scores) <= {"latest", "past", "random", "greedy"}
    assert len([status for status in statuses if status.message]) == 3
    assert result.per_second > 0


def test_checkpoints_are_written_while_training_goes_on(tmp_path: Path) -> None:
    seen = []

    def look(status: PPOStatus) -> None:
        file = tmp_path / "checkpoint"
        seen.append(load_checkpoint(file).training["frames"] if file.exists() else 0)

    train(tiny(checkpoint_seconds=1e-9), tmp_path, report=look)
    # A report comes before the checkpoint that is due then.
    assert seen[:6] == [0, 64, 128, 192, 256, 320]


def test_tensorboard_has_the_scores_and_the_losses(tmp_path: Path) -> None:
    train(tiny(matches={"frames": 192, "num_pairs": 2, "opponents": ["random"]}), tmp_path)
    events = EventAccumulator(str(tmp_path / "tensorboard"))
    events.Reload()
    tags = events.Tags()["scalars"]
    assert {
        "score/random",
        "score/latest",
        "matches/policy_random",
        "train/loss",
        "rollout/ep_len_mean",
        "time/fps",
    } <= set(tags)
    assert [event.step for event in events.Scalars("train/loss")] == [128, 192, 256, 320, 384]


# -- Opponents ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def make_pool() -> Callable[..., tuple[OpponentPool, BoardNetwork, VectorEnv]]:
    def make(**arguments: Any) -> tuple[OpponentPool, BoardNetwork, VectorEnv]:
        game = load_game("vadus", size=2)
        network = make_network(Architecture.of_game(game, channels=4, blocks=1))
        return OpponentPool(game, OpponentsConfig(**arguments), network), network, VectorEnv(60, game)

    return make


def begin(pool: OpponentPool, env: VectorEnv, update: int) -> None:
    pool.begin_update(update, np.random.SeedSequence(update), env)


def test_past_versions_are_spread_over_the_time_so_far(make_pool: Callable[..., Any]) -> None:
    pool, network, env = make_pool(past=1, past_selves=4, updates_between_past_selves=2)
    kept = {}
    for update in range(40):
        with torch.no_grad():
            network.value.bias.fill_(update)
        begin(pool, env, update)
        kept[update] = sorted(
            int(name.split("/")[0].removeprefix("past-")) for name in pool.state() if name.endswith("value.bias")
        )
    assert kept[1] == [0]
    assert kept[7] == [0, 2, 4, 6]
    assert kept[8] == [0, 4, 8]
    assert kept[15] == [0, 4, 8, 12]
    assert kept[39] == [0, 16, 32]
    for name, tensor in pool.state().items():
        if name.endswith("value.bias"):
            assert f"past-{int(tensor)}/" in name, "a past self has the weights of its time"


def test_opponents_follow_the_shares(make_pool: Callable[..., Any]) -> None:
    pool, _, env = make_pool(latest=0, past=3, random=1, greedy=0, past_selves_at_once=2, updates_between_past_selves=1)
    for update in range(5):
        begin(pool, env, update)
    env.reset(seed=1)
    names = env.opponent_names
    assert {kind_of_opponent(name) for name in names} == {"past", "random"}
    assert len({name for name in names if name != "random"}) == 2
    assert 5 < names.count("random") < 28


def test_the_latest_version_uses_the_current_weights_and_past_ones_do_not(make_pool: Callable[..., Any]) -> None:
    pool, network, env = make_pool(latest=1, past=1, random=0, greedy=0)
    begin(pool, env, 0)
    past = {name: tensor.clone() for name, tensor in pool.state().items()}
    env.reset(seed=1)
    with torch.no_grad():
        network.cell_policy.weight.zero_()
        network.cell_policy.bias.zero_()
        network.global_policy.weight.zero_()
        network.global_policy.bias.fill_(50)
    for name, tensor in pool.state().items():
        assert torch.equal(tensor, past[name])
    generator = np.random.default_rng(0)
    lengths: dict[str, list[bool]] = {"latest": [], "past": []}
    for _ in range(20):
        names = env.opponent_names
        env.step((generator.random((60, 10)) * env.action_masks()).argmax(1))
        for row, name in enumerate(names):
            if env.opponent_names[row] == name:
                lengths[kind_of_opponent(name)].append(bool(env.observations()[row, 4, 0, 0]))
    # The latest self now passes whenever it may.
    assert np.mean(lengths["latest"]) > 2 * np.mean(lengths["past"])


def test_a_past_version_that_is_still_playing_is_not_dropped(make_pool: Callable[..., Any]) -> None:
    only_past_selves = {"latest": 0, "past": 1, "random": 0, "greedy": 0}
    pool, _, env = make_pool(**only_past_selves, past_selves=2, updates_between_past_selves=1, past_selves_at_once=2)
    for update in range(2):
        begin(pool, env, update)
    env.reset(seed=1)
    assert set(env.opponent_names) == {"past-0", "past-1"}
    begin(pool, env, 2)
    assert "past-1/value.bias" in pool.state()
    for _ in range(30):
        env.step(env.action_masks().argmax(1))
    assert set(env.opponent_names) == {"past-0", "past-2"}
    begin(pool, env, 3)
    assert "past-1/value.bias" not in pool.state()


def test_a_pool_is_restored_with_the_opponents_of_games_that_go_on(make_pool: Callable[..., Any]) -> None:
    pool, _, env = make_pool(past=1, updates_between_past_selves=1)
    for update in range(3):
        begin(pool, env, update)
    env.reset(seed=1)
    other, _, other_env = make_pool(past=1, updates_between_past_selves=1)
    other.load_state(pool.state(), other_env)
    other_env.restore_games(env.save_games())
    assert other_env.opponent_names == env.opponent_names
    assert pool.state().keys() == other.state().keys()
    for name, tensor in pool.state().items():
        assert torch.equal(tensor, other.state()[name]), name


# -- Other bots as opponents, other checkpoints as a start --------------------------------------------------------------


def test_other_bots_play_by_their_shares(tmp_path: Path, make_pool: Callable[..., Any]) -> None:
    folder = str(train(tiny(frames=64), tmp_path).checkpoint)
    bots = {"mcts:2": 2.0, folder: 1.0}
    pool, _, env = make_pool(latest=1, past=0, random=0, greedy=0, bots=bots)
    begin(pool, env, 0)
    env.reset(seed=1)
    names = env.opponent_names
    assert set(names) == {"latest", *bots}
    assert names.count("mcts:2") > names.count(folder)
    assert [kind_of_opponent(name) for name in bots] == list(bots)


def test_a_run_against_other_bots_is_resumed_with_the_same_results(tmp_path: Path) -> None:
    folder = str(train(tiny(frames=64), tmp_path / "opponent").checkpoint)
    config = tiny(frames=192, opponents={**TINY["opponents"], "bots": {"mcts:2": 1, folder: 1}})
    whole = train(config, tmp_path / "whole")
    stop = StopAfter(1)
    train(config, tmp_path / "parts", report=stop, stop=stop.event)
    parts = train(config, tmp_path / "parts", resume=True)
    one, other = (load_checkpoint(result.checkpoint).network.state_dict() for result in (whole, parts))
    for name, tensor in one.items():
        assert torch.equal(tensor, other[name]), name
    rows = read_metrics(tmp_path / "whole" / "metrics.jsonl", "frames")
    assert any("score/mcts:2" in row for row in rows)
    assert any(f"score/{folder}" in row for row in rows)


@pytest.mark.parametrize("name", ["latest", "past-3", "random", "greedy"])
def test_a_bot_does_not_have_the_name_of_another_kind_of_opponent(name: str) -> None:
    with pytest.raises(ConfigError, match=rf"opponents\.bots .*'{name}'"):
        tiny(opponents={"bots": {name: 1}})


def test_bots_alone_are_enough_and_unknown_ones_are_refused(tmp_path: Path) -> None:
    none = {"latest": 0, "past": 0, "random": 0, "greedy": 0}
    with pytest.raises(ConfigError, match="bots of opponents must have a sum > 0"):
        tiny(opponents=none)
    assert train(tiny(frames=64, opponents={**none, "bots": {"mcts:1": 1}}), tmp_path / "mcts").finished
    with pytest.raises(UnknownBotError, match="nobody"):
        train(tiny(opponents={**none, "bots": {"nobody": 1}}), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_bot_that_plays_one_game_at_a_time_is_rejected(
    make_pool: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(MCTSBot, "one_game_at_a_time", True)
    with pytest.raises(ConfigError, match="many games at once, got 'mcts:2'"):
        make_pool(bots={"mcts:2": 1.0})


def test_a_run_starts_from_the_weights_of_a_checkpoint_of_another_size(tmp_path: Path) -> None:
    school = train(tiny(frames=64), tmp_path / "school").checkpoint
    larger = tiny(frames=64, game="vadus(size=3)", init_from=str(school))
    begun = load_training_state(train(larger, tmp_path / "larger").checkpoint)
    for name, tensor in load_checkpoint(school).network.state_dict().items():
        assert torch.equal(begun[f"opponents/past-0/{name}"], tensor), name


def test_a_checkpoint_names_the_runs_that_led_to_its_weights(tmp_path: Path) -> None:
    first = train(tiny(frames=64), tmp_path / "first").checkpoint
    second = train(tiny(frames=128, init_from=str(first)), tmp_path / "second").checkpoint
    train(tiny(frames=192, init_from=str(first)), tmp_path / "second", resume=True)
    third = train(tiny(frames=64, init_from=str(second)), tmp_path / "third").checkpoint
    assert load_checkpoint(first).training["earlier_runs"] == []
    runs = load_checkpoint(third).training["earlier_runs"]
    assert [(run["algorithm"], run["amount"], run["unit"]) for run in runs] == [
        ("ppo", 64, "frames"),
        ("ppo", 192, "frames"),
    ]
    assert [run["seconds"] for run in runs] == [load_checkpoint(path).training["seconds"] for path in (first, second)]


@pytest.mark.parametrize("deterministic", [False, True])
def test_the_agent_plays_as_configured(tmp_path: Path, deterministic: bool) -> None:
    checkpoint = load_checkpoint(train(tiny(frames=64, deterministic_policy=deterministic), tmp_path).checkpoint)
    assert checkpoint.play.deterministic_policy == deterministic


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("vadus", "init_from must be a checkpoint of the network"),
        ("laido", "laido"),
        ("no such folder", "no such folder"),
    ],
)
def test_a_run_does_not_start_from_a_checkpoint_that_does_not_fit(tmp_path: Path, name: str, message: str) -> None:
    with pytest.raises(CheckpointError, match=message):
        train(tiny(init_from=name), tmp_path / "run")


def test_the_report_plots_the_score_against_every_kind_of_opponent() -> None:
    (panel,) = STORY.sections[0].plots[0].panels
    rows = [{"frames": frames, "score/latest": 0.5} for frames in (64, 128)]
    with_bot = [{**row, "score/mcts:2": 0.3} for row in rows]
    assert metrics_plot(rows, "frames", [panel]) != metrics_plot(with_bot, "frames", [panel])
    many = [{**row, **{f"score/{number}": 0.1 for number in range(20)}} for row in rows]
    assert metrics_plot(many, "frames", [panel]).startswith(b"\x89PNG")


# -- Features of the game -----------------------------------------------------------------------------------------------


def test_training_games_show_the_inputs_of_a_network_with_features() -> None:
    game = load_game("trugo(max_turns=20,radius=4,tiles=18)")
    env, plain = NetworkInputsEnv(16, game), VectorEnv(16, game)
    inputs = NetworkInputs(game, True)
    num_planes = len(game.observation_planes)
    observations, _ = env.reset(seed=1)
    others, _ = plain.reset(seed=1)
    assert env.observation_space.contains(observations)
    generator = np.random.default_rng(0)
    ended = 0
    for _ in range(80):
        assert observations.shape == (16, *inputs.shape)
        assert (observations[:, :num_planes] == others).all()
        records = env.save_games().positions.view(game.state_dtype)[:, 0].copy()
        assert (observations == inputs.of_records(records)[0]).all()
        actions = (generator.random((16, game.num_actions)) * env.action_masks()).argmax(1)
        observations, *_, info = env.step(actions)
        others, *_, plain_info = plain.step(actions)
        for row in np.flatnonzero(info.get("_final_obs", [])):
            final = info["final_obs"][row]
            assert (final[:num_planes] == plain_info["final_obs"][row]).all()
            assert np.isfinite(final[num_planes:]).all()
            ended += 1
    assert ended > 20


def test_a_run_with_features_is_resumed_with_the_same_results(tmp_path: Path) -> None:
    config = tiny(frames=192, network={"channels": 4, "blocks": 1, "features": True})
    whole = train(config, tmp_path / "whole")
    stop = StopAfter(1)
    train(config, tmp_path / "parts", report=stop, stop=stop.event)
    parts = train(config, tmp_path / "parts", resume=True)
    one, other = (load_checkpoint(result.checkpoint).network for result in (whole, parts))
    assert one.features
    for name, tensor in one.state_dict().items():
        assert torch.equal(tensor, other.state_dict()[name]), name
    assert load_bot(str(parts.checkpoint), config.game, seed=1).step(load_game(config.game).new_initial_state()) >= 0


def test_a_run_starts_from_a_shipped_agent(tmp_path: Path) -> None:
    network = load_checkpoint(find("vadus")).network
    config = tiny(frames=64, init_from="vadus", network=asdict(network.architecture.config))
    begun = load_training_state(train(config, tmp_path).checkpoint)
    for name, tensor in network.state_dict().items():
        assert torch.equal(begun[f"opponents/past-0/{name}"], tensor), name


# -- Display ------------------------------------------------------------------------------------------------------------


def test_the_display_shows_matches_and_scores(tmp_path: Path) -> None:
    output = io.StringIO()
    config = tiny(matches={"frames": 384, "num_pairs": 2, "opponents": ["random"]})
    result = train_with_display(config, tmp_path, resume=False, console=Console(file=output, width=100))
    assert result.finished
    assert "after 384 frames: vadus(size=2): policy scores" in output.getvalue()
    assert "384/384 frames" in output.getvalue()
    assert "random" in output.getvalue().splitlines()[-1]
