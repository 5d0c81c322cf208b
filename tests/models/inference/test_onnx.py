"""ONNX files: of checkpoints, of layers of other libraries, and of other exporters."""

from __future__ import annotations

import contextlib
import copy
import json
import os
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

pytest.importorskip("torch")
pytest.importorskip("onnxruntime")

import onnx
import torch
from onnx import TensorProto, helper, numpy_helper
from torch import nn

from game_play import changed, random_batch, read_test_data
from processes import Run
from random_networks import random_network, save_network
from stoneworks.envs.rules import Batch, load_game
from stoneworks.envs.rules.game_registry import small_games
from stoneworks.models import UnknownBotError, load_bot, load_checkpoint
from stoneworks.models.inference.onnx_export import export_checkpoint, save_policy
from stoneworks.models.inference.onnx_policy import METADATA_KEY, OnnxPolicy, OnnxPolicyError
from stoneworks.models.network_inputs import NetworkInputs

GAME = load_game("vadus(size=2)")


def mlp(num_inputs: int = 54, num_actions: int = 10) -> nn.Sequential:
    torch.manual_seed(1)
    normalized = nn.Sequential(nn.LayerNorm(16), nn.LayerNorm(16, 1e-3, False), nn.Dropout(0.5), nn.GELU(), nn.SiLU())
    hidden = nn.Sequential(nn.Linear(num_inputs, 16), nn.Tanh(), normalized)
    return nn.Sequential(hidden, nn.Linear(16, 16, bias=False), nn.ReLU(), nn.Identity(), nn.Linear(16, num_actions))


def convolutional(**settings: Any) -> nn.Sequential:
    torch.manual_seed(1)
    convolution = nn.Conv2d(6, 4, **{"kernel_size": 3, "padding": 1, **settings})
    flat = nn.Sequential(convolution, nn.ELU(0.5), nn.Flatten())
    return nn.Sequential(*flat, nn.Linear(flat(torch.zeros(1, *GAME.observation_shape)).shape[1], 10))


@pytest.mark.parametrize(
    "layers",
    [
        mlp(),
        convolutional(),
        convolutional(groups=2),
        convolutional(padding="same", dilation=2),
        convolutional(padding="same", kernel_size=(3, 5)),
        convolutional(padding=(0, 2), bias=False),
        convolutional(padding="valid"),
        convolutional(stride=2),
    ],
)
def test_a_loaded_policy_computes_what_the_saved_one_did(layers: nn.Sequential, tmp_path: Path) -> None:
    layers.eval()
    save_policy(tmp_path / "policies" / "p.onnx", layers, GAME, selection="sample")
    loaded = OnnxPolicy.load(tmp_path / "policies" / "p.onnx")
    observations = np.random.default_rng(1).random((5, *GAME.observation_shape), np.float32)
    with torch.no_grad():
        given = torch.from_numpy(observations)
        expected = layers(given if isinstance(layers[0], nn.Conv2d) else given.flatten(1)).numpy()
    for policy in (loaded, copy.deepcopy(loaded), pickle.loads(pickle.dumps(loaded))):
        scores, values = policy.infer(observations)
        np.testing.assert_allclose(scores, expected, atol=1e-5)
        assert (policy.game, policy.features, policy.selection, values) == (GAME, False, "sample", None)
    assert [path.name for path in (tmp_path / "policies").iterdir()] == ["p.onnx"]


