# ===- test_math_operations.py - Arithmetic that is written by hand ---------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Every operation of MLIR's arith and math dialects on tensors, beside NumPy.

Importers make some of them; MLIR that is written by hand may have any.
"""

import math

import loopc
import numpy as np
import pytest
from ml_dtypes import bfloat16

#: What may be lost, in units of the type's own precision.
ULP = 8
FLOATS = {"f16": np.float16, "bf16": bfloat16, "f32": np.float32, "f64": np.float64}
INTEGERS = {"i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64}


def _each(function):
    return np.vectorize(function, otypes=[np.float64])


# By numbers between 0.1 and 0.9; NumPy computes with f64.
OF_ONE_FLOAT = {
    "arith.negf": np.negative, "math.absf": np.abs, "math.acos": np.arccos,
    "math.asin": np.arcsin, "math.asinh": np.arcsinh,
    "math.atan": np.arctan, "math.atanh": np.arctanh, "math.cbrt": np.cbrt, "math.ceil": np.ceil,
    "math.cos": np.cos, "math.cosh": np.cosh, "math.erf": _each(math.erf),
    "math.erfc": _each(math.erfc), "math.exp": np.exp, "math.exp2": np.exp2,
    "math.expm1": np.expm1, "math.floor": np.floor, "math.log": np.log, "math.log10": np.log10,
    "math.log1p": np.log1p, "math.log2": np.log2, "math.round": lambda x: np.floor(x + 0.5),
    "math.roundeven": np.round, "math.rsqrt": lambda x: 1 / np.sqrt(x), "math.sin": np.sin,
    "math.sinh": np.sinh, "math.sqrt": np.sqrt, "math.tan": np.tan, "math.tanh": np.tanh,
    "math.trunc": np.trunc,
}  # fmt: skip
OF_TWO_FLOATS = {
    "arith.addf": np.add, "arith.subf": np.subtract, "arith.mulf": np.multiply,
    "arith.divf": np.divide, "arith.remf": np.fmod, "arith.maximumf": np.maximum,
    "arith.minimumf": np.minimum, "arith.maxnumf": np.fmax, "arith.minnumf": np.fmin,
    "math.atan2": np.arctan2, "math.copysign": np.copysign, "math.powf": np.power,
}  # fmt: skip


def _bits(count):
    """`count` of the bits of an integer, which is given without its sign."""

    def of(x):
        unsigned = x.view(f"u{x.dtype.itemsize}")
        texts = [format(int(one), f"0{8 * x.dtype.itemsize}b") for one in unsigned.ravel()]
        return np.array([count(text) for text in texts], x.dtype).reshape(x.shape)

    return of


def _unsigned(function):
    def of(x, y):
        kind = f"u{x.dtype.itemsize}"
        return function(x.view(kind), y.view(kind)).view(x.dtype)

    return of


def _exactly(function):
    """By Python's integers, as many bits of the result as there are."""

    def of(x, y):
        bits = 8 * x.dtype.itemsize
        low = [function(int(a), int(b)) % (1 << bits) for a, b in zip(x.flat, y.flat, strict=True)]
        return np.array(low, f"u{x.dtype.itemsize}").view(x.dtype).reshape(x.shape)

    return of


def _power(x, y):
    if y >= 0:
        return x**y
    return {1: 1, -1: 1 if y % 2 == 0 else -1}.get(x, 0)


def _toward_zero(x, y):
    return abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)


