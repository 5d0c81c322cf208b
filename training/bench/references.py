"""Reference contestants: environments and engines of other projects, and a no-op environment.

The other projects are optional; the extra ``bench`` installs most of them.
"""

from __future__ import annotations

import os
import warnings
from functools import partial
from typing import Any

import numpy as np
from pettingzoo import AECEnv

from stoneworks.training.bench.contestant import Contestant, Play
from stoneworks.training.bench.random_play import play_aec_at_random

PGX_BATCH_SIZES = (16, 64, 256, 1024, 4096)


class DoNothingEnv(AECEnv[str, dict[str, Any], int]):
    """No-op AEC environment with the interface of ours, a lower bound on cost: it switches agents and returns fixed arrays."""

    def __init__(self, observation_shape: tuple[int, ...], num_actions: int, num_steps: int) -> None:
        super().__init__()
        self.metadata = {"name": "do_nothing_v0"}
        self.possible_agents = ["player_0", "player_1"]
        self._num_steps = num_steps
        self._observation = {
            "observation": np.zeros(observation_shape, np.float32),
            "action_mask": np.ones(num_actions, np.int8),
        }

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Reset the environment."""
        self.agents = list(self.possible_agents)
        self.rewards = dict.fromkeys(self.agents, 0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self.agent_selection = self.agents[0]
        self._steps = 0

    def observe(self, agent: str) -> dict[str, Any]:
        """Return the same observation in every call."""
        return self._observation

    def step(self, action: int) -> None:
        """Switch to the other agent."""
        self._steps += 1
        self.agent_selection = self.possible_agents[self._steps & 1]
        if self._steps == self._num_steps:
            self.terminations = dict.fromkeys(self.agents, True)


def do_nothing_steps(observation_shape: tuple[int, ...], num_actions: int, num_steps: int) -> Contestant:
    """Return a contestant: steps of a no-op AEC environment with observations and masks of the given shape."""
    return Contestant(
        "AEC do-nothing", lambda: play_aec_at_random(DoNothingEnv(observation_shape, num_actions, num_steps))
    )


def connect_four_steps() -> Contestant:
    """Return a contestant: steps of PettingZoo's connect four, as made by ``env()``. Requires pygame."""

    def prepare() -> Play:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            from pettingzoo.classic import connect_four_v3

        return play_aec_at_random(connect_four_v3.env())

    return Contestant("PettingZoo connect_four_v3", prepare, requires=("pygame",))


def openspiel_state_steps() -> Contestant:
    """Return a contestant: steps of OpenSpiel's C++ hex from Python, ``legal_actions()``, then ``apply_action``."""

    def prepare() -> Play:
        import pyspiel

        start = pyspiel.load_game("hex(board_size=11)").new_initial_state()
        rng = np.random.default_rng(0)

        def play(steps: int) -> int:
            done = 0
            while done < steps:
                state = start.clone()
                while not state.is_terminal():
                    actions = state.legal_actions()
                    state.apply_action(actions[int(rng.random() * len(actions))])
                    done += 1
            return done

        return play

    return Contestant("OpenSpiel hex(board_size=11), State", prepare, requires=("pyspiel",))


def openspiel_playout_actions() -> Contestant:
    """Return a contestant: actions of OpenSpiel's C++ ``RandomRolloutEvaluator`` on hex, in a search of one simulation.

    The evaluator does not report the number of actions. It is estimated as the number of rollouts times the mean length of
    1,000 random games, which is accurate to within 0.5 %.
    """

    def prepare() -> Play:
        import pyspiel

        game = pyspiel.load_game("hex(board_size=11)")
        start = game.new_initial_state()
        rng = np.random.default_rng(0)
        num_actions = 0
        for _ in range(1000):
            state = start.clone()
            while not state.is_terminal():
                actions = state.legal_actions()
                state.apply_action(actions[int(rng.random() * len(actions))])
                num_actions += 1
        mean_length = num_actions / 1000

        def play(actions: int) -> int:
            num_rollouts = max(1, round(actions / mean_length))
            evaluator = pyspiel.RandomRolloutEvaluator(num_rollouts, 0)
            bot = pyspiel.MCTSBot(game, evaluator, 1.0, 1, 1, False, 0, False)
            bot.mcts_search(start)
            return round(num_rollouts * mean_length)

        return play

    return Contestant("OpenSpiel hex(board_size=11), RandomRolloutEvaluator", prepare, requires=("pyspiel",))


