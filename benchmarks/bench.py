# ===- bench.py - Times of loops, beside those of peers ---------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Times loopc, its peers and hand-written C++ on the models of suite.py.

    bench.py                          the table
    bench.py --filter 'loop|mamba'    some of it
    bench.py --quick                  in a fraction of the time, less exact
    bench.py --json times.json        every time, for plots and comparisons
    bench.py --compare times.json     beside another run's
    bench.py --docs                   writes docs/Benchmarks.md and its chart
    bench.py --ready                  time and memory until sessions are ready (ready.py)
    bench.py --models                 models of Python packages (user_models.py)

The engines take turns, so that what else the machine does falls on all of them;
the table shows medians. In the same run each engine's outputs are checked
against NumPy's. A row that an engine has no time in says why below the table.
Exit status 1 where outputs of loopc or of the hand-written code are wrong, or
loopc fails; what a peer cannot do is no error.
"""

from __future__ import annotations

import argparse
import dataclasses
import datetime
import json
import pathlib
import platform
import re
import statistics
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import numpy as np
import ready
import report
import suite
import user_models
from models_basic import Benchmark
from peers import ALL_ENGINES, ENGINES, GPU_ENGINES, version_of
from turns import rest
from worker import Worker

#: Most runs of one engine in one round.
MOST_RUNS = 5_000


@dataclasses.dataclass
class Row:
    """One benchmark with one number of threads."""

    key: str
    title: str
    iterations: int
    threads: int
    bound: float = 0.0
    beyond: str = ""
    compile: dict[str, float] = dataclasses.field(default_factory=dict)
    runs: dict[str, list[float]] = dataclasses.field(default_factory=dict)
    missing: dict[str, str] = dataclasses.field(default_factory=dict)

    def document(self) -> dict[str, Any]:
        """For JSON: seconds."""
        return {
            "key": self.key,
            "title": self.title,
            "iterations": self.iterations,
            "threads": self.threads,
            "bound": self.bound,
            "beyond": self.beyond,
            "engines": {
                engine: {
                    "compile": self.compile[engine],
                    "median": statistics.median(times),
                    "least": min(times),
                    "runs": len(times),
                }
                for engine, times in self.runs.items()
            },
            "missing": self.missing,
        }


def difference(got: Sequence[Any], want: Sequence[Any], benchmark: Benchmark) -> str | None:
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


class Bench:
    """Everything of one run of this program."""

    def __init__(self, engines: Sequence[str], seconds: float, rounds: int) -> None:
        self.engines = engines
        self.seconds = seconds
        self.rounds = rounds
        self.problems: list[str] = []
        self._workers: dict[tuple[str, int], Worker] = {}

    def close(self) -> None:
        """Ends all processes."""
        for worker in self._workers.values():
            worker.close()

    def measure(self, key: str, threads: int) -> Row:
        """Opens, checks and times one benchmark."""
        benchmark = suite.make(key)
        row = Row(
            key,
            benchmark.name,
            benchmark.iterations,
            threads,
            bound=benchmark.bound,
            beyond=benchmark.beyond,
        )
        ready = self._open(row, benchmark)
        for _ in range(self.rounds):
            for engine, worker in list(ready.items()):
                rest(threads)
                kind, answer = worker.ask("time", self.seconds / self.rounds, MOST_RUNS)
                if kind == "ok":
                    row.runs.setdefault(engine, []).extend(answer)
                else:
                    self._miss(row, engine, answer)
                    row.runs.pop(engine, None)
                    del ready[engine]
        return row

    def _open(self, row: Row, benchmark: Benchmark) -> dict[str, Worker]:
        """The engines whose outputs are right."""
        ready: dict[str, Worker] = {}
        results: dict[str, list[Any]] = {}
        for engine in self.engines:
            at = (engine, row.threads)
            worker = self._workers.setdefault(at, Worker(engine, row.threads))
            kind, answer = worker.ask("open", row.key)
            if kind == "ok":
                row.compile[engine], results[engine] = answer
                ready[engine] = worker
            elif kind == "unable":
                row.missing[engine] = answer
            else:
                self._miss(row, engine, answer)
        want = self._expected(benchmark, results)
        for engine, got in results.items():
            problem = difference(got, want, benchmark) if want is not None else "nothing to compare"
            if problem and engine != benchmark.reference:
                self._miss(row, engine, f"wrong: {problem}")
                del ready[engine]
        return ready

    def _expected(self, benchmark: Benchmark, results: dict[str, list[Any]]) -> list[Any] | None:
        if not benchmark.reference:
            return list(benchmark.expect(benchmark.feeds))
        return results.get(benchmark.reference)

    def _miss(self, row: Row, engine: str, reason: str) -> None:
        row.missing[engine] = reason
        if engine in ("loopc", "limit"):
            self.problems.append(f"{row.title}, {row.threads} threads: {engine}: {reason}")


def processor() -> str:
    """The model of this machine's processor."""
    try:
        lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def measured() -> str:
    """What is measured, and when: the commit and the date."""
    folder = pathlib.Path(__file__).resolve().parent
    command = ["git", "-C", str(folder), "describe", "--always", "--dirty"]
    try:
        commit = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        commit = "unknown"
    return f"commit {commit}, {datetime.date.today()}"


