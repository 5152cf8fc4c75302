# ===- python_session.py - A compiled model from Python ---------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""The model of examples/newton in a Python session, errors included.

The names are those of onnxruntime where the thing is the same.
"""

from pathlib import Path

import loopc
import numpy as np

MODEL = Path(__file__).parent / "newton" / "newton.onnxtxt"


def main() -> None:
    """Compiles the model into this process, looks at it and runs it."""
    session = loopc.InferenceSession(MODEL)
    for port in session.get_inputs():
        print(f"input   {port.name:13} {port.type:15} {port.shape}")
    for port in session.get_outputs():
        print(f"output  {port.name:13} {port.type:15} {port.shape}")

    feeds = {
        "anomaly": np.array([3.05, 1.16]),
        "eccentricity": np.array([0.21, 0.97]),
        "limit": np.int64(2**63 - 1),
        "tolerance": np.float64(1e-9),
    }
    angle, steps = session.run(["angle", "steps"], feeds)
    print("angle  ", angle)
    print("steps  ", steps)
    print("error  ", angle - feeds["eccentricity"] * np.sin(angle) - feeds["anomaly"])
    print(session.last_run_statistics)

    # The tolerance is missed for ever; without a limit nothing but the timeout
    # ends the loop, and the session goes on to work.
    options = loopc.RunOptions()
    options.timeout = 0.05
    endless = {**feeds, "tolerance": np.float64(-1.0)}
    try:
        session.run(["angle"], endless, options)
    except loopc.RunTimeoutError as error:
        print(f"{type(error).__name__}: {error}")

    # Nothing is cast silently.
    try:
        session.run(None, {**feeds, "limit": np.int32(3)})
    except loopc.InvalidArgument as error:
        print(f"{type(error).__name__}: {error}")


if __name__ == "__main__":
    main()
