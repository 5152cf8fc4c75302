# ===- test_rank_corners.py - Declared ranks, and what few models have ---------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Ranks that only declarations tell, and operators that few models have on unknown ranks."""

from __future__ import annotations

import loopc
import numpy as np
import onnx.reference
import pytest
from loop_models.registry import graph, i64, noise
from loopc import reference
from test_ranks import compare, session

DECLARED = """(float[] x, int64 trips) => (float[t, a, b] y, float[] z, float[] w, float[] v) {
  y, z, w = Loop(trips, "") <body = l (int64 i, bool p) =>
                             (bool p, float[] a, float[r, 4] b, float[] c) {
    a = Identity(x) b = Abs(x) c = Neg(x)
  }>
  v = Scan<num_scan_inputs: int = 1, scan_input_axes: ints = [1],
           body = s (float[] e) => (float[] n) { n = Neg(e) }>(y)
}"""


def test_rank_that_is_declared_of_what_a_loop_collects() -> None:
    """loop_zero: after no iteration the model's declaration tells a rank that values do not.

    The output of the body or of the node; a wrong one says nothing of what iterations give.
    """
    model = session(DECLARED)
    x = noise(2, 3)
    y, z, w, v = model.run(None, {"x": x, "trips": i64(0)})
    assert [y.shape, z.shape, w.shape] == [(0, 0, 0), (0, 0, 4), (0,)]
    assert v.shape[0] == 0
    for value in (x, noise(2), noise(2, 1, 3)):
        rows = np.stack([value] * 2)
        y, z, w, v = model.run(None, {"x": value, "trips": i64(2)})
        compare([y, z, w, v], [rows, np.abs(rows), -rows, -rows.swapaxes(0, 1)])


DECLARED_EXTENTS = """(float[n, c] x, float[o, c] rows, int64[k] shape, int64 trips) => (float[t, a, b] y, float[u, d, e] z) {
  y = Loop(trips, "") <body = l (int64 i, bool p) => (bool p, float[m, 4] a) {
    a = Reshape(x, shape)
  }>
  z = Scan<num_scan_inputs: int = 1, scan_output_axes: ints = [-1],
           body = s (float[w] r) => (float[5, v] n) { n = Reshape(x, shape) }>(rows)
}"""


@pytest.mark.parametrize("form", ["known rank", "unknown rank"])
def test_extents_that_are_declared_of_what_a_loop_collects(form: str) -> None:
    """loop_zero: so with extents; a wrong one says nothing of what iterations give."""
    model = session(DECLARED_EXTENTS.replace("[k]", "[2]" if form == "known rank" else "[k]"))
    x = noise(3, 4)
    y, z = model.run(None, {"x": x, "rows": x[:0], "shape": i64([-1, 4]), "trips": i64(0)})
    assert [y.shape, z.shape] == [(0, 0, 4), (5, 0, 0)]
    y, z = model.run(None, {"x": x, "rows": x, "shape": i64([2, 6]), "trips": i64(3)})
    rows = [x.reshape(2, 6)] * 3
    compare([y, z], [np.stack(rows), np.stack(rows, -1)])


@pytest.mark.parametrize("x_type", ["float[{}, {}, {}]", "float[a, b, c]", "float[]"])
@pytest.mark.parametrize("shape_type", ["int64[3]", "int64[n]", "int64[]", "constant"])
def test_inferred_extent_beside_an_empty_axis(x_type: str, shape_type: str) -> None:
    """An axis that 0 copies is no factor of what -1 stands for; without it nothing may be 0."""
    given, constant = f", {shape_type} s", ""
    for shape, extents, want in (
        ((0, 4, 2), (0, -1, 4), (0, 2, 4)),
        ((0, 4, 2), (0, -1, 2), (0, 4, 2)),
        ((3, 0, 2), (-1, 0, 6), (1, 0, 6)),
        ((3, 0, 2), (2, 0, -1), (2, 0, 3)),
        ((3, 4, 2), (0, -1, 4), (3, 2, 4)),
        ((0, 4, 2), (0, 3, -1), None),
        ((3, 0, 2), (0, 2, -1), (3, 2, 0)),
        ((3, 0, 2), (-1, 5, 2), (0, 5, 2)),
    ):
        if shape_type == "constant":
            values = ", ".join(map(str, extents))
            given, constant = "", f"s = Constant<value: tensor = int64[3] {{{values}}}>()"
        text = (
            f"({x_type.format(*shape)} x{given}) => (float[p, q, r] y) "
            f"{{ {constant} y = Reshape(x, s) }}"
        )
        feeds = {"x": noise(*shape)} | ({} if constant else {"s": i64(extents)})
        if want is not None:
            compare(session(text).run(None, feeds), [feeds["x"].reshape(want)])
            compare(reference.run(graph(text), feeds), [feeds["x"].reshape(want)])
            continue
        with pytest.raises((loopc.RunError, loopc.CompileError), match="not divided evenly"):
            session(text).run(None, feeds)


