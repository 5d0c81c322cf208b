"""Shipped checkpoints by name, checkpoints with a search behind ``@``, and which boards a network plays."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")

from game_play import random_state, read_test_data
from random_networks import save_network
from stoneworks.envs.rules import load_game
from stoneworks.models import UnknownBotError, load_bot, shipped
from stoneworks.models.bots.policy_bot import PolicyBot
from stoneworks.models.bots.search_bot import BATCH_IN_TIME, SearchBot
from stoneworks.models.checkpoint import CheckpointError, load_checkpoint
from stoneworks.models.description import PlaySettings
from stoneworks.models.search.gumbel import Gumbel

FACTS = read_test_data("games.yaml")
GAME = load_game("vadus(size=2)")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which shipped checkpoints are looked for, with one of Vadus."""
    monkeypatch.setattr(shipped, "shipped_folder", lambda: tmp_path / "checkpoints")
    save_network(tmp_path / "checkpoints" / "vadus", GAME, play=PlaySettings(deterministic_policy=True))
    return tmp_path / "checkpoints"


def test_shipped_checkpoints_are_in_the_package_and_play() -> None:
    assert shipped.shipped_folder().parent.name == "models"
    for name in shipped.names():
        game = load_checkpoint(shipped.shipped_folder() / name).game
        assert name == game.name or name.startswith(f"{game.name}-")
        state = game.new_initial_state()
        bot = load_bot(name, game)
        assert bot.name == name
        assert bot.step(state) in state.legal_actions()


@pytest.mark.parametrize(
    ("game_name", "name"), [("vadus(size=5)", "vadus@400"), ("trugo(max_turns=100,radius=5,tiles=18)", "trugo@64")]
)
def test_the_value_of_a_position_is_near_that_of_the_action_played(game_name: str, name: str) -> None:
    """The mean over all root visits was up to 0.6 away. Values of searches are those of policies, and less exactly so."""
    game = load_game(game_name)
    bot = load_bot(name, game, seed=1)
    assert isinstance(bot, SearchBot)
    differences = []
    for seed in range(6):
        found = bot.analyze(state := random_state(game, 3 * seed + 4, seed))
        assert found.value is not None
        of_action = found.action_values[found.actions == found.action][0]
        if found.proven is None:
            assert abs(found.value - of_action) <= 0.1
            differences.append(abs(bot.search(state).values[0] - of_action))
        else:
            assert found.value == found.proven
    assert len(differences) > 3
    assert max(differences) <= 0.3
    assert np.mean(differences) <= 0.05


def test_a_checkpoint_says_how_it_plays_and_a_number_behind_at_is_a_search(place: Path, tmp_path: Path) -> None:
    play = PlaySettings(
        discount=0.5, value_scale=0.3, leaf_values="playouts", leaf_value_weight=0.25, leaf_value_playouts=3
    )
    folder = str(save_network(tmp_path / "mine@home", GAME, play=play))
    for name, simulations in (("vadus@1", 1), (f"{folder}@7", 7)):
        bot = load_bot(name, GAME, seed=1)
        assert isinstance(bot, SearchBot)
        assert (bot.simulations, bot.seconds, bot.name) == (simulations, None, name)
    settings = bot.settings
    assert (settings.discount, settings.leaf_value_weight, settings.batch, settings.threads) == (0.5, 0.25, None, 1)
    assert settings.rule == Gumbel(gumbel_scale=0, value_scale=0.3)
    assert (settings.leaf_values._scale, settings.leaf_values._num_playouts) == (0, 3)  # type: ignore[union-attr]
    bot = load_bot(f"{folder}@16,threads=2", GAME, seed=1)
    assert isinstance(bot, SearchBot)
    assert bot.settings.batch == BATCH_IN_TIME, "so that both threads have leaves"
    bot = load_bot(f"{folder}@0.05s,threads=2", GAME, seed=1)
    assert isinstance(bot, SearchBot)
    assert (bot.seconds, bot.settings.batch, bot.settings.threads) == (0.05, 8, 2)
    assert bot.step(GAME.new_initial_state()) in GAME.new_initial_state().legal_actions()
    assert isinstance(load_bot(folder, GAME), PolicyBot), "a folder whose own name has an @"
    state = GAME.new_initial_state()
    bot = load_bot("vadus", GAME, seed=1)
    policy, _ = bot.step_with_policy(state)
    assert {bot.step(state) for _ in range(20)} == {max(policy, key=lambda pair: pair[1])[0]}
    drawing = load_bot(str(save_network(tmp_path / "drawing", GAME)), GAME, seed=1)
    assert len({drawing.step(state) for _ in range(50)}) > 1


def test_names_are_those_of_the_shipped_checkpoints(place: Path, tmp_path: Path) -> None:
    save_network(place / "vadus-9", "vadus(size=3)")
    (place / ".vadus.old").mkdir()
    assert shipped.names() == ("vadus", "vadus-9")
    for name in ("laido", "laido@64", "@64", ""):
        with pytest.raises(UnknownBotError) as error:
            load_bot(name, GAME)
        for part in (f"unknown bot {name!r}", "'random', 'greedy'", "a shipped checkpoint ('vadus', 'vadus-9')"):
            assert part in str(error.value)
    shutil.rmtree(place)
    with pytest.raises(UnknownBotError, match=r"unknown bot 'vadus'.*a shipped checkpoint .there is none."):
        load_bot("vadus", GAME)


def test_a_checkpoint_of_another_game_is_refused(place: Path) -> None:
    for name in ("vadus", "vadus@2"):
        with pytest.raises(CheckpointError, match="of vadus cannot play laido"):
            load_bot(name, "laido(size=2)")


@pytest.mark.parametrize("name", FACTS)
def test_a_network_plays_every_scale_of_its_game_and_no_other_rules(name: str, tmp_path: Path) -> None:
    facts, game = FACTS[name], load_game(FACTS[name]["trained_on"])
    folder = save_network(tmp_path / "agent", game)
    for other in facts["plays"]:
        assert load_checkpoint(folder, load_game(other)).game == game
    for other in facts["does_not_play"]:
        with pytest.raises(CheckpointError, match="as in training"):
            load_checkpoint(folder, load_game(other))
    assert set(game.size_options) <= set(game.options)
    rules = set(game.options) - set(game.size_options)
    for tried, options in ((facts["plays"], set(game.size_options)), (facts["does_not_play"], rules)):
        others = [load_game(text).options.items() for text in tried]
        assert {key for items in others for key, value in items if value != game.options[key]} == options
