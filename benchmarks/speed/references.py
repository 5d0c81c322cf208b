"""Reference workloads: environments and engines of other projects, and a no-op environment.

The other projects are optional; the extra ``bench`` installs most of them.
"""

from __future__ import annotations

import os
from functools import partial
from typing import Any

import numpy as np
from pettingzoo import AECEnv

from benchmarks.speed.ppo import connect_four
from benchmarks.speed.random_play import play_aec_at_random
from benchmarks.speed.workload import Play, Workload

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


def do_nothing_steps(observation_shape: tuple[int, ...], num_actions: int, num_steps: int) -> Workload:
    """Return the workload: steps of a no-op AEC environment with observations and masks of the given shape."""
    return Workload(
        "AEC do-nothing", lambda: play_aec_at_random(DoNothingEnv(observation_shape, num_actions, num_steps))
    )


def connect_four_steps() -> Workload:
    """Return the workload: steps of PettingZoo's connect four, as made by ``env()``. Requires pygame."""
    return Workload("PettingZoo connect_four_v3", lambda: play_aec_at_random(connect_four()), requires=("pygame",))


def openspiel_state_steps() -> Workload:
    """Return the workload: steps of OpenSpiel's C++ hex from Python, ``legal_actions()``, then ``apply_action``."""

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

    return Workload("OpenSpiel hex(board_size=11), State", prepare, requires=("pyspiel",))


def openspiel_playout_actions() -> Workload:
    """Return the workload: actions of OpenSpiel's C++ ``RandomRolloutEvaluator`` on hex, in a search of one simulation.

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

    return Workload("OpenSpiel hex(board_size=11), RandomRolloutEvaluator", prepare, requires=("pyspiel",))


def openspiel_search_simulations(game_string: str, simulations: int) -> Workload:
    """Return the workload: simulations of OpenSpiel's C++ ``MCTSBot``, one random rollout each, from the initial state."""

    def prepare() -> Play:
        import pyspiel

        game = pyspiel.load_game(game_string)
        start = game.new_initial_state()
        evaluator = pyspiel.RandomRolloutEvaluator(1, 0)  # one rollout, seed 0
        exploration, max_memory_mb, solve, seed, verbose = 1.0, 1000, True, 0, False
        bot = pyspiel.MCTSBot(game, evaluator, exploration, simulations, max_memory_mb, solve, seed, verbose)

        def play(units: int) -> int:
            done = 0
            while done < units:
                bot.mcts_search(start)
                done += simulations
            return done

        return play

    return Workload(f"OpenSpiel {game_string}, MCTSBot", prepare, requires=("pyspiel",))


def pgx_steps() -> Workload:
    """Return the workload: steps of pgx's hex at the fastest batch size of a short trial, with masks, actions and resets."""

    def prepare() -> Play:
        trials = [Workload(f"pgx, {size}", partial(_pgx_play, size)) for size in PGX_BATCH_SIZES]
        for trial in trials:
            trial.measure(0.1)
        return max(trials, key=lambda trial: trial.rates_per_second[0]).play

    return Workload("pgx hex, best batch size", prepare, requires=("pgx", "jax"))


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


def openspiel_alphazero_simulations(size: int, simulations: int) -> Workload:
    """Return the workload: simulations of self-play of OpenSpiel's AlphaZero in Python and JAX, one game at a time.

    Its network and settings are those of ``benchmarks.learners.openspiel_hex``, which compiles what OpenSpiel does not.
    Requires flax, optax and orbax-checkpoint in addition to OpenSpiel.
    """

    def prepare() -> Play:
        import pyspiel

        from benchmarks.learners.openspiel_hex import make_model, make_search

        game = pyspiel.load_game(f"hex(board_size={size},swap=False)")
        bot = make_search(game, make_model(game), simulations, seed=0, noise=True)
        rng = np.random.default_rng(0)
        state = game.new_initial_state()

        def play(units: int) -> int:
            nonlocal state
            done = 0
            while done < units:
                children = bot.mcts_search(state).children
                visits = np.array([child.explore_count for child in children], np.float64)
                state.apply_action(children[rng.choice(len(children), p=visits / visits.sum())].action)
                done += simulations
                if state.is_terminal():
                    state = game.new_initial_state()
            return done

        return play

    name = f"OpenSpiel AlphaZero, hex(board_size={size},swap=False), {simulations} simulations"
    return Workload(name, prepare, requires=("pyspiel", "jax", "flax", "optax", "orbax"))


