"""The check that all nodes run the same code: equal versions and sources of stoneworks, game, and numerical libraries."""

from __future__ import annotations

import functools
import hashlib
import pickle
import platform
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

from stoneworks.envs.rules import load_game
from stoneworks.envs.rules.registry import Entry, add_entries, added_entries
from stoneworks.extras import require_extra
from stoneworks.training.cluster.connection import Node, alive_nodes
from stoneworks.training.cluster.errors import ClusterError

with require_extra("cluster", "clusters"):
    import ray
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

#: Time in which a node must answer: it starts a process and imports stoneworks.
SECONDS_TO_ANSWER = 180.0
_LIBRARIES = ("numpy", "numba", "torch")
_PACKAGES = ("envs", "models", "training")

#: What identifies the code and data of a node, as texts by name.
Identity = Mapping[str, str]


def identity_of(games: Sequence[str], checkpoints: Callable[[], Mapping[str, str]] = dict) -> Identity:
    """Return the identity of this process.

    Args:
        games: the game strings.
        checkpoints: function that returns hashes of checkpoints by name.
    """
    loaded = [load_game(game) for game in games]
    return {
        "stoneworks": f"{metadata.version('stoneworks')} (sources {digest_of_sources()})",
        **{str(game): f"version {game.version}, {game.num_actions} actions" for game in loaded},
        "Python": ".".join(platform.python_version_tuple()[:2]),
        **{name: _version_of(name) for name in _LIBRARIES},
        **checkpoints(),
    }


@functools.cache
def digest_of_sources() -> str:
    """Return the first digits of a hash of the source files of stoneworks."""
    digest = hashlib.sha256()
    for package in _PACKAGES:
        folder = Path(import_module(f"stoneworks.{package}").__path__[0])
        for file in sorted(folder.rglob("*.py")):
            digest.update(file.relative_to(folder).as_posix().encode())
            digest.update(file.read_bytes())
    return digest.hexdigest()[:12]


def ask_identity(node: Node, games: Sequence[str], checkpoints: Callable[[], Mapping[str, str]] = dict) -> Any:
    """Return a Ray reference to the answer of a node for :func:`difference`."""
    place = NodeAffinitySchedulingStrategy(node.identifier, soft=False)
    task = ray.remote(_make_probe()).options(num_cpus=0, scheduling_strategy=place, max_retries=0)
    return task.remote(pickle.dumps(added_entries()), list(games), ray.cloudpickle.dumps(checkpoints))


def difference(node: Node, answer: Identity | str, own: Identity) -> str:
    """Return a sentence on the difference between a node and this process; empty if there is none."""
    if isinstance(answer, str):
        return f"node {node.name} cannot run stoneworks {own['stoneworks']} ({answer}); install it there"
    for name in {**own, **answer}:
        if own.get(name) != answer.get(name):
            return (
                f"node {node.name} has {name} {answer.get(name, 'missing')}, this process has "
                f"{own.get(name, 'none')}; they must be equal on all nodes"
            )
    return ""


def check_nodes(
    nodes: Iterable[Node], games: Sequence[str], checkpoints: Callable[[], Mapping[str, str]] = dict
) -> None:
    """Check that nodes have the same identity as this process.

    Raises:
        ClusterError: a node differs, has no stoneworks, or does not answer.
    """
    own = identity_of(games, checkpoints)
    asked = [(node, ask_identity(node, games, checkpoints)) for node in nodes]
    for node, reference in asked:
        try:
            answer = ray.get(reference, timeout=SECONDS_TO_ANSWER)
        except ray.exceptions.GetTimeoutError:
            raise ClusterError(f"node {node.name} did not answer in {SECONDS_TO_ANSWER:.0f} seconds") from None
        except ray.exceptions.RayError as error:
            raise ClusterError(f"node {node.name} failed: {' '.join(str(error).split())}") from error
        if found := difference(node, answer, own):
            raise ClusterError(found)


def this_node() -> Node:
    """Return the node of this process."""
    return alive_nodes()[ray.get_runtime_context().get_node_id()]


def answer_to(entries: bytes, games: Sequence[str], checkpoints: bytes) -> Identity:
    """Return the identity of the process of a node (see :func:`ask_identity`)."""
    found: tuple[Entry, ...] = pickle.loads(entries)
    add_entries(found)
    return identity_of(games, pickle.loads(checkpoints))


def _make_probe() -> Callable[[bytes, Sequence[str], bytes], Identity | str]:
    def probe(entries: bytes, games: Sequence[str], checkpoints: bytes) -> Identity | str:
        # Ray sends a nested function as code, so that it also runs on a node without stoneworks.
        try:
            from stoneworks.training.cluster.identity import answer_to

            return answer_to(entries, games, checkpoints)
        except Exception as error:
            return f"{type(error).__name__}: {error}"

    probe.__annotations__ = {}
    return probe


def _version_of(library: str) -> str:
    try:
        return metadata.version(library).partition("+")[0]  # without the build, such as +cpu
    except metadata.PackageNotFoundError:
        return "none"
