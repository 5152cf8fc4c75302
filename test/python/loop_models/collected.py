# ===- collected.py - Values that loops collect -===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Collected values: shapes, lengths, zero trips."""

import numpy as np

from loop_models.registry import OrtDiffers, b8, f32, graph, i64, loop_model, noise, ramp, run

SHAPE = r"(?i)shape"


@loop_model("loop_collect", "loop_zero")
def collect_scalars():
    """Scalars are stacked to [n] (the reference evaluator of onnx gives [n, 1])."""
    return graph("""(int64 M, float x) => (float[?] ys) {
        ys = Loop <body = g (int64 i, bool c) => (bool c, float y) {
            f = Cast<to = 1>(i)
            y = Mul(f, x)
        }> (M, "")
    }"""), [
        run("zero", {"M": i64(0), "x": f32(2)}, [f32([])]),
        run("one", {"M": i64(1), "x": f32(2)}, [f32([0])]),
        run("five", {"M": i64(5), "x": f32(2)}, [f32([0, 2, 4, 6, 8])]),
    ]


@loop_model("loop_collect", "loop_zero")
def collect_matrices():
    """[2,3] twice gives [2,2,3], not [4,3]."""
    return graph("""(int64 M, float[2,3] x) => (float[?,2,3] ys) {
        ys = Loop <body = g (int64 i, bool c) => (bool c, float[2,3] y) {
            f = Cast<to = 1>(i)
            y = Add(x, f)
        }> (M, "")
    }"""), [
        run("zero", {"M": i64(0), "x": ramp(2, 3)}, [np.zeros((0, 2, 3), np.float32)]),
        run("one", {"M": i64(1), "x": ramp(2, 3)}, [ramp(1, 2, 3)]),
        run("two", {"M": i64(2), "x": ramp(2, 3)}, [np.stack([ramp(2, 3), ramp(2, 3) + 1])]),
    ]


@loop_model("loop_collect")
def collect_dynamic():
    """The shape of a row is known at run time only, and is the same on every trip."""
    return graph("""(int64 M, float[R,C] x) => (float[?,?,?] ys) {
        ys = Loop <body = g (int64 i, bool c) => (bool c, float[?,?] y) {
            f = Cast<to = 1>(i)
            y = Add(x, f)
        }> (M, "")
    }"""), [
        run("one", {"M": i64(1), "x": ramp(3, 2)}, [ramp(1, 3, 2)]),
        run(
            "three", {"M": i64(3), "x": ramp(3, 2)}, [np.stack([ramp(3, 2) + k for k in range(3)])]
        ),
        run("empty_rows", {"M": i64(3), "x": ramp(0, 2)}, [np.zeros((3, 0, 2), np.float32)]),
    ]


@loop_model("loop_zero")
def zero_trips_unknown_dimensions():
    """No trip: unknown dimensions are 0, known ones stay."""
    return graph("""(int64 M, float[R,4] x) => (float[?,?,4] ys) {
        ys = Loop <body = g (int64 i, bool c) => (bool c, float[?,4] y) {
            f = Cast<to = 1>(i)
            y = Add(x, f)
        }> (M, "")
    }"""), [
        run("zero", {"M": i64(0), "x": ramp(3, 4)}, [np.zeros((0, 0, 4), np.float32)]),
        run("one", {"M": i64(1), "x": ramp(3, 4)}, [ramp(1, 3, 4)]),
    ]


@loop_model("loop_zero")
def zero_trips_changing_dimension():
    """No trip: a dimension that grows from trip to trip is unknown, though the init has 2."""
    return graph("""(int64 M, float[2,3] x) => (float[?,3] y, float[?] firsts, float[?,3] rows) {
        at = Constant<value = int64[2] {0, 0}>()
        zero = Constant<value = int64 {0}>()
        y, firsts, rows = Loop <body = g (int64 i, bool c, float[?,3] v) => (bool c, float[?,3] v1, float first, float[3] row) {
            v1 = Concat<axis = 0>(v, x)
            first = GatherND(v, at)
            row = Gather(v, zero)
        }> (M, "", x)
    }"""), [
        run(
            "zero",
            {"M": i64(0), "x": ramp(2, 3)},
            [ramp(2, 3), f32([]), np.zeros((0, 3), np.float32)],
        ),
        run(
            "two",
            {"M": i64(2), "x": ramp(2, 3)},
            [np.tile(ramp(2, 3), (3, 1)), f32([0, 0]), ramp(1, 3).repeat(2, 0)],
        ),
    ]


