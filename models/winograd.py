"""Compiled evaluation of residual networks on CPUs, for batches of any size, without the overhead of tensor libraries.

The networks of board games are so small that a tensor library spends most of the time of a small batch on calls and on copies.
Here one compiled function evaluates the whole network. Convolutions are Winograd's F(4x4, 3x3) (Lavin and Gray: Fast algorithms
for convolutional neural networks, CVPR 2016, section 4.3), which needs a quarter of the multiplications; tiles without a cell on
the board are skipped. The arithmetic is in float32, and the order of the operations on one position does not depend on the
other positions of its batch: each position has the same output in any batch.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache
from typing import Any, TypeAlias, cast

import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from stoneworks.envs.rules.kernels import (
    Float32s,
    Float32Table,
    Float32Tables,
    Int64s,
    compiled_function,
    kernel,
)
from stoneworks.models.architecture import Architecture, ResidualConfig

#: Number of floats of a vector: channels are padded to a multiple of it.
LANES = 16
#: Rows and columns of the product that are accumulated in registers.
_ROWS = 6
#: Cells of an output tile and of an input tile in a row, and products per tile.
_TILE, _WINDOW, _PRODUCTS = 4, 6, 36
#: Positions are evaluated in chunks of about this number of tiles, whose intermediate results fit in the cache.
_CHUNK_TILES = 64

_FLOAT = ir.FloatType()
_INT = ir.IntType(64)
_Vectors: TypeAlias = list[Any]


# -- Vector operations, which numba has none for -----------------------------------------------------------------------


def _data(context: Any, builder: Any, array_type: Any, array: Any, offset: Any) -> Any:
    """Return a pointer to an element of an array."""
    pointer = context.make_array(array_type)(context, builder, array).data
    return builder.gep(pointer, [offset], inbounds=True)


def _load(builder: Any, pointer: Any, lanes: int) -> Any:
    kind = ir.VectorType(_FLOAT, lanes)
    return builder.load(builder.bitcast(pointer, kind.as_pointer()), align=4)


def _store(builder: Any, vector: Any, pointer: Any) -> None:
    builder.store(vector, builder.bitcast(pointer, vector.type.as_pointer()), align=4)


def _repeated(builder: Any, value: Any, lanes: int) -> Any:
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


def _product(lanes: int) -> Any:
    @intrinsic
    def product(
        typing: Any, a: Any, a_first: Any, b: Any, b_first: Any, c: Any, c_first: Any, depth: Any, columns: Any
    ) -> Any:
        """Write ``_ROWS`` rows and ``lanes`` columns of a matrix product: c = a b, with ``depth`` columns of a."""

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            a_type, _, b_type, _, c_type, *_ = signature.args
            a, a_first, b, b_first, c, c_first, depth, columns = arguments
            kind = ir.VectorType(_FLOAT, lanes)
            sums = [cgutils.alloca_once_value(builder, ir.Constant(kind, None)) for _ in range(_ROWS)]
            rows = [
                _data(context, builder, a_type, a, builder.add(a_first, builder.mul(depth, ir.Constant(_INT, row))))
                for row in range(_ROWS)
            ]
            b = _data(context, builder, b_type, b, b_first)
            with cgutils.for_range(builder, depth) as loop:
                weights = _load(builder, builder.gep(b, [builder.mul(loop.index, columns)], inbounds=True), lanes)
                for row, total in zip(rows, sums, strict=True):
                    factor = builder.load(builder.gep(row, [loop.index], inbounds=True))
                    factors = _repeated(builder, factor, lanes)
                    builder.store(_multiply_add(builder, factors, weights, builder.load(total)), total)
            for row, total in enumerate(sums):
                place = builder.add(c_first, builder.mul(columns, ir.Constant(_INT, row)))
                _store(builder, builder.load(total), _data(context, builder, c_type, c, place))
            return context.get_dummy_value()

        return types.void(a, types.int64, b, types.int64, c, types.int64, types.int64, types.int64), generate

    return product


_product_of_one, _product_of_two = _product(LANES), _product(2 * LANES)


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


def _grid(builder: Any, pointer: Any, rows: int, columns: int, row_step: Any, column_step: Any) -> list[_Vectors]:
    """Return pointers to the elements of a grid."""
    return [
        [
            builder.gep(
                pointer,
                [
                    builder.add(
                        builder.mul(row_step, ir.Constant(_INT, row)),
                        builder.mul(column_step, ir.Constant(_INT, column)),
                    )
                ],
                inbounds=True,
            )
            for column in range(columns)
        ]
        for row in range(rows)
    ]


def _transposed(grid: list[_Vectors]) -> list[_Vectors]:
    return [list(column) for column in zip(*grid, strict=True)]


@intrinsic
def _input_tile(
    typing: Any, x: Any, x_first: Any, row_step: Any, cell_step: Any, v: Any, v_first: Any, v_step: Any
) -> Any:
    """Transform ``LANES`` channels of an input tile: ``v[product] = (B^T x B)[product]``."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        x, x_first, row_step, cell_step, v, v_first, v_step = arguments
        source = _data(context, builder, signature.args[0], x, x_first)
        target = _data(context, builder, signature.args[4], v, v_first)
        cells = _grid(builder, source, _WINDOW, _WINDOW, row_step, cell_step)
        columns = [
            _transform_input(builder, [_load(builder, cell, LANES) for cell in column]) for column in _transposed(cells)
        ]
        places = _grid(builder, target, _WINDOW, _WINDOW, builder.mul(v_step, ir.Constant(_INT, _WINDOW)), v_step)
        for row, of_row in zip(_transposed(columns), places, strict=True):
            for vector, place in zip(_transform_input(builder, row), of_row, strict=True):
                _store(builder, vector, place)
        return context.get_dummy_value()

    integer = types.int64
    return types.void(x, integer, integer, integer, v, integer, integer), generate