@pytest.mark.parametrize("selection", ["sample", "argmax"])
@pytest.mark.parametrize("name", small_games())
def test_the_bot_follows_the_policy(name: str, selection: Any, tmp_path: Path) -> None:
    game = load_game(name)
    torch.manual_seed(3)
    layer = nn.Linear(int(np.prod(game.observation_shape)), game.num_actions)
    save_policy(tmp_path / "p", layer, game, selection=selection)
    bot, state = load_bot(f"policy:{tmp_path / 'p'}", game, seed=1), game.new_initial_state()
    assert bot.name == f"policy:{tmp_path / 'p'}"
    actions = bot.step_batch(Batch(game, 200), np.arange(200)).tolist()
    assert set(actions) <= set(state.legal_actions())
    assert (len(set(actions)) == 1) == (selection == "argmax")
    while not state.is_terminal():
        with torch.no_grad():
            logits = layer(torch.from_numpy(state.observation_tensor()).flatten()).double().numpy()
        logits[state.legal_actions_mask() == 0] = -np.inf
        policy, action = bot.step_with_policy(state)
        expected = np.exp(logits - logits.max())[[action for action, _ in policy]]
        np.testing.assert_allclose([share for _, share in policy], expected / expected.sum(), rtol=1e-5)
        assert action == logits.argmax() or selection == "sample"
        state.apply_action(action)


@pytest.mark.parametrize(
    ("trained_on", "others", "described"),
    [
        ("vadus(size=4)", ["vadus(size=2)", "vadus(size=6)"], {"kind": "win_draw_loss_network", "features": True}),
        ("laido(size=4)", ["laido(size=3)"], {"kind": "scalar_value_network"}),
        ("taugo(size=8)", ["taugo(size=6)"], {"kind": "win_draw_loss_network", "blocks": 0}),
        ("trugo(radius=5,tiles=18)", ["trugo(radius=4,tiles=12)"], {"kind": "win_draw_loss_network", "features": True}),
    ],
)
def test_an_exported_checkpoint_is_its_network_on_boards_of_all_sizes(
    trained_on: str, others: list[str], described: dict[str, Any], tmp_path: Path, run_command: Run
) -> None:
    network = random_network(trained_on, 0.1, seed=2, **{"channels": 12, "blocks": 2, **described})
    folder, file = save_network(tmp_path / "agent", trained_on, network), tmp_path / "agent.onnx"
    assert run_command("export", str(folder), "--output", str(file))[0] == 0
    with contextlib.chdir(folder):
        assert run_command("export", ".")[0] == 0
    assert (folder / "agent.onnx").read_bytes() == file.read_bytes()
    (folder / "agent.onnx").unlink()
    exact = copy.deepcopy(network).double()
    for game in map(load_game, (trained_on, *others)):
        for number in (1, 7):
            batch = random_batch(game, number, 3, seed=1)
            planes, _ = NetworkInputs(game, network.features).of_records(batch.states.copy())
            logits, values = OnnxPolicy.load(file, game).infer(planes)
            with torch.no_grad():
                expected = [outputs.numpy() for outputs in exact(torch.from_numpy(planes).double())]
            np.testing.assert_allclose(logits, expected[0], rtol=1e-6, atol=1e-5)
            np.testing.assert_allclose(values, expected[1], atol=1e-5)
        state = game.new_initial_state()
        bots = [load_bot(name, game, 1) for name in (f"policy:{file}", str(folder))]
        found, wanted = (bot.analyze(state) for bot in bots)
        assert found.value == pytest.approx(wanted.value, abs=1e-5)
        np.testing.assert_allclose(found.policy, wanted.policy, atol=1e-5)
        assert found.action == wanted.action


def test_what_cannot_be_exported(tmp_path: Path, run_command: Run) -> None:
    for name, message in (("random", "checkpoint"), ("nobody", "unknown bot")):
        code, _, error = run_command("export", name, "--output", str(tmp_path / "x.onnx"))
        assert code == 2
        assert message in error
    checkpoint = load_checkpoint(save_network(tmp_path / "agent", GAME))
    object.__setattr__(checkpoint.network, "__class__", type("Other", (type(checkpoint.network),), {}))
    with pytest.raises(OnnxPolicyError, match="got Other"):
        export_checkpoint(checkpoint, tmp_path / "x.onnx")
    for layers, selection, message in (
        (mlp(), "best", "selection must be 'sample' or 'argmax', got 'best'"),
        ([nn.LSTM(54, 10)], "sample", "got LSTM"),
        (mlp(num_actions=9), "sample", r"must be \[batch, 10\] for vadus\(size=2\), got \[2, 9\]"),
        (
            [nn.Linear(54, 10), type("Twice", (nn.ReLU,), {"forward": lambda self, x: 2 * x})()],
            "sample",
            "other scores",
        ),
        ([nn.Conv2d(6, 4, 1, padding=2**10), nn.Flatten(), nn.Linear(4, 10)], "sample", "must take observations"),
    ):
        with pytest.raises(OnnxPolicyError, match=message):
            save_policy(tmp_path / "x.onnx", layers, GAME, selection=selection)  # type: ignore[arg-type]
    assert [path.name for path in tmp_path.iterdir()] == ["agent"]


