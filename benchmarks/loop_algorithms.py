# ===- loop_algorithms.py - Algorithms and operators in loops ---------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Loops of algorithms as users write them, and single operators in loops."""

# ruff: noqa: E501 - in the table of operators a case is a line.

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from loop_cells import Axes, Case, array, number, total, transpose, weights
from tracing import Value, branch, call, calls, loop, scan

_random = np.random.default_rng(1)
_ZERO, _ONE, _TWO = (np.array([k], np.int64) for k in range(3))


def _integers(high: int, *shape: int) -> np.ndarray:
    return _random.integers(0, high, shape)


def _filters() -> Iterator[Case]:
    def biquad(x: Value, z: Value) -> list[Value]:
        def body(z1: Value, z2: Value, x: Value) -> Any:
            y = 0.2 * x + z1
            return [0.4 * x - -0.9 * y + z2, 0.2 * x - 0.5 * y], [y]

        return scan([z, z], [x], body)[2:]

    for length in (1000, 48000):
        inputs = {"x": array(length), "z": np.zeros((), np.float32)}
        yield Case(f"biquad T{length}", length, inputs, biquad)
    yield Case("biquad T2000 C16", 2000, {"x": array(2000, 16), "z": array(16)}, biquad)
    inputs = {"x": array(2000, dtype=np.float64), "z": np.zeros((), np.float64)}
    yield Case("biquad T2000 float64", 2000, inputs, biquad)

    def average(x: Value, s: Value) -> list[Value]:
        def body(s: Value, x: Value) -> Any:
            s = s + (x - s) * 0.1
            return [s], [s]

        return scan([s], [x], body, scan_input_axes=[1], scan_output_axes=[1])

    yield Case("EMA over axis 1", 1000, {"x": array(8, 1000), "s": array(8)}, average)

    def average9(x: Value, s: Value) -> list[Value]:
        def body(s: Value, x: Value) -> Any:
            s = s + (x - s) * 0.1
            return [s], [s]

        return scan([s], [x], body, scan_input_axes=[0])

    yield Case("EMA, opset 11", 1000, {"x": array(1000, 32), "s": array(32)}, average9, opset=11)

    def lpc(noise: Value, past: Value) -> list[Value]:
        def body(past: Value, e: Value) -> Any:
            y = e + call("ReduceSum", past * coefficients, keepdims=0)
            tail = call("Slice", past, _ZERO, np.array([15]), _ZERO)
            return [call("Concat", call("Unsqueeze", y, _ZERO), tail, axis=0)], [y]

        return scan([past], [noise], body)[1:]

    coefficients = array(16, scale=0.05)
    inputs = {"noise": array(4000), "past": array(16)}
    yield Case("LPC synthesis", 4000, inputs, lpc, closed=(("past", 0),))


