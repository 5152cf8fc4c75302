# ===- odd_numbers.py - Infinities, NaN, zeros and subnormals in expressions ---===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Runs random expressions over numbers of every kind, alone and in loops, beside NumPy.

    odd_numbers.py --seeds 0:1000
    odd_numbers.py --seeds 77:78 --keep /tmp    writes what differs, as numbers-77.onnx and its inputs

What is compared is what docs/Numerics.md promises: which elements are NaN, infinite or zero, with
which sign, and the bits of what no sum and no function rounds. NumPy computes each model in several
ways that the page allows (sums in other orders, functions some units in the last place off, either
of two zeros as the maximum); elements that these do not agree on may be anything between them.
Sessions run with several sets of extents, at all levels, with one to three threads; models are
declared static, open and partly open. A line is printed for each failure. Exit status: 0; 1 with a
failure; 2 wrong usage.
"""

from __future__ import annotations

import argparse
import collections
import pathlib
import sys
from collections.abc import Sequence

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "python"))

import compiling
import engines
import numpy as np
from number_steps import Array
from random_numbers import NumberModel
from random_reports import run_seeds
from windows import run_sets


def _kinds(x: Array) -> Array:
    """0 for a number, else which one it is: NaN, an infinity or a zero of either sign."""
    signs = np.where(np.signbit(x), -1, 1)
    return np.select([np.isnan(x), np.isinf(x), x == 0], [np.full(x.shape, 9), 2 * signs, signs], 0)


def difference(
    got: Array | None, wants: Sequence[Array | None], count: collections.Counter[str]
) -> str:
    """What is wrong with an output, of which there are several right ones; empty if nothing is."""
    want = wants[0]
    if want is None or got is None:
        return "" if got is None or got.size == 0 else f"{got.size} elements, expected none"
    if got.shape != want.shape or got.dtype != want.dtype:
        return f"{got.dtype}{list(got.shape)}, expected {want.dtype}{list(want.shape)}"
    ways = np.stack([np.asarray(other) for other in wants])
    kinds = np.stack([_kinds(other) for other in ways])
    is_agreed = (kinds == kinds[0]).all(axis=0)
    with np.errstate(all="ignore"):
        exact = ways.astype(np.longdouble)
        low, high = exact.min(axis=0), exact.max(axis=0)
        limits = np.finfo(got.dtype)
        around = 256 * float(limits.eps) * np.abs(exact[0]) + 8 * float(limits.smallest_subnormal)
        around += 16 * (high - low)
        is_near = np.abs(got.astype(np.longdouble) - exact[0]) <= around
    bad = is_agreed & (_kinds(got) != kinds[0]) & ~(is_near & (low != high))
    is_number = is_agreed & (kinds[0] == 0)
    bad |= is_number & np.where(low == high, got != want, ~is_near)
    count["elements"] += int(is_agreed.sum())
    count["open elements"] += int((~is_agreed).sum())
    if not bad.any():
        return ""
    at = tuple(int(k) for k in np.argwhere(bad)[0])
    return f"{int(bad.sum())} of {got.size} differ, the first at {list(at)}: {got[at]!r}, expected {want[at]!r}"


def _differences(
    got: Sequence[Array | None],
    ways: Sequence[Sequence[Array | None]],
    count: collections.Counter[str],
) -> str:
    for k, output in enumerate(got):
        if text := difference(output, [way[k] for way in ways], count):
            return f"output {k}: {text}"
    return ""


def problems(made: NumberModel, count: collections.Counter[str]) -> list[str]:
    """What is wrong with the runs of a model in all its forms."""
    found = []
    ways = [made.computed(feeds) for feeds in made.sets]
    for form, content, numbers in made.forms():
        level, threads, checks = setting = made.setting(form)
        where = f"{form}, -O{level}, {threads} threads{', checked' if checks else ''}"
        outcome = engines.worker(run_sets).ask((content, [made.sets[k] for k in numbers], setting))
        if outcome.values is None:
            found.append(f"{where}: {outcome.error}")
            continue
        for number, got in zip(numbers, outcome.values, strict=True):
            count["runs"] += 1
            if isinstance(got, str):
                found.append(f"{where}, set {number}: {got}")
                continue
            text = _differences(got, ways[number], count)
            if text and _differences(got, made.computed(made.sets[number], is_check=True), count):
                found.append(f"{where}, set {number}, {text}")
    return found


def main(argv: Sequence[str] | None = None) -> int:
    """Runs what the command line asks for and returns the exit status."""
    assert __doc__
    compiling.set_environment()
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=compiling.seed_range, required=True, metavar="A:B",
                        help="models A to B - 1")  # fmt: skip
    parser.add_argument("--keep", type=pathlib.Path, metavar="FOLDER", help="for what differs")
    options = parser.parse_args(argv)
    return run_seeds(options.seeds, NumberModel, problems, options.keep, "numbers")


if __name__ == "__main__":
    sys.exit(main())
