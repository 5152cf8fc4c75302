# ===- random_ir_elements.py - Random layers that work element by element ---===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Elementwise layers of OpenVINO IR, reductions, and what goes along rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from openvino import Type
from openvino_models import const, i64
from random_corners import Draw
from random_ir_base import (
    FLOATS,
    NUMBERS,
    OPSETS,
    Array,
    Layer,
    builder,
    positive,
    sets_of,
    some_axes,
    values,
)  # fmt: skip

# ===- Elementwise -----------------------------------------------------------===#

UNARY = {
    "abs": 1, "negative": 1, "sign": 1, "relu": 1, "ceiling": 1, "floor": 1, "erf": 1, "exp": 1,
    "sigmoid": 1, "sin": 1, "cos": 1, "tan": 1, "tanh": 1, "sinh": 1, "cosh": 1, "atan": 1,
    "asinh": 4, "hswish": 4, "mish": 4, "softplus": 4, "hsigmoid": 5, "softsign": 9,
    "is_finite": 10, "is_nan": 10,
}  # fmt: skip
BOUNDED = {"acos": (1, -1, 1), "asin": (1, -1, 1), "atanh": (4, -0.9, 0.9), "acosh": (4, 1, 9),
           "log": (1, 0, 9), "sqrt": (1, 0, 9)}  # fmt: skip


def unary(draw: Draw) -> Layer:
    name = draw.choice(sorted(UNARY))
    kinds = NUMBERS if name in ("abs", "negative", "sign", "relu") else FLOATS
    dtype, shape = draw.choice(kinds), draw.shape()
    return Layer(sets_of(draw, lambda: [values(draw, dtype, shape, odd=name not in ("sin", "cos", "tan"))]),
                 builder(draw, name, UNARY[name], 16), name=name)  # fmt: skip


def bounded(draw: Draw) -> Layer:
    name = draw.choice(sorted(BOUNDED))
    since, low, high = BOUNDED[name]
    dtype, shape = draw.choice(FLOATS), draw.shape()
    pick = np.random.default_rng(draw.getrandbits(32))
    return Layer(sets_of(draw, lambda: [pick.uniform(low, high, shape).astype(dtype)]),
                 builder(draw, name, since), name=name)  # fmt: skip


def with_numbers(draw: Draw) -> Layer:
    """Layers with attributes that are numbers."""
    shape, dtype = draw.shape(), draw.choice(FLOATS)
    low = draw.choice((-1.5, 0.0, 0.3))
    name, make = draw.choice((
        ("clamp", lambda x: OPSETS[1].clamp(x, low, low + draw_width)),
        ("elu", lambda x: OPSETS[1].elu(x, draw_width)),
        ("selu", lambda x: OPSETS[1].selu(x, const(dtype(1.3)), const(dtype(draw_width)))),
        ("hard_sigmoid", lambda x: OPSETS[1].hard_sigmoid(x, const(dtype(0.3)), const(dtype(0.4)))),
        ("swish", lambda x: OPSETS[4].swish(x, const(dtype(draw_width)))),
        ("swish1", lambda x: OPSETS[4].swish(x)),
        ("gelu", lambda x: OPSETS[7].gelu(x, mode)),
        ("round", lambda x: OPSETS[5].round(x, rounding)),
        ("is_inf", lambda x: OPSETS[10].is_inf(
            x, {"detect_negative": detect[0], "detect_positive": detect[1]})),
        ("power", lambda x: OPSETS[1].power(x, const(dtype(exponent)))),
    ))  # fmt: skip
    draw_width = draw.choice((0.5, 1.0, 2.0))
    mode = draw.choice(("erf", "tanh"))
    rounding = draw.choice(("half_to_even", "half_away_from_zero"))
    exponent = draw.choice((2, 1, 0))
    detect = (draw.random() < 0.5, draw.random() < 0.5)
    return Layer(sets_of(draw, lambda: [values(draw, dtype, shape, odd=True)]), make, name=name)