def _dynamic_programs() -> Iterator[Case]:
    def viterbi(emissions: Value, transitions: Value) -> list[Value]:
        def forward(score: Value, e: Value) -> Any:
            moves = call("Unsqueeze", score, _ONE) + transitions
            best = call("ReduceMax", moves, _ZERO, keepdims=0, like=score)
            return [best + e], [call("ArgMax", moves, axis=0, keepdims=0)]

        first = call("Gather", emissions, number(0))
        score, back = scan([first], [emissions], forward)
        last = call("ArgMax", score, axis=0, keepdims=0)

        def trace(state: Value, pointers: Value) -> Any:
            return [call("Gather", pointers, state)], [state]

        ways: dict[str, Any] = {"scan_input_directions": [1], "scan_output_directions": [1]}
        return [scan([last], [back], trace, **ways)[1], score]

    for steps, states in ((500, 12), (200, 64)):
        inputs = {"emissions": array(steps, states), "transitions": array(states, states)}
        yield Case(f"Viterbi T{steps} S{states}", 2 * steps, inputs, viterbi)

    def forward(emissions: Value, transitions: Value) -> list[Value]:
        def body(alpha: Value, e: Value) -> Any:
            moves = call("Unsqueeze", alpha, _ONE) + transitions
            alpha = call("ReduceLogSumExp", moves, _ZERO, keepdims=0, like=alpha) + e
            return [alpha], [alpha]

        return scan([call("Gather", emissions, number(0))], [emissions], body)

    yield Case("HMM forward", 500, inputs | {"emissions": array(500, 64)}, forward)

    def ctc(scores: Value, labels: Value, alpha: Value) -> list[Value]:
        def body(alpha: Value, s: Value) -> Any:
            one = call("Pad", alpha, np.array([1, 0]), np.array(-1e30, np.float32), like=alpha)
            one = call("Slice", one, _ZERO, np.array([-1]), like=alpha)
            two = call("Pad", alpha, np.array([2, 0]), np.array(-1e30, np.float32), like=alpha)
            two = call("Slice", two, _ZERO, np.array([-2]), like=alpha)
            top = call("Max", alpha, one, two)
            parts = [call("Exp", v - top) for v in (alpha, one, two)]
            alpha = top + call("Log", call("Sum", *parts)) + call("Gather", s, labels)
            return [alpha], []

        return scan([alpha], [scores], body, 0)

    inputs = {"scores": array(200, 30), "labels": _integers(30, 41), "alpha": array(41)}
    yield Case("CTC forward", 200, inputs, ctc)

    def greedy(scores: Value) -> list[Value]:
        def body(i: Value, last: Value, out: Value) -> Any:
            best = call("ArgMax", call("Gather", scores, i), axis=0, keepdims=0)
            fresh = call("And", call("Not", best.equal(last)), best > 0)
            (out,) = branch(
                fresh,
                lambda: [call("Concat", out, call("Unsqueeze", best, _ZERO), axis=0)],
                lambda: [out],
            )
            return None, [best, out], []

        count = call("Gather", call("Shape", scores), number(0))
        return loop(count, None, [number(-1), np.zeros(0, np.int64)], body)[1:]

    yield Case("CTC greedy", 300, {"scores": array(300, 30)}, greedy)


def _edit_distance() -> Iterator[Case]:
    def edit(a: Value, b: Value) -> list[Value]:
        def row(i: Value, previous: Value) -> Any:
            letter = call("Gather", a, i)
            differs = call("Cast", call("Not", call("Equal", b, letter)), to=7)
            swapped = call("Slice", previous, _ZERO, np.array([-1])) + differs
            down = call("Slice", previous, _ONE, np.array([2**62])) + 1
            best = call("Min", swapped, down, like=i)
            first = i + 1

            def cell(left: Value, v: Value) -> Any:
                value = call("Min", left + 1, v, like=left)
                return [value], [value]

            _, rest = scan([first], [best], cell, shapes=[[], []])
            return None, [call("Concat", call("Unsqueeze", first, _ZERO), rest, axis=0)], []

        length = call("Squeeze", call("Shape", b))
        first = call("Range", number(0), call("Add", length, number(1)), number(1))
        first.dtype = np.dtype(np.int64)
        (last,) = loop(call("Squeeze", call("Shape", a)), None, [first], row)
        return [call("Gather", last, length)]

    inputs = {"a": _integers(26, 100), "b": _integers(26, 120)}
    yield Case("edit distance", 12000, inputs, edit)


