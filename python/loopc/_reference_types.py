# ===- _reference_types.py - Types of what loops collect --------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""The shapes that a loop would have collected, had it made a trip (loop_zero).

``onnx.shape_inference`` does the operators. It knows too little about loops: it
drops the shapes of carried values, takes a value that a body yields directly by
its (missing) declaration, and does not look at constants of outer graphs. So a
copy of the model is rewritten first, and the inference repeated to a fixpoint.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import onnx
import onnx.shape_inference
from onnx import (
    AttributeProto,
    FunctionProto,
    GraphProto,
    ModelProto,
    NodeProto,
    TensorProto,
    TypeProto,
)

#: Dimensions; None in the list is an unknown one, None for the list an unknown rank.
Dims = list[int | None] | None

KEY = "loopc.reference.key"


def subgraphs(node: NodeProto) -> Iterator[tuple[str, GraphProto]]:
    """The graphs in a node's attributes, by the attributes' names."""
    for attribute in node.attribute:
        if attribute.type == AttributeProto.GRAPH:
            yield attribute.name, attribute.g
        for graph in attribute.graphs:
            yield attribute.name, graph


def add_keys(model: ModelProto) -> None:
    """Gives every Loop and Scan a number by which it is found in copies of the model."""
    for number, (_, node) in enumerate(_loops(model.graph)):
        node.metadata_props.add(key=KEY, value=str(number))


def key_of(node: NodeProto) -> str:
    """The number that add_keys gave to a node."""
    return str(next(p.value for p in node.metadata_props if p.key == KEY))


def collected_types(model: ModelProto) -> dict[str, list[tuple[int, Dims]]]:
    """Element type and dimensions of one iteration's collected values, by the loop's key.

    Declared shapes of bodies are hints only (name_declared) and are dropped; what
    nothing else tells of a collected value is as its output declares. A dimension of
    a carried value stays known while init and yield agree.
    """
    declared = {key_of(node): _collected_outputs(node) for _, node in _loops(model.graph)}
    work = ModelProto()
    work.CopyFrom(model)
    yield_by_identity(work.graph)
    _share_constants(work.graph, {})
    loops = list(_loops(work.graph))
    for _, node in loops:
        _forget_shapes(node)
    carried: dict[tuple[str, int], Dims] = {}
    # A rank that is not known may only be not known yet (an inner loop's result
    # waits for the outer loop's values): at first such ranks are passed over.
    for final in (False, True):
        while True:
            inferred = _nodes_with_types(onnx.shape_inference.infer_shapes(work, data_prop=True))
            if not _update(loops, inferred, carried, final):
                break
    collected = {}
    for key, (node, _) in inferred.items():
        collected[key] = [
            (o.type.tensor_type.elem_type, _filled(_dims(o.type), _dims(said.type)))
            for o, said in zip(_collected_outputs(node), declared[key], strict=True)
        ]
    return collected


def _collected_outputs(node: NodeProto) -> list[onnx.ValueInfoProto]:
    """The outputs of the body of `node` whose values are collected."""
    first = len(_carried_ports(node)) + (node.op_type == "Loop")
    return list(dict(subgraphs(node))["body"].output)[first:]


def _filled(dims: Dims, declared: Dims) -> Dims:
    """What is known, and of the rest what is declared."""
    if dims is None or declared is None:
        return declared if dims is None else dims
    if len(dims) != len(declared):
        return dims
    return [b if a is None else a for a, b in zip(dims, declared, strict=True)]


def _update(
    loops: list[tuple[GraphProto, NodeProto]],
    inferred: Mapping[str, tuple[NodeProto, dict[str, TypeProto]]],
    carried: dict[tuple[str, int], Dims],
    final: bool,
) -> bool:
    """One step towards the fixpoint: lowers what is known of carried values."""
    changed = False
    for graph, node in loops:
        key = key_of(node)
        seen, types = inferred[key]
        body, yields = dict(subgraphs(node))["body"], dict(subgraphs(seen))["body"].output
        for port, (operand, argument, yielded) in enumerate(_carried_ports(node)):
            init = types.get(node.input[operand], TypeProto())
            if not init.HasField("tensor_type"):
                continue
            is_known = (key, port) in carried
            known = carried.get((key, port))
            # None: not even the rank, because loops differ; it stays so.
            dims = known if is_known else _dims(init)
            if is_known:
                for other in (_dims(init), _dims(yields[yielded].type)):
                    if other is not None or final:
                        dims = _meet(dims, other)
            if dims == known:  # or nothing is known yet
                continue
            changed = True
            carried[key, port] = dims
            _set_type(body.input[argument], init.tensor_type.elem_type, dims)
            if port < len(node.output) and node.output[port]:
                _set_result(graph, node.output[port], init.tensor_type.elem_type, dims)
    return changed


def _loops(graph: GraphProto) -> Iterator[tuple[GraphProto, NodeProto]]:
    """Every Loop and Scan with the graph it stands in, outer ones first."""
    for node in graph.node:
        if node.domain in ("", "ai.onnx") and node.op_type in ("Loop", "Scan"):
            yield graph, node
        for _, inner in subgraphs(node):
            yield from _loops(inner)


