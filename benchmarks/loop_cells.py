# ===- loop_cells.py - Recurrent cells and layers as loops ------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Loops of neural networks as users write them: cells, state spaces, attention."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from tracing import Value, call, calls, loop, scan

Arrays = dict[str, np.ndarray]
#: Axes of inputs.
Axes = tuple[tuple[str, int], ...]
_random = np.random.default_rng(0)


@dataclasses.dataclass(frozen=True)
class Case:
    """A model as a function.

    Attributes:
        name: as the table shows it.
        trips: iterations, of all loops together.
        inputs: the model's inputs.
        function: makes the outputs from values of the inputs' names.
        opset: of ai.onnx.
        closed: axes that are always given, as (input, axis).
        tolerance: largest difference of an output, in parts of its largest element.
    """

    name: str
    trips: int
    inputs: Arrays
    function: Callable[..., Sequence[Any]]
    opset: int = 21
    closed: Axes = ()
    tolerance: float = 2e-3


def array(*shape: int, scale: float = 1.0, dtype: Any = np.float32) -> np.ndarray:
    """Normally distributed numbers."""
    return np.asarray(_random.standard_normal(shape) * scale, dtype)


def number(value: int) -> np.ndarray:
    """A trip count."""
    return np.array(value, np.int64)


def weights(*shape: int, dtype: Any = np.float32) -> np.ndarray:
    """A matrix that keeps the size of what it multiplies."""
    return array(*shape, scale=shape[0] ** -0.5, dtype=dtype)


def sigmoid(x: Value) -> Value:
    """1 / (1 + exp(-x))."""
    return call("Sigmoid", x, like=x)


def tanh(x: Value) -> Value:
    """The hyperbolic tangent."""
    return call("Tanh", x, like=x)


def transpose(x: Value, *perm: int) -> Value:
    """Axes in another order."""
    return call("Transpose", x, like=x, perm=list(perm))


def total(x: Value, axis: int, keep: int = 0) -> Value:
    """The sum along an axis."""
    return call("ReduceSum", x, np.array([axis]), keepdims=keep, like=x)


def _gated(steps: int, batch: int, hidden: int, dtype: Any = np.float32) -> Iterator[Case]:
    """Cells whose gates are products of one hidden state."""
    inputs = {
        "h0": array(batch, hidden, dtype=dtype),
        "x": array(steps, batch, hidden, dtype=dtype),
    }
    size = f"T{steps} B{batch} H{hidden}" + ("" if dtype is np.float32 else f" {np.dtype(dtype)}")
    tolerance = 2e-2 if dtype is np.float16 else 2e-3

    def case(name: str, cell: Callable[..., tuple[list[Value], Value]], states: int = 1) -> Case:
        def function(h0: Value, x: Value) -> list[Value]:
            def body(*values: Value) -> tuple[list[Value], list[Value]]:
                after, out = cell(*values)
                return after, [out]

            return scan([h0] * states, [x], body)

        return Case(f"{name} {size}", steps, inputs, function, tolerance=tolerance)

    wx, wh = (weights(hidden, 3 * hidden, dtype=dtype) for _ in range(2))
    u1, u2, v1, v2 = (weights(hidden, hidden, dtype=dtype) for _ in range(4))
    b = array(3 * hidden, scale=0.1, dtype=dtype)

    def gru(h: Value, x: Value) -> tuple[list[Value], Value]:
        xr, xz, xn = calls("Split", x @ wx + b, outputs=3, axis=-1, num_outputs=3)
        hr, hz, hn = calls("Split", h @ wh, outputs=3, axis=-1, num_outputs=3)
        r, z = sigmoid(xr + hr), sigmoid(xz + hz)
        n = tanh(xn + r * hn)
        h = (1 - z) * n + z * h
        return [h], h

    yield case("GRU", gru)

    def minimal(h: Value, x: Value) -> tuple[list[Value], Value]:
        f = sigmoid(x @ u1 + h @ u2)
        h = (1 - f) * h + f * tanh(x @ v1 + (f * h) @ v2)
        return [h], h

    yield case("minimal GRU", minimal)

    def sru(c: Value, x: Value) -> tuple[list[Value], Value]:
        f, r = sigmoid(x @ u1 + 1), sigmoid(x @ u2)
        c = f * c + (1 - f) * (x @ v1)
        return [c], r * tanh(c) + (1 - r) * x

    yield case("SRU", sru)
    p = array(3, hidden, scale=0.1, dtype=dtype)
    w4 = weights(hidden, 4 * hidden, dtype=dtype)
    r4 = weights(hidden, 4 * hidden, dtype=dtype)

    def peephole(h: Value, c: Value, x: Value) -> tuple[list[Value], Value]:
        i, f, g, o = calls("Split", x @ w4 + h @ r4, outputs=4, axis=1, num_outputs=4)
        c = sigmoid(f + c * p[0]) * c + sigmoid(i + c * p[1]) * tanh(g)
        h = sigmoid(o + c * p[2]) * tanh(c)
        return [h, c], h

    yield case("peephole LSTM", peephole, 2)

    def normed(h: Value, x: Value) -> tuple[list[Value], Value]:
        gates = call("LayerNormalization", x @ wx + h @ wh, np.ones_like(b), b, like=x, axis=-1)
        r, z, n = calls("Split", gates, outputs=3, axis=-1, num_outputs=3)
        h = h + sigmoid(z) * (tanh(n * sigmoid(r)) - h)
        return [h], h

    yield case("normalised GRU", normed)

    def gemm(h: Value, x: Value) -> tuple[list[Value], Value]:
        both = call("Concat", x, h, axis=1, like=x)
        h = tanh(
            call("Gemm", both, np.concatenate([u1, u2]).T.copy(), b[:hidden], transB=1, like=x)
        )
        return [h], h

    yield case("RNN of Concat and Gemm", gemm)


