# ===- random_ir_windows.py - Random layers of products and images ----===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Products, windows, images, recurrences, look-ups and transforms of OpenVINO IR."""

from __future__ import annotations

from typing import Any

import numpy as np
from openvino_models import const, i64
from random_corners import Draw
from random_ir_base import (
    OPSETS,
    Array,
    Layer,
    positive,
    sets_of,
    values,
)  # fmt: skip

# ===- Products --------------------------------------------------------------===#


def matmul(draw: Draw) -> Layer:
    m, k, n = (draw.randint(1, 4) for _ in range(3))
    batch = draw.shape(0, 2)
    turn = (draw.random() < 0.4, draw.random() < 0.4)
    a: tuple[int, ...] = (k, m) if turn[0] else (m, k)
    b: tuple[int, ...] = (n, k) if turn[1] else (k, n)
    case = draw.random()
    if case < 0.15:
        a, turn = (k,), (draw.random() < 0.5, turn[1])
    elif case < 0.3:
        b, turn = (k,), (turn[0], draw.random() < 0.5)
    left = [d if draw.random() < 0.7 else 1 for d in batch]
    right = [d if draw.random() < 0.7 else 1 for d in batch][draw.randint(0, len(batch)) :]
    if len(a) == 2:
        a = (*left, *a)
    if len(b) == 2:
        b = (*right, *b)
    dtype = draw.choice((np.float32, np.float32, np.int32))
    return Layer(sets_of(draw, lambda: [values(draw, dtype, a), values(draw, dtype, b)]),
                 lambda x, y: OPSETS[1].matmul(x, y, *turn))  # fmt: skip


def einsum(draw: Draw) -> Layer:
    extents = {c: draw.randint(1, 3) for c in "abcdef"}
    terms = [
        "".join(draw.sample("abcde", draw.randint(1, 3))) for _ in range(draw.choice((1, 2, 2, 3)))
    ]
    if draw.random() < 0.3:
        terms[0] = "aa"
    labels = sorted(set("".join(terms)))
    out = "".join(draw.sample(labels, draw.randint(0, len(labels))))
    equation = ",".join(terms) + ("->" + out if draw.random() < 0.8 else "")
    return Layer(sets_of(draw, lambda: [
        values(draw, np.float32, [extents[c] for c in t]) for t in terms]),
        lambda *v: OPSETS[7].einsum(list(v), equation), tolerance=1e-4, name=f"einsum {equation}")  # fmt: skip


def attention(draw: Draw) -> Layer:
    lead = positive(draw, 1, 2)
    q, k, e, v = (draw.randint(1, 4) for _ in range(4))
    causal, masked = draw.random() < 0.5, draw.random() < 0.5

    def make() -> list[Array]:
        made = [values(draw, np.float32, (*lead, q, e)), values(draw, np.float32, (*lead, k, e)),
                values(draw, np.float32, (*lead, k, v))]  # fmt: skip
        if masked and not causal:
            made.append(values(draw, np.float32, (q, k)))
        return made

    def build(*v: Any) -> Any:
        return OPSETS[13].scaled_dot_product_attention(*v, causal=causal)

    return Layer(sets_of(draw, make), build, tolerance=1e-4)


def _window(draw: Draw, spatial: int) -> dict[str, Any]:
    return {
        "strides": [draw.randint(1, 2) for _ in range(spatial)],
        "pads_begin": [draw.randint(0, 1) for _ in range(spatial)],
        "pads_end": [draw.randint(0, 1) for _ in range(spatial)],
    }


def convolution(draw: Draw) -> Layer:
    spatial = draw.randint(1, 3)
    groups = draw.choice((0, 0, 1, 2, 3))
    each, out = draw.randint(1, 3), draw.randint(1, 3)
    dilations = [draw.randint(1, 2) for _ in range(spatial)]
    kernel = [draw.randint(1, 3) for _ in range(spatial)]
    extents = [(k - 1) * d + draw.randint(1, 4) for k, d in zip(kernel, dilations, strict=True)]
    x = (draw.randint(1, 2), each * max(groups, 1), *extents)
    w = (groups, out, each, *kernel) if groups else (out, each, *kernel)
    how = _window(draw, spatial)
    pad = draw.choice(("EXPLICIT", "EXPLICIT", "SAME_UPPER", "SAME_LOWER", "VALID"))
    name = "group_convolution" if groups else "convolution"
    return Layer(sets_of(draw, lambda: [values(draw, np.float32, x), values(draw, np.float32, w)]),
                 lambda x, w: getattr(OPSETS[1], name)(x, w, **how, dilations=dilations,
                                                       auto_pad=pad),
                 constants=(1,) if draw.random() < 0.6 else (), tolerance=1e-4, name=name)  # fmt: skip


