# ===- test_small_loops.py - Loops of small bodies --------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""What lives in registers, in collected values and in masked vectors: beside the reference."""

from __future__ import annotations

from typing import Any

import loopc
import numpy as np
import onnx.parser
import pytest
from loopc import reference

RANDOM = np.random.default_rng(7)


def _i64(value: Any) -> np.ndarray:
    return np.array(value, np.int64)


def _floats(*shape: int) -> np.ndarray:
    return RANDOM.standard_normal(shape).astype(np.float32)


def _check(text: str, feeds: dict[str, np.ndarray], rtol: float = 1e-5) -> list[np.ndarray]:
    model = onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["" : 21]>\n{text}')
    got = loopc.InferenceSession(model.SerializeToString()).run(None, feeds)
    want = reference.run(model, feeds)
    for one, other in zip(got, want, strict=True):
        np.testing.assert_allclose(one, other, rtol, 1e-5)
        assert one.shape == np.shape(other)
    return got


@pytest.mark.parametrize("shape", [(2, 3, 4), (2, 5, 4), (2, 3, 8), (4, 3, 2), (3, 3), (7,)])
@pytest.mark.parametrize("axis", [0, 1])
def test_odd_numbers_of_lanes(shape: tuple[int, ...], axis: int) -> None:
    """Rows that are not one behind the other, and lanes that are no power of two."""
    inside, around = ", ".join(map(str, shape)), list(shape)
    around.insert(axis, 4)
    _check(
        f"""lanes (float{around} x, float z) => (float s, float{around} y) {{
          s, y = Scan <num_scan_inputs = 1, scan_input_axes = [{axis}], scan_output_axes = [{axis}],
              body = step (float s, float[{inside}] e) => (float t, float[{inside}] o) {{
                o = Add (e, s)
                r = ReduceSum <keepdims = 0> (e)
                t = Add (s, r)
              }}> (z, x)
        }}""",
        {"x": _floats(*around), "z": np.float32(0.5)},
    )


def test_division_of_odd_lanes() -> None:
    """The lanes that nobody reads divide by no zero."""
    _check(
        """lanes (int64 n, int32[3] x, int32[3] w) => (int32[3] y, int32[K,3] ys) {
          y, ys = Loop <body = step (int64 i, bool go, int32[3] v) => (bool go, int32[3] t, int32[3] u) {
              q = Div (v, w)
              t = Sub (x, q)
              u = Identity (q)
            }> (n, "", x)
        }""",
        {"n": _i64(5), "x": np.array([7, -8, 9], np.int32), "w": np.array([2, -1, 3], np.int32)},
    )


@pytest.mark.parametrize("trips", [0, 1, 1023, 1024, 1025, 2049])
def test_strips(trips: int) -> None:
    """loop_cancel: polls between strips of iterations change no iteration."""
    _check(
        """strips (int64 n, float[8] x, float[8] a) => (float[8] y, float[K,8] ys, int64[K] is) {
          y, ys, is = Loop <body = step (int64 i, bool go, float[8] s) => (bool go, float[8] t, float[8] u, int64 j) {
              p = Mul (s, a)
              t = Add (p, a)
              u = Identity (t)
              j = Identity (i)
            }> (n, "", x)
        }""",
        {"n": _i64(trips), "x": _floats(8), "a": np.linspace(-0.9, 0.9, 8, dtype=np.float32)},
    )


