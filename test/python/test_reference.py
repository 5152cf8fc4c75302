# ===- test_reference.py - The reference's own meaning ----------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Pins the reference, by values computed by hand, to docs/Spec.md.

The first part is the table "Where engines disagree" row by row; what other
engines do there is in the comments. Collections (section 5) follow.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import onnx
import pytest
from loop_models.registry import b8, f32, function, graph, i64, ramp
from loopc import reference
from onnx import numpy_helper
from onnx.backend.test.loader import load_model_tests


@pytest.fixture(scope="module")
def node_cases() -> Any:
    """ONNX's node tests; making them overflows in NumPy on purpose."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return load_model_tests(kind="node")


def same(got: list[Any], want: list[Any]) -> None:
    """Exactly equal, types and shapes included."""
    assert len(got) == len(want)
    for one, other in zip(got, want, strict=True):
        if isinstance(other, list):
            assert isinstance(one, list)
            same(one, other)
        elif other is None:
            assert one is None
        else:
            assert one.dtype == other.dtype
            assert one.shape == other.shape
            np.testing.assert_array_equal(one, other)


# ===- Where engines disagree ----------------------------------------------===#

COUNT = graph("""(int64 M) => (int64[?] is) {
    is = Loop <body = b (int64 i, bool c) => (bool c1, int64 j) {
        c1 = Constant<value = bool {0}>()
        j = Identity(i)
    }> (M, "")
}""")


def test_loop_cond_ignored() -> None:
    """M alone, the body yields false. ORT: one trip; onnx.reference: none."""
    same(reference.run(COUNT, {"M": i64(3)}), [i64([0, 1, 2])])


def test_loop_cond_ignored_ort_compat() -> None:
    same(reference.run(COUNT, {"M": i64(3)}, ort_compat=True), [i64([0])])


def test_loop_m_negative() -> None:
    """OpenVINO: endless."""
    same(reference.run(COUNT, {"M": i64(-2)}), [i64([])])


def test_loop_zero_unknown_shape() -> None:
    """onnx.reference: raises. Known dimensions stay, unknown ones are 0."""
    model = graph("""(int64 M, float[N,3] x) => (float[?,?,3] ys) {
        ys = Loop <body = b (int64 i, bool c) => (bool c, float[?,?] y) { y = Neg(x) }> (M, "")
    }""")
    same(reference.run(model, {"M": i64(0), "x": ramp(5, 3)}), [np.zeros((0, 0, 3), np.float32)])


def test_loop_zero_unknown_rank() -> None:
    model = graph("""(int64 M, float[] x) => (float[] ys) {
        ys = Loop <body = b (int64 i, bool c) => (bool c, float[] y) { y = Neg(x) }> (M, "")
    }""")
    same(reference.run(model, {"M": i64(0), "x": ramp(5, 3)}), [np.zeros(0, np.float32)])


def test_loop_zero_fixpoint() -> None:
    """What init and yield agree on is known, whatever the body declares (name_declared)."""
    model = graph("""(int64 M, float[2,3] x) => (float[?,3] y, float[?,?,3] ys) {
        y, ys = Loop <body = b (int64 i, bool c, float[7,7,7] v) => (bool c, float[9] v1, float[] w) {
            v1 = Concat<axis = 0>(v, x)
            w = Neg(v)
        }> (M, "", x)
    }""")
    same(
        reference.run(model, {"M": i64(0), "x": ramp(2, 3)}),
        [ramp(2, 3), np.zeros((0, 0, 3), np.float32)],
    )


def test_loop_collect_stacks() -> None:
    """onnx.reference: vstack, [4,3] for [2,2,3] and [n,1] for scalars."""
    model = graph("""(int64 M, float[2,3] x) => (float[?,2,3] ys, float[?] ss) {
        ys, ss = Loop <body = b (int64 i, bool c) => (bool c, float[2,3] y, float s) {
            y = Neg(x)
            s = Cast<to = 1>(i)
        }> (M, "")
    }""")
    same(
        reference.run(model, {"M": i64(2), "x": ramp(2, 3)}),
        [np.stack([-ramp(2, 3)] * 2), f32([0, 1])],
    )


@pytest.mark.parametrize(
    ("declared", "shape"), [("int64[1] i", (2, 1)), ("int64 i", (2,)), ("i", (2, 1))]
)
def test_loop_args_one_element(declared: str, shape: tuple[int, ...]) -> None:
    """M of shape [1]: the number is as the body declares, else as M."""
    model = graph(f"""(int64[1] M) => (int64[] is) {{
        is = Loop <body = b ({declared}, bool c) => (bool c, int64[] j) {{ j = Identity(i) }}> (M, "")
    }}""")
    same(reference.run(model, {"M": i64([2])}), [i64([0, 1]).reshape(shape)])


@pytest.mark.parametrize(
    ("declared", "shape"), [("bool[1] c", (1, 1)), ("bool c", (1,)), ("c", (1, 1))]
)
def test_loop_cond_one_element(declared: str, shape: tuple[int, ...]) -> None:
    """The same for cond of shape [1]."""
    model = graph(f"""(bool[1] p) => (bool[] seen) {{
        no = Constant<value = bool {{0}}>()
        seen = Loop <body = b (int64 i, {declared}) => (bool c1, bool[] s) {{
            c1 = Identity(no)
            s = Identity(c)
        }}> ("", p)
    }}""")
    same(reference.run(model, {"p": b8([True])}), [b8([True]).reshape(shape)])


def test_name_shadow_input() -> None:
    """onnx.reference, torch-mlir: the outer x."""
    model = graph("""(int64 M, float x, float z) => (float y) {
        y = Loop <body = b (int64 i, bool c, float x) => (bool c, float x1) { x1 = Add(x, x) }> (M, "", z)
    }""")
    same(reference.run(model, {"M": i64(1), "x": f32(9), "z": f32(1)}), [f32(2)])


def test_name_shadow_initializer() -> None:
    """onnx.reference: the outer w, in a Loop and in an If."""
    model = graph("""(int64 M, bool p, float w) => (float y, float z) {
        y = Loop <body = b (int64 i, bool c, float v) => (bool c, float v1) <float w = {10.0}> {
            v1 = Add(v, w)
        }> (M, "", w)
        z = If <then_branch = t () => (float a) <float w = {20.0}> { a = Neg(w) },
                else_branch = e () => (float b) { b = Neg(w) }> (p)
    }""")
    same(reference.run(model, {"M": i64(1), "p": b8(True), "w": f32(1)}), [f32(11), f32(-20)])
    same(reference.run(model, {"M": i64(1), "p": b8(False), "w": f32(1)}), [f32(11), f32(-1)])


def test_name_direct_iteration_number() -> None:
    """ORT: [3,3,3]."""
    model = graph("""(int64 M) => (int64[?] is) {
        is = Loop <body = b (int64 i, bool c) => (bool c, int64 i) { }> (M, "")
    }""")
    same(reference.run(model, {"M": i64(3)}), [i64([0, 1, 2])])


def test_name_direct_outer_value() -> None:
    """ORT: refused."""
    model = graph("""(int64 M, float x) => (float[?] ys) {
        ys = Loop <body = b (int64 i, bool c) => (bool c, float x) { }> (M, "")
    }""")
    same(reference.run(model, {"M": i64(2), "x": f32(5)}), [f32([5, 5])])


def test_name_outputs_empty() -> None:
    """ORT: crashes. An empty name is no name: nothing reads it afterwards."""
    model = graph("""(int64 M, float x) => (float[?] ys, float z) {
        "", ys = Loop <body = b (int64 i, bool c, float v) => (bool c, float v1, float w) {
            v1 = Add(v, v)
            w = Identity(v)
        }> (M, "", x)
        z = Clip(x, "", x)
    }""")
    same(reference.run(model, {"M": i64(2), "x": f32(1)}), [f32([1, 2]), f32(1)])


def test_name_outputs_beyond() -> None:
    """The condition is no result."""
    model = graph("""(int64 M, float x) => (float y, bool p) {
        y, p = Loop <body = b (int64 i, bool c, float v) => (bool c, float v1) { v1 = Add(v, v) }> (M, "", x)
    }""")
    with pytest.raises(reference.ModelError, match="outputs"):
        reference.run(model, {"M": i64(2), "x": f32(1)})


def test_scan_lengths_zero() -> None:
    """ORT, onnx.reference: raise."""
    model = graph("""(float s0, float[T] xs) => (float s, float[?] ys) {
        s, ys = Scan <num_scan_inputs = 1, body = b (float a, float x) => (float a1, float y) {
            a1 = Add(a, x)
            y = Neg(a1)
        }> (s0, xs)
    }""")
    same(reference.run(model, {"s0": f32(3), "xs": f32([])}), [f32(3), f32([])])


def test_state_shape() -> None:
    """A carried value of Loop may change its shape, a state of Scan may not."""
    loop = graph("""(int64 M, float[N] x) => (float[?] y) {
        y = Loop <body = b (int64 i, bool c, float[?] v) => (bool c, float[?] v1) {
            v1 = Concat<axis = 0>(v, x)
        }> (M, "", x)
    }""")
    same(reference.run(loop, {"M": i64(2), "x": f32([1])}), [f32([1, 1, 1])])
    scan = graph("""(float[N] x, float[T] ts) => (float[?] y) {
        y = Scan <num_scan_inputs = 1, body = b (float[?] v, float t) => (float[?] v1) {
            v1 = Concat<axis = 0>(v, x)
        }> (x, ts)
    }""")
    with pytest.raises(
        reference.ReferenceError_, match="shape changes from \\[1\\] to \\[2\\] in iteration 0"
    ):
        reference.run(scan, {"x": f32([1]), "ts": f32([1, 2])})


def test_if_types_rank() -> None:
    """TensorRT, onnx-mlir, torch-mlir: refused."""
    model = graph("""(bool p, float[2] x) => (float[] y) {
        y = If <then_branch = t () => (float a) { a = ReduceSum<keepdims = 0>(x) },
                else_branch = e () => (float[2] b) { b = Neg(x) }> (p)
    }""")
    same(reference.run(model, {"p": b8(True), "x": f32([1, 2])}), [f32(3)])
    same(reference.run(model, {"p": b8(False), "x": f32([1, 2])}), [f32([-1, -2])])


def test_loop_collect_early_exit() -> None:
    """onnx-mlir, TensorRT's parser: M rows. Exactly the trips that ran."""
    model = graph("""(int64 M) => (int64[?] is) {
        true = Constant<value = bool {1}>()
        two = Constant<value = int64 {2}>()
        is = Loop <body = b (int64 i, bool c) => (bool c1, int64 j) {
            c1 = Less(i, two)
            j = Identity(i)
        }> (M, true)
    }""")
    same(reference.run(model, {"M": i64(2**62)}), [i64([0, 1, 2])])


