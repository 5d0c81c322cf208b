"""Ray clusters: the connection, the nodes, and the check that all nodes run the same code.

Ray's runtime environments do not replace the check: they would ship the sources, but not the numerical libraries, and kernels
would be compiled again wherever the sources are unpacked.
"""

from __future__ import annotations

import functools
import hashlib
import logging
import os
import platform
import signal
import socket
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

from stoneworks.extras import require_extra

os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # read by Ray on import
with require_extra("cluster", "clusters"):
    import ray

#: Address of the cluster of this machine or of ``RAY_ADDRESS``.
AUTO = "auto"
_LIBRARIES = ("numpy", "numba", "torch")
_SOURCES = (".py", ".json")  # learned weights of heuristics are JSON
_SECONDS_TO_CONNECT = 5.0
# HTTP/2, RFC 9113: the connection preface, an empty SETTINGS frame, and the type of the frame that a server sends first.
_HTTP2_PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes((0, 0, 0, 4, 0, 0, 0, 0, 0))
_HTTP2_HEADER_BYTES, _HTTP2_TYPE_BYTE, _HTTP2_SETTINGS = 9, 3, 4


#: What identifies the code and the data of a process, as texts by name.
Identity = Mapping[str, str]


class ClusterError(ValueError):
    """Raised when a cluster cannot be used. The message names the address or the node, and says what to do."""


@dataclass(frozen=True)
class Node:
    """A node of the cluster.

    Attributes:
        identifier: Ray's identifier.
        name: host name and the first digits of the identifier, for messages and metrics.
        num_cores: number of CPU cores that the node offers to Ray.
        num_gpus: number of GPUs that the node offers to Ray.
    """

    identifier: str
    name: str
    num_cores: float
    num_gpus: float


@contextmanager
def connected(address: str) -> Iterator[None]:
    """Connect this process to a running cluster for the duration of the context. An existing connection is used and kept.

    Args:
        address: ``auto`` for the cluster of this machine or of ``RAY_ADDRESS``, or ``HOST:PORT`` of the head node. This
            machine must be a node of the cluster.

    Raises:
        ClusterError: there is no cluster at the address, or it does not accept this process.
    """
    if ray.is_initialized():
        yield
        return
    _connect(address)
    try:
        yield
    finally:
        ray.shutdown()


def alive_nodes() -> dict[str, Node]:
    """Return the nodes that are alive, by identifier."""
    return {
        entry["NodeID"]: Node(
            entry["NodeID"],
            f"{entry['NodeManagerHostname']}/{entry['NodeID'][:6]}",
            entry["Resources"].get("CPU", 0.0),
            entry["Resources"].get("GPU", 0.0),
        )
        for entry in ray.nodes()
        if entry["Alive"]
    }


def identity_of(packages: Sequence[str], games: Iterable[Any]) -> Identity:
    """Return the versions that must be equal on all nodes: of Python, of the libraries, of packages of stoneworks, of games.

    Args:
        packages: the packages whose code and data are compared, such as ``"models"``; the modules of ``stoneworks`` itself are
            always compared.
        games: the games, which other packages may have registered.
    """
    return {
        "stoneworks": f"{metadata.version('stoneworks')} (sources {digest_of_sources(*packages)})",
        "Python": ".".join(platform.python_version_tuple()[:2]),
        **{name: _version_of(name) for name in _LIBRARIES},
        **{str(game): f"version {game.version}, {game.num_actions} actions" for game in games},
    }


@functools.cache
def digest_of_sources(*packages: str) -> str:
    """Return the first digits of a hash of the code and the JSON files of packages of stoneworks, and of its own modules."""
    digest = hashlib.sha256()
    root = Path(import_module("stoneworks").__path__[0])
    folders = [Path(import_module(f"stoneworks.{package}").__path__[0]) for package in packages]
    for folder, files in [(root, root.glob("*")), *((folder, folder.rglob("*")) for folder in folders)]:
        for file in sorted(file for file in files if file.suffix in _SOURCES):
            digest.update(file.relative_to(folder).as_posix().encode())
            digest.update(file.read_bytes())
    return digest.hexdigest()[:12]


def check_identity(expected: Identity, found: Identity) -> None:
    """Check that a process on a node, with the identity ``found``, may work for a process with the identity ``expected``.

    Raises:
        ClusterError: they differ.
    """
    for name in {**expected, **found}:
        if expected.get(name) != found.get(name):
            raise ClusterError(
                f"node {socket.gethostname()} has {name} {found.get(name, 'missing')}, the process that started the work has "
                f"{expected.get(name, 'none')}; they must be equal on all nodes"
            )


def _version_of(library: str) -> str:
    try:
        return metadata.version(library).partition("+")[0]  # without the build, such as +cpu
    except metadata.PackageNotFoundError:
        return "none"


def _connect(address: str) -> None:
    if address != AUTO:
        _check_server(address)
    before = signal.getsignal(signal.SIGTERM)
    try:
        ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
    except ConnectionError:
        raise ClusterError(
            f"no Ray cluster found for {address!r}; start one with `ray start --head`, or give the address of its head node"
        ) from None
    except (Exception, SystemExit) as error:  # Ray ends the process where a cluster stops answering
        reason = " ".join(str(error).split())
        raise ClusterError(
            f"cannot connect to the Ray cluster at {address!r}; this machine must be a node of it "
            f"(`ray start --address {address}`): {type(error).__name__}: {reason}"
        ) from error
    finally:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, before)  # Ray replaces the handler that saves a checkpoint


def _check_server(address: str) -> None:
    """Check that a gRPC server answers at the address: Ray itself takes minutes to notice that there is none."""
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal():
        raise ClusterError(f"cluster must be {AUTO} or HOST:PORT of the head node, got {address!r}")
    try:
        with socket.create_connection((host.strip("[]"), int(port)), _SECONDS_TO_CONNECT) as connection:
            connection.sendall(_HTTP2_PREFACE)
            header = connection.recv(_HTTP2_HEADER_BYTES, socket.MSG_WAITALL)
    except (OSError, OverflowError) as error:
        raise ClusterError(
            f"no Ray cluster at {address!r} ({error}); start one there with `ray start --head --port {port}`"
        ) from None
    if len(header) < _HTTP2_HEADER_BYTES or header[_HTTP2_TYPE_BYTE] != _HTTP2_SETTINGS:
        raise ClusterError(
            f"the server at {address!r} is not a Ray cluster; its head node prints the address at the start"
        )
