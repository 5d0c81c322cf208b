"""Matches at equal time: on each board, the strongest player against the others, all with the same time per action.

``python -m benchmarks.equal_time --page docs/results.md`` plays what is missing in ``benchmarks/results/equal-time.jsonl`` and
writes the table. Each finished game is one line of the file, so the command can be interrupted and continued. Games are
played again if the weights of the game's agent or of its heuristic have changed since.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from stoneworks.cli.console import console
from stoneworks.cli.main import run
from stoneworks.envs.rules import load_game
from stoneworks.evaluation.match import random_opening, wilson_interval
from stoneworks.files import append_json_line
from stoneworks.models.bots.bot import Bot
from stoneworks.models.bots.loading import load_bot
from stoneworks.models.checkpoint import WEIGHTS_FILE
from stoneworks.models.description import METADATA_FILE
from stoneworks.models.machine import processor_name
from stoneworks.models.shipped import shipped_folder
from tools.pages import check_block, markdown_table, write_block

BEGIN, END = "<!-- matches at equal time, by benchmarks.equal_time -->", "<!-- end of the matches at equal time -->"

#: UCT with the heuristic at ends of turns and in the order of actions.
END_OF_TURN = "mcts:{:g}s,leaf=end_of_turn"
#: The official boards, Taugo 8 and Trugo 18, each with its strongest player; names have a placeholder for the seconds per action.
BOARDS = {
    "vadus(size=9)": "vadus@{:g}s",
    "laido(size=9)": "laido@{:g}s",
    "taugo(size=8)": "taugo@{:g}s",
    "taugo(size=16)": "taugo@{:g}s",
    "taigo(radius=12)": "taigo@{:g}s",
    "trugo(tiles=36)": END_OF_TURN,
    "trugo(tiles=18,radius=5,max_turns=100)": END_OF_TURN,
}
#: Names of opponents. The strongest player of a board is left out, and its agent is one if it is not the strongest.
OPPONENTS = ("alphabeta:{:g}s", "mcts:{:g}s", "mcts:{:g}s,leaf=heuristic", END_OF_TURN, "trugo@{:g}s")
OPENING_ACTIONS = 4
#: What distinguishes a game from others.
KEYS = ("game", "player", "opponent", "seconds", "opening", "seat", "weights")
GAMES_FILE = Path(__file__).resolve().parent / "results" / "equal-time.jsonl"

app = typer.Typer(add_completion=False)


def play(bots: list[Bot], game_name: str, opening: int, seat: int) -> float:
    """Return the score of the first bot, which has ``seat``, in a game after a random opening with a seed."""
    state = random_opening(load_game(game_name), OPENING_ACTIONS, np.random.default_rng(opening))
    for bot in bots:
        bot.restart()
    while not state.is_terminal():
        state.apply_action(bots[state.current_player() != seat].step(state))
    return (1 + state.returns()[seat]) / 2


@functools.cache
def weights_of(game_name: str, *players: str) -> str:
    """Return the first digits of the SHA-256 of the weights of a game's agent, if it plays, and of a learned heuristic."""
    game = load_game(game_name)
    description = json.loads((shipped_folder() / game.name / METADATA_FILE).read_text(encoding="utf-8"))
    of_agent = str(description["files"][WEIGHTS_FILE]["sha256"])[:12] if any("@" in name for name in players) else ""
    learned = Path(inspect.getfile(type(game))).with_name("heuristic.json")
    return of_agent + (hashlib.sha256(learned.read_bytes()).hexdigest()[:12] if learned.exists() else "")


def read(path: Path) -> list[dict[str, Any]]:
    """Return the finished games of the players as they are now; a line that was cut off is left out."""
    games = []
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        try:
            game = json.loads(line)
        except json.JSONDecodeError:
            continue
        if absent := {*KEYS, "score", "processor"}.difference(game):
            raise ValueError(f"{path} has a line without {', '.join(sorted(absent))}")
        player = BOARDS.get(game["game"], "").format(game["seconds"])
        if player == game["player"] and game["weights"] == weights_of(game["game"], player, game["opponent"]):
            games.append(game)
    return games


def opponents_of(board: str) -> list[str]:
    """Return the names of the opponents on a board, with the placeholder."""
    game, player = load_game(board).name, BOARDS[board]
    return [name for name in OPPONENTS if name != player and ("@" not in name or name.startswith(f"{game}@"))]


def missing(done: list[dict[str, Any]], seconds: float, pairs: int, only: str) -> Iterator[dict[str, Any]]:
    """Yield the games that are not done; all matches grow together, so that any stop leaves all with as many games."""
    known = {tuple(game[key] for key in KEYS) for game in done}
    for opening in range(pairs):
        for game, player in BOARDS.items():
            for opponent in opponents_of(game):
                for seat in (0, 1):
                    names = player.format(seconds), opponent.format(seconds)
                    values = (game, *names, seconds, opening, seat, weights_of(game, *names))
                    if only in f"{game} {names[1]}" and values not in known:
                        yield dict(zip(KEYS, values, strict=True))


