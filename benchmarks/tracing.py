# ===- tracing.py - ONNX models from Python expressions ---------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Makes ONNX models by running Python functions on values that write down nodes.

`x @ w + b` is a MatMul and an Add, `call("Tanh", x)` any operator; NumPy arrays are
constants. `loop`, `scan` and `branch` take functions for their bodies; what those
use from outside is captured.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar

import numpy as np
import onnx
import onnx.helper
import onnx.numpy_helper

Operand = Any  # a Value, an array, a number, None for an absent input


class _Graph:
    """The graphs that are being written, innermost last, and their constants."""

    stack: ClassVar[list[list[onnx.NodeProto]]] = []
    constants: ClassVar[list[onnx.TensorProto]] = []
    names: ClassVar[Iterator[int]] = itertools.count()


def _name() -> str:
    return f"v{next(_Graph.names)}"


class Value:
    """A value of the graph; arithmetic on it makes nodes."""

    def __init__(self, name: str, dtype: np.dtype[Any]) -> None:
        self.name = name
        #: What Python numbers beside it become.
        self.dtype = dtype

    def _binary(self, op: str, other: Operand, swapped: bool = False) -> Value:
        if not isinstance(other, Value):
            other = np.asarray(other, self.dtype)
        return call(op, *((other, self) if swapped else (self, other)), like=self)

    def __add__(self, other: Operand) -> Value:
        return self._binary("Add", other)

    def __radd__(self, other: Operand) -> Value:
        return self._binary("Add", other, True)

    def __sub__(self, other: Operand) -> Value:
        return self._binary("Sub", other)

    def __rsub__(self, other: Operand) -> Value:
        return self._binary("Sub", other, True)

    def __mul__(self, other: Operand) -> Value:
        return self._binary("Mul", other)

    def __rmul__(self, other: Operand) -> Value:
        return self._binary("Mul", other, True)

    def __truediv__(self, other: Operand) -> Value:
        return self._binary("Div", other)

    def __rtruediv__(self, other: Operand) -> Value:
        return self._binary("Div", other, True)

    def __matmul__(self, other: Operand) -> Value:
        return self._binary("MatMul", other)

    def __rmatmul__(self, other: Operand) -> Value:
        return self._binary("MatMul", other, True)

    def __neg__(self) -> Value:
        return call("Neg", self)

    def __lt__(self, other: Operand) -> Value:
        return self._binary("Less", other)

    def __gt__(self, other: Operand) -> Value:
        return self._binary("Greater", other)

    def equal(self, other: Operand) -> Value:
        """Where both are the same."""
        return self._binary("Equal", other)


def _operand(value: Operand) -> str:
    if value is None:
        return ""
    if isinstance(value, Value):
        return value.name
    name = _name()
    _Graph.constants.append(onnx.numpy_helper.from_array(np.asarray(value), name))
    return name


_INDICES = ("ArgMax", "ArgMin", "Shape", "Size", "SequenceLength")


def _dtype(op: str, inputs: Sequence[Operand], attributes: dict[str, Any]) -> np.dtype[Any]:
    """What Python numbers beside a node's results most likely are."""
    if op in _INDICES:
        return np.dtype(np.int64)
    if op == "Cast":
        return onnx.helper.tensor_dtype_to_np_dtype(attributes["to"])
    like = next((value for value in inputs if isinstance(value, Value)), None)
    return like.dtype if like else np.dtype(np.float32)


def calls(op: str, *inputs: Operand, outputs: int, **attributes: Any) -> list[Value]:
    """A node of several outputs."""
    dtype = _dtype(op, inputs, attributes)
    names = [_name() for _ in range(outputs)]
    operands = [_operand(value) for value in inputs]
    _Graph.stack[-1].append(onnx.helper.make_node(op, operands, names, **attributes))
    return [Value(name, dtype) for name in names]


def call(op: str, *inputs: Operand, like: Value | None = None, **attributes: Any) -> Value:
    """A node of one output. `like`: numbers beside the result are of its type."""
    (result,) = calls(op, *inputs, outputs=1, **attributes)
    if like is not None:
        result.dtype = like.dtype
    return result


@contextlib.contextmanager
def _body() -> Iterator[list[onnx.NodeProto]]:
    _Graph.stack.append([])
    yield _Graph.stack[-1]
    _Graph.stack.pop()