def _lstm_cell(hidden: int) -> Callable[[Value, Value, Value], list[Value]]:
    w, r = (weights(hidden, 4 * hidden) for _ in range(2))
    b = array(4 * hidden)

    def cell(x: Value, h: Value, c: Value) -> list[Value]:
        i, f, g, o = calls("Split", x @ w + h @ r + b, outputs=4, axis=1, num_outputs=4)
        c = sigmoid(f) * c + sigmoid(i) * tanh(g)
        return [sigmoid(o) * tanh(c), c]

    return cell


def _lists() -> Iterator[Case]:
    steps, batch, hidden = 64, 2, 128
    cell = _lstm_cell(hidden)
    inputs = {"x": array(steps, batch, hidden), "h": array(batch, hidden)}

    def gathered(x: Value, h: Value) -> list[Value]:
        def body(i: Value, h: Value, c: Value) -> Any:
            h, c = cell(call("Gather", x, i, axis=0), h, c)
            return None, [h, c], [h]

        return loop(call("Squeeze", call("Shape", x, end=1)), None, [h, h], body, 1)

    yield Case("LSTM by Loop and Gather", steps, inputs, gathered)

    def listed(x: Value, h: Value) -> list[Value]:
        xs = call("SplitToSequence", x, axis=0, keepdims=0)

        def body(i: Value, h: Value, c: Value, out: Value) -> Any:
            h, c = cell(call("SequenceAt", xs, i), h, c)
            return None, [h, c, call("SequenceInsert", out, h)], []

        states = [h, h, call("SequenceEmpty")]
        h, c, out = loop(call("SequenceLength", xs), None, states, body)
        return [call("ConcatFromSequence", out, axis=0, new_axis=1), h, c]

    yield Case("LSTM by Loop and sequences", steps, inputs, listed)

    def concatenated(x: Value, h: Value) -> list[Value]:
        def body(i: Value, h: Value, c: Value, out: Value) -> Any:
            start = call("Unsqueeze", i, np.array([0]))
            one = call("Slice", x, start, start + 1, np.array([0]))
            h, c = cell(call("Squeeze", one, np.array([0])), h, c)
            out = call("Concat", out, call("Unsqueeze", h, np.array([0])), axis=0)
            return None, [h, c, out], []

        empty = np.zeros((0, batch, hidden), np.float32)
        count = call("Gather", call("Shape", x), np.array(0))
        return loop(count, None, [h, h, empty], body)

    closed = (("h", 0), ("h", 1))
    yield Case("LSTM by Loop, Slice and Concat", steps, inputs, concatenated, closed=closed)

    def layers(x: Value, h: Value) -> list[Value]:
        def one(h: Value, c: Value, g: Value, d: Value, x: Value) -> Any:
            h, c = cell(x, h, c)
            g, d = cell(h, g, d)
            return [h, c, g, d], [g]

        return scan([h, h, h, h], [x], one)[-1:]

    yield Case("LSTM, two layers in one Scan", steps, inputs, layers)

    def both(x: Value, h: Value) -> list[Value]:
        def one(h: Value, c: Value, x: Value) -> Any:
            h, c = cell(x, h, c)
            return [h, c], [h]

        left = scan([h, h], [x], one)[-1]
        ways: dict[str, Any] = {"scan_input_directions": [1], "scan_output_directions": [1]}
        right = scan([h, h], [x], one, **ways)[-1]
        return [call("Concat", left, right, axis=-1)]

    yield Case("LSTM in two directions", 2 * steps, inputs, both)

    def masked(x: Value, h: Value, lengths: Value) -> list[Value]:
        def body(i: Value, h: Value, c: Value, x: Value) -> Any:
            ended = call("Unsqueeze", call("Less", i, lengths), np.array([1]))
            h1, c1 = cell(x, h, c)
            h1, c1 = call("Where", ended, h1, h), call("Where", ended, c1, c)
            return [i + 1, h1, c1], [call("Where", ended, h1, np.zeros(1, np.float32))]

        return scan([number(0), h, h], [x], body)[1:]

    lengths = {"lengths": np.array([40, 64], np.int64)}
    yield Case("LSTM with lengths", steps, inputs | lengths, masked)


