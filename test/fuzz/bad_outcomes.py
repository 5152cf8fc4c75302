# ===- bad_outcomes.py - How bad input ends -===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Sorts what became of an input: fine, one clear error, or a fault of loopc."""

from __future__ import annotations

import dataclasses
import enum
import re
import resource
import signal
from collections.abc import Sequence

#: More than any of these inputs may take, in bytes.
MEMORY = 6 << 30


def limit_memory() -> None:
    """Has this process fail where it takes too much, and leave no core."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


class Ending(enum.Enum):
    """What became of an input."""

    FINE = "fine"
    # One clear error, which is what bad input asks for.
    REFUSED = "refused"
    BAD_ERROR = "bad error"
    HANG = "hang"
    CRASH = "crash"

    @property
    def bad(self) -> bool:
        """Whether it is loopc's fault."""
        return self in (Ending.BAD_ERROR, Ending.HANG, Ending.CRASH)


@dataclasses.dataclass(frozen=True)
class Verdict:
    """An ending, and what was said."""

    ending: Ending
    said: str = ""


#: Errors that stand for themselves: all operators that are not there are told at once.
TOGETHER = {"LC0205", "LC0300", "LC0301", "LC0302", "LC0501", "LC0502"}
#: Text that only who knows MLIR, LLVM or C++ understands, or that says nothing.
INTERNAL = re.compile(
    r"failed to legalize|unrealized_conversion|result of pass|[Aa]ssertion|std::|basic_string"
    r"|bad_alloc|PLEASE submit|'(?:memref|linalg|llvm|bufferization|tensor|arith|vector|gpu|affine"
    r"|cf|func|builtin)\.|does not dominate|operand #|LC0100|0x[0-9a-f]{8}"
    r"|Traceback|NoneType|unknown exception|pybind11|nanobind"
)


def unclear(location: str, code: str, message: str) -> str:
    """What is wrong with an error; empty for a good one."""
    if not message.strip():
        return "it says nothing"
    if not code:
        return "it has no code"
    if not location:
        return "it has no place"
    if found := INTERNAL.search(f"{code}: {message}"):
        return f"it is the compiler's own: '{found[0]}'"
    if len(message) > 4000:
        return f"it has {len(message)} characters"
    return ""


def of_errors(errors: Sequence[tuple[str, str, str]]) -> Verdict:
    """How a compilation ended that gave these errors: location, code and message of each."""
    text = "\n".join(f"{location}: {code}: {message}" for location, code, message in errors)
    if not errors:
        return Verdict(Ending.BAD_ERROR, "refused without an error")
    if len(errors) > 1 and not {code for _, code, _ in errors} <= TOGETHER:
        return Verdict(Ending.BAD_ERROR, f"{len(errors)} errors\n{text}")
    for error in errors:
        if problem := unclear(*error):
            return Verdict(Ending.BAD_ERROR, f"{problem}\n{text}")
    return Verdict(Ending.REFUSED, text)


#: A line of a tool: place, severity, code, message.
_LINE = re.compile(r"^(?P<place>.*?):? ?error: (?:(?P<code>LC\d{4}): )?(?P<text>.*)$", re.M)


def of_process(status: int, printed: str, *, located: bool = True, coded: bool = True) -> Verdict:
    """How a tool ended.

    Args:
        status: its exit status; negative for a signal.
        printed: what it wrote to standard error.
        located: whether errors must name a place.
        coded: whether errors must have a code.
    """
    if status < 0:
        name = signal.Signals(-status).name
        return Verdict(Ending.CRASH, f"{name}\n{printed[-3000:]}")
    if re.search(r"PLEASE submit|This is a fault of loopc|Sanitizer|terminate called", printed):
        return Verdict(Ending.CRASH, printed[-3000:])
    errors = [
        (
            found["place"] or ("" if located else "none"),
            found["code"] or ("" if coded else "none"),
            found["text"],
        )
        for found in _LINE.finditer(printed)
    ]
    if status == 0:
        if errors:
            return Verdict(Ending.BAD_ERROR, f"success, and\n{printed[-3000:]}")
        return Verdict(Ending.FINE)
    verdict = of_errors(errors)
    return verdict if errors else Verdict(Ending.BAD_ERROR, f"{verdict.said}\n{printed[-3000:]}")
