#!/usr/bin/env python3
# ===- check_source.py - What every source file keeps to -------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Checks what formatters do not.

These are licence header, length of files and of Python's functions, tabs, line ends, includes,
calls to avoid; of passes, length of a library's, and options of one name with several defaults.

Prints one line for each fault, ``file:line: message``, and exits with 1 if
there was any.
"""

import ast
import re
import sys
from pathlib import Path

from repo import files, read

LICENCE = "SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception"
MAX_LINES = 800
# Of a library's passes: the declarations of one with more are split as the library is.
MAX_PASSES = 400
# Of a function, in Python without its docstring.
MAX_FUNCTION = 80

# Files that are read by people, with a licence header each.
SOURCES = {".h", ".c", ".cpp", ".td", ".py", ".def"}
TEXTS = SOURCES | {".mlir", ".test", ".cmake", ".txt", ".md", ".sh", ".toml", ".pyi"}

# Written by a script from what has the header.
GENERATED = ("docs/Dialects/", "docs/Passes.md", "docs/Errors.md")

# What may run where it would not have run is decided in one place: MLIR holds integer remainders,
# which trap, for operations that cannot fail. Its isPure asks that beside what has no effects.
SPECULATION = "lib/Dialect/Loop/Transforms/Speculation.cpp"
HOISTING = "lib/Dialect/Loop/Transforms/HoistInvariants.cpp"
UNSAFE = re.compile(
    r"\b(isPure|isSpeculatable|moveLoopInvariantCode|createLoopInvariantCodeMotionPass)\("
)


# The folders of lib/ and include/loopc from the bottom up: a file includes headers of its own
# folder and of those before it.
LAYERS = (
    "Support",
    "Dialect/RT",
    "Dialect/List",
    "Dialect/Device",
    "Dialect/Loopc",
    "Dialect/Loop",
    "Dialect/Nest",
    "Dialect/ONNX",
    "Tensor",
    "Bufferize",
    "Conversion/LoopToSCF",
    "Conversion/ONNXToLinalg",
    "Conversion/UnknownRank",
    "Conversion/ToLLVM",
    "Codegen/CPU",
    "Codegen/GPU/Regions",
    "Codegen/GPU/Kernels",
    "Target",
    "Instrument",
    "Pipelines",
    "Frontend",
    "Frontend/Common",
    "Frontend/ONNX",
    "Frontend/OpenVINO",
    "Frontend/Network",
    "Driver",
)
# Those of them that work on programs of every format and know no operator of ONNX.
WITHOUT_ONNX = ("Tensor", "Bufferize", "Conversion/LoopToSCF", "Conversion/ToLLVM", "Codegen/")
OPTION = re.compile(r'Option<"\w+",\s*"([\w-]+)",\s*"[^"]+",\s*(?:/\*default=\*/)?\s*("[^"]*")')
INCLUDE = re.compile(r'^#?include "loopc/([\w/]+/)\w+\.')


def layer_of(folder: str) -> str | None:
    """The entry of LAYERS that ``folder``, below lib/ or include/loopc/, belongs to."""
    inside = [layer for layer in LAYERS if folder.startswith(layer + "/")]
    return max(inside, key=len, default=None)


def layering_faults(path: Path, lines: list[str]) -> list[tuple[int, str]]:
    """Includes of headers that belong to a folder above the file's own (LAYERS)."""
    place = re.match(r"(?:lib|include/loopc)/(.+)", str(path))
    own = layer_of(place[1]) if place else None
    faults: list[tuple[int, str]] = []
    for number, line in enumerate(lines, 1):
        header = INCLUDE.match(line)
        other = layer_of(header[1]) if header else None
        if own is None or other is None:
            continue
        unaware = own.startswith(WITHOUT_ONNX) and other == "Dialect/ONNX"
        if unaware or LAYERS.index(other) > LAYERS.index(own):
            faults.append(
                (number, f"{own} does not include {other}: see LAYERS in {Path(__file__).name}")
            )
    return faults


