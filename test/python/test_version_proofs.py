# ===- test_version_proofs.py - Versions of loops believe only what is proved -===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Inner loops whose carried values change their extents, in outer loops that get a version.

What is read of such a value is its extent only, so that nothing reads the value itself once the
extent is taken for the init's; and the outer loop carries extents that the run may find equal.
"""

from __future__ import annotations

import loopc
import numpy as np
import onnx.parser
import pytest

F = np.float32
#: What the inner loop makes of what it carries, and of `seed`, which is [7.0].
NEXT = {
    "grows": "next = Concat <axis = 0> (s, seed)",
    "doubles": "next = Concat <axis = 0> (s, s)",
    "pads": "p = Constant <value_ints = [0, 2]> ()\n next = Pad (s, p)",
    "shrinks": """one = Constant <value_ints = [1]> ()
        end = Constant <value_ints = [9223372036854775807]> ()
        next = Slice (s, one, end, zero)""",
    "compresses": """most = ReduceMax <keepdims = 0> (s)
        some = Less (s, most)
        next = Compress <axis = 0> (s, some)""",
    "is replaced": """z = Constant <value_int = 3> ()
        short = Less (r, z)
        next = If (short) <then_branch = t () => (float[] a) { a = Concat <axis = 0> (s, s) },
            else_branch = e () => (float[] b) { b = Identity (seed) }>""",
    "is nested": """next = Loop (two, yes, s) <body = deep (int64 k, bool m, float[] u)
            => (bool m2, float[] v) {
            m2 = Identity (m)
            v = Concat <axis = 0> (u, seed)
        }>""",
    "stays": "next = Tanh (s)",
}


def model(next_value: str, begin: str, trips: int) -> bytes:
    return onnx.parser.parse_model(f"""<ir_version: 10, opset_import: ["": 21]>
