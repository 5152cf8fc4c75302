# ===- test_stages.py - Recurrences behind one another in one body -----------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Bodies of stacked cells, which become a loop for each, beside onnxruntime.

The bodies are random: products with weights large enough that reading them once
pays, on what was computed before, on this iteration's slice and on states, which
are passed on to whichever cell.
"""

from __future__ import annotations

import itertools
import random
from typing import Any

import loopc
import numpy as np
import onnx
import onnx.helper
import onnx.numpy_helper
import onnxruntime
import pytest
from loopc import reference
from onnx import TensorProto

WIDTH = 96  # its square is more than loop-distribute-stages' least weight
UNARY = ("Tanh", "Sigmoid", "Neg")
BINARY = ("Add", "Mul", "Sub")


class Body:
    """A random body: states s0.., a slice x, and cells of one another."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.weights = np.random.default_rng(seed)
        self.nodes: list[onnx.NodeProto] = []
        self.initializers: list[onnx.TensorProto] = []
        self.states = self.random.randint(1, 4)
        self.values = ["x", *(f"s{k}" for k in range(self.states))]
        self.fresh = itertools.count()
        own: list[str] = []
        for k in range(self.states):
            for _ in range(self.random.randint(0, 3)):
                self.add()
            # A cell of its own state and what is there.
            self.values.append(self.op("Tanh", self.op("Add", self.product(), f"s{k}")))
            own.append(self.values[-1])
        for _ in range(self.random.randint(0, 3)):
            self.add()
        # New states are the cells', at times another value, or another state as it is.
        self.next = [
            self.random.choice(self.values) if self.random.random() < 0.15 else cell for cell in own
        ]
        late = self.values[-4:]
        self.outputs = [
            self.random.choice(late if self.random.random() < 0.7 else self.values)
            for _ in range(self.random.randint(1, 3))
        ]

    def op(self, kind: str, *inputs: str, **attributes: Any) -> str:
        name = f"v{next(self.fresh)}"
        self.nodes.append(onnx.helper.make_node(kind, list(inputs), [name], **attributes))
        return name

    def constant(self, array: np.ndarray) -> str:
        name = f"w{next(self.fresh)}"
        self.initializers.append(onnx.numpy_helper.from_array(array, name))
        return name

    def pick(self) -> str:
        return self.random.choice(self.values[-4:] if self.random.random() < 0.6 else self.values)

    def product(self) -> str:
        weight = self.weights.standard_normal((WIDTH, WIDTH)).astype(np.float32) / 10
        return self.op("MatMul", self.pick(), self.constant(weight))

    def add(self) -> None:
        kind = self.random.random()
        if kind < 0.45:
            value = self.product()
            if self.random.random() < 0.7:
                value = self.op("Add", value, self.pick())
            value = self.op("Tanh", value)
        elif kind < 0.6:
            value = self.op("Softmax", self.pick(), axis=-1)
        elif kind < 0.75:
            value = self.op(self.random.choice(UNARY), self.pick())
        else:
            value = self.op(self.random.choice(BINARY), self.pick(), self.pick())
        self.values.append(value)

    def passed_on(self, values: list[str]) -> list[str]:
        """Each under a name of its own, as outputs of a graph must be."""
        return [self.op("Identity", value) for value in values]


def tensor(name: str, *shape: int | str | None) -> onnx.ValueInfoProto:
    return onnx.helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)


def scan_model(body: Body, *, is_open: bool, is_reversed: bool) -> onnx.ModelProto:
    batch: int | str = "B" if is_open else 2
    row = (None if is_open else batch, WIDTH)
    states, outputs = body.passed_on(body.next), body.passed_on(body.outputs)
    graph = onnx.helper.make_graph(
        body.nodes,
        "body",
        [*(tensor(f"s{k}", *row) for k in range(body.states)), tensor("x", *row)],
        [tensor(name, *row) for name in (*states, *outputs)],
        body.initializers,
    )
    results = [f"r{k}" for k in range(body.states + len(outputs))]
    node = onnx.helper.make_node(
        "Scan",
        [*(f"i{k}" for k in range(body.states)), "xs"],
        results,
        body=graph,
        num_scan_inputs=1,
        scan_input_directions=[int(is_reversed)],
        scan_output_directions=[int(is_reversed and k % 2) for k in range(len(outputs))],
    )
    inputs = [tensor(f"i{k}", batch, WIDTH) for k in range(body.states)]
    inputs.append(tensor("xs", "T" if is_open else 5, batch, WIDTH))
    return finish([node], inputs, results)


