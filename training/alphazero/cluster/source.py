"""``ClusterSelfPlay``: a source of games that self-play actors on a Ray cluster play."""

from __future__ import annotations

import contextlib
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from stoneworks.cluster import ClusterError, Node, alive_nodes, connected
from stoneworks.extras import require_extra
from stoneworks.models.network import BoardNetwork
from stoneworks.training.alphazero.cluster.actors import Actors, PlayedBatch, Weights
from stoneworks.training.alphazero.cluster.status import ClusterStatus
from stoneworks.training.alphazero.config import AlphaZeroConfig
from stoneworks.training.alphazero.self_play import PlayedGame, SelfPlayTimings
from stoneworks.training.alphazero.sources import GameSource

with require_extra("train", "training runs"):
    from torch import Tensor
with require_extra("cluster", "clusters"):
    import ray

_SECONDS_TO_WAIT = 0.2


class ClusterSelfPlay(GameSource):
    """Plays continuously on the nodes of a Ray cluster.

    A thread hands out calls to the actors and queues their games, also during learning. It hands out no more calls while one
    iteration of positions is queued.
    """

    def __init__(
        self,
        network: BoardNetwork,
        config: AlphaZeroConfig,
        seed: np.random.SeedSequence,
        progress: float,
        report: Callable[[str], None],
    ) -> None:
        """Connect to the cluster ``config.cluster`` and start the actors.

        Args:
            network: the network, with the initial weights.
            config: the configuration; ``processes`` limits the number of actors.
            seed: seed of all actors.
            progress: completed fraction of the run.
            report: called from :meth:`collect` with a message for each loss, restart or new node.

        Raises:
            ClusterError: the cluster cannot be used: there is none, or no node has a core.
        """
        self._report = report
        self._room = config.positions_per_iteration
        self._changed = threading.Condition()
        self._queue: deque[tuple[Node, PlayedBatch]] = deque()
        self._queued_positions = 0
        self._messages: deque[str] = deque()
        self._error: BaseException | None = None
        self._closing = threading.Event()
        self._games_by_node: Counter[str] = Counter()
        self._behind: list[int] = []
        self._since = time.monotonic()
        with contextlib.ExitStack() as stack:
            stack.enter_context(connected(config.cluster))
            _check_nodes(config)
            weights = _put(network.playing_state_dict(), 0, progress)
            self._actors = Actors(network.architecture, config, seed, weights, self._messages.append)
            stack.callback(self._actors.stop)
            self._leave = stack.pop_all()
        self._thread = threading.Thread(target=self._pump, name="self-play cluster", daemon=True)
        self._thread.start()

    def _next_games(self, stop: threading.Event) -> tuple[Sequence[PlayedGame], SelfPlayTimings]:
        """See :meth:`GameSource._next_games`.

        Raises:
            ClusterError: a node differs.
            SelfPlayError: an actor failed too often.
        """
        while self._messages:
            self._report(self._messages.popleft())
        with self._changed:
            if not self._queue:
                if self._error is not None:
                    raise self._error
                self._changed.wait(_SECONDS_TO_WAIT)
                return (), SelfPlayTimings()
            node, batch = self._queue.popleft()
            self._queued_positions -= sum(len(game.positions) for game in batch.games)
        self._games_by_node[node.name] += len(batch.games)
        self._behind += [self._actors.weights.update - batch.update] * len(batch.games)
        return batch.games, batch.timings

    def update(self, weights: Mapping[str, Tensor], progress: float) -> None:
        """See :meth:`GameSource.update`. The weights enter the object store once; each node fetches them once."""
        self._actors.weights = _put(weights, self._actors.weights.update + 1, progress)

    def status(self) -> ClusterStatus:
        """Return the status since the previous call."""
        seconds = max(1e-9, time.monotonic() - self._since)
        self._since = time.monotonic()
        games, self._games_by_node = self._games_by_node, Counter()
        behind, self._behind = self._behind, []
        nodes = self._actors.nodes
        rates = {name: games[name] / seconds for name in {**dict.fromkeys(node.name for node in nodes), **games}}
        return ClusterStatus(
            nodes=len(nodes),
            actors=self._actors.num_actors,
            queued_positions=self._queued_positions,
            outstanding_batches=self._actors.num_outstanding,
            weights_behind=float(np.mean(behind)) if behind else 0.0,
            max_weights_behind=max(behind, default=0),
            restarts=self._actors.restarts,
            lost_batches=self._actors.lost_batches,
            games_per_second_by_node=rates,
        )

    def close(self) -> None:
        """Stop the actors and disconnect from the cluster."""
        self._closing.set()
        self._thread.join()
        self._leave.close()

    def _pump(self) -> None:
        """Exchange calls and batches with the actors until :meth:`close`."""
        try:
            while not self._closing.is_set():
                for node, batch in self._actors.work(self._queued_positions < self._room, _SECONDS_TO_WAIT):
                    with self._changed:
                        self._queue.append((node, batch))
                        self._queued_positions += sum(len(game.positions) for game in batch.games)
                        self._changed.notify()
        except BaseException as error:  # raised again by collect
            self._error = error


def _check_nodes(config: AlphaZeroConfig) -> None:
    """Raise :class:`ClusterError` if no node has cores for self-play, or one of them lacks a GPU that is required."""
    nodes = [node for node in alive_nodes().values() if node.num_cores >= config.threads]
    if not nodes:
        raise ClusterError(f"the cluster {config.cluster!r} has no node with {config.threads} CPU cores for self-play")
    without = [node.name for node in nodes if node.num_gpus == 0]
    if config.device == "cuda" and without:
        raise ClusterError(f"device is cuda, but node {without[0]} has no GPU; use device auto")


def _put(weights: Mapping[str, Tensor], update: int, progress: float) -> Weights:
    arrays = {name: tensor.detach().cpu().numpy() for name, tensor in weights.items()}
    return Weights(ray.put(arrays), update, progress)
