"""Chunks of an arena as tasks on a Ray cluster. Games depend on the chunk alone, not on the node or the order."""

from __future__ import annotations

import functools
import logging
import os
from collections import Counter
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from stoneworks.envs.rules.registry import Entry, add_entries, added_entries
from stoneworks.evaluation.checkpoint_hashes import checkpoint_hashes
from stoneworks.evaluation.errors import ArenaPlayError
from stoneworks.evaluation.records import GameRecord
from stoneworks.evaluation.schedule import Chunk
from stoneworks.evaluation.settings import ArenaSettings
from stoneworks.evaluation.workers import Player, play_chunk, use_one_thread
from stoneworks.extras import require_extra
from stoneworks.training.cluster.connection import alive_nodes, connected
from stoneworks.training.cluster.errors import ClusterError
from stoneworks.training.cluster.identity import Identity, check_nodes, difference, identity_of, this_node

with require_extra("cluster", "clusters"):
    import ray

logger = logging.getLogger("stoneworks.cluster")

#: Times that a chunk is played again after the loss of its worker or node.
MAX_RETRIES = 3


@dataclass(frozen=True)
class _Work:
    """What the tasks of an arena share; it is sent to each node once."""

    entries: tuple[Entry, ...]
    settings: ArenaSettings
    players: Mapping[str, Player]
    folder: str
    identity: Identity


def play_chunks_on_cluster(
    settings: ArenaSettings, players: Mapping[str, Player], chunks: Sequence[Chunk], address: str
) -> Generator[tuple[Chunk, tuple[GameRecord, ...]], None, None]:
    """Yield each chunk with its games when it is finished, in any order. A chunk that is lost with a node is played again.

    Leaving the iterator early cancels the tasks.

    Args:
        settings: the settings of the arena.
        players: bot names by player name; paths of checkpoints must lead to equal files on all nodes.
        chunks: the chunks.
        address: address of the cluster (see :func:`stoneworks.training.cluster.connection.connected`).

    Raises:
        ClusterError: the cluster cannot be used: there is none, a node differs, or no node has a core.
        ArenaPlayError: a player failed, or a chunk was lost too often.
    """
    folder = os.getcwd()
    with connected(address):
        nodes = [node for node in alive_nodes().values() if node.num_cores >= 1]
        if not nodes:
            raise ClusterError(f"the cluster {address!r} has no node with a CPU core")
        hashes = functools.partial(_hashes, dict(players), folder)
        check_nodes(nodes, (settings.game,), hashes)
        identity = identity_of((settings.game,), hashes)
        work = ray.put(_Work(added_entries(), settings, dict(players), folder, identity))
        task = ray.remote(_play).options(num_cpus=1, max_retries=0)
        waiting = list(reversed(chunks))
        playing: dict[Any, Chunk] = {}
        losses: Counter[Chunk] = Counter()
        try:
            while waiting or playing:
                # One more task per node than it has cores, so that no core waits for this process.
                room = sum(int(node.num_cores) + 1 for node in alive_nodes().values() if node.num_cores >= 1)
                while waiting and len(playing) < max(1, room):
                    chunk = waiting.pop()
                    playing[task.remote(work, chunk)] = chunk
                ready, _ = ray.wait(list(playing))
                for reference in ready:
                    chunk = playing.pop(reference)
                    try:
                        answer = ray.get(reference)
                    except ray.exceptions.RayTaskError:
                        raise
                    except ray.exceptions.RayError as error:
                        losses[chunk] += 1
                        _note_loss(settings, chunk, losses[chunk], str(error).partition("\n")[0])
                        waiting.append(chunk)
                        continue
                    if isinstance(answer, Exception):
                        raise answer
                    yield chunk, answer
        finally:
            for reference in playing:
                ray.cancel(reference, force=True)


def _note_loss(settings: ArenaSettings, chunk: Chunk, number: int, reason: str) -> None:
    first, second = settings.pairings[chunk.pairing]
    if number > MAX_RETRIES:
        raise ArenaPlayError(f"{first!r} against {second!r}: chunk {chunk.number} was lost {number} times: {reason}")
    logger.warning(
        "%r against %r: chunk %d was lost and is played again (%d of at most %d): %s",
        *(first, second, chunk.number, number, MAX_RETRIES, reason),
    )


def _play(work: _Work, chunk: Chunk) -> tuple[GameRecord, ...] | ArenaPlayError | ClusterError:
    """Play a chunk on a node; return its games, or the error that ends the arena."""
    add_entries(work.entries)
    found = identity_of((work.settings.game,), functools.partial(_hashes, work.players, work.folder))
    if found != work.identity:  # a node that joined after the check
        return ClusterError(difference(this_node(), found, work.identity))
    use_one_thread()
    try:
        return play_chunk(work.settings, work.players, chunk)
    except ArenaPlayError as error:
        return ArenaPlayError(str(error))


def _hashes(players: Mapping[str, Player], folder: str) -> Mapping[str, str]:
    """Return the hashes of checkpoints among the players, whose paths may be relative to the folder of the driver."""
    if os.path.isdir(folder):
        os.chdir(folder)
    return checkpoint_hashes(players)
