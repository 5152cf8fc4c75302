# ===- models_networks.py - Networks of usual parts that are timed ----------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Long attention, ResNet-18, an encoder of 8 bits, weights of few bits; as models_basic.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import models_recurrent
import numpy as np
import onnx
from models_basic import Benchmark, Feeds, Outputs, make_model, random_array
from onnx import TensorProto, helper, numpy_helper


def attention(positions: int, heads: int = 8, width: int = 64) -> Benchmark:
    """Softmax(Q K') V of all heads, with an open number of positions."""
    model = make_model("""(float[1,H,N,D] q, float[1,H,D,N] k, float[1,H,N,D] v) => (float[1,H,N,D] y) <float scale = {0.125}> {
        scaled = Mul(q, scale)
        scores = MatMul(scaled, k)
        weights = Softmax<axis = -1>(scores)
        y = MatMul(weights, v)
    }""".replace("H,", f"{heads},").replace("D", str(width)))  # fmt: skip  # noqa: E501
    feeds = {
        "q": random_array(1, heads, positions, width, seed=0),
        "k": random_array(1, heads, width, positions, seed=1),
        "v": random_array(1, heads, positions, width, seed=2),
    }

    def expect(f: Feeds) -> Outputs:
        result = np.empty(f["q"].shape, np.float32)
        for head in range(heads):
            scores = f["q"][0, head].astype(np.float64) @ f["k"][0, head] / 8
            weights = np.exp(scores - scores.max(axis=1, keepdims=True))
            result[0, head] = (weights / weights.sum(axis=1, keepdims=True)) @ f["v"][0, head]
        return [result]

    return Benchmark(f"attention of {positions}", 1, model, feeds, expect, 1e-3, 1e-4)


