# ===- test_constants.py - What the compiler computes of constants ----------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Formulas of constants, which the compiler computes, are what a run computes of inputs."""

import loopc
import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper
from single_node import element_type

FLOATS = [np.float32, np.float64]
INTEGERS = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 1e-3, 7.75, 88.0, 1e-40, 3e38, np.inf, -np.inf, np.nan]

FUNCTIONS = "Abs Neg Floor Ceil Sqrt Exp Log Sin Cos Tanh Erf Sigmoid Reciprocal Sign Softplus"

#: Units in the last place between a run's function (docs/Numerics.md) and the compiler's.
ULP = 6


def _models(nodes, tensors, out_type):
    """The model of `nodes` with `tensors` as constants, and with them as inputs."""
    result = [helper.make_tensor_value_info("y", out_type, None)]
    unused = helper.make_tensor_value_info("unused", TensorProto.FLOAT, [1])
    ports = [
        helper.make_tensor_value_info(name, element_type(value.dtype), value.shape)
        for name, value in tensors.items()
    ]
    held = [numpy_helper.from_array(value, name) for name, value in tensors.items()]
    opset = [helper.make_opsetid("", 20)]
    return [
        helper.make_model(
            helper.make_graph(nodes, "formula", inputs, result, constants), opset_imports=opset
        )
        for inputs, constants in (([unused], held), (ports, []))
    ]


def _check(nodes, tensors, out_type, exact, any_zero=False):
    constant, given = _models(nodes, tensors, out_type)
    (actual,) = loopc.InferenceSession(constant).run(None, {"unused": np.zeros(1, np.float32)})
    (expected,) = loopc.InferenceSession(given).run(None, tensors)
    assert actual.dtype == expected.dtype
    if exact or actual.dtype.kind not in "f":
        np.testing.assert_array_equal(actual, expected)
        if actual.dtype.kind == "f" and not any_zero:
            number = ~np.isnan(expected)
            np.testing.assert_array_equal(np.signbit(actual[number]), np.signbit(expected[number]))
    else:
        info = np.finfo(actual.dtype)
        # Where a sine of a huge number is, its argument's last place tells.
        np.testing.assert_allclose(actual, expected, rtol=ULP * info.eps, atol=2 * info.tiny)


def _sides(dtype, random):
    if np.dtype(dtype).kind == "f":
        return np.array(SPECIAL, dtype)[:, None], np.concatenate(
            [np.array(SPECIAL, dtype), random.standard_normal(301).astype(dtype)]
        )
    info = np.iinfo(dtype)
    ends = np.array([info.min, info.max, 0, 1], dtype)
    return ends[:, None], np.concatenate(
        [ends, random.integers(info.min, info.max, 301, dtype=dtype)]
    )


# What follows costs a function, so that the compiler computes all of it.
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("op", ["Add", "Sub", "Mul", "Div", "Max", "Min"])
def test_floats(op, dtype):
    a, b = _sides(dtype, np.random.default_rng(0))
    nodes = [helper.make_node(op, ["a", "b"], ["x"]), helper.make_node("Sqrt", ["x"], ["y"])]
    with np.errstate(all="ignore"):
        # Of +0 and -0 Max and Min give any (docs/Numerics.md).
        any_zero = op in ("Max", "Min")
        _check(nodes, {"a": a, "b": b}, element_type(dtype), exact=True, any_zero=any_zero)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("op", FUNCTIONS.split())
def test_functions(op, dtype):
    _, b = _sides(dtype, np.random.default_rng(1))
    if op in ("Sin", "Cos"):
        b = np.where(np.abs(b) > 1e6, dtype(3), b)
    nodes = [
        helper.make_node("Div", ["b", "one"], ["q"]),
        helper.make_node(op, ["q"], ["f"]),
        helper.make_node("Add", ["f", "zero"], ["y"]),
    ]
    zero = np.zeros((3, 1), dtype)
    _check(
        nodes, {"b": b, "one": np.ones(1, dtype), "zero": zero}, element_type(dtype), exact=False
    )


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("op", ["Add", "Sub", "Mul"])
def test_integers(op, dtype):
    a, b = _sides(dtype, np.random.default_rng(2))
    nodes = [
        helper.make_node(op, ["a", "b"], ["x"]),
        helper.make_node("Cast", ["x"], ["z"], to=TensorProto.FLOAT),
        helper.make_node("Cos", ["small"], ["c"]),
        helper.make_node("Less", ["a", "b"], ["less"]),
        helper.make_node("Where", ["less", "z", "c"], ["y"]),
    ]
    small = np.linspace(-3, 3, b.size, dtype=np.float32)
    _check(nodes, {"a": a, "b": b, "small": small}, TensorProto.FLOAT, exact=False)


