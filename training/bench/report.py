"""Which contestants are set beside each other, and the table of their ratios."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.table import Table

from stoneworks.envs.rules import load_game
from stoneworks.training.bench import ours, references
from stoneworks.training.bench.contestant import Contestant, Spread, ratio, take_turns
from stoneworks.training.runs.files import write_whole

BATCH_SIZE = 1024
MCTS_SIMULATIONS = 2000
NUM_SEARCHED_GAMES, NUM_SIMULATIONS = 64, 32


@dataclass(frozen=True)
class Row:
    """One line of the table; rates are per second. Without a reference the last three are None."""

    measure: str
    name: str
    rate: Spread
    reference: str | None
    reference_rate: Spread | None
    ratio: Spread | None


def run_bench(
    *,
    rounds: int = 5,
    seconds: float = 0.5,
    with_training: bool = True,
    tell: Callable[[str], None] = lambda message: None,
) -> list[Row]:
    """Measure everything and return the rows of the table.

    Engines and environments run on one core. Training runs on all of them.

    Args:
        rounds: how often each is measured; medians and spreads are over the rounds.
        seconds: about how long each is measured each time.
        with_training: measure PPO's frames per second too, which takes about a minute a round.
        tell: hears what is being measured.
    """
    rows = []
    if with_training:
        rows += _training_rows(rounds, tell)
    with _one_core():
        rows = _engine_rows(rounds, seconds, tell) + rows
    return rows


def _engine_rows(rounds: int, seconds: float, tell: Callable[[str], None]) -> list[Row]:
    vadus, laido, small = load_game("vadus(size=9)"), load_game("laido(size=9)"), load_game("vadus(size=5)")
    tell("trying pgx's batch sizes")
    connect_four, openspiel_state, openspiel_playouts, pgx = (
        references.connect_four_steps(),
        references.openspiel_state_steps(),
        references.openspiel_playout_actions(),
        references.best_pgx_steps(seconds),
    )
    # A random game of Vadus 9 has about 219 actions.
    nothing = references.do_nothing_steps(vadus.observation_shape, vadus.num_actions, num_steps=219)
    state, aec, batch, playouts = (
        ours.state_steps(vadus),
        ours.aec_steps(vadus),
        ours.batch_steps(vadus, BATCH_SIZE),
        ours.playout_actions(vadus),
    )
    small_batch, laido_batch, small_playouts, laido_playouts = (
        ours.batch_steps(small, BATCH_SIZE),
        ours.batch_steps(laido, BATCH_SIZE),
        ours.playout_actions(small),
        ours.playout_actions(laido),
    )
    openspiel_search = references.openspiel_search_simulations(MCTS_SIMULATIONS)
    searches = [ours.mcts_simulations(of_game, MCTS_SIMULATIONS) for of_game in (vadus, small)]
    other_playouts = [ours.playout_actions(load_game(name)) for name in ("taugo(size=16)", "taigo", "trugo")]
    search, mctx_search = (
        ours.network_search_simulations(vadus, NUM_SEARCHED_GAMES, NUM_SIMULATIONS),
        references.mctx_simulations(NUM_SEARCHED_GAMES, NUM_SIMULATIONS),
    )
    pairs: list[tuple[str, Contestant, Contestant | None]] = [
        ("single-state steps", state, openspiel_state),
        ("AEC steps, random play", aec, connect_four),
        ("AEC steps, random play", aec, nothing),
        ("batch steps, observation and mask", batch, pgx),
        ("batch steps, observation and mask", laido_batch, pgx),
        ("batch steps, observation and mask", small_batch, pgx),
        ("random playout actions", playouts, openspiel_playouts),
        ("random playout actions", laido_playouts, openspiel_playouts),
        ("random playout actions", small_playouts, openspiel_playouts),
        *(("random playout actions", of_game, playouts) for of_game in other_playouts),
        *(("simulations of MCTS with random playouts", search, openspiel_search) for search in searches),
        ("simulations of a search that asks a network", search, mctx_search),
    ]
    contestants = {id(one): one for _, *pair in pairs for one in pair if one is not None}
    take_turns(contestants.values(), rounds, seconds, tell)
    return [_row(*pair) for pair in pairs]


def _training_rows(rounds: int, tell: Callable[[str], None]) -> list[Row]:
    """Measure PPO in processes of their own: what torch runs on is settled when it is imported."""
    from stoneworks.training.bench.ppo import measured_in_a_process

    contestants = [
        Contestant("stoneworks ppo, Vadus 5", lambda _: 0),
        Contestant("MaskablePPO, PettingZoo connect four, usual set-up", lambda _: 0),
    ]
    for round_number in range(rounds):
        for contestant, which in zip(contestants, ("ours", "usual"), strict=True):
            tell(f"round {round_number + 1} of {rounds}: {contestant.name}")
            contestant.rates_per_second.append(measured_in_a_process(which))
    return [_row("PPO frames, updates included", *contestants)]


def _row(measure: str, one: Contestant, other: Contestant | None) -> Row:
    rate = Spread.of(one.rates_per_second)
    if other is None:
        return Row(measure, one.name, rate, None, None, None)
    return Row(measure, one.name, rate, other.name, Spread.of(other.rates_per_second), ratio(one, other))


def table_of(rows: list[Row]) -> Table:
    """Return the rows as a table for the terminal."""
    table = Table("measure", "stoneworks", "per second", "beside", "per second", "ratio", "least to greatest")
    for row in rows:
        beside = (row.reference or "not installed", "", "", "")
        if row.reference is not None and row.reference_rate is not None and row.ratio is not None:
            spread = f"{row.ratio.least:.2f} to {row.ratio.greatest:.2f}"
            beside = (row.reference, _rounded(row.reference_rate.median), f"{row.ratio.median:.2f}", spread)
        table.add_row(row.measure, row.name, _rounded(row.rate.median), *beside)
    return table


def save_rows(rows: list[Row], path: Path) -> None:
    """Write the rows as JSON; the file is there whole or not at all."""
    write_whole(path, json.dumps([asdict(row) for row in rows], indent=2) + "\n")


def _rounded(rate: float) -> str:
    return f"{float(f'{rate:.3g}'):,.0f}"


@contextmanager
def _one_core() -> Iterator[None]:
    """Keep this thread, and those that it starts, on one core where the system can do that."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(before)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