@pytest.mark.parametrize(
    "rows,columns", [(1, 1), (1, 5), (2, 3), (4, 4), (3, 16), (5, 13), (16, 4)]
)
def test_small_matrices(rows: int, columns: int) -> None:
    """Broadcasts, transposes and reductions of a few registers."""
    _check(
        f"""small (int64 n, float[{rows},{columns}] x, float[{columns}] w, float[{rows},1] c)
            => (float[{rows},{columns}] y, float[{rows}] s, float[{columns}] m, float[K,{rows},{columns}] ys) {{
          zero = Constant <value = float {{0.0}}> ()
          cs = Squeeze (c)
          flat = Constant <value_ints = [{rows}]> ()
          s0 = Reshape (c, flat)
          y, s, m, ys = Loop <body = step (int64 i, bool go, float[{rows},{columns}] v, float[{rows}] sv, float[{columns}] mv)
              => (bool go, float[{rows},{columns}] t, float[{rows}] st, float[{columns}] mt, float[{rows},{columns}] u) {{
              one = Constant <value_ints = [1]> ()
              none = Constant <value_ints = [0]> ()
              p = Mul (v, w)
              q = Add (p, c)
              t = Tanh (q)
              r = ReduceSum <keepdims = 0> (t, one)
              st = Add (r, sv)
              g = ReduceMax <keepdims = 0> (t, none)
              mt = Max (g, mv)
              turned = Transpose <perm = [1, 0]> (t)
              back = Transpose <perm = [1, 0]> (turned)
              u = Neg (back)
            }}> (n, "", x, s0, w)
        }}""",
        {"n": _i64(5), "x": _floats(rows, columns), "w": _floats(columns), "c": _floats(rows, 1)},
    )


@pytest.mark.parametrize("columns", [0, 1, 7, 8, 15, 16, 17, 33])
def test_short_rows(columns: int) -> None:
    """Rows whose length nothing tells: whole vectors, and a masked one."""
    _check(
        """rows (int64 n, float[R,C] x, float[C] w, float[R,1] c) => (float[R,C] y, float[K,R] ss) {
          y, ss = Loop <body = step (int64 i, bool go, float[R,C] v) => (bool go, float[R,C] t, float[R] s) {
              one = Constant <value_ints = [1]> ()
              p = Mul (c, w)
              e = Exp (p)
              q = Mul (e, v)
              t = Sub (q, c)
              s = ReduceSum <keepdims = 0> (t, one)
            }> (n, "", x)
        }""",
        {
            "n": _i64(3),
            "x": _floats(4, columns),
            "w": -np.abs(_floats(columns)),
            "c": np.abs(_floats(4, 1)),
        },
        1e-4,
    )


@pytest.mark.parametrize("trips", [1, 2, 40])
@pytest.mark.parametrize("axis,new_axis", [(0, 0), (1, 0), (-1, 0), (0, 1), (1, 1), (2, 1)])
def test_appended(trips: int, axis: int, new_axis: int) -> None:
    """What is only appended and then joined is a collected value."""
    _check(
        f"""appended (int64 n, float[A,B] x) => (float[U,V] y) {{
          none = SequenceEmpty <dtype = 1> ()
          last, all = Loop <body = step (int64 i, bool go, float[A,B] v, seq(float[A,B]) s) => (bool go, float[A,B] w, seq(float[A,B]) t) {{
              w = Add (v, v)
              t = SequenceInsert (s, w)
            }}> (n, "", x, none)
          y = ConcatFromSequence <axis = {axis}, new_axis = {new_axis}> (all)
        }}""".replace("float[U,V]", "float[U,V,W]" if new_axis else "float[U,V]"),
        {"n": _i64(trips), "x": _floats(2, 3) * np.float32(2.0**-40)},
    )


@pytest.mark.parametrize("columns", [0, 1, 15, 16, 17, 32, 33, 63, 64, 65, 128, 130])
def test_rows_of_states(columns: int) -> None:
    """The state of a short row stays in registers, whatever part of a tile the row fills."""
    _check(
        """states (float[C] x, float[T,C] steps) => (float[C] last, float[T,C] all) {
          last, all = Scan <num_scan_inputs = 1, body = step (float[C] v, float[C] d) => (float[C] w, float[C] y) {
              half = Constant <value_float = 0.5> ()
              h = Mul (v, half)
              w = Add (h, d)
              y = Sub (w, v)
            }> (x, steps)
        }""",
        {"x": _floats(columns), "steps": _floats(37, columns)},
    )


