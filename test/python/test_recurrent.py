# ===- test_recurrent.py - Recurrent cells of all sizes ----------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""The cell by operator, by Scan and by Loop beside NumPy: sizes that are no whole vectors."""

from __future__ import annotations

from typing import Any

import loopc
import ml_dtypes
import numpy as np
import onnx.parser
import onnxruntime
import pytest

TYPES: dict[str, tuple[Any, float]] = {
    "float": (np.float32, 2e-5),
    "double": (np.float64, 1e-6),
    "float16": (np.float16, 1e-2),
    "bfloat16": (ml_dtypes.bfloat16, 6e-2),
}


def _session(text: str) -> loopc.InferenceSession:
    model = onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["": 22]> cells {text}')
    return loopc.InferenceSession(model.SerializeToString())


def _sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def _values(kind: str, *shape: int, seed: int, scale: float = 1.0) -> np.ndarray:
    random = np.random.default_rng([seed, *shape])
    return (scale * random.standard_normal(shape)).astype(TYPES[kind][0])


def _lstm_scan(kind: str, b: str, h: str, g: str) -> str:
    return f"""({kind}[{b},{h}] h0, {kind}[{b},{h}] c0, {kind}[T,{b},{h}] xs, {kind}[{h},{g}] W, {kind}[{h},{g}] R, {kind}[{g}] bias)
            => ({kind}[B,H] h, {kind}[B,H] c, {kind}[T,B,H] ys) {{
        h, c, ys = Scan <num_scan_inputs = 1, body = cell ({kind}[{b},{h}] hp, {kind}[{b},{h}] cp, {kind}[{b},{h}] x)
                => ({kind}[{b},{h}] hn, {kind}[{b},{h}] cn, {kind}[{b},{h}] y) {{
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
        }}> (h0, c0, xs)
    }}"""


def _lstm_operator(kind: str, b: str, h: str, hidden: int) -> str:
    return f"""({kind}[{b},{h}] h0, {kind}[{b},{h}] c0, {kind}[T,{b},{h}] xs, {kind}[G,{h}] W, {kind}[G,{h}] R, {kind}[G] bias)
            => ({kind}[B,H] h, {kind}[B,H] c, {kind}[T,B,H] ys) {{
        zero = Constant<value = int64[1] {{0}}>()
        one = Constant<value = int64[1] {{1}}>()
        h1 = Unsqueeze(h0, zero)
        c1 = Unsqueeze(c0, zero)
        w = Unsqueeze(W, zero)
        r = Unsqueeze(R, zero)
        none = Sub(bias, bias)
        both = Concat<axis = 0>(bias, none)
        b = Unsqueeze(both, zero)
        y4, hn, cn = LSTM<hidden_size = {hidden}>(xs, w, r, b, "", h1, c1)
        ys = Squeeze(y4, one)
        h = Squeeze(hn, zero)
        c = Squeeze(cn, zero)
    }}"""


def _lstm(feeds: dict[str, np.ndarray]) -> list[np.ndarray]:
    wide = {name: value.astype(np.float64) for name, value in feeds.items()}
    h, c, rows = wide["h0"], wide["c0"], []
    for x in wide["xs"]:
        gates = x @ wide["W"] + h @ wide["R"] + wide["bias"]
        i, o, f, g = np.split(gates, 4, 1)
        c = _sigmoid(f) * c + _sigmoid(i) * np.tanh(g)
        h = _sigmoid(o) * np.tanh(c)
        rows.append(h)
    return [h, c, np.stack(rows)]


def _feeds(kind: str, steps: int, batch: int, hidden: int) -> dict[str, np.ndarray]:
    scale = hidden**-0.5
    return {
        "h0": _values(kind, batch, hidden, seed=0),
        "c0": _values(kind, batch, hidden, seed=1),
        "xs": _values(kind, steps, batch, hidden, seed=2),
        "W": _values(kind, hidden, 4 * hidden, seed=3, scale=scale),
        "R": _values(kind, hidden, 4 * hidden, seed=4, scale=scale),
        "bias": _values(kind, 4 * hidden, seed=5),
    }


def _check(kind: str, got: list[np.ndarray], want: list[np.ndarray]) -> None:
    tolerance = TYPES[kind][1]
    for one, other in zip(got, want, strict=True):
        assert one.dtype == TYPES[kind][0]
        np.testing.assert_allclose(np.asarray(one, np.float64), other, tolerance, tolerance)


@pytest.mark.parametrize("kind", TYPES)
def test_lstm_by_scan_of_any_size(kind: str) -> None:
    """One model for all batches and widths: one row, two, a rest of rows, of columns, of sums."""
    session = _session(_lstm_scan(kind, "B", "H", "G"))
    for batch in (1, 2, 3, 5, 8, 13):
        for hidden in (1, 5, 16, 20, 33, 100):
            feeds = _feeds(kind, 3, batch, hidden)
            _check(kind, session.run(None, feeds), _lstm(feeds))


