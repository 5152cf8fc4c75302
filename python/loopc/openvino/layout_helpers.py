# ===- layout_helpers.py - Axes by what they stand for ------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Functions of layouts, under OpenVINO's names."""

from __future__ import annotations

from loopc.openvino._layout import Layout
from loopc.openvino._ports import Output


def has_batch(layout: Layout) -> bool:
    """Whether there is an axis N."""
    return layout.has_name("N")


def batch_idx(layout: Layout) -> int:
    """The number of axis N."""
    return layout.get_index_by_name("N")


def has_channels(layout: Layout) -> bool:
    """Whether there is an axis C."""
    return layout.has_name("C")


def channels_idx(layout: Layout) -> int:
    """The number of axis C."""
    return layout.get_index_by_name("C")


def has_depth(layout: Layout) -> bool:
    """Whether there is an axis D."""
    return layout.has_name("D")


def depth_idx(layout: Layout) -> int:
    """The number of axis D."""
    return layout.get_index_by_name("D")


def has_height(layout: Layout) -> bool:
    """Whether there is an axis H."""
    return layout.has_name("H")


def height_idx(layout: Layout) -> int:
    """The number of axis H."""
    return layout.get_index_by_name("H")


def has_width(layout: Layout) -> bool:
    """Whether there is an axis W."""
    return layout.has_name("W")


def width_idx(layout: Layout) -> int:
    """The number of axis W."""
    return layout.get_index_by_name("W")


def get_layout(output: Output) -> Layout:
    """The layout of an input or output; an empty one where nobody has set it."""
    return output.node.layout


def set_layout(output: Output, layout: Layout | str) -> None:
    """Sets the layout of an input or output of a model that is not compiled."""
    output.node.layout = layout
