# ===- shrink.py - A smaller model that fails the same way -===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Takes out of a model what it does not need to fail: outputs, nodes, states, inputs."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Iterator

import onnx
from random_checks import graphs
from random_models import RandomModel

#: Whether a model still fails.
Fails = Callable[[RandomModel], bool]
#: A change of a model in place; False where there is nothing to change at that place.
Change = Callable[[onnx.ModelProto], bool]


def shrink(model: RandomModel, fails: Fails, report: Callable[[str], None]) -> RandomModel:
    """A model with as little as possible in it for which `fails` is true.

    Args:
        model: one that fails.
        fails: asked of models that may be invalid, which must be false for them.
        report: told of progress, in a line.
    """
    smaller = True
    while smaller:
        smaller = False
        for kind in (_outputs, _nodes, _bypasses, _states, _collected):
            place = 0
            changes = list(kind(model.proto))
            while place < len(changes):
                candidate = _changed(model, changes[place], fails)
                if candidate is not None:
                    model, smaller = candidate, True
                    report(f"{_size(model.proto)} nodes")
                    # Places have moved: what comes next is where this one was.
                    changes = list(kind(model.proto))
                else:
                    place += 1
    return _without_inputs(model, fails)


def _changed(model: RandomModel, change: Change, fails: Fails) -> RandomModel | None:
    """The model after a change, if it fails: at best without what is not read then."""
    proto = copy.deepcopy(model.proto)
    if not change(proto):
        return None
    pruned = copy.deepcopy(proto)
    prune(pruned)
    for one in (proto,) if pruned == proto else (pruned, proto):
        candidate = dataclasses.replace(model, proto=one)
        if fails(candidate):
            return candidate
    return None


def _size(proto: onnx.ModelProto) -> int:
    return sum(len(graph.node) for graph in graphs(proto.graph))


def prune(proto: onnx.ModelProto) -> None:
    """Takes out nodes that nobody reads. Names are of one value in the whole model."""
    removed = True
    while removed:
        removed = False
        read = {value.name for graph in graphs(proto.graph) for value in graph.output}
        read |= {name for graph in graphs(proto.graph) for n in graph.node for name in n.input}
        for graph in graphs(proto.graph):
            kept = [node for node in graph.node if read & set(node.output)]
            if len(kept) < len(graph.node):
                del graph.node[:]
                graph.node.extend(kept)
                removed = True
                break


def _outputs(proto: onnx.ModelProto) -> Iterator[Change]:
    def change(place: int) -> Change:
        def remove(changed: onnx.ModelProto) -> bool:
            del changed.graph.output[place]
            return len(changed.graph.output) > 0

        return remove

    yield from (change(place) for place in range(len(proto.graph.output)))


def _places(proto: onnx.ModelProto) -> Iterator[tuple[int, int, onnx.NodeProto]]:
    """Graph, node and the node itself."""
    for at, graph in enumerate(graphs(proto.graph)):
        for place, node in enumerate(graph.node):
            yield at, place, node


def _graph(proto: onnx.ModelProto, at: int) -> onnx.GraphProto:
    return list(graphs(proto.graph))[at]


def _nodes(proto: onnx.ModelProto) -> Iterator[Change]:
    def change(at: int, place: int) -> Change:
        def remove(changed: onnx.ModelProto) -> bool:
            del _graph(changed, at).node[place]
            return True

        return remove

    yield from (change(at, place) for at, place, _ in _places(proto))


def _bypasses(proto: onnx.ModelProto) -> Iterator[Change]:
    """What a node makes is read of one of its inputs instead."""

    def change(name: str, instead: str) -> Change:
        def replace(changed: onnx.ModelProto) -> bool:
            if any(v.name == name for g in graphs(changed.graph) for v in g.output):
                return False
            for graph in graphs(changed.graph):
                for node in graph.node:
                    for place, read in enumerate(node.input):
                        if read == name:
                            node.input[place] = instead
            return True

        return replace

    for _, _, node in _places(proto):
        if len(node.output) == 1 and node.op_type not in ("Constant", "Loop", "Scan"):
            yield from (change(node.output[0], name) for name in node.input if name)


def _body(node: onnx.NodeProto) -> onnx.GraphProto:
    [body] = [attribute.g for attribute in node.attribute if attribute.name == "body"]
    assert isinstance(body, onnx.GraphProto)
    return body


def _carried(node: onnx.NodeProto) -> int:
    """How many states a loop has."""
    if node.op_type == "Loop":
        return len(node.input) - 2
    [read] = [int(a.i) for a in node.attribute if a.name == "num_scan_inputs"]
    return len(node.input) - read


def _states(proto: onnx.ModelProto) -> Iterator[Change]:
    def change(at: int, place: int, state: int) -> Change:
        def remove(changed: onnx.ModelProto) -> bool:
            node = _graph(changed, at).node[place]
            body = _body(node)
            into, out = (2, 1) if node.op_type == "Loop" else (0, 0)
            if len(node.output) < 2 or len(node.output) != len(body.output) - out:
                return False
            del node.input[into + state], body.input[into + state]
            del node.output[state], body.output[out + state]
            return True

        return remove

    for at, place, node in _places(proto):
        if node.op_type in ("Loop", "Scan"):
            yield from (change(at, place, state) for state in range(_carried(node)))


def _collected(proto: onnx.ModelProto) -> Iterator[Change]:
    def change(at: int, place: int, row: int) -> Change:
        def remove(changed: onnx.ModelProto) -> bool:
            node = _graph(changed, at).node[place]
            states = _carried(node)
            if len(node.output) < 2:
                return False
            del node.output[states + row]
            del _body(node).output[states + row + (node.op_type == "Loop")]
            for attribute in node.attribute:
                if attribute.name.startswith("scan_output_"):
                    del attribute.ints[row]
            return True

        return remove

    for at, place, node in _places(proto):
        if node.op_type in ("Loop", "Scan"):
            rows = len(node.output) - _carried(node)
            yield from (change(at, place, row) for row in range(rows))


def _without_inputs(model: RandomModel, fails: Fails) -> RandomModel:
    for name in list(model.feeds):
        proto = copy.deepcopy(model.proto)
        kept = [value for value in proto.graph.input if value.name != name]
        del proto.graph.input[:]
        proto.graph.input.extend(kept)
        feeds = {key: value for key, value in model.feeds.items() if key != name}
        candidate = dataclasses.replace(model, proto=proto, feeds=feeds)
        if fails(candidate):
            model = candidate
    return model