def test_appended_elements() -> None:
    """Elements and length of what became a collected value; a condition ends the loop."""
    y, length = _check(
        """elements (float[3] x, int64 at) => (float[3] y, int64 length) {
          none = SequenceEmpty <dtype = 1> ()
          true = Constant <value = bool {1}> ()
          all = Loop <body = step (int64 i, bool c, seq(float[3]) s) => (bool go, seq(float[3]) t) {
              f = Cast <to = 1> (i)
              w = Add (x, f)
              t = SequenceInsert (s, w)
              nine = Constant <value = int64 {9}> ()
              go = Less (i, nine)
            }> ("", true, none)
          y = SequenceAt (all, at)
          length = SequenceLength (all)
        }""",
        {"x": _floats(3), "at": _i64(-2)},
    )
    assert length == 10 and y.shape == (3,)


def test_appended_nothing() -> None:
    """seq_index: a sequence that nothing was appended to cannot be joined."""
    model = onnx.parser.parse_model("""<ir_version: 10, opset_import: ["" : 21]>
        nothing (int64 n, float[A] x) => (float[B] y) {
          none = SequenceEmpty <dtype = 1> ()
          all = Loop <body = step (int64 i, bool go, seq(float[A]) s) => (bool go, seq(float[A]) t) {
              t = SequenceInsert (s, x)
            }> (n, "", none)
          y = ConcatFromSequence <axis = 0> (all)
        }""")
    session = loopc.InferenceSession(model.SerializeToString())
    with pytest.raises(Exception, match="the sequence is empty"):
        session.run(None, {"n": _i64(0), "x": _floats(4)})


@pytest.mark.parametrize("shape", [(1,), (7,), (64,), (200,), (3, 5), (9, 33), (0,)])
def test_masks_of_elements(shape: tuple[int, ...]) -> None:
    """Elements in registers that truth values, conversions and the iteration's number decide on."""
    names = ",".join("AB"[: len(shape)])
    for trips in (0, 1, 2, 9):
        _check(
            f"""masks (int64 count, float[{names}] a, float[{names}] b)
                => (float[{names}] y, bool[{names}] alive, int32[{names}] steps) {{
              two = Constant <value_float = 2.0> ()
              live = LessOrEqual (a, two)
              none = Cast <to = 6> (live)
              y, alive, steps = Loop <body = step (int64 i, bool go, float[{names}] s, bool[{names}] l, int32[{names}] c)
                => (bool go, float[{names}] t, bool[{names}] k, int32[{names}] d) {{
                  f = Cast <to = 1> (i)
                  m = Mul (s, b)
                  q = Add (m, f)
                  t = Where (l, q, s)
                  in = LessOrEqual (t, two)
                  k = And (in, l)
                  one = Cast <to = 6> (k)
                  d = Add (c, one)
                }}> (count, "", a, live, none)
            }}""",
            {"count": _i64(trips), "a": _floats(*shape), "b": _floats(*shape)},
        )


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("side", ["then", "else"])
def test_old_value_of_a_branch(sign: int, side: str) -> None:
    """A branch hands on the state, which the next one must not be written over before."""
    old, new = ("s", "t") if side == "then" else ("t", "s")
    _check(
        f"""branch (int64 n, float[A,B] x) => (float[P,Q] y, float[K,P,Q] us) {{
          y, us = Loop <body = step (int64 i, bool go, float[q,r] s) => (bool go, float[A,B] t, float[A,B] u) {{
              sum = ReduceSum <keepdims = 0> (s)
              zero = Constant <value = float {{0.0}}> ()
              positive = Greater (sum, zero)
              t = Tanh (s)
              u = If (positive) <
                then_branch = yes () => (float[A,B] v) {{ v = Identity ({old}) }},
                else_branch = no () => (float[A,B] w) {{ w = Identity ({new}) }}>
            }}> (n, "", x)
        }}""",
        {"n": _i64(3), "x": _floats(5, 7) + np.float32(sign)},
    )
