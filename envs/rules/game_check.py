"""``check_game``: whether a game keeps the contract, found in random games."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice

import numpy as np
import numpy.typing as npt

from stoneworks.checks import check_integer, check_seed
from stoneworks.envs.rules.batch import Batch
from stoneworks.envs.rules.compiler.types import (
    BoardArray,
    Float32s,
    Float32Tables,
    Int8s,
    Int64s,
    StateArray,
)
from stoneworks.envs.rules.contract import NO_ACTION, fill_features, heuristic, rate_actions, result_bounds
from stoneworks.envs.rules.game import Game, PositionError, Symmetry, as_game, load_game
from stoneworks.envs.rules.parts import features_kernel, features_of, has_features, has_heuristic, heuristic_kernels
from stoneworks.envs.rules.state import State

#: Positions that are solved to check the bounds of one.
_MAX_SOLVED = 2000


def check_game(game: Game | str, *, num_games: int = 20, seed: int = 0) -> list[str]:
    """Play random games and return what contradicts the contract, one line each with the position that shows it.

    Checked are texts of actions, masks and observations, lengths of games, records and texts of positions, symmetries, batches,
    the bounds of results, and whether the numbers of heuristic and features are finite. An empty list says that nothing was found,
    not that the rules are those that were meant: compare them with a second implementation.

    Args:
        game: a game or a game string; choose a small board.
        num_games: number of random games, at least 1.
        seed: seed of the games.

    Raises:
        ValueError: an argument is invalid.
        RegistrationError: the game cannot be loaded, e.g. since two actions have the same text.
    """
    loaded = as_game(game)
    check_integer("num_games", num_games, 1)
    games = list(_random_games(loaded, num_games, np.random.default_rng(check_seed(seed))))
    found = [*_check_identity(loaded), *islice(_check_positions(loaded, games), 1)]
    checks: tuple[Callable[[Game, list[list[State]]], Iterator[str]], ...] = (
        _check_records,
        _check_lengths,
        *(partial(_check_symmetry, symmetry) for symmetry in loaded.symmetries),
        _check_batch,
        _check_bounds,
        _check_heuristic,
        _check_features,
    )
    if not found:  # else these may fail by the same faults
        for check in checks:
            found += islice(check(loaded, games), 1)  # others are mostly the same one again
    return [f"{loaded}: {failure}" for failure in found]


def _random_games(game: Game, num_games: int, rng: np.random.Generator) -> Iterator[list[State]]:
    """Yield games as lists of all their positions; a game that is longer than its bound is cut off."""
    for _ in range(num_games):
        states = [game.new_initial_state()]
        while not states[-1].is_terminal() and len(states) <= game.max_game_length() + 1:
            legal = np.flatnonzero(states[-1].legal_actions_mask())
            if not legal.size:
                break
            states.append(states[-1].child(int(rng.choice(legal))))
        yield states


def _at(state: State) -> str:
    """Return how to reach a position, for messages."""
    return f"after {' '.join(map(state.game.action_to_string, state.history())) or 'no action'}"


def _check_identity(game: Game) -> Iterator[str]:
    if load_game(str(game)) != game:
        yield f"load_game({str(game)!r}) returns {load_game(str(game))}, not the same game"
    if game.board_plane not in game.observation_planes:
        yield f"board_plane is {game.board_plane!r}; observation_planes has only {', '.join(game.observation_planes)}"


def _check_positions(game: Game, games: list[list[State]]) -> Iterator[str]:
    for states in games:
        for state in states:
            yield from _failures_of(game, state)


def _failures_of(game: Game, state: State) -> Iterator[str]:
    mask, player, record = state.legal_actions_mask(), state.current_player(), state.record
    if not np.isin(mask, (0, 1)).all():
        yield f"{_at(state)}: the action mask has values other than 0 and 1"
    if state.is_terminal():
        if not 1 <= record["ending"] <= len(game.reasons):
            yield f"{_at(state)}: ending is {record['ending']}, which is not 1 + the index of one of reasons"
        if record["winner"] not in (-1, 0, 1):
            yield f"{_at(state)}: winner is {record['winner']}; it must be 0, 1 or NO_WINNER"
        return
    if player not in (0, 1):
        yield f"{_at(state)}: current_player is {player} in a game in progress"
    if not mask.any():
        yield f"{_at(state)}: there is no legal action, and the game is not over"
    for viewer in (0, 1):
        planes = state.observation_tensor(viewer)
        if not np.isfinite(planes).all():
            yield f"{_at(state)}: the observation of player {viewer} has values that are not finite"
        elif game.binary_observations and not np.isin(planes, (0, 1)).all():
            yield f"{_at(state)}: binary_observations is True; the observation of player {viewer} has other values than 0 and 1"
        elif planes.min() < 0 or planes.max() > 1:
            yield f"{_at(state)}: the observation of player {viewer} has values outside [0, 1]"


def _check_records(game: Game, games: list[list[State]]) -> Iterator[str]:
    for state in (state for states in games for state in (states[-1], states[len(states) // 2])):
        if game.deserialize_state(state.serialize()) != state:
            yield f"{_at(state)}: the same actions again lead to another record; every field must be written by the kernels"
        yield from _failures_of_texts(game, state)


def _failures_of_texts(game: Game, state: State) -> Iterator[str]:
    try:
        if game.state_from_text(state.to_text(), trusted=not game.can_check_records) != state:
            yield f"{_at(state)}: to_text describes another position"
    except PositionError as error:
        yield f"{_at(state)}: the record is refused: {error}"
    try:
        str(state)
    except Exception as error:  # whatever the author's function raises
        yield f"{_at(state)}: state_to_text raises {type(error).__name__}: {error}"


def _check_lengths(game: Game, games: list[list[State]]) -> Iterator[str]:
    longest = max(games, key=len)
    if len(longest) - 1 > game.max_game_length():
        yield f"a game has more actions than max_game_length(), {game.max_game_length()}: {_at(longest[-1])}"


def _check_symmetry(symmetry: Symmetry, game: Game, games: list[list[State]]) -> Iterator[str]:
    where = f"the symmetry {symmetry.name!r}"
    for states in games:
        image = game.initial_image(symmetry)
        for state in states:
            if image.current_player() != state.current_player() or image.outcome() != state.outcome():
                yield f"{where} changes the player to move or the result {_at(state)}; see keeps_rules"
            if not np.array_equal(symmetry.of_policy(state.legal_actions_mask()), image.legal_actions_mask()):
                yield f"{where} maps legal actions to others {_at(state)}; see keeps_rules and action_plane_images"
            for viewer in (0, 1):
                expected = symmetry.of_observation(state.observation_tensor(viewer))
                if not np.array_equal(expected, image.observation_tensor(viewer)):
                    yield f"{where} maps the observation to another {_at(state)}; see keeps_rules and observation_plane_images"
            if state is not states[-1]:
                image.apply_action(int(symmetry.actions[states[len(state.history()) + 1].history()[-1]]))


def _check_batch(game: Game, games: list[list[State]]) -> Iterator[str]:
    batch = Batch(game, len(games), seed=0)
    for length in range(max(map(len, games))):
        for row, states in enumerate(games):
            state = states[min(length, len(states) - 1)]
            viewer = max(0, state.current_player())
            for name, ours, theirs in (
                ("record", batch.states[row], state.record),
                ("player to move", batch.current_players[row], state.current_player()),
                ("mask", batch.action_masks[row], state.legal_actions_mask()),
                ("observation", batch.observations[row], state.observation_tensor(viewer)),
                ("result", batch.returns[row], state.returns()),
            ):
                if not np.array_equal(ours, theirs):
                    yield f"{_at(state)}: the {name} in a batch differs from that of the state; see update_observation"
        batch.step([s[length + 1].history()[-1] if length + 1 < len(s) else NO_ACTION for s in games])


def bounds_of_states(board: BoardArray, states: StateArray, bounds: Int64s) -> None:
    """Write the lower and the upper bound of the result of ``states[0]`` to ``bounds[2]``."""
    bounds[0], bounds[1] = result_bounds(board[0], states[0])


def _check_bounds(game: Game, games: list[list[State]]) -> Iterator[str]:
    """Compare the bounds with the result under perfect play of positions near the end."""
    if "result_bounds" not in game.kernels:
        return
    compiled, bounds = game.compiled(bounds_of_states), np.zeros(2, np.int64)
    for states in games:
        for state in reversed(states[:-1]):
            result = _solve(state, {})
            if result is None:
                break
            compiled(game.board, _as_array(state), bounds)
            if not bounds[0] <= result <= bounds[1]:
                yield f"{_at(state)}: result_bounds are {bounds.tolist()}; the result for player 0 is {result}"


def heuristic_of_states(
    board: BoardArray, states: StateArray, mask: Int8s, values: Float32s, ratings: Float32s
) -> None:
    """Write the values of ``states[0]`` for both players to ``values[2]``, and the ratings of its legal actions."""
    for player in range(2):
        values[player] = heuristic(board[0], states[0], player)
    rate_actions(board[0], states[0], mask, ratings)


def features_of_states(board: BoardArray, states: StateArray, planes: Float32Tables) -> None:
    """Write the features of ``states[0]`` for both players to ``planes[2, num_features, height * width]``."""
    for player in range(2):
        fill_features(board[0], states[0], player, planes[player])


def _check_heuristic(game: Game, games: list[list[State]]) -> Iterator[str]:
    if not has_heuristic(game):
        return
    compiled, values = game.compiled(heuristic_of_states, heuristic_kernels(game)), np.empty(2, np.float32)
    for state in _in_progress(games):
        mask, ratings = state.legal_actions_mask(), np.full(game.num_actions, np.nan, np.float32)
        compiled(game.board, _as_array(state), mask, values, ratings)
        if not np.isfinite(values).all():
            yield f"{_at(state)}: heuristic returns {values.tolist()} for the players; values must be finite"
        for action in np.flatnonzero(np.isnan(ratings) & (mask != 0)).tolist():
            yield f"{_at(state)}: rate_actions writes no number for {game.action_to_string(action)}"


def _check_features(game: Game, games: list[list[State]]) -> Iterator[str]:
    if not has_features(game):
        return
    fill, features = game.compiled(features_of_states, {"fill_features": features_kernel(game)}), features_of(game)
    for state in _in_progress(games):
        planes = np.full((2, len(features), game.grid.num_cells), np.nan, np.float32)
        fill(game.board, _as_array(state), planes)
        for feature in np.flatnonzero(~np.isfinite(planes).all((0, 2))).tolist():
            yield f"{_at(state)}: the feature {features[feature].name!r} has values that are not finite"


def _in_progress(games: list[list[State]]) -> Iterator[State]:
    return (state for states in games for state in states if not state.is_terminal())


def _as_array(state: State) -> npt.NDArray[np.void]:
    return np.array([state.record])


def _solve(state: State, results: dict[bytes, int]) -> int | None:
    """Return the result for player 0 under perfect play, or None if too many positions would have to be visited."""
    key = state.record.tobytes()
    if key not in results:
        if len(results) >= _MAX_SOLVED:
            return None
        if state.is_terminal():
            results[key] = int(state.returns()[0])
        else:
            results[key] = 0  # counts the position on the way
            sign = 1 if state.current_player() == 0 else -1
            best = -1
            for action in state.legal_actions():
                child = _solve(state.child(action), results)
                if child is None:
                    return None
                best = max(best, sign * child)
                if best == 1:
                    break
            results[key] = sign * best
    return results[key]
