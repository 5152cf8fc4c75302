# ===- test_cast.py - Conversions between element types ---------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Cast is defined for every value, and rounds once."""

import math

import loopc
import ml_dtypes
import numpy as np
import onnx
import pytest
from onnx import helper
from onnx.reference import ReferenceEvaluator
from single_node import element_type, node_model, run_node

BFLOAT16 = ml_dtypes.bfloat16
FLOATS = [np.float16, BFLOAT16, np.float32, np.float64]
INTEGERS = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]
TYPES = [*FLOATS, *INTEGERS, np.bool_]
SPECIAL = [np.nan, np.inf, -np.inf, 0.0, -0.0, 0.5, -0.99, 1.5, -1.5, 127.9, 128.0, -129.0, 255.5,
           256.0, 40000.0, -1.0, 2.0**31 - 128, 2.0**31, -(2.0**31), 3e9, 2.0**32, 2.0**53,
           2.0**62, 2.0**63, -(2.0**63), 1.5 * 2.0**63, 2.0**64, 1e30, -1e30, 1e-30]  # fmt: skip


def float_to_integer(value, dtype):
    """Towards zero into 32 or 64 bits, the smallest integer where it does not fit, then wrapped."""
    info = np.iinfo(dtype)
    bits = 32 if info.bits < 32 or dtype is np.int32 else 64
    if dtype is np.uint64 and 2.0**63 <= value < 2.0**64:
        return int(value)
    if dtype is np.uint64 and value >= 2.0**64:
        return 0
    fits = math.isfinite(value) and abs(value) < 2.0 ** (bits - 1)
    exact = math.trunc(value) if fits else -(2 ** (bits - 1))
    exact &= 2**info.bits - 1
    return exact - 2**info.bits if info.min < 0 and exact >= 2 ** (info.bits - 1) else exact


def cast_all(x, targets, **attributes):
    """x as each of `targets`, in one model."""
    names = [f"y{k}" for k in range(len(targets))]
    nodes = [helper.make_node("Cast", ["x"], [n], to=element_type(t), **attributes)
             for n, t in zip(names, targets, strict=True)]  # fmt: skip
    outputs = dict(zip(names, targets, strict=True))
    model = node_model(nodes, {"x": x}, outputs, 21, dynamic=True)
    return loopc.InferenceSession(model).run(None, {"x": x})


@pytest.mark.parametrize("source", FLOATS, ids=lambda t: np.dtype(t).name)
def test_from_floats(source):
    with np.errstate(all="ignore"):
        x = np.array(SPECIAL, np.float64).astype(source)
    results = cast_all(x, TYPES)
    for target, result in zip(TYPES, results, strict=True):
        assert result.dtype == np.dtype(target)
        with np.errstate(all="ignore"):
            if target in INTEGERS:
                values = [float_to_integer(float(v), target) for v in x]
                expected = np.array(values, target)
            elif target is np.bool_:
                expected = x.astype(np.float64) != 0
            else:
                expected = x.astype(target)
        np.testing.assert_array_equal(
            result.astype(object), expected.astype(object), err_msg=np.dtype(target).name
        ) if target in INTEGERS else np.testing.assert_array_equal(
            result.astype(np.float64), expected.astype(np.float64), err_msg=np.dtype(target).name
        )