def clamp_integers(draw: Draw) -> Layer:
    """Bounds that are no integers, or that the type does not have."""
    dtype = draw.choice((np.int32, np.int64, np.int8, np.uint8))
    low = draw.choice((-1.5, 0.5, -300.0, -1.0, 2.0))
    high = low + draw.choice((1.0, 2.5, 600.0))
    shape = positive(draw)
    return Layer(sets_of(draw, lambda: [values(draw, dtype, shape)]),
                 lambda x: OPSETS[1].clamp(x, low, high), name="clamp")  # fmt: skip


BINARY = ("add", "subtract", "multiply", "maximum", "minimum", "squared_difference",
          "less", "less_equal", "greater", "greater_equal", "equal", "not_equal")  # fmt: skip
DIVISIONS = ("divide", "mod", "floor_mod")
LOGICAL = ("logical_and", "logical_or", "logical_xor")
BITWISE = ("bitwise_and", "bitwise_or", "bitwise_xor")


def _broadcast_pair(draw: Draw) -> tuple[tuple[int, ...], tuple[int, ...], str]:
    shape = list(draw.shape(1))
    if draw.random() < 0.2:
        return tuple(shape), tuple(shape), "NONE"
    left = [d if draw.random() < 0.8 else 1 for d in shape]
    right = [d if draw.random() < 0.7 else 1 for d in shape]
    cut = draw.randint(0, len(shape))
    right = right[cut:]
    return (tuple(right), tuple(left), "NUMPY") if draw.random() < 0.3 else (
        tuple(left), tuple(right), "NUMPY")  # fmt: skip


def binary(draw: Draw) -> Layer:
    name = draw.choice((*BINARY, *DIVISIONS, *LOGICAL, *BITWISE))
    a, b, spec = _broadcast_pair(draw)
    dtype = draw.choice(NUMBERS)
    if name in LOGICAL:
        dtype = np.bool_
    if name in BITWISE:
        dtype = draw.choice((np.int32, np.int64, np.uint8, np.int8, np.bool_))

    def make() -> list[Array]:
        left, right = values(draw, dtype, a), values(draw, dtype, b)
        if name in DIVISIONS:
            right = np.where(right == 0, 1, right).astype(dtype)
        return [left, right]

    since = 13 if name in BITWISE else 1
    return Layer(sets_of(draw, make),
                 lambda x, y: getattr(OPSETS[since], name)(x, y, auto_broadcast=spec), name=name)  # fmt: skip


def pdpd_broadcast(draw: Draw) -> Layer:
    """PaddlePaddle's broadcast: the second operand begins at the last axes."""
    shape = positive(draw, 1)
    at = draw.randint(0, len(shape))
    length = draw.randint(0, len(shape) - at)
    del length
    right = shape[at:]
    dtype = draw.choice((np.float32, np.int32))
    name = draw.choice(("add", "multiply", "maximum", "greater"))
    return Layer(sets_of(draw, lambda: [values(draw, dtype, shape), values(draw, dtype, right)]),
                 lambda x, y: getattr(OPSETS[1], name)(x, y, auto_broadcast="PDPD"),
                 name=name + "_pdpd")  # fmt: skip


def shifts(draw: Draw) -> Layer:
    a, b, _ = _broadcast_pair(draw)
    dtype = draw.choice((np.int32, np.int64, np.uint8, np.int8))
    pick = np.random.default_rng(draw.getrandbits(32))
    name = draw.choice(("bitwise_left_shift", "bitwise_right_shift"))
    return Layer(sets_of(draw, lambda: [pick.integers(0, 99, a).astype(dtype),
                                      pick.integers(0, 6, b).astype(dtype)]),
                 getattr(OPSETS[15], name), name=name)  # fmt: skip