def test_cast_saturates() -> None:
    """float8 casts saturate, as ONNX says; ml_dtypes alone gives NaN."""
    model = graph("(float[3] x) => (float[3] y) { a = Cast<to = 17>(x)\n y = Cast<to = 1>(a) }")
    same(reference.run(model, {"x": f32([500, -500, 1])}), [f32([448, -448, 1])])


# ===- Errors of the run ----------------------------------------------------===#


def test_loop_collect_shape() -> None:
    """The message names the output, the iteration and both shapes."""
    model = graph("""(int64 M, float[N] x) => (float[?] y, float[?,?] ys) {
        y, ys = Loop <body = b (int64 i, bool c, float[?] v) => (bool c, float[?] v1, float[?] w) {
            v1 = Concat<axis = 0>(v, x)
            w = Neg(v)
        }> (M, "", x)
    }""")
    with pytest.raises(
        reference.ReferenceError_, match=r"'w': shape \[2\] in iteration 1 .* \[1\] in iteration 0"
    ):
        reference.run(model, {"M": i64(2), "x": f32([1])})


def test_loop_cancel() -> None:
    with pytest.raises(reference.ReferenceError_, match="more than 50 trips"):
        reference.run(COUNT, {"M": i64(51)}, max_trips=50)


def test_feeds_are_checked() -> None:
    for feeds, message in (
        ({}, "'M' is missing"),
        ({"M": i64(1), "N": i64(1)}, "unknown input 'N'"),
        ({"M": f32(1)}, "declared as INT64"),
    ):
        with pytest.raises(reference.ReferenceError_, match=message):
            reference.run(COUNT, feeds)
    with pytest.raises(reference.ReferenceError_, match="unknown output 'q'"):
        reference.run(COUNT, {"M": i64(1)}, ["q"])


