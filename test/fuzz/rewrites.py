# ===- rewrites.py - Models written otherwise that mean the same ---------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Writes a node of an ONNX model, or all of it, in another way that means the same.

A rewrite of a node gives the nodes that take its place, with the same outputs, or None where it
cannot be written so. Loops are split into pieces, each of which carries the condition that the
body yielded last: it is no result of a Loop, and the next piece begins with it.

Names of values are unique in the whole model, as those of the random models are; what is copied
gets names of its own.
"""

from __future__ import annotations

import copy
import dataclasses
import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import onnx
from functions import in_functions
from onnx import (
    AttributeProto,
    GraphProto,
    NodeProto,
    TensorProto,
    ValueInfoProto,
    helper,
    numpy_helper,
)
from random_checks import graphs

#: What is written here is of these operator sets.
LEAST_OPSET = 16
_FOREVER = np.iinfo(np.int64).max


@dataclasses.dataclass(frozen=True)
class Loop:
    """What a Loop node is made of; M and the condition are "" where they are left out."""

    trips: str
    condition: str
    inits: tuple[str, ...]
    body: GraphProto
    #: Names of the last states and of the collected rows.
    last: tuple[str, ...]
    rows: tuple[str, ...]


#: What a piece of a loop leaves: the condition, the last states, the collected rows.
Piece = tuple[str, list[str], list[str]]


def attribute(node: NodeProto, name: str, default: Any = None) -> Any:
    """The value of an attribute."""
    found = [helper.get_attribute_value(one) for one in node.attribute if one.name == name]
    return found[0] if found else default


def subgraphs(node: NodeProto) -> list[AttributeProto]:
    """The attributes of a node that hold graphs."""
    return [one for one in node.attribute if one.type == AttributeProto.GRAPH]


class Writer:
    """Makes nodes with names of their own, and copies of nodes."""

    def __init__(self, proto: onnx.ModelProto, seed: int) -> None:
        self.proto = proto
        self.random = random.Random(seed)
        self._names = 0

    def fresh(self, prefix: str = "eq") -> str:
        """A name that nothing else has."""
        self._names += 1
        return f"{prefix}_{self._names}"

    def loose(self, info: ValueInfoProto) -> ValueInfoProto:
        """A value of the same kind, element type and rank, without extents."""
        made = copy.deepcopy(info)
        made.name = self.fresh()
        if made.type.HasField("tensor_type") and made.type.tensor_type.HasField("shape"):
            for dim in made.type.tensor_type.shape.dim:
                dim.dim_param = self.fresh()
        return made

    def op(self, nodes: list[NodeProto], kind: str, *inputs: str, **attributes: Any) -> str:
        """The result of a node that is added to some."""
        name = self.fresh()
        nodes.append(helper.make_node(kind, list(inputs), [name], **attributes))
        return name

    def const(self, nodes: list[NodeProto], value: Any, dtype: Any = np.int64) -> str:
        """A constant."""
        tensor = numpy_helper.from_array(np.asarray(value, dtype), self.fresh("tensor"))
        return self.op(nodes, "Constant", value=tensor)

    def scalar(self, nodes: list[NodeProto], value: str) -> str:
        """A tensor of one element as a scalar."""
        return self.op(nodes, "Reshape", value, self.const(nodes, np.zeros(0)))

    def graph(
        self,
        nodes: Sequence[NodeProto],
        inputs: Sequence[ValueInfoProto],
        outputs: Sequence[tuple[str, ValueInfoProto]],
    ) -> GraphProto:
        """A graph that yields values under names of their own, of the types of others."""
        made, infos = list(nodes), []
        for name, like in outputs:
            infos.append(copy.deepcopy(like))
            infos[-1].name = self.op(made, "Identity", name)
        return helper.make_graph(made, self.fresh("graph"), inputs, infos)

    # -- Copies -----------------------------------------------------------------------

    def inline(
        self, nodes: list[NodeProto], body: GraphProto, arguments: Sequence[str]
    ) -> list[str]:
        """The results of a copy of a graph's nodes, for arguments."""
        names = {info.name: name for info, name in zip(body.input, arguments, strict=True)}
        for tensor in body.initializer:
            names[tensor.name] = self.op(nodes, "Constant", value=tensor)
        nodes.extend(self._copied(body.node, names))
        return [names.get(info.name, info.name) for info in body.output]

    def _copied(self, nodes: Sequence[NodeProto], names: dict[str, str]) -> list[NodeProto]:
        made = []
        for node in nodes:
            one = copy.deepcopy(node)
            one.input[:] = [names.get(name, name) for name in node.input]
            for held in subgraphs(one):
                self._rename(held.g, names)
            for name in filter(None, node.output):
                names[name] = self.fresh()
            one.output[:] = [name and names[name] for name in node.output]
            made.append(one)
        return made

    def _rename(self, graph: GraphProto, outer: dict[str, str]) -> None:
        names = dict(outer)
        for value in (*graph.input, *graph.initializer):
            names[value.name] = self.fresh()
            value.name = names[value.name]
        nodes = self._copied(graph.node, names)
        del graph.node[:], graph.value_info[:]
        graph.node.extend(nodes)
        for info in graph.output:
            info.name = names.get(info.name, info.name)

    # -- Loops ------------------------------------------------------------------------

    def loop(self, node: NodeProto) -> Loop | None:
        """A Loop node's parts; None for one whose number and condition are no scalars."""
        body = attribute(node, "body")
        count = len(node.input) - 2
        for info in body.input[:2]:
            if info.type.tensor_type.HasField("shape") and info.type.tensor_type.shape.dim:
                return None
        names = [*node.output, *[""] * (len(body.output) - 1 - len(node.output))]
        names = [name or self.fresh() for name in names]
        return Loop(
            node.input[0], node.input[1], tuple(node.input[2:]), body,
            tuple(names[:count]), tuple(names[count:]),
        )  # fmt: skip

    def begin(self, nodes: list[NodeProto], loop: Loop) -> tuple[str, str]:
        """The trip count ("" without one) and the condition that the body sees first."""
        go = self.scalar(nodes, loop.condition) if loop.condition else ""
        trips = self.scalar(nodes, loop.trips) if loop.trips else ""
        return trips, go or self.const(nodes, True, np.bool_)

    def scalar_info(self, elem: int) -> ValueInfoProto:
        """A scalar under a name of its own."""
        return helper.make_tensor_value_info(self.fresh(), elem, [])

    def piece(
        self,
        nodes: list[NodeProto],
        loop: Loop,
        trips: str,
        go: str,
        inits: Sequence[str],
        offset: str = "",
        copies: int = 1,
    ) -> Piece:
        """A Loop that makes some iterations.

        Args:
            nodes: where it is added.
            loop: whose body it has.
            trips: how many iterations it makes at most, or "".
            go: what the condition is before the first.
            inits: what the states are before the first.
            offset: the number of the first, or "".
            copies: how many iterations of `loop` are one of it: of one with a condition only the
                first of them is sure to happen, and it collects nothing then.
        """
        number, given = self.scalar_info(TensorProto.INT64), self.scalar_info(TensorProto.BOOL)
        carried = self.scalar_info(TensorProto.BOOL)
        states = [self.loose(info) for info in loop.body.input[2:]]
        inner: list[NodeProto] = []
        at = number.name
        if copies > 1:
            at = self.op(inner, "Mul", at, self.const(inner, copies))
        if offset:
            at = self.op(inner, "Add", at, offset)
        following = [carried.name, *(info.name for info in states)]
        collected: list[list[str]] = []
        for k in range(copies):
            here = self.op(inner, "Add", at, self.const(inner, k)) if k else at
            if k and loop.condition:
                following = self._guarded(inner, loop, here, following)
                continue
            made = self.inline(inner, loop.body, [here, *following])
            following, rows = made[: 1 + len(states)], made[1 + len(states) :]
            following[0] = self.scalar(inner, following[0])
            collected.append(rows)
        rows = [self._stacked(inner, parts) for parts in zip(*collected, strict=True)]
        kinds = [self.rows_of(info, copies) if copies > 1 else info
                 for info in loop.body.output[1 + len(states) :]]  # fmt: skip
        yields = [(following[0], carried), *zip(following, (carried, *states), strict=True)]
        yields += zip(rows, kinds, strict=True)
        body = self.graph(inner, [number, given, carried, *states], yields)
        results = [self.fresh() for _ in body.output[1:]]
        condition = go if loop.condition else ""
        nodes.append(helper.make_node("Loop", [trips, condition, go, *inits], results, body=body))
        last, found = results[1 : 1 + len(states)], results[1 + len(states) :]
        if copies > 1:
            found = [self._flat(nodes, row) for row in found]
        return results[0], last, found

    def _guarded(
        self, nodes: list[NodeProto], loop: Loop, number: str, following: Sequence[str]
    ) -> list[str]:
        """One more iteration, if there is one: its condition and states, or those given."""
        kinds = [self.scalar_info(TensorProto.BOOL)]
        kinds += [self.loose(info) for info in loop.body.output[1 : len(following)]]
        inner: list[NodeProto] = []
        made = self.inline(inner, loop.body, [number, *following])
        made[0] = self.scalar(inner, made[0])
        results = [self.fresh() for _ in following]
        then = self.graph(inner, [], list(zip(made, kinds, strict=True)))
        other = self.graph([], [], list(zip(following, kinds, strict=True)))
        nodes.append(
            helper.make_node("If", [following[0]], results, then_branch=then, else_branch=other)
        )
        return results

    def _stacked(self, nodes: list[NodeProto], parts: Sequence[str]) -> str:
        if len(parts) == 1:
            return parts[0]
        rows = [self.op(nodes, "Unsqueeze", part, self.const(nodes, [0])) for part in parts]
        return self.op(nodes, "Concat", *rows, axis=0)

    def rows_of(self, info: ValueInfoProto, count: int | None = None) -> ValueInfoProto:
        """The type of so many rows; None: nobody knows of how many."""
        made = copy.deepcopy(info)
        made.type.tensor_type.shape.ClearField("dim")
        if not info.type.tensor_type.HasField("shape"):
            made.type.tensor_type.ClearField("shape")
            return made
        first = made.type.tensor_type.shape.dim.add()
        if count is None:
            first.dim_param = self.fresh()
        else:
            first.dim_value = count
        made.type.tensor_type.shape.dim.extend(info.type.tensor_type.shape.dim)
        return made

    def _flat(self, nodes: list[NodeProto], rows: str) -> str:
        """The first two axes as one, where there are rows."""
        inner: list[NodeProto] = []
        shape = self.op(inner, "Shape", rows)
        first = self.op(inner, "Gather", shape, self.const(inner, [0]))
        second = self.op(inner, "Gather", shape, self.const(inner, [1]))
        rest = self.op(inner, "Slice", shape, self.const(inner, [2]), self.const(inner, [99]))
        extents = self.op(inner, "Concat", self.op(inner, "Mul", first, second), rest, axis=0)
        flat = self.op(inner, "Reshape", rows, extents, allowzero=1)
        return self.either(nodes, self.is_empty(nodes, rows), ([], rows), (inner, flat))

    def is_empty(self, nodes: list[NodeProto], rows: str) -> str:
        """Whether there are no rows: their other extents may not be known then."""
        shape = self.op(nodes, "Shape", rows)
        count = self.op(nodes, "Gather", shape, self.const(nodes, 0))
        return self.op(nodes, "Equal", count, self.const(nodes, 0))

    def either(
        self,
        nodes: list[NodeProto],
        condition: str,
        one: tuple[list[NodeProto], str],
        other: tuple[list[NodeProto], str],
    ) -> str:
        """The value of one of two branches, of any rank."""
        unknown = ValueInfoProto()
        graphs = [self.graph(inner, [], [(value, unknown)]) for inner, value in (one, other)]
        return self.op(nodes, "If", condition, then_branch=graphs[0], else_branch=graphs[1])

    def joined(self, nodes: list[NodeProto], pieces: Sequence[list[str]]) -> list[str]:
        """Rows of one piece behind those of another; where one has none, those of the other."""
        made = []
        for first, second in zip(*pieces, strict=True):
            both: list[NodeProto] = []
            row = self.op(both, "Concat", first, second, axis=0)
            inner: list[NodeProto] = []
            row = self.either(inner, self.is_empty(inner, second), ([], first), (both, row))
            made.append(self.either(nodes, self.is_empty(nodes, first), ([], second), (inner, row)))
        return made

    def finish(
        self,
        nodes: list[NodeProto],
        names: Sequence[str],
        values: Sequence[str],
    ) -> None:
        """Gives values the names that others read."""
        for name, value in zip(names, values, strict=True):
            nodes.append(helper.make_node("Identity", [value], [name]))


