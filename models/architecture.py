"""The registry of networks, their hyperparameters, and :class:`Architecture`: what a network is, without torch.

A network is one :class:`NetworkEntry` here: a module that keeps the contract of
:class:`stoneworks.models.network.BoardNetwork`, and a dataclass of its hyperparameters. A network in another package is added
with :func:`register_network`, or by an entry point of the group ``stoneworks.networks`` that refers to a ``NetworkEntry``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from stoneworks.envs.rules import Game
from stoneworks.envs.rules.checks import check_integer
from stoneworks.envs.rules.errors import RegistrationError
from stoneworks.envs.rules.registry import Entry, Registry, path_of

ENTRY_POINT_GROUP = "stoneworks.networks"


@dataclass(frozen=True)
class NetworkConfig:
    """Hyperparameters of a network: the base class, which each kind of network extends by its own.

    Attributes:
        kind: name of the network in the registry.

    Raises:
        ValueError: an attribute is not allowed; the message begins with its name.
    """

    kind: str


#: Weights that residual blocks may have in all, so that a configuration or a checkpoint cannot use up the memory.
MAX_WEIGHTS = 200_000_000


@dataclass(frozen=True)
class ResidualConfig(NetworkConfig):
    """Hyperparameters of the residual networks (see :class:`stoneworks.models.network.ResidualNetwork`).

    Attributes:
        channels: width of the convolutions.
        blocks: number of residual blocks.
    """

    channels: int = 32
    blocks: int = 4

    def __post_init__(self) -> None:
        check_integer("channels", self.channels, 1, 1024)
        check_integer("blocks", self.blocks, 0, 100)
        weights = 18 * self.channels**2 * self.blocks
        if weights > MAX_WEIGHTS:
            raise ValueError(
                f"blocks must be at most {MAX_WEIGHTS // (18 * self.channels**2)} with {self.channels} channels, "
                f"got {self.blocks}: {weights:,} weights"
            )


@dataclass(frozen=True)
class NetworkEntry(Entry):
    """A network in the registry. Code is named as ``"module:attribute"`` and imported when it is used.

    Attributes:
        name: what configurations and checkpoints call it (``kind``).
        network: its subclass of :class:`stoneworks.models.network.BoardNetwork`.
        hyperparameters: its subclass of :class:`NetworkConfig`.
        win_draw_loss: whether its value head predicts the probabilities of a win, a draw and a loss, which AlphaZero learns.

    Raises:
        RegistrationError: an attribute is not valid.
    """

    network: str
    hyperparameters: str
    win_draw_loss: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_path("network")
        self.require_path("hyperparameters")

    def config_class(self) -> type[NetworkConfig]:
        """Return the class of the hyperparameters. Raises :class:`RegistrationError` where it is not one."""
        found = self.load("hyperparameters")
        if not (isinstance(found, type) and issubclass(found, NetworkConfig)):
            raise RegistrationError(
                f"{self.name}: hyperparameters must be a dataclass that extends NetworkConfig, got {found!r}"
            )
        return found


#: The registry of networks.
NETWORKS = Registry(
    "network",
    NetworkEntry,
    (
        NetworkEntry(
            "win_draw_loss_network",
            "stoneworks.models.network:WinDrawLossNetwork",
            "stoneworks.models.architecture:ResidualConfig",
        ),
        NetworkEntry(
            "board_network",
            "stoneworks.models.network:ScalarValueNetwork",
            "stoneworks.models.architecture:ResidualConfig",
            win_draw_loss=False,
        ),
    ),
    ENTRY_POINT_GROUP,
)


def register_network(
    name: str, network: str | type, hyperparameters: str | type[NetworkConfig], *, win_draw_loss: bool = True
) -> None:
    """Add a network to the registry of this process and of the worker processes that it starts.

    From then on ``network: {kind: <name>}`` in a configuration trains it, and its checkpoints are loaded by path or name.
    Registering the same entry again does nothing.

    Args:
        name: what configurations and checkpoints call it.
        network: a subclass of :class:`stoneworks.models.network.BoardNetwork`, or where it is, as ``"module:Class"``.
        hyperparameters: a dataclass that extends :class:`NetworkConfig`, or where it is.
        win_draw_loss: see :class:`NetworkEntry`.

    Raises:
        RegistrationError: an argument is not valid, or the name is taken.
    """
    NETWORKS.add(
        NetworkEntry(name, path_of(network), path_of(hyperparameters), win_draw_loss)  # type: ignore[arg-type]
    )


def network_names() -> tuple[str, ...]:
    """Return the names of all networks."""
    return NETWORKS.names()


def network_entry(kind: object) -> NetworkEntry:
    """Return the entry of a kind of network. Raises ``ValueError``, which lists the kinds, where there is none."""
    if kind not in NETWORKS:
        raise ValueError(f"kind must be one of {', '.join(network_names())}, got {kind!r}")
    return NETWORKS[kind]  # type: ignore[index]


@dataclass(frozen=True)
class Architecture:
    """What makes two networks take the same weights: the sizes that the game demands, and the hyperparameters.

    Attributes:
        observation_planes: number of input planes.
        board_plane: index of the plane that marks the cells on the board.
        action_planes: number of actions of each cell.
        global_actions: number of actions that belong to no cell.
        config: the network's hyperparameters; ``config.kind`` is its name in the registry.
    """

    observation_planes: int
    board_plane: int
    action_planes: int
    global_actions: int
    config: NetworkConfig

    @classmethod
    def of_game(
        cls, game: Game, config: NetworkConfig | None = None, *, kind: str = "board_network", **hyperparameters: Any
    ) -> Architecture:
        """Return the architecture of a network that plays ``game``.

        Args:
            game: the game.
            config: the network's hyperparameters; without them, ``kind`` and ``hyperparameters`` give them.
            kind: name of the network in the registry.
            **hyperparameters: its hyperparameters by name; the rest have their defaults.

        Raises:
            ValueError: there is no such kind, or a hyperparameter is unknown or not allowed.
        """
        return cls(
            observation_planes=len(game.observation_planes),
            board_plane=game.observation_planes.index(game.board_plane),
            action_planes=game.num_action_planes,
            global_actions=len(game.global_actions),
            config=network_config({**hyperparameters, "kind": kind}) if config is None else config,
        )

    @property
    def kind(self) -> str:
        """Name of the network in the registry."""
        return self.config.kind

    def as_dict(self) -> dict[str, Any]:
        """Return the sizes and the hyperparameters as JSON has them."""
        sizes = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "config"}
        return sizes | asdict(self.config)


def network_config(values: Mapping[str, Any]) -> NetworkConfig:
    """Return hyperparameters from their values by name, ``kind`` among them.

    Raises:
        ValueError: there is no such kind, or a hyperparameter is unknown or not allowed; the message begins with its name.
    """
    config_class = network_entry(values.get("kind")).config_class()
    known = [field.name for field in fields(config_class)]
    for name in values:
        if name not in known:
            raise ValueError(f"{name} is not a hyperparameter of {values['kind']}; valid ones: {', '.join(known)}")
    return config_class(**values)
