"""Configurations are read strictly, and errors name the file, the key, the value and what is allowed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import counting
from stoneworks.models.architecture import ResidualConfig
from stoneworks.models.description import RENAMED_KEYS, CheckpointError, PlaySettings
from stoneworks.registry import RegistrationError
from stoneworks.training.alphazero.config import AlphaZeroConfig, AlphaZeroMatchesConfig
from stoneworks.training.runs import algorithms
from stoneworks.training.runs.algorithms import ConfigError, register_algorithm
from stoneworks.training.runs.config_files import config_names, dump_config, load_config, parse_config


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "run.yaml"
    path.write_text("algorithm: ppo\ngame: vadus(size=3)\nframes: 1_000\nnetwork: {channels: 8}\nlearning_rate: 1e-3\n")
    return path


@pytest.mark.parametrize("name", config_names())
def test_every_built_in_configuration_is_valid(name: str) -> None:
    config = load_config(name)
    assert name.endswith("-ppo") == (config.algorithm == "ppo")


def test_a_file_is_read_and_the_rest_has_defaults(file: Path) -> None:
    config = load_config(str(file))
    assert (config.game, config.frames, config.learning_rate) == ("vadus(size=3)", 1000, 0.001)
    assert (config.network.channels, config.network.blocks, config.discount) == (8, 1, 1.0)
    file.write_text("algorithm: ppo\ngame: vadus\nframes: &n 10\nnum_games: *n\nminibatch_size: 2\n")
    assert load_config(str(file)).num_games == 10
    with pytest.raises(ConfigError, match="here: frames must be a valid integer, got 'x'"):
        parse_config({"algorithm": "ppo", "game": "vadus", "frames": "x"}, "here")
    without = "taigo(cones=2,radius=3,tiles=12)"
    config = AlphaZeroConfig(game="vadus(size=5)", positions=3, matches=AlphaZeroMatchesConfig(num_pairs=7))
    assert (config.matches.num_pairs, config.matches.opponents) == (7, ("random", "greedy", "mcts:100"))
    assert config.replace(game=without).search == config.search


def test_overrides_reach_into_parts(file: Path, tmp_path: Path) -> None:
    overrides = ["network.blocks=3", "frames=5", "learning_rate=2e-4", "matches.opponents=[greedy]", "discount=1"]
    config = load_config(str(file), overrides)
    assert (config.network.channels, config.network.blocks, config.frames) == (8, 3, 5)
    assert (config.learning_rate, config.matches.opponents) == (0.0002, ("greedy",))
    assert isinstance(config.discount, float)
    (tmp_path / "again.yaml").write_text(dump_config(config))
    assert load_config(str(tmp_path / "again.yaml")) == config
    network = load_config(str(file), ["network={kind: win_draw_loss_network, blocks: 2}"]).network
    assert network == ResidualConfig(kind="win_draw_loss_network", channels=32, blocks=2), "defaults of its kind"
    file.write_text(
        "algorithm: alphazero\ngame: vadus(size=2)\npositions: 9\nsearch: &a {leaf_value_weight: 0.5}\nplay: *a\n"
    )
    assert load_config(str(file), ["search.leaf_value_weight=0.25"]).play.leaf_value_weight == 0.5, (
        "that of an alias is its own"
    )


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("search.guide", "leaf_values"),
        ("play.guide_playouts", "leaf_value_playouts"),
        ("search.full_share", "full_search_share"),
        ("learner.final_board_weight", "ownership_weight"),
    ],
)
def test_a_renamed_key_is_an_error_that_names_the_new_one(old: str, new: str) -> None:
    part, _, name = old.partition(".")
    with pytest.raises(ConfigError, match=rf"^vadus-5: the key {old} has been renamed to {part}\.{new}$"):
        load_config("vadus-5", [f"{old}=0"])
    if name in RENAMED_KEYS:
        with pytest.raises(CheckpointError, match=f"c.json: the key {name} has been renamed to {new}$"):
            PlaySettings.parse({name: 0}, "c.json")


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("chanels=8", "unknown key chanels; valid keys: game, algorithm, .*frames,"),
        ("network.chanels=8", "network: unknown key chanels; valid keys: kind, channels, blocks"),
        ("network.channels=0", "network: channels must be >= 1, got 0"),
        ("network.kind=transformer", "network: kind must be one of .*scalar_value_network.*'transformer'"),
        ("frames.x=8", "frames is 1000"),
        ("algorithm=dqn", "algorithm must be one of alphazero, ppo, got 'dqn'"),
        ("learning_rate=[[0, 1], [2, 1]]", "learning_rate.1.0 must be <= 1, got 2"),
        ("learning_rate=[[0.5, 1], [0, 1]]", "learning_rate: progress must start at 0 and increase, got 0.5, 0"),
        ("frames=1" + 30 * "0", "frames must be < 9.2.*, got 1000"),
        ("opponents={latest: 0, past: 0, random: 0, greedy: 0}", "shares .* must have a sum > 0"),
        ("matches.opponents=[random, greedy, random]", "opponents must be different, got random, greedy, random"),
        ("minibatch_size=511", "minibatch_size .*8192.*511"),
        ("network={channels: ", "override 'network={channels: ' is not valid YAML"),
        ("=5", "key=value, .*'=5'"),
        ("network.channels=32\nblocks: 9", r"one key=value, got 'network\.channels=32\\nblocks: 9'"),
    ],
)
def test_invalid_values_are_named(file: Path, override: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        load_config(str(file), [override])


def test_a_key_that_is_not_text_is_rejected() -> None:
    with pytest.raises(ConfigError, match=r"key of an override must be text .*got 1"):
        load_config("vadus-5", {1: 2})  # type: ignore[dict-item]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"positions": 3, "search": {"simulations": 2}}, "search.capped_simulations must be at most .*, 2, got 8"),
        ({"positions": 3, "network": {"kind": "scalar_value_network"}}, "network.kind must be one of win_draw_loss"),
    ],
)
def test_a_configuration_made_in_python_is_checked(values: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        AlphaZeroConfig(**{"game": "vadus(size=5)", **values})


def test_features_need_a_game_that_has_some(monkeypatch: pytest.MonkeyPatch) -> None:
    assert load_config("vadus-5", ["network.features=true"]).network.features
    monkeypatch.setattr(algorithms, "has_features", lambda game: False)
    with pytest.raises(ConfigError, match="features must be false: vadus"):
        load_config("vadus-5", ["network.features=true"])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "must be a mapping, got NoneType"),
        ("game: vadus\ngame: laido\nframes: 10", "duplicate key 'game'"),
        *((f"game: !!{kind}\nframes: 10", "is not valid YAML") for kind in ("bool x", "timestamp x", "int ''")),
        ("game: !!python/object/apply:os.getcwd []\nframes: 10", "is not valid YAML"),
        ("game: [", r"is not valid YAML: while parsing a flow node, expected .* '<stream end>' \(line 1, column 8\)$"),
        ("a: " + 5000 * "[" + 5000 * "]", "nested too deeply"),
        ("a0: &a0 x\n" + "".join(f"a{n}: &a{n} [{9 * f'*a{n - 1}, '}]\n" for n in range(1, 9)), "100,000 values"),
        (b"\xff\xfe\xfd", "not UTF-8 text"),
    ],
)
def test_a_file_that_is_not_a_configuration_is_rejected(file: Path, text: str | bytes, message: str) -> None:
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(ConfigError, match=rf"run\.yaml.*{message}"):
        load_config(str(file))
    with pytest.raises(ConfigError, match=r"unknown configuration 'chess'; .*vadus-5-ppo"):
        load_config("chess")
    for name in ("chess.yaml", "runs/chess"):
        with pytest.raises(ConfigError, match=rf"unknown configuration '{name}', and there is no such file; "):
            load_config(name)


def test_wrong_algorithms_are_refused() -> None:
    classes = {"config": counting.CountingConfig, "algorithm": counting.Counting}
    with pytest.raises(RegistrationError, match="already registered"):
        register_algorithm("ppo", **classes)
    with pytest.raises(RegistrationError, match="report must be"):
        register_algorithm("other", **classes, report="nowhere")