def _output_tile(adds: bool) -> Any:
    @intrinsic
    def output_tile(
        typing: Any, m: Any, m_first: Any, m_step: Any, bias: Any, bias_first: Any, mask: Any, mask_first: Any,
        mask_width: Any, y: Any, y_first: Any, row_step: Any, cell_step: Any, pooled: Any, pooled_first: Any,
    ) -> Any:  # fmt: skip
        """Transform ``LANES`` channels of an output tile, finish the layer, and pool the output.

        ``y = relu(A^T m A + bias [+ y]) * mask``; its sum is added to the first vector of ``pooled``, and the second one, which
        is ``cell_step`` further, is replaced by the maximum of it and the output.
        """

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            (m, m_first, m_step, bias, bias_first, mask, mask_first, mask_width) = arguments[:8]
            (y, y_first, row_step, cell_step, pooled, pooled_first) = arguments[8:]
            kinds = signature.args
            source = _data(context, builder, kinds[0], m, m_first)
            products = _grid(builder, source, _WINDOW, _WINDOW, builder.mul(m_step, ir.Constant(_INT, _WINDOW)), m_step)
            columns = [
                _transform_output(builder, [_load(builder, product, LANES) for product in column])
                for column in _transposed(products)
            ]
            bias = _load(builder, _data(context, builder, kinds[3], bias, bias_first), LANES)
            masks = _grid(
                builder,
                _data(context, builder, kinds[5], mask, mask_first),
                _TILE,
                _TILE,
                mask_width,
                ir.Constant(_INT, 1),
            )
            cells = _grid(builder, _data(context, builder, kinds[8], y, y_first), _TILE, _TILE, row_step, cell_step)
            sums = _data(context, builder, kinds[12], pooled, pooled_first)
            greatest = builder.gep(sums, [cell_step], inbounds=True)
            total, maximum = _load(builder, sums, LANES), _load(builder, greatest, LANES)
            zero = ir.Constant(total.type, None)
            for row, of_row, masks_of_row in zip(_transposed(columns), cells, masks, strict=True):
                for vector, cell, on_board in zip(_transform_output(builder, row), of_row, masks_of_row, strict=True):
                    value = builder.fadd(vector, bias)
                    if adds:
                        value = builder.fadd(value, _load(builder, cell, LANES))
                    positive = builder.fcmp_unordered(">", value, zero)  # NaN stays NaN
                    value = builder.select(positive, value, zero)
                    value = builder.fmul(value, _repeated(builder, builder.load(on_board), LANES))
                    _store(builder, value, cell)
                    total = builder.fadd(total, value)
                    maximum = builder.select(builder.fcmp_ordered(">", value, maximum), value, maximum)
            _store(builder, total, sums)
            _store(builder, maximum, greatest)
            return context.get_dummy_value()

        i = types.int64
        return types.void(m, i, i, bias, i, mask, i, i, y, i, i, i, pooled, i), generate

    return output_tile