def games_of(games: list[dict[str, Any]], board: str, opponent: str) -> list[dict[str, Any]]:
    """Return the games of a match."""
    return [game for game in games if (game["game"], game["opponent"]) == (board, opponent)]


def scores(games: list[dict[str, Any]], board: str, opponent: str) -> list[float]:
    """Return the scores of the player's games of a match."""
    return [game["score"] for game in games_of(games, board, opponent)]


def pairs_of(games: list[dict[str, Any]], board: str, opponent: str) -> tuple[int, int, int]:
    """Return in how many pairs of games from one opening the player has more than half of the points, half, and less."""
    openings: dict[int, list[float]] = {}
    for game in games_of(games, board, opponent):
        openings.setdefault(game["opening"], []).append(game["score"])
    totals = [sum(pair) for pair in openings.values() if len(pair) == 2]
    return sum(total > 1 for total in totals), sum(total == 1 for total in totals), sum(total < 1 for total in totals)


def is_above(match: list[float], score: float) -> bool:
    """Return whether the 95 % interval of a match lies above a score; False until both seats of each opening are played."""
    return bool(match) and len(match) % 2 == 0 and wilson_interval(sum(match), len(match))[0] > score


def table(games: list[dict[str, Any]], seconds: float) -> str:
    """Return the table of all matches with a time limit, as Markdown, a row for each that was played."""
    rows = []
    for board, player in BOARDS.items():
        for opponent in opponents_of(board):
            match = scores(games, board, opponent.format(seconds))
            if match:
                low, high = wilson_interval(sum(match), len(match))
                points = f"{100 * np.mean(match):.0f} % ({100 * low:.0f} to {100 * high:.0f})"
                names = [f"`{name.format(seconds)}`" for name in (player, opponent)]
                pairs = ", ".join(map(str, pairs_of(games, board, opponent.format(seconds))))
                rows.append([board.replace(",", ", "), *names, points, len(match), pairs])  # wraps on the page
    processors = ", ".join(sorted({game["processor"] for game in games if game["seconds"] == seconds}))
    caption = f"Points at {seconds:g} s per action for both, with 95 % Wilson intervals; {processors}."
    columns = ["board", "player", "opponent", "points", "games", "pairs won, even, lost"]
    return f"{markdown_table(columns, rows)}\n{caption}\n"


def tables(games: list[dict[str, Any]]) -> str:
    """Return a table for each time limit that was played."""
    return "\n".join(table(games, seconds) for seconds in sorted({game["seconds"] for game in games}))


@app.command()
def main(
    path: Annotated[Path, typer.Option("--games", help="The JSON lines file of the games.")] = GAMES_FILE,
    page: Annotated[Path | None, typer.Option(help="The page to write the table into.")] = None,
    seconds: Annotated[float, typer.Option(min=0.001, help="Time per action, in seconds.")] = 0.2,
    pairs: Annotated[int, typer.Option(min=0, help="Pairs of games with swapped seats per match.")] = 50,
    only: Annotated[str, typer.Option(help="Play only the matches whose board and opponent contain this text.")] = "",
    until_above: Annotated[
        float, typer.Option(min=0, max=1, help="End a match once its interval lies above this score.")
    ] = 1.0,
) -> None:
    """Play the matches that are missing and write the table."""
    check_block(page, BEGIN, END)
    messages = console(stderr=True)
    games = read(path)
    bots: dict[tuple[str, str], Bot] = {}
    to_play = list(missing(games, seconds, pairs, only))
    for number, asked in enumerate(to_play, start=1):
        if is_above(scores(games, asked["game"], asked["opponent"]), until_above):
            continue
        names = asked["player"], asked["opponent"]
        for name in names:
            if (asked["game"], name) not in bots:
                bots[asked["game"], name] = load_bot(name, asked["game"], 1)
                bots[asked["game"], name].step(load_game(asked["game"]).new_initial_state())  # compiles
        score = play([bots[asked["game"], name] for name in names], asked["game"], asked["opening"], asked["seat"])
        games.append({**asked, "score": score, "processor": processor_name()})
        append_json_line(path, games[-1])
        messages.print(f"{number} of {len(to_play)}: {asked['game']}, {names[0]} against {names[1]}: {score:g}")
    text = tables(games)
    write_block(page, BEGIN, END, text)
    messages.print(text, soft_wrap=True)


if __name__ == "__main__":
    run(app)
