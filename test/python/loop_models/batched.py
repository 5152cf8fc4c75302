# ===- batched.py - What can be computed for all iterations at once -===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Products of slices with weights, in each form in which they come; some must stay in the loop."""

from __future__ import annotations

import numpy as np

from loop_models.registry import OrtDiffers, f32, graph, i64, loop_model, noise, run

EMPTY_SCAN = OrtDiffers("refuses", "ORT refuses a scan of length 0", ("none",))


def _cells(axis: int = 0) -> dict[str, np.ndarray]:
    xs = np.moveaxis(noise(5, 2, 3, seed=1), 0, axis)
    return {
        "h": noise(2, 4),
        "xs": np.ascontiguousarray(xs),
        "W": noise(3, 4, seed=2),
        "R": noise(4, 4, seed=3),
    }


def _zero(feeds: dict[str, np.ndarray], axis: int = 0) -> dict[str, np.ndarray]:
    return {**feeds, "xs": np.take(feeds["xs"], [], axis)}


@loop_model("loop_slice", rtol=1e-4, atol=1e-6, ort=EMPTY_SCAN)
def cell_by_scan():
    """h = tanh(x W + h R), every dimension unknown."""
    model = graph("""(float[B,H] h, float[T,B,I] xs, float[I,H] W, float[H,H] R) => (float[B,H] y, float[T,B,H] ys) {
        y, ys = Scan <num_scan_inputs = 1, body = g (float[B,H] v, float[B,I] x) => (float[B,H] v1, float[B,H] w) {
            a = MatMul(x, W)
            r = MatMul(v, R)
            s = Add(a, r)
            v1 = Tanh(s)
            w = Identity(v1)
        }> (h, xs)
    }""")
    return model, [run("five", _cells()), run("none", _zero(_cells()))]


@loop_model(
    "loop_slice",
    rtol=1e-4,
    atol=1e-6,
    ort=OrtDiffers("crashes", "ORT divides by the length, which is 0", ("none",)),
)
def cell_by_scan_reversed_inner_axis():
    """Slices along axis 1, from the end."""
    model = graph("""(float[2,4] h, float[2,T,3] xs, float[3,4] W, float[4,4] R) => (float[2,4] y, float[2,T,4] ys) {
        y, ys = Scan <num_scan_inputs = 1, scan_input_axes = [1], scan_input_directions = [1], scan_output_axes = [1], scan_output_directions = [1],
                body = g (float[2,4] v, float[2,3] x) => (float[2,4] v1, float[2,4] w) {
            e = Exp(x)
            a = MatMul(e, W)
            r = MatMul(v, R)
            s = Add(a, r)
            v1 = Tanh(s)
            w = Identity(v1)
        }> (h, xs)
    }""")
    return model, [run("five", _cells(1)), run("none", _zero(_cells(1), 1))]


@loop_model("loop_slice", rtol=1e-4, atol=1e-6)
def cell_by_gather():
    """Loop and Gather by the iteration number; fewer trips than rows, as many, and one too many."""
    model = graph("""(int64 M, float[2,4] h, float[T,2,3] xs, float[3,4] W, float[4,4] R, float[4] b) => (float[2,4] y) {
        y = Loop <body = g (int64 i, bool c, float[2,4] v) => (bool c, float[2,4] v1) {
            x = Gather(xs, i)
            p = MatMul(x, W)
            a = Add(p, b)
            r = MatMul(v, R)
            s = Add(a, r)
            v1 = Tanh(s)
        }> (M, "", h)
    }""")
    feeds = {**_cells(), "b": noise(4, seed=7)}
    return model, [
        *(run(f"m{m}", {"M": i64(m), **feeds}) for m in (0, 1, 3, 5)),
        run("m6", {"M": i64(6), **feeds}, error="out of (range|bounds)"),
    ]


@loop_model("loop_slice", rtol=1e-4, atol=1e-6, ort=EMPTY_SCAN)
def cell_of_vectors():
    """Slices without a batch: rows of one matrix."""
    model = graph("""(float[4] h, float[T,3] xs, float[3,4] W, float[4,4] R) => (float[4] y, float[T,4] ys) {
        y, ys = Scan <num_scan_inputs = 1, body = g (float[4] v, float[3] x) => (float[4] v1, float[4] w) {
            a = MatMul(x, W)
            r = MatMul(v, R)
            s = Add(a, r)
            v1 = Tanh(s)
            w = Identity(v1)
        }> (h, xs)
    }""")
    feeds = {"h": noise(4), "xs": noise(6, 3, seed=1), "W": noise(3, 4, seed=2), "R": noise(4, 4, seed=3)}  # fmt: skip
    return model, [run("six", feeds), run("none", _zero(feeds))]


@loop_model("loop_cond", rtol=1e-4, atol=1e-6)
def cell_that_may_stop():
    """A condition ends it: what is not reached is not computed, whatever it holds."""
    model = graph("""(int64 M, float limit, float[2,4] h, float[T,2,3] xs, float[3,4] W, float[4,4] R) => (float[2,4] y, int64 n) {
        true = Constant<value = bool {1}>()
        zero = Constant<value = int64 {0}>()
        one = Constant<value = int64 {1}>()
        y, n = Loop <body = g (int64 i, bool c, float[2,4] v, int64 k) => (bool c1, float[2,4] v1, int64 k1) {
            x = Gather(xs, i)
            a = MatMul(x, W)
            r = MatMul(v, R)
            s = Add(a, r)
            v1 = Tanh(s)
            t = ReduceSum<keepdims = 0>(v1)
            c1 = Less(t, limit)
            k1 = Add(k, one)
        }> (M, true, h, zero)
    }""")
    return model, [
        run(f"limit{limit}", {"M": i64(5), "limit": f32(limit), **_cells()})
        for limit in (-100, 0.5, 100)
    ]


@loop_model("loop_slice", rtol=1e-4, atol=1e-6)
def batched_twice():
    """The inner loop's product depends on the outer one's slice."""
    model = graph("""(int64 M, int64 N, float[4] h, float[S,T,3] xs, float[3,4] W) => (float[4] y) {
        y = Loop <body = outer (int64 i, bool c, float[4] v) => (bool c, float[4] v2) {
            rows = Gather(xs, i)
            v2 = Loop <body = inner (int64 j, bool d, float[4] u) => (bool d, float[4] u1) {
                x = Gather(rows, j)
                a = MatMul(x, W)
                s = Add(a, u)
                u1 = Tanh(s)
            }> (N, "", v)
        }> (M, "", h)
    }""")
    feeds = {"h": noise(4), "xs": noise(3, 5, 3, seed=1), "W": noise(3, 4, seed=2)}
    return model, [
        run(f"m{m}_n{n}", {"M": i64(m), "N": i64(n), **feeds}) for m in (0, 1, 3) for n in (0, 2, 5)
    ]
