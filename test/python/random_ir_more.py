# ===- random_ir_more.py - Random layers of other element types, and of detection ---===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Layers of OpenVINO IR over integers of every width, and what few models have.

Decoders of sequences, non-maximum suppression, frames of video, regions, resizing along any axes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from openvino_models import const, f32, i64
from random_corners import Draw
from random_ir_base import OPSETS, Array, Layer, positive, sets_of, some_axes, values

KINDS = (np.int8, np.uint8, np.int16, np.uint16, np.uint32, np.uint64, np.int32, np.int64,
         np.float64, np.float16)  # fmt: skip
#: Of two operands; what divides or wraps around is left to other layers.
BINARY = ("add", "multiply", "maximum", "minimum", "equal", "not_equal", "less", "greater",
          "less_equal", "greater_equal", "mod", "floor_mod", "divide")  # fmt: skip
WIDER = tuple(kind for kind in KINDS if np.dtype(kind).itemsize > 2)
#: The opset of each reduction, and its types.
REDUCTIONS = {
    "reduce_sum": (1, KINDS), "reduce_max": (1, KINDS), "reduce_min": (1, KINDS),
    "reduce_mean": (1, WIDER), "reduce_prod": (1, WIDER), "reduce_l1": (4, WIDER),
    "reduce_l2": (4, WIDER),
}  # fmt: skip


def typed_binary(draw: Draw) -> Layer:
    """Broadcast both ways, an extent of 0 now and then."""
    name, dtype = draw.choice(BINARY), draw.choice(KINDS)
    shape = draw.shape(0, 4)
    other = [1 if draw.random() < 0.3 else d for d in shape][draw.randint(0, len(shape)) :]
    shape = tuple(1 if k >= len(shape) - len(other) and other[k - len(shape)] != 1
                  and draw.random() < 0.3 else d for k, d in enumerate(shape))  # fmt: skip
    divides = name in ("mod", "floor_mod", "divide")

    def make() -> list[Array]:
        a, b = values(draw, dtype, shape), values(draw, dtype, other)
        if divides:
            a, b = np.abs(a), np.asarray(np.where(b <= 0, dtype(2), np.abs(b)), dtype)
        return [a, b]

    return Layer(sets_of(draw, make), getattr(OPSETS[1], name), name=f"{name} {np.dtype(dtype)}")


def typed_reduction(draw: Draw) -> Layer:
    name = draw.choice(list(REDUCTIONS))
    since, kinds = REDUCTIONS[name]
    dtype = draw.choice(kinds)
    shape = positive(draw, 1, 4)
    axes, keep = some_axes(draw, len(shape)), draw.random() < 0.5
    return Layer(sets_of(draw, lambda: [np.abs(values(draw, dtype, shape))]),
                 lambda x: getattr(OPSETS[since], name)(x, const(axes), keep),
                 name=f"{name} {np.dtype(dtype)}", tolerance=1e-4)  # fmt: skip


def typed_movement(draw: Draw) -> Layer:
    """Gather, Concat, Transpose, Tile, Pad and Slice of every type, of extents that may be 0."""
    dtype, kind = draw.choice((*KINDS, bool)), draw.choice(("gather", "concat", "transpose", "tile",
                                                           "pad", "slice"))  # fmt: skip
    shape = draw.shape(1, 4)
    axis = draw.axis(len(shape))
    of = sets_of(draw, lambda: [values(draw, dtype, shape)])
    name = f"{kind} {np.dtype(dtype)}"
    if kind == "gather":
        extent = shape[axis]
        if not extent:
            return typed_movement(draw)
        places = i64([draw.randrange(-extent, extent) for _ in range(draw.randint(0, 3))])
        return Layer(of, lambda x: OPSETS[8].gather(x, const(places), const(i64(axis))), name=name)
    if kind == "concat":
        return Layer(of, lambda x: OPSETS[1].concat([x, x], axis), name=name)
    if kind == "transpose":
        order = draw.sample(range(len(shape)), len(shape))
        return Layer(of, lambda x: OPSETS[1].transpose(x, const(i64(order))), name=name)
    if kind == "tile":
        counts = [draw.randint(1, 2) for _ in range(len(shape) + draw.randint(0, 1))]
        return Layer(of, lambda x: OPSETS[1].tile(x, const(i64(counts))), name=name)
    if kind == "pad":
        begin = [draw.choice((0, 1, 2, -1)) if d > 1 else 0 for d in shape]
        end = [draw.choice((0, 1, -1)) if d > 2 else 0 for d in shape]
        mode = draw.choice(("constant", "edge")) if 0 not in shape else "constant"
        return Layer(of, lambda x: OPSETS[12].pad(x, const(i64(begin)), const(i64(end)), mode),
                     name=f"{name} {mode} {begin} {end}")  # fmt: skip
    numbers = [draw.choice((0, 1, -1, 2, -2, 9, -9)) for _ in range(2)]
    step = draw.choice((1, 2, -1, -2))
    return Layer(of, lambda x: OPSETS[8].slice(x, *(const(i64([n])) for n in (*numbers, step)),
                                               const(i64([axis]))), name=name)  # fmt: skip


