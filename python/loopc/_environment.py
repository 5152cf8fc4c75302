# ===- _environment.py - What is there, and what is said -------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Functions of the module that are about the machine, loopc itself and its log."""

import os
import platform
import sys
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from loopc import _loopc
from loopc._device import CPU, CUDA, available_providers
from loopc._errors import Diagnostic, InvalidArgument, InvalidType, Severity

LoggerCallback: TypeAlias = Callable[[int, str, str, str, str], object]
"""Called with severity, category, log identifier, place and message."""

#: onnxruntime's numbers of severities.
_SEVERITIES = {Severity.ERROR: 3, Severity.WARNING: 2, Severity.REMARK: 1, Severity.NOTE: 1}
_logger: LoggerCallback | None = None


def get_available_providers() -> list[str]:
    """Where models can run: with a GPU first where a CUDA driver has one."""
    return available_providers()


def get_all_providers() -> list[str]:
    """Where models can run on some machine."""
    return [CUDA, CPU]


def get_device() -> str:
    """The kind of device that there is: "GPU" or "CPU"."""
    return "GPU" if CUDA in available_providers() else "CPU"


def get_version_string() -> str:
    """loopc's version."""
    return _loopc.version()


def get_build_info() -> str:
    """What this is, in words."""
    return f"loopc {_loopc.version()}"


def preload_dlls(
    cuda: bool = True,
    cudnn: bool = True,
    msvc: bool = True,
    directory: str | os.PathLike[str] | None = None,
) -> None:
    """Does nothing: a session for a GPU needs the driver only, and finds it itself."""


def enable_telemetry_events() -> None:
    """Does nothing: nobody is told anything."""


def disable_telemetry_events() -> None:
    """Does nothing: nobody is told anything."""


def set_default_logger_severity(severity: int) -> None:
    """Checks the level (0 to 4) and does nothing: loopc writes no log.

    `set_default_logger_callback` gets all severities.

    Raises:
        InvalidArgument: there is no such level.
    """
    if not isinstance(severity, int) or not 0 <= severity <= 4:
        raise InvalidArgument(f"severity: expected 0 to 4, got {severity!r}")


def set_default_logger_verbosity(level: int) -> None:
    """Does nothing: loopc writes no log.

    Raises:
        InvalidArgument: the level is no integer.
    """
    if not isinstance(level, int):
        raise InvalidArgument(f"level: expected an integer, got {level!r}")


def set_default_logger_callback(callback: LoggerCallback | None) -> None:
    """Calls a function with what the compiler says of each model, or None for no function.

    It is called while a session is made, with onnxruntime's number of the severity
    (1: remark or note, 2: warning, 3: error), the code ("LC0110") as category, the
    session's ``logid``, the place in the model, and the message.

    Raises:
        InvalidArgument: it cannot be called.
    """
    global _logger
    if callback is not None and not callable(callback):
        raise InvalidType(f"callback: expected a function, got {type(callback).__qualname__}")
    _logger = callback


def log(diagnostics: Sequence[Diagnostic], logid: str) -> None:
    """Hands what the compiler said to the function that wants it."""
    if _logger is None:
        return
    for one in diagnostics:
        _logger(_SEVERITIES[one.severity], one.code, logid, one.location, one.message)


def set_seed(seed: int) -> None:
    """Makes the random numbers of the runs that follow the same in each process.

    It is for operators without a seed of their own, in models that are compiled for
    this process; `load`'s libraries have their own. The numbers depend on the seed and on
    how many streams of random numbers runs have begun since.

    Raises:
        InvalidArgument: the seed is no integer of 64 bits.
    """
    if isinstance(seed, bool) or not hasattr(seed, "__index__"):
        raise InvalidType(f"seed: expected an integer, got {seed!r}")
    if not -(2**63) <= seed.__index__() < 2**64:
        raise InvalidArgument(f"seed: {seed} has more than 64 bits")
    _loopc.set_seed(seed.__index__() % 2**64)


def has_collective_ops() -> bool:
    """False: there are no operators over several devices."""
    return False


def get_ep_devices() -> list[Any]:
    """None: providers are no plug-ins."""
    return []


def set_global_thread_pool_sizes(
    intra_op_num_threads: int = 0, inter_op_num_threads: int = 0
) -> None:
    """Does nothing: threads are those of `SessionOptions.intra_op_num_threads`.

    Raises:
        InvalidArgument: a number is none.
    """
    for name, value in (
        ("intra_op_num_threads", intra_op_num_threads),
        ("inter_op_num_threads", inter_op_num_threads),
    ):
        if not isinstance(value, int):
            raise InvalidType(f"{name}: expected an integer, got {value!r}")


def create_and_register_allocator(mem_info: Any, arena_cfg: Any = None) -> None:
    """Does nothing: the memory of runs is that of the C library, or of the GPU's driver."""


def create_and_register_allocator_v2(
    provider_type: str, mem_info: Any, options: Any = None, arena_cfg: Any = None
) -> None:
    """Does nothing, as `create_and_register_allocator`."""


def print_debug_info() -> None:
    """Prints versions and devices, for reports of faults."""
    devices, reason = _loopc.device_count()
    print(f"loopc       {_loopc.version()}, {os.path.dirname(os.path.abspath(__file__))}")
    print(f"Python      {platform.python_version()}, {sys.executable}")
    print(f"system      {platform.platform()}")
    print(f"CPUs        {os.cpu_count()}")
    print(f"GPUs        {devices or f'none: {reason}'}")


#: What onnxruntime has and loopc has not, and why, or what there is instead.
_MISSING = {
    "AdapterFormat": "there are no adapters; merge them into the model's weights",
    "LoraAdapter": "there are no adapters; merge them into the model's weights",
    "ModelCompiler": "loopc.compile writes objects and shared libraries",
    "OrtCompileApiFlags": "loopc.compile writes objects and shared libraries",
    "OrtEpDevice": "providers are no plug-ins",
    "OrtExternalInitializerInfo": "SessionOptions.add_external_initializers takes OrtValues",
    "OrtHardwareDevice": "providers are no plug-ins",
    "OrtSparseFormat": "there are no sparse tensors; give a dense one",
    "OrtSyncStream": "RunOptions.stream takes a CUstream",
    "register_execution_provider_library": "providers are no plug-ins",
    "unregister_execution_provider_library": "providers are no plug-ins",
}


def missing(module: str, name: str) -> AttributeError:
    """The error for a name that the module does not have."""
    why = f": {_MISSING[name]}" if name in _MISSING else ""
    return AttributeError(f"module {module!r} has no attribute {name!r}{why}")
