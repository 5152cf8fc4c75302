# ===- random_ir_movement.py - Random layers that move elements -------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Layers of OpenVINO IR that cut, gather, scatter and rearrange."""

from __future__ import annotations

from typing import Any

import numpy as np
from openvino_models import const, i64
from random_corners import Draw
from random_ir_base import (
    NUMBERS,
    OPSETS,
    Array,
    Layer,
    positive,
    sets_of,
    values,
)  # fmt: skip

# ===- Movement --------------------------------------------------------------===#


def strided_slice(draw: Draw) -> Layer:
    shape = draw.shape(1)
    masks = {m: [0] * (len(shape) + 2) for m in ("begin", "end", "new", "shrink", "ellipsis")}
    begin, end, stride = [], [], []
    at = 0
    seen = False
    while at < len(shape):
        kind = draw.random()
        k = len(begin)
        if kind < 0.12 and k < len(shape):
            masks["new"][k] = 1
            begin.append(0), end.append(0), stride.append(1)
            if sum(masks["new"]) > 1:
                masks["new"][k] = 0
                begin.pop(), end.pop(), stride.pop()
            continue
        if kind < 0.2 and not seen:
            seen = True
            masks["ellipsis"][k] = 1
            begin.append(0), end.append(0), stride.append(1)
            at += draw.randint(0, len(shape) - at)
            rest = len(shape) - at
            # What stands behind an ellipsis counts from the end: all axes that are left.
            for extent in shape[len(shape) - rest :]:
                begin.append(0), end.append(extent), stride.append(1)
            at = len(shape)
            break
        extent = shape[at]
        if kind < 0.35 and extent:
            masks["shrink"][k] = 1
            begin.append(draw.randrange(-extent, extent)), end.append(extent), stride.append(1)
        else:
            step = draw.choice((1, 1, 1, 2, -1, -2, 3))
            begin.append(draw.randint(-extent - 1, extent + 1))
            end.append(draw.randint(-extent - 1, extent + 1))
            stride.append(step)
            masks["begin"][k] = draw.random() < 0.3
            masks["end"][k] = draw.random() < 0.3
        at += 1
        if draw.random() < 0.1:
            break
    n = len(begin)
    cut = {m: [int(b) for b in v[:n]] for m, v in masks.items()}
    dtype = draw.choice((np.float32, np.int32, np.int64))
    constant = (1, 2, 3) if draw.random() < 0.8 or any(cut["shrink"]) else (3,)
    return Layer(sets_of(draw, lambda: [values(draw, dtype, shape), i64(begin), i64(end),
                                      i64(stride)]),
                 lambda x, b, e, s: OPSETS[1].strided_slice(
                     x, b, e, s, cut["begin"], cut["end"], cut["new"], cut["shrink"],
                     cut["ellipsis"]),
                 constants=constant)  # fmt: skip


def slice8(draw: Draw) -> Layer:
    shape = draw.shape(1)
    axes = draw.sample(range(len(shape)), draw.randint(1, len(shape)))
    kind = draw.choice((np.int32, np.int64))
    bound = lambda a: draw.randint(-shape[a] - 2, shape[a] + 2)  # noqa: E731
    start = np.array([bound(a) for a in axes], kind)
    stop = np.array([draw.choice((bound(a), np.iinfo(kind).max, np.iinfo(kind).min)) for a in axes],
                    kind)  # fmt: skip
    step = np.array([draw.choice((1, 1, 2, -1, -2)) for _ in axes], kind)
    named = np.array([a - len(shape) if draw.random() < 0.3 else a for a in axes], kind)
    dtype = draw.choice(NUMBERS)
    return Layer(sets_of(draw, lambda: [values(draw, dtype, shape), start, stop, step, named]),
                 OPSETS[8].slice, constants=(1, 2, 3, 4) if draw.random() < 0.6 else (3, 4))  # fmt: skip