#: What takes the place of a node, or None.
Rewrite = Callable[[Writer, NodeProto], list[NodeProto] | None]


def peel(writer: Writer, node: NodeProto) -> list[NodeProto] | None:
    """The first iteration in front of the others, where there is one."""
    loop = writer.loop(node)
    if loop is None:
        return None
    nodes: list[NodeProto] = []
    trips, go = writer.begin(nodes, loop)
    enter = go if loop.condition else writer.const(nodes, True, np.bool_)
    if trips:
        some = writer.op(nodes, "Greater", trips, writer.const(nodes, 0))
        enter = writer.op(nodes, "And", enter, some)
    once: list[NodeProto] = []
    made = writer.inline(once, loop.body, [writer.const(once, 0), go, *loop.inits])
    count = len(loop.inits)
    left = writer.op(once, "Sub", trips, writer.const(once, 1)) if trips else ""
    _, last, rest = writer.piece(
        once, loop, left, writer.scalar(once, made[0]), made[1 : 1 + count], writer.const(once, 1)
    )
    first = [
        writer.op(once, "Unsqueeze", row, writer.const(once, [0])) for row in made[1 + count :]
    ]
    rows = writer.joined(once, [first, rest])
    none: list[NodeProto] = []
    _, same, empty = writer.piece(none, loop, writer.const(none, 0), go, loop.inits)
    kinds = [writer.loose(info) for info in loop.body.output[1 : 1 + count]]
    kinds += [writer.rows_of(info) for info in loop.body.output[1 + count :]]
    then = writer.graph(once, [], list(zip([*last, *rows], kinds, strict=True)))
    other = writer.graph(none, [], list(zip([*same, *empty], kinds, strict=True)))
    results = [*loop.last, *loop.rows]
    nodes.append(helper.make_node("If", [enter], results, then_branch=then, else_branch=other))
    return nodes


