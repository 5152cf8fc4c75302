# ===- ready.py - Time and memory until a session is ready ------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Time until a session is ready and has a first result, and memory, beside onnxruntime.

    bench.py --ready                        models of suite.py, and those in Python packages
    bench.py --ready model.onnx [more]      others
    bench.py --ready --set x.1=8000         what open extents and inputs are (user_models.py)
    bench.py --ready --docs                 writes docs/Ready.md

Each figure is of a new process with one thread: loopc with an empty cache (cold), loopc
with what that left (warm), loopc with another empty cache and `tier` "background" (tiers),
onnxruntime, in turns; the least counts. Ready is from the call that
makes the session until it returns, the first result is behind one run more. Memory is
that of the process when the session is there; the peak of cold sessions has that of the
process that compiles beside it. CPU time is that of all processes that compile, those in
the background, too; optimised code is there so long behind the beginning. Inputs lie beside
a model as .npz, or are those of user_models.py; there is no first result where they do not
fit. Exit status 1 where loopc fails.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import dataclasses
import json
import math
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from typing import Any

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/Ready.md"
#: Of suite.py: small and large ones, whose inputs are arrays.
SUITE = (
    *("empty_loop", "mandelbrot", "nested", "lstm_cell_b1", "stacked_cells", "mamba_scan"),
    *("growing_attention_512", "lstm_operator_b8", "greedy_decoding"),
)
#: Packages whose models are for tests of onnx or onnxruntime alone.
OTHERS = re.compile(r"/(onnx|onnxruntime)/")
PATIENCE = 600

INTRODUCTION = """\
<!-- Made by benchmarks/ready.py; ./dev bench --ready --docs writes it again. -->

# Ready

Time until a session is ready, and the memory of its process, beside onnxruntime {version}:
`./dev bench --ready`, one thread, on {processor}, {measured}. Each figure is the least of
{rounds} new processes; the engines alternate. *Cold* is with an empty cache: another process
compiles the model. *Warm* is with the compiled model in the cache. *With tiers* is cold, with
`SessionOptions.tier` "background". [Rationale/Ready.md](Rationale/Ready.md) has how it is done.

"""


@dataclasses.dataclass
class Figures:
    """What one process told."""

    ready: float = 0.0
    first: float = 0.0
    memory: float = 0.0
    peak: float = 0.0
    worker: float = 0.0
    optimised: float = 0.0
    cpu: float = 0.0


def status_megabytes(name: str) -> float:
    """A line of this process's status."""
    text = pathlib.Path("/proc/self/status").read_text()
    found = re.search(rf"^{name}:\s+(\d+) kB", text, re.M)
    assert found
    return int(found[1]) / 1024


def adopt_processes() -> None:
    """Makes processes that outlive the child of this one that started them its own children."""
    adopts_orphans = 36  # PR_SET_CHILD_SUBREAPER
    ctypes.CDLL(None).prctl(adopts_orphans, 1, 0, 0, 0)


def wait_until_optimised(session: Any) -> None:
    """Returns when the session has the code that it keeps."""
    while session.get_provider_options()["CPUExecutionProvider"].get("code") == "quick":
        time.sleep(0.001)


def measure_here(engine: str, path: str, given: Mapping[str, str]) -> Figures:
    """Makes a session in this process."""
    import numpy as np

    module = __import__(engine)
    options = module.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    adopt_processes()
    begin = time.perf_counter()
    session = module.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    ready = time.perf_counter()
    memory = status_megabytes("VmRSS")
    # Not counted: who has inputs need not make them.
    inputs = pathlib.Path(path).with_suffix(".npz")
    if inputs.exists():
        feeds = dict(np.load(inputs))
    else:
        from user_models import make_feed

        random = np.random.default_rng(0)
        feeds = {port.name: make_feed(port, given, random) for port in session.get_inputs()}
    prepared = time.perf_counter()
    try:
        session.run(None, feeds)
    except Exception:  # of either engine: such inputs do not fit the model
        prepared = math.nan
    ran = time.perf_counter() - prepared
    if engine == "loopc":
        wait_until_optimised(session)
    optimised = time.perf_counter() - begin
    with contextlib.suppress(ChildProcessError):
        while True:
            os.wait()
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return Figures(
        ready - begin,
        ready - begin + ran,
        memory,
        status_megabytes("VmHWM"),
        children.ru_maxrss / 1024,
        optimised,
        children.ru_utime + children.ru_stime,
    )


