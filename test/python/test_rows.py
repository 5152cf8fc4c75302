# ===- test_rows.py - Reductions in loops' bodies ---------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Softmax, norms and reductions in loops: beside the reference, without allocations."""

from __future__ import annotations

import loopc
import numpy as np
import onnx.parser
import pytest
from loopc import reference

RANDOM = np.random.default_rng(3)
SHAPES = [(1, 1), (2, 3), (8, 16), (5, 100), (3, 257), (16, 1), (1, 64), (0, 4)]
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
