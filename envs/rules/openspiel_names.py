"""OpenSpiel's other names for what games and states have, and its methods with constant results.

With these, OpenSpiel's pure Python algorithms run directly on our games and states. Code of this project uses the names of
``Game`` and ``State`` instead.
"""

from __future__ import annotations

from math import prod
from typing import Any

from stoneworks.checks import check_player


class OpenSpielGame:
    """Methods of OpenSpiel's ``Game`` in terms of the attributes of ours."""

    def num_distinct_actions(self: Any) -> int:
        """Return ``num_actions``."""
        return self.num_actions  # type: ignore[no-any-return]

    def observation_tensor_shape(self: Any) -> tuple[int, int, int]:
        """Return ``observation_shape``."""
        return self.observation_shape  # type: ignore[no-any-return]

    def num_players(self) -> int:
        """Return 2."""
        return 2

    def new_initial_states(self: Any) -> list[Any]:
        """Return the only initial state, in a list."""
        return [self.new_initial_state()]

    def observation_tensor_size(self: Any) -> int:
        """Return the number of entries of an observation."""
        return prod(self.observation_shape)

    def max_chance_outcomes(self) -> int:
        """Return 0: there is no chance."""
        return 0

    def max_utility(self) -> float:
        """Return the utility of a win, 1."""
        return 1.0

    def min_utility(self) -> float:
        """Return the utility of a loss, -1."""
        return -1.0

    def utility_sum(self) -> float:
        """Return the sum of the utilities of both players, 0."""
        return 0.0

    def get_type(self: Any) -> Any:
        """Return the ``pyspiel.GameType`` that OpenSpiel's algorithms require. Needs OpenSpiel."""
        return game_type(self.name, self.name)


def game_type(name: str, game: str, **arguments: Any) -> Any:
    """Return the ``pyspiel.GameType`` of ``game`` under ``name``, with further arguments of the type. Needs OpenSpiel."""
    import pyspiel

    return pyspiel.GameType(
        name,
        game.capitalize(),
        pyspiel.GameType.Dynamics.SEQUENTIAL,
        pyspiel.GameType.ChanceMode.DETERMINISTIC,
        pyspiel.GameType.Information.PERFECT_INFORMATION,
        pyspiel.GameType.Utility.ZERO_SUM,
        pyspiel.GameType.RewardModel.TERMINAL,
        max_num_players=2,
        min_num_players=2,
        provides_information_state_string=True,
        provides_information_state_tensor=False,
        provides_observation_string=True,
        provides_observation_tensor=True,
        **arguments,
    )


class OpenSpielState:
    """Methods of OpenSpiel's ``State`` in terms of the methods of ours."""

    __slots__ = ()

    def rewards(self: Any) -> list[float]:
        """Return the rewards of both players for the last action. They equal the returns, as only the end is rewarded."""
        return self.returns()  # type: ignore[no-any-return]

    def player_return(self: Any, player: int) -> float:
        """Return the return of one player."""
        return self.returns()[check_player(player)]  # type: ignore[no-any-return]

    player_reward = player_return

    def is_chance_node(self) -> bool:
        """Return False: there are no chance nodes."""
        return False

    def is_simultaneous_node(self) -> bool:
        """Return False: players move in turn."""
        return False

    def is_initial_state(self: Any) -> bool:
        """Return whether no action has been played."""
        return not self.history()

    def num_players(self) -> int:
        """Return 2."""
        return 2

    def num_distinct_actions(self: Any) -> int:
        """Return the number of action indices of the game."""
        return self.game.num_actions  # type: ignore[no-any-return]

    def is_player_node(self: Any) -> bool:
        """Return whether a player is to move: True until the game is over."""
        return not self.is_terminal()

    def history_str(self: Any) -> str:
        """Return the indices of the actions that led here, ``"3, 14"``."""
        return ", ".join(map(str, self.history()))

    def information_state_string(self: Any, player: int | None = None) -> str:
        """Return the information state, the same for both players: the history."""
        return self.history_str()  # type: ignore[no-any-return]

    def observation_string(self, player: int | None = None) -> str:
        """Return the observation as text, the same for both players: the position."""
        return str(self)