def test_integer_division_by_zero() -> None:
    model = graph("(int64 a, int64 b) => (int64 y) { y = Div(a, b) }")
    same(reference.run(model, {"a": i64(-7), "b": i64(2)}), [i64(-3)])
    with pytest.raises(reference.ReferenceError_, match="division by zero"):
        reference.run(model, {"a": i64(1), "b": i64(0)})


@pytest.mark.parametrize("operator", ["Gather", "GatherElements"])
@pytest.mark.parametrize("width", [2, 0])
def test_indices_out_of_range(operator: str, width: int) -> None:
    """An error by their definition, also where nothing is gathered; NumPy has none there."""
    model = graph(f"(float[h, w] x, int64[k, m] i) => (float[?] y) {{ y = {operator}(x, i) }}")
    x = np.zeros((3, width), np.float32)
    at = np.zeros((1, 2), np.int64)
    if operator == "GatherElements":
        at = at[:, :width]
    if at.size == 0:
        same(reference.run(model, {"x": x, "i": at}), [np.zeros((1, 0), np.float32)])
        return
    for index in (-3, 2):
        reference.run(model, {"x": x, "i": at + index})
    for index in (-4, 3):
        with pytest.raises(reference.ReferenceError_, match="out of bounds for axis 0 with size 3"):
            reference.run(model, {"x": x, "i": at + index})


