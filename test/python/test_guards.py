# ===- test_guards.py - What can fail, where it does not happen -------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Operators that fail at run time fail where they happen, and nowhere else (`loop_order`).

Each case of guard_cases.py is put into loops without iterations, behind an early exit, into a
branch that is not taken and into a scan of nothing, with operands that do not fit: no error.
Where one of them happens there is an error with the node's place, and the session goes on.
"""

from __future__ import annotations

import functools
import json
import os
import pathlib
import re
import subprocess
import sys
import zlib
from typing import Any

import guard_models as gm
import loopc
import numpy as np
import onnx.parser
import pytest
from engines import Outcome, run_ort, worker
from guard_cases import GuardCase, all_cases, large_cases
from onnx import helper

CASES = all_cases()
#: `LOOPC_GUARDS=all` tries every place, with known and with unknown extents, at each level.
ALL = os.environ.get("LOOPC_GUARDS") == "all"
#: Places that stop the same nodes with operands from outside; one a case and run is compiled.
ALIKE = ("for", "while", "scan", "nested")


@functools.cache
def operator_table() -> list[dict[str, Any]]:
    """What the compiler says of each operator that it lowers."""
    tool = pathlib.Path(loopc.__file__).parents[2] / "bin" / "loopc-opt"
    text = subprocess.run([tool, "--print-operators"], capture_output=True, check=True).stdout
    rows: list[dict[str, Any]] = json.loads(text)
    return rows


def test_every_operator_that_can_fail_has_a_case() -> None:
    can_fail = {(row["domain"], row["operator"]) for row in operator_table() if row["can_fail"]}
    tested = {(case.domain, case.short) for case in CASES}
    for domain, op in sorted(can_fail - tested):
        pytest.fail(f"operator {domain}::{op} can fail and has no guard case in guard_cases.py")
    for domain, op in sorted(tested - can_fail):
        pytest.fail(f"operator {domain}::{op} has a guard case, but the table says it cannot fail")


def is_static(case: GuardCase) -> bool:
    """Whether the operands that do not fit have the shapes of those that do."""
    return all(case.good[name].shape == value.shape for name, value in case.bad.items())


def variants() -> list[Any]:
    """Case, level and known extents. What is hoisted is hoisted most where extents are known."""
    made = []
    for case in CASES:
        can_be_static = is_static(case)
        kinds = [static for static, can in ((False, case.open), (True, can_be_static)) if can]
        for level in (0, 3):
            for static in kinds if ALL else kinds[:1] if level == 0 else kinds[-1:]:
                name = f"{case.name}-O{level}-{'static' if static else 'open'}"
                made.append(pytest.param(case, level, static, id=name))
    return made


def places_of(case: GuardCase, level: int) -> list[str]:
    """The places that one test compiles."""
    if ALL:
        return list(gm.HAPPENS)
    chosen = ALIKE[(zlib.crc32(case.name.encode()) + level) % len(ALIKE)]
    return [place for place in gm.HAPPENS if place in ("exit", "branch", chosen)]


def outcomes(model: bytes, level: int, runs: list[dict[str, Any]]) -> list[Outcome]:
    """All runs in one session; if its process dies, each of them in one of its own."""
    together = worker(gm.run_all).ask((model, level, runs))
    if not together.crashed:
        assert together.error is None, together.error
        assert together.values is not None
        return together.values
    alone = [worker(gm.run_all).ask((model, level, [run])) for run in runs]
    return [one if one.values is None else one.values[0] for one in alone]


def assert_equal(got: Any, want: Any, place: str) -> None:
    """Fails unless both have the shape and, but for rounding, the elements."""
    got, want = np.asarray(got), np.asarray(want)
    assert got.shape == want.shape, place
    if want.dtype.kind in "OUS":
        assert got.tolist() == want.tolist(), place
    else:
        np.testing.assert_allclose(got, want, rtol=2e-3, atol=1e-5, err_msg=place)


def assert_stopped(outcome: Outcome, case: GuardCase, places: list[str]) -> dict[str, Any]:
    """Nothing happens, so nothing fails and nothing is collected; returns the values."""
    assert outcome.error is None, f"nothing happens here, but: {outcome.error}"
    assert outcome.values is not None
    values = dict(zip(places, outcome.values, strict=True))
    leading = {"for": (0,), "while": (0,), "scan": (0,), "nested": (2, 0)}
    for place, want in leading.items():
        if place in values:
            assert np.shape(values[place])[: len(want)] == want, place
    if "branch" in values:
        assert all(extent == 0 for extent in np.shape(values["branch"]))
    return values


def assert_fails(outcome: Outcome, case: GuardCase, place: str) -> None:
    """The run ended with the error of that node in that place."""
    error = outcome.error
    assert error is not None, f"'{place}' gave values for operands that do not fit"
    assert f"{case.short} '{gm.VICTIM}'" in error, error
    assert f"'{place}'" in error, error
    assert re.search(case.error, error), error
    if place == "exit" and case.counts:
        assert "(iteration 2)" in error, error


@pytest.mark.parametrize(("case", "level", "static"), variants())
def test_guard(case: GuardCase, level: int, static: bool) -> None:
    places = places_of(case, level)
    model = gm.Places(case, static).model(places).SerializeToString()
    bad = case.good | case.bad
    runs = [gm.feeds(case, bad, [], places)]
    runs += [gm.feeds(case, bad, [place], places) for place in places]
    runs += [gm.feeds(case, case.good, places, places), gm.feeds(case, bad, [], places)]
    stopped, *failed, good, again = outcomes(model, level, runs)
    before_exit = assert_stopped(stopped, case, places)["exit"]
    for place, outcome in zip(places, failed, strict=True):
        assert_fails(outcome, case, place)
    assert good.error is None and good.values is not None, good.error
    assert_stopped(again, case, places)
    values = dict(zip(places, good.values, strict=True))
    want = values["branch"]
    if case.ort:
        other = worker(run_ort).ask((gm.plain_model(case).SerializeToString(), case.good))
        assert other.values is not None, other.error
        want = other.values[0]
    for place, value in values.items():
        assert_equal(value, np.broadcast_to(want, gm.COUNTS[place] + np.shape(want)), place)
    assert_equal(before_exit, np.broadcast_to(want, (2, *np.shape(want))), "exit")


def known_variants() -> list[Any]:
    """Case, level, and what the model itself says of the operands that do not fit."""
    made = []
    for case in CASES:
        kinds = ["constant"] if is_static(case) else ["constant", "extents"]
        for level in (0, 3) if ALL else (3,):
            for known in kinds:
                name = f"{case.name}-O{level}-{known}"
                made.append(pytest.param(case, level, known, id=name))
    return made


@pytest.mark.parametrize(("case", "level", "known"), known_variants())
def test_contradictions_of_the_model(case: GuardCase, level: int, known: str) -> None:
    # In `exit` the operands are chosen by the iteration, so none is known.
    places = [place for place in places_of(case, level) if place != "exit"]
    model = gm.Places(case, static=True, known=known).model(places).SerializeToString()
    operands = case.good | case.bad
    if known == "constant":
        operands = {name: value for name, value in operands.items() if name not in case.bad}
    runs = [gm.feeds(case, operands, now, places) for now in ([], *([p] for p in places), [])]
    stopped, *failed, again = outcomes(model, level, runs)
    assert_stopped(stopped, case, places)
    for place, outcome in zip(places, failed, strict=True):
        assert outcome.error is not None, f"'{place}' gave values for operands that do not fit"
        assert f"{case.short} '{gm.VICTIM}'" in outcome.error, outcome.error
        assert f"'{place}'" in outcome.error, outcome.error
        if place != "branch" and case.counts:
            assert "(iteration 0)" in outcome.error, outcome.error
    assert_stopped(again, case, places)


@pytest.mark.parametrize("first", range(0, 24, 6))
def test_nests(first: int) -> None:
    """The short form of test/fuzz/guards.py."""
    sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "fuzz"))
    import guards

    found = [
        f"{seed}: {text}" for seed in range(first, first + 6) if (text := guards.problem(seed)[0])
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("case", large_cases(), ids=lambda case: case.name)
def test_memory_is_asked_for_where_it_is_used(case: GuardCase) -> None:
    places = ["for", "exit", "branch"]
    model = gm.Places(case, static=True).model(places).SerializeToString()
    bad = case.good | case.bad
    runs = [gm.feeds(case, bad, happening, places) for happening in ([], ["branch"], [])]
    stopped, taken, again = outcomes(model, 3, runs)
    assert_stopped(stopped, case, places)
    assert taken.error is not None and re.search(case.error, taken.error), taken.error
    assert f"{case.short} '{gm.VICTIM}'" in taken.error, taken.error
    assert_stopped(again, case, places)


def test_contradictions_in_functions() -> None:
    """A function of the model is expanded where it is called: here, where no run may come."""
    model = onnx.parser.parse_model("""
