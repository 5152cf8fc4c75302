# ===- _reference_checks.py - What operators may not be given ----------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Errors by the definition of an operator that onnx.reference does not give.

Its operators are written with NumPy, which is lenient: it takes any index where nothing is
gathered, broadcasts either way, and cuts what is too long.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

Operands = Sequence[Any]


def _divisor(_: Any, operands: Operands) -> None:
    divisor = operands[1]
    if divisor.dtype.kind in "iu" and np.any(divisor == 0):
        raise ZeroDivisionError("integer division by zero")


def _indices(node: Any, operands: Operands) -> None:
    data, indices, axis = operands[0], operands[1], getattr(node, "axis", 0) or 0
    extent = data.shape[axis]
    bad = indices[(indices < -extent) | (indices >= extent)]
    if bad.size:
        raise IndexError(f"index {bad[0]} is out of bounds for axis {axis} with size {extent}")


def _parts(node: Any, operands: Operands) -> None:
    given = operands[1] if len(operands) > 1 else getattr(node, "split", None)
    extent = operands[0].shape[getattr(node, "axis", 0) or 0]
    if given is not None and int(np.sum(given)) != extent:
        raise ValueError(f"the sizes {list(given)} of parts are not the extent {extent}")


def _scale(node: Any, operands: Operands) -> None:
    data, scale = operands[0], operands[1]
    axis = getattr(node, "axis", -1)
    shape = data.shape[-1 if axis is None else axis :]
    if np.broadcast_shapes(shape, scale.shape) != shape:
        raise ValueError(f"a scale of shape {scale.shape} does not broadcast to {shape}")


def _slope(node: Any, operands: Operands) -> None:
    if type(node).__name__ == "PRelu_6":  # One for each channel.
        return
    shape, slope = operands[0].shape, operands[1].shape
    if np.broadcast_shapes(shape, slope) != shape:
        raise ValueError(f"a slope of shape {slope} does not broadcast to {shape}")


def _windows(node: Any, operands: Operands) -> None:
    data, weights = operands[0], operands[1]
    rank = data.ndim - 2
    if getattr(node, "auto_pad", "NOTSET") not in (None, "NOTSET", "VALID"):
        return
    pads = getattr(node, "pads", None) or [0] * 2 * rank
    dilations = getattr(node, "dilations", None) or [1] * rank
    for k in range(rank):
        extent = data.shape[k + 2] + pads[k] + pads[k + rank]
        window = (weights.shape[k + 2] - 1) * dilations[k] + 1
        if window > extent:
            raise ValueError(f"a window of extent {window} does not fit into {extent} elements")


def _count(node: Any, operands: Operands) -> None:
    if len(operands) < 2:  # Of the operator's first version.
        return
    count = int(np.asarray(operands[1]).reshape(-1)[0])
    extent = operands[0].shape[getattr(node, "axis", -1)]
    if not 0 <= count <= extent:
        raise ValueError(f"k is {count}, the axis has {extent} elements")


def _updates(_: Any, operands: Operands) -> None:
    indices, updates = operands[1].shape, operands[2].shape
    if indices != updates:
        raise ValueError(f"updates of shape {updates} do not fit indices of shape {indices}")


def _slices(_: Any, operands: Operands) -> None:
    data, indices, updates = (operand.shape for operand in operands[:3])
    if not indices or indices[-1] > len(data):
        return  # The evaluator has an error of its own.
    wanted = indices[:-1] + data[indices[-1] :]
    if updates != wanted:
        raise ValueError(f"updates of shape {updates} do not fit, expected shape {wanted}")


CHECKS: dict[str, Callable[[Any, Operands], None]] = {
    "Div": _divisor,
    "Mod": _divisor,
    "Gather": _indices,
    "GatherElements": _indices,
    "Split": _parts,
    "LayerNormalization": _scale,
    "PRelu": _slope,
    "Conv": _windows,
    "ConvInteger": _windows,
    "TopK": _count,
    "Scatter": _updates,
    "ScatterElements": _updates,
    "ScatterND": _slices,
}