def measure(way: str, path: pathlib.Path, given: Sequence[str], folder: str) -> Figures:
    """The same in a new process; raises RuntimeError with what it said."""
    engine = "onnxruntime" if way == "onnxruntime" else "loopc"
    tier = "background" if way == "tiers" else "off"
    environment = {
        **os.environ,
        "LOOPC_CACHE_DIR": f"{folder}/{tier}",
        "LOOPC_TIER": tier,
        "OMP_NUM_THREADS": "1",
    }
    environment.pop("LOOPC_COMPILE", None)
    command = [sys.executable, __file__, "--one", engine, str(path)]
    command += [f"--set={one}" for one in given]
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    if done.returncode != 0:
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        raise RuntimeError(lines[-1][:200] if lines else f"status {done.returncode}")
    return Figures(**json.loads(done.stdout.splitlines()[-1]))


@dataclasses.dataclass
class Row:
    """A model, and the figures of each way."""

    name: str
    size: float
    ways: dict[str, Figures] = dataclasses.field(default_factory=dict)
    problem: str = ""


def least(figures: Sequence[Figures]) -> Figures:
    """Of each member: what else the machine does only adds."""
    names = [field.name for field in dataclasses.fields(Figures)]
    return Figures(*(min(getattr(one, name) for one in figures) for name in names))


def measure_model(path: pathlib.Path, name: str, given: Sequence[str], rounds: int) -> Row:
    """All ways, in turns."""
    row = Row(name, path.stat().st_size / 1e6)
    seen: dict[str, list[Figures]] = {way: [] for way in ("onnxruntime", "cold", "warm", "tiers")}
    for _ in range(rounds):
        with tempfile.TemporaryDirectory(prefix="loopc-ready-") as cache:
            for way, figures in seen.items():
                try:
                    figures.append(measure(way, path, given, cache))
                except (RuntimeError, subprocess.TimeoutExpired) as error:
                    row.problem = f"{way}: {error}"
                    return row
    row.ways = {way: least(figures) for way, figures in seen.items()}
    return row


def suite_models(folder: pathlib.Path) -> list[tuple[pathlib.Path, str]]:
    """Models of the benchmarks, as files."""
    import numpy as np
    import suite

    models = []
    for key in SUITE:
        path = folder / f"{key}.onnx"
        benchmark = suite.make(key)
        path.write_bytes(benchmark.model.SerializeToString())
        feeds: dict[str, Any] = dict(benchmark.feeds)
        np.savez(path.with_suffix(".npz"), **feeds)
        models.append((path, f"benchmark {key}"))
    return models


def package_models() -> list[tuple[pathlib.Path, str]]:
    """Models that Python packages bring."""
    import site

    found = []
    for root in map(pathlib.Path, site.getsitepackages()):
        for path in sorted(root.rglob("*.onnx")):
            if not OTHERS.search(str(path)):
                found.append((path, f"{path.relative_to(root).parts[0]} {path.name}"))
    return found


def mean(values: Sequence[float]) -> float:
    """The geometric one."""
    return math.exp(sum(map(math.log, values)) / len(values)) if values else float("nan")


def heading() -> str:
    """Of the table."""
    columns = (
        *("model", "MB", "onnxruntime ready, ms", "cold, ms", "with tiers, ms", "warm, ms"),
        *("optimised with tiers, ms", "CPU, cold, ms", "CPU, with tiers, ms"),
        *("first result: onnxruntime, ms", "warm, ms"),
        *("memory: onnxruntime, MB", "cold, MB", "warm, MB", "peak of the compiler, MB"),
    )
    return f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}"


