"""A real server as a process, and clients that talk to it."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from processes import COMMAND, PIPES

#: The first kernels of a fresh machine are compiled while the tests wait.
TIMEOUT_SECONDS = 300.0


class Server:
    """``stoneworks web`` as a process of its own."""

    def __init__(self, data: Path, *arguments: str, port: int = 0) -> None:
        self.data = data
        options = ["--data", str(data), "--port", str(port), "--workers", "1", "--thinking-seconds", "300", *arguments]
        environment = os.environ | {"PYTHONUNBUFFERED": "1"}
        self.process = subprocess.Popen([*COMMAND, "web", *options], env=environment, **PIPES)
        line = self.process.stdout.readline()
        found = re.search(r"http://(?:127\.0\.0\.1|\[::1\]):([0-9]+)/", line)
        if found is None:
            _, errors = self.process.communicate(timeout=30)
            raise AssertionError(f"the server did not start: {line}{errors}")
        self.port = int(found[1])
        self.url = f"http://127.0.0.1:{self.port}"
        self.errors: list[str] = []
        self._reader = threading.Thread(target=self.errors.extend, args=(self.process.stderr,), daemon=True)
        self._reader.start()

    def client(self) -> httpx.Client:
        return httpx.Client(base_url=self.url, timeout=TIMEOUT_SECONDS)

    def post(self, path: str, **fields: Any) -> Any:
        """Post JSON and return the answer, which must be a success."""
        with self.client() as client:
            response = client.post(f"/api/{path}", json=fields)
        assert response.status_code == 200, response.text
        return response.json()

    def kill(self) -> None:
        """End the server without any warning."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self._reader.join()

    def stop(self) -> None:
        """End the server as Ctrl-C does."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.process.kill()
        self.process.wait()
        self._reader.join()


@pytest.fixture
def start_server(tmp_path: Path) -> Iterator[Callable[..., Server]]:
    """Start servers that end with the test."""
    started: list[Server] = []

    def start(*arguments: str, data: Path | None = None, port: int = 0) -> Server:
        started.append(Server(data or tmp_path / "data", *arguments, port=port))
        return started[-1]

    yield start
    for server in started:
        server.stop()


@pytest.fixture(scope="session")
def shared_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One server for the tests that leave others' games alone."""
    server = Server(tmp_path_factory.mktemp("shared"))
    yield server
    server.stop()
    assert not [line for line in server.errors if "Traceback" in line], "".join(server.errors)


@pytest.fixture
def client(shared_server: Server) -> Iterator[httpx.Client]:
    with shared_server.client() as client:
        yield client


@pytest.fixture
def post(shared_server: Server) -> Callable[..., Any]:
    """Post JSON and return the answer, which must be a success."""
    return shared_server.post


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """A folder with a training run of Vadus, and a link to a checkpoint beside it."""
    from random_networks import save_network

    for folder in ("runs/first/checkpoint", "elsewhere"):
        training = {"algorithm": "alphazero", "match_results": []}
        save_network(tmp_path / folder, "vadus(size=3)", training=training)
    (tmp_path / "runs" / "link").symlink_to(tmp_path / "elsewhere")
    return tmp_path / "runs"
