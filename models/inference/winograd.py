"""Compiled inference of residual networks on CPUs, for batches of any size, without the overhead of tensor libraries.

Why it is not left to a library: µs of processor time per position of the shipped networks, in batches of 1, 16 and 128, on one
thread, measured in turns (``python -m benchmarks.inference``; Intel Xeon at 2.5 GHz, family 6, model 85, shared, 2026-11-28):

================  ================  =================  =================
network           this module       ONNX Runtime 1.32  OpenVINO 2026.4
================  ================  =================  =================
vadus(size=9)     306, 269, 266     957, 803, 979      1963, 760, 791
laido(size=9)     380, 287, 269     1072, 819, 925     2078, 729, 830
taigo(radius=12)  646, 556, 569     1896, 1728, 1973   2762, 1665, 1594
trugo(radius=10)  472, 443, 455     1488, 1352, 1874   2747, 1361, 1487
taugo(size=16)    1187, 1080, 1068  2426, 2162, 2884   3209, 2318, 2545
================  ================  =================  =================

With shapes fixed beforehand, OpenVINO takes 1335, 567 and 583 on Vadus; ONNX Runtime gains nothing. New weights take 14 to 37 ms
here, 16 to 28 in ONNX Runtime, 100 to 143 in OpenVINO.

The networks of board games are so small that a tensor library spends most of the time of a small batch on calls and on copies.
Here one compiled function evaluates the whole network. Convolutions are Winograd's F(4x4, 3x3) (Lavin and Gray: Fast algorithms
for convolutional neural networks, CVPR 2016, section 4.3), which needs a quarter of the multiplications; the tiles are placed so
that few of them cover the board. F(6x6, 3x3) was measured to be 20 % faster on Taugo 16, 5 % on Vadus 9, and slower on Taugo 8,
where its weights leave the cache. The arithmetic is in float32, and the order of the operations on one position does not depend
on the other positions of its batch: each position has the same output in any batch.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple, TypeAlias, cast

import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from stoneworks.envs.rules.compiler.compiler import compiled_function, kernel
from stoneworks.envs.rules.compiler.types import Float32s, Float32Table, Float32Tables, Int64s
from stoneworks.models.architecture import Architecture, ResidualConfig

#: Number of floats of a vector: channels are padded to a multiple of it. Targets may change it before code is generated.
LANES = 16
#: Cells of an output tile and of an input tile in a row, and products per tile.
_TILE, _WINDOW, _PRODUCTS = 4, 6, 36
#: Positions are evaluated in chunks of about this number of tiles, whose intermediate results fit in the cache.
_CHUNK_TILES = 64

_FLOAT = ir.FloatType()
_INT = ir.IntType(64)
_Vectors: TypeAlias = list[Any]


# -- Vector operations, which numba has none for -----------------------------------------------------------------------


@intrinsic
def _pointer(typing: Any, array: Any, index: Any) -> Any:
    """Return a pointer to an entry of an array, which must be an argument of the caller: pointers do not keep arrays alive."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        return builder.gep(data, [arguments[1]], inbounds=True)

    return types.CPointer(types.float32)(array, types.int64), generate


_at: Any = _pointer  # mypy counts numba's argument


def _every(builder: Any, pointer: Any, step: Any, number: int) -> list[Any]:
    """Return pointers to ``number`` elements, ``step`` from each other."""
    return [builder.gep(pointer, [builder.mul(step, ir.Constant(_INT, at))], inbounds=True) for at in range(number)]


def _grid(builder: Any, pointer: Any, size: int, row_step: Any, column_step: Any) -> list[list[Any]]:
    """Return pointers to the elements of a square grid."""
    return [_every(builder, row, column_step, size) for row in _every(builder, pointer, row_step, size)]


def _load(builder: Any, pointer: Any, vectors: int = 1) -> Any:
    kind = ir.VectorType(_FLOAT, vectors * LANES)
    return builder.load(builder.bitcast(pointer, kind.as_pointer()), align=4)


def _store(builder: Any, vector: Any, pointer: Any) -> None:
    builder.store(vector, builder.bitcast(pointer, vector.type.as_pointer()), align=4)


