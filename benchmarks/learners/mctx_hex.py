"""AlphaZero of pgx and mctx on pgx's hex, as in pgx's example: compiled self-play for a number of steps, then one pass over it.

The example is for Go on accelerators. Here the network has the size of ours, and batches are small enough for many iterations on
one core. In pgx's hex, the initial position is corrected for board sizes other than 11, and the swap is never legal. Its actions
have the indices of ours.
"""

from __future__ import annotations

import os

os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false")

import dataclasses
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import mctx
import numpy as np
import optax
from flax import linen, serialization
from pgx import hex as pgx_hex
from pgx.experimental import auto_reset

from benchmarks.learners import Clock, Learner
from benchmarks.protocol import SIMULATIONS
from stoneworks.envs.rules import Game, State
from stoneworks.files import write_whole
from stoneworks.models.bots.bot import Bot, check_position
from stoneworks.models.bots.registry import register_bot


@dataclasses.dataclass(frozen=True)
class Settings:
    """Settings; those of the example but for ``channels``, ``blocks`` and the batches."""

    channels: int = 32
    blocks: int = 4
    num_games: int = 64
    num_steps: int = 64
    num_simulations: int = 32
    batch_size: int = 128
    learning_rate: float = 1e-3


SETTINGS = Settings()
OPTIMIZER = optax.adam(SETTINGS.learning_rate)
FILE = "state.msgpack"


class Hex(pgx_hex.Hex):
    """Hex on a board of any size, without the swap."""

    def _init(self, key: Any) -> Any:
        cells = self.size * self.size
        state = super()._init(key)
        return state.replace(
            observation=jnp.zeros((self.size, self.size, 4), bool),
            legal_action_mask=jnp.arange(cells + 1) < cells,
            _x=state._x._replace(board=jnp.zeros(cells, jnp.int32)),
        )

    def _step(self, state: Any, action: Any, key: Any) -> Any:
        state = super()._step(state, action, key)
        return state.replace(legal_action_mask=state.legal_action_mask.at[-1].set(False))


class Network(linen.Module):
    """A residual network with pre-activation (He et al. 2016) and the heads of AlphaGo Zero."""

    num_actions: int

    @linen.compact
    def __call__(self, observations: Any, train: bool) -> tuple[Any, Any]:
        """Return logits and values."""
        convolve = partial(linen.Conv, use_bias=False)

        def activate(features: Any) -> Any:
            return linen.relu(linen.BatchNorm(use_running_average=not train, momentum=0.9)(features))

        features = convolve(SETTINGS.channels, (3, 3))(observations.astype(jnp.float32))
        for _ in range(SETTINGS.blocks):
            inner = convolve(SETTINGS.channels, (3, 3))(activate(features))
            features += convolve(SETTINGS.channels, (3, 3))(activate(inner))
        features = activate(features)
        policy = activate(convolve(2, (1, 1))(features)).reshape(len(features), -1)
        value = activate(convolve(1, (1, 1))(features)).reshape(len(features), -1)
        hidden = linen.relu(linen.Dense(SETTINGS.channels)(value))
        return linen.Dense(self.num_actions)(policy), jnp.tanh(linen.Dense(1)(hidden))[:, 0]


class Samples(NamedTuple):
    """Positions of self-play.

    Attributes:
        observations: observations.
        policies: the improved policies of the searches.
        values: results for the player to move.
        finished: whether the game was finished, so that there is a result.
    """

    observations: Any
    policies: Any
    values: Any
    finished: Any


def evaluate(env: Hex, variables: Any, state: Any) -> tuple[Any, Any]:
    """Return logits, minus infinity for illegal actions, and values of a batch of states."""
    outputs: Any = Network(env.num_actions).apply(variables, state.observation, train=False)
    logits, values = outputs
    logits = jnp.where(state.legal_action_mask, logits, jnp.finfo(logits.dtype).min)
    return logits, jnp.where(state.terminated, 0.0, values)


def rewards_of(state: Any, players: Any) -> Any:
    """Return the rewards of one player in each state of a batch."""
    return state.rewards[jnp.arange(len(players)), players]


def search(env: Hex, variables: Any, key: Any, state: Any, simulations: int, gumbel_scale: float) -> Any:
    """Return what mctx's Gumbel search finds in a batch of states."""

    def take(variables: Any, _: Any, actions: Any, before: Any) -> tuple[Any, Any]:
        after = jax.vmap(env.step)(before, actions)
        logits, values = evaluate(env, variables, after)
        discount = jnp.where(after.terminated, 0.0, -1.0)
        rewards = rewards_of(after, before.current_player)
        return mctx.RecurrentFnOutput(reward=rewards, discount=discount, prior_logits=logits, value=values), after

    logits, values = evaluate(env, variables, state)
    return mctx.gumbel_muzero_policy(
        variables,
        key,
        mctx.RootFnOutput(prior_logits=logits, value=values, embedding=state),
        take,
        simulations,
        invalid_actions=~state.legal_action_mask,
        gumbel_scale=gumbel_scale,
    )


