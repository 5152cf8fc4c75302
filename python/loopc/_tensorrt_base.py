# ===- _tensorrt_base.py - Logs, kinds and plans -----------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""What both sides of loopc.tensorrt need: loggers, enumerations, and the bytes of engines."""

from __future__ import annotations

import json
import sys
from enum import IntEnum
from typing import Any, NoReturn, Self

from loopc._arguments import data, member
from loopc._errors import InvalidArgument
from loopc._tensorrt_elsewhere import elsewhere


class ILogger:
    """Who is told what is wrong; `log` is the caller's."""

    class Severity(IntEnum):
        """How much it matters: the less, the greater."""

        INTERNAL_ERROR = 0
        ERROR = 1
        WARNING = 2
        INFO = 3
        VERBOSE = 4

    INTERNAL_ERROR = Severity.INTERNAL_ERROR
    ERROR = Severity.ERROR
    WARNING = Severity.WARNING
    INFO = Severity.INFO
    VERBOSE = Severity.VERBOSE

    def log(self, severity: ILogger.Severity, msg: str) -> None:
        """Takes a message."""
        raise NotImplementedError("a logger has a method log(severity, msg)")


class Logger(ILogger):
    """Writes messages to standard error."""

    def __init__(self, min_severity: ILogger.Severity = ILogger.WARNING) -> None:
        self.min_severity = member("min_severity", min_severity, ILogger.Severity)

    def log(self, severity: ILogger.Severity, msg: str) -> None:
        """Writes a message that is severe enough."""
        if severity <= self.min_severity:
            print(f"[TRT] [{severity.name[0]}] {msg}", file=sys.stderr)


class Documented:
    """An object whose attributes are those that docs/Network.md lists, for `with`, too."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        return None

    def __setattr__(self, name: str, value: Any) -> None:
        """Refuses what TensorRT has and would be forgotten here in silence."""
        own = type(self).__module__.startswith("loopc.")
        if own and not hasattr(type(self), name) and (where := elsewhere(name)):
            text = f"{type(self).__name__!r} object has no attribute {name!r}: {where}"
            raise AttributeError(text, name=name, obj=self)
        super().__setattr__(name, value)

    def __getattr__(self, name: str) -> NoReturn:
        """Says where it stands what there is."""
        text = f"{type(self).__name__!r} object has no attribute {name!r}"
        if not name.startswith("_"):
            text += f": {elsewhere(name) or 'docs/Network.md lists what loopc.tensorrt has'}"
        raise AttributeError(text, name=name, obj=self)


class TensorIOMode(IntEnum):
    """What a tensor of an engine is."""

    NONE = 0
    INPUT = 1
    OUTPUT = 2


class TensorLocation(IntEnum):
    """Where a tensor lies: all do in the memory of the host."""

    DEVICE = 0
    HOST = 1


class TensorFormat(IntEnum):
    """How the elements of a tensor lie: one row behind the other."""

    LINEAR = 0


class ProfilingVerbosity(IntEnum):
    """What an engine says of its layers."""

    LAYER_NAMES_ONLY = 0
    NONE = 1
    DETAILED = 2


class DeviceType(IntEnum):
    """What an engine runs on."""

    GPU = 0
    DLA = 1


class TacticSource(IntEnum):
    """Where TensorRT's kernels come from; here they are the compiler's own."""

    CUBLAS = 0
    CUBLAS_LT = 1
    CUDNN = 2
    EDGE_MASK_CONVOLUTIONS = 3
    JIT_CONVOLUTIONS = 4


class PreviewFeature(IntEnum):
    """What TensorRT tries out; none makes a difference."""

    PROFILE_SHARING_0806 = 0
    ALIASED_PLUGIN_IO_10_03 = 1
    RUNTIME_ACTIVATION_RESIZE_10_10 = 2


class EngineCapability(IntEnum):
    """What an engine is for."""

    STANDARD = 0
    SAFETY = 1
    DLA_STANDALONE = 2


class HardwareCompatibilityLevel(IntEnum):
    """The machines that an engine is for."""

    NONE = 0
    AMPERE_PLUS = 1
    SAME_COMPUTE_CAPABILITY = 2


class ExecutionContextAllocationStrategy(IntEnum):
    """Who gives memory to a context: a run takes what it needs."""

    STATIC = 0
    ON_PROFILE_CHANGE = 1
    USER_MANAGED = 2


class IHostMemory(bytes):
    """An engine as bytes."""

    @property
    def nbytes(self) -> int:
        """Their number."""
        return len(self)


#: What an engine's bytes end with: a shared library, what is told of it, the number of bytes
#: of that, and this.
_MAGIC = b"loopc-trt"


def plan_of(library: bytes, told: dict[str, Any]) -> IHostMemory:
    """An engine's bytes."""
    text = json.dumps(told).encode()
    return IHostMemory(library + text + len(text).to_bytes(8, "little") + _MAGIC)


def parts_of(plan: bytes) -> tuple[bytes, dict[str, Any]]:
    """The shared library of an engine, and what is told of it.

    Raises:
        InvalidArgument: the bytes are no engine.
    """
    given = data("plan", plan)
    tail = 8 + len(_MAGIC)
    size = int.from_bytes(given[-tail : -len(_MAGIC)], "little")
    if not given.endswith(_MAGIC) or size > len(given) - tail:
        raise InvalidArgument("plan: these are not the bytes of an engine")
    at = len(given) - tail - size
    return given[:at], json.loads(given[at : at + size])
