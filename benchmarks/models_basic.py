# ===- models_basic.py - The models that are timed -===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Loops as ONNX models, with feeds and the answer by NumPy.

Nothing in them is constant that a user's model would get at run time: trip
counts, limits and weights are inputs. Conditions that never change are passed
on without a node, which is the form that onnxruntime runs fastest.
"""

# ruff: noqa: E501 - long lines are models in ONNX's text form.

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
import onnx.parser

Feeds = dict[str, np.ndarray]
Outputs = list[np.ndarray]


@dataclasses.dataclass(frozen=True)
class Benchmark:
    """A model to time.

    Attributes:
        name: as the table shows it.
        iterations: of the innermost loop, for times per iteration.
        model: the model.
        feeds: its inputs.
        expect: computes its outputs with NumPy.
        rtol: relative tolerance of every comparison.
        atol: absolute tolerance of every comparison.
        stray: the share of elements that may differ, where a rounding decides
            on which side of a threshold an element falls.
        drive: makes all of a program's runs of the model, where there is more
            than one: called with a function from feeds to outputs, and the
            feeds; returns what is compared.
        reference: the engine that the others are compared with where there is
            no computation with NumPy: `expect` is not called.
        bound: the times of the hand-written code's time that loopc may take with
            one thread.
        beyond: why it takes more, where it is known to; found by profiling.
        contract: loopc may round a product and its sum once, as C++ does.
    """

    name: str
    iterations: int
    model: onnx.ModelProto
    feeds: Feeds
    expect: Callable[[Feeds], Outputs]
    rtol: float = 1e-4
    atol: float = 1e-5
    stray: float = 0.0
    drive: Callable[[Callable[[Feeds], Outputs], Feeds], Outputs] | None = None
    reference: str = ""
    bound: float = 1.2
    beyond: str = ""
    contract: bool = False


def make_model(text: str) -> onnx.ModelProto:
    """A model of opset 21 from ONNX's text form, checked."""
    model = onnx.parser.parse_model(
        f'<ir_version: 10, opset_import: ["": 21]> benchmark {text.strip()}'
    )
    onnx.checker.check_model(model, full_check=True)
    return model


def random_array(*shape: int, seed: int, scale: float = 1.0) -> np.ndarray:
    """Normally distributed float32 numbers, the same ones each time."""
    values = np.random.default_rng(seed).standard_normal(shape) * scale
    return values.astype(np.float32)


def empty_loop(trips: int = 1_000_000) -> Benchmark:
    """One float addition an iteration: what a loop itself costs."""
    model = make_model("""(int64 M, float x, float step) => (float y) {
        y = Loop <body = body (int64 i, bool c, float v) => (bool c, float v1) {
            v1 = Add(v, step)
        }> (M, "", x)
    }""")
    feeds = {
        "M": np.array(trips),
        "x": np.array(1, np.float32),
        "step": np.array(0.5, np.float32),
    }
    # Halves up to half a million are exact in float32.
    return Benchmark(
        "empty loop", trips, model, feeds, lambda f: [np.array(1 + trips * 0.5, np.float32)], 0, 0
    )


def collect(trips: int = 100_000, contract: bool = False) -> Benchmark:
    """Collects eight floats an iteration."""
    model = make_model("""(int64 M, float[8] x, float[8] a, float[8] b) => (float[8] y, float[K,8] ys) {
        y, ys = Loop <body = body (int64 i, bool c, float[8] v) => (bool c, float[8] v1, float[8] w) {
            p = Mul(v, a)
            v1 = Add(p, b)
            w = Identity(v1)
        }> (M, "", x)
    }""")
    a = np.linspace(-0.9, 0.9, 8, dtype=np.float32)
    feeds = {
        "M": np.array(trips),
        "x": random_array(8, seed=0),
        "a": a,
        "b": random_array(8, seed=1),
    }

    def expect(f: Feeds) -> Outputs:
        rows = np.empty((trips, 8), np.float32)
        value = f["x"]
        for trip in range(trips):
            value = value * f["a"] + f["b"]
            rows[trip] = value
        return [value, rows]

    return Benchmark(
        "collect [8]" + (", contracted" if contract else ""),
        trips,
        model,
        feeds,
        expect,
        contract=contract,
    )


