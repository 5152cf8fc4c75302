# ===- random_idioms.py - What exporters write for one operation --------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Steps of random_chains.py: the nodes that exporters write for one operation of theirs.

Shapes that are taken apart and put together again, indices that are computed, masks that become
places, channels that are moved to the end and back: of PyTorch, TensorFlow, Paddle and JAX. All
numbers are small and whole, so that nothing is rounded. To make cases of one idiom more, write a
function that takes a `Block` and a name and gives the name of the result, and name it in `STEPS`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import TensorProto, helper
from random_chains import Block, ChainModel, Step

I32, I64, F32, BOOL = TensorProto.INT32, TensorProto.INT64, TensorProto.FLOAT, TensorProto.BOOL
MOST = 2**63 - 1


class Writer:
    """Short names for the nodes of ONNX."""

    def __init__(self, block: Block) -> None:
        self.block, self.dice, self.size = block, block.dice, block.size

    def __getattr__(self, op: str) -> Any:
        def write(*inputs: Any, count: int = 1, **attributes: Any) -> Any:
            names = [self.number(v) if not isinstance(v, str) else v for v in inputs]
            made = self.block.several(op, names, count, "", **attributes)
            return made[0] if count == 1 else made

        return write

    def number(self, value: Any, dtype: Any = np.int64) -> str:
        return self.block.constant(value, dtype)

    def float(self, value: Any) -> str:
        return self.block.constant(value, np.float32)

    def extent(self, x: str, axis: int) -> str:
        """The extent as a scalar."""
        return str(self.Gather(self.Shape(x), self.number(axis), axis=0))

    def extent1(self, x: str, axis: int) -> str:
        """The extent as a list."""
        if self.dice.random() < 0.5:
            return str(self.Shape(x, start=axis, end=axis + 1))
        return str(self.Unsqueeze(self.extent(x, axis), [0]))

    def range(self, count: str) -> str:
        return str(self.Range(0, count, 1))

    def few(self, x: str) -> str:
        """Small numbers again."""
        return str(self.Clip(x, self.float(-4), self.float(4)))

    def indices(self, x: str, axis: int, last: str) -> str:
        """Some number of each element along `axis`, below the scalar `last`; int64."""
        sums = self.Abs(self.ReduceSum(x, [a for a in range(3) if a != axis], keepdims=0))
        return str(self.Mod(self.Cast(sums, to=I64), self.Max(last, 1)))


def view(b: Block, x: str) -> str:
    """Heads, and back: shapes are gathered, unsqueezed and concatenated."""
    w = Writer(b)
    parts = [w.extent1(x, 0), w.extent1(x, 1)]
    heads = w.Reshape(x, w.Concat(*parts, [b.heads], [-1], axis=0))
    turned = w.Transpose(heads, perm=[0, 2, 1, 3])
    if w.dice.random() < 0.5:
        turned = w.Mul(turned, w.float(np.arange(1, b.heads + 1).reshape(-1, 1, 1) % 3))
    back = w.Transpose(turned, perm=[0, 2, 1, 3])
    return w.few(w.Reshape(back, w.Concat(*parts, [b.size], axis=0)))


def expand_as(b: Block, x: str) -> str:
    """-1 means the extent that there is: ConstantOfShape, Mul, Equal, Where, Expand."""
    w = Writer(b)
    row = w.ReduceMax(x, [1], keepdims=1)
    wanted = w.Concat([-1], w.extent1(x, 1), [-1], axis=0)
    ones = w.ConstantOfShape(w.Shape(wanted), value=helper.make_tensor("v", I64, [1], [1]))
    asks = w.Equal(wanted, w.Mul(ones, w.number(-1)))
    return w.few(w.Sub(x, w.Expand(row, w.Where(asks, ones, wanted))))


