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
import platform
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


def session_of(op: str, onnx_type: int, cpu: str = "native") -> loopc.InferenceSession:
    """A session over one node y = op(x)."""
    graph = helper.make_graph(
        [helper.make_node(op, ["x"], ["y"])],
        op,
        [helper.make_tensor_value_info("x", onnx_type, ["N"])],
        [helper.make_tensor_value_info("y", onnx_type, ["N"])],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10)
    return loopc.InferenceSession(model.SerializeToString(), loopc.SessionOptions(cpu=cpu))


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


@pytest.mark.parametrize("type_name", ["float32", "float64"])
@pytest.mark.parametrize("op", ["Sin", "Cos"])
@pytest.mark.parametrize("count", [1, 15, 16, 17, 100_000])
def test_reduction_of_large_angles(op: str, count: int, type_name: str) -> None:
    """Up to where the polynomial's reduction ends, and in one vector with what is beyond."""
    random = np.random.default_rng(5)
    limit = 65_536 if type_name == "float32" else 2**30
    x = random.uniform(-1.1 * limit, 1.1 * limit, count).astype(type_name)
    # Next to multiples of pi / 2 almost all digits cancel.
    x[1::2] = (np.round(x[1::2] / (np.pi / 2)) * (np.pi / 2)).astype(type_name)
    function = FUNCTIONS[op][0]
    session = session_of(op, TYPES[type_name])
    for values in (x, np.clip(x, -limit, limit)):
        errors = ulps(session.run(None, {"x": values})[0], function(values.astype(np.longdouble)))
        assert errors.max() <= BOUND, values[np.argmax(errors)]


@pytest.mark.skipif(platform.machine() != "x86_64", reason="another machine's CPU")
@pytest.mark.parametrize("type_name", ["float32", "float64"])
@pytest.mark.parametrize("op", ["Cos", "Elu", "Exp", "Log", "Sigmoid", "Sin", "Softplus", "Tanh"])
def test_error_bound_of_shorter_vectors(op: str, type_name: str) -> None:
    """Where there are no instructions for x 2^n and for integers of 64 bits."""
    function, (low, high) = FUNCTIONS[op]
    x = samples(low, high, np.dtype(type_name))
    actual = session_of(op, TYPES[type_name], "x86-64-v3").run(None, {"x": x})[0]
    with np.errstate(all="ignore"):
        errors = ulps(actual, function(x.astype(np.longdouble)))
    assert errors.max() <= BOUND, x[np.argmax(errors)]


# What IEEE 754's pow has rules for, and where rounding begins or ends.
POW_EDGES = [
    *(0.0, 1.0, 2.0, 0.5, 3.0, 1.5, 2.5, math.inf, math.nan, 1e-45, 1.1754944e-38),
    *(3.4028235e38, 2.0**24, 2.0**24 + 2, 2.0**24 - 1, 2.0**22 + 0.5, 1e10, 1 / 3, 149.0, 127.5),
]


def pow_samples(dtype: Any) -> tuple[Array, Array]:
    """Bases and exponents: every pair of the edges, and random ones."""
    random = np.random.default_rng(3)
    edges = np.array([sign * value for value in POW_EDGES for sign in (1, -1)], dtype)
    patterns = random.integers(0, 2**32, (2, COUNT), np.uint32, endpoint=False).view(np.float32)
    wide = np.exp2(random.uniform(-149, 128, COUNT)) * random.choice([1, -1], COUNT)
    x = [
        np.repeat(edges, edges.size),
        random.uniform(0, 10, COUNT),
        patterns[0],
        wide,
        1 + random.normal(size=COUNT) * 1e-3,
    ]
    y = [
        np.tile(edges, edges.size),
        random.uniform(-40, 40, COUNT),
        patterns[1],
        random.integers(-9, 9, COUNT),
        random.normal(size=COUNT) * 3e4,
    ]
    with np.errstate(all="ignore"):
        return np.concatenate(x).astype(dtype), np.concatenate(y).astype(dtype)


@pytest.mark.parametrize("type_name", ["float32", "float64"])
def test_error_bound_of_powers(type_name: str) -> None:
    """In vectors and of the same numbers one by one, signs of zeros and infinities included."""
    port = f"{'float' if type_name == 'float32' else 'double'}[N]"
    session = loopc.InferenceSession(
        onnx.parser.parse_model(
            f"""<ir_version: 10, opset_import: ["" : 21]>
            power ({port} x, {port} y) => ({port} z) {{ z = Pow (x, y) }}"""
        ).SerializeToString()
    )
    x, y = pow_samples(np.dtype(type_name))
    actual = session.run(None, {"x": x, "y": y})[0]
    with np.errstate(all="ignore"):
        exact = np.power(x.astype(np.longdouble), y.astype(np.longdouble))
        errors = ulps(actual, exact)
    worst = int(np.argmax(errors))
    assert errors[worst] <= 1, f"{x[worst]!r} ** {y[worst]!r} = {actual[worst]!r}"
    known = ~np.isnan(actual)
    np.testing.assert_array_equal(np.signbit(actual[known]), np.signbit(exact[known]))


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
