# ===- test_scan_layouts.py - Scans over any axis ---------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Elementwise scans whose slices are rows, columns or planes: beside the reference."""

from __future__ import annotations

import loopc
import numpy as np
import onnx.parser
import pytest
from loopc import reference

RANDOM = np.random.default_rng(11)
SIZES = [(1, 1), (1, 40), (16, 16), (17, 33), (3, 5), (40, 1), (64, 128), (15, 31), (33, 0)]
NUMPY = {"float": np.float32, "double": np.float64, "int32": np.int32, "int8": np.int8}


def _values(kind: str, *shape: int) -> np.ndarray:
    return RANDOM.integers(-9, 9, shape).astype(NUMPY.get(kind, np.float32))


def _check(text: str, feeds: dict[str, np.ndarray]) -> list[np.ndarray]:
    model = onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["" : 21]>\n{text}')
    got = loopc.InferenceSession(model.SerializeToString()).run(None, feeds)
    want = reference.run(model, feeds)
    for one, other in zip(got, want, strict=True):
        assert one.shape == np.shape(other)
        np.testing.assert_allclose(one, other, 1e-5, 1e-5)
    return got


@pytest.mark.parametrize("rows,length", SIZES)
@pytest.mark.parametrize("directions", [(0, 0), (1, 1), (0, 1), (1, 0)])
def test_sums_of_columns(rows: int, length: int, directions: tuple[int, int]) -> None:
    """scan_axes, scan_directions: along axis 1 in and out."""
    _check(
        f"""sums (float[R] s0, float[R,T] x) => (float[R] s, float[R,T] ys) {{
          s, ys = Scan <num_scan_inputs = 1, scan_input_axes = [1], scan_output_axes = [1],
              scan_input_directions = [{directions[0]}], scan_output_directions = [{directions[1]}],
              body = step (float[R] p, float[R] e) => (float[R] n, float[R] y) {{
                n = Add (p, e)
                y = Identity (n)
              }}> (s0, x)
        }}""",
        {"s0": _values("float", rows), "x": _values("float", rows, length)},
    )


@pytest.mark.parametrize("kind", ["float", "double", "int32", "int8"])
@pytest.mark.parametrize("fixed", [False, True])
def test_element_types(kind: str, fixed: bool) -> None:
    rows, length = ("21", "37") if fixed else ("R", "T")
    _check(
        f"""types ({kind}[{rows}] s0, {kind}[{rows},{length}] x) => ({kind}[{rows}] s, {kind}[{rows},{length}] ys) {{
          s, ys = Scan <num_scan_inputs = 1, scan_input_axes = [1], scan_output_axes = [1],
              body = step ({kind}[{rows}] p, {kind}[{rows}] e) => ({kind}[{rows}] n, {kind}[{rows}] y) {{
                n = Add (p, e)
                y = Sub (p, e)
              }}> (s0, x)
        }}""",
        {"s0": _values(kind, 21), "x": _values(kind, 21, 37)},
    )


@pytest.mark.parametrize("rows,length", SIZES)
def test_several_layouts(rows: int, length: int) -> None:
    """Columns, rows, one number a step and a constant row; two states; outputs on both axes."""
    _check(
        """mixed (float[R] a0, float[R] b0, float[R,T] x, float[T,R] y, float[T] z, float[R] w)
            => (float[R] a, float[R] b, float[R,T] us, float[T,R] vs, float[T,R] ws) {
          a, b, us, vs, ws = Scan <num_scan_inputs = 3, scan_input_axes = [1, 0, 0],
              scan_input_directions = [1, 0, 1], scan_output_axes = [1, 0, 0],
              scan_output_directions = [0, 1, 0],
              body = step (float[R] p, float[R] q, float[R] i, float[R] j, float k)
                => (float[R] pn, float[R] qn, float[R] u, float[R] v, float[R] o) {
                ik = Mul (i, k)
                low = Less (ik, p)
                half = Constant <value_float = 0.5> ()
                ph = Mul (p, half)
                pw = Add (ph, w)
                pn = Where (low, pw, ik)
                qn = Identity (p)
                u = Add (q, j)
                v = Max (u, i)
                o = Identity (j)
              }> (a0, b0, x, y, z)
        }""",
        {
            "a0": _values("float", rows),
            "b0": _values("float", rows),
            "x": _values("float", rows, length),
            "y": _values("float", length, rows),
            "z": _values("float", length),
            "w": _values("float", rows),
        },
    )


