"""``OnnxPolicy``: a network in an ONNX file, run by ONNX Runtime; PyTorch is not needed.

The file may come from ``stoneworks export``, from :func:`~stoneworks.models.inference.onnx_export.save_policy`, or from any
other exporter. Its graph has one input, observations ``float32[batch, planes, height, width]`` or flattened ``float32[batch, n]``
with a batch of any size. Its first output is one score per action, ``float32[batch, num_actions]``: a logit or an action value. A
second output is the expected result for the player to move, ``float32[batch]``. A description in the metadata is optional.
"""

from __future__ import annotations

import math
import os
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from stoneworks.documents import Document, Tuple
from stoneworks.envs.rules import Game, load_game
from stoneworks.envs.rules.parts import features_of
from stoneworks.extras import require_extra
from stoneworks.models.network_inputs import NetworkInputs
from stoneworks.reading import parse_json, read_bytes

with require_extra("onnx", "ONNX files"):
    import onnx
    import onnxruntime

#: How to select a legal action: sample from the softmax of the scores, or take the highest score.
Selection = Literal["sample", "argmax"]

#: Key of the description in the metadata of a file.
METADATA_KEY = "stoneworks"
#: Maximum number of elements of each tensor that a graph computes for one position.
MAX_ELEMENTS = 2**22


class OnnxPolicyError(ValueError):
    """Raised when a policy cannot be exported or loaded. The message names the problem and what is allowed."""


class OnnxDescription(Document):
    """The description in the metadata of a file.

    Attributes:
        format_version: version of the description.
        game: game string of the game that the policy was trained on.
        environment_version: version of its rules.
        observation_planes: names of its observation planes.
        feature_planes: names of the feature planes after them.
        selection: how to select a legal action.
    """

    error: ClassVar[type[ValueError]] = OnnxPolicyError

    format_version: Literal[1]
    game: str
    environment_version: int
    observation_planes: Tuple[str]
    feature_planes: Tuple[str] = ()
    selection: Selection

    @classmethod
    def of(cls, game: Game, feature_planes: Tuple[str], selection: Selection) -> OnnxDescription:
        """Return the description of a policy for ``game``."""
        return cls(
            format_version=1,
            game=str(game),
            environment_version=game.version,
            observation_planes=game.observation_planes,
            feature_planes=feature_planes,
            selection=selection,
        )


class OnnxPolicy:
    """A network in an ONNX file.

    Attributes:
        game: the game to play.
        features: whether the features of the game follow the observation in the input.
        selection: how to select a legal action.
    """

    def __init__(self, content: bytes, game: Game | None, source: str) -> None:
        """Check and prepare the content of a file, named ``source`` in errors.

        Raises:
            OnnxPolicyError: see :meth:`load`.
        """
        self._arguments = content, game, source
        try:
            model = onnx.load_model_from_string(content)
        except Exception as error:  # errors of protobuf, which is not a dependency of its own
            raise OnnxPolicyError(f"{source} must be an ONNX file ({error})") from None
        description = _description(model, source)
        self.game = _game_of(description, game, source)
        self.features = description is not None and bool(description.feature_planes)
        self.selection: Selection = "sample" if description is None else description.selection
        self._shape = _check_graph(model, NetworkInputs(self.game, self.features).shape, source)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 4  # errors are raised
        try:
            self._session = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
            self._check_outputs(source)
        except OnnxPolicyError:
            raise
        except Exception as error:  # ONNX Runtime's errors have no common base class
            raise OnnxPolicyError(f"{source} cannot be run on observations of {self.game}: {error}") from None

    @classmethod
    def load(cls, path: str | os.PathLike[str], game: Game | None = None) -> OnnxPolicy:
        """Load a file.

        Args:
            path: path of the file.
            game: the game to play; None for the one in the description. Sizes of the board may differ from the description if
                the graph takes boards of any size.

        Raises:
            OnnxPolicyError: the file is missing or damaged, does not fit the game, or computes what is not allowed.
        """
        return cls(read_bytes(path, OnnxPolicyError), game, str(path))

    def __reduce__(self) -> tuple[Any, ...]:
        return OnnxPolicy, self._arguments

    def __deepcopy__(self, memo: dict[int, Any]) -> OnnxPolicy:
        return self

    def infer(self, planes: npt.NDArray[np.float32]) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32] | None]:
        """Return scores ``[n, num_actions]`` and values ``[n]``, if any, for ``planes[n, planes, height, width]``."""
        (name,) = (one.name for one in self._session.get_inputs())
        scores, *others = self._session.run(None, {name: planes.reshape(len(planes), *self._shape)})
        return scores, others[0].reshape(len(planes)) if others else None

    def _check_outputs(self, source: str) -> None:
        shape = (2, *NetworkInputs(self.game, self.features).shape)
        scores, values = self.infer(np.ones(shape, np.float32))
        expected = (2, self.game.num_actions)
        if scores.shape != expected or scores.dtype != np.float32:
            raise OnnxPolicyError(
                f"{source}: the first output must be float32[batch, {expected[1]}] for {self.game}, "
                f"got {scores.dtype}{list(scores.shape)} for a batch of 2"
            )
        if not (np.isfinite(scores).all() and (values is None or np.isfinite(values).all())):
            raise OnnxPolicyError(
                f"{source}: the output must be finite, got NaN or infinity for an observation of ones"
            )