def openspiel_search_simulations(game_string: str, simulations: int) -> Contestant:
    """Return a contestant: simulations of OpenSpiel's C++ ``MCTSBot``, one random rollout each, from the initial state."""

    def prepare() -> Play:
        import pyspiel

        game = pyspiel.load_game(game_string)
        start = game.new_initial_state()
        evaluator = pyspiel.RandomRolloutEvaluator(1, 0)  # one rollout, seed 0
        exploration, max_memory_mb, solve, seed, verbose = 1.0, 1000, True, 0, False
        bot = pyspiel.MCTSBot(game, evaluator, exploration, simulations, max_memory_mb, solve, seed, verbose)

        def play(amount: int) -> int:
            done = 0
            while done < amount:
                bot.mcts_search(start)
                done += simulations
            return done

        return play

    return Contestant(f"OpenSpiel {game_string}, MCTSBot", prepare, requires=("pyspiel",))


def pgx_steps() -> Contestant:
    """Return a contestant: steps of pgx's hex at the fastest batch size of a short trial, with masks, actions and resets."""

    def prepare() -> Play:
        trials = [Contestant(f"pgx, {size}", partial(_pgx_play, size)) for size in PGX_BATCH_SIZES]
        for trial in trials:
            trial.measure(0.1)
        return max(trials, key=lambda trial: trial.rates_per_second[0]).play

    return Contestant("pgx hex, best batch size", prepare, requires=("pgx", "jax"))


def _pgx_play(batch_size: int) -> Play:
    """Return a function that steps a batch of pgx's hex in a compiled loop."""
    os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false")
    import jax
    import jax.numpy as jnp
    import pgx
    from pgx.experimental.wrappers import auto_reset

    env = pgx.make("hex")
    step = jax.vmap(auto_reset(env.step, env.init))
    steps_per_call = max(1, 16384 // batch_size)

    @jax.jit
    def run(state: Any, key: Any) -> Any:
        def one_step(carry: Any, _: None) -> Any:
            state, key = carry
            key, action_key, step_key = jax.random.split(key, 3)
            logits = jnp.where(state.legal_action_mask, 0.0, -jnp.inf)
            state = step(
                state, jax.random.categorical(action_key, logits, axis=-1), jax.random.split(step_key, batch_size)
            )
            return (state, key), None

        return jax.lax.scan(one_step, (state, key), None, length=steps_per_call)

    carry = (jax.jit(jax.vmap(env.init))(jax.random.split(jax.random.PRNGKey(0), batch_size)), jax.random.PRNGKey(1))

    def play(steps: int) -> int:
        nonlocal carry
        done = 0
        while done < steps:
            carry, _ = run(*carry)
            done += batch_size * steps_per_call
        jax.block_until_ready(carry)
        return done

    return play


def mctx_simulations(num_games: int, num_simulations: int) -> Contestant:
    """Return a contestant: simulations of mctx's ``gumbel_muzero_policy`` in pgx's hex, compiled, with a constant network."""
    name = f"mctx on pgx hex, {num_games} games of {num_simulations} simulations"
    return Contestant(name, lambda: _mctx_play(num_games, num_simulations), requires=("pgx", "jax", "mctx"))


def _mctx_play(num_games: int, num_simulations: int) -> Play:
    os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false")
    import jax
    import jax.numpy as jnp
    import mctx
    import pgx

    env = pgx.make("hex")
    step = jax.vmap(env.step)

    def answer(state: Any) -> Any:
        return jnp.where(state.legal_action_mask, 0.0, -1e9), jnp.zeros(num_games)

    def take(params: Any, key: Any, actions: Any, state: Any) -> Any:
        players = state.current_player
        state = step(state, actions)
        logits, values = answer(state)
        discount = jnp.where(state.terminated, 0.0, -1.0)
        reward = state.rewards[jnp.arange(num_games), players]
        return mctx.RecurrentFnOutput(reward=reward, discount=discount, prior_logits=logits, value=values), state

    @jax.jit
    def run(state: Any, key: Any) -> Any:
        logits, values = answer(state)
        found = mctx.gumbel_muzero_policy(
            None,
            key,
            mctx.RootFnOutput(prior_logits=logits, value=values, embedding=state),
            take,
            num_simulations,
            invalid_actions=~state.legal_action_mask,
        )
        return found.action, found.action_weights

    start = jax.jit(jax.vmap(env.init))(jax.random.split(jax.random.PRNGKey(0), num_games))
    key = jax.random.PRNGKey(1)

    def play(simulations: int) -> int:
        nonlocal key
        done = 0
        while done < simulations:
            key, of_search = jax.random.split(key)
            jax.block_until_ready(run(start, of_search))
            done += num_games * num_simulations
        return done

    return play