def split(writer: Writer, node: NodeProto) -> list[NodeProto] | None:
    """The first few iterations in a loop of their own, the others behind it."""
    loop = writer.loop(node)
    if loop is None or not (loop.trips or loop.condition):
        return None
    nodes: list[NodeProto] = []
    trips, go = writer.begin(nodes, loop)
    few = writer.const(nodes, writer.random.choice((0, 1, 1, 2, 3)))
    if trips:
        few = writer.op(nodes, "Min", trips, few)
    go, states, first = writer.piece(nodes, loop, few, go, loop.inits)
    left = writer.op(nodes, "Sub", trips, few) if trips else ""
    _, last, rest = writer.piece(nodes, loop, left, go, states, few)
    writer.finish(nodes, loop.last, last)
    writer.finish(nodes, loop.rows, writer.joined(nodes, [first, rest]))
    return nodes


def unroll(writer: Writer, node: NodeProto) -> list[NodeProto] | None:
    """Two iterations in one, and a loop for what is left."""
    loop = writer.loop(node)
    if loop is None or (loop.condition and loop.rows):
        return None
    nodes: list[NodeProto] = []
    trips, go = writer.begin(nodes, loop)
    if not trips:
        if not loop.condition:
            return None
        _, last, _ = writer.piece(nodes, loop, "", go, loop.inits, copies=2)
        writer.finish(nodes, loop.last, last)
        return nodes
    two = writer.const(nodes, 2)
    half = writer.op(nodes, "Div", trips, two)
    even = writer.op(nodes, "Mul", half, two)
    go, states, first = writer.piece(nodes, loop, half, go, loop.inits, copies=2)
    left = writer.op(nodes, "Sub", trips, even)
    _, last, rest = writer.piece(nodes, loop, left, go, states, even)
    writer.finish(nodes, loop.last, last)
    writer.finish(nodes, loop.rows, writer.joined(nodes, [first, rest]))
    return nodes


