# ===- test_network_refused.py - Networks that are refused -----------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""loopc.network: each network that is not well formed has an error of its own (the trt_* rules)."""

from __future__ import annotations

from collections.abc import Callable

import loopc
import numpy as np
import pytest
from loopc import network
from networks import COUNT, EW, OUT, WHILE, Net, counting


def refuses(n: Net, code: str, *parts: str) -> None:
    """The network is refused with that code, naming `parts`."""
    with pytest.raises(loopc.CompileError) as caught:
        n.session()
    message = str(caught.value)
    assert caught.value.code == code, message
    for part in parts:
        assert part in message, f"{part!r} is not in {message!r}"


def no_limit(n: Net) -> None:
    loop = n.loop(None, "endless")
    rec = loop.add_recurrence(n.const(0))
    rec.set_input(1, rec.get_output(0))
    n.last(loop, rec, "y")


def two_whiles(n: Net) -> None:
    loop, rec = counting(n)
    for k in range(2):
        condition = n.ew(rec.get_output(0), n.const(9), EW.LESS)
        loop.add_trip_limit(condition, WHILE).name = f"while{k}"


def two_counts(n: Net) -> None:
    loop, _ = counting(n)
    loop.add_trip_limit(n.const(4, np.int32), COUNT).name = "second"


def count_of_floats(n: Net) -> None:
    loop = n.loop(None, "bad")
    loop.add_trip_limit(n.const(3.0), COUNT).name = "limit"
    rec = loop.add_recurrence(n.const(0))
    rec.set_input(1, rec.get_output(0))
    n.last(loop, rec, "y")


def while_of_integers(n: Net) -> None:
    loop, _rec = counting(n)
    loop.add_trip_limit(n.const([True, False], bool), WHILE).name = "vector"


def count_from_inside(n: Net) -> None:
    loop = n.loop(None, "inside")
    rec = loop.add_recurrence(n.const(1, np.int32))
    rec.set_input(1, n.ew(rec.get_output(0), n.const(1, np.int32), EW.SUM))
    loop.add_trip_limit(rec.get_output(0), COUNT).name = "limit"
    n.last(loop, rec, "y")


def last_value_of_a_layer(n: Net) -> None:
    loop, rec = counting(n)
    inner = n.ew(rec.get_output(0), n.const(1), EW.SUM, "no_recurrence")
    layer = loop.add_loop_output(inner, OUT.LAST_VALUE)
    layer.name = "wrong"
    n.out(layer.get_output(0), "y")


def last_value_of_another_loop(n: Net) -> None:
    _, rec = counting(n, "first")
    second, _ = counting(n, "second")
    layer = second.add_loop_output(rec.get_output(0), OUT.LAST_VALUE)
    layer.name = "wrong"
    n.out(layer.get_output(0), "y")


def never_closed(n: Net) -> None:
    loop, _ = counting(n)
    loop.add_recurrence(n.const(0)).name = "open"


def while_of_an_output(n: Net) -> None:
    loop, _rec = counting(n)
    last = n.network.get_output(0)
    condition = n.ew(last, n.const(5), EW.LESS, "too_late")
    loop.add_trip_limit(condition, WHILE).name = "limit"


def inside_of_an_output(n: Net) -> None:
    _loop, rec = counting(n)
    last = n.network.get_output(0)
    rec.set_input(1, n.ew(rec.get_output(0), last, EW.SUM, "too_early"))


def initial_from_inside(n: Net) -> None:
    loop, rec = counting(n)
    second = loop.add_recurrence(n.ew(rec.get_output(0), n.const(1), EW.SUM, "start"))
    second.name = "second"
    second.set_input(1, second.get_output(0))
    n.last(loop, second, "y")


def cycle(n: Net) -> None:
    x = n.const(1)
    first = n.network.add_elementwise(x, x, EW.SUM)
    first.name = "first"
    second = n.network.add_elementwise(first.get_output(0), x, EW.SUM)
    second.name = "second"
    first.set_input(1, second.get_output(0))
    n.out(second.get_output(0), "y")


def inner_output(n: Net) -> None:
    _, rec = counting(n)
    n.out(n.ew(rec.get_output(0), n.const(1), EW.SUM, "inner"), "y")


def no_length(n: Net) -> None:
    loop, rec = counting(n)
    layer = loop.add_loop_output(rec.get_output(0), OUT.CONCATENATE)
    layer.name = "collected"
    n.out(layer.get_output(0), "y")


def length_from_inside(n: Net) -> None:
    loop, rec = counting(n)
    length = n.network.add_cast(rec.get_output(0), np.int32).get_output(0)
    n.collect(loop, rec.get_output(0), length, "y")


def length_of_a_vector(n: Net) -> None:
    loop, rec = counting(n)
    n.collect(loop, rec.get_output(0), n.const([3], np.int32), "y")


def collected_axis(n: Net) -> None:
    loop, rec = counting(n)
    n.collect(loop, rec.get_output(0), n.const(3, np.int32), "y", axis=2)