def test_scale_and_zero_point_of_different_ranks() -> None:
    """One element is one, of whatever rank: a scale of rank 0, a zero point of rank 1."""
    model = session("""(float[] x, float[] s, uint8[] z) => (uint8[] q, float[] y) {
        q = QuantizeLinear(x, s, z)
        y = DequantizeLinear(q, s, z)
    }""")
    for shape in ((), (3,), (2, 3), (2, 3, 4)):
        x = 10 * noise(*shape)
        want = np.clip(np.rint(x / np.float32(0.5)) + 7, 0, 255).astype(np.uint8)
        back = (want.astype(np.float32) - 7) / 2
        for scale in (np.float32(0.5), np.full(1, 0.5, np.float32)):
            for zero in (np.uint8(7), np.full(1, 7, np.uint8)):
                if shape == () and (np.ndim(scale) or np.ndim(zero)):
                    continue
                got = model.run(None, {"x": x, "s": np.asarray(scale), "z": np.asarray(zero)})
                compare(got, [want, back])


def test_pad_along_axes_of_any_number() -> None:
    """How many axes a Pad has may be known at run time only."""
    model = session("""(float[a, b, c] x, int64[p] pads, int64[n] axes) => (float[d, e, f] y) {
        y = Pad(x, pads, , axes)
    }""")
    x = noise(2, 3, 4)
    for axes in ([], [1], [-1, 0], [2, -3, 1]):
        pads = np.arange(1, 2 * len(axes) + 1)
        widths = [(0, 0)] * 3
        for k, axis in enumerate(axes):
            widths[axis] = (int(pads[k]), int(pads[len(axes) + k]))
        got = model.run(None, {"x": x, "pads": pads, "axes": np.array(axes, np.int64)})
        compare(got, [np.pad(x, widths)])
    with pytest.raises(loopc.RunError, match="has 4 elements for a value of rank 3"):
        model.run(None, {"x": x, "pads": i64([0] * 8), "axes": i64([0, 1, 2, 0])})
    with pytest.raises(loopc.RunError, match="3 and 4 differ"):
        model.run(None, {"x": x, "pads": i64([0] * 3), "axes": i64([0, 1])})
    with pytest.raises(loopc.RunError, match="axis 3 is out of range"):
        model.run(None, {"x": x, "pads": i64([0, 0]), "axes": i64([3])})
    huge = {"x": x, "pads": i64([2**62, 2**62]), "axes": i64([0])}
    with pytest.raises(loopc.RunError, match="less than 0"):
        model.run(None, huge)


TRAINING = {
    "Adagrad": ("<decay_factor = 0.1, epsilon = 0.001, norm_coefficient = 0.01>", 1),
    "Momentum": ('<alpha = 0.9, beta = 0.8, mode = "nesterov", norm_coefficient = 0.01>', 1),
    "Adam": ("<alpha = 0.9, beta = 0.8, epsilon = 0.001, norm_coefficient = 0.01>", 2),
}


@pytest.mark.parametrize("operator", TRAINING)
def test_training(operator: str) -> None:
    """Steps of training for several tensors, each of its own rank."""
    attributes, moments = TRAINING[operator]
    groups = ["x", "g", *("v", "h")[:moments]]
    names = [f"{group}{k}" for group in groups for k in range(2)]
    made = [f"n{k}" for k in range(2 + 2 * moments)]
    arguments = ", ".join(f"float[] {name}" for name in names)
    results = ", ".join(f"float[] {name}" for name in made)
    text = f"""(float[] r, int64[] t, {arguments}) => ({results}) {{
        {", ".join(made)} = ai.onnx.preview.training.{operator} {attributes} (r, t, {", ".join(names)})
    }}"""
    proto = graph(text, opset=21)
    proto.opset_import.add(domain="ai.onnx.preview.training", version=1)
    model = loopc.InferenceSession(proto.SerializeToString())
    evaluator = onnx.reference.ReferenceEvaluator(proto)
    shapes = ((2, 3), ())
    for one in (shapes, shapes[::-1], ((4,), (1, 2, 3))):
        feeds = {"r": np.array(0.1, np.float32), "t": i64(1)}
        feeds |= {f"{group}{k}": abs(noise(*one[k])) for group in groups for k in range(2)}
        compare(model.run(None, feeds), evaluator.run(None, feeds))
    feeds["g0"] = noise(2, 2)
    with pytest.raises(loopc.RunError, match="do not broadcast"):
        model.run(None, feeds)
