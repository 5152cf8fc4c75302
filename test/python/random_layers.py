# ===- random_layers.py - Layers in random models ------------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Still more of what random_models.py makes loop bodies of.

Products and convolutions of eight bits, transposed convolutions, images of other
sizes, attention, texts, and values that may be missing.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from onnx import TensorProto, helper
from random_movement import Movement
from random_operators import BOOL, F32, I32, I64, Block, Dim, Step, Value, put

BYTES = (TensorProto.INT8, TensorProto.UINT8)
TEXT = TensorProto.STRING
WORDS = ("", "a", "ab", "b a", "\u00e9t\u00e9", "loop,scan,if", "0.5", "Ab")


class Layers(Movement):
    """Makes a few nodes of kinds that Movement does not."""

    def _bytes(self, block: Block, value: Value, elem: int) -> Value:
        """A float in eight bits, of zero point 3."""
        scale, zero = self.const(block, 0.0213, F32), self.const(block, 3, elem)
        return self.op(block, "QuantizeLinear", [value, scale, zero], elem, value.shape)

    def _weights(self, block: Block, extents: tuple[int, ...], elem: int = F32) -> Value:
        """A constant of small numbers, of bytes all there are."""
        count = math.prod(extents)
        if elem == F32:
            numbers: list[float] = [self.random.uniform(-1, 1) for _ in range(count)]
        else:
            least = -128 if elem == TensorProto.INT8 else 0
            numbers = [self.random.randrange(least, least + 256) for _ in range(count)]
        return self.const(block, np.reshape(np.array(numbers), extents), elem)

    def _scaled(self, block: Block, sums: Value) -> Value:
        """Large integers as floats within (-1, 1)."""
        made = self.cast(block, sums, F32)
        made = self.like(block, "Mul", made, self.const(block, 1e-4, F32))
        return self.damped(block, made)

    # -- Eight bits -----------------------------------------------------------------

    def product_of_bytes(self, block: Block) -> Value | None:
        """MatMulInteger or QLinearMatMul, with a zero point for all or for each column."""
        value = self._filled(block, F32, least=2, most=3)
        if value is None or not self.has(10) or not isinstance(value.shape[-1], int):
            return None
        left, right = self.random.choice(BYTES), self.random.choice(BYTES)
        one = self._bytes(block, value, left)
        columns = self.random.choice(self.extents) or 1
        other = self._weights(block, (value.shape[-1], columns), right)
        shape = (*value.shape[:-1], columns)
        each = self.chance(0.5)
        zero = self._weights(block, (columns,) if each else (), right)
        if self.chance(0.6):
            points = [self.const(block, 3, left), zero][: self.random.randrange(3)]
            made = self.op(block, "MatMulInteger", [one, other, *points], I32, shape)
            return self._scaled(block, made)
        scale = self.const(block, [0.011] * columns if each else 0.011, F32)
        scales = [self.const(block, number, F32) for number in (0.0213, 0.37)]
        inputs = [
            one, scales[0], self.const(block, 3, left), other, scale, zero,
            scales[1], self.const(block, 5, left),
        ]  # fmt: skip
        made = self.op(block, "QLinearMatMul", inputs, left, shape)
        made = self.cast(block, made, I32)
        # A rounding decides the last bit, which shall decide nothing.
        return self.like(block, "Div", made, self.const(block, 64, I32))

    def convolution_of_bytes(self, block: Block) -> Value | None:
        """ConvInteger, with borders, steps and a zero point of the image."""
        value = self._filled(block, F32, least=2, most=3)
        if value is None or not self.has(10) or not isinstance(value.shape[0], int):
            return None
        if isinstance(value.shape[1], int) and value.shape[1] < 3:
            return None
        elem, weights = self.random.choice(BYTES), self.random.choice(BYTES)
        image = self.unsqueeze(block, self._bytes(block, value, elem), 0)
        ones = [1] * (value.rank - 2)
        count, step = self.random.randrange(1, 4), self.random.randrange(1, 3)
        weight = self._weights(block, (count, value.shape[0], 3, *ones), weights)
        points = [self.const(block, 3, elem), self._weights(block, (), weights)]
        extent = self.changed(value.shape[1], lambda n: (n - 1) // step + 1)
        made = self.op(
            block, "ConvInteger", [image, weight, *points[: self.random.randrange(3)]], I32,
            (1, count, extent, *value.shape[2:]), kernel_shape=[3, *ones],
            pads=[1, *(0 for _ in ones)] * 2, strides=[step, *ones],
        )  # fmt: skip
        return self._scaled(block, made)

    # -- Images ---------------------------------------------------------------------

    def transposed(self, block: Block) -> Value | None:
        """A transposed convolution along the last but one axis, or the last."""
        value = self._filled(block, F32, least=2, most=3)
        if value is None or not isinstance(value.shape[0], int):
            return None
        image = self.unsqueeze(block, value, 0)
        ones = [1] * (value.rank - 2)
        channels, extent = value.shape[0], value.shape[1]
        group = channels if self.chance(0.3) else 1
        width, step = self.random.randrange(1, 5), self.random.randrange(1, 4)
        dilation = self.random.randrange(1, 3)
        begin, end = (self.random.randrange(2) for _ in range(2))
        more = self.random.randrange(step)
        rest = more + (width - 1) * dilation + 1 - begin - end
        length = self.changed(extent, lambda n: step * (n - 1) + rest)
        if isinstance(length, int) and length < 1:
            return None
        count = self.random.randrange(1, 3)
        weight = self._weights(block, (channels, count, width, *ones))
        inputs = [image, weight]
        # onnx's evaluator adds the first group's bias to all groups.
        if self.chance(0.5) and group == 1:
            inputs.append(self._weights(block, (count,)))
        zeros = [0] * len(ones)
        made = self.op(
            block, "ConvTranspose", inputs, F32, (1, count * group, length, *value.shape[2:]),
            kernel_shape=[width, *ones], strides=[step, *ones], dilations=[dilation, *ones],
            pads=[begin, *zeros, end, *zeros], output_padding=[more, *zeros], group=group,
        )  # fmt: skip
        return self.damped(block, made)

    def resized(self, block: Block) -> Value | None:
        """An axis longer or shorter, by any of three rules, to a size or by a factor."""
        value = self._filled(block, F32)
        if value is None or not self.has(13):
            return None
        axis = self.random.randrange(value.rank)
        extent = value.shape[axis]
        mode = self.random.choice(("nearest", "linear", "cubic"))
        places = ["half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"]
        more: dict[str, Any] = {
            "mode": mode,
            "coordinate_transformation_mode": self.random.choice(places),
        }
        if mode == "nearest":
            # In the middle between two a rounding decides.
            more["nearest_mode"] = "floor"
            more["coordinate_transformation_mode"] = "asymmetric"
        length: Dim = 0
        if isinstance(extent, int):
            length = self.random.choice((1, 2, 3, 2 * extent, extent + 1))
        shape = put(value.shape, axis, length)
        if self.chance(0.5) and value.fixed:
            made = self.const(block, [int(dim) for dim in shape])
            inputs: list[Value | None] = [value, None, None, made]
        else:
            length = self.changed(extent, lambda n: 2 * n)
            shape = put(value.shape, axis, length)
            factors = [2.0 if k == axis else 1.0 for k in range(value.rank)]
            inputs = [value, None, self.const(block, factors, F32)]
        return self.op(block, "Resize", inputs, F32, shape, **more)

    # -- Attention --------------------------------------------------------------------

    def attention(self, block: Block) -> Value | None:
        """Rows chosen by rows, with a mask that lets each see those before it, or without."""
        queries = self._filled(block, F32, least=2, most=3)
        if queries is None:
            return None
        keys = self.pick(
            block,
            lambda v: v.elem == F32 and self.filled(v) and v.rank == 2
            and v.shape[-1] == queries.shape[-1],
        )  # fmt: skip
        if keys is None:
            return None
        rows, columns = queries.shape[-2], keys.shape[0]
        turned = self.op(block, "Transpose", [keys], F32, keys.shape[::-1], perm=[1, 0])
        scores = self.op(block, "MatMul", [queries, turned], F32, (*queries.shape[:-1], columns))
        scores = self.damped(block, scores)
        if self.chance(0.5) and isinstance(rows, int) and isinstance(columns, int):
            mask = np.triu(np.full((rows, columns), -1e4), 1)
            if self.chance(0.2):
                mask[:, 1:] = -np.inf
            scores = self.like(block, "Add", scores, self.const(block, mask, F32))
        weights = self.op(block, "Softmax", [scores], F32, scores.shape, axis=scores.rank - 1)
        return self.op(block, "MatMul", [weights, keys], F32, queries.shape)

    # -- Texts ------------------------------------------------------------------------

    def texts(self, block: Block) -> list[Value] | None:
        """Words that data chooses, put together in a loop, and what can be said of them."""
        if not self.has(21):
            return None
        words = self.const(block, [self.random.choice(WORDS) for _ in range(5)], TEXT)
        count = self.random.randrange(1, 4)
        at = self._indices(block, (count,), 5)
        chosen = self.op(block, "Gather", [words, at], TEXT, (count,))
        number, given = self.value("i", I64), self.value("p", BOOL)
        carried, inner = self.value("t", TEXT, (count,)), block.inner()
        longer = self.op(inner, "StringConcat", [carried, chosen], TEXT, (count,))
        if self.chance(0.5):
            known = self.op(inner, "Equal", [longer, chosen], BOOL, (count,))
            longer = self.op(inner, "Where", [known, longer, carried], TEXT, (count,))
        goes_on = self.like(inner, "Identity", given)
        body = helper.make_graph(
            inner.nodes, self.fresh("g"),
            [self._info(v) for v in (number, given, carried)],
            [self._info(v) for v in (goes_on, longer)],
        )  # fmt: skip
        trips = self.const(block, self.random.randrange(3))
        last = self.op(block, "Loop", [trips, None, chosen], TEXT, (count,), body=body)
        same = self.op(block, "Equal", [last, chosen], BOOL, (count,))
        found = self.op(block, "RegexFullMatch", [last], BOOL, (count,), pattern="[a-z]*")
        parts, counts = (
            self.value("v", TEXT, (count, self.fresh("d"))), self.value("v", I64, (count,)),
        )  # fmt: skip
        self.append(block, "StringSplit", [last], [parts, counts], delimiter="a")
        return [same, found, counts]

    @staticmethod
    def _info(value: Value) -> Any:
        return helper.make_tensor_value_info(value.name, value.elem, value.shape)

    # -- What may be missing -------------------------------------------------------------

    def missing(self, block: Block) -> list[Value] | None:
        """A Loop that carries a value that may be missing, and its branches look."""
        value = self.pick(block, lambda v: v.elem in (F32, I64))
        if value is None or not self.has(18):
            return None
        kind = helper.make_tensor_type_proto(value.elem, None)
        optional = helper.make_optional_type_proto(kind)
        given = [value] if self.chance(0.5) else []
        more = {} if given else {"type": kind}
        first = self.op(block, "Optional", given, value.elem, value.shape, **more)
        number, goes = self.value("i", I64), self.value("p", BOOL)
        carried = self.value("o", value.elem, value.shape)
        inner = block.inner()
        there = self.op(inner, "OptionalHasElement", [carried], BOOL, ())
        yes, no = block.inner(), block.inner()
        got = self.op(yes, "OptionalGetElement", [carried], value.elem, value.shape)
        got = self.like(yes, "Add", got, value)
        if value.elem == F32:
            got = self.damped(yes, got)
        other = self.like(no, "Neg", value)
        graphs = [
            helper.make_graph(b.nodes, self.fresh("g"), [], [self._open(v)])
            for b, v in ((yes, got), (no, other))
        ]
        made = self.op(
            inner, "If", [there], value.elem, value.shape,
            then_branch=graphs[0], else_branch=graphs[1],
        )  # fmt: skip
        packed = self.op(inner, "Optional", [made], value.elem, value.shape)
        goes_on = self.like(inner, "Identity", goes)
        body = helper.make_graph(
            inner.nodes, self.fresh("g"),
            [self._info(number), self._info(goes),
             helper.make_value_info(carried.name, optional)],
            [self._info(goes_on), helper.make_value_info(packed.name, optional), self._open(made)],
        )  # fmt: skip
        trips = self.const(block, self.random.randrange(1, 4))
        last = self.value("v", value.elem, value.shape)
        rows = self.value("v", value.elem, (self.fresh("d"), *value.shape))
        self.append(block, "Loop", [trips, None, first], [last, rows], body=body)
        got = self.op(block, "OptionalGetElement", [last], value.elem, value.shape)
        return [self.op(block, "OptionalHasElement", [last], BOOL, ()), got, rows]

    @staticmethod
    def _open(value: Value) -> Any:
        """What a graph says of a value of which it knows the rank."""
        return helper.make_tensor_value_info(value.name, value.elem, [None] * value.rank)


#: How often, in comparison, each is tried.
LAYER_STEPS: dict[Step, int] = {
    Layers.product_of_bytes: 1,
    Layers.convolution_of_bytes: 1,
    Layers.transposed: 1,
    Layers.resized: 1,
    Layers.attention: 1,
    Layers.texts: 1,
    Layers.missing: 1,
}
