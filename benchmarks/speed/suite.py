"""The comparisons of ``make bench``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from benchmarks.speed import ours, references
from benchmarks.speed.ppo import PPOFrames
from benchmarks.speed.self_play import (
    BLOCKS,
    CHANNELS,
    NUM_GAMES,
    PARTS,
    SelfPlayAndLearning,
    ShareOfTime,
    self_play_simulations,
)
from benchmarks.speed.workload import Measured
from stoneworks.envs.rules import load_game

BATCH_SIZE = 1024
#: For two threads, which take turns in about 50 µs.
LARGE_BATCH_SIZE = 8192
MCTS_SIMULATIONS = 2000
NUM_SEARCHED_GAMES, NUM_SIMULATIONS = 64, 32

#: The five games at their default sizes, and a small board.
GAMES = ("vadus(size=9)", "vadus(size=5)", "laido(size=9)", "taugo(size=16)", "taigo(radius=12)", "trugo(tiles=36)")
VADUS, SMALL_VADUS, LAIDO, TAUGO, TAIGO, TRUGO = GAMES
#: Hex 11 with the default rules of OpenSpiel and of pgx.
HEX, HEX_WITH_SWAP = "hex(size=11,swap=False)", "hex(size=11,swap=True)"


#: The boards on which an agent is measured in a single game.
SEARCHED = {VADUS: "vadus", "taugo(size=8)": "taugo", TAUGO: "taugo", TAIGO: "taigo", TRUGO: "trugo"}


@dataclass(frozen=True)
class Comparison:
    """Two workloads that do the same kind of work, or a single workload.

    Attributes:
        measure: the measured quantity.
        ours: a workload of stoneworks.
        reference: the workload to compare with; None for a single workload.
        num_cores: number of cores available to each.
    """

    measure: str
    ours: Measured
    reference: Measured | None = None
    num_cores: int = 1

    def text(self) -> str:
        """Return the text that ``--only`` is matched against: measure and names, separated by ``|``."""
        return " | ".join([self.measure, self.ours.name, *([self.reference.name] if self.reference else [])])


def all_comparisons(*, with_training: bool = True) -> list[Comparison]:
    """Return all comparisons. Workloads are loaded when they are measured, and shared between comparisons."""
    training = [*_self_play(), *_ppo()] if with_training else []
    return [*_steps(), *_playouts(), *_searches(), *_single_games(), *_players(), *training]


def _steps() -> Iterator[Comparison]:
    vadus = load_game(VADUS)
    # A random game of Vadus 9 has about 219 actions.
    nothing = references.do_nothing_steps(vadus.observation_shape, vadus.num_actions, 219)
    openspiel = references.openspiel_state_steps()
    for game in (HEX, VADUS):
        yield Comparison("state steps from Python", ours.state_steps(game), openspiel)
    aec = ours.aec_steps(VADUS)
    yield Comparison("AEC steps, random play", aec, references.connect_four_steps())
    yield Comparison("AEC steps, random play", aec, nothing)
    batches = {game: ours.batch_steps(game, BATCH_SIZE) for game in GAMES}
    pgx = references.pgx_steps()
    yield Comparison("batch steps, observation and mask", ours.batch_steps(HEX_WITH_SWAP, BATCH_SIZE), pgx)
    for game in (VADUS, SMALL_VADUS, LAIDO):
        yield Comparison("batch steps, observation and mask", batches[game], pgx)
    for game in (TAUGO, TAIGO, TRUGO):
        yield Comparison("batch steps, observation and mask", batches[game], batches[VADUS])
    # The reference uses wall-clock time as well, like the two-thread workload.
    one, two = (ours.batch_steps(VADUS, LARGE_BATCH_SIZE, threads, wall_clock=True) for threads in (1, 2))
    yield Comparison("batch steps, two threads", two, one, num_cores=2)


def _playouts() -> Iterator[Comparison]:
    playouts = {game: ours.playout_actions(game) for game in GAMES}
    openspiel = references.openspiel_playout_actions()
    yield Comparison("random playout actions", ours.playout_actions(HEX), openspiel)
    for game in (VADUS, SMALL_VADUS, LAIDO):
        yield Comparison("random playout actions", playouts[game], openspiel)
    for game in (TAUGO, TAIGO, TRUGO):
        yield Comparison("random playout actions", playouts[game], playouts[VADUS])


def _searches() -> Iterator[Comparison]:
    searches = {game: ours.mcts_simulations(game, MCTS_SIMULATIONS) for game in GAMES}
    hex_search = references.openspiel_search_simulations("hex(board_size=11)", MCTS_SIMULATIONS)
    yield Comparison("MCTS simulations, random playouts", ours.mcts_simulations(HEX, MCTS_SIMULATIONS), hex_search)
    havannah = references.openspiel_search_simulations("havannah(board_size=8)", MCTS_SIMULATIONS)  # 169 cells
    for game in (VADUS, SMALL_VADUS, LAIDO):
        yield Comparison("MCTS simulations, random playouts", searches[game], havannah)
    for game in (TAUGO, TAIGO, TRUGO):
        yield Comparison("MCTS simulations, random playouts", searches[game], searches[VADUS])
    mctx = references.mctx_simulations(NUM_SEARCHED_GAMES, NUM_SIMULATIONS)
    for game in (HEX_WITH_SWAP, VADUS):
        gumbel = ours.network_search_simulations(game, NUM_SEARCHED_GAMES, NUM_SIMULATIONS)
        yield Comparison("Gumbel simulations, no network", gumbel, mctx)


def _single_games() -> Iterator[Comparison]:
    """Compare batches of the leaves of one game with one at a time, and two threads with one."""
    for board, agent in SEARCHED.items():
        one_at_a_time = ours.single_game_simulations(board, f"{agent}@256,batch=1")
        for name in (f"{agent}@64", f"{agent}@256", f"{agent}@256,batch=8"):
            batches = ours.single_game_simulations(board, name)
            yield Comparison("simulations of a single game, with network", batches, one_at_a_time)
        one, two = (
            ours.single_game_simulations(board, f"{agent}@256,batch=8{threads}", wall_clock=True)
            for threads in ("", ",threads=2")
        )
        yield Comparison("simulations of a single game, two threads", two, one, num_cores=2)


def _players() -> Iterator[Comparison]:
    for bot in ("greedy", "alphabeta:3"):
        players = {game: ours.moves(game, bot) for game in GAMES}
        yield Comparison("actions of players", players[VADUS])
        for game in GAMES[1:]:
            yield Comparison("actions of players", players[game], players[VADUS])


def _self_play() -> Iterator[Comparison]:
    for overrides in ((), ("game=vadus(size=9)", "games={}", "network.channels=64", "network.blocks=6")):
        run = SelfPlayAndLearning("vadus-5", *overrides)
        yield Comparison("training positions of AlphaZero, learning included", run)
        for part in PARTS:
            yield Comparison(f"time of {part}, in %", ShareOfTime(run, part))
    openspiel = references.openspiel_alphazero_simulations(9, NUM_SIMULATIONS)
    mctx = references.mctx_simulations_with_network(CHANNELS, BLOCKS, NUM_GAMES, NUM_SIMULATIONS)
    for game, other in (("hex(size=9,swap=False)", openspiel), (HEX_WITH_SWAP, mctx)):
        simulations = self_play_simulations(game, NUM_SIMULATIONS)
        yield Comparison("simulations of self-play, with network", simulations, other)


def _ppo() -> Iterator[Comparison]:
    yield Comparison("PPO frames, updates included", PPOFrames("ours"), PPOFrames("usual"))
