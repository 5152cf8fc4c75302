# ===- test_backend.py - loopc behind onnx.backend --------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""The interface that onnx.backend.test and others call."""

import loopc
import loopc.backend
import numpy as np
import onnx
import onnx.helper
import onnx.parser
import pytest
from onnx.backend.base import Backend

X = np.arange(6, dtype=np.float32).reshape(2, 3)


def model():
    return onnx.parser.parse_model(
        '<ir_version: 10, opset_import: ["" : 21]>'
        "g (float[2,3] x, float[2,3] b) => (float[2,3] y) { y = Add(x, b) }"
    )


def test_is_a_backend():
    assert issubclass(loopc.backend.LoopcBackend, Backend)
    assert loopc.backend.supports_device("CPU")
    assert not loopc.backend.supports_device("CUDA")


def test_prepare():
    rep = loopc.backend.prepare(model())
    for inputs in ([X, X], (X, X), {"b": X, "x": X}):
        (y,) = rep.run(inputs)
        np.testing.assert_array_equal(y, X + X)
    with pytest.raises(loopc.InvalidArgument, match="expected 2 inputs, got 1"):
        rep.run([X])
    with pytest.raises(loopc.InvalidArgument, match="device"):
        loopc.backend.prepare(model(), "CUDA")
    with pytest.raises(loopc.InvalidArgument, match="unknown arguments: speed"):
        loopc.backend.prepare(model(), speed=3)


def test_an_array_is_the_only_input():
    text = '<ir_version: 10, opset_import: ["" : 21]> g (float[2,3] x) => (float[2,3] y) { y = Abs(x) }'
    rep = loopc.backend.prepare(onnx.parser.parse_model(text))
    np.testing.assert_array_equal(rep.run(-X)[0], X)
    with pytest.raises(loopc.InvalidArgument, match="expected 2 inputs"):
        loopc.backend.prepare(model()).run(np.ones((3, 2)))


def test_run_model():
    (y,) = loopc.backend.run_model(model(), [X, X])
    np.testing.assert_array_equal(y, X + X)


@pytest.mark.parametrize("outputs_info", [None, [(np.dtype(np.float32), (2, 3))]])
def test_run_node(outputs_info):
    node = onnx.helper.make_node("Mul", ["x", "x"], ["y"])
    (y,) = loopc.backend.run_node(node, [X], outputs_info=outputs_info)
    np.testing.assert_array_equal(y, X * X)
    with pytest.raises(loopc.InvalidArgument, match="has 1 inputs, got 2"):
        loopc.backend.run_node(node, [X, X])


def test_run_node_with_collections():
    items = [X, np.ones(4, np.float32)]
    node = onnx.helper.make_node("SequenceInsert", ["s", "x"], ["y"])
    (y,) = loopc.backend.run_node(node, [items, X[0]])
    assert len(y) == 3
    for got, want in zip(y, [*items, X[0]], strict=True):
        np.testing.assert_array_equal(got, want)
    node = onnx.helper.make_node("Identity", ["x"], ["y"])
    (y,) = loopc.backend.run_node(node, [np.array(["a", "bc"])])
    assert y.tolist() == ["a", "bc"]
    with pytest.raises(loopc.InvalidArgument, match="an empty list does not tell"):
        loopc.backend.run_node(node, [[]])


def test_is_compatible():
    assert loopc.backend.is_compatible(model())
    assert not loopc.backend.is_compatible(model(), "CUDA")
    bad = model()
    bad.graph.node[0].op_type = "Foo"
    assert not loopc.backend.is_compatible(bad)