def _numerics() -> Iterator[Case]:
    def kalman(z: Value, x: Value, p: Value) -> list[Value]:
        dtype = x.dtype.type
        f = np.eye(4, dtype=dtype) + np.eye(4, k=2, dtype=dtype) * dtype(0.1)
        q, h = np.eye(4, dtype=dtype) * dtype(0.01), np.eye(1, 4, dtype=dtype)

        def body(x: Value, p: Value, z: Value) -> Any:
            x = call("MatMul", f, x)
            p = call("MatMul", call("MatMul", f, p), f.T.copy(), like=x) + q
            s = call("MatMul", call("MatMul", h, p), h.T.copy(), like=x) + 0.5
            k = call("MatMul", p, h.T.copy(), like=x) / s
            x = x + k * (z - call("MatMul", h, x))
            p = p - k @ call("MatMul", h, p)
            return [x, p], [x]

        return scan([x, p], [z], body)

    for dtype in (np.float32, np.float64):
        inputs = {"z": array(1000, 1, 1, dtype=dtype), "x": array(4, 1, dtype=dtype)}
        inputs["p"] = np.eye(4, dtype=dtype)
        closed: Axes = (("z", 1), ("z", 2), ("x", 1))
        yield Case(f"Kalman filter {np.dtype(dtype)}", 1000, inputs, kalman, closed=closed)

    def roots(a: Value) -> list[Value]:
        def body(i: Value, x: Value) -> Any:
            new = (x + a / x) * 0.5
            error = call("ReduceMax", call("Abs", new - x), keepdims=0, like=a)
            return error > 1e-6, [new], []

        return loop(number(100), np.array(True), [a], body)

    for size in (1, 100, 10000):
        inputs = {"a": np.abs(array(size)) + 1}
        yield Case(f"Newton's square roots N{size}", 8, inputs, roots)

    def lorenz(x: Value, n: Value) -> list[Value]:
        def slope(x: Value) -> Value:
            u, v, w = calls("Split", x, outputs=3, axis=0, num_outputs=3)
            return call(
                "Concat", (v - u) * 10.0, u * (28.0 - w) - v, u * v - w * 2.6, axis=0, like=x
            )

        def body(i: Value, x: Value) -> Any:
            k1 = slope(x)
            k2 = slope(x + k1 * 0.005)
            k3 = slope(x + k2 * 0.005)
            k4 = slope(x + k3 * 0.01)
            x = x + (k1 + k2 * 2.0 + k3 * 2.0 + k4) * (0.01 / 6)
            return None, [x], [x]

        return loop(n, None, [x], body, 1)

    one = np.ones(3, np.float64)
    closed = (("x", 0),)
    yield Case("Runge-Kutta, Lorenz", 1000, {"x": one, "n": number(1000)}, lorenz, closed=closed)

    def pendulum(y: Value, v: Value, n: Value) -> list[Value]:
        def body(i: Value, y: Value, v: Value) -> Any:
            v = v - call("Sin", y) * 0.01
            return None, [y + v * 0.01, v], []

        return loop(n, None, [y, v], body)

    inputs = {"y": array(1024), "v": array(1024), "n": number(100)}
    yield Case("pendulums", 100, inputs, pendulum)


def _solvers() -> Iterator[Case]:
    def power(a: Value, v: Value, n: Value) -> list[Value]:
        def body(i: Value, v: Value) -> Any:
            w = a @ v
            return None, [w / call("ReduceL2", w, keepdims=1, like=w)], []

        return loop(n, None, [v], body)

    def gradients(a: Value, v: Value, n: Value) -> list[Value]:
        def body(i: Value, x: Value, r: Value, p: Value, rs: Value) -> Any:
            ap = a @ p
            alpha = rs / call("ReduceSum", p * ap, keepdims=0, like=rs)
            r = r - alpha * ap
            new = call("ReduceSum", r * r, keepdims=0, like=rs)
            more = new > 1e-10
            return more, [x + alpha * p, r, r + new / rs * p, new], []

        square = call("ReduceSum", v * v, keepdims=0, like=v)
        return loop(n, np.array(True), [v - v, v, v, square], body)[:1]

    for size in (16, 64, 512):
        root = weights(size, size)
        matrix = root @ root.T + np.eye(size, dtype=np.float32)
        inputs = {"a": matrix, "v": array(size), "n": number(30)}
        yield Case(f"power iteration N{size}", 30, inputs, power)
        yield Case(f"conjugate gradients N{size}", 15, inputs, gradients, tolerance=1e-2)

    def clusters(x: Value, c: Value, n: Value) -> list[Value]:
        def body(i: Value, c: Value) -> Any:
            gap = call("Unsqueeze", x, _ONE) - call("Unsqueeze", c, _ZERO)
            nearest = call("ArgMin", total(gap * gap, 2), axis=1, keepdims=0)
            hot = call("OneHot", nearest, np.array(8), np.array([0, 1], np.float32), axis=0)
            hot.dtype = np.dtype(np.float32)
            count = total(hot, 1, 1)
            return None, [(hot @ x) / call("Max", count, np.array(1, np.float32))], []

        return loop(n, None, [c], body)

    points = array(1000, 4)
    inputs = {"x": points, "c": points[:8].copy(), "n": number(10)}
    yield Case("k-means", 10, inputs, clusters, closed=(("c", 0),))

    def descent(x: Value, y: Value, w: Value, n: Value) -> list[Value]:
        def body(i: Value, w: Value, m: Value) -> Any:
            error = call("Sigmoid", x @ w, like=w) - y
            slope = transpose(x, 1, 0) @ error
            m = m * 0.9 + slope
            return None, [w - m * 0.001, m], [call("ReduceMean", error * error, keepdims=0)]

        return loop(n, None, [w, w - w], body, 1)

    inputs = {"x": array(256, 32), "y": (array(256, 1) > 0).astype(np.float32), "w": array(32, 1)}
    inputs["n"] = number(50)
    yield Case("logistic regression, descent", 50, inputs, descent, closed=(("y", 1), ("w", 1)))

    def sinkhorn(k: Value, u: Value, n: Value) -> list[Value]:
        def body(i: Value, u: Value, v: Value) -> Any:
            v = 1.0 / (transpose(k, 1, 0) @ u)
            return None, [1.0 / (k @ v), v], []

        return loop(n, None, [u, u], body)

    inputs = {"k": np.abs(array(48, 48)) + 0.1, "u": np.ones((48, 1), np.float32)}
    inputs["n"] = number(50)
    yield Case("Sinkhorn", 50, inputs, sinkhorn, closed=(("u", 1),))


