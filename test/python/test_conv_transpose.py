# ===- test_conv_transpose.py - Transposed convolutions by phases ------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Transposed convolutions, which are convolutions for each phase of the stride."""

from __future__ import annotations

from typing import Any

import loopc
import numpy as np
import onnx
import onnx.helper
import onnx.numpy_helper
import onnxruntime
import pytest

#: Image, weights and attributes.
CASES: dict[str, tuple[tuple[int, ...], tuple[int, ...], dict[str, Any]]] = {
    "vocoder": ((1, 16, 9), (16, 24, 16), {"strides": [8], "pads": [4, 4]}),
    "odd": ((2, 5, 7), (5, 4, 7), {"strides": [3], "pads": [1, 2]}),
    "longer": ((1, 3, 6), (3, 4, 4), {"strides": [3], "output_padding": [2]}),
    "one_step": ((1, 6, 8), (6, 5, 5), {"pads": [2, 2]}),
    "sparse": ((1, 3, 4), (3, 2, 1), {"strides": [4]}),
    "dilated": ((1, 3, 6), (3, 4, 3), {"strides": [2], "dilations": [2]}),
    "doubled": ((1, 20, 6, 5), (20, 18, 2, 2), {"strides": [2, 2]}),
    "overlapping": ((2, 17, 5, 6), (17, 6, 4, 4), {"strides": [2, 2], "pads": [1, 1, 1, 1]}),
    "uneven": ((1, 4, 5, 6), (4, 3, 3, 5), {"strides": [2, 3], "pads": [1, 0, 0, 2]}),
    "groups": ((1, 8, 5, 4), (8, 3, 4, 4), {"strides": [2, 2], "group": 4}),
    "filters": ((1, 32, 6), (32, 1, 8), {"strides": [4], "pads": [2, 2], "group": 32}),
    "empty_mode": ((1, 4, 5), (4, 3, 3), {"strides": [2], "auto_pad": ""}),
    "same": ((1, 4, 5), (4, 3, 3), {"strides": [2], "auto_pad": "SAME_UPPER"}),
    "same_lower": ((1, 4, 5), (4, 3, 4), {"strides": [3], "auto_pad": "SAME_LOWER"}),
    "given": ((1, 4, 5), (4, 3, 4), {"strides": [2], "output_shape": [9]}),
    "given_longer": ((1, 4, 5), (4, 3, 4), {"strides": [2], "output_shape": [12]}),
    "few_phases": ((1, 6, 8), (6, 5, 11), {"strides": [5], "pads": [3, 2]}),
    "odd_groups": ((2, 8, 5, 4), (8, 3, 3, 3), {"strides": [2, 2], "group": 4, "pads": [1] * 4}),
    "five_groups": ((1, 6, 7), (6, 2, 7), {"strides": [3], "group": 3}),
    "decoder": (
        (1, 20, 6, 5),
        (20, 18, 3, 3),
        {"strides": [2, 2], "pads": [1] * 4, "output_padding": [1, 1]},
    ),
    "points": ((2, 4, 3, 5), (4, 17, 1, 2), {"strides": [2, 3], "output_padding": [1, 0]}),
    "one_position": ((1, 5, 1, 1), (5, 3, 5, 3), {"strides": [3, 2]}),
    "one_element": ((3, 100, 1, 1), (100, 20, 4, 4), {}),
    "one_of_groups": ((2, 8, 1, 1), (8, 3, 4, 4), {"group": 4, "strides": [2, 2], "pads": [1] * 4}),
    "one_row": ((2, 5, 1, 6), (5, 3, 4, 3), {"strides": [2, 2], "pads": [1, 0, 1, 0]}),
    "one_same": ((1, 4, 1), (4, 3, 5), {"strides": [3], "auto_pad": "SAME_UPPER"}),
    "one_given": ((1, 4, 1), (4, 3, 5), {"strides": [2], "output_shape": [4]}),
    "same_2d": ((1, 4, 5, 3), (4, 3, 3, 2), {"strides": [2, 3], "auto_pad": "SAME_UPPER"}),
    "given_2d": ((1, 4, 5, 3), (4, 3, 3, 3), {"strides": [2, 2], "output_shape": [12, 5]}),
    "wide_stride": ((1, 2, 3, 3), (2, 2, 10, 10), {"strides": [9, 9]}),
    "odd_solid": ((1, 3, 3, 4, 3), (3, 4, 3, 2, 3), {"strides": [2, 2, 2]}),
    "same_longer": (
        (1, 3, 3, 4),
        (3, 2, 3, 1),
        {"strides": [2, 2], "output_padding": [1, 1], "auto_pad": "SAME_LOWER"},
    ),
    "same_sparse": ((1, 3, 4), (3, 2, 2), {"strides": [3], "auto_pad": "SAME_UPPER"}),
    "same_sparse_longer": (
        (1, 3, 4),
        (3, 2, 1),
        {"strides": [4], "output_padding": [2], "auto_pad": "SAME_LOWER"},
    ),
    "solid": ((1, 3, 3, 4, 3), (3, 4, 2, 2, 2), {"strides": [2, 2, 2]}),
}


