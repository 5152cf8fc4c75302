# ===- nested.py - Loops in loops -===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Two, three and ten loops deep, with captures at several levels."""

import numpy as np

from loop_models.registry import f32, graph, i64, loop_model, ramp, run


@loop_model("loop_capture", "loop_carried")
def two_deep():
    """for i: for j: v += x[i] * w[j]; collects a row of partial sums for each i."""
    return graph("""(float[N] x, float[K] w) => (float total, float[?,?] rows) {
        n = Size(x)
        k = Size(w)
        zero = Constant<value = float {0.0}>()
        total, rows = Loop <body = b (int64 i, bool c, float v) => (bool c1, float v1, float[?] row) {
            c1 = Identity(c)
            xi = Gather(x, i)
            v1, row = Loop <body = d (int64 j, bool e, float u) => (bool e1, float u1, float p) {
                e1 = Identity(e)
                wj = Gather(w, j)
                q = Mul(xi, wj)
                u1 = Add(u, q)
                p = Identity(u1)
            }> (k, "", v)
        }> (n, "", zero)
    }"""), [
        run("outer_zero", {"x": f32([]), "w": f32([1, 2])}, [f32(0), np.zeros((0, 0), np.float32)]),
        run("inner_zero", {"x": f32([1, 2]), "w": f32([])}, [f32(0), np.zeros((2, 0), np.float32)]),
        run(
            "two_three",
            {"x": f32([1, 2]), "w": f32([1, 10, 100])},
            [f32(333), f32([[1, 11, 111], [113, 133, 333]])],
        ),
    ]


@loop_model("loop_capture", "loop_carried")
def triangular():
    """The inner trip count is the outer iteration number."""
    return graph("""(int64 M) => (int64 s, int64[?] counts) {
        zero = Constant<value = int64 {0}>()
        s, counts = Loop <body = b (int64 i, bool c, int64 v) => (bool c1, int64 v1, int64 w) {
            c1 = Identity(c)
            v1 = Loop <body = d (int64 j, bool e, int64 u) => (bool e1, int64 u1) {
                e1 = Identity(e)
                p = Mul(i, j)
                u1 = Add(u, p)
            }> (i, "", v)
            w = Identity(v1)
        }> (M, "", zero)
    }"""), [
        run("zero", {"M": i64(0)}, [i64(0), i64([])]),
        run("one", {"M": i64(1)}, [i64(0), i64([0])]),
        run("five", {"M": i64(5)}, [i64(35), i64([0, 0, 2, 11, 35])]),
    ]


@loop_model("loop_capture", "loop_carried", "loop_collect")
def inner_result_outlives():
    """What the inner loop collects becomes the outer loop's carried value."""
    return graph("""(int64 M, float[4,2] x) => (float[4,2] y, float[?,4,2] ys) {
        four = Constant<value = int64 {4}>()
        y, ys = Loop <body = b (int64 i, bool c, float[4,2] v) => (bool c1, float[4,2] rows, float[4,2] v) {
            c1 = Identity(c)
            rows = Loop <body = d (int64 j, bool e) => (bool e1, float[2] r) {
                e1 = Identity(e)
                a = Gather(v, j)
                b = Gather(x, i)
                r = Add(a, b)
            }> (four, "")
        }> (M, "", x)
    }"""), [
        # No zero trips: the shape would hang on whether a constant count is a type.
        run("one", {"M": i64(1), "x": ramp(4, 2)}, [ramp(4, 2) + f32([0, 1]), ramp(1, 4, 2)]),
        run("three", {"M": i64(3), "x": ramp(4, 2)}, [
            ramp(4, 2) + f32([6, 9]), np.stack([ramp(4, 2), ramp(4, 2) + f32([0, 1]), ramp(4, 2) + f32([2, 4])])]),
    ]  # fmt: skip


@loop_model("loop_capture", "loop_carried")
def three_deep():
    """Captures from the graph, the first and the second body in the third."""
    return graph("""(int64 A, int64 B, int64 C, float[2] x) => (float[2] y, float[?,?,?,2] all) {
        y, all = Loop <body = a (int64 i, bool ca, float[2] u) => (bool ca1, float[2] u1, float[?,?,2] us) {
            ca1 = Identity(ca)
            fi = Cast<to = 1>(i)
            xi = Add(x, fi)
            u1, us = Loop <body = b (int64 j, bool cb, float[2] v) => (bool cb1, float[2] v1, float[?,2] vs) {
                cb1 = Identity(cb)
                fj = Cast<to = 1>(j)
                v1, vs = Loop <body = d (int64 k, bool cc, float[2] w) => (bool cc1, float[2] w1, float[2] ws) {
                    cc1 = Identity(cc)
                    s = Add(xi, fj)
                    w1 = Add(w, s)
                    ws = Sub(w1, x)
                }> (C, "", v)
            }> (B, "", u)
        }> (A, "", x)
    }"""), [
        run("a_zero", {"A": i64(0), "B": i64(2), "C": i64(3), "x": f32([1, 2])}),
        run(
            "c_zero",
            {"A": i64(2), "B": i64(2), "C": i64(0), "x": f32([1, 2])},
            [f32([1, 2]), np.zeros((2, 2, 0, 2), np.float32)],
        ),
        run(
            "ones",
            {"A": i64(1), "B": i64(1), "C": i64(1), "x": f32([1, 2])},
            [f32([2, 4]), f32([[[[1, 2]]]])],
        ),
        run("two_three_four", {"A": i64(2), "B": i64(3), "C": i64(4), "x": f32([1, 2])}),
    ]


