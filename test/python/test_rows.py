# ===- test_rows.py - Reductions in loops' bodies ---------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Softmax, norms and reductions in loops: beside the reference, without allocations."""

from __future__ import annotations

from typing import Any

import loopc
import numpy as np
import onnx.parser
import pytest
from loopc import reference

RANDOM = np.random.default_rng(3)
SHAPES = [(1, 1), (2, 3), (8, 16), (5, 100), (3, 257), (16, 1), (1, 64), (0, 4)]
SHAPES += [(4, 16), (9, 33), (7, 5)]  # of several rows at once, some are left over
BODIES = {
    "softmax": "s = Softmax <axis = -1> (a)",
    "softmax of columns": "s = Softmax <axis = 0> (a)",
    "log softmax": "s = LogSoftmax <axis = -1> (a)",
    "norm": """scale = Abs (x)
      two = Constant <value_float = 2.0> ()
      both = Sum (scale, two)
      axes = Constant <value = int64[1] {-1}> ()
      mean = ReduceMean (a, axes)
      d = Sub (a, mean)
      dd = Mul (d, d)
      variance = ReduceMean (dd, axes)
      more = Add (variance, two)
      root = Sqrt (more)
      n = Div (d, root)
      s = Mul (n, both)""",
    "largest and smallest": """axes = Constant <value = int64[1] {-1}> ()
      high = ReduceMax (a, axes)
      low = ReduceMin (a, axes)
      s = Sub (high, low)""",
    "places of the largest": """last = ArgMax <axis = 1, select_last_index = 1> (a)
      first = ArgMin <axis = 1> (a)
      column = ArgMax <axis = 0> (a)
      f = Cast <to = 1> (first)
      g = Cast <to = 1> (last)
      h = Cast <to = 1> (column)
      s = Sum (f, g, h)""",
    "decayed, and its sums": """axes = Constant <value = int64[1] {-1}> ()
      top = ReduceMax (a, axes)
      low = Sub (a, top)
      e = Exp (low)
      d = Mul (e, x)
      r = ReduceSum (d, axes)
      s = Div (d, r)""",
    "sums of both axes": """rows = Constant <value = int64[1] {1}> ()
      columns = Constant <value = int64[1] {0}> ()
      e = Tanh (a)
      r = ReduceSum (e, rows)
      c = ReduceSum (e, columns)
      small = Constant <value_float = 0.001> ()
      rc = Mul (r, c)
      q = Mul (rc, small)
      s = Sin (q)""",
}


# Of no elements NumPy has no maximum.
CASES = [
    (name, shape)
    for name in BODIES
    for shape in SHAPES
    if shape[0] or name not in ("softmax of columns", "places of the largest")
]


@pytest.mark.parametrize("name,shape", CASES)
def test_bodies(name: str, shape: tuple[int, int]) -> None:
    model = onnx.parser.parse_model(
        f"""<ir_version: 10, opset_import: ["" : 21]>
        rows (int64 count, float[R,C] x) => (float[R,C] y) {{
          y = Loop <body = step (int64 i, bool go, float[R,C] a) => (bool go, float[R,C] b) {{
              {BODIES[name]}
              b = Add (s, x)
            }}> (count, "", x)
        }}"""
    )
    session = loopc.InferenceSession(model.SerializeToString())
    x = RANDOM.standard_normal(shape).astype(np.float32)
    allocations = set()
    for count in (0, 1, 2, 6):
        feeds = {"count": np.array(count, np.int64), "x": x}
        got = session.run(None, feeds)[0]
        np.testing.assert_allclose(got, reference.run(model, feeds)[0], 1e-4, 1e-5)
        allocations.add(session.last_run_statistics.allocations)
    assert len(allocations) == 1


