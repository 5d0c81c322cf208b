"""Profile of self-play time. Run it as a module: ``python -m stoneworks.training.bench.self_play``."""

from __future__ import annotations

import time

import numpy as np

from stoneworks.envs.rules import load_game
from stoneworks.extras import require_extra
from stoneworks.models.network import Architecture, make_network
from stoneworks.training.alphazero.config import AlphaZeroConfig
from stoneworks.training.alphazero.self_play import SelfPlay
from stoneworks.training.alphazero.sources import make_evaluator
from stoneworks.training.runs.config import parse_config

with require_extra("train", "networks"):
    import torch


def shares_of_self_play(
    game_name: str, *, channels: int, blocks: int, seconds: float, guide: str = "none"
) -> tuple[float, float, float]:
    """Return the shares of self-play time in the network, the search and the rest, on one core.

    Args:
        game_name: the game string.
        channels: number of channels of the network.
        blocks: number of residual blocks.
        seconds: approximate duration.
        guide: evaluation of leaves in addition to the network; its time counts as search time (see ``SearchConfig``).
    """
    values = {"algorithm": "alphazero", "game": game_name, "positions": 1, "device": "cpu"}
    values["search"] = {"guide": guide}
    config = parse_config(values, "bench")
    assert isinstance(config, AlphaZeroConfig)
    game = load_game(game_name)
    architecture = Architecture.of_game(game, channels=channels, blocks=blocks, kind="win_draw_loss_network")
    evaluator = make_evaluator(make_network(architecture), config)
    self_play = SelfPlay(game, evaluator, config, np.random.SeedSequence(0))
    self_play.step()
    search = self_play.search
    search.network_seconds = search.search_seconds = 0.0
    begin = time.perf_counter()
    while time.perf_counter() - begin < seconds:
        self_play.step()
    elapsed = time.perf_counter() - begin
    network, own = search.network_seconds / elapsed, search.search_seconds / elapsed
    return network, own, 1 - network - own


if __name__ == "__main__":
    torch.set_num_threads(1)
    for guide in ("none", "evaluation", "playouts"):
        network, search, rest = shares_of_self_play("vadus(size=5)", channels=32, blocks=4, seconds=10, guide=guide)
        print(f"{guide}: network {network:.1%}, search {search:.1%}, rest {rest:.1%}")
