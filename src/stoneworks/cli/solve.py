"""The commands ``solve`` and ``accuracy``."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from stoneworks.cli.console import console, progress_bar
from stoneworks.cli.options import GameOption, with_option_groups
from stoneworks.files import check_folder, check_output_file

if TYPE_CHECKING:
    from stoneworks.envs.rules import Game, State


def solve(
    game: Annotated[str, typer.Argument(help="A game string such as 'laido(size=3)'.")],
    actions: Annotated[list[str] | None, typer.Argument(help="Actions that lead to the position to solve.")] = None,
    memory: Annotated[
        int, typer.Option(min=1, help="Memory of the table in MiB, rounded down to a power of two.")
    ] = 256,
    table: Annotated[
        Path | None, typer.Option(help="File that keeps the table (.npz); the same command resumes the search.")
    ] = None,
    seconds: Annotated[float | None, typer.Option(help="Maximum time.")] = None,
    order_by_evaluation: Annotated[bool, typer.Option(help="Try actions in the order of the game's heuristic.")] = True,
    picture: Annotated[Path | None, typer.Option(help="Draw the actions that keep the result (.svg or .png).")] = None,
    output: Annotated[
        Path | None, typer.Option(help="Folder for the result, such as envs/games/vadus/solved in the repository.")
    ] = None,
) -> None:
    """Compute the exact result of a game, or of a position of it, and the actions that keep it.

    With --table, Ctrl-C keeps the table, and the same command resumes.
    """
    from stoneworks.envs.rules import load_game
    from stoneworks.evaluation.folder import file_stem
    from stoneworks.locks import lock_file
    from stoneworks.models.solved_game import SolvedGame
    from stoneworks.models.solver import Solver, TableNotSavedError

    if output is not None and actions:
        raise ValueError(f"output is for the start of a game, without actions, got {' '.join(actions)!r}")
    for name, file, suffixes in (("picture", picture, (".svg", ".png")), ("table", table, (".npz",))):
        if file is not None:
            check_output_file(name, file, suffixes)
    loaded = load_game(game)
    result_file = None if output is None else output / f"{file_stem(str(loaded))}.json"
    if result_file is not None:
        check_folder("output", result_file.parent)
        check_output_file("output", result_file)
    state = loaded.deserialize_state("\n".join(actions or ()))
    not_saved = None
    with nullcontext() if table is None else lock_file(table), progress_bar() as show:
        solver = Solver(loaded, memory_mib=memory, table=table, order_by_evaluation=order_by_evaluation)
        try:
            solution = solver.solve(
                state, seconds=seconds, progress=lambda done, known: show("positions", done, None, f"known: {known}")
            )
        except TableNotSavedError as error:  # the result first
            not_saved, solution = error, error.solution
    show_text = console().print
    winner = solution.player if solution.result > 0 else 1 - solution.player
    show_text(f"{loaded}: " + ("a draw" if solution.result == 0 else f"player {winner} wins"))
    texts = " ".join(map(loaded.action_to_string, solution.actions))
    show_text(f"actions that keep the result: {len(solution.actions)} of {len(state.legal_actions())}: {texts}")
    rate = solution.num_positions / max(solution.seconds, 1e-9)
    show_text(f"{solution.num_positions:,} positions in {solution.seconds:.2f} s ({rate:,.0f} per second)")
    if not_saved is not None:
        raise not_saved
    if picture is not None:
        _draw_actions(state, solution.actions, picture)
    if result_file is not None:
        SolvedGame.of_solution(loaded, solution).save(result_file)


def _draw_actions(state: State, actions: Sequence[int], picture: Path) -> None:
    """Write a picture of a position with the cells of actions filled."""
    from stoneworks.envs.drawing import draw

    grid, planes = state.game.grid, state.game.num_action_planes
    filled = {action % grid.num_cells for action in actions if action < planes * grid.num_cells}
    draw(state, fill=[1.0 if cell in filled else 0.0 for cell in range(grid.num_cells)]).save(picture)


@dataclass(frozen=True)
class _PositionsOptions:
    """File of the solved positions, and settings to make it."""

    positions: Annotated[
        Path | None, typer.Option(help="File with the solved positions (default: the stored ones).")
    ] = None
    make: Annotated[int | None, typer.Option(min=1, help="First make the file, with this many positions.")] = None
    last_actions: Annotated[
        int | None,
        typer.Option(min=1, help="With --make: draw positions only from this many last actions of each game."),
    ] = None
    max_positions: Annotated[
        int | None, typer.Option(min=1, help="With --make: limit of the solver for each position (default: a million).")
    ] = None
    source: Annotated[
        list[str] | None, typer.Option(help="With --make: bots that play the games (default: random, greedy).")
    ] = None
    seed: Annotated[int, typer.Option(min=0, help="Seed of the players and of the positions.")] = 0

    def make_file(self, game: Game) -> None:
        """Make the file, if ``make`` is given."""
        from stoneworks.evaluation.solved_accuracy.positions import make_solved_positions

        settings = {"last_actions": self.last_actions, "max_positions": self.max_positions, "source": self.source}
        given: dict[str, Any] = {name: value for name, value in settings.items() if value is not None}
        if self.make is None:
            for name, value in given.items():
                raise ValueError(f"{name} needs --make, got {value!r}")
            return
        if "source" in given:
            given["sources"] = given.pop("source")
        if self.positions is None:
            raise ValueError("make needs a file: --positions FILE")
        check_output_file("positions", self.positions, (".json",))
        with progress_bar() as show:
            made = make_solved_positions(
                game,
                self.make,
                seed=self.seed,
                progress=lambda found, wanted: show("positions", found, wanted),
                **given,
            )
        made.save(self.positions)


@with_option_groups
def accuracy(
    players: Annotated[list[str], typer.Argument(help="Bots, e.g. greedy, vadus@64 or paths of checkpoint folders.")],
    game: GameOption,
    options: _PositionsOptions,
    best_response: Annotated[
        bool,
        typer.Option(
            help="Also compute the exact value of the best response to each player, which must play by the position alone."
        ),
    ] = False,
) -> None:
    """Measure how often players keep the exact result in solved positions, and how right their values are.

    Phases are thirds of the games that the positions come from.
    """
    from rich.table import Column, Table

    from stoneworks.envs.rules import load_game
    from stoneworks.evaluation.solved_accuracy.measure import NUM_PHASES, best_response_value, measure_solved_accuracy
    from stoneworks.evaluation.solved_accuracy.positions import load_solved_positions
    from stoneworks.models import load_bot
    from stoneworks.models.bots.spec import BotSpec

    loaded = load_game(game)
    bots = [load_bot(name, loaded, options.seed) for name in players]
    if best_response and (varying := [name for name in players if BotSpec.parse(name).varies]):
        raise ValueError(f"best_response requires players that play by the position alone, got {varying[0]!r}")
    options.make_file(loaded)
    solved = load_solved_positions(loaded, options.positions)
    table = Table(
        Column("player", overflow="fold"),
        "result kept",
        "95 % interval",
        *(f"phase {phase + 1}" for phase in range(NUM_PHASES)),
    )
    calibrations = []
    for name, bot in zip(players, bots, strict=True):
        found = measure_solved_accuracy(bot, loaded, solved)
        share, (low, high), _ = found.share()
        phases = map(found.share, range(NUM_PHASES))
        table.add_row(
            name,
            f"{share:.1%}",
            f"{low:.1%} to {high:.1%}",
            *(f"{kept:.1%} of {number}" if number else "" for kept, _, number in phases),
        )
        bins = ", ".join(f"{value:+.2f}: {result:+.2f} ({number})" for value, result, number in found.calibration())
        if bins:
            calibrations.append(f"mean results (positions) by value, {name}: {bins}")
    console().print(f"{loaded}: {len(solved.positions)} positions in which some action loses the exact result")
    console().print(table)
    for line in calibrations:
        console().print(line, soft_wrap=True)
    if best_response:
        for name, bot in zip(players, bots, strict=True):
            values = [best_response_value(bot, loaded, player) for player in (0, 1)]
            console().print(f"best response to {name}: {values[0]:+.4f} as player 0, {values[1]:+.4f} as player 1")
