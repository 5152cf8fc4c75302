# ===- test_collections.py - What sequences and optionals cost -------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Time and memory of lists: appending, changing in place, runs that end with an error."""

from __future__ import annotations

import time
from typing import Any

import loopc
import numpy as np
import onnx.parser
import pytest


def _session(text: str) -> loopc.InferenceSession:
    model = onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["" : 21]>\n{text}')
    return loopc.InferenceSession(model.SerializeToString())


def _i64(value: Any) -> np.ndarray:
    return np.array(value, np.int64)


APPEND = """
append (int64 n, float[3] x) => (int64 length) {
  s0 = SequenceEmpty <dtype = 1> ()
  s = Loop <body = step (int64 i, bool go, seq(float[3]) s) => (bool go, seq(float[3]) longer) {
      f = Cast <to = 1> (i)
      y = Add (x, f)
      longer = SequenceInsert (s, y)
    }> (n, "", s0)
  length = SequenceLength (s)
}"""


def test_append_is_amortised() -> None:
    """seq_append: at 4,000 elements one costs no more than 1.5 times what it does at 400."""
    session = _session(APPEND)
    x = np.zeros(3, np.float32)

    def seconds(n: int) -> float:
        begin = time.perf_counter()
        (length,) = session.run(None, {"n": _i64(n), "x": x})
        assert length == n
        return (time.perf_counter() - begin) / n

    # The best of several: what else the machine does only adds.
    few = min(seconds(400) for _ in range(40))
    many = min(seconds(4000) for _ in range(40))
    assert many <= 1.5 * few


def test_append_does_not_copy() -> None:
    """An element costs its own buffer and what the list itself is made of."""
    session = _session(APPEND)
    x = np.zeros(3, np.float32)
    counts = {}
    for n in (100, 1100):
        session.run(None, {"n": _i64(n), "x": x})
        counts[n] = session.last_run_statistics
        # Everything but the one output is given back before the run ends.
        assert counts[n].allocations - counts[n].deallocations <= 1
    assert counts[1100].allocations - counts[100].allocations < 4 * 1000


def test_list_that_is_emptied_keeps_nothing() -> None:
    """An iteration that appends and erases costs the same memory however often it runs."""
    session = _session("""
queue (int64 n, seq(float[K]) s0, float[K] x) => (int64 length) {
  s = Loop <body = step (int64 i, bool go, seq(float[K]) s) => (bool go, seq(float[K]) r) {
      zero = Constant <value_int = 0> ()
      longer = SequenceInsert (s, x)
      r = SequenceErase (longer, zero)
    }> (n, "", s0)
  length = SequenceLength (s)
}""")
    x = np.zeros(100, np.float32)
    peaks = []
    for n in (10, 1000):
        (length,) = session.run(None, {"n": _i64(n), "s0": [x, x], "x": x})
        assert length == 2
        peaks.append(session.last_run_statistics.peak_bytes)
    assert peaks[0] == peaks[1]


FAILING = """
fail (int64 n, seq(float[K]) s0, float[K] x) => (seq(float[K]) s, float[K] y) {
  o = Optional <type = float[K]> ()
  s, p = Loop <body = step (int64 i, bool go, seq(float[K]) s, optional(float[K]) p)
      => (bool go, seq(float[K]) longer, optional(float[K]) q) {
      y = Add (x, x)
      longer = SequenceInsert (s, y)
      at = SequenceAt (s, i)
      q = Optional (at)
    }> (n, "", s0, o)
  y = OptionalGetElement (p)
}"""


@pytest.mark.parametrize(
    ("trips", "start", "message"),
    [(0, 2, "empty"), (5, 0, "position 0 is out of range"), (3, 1, None)],
)
def test_failed_runs_leave_nothing(trips: int, start: int, message: str | None) -> None:
    """After an error within a loop a session runs on, and memory does not grow."""
    resource = pytest.importorskip("resource")
    session = _session(FAILING)
    x = np.ones(1 << 18, np.float32)
    feeds = {"n": _i64(trips), "s0": [x] * start, "x": x}

    def run() -> None:
        if message is None:
            sequence, element = session.run(None, feeds)
            assert len(sequence) == start + trips
            np.testing.assert_array_equal(element, 2 * x)
        else:
            with pytest.raises(loopc.Error, match=message):
                session.run(None, feeds)

    for _ in range(20):
        run()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(200):
        run()
    # One lost element a run would be 200 MiB.
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 << 10


def test_inputs_are_not_changed() -> None:
    """seq_value: what a caller gave is the same afterwards."""
    session = _session("""
twice (seq(float[K]) s) => (seq(float[K]) t) {
  zero = Constant <value_int = 0> ()
  x = SequenceAt (s, zero)
  y = Add (x, x)
  less = SequenceErase (s, zero)
  t = SequenceInsert (less, y)
}""")
    given = [np.array([1, 2], np.float32), np.array([3], np.float32)]
    (result,) = session.run(None, {"s": given})
    np.testing.assert_array_equal(given[0], [1, 2])
    np.testing.assert_array_equal(result[0], [3])
    np.testing.assert_array_equal(result[1], [2, 4])


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("keep", [0, 1])
def test_parts_are_read_in_place(axis: int, keep: int) -> None:
    """A loop over what is split allocates nothing in an iteration; positions may be negative."""
    session = _session(f"""
parts (float[A, B] x, float[C, D] y0, int64 from) => (float[E, F] y, int64 length) {{
  s = SplitToSequence <axis = {axis}, keepdims = {keep}> (x)
  length = SequenceLength (s)
  y = Loop <body = step (int64 i, bool go, float[G, H] y1) => (bool go, float[I, J] y2) {{
      at = Add (i, from)
      part = SequenceAt (s, at)
      y2 = Add (y1, part)
    }}> (length, "", y0)
}}""")
    counts = set()
    for size in (0, 1, 5, 90):
        shape = (size, 3) if axis == 0 else (3, size)
        x = np.random.default_rng(size).standard_normal(shape).astype(np.float32)
        y0 = np.zeros((size and 3, 3) if not keep else (3, 3), np.float32)
        want = y0
        for k in range(size):
            want = want + (np.take(x, [k], axis) if keep else np.take(x, k, axis))
        for first in (0, -size):
            got = session.run(None, {"x": x, "y0": y0, "from": _i64(first)})
            np.testing.assert_allclose(got[0], want, 1e-5, 1e-5)
            assert got[1] == size
        counts.add(session.last_run_statistics.allocations)
        if size:
            with pytest.raises(loopc.Error, match="out of range"):
                session.run(None, {"x": x, "y0": y0, "from": _i64(1)})
    assert len(counts) <= 2
