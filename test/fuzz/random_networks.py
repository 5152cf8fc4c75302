# ===- random_networks.py - Long runs of random networks -===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Builds random networks through the TensorRT-shaped API and runs them, beside NumPy.

    random_networks.py --seeds 0:1000
    random_networks.py --seeds 77:78 --print    prints the network as MLIR

A line is printed for each failure. Counted, and no failures, are errors of layers that
TensorRT would not have run, for nobody asks for what they make, and differences where a loop
collects rows and has no trip: extents that only a trip would tell are 0. Exit status: 0; 1
with a failure; 2 wrong usage.
"""

from __future__ import annotations

import argparse
import collections
import pathlib
import sys
from collections.abc import Sequence

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "python"))

import compiling
import loopc
import numpy as np
from mlir_loops import difference
from network_layers import Array
from network_programs import RandomNetwork, is_due
from random_errors import ExpectedError, TooLongError

GOOD = ("same", "same error", "eager error", "no trip", "too long")


def outcome(made: RandomNetwork, level: int) -> str:
    """One of `GOOD`, else what is wrong."""
    expected: list[Array] | None = None
    try:
        expected = made.expected()
    except TooLongError:
        return "too long"
    except ExpectedError:
        pass
    try:
        session = loopc.InferenceSession(made.net, loopc.SessionOptions(opt_level=level))
    except loopc.CompileError as error:
        return f"refused: {error}"
    try:
        got = session.run(None, made.feeds)
    except loopc.RunError as error:
        if expected is None:
            isgood = is_due(str(error), made.made, made.loops, made.followers)
            if not isgood and made.has_empty():
                return "no trip"
            return "same error" if isgood else f"another error: {error}"
        if any(word in str(error) for word in ("iteration", "length", "row")):
            return "eager error"
        return "no trip" if made.has_empty() else f"fails: {error}"
    if expected is None:
        return "does not fail"
    faults = [difference(np.asarray(one), other) for one, other in zip(got, expected, strict=True)]
    faults = [f"output {k}: {text}" for k, text in enumerate(faults) if text]
    if faults and made.has_empty():
        return "no trip"
    return "; ".join(faults) or "same"


def main(argv: Sequence[str] | None = None) -> int:
    """Runs what the command line asks for and returns the exit status."""
    compiling.set_environment()
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=compiling.seed_range, required=True, metavar="A:B",
                        help="networks A to B - 1")  # fmt: skip
    parser.add_argument("--print", action="store_true", help="print each network as MLIR")
    options = parser.parse_args(argv)
    counts: collections.Counter[str] = collections.Counter()
    for seed in options.seeds:
        made = RandomNetwork(seed)
        if options.print:
            print(made.net.to_mlir())
        found = outcome(made, seed % 4)
        isgood = found in GOOD
        counts[found if isgood else "failures"] += 1
        if not isgood:
            print(f"{seed}: {found}", flush=True)
    print(f"{counts.total()} networks: {', '.join(f'{n} {what}' for what, n in counts.items())}")
    return int(counts["failures"] > 0)


if __name__ == "__main__":
    sys.exit(main())