def logical_not(draw: Draw) -> Layer:
    shape = draw.shape()
    if draw.random() < 0.5:
        return Layer(sets_of(draw, lambda: [values(draw, np.bool_, shape)]), OPSETS[1].logical_not)
    dtype = draw.choice((np.int32, np.uint8, np.int64, np.bool_))
    return Layer(sets_of(draw, lambda: [values(draw, dtype, shape)]), OPSETS[13].bitwise_not)


def select(draw: Draw) -> Layer:
    shape = list(draw.shape(1))
    parts = []
    for _ in range(3):
        one = [d if draw.random() < 0.7 else 1 for d in shape]
        parts.append(tuple(one[draw.randint(0, len(one)) :] if draw.random() < 0.5 else one))
    dtype = draw.choice((*NUMBERS, np.bool_))
    return Layer(sets_of(draw, lambda: [values(draw, np.bool_, parts[0]),
                                      values(draw, dtype, parts[1]),
                                      values(draw, dtype, parts[2])]),
                 OPSETS[1].select)  # fmt: skip


def prelu(draw: Draw) -> Layer:
    shape = positive(draw, 1)
    slope = draw.choice(((1,), (shape[1],) if len(shape) > 1 else (shape[0],), shape,
                         tuple(d if draw.random() < 0.5 else 1 for d in shape)))  # fmt: skip
    dtype = draw.choice(FLOATS)
    return Layer(sets_of(draw, lambda: [values(draw, dtype, shape), values(draw, dtype, slope)]),
                 OPSETS[1].prelu)  # fmt: skip


def convert(draw: Draw) -> Layer:
    kinds = (np.float32, np.float16, np.float64, np.int32, np.int64, np.int8, np.uint8, np.int16,
             np.uint16, np.uint32, np.uint64, np.bool_)  # fmt: skip
    source, target = draw.choice(kinds), draw.choice(kinds)
    shape = draw.shape()
    pick = np.random.default_rng(draw.getrandbits(32))
    low = 0 if np.dtype(target).kind in "ub" or np.dtype(source).kind in "ub" else -100
    return Layer(
        sets_of(draw, lambda: [(pick.uniform(low, 100, shape) * (pick.random(shape) < 0.8)).astype(source)]),
        lambda x: OPSETS[1].convert(x, Type(np.dtype(target))),
        name=f"convert {np.dtype(source)} {np.dtype(target)}",
    )  # fmt: skip


def convert_like(draw: Draw) -> Layer:
    shape, source, target = draw.shape(), draw.choice(NUMBERS), draw.choice(NUMBERS)
    return Layer(sets_of(draw, lambda: [values(draw, source, shape), values(draw, target, (2,))]),
                 OPSETS[1].convert_like)  # fmt: skip


def fake_quantize(draw: Draw) -> Layer:
    shape = positive(draw, 1)
    ranges = tuple(d if draw.random() < 0.4 else 1 for d in shape)
    if draw.random() < 0.4:
        ranges = ()
    levels = draw.choice((2, 5, 16, 255, 256))
    pick = np.random.default_rng(draw.getrandbits(32))

    new = OPSETS[draw.choice((1, 13))]
    low = pick.uniform(-2, 0, ranges)
    width = pick.uniform(0.5, 3, ranges)

    def make() -> list[Array]:
        return [pick.uniform(-3, 3, shape).astype(np.float32), low.astype(np.float32),
                (low + width).astype(np.float32), (low * 2).astype(np.float32),
                (low * 2 + width).astype(np.float32)]  # fmt: skip

    return Layer(sets_of(draw, make), lambda *v: new.fake_quantize(*v, levels),
                 constants=(1, 2, 3, 4))  # fmt: skip


# ===- Reductions and rows ---------------------------------------------------===#

REDUCTIONS = {"reduce_sum": 1, "reduce_max": 1, "reduce_min": 1, "reduce_mean": 1,
              "reduce_prod": 1, "reduce_l1": 4, "reduce_l2": 4,
              "reduce_logical_and": 1, "reduce_logical_or": 1}  # fmt: skip


