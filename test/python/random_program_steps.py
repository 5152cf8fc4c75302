# ===- random_program_steps.py - Nodes of values of any extent -----------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""What random_programs.py makes loop bodies of: nodes that run with any extents, or end in an error.

The nodes of random_operators.py are chosen so that they cannot fail, from extents that are
known when the model is made. Here no extent is known, so a model can be run with inputs of
many shapes. Some nodes fail for some values: they divide by a number that may be zero,
read at an index that may be out of range, or combine shapes that may not fit.

To make one node more, write a method that takes a `Block` and returns what it made, or None
where nothing in the block fits, and name it in `PROGRAM_STEPS`.
"""

from __future__ import annotations

from collections.abc import Sequence

from random_operators import (
    BOOL,
    F32,
    I32,
    I64,
    Block,
    Dim,
    Operators,
    Step,
    Value,
    broadcast,
    put,
    without,
)

#: The shape of a value whose rank nobody knows.
UNRANKED: tuple[Dim, ...] = ("*",)
NUMBERS = (I64, F32, I32)


def has_rank(value: Value, *ranks: int) -> bool:
    """Whether the rank of a tensor is known, and is one of some."""
    known = value.shape != UNRANKED and not value.sequence
    return known and (not ranks or value.rank in ranks)


class Steps(Operators):
    """Makes nodes of values with open extents."""

    #: How often a node may fail where another form of it would not.
    risk = 0.15

    # -- Operands ------------------------------------------------------------------

    def scalar(self, block: Block, elem: int = I64) -> Value:
        """Some number of rank 0."""
        found = self.pick(block, lambda v: v.elem == elem and has_rank(v, 0))
        if found is None or self.chance(0.15):
            return self.const(block, self.random.choice((0, 1, 2, 3, 5, -1)), elem)
        return found

    def vector(self, block: Block, elem: int | None = None) -> Value | None:
        """Some tensor of rank 1."""
        return self.pick(
            block,
            lambda v: has_rank(v, 1) and (v.elem in NUMBERS if elem is None else v.elem == elem),
        )

    def ranked(self, block: Block) -> Value | None:
        """Some numbers along at least one axis."""
        return self.pick(block, lambda v: has_rank(v, 1, 2, 3) and v.elem in NUMBERS)

    def anything(self, block: Block) -> Value:
        """Any tensor of numbers, of known rank or not."""
        found = self.pick(block, lambda v: v.elem in NUMBERS and not v.sequence)
        return found or self.scalar(block)

    def ones(self, block: Block, value: Value) -> Value:
        """A number as a tensor of one element."""
        return self.op(block, "Unsqueeze", [value, self.const(block, [0])], value.elem, (1,))

    def size(self, block: Block, value: Value) -> Value:
        """The number of elements, an extent, or the rank."""
        how = self.random.random()
        if how < 0.6 or value.rank == 0:
            return self.op(block, "Size", [value], I64, ())
        shape = self.op(block, "Shape", [value], I64, (self.fresh("d"),))
        if how < 0.8 and has_rank(value):
            at = self.const(block, self.random.randrange(value.rank))
            return self.op(block, "Gather", [shape, at], I64, ())
        return self.op(block, "Size", [shape], I64, ())

    def extent(self, block: Block, value: Value, axis: int) -> Value:
        """One extent of a value."""
        shape = self.op(block, "Shape", [value], I64, (value.rank,))
        return self.op(block, "Gather", [shape, self.const(block, axis)], I64, ())

    def reduced(self, block: Block, value: Value) -> Value:
        """All elements as one number."""
        return self.op(block, "ReduceSum", [value], value.elem, (), keepdims=0)

    def within(self, block: Block, index: Value, extent: Value) -> Value:
        """An index that is in range, wherever there is any element."""
        kind = self.random.choice(("Mod", "Mod", "Min"))
        if kind == "Mod":
            if self.chance(0.5):
                # Fails where there is no element.
                return self.op(block, "Mod", [index, extent], I64, ())
            some = self.op(block, "Max", [extent, self.const(block, 1)], I64, ())
            return self.op(block, "Mod", [index, some], I64, ())
        last = self.op(block, "Sub", [extent, self.const(block, 1)], I64, ())
        positive = self.op(block, "Max", [index, self.const(block, 0)], I64, ())
        return self.op(block, "Min", [positive, last], I64, ())

    def truth(self, block: Block) -> Value:
        """A condition, of what is carried rather than of constants."""
        known = self.pick(block, lambda v: v.elem == BOOL and has_rank(v, 0))
        if known and self.chance(0.35):
            return known
        kind = self.random.choice(("Greater", "Less", "Equal", "LessOrEqual"))
        one = self.scalar(block)
        if self.chance(0.4):
            one = self.size(block, self.anything(block))
        other = self.scalar(block) if self.chance(0.3) else self.const(
            block, self.random.choice((0, 1, 2, 3, 4))
        )  # fmt: skip
        return self.op(block, kind, [one, other], BOOL, ())

    # -- Numbers --------------------------------------------------------------------

    def arithmetic(self, block: Block) -> Value:
        """Two numbers together; products wrap around."""
        elem = self.random.choice((I64, I64, I64, I32, F32))
        kinds = ["Add", "Sub", "Mul", "Min", "Max", "Add"]
        inputs = [self.scalar(block, elem) for _ in range(2)]
        return self.op(block, self.random.choice(kinds), inputs, elem, ())

    def quotient(self, block: Block) -> Value | None:
        """A quotient or a remainder of integers, by what may be zero, or is made not to be."""
        elem = self.random.choice((I64, I64, I32))
        value = self.pick(block, lambda v: v.elem == elem and has_rank(v))
        by = self.scalar(block, elem)
        if value is None:
            return None
        if elem == I64 and self.chance(0.4):
            by = self.size(block, self.anything(block))
        elif value.rank == 1 and self.chance(0.3):
            same = self.pick(block, lambda v: v.elem == elem and v.shape == value.shape)
            by = same or by
        kind = self.random.choice(("Div", "Mod"))
        how = self.random.random()
        if how < 0.25:
            by = self.op(block, "Max", [by, self.const(block, 1, elem)], elem, by.shape)
        elif how < 0.5:
            zero = self.op(block, "Equal", [by, self.const(block, 0, elem)], BOOL, by.shape)
            by = self.op(block, "Where", [zero, self.const(block, 1, elem), by], elem, by.shape)
        elif how < 0.7 and not by.shape:
            return self.guarded(block, kind, value, by)
        return self.op(block, kind, [value, by], elem, value.shape)

    def guarded(self, block: Block, kind: str, value: Value, by: Value) -> Value | None:
        """A quotient in the branch of an If that is taken where it can be computed."""
        raise NotImplementedError

    def measured(self, block: Block) -> Value:
        """A size, of a value of any rank."""
        return self.size(block, self.anything(block))

    def summed(self, block: Block) -> Value:
        """A sum of all elements."""
        return self.reduced(block, self.anything(block))

    def element(self, block: Block) -> Value | None:
        """One element, or one row, at an index that is computed."""
        value = self.pick(block, lambda v: has_rank(v, 1, 2) and v.elem in NUMBERS)
        if value is None:
            return None
        axis = self.random.randrange(value.rank)
        index = self.scalar(block)
        if not self.chance(self.risk):
            index = self.within(block, index, self.extent(block, value, axis))
        shape = without(value.shape, axis)
        return self.op(block, "Gather", [value, index], value.elem, shape, axis=axis)

    def compared(self, block: Block) -> Value:
        """A condition."""
        if self.chance(0.7):
            return self.truth(block)
        inputs = [self.truth(block) for _ in range(2)]
        kind = self.random.choice(("And", "Or", "Xor"))
        return self.op(block, kind, inputs, BOOL, ())

    # -- Element by element ---------------------------------------------------------

    def together(self, block: Block) -> Value | None:
        """Two tensors, of one shape, or of two that may not fit."""
        one = self.ranked(block)
        if one is None:
            return None
        fits = self.pick(
            block,
            lambda v: v.elem == one.elem
            and has_rank(v) and broadcast(one.shape, v.shape) is not None,
        )  # fmt: skip
        any_shape = self.pick(block, lambda v: v.elem == one.elem and has_rank(v, 1, 2))
        other = any_shape if any_shape and self.chance(self.risk) else fits
        assert other is not None
        pair = [one, other] if self.chance(0.5) else [other, one]
        kind = self.random.choice(("Add", "Sub", "Mul", "Min", "Max", "Less", "Equal"))
        elem = BOOL if kind in ("Less", "Equal") else one.elem
        shape = broadcast(one.shape, other.shape)
        if shape is None:
            shape = tuple(self.fresh("d") for _ in range(max(one.rank, other.rank)))
        made = self.op(block, kind, pair, elem, shape)
        return self.cast(block, made, self.random.choice(NUMBERS)) if elem == BOOL else made

    def selected(self, block: Block) -> Value | None:
        """One of two values for each element, by the value itself."""
        value = self.ranked(block)
        if value is None:
            return None
        limit = self.scalar(block, value.elem)
        flags = self.op(block, "Greater", [value, limit], BOOL, value.shape)
        inputs = [flags, value, self.scalar(block, value.elem)]
        return self.op(block, "Where", inputs, value.elem, value.shape)

    def negated(self, block: Block) -> Value:
        """A sign turned or left out, of a value of any rank."""
        return self.like(block, self.random.choice(("Neg", "Abs")), self.anything(block))

    def converted(self, block: Block) -> Value:
        """The value as another type of numbers."""
        value = self.anything(block)
        if value.elem == F32:
            bound = self.const(block, 1000, F32)
            value = self.op(block, "Min", [value, bound], F32, value.shape)
            bound = self.const(block, -1000, F32)
            value = self.op(block, "Max", [value, bound], F32, value.shape)
        return self.cast(block, value, self.random.choice(NUMBERS))

    # -- Parts, and longer ones --------------------------------------------------------

    def part(self, block: Block, value: Value, bounds: Sequence[Value], axis: int = 0) -> Value:
        """A Slice with a step of 1, between two tensors of one element."""
        inputs = [value, *bounds, self.const(block, [axis])]
        return self.op(block, "Slice", inputs, value.elem, put(value.shape, axis, self.fresh("d")))

    def bound(self, block: Block) -> Value:
        """A bound of a Slice, which may be anything."""
        if self.chance(0.5):
            return self.const(block, [self.random.choice((0, 1, 2, 3, -1, 1 << 62))])
        return self.ones(block, self.scalar(block))

    def sliced(self, block: Block) -> Value | None:
        """A part of some axis, from somewhere to somewhere, backwards too."""
        value = self.ranked(block)
        if value is None:
            return None
        axis = self.random.randrange(value.rank)
        if self.chance(0.15):
            numbers = [self.const(block, [n]) for n in (-1, -(1 << 62), axis, -1)]
            return self.op(block, "Slice", [value, *numbers], value.elem, value.shape)
        step = self.const(block, [self.random.choice((1, 1, 2))])
        inputs = [value, self.bound(block), self.bound(block), self.const(block, [axis]), step]
        return self.op(block, "Slice", inputs, value.elem, put(value.shape, axis, self.fresh("d")))

    def longer(self, block: Block) -> Value | None:
        """Vectors one behind the other, or one with itself."""
        one = self.vector(block)
        if one is None:
            return None
        other = self.vector(block, one.elem) or one
        if self.chance(0.3):
            other = self.ones(block, self.scalar(block, one.elem))
        parts = [one, other] if self.chance(0.6) else [other, one]
        return self.op(block, "Concat", parts, one.elem, (self.fresh("d"),), axis=0)

    def padded(self, block: Block) -> Value | None:
        """Zeros, or copies of a number, on either side of some axis."""
        value = self.ranked(block)
        if value is None:
            return None
        pads = [self.random.choice((0, 0, 1, 2)) for _ in range(2 * value.rank)]
        inputs = [value, self.const(block, pads)]
        if self.chance(0.4):
            inputs.append(self.const(block, 4, value.elem))
        shape = [self.fresh("d") for _ in value.shape]
        return self.op(block, "Pad", inputs, value.elem, shape)

    def kept(self, block: Block) -> Value | None:
        """The elements that are greater than some number, or where they are."""
        value = self.vector(block)
        if value is None:
            return None
        limit = self.scalar(block, value.elem)
        flags = self.op(block, "Greater", [value, limit], BOOL, value.shape)
        if self.chance(0.6):
            return self.op(block, "Compress", [value, flags], value.elem, (self.fresh("d"),))
        places = self.op(block, "NonZero", [flags], I64, (1, self.fresh("d")))
        return self.op(block, "Reshape", [places, self.const(block, [-1])], I64, places.shape[1:])

    def rotated(self, block: Block) -> Value | None:
        """The first elements behind the others."""
        value = self.vector(block)
        return None if value is None else self.rotate(block, value)

    def rotate(self, block: Block, value: Value) -> Value:
        """A vector whose first elements stand behind the others."""
        at = self.bound(block) if self.chance(0.4) else self.const(block, [1])
        first = self.part(block, value, [self.const(block, [0]), at])
        rest = self.part(block, value, [at, self.const(block, [1 << 62])])
        return self.op(block, "Concat", [rest, first], value.elem, value.shape, axis=0)

    def taken(self, block: Block) -> Value | None:
        """Elements at the places that another vector says."""
        value, places = self.ranked(block), self.vector(block, I64)
        if value is None or places is None:
            return None
        axis = self.random.randrange(value.rank)
        if not self.chance(self.risk):
            extent = self.extent(block, value, axis)
            extent = self.op(block, "Max", [extent, self.const(block, 1)], I64, ())
            places = self.op(block, "Mod", [places, extent], I64, places.shape)
        shape = (*value.shape[:axis], *places.shape, *value.shape[axis + 1 :])
        if len(shape) > 3:
            return None
        return self.op(block, "Gather", [value, places], value.elem, shape, axis=axis)

    def written(self, block: Block) -> Value | None:
        """A vector with one element written, at an index that is computed."""
        value = self.vector(block)
        if value is None:
            return None
        index = self.scalar(block)
        if not self.chance(self.risk):
            index = self.within(block, index, self.op(block, "Size", [value], I64, ()))
        update = self.ones(block, self.scalar(block, value.elem))
        if self.chance(0.5):
            inputs = [value, self.ones(block, index), update]
            return self.op(block, "ScatterElements", inputs, value.elem, value.shape, axis=0)
        axes = self.const(block, [0, 1])
        index = self.op(block, "Unsqueeze", [index, axes], I64, (1, 1))
        return self.op(block, "ScatterND", [value, index, update], value.elem, value.shape)

    # -- Ranks and extents --------------------------------------------------------------

    def counted(self, block: Block) -> Value:
        """0, 1, 2, ... to a number that is computed."""
        limit = self.scalar(block)
        if not self.chance(0.3):
            limit = self.size(block, self.anything(block))
        limit = self.op(block, "Min", [limit, self.const(block, 9)], I64, ())
        inputs = [self.const(block, 0), limit, self.const(block, 1)]
        return self.op(block, "Range", inputs, I64, (self.fresh("d"),))

    def spread(self, block: Block) -> Value | None:
        """One number everywhere: as long as some vector, or as a number says."""
        value = self.ranked(block)
        if value is None:
            return None
        number = self.scalar(block, self.random.choice(NUMBERS))
        if self.chance(0.6):
            shape = self.op(block, "Shape", [value], I64, (value.rank,))
            return self.op(block, "Expand", [number, shape], number.elem, value.shape)
        count = self.op(block, "Mod", [self.scalar(block), self.const(block, 4)], I64, ())
        extents = self.ones(block, count)
        return self.op(block, "Expand", [number, extents], number.elem, (self.fresh("d"),))

    def table(self, block: Block) -> Value | None:
        """A vector as a row or a column, or each element of one with each of another."""
        one = self.vector(block)
        if one is None:
            return None
        axis = self.random.randrange(2)
        line = self.unsqueeze(block, one, axis)
        other = self.vector(block, one.elem)
        if other is None or self.chance(0.3):
            return line
        kind = self.random.choice(("Add", "Mul", "Sub"))
        extents = [one.shape[0], other.shape[0]]
        if axis == 0:
            extents.reverse()
        across = self.unsqueeze(block, other, 1 - axis)
        return self.op(block, kind, [line, across], one.elem, extents)

    def turned(self, block: Block) -> Value | None:
        """Axes in another order."""
        value = self.pick(block, lambda v: has_rank(v, 2, 3))
        return None if value is None else self.transpose(Block(block.nodes, [value]))

    def axis_summed(self, block: Block) -> Value | None:
        """One axis reduced, kept or not."""
        value = self.pick(block, lambda v: has_rank(v, 1, 2, 3) and v.elem in NUMBERS)
        if value is None:
            return None
        axis, keep = self.random.randrange(value.rank), self.random.randrange(2)
        shape = put(value.shape, axis, 1) if keep else without(value.shape, axis)
        return self.with_axes(block, "ReduceSum", 13, value, [axis], shape, keepdims=keep)

    def summed_up(self, block: Block) -> Value | None:
        """Sums of all before, from either side."""
        value = self.vector(block)
        if value is None:
            return None
        flags = {name: self.random.randrange(2) for name in ("reverse", "exclusive")}
        inputs = [value, self.const(block, 0)]
        return self.op(block, "CumSum", inputs, value.elem, value.shape, **flags)

    def flat(self, block: Block) -> Value:
        """A value of any rank as a vector."""
        value = self.anything(block)
        inputs = [value, self.const(block, [-1])]
        return self.op(block, "Reshape", inputs, value.elem, (self.fresh("d"),))

    def product(self, block: Block) -> Value | None:
        """An Einsum of two tensors, any axes of which may be of extent 1."""
        one = self.pick(block, lambda v: has_rank(v, 1, 2) and v.elem == F32)
        other = self.pick(block, lambda v: has_rank(v, 1, 2) and v.elem == F32)
        if one is None or other is None:
            return None
        extents: dict[str, Dim] = dict(zip("ab", one.shape, strict=False))
        first, second = "ab"[: one.rank], ""
        for letter, dim in zip("xy", other.shape, strict=False):
            same = [k for k in first if extents[k] == dim and k not in second]
            if self.chance(self.risk):
                same = [k for k in first if k not in second]
            chosen = self.random.choice(same) if same and self.chance(0.7) else letter
            extents.setdefault(chosen, dim)
            if extents[chosen] != dim:
                extents[chosen] = self.fresh("d")
            second += chosen
        both = sorted(set(first + second))
        kept = [k for k in both if self.chance(0.6)][:3]
        equation = f"{first},{second}->{''.join(kept)}"
        shape = [extents[k] for k in kept]
        return self.op(block, "Einsum", [one, other], F32, shape, equation=equation)


#: How often, in comparison, each is tried.
PROGRAM_STEPS: dict[Step, int] = {
    Steps.arithmetic: 4,
    Steps.quotient: 5,
    Steps.measured: 3,
    Steps.summed: 2,
    Steps.element: 3,
    Steps.compared: 2,
    Steps.together: 4,
    Steps.selected: 1,
    Steps.negated: 1,
    Steps.converted: 1,
    Steps.sliced: 3,
    Steps.longer: 3,
    Steps.padded: 2,
    Steps.kept: 2,
    Steps.rotated: 1,
    Steps.taken: 1,
    Steps.written: 2,
    Steps.counted: 1,
    Steps.spread: 1,
    Steps.table: 1,
    Steps.turned: 1,
    Steps.axis_summed: 1,
    Steps.summed_up: 1,
    Steps.flat: 1,
    Steps.product: 1,
}
