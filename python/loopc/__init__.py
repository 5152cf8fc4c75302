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

import importlib
from typing import Any

from loopc import _loopc
from loopc._binding import IOBinding
from loopc._compile import compile
from loopc._compose import compose
from loopc._environment import (
    create_and_register_allocator,
    create_and_register_allocator_v2,
    disable_telemetry_events,
    enable_telemetry_events,
    get_all_providers,
    get_available_providers,
    get_build_info,
    get_device,
    get_ep_devices,
    get_version_string,
    has_collective_ops,
    missing,
    preload_dlls,
    print_debug_info,
    set_default_logger_callback,
    set_default_logger_severity,
    set_default_logger_verbosity,
    set_global_thread_pool_sizes,
    set_seed,
)
from loopc._errors import (
    CompileCancelledError,
    CompileError,
    CompileTimeoutError,
    DeviceError,
    Diagnostic,
    DimNameError,
    Error,
    InvalidArgument,
    RunCancelledError,
    RunError,
    RunTimeoutError,
    Severity,
    Status,
)
from loopc._jax import JaxFunction, from_jax
from loopc._metadata import (
    ModelMetadata,
    NodeArg,
    OrtEpAssignedNode,
    OrtEpAssignedSubgraph,
    RunStatistics,
)
from loopc._options import (
    ExecutionMode,
    ExecutionOrder,
    GraphOptimizationLevel,
    RunOptions,
    SessionOptions,
)
from loopc._ort_device import (
    OrtAllocatorType,
    OrtArenaCfg,
    OrtDevice,
    OrtDeviceMemoryType,
    OrtDeviceVendorId,
    OrtMemoryInfo,
    OrtMemoryInfoDeviceType,
    OrtMemType,
)
from loopc._ort_value import OrtValue, SparseTensor, copy_tensors
from loopc._paths import get_cmake_dir, get_ep_library, get_include, get_library_dirs
from loopc._session import InferenceSession, load
from loopc._torch import TorchFunction, export

__version__: str = _loopc.version()

# onnxruntime's names of these, and of what it is built with.
version: str = __version__
package_name: str = "loopc"
cuda_version: str = ""

#: onnxruntime's class of what `InferenceSession.io_binding` returns.
SessionIOBinding = IOBinding

DeviceTensor = _loopc.DeviceTensor
"""A tensor on a GPU: ``shape``, ``dtype``, ``data_ptr``, ``numpy()`` and DLPack."""

__all__ = [
    "CompileCancelledError",
    "CompileError",
    "CompileTimeoutError",
    "DeviceError",
    "DeviceTensor",
    "Diagnostic",
    "DimNameError",
    "Error",
    "ExecutionMode",
    "ExecutionOrder",
    "GraphOptimizationLevel",
    "IOBinding",
    "InferenceSession",
    "InvalidArgument",
    "JaxFunction",
    "ModelMetadata",
    "NodeArg",
    "OrtAllocatorType",
    "OrtArenaCfg",
    "OrtDevice",
    "OrtDeviceMemoryType",
    "OrtDeviceVendorId",
    "OrtEpAssignedNode",
    "OrtEpAssignedSubgraph",
    "OrtMemType",
    "OrtMemoryInfo",
    "OrtMemoryInfoDeviceType",
    "OrtValue",
    "RunCancelledError",
    "RunError",
    "RunOptions",
    "RunStatistics",
    "RunTimeoutError",
    "SessionIOBinding",
    "SessionOptions",
    "Severity",
    "SparseTensor",
    "Status",
    "TorchFunction",
    "__version__",
    "compile",
    "compose",
    "copy_tensors",
    "create_and_register_allocator",
    "create_and_register_allocator_v2",
    "cuda_version",
    "disable_telemetry_events",
    "enable_telemetry_events",
    "export",
    "from_jax",
    "get_all_providers",
    "get_available_providers",
    "get_build_info",
    "get_cmake_dir",
    "get_device",
    "get_ep_devices",
    "get_ep_library",
    "get_include",
    "get_library_dirs",
    "get_version_string",
    "has_collective_ops",
    "load",
    "package_name",
    "preload_dlls",
    "print_debug_info",
    "set_default_logger_callback",
    "set_default_logger_severity",
    "set_default_logger_verbosity",
    "set_global_thread_pool_sizes",
    "set_seed",
    "version",
]


def __getattr__(name: str) -> Any:
    if name == "capi":
        # A part of onnxruntime once that is imported, with its modules.
        for module in ("_pybind_state", "onnxruntime_inference_collection"):
            importlib.import_module(f"loopc.capi.{module}")
        return importlib.import_module("loopc.capi")
    raise missing(__name__, name)
