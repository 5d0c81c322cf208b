"""The accuracy of a player: how often it keeps the exact result, how right its values are, and its best response."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from stoneworks.checks import check_player
from stoneworks.envs.rules import Game, State
from stoneworks.evaluation.match import wilson_interval
from stoneworks.evaluation.solved_accuracy.positions import SolvedPositions
from stoneworks.models import Bot

#: Number of phases of a game, of equal length.
NUM_PHASES = 3
#: Limits of the bins of values in calibration curves.
BINS = (-1.0, -0.6, -0.2, 0.2, 0.6, 1.0)


@dataclass(frozen=True, eq=False)
class SolvedAccuracy:
    """The accuracy of a player on a sample.

    Attributes:
        kept: ``bool[num_positions]``, whether the player's action keeps the exact result.
        phases: ``int64[num_positions]``, the third of its game that each position is from.
        results: ``int64[num_positions]``, the exact results for the player to move.
        values: ``float64[num_positions]``, the player's values; NaN if it has none.
    """

    kept: npt.NDArray[np.bool_]
    phases: npt.NDArray[np.int64]
    results: npt.NDArray[np.int64]
    values: npt.NDArray[np.float64]

    def share(self, phase: int | None = None) -> tuple[float, tuple[float, float], int]:
        """Return the share of positions whose result is kept, its 95 % interval, and the number of positions."""
        kept = self.kept if phase is None else self.kept[self.phases == phase]
        if not len(kept):
            return float("nan"), (0.0, 1.0), 0
        return float(kept.mean()), wilson_interval(float(kept.sum()), len(kept)), len(kept)

    def calibration(self) -> list[tuple[float, float, int]]:
        """Return, for each of ``BINS``, the mean value, the mean exact result, and the number of positions."""
        places = np.clip(np.digitize(self.values, BINS) - 1, 0, len(BINS) - 2)
        known = ~np.isnan(self.values)
        bins = [known & (places == place) for place in range(len(BINS) - 1)]
        return [(float(self.values[b].mean()), float(self.results[b].mean()), int(b.sum())) for b in bins if b.any()]


def measure_solved_accuracy(bot: Bot, game: Game, sample: SolvedPositions) -> SolvedAccuracy:
    """Return the accuracy of ``bot`` on the positions of a sample of ``game``."""
    kept, values = [], []
    for position in sample.positions:
        state = position.state(game)
        bot.restart()
        analysis = bot.analyze(state)
        kept.append(game.action_to_string(analysis.action) in position.keeping)
        values.append(np.nan if analysis.value is None else analysis.value)
    # Phases are rounded: a third is 0.333.
    phases = [min(int(NUM_PHASES * position.phase + 0.002), NUM_PHASES - 1) for position in sample.positions]
    results = [position.result for position in sample.positions]
    return SolvedAccuracy(np.array(kept), np.array(phases), np.array(results), np.array(values, np.float64))


def best_response_value(bot: Bot, game: Game, player: int) -> float:
    """Return the expected result, for ``player``, of the best response to ``bot``.

    The whole tree is searched, with equal positions merged, so the game must be small. What the bot plays must depend on the
    position alone: it is the policy of ``step_with_policy`` or, if the bot does not sample from that, the chosen action.
    """
    check_player(player)
    memory: dict[bytes, float] = {}

    def value(state: State) -> float:
        if state.is_terminal():
            return state.returns()[player]
        key = state.record.tobytes()
        if key not in memory:
            if state.current_player() == player:
                memory[key] = max(value(state.child(action)) for action in state.legal_actions())
            else:
                policy, chosen = bot.step_with_policy(state)
                policy = policy if bot.samples_policy else [(chosen, 1.0)]
                memory[key] = sum(chance * value(state.child(action)) for action, chance in policy if chance > 0)
        return memory[key]

    return value(game.new_initial_state())