@pytest.mark.parametrize(
    ("call", "shapes", "message"),
    [
        ("Split <axis = 0> (x, s)", [(4,), (2,)], "are not the extent 4"),
        ("LayerNormalization (x, s)", [(2, 1), (3,)], "does not broadcast"),
        ("Conv (x, s)", [(1, 1, 2), (1, 1, 3)], "window of extent 3 does not fit into 2"),
        ("Conv (x, s)", [(1, 1, 0), (1, 1, 1)], "window of extent 1 does not fit into 0"),
        ("Conv <dilations = [2]> (x, s)", [(1, 1, 2), (1, 1, 2)], "of extent 3 does not fit"),
        ("TopK (x, s)", [(2, 0), (1,)], "k is 1, the axis has 0 elements"),
        ("ScatterElements (x, s, x)", [(2, 2), (1, 2)], "do not fit indices of shape"),
        ("ScatterND (x, s, x)", [(2, 2), (1, 2)], "do not fit, expected shape"),
    ],
)
def test_what_operators_refuse(call: str, shapes: list[tuple[int, ...]], message: str) -> None:
    """As onnxruntime does; the library takes it."""
    number = "int64" if call.startswith(("Split", "TopK", "Scatter")) else "float"
    outputs, names = "float[?] y", "y"
    if call.startswith("Split"):
        outputs, names = "float[?] y, float[?] z", "y, z"
    elif call.startswith("TopK"):
        outputs, names = "float[?, ?] y, int64[?, ?] i", "y, i"
    dims = [", ".join("abcd"[: len(shape)]).replace("a", f"a{k}") for k, shape in enumerate(shapes)]
    arguments = f"float[{dims[0]}] x, {number}[{dims[1]}] s"
    model = graph(f"({arguments}) => ({outputs}) {{ {names} = {call} }}")
    dtype = np.int64 if number == "int64" else np.float32
    feeds = {"x": np.ones(shapes[0], np.float32), "s": np.ones(shapes[1], dtype)}
    with pytest.raises(reference.ReferenceError_, match=message):
        reference.run(model, feeds)


