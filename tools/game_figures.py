"""Measures how long and how wide the games are: ``python -m tools.game_figures docs/games.md`` writes the table of the page.

Random games choose every action uniformly. Agent games are those of a shipped policy against itself: the first actions are
sampled from the policy, the others are its most probable ones. Both are played by seeds, so the table can be made again, but for
the last digits of torch.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import numpy as np
import numpy.typing as npt
import typer

from stoneworks.cli.main import run
from stoneworks.envs.rules import Batch, Game, load_game
from stoneworks.models.bots.policy_bot import PolicyBot
from stoneworks.models.shipped import find
from stoneworks.training.runs.hardware import torch_threads
from tools.pages import check_block, markdown_table, write_block

BEGIN = "<!-- the games in figures, by tools.game_figures -->"
END = "<!-- end of the games in figures -->"
GAMES = (
    "vadus(size=5)",
    "vadus(size=9)",
    "laido(size=5)",
    "laido(size=9)",
    "taugo(size=8)",
    "taugo(size=16)",
    "taigo(radius=5)",
    "taigo(radius=12)",
    "trugo(max_turns=100,radius=5,tiles=18)",
    "trugo(radius=10,tiles=36)",
)
HEADS = ("game", "players", "actions", "turns", "choices", "tree", "draws", "player 0")
#: Chooses an action for each row of a batch, given the number of actions played: ``int64[rows]``.
Player = Callable[[Batch, npt.NDArray[np.int64], int], npt.NDArray[np.int64]]


def figures(game: Game, num_games: int, seed: int, player: Player) -> list[str]:
    """Play games and return the cells of a row of the table, from the mean number of actions on.

    Args:
        game: the game.
        num_games: number of games, which are played at once.
        seed: seed of random actions.
        player: chooses the actions of both players.
    """
    batch = Batch(game, num_games, seed=seed)
    actions, turns, choices = (np.zeros(num_games, np.int64) for _ in range(3))
    digits = np.zeros(num_games)
    movers = np.full(num_games, -1)
    step = 0
    while (rows := np.flatnonzero(batch.current_players >= 0)).size:
        legal = batch.action_masks[rows].sum(axis=1)
        actions[rows] += 1
        choices[rows] += legal
        digits[rows] += np.log10(legal)
        turns[rows] += batch.current_players[rows] != movers[rows]
        movers = batch.current_players.copy()
        chosen = np.full(num_games, -1)
        chosen[rows] = player(batch, rows, step)
        batch.step(chosen)
        step += 1
    outcomes = [batch.state(row).outcome() for row in range(num_games)]
    draws = np.mean([outcome is None or outcome.winner is None for outcome in outcomes])
    first = np.mean([outcome is not None and outcome.winner == 0 for outcome in outcomes]) + draws / 2
    return [
        f"{actions.mean():.0f}",
        f"{turns.mean():.0f}",
        f"{choices.sum() / actions.sum():.0f}",
        f"10^{digits.mean():.0f}",
        f"{draws:.0%}",
        f"{first:.0%}",
    ]


def random_player(batch: Batch, rows: npt.NDArray[np.int64], step: int) -> npt.NDArray[np.int64]:
    """Return random actions, ``int64[rows]``."""
    return batch.random_actions()[rows]


def policy_player(game: Game, seed: int, sampled_actions: int) -> Player:
    """Return the shipped policy of the game, which samples its first actions.

    Raises:
        CheckpointError: the agent is unknown.
    """
    folder = find(game.name) or game.name
    sampling, best = (PolicyBot.load(folder, game, seed, deterministic=fixed) for fixed in (False, True))
    return lambda batch, rows, step: (sampling if step < sampled_actions else best).step_batch(batch, rows)


app = typer.Typer(add_completion=False)


@app.command()
def main(
    page: Annotated[Path, typer.Argument(help="The page to write the table into.")],
    random_games: Annotated[int, typer.Option(min=1, help="Random games per board.")] = 1000,
    agent_games: Annotated[int, typer.Option(min=1, help="Games of the shipped policy per board.")] = 100,
    sampled_actions: Annotated[int, typer.Option(min=0, help="Actions per agent game that are sampled.")] = 8,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the games.")] = 0,
) -> None:
    """Measure the games and write the table."""
    check_block(page, BEGIN, END)
    rows = []
    with torch_threads(1):
        for name in GAMES:
            game = load_game(name)
            for kind, number, player in (
                ("random", random_games, random_player),
                ("agent", agent_games, policy_player(game, seed, sampled_actions)),
            ):
                rows.append((f"`{name}`", kind, *figures(game, number, seed, player)))
                print(*rows[-1])
    caption = (
        f"{random_games} random games and {agent_games} games of the shipped policy against itself per board, the first "
        f"{sampled_actions} actions of which are sampled. Measured on {datetime.datetime.now(datetime.UTC).date().isoformat()}."
    )
    write_block(page, BEGIN, END, f"{markdown_table(HEADS, rows)}\n{caption}\n")


if __name__ == "__main__":
    run(app)