def interpolate_any(draw: Draw) -> Layer:
    """Along any axes, with pads."""
    rank = draw.randint(2, 5)
    axes = sorted(draw.sample(range(rank), draw.randint(1, min(rank, 3))))
    shape = tuple(draw.randint(1, 4) for _ in range(rank))
    mode = "nearest" if axes[0] < rank - len(axes) or draw.random() < 0.5 else "linear_onnx"
    target = [draw.randint(1, 6) for _ in axes]
    coordinate = draw.choice(("half_pixel", "pytorch_half_pixel", "asymmetric",
                              "tf_half_pixel_for_nn", "align_corners"))  # fmt: skip
    nearest = draw.choice(("round_prefer_floor", "round_prefer_ceil", "floor", "ceil", "simple"))
    begin, end = [0] * rank, [0] * rank
    if draw.random() < 0.3:
        at = draw.choice(axes)
        begin[at], end[at] = draw.randint(0, 2), draw.randint(0, 1)

    def build(x: Any) -> Any:
        keys = {"axes": const(i64(axes)), "coordinate_transformation_mode": coordinate,
                "nearest_mode": nearest, "pads_begin": begin, "pads_end": end}  # fmt: skip
        return OPSETS[11].interpolate(x, const(i64(target)), mode, "sizes", **keys)

    return Layer(sets_of(draw, lambda: [values(draw, np.float32, shape, odd=False)]), build,
                 tolerance=1e-4, name=f"interpolate any {mode} {axes} {coordinate} {nearest} "
                 f"{shape} {target} {begin} {end}")  # fmt: skip


def boxes(draw: Draw) -> Layer:
    """Non-maximum suppression: places, scores and how many, padded with -1 by version 9."""
    b, n, c = draw.randint(1, 2), draw.randint(1, 6), draw.randint(1, 3)
    pick = np.random.default_rng(draw.getrandbits(32))
    most = draw.choice((1, 2, n))
    # No overlap is a threshold: engines do not agree on what is equal.
    iou, score = draw.choice((0.013, 0.31, 0.53, 0.97)), draw.choice((0.0, 0.2, 0.6))
    encoding = draw.choice(("corner", "center"))
    descending, kind = draw.random() < 0.5, draw.choice(("i32", "i64"))
    since = draw.choice((5, 9))

    def make() -> list[Array]:
        low = pick.integers(0, 6, (b, n, 2))
        made = np.concatenate([low, low + pick.integers(1, 5, (b, n, 2))], -1)
        if encoding == "center":
            made[..., 2:] = pick.integers(1, 5, (b, n, 2))
        # No two scores are equal, and none is a threshold.
        scores = pick.permutation(b * n * c).reshape(b, c, n) / (b * n * c) + 0.01
        return [f32(made), f32(scores)]

    def build(x: Any, s: Any) -> Any:
        return OPSETS[since].non_max_suppression(
            x, s, const(i64(most)), const(f32(iou)), const(f32(score)), box_encoding=encoding,
            sort_result_descending=descending, output_type=kind)  # fmt: skip

    return Layer(sets_of(draw, make), build,
                 name=f"nms{since} {encoding} {most} {iou} {score} {descending}")  # fmt: skip


def decoder(draw: Draw) -> Layer:
    """The best class of each step, without repetitions and blanks."""
    t, n, c = draw.randint(1, 6), draw.randint(1, 3), draw.randint(2, 4)
    pick = np.random.default_rng(draw.getrandbits(32))
    merges = draw.random() < 0.5
    lengths = lambda: pick.integers(1, t + 1, n)  # noqa: E731
    if draw.random() < 0.5:
        mask = lambda: f32(np.arange(t)[:, None] < lengths()[None])  # noqa: E731
        return Layer(sets_of(draw, lambda: [f32(pick.permutation(t * n * c).reshape(t, n, c)), mask()]),
                     lambda x, m: OPSETS[1].ctc_greedy_decoder(x, m, merges), name="ctc")  # fmt: skip
    kind, blank = draw.choice(("i32", "i64")), draw.choice((None, 0, c - 1))

    def build(x: Any, s: Any) -> Any:
        more = [] if blank is None else [const(np.int32(blank))]
        return OPSETS[6].ctc_greedy_decoder_seq_len(x, s, *more, merge_repeated=merges,
                                                    classes_index_type=kind,
                                                    sequence_length_type=kind)  # fmt: skip

    return Layer(sets_of(draw, lambda: [f32(pick.permutation(t * n * c).reshape(n, t, c)),
                                        np.int32(lengths())]), build, name=f"ctc {blank}")  # fmt: skip