@pytest.mark.parametrize("source", [*INTEGERS, np.bool_], ids=lambda t: np.dtype(t).name)
def test_from_integers(source):
    if source is np.bool_:
        x = np.array([True, False])
    else:
        info = np.iinfo(source)
        numbers = [info.min, info.max, 0, 1, 2, 100, 127, info.max // 2, info.max // 3]
        x = np.array(numbers, source)
    results = cast_all(x, TYPES)
    for target, result in zip(TYPES, results, strict=True):
        with np.errstate(all="ignore"):
            if target is BFLOAT16:
                expected = np.array([_nearest_bfloat16(int(v)) for v in x])
            else:
                expected = x.astype(target).astype(np.float64)
        np.testing.assert_array_equal(
            result.astype(np.float64), expected.astype(np.float64), err_msg=np.dtype(target).name
        )


def _nearest_bfloat16(value):
    """The nearest value of 8 significant bits, ties to even (small exponents do not occur)."""
    if value == 0:
        return 0.0
    shift = max(abs(value).bit_length() - 8, 0)
    quotient, rest = divmod(abs(value), 1 << shift)
    half = (1 << shift) // 2
    if shift and (rest > half or (rest == half and quotient & 1)):
        quotient += 1
    return math.copysign(quotient * 2.0**shift, value)


@pytest.mark.parametrize("target", [np.float16, BFLOAT16], ids=lambda t: np.dtype(t).name)
def test_double_is_rounded_once(target):
    """Just beside a tie: a step through float32 would lose on which side."""
    step = 2.0 ** (-10 if target is np.float16 else -7)
    tie = 1 + step / 2
    tiny = float(ml_dtypes.finfo(target).smallest_subnormal)
    x = np.array([tie, tie + 2**-40, tie - 2**-40, -tie - 2**-40, 1 + 1.5 * step - 2**-40,
                  tiny / 2, tiny / 2 * (1 + 2**-40), tiny / 4, tiny * 1.5 * (1 - 2**-40),
                  1e300, -1e300, 1e-300, np.inf, np.nan])  # fmt: skip
    expected = [1, 1 + step, 1, -1 - step, 1 + step, 0, tiny, 0, tiny,
                np.inf, -np.inf, 0, np.inf, np.nan]  # fmt: skip
    result = cast_all(x, [target])[0]
    np.testing.assert_array_equal(result.astype(np.float64), expected)


def test_old_cast_names_its_type():
    x = np.array([1.5, -2.5], np.float32)
    np.testing.assert_array_equal(
        run_node("Cast", x, opset=5, results=[np.int64], to="INT64")[0], [1, -2]
    )


def test_cast_like():
    x = np.array([1.5, -2.5], np.float32)
    like = np.zeros((3, 4), np.int16)
    result = run_node("CastLike", x, like, opset=19, results=[np.int16])[0]
    np.testing.assert_array_equal(result, [1, -2])


# ===------------------------------------------------------------------------===#
# Small types, against ONNX's reference implementation, over all values
# ===------------------------------------------------------------------------===#

FLOAT8 = [ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e4m3fnuz,
          ml_dtypes.float8_e5m2, ml_dtypes.float8_e5m2fnuz]  # fmt: skip
E8M0 = ml_dtypes.float8_e8m0fnu
FLOAT4 = ml_dtypes.float4_e2m1fn
SMALL_INTEGERS = [ml_dtypes.int4, ml_dtypes.uint4, ml_dtypes.int2, ml_dtypes.uint2]
SMALL = [*FLOAT8, E8M0, FLOAT4, *SMALL_INTEGERS]


def name_of(dtype):
    return np.dtype(dtype).name


def all_values(dtype):
    """Every value of a type of at most 16 bits; of wider ones a dense sample and the edges."""
    dtype = np.dtype(dtype)
    if dtype == np.bool_:
        return np.array([False, True])
    if dtype.type in SMALL_INTEGERS:
        info = ml_dtypes.iinfo(dtype)
        return np.arange(int(info.min), int(info.max) + 1).astype(np.int8).astype(dtype)
    if dtype.type is FLOAT4:
        return np.arange(16, dtype=np.uint8).view(dtype)
    if dtype.itemsize <= 2:
        bits = np.uint8 if dtype.itemsize == 1 else np.uint16
        return np.arange(1 << (8 * dtype.itemsize)).astype(bits).view(dtype)
    if dtype.kind in "iu":
        return _sample_integers(dtype)
    return _sample_floats().astype(dtype) if dtype == np.float32 else _sample_doubles()


def _sample_floats():
    """All signs and exponents, with mantissas around what short ones round at."""
    tails = {0, 1, 0x7FFFFF, 0x7FFFFE}
    for bit in range(23):
        tails |= {1 << bit, (1 << bit) - 1, (1 << bit) + 1, 0x7FFFFF ^ ((1 << bit) - 1)}
        tails |= {(0b11 << bit) & 0x7FFFFF, (0b101 << bit) & 0x7FFFFF}
    for top in range(16):
        tails |= {top << 19, (top << 19) | 0x40000, (top << 19) | 0x40001, (top << 19) | 0x3FFFF}
    exponents = np.arange(512, dtype=np.uint32)[:, None] << 23
    dense = (exponents | np.array(sorted(tails), np.uint32)).ravel()
    some = np.random.default_rng(0).integers(0, 1 << 32, 20000, dtype=np.uint32)
    return np.concatenate([dense, some]).view(np.float32)


def _sample_doubles():
    """The floats, their neighbours in double, and what is out of their range."""
    with np.errstate(all="ignore"):
        x = _sample_floats()[::7].astype(np.float64)
        near = [np.nextafter(x, np.inf), np.nextafter(x, -np.inf)]
    wide = np.array([1e300, -1e300, 1e-300, -1e-300, 5e-324, 3.4028235677973366e38, 2.0**-150])
    return np.concatenate([x, *near, wide])


def _sample_integers(dtype):
    info = np.iinfo(dtype)
    edges = [info.min, info.max, 0]
    for bit in range(info.bits - (info.min < 0)):
        edges += [v for d in (-1, 0, 1) for v in ((1 << bit) + d, -(1 << bit) + d)]
    edges += [*range(-600, 600), 3 << 20, 5 << 21, (5 << 21) + 1]
    inside = [v for v in edges if info.min <= v <= info.max]
    some = np.random.default_rng(0).integers(info.min, info.max, 2000, dtype, endpoint=True)
    return np.concatenate([np.array(inside, dtype), some])


def variants(target):
    """The attributes that matter for a target."""
    if target in FLOAT8:
        return [{}, {"saturate": 0}, {"saturate": 1}]
    if target is E8M0:
        modes = ["up", "down", "nearest"]
        return [{}, *({"saturate": s, "round_mode": m} for s in (0, 1) for m in modes)]
    return [{}]


def cast_model(x, jobs, like=False):
    """Every (type, attributes) of `jobs` as an output."""
    nodes, constants = [], {}
    for k, (target, attributes) in enumerate(jobs):
        if like:
            constants[f"like{k}"] = np.zeros(1).astype(target)
            nodes.append(helper.make_node("CastLike", ["x", f"like{k}"], [f"y{k}"], **attributes))
        else:
            nodes.append(
                helper.make_node("Cast", ["x"], [f"y{k}"], to=element_type(target), **attributes)
            )
    outputs = {f"y{k}": target for k, (target, _) in enumerate(jobs)}
    return node_model(nodes, {"x": x}, outputs, 25, dynamic=True, constants=constants)


def rounded_to_odd(x):
    """float32 whose last bit says that something was cut off."""
    with np.errstate(all="ignore"):
        nearest = x.astype(np.float32)
        back = nearest.astype(np.float64)
    bits = nearest.view(np.uint32) - (np.abs(back) > np.abs(x)).astype(np.uint32)
    odd = np.where((back == x) | np.isnan(x), bits, bits | 1).astype(np.uint32)
    return odd.view(np.float32)


def reference_cast(x, target, attributes):
    """ONNX's Cast; by way of float32, which is exact, where NumPy has no conversion.

    ONNX's own steps from double through float, which round twice, get a float that is as good as
    the double for every target of less than 22 bits. (To float8e8m0 rounding twice is the rule.)
    """
    if (
        x.dtype == np.float64
        and np.dtype(target).itemsize < 4
        and target is not E8M0
        and (target not in INTEGERS and target not in SMALL_INTEGERS and target is not np.bool_)
    ):
        x = rounded_to_odd(x)
    node = helper.make_node("Cast", ["x"], ["y"], to=element_type(target), **attributes)
    for value in (x, x.astype(np.float32)):
        model = onnx.load_from_string(node_model([node], {"x": value}, {"y": target}, 25))
        with np.errstate(all="ignore"):
            try:
                return ReferenceEvaluator(model).run(None, {"x": value})[0]
            except TypeError:
                continue
    raise AssertionError("no conversion")


def bits_of(x):
    """The bits; all NaNs of floats of 16 bits and more are one."""
    raw = np.ascontiguousarray(x).view(f"u{x.dtype.itemsize}")
    if x.dtype.type in SMALL_INTEGERS:
        return raw & ((1 << ml_dtypes.iinfo(x.dtype).bits) - 1)
    if x.dtype.itemsize > 1 and x.dtype.kind not in "iub":
        return np.where(np.isnan(x), np.iinfo(raw.dtype).max, raw)
    return raw


def fits_integer(x, target):
    """Where ONNX says what an integer becomes of x: neither NaN nor out of range."""
    with np.errstate(all="ignore"):
        real = np.trunc(x.astype(np.float64))
    if target in SMALL_INTEGERS:
        return np.abs(real) < 2.0**31
    info = np.iinfo(target)
    return (real >= info.min) & (real < float(info.max) + 1)


def assert_casts(x, jobs, results):
    for (target, attributes), result in zip(jobs, results, strict=True):
        expected = reference_cast(x, target, attributes)
        assert result.dtype == np.dtype(target)
        defined = np.ones(x.shape, bool)
        if (
            x.dtype.kind not in "iub"
            and x.dtype.type not in SMALL_INTEGERS
            and (target in INTEGERS or target in SMALL_INTEGERS)
        ):
            defined = fits_integer(x, target)
        differs = (bits_of(result) != bits_of(expected)) & defined
        where = np.flatnonzero(differs)[:4]
        assert not where.size, (
            f"{name_of(x.dtype)} to {name_of(target)} {attributes}: {np.count_nonzero(differs)} "
            f"differ: {x[where]} {bits_of(x)[where]} gives {bits_of(result)[where]}, "
            f"not {bits_of(expected)[where]}"
        )


@pytest.mark.parametrize("source", [*TYPES, *SMALL], ids=name_of)
def test_to_small_types(source):
    x = all_values(source)
    jobs = [(t, a) for t in SMALL for a in variants(t)]
    assert_casts(x, jobs, loopc.InferenceSession(cast_model(x, jobs)).run(None, {"x": x}))


@pytest.mark.parametrize("source", SMALL, ids=name_of)
def test_from_small_types(source):
    x = all_values(source)
    jobs = [(t, {}) for t in TYPES]
    assert_casts(x, jobs, loopc.InferenceSession(cast_model(x, jobs)).run(None, {"x": x}))


@pytest.mark.parametrize("source", [np.float16, BFLOAT16, np.float32, np.float64], ids=name_of)
def test_between_floats(source):
    x = all_values(source)
    jobs = [(t, {}) for t in [*FLOATS, np.bool_]]
    assert_casts(x, jobs, loopc.InferenceSession(cast_model(x, jobs)).run(None, {"x": x}))


@pytest.mark.parametrize("source", [np.float32, np.float16], ids=name_of)
def test_cast_like_small_types(source):
    """CastLike has the attributes of Cast."""
    x = all_values(source)
    jobs = [(t, a) for t in SMALL for a in variants(t)]
    model = cast_model(x, jobs, like=True)
    assert_casts(x, jobs, loopc.InferenceSession(model).run(None, {"x": x}))


def test_constants_are_cast():
    """What is converted at compile time is converted in the same way."""
    x = np.array([500, -500, 0.0625, -0.0, 1e9, 3.3], np.float32)
    jobs = [(t, a) for t in SMALL for a in variants(t)]
    nodes = [helper.make_node("Cast", ["w"], [f"y{k}"], to=element_type(t), **a)
             for k, (t, a) in enumerate(jobs)]  # fmt: skip
    outputs = {f"y{k}": t for k, (t, _) in enumerate(jobs)}
    model = node_model(nodes, {}, outputs, 25, constants={"w": x})
    assert_casts(x, jobs, loopc.InferenceSession(model).run(None, {}))


def test_unknown_round_mode():
    x = np.ones(2, np.float32)
    model = cast_model(x, [(E8M0, {"round_mode": "sideways"})])
    with pytest.raises(loopc.CompileError, match="'round_mode' is 'sideways'"):
        loopc.InferenceSession(model)


# ===------------------------------------------------------------------------===#
# BitCast, IsNaN, IsInf
# ===------------------------------------------------------------------------===#

WIDTHS = {
    2: [ml_dtypes.int2, ml_dtypes.uint2],
    4: [ml_dtypes.int4, ml_dtypes.uint4, FLOAT4],
    8: [np.int8, np.uint8, *FLOAT8, E8M0],
    16: [np.int16, np.uint16, np.float16, BFLOAT16],
    32: [np.int32, np.uint32, np.float32],
    64: [np.int64, np.uint64, np.float64, np.complex64],
    128: [np.complex128],
}


@pytest.mark.parametrize("width", WIDTHS)
def test_bit_cast(width):
    """All pairs of types of one width; NaNs keep their bits."""
    types = WIDTHS[width]
    for source in types:
        x = all_values(source) if width <= 16 else _random_bits(source)
        nodes = [helper.make_node("BitCast", ["x"], [f"y{k}"], to=element_type(t))
                 for k, t in enumerate(types)]  # fmt: skip
        outputs = {f"y{k}": t for k, t in enumerate(types)}
        model = node_model(nodes, {"x": x}, outputs, 26, dynamic=True)
        for target, got in zip(
            types, loopc.InferenceSession(model).run(None, {"x": x}), strict=True
        ):
            assert got.dtype == np.dtype(target)
            mask = (1 << min(width, 8)) - 1
            np.testing.assert_array_equal(got.view(np.uint8) & mask, x.view(np.uint8) & mask)


def _random_bits(dtype):
    raw = np.random.default_rng(0).integers(0, 256, (100, np.dtype(dtype).itemsize), np.uint8)
    return raw.view(dtype).reshape(100)


def test_bit_cast_of_bool():
    x = np.array([0, 1, 2, 255], np.uint8)
    (got,) = run_node("BitCast", x, opset=26, results=[np.bool_], to=element_type(np.bool_))
    np.testing.assert_array_equal(got, [False, True, True, True])
    (back,) = run_node("BitCast", got, opset=26, results=[np.int8], to=element_type(np.int8))
    np.testing.assert_array_equal(back, [0, 1, 1, 1])


def test_bit_cast_to_another_width():
    x = np.zeros(2, np.float32)
    with pytest.raises(loopc.CompileError):
        run_node("BitCast", x, opset=26, results=[np.int64], to=element_type(np.int64))


@pytest.mark.parametrize("source", FLOAT8, ids=name_of)
def test_classification(source):
    x = all_values(source)
    real = x.astype(np.float32)
    np.testing.assert_array_equal(
        run_node("IsNaN", x, opset=20, results=[np.bool_])[0], np.isnan(real)
    )
    np.testing.assert_array_equal(
        run_node("IsInf", x, opset=20, results=[np.bool_])[0], np.isinf(real)
    )
    np.testing.assert_array_equal(
        run_node("IsInf", x, opset=20, results=[np.bool_], detect_negative=0)[0], np.isposinf(real)
    )