def _convolutional() -> Iterator[Case]:
    steps, channels, size = 16, 8, 24
    w = array(4 * channels, 2 * channels, 3, 3, scale=0.1)

    def conv_lstm(x: Value, h: Value) -> list[Value]:
        def body(h: Value, c: Value, x: Value) -> Any:
            gates = call("Conv", call("Concat", x, h, axis=1), w, pads=[1] * 4)
            i, f, g, o = calls("Split", gates, outputs=4, axis=1, num_outputs=4)
            c = sigmoid(f) * c + sigmoid(i) * tanh(g)
            h = sigmoid(o) * tanh(c)
            return [h, c], [h]

        return scan([h, h], [x], body)

    inputs = {"x": array(steps, 1, channels, size, size), "h": array(1, channels, size, size)}
    closed: Axes = (("x", 2), ("h", 1))
    yield Case("ConvLSTM", steps, inputs, conv_lstm, closed=closed)
    steps, channels = 400, 64
    w1, w2 = array(channels, channels, 3, scale=0.07), array(channels, 1, 5, scale=0.4)

    def ring(x: Value, past: Value, further: Value) -> list[Value]:
        def body(past: Value, further: Value, x: Value) -> Any:
            window = call("Concat", past, call("Unsqueeze", x, np.array([2])), axis=2)
            y = call("Relu", call("Conv", window, w1))
            window2 = call("Concat", further, y, axis=2)
            z = call("Conv", window2, w2, group=channels)
            last = [
                call("Slice", v, np.array([1]), np.array([99]), np.array([2]))
                for v in (window, window2)
            ]
            return last, [call("Squeeze", z, np.array([2]))]

        return scan([past, further], [x], body)

    inputs = {
        "x": array(steps, 1, channels),
        "past": array(1, channels, 2),
        "further": array(1, channels, 4),
    }
    closed = (("x", 2), ("past", 1), ("further", 1), ("past", 2), ("further", 2))
    yield Case("streaming convolutions", steps, inputs, ring, closed=closed)
    kernel = np.array([[[[0, 1, 0], [1, -4, 1], [0, 1, 0]]]], np.float32) * 0.2

    def heat(u: Value, n: Value) -> list[Value]:
        def body(i: Value, u: Value) -> Any:
            return None, [u + call("Conv", u, kernel, pads=[1] * 4)], []

        return loop(n, None, [u], body)

    inputs = {"u": array(1, 1, 64, 64), "n": number(100)}
    yield Case("heat equation by Conv", 100, inputs, heat, closed=(("u", 1),))
    count = np.array([[[[1, 1, 1], [1, 0, 1], [1, 1, 1]]]], np.float32)

    def life(u: Value, n: Value) -> list[Value]:
        def body(i: Value, u: Value) -> Any:
            k = call("Conv", u, count, pads=[1] * 4)
            alive = call("And", u > 0.5, k.equal(2.0))
            return None, [call("Cast", call("Or", alive, k.equal(3.0)), to=1)], []

        return loop(n, None, [u], body)

    inputs = {"u": (array(1, 1, 64, 64) > 0.5).astype(np.float32), "n": number(100)}
    yield Case("game of life", 100, inputs, life, closed=(("u", 1),))


