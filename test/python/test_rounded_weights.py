# ===- test_rounded_weights.py - Weights that are rounded by option ---------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""SessionOptions.weights: products read bf16, f16 or int8 instead of float32.

The results are, bit by bit, those of the model with the rounded floats.
"""

from __future__ import annotations

import re
from pathlib import Path

import loopc
import ml_dtypes
import numpy as np
import onnx
import pytest
from onnx import numpy_helper

#: Models and the axes of their weights that a product sums up along.
MODELS = {
    "matmul": ("(float[N,90] x) => (y) { y = MatMul(x, w) }", {"w": ((90, 96), 0)}),
    "gemm": (
        "(float[N,90] x) => (y) { y = Gemm<transB = 1>(x, w, b) }",
        {"w": ((96, 90), 1), "b": ((96,), None)},
    ),
    "vector": ("(float[90] x) => (y) { y = MatMul(w, x) }", {"w": ((96, 90), 1)}),
    "batched": ("(float[3,N,90] x) => (y) { y = MatMul(x, w) }", {"w": ((3, 90, 64), 1)}),
    "turned": (
        "(float[N,90] x) => (y) { t = Transpose<perm = [1, 0]>(w) y = MatMul(x, t) }",
        {"w": ((96, 90), 1)},
    ),
    "reshaped": (
        "(float[N,90] x) => (y) <int64[2] s = {90, 96}> { t = Reshape(w, s) y = MatMul(x, t) }",
        {"w": ((9, 10, 4, 24), (0, 1))},
    ),
    "lstm": (
        "(float[T,B,80] x) => (y) { y = LSTM<hidden_size = 64>(x, w, r) }",
        {"w": ((1, 256, 80), 2), "r": ((1, 256, 64), 2)},
    ),
    "both directions": (
        "(float[T,B,80] x) => (y) { y = LSTM<hidden_size = 64, direction = \"bidirectional\">(x, w, r) }",
        {"w": ((2, 256, 80), 2), "r": ((2, 256, 64), 2)},
    ),
    "gru": (
        "(float[T,B,80] x) => (y) { y = GRU<hidden_size = 96, linear_before_reset = 1>(x, w, r) }",
        {"w": ((1, 288, 80), 2), "r": ((1, 288, 96), 2)},
    ),
    "rnn": (
        "(float[T,B,80] x) => (y) { y = RNN<hidden_size = 80>(x, w, r) }",
        {"w": ((1, 80, 80), 2), "r": ((1, 80, 80), 2)},
    ),
    "scan": (
        """(float[T,B,96] x) => (y) <int64[1] zero = {0}, int64[1] one = {1}, float nil = {0}> {
        first = Slice(x, zero, one) row = Squeeze(first, zero) h0 = Mul(row, nil)
        h, y = Scan<num_scan_inputs = 1, body = step (float[B,96] before, float[B,96] xt) => (float[B,96] after, float[B,96] yt) {
            a = MatMul(xt, w) b = MatMul(before, r) s = Add(a, b) after = Tanh(s) yt = Identity(after)
        }>(h0, x) }""",
        {"w": ((96, 96), 0), "r": ((96, 96), 0)},
    ),
    "decoder": (
        """(int64 n, float[1,96] x) => (y) <bool yes = {1}, int64[1] zero = {0}> {
        h, y = Loop<body = step (int64 i, bool c, float[1,96] before) => (bool d, float[1,96] after, int64[1] word) {
            d = Identity(c) s = MatMul(before, w) l = Transpose<perm = [1, 0]>(e) scores = MatMul(s, l)
            word = ArgMax<axis = 1, keepdims = 0>(scores) row = Gather(e, word) t = Add(row, s) after = Tanh(t)
        }>(n, yes, x) }""",
        {"w": ((96, 96), 0), "e": ((224, 96), 1)},
    ),
}  # fmt: skip


def _round(kind: str, w: np.ndarray, axes: int | tuple[int, ...] | None) -> np.ndarray:
    """What loopc says that it computes with; what is small stays."""
    if axes is None or w.nbytes <= 16 << 10:
        return w
    if kind != "int8":
        small = np.float16 if kind == "f16" else ml_dtypes.bfloat16
        return w.astype(small).astype(np.float32)
    scale = np.abs(w).max(axis=axes, keepdims=True) / np.float32(127)
    return np.clip(np.rint(w / scale), -127, 127) * scale


def _make(name: str, kind: str = "model", spread: float = 1) -> bytes:
    text, shapes = MODELS[name]
    model = onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["" : 21]> g {text}')
    random = np.random.default_rng(0)
    for key, (shape, axes) in shapes.items():
        w = (random.standard_normal(shape) * shape[-1] ** -0.5 * spread).astype(np.float32)
        if kind != "model":
            w = _round(kind, w, axes)
        model.graph.initializer.append(numpy_helper.from_array(w, key))
    return bytes(model.SerializeToString())


def _feeds(name: str, session: loopc.InferenceSession, extent: int) -> dict[str, np.ndarray]:
    random = np.random.default_rng(1)
    feeds: dict[str, np.ndarray] = {}
    for given in session.get_inputs():
        if given.name == "n":
            feeds["n"] = np.array(extent)
            continue
        shape = [size if isinstance(size, int) else extent for size in given.shape]
        feeds[given.name] = random.standard_normal(shape).astype(np.float32)
    return feeds


@pytest.mark.parametrize(("level", "kind"), [(3, "bf16"), (3, "f16"), (3, "int8"), (0, "int8")])
@pytest.mark.parametrize("name", MODELS)
def test_rounded(name: str, kind: str, level: int) -> None:
    options = loopc.SessionOptions(weights=kind, opt_level=level)
    narrow = loopc.InferenceSession(_make(name), options)
    wide = loopc.InferenceSession(_make(name, kind), loopc.SessionOptions(opt_level=level))
    plain = loopc.InferenceSession(_make(name))
    for extent in (1, 40):
        feeds = _feeds(name, narrow, extent)
        got, want = narrow.run(None, feeds)[0], wide.run(None, feeds)[0]
        np.testing.assert_array_equal(got, want)
        if name != "decoder":
            assert not np.array_equal(got, plain.run(None, feeds)[0])


def test_error_of_int8() -> None:
    """At most half a scale for each weight: a 254th of the channel's largest one."""
    x = np.random.default_rng(2).standard_normal((5, 90)).astype(np.float32)
    model = _make("matmul")
    w = numpy_helper.to_array(onnx.load_from_string(model).graph.initializer[0])
    got = loopc.InferenceSession(model, loopc.SessionOptions(weights="int8")).run(None, {"x": x})
    bound = np.abs(x).sum(axis=1, keepdims=True) * np.abs(w).max(axis=0) / 254
    assert (np.abs(got[0] - x.astype(np.float64) @ w) <= bound + 1e-5).all()


