# ===- test_pooled_rows.py - Poolings that compute the rows they read -------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Rows of an image that one iteration of a pooling reads are computed in it (nest-fuse-strips)."""

from __future__ import annotations

from typing import Any

import loopc
import numpy as np
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

#: Operator and attributes of the pooling, channels, extents of the image: rows that
#: are left over, windows of one row, of three, with padding, and such that overlap,
#: and large ones.
POOLS = [
    ("MaxPool", {"kernel_shape": [2, 2], "strides": [2, 2]}, 32, (151, 120)),
    ("MaxPool", {"kernel_shape": [3, 3], "strides": [3, 3]}, 40, (160, 64)),
    ("AveragePool", {"kernel_shape": [2, 3], "strides": [2, 2]}, 16, (200, 90)),
    ("MaxPool", {"kernel_shape": [1, 4], "strides": [1, 4]}, 33, (96, 80)),
    ("MaxPool", {"kernel_shape": [2, 2], "strides": [2, 2], "pads": [0, 1, 0, 1]}, 32, (128, 70)),
    ("MaxPool", {"kernel_shape": [3, 3], "strides": [2, 2]}, 32, (129, 65)),
    # One axis after the other, the last one last.
    ("AveragePool", {"kernel_shape": [8, 8], "strides": [8, 8]}, 16, (130, 70)),
    ("MaxPool", {"kernel_shape": [5, 7], "strides": [5, 3], "pads": [2, 3, 1, 2]}, 16, (66, 50)),
    ("AveragePool", {"kernel_shape": [5, 5], "strides": [4, 4], "pads": [2] * 4}, 16, (66, 50)),
]


def convolve_and_pool(
    op: str, attributes: dict[str, list[int]], channels: int, extents: tuple[int, int]
) -> bytes:
    random = np.random.default_rng(channels)
    weights = random.standard_normal((channels, 2, 3, 3)).astype(np.float32)
    bias = random.standard_normal(channels).astype(np.float32)
    nodes = [
        helper.make_node("Conv", ["x", "w", "b"], ["sums"], pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["sums"], ["image"]),
        helper.make_node(op, ["image"], ["y"], **attributes),
    ]
    shape = ["N", 2, *extents]
    graph = helper.make_graph(
        nodes,
        "pool",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(weights, "w"), numpy_helper.from_array(bias, "b")],
    )
    opsets = [helper.make_opsetid("", 21)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=10).SerializeToString()


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("op,attributes,channels,extents", POOLS)
def test_pooling_behind_a_convolution(
    op: str,
    attributes: dict[str, list[int]],
    channels: int,
    extents: tuple[int, int],
    threads: int,
) -> None:
    model = convolve_and_pool(op, attributes, channels, extents)
    sessions = []
    for disabled in ([], ["nest-fuse-strips"]):
        options = loopc.SessionOptions()
        options.intra_op_num_threads = threads
        options.disabled_passes = disabled
        sessions.append(loopc.InferenceSession(model, options))
    peer = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    for batch in (1, 3, 0):
        x = np.random.default_rng(batch).standard_normal((batch, 2, *extents)).astype(np.float32)
        got, whole = (session.run(None, {"x": x})[0] for session in sessions)
        np.testing.assert_array_equal(got, whole)
        np.testing.assert_allclose(got, peer.run(None, {"x": x})[0], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("kind", [np.float32, np.float16])
@pytest.mark.parametrize("op", ["MaxPool", "AveragePool", "LpPool"])
def test_window_of_an_open_image(op: str, kind: type[np.floating[Any]]) -> None:
    """A window that turns out to be all of the image, and one that is not, along each axis."""
    element = helper.np_dtype_to_tensor_dtype(np.dtype(kind))
    x = helper.make_tensor_value_info("x", element, ["N", 5, "H", "W"])
    y = helper.make_tensor_value_info("y", element, None)
    pool = helper.make_node(op, ["x"], ["y"], kernel_shape=[6, 7], strides=[1, 2])
    graph = helper.make_graph([pool], "pool", [x], [y])
    opsets = [helper.make_opsetid("", 21)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=10).SerializeToString()
    session = loopc.InferenceSession(model)
    for shape in ((1, 5, 6, 7), (2, 5, 6, 7), (2, 5, 6, 8), (1, 5, 7, 7), (1, 5, 9, 11)):
        image = np.random.default_rng(shape[2]).standard_normal(shape).astype(kind)
        windows = np.lib.stride_tricks.sliding_window_view(image, (6, 7), (2, 3))[:, :, :, ::2]
        of_windows = windows.astype(np.float64)
        if op == "MaxPool":
            want = of_windows.max((-2, -1))
        elif op == "AveragePool":
            want = of_windows.mean((-2, -1))
        else:
            want = np.sqrt((of_windows**2).sum((-2, -1)))
        got = session.run(None, {"x": image})[0]
        assert got.shape == want.shape
        np.testing.assert_allclose(got, want, rtol=2e-3, atol=2e-3)