def mctx_simulations(num_games: int, num_simulations: int) -> Workload:
    """Return the workload: simulations of mctx's ``gumbel_muzero_policy`` in pgx's hex, compiled, with a constant network."""
    name = f"mctx on pgx hex, {num_games} games of {num_simulations} simulations"
    return Workload(name, lambda: _mctx_play(num_games, num_simulations), requires=("pgx", "jax", "mctx"))


def mctx_simulations_with_network(channels: int, blocks: int, num_games: int, num_simulations: int) -> Workload:
    """Return the workload: like :func:`mctx_simulations`, with a residual network in JAX, in float32.

    The network has the layers of ours: a stem, blocks of two convolutions with a bias from global pooling, and two heads. The
    board has 11 cells a side, because the initial position of pgx is wrong for other sizes.
    """
    name = f"mctx on pgx hex, {blocks} x {channels}, {num_games} games of {num_simulations} simulations"
    prepare = partial(_mctx_play, num_games, num_simulations, (channels, blocks))
    return Workload(name, prepare, requires=("pgx", "jax", "mctx"))


def _jax_network(observation_shape: tuple[int, ...], channels: int, blocks: int) -> Any:
    """Return a function from observations ``[batch, height, width, planes]`` to logits and values, with random weights."""
    import jax
    import jax.numpy as jnp

    height, width, num_planes = observation_shape
    rng = np.random.default_rng(0)

    def weights(*shape: int) -> Any:
        return jnp.asarray(rng.normal(0, np.prod(shape[:-1]) ** -0.5, shape), jnp.float32)

    stem = weights(3, 3, num_planes, channels)
    body = [
        (weights(3, 3, channels, channels), weights(2 * channels, channels), weights(3, 3, channels, channels))
        for _ in range(blocks)
    ]
    of_cells, hidden = weights(channels, 1), weights(2 * channels, 2 * channels)
    of_global, of_value = weights(2 * channels, 1), weights(2 * channels, 3)

    def convolve(features: Any, kernel: Any) -> Any:
        return jax.lax.conv_general_dilated(
            features, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
        )

    def pool(features: Any) -> Any:
        return jnp.concatenate([features.mean((1, 2)), features.max((1, 2))], axis=1)

    def evaluate(observations: Any) -> Any:
        features = jax.nn.relu(convolve(observations, stem))
        for first, bias, second in body:
            inner = jax.nn.relu(convolve(features, first) + (pool(features) @ bias)[:, None, None, :])
            features = jax.nn.relu(features + convolve(inner, second))
        pooled = jax.nn.relu(pool(features) @ hidden)
        logits = jnp.concatenate([(features @ of_cells).reshape(-1, height * width), pooled @ of_global], axis=1)
        outcomes = jax.nn.softmax(pooled @ of_value)
        return logits, outcomes[:, 0] - outcomes[:, 2]

    return evaluate


def _mctx_play(num_games: int, num_simulations: int, channels_and_blocks: tuple[int, int] | None = None) -> Play:
    os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false")
    import jax
    import jax.numpy as jnp
    import mctx
    import pgx

    env = pgx.make("hex")
    step = jax.vmap(env.step)
    evaluate = _jax_network(env.observation_shape, *channels_and_blocks) if channels_and_blocks else None

    def answer(state: Any) -> Any:
        if evaluate is None:
            return jnp.where(state.legal_action_mask, 0.0, -1e9), jnp.zeros(num_games)
        logits, values = evaluate(state.observation.astype(jnp.float32))
        return jnp.where(state.legal_action_mask, logits, -1e9), values

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