@pytest.mark.parametrize("kind", ["float", "float16"])
@pytest.mark.parametrize(("batch", "hidden"), [(1, 100), (3, 200), (9, 33), (16, 7)])
def test_lstm_both_ways(kind: str, batch: int, hidden: int) -> None:
    """By Scan and by the operator, sizes known to the compiler and to the run only."""
    feeds = _feeds(kind, 4, batch, hidden)
    want = _lstm(feeds)
    sizes = (str(batch), str(hidden))
    _check(kind, _session(_lstm_scan(kind, *sizes, str(4 * hidden))).run(None, feeds), want)
    turned = feeds | {name: np.ascontiguousarray(feeds[name].T) for name in ("W", "R")}
    for b, h in (sizes, ("B", str(hidden)), ("B", "H")):
        _check(kind, _session(_lstm_operator(kind, b, h, hidden)).run(None, turned), want)


def test_many_steps_of_many_rows() -> None:
    """What the inputs contribute to all steps is more than one block of rows."""
    feeds = _feeds("float", 90, 7, 40)
    session = _session(_lstm_scan("float", "B", "H", "G"))
    _check("float", session.run(None, feeds), _lstm(feeds))


@pytest.mark.parametrize("way", ["Scan", "operator"])
def test_steps_allocate_nothing(way: str) -> None:
    """Nor copy they the state."""
    text = _lstm_scan("float", "3", "40", "160")
    if way == "operator":
        text = _lstm_operator("float", "3", "40", 40)
    session, counts = _session(text), []
    for steps in (9, 90):
        feeds = _feeds("float", steps, 3, 40)
        if way == "operator":
            feeds |= {name: np.ascontiguousarray(feeds[name].T) for name in ("W", "R")}
        session.run(None, feeds)
        counts.append(session.last_run_statistics)
    assert counts[0].allocations == counts[1].allocations
    assert counts[0].copied_bytes == counts[1].copied_bytes


@pytest.mark.parametrize("columns", [1, 16, 31, 33, 48, 100, 130, 300])
def test_one_row_of_any_width(columns: int) -> None:
    """Panels of weights end before the tiles that one row is computed by."""
    session = _session("""(float[1,N] x, int64 M, float[N,N] W) => (float[1,N] y) {
        y = Loop <body = step (int64 i, bool c, float[1,N] p) => (bool c, float[1,N] n) {
            m = MatMul(p, W)
            n = Tanh(m)
        }> (M, "", x)
    }""")
    x = _values("float", 1, columns, seed=0)
    weights = _values("float", columns, columns, seed=1, scale=columns**-0.5)
    want = x.astype(np.float64)
    for _ in range(5):
        want = np.tanh(want @ weights.astype(np.float64))
    feeds = {"x": x, "M": np.array(5), "W": weights}
    np.testing.assert_allclose(session.run(None, feeds)[0], want, 2e-5, 2e-5)


@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
@pytest.mark.parametrize("kind", ["RNN", "GRU", "LSTM"])
@pytest.mark.parametrize("sizes", ["9, 3", "T, B"])
def test_sequences_end_early(sizes: str, kind: str, direction: str) -> None:
    """Y is zero behind each sequence, also where none has all steps, or a single one."""
    directions = 2 if direction == "bidirectional" else 1
    rows = {"RNN": 5, "GRU": 15, "LSTM": 20}[kind]
    model = onnx.parser.parse_model(f"""<ir_version: 10, opset_import: ["": 21]>
    model (float[{sizes}, 4] x, float[{directions}, {rows}, 4] w, float[{directions}, {rows}, 5] r,
           int32[{sizes.split(",")[1]}] n) => (float[t, d, b, h] y, float[d, b, h] last) {{
        y, last = {kind}<hidden_size = 5, direction = "{direction}">(x, w, r, "", n)
    }}""")
    random = np.random.default_rng(5)
    feeds = {"x": random.standard_normal((9, 3, 4)).astype(np.float32)}
    for name, width in (("w", 4), ("r", 5)):
        feeds[name] = random.standard_normal((directions, rows, width)).astype(np.float32)
    ours = loopc.InferenceSession(model.SerializeToString())
    peer = onnxruntime.InferenceSession(model.SerializeToString())
    for lengths in ([4, 2, 1], [9, 3, 5], [0, 6, 0], [0, 0, 0]):
        feeds["n"] = np.array(lengths, np.int32)
        for got, want in zip(ours.run(None, feeds), peer.run(None, feeds), strict=True):
            np.testing.assert_allclose(got, want, 1e-4, 1e-5)
