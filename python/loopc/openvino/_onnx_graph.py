# ===- _onnx_graph.py - Changes of ONNX models ----------------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""A model of ONNX with nodes before its inputs and behind its outputs.

What is added to an input or an output is a function with its own versions of operators.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from loopc._errors import InvalidArgument
from loopc._extras import require
from loopc._ort_value import number_of
from loopc.openvino._layout import Layout
from loopc.openvino._ports import Node
from loopc.openvino._types import Type

Extents = list[int | None]
_DOMAIN = "loopc.preprocess"
_OPSET = 21


@dataclass(frozen=True)
class Value:
    """What a node computes.

    Attributes:
        name: the tensor.
        type: the elements.
        shape: the extents, None where one is open.
    """

    name: str
    type: Type
    shape: Extents


class OnnxGraph:
    """A file of ONNX; `write` makes another one of it.

    Raises:
        ImportError: the package onnx is not installed.
    """

    def __init__(self, path: str) -> None:
        require("onnx", "changes of ONNX models", "onnx")
        import onnx

        self._model = onnx.load(path, load_external_data=False)
        self._graph = self._model.graph
        self._function: Any = None
        self._count = 0
        self._names: set[str] = set()
        self._suffixes: list[str] = []

    # ----- What there is ---------------------------------------------------

    def nodes(self) -> list[Node]:
        """Inputs, nodes and outputs."""
        weights = {one.name for one in self._graph.initializer}
        inputs = [one.name for one in self._graph.input if one.name not in weights]
        return [
            *(Node(name, "Parameter", [[name]]) for name in inputs),
            *(
                Node(one.name or one.output[0], one.op_type, [[name] for name in one.output])
                for one in self._graph.node
            ),
            *(Node(one.name, "Result", [[one.name]]) for one in self._graph.output),
        ]

    def rt_info(self) -> Any:
        """None: ONNX has no such thing."""
        return None

    def layouts(self) -> dict[str, Layout]:
        """None are known."""
        return {}

    # ----- Nodes that are added ------------------------------------------------

    def _add(
        self, kind: str, inputs: Sequence[str], type: Type, shape: Extents, **more: Any
    ) -> Value:
        import onnx

        self._count += 1
        name = f"v{self._count}"
        self._function.node.append(onnx.helper.make_node(kind, inputs, [name], **more))
        return Value(name, type, list(shape))

    def constant(self, array: np.ndarray[Any, Any]) -> str:
        """The name of an array."""
        import onnx

        shape: Extents = list(array.shape)
        value = onnx.helper.make_tensor(
            "value", number_of(array.dtype), array.shape, array.tobytes(), raw=True
        )
        return self._add("Constant", [], Type(array.dtype), shape, value=value).name

    def _integers(self, values: Sequence[int]) -> str:
        return self.constant(np.array(values, np.int64))

    def cast(self, value: Value, type: Type) -> Value:
        """Elements of another type."""
        to = number_of(type.to_dtype())
        return self._add("Cast", [value.name], type, value.shape, to=to)

    def transpose(self, value: Value, order: Sequence[int]) -> Value:
        """Axes in another order."""
        shape = [value.shape[axis] for axis in order]
        return self._add("Transpose", [value.name], value.type, shape, perm=list(order))

    def arithmetic(self, kind: str, value: Value, array: np.ndarray[Any, Any]) -> Value:
        """Subtracts, multiplies or divides by an array that broadcasts to the value."""
        names = [value.name, self.constant(array)]
        operator = {"Subtract": "Sub", "Multiply": "Mul", "Divide": "Div"}[kind]
        return self._add(operator, names, value.type, value.shape)

    def sum(self, value: Value, axis: int) -> Value:
        """The sum along an axis, which stays with one element."""
        shape = [*value.shape[:axis], 1, *value.shape[axis + 1 :]]
        return self._add("ReduceSum", [value.name, self._integers([axis])], value.type, shape)

    def round(self, value: Value) -> Value:
        """The nearest integers; of two the even one."""
        return self._add("Round", [value.name], value.type, value.shape)

    def video(self, planes: Sequence[Value], kind: str, shape: Extents) -> Value:
        """An image of a frame of video, by the formulas of OpenVINO's layer `kind`."""
        type = planes[0].type
        real = type if str(type) == "f64" else Type.f32
        luma, colours = self._apart(planes, kind)
        size: Extents = [None] * 4
        factors = self.constant(np.array([2, 2], np.float32))
        colours = self._less(colours, 128, real)
        names = [colours.name, "", factors]
        colours = self._add("Resize", names, real, size, axes=[1, 2], mode="nearest",
                            coordinate_transformation_mode="asymmetric",
                            nearest_mode="floor")  # fmt: skip
        order = 1 if kind.endswith("RGB") else -1
        total = self._times(self._less(luma, 16, real), [1.164] * 3)
        for at, share in enumerate(([0, -0.391, 2.018], [1.596, -0.813, 0])):
            part = self._times(self.take(colours, 3, [at]), share[::order])
            total = self._add("Add", [total.name, part.name], real, shape)
        if not type.is_real():
            half = self.constant(np.array(0.5, real.to_dtype()))
            total = self._add("Add", [total.name, half], real, shape)
            total = self._add("Floor", [total.name], real, shape)
        ends = [self.constant(np.array(one, real.to_dtype())) for one in (0, 255)]
        return self.cast(self._add("Clip", [total.name, *ends], real, shape), type)

    def _less(self, value: Value, number: float, type: Type) -> Value:
        """The value as `type`, less a number."""
        return self.arithmetic(
            "Subtract", self.cast(value, type), np.array(number, type.to_dtype())
        )

    def _times(self, value: Value, factors: Sequence[float]) -> Value:
        """Three channels of one."""
        return self.arithmetic("Multiply", value, np.array(factors, value.type.to_dtype()))

    def _apart(self, planes: Sequence[Value], kind: str) -> tuple[Value, Value]:
        """The luma [n, h, w, 1] and both colours [n, h / 2, w / 2, 2] of a frame."""
        first = planes[0]
        size: Extents = [None] * 4
        if len(planes) == 2:
            return first, planes[1]
        if len(planes) == 3:
            names = [one.name for one in planes[1:]]
            return first, self._add("Concat", names, first.type, size, axis=3)
        # A third of the rows is behind the luma: pairs of NV12, one colour of I420 behind the
        # other.
        rows = self._add("Shape", [first.name], Type.i64, [1], start=1, end=2)
        third = self._add("Div", [rows.name, self._integers([3])], Type.i64, [1])
        height = self._add("Mul", [third.name, self._integers([2])], Type.i64, [1])
        one = self._integers([1])
        luma = self._add("Slice", [first.name, self._integers([0]), height.name, one],
                         first.type, size)  # fmt: skip
        rest = self._add("Slice", [first.name, height.name, rows.name, one], first.type, size)
        width = self._add("Shape", [first.name], Type.i64, [1], start=2, end=3)
        half = self._add("Div", [width.name, self._integers([2])], Type.i64, [1])
        batch = self._add("Shape", [first.name], Type.i64, [1], start=0, end=1)
        pair = self._integers([2])
        if kind.startswith("NV12"):
            parts = [batch.name, third.name, half.name, pair]
        else:
            parts = [batch.name, pair, third.name, half.name]
        shape = self._add("Concat", parts, Type.i64, [4], axis=0)
        colours = self._add("Reshape", [rest.name, shape.name], first.type, size, allowzero=1)
        return luma, colours if kind.startswith("NV12") else self.transpose(colours, [0, 2, 3, 1])

    def take(self, value: Value, axis: int, indices: Sequence[int]) -> Value:
        """Some places of an axis."""
        shape = [*value.shape[:axis], len(indices), *value.shape[axis + 1 :]]
        names = [value.name, self._integers(indices)]
        return self._add("Gather", names, value.type, shape, axis=axis)

    def resize(self, value: Value, sizes: dict[int, int], mode: str) -> Value:
        """Other extents of some axes.

        Raises:
            InvalidArgument: ONNX has no such mode.
        """
        if mode not in ("linear", "nearest", "cubic"):
            raise InvalidArgument(
                "resize: Pillow's algorithms are for models of IR; ONNX has RESIZE_LINEAR, "
                "RESIZE_NEAREST and RESIZE_CUBIC"
            )
        shape = [sizes.get(axis, extent) for axis, extent in enumerate(value.shape)]
        return self._add(
            "Resize",
            [value.name, "", "", self._integers(list(sizes.values()))],
            value.type,
            shape,
            axes=list(sizes),
            mode=mode,
            coordinate_transformation_mode="half_pixel",
            nearest_mode="round_prefer_floor",
            cubic_coeff_a=-0.75,
        )

    def slice(self, value: Value, begins: Sequence[int], ends: Sequence[int]) -> Value:
        """A part of all axes."""
        shape = [
            len(range(*slice(begin, end).indices(extent))) if extent is not None else None
            for begin, end, extent in zip(begins, ends, value.shape, strict=True)
        ]
        names = [value.name, self._integers(begins), self._integers(ends)]
        return self._add("Slice", names, value.type, shape)

    def pad(
        self, value: Value, begins: Sequence[int], ends: Sequence[int], fill: float, mode: str
    ) -> Value:
        """More elements before and behind those of each axis.

        Raises:
            InvalidArgument: ONNX has no such mode.
        """
        if mode not in ("constant", "reflect"):
            raise InvalidArgument("pad: SYMMETRIC is for models of IR; ONNX has no such mode")
        shape = [
            None if extent is None else extent + begin + end
            for begin, end, extent in zip(begins, ends, value.shape, strict=True)
        ]
        names = [value.name, self._integers([*begins, *ends])]
        names.append(self.constant(np.array(fill, value.type.to_dtype())))
        return self._add("Pad", names, value.type, shape, mode=mode)

    # ----- Inputs and outputs ------------------------------------------------

    def _input(self, index: int) -> Any:
        weights = {one.name for one in self._graph.initializer}
        return [one for one in self._graph.input if one.name not in weights][index]

    def _begin(self, what: str) -> None:
        import onnx

        taken = {one.name for one in self._model.functions if one.domain == _DOMAIN}
        name = next(f"{what}{at}" for at in range(len(taken) + 1) if f"{what}{at}" not in taken)
        self._function = onnx.FunctionProto(name=name, domain=_DOMAIN)
        self._function.opset_import.add(domain="", version=_OPSET)

    def _finish(self, given: Sequence[str], result: Value, made: str, at: int) -> None:
        """Calls the function, whose inputs are `given` and whose output is `made`."""
        import onnx

        function = self._function
        function.input.extend(["v0", *(f"plane{at}" for at in range(1, len(given)))])
        function.output.append(result.name)
        if not function.node:
            function.node.append(onnx.helper.make_node("Identity", ["v0"], ["v1"]))
            function.output[0] = "v1"
        self._model.functions.append(function)
        self._model.ir_version = max(self._model.ir_version, 10)
        if all(one.domain != _DOMAIN for one in self._model.opset_import):
            self._model.opset_import.add(domain=_DOMAIN, version=1)
        self._count = 0
        call = onnx.helper.make_node(function.name, list(given), [made], domain=_DOMAIN)
        self._graph.node.insert(at, call)

    def begin_input(
        self, index: int, type: Type, shapes: Sequence[Extents], names: Sequence[str]
    ) -> list[Value]:
        """The input of number `index` with another type and shape.

        Where there are several, each is called as the input, and one of `names` or a number
        behind that.
        """
        del index
        self._begin("input")
        self._suffixes = [f"/{one}" for one in names] or [f"/{at}" for at in range(len(shapes))]
        return [
            Value(f"plane{at}" if at else "v0", type, list(shape))
            for at, shape in enumerate(shapes)
        ]

    def end_input(self, index: int, value: Value, new: Sequence[Value]) -> None:
        """Feeds what read the old input."""
        port = self._input(index)
        self._refuse_same(port.name, self._graph.output)
        inner = self._fresh(f"{port.name}/model")
        _rename(self._graph, port.name, inner)
        _describe(port, new[0])
        given = [port.name]
        if len(new) > 1:
            place = [one.name for one in self._graph.input].index(port.name) + 1
            given = [port.name + suffix for suffix in self._suffixes]
            port.name = given[0]
            for at, (name, plane) in enumerate(zip(given[1:], new[1:], strict=True)):
                self._graph.input.insert(place + at, type(port)(name=name))
                _describe(self._graph.input[place + at], plane)
        self._finish(given, value, inner, 0)

    def begin_output(self, index: int, type: Type, shape: Extents) -> Value:
        """What the output of number `index` is in the model."""
        del index
        self._begin("output")
        return Value("v0", type, list(shape))

    def end_output(self, index: int, value: Value) -> None:
        """Computes the output of number `index`, which keeps its name."""
        port = self._graph.output[index]
        self._refuse_same(port.name, [*self._graph.input, *self._graph.initializer])
        inner = self._fresh(f"{port.name}/model")
        _rename(self._graph, port.name, inner)
        _describe(port, value)
        self._finish([inner], value, port.name, len(self._graph.node))

    @staticmethod
    def _refuse_same(name: str, others: Sequence[Any]) -> None:
        if any(one.name == name for one in others):
            raise InvalidArgument(f"{name!r} is an output of the model that nothing computes")

    def _fresh(self, name: str) -> str:
        if not self._names:
            self._names = {one for node in self._graph.node for one in node.output}
            self._names |= {one.name for one in (*self._graph.input, *self._graph.initializer)}
        while name in self._names:
            name += "_"
        self._names.add(name)
        return name

    def add_output(self, node: str | None, output: int, tensor: str | None) -> str:
        """An output that is a tensor, or what a node computes; its name.

        Raises:
            InvalidArgument: there is none.
        """
        found = None
        for one in self._graph.node:
            if tensor in one.output:
                found = tensor
            elif node is not None and one.name == node and output < len(one.output):
                found = one.output[output]
        if not found:
            wanted = repr(tensor) if node is None else f"{node!r}, output {output}"
            raise InvalidArgument(f"outputs: the model has no tensor {wanted}")
        if all(one.name != found for one in self._graph.output):
            described = [one for one in self._graph.value_info if one.name == found]
            made = self._graph.output.add(name=found)
            if described:
                made.CopyFrom(described[0])
        return found

    # ----- Files -------------------------------------------------------------

    def fix(self, shapes: dict[str, list[int | None]]) -> None:
        """Writes the extents of inputs down."""
        for port in self._graph.input:
            if port.name in shapes:
                shape = port.type.tensor_type.shape
                names = [dim.dim_param for dim in shape.dim]
                names += [""] * len(shapes[port.name])
                shape.Clear()
                shape.SetInParent()
                for extent, name in zip(shapes[port.name], names, strict=False):
                    shape.dim.add(dim_value=extent) if extent is not None else shape.dim.add(
                        dim_param=name
                    )
        if shapes:
            # What followed from other shapes is inferred.
            del self._graph.value_info[:]
            for port in self._graph.output:
                # To name the type of a tensor makes it one.
                if port.type.HasField("tensor_type"):
                    port.type.tensor_type.ClearField("shape")

    def set_layouts(self, layouts: dict[str, Layout]) -> None:
        """Nothing: ONNX does not write them down."""

    def write(self, path: Path, weights: Path | None = None, *, links: bool = False) -> None:
        """Writes the model; external data stay where they are."""
        del weights, links
        path.write_bytes(self._model.SerializeToString())


def _describe(port: Any, value: Value) -> None:
    """Gives an input or output a type and extents."""
    port.type.Clear()
    port.type.tensor_type.elem_type = number_of(value.type.to_dtype())
    port.type.tensor_type.shape.SetInParent()
    for extent in value.shape:
        dim = port.type.tensor_type.shape.dim.add()
        if extent is not None:
            dim.dim_value = extent


def _rename(graph: Any, old: str, new: str) -> None:
    """Gives a tensor another name wherever nodes compute or read it, in bodies as well."""
    for node in graph.node:
        for names in (node.input, node.output):
            for at, name in enumerate(names):
                if name == old:
                    names[at] = new
        for attribute in node.attribute:
            for body in (attribute.g, *attribute.graphs):
                if body.node or body.output:
                    hidden = {one.name for one in (*body.input, *body.initializer)}
                    hidden |= {name for one in body.node for name in one.output}
                    if old not in hidden:
                        _rename(body, old, new)
                        for port in body.output:
                            port.name = new if port.name == old else port.name
