# ===- _torch_recurrent.py - torch's recurrent layers ------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Translations of recurrent layers, which torch's exporter to ONNX has not, or wrong.

nn.RNN                                RNN: torch would write its steps out, for one length
nn.LSTM with projections              LSTM, whose rows are projected
any of them, of an open length        as it is (`any_length`)
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from loopc._torch_forms import nodes_of

#: One thread at a time changes what torch knows of its operators.
_LOCK = threading.RLock()


@contextlib.contextmanager
def any_length() -> Iterator[None]:
    """While torch captures a graph: the types of recurrent layers, without their steps.

    torch finds them by going through the steps of the example, whose number it then takes
    for the only one. The layers themselves stay operators of the graph.
    """
    import torch

    def one_state(x: Any, state: Any, *more: Any) -> tuple[Any, Any]:
        *_, is_bidirectional, _ = more
        width = state.shape[2] * (2 if is_bidirectional else 1)
        return x.new_empty([x.shape[0], x.shape[1], width]), state.new_empty(state.shape)

    def two_states(x: Any, states: Sequence[Any], *more: Any) -> tuple[Any, Any, Any]:
        rows, state = one_state(x, states[0], *more)
        return rows, state, states[1].new_empty(states[1].shape)

    aten = torch.ops.aten
    kernels = {
        aten.lstm.input: two_states,
        aten.gru.input: one_state,
        aten.rnn_tanh.input: one_state,
        aten.rnn_relu.input: one_state,
    }
    with _LOCK, _kernels(kernels), _table(kernels), _without_torch_loops():
        yield


@contextlib.contextmanager
def _kernels(kernels: dict[Any, Callable[..., Any]]) -> Iterator[None]:
    """Kernels in the place of those that are written in Python."""
    before = {operator: dict(operator.py_kernels) for operator in kernels}
    try:
        for operator, kernel in kernels.items():
            operator.py_kernels.update(dict.fromkeys(before[operator], kernel))
            operator._dispatch_cache.clear()
        yield
    finally:
        for operator, known in before.items():
            operator.py_kernels.update(known)
            operator._dispatch_cache.clear()


@contextlib.contextmanager
def _table(kernels: dict[Any, Callable[..., Any]]) -> Iterator[None]:
    """The same in the table that is asked when a captured graph is written anew."""
    from torch._decomp import decomposition_table

    before = {one: decomposition_table[one] for one in kernels if one in decomposition_table}
    try:
        decomposition_table.update({one: kernels[one] for one in before})
        yield
    finally:
        decomposition_table.update(before)


@contextlib.contextmanager
def _without_torch_loops() -> Iterator[None]:
    """torch's exporter to ONNX must not put loops of its own in the place of layers."""
    from torch.onnx._internal.exporter import _capture_strategies, _core

    name = "patch_dynamic_shape_rnn_decompositions"
    known = {one: getattr(one, name) for one in (_core, _capture_strategies) if hasattr(one, name)}
    try:
        for module in known:
            setattr(module, name, lambda dynamic: contextlib.nullcontext())
        yield
    finally:
        for module, function in known.items():
            setattr(module, name, function)


def recurrent_translations(program: Any) -> dict[Any, Callable[..., Any]]:
    """Translations for torch's exporter, which has nn.GRU, and nn.LSTM without projections."""
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
    found = {aten.rnn_tanh.input: translate("Tanh"), aten.rnn_relu.input: translate("Relu")}
    if any(map(_is_projected, nodes_of(program.graph_module))):
        found[aten.lstm.input] = _write_lstm
    return found


def _is_projected(node: Any) -> bool:
    """Whether a node is an LSTM whose state is a projection (`proj_size`)."""
    import torch

    if node.target is not torch.ops.aten.lstm.input:
        return False
    states = [state.meta["val"] for state in node.args[1]]
    return bool(states[0].shape[2] != states[1].shape[2])


def _write_lstm(
    x: Any, states: Sequence[Any], weights: Sequence[Any], has_biases: bool, num_layers: int,
    dropout: float, train: bool, bidirectional: bool, batch_first: bool,
) -> tuple[Any, Any, Any]:  # fmt: skip
    """nn.LSTM of which some layers have projections: rows, and both states at the end.

    `weights` has for each layer and direction those of the input and of the state, both
    biases, if there are any, and the projection, if there is one.
    """
    from onnxscript.onnx_opset import opset18 as op

    directions = 2 if bidirectional else 1
    each = len(weights) // (num_layers * directions)
    rows = op.Transpose(x, perm=[1, 0, 2]) if batch_first else x
    ends: list[Any] = []
    cells: list[Any] = []
    for layer in range(num_layers):
        made = []
        for at in range(layer * directions, (layer + 1) * directions):
            own = list(weights[at * each : (at + 1) * each])
            starts = [op.Slice(state, [at], [at + 1], [0]) for state in states]
            y, end, cell = _write_projected(
                rows, starts, own, has_biases, states[1].shape[2], reverse=at % directions == 1
            )
            made.append(y)
            ends.append(end)
            cells.append(cell)
        rows = op.Concat(*made, axis=2) if len(made) > 1 else made[0]
    rows = op.Transpose(rows, perm=[1, 0, 2]) if batch_first else rows
    return rows, op.Concat(*ends, axis=0), op.Concat(*cells, axis=0)


def _write_projected(
    rows: Any, starts: Sequence[Any], weights: Sequence[Any], has_biases: bool, units: int,
    reverse: bool,
) -> tuple[Any, Any, Any]:  # fmt: skip
    """One direction of one layer, whose state is P h of what ONNX's LSTM has as its state, h.

    R (P h) is (R P) h, for all steps but the first: the state that is given there is an input
    of the first step that is read, beside x, with the weights R.
    """
    from onnxscript.onnx_opset import opset18 as op

    def order(matrix: Any) -> Any:
        # torch has the gates input, forget, cell, output, ONNX input, output, forget, cell.
        i, f, g, o = (
            op.Slice(matrix, [gate * units], [(gate + 1) * units], [0]) for gate in range(4)
        )
        return op.Concat(i, o, f, g, axis=0)

    of_input, of_state = order(weights[0]), order(weights[1])
    projection = weights[-1]
    biases = [op.Concat(order(weights[2]), order(weights[3]), axis=0)] if has_biases else [None]
    # The steps after the first that is read hold zeros there.
    others = op.Sub(op.Shape(rows, start=0, end=1), op.Constant(value_ints=[1]))
    none = op.Constant(value_ints=[0])
    pads = op.Concat(others, none, axis=0) if reverse else op.Concat(none, others, axis=0)
    begin = op.Pad(starts[0], pads, None, op.Constant(value_ints=[0]))
    y, end, cell = op.LSTM(
        op.Concat(rows, begin, axis=2),
        op.Unsqueeze(op.Concat(of_input, of_state, axis=1), [0]),
        op.Unsqueeze(op.MatMul(of_state, projection), [0]),
        op.Unsqueeze(biases[0], [0]) if has_biases else None,
        None,
        None,
        starts[1],
        direction="reverse" if reverse else "forward",
        hidden_size=units,
    )
    into = op.Transpose(projection, perm=[1, 0])
    return op.MatMul(op.Squeeze(y, [1]), into), op.MatMul(end, into), cell


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
