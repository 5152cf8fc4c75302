# ===- test_hoisting.py - What loops do not change, and what may fail -------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Operators that iterations do not change, of operands that do not fit each other.

What is computed before the loop must not rely on a check that stays in it: a loop without
iterations has no error, one with iterations has its own, and none reads what is not there.
"""

from __future__ import annotations

import loopc
import numpy as np
import onnx.parser
import pytest

#: So large that what lies that far behind a tensor is not there.
LARGE = 3_000_000

F = np.float32
#: Operators of `a`, `b` and others that do not fit, and what is wrong.
MISFITS = {
    "add": ("o = Add(a, b)", {"a": np.ones((1, LARGE), F), "b": np.ones((1, 5), F)},
            "do not broadcast"),
    "concat": ("o = Concat<axis = 0>(a, b)",
               {"a": np.ones((1, 1), F), "b": np.ones((1, LARGE), F)}, "differ"),
    "matmul": ("o = MatMul(a, b)", {"a": np.ones((1, LARGE), F), "b": np.ones((2, 5), F)},
               "inner dimensions"),
    "einsum": ('o = Einsum<equation = "ij,jk->ik">(a, b)',
               {"a": np.ones((1, LARGE), F), "b": np.ones((2, 5), F)}, "differ|dimension"),
    "scatter": ("o = ScatterElements<axis = 0>(a, i, b)",
                {"a": np.ones((1, 2), F), "i": np.zeros((1, LARGE), np.int64),
                 "b": np.ones((1, 1), F)}, "extent|differ"),
    "reshape": ("r = Reshape(a, i)\n o = Tanh(r)",
                {"a": np.ones((1, 2), F), "i": np.array([1, LARGE])}, "elements|Reshape"),
}  # fmt: skip


def _model(body: str, operands: dict[str, np.ndarray], condition: str = "c") -> bytes:
    names = {np.dtype(F): "float", np.dtype(np.int64): "int64"}
    inputs = ", ".join(
        f"{names[v.dtype]}[{', '.join(f'{k}{axis}' for axis in range(v.ndim))}] {k}"
        for k, v in operands.items()
    )
    model = onnx.parser.parse_model(f"""
<ir_version: 10, opset_import: ["": 21]>
g ({inputs}, int64 trips, float[s0, s1] s) => (float[y0, y1] y)
{{
  c = Constant<value: tensor = bool {{1}}>()
  y = Loop(trips, {condition}, s)<body = body (int64 n, bool ci, float[s0, s1] si)
      => (bool co, float[t0, t1] so) {{
    co = Identity(ci)
    {body}
    so = Add(si, o)
  }}>
}}""")
    return model.SerializeToString()


@pytest.mark.parametrize("condition", ["c", '""'], ids=["while", "counted"])
@pytest.mark.parametrize("name", MISFITS)
def test_misfits_in_loops(name: str, condition: str) -> None:
    """Checks of a loop that is counted are moved in front of it, where they ask for its trips."""
    body, operands, problem = MISFITS[name]
    session = loopc.InferenceSession(_model(body, operands, condition))
    start = np.arange(5, dtype=F).reshape(1, 5)
    feeds = operands | {"s": start, "trips": np.array(0)}
    np.testing.assert_array_equal(session.run(None, feeds)[0], start)
    with pytest.raises(loopc.RunError, match=problem) as caught:
        session.run(None, feeds | {"trips": np.array(2)})
    assert "iteration 0" in str(caught.value)


def test_misfits_of_slices() -> None:
    model = onnx.parser.parse_model("""
<ir_version: 10, opset_import: ["": 21]>
g (float[t, b, k] x, float[l, n] w, int64 trips) => (float[s, b, n] y)
{
  c = Constant<value: tensor = bool {1}>()
  y = Loop(trips, c)<body = body (int64 i, bool ci) => (bool co, float[b, n] o) {
    co = Identity(ci)
    xi = Gather<axis = 0>(x, i)
    o = MatMul(xi, w)
  }>
}""")
    session = loopc.InferenceSession(model.SerializeToString())
    x, w = np.ones((3, 1, LARGE), F), np.ones((2, 5), F)
    assert session.run(None, {"x": x, "w": w, "trips": np.array(0)})[0].size == 0
    with pytest.raises(loopc.RunError, match=f"inner dimensions: {LARGE} and 2 differ"):
        session.run(None, {"x": x, "w": w, "trips": np.array(3)})
    (y,) = session.run(None, {"x": x[:, :, :2], "w": w, "trips": np.array(3)})
    np.testing.assert_array_equal(y, np.full((3, 1, 5), 2, F))


#: Divisions that fail where the divisor, which no iteration changes, is zero.
DIVISIONS = ["Mod (x, k)", "Div (x, k)", "Mod (k, x)", "Div (k, x)", "Mod <fmod = 1> (x, k)"]


@pytest.mark.parametrize("level", [0, 1, 2, 3])
@pytest.mark.parametrize("shape", ["", "N"])
@pytest.mark.parametrize("division", DIVISIONS)
def test_divisions_in_loops(division: str, shape: str, level: int) -> None:
    """They trap: so they stay behind the check, and in the loop, which may not run."""
    model = onnx.parser.parse_model(f"""
