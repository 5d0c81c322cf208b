"""What is measured of stoneworks."""

from __future__ import annotations

import numpy as np

from stoneworks.envs.aec import BoardGameEnv
from stoneworks.envs.rules import Batch, Game
from stoneworks.models.bots.mcts_bot import MCTSBot
from stoneworks.models.search.gumbel import Gumbel
from stoneworks.models.search.network_search import NetworkSearch
from stoneworks.training.bench.contestant import Contestant
from stoneworks.training.bench.random_play import play_aec_at_random


def state_steps(game: Game) -> Contestant:
    """Steps of a single ``State``: a random one of ``legal_actions()``, then ``apply_action``."""
    rng = np.random.default_rng(0)

    def play(steps: int) -> int:
        done = 0
        while done < steps:
            state = game.new_initial_state()
            while not state.is_terminal():
                actions = state.legal_actions()
                state.apply_action(actions[int(rng.random() * len(actions))])
                done += 1
        return done

    return Contestant(f"State of {game}", play)


def aec_steps(game: Game) -> Contestant:
    """Steps of the AEC environment."""
    return Contestant(f"AEC {game}", play_aec_at_random(BoardGameEnv(str(game))))


def batch_steps(game: Game, num_games: int) -> Contestant:
    """Steps of a batch with observation and mask, on one thread, random actions included."""
    batch = Batch(game, num_games, auto_reset=True, seed=0)

    def play(steps: int) -> int:
        done = 0
        while done < steps:
            batch.step(batch.random_actions())
            done += num_games
        return done

    return Contestant(f"Batch({game}, {num_games})", play)


def playout_actions(game: Game) -> Contestant:
    """Actions of random playouts from the start, on one thread."""
    batch = Batch(game, 256, seed=0)

    def play(actions: int) -> int:
        done = 0
        while done < actions:
            done += int(batch.random_playouts()[1].sum())
        return done

    return Contestant(f"random_playouts() of {game}", play)


def mcts_simulations(game: Game, simulations: int) -> Contestant:
    """Simulations of ``mcts:<simulations>`` searching the start of the game, each time anew, on one thread."""
    state = game.new_initial_state()
    bot = MCTSBot(game, 0, simulations=simulations)

    def play(amount: int) -> int:
        done = 0
        while done < amount:
            bot.restart()
            bot.step(state)
            done += simulations
        return done

    return Contestant(f"{bot.name} of {game}", play)


def network_search_simulations(game: Game, num_games: int, num_simulations: int) -> Contestant:
    """Simulations of a Gumbel search from the start of many games, on one thread, with a constant in the network's place."""
    logits, values = np.zeros((num_games, game.num_actions), np.float32), np.zeros(num_games, np.float32)
    search = NetworkSearch(
        game,
        lambda planes: (logits[: len(planes)], values[: len(planes)]),
        Gumbel(),
        max_games=num_games,
        max_simulations=num_simulations,
    )
    roots = np.array([game.new_initial_state().record] * num_games, game.state_dtype)
    rng = np.random.default_rng(0)

    def play(simulations: int) -> int:
        done = 0
        while done < simulations:
            search.run(roots, num_simulations, rng)
            done += num_games * num_simulations
        return done

    return Contestant(f"search of {game}, {num_games} games of {num_simulations} simulations, no network", play)
