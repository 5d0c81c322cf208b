"""Runs of Hypothesis' state machines that are the same each time and have no deadline."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import HealthCheck, settings
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test


def run_machine(make: Callable[[], RuleBasedStateMachine], max_examples: int) -> None:
    """Run sequences of up to 20 steps."""
    checks = list(HealthCheck)
    options = {"stateful_step_count": 20, "deadline": None, "derandomize": True, "suppress_health_check": checks}
    run_state_machine_as_test(make, settings=settings(max_examples=max_examples, **options))
