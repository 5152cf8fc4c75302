# ===- test_version_shapes.py - Loops over extents that only the run tells -===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Loops whose inputs' extents all have names of their own.

Where they agree, an iteration allocates nothing; where they do not, values are
broadcast or the run ends with an error, as ever.
"""

from __future__ import annotations

import loopc
import numpy as np
import onnx
import onnx.parser
import pytest


def session(text: str) -> loopc.InferenceSession:
    model = onnx.parser.parse_model(
        f'<ir_version: 10, opset_import: ["": 21]> shapes {text.strip()}'
    )
    return loopc.InferenceSession(model.SerializeToString())


CELL = """(float[a, b] h0, float[t, c, d] x, float[e, f] w, float[g] bias) => (float[i, j] h, float[k, l, m] y) {
    h, y = Scan <num_scan_inputs = 1, body = cell (float[n, o] h1, float[p, q] x1) => (float[r, s] h2, float[u, v] y1) {
        p1 = MatMul(h1, w)
        s1 = Add(p1, x1)
        s2 = Add(s1, bias)
        h3 = Tanh(s2)
        d1 = Sub(h3, h1)
        h2 = Add(h1, d1)
        y1 = Identity(h2)
    }> (h0, x)
}"""

#: Values of one extent are what the next one is added to.
SUMS = """(int64 n, float[a, b] x0, float[c, d] y, float[e] z) => (float[f, g] x) {
    x = Loop <body = body (int64 i, bool more, float[h, j] x1) => (bool more, float[k, l] x3) {
        x2 = Add(x1, y)
        x3 = Mul(x2, z)
    }> (n, "", x0)
}"""

CONV = """(int64 n, float[a, 2, b, c] x0, float[2, 2, 3, 3] w) => (float[d, 2, e, f] x) {
    x = Loop <body = body (int64 i, bool more, float[g, 2, h, j] x1) => (bool more, float[k, 2, l, m] x3) {
        y = Conv <pads = [1, 1, 1, 1]> (x1, w)
        r = Relu(y)
        x3 = Add(x1, r)
    }> (n, "", x0)
}"""

#: Keeps the extent where it is even, by a shape that is computed.
HALVES = """(int64 n, float[a] x0) => (float[b] x) {
    x = Loop <body = body (int64 i, bool more, float[c] x1) => (bool more, float[d] x2) {
        two = Constant <value = int64[2] {-1, 2}> ()
        flat = Constant <value = int64[1] {-1}> ()
        axes = Constant <value = int64[1] {1}> ()
        rows = Reshape(x1, two)
        low = ReduceMin(rows, axes)
        high = ReduceMax(rows, axes)
        both = Concat <axis = 1> (low, high)
        x2 = Reshape(both, flat)
    }> (n, "", x0)
}"""

#: Each step broadcasts what the one before made, and one drops an axis of 1.
RULE = """(float[a, b, c] s0, float[t, d, e] k, float[u, f, g] v, float[w, h] r) => (float[i, j, l] s, float[m, n, o] y) {
    s, y = Scan <num_scan_inputs = 3, body = rule (float[p, q, z] s1, float[aa, ab] k1, float[ac, ad] v1, float[ae] r1) => (float[af, ag, ah] s2, float[ai, aj] y1) {
        one = Constant <value = int64[1] {1}> ()
        two = Constant <value = int64[1] {2}> ()
        row = Unsqueeze(k1, one)
        read = MatMul(row, s1)
        old = Squeeze(read, one)
        more = Sub(v1, old)
        rate = Unsqueeze(r1, one)
        part = Mul(more, rate)
        column = Unsqueeze(k1, two)
        rows = Unsqueeze(part, one)
        outer = Mul(column, rows)
        s2 = Add(s1, outer)
        again = MatMul(row, s2)
        y1 = Squeeze(again, one)
    }> (s0, k, v, r)
}"""

#: The last column, which is one where there is any, is repeated.
LAST = """(int64 n, float[a, b] x0) => (float[c, d] x) {
    x = Loop <body = body (int64 i, bool more, float[e, f] x1) => (bool more, float[g, h] x2) {
        axis = Constant <value = int64[1] {1}> ()
        last = Constant <value = int64[1] {-1}> ()
        end = Constant <value = int64[1] {9223372036854775807}> ()
        column = Slice(x1, last, end, axis)
        less = Sub(x1, column)
        x2 = Tanh(less)
    }> (n, "", x0)
}"""

#: A state that is a cast of what is allocated with an extent that only the run tells.
CAST = """(float[a, b] h0, float[t, c, d] x, float[8, 8] w) => (float[e, f] h, float[g, j] m, float[k, l, o] y) {
    zero = Constant <value_float = 0.5> ()
    m0 = Mul(h0, zero)
    h, m, y = Scan <num_scan_inputs = 1, body = cell (float[n, p] h1, float[q, r] m1, float[s, u] x1) => (float[v, z] h2, float[aa, ab] m2, float[ac, ad] y1) {
        p1 = MatMul(h1, w)
        s1 = Add(p1, x1)
        m2 = Max(s1, m1)
        low = Sub(m1, m2)
        h2 = Tanh(low)
        y1 = Identity(h2)
    }> (h0, m0, x)
}"""

#: A loop in the body, of CumSum, that begins with an extent of the body's.
SUMMED = """(float[a, b] x, float[c] c0, int64[1] k) => (float[d] c1, float[e, f] y) {
    c1, y = Scan <num_scan_inputs = 1, body = body (float[g] c2, float[h] x1) => (float[l] c3, float[m] y1) {
        axis = Constant <value = int64 {0}> ()
        sum = Add(x1, c2)
        top, at = TopK(sum, k)
        y1 = CumSum(top, axis)
        c3 = Tanh(c2)
    }> (c0, x)
}"""


#: What an inner loop collects has the extents of its values, if it runs.
ROWS = """(int64 n, float[a, b] x0, float[c] s0) => (float[d, e] x) {
    x = Loop <body = body (int64 i, bool more, float[f, g] x1) => (bool more, float[h, j] x2) {
        s, y = Scan <num_scan_inputs = 1, body = row (float[k] s1, float[l] r) => (float[m] s2, float[o] y1) {
            sum = Add(s1, r)
            s2 = Tanh(sum)
            y1 = Identity(s2)
        }> (s0, x1)
        x2 = Sub(y, x1)
    }> (n, "", x0)
}"""


def values(*shape: int, seed: int = 0) -> np.ndarray:
    random = np.random.default_rng([seed, *shape])
    return (random.standard_normal(shape) * 0.3).astype(np.float32)


def cell(h: np.ndarray, x: np.ndarray, w: np.ndarray, bias: np.ndarray) -> list[np.ndarray]:
    y = []
    for one in x:
        h = h + (np.tanh(h @ w + one + bias) - h)
        y.append(h)
    return [h, np.stack(y)]


def allocations(made: loopc.InferenceSession, feeds: dict[str, np.ndarray]) -> int:
    made.run(None, feeds)
    assert made.last_run_statistics is not None
    return made.last_run_statistics.allocations


def test_cell() -> None:
    made = session(CELL)
    for batch, steps in ((3, 5), (1, 1), (4, 17)):
        feeds = {
            "h0": values(batch, 8),
            "x": values(steps, batch, 8),
            "w": values(8, 8),
            "bias": values(8),
        }
        wanted = cell(feeds["h0"], feeds["x"], feeds["w"], feeds["bias"])
        for got, want in zip(made.run(None, feeds), wanted, strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


def test_cell_repeats_bias() -> None:
    made = session(CELL)
    feeds = {"h0": values(3, 8), "x": values(5, 3, 8), "w": values(8, 8), "bias": values(1)}
    wanted = cell(feeds["h0"], feeds["x"], feeds["w"], feeds["bias"])
    for got, want in zip(made.run(None, feeds), wanted, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


def test_cell_iterations_allocate_nothing() -> None:
    made = session(CELL)
    shapes = {"h0": values(3, 8), "w": values(8, 8), "bias": values(8)}
    few = allocations(made, shapes | {"x": values(4, 3, 8)})
    assert allocations(made, shapes | {"x": values(400, 3, 8)}) == few


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"w": values(7, 8)}, "inner dimensions"),
        ({"x": values(5, 2, 8)}, "broadcast"),
        ({"bias": values(5)}, "broadcast"),
        ({"h0": values(1, 8)}, "changes its shape"),
    ],
)
def test_cell_errors(change: dict[str, np.ndarray], message: str) -> None:
    made = session(CELL)
    feeds = {"h0": values(3, 8), "x": values(5, 3, 8), "w": values(8, 8), "bias": values(8)}
    with pytest.raises(loopc.Error, match=message):
        made.run(None, feeds | change)
    # And goes on to work.
    wanted = cell(feeds["h0"], feeds["x"], feeds["w"], feeds["bias"])
    np.testing.assert_allclose(made.run(None, feeds)[0], wanted[0], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("trips", [0, 1, 3])
@pytest.mark.parametrize(
    ("x", "y", "z"),
    [
        ((3, 4), (3, 4), 4),
        ((1, 4), (3, 4), 4),
        ((3, 1), (3, 4), 1),
        ((3, 4), (1, 1), 4),
        ((1, 1), (1, 1), 1),
        ((1, 1), (3, 1), 4),
        ((0, 4), (0, 4), 4),
    ],
)
def test_sums(trips: int, x: tuple[int, int], y: tuple[int, int], z: int) -> None:
    feeds = {"x0": values(*x), "y": values(*y), "z": values(z)}
    want = feeds["x0"]
    for _ in range(trips):
        want = (want + feeds["y"]) * feeds["z"]
    (got,) = session(SUMS).run(None, feeds | {"n": np.array(trips)})
    assert got.shape == want.shape
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


def test_sums_of_other_extents() -> None:
    made = session(SUMS)
    feeds = {"n": np.array(2), "x0": values(3, 4), "y": values(2, 4), "z": values(4)}
    with pytest.raises(loopc.Error, match="broadcast"):
        made.run(None, feeds)
    # Nothing is added in no iteration.
    (got,) = made.run(None, feeds | {"n": np.array(0)})
    np.testing.assert_array_equal(got, feeds["x0"])


def test_convolutions_allocate_nothing() -> None:
    made = session(CONV)
    feeds = {"x0": values(1, 2, 9, 12), "w": values(2, 2, 3, 3) * 0.1}
    few = allocations(made, feeds | {"n": np.array(3)})
    assert allocations(made, feeds | {"n": np.array(300)}) == few


def test_halves() -> None:
    made = session(HALVES)
    x = values(64)
    (got,) = made.run(None, {"n": np.array(3), "x0": x})
    np.testing.assert_array_equal(got, np.sort(x.reshape(-1, 2), axis=1).reshape(-1))
    with pytest.raises(loopc.Error, match="cannot reshape"):
        made.run(None, {"n": np.array(3), "x0": values(63)})


def rule(
    s: np.ndarray, k: np.ndarray, v: np.ndarray, r: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    y = []
    for k1, v1, r1 in zip(k, v, r, strict=True):
        old = (k1[:, None] @ s)[:, 0]
        s = s + k1[:, :, None] * ((v1 - old) * r1[:, None])[:, None]
        y.append((k1[:, None] @ s)[:, 0])
    return s, np.stack(y)


@pytest.mark.parametrize("rates", [3, 1])
def test_rule(rates: int) -> None:
    made = session(RULE)
    counts = []
    for steps in (4, 40):
        feeds = {"s0": values(3, 4, 5), "k": values(steps, 3, 4), "v": values(steps, 3, 5)}
        feeds["r"] = values(steps, rates)
        wanted = rule(feeds["s0"], feeds["k"], feeds["v"], feeds["r"])
        for got, want in zip(made.run(None, feeds), wanted, strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)
        counts.append(allocations(made, feeds))
    assert rates == 1 or counts[0] == counts[1]


def test_last_column() -> None:
    made = session(LAST)
    for shape in ((3, 5), (1, 1), (4, 1), (2, 0), (0, 3)):
        x = values(*shape)
        want = x
        for _ in range(3):
            want = np.tanh(want - want[:, -1:])
        (got,) = made.run(None, {"n": np.array(3), "x0": x})
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)
    few = allocations(made, {"n": np.array(3), "x0": values(3, 5)})
    assert allocations(made, {"n": np.array(300), "x0": values(3, 5)}) == few


def test_cast_state() -> None:
    made = session(CAST)
    counts = []
    for steps in (3, 300):
        feeds = {"h0": values(2, 8), "x": values(steps, 2, 8), "w": values(8, 8)}
        h, m = feeds["h0"], feeds["h0"] * np.float32(0.5)
        for x1 in feeds["x"]:
            most = np.maximum(h @ feeds["w"] + x1, m)
            h, m = np.tanh(m - most), most
        got = made.run(None, feeds)
        np.testing.assert_allclose(got[0], h, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(got[1], m, rtol=1e-4, atol=1e-5)
        counts.append(allocations(made, feeds))
    assert counts[0] == counts[1]


def test_loop_in_body() -> None:
    made = session(SUMMED)
    x, c = values(6, 9), values(9)
    got = made.run(None, {"x": x, "c0": c, "k": np.array([4])})
    for row, want in zip(got[1], x, strict=True):
        top = np.sort(want + c)[::-1][:4]
        np.testing.assert_allclose(row, np.cumsum(top), rtol=1e-5, atol=1e-6)
        c = np.tanh(c)
    np.testing.assert_allclose(got[0], c, rtol=1e-5, atol=1e-6)


def test_collected_rows() -> None:
    made = session(ROWS)
    for shape in ((4, 3), (1, 1), (2, 3)):
        x, start = values(*shape), values(shape[1], seed=1)
        want = x
        for _ in range(3):
            s, y = start, []
            for row in want:
                s = np.tanh(s + row)
                y.append(s)
            want = np.reshape(y, want.shape) - want
        (got,) = made.run(None, {"n": np.array(3), "x0": x, "s0": start})
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)
    feeds = {"x0": values(4, 3), "s0": values(3)}
    few = allocations(made, feeds | {"n": np.array(3)})
    # What the inner loop collects in, and nothing for branches or states.
    assert allocations(made, feeds | {"n": np.array(303)}) - few <= 300
