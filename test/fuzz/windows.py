# ===- windows.py - Windows of any kind over any extents -----------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Runs random windows over axes of open extents, by themselves and in loops, beside NumPy.

    windows.py --seeds 0:1000
    windows.py --seeds 77:78 --keep /tmp    writes what differs, as windows-77.onnx and its inputs

A model is a chain of one to three nodes: poolings, convolutions, slices, paddings, windows that are
looked up, and the inverses of these, over one to three spatial axes with random extents, strides,
dilations and pads. Windows are longer than the axis now and then, axes have no elements, and what
does not fit is an error of the run. The chain stands alone, in a Loop whose trip count is an input,
in a Scan or in a branch of an If. Each session runs with several sets of extents; the model is also
declared with those of a set, and with some of them.

random_window_steps.py says what NumPy makes of each node. A line is printed for each failure, and at the
end how many runs there were. Exit status: 0; 1 with a failure; 2 wrong usage.
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
import loopc
import numpy as np
from random_reports import run_seeds
from random_window_steps import Feeds
from random_windows import WindowModel
from window_arrays import Array, WindowsError

#: What a run gives, or should: outputs (None: one without elements, of any shape), or an error.
Result = list[Array | None] | str

#: A session's settings: level, threads, whether accesses are checked.
Setting = tuple[int, int, bool]


def run_sets(content: bytes, sets: list[Feeds], setting: Setting) -> engines.Outcome:
    """The outputs of each set, or the text of its error, by one session."""
    level, threads, checks = setting
    options = loopc.SessionOptions(
        opt_level=level, intra_op_num_threads=threads, check_accesses=checks
    )
    try:
        session = loopc.InferenceSession(content, options)
    except loopc.Error as error:
        return engines.Outcome(error=str(error))
    results: list[Result] = []
    for feeds in sets:
        try:
            results.append(session.run(None, feeds))
        except loopc.RunError as error:
            results.append(str(error))
    return engines.Outcome(values=results)


def _difference(got: Result, want: Result) -> str:
    """What is wrong with one run; nothing where it is right."""
    if isinstance(got, str) or isinstance(want, str):
        if isinstance(got, str) and isinstance(want, str):
            return ""
        return f"got {got if isinstance(got, str) else 'values'}, expected " + (
            want if isinstance(want, str) else "values"
        )
    for k, (one, other) in enumerate(zip(got, want, strict=True)):
        if other is None and one is not None and one.size == 0:
            continue
        if one is None or other is None or one.shape != other.shape:
            shapes = [None if x is None else x.shape for x in (one, other)]
            return f"output {k}: shape {shapes[0]}, expected {shapes[1]}"
        same = np.isclose(one, other, rtol=1e-4, atol=1e-4, equal_nan=True)
        if not same.all():
            at = tuple(np.argwhere(~same)[0])
            return (
                f"output {k}: {np.count_nonzero(~same)} of {one.size} differ, the first at "
                f"{[int(x) for x in at]}: {one[at]}, expected {other[at]}"
            )
    return ""


def problems(made: WindowModel, count: collections.Counter[str]) -> list[str]:
    """What is wrong with the runs of a model in all its forms."""
    found = []
    wants: list[Result] = []
    for feeds in made.sets:
        try:
            wants.append(made.compute(feeds))
        except WindowsError as error:
            wants.append(str(error))
    for form, content, numbers in made.forms():
        level, threads, checks = setting = made.setting(form)
        where = f"{form}, -O{level}, {threads} threads{', checked' if checks else ''}"
        outcome = engines.worker(run_sets).ask((content, [made.sets[k] for k in numbers], setting))
        if outcome.values is None:
            # With known extents what is an error of the run is one of the model.
            is_due = len(numbers) == 1 and isinstance(wants[numbers[0]], str)
            if outcome.crashed or not is_due:
                found.append(f"{where}: {outcome.error}")
            count["refused"] += 1
            continue
        for number, got in zip(numbers, outcome.values, strict=True):
            count["errors" if isinstance(wants[number], str) else "runs"] += 1
            if text := _difference(got, wants[number]):
                found.append(f"{where}, set {number}: {text}")
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
    return run_seeds(options.seeds, WindowModel, problems, options.keep, "windows")


if __name__ == "__main__":
    sys.exit(main())
