"""Chunks of an arena as tasks on a Ray cluster. Games depend on the chunk alone, not on the node or the order."""

from __future__ import annotations

import os
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from stoneworks.cluster import ClusterError, Identity, alive_nodes, check_identity, connected, identity_of
from stoneworks.envs.rules import load_game
from stoneworks.evaluation.folder import player_hashes
from stoneworks.evaluation.records import GameRecord
from stoneworks.evaluation.settings import ArenaChunk, ArenaSettings
from stoneworks.evaluation.workers import ArenaPlayError, Player, play_chunk
from stoneworks.extras import require_extra
from stoneworks.registry import Entry, add_entries, added_entries

with require_extra("cluster", "clusters"):
    import ray

#: Times that Ray plays a chunk again after the loss of its worker or node.
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
    settings: ArenaSettings, players: Mapping[str, Player], chunks: Sequence[ArenaChunk], address: str
) -> Generator[tuple[ArenaChunk, tuple[GameRecord, ...]], None, None]:
    """Yield each chunk with its games when it is finished, in any order. A chunk that is lost with a node is played again.

    Leaving the iterator early cancels the tasks.

    Args:
        settings: the settings of the arena.
        players: bot names by player name; paths of checkpoints must lead to equal files on all nodes.
        chunks: the chunks.
        address: address of the cluster (see :func:`stoneworks.cluster.connected`).

    Raises:
        ClusterError: the cluster cannot be used: there is none, a node differs, or no node has a core.
        ArenaPlayError: a player failed, or a chunk was lost too often.
    """
    with connected(address):
        if not any(node.num_cores >= 1 for node in alive_nodes().values()):
            raise ClusterError(f"the cluster {address!r} has no node with a CPU core")
        identity = _identity(settings, players)
        work = ray.put(_Work(added_entries(), settings, dict(players), os.getcwd(), identity))
        task = ray.remote(_play).options(num_cpus=1, max_retries=MAX_RETRIES)
        waiting = list(reversed(chunks))
        playing: dict[Any, ArenaChunk] = {}
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
                    yield chunk, _games_of(reference, settings, chunk)
        finally:
            for reference in playing:
                ray.cancel(reference, force=True)


def _games_of(reference: Any, settings: ArenaSettings, chunk: ArenaChunk) -> tuple[GameRecord, ...]:
    """Return the games of a finished task, or raise its error."""
    try:
        return ray.get(reference)
    except ray.exceptions.RayTaskError as error:
        if isinstance(error.cause, (ArenaPlayError, ClusterError)):
            raise error.cause from None
        raise ClusterError(f"a node cannot play: {str(error).strip().splitlines()[-1]}") from error
    except ray.exceptions.RayError as error:
        first, second = settings.pairings[chunk.pairing]
        reason = str(error).partition("\n")[0]
        raise ArenaPlayError(
            f"{first!r} against {second!r}: chunk {chunk.number} was lost {MAX_RETRIES + 1} times: {reason}"
        ) from None


def _play(work: _Work, chunk: ArenaChunk) -> tuple[GameRecord, ...]:
    """Play a chunk on a node."""
    add_entries(work.entries)
    if os.path.isdir(work.folder):
        os.chdir(work.folder)  # paths of checkpoints may be relative to the folder of the driver
    check_identity(work.identity, _identity(work.settings, work.players))
    return play_chunk(work.settings, work.players, chunk, in_worker=True)


def _identity(settings: ArenaSettings, players: Mapping[str, Player]) -> Identity:
    """Return what must be equal on all nodes: the code, the game, and the hashes of players."""
    code = identity_of(("envs", "models", "evaluation"), [load_game(settings.game)])
    return {**code, **player_hashes(players)}