@pytest.mark.parametrize(("opset", "axis"), [(11, ""), (21, ""), (21, "<axis = 0>")])
def test_logarithms_far_below_the_largest(opset: int, axis: str) -> None:
    """onnx.reference: the logarithm of a quotient that is 0."""
    model = graph(
        f"(float[a, b] x) => (float[a, b] y) {{ y = LogSoftmax {axis} (x) }}", opset=opset
    )
    x = np.array([[0, 5000], [-4000, 1]], np.float32)
    other = x[::-1] if axis else x[:, ::-1]
    same(reference.run(model, {"x": x}), [np.minimum(x - other, 0)])


@pytest.mark.parametrize(("axis", "shape"), [(0, (1, 0)), (1, (0, 6)), (2, (0, 3)), (-1, (0, 3))])
def test_flattens_nothing(axis: int, shape: tuple[int, int]) -> None:
    model = graph(f"(float[a, b, c] x) => (float[?, ?] y) {{ y = Flatten <axis = {axis}> (x) }}")
    same(
        reference.run(model, {"x": np.zeros((0, 2, 3), np.float32)}), [np.zeros(shape, np.float32)]
    )
    plain = graph("(float[a, b, c] x) => (float[?, ?] y) { y = Flatten (x) }")
    [y] = reference.run(plain, {"x": np.ones((2, 2, 3), np.float32)})
    assert y.shape == (2, 6)


def test_files_and_bytes(tmp_path: Any) -> None:
    path = tmp_path / "m.onnx"
    onnx.save(COUNT, path)
    same(reference.run(path, {"M": i64(1)}), [i64([0])])
    same(reference.run(COUNT.SerializeToString(), {"M": i64(1)}), [i64([0])])


def test_feeds_and_model_stay() -> None:
    """A run changes neither the model nor the feeds."""
    model = graph("""(int64 M, float[2] x) => (float[2] y) {
        y = Loop <body = b (int64 i, bool c, float[2] v) => (bool c, float[2] v1) { v1 = Add(v, v) }> (M, "", x)
    }""")
    before, x = model.SerializeToString(), f32([1, 2])
    reference.run(model, {"M": i64(3), "x": x})
    assert model.SerializeToString() == before
    np.testing.assert_array_equal(x, f32([1, 2]))


# ===- Collections ----------------------------------------------------------===#


def test_seq_append_in_loop() -> None:
    """A carried sequence of tensors of several shapes."""
    model = graph("""(int64 M, float[N] x) => (seq(float[]) s, int64 n, float[] last) {
        none = SequenceEmpty<dtype = 1>()
        minus = Constant<value = int64 {-1}>()
        one = Constant<value = int64[1] {1}>()
        flat = Constant<value = int64[1] {-1}>()
        s = Loop <body = b (int64 i, bool c, seq(float[]) v) => (bool c, seq(float[]) v1) {
            k = Reshape(i, flat)
            n1 = Add(k, one)
            e = Expand(x, n1)
            v1 = SequenceInsert(v, e)
        }> (M, "", none)
        n = SequenceLength(s)
        last = SequenceAt(s, minus)
    }""")
    x = f32([5])
    same(
        reference.run(model, {"M": i64(2), "x": x}), [[f32([5]), f32([5, 5])], i64(2), f32([5, 5])]
    )
    with pytest.raises(
        reference.ReferenceError_, match="position -1 is out of range for a sequence of 0"
    ):
        reference.run(model, {"M": i64(0), "x": x})


