# ===- test_reductions.py - Reductions and normalizations by value ----------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Reductions over known and run-time axes, and the normalizations made of them."""

import itertools
import math

import loopc
import ml_dtypes
import numpy as np
import onnx.parser
import pytest
from single_node import run_node

BFLOAT16 = ml_dtypes.bfloat16
INF = float("inf")


def _log_sum(x, **kw):
    with np.errstate(invalid="ignore"):
        return np.log(np.sum(x, **kw))


def _log_sum_exp(x, **kw):
    m = np.max(x, axis=kw["axis"], keepdims=True)
    m = np.where(np.isinf(m), 0, m)
    sums = np.log(np.sum(np.exp(x - m), **kw))
    return sums + (m if kw["keepdims"] else np.squeeze(m, kw["axis"]))


REDUCTIONS = {
    "ReduceSum": np.sum,
    "ReduceMean": np.mean,
    "ReduceProd": np.prod,
    "ReduceMax": np.max,
    "ReduceMin": np.min,
    "ReduceL1": lambda x, **kw: np.sum(np.abs(x), **kw),
    "ReduceL2": lambda x, **kw: np.sqrt(np.sum(x * x, **kw)),
    "ReduceSumSquare": lambda x, **kw: np.sum(x * x, **kw),
    "ReduceLogSum": _log_sum,
    "ReduceLogSumExp": _log_sum_exp,
}
X = np.random.default_rng(2).normal(size=(3, 4, 5)) + 2


@pytest.mark.parametrize("keepdims", [0, 1])
@pytest.mark.parametrize("how", ["attribute", "constant", "run time", "run time, dynamic"])
@pytest.mark.parametrize("op", REDUCTIONS)
def test_axes(op, how, keepdims):
    x = X.astype(np.float32)
    for axes in [(0,), (-1,), (2, 1), (0, 1, 2)] if op == "ReduceSum" else [(1,), (0, -1)]:
        expected = REDUCTIONS[op](X, axis=axes, keepdims=bool(keepdims))
        if how == "attribute":
            y = run_node(op, x, opset=11, axes=list(axes), keepdims=keepdims)[0]
        else:
            constant = (1,) if how == "constant" else ()
            y = run_node(op, x, np.array(axes), opset=18, keepdims=keepdims, constant=constant,
                         dynamic="dynamic" in how and bool(keepdims))[0]  # fmt: skip
        assert y.shape == expected.shape
        np.testing.assert_allclose(y, expected, rtol=2e-5, atol=1e-5, err_msg=str(axes))


@pytest.mark.parametrize("noop", [0, 1])
@pytest.mark.parametrize("axes", [None, np.zeros(0, np.int64)], ids=["absent", "empty"])
@pytest.mark.parametrize("op", ["ReduceSum", "ReduceL1", "ReduceLogSum", "ReduceMean"])
def test_no_axes(op, axes, noop):
    """All axes, or none: what is not the reduction is still done."""
    x = X.astype(np.float32)
    y = run_node(op, x, axes, opset=18, noop_with_empty_axes=noop)[0]
    over = () if noop else None
    np.testing.assert_allclose(y, REDUCTIONS[op](X, axis=over, keepdims=True), rtol=2e-5)


def test_wrong_axes():
    x = X.astype(np.float32)
    for axes, message in [([3], "out of range"), ([-4], "out of range"), ([1, 1], "twice")]:
        with pytest.raises(loopc.CompileError, match=message + "|must be in"):
            run_node("ReduceSum", x, opset=11, axes=axes)
        for dynamic in (False, True):
            with pytest.raises(loopc.RunError, match=message):
                run_node("ReduceSum", x, np.array(axes), opset=18, dynamic=dynamic)