def converge(trips: int = 5_000) -> Benchmark:
    """Relaxes 16 floats to a target until the largest error is small; collects state and error."""
    model = make_model("""(float[16] x, float[16] target, float rate, float limit) => (float[16] y, float[K,16] ys, float[K] errors) {
        true = Constant<value = bool {1}>()
        y, ys, errors = Loop <body = body (int64 i, bool c, float[16] v) => (bool c1, float[16] v1, float[16] w, float error) {
            d = Sub(target, v)
            s = Mul(d, rate)
            v1 = Add(v, s)
            d1 = Sub(target, v1)
            e = Abs(d1)
            error = ReduceMax<keepdims = 0>(e)
            c1 = Greater(error, limit)
            w = Identity(v1)
        }> ("", true, x)
    }""")
    x, target = np.zeros(16, np.float32), np.linspace(1, 2, 16, dtype=np.float32)
    # Between the errors of two trips, far from both: no rounding changes the count.
    limit = 2 * (1 - 0.001) ** (trips - 0.5)
    feeds = {
        "x": x,
        "target": target,
        "rate": np.array(0.001, np.float32),
        "limit": np.array(limit, np.float32),
    }

    def expect(f: Feeds) -> Outputs:
        rows, errors = [], []
        value, error = f["x"], np.float32(np.inf)
        while error > f["limit"]:
            value = value + (f["target"] - value) * f["rate"]
            error = np.abs(f["target"] - value).max()
            rows.append(value)
            errors.append(error)
        return [value, np.stack(rows), np.array(errors, np.float32)]

    return Benchmark("while to convergence", trips, model, feeds, expect, 1e-3, 1e-5)


def mandelbrot(size: int = 256, trips: int = 200) -> Benchmark:
    """Counts how long each point of a plane stays inside."""
    model = make_model("""(int64 M, float[R,C] cr, float[R,C] ci) => (int32[R,C] counts) {
        zero = Constant<value = float {0.0}>()
        two = Constant<value = float {2.0}>()
        four = Constant<value = float {4.0}>()
        z0 = Mul(cr, zero)
        n0 = Cast<to = 6>(z0)
        zr, zi, counts = Loop <body = body (int64 i, bool c, float[R,C] a, float[R,C] b, int32[R,C] n)
                       => (bool c, float[R,C] a1, float[R,C] b1, int32[R,C] n1) {
            aa = Mul(a, a)
            bb = Mul(b, b)
            m = Add(aa, bb)
            inside = LessOrEqual(m, four)
            d = Sub(aa, bb)
            an = Add(d, cr)
            ab = Mul(a, b)
            ab2 = Mul(ab, two)
            bn = Add(ab2, ci)
            a1 = Where(inside, an, a)
            b1 = Where(inside, bn, b)
            k = Cast<to = 6>(inside)
            n1 = Add(n, k)
        }> (M, "", z0, z0, n0)
    }""")
    cr, ci = np.meshgrid(
        np.linspace(-2, 0.6, size, dtype=np.float32), np.linspace(-1.2, 1.2, size, dtype=np.float32)
    )
    feeds = {"M": np.array(trips), "cr": np.ascontiguousarray(cr), "ci": np.ascontiguousarray(ci)}

    def expect(f: Feeds) -> Outputs:
        a, b = np.zeros_like(f["cr"]), np.zeros_like(f["ci"])
        counts = np.zeros(a.shape, np.int32)
        for _ in range(trips):
            inside = a * a + b * b <= 4
            counts += inside
            following = np.where(inside, a * a - b * b + f["cr"], a)
            b = np.where(inside, 2 * a * b + f["ci"], b)
            a = following
        return [counts]

    # On the border of the set the last bit of a product decides.
    name = f"mandelbrot {size}x{size}x{trips}"
    return Benchmark(name, trips, model, feeds, expect, 0, 0, 0.01, bound=1.3)


