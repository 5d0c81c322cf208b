"""Global state of a program: calls leave it as it is, and do not depend on it."""

from __future__ import annotations

import decimal
import gc
import locale
import logging
import multiprocessing
import os
import random
import signal
import socket
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("sb3_contrib")

import matplotlib as mpl
import torch

from random_networks import save_network
from stoneworks.envs import BoardGameEnv, SingleAgentEnv, VectorEnv
from stoneworks.envs.rules import load_game
from stoneworks.evaluation import ArenaSettings, play_arena, play_match
from stoneworks.models import load_bot, load_checkpoint
from stoneworks.training import train
from tiny_runs import alphazero, ppo

GAME = "vadus(size=2)"

# With its first optimizer, torch imports libraries that change filters of warnings and the environment.
torch.optim.Adam([torch.zeros(1, requires_grad=True)])

#: Everything global that a program sets and a library could change, with a function that reads it.
GLOBALS: dict[str, Callable[[], Any]] = {
    "random": random.getstate,
    "numpy.random": lambda: [np.asarray(part).tolist() for part in np.random.get_state()],  # noqa: NPY002
    "numpy.geterr": np.geterr,
    "numpy.printoptions": np.get_printoptions,
    "torch generator": lambda: torch.get_rng_state().tolist(),
    "torch threads": lambda: (torch.get_num_threads(), torch.get_num_interop_threads()),
    "torch dtype": torch.get_default_dtype,
    "torch device": torch.get_default_device,
    "torch gradients": lambda: (torch.is_grad_enabled(), torch.is_inference_mode_enabled(), torch.is_anomaly_enabled()),
    "torch precision": lambda: (torch.get_float32_matmul_precision(), torch.are_deterministic_algorithms_enabled()),
    "torch backends": lambda: (torch.backends.cudnn.benchmark, torch.backends.cudnn.deterministic),
    "warnings": lambda: (warnings.filters[:], warnings.showwarning),
    "matplotlib": lambda: (dict(mpl.rcParams), mpl.get_backend(auto_select=False)),
    "logging": lambda: (
        logging.root.level,
        logging.root.handlers[:],
        logging.root.manager.disable,
        logging.raiseExceptions,
    ),
    "logging of the package": lambda: (
        logging.getLogger("stoneworks").level,
        logging.getLogger("stoneworks").handlers[:],
    ),
    "environment": lambda: dict(os.environ),
    "folder": os.getcwd,
    "locale": lambda: locale.setlocale(locale.LC_ALL),
    "decimal": lambda: str(decimal.getcontext()),
    "signals": lambda: [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGCHLD)],
    "hooks": lambda: (sys.excepthook, threading.excepthook, sys.unraisablehook),
    "limits": lambda: (sys.getrecursionlimit(), sys.getswitchinterval(), gc.isenabled(), gc.get_threshold()),
    "path": lambda: sys.path[:],
    "processes": lambda: multiprocessing.get_start_method(allow_none=True),
    "sockets": socket.getdefaulttimeout,
}


def agent_moves(agent: Path) -> list[Any]:
    moves = []
    for name in (f"{agent}", f"{agent}@4"):
        bot, state = load_bot(name, GAME, seed=1), load_game(GAME).new_initial_state()
        while not state.is_terminal():
            state.apply_action(bot.step(state))
        moves.append(state.history())
    return moves


def first_values(agent: Path) -> list[Any]:
    load_checkpoint(agent)
    state = load_game(GAME).new_initial_state()
    return [load_bot(name, GAME, 1).policy_and_value([state]).logits.tolist() for name in (f"{agent}", f"{agent}@4")]  # type: ignore[attr-defined]


def environments(agent: Path) -> list[Any]:
    rewards: list[Any] = []
    env = SingleAgentEnv(GAME, opponent=str(agent))
    _, info = env.reset(seed=3)
    for _ in range(3):
        _, reward, ended, _, info = env.step(int(np.flatnonzero(info["action_mask"])[0]))
        rewards.append(reward)
        if ended:
            break
    env.close()
    aec = BoardGameEnv(GAME, render_mode="rgb_array")
    aec.reset(seed=1)
    rewards.append(aec.render().sum())
    vector = VectorEnv(4, GAME, opponent=str(agent))
    vector.reset(seed=2)
    rewards.append(vector.action_masks().tolist())
    return rewards


def matches(agent: Path) -> list[Any]:
    bots = load_bot(str(agent), GAME, 1), load_bot("mcts:4", GAME, 2)
    result = play_match(load_game(GAME), *bots, num_pairs=2, seed=3)
    folder = agent.parent / f"arena {torch.get_default_dtype()}"
    settings = ArenaSettings(game=GAME, pairings=(("random", str(agent)),), num_pairs=2, chunk_pairs=2)
    play_arena(settings, folder)
    return [str(result), [path.read_bytes() for path in sorted((folder / "games").iterdir())]]


def trained(config: Any, agent: Path) -> list[Any]:
    folder = agent.parent / f"{config.algorithm} {torch.get_default_dtype()}"
    train(config, folder)
    assert (folder / "report.md").is_file()
    weights = load_checkpoint(folder / "checkpoint").network.state_dict()
    return [(name, weight.dtype, weight.numpy().tobytes()) for name, weight in weights.items()]


#: What a program calls, each with what must not depend on global state.
CALLS: dict[str, Callable[[Path], Any]] = {
    "agents": agent_moves,
    "policy_and_value": first_values,
    "environments": environments,
    "matches": matches,
    "alphazero": lambda agent: trained(
        alphazero(positions=120, matches={"positions": 60, "opponents": ["random"], "search_opponents": []}), agent
    ),
    "ppo": lambda agent: trained(ppo(frames=128, matches={"frames": 64, "num_pairs": 1}), agent),
}


@pytest.fixture
def agent(tmp_path: Path) -> Path:
    return save_network(tmp_path / "agent", GAME)


@pytest.fixture
def other_defaults() -> Iterator[Callable[[], None]]:
    """A function that changes defaults of torch and NumPy, which are restored after the test."""
    before = torch.get_default_dtype(), np.geterr()

    def change() -> None:
        torch.set_default_dtype(torch.float64)
        torch.set_default_device("meta")  # tensors without values
        np.seterr(all="raise")

    yield change
    torch.set_default_dtype(before[0])
    torch.set_default_device(None)
    np.seterr(**before[1])


@pytest.mark.parametrize("name", CALLS)
def test_calls_neither_change_global_state_nor_depend_on_it(
    name: str, agent: Path, other_defaults: Callable[[], None]
) -> None:
    call = CALLS[name]
    results = []
    for change in (lambda: None, other_defaults):
        change()
        before = {of: read() for of, read in GLOBALS.items()}
        results.append(call(agent))
        after = {of: read() for of, read in GLOBALS.items()}
        assert {of: (before[of], after[of]) for of in GLOBALS if after[of] != before[of]} == {}
    assert results[0] == results[1]


def test_the_table_sees_changes() -> None:
    before = {of: read() for of, read in GLOBALS.items()}
    states = random.getstate(), np.random.get_state(), torch.get_rng_state()  # noqa: NPY002
    random.random()
    np.random.random(700)  # noqa: NPY002
    torch.rand(700)
    changed = [of for of, read in GLOBALS.items() if read() != before[of]]
    random.setstate(states[0])
    np.random.set_state(states[1])  # noqa: NPY002
    torch.set_rng_state(states[2])
    assert changed == ["random", "numpy.random", "torch generator"]
