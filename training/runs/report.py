"""The report of a run: a Markdown page with plots and pictures, written to the folder of the run."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import yaml

from stoneworks.envs.drawing import draw
from stoneworks.envs.rules import Game, State
from stoneworks.evaluation.match import random_opening
from stoneworks.evaluation.records import GameRecord, read_records
from stoneworks.extras import require_extra
from stoneworks.files import write_whole
from stoneworks.models.bots.policy_bot import PolicyBot
from stoneworks.models.checkpoint import CheckpointError, CheckpointInformation
from stoneworks.models.network import BoardNetwork
from stoneworks.models.network_inputs import NetworkInputs
from stoneworks.text import duration, percent
from stoneworks.training.runs import plots
from stoneworks.training.runs.run_folder import StoredRun, read_run

with require_extra("train", "reports"):
    import torch

REPORT_FILE = "report.md"
#: Subfolder for the plots and pictures of the report.
PICTURES = "report"

#: A game of a match, and the seat of the trained player.
_MatchGame: TypeAlias = tuple[GameRecord, int]

_NUM_POSITIONS = 3
_PICTURE_PIXELS = 480


def write_report(folder: str | os.PathLike[str]) -> Path:
    """Write ``report.md`` and its pictures to the folder of a run, and return the path of the report.

    The report describes the latest checkpoint; training may still be in progress. Files are written atomically.

    Raises:
        CheckpointError: the folder has no complete checkpoint.
        GameRecordError: a file of the latest matches is damaged.
        OSError: a file cannot be written.
    """
    run = read_run(folder)
    games = _match_games(run)
    pictures = run.folder / PICTURES
    pictures.mkdir(exist_ok=True)
    sections = [
        _heading(run),
        *_scores(run),
        *_metrics(run),
        *_games(run, games),
        *_policies(run, games),
        f"## Configuration\n\n```yaml\n{yaml.safe_dump(run.training['config'], sort_keys=False)}```\n",
    ]
    target = run.folder / REPORT_FILE
    text = "\n".join(sections)
    write_whole(target, text)
    for file in pictures.glob("*.png"):  # from an earlier report
        if f"({PICTURES}/{file.name})" not in text:
            file.unlink()
    return target


# -- Sections ------------------------------------------------------------------------------------------------------------


def _heading(run: StoredRun) -> str:
    training = run.training
    unit = run.algorithm.unit
    facts = {
        unit: f"{training[unit]:,} of {training['config'][unit]:,}",
        **_facts(run),
        "time": duration(training["seconds"]),
        "hardware": hardware_in_words(training["hardware"]),
        "network": _unknown_network(run) if run.network is None else network_in_words(run.network),
        "libraries": ", ".join(f"{name} {version}" for name, version in run.checkpoint.libraries.items()),
    }
    rows = "".join(f"| {name} | {value} |\n" for name, value in facts.items())
    return f"# {run.checkpoint.game}, by {run.algorithm.title}\n\n| | |\n|---|---|\n{rows}"


def _unknown_network(run: StoredRun) -> str:
    return f"{run.training['config'].get('network', {}).get('kind', 'unknown')}, which is not registered: no policies are shown"


def _facts(run: StoredRun) -> Mapping[str, str]:
    try:
        return run.algorithm.facts(run.training)
    except (KeyError, ValueError, TypeError) as error:  # a field of this algorithm is missing or has the wrong type
        raise CheckpointError(f"{run.checkpoint.folder}: training is not valid: {error!r}") from None


def _scores(run: StoredRun) -> Iterator[str]:
    yield "## Scores\n"
    if not run.match_results:
        yield "No match has been played yet.\n"
        return
    unit = run.algorithm.unit
    latest = run.match_results[-1][unit]
    yield _picture(run, "scores.png", plots.scores_plot(run.match_results, unit), f"Scores over {unit}")
    yield (
        "Paired games: both games of a pair start from the same random opening, with seats swapped. A draw is half a win; "
        f"intervals are Wilson's. `policy` {policy_in_words(run.checkpoint)}, `policy@<n>` a search of n "
        f"simulations.\n\nAfter {latest:,} {unit}:\n"
    )
    yield match_results_table(run.latest_matches())


def _metrics(run: StoredRun) -> Iterator[str]:
    if not run.metrics:
        return
    try:
        sections = list(run.algorithm.report_sections(run.metrics))
    except KeyError as error:
        raise CheckpointError(f"{run.folder / 'metrics.jsonl'}: the key {error} is missing") from None
    for heading, text, pictures in sections:
        yield f"## {heading}\n"
        if text:
            yield f"{text}\n"
        for name, content in pictures.items():
            yield _picture(run, f"{name}.png", content, f"{heading}: {name}")


def _match_games(run: StoredRun) -> list[_MatchGame]:
    """Return a game of each of the latest matches with existing records, the first that was won or else the first."""
    games = []
    for row, file in zip(run.latest_matches(), run.match_files(), strict=False):
        game_string = str(run.checkpoint.game)
        records = [one for one in read_records(file) if row["player"] in one.players and one.game == game_string]
        if records:
            won = [one for one in records if one.winner is not None and one.players[one.winner] == row["player"]]
            game = (won or records)[0]
            games.append((game, game.players.index(row["player"])))
    return games


def _games(run: StoredRun, games: Sequence[_MatchGame]) -> Iterator[str]:
    if not games:
        return
    yield "## Games\n\nThe end of one game of each of the latest matches: the first that was won, or else the first.\n"
    for number, (record, _) in enumerate(games, start=1):
        end = record.replay()
        color = run.checkpoint.game.colors[end.color_of(0)]
        won = "a draw" if record.winner is None else f"won by {record.players[record.winner]}"
        caption = f"{record.players[0]} ({color}) against {record.players[1]}, {won} ({record.reason})"
        yield _picture(run, f"game-{number}.png", draw(end).png(_PICTURE_PIXELS), caption)
        yield f"{caption}: `{' '.join(record.actions)}`\n"


# -- Policies ------------------------------------------------------------------------------------------------------------


def _policies(run: StoredRun, games: Sequence[_MatchGame]) -> Iterator[str]:
    """Show the policy and the value of the network in positions of the game against the last opponent."""
    game = run.checkpoint.game
    if run.network is None:
        return
    yield "## What the network would play\n"
    if games:
        yield "In positions of the last of these games, without search.\n"
    if game.num_action_planes > 1:
        yield (
            f"A cell's color is the sum of the probabilities of its actions, of which there are {game.num_action_planes} "
            "kinds, relative to the highest sum.\n"
        )
    else:
        yield "A cell's color is the probability of its action, relative to the highest.\n"
    for number, state in enumerate(_positions_to_show(game, games), start=1):
        policy, expected = _ask(run.network, state)
        yield _policy_picture(run, f"policy-{number}.png", state, policy, expected)


def _positions_to_show(game: Game, games: Sequence[_MatchGame]) -> list[State]:
    """Return positions with the network to move from the beginning, the middle and the end of the last match's game."""
    if not games:
        return [random_opening(game, 2 * number, np.random.default_rng(number)) for number in range(_NUM_POSITIONS)]
    state = game.new_initial_state()
    own: list[State] = []
    record, seat = games[-1]
    for text in record.actions:
        if state.current_player() == seat and len(state.legal_actions()) > 1:
            own.append(state.clone())
        state.apply_action(game.string_to_action(text))
    chosen = sorted({int(share * len(own)) for share in (np.arange(_NUM_POSITIONS) + 0.5) / _NUM_POSITIONS})
    return [own[index] for index in chosen if index < len(own)]


