# ===- random_models.py - Random models with loops ----------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Models of loops, scans, branches and sequences within each other, from a seed.

`random_model(seed)` is the same model for the same seed. What it is about: state
of every type that swaps places, grows, or is a sequence; trip counts of zero, of
an input, of data, and none; conditions of data; branches of different shapes;
values captured from several levels out; scans over any axis, in any direction and
over nothing; values of any rank; functions; and the forms that nodes had in older
operator sets.

random_operators.py, random_movement.py and random_layers.py make the nodes that are not
control flow.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
from onnx import helper
from random_layers import LAYER_STEPS, Layers
from random_movement import MOVEMENT_STEPS
from random_operators import (
    BOOL,
    F16,
    F32,
    F64,
    FLOATS,
    I32,
    I64,
    STEPS,
    Array,
    Block,
    Dim,
    Step,
    Value,
    put,
    without,
)

#: Operator sets, the newest most often, with the version of the file that knows them.
OPSETS = {21: 10, 16: 8, 13: 7, 11: 6, 9: 4, 8: 3}
EXTENTS = (1, 2, 3, 4, 5, 7, 8, 16, 17, 33)


@dataclasses.dataclass(frozen=True)
class RandomModel:
    """A model, a value for each of its inputs, and the element type of every tensor by name.

    `ort_compat`: a Loop without a condition ends where its body yields false.
    """

    seed: int
    proto: onnx.ModelProto
    feeds: dict[str, Array]
    types: dict[str, int]
    ort_compat: bool = False


def random_model(seed: int) -> RandomModel:
    """The model of that number."""
    return Generator(seed).model()


