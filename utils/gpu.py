# ===- gpu.py - Everything that takes a GPU ---------------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Tests and times loopc on this machine's first GPU and writes down what came of it.

    gpu.py                      all stages
    gpu.py --quick              in less than ten minutes, the most telling ones first
    gpu.py --only smoke,loops   some of them; --list names them
    gpu.py --page FILE          the page of a run's results.json, to standard output

Each stage is a process with a time limit of its own. One that fails, hangs or takes
the device with it does not keep the others from running, and what it said until
then counts. After each stage DIR (--out) has all that is known: results.json, log.txt
with all that was printed, and the page GPUResults.md. In a checkout the last is
copied to docs/ when a device was there. Nothing is fetched.

Exit status: 0 all stages passed; 1 one did not, or there is no device; 2 wrong usage.
"""

from __future__ import annotations

import argparse
import dataclasses
import datetime
import importlib.util
import json
import os
import pathlib
import platform
import selectors
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import Any, TextIO

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import gpu_page

ROOT = pathlib.Path(__file__).resolve().parent.parent
CONFORMANCE = "test/conformance/run.py"
#: A few models of each kind: control flow, a product, a reduction, element types.
SMOKE = (
    "^test_(loop11|loop13_seq|scan9_sum|scan_sum|if|range_float_type_positive_delta_expanded"
    "|matmul_3d|reduce_sum_keepdims_random|cast_FLOAT_to_FLOAT16|lstm_defaults)$"
)
#: What the page compares with JAX and torch even where there is little time.
TELLING = "^(empty_loop|rnn_cell_b1|lstm_scan_b1|mamba_scan|lstm_cell_b16|if_in_loop)$"
#: Seconds between two lines that say that a stage is still at it.
HEARTBEAT = 10.0


@dataclasses.dataclass
class Stage:
    """A command, and how long it may take."""

    name: str
    title: str
    command: list[str]
    #: Seconds: of a whole run, of a quick one (0: not in it).
    limit: float
    quick: float
    environment: dict[str, str] = dataclasses.field(default_factory=dict)
    #: Why it cannot be run here; "" where it can.
    missing: str = ""


def make_stages(quick: bool) -> list[Stage]:
    """The stages, the most telling first."""
    python, jobs = sys.executable, str(max(1, min(os.cpu_count() or 1, 16)))
    suite = [python, CONFORMANCE, "-v", "--timeout", "60"]
    tests = ["test_kernels.py", "test_kernel_products.py", "test_graphs.py", "test_clusters.py"]
    pytest = [python, "-m", "pytest", "-v", "-p", "no:cacheprovider", "-o", "addopts="]
    if importlib.util.find_spec("xdist"):
        pytest += ["-n", str(min(int(jobs), 8))]
    bench = [python, "benchmarks/bench.py", "--gpu"]
    # torch.compile writes loops out and takes minutes for a model.
    engines = "loopc,loopc-cuda,jax-cuda,torch-cuda,torch-graph-cuda,onnxruntime-cuda"
    bench += ["--quick", "--filter", TELLING, "--engines", engines] if quick else []
    products = [python, "benchmarks/products.py"]
    if quick:
        extents = "4096x4096x4096,1024x1024x1024,8x4096x1024"
        products += ["--seconds=0.1", "--dtypes=float32,float16", f"--extents={extents}"]
    loops = [python, "benchmarks/device_loops.py", *(["--seconds=0.2"] if quick else [])]
    real = {"LOOPC_TEST_CUDA_DRIVER": os.environ.get("LOOPC_CUDA_DRIVER", "libcuda.so.1")}
    stages = [
        Stage("smoke", "A few models", [*suite, "--engine=loopc-cuda", "--filter", SMOKE], 120, 45),
        Stage("loops", "What an iteration costs", loops, 120, 35),
        Stage("conformance", "ONNX's suite, loops by cost",
              [*suite, "--engine=loopc-cuda", "--jobs", jobs], 1800, 150),
        Stage("bench", "Beside the CPU, onnxruntime, JAX and torch", bench, 3600, 120,
              {"LOOPC_BENCH_PATIENCE": "30" if quick else "120"}),
        Stage("tests", "Tests of kernels and graphs",
              [*pytest, *(f"test/python/{name}" for name in tests)], 1200, 80, real,
              "" if importlib.util.find_spec("pytest") else "pytest is not installed"),
        Stage("products", "Products of matrices", products, 600, 35),
    ]  # fmt: skip
    for form in ("graph", "kernel", "cluster", "host"):
        command = [*suite, f"--engine=loopc-cuda-{form}", "--subset", "control", "--jobs", jobs]
        title = f"ONNX's models with control flow, loops as --device-loops={form}"
        stages.append(Stage(f"suite-{form}", title, command, 300, 30 if form == "graph" else 18))
    return stages + _sanitizer_stages(quick, suite)


def _sanitizer_stages(quick: bool, suite: list[str]) -> list[Stage]:
    program = find_tool("compute-sanitizer")
    missing = "" if program else "compute-sanitizer is not installed"
    stages = []
    for form in ("", "-kernel", "-cluster", "-graph", "-host"):
        for tool in ("memcheck", "racecheck", "synccheck"):
            telling = not form and tool == "memcheck"
            cases = ["--filter", SMOKE] if quick else ["--subset", "control"]
            command = [program or "compute-sanitizer", "--tool", tool, "--target-processes=all",
                       "--error-exitcode=1", *suite, f"--engine=loopc-cuda{form}", "--jobs=1",
                       *cases]  # fmt: skip
            # A worker that compute-sanitizer stops is slow to begin.
            command[command.index("--timeout") + 1] = "300"
            title = f"compute-sanitizer {tool}, " + (form.strip("-") or "loops by cost")
            name = f"{tool}{form}"
            stages.append(Stage(name, title, command, 600, 45 if telling else 0, {}, missing))
    return stages


def find_tool(name: str) -> str | None:
    """A program of the toolkit, on the path or where toolkits lie."""
    homes = [os.environ.get(key, "") for key in ("CUDA_HOME", "CUDA_PATH", "CUDA_ROOT")]
    places = [f"{home}/bin" for home in [*homes, "/usr/local/cuda"] if home]
    return shutil.which(name) or shutil.which(name, path=os.pathsep.join(places))


# ===- The machine ------------------------------------------------------------===#


def _say(command: Sequence[str], limit: float = 20) -> str:
    """What a program prints; "" where it fails."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def probe(limit: float = 60) -> tuple[str, str]:
    """(the first device's chip, "") or ("", why there is none); in a process of its own."""
    code = "from loopc import _loopc; print(_loopc.device_chip(0))"
    try:
        done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True,
                              text=True, timeout=limit, check=False)  # fmt: skip
    except subprocess.TimeoutExpired:
        return "", f"the driver does not answer within {limit:.0f} s"
    if done.returncode == 0 and done.stdout.startswith("sm_"):
        return done.stdout.strip(), ""
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    return "", lines[-1] if lines else f"status {done.returncode}"