@pytest.mark.parametrize("value", [np.inf, np.nan, 1e38, 3.4e38])
@pytest.mark.parametrize("kind", ["bf16", "f16", "int8"])
def test_what_has_no_rounding(kind: str, value: float) -> None:
    """Weights that are not finite, or would not be, stay as they are."""
    model = onnx.load_from_string(_make("matmul"))
    w = numpy_helper.to_array(model.graph.initializer[0]).copy()
    w[3, 5] = value
    model.graph.initializer[0].CopyFrom(numpy_helper.from_array(w, "w"))
    x = np.ones((2, 90), np.float32)
    run = [
        loopc.InferenceSession(model.SerializeToString(), loopc.SessionOptions(weights=each))
        .run(None, {"x": x})[0]
        for each in (None, kind)
    ]  # fmt: skip
    np.testing.assert_array_equal(np.isfinite(run[0]), np.isfinite(run[1]))
    fits = np.isfinite(value) and not (kind == "f16" or (kind == "bf16" and value > 3.39e38))
    assert np.array_equal(*run, equal_nan=True) != fits


def test_zeros_and_small_numbers() -> None:
    model = onnx.load_from_string(_make("matmul"))
    w = numpy_helper.to_array(model.graph.initializer[0]).copy()
    w[:, 0], w[:, 1] = 0, np.float32(1e-45)
    model.graph.initializer[0].CopyFrom(numpy_helper.from_array(w, "w"))
    options = loopc.SessionOptions(weights="int8")
    y = loopc.InferenceSession(model.SerializeToString(), options).run(
        None, {"x": np.ones((1, 90), np.float32)}
    )[0]
    assert (y[0, :2] == 0).all()
    assert np.isfinite(y).all()


