# ===- test_kept_blocks.py - Memory of runs stays the process's ---------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""A run does not ask the kernel for the pages that the one before has had."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytest.importorskip("resource")

PROGRAM = """
import resource, sys
import loopc, numpy as np, onnx.parser
size = int(sys.argv[1])
model = onnx.parser.parse_model('''
<ir_version: 9, opset_import: ["" : 18]>
g (float[n] x) => (float[m] y) {
  zero = Constant<value_int = 0>()
  a = CumSum(x, zero)  b = CumSum(a, zero)  c = CumSum(b, zero)  d = CumSum(c, zero)
  p = Concat<axis = 0>(a, c)  q = Concat<axis = 0>(b, d)
  i = CumSum(p, zero)  j = CumSum(q, zero)
  y = Add(i, j)
}''')
session = loopc.InferenceSession(model.SerializeToString())
feed = {"x": np.ones(size, np.float32)}
for _ in range(5):
    session.run(None, feed)
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(100):
    session.run(None, feed)
print((resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before) / 100)
"""


@pytest.mark.parametrize("size", [4_000, 14_000, 30_000])
def test_no_faults_in_later_runs(size: int) -> None:
    """Blocks of 16 to 240 KiB, whose sum malloc would give back to the kernel."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(size)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    # A page of 4 KiB is a fault: the blocks of a run have 40 and more.
    assert float(done.stdout) < 8
