"""``Actors``: the self-play actors of a run on a Ray cluster, their outstanding batches, losses and new nodes.

Each actor stays on its node, since nodes with and without GPUs need different resources; Ray starts it again there.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from stoneworks.cluster import ClusterError, Identity, Node, alive_nodes, check_identity, identity_of
from stoneworks.envs.rules import load_game
from stoneworks.extras import require_extra
from stoneworks.models.architecture import Architecture
from stoneworks.models.network import make_network
from stoneworks.registry import Entry, add_entries, added_entries
from stoneworks.training.alphazero.config import AlphaZeroConfig
from stoneworks.training.alphazero.self_play import PlayedGame, SelfPlayTimings
from stoneworks.training.alphazero.sources import InProcessSelfPlay, SelfPlayError

with require_extra("cluster", "clusters"):
    import ray
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

#: Calls that an actor has at a time: one that it plays and one that waits, so that it never waits for the learner's node.
OUTSTANDING_BATCHES = 2
#: Time after which an actor returns what it has.
BATCH_SECONDS = 1.0
#: Restarts of an actor by Ray; the failure after them ends the run.
MAX_RESTARTS = 3
_SECONDS_BETWEEN_LOOKS = 1.0

#: Weights of a network by name.
Arrays = Mapping[str, npt.NDArray[np.float32]]


@dataclass
class PlayedBatch:
    """Games that an actor finished in one call.

    Attributes:
        update: number of the update of the weights that the actor had.
        games: the games, possibly none.
        timings: time and counts of the call.
    """

    update: int
    games: list[PlayedGame] = field(default_factory=list)
    timings: SelfPlayTimings = field(default_factory=SelfPlayTimings)


class SelfPlayActor:
    """The Ray actor: plays one batch per call with an :class:`InProcessSelfPlay`, as a self-play process does."""

    def __init__(
        self,
        entries: tuple[Entry, ...],
        identity: Identity,
        architecture: Architecture,
        config: AlphaZeroConfig,
        seed: np.random.SeedSequence,
    ) -> None:
        """Begin the games. Raises :class:`ClusterError` if this node does not run the code of ``identity``."""
        add_entries(entries)
        check_identity(identity, identity_of_run(config))
        self._self_play = InProcessSelfPlay(make_network(architecture, seed=0), config, seed)
        self._update = -1

    def play(self, weights: Arrays, update: int, progress: float, num_positions: int, seconds: float) -> PlayedBatch:
        """Play until there are ``num_positions`` positions of finished games, or ``seconds`` have passed; at least one step.

        Args:
            weights: the latest weights; Ray shares them between the actors of a node.
            update: their number.
            progress: completed fraction of the run.
            num_positions: number of positions that ends the call.
            seconds: time that ends the call.
        """
        batch = PlayedBatch(update)
        until = time.monotonic() + seconds
        if update != self._update:
            # Ray's shared memory is read-only, which torch does not support.
            self._self_play.update({name: np.array(array) for name, array in weights.items()}, progress)
            self._update = update
        missing = num_positions
        while True:
            games, timings = self._self_play.step()
            batch.games += games
            batch.timings = SelfPlayTimings.sum((batch.timings, timings))
            missing -= sum(len(game.positions) for game in games)
            if missing <= 0 or time.monotonic() > until:
                return batch


def identity_of_run(config: AlphaZeroConfig) -> Identity:
    """Return what must be equal on all nodes: the code and the games."""
    return identity_of(("envs", "models", "evaluation", "training"), map(load_game, config.shares(0)))


@dataclass(frozen=True)
class Weights:
    """Weights in the object store.

    Attributes:
        reference: the reference to arrays by name.
        update: their number.
        progress: completed fraction of the run.
    """

    reference: Any
    update: int
    progress: float


@dataclass(eq=False)
class _Actor:
    """An actor with its outstanding calls, and its failure since its latest answer."""

    node: Node
    handle: Any
    outstanding: list[Any] = field(default_factory=list)
    restarts: int = 0
    has_answered: bool = False
    failure: str = ""
    trace: str = ""


class Actors:
    """The actors, as many per node as it has cores for. Used by one thread, which calls :meth:`work` in a loop.

    Attributes:
        weights: the latest weights, set by the owner.
        restarts: number of restarts of actors.
        lost_batches: number of batches that were lost with actors and nodes.
    """

    def __init__(
        self,
        architecture: Architecture,
        config: AlphaZeroConfig,
        seed: np.random.SeedSequence,
        weights: Weights,
        report: Callable[[str], None],
    ) -> None:
        """Start the actors on all nodes.

        Args:
            architecture: architecture of the network.
            config: configuration of the run.
            seed: seed of all actors.
            weights: initial weights.
            report: called with a message for each loss, restart or new node.
        """
        self.weights = weights
        self.restarts = self.lost_batches = 0
        self._architecture = architecture
        self._config = config
        self._seed = seed
        self._report = report
        self._identity = identity_of_run(config)
        self._actors: list[_Actor] = []
        self._nodes: set[str] | None = None
        self._new_nodes: set[str] = set()
        self._refused: set[str] = set()
        self._look_at_nodes()

    @property
    def num_actors(self) -> int:
        """Number of actors, without those on new nodes that have not answered yet."""
        return sum(actor.node.identifier not in self._new_nodes for actor in tuple(self._actors))

    @property
    def nodes(self) -> tuple[Node, ...]:
        """The nodes of these actors."""
        nodes = {actor.node.identifier: actor.node for actor in tuple(self._actors)}
        return tuple(node for identifier, node in nodes.items() if identifier not in self._new_nodes)

    @property
    def num_outstanding(self) -> int:
        """Number of calls that have not been answered."""
        return sum(len(actor.outstanding) for actor in tuple(self._actors))

    def work(self, room: bool, timeout: float) -> Iterator[tuple[Node, PlayedBatch]]:
        """Hand out calls, and yield the batches that arrive within ``timeout`` seconds, with their nodes.

        Args:
            room: whether to hand out new calls.
            timeout: maximum time to wait.

        Raises:
            ClusterError: a node that belonged to the cluster from the start cannot play.
            SelfPlayError: an actor failed more often than Ray starts it again.
        """
        if time.monotonic() - self._looked > _SECONDS_BETWEEN_LOOKS:
            self._look_at_nodes()
        if room:
            self._hand_out()
        actor_of = {reference: actor for actor in self._actors for reference in actor.outstanding}
        if not actor_of:
            time.sleep(timeout)
            return
        ready, _ = ray.wait(list(actor_of), timeout=timeout)
        if ready:  # and all others that are ready at the same time
            ready, _ = ray.wait(list(actor_of), num_returns=len(actor_of), timeout=0)
        for reference in ready:
            actor = actor_of[reference]
            if reference not in actor.outstanding:
                continue  # lost with an earlier one of the same actor
            batch = self._take(actor, reference)
            if batch is not None:
                yield actor.node, batch

    def stop(self) -> None:
        """Stop all actors."""
        for actor in self._actors:
            ray.kill(actor.handle)
        self._actors.clear()

    def _hand_out(self) -> None:
        weights = self.weights
        num_positions = max(
            1, self._config.positions_per_iteration // (OUTSTANDING_BATCHES * max(1, len(self._actors)))
        )
        arguments = weights.reference, weights.update, weights.progress, num_positions, BATCH_SECONDS
        for _ in range(OUTSTANDING_BATCHES):
            for actor in self._actors:
                if len(actor.outstanding) < OUTSTANDING_BATCHES:
                    actor.outstanding.append(actor.handle.play.remote(*arguments))

    def _take(self, actor: _Actor, reference: Any) -> PlayedBatch | None:
        """Return an answer to a call, or None if it was lost."""
        try:
            batch: PlayedBatch = ray.get(reference)
        except ray.exceptions.RayTaskError as error:
            ray.kill(actor.handle, no_restart=False)  # it would go on with games that are neither finished nor intact
            self._lose(actor, f"failed: {error.cause!r}", str(error))
        except ray.exceptions.ActorUnavailableError as error:  # Ray starts it again, or its node is gone
            self._lose(actor, f"died: {str(error).partition(chr(10))[0]}")
        except ray.exceptions.RayActorError as error:
            self._look_at_nodes()
            if actor in self._actors:
                self._end(actor, str(error).strip().splitlines()[-1].strip())
        except ray.exceptions.RayError:  # the batch was lost on its way; the actor plays on
            actor.outstanding.remove(reference)
            self.lost_batches += 1
        else:
            actor.outstanding.remove(reference)
            self._note_answer(actor)
            return batch
        return None

    def _note_answer(self, actor: _Actor) -> None:
        """Report the new start of an actor, and a new node, with the first answer after it."""
        if actor.failure:
            actor.restarts += 1
            self.restarts += 1
            self._report(
                f"a self-play actor on node {actor.node.name} {actor.failure}; its games in progress are lost, and it is "
                f"started again (restart {actor.restarts} of at most {MAX_RESTARTS}){actor.trace and f': {actor.trace}'}"
            )
        if actor.node.identifier in self._new_nodes:
            self._new_nodes.remove(actor.node.identifier)
            number = sum(other.node == actor.node for other in self._actors)
            self._report(f"node {actor.node.name} joined with {number} actors")
        actor.failure, actor.has_answered = "", True

    def _lose(self, actor: _Actor, failure: str, trace: str = "") -> None:
        """Note the loss of all batches of an actor, which Ray starts again."""
        self.lost_batches += len(actor.outstanding)
        actor.outstanding.clear()
        actor.failure, actor.trace = failure, trace

    def _end(self, actor: _Actor, reason: str) -> None:
        """Deal with an actor that Ray does not start again: its node cannot play, or it has failed too often."""
        self.lost_batches += len(actor.outstanding)
        name = actor.node.name
        is_new = actor.node.identifier in self._new_nodes
        can_play = actor.has_answered or (actor.failure and "ClusterError: " not in reason)
        if actor.has_answered or (can_play and not is_new):
            error = SelfPlayError(
                f"a self-play actor on node {name} has been started again {MAX_RESTARTS} times: {actor.failure or reason}"
            )
            if actor.trace:
                error.add_note(actor.trace)
            raise error
        problem = reason.partition("ClusterError: ")[2] or (
            f"node {name} cannot play with stoneworks {self._identity['stoneworks']}: "
            + (actor.failure or f"{reason}; install it there")
        )
        if not is_new:
            raise ClusterError(problem)
        self._refused.add(actor.node.identifier)
        self._drop(actor.node)
        self._report(f"{problem}; it gets no actors")

    def _look_at_nodes(self) -> None:
        """Drop the actors of nodes that are gone, and start actors on new nodes."""
        self._looked = time.monotonic()
        alive = alive_nodes()
        for node in {actor.node.identifier: actor.node for actor in self._actors}.values():
            if node.identifier not in alive:
                lost = self._drop(node)
                self._report(
                    f"lost node {node.name} with {lost} actors and their games in progress; "
                    f"{self.num_actors} actors play on" + ("" if self._actors else "; waiting for nodes to join")
                )
        usable = [node for node in alive.values() if node.identifier not in self._refused]
        known = self._nodes
        self._nodes = {node.identifier for node in usable if self._num_places(node)}
        if known is not None:
            self._new_nodes |= self._nodes - known
        self._fill(usable)

    def _drop(self, node: Node) -> int:
        """Forget the actors of a node, and return their number."""
        lost = [actor for actor in self._actors if actor.node == node]
        for actor in lost:
            self.lost_batches += len(actor.outstanding)
            actor.outstanding.clear()
        self._actors = [actor for actor in self._actors if actor.node != node]
        self._new_nodes.discard(node.identifier)
        return len(lost)

    def _num_places(self, node: Node) -> int:
        return int(node.num_cores // self._config.threads)

    def _fill(self, nodes: Sequence[Node]) -> None:
        """Start actors in turn on the nodes: one per ``threads`` cores, as far as ``processes`` allows."""
        limit = self._config.processes
        present = Counter(actor.node.identifier for actor in self._actors)
        for place in range(max(map(self._num_places, nodes), default=0)):
            for node in nodes:
                free = present[node.identifier] <= place < self._num_places(node)
                if free and (limit < 0 or len(self._actors) < limit):
                    self._actors.append(_Actor(node, self._start(node)))

    def _start(self, node: Node) -> Any:
        actor = ray.remote(SelfPlayActor).options(
            num_cpus=self._config.threads,
            num_gpus=self._gpu_share(node),
            scheduling_strategy=NodeAffinitySchedulingStrategy(node.identifier, soft=False),
            max_restarts=MAX_RESTARTS,
        )
        return actor.remote(added_entries(), self._identity, self._architecture, self._config, self._seed.spawn(1)[0])

    def _gpu_share(self, node: Node) -> float:
        """Return the share of a GPU that each actor of a node gets; Ray hides GPUs from actors that do not ask for one."""
        if self._config.device == "cpu" or node.num_gpus == 0:
            return 0.0
        share = node.num_gpus / max(1, self._num_places(node))
        return float(int(share)) if share >= 1 else int(share * 1e4) / 1e4