def _repeated(builder: Any, value: Any, vectors: int = 1) -> Any:
    lanes = vectors * LANES
    kind = ir.VectorType(_FLOAT, lanes)
    vector = builder.insert_element(ir.Constant(kind, ir.Undefined), value, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(
        vector, ir.Constant(kind, ir.Undefined), ir.Constant(ir.VectorType(ir.IntType(32), lanes), [0] * lanes)
    )


def _multiply_add(builder: Any, one: Any, other: Any, addend: Any) -> Any:
    kind = ir.FunctionType(addend.type, [addend.type] * 3)
    function = cgutils.get_or_insert_function(builder.module, kind, f"llvm.fmuladd.v{addend.type.count}f32")
    return builder.call(function, [one, other, addend])


def _scaled(builder: Any, factor: float, vector: Any, addend: Any) -> Any:
    """Return ``factor * vector + addend``."""
    constant = ir.Constant(vector.type, [ir.Constant(_FLOAT, factor)] * vector.type.count)
    return _multiply_add(builder, constant, vector, addend)


def _product(num_rows: int, vectors: int) -> Any:
    @intrinsic
    def product(typing: Any, a: Any, b: Any, c: Any, depth: Any, columns: Any) -> Any:
        """Write ``num_rows`` rows and ``vectors`` of columns of a matrix product: c = a b, with ``depth`` columns of a."""

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            a, b, c, depth, columns = arguments
            zero = ir.Constant(ir.VectorType(_FLOAT, vectors * LANES), None)
            sums = [cgutils.alloca_once_value(builder, zero) for _ in range(num_rows)]
            rows = _every(builder, a, depth, num_rows)
            with cgutils.for_range(builder, depth) as loop:
                weights = _load(builder, builder.gep(b, [builder.mul(loop.index, columns)], inbounds=True), vectors)
                for row, total in zip(rows, sums, strict=True):
                    factor = builder.load(builder.gep(row, [loop.index], inbounds=True))
                    factors = _repeated(builder, factor, vectors)
                    builder.store(_multiply_add(builder, factors, weights, builder.load(total)), total)
            for place, total in zip(_every(builder, c, columns, num_rows), sums, strict=True):
                _store(builder, builder.load(total), place)
            return context.get_dummy_value()

        return types.void(a, b, c, types.int64, types.int64), generate

    return product


_six_rows, _four_rows, _two_rows, _one_row = (_product(rows, 2) for rows in (6, 4, 2, 1))
_six_short_rows, _short_row = _product(6, 1), _product(1, 1)


def _transform_input(builder: Any, d: _Vectors) -> _Vectors:
    """Multiply six vectors by the matrix of the input."""
    outer = _scaled(builder, -4, d[2], d[4]), _scaled(builder, -4, d[1], d[3])
    inner = builder.fsub(d[4], d[2]), builder.fsub(d[3], d[1])
    return [
        _scaled(builder, 4, d[0], _scaled(builder, -5, d[2], d[4])),
        builder.fadd(*outer),
        builder.fsub(*outer),
        _scaled(builder, 2, inner[1], inner[0]),
        _scaled(builder, -2, inner[1], inner[0]),
        _scaled(builder, 4, d[1], _scaled(builder, -5, d[3], d[5])),
    ]


def _transform_output(builder: Any, m: _Vectors) -> _Vectors:
    """Multiply six vectors by the matrix of the output, which gives four."""
    sums = builder.fadd(m[1], m[2]), builder.fadd(m[3], m[4])
    differences = builder.fsub(m[1], m[2]), builder.fsub(m[3], m[4])
    return [
        builder.fadd(builder.fadd(m[0], sums[0]), sums[1]),
        _scaled(builder, 2, differences[1], differences[0]),
        _scaled(builder, 4, sums[1], sums[0]),
        builder.fadd(_scaled(builder, 8, differences[1], differences[0]), m[5]),
    ]


def _transformed(
    builder: Any, transform: Callable[[Any, _Vectors], _Vectors], cells: list[_Vectors]
) -> Iterator[_Vectors]:
    """Return the rows of the vectors at a grid of pointers, transformed in both directions."""
    columns = [transform(builder, [_load(builder, cell) for cell in column]) for column in zip(*cells, strict=True)]
    # Registers have room for one row at a time.
    return (transform(builder, list(row)) for row in zip(*columns, strict=True))


@intrinsic
def _input_tile(typing: Any, x: Any, row_step: Any, cell_step: Any, v: Any, v_step: Any) -> Any:
    """Transform ``LANES`` channels of an input tile: ``v[product] = (B^T x B)[product]``."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        x, row_step, cell_step, v, v_step = arguments
        cells = _grid(builder, x, _WINDOW, row_step, cell_step)
        places = _every(builder, v, v_step, _PRODUCTS)
        for row in _transformed(builder, _transform_input, cells):
            for vector in row:
                _store(builder, vector, places.pop(0))
        return context.get_dummy_value()

    return types.void(x, types.int64, types.int64, v, types.int64), generate


def _output_tile(adds: bool) -> Any:
    @intrinsic
    def output_tile(typing: Any, m: Any, bias: Any, mask: Any, y: Any, pooled: Any, steps: Any) -> Any:
        """Transform ``LANES`` channels of an output tile, finish the layer, and pool the output.

        ``y = relu(A^T m A + bias [+ y]) * mask``; its sum is added to the first vector of ``pooled``, and the second one is
        replaced by the maximum of it and the output. ``steps`` are those from product to product, from row to row of the mask,
        from row to row of the output, and from cell to cell, which is also that from the first to the second vector.
        """

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            m, bias, mask, y, sums, steps = arguments
            m_step, mask_step, row_step, cell_step = cgutils.unpack_tuple(builder, steps)
            products = _grid(builder, m, _WINDOW, builder.mul(m_step, ir.Constant(_INT, _WINDOW)), m_step)
            masks = _grid(builder, mask, _TILE, mask_step, ir.Constant(_INT, 1))
            cells = _grid(builder, y, _TILE, row_step, cell_step)
            maximum_pointer = builder.gep(sums, [cell_step], inbounds=True)
            bias, total, maximum = _load(builder, bias), _load(builder, sums), _load(builder, maximum_pointer)
            zero = ir.Constant(total.type, None)
            rows = _transformed(builder, _transform_output, products)
            for row, of_row, masks_of_row in zip(rows, cells, masks, strict=True):
                for vector, cell, on_board in zip(row, of_row, masks_of_row, strict=True):
                    value = builder.fadd(vector, bias)
                    if adds:
                        value = builder.fadd(value, _load(builder, cell))
                    positive = builder.fcmp_unordered(">", value, zero)  # NaN stays NaN
                    value = builder.select(positive, value, zero)
                    value = builder.fmul(value, _repeated(builder, builder.load(on_board)))
                    _store(builder, value, cell)
                    total = builder.fadd(total, value)
                    maximum = builder.select(builder.fcmp_ordered(">", value, maximum), value, maximum)
            _store(builder, total, sums)
            _store(builder, maximum, maximum_pointer)
            return context.get_dummy_value()

        return types.void(m, bias, mask, y, pooled, types.UniTuple(types.int64, 4)), generate

    return output_tile


_output_tile_alone, _output_tile_added = _output_tile(False), _output_tile(True)


# -- The network -------------------------------------------------------------------------------------------------------


class Chunk(NamedTuple):
    """A chunk of positions, with what its convolutions share.

    The cells of a position are stored in rows of ``row_step``, with a border of at least one cell around all of its tiles.

    Attributes:
        row_step: number of stored cells in a row.
        tiles: number of the position and of the first stored cell of the input, for each tile.
        mask: ``[stored cells]``, 1 on the board.
        inputs: work buffer ``[36, tiles, channels]``.
        outputs: likewise.
        pooled: ``[positions, 2, channels]``, output: the sum and the maximum of each channel over each position.
    """

    row_step: int
    tiles: Int64s
    mask: Float32s
    inputs: Float32s
    outputs: Float32s
    pooled: Float32s


class Sizes(NamedTuple):
    """The sizes of a network and of its board. Numbers of channels are multiples of ``LANES``.

    Attributes:
        height: number of rows of the board.
        width: number of its columns.
        board_plane: index of the plane that marks the cells on the board.
        input_channels: number of channels of the input.
        channels: number of channels of the blocks.
        blocks: number of blocks.
        action_planes: number of actions per cell.
        global_actions: number of actions not tied to a cell.
        hidden_channels: width of the hidden layer of the heads.
        value_outputs: number of outputs of the value head, 1 or 3.
    """

    height: int
    width: int
    board_plane: int
    input_channels: int
    channels: int
    blocks: int
    action_planes: int
    global_actions: int
    hidden_channels: int
    value_outputs: int


@kernel
def multiply(a: Float32s, b: Float32s, c: Float32s, rows: int, depth: int, columns: int) -> None:
    """Write the matrix product c = a b, with ``columns`` a multiple of ``LANES``.

    The matrices are ``a[rows, depth]``, ``b[depth, columns]`` and ``c[rows, columns]``.
    """
    for column in range(0, columns - LANES, 2 * LANES):
        row = 0
        while row < rows:
            first, weights, place = _at(a, row * depth), _at(b, column), _at(c, row * columns + column)
            if row + 6 <= rows:
                _six_rows(first, weights, place, depth, columns)
                row += 6
            elif row + 4 <= rows:
                _four_rows(first, weights, place, depth, columns)
                row += 4
            elif row + 2 <= rows:
                _two_rows(first, weights, place, depth, columns)
                row += 2
            else:
                _one_row(first, weights, place, depth, columns)
                row += 1
    if columns % (2 * LANES):
        column = columns - LANES
        for row in range(0, rows - 5, 6):
            place = _at(c, row * columns + column)
            _six_short_rows(_at(a, row * depth), _at(b, column), place, depth, columns)
        for row in range(rows // 6 * 6, rows):
            place = _at(c, row * columns + column)
            _short_row(_at(a, row * depth), _at(b, column), place, depth, columns)


@kernel
def linear(x: Float32s, y: Float32s, weights: Float32s, rows: int, depth: int, columns: int, positive: bool) -> int:
    """Write y = x w + b, with ReLU if ``positive``, and return the number of weights: ``w[depth, columns]``, then ``b[columns]``.

    See :func:`multiply`; with ``depth`` 0, each row is the bias.
    """
    multiply(x, weights, y, rows, depth, columns)
    bias = weights[depth * columns :]
    for row in range(rows):
        for column in range(columns):
            value = y[row * columns + column] + bias[column]
            y[row * columns + column] = np.float32(0) if positive and value < 0 else value
    return (depth + 1) * columns


@kernel
def convolve(
    chunk: Chunk, x: Float32s, y: Float32s, depth: int, channels: int, weights: Float32s, bias: Float32s, adds: bool
) -> int:
    """Convolve the tiles of a chunk: ``y = relu(convolution(x) + bias [+ y]) * mask``; return the number of weights.

    Args:
        chunk: the chunk.
        x: ``[stored cells, depth]``, 0 off the board.
        y: ``[stored cells, channels]``, likewise.
        depth: number of input channels.
        channels: number of output channels.
        weights: the transformed weights ``[36, depth, channels]``.
        bias: ``[positions, channels]``.
        adds: whether ``y`` is added.
    """
    row_step, tiles, mask, inputs, outputs, pooled = chunk
    num_tiles = tiles.shape[0] // 2
    steps = num_tiles * channels, row_step, row_step * channels, channels
    pooled[:] = 0
    for tile in range(num_tiles):
        corner = tiles[2 * tile + 1]
        for channel in range(0, depth, LANES):
            source, target = _at(x, corner * depth + channel), _at(inputs, tile * depth + channel)
            _input_tile(source, row_step * depth, depth, target, num_tiles * depth)  # type: ignore[call-arg]
    for number in range(_PRODUCTS):
        a, b, c = number * num_tiles * depth, number * depth * channels, number * num_tiles * channels
        multiply(inputs[a:], weights[b:], outputs[c:], num_tiles, depth, channels)
    for tile in range(num_tiles):
        position, corner = tiles[2 * tile], tiles[2 * tile + 1] + row_step + 1
        masked = _at(mask, corner)
        for channel in range(0, channels, LANES):
            source, target = _at(outputs, tile * channels + channel), _at(y, corner * channels + channel)
            of_bias = _at(bias, position * channels + channel)
            of_pooled = _at(pooled, 2 * position * channels + channel)
            if adds:
                _output_tile_added(source, of_bias, masked, target, of_pooled, steps)
            else:
                _output_tile_alone(source, of_bias, masked, target, of_pooled, steps)
    return _PRODUCTS * depth * channels


@kernel
def num_rows(height: int) -> int:
    """Return the number of stored rows of a position, which is enough wherever the first strip of tiles begins."""
    return (height + 2 * _TILE - 2) // _TILE * _TILE + 2


@kernel
def cover(on_board: Float32s, height: int, width: int, row: int, tiles: Int64s) -> int:
    """Cover the cells of a board by tiles, write the cell above and left of each one, and return their number.

    Within each strip of ``_TILE`` rows, the next tile begins at the first cell that is not covered; fewer tiles cannot cover it.

    Args:
        on_board: ``[height * width]``, not 0 on the board.
        height: number of rows of the board.
        width: number of columns.
        row: the first row of the first strip, at most 0.
        tiles: output, with room for all tiles; cells are numbered by rows of ``width + _TILE + 1``.
    """
    num_tiles = 0
    taken = np.empty(width, np.bool_)
    for top in range(row, height, _TILE):
        taken[:] = False
        for inside in range(max(top, 0), min(top + _TILE, height)):
            for column in range(width):
                taken[column] |= on_board[inside * width + column] != 0
        column = 0
        while column < width:
            if not taken[column]:
                column += 1
                continue
            tiles[num_tiles] = (top - row) * (width + _TILE + 1) + column
            num_tiles += 1
            column += _TILE
    return num_tiles


@kernel
def read_planes(
    planes: Float32Tables,
    sizes: Sizes,
    x: Float32s,
    mask: Float32s,
    tiles: Int64s,
    inverse_num_cells: Float32s,
    corners: Int64s,
) -> int:
    """Copy the planes of a chunk of positions to ``x``, channels last; write masks and tiles; return the number of tiles.

    ``planes`` and ``sizes`` are those of :func:`run_network`, the others those of :func:`convolve` and :class:`Chunk`;
    ``inverse_num_cells[positions]`` and ``corners[positions]``, the first stored cell of each board, are outputs.
    """
    height, width, depth = sizes.height, sizes.width, sizes.input_channels
    row_step = width + _TILE + 1
    num_cells = num_rows(height) * row_step
    of_position = np.empty(num_cells, np.int64)
    num_tiles = 0
    x[:] = 0
    mask[:] = 0
    for position in range(planes.shape[0]):
        board = planes[position, sizes.board_plane]
        fewest, row = num_cells, 0
        for first in range(1 - _TILE, 1):
            number = cover(board, height, width, first, of_position)
            if number < fewest:
                fewest, row = number, first
        cover(board, height, width, row, of_position)
        for tile in range(fewest):
            tiles[2 * num_tiles], tiles[2 * num_tiles + 1] = position, position * num_cells + of_position[tile]
            num_tiles += 1
        corner = position * num_cells + (1 - row) * row_step + 1
        for plane in range(planes.shape[1]):
            for row in range(height):
                at = (corner + row * row_step) * depth + plane
                for column in range(width):
                    x[at + column * depth] = planes[position, plane, row * width + column]
        total = np.float32(0)
        for row in range(height):
            for column in range(width):
                mask[corner + row * row_step + column] = board[row * width + column]
                total += board[row * width + column]
        inverse_num_cells[position], corners[position] = 1 / total, corner
    return num_tiles


@kernel
def average(pooled: Float32s, number: int, channels: int, inverse_num_cells: Float32s) -> None:
    """Replace the sums in ``pooled[number, 2, channels]`` by means, with ``inverse_num_cells[number]``."""
    for position in range(number):
        for channel in range(channels):
            pooled[2 * position * channels + channel] *= inverse_num_cells[position]


@kernel
def write_outputs(
    outputs: Float32s, width: int, num_outputs: int, global_actions: int, logits: Float32Table, values: Float32s
) -> None:
    """Write the values and the logits of the global actions of a chunk of positions.

    They are read from ``outputs[number, width]``; ``logits`` and ``values`` are those of :func:`run_network`.
    """
    for position in range(values.shape[0]):
        row = outputs[position * width :]
        for action in range(global_actions):
            logits[position, logits.shape[1] - global_actions + action] = row[num_outputs + action]
        if num_outputs == 1:
            values[position] = math.tanh(row[0])
            continue
        max_logit = max(row[0], row[1], row[2])
        win, draw, loss = math.exp(row[0] - max_logit), math.exp(row[1] - max_logit), math.exp(row[2] - max_logit)
        values[position] = (win - loss) / (win + draw + loss)


# Long: a third of it allocates the work buffers, which the rest shares.
def run_network(planes: Float32Tables, sizes: Sizes, weights: Float32s, logits: Float32Table, values: Float32s) -> None:
    """Evaluate a residual network on a batch of positions.

    Args:
        planes: ``[n, planes, height * width]``.
        sizes: the sizes of the network and of the board.
        weights: all weights, in the order of use (see :func:`flat_weights`).
        logits: output, ``[n, num_actions]``.
        values: output, ``[n]``.
    """
    height, width, _, depth, channels, blocks, action_planes, global_actions, hidden_width, num_outputs = sizes
    row_step = width + _TILE + 1
    num_cells = num_rows(height) * row_step
    num_tiles = num_rows(height) // _TILE * ((width + _TILE - 1) // _TILE)
    size = max(1, min(planes.shape[0], _CHUNK_TILES // num_tiles))
    tiles = np.empty(2 * size * num_tiles, np.int64)
    mask = np.empty(size * num_cells, np.float32)
    inverse_num_cells, corners = np.empty(size, np.float32), np.empty(size, np.int64)
    x = np.empty(size * num_cells * depth, np.float32)
    room = size * num_tiles * _PRODUCTS
    work = np.empty(room * max(depth, channels), np.float32), np.empty(room * channels, np.float32)
    features = np.empty(size * num_cells * channels, np.float32)
    inner = np.empty_like(features)
    pooled = np.zeros(size * 2 * channels, np.float32)
    bias = np.zeros(size * channels, np.float32)
    policy_width = (action_planes + LANES - 1) // LANES * LANES
    output_width = (num_outputs + global_actions + LANES - 1) // LANES * LANES
    cell_logits = np.empty(width * policy_width, np.float32)
    hidden, outputs = np.empty(size * hidden_width, np.float32), np.empty(size * output_width, np.float32)
    for start in range(0, planes.shape[0], size):
        of_chunk = slice(start, min(start + size, planes.shape[0]))
        number = of_chunk.stop - start
        count = read_planes(planes[of_chunk], sizes, x, mask, tiles, inverse_num_cells, corners)
        chunk = Chunk(row_step, tiles[: 2 * count], mask, work[0], work[1], pooled)
        features[:] = 0
        inner[:] = 0
        at = linear(pooled, bias, weights, number, 0, channels, False)
        at += convolve(chunk, x, features, depth, channels, weights[at:], bias, False)
        for _ in range(blocks):
            average(pooled, number, channels, inverse_num_cells)
            at += linear(pooled, bias, weights[at:], number, 2 * channels, channels, False)
            at += convolve(chunk, features, inner, channels, channels, weights[at:], bias, False)
            at += linear(pooled, bias, weights[at:], number, 0, channels, False)
            at += convolve(chunk, inner, features, channels, channels, weights[at:], bias, True)
        average(pooled, number, channels, inverse_num_cells)
        cell_policy = weights[at:]
        for position in range(number):
            for row in range(height):
                of_row = features[(corners[position] + row * row_step) * channels :]
                linear(of_row, cell_logits, cell_policy, width, channels, policy_width, False)
                for plane in range(action_planes):
                    action = (plane * height + row) * width
                    for column in range(width):
                        logits[start + position, action + column] = cell_logits[column * policy_width + plane]
        at += (channels + 1) * policy_width
        at += linear(pooled, hidden, weights[at:], number, 2 * channels, hidden_width, True)
        linear(hidden, outputs, weights[at:], number, hidden_width, output_width, False)
        write_outputs(outputs, output_width, num_outputs, global_actions, logits[of_chunk], values[of_chunk])


# -- Its weights -------------------------------------------------------------------------------------------------------

_Matrix: TypeAlias = npt.NDArray[np.float64]
_WEIGHT_TRANSFORM = np.array([[6, 0, 0], [-4, -4, -4], [-4, 4, -4], [1, 2, 4], [1, -2, 4], [0, 0, 24]]) / 24


def _padded(matrix: _Matrix, rows: int, columns: int) -> _Matrix:
    """Return ``[..., rows, columns]``: the matrices with zeros after their rows and columns."""
    missing = [(0, 0)] * (matrix.ndim - 2) + [(0, rows - matrix.shape[-2]), (0, columns - matrix.shape[-1])]
    return np.pad(matrix, missing)


def _whole(number: int) -> int:
    """Return ``number`` rounded up to a multiple of ``LANES``."""
    return -(-number // LANES) * LANES


class Layer(NamedTuple):
    """A part of the weights.

    Attributes:
        weights: ``[rows, columns]``, or the filters of a convolution, ``[outputs, inputs, 3, 3]``, which are transformed.
        rows: number of rows after padding, of inputs for a convolution.
        columns: number of columns after padding, of outputs for a convolution.
    """

    weights: _Matrix
    rows: int
    columns: int


def layers(architecture: Architecture, weights: Mapping[str, _Matrix]) -> list[Layer]:
    """Return the parts of the weights, in the order of :func:`run_network`."""
    config = cast(ResidualConfig, architecture.config)
    channels, hidden = _whole(config.channels), _whole(2 * config.channels)

    def bias(*names: str) -> Layer:
        joined = np.concatenate([weights[f"{name}.bias"] for name in names])[None]
        return Layer(joined, 1, _whole(joined.size))

    def convolution(name: str, depth: int) -> Layer:
        return Layer(weights[f"{name}.weight"], depth, channels)

    def of_pooled(name: str, columns: int) -> list[Layer]:
        # The means and the maxima of the channels are padded separately.
        halves = weights[f"{name}.weight"].T.reshape(2, config.channels, -1)
        return [Layer(half, channels, columns) for half in halves]

    # The biases of convolutions come before them; that of the first one of a block depends on the pooled features.
    parts = [bias("stem"), convolution("stem", _whole(architecture.input_planes))]
    for block in (f"blocks.{number}" for number in range(config.blocks)):
        parts += of_pooled(f"{block}.pooled_bias", channels)
        for name in (f"{block}.first", f"{block}.second"):
            parts += [bias(name), convolution(name, channels)]
    cell_policy = weights["cell_policy.weight"][:, :, 0, 0].T
    parts += [Layer(cell_policy, channels, _whole(architecture.action_planes)), bias("cell_policy")]
    parts += [*of_pooled("global_hidden", hidden), bias("global_hidden")]
    names = ["value", *(["global_policy"] if architecture.global_actions else [])]
    outputs = np.concatenate([weights[f"{name}.weight"] for name in names]).T
    return [*parts, Layer(outputs, hidden, _whole(outputs.shape[1])), bias(*names)]


def flat_weights(parts: list[Layer]) -> npt.NDArray[np.float32]:
    """Return ``float32[n]``: all weights, as :func:`run_network` takes them."""
    flat = []
    for matrix, rows, columns in parts:
        if matrix.ndim == 4:
            matrix = np.einsum("ak,ockl,bl->abco", _WEIGHT_TRANSFORM, matrix, _WEIGHT_TRANSFORM)
        flat.append(_padded(matrix, rows, columns).ravel())
    return np.concatenate(flat).astype(np.float32)


class WinogradInference:
    """Runs a copy of a residual network (see :class:`stoneworks.models.network.ResidualNetwork`)."""

    def __init__(self, architecture: Architecture, weights: Mapping[str, npt.ArrayLike]) -> None:
        """Compile the function, and transform the weights of ``ResidualNetwork.playing_state_dict``."""
        self._architecture = architecture
        self._run = compiled_network()
        self.load_weights(weights)

    def load_weights(self, weights: Mapping[str, npt.ArrayLike]) -> None:
        """Load the weights of a network with the same architecture."""
        architecture = self._architecture
        arrays = {name: np.asarray(of, np.float64) for name, of in weights.items()}
        self._weights = flat_weights(layers(architecture, arrays))
        config = cast(ResidualConfig, architecture.config)
        self._sizes = Sizes(
            height=0,  # height and width are those of each batch
            width=0,
            board_plane=architecture.board_plane,
            input_channels=_whole(architecture.input_planes),
            channels=_whole(config.channels),
            blocks=config.blocks,
            action_planes=architecture.action_planes,
            global_actions=architecture.global_actions,
            hidden_channels=_whole(2 * config.channels),
            value_outputs=arrays["value.bias"].size,
        )

    def __call__(self, planes: npt.NDArray[np.float32]) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
        """Return logits ``[n, num_actions]`` and expected results ``[n]`` for ``planes[n, input planes, height, width]``.

        Raises:
            ValueError: the number of planes is not that of the network.
        """
        number, num_planes, height, width = planes.shape
        architecture = self._architecture
        if num_planes != architecture.input_planes:
            raise ValueError(
                f"planes must be {architecture.input_planes} for this network, got {num_planes}; see features of SearchSettings"
            )
        num_actions = architecture.action_planes * height * width + architecture.global_actions
        logits, values = np.empty((number, num_actions), np.float32), np.empty(number, np.float32)
        sizes = self._sizes._replace(height=height, width=width)
        flat = np.ascontiguousarray(planes, np.float32).reshape(number, num_planes, height * width)
        self._run(flat, sizes, self._weights, logits, values)
        return logits, values


@cache
def compiled_network() -> Any:
    """Return :func:`run_network`, compiled or loaded from the cache."""
    return compiled_function(run_network)
