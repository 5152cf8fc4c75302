# ===- device_loops.py - What a loop costs on a GPU --------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Measures an iteration of loops that do next to nothing, in each form that they have on a GPU.

    device_loops.py                 on the first GPU
    device_loops.py --seconds 2     for each

An iteration in which each element depends on itself alone is one addition; one in
which they depend on each other is a sum over 32 of them. The difference of a long
run and a short one is taken, so that what a run costs once does not count.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence

import loopc
import numpy as np
from models_basic import make_model

FORMS = ("kernel", "cluster", "graph", "host")
SHORT, LONG = 100, 10_100

LOOPS = {
    "an element alone": """(int64 M, float[32] x) => (float[32] y) {
        cond = Constant<value: tensor = bool {1}>()
        y = Loop(M, cond, x) <body = body (int64 i, bool c, float[32] v) => (bool go, float[32] w) {
            go = Identity(c)
            w = Add(v, x)
        }>
    }""",
    "all elements": """(int64 M, float[32] x) => (float[32] y) {
        cond = Constant<value: tensor = bool {1}>()
        axes = Constant<value: tensor = int64[1] {0}>()
        small = Constant<value: tensor = float {0.01}>()
        y = Loop(M, cond, x) <body = body (int64 i, bool c, float[32] v) => (bool go, float[32] w) {
            go = Identity(c)
            s = ReduceSum<keepdims: int = 1>(v, axes)
            t = Mul(s, small)
            w = Sub(x, t)
        }>
    }""",
}


def measure(session: loopc.InferenceSession, trips: int, seconds: float) -> float:
    """The shortest time of a run, in seconds."""
    feeds = {"M": np.array(trips), "x": np.linspace(0, 1, 32, dtype=np.float32)}
    best, end = float("inf"), time.perf_counter() + seconds
    session.run(None, feeds)
    while True:
        begin = time.perf_counter()
        session.run(None, feeds)
        now = time.perf_counter()
        best = min(best, now - begin)
        if now > end:
            return best


def main(argv: Sequence[str] | None = None) -> int:
    """Prints a table and returns the exit status: 1 where a form fails."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=0.5, metavar="S", help="for each run")
    parser.add_argument("--trips", type=int, default=LONG, metavar="N", help="of the long run")
    options = parser.parse_args(argv)
    if options.trips <= SHORT:
        parser.error(f"--trips must be more than {SHORT}")
    print(f"{'nanoseconds an iteration':28}" + "".join(f"{form:>12}" for form in FORMS))
    status = 0
    for name, text in LOOPS.items():
        model = make_model(text).SerializeToString()
        row = []
        for form in FORMS:
            try:
                session = loopc.InferenceSession(
                    model, device="cuda:0", min_kernel_work=0, device_loops=form
                )
                short = measure(session, SHORT, options.seconds)
                long = measure(session, options.trips, options.seconds)
            except loopc.Error as error:
                # The other forms may do.
                print(f"{name}, {form}: {error}", file=sys.stderr)
                row.append("fails")
                status = 1
                continue
            row.append(f"{(long - short) / (options.trips - SHORT) * 1e9:.0f}")
        print(f"{name:28}" + "".join(f"{value:>12}" for value in row), flush=True)
    return status


if __name__ == "__main__":
    raise SystemExit(main())
