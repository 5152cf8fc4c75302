# ===- random_iterators.py - Random loops of OpenVINO IR --------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""TensorIterator and Loop with ports as nobody's converter makes them, from a seed.

What an ONNX model is converted to has slices of one element from the first to the last. Here
TensorIterators cut parts of several elements along any axis, from and to anywhere, forwards and
backwards; one value goes into several ports, as slices, as what is carried and as it is; a result
of the body is carried, given out and concatenated in two directions; states change places. NumPy
works out what comes of it.
"""

from __future__ import annotations

import dataclasses
import random
from typing import Any

import numpy as np
import openvino.opset16 as op
from openvino import Model
from openvino_models import Slice, const, f32, i64, loop, model, param

Array = np.ndarray[Any, Any]

#: What a body computes: OpenVINO's node, and NumPy's function.
UNARY = {
    "negative": (op.negative, np.negative), "relu": (op.relu, lambda x: np.maximum(x, 0)),
    "abs": (op.abs, np.abs), "floor": (op.floor, np.floor),
}  # fmt: skip
BINARY = {
    "add": (op.add, np.add), "subtract": (op.subtract, np.subtract),
    "maximum": (op.maximum, np.maximum), "minimum": (op.minimum, np.minimum),
}  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Iterated:
    """A model of OpenVINO's, inputs for it, and what comes out."""

    model: Model
    feeds: dict[str, Array]
    expected: list[Array]
    kinds: frozenset[str]


def random_iterator(seed: int) -> Iterated:
    """The model of that number."""
    return _Iterator(seed).make()


@dataclasses.dataclass
class _Value:
    """A value of a body: OpenVINO's, and where an iteration keeps NumPy's."""

    node: Any
    compute: Any  # of the values of an iteration, by what stands in `_Iterator.order`


