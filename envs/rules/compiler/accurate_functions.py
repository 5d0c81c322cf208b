"""Exponential, logarithm and hyperbolic tangent for targets without a C library.

JavaScript's exponential is off by a bit in one of ten results, its logarithm in one of a hundred, and browsers differ in which.
These compute with twice the precision, so that browsers and cards round as the C library does, which is off in one of a thousand.
"""

from __future__ import annotations

import math

import numpy as np

from stoneworks.envs.rules.compiler.compiler import kernel
from stoneworks.envs.rules.compiler.types import Float32


@kernel
def _product(a: float, b: float) -> tuple[float, float]:
    """Return a product and its rounding error (Dekker, 1971)."""
    scaled_a, scaled_b = 134217729.0 * a, 134217729.0 * b
    high_a, high_b = scaled_a - (scaled_a - a), scaled_b - (scaled_b - b)
    low_a, low_b, product = a - high_a, b - high_b, a * b
    return product, ((high_a * high_b - product) + high_a * low_b + low_a * high_b) + low_a * low_b


@kernel
def _sum(a: float, b: float) -> tuple[float, float]:
    """Return a sum and its rounding error (Knuth, 1969)."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


@kernel
def _times(a: tuple[float, float], b: tuple[float, float]) -> tuple[float, float]:
    """Return the product of two numbers of twice the precision."""
    high, low = _product(a[0], b[0])
    return _sum(high, low + (a[0] * b[1] + a[1] * b[0]))


@kernel
def _plus(a: tuple[float, float], b: tuple[float, float]) -> tuple[float, float]:
    """Return the sum of two numbers of twice the precision."""
    high, low = _sum(a[0], b[0])
    return _sum(high, low + (a[1] + b[1]))


_LN_2 = 0.6931471805599453, 2.3190468138462996e-17
_THIRD = 0.3333333333333333, 1.850371707708594e-17


def accurate_exp(x: float) -> float:
    """Return the exponential of ``x``, rounded nearly always to the nearest number from -745 to 709.

    Above, it may be off by two places, and is infinite from 709.78; below, it is 0.
    """
    if not x < 709.0:
        return x if math.isnan(x) else np.inf if x > 709.78 else math.e * accurate_exp_in_range(x - 1.0)
    return 0.0 if x < -745.0 else accurate_exp_in_range(x)


@kernel
def accurate_exp_in_range(x: float) -> float:
    """Return the exponential of ``x`` from -745 to 709."""
    power = np.floor(x / _LN_2[0] + 0.5)
    product = _times((_LN_2[0], _LN_2[1]), (-power, 0.0))
    rest = _plus((x, 0.0), product)
    high, low = rest[0] / 2, rest[1] / 2  # the exponential of half of it is squared
    series = 1 / 40320 + high * (1 / 362880 + high * (1 / 3628800 + high * (1 / 39916800 + high / 479001600)))
    series = 1 / 6 + high * (1 / 24 + high * (1 / 120 + high * (1 / 720 + high * (1 / 5040 + high * series))))
    square = _times((high, low), (high, low))
    value = _plus((square[0] / 2, square[1] / 2), (high * high * high * series, 0.0))
    value = _plus((high, low), value)  # without the 1, which is added last
    value = _plus((2 * value[0], 2 * value[1]), _times(value, value))
    value = _plus((1.0, 0.0), value)
    half = np.floor(power / 2)  # each of the two powers is a normal number
    return (value[0] + value[1]) * _power_of_2(half) * _power_of_2(power - half)


@kernel
def _power_of_2(power: float) -> float:
    return np.int64((np.int64(power) + 1023) << 52).view(np.float64)


def accurate_log(x: float) -> float:
    """Return the natural logarithm of ``x``, rounded nearly always to the nearest number."""
    if not 0.0 < x < np.inf:
        return -np.inf if x == 0.0 else x if x > 0.0 else np.nan
    normal = x * 2.0**54 if x < 2.3e-308 else x
    bits = np.float64(normal).view(np.int64)
    exponent = (bits >> 52) - (1023 if normal == x else 1077)
    mantissa = np.int64((bits & (2**52 - 1)) | (1023 << 52)).view(np.float64)
    if mantissa > 1.4142135623730951:
        mantissa, exponent = mantissa / 2, exponent + 1
    above, below = mantissa - 1.0, _sum(mantissa, 1.0)  # log(m) = 2 artanh((m - 1) / (m + 1))
    ratio = above / below[0]
    back = _times((ratio, 0.0), (below[0], below[1]))
    ratio_and_error = _sum(ratio, ((above - back[0]) - back[1]) / below[0])
    square = _times(ratio_and_error, ratio_and_error)
    s = square[0]
    series = 1 / 9 + s * (1 / 11 + s * (1 / 13 + s * (1 / 15 + s * (1 / 17 + s * (1 / 19 + s * (1 / 21 + s / 23))))))
    series = 1 / 5 + s * (1 / 7 + s * series)
    cubic = _times(square, _plus((_THIRD[0], _THIRD[1]), (s * series, 0.0)))
    value = _plus(ratio_and_error, _times(ratio_and_error, cubic))
    value = _plus((2 * value[0], 2 * value[1]), _times((_LN_2[0], _LN_2[1]), (float(exponent), 0.0)))
    return value[0] + value[1]


def accurate_tanh(x: float) -> float:
    """Return the hyperbolic tangent, off by a few units in the last place at most; cards have none of double precision."""
    size = abs(x)
    if size < 0.5:  # Lambert's continued fraction
        square, rest = x * x, 17.0
        for odd in (15.0, 13.0, 11.0, 9.0, 7.0, 5.0, 3.0, 1.0):
            rest = odd + square / rest
        return x / rest
    value = 1.0 if size > 20.0 else 1.0 - 2.0 / (accurate_exp_in_range(2.0 * size) + 1.0)
    return value if x > 0.0 else -value if x < 0.0 else x  # nan


def accurate_expf(x: Float32) -> np.float32:
    """Return the exponential in single precision, rounded nearly always to the nearest number."""
    return np.float32(accurate_exp_in_range(min(max(np.float64(x), -150.0), 150.0)))
