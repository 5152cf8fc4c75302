# ===- user_models.py - Models of users beside onnxruntime ------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Compiles ONNX models, runs them beside onnxruntime and compares what comes out.

    bench.py --models                  models of Python packages and of exporters
    bench.py --models model.onnx ...   others
    bench.py --models --set x.1=8000   what open extents and inputs are
    bench.py --models --threads 1,2    with one thread, and with two
    bench.py --models --docs           writes the table of docs/Models.md, with both

An open first dimension is 1, the others 64, unless set: by their name, or by the
input and the axis. Inputs are random, or what is set. A row: seconds to compile,
the largest difference of an output beside the largest element of it (or 0.001: what is
smaller is rounded to nothing in the layers before), and for each number of threads
milliseconds of a run (the shortest of turns of some) and onnxruntime's time in times of
loopc's.
Each model has a process of its own. The packages that user_models.toml names are
downloaded once, into a cache. Exit status 1 where a model that onnxruntime runs is
refused or fails, or an output has another shape or type, or other integers.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

import model_packages
import numpy as np
from ml_dtypes import bfloat16
from model_packages import Entry
from turns import rest

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/Models.md"
#: What --docs writes stands between these lines.
BEGIN = "<!-- Made by ./dev bench --models --docs -->"
END = "<!-- end of it -->"
#: Seconds that one model may take, and that an engine's turn takes at least.
PATIENCE = 900
TURN = 0.01
TYPES: dict[str, Any] = {
    "tensor(float)": np.float32,
    "tensor(double)": np.float64,
    "tensor(float16)": np.float16,
    "tensor(bfloat16)": bfloat16,
    "tensor(int64)": np.int64,
    "tensor(int32)": np.int32,
    "tensor(int16)": np.int16,
    "tensor(int8)": np.int8,
    "tensor(uint8)": np.uint8,
    "tensor(bool)": np.bool_,
    "tensor(string)": np.object_,
}


def make_shape(name: str, extents: Sequence[Any], given: Mapping[str, str]) -> list[int]:
    """The extents of an input: those that are known, what was given, or 1 and 64."""
    shape = []
    for axis, extent in enumerate(extents):
        if not isinstance(extent, int):
            chosen = given.get(f"{name}.{axis}") or given.get(str(extent))
            extent = int(chosen) if chosen else (1 if axis == 0 else 64)
        shape.append(extent)
    return shape


def make_value(
    port: Any, shape: Sequence[int], given: Mapping[str, str], random: np.random.Generator
) -> np.ndarray:
    """A value of some shape for an input: what was given, or random."""
    dtype = TYPES[port.type]
    if dtype is np.object_:
        return np.full(shape, given.get(port.name, "a"), np.object_)
    if port.name in given:
        return np.full(shape, float(given[port.name])).astype(dtype)
    if np.issubdtype(dtype, np.floating):
        return random.standard_normal(shape).astype(dtype)
    return random.integers(0, 2 if dtype is np.bool_ else 5, shape).astype(dtype)


def make_feed(port: Any, given: Mapping[str, str], random: np.random.Generator) -> np.ndarray:
    """The same with the extents that were given."""
    return make_value(port, make_shape(port.name, port.shape, given), given, random)


def difference(got: Any, want: Any) -> float:
    """The largest one of two outputs, beside the largest finite element, or 0.001."""
    if isinstance(want, dict):
        return difference(list(got.values()), list(want.values()))
    if isinstance(want, list):
        if len(got) != len(want):
            return math.inf
        return max(map(difference, got, want), default=0.0)
    got, want = np.asarray(got), np.asarray(want)
    if got.shape != want.shape or got.dtype != want.dtype:
        return math.inf
    if want.dtype.kind not in "fc":
        return 0.0 if (got == want).all() else math.inf
    got, want = got.astype(np.float64), want.astype(np.float64)
    finite = np.isfinite(want)
    if not np.array_equal(got[~finite], want[~finite], equal_nan=True):
        return math.inf
    got, want = got[finite], want[finite]
    if not np.isfinite(got).all():
        return math.inf
    scale = float(np.max(np.abs(want), initial=1e-3))
    return float(np.max(np.abs(got - want), initial=0.0)) / scale


@dataclasses.dataclass
class Runs:
    """Seconds of a run with some number of threads."""

    loopc: float
    onnxruntime: float

    @property
    def times(self) -> float:
        """onnxruntime's time in times of loopc's."""
        return self.onnxruntime / self.loopc