def nest(writer: Writer, node: NodeProto) -> list[NodeProto] | None:
    """The loop in a loop of one iteration."""
    loop = writer.loop(node)
    if loop is None:
        return None
    number, given = (writer.scalar_info(e) for e in (TensorProto.INT64, TensorProto.BOOL))
    states = [writer.loose(info) for info in loop.body.input[2:]]
    inner = [copy.deepcopy(node)]
    inner[0].input[2:] = [info.name for info in states]
    inner[0].output[:] = [writer.fresh() for _ in (*loop.last, *loop.rows)]
    count = len(states)
    kinds = [given, *states]
    kinds += [writer.rows_of(info) for info in loop.body.output[1 + count :]]
    yields = list(zip([given.name, *inner[0].output], kinds, strict=True))
    body = writer.graph(inner, [number, given, *states], yields)
    nodes: list[NodeProto] = []
    one = writer.const(nodes, 1)
    stacked = [writer.fresh() for _ in loop.rows]
    results = [*loop.last, *stacked]
    nodes.append(helper.make_node("Loop", [one, "", *loop.inits], results, body=body))
    rows = [writer.op(nodes, "Squeeze", row, writer.const(nodes, [0])) for row in stacked]
    writer.finish(nodes, loop.rows, rows)
    return nodes


