# ===- _block_quantization.py - Weights that are rounded in blocks ----------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""The functions of onnxruntime's that round weights [K, N] in blocks of a column.

`onnxruntime.quantization` calls them for MatMulNBits and MatMulBnb4. They write into
arrays of the caller, the bits that onnxruntime writes.
"""

from typing import Any, TypeAlias

import numpy as np

Array: TypeAlias = np.ndarray[Any, Any]

# Values of the 4 bits of bitsandbytes' types between -1 and 1, ascending; FP4 has a sign bit.
_NF4 = np.array(
    [
        *(-1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453),
        *(-0.28444138169288635, -0.18477343022823334, -0.09105003625154495, 0.0),
        *(0.07958029955625534, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224),
        *(0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1.0),
    ],
    np.float32,
)
_FP4 = np.array([0, 1 / 192, 1 / 6, 1 / 4, 1 / 3, 1 / 2, 2 / 3, 1], np.float32)
_FP4_CODES = np.array([0, 1, 6, 7, 4, 5, 2, 3], np.uint8)


def _reciprocals(scales: Array) -> Array:
    """1 / x, 0 for 0."""
    made = np.zeros_like(scales)
    np.divide(1, scales, out=made, where=scales != 0, dtype=np.float32)
    return made


def _packed(codes: Array, bits: int, rest: int = 0) -> Array:
    """Numbers of some bits along the last axis, the first in the lowest bits of a byte."""
    each = 8 // bits
    missing = -codes.shape[-1] % each
    fill = np.full((*codes.shape[:-1], missing), rest, np.uint8)
    codes = np.concatenate([codes, fill], -1).reshape(*codes.shape[:-1], -1, each)
    shifts = np.arange(each, dtype=np.uint8) * np.uint8(bits)
    made: Array = np.bitwise_or.reduce(codes << shifts, -1)
    return made


def _away(values: Array) -> Array:
    """Rounded, halves away from zero."""
    made: Array = np.copysign(np.floor(np.abs(values) + np.float32(0.5)), values)
    return made


def _rounded(
    weight: Array, block_size: int, rows: int, bits: int, is_symmetric: bool, is_sum: bool = True
) -> tuple[Array, Array, Array]:
    """Codes [N, blocks, block_size], scales and zero points [N, blocks]; 0 behind the rows.

    `is_sum`: the sum with the zero point is rounded, not the value alone.
    """
    blocks = -(-rows // block_size)
    padded = np.zeros((blocks * block_size, weight.shape[1]), np.float32)
    padded[:rows] = weight[:rows]
    values = padded.reshape(blocks, block_size, -1).transpose(2, 0, 1)
    low, high = np.minimum(values.min(-1), 0), np.maximum(values.max(-1), 0)
    most, middle = 2**bits - 1, 2 ** (bits - 1)
    if is_symmetric:
        scales = np.where(np.abs(high) > np.abs(low), high, low) / np.float32(-middle)
        zeros = np.full(scales.shape, middle, np.float32)
    else:
        scales = (high - low) / np.float32(most)
        places = np.divide(-low, scales, out=low.copy(), where=scales != 0)
        zeros = np.clip(_away(places), 0, most)
    # Sums are with the scale as it is kept.
    scales = scales.astype(weight.dtype).astype(np.float32)
    codes, offset = values * _reciprocals(scales)[..., None], zeros[..., None]
    codes = _away(codes + offset) if is_sum else _away(codes) + offset
    codes = np.clip(codes, 0, most).astype(np.uint8)
    # A byte that has a row is whole.
    codes.reshape(codes.shape[0], -1)[:, rows + -rows % (8 // bits) :] = 0
    return codes, scales, zeros.astype(np.uint8)


def _quantize_matmul(
    bits: int,
    packed: Array,
    weight: Array,
    scales: Array,
    zero_points: Array,
    block_size: int,
    rows: int,
    is_symmetric: bool,
) -> None:
    codes, found, zeros = _rounded(weight, block_size, rows, bits, is_symmetric)
    packed[...] = _packed(codes, bits).reshape(packed.shape)
    scales[...] = found.reshape(scales.shape)
    if not is_symmetric:
        zero_points[...] = _packed(zeros, bits, 2 ** (bits - 1)).reshape(zero_points.shape)


def quantize_matmul_2bits(
    packed: Array, weight: Array, scales: Array, zero_points: Array,
    block_size: int, cols: int, rows: int, is_symmetric: bool,
) -> None:  # fmt: skip
    """Rounds weights [rows, cols] to 2 bits, with a scale for each block of a column."""
    _quantize_matmul(2, packed, weight, scales, zero_points, block_size, rows, is_symmetric)


def quantize_matmul_4bits(
    packed: Array, weight: Array, scales: Array, zero_points: Array,
    block_size: int, cols: int, rows: int, is_symmetric: bool,
) -> None:  # fmt: skip
    """The same to 4 bits."""
    _quantize_matmul(4, packed, weight, scales, zero_points, block_size, rows, is_symmetric)


def quantize_matmul_8bits(
    packed: Array, weight: Array, scales: Array, zero_points: Array,
    block_size: int, cols: int, rows: int, is_symmetric: bool,
) -> None:  # fmt: skip
    """The same to 8 bits."""
    _quantize_matmul(8, packed, weight, scales, zero_points, block_size, rows, is_symmetric)


def quantize_qdq_matmul_4bits(
    packed: Array, weight: Array, scales: Array, zero_points: Array,
    block_size: int, cols: int, rows: int, is_symmetric: bool,
) -> bool:  # fmt: skip
    """The same for DequantizeLinear: rows stay rows. Returns whether the codes have a sign."""
    codes, found, zeros = _rounded(weight, block_size, rows, 4, is_symmetric, False)
    codes = codes.reshape(codes.shape[0], -1)[:, :rows].T.reshape(-1)
    if is_symmetric:
        codes = (codes - np.uint8(8)) & np.uint8(15)
    packed[...] = _packed(codes, 4)
    scales[...] = found.T
    if not is_symmetric:
        zero_points[...] = _packed(zeros.T.reshape(-1), 4)
    return is_symmetric


def quantize_matmul_bnb4(
    packed: Array, weight: Array, absmax: Array,
    block_size: int, quant_type: int, cols: int, rows: int,
) -> None:  # fmt: skip
    """Rounds weights, row by row in blocks, to FP4 (0) or NF4 (1) of bitsandbytes."""
    flat = weight.reshape(-1).astype(np.float32)
    blocks = np.zeros((-(-flat.size // block_size), block_size), np.float32)
    blocks.reshape(-1)[: flat.size] = flat
    largest = np.abs(blocks).max(1)
    parts = (blocks * _reciprocals(largest)[:, None]).reshape(-1)[: flat.size + flat.size % 2]
    if parts.size % 2:
        parts = np.append(parts, np.float32(0))
    table = _NF4 if quant_type == 1 else _FP4
    halves = ((table[1:].astype(np.float64) + table[:-1]) / 2).astype(np.float32)
    if quant_type == 1:
        codes = np.searchsorted(halves, parts).astype(np.uint8)
    else:
        codes = _FP4_CODES[np.searchsorted(halves, np.abs(parts))]
        codes |= np.where(parts < 0, 8, 0).astype(np.uint8)
    # Here the first one has the upper bits.
    packed[...] = codes[0::2] << np.uint8(4) | codes[1::2]
    absmax[...] = largest
