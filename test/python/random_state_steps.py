# ===- random_state_steps.py - Nodes over values of every type ----------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Nodes of random_states.py that are not control flow: none of them fails, whatever the extents are.

A value is made as long as another one where both go into a node, and a vector that must have
elements gets one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from onnx import TensorProto, helper
from random_operators import BOOL, F16, F32, F64, FLOATS, I32, I64, Block, Operators, Value

BF16, TEXT = TensorProto.BFLOAT16, TensorProto.STRING
I8, U8, I16, U16 = TensorProto.INT8, TensorProto.UINT8, TensorProto.INT16, TensorProto.UINT16
U32, U64 = TensorProto.UINT32, TensorProto.UINT64
I4, U4 = TensorProto.INT4, TensorProto.UINT4
F8 = TensorProto.FLOAT8E4M3FN
REALS = (*FLOATS, BF16)
SIGNED, UNSIGNED = (I8, I16, I32, I64), (U8, U16, U32, U64)
WHOLE = (*SIGNED, *UNSIGNED)
NUMBERS = (*REALS, *WHOLE)
#: What is moved and converted only.
MOVED = (I4, U4, F8)
#: The element types of states, and how often each is one.
TYPES = {F32: 3, F64: 1, F16: 2, BF16: 1, I64: 3, I32: 1, I16: 1, I8: 2, U8: 2, U16: 1, U32: 1,
         U64: 2, BOOL: 2, TEXT: 2}  # fmt: skip
#: The elements that a grown vector keeps.
MOST = 23


