# ===- test_signals.py - Signals while a model runs ---------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Ctrl-C, and the handlers of other signals, in the middle of a run."""

import os
import signal
import subprocess
import sys
import threading
import time

import loopc
import numpy as np
import onnx.parser
import pytest

ADD = onnx.parser.parse_model("""
<ir_version: 10, opset_import: ["" : 21]>
add (float[N] x) => (float[N] y) { y = Add(x, x) }""")

ENDLESS = onnx.parser.parse_model("""
<ir_version: 10, opset_import: ["" : 21]>
endless (float x) => (float y) {
  y = Loop ("", "", x) <body = step (int64 i, bool go, float before)
    => (bool more, float after) {
      more = Identity (go)
      after = Add (before, x)
    }>
}""")


@pytest.fixture(scope="module")
def add():
    return loopc.InferenceSession(ADD)


@pytest.fixture(scope="module")
def endless():
    # The limit is for a test that fails: nothing else would end it.
    return loopc.InferenceSession(ENDLESS, loopc.SessionOptions(timeout=30))


def works(session):
    return session.run(None, {"x": np.ones(3, np.float32)})[0].tolist() == [2, 2, 2]


def interrupt_process():
    os.kill(os.getpid(), signal.SIGINT)


def interrupt_here():
    """The handler runs on the calling thread, beside the run on the main thread."""
    signal.pthread_kill(threading.get_ident(), signal.SIGINT)


def interrupt_soon(interrupt=interrupt_process):
    timer = threading.Timer(0.1, interrupt)
    timer.start()
    return timer


@pytest.mark.parametrize("interrupt", [interrupt_process, interrupt_here])
def test_interrupt(add, endless, interrupt):
    handler = signal.getsignal(signal.SIGINT)
    for options in (None, loopc.RunOptions()):
        timer = interrupt_soon(interrupt)
        with pytest.raises(KeyboardInterrupt):
            endless.run(None, {"x": np.float32(1)}, options)
        timer.join()
        # The interrupt was not the caller's request.
        assert options is None or not options.terminate
    assert signal.getsignal(signal.SIGINT) is handler
    assert works(add)


@pytest.mark.parametrize("emit", ["obj", "shared", "onnx"])
def test_interrupt_after_writing_files(endless, tmp_path, emit):
    """What writes files leaves the process's handlers as they were."""
    loopc.compile(ADD.SerializeToString(), tmp_path / "add.out", emit=emit)
    timer = interrupt_soon()
    with pytest.raises(KeyboardInterrupt):
        endless.run(None, {"x": np.float32(1)})
    timer.join()


def test_interrupt_with_a_handler_that_returns(endless):
    seen = []
    handler = signal.signal(signal.SIGINT, lambda *_: seen.append(1))
    try:
        timer = interrupt_soon()
        with pytest.raises(loopc.RunCancelledError):
            endless.run(None, {"x": np.float32(1)})
        timer.join()
        assert seen == [1]
    finally:
        signal.signal(signal.SIGINT, handler)


def test_ignored_interrupt_does_not_end_runs(endless):
    handler = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        timer = interrupt_soon()
        with pytest.raises(loopc.RunTimeoutError):
            endless.run(None, {"x": np.float32(1)}, loopc.RunOptions(timeout=0.5))
        timer.join()
    finally:
        signal.signal(signal.SIGINT, handler)


def test_interrupt_of_a_process():
    """Ctrl-C as the terminal sends it, and what the shell sees."""
    code = (
        "import sys, loopc, numpy\n"
        "session = loopc.InferenceSession(sys.stdin.buffer.read())\n"
        "print('ready', flush=True)\n"
        "session.run(None, {'x': numpy.float32(1)})\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        process.stdin.write(ENDLESS.SerializeToString())
        process.stdin.close()
        assert process.stdout.readline() == b"ready\n"
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == -signal.SIGINT
        assert b"KeyboardInterrupt" in process.stderr.read()
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
        process.stderr.close()


class Stop(Exception):  # noqa: N818
    """What a handler raises."""


@pytest.fixture
def handled():
    """Sets handlers of signals for the time of a test."""
    before = {}

    def handle(number, handler):
        before.setdefault(number, signal.signal(number, handler))

    yield handle
    for number, handler in before.items():
        signal.signal(number, handler)


def send_soon(number):
    return interrupt_soon(lambda: os.kill(os.getpid(), number))


def stop(*_):
    raise Stop


@pytest.mark.parametrize("number", [signal.SIGALRM, signal.SIGTERM])
def test_handlers_that_raise_end_runs(add, endless, handled, number):
    handled(number, stop)
    for options in (None, loopc.RunOptions()):
        timer = send_soon(number)
        with pytest.raises(Stop):
            endless.run(None, {"x": np.float32(1)}, options)
        timer.join()
        assert options is None or not options.terminate
    assert signal.getsignal(number) is stop
    assert works(add)


def test_an_alarm_ends_a_run(endless, handled):
    """How programs give a call a time limit."""
    handled(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, 0.1)
    with pytest.raises(Stop):
        endless.run(None, {"x": np.float32(1)})


def test_handlers_that_return_do_not_end_runs(add, endless, handled):
    seen = []
    handled(signal.SIGALRM, lambda *_: seen.append(works(add)))
    signal.setitimer(signal.ITIMER_REAL, 0.05, 0.05)
    try:
        with pytest.raises(loopc.RunTimeoutError):
            endless.run(None, {"x": np.float32(1)}, loopc.RunOptions(timeout=1.0))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    # In the middle of the run, and not all at its end.
    assert len(seen) > 1
    assert all(seen)


def test_a_handler_runs_a_model_that_is_ended(add, endless, handled):
    """A run within a run: each is ended by its own signal."""
    seen = []

    def run_another(*_):
        with pytest.raises(loopc.RunTimeoutError):
            endless.run(None, {"x": np.float32(1)}, loopc.RunOptions(timeout=0.05))
        seen.append(works(add))
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        signal.signal(signal.SIGALRM, stop)

    handled(signal.SIGALRM, run_another)
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    with pytest.raises(Stop):
        endless.run(None, {"x": np.float32(1)})
    assert seen == [True]


def test_handlers_that_are_set_in_the_middle_of_a_run(endless, handled):
    """By a handler: the next signal wakes the run, too, and what was set stays."""

    def set_another(*_):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        signal.signal(signal.SIGALRM, stop)
        signal.setitimer(signal.ITIMER_REAL, 0.05)

    handled(signal.SIGTERM, lambda *_: None)
    handled(signal.SIGALRM, set_another)
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    with pytest.raises(Stop):
        endless.run(None, {"x": np.float32(1)})
    # Python's own word, and the kernel's.
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_IGN
    with open("/proc/self/status") as status:
        (mask,) = [line.split()[1] for line in status if line.startswith("SigIgn:")]
    assert int(mask, 16) >> (signal.SIGTERM - 1) & 1


def test_signals_that_nobody_handles_are_as_they_were():
    """SIGTERM without a handler ends the process at once."""
    code = (
        "import sys, loopc, numpy\n"
        "session = loopc.InferenceSession(sys.stdin.buffer.read())\n"
        "print('ready', flush=True)\n"
        "session.run(None, {'x': numpy.float32(1)}, loopc.RunOptions(timeout=30))\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        try:
            process.stdin.write(ENDLESS.SerializeToString())
            process.stdin.close()
            assert process.stdout.readline() == b"ready\n"
            time.sleep(0.2)
            process.send_signal(signal.SIGTERM)
            assert process.wait(20) == -signal.SIGTERM
        finally:
            process.kill()