def gather(draw: Draw) -> Layer:
    since = draw.choice((1, 7, 8))
    shape = positive(draw, 1)
    axis = draw.axis(len(shape))
    at = axis % len(shape)
    batch = draw.randint(0, at) if since > 1 else 0
    indices = (*shape[:batch], *positive(draw, 0, 2))
    low = -shape[at] if since == 8 else 0
    pick = np.random.default_rng(draw.getrandbits(32))
    kind = draw.choice((np.int32, np.int64))
    dtype = draw.choice((*NUMBERS, np.bool_))

    def build(x: Any, i: Any, a: Any) -> Any:
        return OPSETS[1].gather(x, i, a) if since == 1 else OPSETS[since].gather(x, i, a, batch)

    return Layer(sets_of(draw, lambda: [values(draw, dtype, shape),
                                      pick.integers(low, shape[at], indices).astype(kind),
                                      np.array(axis, np.int64)]),
                 build, constants=(2,), name=f"gather{since}")  # fmt: skip


def gather_elements(draw: Draw) -> Layer:
    shape = positive(draw, 1)
    axis = draw.axis(len(shape))
    pick = np.random.default_rng(draw.getrandbits(32))
    wanted = list(shape)
    wanted[axis] = draw.randint(1, 4)
    return Layer(sets_of(draw, lambda: [values(draw, np.float32, shape),
                                      pick.integers(0, shape[axis], wanted).astype(np.int32)]),
                 lambda x, i: OPSETS[6].gather_elements(x, i, axis))  # fmt: skip


def gather_nd(draw: Draw) -> Layer:
    shape = positive(draw, 1)
    batch = draw.randint(0, len(shape) - 1)
    depth = draw.randint(1, len(shape) - batch)
    extents = shape[batch : batch + depth]
    lead = (*shape[:batch], *positive(draw, 0 if batch else 1, 2))
    pick = np.random.default_rng(draw.getrandbits(32))

    def make() -> list[Array]:
        places = [pick.integers(0, e, lead) for e in extents]
        return [values(draw, np.float32, shape), np.stack(places, -1).astype(np.int32)]

    since = draw.choice((5, 8))
    if since == 5 and batch > 1:
        since = 8
    return Layer(sets_of(draw, make), lambda x, i: OPSETS[since].gather_nd(x, i, batch),
                 name=f"gather_nd{since}")  # fmt: skip


