# ===- user_models.py - Models of users beside onnxruntime ------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Compiles ONNX models, runs them beside onnxruntime and compares what comes out.

    user_models.py model.onnx [more.onnx] [--set x.1=8000] [--set sr=16000]

An open first dimension is 1, the others 64, unless set: by their name, or by the
input and the axis. Inputs are random, or what is set. A row: seconds to compile,
milliseconds of a run (the shortest of some in turns, one thread), onnxruntime's
time in times of loopc's, and the largest relative difference of an output.
Exit status 1 where a model is refused or fails.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from ml_dtypes import bfloat16

TYPES: dict[str, Any] = {
    "tensor(float)": np.float32,
    "tensor(double)": np.float64,
    "tensor(float16)": np.float16,
    "tensor(bfloat16)": bfloat16,
    "tensor(int64)": np.int64,
    "tensor(int32)": np.int32,
    "tensor(uint8)": np.uint8,
    "tensor(bool)": np.bool_,
}


def make_feed(port: Any, given: Mapping[str, str], random: np.random.Generator) -> np.ndarray:
    """A value for an input: what was given, or random."""
    shape = []
    for axis, extent in enumerate(port.shape):
        if not isinstance(extent, int):
            chosen = given.get(f"{port.name}.{axis}") or given.get(str(extent))
            extent = int(chosen) if chosen else (1 if axis == 0 else 64)
        shape.append(extent)
    dtype = TYPES[port.type]
    if port.name in given:
        return np.full(shape, float(given[port.name])).astype(dtype)
    if np.issubdtype(dtype, np.floating):
        return random.standard_normal(shape).astype(dtype)
    return random.integers(0, 2 if dtype is np.bool_ else 5, shape).astype(dtype)


def _difference(got: Any, want: Any) -> float:
    if isinstance(want, list):
        return max(map(_difference, got, want), default=0.0)
    got = np.asarray(got)
    if got.shape != want.shape or got.dtype != want.dtype:
        return float("inf")
    if want.dtype.kind not in "fc":
        return 0.0 if (got == want).all() else float("inf")
    scale = np.abs(want).astype(np.float64) + 1e-3
    return float(np.max(np.abs(got.astype(np.float64) - want) / scale, initial=0.0))


def _measure(path: Path, given: Mapping[str, str]) -> str:
    # Here, so that a process of ready.py has one of the two.
    import loopc
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    peer = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    random = np.random.default_rng(0)
    feeds = {port.name: make_feed(port, given, random) for port in peer.get_inputs()}
    begin = time.perf_counter()
    session = loopc.InferenceSession(path, loopc.SessionOptions(cache_dir="off"))
    compiled = time.perf_counter() - begin
    difference = _difference(session.run(None, feeds), peer.run(None, feeds))
    best = [float("inf"), float("inf")]
    for _ in range(7):
        for k, engine in enumerate((session, peer)):
            begin = time.perf_counter()
            engine.run(None, feeds)
            best[k] = min(best[k], time.perf_counter() - begin)
    return (
        f"{compiled:8.2f} {best[0] * 1e3:10.3f} {best[1] * 1e3:12.3f} {best[1] / best[0]:7.2f}x "
        f"{difference:12.2g}"
    )


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("models", nargs="+", type=Path, metavar="MODEL")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=NUMBER")
    arguments = parser.parse_args()
    if not all("=" in one for one in arguments.set):
        parser.error("--set takes NAME=NUMBER")
    given = dict(one.split("=", 1) for one in arguments.set)
    width = max(len(path.name) for path in arguments.models)
    print(f"{'model':{width}} compile s   loopc ms onnxruntime ms   times   difference")
    status = 0
    for path in arguments.models:
        try:
            row = _measure(path, given)
        except Exception as error:  # of either engine: the next model goes on
            row, status = f" {type(error).__name__}: {str(error).splitlines()[0][:200]}", 1
        print(f"{path.name:{width}}{row}", flush=True)
    return status


if __name__ == "__main__":
    sys.exit(main())
