# ===- bench.py - Times beside onnxruntime's -===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Times loopc and onnxruntime on the models of models.py, in one process.

    bench.py                         the table
    bench.py --filter 'loop|mamba'   some of it
    bench.py --json times.json       for plots

Each engine uses one thread. The engines take turns, run by run, so that what
else the machine does falls on all of them; the table shows medians. Every
engine's outputs are checked against NumPy's, and against each other, before
anything is timed: exit status 1 where they differ or an engine fails.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import pathlib
import platform
import re
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

sys.path.insert(0, str(pathlib.Path(__file__).parent))

import numpy as np
from models import BENCHMARKS, Benchmark

Run = Callable[[], list[Any]]


def _open_loopc(benchmark: Benchmark) -> Run:
    import loopc

    options = loopc.SessionOptions()
    options.intra_op_num_threads = 1
    session = loopc.InferenceSession(benchmark.model.SerializeToString(), sess_options=options)
    return lambda: session.run(None, benchmark.feeds)


def _open_onnxruntime(benchmark: Benchmark) -> Run:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        benchmark.model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    return lambda: session.run(None, benchmark.feeds)


ENGINES: dict[str, Callable[[Benchmark], Run]] = {
    "loopc": _open_loopc,
    "onnxruntime": _open_onnxruntime,
}


@dataclasses.dataclass
class Times:
    """What one engine took for one benchmark; seconds."""

    compile: float
    runs: list[float] = dataclasses.field(default_factory=list)

    @property
    def median(self) -> float:
        """The median of the runs."""
        return statistics.median(self.runs)


def _available() -> tuple[list[str], dict[str, str]]:
    """The engines that can be imported, and the versions of all of them."""
    found, versions = [], {}
    for name in ENGINES:
        try:
            versions[name] = __import__(name).__version__
            found.append(name)
        except ImportError as error:
            versions[name] = f"not there ({error})"
    return found, versions


def _wrong(got: Sequence[Any], want: Sequence[Any], benchmark: Benchmark) -> str | None:
    """What differs between two engines' outputs, or None."""
    if len(got) != len(want):
        return f"{len(got)} outputs, expected {len(want)}"
    for number, (one, other) in enumerate(zip(got, want, strict=True)):
        one, other = np.asarray(one), np.asarray(other)
        if one.shape != other.shape or one.dtype != other.dtype:
            return f"output {number}: {one.dtype}{one.shape}, expected {other.dtype}{other.shape}"
        close = np.isclose(one, other, rtol=benchmark.rtol, atol=benchmark.atol)
        wrong = close.size - np.count_nonzero(close)
        if wrong > benchmark.stray * close.size:
            return f"output {number}: {wrong} of {close.size} values differ"
    return None


def _check(results: dict[str, list[Any]], benchmark: Benchmark) -> list[str]:
    """Every engine against NumPy, then the engines against each other."""
    problems = []
    everyone = {"numpy": benchmark.expect(benchmark.feeds), **results}
    names = list(everyone)
    for at, one in enumerate(names):
        for other in names[at + 1 :]:
            problem = _wrong(everyone[other], everyone[one], benchmark)
            if problem:
                problems.append(f"{benchmark.name}: {other} against {one}: {problem}")
    return problems


def measure(
    benchmark: Benchmark, engines: Sequence[str], min_time: float
) -> tuple[dict[str, Times], list[str]]:
    """Checks, then times the engines in turns for about `min_time` seconds each."""
    runs: dict[str, Run] = {}
    times: dict[str, Times] = {}
    results: dict[str, list[Any]] = {}
    problems: list[str] = []
    for name in engines:
        began = time.perf_counter()
        try:
            run = ENGINES[name](benchmark)
            taken = time.perf_counter() - began
            results[name] = run()  # Also the warm-up.
        except Exception as error:  # The engines' errors have no common base.
            problems.append(f"{benchmark.name}: {name}: {str(error).splitlines()[0]}")
            continue
        runs[name], times[name] = run, Times(taken)
    problems += _check(results, benchmark)
    # In every round each engine gets a like share of time: a fast one more runs.
    rounds = 5
    while runs and rounds:
        rounds -= 1
        for name, run in runs.items():
            end = time.perf_counter() + min_time / 5
            while True:
                began = time.perf_counter()
                run()
                times[name].runs.append(time.perf_counter() - began)
                if time.perf_counter() >= end:
                    break
    return times, problems


def _duration(seconds: float) -> str:
    for scale, unit in ((1, "s"), (1e-3, "ms"), (1e-6, "us")):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def _row(benchmark: Benchmark, times: dict[str, Times]) -> list[str]:
    cells = [benchmark.name]
    for name in ENGINES:
        if name in times:
            median = times[name].median
            cells += [_duration(median), _duration(median / benchmark.iterations)]
        else:
            cells += ["-", "-"]
    both = [times[name].median for name in ENGINES if name in times]
    cells.append(f"{both[1] / both[0]:.3g}x" if len(both) == 2 else "-")
    cells.append(_duration(times["loopc"].compile) if "loopc" in times else "-")
    return cells


def _entry(name: str, benchmark: Benchmark, times: dict[str, Times]) -> dict[str, Any]:
    engines = {
        engine: {"compile": taken.compile, "median": taken.median, "runs": taken.runs}
        for engine, taken in times.items()
    }
    return {
        "name": name,
        "title": benchmark.name,
        "iterations": benchmark.iterations,
        "engines": engines,
    }


HEADER = ["benchmark", "loopc", "/iter", "onnxruntime", "/iter", "speed-up", "compile"]
WIDTHS = [34, 10, 10, 12, 10, 9, 9]


def _print(cells: Sequence[str]) -> None:
    first, *rest = cells
    padded = [c.rjust(w) for c, w in zip(rest, WIDTHS[1:], strict=True)]
    print(first.ljust(WIDTHS[0]) + " ".join(padded), flush=True)


def _cpu() -> str:
    try:
        lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def main(argv: Sequence[str] | None = None) -> int:
    """Prints the table and returns the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--filter", default="", metavar="REGEX", help="only benchmarks that match")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="write every time")
    parser.add_argument("--min-time", type=float, default=1.0, metavar="SECONDS",
                        help="for each engine and benchmark (default 1)")  # fmt: skip
    parser.add_argument("--peers", default=",".join(ENGINES), metavar="NAMES",
                        help="engines, with commas (default: all that are installed)")  # fmt: skip
    options = parser.parse_args(argv)
    asked = options.peers.split(",")
    unknown = set(asked) - set(ENGINES)
    if unknown:
        parser.error(f"unknown engine: {', '.join(sorted(unknown))}")
    chosen = [name for name in BENCHMARKS if re.search(options.filter, name)]
    if not chosen:
        parser.error(f"no benchmark matches; there are {', '.join(BENCHMARKS)}")

    found, versions = _available()
    print(f"{_cpu()}, 1 thread; " + ", ".join(f"{n} {v}" for n, v in versions.items()))
    _print(HEADER)
    rows, problems = [], []
    for name in chosen:
        benchmark = BENCHMARKS[name]()
        engines = [engine for engine in found if engine in asked]
        times, wrong = measure(benchmark, engines, options.min_time)
        problems += wrong
        _print(_row(benchmark, times))
        rows.append(_entry(name, benchmark, times))
    if options.json:
        document = {"cpu": _cpu(), "versions": versions, "benchmarks": rows}
        options.json.write_text(json.dumps(document, indent=1) + "\n")
    for problem in problems:
        print(f"error: {problem}", file=sys.stderr)
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main())
