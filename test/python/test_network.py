# ===- test_network.py - Loops of networks built by hand --------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""loopc.network: loops and conditionals, and what is refused (the trt_* rules)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import loopc
import numpy as np
import pytest
from loopc import network as trt
from networks import ACT, COUNT, EW, MM, OUT, WHILE, Net, counting, f32, i32

# ----- The examples of TensorRT's guide ---------------------------------------


def test_guide_for_loop() -> None:
    """trt_recurrence, trt_last_value, trt_trips: ``for (int32_t i = j; ...; i += k)``."""
    n = Net()
    j, k, count = (n.input(name, (), np.int32) for name in ("j", "k", "n"))
    loop = n.loop(count)
    rec = loop.add_recurrence(j)
    i = rec.get_output(0)
    rec.set_input(1, n.ew(i, k, EW.ADD))
    n.last(loop, rec, "i")
    n.collect(loop, i, count, "all")
    session = n.session()
    for trips in (0, 1, 4):
        last, every = session.run(None, {"j": i32(5), "k": i32(3), "n": i32(trips)})
        assert last == 5 + 3 * trips
        np.testing.assert_array_equal(every, 5 + 3 * np.arange(trips, dtype=np.int32))


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("axis", [0, 1])
def test_guide_iterator(axis: int, reverse: bool) -> None:
    """trt_iterator: rows or columns of [[2,3,5],[4,6,8]], forwards and backwards."""
    x = f32([[2, 3, 5], [4, 6, 8]])
    n = Net()
    tensor, count = n.input("x", (-1, -1)), n.input("n", (), np.int32)
    loop = n.loop(count)
    n.collect(loop, loop.add_iterator(tensor, axis, reverse).get_output(0), count, "y")
    want = x if axis == 0 else x.T
    (y,) = n.run(x=x, n=i32(x.shape[axis]))
    np.testing.assert_array_equal(y, want[::-1] if reverse else want)


@pytest.mark.parametrize("kind", [OUT.CONCATENATE, OUT.REVERSE])
@pytest.mark.parametrize("axis", [0, 1])
def test_guide_concatenate(kind: OUT, axis: int) -> None:
    """trt_concatenate: {a,b,c} then {d,e,f}, stacked along either axis."""
    x = f32([[1, 2, 3], [4, 5, 6]])
    n = Net()
    tensor, count = n.input("x", (-1, 3)), n.input("n", (), np.int32)
    loop = n.loop(count)
    n.collect(loop, loop.add_iterator(tensor).get_output(0), count, "y", axis, kind)
    rows = x[::-1] if kind == OUT.REVERSE else x
    (y,) = n.run(x=x, n=i32(2))
    np.testing.assert_array_equal(y, rows if axis == 0 else rows.T)


def test_guide_invariant() -> None:
    """trt_membership: a loop-invariant tensor is used inside, and computed outside, once."""
    n = Net()
    a, count = n.input("a", (3,)), n.input("n", (), np.int32)
    doubled = n.ew(a, a, EW.SUM, name="invariant")
    loop = n.loop(count)
    rec = loop.add_recurrence(n.const([0, 0, 0]))
    rec.set_input(1, n.ew(rec.get_output(0), doubled, EW.SUM))
    n.last(loop, rec, "y")
    text = n.network.to_mlir()
    assert text.index('"Add"') < text.index("loop.loop")
    np.testing.assert_array_equal(n.run(a=f32([1, 2, 3]), n=i32(4))[0], f32([8, 16, 24]))


# ----- Classics ----------------------------------------------------------------


