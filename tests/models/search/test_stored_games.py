"""Searches of one simulation at a time play the games that they played before leaves were evaluated in batches."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("torch")

import torch

from game_play import read_test_data
from stoneworks.envs.rules import load_game
from stoneworks.models import shipped
from stoneworks.models.bots.search_bot import SearchBot, playing_settings
from stoneworks.models.checkpoint import load_checkpoint
from stoneworks.models.inference.network_inference import TorchInference, make_inference

GAMES = read_test_data("search_games.jsonl")


@pytest.mark.parametrize("stored", GAMES, ids=lambda one: one["game"])
@pytest.mark.parametrize("by_torch", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["compiled", "torch"])
def test_stored_games_are_played_again(stored: dict[str, Any], by_torch: bool) -> None:
    game = load_game(stored["game"])
    name, simulations = stored["bot"].split("@")
    folder = shipped.find(name)
    checkpoint = load_checkpoint(folder, game)
    network = checkpoint.network
    cpu = torch.device("cpu")
    evaluate = (
        TorchInference(network, device=cpu, dtype=torch.float32) if by_torch else make_inference(network, device=cpu)
    )
    settings = playing_settings(checkpoint.play, game, network.features)
    bot = SearchBot(evaluate, game, stored["seed"], simulations=int(simulations), settings=settings)
    state = game.new_initial_state()
    actions, opening = stored["actions"], stored["opening"]
    for action in actions[:opening]:
        state.apply_action(action)
    played = []
    for action in actions[opening:]:
        played.append(bot.step(state))
        state.apply_action(action)
    assert played == actions[opening:]
