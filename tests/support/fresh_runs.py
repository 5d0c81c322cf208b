"""Programs that need a fresh interpreter, of which many are run by one process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

RUN_EACH = """
import json, os, sys, traceback
import numba, numpy, pydantic  # what takes long, and is not what these programs are about
results = []
for code in json.loads(sys.argv[1]):
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.dup2(writing, 1)
        os.dup2(writing, 2)
        try:
            exec(code, {"__name__": "__main__"})
        except BaseException:
            traceback.print_exc()
            sys.stderr.flush()
            os._exit(1)
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as file:
        printed = file.read()
    results.append((os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), printed))
print(json.dumps(results))
"""


def run_python(code: str, *arguments: str, path: tuple[Path, ...] = (), **options: Any) -> str:
    """Run code in a process of its own, with folders on the path, and return what it prints."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([*map(str, path), os.environ.get("PYTHONPATH", "")])}
    command = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, **options)
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


def run_each(codes: list[str]) -> list[tuple[int, str]]:
    """Run each program in a process forked from one that has imported numpy, numba and pydantic alone.

    Returns:
        The exit status and what was printed, of each.
    """
    return [tuple(result) for result in json.loads(run_python(RUN_EACH, json.dumps(codes)).splitlines()[-1])]
