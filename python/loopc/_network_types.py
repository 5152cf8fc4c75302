# ===- _network_types.py - Values of networks ------------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Integers, element types and arrays as networks take them."""

from typing import Any

import numpy as np

from loopc._errors import InvalidArgument, InvalidType
from loopc._network_enums import BITS, NUMPY, DataType


def data_type(dtype: Any) -> DataType:
    """The data type of a numpy (or ml_dtypes) type, of a name, or of itself."""
    if isinstance(dtype, DataType):
        return dtype
    if isinstance(dtype, str) and dtype in NUMPY:
        return NUMPY[dtype]
    try:
        # NumPy takes None for float64.
        kind = None if dtype is None else np.dtype(dtype)
    except (TypeError, ValueError, SyntaxError):
        kind = None
    if kind is None:
        raise InvalidType(f"dtype: {dtype!r} is no element type")
    if kind.kind in "OUST":
        return DataType.STRING
    found = NUMPY.get(kind.name)
    if found is None:
        raise InvalidArgument(f"networks have no element type '{kind.name}'")
    return found


def numpy_type(dtype: DataType) -> np.dtype[Any]:
    """The numpy (or ml_dtypes) type of a data type."""
    for name, known in NUMPY.items():
        if known == dtype:
            try:
                return np.dtype(name)
            except TypeError:
                import ml_dtypes

                found: np.dtype[Any] = np.dtype(getattr(ml_dtypes, name))
                return found
    return np.dtype(object)


def packed(values: np.ndarray[Any, Any]) -> tuple[DataType, bytes]:
    """Data type and bytes of an array: elements of less than a byte are packed."""
    dtype = data_type(values.dtype)
    # Of this machine's order of bytes.
    flat = np.ascontiguousarray(values, values.dtype.newbyteorder("=")).reshape(-1)
    bits = BITS.get(dtype)
    if bits is None:
        return dtype, flat.tobytes()
    each = 8 // bits
    raw = flat.view(np.uint8) & ((1 << bits) - 1)
    raw = np.append(raw, np.zeros(-raw.size % each, np.uint8)).reshape(-1, each)
    shifts = np.arange(0, 8, bits, dtype=np.uint8)
    return dtype, np.bitwise_or.reduce(raw << shifts, axis=1).astype(np.uint8).tobytes()


def unpacked(dtype: DataType, count: int, data: bytes) -> np.ndarray[Any, Any]:
    """A new array of `count` elements: what `packed` made bytes of."""
    kind = numpy_type(dtype)
    bits = BITS.get(dtype)
    if bits is None:
        return np.frombuffer(data, kind, count).copy()
    raw = np.frombuffer(data, np.uint8)
    shifts = np.arange(0, 8, bits, dtype=np.uint8)
    each = (raw[:, None] >> shifts).reshape(-1)[:count] & ((1 << bits) - 1)
    return each.astype(np.uint8).view(kind)