def _integer_programs() -> Iterator[Case]:
    def collatz(n: Value) -> list[Value]:
        def body(i: Value, n: Value, steps: Value) -> Any:
            even = call("Mod", n, number(2)).equal(0)
            n = call("Where", even, call("Div", n, number(2)), n * 3 + 1, like=n)
            return n > 1, [n, steps + 1], []

        return loop(number(2**62), np.array(True), [n, number(0)], body)

    yield Case("Collatz", 350, {"n": number(77031)}, collatz)

    def fibonacci(n: Value, a: Value) -> list[Value]:
        return loop(n, None, [a, a], lambda i, a, b: (None, [b, a + b], [a]), 1)

    inputs = {"n": number(1000), "a": np.array(1, np.int32)}
    yield Case("Fibonacci", 1000, inputs, fibonacci)

    def sieve(flags: Value) -> list[Value]:
        def body(i: Value, flags: Value) -> Any:
            n = i + 2
            at = call("Range", n * n, np.array(10000), n)
            at = call("Unsqueeze", at, _ONE)
            zeros = call("Expand", np.array(False), call("Shape", call("Squeeze", at, _ONE)))
            return None, [call("ScatterND", flags, at, zeros)], []

        return loop(number(98), None, [flags], body)

    yield Case("prime sieve", 98, {"flags": np.ones(10000, bool)}, sieve, closed=(("flags", 0),))

    def rule(cells: Value, n: Value) -> list[Value]:
        def body(i: Value, c: Value) -> Any:
            end = np.array([2**62])
            left = call(
                "Concat",
                call("Slice", c, -_ONE, end, _ZERO),
                call("Slice", c, _ZERO, -_ONE, _ZERO),
                axis=0,
                like=c,
            )
            right = call(
                "Concat",
                call("Slice", c, _ONE, end, _ZERO),
                call("Slice", c, _ZERO, _ONE, _ZERO),
                axis=0,
                like=c,
            )
            c = call("Gather", table, left * 4 + c * 2 + right)
            return None, [c], [c]

        return loop(n, None, [cells], body, 1)

    table = np.array([0, 1, 1, 1, 0, 1, 1, 0])
    inputs = {"cells": _integers(2, 256), "n": number(200)}
    yield Case("cellular automaton", 200, inputs, rule)