<ir_version: 10, opset_import: ["": 21, "my": 1]>
g (bool take, float[2, 3] x) => (float[p, q] y)
{
  y = If (take) <then_branch = t () => (float[a, b] u) { u = my.sum (x) },
                 else_branch = e () => (float[c, d] v) { v = Identity (x) }>
}
<domain: "my", opset_import: ["": 21]>
sum (a) => (b) { k = Constant <value_int = 5> () b = CumSum (a, k) }""")
    x = np.ones((2, 3), np.float32)
    runs = [{"take": np.array(taken), "x": x} for taken in (False, True)]
    stopped, taken = outcomes(model.SerializeToString(), 3, runs)
    assert stopped.error is None and stopped.values is not None
    assert_equal(stopped.values[0], x, "not taken")
    assert taken.error is not None and "CumSum" in taken.error
    assert "axis 5 is out of range for rank 2" in taken.error


def test_braces_in_names() -> None:
    """In a message they stand for values; those of a model's names do not."""
    model = onnx.parser.parse_model("""
<ir_version: 10, opset_import: ["": 21]>
g (int64[n] m) => (float[k] y)
{
  y = Loop (m, "") <body = b (int64 i, bool c) => (bool d, float v)
    { d = Identity (c) v = Cast <to = 1> (i) }>
}""")
    model.graph.node[0].name = "{*} of {}"
    (outcome,) = outcomes(model.SerializeToString(), 3, [{"m": np.array([1, 2])}])
    assert outcome.error is not None
    found = re.search(r"Loop '\{ ?\*\} of \{ ?\}'.*must have one element but has 2", outcome.error)
    assert found, outcome.error