OF_ONE_INTEGER = {
    "math.absi": np.abs,
    "math.ctlz": _bits(lambda text: len(text) - len(text.lstrip("0"))),
    "math.cttz": _bits(lambda text: len(text) - len(text.rstrip("0"))),
    "math.ctpop": _bits(lambda text: text.count("1")),
}
# By divisors and exponents that are small and not 0.
OF_TWO_INTEGERS = {
    "arith.addi": _exactly(lambda x, y: x + y), "arith.subi": _exactly(lambda x, y: x - y),
    "arith.muli": _exactly(lambda x, y: x * y), "arith.divsi": _exactly(_toward_zero),
    "arith.divui": _unsigned(np.floor_divide), "arith.remui": _unsigned(np.remainder),
    "arith.remsi": _exactly(lambda x, y: x - y * _toward_zero(x, y)),
    "arith.ceildivsi": _exactly(lambda x, y: -(-x // y)),
    "arith.floordivsi": _exactly(lambda x, y: x // y),
    "arith.andi": np.bitwise_and, "arith.ori": np.bitwise_or, "arith.xori": np.bitwise_xor,
    "arith.maxsi": np.maximum, "arith.minsi": np.minimum,
    "arith.maxui": _unsigned(np.maximum), "arith.minui": _unsigned(np.minimum),
    "math.ipowi": _exactly(_power),
}  # fmt: skip
# By distances below the width.
SHIFTS = {
    "arith.shli": _exactly(lambda x, y: x << y),
    "arith.shrsi": _exactly(lambda x, y: x >> y),
    "arith.shrui": _unsigned(np.right_shift),
}


def _program(operations, kind, arguments):
    """A function with a result for each of `operations`, of `arguments` operands."""
    names = [f"%a{k}" for k in range(arguments)]
    inputs = ", ".join(f'{name}: {kind} {{loopc.name = "{name[1:]}"}}' for name in names)
    types = ", ".join(f'{kind} {{loopc.name = "{name}"}}' for name in operations)
    lines = [f"%r{k} = {name} {', '.join(names)} : {kind}" for k, name in enumerate(operations)]
    results = ", ".join(f"%r{k}" for k in range(len(operations)))
    kinds = ", ".join([kind] * len(operations))
    body = "\n    ".join([*lines, f"return {results} : {kinds}"])
    return (
        'module attributes {loopc.model = "operations"} {\n'
        f"  func.func @main({inputs}) -> ({types}) {{\n    {body}\n  }}\n}}\n"
    )


def _run(operations, element, shape, values, tmp_path):
    kind = f"tensor<{''.join(f'{extent}x' for extent in shape)}{element}>"
    path = tmp_path / "operations.mlir"
    path.write_text(_program(operations, kind, len(values)))
    session = loopc.InferenceSession(str(path))
    return session.run(None, {f"a{k}": value for k, value in enumerate(values)})


SHAPES = pytest.mark.parametrize("shape", [(37,), ("?",), ()], ids=["static", "open", "number"])


def _random(random, shape, low, high):
    return random.uniform(low, high, () if shape == () else 37)


@SHAPES
@pytest.mark.parametrize("element", FLOATS)
def test_floats(element, shape, tmp_path):
    random = np.random.default_rng(0)
    dtype = FLOATS[element]
    x, y = (_random(random, shape, 0.1, 0.9).astype(dtype) for _ in range(2))
    above = np.asarray(x + dtype(1), dtype)
    for functions, values in (
        (OF_ONE_FLOAT, [x]),
        ({"math.acosh": np.arccosh}, [above]),
        (OF_TWO_FLOATS, [x, y]),
        ({"math.fma": lambda a, b, c: a * b + c}, [x, y, x]),
    ):
        found = _run(functions, element, shape, values, tmp_path)
        wide = [np.asarray(value, np.float64) for value in values]
        for (name, function), actual in zip(functions.items(), found, strict=True):
            assert actual.dtype == dtype
            np.testing.assert_allclose(
                np.asarray(actual, np.float64), function(*wide), err_msg=name,
                rtol=ULP * float(np.finfo(dtype).eps if element != "bf16" else 2**-8),
            )  # fmt: skip


@SHAPES
@pytest.mark.parametrize("element", INTEGERS)
def test_integers(element, shape, tmp_path):
    random = np.random.default_rng(1)
    dtype = INTEGERS[element]
    info = np.iinfo(dtype)
    x = np.asarray(_random(random, shape, info.min, info.max)).astype(dtype)
    small = np.asarray(_random(random, shape, 1, 12)).astype(dtype)
    signed = np.asarray(small * np.where(_random(random, shape, -1, 1) < 0, -1, 1), dtype)
    distance = np.asarray(_random(random, shape, 0, info.bits)).astype(dtype)
    for functions, values in (
        (OF_ONE_INTEGER, [x]),
        (OF_TWO_INTEGERS, [x, signed]),
        ({"arith.ceildivui": _unsigned(lambda a, b: a // b + (a % b != 0))}, [x, small]),
        ({"math.ipowi": _exactly(_power)}, [signed, signed]),
        (SHIFTS, [x, distance]),
    ):
        found = _run(functions, element, shape, values, tmp_path)
        for (name, function), actual in zip(functions.items(), found, strict=True):
            np.testing.assert_array_equal(actual, function(*values), err_msg=name)


@pytest.mark.parametrize("exponent", [-128, -3, -2, -1, 0, 1, 2, 5, 127])
@pytest.mark.parametrize("element", INTEGERS)
def test_power_of_a_constant_exponent(element, exponent, tmp_path):
    base = np.array([-3, -2, -1, 0, 1, 2, 3, 11], INTEGERS[element])
    kind = f"tensor<8x{element}>"
    path = tmp_path / "power.mlir"
    path.write_text(
        'module attributes {loopc.model = "power"} {\n'
        f'  func.func @main(%x: {kind} {{loopc.name = "x"}}) -> ({kind} {{loopc.name = "y"}}) {{\n'
        f"    %n = arith.constant dense<{exponent}> : {kind}\n"
        f"    %y = math.ipowi %x, %n : {kind}\n    return %y : {kind}\n  }}\n}}\n"
    )
    found = loopc.InferenceSession(str(path)).run(None, {"x": base})[0]
    exponents = np.full(8, exponent, base.dtype)
    np.testing.assert_array_equal(found, _exactly(_power)(base, exponents))


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("shape", [(3, 4, 5), ("?", 4, "?")], ids=["static", "open"])
def test_softmax(shape, axis, tmp_path):
    """linalg.softmax has no loops of its own: it is decomposed."""
    kind = f"tensor<{''.join(f'{extent}x' for extent in shape)}f32>"
    opened = [k for k, extent in enumerate(shape) if extent == "?"]
    extents = "\n".join(
        f"    %c{k} = arith.constant {k} : index\n    %d{k} = tensor.dim %a, %c{k} : {kind}"
        for k in opened
    )
    path = tmp_path / "softmax.mlir"
    path.write_text(f"""module attributes {{loopc.model = "softmax"}} {{
  func.func @main(%a: {kind} {{loopc.name = "a"}}) -> ({kind} {{loopc.name = "r"}}) {{
{extents}
    %e = tensor.empty({", ".join(f"%d{k}" for k in opened)}) : {kind}
    %r = linalg.softmax dimension({axis}) ins(%a : {kind}) outs(%e : {kind}) -> {kind}
    return %r : {kind}
  }}
}}
""")
    values = np.random.default_rng(2).standard_normal((3, 4, 5)).astype(np.float32)
    (actual,) = loopc.InferenceSession(str(path)).run(None, {"a": values})
    powers = np.exp(values - values.max(axis, keepdims=True))
    np.testing.assert_allclose(actual, powers / powers.sum(axis, keepdims=True), rtol=1e-5)
