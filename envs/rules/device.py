"""Where the arrays of a ``Batch`` are and where its templates run: this processor, a GPU, or a GPU that is emulated.

On a GPU, arrays are torch tensors, and records are rows of ``uint8`` in which each field is aligned (:func:`aligned_dtype`). A
template runs in one thread per game (see :mod:`stoneworks.envs.rules.compiler.gpu`). Apart from that, all devices do the same.
"""

from __future__ import annotations

import inspect
import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from numba import types

from stoneworks.checks import check_integers
from stoneworks.envs.rules import templates
from stoneworks.envs.rules.compiler import compiler, gpu, targets
from stoneworks.envs.rules.compiler.compiler import kernel
from stoneworks.envs.rules.compiler.kernel_cache import cache_folder, read_checked, write_checked
from stoneworks.envs.rules.compiler.types import Float32Table, Record
from stoneworks.envs.rules.contract import NO_ACTION
from stoneworks.envs.rules.game import Game, all_kernels
from stoneworks.extras import require_extra

#: The templates of a program.
_TEMPLATES = (
    templates.step_batch,
    templates.fill_batch,
    templates.observe_batch,
    templates.reset_batch,
    templates.choose_random_actions,
    templates.play_out,
)
_TARGETS = {"cuda": gpu.gpu, "emulated": gpu.emulated}


class Inputs(Protocol):
    """Planes in place of the observation, such as :class:`stoneworks.models.network_inputs.NetworkInputs`; can be pickled.

    Attributes:
        game: the game.
        shape: ``(planes, height, width)``.
        kernels: the kernels that replace ``observe`` and ``update_observation`` of the game; empty for the observation.
    """

    game: Game
    shape: tuple[int, int, int]
    kernels: Mapping[str, Callable[..., Any]]


@kernel
def _observe_nothing(board: Record, state: Record, player: int, planes: Float32Table) -> None:
    pass


@kernel
def _update_nothing(board: Record, before: Record, state: Record, planes: Float32Table) -> None:
    pass


class NoPlanes:
    """:class:`Inputs` without planes."""

    kernels: Mapping[str, Callable[..., Any]] = {"observe": _observe_nothing, "update_observation": _update_nothing}

    def __init__(self, game: Game) -> None:
        self.game, self.shape = game, (0, game.grid.height, game.grid.width)


class Planes:
    """:class:`Inputs` that are the observation."""

    kernels: Mapping[str, Callable[..., Any]] = {}

    def __init__(self, game: Game) -> None:
        self.game, self.shape = game, game.observation_shape


class HostArrays:
    """numpy arrays, and templates compiled for this processor."""

    def __init__(self, game: Game, inputs: Inputs) -> None:
        self._game, self._inputs = game, inputs
        self.first_illegal = game.compiled(templates.first_illegal)

    def compiled(self, template: Callable[..., Any]) -> Callable[..., Any]:
        """Return a template for the game."""
        return self._game.compiled(template, self._inputs.kernels)

    def zeros(self, shape: tuple[int, ...], dtype: Any) -> Any:
        """Return an array of zeros."""
        return np.zeros(shape, dtype)

    def put(self, array: npt.NDArray[Any]) -> Any:
        """Return the array on the device; it may be the same."""
        return array

    def actions(self, actions: Any, number: int, name: str = "actions") -> Any:
        """Return actions as ``int64[number]`` on the device. ``name`` is that of the argument, for the error.

        Raises:
            ValueError: they are not ``number`` integers.
        """
        given = check_integers(name, actions, number)
        if given.dtype == np.uint64:  # 2**64 - 1 would wrap around to NO_ACTION
            given = np.minimum(given, self._game.num_actions)
        return np.ascontiguousarray(given, np.int64)

    def get(self, array: Any) -> Any:
        """Return the array on the host; it may be the same."""
        return array

    def records(self, states: Any) -> npt.NDArray[np.void]:
        """Return records of ``game.state_dtype`` on the host; they may be the same."""
        return states  # type: ignore[no-any-return]

    def copy(self, array: Any) -> Any:
        """Return a copy."""
        return array.copy()

    def field(self, states: Any, name: str) -> Any:
        """Return a view of a field of one byte in records."""
        return states[name]

    def convert(self, planes: Any, shown: Any, name: str) -> None:
        """Write planes ``float32[n, ...]`` to ``shown`` in the format ``name`` (see ``Batch``)."""
        if name == "bits":
            shown[:] = np.packbits(planes.reshape(len(planes), -1) != 0, axis=1, bitorder="little")
        else:
            np.copyto(shown.reshape(planes.shape), planes, casting="unsafe")

    def read_only(self, array: Any) -> Any:
        """Return a view that cannot be written to, where the device has such views."""
        view = array.view()
        view.flags.writeable = False
        return view


