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
from fractions import Fraction

import loopc
import ml_dtypes
import numpy as np
import pytest
from ml_dtypes import bfloat16

#: What may be lost, in units of the type's own precision.
ULP = 8
FLOATS = {"f16": np.float16, "bf16": bfloat16, "f32": np.float32, "f64": np.float64}
INTEGERS = {"i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64}


def _each(function):
    return np.vectorize(function, otypes=[np.float64])


def _round(x):
    """The nearest whole number; of two the one that is farther from 0."""
    whole = np.floor(np.abs(x))
    return np.copysign(whole + (np.abs(x) - whole >= 0.5), x)


@_each
def _fma(a, b, c):
    """Rounded once."""
    return float(Fraction(a) * Fraction(b) + Fraction(c))


def _spread(random, dtype, low, high, *corners):
    """Numbers between these, and some that are wanted."""
    return np.array([*corners, *random.uniform(low, high, 37)], dtype)


def _halves(random, dtype):
    """Numbers of either sign: ties, zeros, infinities, and those that have no fractions left."""
    digits = 1 / float(ml_dtypes.finfo(dtype).eps)
    ties = [k + 0.5 for k in range(-6, 6)]
    large = [digits / 4 + 0.5, digits / 2 + 0.5, digits / 2 + 1.5, digits + 1, 2 * digits]
    ends = [0.0, -0.0, 1.0, -1.0, 0.25, -0.25, 0.75, -0.75, np.inf, -np.inf, np.nan]
    below = np.nextafter(dtype(0.5), dtype(0))
    return _spread(random, dtype, -9, 9, *ties, *ends, *large, *np.negative(large), below, -below)


# What is computed of one number without rounding. NumPy computes with f64.
EXACT = {
    "arith.negf": np.negative, "math.absf": np.abs, "math.ceil": np.ceil, "math.floor": np.floor,
    "math.round": _round, "math.roundeven": np.round, "math.trunc": np.trunc,
}  # fmt: skip
# Of one number between two bounds, and of some corners.
ROUNDED = (
    (
        (-4, 4, 0.0, 1.0, -1.0, 1e-3, -1e-3),
        {
            "math.asinh": np.arcsinh, "math.atan": np.arctan, "math.cbrt": np.cbrt,
            "math.cos": np.cos, "math.cosh": np.cosh, "math.erf": _each(math.erf),
            "math.exp": np.exp, "math.exp2": np.exp2, "math.expm1": np.expm1, "math.sin": np.sin,
            "math.sinh": np.sinh, "math.tan": np.tan, "math.tanh": np.tanh,
        },
    ),
    ((-3, 3, 0.0, -2.5, 2.5), {"math.erfc": _each(math.erfc)}),
    (
        (-0.9, 0.9, 0.0, 0.5, -0.5),
        {"math.acos": np.arccos, "math.asin": np.arcsin, "math.atanh": np.arctanh},
    ),
    ((-0.9, 9, 0.0, -0.5, 4096.0), {"math.log1p": np.log1p}),
    (
        (0.1, 99, 1.0, 0.5, 2.0, 4.0, 100.0, 4096.0, 2**-10),
        {
            "math.log": np.log, "math.log10": np.log10, "math.log2": np.log2,
            "math.rsqrt": lambda x: 1 / np.sqrt(x), "math.sqrt": np.sqrt,
        },
    ),
    ((1.1, 9, 1.0, 4096.0), {"math.acosh": np.arccosh}),
)  # fmt: skip
# Of two numbers of either sign, zeros and what is none; the last three are exact.
OF_TWO_FLOATS = {
    "arith.addf": np.add, "arith.subf": np.subtract, "arith.mulf": np.multiply,
    "arith.divf": np.divide, "arith.remf": np.fmod, "math.atan2": np.arctan2,
    "arith.maximumf": np.maximum, "arith.minimumf": np.minimum, "arith.maxnumf": np.fmax,
    "arith.minnumf": np.fmin, "math.copysign": np.copysign,
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
    """Modulo 2 to the 64."""
    if y >= 0:
        return pow(x, y, 1 << 64)
    return {1: 1, -1: 1 if y % 2 == 0 else -1}.get(x, 0)


def _toward_zero(x, y):
    return abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)


OF_ONE_INTEGER = {
    "math.absi": np.abs,
    "math.ctlz": _bits(lambda text: len(text) - len(text.lstrip("0"))),
    "math.cttz": _bits(lambda text: len(text) - len(text.rstrip("0"))),
    "math.ctpop": _bits(lambda text: text.count("1")),
}
# By divisors that are small and not 0.
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


def _run(operations, element, form, values, tmp_path):
    """What each operation makes of vectors of values, or of one value after the other."""
    extent = {"static": f"{values[0].size}x", "open": "?x", "number": ""}[form]
    path = tmp_path / "operations.mlir"
    path.write_text(_program(operations, f"tensor<{extent}{element}>", len(values)))
    session = loopc.InferenceSession(str(path))
    if form != "number":
        return session.run(None, {f"a{k}": value for k, value in enumerate(values)})
    rows = [
        session.run(None, {f"a{k}": np.asarray(value) for k, value in enumerate(row)})
        for row in zip(*values, strict=True)
    ]
    return [np.stack(column) for column in zip(*rows, strict=True)]


FORMS = pytest.mark.parametrize("form", ["static", "open", "number"])


def _check_floats(functions, element, form, values, tmp_path, exact=()):
    dtype = FLOATS[element]
    info = ml_dtypes.finfo(dtype)
    found = _run(functions, element, form, values, tmp_path)
    wide = [value.astype(np.float64) for value in values]
    for (name, function), actual in zip(functions.items(), found, strict=True):
        assert actual.dtype == dtype
        actual = actual.astype(np.float64)
        with np.errstate(all="ignore"):
            expected = function(*wide)
        if name in exact:
            np.testing.assert_array_equal(actual, expected, err_msg=name)
            if name not in EXTREMES:
                number = ~np.isnan(expected)
                signs = np.signbit(actual[number]), np.signbit(expected[number])
                np.testing.assert_array_equal(*signs, err_msg=f"signs of {name}")
            continue
        np.testing.assert_allclose(
            actual, expected, err_msg=name, rtol=ULP * float(info.eps),
            atol=ULP * float(info.smallest_subnormal),
        )  # fmt: skip


#: Of +0 and -0 they give any (docs/Numerics.md).
EXTREMES = ("arith.maximumf", "arith.minimumf", "arith.maxnumf", "arith.minnumf")


@FORMS
@pytest.mark.parametrize("element", FLOATS)
def test_exact_floats(element, form, tmp_path):
    values = [_halves(np.random.default_rng(0), FLOATS[element])]
    _check_floats(EXACT, element, form, values, tmp_path, exact=EXACT)


@FORMS
@pytest.mark.parametrize("element", FLOATS)
@pytest.mark.parametrize("row", range(len(ROUNDED)))
def test_rounded_floats(row, element, form, tmp_path):
    bounds, functions = ROUNDED[row]
    values = [_spread(np.random.default_rng(row), FLOATS[element], *bounds)]
    _check_floats(functions, element, form, values, tmp_path)


@FORMS
@pytest.mark.parametrize("element", FLOATS)
def test_two_floats(element, form, tmp_path):
    random = np.random.default_rng(1)
    dtype = FLOATS[element]
    corners = [0.0, -0.0, 1.5, -1.5, np.inf, -np.inf, np.nan]
    x, y = (np.ravel(one) for one in np.meshgrid(corners, corners))
    x, y = _spread(random, dtype, -50, 50, *x), _spread(random, dtype, -4, 4, *y)
    exact = ("math.copysign", *EXTREMES)
    _check_floats(OF_TWO_FLOATS, element, form, [x, y], tmp_path, exact)
    finite = [np.where(np.isfinite(one), one, dtype(2)) for one in (x, y)]
    third = _spread(random, dtype, -50, 50, *np.negative(finite[0][: len(corners) ** 2]))
    _check_floats({"math.fma": _fma}, element, form, [*finite, third], tmp_path)


@FORMS
@pytest.mark.parametrize("element", FLOATS)
def test_powers(element, form, tmp_path):
    """Of negative numbers by whole ones; by 0, and of 0 and 1."""
    random = np.random.default_rng(2)
    dtype = FLOATS[element]
    corners = np.meshgrid([0.0, 1.0, -1.0, -2.5, 2.0], [0.0, 1.0, 2.0, 3.0, -1.0, -2.0])
    base, by = (np.ravel(one) for one in corners)
    values = [_spread(random, dtype, 0.1, 8, *base), _spread(random, dtype, -3, 3, *by)]
    _check_floats({"math.powf": np.power}, element, form, values, tmp_path)


@FORMS
@pytest.mark.parametrize("element", INTEGERS)
def test_integers(element, form, tmp_path):
    random = np.random.default_rng(1)
    dtype = INTEGERS[element]
    info = np.iinfo(dtype)
    ends = [info.min, info.max, info.min, info.max, 0, -1, 1, info.min + 1]
    x = np.array([*ends, *random.integers(info.min, info.max, 37, endpoint=True)], dtype)
    small = np.array([2, 3, 1, 1, 5, 7, 12, 1, *random.integers(1, 12, 37)], dtype)
    signed = np.array(small * np.where(random.uniform(-1, 1, small.size) < 0, -1, 1), dtype)
    # The least number by -1 has no quotient.
    signed = np.where((x == info.min) & (signed == -1), dtype(-2), signed)
    distance = np.array([0, info.bits - 1, 1, *random.integers(0, info.bits, x.size - 3)], dtype)
    bases = [0, 1, -1, 2, -3, info.min, info.max, *random.integers(-12, 12, 5)]
    exponents = [0, 1, 2, 3, 7, -1, -2, info.min, info.max]
    # 0 has no power of a negative exponent.
    pairs = np.array([(a, b) for a in bases for b in exponents if a or b >= 0], dtype)
    powers = [np.ascontiguousarray(one) for one in pairs.T]
    for functions, values in (
        (OF_ONE_INTEGER, [x]),
        (OF_TWO_INTEGERS, [x, signed]),
        ({"arith.ceildivui": _unsigned(lambda a, b: a // b + (a % b != 0))}, [x, small]),
        ({"math.ipowi": _exactly(_power)}, powers),
        (SHIFTS, [x, distance]),
    ):
        found = _run(functions, element, form, values, tmp_path)
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
