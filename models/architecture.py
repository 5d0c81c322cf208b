"""The registry of networks, their hyperparameters, and :class:`Architecture`; does not import torch.

Each network is one :class:`NetworkEntry`: a subclass of :class:`stoneworks.models.network.BoardNetwork` and a document of its
hyperparameters. Other packages add networks with :func:`register_network`, or with an entry point in the group
``stoneworks.networks`` that refers to a ``NetworkEntry``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import Field, ValidationError, model_validator

from stoneworks.documents import Document, describe
from stoneworks.envs.rules import Game, as_game
from stoneworks.envs.rules.parts import features_of
from stoneworks.registry import HINT, Entry, Reference, Registry, path_of

ENTRY_POINT_GROUP = "stoneworks.networks"


class NetworkConfig(Document):
    """Base class of network hyperparameters; each kind of network defines a subclass.

    Attributes:
        kind: name of the network in the registry.

    Raises:
        DocumentError: an attribute is invalid.
    """

    kind: str

    @property
    def sees_features(self) -> bool:
        """Whether the network sees the features of the game (see :mod:`stoneworks.envs.rules.parts`)."""
        return bool(getattr(self, "features", False))


#: Maximum number of weights in the residual blocks; protects against configurations that exhaust memory.
MAX_WEIGHTS = 200_000_000


class ResidualConfig(NetworkConfig):
    """Hyperparameters of the residual networks (see :class:`stoneworks.models.network.ResidualNetwork`).

    Attributes:
        channels: number of channels of the convolutions.
        blocks: number of residual blocks.
        features: whether the network sees the features of the game (see :mod:`stoneworks.envs.rules.parts`).
    """

    channels: int = Field(32, ge=1, le=1024)
    blocks: int = Field(4, ge=0, le=100)
    features: bool = False

    @model_validator(mode="after")
    def _check_size(self) -> ResidualConfig:
        weights = 18 * self.channels**2 * self.blocks
        if weights > MAX_WEIGHTS:
            raise ValueError(
                f"blocks must be at most {MAX_WEIGHTS // (18 * self.channels**2)} with {self.channels} channels, "
                f"got {self.blocks}: {weights:,} weights"
            )
        return self


@dataclass(frozen=True)
class NetworkEntry(Entry):
    """Registry entry of a network. Classes are given as ``"module:attribute"`` and imported on first use.

    Attributes:
        name: name in configurations and checkpoints (``kind``).
        network: path of a subclass of :class:`stoneworks.models.network.BoardNetwork`.
        hyperparameters: path of a subclass of :class:`NetworkConfig`.
        win_draw_loss: whether the value head predicts win, draw and loss probabilities, as required by AlphaZero.

    Raises:
        RegistrationError: if an attribute is invalid.
    """

    network: Reference
    hyperparameters: Reference
    win_draw_loss: bool = True


_RESIDUAL = "stoneworks.models.architecture:ResidualConfig"
_BUILT_IN = (
    NetworkEntry("win_draw_loss_network", "stoneworks.models.network:WinDrawLossNetwork", _RESIDUAL),
    NetworkEntry(
        "scalar_value_network", "stoneworks.models.network:ScalarValueNetwork", _RESIDUAL, win_draw_loss=False
    ),
)
#: The registry of networks.
NETWORKS = Registry("network", NetworkEntry, _BUILT_IN, ENTRY_POINT_GROUP)


def register_network(
    name: str, network: str | type, hyperparameters: str | type[NetworkConfig], *, win_draw_loss: bool = True
) -> None:
    """Register a network in this process and in the worker processes that it starts.

    A registered network can be trained with ``network: {kind: <name>}`` in a configuration, and its checkpoints can be loaded
    by path or name. Registering the same entry again has no effect.

    Args:
        name: name in configurations and checkpoints.
        network: a subclass of :class:`stoneworks.models.network.BoardNetwork`, or its path ``"module:Class"``.
        hyperparameters: a subclass of :class:`NetworkConfig`, or its path.
        win_draw_loss: see :class:`NetworkEntry`.

    Raises:
        RegistrationError: if an argument is invalid or the name is taken.
    """
    NETWORKS.add(
        NetworkEntry(name, path_of(network), path_of(hyperparameters), win_draw_loss)  # type: ignore[arg-type]
    )


def network_names() -> tuple[str, ...]:
    """Return the names of all registered networks."""
    return NETWORKS.names()


def network_entry(kind: object) -> NetworkEntry:
    """Return the registry entry of ``kind``.

    Raises:
        ValueError: it is unknown (listing the valid kinds).
    """
    if kind not in NETWORKS:
        raise ValueError(f"kind must be one of {', '.join(network_names())}, got {kind!r}; {HINT}")
    return NETWORKS[kind]  # type: ignore[index]


@dataclass(frozen=True)
class Architecture:
    """Input and output sizes and hyperparameters of a network; equal architectures have interchangeable weights.

    Attributes:
        observation_planes: number of observation planes.
        board_plane: index of the plane that marks the cells on the board.
        action_planes: number of actions per cell.
        global_actions: number of actions not tied to a cell.
        config: the network's hyperparameters; ``config.kind`` is its name in the registry.
        feature_planes: number of feature planes, which follow the observation planes.
    """

    observation_planes: int
    board_plane: int
    action_planes: int
    global_actions: int
    config: NetworkConfig
    feature_planes: int = 0

    @classmethod
    def of_game(
        cls,
        game: Game | str,
        config: NetworkConfig | None = None,
        *,
        kind: str = "scalar_value_network",
        **hyperparameters: Any,
    ) -> Architecture:
        """Return the architecture of a network for ``game``.

        Args:
            game: the game, or its game string.
            config: the network's hyperparameters; if None, built from ``kind`` and ``hyperparameters``.
            kind: name of the network in the registry.
            **hyperparameters: hyperparameters by name; defaults apply to the rest.

        Raises:
            ValueError: if the kind is unknown or a hyperparameter is unknown or invalid.
        """
        if config is None:
            config = network_config({**hyperparameters, "kind": kind})
        game = as_game(game)
        return cls(
            observation_planes=len(game.observation_planes),
            board_plane=game.observation_planes.index(game.board_plane),
            action_planes=game.num_action_planes,
            global_actions=len(game.global_actions),
            config=config,
            feature_planes=len(features_of(game)) if config.sees_features else 0,
        )

    @property
    def kind(self) -> str:
        """Name of the network in the registry."""
        return self.config.kind

    @property
    def input_planes(self) -> int:
        """Number of input planes: observation and features."""
        return self.observation_planes + self.feature_planes


def network_config(values: Mapping[str, Any]) -> NetworkConfig:
    """Create a ``NetworkConfig`` from hyperparameters by name, including ``kind``.

    Raises:
        ValueError: if the kind is unknown or a hyperparameter is unknown or invalid; the message names it.
    """
    config_class = network_entry(values.get("kind")).load_class("hyperparameters", NetworkConfig)
    try:
        return config_class.model_validate(dict(values))
    except ValidationError as error:
        raise ValueError(describe(error, config_class)) from None