def yield_by_identity(graph: GraphProto | FunctionProto) -> None:
    """Every output of a subgraph gets a name and a node of its own."""
    for node in graph.node:
        for _, inner in subgraphs(node):
            for number, output in enumerate(inner.output):
                fresh = f"{output.name}/yield{number}"
                inner.node.append(onnx.helper.make_node("Identity", [output.name], [fresh]))
                output.name = fresh
            yield_by_identity(inner)


def give_defaults(model: ModelProto) -> None:
    """Calls of the model's functions say each attribute that they leave to its default."""
    defaults = {(f.domain, f.name, f.overload): f.attribute_proto for f in model.functions}

    def visit(graph: GraphProto | FunctionProto) -> None:
        for node in graph.node:
            said = {attribute.name for attribute in node.attribute}
            for default in defaults.get((node.domain, node.op_type, node.overload), ()):
                if default.name not in said:
                    node.attribute.add().CopyFrom(default)
            for _, inner in subgraphs(node):
                visit(inner)

    for graph in (model.graph, *model.functions):
        visit(graph)


def _share_constants(graph: GraphProto, outer: Mapping[str, TensorProto]) -> None:
    """Copies constants into the subgraphs that see them."""
    visible = dict(outer)
    for name in [i.name for i in graph.input]:
        visible.pop(name, None)
    visible.update({t.name: t for t in graph.initializer})
    for node in graph.node:
        for attribute in node.attribute:
            if node.op_type == "Constant" and attribute.name == "value":
                visible[node.output[0]] = attribute.t
        for _, inner in subgraphs(node):
            _share_constants(inner, visible)
            used = {name for n in inner.node for name in n.input}
            own = {i.name for i in inner.input} | {t.name for t in inner.initializer}
            for name in sorted(used & visible.keys() - own):
                inner.initializer.add().CopyFrom(visible[name])
                inner.initializer[-1].name = name


def _forget_shapes(node: NodeProto) -> None:
    body = dict(subgraphs(node))["body"]
    body.ClearField("value_info")
    scalars = (TensorProto.INT64, TensorProto.BOOL) if node.op_type == "Loop" else ()
    for info in (*body.input[len(scalars) :], *body.output):
        info.type.tensor_type.ClearField("shape")
    for info, elem_type in zip(body.input, scalars, strict=False):
        _set_type(info, elem_type, _dims(info.type) or [])


def _carried_ports(node: NodeProto) -> list[tuple[int, int, int]]:
    """(operand, body input, body output) of each value that is carried."""
    if node.op_type == "Loop":
        return [(2 + i, 2 + i, 1 + i) for i in range(len(node.input) - 2)]
    body = dict(subgraphs(node))["body"]
    scanned = next(a.i for a in node.attribute if a.name == "num_scan_inputs")
    if len(node.input) > len(body.input):
        return []  # Scan 8: the batch axis is outside the body only.
    return [(i, i, i) for i in range(len(node.input) - scanned)]


def _nodes_with_types(model: ModelProto) -> dict[str, tuple[NodeProto, dict[str, TypeProto]]]:
    """Each loop's node, by its key, with the types that are visible where it stands."""
    found: dict[str, tuple[NodeProto, dict[str, TypeProto]]] = {}

    def visit(graph: GraphProto, outer: Mapping[str, TypeProto]) -> None:
        types = dict(outer)
        for tensor in graph.initializer:
            types[tensor.name] = onnx.helper.make_tensor_type_proto(
                tensor.data_type, list(tensor.dims)
            )
        for info in (*graph.value_info, *graph.input, *graph.output):
            types[info.name] = info.type
        for node in graph.node:
            if any(p.key == KEY for p in node.metadata_props):
                found[key_of(node)] = (node, types)
            for _, inner in subgraphs(node):
                visit(inner, types)

    visit(model.graph, {})
    return found


def _dims(declared: TypeProto) -> Dims:
    if not declared.tensor_type.HasField("shape"):
        return None
    dims = declared.tensor_type.shape.dim
    return [d.dim_value if d.HasField("dim_value") else None for d in dims]


def _meet(left: Dims, right: Dims) -> Dims:
    """What holds of both: dimensions that differ become unknown."""
    if left is None or right is None or len(left) != len(right):
        return None
    return [a if a == b else None for a, b in zip(left, right, strict=True)]


def _set_type(info: onnx.ValueInfoProto, elem_type: int, dims: Dims) -> None:
    info.type.tensor_type.elem_type = elem_type
    info.type.tensor_type.ClearField("shape")
    if dims is not None:
        info.type.tensor_type.shape.SetInParent()
        for dim in dims:
            added = info.type.tensor_type.shape.dim.add()
            if dim is not None:
                added.dim_value = dim


def _set_result(graph: GraphProto, name: str, elem_type: int, dims: Dims) -> None:
    """Says what a loop results in, which the inference does not find out."""
    for info in (*graph.output, *graph.value_info):
        if info.name == name:
            _set_type(info, elem_type, dims)
            return
    graph.value_info.add(name=name)
    _set_type(graph.value_info[-1], elem_type, dims)
