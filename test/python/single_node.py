# ===- single_node.py - Models of one node, run by loopc --------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Builds models of one node around NumPy arrays and runs them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import loopc
import numpy as np
import onnx
from onnx import helper


def element_type(dtype: Any) -> int:
    """The ONNX element type of a NumPy (or ml_dtypes) type."""
    return helper.np_dtype_to_tensor_dtype(np.dtype(dtype))


def node_model(
    nodes: Sequence[onnx.NodeProto],
    inputs: dict[str, np.ndarray],
    outputs: dict[str, Any],
    opset: int,
    *,
    dynamic: bool = False,
    constants: dict[str, np.ndarray] | None = None,
) -> bytes:
    """A model of `nodes`. `outputs` maps names to NumPy types; `dynamic` hides dimensions."""

    def shape(name: str, value: np.ndarray) -> list[Any]:
        return [f"{name}_{k}" if dynamic else d for k, d in enumerate(value.shape)]

    graph = helper.make_graph(
        nodes,
        "graph",
        [
            helper.make_tensor_value_info(n, element_type(v.dtype), shape(n, v))
            for n, v in inputs.items()
        ],
        [helper.make_tensor_value_info(n, element_type(t), None) for n, t in outputs.items()],
        [onnx.numpy_helper.from_array(v, n) for n, v in (constants or {}).items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)
    return model.SerializeToString()


def run_node(
    op: str,
    *operands: np.ndarray | None,
    opset: int,
    results: Sequence[Any] | None = None,
    dynamic: bool = False,
    constant: Sequence[int] = (),
    **attributes: Any,
) -> list[Any]:
    """The outputs of one node.

    `operands` left out are None; those whose number is in `constant` are initialisers. `results`
    are the NumPy types of the outputs (by default one, of the first operand's type).
    """
    arrays = [None if v is None else np.asarray(v) for v in operands]
    if results is None:
        assert arrays[0] is not None
        results = [arrays[0].dtype]
    names = ["" if v is None else f"x{k}" for k, v in enumerate(arrays)]
    outputs = {f"y{k}": t for k, t in enumerate(results)}
    node = helper.make_node(op, names, list(outputs), name=op.lower(), **attributes)
    given = {f"x{k}": v for k, v in enumerate(arrays) if v is not None}
    constants = {f"x{k}": given.pop(f"x{k}") for k in constant}
    model = node_model([node], given, outputs, opset, dynamic=dynamic, constants=constants)
    return loopc.InferenceSession(model).run(None, given)