def find_gpu_problem() -> str:
    """Why there is nothing to measure on a GPU; "" where there is."""
    import loopc

    if "CUDAExecutionProvider" in loopc.get_available_providers():
        return ""
    return "there is no CUDA driver, or no device (see docs/GPU.md)"


def parse(argv: Sequence[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--filter", default="", metavar="REGEX", help="only benchmarks whose name matches")
    add("--engines", metavar="NAMES",
        help="with commas (default: all that are installed)")  # fmt: skip
    add("--gpu", action="store_true",
        help="beside loopc on the CPU: loopc, onnxruntime, JAX, torch on a GPU")  # fmt: skip
    add("--threads", metavar="N,...", help="numbers of threads (default 1,2; quick: 1)")
    add("--seconds", type=float, default=1.0, metavar="S",
        help="for each engine, benchmark and number of threads (default 1)")  # fmt: skip
    add("--quick", action="store_true", help="one thread, and a tenth of the time")
    add("--json", type=pathlib.Path, metavar="FILE", help="write the times")
    add("--svg", type=pathlib.Path, metavar="FILE", help="write the chart")
    add("--docs", action="store_true", help="write docs/Benchmarks.md and docs/benchmarks.svg")
    add("--compare", type=pathlib.Path, metavar="BASE", help="a file of --json")
    add("--list", action="store_true", help="print the names of the benchmarks")
    options = parser.parse_args(argv)
    try:
        options.pattern = re.compile(options.filter)
        threads = options.threads or ("1" if options.quick else "1,2")
        options.threads = [int(number) for number in threads.split(",")]
    except (re.error, ValueError) as error:
        parser.error(f"--filter or --threads: {error}")
    if options.quick:
        options.seconds /= 10
    if min(options.threads) < 1 or not options.seconds > 0:
        parser.error("--threads and --seconds must be positive")
    usual = ["loopc", *GPU_ENGINES] if options.gpu else list(ENGINES)
    options.engines = options.engines.split(",") if options.engines else usual
    if unknown := set(options.engines) - set(ALL_ENGINES):
        names = ", ".join(sorted(unknown))
        parser.error(f"unknown engine: {names}; there are {', '.join(ALL_ENGINES)}")
    if options.gpu:
        if options.docs:
            parser.error("--docs is about the CPU; --json writes the times of --gpu")
        if message := find_gpu_problem():
            parser.error(f"--gpu: {message}")
        options.threads = [1]
    options.keys = [key for key in suite.BENCHMARKS if options.pattern.search(key)]
    if not options.keys:
        parser.error(f"no benchmark matches; there are {', '.join(suite.BENCHMARKS)}")
    options.base = None
    if options.compare:
        try:
            options.base = json.loads(options.compare.read_text())
        except (OSError, ValueError) as error:
            parser.error(f"--compare: {error}")
    return options


def main(argv: Sequence[str] | None = None) -> int:
    """Prints the table and returns the exit status."""
    given = list(sys.argv[1:] if argv is None else argv)
    if "--ready" in given:
        given.remove("--ready")
        return ready.main(given)
    if "--models" in given:
        given.remove("--models")
        return user_models.main(given)
    options = parse(given)
    if options.list:
        print("\n".join(options.keys))
        return 0
    versions = {engine: version_of(engine) for engine in ENGINES}
    versions |= {engine: version_of(engine) for engine in options.engines}
    engines = [engine for engine in options.engines if versions[engine] is not None]
    document: dict[str, Any] = {
        "processor": processor(),
        "measured": measured(),
        "versions": {name: version for name, version in versions.items() if version},
        "absent": [engine for engine in options.engines if versions[engine] is None],
        "seconds": options.seconds,
        "rows": [],
    }
    bench = Bench(engines, options.seconds, rounds=2 if options.quick else 5)
    table = report.Table(document, engines)
    print(table.heading(), flush=True)
    total = len(options.threads) * len(options.keys)
    try:
        for number, (threads, key) in enumerate(
            ((threads, key) for threads in options.threads for key in options.keys), 1
        ):
            if sys.stderr.isatty():
                said = f"\r[{number}/{total}] {key} ...\x1b[K\r"
                print(said, end="", file=sys.stderr, flush=True)
            try:
                row = bench.measure(key, threads)
            except ImportError as error:
                row = Row(key, key, 1, threads, missing={name: str(error) for name in engines})
            document["rows"].append(row.document())
            print(table.line(document["rows"][-1]), flush=True)
            # What is known stays where the rest does not end.
            report.write(document, options.json, None, False)
    finally:
        bench.close()
    print(report.footnotes(document))
    if options.base:
        print(report.comparison(document, options.base))
    report.write(document, options.json, options.svg, options.docs)
    for problem in bench.problems:
        print(f"error: {problem}", file=sys.stderr)
    return int(bool(bench.problems))


if __name__ == "__main__":
    sys.exit(main())
