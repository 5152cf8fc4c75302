# ===- readers.py - Long runs of models whose values have several readers ---===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Runs the models of test/python/random_readers.py in loopc and in onnxruntime.

    readers.py --seeds 0:1000
    readers.py --seeds 77:78 --write /tmp      writes what fails, as readers-77.onnx

A line is printed for each failure. Exit status: 0; 1 with a failure; 2 wrong usage.
"""

from __future__ import annotations

import argparse
import pathlib
import sys
from collections.abc import Sequence

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "python"))

import compiling
import numpy as np
import onnx
import onnxruntime
import random_readers


def problem(model: onnx.ModelProto, feeds: random_readers.Feeds) -> str:
    """How loopc's results differ from onnxruntime's; empty if they do not."""
    import loopc

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    data = model.SerializeToString()
    expected = onnxruntime.InferenceSession(data, options).run(None, feeds)
    try:
        made = loopc.InferenceSession(data).run(None, feeds)
    except loopc.Error as error:
        return str(error)
    for output, got, want in zip(model.graph.output, made, expected, strict=True):
        finite = np.abs(want[np.isfinite(want)])
        largest = float(finite.max()) if finite.size else 1.0
        # Sums of products of products: what is small beside the largest is their rounding.
        same = np.isclose(got, want, 2e-3, 2e-4 * max(1.0, largest), equal_nan=True)
        if got.shape != want.shape or not same.all():
            return f"output {output.name}: {int((~same).sum())} of {same.size} elements differ"
    return ""


def main(argv: Sequence[str] | None = None) -> int:
    """Runs what the command line asks for and returns the exit status."""
    compiling.set_environment()
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=compiling.seed_range, required=True, metavar="A:B",
                        help="models A to B - 1")  # fmt: skip
    parser.add_argument("--write", type=pathlib.Path, metavar="FOLDER", help="for what fails")
    options = parser.parse_args(argv)
    failures = 0
    for seed in options.seeds:
        model, feeds = random_readers.make(seed)
        if found := problem(model, feeds):
            failures += 1
            print(f"{seed}: {found}", flush=True)
            if options.write:
                onnx.save(model, options.write / f"readers-{seed}.onnx")
    print(f"{len(options.seeds)} models, {failures} failures")
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(main())