def test_files_that_are_not_the_games_policy_are_not_loaded(tmp_path: Path) -> None:
    path = tmp_path / "p"
    with pytest.raises(UnknownBotError, match="cannot play"):
        load_bot(f"policy:{path}", GAME)
    save_policy(path, mlp(), GAME, selection="sample")
    for other in ("vadus(size=3)", "laido(size=3)"):
        with pytest.raises(UnknownBotError, match=r"cannot play"):
            load_bot(f"policy:{path}", load_game(other))
    content = path.read_bytes()
    for damaged in (b"not a policy", content[:-10]):
        path.write_bytes(damaged)
        with pytest.raises(OnnxPolicyError, match="must be an ONNX file"):
            OnnxPolicy.load(path)
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(OnnxPolicyError, match="is not a regular file"):
        OnnxPolicy.load(path)


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [*read_test_data("damaged_descriptions.yaml")["policy"], ("feature_planes", ["heat"], "feature_planes")],
    ids=lambda value: str(value)[:30],
)
def test_a_description_that_does_not_fit_is_refused(tmp_path: Path, path: str, value: Any, message: str) -> None:
    save_policy(tmp_path / "p", mlp(), GAME, selection="sample")
    model = onnx.load(tmp_path / "p")
    (entry,) = model.metadata_props
    helper.set_model_props(model, {METADATA_KEY: json.dumps(changed(json.loads(entry.value), path, value))})
    onnx.save(model, tmp_path / "p")
    with pytest.raises(OnnxPolicyError, match=message or "/p"):
        OnnxPolicy.load(tmp_path / "p")


# -- Files of other exporters ------------------------------------------------------------------------------------------


def saved(
    path: Path,
    nodes: list[Any],
    weights: dict[str, npt.NDArray[Any]],
    shape: tuple[Any, ...] = ("batch", 54),
    outputs: tuple[str, ...] = ("y",),
    **settings: Any,
) -> Path:
    """Write a graph, without a description, with the input x and the outputs."""
    tensors = [numpy_helper.from_array(array, name) for name, array in weights.items()]
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs]
    given = helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)
    graph = helper.make_graph(nodes, "other", [given], values, tensors)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8, **settings)
    path.write_bytes(model.SerializeToString())
    return path


def product(
    weights: Any, shape: tuple[Any, ...] = ("batch", 54), *more: Any, **settings: Any
) -> Callable[[Path], Path]:
    """Return a function that writes the product of the input and a matrix, after which come ``more`` operators on y."""
    nodes = [helper.make_node("MatMul", ["x", "w"], ["z" if more else "y"]), *more]
    return lambda path: saved(path, nodes, {"w": np.asarray(weights, np.float32)}, shape, **settings)


def test_a_file_without_a_description_is_played_with_its_value(tmp_path: Path) -> None:
    weights = np.random.default_rng(1).random((54, 10), np.float32)
    nodes = [helper.make_node("MatMul", ["x", "w"], ["y"]), helper.make_node("ReduceMean", ["y", "axes"], ["v"])]
    path = saved(tmp_path / "p.onnx", nodes, {"w": weights / 100, "axes": np.array([1])}, outputs=("y", "v"))
    with pytest.raises(OnnxPolicyError, match="no description"):
        OnnxPolicy.load(path)
    state = GAME.new_initial_state()
    expected = state.observation_tensor().ravel() @ weights / 100
    bot = load_bot(f"policy:{path}", GAME, seed=1)
    found = bot.policy_and_value([state])  # type: ignore[attr-defined]
    np.testing.assert_allclose(found.logits[0], expected, rtol=1e-5)
    assert bot.analyze(state).value == pytest.approx(expected.mean(), rel=1e-4)