def test_scalars_and_empty_sets():
    two = np.array(2, np.float32)
    for op, value in [("ReduceSum", 2), ("ReduceL2", 2), ("ReduceLogSum", math.log(2))]:
        y = run_node(op, two, opset=18)[0]
        assert y.shape == ()
        np.testing.assert_allclose(y, value, rtol=1e-6)
    empty = np.zeros((2, 0, 3), np.float32)
    expected = {"ReduceSum": 0, "ReduceProd": 1, "ReduceMax": -INF, "ReduceMin": INF,
                "ReduceL1": 0, "ReduceL2": 0, "ReduceSumSquare": 0, "ReduceLogSum": -INF,
                "ReduceLogSumExp": -INF}  # fmt: skip
    for op, value in expected.items():
        y = run_node(op, empty, np.array([1]), opset=18, constant=[1], keepdims=0, dynamic=True)[0]
        np.testing.assert_array_equal(y, np.full((2, 3), value, np.float32))


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.uint32, np.int64, np.uint64])
def test_integers(dtype):
    info = np.iinfo(dtype)
    x = np.array([[1, 3, info.max], [info.min, 5, 2]], dtype)
    for op, function in {"ReduceMax": np.max, "ReduceMin": np.min}.items():
        y = run_node(op, x, np.array([1]), opset=18, constant=[1], keepdims=0)[0]
        np.testing.assert_array_equal(y, function(x, axis=1))
    if info.bits < 32:
        return
    y = run_node("ReduceSum", x, opset=11, axes=[1], keepdims=0)[0]
    np.testing.assert_array_equal(y, np.sum(x, axis=1, dtype=dtype))
    small = np.array([[7, 8, 9], [1, 2, 2]], dtype)
    y = run_node("ReduceMean", small, opset=11, axes=[1], keepdims=0)[0]
    np.testing.assert_array_equal(y, [8, 1])
    y = run_node("ReduceL2", small, opset=11, axes=[1], keepdims=0)[0]
    np.testing.assert_array_equal(y, [13, 3])


@pytest.mark.parametrize("dtype", [np.float16, BFLOAT16, np.float64], ids=lambda t: t.__name__)
def test_other_floats(dtype):
    """Small floats are summed in float32."""
    x = np.full((1, 5000), 1.0, dtype)
    y = run_node("ReduceSum", x, opset=13)[0]
    np.testing.assert_array_equal(y.astype(np.float64), [[np.float64(dtype(5000))]])
    y = run_node("ReduceMean", x, opset=18)[0]
    np.testing.assert_array_equal(y.astype(np.float64), [[1]])


def test_nan_and_infinity():
    x = np.array([[1, np.nan, 2], [INF, 1, 2], [-INF, -INF, -INF]], np.float32)
    axes = np.array([1])

    def run(op):
        return run_node(op, x, axes, opset=18, constant=[1], keepdims=0)[0]

    np.testing.assert_array_equal(run("ReduceMax"), [np.nan, INF, -INF])
    np.testing.assert_array_equal(run("ReduceMin"), [np.nan, 1, -INF])
    np.testing.assert_array_equal(run("ReduceLogSumExp"), [np.nan, INF, -INF])


# ---------------------------------------------------------------------------
# ArgMax, CumSum
# ---------------------------------------------------------------------------


@pytest.mark.parametrize("last", [0, 1])
@pytest.mark.parametrize("op", ["ArgMax", "ArgMin"])
def test_arg(op, last):
    rng = np.random.default_rng(3)
    function = getattr(np, op.lower())
    x = rng.integers(0, 4, size=(4, 5, 6)).astype(np.float32)
    x[0, 1, 2] = x[2, 3, 2] = np.nan
    x[1, :, 1] = -INF
    for axis, keepdims in itertools.product([0, 1, -1], [0, 1]):
        y = run_node(op, x, opset=13, results=[np.int64], axis=axis, keepdims=keepdims,
                     select_last_index=last, dynamic=bool(keepdims))[0]  # fmt: skip
        if last:
            expected = x.shape[axis] - 1 - function(np.flip(x, axis), axis=axis)
        else:
            expected = function(x, axis=axis)
        np.testing.assert_array_equal(y, np.expand_dims(expected, axis) if keepdims else expected)
    with pytest.raises(loopc.RunError, match="no elements"):
        run_node(op, np.zeros((2, 0), np.float32), opset=13, results=[np.int64], axis=1)


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.uint64])
def test_arg_of_integers(dtype):
    x = np.array([3, np.iinfo(dtype).max, np.iinfo(dtype).min, 7], dtype)
    for op, expected in [("ArgMax", 1), ("ArgMin", 2)]:
        y = run_node(op, x, opset=13, results=[np.int64], keepdims=0)[0]
        assert y == expected


