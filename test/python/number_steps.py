# ===- number_steps.py - Nodes over numbers of every kind, with NumPy -----------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Nodes for random_numbers.py, and what NumPy makes of them.

docs/Numerics.md leaves some things open: the order of sums, the last places of functions, which of
two zeros a maximum gives. `Choices` makes them, in another way each time that a model is computed; a
result on which two computations do not agree is not held against anybody.

A node more is a row of one of the tables at the end.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


class Choices:
    """What the contract leaves open. Number 0 rounds nothing in another way; `most` is in ulp."""

    def __init__(self, number: int, dtype: Any, most: float = 4) -> None:
        self.number = number
        self._random = np.random.default_rng(number)
        self._step = most * float(np.finfo(dtype).eps)

    def rounded(self, x: Array, exact: Array) -> Array:
        """A function of the type of `x`, that may be off by some units in the last place."""
        made = exact.astype(np.float64)
        made *= 1 + self._noise(made.shape)
        return made.astype(x.dtype)

    def _noise(self, shape: tuple[int, ...]) -> Array:
        """What roundings may add, relative to what is rounded."""
        made: Array = self._random.uniform(-1, 1, shape)
        if self.number in (0, 2, 3):
            made[...] = {0: 0, 2: 1, 3: -1}[self.number]
        made *= self._step
        return made

    def zeros(self, made: Array, *operands: Array) -> Array:
        """Where an operand is a zero, and the result is, too, its sign may be any."""
        is_open = made == 0
        is_open &= np.any([np.broadcast_to(x == 0, made.shape) for x in operands], axis=0)
        if not self.number or not is_open.any():
            return made
        signs = (1.0, -1.0)[self.number % 2] * np.ones(made.shape)
        if self.number > 2:
            signs = self._random.choice((1.0, -1.0), made.shape)
        return np.where(is_open, np.copysign(made, signs), made).astype(made.dtype)

    def summed(self, terms: Array, axis: int, dtype: Any) -> Array:
        """The sum along an axis, which stays, of terms that are not rounded yet; f16 has that of f32.

        What no order rounds has one result. Else each rounding counts, of terms too.
        """
        dtype = np.promote_types(dtype, np.float32)
        exact = np.asarray(np.sum(terms, axis=axis, keepdims=True, dtype=np.longdouble))
        if self.number == 1:
            return self.zeros(exact.astype(dtype), exact)
        order = np.arange(terms.shape[axis])
        if self.number:
            order = self._random.permutation(order)
        rounded = np.take(terms, order, axis).astype(dtype)
        total = np.sum(rounded, axis=axis, keepdims=True, dtype=dtype)
        if self.number > 1:
            sizes = np.sum(np.abs(terms), axis=axis, keepdims=True)
            noise = self._noise(total.shape) * sizes
            is_open = (total != exact) & np.isfinite(total) & np.isfinite(noise)
            total = np.where(is_open, total + noise, total).astype(dtype)
        return self.zeros(total, total)


Compute = Callable[[Choices, Sequence[Array]], Array]


@dataclasses.dataclass(frozen=True)
class Node:
    """An operator and its attributes; constants stand behind the operands that are values."""

    op: str
    compute: Compute
    attributes: dict[str, Any] = dataclasses.field(default_factory=dict)
    #: Operands behind the values: an array, or None for one that is left out.
    constants: tuple[Array | None, ...] = ()
    #: Whether the constants stand in front.
    is_turned: bool = False
    #: Whether `compute` gets them.
    reads_constants: bool = False


def _exact(function: Callable[..., Array]) -> Compute:
    return lambda choices, xs: np.asarray(function(*xs)).astype(xs[0].dtype)


def _function(function: Callable[[Array], Array]) -> Compute:
    """Computed with f64, from f64's own with what NumPy has."""
    return lambda choices, xs: choices.rounded(xs[0], function(xs[0].astype(np.float64)))


def _either_zero(function: Callable[..., Array]) -> Compute:
    return lambda choices, xs: choices.zeros(function(*xs).astype(xs[0].dtype), *xs)


# Elementwise

_erf = np.vectorize(math.erf, otypes=[np.float64])


def _sigmoid(x: Array) -> Array:
    return np.where(x >= 0, 1 / (1 + np.exp(-np.abs(x))), np.exp(x) / (1 + np.exp(x)))


def _leaky(slope: float) -> Compute:
    return _exact(lambda x: np.where(x < 0, x * x.dtype.type(slope), x))


def _power(exponent: float) -> Compute:
    """Of an array of exponents: by one of 0.5 NumPy takes the square root, of -inf too."""

    def compute(choices: Choices, xs: Sequence[Array]) -> Array:
        exact = np.power(xs[0].astype(np.float64), np.full(xs[0].shape, exponent))
        return choices.rounded(xs[0], exact)

    return compute


