# ===- test_gpu_command.py - ./dev gpu ---------------------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""utils/gpu.py: one stage that fails does not lose what the others found."""

import json
import os
import pathlib
import subprocess
import sys
import time
import types
from typing import Any

import loopc
import pytest

ROOT = pathlib.Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "utils"))

import gpu  # noqa: E402
import gpu_page  # noqa: E402

DRIVER = pathlib.Path(loopc.__file__).parents[2] / "test/cuda/libcuda.so.1"


def stage(name: str, code: str, **fields: Any) -> gpu.Stage:
    return gpu.Stage(name, f"Stage {name}", [sys.executable, "-c", code], 30, 30, **fields)


@pytest.fixture
def runner(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> gpu.Runner:
    monkeypatch.setattr(gpu, "probe", lambda limit=0.0: ("sm_90", ""))
    return gpu.Runner(tmp_path, 60, {"Card": "A | card"})


def verdicts(runner: gpu.Runner) -> list[str]:
    return [entry["verdict"] for entry in runner.results["stages"]]


def test_each_stage_by_itself(runner: gpu.Runner) -> None:
    """Failures of all kinds, and what was printed before them."""
    runner.run(stage("tests", "print('a.py PASSED'); import os; os.abort()"), 20, False)
    line = "test/python/test_x.py::test_one PASSED [ 5%]"
    hangs = f"import time; print('{line}', flush=True); time.sleep(60)"
    runner.run(stage("tests", hangs), 5, False)
    runner.run(stage("c", "raise SystemExit(3)"), 20, False)
    missing = gpu.Stage("d", "none", ["/does/not/exist"], 9, 9)
    runner.run(missing, 20, False)
    runner.run(stage("e", "", missing="it is not installed"), 20, False)
    runner.run(stage("f", "print('ok')"), 20, False)
    assert verdicts(runner) == ["failed", "timed out", "failed", "failed", "not run", "passed"]
    why = [entry["why"] for entry in runner.results["stages"]]
    assert why[0] == "signal 6" and why[2] == "status 3" and "cannot be started" in why[3]
    assert runner.results["stages"][1]["summary"] == "1 of 1 tests pass"
    written = json.loads((runner.out / "results.json").read_text())
    assert written == runner.results
    page = (runner.out / "GPUResults.md").read_text()
    assert "| Stage tests | **timed out** | 5 | stopped after 5 s; 1 of 1 tests pass |" in page
    assert "A \\| card" in page
    assert "raise" not in page and "## Not run" in page


def test_cases_that_fail_on_the_cpu_too(runner: gpu.Runner) -> None:
    """ONNX's suite has some; its status is 1 then, as where it does not come to its end."""
    cases = "pass          test_loop11\\nmismatch      test_bernoulli 6 of 10 values differ"
    through = "1 of 2 passed (1 pass, 1 mismatch); control flow and collections: 1 of 1 as written"
    regression = "mismatch      test_loop11"
    for number, text in enumerate((f"{cases}\\n{through}", cases, f"{regression}\\n{through}")):
        name = "conformance" if number else "suite-graph"
        runner.run(stage(name, f"print('{text}'); raise SystemExit(1)"), 20, False)
    assert verdicts(runner) == ["passed", "failed", "failed"]


def test_what_a_stage_leaves_is_ended(runner: gpu.Runner) -> None:
    """A process that keeps the pipe open does not keep this one waiting."""
    code = "import subprocess, sys; subprocess.Popen([sys.executable, '-c', 'input()' ' or 1'])"
    code = code.replace("'input()' ' or 1'", "'import time; time.sleep(50)'")
    begin = time.monotonic()
    runner.run(stage("a", code), 40, False)
    assert verdicts(runner) == ["passed"]
    assert time.monotonic() - begin < 20


def test_time_is_up(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu, "probe", lambda limit=0.0: ("sm_90", ""))
    runner = gpu.Runner(tmp_path, 3, {})
    runner.run(stage("a", ""), 20, False)
    assert runner.results["stages"][0]["why"] == "there was no time left"


def test_device_is_gone(runner: gpu.Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu, "probe", lambda limit=0.0: ("", "it fell off the bus"))
    runner.run(stage("a", ""), 20, False)
    assert runner.results["stages"][0]["why"] == "the device is gone: it fell off the bus"


def test_quick_fits() -> None:
    """All limits of a quick run together are less than ten minutes, probes included."""
    stages = gpu.make_stages(quick=True)
    assert sum(stage.quick for stage in stages) <= 600
    assert len({stage.name for stage in stages}) == len(stages)


def test_what_stages_print() -> None:
    lines = ["pass          test_loop11", "mismatch      test_if 3 of 4 differ",
             "run error     test_no_such_case it is not listed",
             "========= ERROR SUMMARY: 2 errors"]  # fmt: skip
    about = gpu_page.read_lines("memcheck", lines, ROOT)
    assert about["summary"] == "1 of 3 cases pass"
    assert about["failures"] == ["compute-sanitizer found 2 errors (log.txt)",
                                 "test_if: mismatch 3 of 4 differ"]  # fmt: skip
    heading = "nanoseconds an iteration          kernel       graph        host"
    about = gpu_page.read_lines(
        "loops", [heading, "an element alone      38      2100   20000"], ROOT
    )
    assert about["goals"] == [
        "kernel: 38 ns an iteration, goal 50 ns: met",
        "graph: 2100 ns an iteration, goal 2000 ns: missed",
    ]
    row = "an element alone   fails      2100   20000"
    about = gpu_page.read_lines("loops", [heading, row], ROOT)
    assert about["goals"] == ["graph: 2100 ns an iteration, goal 2000 ns: missed"]


def test_a_form_that_fails() -> None:
    """The times of the others are there."""
    driver = {"LOOPC_CUDA_DRIVER": str(DRIVER), "LOOPC_FAKE_CUDA_FAIL": "cuGraphLaunch=2"}
    command = [sys.executable, str(ROOT / "benchmarks/device_loops.py"), "--seconds=0.01",
               "--trips=200"]  # fmt: skip
    done = subprocess.run(command, env=os.environ | driver | {"LOOPC_PTXAS": ""},
                          capture_output=True, text=True, timeout=100, check=False)  # fmt: skip
    row = next(line for line in done.stdout.splitlines() if line.startswith("an element alone"))
    cells = row.removeprefix("an element alone").split()
    assert [cell == "fails" for cell in cells] == [False, False, True, False]
    assert done.returncode == 1 and "graph: device 0" in done.stderr


def test_workers_end_by_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    """compute-sanitizer takes a process that was killed for one that failed."""
    sys.path.insert(0, str(ROOT / "test/conformance"))
    import pool

    codes: list[int | None] = []
    stop = pool._Worker.stop

    def note(worker: pool._Worker, limit: float) -> None:
        stop(worker, limit)
        codes.append(worker._process.exitcode)

    monkeypatch.setattr(pool._Worker, "stop", note)
    monkeypatch.setattr(pool, "run_case", lambda case, engine: pool.Result(case.name, "pass"))
    cases: Any = [types.SimpleNamespace(name=name) for name in "abc"]
    assert len(list(pool.run_all(cases, "reference", 2, 20))) == 3
    assert codes == [0, 0]


def test_the_page_of_this_repository() -> None:
    """Either it was never run, and the page says so, or the page is of a run on a card."""
    text = (ROOT / "docs/GPUResults.md").read_text()
    assert text == gpu_page.NOT_RUN or ("| Card |" in text and "Not a GPU" not in text)


def run_gpu(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "utils/gpu.py"), *arguments]
    return subprocess.run(command, env=os.environ | environment, capture_output=True, text=True,
                          timeout=150, check=False)  # fmt: skip


def test_on_the_driver_for_tests(tmp_path: pathlib.Path) -> None:
    done = run_gpu("--quick", "--only=smoke", f"--out={tmp_path}", LOOPC_CUDA_DRIVER=str(DRIVER),
                   LOOPC_FAKE_CUDA_QUIET="1", LOOPC_PTXAS="")  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "smoke: passed" in done.stdout
    page = (tmp_path / "GPUResults.md").read_text()
    assert "**Not a GPU**" in page and "10 of 10 cases pass" in page
    again = run_gpu(f"--page={tmp_path}/results.json")
    assert again.stdout == page
    assert (ROOT / "docs/GPUResults.md").read_text() != page


def test_wrong_usage() -> None:
    done = run_gpu("--only=nothing")
    assert done.returncode == 2 and "no such stage: nothing" in done.stderr
    done = run_gpu(LOOPC_CUDA_DRIVER="/does/not/exist.so")
    assert done.returncode == 1 and "there is no device to run on" in done.stderr
