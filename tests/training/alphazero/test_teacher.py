"""The one-turn search as a teacher: it plays like the greedy bot, and a run begins with its games."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch")

from stoneworks.envs.rules import load_game
from stoneworks.envs.rules.games import small_games
from stoneworks.evaluation.match import random_opening
from stoneworks.models import load_bot
from stoneworks.models.bots.greedy_bot import GreedyBot
from stoneworks.models.evaluations import has_evaluation
from stoneworks.training.alphazero.config import AlphaZeroConfig, SearchConfig, SelfPlayConfig
from stoneworks.training.alphazero.self_play import SelfPlay
from stoneworks.training.alphazero.teacher import Teacher

GAMES = [game for game in small_games() if has_evaluation(load_game(game))]


@pytest.mark.parametrize("name", GAMES)
def test_the_teacher_prefers_what_the_greedy_bot_prefers(name: str) -> None:
    game = load_game(name)
    rng = np.random.default_rng(0)
    states = [random_opening(game, int(rng.integers(1, 6)), rng) for _ in range(10)]
    result = Teacher(game, 0).run(np.array([state.record for state in states], game.state_dtype))
    greedy = load_bot("greedy", game, 1)
    assert isinstance(greedy, GreedyBot)
    for row, state in enumerate(states):
        preferred = {action for action, share in greedy.step_with_policy(state)[0] if share > 0}
        assert set(np.flatnonzero(result.policies[row])) == preferred
        assert result.actions[row] in preferred
        assert result.policies[row].sum() == pytest.approx(1)
        assert abs(result.values[row]) <= 1


def test_a_run_begins_with_games_of_the_teacher_without_network_evaluations() -> None:
    config = AlphaZeroConfig(
        game="vadus(size=3)",
        positions=100,
        search=SearchConfig(simulations=4, fast_simulations=2, teacher_share=0.5, guide="none"),
        self_play=SelfPlayConfig(num_games=4, random_opening_share=0.0),
    )
    game = load_game(config.game)
    asked = []

    def evaluate(planes):  # type: ignore[no-untyped-def]
        asked.append(len(planes))
        return np.zeros((len(planes), game.num_actions), np.float32), np.zeros(len(planes), np.float32)

    self_play = SelfPlay(game, evaluate, config, np.random.SeedSequence(0))
    played = []
    while not played:
        played = self_play.step()
    assert not asked
    # Every position of the game is a training position, and its policy contains the action played.
    assert len(played[0].positions) == len(played[0].actions)
    for position, action in zip(played[0].positions, played[0].actions, strict=True):
        assert action in position["actions"][position["probabilities"] > 0]
    for progress, asks in ((0.49, False), (0.5, True)):
        self_play.set_progress(progress)
        self_play.step()
        assert bool(asked) == asks