@pytest.mark.parametrize("op", ["Less", "Greater", "LessOrEqual", "GreaterOrEqual", "Equal"])
@pytest.mark.parametrize("dtype", [*FLOATS, np.int8, np.uint8, np.int64, np.uint64])
def test_comparisons(op, dtype):
    a, b = _sides(dtype, np.random.default_rng(3))
    nodes = [
        helper.make_node(op, ["a", "b"], ["x"]),
        helper.make_node("And", ["x", "mask"], ["m"]),
        helper.make_node("Exp", ["small"], ["e"]),
        helper.make_node("Where", ["m", "e", "small"], ["y"]),
    ]
    small = np.linspace(-3, 3, b.size, dtype=np.float32)
    tensors = {"a": a, "b": b, "small": small, "mask": np.arange(b.size) % 3 > 0}
    _check(nodes, tensors, TensorProto.FLOAT, exact=False)


def test_powers_and_window():
    """A table of angles as transformers have it, with a power, and its sine."""
    nodes = [
        helper.make_node("Range", ["from", "to", "by"], ["n"]),
        helper.make_node("Cast", ["n"], ["x"], to=TensorProto.FLOAT),
        helper.make_node("Pow", ["base", "exponents"], ["p"]),
        helper.make_node("Unsqueeze", ["x", "axis"], ["column"]),
        helper.make_node("Div", ["column", "p"], ["angle"]),
        helper.make_node("Sin", ["angle"], ["y"]),
    ]
    tensors = {
        "from": np.int64(0), "to": np.int64(37), "by": np.int64(1), "axis": np.int64([1]),
        "base": np.float32([10000]), "exponents": np.linspace(0, 1, 16, dtype=np.float32),
    }  # fmt: skip
    constant, _ = _models(nodes, tensors, TensorProto.FLOAT)
    (actual,) = loopc.InferenceSession(constant).run(None, {"unused": np.zeros(1, np.float32)})
    angle = np.arange(37)[:, None] / np.power(10000.0, np.linspace(0, 1, 16))
    np.testing.assert_allclose(actual, np.sin(angle), atol=3e-6)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("axes", [[1], [0], [0, 1], [0, 2]])
def test_standardized(dtype, axes):
    """Less the mean, by the deviation: sums of floats are those of a run, or nearer."""
    values = np.random.default_rng(4).standard_normal((7, 9, 300)).astype(dtype)
    tensors = {"x": values, "axes": np.array(axes), "tiny": np.array(1e-3, dtype)}
    nodes = [
        helper.make_node("ReduceMean", ["x", "axes"], ["mean"]),
        helper.make_node("Sub", ["x", "mean"], ["centred"]),
        helper.make_node("Mul", ["centred", "centred"], ["squares"]),
        helper.make_node("ReduceMean", ["squares", "axes"], ["variance"]),
        helper.make_node("Add", ["variance", "tiny"], ["positive"]),
        helper.make_node("Sqrt", ["positive"], ["deviation"]),
        helper.make_node("Div", ["centred", "deviation"], ["y"]),
    ]
    constant, _ = _models(nodes, tensors, element_type(values.dtype))
    (actual,) = loopc.InferenceSession(constant).run(None, {"unused": np.zeros(1, np.float32)})
    wide = values.astype(np.float64)
    centred = wide - wide.mean(tuple(axes), keepdims=True)
    expected = centred / np.sqrt((centred**2).mean(tuple(axes), keepdims=True) + 1e-3)
    np.testing.assert_allclose(actual, expected, atol=20 * np.finfo(dtype).eps)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_sums_that_overflow(dtype):
    most = np.finfo(dtype).max
    values = np.array([[most, most, 1], [-most, -most, 1], [np.nan, 1, 2], [np.inf, 1, 2]], dtype)
    nodes = [helper.make_node("ReduceSum", ["x", "axes"], ["y"], keepdims=0)]
    tensors = {"x": values, "axes": np.array([1])}
    _check(nodes, tensors, element_type(values.dtype), exact=True)


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize(
    ("equation", "x", "y"),
    [
        ("ik,kj->ij", (70, 96), (96, 65)),
        ("ik,jk->ij", (3, 130), (40, 130)),
        ("bik,bkj->bij", (5, 40, 64), (5, 64, 33)),
        ("bhik,hkj->bihj", (2, 3, 17, 80), (3, 80, 32)),
        ("iak,akj->ij", (31, 9, 70), (9, 70, 34)),
        ("k,kj->j", (5000,), (5000, 7)),
    ],
)
def test_products(equation, x, y, dtype):
    """What takes long is computed once, and stored beside what it is computed of."""
    random = np.random.default_rng(3)
    tensors = {
        "a": random.standard_normal(x).astype(dtype),
        "b": random.standard_normal(y).astype(dtype),
    }
    nodes = [
        helper.make_node("Einsum", ["a", "b"], ["p"], equation=equation),
        helper.make_node("ReduceSum", ["a"], ["s"], keepdims=0),
        helper.make_node("Add", ["p", "s"], ["y"]),
    ]
    wide = {name: value.astype(np.float64) for name, value in tensors.items()}
    expected = np.einsum(equation, wide["a"], wide["b"]) + wide["a"].sum()
    size = np.einsum(equation, abs(wide["a"]), abs(wide["b"])).max() + abs(wide["a"]).sum()
    for model, given in zip(
        _models(nodes, tensors, element_type(dtype)),
        ({"unused": np.zeros(1, np.float32)}, tensors),
        strict=True,
    ):
        (actual,) = loopc.InferenceSession(model).run(None, given)
        assert actual.dtype == dtype
        np.testing.assert_allclose(actual, expected, atol=size * np.finfo(dtype).eps, rtol=1e-3)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("shape", [(3, 700), (700, 3), (300, 290)])
