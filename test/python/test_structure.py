# ===- test_structure.py - What runs cost in memory -------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Allocations, copies and peaks of loops, counted by the runtime."""

import loopc
import numpy as np
import onnx.parser
import pytest


def session(text, opset=21):
    model = onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["" : {opset}]>\n{text}')
    return loopc.InferenceSession(model.SerializeToString())


def run(compiled, **feeds):
    """Outputs and counts of one run; nothing that it allocated is left behind but its outputs."""
    outputs = compiled.run(None, feeds)
    counts = compiled.last_run_statistics
    assert counts.allocations - counts.deallocations <= len(outputs)
    return outputs, counts


def i64(value):
    return np.array(value, np.int64)


FIXED_SHAPE = """
fixed (int64 n, float[{size}] x, float[{size}] y) => (float[{size}] z) {{
  z = Loop <body = step (int64 i, bool go, float[{size}] before)
    => (bool go, float[{size}] after) {{
      sum = Add (before, y)
      half = Tanh (sum)
      after = Mul (half, sum)
    }}> (n, "", x)
}}"""


@pytest.mark.parametrize("size", ["64", "N"])
def test_fixed_shape_allocates_nothing_per_iteration(size):
    compiled = session(FIXED_SHAPE.format(size=size))
    x, y = np.linspace(-1, 1, 64, dtype=np.float32), np.full(64, 0.5, np.float32)
    counts = {}
    for n in (0, 1, 2, 1000):
        (z,), counts[n] = run(compiled, n=i64(n), x=x, y=y)
        expected = x
        for _ in range(n):
            expected = np.tanh(expected + y) * (expected + y)
        np.testing.assert_allclose(z, expected, rtol=1e-4, atol=1e-6)
    assert counts[0].allocations == counts[1000].allocations
    assert counts[0].peak_bytes == counts[1000].peak_bytes


def test_dimensions_of_one_name_are_one():
    """A state whose dimensions other inputs have, too, is written in place; its rows are summed up."""
    compiled = session("""
    scan (float[L,D] x, float[D,N] A, float[L,N] B, float[D,N] h0) => (float[D,N] h, float[L,D] ys) {
      h, ys = Scan <num_scan_inputs = 2, body = step (float[D,N] p, float[D] u, float[N] v)
        => (float[D,N] n, float[D] y) {
          last = Constant <value = int64[1] {-1}> ()
          column = Unsqueeze (u, last)
          decay = Mul (column, A)
          factor = Exp (decay)
          kept = Mul (factor, p)
          new = Mul (column, v)
          n = Add (kept, new)
          shown = Mul (n, v)
          y = ReduceSum <keepdims = 0> (shown, last)
        }> (h0, x, B)
    }""")
    random = np.random.default_rng(0)
    allocations = set()
    for length in (1, 2, 100):
        x, b = random.uniform(0, 0.1, (length, 5)), random.standard_normal((length, 19))
        a, h = -random.uniform(0, 1, (5, 19)), random.standard_normal((5, 19))
        feeds = {"x": x, "A": a, "B": b, "h0": h}
        outputs, counts = run(compiled, **{k: v.astype(np.float32) for k, v in feeds.items()})
        rows = []
        for u, v in zip(x, b, strict=True):
            h = np.exp(u[:, None] * a) * h + u[:, None] * v
            rows.append((h * v).sum(-1))
        np.testing.assert_allclose(outputs[0], h, 1e-4, 1e-5)
        np.testing.assert_allclose(outputs[1], np.stack(rows), 1e-4, 1e-5)
        allocations.add(counts.allocations)
    assert len(allocations) == 1


def test_permuted_values_are_not_copied():
    compiled = session("""
    permuted (int64 n, float[A] x, float[B] y, float[C] z) => (float[P] u, float[Q] v, float[R] w) {
      u, v, w = Loop <body = turn (int64 i, bool go, float[?] a, float[?] b, float[?] c)
        => (bool go, float[?] b, float[?] c, float[?] a) {
        }> (n, "", x, y, z)
    }""")
    values = [np.arange(size, dtype=np.float32) for size in (1000, 2000, 3000)]
    counts = {}
    for n in (0, 1, 2, 3000):
        outputs, counts[n] = run(compiled, n=i64(n), x=values[0], y=values[1], z=values[2])
        for k, output in enumerate(outputs):
            np.testing.assert_array_equal(output, values[(k + n) % 3])
    for n in (1, 2, 3000):
        assert counts[n].allocations == counts[0].allocations
        assert counts[n].copied_bytes == counts[0].copied_bytes


