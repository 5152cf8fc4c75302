# ===- test_count_trips.py - Conditions that count --------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""How often loops run whose condition compares a counter with a bound.

Each is held against a simulation that wraps around as the numbers do
(loop_test, loop_zero).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import loopc
import numpy as np
import onnx.parser
import pytest

#: Trips after which a loop is stopped.
LIMIT = 600

#: What a comparison says of two numbers.
Holds = Callable[[Any, Any], Any]

COMPARISONS: dict[str, Holds] = {
    "Less": lambda x, n: x < n,
    "LessOrEqual": lambda x, n: x <= n,
    "Greater": lambda x, n: x > n,
    "GreaterOrEqual": lambda x, n: x >= n,
    "Equal": lambda x, n: x == n,
    "NotEqual": lambda x, n: x != n,
}

MODEL = """
<ir_version: 8, opset_import: ["" : 17]>
main ({type} x0, {bound_input} bool c0, int64 m) => ({type} x, int64[k] numbers) {{
  step = Constant<value = {type} {{{step}}}>()
  {bound_constant}
  x, numbers = Loop (m, c0, x0) <body = body (int64 i, bool c, {type} a) =>
      (bool go, {type} b, int64 number) {{
    b = Add(a, step)
    {test}
    number = Identity(i)
  }}>
}}
"""


def make(kind: str, step: int, comparison: str, swapped: bool, bound: int | None = None) -> bytes:
    """A loop that goes on while its counter, one step on, compares so."""
    sides = "n, b" if swapped else "b, n"
    test = f"go = {comparison}({sides})"
    if comparison == "NotEqual":
        test = f"same = Equal({sides})\n    go = Not(same)"
    text = MODEL.format(
        type=kind,
        step=step,
        test=test,
        bound_input="" if bound is not None else f"{kind} n,",
        bound_constant="" if bound is None else f"n = Constant<value = {kind} {{{bound}}}>()",
    )
    return bytes(onnx.parser.parse_model(text).SerializeToString())


def simulate(
    dtype: np.dtype[Any], x0: int, bound: int, c0: bool, m: int, step: int, holds: Holds
) -> int:
    """The trips that the model says."""
    trips, x = 0, np.asarray(x0, dtype)
    go = c0
    while go and trips < m:
        trips += 1
        x = (x + np.asarray(step, dtype)).astype(dtype)
        go = bool(holds(x, np.asarray(bound, dtype)))
    return trips


def numbers_of(dtype: np.dtype[Any]) -> list[int]:
    """Numbers around the ends and around zero."""
    info = np.iinfo(dtype)
    near = [info.min, info.min + 1, info.min + 3, info.max - 3, info.max - 1, info.max]
    return sorted({*near, *(v for v in (-2, -1, 0, 1, 2, 7) if v >= info.min)})


def check(
    session: loopc.InferenceSession,
    dtype: np.dtype[Any],
    step: int,
    comparison: str,
    swapped: bool,
    bounds: Sequence[int],
    given: bool,
) -> None:
    """Every start with every bound, held against the simulation."""
    holds = COMPARISONS[comparison]
    test: Holds = (lambda x, n: holds(n, x)) if swapped else holds
    for x0, bound in itertools.product(numbers_of(dtype), bounds):
        for c0, m in ((True, LIMIT), (True, 2), (False, LIMIT), (True, 0), (True, -1)):
            feeds = {"x0": np.asarray(x0, dtype), "c0": np.asarray(c0), "m": np.asarray(m)}
            if given:
                feeds["n"] = np.asarray(bound, dtype)
            last, numbers = session.run(None, feeds)
            trips = simulate(dtype, x0, bound, c0, m, step, test)
            case = f"x0={x0} n={bound} c0={c0} m={m}"
            assert numbers.tolist() == list(range(trips)), case
            want = np.asarray(x0, dtype)
            with np.errstate(over="ignore"):
                for _ in range(trips):
                    want = (want + np.asarray(step, dtype)).astype(dtype)
            assert last == want, case


@pytest.mark.parametrize("comparison", COMPARISONS)
@pytest.mark.parametrize("kind,step", [("int8", 1), ("int8", -1), ("uint8", 1), ("int64", -1)])
@pytest.mark.filterwarnings("ignore:overflow")
def test_loop_test_of_a_counter(kind: str, step: int, comparison: str) -> None:
    """Bounds of the run, counters that grow and that shrink."""
    swapped = step < 0 or comparison == "Less"
    session = loopc.InferenceSession(make(kind, step, comparison, swapped))
    dtype = np.dtype(kind)
    check(session, dtype, step, comparison, swapped, numbers_of(dtype), given=True)


@pytest.mark.parametrize(
    "kind,step,comparison,bound",
    [
        ("int8", 3, "Less", 100),
        ("int8", 3, "LessOrEqual", 124),
        # The next step would wrap around: the condition stays.
        ("int8", 3, "Less", 127),
        ("int8", -3, "Greater", -100),
        ("int8", -3, "GreaterOrEqual", -126),
        ("uint8", 3, "Less", 250),
        ("int8", 3, "Greater", 5),
        ("int8", 3, "NotEqual", 6),
        ("int8", 3, "Equal", 6),
        ("int8", 0, "Less", 6),
    ],
)
@pytest.mark.filterwarnings("ignore:overflow")
def test_loop_test_of_larger_steps(kind: str, step: int, comparison: str, bound: int) -> None:
    """Bounds that the model holds."""
    session = loopc.InferenceSession(make(kind, step, comparison, False, bound))
    check(session, np.dtype(kind), step, comparison, False, [bound], given=False)


def test_loop_test_of_two_conditions() -> None:
    """Both must hold; one of them holds for fewer iterations."""
    text = """
    <ir_version: 8, opset_import: ["" : 17]>
    main (int64 n, int64 m) => (int64[k] numbers) {
      yes = Constant<value = bool {1}>()
      one = Constant<value = int64 {1}>()
      numbers = Loop (, yes) <body = body (int64 i, bool c) => (bool go, int64 number) {
        j = Add(i, one)
        left = Sub(m, i)
        short = Less(j, n)
        enough = Greater(left, one)
        go = And(short, enough)
        number = Identity(i)
      }>
    }
    """
    model = onnx.parser.parse_model(text).SerializeToString()
    session = loopc.InferenceSession(model)
    for n, m in itertools.product((-3, 0, 1, 2, 5, 9), repeat=2):
        (numbers,) = session.run(None, {"n": np.asarray(n), "m": np.asarray(m)})
        assert numbers.tolist() == list(range(max(1, min(n, m)))), (n, m)