NUMPY: dict[str, Any] = {
    "ReduceSum": lambda x: x.sum(1, dtype=x.dtype),
    "ReduceMax": lambda x: x.max(1),
    "ReduceMin": lambda x: x.min(1),
    "ReduceSumSquare": lambda x: (x * x).sum(1, dtype=x.dtype),
}
# ONNX has no sums of bytes.
REDUCTIONS = [
    (op, dtype)
    for op in NUMPY
    for dtype in (np.float32, np.float64, np.int32, np.uint8, np.int64)
    if dtype is not np.uint8 or op in ("ReduceMax", "ReduceMin")
]


@pytest.mark.parametrize("op,dtype", REDUCTIONS)
def test_many_rows(op: str, dtype: type) -> None:
    """Several rows at once, and those that are left, of every type of element."""
    kind = {"float32": "float", "float64": "double"}.get(np.dtype(dtype).name, dtype.__name__)
    model = onnx.parser.parse_model(
        f"""<ir_version: 10, opset_import: ["" : 21]>
        rows ({kind}[R,C] x) => ({kind}[R] y, {kind}[R,1] z) {{
          axes = Constant <value = int64[1] {{1}}> ()
          y = {op} <keepdims = 0> (x, axes)
          z = {op} <keepdims = 1> (x, axes)
        }}"""
    )
    session = loopc.InferenceSession(model.SerializeToString())
    for rows in (1, 3, 4, 5, 8, 11):
        for columns in (1, 4, 15, 16, 17, 64, 100):
            x = RANDOM.integers(0, 100, (rows, columns)).astype(dtype)
            y, z = session.run(None, {"x": x})
            np.testing.assert_array_equal(y, NUMPY[op](x), strict=True)
            np.testing.assert_array_equal(z[:, 0], y)


def test_nan_in_rows() -> None:
    """NaN in any place of a row is its maximum and its sum; the other rows stay."""
    model = onnx.parser.parse_model(
        """<ir_version: 10, opset_import: ["" : 21]>
        rows (float[R,C] x) => (float[R] high, float[R] low, float[R] sum) {
          axes = Constant <value = int64[1] {1}> ()
          high = ReduceMax <keepdims = 0> (x, axes)
          low = ReduceMin <keepdims = 0> (x, axes)
          sum = ReduceSum <keepdims = 0> (x, axes)
        }"""
    )
    session = loopc.InferenceSession(model.SerializeToString())
    for columns in (5, 64, 70, 200):
        x = RANDOM.standard_normal((columns + 1, columns)).astype(np.float32)
        x[np.arange(columns), np.arange(columns)] = np.nan
        for result in session.run(None, {"x": x}):
            assert np.isnan(result[:-1]).all()
            assert np.isfinite(result[-1])


ROWS = {
    "softmax": "y = Softmax <axis = -1> (x)",
    "log softmax": "y = LogSoftmax <axis = -1> (x)",
    "norm": """two = Constant <value_float = 2.0> ()
      axes = Constant <value = int64[1] {-1}> ()
      mean = ReduceMean (x, axes)
      d = Sub (x, mean)
      dd = Mul (d, d)
      variance = ReduceMean (dd, axes)
      more = Add (variance, two)
      root = Sqrt (more)
      y = Div (d, root)""",
    "its range": """axes = Constant <value = int64[1] {-1}> ()
      high = ReduceMax (x, axes)
      low = ReduceMin (x, axes)
      width = Sub (high, low)
      from = Sub (x, low)
      y = Div (from, width)""",
}


@pytest.mark.parametrize("declared", ["B,R,C", "2,R,C", "B,R,33", "all"])
@pytest.mark.parametrize("shape", [(2, 301, 33), (2, 1, 33), (2, 0, 33), (2, 6, 33)])
@pytest.mark.parametrize("name", ROWS)
def test_rows_in_turn(name: str, shape: tuple[int, ...], declared: str) -> None:
    """Operations over the same rows, of which some hold NaN and infinities."""
    dims = ",".join(map(str, shape)) if declared == "all" else declared
    model = onnx.parser.parse_model(
        f"""<ir_version: 10, opset_import: ["" : 21]>
        rows (float[{dims}] x) => (float[{dims}] y) {{
          {ROWS[name]}
        }}"""
    )
    x = RANDOM.standard_normal(shape).astype(np.float32)
    if x.size:
        x[0, -1, 5] = np.nan
        x[1, 0, 32] = np.inf
        x[1, -1, :] = -np.inf
    got = loopc.InferenceSession(model.SerializeToString()).run(None, {"x": x})
    with np.errstate(all="ignore"):
        expected = reference.run(model, {"x": x})
    np.testing.assert_allclose(got[0], expected[0], rtol=2e-5, atol=2e-6)


