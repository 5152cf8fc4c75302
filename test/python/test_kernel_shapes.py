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

#: Keys and values of all steps so far, which each step attends to; `{stop}` ends it.
CACHE = """(int64 M, float[B, T, D] k0, float[B, T, D] v0, float[B, 1, D] q0, float limit) => (float[B, U, D] k, float[B, 1, D] q) {{
  cond = Constant<value: tensor = bool {{1}}>()
  k, v, q = Loop(M, cond, k0, v0, q0) <body = body (int64 i, bool c, float[B, P, D] pk, float[B, P, D] pv, float[B, 1, D] x)
      => (bool go, float[B, P1, D] nk, float[B, P1, D] nv, float[B, 1, D] y) {{
    a = Tanh(x)
    nk = Concat<axis: int = 1>(pk, a)
    nv = Concat<axis: int = 1>(pv, x)
    keys = Transpose<perm: ints = [0, 2, 1]>(nk)
    s = MatMul(x, keys)
    p = Softmax<axis: int = -1>(s)
    o = MatMul(p, nv)
    y = Sub(o, a)
    {stop}
  }}>
}}"""
COUNTED = CACHE.format(stop="go = Identity(c)")
UNTIL_SMALL = CACHE.format(
    stop="""h = Abs(y)
    m = ReduceMax<keepdims: int = 0>(h)
    go = Greater(m, limit)"""
)

#: All tokens so far are read; the next one is appended.
TOKENS = """(int64 M, int64[T] start, float[V, D] table, int64 end) => (int64[U] tokens) {
  cond = Constant<value: tensor = bool {1}>()
  axes = Constant<value: tensor = int64[1] {0}>()
  tokens = Loop(M, cond, start) <body = body (int64 i, bool c, int64[P] before) => (bool go, int64[P1] after) {
    rows = Gather(table, before)
    sum = ReduceSum<keepdims: int = 0>(rows, axes)
    t = Transpose<perm: ints = [1, 0]>(table)
    scores = MatMul(sum, t)
    next = ArgMax<axis: int = 0, keepdims: int = 1>(scores)
    after = Concat<axis: int = 0>(before, next)
    token = Squeeze(next)
    same = Equal(token, end)
    go = Not(same)
  }>
}"""

#: A cell whose extents agree, which only the run tells.
CELL = """(float[B, H] h0, float[B, H] c0, float[T, B, I] xs, float[I, G] w, float[H, G] r, float[G] bias) => (float[B, H] h, float[B, H] c, float[T, B, H] hs) {
  h, c, hs = Scan <num_scan_inputs: int = 1, body = body (float[B, H] ph, float[B, H] pc, float[B, I] x) => (float[B, H] nh, float[B, H] nc, float[B, H] y) {
    a = MatMul(x, w)
    b = MatMul(ph, r)
    s = Add(a, b)
    z = Add(s, bias)
    zi, zo, zf, zc = Split<axis: int = -1, num_outputs: int = 4>(z)
    i = Sigmoid(zi)
    o = Sigmoid(zo)
    f = Sigmoid(zf)
    g = Tanh(zc)
    fc = Mul(f, pc)
    ig = Mul(i, g)
    nc = Add(fc, ig)
    tc = Tanh(nc)
    nh = Mul(o, tc)
    y = Identity(nh)
  }>(h0, c0, xs)
}"""

#: Whether the inner loop ends before its number of trips, no iteration changes.
ENDLESS = """(int64 M, float[n, k] x, float w, int64 first) => (int64 count) {
  cond = Constant<value: tensor = bool {1}>()
  half = Constant<value: tensor = float {0.5}>()
  count = Loop(M, cond, first) <body = body (int64 i, bool c, int64 trips) => (bool go, int64 next) {
    go = Identity(c)
    empty = SequenceEmpty<dtype: int = 1>()
    list = Loop(trips, cond, empty) <body = inner (int64 j, bool d, seq(float[n, k]) l) => (bool on, seq(float[n, k]) m) {
      m = SequenceInsert(l, x)
      on = Greater(w, half)
    }>
    next = SequenceLength(list)
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


@pytest.mark.parametrize("w", [0.4, 0.6])
def test_endless(gpu: Gpu, w: float) -> None:
    """A number of trips without end is no size of memory."""
    feeds = {"M": trips(6), "x": numbers(3, 4), "w": np.float32(w), "first": np.int64(5)}
    check(gpu, parse(ENDLESS), feeds)


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


def cache(steps: int, length: int, limit: float = 0.0) -> Feeds:
    keys, values = numbers(2, length, 5), numbers(2, length, 5, seed=1)
    start = {"k0": keys, "v0": values, "q0": numbers(2, 1, 5, seed=2)}
    return {"M": trips(steps), **start, "limit": np.float32(limit)}


@pytest.mark.parametrize("form", ["kernel", "graph"])
@pytest.mark.parametrize("length", [0, 1, 6])
def test_cache(gpu: Gpu, length: int, form: str) -> None:
    """What a known number of iterations appends to has a bound."""
    counts = [launches(gpu, COUNTED, cache(steps, length), form) for steps in (0, 1, 5, 30)]
    if gpu.counts:
        assert len(set(counts[1:])) == 1


@pytest.mark.parametrize(("steps", "limit"), [(0, -1), (3, -1), (80, -1), (2**63 - 1, 0.25)])
def test_cache_until(gpu: Gpu, steps: int, limit: float) -> None:
    """Where a condition ends it, the host makes room each time that is used up."""
    count = launches(gpu, UNTIL_SMALL, cache(steps, 1, limit), "kernel")
    assert not gpu.counts or count < 20


@pytest.mark.parametrize("end", [-1, 3])
def test_tokens(gpu: Gpu, end: int) -> None:
    feeds = {"start": np.array([1, 2]), "table": numbers(90, 50), "end": np.array(end)}
    counts = [launches(gpu, TOKENS, {"M": trips(m), **feeds}, "kernel") for m in (1, 2, 60)]
    assert not gpu.counts or counts[2] < 20


@pytest.mark.parametrize("form", ["kernel", "graph"])
@pytest.mark.parametrize(("b", "i", "h"), [(1, 4, 6), (3, 5, 2), (0, 2, 3)])
def test_cell(gpu: Gpu, b: int, i: int, h: int, form: str) -> None:
    counts = []
    for steps in (1, 3, 7):
        feeds = {"h0": numbers(b, h), "c0": numbers(b, h, seed=1), "xs": numbers(steps, b, i)}
        feeds |= {"w": numbers(i, 4 * h), "r": numbers(h, 4 * h), "bias": numbers(4 * h)}
        counts.append(launches(gpu, CELL, feeds, form))
    if gpu.counts and b:
        assert len(set(counts)) == 1


def test_more_buffers_than_parameters(gpu: Gpu) -> None:
    """PTX allows a kernel 32,764 bytes of parameters: other loops are graphs."""
    count = 700
    names = [f"a{k}" for k in range(count)]
    steps = "\n".join(
        f"{name} = {'Mul' if k % 2 else 'Add'}({before}, w{k})"
        for k, (before, name) in enumerate(zip(["s", *names], names, strict=False))
    )
    text = f"""(int64 M, float[3, 9] x) => (float[3, 9] y) {{
      y = Loop(M, "", x) <body = body (int64 i, bool c, float[3, 9] s) => (bool go, float[3, 9] t) {{
        go = Identity(c)
        {steps}
        t = Tanh({names[-1]})
      }}>
    }}"""
    model = parse(text, **{f"w{k}": numbers(1, 9, seed=k) for k in range(count)})
    check(gpu, model, {"M": trips(3), "x": numbers(3, 9)})