def _ask(network: BoardNetwork, state: State) -> tuple[np.ndarray[Any, Any], str]:
    """Return a network's policy, ``float64[num_actions]``, and a description of its predicted result."""
    policy = np.zeros(state.game.num_actions)
    found = PolicyBot(network, state.game, seed=0, deterministic=True).analyze(state)
    policy[found.actions] = found.policy
    inputs = torch.from_numpy(NetworkInputs(state.game, network.features).of_state(state))
    with torch.inference_mode():
        if network.num_value_outputs != 3:
            return policy, f"result {network(inputs)[1].item():+.2f} (a win is +1, a loss -1)"
        win, drawn, loss = torch.softmax(network.logits_and_value(inputs)[1], 1)[0].tolist()
    return policy, f"win {percent(win)}, draw {percent(drawn)}, loss {percent(loss)}"


def _policy_picture(run: StoredRun, name: str, state: State, policy: np.ndarray[Any, Any], expected: str) -> str:
    game = state.game
    num_on_board = game.num_action_planes * game.grid.num_cells
    sums = policy[:num_on_board].reshape(game.num_action_planes, -1).sum(axis=0)
    highest = sums.max()
    heat = np.where(game.grid.on_board, sums / highest if highest > 0 else 0.0, np.nan)
    player = state.current_player()
    best = ", ".join(
        f"{game.action_to_string(int(action))} {percent(policy[action])}"
        for action in np.argsort(-policy, kind="stable")[:3]
        if policy[action] > 0
    )
    caption = (
        f"After {len(state.history())} actions, {game.colors[game.color_of(state, player)]} to move: {best}; the darkest "
        f"cell is {percent(highest)}. Expected: {expected}"
    )
    content = draw(state, fill=np.minimum(heat, 1)).png(_PICTURE_PIXELS)
    return f"{_picture(run, name, content, 'The policy as a heat map')}\n{caption}.\n"


def _picture(run: StoredRun, name: str, content: bytes, caption: str) -> str:
    """Write a picture and return the Markdown that includes it."""
    write_whole(run.folder / PICTURES / name, content)
    return f"![{caption}]({PICTURES}/{name})\n"


# -- Texts and tables ----------------------------------------------------------------------------------------------------


def hardware_in_words(hardware: Mapping[str, Any]) -> str:
    """Return the result of :func:`stoneworks.training.runs.hardware.describe_hardware` as text."""
    threads = hardware["torch_threads"]
    words = (
        f"{hardware['processor']}, {hardware['cores']} cores, {threads} thread{'' if threads == 1 else 's'} of torch"
    )
    return f"{words}, {hardware['gpu']}" if "gpu" in hardware else words


def policy_in_words(checkpoint: CheckpointInformation) -> str:
    """Return a description of how the policy alone chooses actions, to be placed after its name."""
    if checkpoint.play.deterministic_policy:
        return "plays its network's most probable action"
    return "draws its action from its network's probabilities"


def network_in_words(network: BoardNetwork) -> str:
    """Return the size of a network as text."""
    architecture = network.architecture
    weights = sum(parameter.numel() for parameter in network.parameters())
    hyperparameters = ", ".join(
        f"{name} {value}" for name, value in architecture.config.model_dump().items() if name != "kind"
    )
    return f"{weights:,} weights ({architecture.kind}: {hyperparameters})"


def match_results_table(match_results: Sequence[Mapping[str, Any]]) -> str:
    """Return a Markdown table of matches summarized by ``summarize`` in :mod:`stoneworks.evaluation.match`."""
    lines = [
        "| player | opponent | score | 95 % interval | won / drawn / lost | games | distinct |",
        "|---|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {row['player']} | {row['opponent']} | {percent(row['score'])} | {percent(*row['interval'])} "
        f"| {row['wins']} / {row['draws']} / {row['losses']} | {row['games']} | {row['distinct_games']} |"
        for row in match_results
    ]
    return "\n".join(lines) + "\n"
