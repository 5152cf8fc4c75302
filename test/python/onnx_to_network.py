# ===- onnx_to_network.py - ONNX models onto the layers of networks ---------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Translates ONNX models onto loopc.network, the way TensorRT's parser does it.

A Loop becomes a loop with a kCOUNT limit, its condition a recurrence with a
kWHILE limit, its iteration number one more recurrence; a Scan a loop over
iterators. Collected values get the trip count as their length and are cut to the
trips that ran. Inputs of an elementwise layer are brought to one rank first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
from loopc import network as trt
from onnx import helper, numpy_helper

Names = dict[str, trt.ITensor]

EW = trt.ElementWiseOperation
U = trt.UnaryOperation
A = trt.ActivationType
R = trt.ReduceOperation
M = trt.MatrixOperation

ELEMENTWISE = {
    "Add": EW.SUM, "Mul": EW.PROD, "Sub": EW.SUB, "Div": EW.DIV, "Pow": EW.POW, "Max": EW.MAX,
    "Min": EW.MIN, "And": EW.AND, "Or": EW.OR, "Xor": EW.XOR, "Equal": EW.EQUAL,
    "Greater": EW.GREATER, "Less": EW.LESS,
}  # fmt: skip
NEGATED = {"GreaterOrEqual": EW.LESS, "LessOrEqual": EW.GREATER}
UNARY = {
    "Exp": U.EXP, "Log": U.LOG, "Sqrt": U.SQRT, "Reciprocal": U.RECIP, "Abs": U.ABS,
    "Neg": U.NEG, "Sin": U.SIN, "Cos": U.COS, "Not": U.NOT, "Floor": U.FLOOR, "Ceil": U.CEIL,
    "Sign": U.SIGN,
}  # fmt: skip
ACTIVATION = {"Relu": A.RELU, "Sigmoid": A.SIGMOID, "Tanh": A.TANH}
REDUCE = {
    "ReduceSum": R.SUM, "ReduceProd": R.PROD, "ReduceMax": R.MAX, "ReduceMin": R.MIN,
    "ReduceMean": R.AVG,
}  # fmt: skip


class UntranslatableError(Exception):
    """What has no layers."""


def translate(model: onnx.ModelProto) -> trt.INetworkDefinition:
    """A network that computes what `model` does."""
    return Translator(model.graph).network