def nested(size: int = 300) -> Benchmark:
    """Two loops; the inner body reads values of both bodies and of the graph."""
    model = make_model("""(int64 M, float[N] x, float[N] w, float scale) => (float total, float[K] sums) {
        zero = Constant<value = float {0.0}>()
        total, sums = Loop <body = outer (int64 i, bool c, float v) => (bool c, float v1, float sum) {
            xi = Gather(x, i)
            inner = Loop <body = body (int64 j, bool d, float u) => (bool d, float u1) {
                wj = Gather(w, j)
                p = Mul(xi, wj)
                q = Mul(p, scale)
                u1 = Add(u, q)
            }> (M, "", v)
            v1 = Mul(inner, scale)
            sum = Identity(inner)
        }> (M, "", zero)
    }""")
    feeds = {
        "M": np.array(size),
        "x": np.abs(random_array(size, seed=0)),
        "w": np.abs(random_array(size, seed=1)),
        "scale": np.array(0.75, np.float32),
    }

    def expect(f: Feeds) -> Outputs:
        value, sums = np.float32(0), []
        for xi in f["x"]:
            # cumsum adds in order, as the loop does.
            terms = np.concatenate([[value], xi * f["w"] * f["scale"]])
            inner = np.cumsum(terms, dtype=np.float32)[-1]
            sums.append(inner)
            value = inner * f["scale"]
        return [np.asarray(value, np.float32), np.array(sums, np.float32)]

    return Benchmark(f"nested {size}x{size}", size * size, model, feeds, expect)


def if_in_loop(trips: int = 100_000) -> Benchmark:
    """A branch in every iteration."""
    model = make_model("""(int64 M, float x, float step, float limit) => (float y, int64 wraps) {
        zero = Constant<value = int64 {0}>()
        one = Constant<value = int64 {1}>()
        y, wraps = Loop <body = body (int64 i, bool c, float v, int64 n) => (bool c, float v1, int64 n1) {
            over = Greater(v, limit)
            v1, n1 = If <then_branch = wrap () => (float a, int64 an) { a = Sub(v, limit)
                                                                        an = Add(n, one) },
                         else_branch = go () => (float b, int64 bn) { b = Add(v, step)
                                                                      bn = Identity(n) }> (over)
        }> (M, "", x, zero)
    }""")
    feeds = {
        "M": np.array(trips),
        "x": np.array(0, np.float32),
        "step": np.array(7, np.float32),
        "limit": np.array(100, np.float32),
    }

    def expect(f: Feeds) -> Outputs:
        value, wraps = 0, 0  # Small integers are exact in float32.
        for _ in range(trips):
            if value > 100:
                value, wraps = value - 100, wraps + 1
            else:
                value += 7
        return [np.array(value, np.float32), np.array(wraps)]

    return Benchmark("if in a loop", trips, model, feeds, expect, 0, 0)


def rnn_cell(batch: int, steps: int = 256, hidden: int = 256) -> Benchmark:
    """h = tanh(x W + h R + b) in a Scan."""
    model = make_model("""(float[B,H] h0, float[T,B,H] xs, float[H,H] W, float[H,H] R, float[H] bias) => (float[B,H] h, float[T,B,H] ys) {
        h, ys = Scan <num_scan_inputs = 1, body = cell (float[B,H] hp, float[B,H] x) => (float[B,H] hn, float[B,H] y) {
            a = MatMul(x, W)
            r = MatMul(hp, R)
            s = Add(a, r)
            t = Add(s, bias)
            hn = Tanh(t)
            y = Identity(hn)
        }> (h0, xs)
    }""")
    scale = hidden**-0.5
    feeds = {
        "h0": random_array(batch, hidden, seed=0),
        "xs": random_array(steps, batch, hidden, seed=1),
        "W": random_array(hidden, hidden, seed=2, scale=scale),
        "R": random_array(hidden, hidden, seed=3, scale=0.5 * scale),
        "bias": random_array(hidden, seed=4),
    }

    def expect(f: Feeds) -> Outputs:
        wide = {name: value.astype(np.float64) for name, value in f.items()}
        state, rows = wide["h0"], []
        for x in wide["xs"]:
            state = np.tanh(x @ wide["W"] + state @ wide["R"] + wide["bias"])
            rows.append(state)
        return [state.astype(np.float32), np.stack(rows).astype(np.float32)]

    return Benchmark(f"RNN cell T={steps} B={batch}", steps, model, feeds, expect, 1e-3, 1e-4)


