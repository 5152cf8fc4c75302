# ===- session.py - A model in process --------------------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Runs the example with the package that is imported, in process and as a shared library."""

import pathlib
import sys

import loopc
import loopc.aot
import numpy as np

inputs = {
    "anomaly": np.array([3.05, 1.16]),
    "eccentricity": np.array([0.21, 0.97]),
    "limit": np.int64(10),
    "tolerance": np.float64(1e-9),
}
print(loopc.__version__, pathlib.Path(loopc.__file__).parent, loopc.aot.find_compiler())
for session in (loopc.InferenceSession(sys.argv[1]), loopc.load(sys.argv[2])):
    print(session.run(["angle"], inputs)[0])