def reverse_without_count(n: Net) -> None:
    loop = n.loop(None, "loop")
    rec = loop.add_recurrence(n.const(0))
    loop.add_trip_limit(n.ew(rec.get_output(0), n.const(9), EW.LESS), WHILE)
    iterator = loop.add_iterator(n.const([1, 2, 3]), 0, True)
    iterator.name = "backwards"
    rec.set_input(1, n.ew(rec.get_output(0), iterator.get_output(0), EW.SUM))
    n.last(loop, rec, "y")


def iterator_axis(n: Net) -> None:
    loop, _rec = counting(n)
    iterator = loop.add_iterator(n.const([1, 2, 3]), 1)
    iterator.name = "columns"
    n.collect(loop, iterator.get_output(0), n.const(3, np.int32), "y")


def iterator_from_inside(n: Net) -> None:
    loop, rec = counting(n)
    vector = n.network.add_unsqueeze(rec.get_output(0), n.const([0], np.int64)).get_output(0)
    iterator = loop.add_iterator(vector)
    iterator.name = "inner"
    n.collect(loop, iterator.get_output(0), n.const(3, np.int32), "y")


def not_nested(n: Net) -> None:
    _first, a = counting(n, "first")
    _second, b = counting(n, "second")
    a.set_input(1, n.ew(a.get_output(0), b.get_output(0), EW.SUM))
    b.set_input(1, n.ew(b.get_output(0), a.get_output(0), EW.SUM))


def ranks_differ(n: Net) -> None:
    n.out(n.ew(n.input("a", (3,)), n.input("b", (1, 3)), EW.SUM, "sum"), "y")


def types_differ(n: Net) -> None:
    n.out(n.ew(n.input("a", (3,)), n.input("b", (3,), np.int32), EW.SUM, "sum"), "y")


def shapes_differ(n: Net) -> None:
    n.out(n.ew(n.input("a", (3,)), n.input("b", (4,)), EW.SUM, "sum"), "y")


def recurrence_changes_type(n: Net) -> None:
    loop, _ = counting(n)
    rec = loop.add_recurrence(n.const(0))
    rec.name = "changing"
    rec.set_input(1, n.network.add_cast(rec.get_output(0), np.int32).get_output(0))
    n.last(loop, rec, "y")


def recurrence_changes_rank(n: Net) -> None:
    loop, _ = counting(n)
    rec = loop.add_recurrence(n.const(0))
    rec.name = "changing"
    more = n.network.add_unsqueeze(rec.get_output(0), n.const([0], np.int64))
    rec.set_input(1, more.get_output(0))
    n.last(loop, rec, "y")


def wrong_in_the_body(n: Net) -> None:
    loop, _ = counting(n, "outer")
    rec = loop.add_recurrence(n.const([1, 2]))
    rec.set_input(1, n.ew(rec.get_output(0), n.const([1, 2, 3]), EW.SUM, "misfit"))
    n.last(loop, rec, "y")


def two_names(n: Net) -> None:
    x = n.input("x", ())
    n.out(n.ew(x, x, EW.SUM), "y")
    n.out(n.ew(x, x, EW.PROD), "y")


def no_output(n: Net) -> None:
    n.input("x", ())


def no_condition(n: Net) -> None:
    branch = n.network.add_if_conditional()
    branch.name = "choice"
    n.out(branch.add_output(n.const(1), n.const(2)).get_output(0), "y")


def branches_differ(n: Net) -> None:
    branch = n.network.add_if_conditional()
    branch.set_condition(n.input("c", (), bool))
    layer = branch.add_output(n.const(1), n.const(2, np.int32))
    layer.name = "join"
    n.out(layer.get_output(0), "y")


def inside_of_a_branch(n: Net) -> None:
    branch = n.network.add_if_conditional()
    branch.name = "choice"
    branch.set_condition(n.input("c", (), bool))
    inner = n.ew(branch.add_input(n.const(1)).get_output(0), n.const(1), EW.SUM, "inner")
    n.out(branch.add_output(inner, inner).get_output(0), "y")
    n.out(inner, "leak")


def assertion_in_a_conditional(n: Net) -> None:
    branch = n.network.add_if_conditional()
    branch.name = "choice"
    condition = n.input("c", (), bool)
    branch.set_condition(condition)
    n.network.add_assertion(branch.add_input(condition).get_output(0), "no").name = "guard"
    n.out(branch.add_output(n.const(1), n.const(2)).get_output(0), "y")