def stacked_cells(steps: int = 128, hidden: int = 512) -> Benchmark:
    """Three cells h = tanh(x W + h R), one of the other's state, in one Scan."""
    model = make_model("""(float[B,H] h0, float[B,H] h1, float[B,H] h2, float[T,B,H] xs, float[H,H] W0, float[H,H] R0, float[H,H] W1, float[H,H] R1, float[H,H] W2, float[H,H] R2)
        => (float[B,H] e0, float[B,H] e1, float[B,H] e2, float[T,B,H] ys) {
        e0, e1, e2, ys = Scan <num_scan_inputs = 1, body = cells (float[B,H] p0, float[B,H] p1, float[B,H] p2, float[B,H] x)
            => (float[B,H] n0, float[B,H] n1, float[B,H] n2, float[B,H] y) {
            a0 = MatMul(x, W0)
            b0 = MatMul(p0, R0)
            c0 = Add(a0, b0)
            n0 = Tanh(c0)
            a1 = MatMul(n0, W1)
            b1 = MatMul(p1, R1)
            c1 = Add(a1, b1)
            n1 = Tanh(c1)
            a2 = MatMul(n1, W2)
            b2 = MatMul(p2, R2)
            c2 = Add(a2, b2)
            n2 = Tanh(c2)
            y = Identity(n2)
        }> (h0, h1, h2, xs)
    }""")
    scale = hidden**-0.5
    feeds = {f"h{k}": random_array(1, hidden, seed=k) for k in range(3)}
    feeds["xs"] = random_array(steps, 1, hidden, seed=3)
    for k in range(3):
        feeds[f"W{k}"] = random_array(hidden, hidden, seed=4 + k, scale=scale)
        feeds[f"R{k}"] = random_array(hidden, hidden, seed=7 + k, scale=0.5 * scale)

    def expect(f: Feeds) -> Outputs:
        rows, ends = f["xs"].astype(np.float64), []
        for k in range(3):
            state, below, rows = f[f"h{k}"].astype(np.float64), rows, np.empty_like(rows)
            for t, x in enumerate(below):
                state = np.tanh(x @ f[f"W{k}"] + state @ f[f"R{k}"])
                rows[t] = state
            ends.append(state.astype(np.float32))
        return [*ends, rows.astype(np.float32)]

    return Benchmark(
        f"3 stacked cells T={steps} H={hidden}", steps, model, feeds, expect, 1e-3, 1e-4
    )


def lstm_cell(batch: int, steps: int = 256, hidden: int = 256) -> Benchmark:
    """Four gates from one product, in a Scan."""
    model = make_model("""(float[B,H] h0, float[B,H] c0, float[T,B,H] xs, float[H,G] W, float[H,G] R, float[G] bias) => (float[B,H] h, float[B,H] c, float[T,B,H] ys) {
        h, c, ys = Scan <num_scan_inputs = 1, body = cell (float[B,H] hp, float[B,H] cp, float[B,H] x) => (float[B,H] hn, float[B,H] cn, float[B,H] y) {
            a = MatMul(x, W)
            r = MatMul(hp, R)
            s = Add(a, r)
            t = Add(s, bias)
            i0, o0, f0, g0 = Split<axis = 1, num_outputs = 4>(t)
            i1 = Sigmoid(i0)
            o1 = Sigmoid(o0)
            f1 = Sigmoid(f0)
            g1 = Tanh(g0)
            keep = Mul(f1, cp)
            add = Mul(i1, g1)
            cn = Add(keep, add)
            ct = Tanh(cn)
            hn = Mul(o1, ct)
            y = Identity(hn)
        }> (h0, c0, xs)
    }""")
    scale = hidden**-0.5
    feeds = {
        "h0": random_array(batch, hidden, seed=0),
        "c0": random_array(batch, hidden, seed=1),
        "xs": random_array(steps, batch, hidden, seed=2),
        "W": random_array(hidden, 4 * hidden, seed=3, scale=scale),
        "R": random_array(hidden, 4 * hidden, seed=4, scale=scale),
        "bias": random_array(4 * hidden, seed=5),
    }

    def expect(f: Feeds) -> Outputs:
        wide = {name: value.astype(np.float64) for name, value in f.items()}
        state, cell, rows = wide["h0"], wide["c0"], []
        for x in wide["xs"]:
            gates = x @ wide["W"] + state @ wide["R"] + wide["bias"]
            i, o, forget = (1 / (1 + np.exp(-g)) for g in np.split(gates, 4, 1)[:3])
            cell = forget * cell + i * np.tanh(gates[:, 3 * hidden :])
            state = o * np.tanh(cell)
            rows.append(state)
        return [v.astype(np.float32) for v in (state, cell, np.stack(rows))]

    return Benchmark(f"LSTM cell T={steps} B={batch}", steps, model, feeds, expect, 1e-3, 1e-4)