def loop_model(body: Body, *, is_open: bool) -> onnx.ModelProto:
    batch: int | str = "B" if is_open else 2
    row = (None if is_open else batch, WIDTH)
    slice_ = onnx.helper.make_node("Gather", ["xs", "it"], ["x"], axis=0)
    go = onnx.helper.make_node("Identity", ["go"], ["goes_on"])
    states, outputs = body.passed_on(body.next), body.passed_on(body.outputs)
    graph = onnx.helper.make_graph(
        [slice_, go, *body.nodes],
        "body",
        [
            onnx.helper.make_tensor_value_info("it", TensorProto.INT64, []),
            onnx.helper.make_tensor_value_info("go", TensorProto.BOOL, []),
            *(tensor(f"s{k}", *row) for k in range(body.states)),
        ],
        [
            onnx.helper.make_tensor_value_info("goes_on", TensorProto.BOOL, []),
            *(tensor(name, *row) for name in (*states, *outputs)),
        ],
        body.initializers,
    )
    results = [f"r{k}" for k in range(body.states + len(outputs))]
    node = onnx.helper.make_node(
        "Loop", ["trips", "", *(f"i{k}" for k in range(body.states))], results, body=graph
    )
    inputs = [tensor(f"i{k}", batch, WIDTH) for k in range(body.states)]
    inputs.append(tensor("xs", "T" if is_open else 5, batch, WIDTH))
    inputs.append(onnx.helper.make_tensor_value_info("trips", TensorProto.INT64, []))
    return finish([node], inputs, results)


def finish(
    nodes: list[onnx.NodeProto], inputs: list[onnx.ValueInfoProto], results: list[str]
) -> onnx.ModelProto:
    # Not every result is read: what a loop computes for nobody goes.
    outputs = [
        onnx.helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in results[1:]
    ]
    graph = onnx.helper.make_graph(nodes, "main", inputs, outputs)
    return onnx.helper.make_model(
        graph, opset_imports=[onnx.helper.make_opsetid("", 18)], ir_version=9
    )


def compare(model: onnx.ModelProto, runs: list[dict[str, np.ndarray]]) -> None:
    session = loopc.InferenceSession(model.SerializeToString())
    peer = onnxruntime.InferenceSession(model.SerializeToString())
    for feeds in runs:
        # onnxruntime refuses to run no iteration of a Scan.
        expected = peer.run(None, feeds) if len(feeds["xs"]) else reference.run(model, feeds)
        for got, want in zip(session.run(None, feeds), expected, strict=True):
            assert got.shape == want.shape
            np.testing.assert_allclose(got, want, rtol=2e-4, atol=2e-5)


def feeds_of(body: Body, trips: int, batch: int) -> dict[str, np.ndarray]:
    values = np.random.default_rng(trips)
    feeds = {
        f"i{k}": values.standard_normal((batch, WIDTH)).astype(np.float32)
        for k in range(body.states)
    }
    feeds["xs"] = values.standard_normal((trips, batch, WIDTH)).astype(np.float32)
    return feeds


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("is_open", [False, True], ids=["static", "open"])
def test_scan(seed: int, is_open: bool) -> None:
    body = Body(seed)
    model = scan_model(body, is_open=is_open, is_reversed=seed % 3 == 2)
    shapes = [(5, 2), (1, 1), (0, 3), (7, 1)] if is_open else [(5, 2)]
    compare(model, [feeds_of(body, trips, batch) for trips, batch in shapes])


@pytest.mark.parametrize("seed", range(100, 108))
@pytest.mark.parametrize("is_open", [False, True], ids=["static", "open"])
def test_loop(seed: int, is_open: bool) -> None:
    body = Body(seed)
    runs = []
    for trips in (5, 3, 0, 1):
        feeds = feeds_of(body, 5, 2)
        feeds["trips"] = np.array(trips, np.int64)
        runs.append(feeds)
    compare(loop_model(body, is_open=is_open), runs)


@pytest.mark.parametrize("seed", [100, 104, 105])
def test_slices_past_the_end_are_errors(seed: int) -> None:
    body = Body(seed)
    body.outputs.append("x")
    session = loopc.InferenceSession(loop_model(body, is_open=True).SerializeToString())
    feeds = feeds_of(body, 5, 2)
    feeds["trips"] = np.array(6, np.int64)
    with pytest.raises(loopc.RunError, match=r"Gather.*index 5 is out of range.*iteration 5"):
        session.run(None, feeds)
