# ===- random_ir_steps.py - Layers of random programs of OpenVINO IR -------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Random layers over values of open extents, beside NumPy; see random_ir_programs.py.

An extent is a number, the name of an extent of inputs ("a", "2a"), "a|1", which is that of "a" or
1, or a name of its own ("?7"), which nothing else is known to be equal to. Numbers are small and
no fractions but halves, so that nothing is rounded. A new layer is a method and a row of `STEPS`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np
import openvino.opset16 as op
from openvino_models import const, i64, port_of
from random_corners import Draw
from random_errors import (
    ExpectedError,
    MissingElementsError,
    NoValueError,
    TooLongError,
    UnclearError,
)

Array = np.ndarray[Any, Any]
Extent = int | str
Shape = tuple[Extent, ...]

#: More elements than a value of a program has.
MOST_ELEMENTS = 4000
FLOATS = (np.float32, np.float64, np.float16)
INDICES = (np.int32, np.int64)
#: Types in which sums stay exact.
WIDE = (np.float32, np.float64, np.int32, np.int64)
TYPES = (
    *(np.float32, np.float32, np.float32, np.int32, np.int64, np.int64, np.bool_),
    *(np.float16, np.float64, np.int8, np.uint8, np.int16, np.uint16, np.uint32, np.uint64),
    np.str_,
)
TEXTS = ("", "a", "bc", "\u00fc", "a\u0301b")


#: What loopc says of a place that a Gather does not have.
OUT_OF_RANGE = r"index -?\d+ is out of range for an axis of extent \d+"


class Frame:
    """An iteration or a branch while it is computed: what its Parameters are, once one is read."""

    def __init__(
        self, given: Mapping[Value, Callable[[], Array]], empty: Collection[Extent] = (0,)
    ) -> None:
        self.given = dict(given)
        #: The extents that are 0.
        self.empty = empty
        self.memo: dict[Any, Any] = {}

    def once(self, key: Any, make: Callable[[], Any]) -> Any:
        """What `make` returns or raises, the first time that it is asked."""
        if key not in self.memo:
            try:
                self.memo[key] = make()
            except NoValueError as error:
                self.memo[key] = error
        found = self.memo[key]
        if isinstance(found, NoValueError):
            raise found
        return found


@dataclasses.dataclass(eq=False)
class Value:
    """A value of a graph: OpenVINO's, and what NumPy makes of it."""

    node: Any
    shape: Shape
    dtype: np.dtype[Any]
    work: Callable[[Frame], Array] | None = None

    def at(self, frame: Frame) -> Array:
        found: Array = frame.once(self, lambda: self._computed(frame))
        return found

    def _computed(self, frame: Frame) -> Array:
        try:
            return self._made(frame)
        except ExpectedError as error:
            if any(extent in frame.empty for extent in self.shape):
                # It has no elements, and so it reads none.
                raise MissingElementsError(error.reason) from error
            raise

    def extents_at(self, frame: Frame) -> tuple[int, ...]:
        """Of what is not computed for them alone, so that its error need not come."""
        try:
            return self.at(frame).shape
        except ExpectedError as error:
            raise MissingElementsError(error.reason) from error

    def _made(self, frame: Frame) -> Array:
        if self in frame.given:
            return frame.given[self]()
        assert self.work, "a Parameter that is given nothing"
        made = self.work(frame)
        if made.size > MOST_ELEMENTS:
            raise TooLongError
        known = [e if isinstance(e, int) else n for e, n in zip(self.shape, made.shape)]  # noqa: B905
        assert made.shape == tuple(known), f"{made.shape} of {self.shape}"
        return made

    @property
    def is_number(self) -> bool:
        return self.dtype.kind in "iuf"

    @property
    def rank(self) -> int:
        return len(self.shape)