def option_faults(text: str, known: dict[str, str]) -> list[tuple[int, str]]:
    """Options of passes whose default differs from that of another of the name, in ``known``."""
    return [
        (text.count("\n", 0, option.start()) + 1, f"'{option[1]}' is {known[option[1]]} elsewhere")
        for option in OPTION.finditer(text)
        if known.setdefault(option[1], option[2]) != option[2]
    ]


def long_functions(text: str) -> list[tuple[int, str]]:
    """Functions of a Python file that are longer than MAX_FUNCTION."""
    faults: list[tuple[int, str]] = []
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        length = (node.end_lineno or node.lineno) - node.lineno + 1
        first = node.body[0]
        if ast.get_docstring(node, clean=False) is not None:
            length -= (first.end_lineno or first.lineno) - first.lineno + 1
        if length > MAX_FUNCTION:
            faults.append(
                (node.lineno, f"{node.name} has {length} lines; {MAX_FUNCTION} are allowed")
            )
    return faults


def long_cpp_functions(lines: list[str]) -> list[tuple[int, str]]:
    """Functions of a file of C or C++ that are longer than MAX_FUNCTION.

    They end with a brace by itself, as far indented as their first line.
    """
    faults: list[tuple[int, str]] = []
    for end, line in enumerate(lines):
        if not re.fullmatch(r" {0,4}}", line):
            continue
        begins = re.compile(line[:-1] + r"(?!public|private|protected|case|default)[^ #}]")
        first = next((k for k in range(end - 1, -1, -1) if begins.match(lines[k])), end)
        head = " ".join(lines[first : first + 6])
        is_other = re.match(
            r"\s*(namespace|class|struct|enum|union|extern|if|for|while|do)\b", head
        )
        if "(" in head and not is_other and end - first + 1 > MAX_FUNCTION:
            message = f"{end - first + 1} lines; {MAX_FUNCTION} are allowed to a function"
            faults.append((first + 1, message))
    return faults


def faults_of(path: Path, text: str) -> list[tuple[int, str]]:
    """Line numbers and messages of what is wrong with one file."""
    lines = text.splitlines()
    faults: list[tuple[int, str]] = []
    if path.suffix in SOURCES:
        if not any(LICENCE in line for line in lines[:16]):
            faults.append((1, f"no '{LICENCE}' in the first lines"))
        most = MAX_PASSES if path.name.endswith("Passes.td") else MAX_LINES
        if len(lines) > most:
            faults.append((len(lines), f"{len(lines)} lines; {most} are allowed"))
    if path.suffix == ".py":
        faults += long_functions(text)
    if path.suffix in {".c", ".cpp", ".h"}:
        faults += long_cpp_functions(lines)
    faults += layering_faults(path, lines)
    for number, line in enumerate(lines, 1):
        if "\t" in line:
            faults.append((number, "a tab"))
        unsafe = UNSAFE.search(line) if path.suffix in {".h", ".cpp"} else None
        if unsafe and str(path) not in (SPECULATION, HOISTING):
            message = (
                f"{unsafe[1]}: ask isSafeToSpeculate (Speculation.h) whether it may run where it "
                "would not have run, isMemoryEffectFree whether it has effects"
            )
            faults.append((number, message))
        if line != line.rstrip():
            faults.append((number, "white space at the end of the line"))
    if text and not text.endswith("\n"):
        faults.append((len(lines), "no newline at the end of the file"))
    return faults


def main() -> int:
    """Checks all files; returns the exit status."""
    checked = failed = 0
    defaults: dict[str, str] = {}
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
        faults = faults_of(path, text)
        if path.name.endswith("Passes.td"):
            faults += option_faults(text, defaults)
        for line, message in faults:
            print(f"{path}:{line}: {message}")
            failed += 1
    print(f"{checked} files, {failed} faults")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
