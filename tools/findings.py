"""What self-play found: statistics of a shipped agent's games against itself, for the page of the game.

``python -m tools.findings vadus`` plays the games at the default options of the game, and writes a section of
``docs/vadus.md`` and a picture of the opening. The first actions of each game are sampled from the policy of the search, so that
games differ; later actions are those of the search.
"""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
import numpy.typing as npt
import typer
from rich.console import Console
from rich.progress import Progress

from stoneworks.cli.main import run
from stoneworks.envs.drawing import draw
from stoneworks.envs.rules import Game, State, load_game
from stoneworks.evaluation.match import wilson_interval
from stoneworks.models.bots.loading import load_bot
from stoneworks.models.bots.search_bot import SearchBot
from stoneworks.text import percent
from stoneworks.training.runs.hardware import torch_threads
from tools.pages import check_block, write_block

BEGIN = "<!-- what self-play found, by tools.findings -->"
END = "<!-- end of what self-play found -->"


@dataclass(frozen=True)
class Findings:
    """Statistics of finished games of an agent against itself.

    Attributes:
        game: the game.
        agent: name of the agent.
        simulations: simulations of its search.
        sampled_actions: number of actions at the start of each game that were sampled.
        num_games: number of games.
        num_distinct_games: number of different games.
        first_player_wins: number of games that player 0 won.
        draws: number of draws.
        reasons: number of games by reason of their end.
        lengths: number of actions of each game.
        swaps: number of games in which the pie rule was used; None for a game without it.
        opening: ``float32[num_actions]``, policy of the search for the first action.
    """

    game: Game
    agent: str
    simulations: int
    sampled_actions: int
    num_games: int
    num_distinct_games: int
    first_player_wins: int
    draws: int
    reasons: Counter[str]
    lengths: tuple[int, ...]
    swaps: int | None
    opening: npt.NDArray[np.float32]


def play_and_summarize(
    agent: str,
    game: Game,
    *,
    num_games: int,
    simulations: int,
    sampled_actions: int,
    seed: int,
    progress: Callable[[int, int], None] | None = None,
) -> Findings:
    """Play ``num_games`` games of a shipped agent against itself and return their statistics.

    Args:
        agent: name of a shipped agent, or the folder of a checkpoint.
        game: the game.
        num_games: number of games, at least 1; all are played at once.
        simulations: simulations per action, at least 2.
        sampled_actions: number of actions at the start of each game that are sampled, at least 0.
        seed: seed of the samples.
        progress: called with the numbers of finished games and of all games.

    Raises:
        CheckpointError: the agent cannot be loaded for the game.
    """
    bot = load_bot(f"{agent}@{simulations}", game, seed)
    assert isinstance(bot, SearchBot)
    generator = np.random.default_rng(seed)
    states = [game.new_initial_state() for _ in range(num_games)]
    opening: npt.NDArray[np.float32] | None = None
    while playing := [state for state in states if not state.is_terminal()]:
        result = bot.search_all(np.array([state.record for state in playing], game.state_dtype))
        if opening is None:
            opening = result.policies[0].copy()
        for row, state in enumerate(playing):
            action = int(result.actions[row])
            if len(state.history()) < sampled_actions:
                policy = result.policies[row].astype(np.float64)
                action = int(generator.choice(len(policy), p=policy / policy.sum()))
            state.apply_action(action)
        if progress is not None:
            progress(sum(state.is_terminal() for state in states), num_games)
    assert opening is not None
    return _summarize(agent, game, simulations, sampled_actions, states, opening)


def _summarize(
    agent: str,
    game: Game,
    simulations: int,
    sampled_actions: int,
    states: Sequence[State],
    opening: npt.NDArray[np.float32],
) -> Findings:
    histories = [tuple(state.history()) for state in states]
    outcomes = [state.outcome() for state in states]
    texts = game.action_texts
    swap = texts.index("swap") if "swap" in texts else None
    return Findings(
        game,
        agent,
        simulations,
        sampled_actions,
        len(states),
        len(set(histories)),
        sum(outcome is not None and outcome.winner == 0 for outcome in outcomes),
        sum(outcome is not None and outcome.winner is None for outcome in outcomes),
        Counter(outcome.reason for outcome in outcomes if outcome is not None),
        tuple(map(len, histories)),
        None if swap is None else sum(swap in history for history in histories),
        opening,
    )