def numbers(draw: Draw, shape: Sequence[int], dtype: Any, least: int = -4, most: int = 4) -> Array:
    """Small ones: halves where they are of floats."""
    kind = np.dtype(dtype).kind
    count = int(np.prod(shape))
    if kind == "U":
        return np.array([draw.choice(TEXTS) for _ in range(count)], object).reshape(tuple(shape))
    flat = np.array([draw.randint(least, most) for _ in range(count)], np.int64)
    made = flat > 0 if kind == "b" else np.abs(flat) if kind == "u" else flat
    return (made / 2 if kind == "f" else made).astype(dtype).reshape(tuple(shape))


UNARY = {
    "negative": (op.negative, np.negative, "if"), "abs": (op.abs, np.abs, "if"),
    "relu": (op.relu, lambda x: np.maximum(x, 0), "if"), "sign": (op.sign, np.sign, "if"),
    "floor": (op.floor, np.floor, "f"), "ceiling": (op.ceiling, np.ceil, "f"),
    "round": (lambda x: op.round(x, "half_to_even"), np.round, "f"),
    "logical_not": (op.logical_not, np.logical_not, "b"), "is_nan": (op.is_nan, np.isnan, "f"),
}  # fmt: skip
BINARY = {
    "add": (op.add, np.add, "if"), "subtract": (op.subtract, np.subtract, "if"),
    "maximum": (op.maximum, np.maximum, "iuf"), "minimum": (op.minimum, np.minimum, "iuf"),
    "equal": (op.equal, np.equal, "iufb"), "not_equal": (op.not_equal, np.not_equal, "iufb"),
    "less": (op.less, np.less, "iuf"), "less_equal": (op.less_equal, np.less_equal, "iuf"),
    "greater": (op.greater, np.greater, "iuf"),
    "greater_equal": (op.greater_equal, np.greater_equal, "iuf"),
    "logical_and": (op.logical_and, np.logical_and, "b"),
    "logical_or": (op.logical_or, np.logical_or, "b"),
    "logical_xor": (op.logical_xor, np.logical_xor, "b"),
}  # fmt: skip
REDUCE = {
    "sum": (op.reduce_sum, np.sum, WIDE), "max": (op.reduce_max, np.max, None),
    "min": (op.reduce_min, np.min, None), "l1": (op.reduce_l1, lambda x, **k: np.sum(np.abs(x), **k), WIDE),
    "and": (op.reduce_logical_and, np.all, (np.bool_,)),
    "or": (op.reduce_logical_or, np.any, (np.bool_,)),
}  # fmt: skip