@pytest.mark.parametrize(
    ("position", "want"),
    [
        (0, [9, 0, 1, 2]),
        (3, [0, 1, 2, 9]),
        (-1, [0, 1, 9, 2]),
        (-3, [9, 0, 1, 2]),
        (4, None),
        (-4, None),
    ],
)
def test_seq_insert(position: int, want: list[int] | None) -> None:
    """seq_index: the library's takes the length for 0."""
    model = graph("""(seq(float) s, float x, int64 p) => (seq(float) r, seq(float) again) {
        r = SequenceInsert(s, x, p)
        again = Identity(s)
    }""")
    feeds = {"s": [f32(0), f32(1), f32(2)], "x": f32(9), "p": i64(position)}
    if want is None:
        with pytest.raises(reference.ReferenceError_, match="out of range"):
            reference.run(model, feeds)
    else:
        # seq_value: the operand is what it was.
        same(reference.run(model, feeds), [[f32(v) for v in want], [f32(0), f32(1), f32(2)]])


@pytest.mark.parametrize(
    ("position", "want"), [(0, [1, 2]), (-1, [0, 1]), (2, [0, 1]), (3, None), (-4, None)]
)
def test_seq_erase_and_at(position: int, want: list[int] | None) -> None:
    model = graph("""(seq(float) s, int64 p) => (seq(float) r, float e) {
        r = SequenceErase(s, p)
        e = SequenceAt(s, p)
    }""")
    feeds = {"s": [f32(0), f32(1), f32(2)], "p": i64(position)}
    if want is None:
        with pytest.raises(reference.ReferenceError_, match="out of range"):
            reference.run(model, feeds)
    else:
        same(reference.run(model, feeds), [[f32(v) for v in want], f32(position % 3)])


def test_seq_erase_last() -> None:
    model = graph("(seq(float) s) => (seq(float) r) { r = SequenceErase(s) }")
    same(reference.run(model, {"s": [f32(0), f32(1)]}), [[f32(0)]])
    with pytest.raises(reference.ReferenceError_, match="out of range"):
        reference.run(model, {"s": []})


def test_seq_insert_other_type() -> None:
    model = graph("(seq(float) s, float x) => (seq(float) r) { r = SequenceInsert(s, x) }")
    with pytest.raises(reference.ReferenceError_, match=r"sequence|declared"):
        reference.run(model, {"s": [i64(0)], "x": f32(1)})


def test_split_and_concat() -> None:
    model = graph("""(float[5,2] x, int64 k) => (seq(float[?,2]) s, seq(float[2]) rows, float[5,2] y, float[2,5] z) {
        s = SplitToSequence(x, k)
        rows = SplitToSequence<keepdims = 0>(x)
        y = ConcatFromSequence<axis = 0>(s)
        z = ConcatFromSequence<axis = -1, new_axis = 1>(rows)
    }""")
    x = ramp(5, 2)
    same(
        reference.run(model, {"x": x, "k": i64(2)}),
        [[x[:2], x[2:4], x[4:]], [x[i] for i in range(5)], x, x.T.copy()],
    )
    with pytest.raises(reference.ReferenceError_, match="split is 0"):
        reference.run(model, {"x": x, "k": i64(0)})


def test_split_must_add_up() -> None:
    model = graph("(float[5] x, int64[N] k) => (seq(float[?]) s) { s = SplitToSequence(x, k) }")
    same(
        reference.run(model, {"x": ramp(5), "k": i64([0, 2, 3])}),
        [[f32([]), f32([0, 1]), f32([2, 3, 4])]],
    )
    with pytest.raises(reference.ReferenceError_, match="add up"):
        reference.run(model, {"x": ramp(5), "k": i64([2, 2])})


