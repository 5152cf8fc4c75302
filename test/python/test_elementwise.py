# ===- test_elementwise.py - Elementwise operators by value -----------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Elementwise operators: every type, old versions, and the corners that ONNX's tests leave out."""

import math

import loopc
import ml_dtypes
import numpy as np
import pytest
from onnx import helper
from single_node import node_model, run_node

BFLOAT16 = ml_dtypes.bfloat16
FLOATS = [np.float16, BFLOAT16, np.float32, np.float64]
SIGNED = [np.int8, np.int16, np.int32, np.int64]
UNSIGNED = [np.uint8, np.uint16, np.uint32, np.uint64]
INTEGERS = SIGNED + UNSIGNED
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 1e-3, 7.75, np.inf, -np.inf, np.nan]

#: Units in the last place of a type, relative to 1.
PRECISION = {np.float16: 2**-10, BFLOAT16: 2**-7, np.float32: 2**-23, np.float64: 2**-52}


def wide(array):
    return np.asarray(array).astype(np.float64)


def assert_close(actual, expected, dtype, ulp=5):
    """Within `ulp` of the last place, or rounding of the subnormal range; NaN equals NaN."""
    tiny = float(ml_dtypes.finfo(dtype).smallest_subnormal) if dtype is BFLOAT16 else float(
        np.finfo(dtype).smallest_subnormal
    )  # fmt: skip
    np.testing.assert_allclose(
        wide(actual), wide(expected), rtol=ulp * PRECISION[dtype], atol=4 * tiny
    )


# ---------------------------------------------------------------------------
# Functions of one operand
# ---------------------------------------------------------------------------


def _celu(x, alpha):
    return np.where(x < 0, alpha * np.expm1(np.minimum(x, 0) / alpha), x)


def _vector(function):
    return lambda x: np.array([function(v) for v in x.ravel()]).reshape(x.shape)


def _erf(v):
    return math.erf(v)


FUNCTIONS = {
    "Abs": (np.abs, {}),
    "Neg": (np.negative, {}),
    "Sign": (np.sign, {}),
    "Ceil": (np.ceil, {}),
    "Floor": (np.floor, {}),
    "Round": (np.rint, {}),
    "Reciprocal": (np.reciprocal, {}),
    "Sqrt": (np.sqrt, {}),
    "Exp": (np.exp, {}),
    "Log": (np.log, {}),
    "Sin": (np.sin, {}),
    "Cos": (np.cos, {}),
    "Tan": (np.tan, {}),
    "Asin": (np.arcsin, {}),
    "Acos": (np.arccos, {}),
    "Atan": (np.arctan, {}),
    "Sinh": (np.sinh, {}),
    "Cosh": (np.cosh, {}),
    "Asinh": (np.arcsinh, {}),
    "Acosh": (np.arccosh, {}),
    "Atanh": (np.arctanh, {}),
    "Tanh": (np.tanh, {}),
    "Erf": (_vector(_erf), {}),
    "Sigmoid": (lambda x: 1 / (1 + np.exp(-x)), {}),
    "Relu": (lambda x: np.maximum(x, 0), {}),
    "LeakyRelu": (lambda x: np.where(x < 0, 0.25 * x, x), {"alpha": 0.25}),
    "Elu": (lambda x: np.where(x < 0, 1.5 * np.expm1(np.minimum(x, 0)), x), {"alpha": 1.5}),
    "Selu": (
        lambda x: 2 * np.where(x < 0, 1.5 * np.expm1(np.minimum(x, 0)), x),
        {"alpha": 1.5, "gamma": 2.0},
    ),
    "Celu": (lambda x: _celu(x, 2.0), {"alpha": 2.0}),
    "ThresholdedRelu": (lambda x: np.where(x > 0.75, x, 0), {"alpha": 0.75}),
    "HardSigmoid": (lambda x: np.clip(0.25 * x + 0.5, 0, 1), {"alpha": 0.25}),
    "Softplus": (lambda x: np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x))), {}),
    "Softsign": (lambda x: x / (1 + np.abs(x)), {}),
    "Mish": (lambda x: x * np.tanh(np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))), {}),
    "Swish": (lambda x: x / (1 + np.exp(-0.5 * x)), {"alpha": 0.5}),
    "Shrink": (
        lambda x: np.where(x < -0.75, x + 0.25, np.where(x > 0.75, x - 0.25, 0)),
        {"lambd": 0.75, "bias": 0.25},
    ),
}
#: Functions whose schema lacks bf16, or all small floats.
NARROW = {"Celu": [np.float32], "Shrink": [np.float16, np.float32, np.float64]}


