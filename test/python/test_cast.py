# ===- test_cast.py - Conversions between element types ---------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Cast is defined for every value, and rounds once."""

import math

import loopc
import ml_dtypes
import numpy as np
import pytest
from onnx import helper
from single_node import element_type, node_model, run_node

BFLOAT16 = ml_dtypes.bfloat16
FLOATS = [np.float16, BFLOAT16, np.float32, np.float64]
INTEGERS = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]
TYPES = [*FLOATS, *INTEGERS, np.bool_]
SPECIAL = [np.nan, np.inf, -np.inf, 0.0, -0.0, 0.5, -0.99, 1.5, -1.5, 127.9, 128.0, -129.0, 255.5,
           256.0, 40000.0, -1.0, 2.0**31 - 128, 2.0**31, -(2.0**31), 3e9, 2.0**32, 2.0**53,
           2.0**62, 2.0**63, -(2.0**63), 1.5 * 2.0**63, 2.0**64, 1e30, -1e30, 1e-30]  # fmt: skip


def float_to_integer(value, dtype):
    """Towards zero into 32 or 64 bits, the smallest integer where it does not fit, then wrapped."""
    info = np.iinfo(dtype)
    bits = 32 if info.bits < 32 or dtype is np.int32 else 64
    if dtype is np.uint64 and 2.0**63 <= value < 2.0**64:
        return int(value)
    if dtype is np.uint64 and value >= 2.0**64:
        return 0
    fits = math.isfinite(value) and abs(value) < 2.0 ** (bits - 1)
    exact = math.trunc(value) if fits else -(2 ** (bits - 1))
    exact &= 2**info.bits - 1
    return exact - 2**info.bits if info.min < 0 and exact >= 2 ** (info.bits - 1) else exact


def cast_all(x, targets, **attributes):
    """x as each of `targets`, in one model."""
    names = [f"y{k}" for k in range(len(targets))]
    nodes = [helper.make_node("Cast", ["x"], [n], to=element_type(t), **attributes)
             for n, t in zip(names, targets, strict=True)]  # fmt: skip
    outputs = dict(zip(names, targets, strict=True))
    model = node_model(nodes, {"x": x}, outputs, 21, dynamic=True)
    return loopc.InferenceSession(model).run(None, {"x": x})


@pytest.mark.parametrize("source", FLOATS, ids=lambda t: np.dtype(t).name)
def test_from_floats(source):
    with np.errstate(all="ignore"):
        x = np.array(SPECIAL, np.float64).astype(source)
    results = cast_all(x, TYPES)
    for target, result in zip(TYPES, results, strict=True):
        assert result.dtype == np.dtype(target)
        with np.errstate(all="ignore"):
            if target in INTEGERS:
                values = [float_to_integer(float(v), target) for v in x]
                expected = np.array(values, target)
            elif target is np.bool_:
                expected = x.astype(np.float64) != 0
            else:
                expected = x.astype(target)
        np.testing.assert_array_equal(
            result.astype(object), expected.astype(object), err_msg=np.dtype(target).name
        ) if target in INTEGERS else np.testing.assert_array_equal(
            result.astype(np.float64), expected.astype(np.float64), err_msg=np.dtype(target).name
        )


@pytest.mark.parametrize("source", [*INTEGERS, np.bool_], ids=lambda t: np.dtype(t).name)
def test_from_integers(source):
    if source is np.bool_:
        x = np.array([True, False])
    else:
        info = np.iinfo(source)
        numbers = [info.min, info.max, 0, 1, 2, 100, 127, info.max // 2, info.max // 3]
        x = np.array(numbers, source)
    results = cast_all(x, TYPES)
    for target, result in zip(TYPES, results, strict=True):
        with np.errstate(all="ignore"):
            if target is BFLOAT16:
                expected = np.array([_nearest_bfloat16(int(v)) for v in x])
            else:
                expected = x.astype(target).astype(np.float64)
        np.testing.assert_array_equal(
            result.astype(np.float64), expected.astype(np.float64), err_msg=np.dtype(target).name
        )


def _nearest_bfloat16(value):
    """The nearest value of 8 significant bits, ties to even (small exponents do not occur)."""
    if value == 0:
        return 0.0
    shift = max(abs(value).bit_length() - 8, 0)
    quotient, rest = divmod(abs(value), 1 << shift)
    half = (1 << shift) // 2
    if shift and (rest > half or (rest == half and quotient & 1)):
        quotient += 1
    return math.copysign(quotient * 2.0**shift, value)


@pytest.mark.parametrize("target", [np.float16, BFLOAT16], ids=lambda t: np.dtype(t).name)
def test_double_is_rounded_once(target):
    """Just beside a tie: a step through float32 would lose on which side."""
    step = 2.0 ** (-10 if target is np.float16 else -7)
    tie = 1 + step / 2
    tiny = float(ml_dtypes.finfo(target).smallest_subnormal)
    x = np.array([tie, tie + 2**-40, tie - 2**-40, -tie - 2**-40, 1 + 1.5 * step - 2**-40,
                  tiny / 2, tiny / 2 * (1 + 2**-40), tiny / 4, tiny * 1.5 * (1 - 2**-40),
                  1e300, -1e300, 1e-300, np.inf, np.nan])  # fmt: skip
    expected = [1, 1 + step, 1, -1 - step, 1 + step, 0, tiny, 0, tiny,
                np.inf, -np.inf, 0, np.inf, np.nan]  # fmt: skip
    result = cast_all(x, [target])[0]
    np.testing.assert_array_equal(result.astype(np.float64), expected)


def test_old_cast_names_its_type():
    x = np.array([1.5, -2.5], np.float32)
    np.testing.assert_array_equal(
        run_node("Cast", x, opset=5, results=[np.int64], to="INT64")[0], [1, -2]
    )


def test_cast_like():
    x = np.array([1.5, -2.5], np.float32)
    like = np.zeros((3, 4), np.int16)
    result = run_node("CastLike", x, like, opset=19, results=[np.int16])[0]
    np.testing.assert_array_equal(result, [1, -2])