@pytest.mark.parametrize("reverse", [0, 1])
@pytest.mark.parametrize("exclusive", [0, 1])
@pytest.mark.parametrize("constant", [(1,), ()], ids=["constant axis", "run-time axis"])
@pytest.mark.parametrize("op", ["CumSum", "CumProd"])
def test_cumulative(op, constant, exclusive, reverse):
    identity = 0 if op == "CumSum" else 1
    for dtype in (np.float32, np.int32, np.float16):
        x = np.array([[[1, 2], [3, 1], [2, 2]], [[0, 5], [1, 1], [4, 3]]], dtype)
        for axis in (0, 1, -1):
            y = run_node(op, x, np.array(axis), opset=26, constant=constant, exclusive=exclusive,
                         reverse=reverse, dynamic=dtype is np.int32)[0]  # fmt: skip
            z = np.flip(x, axis) if reverse else x
            if exclusive:
                first = np.full_like(np.take(z, [0], axis), identity)
                rest = np.take(z, range(z.shape[axis] - 1), axis)
                z = np.concatenate([first, rest], axis)
            z = (np.cumsum if op == "CumSum" else np.cumprod)(z, axis, dtype=dtype)
            np.testing.assert_array_equal(y, np.flip(z, axis) if reverse else z)
    empty = np.zeros((0, 3), np.float32)
    assert run_node(op, empty, np.array(0), opset=26, constant=constant)[0].shape == (0, 3)


# ---------------------------------------------------------------------------
# Softmax and normalizations
# ---------------------------------------------------------------------------


def _softmax(x, axis):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_softmax(dtype):
    x = (X * 5).astype(dtype)
    rtol = {np.float16: 2e-3, np.float32: 2e-6, np.float64: 1e-14}[dtype]
    wide = x.astype(np.float64)
    for axis in (0, 1, -1):
        expected = _softmax(wide, axis)
        y = run_node("Softmax", x, opset=13, axis=axis, dynamic=True)[0]
        np.testing.assert_allclose(y, expected, rtol=rtol, atol=1e-7)
        y = run_node("LogSoftmax", x, opset=13, axis=axis)[0]
        np.testing.assert_allclose(y, np.log(expected), rtol=rtol * 4, atol=rtol)
    # Before version 13: the axes from `axis` on together.
    for axis in (0, 1, 2, -1):
        together = tuple(range(axis % 3, 3))
        y = run_node("Softmax", x, opset=11, axis=axis, dynamic=True)[0]
        np.testing.assert_allclose(y, _softmax(wide, together), rtol=rtol, atol=1e-7)


def test_softmax_does_not_overflow():
    x = np.array([[1e30, 1e30], [-1e30, 0], [-INF, 0]], np.float32)
    np.testing.assert_array_equal(run_node("Softmax", x, opset=13)[0], [[0.5, 0.5], [0, 1], [0, 1]])


def test_hardmax():
    x = np.array([[[1, 5], [5, 2]], [[0, 0], [0, 0]]], np.float32)
    y = run_node("Hardmax", x, opset=13, axis=1)[0]
    np.testing.assert_array_equal(y, [[[0, 1], [1, 0]], [[1, 1], [0, 0]]])
    y = run_node("Hardmax", x, opset=11, axis=1, dynamic=True)[0]
    np.testing.assert_array_equal(y, [[[0, 1], [0, 0]], [[1, 0], [0, 0]]])
    for shape in ((2, 0), (0, 3)):
        for dynamic in (False, True):
            x = np.ones(shape, np.float32)
            assert run_node("Hardmax", x, opset=13, axis=1, dynamic=dynamic)[0].shape == shape


