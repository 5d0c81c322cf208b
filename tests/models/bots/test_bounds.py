"""Games of all bots once; with ``NUMBA_BOUNDSCHECK=1`` (``make test-bounds``) a kernel that leaves its arrays is an error."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch")

from stoneworks.envs.rules import load_game
from stoneworks.evaluation.match import play_match
from stoneworks.models import load_bot
from stoneworks.models.bots.loading import playable_bots
from stoneworks.models.bots.search_bot import SearchBot

GAMES = (
    "vadus(size=4)",
    "laido(size=4)",
    "taugo(size=6)",
    "taigo(cones=2,radius=4,tiles=14)",
    "trugo(max_turns=40,radius=3,tiles=12)",
)
BOTS = ("greedy", "alphabeta:2", "mcts:30", "mcts:30,leaf=evaluation", "mcts:40,parallel=root,threads=2")


@pytest.mark.parametrize("name", GAMES)
def test_bots_play_to_the_end(name: str) -> None:
    game = load_game(name)
    random = np.random.default_rng(0)

    def evaluate(planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        number = len(planes)
        logits = random.normal(size=(number, game.num_actions)).astype(np.float32)
        return logits, random.uniform(-1, 1, number).astype(np.float32)

    bots = [load_bot(bot, game, seed=1) for bot in playable_bots(BOTS, game)]
    bots.append(SearchBot(evaluate, game, seed=1, simulations=12, name="search"))
    for first, second in zip(bots, [*bots[1:], bots[0]], strict=True):
        result = play_match(game, first, second, num_pairs=1, seed=1)
        assert result.num_games == 2
