# ===- test_looked_up.py - Bodies that look elements up ----------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""What an operation looks up in its body, it reads, though it is no operand.

Gather with constant indices has no check in front of it: nothing stands between what makes its
data, the look-up, and the next reader. Passes that fuse or move these must see all three.
"""

from __future__ import annotations

import pathlib
import sys

import loopc
import numpy as np
import onnx.numpy_helper
import onnx.parser
import pytest
import random_readers

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "fuzz"))

import readers


def run(
    text: str, constants: dict[str, np.ndarray], feeds: dict[str, np.ndarray]
) -> list[np.ndarray]:
    model = onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["": 21]> test {text}')
    for name, value in constants.items():
        model.graph.initializer.append(onnx.numpy_helper.from_array(value, name))
    return loopc.InferenceSession(model.SerializeToString()).run(None, feeds)


def values(*shape: int) -> np.ndarray:
    return np.random.default_rng(len(shape)).standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize("rows", ["64", "N"])
@pytest.mark.parametrize("reader", ["Mul(g0, c)", "ReduceSum<keepdims = 1>(g0, one)"])
@pytest.mark.parametrize("behind", ["Relu", "Neg", "Sigmoid"])
def test_product_between_look_up_and_epilogue(behind: str, reader: str, rows: str) -> None:
    """The product is not computed with what follows it, behind what looks its rows up."""
    a, b, c = values(64, 48), values(48, 80), values(32, 80)
    places = np.random.default_rng(0).permutation(64)[:32]
    text = f"""(float[{rows}, 48] a, float[48, 80] b, float[32, 80] c)
        => (float[32, K] g, float[{rows}, 80] e) {{
      p = MatMul(a, b)
      g0 = Gather(p, places)
      g = {reader}
      e = {behind}(p)
    }}"""
    got = run(text, {"places": places, "one": np.array([1])}, {"a": a, "b": b, "c": c})
    p = a @ b
    rows_of_p = p[places]
    expected = rows_of_p * c if reader.startswith("Mul") else rows_of_p.sum(1, keepdims=True)
    after = {"Relu": np.maximum(p, 0), "Neg": -p, "Sigmoid": 1 / (1 + np.exp(-p))}[behind]
    np.testing.assert_allclose(got[0], expected, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(got[1], after, rtol=1e-4, atol=1e-4)


def test_attention_that_looks_up_its_scores() -> None:
    """Rows of all tiles are looked up: a tile cannot be computed to its end before others."""
    heads, length, width = 4, 512, 64
    q, k, v = (values(heads, length, width) + n for n in range(3))
    k = k.transpose(0, 2, 1).copy()
    places = np.random.default_rng(1).permutation(length)
    text = f"""(float[{heads}, {length}, {width}] q, float[{heads}, {width}, {length}] k,
        float[{heads}, {length}, {width}] v, float one)
        => (float[{heads}, {length}, {width}] o) {{
      s = MatMul(q, k)
      p = Softmax<axis = -1>(s)
      y = Add(p, one)
      g = Gather<axis = 1>(y, places)
      z = Mul(p, g)
      o = MatMul(z, v)
    }}"""
    (got,) = run(text, {"places": places}, {"q": q, "k": k, "v": v, "one": np.array(1, np.float32)})
    s = (q @ k).astype(np.float64)
    p = np.exp(s - s.max(-1, keepdims=True))
    p /= p.sum(-1, keepdims=True)
    np.testing.assert_allclose(got, (p * (p + 1)[:, places]) @ v, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("reduce", ["ReduceSum", "ReduceMax"])
def test_rows_whose_sums_are_looked_up(reduce: str) -> None:
    """Rows that are read again for what looks up their sums are not read once for both."""
    x = values(64, 80)
    places = np.random.default_rng(2).integers(0, 64, (64, 80))
    text = f"""(float[64, 80] x) => (float[64, 80] z) {{
      s = {reduce}<keepdims = 0>(x, one)
      g = Gather(s, places)
      z = Mul(g, x)
    }}"""
    (got,) = run(text, {"places": places, "one": np.array([1])}, {"x": x})
    s = x.sum(1) if reduce == "ReduceSum" else x.max(1)
    np.testing.assert_allclose(got, s[places] * x, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("seed", range(30, 50))
def test_random_readers(seed: int) -> None:
    """A short form of test/fuzz/readers.py."""
    assert readers.problem(*random_readers.make(seed)) == ""
