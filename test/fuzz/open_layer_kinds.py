# ===- open_layer_kinds.py - The kinds of layers of open extents ----------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""A random layer of each kind, beside NumPy; see open_layers.py."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from loopc import network as trt
from network_layers import BINARY, COMPARE, LOGIC, Array, Value
from open_layers import (
    EW,
    INTEGERS,
    REDUCE,
    TYPES,
    UNARY,
    UNARY_FLOAT,
    Act,
    Extent,
    Gather,
    OpenLayers,
    Sample,
    need,
    reduced,
    sliced,
)
from random_errors import UnclearError

Matrix = trt.MatrixOperation
#: What a run says of an index.
BEYOND = "index -?\\d+ is out of range"


def product(extents: Sequence[Extent]) -> int | None:
    """The number of elements, where it is known."""
    known = [one for one in extents if isinstance(one, int)]
    return int(np.prod(known)) if len(known) == len(extents) else None


def gathered(x: Array, k: Array, axis: int) -> Array:
    need(not k.size or (k.min() >= -x.shape[axis] and k.max() < x.shape[axis]), BEYOND)
    return np.take(x, k, axis)


class LayerKinds(OpenLayers):
    """Layers of all kinds."""

    def layer(self, pool: Sequence[Value]) -> Value | None:
        """A random layer; None where the pool has nothing for it."""
        kinds = [getattr(self, name) for name in dir(self) if name.startswith("make_layer_")]
        kinds += [self.make_layer_arithmetic] * 4
        made: Value | None = self.dice.choice(kinds)(pool)
        return made

    def make_layer_arithmetic(self, pool: Sequence[Value]) -> Value | None:
        a = self.pick(pool, lambda v: v.is_number)
        if not a:
            return None
        op = self.dice.choice([*BINARY])
        b = self.like(pool, a.shape, a.dtype)
        pair = (a, b) if self.dice.random() < 0.5 else (b, a)
        return self.clip(self.binary(*pair, op))

    def make_layer_divide(self, pool: Sequence[Value]) -> Value | None:
        a = self.pick(pool, lambda v: v.dtype in INTEGERS)
        if not a:
            return None
        b = self.like(pool, a.shape, a.dtype)
        if self.dice.random() < 0.7:
            b = self.between(b, 1, 4)
        op = self.dice.choice([EW.DIV, EW.FLOOR_DIV])

        def work(x: Array, y: Array) -> Array:
            x, y = np.broadcast_arrays(x, y)
            need(np.all(y != 0), "division by zero")
            return x // y if op == EW.FLOOR_DIV else np.trunc(x / y).astype(x.dtype)

        shape = [y if x == 1 else x for x, y in zip(a.shape, b.shape, strict=True)]
        return self.value(self.net.add_elementwise(a.tensor, b.tensor, op), [a, b], work, shape,
                          a.dtype)  # fmt: skip

    def make_layer_comparison(self, pool: Sequence[Value]) -> Value | None:
        a = self.pick(pool, lambda v: v.is_number)
        return a and self.binary(a, self.like(pool, a.shape, a.dtype), self.dice.choice([*COMPARE]))

    def make_layer_logic(self, pool: Sequence[Value]) -> Value | None:
        a = self.pick(pool, lambda v: not v.is_number)
        return a and self.binary(a, self.like(pool, a.shape, a.dtype), self.dice.choice([*LOGIC]))

    def make_layer_unary(self, pool: Sequence[Value]) -> Value | None:
        a = self.pick(pool, lambda v: v.dtype.kind in "if")
        if not a:
            return None
        table = UNARY_FLOAT if a.dtype.kind == "f" and self.dice.random() < 0.6 else UNARY
        op = self.dice.choice([*table])
        dtype = bool if op in (trt.UnaryOperation.ISINF, trt.UnaryOperation.ISNAN) else a.dtype
        return self.value(self.net.add_unary(a.tensor, op), [a], table[op], a.shape, dtype)

    def make_layer_not(self, pool: Sequence[Value]) -> Value | None:
        a = self.pick(pool, lambda v: not v.is_number)
        layer = a and self.net.add_unary(a.tensor, trt.UnaryOperation.NOT)
        return layer and a and self.value(layer, [a], np.logical_not, a.shape, bool)

    def make_layer_activation(self, pool: Sequence[Value]) -> Value | None:
        a = self.pick(pool, lambda v: v.dtype == np.float32)
        if not a:
            return None
        kind = self.dice.choice([Act.RELU, Act.LEAKY_RELU, Act.CLIP, Act.THRESHOLDED_RELU])
        layer = self.net.add_activation(a.tensor, kind)
        if kind != Act.RELU:
            layer.alpha = 0.5
        if kind == Act.CLIP:
            layer.beta = 2.0
        work = {
            Act.RELU: lambda x: np.maximum(x, 0),
            Act.LEAKY_RELU: lambda x: np.where(x >= 0, x, x / 2),
            Act.CLIP: lambda x: np.clip(x, 0.5, 2),
            Act.THRESHOLDED_RELU: lambda x: np.where(x > 0.5, x, 0),
        }[kind]
        return self.value(layer, [a], work, a.shape, a.dtype)

    def make_layer_cast(self, pool: Sequence[Value]) -> Value | None:
        a = self.pick(pool)
        if not a:
            return None
        dtype = np.dtype(self.dice.choice(TYPES))
        small = self.between(a, 0 if dtype.kind == "u" else -8, 8)
        return self.cast(small, dtype)

    def make_layer_reduction(self, pool: Sequence[Value]) -> Value | None:
        a = self.pick(pool, lambda v: v.dtype in (*INTEGERS, np.float32) and v.shape != ())
        if not a:
            return None
        axes = tuple(k for k in range(len(a.shape)) if self.dice.random() < 0.6) or (0,)
        keep, op = self.dice.random() < 0.3, self.dice.choice([*REDUCE])
        layer = self.net.add_reduce(a.tensor, op, sum(1 << axis for axis in axes), keep)
        if keep:
            shape = [1 if k in axes else e for k, e in enumerate(a.shape)]
        else:
            shape = [e for k, e in enumerate(a.shape) if k not in axes]
        work = self.value(layer, [a], lambda x: reduced(op, x, axes, keep), shape, a.dtype)
        return self.clip(work)

    def make_layer_transpose(self, pool: Sequence[Value]) -> Value | None:
        a = self.pick(pool, lambda v: len(v.shape) > 1)
        if not a:
            return None
        order = list(range(len(a.shape)))
        self.dice.shuffle(order)
        layer = self.net.add_shuffle(a.tensor)
        if self.dice.random() < 0.5:
            layer.first_transpose = order
        else:
            layer.second_transpose = order
        shape = [a.shape[k] for k in order]
        return self.value(layer, [a], lambda x: x.transpose(order), shape, a.dtype)

    def make_layer_reshape(self, pool: Sequence[Value]) -> Value | None:
        a = self.pick(pool, lambda v: len(v.shape) < 4)
        if not a:
            return None
        layer = self.net.add_shuffle(a.tensor)
        count = product(a.shape)
        form = self.dice.choice(["flat", "row", "column", "ones", "computed"])
        whole: Extent = self.fresh() if count is None else count
        shape: list[Extent] = {
            "flat": [whole], "row": [1, whole], "column": [whole, 1],
            "ones": [1, *a.shape], "computed": [*a.shape, 1],
        }[form]  # fmt: skip
        inputs = [a]
        if form == "computed":
            parts = [self.shape_of(a), self.constant([1], np.int64)]
            joined = self.net.add_concatenation([one.tensor for one in parts])
            joined.axis = 0
            layer.set_input(1, joined.get_output(0))
            layer.zero_is_placeholder = False
        elif form == "ones":
            first = a.shape[0] if a.shape else 1
            if any(isinstance(e, str) or not e for e in a.shape) and len(a.shape) > 1:
                return None
            layer.reshape_dims = (1, *[-1 if isinstance(e, str) else e for e in a.shape])
            if first == 0:
                layer.zero_is_placeholder = False
        else:
            layer.reshape_dims = [-1 if e == whole else 1 for e in shape] if whole != 1 else shape

        def work(x: Array) -> Array:
            known = {"flat": [x.size], "row": [1, x.size], "column": [x.size, 1],
                     "ones": [1, *x.shape], "computed": [*x.shape, 1]}[form]  # fmt: skip
            return x.reshape(known)

        return self.value(layer, inputs, work, shape, a.dtype)

    def make_layer_slice(self, pool: Sequence[Value]) -> Value | None:
        a = self.pick(pool, lambda v: v.shape != ())
        if not a:
            return None
        dice, rank = self.dice, len(a.shape)
        axes = sorted(dice.sample(range(rank), dice.randint(1, rank)))
        mode = dice.choice([Sample.STRICT_BOUNDS, Sample.STRICT_BOUNDS, Sample.WRAP, Sample.CLAMP,
                            Sample.FILL, Sample.REFLECT])  # fmt: skip
        strict = mode == Sample.STRICT_BOUNDS
        starts = [dice.randint(0 if strict else -3, 2 if strict else 4) for _ in axes]
        steps = [dice.choice([1, 1, 2, -1, 0]) for _ in axes]
        sizes = [dice.choice([0, 1, 1, 2, 3, 4]) for _ in axes]
        if strict and any(isinstance(a.shape[axis], int) for axis in axes):
            steps = [1 if s == 0 else s for s in steps]
            for k, axis in enumerate(axes):
                extent = a.shape[axis]
                if isinstance(extent, int):
                    starts[k] = dice.randrange(extent) if extent else 0
                    room = (extent - 1 - starts[k]) // steps[k] if steps[k] > 0 else starts[k]
                    sizes[k] = min(sizes[k], max(0, room + 1), extent)
        if strict:
            # What ends before the first element is refused for any extent, as it can never run.
            sizes = [
                min(size, start + 1) if step < 0 else size
                for start, size, step in zip(starts, sizes, steps, strict=True)
            ]
        layer = self.net.add_slice(a.tensor, starts, sizes, steps)
        layer.mode = mode
        layer.axes = axes
        values = [self.constant(one, np.int64) for one in (starts, sizes, steps)]
        if dice.random() < 0.3:
            for k, most in enumerate((4, 3, 2)):
                if dice.random() < 0.6:
                    values[k] = self.input((len(axes),), np.int64, 0, most)
                    layer.set_input(k + 1, values[k].tensor)

        def work(x: Array, *given: Array) -> Array:
            for start, size, step, axis in zip(*given, axes, strict=True):
                x = sliced(x, axis, [start + k * step for k in range(size)], mode, 0)
            return x

        known = values[1].tensor.is_network_input
        shape = [*a.shape]
        for k, axis in enumerate(axes):
            shape[axis] = self.fresh() if known else sizes[k]
        return self.value(layer, [a, *values], work, shape, a.dtype)

    def make_layer_select(self, pool: Sequence[Value]) -> Value | None:
        a = self.pick(pool)
        if not a:
            return None
        inputs = [self.like(pool, a.shape, bool), a, self.like(pool, a.shape, a.dtype)]
        layer = self.net.add_select(*(one.tensor for one in inputs))
        return self.value(layer, inputs, np.where, a.shape, a.dtype)

    def make_layer_concatenation(self, pool: Sequence[Value]) -> Value | None:
        a = self.pick(pool, lambda v: v.shape != ())
        if not a:
            return None
        axis = self.dice.randrange(len(a.shape))

        def fits(v: Value) -> bool:
            return (
                v.dtype == a.dtype
                and len(v.shape) == len(a.shape)
                and all(k == axis or x == y
                        for k, (x, y) in enumerate(zip(v.shape, a.shape, strict=True)))
            )  # fmt: skip

        parts = [a, *(self.pick(pool, fits) or a for _ in range(self.dice.randint(0, 2)))]
        self.dice.shuffle(parts)
        layer = self.net.add_concatenation([one.tensor for one in parts])
        layer.axis = axis
        lengths = [e for one in parts if isinstance(e := one.shape[axis], int)]
        shape: list[Extent] = [*a.shape]
        shape[axis] = sum(lengths) if len(lengths) == len(parts) else self.fresh()
        return self.value(layer, parts, lambda *x: np.concatenate(x, axis), shape, a.dtype)

    def make_layer_product(self, pool: Sequence[Value]) -> Value | None:
        a = self.pick(pool, lambda v: len(v.shape) >= 2 and v.dtype == np.float32)
        if not a:
            return None
        dice, (*batch, m, k) = self.dice, a.shape
        opa = dice.choice([Matrix.NONE, Matrix.TRANSPOSE])
        if opa == Matrix.TRANSPOSE:
            m, k = k, m
        b = self.pick(pool, lambda v: v.dtype == a.dtype and len(v.shape) == len(a.shape)
                      and v.shape[:-2] == tuple(batch) and v.shape[-2] == k)  # fmt: skip
        if not b:
            if isinstance(k, str) and k.startswith("?"):
                return None
            b = self.input((*(1 for _ in batch), k, dice.choice([1, 2, "a", "c"])), a.dtype)
        layer = self.net.add_matrix_multiply(a.tensor, opa, b.tensor, Matrix.NONE)

        def work(x: Array, y: Array) -> Array:
            return np.matmul(np.swapaxes(x, -1, -2) if opa == Matrix.TRANSPOSE else x, y)

        return self.clip(self.value(layer, [a, b], work, (*batch, m, b.shape[-1]), a.dtype))

    def make_layer_gather(self, pool: Sequence[Value]) -> Value | None:
        a = self.pick(pool, lambda v: v.shape != ())
        if not a:
            return None
        axis = self.dice.randrange(len(a.shape))
        k = self.in_range(self.indices(pool, self.dice.randint(0, 2)), a, axis)
        layer = self.net.add_gather(a.tensor, k.tensor, axis)
        shape = (*a.shape[:axis], *k.shape, *a.shape[axis + 1 :])
        return self.value(layer, [a, k], lambda x, at: gathered(x, at, axis), shape, a.dtype)

    def make_layer_gather_elements(self, pool: Sequence[Value]) -> Value | None:
        a = self.pick(pool, lambda v: v.shape != ())
        if not a:
            return None
        axis = self.dice.randrange(len(a.shape))
        k = self.exactly(pool, a.shape, np.int64) or self.exactly(pool, a.shape, np.int32)
        if not k:
            return None
        k = self.in_range(k, a, axis)
        layer = self.net.add_gather_v2(a.tensor, k.tensor, Gather.ELEMENT)
        layer.axis = axis

        def work(x: Array, at: Array) -> Array:
            need(not at.size or (at.min() >= -x.shape[axis] and at.max() < x.shape[axis]), BEYOND)
            return np.take_along_axis(x, at, axis)

        return self.value(layer, [a, k], work, k.shape, a.dtype)

    def make_layer_gather_tuples(self, pool: Sequence[Value]) -> Value | None:
        a = self.pick(pool, lambda v: v.shape != ())
        if not a:
            return None
        k = self.in_range(self.indices(pool, 1), a, 0)
        layer = self.net.add_unsqueeze(k.tensor, self.constant([1], np.int64).tensor)
        layer = self.net.add_gather_v2(a.tensor, layer.get_output(0), Gather.ND)
        shape = (*k.shape, *a.shape[1:])
        return self.value(layer, [a, k], lambda x, at: gathered(x, at, 0), shape, a.dtype)

    def make_layer_gather_batches(self, pool: Sequence[Value]) -> Value | None:
        a = self.pick(pool, lambda v: len(v.shape) >= 2)
        if not a:
            return None
        k = self.pick(pool, lambda v: v.dtype in INTEGERS and v.shape != ()
                      and v.shape[0] == a.shape[0])  # fmt: skip
        if not k:
            return None
        axis = self.dice.randint(1, len(a.shape) - 1)
        k = self.in_range(k, a, axis)
        layer = self.net.add_gather(a.tensor, k.tensor, axis)
        layer.num_elementwise_dims = 1

        def work(x: Array, at: Array) -> Array:
            rows = [gathered(x[n], at[n], axis - 1) for n in range(len(x))]
            shape = (0, *x.shape[1:axis], *at.shape[1:], *x.shape[axis + 1 :])
            return np.stack(rows) if rows else np.zeros(shape, x.dtype)

        shape = (*a.shape[:axis], *k.shape[1:], *a.shape[axis + 1 :])
        return self.value(layer, [a, k], work, shape, a.dtype)

    def make_layer_topk(self, pool: Sequence[Value]) -> Value | None:
        a = self.pick(pool, lambda v: v.dtype in (*INTEGERS, np.float32) and v.shape != ())
        if not a:
            return None
        axis, k = self.dice.randrange(len(a.shape)), self.dice.choice([1, 1, 2, 3])
        op = self.dice.choice([trt.TopKOperation.MAX, trt.TopKOperation.MIN])
        extent = a.shape[axis]
        k = min(k, extent) if isinstance(extent, int) else k
        layer = self.net.add_topk(a.tensor, op, k, 1 << axis)
        which = self.dice.randint(0, 1)

        def work(x: Array) -> Array:
            need(k <= x.shape[axis], "the axis has \\d+ elements")
            order = np.argsort(-x if op == trt.TopKOperation.MAX else x, axis, kind="stable")
            order = np.take(order, range(k), axis)
            return order if which else np.take_along_axis(x, order, axis)

        shape = [k if n == axis else e for n, e in enumerate(a.shape)]
        return self.value(layer, [a], work, shape, np.int32 if which else a.dtype, which)

    def make_layer_fill(self, pool: Sequence[Value]) -> Value | None:
        a = self.pick(pool, lambda v: len(v.shape) == 1)
        if not a:
            return None
        shape = self.shape_of(a)
        layer = self.net.add_fill([0], trt.FillOperation.LINSPACE, np.float32)
        layer.alpha, layer.beta = 1.0, 0.5
        layer.set_input(0, shape.tensor)
        return self.value(layer, [shape], lambda s: 1 + np.arange(s[0]) / 2, a.shape, np.float32)

    def make_layer_scatter(self, pool: Sequence[Value]) -> Value | None:
        a = self.pick(pool, lambda v: v.shape != () and v.is_number)
        k = a and self.indices(pool, 1)
        if not a or not k:
            return None
        if isinstance(k.shape[0], str) and k.shape[0].startswith("?"):
            return None
        k = self.in_range(k, a, 0)
        # One update at a time: where two go to one place the last one counts, or either.
        updates = self.exactly(pool, (*k.shape, *a.shape[1:]), a.dtype)
        if not updates:
            return None
        column = self.net.add_unsqueeze(k.tensor, self.constant([1], np.int64).tensor)
        layer = self.net.add_scatter(a.tensor, column.get_output(0), updates.tensor,
                                     trt.ScatterMode.ND)  # fmt: skip

        def work(x: Array, at: Array, y: Array) -> Array:
            need(not at.size or (at.min() >= -x.shape[0] and at.max() < x.shape[0]), BEYOND)
            if len({*at.tolist()}) < len(at):
                raise UnclearError
            result = x.copy()
            for n, place in enumerate(at):
                result[place] = y[n]
            return result

        return self.value(layer, [a, k, updates], work, a.shape, a.dtype)

    def make_layer_one_hot(self, pool: Sequence[Value]) -> Value | None:
        k = self.pick(pool, lambda v: v.dtype in INTEGERS and len(v.shape) < 3)
        if not k:
            return None
        k = self.between(k, 0, 3)
        axis = self.dice.randint(0, len(k.shape))
        pair = self.constant([0.0, 1.5], np.float32)
        depth = self.constant(4, np.int32)
        layer = self.net.add_one_hot(k.tensor, pair.tensor, depth.tensor, axis)

        def work(x: Array) -> Array:
            return np.moveaxis(np.where(x[..., None] == np.arange(4), 1.5, 0), -1, axis)

        shape = (*k.shape[:axis], 4, *k.shape[axis:])
        return self.value(layer, [k], work, shape, np.float32)

    def make_layer_non_zero(self, pool: Sequence[Value]) -> Value | None:
        a = self.pick(pool, lambda v: v.shape != ())
        layer = a and self.net.add_non_zero(a.tensor)
        if not a or not layer:
            return None
        return self.value(layer, [a], lambda x: np.array(np.nonzero(x)),
                          (len(a.shape), self.fresh()), np.int32)  # fmt: skip

    def make_layer_cumulative(self, pool: Sequence[Value]) -> Value | None:
        a = self.pick(pool, lambda v: v.dtype in (*INTEGERS, np.float32) and v.shape != ())
        if not a:
            return None
        axis = self.dice.randrange(len(a.shape))
        exclusive, reverse = self.dice.random() < 0.5, self.dice.random() < 0.5
        layer = self.net.add_cumulative(a.tensor, self.constant(axis, np.int32).tensor,
                                        trt.CumulativeOperation.SUM, exclusive, reverse)  # fmt: skip

        def work(x: Array) -> Array:
            turned = np.flip(x, axis) if reverse else x
            total = np.cumsum(turned, axis, dtype=x.dtype)
            total = total - turned if exclusive else total
            return np.flip(total, axis) if reverse else total

        return self.clip(self.value(layer, [a], work, a.shape, a.dtype))

    def make_layer_reverse_sequence(self, pool: Sequence[Value]) -> Value | None:
        a = self.pick(pool, lambda v: len(v.shape) >= 2)
        lengths = a and self.exactly(pool, a.shape[1:2], np.int32)
        if not a or not lengths:
            return None
        lengths = self.in_range(lengths, a, 0)
        layer = self.net.add_reverse_sequence(a.tensor, lengths.tensor)

        def work(x: Array, n: Array) -> Array:
            result = x.copy()
            need(not n.size or n.min() >= 0, "negative|less than 0")
            for item, length in enumerate(n):
                result[:length, item] = x[:length, item][::-1]
            return result

        return self.value(layer, [a, lengths], work, a.shape, a.dtype)

    def make_layer_lrn(self, pool: Sequence[Value]) -> Value | None:
        a = self.pick(pool, lambda v: v.dtype == np.float32 and len(v.shape) >= 3)
        if not a:
            return None
        window = self.dice.choice((1, 3, 5))
        layer = self.net.add_lrn(a.tensor, window, 0.5, 0.75, 2.0)

        def work(x: Array) -> Array:
            around = [(0, 0), (window // 2, window // 2), *[(0, 0)] * (x.ndim - 2)]
            square = np.pad(x * x, around)
            total = np.zeros_like(x)
            for k in range(window):
                total = total + square[:, k : k + x.shape[1]]
            return np.float32(x / (2 + 0.5 / window * total) ** 0.75)

        return self.value(layer, [a], work, a.shape, a.dtype)

    def make_layer_squeeze(self, pool: Sequence[Value]) -> Value | None:
        a = self.pick(pool, lambda v: 1 in v.shape)
        if not a:
            return None
        axis = self.dice.choice([k for k, e in enumerate(a.shape) if e == 1])
        layer = self.net.add_squeeze(a.tensor, self.constant([axis], np.int64).tensor)
        shape = (*a.shape[:axis], *a.shape[axis + 1 :])
        return self.value(layer, [a], lambda x: np.squeeze(x, axis), shape, a.dtype)

    def make_layer_unsqueeze(self, pool: Sequence[Value]) -> Value | None:
        a = self.pick(pool, lambda v: len(v.shape) < 4)
        if not a:
            return None
        axis = self.dice.randint(0, len(a.shape))
        layer = self.net.add_unsqueeze(a.tensor, self.constant([axis], np.int64).tensor)
        shape = (*a.shape[:axis], 1, *a.shape[axis:])
        return self.value(layer, [a], lambda x: np.expand_dims(x, axis), shape, a.dtype)

    def make_layer_einsum(self, pool: Sequence[Value]) -> Value | None:
        a = self.pick(pool, lambda v: len(v.shape) == 2 and v.dtype == np.float32)
        b = a and self.pick(pool, lambda v: len(v.shape) == 2 and v.dtype == np.float32
                            and v.shape[0] == a.shape[0])  # fmt: skip
        if not a or not b:
            return None
        result = self.dice.choice(["jk", "kj", "ijk", "i", ""])
        equation = f"ij,ik->{result}"
        layer = self.net.add_einsum([a.tensor, b.tensor], equation)
        of: dict[str, Any] = {"i": a.shape[0], "j": a.shape[1], "k": b.shape[1]}
        work = self.value(layer, [a, b], lambda x, y: np.einsum(equation, x, y),
                          [of[letter] for letter in result], a.dtype)  # fmt: skip
        return self.clip(work)

    def make_layer_shape(self, pool: Sequence[Value]) -> Value | None:
        a = self.pick(pool)
        return a and self.shape_of(a)

    def make_layer_parametric_relu(self, pool: Sequence[Value]) -> Value | None:
        a = self.pick(pool, lambda v: v.dtype == np.float32)
        slopes = a and self.like(pool, a.shape, np.float32)
        if not a or not slopes or any(x not in (y, 1)
                                      for x, y in zip(slopes.shape, a.shape, strict=True)):  # fmt: skip
            return None
        layer = self.net.add_parametric_relu(a.tensor, slopes.tensor)
        return self.clip(self.value(layer, [a, slopes], lambda x, k: np.where(x >= 0, x, x * k),
                                    a.shape, a.dtype))  # fmt: skip

    def make_layer_convolution(self, pool: Sequence[Value]) -> Value | None:
        a = self.pick(pool, lambda v: len(v.shape) == 4 and v.dtype == np.float32
                      and v.shape[1] in (1, 2, 3))  # fmt: skip
        if not a:
            return None
        dice, channels = self.dice, int(a.shape[1])
        window, pad = (dice.randint(1, 2), dice.randint(1, 3)), (dice.randint(0, 1), 1)
        stride, maps = (1, dice.randint(1, 2)), dice.randint(1, 2)
        kernel = self.numbers((maps, channels, *window), np.float32)
        layer = self.net.add_convolution_nd(a.tensor, maps, window, kernel)
        layer.stride_nd, layer.padding_nd = stride, pad

        def work(x: Array) -> Array:
            x = np.pad(x, ((0, 0), (0, 0), (pad[0],) * 2, (pad[1],) * 2))
            extents = [(e - w) // s + 1
                       for e, w, s in zip(x.shape[2:], window, stride, strict=True)]  # fmt: skip
            if min(extents) < 1:
                raise UnclearError("a window of extent")
            parts = np.lib.stride_tricks.sliding_window_view(x, window, (2, 3))
            parts = parts[:, :, :: stride[0], :: stride[1]]
            return np.einsum("ncyxhw,mchw->nmyx", parts, kernel)

        shape: list[Extent] = [a.shape[0], maps, self.fresh(), self.fresh()]
        return self.clip(self.value(layer, [a], work, shape, a.dtype))

    def make_layer_pooling(self, pool: Sequence[Value]) -> Value | None:
        a = self.pick(pool, lambda v: len(v.shape) == 4 and v.dtype == np.float32)
        if not a:
            return None
        layer = self.net.add_pooling_nd(a.tensor, trt.PoolingType.MAX, (2, 1))
        layer.stride_nd = (1, 1)

        def work(x: Array) -> Array:
            if x.shape[2] < 2 or 0 in x.shape:
                raise UnclearError("a window of extent")
            return np.maximum(x[:, :, :-1], x[:, :, 1:])

        high = a.shape[2]
        if isinstance(high, int) and high < 2:
            return None
        shape = (*a.shape[:2], high - 1 if isinstance(high, int) else self.fresh(), a.shape[3])
        return self.value(layer, [a], work, shape, a.dtype)
