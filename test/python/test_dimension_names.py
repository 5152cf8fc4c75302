# ===- test_dimension_names.py - What exporters call dimensions --------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Names of dimensions: equal names are equal extents, texts that name nothing are not."""

from __future__ import annotations

import re

import loopc
import numpy as np
import onnxruntime
import pytest
from onnx import TensorProto, helper

# Paddle and TVM, "-1", CNTK, nothing; scikit-learn and ML.NET; TensorFlow and ONNX's inference.
UNKNOWN = ["?", "-1", "*", "", "None", "none", "None__3", "unk__12", "unk", "Unknown",
           "DynamicDimension.1", "dynamic", "FreeDimension"]  # fmt: skip
NAMES = ["N", "batch", "_", "s0", "s0 + 1", "past_sequence_length + 1", "unknown_words",
         "dynamic_axes_1", "none_of_them", "größe", "2*N"]  # fmt: skip


def model_of(name: str, other: str | None = None) -> bytes:
    """Two inputs with an axis `name`, which have nothing to do with each other."""
    other = name if other is None else other
    ports = {k: [n] for k, n in zip("abxy", (name, other, name, other), strict=True)}
    infos = [helper.make_tensor_value_info(k, TensorProto.FLOAT, d) for k, d in ports.items()]
    nodes = [helper.make_node("Neg", ["a"], ["x"]), helper.make_node("Abs", ["b"], ["y"])]
    graph = helper.make_graph(nodes, "g", infos[:2], infos[2:])
    opsets = [helper.make_opsetid("", 17)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=10).SerializeToString()


FEEDS = {"a": np.ones(2, np.float32), "b": np.ones(5, np.float32)}


@pytest.mark.parametrize("name", UNKNOWN)
def test_unknown_dimensions_are_unrelated(name: str) -> None:
    model = model_of(name)
    expected = onnxruntime.InferenceSession(model).run(None, FEEDS)
    session = loopc.InferenceSession(model)
    for got, want in zip(session.run(None, FEEDS), expected, strict=True):
        np.testing.assert_array_equal(got, want)
    assert [port.shape for port in session.get_inputs()] == [[None], [None]]


@pytest.mark.parametrize("name", NAMES)
def test_names_are_equal_extents(name: str) -> None:
    session = loopc.InferenceSession(model_of(name))
    assert [port.shape for port in session.get_inputs()] == [[name], [name]]
    same = {k: np.ones(3, np.float32) for k in "ab"}
    assert [len(v) for v in session.run(None, same)] == [3, 3]
    # A run that contradicts the name is one without it, as in onnxruntime.
    with pytest.warns(UserWarning, match="'b'|" + re.escape(repr(name))):
        assert [len(v) for v in session.run(None, FEEDS)] == [2, 5]
    assert [len(v) for v in session.run(None, same)] == [3, 3]


def test_negative_extents_are_unknown() -> None:
    """Some exporters write -1 as the extent itself; onnxruntime takes it for unknown, too."""
    model = helper.make_model(helper.make_graph(
        [helper.make_node("Neg", ["a"], ["x"])], "g",
        [helper.make_tensor_value_info("a", TensorProto.FLOAT, [-1, 2])],
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [-1, 2])],
    ), opset_imports=[helper.make_opsetid("", 17)], ir_version=10)  # fmt: skip
    session = loopc.InferenceSession(model.SerializeToString())
    assert session.run(None, {"a": np.ones((3, 2), np.float32)})[0].shape == (3, 2)


@pytest.mark.parametrize("name", ["?", "unk__12"])
def test_unknown_dimensions_are_pinned_by_what_is_written(name: str) -> None:
    options = loopc.SessionOptions(dims={name: 2})
    session = loopc.InferenceSession(model_of(name, "N"), sess_options=options)
    assert [port.shape for port in session.get_inputs()] == [[2], ["N"]]
    assert [len(v) for v in session.run(None, FEEDS)] == [2, 5]