@partial(jax.jit, static_argnames="env")
def play(env: Hex, variables: Any, key: Any) -> Samples:
    """Return positions of self-play, by step and game."""

    def step(state: Any, key: Any) -> tuple[Any, Any]:
        of_search, of_games = jax.random.split(key)
        found = search(env, variables, of_search, state, SETTINGS.num_simulations, gumbel_scale=1.0)
        keys = jax.random.split(of_games, SETTINGS.num_games)
        after = jax.vmap(auto_reset(env.step, env.init))(state, found.action, keys)
        rewards = rewards_of(after, state.current_player)
        return after, (state.observation, found.action_weights, rewards, after.terminated)

    def results(carry: Any, step: Any) -> tuple[Any, Any]:
        value, finished = carry
        reward, terminated = step
        value = jnp.where(terminated, reward, -value)
        finished |= terminated
        return (value, finished), (value, finished)

    key, of_start = jax.random.split(key)
    start = jax.vmap(env.init)(jax.random.split(of_start, SETTINGS.num_games))
    _, (observations, policies, rewards, terminated) = jax.lax.scan(
        step, start, jax.random.split(key, SETTINGS.num_steps)
    )
    nothing = jnp.zeros(SETTINGS.num_games), jnp.zeros(SETTINGS.num_games, bool)
    _, (values, finished) = jax.lax.scan(results, nothing, (rewards, terminated), reverse=True)
    return Samples(observations, policies, values, finished)


@partial(jax.jit, static_argnames="num_actions")
def learn(num_actions: int, variables: Any, optimizer_state: Any, samples: Samples) -> tuple[Any, Any]:
    """Return the variables and the state of the optimizer after a gradient step."""

    def loss(params: Any) -> tuple[Any, Any]:
        given = {**variables, "params": params}
        (logits, values), new = Network(num_actions).apply(
            given, samples.observations, train=True, mutable="batch_stats"
        )
        of_policy = optax.softmax_cross_entropy(logits, samples.policies).mean()
        return of_policy + (optax.l2_loss(values, samples.values) * samples.finished).mean(), new

    gradients, new = jax.grad(loss, has_aux=True)(variables["params"])
    updates, optimizer_state = OPTIMIZER.update(gradients, optimizer_state)
    return {"params": optax.apply_updates(variables["params"], updates), **new}, optimizer_state


@partial(jax.jit, static_argnames="env")
def best_action(env: Hex, variables: Any, key: Any, actions: Any, num_actions: int) -> Any:
    """Return the best action after the first ``num_actions`` of ``actions``, by a search without noise."""
    start = env.init(key)
    state = jax.lax.fori_loop(0, num_actions, lambda at, state: env.step(state, actions[at]), start)
    batch = jax.tree.map(lambda each: each[None], state)
    return search(env, variables, key, batch, SIMULATIONS, gumbel_scale=0.0).action[0]


@partial(jax.jit, static_argnames="env")
def new_state(env: Hex, seed: int) -> dict[str, Any]:
    """Return new variables of the network with the state of the optimizer."""
    nothing = jnp.zeros((1, env.size, env.size, 4))
    variables = Network(env.num_actions).init(jax.random.PRNGKey(seed), nothing, train=False)
    return {"variables": variables, "optimizer": OPTIMIZER.init(variables["params"])}


def load_state(env: Hex, folder: Path, seed: int = 0) -> dict[str, Any]:
    """Return what is saved in a folder, or else a new state."""
    new = new_state(env, seed)
    file = folder / FILE
    return serialization.from_bytes(new, file.read_bytes()) if file.exists() else new


@cache
def make_env(game: Game) -> Hex:
    """Return pgx's game, always the same, for which code is compiled once. Raises ``ValueError`` if there is none."""
    if game.name != "hex" or game.options["swap"]:
        raise ValueError(f"game must be hex without swap, got {game}")
    return Hex(size=game.options["size"])


class MctxAlphaZero(Learner):
    """AlphaZero of pgx and mctx."""

    def __init__(self, game: Game, seed: int, folder: Path, clock: Clock) -> None:
        super().__init__(game, seed, folder, clock)
        self.configuration = dataclasses.asdict(SETTINGS)
        self.env = make_env(game)
        self.state = load_state(self.env, folder, seed)
        self.generator = np.random.default_rng(seed)

    def iterate(self) -> None:
        """See :meth:`Learner.iterate`."""
        variables, optimizer = self.state["variables"], self.state["optimizer"]
        key = jax.random.PRNGKey(int(self.generator.integers(2**31)))
        samples = jax.tree.map(lambda each: each.reshape(-1, *each.shape[2:]), play(self.env, variables, key))
        order = self.generator.permutation(len(samples.values))
        for rows in np.split(order, len(order) // SETTINGS.batch_size):
            batch = jax.tree.map(lambda each, rows=rows: each[rows], samples)
            variables, optimizer = learn(self.env.num_actions, variables, optimizer, batch)
        self.state = {"variables": variables, "optimizer": optimizer}
        self.steps += len(order)
        self.simulations += len(order) * SETTINGS.num_simulations

    def save(self) -> str:
        """See :meth:`Learner.save`."""
        write_whole(self.folder / FILE, serialization.to_bytes(self.state))
        return f"mctx_alphazero:{self.folder}"


class MctxAlphaZeroBot(Bot):
    """The network of pgx's and mctx's AlphaZero with its search, without noise."""

    one_game_at_a_time = True

    def __init__(self, folder: str, game: Game, seed: int | None = None) -> None:
        self._game, self._env = game, make_env(game)
        self._variables = load_state(self._env, Path(folder))["variables"]
        self._generator = np.random.default_rng(seed)

    def step_with_policy(self, state: State) -> tuple[list[tuple[int, float]], int]:
        """See :meth:`Bot.step_with_policy`. All probability is given to the action."""
        check_position(self, state, self._game)
        history = state.history()
        actions = np.zeros(self._game.max_game_length(), np.int32)
        actions[: len(history)] = history
        key = jax.random.PRNGKey(int(self._generator.integers(2**31)))
        action = int(best_action(self._env, self._variables, key, actions, len(history)))
        return [(action, 1.0)], action


register_bot("mctx_alphazero", MctxAlphaZeroBot, usage="mctx_alphazero:<folder>", reads_file=True)