def section(findings: Findings, picture: str) -> str:
    """Return the section as Markdown; ``picture`` is the path of the picture of the opening."""
    found, number = findings, findings.num_games
    score = (found.first_player_wins + found.draws / 2) / number
    low, high = wilson_interval(score * found.num_distinct_games, found.num_distinct_games)  # copies tell nothing new
    lengths = np.array(found.lengths)
    likely = [action for action in np.argsort(-found.opening)[:5] if found.opening[action] > 0]
    swaps = "" if found.swaps is None else f", with a swap in {percent(found.swaps / number)} of the games"
    ends = ", ".join(f"`{reason}` {percent(count / number)}" for reason, count in found.reasons.most_common())
    actions = ", ".join(
        f"`{found.game.action_to_string(int(action))}` {percent(float(found.opening[action]))}" for action in likely
    )
    different = "all" if found.num_distinct_games == number else found.num_distinct_games
    return (
        f"{number} games of `{found.agent}@{found.simulations}` against itself on `{found.game}`, {different} different, their "
        f"first {found.sampled_actions} actions sampled ({datetime.datetime.now(datetime.UTC).date().isoformat()}):\n\n"
        f"- The first player scored {percent(score)} (95 % interval {percent(low, high)}){swaps}.\n"
        f"- Ends: {ends}; draws: {percent(found.draws / number)}.\n"
        f"- Length: {np.median(lengths):.0f} actions (median), {lengths.min()} to {lengths.max()}.\n"
        f"- First actions, by the policy of the search: {actions}.\n\n"
        f"![The search policy of the first action; darker cells are more probable]({picture})\n"
    )


def opening_heat(findings: Findings) -> npt.NDArray[np.float32]:
    """Return the probability of each cell in the first action relative to the maximum, ``float32[num_cells]``, or NaN."""
    num_planes, num_cells = findings.game.num_action_planes, findings.game.grid.num_cells
    by_cell = findings.opening[: num_planes * num_cells].reshape(num_planes, num_cells).sum(axis=0)
    heat = by_cell / by_cell.max()
    return np.where(heat > 0.01, heat, np.nan).astype(np.float32)


app = typer.Typer(add_completion=False)


@app.command()
def main(
    agent: Annotated[str, typer.Argument(help="A shipped agent, such as vadus.")],
    docs: Annotated[Path, typer.Option(help="Folder of the pages.")] = Path("docs"),
    games: Annotated[int, typer.Option(min=1, help="Number of games.")] = 64,
    simulations: Annotated[int, typer.Option(min=2, help="Simulations of the search.")] = 32,
    sampled_actions: Annotated[int, typer.Option(min=0, help="Actions per game that are sampled.")] = 6,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the samples.")] = 0,
) -> None:
    """Play games of a shipped agent against itself, and write what they show into the page of its game."""
    game = load_game(agent.partition("-")[0])
    page = docs / f"{game.name}.md"
    check_block(page, BEGIN, END)
    with torch_threads(1), Progress(console=Console(stderr=True, markup=False)) as progress:
        task = progress.add_task(str(game), total=games)
        findings = play_and_summarize(
            agent,
            game,
            num_games=games,
            simulations=simulations,
            sampled_actions=sampled_actions,
            seed=seed,
            progress=lambda over, total: progress.update(task, completed=over, total=total),
        )
    picture = f"images/{game.name}-opening.svg"
    block = section(findings, picture)
    draw(game.new_initial_state(), fill=opening_heat(findings)).save(docs / picture)
    write_block(page, BEGIN, END, block)


if __name__ == "__main__":
    run(app)