@pytest.mark.parametrize("shape", [(2, 3, 5), (3, 18, 20), (1, 16, 32), (2, 1, 7), (0, 4, 4)])
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_three_axes(shape: tuple[int, ...], axis: int) -> None:
    """scan_axes: each axis of three, with a state that broadcasts a row."""
    rest = [extent for k, extent in enumerate(shape) if k != axis]
    _check(
        f"""planes (float[A,B] s0, float[X,Y,Z] x, float[B] c) => (float[A,B] s, float[U,V,W] ys) {{
          s, ys = Scan <num_scan_inputs = 1, scan_input_axes = [{axis}], scan_output_axes = [{axis}],
              body = step (float[A,B] p, float[A,B] e) => (float[A,B] n, float[A,B] y) {{
                d = Div (p, c)
                n = Add (d, e)
                y = Mul (n, e)
              }}> (s0, x)
        }}""",
        {
            "s0": _values("float", *rest),
            "x": _values("float", *shape),
            "c": np.full(rest[1], 4, np.float32),
        },
    )


@pytest.mark.parametrize("rows,length", [(5, 3), (64, 50), (20, 16), (1, 7)])
def test_loop_that_gathers_columns(rows: int, length: int) -> None:
    """A Loop that reads column i of what it captures."""
    _check(
        """gathers (int64 count, float[R,T] x, float[R] s0) => (float[R] s, float[T,R] ys) {
          s, ys = Loop <body = step (int64 i, bool go, float[R] p) => (bool go, float[R] n, float[R] y) {
              e = Gather <axis = 1> (x, i)
              n = Add (p, e)
              y = Mul (p, e)
            }> (count, "", s0)
        }""",
        {
            "count": np.array(length, np.int64),
            "x": _values("float", rows, length),
            "s0": _values("float", rows),
        },
    )


@pytest.mark.parametrize("shape", [(1,), (7,), (4, 40), (33, 17), (2, 3, 35), (0, 4), (4, 0)])
@pytest.mark.parametrize("exclusive,reverse", [(0, 0), (0, 1), (1, 0), (1, 1)])
def test_cumulative_sums(shape: tuple[int, ...], exclusive: int, reverse: int) -> None:
    """CumSum over each axis."""
    for axis in range(len(shape)):
        names = ",".join("ABC"[: len(shape)])
        _check(
            f"""sums (float[{names}] x) => (float[{names}] y) {{
              axis = Constant <value = int64 {{{axis}}}> ()
              y = CumSum <exclusive = {exclusive}, reverse = {reverse}> (x, axis)
            }}""",
            {"x": _values("float", *shape)},
        )


@pytest.mark.parametrize("axis", range(6))
def test_axis_behind_one_of_one(axis: int) -> None:
    """An axis of extent 1 in front of the one that is scanned, strides not known."""
    shape = [2, 1, 3, 2, 5]
    dims = ["A", "1", "B", "C", "D"]
    whole = [*shape[:axis], 4, *shape[axis:]]
    names = [*dims[:axis], "S", *dims[axis:]]
    part = f"float[{','.join(dims)}]"
    _check(
        f"""ones ({part} s0, float[{",".join(names)}] x) => ({part} s, float[{",".join(names)}] ys) {{
          s, ys = Scan <num_scan_inputs = 1, scan_input_axes = [{axis}], scan_output_axes = [{axis}],
              body = step ({part} p, {part} e) => ({part} n, {part} y) {{
                n = Add (p, e)
                y = Identity (n)
              }}> (s0, x)
        }}""",
        {"s0": _values("float", *shape), "x": _values("float", *whole)},
    )


@pytest.mark.parametrize("directions", [(0, 0), (1, 0), (1, 1)])
def test_rows_of_one_in_few_trips(directions: tuple[int, int]) -> None:
    """Unrolled, an axis of extent 1 stays where it is and the last one is left out."""
    _check(
        f"""rows (float[1,4] a, float[1,4,1] b) => (float[1,4,4] same, float[1,4,4] sums) {{
          x = Add (a, b)
          same, sums = Scan <num_scan_inputs = 1, scan_input_axes = [2], scan_output_axes = [2, 2],
              scan_input_directions = [{directions[0]}], scan_output_directions = [{directions[1]}, 0],
              body = row (float[1,4] e) => (float[1,4] f, float[1,4] g) {{
                f = Identity (e)
                g = Add (e, a)
              }}> (x)
        }}""",
        {"a": _values("float", 1, 4), "b": _values("float", 1, 4, 1)},
    )