def mamba_scan(length: int = 1024, channels: int = 256, states: int = 16) -> Benchmark:
    """A selective scan: h = exp(dt A) h + dt x B, y = h C, a Loop over time."""
    model = make_model("""(float[L,1,D] x, float[L,1,D] dt, float[D,N] A, float[L,1,N] B, float[L,1,N] C, float[1,D,N] h0)
            => (float[K,1,D] ys, float[1,D,N] h) {
        last = Constant<value = int64[1] {-1}>()
        middle = Constant<value = int64[1] {1}>()
        zero = Constant<value = int64 {0}>()
        shape = Shape(x)
        M = Gather(shape, zero)
        h, ys = Loop <body = body (int64 t, bool c, float[1,D,N] hp) => (bool c, float[1,D,N] hn, float[1,D] y) {
            xt = Gather(x, t)
            dtt = Gather(dt, t)
            bt = Gather(B, t)
            ct = Gather(C, t)
            dtu = Unsqueeze(dtt, last)
            da = Mul(dtu, A)
            ea = Exp(da)
            xd = Mul(xt, dtt)
            xdu = Unsqueeze(xd, last)
            btu = Unsqueeze(bt, middle)
            bx = Mul(xdu, btu)
            keep = Mul(ea, hp)
            hn = Add(keep, bx)
            ctu = Unsqueeze(ct, middle)
            hc = Mul(hn, ctu)
            y = ReduceSum<keepdims = 0>(hc, last)
        }> (M, "", h0)
    }""")
    feeds = {
        "x": random_array(length, 1, channels, seed=0),
        "dt": np.abs(random_array(length, 1, channels, seed=1, scale=0.1)),
        "A": -np.abs(random_array(channels, states, seed=2)) - np.float32(0.5),
        "B": random_array(length, 1, states, seed=3),
        "C": random_array(length, 1, states, seed=4),
        "h0": np.zeros((1, channels, states), np.float32),
    }

    def expect(f: Feeds) -> Outputs:
        wide = {name: value.astype(np.float64) for name, value in f.items()}
        state, rows = wide["h0"], []
        for x, dt, b, c in zip(wide["x"], wide["dt"], wide["B"], wide["C"], strict=True):
            decay = np.exp(dt[..., None] * wide["A"])
            state = decay * state + (x * dt)[..., None] * b[:, None, :]
            rows.append((state * c[:, None, :]).sum(-1))
        return [np.stack(rows).astype(np.float32), state.astype(np.float32)]

    name = f"Mamba scan L={length} D={channels} N={states}"
    return Benchmark(name, length, model, feeds, expect, 1e-3, 1e-4, bound=1.3)


#: What `bench.py` times, by the name that `--filter` sees; made when asked for.
BENCHMARKS: dict[str, Callable[..., Any]] = {
    "empty_loop": empty_loop,
    "collect": collect,
    "collect_contracted": lambda: collect(contract=True),
    "converge": converge,
    "mandelbrot": mandelbrot,
    "nested": nested,
    "if_in_loop": if_in_loop,
    "rnn_cell_b1": lambda: rnn_cell(1),
    "rnn_cell_b16": lambda: rnn_cell(16),
    "lstm_scan_b1": lambda: lstm_cell(1, 128),
    "lstm_scan_b8": lambda: lstm_cell(8, 128),
    "lstm_cell_b1": lambda: lstm_cell(1),
    "lstm_cell_b16": lambda: lstm_cell(16),
    "stacked_cells": stacked_cells,
    "mamba_scan": mamba_scan,
}
