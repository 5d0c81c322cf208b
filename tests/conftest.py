"""What tests of all folders share."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from stoneworks.envs.rules.registry import registries


@pytest.fixture(scope="session")
def repository() -> Path:
    """The root of the repository."""
    return Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session", autouse=True)
def interruptible() -> None:
    """Take interrupts as a terminal sends them, also where the tests run as a background job, which ignores them."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def registrations_forgotten() -> Iterator[None]:
    """Take back what a test has registered."""
    before = {registry: dict(registry._added) for registry in registries()}
    yield
    for registry in registries():
        registry._added = before.get(registry, {})
