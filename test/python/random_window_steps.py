# ===- random_window_steps.py - Random nodes of windows, with NumPy -------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Random nodes of windows, and what NumPy makes of them.

A `Step` is what becomes of a value [batch, channels, places...]: its nodes, and a function of
arrays. Operands that are inputs are drawn for each set of extents, as the shapes that they must
have are known only there. To make cases of one operator more, write a function that takes a
`Chain` and gives a `Step`, and name it in `STEPS`.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from window_arrays import (
    Array,
    Axis,
    TooLargeError,
    Window,
    WindowsError,
    convolved,
    padded,
    sliced,
    spread,
    windows,
)

Feeds = dict[str, Array]
ELEMENT = {np.dtype(np.float16): TensorProto.FLOAT16, np.dtype(np.float32): TensorProto.FLOAT,
           np.dtype(np.float64): TensorProto.DOUBLE}  # fmt: skip


@dataclasses.dataclass
class Step:
    """What becomes of a value: the text says it; `emit` adds nodes and names the result."""

    text: str
    emit: Callable[[Graph, str], str]
    compute: Callable[[Array, Feeds], Array]
    #: Operands that are inputs, with their ranks, and how one set of them is drawn.
    inputs: dict[str, tuple[Any, int]] = dataclasses.field(default_factory=dict)
    draw: Callable[[Array | None, random.Random], Feeds] = lambda x, dice: {}


class Graph:
    """Nodes and constants of a graph under construction."""

    def __init__(self, prefix: str) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self._prefix, self._numbers = prefix, itertools.count()

    def fresh(self) -> str:
        return f"{self._prefix}{next(self._numbers)}"

    def add(self, op: str, inputs: Sequence[str], **attributes: Any) -> str:
        name = self.fresh()
        self.nodes.append(helper.make_node(op, list(inputs), [name], **attributes))
        return name

    def constant(self, values: Any, dtype: Any = np.int64) -> str:
        tensor = numpy_helper.from_array(np.asarray(values, dtype))
        return self.add("Constant", [], value=tensor)


class Chain:
    """Draws steps; knows how many spatial axes there are, and channels if that is known."""

    def __init__(self, dice: random.Random, spatial: int, channels: int | None, dtype: Any) -> None:
        self.dice, self.spatial, self.channels = dice, spatial, channels
        self.dtype = np.dtype(dtype)
        self._names = itertools.count()

    def fresh(self) -> str:
        return f"w{next(self._names)}"

    def some(self, choices: Sequence[Any]) -> tuple[Any, ...]:
        return tuple(self.dice.choice(choices) for _ in range(self.spatial))

    def window(self, *, ceil: bool = False, largest: int = 4) -> Window:
        """Windows of any form; pads may be longer than they are."""
        kernel = self.some((*range(1, largest + 1), 2, 3))
        if self.dice.random() < 0.1:
            kernel = self.some((5, 7, 9))
        strides = self.some((1, 1, 2, 3, 5)) if self.dice.random() < 0.6 else self.some((1,))
        dilations = self.some((1, 2, 3)) if self.dice.random() < 0.3 else self.some((1,))
        most = self.dice.choice((0, 1, 2, 4))
        pads = tuple(self.dice.randint(0, most) for _ in range(2 * self.spatial))
        auto = "NOTSET"
        if self.dice.random() < 0.2:
            auto = self.dice.choice(("SAME_UPPER", "SAME_LOWER", "VALID"))
        rounds = ceil and auto == "NOTSET" and self.dice.random() < 0.4
        return Window(kernel, strides, dilations, pads, auto, rounds)

    def values(self, shape: Sequence[int], dice: random.Random | None = None) -> Array:
        dice = dice or self.dice
        made = np.random.default_rng(dice.getrandbits(32)).integers(-2, 3, shape)
        return made.astype(self.dtype)

    def weights(self, make: Callable[[int], tuple[int, ...]], rank: int) -> tuple[Any, ...]:
        """An operand whose shape follows from the number of channels: a constant or an input."""
        name = self.fresh()
        if self.channels is not None and self.dice.random() < 0.6:
            array = self.values(make(self.channels))
            return (lambda g: g.constant(array, self.dtype)), (lambda feeds: array), {}, None
        fallback = self.channels or 1

        def draw(x: Array | None, dice: random.Random) -> Feeds:
            channels = x.shape[1] if x is not None else fallback
            shape = list(make(max(channels, 1)))
            return {name: self.values(shape, dice)}

        return (lambda g: name), (lambda feeds: feeds[name]), {name: (self.dtype, rank)}, draw

    def integers(self, make: Callable[[random.Random], Sequence[int]]) -> tuple[Any, ...]:
        """A list of integers: a constant, or an input with other ones in each set."""
        if self.dice.random() < 0.6:
            array = np.array(make(self.dice), np.int64)
            return (lambda g: g.constant(array)), (lambda feeds: array), {}, None
        name = self.fresh()

        def draw(x: Array | None, dice: random.Random) -> Feeds:
            return {name: np.array(make(dice), np.int64)}

        return (lambda g: name), (lambda feeds: feeds[name]), {name: (np.dtype(np.int64), 1)}, draw


