"""Configurations are read strictly, and errors name the file, the key, the value and what is allowed."""

from __future__ import annotations

from pathlib import Path

import pytest

from stoneworks.training.runs.config import config_names, dump_config, load_config, parse_config
from stoneworks.training.runs.config_reading import ConfigError


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "run.yaml"
    path.write_text("game: vadus(size=3)\nframes: 1_000\nnetwork: {channels: 8}\nlearning_rate: 1e-3\n")
    return path


@pytest.mark.parametrize("name", config_names())
def test_every_configuration_that_comes_along_is_allowed(name: str) -> None:
    config = load_config(name)
    assert name.endswith("-ppo") == (config.algorithm == "ppo")


def test_a_file_is_read_and_the_rest_has_defaults(file: Path) -> None:
    config = load_config(str(file))
    assert config.game == "vadus(size=3)"
    assert config.frames == 1000
    assert config.network.channels == 8
    assert config.network.blocks == 1
    assert config.learning_rate == 0.001
    assert config.discount == 1.0


def test_overrides_reach_into_parts(file: Path) -> None:
    overrides = ["network.blocks=3", "frames=5", "learning_rate=2e-4", "evaluation.opponents=[greedy]", "discount=1"]
    config = load_config(str(file), overrides)
    assert (config.network.channels, config.network.blocks) == (8, 3)
    assert config.frames == 5
    assert config.learning_rate == 0.0002
    assert config.evaluation.opponents == ("greedy",)
    assert isinstance(config.discount, float)


def test_what_is_written_is_read_as_the_same(file: Path, tmp_path: Path) -> None:
    config = load_config(str(file), ["opponents.past=0.25", "evaluation.opponents=[]"])
    (tmp_path / "again.yaml").write_text(dump_config(config))
    assert load_config(str(tmp_path / "again.yaml")) == config


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("chanels=8", "there is no key chanels; allowed are game, frames,"),
        ("network.chanels=8", "there is no key network.chanels; allowed are channels, blocks"),
        ("network.channels=0", "network.channels is 0; allowed is a whole number >= 1"),
        ("network.channels=8.0", "network.channels is 8.0; allowed is a whole number"),
        ("network.channels=true", "network.channels is True; allowed is a whole number"),
        ("network.channels=many", "network.channels is 'many'; allowed is a whole number"),
        ("network=8", "network is 8; allowed are keys with values"),
        ("frames.x=8", "frames is 1000 and has no parts"),
        ("game=vadus(size=1)", "game is 'vadus.size=1.': "),
        ("game=5", "game is 5; allowed is a text"),
        ("algorithm=dqn", "algorithm is 'dqn'; allowed are ppo, alphazero"),
        ("learning_rate=0", "learning_rate is 0; allowed is a number > 0"),
        ("learning_rate=.inf", "learning_rate is inf; allowed is a number > 0"),
        ("learning_rate='1e-3'", "learning_rate is '1e-3'; allowed is a number > 0"),
        ("discount=1.1", "discount is 1.1; allowed is a number > 0 and <= 1"),
        ("gae_lambda=-0.1", "gae_lambda is -0.1; allowed is a number from 0 to 1"),
        ("evaluation.opponents=random", "evaluation.opponents is 'random'; allowed is a list of texts"),
        ("evaluation.opponents=[1]", r"evaluation.opponents is \[1\]; allowed is a list of texts"),
        ("opponents={latest: 0, past: 0, random: 0, greedy: 0}", "shares .* are all 0"),
        ("minibatch_size=511", "minibatch_size is 511; allowed is a divisor of num_games . steps_per_update, 8192"),
        ("network={channels: 8, channels: 9}", "the key 'channels' stands twice"),
        ("network={channels: ", "override 'network={channels: ' is no YAML"),
        ("frames", "override 'frames'; allowed is key=value"),
        ("=5", "override '=5'; allowed is key=value"),
    ],
)
def test_what_is_not_allowed_is_named(file: Path, override: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        load_config(str(file), [override])


def test_errors_name_the_file(file: Path) -> None:
    file.write_text("game: vadus\nframes: 10\nspeed: 3\n")
    with pytest.raises(ConfigError, match=r"run\.yaml: there is no key speed"):
        load_config(str(file))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is NoneType; allowed are keys with values"),
        ("- 1", "is list; allowed are keys with values"),
        ("game: [", "is no YAML"),
        ("game: vadus\ngame: laido\nframes: 10", "the key 'game' stands twice"),
        ("frames: 10", "the key game is missing"),
        ("game: !!python/object/apply:os.getcwd []\nframes: 10", "is no YAML"),
    ],
)
def test_a_file_that_is_no_configuration_is_refused(file: Path, text: str, message: str) -> None:
    file.write_text(text)
    with pytest.raises(ConfigError, match=message):
        load_config(str(file))


def test_a_file_that_is_no_text_is_refused(file: Path) -> None:
    file.write_bytes(b"\xff\xfe\xfd")
    with pytest.raises(ConfigError, match="no UTF-8 text"):
        load_config(str(file))


def test_an_unknown_name_says_which_there_are() -> None:
    with pytest.raises(
        ConfigError, match=r"there is no configuration 'chess'; allowed are .*vadus-5-ppo.*, or a YAML file"
    ):
        load_config("chess")


def test_values_that_come_from_json_are_checked_too() -> None:
    with pytest.raises(ConfigError, match="here: frames is 'x'; allowed is a whole number >= 1"):
        parse_config({"game": "vadus", "frames": "x"}, "here")