@pytest.mark.parametrize("axes", [[1], [0], [0, 1]])
@pytest.mark.parametrize("op", ["ReduceMax", "ReduceMin", "ReduceSum"])
def test_extremes(op, axes, shape, dtype):
    """Along some axes and along all, in blocks and behind their ends; sums are whole numbers."""
    values = np.random.default_rng(5).integers(-3, 4, shape).astype(dtype)
    values[1, 2] = np.nan
    values[2, :2] = np.inf, -np.inf
    nodes = [helper.make_node(op, ["x", "axes"], ["y"])]
    # Of +0 and -0 they give any (docs/Numerics.md).
    tensors = {"x": values, "axes": np.array(axes)}
    _check(nodes, tensors, element_type(values.dtype), exact=True, any_zero=True)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("zero", [0.0, -0.0])
@pytest.mark.parametrize("op", ["ReduceMax", "ReduceMin"])
def test_extremes_of_one_zero(op, zero, dtype):
    """Of zeros of one sign the extreme has that sign."""
    values = np.full((3, 700), zero, dtype)
    other = -1 if op == "ReduceMax" else 1
    values[1, ::2] = other
    nodes = [helper.make_node(op, ["x", "axes"], ["y"])]
    for axes in ([0], [1], [0, 1]):
        tensors = {"x": values, "axes": np.array(axes)}
        _check(nodes, tensors, element_type(values.dtype), exact=True)


@pytest.mark.parametrize("to", [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint32])
@pytest.mark.parametrize("dtype", FLOATS)
def test_rounded_to_integers(dtype, to):
    info = np.iinfo(to)
    edges = [0.5, 1.5, 2.5, 0.49999997, info.max // 2, *([] if info.min == 0 else [-0.5, -1.5])]
    values = np.concatenate([np.array(edges), np.linspace(0, 100, 301)]).astype(dtype)
    nodes = [
        helper.make_node("Round", ["x"], ["r"]),
        helper.make_node("Cast", ["r"], ["y"], to=element_type(np.dtype(to))),
    ]
    _check(nodes, {"x": values}, element_type(np.dtype(to)), exact=True)


@pytest.mark.parametrize("scale", [1.0, 1e-6, 1e30, 0.0])
@pytest.mark.parametrize("shape", [(300, 40), (40, 300)])
def test_quantized(shape, scale):
    """Weights that a model stores as floats and quantizes: products of integers of constants."""
    random = np.random.default_rng(6)
    tensors = {
        "a": (scale * random.standard_normal((70, shape[0]))).astype(np.float32),
        "b": (scale * random.uniform(-1, 3, shape)).astype(np.float32),
    }
    nodes = [
        helper.make_node("DynamicQuantizeLinear", ["a"], ["qa", "sa", "za"]),
        helper.make_node("DynamicQuantizeLinear", ["b"], ["qb", "sb", "zb"]),
        helper.make_node("MatMulInteger", ["qa", "qb", "za", "zb"], ["p"]),
        helper.make_node("Cast", ["p"], ["f"], to=TensorProto.FLOAT),
        helper.make_node("Mul", ["sa", "sb"], ["s"]),
        helper.make_node("Mul", ["f", "s"], ["y"]),
    ]
    _check(nodes, tensors, TensorProto.FLOAT, exact=True)


@pytest.mark.parametrize(("one", "other"), [(np.uint8, np.int8), (np.int8, np.uint8)])
def test_integer_products(one, other):
    """Integers with and without a sign, at their ends."""
    random = np.random.default_rng(7)
    tensors = {}
    for name, dtype, shape in (("a", one, (33, 500)), ("b", other, (500, 65))):
        info = np.iinfo(dtype)
        values = random.integers(info.min, info.max, shape, dtype=dtype, endpoint=True)
        values[:2, :2] = info.max
        tensors[name] = values
    tensors["za"] = np.array(3, one)
    tensors["zb"] = np.array(5, other)
    nodes = [helper.make_node("MatMulInteger", ["a", "b", "za", "zb"], ["y"])]
    _check(nodes, tensors, TensorProto.INT32, exact=True)
