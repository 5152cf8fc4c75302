# ===- _errors.py - What loopc raises ---------------------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Exceptions and diagnostics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum


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


class Error(Exception):
    """Base class of what loopc raises."""


class InvalidArgument(Error, ValueError):  # noqa: N818 (onnxruntime's name)
    """A wrong argument: a name, a kind, an element type, a rank, a dimension."""


class CompileError(Error):
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


class CompileCancelledError(CompileError):
    """A compilation was ended from outside: `SessionOptions.set_load_cancellation_flag`."""


class CompileTimeoutError(CompileError):
    """A compilation did not end within `SessionOptions.compile_timeout`."""


class RunError(Error):
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


class DeviceError(RunError):
    """A GPU or its driver failed, or there is none."""


def run_error(status: int, message: str) -> Error:
    """The exception for a run that failed with `status`."""
    known = Status(status)
    match known:
        case Status.INPUT:
            return InvalidArgument(message)
        case Status.CANCELLED:
            return RunCancelledError(message, known)
        case Status.TIMEOUT:
            return RunTimeoutError(message, known)
        case Status.DEVICE:
            return DeviceError(message, known)
        case _:
            return RunError(message, known)


#: Codes of errors that have a class of their own.
_KINDS = {"LC0108": CompileCancelledError, "LC0109": CompileTimeoutError}

RawDiagnostic = tuple[int, str, str, str, str]


def diagnostics_of(raw: Sequence[RawDiagnostic]) -> list[Diagnostic]:
    """What the extension returns, as objects."""
    return [Diagnostic(Severity(severity), *rest) for severity, *rest in raw]


def compile_error(raw: Sequence[RawDiagnostic]) -> CompileError:
    """The exception for a compilation that failed."""
    diagnostics = diagnostics_of(raw)
    shown = [d.text for d in diagnostics if d.severity in (Severity.ERROR, Severity.NOTE)]
    code = next((d.code for d in diagnostics if d.severity == Severity.ERROR), "")
    kind = _KINDS.get(code, CompileError)
    return kind("\n".join(shown) or "the compiler failed without a message", diagnostics)
