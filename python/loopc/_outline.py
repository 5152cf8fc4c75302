# ===- _outline.py - Shapes that follow from those of inputs -----------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Shapes of outputs before a run.

An engine keeps an outline of its model: the operators as MLIR, in which large weights are
arguments, so that their types are known and their values are not. The compiler infers the
types of its results for given shapes of inputs. What depends on values stays open.
"""

from __future__ import annotations

import mmap
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from loopc._compile import compile as _compile
from loopc._errors import Error

#: Constants of more elements become arguments: no shape is computed from so many.
_MOST_ELEMENTS = 1024
_CONSTANT = re.compile(r"    (%\w+) = onnx\.constant dense_resource<(.*)> : (tensor<[^>]+>)\n")
_EXTENTS = re.compile(r"tensor<((?:\d+x)*)")
_RESULT = re.compile(
    r'tensor<((?:(?:\d+|\?)x)*)(?!\*)[^{"]*\{(?:[^{}"]|"(?:[^"\\]|\\.)*")*?'
    r'loopc\.name = "((?:[^"\\]|\\.)*)"'
)
_RESOURCE = re.compile(r'      (.*): "0x[0-9A-F]*",?\n')
#: Names of models need not be UTF-8.
_ERRORS = "surrogateescape"
_MAIN = "  func.func @main("
#: The text of a resource that is left out is not read: a weight can have a gigabyte of it.
_LONG = 1 << 20


def _lines(file: Path) -> Iterator[str]:
    """The lines of a file; those of long resources without the bytes."""
    with file.open("rb") as opened, mmap.mmap(opened.fileno(), 0, prot=mmap.PROT_READ) as text:
        at = 0
        while at < len(text):
            end = text.find(b"\n", at)
            end = len(text) if end < 0 else end + 1
            line = text[at : min(end, at + 4096)] if end - at > _LONG else text[at:end]
            if end - at > _LONG and line.lstrip().partition(b': "')[2].startswith(b"0x"):
                yield line.partition(b': "')[0].decode(errors=_ERRORS) + ': "0x"\n'
            else:
                yield text[at:end].decode(errors=_ERRORS)
            at = end


def outline(file: Path) -> str:
    """The outline of a model that the compiler wrote (`emit="onnx"`).

    Returns:
        The outline; "" where no extent of an input is open.
    """
    head: list[str] = []
    body: list[str] = []
    resources: dict[str, str] = {}
    arguments: list[str] = []
    dropped: set[str] = set()
    is_main = False
    for line in _lines(file):
        if line.startswith("  func.func"):
            is_main = line.startswith(_MAIN)
        if is_main and line.startswith(_MAIN):
            inputs = line.partition(") -> (")[0]
            if "?x" not in inputs and "<*x" not in inputs:
                return ""
            head, body = [*body, line], []
            continue
        constant = _CONSTANT.fullmatch(line) if is_main else None
        if constant and _count(constant[3]) > _MOST_ELEMENTS:
            name = f'"weight {len(arguments)}"'
            arguments.append(f"{constant[1]}: {constant[3]} {{loopc.name = {name}}}")
            dropped.add(constant[2])
        elif resource := _RESOURCE.fullmatch(line):
            resources[resource[1]] = line.rstrip("\n,")
        else:
            body.append(line)
    whole = "".join(body)
    for name in dropped:
        if f"dense_resource<{name}>" in whole:
            return ""  # a function of the model reads it, too
        resources.pop(name, None)
    if not head:
        return ""
    first, arrow, results = head[-1].partition(") -> (")
    begin = first.removeprefix(_MAIN)
    head[-1] = _MAIN + ", ".join([*([begin] if begin else []), *arguments]) + arrow + results
    whole = whole.partition("\n{-#")[0]
    kept = ",\n".join(resources.values())
    if kept:
        whole += f"\n{{-#\n  dialect_resources: {{\n    builtin: {{\n{kept}\n    }}\n  }}\n#-}}\n"
    return "".join(head) + whole


def _count(kind: str) -> int:
    """The elements of a type whose extents are known."""
    found = _EXTENTS.match(kind)
    count = 1
    for extent in found[1].split("x")[:-1] if found else ():
        count *= int(extent)
    return count


def shapes_of(outlined: str, inputs: Mapping[str, tuple[int, ...]]) -> dict[str, tuple[int, ...]]:
    """The shapes of outputs for shapes of the inputs, -1 where values decide an extent.

    Returns:
        What `shapes_of_file` returns; nothing where the inputs do not fit together.
    """
    with tempfile.TemporaryDirectory(prefix="loopc-") as folder:
        model = Path(folder) / "outline.mlir"
        model.write_text(outlined, errors=_ERRORS)
        try:
            return shapes_of_file(model, inputs)
        except Error:
            return {}


def shapes_of_file(
    model: str | Path,
    inputs: Mapping[str, Sequence[int | None]],
    base_directory: str | None = None,
) -> dict[str, tuple[int, ...]]:
    """The same of a model's file, without code being made of it.

    Returns:
        The shapes by name; nothing of outputs that are no tensors, or whose rank is open.

    Raises:
        CompileError: the model is invalid, or the shapes do not fit it.
    """
    with tempfile.TemporaryDirectory(prefix="loopc-") as folder:
        file = Path(folder) / "shapes.mlir"
        _compile(model, file, emit="loop", shapes=inputs, base_directory=base_directory)
        header = next((line for line in _lines(file) if line.startswith(_MAIN)), "")
    results = header.partition(") -> (")[2]
    return {
        _unescaped(name): tuple(-1 if one == "?" else int(one) for one in extents.split("x")[:-1])
        for extents, name in _RESULT.findall(results)
    }


def _unescaped(name: str) -> str:
    """A text of MLIR, which writes bytes as two digits behind a backslash."""
    plain = re.sub(
        rb"\\([0-9A-Fa-f]{2}|\\)",
        lambda found: b"\\" if found[1] == b"\\" else bytes.fromhex(found[1].decode()),
        name.encode(errors=_ERRORS),
    )
    return plain.decode(errors=_ERRORS)