g (float[N] x, int64 n) => (float[T] sizes) {{
  inner = Constant <value_int = {trips}> ()
  two = Constant <value_int = 2> ()
  yes = Constant <value = bool {{1}}> ()
  zero = Constant <value_ints = [0]> ()
  seed = Constant <value_floats = [7.0]> ()
  first = Constant <value = float[{len(begin.split())}] {{{", ".join(begin.split())}}}> ()
  sizes = Loop (n, yes, x) <body = outer (int64 j, bool d, float[] before)
      => (bool go, float[] after) {{
    last, found = Loop (inner, yes, first) <body = body (int64 i, bool c, float[] s)
        => (bool more, float[] next, int64 r) {{
      r = Size (s)
      {next_value}
      more = Identity (c)
    }}>
    after = Cast <to = 1> (found)
    go = Identity (d)
  }}>
}}""").SerializeToString()


def follow(name: str, size: int) -> int:
    """The number of elements behind an iteration that begins with `size`."""
    return {
        "grows": size + 1,
        "doubles": 2 * size,
        "pads": size + 2,
        "shrinks": max(size - 1, 0),
        "compresses": max(size - 1, 0),
        "is replaced": 2 * size if size < 3 else 1,
        "is nested": size + 2,
        "stays": size,
    }[name]


@pytest.mark.parametrize("begin", ["", "7.0", "1.0 2.0 3.0"])
@pytest.mark.parametrize("name", NEXT)
def test_inner_loops(name: str, begin: str) -> None:
    for trips in (0, 1, 3):
        made = loopc.InferenceSession(model(NEXT[name], begin, trips))
        sizes, size = [], len(begin.split())
        for _ in range(trips):
            sizes.append(size)
            size = follow(name, size)
        # The outer loop's version asks for extents such as these.
        for extent in (0, 1, 2, 3):
            x = np.arange(extent, dtype=F)
            for n in (0, 1, 2):
                (got,) = made.run(None, {"x": x, "n": np.array(n)})
                np.testing.assert_array_equal(got, np.array(sizes, F) if n else x)


#: The carried value gets a rank more in each iteration.
RANKS = """<ir_version: 10, opset_import: ["": 21]>
g (float[N] x, int64 n) => (float[T] ranks) {
  three = Constant <value_int = 3> ()
  yes = Constant <value = bool {1}> ()
  zero = Constant <value_ints = [0]> ()
  ranks = Loop (n, yes, x) <body = o (int64 j, bool d, float[] before) => (bool go, float[] after) {
    last, found = Loop (three, yes, before) <body = b (int64 i, bool c, float[] s) => (bool more, float[] next, int64 r) {
      next = Unsqueeze (s, zero)
      dims = Shape (s)
      r = Size (dims)
      more = Identity (c)
    }>
    after = Cast <to = 1> (found)
    go = Identity (d)
  }>
}"""


@pytest.mark.parametrize("extent", [0, 1, 2, 3, 4])
def test_ranks(extent: int) -> None:
    made = loopc.InferenceSession(onnx.parser.parse_model(RANKS).SerializeToString())
    x = np.arange(extent, dtype=F)
    for n in (1, 2):
        (got,) = made.run(None, {"x": x, "n": np.array(n)})
        np.testing.assert_array_equal(got, np.array([1, 2, 3], F))


#: An input of unknown rank; the inner loop takes its first element, and keeps it.
UNRANKED = """<ir_version: 10, opset_import: ["": 21]>
g (float[] x) => (float[K] y) {
  two = Constant <value_int = 2> ()
  yes = Constant <value = bool {1}> ()
  zero = Constant <value_ints = [0]> ()
  twelve = Constant <value_ints = [12]> ()
  none = Constant <value = float[0] {}> ()
  none2 = Constant <value = int64[0] {}> ()
  one2 = Constant <value_ints = [1]> ()
  z = Constant <value_int = 0> ()
  y = Loop (two, yes, x) <body = o (int64 i, bool c, float[] s) => (bool go, float[] next) {
    n = Size (s)
    w, cnt = Loop (n, yes, none, none2) <body = b (int64 j, bool d, float[] g, int64[] h)
        => (bool more, float[] nextg, int64[] nexth) {
      e = Gather <axis = 0> (s, j)
      k = Size (g)
      some = Greater (k, z)
      first = If (some) <then_branch = t0 () => (bool a0) { a0 = Not (some) },
          else_branch = e0 () => (bool b0) { b0 = Identity (yes) }>
      nextg, nexth = If (first) <
        then_branch = t () => (float[] a, int64[] a2) { a = Unsqueeze (e, zero) a2 = Identity (one2) },
        else_branch = e () => (float[] bb, int64[] b2) { bb = Identity (g) b2 = Identity (h) }>
      more = Identity (d)
    }>
    next = Slice (w, zero, twelve, zero)
    go = Identity (c)
  }>
}"""


@pytest.mark.parametrize("extent", [1, 2, 12, 13])
def test_unranked(extent: int) -> None:
    made = loopc.InferenceSession(onnx.parser.parse_model(UNRANKED).SerializeToString())
    (got,) = made.run(None, {"x": np.arange(1, extent + 1, dtype=F)})
    np.testing.assert_array_equal(got, np.array([1], F))


#: An inner loop that ends by its condition and whose value is read behind it.
ENDS = """<ir_version: 10, opset_import: ["": 21]>
g (int32[N] x) => (int32[] y, int64[K] sizes) {
  zero = Constant <value_int = 0> ()
  yes = Constant <value = bool {1}> ()
  three = Constant <value_int = 3> ()
  y, sizes = Loop (three, "", x) <body = o (int64 i, bool c, int32[] s) => (bool go, int32[] next, int64 size) {
    none = Constant <value = int64[0] {}> ()
    most = Constant <value_int = 3000> ()
    last, size = Loop (most, yes, none, zero) <body = b (int64 j, bool d, int64[] g, int64[] h)
        => (bool[] more, int64[] longer, int64[] k) {
      k = Size (g)
      row = Constant <value = int64[1] {0}> ()
      longer = Concat <axis = 0> (g, row)
      more = Greater (longer, zero)
    }>
    next = Cast <to = 6> (last)
    go = Identity (yes)
  }>
}"""


@pytest.mark.parametrize("extent", [0, 1, 2])
def test_inner_loop_ends(extent: int) -> None:
    made = loopc.InferenceSession(onnx.parser.parse_model(ENDS).SerializeToString())
    y, sizes = made.run(None, {"x": np.ones(extent, np.int32)})
    np.testing.assert_array_equal(y, [0])
    np.testing.assert_array_equal(sizes, [0, 0, 0])
