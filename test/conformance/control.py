# ===- control.py - Which models hold control flow or collections -===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Which models hold control flow or collections, as written or once functions are expanded."""

from __future__ import annotations

import enum
import re
from collections.abc import Iterable, Iterator
from typing import Any, cast

import onnx
from onnx import FunctionProto, GraphProto, ModelProto, NodeProto, TypeProto, defs

CONTROL = re.compile(r"Loop|Scan|If|Sequence\w+|Optional\w*|SplitToSequence|ConcatFromSequence")

#: Function bodies in function bodies that are looked into.
MAX_DEPTH = 4

Types = dict[str, TypeProto]


class Control(enum.IntEnum):
    """Where the control flow or the collection is."""

    NONE = 0
    EXPANDED = 1  # in the function body of an operator's schema
    WRITTEN = 2  # in the model itself: a node, or a type


def control_of(model: ModelProto) -> Control:
    """How a model holds control flow or collections."""
    if _is_written(model):
        return Control.WRITTEN
    opsets = {o.domain: o.version for o in model.opset_import}
    local = {(f.domain, f.name): f for f in model.functions}
    if _expands(model.graph.node, opsets, _types(model), local, MAX_DEPTH):
        return Control.EXPANDED
    return Control.NONE


def _is_written(model: ModelProto) -> bool:
    bodies = [model.graph.node, *(f.node for f in model.functions)]
    if any(_is_control(node) for nodes in bodies for node in _all_nodes(nodes)):
        return True
    return any(
        info.type.WhichOneof("value") in ("sequence_type", "optional_type")
        for graph in _graphs(model.graph)
        for info in (*graph.input, *graph.output, *graph.value_info)
    )


def _is_control(node: NodeProto) -> bool:
    return node.domain in ("", "ai.onnx") and bool(CONTROL.fullmatch(node.op_type))


def _subgraphs(node: NodeProto) -> Iterator[GraphProto]:
    for attribute in node.attribute:
        if attribute.HasField("g"):
            yield attribute.g
        yield from attribute.graphs


def _all_nodes(nodes: Iterable[NodeProto]) -> Iterator[NodeProto]:
    for node in nodes:
        yield node
        for graph in _subgraphs(node):
            yield from _all_nodes(graph.node)


def _graphs(graph: GraphProto) -> Iterator[GraphProto]:
    yield graph
    for node in graph.node:
        for inner in _subgraphs(node):
            yield from _graphs(inner)


def _types(model: ModelProto) -> Types:
    """The types of the main graph's values, as far as they are known."""
    try:
        model = onnx.shape_inference.infer_shapes(model)
    except onnx.shape_inference.InferenceError:
        pass  # A body that depends on types is then not expanded.
    graph = model.graph
    types = {v.name: v.type for v in (*graph.input, *graph.value_info, *graph.output)}
    for tensor in graph.initializer:
        types[tensor.name] = onnx.helper.make_tensor_type_proto(tensor.data_type, tensor.dims)
    return types


def _expands(
    nodes: Iterable[NodeProto],
    opsets: dict[str, int],
    types: Types,
    local: dict[tuple[str, str], FunctionProto],
    depth: int,
) -> bool:
    for node in _all_nodes(nodes):
        if _is_control(node):
            return True
        body = local.get((node.domain, node.op_type)) or _schema_body(node, opsets, types)
        if body is None or depth == 0:
            continue
        inner = {o.domain: o.version for o in body.opset_import} or opsets
        if _expands(body.node, inner, {}, local, depth - 1):
            return True
    return False


def _schema_body(node: NodeProto, opsets: dict[str, int], types: Types) -> FunctionProto | None:
    """The function body of a node's operator; None where it has none for these types."""
    version = opsets.get(node.domain, 1)
    try:
        # The stubs lack the members about functions.
        schema: Any = defs.get_schema(node.op_type, version, node.domain)
    except defs.SchemaError:
        return None
    if schema.has_function:
        return cast(FunctionProto, schema.function_body)
    versions = schema.context_dependent_function_opset_versions
    if not versions:
        return None
    fitting = max((v for v in versions if v <= version), default=max(versions))
    inputs = [types[i].SerializeToString() if i in types else b"" for i in node.input]
    try:
        data = schema.get_context_dependent_function_with_opset_version(
            fitting, node.SerializeToString(), inputs
        )
    except (RuntimeError, ValueError):
        return None
    return cast(FunctionProto, FunctionProto.FromString(data))
