# ===- _errors.py - What loopc raises ---------------------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Exceptions and diagnostics."""

from __future__ import annotations

import errno
import os
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any


class Status(IntEnum):
    """What a run ended with: ``loopc_status`` of loopc_rt.h."""

    OK = 0
    INPUT = 1
    OUTPUT = 2
    RUNTIME = 3
    MEMORY = 4
    CANCELLED = 5
    TIMEOUT = 6
    CPU = 7
    ABI = 8
    DEVICE = 9
    DIM_NAME = 10


class Severity(IntEnum):
    """How bad a diagnostic is."""

    ERROR = 1
    WARNING = 2
    REMARK = 3
    NOTE = 4


@dataclass(frozen=True)
class Diagnostic:
    """Something that the compiler said.

    Attributes:
        severity: error, warning, remark, or a note on the one before.
        code: the stable code ("LC0123"), or "".
        location: file, graph path and node, or "".
        message: the text without code and location.
        text: everything in one line, as the tools print it.
    """

    severity: Severity
    code: str
    location: str
    message: str
    text: str

    def __str__(self) -> str:
        return self.text


class Error(RuntimeError):
    """Base class of what loopc raises.

    It is a RuntimeError, which OpenVINO raises for everything, and onnxruntime for much.
    """


class InvalidArgument(Error, ValueError):  # noqa: N818 (onnxruntime's name)
    """A wrong argument: a name, a kind, an element type, a rank, a dimension."""


class DimNameError(InvalidArgument):
    """Dimensions that have one name in the model have different extents in a run."""


class InvalidType(InvalidArgument, TypeError):  # noqa: N818
    """An argument of a Python type that is not expected."""


class NoSuchEntry(InvalidArgument):
    """A configuration entry that was not added, for which onnxruntime raises RuntimeError."""


# Below and in loopc.capi.onnxruntime_pybind11_state: the categories of
# onnxruntime's errors, which programs that were written for it catch.


class Fail(Error):  # noqa: N818
    """onnxruntime's word for what has no category of its own."""


class RuntimeException(Error):  # noqa: N818
    """onnxruntime's word for a computation that failed."""


class EPFail(Error):  # noqa: N818
    """onnxruntime's word for a device that failed."""


class ModelLoadCanceled(Error):  # noqa: N818
    """onnxruntime's word for a model whose loading was ended from outside."""


class NoModel(Error):  # noqa: N818
    """A category of onnxruntime's that loopc does not raise."""


class ModelLoaded(Error):  # noqa: N818
    """A category of onnxruntime's that loopc does not raise."""


class ModelRequiresCompilation(Error):  # noqa: N818
    """A category of onnxruntime's that loopc does not raise."""


class NotFound(Error):  # noqa: N818
    """A category of onnxruntime's that loopc does not raise."""


class EngineError(Error):
    """A category of onnxruntime's that loopc does not raise."""


class DeviceReset(Error):  # noqa: N818
    """A category of onnxruntime's that loopc does not raise."""


class CompileError(Fail):
    """The model could not be compiled or loaded.

    Attributes:
        diagnostics: all that the compiler said, warnings included.
        code: the stable code of the first error ("LC0123"), or "".
        location: its location, or "".
    """

    def __init__(self, message: str, diagnostics: Sequence[Diagnostic] = ()) -> None:
        super().__init__(message)
        self.diagnostics = list(diagnostics)
        errors = [d for d in self.diagnostics if d.severity == Severity.ERROR]
        self.code = errors[0].code if errors else ""
        self.location = errors[0].location if errors else ""

    def __reduce__(self) -> tuple[type[CompileError], tuple[str, list[Diagnostic]]]:
        # As RunError's: pickle would give the message alone.
        return type(self), (str(self), self.diagnostics)


class NoSuchFile(CompileError, FileNotFoundError):  # noqa: N818
    """The file of the model does not exist.

    Attributes:
        filename: its path.
    """

    def __init__(
        self, message: str, diagnostics: Sequence[Diagnostic] = (), path: str | None = None
    ) -> None:
        super().__init__(message, diagnostics)
        self.errno = errno.ENOENT
        self.strerror = os.strerror(errno.ENOENT)
        self.filename = path

    def __str__(self) -> str:
        # OSError would make a text of number and path.
        return str(self.args[0])

    def __reduce__(self) -> tuple[type[NoSuchFile], tuple[Any, ...]]:
        return type(self), (str(self), self.diagnostics, self.filename)