def _array_programs() -> Iterator[Case]:
    def bubbles(x: Value, n: Value) -> list[Value]:
        def body(i: Value, x: Value) -> Any:
            rows = call("Reshape", x, np.array([-1, 2]))
            low = call("ReduceMin", rows, _ONE, keepdims=1)
            x = call(
                "Reshape",
                call("Concat", low, call("ReduceMax", rows, _ONE, keepdims=1), axis=1),
                np.array([-1]),
            )
            middle = call("Reshape", call("Slice", x, _ONE, -_ONE), np.array([-1, 2]))
            low = call("ReduceMin", middle, _ONE, keepdims=1)
            middle = call("Concat", low, call("ReduceMax", middle, _ONE, keepdims=1), axis=1)
            ends = [call("Slice", x, _ZERO, _ONE), call("Slice", x, -_ONE, np.array([2**62]))]
            flat = call("Reshape", middle, np.array([-1]))
            return None, [call("Concat", ends[0], flat, ends[1], axis=0)], []

        return loop(n, None, [x], body)

    yield Case("odd-even sort", 64, {"x": array(128), "n": number(64)}, bubbles)

    def select(x: Value, n: Value) -> list[Value]:
        def body(i: Value, x: Value) -> Any:
            at = call("ArgMin", x, axis=0, keepdims=1)
            least = call("GatherElements", x, at)
            top = np.array([np.inf], np.float32)
            return None, [call("ScatterElements", x, at, top)], [call("Squeeze", least)]

        return loop(n, None, [x], body, 1)[1:]

    yield Case("selection sort", 128, {"x": array(128), "n": number(128)}, select)

    def random(seed: Value, n: Value) -> list[Value]:
        def body(i: Value, s: Value) -> Any:
            s = call(
                "BitwiseXor", s, call("BitShift", s, np.array(13, np.uint64), direction="LEFT")
            )
            s = call(
                "BitwiseXor", s, call("BitShift", s, np.array(7, np.uint64), direction="RIGHT")
            )
            s = call(
                "BitwiseXor", s, call("BitShift", s, np.array(17, np.uint64), direction="LEFT")
            )
            return None, [s], [s]

        return loop(n, None, [seed], body, 1)

    inputs = {"seed": np.array([88172645463325252] * 4, np.uint64), "n": number(1000)}
    yield Case("xorshift", 1000, inputs, random)

    def walk(x: Value, edges: Value, n: Value) -> list[Value]:
        def body(i: Value, at: Value, seen: Value) -> Any:
            at = call("Squeeze", call("GatherND", edges, call("Unsqueeze", at, _ZERO)))
            seen = call("ScatterElements", seen, call("Unsqueeze", at, _ZERO), np.array([True]))
            return None, [at, seen], [at]

        return loop(n, None, [x, np.zeros(1000, bool)], body, 1)

    inputs = {"x": number(0), "edges": _integers(1000, 1000), "n": number(1000)}
    yield Case("walk in a graph", 1000, inputs, walk)

    def floyd(d: Value) -> list[Value]:
        def body(k: Value, d: Value) -> Any:
            column = call("Gather", d, call("Unsqueeze", k, _ZERO), axis=1)
            row = call("Gather", d, call("Unsqueeze", k, _ZERO), axis=0)
            return None, [call("Min", d, call("Add", column, row), like=d)], []

        return loop(call("Gather", call("Shape", d), number(0)), None, [d], body)

    yield Case("shortest paths", 64, {"d": np.abs(array(64, 64))}, floyd)


