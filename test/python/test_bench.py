# ===- test_bench.py - ./dev bench ------------------------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""benchmarks/: what is printed and written, and that wrong outputs have no time."""

import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import onnx
import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
sys.path.insert(0, str(BENCHMARKS))

import bench  # noqa: E402
import models_decoders  # noqa: E402
import models_networks  # noqa: E402
import operators  # noqa: E402
import peers  # noqa: E402
import report  # noqa: E402
import suite  # noqa: E402


def test_module_names_are_their_own():
    """Tests import from these folders: a name that is there twice is the one or the other."""
    root = BENCHMARKS.parent
    folders = ["benchmarks", "utils", "test/conformance", "test/fuzz", "test/python"]
    names = [path.stem for folder in folders for path in (root / folder).glob("*.py")]
    assert sorted(names) == sorted(set(names))


def run(*arguments):
    command = [sys.executable, BENCHMARKS / "bench.py", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)


def row(key, **times):
    entries = {name: {"compile": 0.1, "median": time} for name, time in times.items()}
    return {
        "key": key,
        "title": key.upper(),
        "iterations": 10,
        "threads": 1,
        "engines": entries,
        "missing": {"openvino": "wrong: output 0: 3 of 4 values differ"},
    }


DOCUMENT = {
    "processor": "A Processor",
    "measured": "commit 0123456, 2026-01-02",
    "versions": {"loopc": "0.1.0", "onnxruntime": "1", "openvino": "2", "limit": "limits/*.cpp"},
    "absent": ["jax"],
    "rows": [
        row("a", loopc=2e-3, onnxruntime=3.0, limit=1e-3),
        row("b<c>", onnxruntime=1e-3),
    ],
}


def test_run(tmp_path):
    times, chart = tmp_path / "times.json", tmp_path / "chart.svg"
    given = ["--quick", "--seconds=0.2", "--engines=loopc,onnxruntime,limit", f"--json={times}"]
    done = run(*given, "--filter=^(nested|if_in_loop)$", f"--svg={chart}")
    assert done.returncode == 0, done.stderr
    assert "nested 300x300" in done.stdout
    document = json.loads(times.read_text())
    assert [entry["key"] for entry in document["rows"]] == ["nested", "if_in_loop"]
    for entry in document["rows"]:
        assert set(entry["engines"]) == {"loopc", "onnxruntime", "limit"}, entry["missing"]
    assert chart.read_text().startswith("<svg")
    done = run(
        "--quick", "--seconds=0.2", "--engines=loopc", "--filter=nested", f"--compare={times}"
    )
    assert done.returncode == 0, done.stderr
    assert "geometric mean" in done.stdout


@pytest.mark.parametrize(
    "given", [["--filter=nope"], ["--engines=nope"], ["--threads=0"], ["--compare=/nowhere"], ["x"]]
)
def test_wrong_usage(given):
    done = run(*given)
    assert done.returncode == 2
    assert "error: " in done.stderr


def test_page():
    page = report.page(DOCUMENT)
    assert "| A | 2.00 ms | 3.00 s | - | 1.00 ms | 2.00x | 1,500x |" in page
    assert "| OpenVINO | A, B<C> | wrong: output 0: 3 of 4 values differ |" in page
    assert "B&lt;C&gt;" in report.chart(DOCUMENT)


def test_comparison():
    base = {**DOCUMENT, "rows": [row("a", loopc=1e-3)]}
    text = report.comparison(DOCUMENT, base)
    assert "2.00x" in text
    assert "geometric mean" in text


def test_iree_says_why():
    said = """model.mlir:4:10: error: failed to legalize operation 'torch.operator' that was
    explicitly marked illegal: %1 = "torch.operator"(%arg0) <{name = "onnx.Loop"}> ({"""
    assert peers._iree_reason(said) == "it does not lower onnx.Loop"
    assert peers._iree_reason("a.py:1: warning: old\na.py:2: error: no such op\n") == "no such op"
    assert peers._iree_reason("Traceback\nValueError: odd\n") == "ValueError: odd"
    assert peers._iree_reason("") == "it says nothing"


def test_wrong_outputs_are_found():
    benchmark = suite.make("nested")
    want = benchmark.expect(benchmark.feeds)
    assert bench.difference(want, want, benchmark) is None
    wrong = [want[0] + 1, want[1]]
    assert bench.difference(wrong, want, benchmark)
    assert bench.difference([want[0].astype(np.float64), want[1]], want, benchmark)
    assert bench.difference(want[:1], want, benchmark)


@pytest.mark.parametrize("key", suite.BENCHMARKS)
def test_limit(key, monkeypatch):
    """What is written by hand is right, too."""
    monkeypatch.setattr(peers, "VECTOR_BITS", (512,))
    monkeypatch.setattr(peers, "LIMIT_ROUNDS", 1)
    # Weights are constants of theirs, or peers are what they are for.
    if key in {
        "silero_vad",
        "tree_ensemble",
        *models_networks.BENCHMARKS,
        *models_decoders.BENCHMARKS,
    }:
        assert peers._limit_of(key) is None
        return
    benchmark = suite.make(key)
    onnx.checker.check_model(benchmark.model, full_check=True)
    outputs = peers.open_limit(key, benchmark, 1)(benchmark.feeds)
    want = benchmark.expect(benchmark.feeds)
    assert bench.difference(outputs, want, benchmark) is None


def test_rests_are_no_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """What two engines rest between their turns is not taken from the time of their runs."""
    rests = []
    monkeypatch.setattr(operators, "rest", lambda threads: rests.append(time.sleep(0.03)))
    counts = [0, 0]

    def run(which: int) -> None:
        counts[which] += 1
        time.sleep(0.0005)

    operators.timings((lambda: run(0), lambda: run(1)), 0.1, 2)
    # Of 0.5 ms and more each: 200 on an idle machine, and 10 if rests counted.
    assert min(counts) >= 30
    assert len(rests) <= 30
