# ===- test_short_rows.py - Short rows and few columns ----------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Rows that are only reduced, and products of few columns.

Of all lengths around those from which on they are computed in another way; and what is chosen
where a number is a multiple, or a truth a number.
"""

from __future__ import annotations

import itertools
from typing import Any

import loopc
import numpy as np
import onnx.numpy_helper
import onnx.parser
import pytest

Array = np.ndarray[Any, Any]

POINTS, CENTRES = (1, 3, 63, 64, 65, 130), (1, 5, 32, 33)


def random_array(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def run(text: str, feeds: dict[str, Array]) -> list[Array]:
    model = onnx.parser.parse_model(f'<ir_version: 9, opset_import: ["" : 18]> {text}')
    return list(loopc.InferenceSession(model).run(None, feeds))


@pytest.mark.parametrize("is_open", [False, True])
def test_nearest(is_open: bool) -> None:
    sessions: dict[str, loopc.InferenceSession] = {}
    for points, centres in itertools.product(POINTS, CENTRES):
        n, k, d = ("N", "K", "D") if is_open else (points, centres, 3)
        text = f"""<ir_version: 9, opset_import: ["" : 18]>
        g (float[{n},{d}] x, float[{k},{d}] c) => (int64[{n}] near, float[{n}] far, float[{n}] sum)
        <int64[1] zero = {{0}}, int64[1] one = {{1}}, int64[1] two = {{2}}> {{
            rows = Unsqueeze(x, one)
            others = Unsqueeze(c, zero)
            gap = Sub(rows, others)
            square = Mul(gap, gap)
            all = ReduceSum<keepdims = 0>(square, two)
            near = ArgMin<axis = 1, keepdims = 0>(all)
            far = ReduceMax<keepdims = 0>(all, one)
            sum = ReduceSum<keepdims = 0>(all, one)
        }}"""
        if text not in sessions:
            sessions[text] = loopc.InferenceSession(onnx.parser.parse_model(text))
        x, c = random_array(points, 3), random_array(centres, 3, seed=1)
        if centres > 4:
            c[4] = c[0]  # the first of equal ones
        near, far, total = sessions[text].run(None, {"x": x, "c": c})
        expected = ((x[:, None].astype(np.float64) - c[None]) ** 2).sum(-1)
        np.testing.assert_array_equal(near, expected.argmin(1))
        np.testing.assert_allclose(far, expected.max(1), rtol=1e-5)
        np.testing.assert_allclose(total, expected.sum(1), rtol=1e-5)


@pytest.mark.parametrize("columns", [2, 3, 7, 8])
@pytest.mark.parametrize("depth", [31, 32, 77])
def test_few_columns(columns: int, depth: int) -> None:
    w = random_array(depth, columns, seed=1)
    for rows, of_rows, is_constant in itertools.product((1, 15, 16, 70), "FO", (False, True)):
        m = rows if of_rows == "F" else "M"
        weights = "" if is_constant else f", float[{depth},{columns}] w"
        text = f"""<ir_version: 9, opset_import: ["" : 18]>
        g (float[{m},{depth}] x{weights}) => (float[{m},{columns}] y) {{ y = MatMul(x, w) }}"""
        model = onnx.parser.parse_model(text)
        x = random_array(rows, depth)
        feeds = {"x": x} if is_constant else {"x": x, "w": w}
        if is_constant:
            model.graph.initializer.append(onnx.numpy_helper.from_array(w, "w"))
        (y,) = loopc.InferenceSession(model).run(None, feeds)
        expected = x.astype(np.float64) @ w
        np.testing.assert_allclose(y, expected, rtol=1e-5, atol=1e-5)


def test_columns_that_a_loop_does_not_change() -> None:
    text = """g (int64 n, float[M,K] a, float[K,3] x) => (float[M,3] y)
    <float[M,3] start = {0.0}, bool go = {1}> {
        z = MatMul(a, x)
        y = Loop<body = step (int64 i, bool c, float[M,3] was) => (bool again, float[M,3] next) {
            again = Identity(go)
            p = MatMul(a, x)
            next = Add(was, p)
        }>(n, "", z)
    }"""
    text = text.replace("float[M,3] start = {0.0}, ", "")
    a, x = random_array(9, 40), random_array(40, 3, seed=1)
    (y,) = run(text, {"n": np.array(3), "a": a, "x": x})
    np.testing.assert_allclose(y, 4 * (a.astype(np.float64) @ x), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("divisor", [2, 8, 3, -2])
def test_quotients_of_multiples(divisor: int) -> None:
    ends = np.iinfo(np.int64)
    x = np.array([*range(-17, 18), ends.min, ends.min + 1, ends.max - 1, ends.max])
    text = f"""g (int64[N] x) => (int64[N] y, int64[N] z)
    <int64 d = {{{divisor}}}, int64 zero = {{0}}, int64 other = {{77}}> {{
        rest = Mod(x, d)
        isMultiple = Equal(rest, zero)
        part = Div(x, d)
        y = Where(isMultiple, part, other)
        z = Where(isMultiple, other, part)
    }}"""
    y, z = run(text, {"x": x})
    parts = np.array(
        [abs(int(v)) // abs(divisor) * (1 if int(v) * divisor >= 0 else -1) for v in x]
    )
    multiples = x % divisor == 0
    np.testing.assert_array_equal(y, np.where(multiples, parts, 77))
    np.testing.assert_array_equal(z, np.where(multiples, 77, parts))


def test_truths_as_numbers() -> None:
    text = """g (float[N] x) => (float[N] y, double[N] d, float16[N] h) <float zero = {0.0}> {
        b = Greater(x, zero)
        y = Cast<to = 1>(b)
        d = Cast<to = 11>(b)
        h = Cast<to = 10>(b)
    }"""
    x = random_array(37)
    for made in run(text, {"x": x}):
        np.testing.assert_array_equal(made, (x > 0).astype(made.dtype))


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("rank", [2, 3])
def test_broadcast_operands_whose_axes_become_one(rank: int, threads: int) -> None:
    """Each extent 1 or another, of two or three operands: the last two axes are one row or not."""
    axes = [",".join(f"{name}{k}" for k in range(rank)) for name in "xyz"]
    text = f"""<ir_version: 9, opset_import: ["" : 18]>
    g (float[{axes[0]}] x, float[{axes[1]}] y, float[{axes[2]}] z) => (s, t) {{
        s = Sub(x, y)
        u = Mul(s, z)
        t = Sub(z, u)
    }}"""
    options = loopc.SessionOptions(intra_op_num_threads=threads)
    session = loopc.InferenceSession(onnx.parser.parse_model(text), options)
    front = (1, 2)[: rank - 2]
    for rows, columns in ((1, 1), (1, 70), (50, 1), (7, 5), (40, 300), (0, 3), (3, 0)):
        shapes = [
            (*front, r, c) for r in dict.fromkeys((1, rows)) for c in dict.fromkeys((1, columns))
        ]
        for chosen in itertools.product(shapes, repeat=3):
            x, y, z = (random_array(*shape, seed=k) for k, shape in enumerate(chosen))
            s, t = session.run(None, {"x": x, "y": y, "z": z})
            np.testing.assert_array_equal(s, x - y)
            np.testing.assert_allclose(t, z - (x - y) * z, rtol=1e-5, atol=1e-6)