def _normalize(x, axes, epsilon=1e-5):
    mean = x.mean(axis=axes, keepdims=True)
    variance = x.var(axis=axes, keepdims=True)
    return (x - mean) / np.sqrt(variance + epsilon), mean, 1 / np.sqrt(variance + epsilon)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_layer_normalization(dtype, axis):
    x = X.astype(dtype)
    shape = x.shape[axis % 3 :]
    rng = np.random.default_rng(4)
    scale, bias = rng.normal(size=(2, *shape)).astype(dtype)
    normal, mean, inverse = _normalize(x.astype(np.float64), tuple(range(axis % 3, 3)))
    expected = normal * scale + bias
    y, m, i = run_node("LayerNormalization", x, scale, bias, opset=17, axis=axis, dynamic=True,
                       results=[dtype, np.float32, np.float32])  # fmt: skip
    tolerance = 1e-2 if dtype is np.float16 else 1e-5
    np.testing.assert_allclose(y, expected, rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(m, mean, rtol=tolerance)
    np.testing.assert_allclose(i, inverse, rtol=tolerance)
    root = np.sqrt((x.astype(np.float64) ** 2).mean(tuple(range(axis % 3, 3)), keepdims=True))
    y = run_node("RMSNormalization", x, scale, opset=23, axis=axis, epsilon=0.0)[0]
    np.testing.assert_allclose(y, x / root * scale, rtol=tolerance, atol=tolerance)


def test_channel_normalizations():
    rng = np.random.default_rng(5)
    x = rng.normal(size=(2, 6, 3, 4)).astype(np.float32) + 1
    scale, bias, mean = rng.normal(size=(3, 6)).astype(np.float32)
    variance = rng.random(6).astype(np.float32) + 0.5

    def channels(v):
        return v[:, None, None]

    for dynamic in (False, True):
        y = run_node("InstanceNormalization", x, scale, bias, opset=22, dynamic=dynamic)[0]
        expected = _normalize(x, (2, 3))[0] * channels(scale) + channels(bias)
        np.testing.assert_allclose(y, expected, rtol=1e-4, atol=1e-5)
        y = run_node("GroupNormalization", x, scale, bias, opset=21, num_groups=3,
                     dynamic=dynamic)[0]  # fmt: skip
        groups = _normalize(x.reshape(2, 3, 2, 3, 4), (2, 3, 4))[0].reshape(x.shape)
        np.testing.assert_allclose(y, groups * channels(scale) + channels(bias), rtol=1e-4,
                                   atol=1e-5)  # fmt: skip
        y = run_node("BatchNormalization", x, scale, bias, mean, variance, opset=15,
                     dynamic=dynamic)[0]  # fmt: skip
        expected = (x - channels(mean)) / np.sqrt(channels(variance) + 1e-5)
        expected = expected * channels(scale) + channels(bias)
        np.testing.assert_allclose(y, expected, rtol=1e-4, atol=1e-5)
    y = run_node("MeanVarianceNormalization", x, opset=13)[0]
    np.testing.assert_allclose(y, _normalize(x, (0, 2, 3), 0)[0], rtol=1e-4, atol=1e-5)


def test_batch_normalization_in_training():
    rng = np.random.default_rng(6)
    x = rng.normal(size=(3, 4, 5)).astype(np.float32)
    scale, bias, mean = rng.normal(size=(3, 4)).astype(np.float32)
    variance = rng.random(4).astype(np.float32)
    y, m, v = run_node("BatchNormalization", x, scale, bias, mean, variance, opset=15,
                       training_mode=1, momentum=0.75, results=[np.float32] * 3)  # fmt: skip
    np.testing.assert_allclose(m, mean * 0.75 + x.mean((0, 2)) * 0.25, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(v, variance * 0.75 + x.var((0, 2)) * 0.25, rtol=1e-4, atol=1e-6)
    expected = _normalize(x, (0, 2))[0] * scale[:, None] + bias[:, None]
    np.testing.assert_allclose(y, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("p", [1, 2])
def test_lp_normalization(p):
    x = np.array([[3, -4], [0, 0]], np.float32)
    norm = 7 if p == 1 else 5
    y = run_node("LpNormalization", x, opset=22, p=p)[0]
    np.testing.assert_allclose(y, [[3 / norm, -4 / norm], [0, 0]], rtol=1e-6)


def test_global_pooling():
    x = X.reshape(1, 3, 4, 5).astype(np.float32)
    for op, expected, attributes in [
        ("GlobalAveragePool", x.mean((2, 3), keepdims=True), {}),
        ("GlobalMaxPool", x.max((2, 3), keepdims=True), {}),
        ("GlobalLpPool", np.sqrt((x * x).sum((2, 3), keepdims=True)), {}),
        ("GlobalLpPool", (np.abs(x) ** 3).sum((2, 3), keepdims=True) ** (1 / 3), {"p": 3}),
    ]:
        y = run_node(op, x, opset=22, dynamic=True, **attributes)[0]
        np.testing.assert_allclose(y, expected, rtol=1e-5)


def test_long_chain() -> None:
    """Sums and what is subtracted by them, one behind the other, in a body."""
    steps = "\n".join(
        f"r{k} = ReduceSum<keepdims: int = 1>(x{k}, axes)\nx{k + 1} = Sub(x{k}, r{k})"
        for k in range(60)
    )
    model = onnx.parser.parse_model(
        f"""<ir_version: 8, opset_import: ["" : 18]>
        chain (int64 M, float[A, B] x) => (float[A, B] y) {{
          axes = Constant<value: tensor = int64[1] {{1}}>()
          small = Constant<value: tensor = float {{0.01}}>()
          y = Loop(M, "", x) <body = body (int64 i, bool c, float[A, B] s) => (bool c, float[A, B] t) {{
            x0 = Mul(s, small)
            {steps}
            t = Identity(x60)
          }}>
        }}"""
    )
    x = np.arange(6, dtype=np.float32).reshape(3, 2)
    (y,) = loopc.InferenceSession(model.SerializeToString()).run(None, {"M": np.array(1), "x": x})
    expected = x * np.float32(0.01)
    for _ in range(60):
        expected = expected - expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(y, expected, rtol=1e-5)
