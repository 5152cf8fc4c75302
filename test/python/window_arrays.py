# ===- window_arrays.py - What NumPy makes of windows ---------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Windows over the axes of arrays: where they lie, what they read, sums, parts and borders."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

MOST_ELEMENTS = 30_000
MOST_PRODUCTS = 3_000_000


class WindowsError(Exception):
    """An error that a run must end with."""


class TooLargeError(Exception):
    """Extents that a set cannot have."""


@dataclasses.dataclass(frozen=True)
class Axis:
    """How windows lie along one axis."""

    kernel: int
    stride: int
    dilation: int
    before: int
    after: int
    out: int

    @property
    def reach(self) -> int:
        return (self.kernel - 1) * self.dilation + 1


@dataclasses.dataclass(frozen=True)
class Window:
    """The attributes of a window, one of each for each axis."""

    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    pads: tuple[int, ...]
    auto: str = "NOTSET"
    ceil: bool = False

    def attributes(self, *, has_kernel: bool = True) -> dict[str, Any]:
        made: dict[str, Any] = {"strides": self.strides, "dilations": self.dilations}
        if has_kernel:
            made["kernel_shape"] = self.kernel
        return made | ({"pads": self.pads} if self.auto == "NOTSET" else {"auto_pad": self.auto})

    def axes(self, extents: Sequence[int], kernel: Sequence[int] | None = None) -> list[Axis]:
        """How they lie over axes of such extents."""
        made = []
        for k, extent in enumerate(extents):
            size, stride, gap = (kernel or self.kernel)[k], self.strides[k], self.dilations[k]
            reach = (size - 1) * gap + 1
            before, after = self.pads[k], self.pads[k + len(extents)]
            if self.auto.startswith("SAME"):
                out = -(-extent // stride)
                total = max((out - 1) * stride + reach - extent, 0)
                before = total // 2 if self.auto == "SAME_UPPER" else total - total // 2
                after = total - before
            else:
                if self.auto == "VALID":
                    before = after = 0
                span = before + extent + after - reach + (stride - 1 if self.ceil else 0)
                if span < 0:
                    raise WindowsError(f"a window of {reach} over {extent} elements")
                out = span // stride + 1
                if self.ceil and (out - 1) * stride >= extent + before:
                    out -= 1
            made.append(Axis(size, stride, gap, before, after, out))
        return made


def windows(x: Array, axes: Sequence[Axis], filler: Any) -> Array:
    """[leading..., out..., kernel...]: what each window reads along the last axes."""
    lead = x.ndim - len(axes)
    if x.size * math.prod(a.kernel for a in axes) > MOST_PRODUCTS:
        raise TooLargeError
    for k, axis in enumerate(axes):
        at = lead + 2 * k
        extent = x.shape[at]
        behind = max(axis.after, (axis.out - 1) * axis.stride + axis.reach - axis.before - extent)
        pads = [(axis.before, behind) if k == at else (0, 0) for k in range(x.ndim)]
        x = np.pad(x, pads, constant_values=filler)
        places = np.arange(axis.out)[:, None] * axis.stride
        x = np.take(x, places + np.arange(axis.kernel)[None] * axis.dilation, axis=at)
    count = len(axes)
    order = [lead + 2 * k for k in range(count)] + [lead + 2 * k + 1 for k in range(count)]
    return x.transpose(*range(lead), *order)


def convolved(x: Array, w: Array, bias: Array | None, window: Window, group: int) -> Array:
    """Sums of products, in doubles."""
    count = x.ndim - 2
    if x.shape[1] != w.shape[1] * group or w.shape[0] % group:
        raise WindowsError("channels do not fit")
    seen = windows(x.astype(np.float64), window.axes(x.shape[2:], w.shape[2:]), 0)
    if seen.size * w.shape[0] > MOST_PRODUCTS:
        raise TooLargeError
    seen = seen.reshape(len(x), group, w.shape[1], *seen.shape[2:])
    weights = w.reshape(group, w.shape[0] // group, *w.shape[1:]).astype(np.float64)
    places, inner = "uvw"[:count], "abc"[:count]
    made: Array = np.einsum(f"ngk{places}{inner},gmk{inner}->ngm{places}", seen, weights)
    made = made.reshape(len(x), w.shape[0], *made.shape[3:])
    if bias is not None:
        made = made + bias.reshape(-1, *count * [1])
    return made.astype(x.dtype)


def spread(
    x: Array, w: Array, bias: Array | None, window: Window, group: int,
    extra: Sequence[int], shape: Sequence[int] | None,
) -> Array:  # fmt: skip
    """Each element adds the kernel, times itself: the transposed convolution."""
    count = x.ndim - 2
    if x.shape[1] != w.shape[0] or x.shape[1] % group:
        raise WindowsError("channels do not fit")
    full, cuts, outs = [], [], []
    for k, extent in enumerate(x.shape[2:]):
        reach = (w.shape[2 + k] - 1) * window.dilations[k] + 1
        length = (extent - 1) * window.strides[k] + reach + extra[k]
        before, after = window.pads[k], window.pads[k + count]
        if window.auto == "VALID":
            before = after = 0
        out = length - before - after
        if shape is not None or window.auto.startswith("SAME"):
            wanted = shape[k] if shape is not None else extent * window.strides[k]
            total = max(length - wanted, 0)
            half = total // 2
            before = half if window.auto == "SAME_UPPER" else total - half
            out = wanted if shape is not None else length - total
        if out < 0:
            raise WindowsError("a result of fewer elements than none")
        full.append(max(length, before + out, 0))
        cuts.append(before)
        outs.append(out)
    columns = w.shape[1]
    sums = np.zeros((len(x), group, columns, *full))
    if x.size * w.size > 20 * MOST_PRODUCTS or sums.size > MOST_ELEMENTS * 4:
        raise TooLargeError
    parts = x.reshape(len(x), group, x.shape[1] // group, *x.shape[2:]).astype(np.float64)
    weights = w.reshape(group, x.shape[1] // group, *w.shape[1:]).astype(np.float64)
    for place in np.ndindex(*w.shape[2:]) if x.size else ():
        at: list[Any] = [slice(p * d, p * d + (e - 1) * s + 1, s) for p, d, e, s in zip(
            place, window.dilations, x.shape[2:], window.strides, strict=True)]  # fmt: skip
        sums[tuple([..., *at])] += np.einsum(
            "ngc...,gcm->ngm...", parts, weights[(slice(None), slice(None), slice(None), *place)]
        )
    made = sums.reshape(len(x), group * columns, *full)
    kept: list[Any] = [slice(b, b + o) for b, o in zip(cuts, outs, strict=True)]
    made = made[tuple([..., *kept])]
    if bias is not None:
        made = made + bias.reshape(-1, *count * [1])
    return made.astype(x.dtype)


def sliced(x: Array, starts: Array, ends: Array, axes: Array, steps: Array) -> Array:
    for start, end, axis, step in zip(starts, ends, axes, steps, strict=True):
        extent = x.shape[axis]
        start, end = int(start), int(end)
        start += extent if start < 0 else 0
        end += extent if end < 0 else 0
        if step > 0:
            places = range(min(max(start, 0), extent), min(max(end, 0), extent), int(step))
        else:
            places = range(min(max(start, 0), extent - 1), min(max(end, -1), extent - 1), int(step))
        x = np.take(x, np.array(list(places) if extent else [], np.int64), axis=axis)
    return x


def padded(x: Array, before: Sequence[int], after: Sequence[int], mode: str, fill: float) -> Array:
    """Cuts away where pads are negative, then repeats what stays."""
    for axis, (front, back) in enumerate(zip(before, after, strict=True)):
        extent = x.shape[axis]
        if front + extent + back < 0:
            raise WindowsError("a padded axis of fewer elements than none")
    for axis, (front, back) in enumerate(zip(before, after, strict=True)):
        extent = x.shape[axis]
        begin = min(max(-front, 0), extent)
        count = max(extent - max(-front, 0) - max(-back, 0), 0)
        total = front + extent + back
        x = np.take(x, np.arange(begin, begin + count), axis=axis)
        lead = min(max(front, 0), max(total - count, 0))
        pads = [(lead, total - count - lead) if k == axis else (0, 0) for k in range(x.ndim)]
        if mode == "constant":
            x = np.pad(x, pads, constant_values=fill)
        elif count == 0 and total:
            raise WindowsError("nothing to pad with")
        elif count:
            x = np.pad(x, pads, mode=mode)  # type: ignore[call-overload]
    return x