def video(draw: Draw) -> Layer:
    """Frames of one tensor, or of a tensor for each plane."""
    kind, colours = draw.choice(("nv12", "i420")), draw.choice(("rgb", "bgr"))
    n, h, w = draw.randint(1, 2), 2 * draw.randint(1, 2), 2 * draw.randint(1, 3)
    pick = np.random.default_rng(draw.getrandbits(32))
    dtype = draw.choice((np.uint8, np.float32))
    make = getattr(OPSETS[8], f"{kind}_to_{colours}")
    planes = [(n, h * 3 // 2, w, 1)]
    if draw.random() < 0.5:
        chroma = [(n, h // 2, w // 2, 2)] if kind == "nv12" else [(n, h // 2, w // 2, 1)] * 2
        planes = [(n, h, w, 1), *chroma]
    return Layer(sets_of(draw, lambda: [pick.integers(0, 256, p).astype(dtype) for p in planes]),
                 make, tolerance=1e-4 if dtype is np.float32 else 1, name=f"{kind} {colours} {len(planes)}")  # fmt: skip


def regions(draw: Draw) -> Layer:
    softmax = draw.random() < 0.5
    count, classes = draw.randint(1, 2), draw.randint(1, 3)
    h, w = draw.randint(1, 3), draw.randint(1, 3)
    shape = (draw.randint(1, 2), count * (classes + 5), h, w)
    mask = list(range(count))
    axis = 1 if softmax else draw.choice((0, 1))
    return Layer(sets_of(draw, lambda: [values(draw, np.float32, shape)]),
                 lambda x: OPSETS[1].region_yolo(x, 4, classes, count, softmax, mask, axis, 3,
                                                 [1.0, 2.0] * count), tolerance=1e-4,
                 name=f"region_yolo {softmax} {axis}")  # fmt: skip


def narrow_floats(draw: Draw) -> Layer:
    """FakeConvert of numbers that f16 has, through which OpenVINO rounds."""
    shape, kind = positive(draw, 1, 3), draw.choice(("f8e4m3", "f8e5m2"))
    scale = f32(draw.choice((1.0, 0.5, 4.0)))
    shift = f32(draw.choice((0.0, 1.0)))
    more = [const(shift)] if draw.random() < 0.5 else []
    return Layer(sets_of(draw, lambda: [(values(draw, np.float16, shape, odd=False) * np.float16(30))
                                        .astype(np.float32)]),
                 lambda x: OPSETS[13].fake_convert(x, const(scale), *more, destination_type=kind),
                 name=f"fake_convert {kind}")  # fmt: skip


def old_cell(draw: Draw) -> Layer:
    """The LSTM cell of opset 1, which has more ports, and Identity, which has one."""
    if draw.random() < 0.3:
        shape = draw.shape()
        return Layer(sets_of(draw, lambda: [values(draw, np.float32, shape)]),
                     OPSETS[16].identity, name="identity")  # fmt: skip
    b, i, h = draw.randint(1, 3), draw.randint(1, 3), draw.randint(1, 3)
    pick = np.random.default_rng(draw.getrandbits(32))
    normal = lambda *s: pick.normal(size=s).astype(np.float32)  # noqa: E731
    weights = [normal(4 * h, i), normal(4 * h, h), normal(4 * h)]
    clip = draw.choice((0.0, 0.4))
    return Layer(sets_of(draw, lambda: [normal(b, i), normal(b, h), normal(b, h), *weights]),
                 lambda *v: OPSETS[1].lstm_cell(*v, h, clip=clip), constants=(3, 4, 5),
                 tolerance=1e-4, name="lstm_cell1")  # fmt: skip


def resized_by_version_1(draw: Draw) -> Layer:
    """Along the last axes, with corners that stay or not."""
    shape = (1, draw.randint(1, 2), draw.randint(1, 4), draw.randint(1, 4))
    target = [draw.randint(1, 6), draw.randint(1, 6)]
    mode, aligns = draw.choice(("nearest", "linear")), draw.random() < 0.5
    keys = {"axes": np.array([2, 3]), "mode": mode, "align_corners": aligns, "antialias": False,
            "pads_begin": np.array([0]), "pads_end": np.array([0])}  # fmt: skip
    return Layer(sets_of(draw, lambda: [values(draw, np.float32, shape, odd=False)]),
                 lambda x: OPSETS[1].interpolate(x, const(i64(target)), keys), tolerance=1e-4,
                 name=f"interpolate1 {mode} {aligns} {shape} {target}")  # fmt: skip
