# ===- random_states.py - Random programs over values of every type ------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Small programs that carry values of every element type, under several names at a time.

random_programs.py makes programs of three element types whose states are told apart. Here a state
may be a number of 4 to 64 bits, a bool, a text, a sequence of tensors of different ranks, or an
optional; one value is the init of two states, or is captured and carried; states change places,
become what is captured, are collected as they were, and are yielded twice. A loop may have 2^62
trips that a condition ends, and what it collects may be any of these values.

`random_states(seed)` is the same program for the same seed.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

import onnx
from onnx import helper
from random_inputs import Given, RandomProgram, input_sets
from random_operators import BOOL, F32, I64, Block, Value
from random_state_steps import BF16, MOVED, TYPES, StateSteps

#: Operator sets, with the version of the IR that each needs.
OPSETS = {18: 8, 19: 9, 21: 10, 22: 10, 23: 11}

#: How many sets of inputs a program has.
SETS = 8


def random_states(seed: int, sets: int = SETS) -> RandomProgram:
    """The program of that number."""
    return _States(seed).program(seed, sets)


class _States(StateSteps):
    """Makes one program. Every value has rank 0 or 1, or is a sequence of such."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed, 21)
        self.opset = self.random.choice(list(OPSETS))
        # Bodies yield their arguments and captured values by their own names, or by Identity.
        self.direct = self.chance(0.3)
        self.depth = 0
        self.givens: list[Given] = []
        self.kinds: set[str] = set()

    def program(self, seed: int, sets: int) -> RandomProgram:
        """Inputs, some values, loops, and some values made of what they give."""
        block = Block()
        self._begin(block)
        self.fill(block, self.random.randrange(3))
        for _ in range(self.random.choice((1, 1, 2))):
            block.values += self.control(block)
            self.fill(block, self.random.randrange(2))
        proto = self._model(block)
        return RandomProgram(
            seed, proto, tuple(self.givens), self.types, frozenset(self.kinds),
            input_sets(self.givens, proto, self.random, sets),
        )  # fmt: skip

    def _begin(self, block: Block) -> None:
        for k in range(self.random.randrange(2, 5)):
            elem = self.type()
            elem = F32 if elem == BF16 else elem
            self._given(
                block, f"x{k}", elem, () if self.chance(0.3) else (self.random.choice("AB"),)
            )
        self._given(block, "n", I64)
        self._given(block, "go", BOOL)

    def _given(self, block: Block, name: str, elem: int, dims: tuple[str, ...] = ()) -> None:
        self.types[name] = elem
        self.givens.append(Given(name, elem, dims))
        block.values.append(Value(name, elem, dims))

    def _model(self, block: Block) -> onnx.ModelProto:
        given = {given.name for given in self.givens}
        made = [self.seen(block, v) for v in block.values if v.name not in given][-7:]
        if not made:
            made = [self.like(block, "Identity", block.values[0])]
        unique = {value.name: value for value in made}.values()
        graph = helper.make_graph(
            block.nodes,
            "states",
            [helper.make_tensor_value_info(g.name, g.elem, g.dims) for g in self.givens],
            [helper.make_tensor_value_info(v.name, v.elem, [None] * v.rank) for v in unique],
        )
        opsets = [helper.make_opsetid("", self.opset)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=OPSETS[self.opset])

    def seen(self, block: Block, value: Value) -> Value:
        """The value as an output can be compared: a tensor of a type that NumPy has."""
        if value.sequence:
            value = self.joined(block, value)
        if value.elem in (BF16, *MOVED):
            value = self.cast(block, value, F32)
        return value

    # -- Control flow -------------------------------------------------------------------

    def graph(
        self, block: Block, arguments: Sequence[Value], results: Sequence[Value]
    ) -> onnx.GraphProto:
        """A body; shapes are declared now and then."""
        if not self.direct:
            made = {name for node in block.nodes for name in node.output}
            results = [v if v.name in made else self.copy(block, v) for v in results]
        return helper.make_graph(
            block.nodes, self.fresh("g"),
            [self.declared(v) for v in arguments], [self.declared(v) for v in results],
        )  # fmt: skip

    def copy(self, block: Block, value: Value) -> Value:
        """The value by another name."""
        made = dataclasses.replace(value, name=self.fresh("q" if value.sequence else "v"))
        self.append(block, "Identity", [value], [made])
        return made

    def declared(self, value: Value) -> onnx.ValueInfoProto:
        """The type of a value, maybe with its rank."""
        shape = [None] * value.rank if self.chance(0.5) else None
        if value.rank == 0 and value.elem in (I64, BOOL) and not value.sequence:
            shape = []
        if value.sequence:
            return helper.make_tensor_sequence_value_info(value.name, value.elem, None)
        return helper.make_tensor_value_info(value.name, value.elem, shape)

    def control(self, block: Block) -> list[Value]:
        """A loop, a scan, a branch, or a loop around a sequence or an optional."""
        kinds: dict[Callable[[_States, Block], list[Value]], int] = {
            _States.loop: 6, _States.scan: 2, _States.branch: 2, _States.collection: 3,
            _States.optional: 2,
        }  # fmt: skip
        kind = self.random.choices(list(kinds), list(kinds.values()))[0]
        self.kinds.add(kind.__name__)
        self.depth += 1
        made = kind(self, block)
        self.depth -= 1
        self.kinds.add(f"depth {self.depth}")
        return made

    def inside(self, block: Block) -> None:
        """What stands in a body."""
        self.fill(block, self.random.randrange(3))
        if self.depth < 3 and self.chance(0.35):
            block.values += self.control(block)
        self.fill(block, self.random.randrange(2))

    def inits(self, block: Block, count: int) -> list[Value]:
        """Values to begin with: now and then one twice, or of a type that is moved only."""
        made: list[Value] = []
        for _ in range(count):
            if made and self.chance(0.3):
                made.append(self.random.choice(made))
            elif self.has(21) and self.chance(0.08):
                made.append(self.convert(block, self.any(block), self.random.choice(MOVED)))
            else:
                made.append(self.tensor(block, self.type()))
            self.kinds.add(f"state of type {made[-1].elem}")
        return made

    def trips(self, block: Block) -> tuple[Value | None, Value | None, Value | None]:
        """A trip count, a condition at entry, and where one must end it, how many trips."""
        small = self.const(block, self.random.choice((0, 1, 2, 3, 5)))
        count = self.op(block, "Min", [self.tensor(block, I64, 0), self.const(block, 6)], I64, [])
        go = self.random.choice((self.tensor(block, BOOL, 0), self.const(block, True, BOOL)))
        how = self.random.randrange(6)
        if how == 0:
            return None, go, count
        if how == 1:
            most = self.const(block, self.random.choice((2**62, 2**63 - 1, 2**31)))
            return most, go, small
        if how == 2:
            return count, go, None
        return self.random.choice((count, small)), None, None

    def update(self, block: Block, state: Value, others: Sequence[Value], captured: Value) -> Value:
        """What a state becomes: something of its type."""
        if state.elem in MOVED:
            if self.chance(0.5):
                return state
            near = self.double(block, self.convert(block, state, F32))
            return self.convert(block, near, state.elem)
        same = [v for v in others if v.elem == state.elem and v.rank == state.rank]
        how = self.random.randrange(12)
        if how == 0:
            return state
        if how in (1, 2) and same:
            return self.random.choice(same)  # Places are changed, or one is lost.
        if how == 3 and captured.elem == state.elem and captured.rank == state.rank:
            return captured
        if how == 4:
            return self.convert(block, self.any(block), state.elem)
        if state.rank and how in (5, 6):
            return self.concat(block, state)
        if state.rank and how == 7:
            return self.slice(block, state)
        if state.rank and how == 8:
            return self.scatter(block, state)
        if how == 9:
            return self.where(block, state)
        if how == 10 and state.rank:
            return self.chosen(block, state)
        return self.double(block, state) if self.chance(0.7) else self.single(block, state)

    def chosen(self, block: Block, state: Value) -> Value:
        """A state that changes if something holds."""
        flag, branches = self.flag(block), []
        for _ in range(2):
            inner = block.inner()
            inner.nodes = []
            made = self.random.choice((self.concat, self.slice, self.double, lambda _, v: v))(
                inner, state
            )
            made = self.like(inner, "Identity", made) if made in (state,) else made
            branches.append(self.graph(inner, [], [made]))
        after = self.value("v", state.elem, [self.fresh("d")])
        self.append(block, "If", [flag], [after], then_branch=branches[0], else_branch=branches[1])
        return after

    def fitting(self, block: Block, state: Value, after: Value) -> Value:
        """A value of the rank of a state."""
        if state.rank == after.rank:
            return after
        return self.element(block, after) if state.rank == 0 else self.vector(block, after)

    def loop(self, block: Block) -> list[Value]:
        """Any states, any results, any end."""
        inits = self.inits(block, self.random.randrange(1, 6))
        count, go, most = self.trips(block)
        captured = self.random.choice(inits)
        arguments = [self.value("s", v.elem, [self.fresh("d")] * v.rank) for v in inits]
        number, on = self.value("i", I64), self.value("c", BOOL)
        inner = block.inner(number, *arguments)
        self.inside(inner)
        after = [
            self.fitting(inner, v, self.update(inner, v, arguments, captured)) for v in arguments
        ]
        kept = self.going_on(inner, number, on, most)
        rows = self.collected(inner, block, arguments, number)
        # A value that two ports yield is one; so is an argument that is yielded.
        body = self.graph(inner, [number, on, *arguments], [kept, *after, *rows])
        results = [self.value("v", v.elem, [self.fresh("d")] * v.rank) for v in inits]
        results += [self.value("v", v.elem, [self.fresh("d")] * (v.rank + 1)) for v in rows]
        self.append(block, "Loop", [count, go, *inits], results, body=body)
        return [self.flat(block, v) for v in results]

    def flat(self, block: Block, value: Value) -> Value:
        """A matrix as a vector."""
        return self.vector(block, value) if value.rank > 1 else value

    def going_on(self, block: Block, number: Value, on: Value, most: Value | None) -> Value:
        """The condition that a body yields."""
        if most is None:
            return on if self.chance(0.5) else self.flag(block)
        next_one = self.like(block, "Add", number, self.const(block, 1))
        kept = self.op(block, "Less", [next_one, most], BOOL, [])
        if self.chance(0.5):
            return kept
        return self.op(block, "And", [kept, self.flag(block)], BOOL, [])

    def collected(
        self, block: Block, outer: Block, arguments: Sequence[Value], number: Value
    ) -> list[Value]:
        """What is collected: numbers, or tensors that are as long as one outside."""
        made: list[Value] = []
        for _ in range(self.random.choice((0, 1, 1, 2, 3))):
            how = self.random.randrange(6)
            if how == 0:
                made.append(number)
            elif how == 1:
                some = [v for v in arguments if v.rank == 0 and v.elem not in MOVED]
                made.append(self.random.choice(some) if some else self.tensor(outer, I64, 0))
            elif how == 2 and made:
                made.append(self.random.choice(made))
            elif how == 3:
                made.append(self.any(outer))
            else:
                value, like = self.any(block), self.any(outer)
                made.append(self.fit(block, value, like))
                self.kinds.add(f"collected of type {value.elem}")
        fixed = [v for v in made if v.rank == 0 or v.shape in [o.shape for o in outer.values]]
        return fixed

    def scan(self, block: Block) -> list[Value]:
        """Over some vectors of one length."""
        first = self.vector(block, self.some(block, self.any(block, tuple(TYPES))))
        inputs = [first]
        for _ in range(self.random.randrange(3)):
            inputs.append(self.fit(block, self.tensor(block, self.type()), first))
            if inputs[-1].rank == 0:
                inputs.pop()
        inits = [v for v in self.inits(block, self.random.randrange(4)) if v.elem not in MOVED]
        arguments = [self.value("s", v.elem, v.shape) for v in inits]
        slices = [self.value("e", v.elem) for v in inputs]
        inner = block.inner(*arguments, *slices)
        self.inside(inner)
        after = []
        for state in arguments:
            made = self.random.choice((self.double, self.single, self.where, lambda _, v: v))(
                inner, state
            )
            after.append(made)
        same = [
            k
            for k, v in enumerate(arguments)
            if v.elem == arguments[0].elem and v.shape == arguments[0].shape
        ]
        if len(same) > 1 and self.chance(0.5):
            after[same[0]], after[same[1]] = after[same[1]], after[same[0]]
        rows = [
            self.element(inner, self.any(inner, tuple(TYPES)))
            for _ in range(self.random.randrange(1, 3))
        ]
        body = self.graph(inner, [*arguments, *slices], [*after, *rows])
        results = [self.value("v", v.elem, v.shape) for v in inits]
        results += [self.value("v", v.elem, [self.fresh("d")]) for v in rows]
        directions = [self.random.randrange(2) for _ in inputs]
        self.append(
            block, "Scan", [*inits, *inputs], results, body=body, num_scan_inputs=len(inputs),
            scan_input_directions=directions,
            scan_output_directions=[self.random.randrange(2) for _ in rows],
        )  # fmt: skip
        return results

    def branch(self, block: Block) -> list[Value]:
        """Some values, each by two ways."""
        flag, elems = self.flag(block), [self.type() for _ in range(self.random.randrange(1, 4))]
        ranks = [self.random.randrange(2) for _ in elems]
        graphs = []
        for _ in range(2):
            inner = block.inner()
            inner.nodes = []
            self.inside(inner)
            made = [self.tensor(inner, elem, rank) for elem, rank in zip(elems, ranks, strict=True)]
            own = {name for node in inner.nodes for name in node.output}
            made = [v if v.name in own else self.like(inner, "Identity", v) for v in made]
            graphs.append(self.graph(inner, [], made))
        results = [
            self.value("v", elem, [self.fresh("d")] * rank)
            for elem, rank in zip(elems, ranks, strict=True)
        ]
        self.append(block, "If", [flag], results, then_branch=graphs[0], else_branch=graphs[1])
        return results

    # -- Sequences and optionals -----------------------------------------------------------

    def joined(self, block: Block, sequence: Value) -> Value:
        """All elements of a sequence, as flat as they are: by a loop over it."""
        inner = Block()
        begin, count = (
            self.literal(block, sequence.elem, 0),
            self.op(block, "SequenceLength", [sequence], I64, []),
        )
        number, go = self.value("i", I64), self.value("c", BOOL)
        state = self.value("s", sequence.elem, ["?"])
        at = self.op(inner, "SequenceAt", [sequence, number], sequence.elem, [])
        flat = self.op(inner, "Reshape", [at, self.const(inner, [-1])], sequence.elem, ["?"])
        after = self.op(inner, "Concat", [state, flat], sequence.elem, ["?"], axis=0)
        on = self.op(inner, "Identity", [go], BOOL, [])
        made = self.value("v", sequence.elem, [self.fresh("d")])
        body = self.graph(inner, [number, go, state], [on, after])
        self.append(block, "Loop", [count, None, begin], [made], body=body)
        return made

    def piece(self, block: Block, elem: int) -> Value:
        """A tensor of any rank that this type has."""
        value = self.tensor(block, elem)
        if self.chance(0.3) and value.rank == 1:
            axes = self.const(block, [self.random.randrange(2)])
            value = self.op(block, "Unsqueeze", [value, axes], elem, [self.fresh("d")] * 2)
        return value

    def within(self, block: Block, sequence: Value, more: int) -> Value:
        """A place of a sequence that has one; 0 where it has none."""
        length = self.op(block, "SequenceLength", [sequence], I64, [])
        one = self.const(block, 1)
        bound = (
            self.like(block, "Add", length, one) if more else self.like(block, "Max", length, one)
        )
        number = self.like(block, "Mod", self.tensor(block, I64, 0), bound)
        if self.chance(0.3) and not more:
            return self.like(block, "Sub", number, bound)
        return number

    def inserted(self, block: Block, sequence: Value) -> Value:
        """One more, at the end or elsewhere."""
        made = dataclasses.replace(sequence, name=self.fresh("q"))
        place = self.within(block, sequence, 1) if self.chance(0.4) else None
        inputs = [sequence, self.piece(block, sequence.elem), *([place] if place else [])]
        self.append(block, "SequenceInsert", inputs, [made])
        return made

    def replaced(self, block: Block, sequence: Value) -> Value:
        """One more, and another one less: never empty when one is taken."""
        grown = self.inserted(block, sequence)
        place = self.within(block, grown, 0)
        made = dataclasses.replace(sequence, name=self.fresh("q"))
        self.append(block, "SequenceErase", [grown, place], [made])
        if self.chance(0.5):
            return made
        at = self.op(block, "SequenceAt", [grown, self.within(block, grown, 0)], sequence.elem, [])
        last = dataclasses.replace(sequence, name=self.fresh("q"))
        self.append(block, "SequenceInsert", [made, at], [last])
        return last

    def collection(self, block: Block) -> list[Value]:
        """A loop around one or two sequences, in which Ifs change them."""
        elem = self.collectable()
        starts = []
        for _ in range(self.random.choice((1, 1, 2))):
            start = Value(self.fresh("q"), elem, (), sequence=True)
            if self.chance(0.5):
                self.append(block, "SequenceEmpty", [], [start], dtype=elem)
            else:
                pieces = [self.piece(block, elem) for _ in range(self.random.randrange(1, 3))]
                self.append(block, "SequenceConstruct", pieces, [start])
            starts.append(start)
        if len(starts) == 2 and self.chance(0.3):
            starts[1] = starts[0]
        count, go, most = self.trips(block)
        arguments = [dataclasses.replace(v, name=self.fresh("q")) for v in starts]
        number, on = self.value("i", I64), self.value("c", BOOL)
        inner = block.inner(number)
        self.inside(inner)
        after = [self.next_sequence(inner, v, arguments) for v in arguments]
        kept = self.going_on(inner, number, on, most)
        body = self.graph(inner, [number, on, *arguments], [kept, *after])
        results = [dataclasses.replace(v, name=self.fresh("q")) for v in starts]
        self.append(block, "Loop", [count, go, *starts], results, body=body)
        made = [self.joined(block, v) for v in results]
        made += [self.op(block, "SequenceLength", [v], I64, []) for v in (*results, starts[0])]
        return made

    def next_sequence(self, block: Block, value: Value, others: Sequence[Value]) -> Value:
        """What a sequence becomes."""
        how = self.random.randrange(6)
        if how == 0:
            return self.random.choice(others)
        if how < 3:
            return self.inserted(block, value)
        if how == 3:
            return self.replaced(block, value)
        flag, graphs = self.flag(block), []
        for _ in range(2):
            inner = block.inner()
            inner.nodes = []
            change = self.random.choice((self.inserted, self.replaced, None))
            made = (
                change(inner, value) if change else dataclasses.replace(value, name=self.fresh("q"))
            )
            if not change:
                self.append(inner, "Identity", [self.random.choice(others)], [made])
            graphs.append(self.graph(inner, [], [made]))
        after = dataclasses.replace(value, name=self.fresh("q"))
        self.append(block, "If", [flag], [after], then_branch=graphs[0], else_branch=graphs[1])
        return after

    def optional(self, block: Block) -> list[Value]:
        """An optional that a loop fills, or empties, or leaves."""
        elem = self.collectable()
        tensor = helper.make_tensor_type_proto(elem, None)
        kind = helper.make_optional_type_proto(tensor)
        start, state, result = self.fresh("p"), self.fresh("p"), self.fresh("p")
        value = self.vector(block, self.tensor(block, elem))
        self.kinds.add(f"optional of type {elem}")
        if self.chance(0.5):
            block.nodes.append(helper.make_node("Optional", [], [start], type=tensor))
        else:
            block.nodes.append(helper.make_node("Optional", [value.name], [start]))
        count, go, most = self.trips(block)
        number, on = self.value("i", I64), self.value("c", BOOL)
        inner = block.inner(number)
        held = self.held(inner, state, elem, value)
        inner.values.append(held)
        self.inside(inner)
        flag, graphs = self.flag(inner), []
        for way in range(2):
            branch = inner.inner()
            branch.nodes = []
            name, full = self.fresh("p"), way or self.chance(0.3)
            if full:
                new = self.vector(branch, self.tensor(branch, elem))
                branch.nodes.append(helper.make_node("Optional", [new.name], [name]))
            elif self.chance(0.5):
                branch.nodes.append(helper.make_node("Identity", [state], [name]))
            else:
                branch.nodes.append(helper.make_node("Optional", [], [name], type=tensor))
            out = helper.make_value_info(name, kind)
            graphs.append(helper.make_graph(branch.nodes, self.fresh("g"), [], [out]))
        after = self.fresh("p")
        inner.nodes.append(
            helper.make_node(
                "If", [flag.name], [after], then_branch=graphs[0], else_branch=graphs[1]
            )
        )
        kept = self.going_on(inner, number, on, most)
        body = helper.make_graph(
            inner.nodes, self.fresh("g"),
            [self.declared(number), self.declared(on), helper.make_value_info(state, kind)],
            [self.declared(kept), helper.make_value_info(after, kind)],
        )  # fmt: skip
        inputs = [count.name if count else "", go.name if go else "", start]
        block.nodes.append(helper.make_node("Loop", inputs, [result], body=body))
        return [self.held(block, result, elem, value)]

    def held(self, block: Block, name: str, elem: int, other: Value) -> Value:
        """What an optional holds, or else another vector."""
        has = self.value("b", BOOL)
        block.nodes.append(helper.make_node("OptionalHasElement", [name], [has.name]))
        full, empty = Block(), Block()
        got, none = self.value("v", elem, ["?"]), self.value("v", elem, ["?"])
        full.nodes.append(helper.make_node("OptionalGetElement", [name], [got.name]))
        self.append(empty, "Identity", [other], [none])
        made = self.value("v", elem, [self.fresh("d")])
        self.append(
            block, "If", [has], [made],
            then_branch=self.graph(full, [], [got]), else_branch=self.graph(empty, [], [none]),
        )  # fmt: skip
        return made