def as_while(writer: Writer, node: NodeProto) -> list[NodeProto] | None:
    """A trip count as a part of the condition; a loop without one gets the largest."""
    loop = writer.loop(node)
    if loop is None:
        return None
    nodes: list[NodeProto] = []
    trips, go = writer.begin(nodes, loop)
    if not trips:
        most = writer.const(nodes, _FOREVER)
        _, last, rows = writer.piece(nodes, loop, most, go, loop.inits)
        writer.finish(nodes, [*loop.last, *loop.rows], [*last, *rows])
        return nodes
    number, given = (writer.scalar_info(e) for e in (TensorProto.INT64, TensorProto.BOOL))
    carried = writer.scalar_info(TensorProto.BOOL)
    states = [writer.loose(info) for info in loop.body.input[2:]]
    inner: list[NodeProto] = []
    arguments = [number.name, carried.name, *(info.name for info in states)]
    made = writer.inline(inner, loop.body, arguments)
    made[0] = writer.scalar(inner, made[0])
    after = writer.op(inner, "Add", number.name, writer.const(inner, 1))
    more = writer.op(inner, "Less", after, trips)
    if loop.condition:
        more = writer.op(inner, "And", made[0], more)
    kinds = [given, carried, *loop.body.output[1:]]
    body = writer.graph(
        inner, [number, given, carried, *states], list(zip([more, *made], kinds, strict=True))
    )
    enter = writer.op(nodes, "Greater", trips, writer.const(nodes, 0))
    if loop.condition:
        enter = writer.op(nodes, "And", go, enter)
    results = [writer.fresh(), *loop.last, *loop.rows]
    nodes.append(helper.make_node("Loop", ["", enter, go, *loop.inits], results, body=body))
    return nodes


def outline(writer: Writer, node: NodeProto) -> list[NodeProto] | None:
    """The body's nodes in a function of the model."""
    body = attribute(node, "body")
    if body is None or not body.node or body.initializer:
        return None
    captured = sorted(_free(body))
    given = [info.name for info in body.input]
    made = {name for one in body.node for name in one.output}
    results = list(dict.fromkeys(info.name for info in body.output if info.name in made))
    if not results:
        return None
    name = writer.fresh("function")
    opsets = list(writer.proto.opset_import)
    if all(opset.domain != "local" for opset in opsets):
        writer.proto.opset_import.append(helper.make_opsetid("local", 1))
    imports = [opset for opset in writer.proto.opset_import]
    writer.proto.functions.append(
        helper.make_function("local", name, [*given, *captured], results, body.node, imports)
    )
    writer.proto.ir_version = max(writer.proto.ir_version, 8)
    changed = copy.deepcopy(node)
    graph = next(held.g for held in subgraphs(changed))
    del graph.node[:], graph.value_info[:]
    graph.node.append(helper.make_node(name, [*given, *captured], results, domain="local"))
    return [changed]


