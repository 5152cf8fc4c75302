# ===- test_kernel_branches.py - Loops that take one of two values as kernels -===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Loops whose branches keep a value or make a new one, and loops with a bound that end sooner.

All of it, with the loop around it, needs nothing of the host: on the GPU of test_kernels.py.
"""

from __future__ import annotations

import numpy as np
import pytest
import test_kernels as kernels
from test_kernel_shapes import launches
from test_kernels import Feeds, Gpu, numbers, trips

gpu = kernels.gpu

#: As transducers decode: symbols of a frame until there is none, at most four of them. What the
#: state was stays where the symbol is none.
SYMBOLS = """(float[T, 5] x, float[1, 7] h0, float[7, 7] r, float[5, 7] w, float[7, 6] out, float limit)
    => (float[1, 7] h, float[T, 1, 7] hs, int64[T] numbers) {
  cond = Constant<value: tensor = bool {1}>()
  first = Constant<value: tensor = int64 {0}>()
  most = Constant<value: tensor = int64 {4}>()
  T1 = Shape<start: int = 0, end: int = 1>(x)
  axes = Constant<value: tensor = int64[1] {0}>()
  T0 = Squeeze(T1, axes)
  h, hs, numbers = Loop(T0, "", h0) <body = frame (int64 t, bool c, float[1, 7] s) => (bool go, float[1, 7] sn, float[1, 7] row, int64 n) {
    go = Identity(c)
    xt = Gather<axis: int = 0>(x, t)
    f = MatMul(xt, w)
    sn, best = Loop(most, cond, s) <body = symbol (int64 j, bool d, float[1, 7] q) => (bool more, float[1, 7] qn, float m) {
      a = MatMul(q, r)
      b = Add(a, f)
      u = Tanh(b)
      o = MatMul(u, out)
      m = ReduceMax<keepdims: int = 0>(o)
      more = Greater(m, limit)
      qn = If(more) <
        then_branch = taken () => (float[1, 7] y) { y = Identity(u) },
        else_branch = kept () => (float[1, 7] y) { y = Identity(q) }
      >
    }>
    row = Identity(sn)
    n = Size(best)
  }>
}"""

#: Both branches make a new value, one of them of another one that nobody needs behind it.
RELAXED = """(int64 M, float[9, 9] a, float[9] v) => (float[9] y, float[k] norms) {
  cond = Constant<value: tensor = bool {1}>()
  small = Constant<value: tensor = float {0.02}>()
  tenth = Constant<value: tensor = float {0.1}>()
  zero = Constant<value: tensor = float {0}>()
  y, last, norms = Loop(M, cond, v, zero) <body = step (int64 i, bool c, float[9] s, float before) => (bool go, float[9] t, float now, float kept) {
    p = MatMul(a, s)
    now = ReduceL2<keepdims: int = 0>(p)
    w = Div(p, now)
    d = Sub(now, before)
    e = Abs(d)
    near = Less(e, small)
    t = If(near) <
      then_branch = whole () => (float[9] z) { z = Identity(w) },
      else_branch = part () => (float[9] z) { m = Mul(s, tenth) z = Add(w, m) }
    >
    go = Greater(e, tenth)
    kept = Identity(now)
  }>
}"""

#: The last row, and it alone, is appended in some iterations.
LAST_ROW = """(int64 M, float[n, 3] x) => (float[m, 3] y) {
  cond = Constant<value: tensor = bool {1}>()
  three = Constant<value: tensor = int64 {3}>()
  zero = Constant<value: tensor = int64 {0}>()
  last = Constant<value: tensor = int64[1] {-1}>()
  end = Constant<value: tensor = int64[1] {9223372036854775807}>()
  axes = Constant<value: tensor = int64[1] {0}>()
  y = Loop(M, cond, x) <body = step (int64 i, bool c, float[a, 3] s) => (bool go, float[b, 3] t) {
    go = Identity(c)
    r = Mod(i, three)
    p = Equal(r, zero)
    t = If(p) <
      then_branch = longer () => (float[d, 3] u) { e = Slice(s, last, end, axes) f = Tanh(e) u = Concat<axis: int = 0>(s, f) },
      else_branch = same () => (float[d, 3] u) { u = Neg(s) }
    >
  }>
}"""


def frames(count: int, limit: float) -> Feeds:
    feeds = {"x": numbers(count, 5), "h0": numbers(1, 7, seed=1), "r": numbers(7, 7, seed=2)}
    feeds |= {"w": numbers(5, 7, seed=3), "out": numbers(7, 6, seed=4)}
    return {**feeds, "limit": np.float32(limit)}


@pytest.mark.parametrize("form", ["kernel", "graph"])
@pytest.mark.parametrize("limit", [-9.0, 0.5, 1.0, 9.0])
def test_symbols_of_frames(gpu: Gpu, limit: float, form: str) -> None:
    counts = [launches(gpu, SYMBOLS, frames(count, limit), form) for count in (0, 1, 2, 12)]
    if gpu.counts:
        assert len(set(counts[1:])) == 1


@pytest.mark.parametrize("form", ["kernel", "graph"])
def test_two_new_values(gpu: Gpu, form: str) -> None:
    feeds = {"a": numbers(9, 9) + 3 * np.eye(9, dtype=np.float32), "v": numbers(9, seed=1)}
    text = RELAXED.replace("Loop(M,", "Loop(most,").replace(
        "small =", "most = Constant<value: tensor = int64 {40}>()\n  small =", 1
    )
    assert not gpu.counts or launches(gpu, text, {"M": trips(0), **feeds}, form) < 5
    # Where the run knows the bound, what is collected grows between kernels.
    for count in (1, 7):
        launches(gpu, RELAXED, {"M": trips(count), **feeds}, form)


@pytest.mark.parametrize("form", ["kernel", "graph"])
@pytest.mark.parametrize("rows", [0, 1, 5])
def test_last_rows(gpu: Gpu, rows: int, form: str) -> None:
    """The bound is one row for each iteration, though the slice goes to an end far away."""
    counts = []
    for count in (0, 1, 2, 9, 80):
        feeds = {"M": trips(count), "x": numbers(rows, 3)}
        counts.append(launches(gpu, LAST_ROW, feeds, form))
    if gpu.counts:
        assert len(set(counts[1:])) == 1
