# ===- test_conformance.py - The conformance runner's own checks ------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""test/conformance sees differences, deaths and endless runs, and says so."""

from __future__ import annotations

import os
import pathlib
import signal
import sys
import time
from typing import Any

import ml_dtypes
import numpy as np
import onnx.parser
import pytest
from onnx.backend.test.case.test_case import TestCase

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "conformance"))

import cases
import pool
import run
import runners
from control import Control, control_of

X = np.array([1, 2], np.float32)


def case(name: str, want: Any = 2 * X, text: str = "y = Add(x, x)") -> TestCase:
    model = onnx.parser.parse_model(
        f'<ir_version: 10, opset_import: ["": 21]> m (float[2] x) => (float[2] y) {{ {text} }}'
    )
    return TestCase(name, name, None, None, model, [([X], [want])], "node", 1e-3, 1e-7)


@pytest.mark.parametrize(
    ("got", "want", "problem"),
    [
        ([X], [X], None),
        ([X + np.float32(1e-5)], [X], None),
        ([X + np.float32(1e-2)], [X], "2 of 2 values differ"),
        ([X], [X, X], "1 outputs"),
        ([X.astype(np.float64)], [X], "type float64"),
        ([X[:1]], [X], "shape"),
        ([X.reshape(1, 2)], [X], "shape"),
        ([np.float32([1, np.nan])], [np.float32([1, np.nan])], None),
        ([np.float32([1, 2])], [np.float32([1, np.nan])], "1 of 2 values differ"),
        ([None], [None], None),
        ([X], [None], "a tensor, expected an empty optional"),
        ([[X]], [X], "a sequence, expected a tensor"),
        ([[X, X]], [[X]], "2 elements"),
        ([[X]], [[X]], None),
        ([[X + 1]], [[X]], "element 0"),
        ([np.array(["a"])], [np.array(["a"], object)], None),
        ([np.array(["a"], object)], [np.array(["b"], object)], "strings differ"),
        ([np.int64([2**53 + 1])], [np.int64([2**53 + 1])], None),
        ([X.astype(ml_dtypes.bfloat16)], [X.astype(ml_dtypes.bfloat16)], None),
        ([X.astype(ml_dtypes.float8_e5m2)], [(3 * X).astype(ml_dtypes.float8_e5m2)], "2 of 2"),
    ],
)  # fmt: skip
def test_compare(got: list[Any], want: list[Any], problem: str | None) -> None:
    found = cases.compare(got, want, 1e-3, 1e-7)
    assert found is None if problem is None else problem in (found or "")


def _fake(model: Any) -> runners.Runner:
    """An engine that does as the model's name says."""
    op = model.graph.node[0].op_type
    if op == "Sub":
        raise runners.CompileFailedError("x.onnx: error: unsupported operator 'Sub'", "LC0301")
    if op == "Neg":
        os.kill(os.getpid(), signal.SIGKILL)
    if op == "Abs":
        time.sleep(60)
    if op == "Mul":
        return lambda feeds: (_ for _ in ()).throw(ValueError("out of range"))
    return lambda feeds: [feeds["x"] + feeds["x"]]


CASES = [
    case("a_pass"),
    case("b_wrong", want=3 * X),
    case("c_refused", text="y = Sub(x, x)"),
    case("d_crash", text="y = Neg(x)"),
    case("e_run_error", text="y = Mul(x, x)"),
    case("f_timeout", text="y = Abs(x)"),
    case("g_pass"),
]


@pytest.fixture(name="results")
def _results(monkeypatch: pytest.MonkeyPatch) -> dict[str, runners.Result]:
    monkeypatch.setitem(runners.ENGINES, "fake", _fake)
    return {r.name: r for r in pool.run_all(CASES, "fake", jobs=2, limit=1.5)}


def test_every_class(results: dict[str, runners.Result]) -> None:
    """Each way to end is told from the others, and the cases after it still run."""
    found = {name: (r.status, r.code, r.reason) for name, r in results.items()}
    assert found == {
        "a_pass": ("pass", "", ""),
        "b_wrong": ("mismatch", "", "output 0: 2 of 2 values differ"),
        "c_refused": ("compile error", "LC0301", "unsupported operator 'Sub'"),
        "d_crash": ("crash", "", "killed by SIGKILL"),
        "e_run_error": ("run error", "", "ValueError: out of range"),
        "f_timeout": ("timeout", "", "no answer within 1.5 s"),
        "g_pass": ("pass", "", ""),
    }


def test_table_and_verdicts(
    results: dict[str, runners.Result], tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page counts by operator; a stale page and a lost test are failures."""
    monkeypatch.setattr(cases, "load", lambda: CASES)
    monkeypatch.setattr(run, "_run", lambda *_: results)
    page, expect = tmp_path / "Support.md", tmp_path / "pass.txt"
    assert run.main(["--table", str(page), "--write-expect", str(expect)]) == 0
    assert expect.read_text() == "a_pass\ng_pass\n"
    text = page.read_text()
    assert "| All of the suite | 2 | 7 | 1 | 1 | 1 | 1 | 1 |" in text
    assert "| Add | 2 | 3 | `b_wrong`: mismatch |" in text
    assert "| Sub | 0 | 1 | `c_refused`: compile error LC0301: unsupported operator 'Sub' |" in text
    assert run.main(["--check", str(page), "--expect", str(expect)]) == 0
    page.write_text(text.replace("| 2 | 7 |", "| 3 | 7 |"))
    assert run.main(["--check", str(page)]) == 1
    expect.write_text("a_pass\nb_wrong  # was right once\n")
    assert run.main(["--expect", str(expect)]) == 1
    expect.write_text("a_pass\nno_such_case\n")
    assert run.main(["--expect", str(expect)]) == 1
    assert run.main([]) == 1


def test_control_subset() -> None:
    """Loops count directly, in a branch, and in an operator's function body."""
    plain = case("plain").model
    assert plain is not None
    assert control_of(plain) == Control.NONE
    branch = case(
        "if",
        text="""p = Constant<value = bool {1}>()
        y = If <then_branch = t () => (float[2] a) { a = Neg(x) },
                else_branch = e () => (float[2] b) { b = Abs(x) }> (p)""",
    ).model
    assert branch is not None
    assert control_of(branch) == Control.WRITTEN
    assert cases.operators(branch) == {("", n) for n in ("If", "Constant", "Neg", "Abs")}
    ranged = case(
        "range",
        text="""z = Constant<value = float {0.0}>()
        o = Constant<value = float {1.0}>()
        t = Constant<value = float {2.0}>()
        y = Range(z, t, o)""",
    ).model
    assert ranged is not None
    assert control_of(ranged) == Control.EXPANDED