def _free(graph: GraphProto) -> set[str]:
    """What a graph reads of the graphs around it."""
    known = {value.name for value in (*graph.input, *graph.initializer)}
    found: set[str] = set()
    for node in graph.node:
        read = set(node.input).union(*(_free(held.g) for held in subgraphs(node)))
        found |= {name for name in read if name} - known
        known |= set(node.output)
    return found | ({info.name for info in graph.output} - known)


def scan_as_loop(writer: Writer, node: NodeProto) -> list[NodeProto] | None:
    """A Scan as a Loop that reads its rows by number, and turns round what it collects."""
    body = attribute(node, "body")
    read = attribute(node, "num_scan_inputs")
    count = len(node.input) - read
    collected = body.output[count:]
    names = [*node.output, *[""] * (len(body.output) - len(node.output))]
    names = [name or writer.fresh() for name in names]
    if not all(info.type.tensor_type.HasField("shape") for info in collected):
        return None
    axes = attribute(node, "scan_input_axes", [0] * read)
    backwards = attribute(node, "scan_input_directions", [0] * read)
    into = attribute(node, "scan_output_axes", [0] * len(collected))
    reversed_rows = attribute(node, "scan_output_directions", [0] * len(collected))
    nodes: list[NodeProto] = []
    shape = writer.op(nodes, "Shape", node.input[count])
    trips = writer.op(nodes, "Gather", shape, writer.const(nodes, axes[0]))
    number, given = (writer.scalar_info(e) for e in (TensorProto.INT64, TensorProto.BOOL))
    states = [writer.loose(info) for info in body.input[:count]]
    inner: list[NodeProto] = []
    parts = []
    last = writer.op(nodes, "Sub", trips, writer.const(nodes, 1))
    for name, axis, backward in zip(node.input[count:], axes, backwards, strict=True):
        at = writer.op(inner, "Sub", last, number.name) if backward else number.name
        parts.append(writer.op(inner, "Gather", name, at, axis=axis))
    made = writer.inline(inner, body, [*(info.name for info in states), *parts])
    yields = list(zip([given.name, *made], [given, *body.output], strict=True))
    graph = writer.graph(inner, [number, given, *states], yields)
    rows = [writer.fresh() for _ in collected]
    inputs = [trips, "", *node.input[:count]]
    nodes.append(helper.make_node("Loop", inputs, [*names[:count], *rows], body=graph))
    for name, row, info, axis, backward in zip(
        names[count:], rows, collected, into, reversed_rows, strict=True
    ):
        if backward:
            ends = (writer.const(nodes, [one]) for one in (-1, -_FOREVER, 0, -1))
            row = writer.op(nodes, "Slice", row, *ends)
        rank = len(info.type.tensor_type.shape.dim) + 1
        order = list(range(1, rank))
        order.insert(axis % rank, 0)
        turned: list[NodeProto] = []
        moved = writer.op(turned, "Transpose", row, perm=order)
        row = writer.either(nodes, writer.is_empty(nodes, row), ([], row), (turned, moved))
        writer.finish(nodes, [name], [row])
    return nodes


def where(writer: Writer, node: NodeProto) -> list[NodeProto] | None:
    """Both branches of an If, and a Where of what each yields."""
    then, other = attribute(node, "then_branch"), attribute(node, "else_branch")
    if any(subgraphs(one) or one.domain for g in (then, other) for one in g.node):
        return None
    for one, two in zip(then.output, other.output, strict=True):
        types = [info.type.tensor_type for info in (one, two)]
        if not all(kind.HasField("shape") for kind in types):
            return None
        extents = [[dim.dim_value for dim in kind.shape.dim] for kind in types]
        known = all(dim.HasField("dim_value") for kind in types for dim in kind.shape.dim)
        if not known or extents[0] != extents[1]:
            return None
    nodes: list[NodeProto] = []
    condition = writer.scalar(nodes, node.input[0])
    made = [writer.inline(nodes, graph, []) for graph in (then, other)]
    for name, one, two in zip(node.output, *made, strict=True):
        if name:
            nodes.append(helper.make_node("Where", [condition, one, two], [name]))
    return nodes