def _description(model: Any, source: str) -> OnnxDescription | None:
    texts = [entry.value for entry in model.metadata_props if entry.key == METADATA_KEY]
    if not texts:
        return None
    return OnnxDescription.parse(parse_json(texts[0], OnnxPolicyError, source), source)


def _game_of(description: OnnxDescription | None, game: Game | None, source: str) -> Game:
    """Return the game to play, after checking that the policy was trained on the same rules.

    Raises:
        OnnxPolicyError: it was not.
    """
    if description is None:
        if game is None:
            raise OnnxPolicyError(f"{source} has no description, so the game must be given")
        return game
    try:
        trained_on = load_game(description.game)
    except ValueError as error:
        raise OnnxPolicyError(f"{source}: its game is {description.game!r}: {error}") from None
    features = tuple(feature.name for feature in features_of(trained_on)) if description.feature_planes else ()
    present = OnnxDescription.of(trained_on, features, description.selection)
    for key, value in present.to_fields().items():
        if (stored := description.to_fields()[key]) != value:
            raise OnnxPolicyError(f"{source}: {key} of {trained_on} must be {value!r}, got {stored!r}")
    if game is None:
        return trained_on
    same = {name: value for name, value in trained_on.options.items() if name not in trained_on.size_options}
    if game.name != trained_on.name or any(game.options[name] != value for name, value in same.items()):
        raise OnnxPolicyError(f"{source}: the game must be {trained_on} or of another size, got {game}")
    return game


def _check_graph(model: Any, shape: tuple[int, ...], source: str) -> tuple[int, ...]:
    """Return the shape of the input of a graph without the batch, after checking what the graph may read and allocate.

    A graph is a program. Without control flow, functions and external data, all it can do is compute tensors, whose sizes are
    inferred here.

    Raises:
        OnnxPolicyError: the graph is not allowed.
    """
    graph = model.graph
    weights = {weight.name for weight in graph.initializer}
    inputs = [one for one in graph.input if one.name not in weights]
    if len(inputs) != 1:
        raise OnnxPolicyError(f"{source}: the graph must have one input, got {[one.name for one in inputs]}")
    domains = {node.domain for node in graph.node} - {"", "ai.onnx"}
    attributes = [attribute for node in graph.node for attribute in node.attribute]
    tensors = [
        *graph.initializer,
        *(tensor for attribute in attributes for tensor in (attribute.t, *attribute.tensors)),
    ]
    if domains or model.functions or any(attribute.HasField("g") or attribute.graphs for attribute in attributes):
        raise OnnxPolicyError(f"{source}: the graph must have standard operators and no control flow or functions")
    is_sparse = graph.sparse_initializer or any(
        one.HasField("sparse_tensor") or one.sparse_tensors for one in attributes
    )
    if is_sparse or any(tensor.data_location or tensor.external_data for tensor in tensors):
        raise OnnxPolicyError(f"{source}: all weights must be dense and in the file itself")
    dims = inputs[0].type.tensor_type.shape.dim
    if len(dims) not in (2, 4) or dims[0].HasField("dim_value"):
        raise OnnxPolicyError(
            f"{source}: the input must be [batch, {', '.join(map(str, shape))}] or [batch, {math.prod(shape)}] with a batch "
            f"of any size, got {[one.dim_param or one.dim_value for one in dims]}"
        )
    shape = shape if len(dims) == 4 else (math.prod(shape),)
    for dim, size in zip(dims, (1, *shape), strict=True):
        if dim.HasField("dim_value") and dim.dim_value != size:
            raise OnnxPolicyError(
                f"{source}: the input must be [batch, {', '.join(map(str, shape))}], "
                f"got {[one.dim_param or one.dim_value for one in dims]}"
            )
        dim.dim_value = size
    del graph.value_info[:]
    for output in graph.output:
        output.type.tensor_type.ClearField("shape")
    try:
        graph = onnx.shape_inference.infer_shapes(model, strict_mode=True, data_prop=True).graph
    except Exception as error:  # its classes of errors differ between versions of onnx
        raise OnnxPolicyError(f"{source}: the shapes of the graph cannot be inferred ({error})") from None
    kinds = {one.name: one.type.tensor_type for one in (*graph.value_info, *graph.output)}
    computed = {name: kind.shape.dim if kind.HasField("shape") else None for name, kind in kinds.items()}
    for name in (name for node in graph.node for name in node.output if name):
        dims = computed.get(name)
        sizes = None if dims is None else [dim.dim_value if dim.HasField("dim_value") else math.inf for dim in dims]
        if sizes is None or math.prod(sizes) > MAX_ELEMENTS:
            raise OnnxPolicyError(f"{source}: {name} must have at most {MAX_ELEMENTS:,} elements, got {sizes}")
    return shape
