#!/usr/bin/env python3
# ===- unicode_tables.py - Tables of lib/Runtime/CPU/Unicode.cpp ---------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===--------------------------------------------------------------------===#
"""Prints lib/Runtime/CPU/UnicodeTables.inc: what Python's str.lower() and upper() do.

python utils/unicode_tables.py > lib/Runtime/CPU/UnicodeTables.inc
"""

from __future__ import annotations

import itertools
import sys
import unicodedata
from collections.abc import Callable, Iterator

POINTS = [p for p in range(0x80, sys.maxunicode + 1) if not 0xD800 <= p < 0xE000]


def _runs(mapping: dict[int, int]) -> Iterator[tuple[int, int, int, int]]:
    """(first, last, step, delta) of the runs of points with one delta and one step."""
    items = sorted(mapping.items())
    k = 0
    while k < len(items):
        point, target = items[k]
        best = (1, 1)
        for step in (1, 2):
            n = 1
            while k + n < len(items) and items[k + n] == (point + n * step, target + n * step):
                n += 1
            best = max(best, (n, -step))
        n, step = best[0], abs(best[1])
        yield point, point + (n - 1) * step, step, target - point
        k += n


def _ranges(holds: Callable[[int], bool]) -> Iterator[tuple[int, int]]:
    points = [p for p in POINTS if holds(p)]
    for _, group in itertools.groupby(enumerate(points), lambda pair: pair[1] - pair[0]):
        run = [p for _, p in group]
        yield run[0], run[-1]


def _is_cased(point: int) -> bool:
    """Whether a sigma behind the character is a final one."""
    return (chr(point) + "\u03a3").lower().endswith("\u03c2")


def _is_ignorable(point: int) -> bool:
    """Whether a sigma looks at what stands before the character."""
    if not ("A" + chr(point) + "\u03a3").lower().endswith("\u03c2"):
        return False
    return not _is_cased(point)


def _print_mapping(name: str, convert: Callable[[str], str]) -> None:
    simple, special = {}, {}
    for point in POINTS:
        target = convert(chr(point))
        if len(target) > 1:
            special[point] = target
        elif ord(target) != point:
            simple[point] = ord(target)
    print(f"static constexpr CaseRun k{name}Runs[] = {{")
    for first, last, step, delta in _runs(simple):
        print(f"    {{0x{first:x}, 0x{last:x}, {step}, {delta}}},")
    print(f"}};\nstatic constexpr CaseExpansion k{name}Expansions[] = {{")
    for point, target in special.items():
        units = [f"0x{ord(c):x}" for c in target] + ["0"] * (3 - len(target))
        print(f"    {{0x{point:x}, {{{', '.join(units)}}}}},")
    print("};")


def _print_ranges(name: str, holds: Callable[[int], bool]) -> None:
    print(f"static constexpr Range k{name}[] = {{")
    for first, last in _ranges(holds):
        print(f"    {{0x{first:x}, 0x{last:x}}},")
    print("};")


def main() -> None:
    """Prints the tables."""
    print("// Written by utils/unicode_tables.py; do not edit. Unicode "
          f"{unicodedata.unidata_version}.\n// clang-format off")  # fmt: skip
    _print_mapping("Lower", lambda c: "\u03c3" if c == "\u03a3" else c.lower())
    _print_mapping("Upper", str.upper)
    _print_ranges("Cased", _is_cased)
    _print_ranges("Ignorable", _is_ignorable)
    _print_ranges("Space", lambda p: chr(p).isspace())
    print("// clang-format on")


if __name__ == "__main__":
    main()
