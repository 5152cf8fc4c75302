# ===- test_network_images.py - Layers of images and boxes -------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""LRN, GridSample and NMS of loopc.network, against numpy."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import loopc
import numpy as np
import pytest
from loopc import network as trt
from test_network_layers import Array, both, constant, noise, run


def test_lrn() -> None:
    x = noise(2, 7, 3, 2)
    got = both(lambda n, t: n.add_lrn(t, 3, 0.5, 0.75, 2.0), x)
    square = np.pad(x * x, ((0, 0), (1, 1), (0, 0), (0, 0)))
    sums = square[:, :-2] + square[:, 1:-1] + square[:, 2:]
    np.testing.assert_allclose(got, x / (2 + 0.5 / 3 * sums) ** 0.75, rtol=1e-5, atol=1e-6)


def sampled(x: Array, place: float, beyond: str) -> float:
    """A row of values at a place that lies between them."""

    def at(index: int) -> float:
        if beyond == "FILL" and not 0 <= index < len(x):
            return 0
        return float(x[min(max(index, 0), len(x) - 1)])

    low = math.floor(place)
    return at(low) * (low + 1 - place) + at(low + 1) * (place - low)


@pytest.mark.parametrize("align", [False, True])
@pytest.mark.parametrize("beyond", ["FILL", "CLAMP"])
def test_grid_sample(align: bool, beyond: str) -> None:
    """Of one row, so that places along the other axis are its middle."""
    x, grid = noise(1, 1, 1, 6), np.zeros((1, 1, 9, 2), np.float32)
    grid[0, 0, :, 0] = np.linspace(-1.3, 1.3, 9)

    def build(n: trt.INetworkDefinition, t: Any, g: Any) -> Any:
        layer = n.add_grid_sample(t, g)
        assert layer.interpolation_mode == trt.InterpolationMode.LINEAR
        layer.align_corners, layer.sample_mode = align, trt.SampleMode[beyond]
        return layer

    places = (grid[0, 0, :, 0] + 1) / 2 * 5 if align else ((grid[0, 0, :, 0] + 1) * 6 - 1) / 2
    want = [sampled(x[0, 0, 0], place, beyond) for place in places]
    np.testing.assert_allclose(both(build, x, grid)[0, 0, 0], want, rtol=1e-4, atol=1e-5)


def chosen_boxes(boxes: Array, scores: Array, most: int, overlap: float, least: float) -> list[Any]:
    """Batch, class and number of the boxes that no better one of their class overlaps."""

    def area(a: Array) -> float:
        return float((a[2] - a[0]) * (a[3] - a[1]))

    def share(a: Array, b: Array) -> float:
        sides = np.minimum(a[2:], b[2:]) - np.maximum(a[:2], b[:2])
        both_of = float(np.prod(np.maximum(sides, 0)))
        return both_of / (area(a) + area(b) - both_of)

    found = []
    for batch, one in itertools.product(range(len(boxes)), range(scores.shape[2])):
        own = boxes[batch, :, one % boxes.shape[2]]
        kept: list[int] = []
        for k in np.argsort(-scores[batch, :, one], kind="stable"):
            if len(kept) == most or scores[batch, k, one] <= least:
                break
            if all(share(own[k], own[other]) <= overlap for other in kept):
                kept.append(int(k))
        found += [[batch, one, k] for k in kept]
    return found


@pytest.mark.parametrize("centers", [False, True])
@pytest.mark.parametrize("form", ["shared", "shared of rank 4", "of each class"])
def test_nms(centers: bool, form: str) -> None:
    draw = np.random.default_rng(7)
    classes = 3 if form == "of each class" else 1
    corners = draw.random((2, 9, classes, 2)).astype(np.float32)
    sides = (0.2 + draw.random((2, 9, classes, 2)) / 2).astype(np.float32)
    boxes = np.concatenate([corners, corners + sides], -1)
    scores = draw.random((2, 9, 3)).astype(np.float32)
    given = np.concatenate([corners + sides / 2, sides], -1) if centers else boxes
    if form == "shared":
        given = given[:, :, 0]

    def build(n: trt.INetworkDefinition, b: Any, s: Any) -> Any:
        layer = n.add_nms(b, s, constant(n, 3, np.int32))
        layer.set_input(3, constant(n, 0.3, np.float32))
        layer.set_input(4, constant(n, 0.25, np.float32))
        if centers:
            layer.bounding_box_format = trt.BoundingBoxFormat.CENTER_SIZES
        return layer

    want = chosen_boxes(boxes, scores, 3, 0.3, 0.25)
    assert want
    for known in (True, False):
        found, count = run(build, given, scores, known=known)
        assert found.dtype == count.dtype == np.int32
        assert count == len(want)
        np.testing.assert_array_equal(found, want)
        found, count = run(build, given[:, :0], scores[:, :0], known=known)
        assert (found.shape, count) == ((0, 3), 0)


def test_images_and_boxes_refused() -> None:
    """What these layers do not have ends in an error that names the layer."""

    def compiled(build: Callable[[trt.INetworkDefinition], Any]) -> None:
        n = trt.create_network("refused")
        layer = build(n)
        layer.name = "it"
        n.mark_output(layer.get_output(0))
        loopc.InferenceSession(n)

    def image(n: trt.INetworkDefinition, *shape: int) -> trt.ITensor:
        return n.add_input(f"x{n.num_inputs}", trt.float32, shape)

    def grid(n: trt.INetworkDefinition) -> Any:
        layer = n.add_grid_sample(image(n, 1, 1, 4, 4), image(n, 1, 2, 2, 2))
        layer.sample_mode = trt.SampleMode.WRAP
        return layer

    count = np.int32
    for build, text in (
        (lambda n: n.add_lrn(image(n, 1, 4, 4), 4, 1.0, 1.0, 1.0),
         "LRN 'it': window_size is 4 but must be odd"),
        (lambda n: n.add_lrn(image(n, 1, 4), 3, 1.0, 1.0, 1.0),
         r"LRN 'it': 'x0' has rank 2 but must be \[N, C, spatial...\]"),
        (grid, "GridSample 'it': sample_mode must be FILL, CLAMP or REFLECT"),
        (lambda n: n.add_nms(image(n, 9, 4), image(n, 1, 9, 2), constant(n, 3, count)),
         r"NMS 'it': 'x0' has rank 2 but must be \[batch, boxes, 4\] or"),
        (lambda n: n.add_nms(image(n, 1, 9, 4), image(n, 1, 9), constant(n, 3, count)),
         r"NMS 'it': 'x1' has rank 2 but must be \[batch, boxes, classes\]"),
        (lambda n: n.add_nms(image(n, 1, 9, 4), image(n, 1, 9, 2), constant(n, [3], count)),
         "NMS 'it': the number of boxes .* must be INT32 or INT64 without dimensions"),
    ):  # fmt: skip
        with pytest.raises(loopc.CompileError, match=text):
            compiled(build)
