# ===- test_numerics.py - Errors of the elementary functions ----------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""The bounds of docs/Numerics.md, against NumPy with more precision.

An error is counted in units in the last place (ulp): the distance between two
neighbours at the true result. The reference is computed with the precision of
long double (erf: of double), so its own error does not count.
"""

import math
from collections.abc import Callable
from typing import Any

import loopc
import ml_dtypes
import numpy as np
import onnx.parser
import pytest
from onnx import TensorProto, helper

Array = np.ndarray[Any, Any]

# What docs/Numerics.md states: within 5 ulp for all of these.
BOUND = 5.0
COUNT = 50_000


def sigmoid(x: Array) -> Array:
    """1 / (1 + exp(-x))."""
    return 1 / (1 + np.exp(-x))


def softplus(x: Array) -> Array:
    """log(1 + exp(x)), without overflow."""
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


def erf(x: Array) -> Array:
    """The error function, in double precision."""
    return np.array([math.erf(value) for value in x.astype(np.float64)], np.longdouble)


def elu(x: Array) -> Array:
    """x, or exp(x) - 1 below 0."""
    return np.where(x > 0, x, np.expm1(np.minimum(x, 0)))


# Function, and where it changes most: sampled evenly there, and among all
# numbers of the type.
FUNCTIONS: dict[str, tuple[Callable[[Array], Array], tuple[float, float]]] = {
    "Acos": (np.arccos, (-1, 1)),
    "Acosh": (np.arccosh, (1, 1e4)),
    "Asin": (np.arcsin, (-1, 1)),
    "Asinh": (np.arcsinh, (-1e4, 1e4)),
    "Atan": (np.arctan, (-100, 100)),
    "Atanh": (np.arctanh, (-1, 1)),
    "Cos": (np.cos, (-100, 100)),
    "Cosh": (np.cosh, (-90, 90)),
    "Elu": (elu, (-20, 1)),
    "Erf": (erf, (-6, 6)),
    "Exp": (np.exp, (-110, 90)),
    "Log": (np.log, (0, 10)),
    "Reciprocal": (np.reciprocal, (-10, 10)),
    "Sigmoid": (sigmoid, (-110, 90)),
    "Sin": (np.sin, (-100, 100)),
    "Sinh": (np.sinh, (-90, 90)),
    "Softplus": (softplus, (-110, 90)),
    "Sqrt": (np.sqrt, (0, 1e10)),
    "Tan": (np.tan, (-100, 100)),
    "Tanh": (np.tanh, (-20, 20)),
}
TYPES = {
    "float32": TensorProto.FLOAT,
    "float64": TensorProto.DOUBLE,
    "float16": TensorProto.FLOAT16,
    "bfloat16": TensorProto.BFLOAT16,
}


def session_of(op: str, onnx_type: int) -> loopc.InferenceSession:
    """A session over one node y = op(x)."""
    graph = helper.make_graph(
        [helper.make_node(op, ["x"], ["y"])],
        op,
        [helper.make_tensor_value_info("x", onnx_type, ["N"])],
        [helper.make_tensor_value_info("y", onnx_type, ["N"])],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10)
    return loopc.InferenceSession(model.SerializeToString())


def samples(low: float, high: float, dtype: np.dtype[Any]) -> Array:
    """Numbers of a type, the same ones each time, and the special ones."""
    random = np.random.default_rng(7)
    info = ml_dtypes.finfo(dtype)
    with np.errstate(all="ignore"):
        even = random.uniform(low, high, COUNT).astype(dtype)
    # All that there are, or as many bit patterns, NaN and infinities included.
    bits = np.dtype(f"uint{8 * dtype.itemsize}")
    if dtype.itemsize == 2:
        patterns = np.arange(2**16, dtype=bits)
    else:
        patterns = random.integers(0, np.iinfo(bits).max, COUNT, bits, endpoint=True)
    smallest, tiny, largest = info.smallest_subnormal, info.tiny, info.max
    special = [0.0, 1.0, math.inf, math.nan, high, low, smallest, tiny, largest]
    with np.errstate(over="ignore"):
        edges = np.array([float(value) for value in special]).astype(dtype)
    return np.concatenate([even, patterns.view(dtype), edges, -edges])


def ulps(actual: Array, exact: Array) -> Array:
    """The error of each finite result; infinite where a special one is wrong."""
    rounded = exact.astype(np.float64).astype(actual.dtype)
    if actual.dtype.itemsize == 8:
        rounded = exact.astype(actual.dtype)
    # Infinity is the neighbour of the largest number.
    unit = np.spacing(np.minimum(np.abs(rounded), ml_dtypes.finfo(actual.dtype).max))
    unit = unit.astype(np.longdouble)
    error = np.abs(actual.astype(np.longdouble) - exact) / unit
    same = (actual == rounded) | (np.isnan(actual) & np.isnan(rounded))
    return np.where(np.isfinite(rounded) & np.isfinite(actual), error, np.where(same, 0, np.inf))


@pytest.mark.parametrize("type_name", TYPES)
@pytest.mark.parametrize("op", FUNCTIONS)
def test_error_bound(op: str, type_name: str) -> None:
    function, (low, high) = FUNCTIONS[op]
    x = samples(low, high, np.dtype(getattr(ml_dtypes, type_name, type_name)))
    actual = session_of(op, TYPES[type_name]).run(None, {"x": x})[0]
    with np.errstate(all="ignore"):
        exact = function(x.astype(np.longdouble))
        errors = ulps(actual, exact)
    # What is computed in float32 is rounded once.
    bound = 0.505 if type_name in ("float16", "bfloat16") else BOUND
    worst = int(np.argmax(errors))
    assert errors[worst] <= bound, f"{op}({x[worst]!r}) = {actual[worst]!r}, not {exact[worst]!r}"


@pytest.mark.parametrize("op", ["Sin", "Cos"])
@pytest.mark.parametrize("count", [1, 15, 16, 17, 100_000])
def test_reduction_of_large_angles(op: str, count: int) -> None:
    """Up to where the polynomial's reduction ends, and in one vector with what is beyond."""
    random = np.random.default_rng(5)
    x = random.uniform(-70_000, 70_000, count).astype(np.float32)
    # Next to multiples of pi / 2 almost all digits cancel.
    x[1::2] = (np.round(x[1::2] / (np.pi / 2)) * (np.pi / 2)).astype(np.float32)
    function = FUNCTIONS[op][0]
    session = session_of(op, TensorProto.FLOAT)
    for values in (x, np.clip(x, -65_536, 65_536)):
        errors = ulps(session.run(None, {"x": values})[0], function(values.astype(np.longdouble)))
        assert errors.max() <= BOUND, values[np.argmax(errors)]


