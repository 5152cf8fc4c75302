# ===- random_operators.py - Nodes of random models ---------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""What random_models.py makes loop bodies of: one operator, or a few, at a time.

A node is written as its operator set wants it. To make models of one operator
more, write a method that takes a `Block` and returns what it made, or None where
nothing in the block fits, and name it in `STEPS`.
"""

from __future__ import annotations

import dataclasses
import math
import random
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

#: An extent that is known, or a name: equal names are equal extents.
Dim = int | str
Array = np.ndarray[Any, Any]

F16, F32, F64 = TensorProto.FLOAT16, TensorProto.FLOAT, TensorProto.DOUBLE
I32, I64, BOOL = TensorProto.INT32, TensorProto.INT64, TensorProto.BOOL
FLOATS = (F16, F32, F64)
INTEGERS = (I32, I64)

#: Values of more elements are not worth their time.
MOST_ELEMENTS = 3000


@dataclasses.dataclass(frozen=True)
class Value:
    """A tensor of a graph, or a sequence of tensors of that shape."""

    name: str
    elem: int
    shape: tuple[Dim, ...] = ()
    sequence: bool = False

    @property
    def rank(self) -> int:
        """How many dimensions it has."""
        return len(self.shape)

    @property
    def fixed(self) -> bool:
        """Whether every extent is known."""
        return all(isinstance(dim, int) for dim in self.shape)

    @property
    def full(self) -> bool:
        """Whether it certainly has elements."""
        return all(isinstance(dim, int) and dim > 0 for dim in self.shape)

    @property
    def extents(self) -> tuple[int, ...]:
        """The shape of a value whose extents are known."""
        return tuple(dim for dim in self.shape if isinstance(dim, int))

    @property
    def small(self) -> bool:
        """Whether it may be worked on further: not known is small enough."""
        known = [dim for dim in self.shape if isinstance(dim, int)]
        most: int = math.prod(known) * 12 ** (self.rank - len(known))
        return most <= MOST_ELEMENTS


@dataclasses.dataclass
class Block:
    """Nodes in the making, and the tensors that the next ones may read."""

    nodes: list[onnx.NodeProto] = dataclasses.field(default_factory=list)
    values: list[Value] = dataclasses.field(default_factory=list)

    def inner(self, *arguments: Value) -> Block:
        """A graph of a node in this block, with arguments of its own."""
        return Block([], [*self.values, *arguments])

    def add(self, made: Iterable[Value]) -> None:
        """Offers tensors to the nodes to come."""
        self.values.extend(value for value in made if value.small and not value.sequence)


def broadcast(one: Sequence[Dim], other: Sequence[Dim]) -> tuple[Dim, ...] | None:
    """The shape of both together, or None where they certainly or maybe do not fit."""
    rank = max(len(one), len(other))
    padded = [(1,) * (rank - len(shape)) + tuple(shape) for shape in (one, other)]
    made: list[Dim] = []
    for a, b in zip(*padded, strict=True):
        if a != b and a != 1 and b != 1:
            return None
        made.append(b if a == 1 else a)
    return tuple(made)


def without(shape: Sequence[Dim], axis: int) -> tuple[Dim, ...]:
    """The shape without a dimension."""
    return (*shape[:axis], *shape[axis + 1 :])


def put(shape: Sequence[Dim], axis: int, dim: Dim) -> tuple[Dim, ...]:
    """The shape with another extent there."""
    return (*shape[:axis], dim, *shape[axis + 1 :])


class Operators:
    """Makes nodes from a seed. Every choice comes from `random`: a seed is a model."""

    def __init__(self, seed: int, opset: int) -> None:
        self.random = random.Random(seed)
        self.opset = opset
        self.types: dict[str, int] = {}
        self._names = 0

    # -- Names, nodes, constants ------------------------------------------------

    def fresh(self, prefix: str = "v") -> str:
        """A name that no other value or graph has."""
        self._names += 1
        return f"{prefix}{self._names}"

    def has(self, since: int) -> bool:
        """Whether the model's operator set is that new."""
        return self.opset >= since

    def chance(self, probability: float) -> bool:
        """True so often."""
        return self.random.random() < probability

    def value(self, prefix: str, elem: int, shape: Sequence[Dim] = ()) -> Value:
        """A tensor with a name of its own."""
        made = Value(self.fresh(prefix), elem, tuple(shape))
        self.types[made.name] = elem
        return made

    def op(
        self,
        block: Block,
        kind: str,
        inputs: Sequence[Value | None],
        elem: int,
        shape: Sequence[Dim],
        **attributes: Any,
    ) -> Value:
        """A node of one result."""
        made = self.value("v", elem, shape)
        self.append(block, kind, inputs, [made], **attributes)
        return made

    def append(
        self,
        block: Block,
        kind: str,
        inputs: Sequence[Value | None],
        results: Sequence[Value],
        **attributes: Any,
    ) -> None:
        """A node that makes some results."""
        names = [value.name if value else "" for value in inputs]
        made = [value.name for value in results]
        block.nodes.append(helper.make_node(kind, names, made, **attributes))

    def node(
        self,
        block: Block,
        kind: str,
        inputs: Sequence[Value | None],
        results: Sequence[Value],
        **attributes: Any,
    ) -> list[Value]:
        """A node whose results are like some values, under names of their own."""
        made = [
            dataclasses.replace(self.value("r", v.elem, v.shape), sequence=v.sequence)
            for v in results
        ]
        self.append(block, kind, inputs, made, **attributes)
        return made

    def like(self, block: Block, kind: str, *inputs: Value) -> Value:
        """A node whose result has the type and the shape of its first input."""
        return self.op(block, kind, inputs, inputs[0].elem, inputs[0].shape)

    def const(self, block: Block, values: Any, elem: int = I64) -> Value:
        """A constant."""
        array = np.asarray(values, helper.tensor_dtype_to_np_dtype(elem))
        made = self.value("c", elem, array.shape)
        tensor = numpy_helper.from_array(array, made.name)
        block.nodes.append(helper.make_node("Constant", [], [made.name], value=tensor))
        return made

    def pick(self, block: Block, fits: Callable[[Value], bool]) -> Value | None:
        """One of the values that fit."""
        some = [value for value in block.values if fits(value)]
        return self.random.choice(some) if some else None

    def cast(self, block: Block, value: Value, elem: int) -> Value:
        """The value as another type."""
        return self.op(block, "Cast", [value], elem, value.shape, to=elem)

    def damped(self, block: Block, value: Value) -> Value:
        """A float within (-1, 1), so that loops do not run away."""
        return self.like(block, "Tanh", value)

    def with_axes(
        self,
        block: Block,
        kind: str,
        since: int,
        value: Value,
        axes: list[int],
        shape: Sequence[Dim],
        **more: Any,
    ) -> Value:
        """A node whose axes are an input since some operator set, and an attribute before."""
        if self.has(since):
            inputs = [value, self.const(block, axes)]
            return self.op(block, kind, inputs, value.elem, shape, **more)
        return self.op(block, kind, [value], value.elem, shape, axes=axes, **more)

    def total(self, block: Block, value: Value, kind: str = "ReduceSum") -> Value:
        """All elements reduced to one."""
        return self.op(block, kind, [value], value.elem, (), keepdims=0)

    def unsqueeze(self, block: Block, value: Value, axis: int) -> Value:
        """A dimension of extent 1 more."""
        shape = (*value.shape[:axis], 1, *value.shape[axis:])
        return self.with_axes(block, "Unsqueeze", 13, value, [axis], shape)

    def number(self, block: Block, value: Value) -> Value:
        """Some number that says something of all elements: a float32 within (-1, 1)."""
        if value.elem == BOOL or value.elem in INTEGERS:
            value = self.cast(block, value, F32)
        total = self.total(block, value, self.random.choice(("ReduceSum", "ReduceL1")))
        total = self.damped(block, total)
        return total if total.elem == F32 else self.cast(block, total, F32)

    def flag(self, block: Block) -> Value:
        """A condition computed from some value."""
        known = self.pick(block, lambda v: v.elem == BOOL and not v.shape)
        if known and self.chance(0.3):
            return known
        value = self.pick(block, lambda v: True)
        assert value is not None
        threshold = self.const(block, self.random.choice((0.0137, 0.37, -0.613)), F32)
        kind = self.random.choice(("Greater", "Less"))
        return self.op(block, kind, [self.number(block, value), threshold], BOOL, ())

    def index(self, block: Block, extent: int) -> Value:
        """A number of type int64 within [0, extent), from data where there is any."""
        data = self.pick(block, lambda v: v.elem == I64 and not v.shape)
        if data is None or not self.has(10):
            return self.const(block, self.random.randrange(extent))
        return self.op(block, "Mod", [data, self.const(block, extent)], I64, ())

    def filled(self, value: Value) -> bool:
        """Whether it may be given to a node that wants elements."""
        return value.full

    def changed(self, dim: Dim, change: Callable[[int], int]) -> Dim:
        """Another extent, computed from one; a name of its own where that has one."""
        return change(dim) if isinstance(dim, int) else self.fresh("d")

    # -- Steps -------------------------------------------------------------------

    def _float(self, block: Block) -> Value | None:
        return self.pick(block, lambda v: v.elem in FLOATS)

    def unary(self, block: Block) -> Value | None:
        """Element by element."""
        value = self._float(block)
        if value is None:
            return None
        kinds = ["Tanh", "Sigmoid", "Relu", "Neg", "Abs", "Floor", "Sin", "Cos"]
        if value.elem == F64:
            kinds = ["Tanh", "Relu", "Neg", "Abs", "Floor", "Sigmoid"]
        if self.has(9) and value.elem == F32:
            kinds += ["Erf", "Sign"]
        return self.like(block, self.random.choice(kinds), value)

    def binary(self, block: Block) -> Value | None:
        """Two values of a type together, as far as shapes can be broadcast."""
        one = self.pick(block, lambda v: v.elem != BOOL)
        if one is None:
            return None
        other = self.pick(
            block, lambda v: v.elem == one.elem and broadcast(one.shape, v.shape) is not None
        )
        assert other is not None
        kinds = ["Add", "Sub", "Mul", "Add"]
        if one.elem in FLOATS or self.has(12):
            kinds += ["Min", "Max"]
        shape = broadcast(one.shape, other.shape)
        assert shape is not None
        return self.op(block, self.random.choice(kinds), [one, other], one.elem, shape)

    def reduce(self, block: Block) -> Value | None:
        """One axis, kept or not."""
        value = self.pick(
            block, lambda v: v.elem in (F32, F64, *INTEGERS) and self.filled(v) and v.rank > 0
        )
        if value is None:
            return None
        axis, keep = self.random.randrange(value.rank), self.random.randrange(2)
        shape = put(value.shape, axis, 1) if keep else without(value.shape, axis)
        kinds = ["ReduceSum", "ReduceMax", "ReduceMin"]
        if value.elem in FLOATS:
            kinds += ["ReduceMean", "ReduceL2"]
        kind = self.random.choice(kinds)
        since = 13 if kind == "ReduceSum" else 18
        return self.with_axes(block, kind, since, value, [axis], shape, keepdims=keep)

    def matmul(self, block: Block) -> Value | None:
        """A product of matrices, or of a batch of them, damped."""
        one = self.pick(block, lambda v: v.elem in (F32, F64) and v.rank in (2, 3))
        if one is None:
            return None
        other = self.pick(
            block, lambda v: v.elem == one.elem and v.rank == 2 and v.shape[0] == one.shape[-1]
        )
        if other is None:
            return None
        shape = (*one.shape[:-1], other.shape[1])
        return self.damped(block, self.op(block, "MatMul", [one, other], one.elem, shape))

    def transpose(self, block: Block) -> Value | None:
        """Axes in another order."""
        value = self.pick(block, lambda v: v.rank > 1)
        if value is None:
            return None
        order = self.random.sample(range(value.rank), value.rank)
        shape = [value.shape[axis] for axis in order]
        return self.op(block, "Transpose", [value], value.elem, shape, perm=order)

    def normalize(self, block: Block) -> Value | None:
        """Softmax and its like over the last axis."""
        value = self.pick(block, lambda v: v.elem == F32 and self.filled(v) and v.rank > 0)
        if value is None:
            return None
        kind = self.random.choice(("Softmax", "LogSoftmax", "LayerNormalization", "CumSum"))
        if kind == "CumSum" and self.has(11):
            axis = self.const(block, self.random.randrange(value.rank))
            flags = {name: self.random.randrange(2) for name in ("reverse", "exclusive")}
            return self.op(block, kind, [value, axis], F32, value.shape, **flags)
        if kind == "LayerNormalization" and self.has(17):
            width = value.shape[-1] if isinstance(value.shape[-1], int) else 1
            scale = self.const(block, np.full(width, 0.7), F32)
            return self.op(block, kind, [value, scale], F32, value.shape, axis=-1)
        kind = "LogSoftmax" if kind == "LogSoftmax" else "Softmax"
        axes = range(value.rank) if self.has(13) else [value.rank - 1]
        return self.op(block, kind, [value], F32, value.shape, axis=self.random.choice(axes))

    def slice(self, block: Block) -> Value | None:
        """A part of an axis, with steps, or backwards."""
        value = self.pick(block, lambda v: v.rank > 0 and v.fixed)
        if value is None:
            return None
        axis = self.random.randrange(value.rank)
        extent = value.extents[axis]
        begin, end = sorted(self.random.randrange(extent + 1) for _ in range(2))
        step = self.random.choice((1, 1, 2, -1)) if self.has(10) else 1
        if step < 0:
            begin, end = extent - 1, -extent - 1
        count = extent if step < 0 else len(range(begin, end, step))
        shape = put(value.shape, axis, count)
        if count == 0:
            return None
        if not self.has(10):
            part = {"starts": [begin], "ends": [end], "axes": [axis]}
            return self.op(block, "Slice", [value], value.elem, shape, **part)
        numbers = [self.const(block, [n]) for n in (begin, end, axis, step)]
        return self.op(block, "Slice", [value, *numbers], value.elem, shape)

    def concat(self, block: Block) -> Value | None:
        """Two values one behind the other."""
        one = self.pick(block, lambda v: v.rank > 0)
        if one is None:
            return None
        axis = self.random.randrange(one.rank)
        rest = without(one.shape, axis)
        other = self.pick(
            block,
            lambda v: v.elem == one.elem and v.rank == one.rank and without(v.shape, axis) == rest,
        )
        assert other is not None
        a, b = one.shape[axis], other.shape[axis]
        dim = a + b if isinstance(a, int) and isinstance(b, int) else self.fresh("d")
        shape = put(one.shape, axis, dim)
        return self.op(block, "Concat", [one, other], one.elem, shape, axis=axis)

    def gather(self, block: Block) -> Value | None:
        """Rows by number: constants, or data."""
        value = self.pick(block, lambda v: v.rank > 0 and v.full)
        if value is None:
            return None
        axis = self.random.randrange(value.rank)
        extent = value.extents[axis]
        if self.chance(0.5):
            index = self.index(block, extent)
        else:
            least = -extent if self.has(11) else 0
            count = self.random.randrange(1, 4)
            index = self.const(block, [self.random.randrange(least, extent) for _ in range(count)])
        shape = (*value.shape[:axis], *index.shape, *value.shape[axis + 1 :])
        return self.op(block, "Gather", [value, index], value.elem, shape, axis=axis)

    def count(self, block: Block) -> Value | None:
        """An iteration's number, or a size, as a float with another."""
        value = self._float(block)
        number = self.pick(block, lambda v: v.elem in INTEGERS and not v.shape)
        if value is None:
            return None
        if number is None or self.chance(0.3):
            some = self.pick(block, lambda v: True)
            assert some is not None
            number = self.op(block, "Size", [some], I64, ())
        scaled = self.cast(block, number, value.elem)
        scaled = self.like(block, "Mul", scaled, self.const(block, 0.1, value.elem))
        return self.op(block, "Add", [value, scaled], value.elem, value.shape)

    def compare(self, block: Block) -> Value | None:
        """A comparison element by element, or what logic makes of two of them."""
        flags = self.pick(block, lambda v: v.elem == BOOL)
        if flags is not None and self.chance(0.5):
            other = self.pick(block, lambda v: v.elem == BOOL and v.shape == flags.shape)
            assert other is not None
            kind = self.random.choice(("And", "Or", "Xor", "Not"))
            inputs = [flags] if kind == "Not" else [flags, other]
            return self.op(block, kind, inputs, BOOL, flags.shape)
        one = self.pick(
            block, lambda v: v.elem in ((*FLOATS, *INTEGERS) if self.has(9) else FLOATS)
        )
        if one is None:
            return None
        other = self.pick(block, lambda v: v.elem == one.elem and v.shape == one.shape)
        assert other is not None
        kinds = ["Greater", "Less"] + (["LessOrEqual"] if self.has(12) else [])
        return self.op(block, self.random.choice(kinds), [one, other], BOOL, one.shape)

    def where(self, block: Block) -> Value | None:
        """One of two values, element by element."""
        flags = self.pick(block, lambda v: v.elem == BOOL)
        if flags is None or not self.has(9):
            return None
        one = self.pick(block, lambda v: v.shape == flags.shape and v.elem != BOOL)
        if one is None:
            return None
        other = self.pick(block, lambda v: v.shape == flags.shape and v.elem == one.elem)
        assert other is not None
        return self.op(block, "Where", [flags, one, other], one.elem, one.shape)

    def reshape(self, block: Block) -> Value | None:
        """Flat, with a dimension more, or one value everywhere."""
        value = self.pick(block, lambda v: v.rank < 4)
        if value is None:
            return None
        choice = self.random.randrange(3)
        if choice == 0:
            dim: Dim = math.prod(value.extents) if value.fixed else self.fresh("d")
            return self.op(block, "Reshape", [value, self.const(block, [-1])], value.elem, [dim])
        if choice == 1:
            return self.unsqueeze(block, value, self.random.randrange(value.rank + 1))
        one = self.pick(block, lambda v: not v.shape)
        if one is None or value.rank == 0:
            return None
        shape = self.op(block, "Shape", [value], I64, (value.rank,))
        return self.op(block, "Expand", [one, shape], one.elem, value.shape)

    def pad(self, block: Block) -> Value | None:
        """A border of zeros, or of copies of the edge."""
        value = self.pick(block, lambda v: v.elem in (F32, F64) and self.filled(v) and v.rank > 0)
        if value is None:
            return None
        pads = [self.random.randrange(2) for _ in range(2 * value.rank)]
        more = [pads[k] + pads[k + value.rank] for k in range(value.rank)]
        shape = [
            self.changed(d, lambda n, m=m: n + m) for d, m in zip(value.shape, more, strict=True)
        ]  # type: ignore[misc]
        mode = self.random.choice(("constant", "edge"))
        if not self.has(11):
            return self.op(block, "Pad", [value], value.elem, shape, pads=pads, mode=mode)
        inputs = [value, self.const(block, pads)]
        return self.op(block, "Pad", inputs, value.elem, shape, mode=mode)

    def best(self, block: Block) -> Value | None:
        """Where the greatest or least element is, as a number of some type."""
        value = self.pick(block, lambda v: v.elem == F32 and self.filled(v) and v.rank > 0)
        if value is None:
            return None
        axis = self.random.randrange(value.rank)
        kind = self.random.choice(("ArgMax", "ArgMin"))
        shape = without(value.shape, axis)
        made = self.op(block, kind, [value], I64, shape, axis=axis, keepdims=0)
        return self.cast(block, made, self.random.choice((I32, F32)))

    def convert(self, block: Block) -> Value | None:
        """The value as another type; what becomes an integer is small before."""
        value = self.pick(block, lambda v: True)
        assert value is not None
        elem = self.random.choice((F16, F32, F32, F64, I32, I64, BOOL))
        if value.elem in FLOATS and elem in INTEGERS:
            value = self.damped(block, value)
            value = self.op(
                block, "Mul", [value, self.const(block, 4.3, value.elem)], value.elem, value.shape
            )
        elif value.elem in INTEGERS and elem in FLOATS:
            if not self.has(10):
                return None
            value = self.op(
                block, "Mod", [value, self.const(block, 7, value.elem)], value.elem, value.shape
            )
        return self.cast(block, value, elem)


Step = Callable[[Any, Block], "Value | list[Value] | None"]

#: How often, in comparison, each is tried.
STEPS: dict[Step, int] = {
    Operators.unary: 4,
    Operators.binary: 6,
    Operators.reduce: 2,
    Operators.matmul: 2,
    Operators.transpose: 1,
    Operators.normalize: 2,
    Operators.slice: 2,
    Operators.concat: 1,
    Operators.gather: 2,
    Operators.count: 2,
    Operators.compare: 2,
    Operators.where: 2,
    Operators.reshape: 2,
    Operators.pad: 1,
    Operators.best: 1,
    Operators.convert: 2,
}
