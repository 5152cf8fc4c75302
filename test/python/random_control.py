# ===- random_control.py - Loops and branches of values of any extent ----------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Loops, scans, branches and functions of small random programs (random_programs.py).

What they are about: carried values that grow, shrink, are replaced, rotate or gain an axis, and
of which maybe nothing but the size is read.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import onnx
from onnx import helper
from random_inputs import Given
from random_operators import BOOL, F32, I32, I64, Block, Dim, Step, Value
from random_program_steps import NUMBERS, PROGRAM_STEPS, UNRANKED, Steps, has_rank

#: Operator sets, with the version of the file that knows them.
PROGRAM_OPSETS = {21: 10, 18: 8, 13: 7}

Update = Callable[[Any, Block, Value], Value]


@dataclasses.dataclass
class State:
    """A carried value: what it begins with, how it goes on, and what is seen of it."""

    init: Value
    update: Update
    kind: str
    #: Type and shape in the body; where its extents change, with names of their own.
    argument: Value
    #: Only its size is read.
    veiled: bool = False
    #: It begins with few elements.
    short: bool = False


class Control(Steps):
    """Makes loops, scans, branches and functions of what Steps makes."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed, 0)
        self.seed = seed
        self.opset = self.random.choices(list(PROGRAM_OPSETS), (8, 2, 1))[0]
        self.risk = self.random.choice((0.03, 0.12, 0.25))
        self.depth = 0
        self.givens: list[Given] = []
        self.functions: list[onnx.FunctionProto] = []
        self.kinds: set[str] = set()

    # -- Graphs ---------------------------------------------------------------------

    def info(self, value: Value) -> onnx.ValueInfoProto:
        """What a graph says of a value: all that is certain, or not even the rank."""
        if value.sequence:
            return helper.make_tensor_sequence_value_info(value.name, value.elem, None)
        if value.shape == UNRANKED or (value.shape and self.chance(0.6)):
            return helper.make_tensor_value_info(value.name, value.elem, None)
        shape = [d if isinstance(d, int) and self.chance(0.5) else self.fresh("q")
                 for d in value.shape]  # fmt: skip
        return helper.make_tensor_value_info(value.name, value.elem, shape)

    def graph(
        self, block: Block, inputs: Sequence[Value], outputs: Sequence[Value]
    ) -> onnx.GraphProto:
        """The graph of a node. An output is a name of its own."""
        made: list[Value] = []
        local = {name for node in block.nodes for name in node.output}
        local |= {value.name for value in inputs}
        for value in outputs:
            again = value.name in {v.name for v in made} or value.name not in local
            made.append(self.like(block, "Identity", value) if again else value)
        return helper.make_graph(
            block.nodes,
            self.fresh("g"),
            [self.info(value) for value in inputs],
            [self.info(value) for value in made],
        )

    def fill(self, block: Block, count: int) -> None:
        """Tries to make so many steps of any kind."""
        steps: dict[Step, int] = dict(PROGRAM_STEPS)
        if self.depth < 4:
            steps |= {Control.branch: 5, Control.loop: (5, 4, 3, 2)[self.depth]}
        if self.depth < 3:
            steps |= {Control.scan: 1, Control.sequence: 1}
        if self.depth < 2:
            steps |= {Control.call: 1}
        for step in self.random.choices(list(steps), list(steps.values()), k=count):
            self.offer(block, step(self, block))

    @staticmethod
    def offer(block: Block, made: Value | Sequence[Value] | None) -> None:
        """Lets the nodes to come read what was made."""
        values = [made] if isinstance(made, Value) else list(made or [])
        block.values.extend(v for v in values if not v.sequence)

    # -- Branches ---------------------------------------------------------------------

    def either(self, block: Block, condition: Value, one: Update, other: Update) -> Value:
        """An If of one result."""
        return self.either_all(block, condition, [one], [other])[0]

    def either_all(
        self, block: Block, condition: Value, ones: Sequence[Update], others: Sequence[Update]
    ) -> list[Value]:
        """An If of as many results as each branch has."""
        graphs, made = [], []
        self.depth += 1
        for branch in (ones, others):
            inner = block.inner()
            results = [make(self, inner, condition) for make in branch]
            made.append(results)
            graphs.append(self.graph(inner, [], results))
        self.depth -= 1
        pairs = zip(*made, strict=True)
        results = [dataclasses.replace(a, shape=self.joined(a, b)) for a, b in pairs]
        branches = {"then_branch": graphs[0], "else_branch": graphs[1]}
        return self.node(block, "If", [condition], results, **branches)

    def joined(self, one: Value, other: Value) -> tuple[Dim, ...]:
        """What is known of a shape that is one or the other."""
        if UNRANKED in (one.shape, other.shape) or one.rank != other.rank:
            return UNRANKED
        pairs = zip(one.shape, other.shape, strict=True)
        return tuple(a if a == b else self.fresh("d") for a, b in pairs)

    def guarded(self, block: Block, kind: str, value: Value, by: Value) -> Value | None:
        if self.depth > 3:
            return None
        zero = self.const(block, 0, by.elem)
        if self.chance(0.8):
            fails = self.op(block, "Equal", [by, zero], BOOL, ())
        else:
            fails = self.op(block, "Less", [by, self.const(block, 1, by.elem)], BOOL, ())
        self.kinds.add("guarded")
        return self.either(
            block,
            fails,
            lambda m, inner, _: m.like(inner, "Identity", value),
            lambda m, inner, _: m.op(inner, kind, [value, by], value.elem, value.shape),
        )

    def branch(self, block: Block) -> list[Value]:
        """An If of one or two results, which may differ in extents, or in rank."""
        wanted = [self.anything(block) for _ in range(self.random.choice((1, 1, 2)))]

        def maker(value: Value) -> Update:
            def make(maker: Control, inner: Block, _: Value) -> Value:
                maker.fill(inner, maker.random.randrange(3))
                some = [v for v in inner.values if v.elem == value.elem and not v.sequence]
                if maker.chance(0.8):
                    alike = [v for v in some if v.rank == value.rank and v.shape != UNRANKED]
                    some = alike or some
                return maker.random.choice(some[-4:])

            return make

        self.kinds.add("If")
        sides = [[maker(value) for value in wanted] for _ in range(2)]
        return self.either_all(block, self.truth(block), *sides)

    def call(self, block: Block) -> list[Value] | None:
        """A function of the model, called once or twice."""
        some = [self.anything(block) for _ in range(self.random.randrange(1, 3))]
        arguments = [self.value("a", v.elem, v.shape) for v in some]
        inner = Block([], list(arguments))
        self.depth += 1
        self.fill(inner, self.random.randrange(2, 4))
        self.depth -= 1
        made = inner.values[len(arguments) :][-2:]
        if not made:
            return None
        name = self.fresh("f")
        opsets = [helper.make_opsetid("", self.opset), helper.make_opsetid("local", 1)]
        self.functions.append(
            helper.make_function(
                "local", name, [v.name for v in arguments], [v.name for v in made],
                inner.nodes, opsets,
            )
        )  # fmt: skip
        self.kinds.add("function")
        return self.node(block, name, some, [self.renewed(v) for v in made], domain="local")

    def renewed(self, value: Value) -> Value:
        """The value with extents that equal no others for certain."""
        if value.shape == UNRANKED:
            return value
        shape = tuple(d if isinstance(d, int) else self.fresh("d") for d in value.shape)
        return dataclasses.replace(value, shape=shape)

    # -- Loops --------------------------------------------------------------------------

    def trips(self, block: Block) -> Value:
        """A trip count: a constant, an input, a size, or what was computed."""
        how = self.random.random()
        if how < 0.3:
            some = (0, 1, 2, 3, 3, 4) if self.depth < 2 else (1, 2, 2, 3)
            return self.const(block, self.random.choice(some))
        if how < 0.55:
            given = self.pick(block, lambda v: v.name == "n")
            if given is not None:
                return given
        most = self.const(block, (6, 4, 3, 2, 2)[min(self.depth, 4)])
        if how < 0.8:
            size = self.size(block, self.anything(block))
            if not self.depth and self.chance(0.5):
                most = self.const(block, 15)
            return self.op(block, "Min", [size, most], I64, ())
        return self.op(block, "Mod", [self.scalar(block), most], I64, ())

    def state(self, block: Block, taken: list[State]) -> State:
        """A carried value of some kind."""
        kind = self.random.choices(list(UPDATES), [weight for _, weight in UPDATES.values()])[0]
        if taken and self.chance(0.15):
            # Two that begin alike, which may swap places.
            init, kind = taken[-1].init, taken[-1].kind
        else:
            init = self.initial(block, kind)
        return State(init, UPDATES[kind][0], kind, self.carried(init, kind),
                     veiled=kind != "number" and self.chance(0.45),
                     short=init.name.startswith("c"))  # fmt: skip

    def carried(self, init: Value, kind: str) -> Value:
        """The argument of a body for a value, with extents that change where they may."""
        shape = init.shape
        if kind == "ranks" or shape == UNRANKED:
            shape = UNRANKED
        elif kind not in ("number", "same", "rotate"):
            shape = tuple(self.fresh("d") for _ in shape)
        return self.value("s", init.elem, shape)

    def initial(self, block: Block, kind: str) -> Value:
        """What a carried value begins with."""
        if kind == "number":
            return self.scalar(block, self.random.choice((I64, I64, I64, I32, F32)))
        if kind == "ranks":
            return self.anything(block)
        if kind == "same":
            return self.anything(block)
        found = self.vector(block)
        if found is None or self.chance(0.4):
            values = self.random.choice(([], [7], [1, 2, 3], [0], [4, 0, 2]))
            return self.const(block, values, found.elem if found else I64)
        return found

    def loop(self, block: Block) -> list[Value]:
        """A Loop with one to three carried values."""
        while_ = self.chance(0.3)
        count = None if while_ and self.chance(0.6) else self.trips(block)
        condition = None
        if while_ or self.chance(0.6):
            condition = self.const(block, True, BOOL)
            if self.chance(0.4):
                given = self.pick(block, lambda v: v.name == "go")
                condition = given if given and self.chance(0.6) else self.truth(block)
        states: list[State] = []
        for _ in range(self.random.choice((1, 1, 2, 2, 3))):
            states.append(self.state(block, states))
        return self.finished_loop(block, count, condition, states)

    def finished_loop(
        self, block: Block, count: Value | None, condition: Value | None, states: list[State]
    ) -> list[Value]:
        """The Loop, and what of it the nodes to come may read."""
        number, given = self.value("i", I64), self.value("p", BOOL)
        inner = block.inner(number)
        for state in states:
            self.show(inner, state.argument, state.veiled)
        self.depth += 1
        self.fill(inner, self.random.choice((0, 1, 2, 3, 4)))
        following = self.updated(inner, states)
        following = self.limited(inner, states, following)
        goes_on = self.goes_on(inner, count is None, number, given)
        collected = self.collected(inner)
        self.depth -= 1
        arguments = [number, given, *(state.argument for state in states)]
        body = self.graph(inner, arguments, [goes_on, *following, *collected])
        length = self.fresh("d")
        results = [
            dataclasses.replace(new, shape=self.joined(state.init, new))
            for state, new in zip(states, following, strict=True)
        ]
        results += [dataclasses.replace(v, shape=(length, *v.shape)) for v in collected]
        inputs = [count, condition, *(state.init for state in states)]
        made = self.node(block, "Loop", inputs, results, body=body)
        self.kinds.add(f"Loop at depth {self.depth}")
        self.kinds |= {s.kind for s in states}
        # Of some results only the size is read, or nothing.
        block.values.extend(made[len(states) :])
        for result, state in zip(made, states, strict=False):
            if not (collected and self.chance(0.35)):
                self.show(block, result, state.kind != "number" and self.chance(0.3))
        return []

    def updated(self, inner: Block, states: list[State]) -> list[Value]:
        """The next values: each by itself, or all in one If that keeps them otherwise."""
        if len(states) < 2 or not self.chance(0.25):
            return [state.update(self, inner, state.argument) for state in states]
        update = [lambda m, b, _, s=s: s.update(m, b, s.argument) for s in states]
        keep = [lambda m, b, _, s=s: m.like(b, "Identity", s.argument) for s in states]
        self.kinds.add("states in an If")
        sides = (update, keep) if self.chance(0.5) else (keep, update)
        return self.either_all(inner, self.truth(inner), *sides)

    def show(self, block: Block, value: Value, veiled: bool) -> None:
        """Offers a value to the nodes to come, or its size only."""
        if veiled and not value.sequence:
            self.kinds.add("only the size")
            value = self.size(block, value)
        if not value.sequence:
            block.values.append(value)

    def limited(self, inner: Block, states: list[State], following: list[Value]) -> list[Value]:
        """The next values, some swapped, and none growing without an end."""
        made = list(following)
        for place, state in enumerate(states):
            alike = [s.argument for s in states
                     if s.argument.elem == state.argument.elem
                     and s.argument.rank == state.argument.rank
                     and (s.argument.shape == UNRANKED) == (state.argument.shape == UNRANKED)
                     and state.kind not in ("same", "rotate")]  # fmt: skip
            if len(alike) > 1 and self.chance(0.25):
                made[place] = self.random.choice(alike)
            elif state.kind in ("double", "join", "following") and has_rank(made[place], 1):
                if state.short and self.chance(0.6):
                    continue
                bounds = [self.const(inner, [0]), self.const(inner, [self.random.choice(LIMITS)])]
                made[place] = self.part(inner, made[place], bounds)
        return made

    def goes_on(self, inner: Block, must_end: bool, number: Value, given: Value) -> Value:
        """The condition that a body yields."""
        how = self.random.random()
        goes_on = self.truth(inner) if how < 0.4 else given
        if must_end:
            limit = self.const(inner, self.random.choice((0, 1, 2, 3, 3, 4)))
            less = self.op(inner, "Less", [number, limit], BOOL, ())
            goes_on = less if how > 0.5 else self.op(inner, "And", [less, goes_on], BOOL, ())
        return goes_on

    def collected(self, inner: Block) -> list[Value]:
        """Up to two values that are collected: numbers rather, whose shapes do not change."""
        numbers = [v for v in inner.values if has_rank(v, 0) and v.elem in (*NUMBERS, BOOL)]
        others = [v for v in inner.values if has_rank(v, 1, 2) and v.elem in NUMBERS]
        made = []
        for _ in range(self.random.choice((0, 1, 1, 2))):
            some = others if others and self.chance(self.risk) else numbers
            made.append(self.random.choice(some[-5:]))
        return made

    # -- Scans ------------------------------------------------------------------------

    def scan(self, block: Block) -> list[Value] | None:
        """A Scan over one or two values, along any axis and in any direction."""
        first = self.ranked(block)
        if first is None:
            return None
        axis = self.random.randrange(first.rank)
        read = [(first, axis)]
        other = self.ranked(block)
        if other is not None and self.chance(0.4):
            axes = [k for k, dim in enumerate(other.shape) if dim == first.shape[axis]]
            read += [(other, self.random.choice(axes))] if axes else []
        init = [self.scalar(block, self.random.choice((I64, F32)))]
        if self.chance(0.4):
            init.append(self.anything(block))
        carried = [self.value("s", v.elem, v.shape) for v in init]
        parts = [self.value("e", v.elem, (*v.shape[:k], *v.shape[k + 1 :])) for v, k in read]
        inner = block.inner(*carried, *parts)
        self.depth += 1
        self.fill(inner, self.random.choice((0, 1, 2, 3)))
        following = [self.same(inner, state) for state in carried]
        collected = self.collected(inner)
        self.depth -= 1
        body = self.graph(inner, [*carried, *parts], [*following, *collected])
        length = first.shape[axis]
        rows = [dataclasses.replace(v, shape=(length, *v.shape)) for v in collected]
        attributes: dict[str, Any] = {
            "scan_input_axes": [k for _, k in read],
            "scan_input_directions": [self.random.randrange(2) for _ in read],
        }
        if rows:
            attributes["scan_output_directions"] = [self.random.randrange(2) for _ in rows]
        self.kinds.add("Scan")
        inputs = [*init, *(value for value, _ in read)]
        return self.node(
            block, "Scan", inputs, [*carried, *rows], body=body,
            num_scan_inputs=len(read), **attributes,
        )  # fmt: skip

    # -- Sequences ------------------------------------------------------------------------

    def sequence(self, block: Block) -> list[Value] | None:
        """A Loop that inserts into a sequence, erases from it and reads it at computed places."""
        elem = self.random.choice(NUMBERS)
        item = self.pick(block, lambda v: v.elem == elem and has_rank(v, 0, 1))
        if item is None or not self.has(16):  # Identity of a sequence.
            return None
        listed = dataclasses.replace(item, sequence=True)
        if self.chance(0.3) and has_rank(item, 1):
            chunk = self.const(block, self.random.choice((1, 2, 3)))
            [first] = self.node(block, "SplitToSequence", [item, chunk], [listed])
        else:
            [first] = self.node(block, "SequenceEmpty", [], [listed], dtype=elem)
        argument = dataclasses.replace(self.value("l", elem, UNRANKED), sequence=True)
        number, given = self.value("i", I64), self.value("p", BOOL)
        inner = block.inner(number)
        inner.values.append(self.op(inner, "SequenceLength", [argument], I64, ()))
        self.depth += 1
        self.fill(inner, self.random.choice((0, 1, 2)))
        changed = self.changed_sequence(inner, argument, elem)
        goes_on = self.goes_on(inner, False, number, given)
        collected = self.collected(inner)
        self.depth -= 1
        body = self.graph(inner, [number, given, argument], [goes_on, changed, *collected])
        condition = self.const(block, True, BOOL) if self.chance(0.5) else None
        rows = [dataclasses.replace(v, shape=(self.fresh("d"), *v.shape)) for v in collected]
        inputs = [self.trips(block), condition, first]
        last, *rest = self.node(block, "Loop", inputs, [listed, *rows], body=body)
        self.kinds.add("sequence")
        made = [self.op(block, "SequenceLength", [last], I64, ())]
        if self.chance(0.6):
            [some] = self.node(block, "SequenceInsert", [last, item], [listed])
            if self.chance(0.5) and has_rank(item, 1):
                made.append(self.op(block, "ConcatFromSequence", [some], elem,
                                    (self.fresh("d"),), axis=0))  # fmt: skip
            else:
                at = self.const(block, self.random.choice((0, -1)))
                made.append(self.op(block, "SequenceAt", [some, at], elem, UNRANKED))
        return [*made, *rest]

    def changed_sequence(self, inner: Block, value: Value, elem: int) -> Value:
        """The sequence after one to three changes."""
        for _ in range(self.random.choice((1, 1, 2, 3))):
            length = self.op(inner, "SequenceLength", [value], I64, ())
            at = [] if self.chance(0.4) else [self.scalar(inner)]
            if at and not self.chance(self.risk):
                at = [self.within(inner, at[0], length)]
            if self.chance(0.7):
                item = self.scalar(inner, elem)
                if self.chance(0.5):
                    item = self.vector(inner, elem) or item
                if at and self.chance(0.7):
                    at = [self.const(inner, 0)]
                [value] = self.node(inner, "SequenceInsert", [value, item, *at], [value])
            elif self.chance(0.5):
                some = self.op(inner, "Greater", [length, self.const(inner, 0)], BOOL, ())
                value = self.erased(inner, value, at, some)
            else:
                [found] = self.node(inner, "SequenceAt", [value, *(at or [self.const(inner, 0)])],
                                    [dataclasses.replace(value, sequence=False,
                                                         shape=UNRANKED)])  # fmt: skip
                inner.values.append(self.reduced(inner, found))
        return value

    def erased(self, block: Block, value: Value, at: list[Value], some: Value) -> Value:
        """The sequence without an element, where it has any."""
        inner, other = block.inner(), block.inner()
        [less] = self.node(inner, "SequenceErase", [value, *at], [value])
        [same] = self.node(other, "Identity", [value], [value])
        branches = {
            "then_branch": self.graph(inner, [], [less]),
            "else_branch": self.graph(other, [], [same]),
        }
        [made] = self.node(block, "If", [some], [value], **branches)
        return made

    # -- How carried values go on ---------------------------------------------------------

    def same(self, block: Block, state: Value) -> Value:
        """A value of that type and shape, of the later ones rather."""
        some = [v for v in block.values if v.elem == state.elem and v.shape == state.shape
                and state.shape != UNRANKED]  # fmt: skip
        return self.random.choice(some[-3:]) if some else self.like(block, "Neg", state)

    def number(self, block: Block, state: Value) -> Value:
        """A number computed from it, or any."""
        other = self.scalar(block, state.elem)
        if self.chance(0.25):
            return other
        kind = self.random.choice(("Add", "Add", "Mul", "Sub", "Max"))
        return self.op(block, kind, [state, other], state.elem, ())

    def following(self, block: Block, state: Value) -> Value:
        """Any vector of the later ones; numbers of another type are cast."""
        some = [v for v in block.values if has_rank(v, 1) and v.elem in NUMBERS][-3:]
        found = self.random.choice(some) if some else self.flat(block)
        return found if found.elem == state.elem else self.cast(block, found, state.elem)

    def appended(self, block: Block, state: Value) -> Value:
        """One element more, at the end or at the front."""
        item = self.ones(block, self.scalar(block, state.elem))
        parts = [state, item] if self.chance(0.75) else [item, state]
        return self.op(block, "Concat", parts, state.elem, (self.fresh("d"),), axis=0)

    def doubled(self, block: Block, state: Value) -> Value:
        """Itself twice."""
        return self.op(block, "Concat", [state, state], state.elem, (self.fresh("d"),), axis=0)

    def joined_with(self, block: Block, state: Value) -> Value:
        """Another vector behind it."""
        other = self.vector(block, state.elem) or state
        parts = [state, other] if self.chance(0.7) else [other, state]
        return self.op(block, "Concat", parts, state.elem, (self.fresh("d"),), axis=0)

    def padded_more(self, block: Block, state: Value) -> Value:
        """A border."""
        pads = self.const(block, self.random.choice(([0, 1], [0, 2], [1, 1], [2, 0])))
        return self.op(block, "Pad", [state, pads], state.elem, (self.fresh("d"),))

    def popped(self, block: Block, state: Value) -> Value:
        """Without its first element, its last, or some of either side."""
        end = self.const(block, [1 << 62])
        how = self.random.randrange(4)
        if how == 0:
            return self.part(block, state, [self.const(block, [0]), self.const(block, [-1])])
        if how == 1:
            return self.part(block, state, [self.bound(block), end])
        return self.part(block, state, [self.const(block, [how - 1]), end])

    def filtered(self, block: Block, state: Value) -> Value:
        """Those that are greater than a number."""
        limit = self.scalar(block, state.elem)
        flags = self.op(block, "Greater", [state, limit], BOOL, state.shape)
        return self.op(block, "Compress", [state, flags], state.elem, (self.fresh("d"),))

    def replaced(self, block: Block, state: Value) -> Value:
        """Itself, or something else where a condition says so."""
        if self.chance(0.6):
            size = self.op(block, "Size", [state], I64, ())
            limit = self.const(block, self.random.choice((0, 0, 1, 2, 3)))
            condition = self.op(block, "Greater", [size, limit], BOOL, ())
        else:
            condition = self.truth(block)
        change = self.random.choice(
            (Control.appended, Control.popped, Control.rotate, Control.other_vector)
        )
        keep: Update = lambda m, inner, _: m.like(inner, "Identity", state)  # noqa: E731
        changed: Update = lambda m, inner, _: change(m, inner, state)  # noqa: E731
        pair = (keep, changed) if self.chance(0.5) else (changed, keep)
        return self.either(block, condition, *pair)

    def other_vector(self, block: Block, state: Value) -> Value:
        """Another vector, of one element or of several."""
        found = self.vector(block, state.elem)
        if found is not None and self.chance(0.5):
            return found
        return self.ones(block, self.scalar(block, state.elem))

    def windowed(self, block: Block, state: Value) -> Value:
        """One more at the end, and the last ones of that."""
        longer = self.appended(block, state)
        least = self.const(block, [-self.random.choice((1, 2, 3, 4))])
        return self.part(block, longer, [least, self.const(block, [1 << 62])])

    def deeper(self, block: Block, state: Value) -> Value:
        """An axis more."""
        axis = self.const(block, [0])
        how = self.random.random()
        if how < 0.7:
            return self.op(block, "Unsqueeze", [state, axis], state.elem, UNRANKED)
        flat = self.op(block, "Reshape", [state, self.const(block, [-1])], state.elem, UNRANKED)
        if how < 0.85:
            return flat
        condition = self.truth(block)
        return self.either(
            block, condition,
            lambda m, inner, _: m.op(inner, "Unsqueeze", [state, axis], state.elem, UNRANKED),
            lambda m, inner, _: m.like(inner, "Neg", state),
        )  # fmt: skip


#: What a carried value that would double each time is cut to.
LIMITS = (3, 5, 12, 16)

#: How a carried value goes on, by the name of the kind, and how often in comparison.
UPDATES: dict[str, tuple[Update, int]] = {
    "number": (Control.number, 6),
    "append": (Control.appended, 4),
    "double": (Control.doubled, 2),
    "join": (Control.joined_with, 1),
    "pad": (Control.padded_more, 2),
    "pop": (Control.popped, 3),
    "filter": (Control.filtered, 2),
    "replace": (Control.replaced, 3),
    "rotate": (Control.rotate, 2),
    "window": (Control.windowed, 1),
    "ranks": (Control.deeper, 2),
    "same": (Control.same, 1),
    "following": (Control.following, 2),
}
