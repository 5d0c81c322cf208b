"""Export and loading of policies trained with other libraries.

A policy is a sequence of layers that maps an observation to one score per action: a logit or an action value. It is stored as
a safetensors file whose metadata records the game, the version of its actions and observations, and the layers. Nothing is
pickled, and the library that trained the policy is not needed to play it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
import torch
from pydantic import Field
from safetensors import SafetensorError
from safetensors.torch import load as load_tensors, save as save_tensors
from torch import Tensor, nn

from stoneworks.documents import Document, Tuple
from stoneworks.envs.rules import Game, load_game
from stoneworks.files import write_whole
from stoneworks.reading import parse_json, read_bytes

#: How to select a legal action: sample from the softmax of the scores, or take the highest score.
Selection = Literal["sample", "argmax"]

#: Maximum number of layers of a file.
MAX_LAYERS = 1000

_METADATA_KEY = "stoneworks_policy"
#: Supported layers with their constructor arguments.
_LAYERS: dict[str, tuple[type[nn.Module], tuple[str, ...]]] = {
    "linear": (nn.Linear, ("in_features", "out_features")),
    "conv2d": (nn.Conv2d, ("in_channels", "out_channels", "kernel_size", "stride", "padding")),
    "layer_norm": (nn.LayerNorm, ("normalized_shape", "eps", "elementwise_affine")),
    "flatten": (nn.Flatten, ()),
    "relu": (nn.ReLU, ()),
    "tanh": (nn.Tanh, ()),
    "gelu": (nn.GELU, ()),
    "silu": (nn.SiLU, ()),
    "elu": (nn.ELU, ()),
}


class ExportedPolicyError(ValueError):
    """Raised when a policy cannot be exported or loaded. The message names the problem and what is allowed."""


class PolicyDescription(Document):
    """The description of a policy in the metadata of its file.

    Attributes:
        format_version: version of the format.
        game: game string of the game that the policy was trained on.
        environment_version: version of its rules.
        observation_planes: names of its observation planes.
        selection: how to select a legal action.
        layers: the layers in order, each with its ``kind`` and the arguments of its constructor.
    """

    error: ClassVar[type[ValueError]] = ExportedPolicyError

    format_version: Literal[1]
    game: str
    environment_version: int
    observation_planes: Tuple[str]
    selection: Selection
    layers: Annotated[Tuple[dict[str, Any]], Field(min_length=1, max_length=MAX_LAYERS)]


class ExportedPolicy(nn.Module):
    """Policy module: maps observations ``float32[batch, planes, height, width]`` to ``float32[batch, num_actions]``.

    Attributes:
        game: the game that the policy was trained on.
        selection: see :data:`Selection`.
    """

    features = False

    def __init__(self, layers: nn.Sequential, game: Game, selection: Selection) -> None:
        super().__init__()
        self.layers = layers
        self.game = game
        self.selection = selection
        self._flat = not isinstance(layers[0], nn.Conv2d | nn.Flatten)

    def forward(self, observations: Tensor) -> tuple[Tensor, None]:
        """Return scores ``[batch, num_actions]`` for ``observations[batch, planes, height, width]``, and None for the values."""
        return self.layers(observations.flatten(1) if self._flat else observations), None


def save_policy(path: str | os.PathLike[str], layers: Iterable[nn.Module], game: Game, *, selection: Selection) -> None:
    """Save a policy, to be loaded with ``load_bot("policy:<path>", game)``.

    Args:
        path: path of the file, written atomically.
        layers: modules applied in sequence to observations with layout ``"flat"``, or ``"CHW"`` if the first module is a
            convolution. ``nn.Sequential`` modules are flattened. The output is ``[batch, num_actions]``.
        game: the game that the policy was trained on.
        selection: ``"sample"`` to sample from the softmax over legal actions (policy gradients), ``"argmax"`` to take the
            legal action of highest score (Q-learning).

    Raises:
        ExportedPolicyError: if a layer or an argument of one is not supported, or the layers do not fit the game.
    """
    chain = list(_chain(layers))
    description = PolicyDescription(
        format_version=1,
        game=str(game),
        environment_version=game.version,
        observation_planes=game.observation_planes,
        selection=selection,
        layers=tuple(map(_description, chain)),
    )
    policy = ExportedPolicy(nn.Sequential(*chain), game, selection)
    _check_shapes(policy, "the layers")
    tensors = {
        f"{index}.{name}": tensor.detach().to("cpu", torch.float32, copy=True).contiguous()
        for index, layer in enumerate(chain)
        for name in ("weight", "bias")  # some libraries replace parameters by tensors, which state_dict() leaves out
        if (tensor := getattr(layer, name, None)) is not None
    }
    _check_stored(policy, description, tensors)
    content = save_tensors(tensors, {_METADATA_KEY: json.dumps(description.to_fields())})
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    write_whole(target, content)


def load_policy(path: str | os.PathLike[str], game: Game | None = None) -> ExportedPolicy:
    """Load a policy saved with ``save_policy``.

    Args:
        path: path of the file.
        game: the game to play, which must be the game it was trained on; None for that game.

    Raises:
        ExportedPolicyError: if the file is missing or damaged, or the policy is for another game or version.
    """
    content = read_bytes(path, ExportedPolicyError)
    try:
        description = PolicyDescription.parse(_metadata(content, str(path)), str(path))
        tensors = load_tensors(content)
        trained_on = load_game(description.game)
        if game is not None and game != trained_on:
            raise ExportedPolicyError(
                f"{path}: the game must be {trained_on}, which the policy was trained on, got {game}"
            )
        present = {"environment_version": trained_on.version, "observation_planes": trained_on.observation_planes}
        for key, value in present.items():
            if getattr(description, key) != value:
                raise ExportedPolicyError(
                    f"{path}: {key} of {trained_on} must be {value!r}, got {getattr(description, key)!r}"
                )
        for name, tensor in tensors.items():
            if tensor.dtype != torch.float32 or not torch.isfinite(tensor).all():
                raise ExportedPolicyError(f"{path}: {name} must be finite numbers of float32")
        policy = ExportedPolicy(_stored_layers(description, tensors), trained_on, description.selection)
    except ExportedPolicyError:
        raise
    except (SafetensorError, KeyError, TypeError, ValueError, RuntimeError) as error:
        raise ExportedPolicyError(f"{path} must be a file written by save_policy ({error!r})") from error
    _check_shapes(policy, str(path))
    policy.eval()
    return policy


def _metadata(content: bytes, source: str) -> dict[str, Any]:
    """Return the description in the header of a safetensors file."""
    header = content[8 : 8 + int.from_bytes(content[:8], "little")].decode("utf-8")
    metadata = parse_json(header, ValueError, source)["__metadata__"]
    return parse_json(metadata[_METADATA_KEY], ValueError, source)


def _chain(layers: Iterable[nn.Module]) -> Iterator[nn.Module]:
    for layer in layers:
        if isinstance(layer, nn.Sequential):
            yield from _chain(layer)
        elif isinstance(layer, nn.Identity | nn.Dropout):
            continue  # no effect at inference
        else:
            _kind(layer)
            yield layer


def _kind(layer: nn.Module) -> str:
    for kind, (cls, _) in _LAYERS.items():
        if isinstance(layer, cls):
            return kind
    names = ", ".join(cls.__name__ for cls, _ in _LAYERS.values())
    raise ExportedPolicyError(f"layers must be {names}, or nn.Sequential of these, got {type(layer).__name__}")


def _description(layer: nn.Module) -> dict[str, Any]:
    kind = _kind(layer)
    arguments = {name: getattr(layer, name) for name in _LAYERS[kind][1]}
    if kind in ("linear", "conv2d", "layer_norm"):
        arguments["bias"] = layer.bias is not None
    return {"kind": kind, **arguments}


def _layer(description: dict[str, Any]) -> nn.Module:
    cls, names = _LAYERS[description["kind"]]
    arguments = {name: value for name, value in description.items() if name != "kind"}
    if set(arguments) - {"bias"} != set(names):
        raise ExportedPolicyError(f"a layer {description['kind']} must have {', '.join(names)}, got {arguments!r}")
    padding = arguments.get("padding", "same")
    # Otherwise the result could be mostly padding, of any size.
    if not isinstance(padding, str) and np.max(padding) >= np.max(arguments["kernel_size"]):
        raise ExportedPolicyError(f"the padding of a layer must be less than its kernel size, got {arguments!r}")
    return cls(**arguments)


def _stored_layers(description: PolicyDescription, tensors: Mapping[str, Tensor]) -> nn.Sequential:
    with torch.device("meta"):  # allocates nothing, whatever sizes the file gives
        layers = nn.Sequential(*map(_layer, description.layers))
    layers.load_state_dict(tensors, assign=True)
    return layers


def _check_stored(policy: ExportedPolicy, description: PolicyDescription, tensors: Mapping[str, Tensor]) -> None:
    """Check that the policy that will be loaded gives the scores of ``policy``.

    Raises:
        ExportedPolicyError: its scores differ.
    """
    observations = torch.rand(2, *policy.game.observation_shape, generator=torch.Generator().manual_seed(0))
    observations = observations.to(_device(policy))
    try:
        layers = _stored_layers(description, tensors).to(observations.device)
        with torch.no_grad():
            stored = ExportedPolicy(layers, policy.game, policy.selection)(observations)[0]
            equal = torch.allclose(stored, policy(observations)[0], rtol=1e-5, atol=1e-6)
    except RuntimeError:  # other shapes
        equal = False
    if not equal:
        raise ExportedPolicyError(
            "the layers must have the default values of all arguments that are not stored, such as alpha of ELU or groups of "
            "Conv2d; as stored, they give other scores. Call eval() first if layers compute their weights anew in training, such "
            "as with spectral norm"
        )


def _check_shapes(policy: ExportedPolicy, name: str) -> None:
    game = policy.game
    try:
        with torch.no_grad():
            scores = policy(torch.ones(2, *game.observation_shape, device=_device(policy)))[0]
    except (RuntimeError, IndexError, TypeError) as error:
        raise ExportedPolicyError(
            f"{name}: the layers must take observations {game.observation_shape} of {game} ({error})"
        ) from error
    if tuple(scores.shape) != (2, game.num_actions):
        raise ExportedPolicyError(
            f"{name}: the result must be [batch, {game.num_actions}] for {game}, got {list(scores.shape)}"
        )
    if not torch.isfinite(scores).all():
        raise ExportedPolicyError(f"{name}: the output must be finite, got NaN or infinity for an observation of ones")


def _device(policy: nn.Module) -> torch.device:
    return next((parameter.device for parameter in policy.parameters()), torch.device("cpu"))