def _clip(low: float | None, high: float | None) -> Compute:
    def compute(choices: Choices, xs: Sequence[Array]) -> Array:
        x, made = xs[0], xs[0]
        limits = []
        for limit, choose in ((low, np.maximum), (high, np.minimum)):
            if limit is not None:
                limits.append(x.dtype.type(limit))
                made = choose(made, limits[-1])
        return choices.zeros(made.astype(x.dtype), x, *(np.asarray(v) for v in limits))

    return compute


# Rows


def wide(x: Array) -> Array:
    return x.astype(np.longdouble)


def _shifted(x: Array, axis: int) -> Array:
    largest: Array = np.max(x, axis=axis, keepdims=True, initial=-np.inf)
    return x - largest


def softmax(axis: int, *, is_weight: bool = False) -> Node:
    """As weights of a product it need not be rounded to 16 bits."""

    def compute(choices: Choices, xs: Sequence[Array]) -> Array:
        power = np.exp(_shifted(xs[0].astype(np.float64), axis))
        made = power / np.sum(power, axis=axis, keepdims=True)
        if is_weight and choices.number % 2:
            return choices.rounded(xs[0].astype(np.promote_types(xs[0].dtype, np.float32)), made)
        return choices.rounded(xs[0], made)

    return Node("Softmax", compute, {"axis": axis})


def _log_softmax(axis: int) -> Compute:
    """The sum of exponentials is of the type, near 1 as well."""

    def compute(choices: Choices, xs: Sequence[Array]) -> Array:
        x = _shifted(xs[0].astype(np.float64), axis)
        total = np.sum(np.exp(x), axis=axis, keepdims=True)
        if choices.number % 2:
            total = choices.rounded(xs[0].astype(np.promote_types(xs[0].dtype, np.float32)), total)
        return choices.rounded(xs[0], x - np.log(total.astype(np.float64)))

    return compute


def _reduced(prepare: Callable[[Array], Array], finish: Callable[[Array, int], Array]) -> Any:
    def make(axis: int) -> Compute:
        def compute(choices: Choices, xs: Sequence[Array]) -> Array:
            total = choices.summed(prepare(wide(xs[0])), axis, xs[0].dtype)
            return choices.rounded(xs[0], finish(total, xs[0].shape[axis]))

        return compute

    return make


def _product(axis: int) -> Compute:
    def compute(choices: Choices, xs: Sequence[Array]) -> Array:
        x = xs[0]
        if choices.number:
            x = np.take(x, np.random.default_rng(choices.number).permutation(x.shape[axis]), axis)
        wider = np.promote_types(x.dtype, np.float32)
        made: Array = np.prod(x, axis=axis, keepdims=True, dtype=wider)
        return made.astype(x.dtype)

    return compute


def _extremum(choose: Callable[..., Array]) -> Any:
    def make(axis: int) -> Compute:
        def compute(choices: Choices, xs: Sequence[Array]) -> Array:
            made = choose(xs[0], axis=axis, keepdims=True)
            return choices.zeros(made, made)

        return compute

    return make


def _normalized(size: int) -> Compute:
    def compute(choices: Choices, xs: Sequence[Array]) -> Array:
        x, dtype = xs[0], np.promote_types(xs[0].dtype, np.float32)
        away = x - choices.summed(wide(x), -1, dtype) / dtype.type(size)
        square = choices.summed(wide(away) ** 2, -1, dtype) / dtype.type(size)
        return choices.rounded(x, away / np.sqrt(square + dtype.type(1e-5)))

    return compute


def multiplied(choices: Choices, xs: Sequence[Array]) -> Array:
    """A product of matrices: every product is made, also with zeros."""
    a, b = wide(xs[0]), wide(xs[1])
    products = a[..., :, :, None] * b[..., None, :, :]
    return choices.summed(products, -2, xs[0].dtype)[..., 0, :].astype(xs[1].dtype)


def _cumulated(axis: int, backwards: bool) -> Compute:
    def compute(choices: Choices, xs: Sequence[Array]) -> Array:
        x = np.flip(xs[0], axis) if backwards else xs[0]
        wider = np.longdouble if choices.number == 1 else np.promote_types(x.dtype, np.float32)
        made = np.cumsum(x, axis=axis, dtype=wider).astype(x.dtype)
        made = choices.zeros(made, made)
        return np.flip(made, axis) if backwards else made

    return compute


# Tables

ALPHA = {"alpha": 0.25}