class StateSteps(Operators):
    """Makes nodes over tensors of rank 0 or 1."""

    # -- Values ------------------------------------------------------------------------

    def type(self) -> int:
        """An element type."""
        return self.random.choices(list(TYPES), list(TYPES.values()))[0]

    def collectable(self) -> int:
        """An element type that sequences and optionals have."""
        elem = self.type()
        return F16 if elem == BF16 else elem

    def literal(self, block: Block, elem: int, count: int | None = None) -> Value:
        """A constant of that type: the least and greatest there are, 0, and others."""
        if elem in MOVED:
            return self.cast(block, self.literal(block, F32, count), elem)
        some = [self._number(elem) for _ in range(1 if count is None else count)]
        return self.const(block, some[0] if count is None else some, elem)

    def _number(self, elem: int) -> object:
        if elem == TEXT:
            return self.random.choice(("", "a", "bc", "\u00e9", "longer than a short text is"))
        if elem == BOOL:
            return self.chance(0.5)
        if elem in REALS:
            return self.random.choice((0, -0.0, 1, -1, 0.5, 2, -3, 7))
        bits = 8 * helper.tensor_dtype_to_np_dtype(elem).itemsize
        least = 0 if elem in UNSIGNED else -(2 ** (bits - 1))
        return self.random.choice((0, 1, 1, 2, 3, 5, 7, least, least + 2**bits - 1, max(least, -1)))

    def tensor(self, block: Block, elem: int, rank: int | None = None) -> Value:
        """One of the tensors of that type, or a constant."""
        found = self.pick(
            block,
            lambda v: v.elem == elem and not v.sequence and rank in (None, v.rank),
        )
        if found is not None and self.chance(0.9):
            return found
        if rank == 0 or (rank is None and self.chance(0.4)):
            return self.literal(block, elem)
        return self.literal(block, elem, self.random.randrange(4))

    def any(self, block: Block, elems: Sequence[int] | None = None) -> Value:
        """A tensor of one of these types."""
        wanted = elems or tuple(TYPES)
        found = self.pick(block, lambda v: not v.sequence and v.elem in wanted)
        return found or self.tensor(block, self.random.choice(elems or (F32, I64)))

    def vector(self, block: Block, value: Value) -> Value:
        """A tensor as a vector."""
        if value.rank == 1:
            return value
        return self.op(
            block, "Reshape", [value, self.const(block, [-1])], value.elem, [self.fresh("d")]
        )

    def some(self, block: Block, value: Value) -> Value:
        """A vector with at least one element."""
        value = self.vector(block, value)
        more = self.literal(block, value.elem, 1)
        return self.op(block, "Concat", [value, more], value.elem, [self.fresh("d")], axis=0)

    def element(self, block: Block, value: Value) -> Value:
        """One number of a tensor."""
        if value.rank == 0:
            return value
        index = self.const(block, self.random.choice((0, -1)))
        return self.op(block, "Gather", [self.some(block, value), index], value.elem, [], axis=0)

    def size(self, block: Block, value: Value) -> Value:
        """How many elements it has."""
        return self.op(block, "Size", [value], I64, [])

    def places(self, block: Block, count: Value, extent: Value) -> Value:
        """So many places within an extent that is not 0."""
        begin, step = self.const(block, 0), self.const(block, self.random.choice((1, 2, 3)))
        stop = self.like(block, "Mul", count, step)
        numbers = self.op(block, "Range", [begin, stop, step], I64, [self.fresh("d")])
        return self.like(block, "Mod", numbers, extent)

    def fit(self, block: Block, value: Value, shape: Value) -> Value:
        """A tensor made as long as another, or one number."""
        if value.rank == 0 or value.name == shape.name or value.shape == shape.shape:
            return value
        if shape.rank == 0:
            return self.element(block, value)
        full = self.some(block, value)
        index = self.places(block, self.size(block, shape), self.size(block, full))
        return self.op(block, "Gather", [full, index], value.elem, shape.shape, axis=0)

    def cut(self, block: Block, value: Value, start: int, stop: int, step: int = 1) -> Value:
        """A part of a vector."""
        value = self.vector(block, value)
        bounds = [self.const(block, [k]) for k in (start, stop, 0, step)]
        return self.op(block, "Slice", [value, *bounds], value.elem, [self.fresh("d")])

    def flag(self, block: Block) -> Value:
        """A condition."""
        made = self.element(block, self.compare(block))
        return made if made.rank == 0 else self.element(block, made)

    # -- Steps ----------------------------------------------------------------------------

    def fill(self, block: Block, count: int) -> None:
        """So many steps."""
        for _ in range(count):
            step = self.random.choices(list(STATE_STEPS), list(STATE_STEPS.values()))[0]
            made = step(self, block)
            if made is not None:
                block.values.append(made)

    def single(self, block: Block, value: Value | None = None) -> Value:
        """Element by element."""
        value = value or self.any(block)
        kinds = ["Identity"]
        if value.elem in REALS:
            kinds = ["Neg", "Abs", "Floor", "Ceil", "Sign", "Relu"]
        elif value.elem in WHOLE:
            kinds = ["BitwiseNot", "Sign"] + (["Neg", "Abs"] if value.elem in SIGNED else [])
        elif value.elem == BOOL:
            kinds = ["Not"]
        return self.like(block, self.random.choice(kinds), value)

    def double(self, block: Block, one: Value | None = None) -> Value:
        """Two values of a type, the second as long as the first."""
        one = one or self.any(block)
        other = self.fit(block, self.tensor(block, one.elem), one)
        if one.elem in REALS:
            return self.like(
                block, self.random.choice(("Add", "Sub", "Mul", "Max", "Min")), one, other
            )
        if one.elem == BOOL:
            return self.like(block, self.random.choice(("And", "Or", "Xor", "Equal")), one, other)
        if one.elem == TEXT:
            if not self.has(20):
                return self.where(block, one)
            # A constant: loops would double texts.
            return self.like(block, "StringConcat", one, self.literal(block, TEXT))
        kinds = ["Add", "Sub", "Mul", "Max", "Min", "BitwiseAnd", "BitwiseOr", "BitwiseXor"]
        kinds += ["Mod", "Div"] + (["BitShift"] if one.elem in UNSIGNED else [])
        kind = self.random.choice(kinds)
        if kind == "BitShift":
            bits = 8 * helper.tensor_dtype_to_np_dtype(one.elem).itemsize
            other = self.like(block, "Mod", other, self.const(block, bits, one.elem))
            return self.op(
                block, kind, [one, other], one.elem, one.shape,
                direction=self.random.choice(("LEFT", "RIGHT")),
            )  # fmt: skip
        if kind in ("Mod", "Div"):
            # The least number divided by -1 is no number.
            least = self.const(block, 1, one.elem)
            other = self.like(block, "Max", other, least)
        return self.like(block, kind, one, other)

    def compare(self, block: Block) -> Value:
        """A comparison of two values."""
        elems = [*NUMBERS, BOOL] + ([TEXT] if self.has(19) else [])
        one = self.any(block, elems)
        other = self.fit(block, self.tensor(block, one.elem), one)
        kinds = (
            ["Equal"] if one.elem in (BOOL, TEXT) else ["Less", "Greater", "Equal", "LessOrEqual"]
        )
        return self.op(block, self.random.choice(kinds), [one, other], BOOL, one.shape)

    def where(self, block: Block, one: Value | None = None) -> Value:
        """One of two values, element by element."""
        one = one or self.any(block)
        other = self.fit(block, self.tensor(block, one.elem), one)
        flags = self.fit(block, self.compare(block), one)
        return self.op(block, "Where", [flags, one, other], one.elem, one.shape)

    def convert(self, block: Block, value: Value | None = None, elem: int | None = None) -> Value:
        """Another type; what becomes an integer is small before."""
        value = value or self.any(block, (*TYPES, *MOVED))
        to = elem or self.random.choice((*TYPES, *MOVED[: 3 if self.has(21) else 0]))
        if value.elem == to:
            return value
        if value.elem == TEXT:
            return self.convert(block, self.vector_of_sizes(block, value), to)
        if to == TEXT:
            if value.elem not in WHOLE:
                value = self.convert(block, value, I32)
            return self.cast(block, value, TEXT)
        if value.elem in REALS and to in (*WHOLE, I4, U4):
            most = 7 if to in (I4, U4) else 100
            size = self.like(block, "Abs", value)
            small = self.op(
                block, "Less", [size, self.const(block, most, value.elem)], BOOL, value.shape
            )
            zero = self.const(block, 2, value.elem)
            kept = size if to in (*UNSIGNED, U4) else value
            value = self.op(block, "Where", [small, kept, zero], value.elem, value.shape)
        if to == F8 and value.elem not in (F32, F16):
            value = self.convert(block, value, F32)
        if value.elem == F8 and to not in (F32, F16):
            return self.convert(block, self.cast(block, value, F32), to)
        return self.cast(block, value, to)

    def vector_of_sizes(self, block: Block, value: Value) -> Value:
        """Numbers of a tensor that has none."""
        size = self.size(block, value)
        return self.fit(block, self.places(block, size, self.const(block, 5)), value)

    def reduce(self, block: Block) -> Value:
        """All elements to one."""
        value = self.any(block, (*NUMBERS, BOOL))
        kinds = ["ReduceMax", "ReduceMin"]
        if value.elem in (BOOL, I16, U16) or (value.elem == BOOL and not self.has(20)):
            value, kinds = self.cast(block, value, I32), ["ReduceSum", "ReduceMax"]
        elif value.elem not in (I8, U8):
            kinds += ["ReduceSum", "ReduceSum", "ReduceL1", "ReduceProd"]
        kind = self.random.choice(kinds)
        value = self.some(block, value) if kind in ("ReduceMax", "ReduceMin") else value
        return self.total(block, value, kind)

    def slice(self, block: Block, value: Value | None = None) -> Value:
        """A part, maybe backwards."""
        value = value or self.any(block)
        least = -(2**63)
        bounds = self.random.choice(((0, -1, 1), (1, 99, 1), (-1, least, -1), (0, 99, 2), (-2, 99, 1),
                                     (0, 2, 1), (-1, least, -2)))  # fmt: skip
        return self.cut(block, value, *bounds)

    def concat(self, block: Block, one: Value | None = None) -> Value:
        """Two vectors behind one another, of which not too much is kept."""
        one = self.vector(block, one or self.any(block))
        other = self.vector(block, self.tensor(block, one.elem))
        if self.chance(0.5):
            other = self.cut(block, other, 0, self.random.randrange(1, 3))
        pair = [one, other] if self.chance(0.6) else [other, one]
        made = self.op(block, "Concat", pair, one.elem, [self.fresh("d")], axis=0)
        return (
            self.cut(block, made, 0, MOST) if self.chance(0.7) else self.cut(block, made, -MOST, 99)
        )

    def gather(self, block: Block) -> Value:
        """Elements by their places."""
        value = self.any(block)
        full, like = self.some(block, value), self.any(block)
        count = self.size(block, like)
        index = self.places(block, count, self.size(block, full))
        return self.op(block, "Gather", [full, index], value.elem, [self.fresh("d")], axis=0)

    def compress(self, block: Block) -> Value:
        """The elements for which something holds."""
        value = self.vector(block, self.any(block, [elem for elem in TYPES if elem != BF16]))
        flags = self.fit(block, self.vector(block, self.compare(block)), value)
        return self.op(block, "Compress", [value, flags], value.elem, [self.fresh("d")], axis=0)

    def scatter(self, block: Block, value: Value | None = None) -> Value:
        """Some elements written."""
        value = value or self.any(block)
        full = self.some(block, value)
        index = self.cut(
            block, self.places(block, self.size(block, full), self.size(block, full)), 0, 2
        )
        updates = self.fit(block, self.vector(block, self.tensor(block, value.elem)), index)
        made = self.op(
            block, "ScatterElements", [full, index, updates], value.elem, full.shape, axis=0
        )
        return made if value.rank else self.element(block, made)

    def sort(self, block: Block) -> Value:
        """The largest first."""
        value = self.vector(block, self.any(block, (F16, F32, F64, I32, I64, U8, I8, U64)))
        three, size = self.const(block, [3]), self.op(block, "Shape", [value], I64, [1])
        count = self.like(block, "Min", size, three)
        made = self.value("v", value.elem, [self.fresh("d")])
        places = self.value("v", I64, made.shape)
        self.append(block, "TopK", [value, count], [made, places], largest=self.random.randrange(2))
        return self.random.choice((made, places))

    def unique(self, block: Block) -> Value:
        """Each element once."""
        value = self.vector(block, self.any(block, (F32, F64, I64, I8, TEXT)))
        made = self.value("v", value.elem, [self.fresh("d")])
        self.append(block, "Unique", [value], [made], sorted=1)
        return made

    def expand(self, block: Block) -> Value:
        """One number everywhere; onnx's evaluator does not expand texts."""
        one = self.any(block, [elem for elem in TYPES if elem != TEXT])
        like = self.vector(block, self.any(block))
        shape = self.op(block, "Shape", [like], I64, [1])
        return self.op(block, "Expand", [self.element(block, one), shape], one.elem, like.shape)

    def running(self, block: Block) -> Value:
        """Sums of all elements before."""
        value = self.vector(block, self.any(block, (F32, F64, I32, I64, U64)))
        return self.op(
            block, "CumSum", [value, self.const(block, 0)], value.elem, value.shape,
            exclusive=self.random.randrange(2), reverse=self.random.randrange(2),
        )  # fmt: skip


#: How often, in comparison, each step is tried.
STATE_STEPS: dict[Callable[[StateSteps, Block], Value | None], int] = {
    StateSteps.single: 3, StateSteps.double: 5, StateSteps.compare: 2, StateSteps.where: 2,
    StateSteps.convert: 4, StateSteps.reduce: 2, StateSteps.slice: 2, StateSteps.concat: 2,
    StateSteps.gather: 2, StateSteps.compress: 1, StateSteps.scatter: 2, StateSteps.sort: 1,
    StateSteps.unique: 1, StateSteps.expand: 1, StateSteps.running: 1,
}  # fmt: skip