def _port(value: Value, shape: Sequence[int | str] | None = None) -> onnx.ValueInfoProto:
    if shape is None:
        return onnx.ValueInfoProto(name=value.name)
    kind = onnx.helper.np_dtype_to_tensor_dtype(value.dtype)
    return onnx.helper.make_tensor_value_info(value.name, kind, shape)


def _own(values: Sequence[Operand]) -> list[Value]:
    """Results that are nodes of this graph, as ONNX wants them."""
    return [call("Identity", value) for value in values]


def loop(
    trips: Operand,
    condition: Operand,
    states: Sequence[Operand],
    body: Callable[..., tuple[Operand, Sequence[Operand], Sequence[Operand]]],
    collected: int = 0,
) -> list[Value]:
    """A Loop.

    The body is called with the iteration number and the states; it returns the
    condition (None: as it was), the states and what is collected.
    """
    with _body() as nodes:
        i = Value(_name(), np.dtype(np.int64))
        going = Value(_name(), np.dtype(bool))
        arguments = [
            Value(_name(), v.dtype if isinstance(v, Value) else np.asarray(v).dtype) for v in states
        ]
        more, after, gathered = body(i, *arguments)
        results = _own([going if more is None else more, *after, *gathered])
    graph = onnx.helper.make_graph(
        nodes,
        "body",
        [
            onnx.helper.make_tensor_value_info(i.name, onnx.TensorProto.INT64, []),
            onnx.helper.make_tensor_value_info(going.name, onnx.TensorProto.BOOL, []),
            *map(_port, arguments),
        ],
        list(map(_port, results)),
    )
    inputs = [trips, condition, *states]
    count = len(states) + collected
    found = calls("Loop", *inputs, outputs=count, body=graph)
    for value, result in zip(found, results[1:], strict=True):
        value.dtype = result.dtype
    return found


def scan(
    states: Sequence[Operand],
    sliced: Sequence[Value],
    body: Callable[..., tuple[Sequence[Operand], Sequence[Operand]]],
    collected: int = 1,
    *,
    shapes: Sequence[Sequence[int | str]] = (),
    **attributes: Any,
) -> list[Value]:
    """A Scan.

    The body is called with the states and the slices; it returns the states and
    what is collected. `shapes` are of those, where onnxruntime has to be told.
    """
    with _body() as nodes:
        arguments = [
            Value(_name(), v.dtype if isinstance(v, Value) else np.asarray(v).dtype)
            for v in [*states, *sliced]
        ]
        after, gathered = body(*arguments)
        results = _own([*after, *gathered])
    ports = [_port(value, shapes[k] if shapes else None) for k, value in enumerate(results)]
    graph = onnx.helper.make_graph(nodes, "body", list(map(_port, arguments)), ports)
    found = calls(
        "Scan",
        *states,
        *sliced,
        outputs=len(states) + collected,
        body=graph,
        num_scan_inputs=len(sliced),
        **attributes,
    )
    for value, result in zip(found, results, strict=True):
        value.dtype = result.dtype
    return found


def branch(
    condition: Value, then: Callable[[], Sequence[Operand]], other: Callable[[], Sequence[Operand]]
) -> list[Value]:
    """An If."""
    graphs = []
    for function in (then, other):
        with _body() as nodes:
            results = _own(function())
        graphs.append(onnx.helper.make_graph(nodes, "branch", [], list(map(_port, results))))
    found = calls(
        "If", condition, outputs=len(results), then_branch=graphs[0], else_branch=graphs[1]
    )
    for value, result in zip(found, results, strict=True):
        value.dtype = result.dtype
    return found


def model(
    function: Callable[..., Sequence[Operand]],
    inputs: dict[str, np.ndarray],
    *,
    opset: int = 21,
    dimension: Callable[[str, int], int | str] | None = None,
) -> onnx.ModelProto:
    """The model of a function of the inputs; `dimension` gives what is known of an axis."""
    _Graph.constants.clear()
    _Graph.names = itertools.count()
    ports, arguments = [], {}
    for key, value in inputs.items():
        dims = [
            dimension(key, axis) if dimension else extent for axis, extent in enumerate(value.shape)
        ]
        kind = onnx.helper.np_dtype_to_tensor_dtype(value.dtype)
        ports.append(onnx.helper.make_tensor_value_info(key, kind, dims))
        arguments[key] = Value(key, value.dtype)
    with _body() as nodes:
        results = _own(function(**arguments))
    graph = onnx.helper.make_graph(
        nodes, "traced", ports, list(map(_port, results)), _Graph.constants
    )
    made = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", opset)])
    made.ir_version = 10
    return made
