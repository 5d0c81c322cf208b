"""``NetworkBot``: base class of bots with a network. ``PolicyBot``, ``OnnxPolicyBot``: play its policy without search."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from stoneworks.checks import check_seed
from stoneworks.envs.rules import Batch, Game, State
from stoneworks.models.bots.bot import Analysis, Bot, check_batch, check_position, line_of
from stoneworks.models.bots.spec import BotSpec, UnknownBotError
from stoneworks.models.machine import keep_freed_memory
from stoneworks.models.network_inputs import NOT_FINITE, NetworkInputs

#: Maximum number of positions per call of the network, which bounds its memory.
_AT_ONCE = 256


#: Logits ``float32[n, num_actions]`` and values ``float32[n]``; None if the network has no value.
Outputs: TypeAlias = tuple[npt.NDArray[np.float32], npt.NDArray[np.float32] | None]


class PolicyAndValue(NamedTuple):
    """The outputs of a network for ``n`` positions, from the perspective of the player to move.

    Attributes:
        logits: ``float32[n, num_actions]`` of all actions, legal or not.
        policy: ``float64[n, num_actions]``, the softmax of the logits over the legal actions; 0 for illegal ones.
        value: ``float32[n]``, expected results in [-1, 1]; None if the network has no value.
    """

    logits: npt.NDArray[np.float32]
    policy: npt.NDArray[np.float64]
    value: npt.NDArray[np.float32] | None


class NetworkBot(Bot):
    """Base class of bots with a network."""

    def __init__(self, game: Game, inputs: NetworkInputs) -> None:
        self._game, self._inputs = game, inputs

    @abstractmethod
    def _infer(self, planes: npt.NDArray[np.float32]) -> Outputs:
        """Return logits and values for ``planes[n, planes, height, width]``."""

    def policy_and_value(self, positions: Batch | Sequence[State]) -> PolicyAndValue:
        """Return the network's policies and values, without search and without random numbers.

        Args:
            positions: positions of the bot's game that are not terminal; a batch must be on the CPU.

        Raises:
            ValueError: a game is over or is another one, the batch is on another device, or the network's output is not finite.
        """
        if isinstance(positions, Batch):
            check_batch(self, positions, np.arange(len(positions)), self._game)
            return self._of_records(positions.states.copy(), self._infer_many)
        for state in positions:
            check_position(self, state, self._game)
        records = np.empty(len(positions), self._game.state_dtype)
        for number, state in enumerate(positions):
            records[number] = state.record
        return self._of_records(records, self._infer_many)

    def _infer_many(self, planes: npt.NDArray[np.float32]) -> Outputs:
        """Return what ``_infer`` does, except for rounding, for :meth:`policy_and_value`."""
        return self._infer(planes)

    def _of_records(
        self, records: npt.NDArray[np.void], infer: Callable[[npt.NDArray[np.float32]], Outputs]
    ) -> PolicyAndValue:
        """Return the outputs of the network for records ``[n]`` of positions that are not terminal.

        Raises:
            ValueError: they are not finite.
        """
        found = []
        for start in range(0, max(len(records), 1), _AT_ONCE):
            planes, masks = self._inputs.of_records(records[start : start + _AT_ONCE])
            logits, values = infer(planes)
            weights = np.where(masks != 0, logits.astype(np.float64), -np.inf)
            with np.errstate(under="ignore", invalid="ignore"):  # the program may raise errors
                weights = np.exp(weights - weights.max(axis=1, keepdims=True, initial=-np.inf))
            totals = weights.sum(axis=1, keepdims=True)
            if not np.isfinite(totals).all() or (values is not None and not np.isfinite(values).all()):
                raise ValueError(NOT_FINITE)
            found.append(PolicyAndValue(logits, weights / totals, values))
        value = None
        if found[0].value is not None:
            value = np.concatenate([part.value for part in found if part.value is not None])
        logits = np.concatenate([part.logits for part in found])
        return PolicyAndValue(logits, np.concatenate([part.policy for part in found]), value)


class Network(Protocol):
    """A network of PyTorch (:class:`stoneworks.models.network.BoardNetwork`) or of an ONNX file."""

    @property
    def features(self) -> bool:
        """Whether the features of the game follow the observation in the input."""

    def infer(self, planes: npt.NDArray[np.float32]) -> Outputs:
        """Return logits ``[n, num_actions]`` and values ``[n]``, None if unknown, for ``planes[n, planes, height, width]``."""


class PolicyBot(NetworkBot):
    """Samples from a network's policy over the legal actions, or plays its most probable action."""

    name: str = "policy"

    def __init__(
        self,
        network: Network,
        game: Game,
        seed: int | None = None,
        *,
        deterministic: bool = False,
        name: str = "policy",
    ) -> None:
        """Create the bot.

        Args:
            network: the network; it is not copied.
            game: the game.
            seed: seed for sampling; None draws a random one.
            deterministic: whether to play the most probable action instead of sampling.
            name: name of the bot in results.
        """
        keep_freed_memory()
        self.network = network
        self.deterministic = deterministic
        self.samples_policy = not deterministic
        super().__init__(game, NetworkInputs(game, network.features))
        self.name = name
        #: Whether the weights of the network are those of a checkpoint, and a copy of it that is the fastest for many positions.
        self._is_loaded = False
        self._inference: Callable[[npt.NDArray[np.float32]], Outputs] | None = None
        self._generator = np.random.default_rng(check_seed(seed))

    @classmethod
    def load(
        cls,
        folder: str | os.PathLike[str],
        game: Game,
        seed: int | None = None,
        *,
        deterministic: bool | None = None,
        name: str | None = None,
    ) -> PolicyBot:
        """Return the bot of a checkpoint.

        Args:
            folder: the checkpoint.
            game: the game.
            seed: seed for sampling; None draws a random one.
            deterministic: whether to play the most probable action; None uses the setting of the checkpoint: AlphaZero
                policies are deterministic, PPO policies are sampled.
            name: name of the bot in results; None for the folder.

        Raises:
            CheckpointError: the checkpoint does not fit (see ``load_checkpoint``).
        """
        from stoneworks.models.checkpoint import load_checkpoint  # with torch, which policies in ONNX files do not need

        checkpoint = load_checkpoint(folder, game)
        if deterministic is None:
            deterministic = checkpoint.play.deterministic_policy
        bot = cls(checkpoint.network, game, seed, deterministic=deterministic, name=name or str(folder))
        bot._is_loaded = True
        return bot

    @classmethod
    def from_spec(cls, spec: BotSpec, game: Game, seed: int | None) -> PolicyBot:
        """See :meth:`Bot.from_spec`."""
        assert spec.checkpoint is not None
        return cls.load(spec.checkpoint, game, seed, name=spec.name)

    def step_with_policy(self, state: State) -> tuple[list[tuple[int, float]], int]:
        """Return policy and action (see :meth:`Bot.step_with_policy`). The policy is the network's even for a deterministic bot."""
        legal, found = self._policy_of(state)
        policy = list(zip(legal.tolist(), found.policy[0, legal].tolist(), strict=True))
        return policy, int(self._choose(found.policy)[0])

    def analyze(self, state: State) -> Analysis:
        """See :meth:`Bot.analyze`. The line goes on with the most probable actions."""
        legal, found = self._policy_of(state)
        action = int(self._choose(found.policy)[0])
        return Analysis(
            state.current_player(),
            action,
            legal,
            found.policy[0, legal],
            value=None if found.value is None else float(found.value[0]),
            line=line_of(lambda ahead: int(self._policy_of(ahead)[1].policy.argmax()), state, action),
        )

    def step_batch(self, batch: Batch, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """See :meth:`Bot.step_batch`."""
        check_batch(self, batch, rows, self._game)
        return self._choose(self._of_records(batch.states[rows], self._infer).policy)

    def _policy_of(self, state: State) -> tuple[npt.NDArray[np.int64], PolicyAndValue]:
        """Return the legal actions of a position, and its policy and value as a batch of one."""
        check_position(self, state, self._game)
        found = self._of_records(state.record.reshape(1), self._infer)
        return np.array(state.legal_actions(), np.int64), found

    def _infer(self, planes: npt.NDArray[np.float32]) -> Outputs:
        return self.network.infer(planes)

    def _infer_many(self, planes: npt.NDArray[np.float32]) -> Outputs:
        if not self._is_loaded:
            return self._infer(planes)
        from stoneworks.models.inference.network_inference import make_inference

        if self._inference is None:
            self._inference = make_inference(self.network)  # type: ignore[arg-type]
        return self._inference(planes)

    def _choose(self, probabilities: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
        if self.deterministic:
            return probabilities.argmax(axis=1)
        # The random numbers have single precision, so their products with the double-precision sums stay below the
        # sums, and the first cumulative sum above one belongs to an action with nonzero probability.
        cumulative = probabilities.cumsum(axis=1)
        draws = self._generator.random((len(probabilities), 1), np.float32).astype(np.float64) * cumulative[:, -1:]
        return (cumulative > draws).argmax(axis=1)


class OnnxPolicyBot(PolicyBot):
    """Plays a policy in an ONNX file (see :mod:`stoneworks.models.inference.onnx_policy`), as its ``selection`` says."""

    @classmethod
    def from_spec(cls, spec: BotSpec, game: Game, seed: int | None) -> OnnxPolicyBot:
        """See :meth:`Bot.from_spec`; the text of the name is the path of the file.

        Raises:
            UnknownBotError: the name is invalid for this bot.
        """
        from stoneworks.models.inference.onnx_policy import OnnxPolicy, OnnxPolicyError

        try:
            policy = OnnxPolicy.load(spec.text, game)
        except OnnxPolicyError as error:
            raise UnknownBotError(f"{spec.name!r} cannot play {game}: {error}") from error
        return cls(policy, game, seed, deterministic=policy.selection == "argmax", name=spec.name)