def pad_as_torch(b: Block, x: str) -> str:
    """Pads from the last axis on, turned around by Reshape, Slice, Transpose and Reshape."""
    w = Writer(b)
    front, back = w.dice.randint(0, 3), w.dice.randint(0, 3)
    given = w.number([0, 0, front, back])
    zeros = w.ConstantOfShape(w.Sub(w.number([6]), w.Shape(given)),
                              value=helper.make_tensor("v", I64, [1], [0]))  # fmt: skip
    pairs = w.Reshape(w.Concat(given, zeros, axis=0), [-1, 2])
    turned = w.Slice(pairs, [-1], [-MOST], [0], [-1])
    pads = w.Cast(w.Reshape(w.Transpose(turned, perm=[1, 0]), [-1]), to=I64)
    mode = w.dice.choice(("constant", "constant", "edge"))
    wide = w.Pad(x, pads, w.float(1), mode=mode)
    end = w.Add(w.extent1(x, 1), w.number([front]))
    if w.dice.random() < 0.5:
        return str(w.Slice(wide, w.number([front]), end, [1], [1]))
    # The first ones, or a window of them.
    sums = w.Sub(w.Slice(wide, [0], w.extent1(x, 1), [1]), x)
    return w.few(sums)


def index_several(b: Block, x: str) -> str:
    """x[:, i, j] by a flat index: Transpose, Flatten, arithmetic, Gather."""
    w = Writer(b)
    steps = w.extent(x, 1)
    rows = w.indices(x, 1, steps)
    columns = w.Mod(w.range(steps), w.number(b.size))
    flat = w.Flatten(w.Transpose(x, perm=[1, 2, 0]), axis=2)
    flat = w.Reshape(flat, w.Concat([-1], w.extent1(x, 0), axis=0))
    places = w.Add(w.Mul(rows, w.number(b.size)), columns)
    picked = w.Transpose(w.Gather(flat, places, axis=0), perm=[1, 0])
    return w.few(w.Add(x, w.Unsqueeze(picked, [2])))


def index_coordinates(b: Block, x: str) -> str:
    """The same by GatherND of coordinates that are broadcast."""
    w = Writer(b)
    rows = w.Unsqueeze(w.range(w.extent(x, 0)), [1])
    places = w.Unsqueeze(w.indices(x, 1, w.extent(x, 1)), [0])
    shape = w.Concat(w.extent1(x, 0), w.extent1(x, 1), axis=0)
    both = [w.Unsqueeze(w.Expand(v, shape), [-1]) for v in (rows, places)]
    return str(w.GatherND(x, w.Concat(*both, axis=-1)))


def put(b: Block, x: str) -> str:
    """x[:, i] = values, or += values: ScatterND."""
    w = Writer(b)
    rows = w.Unsqueeze(w.range(w.extent(x, 0)), [1])
    shape = w.Concat(w.extent1(x, 0), w.extent1(x, 1), axis=0)
    adds = w.dice.random() < 0.5
    order = w.indices(x, 1, w.extent(x, 1)) if adds else w.range(w.extent(x, 1))
    if not adds:
        order = w.Sub(w.Sub(w.extent(x, 1), w.number(1)), order)
    both = [w.Unsqueeze(w.Expand(v, shape), [-1]) for v in (rows, w.Unsqueeze(order, [0]))]
    updates = w.Mul(x, w.float(w.dice.choice((-1, 2))))
    reduction = "add" if adds else "none"
    return w.few(w.ScatterND(x, w.Concat(*both, axis=-1), updates, reduction=reduction))


def masked(b: Block, x: str) -> str:
    """x[mask] = number, or the elements of a mask, put back where they were."""
    w = Writer(b)
    mask = w.Greater(w.ReduceSum(x, [2], keepdims=0), w.float(w.dice.choice((0, 3, 1000))))
    kind = w.dice.randrange(3)
    if kind == 0:
        wide = w.Cast(w.Unsqueeze(w.Cast(mask, to=F32), [-1]), to=BOOL)
        return str(w.Where(wide, w.float(1), x))
    places = w.Transpose(w.NonZero(mask), perm=[1, 0])
    kept = w.GatherND(x, places)
    if kind == 1:
        sums = w.ReduceSum(kept, [0], keepdims=0)
        return w.few(w.Add(x, sums))
    return str(w.ScatterND(x, places, w.Neg(kept)))


