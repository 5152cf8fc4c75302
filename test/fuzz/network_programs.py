# ===- network_programs.py - Random networks with loops and conditionals -===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Random networks of TensorRT's shape, and what its semantics says of them.

`RandomNetwork(seed)` has the network, its inputs and what its outputs are.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Sequence
from typing import NoReturn

import numpy as np
from loopc import network as trt
from network_layers import Array, Layers, Trips, Value, loops_of, reasons_of
from random_errors import (
    ExpectedError,
    MissingElementsError,
    NoValueError,
    TooLongError,
    UnclearError,
)

MOST_TRIPS = 60
#: What a run says where a slice is missing, and where a length is less than the iterations.
MISSING = "over the slices|slice \\d+ of a value"
TOO_MANY = "more (iterations )?than the length"
LESS, GREATER, AND = (
    trt.ElementWiseOperation.LESS,
    trt.ElementWiseOperation.GREATER,
    trt.ElementWiseOperation.AND,
)


class RandomLoop:
    """A loop while it is made, and how often it runs."""

    def __init__(self, layers: Layers, number: int, outer: Sequence[Value]) -> None:
        self.layers, self.number, self.outer = layers, number, outer
        self.loop = layers.net.add_loop()
        self.count: Value | None = None
        self.condition: Value | None = None
        self.around = loops_of(outer)
        self.recurrences: list[tuple[trt.IRecurrenceLayer, Value]] = []
        self.entered: list[Value] = []
        self.iterated: list[tuple[Value, int]] = []
        self.runs: dict[tuple[tuple[int, int], ...], int] = {}
        #: Rows were collected, and there was no trip that could tell their extents.
        self.is_empty = False

    def trips(self, at: Trips) -> int:
        key = tuple(sorted(at.items()))
        if key not in self.runs:
            self.runs[key] = self._find(at)
        return self.runs[key]

    def _find(self, at: Trips) -> int:
        limit = max(0, int(self.count.at(at))) if self.count else MOST_TRIPS + 1
        for done in range(limit):
            if self.condition and not self.condition.at({**at, self.number: done}):
                return done
            if done == MOST_TRIPS:
                raise TooLongError
        return limit

    def before(self, at: Trips) -> Trips:
        return {k: v for k, v in at.items() if k != self.number}

    def iterate(self, value: Value, axis: int, reverse: bool) -> None:
        layer = self.loop.add_iterator(value.tensor, axis, reverse)
        self.iterated.append((value, axis))

        def work(at: Trips) -> Array:
            outside, k = self.before(at), at[self.number]
            if reverse:
                assert self.count
                k = int(self.count.at(outside)) - 1 - k
            whole = value.at(outside)
            if k >= whole.shape[axis]:
                raise MissingElementsError(MISSING)
            return np.asarray(np.take(whole, k, axis))

        shape = value.shape[:axis] + value.shape[axis + 1 :]
        inside = self.around | {self.number}
        self.entered.append(Value(layer.get_output(0), inside, shape, value.dtype, work))

    def is_short(self) -> bool:
        """Whether the loop, one in no other, has more iterations than a value has slices."""
        if self.around:
            return False
        with contextlib.suppress(NoValueError, ValueError), np.errstate(all="ignore"):
            trips = self.trips({})
            return any(trips > value.at({}).shape[axis] for value, axis in self.iterated)
        return False

    def recur(self, begin: Value) -> Value:
        layer = self.loop.add_recurrence(begin.tensor)
        inside = self.around | {self.number}
        carried = Value(layer.get_output(0), inside, begin.shape, begin.dtype, begin.at)
        self.recurrences.append((layer, carried))
        self.entered.append(carried)
        return carried

    def close(self, layer: trt.IRecurrenceLayer, carried: Value, after: Value) -> None:
        """The value of the next iteration."""
        layer.set_input(1, after.tensor)
        begin = carried.work
        assert begin

        def work(at: Trips) -> Array:
            trip = at[self.number]
            return after.at({**at, self.number: trip - 1}) if trip else begin(self.before(at))

        carried.work = work

    def last(self, carried: Value) -> Value:
        layer = self.loop.add_loop_output(carried.tensor, trt.LoopOutput.LAST_VALUE)

        def work(at: Trips) -> Array:
            return carried.at({**at, self.number: self.trips(at)})

        return Value(layer.get_output(0), self.around, carried.shape, carried.dtype, work)

    def rows(self, value: Value, at: Trips) -> list[Array]:
        """The value in each iteration."""
        return [value.at({**at, self.number: trip}) for trip in range(self.trips(at))]

    def fail(self, error: ExpectedError, value: Value, at: Trips) -> NoReturn:
        """What is collected has this error, or that of one of its rows."""
        try:
            self.rows(value, at)
        except (ExpectedError, UnclearError) as other:
            raise type(error)("|".join(filter(None, [error.reason, other.reason]))) from other
        except (TooLongError, ValueError):
            pass
        raise error

    def collect(self, value: Value, length: Value, most: int, axis: int, reverse: bool) -> Value:
        kind = trt.LoopOutput.REVERSE if reverse else trt.LoopOutput.CONCATENATE
        layer = self.loop.add_loop_output(value.tensor, kind, axis)
        layer.set_input(1, length.tensor)

        def work(at: Trips) -> Array:
            trips = self.trips(at)
            if trips > most:
                self.fail(ExpectedError(TOO_MANY), value, at)
            self.is_empty = self.is_empty or trips == 0
            rows = self.rows(value, at)
            zeros = np.zeros(value.shape, value.dtype)
            return np.stack([*rows[:: -1 if reverse else 1], *[zeros] * (most - trips)], axis)

        shape = (*value.shape[:axis], most, *value.shape[axis:])
        return Value(layer.get_output(0), self.around, shape, value.dtype, work)