#: Shapes whose number of elements is 4 once it has wrapped around, of known and unknown rank.
WRAPPING = {
    "Reshape": ("float[n] x", "Reshape(x, shape)", np.ones(4, np.float32), "reshape|do not fit"),
    "Expand": ("float[1, 1] x", "Expand(x, shape)", np.ones((1, 1), np.float32), "memory"),
    "Tile": ("float[1, 1] x", "Tile(x, shape)", np.ones((1, 1), np.float32), "memory"),
}


@pytest.mark.parametrize("extents", ["2", "m"])
@pytest.mark.parametrize("op", WRAPPING)
def test_numbers_of_elements_do_not_wrap_around(op: str, extents: str) -> None:
    operand, node, value, problem = WRAPPING[op]
    model = onnx.parser.parse_model(f"""
<ir_version: 10, opset_import: ["": 21]>
g ({operand}, int64[{extents}] shape, int64[k] i) => (float[p, q] o)
{{
  y = {node}
  o = Gather<axis = 0>(y, i)
}}""")
    feeds = {"x": value, "shape": np.array([2**62 + 1, 4]), "i": np.array([10**9])}
    (outcome,) = outcomes(model.SerializeToString(), 3, [feeds])
    assert outcome.error is not None and re.search(problem, outcome.error), outcome.error


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf, 1e30])
def test_constants_that_are_no_index(number: float) -> None:
    operands = {"a": np.ones((1, 2, 4, 4), np.float32)}
    regions = np.array([[number, 0, 0, 2, 2]], np.float32)
    node = helper.make_node("MaxRoiPool", ["a", "b"], ["y"], name=gm.VICTIM, pooled_shape=[2, 2])
    branches = {
        "then_branch": helper.make_graph([node], "then", [], [onnx.ValueInfoProto(name="y")]),
        "else_branch": helper.make_graph(
            [helper.make_node("Identity", ["a"], ["z"])],
            "else",
            [],
            [onnx.ValueInfoProto(name="z")],
        ),
    }
    take = helper.make_tensor_value_info("take", onnx.TensorProto.BOOL, [])
    graph = helper.make_graph(
        [helper.make_node("If", ["take"], ["o"], **branches)],
        "g",
        [gm.port("a", operands["a"]), take],
        [helper.make_tensor_value_info("o", onnx.TensorProto.FLOAT, None)],
        [onnx.numpy_helper.from_array(regions, "b")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=8)
    runs = [operands | {"take": np.array(taken)} for taken in (False, True)]
    stopped, taken = outcomes(model.SerializeToString(), 3, runs)
    assert stopped.error is None and stopped.values is not None
    assert_equal(stopped.values[0], operands["a"], "not taken")
    assert taken.error is not None and "a batch index is out of range" in taken.error


@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
def test_constant_regions_that_are_no_numbers(mode: str) -> None:
    model = onnx.parser.parse_model(f"""
<ir_version: 10, opset_import: ["": 21]>
g (float[4] x) => (float[n] y)
<float[2] roi = {{nan, 1.0}}, float[2] far = {{-inf, 1e30}}, int64[1] size = {{3}}>
{{
  a = Resize<mode = "{mode}", coordinate_transformation_mode = "tf_crop_and_resize",
             extrapolation_value = 7.0>(x, roi, , size)
  b = Resize<mode = "{mode}", coordinate_transformation_mode = "tf_crop_and_resize",
             extrapolation_value = 7.0>(x, far, , size)
  y = Concat<axis = 0>(a, b)
}}""")
    feeds = {"x": np.arange(4, dtype=np.float32)}
    (outcome,) = outcomes(model.SerializeToString(), 3, [feeds])
    assert outcome.error is None and outcome.values is not None, outcome.error
    np.testing.assert_array_equal(outcome.values[0], np.full(6, 7, np.float32))