@loop_model("loop_capture", "loop_test")
def while_in_while():
    """Both loops end by their conditions: counts digits of 1..n in base b."""
    return graph("""(int64 n, int64 b) => (int64 digits) {
        zero = Constant<value = int64 {0}>()
        one = Constant<value = int64 {1}>()
        start = Less(zero, n)
        rest, digits = Loop <body = o (int64 i, bool c, int64 m, int64 s) => (bool c1, int64 m1, int64 s1) {
            go = Less(zero, m)
            last, s1 = Loop <body = p (int64 j, bool e, int64 v, int64 t) => (bool e1, int64 v1, int64 t1) {
                v1 = Div(v, b)
                t1 = Add(t, one)
                e1 = Less(zero, v1)
            }> ("", go, m, s)
            m1 = Sub(m, one)
            c1 = Less(zero, m1)
        }> ("", start, n, zero)
    }"""), [
        run("zero", {"n": i64(0), "b": i64(10)}, [i64(0)]),
        run("nine", {"n": i64(9), "b": i64(10)}, [i64(9)]),
        run("hundred", {"n": i64(100), "b": i64(10)}, [i64(192)]),
        run("binary", {"n": i64(8), "b": i64(2)}, [i64(21)]),
    ]


@loop_model("loop_capture", "loop_carried")
def ten_deep():
    """Ten loops of two trips each: 1024 innermost trips."""
    body = "w9 = Add(v9, x)"
    for k in range(9, 0, -1):
        body = f"""w{k - 1} = Loop <body = b{k} (int64 i{k}, bool c{k}, float[2] v{k})
            => (bool c{k}, float[2] w{k}) {{ {body} }}> (M, "", v{k - 1})"""
    text = f"""(int64 M, float[2] x) => (float[2] y) {{
        y = Loop <body = b0 (int64 i0, bool c0, float[2] v0) => (bool c0, float[2] w0) {{ {body} }}> (M, "", x)
    }}"""
    return graph(text), [
        run(f"m{m}", {"M": i64(m), "x": f32([1, 2])}, [f32([1, 2]) * (1 + m**10)])
        for m in (0, 1, 2)
    ]


@loop_model("loop_carried", "loop_parallel_assign")
def inner_loop_swaps():
    """An inner loop swaps what the outer loop carries, as many times as the trip says."""
    return graph("""(int64 M, float[2] a, float[2] b) => (float[2] x, float[2] y) {
        x, y = Loop <body = o (int64 i, bool c, float[2] p, float[2] q) => (bool c, float[2] p2, float[2] q2) {
            p1, q1 = Loop <body = g (int64 j, bool e, float[2] r, float[2] s) => (bool e, float[2] s, float[2] r) {
            }> (i, "", p, q)
            p2 = Add(p1, a)
            q2 = Identity(q1)
        }> (M, "", a, b)
    }"""), [
        run("zero", {"M": i64(0), "a": f32([1, 2]), "b": f32([3, 4])}, [f32([1, 2]), f32([3, 4])]),
        run("two", {"M": i64(2), "a": f32([1, 2]), "b": f32([3, 4])}, [f32([4, 6]), f32([2, 4])]),
        run("four", {"M": i64(4), "a": f32([1, 2]), "b": f32([3, 4])}, [f32([3, 6]), f32([5, 8])]),
    ]


@loop_model("loop_collect_shape", "loop_zero")
def inner_collection_is_ragged():
    """The inner loop collects i values: the outer may carry the last, not collect them."""
    return graph("""(int64 M, int64[K] x) => (int64[?] last, int64[?,?] all) {
        last, all = Loop <body = o (int64 i, bool c, int64[?] v) => (bool c, int64[?] row, int64[?] w) {
            row = Loop <body = g (int64 j, bool e) => (bool e, int64 p) { p = Mul(i, j) }> (i, "")
            w = Neg(row)
        }> (M, "", x)
    }"""), [
        run("zero", {"M": i64(0), "x": i64([9])}, [i64([9]), np.zeros((0, 0), np.int64)]),
        run("one", {"M": i64(1), "x": i64([9])}, [i64([]), np.zeros((1, 0), np.int64)]),
        run("two", {"M": i64(2), "x": i64([9])}, error=r"(?i)shape"),
    ]
