# ===- test_loops.py - Every loop model, by every engine -===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""loopc, the reference and onnxruntime on every run of every model of loop_models/."""

from __future__ import annotations

import re

import numpy as np
import pytest
from engines import Outcome, assert_same, loopc_outcome, ort_outcome, reference_outcome
from models import LoopModel, Run, all_models

MODELS = all_models()
RUNS = [pytest.param(m, r, id=f"{m.name}-{r.name}") for m in MODELS for r in m.runs]


def expected(model: LoopModel, run: Run) -> Outcome:
    """What must come out: by hand where written down, else by the reference."""
    if model.compile_error is not None or run.error is not None:
        return Outcome(error=model.compile_error or run.error)
    if run.expect is not None:
        return Outcome(values=list(run.expect))
    return reference_outcome(model, run)


def check(model: LoopModel, run: Run, outcome: Outcome, *, message: bool = True) -> None:
    """Fails unless the outcome is the expected one."""
    want = expected(model, run)
    if want.error is None:
        assert outcome.error is None, f"unexpected error: {outcome.error}"
        names = [o.name for o in model.model.graph.output]
        assert_same(outcome.values, want.values, names, model.rtol, model.atol)
    else:
        assert outcome.error is not None, f"expected an error, found {outcome.values}"
        assert not outcome.crashed, outcome.error
        if message:
            assert re.search(want.error, outcome.error), (
                f"{outcome.error!r} does not match {want.error!r}"
            )


def test_models_cover() -> None:
    """Seventy models at least, and names that are unique."""
    assert len(MODELS) >= 70
    assert len({m.name for m in MODELS}) == len(MODELS)


@pytest.mark.parametrize(("model", "run"), RUNS)
def test_reference(model: LoopModel, run: Run) -> None:
    """The reference gives what is written down."""
    check(model, run, reference_outcome(model, run), message=model.compile_error is None)


@pytest.mark.parametrize(("model", "run"), RUNS)
def test_onnxruntime(model: LoopModel, run: Run) -> None:
    """onnxruntime agrees, or differs in the very way that the model says."""
    mark = model.ort_differs(run.name)
    if mark is None:
        check(model, run, ort_outcome(model, run), message=False)
        return
    if mark.kind == "endless":
        return
    outcome = ort_outcome(model, run)
    if mark.kind == "crashes":
        assert outcome.crashed, f"no longer so: {mark.reason}"
    elif mark.kind == "refuses":
        assert outcome.error is not None and not outcome.crashed, f"no longer so: {mark.reason}"
    elif mark.kind == "accepts":
        assert outcome.error is None, f"no longer so: {mark.reason}"
    else:
        assert outcome.error is None, outcome.error
        with pytest.raises(AssertionError):
            check(model, run, outcome)


@pytest.mark.parametrize(("model", "run"), RUNS)
def test_loopc(model: LoopModel, run: Run) -> None:
    """loopc gives what is written down, with errors that say why."""
    check(model, run, loopc_outcome(model, run))


@pytest.mark.parametrize("model", MODELS, ids=lambda m: m.name)
def test_loopc_runs_again(model: LoopModel) -> None:
    """One session runs all runs of a model, twice, forwards and backwards."""
    if model.compile_error is not None:
        return
    for run in (*model.runs, *reversed(model.runs)):
        check(model, run, loopc_outcome(model, run))


def test_loopc_ort_compat() -> None:
    """loop_cond_ignored: with ort_compat the body's condition counts, as in onnxruntime."""
    import loopc

    model = next(m for m in MODELS if m.name == "condition_ignored")
    session = loopc.InferenceSession(
        model.model, sess_options=loopc.SessionOptions(ort_compat=True)
    )
    want = [np.array([0]), np.array([True])]
    assert_same(session.run(None, {"M": np.array(3)}), want, ["is", "cs"], 0, 0)


def test_loopc_dims() -> None:
    """loop_zero: a dimension that is pinned is no longer unknown."""
    import loopc

    model = next(m for m in MODELS if m.name == "zero_trips_unknown_dimensions")
    session = loopc.InferenceSession(model.model, sess_options=loopc.SessionOptions(dims={"R": 3}))
    feeds = {"M": np.array(0), "x": np.ones((3, 4), np.float32)}
    assert_same(session.run(None, feeds), [np.zeros((0, 3, 4), np.float32)], ["ys"], 0, 0)
    with pytest.raises(loopc.Error, match="x"):
        session.run(None, {**feeds, "x": np.ones((2, 4), np.float32)})


def test_comparison_sees_differences() -> None:
    """The comparison itself: types, shapes and values count."""
    x = np.ones(2, np.float32)
    for other in (x.astype(np.float64), x[:1], x + np.float32(1e-3), None, [x]):
        with pytest.raises(AssertionError):
            assert_same([other], [x], ["y"], 1e-5, 1e-7)
    assert_same([x], [x], ["y"], 1e-5, 1e-7)