@loop_model("loop_zero", "loop_collect_shape")
def zero_trips_growing_rows():
    """No trip: a row that would change shape is no error when nothing ran, and [0, 0]."""
    return graph("""(int64 M, float[2] x) => (float[?] y, float[?,?] ys) {
        y, ys = Loop <body = g (int64 i, bool c, float[?] v) => (bool c, float[?] v1, float[?] w) {
            v1 = Concat<axis = 0>(v, x)
            w = Neg(v1)
        }> (M, "", x)
    }"""), [
        run("zero", {"M": i64(0), "x": f32([1, 2])}, [f32([1, 2]), np.zeros((0, 0), np.float32)]),
        run("one", {"M": i64(1), "x": f32([1, 2])}, [f32([1, 2, 1, 2]), f32([[-1, -2, -1, -2]])]),
        run("two", {"M": i64(2), "x": f32([1, 2])}, error=SHAPE),
    ]


@loop_model("loop_collect_shape")
def collected_value_grows():
    """What is collected grows: the run ends with an error at the second trip."""
    return graph("""(int64 M, int64[N] x) => (int64[?] y, int64[?,?] ys) {
        axes = Constant<value = int64[1] {0}>()
        y, ys = Loop <body = g (int64 i, bool c, int64[?] v) => (bool c, int64[?] v1, int64[?] v) {
            e = Unsqueeze(i, axes)
            v1 = Concat<axis = 0>(v, e)
        }> (M, "", x)
    }"""), [
        run("one", {"M": i64(1), "x": i64([4])}, [i64([4, 0]), i64([[4]])]),
        run("two", {"M": i64(2), "x": i64([4])}, error=SHAPE),
        run("five", {"M": i64(5), "x": i64([4])}, error=SHAPE),
    ]


@loop_model("loop_collect_shape",
            ort=OrtDiffers("accepts", "ORT compares sizes only and takes [3,2] for [2,3]", ("two",)))  # fmt: skip
def collected_value_same_size_other_shape():
    """[2,3] and then [3,2]: as many elements, and still an error."""
    return graph("""(int64 M, float[R,C] x) => (float[?,?] y, float[?,?,?] ys) {
        y, ys = Loop <body = g (int64 i, bool c, float[?,?] v) => (bool c, float[?,?] v1, float[?,?] w) {
            v1 = Transpose(v)
            w = Neg(v)
        }> (M, "", x)
    }"""), [
        run("square", {"M": i64(3), "x": ramp(2, 2)}),
        run("one", {"M": i64(1), "x": ramp(2, 3)}),
        run("two", {"M": i64(2), "x": ramp(2, 3)}, error=SHAPE),
    ]


@loop_model("loop_collect_shape", "loop_test")
def collected_shape_changes_late():
    """The shape changes on the last trip only."""
    return graph("""(int64 M, int64 at) => (float[?,?] ys) {
        one = Constant<value = int64[1] {1}>()
        two = Constant<value = int64[1] {2}>()
        value = Constant<value = float {1.5}>()
        ys = Loop <body = g (int64 i, bool c) => (bool c, float[?] y) {
            hit = Equal(i, at)
            n = Where(hit, two, one)
            y = Expand(value, n)
        }> (M, "")
    }"""), [
        run("never", {"M": i64(4), "at": i64(9)}, [f32([[1.5]] * 4)]),
        run("last", {"M": i64(4), "at": i64(3)}, error=SHAPE),
        run("first", {"M": i64(4), "at": i64(0)}, error=SHAPE),
    ]


@loop_model("loop_collect")
def collect_three_types():
    """Three collected values of three types and ranks."""
    return graph("""(int64 M, float[2] x) => (int64[?] is, bool[?,2] ps, float[?,1,2] rows) {
        three = Constant<value = float {3.0}>()
        axes = Constant<value = int64[1] {0}>()
        is, ps, rows = Loop <body = g (int64 i, bool c) => (bool c, int64 j, bool[2] p, float[1,2] row) {
            j = Neg(i)
            f = Cast<to = 1>(i)
            v = Add(x, f)
            p = Less(v, three)
            row = Unsqueeze(v, axes)
        }> (M, "")
    }"""), [
        run("zero", {"M": i64(0), "x": f32([1, 2])}, [i64([]), np.zeros((0, 2), bool), np.zeros((0, 1, 2), np.float32)]),
        run("three", {"M": i64(3), "x": f32([1, 2])},
            [i64([0, -1, -2]), b8([[1, 1], [1, 0], [0, 0]]), f32([[[1, 2]], [[2, 3]], [[3, 4]]])]),
    ]  # fmt: skip