def describe(chip: str) -> dict[str, str]:
    """What the page says of the machine."""
    fields = {
        "Card": "name",
        "Driver": "driver_version",
        "Memory": "memory.total",
        "Highest clock of the processors": "clocks.max.sm",
        "Power limit": "power.limit",
    }
    query = f"--query-gpu={','.join(fields.values())}"
    said = _say(["nvidia-smi", query, "--format=csv,noheader", "--id=0"]).split(", ")
    known = dict(zip(fields, said, strict=False)) if len(said) == len(fields) else {}
    processor = platform.machine()
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            processor = line.partition(":")[2].strip()
            break
    nvcc = _say([find_tool("ptxas") or "ptxas", "--version"]).splitlines()
    known |= {
        "Chip": chip,
        "Date": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "Processor": f"{processor}, {os.cpu_count()} threads",
        "ptxas": next((line.strip() for line in nvcc if "release" in line), "none"),
        "Python": platform.python_version(),
    }
    if driver := os.environ.get("LOOPC_CUDA_DRIVER"):
        known["Driver in place of libcuda.so.1"] = pathlib.Path(driver).name
    return known


# ===- Running ----------------------------------------------------------------===#


class Runner:
    """Runs stages one behind the other and keeps what is known on disk."""

    def __init__(self, out: pathlib.Path, budget: float, machine: dict[str, str]) -> None:
        out.mkdir(parents=True, exist_ok=True)
        self.out, self.budget = out, budget
        self.began = time.monotonic()
        self.results: dict[str, Any] = {"machine": machine, "stages": []}
        self._log: TextIO = (out / "log.txt").open("w")
        self._process: subprocess.Popen[bytes] | None = None

    def left(self) -> float:
        """Seconds until the whole run shall end."""
        return self.budget - (time.monotonic() - self.began)

    def run(self, stage: Stage, limit: float, quick: bool) -> None:
        """Runs a stage, unless there is no time, or something, for it."""
        limit = min(limit, self.left())
        if quick and stage.quick == 0:
            self._add(stage, "not run", "left out of a quick run")
        elif stage.missing:
            self._add(stage, "not run", stage.missing)
        elif limit < 5:
            self._add(stage, "not run", "there was no time left")
        else:
            chip, why = probe(min(60.0, limit))
            if chip:
                self._execute(stage, limit)
            else:
                self._add(stage, "not run", f"the device is gone: {why}")

    def stop(self) -> None:
        """Ends the process that runs, with all that it has started."""
        if self._process is not None and self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()

    def _execute(self, stage: Stage, limit: float) -> None:
        begin = time.monotonic()
        self._tell(f"==> {stage.title} (at most {limit:.0f} s)")
        lines: list[str] = []
        environment = os.environ | {"PYTHONUNBUFFERED": "1", "NO_COLOR": "1"} | stage.environment
        try:
            self._process = subprocess.Popen(
                stage.command, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
            )  # fmt: skip
        except OSError as error:
            self._add(stage, "failed", f"cannot be started: {error}")
            return
        ended = self._follow(stage, begin + limit, lines)
        self.stop()
        status = self._process.returncode
        if not ended:
            verdict, why = "timed out", f"stopped after {limit:.0f} s"
        elif status == 0:
            verdict, why = "passed", ""
        else:
            verdict = "failed"
            why = f"signal {-status}" if status < 0 else f"status {status}"
        self._add(stage, verdict, why, time.monotonic() - begin, lines)

    def _follow(self, stage: Stage, end: float, lines: list[str]) -> bool:
        """Reads what the process prints; whether that came to its end before `end`."""
        assert self._process is not None and self._process.stdout is not None
        begin = told = time.monotonic()
        rest = b""
        with selectors.DefaultSelector() as selector:
            selector.register(self._process.stdout, selectors.EVENT_READ)
            while (now := time.monotonic()) < end:
                if now - told > HEARTBEAT:
                    told = now
                    last = lines[-1][:90] if lines else "nothing yet"
                    self._tell(f"    {now - begin:4.0f} s  {len(lines)} lines, {last}", log=False)
                if not selector.select(min(1.0, end - now)):
                    # What it started may hold the pipe open for ever.
                    if self._process.poll() is not None:
                        return True
                    continue
                read = os.read(self._process.stdout.fileno(), 1 << 16)
                if not read:
                    return self._wait(end)
                *whole, rest = (rest + read).split(b"\n")
                for line in whole:
                    text = line.decode(errors="replace").rpartition("\r")[2].rstrip()
                    lines.append(text)
                    self._log.write(text + "\n")
                self._log.flush()
        return False

    def _wait(self, end: float) -> bool:
        assert self._process is not None
        try:
            self._process.wait(max(0.1, end - time.monotonic()))
        except subprocess.TimeoutExpired:
            return False
        return True

    def _add(self, stage: Stage, verdict: str, why: str, seconds: float = 0.0,
             lines: Sequence[str] = ()) -> None:  # fmt: skip
        about = gpu_page.read_lines(stage.name, lines, ROOT)
        if why == "status 1" and gpu_page.is_as_on_the_cpu(lines, about):
            verdict, why = "passed", ""
        entry = {"name": stage.name, "title": stage.title, "verdict": verdict, "why": why,
                 "seconds": round(seconds, 1), **about, "tail": list(lines[-15:])}  # fmt: skip
        self.results["stages"].append(entry)
        said = f"{verdict}{': ' if why else ''}{why}"
        self._tell(f"    {stage.name}: {said}, {seconds:.0f} s. {about['summary']}".rstrip(". "))
        if verdict in ("failed", "timed out"):
            for line in about["failures"][:5] or lines[-5:]:
                self._tell(f"      {line[:150]}", log=False)
        self.write()

    def write(self) -> None:
        """Brings the files up to date; none of them is ever half written."""
        for name, text in (
            ("results.json", json.dumps(self.results, indent=1) + "\n"),
            ("GPUResults.md", gpu_page.page(self.results)),
        ):
            made = self.out / f".{name}"
            made.write_text(text)
            made.replace(self.out / name)

    def _tell(self, text: str, log: bool = True) -> None:
        print(text, flush=True)
        if log:
            self._log.write(text + "\n")
            self._log.flush()


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="./dev gpu", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="in less than ten minutes")
    parser.add_argument("--budget", type=float, metavar="SECONDS",
                        help="for all stages together (default 4 hours; quick: 540)")  # fmt: skip
    parser.add_argument("--out", type=pathlib.Path, metavar="DIR", default=ROOT / "build/gpu",
                        help="where results go (default build/gpu)")  # fmt: skip
    parser.add_argument("--only", metavar="NAMES", help="these stages, with commas")
    parser.add_argument("--skip", default="", metavar="NAMES", help="all but these")
    parser.add_argument("--list", action="store_true", help="name the stages and stop")
    parser.add_argument("--page", type=pathlib.Path, metavar="FILE",
                        help="print the page of a results.json")  # fmt: skip
    options = parser.parse_args(argv)
    options.budget = options.budget or (540 if options.quick else 4 * 3600)
    options.stages = make_stages(options.quick)
    names = {stage.name for stage in options.stages}
    asked = set((options.only or "").split(",")) | set(options.skip.split(","))
    if unknown := asked - names - {""}:
        parser.error(f"no such stage: {', '.join(sorted(unknown))}; --list names them")
    if options.only:
        kept = set(options.only.split(","))
        options.stages = [stage for stage in options.stages if stage.name in kept]
    options.stages = [s for s in options.stages if s.name not in options.skip.split(",")]
    if options.budget <= 0 or not options.stages:
        parser.error("there is nothing to run")
    return options


