# ===- _reference_base.py - What the reference is made of -------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Errors, values and base classes of loopc.reference's operators."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
import onnx
from onnx import TypeProto
from onnx.reference.op_run import OpRun

#: A tensor (numpy.ndarray), a sequence (list) or an empty optional (None).
Value: TypeAlias = Any
#: What a subgraph sees of the graphs around it.
Scope: TypeAlias = Mapping[str, Value]


class ReferenceError_(ValueError):  # noqa: N801, N818 (ReferenceError is a builtin)
    """The run ends with an error, as loopc's run must."""


class ModelError(ReferenceError_):
    """The model itself is wrong: loopc must refuse it at compile time."""


def kind(value: Value) -> str:
    if value is None:
        return "an empty optional"
    if isinstance(value, list):
        return f"a sequence of {len(value)}"
    return f"a tensor of {value.dtype}{list(value.shape)}"


def dtype_of(elem_type: int) -> np.dtype[Any]:
    return np.dtype(onnx.helper.tensor_dtype_to_np_dtype(elem_type))


def is_string(value: np.ndarray) -> bool:
    """Whether a tensor holds strings, in any of NumPy's types for them."""
    return value.dtype == object or value.dtype.kind in "US"


def check_kind(declared: TypeProto, value: Value, what: str) -> None:
    """name_declared: a wrong element type is an error, a wrong shape is not."""
    if declared.HasField("optional_type"):
        if value is not None:
            check_kind(declared.optional_type.elem_type, value, what)
    elif declared.HasField("sequence_type"):
        if not isinstance(value, list):
            raise ReferenceError_(f"{what}: expected a sequence, found {kind(value)}")
        for element in value:
            check_kind(declared.sequence_type.elem_type, element, what)
    elif declared.HasField("tensor_type"):
        if not isinstance(value, np.ndarray):
            raise ReferenceError_(f"{what}: expected a tensor, found {kind(value)}")
        elem_type = declared.tensor_type.elem_type
        wrong = is_string(value) != (elem_type == onnx.TensorProto.STRING) or (
            not is_string(value) and value.dtype != dtype_of(elem_type)
        )
        if elem_type and wrong:
            name = onnx.TensorProto.DataType.Name(elem_type)
            raise ReferenceError_(f"{what}: declared as {name}, found {kind(value)}")


def check_same_kind(before: Value, after: Value, what: str) -> None:
    """loop_carried: what changes is a shape, never the kind or element type."""
    if before is None or after is None:
        return  # An optional may lose or gain its value.
    differ = type(before) is not type(after)
    if isinstance(before, np.ndarray) and isinstance(after, np.ndarray):
        # NumPy has a type for each length of strings.
        differ = before.dtype != after.dtype and not (is_string(before) and is_string(after))
    if differ:
        raise ReferenceError_(f"{what}: init is {kind(before)}, body yields {kind(after)}")


def one(value: Value, what: str) -> Any:
    """The Python scalar of a tensor that must have exactly one element."""
    if not isinstance(value, np.ndarray) or value.size != 1:
        raise ReferenceError_(f"{what}: expected one element, found {kind(value)}")
    return value.reshape(()).item()


def flag(value: Value, what: str) -> bool:
    """loop_cond: the truth of a tensor that must be one boolean."""
    if isinstance(value, np.ndarray) and value.dtype != np.bool_:
        raise ReferenceError_(f"{what}: expected a boolean, found {kind(value)}")
    return bool(one(value, what))


def stack(values: list[np.ndarray], what: str, axis: int = 0) -> np.ndarray:
    """loop_collect: one new axis, iteration i's value at index i."""
    for trip, value in enumerate(values):
        if not isinstance(value, np.ndarray):
            raise ReferenceError_(f"{what}: only tensors are collected, found {kind(value)}")
        if value.shape != values[0].shape:  # loop_collect_shape
            raise ReferenceError_(
                f"{what}: shape {list(value.shape)} in iteration {trip} differs from "
                f"{list(values[0].shape)} in iteration 0"
            )
    return np.stack(values, axis=axis)


class Op(OpRun):
    """An operator that may return sequences and empty optionals."""

    def _check_and_fix_outputs(self, res: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(np.asarray(r) if isinstance(r, np.generic) else r for r in res)

    @property
    def _where(self) -> str:
        return f"{self.op_type} '{self.onnx_node.name}'"


class ControlOp(Op):
    """An operator with subgraphs, which see every value around them (loop_capture)."""

    # The attributes that the library sets from the node's.
    body: Any
    then_branch: Any
    else_branch: Any
    num_scan_inputs: int

    def need_context(self) -> bool:
        return True
