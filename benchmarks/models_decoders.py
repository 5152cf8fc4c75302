# ===- models_decoders.py - Decoders of language models that are timed ------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""One step of a decoder as onnxruntime-genai writes it; as models_basic.py.

Weights have 4 bits (MatMulNBits), heads share keys and values (GroupQueryAttention) with rotary
positions, and the caches of all layers are inputs and outputs.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import onnx
from models_basic import Benchmark, Feeds, random_array
from models_networks import _Network
from onnx import TensorProto, helper, numpy_helper

CONTRIB = "com.microsoft"
FLOAT, INT64, INT32 = TensorProto.FLOAT, TensorProto.INT64, TensorProto.INT32


class _Decoder(_Network):
    """A decoder of some layers of 8 heads of 64 that share 2 heads of keys."""

    width, heads, shared, size, inner, words, group = 512, 8, 2, 64, 1408, 4096, 32

    def named(self, name: str, value: np.ndarray) -> str:
        self.weights.append(numpy_helper.from_array(value, name))
        return name

    def linear(self, x: str, inner: int, outer: int) -> str:
        blocks = inner // self.group
        name = f"w{len(self.weights)}"
        packed = self.random.integers(0, 256, (outer, blocks, self.group // 2), dtype=np.uint8)
        scales = self.random.uniform(0.1, 0.3, outer * blocks).astype(np.float32) * inner**-0.5
        inputs = [x, self.named(f"{name}_packed", packed), self.named(f"{name}_scales", scales)]
        sizes = {"K": inner, "N": outer, "bits": 4, "block_size": self.group}
        return self.node("MatMulNBits", *inputs, domain=CONTRIB, **sizes)

    def normalized(self, x: str, other: str) -> tuple[str, str]:
        """The sum of both, normalized, and the sum itself."""
        outputs = [f"n{len(self.nodes)}", f"s{len(self.nodes)}"]
        ones = self.named(f"w{len(self.weights)}", np.ones(self.width, np.float32))
        self.nodes.append(
            helper.make_node(
                "SkipSimplifiedLayerNormalization", [x, other, ones],
                [outputs[0], "", "", outputs[1]], domain=CONTRIB, epsilon=1e-5,
            )
        )  # fmt: skip
        return outputs[0], outputs[1]

    def layer(self, number: int, x: str, rest: str) -> tuple[str, str]:
        width = self.shared * self.size
        inputs = [self.linear(x, self.width, outer) for outer in (self.width, width, width)]
        caches = [f"{part}{number}" for part in ("key", "value")]
        read = f"read{number}"
        self.nodes.append(
            helper.make_node(
                "GroupQueryAttention",
                [*inputs, *caches, "last", "total", "cos", "sin"],
                [read, *(f"{name}_new" for name in caches)],
                domain=CONTRIB, num_heads=self.heads, kv_num_heads=self.shared, do_rotary=1,
            )
        )  # fmt: skip
        x, rest = self.normalized(rest, self.linear(read, self.width, self.width))
        gate = self.linear(x, self.width, self.inner)
        gated = self.node("Mul", gate, self.node("Sigmoid", gate))
        wide = self.node("Mul", gated, self.linear(x, self.width, self.inner))
        return self.normalized(rest, self.linear(wide, self.inner, self.width))


def decoder(past: int, new: int = 1, layers: int = 4) -> Benchmark:
    """The words that follow `new` words behind `past` ones, all lengths open."""
    net = _Decoder()
    tokens = net.named("table", random_array(net.words, net.width, seed=1))
    net.nodes.append(helper.make_node("Gather", [tokens, "tokens"], ["x0"]))
    angles = np.arange(4096)[:, None] / 10000 ** (np.arange(net.size // 2) / (net.size // 2))
    net.named("cos", np.cos(angles).astype(np.float32))
    net.named("sin", np.sin(angles).astype(np.float32))
    x, rest = net.normalized("x0", "x0")
    cache = [1, net.shared, past, net.size]
    feeds: Feeds = {
        "tokens": np.arange(new)[None] * 7 % net.words,
        "last": np.array([[past + new - 1]], np.int32),
        "total": np.array(past + new, np.int32),
    }
    names = []
    for number in range(layers):
        x, rest = net.layer(number, x, rest)
        for part in ("key", "value"):
            names.append(f"{part}{number}")
            feeds[names[-1]] = random_array(*cache, seed=len(names))
    logits = net.linear(x, net.width, net.words)

    def info(name: str, kind: int, shape: list[int | str]) -> onnx.ValueInfoProto:
        return helper.make_tensor_value_info(name, kind, shape)

    def caches(suffix: str, length: str) -> list[onnx.ValueInfoProto]:
        shape: list[int | str] = ["B", net.shared, length, net.size]
        return [info(name + suffix, FLOAT, shape) for name in names]

    graph = helper.make_graph(
        net.nodes, "benchmark",
        [info("tokens", INT64, ["B", "S"]), info("last", INT32, ["B", 1]), info("total", INT32, []),
         *caches("", "P")],
        [info(logits, FLOAT, ["B", "S", net.words]), *caches("_new", "T")],
        net.weights,
    )  # fmt: skip
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid(CONTRIB, 1)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=10)
    words = "a word" if new == 1 else f"{new} words"
    return Benchmark(
        f"int4 decoder, {words} behind {past}", 1, model, feeds, lambda f: [], 1e-3, 1e-3,
        reference="onnxruntime",
    )  # fmt: skip


#: As models_basic.BENCHMARKS.
BENCHMARKS: dict[str, Callable[[], Benchmark]] = {
    "decoder_int4": lambda: decoder(1000),
    "decoder_int4_prompt": lambda: decoder(0, new=64),
}
