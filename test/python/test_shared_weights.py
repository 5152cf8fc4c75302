# ===- test_shared_weights.py - Weights of processes that run one model ---------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Workers that run one model have its weights in memory once: pages of the cache's file."""

import os
import pickle
import subprocess
import sys

import loopc
import numpy as np
import onnx
import pytest
from onnx import numpy_helper

MODEL = """<ir_version: 8, opset_import: ["" : 17]>
model (float[N,2500] x) => (float[N,2500] y) {
  a = MatMul (x, w0)
  b = Tanh (a)
  c = MatMul (b, w1)
  d = Tanh (c)
  e = MatMul (d, w2)
  f = Tanh (e)
  y = MatMul (f, w3)
}"""
#: 100 MB.
WEIGHTS = 4 * 2500 * 2500 * 4

WORKER = """
import pickle, sys
import loopc
import numpy as np

def pages(which):
    lines = open("/proc/self/smaps_rollup").read().splitlines()
    return sum(1024 * int(line.split()[1]) for line in lines if line.startswith(which))

x = np.ones((1, 2500), np.float32)
before = pages("Private"), pages("Rss")
session = pickle.load(open(sys.argv[1], "rb"))
y = session.run(None, {"x": x})[0]
print(float(y.sum()), flush=True)
sys.stdin.readline()
# All have read all weights by now, and none has ended.
after = pages("Private"), pages("Rss")
print(*(after[k] - before[k] for k in range(2)), flush=True)
sys.stdin.readline()
"""


@pytest.fixture
def session(tmp_path, monkeypatch):
    monkeypatch.setenv("LOOPC_CACHE_DIR", str(tmp_path / "cache"))
    model = onnx.parser.parse_model(MODEL)
    rng = np.random.default_rng(0)
    for number in range(4):
        weights = rng.uniform(-0.03, 0.03, (2500, 2500)).astype(np.float32)
        model.graph.initializer.append(numpy_helper.from_array(weights, f"w{number}"))
    onnx.save(model, tmp_path / "model.onnx")
    return loopc.InferenceSession(tmp_path / "model.onnx")


def files(folder):
    """The entries of a cache; one that is written anew is another file."""
    return {path.name: os.stat(path).st_ino for path in folder.glob("*.so")}


def test_eight_workers_share_the_weights(session, tmp_path):
    pickled = tmp_path / "session.pickle"
    pickled.write_bytes(pickle.dumps(session))
    assert pickled.stat().st_size < 10_000
    known = files(tmp_path / "cache")
    (y,) = session.run(None, {"x": np.ones((1, 2500), np.float32)})
    del session
    command = [sys.executable, "-c", WORKER, str(pickled)]
    started = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(8)
    ]
    try:
        for worker in started:
            assert float(worker.stdout.readline()) == pytest.approx(float(y.sum()))
        grown = []
        for worker in started:
            print("", file=worker.stdin, flush=True)
            grown.append([int(one) for one in worker.stdout.readline().split()])
    finally:
        for worker in started:
            worker.communicate("\n")
    for private, resident in grown:
        # They have read them all.
        assert resident > 0.9 * WEIGHTS
        assert private <= 2**20
    # None has compiled anything.
    assert files(tmp_path / "cache") == known