_output_tile_alone, _output_tile_added = _output_tile(False), _output_tile(True)


# -- The network -------------------------------------------------------------------------------------------------------


@kernel
def multiply(
    a: Float32s, a_first: int, b: Float32s, b_first: int, c: Float32s, c_first: int, rows: int, depth: int, columns: int
) -> None:
    """Write the matrix product c = a b, with ``columns`` a multiple of ``LANES``. Matrices begin at an index of an array.

    They are ``a[rows, depth]``, ``b[depth, columns]`` and ``c[rows, columns]``; ``a`` and ``c`` must have room for a multiple
    of ``_ROWS`` rows.
    """
    for column in range(0, columns - LANES, 2 * LANES):
        for row in range(0, rows, _ROWS):
            at = c_first + row * columns + column
            _product_of_two(a, a_first + row * depth, b, b_first + column, c, at, depth, columns)
    if columns % (2 * LANES):
        column = columns - LANES
        for row in range(0, rows, _ROWS):
            at = c_first + row * columns + column
            _product_of_one(a, a_first + row * depth, b, b_first + column, c, at, depth, columns)


@kernel
def convolve(
    x: Float32s,
    y: Float32s,
    depth: int,
    channels: int,
    weights: Float32s,
    first: int,
    bias: Float32s,
    adds: bool,
    tiles: Int64s,
    num_tiles: int,
    grid: Int64s,
    mask: Float32s,
    products: tuple[Float32s, Float32s],
    pooled: Float32s,
) -> None:
    """Convolve the tiles of a chunk of positions: ``y = relu(convolution(x) + bias [+ y]) * mask``.

    Args:
        x: ``[positions, rows, columns, depth]``, with a border of 0.
        y: ``[positions, rows, columns, channels]``, likewise.
        depth: number of input channels.
        channels: number of output channels.
        weights: the transformed weights ``[36, depth, channels]`` begin at ``first``.
        first: index in ``weights``.
        bias: ``[positions, channels]``.
        adds: whether ``y`` is added.
        tiles: number of the position and of the tile, for each tile with a cell on the board.
        num_tiles: number of tiles.
        grid: number of rows and columns of tiles.
        mask: ``[positions, rows - 2, columns - 2]``, 1 on the board.
        products: two work buffers ``[36, num_tiles, channels]``, with room for a multiple of ``_ROWS`` tiles.
        pooled: ``[positions, 2, channels]``, output: the sum and the maximum of ``y`` over each position.
    """
    inputs, outputs = products
    width = _TILE * grid[1]
    row_step, num_cells = width + 2, (_TILE * grid[0] + 2) * (width + 2)
    room = (num_tiles + _ROWS - 1) // _ROWS * _ROWS
    pooled[:] = 0
    for tile in range(num_tiles):
        position, place = tiles[2 * tile], tiles[2 * tile + 1]
        corner = position * num_cells + place // grid[1] * _TILE * row_step + place % grid[1] * _TILE
        for channel in range(0, depth, LANES):
            at = tile * depth + channel
            _input_tile(x, corner * depth + channel, row_step * depth, depth, inputs, at, room * depth)  # type: ignore[call-arg]
    for number in range(_PRODUCTS):
        a, b, c = number * room * depth, first + number * depth * channels, number * room * channels
        multiply(inputs, a, weights, b, outputs, c, num_tiles, depth, channels)
    for tile in range(num_tiles):
        position, place = tiles[2 * tile], tiles[2 * tile + 1]
        row, column = place // grid[1] * _TILE, place % grid[1] * _TILE
        corner = position * num_cells + (row + 1) * row_step + column + 1
        masked = position * width * _TILE * grid[0] + row * width + column
        for channel in range(0, channels, LANES):
            m, b = tile * channels + channel, position * channels + channel
            at, p = corner * channels + channel, 2 * position * channels + channel
            if adds:
                _output_tile_added(outputs, m, room * channels, bias, b, mask, masked, width, y, at, row_step * channels,
                                   channels, pooled, p)  # fmt: skip
            else:
                _output_tile_alone(outputs, m, room * channels, bias, b, mask, masked, width, y, at, row_step * channels,
                                   channels, pooled, p)  # fmt: skip