def causal(b: Block, x: str) -> str:
    """Scores of steps below a mask of arange; the best of each row."""
    w = Writer(b)
    scores = w.MatMul(x, w.Transpose(x, perm=[0, 2, 1]))
    places = w.range(w.extent(x, 1))
    if w.dice.random() < 0.5:
        seen = w.LessOrEqual(w.Unsqueeze(places, [0]), w.Unsqueeze(places, [1]))
    else:
        square = w.Concat(w.extent1(x, 1), w.extent1(x, 1), axis=0)
        ones = w.ConstantOfShape(square, value=helper.make_tensor("v", F32, [1], [1.0]))
        seen = w.Cast(w.Trilu(ones, upper=0), to=BOOL)
    low = w.float(-10000.0)
    best = w.ArgMax(w.Where(seen, scores, low), axis=-1, keepdims=0)
    wide = w.Expand(w.Unsqueeze(best, [-1]), w.Shape(x))
    return str(w.GatherElements(x, wide, axis=1))


def sort(b: Block, x: str) -> str:
    """By TopK of all, and back by the inverse of the order."""
    w = Writer(b)
    keys = w.Add(w.Mul(w.ReduceSum(x, [2], keepdims=0), w.float(64)),
                 w.Cast(w.range(w.extent(x, 1)), to=F32))  # fmt: skip
    count = w.extent1(x, 1)
    _, order = w.TopK(keys, count, count=2, axis=1, largest=w.dice.randrange(2))
    if w.dice.random() < 0.5:
        _, order = w.TopK(w.Cast(order, to=F32), count, count=2, axis=1, largest=0)
    wide = w.Expand(w.Unsqueeze(order, [2]), w.Shape(x))
    return str(w.GatherElements(x, wide, axis=1))


def rolled(b: Block, x: str) -> str:
    """torch.roll and torch.flip along the steps or the columns."""
    w = Writer(b)
    axis = w.dice.choice((1, 2))
    if w.dice.random() < 0.4:
        return str(w.Slice(x, [-1], [-MOST], [axis], [-1]))
    by = w.dice.choice((1, 2, -1))
    last = w.Slice(x, [-by], [MOST], [axis])
    return str(w.Concat(last, w.Slice(x, [0], [-by], [axis]), axis=axis))