def line(row: Row) -> str:
    """Of the table."""
    if row.problem:
        return f"| {row.name} | {row.size:.1f} | {row.problem} |{' |' * 12}"
    peer, cold, warm, tiers = (row.ways[way] for way in ("onnxruntime", "cold", "warm", "tiers"))
    times = (
        *(peer.ready, cold.ready, tiers.ready, warm.ready),
        *(tiers.optimised, cold.cpu, tiers.cpu, peer.first, warm.first),
    )
    sizes = (peer.memory, cold.memory, warm.memory, cold.worker)
    cells = ["" if math.isnan(value) else f"{1e3 * value:.1f}" for value in times]
    cells += [f"{value:.0f}" for value in sizes]
    return f"| {row.name} | {row.size:.1f} | {' | '.join(cells)} |"


def summary(rows: Sequence[Row]) -> str:
    """Quotients: the geometric mean and the worst."""
    good = [row for row in rows if not row.problem]
    texts = []
    for way, member, what in (
        ("cold", "ready", "Ready, cold"),
        ("tiers", "ready", "Ready, with tiers"),
        ("warm", "ready", "Ready, warm"),
        ("warm", "first", "First result, warm"),
        ("cold", "memory", "Memory, cold"),
        ("warm", "memory", "Memory, warm"),
    ):
        quotients = [
            (getattr(row.ways[way], member) / getattr(row.ways["onnxruntime"], member), row.name)
            for row in good
        ]
        quotients = [one for one in quotients if not math.isnan(one[0])]
        if quotients:
            worst, name = max(quotients)
            texts.append(
                f"- {what}: {mean([q for q, _ in quotients]):.3g} times onnxruntime's in the "
                f"geometric mean, {worst:.3g} times at worst ({name})."
            )
    return "\n".join(texts)


def parse(argv: Sequence[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="bench.py --ready", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)  # fmt: skip
    add = parser.add_argument
    add("models", nargs="*", type=pathlib.Path, metavar="MODEL")
    add("--set", action="append", default=[], metavar="NAME=NUMBER")
    add("--rounds", type=int, default=3, metavar="N", help="processes for each figure (default 3)")
    add("--filter", default="", metavar="REGEX", help="only models whose name matches")
    add("--docs", action="store_true", help="write docs/Ready.md")
    add("--one", metavar="ENGINE", help=argparse.SUPPRESS)
    options = parser.parse_args(argv)
    if not all("=" in one for one in options.set):
        parser.error("--set takes NAME=NUMBER")
    if options.rounds < 1:
        parser.error("--rounds must be positive")
    try:
        options.pattern = re.compile(options.filter)
    except re.error as error:
        parser.error(f"--filter: {error}")
    return options


def main(argv: Sequence[str] | None = None) -> int:
    """Prints the table and returns the exit status."""
    options = parse(argv)
    if options.one:
        given = dict(one.split("=", 1) for one in options.set)
        figures = measure_here(options.one, str(options.models[0]), given)
        print(json.dumps(dataclasses.asdict(figures)))
        return 0
    rows = []
    with tempfile.TemporaryDirectory(prefix="loopc-models-") as folder:
        models = [(path, path.name) for path in options.models]
        if not models:
            models = suite_models(pathlib.Path(folder)) + package_models()
        print(heading(), flush=True)
        for path, name in models:
            if options.pattern.search(name):
                rows.append(measure_model(path, name, options.set, options.rounds))
                print(line(rows[-1]), flush=True)
    said = summary(rows)
    print(f"\n{said}")
    if options.docs:
        import onnxruntime
        from bench import measured, processor

        text = INTRODUCTION.format(
            version=onnxruntime.__version__,
            rounds=options.rounds,
            processor=processor(),
            measured=measured(),
        )
        PAGE.write_text(text + "\n".join([heading(), *map(line, rows)]) + f"\n\n{said}\n")
    failed = [row for row in rows if row.problem and not row.problem.startswith("onnxruntime")]
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
