"""Clusters that cannot be used, which are errors of one line that say what to do, and the status of one that can."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

pytest.importorskip("torch")


from processes import COMMAND, Run
from stoneworks.models.bots.spec import UntrustedNameError
from stoneworks.training.alphazero.config import AlphaZeroConfig
from stoneworks.training.runs.algorithms import ConfigError
from stoneworks.training.runs.config_files import load_config
from stoneworks.training.runs.run import train_run

from .conftest import LocalCluster

MakeConfig = Callable[..., AlphaZeroConfig]


def error_of(tmp_path: Path, address: str, **variables: str) -> str:
    """Return the output of a training command that must fail, which is one line."""
    words = ["train", "vadus-5", "--folder", str(tmp_path / "run"), "--cluster", address]
    done = subprocess.run(
        COMMAND + words, capture_output=True, text=True, check=False, cwd=tmp_path, env={**os.environ, **variables}
    )
    assert done.returncode == 2, done.stderr
    (line,) = done.stderr.splitlines()
    return line


def test_without_ray_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run_command: Run) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    for name in ("stoneworks.cluster", "stoneworks.training.alphazero.cluster.source"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    code, _, err = run_command("train", "vadus-5", "--folder", str(tmp_path / "run"), "--cluster", "auto")
    assert (code, err.count("\n")) == (2, 1)
    assert "stoneworks[cluster]" in err
    assert not (tmp_path / "run").exists()


@pytest.fixture
def other_server() -> Iterator[str]:
    """The address of a server that is not a Ray cluster."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            with contextlib.suppress(OSError):
                connection, _ = server.accept()
                with connection:
                    connection.recv(100)
                    connection.sendall(b"HTTP/1.0 400 Bad Request\r\n\r\n")

        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        yield f"127.0.0.1:{server.getsockname()[1]}"
        server.shutdown(socket.SHUT_RDWR)  # wakes the thread if nobody has connected
        thread.join()


def test_an_address_without_a_cluster_is_named(tmp_path: Path, other_server: str) -> None:
    pytest.importorskip("ray", reason="Ray is not installed (extra cluster)")
    with socket.create_server(("127.0.0.1", 0)) as server:
        free = f"127.0.0.1:{server.getsockname()[1]}"
    assert re.search(rf"{free}.*ray start --head", error_of(tmp_path, free))
    assert "is not a Ray cluster" in error_of(tmp_path, other_server)
    assert "ray start --head" in error_of(tmp_path, "auto", RAY_ADDRESS="", RAY_TMPDIR=str(tmp_path))
    assert not (tmp_path / "run" / "metrics.jsonl").exists()


@pytest.mark.parametrize(
    ("overrides", "complaint"),
    [
        (["cluster=nowhere"], "HOST:PORT.*nowhere"),
        (["cluster=ray://host:10001"], "HOST:PORT.*ray://host:10001"),
        (["cluster=host:port"], "HOST:PORT.*host:port"),
        (["cluster=auto", "processes=0"], "processes must be -1 or >= 1"),
    ],
)
def test_an_invalid_address_and_a_cluster_without_actors_are_rejected(overrides: list[str], complaint: str) -> None:
    with pytest.raises(ConfigError, match=complaint):
        load_config("vadus-5", overrides)


def test_a_file_does_not_choose_the_cluster(tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    file.write_text("algorithm: alphazero\ngame: vadus(size=2)\npositions: 10\ncluster: 10.0.0.1:6379\n")
    with pytest.raises(UntrustedNameError, match=r"10\.0\.0\.1:6379"):
        load_config(str(file))
    assert load_config(str(file), trust_names=True).cluster == "10.0.0.1:6379"  # type: ignore[attr-defined]


def test_the_digest_of_the_sources_is_of_the_code_and_of_learned_weights(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("ray", reason="Ray is not installed (extra cluster)")
    from stoneworks.cluster import digest_of_sources

    for name in ("stoneworks", "stoneworks.envs"):
        copy = tmp_path / name.replace(".", "/")
        shutil.copytree(sys.modules[name].__path__[0], copy, ignore=shutil.ignore_patterns("__pycache__"))
        monkeypatch.setattr(sys.modules[name], "__path__", [str(copy)])
    digests = {digest_of_sources.__wrapped__("envs")}
    for changed in ("processes.py", "envs/games/vadus/rules.py", "envs/games/trugo/heuristic.json"):
        with (tmp_path / "stoneworks" / changed).open("a") as file:
            file.write("\n")
        digests.add(digest_of_sources.__wrapped__("envs"))
    assert len(digests) == 4


@pytest.mark.parametrize("kind", ["missing", "changed"])
def test_a_node_with_other_code_is_an_error_that_names_both(
    cluster: LocalCluster, tiny: MakeConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.chdir(tmp_path)  # Ray lets nodes import from the folder of the driver, where that exists
    from stoneworks.cluster import ClusterError, digest_of_sources

    package = tmp_path / "path" / "stoneworks"
    if kind == "missing":
        package.mkdir(parents=True)
        (package / "__init__.py").write_text("raise ModuleNotFoundError(\"No module named 'stoneworks'\")")
        expected = r"cannot play with stoneworks .*No module named 'stoneworks'.*install it there"
    else:
        shutil.copytree(sys.modules["stoneworks"].__path__[0], package)
        for name in ("envs", "models", "evaluation", "training"):
            source = sys.modules[f"stoneworks.{name}"].__path__[0]
            shutil.copytree(source, package / name, ignore=shutil.ignore_patterns("__pycache__"))
        with (package / "envs" / "games" / "vadus" / "rules.py").open("a") as file:
            file.write("# changed\n")
        own = digest_of_sources("envs", "models", "evaluation", "training")
        expected = rf"node .* has stoneworks .*sources .*, the process that started the work has .*{own}"
    cluster.add(env_vars={"PYTHONPATH": str(package.parent)})
    with pytest.raises(ClusterError, match=expected):
        train_run(tiny(), tmp_path / "run")