def _control() -> Iterator[Case]:
    def unequal(x: Value, n: Value) -> list[Value]:
        def body(i: Value, x: Value) -> Any:
            rare = call("Mod", i, number(8)).equal(0)
            (y,) = branch(rare, lambda: [call("Tanh", x @ matrix, like=x)], lambda: [x * 0.99])
            return None, [y], []

        return loop(n, None, [x], body)

    matrix = weights(128, 128)
    inputs = {"x": array(1, 128), "n": number(256)}
    yield Case("If of unequal branches", 256, inputs, unequal, closed=(("x", 1),))

    def jagged(x: Value) -> list[Value]:
        def row(s: Value, x: Value) -> Any:
            def inner(j: Value, v: Value) -> Any:
                v = v + call("Sqrt", call("Abs", v)) * 0.5
                return v < 10.0, [v], []

            (v,) = loop(number(1000), np.array(True), [call("Abs", x, like=x)], inner)
            return [s + v], [v]

        return scan([np.zeros((), np.float32)], [x], row, shapes=[[], []])

    yield Case("while in Scan", 2000, {"x": array(300)}, jagged)

    def queue(x: Value, n: Value) -> list[Value]:
        def body(i: Value, q: Value, s: Value) -> Any:
            first = call("SequenceAt", q, number(0), like=x)
            q = call("SequenceErase", q, number(0))
            s = s + first
            q = call("SequenceInsert", q, first * 0.5)
            return None, [q, s], []

        start = call("SplitToSequence", x, axis=0, keepdims=0)
        q, s = loop(n, None, [start, call("Gather", x, number(0), like=x)], body)
        return [s, call("SequenceLength", q)]

    yield Case("queue of tensors", 500, {"x": array(16, 32), "n": number(500)}, queue)

    def steps(x: Value, y: Value) -> list[Value]:
        def body(s: Value, a: Value, b: Value) -> Any:
            s = s * 0.5 + a - b
            return [s], [s, s * 2.0]

        return scan(
            [np.zeros(32, np.float32)],
            [x, y],
            body,
            2,
            scan_input_axes=[1, 0],
            scan_input_directions=[0, 1],
            scan_output_axes=[1, 0],
            scan_output_directions=[1, 0],
        )

    inputs = {"x": array(32, 500), "y": array(500, 32)}
    yield Case("Scan of axes and directions", 500, inputs, steps, closed=(("x", 0), ("y", 1)))

    def outer(x: Value, h: Value) -> list[Value]:
        def rows(h: Value, x: Value) -> Any:
            def columns(h: Value, x: Value) -> Any:
                h = call("Tanh", h * 0.5 + x, like=h)
                return [h], [h]

            h, row = scan([h], [x], columns)
            return [h], [row]

        return scan([h], [x], rows)

    yield Case("Scan in Scan", 1600, {"x": array(40, 40, 8), "h": array(8)}, outer)


def _repeated(
    name: str, x: np.ndarray, body: Callable[[Value, Value], Any], **options: Any
) -> Case:
    """A loop of 200 trips over one operator, or a few."""
    trips = 200

    def function(x: Value, n: Value) -> list[Value]:
        return loop(n, None, [x], lambda i, x: (None, [body(i, x)], []))

    inputs = {"x": x, "n": number(trips)}
    return Case(f"{name} {list(x.shape)} in a loop", trips, inputs, function, **options)


def _products() -> Iterator[Case]:
    def products(width: int, hidden: int) -> Callable[[Value, Value], Value]:
        a, b = weights(width, hidden), weights(hidden, width)
        return lambda i, x: (x @ a) @ b

    for batch, width, hidden in (
        (1, 64, 64),
        (1, 512, 2048),
        (4, 128, 256),
        (16, 64, 64),
        (32, 256, 256),
    ):
        yield _repeated(
            f"MatMul {width}x{hidden}",
            array(batch, width),
            products(width, hidden),
            closed=(("x", 1),),
        )


