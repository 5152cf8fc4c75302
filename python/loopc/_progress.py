# ===- _progress.py - Signs of life ------------------------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""A line that shows how far a compilation is."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

from loopc._arguments import flag
from loopc._options import Progress

#: Seconds that nobody wonders about.
_PATIENCE = 1.0


class _Line:
    """A line of a terminal that is written again and again."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._shown = ""

    def __call__(self, phase: str, fraction: float, seconds: float) -> None:
        if seconds < _PATIENCE:
            return
        text = f"loopc: {phase}, {fraction:.0%}, {seconds:.0f} s"
        if text != self._shown:
            self._stream.write(f"\r{text.ljust(len(self._shown))}")
            self._stream.flush()
            self._shown = text

    def clear(self) -> None:
        if self._shown:
            self._stream.write(f"\r{' ' * len(self._shown)}\r")
            self._stream.flush()


@contextmanager
def shown(progress: Progress | bool | None) -> Iterator[Progress | None]:
    """What a compilation is to call, for `SessionOptions.progress`."""
    if callable(progress):
        yield progress
        return
    stream = sys.stderr
    # There may be none, and anything may stand in its place.
    is_terminal = stream is not None and getattr(stream, "isatty", lambda: False)()
    if stream is None or not (is_terminal if progress is None else flag("progress", progress)):
        yield None
        return
    line = _Line(stream)
    try:
        yield line
    finally:
        line.clear()
