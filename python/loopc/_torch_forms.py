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
associative_scan of pointwise mode    a scan, whose body gives each value twice
results that are no tensors           None: the caller knows them
"""

from __future__ import annotations

import copy
import operator
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
    program, has_scans = _write_associative_scans(program)
    calls = [node for node in nodes_of(program.graph_module) if node.op == "call_function"]
    fused = decompositions(calls)
    # What was written anew has no types yet.
    return program.run_decompositions(fused) if fused or has_scans else program


def nodes_of(module: Any) -> Iterator[Any]:
    """The nodes of all graphs: those of bodies of loops, too."""
    import torch

    for part in module.modules():
        if isinstance(part, torch.fx.GraphModule):
            yield from part.graph.nodes


def _write_associative_scans(program: Any) -> tuple[Any, bool]:
    """Associative scans, along the first axis, as scans; and whether there are any."""
    import torch

    target = getattr(torch.ops.higher_order, "associative_scan", None)
    found = [node for node in nodes_of(program.graph_module) if node.target is target]
    if target is None or not found:
        return program, False
    memo = {id(value): value for value in program.state_dict.values()}
    memo |= {id(value): value for value in program.constants.values()}
    program = copy.deepcopy(program, memo)
    found = [node for node in nodes_of(program.graph_module) if node.target is target]
    for number, node in enumerate(found):
        _write_associative_scan(node, f"_loopc_combine_{number}")
    for module in program.graph_module.modules():
        if isinstance(module, torch.fx.GraphModule):
            module.recompile()
    return program, True


def _write_associative_scan(node: Any, name: str) -> None:
    """Begins with the first row, and combines each other one with what is known so far."""
    import torch

    aten = torch.ops.aten
    body, values, others = node.args
    graph, owner = node.graph, node.graph.owning_module
    combine = copy.deepcopy(getattr(owner, body.target))
    (output,) = [one for one in combine.graph.nodes if one.op == "output"]
    results = list(output.args[0])
    with combine.graph.inserting_before(output):
        twice = [combine.graph.call_function(aten.clone.default, (one,)) for one in results]
    output.args = ((*results, *twice),)
    combine.recompile()
    setattr(owner, name, combine)
    with graph.inserting_before(node):

        def call(function: Any, *args: Any) -> Any:
            return graph.call_function(function, args)

        first = [call(aten.slice.Tensor, one, 0, 0, 1) for one in values]
        rest = [call(aten.slice.Tensor, one, 0, 1, 2**63 - 1) for one in values]
        begin = [call(aten.select.int, one, 0, 0) for one in values]
        scan = call(torch.ops.higher_order.scan, graph.get_attr(name), begin, rest, tuple(others))
        joined = [
            call(aten.cat.default, [one, call(operator.getitem, scan, len(values) + at)], 0)
            for at, one in enumerate(first)
        ]
    for user in list(node.users):
        user.replace_all_uses_with(joined[user.args[1]])
        graph.erase_node(user)
    graph.erase_node(node)


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