class DeviceArrays:
    """torch tensors on a GPU, and templates that run there; the methods are those of :class:`HostArrays`."""

    def __init__(self, game: Game, device: str, inputs: Inputs) -> None:
        """Load the game's program; it is compiled if necessary.

        Raises:
            MissingDependencyError: torch or ``cuda-bindings`` is not installed.
            DeviceError: there is no such GPU, or it refuses the program.
            TargetError: the game cannot be compiled for a GPU.
        """
        with require_extra("gpu", "games on a GPU"):
            import torch
        kind = device.partition(":")[0]
        if kind == "cuda" and not torch.cuda.is_available():
            raise gpu.DeviceError(f"device={device!r}: torch {torch.__version__} finds no NVIDIA GPU")
        self._torch, self._game, self._inputs, self._state_dtype = torch, game, inputs, aligned_dtype(game)
        self._where = torch.device("cpu" if kind == "emulated" else device)
        code = program_code(game, kind, inputs)
        self._program: gpu.Program = gpu.EmulatedProgram(code) if kind == "emulated" else gpu.CudaProgram(code, device)
        self._room = thread_room(game, inputs)
        self._compiled: dict[Callable[..., Any], Callable[..., None]] = {}
        self._arena = torch.empty(0, dtype=torch.uint8, device=self._where)
        places = np.zeros(self._state_dtype.itemsize, np.int64)  # padding gets the first byte
        for name, (dtype, offset, *_) in _fields_of(self._state_dtype).items():
            places[offset : offset + dtype.itemsize] = _fields_of(game.state_dtype)[name][1] + np.arange(dtype.itemsize)
        self._places = torch.tensor(places, device=self._where)

    def zeros(self, shape: tuple[int, ...], dtype: Any) -> Any:
        """Return an array of zeros."""
        name = dtype if isinstance(dtype, str) else np.dtype(dtype).name
        return self._torch.zeros(shape, dtype=getattr(self._torch, name), device=self._where)

    def actions(self, actions: Any, number: int, name: str = "actions") -> Any:
        """Return actions as ``int64[number]`` on the device. ``name`` is that of the argument, for the error.

        Raises:
            ValueError: they are not ``number`` integers.
        """
        if not isinstance(actions, self._torch.Tensor) or actions.device != self._arena.device:
            return self.put(HostArrays.actions(self, self.get(actions), number, name))  # type: ignore[arg-type]
        # uint64 would wrap around to NO_ACTION.
        other = actions.dtype in (self._torch.bool, self._torch.uint64)
        integral = not (actions.is_floating_point() or actions.is_complex() or other)
        if not integral or actions.shape != (number,):
            raise ValueError(f"{name} must be {number} integers, got {actions.dtype} of shape {tuple(actions.shape)}")
        return actions.to(self._torch.int64).contiguous()

    def put(self, array: npt.NDArray[Any]) -> Any:
        """Return a copy of the array on the device."""
        if array.dtype == self._game.state_dtype:
            rows = np.ascontiguousarray(array).view(np.uint8).reshape(len(array), -1)
            return self.aligned(self._torch.tensor(rows, device=self._where))
        if array.dtype.fields:
            array = np.ascontiguousarray(array).view(np.uint8).reshape(len(array), -1)
        elif array.dtype == np.uint64:
            array = array.view(np.int64)
        return self._torch.tensor(array, device=self._where)

    def aligned(self, records: Any) -> Any:
        """Return the bytes ``uint8[n, bytes]`` of records of ``game.state_dtype`` on the device with each field aligned."""
        return records.index_select(1, self._places)

    def get(self, array: Any) -> Any:
        """Return the array on the host; it may be the same."""
        return array.cpu().numpy() if isinstance(array, self._torch.Tensor) else array

    def records(self, states: Any) -> npt.NDArray[np.void]:
        """Return records of ``game.state_dtype`` on the host."""
        aligned = np.ascontiguousarray(self.get(states)).view(self._state_dtype)[:, 0]
        return aligned.astype(self._game.state_dtype)

    def copy(self, array: Any) -> Any:
        """Return a copy."""
        return array.clone()

    def field(self, states: Any, name: str) -> Any:
        """Return a view of a field of one byte in records."""
        dtype, offset = _fields_of(self._state_dtype)[name][:2]
        return states[:, offset].view(getattr(self._torch, dtype.name))

    def convert(self, planes: Any, shown: Any, name: str) -> None:
        """Write planes ``float32[n, ...]`` to ``shown`` in the format ``name`` (see ``Batch``)."""
        if name == "bits":
            bits = self._torch.zeros((len(planes), 8 * shown.shape[1]), dtype=self._torch.uint8, device=self._where)
            bits[:, : planes[0].numel()] = planes.reshape(len(planes), -1)
            places = self._torch.tensor([1 << bit for bit in range(8)], dtype=self._torch.uint8, device=self._where)
            self._torch.sum(bits.reshape(len(planes), -1, 8) * places, 2, dtype=self._torch.uint8, out=shown)
        else:
            shown.reshape(planes.shape).copy_(planes)

    def read_only(self, array: Any) -> Any:
        """Return the tensor: torch has no views that cannot be written to."""
        return array

    def first_illegal(self, masks: Any, actions: Any) -> int:
        """Return the first game whose action is neither ``NO_ACTION`` nor legal, or -1, after waiting for the device."""
        num_actions = masks.shape[1]
        legal = masks.gather(1, actions.clamp(0, num_actions - 1)[:, None])[:, 0] != 0
        wrong = (actions != NO_ACTION) & ~(legal & (actions >= 0) & (actions < num_actions))
        return int(wrong.int().argmax()) if bool(wrong.any()) else -1

    def compiled(self, template: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function that starts a template on the device."""
        if template not in self._compiled:
            self._compiled[template] = self._launcher(template)
        return self._compiled[template]

    def _launcher(self, template: Callable[..., Any]) -> Callable[..., None]:
        entry, rows = entry_of(self._game, template, self._inputs), _per_thread(template)[0]
        kinds = compiler.signature_of(template, self._game.board.dtype, self._state_dtype)
        place = list(inspect.get_annotations(template)).index(rows)
        c_types = [gpu.c_type(kind) for kind in entry.arguments[1:]]

        def launch(*arguments: Any) -> None:
            values: list[Any] = []
            for kind, argument in zip(kinds, arguments, strict=True):
                if isinstance(kind, types.Array):
                    values += [argument.data_ptr(), *argument.shape[: kind.ndim]]
                else:
                    values.append(argument)
            given = [c_type(value) for c_type, value in zip(c_types, values, strict=True)]
            num_rows = len(arguments[place])
            if not num_rows:  # a card refuses a call without threads
                return
            self._grow(gpu.num_blocks(num_rows) * gpu.THREADS_PER_BLOCK * self._room)
            self._program.launch(entry.name, num_rows, given, self._arena.data_ptr(), self._room)

        return launch

    def _grow(self, num_bytes: int) -> None:
        if len(self._arena) < num_bytes:
            self._arena = self._torch.empty(num_bytes, dtype=self._torch.uint8, device=self._where)


def arrays_of(game: Game, device: str, inputs: Inputs) -> HostArrays | DeviceArrays:
    """Return the arrays of a device: ``cpu``, ``cuda``, ``cuda:1``, ..., or ``emulated``.

    Raises:
        ValueError: the device has another name.
    """
    if device == "cpu":
        return HostArrays(game, inputs)
    kind, _, number = device.partition(":") if isinstance(device, str) else ("", "", "")
    if kind not in _TARGETS or (number and (kind != "cuda" or not number.isdigit())):
        raise ValueError(f"device must be 'cpu', 'cuda', 'cuda:<number>' or 'emulated', got {device!r}")
    return DeviceArrays(game, device, inputs)


# -- Programs ----------------------------------------------------------------------------------------------------------


def aligned_dtype(game: Game) -> np.dtype[Any]:
    """Return the dtype of the records of a game with every field aligned: a card cannot read others in one access."""
    fields = _fields_of(game.state_dtype)
    return np.dtype({"names": list(fields), "formats": [field[0] for field in fields.values()]}, align=True)


def _fields_of(dtype: Any) -> Mapping[str, Any]:
    return dtype.fields  # type: ignore[no-any-return]


def thread_room(game: Game, inputs: Inputs) -> int:
    """Return the bytes that a thread may allocate at a time in the kernels of a game, at least twice what was seen."""
    features = not isinstance(inputs, Planes | NoPlanes)
    return (3 if features else 1) * ((2048 + 2 * game.state_dtype.itemsize + 32 * game.grid.num_cells) // 16 * 16)


def _per_thread(template: Callable[..., Any]) -> tuple[str, ...]:
    """Return the arguments of a template of which each thread gets a row."""
    of_template = inspect.get_annotations(template)
    shared = ("board", "return", "auto_reset")
    return ("rows",) if "rows" in of_template else tuple(name for name in of_template if name not in shared)


def entry_of(game: Game, template: Callable[..., Any], inputs: Inputs) -> targets.EntryFunction:
    """Return a template as an entry function of a game's program."""
    return _entry(game, template, tuple(sorted(inputs.kernels.items())))


@cache
def _entry(
    game: Game, template: Callable[..., Any], others: tuple[tuple[str, Callable[..., Any]], ...]
) -> targets.EntryFunction:
    kernels = {**all_kernels(type(game)), **dict(others)}
    dtypes = game.board.dtype, aligned_dtype(game)
    return targets.entry_function(template.__name__, template, kernels, *dtypes, per_thread=_per_thread(template))


def program_code(game: Game, kind: str, inputs: Inputs) -> bytes:
    """Return the code of a game's program for ``cuda`` or ``emulated``, from the cache if it is there.

    A process of its own compiles it otherwise: 15 to 30 s of processor time for a game and capacity.

    Raises:
        TargetError: the game cannot be compiled for a GPU.
    """
    file = _program_file(game, kind, inputs)
    code = None if file is None else read_checked(file)
    if code is None:
        compiler.announce(f"{game.name} for a GPU", str(cache_folder() or "memory"))
        done = subprocess.run(
            [sys.executable, "-c", "from stoneworks.envs.rules.device import _build; _build()"],
            input=pickle.dumps((game, kind, inputs)),
            env={**targets.environment(), "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            check=False,
        )
        if done.returncode:
            raise targets.TargetError(f"{game} cannot be compiled for a GPU: {done.stderr.decode()[-2000:]}")
        code = done.stdout
        if file is not None:
            write_checked(file, code)
    return code


def _program_file(game: Game, kind: str, inputs: Inputs) -> Path | None:
    """Return the file of a program in the cache, whose name has the digest of all that the code depends on."""
    entries = [entry_of(game, template, inputs) for template in _TEMPLATES]
    target = _TARGETS[kind]()
    digest = targets.digest((*entries, *target.library), (gpu,), target._replace(wrap=None, library=()))
    name = f"{game.name}_{compiler.capacity(game.grid.num_cells)}_{kind}-{digest}.kernel"
    folder = cache_folder()
    return None if folder is None else folder / name


def _build() -> None:
    """Compile the game of the standard input and write its program to the standard output."""
    output, sys.stdout = sys.stdout.buffer, sys.stderr  # a game of another package may print
    game, kind, inputs = pickle.loads(sys.stdin.buffer.read())
    entries = [entry_of(game, template, inputs) for template in _TEMPLATES]
    output.write(gpu.build_program(_TARGETS[kind](), entries))