#: By the operator that each is for.
NODE_REWRITES: dict[str, tuple[str, Rewrite]] = {
    "peel": ("Loop", peel),
    "split": ("Loop", split),
    "unroll": ("Loop", unroll),
    "nest": ("Loop", nest),
    "while": ("Loop", as_while),
    "outline": ("Loop", outline),
    "outline a scan": ("Scan", outline),
    "scan as loop": ("Scan", scan_as_loop),
    "where": ("If", where),
}


def rewrite_node(
    proto: onnx.ModelProto, name: str, seed: int, failing: frozenset[str] = frozenset()
) -> onnx.ModelProto | None:
    """A copy of a model with one node written otherwise, chosen by a seed; None if none can be.

    Args:
        proto: the model.
        name: of NODE_REWRITES.
        seed: chooses.
        failing: operators that can end a run, which no branch may have that is always computed.
    """
    made = copy.deepcopy(proto)
    kind, rewrite = NODE_REWRITES[name]
    writer = Writer(made, seed)
    places = [
        (graph, at)
        for graph in graphs(made.graph)
        for at, node in enumerate(graph.node)
        if node.op_type == kind and not node.domain
    ]
    writer.random.shuffle(places)
    for graph, at in places:
        node = graph.node[at]
        if name == "where" and any(
            one.op_type in failing for held in subgraphs(node) for one in held.g.node
        ):
            continue
        nodes = rewrite(writer, node)
        if nodes is not None:
            all_nodes = [*graph.node[:at], *nodes, *graph.node[at + 1 :]]
            del graph.node[:], graph.value_info[:]
            graph.node.extend(all_nodes)
            return made
    return None


# -- Inputs --------------------------------------------------------------------------

#: A model, and what its new inputs are given.
Fed = tuple[onnx.ModelProto, dict[str, Any]]


def constants_as_inputs(proto: onnx.ModelProto, seed: int) -> Fed | None:
    """Some constants of the model as inputs."""
    made, draw = copy.deepcopy(proto), random.Random(seed)
    places = [
        (graph, node)
        for graph in graphs(made.graph)
        for node in graph.node
        if node.op_type == "Constant" and node.attribute[0].name == "value"
    ]
    if not places:
        return None
    feeds = {}
    for graph, node in draw.sample(places, min(len(places), draw.choice((1, 2, 4)))):
        tensor = node.attribute[0].t
        if tensor.data_type == TensorProto.STRING:
            continue
        name = node.output[0]
        feeds[name] = numpy_helper.to_array(tensor)
        info = helper.make_tensor_value_info(name, tensor.data_type, list(tensor.dims))
        made.graph.input.append(info)
        graph.node.remove(node)
    return (made, feeds) if feeds else None


def open_extents(proto: onnx.ModelProto, seed: int) -> Fed | None:
    """The inputs' known extents as open ones, each with a name of its own; not all of them."""
    made, draw = copy.deepcopy(proto), random.Random(seed)
    changed = 0
    for info in made.graph.input:
        for axis, dim in enumerate(info.type.tensor_type.shape.dim):
            if dim.HasField("dim_value") and draw.random() < 0.8:
                dim.dim_param = f"{info.name}_{axis}"
                changed += 1
    if not changed:
        return None
    for graph in graphs(made.graph):
        del graph.value_info[:]
    # What was known of results may not be any more.
    for info in made.graph.output:
        if info.type.HasField("tensor_type"):
            for axis, dim in enumerate(info.type.tensor_type.shape.dim):
                dim.dim_param = f"{info.name}_{axis}"
    return made, {}


MODEL_REWRITES: dict[str, Callable[[onnx.ModelProto, int], Fed | None]] = {
    "constants as inputs": constants_as_inputs,
    "open extents": open_extents,
    "functions": in_functions,
}