def main(argv: Sequence[str] | None = None) -> int:
    """Runs what the command line asks for and returns the exit status."""
    options = _arguments(argv)
    if options.list:
        for stage in options.stages:
            print(f"{stage.name:18} {stage.title}")
        return 0
    if options.page:
        print(gpu_page.page(json.loads(options.page.read_text())), end="")
        return 0
    chip, why = probe()
    if not chip:
        print(f"there is no device to run on: {why} (see docs/GPU.md)", file=sys.stderr)
        return 1
    runner = Runner(options.out, options.budget, describe(chip))
    for name, value in runner.results["machine"].items():
        print(f"    {name}: {value}")

    def end(*_: Any) -> None:
        runner.stop()
        raise SystemExit(1)

    # What stops this process must not lose what is known: it is on disk already.
    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGHUP, end)
    try:
        for stage in options.stages:
            runner.run(stage, stage.quick if options.quick else stage.limit, options.quick)
    finally:
        runner.stop()
    page = options.out / "GPUResults.md"
    if (ROOT / "docs").is_dir() and "LOOPC_CUDA_DRIVER" not in os.environ and not options.only:
        shutil.copy(page, ROOT / "docs/GPUResults.md")
        page = ROOT / "docs/GPUResults.md"
    print(f"Written: {page}, {options.out}/results.json, {options.out}/log.txt")
    bad = [s["name"] for s in runner.results["stages"] if s["verdict"] in ("failed", "timed out")]
    gone = any("device is gone" in s["why"] for s in runner.results["stages"])
    if bad:
        print(f"Not passed: {', '.join(bad)}")
    return int(bool(bad) or gone)


if __name__ == "__main__":
    sys.exit(main())
