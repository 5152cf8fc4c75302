# ===- random_algorithms.py - Loops that people write, a little different each time ===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Worklists, searches, windows, histories, sizes of what grows, and operands that broadcast.

Steps that are chosen one by one seldom make a whole algorithm. These loops have the form of one;
operands, bounds, changes and what is read of the results are random. To make one more, write a
method that takes a `Block` and adds to it, and name it in `ALGORITHMS`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from random_control import LIMITS, UPDATES, Control, State
from random_inputs import Given
from random_operators import BOOL, F32, I32, I64, Block, Dim, Value
from random_program_steps import NUMBERS, UNRANKED, has_rank

#: Operators of two operands that broadcast against each other, and the types they are tried with.
PAIRS: dict[str, tuple[int, ...]] = {
    "Add": (F32, I64), "Sub": (F32, I32), "Mul": (F32, I64), "Div": (F32, I64), "Mod": (I64, I32),
    "Min": (F32, I64), "Max": (F32, I32), "Pow": (F32,), "Equal": (I64, F32), "Less": (F32, I64),
    "Greater": (I32, F32), "LessOrEqual": (I64,), "GreaterOrEqual": (F32,), "Sum": (F32,),
    "Mean": (F32,), "PRelu": (F32,), "And": (BOOL,), "Or": (BOOL,), "Xor": (BOOL,),
    "BitwiseAnd": (I64,), "BitwiseXor": (I32,),
}  # fmt: skip


