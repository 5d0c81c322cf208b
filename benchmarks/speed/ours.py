"""The workloads of stoneworks."""

from __future__ import annotations

import time

import numpy as np

from benchmarks.speed.example_games import HEX, load_measured_game
from benchmarks.speed.random_play import play_aec_at_random
from benchmarks.speed.workload import Play, Workload
from stoneworks.envs.aec import BoardGameEnv
from stoneworks.envs.rules import Batch, Game, State
from stoneworks.evaluation.match import random_opening
from stoneworks.models.bots.loading import load_bot
from stoneworks.models.bots.mcts_bot import MCTSBot
from stoneworks.models.search.gumbel import Gumbel
from stoneworks.models.search.network_search import NetworkSearch, SearchSettings

#: Positions in a random game at which players are measured, as fractions of its length.
PLACES_IN_GAME = (0.02, 0.15, 0.3, 0.45, 0.6, 0.75)


def _requires(game_name: str) -> tuple[str, ...]:
    return (HEX,) if game_name.startswith("hex") else ()


def state_steps(game_name: str) -> Workload:
    """Return the workload: steps of one ``State``, a random one of ``legal_actions()``, then ``apply_action``."""

    def prepare() -> Play:
        game = load_measured_game(game_name)
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

        return play

    return Workload(f"State of {game_name}", prepare, requires=_requires(game_name))


def aec_steps(game_name: str) -> Workload:
    """Return the workload: steps of the AEC environment."""
    return Workload(f"AEC {game_name}", lambda: play_aec_at_random(BoardGameEnv(game_name)))


def batch_steps(game_name: str, num_games: int, num_threads: int = 1, *, wall_clock: bool = False) -> Workload:
    """Return the workload: steps of a batch with observation and mask, including the choice of random actions."""

    def prepare() -> Play:
        batch = Batch(load_measured_game(game_name), num_games, auto_reset=True, num_threads=num_threads, seed=0)

        def play(steps: int) -> int:
            done = 0
            while done < steps:
                batch.step(batch.random_actions())
                done += num_games
            return done

        return play

    threads = f", num_threads={num_threads}" if wall_clock else ""
    clock = time.perf_counter if wall_clock else time.process_time
    return Workload(f"Batch({game_name}, {num_games}{threads})", prepare, requires=_requires(game_name), clock=clock)


def playout_actions(game_name: str) -> Workload:
    """Return the workload: actions of random playouts from the initial state, on one thread."""

    def prepare() -> Play:
        batch = Batch(load_measured_game(game_name), 256, seed=0)

        def play(actions: int) -> int:
            done = 0
            while done < actions:
                done += int(batch.random_playouts()[1].sum())
            return done

        return play

    return Workload(f"random_playouts() of {game_name}", prepare, requires=_requires(game_name))


def mcts_simulations(game_name: str, simulations: int) -> Workload:
    """Return the workload: simulations of ``mcts:<simulations>`` from the initial state, each search from scratch."""

    def prepare() -> Play:
        game = load_measured_game(game_name)
        state = game.new_initial_state()
        bot = MCTSBot(game, 0, simulations=simulations)

        def play(units: int) -> int:
            done = 0
            while done < units:
                bot.restart()
                bot.step(state)
                done += simulations
            return done

        return play

    return Workload(f"mcts:{simulations} of {game_name}", prepare, requires=_requires(game_name))


def network_search_simulations(game_name: str, num_games: int, num_simulations: int) -> Workload:
    """Return the workload: simulations of a Gumbel search in many games at once, on one thread, with a constant network."""

    def prepare() -> Play:
        game = load_measured_game(game_name)
        logits, values = np.zeros((num_games, game.num_actions), np.float32), np.zeros(num_games, np.float32)
        search = NetworkSearch(
            game,
            lambda planes: (logits[: len(planes)], values[: len(planes)]),
            SearchSettings(Gumbel()),
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

        return play

    return Workload(
        f"Gumbel search of {game_name}, {num_games} games of {num_simulations} simulations",
        prepare,
        requires=_requires(game_name),
    )


def moves(game_name: str, bot_name: str) -> Workload:
    """Return the workload: actions chosen by a bot in positions of random games, up to three quarters of the game."""

    def prepare() -> Play:
        game = load_measured_game(game_name)
        bot = load_bot(bot_name, game, 0)
        states = positions_of_random_games(game)

        def play(units: int) -> int:
            done = 0
            while done < units:  # always all positions, since their costs differ
                for state in states:
                    bot.step(state)
                done += len(states)
            return done

        return play

    return Workload(f"{bot_name} of {game_name}", prepare, requires=_requires(game_name))


def single_game_simulations(game_name: str, bot_name: str, *, wall_clock: bool = False) -> Workload:
    """Return the workload: simulations of a bot with a network at the tenth action of a random game, each search from scratch."""

    def prepare() -> Play:
        from stoneworks.models.bots.search_bot import SearchBot

        game = load_measured_game(game_name)
        bot = load_bot(bot_name, game, 0)
        assert isinstance(bot, SearchBot)
        state = random_opening(game, 9, np.random.default_rng(0))

        def play(simulations: int) -> int:
            done = 0
            while done < simulations:
                bot.restart()
                bot.step(state)
                done += bot.simulations
            return done

        return play

    clock = time.perf_counter if wall_clock else time.process_time
    return Workload(f"{bot_name} of {game_name}", prepare, requires=("torch",), clock=clock)


def positions_of_random_games(game: Game) -> list[State]:
    """Return the positions at ``PLACES_IN_GAME`` of one random game with a fixed seed."""
    rng = np.random.default_rng(0)
    states = [game.new_initial_state()]
    while not states[-1].is_terminal():
        actions = states[-1].legal_actions()
        states.append(states[-1].child(actions[int(rng.random() * len(actions))]))
    return [states[int(place * (len(states) - 1))] for place in PLACES_IN_GAME]