@dataclasses.dataclass
class Figures:
    """Of one model: seconds, and the largest difference of an output."""

    compiling: float = 0.0
    difference: float = 0.0
    problem: str = ""
    runs: list[Runs] = dataclasses.field(default_factory=list)


def _shortest_run(engine: Any, feeds: Mapping[str, np.ndarray]) -> float:
    """Seconds of the shortest of some runs behind each other, in a turn of the engine.

    More than one: threads wake up, and what the other one wrote is in the caches.
    """
    best = math.inf
    runs, until = 0, time.perf_counter() + TURN
    while runs < 2 or time.perf_counter() < until:
        begin = time.perf_counter()
        engine.run(None, feeds)
        best = min(best, time.perf_counter() - begin)
        runs += 1
    return best


def _take_turns(engines: Sequence[Any], feeds: Mapping[str, np.ndarray], threads: int) -> Runs:
    """The shortest runs of loopc and of onnxruntime."""
    best = [math.inf, math.inf]
    turns, until = 0, time.perf_counter() + 1
    while turns < 5 or (turns < 100 and time.perf_counter() < until):
        for k, engine in enumerate(engines):
            rest(threads)
            best[k] = min(best[k], _shortest_run(engine, feeds))
        turns += 1
    return Runs(*best)


def _measure_here(path: str, given: Mapping[str, str], threads: Sequence[int]) -> Figures:
    """In this process; a problem of loopc is told, one of onnxruntime raised."""
    # Here, so that a process of ready.py has one of the two.
    import loopc
    import onnxruntime

    def open_peer(number: int) -> Any:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = number
        options.log_severity_level = 4
        return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])

    peer = open_peer(threads[0])
    random = np.random.default_rng(0)
    feeds = {port.name: make_feed(port, given, random) for port in peer.get_inputs()}
    want = peer.run(None, feeds)
    figures = Figures()
    with tempfile.TemporaryDirectory() as cache:
        for number in threads:
            options = loopc.SessionOptions(cache_dir=cache, tier="off")
            options.intra_op_num_threads = number
            begin = time.perf_counter()
            try:
                session = loopc.InferenceSession(path, options)
                # With other numbers of threads it is in the cache.
                figures.compiling = figures.compiling or time.perf_counter() - begin
                found = difference(session.run(None, feeds), want)
            except Exception as error:  # whatever it is, the next model goes on
                said = str(error).splitlines()[0][:200]
                return Figures(problem=f"{type(error).__name__}: {said}")
            if math.isinf(found):
                return Figures(problem="an output differs in its shape, its type or its integers")
            figures.difference = max(figures.difference, found)
            peer = peer if number == threads[0] else open_peer(number)
            figures.runs.append(_take_turns((session, peer), feeds, number))
    return figures


def measure(entry: Entry, threads: Sequence[int]) -> Figures:
    """In a process of its own."""
    numbers = ",".join(map(str, threads))
    command = [sys.executable, __file__, "--one", "--threads", numbers, str(entry.path)]
    command += [f"--set={name}={value}" for name, value in entry.given.items()]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=PATIENCE, check=False,
            env={**os.environ, "OMP_NUM_THREADS": str(max(threads))},
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return Figures(problem=f"more than {PATIENCE} seconds")
    if done.returncode != 0 or not done.stdout:
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        told = lines[-1][:200] if lines else "it said nothing"
        who = "onnxruntime" if "onnxruntime" in told else f"status {done.returncode}"
        return Figures(problem=f"{who}: {told}")
    found = json.loads(done.stdout.splitlines()[-1])
    found["runs"] = [Runs(**runs) for runs in found["runs"]]
    return Figures(**found)


def _named(threads: int) -> str:
    return f"{threads} thread{'s' * (threads > 1)}"


def heading(threads: Sequence[int]) -> str:
    """The first two lines of the table."""
    cells = ["package", "model", "compiling, s", "difference"]
    for number in threads:
        name = _named(number)
        cells += [f"loopc, ms, {name}", f"onnxruntime, ms, {name}", f"times, {name}"]
    return f"| {' | '.join(cells)} |\n|{'---|' * len(cells)}"


def line(entry: Entry, figures: Figures, threads: Sequence[int]) -> str:
    """Of the table."""
    if figures.problem:
        rest = [figures.problem] + [""] * (1 + 3 * len(threads))
    else:
        rest = [f"{figures.compiling:.2f}", f"{figures.difference:.2g}"]
    for runs in figures.runs:
        rest += [f"{1e3 * runs.loopc:.3f}", f"{1e3 * runs.onnxruntime:.3f}", f"{runs.times:.2f}"]
    return f"| {' | '.join([entry.origin, entry.name, *rest])} |"


