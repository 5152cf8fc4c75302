# ===- _colors.py - The meaning of an image's channels ---------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Formats of colours, and what a program gives for an image of each."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from loopc._errors import InvalidArgument

Extents = list[int | None]


class ColorFormat(Enum):
    """The meaning of an image's channels."""

    UNDEFINED = 0
    NV12_SINGLE_PLANE = 1
    NV12_TWO_PLANES = 2
    I420_SINGLE_PLANE = 3
    I420_THREE_PLANES = 4
    RGB = 5
    BGR = 6
    GRAY = 7
    RGBX = 8
    BGRX = 9


class Planes(NamedTuple):
    """A format of video: colours of half the height and width of the luma, as [N, H, W, C].

    Attributes:
        kind: NV12 or I420.
        tensors: how many tensors a program gives.
    """

    kind: str
    tensors: int

    def shapes(self, batch: int | None, height: int | None, width: int | None) -> list[Extents]:
        """The shape of each tensor for an image of that height and width.

        Raises:
            InvalidArgument: one of them is odd.
        """
        for extent in (height, width):
            if extent is not None and extent % 2:
                raise InvalidArgument(f"{self.kind}: height and width are even, got {extent}")
        if self.tensors == 1:
            return [[batch, None if height is None else height * 3 // 2, width, 1]]
        half = [None if extent is None else extent // 2 for extent in (height, width)]
        luma: Extents = [batch, height, width, 1]
        colours: list[Extents] = [[batch, *half, 4 - self.tensors] for _ in range(self.tensors - 1)]
        return [luma, *colours]

    def height(self, rows: int | None) -> int | None:
        """The height of an image whose first tensor has so many rows."""
        return rows if rows is None or self.tensors > 1 else rows * 2 // 3


#: The formats of video.
PLANES = {
    ColorFormat.NV12_SINGLE_PLANE: Planes("NV12", 1),
    ColorFormat.NV12_TWO_PLANES: Planes("NV12", 2),
    ColorFormat.I420_SINGLE_PLANE: Planes("I420", 1),
    ColorFormat.I420_THREE_PLANES: Planes("I420", 3),
}
#: Which channels of other formats are red, green and blue.
CHANNELS = {
    ColorFormat.RGB: [0, 1, 2],
    ColorFormat.BGR: [2, 1, 0],
    ColorFormat.RGBX: [0, 1, 2],
    ColorFormat.BGRX: [2, 1, 0],
}
#: How many channels there are.
COUNTS = {
    ColorFormat.RGB: 3,
    ColorFormat.BGR: 3,
    ColorFormat.RGBX: 4,
    ColorFormat.BGRX: 4,
    ColorFormat.GRAY: 1,
}
#: What red, green and blue are of a grey image (ITU-R BT.601).
LUMA = [0.299, 0.587, 0.114]
