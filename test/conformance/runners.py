# ===- runners.py - One case by one engine -===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Runs a case and says how it went. Everything here happens in a worker process."""

from __future__ import annotations

import dataclasses
import os
import re
import tempfile
from collections.abc import Callable
from typing import Any

import cases
from onnx import ModelProto
from onnx.backend.test.case.test_case import TestCase

PASS, COMPILE, RUN, MISMATCH, CRASH, TIMEOUT = (
    "pass",
    "compile error",
    "run error",
    "mismatch",
    "crash",
    "timeout",
)
CLASSES = (PASS, COMPILE, RUN, MISMATCH, CRASH, TIMEOUT)


@dataclasses.dataclass
class Result:
    """How a case ended: its class, an error's code, one line that says why."""

    name: str
    status: str
    code: str = ""
    reason: str = ""
    seconds: float = 0.0


class CompileFailedError(Exception):
    """The engine did not take the model."""

    def __init__(self, message: str, code: str = "") -> None:
        super().__init__(message)
        self.code = code


Runner = Callable[[dict[str, Any]], list[Any]]


def _loopc(model: ModelProto | str) -> Runner:
    import loopc

    try:
        session = loopc.InferenceSession(model)
    except loopc.CompileError as error:
        raise CompileFailedError(str(error), error.code) from error
    return lambda feeds: session.run(None, feeds)


def _loopc_cuda(model: ModelProto | str, loops: str = "auto") -> Runner:
    """loopc with every nest that can be one as a kernel, however small, on the first GPU."""
    import loopc

    try:
        session = loopc.InferenceSession(
            model, device="cuda:0", min_kernel_work=0, device_loops=loops
        )
    except loopc.CompileError as error:
        raise CompileFailedError(str(error), error.code) from error
    return lambda feeds: session.run(None, feeds)


def _loopc_cuda_as(loops: str) -> Callable[[ModelProto | str], Runner]:
    """The same with loops in one of the forms of --device-loops, wherever they can be."""
    return lambda model: _loopc_cuda(model, loops)


def _loopc_aot(model: ModelProto | str) -> Runner:
    import loopc
    import loopc.aot

    try:
        session = loopc.aot.session(model)
    except loopc.CompileError as error:
        raise CompileFailedError(str(error), error.code) from error
    return lambda feeds: session.run(None, feeds)


def _onnxruntime(model: ModelProto | str) -> Runner:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    source = model if isinstance(model, str) else model.SerializeToString()
    try:
        session = onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime's errors have no common base.
        raise CompileFailedError(str(error)) from error
    return lambda feeds: session.run(None, feeds)


def _reference(model: ModelProto | str) -> Runner:
    import loopc.reference as reference
    import onnx

    proto = onnx.load(model) if isinstance(model, str) else model
    try:
        reference.check(proto)
    except reference.ModelError as error:
        raise CompileFailedError(str(error)) from error
    return lambda feeds: reference.run(proto, feeds)


def _convert(model: ModelProto | str) -> Any:
    """The model as OpenVINO's importer sees it."""
    import onnx
    import openvino

    with tempfile.TemporaryDirectory() as folder:
        path = model if isinstance(model, str) else os.path.join(folder, "model.onnx")
        if not isinstance(model, str):
            onnx.save(model, path)
        try:
            return openvino.convert_model(path)
        except Exception as error:
            raise CompileFailedError(f"OpenVINO does not convert it: {error}") from error


def _typed(array: Any, port: Any) -> Any:
    """An output of OpenVINO with its own type: NumPy has a type of the same width instead."""
    import ml_dtypes

    names = {"bf16": "bfloat16", "f8e4m3": "float8_e4m3fn", "f8e5m2": "float8_e5m2",
             "f8e8m0": "float8_e8m0fnu"}  # fmt: skip
    name = names.get(port.get_element_type().get_type_name())
    return array if name is None else array.view(getattr(ml_dtypes, name))


def _openvino(model: ModelProto | str) -> Runner:
    import openvino

    converted = _convert(model)
    try:
        compiled = openvino.Core().compile_model(
            converted, "CPU", {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": 1}
        )
    except Exception as error:
        raise CompileFailedError(str(error)) from error

    def run(feeds: dict[str, Any]) -> list[Any]:
        names = {name for port in compiled.inputs for name in port.names}
        results = compiled({name: value for name, value in feeds.items() if name in names})
        return [_typed(results[port], port) for port in compiled.outputs]

    return run


def _loopc_ir(model: ModelProto | str) -> Runner:
    """loopc, on what OpenVINO writes of the model."""
    import loopc
    import openvino

    converted = _convert(model)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.xml")
        openvino.save_model(converted, path, compress_to_fp16=False)
        try:
            session = loopc.InferenceSession(path)
        except loopc.CompileError as error:
            raise CompileFailedError(str(error), error.code) from error
    names = {port.name for port in session.get_inputs()}
    return lambda feeds: session.run(None, {k: v for k, v in feeds.items() if k in names})


ENGINES: dict[str, Callable[[ModelProto | str], Runner]] = {
    "loopc": _loopc,
    "loopc-aot": _loopc_aot,
    "loopc-cuda": _loopc_cuda,
    "loopc-cuda-kernel": _loopc_cuda_as("kernel"),
    "loopc-cuda-cluster": _loopc_cuda_as("cluster"),
    "loopc-cuda-graph": _loopc_cuda_as("graph"),
    "loopc-cuda-host": _loopc_cuda_as("host"),
    "onnxruntime": _onnxruntime,
    "reference": _reference,
    "openvino": _openvino,
    "loopc-ir": _loopc_ir,
}


def run_case(case: TestCase, engine: str) -> Result:
    """Compiles and runs one case on all its data sets."""
    try:
        runner = ENGINES[engine](cases.model_of(case))
    except CompileFailedError as error:
        return Result(case.name, COMPILE, error.code, brief(str(error)))
    except Exception as error:
        return Result(case.name, COMPILE, "", brief(f"{type(error).__name__}: {error}"))
    for feeds, want in cases.data_sets(case):
        try:
            got = runner(feeds)
        except Exception as error:
            return Result(case.name, RUN, "", brief(f"{type(error).__name__}: {error}"))
        problem = cases.compare(list(got), want, case.rtol, case.atol)
        if problem:
            return Result(case.name, MISMATCH, "", problem)
    return Result(case.name, PASS)


def brief(message: str) -> str:
    """The first line of a message, without what changes from run to run."""
    line = next((part.strip() for part in message.splitlines() if part.strip()), "")
    line = re.sub(r"/(?:[\w.@+-]+/)+", "", line)  # folders
    line = re.sub(r"0x[0-9a-fA-F]+", "0x…", line)
    line = re.sub(r"^.*?error: ", "", line)  # the location, which the test's name says too
    return line if len(line) <= 160 else line[:159] + "…"