def test_sequence_map_captures() -> None:
    """Two sequences, a captured tensor, and no elements at all."""
    model = graph("""(seq(float[?]) s, seq(float[?]) t, float w) => (seq(float[?]) r, seq(float[?]) q) {
        r, q = SequenceMap <body = b (float[?] x, float[?] y) => (float[?] a, float[?] d) {
            p = Mul(x, y)
            a = Add(p, w)
            d = Sub(x, y)
        }> (s, t)
    }""")
    feeds = {"s": [f32([1]), f32([2, 3])], "t": [f32([4]), f32([5, 6])], "w": f32(10)}
    same(reference.run(model, feeds), [[f32([14]), f32([20, 28])], [f32([-3]), f32([-3, -3])]])
    same(reference.run(model, {"s": [], "t": [], "w": f32(10)}), [[], []])
    with pytest.raises(reference.ReferenceError_, match="length"):
        reference.run(model, {**feeds, "t": []})


OPTIONAL = graph("""(optional(float[2]) o, float[2] x) => (bool has, float[2] y) {
    has = OptionalHasElement(o)
    y = If <then_branch = t () => (float[2] a) { a = OptionalGetElement(o) },
            else_branch = e () => (float[2] b) { b = Neg(x) }> (has)
}""")


def test_opt_run() -> None:
    """Whether there is a value is decided at run time."""
    x = f32([1, 2])
    same(reference.run(OPTIONAL, {"o": f32([3, 4]), "x": x}), [b8(True), f32([3, 4])])
    same(reference.run(OPTIONAL, {"o": None, "x": x}), [b8(False), f32([-1, -2])])


def test_optional_get_element_of_nothing() -> None:
    model = graph("(optional(float[2]) o) => (float[2] y) { y = OptionalGetElement(o) }")
    with pytest.raises(reference.ReferenceError_, match="empty"):
        reference.run(model, {"o": None})


def test_optional_made_in_graph() -> None:
    model = graph("""(seq(float[?]) s) => (optional(seq(float[?])) o, bool p, bool q, bool none) {
        o = Optional(s)
        p = OptionalHasElement(o)
        q = OptionalHasElement(s)
        none = OptionalHasElement()
    }""")
    same(reference.run(model, {"s": []}), [[], b8(True), b8(True), b8(False)])


def test_loop_carried_optional(node_cases: Any) -> None:
    """ONNX's own example: an argument optional(seq), a yield and a result that are seq."""
    case = next(c for c in node_cases if c.name == "test_loop16_seq_none")
    (inputs, outputs), *_ = case.data_sets
    names = [i.name for i in case.model.graph.input]
    (got,) = reference.run(case.model, dict(zip(names, inputs, strict=True)))
    same(got, outputs[0])
    # After no trip there is no sequence to take out of the optional.
    feeds = {names[0]: i64(0), names[1]: b8(True), names[2]: None}
    with pytest.raises(reference.ReferenceError_, match="empty optional"):
        reference.run(case.model, feeds)


CONTROL = (
    "test_loop",
    "test_scan",
    "test_if",
    "test_sequence",
    "test_optional",
    "test_split_to_sequence",
    "test_identity_",
)


def test_onnx_control_flow_cases(node_cases: Any) -> None:
    """ONNX's own node tests of control flow and collections."""
    done = 0
    for case in node_cases:
        if not case.name.startswith(CONTROL):
            continue
        for inputs, outputs in case.data_sets:
            names = [i.name for i in case.model.graph.input]
            values = [
                numpy_helper.to_array(v) if isinstance(v, onnx.TensorProto) else v for v in inputs
            ]
            got = reference.run(case.model, dict(zip(names, values, strict=True)))
            for one, other in zip(got, outputs, strict=True):
                _assert_case(one, other, case.name)
        done += 1
    assert done >= 40


