# ===- test_sums_of_classes.py - OneHot times columns -----------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Sums over the elements of classes: OneHot, MatMul and ReduceSum, beside NumPy's dense product."""

from __future__ import annotations

import loopc
import numpy as np
import onnx.parser
import pytest

#: The loop changes the classes; `sums` and `count` are of its last iteration.
MODEL = """<ir_version: 10, opset_import: ["": 21]>
g (int64 M, int64[{n}] c, float[{n},{d}] x, int64 k, float[{k},{d}] s0, float[{k},1] n0)
    => (float[{k},{d}] sums, float[{k},1] count)
    <int64[1] one = {{1}}, float[2] values = {{0.0, 1.0}}> {{
  sums, count = Loop <body = b (int64 i, bool go, float[{k},{d}] was, float[{k},1] before)
      => (bool on, float[{k},{d}] is, float[{k},1] number) {{
    on = Identity(go)
    own = Add(c, i)
    hot = OneHot <axis = {axis}> (own, k, values)
    {turn}
    product = MatMul(rows, x)
    is = Add(product, was)
    number = ReduceSum <keepdims = 1> (rows, one)
  }}> (M, "", s0, n0)
}}
"""


def _make(n: int, d: int, k: int, is_open: bool, axis: int) -> onnx.ModelProto:
    turn = "rows = Identity(hot)" if axis == 0 else "rows = Transpose <perm = [1, 0]> (hot)"
    names = {"n": "N", "d": "D", "k": "K"} if is_open else {"n": n, "d": d, "k": k}
    return onnx.parser.parse_model(MODEL.format(axis=axis, turn=turn, **names))


def _expect(
    trips: int, c: np.ndarray, x: np.ndarray, s0: np.ndarray, n0: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    k, sums, count = len(s0), s0.astype(np.float64), n0
    for i in range(trips):
        own = c + i
        own = np.where(own < 0, own + k, own)
        hot = (own == np.arange(k)[:, None]).astype(np.float64)
        with np.errstate(invalid="ignore"):
            sums = sums + (hot[:, :, None] * x.astype(np.float64)[None]).sum(1)
        count = hot.sum(1, keepdims=True)
    return sums, count


@pytest.mark.parametrize("axis", [0, -1])
@pytest.mark.parametrize("is_open", [False, True], ids=["fixed", "open"])
@pytest.mark.parametrize(
    ("n", "d", "k"),
    [
        (32, 4, 8),
        (31, 4, 8),
        (100, 1, 3),
        (257, 7, 33),
        (64, 8, 1),
        (64, 9, 16),
        (300, 3, 5),
        (0, 4, 8),
    ],
)
def test_values(n: int, d: int, k: int, is_open: bool, axis: int) -> None:
    numbers = np.random.default_rng(n + d + k)
    # Some are of no class; negative ones count from the end.
    c = numbers.integers(-2 * k, 2 * k, n)
    x = numbers.integers(-8, 8, (n, d)).astype(np.float32)
    s0 = numbers.integers(-8, 8, (k, d)).astype(np.float32)
    n0 = np.zeros((k, 1), np.float32)
    session = loopc.InferenceSession(_make(n, d, k, is_open, axis))
    for trips in (0, 1, 3):
        feeds = {"M": np.array(trips), "c": c, "x": x, "k": np.array(k), "s0": s0, "n0": n0}
        sums, count = session.run(None, feeds)
        wanted, number = _expect(trips, c, x, s0, n0)
        np.testing.assert_array_equal(sums, wanted)
        np.testing.assert_array_equal(count, number)


@pytest.mark.parametrize("is_open", [False, True], ids=["fixed", "open"])
@pytest.mark.parametrize("special", [np.nan, np.inf, -np.inf])
def test_special_numbers(special: float, is_open: bool) -> None:
    """0 times what is no number is none: an element counts in all classes."""
    n, d, k = 64, 4, 8
    numbers = np.random.default_rng(1)
    c = numbers.integers(0, k, n)
    x = numbers.integers(-8, 8, (n, d)).astype(np.float32)
    x[17, 2] = special
    s0, n0 = np.zeros((k, d), np.float32), np.zeros((k, 1), np.float32)
    feeds = {"M": np.array(1), "c": c, "x": x, "k": np.array(k), "s0": s0, "n0": n0}
    sums, count = loopc.InferenceSession(_make(n, d, k, is_open, 0)).run(None, feeds)
    wanted, number = _expect(1, c, x, s0, n0)
    np.testing.assert_array_equal(sums, wanted)
    np.testing.assert_array_equal(count, number)


def test_numbers_of_classes() -> None:
    """Only the run knows the depth: none, one, and larger than all numbers of classes."""
    session = loopc.InferenceSession(_make(0, 0, 0, True, 0))
    numbers = np.random.default_rng(2)
    for k in (1, 2, 1000, 0):
        c = numbers.integers(-3, 3, 50)
        x = numbers.integers(-8, 8, (50, 2)).astype(np.float32)
        s0, n0 = np.ones((k, 2), np.float32), np.zeros((k, 1), np.float32)
        feeds = {"M": np.array(2), "c": c, "x": x, "k": np.array(k), "s0": s0, "n0": n0}
        sums, count = session.run(None, feeds)
        wanted, number = _expect(2, c, x, s0, n0)
        np.testing.assert_array_equal(sums, wanted)
        np.testing.assert_array_equal(count, number)


K_MEANS = """<ir_version: 10, opset_import: ["": 21]>
g (float[{n},4] x, float[{k},4] c) => (int64[{n}] place, float[{n}] far)
    <int64[1] zero = {{0}}, int64[1] one = {{1}}, int64[1] two = {{2}}> {{
  rows = Unsqueeze(x, one)
  centres = Unsqueeze(c, zero)
  gap = Sub(rows, centres)
  square = Mul(gap, gap)
  all = ReduceSum <keepdims = 0> (square, two)
  place = {op} <axis = 1, keepdims = 0> (all)
  far = {reduce} <keepdims = 0> (all, one)
}}
"""


@pytest.mark.parametrize("is_open", [False, True], ids=["fixed", "open"])
@pytest.mark.parametrize("op", ["ArgMin", "ArgMax"])
def test_places_of_extrema(op: str, is_open: bool) -> None:
    """The first of equal ones, and the first that is no number, as numbers of 64 bits."""
    n, k = 70, 9
    x = np.random.default_rng(3).integers(-3, 3, (n, 4)).astype(np.float32)
    c = np.random.default_rng(4).integers(-3, 3, (k, 4)).astype(np.float32)
    c[6] = c[2]
    x[5] = np.nan
    names = {"n": "N", "k": "K"} if is_open else {"n": n, "k": k}
    text = K_MEANS.format(op=op, reduce=op.replace("Arg", "Reduce"), **names)
    session = loopc.InferenceSession(onnx.parser.parse_model(text))
    for inputs in (c, np.where(np.arange(k)[:, None] % 4 == 3, np.nan, c).astype(np.float32)):
        place, far = session.run(None, {"x": x, "c": inputs})
        square = ((x[:, None] - inputs) ** 2).sum(2)
        find = np.argmin if op == "ArgMin" else np.argmax
        assert place.dtype == np.int64
        np.testing.assert_array_equal(place, find(square, 1))
        np.testing.assert_array_equal(
            far, np.take_along_axis(square, find(square, 1)[:, None], 1)[:, 0]
        )