UNARY: tuple[Node, ...] = (
    Node("Neg", _exact(np.negative)), Node("Abs", _exact(np.abs)), Node("Sqrt", _exact(np.sqrt)),
    Node("Floor", _exact(np.floor)), Node("Ceil", _exact(np.ceil)), Node("Round", _exact(np.rint)),
    Node("Reciprocal", _exact(lambda x: 1 / x)), Node("Identity", _exact(lambda x: x)),
    Node("Relu", _either_zero(lambda x: np.maximum(x, 0))),
    Node("LeakyRelu", _leaky(0.25), ALPHA), Node("LeakyRelu", _leaky(0.0), {"alpha": 0.0}),
    Node("LeakyRelu", _leaky(-2.0), {"alpha": -2.0}),
    Node("Softsign", _exact(lambda x: x / (1 + np.abs(x)))),
    Node("Exp", _function(np.exp)), Node("Log", _function(np.log)), Node("Tanh", _function(np.tanh)),
    Node("Sin", _function(np.sin)), Node("Cos", _function(np.cos)), Node("Atan", _function(np.arctan)),
    Node("Erf", _function(_erf)), Node("Sigmoid", _function(_sigmoid)),
    Node("Softplus", _function(lambda x: np.logaddexp(0, x))),
    Node("Elu", _function(lambda x: np.where(x < 0, 0.25 * np.expm1(np.minimum(x, 0)), x)), ALPHA),
    Node("Sinh", _function(np.sinh)), Node("Asinh", _function(np.arcsinh)),
    Node("Acos", _function(np.arccos)), Node("Atanh", _function(np.arctanh)),
)  # fmt: skip

EXPONENTS = (2.0, 0.5, -1.0, 0.0, 1.0, 3.0, -0.5, -2.0)
LIMITS: tuple[tuple[float | None, float | None], ...] = (
    (0.0, 6.0), (None, 1.0), (-1.0, None), (None, None), (-1.0, 1.0), (float("-inf"), 2.0),
)  # fmt: skip

BINARY: tuple[Node, ...] = (
    Node("Add", _exact(np.add)), Node("Add", _exact(np.add)), Node("Sub", _exact(np.subtract)),
    Node("Mul", _exact(np.multiply)), Node("Mul", _exact(np.multiply)), Node("Div", _exact(np.divide)),
    Node("Max", _either_zero(np.maximum)), Node("Min", _either_zero(np.minimum)),
    Node("Mod", _exact(np.fmod), {"fmod": 1}),
    Node("PRelu", _exact(lambda x, slope: np.where(x < 0, x * slope, x))),
)  # fmt: skip

#: Truth values of one or two values.
TESTS: tuple[tuple[str, int, Callable[..., Array], dict[str, Any]], ...] = (
    ("Less", 2, np.less, {}), ("Greater", 2, np.greater, {}), ("Equal", 2, np.equal, {}),
    ("LessOrEqual", 2, np.less_equal, {}), ("GreaterOrEqual", 2, np.greater_equal, {}),
    ("IsNaN", 1, np.isnan, {}), ("IsInf", 1, np.isinf, {}),
    ("IsInf", 1, np.isposinf, {"detect_negative": 0}),
    ("IsInf", 1, np.isneginf, {"detect_positive": 0}),
)  # fmt: skip

#: Reductions that keep their axis, by the axis.
REDUCTIONS: dict[str, Callable[[int], Compute]] = {
    "ReduceSum": _reduced(lambda x: x, lambda t, n: t),
    "ReduceMean": _reduced(lambda x: x, lambda t, n: t / t.dtype.type(n)),
    "ReduceL1": _reduced(np.abs, lambda t, n: t),
    "ReduceL2": _reduced(np.square, lambda t, n: np.sqrt(t)),
    "ReduceSumSquare": _reduced(np.square, lambda t, n: t),
    "ReduceProd": _product,
    "ReduceMax": _extremum(np.max), "ReduceMin": _extremum(np.min),
}  # fmt: skip


def power(exponent: float, dtype: Any) -> Node:
    return Node("Pow", _power(exponent), {}, (np.asarray(exponent, dtype),))


def clip(limits: tuple[float | None, float | None], dtype: Any) -> Node:
    """Either limit may be left out."""
    constants = tuple(None if v is None else np.asarray(v, dtype) for v in limits)
    while constants and constants[-1] is None:
        constants = constants[:-1]
    return Node("Clip", _clip(*limits), {}, constants)


def rows(axis: int) -> tuple[Node, ...]:
    """What rows along an axis become."""
    index = np.asarray(axis, np.int64)
    return (
        softmax(axis),
        Node("LogSoftmax", _log_softmax(axis), {"axis": axis}),
        Node("CumSum", _cumulated(axis, False), {}, (index,)),
        Node("CumSum", _cumulated(axis, True), {"reverse": 1}, (index,)),
    )


def reductions(axis: int) -> tuple[Node, ...]:
    """Reductions along an axis, which stays."""
    return tuple(
        Node(op, make(axis), {"keepdims": 1}, (np.asarray([axis], np.int64),))
        for op, make in REDUCTIONS.items()
    )


def normalization(size: int, dtype: Any) -> Node:
    return Node("LayerNormalization", _normalized(size), {"axis": -1}, (np.ones(size, dtype),))


def movements(axis: int, size: int) -> tuple[Node, ...]:
    """The last axis, in another order or shifted."""
    order = np.random.default_rng(size).permutation(size)
    ends = [np.asarray([v], np.int64) for v in (-1, np.iinfo(np.int64).min, axis, -1)]
    return (
        Node("Slice", _exact(lambda x: np.flip(x, axis)), {}, tuple(ends)),
        Node("Gather", _exact(lambda x: np.take(x, order, axis)), {"axis": axis}, (order,)),
    )
