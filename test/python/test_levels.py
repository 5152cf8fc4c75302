# ===- test_levels.py - Levels of optimisation ------------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""What -O1 to -O3 have in common, and how onnxruntime's levels are named."""

import loopc
import numpy as np
import onnx.parser
import pytest


def test_levels_of_onnxruntime():
    """Who turns optimisation off wants to be ready soon."""
    levels = {
        loopc.GraphOptimizationLevel.ORT_DISABLE_ALL: 1,
        loopc.GraphOptimizationLevel.ORT_ENABLE_BASIC: 1,
        loopc.GraphOptimizationLevel.ORT_ENABLE_EXTENDED: 2,
        loopc.GraphOptimizationLevel.ORT_ENABLE_ALL: None,
    }
    for level, expected in levels.items():
        options = loopc.SessionOptions(graph_optimization_level=level)
        assert options._compile_options()["opt_level"] == expected


CELL = onnx.parser.parse_model("""
<ir_version: 10, opset_import: ["" : 21]>
cell (float[T,B,24] xs, float[B,24] h, float[24,24] w, float[24] b) => (float[B,24] last, float[T,B,24] all) {
  last, all = Scan <num_scan_inputs = 1, body = step (float[B,24] before, float[B,24] x)
    => (float[B,24] after, float[B,24] copy) {
      product = MatMul (before, w)
      sum = Add (product, x)
      scaled = Mul (sum, b)
      bounded = Tanh (scaled)
      norm = Softmax <axis = 1> (bounded)
      after = Sub (bounded, norm)
      copy = Identity (after)
    }> (h, xs)
}""")


@pytest.mark.parametrize("rows", [1, 3, 17])
def test_levels_have_the_same_bits(rows):
    """Products and sums are fused before LLVM's passes, whichever of them run."""
    random = np.random.default_rng(rows)
    feeds = {
        "xs": random.standard_normal((5, rows, 24), np.float32),
        "h": random.standard_normal((rows, 24), np.float32),
        "w": random.standard_normal((24, 24), np.float32),
        "b": random.standard_normal(24, np.float32),
    }
    by_level = [
        loopc.InferenceSession(CELL, loopc.SessionOptions(opt_level=level)).run(None, feeds)
        for level in (1, 2, 3)
    ]
    for outputs in by_level[:-1]:
        for output, expected in zip(outputs, by_level[-1], strict=True):
            np.testing.assert_array_equal(output, expected)


def products(kind: int, operands: str, extents: str) -> onnx.ModelProto:
    """A sum of products, what is computed on its result, and a copy that turns it."""
    left, right, code = {
        0: ("M,K", "K,N", "p = MatMul (x, w)"),
        1: ("M,K", "N,K", "p = Gemm <transB = 1> (x, w)"),
        2: ("K,M", "K,N", "p = Gemm <transA = 1> (x, w)"),
        3: ("B,M,K", "B,K,N", "p = MatMul (x, w)"),
        4: ("B,M,K", "K,N", "p = MatMul (x, w)"),
        5: ("K", "K,N", "p = MatMul (x, w)"),
    }[kind]
    if extents:
        for name, extent in zip("BMKN", extents.split(","), strict=True):
            left, right = left.replace(name, extent), right.replace(name, extent)
    rest = "y = Transpose (p)" if operands == "int32" else "a = Sigmoid (p)\n  y = Transpose (a)"
    return onnx.parser.parse_model(f"""
<ir_version: 10, opset_import: ["" : 21]>
product ({operands}[{left}] x, {operands}[{right}] w) => ({operands} p, {operands} y) {{
  {code}
  {rest}
}}""")


@pytest.mark.parametrize("operands", ["float", "double", "float16", "int32"])
@pytest.mark.parametrize("is_known", [False, True])
@pytest.mark.parametrize("kind", range(6))
def test_small_products_have_the_same_bits(kind, is_known, operands):
    """One kind of tile at -O1, for any number of rows and columns."""
    random = np.random.default_rng(kind)
    sizes = [
        (2, 1, 7, 3),
        (2, 5, 33, 70),
        (1, 4, 16, 64),
        (3, 7, 1, 129),
        (1, 0, 3, 5),
        (1, 3, 0, 5),
    ]
    sessions: list[loopc.InferenceSession] = []
    for b, m, k, n in sizes[1:4] if is_known else sizes:
        if is_known or not sessions:
            model = products(kind, operands, f"{b},{m},{k},{n}" if is_known else "")
            sessions = [
                loopc.InferenceSession(model, loopc.SessionOptions(opt_level=level))
                for level in (1, 3)
            ]
        shapes = [
            ((m, k), (k, n)),
            ((m, k), (n, k)),
            ((k, m), (k, n)),
            ((b, m, k), (b, k, n)),
            ((b, m, k), (k, n)),
            ((k,), (k, n)),
        ][kind]
        dtype = {"float": "float32", "double": "float64"}.get(operands, operands)
        x, w = ((random.standard_normal(shape) * 3).astype(dtype) for shape in shapes)
        quick, best = (session.run(None, {"x": x, "w": w}) for session in sessions)
        for output, expected in zip(quick, best, strict=True):
            # Sums along a vector are in another order.
            if kind == 1 and operands != "int32":
                digits = 1e-2 if operands == "float16" else 1e-5
                np.testing.assert_allclose(output, expected, digits, digits)
            else:
                np.testing.assert_array_equal(output, expected)