<ir_version: 10, opset_import: ["": 21]>
g (int64 n, int64{f"[{shape}]" if shape else ""} k, int64{f"[{shape}]" if shape else ""} x)
    => (int64{f"[{shape}]" if shape else ""} y)
{{
  c = Constant<value: tensor = bool {{1}}>()
  y = Loop(n, c, x)<body = body (int64 i, bool ci, int64{f"[{shape}]" if shape else ""} s)
      => (bool co, int64{f"[{shape}]" if shape else ""} so) {{
    r = {division}
    so = Add(s, r)
    co = Identity(ci)
  }}>
}}""")
    options = loopc.SessionOptions()
    options.opt_level = level
    session = loopc.InferenceSession(model.SerializeToString(), options)
    seven, zero = (np.full([3] * len(shape), value, np.int64) for value in (7, 0))
    names = ("x", "k") if "(x" in division else ("k", "x")
    feeds = dict(zip(names, (seven, zero), strict=True))
    (y,) = session.run(None, feeds | {"n": np.array(0)})
    np.testing.assert_array_equal(y, feeds["x"])
    with pytest.raises(loopc.RunError, match="division by zero"):
        session.run(None, feeds | {"n": np.array(2)})


def test_division_by_extents_of_versions() -> None:
    """A version of a loop is chosen by extents: their computation must not fail before it."""
    model = onnx.parser.parse_model("""
<ir_version: 10, opset_import: ["" : 21]>
m (int64[N] x, bool go) => (int64[K] rest, int64[T] gone) {
  rest, gone = Loop ("", go, x) <body = body (int64 i, bool c, int64[] s)
      => (bool more, int64[] next, int64 g) {
    five = Constant <value_int = 5> ()
    n = Size (s)
    j = Mod (five, n)
    g = Gather <axis = 0> (s, j)
    two = Constant <value_int = 2> ()
    more = Greater (n, two)
    one = Constant <value_ints = [1]> ()
    zero = Constant <value_ints = [0]> ()
    at = Unsqueeze (j, zero)
    behind = Add (at, one)
    end = Constant <value_ints = [9223372036854775807]> ()
    next = Slice (s, behind, end, zero)
  }>
}""")
    session = loopc.InferenceSession(model.SerializeToString())
    rest, gone = session.run(None, {"x": np.zeros(0, np.int64), "go": np.array(False)})
    assert rest.size == 0 and gone.size == 0
    rest, gone = session.run(None, {"x": np.arange(1, 5), "go": np.array(True)})
    assert rest.size == 0
    np.testing.assert_array_equal(gone, [2, 4])
    with pytest.raises(loopc.RunError, match="division by zero"):
        session.run(None, {"x": np.zeros(0, np.int64), "go": np.array(True)})


#: What is computed of a shape that data say, in memory that lives for an iteration.
SHAPED = [
    "many = Expand(one, shape)\n t = Tanh(many)\n e = Gather<axis = 0>(t, i)",
    "many = Expand(one, shape)\n z = Constant<value_int = 0>()\n e = CumSum(many, z)",
    "many = Tile(one, shape)\n e = Softmax(many)",
]


@pytest.mark.parametrize("extent", [-5, 10**13])
@pytest.mark.parametrize("body", SHAPED)
def test_shapes_that_data_say(body: str, extent: int) -> None:
    """A loop that does not run asks for no memory of such a size."""
    model = onnx.parser.parse_model(f"""
<ir_version: 10, opset_import: ["": 21]>
g (int64 n, int64[1] shape, float s, float[1] one) => (float y)
{{
  c = Constant<value: tensor = bool {{1}}>()
  y = Loop(n, c, s)<body = body (int64 i, bool ci, float si) => (bool co, float so) {{
    {body}
    sum = ReduceSum<keepdims = 0>(e)
    so = Add(si, sum)
    co = Identity(ci)
  }}>
}}""")
    session = loopc.InferenceSession(model.SerializeToString())
    feeds = {"s": np.array(2, F), "one": np.ones(1, F), "shape": np.array([extent])}
    assert session.run(None, feeds | {"n": np.array(0)})[0] == 2
    with pytest.raises(loopc.RunError):
        session.run(None, feeds | {"n": np.array(2)})
    assert session.run(None, feeds | {"n": np.array(2), "shape": np.array([3])})[0] > 2
