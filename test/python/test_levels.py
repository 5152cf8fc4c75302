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
