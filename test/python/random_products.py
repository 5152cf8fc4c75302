# ===- random_products.py - Chains of products of every type and shape --------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Random chains of products and what stands between them, with sets of inputs.

`random_products(seed)` is the same model for the same seed. A value [rows, width], whose rows are
open or known, is multiplied with weights, with other values and with itself, convolved, added to,
normalized and summed up; widths lie around those of vectors and tiles. What is summed up goes along
open axes and along known ones. The chain stands alone or in a Loop that carries its value.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper
from random_inputs import Feeds, Form

WIDTHS = (1, 2, 3, 4, 7, 8, 15, 16, 17, 24, 31, 32, 33, 48, 64, 70, 100)
ROWS = (0, 1, 2, 3, 4, 5, 8, 9, 17, 33, 70)
TYPES = (TensorProto.FLOAT,) * 5 + (TensorProto.DOUBLE, TensorProto.FLOAT16, TensorProto.BFLOAT16)
ELEMENTWISE = ("Relu", "Tanh", "Sigmoid", "Exp", "Abs", "Neg", "Sqrt", "Erf", "Floor")
SUMS = ("ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceL2", "ReduceSumSquare",
        "ReduceLogSumExp", "ReduceProd")  # fmt: skip


class _Products:
    """Writes one chain."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)
        self.numbers = np.random.default_rng(seed)
        self.elem = self.dice.choice(TYPES)
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []
        self.count = 0

    def name(self) -> str:
        self.count += 1
        return f"v{self.count}"

    def add(self, op: str, operands: Sequence[str], **attributes: Any) -> str:
        made = self.name()
        self.nodes.append(helper.make_node(op, list(operands), [made], **attributes))
        return made

    def constant(self, values: Any, elem: int | None = None) -> str:
        """A tensor of the chain's type, or of another one."""
        elem, array, made = elem or self.elem, np.asarray(values), self.name()
        self.constants.append(helper.make_tensor(made, elem, array.shape, array.ravel().tolist()))
        return made

    def weight(self, *shape: int) -> str:
        scale = 1 / np.sqrt(max(1, shape[0]))
        return self.constant(self.numbers.standard_normal(shape) * scale)

    def multiply(self, x: str, width: int) -> tuple[str, int]:
        wider = self.dice.choice(WIDTHS)
        if self.dice.random() < 0.6:
            return self.add("MatMul", [x, self.weight(width, wider)]), wider
        weight = self.weight(wider, width)
        bias = [self.weight(wider)] if self.dice.random() < 0.7 else []
        return self.add("Gemm", [x, weight, *bias], transB=1), wider

    def attend(self, x: str, width: int) -> tuple[str, int]:
        """Products of a value with itself, of which neither extent need be known."""
        scores = self.add("MatMul", [x, self.add("Transpose", [x], perm=[1, 0])])
        scale = self.constant(1 / np.sqrt(width))
        scaled = self.add("Mul", [scores, scale])
        rows = self.add("Softmax", [scaled], axis=self.dice.choice((-1, 0)))
        return self.add("MatMul", [rows, x]), width

    def convolve(self, x: str, width: int) -> tuple[str, int]:
        """Rows are places of an image of one axis."""
        wider = self.dice.choice(WIDTHS)
        length = self.dice.choice((1, 2, 3, 5))
        turned = self.add("Transpose", [x], perm=[1, 0])
        image = self.add("Unsqueeze", [turned, self.constant([0], TensorProto.INT64)])
        pads = [length // 2, (length - 1) // 2]
        made = self.add("Conv", [image, self.weight(wider, width, length)], pads=pads)
        flat = self.add("Squeeze", [made, self.constant([0], TensorProto.INT64)])
        return self.add("Transpose", [flat], perm=[1, 0]), wider

    def change(self, x: str, width: int) -> tuple[str, int]:
        return self.add(self.dice.choice(ELEMENTWISE), [x]), width

    def combine(self, x: str, width: int) -> tuple[str, int]:
        op = self.dice.choice(("Add", "Mul", "Sub", "Max", "Min"))
        number = self.constant(self.dice.choice((0.0, -0.0, 0.5, 2.0)))
        other = self.weight(width) if self.dice.random() < 0.5 else number
        return self.add(op, [x, other]), width

    def power(self, x: str, width: int) -> tuple[str, int]:
        exponent = self.constant(self.dice.choice((2.0, 0.5, -1.0, 3.0, -0.5)))
        return self.add("Pow", [self.add("Abs", [x]), exponent]), width

    def sum_up(self, x: str, width: int) -> tuple[str, int]:
        """A sum along either axis, or both, beside the value."""
        axes = self.constant(self.dice.choice(([0], [1], [0, 1])), TensorProto.INT64)
        made = self.add(self.dice.choice(SUMS), [x, axes], keepdims=1)
        return self.add(self.dice.choice(("Add", "Sub", "Mul")), [x, made]), width

    def normalize(self, x: str, width: int) -> tuple[str, int]:
        if self.dice.random() < 0.5:
            return self.add("Softmax", [x], axis=self.dice.choice((-1, 0))), width
        return self.add("LayerNormalization", [x, self.weight(width)]), width

    def chain(self, x: str, width: int) -> str:
        steps: tuple[Callable[[str, int], tuple[str, int]], ...]
        steps = (self.multiply, self.multiply, self.multiply, self.attend, self.convolve,
                 self.change, self.change, self.combine, self.power, self.sum_up, self.sum_up,
                 self.normalize)  # fmt: skip
        if self.elem == TensorProto.BFLOAT16:  # ONNX has no Conv of it
            steps = tuple(step for step in steps if step != self.convolve)
        first = width
        for _ in range(self.dice.randint(2, 9)):
            x, width = self.dice.choice(steps)(x, width)
        # What a loop carries stays of one size.
        return self.add("Tanh", [self.add("MatMul", [x, self.weight(width, first)])])


def random_products(seed: int) -> Form:
    """The model of that number."""
    made = _Products(seed)
    dice, info = made.dice, helper.make_tensor_value_info
    width = dice.choice(WIDTHS)
    rows = dice.choice(("n", "n", 1, 3, 8, 33))
    inputs = [info("x", made.elem, [rows, width])]
    if dice.random() < 0.3:
        last = made.chain("state", width)
        go = made.add("Identity", ["go"])
        body = helper.make_graph(
            made.nodes, "body",
            [info("i", TensorProto.INT64, []), info("go", TensorProto.BOOL, []),
             info("state", made.elem, None)],
            [info(go, TensorProto.BOOL, None), info(last, made.elem, None)],
        )  # fmt: skip
        made.nodes = []
        inputs.append(info("trips", TensorProto.INT64, []))
        result = made.add("Loop", ["trips", "", "x"], body=body)
    else:
        result = made.chain("x", width)
    graph = helper.make_graph(
        made.nodes, "products", inputs, [info(result, made.elem, [None, None])], made.constants
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    sets: list[Feeds] = []
    dtype = helper.tensor_dtype_to_np_dtype(made.elem)
    for number in dice.sample(ROWS, 4) if rows == "n" else [rows] * 2:
        x = np.asarray(made.numbers.standard_normal((number, width))).astype(dtype)
        sets.append({"x": x, "trips": np.array(dice.randrange(4))})
    names = {port.name for port in graph.input}
    return Form("products", model, tuple({k: v for k, v in s.items() if k in names} for s in sets))
