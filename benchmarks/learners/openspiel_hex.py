"""OpenSpiel's AlphaZero in Python and JAX, and its MCTS bot in C++, on its own hex, whose actions have the indices of ours.

AlphaZero has the settings of OpenSpiel's example, but for the size of the network, which is that of ours, and for the number of
sampled actions, which the example lowers for tic-tac-toe. Its actor and its learner take turns in one process. Its network is
compiled for inference, which OpenSpiel runs operation by operation: that makes its self-play some thirty times as fast.
"""

from __future__ import annotations

import os

os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false")

from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pyspiel
from open_spiel.python.algorithms import mcts
from open_spiel.python.algorithms.alpha_zero import replay_buffer, utils
from open_spiel.python.algorithms.alpha_zero.evaluator import AlphaZeroEvaluator

from benchmarks.learners import Clock, Learner
from benchmarks.protocol import SIMULATIONS
from stoneworks.envs.rules import Game, State
from stoneworks.models.bots.bot import Bot, check_position
from stoneworks.models.bots.registry import Parameter, register_bot

SETTINGS: dict[str, Any] = {
    "nn_api_version": "nnx",
    "nn_model": "resnet",
    "nn_width": 32,
    "nn_depth": 4,
    "max_simulations": 40,
    "uct_c": 1.41,
    "policy_alpha": 1.0,
    "policy_epsilon": 0.25,
    "temperature_drop": 10,
    "train_batch_size": 128,
    "replay_buffer_size": 8192,
    "replay_buffer_reuse": 4,
    "learning_rate": 1e-3,
    "weight_decay": 1e-4,
}
#: OpenSpiel names checkpoints by step.
STEP = 0


def load_theirs(game: Game) -> Any:
    """Return OpenSpiel's game. Raises ``ValueError`` if there is none."""
    if game.name != "hex":
        raise ValueError(f"game must be hex, got {game}")
    return pyspiel.load_game(f"hex(board_size={game.options['size']},swap={game.options['swap']})")


def make_model(theirs: Any, folder: Path | None = None, seed: int = 0) -> Any:
    """Return a network with the weights in ``folder``, or new ones."""
    settings = SETTINGS
    model = utils.api_selector(settings["nn_api_version"]).Model.build_model(
        settings["nn_model"],
        theirs.observation_tensor_shape(),
        theirs.num_distinct_actions(),
        settings["nn_width"],
        settings["nn_depth"],
        settings["weight_decay"],
        settings["learning_rate"],
        str(folder.resolve()) if folder else None,
        seed=seed,
    )
    if folder and (folder / f"checkpoint-{STEP}").exists():
        model.load_checkpoint(STEP)

    @jax.jit
    def infer(state: Any, observation: Any, mask: Any) -> Any:
        return type(model)(state, None, None).inference(observation, mask)

    model.inference = lambda *inputs: jax.device_get(infer(model._state, *inputs))
    return model


def make_search(theirs: Any, model: Any, simulations: int, seed: int | None, *, noise: bool) -> mcts.MCTSBot:
    """Return OpenSpiel's search with a network."""
    return mcts.MCTSBot(
        theirs,
        SETTINGS["uct_c"],
        simulations,
        AlphaZeroEvaluator(theirs, model),
        solve=False,
        random_state=np.random.RandomState(seed),
        dirichlet_noise=(SETTINGS["policy_epsilon"], SETTINGS["policy_alpha"]) if noise else None,
        child_selection_fn=mcts.SearchNode.puct_value,
        dont_return_chance_node=True,
    )