def reduction(draw: Draw) -> Layer:
    name = draw.choice(sorted(REDUCTIONS))
    shape = positive(draw, 1)
    dtype = (
        np.bool_ if "logical" in name else draw.choice(FLOATS if name == "reduce_l2" else NUMBERS)
    )
    axes, keep = some_axes(draw, len(shape)), draw.random() < 0.5
    if axes.size == 1 and draw.random() < 0.3:
        axes = axes.reshape(())
    return Layer(sets_of(draw, lambda: [values(draw, dtype, shape), axes]),
                 lambda x, a: getattr(OPSETS[REDUCTIONS[name]], name)(x, a, keep),
                 constants=(1,), tolerance=1e-2 if dtype is np.float16 else 1e-5, name=name)  # fmt: skip


def softmax(draw: Draw) -> Layer:
    name, since = draw.choice((("softmax", 1), ("softmax", 8), ("log_softmax", 5)))
    shape = positive(draw, 1)
    axis = draw.randrange(len(shape)) if since == 1 else draw.axis(len(shape))
    dtype = draw.choice(FLOATS)
    return Layer(sets_of(draw, lambda: [values(draw, dtype, shape)]),
                 lambda x: getattr(OPSETS[since], name)(x, axis), name=name)  # fmt: skip


def cumsum(draw: Draw) -> Layer:
    shape = positive(draw, 1)
    axis = np.array(draw.axis(len(shape)), draw.choice((np.int32, np.int64)))
    flags = (draw.random() < 0.5, draw.random() < 0.5)
    dtype = draw.choice((np.float32, np.int32, np.int64))
    return Layer(sets_of(draw, lambda: [values(draw, dtype, shape), axis]),
                 lambda x, a: OPSETS[3].cum_sum(x, a, *flags), constants=(1,))  # fmt: skip


def mvn(draw: Draw) -> Layer:
    shape = positive(draw, 2)
    axes = some_axes(draw, len(shape), 1)
    variance, mode = draw.random() < 0.6, draw.choice(("inside_sqrt", "outside_sqrt"))
    return Layer(sets_of(draw, lambda: [values(draw, np.float32, shape), axes]),
                 lambda x, a: OPSETS[6].mvn(x, a, variance, 1e-3, mode), constants=(1,),
                 tolerance=1e-3)  # fmt: skip


def mvn2(draw: Draw) -> Layer:
    shape = positive(draw, 3)
    flags = (draw.random() < 0.5, draw.random() < 0.5)
    return Layer(sets_of(draw, lambda: [values(draw, np.float32, shape)]),
                 lambda x: OPSETS[2].mvn(x, *flags, 1e-3), tolerance=1e-3)  # fmt: skip


def normalize_l2(draw: Draw) -> Layer:
    shape = positive(draw, 2)  # of rank 1 the runtime has no axes otherwise than documented
    axes = some_axes(draw, len(shape))
    mode = draw.choice(("add", "max"))
    return Layer(sets_of(draw, lambda: [values(draw, np.float32, shape), axes]),
                 lambda x, a: OPSETS[1].normalize_l2(x, a, 1e-2, mode), constants=(1,))  # fmt: skip


def lrn(draw: Draw) -> Layer:
    shape = positive(draw, 2)
    # OpenVINO's runtime takes 1 for the bias, and of an even size one less.
    size = draw.choice((1, 3, 5))
    return Layer(sets_of(draw, lambda: [values(draw, np.float32, shape), i64([1])]),
                 lambda x, a: OPSETS[1].lrn(x, a, 0.5, 0.75, 1.0, size), constants=(1,))  # fmt: skip


def grn(draw: Draw) -> Layer:
    shape = positive(draw, 2)
    return Layer(sets_of(draw, lambda: [values(draw, np.float32, shape)]),
                 lambda x: OPSETS[1].grn(x, 0.3))  # fmt: skip


