# ===- loop_operators.py - Loops of all kinds beside onnxruntime ------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Times loops as users write them beside onnxruntime.

    loop_operators.py [--filter REGEX] [--shapes static|named|open] [--below 5] [--seconds 0.2]

Each model comes with all extents given; with the inputs' extents open, those that
are the same of one name; and with all of them open and of names of their own. Both
engines run in this process, in turns, with one thread; times are processor time.
A row: nanoseconds of loopc for an iteration and of onnxruntime, the latter in times
of the former, allocations for an iteration, seconds to compile, the largest
difference of an output in parts of the largest element. Exit status 1 where outputs
differ or an engine fails.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from pathlib import Path

import loop_algorithms
import loop_cells
import loopc
import onnx
import onnxruntime
import tracing
from loop_cells import Case
from operators import difference, timings

#: What is known of the inputs' extents.
SHAPES = ("static", "named", "open")


def _dimension(case: Case, shapes: str, key: str, axis: int) -> int | str:
    extent = int(case.inputs[key].shape[axis])
    if shapes == "static" or (key, axis) in case.closed:
        return extent
    return f"d{extent}" if shapes == "named" else f"{key}{axis}"


def trace(case: Case, shapes: str) -> onnx.ModelProto:
    """The model of a case, with what one of SHAPES says known of its inputs."""
    return tracing.model(
        case.function,
        case.inputs,
        opset=case.opset,
        dimension=lambda key, axis: _dimension(case, shapes, key, axis),
    )


def _measure(case: Case, shapes: str, seconds: float, keep: Path | None) -> tuple[float, str]:
    raw = trace(case, shapes).SerializeToString()
    if keep:
        keep.write_bytes(raw)
    begin = time.perf_counter()
    ours = loopc.InferenceSession(raw, sess_options=loopc.SessionOptions(intra_op_num_threads=1))
    compiled = time.perf_counter() - begin
    mine = ours.run(None, case.inputs)
    statistics = ours.last_run_statistics
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    peer = onnxruntime.InferenceSession(raw, options, providers=["CPUExecutionProvider"])
    pairs = zip(mine, peer.run(None, case.inputs), strict=True)
    far = max(difference(got, want) for got, want in pairs)
    runs = (lambda: ours.run(None, case.inputs), lambda: peer.run(None, case.inputs))
    times = [1e9 * found / case.trips for found in timings(runs, seconds, 1)]
    allocations = (statistics.allocations if statistics else 0) / case.trips
    ratio = times[1] / times[0]
    wrong = " WRONG" if far > case.tolerance else ""
    return ratio if not wrong else 0.0, (
        f"{times[0]:11.1f} {times[1]:11.1f} {ratio:7.2f}x {allocations:7.2f} {compiled:6.2f} "
        f"{far:8.1g}{wrong}"
    )


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--filter", default="", metavar="REGEX", help="only these cases")
    parser.add_argument("--shapes", choices=SHAPES, help="only these")
    parser.add_argument("--below", type=float, default=float("inf"), help="only such ratios")
    parser.add_argument("--seconds", type=float, default=0.2, help="for each engine and case")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="where models are written")
    arguments = parser.parse_args()
    status = 0
    print(f"{'':44} {'loopc ns':>11} {'peer ns':>11} {'times':>8} {'allocs':>7} {'s':>6}")
    for case in [*loop_cells.cases(), *loop_algorithms.cases()]:
        for shapes in SHAPES:
            name = case.name + (f" {shapes}" if shapes != "static" else "")
            if arguments.shapes not in (None, shapes) or not re.search(arguments.filter, name):
                continue
            keep = arguments.keep and arguments.keep / f"{re.sub('[^a-zA-Z0-9]+', '-', name)}.onnx"
            try:
                ratio, row = _measure(case, shapes, arguments.seconds, keep)
            except Exception as error:  # of either engine: the next case goes on
                print(f"{name:44} {type(error).__name__}: {str(error).splitlines()[0][:150]}")
                status = 1
                continue
            status |= ratio == 0
            if ratio < arguments.below:
                print(f"{name:44} {row}", flush=True)
    return status


if __name__ == "__main__":
    sys.exit(main())