class Algorithms(Control):
    """Makes loops of a known form."""

    # -- Worklists ---------------------------------------------------------------------

    def worklist(self, block: Block) -> None:
        """Takes elements out of a list, from computed places, until few are left."""
        listed = self.vector(block, self.random.choice((I64, I64, F32)))
        if listed is None:
            return
        go = self.pick(block, lambda v: v.name == "go") or self.truth(block)
        count = None if self.chance(0.6) else self.trips(block)
        number, given = self.value("i", I64), self.value("p", BOOL)
        state = self.value("s", listed.elem, (self.fresh("d"),))
        inner = block.inner(number)
        size = self.op(inner, "Size", [state], I64, ())
        inner.values += [size]
        step = self.const(inner, self.random.choice((2, 3, 5, 7)))
        if self.chance(0.3):
            step = self.scalar(inner)
        kind = self.random.choice(("Mod", "Mod", "Div"))
        place = self.op(inner, kind, [step, size], I64, ())
        if self.chance(0.25):
            place = self.const(inner, self.random.choice((0, -1)))
        found = self.op(inner, "Gather", [state, place], listed.elem, (), axis=0)
        inner.values.append(found)
        self.depth += 1
        self.fill(inner, self.random.choice((0, 0, 1, 2)))
        self.depth -= 1
        least = self.const(inner, self.random.choice((0, 1, 1, 2, 3)))
        more = self.op(inner, "Greater", [size, least], BOOL, ())
        rest = self.rest(inner, state, place)
        body = self.graph(inner, [number, given, state], [more, rest, found])
        results = [
            dataclasses.replace(rest, shape=(self.fresh("d"),)),
            dataclasses.replace(found, shape=(self.fresh("d"),)),
        ]
        made = self.node(block, "Loop", [count, go, listed], results, body=body)
        for value in made:
            self.show(block, value, self.chance(0.25))

    def rest(self, block: Block, state: Value, place: Value) -> Value:
        """A list without an element, or what stands behind it."""
        if place.name.startswith("c"):
            # From an end.
            return self.popped(block, state)
        at = self.ones(block, place)
        after = self.op(block, "Add", [at, self.const(block, [1])], I64, (1,))
        behind = self.part(block, state, [after, self.const(block, [(1 << 63) - 1])])
        if self.chance(0.5):
            return behind
        before = self.part(block, state, [self.const(block, [0]), at])
        return self.op(block, "Concat", [before, behind], state.elem, (self.fresh("d"),), axis=0)

    # -- Searches ------------------------------------------------------------------------

    def search(self, block: Block) -> None:
        """A set that grows by what does not stand in it: found numbers, primes, queens."""
        elem = self.random.choice((I64, I64, I32))
        first = self.const(block, self.random.choice(([], [], [0], [2, 3])), elem)
        number, given = self.value("i", I64), self.value("p", BOOL)
        state = self.value("s", elem, (self.fresh("d"),))
        inner = block.inner(number)
        try_ = number if elem == I64 else self.cast(inner, number, elem)
        if self.chance(0.5):
            try_ = self.op(inner, "Add", [try_, self.scalar(inner, elem)], elem, ())
        how = self.random.randrange(3)
        if how == 0:
            hits = self.op(inner, "Equal", [state, try_], BOOL, state.shape)
        elif how == 1:  # What a divisor of it is in the set.
            off = self.op(inner, "Mod", [try_, state], elem, state.shape)
            hits = self.op(inner, "Equal", [off, self.const(inner, 0, elem)], BOOL, state.shape)
        else:  # What is near to one of the set.
            off = self.op(inner, "Sub", [state, try_], elem, state.shape)
            off = self.op(inner, "Abs", [off], elem, state.shape)
            hits = self.op(inner, "Less", [off, self.const(inner, 2, elem)], BOOL, state.shape)
        counted = self.cast(inner, hits, I64)
        count = self.reduced(inner, counted)
        free = self.op(inner, "Equal", [count, self.const(inner, 0)], BOOL, ())
        longer = self.op(
            inner, "Concat", [state, self.ones(inner, try_)], elem, (self.fresh("d"),), axis=0
        )
        following = self.either(
            inner, free,
            lambda m, b, _: m.like(b, "Identity", longer),
            lambda m, b, _: m.like(b, "Identity", state),
        )  # fmt: skip
        size = self.size(inner, self.random.choice((state, following)))
        inner.values += [count, size]
        goes_on = self.goes_on(inner, False, number, given)
        collected = [size] if self.chance(0.7) else [count, size]
        body = self.graph(inner, [number, given, state], [goes_on, following, *collected])
        rows = [dataclasses.replace(v, shape=(self.fresh("d"),)) for v in collected]
        condition = self.const(block, True, BOOL) if self.chance(0.7) else None
        made = self.node(
            block, "Loop", [self.trips(block), condition, first], [state, *rows], body=body
        )
        self.offer(block, made[1:])
        if self.chance(0.6):
            self.show(block, made[0], self.chance(0.5))

    def first_found(self, block: Block) -> None:
        """A loop within a loop whose empty states are replaced by the elements that fit first."""
        listed = self.vector(block) or self.const(block, [1, 2, 3])
        number, given = self.value("i", I64), self.value("p", BOOL)
        source = self.value("s", listed.elem, (self.fresh("d"),))
        outer = Block([], [number])
        size = self.op(outer, "Size", [source], I64, ())
        outer.values.append(size)
        place, passed = self.value("j", I64), self.value("p", BOOL)
        inner = outer.inner(place)
        found = self.value("s", listed.elem, (self.fresh("d"),))
        where = self.value("s", I64, (self.fresh("d"),))
        item = self.op(inner, "Gather", [source, place], listed.elem, ())
        count = self.size(inner, found)
        none = self.op(inner, "Equal", [count, self.const(inner, 0)], BOOL, ())
        if self.chance(0.6):
            limit = self.const(inner, self.random.choice((-1, 0, 1, 2)), listed.elem)
            better = self.op(inner, "Greater", [item, limit], BOOL, ())
            kind = self.random.choice(("And", "And", "Or"))
            none = self.op(inner, kind, [none, better], BOOL, ())
        new = [
            lambda m, b, _: m.ones(b, item),
            lambda m, b, _: m.ones(b, place) if m.chance(0.5) else m.const(b, [1]),
        ]
        keep = [lambda m, b, _, s=s: m.like(b, "Identity", s) for s in (found, where)]
        if self.chance(0.6):
            following = self.either_all(inner, none, new, keep)
        else:
            pairs = zip(new, keep, strict=True)
            following = [self.either(inner, none, one, other) for one, other in pairs]
        body = self.graph(inner, [place, passed, found, where], [passed, *following])
        first = [self.const(outer, [], listed.elem), self.const(outer, [], I64)]
        yes = self.const(outer, True, BOOL)
        made = self.node(outer, "Loop", [size, yes, *first], [found, where], body=body)
        chosen = made[0] if self.chance(0.7) else self.cast(outer, made[1], listed.elem)
        parts = [source, chosen] if self.chance(0.3) else [chosen]
        if len(parts) > 1:
            chosen = self.op(outer, "Concat", parts, listed.elem, (self.fresh("d"),), axis=0)
        most = self.const(outer, [self.random.choice(LIMITS)])
        after = self.part(outer, chosen, [self.const(outer, [0]), most])
        graph = self.graph(outer, [number, given, source], [given, after])
        inputs = [self.trips(block), self.const(block, True, BOOL), listed]
        self.offer(block, self.node(block, "Loop", inputs, [after], body=graph))

    # -- Windows -------------------------------------------------------------------------

    def windows(self, block: Block) -> None:
        """Parts of a vector, each combined with weights of some extent: 1, or one that fits."""
        value = self.vector(block)
        if value is None:
            return
        width = self.random.choice((1, 2, 3, 3, 4))
        weights = self.const(block, list(range(1, width + 1)), value.elem)
        number, given = self.value("i", I64), self.value("p", BOOL)
        state = self.value("s", value.elem)
        inner = block.inner(number, state)
        begin = self.ones(inner, number)
        end = self.op(inner, "Add", [begin, self.const(inner, [width])], I64, (1,))
        window = self.part(inner, value, [begin, end])
        kind = self.random.choice(("Mul", "Add", "Max", "Less"))
        pair = [window, weights] if self.chance(0.5) else [weights, window]
        elem = BOOL if kind == "Less" else value.elem
        row = self.op(inner, kind, pair, elem, (width,))
        if elem == BOOL:
            row = self.cast(inner, row, value.elem)
        total = self.reduced(inner, row)
        inner.values += [total, row]
        self.depth += 1
        self.fill(inner, self.random.choice((0, 0, 1)))
        self.depth -= 1
        following = total if self.chance(0.5) else self.like(inner, "Add", state, total)
        collected = [row] if self.chance(0.6) else [total]
        if self.chance(0.2):
            collected = [window]
        goes_on = self.goes_on(inner, False, number, given)
        body = self.graph(inner, [number, given, state], [goes_on, following, *collected])
        rows = [dataclasses.replace(v, shape=(self.fresh("d"), *v.shape)) for v in collected]
        count = self.trips(block)
        if self.chance(0.4):
            size = self.op(block, "Size", [value], I64, ())
            count = self.op(block, "Sub", [size, self.const(block, width - 1)], I64, ())
        first = self.const(block, 0, value.elem)
        condition = self.const(block, True, BOOL) if self.chance(0.6) else None
        self.offer(
            block, self.node(block, "Loop", [count, condition, first], [state, *rows], body=body)
        )

    # -- Histories ------------------------------------------------------------------------

    def history(self, block: Block) -> None:
        """A state, and all that it has been: joined along an axis to what begins as one of them."""
        full = [f"E{k}" for k in range(self.random.choice((1, 1, 2)))]
        first, other = self.operand(block, F32, full), self.operand(block, F32, full)
        rank = first.rank
        axis = self.random.randrange(rank + 1)
        number, given = self.value("i", I64), self.value("p", BOOL)
        states = [self.value("s", F32, [self.fresh("d") for _ in range(rank + k)]) for k in (0, 1)]
        state, before = states
        inner = block.inner(number)
        following = state
        if rank and self.chance(0.6):
            following = self.rotate(inner, following)
        kind = self.random.choice(("Add", "Mul", "Max", "Sub", ""))
        if kind:
            pair = [following, other] if self.chance(0.5) else [other, following]
            dims = [self.fresh("d") for _ in range(max(rank, other.rank))]
            following = self.op(inner, kind, pair, F32, dims)
        inner.values += [following] if has_rank(following, 1, 2) else []
        self.depth += 1
        self.fill(inner, self.random.choice((0, 0, 1)))
        self.depth -= 1
        row = self.as_part(inner, following, axis)
        parts = [before, row] if self.chance(0.5) else [row, before]
        if self.chance(0.2):
            parts.insert(self.random.choice((0, 2)), self.as_part(inner, state, axis))
        longer = self.op(inner, "Concat", parts, F32, before.shape, axis=axis)
        if self.chance(0.2):
            some = [self.const(inner, [self.random.choice((0, 0, 1))]), self.const(inner, [4])]
            longer = self.part(inner, longer, some, axis)
        goes_on = self.goes_on(inner, False, number, given)
        body = self.graph(inner, [number, given, *states], [goes_on, following, longer])
        begin = self.as_part(block, first, axis)
        condition = self.const(block, True, BOOL) if self.chance(0.6) else None
        made = self.node(
            block, "Loop", [self.trips(block), condition, first, begin], states, body=body
        )
        self.kinds.add("history")
        for value in made:
            self.show(block, value, self.chance(0.2))

    def as_part(self, block: Block, value: Value, axis: int) -> Value:
        """The value with one more axis, of extent 1."""
        shape = (*value.shape[:axis], 1, *value.shape[axis:])
        return self.op(block, "Unsqueeze", [value, self.const(block, [axis])], value.elem, shape)

    # -- Sizes ----------------------------------------------------------------------------

    def sizes(self, block: Block) -> None:
        """A loop whose state is what a loop in it collects of the sizes of what changes."""
        outer = self.vector(block) or self.const(block, [1, 2, 3])
        outer_kinds = [k for k in UPDATES if k not in ("number", "same", "rotate", "following")]
        number, given = self.value("i", I64), self.value("p", BOOL)
        before = self.value("s", outer.elem, (self.fresh("d"),))
        inner = block.inner(number)
        kind = self.random.choice(outer_kinds)
        body = inner.inner()
        first = self.initial(inner, kind) if self.chance(0.7) else before
        first = before if kind == "ranks" and self.chance(0.5) else first
        state = State(first, UPDATES[kind][0], kind, self.carried(first, kind), veiled=True)
        place, passed = self.value("i", I64), self.value("p", BOOL)
        body.values.append(place)
        self.depth += 2
        read = self.size(body, state.argument)
        body.values.append(read)
        following = state.update(self, body, state.argument)
        goes_on = passed if self.chance(0.7) else self.goes_on(body, False, place, passed)
        self.depth -= 2
        graph = self.graph(body, [place, passed, state.argument], [goes_on, following, read])
        trips = self.const(inner, self.random.choice((2, 3, 3, 4)))
        yes = self.const(inner, True, BOOL)
        shape = self.joined(first, following)
        last, rows = self.node(
            inner, "Loop", [trips, yes, first],
            [dataclasses.replace(following, shape=shape),
             dataclasses.replace(read, shape=(self.fresh("d"),))],
            body=graph,
        )  # fmt: skip
        # Or it is what the inner loop leaves, whose sizes are collected.
        after = last if has_rank(last, 1) and self.chance(0.25) else rows
        after = after if after.elem == before.elem else self.cast(inner, after, before.elem)
        if self.chance(0.3) and last.shape != UNRANKED:
            inner.values.append(last)
        inner.values.append(after)
        self.depth += 1
        self.fill(inner, self.random.choice((0, 0, 0, 1)))
        self.depth -= 1
        outputs = [given, after]
        rows_out = self.random.choice(([], [self.size(inner, before)]))
        made = self.graph(inner, [number, given, before], [*outputs, *rows_out])
        results = [dataclasses.replace(after, shape=(self.fresh("d"),))]
        results += [dataclasses.replace(v, shape=(self.fresh("d"),)) for v in rows_out]
        yes = self.const(block, True, BOOL)
        self.kinds |= {"sizes", kind}
        self.offer(
            block, self.node(block, "Loop", [self.trips(block), yes, outer], results, body=made)
        )

    # -- Loops of what does not change -------------------------------------------------------

    def unchanging(self, block: Block) -> None:
        """A loop in which nodes that may fail read nothing that changes."""
        number, given = self.value("i", I64), self.value("p", BOOL)
        first = self.scalar(block)
        state = self.value("s", I64)
        inner = Block([], [v for v in block.values if not v.sequence])
        steps = (Control.quotient, Control.element, Control.together, Control.taken,
                 Control.written, Control.quotient)  # fmt: skip
        before, self.risk = self.risk, 0.7
        made = self.random.choice(steps)(self, inner)
        self.risk = before
        if made is None:
            return
        total = self.reduced(inner, made)
        if total.elem != I64:
            total = self.size(inner, made) if total.elem == F32 else self.cast(inner, total, I64)
        inner.values += [number, state, total]
        following = self.op(inner, "Add", [state, total], I64, ())
        goes_on = self.goes_on(inner, False, number, given)
        collected = [total] if self.chance(0.4) else []
        body = self.graph(inner, [number, given, state], [goes_on, following, *collected])
        rows = [dataclasses.replace(v, shape=(self.fresh("d"),)) for v in collected]
        condition = self.pick(block, lambda v: v.name == "go")
        condition = condition if self.chance(0.5) else self.const(block, True, BOOL)
        self.kinds.add("unchanging")
        inputs = [self.trips(block), condition, first]
        self.offer(block, self.node(block, "Loop", inputs, [state, *rows], body=body))

    # -- Operands that broadcast --------------------------------------------------------------

    def broadcasts(self, block: Block) -> None:
        """One operator of several operands, any axis of which may be of extent 1."""
        rank = self.random.choice((1, 1, 2, 2, 3))
        full = [f"E{k}" for k in range(rank)]
        others = ("Where", "Where", "Expand", "MatMul", "MatMul", "Gemm", *("Einsum",) * 5)
        kind = self.random.choice([*PAIRS, *others])
        if kind == "Einsum":
            made = self.broadcast_einsum(block, full)
        elif kind == "MatMul":
            made = self.broadcast_product(block)
        elif kind == "Gemm":
            made = self.biased(block)
        elif kind == "Where":
            inputs = [self.operand(block, elem, full) for elem in (BOOL, F32, F32)]
            made = self.op(block, kind, inputs, F32, full)
        elif kind == "Expand":
            value, other = (self.operand(block, F32, full) for _ in range(2))
            shape = self.op(block, "Shape", [other], I64, (other.rank,))
            made = self.op(block, kind, [value, shape], F32, full)
        else:
            elem = self.random.choice(PAIRS[kind])
            inputs = [self.operand(block, elem, full) for _ in range(2)]
            if kind in ("Min", "Max", "Sum", "Mean") and self.chance(0.5):
                inputs.append(self.operand(block, elem, full))
            if kind == "PRelu":  # The slope broadcasts to the value.
                inputs[0] = self.given(block, elem, full)
            if kind == "Pow":
                inputs[0] = self.like(block, "Abs", inputs[0])
            is_flag = kind in ("Equal", "Less", "Greater", "LessOrEqual", "GreaterOrEqual")
            if kind.startswith("Bitwise") and not self.has(18):
                kind = "Add"
            made = self.op(block, kind, inputs, BOOL if is_flag else elem, full)
        self.kinds |= {"broadcast", f"broadcast {kind}"}
        self.offer(block, made)
        if made.elem in NUMBERS and self.chance(0.5):
            self.offer(block, self.reduced(block, made))

    def operand(self, block: Block, elem: int, full: list[str]) -> Value:
        """An input each of whose axes has the full extent, or 1, or is said to be open."""
        rank = len(full) if self.chance(0.7) else self.random.randrange(len(full) + 1)
        dims: list[str] = []
        for dim in full[len(full) - rank :]:
            how = self.random.random()
            # "?E0" is an extent that is the same as E0, or 1; "1" is declared.
            dims.append(dim if how < 0.45 else f"?{dim}.{self.fresh('u')}" if how < 0.85 else "1")
        return self.given(block, elem, dims)

    def given(self, block: Block, elem: int, dims: list[str]) -> Value:
        """An input of the model."""
        shape: list[Dim] = [1 if dim == "1" else dim for dim in dims]
        value = self.value("x", elem, shape)
        self.givens.append(Given(value.name, elem, tuple(dims)))
        block.values += [value] if elem in NUMBERS else []
        return value

    def broadcast_einsum(self, block: Block, full: list[str]) -> Value:
        """An Einsum with letters that stand in both operands."""
        letters = "abc"[: len(full)]
        names = dict(zip(letters, full, strict=True)) | {"y": "E8", "z": "E9"}
        first, second = "y" + letters, letters + "z"
        if self.chance(0.4):
            first = letters
        if self.chance(0.4):
            second = letters
        values = []
        for term in (first, second):
            dims = []
            for letter in term:
                one = self.random.choice((f"?{names[letter]}.{self.fresh('u')}", "1"))
                whole = letter in "yz" or self.chance(0.5)
                dims.append(names[letter] if whole else one)
            values.append(self.given(block, F32, dims))
        kept = [k for k in sorted({*first, *second}) if self.chance(0.6)][:3]
        equation = f"{first},{second}->{''.join(kept)}"
        shape = [self.fresh("d") for _ in kept]
        return self.op(block, "Einsum", values, F32, shape, equation=equation)

    def broadcast_product(self, block: Block) -> Value:
        """Products of matrices, one for each of a batch, on either side."""
        sides: list[Value] = []
        for rows in (("E1", "E2"), ("E2", "E3")):
            first = self.random.choice(((), ("E0",), (f"?E0.{self.fresh('u')}",), ("1",)))
            sides.append(self.given(block, F32, [*first, *rows]))
        rank = max(value.rank for value in sides)
        shape = [self.fresh("d") for _ in range(rank)]
        return self.op(block, "MatMul", sides, F32, shape)

    def biased(self, block: Block) -> Value:
        """A product with a sum that broadcasts."""
        sides = [self.given(block, F32, ["E0", "E1"]), self.given(block, F32, ["E1", "E2"])]
        sides.append(self.operand(block, F32, ["E0", "E2"]))
        return self.op(block, "Gemm", sides, F32, ("E0", "E2"), alpha=0.5)


Algorithm = Callable[[Any, Block], None]

#: How often, in comparison, each is made.
ALGORITHMS: dict[Algorithm, int] = {
    Algorithms.worklist: 3,
    Algorithms.search: 2,
    Algorithms.first_found: 2,
    Algorithms.windows: 2,
    Algorithms.history: 3,
    Algorithms.sizes: 3,
    Algorithms.unchanging: 3,
    Algorithms.broadcasts: 4,
}