class Steps:
    """Adds layers to the graphs of a program."""

    def __init__(self, seed: int) -> None:
        self.draw = Draw(seed)
        self.numbered = 0

    # ===- Values ---------------------------------------------------------------===#

    def fresh(self) -> str:
        self.numbered += 1
        return f"?{self.numbered}"

    def renamed(self, shape: Shape) -> Shape:
        """Outside of a body: an extent of its own was another in each iteration."""
        return tuple(self.fresh() if isinstance(e, str) and e[0] == "?" else e for e in shape)

    def value(self, node: Any, inputs: Sequence[Value], function: Callable[..., Any],
              shape: Sequence[Extent], dtype: Any) -> Value:  # fmt: skip
        """A layer's output that is this function of its inputs."""
        dtype = np.dtype(dtype)

        def work(frame: Frame) -> Array:
            made = np.asarray(function(*(one.at(frame) for one in inputs)))
            return made if dtype.kind == "U" else made.astype(dtype)

        return Value(port_of(node), tuple(shape), dtype, work)

    def constant(self, array: Any, dtype: Any = None) -> Value:
        data = np.asarray(array, dtype)
        return self.value(const(data), [], lambda: data, data.shape, data.dtype)

    def numbers(self, shape: Sequence[int], dtype: Any) -> Value:
        return self.constant(numbers(self.draw, shape, dtype))

    def pick(self, pool: Sequence[Value],
             test: Callable[[Value], object] = lambda value: True) -> Value | None:  # fmt: skip
        found = [value for value in pool if test(value)]
        if found and self.draw.random() < 0.5:
            found = found[-4:]
        return self.draw.choice(found) if found else None

    def extent_of(self, a: Value, axis: int) -> Value:
        """The extent as a 0-D i64."""
        node = op.gather(op.shape_of(a.node), const(i64(axis)), const(i64(0)))
        return Value(port_of(node), (), np.dtype(np.int64),
                     lambda frame: np.array(a.extents_at(frame)[axis], np.int64))  # fmt: skip

    def as_scalar(self, a: Value, shape: Sequence[int] = ()) -> Value:
        """A value of one element with another rank."""
        if a.shape == tuple(shape):
            return a
        node = op.reshape(a.node, const(i64(shape)), False)
        return self.value(node, [a], lambda x: x.reshape(tuple(shape)), tuple(shape), a.dtype)

    def clamp(self, a: Value, least: int = -8, most: int = 8) -> Value:
        """Keeps numbers small: sums stay exact, counts short, indices in range."""
        if not a.is_number:
            return a
        least = max(least, 0) if a.dtype.kind == "u" else least
        low, high = np.array(least, a.dtype), np.array(most, a.dtype)
        node = op.minimum(op.maximum(a.node, const(low)), const(high))
        return self.value(node, [a], lambda x: np.minimum(np.maximum(x, low), high), a.shape,
                          a.dtype)  # fmt: skip

    def joined(self, a: Extent, b: Extent) -> Extent | None:
        """The extent of two that are broadcast; None where they may not fit."""
        if a == 1 or b == 1:
            return b if a == 1 else a
        names = {str(a), str(b)}
        if isinstance(a, str) and a == b:
            return self.fresh() if "|" in a else a
        if a == b or names == {"a", "a|1"}:
            return a if a == b else "a"
        return None

    def broadcast(self, a: Shape, b: Shape) -> Shape | None:
        rank = max(len(a), len(b))
        pairs = zip((1,) * (rank - len(a)) + a, (1,) * (rank - len(b)) + b, strict=True)
        made = [self.joined(*pair) for pair in pairs]
        return None if None in made else tuple(made)  # type: ignore[arg-type]

    def like(self, pool: Sequence[Value], shape: Shape, dtype: Any) -> tuple[Value, Shape]:
        """A value that broadcasts with this shape, either way, and the shape of both."""
        for _ in range(6):
            found = self.pick(pool, lambda v: v.dtype == dtype)
            together = self.broadcast(shape, found.shape) if found else None
            if found and together is not None:
                return found, together
        known = [
            e if isinstance(e, int) and self.draw.random() < 0.8 else 1
            for e in shape[self.draw.randint(0, len(shape)) :]
        ]
        made = self.numbers(known, dtype)
        return made, self.broadcast(shape, made.shape) or shape

    # ===- Layers ---------------------------------------------------------------===#

    def step(self, pool: Sequence[Value]) -> Value | None:
        """A random layer; None where the pool has nothing for it."""
        made: Value | None = self.draw.choice(STEPS)(self, pool)
        return made if made and made.rank <= 5 else None

    def unary(self, pool: Sequence[Value]) -> Value | None:
        node, function, kinds = self.draw.choice(sorted(UNARY.items()))[1]
        a = self.pick(pool, lambda v: v.dtype.kind in kinds)
        dtype = np.dtype(bool) if node is op.is_nan else a and a.dtype
        return a and self.value(node(a.node), [a], function, a.shape, dtype)

    def binary(self, pool: Sequence[Value]) -> Value | None:
        name, (node, function, kinds) = self.draw.choice(sorted(BINARY.items()))
        a = self.pick(pool, lambda v: v.dtype.kind in kinds)
        if not a:
            return None
        b, shape = self.like(pool, a.shape, a.dtype)
        a, b = (a, b) if self.draw.random() < 0.5 else (b, a)
        dtype = a.dtype if function(*np.ones((2, 1), a.dtype)).dtype == a.dtype else np.dtype(bool)
        made = self.value(node(a.node, b.node), [a, b], function, shape, dtype)
        return self.clamp(made) if name in ("add", "subtract") else made

    def multiply(self, pool: Sequence[Value]) -> Value | None:
        """Quarters become whole numbers again."""
        a = self.pick(pool, lambda v: v.dtype in WIDE)
        if not a:
            return None
        b, shape = self.like(pool, a.shape, a.dtype)
        node = op.multiply(a.node, b.node)
        if a.dtype.kind == "f":
            made = self.value(op.floor(node), [a, b], lambda x, y: np.floor(x * y), shape, a.dtype)
        else:
            made = self.value(node, [a, b], np.multiply, shape, a.dtype)
        return self.clamp(made)

    def divide(self, pool: Sequence[Value]) -> Value | None:
        """By numbers that are not zero."""
        a = self.pick(pool, lambda v: v.dtype in INDICES)
        if not a:
            return None
        by = np.array(self.draw.choice((2, 3, -2)), a.dtype)
        node, function = self.draw.choice(
            ((op.floor_mod, np.mod), (op.mod, np.fmod), (op.divide, np.floor_divide))
        )
        return self.value(node(a.node, const(by)), [a], lambda x: function(x, by), a.shape, a.dtype)

    def select(self, pool: Sequence[Value]) -> Value | None:
        a = self.pick(pool, lambda v: v.dtype.kind != "U")
        if not a:
            return None
        b, shape = self.like(pool, a.shape, a.dtype)
        c, shape = self.like(pool, shape, np.dtype(bool))
        return self.value(op.select(c.node, a.node, b.node), [c, a, b], np.where, shape, a.dtype)

    def convert(self, pool: Sequence[Value]) -> Value | None:
        a = self.pick(pool, lambda v: v.dtype.kind != "U")
        if not a:
            return None
        dtype = np.dtype(self.draw.choice([t for t in TYPES if t is not np.str_]))
        if dtype.kind == "u":
            a = self.clamp(a, 0)
        name = {"bool": "boolean"}.get(dtype.name, dtype.name)
        name = name.replace("float", "f").replace("uint", "u").replace("int", "i")
        if dtype.kind in "iu" and a.dtype.kind == "f":
            return self.value(op.convert(a.node, name), [a], np.trunc, a.shape, dtype)
        return self.value(op.convert(a.node, name), [a], lambda x: x, a.shape, dtype)

    def reduction(self, pool: Sequence[Value]) -> Value | None:
        name, (node, function, kinds) = self.draw.choice(sorted(REDUCE.items()))
        a = self.pick(pool, lambda v: v.dtype in kinds if kinds else v.is_number)
        if not a:
            return None
        count = self.draw.randint(0, a.rank)
        axes = tuple(sorted(self.draw.sample(range(a.rank), count)))
        keep = self.draw.random() < 0.4

        def work(x: Array) -> Any:
            if name in ("max", "min") and 0 in [x.shape[k] for k in axes]:
                raise UnclearError
            return function(x, axis=axes, keepdims=keep)

        shape = [1 if k in axes else e for k, e in enumerate(a.shape) if keep or k not in axes]
        given = [k - a.rank if self.draw.random() < 0.3 else k for k in axes]
        made = self.value(node(a.node, const(i64(given)), keep), [a], work, shape, a.dtype)
        return self.clamp(made)

    def cumulative(self, pool: Sequence[Value]) -> Value | None:
        a = self.pick(pool, lambda v: v.dtype in WIDE and v.rank)
        if not a:
            return None
        axis, is_exclusive = self.draw.randrange(a.rank), self.draw.random() < 0.5
        reverse = self.draw.random() < 0.5

        def work(x: Array) -> Array:
            x = np.flip(x, axis) if reverse else x
            sums = np.cumsum(x, axis, dtype=x.dtype)
            sums = sums - x if is_exclusive else sums
            return np.flip(sums, axis) if reverse else sums

        node = op.cum_sum(a.node, const(i64(axis - a.rank)), is_exclusive, reverse)
        return self.clamp(self.value(node, [a], work, a.shape, a.dtype))

    def matmul(self, pool: Sequence[Value]) -> Value | None:
        a = self.pick(pool, lambda v: v.dtype in (np.float32, np.int32) and v.rank in (1, 2, 3))
        if not a:
            return None
        turned = self.draw.random() < 0.4 and a.rank > 1
        inner = a.shape[-2] if turned else a.shape[-1]
        fits = self.pick(pool, lambda v: v.dtype == a.dtype and v.rank in (1, 2) and inner in
                         (v.shape[0], v.shape[-1]) and not str(inner).endswith("|1"))  # fmt: skip
        if not fits and not isinstance(inner, int):
            return None
        b = fits or self.numbers([int(inner), self.draw.randint(1, 3)], a.dtype)
        other = b.rank == 2 and b.shape[0] != inner

        def work(x: Array, y: Array) -> Any:
            return np.matmul(np.swapaxes(x, -1, -2) if turned else x, y.T if other else y)

        rows = () if a.rank == 1 else (*a.shape[:-2], a.shape[-1] if turned else a.shape[-2])
        columns = () if b.rank == 1 else (b.shape[0] if other else b.shape[1],)
        node = op.matmul(a.node, b.node, turned, other)
        made = self.value(node, [a, b], work, (*rows, *columns), a.dtype)
        if made.dtype.kind == "f":
            made = self.value(op.floor(made.node), [made], np.floor, made.shape, made.dtype)
        return self.clamp(made)

    def shuffle(self, pool: Sequence[Value]) -> Value | None:
        """Another shape with the same elements."""
        a = self.pick(pool)
        if not a:
            return None
        kind = self.draw.choice(("flat", "transpose", "unsqueeze", "squeeze", "join"))
        if kind == "transpose" and a.rank:
            order = self.draw.sample(range(a.rank), a.rank)
            return self.value(op.transpose(a.node, const(i64(order))), [a],
                              lambda x: np.transpose(x, order), [a.shape[k] for k in order],
                              a.dtype)  # fmt: skip
        if kind == "unsqueeze" and a.rank < 4:
            at = self.draw.randint(0, a.rank)
            given = at if self.draw.random() < 0.5 else at - a.rank - 1
            return self.value(op.unsqueeze(a.node, const(i64([given]))), [a],
                              lambda x: np.expand_dims(x, at),
                              (*a.shape[:at], 1, *a.shape[at:]), a.dtype)  # fmt: skip
        ones = [k for k, e in enumerate(a.shape) if e == 1]
        if kind == "squeeze" and ones:
            at = self.draw.choice(ones)
            return self.value(op.squeeze(a.node, const(i64([at - a.rank]))), [a],
                              lambda x: np.squeeze(x, at), (*a.shape[:at], *a.shape[at + 1 :]),
                              a.dtype)  # fmt: skip
        if kind == "join" and a.rank > 1:
            node = op.reshape(a.node, const(i64([0, -1])), True)
            sizes = [e for e in a.shape[1:] if isinstance(e, int)]
            whole = int(np.prod(sizes)) if len(sizes) == a.rank - 1 else self.fresh()

            def work(x: Array) -> Array:
                if not x.shape[0]:
                    raise UnclearError
                return x.reshape(x.shape[0], -1)

            return self.value(node, [a], work, (a.shape[0], whole), a.dtype)
        sizes = [e for e in a.shape if isinstance(e, int)]
        whole = int(np.prod(sizes)) if len(sizes) == a.rank else self.fresh()
        return self.value(op.reshape(a.node, const(i64([-1])), False), [a], np.ravel, (whole,),
                          a.dtype)  # fmt: skip

    def concat(self, pool: Sequence[Value]) -> Value | None:
        a = self.pick(pool, lambda v: v.rank)
        if not a:
            return None
        axis = self.draw.randrange(a.rank)

        def fits(v: Value) -> bool:
            pairs = zip(v.shape, a.shape, strict=True)
            return v.rank == a.rank and v.dtype == a.dtype and all(
                k == axis or (x == y and "|" not in str(x)) for k, (x, y) in enumerate(pairs))  # fmt: skip

        others = [v for v in pool if v.rank == a.rank and fits(v)]
        parts = [a, *(self.draw.choice(others) for _ in range(self.draw.randint(1, 2)) if others)]
        if any("|" in str(e) for k, e in enumerate(a.shape) if k != axis):
            parts = [a]
        extents = [p.shape[axis] for p in parts]
        total = sum(e for e in extents if isinstance(e, int))
        whole = total if all(isinstance(e, int) for e in extents) else self.fresh()
        node = op.concat(
            [p.node for p in parts], axis - (a.rank if self.draw.random() < 0.5 else 0)
        )
        return self.value(node, parts, lambda *v: np.concatenate(v, axis),
                          (*a.shape[:axis], whole, *a.shape[axis + 1 :]), a.dtype)  # fmt: skip

    def slice(self, pool: Sequence[Value]) -> Value | None:
        """Beyond the extent there is nothing; backwards, too."""
        a = self.pick(pool, lambda v: v.rank)
        if not a:
            return None
        axis, step = self.draw.randrange(a.rank), self.draw.choice((1, 1, 2, -1, -2))
        begin, end = (self.draw.choice((0, 1, 2, -1, -2, -3, 99, -99)) for _ in range(2))

        def places(extent: int) -> range:
            # Backwards from in front of the first element is from the first one.
            first, last = (k + extent if k < 0 else k for k in (begin, end))
            if not extent:
                return range(0)
            if step < 0:
                return range(min(max(first, 0), extent - 1), min(max(last, -1), extent - 1), step)
            return range(min(max(first, 0), extent), min(max(last, 0), extent), step)

        def work(x: Array) -> Array:
            return np.take(x, places(x.shape[axis]), axis)

        extent = a.shape[axis]
        known = len(places(extent)) if isinstance(extent, int) else self.fresh()
        if self.draw.random() < 0.5:
            vectors = [const(i64([v])) for v in (begin, end, step, axis - a.rank)]
            node = op.slice(a.node, *vectors[:3], vectors[3])
        else:
            mask = [1] * axis + [0]
            fill = [0] * axis
            node = op.strided_slice(a.node, const(i64([*fill, begin])), const(i64([*fill, end])),
                                    const(i64([1] * axis + [step])), mask, mask)  # fmt: skip
        shape = (*a.shape[:axis], known, *a.shape[axis + 1 :])
        return self.value(node, [a], work, shape, a.dtype)

    def gather(self, pool: Sequence[Value]) -> Value | None:
        """At constant places, or at ones that are brought into the extent."""
        a = self.pick(pool, lambda v: v.rank)
        if not a:
            return None
        axis = self.draw.randrange(a.rank)
        extent = a.shape[axis]
        at = self.pick(pool, lambda v: v.dtype in INDICES and v.rank < 3)
        if isinstance(extent, int) and (not at or self.draw.random() < 0.5):
            if not extent:
                return None
            shape = self.draw.choice(((), (1,), (2,), (2, 1)))
            at = self.constant(np.array([self.draw.randrange(-extent, extent)
                                         for _ in range(int(np.prod(shape)))]).reshape(shape), np.int64)  # fmt: skip
        elif not at:
            return None
        else:
            last = self.extent_of(a, axis)
            name = "i64" if at.dtype == np.int64 else "i32"
            wrapped = op.floor_mod(
                at.node, op.maximum(op.convert(last.node, name), const(np.array(1, at.dtype)))
            )

            def modulo(k: Array, n: Array) -> Array:
                return np.mod(k, np.maximum(n, 1).astype(k.dtype))

            at = self.value(wrapped, [at, last], modulo, at.shape, at.dtype)

        def work(x: Array, k: Array) -> Array:
            if k.size and not x.shape[axis]:
                raise ExpectedError(OUT_OF_RANGE)
            return np.take(x, k, axis)

        node = op.gather(a.node, at.node, const(i64(axis)))
        shape_of = (*a.shape[:axis], *at.shape, *a.shape[axis + 1 :])
        return self.value(node, [a, at], work, shape_of, a.dtype)

    def repeat(self, pool: Sequence[Value]) -> Value | None:
        """Tile, or Broadcast to the shape of another value."""
        a = self.pick(pool)
        if not a:
            return None
        other = self.pick(pool, lambda v: v.rank >= a.rank)
        together = self.broadcast(a.shape, other.shape) if other else None
        if other and together == other.shape and a.dtype.kind != "U":
            node = op.broadcast(a.node, op.shape_of(other.node))
            extents, dtype = other, a.dtype
            return Value(
                port_of(node), other.shape, dtype,
                lambda frame: np.broadcast_to(a.at(frame), extents.extents_at(frame)),
            )  # fmt: skip
        counts = [self.draw.choice((1, 1, 2, 0)) for _ in range(a.rank + self.draw.randrange(2))]
        long = (1,) * (len(counts) - a.rank) + a.shape
        shape = [c * e if isinstance(e, int) else e if c == 1 else 0 if c == 0 else self.fresh()
                 for c, e in zip(counts, long, strict=True)]  # fmt: skip
        return self.value(op.tile(a.node, const(i64(counts))), [a], lambda x: np.tile(x, counts),
                          shape, a.dtype)  # fmt: skip

    def pad(self, pool: Sequence[Value]) -> Value | None:
        a = self.pick(pool, lambda v: v.rank and v.is_number)
        if not a:
            return None
        begin = [self.draw.choice((0, 0, 1, 2)) for _ in a.shape]
        end = [self.draw.choice((0, 1)) for _ in a.shape]
        fill = np.array(self.draw.randint(0, 3), a.dtype)
        node = op.pad(a.node, const(i64(begin)), const(i64(end)), "constant", const(fill))
        pads = list(zip(begin, end, strict=True))
        shape = [e + b + n if isinstance(e, int) else e if b + n == 0 else self.fresh()
                 for e, b, n in zip(a.shape, begin, end, strict=True)]  # fmt: skip
        return self.value(
            node, [a], lambda x: np.pad(x, pads, constant_values=fill), shape, a.dtype
        )

    def extent(self, pool: Sequence[Value]) -> Value | None:
        """A number of elements, or a range of them."""
        a = self.pick(pool, lambda v: v.rank)
        if not a:
            return None
        axis = self.draw.randrange(a.rank)
        found = self.extent_of(a, axis)
        if self.draw.random() < 0.5:
            return self.clamp(found, 0)
        node = op.range(const(i64(0)), found.node, const(i64(1)), "i64")
        return self.value(node, [found], lambda n: np.arange(int(n)), (a.shape[axis],), np.int64)

    def non_zero(self, pool: Sequence[Value]) -> Value | None:
        a = self.pick(pool, lambda v: v.rank and v.dtype.kind != "U")
        return a and self.value(op.non_zero(a.node, "i64"), [a], lambda x: np.array(np.nonzero(x)),
                                (a.rank, self.fresh()), np.int64)  # fmt: skip

    def topk(self, pool: Sequence[Value]) -> Value | None:
        """The values alone: which of equal ones are taken is nobody's business."""
        a = self.pick(pool, lambda v: v.dtype in WIDE and v.rank and any(
            isinstance(e, int) and e for e in v.shape))  # fmt: skip
        if not a:
            return None
        axis = self.draw.choice([k for k, e in enumerate(a.shape) if isinstance(e, int) and e])
        count, is_max = self.draw.randint(1, int(a.shape[axis])), self.draw.random() < 0.5

        def work(x: Array) -> Array:
            x = np.sort(x, axis)
            return np.take(np.flip(x, axis) if is_max else x, range(count), axis)

        node = op.topk(
            a.node, const(i64(count)), axis - a.rank, "max" if is_max else "min", "value"
        )
        shape = (*a.shape[:axis], count, *a.shape[axis + 1 :])
        return self.value(node.output(0), [a], work, shape, a.dtype)

    def scatter(self, pool: Sequence[Value]) -> Value | None:
        """A row of an axis becomes another."""
        a = self.pick(pool, lambda v: v.rank and v.is_number and any(
            isinstance(e, int) and e for e in v.shape))  # fmt: skip
        if not a:
            return None
        axis = self.draw.choice([k for k, e in enumerate(a.shape) if isinstance(e, int) and e])
        at = self.draw.randrange(int(a.shape[axis]))
        row = op.gather(a.node, const(i64([int(a.shape[axis]) - 1 - at])), const(i64(axis)))
        node = op.scatter_update(a.node, const(i64([at])), row, const(i64(axis)))

        def work(x: Array) -> Array:
            made = np.moveaxis(x.copy(), axis, 0)
            made[at] = np.moveaxis(x, axis, 0)[x.shape[axis] - 1 - at]
            return np.moveaxis(made, 0, axis)

        return self.value(node, [a], work, a.shape, a.dtype)

    def split(self, pool: Sequence[Value]) -> Value | None:
        a = self.pick(pool, lambda v: any(e in (2, 3, 4, "2a") for e in v.shape))
        if not a:
            return None
        axis = self.draw.choice([k for k, e in enumerate(a.shape) if e in (2, 3, 4, "2a")])
        whole = a.shape[axis]
        if self.draw.random() < 0.5 or whole == "2a":
            count = 2 if whole in ("2a", 4) else int(whole)
            part: Extent = "a" if whole == "2a" else int(whole) // count
            which = self.draw.randrange(count)
            node = op.split(a.node, const(i64(axis)), count)
            return self.value(node.output(which), [a], lambda x: np.split(x, count, axis)[which],
                              (*a.shape[:axis], part, *a.shape[axis + 1 :]), a.dtype)  # fmt: skip
        lengths = [self.draw.choice((0, 1)), -1]
        node = op.variadic_split(a.node, const(i64(axis - a.rank)), const(i64(lengths)))
        return self.value(node.output(1), [a], lambda x: np.split(x, lengths[:1], axis)[1],
                          (*a.shape[:axis], int(whole) - lengths[0], *a.shape[axis + 1 :]), a.dtype)  # fmt: skip

    def turn(self, pool: Sequence[Value]) -> Value | None:
        """Roll."""
        a = self.pick(pool, lambda v: v.rank and v.dtype in WIDE)
        if not a:
            return None
        axis, by = self.draw.randrange(a.rank), self.draw.randint(-3, 3)
        node = op.roll(a.node, const(i64([by])), const(i64([axis - a.rank])))
        return self.value(node, [a], lambda x: np.roll(x, by, axis), a.shape, a.dtype)

    def one_hot(self, pool: Sequence[Value]) -> Value | None:
        a = self.pick(pool, lambda v: v.dtype in INDICES and v.rank < 3)
        if not a:
            return None
        depth, axis = self.draw.randint(1, 4), self.draw.randint(0, a.rank)
        a = self.clamp(a, 0, depth)
        node = op.one_hot(
            a.node, const(i64(depth)), const(np.float32(2)), const(np.float32(-1)), axis
        )

        def work(x: Array) -> Array:
            hot = np.expand_dims(x, axis) == np.arange(depth).reshape(
                [-1 if k == axis else 1 for k in range(x.ndim + 1)])  # fmt: skip
            return np.where(hot, 2, -1)

        shape = (*a.shape[:axis], depth, *a.shape[axis:])
        return self.value(node, [a], work, shape, np.float32)


STEPS: tuple[Callable[[Steps, Sequence[Value]], Value | None], ...] = (
    *(Steps.unary, Steps.unary, Steps.binary, Steps.binary, Steps.binary, Steps.multiply),
    *(Steps.divide, Steps.select, Steps.convert, Steps.convert, Steps.reduction, Steps.reduction),
    *(Steps.cumulative, Steps.matmul, Steps.shuffle, Steps.shuffle, Steps.concat, Steps.concat),
    *(Steps.slice, Steps.slice, Steps.gather, Steps.gather, Steps.repeat, Steps.pad),
    *(Steps.extent, Steps.non_zero, Steps.topk, Steps.scatter, Steps.split, Steps.turn),
    Steps.one_hot,
)
