# ===- elementwise.py - Loops over elements, iterations inside -===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Bodies that compute each element from itself: sizes around a vector's, types, broadcasts, and what must not be mistaken for them."""

from __future__ import annotations

import numpy as np

from loop_models.registry import f32, graph, i32, i64, loop_model, ramp, run


@loop_model("loop_order", rtol=1e-4, atol=1e-6)
def elements_of_all_sizes():
    """One more, one less than whole vectors, and none."""
    return graph("""(int64 M, float[N] x, float[N] c, float s) => (float[N] y) {
        y = Loop <body = g (int64 i, bool k, float[N] v) => (bool k, float[N] v1) {
            p = Mul(v, s)
            q = Add(p, c)
            v1 = Exp(q)
        }> (M, "", x)
    }"""), [
        run(f"n{n}_m{m}", {"M": i64(m), "x": ramp(n) / 200, "c": -ramp(n) / 300, "s": f32(0.5)})
        for n in (0, 1, 7, 16, 63, 64, 65, 129)
        for m in (0, 1, 5)
    ]


@loop_model("loop_order", "loop_parallel_assign")
def elements_of_two_types():
    """Floats and counts, swapped values, a result that nobody reads."""
    return graph("""(int64 M, float[R,C] x, float[R,C] y, float limit) => (float[R,C] a, int32[R,C] n) {
        zero = Constant<value = float {0.0}>()
        z = Mul(x, zero)
        n0 = Cast<to = 6>(z)
        a, b, n = Loop <body = g (int64 i, bool k, float[R,C] p, float[R,C] q, int32[R,C] m) => (bool k, float[R,C] q, float[R,C] p1, int32[R,C] m1) {
            s = Add(p, q)
            less = Less(s, limit)
            p1 = Where(less, s, p)
            one = Cast<to = 6>(less)
            m1 = Add(m, one)
        }> (M, "", x, y, n0)
    }"""), [
        run(f"{r}x{c}_m{m}", {"M": i64(m), "x": ramp(r, c), "y": ramp(r, c, start=1), "limit": f32(50)})
        for r, c in ((3, 5), (1, 64), (9, 17), (0, 4))
        for m in (0, 1, 6)
    ]  # fmt: skip


@loop_model("loop_order")
def elements_of_rows():
    """A row, a column and the iteration number go into every element."""
    return graph("""(int64 M, float[R,C] x, float[C] row, float[R,1] column) => (float[R,C] y) {
        y = Loop <body = g (int64 i, bool k, float[R,C] v) => (bool k, float[R,C] v1) {
            f = Cast<to = 1>(i)
            p = Mul(v, row)
            q = Add(p, column)
            v1 = Sub(q, f)
        }> (M, "", x)
    }"""), [
        run(f"{r}x{c}_m{m}", {"M": i64(m), "x": ramp(r, c), "row": ramp(c) / 16, "column": ramp(r, 1)})
        for r, c in ((3, 5), (2, 70), (5, 16))
        for m in (0, 1, 3)
    ]  # fmt: skip


@loop_model("loop_order")
def elements_of_integers():
    """Integer division must not see what pads a vector; 8-bit values wrap."""
    return graph("""(int64 M, int32[N] x, int32[N] d, uint8[N] b) => (int32[N] y, uint8[N] c) {
        y, c = Loop <body = g (int64 i, bool k, int32[N] v, uint8[N] w) => (bool k, int32[N] v1, uint8[N] w1) {
            v1 = Div(v, d)
            w1 = Add(w, w)
        }> (M, "", x, b)
    }"""), [
        run(
            f"n{n}_m{m}",
            {
                "M": i64(m),
                "x": i32(np.arange(n) * 100),
                "d": i32(np.arange(n) % 3 + 1),
                "b": np.arange(n, dtype=np.uint8),
            },
        )
        for n in (3, 65)
        for m in (0, 2)
    ]


@loop_model("loop_order", "loop_parallel_assign")
def elements_that_move():
    """Each element from its transposed one: no tile is on its own."""
    return graph("""(int64 M, float[N,N] x, float s) => (float[N,N] y) {
        y = Loop <body = g (int64 i, bool k, float[N,N] v) => (bool k, float[N,N] v1) {
            t = Transpose<perm = [1, 0]>(v)
            p = Mul(t, s)
            v1 = Add(p, v)
        }> (M, "", x)
    }"""), [run(f"m{m}", {"M": i64(m), "x": ramp(17, 17), "s": f32(0.5)}) for m in (0, 1, 4)]


@loop_model("loop_order")
def elements_in_nested_loops():
    """The inner loop is over elements; the outer one reads a sum of them."""
    return graph("""(int64 M, int64 N, float[K] x) => (float[K] y, float total) {
        zero = Constant<value = float {0.0}>()
        half = Constant<value = float {0.5}>()
        y, total = Loop <body = outer (int64 i, bool c, float[K] v, float t) => (bool c, float[K] v1, float t1) {
            v1 = Loop <body = inner (int64 j, bool d, float[K] u) => (bool d, float[K] u1) {
                p = Mul(u, half)
                u1 = Add(p, x)
            }> (N, "", v)
            s = ReduceSum<keepdims = 0>(v1)
            t1 = Add(t, s)
        }> (M, "", x, zero)
    }"""), [
        run(f"m{m}_n{n}", {"M": i64(m), "N": i64(n), "x": ramp(21)})
        for m in (0, 1, 3)
        for n in (0, 2)
    ]
