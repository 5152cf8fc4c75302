# ===- compare.py - The time of the example beside onnxruntime's ------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Times newton.onnxtxt in loopc and in onnxruntime, in one process.

The engines take turns run by run, each with one thread, so that whatever else
the machine does falls on both; the table shows medians. Both are called from
Python, and its cost is in the times. Before anything is timed the outputs are
compared: exit status 1 where they differ.
"""

import argparse
import statistics
import sys
import time
from pathlib import Path
from typing import Any

import loopc
import numpy as np
import onnx.parser
import onnxruntime

MODEL = Path(__file__).parent / "newton.onnxtxt"
ORBITS = (9, 1000, 100_000)

Feeds = dict[str, Any]


def make_feeds(orbits: int) -> Feeds:
    """Orbits of every kind, the same ones each time."""
    random = np.random.default_rng(orbits)
    return {
        "anomaly": random.uniform(0.5, 2 * np.pi - 0.5, orbits),
        "eccentricity": random.uniform(0, 0.5, orbits),
        "limit": np.array(2**63 - 1, np.int64),
        "tolerance": np.array(1e-9),
    }


def open_engines() -> dict[str, Any]:
    """A session of each engine, with one thread."""
    model = onnx.parser.parse_model(MODEL.read_text()).SerializeToString()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    return {
        "loopc": loopc.InferenceSession(model),
        "onnxruntime": onnxruntime.InferenceSession(
            model, options, providers=["CPUExecutionProvider"]
        ),
    }


def compare(engines: dict[str, Any], feeds: Feeds) -> tuple[int, bool]:
    """The number of iterations, and whether the engines agree on all outputs."""
    ours, theirs = (engine.run(None, feeds) for engine in engines.values())
    agree = all(
        one.shape == other.shape and np.allclose(one, other, rtol=1e-12, atol=1e-12)
        for one, other in zip(ours, theirs, strict=True)
    )
    return len(ours[1]), agree


def measure(engines: dict[str, Any], feeds: Feeds, seconds: float) -> list[float]:
    """Median time of a run of each engine; they take turns for `seconds`."""
    runs: dict[str, list[float]] = {name: [] for name in engines}
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(next(iter(runs.values()))) < 5:
        for name, engine in engines.items():
            began = time.perf_counter()
            engine.run(None, feeds)
            runs[name].append(time.perf_counter() - began)
    return [statistics.median(times) for times in runs.values()]


def main() -> int:
    """Prints the table; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--seconds", type=float, default=1.0, help="time for each row")
    arguments = parser.parse_args()
    engines = open_engines()
    print(f"loopc {loopc.__version__}, onnxruntime {onnxruntime.__version__}; median run")
    print(f"{'orbits':>7} {'iterations':>11} {'loopc':>11} {'onnxruntime':>12} {'times':>7}")
    for orbits in ORBITS:
        feeds = make_feeds(orbits)
        iterations, agree = compare(engines, feeds)
        if not agree:
            print(f"the engines' outputs differ for {orbits} orbits", file=sys.stderr)
            return 1
        ours, theirs = measure(engines, feeds, arguments.seconds)
        print(
            f"{orbits:7} {iterations:11} {ours * 1e6:8.1f} us {theirs * 1e6:9.1f} us"
            f" {theirs / ours:6.1f}x"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
