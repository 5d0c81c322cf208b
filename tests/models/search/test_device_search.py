"""Searches whose leaves are given as records, and whose trees are shared by threads."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from game_play import random_state
from made_up_network import MadeUpNetwork
from stoneworks.envs.rules import Game, load_game
from stoneworks.envs.rules.game_registry import small_games
from stoneworks.models.network_inputs import NetworkInputs
from stoneworks.models.search.device_search import DeviceSearch
from stoneworks.models.search.gumbel import Gumbel
from stoneworks.models.search.leaf_values import make_leaf_values
from stoneworks.models.search.network_search import NetworkSearch, SearchSettings
from stoneworks.models.search.puct import PUCT

NUM_GAMES = 5


class OfRecords(MadeUpNetwork):
    """The made-up network for records."""

    def __init__(self, game: Game, size: int) -> None:
        super().__init__(game)
        self._inputs, self._dtype = NetworkInputs(game, False), game.state_dtype
        self.records = np.zeros((size, self._dtype.itemsize), np.uint8)

    def __call__(self, records: npt.NDArray[Any]) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
        return super().__call__(self._inputs.of_records(records.view(self._dtype)[:, 0])[0])


@pytest.mark.parametrize("game_name", small_games())
@pytest.mark.parametrize("rule", [Gumbel(), PUCT()], ids=["gumbel", "puct"])
def test_results_are_those_of_the_search_with_planes_for_any_number_of_threads(game_name: str, rule: Any) -> None:
    game = load_game(game_name)
    states = [random_state(game, 4, seed) for seed in range(NUM_GAMES)]
    roots = np.array([state.record for state in states], game.state_dtype)
    for batch, leaf_values in ((1, make_leaf_values("playouts", game)), (None, None)):
        settings = SearchSettings(rule, leaf_values=leaf_values, leaf_value_weight=0.5, batch=batch)
        room = {"max_games": NUM_GAMES, "max_simulations": 24}
        network, of_records = MadeUpNetwork(game), OfRecords(game, 16 * NUM_GAMES)
        reference = NetworkSearch(game, network, settings, **room)
        searches = [DeviceSearch(game, of_records, settings, **room, threads=number) for number in (1, 3, 7)]
        for num_games in (NUM_GAMES, 2):
            expected = reference.run(roots[:num_games], 24, np.random.default_rng(3))
            for search in searches:
                of_records.asked.clear()
                found = search.run(roots[:num_games], 24, np.random.default_rng(3))
                for one, other in zip(found, expected, strict=True):
                    np.testing.assert_array_equal(one, other)
                assert of_records.asked == network.asked  # each call has the leaves of all games
                assert search.network_seconds > 0 < search.search_seconds
            network.asked.clear()


def test_errors_of_the_network_and_of_settings_are_raised() -> None:
    game = load_game("vadus(size=2)")
    network = OfRecords(game, NUM_GAMES)
    search = DeviceSearch(game, network, SearchSettings(Gumbel()), max_games=NUM_GAMES, max_simulations=4, threads=2)
    network._spread = np.nan
    roots = game.blank_records(NUM_GAMES)
    with pytest.raises(ValueError, match="the network's output must be finite"):
        search.run(roots, 4, np.random.default_rng(0))
    with pytest.raises(ValueError, match=r"threads must be .*, got 0"):
        DeviceSearch(game, network, SearchSettings(Gumbel()), max_games=1, max_simulations=4, threads=0)
    with pytest.raises(ValueError, match=r"threads of the settings must be .*, got 2"):
        DeviceSearch(game, network, SearchSettings(Gumbel(), threads=2), max_games=1, max_simulations=4)
