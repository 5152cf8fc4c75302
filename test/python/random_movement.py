# ===- random_movement.py - Nodes of random models that move elements ---------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""More of what random_models.py makes loop bodies of.

What goes elsewhere and comes from elsewhere, by numbers that are constants or
data; results whose extents data tells; windows, products of any equation, and
small integers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from onnx import TensorProto
from random_operators import (
    BOOL,
    F32,
    F64,
    FLOATS,
    I64,
    INTEGERS,
    Block,
    Dim,
    Operators,
    Step,
    Value,
    put,
    without,
)

#: Types that values are taken through.
SMALL = (TensorProto.INT8, TensorProto.UINT8, TensorProto.INT16, TensorProto.UINT32)


class Movement(Operators):
    """Makes one node, or a few, of kinds that Operators does not."""

    #: Extents that this model's values have more often than others.
    extents: list[int]

    def _full(self, block: Block, *elems: int, least: int = 1, most: int = 4) -> Value | None:
        """A value of one of some types that certainly has elements."""
        return self.pick(
            block,
            lambda v: v.full and least <= v.rank <= most and (not elems or v.elem in elems),
        )

    def _filled(self, block: Block, *elems: int, least: int = 1, most: int = 4) -> Value | None:
        """The same for nodes that extents may be open of."""
        return self.pick(
            block,
            lambda v: self.filled(v) and least <= v.rank <= most and (not elems or v.elem in elems),
        )

    def _indices(self, block: Block, shape: tuple[int, ...], extent: int) -> Value:
        """Numbers of rows: constants, some of them negative, or what data makes of them."""
        least = -extent if self.has(11) else 0
        count = math.prod(shape)
        numbers = [self.random.randrange(least, extent) for _ in range(count)]
        made = self.const(block, np.reshape(np.array(numbers, np.int64), shape))
        if not self.has(10) or self.chance(0.5):
            return made
        moved = self.op(block, "Add", [made, self.index(block, extent)], I64, shape)
        return self.op(block, "Mod", [moved, self.const(block, extent)], I64, shape)

    def certain(self, dim: Dim) -> bool:
        """Whether an index that `index` gives is within such an extent."""
        return isinstance(dim, int)

    def product_of(self, dims: Sequence[Dim]) -> Dim:
        """An extent that several become together."""
        known = [dim for dim in dims if isinstance(dim, int)]
        return math.prod(known) if len(known) == len(dims) else self.fresh("d")

    # -- There and back ------------------------------------------------------------

    def scatter(self, block: Block) -> Value | None:
        """Elements or rows written at places, or added there."""
        value = self._full(block, *FLOATS, *INTEGERS)
        if value is None or not self.has(11):
            return None
        reductions = ["none", "none"] + (["add"] if self.has(16) else [])
        if value.elem == F32 and self.has(18):
            reductions += ["max", "min"]
        reduction = self.random.choice(reductions)
        more = {"reduction": reduction} if self.has(16) else {}
        if self.chance(0.5):
            axis = self.random.randrange(value.rank)
            # One place is written once only, unless the order says nothing.
            extent = value.extents[axis]
            count = 1 if reduction == "none" else self.random.randrange(1, 3)
            shape = put(value.extents, axis, count)
            at = self._indices(block, tuple(int(dim) for dim in shape), extent)
            source = self.slice_to(block, value, axis, count)
            return self.op(
                block, "ScatterElements", [value, at, source], value.elem, value.shape,
                axis=axis, **more,
            )  # fmt: skip
        at = self._indices(block, (1, 1), value.extents[0])
        source = self.slice_to(block, value, 0, 1)
        return self.op(block, "ScatterND", [value, at, source], value.elem, value.shape, **more)

    def slice_to(self, block: Block, value: Value, axis: int, count: int) -> Value:
        """So many rows of a value, the first again and again where there are fewer."""
        rows = [self.random.randrange(value.extents[axis]) for _ in range(count)]
        shape = put(value.shape, axis, count)
        return self.op(
            block, "Gather", [value, self.const(block, rows)], value.elem, shape, axis=axis
        )

    def take(self, block: Block) -> Value | None:
        """GatherElements or GatherND."""
        value = self._full(block)
        if value is None or not self.has(11):
            return None
        if self.chance(0.5):
            axis = self.random.randrange(value.rank)
            shape = put(value.extents, axis, self.random.randrange(1, 4))
            at = self._indices(block, tuple(int(dim) for dim in shape), value.extents[axis])
            return self.op(block, "GatherElements", [value, at], value.elem, shape, axis=axis)
        depth = self.random.randrange(1, value.rank + 1)
        count = self.random.randrange(1, 4)
        least = min(value.extents[:depth])
        at = self._indices(block, (count, depth), least)
        shape = (count, *value.extents[depth:])
        return self.op(block, "GatherND", [value, at], value.elem, shape)

    def slice_by_data(self, block: Block) -> Value | None:
        """A part whose bounds are data: of known extent, or not."""
        value = self._filled(block)
        if value is None or not self.has(10):
            return None
        axis = self.random.randrange(value.rank)
        extent = value.shape[axis]
        begin = self.unsqueeze(
            block, self.index(block, extent if isinstance(extent, int) else 3), 0
        )
        axes = self.const(block, [axis])
        if self.chance(0.5):
            end = self.op(block, "Add", [begin, self.const(block, [1])], I64, (1,))
            shape = put(value.shape, axis, 1 if self.certain(extent) else self.fresh("d"))
            return self.op(block, "Slice", [value, begin, end, axes], value.elem, shape)
        bounds = [begin, self.const(block, [1 << 40])]
        if self.chance(0.3):
            bounds = [self.const(block, [0]), begin]
        steps = self.const(block, [self.random.choice((1, 1, 2))])
        shape = put(value.shape, axis, self.fresh("d"))
        return self.op(block, "Slice", [value, *bounds, axes, steps], value.elem, shape)

    def split(self, block: Block) -> list[Value] | None:
        """Two parts of a value."""
        value = self.pick(block, lambda v: v.full and v.rank > 0 and max(v.extents) > 1)
        if value is None:
            return None
        axis = self.random.choice([k for k, dim in enumerate(value.extents) if dim > 1])
        first = self.random.randrange(1, value.extents[axis])
        sizes = [first, value.extents[axis] - first]
        made = [self.value("v", value.elem, put(value.shape, axis, size)) for size in sizes]
        if self.has(13):
            inputs, more = [value, self.const(block, sizes)], {}
        else:
            inputs, more = [value], {"split": sizes}
        self.append(block, "Split", inputs, made, axis=axis, **more)
        return made

    def tile(self, block: Block) -> Value | None:
        """Copies side by side."""
        value = self._filled(block)
        if value is None:
            return None
        repeats = [self.random.choice((1, 1, 2)) for _ in range(value.rank)]
        shape = [
            dim if times == 1 else self.changed(dim, lambda n: 2 * n)
            for dim, times in zip(value.shape, repeats, strict=True)
        ]
        return self.op(block, "Tile", [value, self.const(block, repeats)], value.elem, shape)

    def stretch(self, block: Block) -> Value | None:
        """Copies along axes of extent 1, which the model may not know to be that."""
        value = self.pick(block, lambda v: v.full and 1 in v.extents)
        if value is None:
            return None
        shape = [self.random.choice((1, *self.extents)) if d == 1 else d for d in value.extents]
        if 0 in shape:
            return None
        if self.chance(0.3):
            shape.insert(0, self.random.randrange(1, 4))
        return self.op(block, "Expand", [value, self.const(block, shape)], value.elem, shape)

    def triangle(self, block: Block) -> Value | None:
        """One side of the diagonal."""
        value = self.pick(block, lambda v: v.elem in (*FLOATS, *INTEGERS) and v.rank > 1)
        if value is None or not self.has(14):
            return None
        shift = self.const(block, self.random.randrange(-2, 3))
        return self.op(
            block, "Trilu", [value, shift], value.elem, value.shape,
            upper=self.random.randrange(2),
        )  # fmt: skip

    def ravel(self, block: Block) -> Value | None:
        """Squeezed, flattened, or dealt out over two other axes."""
        value = self._filled(block)
        if value is None:
            return None
        if 1 in value.shape and self.chance(0.6):
            axis = value.shape.index(1)
            return self.with_axes(block, "Squeeze", 13, value, [axis], without(value.shape, axis))
        if self.chance(0.4):
            axis = self.random.randrange(value.rank + 1)
            shape = [self.product_of(value.shape[:axis]), self.product_of(value.shape[axis:])]
            if not self.has(9) and value.elem not in FLOATS:
                return None
            return self.op(block, "Flatten", [value], value.elem, shape, axis=axis)
        if not value.fixed and self.chance(0.4):
            # What is left of the other axes, also where the first is empty.
            shape = [value.shape[0], self.fresh("d")]
            return self.op(block, "Reshape", [value, self.const(block, [0, -1])], value.elem, shape)
        if not value.fixed:
            # Fails where the number of elements is odd.
            rows = self.random.choice((1, 1, 2))
            shape = [rows, self.fresh("d")]
            at = self.const(block, [rows, -1])
            return self.op(block, "Reshape", [value, at], value.elem, shape)
        size = math.prod(value.extents)
        rows = self.random.choice([k for k in range(1, size + 1) if size % k == 0])
        shape = [rows, size // rows]
        asked = [rows, -1] if self.chance(0.5) else shape
        return self.op(block, "Reshape", [value, self.const(block, asked)], value.elem, shape)

    # -- Extents of data ------------------------------------------------------------

    def chosen(self, block: Block) -> Value | None:
        """Rows that a mask keeps, places that are not zero, or values that differ."""
        value = self._filled(block, F32, I64)
        if value is None or not self.has(9):
            return None
        how, dim = self.random.randrange(3), self.fresh("d")
        if how == 0:
            axis = self.random.randrange(value.rank)
            count = value.shape[axis]
            if not isinstance(count, int):
                return None
            flags = [self.chance(0.6) for _ in range(count)]
            mask = self.const(block, flags, BOOL)
            if self.chance(0.5) and self.has(11):
                limit = self.const(block, 0.1, value.elem)
                rest = [k for k in range(value.rank) if k != axis]
                most = value
                if rest:
                    since = 18
                    most = self.with_axes(
                        block, "ReduceMax", since, value, rest, (count,), keepdims=0
                    )
                mask = self.op(block, "Greater", [most, limit], BOOL, (count,))
            shape = put(value.shape, axis, dim)
            return self.op(block, "Compress", [value, mask], value.elem, shape, axis=axis)
        if how == 1:
            made = self.op(block, "NonZero", [value], I64, (value.rank, dim))
            return (
                made
                if self.chance(0.5)
                else self.op(block, "Transpose", [made], I64, (dim, value.rank))
            )
        if not self.has(11) or value.rank != 1:
            return None
        made = self.value("v", value.elem, (dim,))
        self.append(block, "Unique", [value], [made])
        return made

    # -- Order -----------------------------------------------------------------------

    def top(self, block: Block) -> list[Value] | None:
        """The greatest or least along an axis, and where they are."""
        value = self._filled(block, F32, F64, I64)
        if value is None or not self.has(11):
            return None
        axis = self.random.randrange(value.rank)
        extent = value.shape[axis]
        # Of an open extent that many may be too many.
        count = self.random.randrange(1, extent + 1 if isinstance(extent, int) else 3)
        shape = put(value.shape, axis, count)
        made = [self.value("v", value.elem, shape), self.value("v", I64, shape)]
        inputs = [value, self.const(block, [count])]
        flags = {"largest": self.random.randrange(2), "axis": axis}
        self.append(block, "TopK", inputs, made, **flags)
        return made

    # -- Arithmetic --------------------------------------------------------------------

    def einsum(self, block: Block) -> Value | None:
        """A product of two values over whichever axes have the same extent."""
        one = self._filled(block, F32, F64, most=3)
        if one is None or not self.has(12):
            return None
        other = self.pick(block, lambda v: v.elem == one.elem and self.filled(v) and 0 < v.rank < 4)
        assert other is not None
        letters = "abc"[: one.rank]
        extents: dict[str, Dim] = dict(zip(letters, one.shape, strict=True))
        second = ""
        for letter, dim in zip("xyz", other.shape, strict=False):
            same = [k for k in letters if extents[k] == dim and k not in second]
            second += self.random.choice(same) if same and self.chance(0.7) else letter
            extents[second[-1]] = dim
        both = sorted(set(letters + second))
        kept = [k for k in both if self.chance(0.6)]
        self.random.shuffle(kept)
        if math.prod(n if isinstance(n, int) else 12 for n in extents.values()) > 20000:
            return None
        equation = f"{letters},{second}->{''.join(kept)}"
        made = self.op(
            block, "Einsum", [one, other], one.elem, [extents[k] for k in kept], equation=equation
        )
        return self.damped(block, made)

    def window(self, block: Block) -> Value | None:
        """A convolution or a pool over the last axes."""
        # The reference's pools want windows that fit into what there is.
        value = self.pick(
            block,
            lambda v: v.elem == F32 and self.filled(v) and v.rank in (2, 3)
            and isinstance(v.shape[0], int)
            and (not isinstance(v.shape[1], int) or v.shape[1] > 2),
        )  # fmt: skip
        if value is None:
            return None
        image = self.unsqueeze(block, value, 0)
        if value.rank == 2:
            kernel, pads = [3], [1, 1]
        else:
            kernel, pads = [3, 1], [1, 0, 1, 0]
        if self.chance(0.4):
            # The reference's MaxPool does not take borders.
            if self.chance(0.5):
                shape = put(image.shape, 2, self.changed(value.shape[1], lambda n: n - 2))
                made = self.op(block, "MaxPool", [image], F32, shape, kernel_shape=kernel)
            else:
                made = self.op(
                    block, "AveragePool", [image], F32, image.shape,
                    kernel_shape=kernel, pads=pads,
                )  # fmt: skip
        else:
            channels = image.shape[1]
            assert isinstance(channels, int)
            count = self.random.randrange(1, 4)
            extents = [count, channels, *kernel]
            weights = [self.random.uniform(-1, 1) for _ in range(math.prod(extents))]
            weight = self.const(block, np.reshape(weights, extents), F32)
            made = self.op(
                block, "Conv", [image, weight], F32, put(image.shape, 1, count), pads=pads
            )
        return self.damped(block, self.with_axes(block, "Squeeze", 13, made, [0], made.shape[1:]))

    def gemm(self, block: Block) -> Value | None:
        """A product with a sum, either side transposed."""
        one = self.pick(block, lambda v: v.elem in (F32, F64) and self.filled(v) and v.rank == 2)
        if one is None or not self.has(11):
            return None
        trans_a, trans_b = self.random.randrange(2), self.random.randrange(2)
        rows, depth = reversed(one.shape) if trans_a else one.shape
        other = self.pick(
            block,
            lambda v: v.elem == one.elem and self.filled(v) and v.rank == 2
            and v.shape[trans_b] == depth,
        )  # fmt: skip
        if other is None:
            return None
        columns = other.shape[1 - trans_b]
        bias = self.pick(
            block,
            lambda v: v.elem == one.elem and v.shape in ((), (columns,), (1, columns), (rows, 1)),
        )
        made = self.op(
            block, "Gemm", [one, other, bias], one.elem, (rows, columns),
            transA=trans_a, transB=trans_b, alpha=0.75, beta=self.random.choice((1.0, -0.5)),
        )  # fmt: skip
        return self.damped(block, made)

    def divide(self, block: Block) -> Value | None:
        """A quotient, a remainder or a power; what it is divided by is never zero."""
        value = self.pick(block, lambda v: v.elem in (F32, F64, *INTEGERS))
        if value is None or not self.has(10):
            return None
        if value.elem in INTEGERS:
            by = self.const(block, self.random.choice((-3, 2, 5, 7)), value.elem)
            return self.like(block, self.random.choice(("Div", "Mod")), value, by)
        squares = self.like(block, "Mul", value, value)
        above = self.like(block, "Add", squares, self.const(block, 0.5, value.elem))
        if self.chance(0.5):
            return self.like(block, "Div", value, above)
        root = self.like(block, "Sqrt", above)
        return self.damped(block, root)

    def bounded(self, block: Block) -> Value | None:
        """Clip, with one bound or both."""
        value = self.pick(block, lambda v: v.elem in (F32, F64))
        if value is None or not self.has(11):
            return None
        bounds: list[Value | None] = [self.const(block, bound, value.elem) for bound in (-0.3, 0.4)]
        if self.chance(0.5):
            bounds[self.random.randrange(2)] = None
        return self.op(block, "Clip", [value, *bounds], value.elem, value.shape)

    def narrow(self, block: Block) -> Value | None:
        """Through an integer of few bits and back, with a sum in between."""
        value = self.pick(block, lambda v: v.elem in (*INTEGERS, BOOL))
        if value is None or not self.has(14):
            return None
        made = self.cast(block, value, self.random.choice(SMALL))
        if self.chance(0.6):
            made = self.like(block, "Add", made, made)
        return self.cast(block, made, self.random.choice((F32, I64)))

    def summed(self, block: Block) -> Value | None:
        """Several axes reduced in one."""
        value = self._filled(block, F32, F64)
        if value is None or value.rank < 2:
            return None
        axes = sorted(self.random.sample(range(value.rank), self.random.randrange(1, value.rank)))
        keep = self.random.randrange(2)
        shape = [
            1 if k in axes else dim for k, dim in enumerate(value.shape) if keep or k not in axes
        ]
        kinds = ("ReduceSum", "ReduceL1", "ReduceSumSquare", "ReduceLogSumExp", "ReduceProd")
        kind = self.random.choice(kinds)
        if self.chance(0.5) and self.has(11):
            axes = [k - value.rank for k in axes]
        since = 13 if kind == "ReduceSum" else 18
        made = self.with_axes(block, kind, since, value, axes, shape, keepdims=keep)
        return self.damped(block, made)

    def quantized(self, block: Block) -> Value | None:
        """To eight bits and back."""
        value = self._filled(block, F32)
        if value is None or not self.has(19):
            return None
        axis = self.random.randrange(value.rank)
        extent = value.shape[axis]
        count = extent if isinstance(extent, int) else 1
        elem = self.random.choice((TensorProto.INT8, TensorProto.UINT8))
        one = self.chance(0.5) or not isinstance(extent, int)
        scale = self.const(
            block, 0.0213 if one else [0.0213 + 0.001 * k for k in range(count)], F32
        )
        zero = self.const(block, 3 if one else [3] * count, elem)
        more = {} if one else {"axis": axis}
        made = self.op(block, "QuantizeLinear", [value, scale, zero], elem, value.shape, **more)
        return self.op(block, "DequantizeLinear", [made, scale, zero], F32, value.shape, **more)


#: How often, in comparison, each is tried.
MOVEMENT_STEPS: dict[Step, int] = {
    Movement.scatter: 2,
    Movement.take: 2,
    Movement.slice_by_data: 2,
    Movement.split: 1,
    Movement.tile: 1,
    Movement.stretch: 2,
    Movement.triangle: 1,
    Movement.ravel: 1,
    Movement.chosen: 1,
    Movement.top: 1,
    Movement.einsum: 1,
    Movement.window: 1,
    Movement.gemm: 1,
    Movement.divide: 1,
    Movement.bounded: 1,
    Movement.narrow: 1,
    Movement.summed: 1,
    Movement.quantized: 1,
}