@pytest.mark.parametrize("type_name", ["float16", "float32", "float64"])
@pytest.mark.parametrize(
    "op", ["Asin", "Asinh", "Atan", "Atanh", "Elu", "Erf", "Sin", "Sinh", "Tan", "Tanh"]
)
def test_zero_keeps_its_sign(op: str, type_name: str) -> None:
    zeros = np.array([0.0, -0.0] * 20, type_name)
    actual = session_of(op, TYPES[type_name]).run(None, {"x": zeros})[0]
    np.testing.assert_array_equal(np.signbit(actual), np.signbit(zeros))


@pytest.mark.parametrize("op", ["Add", "Mul", "Div", "Sub"])
def test_arithmetic_is_rounded_once(op: str) -> None:
    """Not contracted, not reassociated: bit for bit IEEE 754."""
    random = np.random.default_rng(11)
    a = random.standard_normal(1000).astype(np.float32)
    b = random.standard_normal(1000).astype(np.float32)
    graph = helper.make_graph(
        [helper.make_node(op, ["a", "b"], ["c"]), helper.make_node("Add", ["c", "a"], ["y"])],
        op,
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["N"]) for name in ("a", "b")],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N"])],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10)
    session = loopc.InferenceSession(model.SerializeToString())
    function = {"Add": np.add, "Mul": np.multiply, "Div": np.divide, "Sub": np.subtract}[op]
    np.testing.assert_array_equal(session.run(None, {"a": a, "b": b})[0], function(a, b) + a)


def test_sums_are_the_same_every_time() -> None:
    """Sums may be reassociated, the same way in every run."""
    graph = helper.make_graph(
        [helper.make_node("ReduceSum", ["x"], ["y"], keepdims=0)],
        "sum",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N"])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [])],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10)
    session = loopc.InferenceSession(model.SerializeToString())
    x = np.random.default_rng(3).standard_normal(100_003).astype(np.float32)
    results = {session.run(None, {"x": x})[0].tobytes() for _ in range(20)}
    assert len(results) == 1


def test_contraction_is_asked_for() -> None:
    """x * y + z has two roundings; with fp_contract one, in a loop as outside of it."""
    model = onnx.parser.parse_model(
        """<ir_version: 10, opset_import: ["" : 21]>
        chain (int64 count, float[N] x, float[N] y, float[N] z) => (float[N] r) {
          r = Loop <body = step (int64 i, bool go, float[N] a) => (bool go, float[N] b) {
              p = Mul (a, y)
              b = Add (p, z)
            }> (count, "", x)
        }"""
    ).SerializeToString()
    x = np.full(20, 1 + 2.0**-12, np.float32)
    z = np.full(20, -1, np.float32)
    feeds = {"count": np.int64(1), "x": x, "y": x, "z": z}
    each = loopc.InferenceSession(model).run(None, feeds)[0]
    np.testing.assert_array_equal(each, x * x + z)
    options = loopc.SessionOptions(fp_contract=True)
    once = loopc.InferenceSession(model, options).run(None, feeds)[0]
    exact = (x.astype(np.float64) * x + z).astype(np.float32)
    assert (exact != each).all()
    np.testing.assert_array_equal(once, exact)
