# ===- test_shifted_fields.py - Stencils by slices --------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Loops that shift what they carry by Slice with Concat or Pad, whose sums are split into pieces."""

from __future__ import annotations

import loopc
import numpy as np
import onnx.parser
import pytest

MODEL = """<ir_version: 10, opset_import: ["": 22]>
g (float[{rows},{columns}] x, int64 n) => (float[{rows},{columns}] y) {{
  y = Loop <body = b (int64 i, bool k, float[{rows},{columns}] u) => (bool k2, float[{rows},{columns}] w)
      <int64[1] zero = {{0}}, int64[1] one = {{1}}, int64[1] last = {{-1}}, int64[1] end = {{1000000}},
       int64[1] rows = {{0}}, int64[1] columns = {{1}}, int64[4] above = {{1, 0, 0, 0}}, float part = {{0.25}}> {{
    k2 = Identity(k)
    edge = Slice(u, last, end, columns)
    rest = Slice(u, zero, last, columns)
    right = Concat <axis = 1> (edge, rest)
    back = Slice(right, one, end, columns)
    front = Slice(right, zero, one, columns)
    left = Concat <axis = 1> (back, front)
    upper = Slice(u, zero, last, rows)
    down = Pad(upper, above)
    a = Add(right, left)
    s = Add(a, down)
    w = Mul(s, part)
  }}> (n, "", x)
}}
"""


def expect(x: np.ndarray, n: int) -> np.ndarray:
    for _ in range(n):
        down = np.roll(x, 1, 0)
        down[0] = 0
        x = (np.roll(x, 1, 1) + x + down) * np.float32(0.25)
    return x


@pytest.mark.parametrize("shape", [(32, 48), (2, 300), (300, 2), (17, 31)])
@pytest.mark.parametrize("declared", ["fixed", "open rows", "open"])
def test_values(shape: tuple[int, int], declared: str) -> None:
    rows = shape[0] if declared == "fixed" else "R"
    columns = "C" if declared == "open" else shape[1]
    model = onnx.parser.parse_model(MODEL.format(rows=rows, columns=columns))
    x = np.random.default_rng(sum(shape)).normal(size=shape).astype(np.float32)
    session = loopc.InferenceSession(model)
    for trips in (0, 1, 4):
        (y,) = session.run(None, {"x": x, "n": np.array(trips)})
        np.testing.assert_allclose(y, expect(x, trips), rtol=1e-6, atol=1e-7)


LINE = """<ir_version: 10, opset_import: ["": 22]>
g (float[{extent}] x, int64 n) => (float[{extent}] y)
    <int64[1] zero = {{0}}, int64[1] one = {{1}}, int64[1] last = {{-1}}, int64[1] end = {{1000000}}> {{
  y = Loop <body = b (int64 i, bool k, float[{extent}] u) => (bool k2, float[{extent}] w)
      <float part = {{0.25}}> {{
    k2 = Identity(k)
    a = Slice(u, last, end, zero)
    b = Slice(u, zero, last, zero)
    right = Concat <axis = 0> (a, b)
    c = Slice(u, one, end, zero)
    d = Slice(u, zero, one, zero)
    left = Concat <axis = 0> (c, d)
    s = Add(right, left)
    t = Sub(u, s)
    w = Mul(t, part)
  }}> (n, "", x)
}}
"""


@pytest.mark.parametrize("length", [1, 2, 3, 16, 17, 100, 1000])
@pytest.mark.parametrize("extent", ["fixed", "N"])
def test_line_that_wraps_around(length: int, extent: str) -> None:
    """Both cuts are where only the run knows; for two elements they are one."""
    session = loopc.InferenceSession(
        onnx.parser.parse_model(LINE.format(extent=length if extent == "fixed" else extent))
    )
    x = np.random.default_rng(length).normal(size=length).astype(np.float32)
    counts = set()
    for trips in (0, 1, 5, 50):
        (y,) = session.run(None, {"x": x, "n": np.array(trips)})
        counts.add(session.last_run_statistics.allocations)
        expected = x
        for _ in range(trips):
            neighbours = np.roll(expected, 1) + np.roll(expected, -1)
            expected = (expected - neighbours) * np.float32(0.25)
        np.testing.assert_allclose(y, expected, rtol=1e-5, atol=1e-7)
    assert len(counts) == 1


COUNTED = """<ir_version: 10, opset_import: ["": 22]>
g (int64[{extent}] x, int64 n) => (int64[{extent}] y)
    <int64[1] zero = {{0}}, int64[1] last = {{-1}}, int64 none = {{0}}, int64 one = {{1}}, int64[1] first = {{7}}> {{
  y = Loop <body = b (int64 i, bool k, int64[{extent}] u) => (bool k2, int64[{extent}] w) {{
    k2 = Identity(k)
    rest = Slice(u, zero, last, zero)
    shifted = Concat <axis = 0> (first, rest)
    shape = Shape(u)
    size = Squeeze(shape)
    place = Range(none, size, one)
    is_behind = Greater(place, i)
    more = Add(shifted, place)
    w = Where(is_behind, more, u)
  }}> (n, "", x)
}}
"""