@pytest.mark.parametrize("dtype", FLOATS, ids=lambda t: np.dtype(t).name)
def test_functions(dtype):
    """All functions on one operand, in one model."""
    rng = np.random.default_rng(1)
    values = np.concatenate([SPECIAL, rng.normal(size=40), rng.normal(size=15) * 8])
    # Beyond these exp overflows some types and not others.
    x = np.clip(values, -80, 80).astype(dtype)
    x[: len(SPECIAL)] = np.array(SPECIAL, dtype)
    names = [n for n in FUNCTIONS if dtype in NARROW.get(n, FLOATS)]
    nodes = [helper.make_node(n, ["x"], [n], **FUNCTIONS[n][1]) for n in names]
    model = node_model(nodes, {"x": x}, dict.fromkeys(names, dtype), 24, dynamic=True)
    results = loopc.InferenceSession(model).run(None, {"x": x})
    for name, result in zip(names, results, strict=True):
        with np.errstate(all="ignore"):
            exact = FUNCTIONS[name][0](wide(x))
            expected = exact.astype(dtype)
        assert result.dtype == np.dtype(dtype), name
        # Near a zero that is not the operand's, only the absolute error is small.
        near_pole = name in ("Tan", "Sin", "Cos", "Log")
        ulp = 5 if not near_pole else 64
        try:
            assert_close(result, expected, dtype, ulp)
        except AssertionError as error:
            raise AssertionError(f"{name}: {error}") from None


@pytest.mark.parametrize("dtype", INTEGERS, ids=lambda t: np.dtype(t).name)
def test_integer_functions(dtype):
    info = np.iinfo(dtype)
    x = np.array([info.min, info.max, 0, 1, 2, 100], dtype)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(run_node("Abs", x, opset=13)[0], np.abs(x))
        np.testing.assert_array_equal(run_node("Sign", x, opset=13)[0], np.sign(x))
        if info.min < 0:
            np.testing.assert_array_equal(run_node("Neg", x, opset=13)[0], np.negative(x))
            np.testing.assert_array_equal(run_node("Relu", x, opset=14)[0], np.maximum(x, 0))
        np.testing.assert_array_equal(run_node("BitwiseNot", x, opset=18)[0], ~x)


def test_activations_keep_small_values():
    """Near zero exp(x) - 1 and log(1 + exp(x)) keep their digits."""
    x = -np.logspace(-30, 1, 64).astype(np.float32)
    assert_close(run_node("Elu", x, opset=6)[0], np.expm1(wide(x)), np.float32, 8)
    big = (x * 8).astype(np.float32)
    softplus = np.log1p(np.exp(wide(big)))
    assert_close(run_node("Softplus", big, opset=22)[0], softplus, np.float32, 8)