class _Network:
    """Nodes and weights of a network of images."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []
        self.random = np.random.default_rng(0)

    def weight(self, *shape: int, scale: float = 1.0) -> str:
        name = f"w{len(self.weights)}"
        value = self.random.standard_normal(shape) * scale
        self.weights.append(numpy_helper.from_array(value.astype(np.float32), name))
        return name

    def node(self, kind: str, *inputs: str, **attributes: Any) -> str:
        name = f"t{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, [*inputs], [name], **attributes))
        return name

    def conv(self, x: str, inner: int, outer: int, size: int, stride: int) -> str:
        scale = (2 / (inner * size * size)) ** 0.5
        weights = self.weight(outer, inner, size, size, scale=scale)
        return self.node("Conv", x, weights, self.weight(outer, scale=0.1),
                         strides=[stride] * 2, pads=[size // 2] * 4)  # fmt: skip

    def block(self, x: str, inner: int, outer: int, stride: int) -> str:
        first = self.node("Relu", self.conv(x, inner, outer, 3, stride))
        second = self.conv(first, outer, outer, 3, 1)
        past = self.conv(x, inner, outer, 1, stride) if stride > 1 else x
        return self.node("Relu", self.node("Add", second, past))


def resnet18(batch: int = 1, size: int = 224) -> Benchmark:
    """ResNet-18, whose batch is open and whose images are of a known size."""
    net = _Network()
    x = net.node("Relu", net.conv("x", 3, 64, 7, 2))
    x = net.node("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    inner = 64
    for outer in (64, 128, 256, 512):
        x = net.block(x, inner, outer, 1 if outer == 64 else 2)
        x = net.block(x, outer, outer, 1)
        inner = outer
    x = net.node("Flatten", net.node("GlobalAveragePool", x))
    net.nodes.append(
        helper.make_node("Gemm", [x, net.weight(512, 1000, scale=0.05), net.weight(1000)], ["y"])
    )
    graph = helper.make_graph(
        net.nodes,
        "benchmark",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 3, size, size])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", 1000])],
        net.weights,
    )
    opsets = [helper.make_opsetid("", 21)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=10)
    feeds = {"x": random_array(batch, 3, size, size, seed=0)}
    return Benchmark(
        f"ResNet-18, open batch, B={batch}", 1, model, feeds, lambda f: [], 1e-3, 1e-3,
        reference="onnxruntime",
    )  # fmt: skip


def lstm_stored(kind: str, batch: int = 1) -> Benchmark:
    """ONNX's LSTM with weights in the model, of f32, bf16, f16 or 8 bits."""
    plain = models_recurrent.lstm_operator(batch)
    model = onnx.ModelProto()
    model.CopyFrom(plain.model)
    nodes, floats = [], {}
    for name in ("W", "R"):
        value = plain.feeds[name]
        if kind == "int8":
            scale = np.abs(value).max(axis=2) / 127
            stored = np.rint(value / scale[..., None]).astype(np.int8)
            # Scales are along one axis: the one of directions has one element.
            scales = numpy_helper.from_array(scale[0], f"{name}_scale")
            model.graph.initializer.append(scales)
            floats[name] = stored.astype(np.float32) * scale[..., None]
            inputs = [f"{name}_stored", f"{name}_scale"]
            nodes.append(helper.make_node("DequantizeLinear", inputs, [name], axis=1))
        else:
            types = {"f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16}
            stored = value.astype(types[kind])
            floats[name] = stored.astype(np.float32)
            cast = helper.make_node("Cast", [f"{name}_stored"], [name], to=TensorProto.FLOAT)
            nodes.append(cast)
        model.graph.initializer.append(numpy_helper.from_array(stored, f"{name}_stored"))
    old = [*model.graph.node]
    del model.graph.node[:]
    model.graph.node.extend(nodes + old)
    left = [info for info in model.graph.input if info.name not in floats]
    del model.graph.input[:]
    model.graph.input.extend(left)
    feeds = {name: value for name, value in plain.feeds.items() if name not in floats}

    def expect(f: Feeds) -> Outputs:
        return plain.expect(f | floats)

    title = f"LSTM operator, {kind} weights"
    return Benchmark(title, plain.iterations, model, feeds, expect, 1e-3, 1e-4)


class _Encoder(_Network):
    """An encoder of sentences whose products are of 8 bits, quantized as they run."""

    width, heads, inner = 384, 12, 1536

    def constant(self, value: Any, dtype: Any) -> str:
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.array(value, dtype), name))
        return name

    def quantized(self, x: str) -> list[str]:
        names = [f"{x}_{part}" for part in ("steps", "scale", "zero")]
        self.nodes.append(helper.make_node("DynamicQuantizeLinear", [x], names))
        return names

    def linear(self, x: list[str], inner: int, outer: int) -> str:
        weights = self.random.standard_normal((inner, outer)) * inner**-0.5
        scale = np.abs(weights).max() / 127
        steps = self.constant(np.rint(weights / scale), np.int8)
        sums = self.node("MatMulInteger", x[0], steps, x[2], self.constant(0, np.int8))
        factor = self.node("Mul", x[1], self.constant(scale, np.float32))
        product = self.node("Mul", self.node("Cast", sums, to=TensorProto.FLOAT), factor)
        return self.node("Add", product, self.weight(outer, scale=0.1))

    def normalized(self, x: str) -> str:
        ones = self.constant(np.ones(self.width), np.float32)
        return self.node("LayerNormalization", x, ones, self.weight(self.width, scale=0.1))

    def layer(self, x: str) -> str:
        given = self.quantized(x)
        shape = self.constant([0, 0, self.heads, self.width // self.heads], np.int64)
        q, k, v = (
            self.node("Transpose", self.node("Reshape", part, shape), perm=perm)
            for part, perm in (
                (self.linear(given, self.width, self.width), order)
                for order in ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3])
            )
        )
        scale = self.constant((self.width // self.heads) ** -0.5, np.float32)
        scores = self.node("Mul", self.node("MatMul", q, k), scale)
        read = self.node("MatMul", self.node("Softmax", scores, axis=-1), v)
        read = self.node("Transpose", read, perm=[0, 2, 1, 3])
        read = self.node("Reshape", read, self.constant([0, 0, self.width], np.int64))
        x = self.normalized(
            self.node("Add", x, self.linear(self.quantized(read), self.width, self.width))
        )
        wide = self.node("Gelu", self.linear(self.quantized(x), self.width, self.inner))
        back = self.linear(self.quantized(wide), self.inner, self.width)
        return self.normalized(self.node("Add", x, back))


def sentence_encoder(words: int = 128, layers: int = 6) -> Benchmark:
    """A sentence's vector by six layers with dynamic quantization to 8 bits, of any length."""
    net = _Encoder()
    x = "x"
    for _ in range(layers):
        x = net.layer(x)
    mean = net.node("ReduceMean", x, net.constant([1], np.int64), keepdims=0)
    net.nodes.append(helper.make_node("LpNormalization", [mean], ["y"], axis=-1))
    graph = helper.make_graph(
        net.nodes,
        "benchmark",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["B", "S", net.width])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["B", net.width])],
        net.weights,
    )
    opsets = [helper.make_opsetid("", 21)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=10)
    # Where a rounding to 8 bits falls the other way, all that follows differs a little.
    return Benchmark(
        f"int8 sentence encoder, {words} words", 1, model,
        {"x": random_array(1, words, net.width, seed=0)}, lambda f: [], 1e-2, 5e-3,
        reference="onnxruntime",
    )  # fmt: skip


#: As models_basic.BENCHMARKS.
BENCHMARKS: dict[str, Callable[[], Benchmark]] = {
    "attention_1024": lambda: attention(1024),
    "attention_4096": lambda: attention(4096),
    "resnet18_open_batch": resnet18,
    "sentence_encoder_int8": sentence_encoder,
    "lstm_stored_f32": lambda: lstm_stored("f32"),
    "lstm_stored_bf16": lambda: lstm_stored("bf16"),
    "lstm_stored_f16": lambda: lstm_stored("f16"),
    "lstm_stored_int8": lambda: lstm_stored("int8"),
}