def summary(rows: Sequence[tuple[Entry, Figures]], threads: Sequence[int]) -> str:
    """How many there are, their mean and the worst."""
    good = [(entry, figures) for entry, figures in rows if not figures.problem]
    if not good:
        return "- No model was run."
    packages = len({entry.origin for entry, _ in good})
    texts = [f"- {len(good)} models of {packages} packages and exporters."]
    for k, number in enumerate(threads):
        times = [(figures.runs[k].times, entry) for entry, figures in good]
        mean = math.exp(sum(math.log(one) for one, _ in times) / len(times))
        least, worst = min(times, key=lambda one: one[0])
        behind = sum(one < 0.95 for one, _ in times)
        texts.append(
            f"- {_named(number)}: {mean:.2f} times as fast as onnxruntime in the geometric mean, "
            f"{least:.2f} at worst ({worst.name}); {behind} are below 0.95."
        )
    texts += [f"- {entry.name}: {figures.problem}" for entry, figures in rows if figures.problem]
    return "\n".join(texts)


def write_page(rows: Sequence[tuple[Entry, Figures]], threads: Sequence[int]) -> None:
    """Writes the table between its two lines of the page."""
    import onnxruntime
    from bench import measured, processor

    before, rest = PAGE.read_text().split(BEGIN, 1)
    after = rest.split(END, 1)[1]
    told = f"onnxruntime {onnxruntime.__version__}, {processor()}, {measured()}:"
    table = "\n".join([heading(threads), *(line(*row, threads) for row in rows)])
    said = summary(rows, threads)
    PAGE.write_text(f"{before}{BEGIN}\n\n{told}\n\n{table}\n\n{said}\n\n{END}{after}")


def parse(argv: Sequence[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="bench.py --models", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)  # fmt: skip
    add = parser.add_argument
    add("models", nargs="*", type=Path, metavar="MODEL")
    add("--set", action="append", default=[], metavar="NAME=NUMBER")
    add("--filter", default="", metavar="REGEX", help="only models whose package or name matches")
    add("--threads", metavar="N,...",
        help="numbers of threads of both (default 1; --docs: 1,2)")  # fmt: skip
    cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "loopc-models"
    add("--cache", type=Path, default=cache, metavar="FOLDER", help=f"of packages ({cache})")
    add("--docs", action="store_true", help="write the table of docs/Models.md")
    add("--one", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(argv)
    if not all("=" in one for one in options.set):
        parser.error("--set takes NAME=NUMBER")
    for path in options.models:
        if not path.is_file():
            parser.error(f"there is no file {path}")
    try:
        given = options.threads or ("1,2" if options.docs else "1")
        options.threads = [int(number) for number in given.split(",")]
    except ValueError as error:
        parser.error(f"--threads: {error}")
    if min(options.threads) < 1:
        parser.error("--threads must be positive")
    if options.docs and (options.models or options.filter):
        parser.error("--docs writes all rows: it takes no models and no --filter")
    try:
        options.pattern = re.compile(options.filter)
    except re.error as error:
        parser.error(f"--filter: {error}")
    return options


def _entries(options: argparse.Namespace, given: Mapping[str, str]) -> Iterator[Entry]:
    def wanted(entry: Entry) -> bool:
        return bool(options.pattern.search(f"{entry.origin} {entry.name}"))

    if options.models:
        yield from filter(wanted, (Entry("", path, given) for path in options.models))
    else:
        yield from model_packages.find(options.cache, wanted)


def main(argv: Sequence[str] | None = None) -> int:
    """Prints the table and returns the exit status."""
    options = parse(argv)
    given = dict(one.split("=", 1) for one in options.set)
    if options.one:
        figures = _measure_here(str(options.models[0]), given, options.threads)
        print(json.dumps(dataclasses.asdict(figures)))
        return 0
    rows = []
    print(heading(options.threads), flush=True)
    try:
        for entry in _entries(options, given):
            rows.append((entry, measure(entry, options.threads)))
            print(line(*rows[-1], options.threads), flush=True)
    except RuntimeError as error:
        print(f"user_models.py: error: {error}", file=sys.stderr)
        return 1
    print(f"\n{summary(rows, options.threads)}")
    if options.docs:
        write_page(rows, options.threads)
    return int(any(f.problem and not f.problem.startswith("onnxruntime") for _, f in rows))


if __name__ == "__main__":
    sys.exit(main())