@pytest.mark.parametrize("length", [1, 2, 64, 65, 129, 513])
@pytest.mark.parametrize("extent", ["fixed", "N"])
def test_shifts_beside_numbers_of_elements(length: int, extent: str) -> None:
    """What is put in front is the same in each iteration, and no more of the field is copied."""
    session = loopc.InferenceSession(
        onnx.parser.parse_model(COUNTED.format(extent=length if extent == "fixed" else extent))
    )
    x = np.arange(length) * 3
    for trips in (0, 1, 4):
        (y,) = session.run(None, {"x": x, "n": np.array(trips)})
        expected, place = x, np.arange(length)
        for i in range(trips):
            shifted = np.concatenate([[7], expected[:-1]])
            expected = np.where(place > i, shifted + place, expected)
        np.testing.assert_array_equal(y, expected)


PADDED = """<ir_version: 10, opset_import: ["": 22]>
g (float[{rows},{columns}] x, float[{rows},{columns}] z, int64 n, float limit)
    => (float[{rows},{columns}] y, float[{rows},{columns}] v, float[T,{rows},{columns}] all)
    <int64[4] pads = {{1, 2, 1, 0}}, float edge = {{3.0}}, int64[2] axes = {{0, 1}}, int64[2] up = {{0, 0}}, int64[2] down = {{2, 2}},
     int64[2] far = {{-2, -2}}, int64[2] end = {{1000000, 1000000}}, float half = {{0.5}}, bool yes = {{1}}> {{
  y, v, all = Loop <body = b (int64 i, bool k, float[{rows},{columns}] u, float[{rows},{columns}] s)
      => (bool k2, float[{rows},{columns}] w, float[{rows},{columns}] t, float[{rows},{columns}] c) {{
    p = Pad(u, pads, edge)
    above = Slice(p, up, far, axes)
    below = Slice(p, down, end, axes)
    a = Add(above, below)
    h = Mul(a, half)
    w = Sub(h, u)
    {other}
    c = Add(w, s)
    most = ReduceMax <keepdims = 0> (u)
    k2 = Less(most, limit)
  }}> (n, yes, x, z)
}}
"""

#: What becomes of the second field: it is computed of neighbours, or it is the first one of before.
SECONDS = {
    "padded": "q = Pad(s, pads, edge)\n low = Slice(q, down, end, axes)\n t = Add(low, h)",
    "delayed": "t = Identity(u)",
}


def _expect_padded(
    x: np.ndarray, z: np.ndarray, n: int, limit: float, second: str
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    u, s, collected = x, z, []

    def pad(field: np.ndarray) -> np.ndarray:
        return np.pad(field, ((1, 1), (2, 0)), constant_values=np.float32(3))

    for _ in range(n):
        p = pad(u)
        h = (p[:-2, :-2] + p[2:, 2:]) * np.float32(0.5)
        w = h - u
        t = pad(s)[2:, 2:] + h if second == "padded" else u
        collected.append(w + s)
        goes_on = u.max() < limit
        u, s = w, t
        if not goes_on:
            break
    return u, s, np.array(collected).reshape(-1, *x.shape)


@pytest.mark.parametrize("second", SECONDS)
@pytest.mark.parametrize("shape", [(5, 7), (1, 1), (64, 33), (3, 300)])
@pytest.mark.parametrize("declared", ["fixed", "open"])
def test_padded_fields(shape: tuple[int, int], declared: str, second: str) -> None:
    """Fields that iterations put into their padding: none is copied, and the borders stay."""
    rows, columns = ("R", "C") if declared == "open" else shape
    text = PADDED.format(rows=rows, columns=columns, other=SECONDS[second])
    session = loopc.InferenceSession(onnx.parser.parse_model(text))
    numbers = np.random.default_rng(sum(shape))
    # Halves of halves of small numbers are exact.
    x, z = (numbers.integers(-4, 4, shape).astype(np.float32) for _ in range(2))
    for trips, limit in [(0, 1e9), (1, 1e9), (2, 1e9), (5, 1e9), (5, -1e9), (7, 12)]:
        given = {"x": x, "z": z, "n": np.array(trips), "limit": np.float32(limit)}
        wanted = _expect_padded(x, z, trips, limit, second)
        y, v, collected = session.run(None, given)
        np.testing.assert_array_equal(y, wanted[0])
        np.testing.assert_array_equal(v, wanted[1])
        # Of no iteration only the number of values is known.
        np.testing.assert_array_equal(collected, wanted[2] if trips else collected[:0])
