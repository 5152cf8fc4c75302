# ===- test_kernel_shapes.py - Loops with shapes of the run as kernels --------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Loops in which values have shapes that only the run knows, on the GPU of test_kernels.py.

Their memory is set aside before they begin: the host is not in the loop.
"""

from __future__ import annotations

import loopc
import numpy as np
import pytest
import test_kernels as kernels
from test_kernels import Feeds, Gpu, check, numbers, parse, trips

gpu = kernels.gpu

#: A carried value that may become wider in an iteration, by broadcasting.
BROADCAST = """(int64 M, float[n] x, float[k] w) => (float[m] y, float[l] z) {
  cond = Constant<value: tensor = bool {1}>()
  y, z = Loop(M, cond, x, w) <body = body (int64 i, bool c, float[a] s, float[b] r) => (bool go, float[d] t, float[e] q) {
    go = Identity(c)
    p = Mul(s, w)
    t = Add(p, x)
    q = Sub(r, s)
  }>
}"""

#: Branches whose results have different shapes; the carried value goes on as it is now and then.
BRANCHES = """(int64 M, float[n] x, float[k] z) => (float[n] y, float[m] v, float[M] sums) {
  cond = Constant<value: tensor = bool {1}>()
  axes = Constant<value: tensor = int64[1] {0}>()
  three = Constant<value: tensor = int64 {3}>()
  zero = Constant<value: tensor = int64 {0}>()
  y, v, sums = Loop(M, cond, x, z) <body = body (int64 i, bool c, float[n] s, float[h] g) => (bool go, float[n] t, float[j] f, float u) {
    go = Identity(c)
    r = Mod(i, three)
    p = Equal(r, zero)
    q = If(p) <
      then_branch = yes () => (float[p1] a) { a = Abs(s) },
      else_branch = no () => (float[p2] a) { b = Concat<axis: int = 0>(s, z) a = Neg(b) }
    >
    f = If(p) <
      then_branch = yes () => (float[p3] d) { d = Add(x, q) },
      else_branch = no () => (float[p4] d) { d = Identity(g) }
    >
    e = ReduceSum<keepdims: int = 0>(q, axes)
    o = ReduceSum<keepdims: int = 0>(f, axes)
    u = Add(e, o)
    w = Mul(s, u)
    t = Tanh(w)
  }>
}"""

#: A test in front of each iteration, with a buffer that changes its length.
UNTIL = """(float[n] x, float[k] w, float limit) => (float[m] y) {
  cond = Constant<value: tensor = bool {1}>()
  axes = Constant<value: tensor = int64[1] {0}>()
  half = Constant<value: tensor = float {0.5}>()
  y = Loop("", cond, x) <body = body (int64 i, bool c, float[a] s) => (bool go, float[b] t) {
    p = Mul(s, half)
    t = Mul(p, w)
    h = Abs(t)
    e = ReduceMax<keepdims: int = 0>(h, axes)
    go = Greater(e, limit)
  }>
}"""

GROWING = """(int64 M, float[n] x) => (float[m] y) {
  cond = Constant<value: tensor = bool {1}>()
  y = Loop(M, cond, x) <body = body (int64 i, bool c, float[a] s) => (bool go, float[b] t) {
    go = Identity(c)
    r = Neg(s)
    p = Concat<axis: int = 0>(r, s)
    t = Tanh(p)
  }>
}"""


def launches(gpu: Gpu, text: str, feeds: Feeds, form: str) -> int:
    before = kernels.count_launches(gpu)
    check(gpu, parse(text), feeds, rtol=1e-4, device_loops=form)
    return kernels.count_launches(gpu) - before


@pytest.mark.parametrize("form", ["kernel", "graph"])
@pytest.mark.parametrize(("n", "k"), [(1, 1), (1, 40), (40, 1), (40, 40), (1, 0)])
def test_broadcast(gpu: Gpu, n: int, k: int, form: str) -> None:
    counts = []
    for count in (0, 1, 2, 9):
        feeds = {"M": trips(count), "x": numbers(n), "w": numbers(k, seed=1) / 2}
        counts.append(launches(gpu, BROADCAST, feeds, form))
    if gpu.counts:
        assert len(set(counts[1:])) == 1


@pytest.mark.parametrize("form", ["kernel", "graph"])
@pytest.mark.parametrize(("n", "k"), [(1, 1), (30, 20), (20, 30), (5, 0), (300, 700)])
def test_branches(gpu: Gpu, n: int, k: int, form: str) -> None:
    counts = []
    for count in (0, 1, 2, 3, 4, 8):
        # What the branch adds has one extent, or the model is wrong.
        feeds = {"M": trips(count), "x": numbers(n) / 50, "z": numbers(k, seed=1) / 50}
        counts.append(launches(gpu, BRANCHES, feeds, form))
    if gpu.counts:
        assert len(set(counts[1:])) == 1


@pytest.mark.parametrize("form", ["kernel", "graph"])
@pytest.mark.parametrize(("n", "k"), [(1, 60), (60, 1), (60, 60)])
def test_until(gpu: Gpu, n: int, k: int, form: str) -> None:
    feeds = {"x": numbers(n), "w": numbers(k, seed=1) / 3, "limit": np.float32(1e-9)}
    assert not gpu.counts or launches(gpu, UNTIL, feeds, form) < 8


def test_error(gpu: Gpu) -> None:
    """What does not broadcast ends the run with the CPU's words."""
    model = parse(BROADCAST)
    feeds = {"M": trips(3), "x": numbers(4), "w": numbers(5)}
    with pytest.raises(loopc.RunError) as expected:
        loopc.InferenceSession(model).run(None, feeds)
    assert gpu.run(model, feeds) == str(expected.value)


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_parts_of_results(gpu: Gpu, axis: int) -> None:
    """Results that are views of something larger come back in C order."""
    model = parse(
        f"""(float[n, m, k] x, int64[2] parts) => (float[a, b, c] y, float[d, e, f] z) {{
          t = Tanh(x)
          y, z = Split<axis: int = {axis}>(t, parts)
        }}"""
    )
    shape = [5, 6, 7]
    parts = np.array([2, shape[axis] - 2])
    check(gpu, model, {"x": numbers(*shape), "parts": parts})


def test_no_bound(gpu: Gpu) -> None:
    """What doubles with each iteration has no bound: the host allocates."""
    feeds = {"M": trips(7), "x": numbers(3)}
    counts = [launches(gpu, GROWING, {**feeds, "M": trips(count)}, "kernel") for count in (2, 7)]
    assert not gpu.counts or counts[0] < counts[1]
