#!/usr/bin/env python3
# ===- check_examples.py - The examples of ODS descriptions parse ----------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Parses every example of the ODS descriptions with loopc-opt.

An example is a fenced block of language ``mlir`` in a .td file below
include/loopc that defines operations, types or attributes. (Passes.td show IR
before and after, shortened; the tests of a pass hold it whole.) It is a whole
module or a list of functions; where it is a list of operations of a body, its
first lines name the values that it uses, as comments of the form::

    // %x: tensor<4xf32>

Such a block is put into a function whose arguments are these values. Prints one
line for each block that does not parse, with loopc-opt's message, and exits with
1 if there was any. An operation of the dialects without an example is a fault,
too.
"""

import argparse
import re
import shutil
import subprocess
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path

from repo import ROOT, files, read

_BLOCK = re.compile(
    r"^[ \t]*```mlir[ \t]*\n(?P<body>.*?)^[ \t]*```[ \t]*$", re.MULTILINE | re.DOTALL
)
_VALUE = re.compile(r"^//\s*(?P<name>%\w+)\s*:\s*(?P<type>\S.*)$")
_OP = re.compile(r'^def\s+\w+\s*:\s*\w*Op<\s*"(?P<mnemonic>[\w.]+)"', re.MULTILINE)


@dataclass(frozen=True)
class Example:
    """A fenced block of a .td file."""

    path: Path
    line: int
    text: str

    def as_module(self) -> str:
        """The block as loopc-opt reads it, a body as a function's."""
        lines = self.text.splitlines()
        arguments = []
        while lines and (value := _VALUE.match(lines[0])):
            arguments.append(f"{value['name']}: {value['type'].strip()}")
            lines.pop(0)
        body = "\n".join(lines)
        if not arguments and re.search(r"^\s*(module|func\.func)\b", body, re.MULTILINE):
            return body + "\n"
        indented = textwrap.indent(body, "  ")
        return f"func.func @example({', '.join(arguments)}) {{\n{indented}\n  return\n}}\n"


def examples_of(path: Path) -> list[Example]:
    """The examples of one .td file."""
    text = read(path)
    return [
        Example(
            path, text.count("\n", 0, match.start()) + 2, textwrap.dedent(match["body"]).strip("\n")
        )
        for match in _BLOCK.finditer(text)
    ]


def ops_without_example(path: Path) -> list[str]:
    """Faults of operations whose definition holds no example."""
    text = read(path)
    starts = [(match.start(), match["mnemonic"]) for match in _OP.finditer(text)]
    faults = []
    for index, (start, mnemonic) in enumerate(starts):
        end = starts[index + 1][0] if index + 1 < len(starts) else len(text)
        if not _BLOCK.search(text, start, end):
            line = text.count("\n", 0, start) + 1
            faults.append(f"{path}:{line}: '{mnemonic}' has no example")
    return faults


def parse(example: Example, loopc_opt: str) -> str | None:
    """Runs loopc-opt on an example; the message where it does not parse."""
    module = example.as_module()
    done = subprocess.run(
        [loopc_opt, "-", "-o", "/dev/null"], input=module, capture_output=True, text=True
    )
    if done.returncode == 0:
        return None
    return f"{done.stderr.strip()}\n{textwrap.indent(module, '    ')}"


def main() -> int:
    """Parses all examples; returns the exit status."""
    parser = argparse.ArgumentParser(description="Parse the examples of ODS descriptions.")
    parser.add_argument("--loopc-opt", default=str(ROOT / "build" / "bin" / "loopc-opt"))
    arguments = parser.parse_args()
    if shutil.which(arguments.loopc_opt) is None:
        print(f"'{arguments.loopc_opt}' is not there: run ./dev build")
        return 1
    count = failed = 0
    for path in files({".td"}, ("include/loopc",)):
        if path.name.endswith("Passes.td"):
            continue
        for fault in ops_without_example(path):
            print(fault)
            failed += 1
        for example in examples_of(path):
            count += 1
            message = parse(example, arguments.loopc_opt)
            if message is not None:
                print(f"{path}:{example.line}: the example does not parse:\n{message}")
                failed += 1
    if count == 0:
        print("no examples found")
        failed += 1
    print(f"{count} examples, {failed} faults")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