COMPARED = """<ir_version: 10, opset_import: ["": 22]>
g ({type}[{rows}, {extent}] x, int64 bound, {type} other) => ({type}[{rows}, {extent}] y, bool[{extent}] m)
    <int64 none = {{0}}, int64 one = {{1}}, int64[1] axis = {{1}}> {{
  shape = Shape <start = 1, end = 2> (x)
  size = Squeeze(shape)
  numbers = Range(none, size, one)
  m = {op}({operands})
  y = Where(m, x, other)
}}
"""


@pytest.mark.parametrize("op", ["Greater", "Less", "GreaterOrEqual", "LessOrEqual", "Equal"])
@pytest.mark.parametrize("kind", ["float", "double", "uint8"])
@pytest.mark.parametrize("extent", ["1", "7", "64", "100", "N"])
def test_numbers_of_elements_are_compared(op, kind, extent):
    """With what is the same for all of them, however far away that is."""
    compare = {
        "Greater": np.greater, "Less": np.less, "GreaterOrEqual": np.greater_equal,
        "LessOrEqual": np.less_equal, "Equal": np.equal,
    }[op]  # fmt: skip
    dtype = {"float": np.float32, "double": np.float64, "uint8": np.uint8}[kind]
    sizes = [int(extent)] if extent != "N" else [1, 3, 16, 33, 200]
    for operands in ("numbers, bound", "bound, numbers"):
        text = COMPARED.format(type=kind, rows=3, extent=extent, op=op, operands=operands)
        session = loopc.InferenceSession(onnx.parser.parse_model(text))
        for size in sizes:
            x = (np.arange(3 * size).reshape(3, size) % 250).astype(dtype)
            numbers = np.arange(size)
            for bound in (0, 1, size // 2, size - 1, size, -1, -100, 2**40, 2**63 - 1, -(2**63)):
                at = np.array(bound, np.int64)
                feeds = {"x": x, "bound": at, "other": np.array(251, dtype)}
                y, m = session.run(None, feeds)
                expected = (
                    compare(numbers, at) if operands == "numbers, bound" else compare(at, numbers)
                )
                np.testing.assert_array_equal(m, expected)
                np.testing.assert_array_equal(y, np.where(expected, x, dtype(251)))


TURNED = """<ir_version: 10, opset_import: ["": 22]>
g (float[{extent}] x, int64 from) => (float[{extent}] y) <int64 none = {{0}}, int64 one = {{1}}, float zero = {{0.0}}> {{
  shape = Shape(x)
  size = Squeeze(shape)
  numbers = Range(none, size, one)
  at = Sub(from, numbers)
  bounded = Max(at, none)
  last = Sub(size, one)
  held = Min(bounded, last)
  found = Gather(x, held)
  y = Add(found, x)
}}
"""


@pytest.mark.parametrize("extent", ["1", "16", "48", "50", "N"])
def test_elements_are_read_backwards(extent):
    """From a place that the run tells, and held at both ends."""
    session = loopc.InferenceSession(onnx.parser.parse_model(TURNED.format(extent=extent)))
    for size in [int(extent)] if extent != "N" else [1, 2, 16, 40, 129]:
        x = np.random.default_rng(size).normal(size=size).astype(np.float32)
        for start in (0, 1, size // 2, size - 1, size, size + 20, 2 * size, -5, 10_000):
            (y,) = session.run(None, {"x": x, "from": np.array(start)})
            held = np.clip(start - np.arange(size), 0, size - 1)
            np.testing.assert_array_equal(y, x[held] + x)
