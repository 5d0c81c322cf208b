"""Ways to reach positions that tests of all folders share."""

from __future__ import annotations

import copy
import pickle
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np

from stoneworks.envs.rules import Game, State, load_game


def played(game: str | Game, texts: str = "") -> State:
    """Return the state after actions, separated by spaces."""
    return (load_game(game) if isinstance(game, str) else game).deserialize_state("\n".join(texts.split()))


def random_state(game: str | Game, length: int, seed: int) -> State:
    """Return the state after ``length`` random actions, or the last one before the end of the game."""
    rng = np.random.default_rng(seed)
    state = played(game)
    for _ in range(length):
        child = state.child(int(rng.choice(state.legal_actions())))
        if child.is_terminal():
            break
        state = child
    return state


def random_states(game: str | Game, number: int, seed: int) -> list[State]:
    """Return positions of random games, from all their length, in which somebody is to move."""
    rng = np.random.default_rng(seed)
    found: list[State] = []
    while len(found) < number:
        states = [played(game)]
        while not states[-1].is_terminal():
            states.append(states[-1].child(int(rng.choice(states[-1].legal_actions()))))
        found.append(states[int(rng.integers(len(states) - 1))])
    return found


def random_legal(masks: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """Return a random legal action by row of the masks."""
    return (generator.random(masks.shape) * (masks != 0)).argmax(1)


def scattered_action(state: State) -> int:
    """Return a legal action that depends on the position and is spread over all actions."""
    legal = state.legal_actions()
    return legal[zlib.crc32(state.record.tobytes()) % len(legal)]


def through_pickle(value: Any) -> Any:
    """Return a copy by pickle."""
    return pickle.loads(pickle.dumps(value))


#: The ways to copy an object.
COPIES: tuple[Callable[[Any], Any], ...] = (copy.deepcopy, through_pickle)
