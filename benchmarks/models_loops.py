# ===- models_loops.py - Growing state and scans across rows that are timed -===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Caches that grow by concatenation, and scans along the inner axis; as models_basic.py."""

# ruff: noqa: E501 - long lines are models in ONNX's text form.

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from models_basic import Benchmark, Feeds, Outputs, make_model, random_array


def growing_attention(steps: int, heads: int = 8, width: int = 64) -> Benchmark:
    """Decoding with a cache: keys and values grow along axis 2, a query attends to all of them."""
    model = make_model("""(int64 M, float[B,H,T,D] k0, float[B,H,T,D] v0, float[B,H,1,D] q0, float scale) => (float[B,H,U,D] k, float[B,H,U,D] v, float[B,H,1,D] q) {
        k, v, q = Loop <body = body (int64 i, bool c, float[B,H,P,D] pk, float[B,H,P,D] pv, float[B,H,1,D] x)
                => (bool c, float[B,H,P1,D] nk, float[B,H,P1,D] nv, float[B,H,1,D] y) {
            kt = Tanh(x)
            vt = Sub(x, kt)
            nk = Concat<axis = 2>(pk, kt)
            nv = Concat<axis = 2>(pv, vt)
            nkt = Transpose<perm = [0, 1, 3, 2]>(nk)
            s = MatMul(x, nkt)
            s1 = Mul(s, scale)
            p = Softmax<axis = -1>(s1)
            o = MatMul(p, nv)
            y = Add(o, kt)
        }> (M, "", k0, v0, q0)
    }""")
    shape = (1, heads, 1, width)
    feeds: Feeds = {
        "M": np.array(steps - 1),
        "k0": random_array(*shape, seed=0),
        "v0": random_array(*shape, seed=1),
        "q0": random_array(*shape, seed=2),
        "scale": np.array(width**-0.5, np.float32),
    }

    def expect(f: Feeds) -> Outputs:
        keys, values = np.zeros((2, heads, steps, width))
        keys[:, 0], values[:, 0] = f["k0"][0, :, 0], f["v0"][0, :, 0]
        x = f["q0"][0, :, 0].astype(np.float64)
        for step in range(1, steps):
            keys[:, step] = np.tanh(x)
            values[:, step] = x - keys[:, step]
            scores = np.einsum("hd,htd->ht", x, keys[:, : step + 1]) * width**-0.5
            weights = np.exp(scores - scores.max(-1, keepdims=True))
            weights /= weights.sum(-1, keepdims=True)
            x = np.einsum("ht,htd->hd", weights, values[:, : step + 1]) + keys[:, step]
        return [a.astype(np.float32) for a in (keys[None], values[None], x[None, :, None])]

    name = f"growing concat, attention, t={steps}"
    return Benchmark(name, steps - 1, model, feeds, expect, 1e-3, 1e-4)


def reverse_scan(rows: int = 64, length: int = 4096) -> Benchmark:
    """A sum from the end of each row: a Scan in reverse over axis 1."""
    model = make_model("""(float[R] s0, float[R,T] x) => (float[R] s, float[R,T] ys) {
        s, ys = Scan <num_scan_inputs = 1, scan_input_axes = [1], scan_input_directions = [1], scan_output_axes = [1], scan_output_directions = [1],
                body = body (float[R] p, float[R] e) => (float[R] n, float[R] y) {
            n = Add(p, e)
            y = Identity(n)
        }> (s0, x)
    }""")
    # Small multiples of 1/8: sums are exact.
    feeds: Feeds = {
        "s0": np.zeros(rows, np.float32),
        "x": np.round(8 * random_array(rows, length, seed=0)).astype(np.float32) / 8,
    }

    def expect(f: Feeds) -> Outputs:
        sums = np.cumsum(f["x"][:, ::-1], axis=1)[:, ::-1]
        return [np.ascontiguousarray(sums[:, 0]), np.ascontiguousarray(sums)]

    return Benchmark(
        f"reverse scan [{rows},{length}] axis 1", length, model, feeds, expect, 0, 0, bound=1.3
    )


#: As models_basic.BENCHMARKS.
BENCHMARKS: dict[str, Callable[[], Benchmark]] = {
    "growing_attention_512": lambda: growing_attention(512),
    "growing_attention_1024": lambda: growing_attention(1024),
    "reverse_scan": reverse_scan,
}