def _drawn(*parts: Any) -> Callable[[Array | None, random.Random], Feeds]:
    def draw(x: Array | None, dice: random.Random) -> Feeds:
        made: Feeds = {}
        for part in parts:
            if part is not None:
                made |= part(x, dice)
        return made

    return draw


def max_pool(chain: Chain) -> Step:
    window = chain.window(ceil=True)
    flags = window.attributes() | {"ceil_mode": int(window.ceil)}
    kind = chain.dice.choice((None, None, None, np.int8, np.uint8))

    def emit(g: Graph, x: str) -> str:
        if kind is None:
            return g.add("MaxPool", [x], **flags)
        element = helper.np_dtype_to_tensor_dtype(np.dtype(kind))
        low, high = (g.constant(v, chain.dtype) for v in (0, 100))
        narrow = g.add("Cast", [g.add("Clip", [x, low, high])], to=element)
        # A window of padding alone has the least number.
        most = g.add("MaxPool", [narrow], **flags)
        return g.add("Cast", [most], to=ELEMENT[chain.dtype])

    def compute(x: Array, feeds: Feeds) -> Array:
        low: Any = -np.inf
        if kind is not None:
            x, low = np.clip(x, 0, 100), np.iinfo(kind).min
        seen = windows(x, window.axes(x.shape[2:]), low)
        most: Array = seen.max(axis=tuple(range(x.ndim, seen.ndim)))
        return most

    return Step(f"MaxPool {kind and kind.__name__}", emit, compute)


def _numbers(x: Array, window: Window) -> tuple[Array, Array]:
    """Maxima, and where in `x` the first element of each is; -1 for padding alone."""
    axes = window.axes(x.shape[2:])
    order = np.arange(x.size).reshape(x.shape)
    seen, at = windows(x, axes, -np.inf), windows(order, axes, -1)
    inner = math.prod(seen.shape[x.ndim :])
    shape = seen.shape[: x.ndim]
    seen, at = seen.reshape(*shape, inner), at.reshape(*shape, inner)
    best = seen.max(axis=-1)
    hits = np.where((seen == best[..., None]) & (at >= 0), at, x.size)
    first = hits.min(axis=-1) if hits.size else np.zeros(shape, np.int64)
    return best, np.where(first == x.size, -1, first)


def pool_places(chain: Chain) -> Step:
    """Where the maxima are, as numbers; or the maxima, put back there."""
    window = chain.window(ceil=False)
    window = dataclasses.replace(window, auto="NOTSET")
    puts_back = chain.dice.random() < 0.5
    if puts_back:
        window = dataclasses.replace(window, dilations=chain.some((1,)))

    def emit(g: Graph, x: str) -> str:
        names = [g.fresh(), g.fresh()]
        g.nodes.append(helper.make_node("MaxPool", [x], names, **window.attributes()))
        if puts_back:
            flags = window.attributes()
            flags.pop("dilations")
            return g.add("MaxUnpool", names, **flags)
        few = g.add("Mod", [names[1], g.constant(7)])
        return g.add("Cast", [few], to=ELEMENT[chain.dtype])

    def compute(x: Array, feeds: Feeds) -> Array:
        best, at = _numbers(x, window)
        if not puts_back:
            return (at % 7).astype(x.dtype)
        count = chain.spatial
        extents = [
            (e - 1) * s + k - window.pads[j] - window.pads[j + count]
            for j, (e, s, k) in enumerate(
                zip(best.shape[2:], window.strides, window.kernel, strict=True)
            )
        ]
        if min(extents) < 0:
            raise WindowsError("a result of fewer elements than none")
        made = np.zeros((*x.shape[:2], *extents), x.dtype)
        if best.size and (at.min() < 0 or at.max() >= made.size):
            raise WindowsError("an element is put out of place")
        made.reshape(-1)[at.reshape(-1)] = best.reshape(-1)
        return made

    return Step("MaxUnpool" if puts_back else "Indices", emit, compute)