def scatter(draw: Draw) -> Layer:
    shape = positive(draw, 1)
    axis = draw.axis(len(shape))
    at = axis % len(shape)
    pick = np.random.default_rng(draw.getrandbits(32))
    dtype = draw.choice((np.float32, np.int32))
    kind = draw.choice(("elements3", "elements12", "update", "nd", "nd15"))
    if kind.startswith("elements"):
        how = draw.choice(("none", "sum", "prod", "min", "max", "mean"))
        if kind == "elements3":
            how = "none"
        init = draw.random() < 0.6
        index_shape = [draw.randint(1, d) for d in shape]

        def elements() -> list[Array]:
            indices = np.stack([pick.permutation(shape[at])[: index_shape[at]]
                                for _ in range(int(np.prod(index_shape)) // index_shape[at])])  # fmt: skip
            indices = np.moveaxis(
                indices.reshape(*index_shape[:at], *index_shape[at + 1 :], index_shape[at]), -1, at
            )
            if how != "none":
                indices = pick.integers(-shape[at], shape[at], index_shape)
            return [values(draw, dtype, shape), indices.astype(np.int32),
                    values(draw, dtype, index_shape), np.array(axis, np.int32)]  # fmt: skip

        def build(x: Any, i: Any, u: Any, a: Any) -> Any:
            if kind == "elements3":
                return OPSETS[3].scatter_elements_update(x, i, u, a)
            return OPSETS[12].scatter_elements_update(x, i, u, a, how, init)

        return Layer(sets_of(draw, elements), build, constants=(3,), name=f"{kind} {how} {init}")
    if kind == "update":
        count = draw.randint(1, shape[at])
        updates = (*shape[:at], count, *shape[at + 1 :])
        return Layer(sets_of(draw, lambda: [
            values(draw, dtype, shape), pick.permutation(shape[at])[:count].astype(np.int32),
            values(draw, dtype, updates), np.array(axis, np.int32)]),
            OPSETS[3].scatter_update, constants=(3,))  # fmt: skip
    depth = draw.randint(1, len(shape))
    places = list(np.ndindex(*shape[:depth]))
    how = draw.choice(("none", "sum", "sub", "prod", "min", "max")) if kind == "nd15" else "none"
    count = draw.randint(1, len(places))

    def nd() -> list[Array]:
        chosen = draw.sample(places, count) if how == "none" else draw.choices(places, k=count)
        return [values(draw, dtype, shape), np.array(chosen, np.int32).reshape(count, depth),
                values(draw, dtype, (count, *shape[depth:]))]  # fmt: skip

    def build_nd(x: Any, i: Any, u: Any) -> Any:
        if kind == "nd":
            return OPSETS[4].scatter_nd_update(x, i, u)
        return OPSETS[15].scatter_nd_update(x, i, u, how)

    return Layer(sets_of(draw, nd), build_nd, name=f"scatter_{kind} {how}")


def joins(draw: Draw) -> Layer:
    """Concat, Split and VariadicSplit."""
    shape = draw.shape(1)
    rank = len(shape)
    dtype = draw.choice((*NUMBERS, np.bool_))
    kind = draw.choice(("concat", "split", "variadic"))
    if kind == "concat":
        axis = draw.axis(rank)
        other = list(shape)
        other[axis] = draw.randint(0, 3)
        return Layer(sets_of(draw, lambda: [values(draw, dtype, shape),
                                          values(draw, dtype, other)]),
                     lambda *v: OPSETS[1].concat(list(v), axis), name=kind)  # fmt: skip
    if kind == "split":
        parts = draw.randint(1, 3)
        axis = draw.axis(rank)
        whole = list(shape)
        whole[axis] = parts * draw.randint(1, 2)
        return Layer(sets_of(draw, lambda: [values(draw, dtype, whole)]),
                     lambda x: OPSETS[1].split(x, const(i64(axis)), parts), name=kind)  # fmt: skip
    axis = draw.axis(rank)
    parts = [draw.randint(0, 2) for _ in range(draw.randint(1, 3))]
    whole = list(shape)
    whole[axis] = sum(parts)
    if draw.random() < 0.4:
        parts[draw.randrange(len(parts))] = -1
    return Layer(sets_of(draw, lambda: [values(draw, dtype, whole)]),
                 lambda x: OPSETS[1].variadic_split(x, const(i64(axis)), const(i64(parts))),
                 name=kind)  # fmt: skip


def rearrange(draw: Draw) -> Layer:
    """Transpose, Reshape, Squeeze, Unsqueeze, Tile, Roll, Broadcast, Pad."""
    shape = draw.shape(1)
    rank = len(shape)
    dtype = draw.choice((*NUMBERS, np.bool_))
    one = lambda *more: sets_of(draw, lambda: [values(draw, dtype, shape), *more])  # noqa: E731
    kind = draw.choice(("transpose", "reshape", "squeeze", "unsqueeze", "tile", "roll",
                        "broadcast", "bidirectional", "explicit", "shape_of", "pad"))  # fmt: skip
    if kind == "transpose":
        order = draw.sample(range(rank), rank) if draw.random() < 0.8 else []
        return Layer(one(i64(order)), OPSETS[1].transpose, constants=(1,), name=kind)
    if kind == "reshape":
        total = int(np.prod(shape))
        target = draw.choice(([-1], [0, -1], [total], [1, -1, 1], list(shape), [*shape, 1]))
        if total == 0 and -1 in target:
            target = [0, 3]
        special = 0 in target and -1 in target
        return Layer(one(i64(target)), lambda x, s: OPSETS[1].reshape(x, s, special),
                     constants=(1,) if draw.random() < 0.5 else (), name=kind)  # fmt: skip
    if kind in ("squeeze", "unsqueeze"):
        if kind == "squeeze":
            shape = tuple(1 if draw.random() < 0.5 else d for d in shape)
            ones = [a for a, d in enumerate(shape) if d == 1]
            if not ones:
                return Layer(one(), lambda x: OPSETS[1].squeeze(x, const(i64([]))), name=kind)
            axes = draw.sample(ones, draw.randint(1, len(ones)))
            axes = [a - rank if draw.random() < 0.3 else a for a in axes]
        else:
            more = draw.randint(1, 2)
            axes = draw.sample(range(rank + more), more)
            axes = [a - rank - more if draw.random() < 0.3 else a for a in axes]
        return Layer(one(i64(axes)), getattr(OPSETS[1], kind), constants=(1,), name=kind)
    if kind == "tile":
        count = draw.randint(1, rank + 1)
        return Layer(one(i64([draw.randint(0 if draw.random() < 0.1 else 1, 3) for _ in range(count)])), OPSETS[1].tile,
                     constants=(1,) if draw.random() < 0.5 else (), name=kind)  # fmt: skip
    if kind == "roll":
        axes = [draw.axis(rank) for _ in range(draw.randint(1, 3))]
        shift = [draw.randint(-7, 7) for _ in axes]
        return Layer(one(i64(shift), i64(axes)), OPSETS[7].roll, constants=(1, 2), name=kind)
    if kind == "broadcast":
        shape = tuple(1 if draw.random() < 0.4 else d for d in shape)
        target = [draw.randint(1, 3) if d == 1 else d for d in shape]
        target = [*(draw.randint(1, 3) for _ in range(draw.randint(0, 2))), *target]
        return Layer(one(i64(target)), OPSETS[3].broadcast,
                     constants=(1,) if draw.random() < 0.5 else (), name=kind)  # fmt: skip
    if kind == "bidirectional":
        shape = tuple(1 if draw.random() < 0.4 else d for d in shape)
        target = [1 if draw.random() < 0.5 else d for d in shape][draw.randint(0, rank - 1) :]
        return Layer(one(i64(target)), lambda x, s: OPSETS[3].broadcast(
            x, s, broadcast_spec="BIDIRECTIONAL"),
            constants=(1,) if draw.random() < 0.5 else (), name=kind)  # fmt: skip
    if kind == "explicit":
        shape = positive(draw, 1, 2)
        rank = len(shape)
        wide = rank + draw.randint(0, 2)
        axes = sorted(draw.sample(range(wide), rank))
        since = draw.choice((1, 3))
        target = [draw.randint(1, 3) for _ in range(wide)]
        for a, d in zip(axes, shape, strict=True):
            target[a] = d
        return Layer(one(i64(target), i64(axes)), lambda x, s, a: OPSETS[since].broadcast(
            x, s, a, "EXPLICIT"), constants=(1, 2), name=kind)  # fmt: skip
    if kind == "shape_of":
        number = draw.choice(("i32", "i64"))
        return Layer(one(), lambda x: OPSETS[3].shape_of(x, number), name=kind)
    shape = tuple(max(d, 2) for d in shape)
    mode = draw.choice(("constant", "edge", "reflect", "symmetric"))
    since = draw.choice((1, 12))
    least = -1 if since == 12 and mode == "constant" else 0
    begin = [draw.randint(least, 1) for _ in shape]
    end = [draw.randint(least if b >= 0 else 0, 1) for b in begin]
    if dtype is np.bool_:
        dtype = np.float32
    value = dtype(2)
    return Layer(one(i64(begin), i64(end)), lambda x, b, e: OPSETS[since].pad(
        x, b, e, mode, const(value)), constants=(1, 2), name=f"pad {mode}")  # fmt: skip


def reverse_sequence(draw: Draw) -> Layer:
    shape = positive(draw, 2)
    batch, seq = draw.sample(range(len(shape)), 2)
    pick = np.random.default_rng(draw.getrandbits(32))
    return Layer(sets_of(draw, lambda: [
        values(draw, np.float32, shape),
        pick.integers(1, shape[seq] + 1, (shape[batch],)).astype(np.int32)]),
        lambda x, n: OPSETS[1].reverse_sequence(x, n, batch, seq))  # fmt: skip


def one_hot(draw: Draw) -> Layer:
    shape = draw.shape(0, 3)
    axis = draw.randint(-1, len(shape))
    depth = draw.randint(1, 4)
    since = draw.choice((1, 16))
    low = 0
    dtype = draw.choice((np.float32, np.int32, np.bool_))
    mode = draw.choice(("ignore_negative", "normalize"))
    if since == 16:
        low = -depth
    pick = np.random.default_rng(draw.getrandbits(32))
    kind = draw.choice((np.int32, np.int64))

    def build(i: Any) -> Any:
        more = [const(i64(depth)), const(dtype(1)), const(dtype(0)), axis]
        if since == 16:
            return OPSETS[16].one_hot(i, *more, mode)
        return OPSETS[1].one_hot(i, *more)

    return Layer(sets_of(draw, lambda: [pick.integers(low, depth + 1, shape).astype(kind)]), build,
                 name=f"one_hot{since}")  # fmt: skip


def blocks(draw: Draw) -> Layer:
    kind = draw.choice(("depth_to_space", "space_to_depth", "space_to_batch", "batch_to_space",
                        "shuffle_channels", "reorg_yolo"))  # fmt: skip
    n, c, h, w = (draw.randint(1, 3) for _ in range(4))
    b = draw.randint(1, 2)
    mode = draw.choice(("blocks_first", "depth_first"))
    of = lambda shape, *more: sets_of(draw, lambda: [values(draw, np.float32, shape), *more])  # noqa: E731
    if kind == "depth_to_space":
        spatial = draw.randint(1, 3)
        return Layer(of((n, c * b**spatial, *(h, w, 2)[:spatial])),
                     lambda x: OPSETS[1].depth_to_space(x, mode, b), name=kind)  # fmt: skip
    if kind == "space_to_depth":
        spatial = draw.randint(1, 3)
        return Layer(of((n, c, *(h * b, w * b, b)[:spatial])),
                     lambda x: OPSETS[1].space_to_depth(x, mode, b), name=kind)  # fmt: skip
    if kind == "space_to_batch":
        begin, end = i64([0, 0, draw.randint(0, 1), 0]), [0, 0, 0, draw.randint(0, 1)]
        block = i64([1, draw.randint(1, 2), b, draw.randint(1, 2)])
        height = h * b - int(begin[2])
        if height < 1:
            height += b
        return Layer(of((n, c * int(block[1]), height, w * int(block[3]) * 2 - end[3]), block,
                        begin, i64(end)),
                     OPSETS[2].space_to_batch, constants=(1, 2, 3), name=kind)  # fmt: skip
    if kind == "batch_to_space":
        block = i64([1, 1, b, draw.randint(1, 2)])
        return Layer(of((n * int(block.prod()), c, h + 1, w + 1), block,
                        i64([0, 0, draw.randint(0, 1), 0]), i64([0, 0, 0, draw.randint(0, 1)])),
                     OPSETS[2].batch_to_space, constants=(1, 2, 3), name=kind)  # fmt: skip
    if kind == "shuffle_channels":
        rank = draw.randint(1, 4)
        axis = draw.axis(rank)
        shape = [draw.randint(1, 3) for _ in range(rank)]
        group = draw.randint(1, 3)
        shape[axis] *= group
        return Layer(of(shape), lambda x: OPSETS[3].shuffle_channels(x, axis, group), name=kind)
    return Layer(of((n, c, h * b, w * b)), lambda x: OPSETS[2].reorg_yolo(x, [b]), name=kind)
