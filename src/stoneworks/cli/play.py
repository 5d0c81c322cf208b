"""The commands ``games``, ``bots``, ``play`` and ``match``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from stoneworks.cli.console import console, progress_bar
from stoneworks.cli.options import GameOption, OpeningActions
from stoneworks.files import check_output_file

if TYPE_CHECKING:
    from stoneworks.envs.rules import Game

Save = Annotated[Path | None, typer.Option(help="Write the records of the games to this file (JSON lines).")]


def games() -> None:
    """List the games with their options and their number of actions."""
    from stoneworks.envs.rules import RegistrationError, game_names, load_game

    table = Table("game", "version", "options and defaults", "actions", "observation")
    for name in game_names():
        try:
            game = load_game(name)
        except RegistrationError as error:  # a broken game of another package must not hide the others
            print(f"stoneworks: {error}", file=sys.stderr)
            continue
        options = ", ".join(f"{option}={value!r}" for option, value in game.options.items())
        observation = " x ".join(map(str, game.observation_shape))
        table.add_row(name, str(game.version), options, str(game.num_actions), observation)
    console().print(table)


def bots() -> None:
    """List the kinds of bots and the shipped checkpoints, which are bots as well."""
    from stoneworks.models import shipped
    from stoneworks.models.bots.registry import BOTS

    table = Table("bot", "plays")
    for entry in BOTS.loadable():
        table.add_row(entry.usage, "games with a heuristic" if entry.needs_heuristic else "all games")
    for name in shipped.names():
        table.add_row(f"{name}, {name}@<simulations>", f"{name.partition('-')[0]}, as a checkpoint")
    console().print(table)


def play(
    game: Annotated[str, typer.Argument(help="A game name, or a game string such as 'vadus(size=5)'.")],
    option: Annotated[list[str] | None, typer.Option(help="A game option, name=value; can be repeated.")] = None,
    size: Annotated[int | None, typer.Option(help="Short for --option size=...")] = None,
    opponent: Annotated[
        str | None,
        typer.Option(
            help="A bot, e.g. random, greedy, vadus@64 or a checkpoint folder (default: greedy, or mcts:100 if the game "
            "has no heuristic)."
        ),
    ] = None,
    level: Annotated[
        str | None, typer.Option(help="An opponent by level instead: beginner, easy, medium or hard.")
    ] = None,
    seat: Annotated[int, typer.Option(min=0, max=1, help="Your seat; player 0 moves first.")] = 0,
    seed: Annotated[int | None, typer.Option(min=0, help="Seed of the opponent.")] = None,
    save: Save = None,
) -> None:
    """Play against a bot in the terminal, with undo and hint."""
    from stoneworks.cli.terminal_play import TerminalGame
    from stoneworks.envs.rules import load_game
    from stoneworks.evaluation.records import GameRecord, write_records
    from stoneworks.models import load_bot
    from stoneworks.models.bots.loading import default_bot

    if save is not None:
        check_output_file("save", save)
    given = [*(option or []), *([f"size={size}"] if size is not None else [])]
    loaded = load_game(game, **_game_options(given))
    if level is not None:
        opponent = _opponent_of_level(loaded, level, opponent)
    bot = load_bot(default_bot(loaded) if opponent is None else opponent, loaded, seed)
    adviser = load_bot(default_bot(loaded), loaded, seed)
    if sys.stdin is None:  # closed by who started this process
        raise ValueError("play needs a standard input to read actions from")
    terminal = TerminalGame(loaded.new_initial_state(), bot, adviser, seat)
    try:
        terminal.play()
    finally:  # also after Ctrl-C, or an error of the opponent
        if save is not None:
            players = ("human", bot.name) if seat == 0 else (bot.name, "human")
            write_records(save, [GameRecord.of_state(terminal.state, players, seed)])


def _opponent_of_level(game: Game, level: str, opponent: str | None) -> str:
    from stoneworks.evaluation.player_rating import LEVELS, opponent_levels, shipped_ratings
    from stoneworks.models.bots.spec import BotSpec

    if opponent is not None:
        raise ValueError(f"give level or opponent, not both, got {level!r} and {opponent!r}")
    if level not in LEVELS:
        raise ValueError(f"level must be one of {', '.join(LEVELS)}, got {level!r}")
    ratings = shipped_ratings(str(game))
    names = [name for name in ratings if not BotSpec.parse(name).lacks_torch]
    levels = opponent_levels(game, names)
    if level not in levels:
        raise ValueError(f"level {level!r} has no rated bot in {game}; levels there: {', '.join(levels) or 'none'}")
    bot = levels[level]
    elo, error = ratings[bot]
    print(f"{level}: {bot} (rating {elo:.0f} ± {error:.0f})")
    return bot


def match(
    a: Annotated[str, typer.Argument(metavar="A", help="A bot, e.g. random, greedy, vadus@64 or a checkpoint folder.")],
    b: Annotated[str, typer.Argument(metavar="B", help="The opponent.")],
    game: GameOption,
    pairs: Annotated[int, typer.Option(min=1, help="Pairs of games: same opening, seats swapped.")] = 100,
    opening_actions: OpeningActions = 3,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the openings and both bots.")] = 0,
    save: Save = None,
) -> None:
    """Play a match of paired games between two bots and print the result with its 95 % confidence interval.

    Both games of a pair start from the same random opening, with seats swapped.
    """
    import numpy as np

    from stoneworks.envs.rules import load_game
    from stoneworks.evaluation.match import play_match
    from stoneworks.evaluation.records import write_records
    from stoneworks.models import load_bot

    if save is not None:
        check_output_file("save", save)
    loaded = load_game(game)
    seed_a, seed_b, seed_of_openings = map(int, np.random.SeedSequence(seed).generate_state(3))
    bots = load_bot(a, loaded, seed_a), load_bot(b, loaded, seed_b)
    with progress_bar() as show:
        result = play_match(
            loaded,
            *bots,
            num_pairs=pairs,
            opening_actions=opening_actions,
            seed=seed_of_openings,
            progress=lambda over, total: show("games over", over, total),
        )
    table = Table(title=f"{a} (A) against {b} (B) in {loaded}", show_header=False)
    for row in result.summary():
        table.add_row(*row)
    console().print(table)
    if save is not None:
        write_records(save, result.records)


def _game_options(given: list[str]) -> dict[str, Any]:
    """Return the options of ``name=value`` texts. Raises ``ValueError`` for any other text or a name given twice."""
    from stoneworks.envs.rules.game_registry import parse_game_string

    try:
        return parse_game_string(f"game({','.join(given)})")[1]
    except ValueError:
        shown = ", ".join(map(repr, given))
        raise ValueError(
            f"option must be name=value, such as size=5 or pie_rule=False, each name once, got {shown}"
        ) from None