def group_normalization(draw: Draw) -> Layer:
    groups, each = draw.randint(1, 3), draw.randint(1, 3)
    shape = (draw.randint(1, 3), groups * each, *positive(draw, 0, 2))
    return Layer(sets_of(draw, lambda: [values(draw, np.float32, shape),
                                      values(draw, np.float32, shape[1:2]),
                                      values(draw, np.float32, shape[1:2])]),
                 lambda x, s, b: OPSETS[12].group_normalization(x, s, b, groups, 1e-2),
                 tolerance=1e-3)  # fmt: skip


def batch_norm(draw: Draw) -> Layer:
    shape = positive(draw, 2)
    pick = np.random.default_rng(draw.getrandbits(32))
    return Layer(sets_of(draw, lambda: [values(draw, np.float32, shape),
                                      *(pick.uniform(0.5, 2, shape[1:2]).astype(np.float32)
                                        for _ in range(4))]),
                 lambda *v: OPSETS[5].batch_norm_inference(*v, 1e-2), tolerance=1e-4)  # fmt: skip


def topk(draw: Draw) -> Layer:
    since = draw.choice((1, 3, 11))
    shape = positive(draw, 1)
    axis = draw.axis(len(shape))
    k = draw.randint(1, shape[axis])
    mode, sort = draw.choice(("max", "min")), draw.choice(("value", "index"))
    dtype = draw.choice(NUMBERS)
    kind = draw.choice(("i32", "i64"))

    def make() -> list[Array]:
        # No ties: which of equal elements comes first is left open.
        pick = np.random.default_rng(draw.getrandbits(32))
        return [pick.permutation(int(np.prod(shape))).reshape(shape).astype(dtype),
                np.array(k, np.int64)]  # fmt: skip

    def build(x: Any, k: Any) -> Any:
        if since == 1:
            return OPSETS[1].topk(x, k, axis, mode, sort)
        return OPSETS[since].topk(x, k, axis, mode, sort, kind)

    return Layer(sets_of(draw, make), build, constants=(1,) if draw.random() < 0.6 else ())


def non_zero(draw: Draw) -> Layer:
    shape, kind = draw.shape(1), draw.choice(("i32", "i64"))
    dtype = draw.choice((*NUMBERS, np.bool_))
    return Layer(sets_of(draw, lambda: [values(draw, dtype, shape)]),
                 lambda x: OPSETS[3].non_zero(x, kind))  # fmt: skip


def unique(draw: Draw) -> Layer:
    shape = positive(draw, 1)
    axis = None if draw.random() < 0.5 else draw.axis(len(shape))
    dtype = draw.choice((np.float32, np.int32, np.int64))
    ordered = draw.random() < 0.5
    return Layer(sets_of(draw, lambda: [values(draw, dtype, shape)]),
                 lambda x: OPSETS[10].unique(x, None if axis is None else const(i64([axis])),
                                             ordered))  # fmt: skip


def search_sorted(draw: Draw) -> Layer:
    lead = positive(draw, 0, 2)
    many, few = draw.randint(1, 5), draw.randint(1, 4)
    dtype, right = draw.choice((np.float32, np.int32)), draw.random() < 0.5
    return Layer(sets_of(draw, lambda: [np.sort(values(draw, dtype, (*lead, many)), axis=-1),
                                      values(draw, dtype, (*lead, few))]),
                 lambda a, v: OPSETS[15].search_sorted(a, v, right))  # fmt: skip


def bucketize(draw: Draw) -> Layer:
    shape, right = draw.shape(), draw.random() < 0.5
    dtype = draw.choice((np.float32, np.int32))
    buckets = np.sort(np.unique(values(draw, dtype, (draw.randint(1, 5),))))
    kind = draw.choice(("i32", "i64"))
    return Layer(sets_of(draw, lambda: [values(draw, dtype, shape), buckets]),
                 lambda x, b: OPSETS[3].bucketize(x, b, kind, right))  # fmt: skip
