# ===- __init__.py - The package loopc --------------------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""loopc compiles models with loops to native code.

The surface is onnxruntime's where the thing is the same::

    session = loopc.InferenceSession("model.onnx")
    outputs = session.run(None, {"x": numpy.ones(3, numpy.float32)})

`compile` writes object files, shared libraries and the compiler's stages;
`load` runs a shared library.
"""

from loopc import _loopc
from loopc._binding import IOBinding
from loopc._compile import compile
from loopc._errors import (
    CompileCancelledError,
    CompileError,
    CompileTimeoutError,
    DeviceError,
    Diagnostic,
    Error,
    InvalidArgument,
    RunCancelledError,
    RunError,
    RunTimeoutError,
    Severity,
    Status,
)
from loopc._options import (
    ExecutionMode,
    ExecutionOrder,
    GraphOptimizationLevel,
    RunOptions,
    SessionOptions,
)
from loopc._ort_value import OrtValue
from loopc._paths import get_include, get_library_dirs
from loopc._session import (
    InferenceSession,
    ModelMetadata,
    NodeArg,
    RunStatistics,
    disable_telemetry_events,
    enable_telemetry_events,
    get_all_providers,
    get_available_providers,
    get_build_info,
    get_device,
    get_version_string,
    load,
    preload_dlls,
    set_default_logger_severity,
    set_default_logger_verbosity,
)

__version__: str = _loopc.version()

DeviceTensor = _loopc.DeviceTensor
"""A tensor on a GPU: ``shape``, ``dtype``, ``data_ptr``, ``numpy()`` and DLPack."""

__all__ = [
    "CompileCancelledError",
    "CompileError",
    "CompileTimeoutError",
    "DeviceError",
    "DeviceTensor",
    "Diagnostic",
    "Error",
    "ExecutionMode",
    "ExecutionOrder",
    "GraphOptimizationLevel",
    "IOBinding",
    "InferenceSession",
    "InvalidArgument",
    "ModelMetadata",
    "NodeArg",
    "OrtValue",
    "RunCancelledError",
    "RunError",
    "RunOptions",
    "RunStatistics",
    "RunTimeoutError",
    "SessionOptions",
    "Severity",
    "Status",
    "__version__",
    "compile",
    "disable_telemetry_events",
    "enable_telemetry_events",
    "get_all_providers",
    "get_available_providers",
    "get_build_info",
    "get_device",
    "get_include",
    "get_library_dirs",
    "get_version_string",
    "load",
    "preload_dlls",
    "set_default_logger_severity",
    "set_default_logger_verbosity",
]