@kernel
def read_planes(
    planes: Float32Tables,
    start: int,
    number: int,
    shape: Int64s,
    grid: Int64s,
    depth: int,
    x: Float32s,
    mask: Float32s,
    tiles: Int64s,
    inverse_num_cells: Float32s,
) -> int:
    """Copy the planes of a chunk of positions to ``x``, channels last; write masks and tiles; return the number of tiles.

    ``planes`` and ``shape`` are those of :func:`evaluate_network`, ``x``, ``mask`` and ``tiles`` those of :func:`convolve`;
    ``inverse_num_cells[positions]`` is an output.
    """
    height, width, board_plane = shape[0], shape[1], shape[2]
    mask_width = _TILE * grid[1]
    row_step = mask_width + 2
    num_tiles = 0
    taken = np.empty(grid[0] * grid[1], np.bool_)
    x[:] = 0
    mask[:] = 0
    for position in range(number):
        of_position = planes[start + position]
        first = position * (_TILE * grid[0] + 2) * row_step
        first_mask = position * _TILE * grid[0] * mask_width
        for plane in range(of_position.shape[0]):
            for row in range(height):
                at = (first + (row + 1) * row_step + 1) * depth + plane
                for column in range(width):
                    x[at + column * depth] = of_position[plane, row * width + column]
        taken[:] = False
        total = np.float32(0)
        for row in range(height):
            for column in range(width):
                on_board = of_position[board_plane, row * width + column]
                mask[first_mask + row * mask_width + column] = on_board
                total += on_board
                if on_board != 0:
                    taken[row // _TILE * grid[1] + column // _TILE] = True
        inverse_num_cells[position] = 1 / total
        for tile in range(taken.shape[0]):
            if taken[tile]:
                tiles[2 * num_tiles], tiles[2 * num_tiles + 1] = position, tile
                num_tiles += 1
    return num_tiles


@kernel
def add_bias(rows: Float32s, number: int, columns: int, weights: Float32s, first: int, positive: bool) -> int:
    """Add a bias to each of ``rows[number, columns]``, apply ReLU if ``positive``; return where the bias ends.

    It is ``[columns]`` and begins at the index ``first`` of ``weights``.
    """
    for row in range(number):
        for column in range(columns):
            value = rows[row * columns + column] + weights[first + column]
            rows[row * columns + column] = np.float32(0) if positive and value < 0 else value
    return first + columns


@kernel
def average(pooled: Float32s, number: int, channels: int, inverse_num_cells: Float32s) -> None:
    """Replace the sums in ``pooled[number, 2, channels]`` by means, with ``inverse_num_cells[number]``."""
    for position in range(number):
        for channel in range(channels):
            pooled[2 * position * channels + channel] *= inverse_num_cells[position]


def evaluate_network(
    planes: Float32Tables, shape: Int64s, weights: Float32s, logits: Float32Table, values: Float32s
) -> None:
    """Evaluate a residual network on a batch of positions.

    Args:
        planes: ``[n, planes, height * width]``.
        shape: height, width, index of the board plane, channels (a multiple of ``LANES``, like all widths below), blocks,
            action planes, global actions, channels of the input, width of the head's hidden layer, outputs of the value head.
        weights: all weights, in the order of use (see :func:`flat_weights`).
        logits: output, ``[n, num_actions]``.
        values: output, ``[n]``.
    """
    channels, blocks, action_planes, global_actions, depth, hidden_width, num_outputs = shape[3:]
    grid = (shape[:2] + _TILE - 1) // _TILE
    num_tiles = grid[0] * grid[1]
    num_cells = (_TILE * grid[0] + 2) * (_TILE * grid[1] + 2)
    size = min(planes.shape[0], max(1, _CHUNK_TILES // num_tiles))
    rows = (size + _ROWS - 1) // _ROWS * _ROWS
    tiles = np.empty(2 * size * num_tiles, np.int64)
    mask = np.empty(size * _TILE * _TILE * num_tiles, np.float32)
    inverse_num_cells = np.empty(size, np.float32)
    x = np.empty(size * num_cells * depth, np.float32)
    room = (size * num_tiles + _ROWS) * _PRODUCTS
    work = np.empty(room * max(depth, channels), np.float32), np.empty(room * channels, np.float32)
    features = np.empty((size * num_cells + _ROWS) * channels, np.float32)
    inner = np.empty_like(features)
    pooled = np.zeros(rows * 2 * channels, np.float32)
    bias = np.zeros(rows * channels, np.float32)
    policy_width = (action_planes + LANES - 1) // LANES * LANES
    output_width = (num_outputs + global_actions + LANES - 1) // LANES * LANES
    cell_logits = np.empty((num_cells + _ROWS) * policy_width, np.float32)
    hidden, outputs = np.zeros(rows * hidden_width, np.float32), np.zeros(rows * output_width, np.float32)
    for start in range(0, planes.shape[0], size):
        number = min(size, planes.shape[0] - start)
        count = read_planes(planes, start, number, shape, grid, depth, x, mask, tiles, inverse_num_cells)
        features[:] = 0
        inner[:] = 0
        bias[:] = 0
        at = _PRODUCTS * depth * channels
        end = add_bias(bias, number, channels, weights, at, False)
        convolve(x, features, depth, channels, weights, 0, bias, False, tiles, count, grid, mask, work, pooled)
        at = end
        for _ in range(blocks):
            average(pooled, number, channels, inverse_num_cells)
            multiply(pooled, 0, weights, at, bias, 0, number, 2 * channels, channels)
            at = add_bias(bias, number, channels, weights, at + 2 * channels * channels, False)
            convolve(
                features, inner, channels, channels, weights, at, bias, False, tiles, count, grid, mask, work, pooled
            )
            at += _PRODUCTS * channels * channels
            bias[:] = 0
            end = add_bias(bias, number, channels, weights, at + _PRODUCTS * channels * channels, False)
            convolve(
                inner, features, channels, channels, weights, at, bias, True, tiles, count, grid, mask, work, pooled
            )
            at = end
        average(pooled, number, channels, inverse_num_cells)
        for position in range(number):
            multiply(
                features,
                position * num_cells * channels,
                weights,
                at,
                cell_logits,
                0,
                num_cells,
                channels,
                policy_width,
            )
            place = at + channels * policy_width
            for plane in range(action_planes):
                for row in range(shape[0]):
                    for column in range(shape[1]):
                        cell = (row + 1) * (_TILE * grid[1] + 2) + column + 1
                        logit = cell_logits[cell * policy_width + plane] + weights[place + plane]
                        logits[start + position, (plane * shape[0] + row) * shape[1] + column] = logit
        at += channels * policy_width + policy_width
        multiply(pooled, 0, weights, at, hidden, 0, number, 2 * channels, hidden_width)
        at = add_bias(hidden, number, hidden_width, weights, at + 2 * channels * hidden_width, True)
        multiply(hidden, 0, weights, at, outputs, 0, number, hidden_width, output_width)
        add_bias(outputs, number, output_width, weights, at + hidden_width * output_width, False)
        write_outputs(outputs, output_width, num_outputs, global_actions, start, number, logits, values)


@kernel
def write_outputs(
    outputs: Float32s,
    output_width: int,
    num_outputs: int,
    global_actions: int,
    start: int,
    number: int,
    logits: Float32Table,
    values: Float32s,
) -> None:
    """Write the values and the logits of the global actions of a chunk of positions.

    They are read from ``outputs[number, output_width]``; ``logits`` and ``values`` are those of :func:`evaluate_network`.
    """
    for position in range(number):
        first = position * output_width
        for action in range(global_actions):
            place = logits.shape[1] - global_actions + action
            logits[start + position, place] = outputs[first + num_outputs + action]
        if num_outputs == 1:
            values[start + position] = math.tanh(outputs[first])
            continue
        win, draw, loss = outputs[first], outputs[first + 1], outputs[first + 2]
        greatest = max(win, draw, loss)
        win, draw, loss = math.exp(win - greatest), math.exp(draw - greatest), math.exp(loss - greatest)
        values[start + position] = (win - loss) / (win + draw + loss)


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


def flat_weights(architecture: Architecture, weights: Mapping[str, _Matrix]) -> npt.NDArray[np.float32]:
    """Return ``float32[n]``: all weights, in the order of :func:`evaluate_network`; those of convolutions are transformed."""
    config = cast(ResidualConfig, architecture.config)
    channels, hidden = _whole(config.channels), _whole(2 * config.channels)

    def bias(*names: str) -> _Matrix:
        joined = np.concatenate([weights[f"{name}.bias"] for name in names])[None]
        return _padded(joined, 1, _whole(joined.size))

    def convolution(name: str, depth: int) -> _Matrix:
        filters = np.einsum("ak,ockl,bl->abco", _WEIGHT_TRANSFORM, weights[f"{name}.weight"], _WEIGHT_TRANSFORM)
        return _padded(filters, depth, channels)

    def of_pooled(name: str, columns: int) -> _Matrix:
        # The means and the maxima of the channels are padded separately.
        return _padded(weights[f"{name}.weight"].T.reshape(2, config.channels, -1), channels, columns)

    parts = [convolution("stem", _whole(architecture.input_planes)), bias("stem")]
    for block in (f"blocks.{number}" for number in range(config.blocks)):
        # The bias of the first convolution is computed before it, from the pooled features.
        parts += [of_pooled(f"{block}.pooled_bias", channels), bias(f"{block}.first")]
        parts += [convolution(f"{block}.{name}", channels) for name in ("first", "second")] + [bias(f"{block}.second")]
    cell_policy = weights["cell_policy.weight"][:, :, 0, 0].T
    parts += [_padded(cell_policy, channels, _whole(architecture.action_planes)), bias("cell_policy")]
    parts += [of_pooled("global_hidden", hidden), bias("global_hidden")]
    names = ["value", *(["global_policy"] if architecture.global_actions else [])]
    outputs = np.concatenate([weights[f"{name}.weight"] for name in names]).T
    parts += [_padded(outputs, hidden, _whole(outputs.shape[1])), bias(*names)]
    return np.concatenate([part.ravel() for part in parts]).astype(np.float32)


class WinogradEvaluator:
    """Evaluates a copy of a residual network (see :class:`stoneworks.models.network.ResidualNetwork`)."""

    def __init__(self, architecture: Architecture, weights: Mapping[str, npt.ArrayLike]) -> None:
        """Compile the function, and transform the weights of ``ResidualNetwork.playing_state_dict``."""
        self._architecture = architecture
        self._evaluate = _compiled()
        self.load_weights(weights)

    def load_weights(self, weights: Mapping[str, npt.ArrayLike]) -> None:
        """Load the weights of a network with the same architecture."""
        architecture = self._architecture
        arrays = {name: np.asarray(of, np.float64) for name, of in weights.items()}
        self._weights = flat_weights(architecture, arrays)
        config = cast(ResidualConfig, architecture.config)
        self._shape = np.array(
            [
                0,  # height and width are those of each batch
                0,
                architecture.board_plane,
                _whole(config.channels),
                config.blocks,
                architecture.action_planes,
                architecture.global_actions,
                _whole(architecture.input_planes),
                _whole(2 * config.channels),
                arrays["value.bias"].size,
            ]
        )

    def __call__(self, planes: npt.NDArray[np.float32]) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
        """Return logits ``[n, num_actions]`` and expected results ``[n]`` for ``planes[n, input planes, height, width]``."""
        number, num_planes, height, width = planes.shape
        architecture = self._architecture
        num_actions = architecture.action_planes * height * width + architecture.global_actions
        logits, values = np.empty((number, num_actions), np.float32), np.empty(number, np.float32)
        shape = self._shape.copy()
        shape[:2] = height, width
        flat = np.ascontiguousarray(planes, np.float32).reshape(number, num_planes, height * width)
        self._evaluate(flat, shape, self._weights, logits, values)
        return logits, values


@cache
def _compiled() -> Any:
    return compiled_function(evaluate_network)
