"""OpenSpiel adapter: ``register_games()``, then ``pyspiel.load_game("stoneworks_vadus(size=4)")``.

The registered games are ``pyspiel.Game`` objects: for OpenSpiel's algorithms in Python, those in C++ that support Python games,
``rl_environment.Environment`` by game name, observers, and other libraries' wrappers of OpenSpiel.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from stoneworks.envs.rules import Game, State, load_game
from stoneworks.envs.rules.game import game_class
from stoneworks.envs.rules.game_registry import GAMES, game_entry
from stoneworks.integrations.missing_library import require

pyspiel = require("pyspiel", "open_spiel")

PREFIX = "stoneworks_"
#: Separator of the items of a tuple option; OpenSpiel's game parameters have no tuple type.
TUPLE_SEPARATOR = ":"
#: Largest number that OpenSpiel's GameInfo holds.
MAX_INT = 2**31 - 1


def register_games(names: Iterable[str] | None = None) -> tuple[str, ...]:
    """Register games with OpenSpiel and return their OpenSpiel names, e.g. ``"stoneworks_vadus"``.

    Game options become game parameters. Tuples are written with colons: ``"stoneworks_taigo(handicap=2:1)"``. Registering a
    game again has no effect.

    Args:
        names: names of the games; by default all that can be loaded.

    Raises:
        UnknownGameError: a name is unknown.
    """
    registered = set(pyspiel.registered_names())
    result = []
    for name in [entry.name for entry in GAMES.loadable()] if names is None else names:
        game_entry(name)  # raises for unknown names and for options
        spiel_name = PREFIX + name
        result.append(spiel_name)
        if spiel_name not in registered:
            pyspiel.register_game(_game_type(load_game(name)), _game_class(name))
    return tuple(result)


def _game_type(game: Game) -> Any:
    parameters = {name: _encoded(option.default) for name, option in game.option_types.items()}
    return pyspiel.GameType(
        PREFIX + game.name,
        game.name.capitalize(),
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
        parameter_specification=parameters,
    )


def _game_class(name: str) -> type:
    class SpielGame(pyspiel.Game):  # type: ignore[name-defined]
        """OpenSpiel game that wraps a ``stoneworks.envs.rules.Game``."""

        def __init__(self, parameters: Mapping[str, Any] | None = None) -> None:
            types = game_class(game_entry(name)).option_types
            given = {key: _decoded(value, types[key].default) for key, value in (parameters or {}).items()}
            self.rules = load_game(name, **given)
            info = pyspiel.GameInfo(
                num_distinct_actions=self.rules.num_actions,
                max_chance_outcomes=0,
                num_players=2,
                min_utility=-1.0,
                max_utility=1.0,
                utility_sum=0.0,
                max_game_length=min(self.rules.max_game_length(), MAX_INT),
            )
            super().__init__(_game_type(self.rules), info, dict(parameters or {}))

        def __reduce__(self) -> tuple[Any, ...]:
            return _load, (name, str(self))

        def new_initial_state(self, state: Any = None) -> Any:
            if state is not None:
                raise ValueError(f"state must be None, got {state!r}; see deserialize_state")
            return SpielState(self)

        def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> Any:
            if iig_obs_type is None or (iig_obs_type.public_info and not iig_obs_type.perfect_recall):
                return PlanesObserver(self.rules, params)
            from open_spiel.python.observation import IIGObserverForPublicInfoGame

            return IIGObserverForPublicInfoGame(iig_obs_type, params)

    SpielGame.__name__ = SpielGame.__qualname__ = f"{name.capitalize()}SpielGame"
    return SpielGame


def _load(name: str, text: str) -> Any:
    """Return a pickled game, which is registered if it is not yet in this process."""
    register_games([name])
    return pyspiel.load_game(text)


def _load_state(name: str, text: str, serialized: str) -> Any:
    """Return a pickled state of a game, as in ``_load``."""
    return _load(name, text).deserialize_state(serialized)


class SpielState(pyspiel.State):  # type: ignore[name-defined]
    """OpenSpiel state that wraps a ``stoneworks.envs.rules.State``.

    Attributes:
        rules_state: the wrapped state.
    """

    def __init__(self, game: Any) -> None:
        super().__init__(game)
        self.rules_state: State = game.rules.new_initial_state()

    def __reduce__(self) -> tuple[Any, ...]:
        game = self.get_game()
        return _load_state, (game.rules.name, str(game), self.serialize())

    def current_player(self) -> int:
        """Return the player to move, or ``PlayerId.TERMINAL`` if the game is over."""
        return pyspiel.PlayerId.TERMINAL if self.rules_state.is_terminal() else self.rules_state.current_player()

    def _legal_actions(self, player: int) -> list[int]:
        return self.rules_state.legal_actions(player)

    def _apply_action(self, action: int) -> None:
        self.rules_state.apply_action(action)

    def _action_to_string(self, player: int, action: int) -> str:
        return self.rules_state.action_to_string(player, action)

    def is_terminal(self) -> bool:
        """Return whether the game is over."""
        return self.rules_state.is_terminal()

    def returns(self) -> list[float]:
        """Return both players' returns."""
        return self.rules_state.returns()

    def __str__(self) -> str:
        return str(self.rules_state)


class PlanesObserver:
    """OpenSpiel observer of the planes: flat in ``tensor``, with shape in ``dict["observation"]``."""

    def __init__(self, game: Game, params: Any = None) -> None:
        if params:
            raise ValueError(f"params of an observer must be empty, got {params!r}")
        self.tensor = np.zeros(game.observation_size, np.float32)
        self.dict = {"observation": self.tensor.reshape(game.observation_shape)}

    def set_from(self, state: SpielState, player: int) -> None:
        """Write the planes of ``state`` from the perspective of ``player``."""
        self.dict["observation"][:] = state.rules_state.observation_tensor(player)

    def string_from(self, state: SpielState, player: int) -> str:
        """Return the position as text."""
        return str(state.rules_state)


def _encoded(value: Any) -> Any:
    return TUPLE_SEPARATOR.join(map(str, value)) if isinstance(value, tuple) else value


def _decoded(value: Any, default: Any) -> Any:
    if not (isinstance(value, str) and isinstance(default, tuple)):
        return value
    try:
        return tuple(int(part) for part in value.split(TUPLE_SEPARATOR))
    except ValueError:
        return value  # load_game raises the error