class _Iterator:
    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.draw = np.random.default_rng(seed)
        self.is_loop = self.random.random() < 0.3
        self.rank = self.random.randrange(1, 4)
        #: Of every value of the body; a Loop's slices have one element.
        self.shape = [1 if self.is_loop else self.random.randrange(1, 4) for _ in range(self.rank)]
        if self.is_loop:
            self.shape[1:] = [self.random.randrange(1, 4) for _ in self.shape[1:]]
        self.trips = self.random.choice((1, 2, 3, 3, 4, 5))
        self.inputs: list[Any] = []
        self.feeds: dict[str, Array] = {}
        self.parameters: dict[Any, Any] = {}
        self.values: list[_Value] = []
        self.kinds: set[str] = {"Loop" if self.is_loop else "TensorIterator"}

    def make(self) -> Iterated:
        sliced, pieces = self.slices()
        fixed = [self.invariant()] if self.random.random() < 0.4 else []
        count = self.random.randrange(1, 4)
        inits = [self.init() for _ in range(count)]
        carried = [param(self.declared(self.shape)) for _ in inits]
        first = len(self.values)
        for place, parameter in enumerate(carried):
            self.values.append(_Value(parameter, lambda now, p=place: now["carried"][p]))
        for place, (parameter, *_) in enumerate(sliced):
            self.values.append(_Value(parameter, lambda now, p=place: now["slices"][p]))
        for parameter, value in fixed:
            array = self.feeds_of(value)
            self.values.append(_Value(parameter, lambda now, v=array: v))
        for _ in range(self.random.randrange(1, 7)):
            self.values.append(self.step())
        results = self.results(first, count)
        outs = self.outs(len(results))
        trips = const(i64(self.trips)) if self.is_loop else None
        made = loop(
            trips, True, results=[value.node for value in results], sliced=sliced, fixed=fixed,
            carried=[(p, init, k) for k, (p, init) in enumerate(zip(carried, inits, strict=True))],
            outs=outs,
        )  # fmt: skip
        states = [self.feeds_of(init) for init in inits]
        rows: list[list[Array]] = []
        for number in range(self.trips):
            now = {"carried": states, "slices": [piece[number] for piece in pieces]}
            rows.append([value.compute(now) for value in results])
            states = rows[-1][:count]
        expected = [self.given_out(out, rows) for out in outs]
        return Iterated(model(made, self.inputs), self.feeds, expected, frozenset(self.kinds))

    def chance(self, probability: float) -> bool:
        """True so often."""
        return self.random.random() < probability

    def declared(self, shape: list[int]) -> list[int]:
        """The shape, some extents of it open now and then."""
        if self.chance(0.6):
            return shape
        return [-1 if self.chance(0.5) else extent for extent in shape]

    def given(self, shape: list[int]) -> Any:
        """An input of the model, one that is there where it has that shape."""
        known = [p for p in self.inputs if list(self.feeds_of(p).shape) == shape]
        if known and self.chance(0.5):
            self.kinds.add("one value in several ports")
            return self.random.choice(known)
        name = f"x{len(self.inputs)}"
        self.inputs.append(param(self.declared(shape), name))
        self.feeds[name] = f32(self.draw.integers(-4, 5, shape) / 2)
        return self.inputs[-1]

    def feeds_of(self, parameter: Any) -> Array:
        """What an input is given, or a constant is."""
        names = parameter.output(0).get_names()
        found = [self.feeds[name] for name in names if name in self.feeds]
        return found[0] if found else parameter.data

    def init(self) -> Any:
        """What is carried in the beginning."""
        return (
            const(f32(self.draw.integers(-2, 3, self.shape)))
            if self.chance(0.3)
            else self.given(self.shape)
        )

    def invariant(self) -> tuple[Any, Any]:
        """A port that is the same in each iteration."""
        self.kinds.add("invariant")
        return param(self.declared(self.shape)), self.given(self.shape)

    def slices(self) -> tuple[list[Any], list[list[Array]]]:
        """Ports that are cut, and their parts."""
        sliced, pieces = [], []
        for _ in range(self.random.choice((0, 1, 2, 3) if self.is_loop else (1, 1, 2, 3))):
            axis = 0 if self.is_loop else self.random.randrange(self.rank)
            part = self.shape[axis]
            length = part * self.trips
            before, after = 0, 0
            if not self.is_loop and self.chance(0.4):
                before, after = self.random.randrange(3), self.random.randrange(3)
            shape = [*self.shape[:axis], before + length + after, *self.shape[axis + 1 :]]
            value, extent = self.given(shape), before + length + after
            backwards = not self.is_loop and self.chance(0.4)
            # The first and the last element, both included.
            low = self.bound(before, extent)
            high = self.bound(before + length - 1, extent)
            how = Slice(axis, low, part, part, high)
            if backwards:
                self.kinds.add("slices backwards")
                how = Slice(axis, high, -part, part, low)
            self.kinds |= {"parts" if part > 1 else "elements", "from anywhere" if before else ""}
            sliced.append((param(self.declared(self.shape)), value, how))
            array = self.feeds_of(value)
            places = [before + k * part for k in range(self.trips)]
            places = places[::-1] if backwards else places
            pieces.append([np.take(array, range(at, at + part), axis) for at in places])
        return sliced, pieces

    def bound(self, place: int, extent: int) -> int:
        """A place, from the beginning or from the end."""
        from_end = place == extent - 1 if self.is_loop else self.chance(0.5)
        return place - extent if from_end else place

    def step(self) -> _Value:
        """One more value of the body."""
        one, other = self.random.choice(self.values), self.random.choice(self.values)
        if self.chance(0.4):
            node, compute = self.random.choice(list(UNARY.values()))
            return _Value(node(one.node), lambda now: compute(one.compute(now)))
        node, compute = self.random.choice(list(BINARY.values()))
        made = node(one.node, other.node)
        return _Value(made, lambda now: compute(one.compute(now), other.compute(now)))

    def results(self, first: int, count: int) -> list[_Value]:
        """What the body yields: states first."""
        some = [self.random.choice(self.values[-3:] if self.chance(0.7) else self.values)
                for _ in range(count + self.random.randrange(3))]  # fmt: skip
        if count > 1 and self.chance(0.3):
            self.kinds.add("states change places")
            some[0], some[1] = self.values[first + 1], self.values[first]
        return some

    def outs(self, count: int) -> list[int | tuple[int, Slice]]:
        """Last values and concatenations, of a result maybe several."""
        made: list[int | tuple[int, Slice]] = []
        for _ in range(self.random.randrange(1, 5)):
            result = self.random.randrange(count)
            if self.chance(0.4):
                made.append(result)
                continue
            axis = 0 if self.is_loop else self.random.randrange(self.rank)
            part = self.shape[axis]
            backwards = not self.is_loop and self.chance(0.4)
            self.kinds.add("concatenated backwards" if backwards else "concatenated")
            how = Slice(axis, -1, -part, part, 0) if backwards else Slice(axis, 0, part, part, -1)
            made.append((result, how))
        return made

    def given_out(self, out: int | tuple[int, Slice], rows: list[list[Array]]) -> Array:
        """What an output is after all iterations."""
        if isinstance(out, int):
            return rows[-1][out]
        result, how = out
        parts = [row[result] for row in rows]
        made: Array = np.concatenate(parts[::-1] if how.stride < 0 else parts, how.axis)
        return made
