# ===- models_algorithms.py - Algorithms in loops that are timed ------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Algorithms that people write as loops: stencils, clusters, integers, sums; as models_basic.py."""

# ruff: noqa: E501 - long lines are models in ONNX's text form.

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from models_basic import Benchmark, Feeds, Outputs, make_model, random_array


def cellular_automaton(size: int = 256, trips: int = 100) -> Benchmark:
    """Life: each cell counts its eight neighbours, which are slices of the padded plane."""
    places = [(i, j) for i in range(3) for j in range(3) if (i, j) != (1, 1)]
    constants = ", ".join(
        f"int64[2] from{i}{j} = {{{i}, {j}}}, int64[2] to{i}{j} = {{{i - 2 or 2**40}, {j - 2 or 2**40}}}"
        for i, j in places
    )
    slices = "\n".join(f"s{i}{j} = Slice(p, from{i}{j}, to{i}{j}, axes)" for i, j in places)
    model = make_model(f"""(int64 M, float[H,W] c0) => (float[H,W] c)
        <int64[4] pads = {{1, 1, 1, 1}}, int64[2] axes = {{0, 1}}, float none = {{0.0}}, float half = {{0.5}}, float two = {{2.0}}, float three = {{3.0}}, {constants}> {{
        c = Loop<body = body (int64 i, bool go, float[H,W] was) => (bool go, float[H,W] is) {{
            p = Pad(was, pads, none)
            {slices}
            n1 = Add(s00, s01)
            n2 = Add(n1, s02)
            n3 = Add(n2, s10)
            n4 = Add(n3, s12)
            n5 = Add(n4, s20)
            n6 = Add(n5, s21)
            n = Add(n6, s22)
            is3 = Equal(n, three)
            is2 = Equal(n, two)
            lives = Greater(was, half)
            stays = And(is2, lives)
            alive = Or(is3, stays)
            is = Cast<to = 1>(alive)
        }}>(M, "", c0)
    }}""")
    start = (random_array(size, size, seed=0) > 0.5).astype(np.float32)

    def expect(f: Feeds) -> Outputs:
        cells = f["c0"]
        for _ in range(trips):
            padded = np.pad(cells, 1)
            count = sum(padded[i : i + size, j : j + size] for i, j in places)
            cells = ((count == 3) | ((count == 2) & (cells > 0.5))).astype(np.float32)
        return [cells]

    name = f"cellular automaton {size}x{size}x{trips}"
    feeds = {"M": np.array(trips), "c0": start}
    return Benchmark(name, trips, model, feeds, expect, 0, 0, bound=1.3)


def k_means(points: int = 4096, width: int = 4, clusters: int = 8, trips: int = 20) -> Benchmark:
    """Each point goes to the nearest centre; each centre becomes the mean of its points."""
    model = make_model("""(int64 M, float[N,D] x, float[K,D] c0, int64 k) => (float[K,D] c)
        <int64[1] zero = {0}, int64[1] one = {1}, int64[1] two = {2}, float[2] values = {0.0, 1.0}, float single = {1.0}> {
        c = Loop<body = body (int64 i, bool go, float[K,D] was) => (bool go, float[K,D] is) {
            rows = Unsqueeze(x, one)
            centres = Unsqueeze(was, zero)
            gap = Sub(rows, centres)
            square = Mul(gap, gap)
            far = ReduceSum<keepdims = 0>(square, two)
            nearest = ArgMin<axis = 1, keepdims = 0>(far)
            hot = OneHot<axis = 0>(nearest, k, values)
            sums = MatMul(hot, x)
            count = ReduceSum<keepdims = 1>(hot, one)
            divisor = Max(count, single)
            is = Div(sums, divisor)
        }>(M, "", c0)
    }""")
    # Clouds apart from each other: no rounding moves a point to another one.
    clouds = 6 * random_array(clusters, width, seed=0)
    x = np.tile(clouds, (points // clusters, 1)) + random_array(points, width, seed=1, scale=0.3)
    feeds = {"M": np.array(trips), "x": x, "c0": x[:clusters].copy(), "k": np.array(clusters)}

    def expect(f: Feeds) -> Outputs:
        rows, centres = f["x"].astype(np.float64), f["c0"].astype(np.float64)
        for _ in range(trips):
            nearest = ((rows[:, None] - centres[None]) ** 2).sum(-1).argmin(1)
            hot = nearest == np.arange(clusters)[:, None]
            centres = hot @ rows / np.maximum(hot.sum(1, keepdims=True), 1)
        return [centres.astype(np.float32)]

    return Benchmark(f"k-means {points}x{width}", trips, model, feeds, expect, 1e-3, 1e-4)


def collatz(start: int = 837_799, times: int = 100) -> Benchmark:
    """A loop of unknown trips in a loop: the steps from some numbers down to 1."""
    model = make_model("""(int64 M, int64 start) => (int64 total)
        <int64 zero = {0}, int64 one = {1}, int64 two = {2}, int64 three = {3}, int64 most = {4611686018427387904}, bool yes = {1}> {
        total = Loop<body = outer (int64 i, bool go, int64 sum) => (bool go, int64 more) {
            first = Add(start, i)
            end, steps = Loop<body = step (int64 j, bool on, int64 n, int64 s) => (bool again, int64 m, int64 t) {
                rest = Mod(n, two)
                even = Equal(rest, zero)
                half = Div(n, two)
                triple = Mul(n, three)
                odd = Add(triple, one)
                m = Where(even, half, odd)
                t = Add(s, one)
                again = Greater(m, one)
            }>(most, yes, first, zero)
            more = Add(sum, steps)
        }>(M, "", zero)
    }""")

    def count(f: Feeds) -> tuple[int, int]:
        total = 0
        for n in range(int(f["start"]), int(f["start"]) + times):
            while n > 1:
                n, total = n // 2 if n % 2 == 0 else 3 * n + 1, total + 1
        return total, times

    feeds = {"M": np.array(times), "start": np.array(start)}
    steps = count(feeds)[0]
    return Benchmark(
        f"Collatz x{times}", steps, model, feeds, lambda f: [np.array(count(f)[0])], 0, 0
    )


def prefix_sums(length: int = 100_000) -> Benchmark:
    """The sum of all numbers so far, a Scan over scalars."""
    model = make_model("""(float s0, float[T] x) => (float s, float[T] sums) {
        s, sums = Scan<num_scan_inputs = 1, body = body (float p, float e) => (float n, float y) {
            n = Add(p, e)
            y = Identity(n)
        }>(s0, x)
    }""")
    feeds = {"s0": np.array(1, np.float32), "x": random_array(length, seed=0)}

    def expect(f: Feeds) -> Outputs:
        sums = np.cumsum(np.concatenate([f["s0"][None], f["x"]]), dtype=np.float32)[1:]
        return [sums[-1], sums]

    return Benchmark(f"prefix sums [{length}]", length, model, feeds, expect, 1e-4, 1e-3)


#: As models_basic.BENCHMARKS.
BENCHMARKS: dict[str, Callable[[], Benchmark]] = {
    "cellular_automaton": cellular_automaton,
    "k_means": k_means,
    "collatz": collatz,
    "prefix_sums": prefix_sums,
}
