# ===- test_loops_together.py - Loops fused and unrolled --------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""A loop that reads another one's rows, and loops of a few iterations."""

from __future__ import annotations

from typing import Any

import loopc
import numpy as np
import onnx.parser
import pytest

HEADER = '<ir_version: 8, opset_import: ["" : 17]>\n'

SCANS = """
main (float[{n},5] x, float[5] s0) => (float[5] s, float[{n},5] z{more}) {{
  s1, y = Scan<num_scan_inputs = 1, body = one (float[5] a, float[5] b) =>
      (float[5] c, float[5] d) {{
    c = Add(a, b)
    d = Relu(c)
  }}>(s0, x)
  s, z = Scan<num_scan_inputs = 1, body = two (float[5] e, float[5] f) =>
      (float[5] g, float[5] h) {{
    g = Max(e, f)
    h = Sub(g, f)
  }}>(s0, y)
}}
"""

LOOPS = """
main (float[{n},5] x, float[5] s0, int64 m) => (float[5] s, float[k,5] z) {{
  s1, y = Loop(m, , s0) <body = one (int64 i, bool p, float[5] a) =>
      (bool q, float[5] c, float[5] d) {{
    q = Identity(p)
    b = Gather(x, i)
    c = Add(a, b)
    d = Relu(c)
  }}>
  s, z = Loop(m, , s0) <body = two (int64 j, bool u, float[5] e) =>
      (bool v, float[5] g, float[5] h) {{
    v = Identity(u)
    f = Gather(y, {index})
    g = Max(e, f)
    h = Sub(g, f)
  }}>
}}
"""


Array = np.ndarray[Any, Any]


def open_session(text: str) -> loopc.InferenceSession:
    return loopc.InferenceSession(onnx.parser.parse_model(HEADER + text).SerializeToString())


def expect(x: Array, s0: Array, fixed: bool = False) -> tuple[Array, ...]:
    """Both loops; `fixed`: the second one reads row 0 only."""
    a, rows = s0, []
    for row in x:
        a = a + row
        rows.append(np.maximum(a, 0))
    e, z = s0, []
    for row in rows:
        f = rows[0] if fixed else row
        e = np.maximum(e, f)
        z.append(e - f)
    y = np.array(rows, np.float32).reshape(-1, 5)
    return e, np.array(z, np.float32).reshape(-1, 5), y


def feeds_of(n: int) -> dict[str, Array]:
    random = np.random.default_rng(n)
    return {
        "x": random.standard_normal((n, 5), dtype=np.float32),
        "s0": random.standard_normal(5, dtype=np.float32),
    }


@pytest.mark.parametrize("n", ["7", "N"])
@pytest.mark.parametrize("more", ["", ", float[k,5] y"])
def test_loop_order_of_two_scans(n: str, more: str) -> None:
    """The rows between them may be a result as well (loop_zero)."""
    session = open_session(SCANS.format(n=n, more=more))
    for count in (7,) if n == "7" else (0, 1, 2, 7):
        feeds = feeds_of(count)
        got = session.run(None, feeds)
        for one, other in zip(got, expect(feeds["x"], feeds["s0"]), strict=False):
            np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("n", ["7", "N"])
@pytest.mark.parametrize("index", ["j", "zero"])
def test_loop_order_of_two_loops(n: str, index: str) -> None:
    """Fewer trips than rows, none, and more: an error of the first loop."""
    text = LOOPS.format(n=n, index=index)
    if index == "zero":
        text = text.replace("v = Id", "zero = Constant<value = int64 {0}>()\n    v = Id")
    session = open_session(text)
    feeds = feeds_of(7)
    for trips in (7, 3, 1, 0, -2):
        got = session.run(None, feeds | {"m": np.asarray(trips)})
        rows = feeds["x"][: max(trips, 0)]
        for one, other in zip(got, expect(rows, feeds["s0"], fixed=index == "zero"), strict=False):
            np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-6)
    with pytest.raises(loopc.RunError, match=r"Loop #0.*Gather.*out of range.*iteration 7"):
        session.run(None, feeds | {"m": np.asarray(9)})


def test_loop_order_of_errors_in_small_loops() -> None:
    """The message names the iteration, unrolled or not."""
    for trips in (4, 40):
        session = open_session(f"""
        main (float[K] x, float s0) => (float s) {{
          m = Constant<value = int64 {{{trips}}}>()
          s = Loop(m, , s0) <body = b (int64 i, bool p, float a) => (bool q, float c) {{
            q = Identity(p)
            two = Constant<value = int64 {{2}}>()
            k = Mul(i, two)
            v = Gather(x, k)
            c = Add(a, v)
          }}>
        }}""")
        x = np.arange(2 * trips, dtype=np.float32)
        start = np.asarray(1, np.float32)
        (got,) = session.run(None, {"x": x, "s0": start})
        assert got == 1 + x[::2].sum()
        with pytest.raises(loopc.RunError, match=r"index 4 is out of range.*iteration 2"):
            session.run(None, {"x": x[:4], "s0": start})


def test_loop_parallel_assign_of_small_loops() -> None:
    """Values that change places, in 0 to 9 iterations; collected before and after."""
    for trips in range(10):
        session = open_session(f"""
        main (float[3] a0, float[3] b0) => (float[3] a, float[3] b, float[k,3] olds) {{
          m = Constant<value = int64 {{{trips}}}>()
          a, b, olds = Loop(m, , a0, b0) <body = t (int64 i, bool p, float[3] x, float[3] y) =>
              (bool q, float[3] y2, float[3] z, float[3] old) {{
            q = Identity(p)
            y2 = Identity(y)
            z = Add(x, y)
            old = Identity(x)
          }}>
        }}""")
        a, b = np.array([1, 2, 3], np.float32), np.array([5, 7, 11], np.float32)
        got = session.run(None, {"a0": a, "b0": b})
        olds = []
        for _ in range(trips):
            olds.append(a)
            a, b = b, a + b
        np.testing.assert_array_equal(got[0], a)
        np.testing.assert_array_equal(got[1], b)
        np.testing.assert_array_equal(got[2], np.array(olds, np.float32).reshape(-1, 3))
