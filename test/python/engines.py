# ===- engines.py - One model, one run, by one engine -===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Runs a model of loop_models/ and says what came out, whichever engine it was."""

from __future__ import annotations

import dataclasses
import multiprocessing
import multiprocessing.connection
from typing import Any

import ml_dtypes
import numpy as np
from models import LoopModel, Run

#: More trips than any model makes on purpose; what goes beyond is endless.
MAX_TRIPS = 200_000
#: The same for models that say that they do not end.
MAX_TRIPS_ENDLESS = 1_000


@dataclasses.dataclass
class Outcome:
    """Values, or an error's text; `crashed` when the engine's process died."""

    values: list[Any] | None = None
    error: str | None = None
    crashed: bool = False
    session: Any = None


def reference_outcome(model: LoopModel, run: Run) -> Outcome:
    from loopc import reference

    limit = MAX_TRIPS if model.timeout is None else MAX_TRIPS_ENDLESS
    try:
        return Outcome(values=reference.run(model.model, run.feeds, max_trips=limit))
    except reference.ReferenceError_ as error:
        return Outcome(error=str(error))


def loopc_outcome(model: LoopModel, run: Run, session: Any = None) -> Outcome:
    import loopc

    try:
        if session is None:
            options = loopc.SessionOptions()
            if model.timeout is not None:
                options.timeout = model.timeout
            session = loopc.InferenceSession(model.model, sess_options=options)
    except loopc.Error as error:
        return Outcome(error=str(error))
    if model.compile_error is not None:
        # A compile error must not wait for the run.
        return Outcome(values=[])
    try:
        return Outcome(values=session.run(None, run.feeds), session=session)
    except loopc.Error as error:
        return Outcome(error=str(error), session=session)


def ort_outcome(model: LoopModel, run: Run, *, isolated: bool = False) -> Outcome:
    """By onnxruntime; `isolated` in a process of its own, which may die."""
    if not isolated:
        return _run_ort(model.model.SerializeToString(), run.feeds)
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_ort_process, args=(sender, model.model.SerializeToString(), run.feeds))
    process.start()
    sender.close()
    try:
        outcome = receiver.recv() if receiver.poll(60) else Outcome(error="time limit", crashed=True)
    except EOFError:
        process.join()
        outcome = Outcome(error=f"the process died ({process.exitcode})", crashed=True)
    process.kill()
    process.join()
    return outcome


def _ort_process(sender: multiprocessing.connection.Connection, model: bytes, feeds: dict[str, Any]) -> None:
    sender.send(_run_ort(model, feeds))


def _run_ort(model: bytes, feeds: dict[str, Any]) -> Outcome:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    try:
        session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        return Outcome(values=session.run(None, feeds))
    except Exception as error:  # onnxruntime's errors have no common base.
        return Outcome(error=f"{type(error).__name__}: {error}")


#: Relative tolerance by type where the model's own is finer than the type.
_COARSE = {np.dtype(np.float16): 2e-3, np.dtype(ml_dtypes.bfloat16): 2**-6}


def assert_same(got: Any, want: Any, names: list[str], rtol: float, atol: float) -> None:
    """Fails unless both lists hold the same kinds, types, shapes and values."""
    assert len(got) == len(want), f"{len(got)} outputs, expected {len(want)}"
    for name, one, other in zip(names, got, want, strict=True):
        _assert_value(one, other, name, rtol, atol)


def _assert_value(got: Any, want: Any, name: str, rtol: float, atol: float) -> None:
    if want is None:
        assert got is None, f"'{name}': expected an empty optional"
        return
    if isinstance(want, list):
        assert isinstance(got, list), f"'{name}': expected a sequence"
        assert len(got) == len(want), f"'{name}': {len(got)} elements, expected {len(want)}"
        for at, (one, other) in enumerate(zip(got, want, strict=True)):
            _assert_value(one, other, f"{name}[{at}]", rtol, atol)
        return
    assert not isinstance(got, list) and got is not None, f"'{name}': expected a tensor"
    got, want = np.asarray(got), np.asarray(want)
    assert got.dtype == want.dtype, f"'{name}': {got.dtype}, expected {want.dtype}"
    assert got.shape == want.shape, f"'{name}': shape {got.shape}, expected {want.shape}"
    if got.dtype.kind in "iub":
        np.testing.assert_array_equal(got, want, err_msg=f"'{name}'")
        return
    rtol = max(rtol, _COARSE.get(got.dtype, 0))
    if got.dtype.kind == "V":  # NumPy compares no ml_dtypes.
        got, want = got.astype(np.float32), want.astype(np.float32)
    np.testing.assert_allclose(got, want, rtol=rtol, atol=atol, err_msg=f"'{name}'")