def _assert_case(got: Any, want: Any, name: str) -> None:
    if isinstance(want, list):
        assert isinstance(got, list), name
        assert len(got) == len(want), name
        for one, other in zip(got, want, strict=True):
            _assert_case(one, other, name)
    elif want is None:
        assert got is None, name
    else:
        want = numpy_helper.to_array(want) if isinstance(want, onnx.TensorProto) else want
        assert got.dtype == want.dtype, name
        assert got.shape == want.shape, name
        if want.dtype == object or want.dtype.kind in "USiub":
            np.testing.assert_array_equal(got, want, name)
        else:
            np.testing.assert_allclose(
                got.astype(np.float64), want.astype(np.float64), 1e-3, 1e-7, err_msg=name
            )


def test_zero_trips_beside_a_sequence() -> None:
    """Carried ranks that stay unknown: the search for types of collected values ends."""
    model = onnx.parser.parse_model(
        """<ir_version: 10, opset_import: ["" : 21]>
        zero (float[A,B] x) => (float[K] ys, float[P,Q] z) {
          none = Constant <value = int64 {0}> ()
          y, ys = Loop <body = grow (int64 i, bool go, float[q,r] s)
                => (bool go, float[q,t] u, float v) {
              u = Concat <axis = 1> (s, s)
              v = ReduceSum <keepdims = 0> (x)
            }> (none, "", x)
          e = SequenceEmpty <dtype = 1> ()
          q, z = Loop <body = insert (int64 i, bool go, seq(float[]) l, float[A,B] s)
                => (bool go, seq(float[]) m, float[A,B] t) {
              m = SequenceInsert (l, s)
              t = Identity (s)
            }> (none, "", e, x)
        }"""
    )
    x = np.ones((2, 3), np.float32)
    ys, z = reference.run(model, {"x": x})
    assert np.shape(ys) == (0,)
    np.testing.assert_array_equal(z, x)


# ===- What the library does otherwise -------------------------------------===#


def test_scalars_are_tensors() -> None:
    """onnx.reference: Min of three scalars is a number of NumPy's, which no loop carries."""
    model = graph("""(int64[N] xs, int64 a) => (int64 s) {
        s = Scan<num_scan_inputs = 1, body = g (int64 t, int64 x) => (int64 u) {
            u = Min(t, x, a)
        }>(a, xs)
    }""")
    same(reference.run(model, {"xs": i64([3, 2]), "a": i64(9)}), [i64(2)])


def test_carried_strings_become_longer() -> None:
    """NumPy has a type for each length of strings."""
    model = graph("""(int64 M, string s) => (string t) {
        t = Loop<body = g (int64 i, bool c, string u) => (bool c, string v) {
            v = StringConcat(u, s)
        }>(M, "", s)
    }""")
    [text] = reference.run(model, {"M": i64(2), "s": np.array("ab")})
    assert text.item() == "ababab"


def test_bodies_in_functions_yield_their_inputs() -> None:
    """onnx.inliner: a body's output that is its input gets another name than that."""
    model = graph(
        "(int64 M, float x) => (float y, float z) { y = local.f(M, x)\n z = local.f(M, y) }",
        functions=function("""f (n, v) => (w) {
            w = Loop<body = g (int64 i, bool c, u) => (bool c, t) { t = Add(u, u) }>(n, "", v)
        }"""),
    )
    same(reference.run(model, {"M": i64(2), "x": f32(1)}), [f32(4), f32(16)])


def test_default_attributes_of_functions() -> None:
    """onnx.inliner: leaves an attribute out that a call leaves to its default."""
    model = graph(
        "(int64 M, float x) => (float y, float z) { y = local.f(M, x)\n z = local.f<a = 2.0>(M, x) }",
        functions=function("""f <a: float = 0.5> (n, v) => (w) {
            w = Loop<body = g (int64 i, bool c, u) => (bool c, t) {
                t = LeakyRelu<alpha: float = @a>(u)
            }>(n, "", v)
        }"""),
    )
    same(reference.run(model, {"M": i64(2), "x": f32(-1)}), [f32(-0.25), f32(-4)])
