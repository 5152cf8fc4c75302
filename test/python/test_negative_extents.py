# ===- test_negative_extents.py - Extents that runs find to be negative ------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Extents that a run finds to be negative: the node says so, in loops, too.

The buffers of a loop's body are allocated in front of the loop, and so in front of its checks.
"""

from __future__ import annotations

from typing import Any

import loopc
import numpy as np
import pytest
from onnx import TensorProto, helper

F, I = np.float32, np.int64  # noqa: E741
X = np.ones((3, 4), F)
IMAGE = np.ones((1, 1, 3, 3), F)

# The operator, its operands (those from the second on are what is wrong), the types of its results,
# the message.
CASES: dict[str, tuple[str, list[Any], list[int], str, dict[str, Any]]] = {
    "top": ("TopK", [X, np.array([-1])], [1, 7], "k is -1", {}),
    "hot": ("OneHot", [np.array([1, 2]), np.array(-4), np.ones(2, F)], [1], "depth is -4", {}),
    "expand": ("Expand", [X, np.array([3, -2])], [1], "is -2, less than 0", {}),
    "expand_both": ("Expand", [X, np.array([-3, -2])], [1], "less than 0", {}),
    "fill": ("ConstantOfShape", [np.array([2, -3])], [1], "is -3, less than 0", {}),
    "fill_both": ("ConstantOfShape", [np.array([-2, -3])], [1], "less than 0", {}),
    "tile": ("Tile", [X, np.array([1, -2])], [1], "is -2, less than 0", {}),
    "pad": ("Pad", [X[0], np.array([-3, -2])], [1], "-1, less than 0", {}),
    "resize": ("Resize", [IMAGE, None, None, np.array([1, 1, -2, 3])], [1], "size is -2", {}),
    "split": ("Split", [X[0], np.array([-1, 5])], [1, 1], "part 0 is -1", {}),
    "reshape": ("Reshape", [X, np.array([-2, 6])], [1], "is -2", {}),
    "mel": ("MelWeightMatrix", [np.array(-3), np.array(8), np.array(100), F(0), F(10)], [1],
            "bands is -3", {}),
    "pool": ("MaxPool", [IMAGE], [1], "extent 5 does not fit", {"kernel_shape": [5, 5]}),
}  # fmt: skip


def model_of(case: str, in_loop: bool, is_open: bool) -> tuple[bytes, dict[str, np.ndarray]]:
    op, operands, types, _, attributes = CASES[case]
    feeds = {f"x{k}": np.asarray(v) for k, v in enumerate(operands) if v is not None}
    names = ["" if v is None else f"x{k}" for k, v in enumerate(operands)]
    value = helper.make_tensor_value_info
    inputs = [
        value(n, helper.np_dtype_to_tensor_dtype(v.dtype),
              [f"{n}_{axis}" if is_open else e for axis, e in enumerate(v.shape)])
        for n, v in feeds.items()
    ]  # fmt: skip
    results = [f"y{k}" for k in range(len(types))]
    nodes = [helper.make_node(op, names, results, name="wrong", **attributes)]
    outputs = [value(n, t, None) for n, t in zip(results, types, strict=True)]
    if in_loop:
        body = helper.make_graph(
            [helper.make_node("Identity", ["go"], ["on"]), *nodes],
            "body",
            [value("trip", TensorProto.INT64, []), value("go", TensorProto.BOOL, [])],
            [value("on", TensorProto.BOOL, []), *outputs],
        )
        outputs = [value(f"all_{k}", t, None) for k, t in enumerate(types)]
        nodes = [helper.make_node("Loop", ["M", ""], [v.name for v in outputs], body=body)]
        inputs.append(value("M", TensorProto.INT64, []))
        feeds["M"] = np.array(2)
    graph = helper.make_graph(nodes, "negative", inputs, outputs)
    opsets = [helper.make_opsetid("", 21)]
    made = helper.make_model(graph, opset_imports=opsets, ir_version=10)
    return made.SerializeToString(), feeds


@pytest.mark.parametrize("is_open", [False, True])
@pytest.mark.parametrize("in_loop", [False, True])
@pytest.mark.parametrize("case", CASES)
def test_the_node_says_so(case: str, in_loop: bool, is_open: bool) -> None:
    made, feeds = model_of(case, in_loop, is_open)
    with pytest.raises(loopc.Error) as caught:
        loopc.InferenceSession(made).run(None, feeds)
    text = str(caught.value)
    assert f"{CASES[case][0]} 'wrong'" in text and "out of memory" not in text
    # In front of a loop it is the buffer that finds the extent.
    known = [CASES[case][3], *["less than 0"] * in_loop]
    assert any(k in text for k in known) or isinstance(caught.value, loopc.CompileError)
