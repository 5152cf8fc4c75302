# ===- open_layers.py - Layers over values of open extents ----------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Random layers of networks whose extents are known when they run.

An extent is a number, the name of an extent of inputs ("a"), or one of its own ("?7"), which
nothing else is known to be equal to. What NumPy makes of a value is found for each set of
inputs anew.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from loopc import network as trt
from network_layers import BINARY, COMPARE, LOGIC, Array, Trips, Value, all_at, loops_of
from random_errors import ExpectedError, MissingElementsError, TooLongError

EW, Unary, Reduce = trt.ElementWiseOperation, trt.UnaryOperation, trt.ReduceOperation
Sample, Gather, Act = trt.SampleMode, trt.GatherMode, trt.ActivationType
Extent = int | str
Shape = tuple[Extent, ...]
MOST_ELEMENTS = 3000
#: What a run says of a slice: the check, or what takes elements, whichever comes first.
OUTSIDE = "the slice is not inside|cannot reshape|index -?\\d+ is out of range"
INTEGERS = (np.int32, np.int64)
TYPES = (*INTEGERS, np.float32, np.float32, bool, np.int8, np.uint8, np.float64)

UNARY: dict[trt.UnaryOperation, Callable[..., Any]] = {
    Unary.NEG: np.negative,
    Unary.ABS: np.abs,
    Unary.SIGN: np.sign,
}
UNARY_FLOAT: dict[trt.UnaryOperation, Callable[..., Any]] = {
    Unary.FLOOR: np.floor,
    Unary.CEIL: np.ceil,
    Unary.ROUND: np.round,
    Unary.ISINF: np.isinf,
    Unary.ISNAN: np.isnan,
}
REDUCE: dict[trt.ReduceOperation, Callable[..., Any]] = {
    Reduce.SUM: np.sum,
    Reduce.MAX: np.max,
    Reduce.MIN: np.min,
    Reduce.PROD: np.prod,
}


def need(holds: object, reason: str) -> None:
    """A run says `reason` where it does not hold."""
    if not holds:
        raise ExpectedError(reason)


def reduced(op: trt.ReduceOperation, x: Array, axes: tuple[int, ...], keep: bool) -> Array:
    """Of no elements: the neutral one, as ONNX has it."""
    if op in (Reduce.MAX, Reduce.MIN) and not math.prod(x.shape[a] for a in axes):
        least = op == Reduce.MAX
        if x.dtype.kind == "f":
            neutral: Any = -np.inf if least else np.inf
        else:
            neutral = np.iinfo(x.dtype).min if least else np.iinfo(x.dtype).max
        return np.asarray(REDUCE[op](x, axis=axes, keepdims=keep, initial=neutral))
    return np.asarray(REDUCE[op](x, axis=axes, keepdims=keep))


def sliced(x: Array, axis: int, places: Sequence[int], mode: trt.SampleMode, fill: Any) -> Array:
    extent = x.shape[axis]
    at = np.asarray(places, np.int64)
    good = (at >= 0) & (at < extent)
    if mode == Sample.STRICT_BOUNDS:
        need(good.all(), OUTSIDE)
    elif mode != Sample.FILL:
        need(extent or not at.size, "no elements to slice")
    if mode == Sample.WRAP and extent:
        at = at % extent
    elif mode == Sample.REFLECT and extent:
        period = max(2 * (extent - 1), 1)
        at = np.minimum(at % period, 2 * (extent - 1) - at % period)
    if mode == Sample.FILL and not good.all():
        shape = list(x.shape)
        shape[axis] = len(at)
        result = np.full(shape, fill, x.dtype)
        index: list[Any] = [slice(None)] * x.ndim
        index[axis] = good
        result[tuple(index)] = np.take(x, at[good], axis)
        return result
    return np.take(x, np.clip(at, 0, max(extent - 1, 0)), axis)


