# ===- _torch_forms.py - torch's graphs in forms that ONNX has --------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Rewrites exported programs into what torch's exporter to ONNX can write.

torch.tensor(1) in a body             aten.full, without detach_
attention of other ranks than four    products and a softmax
results that are no tensors           None: the caller knows them
nn.RNN                                RNN: torch would write its steps out, for one length
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from typing import Any


def is_constant(spec: Any) -> bool:
    """Whether a result (a torch.export OutputSpec) is a value that is known, as None."""
    return type(spec.arg).__name__ == "ConstantArgument"


def prepare(program: Any) -> Any:
    """An exported program for torch.onnx; the one that was given stays as it is."""
    import torch

    attention = torch.ops.aten.scaled_dot_product_attention.default
    calls = [node for node in _nodes(program.graph_module) if node.op == "call_function"]
    constants = any(map(is_constant, program.graph_signature.output_specs))
    if constants or any(node.target is torch.ops.aten.detach_.default for node in calls):
        # What stays as it is, the weights above all, is shared.
        memo = {id(value): value for value in program.state_dict.values()}
        memo |= {id(value): value for value in program.constants.values()}
        program = copy.deepcopy(program, memo)
        for node in list(_nodes(program.graph_module)):
            _write_constant(node)
        _leave_constants_out(program)
    if any(node.target is attention and node.args[0].meta["val"].dim() != 4 for node in calls):
        program = program.run_decompositions({attention: _attention})
    return program


def _attention(q: Any, k: Any, v: Any, mask: Any = None, *others: Any, **options: Any) -> Any:
    """aten.scaled_dot_product_attention by products."""
    import torch

    math = torch.ops.aten._scaled_dot_product_attention_math.default
    dropout, causal = (*others, 0.0, False)[:2] if others else (0.0, False)
    causal = options.pop("is_causal", causal)
    return math(q, k, v, mask, options.pop("dropout_p", dropout), causal, None, **options)[0]


def _nodes(module: Any) -> Iterator[Any]:
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


def recurrent_translations() -> dict[Any, Callable[..., Any]]:
    """Translations of nn.RNN for torch's exporter, which has those of nn.GRU and nn.LSTM."""
    import torch

    def translate(activation: str) -> Callable[..., Any]:
        def write(
            x: Any, start: Any, weights: Sequence[Any], has_biases: bool, num_layers: int,
            dropout: float, train: bool, bidirectional: bool, batch_first: bool,
        ) -> tuple[Any, Any]:  # fmt: skip
            return _write_rnn(
                activation, x, start, weights, has_biases, num_layers, bidirectional, batch_first
            )

        return write

    aten = torch.ops.aten
    return {aten.rnn_tanh.input: translate("Tanh"), aten.rnn_relu.input: translate("Relu")}


def _write_rnn(
    activation: str,
    x: Any,
    start: Any,
    weights: Sequence[Any],
    has_biases: bool,
    num_layers: int,
    bidirectional: bool,
    batch_first: bool,
) -> tuple[Any, Any]:
    """The RNN operators of the layers of nn.RNN: rows, and the states at the end.

    `weights` has for each layer and direction those of the input and of the state, then
    both biases, if there are any.
    """
    from onnxscript.onnx_opset import opset18 as op

    directions, each = (2 if bidirectional else 1), (4 if has_biases else 2)
    rows = op.Transpose(x, perm=[1, 0, 2]) if batch_first else x
    ends = []
    for layer in range(num_layers):
        first = layer * directions
        own = [weights[at * each : (at + 1) * each] for at in range(first, first + directions)]

        def stack(parts: list[Any]) -> Any:
            parts = [op.Unsqueeze(part, [0]) for part in parts]
            return op.Concat(*parts, axis=0) if len(parts) > 1 else parts[0]

        biases = [op.Concat(one[2], one[3], axis=0) for one in own] if has_biases else []
        y, end = op.RNN(
            rows,
            stack([one[0] for one in own]),
            stack([one[1] for one in own]),
            stack(biases) if biases else None,
            None,
            op.Slice(start, [first], [first + directions], [0]),
            activations=[activation] * directions,
            direction="bidirectional" if bidirectional else "forward",
            hidden_size=start.shape[2],
        )
        # From steps, directions, batch, units; 0 and -1: as it is, and what is left.
        rows = op.Reshape(op.Transpose(y, perm=[0, 2, 1, 3]), [0, 0, -1])
        ends.append(end)
    last = op.Concat(*ends, axis=0) if len(ends) > 1 else ends[0]
    return (op.Transpose(rows, perm=[1, 0, 2]) if batch_first else rows), last