def backprop(draw: Draw) -> Layer:
    spatial = draw.randint(1, 3)
    groups = draw.choice((0, 0, 1, 2))
    each, out = draw.randint(1, 3), draw.randint(1, 3)
    kernel = [draw.randint(1, 3) for _ in range(spatial)]
    dilations = [draw.randint(1, 2) for _ in range(spatial)]
    x = (draw.randint(1, 2), each * max(groups, 1), *(draw.randint(2, 4) for _ in range(spatial)))
    w = (groups, each, out, *kernel) if groups else (each, out, *kernel)
    how = _window(draw, spatial)
    extra = [draw.randint(0, s - 1) for s in how["strides"]]
    if any((k - 1) * d + 1 + e < b + p for k, d, e, b, p in zip(
        kernel, dilations, extra, how["pads_begin"], how["pads_end"], strict=True)):  # fmt: skip
        how["pads_begin"] = how["pads_end"] = [0] * spatial
    pad = draw.choice(("EXPLICIT", "EXPLICIT", "EXPLICIT", "SAME_UPPER", "SAME_LOWER", "VALID"))
    target = draw.random() < 0.3
    name = "group_convolution_backprop_data" if groups else "convolution_backprop_data"

    def build(x: Any, w: Any) -> Any:
        more = {}
        if target:
            more["output_shape"] = const(i64(shape))
        return getattr(OPSETS[1], name)(x, w, **how, dilations=dilations, output_padding=extra,
                                        auto_pad=pad, **more)  # fmt: skip

    shape = [(d - 1) * s + (k - 1) * m + 1 + draw.randint(0, s - 1) for d, s, k, m in zip(
        x[2:], how["strides"], kernel, dilations, strict=True)]  # fmt: skip
    return Layer(sets_of(draw, lambda: [values(draw, np.float32, x), values(draw, np.float32, w)]),
                 build, constants=(1,) if draw.random() < 0.6 else (), tolerance=1e-4, name=name)  # fmt: skip


