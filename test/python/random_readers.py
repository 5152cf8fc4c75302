# ===- random_readers.py - Random models whose values have several readers --===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Products, sums and softmaxes each of which several operations read, in different ways.

A value is read element by element, summed up along its rows, multiplied again, and looked up at
constant places, whose reads stand in the body of an operation and not among its operands.
Passes that move one of the readers, or compute one with what makes the value, must see the others.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import onnx.numpy_helper
from onnx import TensorProto, helper

Feeds = dict[str, np.ndarray]


class Readers:
    """A model on the way, and its inputs."""

    def __init__(self, seed: int) -> None:
        self._choice = random.Random(seed)
        self._rng = np.random.default_rng(seed)
        large = self._choice.random() < 0.1
        rows = 512 if large else self._choice.choice([1, 5, 16, 64, 200])
        columns = 600 if large else self._choice.choice([1, 7, 16, 80, 130])
        heads = 4 if large else self._choice.choice([0, 0, 1, 3])
        self._shape = [*([heads] if heads else []), rows, columns]
        self._nodes: list[onnx.NodeProto] = []
        self._constants: list[onnx.TensorProto] = []
        self._inputs: list[onnx.ValueInfoProto] = []
        self.feeds: Feeds = {}
        #: Values of the shape, the newest last, and others that are only results.
        self._values = [
            self._product() if self._choice.random() < 0.7 else self._input(self._shape)
        ]
        self._results: list[str] = []

    def _add(self, kind: str, inputs: list[str], **attributes: Any) -> str:
        name = f"v{len(self._nodes)}"
        self._nodes.append(helper.make_node(kind, inputs, [name], **attributes))
        return name

    def _constant(self, value: np.ndarray) -> str:
        name = f"c{len(self._constants)}"
        self._constants.append(onnx.numpy_helper.from_array(value, name))
        return name

    def _input(self, shape: list[int]) -> str:
        """An input, some of whose extents are open."""
        name = f"x{len(self._inputs)}"
        extents = [
            f"{name}_{axis}" if self._choice.random() < 0.4 else extent
            for axis, extent in enumerate(shape)
        ]
        self._inputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, extents))
        self.feeds[name] = self._rng.standard_normal(shape).astype(np.float32)
        return name

    def _axes(self) -> str:
        return self._constant(np.array([len(self._shape) - 1]))

    def _product(self) -> str:
        *heads, rows, columns = self._shape
        inner = self._choice.choice([1, 8, 33])
        return self._add(
            "MatMul", [self._input([*heads, rows, inner]), self._input([*heads, inner, columns])]
        )

    def _another(self) -> str:
        return self._choice.choice(self._values)

    def _elementwise(self, value: str) -> None:
        kind = self._choice.choice(["Relu", "Neg", "Sigmoid", "Tanh"])
        self._values.append(self._add(kind, [value]))

    def _combine(self, value: str) -> None:
        kind = self._choice.choice(["Mul", "Add", "Sub"])
        self._values.append(self._add(kind, [value, self._another()]))

    def _look_up(self, value: str) -> None:
        axis = self._choice.randrange(len(self._shape))
        extent = self._shape[axis]
        is_whole = self._choice.random() < 0.6
        count = extent if is_whole else self._choice.randint(1, extent)
        places = self._constant(self._rng.integers(-extent, extent, count))
        found = self._add("Gather", [value, places], axis=axis)
        if is_whole:
            kind = self._choice.choice(["Mul", "Add"])
            self._values.append(self._add(kind, [found, self._another()]))
        elif self._choice.random() < 0.6:
            shape = [count if k == axis else n for k, n in enumerate(self._shape)]
            self._results.append(self._add("Mul", [found, self._input(shape)]))
        else:
            self._results.append(self._add("ReduceSum", [found, self._axes()], keepdims=1))

    def _reduce(self, value: str) -> None:
        kind = self._choice.choice(["ReduceSum", "ReduceMax"])
        reduced = self._add(kind, [value, self._axes()], keepdims=0)
        if len(self._shape) == 2 and self._choice.random() < 0.7:
            places = self._rng.integers(0, self._shape[0], self._shape)
            found = self._add("Gather", [reduced, self._constant(places)], axis=0)
            self._values.append(self._add("Mul", [found, self._another()]))
        else:
            wide = self._add("Unsqueeze", [reduced, self._axes()])
            self._values.append(self._add("Sub", [value, wide]))

    def _softmax(self, value: str) -> None:
        self._values.append(self._add("Softmax", [value], axis=-1))

    def _multiply(self, value: str) -> None:
        columns = self._shape[-1]
        self._values.append(self._add("MatMul", [value, self._input([columns, columns])]))

    def finish(self) -> onnx.ModelProto:
        """The model, after some more nodes."""
        steps: list[Callable[[str], None]] = [
            *[self._elementwise] * 4, *[self._combine] * 4, *[self._look_up] * 5,
            *[self._reduce] * 2, *[self._softmax] * 2, *[self._multiply] * 2,
            lambda _: self._values.append(self._product()),
        ]  # fmt: skip
        for _ in range(self._choice.randint(3, 8)):
            self._choice.choice(steps)(self._choice.choice(self._values[-3:]))
        wanted = [self._values[-1], *self._results]
        if self._choice.random() < 0.5:
            wanted.append(self._another())
        outputs = [
            helper.make_tensor_value_info(name, TensorProto.FLOAT, None)
            for name in dict.fromkeys(wanted)
            if name not in self.feeds
        ]
        graph = helper.make_graph(self._nodes, "readers", self._inputs, outputs, self._constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)


def make(seed: int) -> tuple[onnx.ModelProto, Feeds]:
    """The model of a seed, and inputs for it."""
    readers = Readers(seed)
    return readers.finish(), readers.feeds
