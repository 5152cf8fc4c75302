# ===- _layout.py - What axes stand for ---------------------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Layout, under OpenVINO's name."""

from __future__ import annotations

from loopc._arguments import string
from loopc._errors import InvalidArgument

_SCALAR = "**SCALAR**"


class Layout:
    """The names of axes: "NCHW", "[N,C,H,W]", "N...C" (any number between), "?C" (unnamed).

    Args:
        layout: the text; "" and "..." say nothing.

    Raises:
        InvalidArgument: it is no layout.
    """

    def __init__(self, layout: str = "") -> None:
        text = string("layout", layout).strip()
        self._names: list[str]
        if text == _SCALAR:
            self._names = []
            return
        if text in ("", "..."):
            self._names = ["..."]
            return
        if text.startswith("[") and text.endswith("]"):
            names = [one.strip() for one in text[1:-1].split(",")]
        else:
            first, dots, last = text.partition("...")
            names = [*first, *(["..."] if dots else []), *last]
        self._names = [one.upper() for one in names]
        for one in self._names:
            if not (one in ("?", "...") or one.replace("_", "a").isalnum()):
                raise InvalidArgument(f"layout: {layout!r} has an axis {one!r}")
            if one != "?" and self._names.count(one) > 1:
                raise InvalidArgument(f"layout: {layout!r} has the axis {one!r} twice")

    @staticmethod
    def scalar() -> Layout:
        """The layout of a value without axes."""
        return Layout(_SCALAR)

    @property
    def empty(self) -> bool:
        """Whether it says nothing."""
        return self._names == ["..."]

    def has_name(self, dimension_name: str) -> bool:
        """Whether an axis has the name."""
        return string("dimension_name", dimension_name).upper() in self._names

    def get_index_by_name(self, dimension_name: str) -> int:
        """The number of the axis; negative, from the end, where it stands behind "...".

        Raises:
            InvalidArgument: no axis has the name.
        """
        if not self.has_name(dimension_name):
            raise InvalidArgument(f"the layout {self} has no axis {dimension_name!r}")
        at = self._names.index(dimension_name.upper())
        return at - len(self._names) if "..." in self._names[:at] else at

    def _of_rank(self, rank: int | None) -> list[str]:
        """The names of the axes of a value of a rank.

        Raises:
            InvalidArgument: the value has another number of axes.
        """
        names = self._names
        if "..." in names and rank is not None:
            at = names.index("...")
            names = names[:at] + ["?"] * (rank - len(names) + 1) + names[at + 1 :]
        if "..." in names or (rank is not None and len(names) != rank):
            raise InvalidArgument(f"the layout {self} does not fit a value of rank {rank}")
        return names

    def to_string(self) -> str:
        """A text: "[N,C,H,W]"."""
        return str(self)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, str):
            try:
                other = Layout(other)
            except InvalidArgument:
                return False
        return self._names == other._names if isinstance(other, Layout) else NotImplemented

    def __hash__(self) -> int:
        return hash(str(self))

    def __str__(self) -> str:
        return "[" + ",".join(self._names) + "]" if self._names else _SCALAR

    def __repr__(self) -> str:
        return f"<Layout: {self}>"
