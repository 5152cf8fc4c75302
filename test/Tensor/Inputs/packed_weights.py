# ===- packed_weights.py - A product with weights of four bits ----------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Writes a model with one MatMulNBits, whose weights take 32 KiB: path, accuracy_level."""

import sys

import numpy as np
import onnx
from onnx import helper

rows, columns, size = 1024, 64, 32
random = np.random.default_rng(0)
blocks = rows // size
weights = {
    "packed": random.integers(0, 256, (columns, blocks, size // 2), dtype=np.uint8),
    "scales": np.ones(columns * blocks, np.float32),
}
node = helper.make_node(
    "MatMulNBits", ["x", "packed", "scales"], ["y"], domain="com.microsoft",
    K=rows, N=columns, bits=4, block_size=size, accuracy_level=int(sys.argv[2]),
)  # fmt: skip
float32 = onnx.TensorProto.FLOAT
graph = helper.make_graph(
    [node],
    "packed",
    [helper.make_tensor_value_info("x", float32, ["n", rows])],
    [helper.make_tensor_value_info("y", float32, ["n", columns])],
    [onnx.numpy_helper.from_array(value, name) for name, value in weights.items()],
)
opsets = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=10), sys.argv[1])
