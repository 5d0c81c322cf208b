"""Jobs of the worker processes: choose turns, analyze positions, evaluate the positions of a game.

Jobs and their results are JSON-serializable dictionaries. Bot names have been validated by :mod:`stoneworks.web.agents`.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from stoneworks.envs.rules import Game, State, load_game
from stoneworks.models import Bot, load_bot

if TYPE_CHECKING:
    from stoneworks.models.evaluator import NetworkEvaluator
    from stoneworks.models.network_inputs import NetworkInputs

_MOST_BOTS = 8
#: Longer turns are returned in chunks.
_MOST_ACTIONS_OF_TURN = 64
_LINE_ACTIONS = 10

_bots: OrderedDict[tuple[str, str], Bot] = OrderedDict()
_evaluators: dict[str, tuple[NetworkEvaluator, NetworkInputs]] = {}


def think(job: dict[str, Any]) -> dict[str, Any]:
    """Return the result of a job: ``kind`` is ``"turn"``, ``"analyze"`` or ``"values"``."""
    game = load_game(job["game"])
    state = game.new_initial_state()
    if job["kind"] == "values":
        return {"values": _values(game, job["actions"], job["bot"], job["first"], job["count"])}
    for text in job["actions"]:
        state.apply_action(game.string_to_action(text))
    if job["kind"] == "turn":
        return {"actions": _turn(state, job["bot"])}
    return analyze(state, job["bot"])


def _bot(name: str, game: Game) -> Bot:
    key = name, str(game)
    if key in _bots:
        _bots.move_to_end(key)
    else:
        _bots[key] = load_bot(name, game)
        if len(_bots) > _MOST_BOTS:
            _bots.popitem(last=False)[1].close()
    bot = _bots[key]
    bot.restart()
    return bot


def _turn(state: State, name: str) -> list[str]:
    """Return the texts of the actions of a whole turn."""
    bot = _bot(name, state.get_game())
    player = state.current_player()
    played: list[str] = []
    while state.current_player() == player and len(played) < _MOST_ACTIONS_OF_TURN:
        action = bot.step(state)
        state.apply_action(action)
        played.append(state.get_game().action_to_string(action))
    return played


def analyze(state: State, name: str) -> dict[str, Any]:
    """Analyze a position with a bot.

    Returns:
        ``player``, the player to move; ``value`` in [-1, 1] for that player, or None if the bot has none; ``evaluation``,
        a score on the bot's own scale, or None; ``actions``, a list of objects with the ``action``, its ``probability``
        in the bot's policy and, where known, ``prior``, ``visits`` and ``value``, the most visited or else the most probable
        first; ``line``, the texts of the best line; ``simulations`` and ``seconds``.
    """
    begin = time.perf_counter()
    game = state.get_game()
    found = _analysis(state, name)
    columns = found.pop("columns")
    policy = columns["probability"]
    order = np.lexsort((-policy, -columns.get("visits", policy)))
    texts = [game.action_to_string(int(action)) for action in columns["action"]]
    rows = [
        {"action": texts[index]}
        | {name: _number(column[index]) for name, column in columns.items() if name != "action"}
        for index in order
    ]
    return {
        "bot": name,
        "player": state.current_player(),
        "value": None,
        "evaluation": None,
        "simulations": None,
        "actions": rows,
        "seconds": round(time.perf_counter() - begin, 3),
    } | found


def _analysis(state: State, name: str) -> dict[str, Any]:
    game = state.get_game()
    legal = np.array(state.legal_actions(), np.int64)
    kind = name.partition(":")[0]
    if kind == "mcts":
        return _of_mcts(_bot(name, game), state)
    if kind in ("greedy", "alphabeta"):
        return _of_evaluation(_bot(name, game), state, legal)
    if kind == "random":
        probability = np.full(len(legal), 1 / len(legal))
        return {"columns": {"action": legal, "probability": probability}, "line": []}
    return _of_search(name, state) if "@" in name else _of_policy(name, state, legal)


def _of_mcts(bot: Any, state: State) -> dict[str, Any]:
    chosen = bot.step(state)
    statistics = bot.root_statistics
    visits = statistics.visits
    probability = visits / visits.sum() if visits.sum() else (statistics.actions == chosen).astype(float)
    values = np.where(np.isnan(statistics.proven), statistics.values, statistics.proven)
    values = np.where((visits == 0) & np.isnan(statistics.proven), np.nan, values)
    proven = statistics.result
    value = float(proven) if not np.isnan(proven) else float((statistics.values * visits).sum() / max(visits.sum(), 1))
    line = bot.best_line(_LINE_ACTIONS)
    return {
        "value": value,
        "proven": None if np.isnan(proven) else float(proven),
        "simulations": int(visits.sum()),
        "columns": {"action": statistics.actions, "probability": probability, "visits": visits, "value": values},
        "line": _texts(state.get_game(), line or [chosen]),
    }


def _of_evaluation(bot: Any, state: State, legal: npt.NDArray[np.int64]) -> dict[str, Any]:
    values = bot.action_values(state)[legal].astype(np.float64)
    best = values == values.max()
    line: list[int] = []
    ahead = state.clone()
    while len(line) < _LINE_ACTIONS // 2 and not ahead.is_terminal():
        line.append(bot.step(ahead))
        ahead.apply_action(line[-1])
    return {
        "evaluation": _number(values.max()),
        "columns": {"action": legal, "probability": best / best.sum(), "evaluation": values},
        "line": _texts(state.get_game(), line),
    }


def _of_search(name: str, state: State) -> dict[str, Any]:
    bot: Any = _bot(name, state.get_game())
    result = bot.search(state)
    edges = bot.root_edges()
    return {
        "value": float(result.values[0]),
        "proven": float(result.values[0]) if result.solved[0] else None,
        "simulations": int(edges.visits.sum()),
        "columns": {
            "action": edges.actions,
            "probability": result.policies[0, edges.actions],
            "prior": edges.priors,
            "visits": edges.visits,
            "value": edges.values,
        },
        "line": _texts(state.get_game(), bot.best_line(int(result.actions[0]), _LINE_ACTIONS)),
    }


def _of_policy(name: str, state: State, legal: npt.NDArray[np.int64]) -> dict[str, Any]:
    game = state.get_game()
    evaluate, inputs = _evaluator(name, game)
    logits, values = evaluate(inputs.of_state(state))
    exponents = logits[0, legal].astype(np.float64)
    weights = np.exp(exponents - exponents.max())
    return {
        "value": float(values[0]),
        "columns": {"action": legal, "probability": weights / weights.sum()},
        "line": _policy_line(state, evaluate, inputs),
    }


def _policy_line(state: State, evaluate: NetworkEvaluator, inputs: NetworkInputs) -> list[str]:
    """Return the greedy line: the most probable action at each position."""
    ahead = state.clone()
    line: list[int] = []
    while len(line) < _LINE_ACTIONS // 2 and not ahead.is_terminal():
        legal = np.array(ahead.legal_actions())
        logits = evaluate(inputs.of_state(ahead))[0]
        line.append(int(legal[logits[0, legal].argmax()]))
        ahead.apply_action(line[-1])
    return _texts(state.get_game(), line)


def _evaluator(name: str, game: Game) -> tuple[NetworkEvaluator, NetworkInputs]:
    from stoneworks.models.checkpoint import load_checkpoint
    from stoneworks.models.evaluator import NetworkEvaluator
    from stoneworks.models.network_inputs import NetworkInputs
    from stoneworks.models.shipped import find

    key = f"{name} {game}"
    if key not in _evaluators:
        folder = find(name)
        assert folder is not None, name
        network = load_checkpoint(folder, game).network
        _evaluators[key] = NetworkEvaluator(network), NetworkInputs(game, network.features)
    return _evaluators[key]


def _values(game: Game, actions: list[str], name: str, first: int, count: int) -> list[float | None]:
    """Return the values, for player 0, of the positions after ``first``, ``first + 1``, ... actions; None if not available."""
    state = game.new_initial_state()
    states = [state.clone()]
    for text in actions[: first + count - 1]:
        state.apply_action(game.string_to_action(text))
        states.append(state.clone())
    values: list[float | None] = []
    for position in states[first : first + count]:
        if position.is_terminal():
            values.append(position.returns()[0])
            continue
        found = _analysis(position, name)
        value = found.get("value")
        values.append(None if value is None else value * (1 - 2 * position.current_player()))
    return values


def _texts(game: Game, actions: list[int]) -> list[str]:
    return [game.action_to_string(action) for action in actions]


def _number(value: Any) -> int | float | None:
    """Return a JSON-serializable number, or None if the value is not finite."""
    if isinstance(value, np.integer):
        return int(value)
    number = float(value)
    return number if np.isfinite(number) else None