def sigmoid(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return 1 / (1 + np.exp(-x))


def test_gru() -> None:
    """A GRU by a recurrence, with all its states collected."""
    hidden, width, steps = 5, 4, 7
    rng = np.random.default_rng(0)
    weights = {
        gate: (
            rng.standard_normal((hidden, width)).astype(np.float32),
            rng.standard_normal((hidden, hidden)).astype(np.float32),
            rng.standard_normal(hidden).astype(np.float32),
        )
        for gate in "zrh"
    }
    n = Net("gru")
    x, count = n.input("x", (-1, width)), n.input("n", (), np.int32)
    loop = n.loop(count)
    row = loop.add_iterator(x).get_output(0)
    state = loop.add_recurrence(n.const(np.zeros(hidden)))
    h = state.get_output(0)

    def gate(name: str, by: trt.ITensor, kind: ACT) -> trt.ITensor:
        w, r, b = (n.const(one) for one in weights[name])
        total = n.ew(n.ew(n.mv(w, row), n.mv(r, by), EW.SUM), b, EW.SUM)
        return n.act(total, kind)

    z = gate("z", h, ACT.SIGMOID)
    r = gate("r", h, ACT.SIGMOID)
    candidate = gate("h", n.ew(r, h, EW.PROD), ACT.TANH)
    keep = n.ew(z, h, EW.PROD)
    add = n.ew(n.ew(n.const(np.ones(hidden)), z, EW.SUB), candidate, EW.PROD)
    after = n.ew(keep, add, EW.SUM)
    state.set_input(1, after)
    n.last(loop, state, "last")
    n.collect(loop, after, count, "all")
    values = rng.standard_normal((steps, width)).astype(np.float32)
    last, every = n.run(x=values, n=i32(steps))
    want = []
    h_ = np.zeros(hidden, np.float32)
    for step in values:
        pre = {g: w @ step + b for g, (w, _, b) in weights.items()}
        z_ = sigmoid(pre["z"] + weights["z"][1] @ h_)
        r_ = sigmoid(pre["r"] + weights["r"][1] @ h_)
        c_ = np.tanh(pre["h"] + weights["h"][1] @ (r_ * h_))
        h_ = z_ * h_ + (1 - z_) * c_
        want.append(h_)
    np.testing.assert_allclose(every, want, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(last, h_, rtol=1e-4, atol=1e-6)


def test_lstm_bidirectional() -> None:
    """An LSTM by two recurrences, forwards and by reverse iterators with kREVERSE."""
    hidden, width, steps = 3, 2, 6
    rng = np.random.default_rng(1)
    w = rng.standard_normal((4 * hidden, width)).astype(np.float32)
    r = rng.standard_normal((4 * hidden, hidden)).astype(np.float32)
    n = Net("lstm")
    x, count = n.input("x", ("T", width)), n.input("n", (), np.int32)

    def direction(reverse: bool) -> None:
        loop = n.loop(count, "backward" if reverse else "forward")
        row = loop.add_iterator(x, 0, reverse).get_output(0)
        hs, cs = (loop.add_recurrence(n.const(np.zeros(hidden))) for _ in range(2))
        total = n.ew(n.mv(n.const(w), row), n.mv(n.const(r), hs.get_output(0)), EW.SUM)

        def part(k: int, kind: ACT) -> trt.ITensor:
            cut = n.network.add_slice(total, (k * hidden,), (hidden,), (1,))
            return n.act(cut.get_output(0), kind)

        i, f, o = (part(k, ACT.SIGMOID) for k in range(3))
        g = part(3, ACT.TANH)
        c = n.ew(n.ew(f, cs.get_output(0), EW.PROD), n.ew(i, g, EW.PROD), EW.SUM)
        h = n.ew(o, n.act(c, ACT.TANH), EW.PROD)
        hs.set_input(1, h)
        cs.set_input(1, c)
        kind = OUT.REVERSE if reverse else OUT.CONCATENATE
        n.collect(loop, h, count, f"h{int(reverse)}", 0, kind)

    direction(False)
    direction(True)

    def reference(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        h, c, states = np.zeros(hidden, np.float32), np.zeros(hidden, np.float32), []
        for step in values:
            i, f, o, g = np.split(w @ step + r @ h, 4)
            c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
            h = sigmoid(o) * np.tanh(c)
            states.append(h)
        return np.array(states)

    values = rng.standard_normal((steps, width)).astype(np.float32)
    forward, backward = n.run(x=values, n=i32(steps))
    np.testing.assert_allclose(forward, reference(values), rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(backward, reference(values[::-1])[::-1], rtol=1e-4, atol=1e-6)


def test_attention_decoder() -> None:
    """Greedy decoding over an attention, until the end token or the count."""
    vocabulary, hidden, source, limit, end = 6, 4, 5, 8, 0
    rng = np.random.default_rng(4)
    embedding = rng.standard_normal((vocabulary, hidden)).astype(np.float32)
    output = rng.standard_normal((vocabulary, hidden)).astype(np.float32)
    n = Net("decoder")
    memory = n.input("memory", (source, hidden))
    count, length = n.const(limit, np.int32), n.const(limit, np.int32)
    loop = n.loop(count, "decode")
    token = loop.add_recurrence(n.const(1, np.int32))
    state = loop.add_recurrence(n.const(np.zeros(hidden)))
    net = n.network
    unfinished = n.ew(token.get_output(0), n.const(end, np.int32), EW.EQUAL)
    unfinished = net.add_unary(unfinished, trt.UnaryOperation.NOT).get_output(0)
    loop.add_trip_limit(unfinished, WHILE)
    embedded = net.add_gather(n.const(embedding), token.get_output(0), 0).get_output(0)
    query = n.act(n.ew(embedded, state.get_output(0), EW.SUM), ACT.TANH)
    scores = net.add_softmax(n.mv(memory, query))
    scores.axes = 1
    context = net.add_matrix_multiply(scores.get_output(0), MM.VECTOR, memory, MM.NONE)
    after = n.ew(query, context.get_output(0), EW.SUM)
    logits = n.mv(n.const(output), after)
    best = net.add_topk(logits, trt.TopKOperation.MAX, 1, 1).get_output(1)
    flat = net.add_shuffle(best)
    flat.reshape_dims = ()
    token.set_input(1, flat.get_output(0))
    state.set_input(1, after)
    n.collect(loop, flat.get_output(0), length, "tokens")
    n.last(loop, state, "state")

    ends = set()
    session = n.session()
    for seed in range(8):
        feed = np.random.default_rng(seed).standard_normal((source, hidden)).astype(np.float32)
        tokens, t, s = [], 1, np.zeros(hidden, np.float32)
        while t != end and len(tokens) < limit:
            q = np.tanh(embedding[t] + s)
            e = np.exp(feed @ q - np.max(feed @ q))
            s = q + (e / e.sum()) @ feed
            t = int(np.argmax(output @ s))
            tokens.append(t)
        ends.add(len(tokens))
        got, last = session.run(None, {"memory": feed})
        np.testing.assert_array_equal(got, tokens + [0] * (limit - len(tokens)))
        np.testing.assert_allclose(last, s, rtol=1e-4, atol=1e-5)
    assert len(ends) > 1, "the seeds must end at different lengths"


# ----- while ---------------------------------------------------------------------


def test_while_over_a_recurrence() -> None:
    """trt_while: tested before each trip on that trip's recurrences, the first included."""
    n = Net()
    start, limit = n.input("start", ()), n.input("limit", ())
    loop = n.loop()
    rec = loop.add_recurrence(start)
    trips = loop.add_recurrence(n.const(0, np.int32))
    loop.add_trip_limit(n.ew(rec.get_output(0), limit, EW.LESS), WHILE)
    rec.set_input(1, n.ew(rec.get_output(0), n.const(2), EW.PROD))
    trips.set_input(1, n.ew(trips.get_output(0), n.const(1, np.int32), EW.SUM))
    n.last(loop, rec, "y")
    n.last(loop, trips, "trips")
    n.collect(loop, rec.get_output(0), n.const(12, np.int32), "seen")
    session = n.session()
    for first, bound, expected in ((1, 1000, 10), (5, 3, 0), (2, 3, 1), (float("nan"), 3, 0)):
        y, k, seen = session.run(None, {"start": f32(first), "limit": f32(bound)})
        assert k == expected
        np.testing.assert_array_equal(y, f32(first * 2**expected))
        np.testing.assert_array_equal(seen[:expected], first * 2.0 ** np.arange(expected))
        np.testing.assert_array_equal(seen[expected:], 0)


def test_while_is_a_recurrence() -> None:
    """trt_while: the condition may be a recurrence itself."""
    n = Net()
    go, flags, count = (
        n.input("go", (), bool), n.input("flags", (-1,), bool), n.input("n", (), np.int32),
    )  # fmt: skip
    loop = n.loop(count)
    flag = loop.add_recurrence(go)
    loop.add_trip_limit(flag.get_output(0), WHILE)
    flag.set_input(1, loop.add_iterator(flags).get_output(0))
    trips = loop.add_recurrence(n.const(0, np.int64))
    trips.set_input(1, n.ew(trips.get_output(0), n.const(1, np.int64), EW.SUM))
    n.last(loop, trips, "trips")
    session = n.session()
    for first, values, expected in (
        (True, [1, 1, 0, 1], 3), (False, [1], 0), (True, [1, 1], 2), (True, [], 0),
    ):  # fmt: skip
        feeds = {"go": np.array(first), "flags": np.array(values, bool), "n": i32(len(values))}
        assert session.run(None, feeds) == [expected]


@pytest.mark.parametrize("reverse", [False, True])
def test_while_reads_an_iterator(reverse: bool) -> None:
    """trt_while: evaluated only where there is a next slice."""
    n = Net()
    x, count = n.input("x", (-1,)), n.input("n", (), np.int32)
    loop = n.loop(count)
    item = loop.add_iterator(x, 0, reverse).get_output(0)
    loop.add_trip_limit(n.ew(item, n.const(0), EW.GREATER), WHILE)
    total = loop.add_recurrence(n.const(0))
    total.set_input(1, n.ew(total.get_output(0), item, EW.SUM))
    n.last(loop, total, "total")
    session = n.session()
    for values, expected in (([1, 2, -1, 4], 3), ([1, 2, 3], 6), ([-1, 2], 0), ([], 0)):
        given = f32(values)
        feeds = {"x": given[::-1] if reverse else given, "n": i32(len(values))}
        np.testing.assert_array_equal(session.run(None, feeds)[0], f32(expected))
    with pytest.raises(loopc.RunError, match=r"slice 2 of a value with extent 2"):
        feeds = {"x": f32([1, 2]), "n": i32(3)}
        session.run(None, {**feeds, "x": feeds["x"]})


def test_while_with_an_iterator_and_no_count() -> None:
    """trt_iterator: without a count the condition itself must end within the extent."""
    n = Net()
    x = n.input("x", (-1,))
    loop = n.loop()
    item = loop.add_iterator(x).get_output(0)
    loop.add_trip_limit(n.ew(item, n.const(0), EW.GREATER), WHILE)
    trips = loop.add_recurrence(n.const(0))
    trips.set_input(1, n.ew(trips.get_output(0), item, EW.SUM))
    n.last(loop, trips, "y")
    session = n.session()
    np.testing.assert_array_equal(session.run(None, {"x": f32([3, 4, 0, 9])})[0], f32(7))
    with pytest.raises(loopc.RunError, match=r"Iterator .*slice 2 of a value with extent 2"):
        session.run(None, {"x": f32([3, 4])})


def test_while_guard_of_what_may_fail() -> None:
    """trt_while: a gather beyond the end is not evaluated after the last trip."""
    n = Net()
    x, count = n.input("x", (-1,)), n.input("n", (), np.int32)
    loop = n.loop(count)
    at = loop.add_recurrence(n.const(0, np.int32))
    item = n.network.add_gather(x, at.get_output(0), 0).get_output(0)
    loop.add_trip_limit(n.ew(item, n.const(0), EW.GREATER), WHILE)
    at.set_input(1, n.ew(at.get_output(0), n.const(1, np.int32), EW.SUM))
    total = loop.add_recurrence(n.const(0))
    total.set_input(1, n.ew(total.get_output(0), item, EW.SUM))
    n.last(loop, total, "y")
    session = n.session()
    for values, expected in (([1, 2, 3], 6), ([1, 0, 3], 1), ([], 0)):
        feeds = {"x": f32(values), "n": i32(len(values))}
        np.testing.assert_array_equal(session.run(None, feeds)[0], f32(expected))


def test_while_shares_with_the_body() -> None:
    """trt_while: what condition and body share is carried, not computed again."""
    n = Net()
    x = n.input("x", ())
    loop = n.loop()
    rec = loop.add_recurrence(x)
    square = n.ew(rec.get_output(0), rec.get_output(0), EW.PROD, name="square")
    loop.add_trip_limit(n.ew(square, n.const(100), EW.LESS), WHILE)
    rec.set_input(1, n.ew(square, n.const(1), EW.SUM))
    n.last(loop, rec, "y")
    # Once in front of the loop, once at the end of its body.
    assert n.network.to_mlir().count('"Mul"') == 2
    session = n.session()
    for first, expected in ((1, 26), (2, 26), (20, 20)):
        np.testing.assert_array_equal(session.run(None, {"x": f32(first)})[0], f32(expected))


def test_while_invariant() -> None:
    """trt_while: an invariant condition: never, or as often as the count says."""
    n = Net()
    go, count = n.input("go", (), bool), n.input("n", (), np.int64)
    loop = n.loop(count)
    loop.add_trip_limit(go, WHILE)
    rec = loop.add_recurrence(n.const(0))
    rec.set_input(1, n.ew(rec.get_output(0), n.const(1), EW.SUM))
    n.last(loop, rec, "y")
    session = n.session()
    for value, expected in ((True, 5), (False, 0)):
        feeds = {"go": np.array(value), "n": np.array(5)}
        np.testing.assert_array_equal(session.run(None, feeds)[0], f32(expected))


# ----- Nesting, lengths, shapes -----------------------------------------------------


def test_nested_loops_over_two_axes() -> None:
    """trt_membership: an inner loop over the columns of the outer loop's rows."""
    n = Net()
    x = n.input("x", (-1, -1))
    rows, columns = n.input("rows", (), np.int32), n.input("columns", (), np.int32)
    outer = n.loop(rows, "outer")
    inner = n.loop(columns, "inner")
    row = outer.add_iterator(x).get_output(0)
    cell = inner.add_iterator(row).get_output(0)
    total = inner.add_recurrence(n.const(0))
    total.set_input(1, n.ew(total.get_output(0), cell, EW.SUM))
    n.collect(inner, total.get_output(0), columns, "partial")
    partial = n.network.get_output(0)
    n.network.unmark_output(partial)
    n.collect(outer, partial, rows, "y", 1)
    last = inner.add_loop_output(total.get_output(0), OUT.LAST_VALUE).get_output(0)
    running = outer.add_recurrence(n.const(0))
    running.set_input(1, n.ew(running.get_output(0), last, EW.SUM))
    n.last(outer, running, "total")
    values = np.arange(12, dtype=np.float32).reshape(3, 4)
    y, all_ = n.run(x=values, rows=i32(3), columns=i32(4))
    exclusive = np.cumsum(values, 1) - values
    np.testing.assert_array_equal(y, exclusive.T)
    assert all_ == values.sum()
    assert "Loop" in str(n.network) or "loop 'outer'" in str(n.network)


def test_inner_loop_of_invariants_stays_outside() -> None:
    """trt_membership: a loop that uses nothing of another one is not in it."""
    n = Net()
    x, count = n.input("x", ()), n.input("n", (), np.int32)

    def power(of: trt.ITensor, name: str) -> tuple[trt.ILoop, trt.IRecurrenceLayer]:
        loop = n.loop(count, name)
        rec = loop.add_recurrence(of)
        rec.set_input(1, n.ew(rec.get_output(0), x, EW.PROD))
        return loop, rec

    first, rec = power(n.const(1), "first")
    value = first.add_loop_output(rec.get_output(0), OUT.LAST_VALUE).get_output(0)
    second = n.loop(count, "second")
    total = second.add_recurrence(n.const(0))
    total.set_input(1, n.ew(total.get_output(0), value, EW.SUM))
    n.last(second, total, "y")
    text = n.network.to_mlir()
    assert text.index("loop.yield") < text.rindex("loop.loop")
    np.testing.assert_array_equal(n.run(x=f32(2), n=i32(3))[0], f32(24))


@pytest.mark.parametrize("level", [0, 3])
@pytest.mark.parametrize("kind", [OUT.CONCATENATE, OUT.REVERSE])
def test_length(kind: OUT, level: int) -> None:
    """trt_concatenate: longer than the trips is padded with zero, shorter ends the run."""
    n = Net()
    x = n.input("x", (-1, 2))
    count, length = n.input("n", (), np.int32), n.input("length", (), np.int64)
    loop = n.loop(count)
    n.collect(loop, loop.add_iterator(x).get_output(0), length, "y", 0, kind)
    n.collect(loop, loop.add_iterator(x).get_output(0), length, "z", 1, kind)
    session = n.session(level)
    values = f32([[1, 2], [3, 4], [5, 6]])
    for trips in range(4):
        rows = values[:trips]
        rows = rows[::-1] if kind == OUT.REVERSE else rows
        for extent in range(trips, 6):
            want = np.zeros((extent, 2), np.float32)
            want[:trips] = rows
            feeds = {"x": values, "n": i32(trips), "length": np.array(extent)}
            y, z = session.run(None, feeds)
            np.testing.assert_array_equal(y, want)
            np.testing.assert_array_equal(z, want.T)
    with pytest.raises(loopc.RunError, match=r"Loop 'loop'.*length 2"):
        session.run(None, {"x": values, "n": i32(3), "length": np.array(2)})


def test_iterator_beyond_the_extent() -> None:
    """trt_iterator: more trips than slices end the run; a reversed one begins at the count."""
    n = Net()
    x, count = n.input("x", (-1,)), n.input("n", (), np.int32)
    loop = n.loop(count)
    n.collect(loop, loop.add_iterator(x, 0, True).get_output(0), count, "y")
    session = n.session()
    got = session.run(None, {"x": f32([1, 2, 3, 4]), "n": i32(2)})[0]
    np.testing.assert_array_equal(got, f32([2, 1]))
    with pytest.raises(loopc.RunError, match="slice"):
        session.run(None, {"x": f32([1]), "n": i32(2)})


def test_recurrence_changes_its_extents() -> None:
    """A recurrence may grow, which TensorRT refuses."""
    n = Net()
    x, count = n.input("x", (1,)), n.input("n", (), np.int32)
    loop = n.loop(count)
    rec = loop.add_recurrence(x)
    assert rec.get_output(0).shape == (1,)
    twice = n.network.add_concatenation([rec.get_output(0), rec.get_output(0)])
    twice.axis = 0
    rec.set_input(1, twice.get_output(0))
    assert rec.get_output(0).shape == (-1,)
    n.last(loop, rec, "y")
    np.testing.assert_array_equal(n.run(x=f32([7]), n=i32(3))[0], np.full(8, 7, np.float32))


def test_loop_without_outputs_vanishes() -> None:
    """trt_membership: a loop that gives nothing is removed, finished or not."""
    n = Net()
    x, count = n.input("x", ()), n.input("n", (), np.int32)
    loop = n.loop(count, "gone")
    rec = loop.add_recurrence(x)
    n.ew(rec.get_output(0), x, EW.SUM)
    n.loop(None, "empty")
    n.out(n.ew(x, x, EW.SUM), "y")
    assert "loop.loop" not in n.network.to_mlir()
    assert n.run(x=f32(2), n=i32(9)) == [4]


def test_loop_whose_output_nobody_reads() -> None:
    """trt_membership: the same for a loop whose outputs lead nowhere."""
    n = Net()
    x, count = n.input("x", ()), n.input("n", (), np.int32)
    loop = n.loop(count)
    rec = loop.add_recurrence(x)
    rec.set_input(1, n.ew(rec.get_output(0), x, EW.SUM))
    loop.add_loop_output(rec.get_output(0), OUT.LAST_VALUE)
    n.out(n.ew(x, x, EW.SUM), "y")
    assert "loop.loop" not in n.network.to_mlir()


def test_swapped_recurrences() -> None:
    """loop_parallel_assign: next values are read before any recurrence is replaced."""
    n = Net()
    a, b, count = n.input("a", ()), n.input("b", ()), n.input("n", (), np.int32)
    loop = n.loop(count)
    first, second = loop.add_recurrence(a), loop.add_recurrence(b)
    first.set_input(1, second.get_output(0))
    second.set_input(1, first.get_output(0))
    n.last(loop, first, "x")
    n.last(loop, second, "y")
    assert n.run(a=f32(1), b=f32(2), n=i32(3)) == [2, 1]


# ----- Conditionals ------------------------------------------------------------------


def test_conditional() -> None:
    """if_lazy: only the branch that is taken runs; it may have another shape."""
    n = Net()
    x, c = n.input("x", (-1,)), n.input("c", (), bool)
    index = n.input("index", (), np.int32)
    branch = n.network.add_if_conditional()
    branch.name = "choice"
    branch.set_condition(c)
    inner = branch.add_input(x).get_output(0)
    item = n.network.add_gather(inner, index, 0).get_output(0)
    item = n.network.add_unsqueeze(item, n.const([0], np.int64)).get_output(0)
    n.out(branch.add_output(item, n.ew(inner, inner, EW.SUM)).get_output(0), "y")
    session = n.session()
    feeds: dict[str, Any] = {"x": f32([1, 2, 3]), "index": i32(1)}
    np.testing.assert_array_equal(session.run(None, {**feeds, "c": np.array(True)})[0], [2])
    np.testing.assert_array_equal(session.run(None, {**feeds, "c": np.array(False)})[0], [2, 4, 6])
    # What would fail in the other branch does not.
    feeds["index"] = i32(9)
    np.testing.assert_array_equal(session.run(None, {**feeds, "c": np.array(False)})[0], [2, 4, 6])
    with pytest.raises(loopc.RunError):
        session.run(None, {**feeds, "c": np.array(True)})


def test_conditional_and_loops() -> None:
    """trt_membership: a conditional in a loop, and a loop in its branch."""
    n = Net()
    x, count = n.input("x", (-1,)), n.input("n", (), np.int32)
    loop = n.loop(count, "outer")
    item = loop.add_iterator(x).get_output(0)
    branch = n.network.add_if_conditional()
    branch.set_condition(n.ew(item, n.const(0), EW.GREATER))
    inner = branch.add_input(item).get_output(0)
    power = n.loop(n.const(3, np.int32), "power")
    rec = power.add_recurrence(inner)
    rec.set_input(1, n.ew(rec.get_output(0), inner, EW.PROD))
    cubed = power.add_loop_output(rec.get_output(0), OUT.LAST_VALUE).get_output(0)
    zero = n.ew(inner, inner, EW.SUB)
    result = branch.add_output(cubed, zero).get_output(0)
    n.collect(loop, result, count, "y")
    text = n.network.to_mlir()
    assert text.index("loop.loop") < text.index("scf.if") < text.rindex("loop.loop")
    (y,) = n.run(x=f32([2, -2, 3]), n=i32(3))
    np.testing.assert_array_equal(y, f32([16, 0, 81]))


# ----- Calls ---------------------------------------------------------------------------


@pytest.mark.parametrize("place", ["loop", "conditional"])
def test_what_does_not_fit_fails_where_it_runs(place: str) -> None:
    """A layer whose operands contradict each other is no error where it does not run."""
    for kind in ("topk", "slice"):
        net = trt.create_network("unfit")
        x = net.add_input("x", np.float32, (0,))
        n = net.add_input("n", np.int32, ())
        if place == "loop":
            loop = net.add_loop()
            loop.add_trip_limit(n, trt.TripLimit.COUNT)
            state = loop.add_recurrence(x)
            inside = state.get_output(0)
        else:
            branches = net.add_if_conditional()
            branches.set_condition(net.add_cast(n, bool).get_output(0))
            inside = branches.add_input(x).get_output(0)
        if kind == "topk":
            layer: Any = net.add_topk(inside, trt.TopKOperation.MAX, 1, 1)
        else:
            layer = net.add_slice(inside, (0,), (1,), (1,))
        if place == "loop":
            state.set_input(1, inside)
            out: Any = loop.add_loop_output(layer.get_output(0), OUT.CONCATENATE)
            out.set_input(1, n)
        else:
            out = branches.add_output(layer.get_output(0), x)
        net.mark_output(out.get_output(0))
        session = loopc.InferenceSession(net)
        empty = np.zeros(0, np.float32)
        (got,) = session.run(None, {"x": empty, "n": np.array(0, np.int32)})
        assert got.size == 0
        with pytest.raises(loopc.RunError):
            session.run(None, {"x": empty, "n": np.array(1, np.int32)})


def test_calls_that_are_refused() -> None:
    """What is wrong with a call is said at once, and the network can be used."""
    n, other = Net(), Net("other")
    x = n.input("x", (2,))
    with pytest.raises(loopc.InvalidArgument, match="another network"):
        n.ew(x, other.input("x", (2,)), EW.SUM)
    with pytest.raises(loopc.InvalidArgument, match="no input 2"):
        n.network.add_elementwise(x, x, EW.SUM).set_input(2, x)
    with pytest.raises(loopc.InvalidArgument, match="do not fill"):
        n.network.add_constant((3,), np.zeros(2, np.float32))
    with pytest.raises(loopc.InvalidArgument, match="cannot be 99"):
        n.network.add_unary(x, 99)  # type: ignore[arg-type]
    with pytest.raises(loopc.InvalidArgument, match="no output 1"):
        n.network.add_identity(x).get_output(1)
    with pytest.raises(loopc.InvalidArgument, match="no layer"):
        n.network.get_layer(99)
    n.out(n.ew(x, x, EW.SUM), "y")
    np.testing.assert_array_equal(n.run(x=f32([1, 2]))[0], f32([2, 4]))


def test_what_is_refused_is_not_half_there() -> None:
    """A layer whose values are refused is gone: the right call after it is the only one."""
    n = Net()
    x, go, count = n.input("x", (2,)), n.input("go", (), bool), n.input("n", (), np.int32)
    loop = n.loop()
    rec = loop.add_recurrence(x)
    before = n.network.num_layers
    wrong: list[Any] = [
        lambda: loop.add_trip_limit(count, 7),  # type: ignore[arg-type]
        lambda: loop.add_loop_output(rec.get_output(0), 9),  # type: ignore[arg-type]
        lambda: loop.add_iterator(x, None),  # type: ignore[arg-type]
        lambda: n.network.add_elementwise(x, x, 2**70),  # type: ignore[arg-type]
        lambda: n.network.add_assertion(go, "a\0b"),
        lambda: n.network.add_node("Identity", [x], {"a": 2**70}),
    ]
    for call in wrong:
        with pytest.raises(loopc.InvalidArgument):
            call()
        assert n.network.num_layers == before
    loop.add_trip_limit(count, COUNT)
    rec.set_input(1, n.ew(rec.get_output(0), x, EW.SUM))
    n.last(loop, rec, "y")
    got = n.run(x=f32([1, 2]), go=np.array(False), n=i32(2))
    np.testing.assert_array_equal(got[0], f32([3, 6]))


def test_texts_with_zeros_are_not_cut() -> None:
    """C's texts end at a zero: what would be cut there is refused."""
    n = Net()
    with pytest.raises(loopc.InvalidArgument, match="zeros"):
        n.input("a\0b", ())
    with pytest.raises(loopc.InvalidArgument, match="zeros"):
        n.const(np.array(["a\0b"], object), object)


def test_reversed_output_that_is_too_long() -> None:
    """No row is written in front of the check that it fits."""
    n = Net()
    x = n.input("x", (-1,))
    loop = n.loop(n.input("n", (), np.int32))
    rec = loop.add_recurrence(x)
    rec.set_input(1, rec.get_output(0))
    n.collect(loop, rec.get_output(0), n.input("length", (), np.int32), "y", kind=OUT.REVERSE)
    session, big = n.session(), np.ones(64, np.float32)
    for _ in range(3):
        with pytest.raises(loopc.RunError, match=r"more .*the length 1"):
            session.run(None, {"x": big, "n": i32(50), "length": i32(1)})
    with pytest.raises(loopc.RunError, match=r"the length -1 .*negative"):
        session.run(None, {"x": big, "n": i32(0), "length": i32(-1)})


# ----- What a network says of itself -------------------------------------------------


@pytest.mark.parametrize("kind", [OUT.CONCATENATE, OUT.REVERSE])
@pytest.mark.parametrize("level", [0, 3])
def test_rows_beyond_the_length_are_not_written(kind: OUT, level: int) -> None:
    """What computes a row writes to its place, which the row's check stands before."""
    net = trt.create_network("rows")
    x = net.add_input("x", np.int32, (-1,))
    n, length = (net.add_input(name, np.int32, ()) for name in ("n", "length"))
    loop = net.add_loop()
    loop.add_trip_limit(n, COUNT)
    state = loop.add_recurrence(x)
    h = state.get_output(0)
    state.set_input(1, net.add_elementwise(h, h, EW.SUM).get_output(0))
    row = net.add_unary(h, trt.UnaryOperation.ABS).get_output(0)
    out = loop.add_loop_output(row, kind)
    out.set_input(1, length)
    net.mark_output(out.get_output(0))
    options = loopc.SessionOptions(opt_level=level, check_accesses=True)
    session = loopc.InferenceSession(net, options)
    feeds = {"x": np.array([1, -2, 3], np.int32), "n": np.array(5, np.int32)}
    with pytest.raises(loopc.RunError, match="more iterations than the length 3"):
        session.run(None, feeds | {"length": np.array(3, np.int32)})
    (got,) = session.run(None, feeds | {"length": np.array(6, np.int32)})
    rows = [np.abs(feeds["x"]) * 2**k for k in range(5)][:: 1 if kind == OUT.CONCATENATE else -1]
    np.testing.assert_array_equal(got, [*rows, [0, 0, 0]])


def test_layers_tensors_and_text() -> None:
    """num_layers, get_layer, names, types and the network as text."""
    n = Net("named")
    x = n.input("x", ("rows", 4), np.float16)
    layer = n.network.add_elementwise(x, x, EW.PROD)
    assert layer.name == "(Unnamed Layer* 0) [ElementWise]"
    layer.name = "square"
    y = layer.get_output(0)
    assert y.name == "square_output"
    n.out(y, "y")
    assert n.network.num_layers == len(n.network) == 1
    found = n.network.get_layer(0)
    assert found == layer and isinstance(found, trt.IElementWiseLayer)
    assert found.op == EW.PROD and found.type == trt.LayerType.ELEMENTWISE
    assert (found.num_inputs, found.num_outputs) == (2, 1)
    assert found.get_input(1) == x and found.get_input(2) is None
    assert (y.shape, y.dtype) == ((-1, 4), trt.float16)
    assert x.is_network_input and y.is_network_output and not y.is_network_input
    text = str(n.network)
    for part in ("network 'named'", "x: HALF [rows, 4]", "#0 ElementWise 'square' (x, x)",
                 "operation = PROD", "y: HALF [?, 4]"):  # fmt: skip
        assert part in text
    mlir = n.network.to_mlir()
    assert 'loopc.name = "x"' in mlir and 'loopc.dims = ["rows", ""]' in mlir


def test_types_follow_changes() -> None:
    """A tensor's shape is that of the network as it is when it is asked for."""
    n = Net()
    x = n.input("x", (2, 3))
    layer = n.network.add_concatenation([x, x])
    assert layer.get_output(0).shape == (4, 3)
    layer.axis = 1
    assert layer.get_output(0).shape == (2, 6)
    layer.axis = 2
    with pytest.raises(loopc.InvalidArgument, match="axis 2"):
        _ = layer.get_output(0).shape
    layer.axis = 0
    assert layer.get_output(0).shape == (4, 3)


def test_dims_and_shapes_are_pinned() -> None:
    """Session options pin the network's dimensions as they pin a model's."""
    n = Net()
    x = n.input("x", ("rows", -1))
    n.out(n.ew(x, x, EW.SUM), "y")
    options = loopc.SessionOptions(dims={"rows": 2}, shapes={"x": [None, 3]})
    session = loopc.InferenceSession(n.network, options)
    assert session.get_outputs()[0].shape == [2, 3]
    with pytest.raises(loopc.CompileError, match="'columns'"):
        loopc.InferenceSession(n.network, loopc.SessionOptions(dims={"columns": 2}))


def test_ahead_of_time(tmp_path: Path) -> None:
    """A network compiles into a shared library as a model does."""
    n = Net("counted")
    counting(n)
    library = tmp_path / "counted.so"
    loopc.compile(n.network, library, emit="shared")
    assert "counted_run" in (tmp_path / "counted.h").read_text()
    assert loopc.load(library).run(None, {}) == [3]
    assert n.run() == [3]


def test_deep_networks() -> None:
    """Thousands of layers in a row need no deep stack and no square of time."""
    n = Net()
    count = n.input("n", (), np.int32)
    loop = n.loop(count)
    rec = loop.add_recurrence(n.const(0))
    value = rec.get_output(0)
    one = n.const(1)
    for _ in range(2000):
        value = n.ew(value, one, EW.SUM)
    assert value.shape == ()
    rec.set_input(1, value)
    n.last(loop, rec, "y")
    assert "loop.loop" in n.network.to_mlir()


def test_example() -> None:
    """examples/network/gru.py runs, and says what its C++ twin says."""
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, root / "examples" / "network" / "gru.py"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    lines = done.stdout.splitlines()
    assert lines[:3] == [
        "28 layers",
        "after 4 steps: -0.3259 0.1618 -0.3338 (4, 3)",
        "after 0 steps: 0.0000 0.0000 0.0000 (0, 3)",
    ]
    assert "LC0804" in lines[3] and "'forgotten'" in lines[3]