def test_only_weights_are_rounded() -> None:
    """Neither what a loop begins with, nor an output that is a constant, nor a bias."""
    text = """g (float[N,96] x) => (y, e) { y = MatMul(x, w) e = Identity(w) }"""
    model = onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["" : 21]> {text}')
    w = np.random.default_rng(0).standard_normal((96, 96)).astype(np.float32)
    model.graph.initializer.append(numpy_helper.from_array(w, "w"))
    session = loopc.InferenceSession(
        model.SerializeToString(), loopc.SessionOptions(weights="bf16")
    )
    y, e = session.run(None, {"x": np.eye(96, dtype=np.float32)})
    np.testing.assert_array_equal(y, w.astype(ml_dtypes.bfloat16).astype(np.float32))
    np.testing.assert_array_equal(e, w)


#: Bytes of a weight, and what makes floats of a vector of them.
CODE = {
    "bf16": (2, r"vpmovzxwd|vpslld"),
    "f16": (2, r"vcvtph2ps"),
    "int8": (1, r"vpmovsxbd"),
}


@pytest.mark.parametrize("kind", CODE)
@pytest.mark.parametrize("name", ["lstm", "both directions", "gru", "scan", "decoder"])
def test_stored_once(tmp_path: Path, name: str, kind: str) -> None:
    """No float32 copy in the file or in a run; products read what is stored."""
    size, widens = CODE[kind]
    path = tmp_path / "g.mlir"
    loopc.compile(_make(name), path, emit="linalg", cpu="x86-64-v4", weights=kind)
    text = path.read_text()
    elements = {"bf16": "bf16", "f16": "f16", "int8": "i8"}[kind]
    large = re.findall(r"arith.constant dense_resource<\w+> : tensor<([0-9x]+)x(\w+)>", text)
    count = 0
    for shape, element in large:
        extent = int(np.prod([int(k) for k in shape.split("x")]))
        count += extent * (element == elements)
        assert element == elements or extent <= 4096
    wanted = sum(np.prod(shape) for shape, axes in MODELS[name][1].values() if axes is not None
                 and 4 * np.prod(shape) > 16 << 10)  # fmt: skip
    # Panels have whole vectors.
    assert wanted <= count <= wanted * 1.1
    # Nothing but products, and what looks up rows, makes floats of them, and no panels are made in a run.
    for body in re.findall(r"linalg\.generic(.*?)\n +\} ->", text, re.DOTALL):
        if re.search(r"arith\.(extf|sitofp)", body) and f"x{elements}>" in body:
            assert '"reduction"' in body or "%extracted_slice" in body
    loopc.compile(_make(name), tmp_path / "g.s", emit="asm", cpu="x86-64-v4", weights=kind)
    assert re.search(widens + r".*%[yz]mm", (tmp_path / "g.s").read_text())
    assert (tmp_path / "g.s.weights").stat().st_size <= wanted * size * 1.1 + (32 << 10)


def test_two_of_one_shape(tmp_path: Path) -> None:
    """Two expansions of equal extents became one operation, which each run computed."""
    text = """(float[T,B,96] x, float[B,96] h0) => (y) {
        w = DequantizeLinear<axis = 1>(wq, ws) r = DequantizeLinear<axis = 1>(rq, rs)
        h, y = Scan<num_scan_inputs = 1, body = step (float[B,96] before, float[B,96] xt) => (float[B,96] after, float[B,96] yt) {
            a = MatMul(xt, w) b = MatMul(before, r) s = Add(a, b) after = Tanh(s) yt = Identity(after)
        }>(h0, x) }"""
    model = onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["" : 21]> g {text}')
    random = np.random.default_rng(0)
    for key in "wr":
        q = random.integers(-128, 128, (96, 96)).astype(np.int8)
        s = random.uniform(0.001, 0.02, 96).astype(np.float32)
        model.graph.initializer.append(numpy_helper.from_array(q, f"{key}q"))
        model.graph.initializer.append(numpy_helper.from_array(s, f"{key}s"))
    path = tmp_path / "g.mlir"
    loopc.compile(model.SerializeToString(), path, emit="linalg", cpu="x86-64-v4")
    for body in re.findall(r"linalg\.generic(.*?)\n +\} ->", path.read_text(), re.DOTALL):
        assert "arith.sitofp" not in body or '"reduction"' in body


def test_wrong_name() -> None:
    with pytest.raises(loopc.InvalidArgument, match="weights"):
        loopc.InferenceSession(_make("matmul"), loopc.SessionOptions(weights="int7"))