REFUSED: list[tuple[Callable[[Net], None], str, tuple[str, ...]]] = [
    (no_limit, "LC0803", ("'endless'", "no trip limit")),
    (two_whiles, "LC0803", ("'loop'", "kWHILE", "'while0'", "'while1'")),
    (two_counts, "LC0803", ("'loop'", "kCOUNT", "'second'")),
    (count_of_floats, "LC0803", ("'limit'", "INT32 or INT64")),
    (while_of_integers, "LC0803", ("'vector'", "BOOL")),
    (count_from_inside, "LC0803", ("'limit'", "'inside'")),
    (last_value_of_a_layer, "LC0806", ("'wrong'", "no_recurrence", "'loop'")),
    (last_value_of_another_loop, "LC0806", ("'wrong'", "'second'")),
    (never_closed, "LC0804", ("'open'", "'loop'", "setInput(1")),
    (while_of_an_output, "LC0803", ("'loop'", "'limit'", "'too_late'")),
    (inside_of_an_output, "LC0808", ("'loop'", "'too_early'")),
    (initial_from_inside, "LC0804", ("'second'", "start", "'loop'")),
    (cycle, "LC0808", ("'first'", "'second'")),
    (inner_output, "LC0809", ("'inner'", "'loop'")),
    (no_length, "LC0806", ("'collected'", "'loop'", "setInput(1")),
    (length_from_inside, "LC0806", ("'y_layer'", "'loop'")),
    (length_of_a_vector, "LC0806", ("'y_layer'", "INT32")),
    (collected_axis, "LC0806", ("'y_layer'", "axis 2")),
    (reverse_without_count, "LC0805", ("'backwards'", "'loop'", "kCOUNT")),
    (iterator_axis, "LC0805", ("'columns'", "axis 1")),
    (iterator_from_inside, "LC0805", ("'inner'", "'loop'")),
    (not_nested, "LC0807", ("'first'", "'second'", "cleanly nested")),
    (ranks_differ, "LC0802", ("'sum'", "'a'", "'b'", "ranks 1 and 2")),
    (types_differ, "LC0802", ("'sum'", "'a'", "'b'", "FLOAT and INT32")),
    (shapes_differ, "LC0303", ("'sum'",)),
    (recurrence_changes_type, "LC0804", ("'changing'",)),
    (recurrence_changes_rank, "LC0804", ("'changing'",)),
    (wrong_in_the_body, "LC0300", ("Loop 'outer'", "'misfit'")),
    (two_names, "LC0809", ("'y'",)),
    (no_output, "LC0809", ("markOutput",)),
    (no_condition, "LC0810", ("'choice'",)),
    (branches_differ, "LC0810", ("'join'",)),
    (inside_of_a_branch, "LC0809", ("'inner'", "'choice'")),
    (assertion_in_a_conditional, "LC0810", ("'guard'", "'choice'")),
]


@pytest.mark.parametrize(("build", "code", "parts"), REFUSED, ids=lambda one: getattr(one, "__name__", ""))  # fmt: skip
def test_refused(build: Callable[[Net], None], code: str, parts: tuple[str, ...]) -> None:
    """Each network that is not well formed is refused, naming the layers."""
    n = Net("refused")
    build(n)
    refuses(n, code, *parts)
    # It can be asked again, and says the same.
    refuses(n, code, *parts)


@pytest.mark.parametrize("wrong", [1.5, "1", None, 2**70], ids=str)
def test_what_is_no_integer(wrong) -> None:
    """Nothing is rounded on its way into a network."""
    n = network.INetworkDefinition()
    x = n.add_input("x", np.float32, (2, 2))
    if not isinstance(wrong, str):
        with pytest.raises(loopc.InvalidArgument, match="integer"):
            n.add_input("y", np.float32, (2, wrong))
    with pytest.raises(loopc.InvalidArgument, match="integer"):
        n.add_constant((wrong,), np.zeros(1, np.float32))
    with pytest.raises(loopc.InvalidArgument, match="integer"):
        n.add_slice(x, (0, wrong), (1, 1), (1, 1))
    with pytest.raises(loopc.InvalidArgument, match="integer"):
        n.add_gather(x, x, wrong)
    with pytest.raises(loopc.InvalidArgument, match="integer"):
        n.add_elementwise(x, x, wrong)


@pytest.mark.parametrize("known", [True, False])
def test_slices_whose_last_place_has_more_than_64_bits(known):
    """Element 0 + 2^62 * 4 was taken for element 0."""
    net = network.create_network("n")
    x = net.add_input("x", np.float32, (2, 3))
    layer = net.add_slice(x, (0, 0), (2**62 + 1, 3), (4, 1))
    feeds = {"x": np.ones((2, 3), np.float32)}
    if not known:
        layer.set_input(2, net.add_input("size", np.int64, (2,)))
        feeds["size"] = np.array([2**62 + 1, 3])
    layer.get_output(0).name = "y"
    net.mark_output(layer.get_output(0))
    with pytest.raises(loopc.Error, match=r"not inside of (its extent 2|the extents)"):
        loopc.InferenceSession(net).run(None, feeds)


@pytest.mark.parametrize("level", [0, 3])
@pytest.mark.parametrize("kind", [OUT.CONCATENATE, OUT.REVERSE])
def test_constant_length_below_zero(kind: OUT, level: int) -> None:
    """An error of the run, which has no such value to give: `loop_collect_length`."""
    n = Net()
    x = n.input("x", (-1, 2))
    loop = n.loop(n.input("n", (), np.int32))
    n.collect(loop, loop.add_iterator(x).get_output(0), n.const(-2, np.int32), "y", 0, kind)
    session = n.session(level)
    for trips in (0, 1):
        with pytest.raises(loopc.RunError, match="length -2"):
            session.run(None, {"x": np.ones((3, 2), np.float32), "n": np.int32(trips)})