class InvalidProtobuf(CompileError):  # noqa: N818
    """The file or the bytes are no model, or they are damaged."""


class InvalidGraph(CompileError):  # noqa: N818
    """The model breaks a rule of its format or of an operator."""


class NotImplemented(CompileError):  # noqa: N818
    """The model is valid, and loopc cannot compile it."""


class UnknownOperator(InvalidGraph, NotImplemented):
    """An operator that does not exist, or that loopc does not have."""


class CompileCancelledError(CompileError, ModelLoadCanceled):
    """A compilation was ended from outside: `SessionOptions.set_load_cancellation_flag`."""


class CompileTimeoutError(CompileError):
    """A compilation did not end within `SessionOptions.compile_timeout`."""


class RunError(RuntimeException, Fail):
    """A run failed; the session can be used again.

    Attributes:
        status: what the run ended with.
    """

    def __init__(self, message: str, status: Status) -> None:
        super().__init__(message)
        self.status = status

    def __reduce__(self) -> tuple[type[RunError], tuple[str, Status]]:
        # Pools of processes hand errors on by pickle, which would give the message alone.
        return type(self), (str(self), self.status)


class RunCancelledError(RunError):
    """A run was ended from outside: `RunOptions.terminate` or a signal."""


class RunTimeoutError(RunError):
    """A run did not end within its time."""


class DeviceError(RunError, EPFail):
    """A GPU or its driver failed, or there is none."""


def run_error(status: int, message: str) -> Error:
    """The exception for a run that failed with `status`."""
    known = Status(status)
    match known:
        # A buffer for an output is an argument, too.
        case Status.INPUT | Status.OUTPUT:
            return InvalidArgument(message)
        case Status.DIM_NAME:
            return DimNameError(message)
        case Status.CANCELLED:
            return RunCancelledError(message, known)
        case Status.TIMEOUT:
            return RunTimeoutError(message, known)
        case Status.DEVICE:
            return DeviceError(message, known)
        case _:
            return RunError(message, known)


#: The classes of errors by the beginning of their code; the first that fits counts.
_KINDS: tuple[tuple[str, type[CompileError]], ...] = (
    ("LC0108", CompileCancelledError),
    ("LC0109", CompileTimeoutError),
    ("LC0201", InvalidProtobuf),
    ("LC0202", InvalidProtobuf),
    ("LC0901", InvalidProtobuf),
    # What onnxruntime calls a failure: too large or too new.
    ("LC0203", CompileError),
    ("LC0204", CompileError),
    ("LC0206", CompileError),
    ("LC0212", NotImplemented),
    ("LC0301", UnknownOperator),
    ("LC02", InvalidGraph),
    ("LC03", InvalidGraph),
    ("LC04", InvalidGraph),
    ("LC05", NotImplemented),
    ("LC08", InvalidGraph),
    ("LC09", InvalidGraph),
)
_CANNOT_READ = "LC0102"

RawDiagnostic = tuple[int, str, str, str, str]


def diagnostics_of(raw: Sequence[RawDiagnostic]) -> list[Diagnostic]:
    """What the extension returns, as objects."""
    return [Diagnostic(Severity(severity), *rest) for severity, *rest in raw]


def compile_error(diagnostics: Sequence[Diagnostic], path: bytes | None = None) -> CompileError:
    """The exception for a compilation that failed.

    Args:
        diagnostics: what the compiler said.
        path: the model's file, where it is one.
    """
    shown = [d.text for d in diagnostics if d.severity in (Severity.ERROR, Severity.NOTE)]
    code = next((d.code for d in diagnostics if d.severity == Severity.ERROR), "")
    message = "\n".join(shown) or "the compiler failed without a message"
    if code == _CANNOT_READ and path is not None and not os.path.exists(path):
        return NoSuchFile(message, diagnostics, os.fsdecode(path))
    kinds = (kind for beginning, kind in _KINDS if code.startswith(beginning))
    return next(kinds, CompileError)(message, diagnostics)
