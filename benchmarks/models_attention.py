# ===- models_attention.py - Linear attention that is timed -----------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Linear attention, gated, by the delta rule, and both; as models_basic.py.

As onnxruntime's operator, which has a kernel written for it by hand, and as the
Scan that people write where there is no such operator.
"""

# ruff: noqa: E501 - long lines are models in ONNX's text form.

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import onnx
import onnx.helper
from models_basic import Benchmark, Feeds, Outputs, make_model, random_array

STEPS, HEADS, WIDTH = 256, 4, 64
BEYOND = (
    "the product of a key and what is written is rounded before it is added to the state, as "
    "ONNX's MatMul and Add are; the C++ compiler made one instruction of both"
)


def _make_feeds(rule: str) -> Feeds:
    """Queries, keys, values, the state, logarithms of decays, and rates."""
    wide = (1, STEPS, HEADS * WIDTH)
    feeds = {
        key: random_array(*wide, seed=seed, scale=WIDTH**-0.5) for seed, key in enumerate("qkv")
    }
    feeds["s"] = random_array(1, HEADS, WIDTH, WIDTH, seed=3)
    if "gated" in rule:
        feeds["g"] = -np.abs(random_array(1, STEPS, HEADS, seed=4))
    if "delta" in rule:
        feeds["b"] = 1 / (1 + np.exp(-random_array(1, STEPS, HEADS, seed=5)))
    return feeds


def _expect(f: Feeds) -> Outputs:
    heads = {key: f[key].reshape(STEPS, HEADS, WIDTH).astype(np.float64) for key in "qkv"}
    state = f["s"][0].astype(np.float64)
    rows = np.empty((STEPS, HEADS, WIDTH))
    for step in range(STEPS):
        key, new = heads["k"][step], heads["v"][step]
        if "g" in f:
            state = state * np.exp(f["g"][0, step].astype(np.float64))[:, None, None]
        if "b" in f:
            new = f["b"][0, step][:, None] * (new - np.einsum("hk,hkv->hv", key, state))
        state = state + key[:, :, None] * new[:, None, :]
        rows[step] = np.einsum("hk,hkv->hv", heads["q"][step], state) * WIDTH**-0.5
    return [
        rows.reshape(1, STEPS, HEADS * WIDTH).astype(np.float32),
        state[None].astype(np.float32),
    ]


def operator(rule: str) -> Benchmark:
    """LinearAttention of onnxruntime's domain."""
    feeds = _make_feeds(rule)
    names = ["q", "k", "v", "s", "g" if "g" in feeds else "", "b" if "b" in feeds else ""]
    node = onnx.helper.make_node(
        "LinearAttention",
        names,
        ["y", "last"],
        domain="com.microsoft",
        q_num_heads=HEADS,
        kv_num_heads=HEADS,
        update_rule=rule,
    )
    kind = onnx.TensorProto.FLOAT
    graph = onnx.helper.make_graph(
        [node],
        "attention",
        [onnx.helper.make_tensor_value_info(key, kind, x.shape) for key, x in feeds.items()],
        [
            onnx.helper.make_tensor_value_info("y", kind, feeds["v"].shape),
            onnx.helper.make_tensor_value_info("last", kind, feeds["s"].shape),
        ],
    )
    opsets = [onnx.helper.make_opsetid("", 21), onnx.helper.make_opsetid("com.microsoft", 1)]
    model = onnx.helper.make_model(graph, opset_imports=opsets, ir_version=10)
    name = f"linear attention, {rule.replace('_', ' ')}"
    return Benchmark(name, STEPS, model, feeds, _expect, 1e-3, 1e-4, beyond=BEYOND)


def scan() -> Benchmark:
    """A gated delta rule as a Scan over steps."""
    wide, state = f"1,{STEPS},{HEADS * WIDTH}", f"1,{HEADS},{WIDTH},{WIDTH}"
    model = make_model(f"""(float[{wide}] q, float[{wide}] k, float[{wide}] v, float[{state}] s, float[1,{STEPS},{HEADS}] g, float[1,{STEPS},{HEADS}] b) => (float[{wide}] y, float[{state}] last)
    <int64[1] zero = {{0}}, int64[1] one = {{1}}, int64[1] two = {{2}}, int64[2] both = {{1, 2}}, int64[3] heads = {{{STEPS}, {HEADS}, {WIDTH}}}, int64[3] flat = {{1, {STEPS}, {HEADS * WIDTH}}}, float scale = {{{WIDTH**-0.5}}}> {{
        qs = Reshape(q, heads)
        ks = Reshape(k, heads)
        vs = Reshape(v, heads)
        gs = Squeeze(g, zero)
        bs = Squeeze(b, zero)
        s0 = Squeeze(s, zero)
        s1, ys = Scan <num_scan_inputs = 5, body = body (float[{HEADS},{WIDTH},{WIDTH}] before, float[{HEADS},{WIDTH}] qt, float[{HEADS},{WIDTH}] kt, float[{HEADS},{WIDTH}] vt, float[{HEADS}] gt, float[{HEADS}] bt)
                => (float[{HEADS},{WIDTH},{WIDTH}] after, float[{HEADS},{WIDTH}] yt) {{
            d0 = Exp(gt)
            decay = Unsqueeze(d0, both)
            decayed = Mul(before, decay)
            row = Unsqueeze(kt, one)
            old0 = MatMul(row, decayed)
            old = Squeeze(old0, one)
            new = Sub(vt, old)
            rate = Unsqueeze(bt, one)
            delta = Mul(rate, new)
            column = Unsqueeze(kt, two)
            written = Unsqueeze(delta, one)
            outer = MatMul(column, written)
            after = Add(decayed, outer)
            query = Unsqueeze(qt, one)
            read0 = MatMul(query, after)
            read = Squeeze(read0, one)
            yt = Mul(read, scale)
        }}> (s0, qs, ks, vs, gs, bs)
        y = Reshape(ys, flat)
        last = Unsqueeze(s1, zero)
    }}""")
    feeds = _make_feeds("gated_delta")
    name = "linear attention, gated delta, a Scan"
    return Benchmark(name, STEPS, model, feeds, _expect, 1e-3, 1e-4, beyond=BEYOND)


#: As models_basic.BENCHMARKS.
BENCHMARKS: dict[str, Callable[[], Benchmark]] = {
    "linear_attention_linear": lambda: operator("linear"),
    "linear_attention_gated": lambda: operator("gated"),
    "linear_attention_delta": lambda: operator("delta"),
    "linear_attention_gated_delta": lambda: operator("gated_delta"),
    "linear_attention_gated_delta_scan": scan,
}
