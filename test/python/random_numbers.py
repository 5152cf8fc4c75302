# ===- random_numbers.py - Expressions over numbers of every kind ---------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Random expressions for test/fuzz/odd_numbers.py, with sets of inputs for each.

Operands hold zeros of both signs, infinities, NaN, subnormal and very large numbers, many of them
constants. An expression is of elementwise nodes, reductions, softmaxes, products of matrices and
movements, whose values are read more than once; it stands alone, in a Loop, a Scan or a branch.
Of the extents only the last one is always the same.
"""

from __future__ import annotations

import dataclasses
import math
import random
from collections.abc import Sequence
from typing import Any

import number_steps as steps
import numpy as np
import onnx
from number_steps import Array, Choices, Node
from random_window_steps import Feeds, Graph, Step
from random_windows import PLACES, WindowModel

#: How often a model is computed: once as it is, then with other choices.
COMPUTATIONS = 7
#: How often where a result differs, and with how many units in the last place.
CHECKS, MOST_ULP = 40, 64.0
SIZES = (1, 2, 3, 4, 5, 7, 8, 13, 16, 17, 24, 32, 33, 64)
ROWS = (1, 1, 2, 3, 4, 5, 8, 16, 17)
#: Of types, how large and how small elements are.
LARGE = {"float32": 1e30, "float64": 1e200, "float16": 3e4}
KINDS: tuple[tuple[str, ...], ...] = (
    ("plain",), ("plain", "zero"), ("plain", "inf"), ("plain", "nan"), ("plain", "small"),
    ("plain", "large"), ("zero", "inf"), ("plain", "zero", "inf", "nan"),
    ("plain", "zero", "inf", "nan", "small", "large"),
)  # fmt: skip


def numbers(dice: random.Random, shape: Sequence[int], dtype: Any, share: float = 0.3) -> Array:
    """Small multiples of a quarter, and elements of some odd kinds among them."""
    source = np.random.default_rng(dice.getrandbits(32))
    made = source.integers(-12, 13, tuple(shape)) / 4
    smallest = float(np.finfo(dtype).smallest_subnormal)
    odd = {"zero": [0.0, -0.0], "inf": [np.inf, -np.inf], "nan": [np.nan],
           "small": [smallest, -smallest, 700 * smallest],
           "large": [LARGE[np.dtype(dtype).name], -LARGE[np.dtype(dtype).name]]}  # fmt: skip
    choices = [v for kind in dice.choice(KINDS) for v in odd.get(kind, [])]
    if choices:
        made = np.where(source.random(made.shape) < share, source.choice(choices, made.shape), made)
    return made.astype(dtype)


@dataclasses.dataclass(frozen=True)
class Value:
    """A value of an expression: its node, what that reads, and the axes of one element."""

    node: Node
    operands: tuple[int, ...]
    single: frozenset[int]
    #: Not for truth values, nor for what has other extents.
    is_read: bool


class Expression:
    """Values of numbers 0 (the operand), 1, ...; the last one is the result."""

    def __init__(self, dice: random.Random, rank: int, size: int, dtype: Any) -> None:
        self._dice, self._rank, self._size, self._dtype = dice, rank, size, np.dtype(dtype)
        self.values: list[Value | None] = [None]
        makers = (self._unary, self._unary, self._unary, self._binary, self._binary, self._binary,
                  self._constant, self._constant, self._constant, self._choice, self._choice,
                  self._row, self._narrow, self._narrow, self._product, self._attention,
                  self._move)  # fmt: skip
        for _ in range(dice.randint(2, 9)):
            dice.choice(makers)()
        # All of the operand's axes are there, and what was made last is read.
        self._add(steps.BINARY[0], self._pick(newest=True), self._pick(whole=True))

    def __str__(self) -> str:
        return " ".join(value.node.op for value in self.values if value)

    def compute(self, x: Array, choices: Choices) -> Array:
        made: list[Array] = [x]
        for value in self.values[1:]:
            assert value
            arrays = [made[k] for k in value.operands]
            fixed = [v for v in value.node.constants if v is not None and v.dtype == self._dtype]
            if value.node.reads_constants:
                arrays = [*fixed, *arrays] if value.node.is_turned else [*arrays, *fixed]
            made.append(value.node.compute(choices, arrays))
        return made[-1]

    def emit(self, g: Graph, x: str) -> str:
        names = [x]
        for value in self.values[1:]:
            assert value
            node = value.node
            fixed = ["" if v is None else g.constant(v, v.dtype) for v in node.constants]
            read = [names[k] for k in value.operands]
            read = [*fixed, *read] if node.is_turned else [*read, *fixed]
            names.append(g.add(node.op, read, **node.attributes))
        return names[-1]

    # What is drawn

    def _single(self, at: int) -> frozenset[int]:
        value = self.values[at]
        return value.single if value else frozenset()

    def _pick(self, *, whole: bool = False, newest: bool = False) -> int:
        """A value, mostly one of the last."""
        fit = [
            k
            for k, v in enumerate(self.values)
            if v is None or (v.is_read and not (whole and v.single))
        ]
        if newest:
            return fit[-1]
        return self._dice.choice(fit[-3:] if self._dice.random() < 0.7 else fit)

    def _add(
        self, node: Node, *operands: int, is_read: bool = True, single: frozenset[int] | None = None
    ) -> int:
        if single is None:
            single = frozenset.intersection(*(self._single(k) for k in operands))
        self.values.append(Value(node, operands, single, is_read))
        return len(self.values) - 1

    def _unary(self) -> None:
        draw = self._dice.random()
        node = self._dice.choice(steps.UNARY)
        if draw < 0.12:
            node = steps.power(self._dice.choice(steps.EXPONENTS), self._dtype)
        elif draw < 0.24:
            node = steps.clip(self._dice.choice(steps.LIMITS), self._dtype)
        self._add(node, self._pick())

    def _binary(self) -> None:
        a = self._pick()
        b = a if self._dice.random() < 0.25 else self._pick()
        node = self._dice.choice(steps.BINARY)
        # A slope broadcasts to the operand alone.
        if node.op == "PRelu" and not self._single(a) <= self._single(b):
            node = steps.BINARY[0]
        self._add(node, a, b)

    def _constant(self) -> None:
        """A value and a constant, often one number."""
        base, a = self._dice.choice(steps.BINARY), self._pick()
        single = self._single(a)
        is_row = self._dice.random() < 0.4 and not (base.op == "PRelu" and single)
        shape = (self._size,) if is_row else ()
        value = numbers(self._dice, shape, self._dtype, 0.6)
        if self._dice.random() < 0.4:
            some = (0.0, -0.0, 1.0, -1.0, 2.0, math.inf, -math.inf, math.nan)
            value = np.full(shape, self._dice.choice(some), self._dtype)
        is_turned = self._dice.random() < 0.4 and base.op != "PRelu"
        node = dataclasses.replace(
            base, constants=(value,), is_turned=is_turned, reads_constants=True
        )
        self._add(node, a, single=single - {self._rank - 1} if is_row else single)

    def _choice(self) -> None:
        """One value or another, by a test."""
        op, count, function, attributes = self._dice.choice(steps.TESTS)
        compute: Any = lambda choices, xs: function(*xs)  # noqa: E731
        read = [self._pick() for _ in range(count)]
        flag = self._add(Node(op, compute, attributes), *read, is_read=False)
        if self._dice.random() < 0.2:
            flag = self._add(Node("Not", lambda choices, xs: ~xs[0]), flag, is_read=False)
        where: Any = lambda choices, xs: np.where(*xs)  # noqa: E731
        self._add(Node("Where", where), flag, self._pick(), self._pick())

    def _axis(self) -> int:
        last = self._rank - 1
        return self._dice.choice((last, last, self._dice.randrange(1, self._rank)))

    def _row(self) -> None:
        a = self._pick(whole=True)
        nodes = steps.rows(self._axis())
        if self._dice.random() < 0.25:
            nodes = (steps.normalization(self._size, self._dtype),)
        self._add(self._dice.choice(nodes), a)

    def _narrow(self) -> None:
        """A reduction, and mostly its operand beside it."""
        a, axis = self._pick(), self._axis()
        if axis in self._single(a):
            return
        small = self._add(
            self._dice.choice(steps.reductions(axis)), a, single=self._single(a) | {axis}
        )
        if self._dice.random() < 0.7:
            self._add(self._dice.choice(steps.BINARY[:8]), a, small)

    def _product(self) -> None:
        """Of rows and a constant matrix."""
        matrix = numbers(self._dice, (self._size, self._size), self._dtype, 0.15)
        node = Node("MatMul", steps.multiplied, {}, (matrix,), reads_constants=True)
        self._add(node, self._pick(whole=True))

    def _attention(self) -> None:
        """Products of rows with each other, and of these with rows."""
        last = self._rank - 1
        order = [*range(last - 1), last, last - 1]
        turn: Any = lambda choices, xs: np.swapaxes(xs[0], -1, -2)  # noqa: E731
        a, b, c = (self._pick(whole=True) for _ in range(3))
        turned = self._add(Node("Transpose", turn, {"perm": order}), b, is_read=False)
        scores = self._add(Node("MatMul", steps.multiplied), a, turned, is_read=False)
        if self._dice.random() < 0.7:
            scores = self._add(steps.softmax(last, is_weight=True), scores, is_read=False)
        self._add(Node("MatMul", steps.multiplied), scores, c)

    def _move(self) -> None:
        nodes = steps.movements(self._rank - 1, self._size)
        self._add(self._dice.choice(nodes), self._pick(whole=True))


class NumberModel(WindowModel):
    """A random expression somewhere, and sets of inputs for it."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._dice = dice = random.Random(seed)
        self._rank = dice.choice((2, 2, 3))
        self._size = dice.choice(SIZES)
        self._dtype = np.dtype(
            dice.choice((np.float32, np.float32, np.float32, np.float64, np.float16))
        )
        self._place = dice.choice(PLACES)
        rank = self._rank
        # A Scan goes along any axis but the last, whose extent is known.
        self._axes = (dice.randrange(rank), dice.randrange(rank + 1), dice.randrange(2))
        self._expressions = [Expression(dice, rank, self._size, self._dtype) for _ in range(2)]
        made = [self._step(expression) for expression in self._expressions]
        self._steps, self._other = made[:1], made[1]
        self._choices = Choices(0, self._dtype)
        self.sets = [self._draw_set(k) for k in range(6)]

    def _step(self, expression: Expression) -> Step:
        return Step(str(expression), expression.emit,
                    lambda x, feeds: expression.compute(x, self._choices))  # fmt: skip

    def computed(self, feeds: Feeds, *, is_check: bool = False) -> list[list[Array | None]]:
        """The outputs, by each of the ways in which they may be computed; by more as a check."""
        made = []
        for number in range(CHECKS if is_check else COMPUTATIONS):
            self._choices = Choices(number, self._dtype, MOST_ULP if is_check else 4)
            with np.errstate(all="ignore"):
                made.append(self.compute(feeds))
        return made

    def _draw_set(self, number: int) -> Feeds:
        dice = random.Random(f"{self._seed} {number}")
        shape = [dice.choice((0, 1, 2, 3)), dice.choice(ROWS), self._size][-self._rank :]
        if self._rank == 2 and dice.random() < 0.2:
            shape[0] = dice.choice((0, 40))
        if self._place == "scan":
            shape.insert(self._axes[0], dice.choice((1, 2, 3)))
        feeds: Feeds = {"x": numbers(dice, shape, self._dtype)}
        if self._place in ("loop", "carried"):
            feeds["n"] = np.array(dice.choice((0, 1, 2, 3)))
        if self._place == "branch":
            feeds["flag"] = np.array(dice.random() < 0.6)
        return feeds

    def model(self, shapes: dict[str, Sequence[Any] | None] | None = None) -> onnx.ModelProto:
        """With such shapes; the last axis is known in any case."""
        known: dict[str, Sequence[Any] | None] = {
            "x": [*(f"x_{k}" for k in range(self.sets[0]["x"].ndim - 1)), self._size]
        }
        for name, dims in (shapes or {}).items():
            known[name] = [*dims[:-1], self._size] if name == "x" and dims else dims
        return super().model(known)