def unfolded(b: Block, x: str) -> str:
    """Windows that are gathered by a table of places, and reduced; padded, so that all are there."""
    w = Writer(b)
    size, gap = w.dice.choice((2, 3, 4)), w.dice.choice((1, 2))
    reach = (size - 1) * gap
    wide = w.Pad(x, w.number([0, reach // 2, 0, 0, reach - reach // 2, 0]))
    begins = w.Unsqueeze(w.range(w.extent(x, 1)), [1])
    places = w.Add(begins, w.number([np.arange(size) * gap]))
    seen = w.Gather(wide, places, axis=1)
    op = w.dice.choice((w.ReduceMax, w.ReduceSum, w.ReduceMin))
    return w.few(op(seen, [2], keepdims=0))


def stacked(b: Block, x: str) -> str:
    """chunk, stack and cat, by sequences or without."""
    w = Writer(b)
    if w.dice.random() < 0.5:
        parts = w.SplitToSequence(x, w.number([b.size // 2, b.size - b.size // 2]), axis=2)
        first, second = (w.SequenceAt(parts, w.number(k)) for k in (0, 1))
        both = w.SequenceConstruct(second, first)
        return str(w.ConcatFromSequence(both, axis=2))
    first, second = w.Split(x, count=2, axis=2, num_outputs=2)
    pairs = w.Concat(w.Unsqueeze(second, [3]), w.Unsqueeze(first, [3]), axis=3)
    return str(w.Reshape(pairs, w.Shape(x)))


def channels_last(b: Block, x: str) -> str:
    """A convolution of TensorFlow's between transposes, with what is fused behind it."""
    w = Writer(b)
    image = w.Unsqueeze(x, [2])
    turned = w.Transpose(image, perm=[0, 3, 1, 2])
    kind = w.dice.randrange(3)
    if kind == 0:
        made = w.MaxPool(turned, kernel_shape=[3, 1], pads=[1, 0, 1, 0])
    else:
        group = w.dice.choice((1, b.size))
        weights = w.dice.choices((-1, 0, 0, 0, 1), k=b.size * (b.size // group) * 3)
        kernel = w.float(np.reshape(weights, (b.size, b.size // group, 3, 1)))
        dilation = w.dice.choice((1, 2))
        made = w.Conv(turned, kernel, pads=[dilation, 0, dilation, 0], dilations=[dilation, 1],
                      group=group)  # fmt: skip
    back = w.Transpose(made, perm=[0, 2, 3, 1])
    row = w.Add(back, w.float(np.arange(b.size) % 3))
    return w.few(w.Squeeze(w.Relu(row), [2]))


def sequence_mask(b: Block, x: str) -> str:
    """tf.sequence_mask: lengths of rows, in int32."""
    w = Writer(b)
    lengths = w.Cast(w.indices(x, 0, w.extent(x, 1)), to=I32)
    places = w.Cast(w.range(w.extent(x, 1)), to=I32)
    mask = w.Less(w.Unsqueeze(places, [0]), w.Unsqueeze(lengths, [1]))
    kept = w.Mul(x, w.Unsqueeze(w.Cast(mask, to=F32), [2]))
    if w.dice.random() < 0.5:
        return str(kept)
    last = w.Max(w.Sub(lengths, w.number(1, np.int32)), w.number(0, np.int32))
    wide = w.Expand(w.Unsqueeze(w.Cast(last, to=I64), [1, 2]),
                    w.Concat(w.extent1(x, 0), [1, b.size], axis=0))  # fmt: skip
    return w.few(w.Sub(x, w.GatherElements(x, wide, axis=1)))


def reverse_sequence(b: Block, x: str) -> str:
    w = Writer(b)
    lengths = w.Add(w.indices(x, 0, w.extent(x, 1)), w.number(1))
    return str(w.ReverseSequence(x, lengths, batch_axis=0, time_axis=1))


def floor_division(b: Block, x: str) -> str:
    """Steps halved and doubled, by a quotient that is rounded down as TensorFlow writes it."""
    w = Writer(b)
    count = w.extent(x, 1)
    half = w.Cast(w.Floor(w.Div(w.Cast(count, to=F32), w.float(2))), to=I64)
    front = w.Slice(x, [0], w.Unsqueeze(half, [0]), [1])
    behind = w.Slice(x, w.Unsqueeze(half, [0]), w.Unsqueeze(count, [0]), [1])
    return str(w.Concat(behind, front, axis=1))


def dynamic_slice(b: Block, x: str) -> str:
    """jax.lax.dynamic_slice and dynamic_update_slice: begins are clamped."""
    w = Writer(b)
    count, size = w.extent(x, 1), w.dice.choice((1, 2, 3))
    length = w.Min(count, w.number(size))
    most = w.Sub(count, length)
    wanted = w.Cast(w.ReduceMax(w.ReduceMax(x, [0, 1], keepdims=0), [0], keepdims=0), to=I64)
    begin = w.Max(w.Min(wanted, most), w.number(0))
    part = w.Slice(x, w.Unsqueeze(begin, [0]), w.Unsqueeze(w.Add(begin, length), [0]), [1])
    if w.dice.random() < 0.3:
        return w.few(w.Add(x, w.ReduceSum(part, [1], keepdims=1)))
    places = w.Sub(w.range(count), begin)
    inside = w.And(w.GreaterOrEqual(places, 0), w.Less(places, length))
    safe = w.Clip(places, w.number(0), w.Sub(length, w.number(1)))
    moved = w.Gather(w.Neg(part), safe, axis=1)
    return str(w.Where(w.Unsqueeze(inside, [0, 2]), moved, x))


def normalised(b: Block, x: str) -> str:
    """Means and variances by hand; the signs of what comes out."""
    w = Writer(b)
    axis = w.dice.choice((1, 2))
    mean = w.ReduceMean(x, [axis], keepdims=1)
    apart = w.Sub(x, mean)
    if w.dice.random() < 0.5:
        variance = w.ReduceMean(w.Mul(apart, apart), [axis], keepdims=1)
        apart = w.Div(apart, w.Sqrt(w.Add(variance, w.float(1e-5))))
    return str(w.Add(w.Cast(w.Greater(apart, w.float(0.01)), to=F32), x))


def bucketized(b: Block, x: str) -> str:
    """How many bounds lie below; one_hot of it, times a table."""
    w = Writer(b)
    below = w.Greater(w.Unsqueeze(x, [-1]), w.float([-2, 0, 1]))
    place = w.ReduceSum(w.Cast(below, to=I64), [-1], keepdims=0)
    if w.dice.random() < 0.5:
        return str(w.Gather(w.float([-1, 0, 2, 3]), place))
    hot = w.OneHot(place, w.number(4), w.float([0, 1]), axis=-1)
    table = w.float([[-1], [1], [0], [2]])
    return str(w.Squeeze(w.MatMul(hot, table), [-1]))


def recurrent(b: Block, x: str) -> str:
    """A loop over the steps that gathers one and collects what becomes of it."""
    w = Writer(b)
    inner = Block(b.model, b.fresh() + "_")
    v = Writer(inner)
    row = v.Gather(x, "i_" + x, axis=1)
    state = inner.fresh()
    after = v.few(v.Sub(row, state))
    out = v.Identity(v.Add(after, row))
    more = v.Identity("go_" + x)
    info = helper.make_tensor_value_info
    body = helper.make_graph(
        inner.nodes, "rows",
        [info("i_" + x, I64, ()), info("go_" + x, BOOL, ()), info(state, F32, None)],
        [info(more, BOOL, ()), info(after, F32, None), info(out, F32, None)],
    )  # fmt: skip
    init = w.ReduceMin(x, [1], keepdims=0)
    _, rows = w.Loop(w.extent(x, 1), "", init, count=2, body=body)
    return w.few(w.Transpose(rows, perm=[1, 0, 2]))


def doubled(b: Block, x: str) -> str:
    """repeat_interleave, tile and every second one."""
    w = Writer(b)
    kind = w.dice.randrange(3)
    if kind == 0:
        wide = w.Expand(w.Unsqueeze(x, [2]), [1, 1, 2, 1])
        shape = w.Concat(w.extent1(x, 0), w.Mul(w.extent1(x, 1), w.number([2])), [b.size], axis=0)
        made = w.Reshape(wide, shape)
    elif kind == 1:
        made = w.Tile(x, w.Concat([1], [2], [1], axis=0))
    else:
        made = w.Concat(x, w.Neg(x), axis=1)
    begin = w.number([w.dice.randrange(2)])
    return str(w.Slice(made, begin, [MOST], [1], [2]))


def resized(b: Block, x: str) -> str:
    """F.interpolate: Shape, Slice, Cast, Mul, Floor, Concat, Resize."""
    w = Writer(b)
    image = w.Transpose(x, perm=[0, 2, 1])
    shape = w.Shape(image)
    length = w.Cast(w.Slice(shape, [2], [3], [0]), to=F32)
    wanted = w.Cast(w.Floor(w.Mul(length, w.float(2.0))), to=I64)
    sizes = w.Concat(w.Slice(shape, [0], [2], [0]), wanted, axis=0)
    wide = w.Resize(image, "", "", sizes, mode="nearest", nearest_mode="floor",
                    coordinate_transformation_mode="asymmetric")  # fmt: skip
    few = w.AveragePool(wide, kernel_shape=[2], strides=[2])
    return str(w.Transpose(few, perm=[0, 2, 1]))


STEPS: tuple[Step, ...] = (
    view, expand_as, pad_as_torch, index_several, index_coordinates, put, masked, causal, sort,
    rolled, unfolded, stacked, channels_last, sequence_mask, reverse_sequence, floor_division,
    dynamic_slice, normalised, bucketized, recurrent, doubled, resized,
)  # fmt: skip


class IdiomModel(ChainModel):
    """A chain of them."""

    STEPS = STEPS
    ARE_WHOLE = True
    MOST_STEPS = 6
