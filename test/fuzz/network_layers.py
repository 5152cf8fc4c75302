# ===- network_layers.py - Values of random networks, and layers of them -===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Tensors of a network with what NumPy makes of them, and random layers.

A tensor in loops is a sequence for each of them (TensorRT's semantics of loops): its value
is asked for with the number of each loop's iteration, and found when it is asked for.
"""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from loopc import network as trt
from random_errors import ExpectedError, TooLongError, UnclearError

Array = npt.NDArray[Any]
#: The iteration of each loop, by the loop's number.
Trips = dict[int, int]

#: What a run says of extents that do not fit, of which NumPy says a ValueError.
UNFIT = "extent|shape|broadcast"

BINARY: dict[trt.ElementWiseOperation, Callable[..., Any]] = {
    trt.ElementWiseOperation.SUM: np.add,
    trt.ElementWiseOperation.SUB: np.subtract,
    trt.ElementWiseOperation.PROD: np.multiply,
    trt.ElementWiseOperation.MAX: np.maximum,
    trt.ElementWiseOperation.MIN: np.minimum,
}
COMPARE: dict[trt.ElementWiseOperation, Callable[..., Any]] = {
    trt.ElementWiseOperation.LESS: np.less,
    trt.ElementWiseOperation.GREATER: np.greater,
    trt.ElementWiseOperation.EQUAL: np.equal,
}
LOGIC: dict[trt.ElementWiseOperation, Callable[..., Any]] = {
    trt.ElementWiseOperation.AND: np.logical_and,
    trt.ElementWiseOperation.OR: np.logical_or,
    trt.ElementWiseOperation.XOR: np.logical_xor,
}
REDUCE: dict[trt.ReduceOperation, Callable[..., Any]] = {
    trt.ReduceOperation.SUM: np.sum,
    trt.ReduceOperation.MAX: np.max,
    trt.ReduceOperation.MIN: np.min,
}


@dataclasses.dataclass(eq=False)
class Value:
    """A tensor; `work` finds its value."""

    tensor: trt.ITensor
    loops: frozenset[int]
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    work: Callable[[Trips], Array] | None = None
    memo: dict[tuple[tuple[int, int], ...], Array] = dataclasses.field(default_factory=dict)

    def at(self, trips: Trips) -> Array:
        key = tuple(sorted((k, v) for k, v in trips.items() if k in self.loops))
        if key not in self.memo:
            assert self.work
            self.memo[key] = np.asarray(self.work(dict(key)))
        return self.memo[key]

    @property
    def is_number(self) -> bool:
        return self.dtype != bool

    @property
    def is_index(self) -> bool:
        return self.dtype.kind == "i"


def all_at(
    values: Iterable[Value], trips: Trips, reader: trt.ITensor, followers: set[str]
) -> list[Array]:
    """The values that `reader` is made of; where some are none, an error with all reasons.

    Then its layer joins the `followers`, which may have errors of their own.
    """
    found, failed = [], []
    for value in values:
        try:
            found.append(value.at(trips))
        except ExpectedError as error:
            failed.append(error)
    if failed:
        followers.add(reader.name.removesuffix("_output"))
        raise type(failed[0])("|".join(dict.fromkeys(one.reason for one in failed)))
    return found


def reasons_of(values: Iterable[Value]) -> str:
    """Why values are none; whether anybody reads them, is not asked.

    Of a value in loops its first ones count: what depends on no iteration is outside.
    """
    found = []
    for value in values:
        for trip in range(4 if value.loops else 1):
            try:
                with np.errstate(all="ignore"):
                    value.at(dict.fromkeys(value.loops, trip))
            except (ExpectedError, UnclearError) as error:
                found.append(error.reason)
            except (TooLongError, IndexError):
                continue  # There is no such iteration.
            except ValueError:
                found.append(UNFIT)
    return "|".join(dict.fromkeys(filter(None, found)))


def loops_of(values: Iterable[Value]) -> frozenset[int]:
    return frozenset[int]().union(*(value.loops for value in values))


class Layers:
    """Adds layers to a network, and keeps what NumPy says of them."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)
        self.net = trt.create_network(f"random_{seed}")
        self.feeds: dict[str, Array] = {}
        self.followers: set[str] = set()

    def value(
        self,
        tensor: trt.ITensor,
        inputs: Sequence[Value],
        function: Callable[..., Any],
        shape: Sequence[int],
        dtype: npt.DTypeLike,
    ) -> Value:
        def work(trips: Trips) -> Array:
            given = all_at(inputs, trips, tensor, self.followers)
            return np.asarray(function(*given)).astype(dtype)

        return Value(tensor, loops_of(inputs), tuple(shape), np.dtype(dtype), work)

    def numbers(self, shape: Sequence[int], dtype: npt.DTypeLike) -> Array:
        flat = [self.dice.randint(-4, 4) for _ in range(int(np.prod(shape)))]
        made = np.array([v > 0 for v in flat] if np.dtype(dtype) == bool else flat)
        halves = made / 2 if np.dtype(dtype).kind == "f" else made
        return halves.astype(dtype).reshape(shape)

    def constant(self, array: npt.ArrayLike, dtype: npt.DTypeLike | None = None) -> Value:
        data = np.asarray(array, dtype)
        tensor = self.net.add_constant(data.shape, data).get_output(0)
        return self.value(tensor, [], lambda: data, data.shape, data.dtype)

    def input(self, array: npt.ArrayLike, dtype: npt.DTypeLike | None = None) -> Value:
        data = np.asarray(array, dtype)
        name = f"x{len(self.feeds)}"
        shape = [extent if self.dice.random() < 0.5 else -1 for extent in data.shape]
        tensor = self.net.add_input(name, data.dtype, shape)
        self.feeds[name] = data
        return self.value(tensor, [], lambda: data, data.shape, data.dtype)

    def given(self, array: npt.ArrayLike, dtype: npt.DTypeLike | None = None) -> Value:
        return self.dice.choice((self.constant, self.input))(array, dtype)

    def pick(
        self, pool: Sequence[Value], test: Callable[[Value], bool] = lambda value: True
    ) -> Value | None:
        found = [value for value in pool if test(value)]
        if found and self.dice.random() < 0.5:
            found = found[-4:]
        return self.dice.choice(found) if found else None

    def like(self, pool: Sequence[Value], shape: Sequence[int], dtype: npt.DTypeLike) -> Value:
        """One of the pool with this shape and type, or a constant."""
        found = self.pick(pool, lambda v: v.shape == tuple(shape) and v.dtype == dtype)
        if found and self.dice.random() < 0.85:
            return found
        return self.constant(self.numbers(shape, dtype))

    # Layers

    def binary(self, a: Value, b: Value, op: trt.ElementWiseOperation) -> Value:
        function = {**BINARY, **COMPARE, **LOGIC}[op]
        shape = np.broadcast_shapes(a.shape, b.shape)
        dtype = a.dtype if op in BINARY else np.dtype(bool)
        tensor = self.net.add_elementwise(a.tensor, b.tensor, op).get_output(0)
        return self.value(tensor, [a, b], function, shape, dtype)

    def between(self, value: Value, least: int, most: int) -> Value:
        """Keeps numbers small: sums stay exact, counts short, indices in range."""
        if not value.is_number:
            return value
        ones = (1,) * len(value.shape)
        low, high = (self.constant(np.full(ones, k), value.dtype) for k in (least, most))
        raised = self.binary(value, low, trt.ElementWiseOperation.MAX)
        return self.binary(raised, high, trt.ElementWiseOperation.MIN)

    def clip(self, value: Value) -> Value:
        return self.between(value, -8, 8)

    def layer(self, pool: Sequence[Value]) -> Value | None:
        """A random layer; None where the pool has nothing for it."""
        makers = (
            *(self.make_arithmetic,) * 5,
            *(self.make_comparison, self.make_logic, self.make_unary, self.make_cast),
            *(self.make_reduction, self.make_shuffle, self.make_slice, self.make_select),
            *(self.make_concatenation, self.make_product, self.make_gather),
        )
        made = self.dice.choice(makers)(pool)
        return made if made and np.prod(made.shape) <= 64 else None

    def make_arithmetic(self, pool: Sequence[Value]) -> Value | None:
        a = self.pick(pool, lambda v: v.is_number)
        if not a:
            return None
        made = self.binary(a, self.like(pool, a.shape, a.dtype), self.dice.choice([*BINARY]))
        return self.clip(made)

    def make_comparison(self, pool: Sequence[Value]) -> Value | None:
        a = self.pick(pool, lambda v: v.is_number)
        return a and self.binary(a, self.like(pool, a.shape, a.dtype), self.dice.choice([*COMPARE]))

    def make_logic(self, pool: Sequence[Value]) -> Value | None:
        a = self.pick(pool, lambda v: not v.is_number)
        return a and self.binary(a, self.like(pool, a.shape, a.dtype), self.dice.choice([*LOGIC]))

    def make_unary(self, pool: Sequence[Value]) -> Value | None:
        a = self.pick(pool, lambda v: v.is_number)
        if not a:
            return None
        if a.dtype.kind == "f" and self.dice.random() < 0.3:
            relu = self.net.add_activation(a.tensor, trt.ActivationType.RELU).get_output(0)
            return self.value(relu, [a], lambda x: np.maximum(x, 0), a.shape, a.dtype)
        op, function = self.dice.choice(
            [(trt.UnaryOperation.NEG, np.negative), (trt.UnaryOperation.ABS, np.abs)]
        )
        tensor = self.net.add_unary(a.tensor, op).get_output(0)
        return self.value(tensor, [a], function, a.shape, a.dtype)

    def make_cast(self, pool: Sequence[Value]) -> Value | None:
        a = self.pick(pool)
        if not a:
            return None
        dtype, small = self.dice.choice([np.int32, np.int64, np.float32]), self.clip(a)
        tensor = self.net.add_cast(small.tensor, dtype).get_output(0)
        return self.value(tensor, [small], lambda x: x, a.shape, dtype)

    def make_reduction(self, pool: Sequence[Value]) -> Value | None:
        a = self.pick(pool, lambda v: v.is_number and v.shape != ())
        if not a:
            return None
        axes = tuple(k for k in range(len(a.shape)) if self.dice.random() < 0.6) or (0,)
        keep, op = self.dice.random() < 0.3, self.dice.choice([*REDUCE])
        bits = sum(1 << axis for axis in axes)
        tensor = self.net.add_reduce(a.tensor, op, bits, keep).get_output(0)

        def function(x: Array) -> Array:
            return np.asarray(REDUCE[op](x, axis=axes, keepdims=keep))

        shape = function(np.zeros(a.shape)).shape
        return self.clip(self.value(tensor, [a], function, shape, a.dtype))

    def make_shuffle(self, pool: Sequence[Value]) -> Value | None:
        a = self.pick(pool, lambda v: len(v.shape) <= 2)
        if not a:
            return None
        layer = self.net.add_shuffle(a.tensor)
        if len(a.shape) == 2 and self.dice.random() < 0.5:
            layer.first_transpose = (1, 0)
            return self.value(layer.get_output(0), [a], np.transpose, a.shape[::-1], a.dtype)
        count = int(np.prod(a.shape))
        shapes = [(count,), (1, count), (count, 1), *([()] if count == 1 else [])]
        shape = self.dice.choice(shapes)
        layer.reshape_dims = shape
        return self.value(layer.get_output(0), [a], lambda x: x.reshape(shape), shape, a.dtype)

    def make_slice(self, pool: Sequence[Value]) -> Value | None:
        a = self.pick(pool, lambda v: v.shape != ())
        if not a:
            return None
        starts = [self.dice.randrange(extent) for extent in a.shape]
        steps = [self.dice.choice([1, 1, 2, -1]) for _ in a.shape]
        sizes = [
            self.dice.randint(1, 1 + ((e - 1 - b) // s if s > 0 else b // -s))
            for e, b, s in zip(a.shape, starts, steps, strict=True)
        ]
        places = [
            [b + k * s for k in range(n)] for b, n, s in zip(starts, sizes, steps, strict=True)
        ]
        tensor = self.net.add_slice(a.tensor, starts, sizes, steps).get_output(0)
        return self.value(tensor, [a], lambda x: x[np.ix_(*places)], sizes, a.dtype)

    def make_select(self, pool: Sequence[Value]) -> Value | None:
        a = self.pick(pool)
        if not a:
            return None
        inputs = [self.like(pool, a.shape, bool), a, self.like(pool, a.shape, a.dtype)]
        tensor = self.net.add_select(*(one.tensor for one in inputs)).get_output(0)
        return self.value(tensor, inputs, np.where, a.shape, a.dtype)

    def make_concatenation(self, pool: Sequence[Value]) -> Value | None:
        a = self.pick(pool, lambda v: v.shape != () and sum(v.shape) < 12)
        if not a:
            return None
        b, axis = self.like(pool, a.shape, a.dtype), self.dice.randrange(len(a.shape))
        layer = self.net.add_concatenation([a.tensor, b.tensor])
        layer.axis = axis
        shape = [extent * (2 if k == axis else 1) for k, extent in enumerate(a.shape)]
        return self.value(
            layer.get_output(0), [a, b], lambda x, y: np.concatenate([x, y], axis), shape, a.dtype
        )

    def make_product(self, pool: Sequence[Value]) -> Value | None:
        a = self.pick(pool, lambda v: len(v.shape) == 2 and v.dtype == np.float32)
        if not a:
            return None
        b = self.like(pool, (a.shape[1], self.dice.randint(1, 3)), a.dtype)
        none = trt.MatrixOperation.NONE
        tensor = self.net.add_matrix_multiply(a.tensor, none, b.tensor, none).get_output(0)
        shape = (a.shape[0], b.shape[1])
        return self.clip(self.value(tensor, [a, b], np.matmul, shape, a.dtype))

    def make_gather(self, pool: Sequence[Value]) -> Value | None:
        a = self.pick(pool, lambda v: v.shape != ())
        k = self.pick(pool, lambda v: v.is_index and len(v.shape) < 2)
        if not a or not k:
            return None
        k = self.between(k, 0, a.shape[0] - 1)
        tensor = self.net.add_gather(a.tensor, k.tensor, 0).get_output(0)
        shape = k.shape + a.shape[1:]
        return self.value(tensor, [a, k], lambda x, at: x[at], shape, a.dtype)
