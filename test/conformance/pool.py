# ===- pool.py - Workers that may die -===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Runs cases in processes with a time limit; a process that dies is started again."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import sys
import time
import warnings
from collections.abc import Generator, Sequence
from multiprocessing.connection import Connection, wait

from onnx.backend.test.case.test_case import TestCase
from runners import CRASH, TIMEOUT, Result, run_case

# Forked, so that the cases, which take seconds to make, are made once. The
# parent never imports an engine: what is forked has no threads.
_context = multiprocessing.get_context("fork")
#: Seconds that processes may take to end.
_PATIENCE = 10.0


def _serve(pipe: Connection, cases: Sequence[TestCase], engine: str) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # An engine that prints, or prints as it dies, must not mix with the progress.
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, sys.stdout.fileno())
    os.dup2(null, sys.stderr.fileno())
    warnings.simplefilter("ignore")
    while True:
        try:
            index = pipe.recv()
        except EOFError:
            return
        if index is None:
            return
        pipe.send(run_case(cases[index], engine))


class _Worker:
    def __init__(self, cases: Sequence[TestCase], engine: str) -> None:
        self._cases, self._engine = cases, engine
        self._index: int | None = None
        self._began = 0.0
        self._start()

    def _start(self) -> None:
        self.pipe, theirs = _context.Pipe()
        self._process = _context.Process(
            target=_serve, args=(theirs, self._cases, self._engine), daemon=True
        )
        self._process.start()
        theirs.close()

    @property
    def busy(self) -> bool:
        return self._index is not None

    def give(self, index: int) -> None:
        self._index, self._began = index, time.monotonic()
        self.pipe.send(index)

    def collect(self, limit: float) -> Result | None:
        """The result of the case given last, if there is one by now."""
        assert self._index is not None
        name = self._cases[self._index].name
        seconds = time.monotonic() - self._began
        result: Result | None = None
        if self.pipe.poll():
            try:
                result = self.pipe.recv()
            except (EOFError, ConnectionError):
                self._process.join()
                result = Result(name, CRASH, "", _ending(self._process.exitcode))
                self._start()
        elif seconds > limit:
            self._process.kill()
            self._process.join()
            result = Result(name, TIMEOUT, "", f"no answer within {limit:g} s")
            self._start()
        if result is not None:
            result.seconds = seconds
            self._index = None
        return result

    def ask_to_end(self) -> None:
        """Lets a process that has nothing to do end by itself.

        Tools that watch it take one that was killed for one that failed.
        """
        if not self.busy:
            with contextlib.suppress(OSError):
                self.pipe.send(None)

    def stop(self, limit: float) -> None:
        """Waits for so many seconds at most, and kills what is still there."""
        if not self.busy:
            self._process.join(limit)
        self.pipe.close()
        self._process.kill()
        self._process.join()


def _ending(code: int | None) -> str:
    if code is not None and code < 0:
        return f"killed by {signal.Signals(-code).name}"
    return f"ended with status {code}"


def run_all(
    cases: Sequence[TestCase], engine: str, jobs: int, limit: float
) -> Generator[Result, None, None]:
    """Runs the cases and yields each result as it comes."""
    workers = [_Worker(cases, engine) for _ in range(min(jobs, max(len(cases), 1)))]
    left = iter(range(len(cases)))
    try:
        for worker in workers:
            index = next(left, None)
            if index is None:
                break
            worker.give(index)
        while any(worker.busy for worker in workers):
            wait([w.pipe for w in workers if w.busy], timeout=0.2)
            for worker in workers:
                result = worker.collect(limit) if worker.busy else None
                if result is not None:
                    following = next(left, None)
                    if following is not None:
                        worker.give(following)
                    yield result
    finally:
        for worker in workers:
            worker.ask_to_end()
        end = time.monotonic() + _PATIENCE
        for worker in workers:
            worker.stop(max(0.0, end - time.monotonic()))