class OpenLayers:
    """Adds layers to a network, and keeps what NumPy says of them."""

    def __init__(self, seed: int, static: dict[str, int] | None) -> None:
        self.dice = random.Random(seed)
        self.net = trt.create_network(f"open_{seed}")
        self.static = static
        self.names = self.dice.random() < 0.5
        self.numbered = 0
        #: Whether an input has an extent that is a number here, and open in the network.
        self.is_hidden = False
        self.values: list[Value] = []
        #: The inputs' shapes and types; the arrays of the set that is looked at.
        self.inputs: dict[str, tuple[Shape, np.dtype[Any], int, int]] = {}
        self.feeds: dict[str, Array] = {}
        self.followers: set[str] = set()

    def fresh(self) -> str:
        self.numbered += 1
        return f"?{self.numbered}"

    def renamed(self, shape: Shape) -> Shape:
        """Outside of a loop: an extent of its own was another in each iteration."""
        return tuple(self.fresh() if isinstance(e, str) and e.startswith("?") else e for e in shape)

    def use(self, feeds: dict[str, Array]) -> None:
        """Takes another set of inputs."""
        self.feeds = feeds
        self.followers.clear()
        for value in self.values:
            value.memo.clear()

    def made(self, tensor: trt.ITensor, loops: frozenset[int], shape: Shape,
             dtype: npt.DTypeLike, work: Callable[[Trips], Array]) -> Value:  # fmt: skip
        value = Value(tensor, loops, shape, np.dtype(dtype), work)  # type: ignore[arg-type]
        self.values.append(value)
        return value

    def value(self, layer: trt.ILayer, inputs: Sequence[Value], function: Callable[..., Any],
              shape: Sequence[Extent], dtype: npt.DTypeLike, output: int = 0) -> Value:  # fmt: skip
        tensor = layer.get_output(output)

        def work(trips: Trips) -> Array:
            given = all_at(inputs, trips, tensor, self.followers)
            result = np.asarray(function(*given))
            if result.size > MOST_ELEMENTS:
                raise TooLongError
            return result.astype(dtype)

        return self.made(tensor, loops_of(inputs), tuple(shape), dtype, work)

    def numbers(self, shape: Sequence[int], dtype: npt.DTypeLike) -> Array:
        return numbers(self.dice, shape, dtype)

    def constant(self, array: npt.ArrayLike, dtype: npt.DTypeLike | None = None) -> Value:
        data = np.asarray(array, dtype)
        layer = self.net.add_constant(data.shape, data)
        return self.value(layer, [], lambda: data, data.shape, data.dtype)

    def input(self, shape: Shape, dtype: npt.DTypeLike, least: int = -4, most: int = 4) -> Value:
        name = f"x{len(self.inputs)}"
        declared: list[int | str] = []
        for extent in shape:
            hidden = self.dice.random() < 0.5 and isinstance(extent, int)
            if isinstance(extent, str):
                if self.static:
                    declared.append(self.static[extent])
                else:
                    declared.append(extent if self.names else -1)
            else:
                self.is_hidden |= hidden
                declared.append(-1 if hidden and not self.static else extent)
        tensor = self.net.add_input(name, dtype, declared)
        self.inputs[name] = (shape, np.dtype(dtype), least, most)
        return self.made(tensor, frozenset(), shape, dtype, lambda _: self.feeds[name])

    def pick(
        self, pool: Sequence[Value], test: Callable[[Value], object] = lambda value: True
    ) -> Value | None:
        found = [value for value in pool if test(value)]
        if found and self.dice.random() < 0.5:
            found = found[-4:]
        return self.dice.choice(found) if found else None

    def like(self, pool: Sequence[Value], shape: Shape, dtype: npt.DTypeLike) -> Value:
        """One of the pool that broadcasts with this shape, an input, or a constant."""

        def fits(v: Value) -> bool:
            return (
                v.dtype == dtype
                and len(v.shape) == len(shape)
                and all(a in (b, 1) for a, b in zip(v.shape, shape, strict=True))
            )

        found = self.pick(pool, fits)
        if found and self.dice.random() < 0.85:
            return found
        private = any(isinstance(one, str) and one.startswith("?") for one in shape)
        if private or self.dice.random() < 0.5:
            known = [
                1 if isinstance(one, str) or self.dice.random() < 0.2 else one for one in shape
            ]
            return self.constant(self.numbers(known, dtype))
        return self.input(shape, dtype)

    def exactly(self, pool: Sequence[Value], shape: Shape, dtype: npt.DTypeLike) -> Value | None:
        return self.pick(pool, lambda v: v.shape == shape and v.dtype == dtype)

    # ----- Helpers of several layers

    def binary(self, a: Value, b: Value, op: trt.ElementWiseOperation) -> Value:
        function = {**BINARY, **COMPARE, **LOGIC}[op]
        shape = [y if x == 1 else x for x, y in zip(a.shape, b.shape, strict=True)]
        dtype = a.dtype if op in BINARY else np.dtype(bool)
        return self.value(self.net.add_elementwise(a.tensor, b.tensor, op), [a, b], function,
                          shape, dtype)  # fmt: skip

    def between(self, value: Value, least: int, most: int) -> Value:
        if not value.is_number:
            return value
        ones = (1,) * len(value.shape)
        least = max(least, 0) if value.dtype.kind == "u" else least
        low, high = (self.constant(np.full(ones, k), value.dtype) for k in (least, most))
        return self.binary(self.binary(value, low, EW.MAX), high, EW.MIN)

    def clip(self, value: Value) -> Value:
        return self.between(value, -8, 8)

    def shape_of(self, a: Value) -> Value:
        def work(trips: Trips) -> Array:
            try:
                return np.array(a.at(trips).shape, np.int64)
            except ExpectedError as error:
                raise MissingElementsError(error.reason) from error

        tensor = self.net.add_shape(a.tensor).get_output(0)
        return self.made(tensor, loops_of([a]), (len(a.shape),), np.int64, work)

    def extent_of(self, a: Value, axis: int) -> Value:
        """The extent as a 0-D INT64."""
        shape, at = self.shape_of(a), self.constant(axis, np.int32)
        layer = self.net.add_gather(shape.tensor, at.tensor, 0)
        return self.value(layer, [shape, at], lambda s, k: s[k], (), np.int64)

    def in_range(self, k: Value, a: Value, axis: int) -> Value:
        """Indices `k` brought into the extent of `a`; too small where it has no elements."""
        last = self.extent_of(a, axis)
        if k.dtype != np.int64:
            last = self.cast(last, k.dtype)
        for _ in k.shape:
            layer = self.net.add_shuffle(last.tensor)
            layer.reshape_dims = (1,) * (len(last.shape) + 1)
            last = self.value(layer, [last], lambda x: x.reshape((1,) * (x.ndim + 1)),
                              (1,) * (len(last.shape) + 1), last.dtype)  # fmt: skip
        ones = (1,) * len(k.shape)
        last = self.binary(last, self.constant(np.ones(ones), k.dtype), EW.SUB)
        zero = self.constant(np.zeros(ones), k.dtype)
        return self.binary(self.binary(k, zero, EW.MAX), last, EW.MIN)

    def cast(self, a: Value, dtype: npt.DTypeLike) -> Value:
        return self.value(self.net.add_cast(a.tensor, dtype), [a], lambda x: x, a.shape, dtype)

    def indices(self, pool: Sequence[Value], rank: int) -> Value:
        found = self.pick(pool, lambda v: v.dtype in INTEGERS and len(v.shape) == rank)
        if found and self.dice.random() < 0.7:
            return found
        shape = tuple(self.dice.choice([0, 1, 2, 3, 3, "a", "b"]) for _ in range(rank))
        return self.input(shape, self.dice.choice(INTEGERS))


def numbers(dice: random.Random, shape: Sequence[int], dtype: npt.DTypeLike,
            least: int = -4, most: int = 4) -> Array:  # fmt: skip
    """Small ones: halves where they are of floats."""
    kind = np.dtype(dtype).kind
    flat = [dice.randint(least, most) for _ in range(int(np.prod(shape)))]
    made = np.array(flat, np.int64)
    if kind == "b":
        made = made > 0
    elif kind == "u":
        made = np.abs(made)
    halves = made / 2 if kind == "f" else made
    return halves.astype(dtype).reshape(tuple(shape))