class RandomNetwork(Layers):
    """Of a seed: `net`, `feeds` and `expected()`, a value for each output."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        dice = self.dice
        self.budget = dice.randint(8, 45)
        self.loops: list[RandomLoop] = []
        self.outputs: list[Value] = []
        pool = []
        for _ in range(dice.randint(1, 4)):
            shape = dice.choice([(), (), (3,), (4,), (2, 3), (5, 2)])
            dtype = dice.choice([np.int32, np.int64, np.float32, np.float32, bool])
            pool.append(self.input(self.numbers(shape, dtype)))
        first = len(pool)
        while self.budget > 0:
            self.fill(pool, 0, 4)
        self.made = pool[first:] or [self.constant(np.float32(1))]
        self.finish(self.made)

    def finish(self, made: list[Value]) -> None:
        collections = [v for v in made if "Output" in v.tensor.name and self.dice.random() < 0.7]
        others = self.dice.sample(made, min(len(made), self.dice.randint(1, 6)))
        for value in dict.fromkeys([*collections, *others]):
            same = self.net.add_identity(value.tensor).get_output(0)
            same.name = f"y{len(self.outputs)}"
            self.net.mark_output(same)
            self.outputs.append(value)

    def expected(self) -> list[Array]:
        with np.errstate(all="ignore"):
            return [value.at({}) for value in self.outputs]

    def has_empty(self) -> bool:
        """True if some loop collects rows and has no trip, whether anybody reads them or not."""
        for value in self.made:
            with contextlib.suppress(ExpectedError, TooLongError), np.errstate(all="ignore"):
                value.at({})
        return any(loop.is_empty for loop in self.loops)

    def fill(self, pool: list[Value], depth: int, steps: int) -> None:
        """Adds layers, loops and conditionals to `pool`."""
        for _ in range(min(steps, self.budget)):
            self.budget -= 1
            chance = self.dice.random()
            if chance < 0.16 and depth < 3:
                self.make_loop(pool, depth)
            elif chance < 0.24 and depth < 3:
                self.make_conditional(pool, depth)
            elif made := self.layer(pool):
                pool.append(made)

    def make_loop(self, pool: list[Value], depth: int) -> None:
        dice = self.dice
        loop = RandomLoop(self, len(self.loops), list(pool))
        self.loops.append(loop)
        kind = dice.choice(["count", "count", "count", "while", "both"])
        if kind != "while":
            loop.count = self.count_of(pool)
            loop.loop.add_trip_limit(loop.count.tensor, trt.TripLimit.COUNT)
            for _ in range(dice.randint(0, 2)):
                self.add_iterator(loop)
        if kind != "count":
            counter = loop.recur(self.constant(dice.randint(-1, 3), np.int32))
        for _ in range(dice.randint(0, 2)):
            shape, dtype = dice.choice([(), (3,), (2, 2)]), dice.choice([np.int32, np.float32])
            loop.recur(self.pick(pool) or self.constant(self.numbers(shape, dtype)))
        inner = [*pool, *loop.entered]
        self.fill(inner, depth + 1, dice.randint(1, 6))
        inside = inner[len(pool) :]
        for layer, carried in loop.recurrences:
            if kind != "count" and carried is counter:
                one = self.constant(1, np.int32)
                after = self.binary(counter, one, trt.ElementWiseOperation.SUM)
            else:
                found = self.pick(
                    inside,
                    lambda v, c=carried: v.shape == c.shape and v.dtype == c.dtype,  # type: ignore[misc]
                )
                after = self.clip(found or carried)
            loop.close(layer, carried, after)
        if kind != "count":
            loop.condition = self.condition_of(counter, inside)
            loop.loop.add_trip_limit(loop.condition.tensor, trt.TripLimit.WHILE)
        self.add_outputs(loop, inside or inner, pool)

    def count_of(self, pool: Sequence[Value]) -> Value:
        found = self.pick(pool, lambda v: v.shape == () and v.is_index)
        if found and self.dice.random() < 0.4:
            return self.between(found, -1, 4)
        dtype = self.dice.choice([np.int32, np.int64])
        return self.given(self.dice.choice([0, 1, 2, 3, 3, 4, -2]), dtype)

    def add_iterator(self, loop: RandomLoop) -> None:
        found = self.pick(loop.outer, lambda v: v.shape != () and max(v.shape) >= 4)
        if not found:
            shape = self.dice.choice([(4, 1), (4, 2), (5,)])
            found = self.given(self.numbers(shape, self.dice.choice([np.float32, np.int32])))
        axis = self.dice.choice([k for k, extent in enumerate(found.shape) if extent >= 4])
        loop.iterate(found, axis, self.dice.random() < 0.3)

    def condition_of(self, counter: Value, inside: Sequence[Value]) -> Value:
        limit = self.constant(self.dice.randint(-1, 5), np.int32)
        condition = self.binary(counter, limit, LESS)
        flag = self.pick(inside, lambda v: v.shape == () and not v.is_number)
        number = self.pick(inside, lambda v: v.shape == () and v.is_number)
        if not flag and number and self.dice.random() < 0.4:
            other = self.constant(self.numbers((), number.dtype))
            flag = self.binary(number, other, self.dice.choice([LESS, GREATER]))
        return self.binary(condition, flag, AND) if flag else condition

    def add_outputs(self, loop: RandomLoop, inside: list[Value], pool: list[Value]) -> None:
        dice = self.dice
        lasts = [carried for _, carried in loop.recurrences if dice.random() < 0.7]
        pool.extend(loop.last(carried) for carried in lasts)
        for _ in range(dice.randint(0 if lasts else 1, 2)):
            value = self.pick(inside) or self.constant(self.numbers((2,), np.float32))
            most = dice.choice([6, 6, 6, 7, 4, 1])
            length = self.given(most, dice.choice([np.int32, np.int64]))
            axis, reverse = dice.randint(0, len(value.shape)), dice.random() < 0.5
            pool.append(loop.collect(value, length, most, axis, reverse))

    def make_conditional(self, pool: list[Value], depth: int) -> None:
        flag = self.pick(pool, lambda v: not v.is_number and v.shape == ())
        flag = flag or self.input(self.dice.random() < 0.5)
        conditional = self.net.add_if_conditional()
        conditional.set_condition(flag.tensor)
        loops = loops_of([flag, *pool])
        entered = []
        for value in self.dice.sample(pool, min(len(pool), self.dice.randint(1, 3))):
            tensor = conditional.add_input(value.tensor).get_output(0)
            entered.append(Value(tensor, loops, value.shape, value.dtype, value.at))
        sides = []
        for _ in range(2):
            inner = [*pool, *entered]
            self.fill(inner, depth + 1, self.dice.randint(1, 4))
            sides.append(inner[len(pool) :])
        for _ in range(self.dice.randint(1, 2)):
            one = self.dice.choice(sides[0])
            other = self.like(sides[1], one.shape, one.dtype)
            layer = conditional.add_output(one.tensor, other.tensor)

            def work(at: Trips, one: Value = one, other: Value = other) -> Array:
                return (one if flag.at(at) else other).at(at)

            pool.append(Value(layer.get_output(0), loops, one.shape, one.dtype, work))


def is_due(
    error: str, values: Iterable[Value], loops: Iterable[RandomLoop], followers: Iterable[str]
) -> bool:
    """Whether the run's error is that of a value or of a loop, read or not.

    Or of a layer that reads what is none: which check comes first is not promised.
    """
    reasons = reasons_of(values)
    if any(loop.is_short() for loop in loops):
        reasons = f"{reasons}|{MISSING}"
    if re.search(reasons or "no reason", error):
        return True
    return any(f"'{name}'" in error for name in followers)