def average_pool(chain: Chain) -> Step:
    window = chain.window(ceil=True)
    counts = chain.dice.random() < 0.5
    flags = window.attributes() | {"ceil_mode": int(window.ceil), "count_include_pad": int(counts)}

    def compute(x: Array, feeds: Feeds) -> Array:
        axes = window.axes(x.shape[2:])
        inside = np.ones(x.shape[2:])
        if counts:
            inside = np.pad(inside, [(a.before, a.after) for a in axes], constant_values=1)
            moved = [dataclasses.replace(a, before=0, after=0) for a in axes]
            number = windows(inside, moved, 0)
        else:
            number = windows(inside, axes, 0)
        seen = windows(x.astype(np.float64), axes, 0)
        last = tuple(range(-chain.spatial, 0))
        made: Array = seen.sum(axis=last) / np.maximum(number.sum(axis=last), 1)
        return made.astype(x.dtype)

    return Step("AveragePool", lambda g, x: g.add("AveragePool", [x], **flags), compute)


def lp_pool(chain: Chain) -> Step:
    window = chain.window(ceil=True)
    p = chain.dice.randint(1, 3)
    flags = window.attributes() | {"ceil_mode": int(window.ceil), "p": p}

    def compute(x: Array, feeds: Feeds) -> Array:
        seen = np.abs(windows(x.astype(np.float64), window.axes(x.shape[2:]), 0)) ** p
        made = seen.sum(axis=tuple(range(x.ndim, seen.ndim))) ** (1 / p)
        return _whole(made).astype(x.dtype)

    return Step(
        f"LpPool {p}", lambda g, x: _emit_whole(chain, g, g.add("LpPool", [x], **flags)), compute
    )


def _whole(x: Array) -> Array:
    """Whole numbers: what follows must not depend on how something was rounded."""
    return np.floor(x * 8 + 0.37)


def _emit_whole(chain: Chain, g: Graph, x: str) -> str:
    more = g.add("Mul", [x, g.constant(8, chain.dtype)])
    return g.add("Floor", [g.add("Add", [more, g.constant(0.37, chain.dtype)])])


def _groups(chain: Chain) -> int:
    channels = chain.channels
    if channels is None:
        return 1
    return int(chain.dice.choice([g for g in range(1, channels + 1) if channels % g == 0] + [1, 1]))