@pytest.mark.parametrize("approximate", ["none", "tanh"])
def test_gelu(approximate):
    x = np.linspace(-6, 6, 101).astype(np.float32)
    y = run_node("Gelu", x, opset=20, approximate=approximate)[0]
    v = wide(x)
    if approximate == "none":
        expected = 0.5 * v * (1 + _vector(_erf)(v / math.sqrt(2)))
    else:
        expected = 0.5 * v * (1 + np.tanh(math.sqrt(2 / math.pi) * (v + 0.044715 * v**3)))
    np.testing.assert_allclose(y, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("negative", [0, 1])
@pytest.mark.parametrize("positive", [0, 1])
def test_isinf(negative, positive):
    x = np.array(SPECIAL, np.float16)
    y = run_node("IsInf", x, opset=20, results=[bool], detect_negative=negative,
                 detect_positive=positive)[0]  # fmt: skip
    expected = (np.isposinf(x) & bool(positive)) | (np.isneginf(x) & bool(negative))
    np.testing.assert_array_equal(y, expected)


# ---------------------------------------------------------------------------
# Arithmetic
# ---------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", INTEGERS, ids=lambda t: np.dtype(t).name)
def test_integer_division(dtype):
    """Towards zero; the smallest integer divided by -1 wraps."""
    info = np.iinfo(dtype)
    x = np.array([7, 7, info.min, info.max, 100, info.min], dtype)
    y = np.array([2, 3, 1, 7, 9, info.max], dtype)
    if info.min < 0:
        x = np.concatenate([x, np.array([-7, 7, -7, info.min], dtype)])
        y = np.concatenate([y, np.array([2, -2, -2, -1], dtype)])
    exact = [int(abs(int(a)) // abs(int(b))) * (-1 if (a < 0) != (b < 0) else 1)
             for a, b in zip(x, y, strict=True)]  # fmt: skip
    expected = np.array([e & ((1 << info.bits) - 1) for e in exact], np.uint64)
    unsigned = np.dtype(f"u{info.bits // 8}")
    for dynamic in (False, True):
        result = run_node("Div", x, y, opset=14, dynamic=dynamic)[0]
        np.testing.assert_array_equal(result.view(unsigned), expected.astype(unsigned))


@pytest.mark.parametrize("op", ["Div", "Mod"])
@pytest.mark.parametrize("shape", [(), (3,), (2, 20)])
def test_integer_division_by_zero_is_an_error(op, shape):
    x = np.full(shape, 5, np.int32)
    y = np.ones(shape, np.int32)
    y[(-1,) * len(shape)] = 0
    with pytest.raises(loopc.RunError, match="integer division by zero"):
        run_node(op, x, y, opset=14)


@pytest.mark.parametrize("dtype", SIGNED, ids=lambda t: np.dtype(t).name)
@pytest.mark.parametrize("fmod", [0, 1])
def test_integer_mod(dtype, fmod):
    low = np.iinfo(dtype).min
    x = np.array([7, 7, -7, -7, 6, -6, low, low, 0], dtype)
    y = np.array([3, -3, 3, -3, 3, 3, -1, 7, -5], dtype)
    expected = (np.fmod if fmod else np.mod)(x.astype(object), y.astype(object)) if not fmod else [
        int(math.fmod(a, b)) if abs(int(a)) < 2**53 else int(a) - int(int(a) / int(b)) * int(b)
        for a, b in zip(x.tolist(), y.tolist(), strict=True)
    ]  # fmt: skip
    if fmod:
        # The exact remainder by integers: the sign of the dividend.
        expected = [abs(a) % abs(b) * (-1 if a < 0 else 1)
                    for a, b in zip(x.tolist(), y.tolist(), strict=True)]  # fmt: skip
    result = run_node("Mod", x, y, opset=13, fmod=fmod)[0]
    np.testing.assert_array_equal(result.astype(object), np.array(expected, object))


@pytest.mark.parametrize("fmod", [0, 1])
def test_float_mod(fmod):
    x = np.array([5.5, -5.5, 5.5, -5.5, 0.0, -0.0, np.inf, 1.0, 1.0, -1.0, np.nan, 2.0], np.float32)
    y = np.array([2.0, 2.0, -2.0, -2.0, -3.0, 3.0, 2.0, 0.0, np.inf, np.inf, 1.0, np.nan],
                 np.float32)  # fmt: skip
    with np.errstate(all="ignore"):
        expected = np.fmod(x, y) if fmod else np.mod(x, y)
    result = run_node("Mod", x, y, opset=28, fmod=fmod)[0]
    np.testing.assert_array_equal(result, expected)
    if not fmod:
        assert np.signbit(result[4]) and not np.signbit(result[5])


@pytest.mark.parametrize("base", [np.int32, np.int64, np.float32, np.float64])
@pytest.mark.parametrize("exponent", [np.int8, np.uint8, np.int32, np.int64, np.float32])
def test_pow(base, exponent):
    x = np.array([2, 3, 1, 5, 0, 7, 10], base)
    y = np.array([10, 3, 5, 0, 2, 1, 4], exponent)
    expected = [int(a) ** int(b) for a, b in zip(x, y, strict=True)]
    np.testing.assert_allclose(run_node("Pow", x, y, opset=15)[0], np.array(expected, base))
    two = np.array(3, exponent)
    np.testing.assert_allclose(run_node("Pow", x, two, opset=15, constant=[1])[0], x**3)


def test_pow_of_integers_wraps_and_truncates():
    x = np.array([3, 2, -1, -1, 1, 2, -3, 0], np.int64)
    y = np.array([50, 63, -3, -4, -9, -1, -2, -1], np.int64)
    low = np.iinfo(np.int64).min
    wrapped = 3**50 % 2**64
    wrapped -= 2**64 if wrapped >= 2**63 else 0
    expected = [wrapped, low, -1, 1, 1, 0, 0, low]
    np.testing.assert_array_equal(run_node("Pow", x, y, opset=15)[0], expected)


@pytest.mark.parametrize("exponent", [0.0, 0.5, 1.0, 2.0, 3.0, -1.0, -0.5, 2.5])
def test_pow_of_specials(exponent):
    x = np.array([*SPECIAL, 3.0, 1e30, 1e-30], np.float32)
    y = np.array(exponent, np.float32)
    with np.errstate(all="ignore"):
        # An array, because NumPy takes the root for a scalar of 0.5.
        expected = np.power(wide(x), np.full(x.shape, exponent)).astype(np.float32)
    result = run_node("Pow", x, y, opset=15, constant=[1])[0]
    assert_close(result, expected, np.float32)
    np.testing.assert_array_equal(np.signbit(result)[expected == 0],
                                  np.signbit(expected)[expected == 0])  # fmt: skip


@pytest.mark.parametrize("dtype", [*FLOATS, *INTEGERS], ids=lambda t: np.dtype(t).name)
def test_variadic(dtype):
    a = np.array([[1, 5, 3]], dtype)
    b = np.array([[4], [2]], dtype)
    c = np.array(3, dtype)
    expected = {"Max": np.maximum, "Min": np.minimum}
    for op, function in expected.items():
        result = run_node(op, a, b, c, opset=13, dynamic=True)[0]
        np.testing.assert_array_equal(result, function(function(a, b), c))
    if dtype in FLOATS:
        np.testing.assert_array_equal(wide(run_node("Sum", a, b, c, opset=13)[0]), wide(a + b + c))
        mean = ((wide(a) + wide(b) + wide(c)) / 3).astype(dtype)
        assert_close(run_node("Mean", a, b, c, opset=13)[0], mean, dtype, 1)


def test_maximum_passes_nan_on():
    a = np.array([1, np.nan, 2], np.float32)
    b = np.array([np.nan, 1, 3], np.float32)
    for op in ("Max", "Min"):
        assert np.isnan(run_node(op, a, b, opset=13)[0]).tolist() == [True, True, False]


# ---------------------------------------------------------------------------
# Bits, logic, selection
# ---------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", INTEGERS, ids=lambda t: np.dtype(t).name)
def test_bit_shift(dtype):
    """An amount that is out of range leaves what the sign fills in."""
    info = np.iinfo(dtype)
    amounts = [0, 1, info.bits - 1, info.bits, info.bits + 1] + ([-1] if info.min < 0 else [])
    x = np.array([5, info.max, info.min], dtype)[:, None]
    y = np.array(amounts, dtype)[None, :]
    for direction in ("LEFT", "RIGHT"):
        result = run_node("BitShift", x, y, opset=28, direction=direction)[0]
        for i, v in enumerate(x.ravel().tolist()):
            for j, n in enumerate(amounts):
                fits = 0 <= n < info.bits
                if direction == "LEFT":
                    exact = v << n if fits else 0
                else:
                    exact = v >> n if fits else (-1 if v < 0 else 0)
                exact &= (1 << info.bits) - 1
                assert int(result[i, j]) & ((1 << info.bits) - 1) == exact, (direction, v, n)


def test_logic():
    a = np.array([True, True, False, False])
    b = np.array([True, False, True, False])
    for op, function in {"And": np.logical_and, "Or": np.logical_or, "Xor": np.not_equal}.items():
        np.testing.assert_array_equal(run_node(op, a, b, opset=7)[0], function(a, b))
    np.testing.assert_array_equal(run_node("Not", a, opset=1)[0], ~a)
    np.testing.assert_array_equal(run_node("Equal", a, b, opset=13)[0], a == b)


@pytest.mark.parametrize("dtype", [np.float32, np.int8, np.uint8, np.uint64])
def test_comparisons(dtype):
    a = np.array([1, 200, 3, 0], np.float64).astype(np.int64).astype(dtype)
    b = np.array([1, 3, 200, 255], np.int64).astype(dtype)
    if dtype is np.float32:
        a[0] = np.nan
    expected = {
        "Less": np.less, "Greater": np.greater, "LessOrEqual": np.less_equal,
        "GreaterOrEqual": np.greater_equal, "Equal": np.equal,
    }  # fmt: skip
    for op, function in expected.items():
        result = run_node(op, a, b, opset=16, results=[bool])[0]
        np.testing.assert_array_equal(result, function(a, b), err_msg=op)


@pytest.mark.parametrize("constant", [(), (1, 2)])
def test_clip(constant):
    x = np.array([-5, 0, 3, 9, np.nan, np.inf], np.float32)
    one, four = np.array(1, np.float32), np.array(4, np.float32)
    y = run_node("Clip", x, one, four, opset=13, constant=constant)[0]
    np.testing.assert_array_equal(y, np.clip(x, 1, 4))
    # The upper bound wins.
    y = run_node("Clip", x, four, one, opset=13, constant=constant)[0]
    np.testing.assert_array_equal(y, np.array([1, 1, 1, 1, np.nan, 1], np.float32))


def test_clip_with_one_bound_or_attributes():
    x = np.array([-5, 0, 3, 9], np.int8)
    np.testing.assert_array_equal(
        run_node("Clip", x, None, np.array(2, np.int8), opset=13)[0], [-5, 0, 2, 2]
    )
    np.testing.assert_array_equal(
        run_node("Clip", x, np.array(2, np.int8), opset=13)[0], [2, 2, 3, 9]
    )
    y = x.astype(np.float64)
    np.testing.assert_array_equal(run_node("Clip", y, opset=6, min=-1.0)[0], [-1, 0, 3, 9])
    np.testing.assert_array_equal(run_node("Clip", y, opset=6)[0], y)


def test_where_of_every_type():
    condition = np.array([True, False, True])
    for dtype in [*FLOATS, *INTEGERS, np.bool_]:
        x, y = np.array([1, 0, 1], dtype), np.array([0], dtype)
        result = run_node("Where", condition, x, y, opset=16, results=[dtype], dynamic=True)[0]
        np.testing.assert_array_equal(result, np.where(condition, x, y))


# ---------------------------------------------------------------------------
# Broadcasting, old and new
# ---------------------------------------------------------------------------


@pytest.mark.parametrize("op", ["Add", "Sub", "Mul", "Div", "Pow"])
def test_old_broadcast(op):
    """Before version 7: at the end, or from `axis` on."""
    functions = {"Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "Div": np.divide,
                 "Pow": np.power}  # fmt: skip
    function = functions[op]
    a = np.arange(1, 25, dtype=np.float32).reshape(2, 3, 4)
    for b, attributes, aligned in [
        (np.array([1, 2, 3, 4], np.float32), {}, lambda b: b),
        (np.array([1, 2, 3], np.float32), {"axis": 1}, lambda b: b[:, None]),
        (np.array([[1, 2, 3], [2, 1, 2]], np.float32), {"axis": 0}, lambda b: b[:, :, None]),
        (np.array([2], np.float32), {}, lambda b: b),
    ]:
        result = run_node(op, a, b, opset=6, broadcast=1, **attributes)[0]
        np.testing.assert_allclose(result, function(a, aligned(b)), rtol=1e-6)
    with pytest.raises(loopc.CompileError, match="without 'broadcast'"):
        run_node(op, a, np.ones(4, np.float32), opset=6)


def test_prelu():
    x = np.array([[[-1, 2], [-3, -4]]], np.float32)
    slope = np.array([2, 3], np.float32)
    new = run_node("PRelu", x, slope, opset=16)[0]
    np.testing.assert_array_equal(new, np.where(x < 0, x * slope, x))
    # By channel.
    old = run_node("PRelu", x, slope, opset=6)[0]
    np.testing.assert_array_equal(old, np.where(x < 0, x * slope[:, None], x))
    integers = np.array([-3, 4], np.int64)
    np.testing.assert_array_equal(
        run_node("PRelu", integers, np.array([2], np.int64), opset=16)[0], [-6, 4]
    )
    with pytest.raises((loopc.CompileError, loopc.RunError), match="broadcast"):
        run_node("PRelu", np.ones((1,), np.float32), np.ones((3,), np.float32), opset=16)


def test_dropout():
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    ratio, on, off = np.array(0.5, np.float32), np.array(True), np.array(False)
    y, mask = run_node("Dropout", x, ratio, off, opset=13, results=[np.float32, bool])
    np.testing.assert_array_equal(y, x)
    assert mask.all() and mask.shape == x.shape
    zero = np.array(0, np.float32)
    np.testing.assert_array_equal(run_node("Dropout", x, zero, on, opset=13)[0], x)
    y, mask = run_node("Dropout", x, ratio, on, opset=13, results=[np.float32, bool])
    np.testing.assert_array_equal(y, np.where(mask, x / 0.5, 0))
    np.testing.assert_array_equal(run_node("Dropout", x, opset=6, is_test=1)[0], x)
    np.testing.assert_array_equal(run_node("Dropout", x, opset=7, ratio=0.3)[0], x)


@pytest.mark.parametrize(
    "shapes",
    [
        [(3, 5), (3, 5), (3, 5)],
        [(3, 5), (1, 5), (3, 1)],
        [(1, 1), (3, 5), (1, 5)],
        [(3, 1), (3, 1), (3, 1)],
        [(1, 1), (1, 1), (4, 1)],
        [(0, 5), (1, 5), (0, 1)],
        [(3, 5), (3, 5), (2, 5)],
    ],
)
def test_chains_of_open_extents(shapes):
    """(x + y) * z - x: extents that are equal have a version of their own, others broadcast."""
    nodes = [
        helper.make_node("Add", ["x", "y"], ["a"]),
        helper.make_node("Mul", ["a", "z"], ["b"]),
        helper.make_node("Sub", ["b", "x"], ["o"]),
    ]
    infos = [helper.make_tensor_value_info(n, 1, [f"{n}0", f"{n}1"]) for n in "xyz"]
    graph = helper.make_graph(nodes, "g", infos, [helper.make_tensor_value_info("o", 1, None)])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    session = loopc.InferenceSession(model.SerializeToString())
    rng = np.random.default_rng(0)
    x, y, z = (rng.standard_normal(shape).astype(np.float32) for shape in shapes)
    feeds = {"x": x, "y": y, "z": z}
    if shapes[2] == (2, 5):
        with pytest.raises(loopc.RunError, match="do not broadcast"):
            session.run(None, feeds)
    else:
        (result,) = session.run(None, feeds)
        expected = (x + y) * z - x
        assert result.shape == expected.shape
        np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-6)