_ONES = np.ones((54, 10))
_SPARSE = helper.make_sparse_tensor(
    helper.make_tensor("v", TensorProto.FLOAT, [1], [1.0]),
    helper.make_tensor("i", TensorProto.INT64, [1], [3]),
    [54, 10],
)
_HUGE = helper.make_node("Pad", ["x", "pads"], ["z"])


def _with_a_weight_as_both_inputs(path: Path) -> Path:
    model = onnx.load(product(_ONES)(path))
    del model.graph.input[:]
    model.graph.input.extend([helper.make_tensor_value_info("w", TensorProto.FLOAT, [54, 10])] * 2)
    onnx.save(model, path)
    return path


@pytest.mark.parametrize(
    ("write", "message"),
    [
        (product(np.full((54, 10), np.nan)), "must be finite"),
        (product(np.ones((54, 9))), r"must be float32\[batch, 10\]"),
        (product(_ONES, (4, 54)), "with a batch of any size"),
        (product(_ONES, ("batch", 5, "h", "w")), r"the input must be \[batch, 6, 3, 3\]"),
        (product(_ONES, ("batch", 54), helper.make_node("Relu", ["z"], ["y"], domain="other")), "standard operators"),
        (
            lambda path: saved(
                path,
                [_HUGE, helper.make_node("MatMul", ["z", "w"], ["y"])],
                {"pads": np.array([0, 0, 0, 2**23]), "w": np.ones((1, 10), np.float32)},
            ),
            "at most 4,194,304 elements|cannot be inferred",
        ),
        (
            lambda path: saved(
                path,
                [
                    helper.make_node("If", ["c"], ["y"], then_branch=_branch("a"), else_branch=_branch("b")),
                ],
                {"c": np.array(True), "w": np.ones((54, 10), np.float32)},
            ),
            "no control flow",
        ),
        (
            lambda path: saved(  # of a rank that is known at run time alone
                path,
                [
                    helper.make_node("ReduceMax", ["x"], ["m"], keepdims=0),
                    helper.make_node("Cast", ["m"], ["i"], to=TensorProto.INT64),
                    helper.make_node("Unsqueeze", ["i", "zero"], ["axes"]),
                    helper.make_node("Unsqueeze", ["x", "axes"], ["u"]),
                    helper.make_node("Reshape", ["u", "rows"], ["r"]),
                    helper.make_node("MatMul", ["r", "w"], ["y"]),
                ],
                {"zero": np.array([0]), "rows": np.array([-1, 54]), "w": np.ones((54, 10), np.float32)},
            ),
            "u must have at most 4,194,304 elements, got None",
        ),
        (
            lambda path: saved(
                path,
                [
                    helper.make_node("Constant", [], ["w"], sparse_value=_SPARSE),
                    helper.make_node("MatMul", ["x", "w"], ["y"]),
                ],
                {},
            ),
            "must be dense",
        ),
        (_with_a_weight_as_both_inputs, r"must have one input, got \[\]"),
    ],
)
def test_graphs_that_are_not_allowed(write: Callable[[Path], Path], message: str, tmp_path: Path) -> None:
    with pytest.raises(OnnxPolicyError, match=message):
        OnnxPolicy.load(write(tmp_path / "p.onnx"), GAME)


def _branch(name: str) -> Any:
    output = helper.make_tensor_value_info(name, TensorProto.FLOAT, None)
    return helper.make_graph([helper.make_node("MatMul", ["x", "w"], [name])], name, [], [output])


def test_weights_in_other_files_are_not_read(tmp_path: Path) -> None:
    path = product(_ONES)(tmp_path / "p.onnx")
    onnx.save(onnx.load(path), path, save_as_external_data=True, location="weights", size_threshold=0)
    assert (tmp_path / "weights").is_file()
    with pytest.raises(OnnxPolicyError, match="in the file itself"):
        OnnxPolicy.load(path, GAME)