@loop_model("loop_collect")
def collect_one_value_twice():
    """The carried value is collected twice and carried on."""
    return graph("""(int64 M, float[2] x) => (float[2] y, float[?,2] a, float[?,2] b) {
        y, a, b = Loop <body = g (int64 i, bool c, float[2] v) => (bool c, float[2] w, float[2] w, float[2] w) {
            w = Add(v, x)
        }> (M, "", x)
    }"""), [
        run(
            "zero",
            {"M": i64(0), "x": f32([1, 2])},
            [f32([1, 2]), np.zeros((0, 2), np.float32), np.zeros((0, 2), np.float32)],
        ),
        run(
            "two",
            {"M": i64(2), "x": f32([1, 2])},
            [f32([3, 6]), f32([[2, 4], [3, 6]]), f32([[2, 4], [3, 6]])],
        ),
    ]


@loop_model("loop_collect", "loop_test")
def collect_unknown_count():
    """A while loop: nobody knows beforehand how many rows there will be."""
    return graph("""(float x, float[3] w) => (float y, float[?,3] rows, int64[?] is) {
        true = Constant<value = bool {1}>()
        one = Constant<value = float {1.0}>()
        half = Constant<value = float {0.5}>()
        y, rows, is = Loop <body = g (int64 i, bool c, float v) => (bool c1, float v1, float[3] row, int64 j) {
            v1 = Mul(v, half)
            c1 = Less(one, v1)
            row = Mul(w, v1)
            j = Identity(i)
        }> ("", true, x)
    }"""), [
        run("one", {"x": f32(1), "w": f32([1, 2, 3])}, [f32(0.5), f32([[0.5, 1, 1.5]]), i64([0])]),
        run("many", {"x": f32(1 << 20), "w": f32([1, 2, 3])}),
    ]


@loop_model("loop_collect")
def collect_many():
    """Ten thousand rows."""
    n = 10_000
    return graph("""(int64 M) => (int64[?,2] ys) {
        pair = Constant<value = int64[2] {1, -1}>()
        ys = Loop <body = g (int64 i, bool c) => (bool c, int64[2] y) {
            y = Mul(pair, i)
        }> (M, "")
    }"""), [run("many", {"M": i64(n)}, [np.stack([np.arange(n), -np.arange(n)], 1)])]


@loop_model("loop_collect", "loop_capture")
def collect_views():
    """The collected rows are views: a slice, a transposition, a reshape of a captured value."""
    return graph("""(int64 M, float[4,6] x) => (float[?,6] rows, float[?,6,4] turned, float[?,3,8] reshaped) {
        shape = Constant<value = int64[2] {3, 8}>()
        rows, turned, reshaped = Loop <body = g (int64 i, bool c) => (bool c, float[6] row, float[6,4] t, float[3,8] r) {
            row = Gather(x, i)
            t = Transpose(x)
            r = Reshape(x, shape)
        }> (M, "")
    }"""), [
        run("zero", {"M": i64(0), "x": ramp(4, 6)}),
        run(
            "three",
            {"M": i64(3), "x": ramp(4, 6)},
            [ramp(3, 6), np.stack([ramp(4, 6).T] * 3), np.stack([ramp(3, 8)] * 3)],
        ),
    ]


@loop_model("loop_collect")
def collect_and_reduce():
    """Collected rows are consumed at once by a reduction after the loop."""
    return graph("""(int64 M, float[8] x) => (float[8] total, float best) {
        axis = Constant<value = int64[1] {0}>()
        state, rows = Loop <body = g (int64 i, bool c, float[8] v) => (bool c, float[8] v1, float[8] w) {
            v1 = Sin(v)
            w = Abs(v1)
        }> (M, "", x)
        total = ReduceSum<keepdims = 0>(rows, axis)
        best = ReduceMax<keepdims = 0>(state)
    }"""), [run(f"m{m}", {"M": i64(m), "x": noise(8)}) for m in (0, 1, 20)]
