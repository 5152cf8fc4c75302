# ===- _torch_forms.py - torch's graphs in forms that ONNX has --------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Rewrites exported programs into what torch's exporter to ONNX can write.

torch.tensor(1) in a body             aten.full, without detach_
attention of other ranks than four    products and a softmax (_torch_fused.py)
results that are no tensors           None: the caller knows them
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

from loopc._torch_fused import decompositions


def is_constant(spec: Any) -> bool:
    """Whether a result (a torch.export OutputSpec) is a value that is known, as None."""
    return type(spec.arg).__name__ == "ConstantArgument"


def prepare(program: Any) -> Any:
    """An exported program for torch.onnx; the one that was given stays as it is."""
    import torch

    calls = [node for node in nodes_of(program.graph_module) if node.op == "call_function"]
    constants = any(map(is_constant, program.graph_signature.output_specs))
    if constants or any(node.target is torch.ops.aten.detach_.default for node in calls):
        # What stays as it is, the weights above all, is shared.
        memo = {id(value): value for value in program.state_dict.values()}
        memo |= {id(value): value for value in program.constants.values()}
        program = copy.deepcopy(program, memo)
        for node in list(nodes_of(program.graph_module)):
            _write_constant(node)
        _leave_constants_out(program)
    calls = [node for node in nodes_of(program.graph_module) if node.op == "call_function"]
    fused = decompositions(calls)
    return program.run_decompositions(fused) if fused else program


def nodes_of(module: Any) -> Iterator[Any]:
    """The nodes of all graphs: those of bodies of loops, too."""
    import torch

    for part in module.modules():
        if isinstance(part, torch.fx.GraphModule):
            yield from part.graph.nodes


def _write_constant(node: Any) -> None:
    """Makes what `torch.tensor(...)` is in a graph a form that can be traced again."""
    import torch

    graph = node.graph
    if node.op == "get_attr":
        value = getattr(graph.owning_module, node.target, None)
        if not isinstance(value, torch.Tensor) or value.numel() != 1:
            return
        with graph.inserting_before(node):
            other = graph.call_function(
                torch.ops.aten.full.default,
                (list(value.shape), value.item()),
                {"dtype": value.dtype},
            )
    elif node.target is torch.ops.aten.detach_.default:
        other = node.args[0]
    else:
        return
    node.replace_all_uses_with(other)
    graph.erase_node(node)
    if node.op == "get_attr" and not graph.find_nodes(op="get_attr", target=node.target):
        delattr(graph.owning_module, node.target)
    graph.owning_module.recompile()


def _leave_constants_out(program: Any) -> None:
    (output,) = [node for node in program.graph.nodes if node.op == "output"]
    specs = program.graph_signature.output_specs
    output.args = (
        tuple(
            None if is_constant(spec) else value
            for spec, value in zip(specs, output.args[0], strict=True)
        ),
    )
    for spec in filter(is_constant, specs):
        spec.arg = type(spec.arg)(name=spec.arg.name, value=None)