def pooling(draw: Draw) -> Layer:
    spatial = draw.randint(1, 3)
    kernel = [draw.randint(1, 3) for _ in range(spatial)]
    x = (*positive(draw, 2, 2), *(k * 2 + draw.randint(0, 2) for k in kernel))
    how = _window(draw, spatial)
    # A mean of nothing is no number, or 0.
    how = {k: [min(p, (e - 1) // 2) if "pads" in k else min(p, e)
               for p, e in zip(v, kernel, strict=True)] for k, v in how.items()}  # fmt: skip
    pad = draw.choice(("explicit", "explicit", "same_upper", "same_lower", "valid"))
    rounding = draw.choice(("floor", "ceil"))
    kind = draw.choice(("avg1", "avg14", "avg16", "max1", "max8", "max14"))
    if kind in ("avg14", "max14", "avg16"):
        rounding = draw.choice((rounding, "ceil_torch"))
    exclude = draw.random() < 0.5
    dilations = [draw.randint(1, 2) for _ in range(spatial)]
    dtype = draw.choice((np.float32, np.float32, np.float16))
    since = int(kind[3:])

    def build(x: Any) -> Any:
        made = OPSETS[since]
        if kind.startswith("avg"):
            more = {"dilations": dilations} if since == 16 else {}
            return made.avg_pool(x, how["strides"], how["pads_begin"], how["pads_end"], kernel,
                                 exclude, rounding, pad, **more)  # fmt: skip
        if since == 1:
            return made.max_pool(x, how["strides"], how["pads_begin"], how["pads_end"], kernel,
                                 rounding, pad)  # fmt: skip
        return made.max_pool(x, how["strides"], dilations, how["pads_begin"], how["pads_end"],
                             kernel, rounding, pad, "i64", 0)  # fmt: skip

    return Layer(sets_of(draw, lambda: [values(draw, dtype, x)]), build,
                 tolerance=1e-2 if dtype is np.float16 else 1e-5, name=f"{kind} {pad} {rounding}")  # fmt: skip


def adaptive(draw: Draw) -> Layer:
    spatial = draw.randint(1, 3)
    x = (*positive(draw, 2, 2), *(draw.randint(1, 5) for _ in range(spatial)))
    target = i64([draw.randint(1, 4) for _ in range(spatial)])
    name = draw.choice(("adaptive_avg_pool", "adaptive_max_pool"))
    return Layer(sets_of(draw, lambda: [values(draw, np.float32, x), target]),
                 getattr(OPSETS[8], name), constants=(1,), name=name)  # fmt: skip


def patches(draw: Draw) -> Layer:
    size = [draw.randint(1, 2) for _ in range(2)]
    strides = [draw.randint(1, 3) for _ in range(2)]
    rates = [draw.randint(1, 2) for _ in range(2)]
    pad = draw.choice(("valid", "same_upper", "same_lower"))
    x = (draw.randint(1, 2), draw.randint(1, 2), *(draw.randint(3, 6) for _ in range(2)))
    return Layer(sets_of(draw, lambda: [values(draw, np.float32, x)]),
                 lambda x: OPSETS[3].extract_image_patches(x, size, strides, rates, pad))  # fmt: skip


def interpolate(draw: Draw) -> Layer:
    since = draw.choice((4, 11))
    mode = draw.choice(("nearest", "linear", "linear_onnx", "cubic"))
    if since == 11 and draw.random() < 0.3:
        mode = draw.choice(("bilinear_pillow", "bicubic_pillow"))
    h, w = draw.randint(1, 5), draw.randint(1, 5)
    x = (draw.randint(1, 2), draw.randint(1, 2), h, w)
    target = [draw.randint(1, 7), draw.randint(1, 7)]
    calc = draw.choice(("sizes", "scales"))
    coordinate = draw.choice(("half_pixel", "pytorch_half_pixel", "asymmetric",
                              "tf_half_pixel_for_nn", "align_corners"))  # fmt: skip
    nearest = draw.choice(("round_prefer_floor", "round_prefer_ceil", "floor", "ceil", "simple"))
    scales = np.array([t / d for t, d in zip(target, (h, w), strict=True)], np.float32)
    # What antialiasing gives in mode "linear" OpenVINO's engines do not agree on.
    antialias = mode != "linear" and draw.random() < 0.2
    if mode == "nearest" or target == [h, w]:
        calc = "sizes"  # quotients of f32 round to either side of a half
    cube = draw.choice((-0.75, -0.5))
    # Products that have a part behind the point. Of other modes OpenVINO's engines take the quotient
    # of the extents for the scale, its specification the scale that is given.
    if calc == "scales" and coordinate == "align_corners" and draw.random() < 0.5:
        scales *= np.float32(1.13)

    def build(x: Any) -> Any:
        keys = {"axes": const(i64([2, 3])), "coordinate_transformation_mode": coordinate, "nearest_mode": nearest,
                "antialias": antialias, "cube_coeff": cube}  # fmt: skip
        if since == 4:
            return OPSETS[10].interpolate(x, const(i64(target)), const(scales), mode, calc,
                                         **keys)  # fmt: skip
        return OPSETS[11].interpolate(x, const(i64(target)) if calc == "sizes" else const(scales),
                                      mode, calc, **keys)  # fmt: skip

    return Layer(sets_of(draw, lambda: [values(draw, np.float32, x)]), build, tolerance=1e-4,
                 name=f"interpolate{since} {mode} {calc} {coordinate} {nearest} {antialias}")  # fmt: skip


def grid_sample(draw: Draw) -> Layer:
    x = (draw.randint(1, 2), draw.randint(1, 2), draw.randint(1, 4), draw.randint(1, 4))
    grid = (x[0], draw.randint(1, 3), draw.randint(1, 3), 2)
    keys = {"align_corners": draw.random() < 0.5,
            "mode": draw.choice(("bilinear", "bicubic", "nearest")),
            "padding_mode": draw.choice(("zeros", "border", "reflection"))}  # fmt: skip
    pick = np.random.default_rng(draw.getrandbits(32))
    return Layer(sets_of(draw, lambda: [values(draw, np.float32, x),
                                      pick.uniform(-1.5, 1.5, grid).astype(np.float32)]),
                 lambda x, g: OPSETS[9].grid_sample(x, g, keys), tolerance=1e-4,
                 name=f"grid_sample {keys}")  # fmt: skip


def roi_align(draw: Draw) -> Layer:
    x = (draw.randint(1, 2), draw.randint(1, 2), draw.randint(3, 5), draw.randint(3, 5))
    rois = draw.randint(1, 3)
    pick = np.random.default_rng(draw.getrandbits(32))
    mode, aligned = (
        draw.choice(("avg", "max")),
        draw.choice(("asymmetric", "half_pixel_for_nn", "half_pixel")),
    )
    since = draw.choice((3, 9))
    ratio = draw.choice((0, 1, 2))

    def make() -> list[Array]:
        low = pick.uniform(0, 2, (rois, 2))
        return [values(draw, np.float32, x),
                np.concatenate([low, low + pick.uniform(0.5, 3, (rois, 2))], 1).astype(np.float32),
                pick.integers(0, x[0], (rois,)).astype(np.int32)]  # fmt: skip

    def build(x: Any, r: Any, b: Any) -> Any:
        more = (aligned,) if since == 9 else ()
        return OPSETS[since].roi_align(x, r, b, 2, 3, ratio, 0.8, mode, *more)

    return Layer(
        sets_of(draw, make),
        build,
        tolerance=1e-4,
        name=f"roi_align{since} {mode} {aligned} {ratio}",
    )


# ===- Recurrences, look-ups, transforms -------------------------------------===#


def recurrent(draw: Draw) -> Layer:
    kind = draw.choice(("lstm", "gru", "rnn"))
    gates = {"lstm": 4, "gru": 3, "rnn": 1}[kind]
    whole = draw.random() < 0.5
    b, t, i, h = draw.randint(1, 3), draw.randint(1, 4), draw.randint(1, 3), draw.randint(1, 3)
    direction = draw.choice(("forward", "reverse", "bidirectional")) if whole else "forward"
    d = 2 if direction == "bidirectional" else 1
    before = draw.random() < 0.5 if kind == "gru" else False
    pick = np.random.default_rng(draw.getrandbits(32))
    clip = draw.choice((0.0, 0.0, 0.4))
    normal = lambda *s: pick.normal(size=s).astype(np.float32)  # noqa: E731
    lead = (d,) if whole else ()
    bias = gates + (1 if before else 0)
    weights = [normal(*lead, gates * h, i), normal(*lead, gates * h, h), normal(*lead, bias * h)]
    choice = {"lstm": ["sigmoid", "tanh", "tanh"], "gru": ["sigmoid", "tanh"], "rnn": ["tanh"]}[
        kind
    ]
    if draw.random() < 0.3:
        choice = [draw.choice(("sigmoid", "tanh", "relu")) for _ in choice]
    if kind == "rnn" and whole and d == 2:
        pass

    def make() -> list[Array]:
        states = [normal(b, d, h) if whole else normal(b, h)]
        if kind == "lstm":
            states.append(normal(b, d, h) if whole else normal(b, h))
        made = [normal(b, t, i) if whole else normal(b, i), *states]
        if whole:
            made.append(pick.integers(1, t + 1, (b,)).astype(np.int32))
        return [*made, *weights]

    def build(*v: Any) -> Any:
        more = {"linear_before_reset": before} if kind == "gru" else {}
        if whole:
            made = getattr(OPSETS[5], f"{kind}_sequence")
            return made(*v, h, direction, activations=choice, activations_alpha=[],
                        activations_beta=[], clip=clip, **more)  # fmt: skip
        made = getattr(OPSETS[4 if kind == "lstm" else 3], f"{kind}_cell")
        return made(*v, h, choice, [], [], clip=clip, **more)

    first = 1 + (2 if kind == "lstm" else 1) + whole
    return Layer(sets_of(draw, make), build, constants=(first, first + 1, first + 2), tolerance=1e-4,
                 name=f"{kind} {'sequence' if whole else 'cell'} {direction} {choice} {clip}")  # fmt: skip


def embedding(draw: Draw) -> Layer:
    rows, width = draw.randint(1, 5), positive(draw, 1, 2)
    pick = np.random.default_rng(draw.getrandbits(32))
    n, bags = draw.randint(1, 6), draw.randint(1, 4)
    kind = draw.choice(("offsets", "offsets15", "packed", "packed15", "segments"))
    how = draw.choice(("sum", "mean"))
    weighted = draw.random() < 0.4 and how == "sum"
    default = draw.choice((None, 0, -1))

    def make() -> list[Array]:
        table = values(draw, np.float32, (rows, *width))
        if kind.startswith("packed"):
            made = [table, pick.integers(0, rows, (bags, n)).astype(np.int32)]
            return [*made, *([values(draw, np.float32, (bags, n))] if weighted else [])]
        indices = pick.integers(0, rows, (n,)).astype(np.int32)
        if kind == "segments":
            return [table, indices, np.sort(pick.integers(0, bags, (n,))).astype(np.int32)]
        offsets = np.sort(pick.integers(0, n + 1, (bags,))).astype(np.int32)
        offsets[0] = 0
        made = [table, indices, np.minimum(offsets, n - 1).astype(np.int32)]
        if weighted:
            made.append(values(draw, np.float32, (n,)))
        return made

    def build(*v: Any) -> Any:
        empty = None if default is None else const(np.int32(min(default, rows - 1)))
        if kind == "segments":
            return OPSETS[3].embedding_segments_sum(*v, const(np.int32(bags)), empty)
        if kind.startswith("packed"):
            if kind == "packed":
                return OPSETS[3].embedding_bag_packed_sum(*v)
            return OPSETS[15].embedding_bag_packed(*v, reduction=how)
        if weighted and empty is None:
            empty = const(np.int32(-1 if kind == "offsets15" else 0))
        args = [*v[:3], *([empty] if empty is not None else []), *v[3:]]
        if kind == "offsets":
            return OPSETS[3].embedding_bag_offsets_sum(*args)
        return OPSETS[15].embedding_bag_offsets(*args, reduction=how)

    return Layer(sets_of(draw, make), build, name=f"embedding {kind} {how} {default}")


def fourier(draw: Draw) -> Layer:
    kind = draw.choice(("dft", "idft", "rdft", "irdft"))
    shape = [max(d, 1) for d in draw.shape(1, 3)]
    rank = len(shape)
    axes = draw.sample(range(rank), draw.randint(1, rank))
    # Where that is longer than the signal, OpenVINO's runtime reads behind it.
    sizes = [draw.choice((-1, draw.randint(1, shape[k]))) for k in axes]
    has_size = draw.random() < 0.5
    since = 7 if kind in ("dft", "idft") else 9
    data = (*shape, 2) if kind != "rdft" else tuple(shape)

    def build(x: Any) -> Any:
        more = (const(i64(sizes)),) if has_size else ()
        return getattr(OPSETS[since], kind)(x, const(i64(axes)), *more)

    return Layer(sets_of(draw, lambda: [values(draw, np.float32, data)]), build, tolerance=1e-4,
                 name=kind)  # fmt: skip


def generators(draw: Draw) -> Layer:
    kind = draw.choice(("range", "eye", "col2im"))
    if kind == "range":
        dtype = draw.choice((np.int32, np.int64, np.float32))
        step = draw.choice((1, 2, -1))
        # Away from the end OpenVINO's runtime goes, too.
        return Layer(sets_of(draw, lambda: [dtype(first := draw.randint(-3, 3)),
                                          dtype(first + step * draw.randint(0, 4)), dtype(step)]),
                     lambda *v: OPSETS[4].range(*v, np.dtype(dtype).name), name=kind)  # fmt: skip
    if kind == "eye":
        diagonal, rows, columns = draw.randint(-1, 1), draw.randint(1, 4), draw.randint(1, 4)
        batch = i64([draw.randint(1, 2) for _ in range(draw.randint(0, 2))])
        return Layer(sets_of(draw, lambda: [i64(rows), i64(columns), i64(diagonal)]),
                     lambda r, c, d: OPSETS[9].eye(r, c, d, "f32", const(batch)),
                     constants=(0, 1, 2) if draw.random() < 0.5 else (2,), name=kind)  # fmt: skip
    size, kernel = [draw.randint(2, 5) for _ in range(2)], [draw.randint(1, 2) for _ in range(2)]
    strides, dilations = [draw.randint(1, 2) for _ in range(2)], [1, draw.randint(1, 1)]
    counts = [(s - d * (k - 1) - 1) // t + 1 for s, k, t, d in zip(
        size, kernel, strides, dilations, strict=True)]  # fmt: skip
    x = (*positive(draw, 0, 1), draw.randint(1, 2) * kernel[0] * kernel[1], counts[0] * counts[1])
    return Layer(sets_of(draw, lambda: [values(draw, np.float32, x)]),
                 lambda x: OPSETS[15].col2im(x, const(i64(size)), const(i64(kernel)), strides,
                                             dilations), name=kind)  # fmt: skip
