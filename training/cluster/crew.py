"""``Crew``: the self-play actors of a run, one per core, their outstanding batches, losses, restarts and new nodes."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from stoneworks.extras import require_extra
from stoneworks.models.architecture import Architecture
from stoneworks.registry import added_entries
from stoneworks.training.alphazero.config import AlphaZeroConfig
from stoneworks.training.alphazero.sources import SelfPlayError
from stoneworks.training.cluster.actor import PlayedBatch, SelfPlayActor
from stoneworks.training.cluster.connection import Node, alive_nodes
from stoneworks.training.cluster.identity import ask_identity, difference, identity_of

with require_extra("cluster", "clusters"):
    import ray
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

#: Calls that an actor has at a time: one that it plays and one that waits, so that it never waits for the learner's node.
OUTSTANDING_BATCHES = 2
#: Time after which an actor returns what it has.
BATCH_SECONDS = 1.0
#: Restarts of an actor in a session; the failure after them ends the run.
MAX_RESTARTS = 3
_SECONDS_BETWEEN_LOOKS = 1.0


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
class _Member:
    """An actor and its outstanding calls."""

    node: Node
    actor: Any
    outstanding: deque[Any] = field(default_factory=deque)
    restarts: int = 0


class Crew:
    """The actors. Used by one thread, which calls :meth:`work` in a loop.

    Attributes:
        weights: the latest weights, set by the owner.
        restarts: number of actors that were started again.
        lost_batches: number of batches that were lost with actors and nodes.
    """

    def __init__(
        self,
        architecture: Architecture,
        config: AlphaZeroConfig,
        seed: np.random.SeedSequence,
        weights: Weights,
        tell: Callable[[str], None],
    ) -> None:
        """Initialize the crew without actors.

        Args:
            architecture: architecture of the network.
            config: configuration of the run.
            seed: seed of all actors.
            weights: initial weights.
            tell: called with a message for each loss, restart or new node.
        """
        self.weights = weights
        self.restarts = self.lost_batches = 0
        self._architecture = architecture
        self._config = config
        self._seed = seed
        self._tell = tell
        self._identity = identity_of(tuple(config.shares()))
        self._members: list[_Member] = []
        self._nodes: dict[str, Node] = {}
        self._asked: dict[Any, Node] = {}
        self._refused: set[str] = set()
        self._traces: set[str] = set()
        self._looked = time.monotonic()
        self._actor_class = ray.remote(SelfPlayActor)

    @property
    def num_actors(self) -> int:
        """Number of actors."""
        return len(self._members)

    @property
    def nodes(self) -> dict[str, Node]:
        """The nodes with actors."""
        return {member.node.identifier: member.node for member in tuple(self._members)}

    @property
    def num_outstanding(self) -> int:
        """Number of calls that have not been answered."""
        return sum(len(member.outstanding) for member in tuple(self._members))

    def admit(self, node: Node) -> None:
        """Start actors on a node that runs the same code: one per ``threads`` cores, as far as ``processes`` allows."""
        self._nodes[node.identifier] = node
        self._fill()

    def work(self, room: bool, timeout: float) -> Iterator[tuple[Node, PlayedBatch]]:
        """Hand out calls, and yield the batches that arrive within ``timeout`` seconds, with their nodes.

        Args:
            room: whether to hand out new calls.
            timeout: maximum time to wait.

        Raises:
            SelfPlayError: an actor failed more often than it may be started again.
        """
        if time.monotonic() - self._looked > _SECONDS_BETWEEN_LOOKS:
            self._look_at_nodes()
        if room:
            self._hand_out()
        of_reference = {reference: member for member in self._members for reference in member.outstanding}
        waiting = [*of_reference, *self._asked]
        if not waiting:
            time.sleep(timeout)
            return
        ready, _ = ray.wait(waiting, timeout=timeout)
        if ready:  # and all others that are ready at the same time
            ready, _ = ray.wait(waiting, num_returns=len(waiting), timeout=0)
        for reference in ready:
            if reference in self._asked:
                self._take_answer(reference)
                continue
            member = of_reference[reference]
            if reference not in member.outstanding:
                continue  # lost with an earlier one of the same actor
            batch = self._take(member, reference)
            if batch is not None:
                yield member.node, batch

    def dismiss(self) -> None:
        """Stop all actors."""
        for member in self._members:
            ray.kill(member.actor)
        self._members.clear()

    # -- Calls -------------------------------------------------------------------------------------------------------

    def _hand_out(self) -> None:
        weights = self.weights
        num_positions = max(1, self._config.positions_per_iteration // (OUTSTANDING_BATCHES * max(1, self.num_actors)))
        for _ in range(OUTSTANDING_BATCHES):
            for member in self._members:
                if len(member.outstanding) < OUTSTANDING_BATCHES:
                    call = member.actor.play.remote(
                        weights.reference, weights.update, weights.progress, num_positions, BATCH_SECONDS
                    )
                    member.outstanding.append(call)

    def _take(self, member: _Member, reference: Any) -> PlayedBatch | None:
        try:
            batch: PlayedBatch = ray.get(reference)
        except ray.exceptions.ActorUnavailableError:  # it comes back, or its death is reported next
            if reference in member.outstanding:
                member.outstanding.remove(reference)
                self.lost_batches += 1
            return None
        except ray.exceptions.RayActorError as error:
            self._lose(member, error)
            return None
        except ray.exceptions.RayError:  # the batch was lost on its way; the actor plays on
            member.outstanding.remove(reference)
            self.lost_batches += 1
            return None
        member.outstanding.remove(reference)
        if batch.trace:
            ray.kill(member.actor)
            self._restart(member, "failed", batch.trace.strip().splitlines()[-1], batch.trace)
            return None
        return batch

    # -- Losses and restarts -----------------------------------------------------------------------------------------

    def _lose(self, member: _Member, error: Exception) -> None:
        """Deal with the death of an actor: with its node, or alone."""
        self._look_at_nodes()
        if member in self._members:
            self._restart(member, "died", str(error).partition("\n")[0])

    def _restart(self, member: _Member, event: str, reason: str, trace: str = "") -> None:
        """Start an actor again and report it. A trace that was reported before is not reported again.

        Raises:
            SelfPlayError: the actor has been started again too often. A note contains the trace.
        """
        what = f"a self-play actor on node {member.node.name} {event}"
        self.lost_batches += len(member.outstanding)
        member.outstanding.clear()
        if member.restarts == MAX_RESTARTS:
            error = SelfPlayError(f"{what} {MAX_RESTARTS + 1} times: {reason}")
            if trace:
                error.add_note(trace)
            raise error
        member.restarts += 1
        self.restarts += 1
        member.actor = self._start(member.node)
        if trace in self._traces:
            return
        self._traces.update([trace] if trace else [])
        self._tell(
            f"{what}; its games in progress are lost, and it is started again (restart {member.restarts} of at most "
            f"{MAX_RESTARTS}): {trace.rstrip() or reason}"
        )

    def _look_at_nodes(self) -> None:
        """Drop the actors of nodes that are gone, and ask new nodes for their identity."""
        self._looked = time.monotonic()
        alive = alive_nodes()
        for node in [node for identifier, node in self._nodes.items() if identifier not in alive]:
            del self._nodes[node.identifier]
            lost = [member for member in self._members if member.node == node]
            self.lost_batches += sum(len(member.outstanding) for member in lost)
            self._members = [member for member in self._members if member.node != node]
            self._tell(
                f"lost node {node.name} with {len(lost)} actors and their games in progress; "
                f"{self.num_actors} actors play on" + ("" if self._members else "; waiting for nodes to join")
            )
        asked = {node.identifier for node in self._asked.values()}
        for identifier, node in alive.items():
            known = identifier in self._nodes or identifier in asked or identifier in self._refused
            if not known and self._num_places(node) > 0:
                self._asked[ask_identity(node, tuple(self._config.shares()))] = node
        self._fill()

    def _take_answer(self, reference: Any) -> None:
        node = self._asked.pop(reference)
        try:
            found = difference(node, ray.get(reference), self._identity)
        except ray.exceptions.RayError as error:
            found = f"node {node.name} failed: {str(error).partition(chr(10))[0]}"
        if found:
            self._refused.add(node.identifier)
            self._tell(f"{found}; it gets no actors")
            return
        before = self.num_actors
        self.admit(node)
        if self.num_actors > before:
            self._tell(f"node {node.name} joined with {self.num_actors - before} actors")

    # -- Places ------------------------------------------------------------------------------------------------------

    def _num_places(self, node: Node) -> int:
        return int(node.num_cores // self._config.threads)

    def _fill(self) -> None:
        """Start actors in turn on the nodes with free places."""
        limit = self._config.processes
        free = {
            identifier: self._num_places(node) - sum(member.node == node for member in self._members)
            for identifier, node in self._nodes.items()
        }
        while any(places > 0 for places in free.values()):
            for identifier, places in free.items():
                if places > 0 and (limit < 0 or self.num_actors < limit):
                    node = self._nodes[identifier]
                    self._members.append(_Member(node, self._start(node)))
                free[identifier] = places - 1

    def _start(self, node: Node) -> Any:
        place = NodeAffinitySchedulingStrategy(node.identifier, soft=False)
        actor = self._actor_class.options(
            num_cpus=self._config.threads,
            num_gpus=self._gpu_share(node),
            scheduling_strategy=place,
            max_restarts=0,
        )
        return actor.remote(added_entries(), self._architecture, self._config, self._seed.spawn(1)[0])

    def _gpu_share(self, node: Node) -> float:
        """Return the share of a GPU that each actor of a node gets; Ray hides GPUs from actors that do not ask for one."""
        if self._config.device == "cpu" or node.num_gpus == 0:
            return 0.0
        share = node.num_gpus / max(1, self._num_places(node))
        return float(int(share)) if share >= 1 else int(share * 1e4) / 1e4