def test_memory_of_collected_values_follows_the_trips_run():
    """M = INT64_MAX: never a row for each of M trips."""
    compiled = session("""
    until (float end, float[64] x) => (float[T,64] all) {
      m = Constant <value = int64 {9223372036854775807}> ()
      zero = Constant <value = float {0.0}> ()
      one = Constant <value = float {1.0}> ()
      start = Less (zero, end)
      last, all = Loop (m, start, zero) <body = step (int64 i, bool go, float before)
        => (bool more, float after, float[64] row) {
          after = Add (before, one)
          row = Mul (x, before)
          more = Less (after, end)
        }>
    }""")
    x = np.arange(64, dtype=np.float32)
    peaks = {}
    for trips in (0, 1, 2, 100, 1000):
        (everything,), counts = run(compiled, end=np.array(trips, np.float32), x=x)
        np.testing.assert_array_equal(everything, np.outer(np.arange(trips, dtype=np.float32), x))
        peaks[trips] = counts.peak_bytes
        # While the buffer is doubled there are the old one and the new one.
        assert counts.peak_bytes <= 3 * trips * x.nbytes + 4096
        assert counts.allocations <= 8 + 2 * max(trips, 1).bit_length()
    assert peaks[1000] > peaks[100] > peaks[1]


def test_rows_between_computed_ends_are_not_copied():
    """x[t] as Slice and Squeeze: what has its batch does not change its shape from trip to trip."""
    compiled = session("""
    rows (int64 n, float[T,B,3] x, float[B,3] h0) => (float[B,3] h) {
      axis = Constant <value = int64[1] {0}> ()
      great = Constant <value = float[1] {1e9}> ()
      step = Constant <value = int64[1] {1000000000}> ()
      one = Constant <value = int64 {1}> ()
      h = Loop <body = step (int64 i, bool go, float[R,3] before) => (bool go, float[S,3] after) {
          from = Unsqueeze (i, axis)
          next = Add (from, one)
          nextf = Cast <to = 1> (next)
          endf = Max (nextf, great)
          end = Cast <to = 7> (endf)
          rows = Slice (x, from, end, axis, step)
          row = Squeeze (rows, axis)
          sum = Add (before, row)
          after = Tanh (sum)
        }> (n, "", h0)
    }""")
    x, h = (
        np.linspace(-1, 1, 20 * 2 * 3, dtype=np.float32).reshape(20, 2, 3),
        np.float32([[0] * 3] * 2),
    )
    allocations = set()
    for n in (1, 2, 20):
        (got,), counts = run(compiled, n=i64(n), x=x, h0=h)
        expected = h
        for row in x[:n]:
            expected = np.tanh(expected + row)
        np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-6)
        allocations.add(counts.allocations)
    assert len(allocations) == 1
    with pytest.raises(loopc.RunError, match="axis 0 has extent 0, not 1, and is not squeezed"):
        run(compiled, n=i64(21), x=x, h0=h)


def test_if_on_scalars_allocates_nothing_per_iteration():
    compiled = session("""
    collatz (int64 n, int64 x) => (int64 y) {
      two = Constant <value = int64 {2}> ()
      one = Constant <value = int64 {1}> ()
      three = Constant <value = int64 {3}> ()
      zero = Constant <value = int64 {0}> ()
      y = Loop <body = step (int64 i, bool go, int64 a) => (bool go, int64 b) {
          rest = Mod (a, two)
          even = Equal (rest, zero)
          b = If (even) <
            then_branch = halve () => (int64 h) { h = Div (a, two) },
            else_branch = triple () => (int64 t) { m = Mul (a, three) t = Add (m, one) }>
        }> (n, "", x)
    }""")
    allocations = set()
    for n, expected in ((0, 7), (1, 22), (2, 11), (16, 1)):
        (y,), counts = run(compiled, n=i64(n), x=i64(7))
        assert y == expected
        allocations.add(counts.allocations)
    assert len(allocations) == 1