def _operators() -> Iterator[Case]:
    norm = np.ones(64, np.float32)
    ones = np.ones((64, 64), np.float32)

    def rms(i: Value, x: Value) -> Value:
        square = call("ReduceMean", x * x, np.array([-1]), keepdims=1, like=x)
        return x / call("Sqrt", square + 1e-5, like=x) * norm

    def replace(i: Value, x: Value) -> Value:
        row = call("Gather", x, call("Mod", i, number(16)), axis=0, like=x)
        place = call("Reshape", call("Mod", i + 3, number(16)), np.array([1, 1]))
        return call("ScatterND", x, place, call("Unsqueeze", row * 1.01, _ZERO))

    def shift(i: Value, x: Value) -> Value:
        first = call("Slice", x, _ZERO, _ONE, _ZERO)
        return call("Concat", call("Slice", x, _ONE, np.array([2**62]), _ZERO), first, axis=0)

    def top(i: Value, x: Value) -> Value:
        best, at = calls("TopK", x, np.array([8]), outputs=2)
        return call("ScatterElements", x, at, best * 0.9, axis=-1)

    def order(i: Value, x: Value) -> Value:
        return calls("TopK", x, np.array([64]), outputs=2, largest=0)[0]

    def halves(i: Value, x: Value) -> Value:
        a, b = calls("Split", x, outputs=2, axis=1, num_outputs=2)
        return call("Concat", b * 0.99, a, axis=1)

    def lower(i: Value, x: Value) -> Value:
        return call("Trilu", x, upper=0) + transpose(x, 1, 0) * 0.1

    for name, x, body in (
        ("Softmax", array(16, 64), lambda i, x: call("Softmax", x, axis=-1, like=x) * 10.0),
        ("LayerNormalization", array(16, 64), lambda i, x: call("LayerNormalization", x, norm, norm, axis=-1)),
        ("RMS", array(4, 64), rms),
        ("Gather and ScatterND", array(16, 64), replace),
        ("shift register", array(16, 64), shift),
        ("TopK and ScatterElements", array(4, 64), top),
        ("sort by TopK", array(4, 64), order),
        ("CumSum", array(16, 64), lambda i, x: call("CumSum", x, np.array(1), like=x) * 0.02),
        ("Where", array(16, 64), lambda i, x: call("Where", x > 0.0, x * 0.9, x + 0.1)),
        ("Einsum", array(8, 64), lambda i, x: call("Einsum", x, ones, equation="ab,cb->ac", like=x) * 0.01),
        ("Transpose", array(64, 64), lambda i, x: transpose(x, 1, 0) * 0.5 + x * 0.4),
        ("Split and Concat", array(16, 64), halves),
        ("Trilu", array(32, 32), lower),
        ("ReduceMean", array(64, 64), lambda i, x: x - call("ReduceMean", x, _ZERO, keepdims=1)),
        ("Pow", np.abs(array(16, 64)), lambda i, x: call("Pow", x, np.array(0.9, np.float32))),
        ("Erf", array(16, 64), lambda i, x: call("Erf", x)),
        ("Gelu", array(16, 64), lambda i, x: call("Gelu", x, like=x) + 0.1),
        ("Tanh", array(1, 64), lambda i, x: call("Tanh", x)),
        ("Sin", array(16, 64), lambda i, x: call("Sin", x)),
        ("Pad", array(16, 64), lambda i, x: call("Slice", call("Pad", x, np.array([0, 1, 0, 0])), _ZERO, -_ONE, _ONE)),
        ("Clip float16", array(16, 64, dtype=np.float16), lambda i, x: call("Clip", x * 1.1, np.array(-2, np.float16), np.array(2, np.float16))),
        ("MaxPool", array(1, 4, 16, 16), lambda i, x: call("MaxPool", x, kernel_shape=[3, 3], pads=[1] * 4, like=x) * 0.9),
        ("dequantized", array(16, 64), lambda i, x: call("DequantizeLinear", call("QuantizeLinear", x, np.array(0.1, np.float32), np.array(3, np.int8)), np.array(0.1, np.float32), np.array(3, np.int8), like=x) * 0.9),
        ("int32 arithmetic", _integers(99, 16, 64).astype(np.int32), lambda i, x: call("Mod", x * 5 + 3, np.array(97, np.int32))),
        ("int64 division", _integers(99, 16, 64), lambda i, x: call("Div", x * 7 + 3, np.array(5)) - x),
        ("bool", _integers(2, 16, 64).astype(bool), lambda i, x: call("Xor", x, call("Concat", *calls("Split", x, np.array([32, 32]), outputs=2, axis=1)[::-1], axis=1))),
    ):  # fmt: skip
        closed = (
            (("x", 1), ("x", 0)) if name in ("Softmax", "TopK and ScatterElements") else (("x", 1),)
        )
        yield _repeated(name, x, body, closed=closed)


def cases() -> Iterator[Case]:
    """All of them."""
    for family in (
        _filters,
        _dynamic_programs,
        _edit_distance,
        _numerics,
        _solvers,
        _integer_programs,
        _array_programs,
        _control,
        _products,
        _operators,
    ):
        yield from family()