def _state_spaces() -> Iterator[Case]:
    for batch, length, channels, states in ((1, 256, 64, 16), (2, 128, 48, 8), (4, 64, 512, 16)):

        def mamba(x: Value, dt: Value, b: Value, c: Value, a: Value, h: Value) -> list[Value]:
            def body(h: Value, x: Value, dt: Value, b: Value, c: Value) -> Any:
                step = call("Unsqueeze", call("Softplus", dt), np.array([2]))
                drive = (
                    step * call("Unsqueeze", x, np.array([2])) * call("Unsqueeze", b, np.array([1]))
                )
                h = call("Exp", step * a) * h + drive
                return [h], [total(h * call("Unsqueeze", c, np.array([1])), 2)]

            return scan([h], [x, dt, b, c], body, scan_input_axes=[1] * 4, scan_output_axes=[1])

        inputs = {
            "x": array(batch, length, channels),
            "dt": array(batch, length, channels),
            "b": array(batch, length, states),
            "c": array(batch, length, states),
            "a": -np.abs(array(channels, states)),
            "h": array(batch, channels, states),
        }
        yield Case(f"Mamba B{batch} L{length} D{channels} N{states}", length, inputs, mamba)

    def ssm(x: Value, h: Value) -> list[Value]:
        def body(h: Value, x: Value) -> Any:
            h = call("MatMul", a, h) + call("MatMul", b, x)
            return [h], [call("MatMul", c, h)]

        return scan([h], [x], body)

    a, b, c = weights(64, 64) * 0.9, weights(64, 1), weights(1, 64)
    yield Case("S4, dense", 1000, {"x": array(1000, 1, 1), "h": array(64, 1)}, ssm)

    def diagonal(x: Value, h: Value) -> list[Value]:
        def body(h: Value, x: Value) -> Any:
            h = h * decay + call("Unsqueeze", x, np.array([1])) * b1
            return [h], [total(h * c1, 1)]

        return scan([h], [x], body)

    decay = np.exp(-np.abs(array(64, 32)))
    b1, c1 = array(64, 32), array(64, 32)
    yield Case(
        "S4, diagonal",
        500,
        {"x": array(500, 64), "h": array(64, 32)},
        diagonal,
        closed=(("x", 1), ("h", 0), ("h", 1)),
    )


def _linear_attention() -> Iterator[Case]:
    heads, width, length = 4, 32, 128

    def linear(kind: str) -> Callable[..., list[Value]]:
        def function(q: Value, k: Value, v: Value, g: Value, s: Value) -> list[Value]:
            def body(s: Value, q: Value, k: Value, v: Value, g: Value) -> Any:
                row, column = np.array([1]), np.array([2])
                key = call("Unsqueeze", k, column)
                gate = call("Unsqueeze", call("Unsqueeze", sigmoid(g), row), column)
                if kind == "DeltaNet":
                    old = call("MatMul", call("Unsqueeze", k, row), s)
                    s = s + gate * call("MatMul", key, call("Unsqueeze", v, row) - old)
                else:
                    s = gate * s + key * call("Unsqueeze", v, row)
                y = call("Squeeze", call("MatMul", call("Unsqueeze", q, row), s), row)
                return [s], [y]

            return scan([s], [q, k, v, g], body)

        return function

    inputs = {key: array(length, heads, width, scale=width**-0.5) for key in "qkv"}
    inputs |= {"g": array(length, heads), "s": array(heads, width, width)}
    for kind in ("linear attention", "DeltaNet"):
        yield Case(kind, length, inputs, linear(kind))

    def retention(q: Value, k: Value, v: Value, s: Value) -> list[Value]:
        def body(s: Value, q: Value, k: Value, v: Value) -> Any:
            s = s * fade + call("Einsum", k, v, equation="hk,hv->hkv")
            return [s], [call("Einsum", q, s, equation="hk,hkv->hv")]

        return scan([s], [q, k, v], body)

    fade = np.array([0.9, 0.95, 0.97, 0.99], np.float32).reshape(4, 1, 1)
    some = {key: inputs[key] for key in "qkvs"}
    yield Case("retention by Einsum", length, some, retention)

    def rwkv(k: Value, v: Value, w: Value, u: Value, z: Value) -> list[Value]:
        def body(a: Value, b: Value, p: Value, k: Value, v: Value) -> Any:
            q = call("Max", p, u + k, like=k)
            e1, e2 = call("Exp", p - q), call("Exp", u + k - q)
            y = (e1 * a + e2 * v) / (e1 * b + e2)
            q = call("Max", p + w, k, like=k)
            e1, e2 = call("Exp", p + w - q), call("Exp", k - q)
            return [e1 * a + e2 * v, e1 * b + e2, q], [y]

        return scan([z, z, z - 1e30], [k, v], body)

    for length, channels in ((512, 64), (256, 768)):
        inputs = {"k": array(length, channels), "v": array(length, channels)}
        inputs |= {"w": -np.abs(array(channels)), "u": array(channels)}
        inputs |= {"z": np.zeros(channels, np.float32)}
        yield Case(f"RWKV L{length} C{channels}", length, inputs, rwkv)


