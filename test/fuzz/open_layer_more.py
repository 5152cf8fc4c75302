# ===- open_layer_more.py - More kinds of layers of open extents -----------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Layers of networks that images, quantised models and vectors have; see open_layers.py."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np
from loopc import network as trt
from network_layers import Array, Value
from open_layer_kinds import LayerKinds, product
from open_layers import EW, INTEGERS, Extent, need
from random_errors import UnclearError

Matrix = trt.MatrixOperation


class MoreKinds(LayerKinds):
    """Layers of more kinds."""

    def image(self, pool: Sequence[Value], least: int = 3) -> Value | None:
        """Floats of some axes."""
        return self.pick(pool, lambda v: v.dtype == np.float32 and len(v.shape) >= least)

    def rounded(self, value: Value) -> Value:
        """To 64ths: what engines compute otherwise by a few roundings is one number again."""
        ones = (1,) * len(value.shape)
        large = self.binary(value, self.constant(np.full(ones, 64), np.float32), EW.PROD)
        whole = self.value(self.net.add_unary(large.tensor, trt.UnaryOperation.ROUND), [large],
                           np.round, large.shape, large.dtype)  # fmt: skip
        small = self.constant(np.full(ones, 1 / 64), np.float32)
        return self.clip(self.binary(whole, small, EW.PROD))

    def make_layer_vectors(self, pool: Sequence[Value]) -> Value | None:
        """Products with vectors: of both sides, or of one, and transposed matrices."""
        a = self.pick(pool, lambda v: v.dtype == np.float32 and len(v.shape) in (1, 2))
        if not a:
            return None
        is_vector = len(a.shape) == 1
        turns = not is_vector and self.dice.random() < 0.5
        inner = a.shape[0] if is_vector or turns else a.shape[-1]
        b = self.pick(pool, lambda v: v.dtype == a.dtype and len(v.shape) in (1, 2) and inner in
                      (v.shape[0], v.shape[-1]))  # fmt: skip
        if not b:
            return None
        opa = Matrix.VECTOR if is_vector else Matrix.TRANSPOSE if turns else Matrix.NONE
        opb = Matrix.VECTOR if len(b.shape) == 1 else Matrix.NONE
        if opb == Matrix.NONE and b.shape[0] != inner:
            opb = Matrix.TRANSPOSE
        layer = self.net.add_matrix_multiply(a.tensor, opa, b.tensor, opb)

        def work(x: Array, y: Array) -> Array:
            y = y.T if opb == Matrix.TRANSPOSE else y
            return np.asarray(np.matmul(x.T if turns else x, y))

        rows = () if is_vector else (a.shape[1] if turns else a.shape[0],)
        columns = () if len(b.shape) == 1 else (b.shape[0 if opb == Matrix.TRANSPOSE else 1],)
        return self.clip(self.value(layer, [a, b], work, (*rows, *columns), a.dtype))

    def make_layer_softmax(self, pool: Sequence[Value]) -> Value | None:
        a = self.image(pool, 1)
        if not a:
            return None
        axis = self.dice.randrange(len(a.shape))
        layer = self.net.add_softmax(a.tensor)
        layer.axes = 1 << axis

        def work(x: Array) -> Array:
            if not x.size:
                return x
            powers = np.exp(x - x.max(axis, keepdims=True))
            return powers / powers.sum(axis, keepdims=True)

        return self.rounded(self.value(layer, [a], work, a.shape, a.dtype))

    def make_layer_ragged_softmax(self, pool: Sequence[Value]) -> Value | None:
        a = self.image(pool, 2)
        if not a or any(isinstance(e, str) and e.startswith("?") for e in a.shape):
            return None
        bounds = self.input((*a.shape[:-1], 1), np.int32, 0, 4)
        layer = self.net.add_ragged_softmax(a.tensor, bounds.tensor)

        def work(x: Array, n: Array) -> Array:
            inside = np.arange(x.shape[-1]) < n
            powers = np.where(inside, np.exp(x), 0)
            total = powers.sum(-1, keepdims=True)
            return np.where(inside, powers / np.where(total > 0, total, 1), 0)

        return self.rounded(self.value(layer, [a, bounds], work, a.shape, a.dtype))

    def make_layer_mean(self, pool: Sequence[Value]) -> Value | None:
        a = self.image(pool, 1)
        if not a:
            return None
        axes = tuple(
            sorted(self.dice.sample(range(len(a.shape)), self.dice.randint(1, len(a.shape))))
        )
        keep = self.dice.random() < 0.5
        layer = self.net.add_reduce(
            a.tensor, trt.ReduceOperation.AVG, sum(1 << k for k in axes), keep
        )

        def work(x: Array) -> Array:
            if not math.prod(x.shape[k] for k in axes):
                raise UnclearError
            return np.asarray(x.mean(axes, keepdims=keep))

        shape = [1 if k in axes else e for k, e in enumerate(a.shape) if keep or k not in axes]
        return self.rounded(self.value(layer, [a], work, shape, a.dtype))

    def make_layer_functions(self, pool: Sequence[Value]) -> Value | None:
        """Of one value: what is not exact."""
        a = self.image(pool, 0)
        if not a:
            return None
        unary, act = trt.UnaryOperation, trt.ActivationType
        kind = self.dice.randrange(7)
        if kind < 4:
            op, function = [(unary.EXP, np.exp), (unary.SIN, np.sin), (unary.COS, np.cos),
                            (unary.ATAN, np.arctan)][kind]  # fmt: skip
            return self.rounded(
                self.value(self.net.add_unary(a.tensor, op), [a], function, a.shape, a.dtype)
            )
        which = [act.SIGMOID, act.TANH, act.SOFTSIGN][kind - 4]
        function = {act.SIGMOID: lambda x: 1 / (1 + np.exp(-x)), act.TANH: np.tanh,
                    act.SOFTSIGN: lambda x: x / (1 + np.abs(x))}[which]  # fmt: skip
        return self.rounded(
            self.value(self.net.add_activation(a.tensor, which), [a], function, a.shape, a.dtype)
        )

    def make_layer_scale(self, pool: Sequence[Value]) -> Value | None:
        a = self.image(pool, 1)
        if not a:
            return None
        axis = self.dice.randrange(len(a.shape))
        modes = [trt.ScaleMode.UNIFORM]
        if isinstance(a.shape[axis], int) and a.shape[axis] and not self.is_hidden:
            modes.append(trt.ScaleMode.CHANNEL)
            if product(a.shape[axis:]):
                modes.append(trt.ScaleMode.ELEMENTWISE)
        mode = self.dice.choice(modes)
        known = {trt.ScaleMode.UNIFORM: (), trt.ScaleMode.CHANNEL: a.shape[axis : axis + 1],
                 trt.ScaleMode.ELEMENTWISE: a.shape[axis:]}[mode]  # fmt: skip
        scale, shift = (self.numbers([int(e) for e in known], np.float32) if self.dice.random() < 0.7
                        else None for _ in range(2))  # fmt: skip
        layer = self.net.add_scale_nd(
            a.tensor, mode, None if shift is None else shift.ravel(),
            None if scale is None else scale.ravel(), None, axis,
        )  # fmt: skip

        def along(numbers: Array | None, x: Array, neutral: int) -> Array:
            if numbers is None:
                return np.float32(neutral)
            if mode == trt.ScaleMode.CHANNEL:
                return numbers.reshape([-1 if k == axis else 1 for k in range(x.ndim)])
            return numbers

        return self.clip(self.value(layer, [a], lambda x: x * along(scale, x, 1) + along(shift, x, 0),
                                    a.shape, a.dtype))  # fmt: skip

    def make_layer_padding(self, pool: Sequence[Value]) -> Value | None:
        """Zeros around the last axes; a negative number cuts."""
        a = self.pick(pool, lambda v: v.is_number and len(v.shape) >= 2)
        if not a:
            return None
        count = self.dice.randint(1, 2)
        before = [self.dice.choice((0, 1, 2, -1)) for _ in range(count)]
        behind = [self.dice.choice((0, 1, -1)) for _ in range(count)]
        for k in range(count):
            if isinstance(extent := a.shape[len(a.shape) - count + k], int) and (
                extent + min(before[k], 0) + min(behind[k], 0) < 0
            ):  # fmt: skip
                return None
        layer = self.net.add_padding_nd(a.tensor, before, behind)

        def work(x: Array) -> Array:
            for k, (b, e) in enumerate(zip(before, behind, strict=True)):
                axis = x.ndim - count + k
                if x.shape[axis] + min(b, 0) + min(e, 0) < 0:
                    raise UnclearError("less than 0")
                around = [(0, 0)] * x.ndim
                around[axis] = (max(b, 0), max(e, 0))
                kept = range(max(-b, 0), x.shape[axis] - max(-e, 0))
                x = np.pad(np.take(x, kept, axis), around)
            return x

        shape: list[Extent] = [*a.shape]
        for k, (b, e) in enumerate(zip(before, behind, strict=True)):
            at = len(shape) - count + k
            extent = shape[at]
            shape[at] = extent + b + e if isinstance(extent, int) else self.fresh()
        return self.value(layer, [a], work, shape, a.dtype)

    def make_layer_resize(self, pool: Sequence[Value]) -> Value | None:
        """The nearest element below, to sizes that are known or computed."""
        a = self.image(pool, 2)
        if not a:
            return None
        layer = self.net.add_resize(a.tensor)
        target = [self.dice.randint(1, 4) for _ in a.shape]
        inputs = [a]
        if all(isinstance(e, int) for e in a.shape) or self.dice.random() < 0.5:
            layer.shape = target
        else:
            inputs.append(self.constant(target, np.int64))
            layer.set_input(1, inputs[1].tensor)

        def work(x: Array, *_: Array) -> Array:
            if 0 in x.shape:
                raise UnclearError("no elements to resize")
            for axis, size in enumerate(target):
                x = np.take(x, [k * x.shape[axis] // size for k in range(size)], axis)
            return x

        return self.value(layer, inputs, work, target, a.dtype)

    def make_layer_normalization(self, pool: Sequence[Value]) -> Value | None:
        a = self.image(pool, 2)
        if not a:
            return None
        first = self.dice.randint(1, len(a.shape) - 1)
        axes = tuple(range(first, len(a.shape)))
        ones = (1,) * len(a.shape)
        scale, bias = (self.constant(self.numbers(ones, np.float32)) for _ in range(2))
        layer = self.net.add_normalization(a.tensor, scale.tensor, bias.tensor,
                                           sum(1 << k for k in axes))  # fmt: skip

        def work(x: Array, s: Array, b: Array) -> Array:
            if not x.size:
                return x
            mean = x.mean(axes, keepdims=True)
            return (x - mean) / np.sqrt(x.var(axes, keepdims=True) + 1e-5) * s + b

        return self.rounded(self.value(layer, [a, scale, bias], work, a.shape, a.dtype))

    def make_layer_average(self, pool: Sequence[Value]) -> Value | None:
        """Means of windows, with the padding or without it."""
        a = self.pick(pool, lambda v: len(v.shape) == 4 and v.dtype == np.float32)
        if not a:
            return None
        window, stride = (2, self.dice.randint(1, 3)), (self.dice.randint(1, 2), 1)
        pad, excludes = self.dice.randint(0, 1), self.dice.random() < 0.5
        layer = self.net.add_pooling_nd(a.tensor, trt.PoolingType.AVERAGE, window)
        layer.stride_nd, layer.padding_nd = stride, (pad, 0)
        layer.average_count_excludes_padding = excludes

        def work(x: Array) -> Array:
            around = ((0, 0), (0, 0), (pad, pad), (0, 0))
            whole, count = np.pad(x, around), np.pad(np.ones_like(x), around)
            if any(e < w for e, w in zip(whole.shape[2:], window, strict=True)) or not x.size:
                raise UnclearError("a window of extent")
            parts, counts = (
                np.lib.stride_tricks.sliding_window_view(v, window, (2, 3))[:, :, :: stride[0]]
                for v in (whole, count)
            )
            by = counts.sum((-1, -2)) if excludes else np.float32(math.prod(window))
            return parts.sum((-1, -2)) / by

        return self.rounded(
            self.value(layer, [a], work, (*a.shape[:2], self.fresh(), self.fresh()), a.dtype)
        )

    def make_layer_deconvolution(self, pool: Sequence[Value]) -> Value | None:
        a = self.pick(pool, lambda v: len(v.shape) == 4 and v.dtype == np.float32
                      and v.shape[1] in (1, 2, 3))  # fmt: skip
        if not a:
            return None
        dice, channels = self.dice, int(a.shape[1])
        window, stride = (dice.randint(1, 2), dice.randint(1, 3)), (dice.randint(1, 2), 1)
        maps = dice.randint(1, 2)
        kernel = self.numbers((channels, maps, *window), np.float32)
        layer = self.net.add_deconvolution_nd(a.tensor, maps, window, kernel)
        layer.stride_nd = stride

        def work(x: Array) -> Array:
            if 0 in x.shape[2:]:
                raise UnclearError
            extents = [(e - 1) * s + w for e, s, w in zip(x.shape[2:], stride, window, strict=True)]
            made = np.zeros((x.shape[0], maps, *extents), np.float32)
            for row, column in itertools.product(range(x.shape[2]), range(x.shape[3])):
                part = np.einsum("nc,cmhw->nmhw", x[:, :, row, column], kernel)
                top, left = row * stride[0], column * stride[1]
                made[:, :, top : top + window[0], left : left + window[1]] += part
            return made

        return self.clip(self.value(layer, [a], work, (a.shape[0], maps, self.fresh(), self.fresh()),
                                    a.dtype))  # fmt: skip

    def make_layer_quantised(self, pool: Sequence[Value]) -> Value | None:
        """Rounded to bytes and back."""
        a = self.image(pool, 1)
        if not a:
            return None
        axis = self.dice.randrange(len(a.shape))
        extent = a.shape[axis]
        scales: Array = np.float32(self.dice.choice((0.5, 0.25, 2.0)))
        if isinstance(extent, int) and extent and self.dice.random() < 0.5:
            scales = np.array([self.dice.choice((0.5, 0.25, 1)) for _ in range(extent)], np.float32)
        scale = self.constant(scales)
        rounded = self.net.add_quantize(a.tensor, scale.tensor)
        back = self.net.add_dequantize(rounded.get_output(0), scale.tensor)
        rounded.axis = back.axis = axis

        def work(x: Array, s: Array) -> Array:
            s = s.reshape([-1 if k == axis else 1 for k in range(x.ndim)]) if s.ndim else s
            return np.clip(np.round(x / s), -128, 127) * s

        return self.value(back, [a, scale], work, a.shape, a.dtype)

    def make_layer_steps(self, pool: Sequence[Value]) -> Value | None:
        """A fill whose start and steps are computed, along each axis of a shape."""
        a = self.pick(pool, lambda v: len(v.shape) in (1, 2))
        if not a:
            return None
        dtype = self.dice.choice((np.float32, np.int32, np.int64))
        shape = self.shape_of(a)
        layer = self.net.add_fill([0] * len(a.shape), trt.FillOperation.LINSPACE, dtype)
        start = self.constant(self.numbers((), dtype))
        step = self.constant(self.numbers((len(a.shape),), dtype))
        for k, one in enumerate((shape, start, step)):
            layer.set_input(k, one.tensor)

        def work(extents: Array, first: Array, by: Array) -> Array:
            made = np.full(tuple(extents), first, dtype)
            for axis, number in enumerate(by):
                made += (np.arange(extents[axis]).astype(dtype) * number).astype(dtype).reshape(
                    [-1 if k == axis else 1 for k in range(made.ndim)])  # fmt: skip
            return made

        return self.clip(self.value(layer, [shape, start, step], work, a.shape, dtype))

    def make_layer_assertion(self, pool: Sequence[Value]) -> Value | None:
        """A check of what nearly always holds; what reads the value counts on it."""
        a = self.pick(pool, lambda v: v.shape == () and v.dtype in INTEGERS)
        if not a or a.loops or self.dice.random() < 0.5:
            return None
        low = self.constant(np.array(-4), a.dtype)
        holds = self.binary(a, low, EW.GREATER)
        self.net.add_assertion(holds.tensor, "more than -4")
        self.asserted.append(holds)
        return holds

    def check(self) -> None:
        """Raises what an assertion that does not hold does."""
        for one in self.asserted:
            need(one.at({}).all(), "more than -4")

    def __init__(self, seed: int, static: dict[str, int] | None) -> None:
        super().__init__(seed, static)
        self.asserted: list[Value] = []
