# ===- functions.py - Models whose nodes are in functions --------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Puts nodes of an ONNX model into functions of the model, and theirs into others.

Functions are of parts of the main graph, of bodies and of other functions. Their values have the
same few names in each, their attributes are given by callers or have defaults, nested ones hand
them on; two may have one name and differ in the overload, and each imports some version of the
operators that means the same.
"""

from __future__ import annotations

import copy
import itertools
import random
from collections.abc import Iterator, Sequence
from typing import Any

import onnx
from onnx import AttributeProto, GraphProto, NodeProto, helper
from random_checks import graphs

DOMAIN = "local"
#: Kinds of attributes that stay where they are.
FIXED = {
    AttributeProto.GRAPH, AttributeProto.GRAPHS, AttributeProto.TYPE_PROTO,
    AttributeProto.TYPE_PROTOS, AttributeProto.UNDEFINED,
}  # fmt: skip


def _held(node: NodeProto) -> Iterator[GraphProto]:
    for one in node.attribute:
        if one.type == AttributeProto.GRAPH:
            yield one.g


def reads(nodes: Sequence[NodeProto]) -> list[str]:
    """What nodes read that none of them makes, in the order of the first use."""
    made: set[str] = set()
    found: dict[str, None] = {}
    for node in nodes:
        names = [name for name in node.input if name]
        for graph in _held(node):
            own = {v.name for v in (*graph.input, *graph.initializer)}
            inner = {name for one in graph.node for name in one.output}
            names += [n for n in reads(graph.node) if n not in own]
            names += [v.name for v in graph.output if v.name not in own | inner]
        found.update(dict.fromkeys(name for name in names if name not in made))
        made.update(node.output)
    return list(found)


class Functions:
    """Makes functions of a model's nodes."""

    def __init__(self, proto: onnx.ModelProto, seed: int) -> None:
        self.proto, self.random = proto, random.Random(seed)
        self.number = 0
        proto.ir_version = max(proto.ir_version, 10)
        self.version = next(o.version for o in proto.opset_import if not o.domain)
        proto.opset_import.append(helper.make_opsetid(DOMAIN, 1))

    def import_version(self, nodes: Sequence[NodeProto]) -> int:
        """A version of ONNX's operators that means the same for all of them."""
        kinds = {
            (one.op_type, one.domain)
            for node in nodes
            for one in (node, *(n for g in _held(node) for h in graphs(g) for n in h.node))
        }

        def fits(version: int) -> bool:
            try:
                return all(
                    onnx.defs.get_schema(op, version).since_version
                    == onnx.defs.get_schema(op, self.version).since_version
                    for op, domain in kinds
                    if not domain
                )
            except onnx.defs.SchemaError:
                return False

        least, most = 15, onnx.defs.onnx_opset_version()
        return self.random.choice([v for v in range(least, most + 1) if fits(v)] or [self.version])

    def wrap(self, nodes: list[NodeProto], needed: set[str], depth: int) -> list[NodeProto]:
        """The nodes, some of which are a function's: `needed` are read behind them."""
        if len(nodes) < 2:
            return nodes
        first = self.random.randrange(len(nodes))
        last = self.random.randint(first + 1, min(len(nodes), first + 8))
        inside, after = nodes[first:last], nodes[last:]
        used = needed | set(reads(after))
        results = [n for one in inside for n in one.output if n and n in used]
        if not results:
            return nodes
        self.random.shuffle(results)
        inputs = reads(inside)
        self.random.shuffle(inputs)
        call = self._function([copy.deepcopy(one) for one in inside], inputs, results, depth)
        return [*nodes[:first], call, *after]

    def _function(
        self, nodes: list[NodeProto], inputs: list[str], results: list[str], depth: int
    ) -> NodeProto:
        count = itertools.count()
        names = {name: f"v{next(count)}" for name in inputs}
        self._rename(nodes, names, count)
        if depth < 3:
            for _ in range(self.random.randint(0, 2)):
                nodes = self.wrap(nodes, {names[one] for one in results}, depth + 1)
        given, defaults = self._attributes(nodes)
        name, overload = self._name()
        imports = [helper.make_opsetid("", self.import_version(nodes)),
                   helper.make_opsetid(DOMAIN, 1)]  # fmt: skip
        domains = {o.domain for o in self.proto.opset_import} - {"", DOMAIN}
        imports += [o for o in self.proto.opset_import if o.domain in domains]
        function = helper.make_function(
            DOMAIN, name, [names[one] for one in inputs], [names[one] for one in results], nodes,
            imports, [one.name for one in given], defaults, overload=overload,
        )  # fmt: skip
        self.proto.functions.append(function)
        call = helper.make_node(name, inputs, results, domain=DOMAIN, overload=overload)
        call.attribute.extend(given)
        return call

    def _name(self) -> tuple[str, str]:
        self.number += 1
        if self.random.random() < 0.4:
            # As an operator of ONNX is called, or all of them alike.
            return self.random.choice(["Add", "Loop", "same"]), f"o{self.number}"
        return f"function{self.number}", ""

    def _rename(
        self, nodes: Sequence[NodeProto], names: dict[str, str], count: Iterator[int]
    ) -> None:
        for node in nodes:
            node.input[:] = [name and names[name] for name in node.input]
            for graph in _held(node):
                inner = dict(names)
                for value in (*graph.input, *graph.initializer):
                    inner[value.name] = f"v{next(count)}"
                    value.name = inner[value.name]
                self._rename(graph.node, inner, count)
                del graph.value_info[:]
                for value in graph.output:
                    value.name = inner[value.name]
            for name in filter(None, node.output):
                names[name] = f"v{next(count)}"
            node.output[:] = [name and names[name] for name in node.output]

    def _attributes(
        self, nodes: Sequence[NodeProto]
    ) -> tuple[list[AttributeProto], list[AttributeProto]]:
        """Takes attributes out of nodes: what the caller gives, and defaults."""
        every = [
            node
            for one in nodes
            for node in (one, *(n for g in _held(one) for h in graphs(g) for n in h.node))
        ]
        given, defaults = [], []
        for node in every:
            for attribute in node.attribute:
                kept = attribute.type in FIXED or attribute.ref_attr_name
                if kept or self.random.random() < 0.6:
                    continue
                parameter = copy.deepcopy(attribute)
                parameter.name = f"a{len(given) + len(defaults)}"
                (given if self.random.random() < 0.7 else defaults).append(parameter)
                name, kind = attribute.name, attribute.type
                attribute.Clear()
                attribute.name, attribute.type = name, kind
                attribute.ref_attr_name = parameter.name
        return given, defaults


def in_functions(
    proto: onnx.ModelProto, seed: int
) -> tuple[onnx.ModelProto, dict[str, Any]] | None:
    """A model some of whose nodes are in functions; None where it has too few."""
    made = copy.deepcopy(proto)
    if made.functions or any(o.domain == DOMAIN for o in made.opset_import):
        return None
    writer = Functions(made, seed)
    places = [graph for graph in graphs(made.graph) if len(graph.node) > 1]
    for graph in places:
        for _ in range(writer.random.randint(0, 3)):
            needed = {value.name for value in graph.output}
            nodes = writer.wrap(list(graph.node), needed, 0)
            del graph.node[:], graph.value_info[:]
            graph.node.extend(nodes)
    return (made, {}) if made.functions else None
