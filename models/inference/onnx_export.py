"""Export to ONNX: networks of checkpoints, for boards of any size, and layers of policies trained with other libraries.

The graphs are written here, operator by operator, and not by PyTorch's exporters: that of TorchScript is deprecated, and the one
of ``torch.export`` took 39 s for a network of four blocks where this takes milliseconds.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from stoneworks.envs.rules import Game, as_game
from stoneworks.envs.rules.parts import features_of
from stoneworks.extras import require_extra
from stoneworks.files import write_whole
from stoneworks.models.checkpoint import Checkpoint
from stoneworks.models.inference.onnx_policy import (
    METADATA_KEY,
    OnnxDescription,
    OnnxPolicy,
    OnnxPolicyError,
    Selection,
)
from stoneworks.models.network import ResidualNetwork, ScalarValueNetwork, WinDrawLossNetwork

with require_extra("train", "networks"):
    import torch
    from torch import Tensor, nn
with require_extra("onnx", "ONNX files"):
    import onnx
    from onnx import TensorProto, helper

#: Version of ONNX's operators, the first one with ``Gelu``, and of its files.
_OPERATORS, _FILES = 20, 9


def export_checkpoint(checkpoint: Checkpoint, path: str | os.PathLike[str]) -> None:
    """Write the network of a checkpoint to an ONNX file, for batches and boards of any size.

    The input is ``planes``, ``float32[batch, input planes, height, width]``; the outputs are ``logits``,
    ``float32[batch, num_actions]``, and ``value``, ``float32[batch]``. ``load_bot("policy:<path>", game)`` plays it.

    Args:
        checkpoint: the checkpoint.
        path: path of the file, written atomically.

    Raises:
        OnnxPolicyError: the network is not one of this package.
    """
    network, game = checkpoint.network, checkpoint.game
    if type(network) not in (WinDrawLossNetwork, ScalarValueNetwork):
        raise OnnxPolicyError(
            f"the network must be a WinDrawLossNetwork or ScalarValueNetwork, got {type(network).__name__}; torch.onnx.export "
            "exports others"
        )
    assert isinstance(network, ResidualNetwork)
    graph = _Graph()
    _add_network(graph, network)
    selection: Selection = "argmax" if checkpoint.play.deterministic_policy else "sample"
    features = tuple(feature.name for feature in features_of(game)) if network.features else ()
    shape = ("batch", network.architecture.input_planes, "height", "width")
    content = graph.content(shape, OnnxDescription.of(game, features, selection))
    OnnxPolicy(content, game, str(path))
    _write(path, content)


def save_policy(
    path: str | os.PathLike[str], layers: nn.Module | Iterable[nn.Module], game: Game | str, *, selection: Selection
) -> None:
    """Save a policy of any library that uses PyTorch, to be loaded with ``load_bot("policy:<path>", game)``.

    Args:
        path: path of the file, written atomically.
        layers: modules applied in sequence to observations with layout ``"flat"``, or ``"CHW"`` if the first module is a
            convolution. The output is ``[batch, num_actions]``.
        game: the game that the policy was trained on, or its game string.
        selection: ``"sample"`` to sample from the softmax over legal actions (policy gradients), ``"argmax"`` to take the
            legal action of highest score (Q-learning).

    Raises:
        OnnxPolicyError: a layer is not supported, or the layers do not fit the game.
    """
    game = as_game(game)
    chain = list(_chain([layers] if isinstance(layers, nn.Module) else layers))
    if not chain:
        raise OnnxPolicyError("layers must have at least 1 layer, got none")
    description = OnnxDescription.of(game, (), selection)
    if not isinstance(chain[0], nn.Conv2d | nn.Flatten):
        chain.insert(0, nn.Flatten())
    graph, scores = _Graph(), "planes"
    for layer in chain:
        scores = _add_layer(graph, scores, layer)
    graph.add("Identity", scores, name="logits")
    content = graph.content(("batch", *game.observation_shape), description)
    observations = np.random.default_rng(0).random((2, *game.observation_shape), np.float32)
    device = next((parameter.device for parameter in nn.Sequential(*chain).parameters()), torch.device("cpu"))
    try:
        with torch.no_grad():
            expected = nn.Sequential(*chain)(torch.from_numpy(observations).to(device)).cpu().numpy()
    except (RuntimeError, IndexError, TypeError) as error:
        raise OnnxPolicyError(
            f"the layers must take observations {game.observation_shape} of {game} ({error})"
        ) from error
    if expected.shape != (2, game.num_actions):
        raise OnnxPolicyError(
            f"the result of the layers must be [batch, {game.num_actions}] for {game}, got {list(expected.shape)}"
        )
    if not np.allclose(OnnxPolicy(content, game, str(path)).infer(observations)[0], expected, rtol=1e-5, atol=1e-5):
        raise OnnxPolicyError(
            "the layers must compute what their classes do: as written to the file, they give other scores. Call eval() first if "
            "layers compute their weights anew in training, such as with spectral norm"
        )
    _write(path, content)


def _write(path: str | os.PathLike[str], content: bytes) -> None:
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    write_whole(target, content)


class _Graph:
    """A graph under construction; its input is ``planes``."""

    def __init__(self) -> None:
        self._nodes: list[Any] = []
        self._weights: list[Any] = []

    def add(self, kind: str, *inputs: str | Tensor | Sequence[int], name: str = "", **attributes: Any) -> str:
        """Add an operator and return the name of its output.

        Args:
            kind: name of the operator.
            *inputs: names of the outputs of other operators, weights, and integers.
            name: name of the output; one is made up if it is empty.
            **attributes: attributes of the operator.
        """
        names = [one if isinstance(one, str) else self._weight(one) for one in inputs]
        output = name or f"{kind}_{len(self._nodes)}"
        self._nodes.append(helper.make_node(kind, names, [output], **attributes))
        return output

    def _weight(self, weight: Tensor | Sequence[int]) -> str:
        values: npt.NDArray[Any]
        if isinstance(weight, Tensor):
            values = weight.detach().to("cpu", torch.float32).contiguous().numpy()
        else:
            values = np.array(weight, np.int64)
        name = f"weight_{len(self._weights)}"
        self._weights.append(onnx.numpy_helper.from_array(values, name))
        return name

    def content(self, shape: Sequence[int | str], description: OnnxDescription) -> bytes:
        """Return the file of the graph.

        Args:
            shape: shape of the input; names stand for any size.
            description: the description in the metadata.
        """
        names = [node.output[0] for node in self._nodes if node.output[0] in ("logits", "value")]
        shapes = {"logits": ["batch", "actions"], "value": ["batch"]}
        outputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shapes[name]) for name in names]
        planes = helper.make_tensor_value_info("planes", TensorProto.FLOAT, shape)
        graph = helper.make_graph(self._nodes, "stoneworks", [planes], outputs, self._weights)
        operators = [helper.make_opsetid("", _OPERATORS)]
        model = helper.make_model(graph, opset_imports=operators, ir_version=_FILES, producer_name="stoneworks")
        helper.set_model_props(model, {METADATA_KEY: json.dumps(description.to_fields())})
        return bytes(model.SerializeToString())


# -- Networks of this package ------------------------------------------------------------------------------------------


def _add_network(graph: _Graph, network: ResidualNetwork) -> None:
    """Add :meth:`ResidualNetwork.forward`. Linear layers are convolutions of one cell, so that all tensors have four dimensions."""
    board = network.architecture.board_plane
    on_board = graph.add("Slice", "planes", [board], [board + 1], [1])
    inverse_num_cells = graph.add("Reciprocal", graph.add("ReduceSum", on_board, [2, 3]))

    def pooled(features: str) -> str:
        mean = graph.add("Mul", graph.add("ReduceSum", features, [2, 3]), inverse_num_cells)
        return graph.add("Concat", mean, graph.add("GlobalMaxPool", features), axis=1)

    def masked(features: str) -> str:
        return graph.add("Mul", graph.add("Relu", features), on_board)

    features = masked(_add_convolution(graph, "planes", network.stem))
    for block in network.blocks:
        bias = _add_convolution(graph, pooled(features), block.pooled_bias)
        inner = masked(graph.add("Add", _add_convolution(graph, features, block.first), bias))
        features = masked(graph.add("Add", features, _add_convolution(graph, inner, block.second)))
    hidden = graph.add("Relu", _add_convolution(graph, pooled(features), network.global_hidden))
    cells = graph.add("Flatten", _add_convolution(graph, features, network.cell_policy), axis=1)
    if network.global_policy is None:
        graph.add("Identity", cells, name="logits")
    else:
        others = graph.add("Flatten", _add_convolution(graph, hidden, network.global_policy), axis=1)
        graph.add("Concat", cells, others, name="logits", axis=1)
    outcome = graph.add("Flatten", _add_convolution(graph, hidden, network.value), axis=1)
    if isinstance(network, ScalarValueNetwork):
        graph.add("Squeeze", graph.add("Tanh", outcome), [1], name="value")
    else:
        win_draw_loss = graph.add("Softmax", outcome, axis=1)
        graph.add(
            "MatMul", win_draw_loss, torch.tensor([1.0, 0.0, -1.0], dtype=torch.float32, device="cpu"), name="value"
        )


def _add_convolution(graph: _Graph, x: str, layer: Any) -> str:
    """Add a convolution whose padding is half its size, or a linear layer."""
    weight, bias = layer.weight, layer.bias
    weight = weight if weight.ndim == 4 else weight[:, :, None, None]
    biases = () if bias is None else (bias,)
    return graph.add("Conv", x, weight, *biases, pads=[size // 2 for size in weight.shape[2:]] * 2)


# -- Layers of other libraries -----------------------------------------------------------------------------------------


def _chain(layers: Iterable[nn.Module]) -> Iterator[nn.Module]:
    for layer in layers:
        if isinstance(layer, nn.Sequential):
            yield from _chain(layer)
        elif not isinstance(layer, nn.Identity | nn.Dropout):  # which have no effect at inference
            yield layer


def _add_layer(graph: _Graph, x: str, layer: nn.Module) -> str:
    """Add a layer and return the name of its output.

    Raises:
        OnnxPolicyError: the layer is not supported.
    """
    # Some libraries replace parameters by tensors, which state_dict() leaves out.
    weight: Any = getattr(layer, "weight", None)
    bias: Any = getattr(layer, "bias", None)
    biases = () if bias is None else (bias,)
    match layer:
        case nn.Linear():
            product = graph.add("MatMul", x, weight.T)
            return graph.add("Add", product, bias) if biases else product
        case nn.Conv2d(padding_mode="zeros"):
            totals = [step * (size - 1) for step, size in zip(layer.dilation, layer.kernel_size, strict=True)]
            of_names = {
                "valid": [0] * 4,
                "same": [total // 2 for total in totals] + [-(-total // 2) for total in totals],
            }
            pads = of_names[layer.padding] if isinstance(layer.padding, str) else [*layer.padding] * 2
            sizes: dict[str, Any] = {"strides": layer.stride, "dilations": layer.dilation, "group": layer.groups}
            return graph.add("Conv", x, weight, *biases, pads=pads, **sizes)
        case nn.LayerNorm():
            scale = torch.ones(layer.normalized_shape, device="cpu") if weight is None else weight
            return graph.add(
                "LayerNormalization", x, scale, *biases, axis=-len(layer.normalized_shape), epsilon=layer.eps
            )
        case nn.Flatten(start_dim=1, end_dim=-1):
            return graph.add("Flatten", x, axis=1)
        case nn.GELU():
            return graph.add("Gelu", x, approximate=layer.approximate)
        case nn.ELU():
            return graph.add("Elu", x, alpha=float(layer.alpha))
        case nn.SiLU():
            return graph.add("Mul", x, graph.add("Sigmoid", x))
        case nn.ReLU():
            return graph.add("Relu", x)
        case nn.Tanh():
            return graph.add("Tanh", x)
    raise OnnxPolicyError(
        "layers must be Linear, Conv2d with padding_mode='zeros', LayerNorm, Flatten, GELU, ELU, SiLU, ReLU or Tanh, or "
        f"nn.Sequential of these, got {layer}; torch.onnx.export exports others"
    )