def _cached_attention(hidden: int) -> Iterator[Case]:
    heads, width, room = 4, 32, 128

    def cached(x: Value, cache: Value, n: Value) -> list[Value]:
        def body(i: Value, x: Value, ks: Value, vs: Value) -> Any:
            q, k, v = calls("Split", x @ wqkv, outputs=3, axis=1, num_outputs=3)
            at = call("Reshape", i, np.array([1, 1]))
            rows = [call("Reshape", one, np.array([1, heads, width])) for one in (k, v)]
            ks, vs = (call("ScatterND", c, at, one) for c, one in zip((ks, vs), rows, strict=True))
            q = call("Reshape", q, np.array([heads, 1, width]))
            scores = call("MatMul", q, transpose(ks, 1, 2, 0)) * width**-0.5
            seen = call("LessOrEqual", call("Range", number(0), number(room), number(1)), i)
            scores = call("Where", seen, scores, np.array(-1e30, np.float32))
            y = call("MatMul", call("Softmax", scores, axis=-1), transpose(vs, 1, 0, 2))
            y = call("Reshape", y, np.array([1, heads * width]))
            return None, [x + y @ wo, ks, vs], [y]

        return loop(n, None, [x, cache, cache], body, 1)

    wqkv, wo = weights(hidden, 3 * hidden), weights(hidden, hidden)
    inputs = {"x": array(1, hidden), "cache": np.zeros((room, heads, width), np.float32)}
    inputs["n"] = number(64)
    closed = (("x", 0), ("x", 1), ("cache", 0), ("cache", 1), ("cache", 2))
    yield Case("attention over a cache by ScatterND", 64, inputs, cached, closed=closed)


