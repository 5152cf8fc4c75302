# ===- ray_data.py - Ray Data beside the same loop in its worker -----------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""What is left of a model's speed in a worker of Ray Data, and what Ray itself leaves of it.

    PYTHONPATH=build/python .venv-apps/data/bin/python benchmarks/ray_data.py

One worker maps batches of rows of 1 KB: by `loopc.ray.Predictor` with a model of three layers,
and by a function that runs no model, takes as long and returns arrays of the same shapes. The
second has nothing of loopc's: what it loses is Ray's. A row has the share of the time between
the first batch and the last that was spent in the function, by the clock, of both in turns; and
the least time of a batch in the worker, beside that in a loop without Ray.
"""

from __future__ import annotations

import itertools
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

os.environ.setdefault("RAY_AUTH_MODE", "disabled")
os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")

import loopc
import loopc.ray
import numpy as np
import onnx
import ray
from onnx import numpy_helper

WIDTHS = (256, 1024, 768, 64)
#: Rows of a batch, batches of a block, blocks, whether results keep the batch's columns.
CASES = ((1024, 1, 48, True), (1024, 32, 3, True), (1024, 32, 3, False), (8192, 1, 12, True),
         (8192, 1, 12, False), (8192, 4, 3, False))  # fmt: skip
ROUNDS = 3


def write_model(path: Path) -> None:
    """Three layers of random weights."""
    text = """<ir_version: 8, opset_import: ["" : 17]>
model (float[N,256] x) => (float[N,64] y) {
  a = MatMul (x, w0)
  b = Relu (a)
  c = MatMul (b, w1)
  d = Relu (c)
  y = MatMul (d, w2)
}"""
    model = onnx.parser.parse_model(text)
    rng = np.random.default_rng(0)
    for at, shape in enumerate(itertools.pairwise(WIDTHS)):
        weights = rng.normal(0, shape[0] ** -0.5, shape).astype(np.float32)
        model.graph.initializer.append(numpy_helper.from_array(weights, f"w{at}"))
    onnx.save(model, path)


class Timed:
    """A function of a batch that writes down when it began and ended."""

    def __init__(self, model: str, keep: bool, rows: int, seconds: float, log: str) -> None:
        options = loopc.SessionOptions(intra_op_num_threads=1)
        self._predictor = loopc.ray.Predictor(model, keep_columns=keep, sess_options=options)
        self._keep, self._seconds = keep, seconds
        self._results = {"y": np.ones((rows, WIDTHS[-1]), np.float32)}
        self._log = Path(log)

    def __call__(self, batch: dict[str, Any]) -> dict[str, Any]:
        """Runs the model on a batch, or waits as long."""
        begin = time.perf_counter()
        if self._seconds:
            while time.perf_counter() - begin < self._seconds:
                pass
            made = {**batch, **self._results} if self._keep else self._results
        else:
            made = self._predictor(batch)
        with self._log.open("a") as log:
            print(begin, time.perf_counter(), file=log)
        return made


def measure(model: Path, case: tuple[int, int, int, bool], seconds: float) -> tuple[float, float]:
    """The share of the time that was spent in the function, and its least time."""
    rows, batches, blocks, keep = case
    log = model.with_name(f"log{time.perf_counter_ns()}")
    data = [np.ones((rows * batches, WIDTHS[0]), np.float32) for _ in range(blocks)]
    dataset = ray.data.from_numpy(data).rename_columns({"data": "x"}).materialize()
    mapped = dataset.map_batches(
        Timed,
        fn_constructor_args=(str(model), keep, rows, seconds, str(log)),
        batch_size=rows,
        concurrency=1,
        zero_copy_batch=True,
    )
    for _ in mapped.iter_internal_ref_bundles():
        pass
    times = [tuple(map(float, line.split())) for line in log.read_text().splitlines()]
    assert len(times) == batches * blocks
    # The first one is still beside the start of others.
    times = times[1:]
    spent = sum(end - begin for begin, end in times)
    return spent / (times[-1][1] - times[0][0]), min(end - begin for begin, end in times)


def in_process(model: Path, rows: int) -> float:
    """The least time of a batch in a loop of this process."""
    options = loopc.SessionOptions(intra_op_num_threads=1)
    predictor = loopc.ray.Predictor(str(model), sess_options=options)
    batch, times = {"x": np.ones((rows, WIDTHS[0]), np.float32)}, []
    for _ in range(20):
        begin = time.perf_counter()
        predictor(batch)
        times.append(time.perf_counter() - begin)
    return min(times)


def main() -> int:
    """Prints a row for each case."""
    ray.init(
        num_cpus=2, include_dashboard=False, object_store_memory=2 * 2**30, log_to_driver=False,
        runtime_env={"env_vars": {"OMP_NUM_THREADS": "1"}},
    )  # fmt: skip
    ray.data.DataContext.get_current().enable_progress_bars = False
    print(f"Ray {ray.__version__}; shares of the worker's time")
    print(" rows batches columns | ms alone, in Ray | loopc | no model")
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "model.onnx"
        write_model(model)
        for case in CASES:
            rows, batches, _, keep = case
            alone = in_process(model, rows)
            shares: list[list[float]] = [[], []]
            least = []
            for _ in range(ROUNDS):
                for at, seconds in enumerate((0.0, alone)):
                    share, shortest = measure(model, case, seconds)
                    shares[at].append(share)
                    least.append(shortest if at == 0 else np.inf)
            ours, none = (f"{statistics.median(one):.3f} ({max(one):.3f})" for one in shares)
            kept = "kept" if keep else "not"
            print(
                f"{rows:5} {batches:7} {kept:>7} | {alone * 1e3:8.2f} {min(least) * 1e3:6.2f} | "
                f"{ours} | {none}",
                flush=True,
            )
    ray.shutdown()
    return 0


if __name__ == "__main__":
    sys.exit(main())