class Translator:
    """One model on its way."""

    def __init__(self, graph: onnx.GraphProto) -> None:
        self.network = trt.create_network(graph.name or "model")
        #: Values of constants.
        self.known: dict[trt.ITensor, Any] = {}
        names: Names = {}
        constants = {one.name for one in graph.initializer}
        for value in graph.input:
            if value.name not in constants:
                names[value.name] = self.add_input(value)
        self.graph(graph, names)
        for value in graph.output:
            # An output has a name of its own, and an input may not be renamed.
            tensor = self.network.add_identity(names[value.name]).get_output(0)
            tensor.name = value.name
            self.network.mark_output(tensor)

    def add_input(self, value: onnx.ValueInfoProto) -> trt.ITensor:
        if not value.type.HasField("tensor_type"):
            raise UntranslatableError("sequences and optionals")
        declared = value.type.tensor_type
        if not declared.HasField("shape"):
            raise UntranslatableError("unknown ranks")
        shape = [
            d.dim_value if d.HasField("dim_value") else d.dim_param or -1
            for d in declared.shape.dim
        ]
        dtype = helper.tensor_dtype_to_np_dtype(declared.elem_type)
        return self.network.add_input(value.name, dtype, shape)

    def constant(self, value: Any, dtype: Any = None) -> trt.ITensor:
        array = np.asarray(value, dtype)
        tensor = self.network.add_constant(array.shape, array).get_output(0)
        self.known[tensor] = array
        return tensor

    # ----- Graphs ---------------------------------------------------------

    def graph(self, graph: onnx.GraphProto, names: Names) -> list[trt.ITensor]:
        for tensor in graph.initializer:
            if tensor.name not in {one.name for one in graph.input}:
                names[tensor.name] = self.constant(numpy_helper.to_array(tensor))
        for node in graph.node:
            made = self.node(node, names)
            for name, tensor in zip(node.output, made, strict=False):
                if name:
                    names[name] = tensor
        return [names[one.name] for one in graph.output]

    def node(self, node: onnx.NodeProto, names: Names) -> list[trt.ITensor]:
        if node.domain not in ("", "ai.onnx"):
            raise UntranslatableError(f"functions: {node.op_type}")
        attributes = {one.name: helper.get_attribute_value(one) for one in node.attribute}
        if node.op_type in ("Loop", "Scan", "If"):
            special = {"Loop": self.loop, "Scan": self.scan, "If": self.conditional}
            return special[node.op_type](node, attributes, names)
        inputs = [names[name] if name else None for name in node.input]
        rule: Callable[..., trt.ITensor] | None = getattr(self, "on_" + node.op_type, None)
        op = node.op_type
        if op in ELEMENTWISE and len(inputs) == 2:
            return [self.elementwise(ELEMENTWISE[op], *inputs)]
        if op in NEGATED:
            less = self.elementwise(NEGATED[op], *inputs)
            return [self.network.add_unary(less, U.NOT).get_output(0)]
        if op in UNARY:
            return [self.network.add_unary(inputs[0], UNARY[op]).get_output(0)]
        if op in ACTIVATION:
            return [self.network.add_activation(inputs[0], ACTIVATION[op]).get_output(0)]
        if op in REDUCE:
            return [self.reduce(REDUCE[op], attributes, *inputs)]
        if rule is None:
            raise UntranslatableError(op)
        return [rule(attributes, *inputs)]

    # ----- Operators ------------------------------------------------------

    def rank(self, tensor: trt.ITensor) -> int:
        if tensor.shape is None:
            raise UntranslatableError("unknown ranks")
        return len(tensor.shape)

    def to_rank(self, tensor: trt.ITensor, rank: int) -> trt.ITensor:
        missing = rank - self.rank(tensor)
        if missing <= 0:
            return tensor
        axes = self.constant(np.arange(missing))
        return self.network.add_unsqueeze(tensor, axes).get_output(0)

    def elementwise(self, op: EW, *inputs: Any) -> trt.ITensor:
        rank = max(self.rank(one) for one in inputs)
        a, b = (self.to_rank(one, rank) for one in inputs)
        return self.network.add_elementwise(a, b, op).get_output(0)

    def values(self, tensor: Any) -> list[int]:
        """The values of a constant."""
        found = self.known.get(tensor)
        if found is None:
            raise UntranslatableError("axes that are computed")
        return [int(one) for one in np.asarray(found).reshape(-1)]

    def reduce(self, op: R, attributes: Any, x: Any, axes: Any = None) -> trt.ITensor:
        given = attributes.get("axes")
        if axes is not None:
            given = self.values(axes)
        rank = self.rank(x)
        chosen = range(rank) if given is None else [one % rank for one in given]
        mask = sum(1 << one for one in chosen)
        if rank == 0:
            return x
        layer = self.network.add_reduce(x, op, mask, bool(attributes.get("keepdims", 1)))
        return layer.get_output(0)

    def on_Constant(self, attributes: Any) -> trt.ITensor:  # noqa: N802
        ((name, value),) = attributes.items()
        if name == "value":
            value = numpy_helper.to_array(value)
        dtype = {"value_float": np.float32, "value_floats": np.float32}.get(name)
        return self.constant(value, dtype)

    def on_Identity(self, _: Any, x: Any) -> trt.ITensor:  # noqa: N802
        return self.network.add_identity(x).get_output(0)

    def on_Cast(self, attributes: Any, x: Any) -> trt.ITensor:  # noqa: N802
        dtype = helper.tensor_dtype_to_np_dtype(attributes["to"])
        return self.network.add_cast(x, dtype).get_output(0)

    def on_Shape(self, attributes: Any, x: Any) -> trt.ITensor:  # noqa: N802
        if attributes:
            raise UntranslatableError("parts of shapes")
        return self.network.add_shape(x).get_output(0)

    def on_Gather(self, attributes: Any, x: Any, index: Any) -> trt.ITensor:  # noqa: N802
        return self.network.add_gather(x, index, attributes.get("axis", 0)).get_output(0)

    def on_Concat(self, attributes: Any, *inputs: Any) -> trt.ITensor:  # noqa: N802
        layer = self.network.add_concatenation(inputs)
        layer.axis = attributes["axis"]
        return layer.get_output(0)

    def on_Where(self, _: Any, *inputs: Any) -> trt.ITensor:  # noqa: N802
        rank = max(self.rank(one) for one in inputs)
        return self.network.add_select(*(self.to_rank(one, rank) for one in inputs)).get_output(0)

    def on_MatMul(self, _: Any, a: Any, b: Any) -> trt.ITensor:  # noqa: N802
        ops = [M.VECTOR if self.rank(one) == 1 else M.NONE for one in (a, b)]
        return self.network.add_matrix_multiply(a, ops[0], b, ops[1]).get_output(0)

    def on_Transpose(self, attributes: Any, x: Any) -> trt.ITensor:  # noqa: N802
        layer = self.network.add_shuffle(x)
        layer.first_transpose = attributes.get("perm", range(self.rank(x))[::-1])
        return layer.get_output(0)

    def on_Reshape(self, attributes: Any, x: Any, shape: Any) -> trt.ITensor:  # noqa: N802
        layer = self.network.add_shuffle(x)
        layer.set_input(1, shape)
        layer.zero_is_placeholder = not attributes.get("allowzero", 0)
        return layer.get_output(0)

    def on_Unsqueeze(self, _: Any, x: Any, axes: Any) -> trt.ITensor:  # noqa: N802
        return self.network.add_unsqueeze(x, axes).get_output(0)

    def on_Squeeze(self, _: Any, x: Any, axes: Any = None) -> trt.ITensor:  # noqa: N802
        if axes is None:
            raise UntranslatableError("squeezes of everything")
        return self.network.add_squeeze(x, axes).get_output(0)

    def on_Sum(self, _: Any, *inputs: Any) -> trt.ITensor:  # noqa: N802
        total = inputs[0]
        for one in inputs[1:]:
            total = self.elementwise(EW.SUM, total, one)
        return total

    def on_Softmax(self, attributes: Any, x: Any) -> trt.ITensor:  # noqa: N802
        layer = self.network.add_softmax(x)
        layer.axes = 1 << attributes.get("axis", -1) % self.rank(x)
        return layer.get_output(0)

    # ----- Control flow ---------------------------------------------------

    def scalar(self, tensor: Any) -> trt.ITensor:
        if self.rank(tensor) == 0:
            return tensor
        layer = self.network.add_shuffle(tensor)
        layer.reshape_dims = ()
        return layer.get_output(0)

    def last(self, loop: trt.ILoop, recurrence: trt.IRecurrenceLayer) -> trt.ITensor:
        kind = trt.LoopOutput.LAST_VALUE
        return loop.add_loop_output(recurrence.get_output(0), kind).get_output(0)

    def cut(self, tensor: trt.ITensor, trips: trt.ITensor) -> trt.ITensor:
        """The first `trips` rows."""
        rank = self.rank(tensor)
        rows = self.network.add_unsqueeze(trips, self.constant([0])).get_output(0)
        layer = self.network.add_slice(tensor, (0,), (0,), (1,))
        layer.axes = (0,)
        layer.set_input(2, rows)
        assert self.rank(layer.get_output(0)) == rank
        return layer.get_output(0)

    def loop(self, node: onnx.NodeProto, attributes: Any, names: Names) -> list[trt.ITensor]:
        inputs = [names[name] if name else None for name in node.input] + [None, None]
        count, condition = inputs[:2]
        body = attributes["body"]
        carried = [names[name] for name in node.input[2:]]
        collected = len(body.output) - 1 - len(carried)
        if collected and count is None:
            raise UntranslatableError("collected values without a trip count")
        loop = self.network.add_loop()
        loop.name = node.name or node.output[0]
        zero = self.constant(0, np.int64)
        if count is not None:
            count = self.scalar(count)
            loop.add_trip_limit(count, trt.TripLimit.COUNT)
        number = loop.add_recurrence(zero)
        one = self.constant(1, np.int64)
        number.set_input(1, self.elementwise(EW.SUM, number.get_output(0), one))
        begins = self.constant(True) if condition is None else self.scalar(condition)
        going = loop.add_recurrence(begins)
        if condition is not None:
            loop.add_trip_limit(going.get_output(0), trt.TripLimit.WHILE)
        elif count is None:
            raise UntranslatableError("loops that never end")
        recurrences = [loop.add_recurrence(value) for value in carried]
        inner = _Inner(names, None)
        given = [number, going, *recurrences]
        for value, recurrence in zip(body.input, given, strict=True):
            inner[value.name] = recurrence.get_output(0)
        outputs = self.graph(body, inner)
        going.set_input(1, self.scalar(outputs[0]))
        for recurrence, value in zip(recurrences, outputs[1:], strict=False):
            recurrence.set_input(1, value)
        results = [self.last(loop, recurrence) for recurrence in recurrences]
        if collected:
            length = self.elementwise(EW.MAX, count, zero)
            trips = self.last(loop, number)
        for value in outputs[1 + len(carried) :]:
            layer = loop.add_loop_output(value, trt.LoopOutput.CONCATENATE)
            layer.set_input(1, length)
            results.append(self.cut(layer.get_output(0), trips))
        return results

    def scan(self, node: onnx.NodeProto, attributes: Any, names: Names) -> list[trt.ITensor]:
        if len(node.input) and not node.input[0]:
            raise UntranslatableError("Scan-8")
        body, scanned = attributes["body"], attributes["num_scan_inputs"]
        given = [names[name] for name in node.input]
        states, sequences = given[: len(given) - scanned], given[len(given) - scanned :]
        kinds = len(body.output) - len(states)
        axes = attributes.get("scan_input_axes", [0] * scanned)
        reverse = attributes.get("scan_input_directions", [0] * scanned)
        axes_out = attributes.get("scan_output_axes", [0] * kinds)
        reverse_out = attributes.get("scan_output_directions", [0] * kinds)
        loop = self.network.add_loop()
        loop.name = node.name or node.output[0]
        shape = self.network.add_shape(sequences[0]).get_output(0)
        at = self.constant(axes[0] % self.rank(sequences[0]), np.int64)
        count = self.network.add_gather(shape, at, 0).get_output(0)
        loop.add_trip_limit(count, trt.TripLimit.COUNT)
        recurrences = [loop.add_recurrence(state) for state in states]
        slices = [
            loop.add_iterator(value, axis, bool(back))
            for value, axis, back in zip(sequences, axes, reverse, strict=True)
        ]
        inner = _Inner(names, None)
        for value, layer in zip(body.input, [*recurrences, *slices], strict=True):
            inner[value.name] = layer.get_output(0)
        outputs = self.graph(body, inner)
        for recurrence, value in zip(recurrences, outputs, strict=False):
            recurrence.set_input(1, value)
        results = [self.last(loop, recurrence) for recurrence in recurrences]
        for value, axis, back in zip(outputs[len(states) :], axes_out, reverse_out, strict=True):
            kind = trt.LoopOutput.REVERSE if back else trt.LoopOutput.CONCATENATE
            layer = loop.add_loop_output(value, kind, axis)
            layer.set_input(1, count)
            results.append(layer.get_output(0))
        return results

    def conditional(self, node: onnx.NodeProto, attributes: Any, names: Names) -> list[trt.ITensor]:
        branch = self.network.add_if_conditional()
        branch.name = node.name or node.output[0]
        branch.set_condition(self.scalar(names[node.input[0]]))
        inner = _Inner(names, branch)
        sides = [
            self.graph(attributes[name], _Inner(inner, None))
            for name in ("then_branch", "else_branch")
        ]
        return [branch.add_output(a, b).get_output(0) for a, b in zip(*sides, strict=True)]


class _Inner(dict[str, trt.ITensor]):
    """Names of a branch: what comes from outside enters by an input layer, once."""

    def __init__(self, outer: Names, branch: trt.IIfConditional | None) -> None:
        super().__init__()
        self.outer = outer
        self.branch = branch

    def __missing__(self, name: str) -> trt.ITensor:
        tensor = self.outer[name]
        if self.branch is not None:
            tensor = self.branch.add_input(tensor).get_output(0)
        self[name] = tensor
        return tensor