def _decoders() -> Iterator[Case]:
    steps, hidden, words, source = 32, 128, 500, 40
    table = array(words, hidden)
    wq, wc = weights(hidden, hidden), weights(2 * hidden, hidden)
    wv, out = weights(hidden, 1), weights(hidden, words)

    def bahdanau(memory: Value, keys: Value, h: Value, n: Value) -> list[Value]:
        def body(i: Value, token: Value, h: Value) -> Any:
            score = call("MatMul", tanh(keys + h @ wq), wv)
            share = call("Softmax", score, axis=0)
            context = total(share * memory, 0, 1)
            x = call("Gather", table, token, axis=0)
            h = tanh(call("MatMul", call("Concat", x, context, axis=1), wc) + h)
            token = call("ArgMax", call("MatMul", h, out), axis=1, keepdims=0)
            return None, [token, h], [token]

        return loop(n, None, [np.array([1]), h], body, 1)

    inputs = {"memory": array(source, hidden), "keys": array(source, hidden)}
    inputs |= {"h": array(1, hidden), "n": number(steps)}
    yield Case("decoder with Bahdanau attention", steps, inputs, bahdanau, closed=(("h", 0),))
    beams = 4
    w, r = weights(hidden, hidden), weights(hidden, hidden)

    def beam(h: Value, n: Value) -> list[Value]:
        def body(i: Value, tokens: Value, scores: Value, h: Value) -> Any:
            h = tanh(call("MatMul", call("Gather", table, tokens), w) + h @ r)
            logits = call("LogSoftmax", call("MatMul", h, out), axis=-1)
            flat = call(
                "Reshape", logits + call("Unsqueeze", scores, np.array([1])), np.array([-1])
            )
            best, at = calls("TopK", flat, np.array([beams]), outputs=2)
            at.dtype = np.dtype(np.int64)
            parent, token = at / words, call("Mod", at, np.array(words))
            return None, [token, best, call("Gather", h, parent)], [parent, token]

        start = [np.ones(beams, np.int64), np.array([0, -9, -9, -9], np.float32), h]
        return loop(n, None, start, body, 2)[1:]

    inputs = {"h": array(beams, hidden), "n": number(steps)}
    yield Case("beam search", steps, inputs, beam, closed=(("h", 0),))
    yield from _cached_attention(hidden)

    def transducer(frames: Value, h: Value) -> list[Value]:
        def body(i: Value, t: Value, token: Value, h: Value) -> Any:
            x = call("Gather", table, token)
            new = tanh(call("MatMul", x, w) + h @ r)
            frame = call("Gather", frames, t)
            joint = call("MatMul", tanh(new + frame), out)
            best = call("ArgMax", joint, axis=1, keepdims=0)
            blank = call("Less", best, np.array([words // 2]))
            t = t + call("Cast", call("Squeeze", blank), to=7)
            h = call("Where", call("Unsqueeze", blank, np.array([1])), h, new)
            more = call("Less", t, call("Gather", call("Shape", frames), np.array(0)))
            return more, [t, call("Where", blank, token, best), h], [best]

        start = [number(0), np.array([1]), h]
        return loop(number(200), np.array(True), start, body, 1)

    inputs = {"frames": array(100, 1, hidden), "h": array(1, hidden)}
    yield Case("transducer, greedy", 200, inputs, transducer, closed=(("frames", 1), ("h", 0)))


def _samplers() -> Iterator[Case]:
    width, steps = 256, 20
    w1, w2, w3 = weights(width, 512), weights(512, 512), weights(512, width)

    def network(x: Value, t: Value) -> Value:
        y = call("Gelu", x @ w1 + t, like=x)
        y = call("Gelu", y @ w2, like=x)
        return y @ w3

    def euler(x: Value, sigmas: Value) -> list[Value]:
        def body(x: Value, sigma: Value) -> Any:
            guess = network(x, sigma)
            x = x + (x - guess) * (sigma * -0.05)
            return [x], []

        return scan([x], [sigmas], body, 0)

    for batch in (1, 4, 32):
        inputs = {"x": array(batch, width), "sigmas": np.linspace(1, 0, steps).astype(np.float32)}
        yield Case(f"Euler sampler B{batch}", steps, inputs, euler)

    def diffusion(x: Value, noise: Value, n: Value) -> list[Value]:
        def body(i: Value, x: Value) -> Any:
            t = call("Cast", i, to=1)
            beta = t / 1000.0 + 1e-4
            y = x + call(
                "Conv",
                call("Tanh", call("Conv", x, k1, pads=[1] * 4)),
                k2,
                pads=[1] * 4,
            )
            mean = (x - beta * y) / call("Sqrt", 1 - beta, like=beta)
            return None, [mean + call("Sqrt", beta) * call("Gather", noise, i)], []

        return loop(n, None, [x], body)

    k1, k2 = array(16, 4, 3, 3, scale=0.1), array(4, 16, 3, 3, scale=0.1)
    inputs = {"x": array(1, 4, 32, 32), "noise": array(20, 1, 4, 32, 32), "n": number(20)}
    yield Case("diffusion", 20, inputs, diffusion, closed=(("x", 1), ("noise", 2)))

    def blocks(x: Value, n: Value) -> list[Value]:
        def body(i: Value, x: Value) -> Any:
            y = call("LayerNormalization", x, np.ones(width, np.float32), axis=-1, like=x)
            y = call("Gelu", y @ w1, like=x)
            return None, [x + y @ np.ascontiguousarray(w1.T)], []

        return loop(n, None, [x], body)

    for rows in (1, 16, 128):
        inputs = {"x": array(rows, width), "n": number(12)}
        yield Case(f"residual blocks B{rows}", 12, inputs, blocks, closed=(("x", 1),))


def cases() -> Iterator[Case]:
    """All of them."""
    yield from _gated(64, 1, 64)
    yield from _gated(100, 4, 256)
    yield from _gated(32, 32, 128)
    yield from _gated(64, 1, 64, np.float64)
    yield from _gated(32, 2, 64, np.float16)
    for family in (
        _lists,
        _convolutional,
        _state_spaces,
        _linear_attention,
        _decoders,
        _samplers,
    ):
        yield from family()
