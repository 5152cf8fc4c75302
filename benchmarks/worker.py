# ===- worker.py - A process in which one engine runs -----------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Engines in processes of their own.

An engine that crashes, hangs or takes all threads does so to itself alone, and
the number of processors that a process may use is set before the engine counts
them. The processes wait while they are not asked, so they do not disturb each
other's times.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import time
import traceback
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

import numpy as np
import suite
from models_basic import Benchmark, Outputs
from peers import ALL_ENGINES, GPU_ENGINES, Unable

#: Seconds after which a run is given up.
PATIENCE = float(os.environ.get("LOOPC_BENCH_PATIENCE", "120"))


def _serve(connection: Connection, engine: str, threads: int) -> None:
    """Answers requests until there are no more."""
    if engine in GPU_ENGINES:
        # What is timed is the device's, beside one thread that drives it; getting ready may take
        # all processors. JAX would take most of the memory for itself.
        os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    else:
        processors = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, set(processors[-threads:]))
        os.environ["JAX_PLATFORMS"] = "cpu"
    os.environ["OMP_NUM_THREADS"] = str(threads)
    # The time to compile is shown, too.
    os.environ["LOOPC_CACHE_DIR"] = "off"
    once: Callable[[], Outputs] | None = None
    while True:
        try:
            request = connection.recv()
        except EOFError:
            return
        try:
            if request[0] == "open":
                once = None
                once, answer = _open(engine, request[1], threads)
            else:
                assert once is not None
                answer = _time(once, request[1], request[2])
            connection.send(("ok", answer))
        except Unable as reason:
            connection.send(("unable", str(reason)))
        except BaseException as error:  # Engines' errors have no common base.
            if isinstance(error, KeyboardInterrupt):
                return
            lines = [line.strip() for line in str(error).splitlines() if line.strip()]
            if os.environ.get("LOOPC_BENCH_TRACE"):
                traceback.print_exc()
            connection.send(("failed", (" ".join(lines) or type(error).__name__)[:300]))


def _open(engine: str, key: str, threads: int) -> tuple[Callable[[], Outputs], Any]:
    """Gets a model ready, runs it once; the answer is (seconds to open, outputs)."""
    benchmark: Benchmark = suite.make(key)
    begin = time.perf_counter()
    run = ALL_ENGINES[engine](key, benchmark, threads)
    seconds = time.perf_counter() - begin
    feeds, drive = benchmark.feeds, benchmark.drive

    def once() -> Outputs:
        return run(feeds) if drive is None else drive(run, feeds)

    outputs = [np.array(value) for value in once()]
    return once, (seconds, outputs)


def _time(once: Callable[[], Outputs], seconds: float, most: int) -> list[float]:
    """Durations of runs, for about so many seconds."""
    times: list[float] = []
    end = time.perf_counter() + seconds
    while not times or (time.perf_counter() < end and len(times) < most):
        begin = time.perf_counter()
        once()
        times.append(time.perf_counter() - begin)
    return times


class Worker:
    """A process with an engine; started when it is asked for the first time."""

    def __init__(self, engine: str, threads: int) -> None:
        self.engine = engine
        self.threads = threads
        self._process: Any = None
        self._connection: Connection | None = None

    def ask(self, *request: Any) -> tuple[str, Any]:
        """("ok", answer), ("unable", why) or ("failed", why)."""
        if self._connection is None:
            context = multiprocessing.get_context("spawn")
            self._connection, theirs = context.Pipe()
            arguments = (theirs, self.engine, self.threads)
            self._process = context.Process(target=_serve, args=arguments, daemon=True)
            self._process.start()
            theirs.close()
        try:
            self._connection.send(request)
            if not self._connection.poll(PATIENCE):
                self.close()
                return "failed", f"no answer after {PATIENCE:.0f} s"
            answer: tuple[str, Any] = self._connection.recv()
            return answer
        except (EOFError, OSError):
            self._process.join(5)
            code = self._process.exitcode
            self.close()
            return "failed", f"the process ended with status {code}"

    def close(self) -> None:
        """Ends the process."""
        if self._connection is not None:
            with contextlib.suppress(OSError):
                self._connection.close()
            self._process.terminate()
            self._process.join(5)
        self._connection = self._process = None