class Generator(Layers):
    """Makes one model."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed, 0)
        self.seed = seed
        self.opset = self.random.choices(list(OPSETS), (10, 2, 2, 2, 1, 1))[0]
        self.dynamic = self.chance(0.6)
        self.extents = [self.random.choice(EXTENTS) for _ in range(3)]
        if self.chance(0.06):
            self.extents[0] = 0
        self.data = np.random.default_rng(self.random.randrange(1 << 30))
        self.inputs: list[Value] = []
        self.feeds: dict[str, Array] = {}
        self.functions: list[onnx.FunctionProto] = []
        self.depth = 0

    # -- Graphs -------------------------------------------------------------------

    def fill(self, block: Block, count: int) -> None:
        """Tries to make so many steps of any kind."""
        steps = self.steps()
        for step in self.random.choices(list(steps), list(steps.values()), k=count):
            made = step(self, block)
            if made is not None:
                block.add(made if isinstance(made, list) else [made])

    def steps(self) -> dict[Step, int]:
        """What may be made here, and how often in comparison."""
        steps: dict[Step, int] = STEPS | MOVEMENT_STEPS | LAYER_STEPS
        if self.depth < 3:
            steps |= {Generator.branch: 3, Generator.ranks: 1}
        if self.depth < 2:
            steps |= {Generator.loop: 2, Generator.scan: 2, Generator.growing: 1}
            steps |= {Generator.sequence: 1} if self.has(13) else {}
            steps |= {Generator.call: 1} if self.has(16) else {}
        return steps

    def info(self, value: Value, vague: float, unranked: float = 0.0) -> onnx.ValueInfoProto:
        """What a graph says of a value: so often no extents, or not even how many."""
        if value.sequence:
            return helper.make_tensor_sequence_value_info(value.name, value.elem, None)
        doubt = self.random.random()
        if doubt < unranked:
            return helper.make_tensor_value_info(value.name, value.elem, None)
        shape = [
            dim if isinstance(dim, int) and doubt >= vague else self.fresh("q")
            for dim in value.shape
        ]
        return helper.make_tensor_value_info(value.name, value.elem, shape)

    def graph(self, block: Block, inputs: Sequence[Value], outputs: Sequence[Value]) -> Any:
        """The graph of a node."""
        return helper.make_graph(
            block.nodes,
            self.fresh("g"),
            [self.info(value, 0.2, 0.06) for value in inputs],
            [self.info(value, 0.25, 0.08) for value in outputs],
        )

    def identity(self, block: Block, value: Value) -> Value:
        """The value under another name, as graphs want it that yield what they did not make."""
        return self.like(block, "Identity", value)

    def next_state(self, block: Block, state: Value) -> Value:
        """Some value of a state's type and shape, of the later ones rather."""
        some = [v for v in block.values if v.elem == state.elem and v.shape == state.shape]
        chosen = self.random.choice(some[-4:])
        if state.elem in FLOATS and (state.elem == F16 or self.chance(0.7)):
            return self.damped(block, chosen)
        return self.identity(block, chosen)

    # -- Branches -------------------------------------------------------------------

    def branch(self, block: Block) -> list[Value]:
        """An If of one or two results, whose branches agree on their shapes, or not."""
        condition = self.flag(block)
        wanted = [self.any_value(block) for _ in range(self.random.randrange(1, 3))]
        differ = self.has(11) and self.chance(0.3)
        self.depth += 1
        graphs, yields = [], []
        for _ in range(2):
            inner = block.inner()
            self.fill(inner, self.random.randrange(4))
            made = []
            for value in wanted:
                if differ:
                    other = self.pick(
                        inner,
                        lambda v, w=value: v.elem == w.elem and v.rank == w.rank,  # type: ignore[misc]
                    )
                    made.append(self.identity(inner, other or value))
                else:
                    made.append(self.next_state(inner, value))
            graphs.append(self.graph(inner, [], made))
            yields.append(made)
        self.depth -= 1
        results = [
            dataclasses.replace(one, shape=self.joined(one.shape, other.shape))
            for one, other in zip(*yields, strict=True)
        ]
        both = {"then_branch": graphs[0], "else_branch": graphs[1]}
        return self.node(block, "If", [condition], results, **both)

    def joined(self, one: Sequence[Dim], other: Sequence[Dim]) -> tuple[Dim, ...]:
        """What is known of a shape that is one or the other."""
        pairs = zip(one, other, strict=True)
        return tuple(a if a == b else self.fresh("d") for a, b in pairs)

    def any_value(self, block: Block) -> Value:
        """A value of any type; every graph has one."""
        value = self.pick(block, lambda v: True)
        assert value is not None
        return value

    def ranks(self, block: Block) -> list[Value] | None:
        """What comes of an If whose branches differ in rank, and then of a Loop."""
        one, other = (self.pick(block, lambda v: v.elem == F32) for _ in range(2))
        if one is None or other is None or not self.has(13):
            return None
        made = []
        for value in (one, other):
            inner = block.inner()
            result = [self.like(inner, "Neg", value)]
            made.append(helper.make_graph(inner.nodes, self.fresh("g"), [], self.unranked(result)))
        state = self.op(
            block, "If", [self.flag(block)], F32, (), then_branch=made[0], else_branch=made[1]
        )
        factor = self.const(block, 0.8, F32)
        if self.chance(0.6):
            inner = block.inner()
            number, given, carried = (
                self.value("i", I64), self.value("p", BOOL), self.value("s", F32),
            )  # fmt: skip
            following = self.damped(inner, self.like(inner, "Mul", carried, factor))
            if self.chance(0.4):
                following = self.like(inner, "Add", following, carried)
            if self.chance(0.3):
                axis = self.const(inner, [0])
                following = self.op(inner, "Unsqueeze", [following, axis], F32, ())
            results = [self.identity(inner, given), following]
            inputs = [self.info(v, 0) for v in (number, given)] + self.unranked([carried])
            body = helper.make_graph(
                inner.nodes, self.fresh("g"), inputs,
                [self.info(results[0], 0), *self.unranked(results[1:])],
            )  # fmt: skip
            count = self.const(block, self.random.randrange(4))
            [state] = self.node(block, "Loop", [count, None, state], [state], body=body)
        scaled = self.like(block, "Mul", state, factor)
        flat = self.op(block, "Reshape", [scaled, self.const(block, [-1])], F32, [self.fresh("d")])
        return [flat, self.number(block, scaled), self.op(block, "Size", [state], I64, ())]

    @staticmethod
    def unranked(values: Sequence[Value]) -> list[onnx.ValueInfoProto]:
        """What a graph says of values whose rank it does not know."""
        return [helper.make_tensor_value_info(v.name, v.elem, None) for v in values]

    def call(self, block: Block) -> list[Value] | None:
        """A function of the model, which may have loops of its own, called once or twice."""
        some = [self.any_value(block) for _ in range(self.random.randrange(1, 4))]
        arguments = [self.value("a", v.elem, v.shape) for v in some]
        inner = Block([], list(arguments))
        self.depth += 1
        self.fill(inner, self.random.randrange(2, 6))
        self.depth -= 1
        made = inner.values[len(arguments) :]
        results = self.random.sample(made, min(len(made), self.random.randrange(1, 3)))
        if not results:
            return None
        name, opsets = self.fresh("f"), [helper.make_opsetid("", self.opset)]
        opsets.append(helper.make_opsetid("local", 1))
        self.functions.append(
            helper.make_function(
                "local", name, [v.name for v in arguments], [v.name for v in results],
                inner.nodes, opsets,
            )
        )  # fmt: skip
        values = self.node(block, name, some, results, domain="local")
        if self.chance(0.3):
            # Extents that are not known are others in the second call.
            again = [
                dataclasses.replace(
                    v, shape=tuple(d if isinstance(d, int) else self.fresh("d") for d in v.shape)
                )
                for v in results
            ]
            values += self.node(block, name, some, again, domain="local")
        return values

    # -- Loops ----------------------------------------------------------------------

    def states(self, block: Block, most: int) -> list[Value]:
        """Values that a loop begins with; often two of one type and shape."""
        first = [self.any_value(block) for _ in range(self.random.randrange(1, most + 1))]
        if self.chance(0.4):
            first.append(self.random.choice(first))
        return first

    def trips(self, block: Block) -> tuple[Value, int | None]:
        """A trip count, and its number where it is not of data."""
        count = self.random.choice((0, 1, 2, 3, 5, 9) if self.depth else (0, 1, 2, 4, 7, 11))
        how = self.random.random()
        if how < 0.25:
            return self.index(block, self.random.randrange(1, 7)), None
        if how < 0.35:
            number = self.number(block, self.any_value(block))
            scaled = self.op(block, "Mul", [number, self.const(block, 3.7, F32)], F32, ())
            return self.cast(block, scaled, I64), None
        if how < 0.7 and not self.depth:
            given = self.value("M", I64)
            self.inputs.append(given)
            self.feeds[given.name] = np.asarray(count, np.int64)
            return given, count
        return self.const(block, count), count

    def begin(self, block: Block) -> tuple[Value | None, Value | None, int | None, bool]:
        """Trip count, condition, the trips where known, and whether the body must end it."""
        count, known = self.trips(block)
        how = self.random.random()
        if how < 0.12:
            # No trip count: the body's condition ends the loop.
            return None, self.const(block, True, BOOL), None, True
        if how < 0.5:
            return count, None, known, False
        if how < 0.85:
            return count, self.const(block, self.chance(0.93), BOOL), None, False
        return count, self.flag(block), None, False

    def condition(self, inner: Block, number: Value, given: Value, must_end: bool) -> Value:
        """The condition that a body yields."""
        limit = self.const(inner, self.random.randrange(8))
        how = self.random.random()
        if must_end or how < 0.25:
            if not self.has(9):  # Comparisons were of floats only.
                number, limit = (self.cast(inner, v, F32) for v in (number, limit))
            less = self.op(inner, "Less", [number, limit], BOOL, ())
            return self.op(inner, "And", [less, self.flag(inner)], BOOL, ()) if how < 0.1 else less
        if how < 0.5:
            return self.identity(inner, self.flag(inner))
        return self.identity(inner, given)

    def loop(self, block: Block) -> list[Value]:
        """A Loop with some states and collected values."""
        count, condition, known, must_end = self.begin(block)
        initial = self.states(block, 3)
        number, given = self.value("i", I64), self.value("p", BOOL)
        carried = [self.value("s", v.elem, v.shape) for v in initial]
        inner = block.inner(*carried, number)
        self.depth += 1
        self.fill(inner, self.random.randrange(2, 8))
        following = [self.next_state(inner, state) for state in carried]
        if self.chance(0.3):
            following = self.swapped(inner, carried, following)
        goes_on = self.condition(inner, number, given, must_end)
        collected = self.collected(inner)
        self.depth -= 1
        if condition is None:
            length: Dim = self.fresh("d") if known is None else known
        else:
            length = self.fresh("d")
        body = self.graph(inner, [number, given, *carried], [goes_on, *following, *collected])
        rows = [dataclasses.replace(v, shape=(length, *v.shape)) for v in collected]
        inputs = [count, condition, *initial]
        return self.node(block, "Loop", inputs, [*following, *rows], body=body)

    def swapped(self, inner: Block, states: list[Value], following: list[Value]) -> list[Value]:
        """Some of the next states are old ones, of other places."""
        made = list(following)
        for place, state in enumerate(states):
            same = [v for v in states if v.elem == state.elem and v.shape == state.shape]
            if len(same) > 1 and self.chance(0.7):
                # A body may yield what it was given as it is.
                chosen = self.random.choice(same)
                fresh = chosen.name in {v.name for v in made} or self.chance(0.6)
                made[place] = self.identity(inner, chosen) if fresh else chosen
        return made

    def collected(self, inner: Block, least: int = 0) -> list[Value]:
        """Some values of a body that are collected."""
        some = [v for v in inner.values if not v.sequence and v.small]
        count = min(len(some), self.random.randrange(least, 3))
        return [self.identity(inner, v) for v in self.random.sample(some[-8:], min(count, 8))]

    def growing(self, block: Block) -> list[Value] | None:
        """A Loop whose state grows by what each iteration finds."""
        state = self.pick(block, lambda v: v.elem == F32)
        if state is None:
            return None
        width, axis = self.random.choice(self.extents), self.random.randrange(2)
        elem = self.random.choice((F32, F32, F64, I32))
        shape = put((width, width), axis, self.random.randrange(3))
        values = self.data.integers(-3, 4, [int(dim) for dim in shape])
        initial = [self.const(block, values, elem), state]
        count, condition, _, must_end = self.begin(block)
        number, given = self.value("i", I64), self.value("p", BOOL)
        grown = self.value("w", elem, put(shape, axis, self.fresh("d")))
        carried = self.value("s", F32, state.shape)
        inner = block.inner(carried, number)
        self.depth += 1
        self.fill(inner, self.random.randrange(1, 4))
        row = self.cast(inner, self.number(inner, self.any_value(inner)), elem)
        extents = self.const(inner, put(shape, axis, 1))
        row = self.op(inner, "Expand", [row, extents], elem, put(shape, axis, 1))
        parts = [grown, row] if self.chance(0.8) else [row, grown]
        longer = self.op(inner, "Concat", parts, elem, put(shape, axis, self.fresh("d")), axis=axis)
        seen = self.number(inner, self.random.choice((grown, longer)))
        following = self.damped(inner, self.op(inner, "Add", [carried, seen], F32, state.shape))
        inner.add([seen, following])
        goes_on = self.condition(inner, number, given, must_end)
        collected = self.collected(inner)
        self.depth -= 1
        body = self.graph(
            inner, [number, given, grown, carried], [goes_on, longer, following, *collected]
        )
        length = self.fresh("d")
        rows = [dataclasses.replace(v, shape=(length, *v.shape)) for v in collected]
        results = [longer, following, *rows]
        # One that makes no trip yields what it began with.
        results[0] = dataclasses.replace(longer, shape=put(shape, axis, self.fresh("d")))
        return self.node(block, "Loop", [count, condition, *initial], results, body=body)

    def sequence(self, block: Block) -> list[Value] | None:
        """A Loop that carries a sequence, and what is read of it then."""
        state = self.pick(block, lambda v: v.elem in (F32, F64, I64) and v.rank > 0)
        if state is None:
            return None
        elem = state.elem
        [empty] = self.node(block, "SequenceEmpty", [], [self.list_of(state)], dtype=elem)
        count, condition, _, must_end = self.begin(block)
        number, given = self.value("i", I64), self.value("p", BOOL)
        carried = self.value("s", elem, state.shape)
        listed = dataclasses.replace(self.value("l", elem), sequence=True, shape=state.shape)
        inner = block.inner(carried, number)
        self.depth += 1
        self.fill(inner, self.random.randrange(1, 5))
        item = self.pick(inner, lambda v: v.elem == elem and v.shape == state.shape)
        place = [self.const(inner, 0)] if self.chance(0.3) else []
        [longer] = self.node(inner, "SequenceInsert", [listed, item, *place], [listed])
        if self.chance(0.3):
            [longer] = self.node(inner, "SequenceInsert", [longer, carried], [listed])
            if self.chance(0.5):
                [longer] = self.node(inner, "SequenceErase", [longer], [listed])
        if self.chance(0.5):
            at = self.const(inner, self.random.choice((0, -1)))
            inner.add(self.node(inner, "SequenceAt", [longer, at], [state]))
        following = self.next_state(inner, carried)
        goes_on = self.condition(inner, number, given, must_end)
        self.depth -= 1
        body = self.graph(inner, [number, given, listed, carried], [goes_on, longer, following])
        found, last = self.node(
            block, "Loop", [count, condition, empty, state], [listed, following], body=body
        )
        return [last, *self.read_sequence(block, found, last)]

    @staticmethod
    def list_of(value: Value) -> Value:
        """A sequence of such tensors."""
        return dataclasses.replace(value, sequence=True)

    def read_sequence(self, block: Block, found: Value, item: Value) -> list[Value]:
        """Tensors made of a sequence that may be empty: `item` is inserted first."""
        size = self.op(block, "SequenceLength", [found], I64, ())
        [some] = self.node(block, "SequenceInsert", [found, item], [found])
        at = self.const(block, self.random.choice((0, -1)))
        made = [size, *self.node(block, "SequenceAt", [some, at], [item])]
        axis, new = self.random.randrange(item.rank), self.random.randrange(2)
        dim = self.fresh("d")
        shape = (*item.shape[:axis], dim, *item.shape[axis:])
        if not new:
            shape = put(item.shape, axis, dim)
        joined = self.op(
            block, "ConcatFromSequence", [some], item.elem, shape, axis=axis, new_axis=new
        )
        return [*made, joined]

    # -- Scans ----------------------------------------------------------------------

    def scan(self, block: Block) -> list[Value] | None:
        """A Scan over one or two values, in any direction and along any axis."""
        first = self.pick(block, lambda v: v.rank > 0)
        if first is None:
            return None
        if not self.has(9):
            return self.batched_scan(block)
        axis = self.random.randrange(first.rank)
        length = first.shape[axis]
        read = [(first, axis)]
        for _ in range(self.random.randrange(3)):
            other = self.pick(block, lambda v: length in v.shape)
            assert other is not None
            axes = [at for at, dim in enumerate(other.shape) if dim == length]
            read.append((other, self.random.choice(axes)))
        initial = self.states(block, 2) if self.chance(0.8) else []
        body, following, collected = self.scan_body(
            block, initial, [(v.elem, without(v.shape, at)) for v, at in read]
        )
        at = [self.random.randrange(v.rank + 1) for v in collected]
        rows = [
            dataclasses.replace(v, shape=(*v.shape[:k], length, *v.shape[k:]))
            for v, k in zip(collected, at, strict=True)
        ]
        negative = self.has(11) and self.chance(0.3)
        attributes: dict[str, Any] = {
            "scan_input_axes": [k - v.rank if negative else k for v, k in read],
            "scan_input_directions": [self.random.randrange(2) for _ in read],
            "scan_output_axes": at,
            "scan_output_directions": [self.random.randrange(2) for _ in rows],
        }
        if not rows:
            del attributes["scan_output_axes"], attributes["scan_output_directions"]
        return self.node(
            block,
            "Scan",
            [*initial, *(value for value, _ in read)],
            [*following, *rows],
            body=body,
            num_scan_inputs=len(read),
            **attributes,
        )

    def scan_body(
        self,
        block: Block,
        initial: Sequence[Value],
        slices: Sequence[tuple[int, Sequence[Dim]]],
    ) -> tuple[onnx.GraphProto, list[Value], list[Value]]:
        """A Scan's body, its next states and what it collects."""
        carried = [self.value("s", v.elem, v.shape) for v in initial]
        parts = [self.value("e", elem, shape) for elem, shape in slices]
        inner = block.inner(*carried, *parts)
        self.depth += 1
        self.fill(inner, self.random.randrange(1, 7))
        following = [self.next_state(inner, state) for state in carried]
        if self.chance(0.3):
            following = self.swapped(inner, carried, following)
        collected = self.collected(inner, 0 if carried else 1)
        self.depth -= 1
        graph = self.graph(inner, [*carried, *parts], [*following, *collected])
        return graph, following, collected

    def batched_scan(self, block: Block) -> list[Value] | None:
        """The Scan of operator set 8: over a batch of sequences, each of a length of its own."""
        source = self.pick(block, lambda v: v.elem == F32 and v.full and v.rank > 0)
        if source is None:
            return None
        batch, length = self.random.randrange(1, 4), source.extents[0]
        initial = [self.any_value(block) for _ in range(self.random.randrange(1, 3))]
        body, following, collected = self.scan_body(block, initial, [(F32, source.shape[1:])])
        lengths = None
        if self.chance(0.5):
            counts = [self.random.randrange(1, length + 1) for _ in range(batch)]
            lengths = self.const(block, counts)
        inputs = [lengths, *(self.stacked(block, v, batch) for v in (*initial, source))]
        results = [dataclasses.replace(v, shape=(batch, *v.shape)) for v in following]
        results += [dataclasses.replace(v, shape=(batch, length, *v.shape)) for v in collected]
        directions = [self.random.randrange(2)]
        return self.node(
            block, "Scan", inputs, results, body=body, num_scan_inputs=1, directions=directions
        )

    def stacked(self, block: Block, value: Value, batch: int) -> Value:
        """Some values like one, one behind the other."""
        rows = []
        for row in range(batch):
            changed = self.damped(block, value) if row and value.elem in FLOATS else value
            rows.append(self.unsqueeze(block, changed, 0))
        return self.op(block, "Concat", rows, value.elem, (batch, *value.shape), axis=0)

    # -- The model ------------------------------------------------------------------

    def model(self) -> RandomModel:
        """Inputs, some loops, and what else there is around them."""
        block = Block()
        block.add(self.given())
        self.fill(block, self.random.randrange(4))
        loops: list[Step] = [Generator.loop, Generator.scan, Generator.growing]
        weights = [5, 3, 2]
        if self.has(13):
            loops.append(Generator.sequence)
            weights.append(2)
        for step in self.random.choices(loops, weights, k=self.random.randrange(1, 3)):
            made = step(self, block)
            block.add(made if isinstance(made, list) else [])
        self.fill(block, self.random.randrange(4))
        names = {value.name for value in self.inputs}
        outputs = [value for value in block.values if value.name not in names][-7:]
        if not outputs:
            outputs = [self.identity(block, block.values[0])]
        graph = helper.make_graph(
            block.nodes,
            "random",
            [self.input_info(value) for value in self.inputs],
            [self.info(value, 1.0) for value in outputs],
        )
        opsets = [helper.make_opsetid("", self.opset)]
        opsets += [helper.make_opsetid("local", 1)] if self.functions else []
        proto = helper.make_model(
            graph,
            opset_imports=opsets,
            ir_version=OPSETS[self.opset],
            functions=self.functions,
        )
        return RandomModel(self.seed, proto, self.feeds, self.types)

    def given(self) -> list[Value]:
        """The inputs that the model begins with."""
        made = []
        for _ in range(self.random.randrange(2, 5)):
            rank = self.random.choice((0, 1, 2, 2, 3))
            shape = [self.random.choice(self.extents) for _ in range(rank)]
            elem = self.random.choices((F32, F64, F16, I32, I64, BOOL), (12, 1, 1, 1, 1, 1))[0]
            made.append(self.value("x", elem, shape))
        if all(value.elem != F32 for value in made):
            made.append(self.value("x", F32, [self.random.choice(self.extents)]))
        made.append(self.value("n", I64))
        for value in made:
            self.inputs.append(value)
            self.feeds[value.name] = self.random_values(value)
        return made

    def random_values(self, value: Value) -> Array:
        """Numbers for an input."""
        dtype = helper.tensor_dtype_to_np_dtype(value.elem)
        if value.elem in FLOATS:
            return np.asarray(self.data.standard_normal(value.extents), dtype)
        most = 2 if value.elem == BOOL else 5
        return np.asarray(self.data.integers(0, most, value.extents), dtype)

    def input_info(self, value: Value) -> onnx.ValueInfoProto:
        """An input's type: equal extents have one name where shapes are dynamic."""
        shape = [f"D{dim}" if self.dynamic and self.chance(0.8) else dim for dim in value.shape]
        return helper.make_tensor_value_info(value.name, value.elem, shape)
