"""Ways to reach positions that tests of all folders share."""

from __future__ import annotations

import copy
import json
import pickle
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import yaml

from stoneworks.envs.rules import Batch, Game, State, load_game
from stoneworks.envs.rules.game_registry import GAMES
from stoneworks.models import Bot

#: The games and options that every property test runs on: small boards, each option at least once at each value.
SAMPLES = tuple(sample for entry in GAMES.loadable() for sample in entry.samples)
TEST_DATA = Path(__file__).resolve().parents[1] / "testdata"


def read_test_data(name: str) -> Any:
    """Return the content of a file of tests/testdata, of one with a value per line as a list."""
    text = (TEST_DATA / name).read_text(encoding="utf-8")
    return yaml.safe_load(text) if name.endswith(".yaml") else [json.loads(line) for line in text.splitlines()]


def changed(description: Any, path: str, value: Any) -> Any:
    """Return a copy of a description with another value at a path such as ``files/0/sha256``, or without it (``REMOVED``)."""
    description = copy.deepcopy(description)
    *parents, last = path.split("/")
    inner = description
    for key in parents:
        inner = inner[int(key) if isinstance(inner, list) else key]
    if value == "REMOVED":
        del inner[last]
    else:
        inner[int(last) if isinstance(inner, list) else last] = value
    return description


def played(game: str | Game, texts: str = "") -> State:
    """Return the state after actions, separated by spaces."""
    return (load_game(game) if isinstance(game, str) else game).deserialize_state("\n".join(texts.split()))


def legal_texts(state: State) -> set[str]:
    """Return the texts of the legal actions."""
    return {state.action_to_string(action) for action in state.legal_actions()}


def after(state: State, texts: str) -> State:
    """Return the state after more actions, separated by spaces; ``state`` stays as it is."""
    state = state.clone()
    for text in texts.split():
        state.apply_action(state.string_to_action(text))
    return state


def turn_of(bot: Bot, state: State) -> State:
    """Return the state after the turn that a bot plays; ``state`` stays as it is."""
    state, player = state.clone(), state.current_player()
    while state.current_player() == player:
        state.apply_action(bot.step(state))
    return state


def random_game(game: Game, seed: int, global_weight: float | None = 0.1) -> Iterator[State]:
    """Yield one state, the same object, after each action of a random game, the start first.

    With probability ``global_weight`` an action is a global one, where one is legal; with None only where no other is.
    """
    rng = np.random.default_rng(seed)
    state = game.new_initial_state()
    first_global = game.num_actions - len(game.global_actions)
    yield state
    while not state.is_terminal():
        legal = state.legal_actions()
        special = [action for action in legal if action >= first_global]
        if global_weight is None:
            legal = [action for action in legal if action < first_global] or legal
        elif special and rng.random() < global_weight:
            legal = special
        state.apply_action(int(rng.choice(legal)))
        yield state


def uniform_game(start: Game | State, rng: np.random.Generator) -> list[State]:
    """Return the states of a game of uniformly random actions, from the start, or from a position, to the end."""
    states = [start.new_initial_state() if isinstance(start, Game) else start]
    while not states[-1].is_terminal():
        states.append(states[-1].child(int(rng.choice(states[-1].legal_actions()))))
    return states


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
        states = uniform_game(played(game).get_game(), rng)
        found.append(states[int(rng.integers(len(states) - 1))])
    return found


def with_mover(state: State, player: int, **fields: Any) -> State:
    """Return the position with another player to move, and other values of fields of its record."""
    record = state.record
    for field, value in {"current_player": player, **fields}.items():
        record[field] = value
    return State.from_record(state.get_game(), record, trusted=True)


def random_batch(game: str | Game, number: int, num_actions: int, seed: int) -> Batch:
    """Return games after so many random actions, those that were over begun anew."""
    batch = Batch(played(game).get_game(), number, seed=seed, auto_reset=True)
    for _ in range(num_actions):
        batch.step(batch.random_actions())
    return batch


def positions_of_random_games(game: Game, num_games: int, num_times: int, num_actions: int) -> npt.NDArray[np.void]:
    """Return ``num_times`` positions of each of some random games, ``num_actions`` actions apart."""
    batch = Batch(game, num_games, auto_reset=True, seed=0)
    positions = []
    for _ in range(num_times):
        for _ in range(num_actions):
            batch.step(batch.random_actions())
        positions.append(batch.states.copy())
    return np.concatenate(positions)


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
