# ===- standardized.py - Weights that a model standardizes ------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""A product with weights that the model standardizes: of mean 0 and variance 1."""

import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

ROWS, COLUMNS = 1024, 640

weights = np.random.default_rng(0).standard_normal((ROWS, COLUMNS)).astype(np.float32)
constants = {
    "w": weights,
    "axes": np.array([1]),
    "tiny": np.float32(1e-6),
}
nodes = [
    helper.make_node("ReduceMean", ["w", "axes"], ["mean"]),
    helper.make_node("Sub", ["w", "mean"], ["centred"]),
    helper.make_node("Mul", ["centred", "centred"], ["squares"]),
    helper.make_node("ReduceMean", ["squares", "axes"], ["variance"]),
    helper.make_node("Add", ["variance", "tiny"], ["positive"]),
    helper.make_node("Sqrt", ["positive"], ["deviation"]),
    helper.make_node("Div", ["centred", "deviation"], ["standard"]),
    helper.make_node("MatMul", ["x", "standard"], ["y"]),
]
outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", COLUMNS])]
inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", ROWS])]
if "tied" in sys.argv[2:]:
    inputs.append(helper.make_tensor_value_info("i", TensorProto.INT64, ["n"]))
    nodes.append(helper.make_node("Gather", ["w", "i"], ["z"]))
    outputs.append(helper.make_tensor_value_info("z", TensorProto.FLOAT, ["n", COLUMNS]))
initializers = [numpy_helper.from_array(value, name) for name, value in constants.items()]
graph = helper.make_graph(nodes, "standardized", inputs, outputs, initializers)
opsets = [helper.make_opsetid("", 18)]
onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), sys.argv[1])