def _model(
    case: str, *, is_open: bool, weights: str, bias: bool
) -> tuple[onnx.ModelProto, dict[str, np.ndarray]]:
    image, kernel, attributes = CASES[case]
    random = np.random.default_rng(len(case))
    values = {
        "x": random.standard_normal(image).astype(np.float32),
        "w": random.standard_normal(kernel).astype(np.float32),
    }
    if bias:
        channels = kernel[1] * attributes.get("group", 1)
        values["b"] = random.standard_normal(channels).astype(np.float32)
    constants = set() if weights == "input" else values.keys() - {"x"}
    node = onnx.helper.make_node("ConvTranspose", list(values), ["y"], **attributes)
    dims = [f"d{k}" for k in range(len(image))]
    dims[1] = image[1]  # type: ignore[call-overload]
    inputs = [
        onnx.helper.make_tensor_value_info(
            name, onnx.TensorProto.FLOAT, dims if is_open and name == "x" else value.shape
        )
        for name, value in values.items()
        if name not in constants
    ]
    graph = onnx.helper.make_graph(
        [node],
        "transposed",
        inputs,
        [onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, None)],
        [onnx.numpy_helper.from_array(values[name], name) for name in sorted(constants)],
    )
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 21)])
    model.ir_version = 10
    return model, {name: value for name, value in values.items() if name not in constants}


@pytest.mark.parametrize("weights", ["constant", "input"])
@pytest.mark.parametrize("is_open", [False, True], ids=["fixed", "open"])
@pytest.mark.parametrize("case", CASES)
def test_beside_onnxruntime(case: str, is_open: bool, weights: str) -> None:
    model, feeds = _model(case, is_open=is_open, weights=weights, bias=len(case) % 2 == 0)
    raw = model.SerializeToString()
    peer = onnxruntime.InferenceSession(raw, providers=["CPUExecutionProvider"])
    want = peer.run(None, feeds)[0]
    got = loopc.InferenceSession(raw).run(None, feeds)[0]
    assert got.shape == want.shape
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("case", ["vocoder", "odd", "longer", "same", "few_phases"])
def test_infinity_stays_in_its_window(case: str) -> None:
    """An element reaches the results under its kernel, and no others."""
    model, feeds = _model(case, is_open=False, weights="constant", bias=False)
    feeds["x"][0, :, 2] = np.inf
    raw = model.SerializeToString()
    peer = onnxruntime.InferenceSession(raw, providers=["CPUExecutionProvider"])
    want = peer.run(None, feeds)[0]
    got = loopc.InferenceSession(raw).run(None, feeds)[0]
    np.testing.assert_array_equal(np.isfinite(got), np.isfinite(want))
