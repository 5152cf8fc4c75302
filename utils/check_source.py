#!/usr/bin/env python3
# ===- check_source.py - What every source file keeps to -------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Checks what formatters do not: licence header, length, tabs, line ends, calls to avoid.

Prints one line for each fault, ``file:line: message``, and exits with 1 if
there was any.
"""

import re
import sys
from pathlib import Path

from repo import files, read

LICENCE = "SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception"
MAX_LINES = 800

# Files that are read by people, with a licence header each.
SOURCES = {".h", ".c", ".cpp", ".td", ".py", ".def"}
TEXTS = SOURCES | {".mlir", ".test", ".cmake", ".txt", ".md", ".sh", ".toml", ".pyi"}

# Written by a script from what has the header.
GENERATED = ("docs/Dialects/", "docs/Passes.md", "docs/Errors.md")

# What may run where it would not have run is decided in one place: MLIR holds integer remainders,
# which trap, for operations that cannot fail.
SPECULATION = "lib/Dialect/Loop/Transforms/Speculation.cpp"
HOISTING = "lib/Dialect/Loop/Transforms/HoistInvariants.cpp"
UNSAFE = re.compile(r"\b(isSpeculatable|moveLoopInvariantCode|createLoopInvariantCodeMotionPass)\(")


def faults_of(path: Path, text: str) -> list[tuple[int, str]]:
    """Line numbers and messages of what is wrong with one file."""
    lines = text.splitlines()
    faults: list[tuple[int, str]] = []
    if path.suffix in SOURCES:
        if not any(LICENCE in line for line in lines[:16]):
            faults.append((1, f"no '{LICENCE}' in the first lines"))
        if len(lines) > MAX_LINES:
            faults.append((len(lines), f"{len(lines)} lines; {MAX_LINES} are allowed"))
    for number, line in enumerate(lines, 1):
        if "\t" in line:
            faults.append((number, "a tab"))
        unsafe = UNSAFE.search(line) if path.suffix in {".h", ".cpp"} else None
        if unsafe and str(path) not in (SPECULATION, HOISTING):
            faults.append((number, f"{unsafe[1]}: ask isSafeToSpeculate (Speculation.h)"))
        if line != line.rstrip():
            faults.append((number, "white space at the end of the line"))
    if text and not text.endswith("\n"):
        faults.append((len(lines), "no newline at the end of the file"))
    return faults


def main() -> int:
    """Checks all files; returns the exit status."""
    checked = failed = 0
    for path in files(TEXTS):
        if str(path).startswith(GENERATED):
            continue
        checked += 1
        try:
            text = read(path)
        except UnicodeDecodeError as error:
            print(f"{path}:1: not UTF-8 ({error})")
            failed += 1
            continue
        for line, message in faults_of(path, text):
            print(f"{path}:{line}: {message}")
            failed += 1
    print(f"{checked} files, {failed} faults")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
