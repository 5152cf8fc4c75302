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
import functools
import multiprocessing
import multiprocessing.connection
import os
from collections.abc import Callable
from typing import Any

import checked_accesses
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


def reference_outcome(model: LoopModel, run: Run) -> Outcome:
    from loopc import reference

    limit = MAX_TRIPS if model.timeout is None else MAX_TRIPS_ENDLESS
    try:
        return Outcome(values=reference.run(model.model, run.feeds, max_trips=limit))
    except reference.ReferenceError_ as error:
        return Outcome(error=str(error))


def loopc_outcome(model: LoopModel, run: Run) -> Outcome:
    """By loopc in another process, which keeps the model's session for its next runs."""
    request = (model.model.SerializeToString(), run.feeds, model.timeout, model.compile_error)
    return worker(_run_loopc).ask(request)


def ort_outcome(model: LoopModel, run: Run) -> Outcome:
    """By onnxruntime in another process, which some models kill."""
    return worker(run_ort).ask((model.model.SerializeToString(), run.feeds))


def openvino_outcome(path: str, feeds: dict[str, Any], time_limit: float = 60.0) -> Outcome:
    """OpenVINO's runtime on an ONNX model or IR, in another process.

    It ends some models with the process, and some loops not at all.
    """
    return worker(run_openvino, time_limit).ask((path, feeds))


class Worker:
    """A process that answers requests with one function, started again when it dies.

    `environment` is set for it besides what this process has.
    """

    def __init__(
        self,
        answer: Callable[..., Outcome],
        time_limit: float,
        environment: dict[str, str] | None = None,
    ) -> None:
        self._answer = answer
        self._time_limit = time_limit
        self._environment = environment or {}
        self._start()

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, self._answer), daemon=True)
        before = {name: os.environ.get(name) for name in self._environment}
        os.environ.update(self._environment)
        try:
            self._process.start()
        finally:
            for name, text in before.items():
                os.environ.pop(name) if text is None else os.environ.update({name: text})
        theirs.close()

    def close(self) -> None:
        """Ends the process."""
        self._process.kill()
        self._process.join()

    def ask(self, request: tuple[Any, ...]) -> Outcome:
        """The function's answer, or how its process ended."""
        try:
            self._pipe.send(request)
            if self._pipe.poll(self._time_limit):
                outcome: Outcome = self._pipe.recv()
                return outcome
            problem = f"no answer within {self._time_limit:.0f} s"
            self._process.kill()
            self._process.join()
        except (EOFError, ConnectionError):
            self._process.join()
            problem = f"the process died with {self._process.exitcode}"
        self._start()
        return Outcome(error=problem, crashed=True)


@functools.cache
def worker(answer: Callable[..., Outcome], time_limit: float = 120.0) -> Worker:
    """The process that answers with that function, a fresh one after it has died."""
    return Worker(answer, time_limit)


def _serve(pipe: multiprocessing.connection.Connection, answer: Callable[..., Outcome]) -> None:
    checked_accesses.install()
    while True:
        try:
            request = pipe.recv()
        except EOFError:
            return
        pipe.send(answer(*request))


@functools.lru_cache(maxsize=512)
def _loopc_session(model: bytes, timeout: float | None) -> Any:
    import loopc

    options = loopc.SessionOptions()
    if timeout is not None:
        options.timeout = timeout
    return loopc.InferenceSession(model, sess_options=options)


def _run_loopc(
    model: bytes, feeds: dict[str, Any], timeout: float | None, refused: str | None
) -> Outcome:
    import loopc

    try:
        session = _loopc_session(model, timeout)
    except loopc.Error as error:
        return Outcome(error=str(error))
    if refused is not None:
        # A compile error must not wait for the run.
        return Outcome(values=[])
    try:
        return Outcome(values=session.run(None, feeds))
    except loopc.Error as error:
        return Outcome(error=str(error))


def run_ort(model: bytes, feeds: dict[str, Any]) -> Outcome:
    """By onnxruntime, here."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    try:
        session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        return Outcome(values=session.run(None, feeds))
    except Exception as error:  # onnxruntime's errors have no common base.
        return Outcome(error=f"{type(error).__name__}: {error}")


def run_openvino(path: str, feeds: dict[str, Any]) -> Outcome:
    """By OpenVINO's runtime, here."""
    import openvino

    config = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": 1}
    try:
        compiled = openvino.Core().compile_model(path, "CPU", config)
        names = {name for port in compiled.inputs for name in port.names}
        results = compiled({name: value for name, value in feeds.items() if name in names})
        return Outcome(values=[np.array(results[port]) for port in compiled.outputs])
    except Exception as error:  # OpenVINO's errors have no common base.
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
    if got.dtype.kind in "OUS" and want.dtype.kind in "OUS":  # NumPy has several types for text.
        assert got.shape == want.shape, f"'{name}': shape {got.shape}, expected {want.shape}"
        assert got.tolist() == want.tolist(), f"'{name}'"
        return
    assert got.dtype == want.dtype, f"'{name}': {got.dtype}, expected {want.dtype}"
    assert got.shape == want.shape, f"'{name}': shape {got.shape}, expected {want.shape}"
    if got.dtype.kind in "iub":
        np.testing.assert_array_equal(got, want, err_msg=f"'{name}'")
        return
    rtol = max(rtol, _COARSE.get(got.dtype, 0))
    if got.dtype.kind == "V":  # NumPy compares no ml_dtypes.
        got, want = got.astype(np.float32), want.astype(np.float32)
    np.testing.assert_allclose(got, want, rtol=rtol, atol=atol, err_msg=f"'{name}'")