class OpenSpielAlphaZero(Learner):
    """AlphaZero. A resumed run has its network and optimizer, but begins with an empty replay buffer."""

    def __init__(self, game: Game, seed: int, folder: Path, clock: Clock) -> None:
        super().__init__(game, seed, folder, clock)
        self.configuration = SETTINGS
        self.theirs = load_theirs(game)
        self.model = make_model(self.theirs, folder, seed)
        self.generator = np.random.default_rng(seed)
        self.buffer = replay_buffer.Buffer(SETTINGS["replay_buffer_size"], seed=seed)
        self.new_states = 0

    def iterate(self) -> None:
        """Play a game; learn when there are enough new states."""
        self._play_game()
        if self.new_states >= SETTINGS["replay_buffer_size"] // SETTINGS["replay_buffer_reuse"]:
            self.new_states = 0
            for _ in range(len(self.buffer) // SETTINGS["train_batch_size"]):
                self.model.update(self.buffer.sample(SETTINGS["train_batch_size"]))

    def _play_game(self) -> None:
        simulations = SETTINGS["max_simulations"]
        # A new evaluator has no cached outputs from before the update.
        bot = make_search(self.theirs, self.model, simulations, int(self.generator.integers(2**31)), noise=True)
        state = self.theirs.new_initial_state()
        seen: list[tuple[Any, Any, Any]] = []
        while not state.is_terminal():
            root = bot.mcts_search(state)
            policy = np.zeros(self.theirs.num_distinct_actions())
            for child in root.children:
                policy[child.action] = child.explore_count
            policy /= policy.sum()
            sampled = len(seen) < SETTINGS["temperature_drop"]
            seen.append((state.observation_tensor(), state.legal_actions_mask(), policy))
            state.apply_action(
                int(self.generator.choice(len(policy), p=policy)) if sampled else root.best_child().action
            )
        result = jnp.asarray(state.returns()[0], jnp.float32)  # OpenSpiel's network learns the value for player 0
        for observation, mask, policy in seen:
            self.buffer.append(
                utils.TrainInput(
                    observation=jnp.asarray(observation, jnp.float32),
                    legals_mask=jnp.asarray(mask, bool),
                    policy=jnp.asarray(policy, jnp.float32),
                    value=result,
                )
            )
        self.steps += len(seen)
        self.simulations += len(seen) * simulations
        self.new_states += len(seen)

    def save(self) -> str:
        """See :meth:`Learner.save`."""
        self.model.save_checkpoint(STEP)
        return f"openspiel_alphazero:{self.folder}"


class OpenSpielBot(Bot):
    """Lets a bot of OpenSpiel play Hex."""

    one_game_at_a_time = True

    def __init__(self, game: Game, bot: Any) -> None:
        self._game, self._theirs, self._bot = game, load_theirs(game), bot

    def step_with_policy(self, state: State) -> tuple[list[tuple[int, float]], int]:
        """See :meth:`Bot.step_with_policy`. All probability is given to the action."""
        check_position(self, state, self._game)
        theirs = self._theirs.new_initial_state()
        for action in state.history():
            theirs.apply_action(action)
        action = self._bot.step(theirs)
        return [(action, 1.0)], action


class OpenSpielAlphaZeroBot(OpenSpielBot):
    """The network of OpenSpiel's AlphaZero with its search."""

    def __init__(self, folder: str, game: Game, seed: int | None = None) -> None:
        theirs = load_theirs(game)
        model = make_model(theirs, Path(folder))
        super().__init__(game, make_search(theirs, model, SIMULATIONS, seed, noise=False))


class OpenSpielMCTSBot(OpenSpielBot):
    """OpenSpiel's MCTS in C++, with random rollouts and its solver."""

    def __init__(self, game: Game, seed: int | None = None, *, simulations: int) -> None:
        seed = int(np.random.default_rng(seed).integers(2**31))
        evaluator = pyspiel.RandomRolloutEvaluator(1, seed)
        exploration, max_memory_mib, solve, verbose = 2.0, 1000, True, False
        super().__init__(
            game,
            pyspiel.MCTSBot(
                load_theirs(game), evaluator, exploration, simulations, max_memory_mib, solve, seed, verbose
            ),
        )


register_bot("openspiel_alphazero", OpenSpielAlphaZeroBot, usage="openspiel_alphazero:<folder>", reads_file=True)
register_bot(
    "openspiel_mcts",
    OpenSpielMCTSBot,
    usage="openspiel_mcts:<simulations>",
    budgets=(Parameter("simulations", int, 1),),
)