def convolution(chain: Chain) -> Step:
    window = chain.window(largest=3)
    group = _groups(chain)
    outs = group * chain.dice.randint(1, 4)
    # Weights of inputs may have another kernel in each set.
    is_open = chain.dice.random() < 0.3
    kernels = [tuple(chain.dice.randint(1, 3) for _ in window.kernel) for _ in range(3)]

    def shape(channels: int) -> tuple[int, ...]:
        kernel = chain.dice.choice(kernels) if is_open else window.kernel
        return (outs, max(channels // group, 1), *kernel)

    name, value, inputs, draw = chain.weights(shape, 2 + chain.spatial)
    has_bias = chain.dice.random() < 0.5
    bias = chain.values((outs,)) if has_bias else None
    flags = window.attributes(has_kernel=not is_open) | {"group": group}

    def emit(g: Graph, x: str) -> str:
        operands = [x, name(g)]
        if bias is not None:
            operands.append(g.constant(bias, chain.dtype))
        return g.add("Conv", operands, **flags)

    chain.channels = outs
    return Step(
        f"Conv group {group}", emit,
        lambda x, feeds: convolved(x, value(feeds), bias, window, group), inputs, _drawn(draw),
    )  # fmt: skip


def integer_convolution(chain: Chain) -> Step:
    window = chain.window(largest=3)
    group = _groups(chain)
    outs = group * chain.dice.randint(1, 4)
    name, value, inputs, draw = chain.weights(
        lambda channels: (outs, max(channels // group, 1), *window.kernel), 2 + chain.spatial
    )
    zero, other = chain.dice.randint(0, 3), chain.dice.randint(-2, 2)
    flags = window.attributes() | {"group": group}

    def emit(g: Graph, x: str) -> str:
        low, high = (g.constant(v, chain.dtype) for v in (0, 9))
        narrow = g.add("Cast", [g.add("Clip", [x, low, high])], to=TensorProto.UINT8)
        weights = g.add("Cast", [name(g)], to=TensorProto.INT8)
        zeros = [g.constant(zero, np.uint8), g.constant(other, np.int8)]
        made = g.add("ConvInteger", [narrow, weights, *zeros], **flags)
        return g.add("Cast", [made], to=ELEMENT[chain.dtype])

    def compute(x: Array, feeds: Feeds) -> Array:
        # Borders are of the zero point, which counts as nothing.
        whole = np.trunc(np.clip(x, 0, 9)) - zero
        return convolved(whole, value(feeds) - other, None, window, group)

    chain.channels = outs
    return Step(f"ConvInteger group {group}", emit, compute, inputs, _drawn(draw))


def transposed_convolution(chain: Chain) -> Step:
    window = chain.window(largest=3)
    group = _groups(chain)
    columns = chain.dice.randint(1, 3)
    extra = chain.some((0, 0, 1)) if chain.dice.random() < 0.3 else chain.some((0,))
    shape = chain.some((3, 4, 7, 12)) if chain.dice.random() < 0.15 else None
    if shape is not None:
        extra = chain.some((0,))
        window = dataclasses.replace(window, auto="NOTSET", pads=2 * chain.some((0,)))
    if window.auto.startswith("SAME"):
        window = dataclasses.replace(
            window,
            strides=tuple(min(a, b) for a, b in zip(window.strides, window.kernel, strict=True)),
        )
    name, value, inputs, draw = chain.weights(
        lambda channels: (channels, columns, *window.kernel), 2 + chain.spatial
    )
    bias = chain.values((group * columns,)) if chain.dice.random() < 0.5 else None
    flags = window.attributes() | {"group": group}
    if any(extra):
        flags["output_padding"] = extra
    if shape is not None:
        flags["output_shape"] = shape
        flags.pop("pads", None)

    def emit(g: Graph, x: str) -> str:
        operands = [x, name(g)]
        if bias is not None:
            operands.append(g.constant(bias, chain.dtype))
        return g.add("ConvTranspose", operands, **flags)

    chain.channels = group * columns
    return Step(
        f"ConvTranspose group {group}", emit,
        lambda x, feeds: spread(x, value(feeds), bias, window, group, extra, shape),
        inputs, _drawn(draw),
    )  # fmt: skip


def slices(chain: Chain) -> Step:
    """Parts that begin and end anywhere, forwards and backwards."""
    rank = 2 + chain.spatial
    allowed = [0, *range(2, rank)] + ([1] if chain.channels is None else [])
    axes = chain.dice.sample(allowed, chain.dice.randint(1, min(2, len(allowed))))
    steps = [chain.dice.choice((1, 1, 2, 3, -1, -2, 5)) for _ in axes]

    def bounds(dice: random.Random) -> list[int]:
        far = (-(2**63), 2**63 - 1, -1000, 1000)
        return [dice.choice(far) if dice.random() < 0.2 else dice.randint(-6, 6) for _ in axes]

    def ends(dice: random.Random) -> list[int]:
        made = bounds(dice)
        return [e if dice.random() < 0.5 else (2**31 if s > 0 else -(2**31))
                for e, s in zip(made, steps, strict=True)]  # fmt: skip

    start, first, inputs, draw = chain.integers(bounds)
    end, last, more, draws = chain.integers(ends)
    written = [a - rank * chain.dice.randrange(2) for a in axes]

    def emit(g: Graph, x: str) -> str:
        return g.add("Slice", [x, start(g), end(g), g.constant(written), g.constant(steps)])

    def compute(x: Array, feeds: Feeds) -> Array:
        return sliced(x, first(feeds), last(feeds), np.array(axes), np.array(steps))

    return Step(f"Slice {axes}", emit, compute, inputs | more, _drawn(draw, draws))


def padding(chain: Chain) -> Step:
    """Borders of every kind; negative ones cut away."""
    rank = 2 + chain.spatial
    mode = chain.dice.choice(("constant", "constant", "edge", "reflect", "wrap"))
    allowed = [0, *range(2, rank)] + ([1] if chain.channels is None else [])
    axes = chain.dice.sample(allowed, chain.dice.randint(1, min(2, len(allowed))))
    low = chain.dice.choice((0, 0, -3))
    fill = chain.dice.choice((0, 5))
    name, value, inputs, draw = chain.integers(
        lambda dice: [dice.choice((0, dice.randint(low, 6))) for _ in range(2 * len(axes))]
    )
    written = [a - rank * chain.dice.randrange(2) for a in axes]

    def emit(g: Graph, x: str) -> str:
        operands = [x, name(g), g.constant(fill, chain.dtype), g.constant(written)]
        return g.add("Pad", operands, mode=mode)

    def compute(x: Array, feeds: Feeds) -> Array:
        pads = value(feeds)
        before, after = [0] * rank, [0] * rank
        for k, axis in enumerate(axes):
            before[axis], after[axis] = int(pads[k]), int(pads[k + len(axes)])
        return padded(x, before, after, mode, fill)

    return Step(f"Pad {mode} {axes}", emit, compute, inputs, _drawn(draw))


def looked_up(chain: Chain) -> Step:
    """Windows as exporters write them: places that are computed of the extent, and a Gather."""
    axis = 2 + chain.dice.randrange(chain.spatial)
    size, stride, gap = (chain.dice.choice(c) for c in ((1, 2, 3, 4, 8), (1, 2, 3), (1, 1, 2)))
    op = chain.dice.choice(("ReduceMax", "ReduceSum"))
    reach = (size - 1) * gap + 1

    def emit(g: Graph, x: str) -> str:
        extent = g.add("Gather", [g.add("Shape", [x]), g.constant(axis)])
        span = g.add("Div", [g.add("Sub", [extent, g.constant(reach)]), g.constant(stride)])
        count = g.add("Add", [span, g.constant(1)])
        begins = g.add("Range", [g.constant(0), count, g.constant(1)])
        begins = g.add("Mul", [begins, g.constant(stride)])
        begins = g.add("Unsqueeze", [begins, g.constant([1])])
        places = g.add("Add", [begins, g.constant(np.arange(size) * gap)])
        seen = g.add("Gather", [x, places], axis=axis)
        return g.add(op, [seen, g.constant([axis + 1])], keepdims=0)

    def compute(x: Array, feeds: Feeds) -> Array:
        extent = x.shape[axis]
        count = max(int((extent - reach) / stride) + 1, 0)
        places = np.arange(count)[:, None] * stride + np.arange(size) * gap
        if places.size and places.max() >= extent:
            raise WindowsError("an index is out of range")
        seen = np.take(x, places, axis=axis)
        made: Array = seen.max(axis=axis + 1) if op == "ReduceMax" else seen.sum(axis=axis + 1)
        return made

    return Step(f"Gather {axis}", emit, compute)


def blocks(chain: Chain) -> Step:
    """Padded to whole blocks, which are reshaped and reduced."""
    axis = 2 + chain.dice.randrange(chain.spatial)
    rank, size = 2 + chain.spatial, chain.dice.choice((1, 2, 3, 4, 8))
    mode = chain.dice.choice(("constant", "constant", "edge", "reflect"))

    def emit(g: Graph, x: str) -> str:
        extent = g.add("Slice", [g.add("Shape", [x]), g.constant([axis]), g.constant([axis + 1])])
        block = g.constant([size])
        rest = g.add("Mod", [g.add("Sub", [block, extent]), block])
        pads = g.add("Concat", [g.constant(rank * [0] + axis * [0]), rest,
                                g.constant((rank - axis - 1) * [0])], axis=0)  # fmt: skip
        made = g.add("Pad", [x, pads], mode=mode)
        count = g.add("Div", [g.add("Add", [extent, rest]), block])
        shape = g.add("Shape", [made])
        front = g.add("Slice", [shape, g.constant([0]), g.constant([axis])])
        back = g.add("Slice", [shape, g.constant([axis + 1]), g.constant([rank])])
        target = g.add("Concat", [front, count, block, back], axis=0)
        split = g.add("Reshape", [made, target], allowzero=1)
        return g.add("ReduceSum", [split, g.constant([axis + 1])], keepdims=0)

    def compute(x: Array, feeds: Feeds) -> Array:
        extent = x.shape[axis]
        after = [0] * rank
        after[axis] = (size - extent) % size
        made = padded(x, [0] * rank, after, mode, 0)
        shape = (*x.shape[:axis], (extent + after[axis]) // size, size, *x.shape[axis + 1 :])
        sums: Array = made.reshape(shape).sum(axis=axis + 1)
        return sums

    return Step(f"blocks of {size} along {axis}, {mode}", emit, compute)


def unfolded(chain: Chain) -> Step:
    """Windows as columns, by a convolution with ones at one place each; Col2Im adds them up."""
    window = dataclasses.replace(chain.window(largest=3), auto="NOTSET")
    channels, size = chain.channels, math.prod(window.kernel)
    if channels is None or channels * size > 40:
        return slices(chain)
    weights = np.zeros((channels * size, channels, size), chain.dtype)
    for c, k in np.ndindex(channels, size):
        weights[c * size + k, c, k] = 1
    weights = weights.reshape(channels * size, channels, *window.kernel)

    def emit(g: Graph, x: str) -> str:
        # What is infinite would be no number in other places.
        x = g.add("Clip", [x, *(g.constant(v, chain.dtype) for v in (-99, 99))])
        seen = g.add("Conv", [x, g.constant(weights, chain.dtype)], **window.attributes())
        columns = g.add(
            "Flatten",
            [g.add("Transpose", [seen], perm=[1, 0, *range(2, 2 + chain.spatial)])],
            axis=2,
        )
        shape = g.add("Shape", [seen])
        batch = g.add("Slice", [shape, g.constant([0]), g.constant([1])])
        places = g.add("ReduceProd", [g.add("Slice", [shape, g.constant([2]), g.constant([9])])],
                       keepdims=1)  # fmt: skip
        target = g.add("Concat", [g.constant([channels * size]), batch, places], axis=0)
        columns = g.add("Reshape", [columns, target], allowzero=1)
        columns = g.add("Transpose", [columns], perm=[1, 0, 2])
        image = g.add("Shape", [x], start=2)
        flags = window.attributes()
        return g.add("Col2Im", [columns, image, g.constant(flags.pop("kernel_shape"))], **flags)

    def compute(x: Array, feeds: Feeds) -> Array:
        axes, x = window.axes(x.shape[2:]), np.clip(x, -99, 99)
        sums = np.zeros(
            (
                *x.shape[:2],
                *(a.before + e + a.after for a, e in zip(axes, x.shape[2:], strict=True)),
            )
        )
        seen = windows(x, axes, 0)
        for out in np.ndindex(*(a.out for a in axes)):
            for k in np.ndindex(*window.kernel):
                at: list[Any] = [
                    o * a.stride + j * a.dilation for o, a, j in zip(out, axes, k, strict=True)
                ]
                sums[tuple([..., *at])] += seen[(slice(None), slice(None), *out, *k)]
        cut: list[Any] = [
            slice(a.before, a.before + e) for a, e in zip(axes, x.shape[2:], strict=True)
        ]
        return sums[tuple([..., *cut])].astype(x.dtype)

    return Step("Col2Im", emit, compute)


def in_turn(chain: Chain) -> Step:
    """A Loop that cuts one window in each iteration, shorter at the end, and collects its sum."""
    axis = 2 + chain.dice.randrange(chain.spatial)
    size, stride = chain.dice.choice((1, 2, 3, 5)), chain.dice.choice((1, 2, 3))
    op = chain.dice.choice(("ReduceSum", "ReduceSum", "ReduceMean"))
    rank = 2 + chain.spatial

    def emit(g: Graph, x: str) -> str:
        extent = g.add("Gather", [g.add("Shape", [x]), g.constant(axis)])
        trips = g.add("Div", [g.add("Add", [extent, g.constant(stride - 1)]), g.constant(stride)])
        # No iteration would leave the other extents unknown.
        trips = g.add("Max", [trips, g.constant(1)])
        b = Graph(g.fresh() + "_")
        i, go = b.fresh(), b.fresh()
        begin = b.add("Unsqueeze", [b.add("Mul", [i, b.constant(stride)]), b.constant([0])])
        end = b.add("Add", [begin, b.constant([size])])
        part = b.add("Slice", [x, begin, end, b.constant([axis])])
        row = b.add(op, [part, b.constant([axis])], keepdims=0)
        more = b.add("Identity", [go])
        info = helper.make_tensor_value_info
        body = helper.make_graph(
            b.nodes, "turns", [info(i, TensorProto.INT64, ()), info(go, TensorProto.BOOL, ())],
            [info(more, TensorProto.BOOL, ()), info(row, ELEMENT[chain.dtype], None)],
        )  # fmt: skip
        rows = g.add("Loop", [trips, ""], body=body)
        order = list(range(1, rank))
        order.insert(axis, 0)
        return g.add("Transpose", [rows], perm=order)

    def compute(x: Array, feeds: Feeds) -> Array:
        extent = x.shape[axis]
        if op == "ReduceMean" and not extent:
            raise TooLargeError
        made = []
        for k in range(max(-(-extent // stride), 1)):
            part = np.take(x, np.arange(k * stride, min(k * stride + size, extent)), axis=axis)
            made.append(part.sum(axis=axis) if op == "ReduceSum" else part.mean(axis=axis))
        return np.stack(made, axis=axis).astype(x.dtype)

    return Step(f"windows in turn along {axis}, {op}", emit, compute)


def ring(chain: Chain) -> Step:
    """Each element beside the one so many places on, around the end."""
    axis, by = 2 + chain.dice.randrange(chain.spatial), chain.dice.randint(1, 3)

    def emit(g: Graph, x: str) -> str:
        at = g.constant([axis])
        last = g.add("Slice", [x, g.constant([-by]), g.constant([2**62]), at])
        rest = g.add("Slice", [x, g.constant([0]), g.constant([-by]), at])
        return g.add("Sub", [x, g.add("Concat", [last, rest], axis=axis)])

    return Step(f"ring along {axis}", emit, lambda x, feeds: x - _turned(x, by, axis))


def _turned(x: Array, by: int, axis: int) -> Array:
    extent = x.shape[axis]
    places = np.arange(extent)
    # Slices take what there is: of fewer elements all are the last ones.
    return np.take(x, np.concatenate([places[-by:], places[:-by]]), axis=axis)


def response(chain: Chain) -> Step:
    """LRN: windows over channels."""
    size = chain.dice.choice((1, 3, 5, 9, 2, 4))

    def compute(x: Array, feeds: Feeds) -> Array:
        axis = Axis(size, 1, 1, (size - 1) // 2, size - 1 - (size - 1) // 2, x.shape[1])
        squares = np.moveaxis(x.astype(np.float64) ** 2, 1, -1)
        sums = np.moveaxis(windows(squares, [axis], 0).sum(axis=-1), -1, 1)
        return _whole(x / (1 + 0.5 / size * sums) ** 0.75).astype(x.dtype)

    def emit(g: Graph, x: str) -> str:
        flags = {"size": size, "alpha": 0.5, "beta": 0.75, "bias": 1.0}
        return _emit_whole(chain, g, g.add("LRN", [x], **flags))

    return Step(f"LRN {size}", emit, compute)


def elementwise(chain: Chain) -> Step:
    """What a compiler joins with its neighbours."""
    number = chain.dice.choice((-1, 1, 2))
    op, fold = chain.dice.choice(
        (("Add", np.add), ("Mul", np.multiply), ("Max", np.maximum), ("Sub", np.subtract))
    )
    return Step(op, lambda g, x: g.add(op, [x, g.constant(number, chain.dtype)]),
                lambda x, feeds: fold(x, x.dtype.type(number)))  # fmt: skip


STEPS: tuple[Callable[[Chain], Step], ...] = (
    max_pool, max_pool, pool_places, average_pool, average_pool, lp_pool, convolution, convolution,
    integer_convolution, transposed_convolution, transposed_convolution, slices, slices, padding,
    padding, looked_up, blocks, unfolded, in_turn, ring, response, elementwise,
)  # fmt: skip
